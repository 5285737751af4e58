/* SPDX-License-Identifier: Apache-2.0 */
/* Infers dtypes and shapes of the outputs of a call. */
#pragma once

#include "op.h"

/* collet_ops_infer for a parsed op. */
collet_status op_infer(const op *o, collet_array_spec *outs, const collet_array_spec *ins,
                       size_t spec_size, const void *params, collet_error *err);
