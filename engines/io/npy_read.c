/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_npy.c, tests/engines/test_io_weights.c, tests/fuzz/fuzz_npy.c */
#include "npy_read.h"

#include "npy.h"
#include "utf8.h"

#include <string.h>

#define MAGIC "\x93NUMPY"
#define MAGIC_BYTES 6
#define MOST_TEXT 65535 /* bytes of a head's text; NumPy itself reads 10000 */
#define KEYS 3

int io_npy_recognise(const uint8_t *bytes, uint64_t size)
{
    return size >= MAGIC_BYTES && memcmp(bytes, MAGIC, MAGIC_BYTES) == 0;
}

/* ---- The header's text: a Python dictionary with three keys ------------------------------------ */

typedef struct parser {
    const char *at, *end;
    io_npy *npy;
    char descr[16];
    const char *wrong; /* the first fault; NULL: none so far */
} parser;

static void skip_blanks(parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\t'))
        p->at++;
}

static int accept(parser *p, char c)
{
    skip_blanks(p);
    if (p->at >= p->end || *p->at != c)
        return 0;
    p->at++;
    return 1;
}

/* Reads a quoted text of up to size - 1 characters. */
static int read_text(parser *p, char *text, size_t size)
{
    char quote = '\'';
    size_t n = 0;

    if (!accept(p, '\'')) {
        quote = '"';
        if (!accept(p, '"'))
            return 0;
    }
    while (p->at < p->end && *p->at != quote && n + 1 < size)
        text[n++] = *p->at++;
    text[n] = '\0';
    return p->at < p->end && *p->at++ == quote;
}

static int read_word(parser *p, const char *word)
{
    size_t n = strlen(word);

    skip_blanks(p);
    if ((size_t)(p->end - p->at) < n || memcmp(p->at, word, n) != 0)
        return 0;
    p->at += n;
    return 1;
}

static int read_extent(parser *p, int64_t *extent)
{
    int digits = 0;

    *extent = 0;
    skip_blanks(p);
    for (; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++, digits++)
        if (__builtin_mul_overflow(*extent, 10, extent) ||
            __builtin_add_overflow(*extent, *p->at - '0', extent)) {
            p->wrong = "an extent is too large";
            return 0;
        }
    return digits > 0;
}

static int read_shape(parser *p)
{
    io_npy *npy = p->npy;

    npy->ndim = 0;
    if (!accept(p, '('))
        return 0;
    while (!accept(p, ')')) {
        if (npy->ndim == COLLET_MAX_DIMS) {
            p->wrong = "it has more than 8 axes";
            return 0;
        }
        if (!read_extent(p, &npy->shape[npy->ndim]))
            return 0;
        npy->ndim++;
        if (!accept(p, ',')) {
            /* "(3)" is a number in Python, not a tuple. */
            return npy->ndim > 1 && accept(p, ')');
        }
    }
    return 1;
}

static int read_order(parser *p)
{
    p->npy->fortran = read_word(p, "True");
    return p->npy->fortran || read_word(p, "False");
}

static int read_entry(parser *p, int seen[KEYS])
{
    static const char *const keys[KEYS] = {"descr", "fortran_order", "shape"};
    char key[16];
    int i = 0;

    if (!read_text(p, key, sizeof key) || !accept(p, ':'))
        return 0;
    while (i < KEYS && strcmp(key, keys[i]) != 0)
        i++;
    if (i == KEYS || seen[i])
        return 0;
    seen[i] = 1;
    skip_blanks(p);
    if (i == 0 && p->at < p->end && *p->at == '[') {
        p->wrong = "its elements are records of several fields";
        return 0;
    }
    return i == 0   ? read_text(p, p->descr, sizeof p->descr)
           : i == 1 ? read_order(p)
                    : read_shape(p);
}

static int read_head(parser *p)
{
    int seen[KEYS] = {0}, more = accept(p, '{');

    if (!more)
        return 0;
    while (!accept(p, '}')) {
        if (!more || !read_entry(p, seen))
            return 0;
        more = accept(p, ',');
    }
    skip_blanks(p);
    return p->at == p->end && seen[0] && seen[1] && seen[2];
}

/* ---- Opening ------------------------------------------------------------------------------- */

static collet_status take_dtype(io_npy *npy, const char *path, const char *descr, collet_error *err)
{
    char order = descr[0], shown[16];

    for (size_t i = 0; strchr("<>=|", order) && order && i < IO_NPY_TYPES; i++) {
        if (strcmp(descr + 1, io_npy_types[i].text) != 0)
            continue;
        npy->dtype = io_npy_types[i].dtype;
        npy->swapped = order != IO_NPY_ORDER && order != '=' && order != '|';
        if (order != '|' || collet_dtype_size(npy->dtype) == 1)
            return COLLET_OK;
    }
    io_utf8_copy(shown, sizeof shown, descr, strlen(descr));
    return collet_fail(
        err, COLLET_UNSUPPORTED,
        "%s: dtype '%s' is not supported; convert the array to float16, float32, float64, int8, "
        "uint8, int32 or int64",
        path, shown);
}

/* Sets the number of rows; checks that the file has exactly these rows. */
static collet_status take_shape(io_npy *npy, const char *path, collet_error *err)
{
    uint64_t have = io_mapping_size(npy->mapping) - npy->offset, bytes;
    int64_t elements;

    npy->rows = npy->ndim > 0 ? npy->shape[0] : 1;
    npy->row_elements = 1;
    for (int32_t i = 1; i < npy->ndim; i++)
        if (__builtin_mul_overflow(npy->row_elements, npy->shape[i], &npy->row_elements))
            goto overflow;
    if (__builtin_mul_overflow(npy->rows, npy->row_elements, &elements) ||
        __builtin_mul_overflow((uint64_t)elements, collet_dtype_size(npy->dtype), &bytes))
        goto overflow;
    if (npy->fortran && npy->ndim > 2)
        return collet_fail(
            err, COLLET_UNSUPPORTED,
            "%s: the array is in Fortran order with %d axes; at most 2 are supported", path,
            npy->ndim);
    if (bytes > have)
        return collet_fail(err, COLLET_FORMAT,
                           "%s: the file is truncated: the array needs %llu bytes, but it has %llu",
                           path, (unsigned long long)bytes, (unsigned long long)have);
    if (bytes < have)
        return collet_fail(err, COLLET_FORMAT,
                           "%s: the file is damaged: it has %llu bytes after its array", path,
                           (unsigned long long)(have - bytes));
    return COLLET_OK;
overflow:
    return collet_fail(err, COLLET_OVERFLOW,
                       "%s: the array has more elements than 64 bits can count", path);
}

static collet_status read_file(io_npy *npy, const char *path, collet_error *err)
{
    const uint8_t *bytes = io_mapping_data(npy->mapping);
    uint64_t size = io_mapping_size(npy->mapping), start, length;
    parser p = {.npy = npy};

    if (!io_npy_recognise(bytes, size))
        return collet_fail(err, COLLET_FORMAT, "%s: not an .npy file", path);
    if (size < 10)
        return collet_fail(err, COLLET_FORMAT,
                           "%s: the file is truncated: it ends inside its header", path);
    if (bytes[6] < 1 || bytes[6] > 3)
        return collet_fail(err, COLLET_UNSUPPORTED,
                           "%s: .npy version %d.%d is not supported; 1.0 to 3.0 are", path,
                           bytes[6], bytes[7]);
    start = bytes[6] == 1 ? 10 : 12;
    length = (uint64_t)bytes[8] | (uint64_t)bytes[9] << 8;
    if (bytes[6] > 1 && size >= start)
        length |= (uint64_t)bytes[10] << 16 | (uint64_t)bytes[11] << 24;
    if (size < start || length > size - start)
        return collet_fail(err, COLLET_FORMAT,
                           "%s: the file is truncated: it ends inside its header", path);
    if (length > MOST_TEXT)
        return collet_fail(err, COLLET_FORMAT,
                           "%s: its header has %llu bytes; at most %d are supported", path,
                           (unsigned long long)length, MOST_TEXT);
    npy->offset = start + length;
    p.at = (const char *)bytes + start;
    p.end = p.at + length;
    if (!read_head(&p))
        return collet_fail(err, COLLET_FORMAT, "%s: malformed header%s%s", path,
                           p.wrong ? ": " : "", p.wrong ? p.wrong : "");
    collet_status status = take_dtype(npy, path, p.descr, err);
    return status == COLLET_OK ? take_shape(npy, path, err) : status;
}

collet_status io_npy_open(const char *path, io_npy *out, collet_error *err)
{
    memset(out, 0, sizeof *out);
    collet_status status = io_mapping_open(path, &out->mapping, err);
    if (status == COLLET_OK)
        status = read_file(out, path, err);
    if (status != COLLET_OK)
        io_npy_close(out);
    return status;
}

void io_npy_close(io_npy *npy)
{
    io_mapping_close(npy->mapping);
    memset(npy, 0, sizeof *npy);
}

/* ---- Reading ------------------------------------------------------------------------------- */

static void swap_bytes(uint8_t *bytes, size_t count, size_t size)
{
    for (size_t i = 0; i < count; i++, bytes += size)
        for (size_t k = 0; k < size / 2; k++) {
            uint8_t kept = bytes[k];
            bytes[k] = bytes[size - 1 - k];
            bytes[size - 1 - k] = kept;
        }
}

void io_npy_rows(const io_npy *npy, int64_t first, int64_t count, void *out)
{
    const uint8_t *data = io_mapping_data(npy->mapping) + npy->offset;
    size_t size = collet_dtype_size(npy->dtype), columns = (size_t)npy->row_elements;
    size_t rows = (size_t)count;
    uint8_t *to = out;

    if (!npy->fortran || npy->ndim < 2) {
        if (rows * columns > 0)
            memcpy(to, data + (size_t)first * columns * size, rows * columns * size);
    } else {
        for (size_t c = 0; c < columns; c++) {
            const uint8_t *from = data + (c * (size_t)npy->rows + (size_t)first) * size;
            for (size_t r = 0; r < rows; r++)
                memcpy(to + (r * columns + c) * size, from + r * size, size);
        }
    }
    if (npy->swapped)
        swap_bytes(to, rows * columns, size);
}

void io_npy_passed(const io_npy *npy, int64_t first, int64_t count)
{
    uint64_t row = (uint64_t)npy->row_elements * collet_dtype_size(npy->dtype);

    if (npy->fortran) {
        first = 0;
        count = npy->rows;
    }
    io_mapping_passed(npy->mapping, npy->offset + (uint64_t)first * row, (uint64_t)count * row);
}
