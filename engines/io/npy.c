/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_npy.c */
#include "npy.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ALIGNMENT ((size_t)64)
#define MAGIC_BYTES ((size_t)10) /* "\x93NUMPY", version, length of the text in 16 bits */

const io_npy_type io_npy_types[IO_NPY_TYPES] = {
    {COLLET_F16, "f2"}, {COLLET_F32, "f4"}, {COLLET_F64, "f8"}, {COLLET_I8, "i1"},
    {COLLET_U8, "u1"},  {COLLET_I32, "i4"}, {COLLET_I64, "i8"}};

static const io_npy_type *find(collet_dtype dtype)
{
    for (size_t i = 0; i < IO_NPY_TYPES; i++)
        if (io_npy_types[i].dtype == dtype)
            return &io_npy_types[i];
    return NULL;
}

typedef struct writer {
    char *text;
    size_t length;
} writer;

COLLET_PRINTF(2, 3) static void add(writer *w, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    w->length += (size_t)vsnprintf(w->text + w->length, IO_NPY_HEAD - w->length, format, arguments);
    va_end(arguments);
}

/* Writes the text of the head, from the eleventh byte on, without padding. */
static size_t write_text(char *head, const char *descr, int64_t rows, int32_t ndim,
                         const int64_t *shape)
{
    writer w = {.text = head, .length = MAGIC_BYTES};

    add(&w, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    if (rows >= 0)
        add(&w, "%lld,", (long long)rows);
    for (int32_t i = 0; i < ndim; i++)
        add(&w, "%lld,", (long long)shape[i]);
    add(&w, "), }");
    return w.length;
}

static size_t write_head(char *head, const char *descr, int64_t rows, int32_t ndim,
                         const int64_t *shape)
{
    size_t longest = write_text(head, descr, rows < 0 ? rows : INT64_MAX, ndim, shape);
    size_t length = (longest + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t used = write_text(head, descr, rows, ndim, shape);
    memset(head + used, ' ', length - used);
    head[length - 1] = '\n';
    memcpy(head, "\x93NUMPY\x01\x00", 8);
    head[8] = (char)((length - MAGIC_BYTES) & 0xff);
    head[9] = (char)((length - MAGIC_BYTES) >> 8);
    return length;
}

size_t io_npy_head(char head[IO_NPY_HEAD], collet_dtype dtype, int64_t rows, int32_t ndim,
                   const int64_t *shape)
{
    const io_npy_type *type = find(dtype);
    char descr[sizeof type->text + 1];

    if (!type || ndim < 0 || ndim > COLLET_MAX_DIMS)
        return 0;
    snprintf(descr, sizeof descr, "%c%s", collet_dtype_size(dtype) > 1 ? IO_NPY_ORDER : '|',
             type->text);
    return write_head(head, descr, rows, ndim, shape);
}

size_t io_npy_text_head(char head[IO_NPY_HEAD], int64_t width, int64_t n)
{
    char descr[24];

    snprintf(descr, sizeof descr, "%cU%lld", IO_NPY_ORDER, (long long)width);
    return write_head(head, descr, -1, 1, &n);
}
