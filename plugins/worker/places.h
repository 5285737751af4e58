/* SPDX-License-Identifier: Apache-2.0 */
/*
 * places.h - the places of OpenMP (OMP_PROC_BIND, OMP_PLACES, GOMP_CPU_AFFINITY). Its runtime binds
 * the thread that loads it to the first, and threads and processes inherit that.
 */
#ifndef PLUGINS_WORKER_PLACES_H
#define PLUGINS_WORKER_PLACES_H

/* Lets the calling thread use the processors of all places, which host->threads counts, if OpenMP
 * has bound it to the first; else nothing changes. */
void places_leave(void);

#endif
