/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array.h - the array family on devices: rows for a backend's table of kernels. Each run function
 * is as plugin.h has it.
 */
#ifndef COLLET_JIT_ARRAY_ARRAY_H
#define COLLET_JIT_ARRAY_ARRAY_H

#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/rows.h"

collet_status device_fill(collet_device *device, collet_queue *queue,
                          const collet_kernel_call *call);
collet_status device_copy(collet_device *device, collet_queue *queue,
                          const collet_kernel_call *call);
collet_status device_transpose(collet_device *device, collet_queue *queue,
                               const collet_kernel_call *call);
/* sum, mean, min, max */
collet_status device_reduce(collet_device *device, collet_queue *queue,
                            const collet_kernel_call *call);
uint64_t device_reduce_workspace(collet_device *device, const collet_kernel_call *call);
collet_status device_axpy(collet_device *device, collet_queue *queue,
                          const collet_kernel_call *call);
/* add, sub, mul, div, neg, abs, conj, exp, log, sqrt, sin, cos, tanh */
collet_status device_elementwise(collet_device *device, collet_queue *queue,
                                 const collet_kernel_call *call);

#define DEVICE_FLOATS(OP)                                                                          \
    DEVICE_ROW(OP, elementwise, F, F), DEVICE_ROW(OP, elementwise, D, D),                          \
        DEVICE_ROW(OP, elementwise, H, H), DEVICE_ROW(OP, elementwise, B, B)
#define DEVICE_ARITHMETIC(OP)                                                                      \
    DEVICE_ROW(OP, elementwise, F, F, F), DEVICE_ROW(OP, elementwise, D, D, D),                    \
        DEVICE_ROW(OP, elementwise, H, H, H), DEVICE_ROW(OP, elementwise, B, B, B),                \
        DEVICE_ROW(OP, elementwise, C, C, C), DEVICE_ROW(OP, elementwise, Z, Z, Z)

/* One row for each type that real type t is copied to. */
#define DEVICE_COPY_FROM(t)                                                                        \
    DEVICE_ROW(COPY, copy, H, t), DEVICE_ROW(COPY, copy, B, t), DEVICE_ROW(COPY, copy, F, t),      \
        DEVICE_ROW(COPY, copy, D, t), DEVICE_ROW(COPY, copy, I8, t),                               \
        DEVICE_ROW(COPY, copy, U8, t), DEVICE_ROW(COPY, copy, I32, t),                             \
        DEVICE_ROW(COPY, copy, U32, t), DEVICE_ROW(COPY, copy, I64, t),                            \
        DEVICE_ROW(COPY, copy, U64, t)

/* One row for each type, the same in and out. */
#define DEVICE_MOVES(OP, run)                                                                      \
    DEVICE_ROW(OP, run, H, H), DEVICE_ROW(OP, run, B, B), DEVICE_ROW(OP, run, F, F),               \
        DEVICE_ROW(OP, run, D, D), DEVICE_ROW(OP, run, C, C), DEVICE_ROW(OP, run, Z, Z),           \
        DEVICE_ROW(OP, run, I8, I8), DEVICE_ROW(OP, run, U8, U8), DEVICE_ROW(OP, run, I32, I32),   \
        DEVICE_ROW(OP, run, U32, U32), DEVICE_ROW(OP, run, I64, I64),                              \
        DEVICE_ROW(OP, run, U64, U64)

#define DEVICE_REDUCTIONS                                                                          \
    DEVICE_ROW_WORKSPACE(SUM, reduce, F, F), DEVICE_ROW_WORKSPACE(SUM, reduce, D, D),              \
        DEVICE_ROW_WORKSPACE(SUM, reduce, D, F), DEVICE_ROW_WORKSPACE(SUM, reduce, C, C),          \
        DEVICE_ROW_WORKSPACE(SUM, reduce, Z, Z), DEVICE_ROW_WORKSPACE(MEAN, reduce, F, F),         \
        DEVICE_ROW_WORKSPACE(MEAN, reduce, D, D), DEVICE_ROW_WORKSPACE(MEAN, reduce, D, F),        \
        DEVICE_ROW_WORKSPACE(MIN, reduce, F, F), DEVICE_ROW_WORKSPACE(MIN, reduce, D, D),          \
        DEVICE_ROW_WORKSPACE(MAX, reduce, F, F), DEVICE_ROW_WORKSPACE(MAX, reduce, D, D)

#define DEVICE_ARRAY_ROWS                                                                          \
    DEVICE_ROW(FILL, fill, H), DEVICE_ROW(FILL, fill, B), DEVICE_ROW(FILL, fill, F),               \
        DEVICE_ROW(FILL, fill, D), DEVICE_ROW(FILL, fill, C), DEVICE_ROW(FILL, fill, Z),           \
        DEVICE_ROW(FILL, fill, I8), DEVICE_ROW(FILL, fill, U8), DEVICE_ROW(FILL, fill, I32),       \
        DEVICE_ROW(FILL, fill, U32), DEVICE_ROW(FILL, fill, I64), DEVICE_ROW(FILL, fill, U64),     \
        DEVICE_COPY_FROM(H), DEVICE_COPY_FROM(B), DEVICE_COPY_FROM(F), DEVICE_COPY_FROM(D),        \
        DEVICE_COPY_FROM(I8), DEVICE_COPY_FROM(U8), DEVICE_COPY_FROM(I32), DEVICE_COPY_FROM(U32),  \
        DEVICE_COPY_FROM(I64), DEVICE_COPY_FROM(U64), DEVICE_ROW(COPY, copy, C, C),                \
        DEVICE_ROW(COPY, copy, Z, Z), DEVICE_ROW(COPY, copy, C, Z), DEVICE_ROW(COPY, copy, Z, C),  \
        DEVICE_ARITHMETIC(ADD), DEVICE_ARITHMETIC(SUB), DEVICE_ARITHMETIC(MUL),                    \
        DEVICE_ARITHMETIC(DIV), DEVICE_FLOATS(NEG), DEVICE_FLOATS(ABS),                            \
        DEVICE_ROW(ABS, elementwise, F, C), DEVICE_ROW(ABS, elementwise, D, Z),                    \
        DEVICE_ROW(CONJ, elementwise, C, C), DEVICE_ROW(CONJ, elementwise, Z, Z),                  \
        DEVICE_ROW(AXPY, axpy, F, F, F), DEVICE_ROW(AXPY, axpy, D, D, D), DEVICE_FLOATS(EXP),      \
        DEVICE_FLOATS(LOG), DEVICE_FLOATS(SQRT), DEVICE_FLOATS(SIN), DEVICE_FLOATS(COS),           \
        DEVICE_FLOATS(TANH), DEVICE_MOVES(TRANSPOSE, transpose), DEVICE_REDUCTIONS

#endif
