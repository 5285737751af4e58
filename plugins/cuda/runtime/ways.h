/* SPDX-License-Identifier: Apache-2.0 */
/* ways.h - the two implementations of some ops: the backend's own kernels and a library of the toolkit (cuBLAS, cuFFT,
 * cuSOLVER). shared/host/util/ways.h chooses one for each call. */
#pragma once

#include "cuda/runtime/backend.h"
#include "shared/host/util/ways.h"

enum { WAY_LIBRARY = WAY_OWN + 1 };

extern const ways_kind cuda_ways;

/* A call's key and side for ways_choose, and the implementation that it uses without measurements. */
typedef struct cuda_choice {
    int key;
    double side;
    way usual;
} cuda_choice;

/* Whether the library is chosen for the call. */
int cuda_library_chosen(const collet_device *d, const cuda_choice *c);

/* Writes which implementation a call uses, and why. `possible`: the library supports the call. `ready`: the library
 * is open, and computes the call if it is chosen. */
void cuda_explain_choice(text *out, const collet_device *d, const cuda_library_facts *facts,
                         const cuda_library *library, const cuda_choice *c, int possible,
                         int ready);

/* The ops that have two implementations. */
void cuda_explain_matmul(collet_device *d, const collet_kernel_call *call, text *out);
void cuda_explain_fft(collet_device *d, const collet_kernel_call *call, text *out);
void cuda_explain_decomposition(collet_device *d, const collet_kernel_call *call, text *out);
