/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_ternary_safetensors.c, tests/fuzz/fuzz_safetensors.c */
#include "safetensors.h"
#include "bitnet_config.h"
#include "io/numerals.h"
#include "number.h"
#include "tensor_faults.h"
#include "tensor_name.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <collet/collet.h>

#define TERNARY_SAFETENSORS_SHAPE 8 /* extents that an entry has */

/* A tensor as the header describes it. The numbers were not compared with the size of the file. */
typedef struct ternary_safetensors_entry {
    const char *name, *type; /* owned by the header */
    uint32_t ndim;           /* may be larger than the number of extents below */
    int64_t shape[TERNARY_SAFETENSORS_SHAPE];
    uint64_t begin, end; /* begin <= end, from the beginning of the data */
} ternary_safetensors_entry;

typedef struct ternary_safetensors_header {
    void *json;                         /* freed by ternary_safetensors_header_free */
    ternary_safetensors_entry *entries; /* freed with free */
    uint64_t count;
    uint64_t start; /* byte of the file where the data begin */
} ternary_safetensors_header;

#define LENGTH_BYTES 8
#define LENGTH_MOST 100000000 /* the limit of the format's own library */
#define NUMBER_MOST 0x1p53    /* whole numbers that JSON's numbers hold exactly */
#define METADATA "__metadata__"

/* Returns the length that the first 8 bytes state; 0 if there are fewer than 8 bytes. */
static uint64_t ternary_safetensors_header_length(const uint8_t *bytes, uint64_t size)
{
    uint64_t length = 0;

    for (int i = 0; size >= LENGTH_BYTES && i < LENGTH_BYTES; i++)
        length |= (uint64_t)bytes[i] << 8 * i;
    return length;
}

/* NULL is allowed. */
static void ternary_safetensors_header_free(void *json)
{
    cJSON_Delete(json);
}

static int take_whole(const cJSON *item, uint64_t *value)
{
    if (!cJSON_IsNumber(item) || item->valuedouble < 0 || item->valuedouble > NUMBER_MOST ||
        item->valuedouble != floor(item->valuedouble))
        return 0;
    *value = (uint64_t)item->valuedouble;
    return 1;
}

/* Returns what is wrong with the entry; NULL: nothing. */
static const char *take_entry(const cJSON *item, ternary_safetensors_entry *entry)
{
    const cJSON *type = cJSON_GetObjectItemCaseSensitive(item, "dtype");
    const cJSON *shape = cJSON_GetObjectItemCaseSensitive(item, "shape");
    const cJSON *place = cJSON_GetObjectItemCaseSensitive(item, "data_offsets"), *extent;
    uint64_t value;

    if (!cJSON_IsString(type))
        return "dtype is missing, or not a text";
    if (!cJSON_IsArray(shape))
        return "shape is missing, or not a list";
    if (!cJSON_IsArray(place) || !place->child || !place->child->next || place->child->next->next ||
        !take_whole(place->child, &entry->begin) || !take_whole(place->child->next, &entry->end) ||
        entry->begin > entry->end)
        return "data_offsets is not a list of two whole numbers, the first not above the second";
    entry->name = item->string;
    entry->type = type->valuestring;
    cJSON_ArrayForEach(extent, shape)
    {
        if (!take_whole(extent, &value))
            return "shape has an extent that is not a whole number from 0 to 2^53";
        if (entry->ndim < TERNARY_SAFETENSORS_SHAPE)
            entry->shape[entry->ndim] = (int64_t)value;
        if (entry->ndim < UINT32_MAX)
            entry->ndim++;
    }
    return NULL;
}

static collet_status take_entries(const char *path, const cJSON *root,
                                  ternary_safetensors_header *out, collet_error *err)
{
    char name[TERNARY_TENSOR_NAME];
    const cJSON *item;
    uint64_t count = 0;

    cJSON_ArrayForEach(item, root) count++;
    out->entries = calloc((size_t)count + 1, sizeof *out->entries);
    if (!out->entries)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for the list of its tensors",
                           path);
    cJSON_ArrayForEach(item, root)
    {
        if (strcmp(item->string, METADATA) == 0)
            continue;
        const char *wrong = take_entry(item, &out->entries[out->count]);
        if (wrong)
            return collet_fail(
                err, COLLET_FORMAT, "%s: the header of the file is damaged at the tensor '%s': %s",
                path, ternary_tensor_name(item->string, strlen(item->string), name), wrong);
        out->count++;
    }
    return COLLET_OK;
}

static collet_status check_length(const char *path, uint64_t length, uint64_t size,
                                  collet_error *err)
{
    if (size < LENGTH_BYTES || length > size - LENGTH_BYTES)
        return collet_fail(err, COLLET_FORMAT,
                           "%s: the file is truncated, or not a safetensors file: its header of "
                           "%llu bytes ends after its end, at %llu",
                           path, (unsigned long long)length, (unsigned long long)size);
    if (length > LENGTH_MOST)
        return collet_fail(err, COLLET_FORMAT,
                           "%s: the header has %llu bytes; the format allows up to %d", path,
                           (unsigned long long)length, LENGTH_MOST);
    return COLLET_OK;
}

/* FORMAT, NO_MEMORY: after an error there is nothing to free. The text begins with `path`. */
static collet_status ternary_safetensors_header_read(const char *path, const uint8_t *bytes,
                                                     uint64_t size, ternary_safetensors_header *out,
                                                     collet_error *err)
{
    uint64_t length = ternary_safetensors_header_length(bytes, size);
    const char *text = (const char *)bytes + LENGTH_BYTES, *end = NULL;

    *out = (ternary_safetensors_header){.start = LENGTH_BYTES + length};
    collet_status status = check_length(path, length, size, err);
    if (status != COLLET_OK)
        return status;
    locale_t before = io_numerals_begin();
    cJSON *root = length ? cJSON_ParseWithLengthOpts(text, (size_t)length, &end, 0) : NULL;
    io_numerals_end(before);
    while (root && end < text + length && strchr(" \t\r\n", *end) && *end)
        end++;
    if (!cJSON_IsObject(root) || end < text + length)
        status = collet_fail(err, COLLET_FORMAT,
                             "%s: the header of the file is damaged: it is not a JSON object up to "
                             "its end, byte %llu of the file",
                             path, (unsigned long long)out->start);
    else
        status = take_entries(path, root, out, err);
    if (status == COLLET_OK) {
        out->json = root;
        return status;
    }
    cJSON_Delete(root);
    free(out->entries);
    out->entries = NULL;
    return status;
}

#define AXES_MAX 2 /* axes of a tensor that is read */

static const struct type {
    const char *name;
    uint32_t bytes; /* bytes of an element */
    collet_dtype dtype;
    const char *reason;
} types[] = {
    {"F64", 8, COLLET_F64, NULL},
    {"F32", 4, COLLET_F32, NULL},
    {"F16", 2, COLLET_F16, NULL},
    {"BF16", 2, COLLET_BF16, NULL},
    {"I8", 1, COLLET_I8, NULL},
    {"U8", 1, COLLET_U8, NULL},
    {"I16", 2, 0, TERNARY_WHOLE_NUMBERS},
    {"I32", 4, 0, TERNARY_WHOLE_NUMBERS},
    {"I64", 8, 0, TERNARY_WHOLE_NUMBERS},
    {"U16", 2, 0, TERNARY_WHOLE_NUMBERS},
    {"U32", 4, 0, TERNARY_WHOLE_NUMBERS},
    {"U64", 8, 0, TERNARY_WHOLE_NUMBERS},
    {"BOOL", 1, 0, "truth values are not weights; ternary codes are I8"},
};

#define UNKNOWN                                                                                    \
    "numbers of this type are not read; use a file of the model with BF16, F16 or F32 weights"

static const struct type *find_type(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    return NULL;
}

int ternary_safetensors_recognise(const uint8_t *bytes, uint64_t size)
{
    uint64_t length = ternary_safetensors_header_length(bytes, size);

    return length >= 2 && length <= size - 8 && bytes[8] == '{';
}

/* Keeps the first fault of a tensor. */
static void set_fault(ternary_safetensors_tensor *t, collet_status status, const char *why)
{
    if (t->fault)
        return;
    t->fault = why;
    t->fault_status = status;
}

/* ---- Tensors ------------------------------------------------------------------------------- */

/* Checks the type, the shape and the place; `start`: byte where the data of all tensors begin. */
static void place_tensor(ternary_safetensors_tensor *t, uint64_t start, uint64_t size)
{
    const struct type *type = find_type(t->type);
    uint64_t bytes = type ? type->bytes : 0;

    t->reason = type ? type->reason : UNKNOWN;
    t->dtype = type ? type->dtype : COLLET_DTYPE_NONE;
    if (t->offset > size - start || t->bytes > size - start - t->offset)
        set_fault(t, COLLET_FORMAT, TERNARY_BEYOND_END);
    for (uint32_t i = 0; i < t->ndim; i++) {
        if (t->shape[i] == 0)
            set_fault(t, COLLET_SHAPE, TERNARY_NO_WEIGHTS);
        if (__builtin_mul_overflow(bytes, (uint64_t)t->shape[i], &bytes))
            set_fault(t, COLLET_OVERFLOW, TERNARY_MORE_ELEMENTS);
    }
    if (type && bytes != t->bytes)
        set_fault(t, COLLET_FORMAT,
                  "the tensor's shape and type need another number of bytes than its data_offsets "
                  "give: the file is damaged");
    /* The axes are checked last: a scale whose only fault is that it has no axes is still read. */
    if (t->ndim == 0)
        set_fault(t, COLLET_UNSUPPORTED, TERNARY_NO_AXES);
    if (t->ndim > AXES_MAX)
        set_fault(t, COLLET_UNSUPPORTED, TERNARY_MORE_AXES);
    t->offset += start;
    if (t->ndim > 0 && !t->fault) {
        t->columns = t->shape[t->ndim - 1];
        t->rows = t->ndim == 2 ? t->shape[0] : 1;
    }
}

static int compare_names(const void *a, const void *b)
{
    return strcmp((*(ternary_safetensors_tensor *const *)a)->name,
                  (*(ternary_safetensors_tensor *const *)b)->name);
}

static int compare_places(const void *a, const void *b)
{
    uint64_t x = (*(ternary_safetensors_tensor *const *)a)->offset;
    uint64_t y = (*(ternary_safetensors_tensor *const *)b)->offset;

    return x < y ? -1 : x > y;
}

/* Finds tensors that have the same name, or share bytes. Sorts the pointers by name. */
static void find_clashes(ternary_safetensors_tensor **sorted, uint64_t count)
{
    const ternary_safetensors_tensor *before = NULL;

    qsort(sorted, (size_t)count, sizeof *sorted, compare_places);
    for (uint64_t i = 0; i < count; i++) {
        ternary_safetensors_tensor *t = sorted[i];
        if (t->fault || t->bytes == 0)
            continue;
        if (before && before->offset + before->bytes > t->offset)
            set_fault(t, COLLET_FORMAT,
                      "the tensor shares bytes with another tensor: the file is damaged");
        else
            before = t;
    }
    qsort(sorted, (size_t)count, sizeof *sorted, compare_names);
    for (uint64_t i = 1; i < count; i++)
        if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0)
            for (uint64_t k = i - 1; k <= i; k++)
                set_fault(sorted[k], COLLET_FORMAT, TERNARY_NAMESAKE);
}

/* ---- Packed weights ------------------------------------------------------------------------ */

/* The tables in which the functions below look tensors up. */
typedef struct lookup {
    const ternary_safetensors *file;
    ternary_safetensors_tensor **sorted; /* by name */
    char *name;                          /* a buffer for the longest name and an ending */
    ternary_bitnet_config config;
} lookup;

/* Returns the tensor NAME + ending, where NAME is the first `length` bytes of the name; NULL: there is none. */
static const ternary_safetensors_tensor *find_beside(const lookup *in, const char *name,
                                                     size_t length, const char *ending)
{
    ternary_safetensors_tensor key = {.name = in->name}, *pointer = &key;

    memcpy(in->name, name, length);
    strcpy(in->name + length, ending);
    ternary_safetensors_tensor **found =
        bsearch(&pointer, in->sorted, (size_t)in->file->count, sizeof *in->sorted, compare_names);
    return found ? *found : NULL;
}

static int is_floating(const ternary_safetensors_tensor *t)
{
    return t->dtype == COLLET_F64 || t->dtype == COLLET_F32 || t->dtype == COLLET_F16 ||
           t->dtype == COLLET_BF16;
}

/* A scale may have no axes, so the fault TERNARY_NO_AXES does not count. */
static int is_one_number(const ternary_safetensors_tensor *t)
{
    const struct type *type = find_type(t->type);

    return is_floating(t) && (!t->fault || strcmp(t->fault, TERNARY_NO_AXES) == 0) &&
           t->bytes == type->bytes;
}

static void read_scale(const lookup *in, ternary_safetensors_tensor *t)
{
    const ternary_safetensors_tensor *scale = find_beside(in, t->name, strlen(t->name), "_scale");

    if (!scale)
        set_fault(t, COLLET_FORMAT,
                  "the tensor is U8, and packed weights of BitNet have a tensor of the same name "
                  "with the ending _scale, which is missing: it may be in another file of a split "
                  "model; join them into one file");
    else if (!is_one_number(scale))
        set_fault(t, COLLET_FORMAT,
                  "the tensor's scale, which has the ending _scale, must be one number in BF16, "
                  "F16, F32 or F64");
    if (t->fault)
        return;
    if (in->config.fault) {
        set_fault(t, in->config.fault_status, in->config.fault);
        return;
    }
    double number =
        ternary_number(scale->dtype, io_mapping_data(in->file->mapping) + scale->offset, 0);
    t->scale = (float)(in->config.divides ? 1 / number : number);
    if (!isfinite(number) || number <= 0 || !isfinite(t->scale) || t->scale <= 0)
        set_fault(
            t, COLLET_INVALID,
            "the tensor's scale, which has the ending _scale, must be positive, and finite in "
            "f32, also where layers divide by it");
}

static void find_bias(const lookup *in, ternary_safetensors_tensor *t)
{
    static const char ending[] = ".weight";
    size_t length = strlen(t->name), without = sizeof ending - 1;

    if (length <= without || strcmp(t->name + length - without, ending) != 0)
        return;
    t->bias = find_beside(in, t->name, length - without, ".bias");
    if (!t->bias)
        return;
    if (t->bias->fault || !is_floating(t->bias))
        set_fault(t, COLLET_FORMAT,
                  "the layer has a bias, the tensor with the ending .bias, which cannot be read as "
                  "numbers in BF16, F16, F32 or F64");
    else if (t->bias->ndim != 1 || t->bias->columns != t->rows)
        set_fault(
            t, COLLET_SHAPE,
            "the layer has a bias, the tensor with the ending .bias, which must have one axis "
            "of 4 numbers for each row of bytes: BitNet packs weights only if their rows are "
            "a multiple of 4");
}

static void read_packed(const lookup *in, ternary_safetensors_tensor *t)
{
    if (t->ndim != 2)
        set_fault(t, COLLET_SHAPE,
                  "the tensor is U8 with one axis; packed weights of BitNet have 2");
    else if (__builtin_mul_overflow(t->rows, 4, &t->rows))
        set_fault(t, COLLET_OVERFLOW, TERNARY_MORE_ELEMENTS);
    else {
        read_scale(in, t);
        find_bias(in, t);
    }
}

static int is_packed(const ternary_safetensors_tensor *t)
{
    return t->dtype == COLLET_U8 && !t->fault;
}

static collet_status read_all_packed(ternary_safetensors *file, lookup *in, collet_error *err)
{
    size_t longest = 0;
    collet_status status = COLLET_OK;
    int packed = 0;

    for (uint64_t i = 0; i < file->count; i++) {
        size_t length = strlen(file->tensors[i].name);
        longest = length > longest ? length : longest;
        packed |= is_packed(&file->tensors[i]);
    }
    in->name = malloc(longest + 16);
    if (!in->name)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for the names of its tensors",
                           io_mapping_path(file->mapping));
    if (packed)
        status = ternary_bitnet_config_read(io_mapping_path(file->mapping), &in->config, err);
    for (uint64_t i = 0; i < file->count && status == COLLET_OK; i++)
        if (is_packed(&file->tensors[i]))
            read_packed(in, &file->tensors[i]);
    free(in->name);
    return status;
}

/* ---- Opening ------------------------------------------------------------------------------- */

static collet_status read_tensors(ternary_safetensors *file, uint64_t start, collet_error *err)
{
    lookup in = {.file = file};

    in.sorted = malloc(((size_t)file->count + 1) * sizeof *in.sorted);
    if (!in.sorted)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for the list of its tensors",
                           io_mapping_path(file->mapping));
    for (uint64_t i = 0; i < file->count; i++) {
        in.sorted[i] = &file->tensors[i];
        place_tensor(&file->tensors[i], start, io_mapping_size(file->mapping));
    }
    find_clashes(in.sorted, file->count);
    collet_status status = read_all_packed(file, &in, err);
    free(in.sorted);
    for (uint64_t i = 0; i < file->count; i++)
        if (file->tensors[i].fault || file->tensors[i].reason)
            file->tensors[i].rows = file->tensors[i].columns = 0;
    return status;
}

static collet_status read_file(ternary_safetensors *file, collet_error *err)
{
    ternary_safetensors_header header = {0};

    collet_status status = ternary_safetensors_header_read(
        io_mapping_path(file->mapping), io_mapping_data(file->mapping),
        io_mapping_size(file->mapping), &header, err);
    if (status != COLLET_OK)
        return status;
    file->header = header.json;
    file->tensors = calloc((size_t)header.count + 1, sizeof *file->tensors);
    if (!file->tensors)
        status = collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for the list of its tensors",
                             io_mapping_path(file->mapping));
    for (file->count = 0; file->tensors && file->count < header.count; file->count++) {
        const ternary_safetensors_entry *from = &header.entries[file->count];
        ternary_safetensors_tensor *t = &file->tensors[file->count];
        t->name = from->name;
        t->type = from->type;
        t->ndim = from->ndim <= TERNARY_SAFETENSORS_DIMS ? from->ndim : 0;
        for (uint32_t i = 0; i < t->ndim; i++)
            t->shape[i] = from->shape[i];
        if (from->ndim > TERNARY_SAFETENSORS_DIMS)
            set_fault(t, COLLET_UNSUPPORTED, TERNARY_MORE_AXES);
        t->offset = from->begin;
        t->bytes = from->end - from->begin;
    }
    free(header.entries);
    return status == COLLET_OK ? read_tensors(file, header.start, err) : status;
}

collet_status ternary_safetensors_open(const char *path, ternary_safetensors *out,
                                       collet_error *err)
{
    memset(out, 0, sizeof *out);
    collet_status status = io_mapping_open(path, &out->mapping, err);
    if (status == COLLET_OK)
        status = read_file(out, err);
    if (status != COLLET_OK)
        ternary_safetensors_close(out);
    return status;
}

void ternary_safetensors_close(ternary_safetensors *file)
{
    ternary_safetensors_header_free(file->header);
    io_mapping_close(file->mapping);
    free(file->tensors);
    memset(file, 0, sizeof *file);
}

collet_status ternary_safetensors_find(const ternary_safetensors *file, const char *name,
                                       const ternary_safetensors_tensor **out, collet_error *err)
{
    *out = NULL;
    for (uint64_t i = 0; i < file->count; i++) {
        if (strcmp(file->tensors[i].name, name) != 0)
            continue;
        if (*out)
            return collet_fail(err, COLLET_FORMAT, "%s: the file has two tensors called '%s'",
                               io_mapping_path(file->mapping), name);
        *out = &file->tensors[i];
    }
    if (*out)
        return COLLET_OK;
    return collet_fail(
        err, COLLET_NOT_FOUND,
        "%s: there is no tensor '%s' among %llu tensors; collet-ternary info lists them, and in a "
        "split model other files have the rest",
        io_mapping_path(file->mapping), name, (unsigned long long)file->count);
}
