/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Outputs too large for a processor's caches, which the kernels write past them: every op gives the
 * same bits as in parts that fit, from any element on, beside arguments that take another way.
 * Skipped where no driver gives a device.
 */
#include <math.h>
#include <stdlib.h>

#include "common/fixture.h"
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

/* ---- Packed weights -------------------------------------------------------------------------- */

/* Codes, of which the last block has a part, and one in STRANGE is none. */
#define CODES (4 * BYTES + 100)
#define STRANGE 1000003
#define PACKED ((CODES + 255) / 256 * 64)

static int8_t code_of(int64_t i)
{
    return (int8_t)(i % STRANGE == 7 ? 5 : i * 48271 % 65521 % 3 - 1);
}

/* As docs/KERNELS.md lays out t2; a code that is none, and what is not there, are 0. */
static uint8_t byte_of(int64_t at)
{
    unsigned byte = 0;
    for (int l = 0; l < 4; l++) {
        int64_t i = at / 64 * 256 + 64 * l + at % 64;
        int code = i < CODES && i % STRANGE != 7 ? code_of(i) : 0;
        byte |= (unsigned)(code + 1) << 2 * l;
    }
    return (uint8_t)byte;
}

/* One array of `count` elements from element `first` of another. */
static collet_array *bytes_from(collet_dtype dtype, int64_t first, int64_t count,
                                const void *values)
{
    collet_array *all = NULL, *part = NULL;
    int64_t length = first + count;
    assert_ok(cx, collet_array_create(cx, &all, dtype, 1, &length));
    assert_ok(cx, collet_array_slice(cx, &part, all, 0, first, count, 1));
    if (values)
        assert_ok(cx, collet_array_write(cx, part, values, (size_t)count));
    collet_array_free(all);
    return part;
}

static void expect_bytes(const collet_array *array, const void *wanted, int64_t count)
{
    char *got = malloc((size_t)count);
    assert_non_null(got);
    assert_ok(cx, collet_array_read(cx, array, got, (size_t)count));
    assert_memory_equal(got, wanted, (size_t)count);
    free(got);
}

/* Outputs from element `first` of their memory; those of unpacking with a byte that has four codes
 * that are none. */
static void pack_and_unpack(int64_t first, int8_t *codes, uint8_t *packed, collet_array *info)
{
    int32_t found = 0;
    int64_t odd = 3 * (PACKED / 4) + 5;
    for (int64_t i = 0; i < CODES; i++)
        codes[i] = code_of(i);
    for (int64_t i = 0; i < PACKED; i++)
        packed[i] = byte_of(i);
    collet_array *in = bytes_from(COLLET_I8, 0, CODES, codes);
    collet_array *out = bytes_from(COLLET_U8, first, PACKED, NULL);
    assert_ok(cx, collet_ternary_pack(cx, out, info, in, NULL, COLLET_TERNARY_T2));
    expect_bytes(out, packed, PACKED);
    assert_ok(cx, collet_array_read(cx, info, &found, sizeof found));
    assert_int_equal((CODES - 7 + STRANGE - 1) / STRANGE, found);
    collet_array_free(in);
    collet_array_free(out);
    packed[odd] = 0xff;
    for (int64_t i = 7; i < CODES; i += STRANGE)
        codes[i] = 0;
    for (int l = 0; l < 4; l++)
        codes[odd / 64 * 256 + 64 * l + odd % 64] = 0;
    in = bytes_from(COLLET_U8, 0, PACKED, packed);
    out = bytes_from(COLLET_I8, first, CODES, NULL);
    assert_ok(cx, collet_ternary_unpack(cx, out, NULL, info, in, COLLET_TERNARY_T2));
    expect_bytes(out, codes, CODES);
    assert_ok(cx, collet_array_read(cx, info, &found, sizeof found));
    assert_int_equal(4, found);
    collet_array_free(in);
    collet_array_free(out);
}

static void large_codes_are_packed_and_unpacked(void **state)
{
    collet_array *info = NULL;
    int8_t *codes = malloc(CODES);
    uint8_t *packed = malloc(PACKED);
    (void)state;
    assert_true(codes && packed);
    assert_ok(cx, collet_array_create(cx, &info, COLLET_I32, 0, NULL));
    pack_and_unpack(0, codes, packed, info);
    pack_and_unpack(3, codes, packed, info);
    collet_array_free(info);
    free(codes);
    free(packed);
}

static int set_up(void **state)
{
    (void)state;
    open_shared(OPENCL_PLUGIN, NULL, "opencl");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(large_outputs_are_as_in_parts),
                                       cmocka_unit_test(large_codes_are_packed_and_unpacked)};
    if (!has_devices(1))
        return SKIPPED;
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
