/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - for every elementwise function a simple loop that evaluates the formula over one row. Include
 * the elementary functions before. */
#pragma once

#include "shared/formula/formulas.h"
#include "shared/formula/kinds.h"
#include "shared/host/util/half.h"

/* n elements; at[0] is the output, at[1..3] the inputs, step[] bytes apart. */
typedef void (*row_fn)(char *const *at, const int64_t *step, int64_t n);

#define ROW(x) row_##x##_f32
#define F(x) x##_f32
#define OF OF_F
#define TYPE float
#define LOAD(x) (x)
#define STORE(x) (x)
#define REAL float
#define COMPLEX c64
#include "shared/formula/rows.inc"

#define ROW(x) row_##x##_f64
#define F(x) x##_f64
#define OF OF_F
#define TYPE double
#define LOAD(x) (x)
#define STORE(x) (x)
#define REAL double
#define COMPLEX c128
#include "shared/formula/rows.inc"

#define ROW(x) row_##x##_f16
#define F(x) x##_f32
#define OF OF_H
#define TYPE uint16_t
#define LOAD(x) ((f32)cpu_f16_to(x))
#define STORE(x) cpu_f16_from((double)(x))
#define REAL uint16_t
#define COMPLEX c64
#include "shared/formula/rows.inc"

#define ROW(x) row_##x##_bf16
#define F(x) x##_f32
#define OF OF_H
#define TYPE uint16_t
#define LOAD(x) ((f32)cpu_bf16_to(x))
#define STORE(x) cpu_bf16_from((double)(x))
#define REAL uint16_t
#define COMPLEX c64
#include "shared/formula/rows.inc"

#define ROW(x) row_##x##_i8
#define F(x) x##_i8
#define OF OF_I
#define TYPE i8
#define LOAD(x) (x)
#define STORE(x) (x)
#define REAL i8
#define COMPLEX c64
#include "shared/formula/rows.inc"

#define ROW(x) row_##x##_u8
#define F(x) x##_u8
#define OF OF_I
#define TYPE u8
#define LOAD(x) (x)
#define STORE(x) (x)
#define REAL u8
#define COMPLEX c64
#include "shared/formula/rows.inc"

#define ROW(x) row_##x##_i16
#define F(x) x##_i16
#define OF OF_I
#define TYPE i16
#define LOAD(x) (x)
#define STORE(x) (x)
#define REAL i16
#define COMPLEX c64
#include "shared/formula/rows.inc"

#define ROW(x) row_##x##_u16
#define F(x) x##_u16
#define OF OF_I
#define TYPE u16
#define LOAD(x) (x)
#define STORE(x) (x)
#define REAL u16
#define COMPLEX c64
#include "shared/formula/rows.inc"

#define ROW(x) row_##x##_i32
#define F(x) x##_i32
#define OF OF_I
#define TYPE i32
#define LOAD(x) (x)
#define STORE(x) (x)
#define REAL i32
#define COMPLEX c64
#include "shared/formula/rows.inc"

#define ROW(x) row_##x##_u32
#define F(x) x##_u32
#define OF OF_I
#define TYPE u32
#define LOAD(x) (x)
#define STORE(x) (x)
#define REAL u32
#define COMPLEX c64
#include "shared/formula/rows.inc"

#define ROW(x) row_##x##_i64
#define F(x) x##_i64
#define OF OF_I
#define TYPE i64
#define LOAD(x) (x)
#define STORE(x) (x)
#define REAL i64
#define COMPLEX c64
#include "shared/formula/rows.inc"

#define ROW(x) row_##x##_u64
#define F(x) x##_u64
#define OF OF_I
#define TYPE u64
#define LOAD(x) (x)
#define STORE(x) (x)
#define REAL u64
#define COMPLEX c64
#include "shared/formula/rows.inc"

#define ROW(x) row_##x##_b8
#define F(x) x##_b8
#define OF OF_B
#define TYPE b8
#define LOAD(x) (x)
#define STORE(x) (x)
#define REAL b8
#define COMPLEX c64
#include "shared/formula/rows.inc"

#define ROW(x) row_##x##_c64
#define F(x) x##_c64
#define OF OF_C
#define TYPE c64
#define LOAD(x) (x)
#define STORE(x) (x)
#define REAL f32
#define COMPLEX c64
#include "shared/formula/rows.inc"

#define ROW(x) row_##x##_c128
#define F(x) x##_c128
#define OF OF_C
#define TYPE c128
#define LOAD(x) (x)
#define STORE(x) (x)
#define REAL f64
#define COMPLEX c128
#include "shared/formula/rows.inc"

#define FIND_REAL(NAME, name, ...) [COLLET_##NAME] = row_find_##name,
/* The row function for the dtype of the last input (the first input of `where` is a bool) and an op; NULL: none. */
static row_fn (*const row_find[COLLET_DTYPE_COUNT])(uint32_t op) = {
    COLLET_EACH_REAL(FIND_REAL, 0)[COLLET_C64] = row_find_c64, [COLLET_C128] = row_find_c128};
