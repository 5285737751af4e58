/* SPDX-License-Identifier: Apache-2.0 */
/* Matching a call's shapes with an op's patterns: axes of two letters. */
#include <string.h>

#include "common/test.h"
#include "op/shape.h"
#include "op/table.h"
#include "common/contains.h"

#define OPERANDS 3

/* Two outputs and an input, as in a factorisation. */
static const char factors[] = "...,M,MN ...,MN,N : ...,M,N";

typedef struct shapes {
    int32_t ndim[OPERANDS];
    int64_t shape[OPERANDS][COLLET_MAX_DIMS];
} shapes;

static collet_status check(const shapes *s, collet_error *err)
{
    static const int64_t strides[COLLET_MAX_DIMS] = {0};
    op_scratch scratch[COLLET_MAX_OPERANDS];
    const op_source source = {.name = "factor", .shapes = factors, .sigs = "ff:f"};
    op o;
    op_shapes views = {0};
    assert_int_equal(COLLET_OK, op_parse(&o, &source, err));
    for (int i = 0; i < OPERANDS; i++)
        views.operand[i] = (struct op_view){s->ndim[i], s->shape[i], strides, COLLET_F32, NULL};
    return op_check_shapes(&o, &views, NULL, scratch, err);
}

TEST(the_shorter_side)
{
    static const shapes fitting[] = {
        {{2, 2, 2}, {{5, 3}, {3, 3}, {5, 3}}},       {{2, 2, 2}, {{3, 3}, {3, 5}, {3, 5}}},
        {{2, 2, 2}, {{4, 4}, {4, 4}, {4, 4}}},       {{2, 2, 2}, {{0, 0}, {0, 4}, {0, 4}}},
        {{2, 2, 2}, {{4, 0}, {0, 0}, {4, 0}}},       {{3, 3, 3}, {{7, 5, 3}, {7, 3, 3}, {7, 5, 3}}},
        {{3, 3, 2}, {{7, 3, 3}, {7, 3, 5}, {3, 5}}},
    };
    collet_error err;
    for (size_t i = 0; i < sizeof fitting / sizeof *fitting; i++)
        assert_int_equal(COLLET_OK, check(&fitting[i], &err));
}

TEST(any_other_extent_is_named)
{
    static const struct {
        shapes s;
        const char *text;
    } wrong[] = {
        {{{2, 2, 2}, {{5, 5}, {3, 3}, {5, 3}}}, "output 0 is 5 x 5, input 0 is 5 x 3"},
        {{{2, 2, 2}, {{5, 3}, {5, 3}, {5, 3}}}, "output 1 is 5 x 3, input 0 is 5 x 3"},
        {{{2, 2, 2}, {{3, 5}, {3, 5}, {3, 5}}}, "output 0 is 3 x 5, input 0 is 3 x 5"},
        {{{2, 2, 2}, {{3, 2}, {3, 5}, {3, 5}}}, "output 0 is 3 x 2, input 0 is 3 x 5"},
        {{{2, 2, 2}, {{4, 3}, {3, 3}, {5, 3}}}, "output 0 is 4 x 3, input 0 is 5 x 3"},
    };
    collet_error err;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(COLLET_SHAPE, check(&wrong[i].s, &err));
        assert_contains(err.text, wrong[i].text);
    }
}
