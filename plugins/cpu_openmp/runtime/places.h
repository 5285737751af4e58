/* SPDX-License-Identifier: Apache-2.0 */
/*
 * places.h - the places of OpenMP (OMP_PROC_BIND, OMP_PLACES, GOMP_CPU_AFFINITY). Its runtime binds
 * the thread that loads it to the first, and threads inherit that.
 */
#ifndef PLUGINS_CPU_OPENMP_RUNTIME_PLACES_H
#define PLUGINS_CPU_OPENMP_RUNTIME_PLACES_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/* Binds the calling thread to the place that OpenMP would give thread `thread` of `threads`, where
 * places without a processor of their own do not count; the initial thread is in place 0. Returns
 * false, and changes nothing, where OpenMP binds no threads. */
bool places_bind(int32_t thread, int32_t threads);

/* The calling thread, and those that it starts, may use all places until places_return. Returns
 * false, and changes nothing, where OpenMP binds no threads or something else bound the calling
 * thread. */
bool places_leave(cpu_set_t *own);
void places_return(const cpu_set_t *own);

#endif
