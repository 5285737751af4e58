/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array.h - the array family on devices: rows for a backend's table of kernels. Run functions as in
 * plugin.h.
 */
#ifndef COLLET_JIT_ARRAY_ARRAY_H
#define COLLET_JIT_ARRAY_ARRAY_H

#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/rows.h"

jit_run jit_fill, jit_copy, jit_transpose, jit_argmax, jit_axpy;
jit_run jit_elementwise; /* add, sub, mul, div, neg, abs, conj, exp, log, sqrt, sin, cos, tanh */
jit_run jit_reduce;      /* sum, mean, min, max */
jit_accepts jit_reduce_accepts;

#define JIT_FLOATS(OP)                                                                             \
    JIT_ROW(OP, elementwise, F, F), JIT_ROW(OP, elementwise, D, D),                                \
        JIT_ROW(OP, elementwise, H, H), JIT_ROW(OP, elementwise, B, B)
#define JIT_ARITHMETIC(OP)                                                                         \
    JIT_ROW(OP, elementwise, F, F, F), JIT_ROW(OP, elementwise, D, D, D),                          \
        JIT_ROW(OP, elementwise, H, H, H), JIT_ROW(OP, elementwise, B, B, B),                      \
        JIT_ROW(OP, elementwise, C, C, C), JIT_ROW(OP, elementwise, Z, Z, Z)

/* One row for each type that real type t can be copied to. */
#define JIT_COPY_FROM(t)                                                                           \
    JIT_ROW(COPY, copy, H, t), JIT_ROW(COPY, copy, B, t), JIT_ROW(COPY, copy, F, t),               \
        JIT_ROW(COPY, copy, D, t), JIT_ROW(COPY, copy, I8, t), JIT_ROW(COPY, copy, U8, t),         \
        JIT_ROW(COPY, copy, I32, t), JIT_ROW(COPY, copy, U32, t), JIT_ROW(COPY, copy, I64, t),     \
        JIT_ROW(COPY, copy, U64, t)

/* One row for each type, with equal input and output types. */
#define JIT_MOVES(OP, run)                                                                         \
    JIT_ROW(OP, run, H, H), JIT_ROW(OP, run, B, B), JIT_ROW(OP, run, F, F),                        \
        JIT_ROW(OP, run, D, D), JIT_ROW(OP, run, C, C), JIT_ROW(OP, run, Z, Z),                    \
        JIT_ROW(OP, run, I8, I8), JIT_ROW(OP, run, U8, U8), JIT_ROW(OP, run, I32, I32),            \
        JIT_ROW(OP, run, U32, U32), JIT_ROW(OP, run, I64, I64), JIT_ROW(OP, run, U64, U64)

#define JIT_REDUCTIONS                                                                             \
    JIT_ROW_ACCEPTS(SUM, reduce, F, F), JIT_ROW_ACCEPTS(SUM, reduce, D, D),                        \
        JIT_ROW_ACCEPTS(SUM, reduce, D, F), JIT_ROW_ACCEPTS(SUM, reduce, C, C),                    \
        JIT_ROW_ACCEPTS(SUM, reduce, Z, Z), JIT_ROW_ACCEPTS(MEAN, reduce, F, F),                   \
        JIT_ROW_ACCEPTS(MEAN, reduce, D, D), JIT_ROW_ACCEPTS(MEAN, reduce, D, F),                  \
        JIT_ROW_ACCEPTS(MIN, reduce, F, F), JIT_ROW_ACCEPTS(MIN, reduce, D, D),                    \
        JIT_ROW_ACCEPTS(MAX, reduce, F, F), JIT_ROW_ACCEPTS(MAX, reduce, D, D),                    \
        JIT_ROW(ARGMAX, argmax, I64, F), JIT_ROW(ARGMAX, argmax, I64, D)

#define JIT_ARRAY_ROWS                                                                             \
    JIT_ROW(FILL, fill, H), JIT_ROW(FILL, fill, B), JIT_ROW(FILL, fill, F),                        \
        JIT_ROW(FILL, fill, D), JIT_ROW(FILL, fill, C), JIT_ROW(FILL, fill, Z),                    \
        JIT_ROW(FILL, fill, I8), JIT_ROW(FILL, fill, U8), JIT_ROW(FILL, fill, I32),                \
        JIT_ROW(FILL, fill, U32), JIT_ROW(FILL, fill, I64), JIT_ROW(FILL, fill, U64),              \
        JIT_COPY_FROM(H), JIT_COPY_FROM(B), JIT_COPY_FROM(F), JIT_COPY_FROM(D), JIT_COPY_FROM(I8), \
        JIT_COPY_FROM(U8), JIT_COPY_FROM(I32), JIT_COPY_FROM(U32), JIT_COPY_FROM(I64),             \
        JIT_COPY_FROM(U64), JIT_ROW(COPY, copy, C, C), JIT_ROW(COPY, copy, Z, Z),                  \
        JIT_ROW(COPY, copy, C, Z), JIT_ROW(COPY, copy, Z, C), JIT_ARITHMETIC(ADD),                 \
        JIT_ARITHMETIC(SUB), JIT_ARITHMETIC(MUL), JIT_ARITHMETIC(DIV), JIT_FLOATS(NEG),            \
        JIT_FLOATS(ABS), JIT_ROW(ABS, elementwise, F, C), JIT_ROW(ABS, elementwise, D, Z),         \
        JIT_ROW(CONJ, elementwise, C, C), JIT_ROW(CONJ, elementwise, Z, Z),                        \
        JIT_ROW(AXPY, axpy, F, F, F), JIT_ROW(AXPY, axpy, D, D, D), JIT_FLOATS(EXP),               \
        JIT_FLOATS(LOG), JIT_FLOATS(SQRT), JIT_FLOATS(SIN), JIT_FLOATS(COS), JIT_FLOATS(TANH),     \
        JIT_MOVES(TRANSPOSE, transpose), JIT_REDUCTIONS

#endif
