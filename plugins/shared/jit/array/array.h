/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array.h - the array family on devices: rows for a backend's table of kernels. Run functions as in
 * plugin.h.
 */
#ifndef PLUGINS_SHARED_JIT_ARRAY_ARRAY_H
#define PLUGINS_SHARED_JIT_ARRAY_ARRAY_H

#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/rows.h"

jit_run jit_fill, jit_copy, jit_transpose, jit_axpy;
jit_run jit_elementwise; /* add, sub, mul, div, neg, abs, conj, exp, log, sqrt, sin, cos, tanh */
jit_run jit_reduce;      /* sum, mean, min, max, argmax */
jit_accepts jit_reduce_accepts;

#define JIT_FLOATS(OP)                                                                             \
    JIT_ROW(OP, elementwise, F, F), JIT_ROW(OP, elementwise, D, D),                                \
        JIT_ROW(OP, elementwise, H, H), JIT_ROW(OP, elementwise, B, B)
#define JIT_ARITHMETIC(OP)                                                                         \
    JIT_ROW(OP, elementwise, F, F, F), JIT_ROW(OP, elementwise, D, D, D),                          \
        JIT_ROW(OP, elementwise, H, H, H), JIT_ROW(OP, elementwise, B, B, B),                      \
        JIT_ROW(OP, elementwise, C, C, C), JIT_ROW(OP, elementwise, Z, Z, Z)

/* A row for each real type, with equal types or alone, and for each pair of them; a comma follows. */
#define JIT_SAME(NAME, name, OP, run)                                                              \
    COLLET_ROW(OP, COLLET_SIG(COLLET_##NAME, COLLET_##NAME), jit_##run, NULL),
#define JIT_FILL(NAME, name, ...) COLLET_ROW(FILL, COLLET_SIG(COLLET_##NAME), jit_fill, NULL),
#define JIT_COPY(NAME, name, to) COLLET_ROW(COPY, COLLET_SIG(to, COLLET_##NAME), jit_copy, NULL),
#define JIT_COPIES_TO(NAME, name, ...) COLLET_EACH_REAL_AGAIN(JIT_COPY, COLLET_##NAME)

/* One row for each type, with equal input and output types. */
#define JIT_MOVES(OP, run)                                                                         \
    COLLET_EACH_REAL(JIT_SAME, OP, run)                                                            \
    JIT_ROW(OP, run, C, C), JIT_ROW(OP, run, Z, Z)

#define JIT_REDUCTIONS                                                                             \
    JIT_ROW_ACCEPTS(SUM, reduce, F, F), JIT_ROW_ACCEPTS(SUM, reduce, D, D),                        \
        JIT_ROW_ACCEPTS(SUM, reduce, D, F), JIT_ROW_ACCEPTS(SUM, reduce, C, C),                    \
        JIT_ROW_ACCEPTS(SUM, reduce, Z, Z), JIT_ROW_ACCEPTS(MEAN, reduce, F, F),                   \
        JIT_ROW_ACCEPTS(MEAN, reduce, D, D), JIT_ROW_ACCEPTS(MEAN, reduce, D, F),                  \
        JIT_ROW_ACCEPTS(MIN, reduce, F, F), JIT_ROW_ACCEPTS(MIN, reduce, D, D),                    \
        JIT_ROW_ACCEPTS(MAX, reduce, F, F), JIT_ROW_ACCEPTS(MAX, reduce, D, D),                    \
        JIT_ROW_ACCEPTS(ARGMAX, reduce, I64, F), JIT_ROW_ACCEPTS(ARGMAX, reduce, I64, D)

#define JIT_ARRAY_ROWS                                                                             \
    COLLET_EACH_REAL(JIT_FILL, 0)                                                                  \
    JIT_ROW(FILL, fill, C), JIT_ROW(FILL, fill, Z),                                                \
        COLLET_EACH_REAL(JIT_COPIES_TO, 0) JIT_ROW(COPY, copy, C, C), JIT_ROW(COPY, copy, Z, Z),   \
        JIT_ROW(COPY, copy, C, Z), JIT_ROW(COPY, copy, Z, C), JIT_ARITHMETIC(ADD),                 \
        JIT_ARITHMETIC(SUB), JIT_ARITHMETIC(MUL), JIT_ARITHMETIC(DIV), JIT_FLOATS(NEG),            \
        JIT_FLOATS(ABS), JIT_ROW(ABS, elementwise, F, C), JIT_ROW(ABS, elementwise, D, Z),         \
        JIT_ROW(CONJ, elementwise, C, C), JIT_ROW(CONJ, elementwise, Z, Z),                        \
        JIT_ROW(AXPY, axpy, F, F, F), JIT_ROW(AXPY, axpy, D, D, D), JIT_FLOATS(EXP),               \
        JIT_FLOATS(LOG), JIT_FLOATS(SQRT), JIT_FLOATS(SIN), JIT_FLOATS(COS), JIT_FLOATS(TANH),     \
        JIT_MOVES(TRANSPOSE, transpose), JIT_REDUCTIONS

#endif
