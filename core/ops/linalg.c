/* SPDX-License-Identifier: Apache-2.0 */
/* The linalg family: typed calls. Every shape rule is a pattern of ops.def. */
#include <collet/collet.h>

static collet_status product(collet_context *context, uint32_t id, collet_array *out,
                             const collet_array *a, const collet_array *b)
{
    const collet_array *ins[] = {a, b};
    return collet_call(context, id, &out, ins, NULL);
}

collet_status collet_matmul(collet_context *context, collet_array *c, const collet_array *a,
                            const collet_array *b)
{
    return product(context, COLLET_OP_MATMUL, c, a, b);
}

collet_status collet_dot(collet_context *context, collet_array *out, const collet_array *a,
                         const collet_array *b)
{
    return product(context, COLLET_OP_DOT, out, a, b);
}

collet_status collet_matvec(collet_context *context, collet_array *y, const collet_array *a,
                            const collet_array *x)
{
    return product(context, COLLET_OP_MATVEC, y, a, x);
}
