/* SPDX-License-Identifier: Apache-2.0 */
/* ways.h - the backend's own kernels and the toolkit's library for an op (cuBLAS, cuFFT, cuSOLVER), among
 * which shared/host/util/ways.h chooses. */
#ifndef PLUGINS_CUDA_RUNTIME_WAYS_H
#define PLUGINS_CUDA_RUNTIME_WAYS_H

#include "cuda/runtime/backend.h"
#include "shared/host/util/ways.h"

enum { WAY_LIBRARY = WAY_OWN + 1 };

extern const ways_kind cuda_ways;

/* A call's key and side, and the way that it takes where nothing was measured. */
typedef struct cuda_choice {
    int key;
    double side;
    way usual;
} cuda_choice;

/* Whether the library is the way to compute the call. */
int cuda_library_chosen(const collet_device *d, const cuda_choice *c);

/*
 * Writes which way a call takes, and why: `possible`: the library supports the call; `ready`: it is open,
 * and computes the call if it is chosen.
 */
void cuda_explain_choice(text *out, const collet_device *d, const cuda_library_facts *facts,
                         const cuda_library *library, const cuda_choice *c, int possible,
                         int ready);

/* The ops that have two ways. */
void cuda_explain_matmul(collet_device *d, const collet_kernel_call *call, text *out);
void cuda_explain_fft(collet_device *d, const collet_kernel_call *call, text *out);
void cuda_explain_decomposition(collet_device *d, const collet_kernel_call *call, text *out);

#endif
