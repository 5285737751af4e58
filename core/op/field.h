/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of parameter blocks: their validity and their defaults. */
#pragma once

#include "op.h"

/* Field k of the parameter block. */
const collet_ops_field *op_field(const op *o, uint32_t k);
/* INVALID if a field of a definition does not fit its kind, dtype and block; the text says which
 * field and why. */
collet_status op_field_check(const op *o, const collet_ops_field *f, collet_error *err);

/* Writes the defaults of the parameter block, params_size bytes, for collet_ops_defaults. */
void op_defaults(const op *o, int32_t ndim, void *params);
