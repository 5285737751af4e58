/* SPDX-License-Identifier: Apache-2.0 */
/* reduce.h - the op evaluate with a program that reduces, and what row_program.c shares with it. */
#pragma once

#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/rows.h"

jit_run jit_reduce_program;
jit_accepts jit_reduce_program_accepts;

/* Whether the op adds or averages real or complex numbers, with compensation; `to` is the dtype of the result. */
int jit_sums_floats(uint32_t op, collet_dtype to);
/* The compiler options of a reduction from one dtype to another, "-DNAME=value ..."; NULL: the kernels do not support it. */
const char *jit_reduce_kind(uint32_t op, collet_dtype to, collet_dtype from);

/* How the reduction of contiguous rows divides a group: into 1 << kept_bits rows; 1 << column_bits items per row
 * begin with adjacent elements. */
void jit_reduce_rows(const jit_traits *t, int64_t rows, int64_t columns, int32_t *kept_bits,
                     int32_t *column_bits);
