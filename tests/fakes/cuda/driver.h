/* SPDX-License-Identifier: Apache-2.0 */
/* driver.h - shared by the files of the fake driver. */
#ifndef TESTS_FAKES_CUDA_DRIVER_H
#define TESTS_FAKES_CUDA_DRIVER_H

#include <pthread.h>

#include "control.h"
#include "cuda/providers/abi/cuda.h"

CUDA_FUNCTIONS(ABI_PROTOTYPE)
CUDA_GRAPH_FUNCTIONS(ABI_PROTOTYPE)

#if defined(__GNUC__)
#pragma GCC visibility push(hidden)
#endif

struct CUctx_st {
    int device;
    _Atomic int retained;
    _Atomic unsigned reaches; /* bit n: peer access to GPU n */
    size_t used;
    CUresult broken; /* the fault that has been reported */
    CUresult pending;
};

#define FAKE_STREAMS 32

/* The last commands on a piece of memory, as command numbers of each stream. */
typedef struct piece_uses {
    int writer; /* stream + 1; 0: none */
    int written, read[FAKE_STREAMS];
} piece_uses;

/* The header of every piece of device or page-locked memory. */
typedef struct piece {
    _Alignas(64) CUcontext context; /* NULL: page-locked */
    size_t bytes;
    struct piece *next;
    piece_uses uses;
} piece;

/* This thread's context; NULL: none. */
CUcontext fake_current(void);
/* The error injected into this function. */
CUresult fake_injected(const char *name);
/* Like fake_injected, but first checks that `context` (NULL: any) is current and not broken. */
CUresult fake_enter(const char *name, CUcontext context);
/* For control.h. */
int fake_is_stream(const void *stream);
void fake_catch_up(void *stream);
/* Sets the sizes of a kernel's arguments and returns their number. */
int fake_function_sizes(CUfunction function, unsigned sizes[64]);
/* The piece that holds these bytes, or NULL. */
piece *fake_piece_at(const void *address, size_t bytes);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

extern fake_cuda_control fake_cuda;

#define TRY(name)                                                                                  \
    do {                                                                                           \
        CUresult injected_ = fake_injected(name);                                                  \
        if (injected_ != CUDA_SUCCESS)                                                             \
            return injected_;                                                                      \
    } while (0)
#define ENTER(name, context)                                                                       \
    do {                                                                                           \
        CUresult entered_ = fake_enter(name, context);                                             \
        if (entered_ != CUDA_SUCCESS)                                                              \
            return entered_;                                                                       \
    } while (0)

#endif
