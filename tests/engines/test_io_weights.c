/* SPDX-License-Identifier: Apache-2.0 */
/* Weight files of the fuzz corpora, valid and malformed, with the expected message for each. */

#include "ternary/formats/gguf.h"
#include "io_files.h"
#include "io/npy_read.h"
#include "ternary/formats/t2_format.h"
#include "ternary/output.h"
#include "io/utf8.h"

#define CORPUS COLLET_TEST_CORPUS "/"

/* `part` NULL: the file is valid. */
typedef struct expectation {
    const char *name;
    collet_status status;
    const char *part;
} expectation;

static void check(const expectation *e, collet_status status, const collet_error *err)
{
    if (status != e->status || (e->part && !strstr(err->text, e->part)))
        fail_msg("%s: %s, '%s'; expected %s, '%s'", e->name, collet_status_name(status),
                 status == COLLET_OK ? "" : err->text, collet_status_name(e->status),
                 e->part ? e->part : "");
    if (e->part)
        assert_contains(err->text, e->name); /* the message names the file */
}

/* ---- .npy ---------------------------------------------------------------------------------- */

TEST(test_npy)
{
    static const expectation files[] = {
        {"f4", COLLET_OK, NULL},
        {"fortran", COLLET_OK, NULL},
        {"big_endian", COLLET_OK, NULL},
        {"half_v3", COLLET_OK, NULL},
        {"codes", COLLET_OK, NULL},
        {"scalar", COLLET_OK, NULL},
        {"empty_rows", COLLET_OK, NULL},
        {"huge_extent", COLLET_FORMAT, "an extent is too large"},
        {"long_head", COLLET_FORMAT, "it ends inside its header"},
        {"nine_axes", COLLET_FORMAT, "more than 8 axes"},
        {"overflow", COLLET_OVERFLOW, "more elements than 64 bits can count"},
        {"records", COLLET_FORMAT, "records of several fields"},
        {"truncated", COLLET_FORMAT, "needs 96 bytes, but it has 95"},
        {"twice", COLLET_FORMAT, "malformed header"},
        {"unclosed", COLLET_FORMAT, "malformed header"},
    };

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        collet_error err = {0};
        io_npy npy;
        collet_status status = io_npy_open(io_path(CORPUS "npy", files[i].name), &npy, &err);
        check(&files[i], status, &err);
        io_npy_close(&npy);
    }
}

/* Element (r, c) is 10 r + c in any order of elements and bytes. */
TEST(test_npy_orders)
{
    static const struct {
        const char *descr, *order;
    } cases[] = {{"<f8", "False"}, {"<f8", "True"}, {">f8", "False"}, {">f8", "True"}};
    char *directory = io_make_directory();
    const char *path = io_path(directory, "x.npy");

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        int fortran = cases[k].order[0] == 'T', big = cases[k].descr[0] == '>';
        uint8_t bytes[128 + 48] = {0};
        double out[4];
        io_npy npy;
        memcpy(bytes, "\x93NUMPY\x01\x00\x76\x00", 10);
        memset(bytes + 10, ' ', 118);
        bytes[127] = '\n';
        char head[100];
        int n = snprintf(head, sizeof head, "{'descr': '%s', 'fortran_order': %s, 'shape': (2, 3)}",
                         cases[k].descr, cases[k].order);
        memcpy(bytes + 10, head, (size_t)n);
        for (int r = 0; r < 2; r++)
            for (int c = 0; c < 3; c++) {
                double value = 10 * r + c;
                uint64_t bits;
                memcpy(&bits, &value, 8);
                if (big)
                    bits = __builtin_bswap64(bits);
                memcpy(bytes + 128 + 8 * (fortran ? 2 * c + r : 3 * r + c), &bits, 8);
            }
        io_save(path, bytes, sizeof bytes);
        assert_int_equal(io_npy_open(path, &npy, NULL), COLLET_OK);
        assert_int_equal(npy.rows, 2);
        assert_int_equal(npy.row_elements, 3);
        io_npy_rows(&npy, 1, 1, out);
        io_npy_rows(&npy, 0, 0, out);
        for (int c = 0; c < 3; c++)
            assert_true(out[c] == 10 + c);
        io_npy_close(&npy);
        bytes[sizeof bytes - 1] = 0;
        io_save(path, bytes, sizeof bytes - 1);
        assert_int_equal(io_npy_open(path, &npy, NULL), COLLET_FORMAT);
    }
    io_remove_directory(directory);
}

/* ---- GGUF ---------------------------------------------------------------------------------- */

TEST(test_gguf)
{
    static const expectation files[] = {
        {"good", COLLET_OK, NULL},
        {"aligned_v2", COLLET_OK, NULL},
        {"bf16", COLLET_OK, NULL},
        {"no_tensors", COLLET_OK, NULL},
        {"twice", COLLET_OK, NULL},
        {"odd_tensors", COLLET_OK, NULL},
        {"alignment_u64", COLLET_OK, NULL},
        {"alignment_i8", COLLET_OK, NULL},
        {"split_odd", COLLET_OK, NULL},
        {"alignment_0", COLLET_FORMAT, "general.alignment is 0"},
        {"alignment_3", COLLET_FORMAT, "general.alignment is 3; it must be a power of two"},
        {"alignment_most", COLLET_FORMAT,
         "general.alignment is 2147483648; it must be a power of two"},
        {"alignment_text", COLLET_FORMAT, "general.alignment has the type text"},
        {"alignment_f32", COLLET_FORMAT,
         "general.alignment has the type f32; it must be an integer"},
        {"alignment_minus", COLLET_FORMAT, "general.alignment is -32; it must be a power of two"},
        {"alignment_cut", COLLET_FORMAT, "truncated in the value of general.alignment, of type 10"},
        {"alignment_twice", COLLET_FORMAT, "has the key general.alignment twice"},
        {"split_twice", COLLET_FORMAT, "has the key split.no twice"},
        {"other_twice", COLLET_OK, NULL}, /* a key that is not used */
        {"array_of_13", COLLET_FORMAT, "key 0 of 1"},
        {"array_of_texts", COLLET_FORMAT, "key 0 of 1"},
        {"array_overflow", COLLET_FORMAT, "key 0 of 1"},
        {"big_endian", COLLET_UNSUPPORTED, "big-endian"},
        {"counts", COLLET_FORMAT, "do not fit in 24 bytes"},
        {"deep", COLLET_FORMAT, "key 0 of 1"},
        {"keys", COLLET_FORMAT, "do not fit in 24 bytes"},
        {"kind_13", COLLET_FORMAT, "key 0 of 1, "},
        {"long_key", COLLET_FORMAT, "key 0 of 1"},
        {"version_0", COLLET_UNSUPPORTED, "version 0"},
        {"version_1", COLLET_UNSUPPORTED, "version 1"},
        {"version_4", COLLET_UNSUPPORTED, "version 4"},
    };

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        collet_error err = {0};
        ternary_gguf gguf;
        collet_status status =
            ternary_gguf_open(io_path(CORPUS "gguf", files[i].name), &gguf, &err);
        check(&files[i], status, &err);
        ternary_gguf_close(&gguf);
    }
}

/* A fault of one tensor does not hide the other tensors. */
TEST(test_gguf_faults)
{
    static const struct {
        const char *name;
        uint64_t tensor;
        collet_status status;
        const char *part; /* NULL: nothing is wrong */
    } cases[] = {
        {"blocks", 0, COLLET_FORMAT, "not a multiple of its type's block"},
        {"bytes_overflow", 0, COLLET_OVERFLOW, "more bytes than 64 bits can count"},
        {"extent_0", 0, COLLET_SHAPE, "an extent is 0"},
        {"extent_2_63", 0, COLLET_OVERFLOW, "an extent of 2^63"},
        {"five_axes", 0, COLLET_UNSUPPORTED, "more than 2 axes"},
        {"no_axes", 0, COLLET_UNSUPPORTED, "has no axes"},
        {"offset", 0, COLLET_FORMAT, "after the end of the file"},
        {"rows_overflow", 0, COLLET_UNSUPPORTED, "more than 2 axes"},
        {"shape_overflow", 0, COLLET_OVERFLOW, "more elements than 64 bits can count"},
        {"truncated", 0, COLLET_FORMAT, "after the end of the file"},
        {"unaligned", 0, COLLET_FORMAT, "not aligned"},
        {"odd_tensors", 0, COLLET_UNSUPPORTED, "has no axes"},
        {"odd_tensors", 1, COLLET_SHAPE, "an extent is 0"},
        {"odd_tensors", 2, COLLET_UNSUPPORTED, "more than 2 axes"},
        {"odd_tensors", 3, COLLET_UNSUPPORTED, "more than 2 axes"},
        {"odd_tensors", 4, COLLET_OVERFLOW, "an extent of 2^63"},
        {"odd_tensors", 5, COLLET_FORMAT, "after the end of the file"},
        {"odd_tensors", 6, COLLET_OK, NULL},
        {"namesakes", 0, COLLET_FORMAT, "another tensor of the file has this name"},
        {"namesakes", 1, COLLET_OK, NULL},
        {"namesakes", 2, COLLET_FORMAT, "another tensor of the file has this name"},
        {"namesakes", 3, COLLET_FORMAT, "another tensor of the file has this name"},
        {"namesakes", 4, COLLET_OK, NULL},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        collet_error err = {0};
        ternary_gguf gguf;
        assert_success(ternary_gguf_open(io_path(CORPUS "gguf", cases[i].name), &gguf, &err), err);
        const ternary_gguf_tensor *t = &gguf.tensors[cases[i].tensor];
        assert_true(cases[i].tensor < gguf.count);
        if (!cases[i].part != !t->fault || (t->fault && !strstr(t->fault, cases[i].part)))
            fail_msg("%s: tensor %d: '%s'", cases[i].name, (int)cases[i].tensor, t->fault);
        assert_int_equal(t->fault ? t->fault_status : COLLET_OK, cases[i].status);
        assert_true((t->rows > 0) == !t->fault && (t->bytes > 0) == !t->fault);
        ternary_gguf_close(&gguf);
    }
}

TEST(test_gguf_keys)
{
    static const struct {
        const char *name;
        uint32_t alignment, part, parts;
    } cases[] = {{"good", 32, 0, 0},
                 {"alignment_u64", 64, 0, 0},
                 {"alignment_i8", 64, 0, 0},
                 {"split_odd", 32, 0, 0},
                 {"split", 32, 2, 3}};
    const ternary_gguf_tensor *t;
    ternary_gguf gguf;
    char name[TERNARY_TENSOR_NAME];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        collet_error err = {0};
        assert_int_equal(ternary_gguf_open(io_path(CORPUS "gguf", cases[i].name), &gguf, NULL),
                         COLLET_OK);
        assert_int_equal(gguf.alignment, cases[i].alignment);
        assert_int_equal(gguf.part, cases[i].part);
        assert_int_equal(gguf.parts, cases[i].parts);
        assert_int_equal(gguf.tensors[0].offset % cases[i].alignment, 0);
        assert_int_equal(ternary_gguf_find(&gguf, "none", &t, &err), COLLET_NOT_FOUND);
        assert_int_equal(strstr(err.text, "the file is part 2 of 3 of a split file") != NULL,
                         cases[i].parts > 0);
        ternary_gguf_close(&gguf);
    }
    assert_int_equal(ternary_gguf_open(CORPUS "gguf/names", &gguf, NULL), COLLET_OK);
    assert_string_equal(ternary_gguf_name(&gguf.tensors[0], name), "größe.重み");
    assert_string_equal(ternary_gguf_name(&gguf.tensors[1], name), "a\\x1b[2J\\xff\\xc2\\x9b");
    assert_int_equal(ternary_gguf_find(&gguf, "größe.重み", &t, NULL), COLLET_OK);
    ternary_gguf_close(&gguf);
}

TEST(test_gguf_tensors)
{
    const ternary_gguf_tensor *t;
    ternary_gguf gguf;
    char type[24];

    assert_int_equal(ternary_gguf_open(CORPUS "gguf/good", &gguf, NULL), COLLET_OK);
    assert_int_equal(gguf.alignment, 32);
    assert_int_equal(ternary_gguf_find(&gguf, "f", &t, NULL), COLLET_OK);
    assert_int_equal(t->rows, 3);
    assert_int_equal(t->columns, 2);
    assert_int_equal(t->offset + t->bytes, io_mapping_size(gguf.mapping));
    assert_int_equal(ternary_gguf_find(&gguf, "w", &t, NULL), COLLET_OK);
    assert_string_equal(ternary_gguf_type_name(t->type, type), "TQ2_0");
    assert_int_equal(t->bytes, 66);
    assert_int_equal(ternary_gguf_find(&gguf, "ww", &t, NULL), COLLET_NOT_FOUND);
    ternary_gguf_close(&gguf);
    assert_int_equal(ternary_gguf_open(CORPUS "gguf/twice", &gguf, NULL), COLLET_OK);
    assert_int_equal(ternary_gguf_find(&gguf, "w", &t, NULL), COLLET_FORMAT);
    ternary_gguf_close(&gguf);
}

/* ---- .t2 ----------------------------------------------------------------------------------- */

TEST(test_t2)
{
    static const expectation files[] = {
        {"two_layers", COLLET_OK, NULL},
        {"rotor", COLLET_OK, NULL},
        {"tq2_0", COLLET_OK, NULL},
        {"bit", COLLET_OK, NULL}, /* a wrong bit in the data, which opening does not read */
        {"byte_order", COLLET_UNSUPPORTED, "another byte order"},
        {"columns", COLLET_FORMAT, "the offsets of layer 0 are wrong"},
        {"format", COLLET_INVALID, "a format (7)"},
        {"head_bit", COLLET_FORMAT, "the checksum of its header"},
        {"head_only", COLLET_FORMAT, "the file is truncated"},
        {"layers", COLLET_FORMAT, "header is invalid"},
        {"magic", COLLET_FORMAT, "it ends inside its header"},
        {"mismatch", COLLET_SHAPE, "layer 1 has 6 columns, but layer 0 before it has 5 rows"},
        {"moved", COLLET_FORMAT, "the offsets of layer 0 are wrong"},
        {"moved_second", COLLET_FORMAT, "the offsets of layer 1 are wrong"},
        {"name", COLLET_INVALID, "has no terminating NUL"},
        {"overflow", COLLET_OVERFLOW, "beyond 2^63"},
        {"rows", COLLET_OVERFLOW, "has 2^63 or more rows or columns"},
        {"threshold", COLLET_INVALID, "the threshold nan"},
        {"longer", COLLET_FORMAT, "the file is too long: it has 897 bytes"},
        {"no_layers", COLLET_FORMAT, "its header is invalid"},
        {"truncated", COLLET_FORMAT,
         "the file is truncated: it has 895 bytes, but its header states 896"},
        {"version", COLLET_UNSUPPORTED, "version 2"},
        {"zeros", COLLET_FORMAT, "its header is invalid"},
    };

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        collet_error err = {0};
        ternary_t2_file file;
        collet_status status = ternary_t2_open(io_path(CORPUS "t2", files[i].name), &file, &err);
        check(&files[i], status, &err);
        ternary_t2_close(&file);
    }
}

static int reports;

static int stop_at_once(void *user)
{
    return ++reports;
}

static int stop_never(void *user)
{
    reports++;
    return 0;
}

TEST(test_t2_verify)
{
    ternary_t2_file file;
    collet_error err;

    assert_int_equal(ternary_t2_open(CORPUS "t2/two_layers", &file, NULL), COLLET_OK);
    assert_int_equal(file.count, 2);
    assert_string_equal(file.layers[0].name, "first");
    assert_int_equal(file.layers[0].flags, TERNARY_T2_RELU | TERNARY_T2_SCALE | TERNARY_T2_BIAS);
    assert_int_equal(ternary_t2_verify(&file, 0, NULL, NULL, NULL), COLLET_OK);
    assert_int_equal(ternary_t2_verify(&file, 1, NULL, NULL, NULL), COLLET_OK);
    assert_true(ternary_t2_scale(&file, 0)[4] > 0 && ternary_t2_bias(&file, 0)[4] == 0);
    assert_null(ternary_t2_scale(&file, 1));
    ternary_t2_close(&file);
    assert_int_equal(ternary_t2_open(CORPUS "t2/bit", &file, NULL), COLLET_OK);
    assert_int_equal(ternary_t2_verify(&file, 0, NULL, NULL, NULL), COLLET_OK);
    assert_error(ternary_t2_verify(&file, 1, NULL, NULL, &err), COLLET_FORMAT, err,
                 "the checksum of layer 1");
    assert_int_equal(ternary_t2_verify(&file, 1, stop_at_once, NULL, &err), COLLET_CANCELLED);
    assert_int_equal(reports, 1);
    assert_int_equal(ternary_t2_verify(&file, 1, stop_never, NULL, &err), COLLET_FORMAT);
    assert_true(reports > 1);
    ternary_t2_close(&file);
}

/* The checksum does not depend on how the data is split, and covers each byte. */
TEST(test_t2_sum)
{
    uint8_t bytes[200];
    ternary_t2_sum sum;
    uint64_t whole;

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(7 * i);
    for (size_t n = 0; n <= sizeof bytes; n++) {
        ternary_t2_sum_begin(&sum);
        ternary_t2_sum_add(&sum, bytes, n);
        whole = ternary_t2_sum_end(&sum);
        for (size_t cut = 0; cut <= n; cut += 5) {
            ternary_t2_sum_begin(&sum);
            ternary_t2_sum_add(&sum, bytes, cut);
            ternary_t2_sum_add(&sum, bytes + cut, n - cut);
            assert_true(ternary_t2_sum_end(&sum) == whole);
        }
        for (size_t at = 0; at < n; at++) {
            bytes[at] ^= 0x80;
            ternary_t2_sum_begin(&sum);
            ternary_t2_sum_add(&sum, bytes, n);
            assert_true(ternary_t2_sum_end(&sum) != whole);
            bytes[at] ^= 0x80;
        }
    }
}

/* The reader reads back the written data; missing or excess data is refused. */
TEST(test_t2_write)
{
    ternary_t2_layer layer = {.rows = 3, .columns = 300, .flags = TERNARY_T2_BIAS, .name = "w"};
    static const float bias[3] = {1, 2, 3};
    char *directory = io_make_directory();
    const char *path = io_path(directory, "w.t2");
    uint8_t rows[3 * 128];
    collet_ternary_output *output, *complete = NULL;
    ternary_t2_file file;

    for (size_t i = 0; i < sizeof rows; i++)
        rows[i] = (uint8_t)i;
    for (int whole = 0; whole < 2; whole++) {
        assert_int_equal(ternary_output_t2(&output, path, &layer, 1, 900, NULL), COLLET_OK);
        assert_int_equal(layer.weights_bytes, 3 * 128);
        assert_int_equal(ternary_output_add(output, rows, 100, NULL), COLLET_OK);
        assert_int_equal(ternary_output_add(output, rows, 285, NULL), COLLET_INVALID);
        assert_int_equal(ternary_output_add(output, rows + 100, 284, NULL), COLLET_OK);
        if (whole)
            assert_int_equal(ternary_output_add(output, bias, sizeof bias, NULL), COLLET_OK);
        assert_int_equal(ternary_output_add(output, bias, 13, NULL), COLLET_INVALID);
        assert_int_equal(ternary_output_end(&complete, output, COLLET_OK, NULL),
                         whole ? COLLET_OK : COLLET_INVALID);
        assert_int_equal(io_count_entries(directory), whole);
    }
    assert_int_equal(collet_ternary_output_publish(complete, 1, NULL), COLLET_OK);
    collet_ternary_output_destroy(complete);

    assert_int_equal(ternary_t2_open(path, &file, NULL), COLLET_OK);
    assert_int_equal(ternary_t2_verify(&file, 0, NULL, NULL, NULL), COLLET_OK);
    assert_memory_equal(ternary_t2_weights(&file, 0), rows, sizeof rows);
    assert_memory_equal(ternary_t2_bias(&file, 0), bias, sizeof bias);
    assert_int_equal((uintptr_t)ternary_t2_weights(&file, 0) % 64, 0);
    assert_int_equal((uintptr_t)ternary_t2_bias(&file, 0) % 64, 0);
    ternary_t2_close(&file);
    io_remove_directory(directory);
}

/* ---- Text ---------------------------------------------------------------------------------- */

TEST(test_utf8)
{
    static const struct {
        const char *text;
        size_t bytes;
    } cases[] = {
        {"a", 1},
        {" ", 1},
        {"~", 1},
        {"\xC3\xA9", 2},         /* e with an acute accent */
        {"\xE2\x82\xAC", 3},     /* the euro sign */
        {"\xF0\x9D\x84\x9E", 4}, /* a clef */
        {"\xF4\x8F\xBF\xBF", 4}, /* the last code point */
        {"\033[2J", 0},
        {"\n", 0},
        {"\x7F", 0},
        {"\xC2\x9B", 0}, /* CSI, equivalent to ESC [ */
        {"\xC2\xA0", 2},
        {"\x80", 0},
        {"\xC1\xA1", 0}, /* an overlong 'a' */
        {"\xE0\x82\xA9", 0},
        {"\xF0\x82\x82\xAC", 0},
        {"\xED\xA0\x80", 0}, /* a UTF-16 surrogate */
        {"\xED\xBF\xBF", 0},
        {"\xED\x9F\xBF", 3}, /* the code points before and after the surrogates */
        {"\xEE\x80\x80", 3},
        {"\xF4\x90\x80\x80", 0},
        {"\xD8\x9C", 0},     /* the Arabic letter mark */
        {"\xE2\x80\x8A", 3}, /* hair space; below: ends of refused ranges, and neighbours */
        {"\xE2\x80\x8B", 0},
        {"\xE2\x80\x8F", 0},
        {"\xE2\x80\x90", 3},
        {"\xE2\x80\xA7", 3},
        {"\xE2\x80\xA8", 0},
        {"\xE2\x80\xAE", 0},
        {"\xE2\x80\xAF", 3},
        {"\xE2\x81\x9F", 3},
        {"\xE2\x81\xA0", 0},
        {"\xE2\x81\xAF", 0},
        {"\xE2\x81\xB0", 3},
        {"\xEF\xBB\xBF", 0},
        {"\xFF", 0},
        {"\xC3", 0},
        {"\xE2\x82", 0},
        {"\xC3(", 0},
        {"", 0},
    };
    char out[8];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (io_utf8_character(cases[i].text, strlen(cases[i].text)) != cases[i].bytes)
            fail_msg("case %d", (int)i);
    io_utf8_copy(out, sizeof out, "abcdef\xC3\xA9", 8);
    assert_string_equal(out, "abcdef"); /* the two bytes of the next character do not fit */
    io_utf8_copy(out, sizeof out, "abcde\xC3\xA9g", 8);
    assert_string_equal(out, "abcde\xC3\xA9");
    io_utf8_copy(out, sizeof out, "a\033[\xFF\xC3", 5);
    assert_string_equal(out, "a?[??");
}

/* Names with terminal control characters are refused on reading and writing. */
TEST(test_t2_names)
{
    static const char *const names[] = {"\033[2Jgone", "caf\xC3", "\xC2\x9B[2J", "a\nb"};
    char *directory = io_make_directory();
    const char *path = io_path(directory, "name.t2");
    static const uint8_t row[64];
    ternary_t2_layer layer = {.rows = 1, .columns = 256};
    collet_ternary_output *output, *complete;
    ternary_t2_file file;
    collet_error err;
    uint64_t size;
    t2_head head;

    assert_int_equal(ternary_output_t2(&output, path, &layer, 1, 256, NULL), COLLET_OK);
    assert_int_equal(ternary_output_add(output, row, sizeof row, NULL), COLLET_OK);
    assert_int_equal(ternary_output_end(&complete, output, COLLET_OK, NULL), COLLET_OK);
    assert_int_equal(collet_ternary_output_publish(complete, 1, NULL), COLLET_OK);
    collet_ternary_output_destroy(complete);
    OWNED(io_bytes) image = io_load(path);
    memcpy(&head, image.data, sizeof head);
    memcpy(&layer, image.data + sizeof head, sizeof layer);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(layer.name, sizeof layer.name, "%s", names[i]);
        head.checksum = t2_head_sum(&head, &layer);
        memcpy(image.data, &head, sizeof head);
        memcpy(image.data + sizeof head, &layer, sizeof layer);
        io_save(path, image.data, image.size);
        assert_error(ternary_t2_open(path, &file, &err), COLLET_INVALID, err,
                     "the name of layer 0 is not UTF-8, or has a control");
        assert_int_equal(ternary_t2_lay_out(path, &layer, 1, &size, NULL), COLLET_INVALID);
    }
    io_remove_directory(directory);
}
