/* SPDX-License-Identifier: Apache-2.0 */
#include "onednn_check.h"

#include <stddef.h>

#include "product_check.h"

typedef struct checked {
    onednn *library;
    onednn_plans *plans;
    int large; /* int8 products as large ones are made */
} checked;

static int product(void *context, check_type type, const blas_matrix *c, const blas_matrix *a,
                   const blas_matrix *b, int64_t m, int64_t n, int64_t k)
{
    const checked *t = context;
    onednn_use use;
    int fine;
    int32_t threads = onednn_enter(t->library, &use, 1);
    if (type == CHECK_BF16)
        fine = onednn_product_planned(t->library, t->plans, threads, ONEDNN_BF16_F32, c, a, b, m, n,
                                      k);
    else if (type == CHECK_I8 && !t->large)
        fine =
            onednn_product_planned(t->library, t->plans, threads, ONEDNN_I8_I32, c, a, b, m, n, k);
    else if (type == CHECK_I8)
        fine = onednn_product_i8(t->library, c, a, b, m, n, k);
    else
        fine = onednn_product_f32(t->library, c, a, b, m, n, k);
    onednn_leave(t->library, &use);
    return fine;
}

/* int8 in two ways: small products by a plan, large ones in one call. */
static const char *check_one(checked *c, int type, double *gflops)
{
    static const check_type types[ONEDNN_TYPES] = {CHECK_F32, CHECK_BF16, CHECK_I8};
    const char *wrong = product_check(product, c, types[type], gflops);
    if (type == ONEDNN_I8 && !wrong) {
        c->large = 1;
        wrong = product_check(product, c, types[type], gflops);
    }
    return wrong;
}

/* A library whose f32 products are wrong is not trusted with others. */
const char *onednn_check(onednn *o, uint32_t *types, double gflops[ONEDNN_TYPES])
{
    checked c = {.library = o, .plans = onednn_plans_create()};
    const char *why = check_one(&c, ONEDNN_F32, &gflops[ONEDNN_F32]);
    for (int i = ONEDNN_BF16; i < ONEDNN_TYPES && !why; i++)
        if (*types & 1u << i && check_one(&c, i, &gflops[i]))
            *types &= ~(1u << i);
    onednn_plans_free(c.plans);
    return why;
}
