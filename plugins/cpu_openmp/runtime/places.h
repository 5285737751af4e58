/* SPDX-License-Identifier: Apache-2.0 */
/*
 * places.h - the places of OpenMP (OMP_PROC_BIND, OMP_PLACES, GOMP_CPU_AFFINITY). The OpenMP runtime binds
 * the thread that loads it to the first place; threads that this thread starts inherit the binding.
 */
#pragma once

#include <omp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/* The places. A place is left out if earlier places contain all its processors. */
typedef struct places {
    int32_t count; /* 0: OpenMP binds no threads */
    omp_proc_bind_t bind;
    cpu_set_t sets[CPU_SETSIZE];
} places;

/* Asks OpenMP for the places of the calling thread. */
void places_find(places *p);

/* The place that OpenMP would give thread `thread` of `threads`; the initial thread is in place 0. p->count must be
 * greater than 0. Does not call OpenMP. */
const cpu_set_t *places_place(const places *p, int32_t thread, int32_t threads);

/* Until places_return, lets the calling thread, and threads that it starts, use all places. If OpenMP binds no
 * threads, or something else has bound the calling thread, returns false and changes nothing. */
bool places_leave(cpu_set_t *own);
void places_return(const cpu_set_t *own);
