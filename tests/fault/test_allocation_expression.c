/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation number N fails while an expression is created, differentiated and evaluated.
 * Evaluating a prepared expression needs no allocation. */

#include "common/failing_malloc.h"
#include "common/evaluate.h"
#include "common/fixture.h"
#include "expression/evaluate.h"

enum { INPUTS = 10 };

/* An expression with more than 8 inputs, which is split into several programs. */
static const char text[] = "a*b + c*d + e*f - g*h + exp(i/j); a + j + 2; a % 3; b - 1; c; c";

static collet_status make_and_run(collet_array **outs, const collet_array *const *ins,
                                  int by_steps)
{
    collet_expression *e, *gradient;
    collet_status status = collet_expression_parse(&e, text, NULL);
    if (status != COLLET_OK)
        return status;
    status = collet_expression_gradient(e, &gradient, 0, 9, NULL);
    if (status == COLLET_OK) {
        collet_array *made[6] = {NULL, outs[1]}; /* but one are made */
        status = expression_evaluate(cx, e, outs, ins, NULL, by_steps);
        if (status == COLLET_OK)
            status = expression_evaluate(cx, e, made, ins, NULL, by_steps);
        for (int i = 0; i < 6; i++)
            if (i != 1) {
                assert_true(!made[i] == (status != COLLET_OK));
                collet_array_destroy(made[i]);
            }
        if (status == COLLET_OK)
            status = evaluate_in_order(cx, gradient, outs, ins, NULL);
        collet_expression_destroy(gradient);
    }
    collet_expression_destroy(e);
    return status;
}

TEST(each_allocation_fails)
{
    collet_array *in[INPUTS], *outs[6];
    for (int i = 0; i < INPUTS; i++)
        in[i] = floats(cx, 5, (float)i + 1);
    for (int i = 0; i < 6; i++)
        outs[i] = empty_floats(cx, 5);
    for (int by_steps = 0; by_steps < 2; by_steps++) {
        long n = 0;
        assert_ok(cx, make_and_run(outs, (const collet_array *const *)in, by_steps));
        for (;; n++) {
            long before = allocation_outstanding;
            allocation_failed = 0;
            allocation_countdown = n;
            collet_status status = make_and_run(outs, (const collet_array *const *)in, by_steps);
            allocation_countdown = -1;
            assert_int_equal(allocation_outstanding, before);
            if (!allocation_failed)
                break;
            assert_int_equal(status, COLLET_NO_MEMORY);
        }
        print_message("%ld allocations\n", n);
        assert_true(n > 20);
    }
    for (int i = 0; i < INPUTS; i++)
        collet_array_destroy(in[i]);
    for (int i = 0; i < 6; i++)
        collet_array_destroy(outs[i]);
}

TEST(a_built_expression_allocates_nothing)
{
    OWNED(collet_array) *a = floats(cx, 5, 1), *b = floats(cx, 5, 2), *out = empty_floats(cx, 5);
    const collet_array *ins[] = {a, b};
    OWNED(collet_expression) *e = NULL;
    assert_int_equal(collet_expression_parse(&e, "where(a < 3, a*b + 2*exp(b), 0)", NULL),
                     COLLET_OK);
    assert_ok(cx, evaluate_in_order(cx, e, &out, ins, NULL));
    allocation_failed = 0;
    allocation_countdown = 0;
    assert_ok(cx, evaluate_in_order(cx, e, &out, ins, NULL));
    allocation_countdown = -1;
    assert_int_equal(allocation_failed, 0);
}

TEST_GROUP(set_up_scalar, tear_down)
