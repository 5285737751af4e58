/* SPDX-License-Identifier: Apache-2.0 */
#include "gguf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "GGUF"
#define TENSOR_BYTES_LEAST                                                                         \
    32                      /* name length, dimensions, one extent, type, offset: with no name     \
                             */
#define PAIR_BYTES_LEAST 13 /* key length, type, a byte */
#define ALIGNMENT 32        /* by default */
#define ALIGNMENT_MOST 65536
#define NESTING_MOST 4 /* arrays in arrays */

/* Kinds of values. */
enum { VALUE_U32 = 4, VALUE_STRING = 8, VALUE_ARRAY = 9, VALUE_KINDS = 13 };
static const uint8_t value_bytes[VALUE_KINDS] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

/* Of `weights` elements a block of `bytes`; bytes 0: listed only. */
static const struct type {
    uint32_t id;
    uint32_t weights, bytes;
    const char *name;
} types[] = {
    {COLLET_GGUF_F32, 1, 4, "F32"},
    {COLLET_GGUF_F16, 1, 2, "F16"},
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
    {COLLET_GGUF_I8, 1, 1, "I8"},
    {25, 1, 0, "I16"},
    {26, 1, 0, "I32"},
    {27, 1, 0, "I64"},
    {COLLET_GGUF_F64, 1, 8, "F64"},
    {29, 256, 0, "IQ1_M"},
    {COLLET_GGUF_BF16, 1, 2, "BF16"},
    {COLLET_GGUF_TQ1_0, 256, 54, "TQ1_0"},
    {COLLET_GGUF_TQ2_0, 256, 66, "TQ2_0"},
};

static const struct type *find_type(uint32_t id)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].id == id)
            return &types[i];
    return NULL;
}

const char *collet_gguf_type_name(uint32_t type, char text[24])
{
    const struct type *known = find_type(type);

    if (known)
        return known->name;
    snprintf(text, 24, "type %u", (unsigned)type);
    return text;
}

const char *collet_gguf_name(const collet_gguf_tensor *tensor, char text[COLLET_GGUF_NAME])
{
    size_t n = tensor->name_length < COLLET_GGUF_NAME - 1 ? (size_t)tensor->name_length
                                                          : COLLET_GGUF_NAME - 1;

    for (size_t i = 0; i < n; i++)
        text[i] = tensor->name[i] >= ' ' && tensor->name[i] <= '~' ? tensor->name[i] : '?';
    text[n] = '\0';
    return text;
}

int collet_gguf_recognise(const uint8_t *bytes, uint64_t size)
{
    return size >= 4 && memcmp(bytes, MAGIC, 4) == 0;
}

/* ---- Reading bytes in order ---------------------------------------------------------------- */

typedef struct cursor {
    const uint8_t *bytes;
    uint64_t at, size;
} cursor;

/* The next n bytes; NULL beyond the end. */
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

    if (depth == NESTING_MOST || !take_u32(c, &kind) || !take_number(c, 8, &count) ||
        kind >= VALUE_KINDS)
        return 0;
    if (value_bytes[kind] > 0)
        return !__builtin_mul_overflow(count, value_bytes[kind], &bytes) && take(c, bytes) != NULL;
    /* Each takes at least 8 bytes, so the end of the file ends the loop for any count. */
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
    return kind < VALUE_KINDS && take(c, value_bytes[kind]) != NULL;
}

static collet_status read_alignment(collet_gguf *gguf, cursor *c, uint32_t kind, collet_error *err)
{
    uint32_t value = 0;

    if (kind != VALUE_U32 || !take_u32(c, &value) || value == 0 || value > ALIGNMENT_MOST ||
        (value & (value - 1)) != 0)
        return collet_fail(err, COLLET_FORMAT,
                           "%s: general.alignment is %u, not a power of two up to %d",
                           collet_mapping_path(gguf->mapping), (unsigned)value, ALIGNMENT_MOST);
    gguf->alignment = value;
    return COLLET_OK;
}

static collet_status read_pairs(collet_gguf *gguf, cursor *c, uint64_t count, collet_error *err)
{
    static const char alignment[] = "general.alignment";

    for (uint64_t i = 0; i < count; i++) {
        const char *key;
        uint64_t length;
        uint32_t kind;
        int taken = take_text(c, &key, &length) && take_u32(c, &kind);
        if (taken && length == sizeof alignment - 1 && memcmp(key, alignment, length) == 0) {
            collet_status status = read_alignment(gguf, c, kind, err);
            if (status != COLLET_OK)
                return status;
        } else if (!taken || !skip_value(c, kind, 0)) {
            return collet_fail(err, COLLET_FORMAT,
                               "%s: is damaged or truncated: key %llu of %llu at byte %llu",
                               collet_mapping_path(gguf->mapping), (unsigned long long)i,
                               (unsigned long long)count, (unsigned long long)c->at);
        }
    }
    return COLLET_OK;
}

/* ---- Tensors ------------------------------------------------------------------------------- */

static int take_tensor(cursor *c, collet_gguf_tensor *t)
{
    if (!take_text(c, &t->name, &t->name_length) || !take_u32(c, &t->ndim) || t->ndim < 1 ||
        t->ndim > COLLET_GGUF_DIMS)
        return 0;
    for (uint32_t i = 0; i < t->ndim; i++) {
        uint64_t extent;
        if (!take_number(c, 8, &extent) || extent == 0 || extent > INT64_MAX)
            return 0;
        t->shape[t->ndim - 1 - i] = (int64_t)extent;
    }
    return take_u32(c, &t->type) && take_number(c, 8, &t->offset);
}

static collet_status tensor_failed(const collet_gguf *gguf, const collet_gguf_tensor *t,
                                   collet_status status, const char *why, collet_error *err)
{
    char name[COLLET_GGUF_NAME];

    return collet_fail(err, status, "%s:%s: %s", collet_mapping_path(gguf->mapping),
                       collet_gguf_name(t, name), why);
}

/* Computes rows, columns and bytes, and checks that they lie within the file. `start`: of tensor
 * data. */
static collet_status place_tensor(const collet_gguf *gguf, collet_gguf_tensor *t, uint64_t start,
                                  collet_error *err)
{
    const struct type *type = find_type(t->type);
    uint64_t size = collet_mapping_size(gguf->mapping), elements;

    t->columns = t->shape[t->ndim - 1];
    t->rows = 1;
    for (uint32_t i = 0; i + 1 < t->ndim; i++)
        if (__builtin_mul_overflow(t->rows, t->shape[i], &t->rows))
            return tensor_failed(gguf, t, COLLET_OVERFLOW, "has more elements than 64 bits count",
                                 err);
    if (__builtin_mul_overflow((uint64_t)t->rows, (uint64_t)t->columns, &elements))
        return tensor_failed(gguf, t, COLLET_OVERFLOW, "has more elements than 64 bits count", err);
    if (type && t->columns % type->weights != 0)
        return tensor_failed(gguf, t, COLLET_FORMAT,
                             "its rows are not a multiple of its type's block", err);
    if (type && __builtin_mul_overflow(elements / type->weights, type->bytes, &t->bytes))
        return tensor_failed(gguf, t, COLLET_OVERFLOW, "has more bytes than 64 bits count", err);
    if (t->offset % gguf->alignment != 0)
        return tensor_failed(gguf, t, COLLET_FORMAT,
                             "its data are not aligned to general.alignment", err);
    if (t->offset > size - start || t->bytes > size - start - t->offset)
        return tensor_failed(gguf, t, COLLET_FORMAT,
                             "its data end beyond the end of the file, which is truncated or "
                             "damaged",
                             err);
    t->offset += start;
    return COLLET_OK;
}

static collet_status read_tensors(collet_gguf *gguf, cursor *c, collet_error *err)
{
    const char *path = collet_mapping_path(gguf->mapping);
    collet_status status = COLLET_OK;

    /* The counts were checked against the size of the file. */
    gguf->tensors = calloc((size_t)gguf->count + 1, sizeof *gguf->tensors);
    if (!gguf->tensors)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for the list of its tensors",
                           path);
    for (uint64_t i = 0; i < gguf->count; i++)
        if (!take_tensor(c, &gguf->tensors[i]))
            return collet_fail(err, COLLET_FORMAT,
                               "%s: is damaged or truncated: tensor %llu of %llu at byte %llu",
                               path, (unsigned long long)i, (unsigned long long)gguf->count,
                               (unsigned long long)c->at);
    uint64_t start = (c->at + gguf->alignment - 1) / gguf->alignment * gguf->alignment;
    if (gguf->count > 0 && start > c->size)
        return collet_fail(err, COLLET_FORMAT, "%s: is truncated: it ends before its tensors",
                           path);
    for (uint64_t i = 0; i < gguf->count && status == COLLET_OK; i++)
        status = place_tensor(gguf, &gguf->tensors[i], start, err);
    return status;
}

/* ---- Opening ------------------------------------------------------------------------------- */

static collet_status check_version(const collet_gguf *gguf, const char *path, collet_error *err)
{
    if (gguf->version != 0 && (gguf->version & 0xffff) == 0)
        return collet_fail(err, COLLET_UNSUPPORTED,
                           "%s: is a big-endian GGUF file; little-endian ones are read", path);
    if (gguf->version < 2 || gguf->version > 3)
        return collet_fail(err, COLLET_UNSUPPORTED,
                           "%s: is a GGUF file of version %u; 2 and 3 are read", path,
                           (unsigned)gguf->version);
    return COLLET_OK;
}

static collet_status read_file(collet_gguf *gguf, const char *path, collet_error *err)
{
    cursor c = {collet_mapping_data(gguf->mapping), 4, collet_mapping_size(gguf->mapping)};
    uint64_t pairs;

    if (!collet_gguf_recognise(c.bytes, c.size))
        return collet_fail(err, COLLET_FORMAT, "%s: is no GGUF file", path);
    if (!take_u32(&c, &gguf->version))
        return collet_fail(err, COLLET_FORMAT, "%s: is truncated in its header", path);
    collet_status status = check_version(gguf, path, err);
    if (status != COLLET_OK)
        return status;
    if (!take_number(&c, 8, &gguf->count) || !take_number(&c, 8, &pairs))
        return collet_fail(err, COLLET_FORMAT, "%s: is truncated in its header", path);
    if (gguf->count > c.size / TENSOR_BYTES_LEAST || pairs > c.size / PAIR_BYTES_LEAST)
        return collet_fail(err, COLLET_FORMAT,
                           "%s: is damaged: %llu tensors and %llu keys do not fit in %llu bytes",
                           path, (unsigned long long)gguf->count, (unsigned long long)pairs,
                           (unsigned long long)c.size);
    gguf->alignment = ALIGNMENT;
    status = read_pairs(gguf, &c, pairs, err);
    return status == COLLET_OK ? read_tensors(gguf, &c, err) : status;
}

collet_status collet_gguf_open(const char *path, collet_gguf *out, collet_error *err)
{
    memset(out, 0, sizeof *out);
    collet_status status = collet_mapping_open(path, &out->mapping, err);
    if (status == COLLET_OK)
        status = read_file(out, path, err);
    if (status != COLLET_OK)
        collet_gguf_close(out);
    return status;
}

void collet_gguf_close(collet_gguf *gguf)
{
    collet_mapping_close(gguf->mapping);
    free(gguf->tensors);
    memset(gguf, 0, sizeof *gguf);
}

collet_status collet_gguf_find(const collet_gguf *gguf, const char *name,
                               const collet_gguf_tensor **out, collet_error *err)
{
    size_t length = strlen(name);

    *out = NULL;
    for (uint64_t i = 0; i < gguf->count; i++) {
        const collet_gguf_tensor *t = &gguf->tensors[i];
        if (t->name_length != length || memcmp(t->name, name, length) != 0)
            continue;
        if (*out)
            return collet_fail(err, COLLET_FORMAT, "%s: has two tensors called '%s'",
                               collet_mapping_path(gguf->mapping), name);
        *out = t;
    }
    if (!*out)
        return collet_fail(err, COLLET_NOT_FOUND, "%s: has no tensor called '%s', of %llu tensors",
                           collet_mapping_path(gguf->mapping), name,
                           (unsigned long long)gguf->count);
    return COLLET_OK;
}
