/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reduction at the end of a program (op `evaluate`) on cpu_openmp gives the same bits as the
 * reduction's own op, for any number of chunks. test_expression_random compares whole programs with
 * single calls.
 */

#include "common/fixture.h"

#define ELEMENTS (1 << 14)

/* Equal bits. */
static void assert_same(collet_array *got, collet_array *wanted, uint32_t op, uint32_t axes)
{
    static char a[ELEMENTS * 8], b[ELEMENTS * 8];
    uint64_t size = (uint64_t)collet_array_size(got) * collet_dtype_size(collet_array_dtype(got));
    assert_ok(cx, collet_array_read(cx, got, a, size));
    assert_ok(cx, collet_array_read(cx, wanted, b, size));
    if (memcmp(a, b, size) != 0)
        fail_msg("op %u over axes %u of %d", op, axes, collet_array_ndim(got));
}

/* Reduces a * b over `axes`, where b is one column. Computes this in one program, and by reducing an array of
 * the products. */
static void assert_reduced(collet_dtype dtype, uint32_t op, int32_t ndim, const int64_t *shape,
                           uint32_t axes)
{
    const collet_dtype inputs[2] = {dtype, dtype};
    const collet_step product = {.op = COLLET_OP_MUL, .dtype = dtype, .in = {0, 1}};
    static const uint16_t out_value = 2;
    const collet_program program = {.struct_size = sizeof program,
                                    .n_in = 2,
                                    .n_steps = 1,
                                    .n_out = 1,
                                    .reduce = op,
                                    .step_size = sizeof product,
                                    .constant_size = sizeof(collet_scalar),
                                    .dtypes = inputs,
                                    .steps = &product,
                                    .outs = &out_value};
    const collet_evaluate_params params = {
        .struct_size = sizeof params, .axes = axes, .program = &program};
    const collet_reduce_params reduce = {.struct_size = sizeof reduce, .axes = axes};
    collet_array *in[2], *products, *got[4] = {NULL}, *wanted;
    int64_t column[COLLET_MAX_DIMS], left[COLLET_MAX_DIMS];
    int32_t n = 0;
    for (int32_t i = 0; i < ndim; i++) {
        column[i] = i == ndim - 1 ? 1 : shape[i];
        if (!(axes >> i & 1))
            left[n++] = shape[i];
    }
    const collet_random_params uniform = {.struct_size = sizeof uniform, .seed = axes};
    assert_ok(cx, collet_array_create(cx, &in[0], dtype, ndim, shape));
    assert_ok(cx, collet_array_create(cx, &in[1], dtype, ndim, column));
    assert_ok(cx, collet_array_create(cx, &products, dtype, ndim, shape));
    assert_ok(cx, collet_array_create(cx, &got[0], dtype, n, left));
    assert_ok(cx, collet_array_create(cx, &wanted, dtype, n, left));
    for (int k = 0; k < 2; k++)
        assert_ok(cx, collet_call(cx, COLLET_OP_NORMAL, &in[k], NULL, &uniform));
    const collet_array *ins[8] = {in[0], in[1]}, *of_products = products;
    assert_ok(cx, collet_call(cx, COLLET_OP_MUL, &products, ins, NULL));
    assert_ok(cx, collet_call(cx, op, &wanted, &of_products, &reduce));
    assert_ok(cx, collet_call(cx, COLLET_OP_EVALUATE, got, ins, &params));
    assert_same(got[0], wanted, op, axes);
    collet_array *all[] = {in[0], in[1], products, got[0], wanted};
    for (int k = 0; k < 5; k++)
        collet_array_destroy(all[k]);
}

TEST(reductions_have_the_bits_of_the_op)
{
    static const int64_t shapes[][3] = {{1, 1, 200003}, {1, 300, 701}, {9001, 5, 3}, {3, 7000, 4},
                                        {40, 50, 60},   {70001, 1, 2}, {5, 1, 9000}, {12, 9, 1}};
    static const uint32_t ops[] = {COLLET_OP_SUM, COLLET_OP_MEAN, COLLET_OP_MIN, COLLET_OP_MAX};
    for (uint32_t i = 0; i < 8; i++) {
        for (uint32_t axes = 1; axes < 8; axes++) {
            int64_t results = 1;
            for (int32_t k = 0; k < 3; k++)
                results *= axes >> k & 1 ? 1 : shapes[i][k];
            if (results > ELEMENTS)
                continue;
            assert_reduced(COLLET_F64, ops[(axes + i) % 4], 3, shapes[i], axes);
            assert_reduced(COLLET_F32, ops[axes % 4], 3, shapes[i], axes);
        }
    }
}

static int set_up(void **state)
{
    open_shared(OPENMP_PLUGIN, NULL, NULL);
    return 0;
}

TEST_GROUP(set_up, tear_down)
