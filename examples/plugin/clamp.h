/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clamp.h - the op "example.clamp", for programs that call it and for the plugin that has it.
 *
 * out = the nearest number to a in [lower, upper]; NaN stays NaN. f32 and f64, any shape; `out` may
 * be exactly `a`. lower > upper, or either NaN: REFUSED, with a text, and nothing is written.
 */
#ifndef EXAMPLE_CLAMP_H
#define EXAMPLE_CLAMP_H

#include <stdint.h>

#define EXAMPLE_CLAMP "example.clamp"

typedef struct example_clamp_params {
    uint32_t struct_size; /* sizeof(example_clamp_params) */
    uint32_t reserved;    /* 0 */
    double lower;
    double upper;
} example_clamp_params;

#endif
