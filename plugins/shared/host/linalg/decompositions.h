/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decompositions.h - lu, solve, qr, svd, eigh and cholesky of batches of matrices, for every
 * backend that works on host memory. docs/KERNELS.md has the definitions.
 *
 * cpu_<op>(call, scratch, begin, end) computes matrices begin .. end-1 (in C order of the batch
 * axes) of the op's call, in double for every element type, with a private scratch of
 * cpu_<op>_scratch(call) bytes, 64-byte aligned; disjoint parts may run concurrently. UINT64_MAX
 * bytes mean a size that overflows, or row numbers that do not fit in perm: libcore refuses such a
 * call.
 */
#ifndef PLUGINS_SHARED_HOST_LINALG_DECOMPOSITIONS_H
#define PLUGINS_SHARED_HOST_LINALG_DECOMPOSITIONS_H

#include <collet/plugin.h>

/* Matrices of a call: what begin and end count. */
int64_t cpu_decomposition_count(const collet_kernel_call *call);

uint64_t cpu_lu_scratch(const collet_kernel_call *call);
void cpu_lu(const collet_kernel_call *call, void *scratch, int64_t begin, int64_t end);

/* Returns the first singular matrix of the part, `end` if there is none; `info` is then set once
 * from the minimum over all parts, or from cpu_decomposition_count if none is singular. */
uint64_t cpu_solve_scratch(const collet_kernel_call *call);
int64_t cpu_solve(const collet_kernel_call *call, void *scratch, int64_t begin, int64_t end);
void cpu_solve_info(const collet_kernel_call *call, int64_t singular);

uint64_t cpu_qr_scratch(const collet_kernel_call *call);
void cpu_qr(const collet_kernel_call *call, void *scratch, int64_t begin, int64_t end);

uint64_t cpu_svd_scratch(const collet_kernel_call *call);
void cpu_svd(const collet_kernel_call *call, void *scratch, int64_t begin, int64_t end);

uint64_t cpu_eigh_scratch(const collet_kernel_call *call);
void cpu_eigh(const collet_kernel_call *call, void *scratch, int64_t begin, int64_t end);

uint64_t cpu_cholesky_scratch(const collet_kernel_call *call);
void cpu_cholesky(const collet_kernel_call *call, void *scratch, int64_t begin, int64_t end);

#endif
