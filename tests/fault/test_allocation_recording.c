/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation number N fails while a recording is made and run. A later run allocates only its results. */
#include <collet/ops.h>
#include <collet/recording.h>

#include "common/failing_malloc.h"
#include "common/fixture.h"

enum { RESULT = 3 }; /* the maximum number of allocations of an array: a sanitizer adds one for the elements */

static const int64_t shape[] = {4};

/* Records (x + c)[::-1] * x, where c is a constant, and an expression whose input is this product. The recording
 * returns the value of the expression and x + c. */
static collet_status make(collet_recording *r, collet_expression *e, const collet_array *constant)
{
    const int64_t reversed[] = {0, 3, 4, -1};
    uint32_t x, c, view, out[2];
    collet_status status = collet_recording_input(cx, r, &x, COLLET_F32, 1, shape);
    if (status == COLLET_OK)
        status = collet_recording_constant(cx, r, &c, constant);
    if (status == COLLET_OK)
        status =
            collet_recording_call(cx, r, &out[1], COLLET_OP_ADD, (uint32_t[]){x, c}, NULL, NULL);
    if (status == COLLET_OK)
        status = collet_recording_view(cx, r, &view, out[1], COLLET_VIEW_SLICE, reversed, 4);
    if (status == COLLET_OK)
        status =
            collet_recording_call(cx, r, &out[0], COLLET_OP_MUL, (uint32_t[]){view, x}, NULL, NULL);
    if (status == COLLET_OK)
        status = collet_recording_evaluate(cx, r, &out[0], e, (uint32_t[]){out[0]});
    return status == COLLET_OK ? collet_recording_complete(cx, r, out, 2) : status;
}

static collet_status make_and_run(const collet_array *x)
{
    collet_recording *r = NULL;
    collet_expression *e = NULL;
    collet_array *made[2] = {NULL, NULL};
    collet_status status = collet_expression_parse(&e, "a + 1", NULL);
    if (status == COLLET_OK)
        status = collet_recording_create(cx, &r);
    if (status == COLLET_OK)
        status = make(r, e, x);
    for (int run = 0; status == COLLET_OK && run < 2; run++) {
        status = collet_recording_run(cx, r, made, &x);
        for (int i = 0; i < 2; i++) {
            assert_true(!made[i] == (status != COLLET_OK));
            collet_array_destroy(made[i]);
        }
    }
    collet_recording_destroy(r);
    collet_expression_destroy(e);
    return status;
}

TEST(each_allocation_fails)
{
    OWNED(collet_array) *x = floats(cx, 4, 1);
    long n = 0;
    assert_ok(cx, make_and_run(x));
    for (;; n++) {
        long before = allocation_outstanding;
        allocation_failed = 0;
        allocation_countdown = n;
        collet_status status = make_and_run(x);
        allocation_countdown = -1;
        assert_int_equal(allocation_outstanding, before);
        assert_floats(cx, x, (const float[]){1, 2, 3, 4});
        if (!allocation_failed)
            break;
        assert_int_equal(status, COLLET_NO_MEMORY);
    }
    print_message("%ld allocations\n", n);
    assert_true(n > 20);
}

TEST(a_later_run_allocates_its_results)
{
    OWNED(collet_array) *x = floats(cx, 4, 1);
    collet_recording *r;
    uint32_t in, value;
    collet_array *made;
    assert_ok(cx, collet_recording_create(cx, &r));
    assert_ok(cx, collet_recording_input(cx, r, &in, COLLET_F32, 1, shape));
    value = in;
    for (int i = 0; i < 10; i++)
        assert_ok(cx, collet_recording_call(cx, r, &value, COLLET_OP_ADD, (uint32_t[]){value, in},
                                            NULL, NULL));
    assert_ok(cx, collet_recording_complete(cx, r, &value, 1));
    for (int run = 0; run < 2; run++) {
        long before = allocation_outstanding;
        allocation_failed = 0;
        allocation_countdown = run ? RESULT : -1;
        assert_ok(cx, collet_recording_run(cx, r, &made, (const collet_array *[]){x}));
        allocation_countdown = -1;
        assert_int_equal(allocation_failed, 0);
        if (run)
            assert_true(allocation_outstanding <= before + RESULT);
        assert_floats(cx, made, (const float[]){11, 22, 33, 44});
        collet_array_destroy(made);
    }
    collet_recording_destroy(r);
}

TEST_GROUP(set_up_scalar, tear_down)
