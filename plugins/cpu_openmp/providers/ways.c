/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/host/test_ways.c */
#include "ways.h"

#define ALL(count) ((1u << (count)) - 1)
#define DECOMPOSITIONS (ALL(WAY_OPS) & ~(1u << WAY_FFT))

const ways_kind openmp_ways = {
    .backend = "cpu_openmp",
    .names = {"own", "openblas", "onednn"},
    .range = {[WAY_OPENBLAS] = {1u << WAY_F32 | 1u << WAY_F64 | 1u << WAY_C64 | 1u << WAY_C128,
                                DECOMPOSITIONS, DECOMPOSITIONS},
              [WAY_ONEDNN] = {.types = 1u << WAY_F32 | 1u << WAY_BF16 | 1u << WAY_I8}},
    .measured = 1,
    .types = ALL(WAY_TYPES) & ~(1u << WAY_F16),
    .forms = ALL(WAY_FORMS) & ~(1u << WAY_BATCH),
    .ops = DECOMPOSITIONS,
};
