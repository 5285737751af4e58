/* SPDX-License-Identifier: Apache-2.0 */
/* decompositions.h - lu, solve, qr, svd, eigh, eig and cholesky of batches of matrices, for every
 * backend that works on host memory. docs/KERNELS.md has the definitions. */
#pragma once

#include <collet/plugin.h>

/* The number of matrices of a call; `begin` and `end` below count matrices. */
int64_t cpu_decomposition_count(const collet_kernel_call *call);

/*
 * cpu_decomposition_run computes matrices begin .. end-1 (in C order of the batch axes) of a call of any of
 * these ops. All dtypes are computed in double or double complex. Each thread needs its own scratch of
 * cpu_decomposition_scratch(call) bytes, 64-byte aligned; disjoint parts may run at the same time.
 * UINT64_MAX bytes mean that the size overflows, or that row numbers do not fit in perm: libcore refuses
 * such a call. Returns `end`; for solve, the index of the first singular matrix of the part, if any. */
uint64_t cpu_decomposition_scratch(const collet_kernel_call *call);
int64_t cpu_decomposition_run(const collet_kernel_call *call, void *scratch, int64_t begin,
                              int64_t end);

/* Sets solve's `info` from the minimum over all parts; cpu_decomposition_count if no matrix is singular. */
void cpu_solve_info(const collet_kernel_call *call, int64_t singular);
