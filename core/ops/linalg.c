/* SPDX-License-Identifier: Apache-2.0 */
/* The linalg family: typed calls. Every shape rule is a pattern of ops.def. */
#include <collet/collet.h>

collet_status collet_matmul(collet_context *context, collet_array *c, const collet_array *a,
                            const collet_array *b)
{
    const collet_array *ins[] = {a, b};
    return collet_call(context, COLLET_OP_MATMUL, &c, ins, NULL);
}
