/* SPDX-License-Identifier: Apache-2.0 */
/* formulas.h - the formulas of all dtypes in C. Include host.h and the elementary functions before. */
#pragma once

#include "shared/formula/host.h"

#include "shared/formula/bool.dev"

#define T f32
#define F(x) x##_f32
#define U u32
#include "shared/formula/real.dev"
#include "shared/formula/composed.dev"
#undef T
#undef F
#undef U

#define T f64
#define F(x) x##_f64
#define U u64
#include "shared/formula/real.dev"
#include "shared/formula/composed.dev"
#undef T
#undef F
#undef U

#define NEGATIVE(x) ((x) < 0)
#define C u32
#define T i8
#define F(x) x##_i8
#define BITS 8
#define QUOTIENT f32
#define FLOOR(x) __builtin_floorf(x)
#include "shared/formula/integer.dev"
#undef QUOTIENT
#undef FLOOR
#undef T
#undef F
#undef BITS

#define T i16
#define F(x) x##_i16
#define BITS 16
#define QUOTIENT f32
#define FLOOR(x) __builtin_floorf(x)
#include "shared/formula/integer.dev"
#undef QUOTIENT
#undef FLOOR
#undef T
#undef F
#undef BITS

#define T i32
#define F(x) x##_i32
#define BITS 32
#define QUOTIENT f64
#define FLOOR(x) __builtin_floor(x)
#include "shared/formula/integer.dev"
#undef QUOTIENT
#undef FLOOR
#undef T
#undef F
#undef BITS
#undef C

#define C u64
#define T i64
#define F(x) x##_i64
#define BITS 64
#include "shared/formula/integer.dev"
#undef T
#undef F
#undef BITS
#undef C
#undef NEGATIVE

#define NEGATIVE(x) 0
#define C u32
#define T u8
#define F(x) x##_u8
#define BITS 8
#define QUOTIENT f32
#define FLOOR(x) __builtin_floorf(x)
#include "shared/formula/integer.dev"
#undef QUOTIENT
#undef FLOOR
#undef T
#undef F
#undef BITS

#define T u16
#define F(x) x##_u16
#define BITS 16
#define QUOTIENT f32
#define FLOOR(x) __builtin_floorf(x)
#include "shared/formula/integer.dev"
#undef QUOTIENT
#undef FLOOR
#undef T
#undef F
#undef BITS

#define T u32
#define F(x) x##_u32
#define BITS 32
#define QUOTIENT f64
#define FLOOR(x) __builtin_floor(x)
#include "shared/formula/integer.dev"
#undef QUOTIENT
#undef FLOOR
#undef T
#undef F
#undef BITS
#undef C

#define C u64
#define T u64
#define F(x) x##_u64
#define BITS 64
#include "shared/formula/integer.dev"
#undef T
#undef F
#undef BITS
#undef C
#undef NEGATIVE

#define T c64
#define P f32
#define F(x) x##_c64
#define R(x) x##_f32
#define WORD u32
#define DIGITS 23
#define SMALLEST 0x1p-126f
#define LARGE 0x1p60f
#include "shared/formula/complex.dev"
#include "shared/formula/functions_complex.dev"
#undef T
#undef P
#undef F
#undef R
#undef WORD
#undef DIGITS
#undef SMALLEST
#undef LARGE

#define T c128
#define P f64
#define F(x) x##_c128
#define R(x) x##_f64
#define WORD u64
#define DIGITS 52
#define SMALLEST 0x1p-1022
#define LARGE 0x1p500
#include "shared/formula/complex.dev"
#include "shared/formula/functions_complex.dev"
#undef T
#undef P
#undef F
#undef R
#undef WORD
#undef DIGITS
#undef SMALLEST
#undef LARGE
