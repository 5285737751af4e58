/* SPDX-License-Identifier: Apache-2.0 */
/* Infers dtypes and shapes of the outputs of a call. */
#ifndef CORE_OP_INFER_H
#define CORE_OP_INFER_H

#include "op.h"

/* collet_ops_infer for a parsed op. */
collet_status op_infer(const op *o, const collet_array_spec *ins, const void *params,
                       collet_array_spec *outs, collet_error *err);

#endif
