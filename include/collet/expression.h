/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/expression.h - expressions: graphs of elementwise functions over named inputs, evaluated in
 * one pass over memory.
 *
 *     collet_expression *e;
 *     collet_array *force = NULL;
 *     const collet_argument arguments[] = {{.name = "x", .array = x}, {.name = "k", .array = k}};
 *     collet_expression_parse(&e, "-k*x", &err);
 *     collet_expression_evaluate(context, e, &force, arguments, 2);
 *
 * An expression is made once, from text or by calls, and evaluated on any arrays that broadcast. It
 * is compiled once for each combination of the inputs' dtypes, and keeps the last 16 results. For other shapes and
 * other values of constants nothing is compiled again, except when elements are first compared with a number that their
 * dtype cannot hold.
 *
 * Dtypes follow NumPy 2: operands are promoted by collet_dtype_promote, and a weak constant (a
 * number in a text) takes the dtype of the other operands unless it is of a higher kind: 2 * f32 is
 * f32, 2.5 * i32 is f64. A result of weak operands alone is weak, too; as an output it is i64, f64 or
 * c128. Weak integers are exact up to 127 bits in + - * // % ** << >> & | ^ ~, abs, sign, square, minimum, maximum,
 * clip and where, and are rounded once to the dtype of the operand with which a function combines them. A weak integer
 * that does not fit the integer dtype of this operand is an error (DTYPE) before anything is computed, but comparisons
 * of integers with it have their mathematical result: u8 < 300 is true. If `where` selects among weak integers by an
 * array, all these integers must fit the dtype of the operand with which the result is combined. The result of such a
 * `where` stays weak in + - * abs sign square minimum maximum clip; other functions treat it as an array of i64. div of
 * integers is f64. Functions of floating-point numbers convert their integers first: i8, u8 and bool to f16, i16 and
 * u16 to f32, wider integers to f64. Comparisons give bool; conditions are converted to bool.
 *
 * Threads: while nobody builds an expression or sets a constant of it, several threads may evaluate
 * it at once, each with its own context.
 */
#ifndef COLLET_EXPRESSION_H
#define COLLET_EXPRESSION_H

#include <collet/collet.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct collet_expression collet_expression;

#define COLLET_EXPRESSION_VALUES 4096 /* inputs, constants and results of functions, at most */
#define COLLET_EXPRESSION_INPUTS 64
#define COLLET_EXPRESSION_OUTPUTS 64
#define COLLET_EXPRESSION_TEXT 65536 /* bytes of a text */
#define COLLET_EXPRESSION_DEPTH 64   /* nested parentheses, signs and powers of a text */

/* ---- Making ------------------------------------------------------------------------------ */

/* An expression without inputs and outputs. NO_MEMORY. */
COLLET_API collet_status collet_expression_create(collet_expression **out, collet_error *err);
/* Frees the expression: no call may be using it, or use it later. NULL is allowed. */
COLLET_API void collet_expression_destroy(collet_expression *expression);

/*
 * An expression from a text in Python's syntax: names are inputs, numbered in the order in
 * which they first occur; numbers (1, 0.5, 1e-3, 2j), True, False, pi, inf and nan are weak constants; + - * / // % **
 * < <= > >= == != & | ^ ~ << >> and parentheses have Python's meaning and precedence; functions are
 * the names of elementwise.def, "sin(x)", and the names of dtypes, which convert: "f32(x)", or NumPy's name,
 * "float32(x)". Several outputs are separated by ";". A whole output may be the argument of a reduction, "sum(a*b)",
 * "max(a*b, axis=-1, keepdims=True)", "sum(a, axis=(0, 1))"; all outputs must have the same reduction, or reductions
 * of rows (axis=-1, keepdims=True), which may also stand within an output: "a - max(a, axis=-1, keepdims=True)".
 * Arithmetic on numbers of the text is done at once, as in Python; an operation that raises an exception in Python,
 * such as 1/0, is an error.
 *
 * INVALID: the error's text has the column, counted from 1, and what was expected there or is wrong. NO_MEMORY.
 */
COLLET_API collet_status collet_expression_parse(collet_expression **out, const char *text,
                                                 collet_error *err);

/*
 * The following calls add to an expression; *value is the number of the new value. Equal results
 * get the same number. INVALID: NULL, a number that does not exist, a limit above is exceeded.
 * NO_MEMORY.
 */
/* `name`: letters, digits and "_", not in use, or NULL. `dtype`: the only dtype that the
 * input accepts; COLLET_DTYPE_NONE: any. */
COLLET_API collet_status collet_expression_input(collet_expression *expression, uint32_t *value,
                                                 const char *name, collet_dtype dtype,
                                                 collet_error *err);
/* `weak` != 0: a weak constant, of dtype bool, i64, u64, f64 or c128. */
COLLET_API collet_status collet_expression_constant(collet_expression *expression, uint32_t *value,
                                                    const collet_scalar *constant, int32_t weak,
                                                    collet_error *err);
/* A number as in a text: weak, of dtype bool, i64, u64, f64 or c128; it cannot be changed later. Arithmetic on
 * such numbers is done at once. INVALID if it divides by zero, has no result, or if the result is an integer of more
 * than 127 bits. A power with a small number as its exponent becomes products. */
COLLET_API collet_status collet_expression_literal(collet_expression *expression, uint32_t *value,
                                                   const collet_scalar *number, collet_error *err);
/* The result of an op of elementwise.def for `count` operands. */
COLLET_API collet_status collet_expression_apply(collet_expression *expression, uint32_t *value,
                                                 uint32_t op, const uint32_t *operands,
                                                 uint32_t count, collet_error *err);
/* `operand` converted to `dtype`. */
COLLET_API collet_status collet_expression_convert(collet_expression *expression, uint32_t *value,
                                                   uint32_t operand, collet_dtype dtype,
                                                   collet_error *err);
/* `operand` reduced by the op (COLLET_OP_SUM, ...) along the last axis of the inputs' broadcast shape, which keeps the
 * extent 1: x - max(x) subtracts the maximum of each row. The operand counts as broadcast to the inputs' shape. When the
 * expression is compiled, INVALID: the operand has one element per row or is a constant. `correction`: the parameter of
 * var and std; 0 for other ops. */
COLLET_API collet_status collet_expression_reduce_rows(collet_expression *expression,
                                                       uint32_t *value, uint32_t op,
                                                       uint32_t operand, double correction,
                                                       collet_error *err);
/* Makes `value` the next output. */
COLLET_API collet_status collet_expression_output(collet_expression *expression, uint32_t value,
                                                  collet_error *err);
/* Reduces every output by the op (COLLET_OP_SUM, ...) over `count` axes of the broadcast shape (negative axes count
 * from the last axis); `axes` NULL: all. `correction`: the parameter of var and std; 0 for other ops. */
COLLET_API collet_status collet_expression_reduce(collet_expression *expression, uint32_t op,
                                                  const int32_t *axes, int32_t count,
                                                  int32_t keepdims, double correction,
                                                  collet_error *err);

/* Gives a constant of collet_expression_constant another value, of the same dtype; a weak i64 may become
 * a u64. INVALID, DTYPE. */
COLLET_API collet_status collet_expression_set_constant(collet_expression *expression,
                                                        uint32_t value,
                                                        const collet_scalar *constant,
                                                        collet_error *err);

/*
 * The derivative of output `output` by input `input`: a simplified expression with the same inputs and one
 * output. It is elementwise: it differentiates each element of the output by the element of the input from
 * which it was computed. If the input is broadcast, the caller sums the derivative over the repeated axes.
 * For an expression that is reduced by sum this is the derivative of the sum. The derivative has the input's
 * dtype if that is floating-point. Where a function jumps or has a corner, the derivative is the left derivative, the
 * right derivative, or 0. INVALID: a reduction other than sum, no such output or input. UNSUPPORTED: a function has no
 * derivative, or the output depends on the input through a reduction of rows; the text names it. NO_MEMORY.
 */
COLLET_API collet_status collet_expression_gradient(const collet_expression *expression,
                                                    collet_expression **out, uint32_t output,
                                                    uint32_t input, collet_error *err);

/* ---- Queries ----------------------------------------------------------------------------- */

COLLET_API uint32_t collet_expression_input_count(const collet_expression *expression);
COLLET_API uint32_t collet_expression_output_count(const collet_expression *expression);
/* "" for an input without a name; NULL: no such input. */
COLLET_API const char *collet_expression_input_name(const collet_expression *expression,
                                                    uint32_t input);
/* The number of the input of this name. INVALID: there is none; the text lists the names. */
COLLET_API collet_status collet_expression_find(const collet_expression *expression,
                                                uint32_t *input, const char *name,
                                                collet_error *err);

/* ---- Evaluating -------------------------------------------------------------------------- */

/* An input of an evaluation. `name` NULL or "": argument k is input k, an input without a name. The value is the
 * first of these:
 *   - `array`, if it is not NULL
 *   - an array like `spec`, if that is not NULL; only for collet_expression_infer
 *   - `number`, a weak constant of this evaluation, of dtype bool, i64, u64, f64 or c128. For another number nothing
 *     is compiled again. */
typedef struct collet_argument {
    const char *name;
    const collet_array *array;
    const collet_array_spec *spec;
    collet_scalar number;
    uint64_t reserved[2]; /* 0 */
} collet_argument;

/*
 * Sets `outs`, one for each output, to the dtypes and shapes of an evaluation with these arguments. Only the dtype
 * of a number matters. spec_size is sizeof(collet_array_spec), also for specs of the arguments. Every output has the
 * broadcast shape of all inputs, used or not, without the reduced axes.
 * Compiles the expression for the inputs' dtypes. INVALID, also if the arguments do not fit the inputs, as in
 * collet_expression_evaluate; SHAPE. DTYPE: a function does not take the dtype of an operand, or a weak integer does
 * not fit the dtype of the operand with which it is combined. NO_MEMORY.
 */
COLLET_API collet_status collet_expression_infer(collet_expression *expression,
                                                 collet_array_spec *outs, size_t spec_size,
                                                 const collet_argument *arguments, uint32_t count,
                                                 collet_error *err);

/*
 * Evaluates the expression, by the op `evaluate` where the chosen backend has it, else by single ops
 * with the same results; a reduction may then add in another order. `arguments` has `count` entries, one
 * for each input, in any order. `outs` has one entry for each output: an array, which may be an input, or NULL. A
 * NULL becomes a new array of the inferred dtype and shape; it stays NULL if the call fails. The rules of
 * collet_call hold. A graph of more than 8 inputs or 4 outputs, or 1,024 steps, is cut into
 * several calls. After compilation, an evaluation in one call with given outputs allocates nothing. Errors as
 * in collet_call and collet_expression_infer. INVALID too: an input without an argument, an argument without
 * an input, two arguments for one input (the text names it), an argument with a spec, or a division of weak
 * integers by zero. DTYPE too: a weak integer, given or computed, does not fit the dtype of the other operand.
 */
COLLET_API collet_status collet_expression_evaluate(collet_context *context,
                                                    collet_expression *expression,
                                                    collet_array **outs,
                                                    const collet_argument *arguments,
                                                    uint32_t count);

#ifdef __cplusplus
}
#endif
#endif
