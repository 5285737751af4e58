/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_weights.c, tests/fuzz/fuzz_gguf.c */
#include "gguf.h"

#include "io/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "GGUF"
#define TENSOR_BYTES_MIN 24 /* with an empty name and no axes: name length, ndim, type, offset */
#define PAIR_BYTES_MIN 13   /* with an empty key: key length, type, value of one byte */
#define ALIGNMENT 32        /* default of general.alignment */
#define ALIGNMENT_MOST 65536
#define NESTING_MAX 4 /* arrays in arrays */
#define AXES_MAX 2    /* axes of a tensor that is read */

/* Kinds of values. */
enum { VALUE_STRING = 8, VALUE_ARRAY = 9, VALUE_KINDS = 13 };
static const struct {
    const char *name;
    uint8_t bytes; /* 0: varies */
    uint8_t integer, is_signed;
} kinds[VALUE_KINDS] = {
    {"u8", 1, 1, 0},  {"i8", 1, 1, 1},  {"u16", 2, 1, 0},  {"i16", 2, 1, 1},  {"u32", 4, 1, 0},
    {"i32", 4, 1, 1}, {"f32", 4, 0, 0}, {"bool", 1, 0, 0}, {"text", 0, 0, 0}, {"array", 0, 0, 0},
    {"u64", 8, 1, 0}, {"i64", 8, 1, 1}, {"f64", 8, 0, 0},
};

/* A block of `weights` elements takes `bytes` bytes. bytes 0: tensors of the type are listed, but cannot be read. */
static const struct type {
    uint32_t id;
    uint32_t weights, bytes;
    const char *name;
} types[] = {
    {TERNARY_GGUF_F32, 1, 4, "F32"},
    {TERNARY_GGUF_F16, 1, 2, "F16"},
    {2, 32, 0, "Q4_0"},
    {3, 32, 0, "Q4_1"},
    {6, 32, 0, "Q5_0"},
    {7, 32, 0, "Q5_1"},
    {8, 32, 0, "Q8_0"},
    {9, 32, 0, "Q8_1"},
    {10, 256, 0, "Q2_K"},
    {11, 256, 0, "Q3_K"},
    {12, 256, 0, "Q4_K"},
    {13, 256, 0, "Q5_K"},
    {14, 256, 0, "Q6_K"},
    {15, 256, 0, "Q8_K"},
    {16, 256, 0, "IQ2_XXS"},
    {17, 256, 0, "IQ2_XS"},
    {18, 256, 0, "IQ3_XXS"},
    {19, 256, 0, "IQ1_S"},
    {20, 32, 0, "IQ4_NL"},
    {21, 256, 0, "IQ3_S"},
    {22, 256, 0, "IQ2_S"},
    {23, 256, 0, "IQ4_XS"},
    {TERNARY_GGUF_I8, 1, 1, "I8"},
    {25, 1, 0, "I16"},
    {26, 1, 0, "I32"},
    {27, 1, 0, "I64"},
    {TERNARY_GGUF_F64, 1, 8, "F64"},
    {29, 256, 0, "IQ1_M"},
    {TERNARY_GGUF_BF16, 1, 2, "BF16"},
    {TERNARY_GGUF_TQ1_0, 256, 54, "TQ1_0"},
    {TERNARY_GGUF_TQ2_0, 256, 66, "TQ2_0"},
    {36, 1, 0, "I2_S"}, /* of bitnet.cpp */
};

static const struct type *find_type(uint32_t id)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].id == id)
            return &types[i];
    return NULL;
}

const char *ternary_gguf_type_name(uint32_t type, char text[24])
{
    const struct type *known = find_type(type);

    if (known)
        return known->name;
    snprintf(text, 24, "type %u", (unsigned)type);
    return text;
}

static const char *shown_name(const char *name, uint64_t length, char text[TERNARY_GGUF_NAME])
{
    static const char digits[] = "0123456789abcdef";
    size_t done = 0, n;

    for (uint64_t at = 0; at<length; at += n> 0 ? n : 1) {
        char escaped[4] = {'\\', 'x', digits[(uint8_t)name[at] >> 4], digits[name[at] & 15]};
        uint64_t left = length - at;

        n = io_utf8_character(name + at, left < 4 ? (size_t)left : 4);
        if (done + (n > 0 ? n : sizeof escaped) >= TERNARY_GGUF_NAME)
            break;
        memcpy(text + done, n > 0 ? name + at : escaped, n > 0 ? n : sizeof escaped);
        done += n > 0 ? n : sizeof escaped;
    }
    text[done] = '\0';
    return text;
}

const char *ternary_gguf_name(const ternary_gguf_tensor *tensor, char text[TERNARY_GGUF_NAME])
{
    return shown_name(tensor->name, tensor->name_length, text);
}

int ternary_gguf_recognise(const uint8_t *bytes, uint64_t size)
{
    return size >= 4 && memcmp(bytes, MAGIC, 4) == 0;
}

/* ---- Reading bytes in order ---------------------------------------------------------------- */

typedef struct cursor {
    const uint8_t *bytes;
    uint64_t at, size;
} cursor;

/* Returns the next n bytes; NULL beyond the end. */
static const uint8_t *take(cursor *c, uint64_t n)
{
    const uint8_t *here = c->bytes + c->at;

    if (n > c->size - c->at)
        return NULL;
    c->at += n;
    return here;
}

static int take_number(cursor *c, int bytes, uint64_t *value)
{
    const uint8_t *from = take(c, (uint64_t)bytes);

    *value = 0;
    for (int i = 0; from && i < bytes; i++)
        *value |= (uint64_t)from[i] << 8 * i;
    return from != NULL;
}

static int take_u32(cursor *c, uint32_t *value)
{
    uint64_t wide;
    int taken = take_number(c, 4, &wide);

    *value = (uint32_t)wide;
    return taken;
}

static int take_text(cursor *c, const char **text, uint64_t *length)
{
    *text = take_number(c, 8, length) ? (const char *)take(c, *length) : NULL;
    return *text != NULL;
}

/* ---- Keys and values ----------------------------------------------------------------------- */

static int skip_value(cursor *c, uint32_t kind, int depth);

static int skip_array(cursor *c, int depth)
{
    uint32_t kind;
    uint64_t count, bytes;

    if (depth == NESTING_MAX || !take_u32(c, &kind) || !take_number(c, 8, &count) ||
        kind >= VALUE_KINDS)
        return 0;
    if (kinds[kind].bytes > 0)
        return !__builtin_mul_overflow(count, kinds[kind].bytes, &bytes) && take(c, bytes) != NULL;
    /* The loop ends for any count, because each value takes at least 8 bytes of the file. */
    for (uint64_t i = 0; i < count; i++)
        if (!skip_value(c, kind, depth + 1))
            return 0;
    return 1;
}

static int skip_value(cursor *c, uint32_t kind, int depth)
{
    const char *text;
    uint64_t length;

    if (kind == VALUE_ARRAY)
        return skip_array(c, depth);
    if (kind == VALUE_STRING)
        return take_text(c, &text, &length);
    return kind < VALUE_KINDS && take(c, kinds[kind].bytes) != NULL;
}

/* Reads a value of any integer kind: *value is sign-extended to 64 bits, *negative = 1 if it is below 0. */
static int take_integer(cursor *c, uint32_t kind, uint64_t *value, int *negative)
{
    int bytes = kind < VALUE_KINDS && kinds[kind].integer ? kinds[kind].bytes : 0;

    *negative = 0;
    if (bytes == 0 || !take_number(c, bytes, value))
        return 0;
    *negative = kinds[kind].is_signed && (*value >> (8 * bytes - 1) & 1);
    if (*negative && bytes < 8)
        *value |= UINT64_MAX << 8 * bytes;
    return 1;
}

static collet_status read_alignment(ternary_gguf *gguf, cursor *c, uint32_t kind, collet_error *err)
{
    const char *path = io_mapping_path(gguf->mapping);
    uint64_t value;
    int negative;

    if (kind < VALUE_KINDS && !kinds[kind].integer)
        return collet_fail(err, COLLET_FORMAT,
                           "%s: general.alignment has the type %s; it must be an integer", path,
                           kinds[kind].name);
    if (!take_integer(c, kind, &value, &negative))
        return collet_fail(
            err, COLLET_FORMAT,
            "%s: the file is damaged or truncated in the value of general.alignment, of type %u",
            path, (unsigned)kind);
    if (negative || value == 0 || value > ALIGNMENT_MOST || (value & (value - 1)) != 0)
        return collet_fail(
            err, COLLET_FORMAT,
            negative ? "%s: general.alignment is %lld; it must be a power of two up to %d"
                     : "%s: general.alignment is %llu; it must be a power of two up to %d",
            path, (long long)value, ALIGNMENT_MOST);
    gguf->alignment = (uint32_t)value;
    return COLLET_OK;
}

/* Reads split.no (from 0) or split.count; a value that is not an integer is ignored. */
static int read_split(cursor *c, uint32_t kind, uint32_t *out)
{
    cursor before = *c;
    uint64_t value;
    int negative;

    if (take_integer(c, kind, &value, &negative) && !negative && value < UINT32_MAX)
        *out = (uint32_t)value;
    *c = before;
    return skip_value(c, kind, 0);
}

static int is_key(const char *key, uint64_t length, const char *name)
{
    return length == strlen(name) && memcmp(key, name, length) == 0;
}

/* Fails if one of the `used` keys occurs twice, as ggml's own reader does: the format does not define which value
 * applies. `seen`: one bit for each used key. */
static collet_status check_twice(const ternary_gguf *gguf, const char *key, uint64_t length,
                                 uint32_t *seen, collet_error *err)
{
    static const char *const used[] = {"general.alignment", "split.no", "split.count"};

    for (uint32_t i = 0; i < sizeof used / sizeof *used; i++) {
        if (!is_key(key, length, used[i]))
            continue;
        if (*seen & 1u << i)
            return collet_fail(
                err, COLLET_FORMAT,
                "%s: the file has the key %s twice: it is damaged, or the program that "
                "wrote it has a defect",
                io_mapping_path(gguf->mapping), used[i]);
        *seen |= 1u << i;
    }
    return COLLET_OK;
}

static collet_status pair_failed(const ternary_gguf *gguf, const cursor *c, uint64_t i,
                                 uint64_t count, collet_error *err)
{
    return collet_fail(err, COLLET_FORMAT,
                       "%s: the file is damaged or truncated: key %llu of %llu at byte %llu",
                       io_mapping_path(gguf->mapping), (unsigned long long)i,
                       (unsigned long long)count, (unsigned long long)c->at);
}

static collet_status read_pairs(ternary_gguf *gguf, cursor *c, uint64_t count, collet_error *err)
{
    uint32_t split_no = 0, split_count = 0, seen = 0;

    for (uint64_t i = 0; i < count; i++) {
        const char *key;
        uint64_t length;
        uint32_t kind;
        int taken = take_text(c, &key, &length) && take_u32(c, &kind);
        collet_status status = taken ? check_twice(gguf, key, length, &seen, err) : COLLET_OK;

        if (status == COLLET_OK && taken && is_key(key, length, "general.alignment")) {
            status = read_alignment(gguf, c, kind, err);
            if (status == COLLET_OK)
                continue;
        }
        if (status != COLLET_OK)
            return status;
        if (taken && kind >= VALUE_KINDS) {
            char name[TERNARY_GGUF_NAME];
            return collet_fail(
                err, COLLET_FORMAT,
                "%s: key %llu of %llu, '%s', has a value of the unknown type %u: the "
                "file is damaged, or has a newer format",
                io_mapping_path(gguf->mapping), (unsigned long long)i, (unsigned long long)count,
                shown_name(key, length, name), (unsigned)kind);
        }
        if (taken && is_key(key, length, "split.no"))
            taken = read_split(c, kind, &split_no);
        else if (taken && is_key(key, length, "split.count"))
            taken = read_split(c, kind, &split_count);
        else
            taken = taken && skip_value(c, kind, 0);
        if (!taken)
            return pair_failed(gguf, c, i, count, err);
    }
    if (split_count > 1 && split_no < split_count) {
        gguf->part = split_no + 1;
        gguf->parts = split_count;
    }
    return COLLET_OK;
}

/* ---- Tensors ------------------------------------------------------------------------------- */

/* Keeps the first fault of a tensor. */
static void set_fault(ternary_gguf_tensor *t, collet_status status, const char *why)
{
    if (t->fault)
        return;
    t->fault = why;
    t->fault_status = status;
}

static int take_tensor(cursor *c, ternary_gguf_tensor *t)
{
    uint32_t axes;

    if (!take_text(c, &t->name, &t->name_length) || !take_u32(c, &axes))
        return 0;
    t->ndim = axes <= TERNARY_GGUF_DIMS ? axes : 0;
    /* The loop ends for any count, because each extent takes 8 bytes of the file. */
    for (uint32_t i = 0; i < axes; i++) {
        uint64_t extent;
        if (!take_number(c, 8, &extent))
            return 0;
        if (extent == 0)
            set_fault(t, COLLET_SHAPE, "the tensor has no weights: an extent is 0");
        if (extent > INT64_MAX) {
            set_fault(t, COLLET_OVERFLOW, "the tensor has an extent of 2^63 or more");
            t->ndim = 0; /* the shape cannot be represented */
        }
        if (i < t->ndim)
            t->shape[t->ndim - 1 - i] = (int64_t)extent;
    }
    if (axes == 0)
        set_fault(t, COLLET_UNSUPPORTED, "the tensor has no axes; 1 or 2 are supported");
    else if (axes > AXES_MAX)
        set_fault(t, COLLET_UNSUPPORTED,
                  "the tensor has more than 2 axes, rows and columns; each matrix must be a tensor "
                  "of its own");
    return take_u32(c, &t->type) && take_number(c, 8, &t->offset);
}

/* Computes rows, columns and bytes, and checks that they are within the file. `start`: byte where
 * the data of all tensors begin. */
static void place_tensor(const ternary_gguf *gguf, ternary_gguf_tensor *t, uint64_t start)
{
    const struct type *type = find_type(t->type);
    uint64_t size = io_mapping_size(gguf->mapping), elements;

    t->columns = t->shape[t->ndim - 1];
    t->rows = t->ndim == 2 ? t->shape[0] : 1;
    if (__builtin_mul_overflow((uint64_t)t->rows, (uint64_t)t->columns, &elements))
        set_fault(t, COLLET_OVERFLOW, "the tensor has more elements than 64 bits can count");
    if (type && t->columns % type->weights != 0)
        set_fault(t, COLLET_FORMAT,
                  "the length of the tensor's rows is not a multiple of its type's block");
    if (type && __builtin_mul_overflow(elements / type->weights, type->bytes, &t->bytes))
        set_fault(t, COLLET_OVERFLOW, "the tensor has more bytes than 64 bits can count");
    if (t->offset % gguf->alignment != 0)
        set_fault(t, COLLET_FORMAT, "the tensor's data are not aligned to general.alignment");
    if (start > size || t->offset > size - start || t->bytes > size - start - t->offset)
        set_fault(t, COLLET_FORMAT,
                  "the tensor's data end after the end of the file, which is truncated or damaged");
    t->offset += start;
}

static int compare_names(const void *a, const void *b)
{
    const ternary_gguf_tensor *const *x = a, *const *y = b;

    if ((*x)->name_length != (*y)->name_length)
        return (*x)->name_length < (*y)->name_length ? -1 : 1;
    return memcmp((*x)->name, (*y)->name, (size_t)(*x)->name_length);
}

/* Tensors with the same name get a fault, because a name would not identify one. */
static collet_status find_namesakes(ternary_gguf *gguf, collet_error *err)
{
    ternary_gguf_tensor **sorted = malloc(((size_t)gguf->count + 1) * sizeof *sorted);

    if (!sorted)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for the list of its tensors",
                           io_mapping_path(gguf->mapping));
    for (uint64_t i = 0; i < gguf->count; i++)
        sorted[i] = &gguf->tensors[i];
    qsort(sorted, (size_t)gguf->count, sizeof *sorted, compare_names);
    for (uint64_t i = 1; i < gguf->count; i++)
        if (compare_names(&sorted[i - 1], &sorted[i]) == 0)
            for (uint64_t k = i - 1; k <= i; k++)
                set_fault(sorted[k], COLLET_FORMAT, "another tensor of the file has this name");
    free(sorted);
    return COLLET_OK;
}

static collet_status read_tensors(ternary_gguf *gguf, cursor *c, collet_error *err)
{
    const char *path = io_mapping_path(gguf->mapping);

    /* The count cannot be too large: it was compared with the size of the file. */
    gguf->tensors = calloc((size_t)gguf->count + 1, sizeof *gguf->tensors);
    if (!gguf->tensors)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for the list of its tensors",
                           path);
    for (uint64_t i = 0; i < gguf->count; i++)
        if (!take_tensor(c, &gguf->tensors[i]))
            return collet_fail(
                err, COLLET_FORMAT,
                "%s: the file is damaged or truncated: tensor %llu of %llu at byte %llu", path,
                (unsigned long long)i, (unsigned long long)gguf->count, (unsigned long long)c->at);
    collet_status status = find_namesakes(gguf, err);
    if (status != COLLET_OK)
        return status;
    uint64_t start = (c->at + gguf->alignment - 1) / gguf->alignment * gguf->alignment;
    for (uint64_t i = 0; i < gguf->count; i++) {
        ternary_gguf_tensor *t = &gguf->tensors[i];
        if (!t->fault)
            place_tensor(gguf, t, start);
        if (t->fault) {
            t->rows = t->columns = 0;
            t->offset = t->bytes = 0;
        }
    }
    return COLLET_OK;
}

/* ---- Opening ------------------------------------------------------------------------------- */

static collet_status check_version(const ternary_gguf *gguf, const char *path, collet_error *err)
{
    if (gguf->version != 0 && (gguf->version & 0xffff) == 0)
        return collet_fail(err, COLLET_UNSUPPORTED, "%s: big-endian GGUF files are not supported",
                           path);
    if (gguf->version < 2 || gguf->version > 3)
        return collet_fail(err, COLLET_UNSUPPORTED,
                           "%s: GGUF version %u is not supported (2 and 3 are)", path,
                           (unsigned)gguf->version);
    return COLLET_OK;
}

static collet_status read_file(ternary_gguf *gguf, const char *path, collet_error *err)
{
    cursor c = {io_mapping_data(gguf->mapping), 4, io_mapping_size(gguf->mapping)};
    uint64_t pairs;

    if (!ternary_gguf_recognise(c.bytes, c.size))
        return collet_fail(err, COLLET_FORMAT, "%s: not a GGUF file", path);
    if (!take_u32(&c, &gguf->version))
        return collet_fail(err, COLLET_FORMAT,
                           "%s: the file is truncated: it ends inside its header", path);
    collet_status status = check_version(gguf, path, err);
    if (status != COLLET_OK)
        return status;
    if (!take_number(&c, 8, &gguf->count) || !take_number(&c, 8, &pairs))
        return collet_fail(err, COLLET_FORMAT,
                           "%s: the file is truncated: it ends inside its header", path);
    if (gguf->count > c.size / TENSOR_BYTES_MIN || pairs > c.size / PAIR_BYTES_MIN)
        return collet_fail(
            err, COLLET_FORMAT,
            "%s: the file is damaged: %llu tensors and %llu keys do not fit in %llu bytes", path,
            (unsigned long long)gguf->count, (unsigned long long)pairs, (unsigned long long)c.size);
    gguf->alignment = ALIGNMENT;
    status = read_pairs(gguf, &c, pairs, err);
    return status == COLLET_OK ? read_tensors(gguf, &c, err) : status;
}

collet_status ternary_gguf_open(const char *path, ternary_gguf *out, collet_error *err)
{
    memset(out, 0, sizeof *out);
    collet_status status = io_mapping_open(path, &out->mapping, err);
    if (status == COLLET_OK)
        status = read_file(out, path, err);
    if (status != COLLET_OK)
        ternary_gguf_close(out);
    return status;
}

void ternary_gguf_close(ternary_gguf *gguf)
{
    io_mapping_close(gguf->mapping);
    free(gguf->tensors);
    memset(gguf, 0, sizeof *gguf);
}

collet_status ternary_gguf_find(const ternary_gguf *gguf, const char *name,
                                const ternary_gguf_tensor **out, collet_error *err)
{
    size_t length = strlen(name);

    *out = NULL;
    for (uint64_t i = 0; i < gguf->count; i++) {
        const ternary_gguf_tensor *t = &gguf->tensors[i];
        if (t->name_length != length || memcmp(t->name, name, length) != 0)
            continue;
        if (*out)
            return collet_fail(err, COLLET_FORMAT, "%s: the file has two tensors called '%s'",
                               io_mapping_path(gguf->mapping), name);
        *out = t;
    }
    if (*out)
        return COLLET_OK;
    if (gguf->parts > 0)
        return collet_fail(err, COLLET_NOT_FOUND,
                           "%s: there is no tensor '%s' among %llu tensors: the file is part %u of "
                           "%u of a split file; look in the other parts (collet-ternary info), or "
                           "join them (gguf-split --merge)",
                           io_mapping_path(gguf->mapping), name, (unsigned long long)gguf->count,
                           gguf->part, gguf->parts);
    return collet_fail(
        err, COLLET_NOT_FOUND,
        "%s: there is no tensor '%s' among %llu tensors; collet-ternary info lists them",
        io_mapping_path(gguf->mapping), name, (unsigned long long)gguf->count);
}
