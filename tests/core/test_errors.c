/* SPDX-License-Identifier: Apache-2.0 */
/* Invalid calls of every op: their errors, and that they change nothing. */

#include "common/fixture.h"
#include "common/op_call.h"

#define BACKENDS OPENMP_PLUGIN ":" SCALAR_PLUGIN

static int set_up(void **state)
{
    open_shared(BACKENDS, NULL, NULL);
    return 0;
}

/* ---- A call that must fail ------------------------------------------------------------------- */

/* The call fails with `status` and has no other effect. The error text begins with the op's
 * name. */
static void must_fail(const op_call *c, collet_status status)
{
    collet_counters before = counters_of(cx);
    const char *backend = collet_last_backend(cx);
    assert_ok(cx, collet_finish(cx));
    collet_status got = op_call_run(c, cx);
    if (got != status)
        fail_msg("%s (%s): %s, not %s: %s", c->info.name, c->sig, collet_status_name(got),
                 collet_status_name(status), got == COLLET_OK ? "" : collet_last_error(cx));
    assert_int_equal(collet_last_status(cx), status);
    if (strncmp(collet_last_error(cx), c->info.name, strlen(c->info.name)))
        fail_msg("'%s' does not begin with '%s'", collet_last_error(cx), c->info.name);
    collet_counters after = counters_of(cx);
    assert_memory_equal(&before, &after, sizeof before);
    assert_ptr_equal(backend, collet_last_backend(cx));
    op_call_assert_old(c, cx);
}

/* Like must_fail, and collet_ops_infer fails with the same status and text. */
static void must_fail_both(const op_call *c, collet_status status)
{
    collet_error err;
    collet_status got = op_call_infer_given(c, &err);
    must_fail(c, status);
    if (got != status)
        fail_msg("%s (%s): inferred as %s, not %s", c->info.name, c->sig, collet_status_name(got),
                 collet_status_name(status));
    assert_string_equal(err.text, collet_last_error(cx));
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

/* The error text names operand k and its shape; if `both`, also another operand and its shape. */
static void names_shapes(const op_call *c, uint32_t k, int both)
{
    char name[48], shape[128], expected[160];
    int others = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        snprintf(expected, sizeof expected, "%s is %s", op_call_name(c, i, name),
                 op_call_shape(&c->operand[i], shape));
        int there = strstr(collet_last_error(cx), expected) != NULL;
        if (i == k && !there)
            fail_msg("'%s' does not contain '%s'", collet_last_error(cx), expected);
        others += i != k && there;
    }
    if (both && !others)
        fail_msg("'%s' names only one shape", collet_last_error(cx));
}

/* Whether any other extent of this axis is invalid. */
static int axis_is_bound(const op_call *c, uint32_t k, int32_t axis)
{
    char letter = c->operand[k].axis[axis];
    /* The caller of nonzero chooses the number of rows of output 0. */
    if (c->info.id == COLLET_OP_NONZERO)
        return k == 0 && axis == 0;
    return letter == '=' || letter == '?' || letter == '#' || op_call_axis_count(c, letter) > 1;
}

/* Whether the axis has a fixed extent, or a letter that occurs twice in the operand. */
static int wrong_alone(const op_operand *o, int32_t axis)
{
    int same = 0;
    for (int32_t i = 0; i < o->ndim; i++)
        same += o->axis[i] == o->axis[axis];
    return o->axis[axis] == '#' || (same > 1 && o->axis[axis] != '.');
}

static void one_longer_axis(size_t index, uint32_t k, int32_t axis)
{
    op_call c;
    assert_true(op_call_describe(&c, rt, index, 0, 0));
    if (!axis_is_bound(&c, k, axis))
        return;
    c.operand[k].shape[axis] += 2; /* not 1: one more can be valid for a half spectrum */
    op_call_arrays(&c, cx);
    must_fail_both(&c, COLLET_SHAPE);
    names_shapes(&c, k, !wrong_alone(&c.operand[k], axis));
    op_call_free(&c);
}

TEST(shapes_that_do_not_fit)
{
    int tried = 0;
    for (size_t i = 0; i < op_call_count(rt); i++) {
        op_call c;
        assert_true(op_call_describe(&c, rt, i, 0, 0));
        for (uint32_t k = 0; k < c.count; k++) {
            for (int32_t axis = 0; axis < c.operand[k].ndim; axis++, tried++)
                one_longer_axis(i, k, axis);
        }
    }
    assert_true(tried > 100);
}

/* Adds a leading axis to one operand. Outputs whose pattern has "..." are left out: they may have more axes. */
TEST(axes_that_are_too_many)
{
    for (size_t i = 0; i < op_call_count(rt); i++) {
        op_call c;
        assert_true(op_call_describe(&c, rt, i, 0, 0));
        for (uint32_t k = 0; k < c.count; k++) {
            op_operand *o = &c.operand[k], saved = *o;
            int takes_any = memchr(o->axis, '.', (size_t)o->ndim) != NULL && c.info.n_in == 0;
            if (takes_any || (memchr(o->axis, '.', (size_t)o->ndim) && k < c.info.n_out))
                continue;
            memmove(o->shape + 1, o->shape, (size_t)o->ndim * sizeof *o->shape);
            o->shape[0] = 2;
            o->ndim++;
            op_call_arrays(&c, cx);
            must_fail_both(&c, COLLET_SHAPE);
            op_call_free(&c);
            *o = saved;
        }
    }
}

/* ---- Element types --------------------------------------------------------------------------- */

static collet_dtype dtype_called(const char *name)
{
    for (collet_dtype d = 1; d < COLLET_DTYPE_COUNT; d++)
        if (!strncmp(name, collet_dtype_name(d), strlen(collet_dtype_name(d))))
            return d;
    return COLLET_DTYPE_NONE;
}

/* The error text names for each wrong operand its dtype and the dtype that it must have; a call
 * with those dtypes is accepted. If there are several ways to correct the call, the text names the
 * dtypes of all operands and the nearest valid signatures. */
static void names_dtypes(const op_call *c)
{
    op_call mended = *c;
    char name[48], expected[96];
    const char *text = collet_last_error(cx);
    int several = strstr(text, " nearest to these are: (") != NULL, wrong = 0;
    assert_null(strchr(text, '='));
    for (uint32_t k = 0; k < c->count; k++) {
        snprintf(expected, sizeof expected, "%s is %s%s", op_call_name(c, k, name),
                 collet_dtype_name(c->operand[k].dtype), several ? "" : " and must be ");
        const char *at = strstr(text, expected);
        if (several && !at)
            fail_msg("'%s' does not contain '%s'", text, expected);
        wrong += at != NULL;
        if (!several && at) {
            const char *must = at + strlen(expected);
            mended.operand[k].dtype =
                strncmp(must, "any real", 8) != 0 ? dtype_called(must) : COLLET_F32;
        }
    }
    if (!wrong || (!several && !op_call_accepts(&mended)))
        fail_msg("'%s' does not mend the call", text);
}

TEST(dtypes_that_do_not_fit)
{
    for (size_t i = 0; i < op_call_count(rt); i++) {
        int refused = 0;
        op_call c;
        assert_true(op_call_describe(&c, rt, i, 0, 0));
        for (uint32_t k = 0; k < c.count; k++) {
            collet_dtype right = c.operand[k].dtype;
            for (collet_dtype d = 1; d < COLLET_DTYPE_COUNT; d++) {
                c.operand[k].dtype = d;
                if (op_call_accepts(&c))
                    continue;
                op_call_arrays(&c, cx);
                must_fail_both(&c, COLLET_DTYPE);
                names_dtypes(&c);
                op_call_free(&c);
                refused++;
            }
            c.operand[k].dtype = right;
        }
        if (!refused && c.info.id != COLLET_OP_FILL)
            fail_msg("%s accepts any dtypes", c.info.name);
    }
}

/* ---- Operands -------------------------------------------------------------------------------- */

TEST(operands_that_are_absent)
{
    for (size_t i = 0; i < op_call_count(rt); i++) {
        op_call c;
        char name[48];
        assert_true(op_call_describe(&c, rt, i, 0, 0));
        op_call_arrays(&c, cx);
        for (uint32_t k = 0; k < c.count; k++) {
            collet_array *saved = c.array[k];
            if (c.operand[k].optional)
                continue;
            c.array[k] = NULL;
            must_fail(&c, COLLET_INVALID);
            assert_text_has(cx, op_call_name(&c, k, name));
            c.array[k] = saved;
        }
        assert_status(cx, collet_call(cx, c.info.id, NULL, NULL, &c.params), COLLET_INVALID);
        if (c.info.n_in)
            assert_status(cx, collet_call(cx, c.info.id, c.array, NULL, &c.params), COLLET_INVALID);
        op_call_assert_old(&c, cx);
        op_call_free(&c);
    }
}

/* Outputs whose elements all have the same address. In outputs of packed bytes, all rows have the same address. */
TEST(outputs_that_repeat)
{
    static unsigned char memory[128];
    for (size_t i = 0; i < op_call_count(rt); i++) {
        op_call c;
        assert_true(op_call_describe(&c, rt, i, 0, 0));
        for (uint32_t k = 0; k < c.info.n_out; k++) {
            const op_operand *o = &c.operand[k];
            int64_t strides[COLLET_MAX_DIMS] = {0};
            if (o->ndim == 0)
                continue;
            if (o->dtype == COLLET_U8 && !strcmp(c.info.family, "ternary"))
                strides[o->ndim - 1] = 1;
            op_call_arrays(&c, cx);
            collet_array_destroy(c.array[k]);
            memset(memory, OP_CALL_OLD, sizeof memory);
            assert_ok(cx, collet_array_wrap(cx, &c.array[k], o->dtype, o->ndim, o->shape, strides,
                                            memory, 0, NULL, NULL));
            must_fail(&c, COLLET_INVALID);
            assert_text_has(cx, "repeats elements");
            op_call_free(&c);
        }
    }
}

TEST(outputs_that_overlap)
{
    static _Alignas(64) unsigned char memory[OP_CALL_BYTES];
    for (size_t i = 0; i < op_call_count(rt); i++) {
        op_call c;
        assert_true(op_call_describe(&c, rt, i, 0, 0));
        for (uint32_t k = 1; k < c.info.n_out; k++) {
            op_call_arrays(&c, cx);
            memset(memory, OP_CALL_OLD, sizeof memory);
            for (uint32_t n = 0; n <= k; n += k) {
                const op_operand *o = &c.operand[n];
                collet_array_destroy(c.array[n]);
                assert_ok(cx, collet_array_wrap(cx, &c.array[n], o->dtype, o->ndim, o->shape, NULL,
                                                memory, 0, NULL, NULL));
            }
            must_fail(&c, COLLET_INVALID);
            assert_text_has(cx, "overlap");
            op_call_free(&c);
        }
    }
}

/* ---- Parameters ------------------------------------------------------------------------------ */

TEST(parameters_that_are_missing)
{
    for (size_t i = 0; i < op_call_count(rt); i++) {
        op_call c;
        assert_true(op_call_describe(&c, rt, i, 0, 0));
        if (!c.info.params_size)
            continue;
        op_call_arrays(&c, cx);
        assert_status(cx,
                      collet_call(cx, c.info.id, c.array,
                                  (const collet_array *const *)(c.array + c.info.n_out), NULL),
                      COLLET_INVALID);
        op_call_assert_old(&c, cx);
        for (uint32_t size = 0; size < sizeof size; size++) {
            c.params.struct_size = size;
            must_fail_both(&c, COLLET_INVALID);
            assert_text_has(cx, "struct_size");
        }
        op_call_free(&c);
    }
}

static void no_axes(op_call *c)
{
    c->params.fft.last_axes = 0;
}

static void four_axes(op_call *c)
{
    c->params.fft.last_axes = 4;
}

static void third_axis(op_call *c)
{
    c->params.reduce.axes = 1u << 2;
}

static void last_bit(op_call *c)
{
    c->params.reduce.axes = 1u << 31;
}

static void third_axis_shifted(op_call *c)
{
    c->params.fftshift.axes = 1u << 2;
}

static void axis_twice(op_call *c)
{
    c->params.transpose.perm[0] = 0;
}

static void axis_below(op_call *c)
{
    c->params.transpose.perm[0] = -1;
}

static void axis_beyond(op_call *c)
{
    c->params.transpose.perm[0] = 2;
}

static void axes_too_few(op_call *c)
{
    c->params.transpose.ndim = 1;
}

static void complex_value(op_call *c)
{
    c->params.fill.value.dtype = COLLET_C64;
}

static void no_dtype(op_call *c)
{
    c->params.fill.value.dtype = 99;
}

static void mode_two(op_call *c)
{
    c->params.quantize.mode = 2;
}

static void threshold_of_absmean(op_call *c)
{
    c->params.quantize.threshold = 0.5f;
}

static void threshold_below(op_call *c)
{
    c->params.quantize.mode = COLLET_TERNARY_THRESHOLD;
    c->params.quantize.threshold = -0.5f;
}

static void format_five(op_call *c)
{
    c->params.format.format = COLLET_TERNARY_FORMATS;
}

static void format_without_scale(op_call *c)
{
    c->params.format.format = COLLET_TERNARY_T2;
}

static void other_blocks(op_call *c)
{
    c->params.format.format = COLLET_TERNARY_TQ1_0;
}

static void activations_four(op_call *c)
{
    c->params.linear.activations = 4;
}

static void threshold_of_int8(op_call *c)
{
    c->params.linear.threshold = 0.5f;
}

static void threshold_not_finite(op_call *c)
{
    c->params.linear.activations = COLLET_TERNARY_TERNARY;
    c->params.linear.threshold = INFINITY;
}

static const struct {
    uint32_t op;
    void (*spoil)(op_call *c);
    collet_status status;
} spoilt[] = {
    {COLLET_OP_FFT, no_axes, COLLET_INVALID},
    {COLLET_OP_FFT, four_axes, COLLET_INVALID},
    {COLLET_OP_SUM, third_axis, COLLET_INVALID},
    {COLLET_OP_SUM, last_bit, COLLET_INVALID},
    {COLLET_OP_MEAN, third_axis, COLLET_INVALID},
    {COLLET_OP_MIN, third_axis, COLLET_INVALID},
    {COLLET_OP_MAX, last_bit, COLLET_INVALID},
    {COLLET_OP_FFTSHIFT, third_axis_shifted, COLLET_INVALID},
    {COLLET_OP_TRANSPOSE, axis_twice, COLLET_INVALID},
    {COLLET_OP_TRANSPOSE, axis_below, COLLET_INVALID},
    {COLLET_OP_TRANSPOSE, axis_beyond, COLLET_INVALID},
    {COLLET_OP_TRANSPOSE, axes_too_few, COLLET_SHAPE},
    {COLLET_OP_FILL, complex_value, COLLET_DTYPE},
    {COLLET_OP_FILL, no_dtype, COLLET_DTYPE},
    {COLLET_OP_AXPY, complex_value, COLLET_DTYPE},
    {COLLET_OP_AXPY, no_dtype, COLLET_DTYPE},
    {COLLET_OP_TERNARY_QUANTIZE, mode_two, COLLET_INVALID},
    {COLLET_OP_TERNARY_QUANTIZE, threshold_of_absmean, COLLET_INVALID},
    {COLLET_OP_TERNARY_QUANTIZE, threshold_below, COLLET_INVALID},
    {COLLET_OP_TERNARY_PACK, format_five, COLLET_INVALID},
    {COLLET_OP_TERNARY_PACK, format_without_scale, COLLET_INVALID},
    {COLLET_OP_TERNARY_PACK, other_blocks, COLLET_SHAPE},
    {COLLET_OP_TERNARY_UNPACK, format_five, COLLET_INVALID},
    {COLLET_OP_TERNARY_UNPACK, format_without_scale, COLLET_INVALID},
    {COLLET_OP_TERNARY_UNPACK, other_blocks, COLLET_SHAPE},
    {COLLET_OP_TERNARY_LINEAR, activations_four, COLLET_INVALID},
    {COLLET_OP_TERNARY_LINEAR, threshold_of_int8, COLLET_INVALID},
    {COLLET_OP_TERNARY_LINEAR, threshold_not_finite, COLLET_INVALID},
};

TEST(parameters_that_make_no_sense)
{
    for (size_t s = 0; s < sizeof spoilt / sizeof *spoilt; s++) {
        op_call c = {.info.id = 0};
        for (size_t i = 0; i < op_call_count(rt) && c.info.id != spoilt[s].op; i++)
            assert_true(op_call_describe(&c, rt, i, 0, 0));
        op_call_arrays(&c, cx);
        spoilt[s].spoil(&c);
        must_fail_both(&c, spoilt[s].status);
        op_call_free(&c);
    }
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

TEST(packed_rows_are_adjacent)
{
    static unsigned char memory[4];
    const int64_t eight = 8, two = 2;
    OWNED(collet_array) *codes = NULL, *info = NULL, *apart = NULL;
    assert_ok(cx, collet_array_create(cx, &codes, COLLET_I8, 1, &eight));
    assert_ok(cx, collet_array_create(cx, &info, COLLET_I32, 0, NULL));
    assert_ok(cx, collet_array_wrap(cx, &apart, COLLET_U8, 1, &two, &two, memory, 0, NULL, NULL));
    assert_status(cx, collet_op_ternary_unpack(cx, codes, NULL, info, apart, COLLET_TERNARY_ROTOR),
                  COLLET_INVALID, "the stride along the last axis of bytes (input 0) is 2");
}

TEST(sizes_that_overflow)
{
    static const int64_t wide[][2] = {
        {INT64_MAX, 2}, {(int64_t)1 << 32, (int64_t)1 << 32}, {3, INT64_MAX / 2}};
    static const int64_t eight[] = {1 << 16, 1 << 16, 1 << 16, 1 << 16, 1, 1, 1, 1};
    collet_array *a = NULL, *one = NULL;
    float value = 1;
    assert_ok(cx, collet_array_from(cx, &one, COLLET_F32, 0, NULL, &value));
    for (collet_dtype d = 1; d < COLLET_DTYPE_COUNT; d++) {
        const uint64_t bytes = (uint64_t)INT64_MAX / collet_dtype_size(d) + 1;
        const int64_t extent = (int64_t)bytes; /* negative (overflow) for dtypes of one byte */
        for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
            assert_status(cx, collet_array_create(cx, &a, d, 2, wide[i]), COLLET_OVERFLOW);
        assert_status(cx, collet_array_create(cx, &a, d, 8, eight), COLLET_OVERFLOW);
        if (extent > 0)
            assert_status(cx, collet_array_create(cx, &a, d, 1, &extent), COLLET_OVERFLOW);
    }
    assert_status(cx, collet_array_broadcast(cx, one, &a, 2, wide[1]), COLLET_OVERFLOW);
    assert_status(cx,
                  collet_array_wrap(cx, &a, COLLET_F32, 2, wide[1], NULL, &value, 0, NULL, NULL),
                  COLLET_OVERFLOW);
    assert_null(a);
    collet_array_destroy(one);
}

TEST_GROUP(set_up, tear_down)
