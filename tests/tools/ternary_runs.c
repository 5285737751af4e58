/* SPDX-License-Identifier: Apache-2.0 */
#include <collet/ops/ternary.h>

#include "ternary_runs.h"

#define HEAD 128

void ternary_npy_shaped(const char *directory, const char *name, const char *descr,
                        const char *shape, int64_t elements, const void *data)
{
    char head[HEAD + 1];
    size_t bytes = (size_t)(descr[2] - '0') * (size_t)elements;
    const char *path = io_path(directory, name);

    memcpy(head, "\x93NUMPY\x01\x00\x76\x00", 10);
    int n = snprintf(head + 10, HEAD - 10, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                     descr, shape);
    memset(head + 10 + n, ' ', (size_t)(HEAD - 11 - n));
    head[HEAD - 1] = '\n';
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(head, 1, HEAD, file), HEAD);
    if (data && bytes > 0)
        assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
    if (!data)
        assert_int_equal(truncate(path, (off_t)(HEAD + bytes)), 0);
}

void ternary_npy(const char *directory, const char *name, const char *descr, int64_t rows,
                 int64_t columns, const void *data)
{
    char shape[60];

    if (columns < 0)
        snprintf(shape, sizeof shape, "(%lld,)", (long long)rows);
    else
        snprintf(shape, sizeof shape, "(%lld, %lld)", (long long)rows, (long long)columns);
    ternary_npy_shaped(directory, name, descr, shape, rows * (columns < 0 ? 1 : columns), data);
}

static void put_le(io_image *image, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        uint8_t byte = (uint8_t)(value >> 8 * i);
        io_put(image, &byte, 1);
    }
}

void ternary_write_gguf(const char *directory, const char *name, uint32_t type, int64_t rows,
                        int64_t columns, const void *data, size_t bytes)
{
    OWNED(io_image) image = {0};

    io_put(&image, "GGUF", 4);
    put_le(&image, 3, 4);
    put_le(&image, 1, 8);
    put_le(&image, 0, 8);
    put_le(&image, 1, 8);
    io_put(&image, "w", 1);
    put_le(&image, 2, 4);
    put_le(&image, (uint64_t)columns, 8);
    put_le(&image, (uint64_t)rows, 8);
    put_le(&image, type, 4);
    put_le(&image, 0, 8);
    while (image.size % 32 != 0)
        io_put(&image, "", 1);
    io_put(&image, data, bytes);
    io_save(io_path(directory, name), image.data, image.size);
}

void ternary_write_t2(const char *directory, const char *name, ternary_t2_layer *layer,
                      const void *rows, size_t bytes)
{
    const char *path = io_path(directory, name);
    collet_ternary_output *output, *complete;

    assert_int_equal(ternary_output_t2(&output, path, layer, 1, 0, NULL), COLLET_OK);
    assert_int_equal(ternary_output_add(output, rows, bytes, NULL), COLLET_OK);
    assert_int_equal(ternary_output_end(&complete, output, COLLET_OK, NULL), COLLET_OK);
    assert_int_equal(collet_ternary_output_publish(complete, 1, NULL), COLLET_OK);
    collet_ternary_output_destroy(complete);
}

tool_result ternary_tool(const char *directory, int quiet, const char *const *args)
{
    const char *all[63];
    tool_setup setup = {.directory = directory};
    size_t n = 0;

    for (; args[n] != NULL && n < 60; n++)
        all[n] = args[n];
    for (size_t i = 0; i < n; i++) /* with -o: tests overwrite the same file */
        if (strcmp(args[i], "-o") == 0) {
            all[n++] = "--force";
            break;
        }
    all[n] = quiet ? "-q" : NULL;
    all[n + 1] = NULL;
    return tool_run("collet-ternary", all, &setup);
}

void ternary_run_ok(const char *directory, const char *const *args)
{
    tool_result result = ternary_tool(directory, 1, args);

    tool_expect(&result, 0);
    assert_string_equal(result.out, "");
    assert_string_equal(result.err, "");
}

npy_array ternary_load(const char *directory, const char *name, io_bytes *bytes)
{
    *bytes = io_load(io_path(directory, name));
    return npy_parse(bytes->data, bytes->size);
}

void ternary_expect(const char *directory, const char *name, const char *descr, int64_t rows,
                    int64_t columns, const void *data)
{
    OWNED(io_bytes) bytes = {0};
    npy_array array = ternary_load(directory, name, &bytes);

    assert_string_equal(array.descr, descr);
    assert_int_equal(array.ndim, 2);
    assert_int_equal(array.shape[0], rows);
    assert_int_equal(array.shape[1], columns);
    assert_memory_equal(array.data, data, array.size);
}

int ternary_backend(const char *name)
{
    collet_runtime_options options = {.struct_size = sizeof options, .backend = name};
    collet_runtime *runtime = NULL;
    collet_context *context = NULL;
    collet_array *codes = NULL, *bytes = NULL, *info = NULL;
    const int64_t few = 4, many = 64;

    int usable =
        collet_runtime_create(&runtime, &options, NULL) == COLLET_OK &&
        collet_context_create(runtime, &context, NULL) == COLLET_OK &&
        collet_array_from(context, &codes, COLLET_I8, 1, &few, "\1\0\1\0") == COLLET_OK &&
        collet_array_create(context, &bytes, COLLET_U8, 1, &many) == COLLET_OK &&
        collet_array_create(context, &info, COLLET_I32, 0, NULL) == COLLET_OK &&
        collet_op_ternary_pack(context, bytes, info, codes, NULL, COLLET_TERNARY_T2) == COLLET_OK;
    collet_array_destroy(codes);
    collet_array_destroy(bytes);
    collet_array_destroy(info);
    collet_context_destroy(context);
    collet_runtime_destroy(runtime);
    return usable;
}
