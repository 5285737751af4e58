/* SPDX-License-Identifier: Apache-2.0 */
/* scatter.h - the scatter kernels for every backend that works on host memory. Operands are of any
 * strides; arithmetic is in double; docs/KERNELS.md has the formulas. */
#pragma once

#include <collet/plugin.h>

/* Computes rows begin .. end-1 of a call; disjoint parts may run at the same time. */
typedef void (*cpu_scatter_rows)(const collet_kernel_call *call, int64_t begin, int64_t end);

/* Returns the function for the call's op; sets *rows to the number of rows. A row is all pixels or voxels along x. */
cpu_scatter_rows cpu_scatter(const collet_kernel_call *call, int64_t *rows);

void cpu_scatter_euler(const collet_kernel_call *call, int64_t begin, int64_t end);
void cpu_scatter_vector(const collet_kernel_call *call, int64_t begin, int64_t end);
void cpu_scatter_polarisation(const collet_kernel_call *call, int64_t begin, int64_t end);
void cpu_scatter_ewald(const collet_kernel_call *call, int64_t begin, int64_t end);
void cpu_scatter_projection(const collet_kernel_call *call, int64_t begin, int64_t end);
void cpu_scatter_slices(const collet_kernel_call *call, int64_t begin, int64_t end);
/* The number of layers of the sample. */
int64_t cpu_scatter_layers(const collet_kernel_call *call);
/* Computes pixel x of one row of scatter_slices. */
void cpu_scatter_slices_pixel(const collet_kernel_call *call, int64_t row, int64_t x);
void cpu_scatter_images(const collet_kernel_call *call, int64_t begin, int64_t end);
void cpu_scatter_amplitudes(const collet_kernel_call *call, int64_t begin, int64_t end);
void cpu_scatter_intensities(const collet_kernel_call *call, int64_t begin, int64_t end);
void cpu_scatter_average(const collet_kernel_call *call, int64_t begin, int64_t end);
