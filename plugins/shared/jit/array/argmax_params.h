/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of the kernel of argmax.dev. */
#ifndef COLLET_JIT_ARRAY_ARGMAX_PARAMS_H
#define COLLET_JIT_ARRAY_ARGMAX_PARAMS_H

typedef struct argmax_view {
    i64 each; /* input elements per output element */
    i64 extent[VIEW_DIMS], stride[VIEW_DIMS];
    i64 kept_extent[VIEW_DIMS], kept_stride[2][VIEW_DIMS]; /* output, input */
    i32 axes, kept_axes;
} argmax_view;

#endif
