/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/host/test_ways.c */
#include "ways.h"

#define ALL(count) ((1u << (count)) - 1)

const ways_kind openmp_ways = {
    .backend = "cpu_openmp",
    .names = {"own", "openblas", "onednn"},
    .measured = 1,
    .types = ALL(WAY_TYPES) & ~(1u << WAY_F16),
    .forms = ALL(WAY_FORMS) & ~(1u << WAY_BATCH),
    .ops = ALL(WAY_OPS) & ~(1u << WAY_FFT),
};
