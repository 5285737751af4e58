/* SPDX-License-Identifier: Apache-2.0 */
/* Headers of .npy files: correct for any shape, of the same length for any number of rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "io/npy.h"
#include "npz_reader.h"

static void room_for_any_number_of_rows(void **state)
{
    (void)state;
    static const int64_t counts[] = {0, 1, 99, 123456789, 1234567890123456789};
    char head[COLLET_NPY_HEAD];

    for (int32_t ndim = 0; ndim < COLLET_MAX_DIMS; ndim++) {
        /* Texts of increasing length: one of them ends just before a multiple of 64. */
        for (int64_t length = 1; length < 1000000000000000000; length *= 10) {
            int64_t shape[COLLET_MAX_DIMS];
            for (int32_t i = 0; i < ndim; i++)
                shape[i] = length;
            size_t first = collet_npy_head(head, COLLET_F64, 0, ndim, shape);
            assert_true(first > 0 && first % 64 == 0);
            for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
                assert_int_equal(collet_npy_head(head, COLLET_F64, counts[i], ndim, shape), first);
                assert_int_equal(head[first - 1], '\n');
                assert_non_null(memchr(head, '}', first - 1));
            }
        }
    }
}

static void read_back(void **state)
{
    (void)state;
    static const struct {
        collet_dtype dtype;
        const char *descr;
    } cases[] = {{COLLET_F64, "<f8"}, {COLLET_F32, "<f4"}, {COLLET_I64, "<i8"},
                 {COLLET_I32, "<i4"}, {COLLET_U8, "|u1"},  {COLLET_I8, "|i1"}};
    static const int64_t shape[2] = {3, 4};
    char bytes[COLLET_NPY_HEAD + 2 * 12 * 8] = {0};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t data = 12 * collet_dtype_size(cases[i].dtype);
        size_t n = collet_npy_head(bytes, cases[i].dtype, 2, 2, shape);
        npy_array array = npy_parse((const uint8_t *)bytes, n + 2 * data);
        assert_string_equal(array.descr, cases[i].descr);
        assert_int_equal(array.ndim, 3);
        assert_int_equal(array.shape[0], 2);
        assert_int_equal(array.shape[2], 4);
        n = collet_npy_head(bytes, cases[i].dtype, -1, 2, shape);
        array = npy_parse((const uint8_t *)bytes, n + data);
        assert_int_equal(array.ndim, 2);
    }
    assert_int_equal(collet_npy_head(bytes, COLLET_C64, 2, 2, shape), 0);
    assert_int_equal(collet_npy_head(bytes, COLLET_F64, 2, COLLET_MAX_DIMS + 1, shape), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(room_for_any_number_of_rows),
        cmocka_unit_test(read_back),
    };

    return cmocka_run_group_tests_name("io npy", tests, NULL, NULL);
}
