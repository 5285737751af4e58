/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of any dtype, also weak numbers, and their conversion to a dtype. */
#pragma once

#include <collet/types.h>

/* Integers of weak numbers. They are exact, like Python's, up to 127 bits. */
__extension__ typedef __int128 literal_integer;
#define LITERAL_BITS 127

/* A number of any dtype. The dtype of a weak constant is I64 (an integer, which need not fit i64), F64, C128
 * or BOOL. */
typedef struct literal {
    literal_integer integer; /* the value of an integer or bool */
    double re, im;           /* the value of other dtypes */
    collet_dtype dtype;
} literal;

literal literal_of_integer(literal_integer value);
literal literal_of_real(double value);
literal literal_of_complex(double re, double im);
literal literal_of_bool(int value);

/* `weak`: the dtype of an integer becomes I64. */
literal literal_read(const collet_scalar *s, int weak);

/* 1: an integer dtype. */
static inline int literal_has_integers(collet_dtype d)
{
    return d == COLLET_I8 || d == COLLET_I16 || d == COLLET_I32 || d == COLLET_I64 ||
           d == COLLET_U8 || d == COLLET_U16 || d == COLLET_U32 || d == COLLET_U64;
}

/* 1: the number is an integer or a bool, so `integer` has its value. */
static inline int literal_is_whole(const literal *n)
{
    return n->dtype == COLLET_BOOL || literal_has_integers(n->dtype);
}

/* Rounds an integer or bool to f64. */
static inline void literal_make_real(literal *n)
{
    if (literal_is_whole(n))
        *n = (literal){.re = (double)n->integer, .dtype = COLLET_F64};
}

/* 1 if a weak number has this real value. */
int literal_is(const literal *n, double value);

/* Converts as `copy` does, with one rounding. Returns 0 for complex to real, and for an integer
 * beyond the dtype; *out is then the nearest integer of the dtype. */
int literal_convert(collet_scalar *out, collet_dtype dtype, const literal *n);

/* -1, 0 or 1: the integer is below, within or above an integer dtype. */
int literal_beyond(const literal *n, collet_dtype dtype);

#define LITERAL_TEXT 64
/* The number as Python writes it, for messages. Returns `text`. */
const char *literal_text(const literal *n, char text[LITERAL_TEXT]);
