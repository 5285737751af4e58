/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_elementwise.h - one row of an elementwise kernel.
 *
 * at[0] is the output, at[1] and at[2] the inputs; step[] are bytes from one element to the next,
 * of either sign, 0 for an input that is repeated. The output may be exactly an input. Arithmetic,
 * sqrt and axpy, whose alpha is at[3], round as IEEE 754 requires; docs/KERNELS.md has the limits
 * of the others.
 */
#ifndef PLUGINS_CPU_OPENMP_ARRAY_KERNEL_ELEMENTWISE_H
#define PLUGINS_CPU_OPENMP_ARRAY_KERNEL_ELEMENTWISE_H

#include <collet/types.h>

/*
 * `op` is COLLET_OP_ADD or another elementwise op of the type. `streamed` (f32 and f64 alone)
 * selects non-temporal stores: the output is disjoint from the inputs, its elements adjacent;
 * step[1] and step[2] are the size of an element or 0.
 */
typedef void (*row_kernel)(uint32_t op, int streamed, char *const *at, const int64_t *step,
                           int64_t n);

/* The index of the table: the type of the inputs. */
enum { ROW_F32, ROW_F64, ROW_C64, ROW_C128, ROW_TYPES };

typedef struct elementwise_kernels {
    row_kernel row[ROW_TYPES];
} elementwise_kernels;

#endif
