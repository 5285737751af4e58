/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/fault/test_libraries.c */
#include "onednn.h"

#include "product_check.h"

enum { F32, BF16, I8 }; /* the bits of ONEDNN_TYPE_* */

typedef struct checked {
    onednn *library;
    onednn_plans *plans;
    int large; /* int8 products use onednn_product_i8, as large products do */
} checked;

static int product(void *context, check_type type, const blas_matrix *c, const blas_matrix *a,
                   const blas_matrix *b, int64_t m, int64_t n, int64_t k)
{
    const checked *t = context;
    int computed, before = onednn_enter();
    if (type == CHECK_F32)
        computed = onednn_product_f32(t->library, c, a, b, m, n, k);
    else if (type == CHECK_I8 && t->large)
        computed = onednn_product_i8(t->library, c, a, b, m, n, k);
    else
        computed = onednn_product_planned(t->library, t->plans,
                                          type == CHECK_I8 ? ONEDNN_I8_I32 : ONEDNN_BF16_F32, c, a,
                                          b, m, n, k);
    onednn_leave(before);
    return computed;
}

/* Checks one type. int8 is checked twice: with plans, which small products use, and with onednn_product_i8. */
static const char *check_one(checked *c, int type)
{
    static const check_type types[ONEDNN_TYPES] = {CHECK_F32, CHECK_BF16, CHECK_I8};
    const char *wrong = product_check(product, c, types[type]);
    if (type == I8 && !wrong) {
        c->large = 1;
        wrong = product_check(product, c, types[type]);
    }
    return wrong;
}

/* If f32 products are wrong, the library is not used for other types either. */
const char *onednn_check(onednn *o, uint32_t *types)
{
    checked c = {.library = o, .plans = onednn_plans_create()};
    const char *why = check_one(&c, F32);
    *types = why ? 0 : ONEDNN_TYPE_F32;
    for (int i = BF16; i < ONEDNN_TYPES && !why; i++)
        *types |= check_one(&c, i) ? 0 : 1u << i;
    onednn_plans_free(c.plans);
    return why;
}
