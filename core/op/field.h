/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of parameter blocks: their validity and their defaults. */
#ifndef CORE_OP_FIELD_H
#define CORE_OP_FIELD_H

#include "op.h"

/* Field k of the parameter block. */
const collet_ops_field *op_field(const op *o, uint32_t k);
/* INVALID, with which and why, if a definition's field does not fit its kind, dtype and block.
 */
collet_status op_field_check(const op *o, const collet_ops_field *f, collet_error *err);

/* Writes collet_ops_defaults, params_size bytes. */
void op_defaults(const op *o, int32_t ndim, void *params);

#endif
