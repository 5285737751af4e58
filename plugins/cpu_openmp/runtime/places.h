/* SPDX-License-Identifier: Apache-2.0 */
/*
 * places.h - the places of OpenMP (OMP_PROC_BIND, OMP_PLACES, GOMP_CPU_AFFINITY). The OpenMP runtime binds
 * the thread that loads it to the first place; threads that this thread starts inherit the binding.
 */
#ifndef PLUGINS_CPU_OPENMP_RUNTIME_PLACES_H
#define PLUGINS_CPU_OPENMP_RUNTIME_PLACES_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/* Binds the calling thread to the place that OpenMP would give thread `thread` of `threads`. Places all of whose
 * processors are in earlier places do not count; the initial thread is in place 0. If OpenMP binds no threads, returns
 * false and changes nothing. */
bool places_bind(int32_t thread, int32_t threads);

/* Lets the calling thread, and threads that it starts, use all places until places_return. If OpenMP binds no threads,
 * or something else has bound the calling thread, returns false and changes nothing. */
bool places_leave(cpu_set_t *own);
void places_return(const cpu_set_t *own);

#endif
