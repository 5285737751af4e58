/* SPDX-License-Identifier: Apache-2.0 */
/* The dtypes that an op accepts: the column `sigs` of ops.def. */
#pragma once

#include "op.h"

/* Fills op->sig, sig_count, unknown_sigs and exact from op->sigs. */
collet_status op_parse_sigs(op *o, collet_error *err);

/* 1 if every signature of `b` is also a signature of `a`. */
int op_has_sigs(const op *a, const op *b);

/* Writes the dtypes packed in `sig` as in ops.def: "d:ff". An absent operand is '-'; a dtype that
 * does not exist is its number in brackets. Returns `text`. */
#define OP_SIG_TEXT 64
const char *op_sig_text(const op *o, uint64_t sig, char text[OP_SIG_TEXT]);

/* The dtype of a letter; COLLET_DTYPE_NONE for '*' and '='. */
collet_dtype op_letter_dtype(char letter);
/* 1 if the dtype fits a letter of a signature whose operand 0 has the dtype `first`. */
int op_letter_fits(char letter, collet_dtype d, collet_dtype first);

/* 1 if the dtypes packed in `sig` (absent operands 0) are accepted. */
int op_accepts(const op *o, uint64_t sig);
/* 1 if the op accepts the signature of a row of kernels; 0 if the op takes any dtypes. */
int op_accepts_row(const op *o, uint64_t sig);

/* The accepted dtypes with number `index`, with every operand present; 0 beyond the last, and for
 * an op that takes any dtypes. */
int op_signature(const op *o, size_t index, collet_dtype *dtypes);

/* Sets dtypes that are 0 to the dtypes of the first signature that fits; changes nothing if none
 * fits, or if the op takes any dtypes, because its rule then sets them. `scalar`: the dtype of the op's scalar
 * parameter; 0 if the op has none. */
void op_infer_dtypes(const op *o, op_shapes *views, collet_dtype scalar);
