/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames.h - the md kernels that work row by row, for every backend that works on host memory.
 *
 * Each function computes rows begin .. end-1 of its op's call (operands.h), unless its comment says that it
 * computes bodies; disjoint parts may run at the same time. docs/KERNELS.md has the formulas.
 */
#pragma once

#include <collet/plugin.h>

/* principal_axes in two steps. cpu_md_eigen computes the moments and axes of each row independently. After all rows are
 * done, cpu_md_align chooses the signs from frame to frame for bodies begin .. end-1. */
void cpu_md_eigen(const collet_kernel_call *call, int64_t begin, int64_t end);
void cpu_md_align(const collet_kernel_call *call, int64_t begin, int64_t end);

void cpu_md_euler_zyz(const collet_kernel_call *call, int64_t begin, int64_t end);
void cpu_md_tilt(const collet_kernel_call *call, int64_t begin, int64_t end);
void cpu_md_angular_velocity(const collet_kernel_call *call, int64_t begin, int64_t end);
void cpu_md_decompose(const collet_kernel_call *call, int64_t begin, int64_t end);

/* Returns the first frame of the part whose neighbouring frames have equal times; F if there is
 * none. Then call cpu_md_time_derivative_info once, with the minimum over all parts; it sets
 * `info`. */
int64_t cpu_md_time_derivative(const collet_kernel_call *call, int64_t begin, int64_t end);
void cpu_md_time_derivative_info(const collet_kernel_call *call, int64_t equal_times);

/* Euclidean norm of n numbers, `step` bytes apart: one element of `magnitude`. */
double cpu_norm(const char *at, collet_dtype dtype, int64_t step, int64_t n);
