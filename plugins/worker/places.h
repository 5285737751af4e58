/* SPDX-License-Identifier: Apache-2.0 */
/*
 * places.h - the places of OpenMP (OMP_PROC_BIND, OMP_PLACES, GOMP_CPU_AFFINITY). The OpenMP runtime binds
 * the thread that loads it to the first place, and new threads and processes inherit this binding.
 */
#pragma once

/* If OpenMP has bound the calling thread to the first place, lets it use the processors of all places, which
 * host->threads counts; else changes nothing. */
void places_leave(void);
