/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_call.h - builds a valid call of any op from its description (collet_ops_at), so that a new op
 * is tested as soon as it has a row. If an op's rule refuses the default parameters, op_call.c
 * needs a line for it: otherwise the call cannot be built and its tests fail.
 */
#ifndef TESTS_COMMON_OP_CALL_H
#define TESTS_COMMON_OP_CALL_H

#include "support.h"

#define OP_CALL_BYTES 65536 /* maximum size of an operand before op_call_stretch */

typedef struct op_operand {
    collet_dtype dtype;
    int32_t ndim;
    int64_t shape[COLLET_MAX_DIMS];
    /* For each axis its letter in the pattern (ops.def), '.' for an axis of "...", '#' for a fixed extent,
     * '?' for the smaller extent of two letters' axes. Inputs with the pattern "*" have the axes 'a' and 'b'.
     * Outputs with the pattern "*" have the letter of the input axis that determines the extent, or
     * '='. */
    char axis[COLLET_MAX_DIMS];
    int optional;
} op_operand;

typedef struct op_call {
    const collet_runtime *runtime;
    collet_ops_info info;
    uint32_t count; /* operands, outputs first */
    op_operand operand[COLLET_MAX_OPERANDS];
    char sig[2 * COLLET_MAX_OPERANDS]; /* the chosen signature */
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

/* The number of ops with signatures; `index` below counts these ops. The test fails if there are too
 * few. Ops that take any dtypes have no signatures; other tests call them. */
size_t op_call_count(const collet_runtime *runtime);

/* Describes a call of the op at `index` with its signature number `sig` (f32 stands for any real
 * dtype); returns 0 if the signature does not exist. All optional operands are present. The axis
 * with the letter `empty` (0: none) has extent 0. */
int op_call_describe(op_call *c, const collet_runtime *runtime, size_t index, int sig, char empty);

/* Whether a rule ("*") computes the outputs' shapes. */
int op_call_by_rule(const op_call *c);

/* Calls collet_ops_infer with the inputs and the outputs' dtypes. */
collet_status op_call_infer(const op_call *c, collet_array_spec *outs, collet_error *err);

/* Calls collet_ops_infer with complete outputs. */
collet_status op_call_infer_given(const op_call *c, collet_error *err);

/* Multiplies the extents of letter axes by `letters`, or by `others` if a rule computes the shapes
 * (then only the rule's first signature is valid). Multiplies the axes of "..." by `others` if the
 * op has no letters. */
void op_call_stretch(op_call *c, int64_t letters, int64_t others);

/* The number of operands with an axis of that letter; an axis of two letters counts for both. */
int op_call_axis_count(const op_call *c, char letter);

/* 1 when the op's signatures accept the dtypes of the operands. */
int op_call_accepts(const op_call *c);

/* Creates the arrays and fills them; every byte of the outputs is OP_CALL_OLD. */
#define OP_CALL_OLD 0x5a
void op_call_arrays(op_call *c, collet_context *cx);
void op_call_free(op_call *c);

/* Fails if any byte of a present output is not OP_CALL_OLD. */
void op_call_assert_old(const op_call *c, collet_context *cx);

/* Writes the values of operand k to `bytes`. op_call_bytes: its size in bytes. */
void op_call_values(const op_call *c, uint32_t k, void *bytes);
size_t op_call_bytes(const op_call *c, uint32_t k);

collet_status op_call_run(const op_call *c, collet_context *cx);

/* "b (input 1)", "out (output 0)", as in messages. */
const char *op_call_name(const op_call *c, uint32_t k, char text[48]);
/* "2 x 3", as in messages. */
const char *op_call_shape(const op_operand *o, char text[128]);

#endif
