/* SPDX-License-Identifier: Apache-2.0 */
/*
 * places.h - the places of OpenMP (OMP_PROC_BIND, OMP_PLACES, GOMP_CPU_AFFINITY). Its runtime binds
 * the thread that loads it to one of them, and threads inherit that.
 */
#ifndef COLLET_OPENMP_PLACES_H
#define COLLET_OPENMP_PLACES_H

#include <sched.h>
#include <stdbool.h>

/* The processors of all places; false: OpenMP binds no threads. */
bool places_all(cpu_set_t *all);

/* The calling thread, and those that it starts, may use all places until places_return. Returns
 * false, and changes nothing, where OpenMP binds no threads. */
bool places_leave(cpu_set_t *own);
void places_return(const cpu_set_t *own);

#endif
