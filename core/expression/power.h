/* SPDX-License-Identifier: Apache-2.0 */
/* Computes powers with a constant exponent by a few products. */
#pragma once

#include "util/literal.h"

/* Values are numbered: x is 0, the result of step i is i + 1. */
typedef struct power_step {
    uint32_t op, inputs;
    uint32_t in[2];
} power_step;

#define POWER_STEPS 12

/*
 * The steps that compute x to the power `exponent`, a multiple of 1/2 between -16 and 16, for x of
 * dtype `dtype`; the last step is the power. 0: pow is more accurate, or the exponent is not such a
 * number.
 */
uint32_t power_steps(power_step steps[POWER_STEPS], const literal *exponent, collet_dtype dtype);
