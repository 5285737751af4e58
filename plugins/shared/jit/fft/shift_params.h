/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of the kernel of shift.dev, in addition to the view. */
#ifndef COLLET_JIT_FFT_SHIFT_PARAMS_H
#define COLLET_JIT_FFT_SHIFT_PARAMS_H

/* The offset of the input element along each axis, before it wraps around. */
typedef struct rotation {
    i64 outer[VIEW_DIMS];
    i64 column;
} rotation;

#endif
