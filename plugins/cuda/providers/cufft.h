/* SPDX-License-Identifier: Apache-2.0 */
/* cufft.h - cuFFT, for transforms; opened as library.h describes. */
#ifndef COLLET_CUDA_CUFFT_H
#define COLLET_CUDA_CUFFT_H

#include "abi/cufft.h"
#include "library.h"

extern const cuda_library_facts cuda_fourier_facts;

typedef struct cuda_fourier {
    cuda_library library;
    struct plan_cache *plans; /* owned by fft/fft.c's cache */
    CUFFT_FUNCTIONS(ABI_MEMBER)
} cuda_fourier;

static inline int cuda_fourier_ready(const collet_host *host, int driver, cuda_fourier *fourier)
{
    return cuda_library_ready(host, driver, &cuda_fourier_facts, &fourier->library);
}

#endif
