/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of elementwise functions on opencl have the results of the reference, cpu_scalar. */
#include <collet/ops.h>

#include "common/support.h"

#include <math.h>
#include <string.h>

#define MOST 8192

static collet_runtime *runtime;
static collet_context *devices[2]; /* cpu_scalar, opencl */

static int set_up(void **state)
{
    static const char *const names[] = {"cpu_scalar", "opencl"};
    collet_error err;
    (void)state;
    if (collet_runtime_create(&runtime, NULL, &err) != COLLET_OK)
        return 1;
    for (int i = 0; i < 2; i++)
        if (collet_context_create(runtime, &devices[i], &err) != COLLET_OK)
            return 1;
    if (collet_set_backend(devices[0], names[0]) != COLLET_OK)
        return 1;
    if (collet_set_backend(devices[1], names[1]) != COLLET_OK) {
        collet_context_destroy(devices[1]);
        devices[1] = NULL;
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        collet_context_destroy(devices[i]);
    collet_runtime_destroy(runtime);
    return 0;
}

typedef struct shape {
    int32_t ndim;
    int64_t extents[3];
} shape;

/* Elements count up and down around 0, which every dtype has. */
static void new_input(collet_context *cx, collet_array **a, collet_dtype dtype, const shape *s,
                      int seed)
{
    collet_array *numbers;
    float values[MOST];
    int64_t n = 1;
    for (int32_t i = 0; i < s->ndim; i++)
        n *= s->extents[i];
    for (int64_t i = 0; i < n; i++)
        values[i] = (float)((i * 7 + seed * 3) % 23 - 9) * 1.25f;
    assert_int_equal(collet_array_from(cx, &numbers, COLLET_F32, s->ndim, s->extents, values), 0);
    assert_int_equal(collet_array_create(cx, a, dtype, s->ndim, s->extents), 0);
    assert_int_equal(collet_op_copy(cx, *a, numbers), 0);
    collet_array_destroy(numbers);
}

/* Evaluates on one device; `got` receives the outputs one after the other. Returns their bytes. */
static size_t evaluate(collet_context *cx, const collet_evaluate_params *params, const shape *in,
                       unsigned char *got)
{
    const collet_program *p = params->program;
    collet_array_spec specs[8], outs[4];
    collet_array *arrays[8] = {NULL}, *out[4] = {NULL};
    size_t bytes = 0;
    for (uint32_t i = 0; i < 8; i++) {
        specs[i] = (collet_array_spec){.ndim = COLLET_ABSENT};
        if (i >= p->n_in)
            continue;
        specs[i].dtype = p->dtypes[i];
        specs[i].ndim = in[i].ndim;
        memcpy(specs[i].shape, in[i].extents, sizeof in[i].extents);
        new_input(cx, &arrays[i], p->dtypes[i], &in[i], (int)i);
    }
    for (uint32_t i = 0; i < 4; i++)
        outs[i] = (collet_array_spec){.ndim = i < p->n_out ? COLLET_INFER : COLLET_ABSENT};
    assert_int_equal(collet_ops_infer(runtime, COLLET_OP_EVALUATE, outs, specs, params, NULL), 0);
    for (uint32_t i = 0; i < p->n_out; i++)
        assert_int_equal(
            collet_array_create(cx, &out[i], outs[i].dtype, outs[i].ndim, outs[i].shape), 0);
    const collet_array *ins[8];
    memcpy((void *)ins, arrays, sizeof ins);
    if (collet_call(cx, COLLET_OP_EVALUATE, out, ins, params) != COLLET_OK)
        fail_msg("%s", collet_last_error(cx));
    for (uint32_t i = 0; i < p->n_out; i++) {
        size_t size = collet_dtype_size(outs[i].dtype);
        for (int32_t k = 0; k < outs[i].ndim; k++)
            size *= (size_t)outs[i].shape[k];
        assert_int_equal(collet_array_read(cx, out[i], got + bytes, size), 0);
        bytes += size;
        collet_array_destroy(out[i]);
    }
    for (uint32_t i = 0; i < p->n_in; i++)
        collet_array_destroy(arrays[i]);
    return bytes;
}

static void same_on_both(const collet_evaluate_params *params, const shape *in)
{
    static unsigned char got[2][16 * MOST];
    size_t bytes = evaluate(devices[0], params, in, got[0]);
    assert_int_equal(evaluate(devices[1], params, in, got[1]), bytes);
    assert_memory_equal(got[0], got[1], bytes);
}

#define VIEWS 3
/* Contiguous, broadcast, and one number. */
static const shape views[VIEWS][3] = {{{1, {999}}, {1, {999}}, {1, {999}}},
                                      {{3, {5, 1, 7}}, {2, {3, 1}}, {1, {7}}},
                                      {{2, {9, 3}}, {0, {0}}, {2, {9, 1}}}};

static void same_for_all_views(const collet_evaluate_params *params)
{
    if (!devices[1])
        skip();
    for (int v = 0; v < VIEWS; v++)
        same_on_both(params, views[v]);
}

/* floor(b * a / c) + k of f16, which rounds after each step. */
static void a_chain(void **state)
{
    static const collet_dtype dtypes[] = {COLLET_F16, COLLET_F16, COLLET_F16, COLLET_F16};
    static const collet_step steps[] = {
        {.op = COLLET_OP_MUL, .dtype = COLLET_F16, .in = {0, 1}},
        {.op = COLLET_OP_FLOOR_DIVIDE, .dtype = COLLET_F16, .in = {4, 2}},
        {.op = COLLET_OP_ADD, .dtype = COLLET_F16, .in = {5, 3}}};
    static const uint16_t outs[] = {6, 4};
    const collet_program p = {sizeof p, 3, 1, 3, 2, 0, 1, dtypes, steps, outs};
    const collet_scalar k = {.dtype = COLLET_F16, .value.f16 = 0x4148};
    const collet_evaluate_params params = {sizeof params, 0, 0, 0, 0, &p, &k};
    (void)state;
    same_for_all_views(&params);
}

/* Conversions, comparisons and complex numbers: outputs f32, bool, c64. */
static void mixed_dtypes(void **state)
{
    static const collet_dtype dtypes[] = {COLLET_I32, COLLET_BF16, COLLET_U8, COLLET_C64};
    static const collet_step steps[] = {
        {.op = COLLET_OP_COPY, .dtype = COLLET_F32, .in = {0}},
        {.op = COLLET_OP_COPY, .dtype = COLLET_F32, .in = {1}},
        {.op = COLLET_OP_COPY, .dtype = COLLET_F32, .in = {2}},
        {.op = COLLET_OP_LESS, .dtype = COLLET_BOOL, .in = {4, 5}},
        {.op = COLLET_OP_WHERE, .dtype = COLLET_F32, .in = {7, 6, 5}},
        {.op = COLLET_OP_COMPLEX, .dtype = COLLET_C64, .in = {8, 4}},
        {.op = COLLET_OP_MUL, .dtype = COLLET_C64, .in = {9, 3}},
    };
    static const uint16_t outs[] = {8, 7, 10};
    const collet_program p = {sizeof p, 3, 1, 7, 3, 0, 1, dtypes, steps, outs};
    const collet_scalar k = {.dtype = COLLET_C64, .value.c64 = {0.5f, -2.0f}};
    const collet_evaluate_params params = {sizeof params, 0, 0, 0, 0, &p, &k};
    (void)state;
    same_for_all_views(&params);
}

/* where(x < y, z * x, k), summed: all sums are exact. */
static void sums(void **state)
{
    static const collet_dtype dtypes[] = {COLLET_F32, COLLET_F32, COLLET_F16, COLLET_F32};
    static const collet_step steps[] = {
        {.op = COLLET_OP_LESS, .dtype = COLLET_BOOL, .in = {0, 1}},
        {.op = COLLET_OP_COPY, .dtype = COLLET_F32, .in = {2}},
        {.op = COLLET_OP_MUL, .dtype = COLLET_F32, .in = {5, 0}},
        {.op = COLLET_OP_WHERE, .dtype = COLLET_F32, .in = {4, 6, 3}},
    };
    static const uint16_t outs[] = {7};
    static const uint32_t axes[VIEWS] = {1, 5, 1};
    const collet_program p = {sizeof p, 3, 1, 4, 1, COLLET_OP_SUM, 1, dtypes, steps, outs};
    const collet_scalar k = {.dtype = COLLET_F32, .value.f32 = 0.25f};
    (void)state;
    if (!devices[1])
        skip();
    for (int v = 0; v < VIEWS; v++) {
        const collet_evaluate_params params = {
            sizeof params, axes[v], (uint32_t)v & 1, 0, 0, &p, &k};
        same_on_both(&params, views[v]);
    }
}

/* More constants than are passed as arguments: x + 0 + 1 + ..., and its maximum. */
static void many_constants(void **state)
{
    enum { COUNT = 17 };
    static collet_dtype dtypes[1 + COUNT];
    static collet_step steps[COUNT];
    static collet_scalar constants[COUNT];
    static const uint16_t outs[] = {2 * COUNT};
    dtypes[0] = COLLET_F64;
    for (uint16_t i = 0; i < COUNT; i++) {
        uint16_t before = i ? COUNT + i : 0, constant = 1 + i;
        dtypes[constant] = COLLET_F64;
        constants[i] = (collet_scalar){.dtype = COLLET_F64, .value.f64 = i};
        steps[i] =
            (collet_step){.op = COLLET_OP_ADD, .dtype = COLLET_F64, .in = {before, constant}};
    }
    static const shape large = {1,
                                {MOST}}; /* several groups, whose results precede the constants */
    (void)state;
    if (!devices[1])
        skip();
    for (uint32_t reduce = 0; reduce <= COLLET_OP_MAX; reduce += COLLET_OP_MAX) {
        const collet_program p = {sizeof p, 1, COUNT, COUNT, 1, reduce, 1, dtypes, steps, outs};
        const collet_evaluate_params params = {sizeof params, reduce ? 1 : 0, 0, 0, 0, &p,
                                               constants};
        same_on_both(&params, reduce ? &large : views[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_chain), cmocka_unit_test(mixed_dtypes),
                                       cmocka_unit_test(sums), cmocka_unit_test(many_constants)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
