/* SPDX-License-Identifier: Apache-2.0 */
/* Headers of .npy files. Written headers are correct for any shape and have the same length for any number of rows.
 * Also tested: which headers are read, and which are refused. */
#include "io/npy.h"
#include "io/npy_read.h"
#include "io_files.h"
#include "npz_reader.h"

TEST(room_for_any_number_of_rows)
{
    static const int64_t counts[] = {0, 1, 99, 123456789, 1234567890123456789};
    char head[IO_NPY_HEAD];

    for (int32_t ndim = 0; ndim < COLLET_MAX_DIMS; ndim++) {
        /* The numbers of the shape, and with them the header's text, get longer: for 3, 6 and 7 axes one text and its
         * newline end exactly at a multiple of 64. */
        for (int64_t length = 1; length < 1000000000000000000; length *= 10) {
            int64_t shape[COLLET_MAX_DIMS];
            for (int32_t i = 0; i < ndim; i++)
                shape[i] = length;
            size_t first = io_npy_head(head, COLLET_F64, 0, ndim, shape);
            assert_true(first > 0 && first % 64 == 0);
            for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
                assert_int_equal(io_npy_head(head, COLLET_F64, counts[i], ndim, shape), first);
                assert_int_equal(head[first - 1], '\n');
                assert_non_null(memchr(head, '}', first - 1));
            }
        }
    }
}

TEST(read_back)
{
    static const struct {
        collet_dtype dtype;
        const char *descr;
    } cases[] = {{COLLET_F64, "<f8"}, {COLLET_F32, "<f4"}, {COLLET_I64, "<i8"},
                 {COLLET_I32, "<i4"}, {COLLET_U8, "|u1"},  {COLLET_I8, "|i1"}};
    static const int64_t shape[2] = {3, 4};
    char bytes[IO_NPY_HEAD + 2 * 12 * 8] = {0};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t data = 12 * collet_dtype_size(cases[i].dtype);
        size_t n = io_npy_head(bytes, cases[i].dtype, 2, 2, shape);
        npy_array array = npy_parse((const uint8_t *)bytes, n + 2 * data);
        assert_string_equal(array.descr, cases[i].descr);
        assert_int_equal(array.ndim, 3);
        assert_int_equal(array.shape[0], 2);
        assert_int_equal(array.shape[2], 4);
        n = io_npy_head(bytes, cases[i].dtype, -1, 2, shape);
        array = npy_parse((const uint8_t *)bytes, n + data);
        assert_int_equal(array.ndim, 2);
    }
    assert_int_equal(io_npy_head(bytes, COLLET_C64, 2, 2, shape), 0);
    assert_int_equal(io_npy_head(bytes, COLLET_F64, 2, COLLET_MAX_DIMS + 1, shape), 0);
}

/* ---- Reading ------------------------------------------------------------------------------- */

#define SHAPE(s) "{'descr': '<f4', 'fortran_order': False, 'shape': " s "}"
#define DESCR(s) "{'descr': " s ", 'fortran_order': False, 'shape': (2,)}"
#define ORDER(s) "{'descr': '<f4', 'fortran_order': " s ", 'shape': (2,)}"

typedef struct head_case {
    const char *text;
    int version, bytes; /* of the array */
    collet_status status;
    const char *part; /* of the message */
    int64_t rows, row_elements;
} head_case;

/* `spare`: number of bytes that the header claims beyond its text. */
static collet_status open_with(const char *path, const head_case *h, int spare, io_npy *npy,
                               collet_error *err)
{
    uint8_t bytes[1024] = "\x93NUMPY";
    size_t length = strlen(h->text), start = h->version == 1 ? 10 : 12;
    size_t claimed = length + (size_t)spare;
    bytes[6] = (uint8_t)h->version;
    for (size_t i = 0; i < start - 8; i++)
        bytes[8 + i] = (uint8_t)(claimed >> 8 * i);
    memcpy(bytes + start, h->text, length);
    io_save(path, bytes, start + length + (size_t)h->bytes);
    return io_npy_open(path, npy, err);
}

TEST(heads)
{
    static const head_case cases[] = {
        {SHAPE("(2, 3)"), 1, 24, COLLET_OK, NULL, 2, 3},
        {SHAPE("(2, 3,)"), 2, 24, COLLET_OK, NULL, 2, 3},
        {SHAPE("( 2 ,\n\t3 )"), 3, 24, COLLET_OK, NULL, 2, 3},
        {SHAPE("(2,)"), 1, 8, COLLET_OK, NULL, 2, 1},
        {SHAPE("()"), 1, 4, COLLET_OK, NULL, 1, 1},
        {SHAPE("(0, 3)"), 1, 0, COLLET_OK, NULL, 0, 3},
        {SHAPE("(1, 1, 1, 1, 1, 1, 1, 2)"), 1, 8, COLLET_OK, NULL, 1, 2},
        {" {\"descr\":\"|u1\",\"shape\":(2,),\"fortran_order\":True,}\n ", 1, 2, COLLET_OK, NULL, 2,
         1},
        {DESCR("'=f8'"), 1, 16, COLLET_OK, NULL, 2, 1},
        {SHAPE("(2)"), 1, 8, COLLET_FORMAT, "malformed header", 0, 0},
        {SHAPE("2"), 1, 8, COLLET_FORMAT, "malformed header", 0, 0},
        {SHAPE("(2, -3)"), 1, 24, COLLET_FORMAT, "malformed header", 0, 0},
        {SHAPE("(2, 3"), 1, 24, COLLET_FORMAT, "malformed header", 0, 0},
        {SHAPE("(2 3)"), 1, 24, COLLET_FORMAT, "malformed header", 0, 0},
        {SHAPE("(,)"), 1, 0, COLLET_FORMAT, "malformed header", 0, 0},
        {SHAPE("(:)"), 1, 24, COLLET_FORMAT, "malformed header", 0, 0},
        {SHAPE("(9223372036854775808,)"), 1, 0, COLLET_FORMAT, "an extent is too large", 0, 0},
        {SHAPE("(1, 4294967296, 4294967296)"), 1, 0, COLLET_OVERFLOW, "64 bits", 0, 0},
        {SHAPE("(4294967296, 4294967296)"), 1, 0, COLLET_OVERFLOW, "64 bits", 0, 0},
        {SHAPE("(9223372036854775807,)"), 1, 0, COLLET_OVERFLOW, "64 bits", 0, 0},
        {SHAPE("(2, 3)"), 1, 25, COLLET_FORMAT, "1 bytes after its array", 0, 0},
        {SHAPE("(2, 3)"), 1, 23, COLLET_FORMAT, "needs 24 bytes, but it has 23", 0, 0},
        {SHAPE("(2, 3)"), 0, 24, COLLET_UNSUPPORTED, "version 0.0", 0, 0},
        {SHAPE("(2, 3)"), 4, 24, COLLET_UNSUPPORTED, "version 4.0", 0, 0},
        {SHAPE("(2, 3)") "x", 1, 24, COLLET_FORMAT, "malformed header", 0, 0},
        {DESCR("'|f4'"), 1, 8, COLLET_UNSUPPORTED, "'|f4'", 0, 0},
        {DESCR("'<c8'"), 1, 16, COLLET_UNSUPPORTED, "'<c8'", 0, 0},
        {DESCR("'f4'"), 1, 8, COLLET_UNSUPPORTED, "'f4'", 0, 0},
        {DESCR("''"), 1, 8, COLLET_UNSUPPORTED, "''", 0, 0},
        {DESCR("'<f4\""), 1, 8, COLLET_FORMAT, "malformed header", 0, 0},
        {DESCR("<f4"), 1, 8, COLLET_FORMAT, "malformed header", 0, 0},
        {DESCR("'a text that is too long'"), 1, 8, COLLET_FORMAT, "malformed header", 0, 0},
        {DESCR("[('a', '<f4')]"), 1, 8, COLLET_FORMAT, "several fields", 0, 0},
        {ORDER("false"), 1, 8, COLLET_FORMAT, "malformed header", 0, 0},
        {ORDER("Tru"), 1, 8, COLLET_FORMAT, "malformed header", 0, 0},
        {"{'descr': '<f4', 'fortran_order': T", 1, 8, COLLET_FORMAT, "malformed header", 0, 0},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2, 2)}", 1, 32, COLLET_UNSUPPORTED,
         "Fortran order with 3 axes", 0, 0},
        {"{'fortran_order': False, 'shape': (2,)}", 1, 8, COLLET_FORMAT, "malformed header", 0, 0},
        {"{'descr': '<f4', 'shape': (2,)}", 1, 8, COLLET_FORMAT, "malformed header", 0, 0},
        {"{'descr': '<f4', 'fortran_order': False}", 1, 8, COLLET_FORMAT, "malformed header", 0, 0},
        {DESCR("'<f4 and no more'"), 1, 8, COLLET_UNSUPPORTED, "<f4 and no more", 0, 0},
        {DESCR("'<f4 and one more'"), 1, 8, COLLET_FORMAT, "malformed header", 0, 0},
        {"{'descr of a table': '<f4'}", 1, 8, COLLET_FORMAT, "malformed header", 0, 0},
        {"{'descr' '<f4'}", 1, 8, COLLET_FORMAT, "malformed header", 0, 0},
        {"{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}", 1, 8, COLLET_FORMAT,
         "malformed header", 0, 0},
        {"{'other': '<f4'}", 1, 8, COLLET_FORMAT, "malformed header", 0, 0},
        {"('descr')", 1, 8, COLLET_FORMAT, "malformed header", 0, 0},
        {"{'descr", 1, 0, COLLET_FORMAT, "malformed header", 0, 0},
        {"{'descr':", 1, 0, COLLET_FORMAT, "malformed header", 0, 0},
        {"", 1, 0, COLLET_FORMAT, "malformed header", 0, 0},
    };
    char *directory = io_make_directory();
    const char *path = io_path(directory, "x.npy");

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const head_case *h = &cases[i];
        collet_error err = {0};
        io_npy npy;
        collet_status status = open_with(path, h, 0, &npy, &err);
        if (status != h->status || (h->part && !strstr(err.text, h->part)) || npy.rows != h->rows ||
            npy.row_elements != h->row_elements)
            fail_msg("%s: %s (%s), %lld rows of %lld", h->text, collet_status_name(status),
                     err.text, (long long)npy.rows, (long long)npy.row_elements);
        io_npy_close(&npy);
    }
    print_message("%zu heads\n", sizeof cases / sizeof *cases);
    io_remove_directory(directory);
}

/* The header's length (a field of two or four bytes) must not be larger than the file or than the limit. */
TEST(lengths)
{
    char *directory = io_make_directory();
    const char *path = io_path(directory, "x.npy");
    head_case h = {SHAPE("(2,)"), 1, 0, COLLET_OK, NULL, 0, 0};
    collet_error err = {0};
    io_npy npy;

    for (h.version = 1; h.version <= 3; h.version++) {
        assert_error(open_with(path, &h, 1, &npy, &err), COLLET_FORMAT, err,
                     "it ends inside its header");
        assert_error(open_with(path, &h, 0, &npy, &err), COLLET_FORMAT, err,
                     "needs 8 bytes, but it has 0");
    }
    h.version = 2;
    assert_error(open_with(path, &h, 1 << 24, &npy, &err), COLLET_FORMAT, err,
                 "it ends inside its header");
    for (size_t size = 6; size < 12; size++) {
        io_save(path, "\x93NUMPY\x02\x00\x00\x00\x00", size);
        assert_error(io_npy_open(path, &npy, &err), COLLET_FORMAT, err,
                     "it ends inside its header");
    }
    static uint8_t large[1 << 21] = "\x93NUMPY\x02\x00\x00\x00\x1f";
    io_save(path, large, sizeof large);
    assert_error(io_npy_open(path, &npy, &err), COLLET_FORMAT, err,
                 "its header has 2031616 bytes; at most");
    io_remove_directory(directory);
}
