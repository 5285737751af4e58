/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of the kernels of cufft.dev. */
#ifndef COLLET_CUDA_FFT_CUFFT_PARAMS_H
#define COLLET_CUDA_FFT_CUFFT_PARAMS_H

#define LATTICE_DIMS (VIEW_DIMS + 1)

/* Real numbers with any strides; a complex number counts as two real numbers. */
typedef struct lattice {
    i64 count;
    i64 extent[LATTICE_DIMS], stride[LATTICE_DIMS];
    i64 axes;
} lattice;

typedef struct spectrum {
    i64 count, n;
    i64 extent[VIEW_DIMS], stride[VIEW_DIMS];
    i32 axes, batch;
} spectrum;

#endif
