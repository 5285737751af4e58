/* SPDX-License-Identifier: Apache-2.0 */
/* The program of the op `evaluate`. */
#pragma once

#include <collet/types.h>

#define PROGRAM_VALUES (COLLET_PROGRAM_INPUTS + COLLET_PROGRAM_CONSTANTS + COLLET_PROGRAM_STEPS)

/* The shape of a value in a program with steps that reduce (collet_program). The shape of a function is the greatest
 * shape of its operands. */
typedef enum program_shape {
    PROGRAM_NUMBER,
    PROGRAM_NARROW, /* one element per row */
    PROGRAM_FULL,
} program_shape;

/* Checks a program, and stores the dtype and shape of each value. INVALID, DTYPE; the text says
 * which step and why. */
collet_status program_check(const collet_program *p, uint8_t dtypes[PROGRAM_VALUES],
                            uint8_t shapes[PROGRAM_VALUES], collet_error *err);

/* The dtype of the result of a reduction (COLLET_OP_SUM, ...) over values of `dtype`, by the
 * signatures of its op; `given`: the dtype that the result must have, or COLLET_DTYPE_NONE. Returns
 * COLLET_DTYPE_NONE if `id` is not a reduction or has no such signature. */
collet_dtype program_reduced(uint32_t id, collet_dtype dtype, collet_dtype given);
int program_is_reduction(uint32_t id);
/* 1 for a reduction that needs at least one element. */
int program_reduces_some(uint32_t id);
/* 1 for var and std, which have a correction. */
int program_corrects(uint32_t id);
/* 1 if the op `copy` converts between the dtypes. */
int program_converts(collet_dtype to, collet_dtype from);
/* The reduction of this name; COLLET_NO_OP: none. */
uint32_t program_reduction(const char *name, size_t length);
const char *program_reduction_name(uint32_t id);
