/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Outputs too large for a processor's caches, which the kernels write past them: every op gives the
 * same bits as in parts that fit, from any element on, beside arguments that take another way.
 * Skipped where no driver gives a device.
 */
#include <math.h>
#include <stdlib.h>

#include "fixture.h"
#include "opencl_support.h"

/* Bytes of an output, and elements of a part. */
#define BYTES ((int64_t)5 << 20)
#define PART 30011

typedef struct operation {
    uint32_t op, inputs;
    collet_dtype to, from;
    int64_t size; /* of an element of `to` */
} operation;

/* `count` numbers between 1/2 and 2, and now and then an odd one, as `dtype`. */
static collet_array *numbers(collet_dtype dtype, int64_t count, int64_t seed)
{
    static const float odd[] = {0, -0.0f, -3, 1e-42f, 1e7f, 300, -800, INFINITY, NAN};
    int complex = dtype == COLLET_C64 || dtype == COLLET_C128;
    int64_t n = complex ? 2 * count : count;
    float *values = malloc((size_t)n * sizeof *values);
    collet_array *wide = NULL, *made = NULL;
    assert_non_null(values);
    for (int64_t i = 0; i < n; i++) {
        int64_t at = i + seed;
        values[i] =
            at % 70001 == 0 ? odd[at / 70001 % 9] : 0.5f + (float)(at * 48271 % 65521) / 43681.0f;
    }
    assert_ok(cx,
              collet_array_from(cx, &wide, complex ? COLLET_C64 : COLLET_F32, 1, &count, values));
    assert_ok(cx, collet_array_create(cx, &made, dtype, 1, &count));
    assert_ok(cx, collet_copy(cx, made, wide));
    collet_array_free(wide);
    free(values);
    return made;
}

/* out[first .. first + n] of the inputs' elements there. */
static void run_part(const operation *o, collet_array *out, collet_array *const *in, int64_t first,
                     int64_t n)
{
    collet_array *parts[3] = {NULL, NULL, NULL};
    const collet_array *ins[2];
    assert_ok(cx, collet_array_slice(cx, &parts[0], out, 0, first, n, 1));
    for (uint32_t k = 0; k < o->inputs; k++)
        assert_ok(cx, collet_array_slice(cx, &parts[1 + k], in[k], 0, first, n, 1));
    ins[0] = parts[1];
    ins[1] = parts[2];
    assert_ok(cx, collet_call(cx, o->op, parts, ins, NULL));
    for (int k = 0; k < 3; k++)
        collet_array_free(parts[k]);
}

static void expect_same(const operation *o, const collet_array *whole, const collet_array *parts)
{
    size_t bytes = (size_t)(collet_array_size(whole) * o->size);
    char *got = malloc(bytes), *wanted = malloc(bytes);
    assert_true(got && wanted);
    assert_ok(cx, collet_array_read(cx, whole, got, bytes));
    assert_ok(cx, collet_array_read(cx, parts, wanted, bytes));
    size_t i = 0;
    while (i < bytes && got[i] == wanted[i])
        i++;
    if (i < bytes)
        fail_msg("op %u: element %lld differs", o->op, (long long)i / (long long)o->size);
    free(got);
    free(wanted);
}

static void compare(const operation *o)
{
    int64_t n = BYTES / o->size, first = 3;
    collet_array *whole = numbers(o->to, n, 5), *parts = numbers(o->to, n, 5);
    collet_array *in[] = {numbers(o->from, n, 0), numbers(o->from, n, 1234567)};
    run_part(o, whole, in, first, n - 7);
    for (int64_t i = first; i < n - 4; i += PART)
        run_part(o, parts, in, i, n - 4 - i < PART ? n - 4 - i : PART);
    expect_same(o, whole, parts);
    collet_array_free(whole);
    collet_array_free(parts);
    collet_array_free(in[0]);
    collet_array_free(in[1]);
}

static void large_outputs_are_as_in_parts(void **state)
{
    static const operation operations[] = {{COLLET_OP_ADD, 2, COLLET_F32, COLLET_F32, 4},
                                           {COLLET_OP_LOG, 1, COLLET_F32, COLLET_F32, 4},
                                           {COLLET_OP_SIN, 1, COLLET_F64, COLLET_F64, 8},
                                           {COLLET_OP_NEG, 1, COLLET_F16, COLLET_F16, 2},
                                           {COLLET_OP_LOG, 1, COLLET_BF16, COLLET_BF16, 2},
                                           {COLLET_OP_ABS, 1, COLLET_F32, COLLET_C64, 4},
                                           {COLLET_OP_DIV, 2, COLLET_C64, COLLET_C64, 8},
                                           {COLLET_OP_CONJ, 1, COLLET_C128, COLLET_C128, 16},
                                           {COLLET_OP_COPY, 1, COLLET_F16, COLLET_F32, 2}};
    (void)state;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        compare(&operations[i]);
}

static int set_up(void **state)
{
    (void)state;
    open_shared(OPENCL_PLUGIN, NULL, "opencl");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(large_outputs_are_as_in_parts)};
    if (!has_devices(1))
        return SKIPPED;
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
