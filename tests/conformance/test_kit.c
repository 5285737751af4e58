/* SPDX-License-Identifier: Apache-2.0 */
/* The kit itself: it covers every op, cpu_scalar has every row, and its arithmetic is correct. */

#include "common/test.h"
#include "kit.h"
#include "small.h"

static collet_runtime *runtime;

static int start(void **state)
{
    collet_error err;
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .plugin_path = COLLET_TEST_SCALAR};
    return collet_runtime_create(&runtime, &options, &err) == COLLET_OK ? 0 : -1;
}

static int stop(void **state)
{
    collet_runtime_destroy(runtime);
    return 0;
}

/* ---- Completeness -------------------------------------------------------------------------- */

typedef struct op_row {
    uint32_t id;
    const char *name, *sigs;
} op_row;

#define COLLET_OP(NAME, id, name, family, operands, rule, sigs, ...) {id, #name, sigs},
static const op_row op_rows[] = {
#include <collet/ops.def>
};

TEST(every_op_has_cases_and_limits)
{
    for (size_t i = 0; i < sizeof op_rows / sizeof *op_rows; i++) {
        if (!kit_op_find(op_rows[i].id) && !strchr(op_rows[i].sigs, '?')) /* test_evaluate */
            fail_msg("%s has no case in conformance/", op_rows[i].name);
        if (!kit_limit_at(op_rows[i].id, 0))
            fail_msg("%s has no limit in conformance/limits.c", op_rows[i].name);
    }
}

TEST(cpu_scalar_has_every_row)
{
    assert_true(collet_ops_count(runtime) >= sizeof op_rows / sizeof *op_rows);
    for (size_t i = 0; i < collet_ops_count(runtime); i++) {
        collet_ops_info info = {.struct_size = sizeof info};
        collet_dtype dtypes[KIT_OPERANDS];
        char sig[KIT_SIG];
        size_t n = 0;
        assert_int_equal(collet_ops_at(runtime, &info, i, NULL), COLLET_OK);
        for (; collet_ops_signature(runtime, info.id, dtypes, n, NULL) == COLLET_OK; n++) {
            kit_signature_text(dtypes, info.n_out, info.n_out + info.n_in, sig);
            if (collet_backend_has_kernel(runtime, "cpu_scalar", info.id, dtypes,
                                          info.n_out + info.n_in, NULL) != COLLET_OK)
                fail_msg("cpu_scalar has no row for %s %s", info.name, sig);
        }
        assert_true(n > 0 || strchr(info.sigs, '?'));
    }
}

/* ---- Shapes -------------------------------------------------------------------------------- */

/* An axis of two letters has the smaller of the two extents. */
TEST(patterns_bind)
{
    static const int64_t batch[] = {7}, extents[][2] = {{3, 5}, {5, 3}, {0, 4}};
    for (size_t i = 0; i < sizeof extents / sizeof *extents; i++) {
        static const collet_ops_operand operands[] = {
            {"out", 0, 1, {{2, 1, 0, 0, {{0, 'M', 0}, {0, 'M', 'N'}}}}},
            {"a", 0, 1, {{2, 1, 0, 0, {{0, 'M', 'N'}, {0, 'N', 0}}}}}};
        kit_row row = {.operands = 2, .info = {.n_out = 1, .n_in = 1, .operands = operands}};
        kit_case c = {.row = &row};
        int64_t m = extents[i][0], n = extents[i][1], smaller = m < n ? m : n;
        kit_bind(&c, "MN", extents[i], 1, batch, 0);
        assert_int_equal(c.operand[0].ndim, 3);
        assert_int_equal(c.operand[0].shape[0], 7);
        assert_int_equal(c.operand[0].shape[1], m);
        assert_int_equal(c.operand[0].shape[2], smaller);
        assert_int_equal(c.operand[1].shape[1], smaller);
        assert_int_equal(c.operand[1].shape[2], n);
    }
}

/* ---- Samples and descriptions -------------------------------------------------------------- */

TEST(samples_are_spread)
{
    for (int count = 1; count < 40; count++)
        for (int requested = 0; requested < 45; requested++) {
            int taken = 0, gap = 0;
            for (int i = 0; i < count; i++) {
                bool is_taken = kit_spread(i, count, requested);
                assert_true(i > 0 || is_taken == (requested > 0));
                gap = is_taken ? 0 : gap + 1;
                assert_true(requested == 0 || gap <= count / requested);
                taken += is_taken;
            }
            assert_int_equal(taken, requested < count ? requested : count);
        }
}

static void ignore(void *user, int number, const char *text)
{
}

/* The kit can run all large cases (several megabytes each), some of them, or none. */
TEST(large_cases_are_counted)
{
    collet_context *context;
    collet_error err;
    collet_ops_info info = {.struct_size = sizeof info};
    kit_row row = {.operands = 2, .dtypes = {COLLET_I32, COLLET_I32}, .sig = "i:i"};
    kit_result result[3];
    for (size_t i = 0; i < collet_ops_count(runtime) && info.id != COLLET_OP_TRANSPOSE; i++)
        assert_int_equal(collet_ops_at(runtime, &info, i, NULL), COLLET_OK);
    row.info = info;
    row.kit = kit_op_find(info.id);
    assert_int_equal(collet_context_create(runtime, &context, &err), COLLET_OK);
    assert_int_equal(collet_set_backend(context, "cpu_scalar"), COLLET_OK);
    for (int i = 0; i < 3; i++) {
        kit_session session = {.context = context,
                               .backend = "cpu_scalar",
                               .seed = 1,
                               .only = -1,
                               .large = i - 1,
                               .progress = ignore,
                               .output = -1};
        kit_run_row(&session, &row, &result[i]);
        assert_int_equal(result[i].failures, 0);
    }
    assert_int_equal(result[2].cases, result[1].cases + 1);
    assert_true(result[0].cases >= result[2].cases);
    collet_context_destroy(context);
}

TEST(a_case_is_described_with_its_parameters)
{
    static const uint32_t ops[] = {COLLET_OP_SUM, COLLET_OP_MIN, COLLET_OP_ARGMAX};
    kit_case c = {.data = "", .params.reduce = {.axes = 2, .keepdims = 1}};
    kit_row row = {.operands = 2, .info = {.struct_size = sizeof row.info}};
    char text[KIT_TEXT];
    c.row = &row;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        assert_int_equal(collet_ops_describe(runtime, ops[i], &row.info, NULL), COLLET_OK);
        kit_describe(&c, text);
        assert_contains(text, "axes=0x2 keepdims");
    }
    assert_int_equal(collet_ops_describe(runtime, COLLET_OP_AXPY, &row.info, NULL), COLLET_OK);
    row.operands = 3;
    c.params.axpy = (collet_axpy_params){.alpha = {.dtype = COLLET_F64, .value.f64 = 1.5}};
    kit_describe(&c, text);
    assert_contains(text, "alpha=f64 1.5");
    assert_int_equal(collet_ops_describe(runtime, COLLET_OP_TERNARY_QUANTIZE, &row.info, NULL),
                     COLLET_OK);
    row.operands = 4;
    c.params.quantize = (collet_ternary_quantize_params){.mode = COLLET_TERNARY_ABSMEAN};
    kit_describe(&c, text);
    assert_contains(text, "mode=absmean");
}

/* ---- Numbers ------------------------------------------------------------------------------- */

static unsigned half(long double value)
{
    uint16_t bits;
    kit_convert(COLLET_F16, value, &bits);
    return bits;
}

TEST(halves_round_to_even)
{
    assert_int_equal(half(1), 0x3c00);
    assert_int_equal(half(-2), 0xc000);
    assert_int_equal(half(65504), 0x7bff);
    assert_int_equal(half(65519.99L), 0x7bff);
    assert_int_equal(half(65520), 0x7c00);
    assert_int_equal(half(1 + 0x1p-11L), 0x3c00);
    assert_int_equal(half(1 + 0x3p-11L), 0x3c02);
    assert_int_equal(half(0x1p-24L), 1);
    assert_int_equal(half(0x1p-25L), 0);
    assert_int_equal(half(0x1.8p-25L), 1);
    assert_int_equal(half(0x1p-14L - 0x1p-26L), 0x400);
    assert_int_equal(half((long double)-INFINITY), 0xfc00);
    for (unsigned bits = 0; bits < 0x10000; bits++) {
        uint16_t given = (uint16_t)bits;
        long double value = kit_value(COLLET_F16, &given);
        if (!isnan(value))
            assert_int_equal(half(value), bits);
    }
}

TEST(integers_saturate)
{
    int8_t small;
    uint64_t large;
    kit_convert(COLLET_I8, 200, &small);
    assert_int_equal(small, 127);
    kit_convert(COLLET_I8, -1.9L, &small);
    assert_int_equal(small, -1);
    kit_convert(COLLET_I8, (long double)NAN, &small);
    assert_int_equal(small, 0);
    kit_convert(COLLET_U64, 1e30L, &large);
    assert_true(large == UINT64_MAX);
    kit_convert(COLLET_U64, -3, &large);
    assert_true(large == 0);
}

TEST(ulps)
{
    assert_true(kit_ulp(COLLET_F32, 1) == 0x1p-23L);
    assert_true(kit_ulp(COLLET_F32, 1.99L) == 0x1p-23L);
    assert_true(kit_ulp(COLLET_F64, -4) == 0x1p-50L);
    assert_true(kit_ulp(COLLET_F64, 0) == 0x1p-1074L);
    assert_true(kit_ulp(COLLET_F32, 1e-44L) == 0x1p-149L);
}

TEST(eigenvectors)
{
    const real m[9] = {2, 1, 0, 1, 2, 0, 0, 0, 5};
    real values[3], vectors[9], b[3] = {3, 3, 5}, x[3], smallest;
    kit_eigen(3, m, values, vectors);
    assert_true(fabsl(values[0] - 1) < 1e-17L && fabsl(values[1] - 3) < 1e-17L);
    assert_true(fabsl(values[2] - 5) < 1e-17L);
    assert_true(kit_unorthogonal(vectors) < 1e-17L);
    assert_int_equal(kit_solve(m, b, x, &smallest), 0);
    assert_true(fabsl(x[0] - 1) < 1e-17L && fabsl(x[1] - 1) < 1e-17L && fabsl(x[2] - 1) < 1e-17L);
    const real flat[9] = {1, 1, 0, 1, 1, 0, 0, 0, 0};
    assert_int_equal(kit_solve(flat, b, x, &smallest), 2);
    assert_true(fabsl(x[0] - 1.5L) < 1e-17L && fabsl(x[1] - 1.5L) < 1e-17L && x[2] == 0);
}

TEST_GROUP(start, stop)
