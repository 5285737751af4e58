/* SPDX-License-Identifier: Apache-2.0 */
/* Every op, on both backends: operands without elements, and operands that share memory. */

#include "common/fixture.h"
#include "common/op_call.h"

#define BACKENDS OPENMP_PLUGIN ":" SCALAR_PLUGIN

static const char *const backends[] = {"cpu_scalar", "cpu_openmp"};

static int set_up(void **state)
{
    open_shared(BACKENDS, NULL, NULL);
    return 0;
}

/* ---- No elements ----------------------------------------------------------------------------- */

enum { ZERO, NOT_A_NUMBER, COUNTING, ENERGIES, BIAS, OUTSIDE, TURNED, BEFORE, ONE, ANY };

/* Ops whose results for empty operands are not zero (docs/KERNELS.md). output -1: all outputs. ANY: the
 * result depends on which operand is empty. */
static const struct {
    uint32_t op;
    int output, value;
} empty_results[] = {
    {COLLET_OP_MEAN, -1, NOT_A_NUMBER},
    {COLLET_OP_VAR, -1, NOT_A_NUMBER},
    {COLLET_OP_STD, -1, NOT_A_NUMBER},
    {COLLET_OP_PROD, 0, ONE},
    {COLLET_OP_ALL, 0, ONE},
    {COLLET_OP_TAKE, 1, ANY},
    {COLLET_OP_TAKE_ALONG_AXIS, 1, ANY},
    {COLLET_OP_PUT, -1, ANY},
    {COLLET_OP_SCATTER_ADD, -1, ANY},
    {COLLET_OP_COMPRESS, -1, ANY},
    {COLLET_OP_PLACE, -1, ANY},
    {COLLET_OP_LU, 0, COUNTING},
    {COLLET_OP_COM, 0, NOT_A_NUMBER},
    {COLLET_OP_KINETIC, 0, ENERGIES},
    {COLLET_OP_GYRATION, -1, NOT_A_NUMBER},
    {COLLET_OP_RMSD, -1, NOT_A_NUMBER},
    {COLLET_OP_OBSERVABLES, 0, NOT_A_NUMBER},
    {COLLET_OP_OBSERVABLES, 4, ENERGIES},
    {COLLET_OP_TERNARY_LINEAR, 0, BIAS},
    {COLLET_OP_SCATTER_EWALD, 0, OUTSIDE},
    {COLLET_OP_SCATTER_PROJECTION, 0, NOT_A_NUMBER},
    {COLLET_OP_SCATTER_IMAGES, 0, NOT_A_NUMBER},
    {COLLET_OP_SCATTER_AMPLITUDES, 0, BEFORE},
    {COLLET_OP_SCATTER_INTENSITIES, 0, ANY},
    {COLLET_OP_SCATTER_AVERAGE, 0, TURNED},
    {COLLET_OP_SCATTER_SLICES, 0, BEFORE},
};

static int value_when_empty(uint32_t op, uint32_t output)
{
    for (size_t i = 0; i < sizeof empty_results / sizeof *empty_results; i++) {
        if (empty_results[i].op == op &&
            (empty_results[i].output < 0 || empty_results[i].output == (int)output))
            return empty_results[i].value;
    }
    return ZERO;
}

/* Part i of the last input, which is a float or complex. */
static double last_input(const op_call *c, int64_t i)
{
    static _Alignas(16) char bytes[OP_CALL_BYTES];
    collet_dtype d = c->operand[c->count - 1].dtype;
    op_call_values(c, c->count - 1, bytes);
    return d == COLLET_F64 || d == COLLET_C128 ? ((const double *)(const void *)bytes)[i]
                                               : (double)((const float *)(const void *)bytes)[i];
}

static void check_element(const op_call *c, uint32_t k, int64_t i, double got)
{
    const op_operand *o = &c->operand[k];
    int64_t within = o->ndim ? i % o->shape[o->ndim - 1] : 0;
    int value = value_when_empty(c->info.id, k);
    /* ENERGIES: the total is a sum; the other elements are divided by the mass. */
    /* TURNED: NaN if there are no angles, and where a rotated image has no pixel; with the parameter mask 0. */
    int nan = value == NOT_A_NUMBER || (value == TURNED && isnan(got)) ||
              (value == ENERGIES && within > 0);
    double expected = value == COUNTING  ? (double)within
                      : value == BIAS    ? last_input(c, within)
                      : value == OUTSIDE ? -1.0
                      : value == BEFORE  ? last_input(c, i)
                      : value == ONE     ? 1.0
                                         : 0.0;
    if (value != ANY && (nan ? !isnan(got) : got != expected))
        fail_msg("%s (%s) of empty operands on %s: output %u, element %d is %g", c->info.name,
                 c->sig, collet_last_backend(cx), k, (int)i, got);
}

/* Zero for zeros, NaN for NaN, 1 for all other numbers. */
static double half(uint16_t bits, collet_dtype d)
{
    uint16_t infinity = d == COLLET_F16 ? 0x7c00 : 0x7f80, magnitude = bits & 0x7fff;
    return magnitude == 0 ? 0.0 : magnitude > infinity ? (double)NAN : 1.0;
}

static void check_output(const op_call *c, uint32_t k)
{
    static _Alignas(16) char bytes[OP_CALL_BYTES];
    size_t size = op_call_bytes(c, k);
    collet_dtype d = c->operand[k].dtype;
    assert_ok(cx, collet_array_read(cx, c->array[k], bytes, size));
    int64_t parts = collet_array_size(c->array[k]) * (d == COLLET_C64 || d == COLLET_C128 ? 2 : 1);
    for (int64_t i = 0; i < parts; i++) {
        if (d == COLLET_F64 || d == COLLET_C128)
            check_element(c, k, i, ((const double *)(const void *)bytes)[i]);
        else if (d == COLLET_F32 || d == COLLET_C64)
            check_element(c, k, i, (double)((const float *)(const void *)bytes)[i]);
        else if (d == COLLET_I32)
            check_element(c, k, i, ((const int32_t *)(const void *)bytes)[i]);
        else if (d == COLLET_I64)
            check_element(c, k, i, (double)((const int64_t *)(const void *)bytes)[i]);
        else if (d == COLLET_F16 || d == COLLET_BF16)
            check_element(c, k, i, half(((const uint16_t *)(const void *)bytes)[i], d));
        else {
            uint64_t bits = 0;
            memcpy(&bits, bytes + (size_t)i * collet_dtype_size(d), collet_dtype_size(d));
            check_element(c, k, i, (double)bits);
        }
    }
}

static int refused; /* calls refused for empty operands */

static int has_output(const op_call *c)
{
    size_t bytes = 0;
    for (uint32_t k = 0; k < c->info.n_out; k++)
        bytes += op_call_bytes(c, k);
    return bytes > 0;
}

/* If all outputs are empty, no kernel runs. Otherwise the outputs have the documented values. */
static void call_empty(const char *backend, size_t index, int sig, char empty)
{
    op_call c;
    if (!op_call_describe(&c, rt, index, sig, empty))
        return;
    assert_ok(cx, collet_set_backend(cx, backend));
    op_call_arrays(&c, cx);
    uint64_t before = counters_of(cx).calls;
    collet_status status = op_call_run(&c, cx);
    if (status == COLLET_SHAPE && op_call_by_rule(&c)) {
        assert_text_has(cx, "at least one element");
        refused++;
    } else {
        assert_ok(cx, status);
        assert_int_equal(counters_of(cx).calls - before, has_output(&c));
        for (uint32_t k = 0; k < c.info.n_out; k++)
            check_output(&c, k);
    }
    op_call_free(&c);
}

TEST(operands_without_elements)
{
    static const char letters[] = ".ABCDEFGHIJKLMNOPQRSTUVWXYZab";
    int tried = 0;
    for (size_t b = 0; b < sizeof backends / sizeof *backends; b++) {
        for (size_t i = 0; i < op_call_count(rt); i++) {
            for (const char *letter = letters; *letter; letter++) {
                op_call c;
                assert_true(op_call_describe(&c, rt, i, 0, 0));
                if (op_call_axis_count(&c, *letter) == 0)
                    continue;
                for (int sig = 0; sig < 24; sig++)
                    call_empty(backends[b], i, sig, *letter);
                tried++;
            }
        }
    }
    assert_true(tried > 100);
    assert_true(refused > 0 && refused < 500);
}

/* ---- Shared memory --------------------------------------------------------------------------- */

typedef struct results {
    size_t size[COLLET_MAX_OPERANDS];
    char bytes[COLLET_MAX_OPERANDS][16384];
} results;

static void take_results(const op_call *c, results *r)
{
    for (uint32_t k = 0; k < c->info.n_out; k++) {
        r->size[k] = op_call_bytes(c, k);
        assert_true(r->size[k] <= sizeof r->bytes[k]);
        assert_ok(cx, collet_array_read(cx, c->array[k], r->bytes[k], r->size[k]));
    }
}

/* Makes the call with output 0 at `offset` elements from the start of input k. */
static void call_overlapping(const op_call *plain, uint32_t k, int64_t offset,
                             const results *expected)
{
    static _Alignas(64) char memory[2 * OP_CALL_BYTES];
    static results got;
    op_call c = *plain;
    const op_operand *out = &c.operand[0], *in = &c.operand[k];
    char *first = memory + OP_CALL_BYTES / 2;
    int same = offset == 0 && out->ndim == in->ndim &&
               !memcmp(out->shape, in->shape, (size_t)in->ndim * sizeof *in->shape);
    op_call_arrays(&c, cx);
    collet_array_destroy(c.array[0]);
    collet_array_destroy(c.array[k]);
    op_call_values(&c, k, first);
    assert_ok(cx, collet_array_wrap(cx, &c.array[k], in->dtype, in->ndim, in->shape, NULL, first, 0,
                                    NULL, NULL));
    if (same)
        assert_ok(cx, collet_array_reshape(cx, c.array[k], &c.array[0], out->ndim, out->shape));
    else
        assert_ok(cx, collet_array_wrap(cx, &c.array[0], out->dtype, out->ndim, out->shape, NULL,
                                        first + offset * (int64_t)collet_dtype_size(out->dtype), 0,
                                        NULL, NULL));
    uint64_t before = counters_of(cx).temporaries;
    assert_ok(cx, op_call_run(&c, cx));
    int allowed = c.info.alias == 1 || (c.info.alias == 2 && k == c.info.n_out);
    if (counters_of(cx).temporaries - before != !(same && allowed))
        fail_msg("%s (%s): %d temporaries when output 0 starts %d elements into input %u",
                 c.info.name, c.sig, (int)(counters_of(cx).temporaries - before), (int)offset,
                 k - c.info.n_out);
    take_results(&c, &got);
    for (uint32_t n = 0; n < c.info.n_out; n++) {
        if (memcmp(got.bytes[n], expected->bytes[n], expected->size[n]) != 0)
            fail_msg(
                "%s (%s) on %s: output %u differs when output 0 starts %d elements into input %u",
                c.info.name, c.sig, collet_last_backend(cx), n, (int)offset, k - c.info.n_out);
    }
    op_call_free(&c);
}

/* Places output 0 over each input of its dtype: at the same address, one element later, one element
 * earlier. */
static int share_memory(size_t index, int sig)
{
    static results expected;
    op_call c;
    int tried = 0;
    if (!op_call_describe(&c, rt, index, sig, 0))
        return 0;
    op_call_arrays(&c, cx);
    assert_ok(cx, op_call_run(&c, cx));
    take_results(&c, &expected);
    op_call_free(&c);
    for (uint32_t k = c.info.n_out; k < c.count; k++) {
        size_t in_bytes = op_call_bytes(&c, k), one = collet_dtype_size(c.operand[0].dtype);
        if (c.operand[k].dtype != c.operand[0].dtype)
            continue;
        call_overlapping(&c, k, 0, &expected);
        if (in_bytes > one)
            call_overlapping(&c, k, 1, &expected);
        if (op_call_bytes(&c, 0) > one)
            call_overlapping(&c, k, -1, &expected);
        tried++;
    }
    return tried;
}

TEST(outputs_over_inputs)
{
    int tried = 0;
    for (size_t b = 0; b < sizeof backends / sizeof *backends; b++) {
        assert_ok(cx, collet_set_backend(cx, backends[b]));
        for (size_t i = 0; i < op_call_count(rt); i++) {
            for (int sig = 0; sig < 24; sig++)
                tried += share_memory(i, sig);
        }
    }
    assert_true(tried > 150);
}

/* Calls gyration for 4 atoms with these three offsets. Returns the error text, or "" if the call succeeds. */
static const char *text_of_offsets(const int64_t offsets[3])
{
    static const int64_t shapes[6][4] = {{1, 2}, {1, 2, 3, 3}, {1, 2}, {1, 4, 3}, {4}, {3}};
    static const int32_t axes[6] = {2, 4, 2, 3, 1, 1};
    static const double numbers[18] = {1, 2, 3};
    collet_array *a[6];
    for (int k = 0; k < 6; k++)
        assert_ok(cx, collet_array_from(cx, &a[k], k < 5 ? COLLET_F64 : COLLET_I64, axes[k],
                                        shapes[k], k < 5 ? (const void *)numbers : offsets));
    collet_status status =
        collet_call(cx, COLLET_OP_GYRATION, a, (const collet_array *[]){a[3], a[4], a[5]}, NULL);
    for (int k = 0; k < 6; k++)
        collet_array_destroy(a[k]);
    assert_true(status == COLLET_OK || status == COLLET_INVALID);
    return status == COLLET_OK ? "" : collet_last_error(cx);
}

TEST(offsets_of_no_atoms)
{
    assert_ok(cx, collet_set_backend(cx, "cpu_scalar"));
    assert_string_equal(text_of_offsets((const int64_t[]){0, 0, 4}), "");
    assert_non_null(strstr(text_of_offsets((const int64_t[]){-1, 2, 4}), "offsets[0] is -1"));
    assert_non_null(strstr(text_of_offsets((const int64_t[]){0, 3, 2}), "offsets[2] is 2"));
    assert_non_null(strstr(text_of_offsets((const int64_t[]){0, 3, 5}), "is 5; there are 4 atoms"));
}

TEST_GROUP(set_up, tear_down)
