/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of the kernel of shift.dev, besides the view. */
#ifndef COLLET_JIT_FFT_SHIFT_PARAMS_H
#define COLLET_JIT_FFT_SHIFT_PARAMS_H

/* How many elements further the input's element is, before it wraps. */
typedef struct rotation {
    i64 outer[VIEW_DIMS];
    i64 column;
} rotation;

#endif
