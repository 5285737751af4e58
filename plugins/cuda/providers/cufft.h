/* SPDX-License-Identifier: Apache-2.0 */
/* fourier.h - cuFFT, for transforms: library.h says when it is opened. */
#ifndef COLLET_CUDA_FOURIER_H
#define COLLET_CUDA_FOURIER_H

#include <cufftXt.h>

#include "library.h"

#define CUFFT_FUNCTIONS(X)                                                                         \
    X(Create, "cufftCreate")                                                                       \
    X(Destroy, "cufftDestroy")                                                                     \
    X(SetStream, "cufftSetStream")                                                                 \
    X(SetAutoAllocation, "cufftSetAutoAllocation")                                                 \
    X(SetWorkArea, "cufftSetWorkArea")                                                             \
    X(XtMakePlanMany, "cufftXtMakePlanMany")                                                       \
    X(XtExec, "cufftXtExec")

extern const cuda_library_facts cuda_fourier_facts;

typedef struct cuda_fourier {
    cuda_library library;
    struct plan_cache *plans; /* fft.c's */
#define MEMBER(name, symbol) __typeof__(&cufft##name) name;
    CUFFT_FUNCTIONS(MEMBER)
#undef MEMBER
} cuda_fourier;

static inline int cuda_fourier_ready(const collet_host *host, int driver, cuda_fourier *fourier)
{
    return cuda_library_ready(host, driver, &cuda_fourier_facts, &fourier->library);
}

#endif
