/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fftw.h - FFTW 3, an optional library that the plugin is built for with COLLET_FFTW and opens when
 * the setting cpu_openmp.fft asks for it. Any thread.
 *
 * What belongs to the process is left as it is found: the planner's number of threads is set back
 * after each plan, and wisdom is neither read from files nor forgotten. The planner is made thread
 * safe, and takes one plan of ours at a time. A host that calls fftw_cleanup takes our plans away.
 */
#ifndef COLLET_OPENMP_FFTW_H
#define COLLET_OPENMP_FFTW_H

#include "cpu_openmp/runtime/device.h"

/* 1 when cpu_openmp.fft = fftw can be had; else 0 and *reason. */
int fftw_usable(const char **reason);

/* 0 for several axes of arrays with strides of their own: for some of them FFTW's planner (3.3.10)
 * calls itself until the process ends. */
int fftw_takes(const collet_kernel_call *call);

/* As workspace and run of the op fft, for calls that it takes. */
uint64_t fftw_workspace(collet_device *device, const collet_kernel_call *call);
collet_status fftw_run(collet_device *device, const collet_kernel_call *call);

#endif
