/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_call.h - one valid call of any op of this libcore, built from what collet_op_at says of it, so
 * that a new op is under test with its row. An op whose rule refuses the default parameters needs a
 * line in op_call.c: without it the call cannot be built and its tests fail.
 */
#ifndef TESTS_UNIT_OP_CALL_H
#define TESTS_UNIT_OP_CALL_H

#include "support.h"

#define OP_CALL_BYTES 65536 /* of one operand at most, unless it is stretched */

typedef struct op_operand {
    collet_dtype dtype;
    int32_t ndim;
    int64_t shape[COLLET_MAX_DIMS];
    /* Its letter, '.' for one of "...", '#' of a fixed extent, '?' for the smaller of two letters;
     * of a "*" input 'a' and 'b', of such an output the one that it depends on, or '='. */
    char axis[COLLET_MAX_DIMS];
    int optional;
} op_operand;

typedef struct op_call {
    const collet_runtime *runtime;
    collet_op_info info;
    uint32_t count; /* operands, outputs first */
    op_operand operand[COLLET_MAX_OPERANDS];
    char sig[2 * COLLET_MAX_OPERANDS]; /* the signature taken */
    union {
        uint32_t struct_size;
        collet_fill_params fill;
        collet_axpy_params axpy;
        collet_transpose_params transpose;
        collet_reduce_params reduce;
        collet_fft_params fft;
        collet_fftshift_params fftshift;
        collet_random_params random;
        collet_ternary_quantize_params quantize;
        collet_ternary_format_params format;
        collet_ternary_linear_params linear;
        unsigned char bytes[256];
    } params;
    collet_array *array[COLLET_MAX_OPERANDS]; /* NULL: absent */
} op_call;

/* The ops there are, of which there are many. */
size_t op_call_count(const collet_runtime *runtime);

/* Signature number `sig` of the op at `index`, f32 for any real dtype; 0 when it has no such
 * signature. Every optional operand is there. The axis called `empty` (0: none) has no elements. */
int op_call_describe(op_call *c, const collet_runtime *runtime, size_t index, int sig, char empty);

/* Whether the outputs' shapes are a rule's ("*"). */
int op_call_by_rule(const op_call *c);

/* What collet_op_infer makes of the inputs and the outputs' dtypes. */
collet_status op_call_infer(const op_call *c, collet_array_spec *outs, collet_error *err);

/* ... and of the call as it is, outputs and all. */
collet_status op_call_infer_given(const op_call *c, collet_error *err);

/* Makes the axes with a letter `letters` times as long; "..." `others` times where an op has no
 * axes but these, and those of a rule, of whose signatures only the first fits then. */
void op_call_stretch(op_call *c, int64_t letters, int64_t others);

/* The number of operands with an axis of that letter; one of two letters counts for both. */
int op_call_axis_count(const op_call *c, char letter);

/* 1 when the op's signatures accept the dtypes of the operands. */
int op_call_accepts(const op_call *c);

/* Arrays with values in them; outputs hold OP_CALL_OLD in every byte. */
#define OP_CALL_OLD 0x5a
void op_call_arrays(op_call *c, collet_context *cx);
void op_call_free(op_call *c);

/* Fails when a byte of an output that is there is another one. */
void op_call_assert_old(const op_call *c, collet_context *cx);

/* The values of operand k, and its elements' bytes. */
void op_call_values(const op_call *c, uint32_t k, void *bytes);
size_t op_call_bytes(const op_call *c, uint32_t k);

collet_status op_call_run(const op_call *c, collet_context *cx);

/* "input 1", "output 0". */
const char *op_call_name(const op_call *c, uint32_t k, char text[24]);
/* "2 x 3", as messages give it. */
const char *op_call_shape(const op_operand *o, char text[128]);

#endif
