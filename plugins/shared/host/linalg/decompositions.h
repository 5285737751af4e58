/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decompositions.h - lu, solve, qr, svd, eigh, eig and cholesky of batches of matrices, for every
 * backend that works on host memory. docs/KERNELS.md has the definitions.
 */
#ifndef PLUGINS_SHARED_HOST_LINALG_DECOMPOSITIONS_H
#define PLUGINS_SHARED_HOST_LINALG_DECOMPOSITIONS_H

#include <collet/plugin.h>

/* Matrices of a call: what begin and end count. */
int64_t cpu_decomposition_count(const collet_kernel_call *call);

/*
 * Computes matrices begin .. end-1 (in C order of the batch axes) of the call of any of these ops,
 * in double or double complex for every dtype, with a private scratch of
 * cpu_decomposition_scratch(call) bytes, 64-byte aligned; disjoint parts may run concurrently.
 * UINT64_MAX bytes mean a size that overflows, or row numbers that do not fit in perm: libcore
 * refuses such a call. Returns `end`; of solve, the first singular matrix of the part if there is
 * one.
 */
uint64_t cpu_decomposition_scratch(const collet_kernel_call *call);
int64_t cpu_decomposition_run(const collet_kernel_call *call, void *scratch, int64_t begin,
                              int64_t end);

/* Sets solve's `info` from the minimum over all parts; cpu_decomposition_count if none is singular. */
void cpu_solve_info(const collet_kernel_call *call, int64_t singular);

#endif
