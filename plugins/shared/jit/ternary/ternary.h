/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ternary.h - the ternary family on devices: rows for a backend's table of kernels. Run and
 * workspace functions as in plugin.h.
 */
#ifndef PLUGINS_SHARED_JIT_TERNARY_TERNARY_H
#define PLUGINS_SHARED_JIT_TERNARY_TERNARY_H

#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/rows.h"

jit_run jit_ternary_quantize, jit_ternary_pack, jit_ternary_unpack, jit_ternary_dot;
jit_run jit_ternary_product; /* ternary_matmul, ternary_linear */
jit_accepts jit_ternary_quantize_accepts, jit_ternary_product_accepts;

#define JIT_TERNARY_ROWS                                                                           \
    JIT_ROW_ACCEPTS(TERNARY_QUANTIZE, ternary_quantize, I8, F, I32, F),                            \
        JIT_ROW_ACCEPTS(TERNARY_QUANTIZE, ternary_quantize, I8, F, I32, D),                        \
        JIT_ROW_ACCEPTS(TERNARY_QUANTIZE, ternary_quantize, I8, F, I32, H),                        \
        JIT_ROW_ACCEPTS(TERNARY_QUANTIZE, ternary_quantize, I8, F, I32, B),                        \
        JIT_ROW(TERNARY_PACK, ternary_pack, U8, I32, I8, F),                                       \
        JIT_ROW(TERNARY_UNPACK, ternary_unpack, I8, F, I32, U8),                                   \
        JIT_ROW(TERNARY_DOT, ternary_dot, I32, U8, U8),                                            \
        JIT_ROW_ACCEPTS(TERNARY_MATMUL, ternary_product, I32, U8, U8),                             \
        JIT_ROW_ACCEPTS(TERNARY_MATMUL, ternary_product, I32, U8, I8),                             \
        JIT_ROW_ACCEPTS(TERNARY_MATMUL, ternary_product, F, U8, F),                                \
        JIT_ROW_ACCEPTS(TERNARY_LINEAR, ternary_product, F, U8, F, F, F)

#endif
