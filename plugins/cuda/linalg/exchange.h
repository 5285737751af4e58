/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange.h - a decomposition by cuSOLVER: its matrices go to the workspace by columns, scaled,
 * and the results from there, by kernels of cusolver.dev.
 */
#ifndef COLLET_CUDA_EXCHANGE_H
#define COLLET_CUDA_EXCHANGE_H

#include <limits.h>

#include "shared/jit/linalg/slabs.h"
#include "cuda/runtime/backend.h"
#include "cuda/runtime/library_call.h"

/* The flags of cusolver.dev. */
enum {
    EXCHANGE_MIRRORED = 1,
    EXCHANGE_RAW = 2,
    EXCHANGE_NOTED = 4,
    EXCHANGE_LOWER = 8,
    EXCHANGE_UPPER = 16,
    EXCHANGE_UNIT = 32,
    EXCHANGE_SCALED = 64,
    EXCHANGE_SCALED_BACK = 128,
    EXCHANGE_SIGN_ROWS = 256,
    EXCHANGE_SIGN_COLUMNS = 512
};

/* The struct of cusolver.dev, laid out alike; offsets into the workspace in bytes. */
typedef struct exchange {
    int64_t count;
    int64_t m, n;
    int64_t groups;
    int64_t matrix, pitch;
    int64_t down, across;
    int64_t parts, partial;
    int64_t scales;
    int64_t states;
    int64_t infos;
    int64_t extra;
    int64_t extra_pitch;
    int32_t operand;
    int32_t flags;
    int32_t top;
    int32_t padding;
    jit_batch operands;
} exchange;

/* A call in the making. */
typedef struct solver_job {
    collet_device *device;
    collet_queue *queue;
    const collet_kernel_call *call;
    int wide;             /* f64 */
    int m, n, least;      /* of the input's matrices */
    int64_t count;        /* of them, > 0 */
    exchange x;           /* what all launches have alike */
    uint64_t room;        /* bytes of the workspace so far */
    int overflow;         /* more than can be counted */
    collet_status status; /* of the launches and calls so far; none follows a failure */
    int launched;
} solver_job;

/*
 * Begins a job on the matrices of operand `input`, whose batch axes are those of operands 0 ..
 * count-1 of `of_batch`. 0: cuSOLVER is not there, or has no words for the extents.
 */
int solver_begin(solver_job *j, collet_device *device, collet_queue *queue,
                 const collet_kernel_call *call, uint32_t input, uint32_t operands);

/* Whether cuSOLVER serves: one matrix after the other, or, with `together`, all in one call that is
 * for matrices of up to `most` rows and columns. */
int solver_worth(const solver_job *j);
int solver_worth_together(const solver_job *j, int most);

/* `count` elements of `size` bytes of the workspace; the offset of the first. */
int64_t solver_reserve(solver_job *j, int64_t count, size_t size);
/* The same of numbers of the call's type. */
int64_t solver_reserve_numbers(solver_job *j, int64_t count);
/* All of the workspace, or UINT64_MAX. */
uint64_t solver_room(const solver_job *j);

/* The address of an offset. */
void *solver_address(const solver_job *j, int64_t offset);

/* m x n numbers of operand k, the batch's operand `place`, and where in the workspace. */
typedef struct solver_matrix {
    uint32_t k, place;
    int64_t m, n, matrix, pitch, down, across;
    int flags;
} solver_matrix;

/* Enqueue; after a failure nothing. */
void solver_take(solver_job *j, const solver_matrix *what);
void solver_give(solver_job *j, const solver_matrix *what);
/* The kernel judge_<...> of cusolver.dev on `groups` groups; operand k, or -1, is the first
 * argument, and `what` one behind the workspace, or -1. */
void solver_launch(solver_job *j, const char *kernel, int k, int what, uint64_t groups,
                   const solver_matrix *of);
/* The addresses of the matrices, from offset `places` on. */
void solver_list(solver_job *j, int64_t places, const solver_matrix *of);
/* Calls of the library, as cuda_library_call has them. */
void solver_call(solver_job *j, const char *label, int (*calls)(void *context, int *code),
                 void *context);

/* The queue's handle, under its lock and in the device's context; NULL: cuSOLVER has none. */
cusolverDnHandle_t solver_handle(collet_queue *queue);
/* What becomes of a cusolverStatus_t. */
int solver_answer(int status, int *code);

/* The function of f32 or f64; data are void *. */
#define SOLVER(j, name, ...)                                                                       \
    ((j)->wide ? (j)->device->solver.D##name(__VA_ARGS__)                                          \
               : (j)->device->solver.S##name(__VA_ARGS__))

#endif
