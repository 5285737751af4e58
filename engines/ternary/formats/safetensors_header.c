/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_ternary_safetensors.c, tests/fuzz/fuzz_safetensors.c */
#include "safetensors_header.h"
#include "tensor_name.h"

#include "io/numerals.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH_BYTES 8
#define LENGTH_MOST 100000000 /* the limit of the format's own library */
#define NUMBER_MOST 0x1p53    /* whole numbers that JSON's numbers hold exactly */
#define METADATA "__metadata__"

uint64_t ternary_safetensors_header_length(const uint8_t *bytes, uint64_t size)
{
    uint64_t length = 0;

    for (int i = 0; size >= LENGTH_BYTES && i < LENGTH_BYTES; i++)
        length |= (uint64_t)bytes[i] << 8 * i;
    return length;
}

void ternary_safetensors_header_free(void *json)
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

/* Returns the fault of the entry; NULL: there is none. */
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

collet_status ternary_safetensors_header_read(const char *path, const uint8_t *bytes, uint64_t size,
                                              ternary_safetensors_header *out, collet_error *err)
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
