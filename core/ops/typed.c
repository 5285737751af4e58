/* SPDX-License-Identifier: Apache-2.0 */
/* The typed calls that are rows of the .def files.
 * Tests: tests/core/test_infer.c, tests/core/test_fork.c */
#include <collet/collet.h>
#include <collet/ops/typed.h>

#define NAMES(...) __VA_ARGS__

#define COLLET_CALL(NAME, name, outs, ins)                                                         \
    COLLET_TYPED_DECLARE(NAME, name, outs, ins)                                                    \
    collet_status collet_op_##name(                                                                \
        collet_context *context COLLET_TYPED_OUTS outs COLLET_TYPED_INS ins)                       \
    {                                                                                              \
        return collet_call(context, COLLET_OP_##NAME, (collet_array *[]){NAMES outs},              \
                           (const collet_array *[]){NAMES ins}, NULL);                             \
    }

#define COLLET_CALL_PARAMS(NAME, name, outs, ins, type)                                            \
    COLLET_TYPED_DECLARE_PARAMS(NAME, name, outs, ins, type)                                       \
    collet_status collet_op_##name(                                                                \
        collet_context *context COLLET_TYPED_OUTS outs COLLET_TYPED_INS ins, const type *params)   \
    {                                                                                              \
        return collet_call(context, COLLET_OP_##NAME, (collet_array *[]){NAMES outs},              \
                           (const collet_array *[]){NAMES ins}, params);                           \
    }

#include <collet/ops.def>
