/* SPDX-License-Identifier: Apache-2.0 */
/* tokens.h - rows of activations, prepared for the products of kernel_ternary.h. */
#pragma once

#include "cpu_openmp/runtime/device.h"
#include "kernel_ternary.h"

/* How activations are converted. */
enum ternary_source {
    TOKENS_AS_THEY_ARE, /* i8, packed u8 or f32 have the form's type already; packed u8 may also become i8 */
    TOKENS_TO_I8,       /* f32 becomes i8, with a scale for each token */
    TOKENS_TO_CODES     /* f32 becomes -1, 0 or 1 by a threshold; stored packed or as i8 */
};

/* The values of a token that its results need. */
typedef struct ternary_token {
    uint32_t base;  /* like ternary_finish.base */
    float scale;    /* for TERNARY_I8 */
    int32_t is_nan; /* TOKENS_TO_I8: an activation is not finite */
} ternary_token;

/* The source of tokens and how they are stored. Constant while tokens are prepared. */
typedef struct ternary_tokens {
    const ternary_rows *kernels;
    const collet_operand *x; /* each row along the last axis is a token */
    int32_t form;            /* TERNARY_* */
    enum ternary_source source;
    float threshold; /* for TOKENS_TO_CODES */
    float limit;     /* for TOKENS_TO_I8: the largest magnitude of the integers */
    int64_t blocks;  /* blocks of a token */
    int64_t step;    /* bytes from one stored token to the next */
    char *stored;    /* 64-byte aligned */
    ternary_token *about;
} ternary_tokens;

/* Bytes of a stored token; set `form` and `blocks` before. */
int64_t ternary_token_bytes(const ternary_tokens *t);

/* The byte offset of index `index`, in C order over the first `axes` axes of an operand. */
int64_t ternary_offset(const collet_operand *o, int32_t axes, int64_t index);

/* Prepares token `index` of x and stores it as number `place`. */
void ternary_token_store(const ternary_tokens *t, int64_t index, int64_t place);
