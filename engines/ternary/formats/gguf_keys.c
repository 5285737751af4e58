/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_weights.c, tests/fuzz/fuzz_gguf.c */
#include "gguf_keys.h"
#include "tensor_name.h"

#include <string.h>

#define ALIGNMENT 32 /* default of general.alignment */
#define ALIGNMENT_MOST 65536
#define NESTING_MAX 4 /* arrays in arrays */
#define HADAMARD "prism.hadamard."

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

/* ---- Reading bytes in order ---------------------------------------------------------------- */

/* Returns the next n bytes; NULL beyond the end. */
static const uint8_t *take(ternary_gguf_cursor *c, uint64_t n)
{
    const uint8_t *here = c->bytes + c->at;

    if (n > c->size - c->at)
        return NULL;
    c->at += n;
    return here;
}

int ternary_gguf_take_number(ternary_gguf_cursor *c, int bytes, uint64_t *value)
{
    const uint8_t *from = take(c, (uint64_t)bytes);

    *value = 0;
    for (int i = 0; from && i < bytes; i++)
        *value |= (uint64_t)from[i] << 8 * i;
    return from != NULL;
}

int ternary_gguf_take_u32(ternary_gguf_cursor *c, uint32_t *value)
{
    uint64_t wide;
    int taken = ternary_gguf_take_number(c, 4, &wide);

    *value = (uint32_t)wide;
    return taken;
}

int ternary_gguf_take_text(ternary_gguf_cursor *c, const char **text, uint64_t *length)
{
    *text = ternary_gguf_take_number(c, 8, length) ? (const char *)take(c, *length) : NULL;
    return *text != NULL;
}

/* ---- Keys and values ----------------------------------------------------------------------- */

static int skip_value(ternary_gguf_cursor *c, uint32_t kind, int depth);

static int skip_array(ternary_gguf_cursor *c, int depth)
{
    uint32_t kind;
    uint64_t count, bytes;

    if (depth == NESTING_MAX || !ternary_gguf_take_u32(c, &kind) ||
        !ternary_gguf_take_number(c, 8, &count) || kind >= VALUE_KINDS)
        return 0;
    if (kinds[kind].bytes > 0)
        return !__builtin_mul_overflow(count, kinds[kind].bytes, &bytes) && take(c, bytes) != NULL;
    /* The loop ends for any count, because each value takes at least 8 bytes of the file. */
    for (uint64_t i = 0; i < count; i++)
        if (!skip_value(c, kind, depth + 1))
            return 0;
    return 1;
}

static int skip_value(ternary_gguf_cursor *c, uint32_t kind, int depth)
{
    const char *text;
    uint64_t length;

    if (kind == VALUE_ARRAY)
        return skip_array(c, depth);
    if (kind == VALUE_STRING)
        return ternary_gguf_take_text(c, &text, &length);
    return kind < VALUE_KINDS && take(c, kinds[kind].bytes) != NULL;
}

/* Reads a value of any integer kind: *value is sign-extended to 64 bits, *negative = 1 if it is below 0. */
static int take_integer(ternary_gguf_cursor *c, uint32_t kind, uint64_t *value, int *negative)
{
    int bytes = kind < VALUE_KINDS && kinds[kind].integer ? kinds[kind].bytes : 0;

    *negative = 0;
    if (bytes == 0 || !ternary_gguf_take_number(c, bytes, value))
        return 0;
    *negative = kinds[kind].is_signed && (*value >> (8 * bytes - 1) & 1);
    if (*negative && bytes < 8)
        *value |= UINT64_MAX << 8 * bytes;
    return 1;
}

static collet_status read_alignment(const char *path, ternary_gguf_cursor *c, uint32_t kind,
                                    uint32_t *alignment, collet_error *err)
{
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
    *alignment = (uint32_t)value;
    return COLLET_OK;
}

/* Reads split.no (from 0) or split.count; a value that is not an integer is ignored. */
static int read_split(ternary_gguf_cursor *c, uint32_t kind, uint32_t *out)
{
    ternary_gguf_cursor before = *c;
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

/* Fails if one of the `used` keys occurs twice, as ggml's own reader does, because the format does not define which
 * value applies. `seen`: one bit for each used key. */
static collet_status check_twice(const char *path, const char *key, uint64_t length, uint32_t *seen,
                                 collet_error *err)
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
                path, used[i]);
        *seen |= 1u << i;
    }
    return COLLET_OK;
}

static collet_status pair_failed(const char *path, const ternary_gguf_cursor *c, uint64_t i,
                                 uint64_t count, collet_error *err)
{
    return collet_fail(err, COLLET_FORMAT,
                       "%s: the file is damaged or truncated: key %llu of %llu at byte %llu", path,
                       (unsigned long long)i, (unsigned long long)count, (unsigned long long)c->at);
}

static int is_hadamard(const char *key, uint64_t length)
{
    return length >= sizeof HADAMARD - 1 && memcmp(key, HADAMARD, sizeof HADAMARD - 1) == 0;
}

collet_status ternary_gguf_keys_read(const char *path, ternary_gguf_cursor *c, uint64_t count,
                                     ternary_gguf_keys *out, collet_error *err)
{
    uint32_t split_no = 0, split_count = 0, seen = 0;

    *out = (ternary_gguf_keys){.alignment = ALIGNMENT};

    for (uint64_t i = 0; i < count; i++) {
        const char *key;
        uint64_t length;
        uint32_t kind;
        int taken = ternary_gguf_take_text(c, &key, &length) && ternary_gguf_take_u32(c, &kind);
        collet_status status = taken ? check_twice(path, key, length, &seen, err) : COLLET_OK;

        if (status == COLLET_OK && taken && is_key(key, length, "general.alignment")) {
            status = read_alignment(path, c, kind, &out->alignment, err);
            if (status == COLLET_OK)
                continue;
        }
        if (status != COLLET_OK)
            return status;
        if (taken && is_hadamard(key, length))
            out->hadamard = 1;
        if (taken && kind >= VALUE_KINDS) {
            char name[TERNARY_TENSOR_NAME];
            return collet_fail(
                err, COLLET_FORMAT,
                "%s: key %llu of %llu, '%s', has a value of the unknown type %u: the "
                "file is damaged, or has a newer format",
                path, (unsigned long long)i, (unsigned long long)count,
                ternary_tensor_name(key, length, name), (unsigned)kind);
        }
        if (taken && is_key(key, length, "split.no"))
            taken = read_split(c, kind, &split_no);
        else if (taken && is_key(key, length, "split.count"))
            taken = read_split(c, kind, &split_count);
        else
            taken = taken && skip_value(c, kind, 0);
        if (!taken)
            return pair_failed(path, c, i, count, err);
    }
    if (split_count > 1 && split_no < split_count) {
        out->part = split_no + 1;
        out->parts = split_count;
    }
    return COLLET_OK;
}
