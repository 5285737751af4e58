/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_weights.c, tests/engines/test_ternary_q2_0.c, tests/fuzz/fuzz_gguf.c */
#include "gguf.h"
#include "gguf_keys.h"
#include "gguf_layout.h"
#include "tensor_faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "GGUF"
#define TENSOR_BYTES_MIN 24 /* with an empty name and no axes: name length, ndim, type, offset */
#define PAIR_BYTES_MIN 13   /* with an empty key: key length, type, value of one byte */
#define AXES_MAX 2          /* axes of a tensor that is read */
#define Q2_0_WEIGHTS 64     /* of a block in the layout with the smaller blocks */

const char *ternary_gguf_name(const ternary_gguf_tensor *tensor, char text[TERNARY_TENSOR_NAME])
{
    return ternary_tensor_name(tensor->name, tensor->name_length, text);
}

const char *ternary_gguf_tensor_type(const ternary_gguf_tensor *tensor, char text[24])
{
    if (tensor->type != TERNARY_GGUF_Q2_0 || tensor->block == 0)
        return ternary_gguf_type_name(tensor->type, text);
    snprintf(text, 24, "Q2_0/%u", (unsigned)tensor->block);
    return text;
}

const char *ternary_gguf_fault(const ternary_gguf_tensor *tensor, collet_status *status)
{
    *status = tensor->fault ? tensor->fault_status : (collet_status)COLLET_UNSUPPORTED;
    return tensor->fault ? tensor->fault : ternary_gguf_type_reason(tensor->type);
}

int ternary_gguf_recognise(const uint8_t *bytes, uint64_t size)
{
    return size >= 4 && memcmp(bytes, MAGIC, 4) == 0;
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

static int take_tensor(ternary_gguf_cursor *c, ternary_gguf_tensor *t)
{
    uint32_t axes;

    if (!ternary_gguf_take_text(c, &t->name, &t->name_length) || !ternary_gguf_take_u32(c, &axes))
        return 0;
    t->ndim = axes <= TERNARY_GGUF_DIMS ? axes : 0;
    /* The loop ends for any count, because each extent takes 8 bytes of the file. */
    for (uint32_t i = 0; i < axes; i++) {
        uint64_t extent;
        if (!ternary_gguf_take_number(c, 8, &extent))
            return 0;
        if (extent == 0)
            set_fault(t, COLLET_SHAPE, TERNARY_NO_WEIGHTS);
        if (extent > INT64_MAX) {
            set_fault(t, COLLET_OVERFLOW, "the tensor has an extent of 2^63 or more");
            t->ndim = 0; /* the shape cannot be represented */
        }
        if (i < t->ndim)
            t->shape[t->ndim - 1 - i] = (int64_t)extent;
    }
    if (axes == 0)
        set_fault(t, COLLET_UNSUPPORTED, TERNARY_NO_AXES);
    else if (axes > AXES_MAX)
        set_fault(t, COLLET_UNSUPPORTED, TERNARY_MORE_AXES);
    return ternary_gguf_take_u32(c, &t->type) && ternary_gguf_take_number(c, 8, &t->offset);
}

static void set_extents(ternary_gguf_tensor *t)
{
    t->columns = t->shape[t->ndim - 1];
    t->rows = t->ndim == 2 ? t->shape[0] : 1;
}

/* Finds out which layout the tensors of type Q2_0 have, and sets their fault if it is not clear. `size`: bytes of
 * the data of all tensors. */
static collet_status find_layout(const ternary_gguf *gguf, uint64_t size,
                                 const ternary_gguf_block **layout, const char **fault,
                                 collet_error *err)
{
    ternary_gguf_extent *extents = calloc((size_t)gguf->count + 1, sizeof *extents);

    if (!extents)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for the list of its tensors",
                           io_mapping_path(gguf->mapping));
    for (uint64_t i = 0; i < gguf->count; i++) {
        const ternary_gguf_tensor *t = &gguf->tensors[i];
        extents[i].offset = t->offset;
        if (t->fault || t->type != TERNARY_GGUF_Q2_0 || t->columns % Q2_0_WEIGHTS != 0)
            continue;
        extents[i].rows = (uint64_t)t->rows;
        extents[i].columns = (uint64_t)t->columns;
    }
    *layout = ternary_gguf_layout(extents, gguf->count, gguf->alignment, size, fault);
    free(extents);
    return COLLET_OK;
}

/* Computes the bytes, and checks that they are within the file. `start`: byte where the data of all tensors
 * begin. `layout`: of Q2_0, or NULL with a fault. */
static void place_tensor(const ternary_gguf *gguf, ternary_gguf_tensor *t, uint64_t start,
                         const ternary_gguf_block *layout, const char *fault)
{
    const ternary_gguf_type *type = ternary_gguf_type_find(t->type);
    uint32_t weights = type ? type->weights : 1, bytes = type ? type->bytes : 0;
    uint64_t size = io_mapping_size(gguf->mapping), elements;

    if (__builtin_mul_overflow((uint64_t)t->rows, (uint64_t)t->columns, &elements))
        set_fault(t, COLLET_OVERFLOW, TERNARY_MORE_ELEMENTS);
    if (t->columns % weights != 0)
        set_fault(t, COLLET_FORMAT,
                  "the length of the tensor's rows is not a multiple of its type's block");
    if (t->type == TERNARY_GGUF_Q2_0 && !layout)
        set_fault(t, COLLET_FORMAT, fault);
    else if (t->type == TERNARY_GGUF_Q2_0) {
        weights = layout->weights;
        bytes = layout->bytes;
    }
    t->block = weights;
    if (__builtin_mul_overflow(elements / weights, bytes, &t->bytes))
        set_fault(t, COLLET_OVERFLOW, "the tensor has more bytes than 64 bits can count");
    if (gguf->hadamard && t->ndim == 2)
        set_fault(t, COLLET_UNSUPPORTED,
                  "the file has keys prism.hadamard.*: its matrices are stored after a Hadamard "
                  "transform, and Collet does not transform the activations; use a file of the "
                  "model without the transform");
    if (t->offset % gguf->alignment != 0)
        set_fault(t, COLLET_FORMAT, "the tensor's data are not aligned to general.alignment");
    if (start > size || t->offset > size - start || t->bytes > size - start - t->offset)
        set_fault(t, COLLET_FORMAT, TERNARY_BEYOND_END);
    t->offset += start;
}

/* Places all tensors; `end`: byte where their list ends. */
static collet_status place_tensors(ternary_gguf *gguf, uint64_t end, collet_error *err)
{
    uint64_t start = (end + gguf->alignment - 1) / gguf->alignment * gguf->alignment;
    uint64_t size = io_mapping_size(gguf->mapping);
    const ternary_gguf_block *layout = NULL;
    const char *fault = NULL;

    for (uint64_t i = 0; i < gguf->count; i++)
        if (!gguf->tensors[i].fault)
            set_extents(&gguf->tensors[i]);
    collet_status status = find_layout(gguf, size > start ? size - start : 0, &layout, &fault, err);
    for (uint64_t i = 0; i < gguf->count && status == COLLET_OK; i++) {
        ternary_gguf_tensor *t = &gguf->tensors[i];
        if (!t->fault)
            place_tensor(gguf, t, start, layout, fault);
        if (t->fault) {
            t->rows = t->columns = 0;
            t->offset = t->bytes = 0;
            t->block = 0;
        }
    }
    return status;
}

static int compare_names(const void *a, const void *b)
{
    const ternary_gguf_tensor *const *x = a, *const *y = b;

    if ((*x)->name_length != (*y)->name_length)
        return (*x)->name_length < (*y)->name_length ? -1 : 1;
    return memcmp((*x)->name, (*y)->name, (size_t)(*x)->name_length);
}

/* Tensors with the same name get a fault, because the name would not identify a tensor. */
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
                set_fault(sorted[k], COLLET_FORMAT, TERNARY_NAMESAKE);
    free(sorted);
    return COLLET_OK;
}

static collet_status read_tensors(ternary_gguf *gguf, ternary_gguf_cursor *c, collet_error *err)
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
    return place_tensors(gguf, c->at, err);
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
    ternary_gguf_cursor c = {io_mapping_data(gguf->mapping), 4, io_mapping_size(gguf->mapping)};
    uint64_t pairs;

    if (!ternary_gguf_recognise(c.bytes, c.size))
        return collet_fail(err, COLLET_FORMAT, "%s: not a GGUF file", path);
    if (!ternary_gguf_take_u32(&c, &gguf->version))
        return collet_fail(err, COLLET_FORMAT,
                           "%s: the file is truncated: it ends inside its header", path);
    collet_status status = check_version(gguf, path, err);
    if (status != COLLET_OK)
        return status;
    if (!ternary_gguf_take_number(&c, 8, &gguf->count) || !ternary_gguf_take_number(&c, 8, &pairs))
        return collet_fail(err, COLLET_FORMAT,
                           "%s: the file is truncated: it ends inside its header", path);
    if (gguf->count > c.size / TENSOR_BYTES_MIN || pairs > c.size / PAIR_BYTES_MIN)
        return collet_fail(
            err, COLLET_FORMAT,
            "%s: the file is damaged: %llu tensors and %llu keys do not fit in %llu bytes", path,
            (unsigned long long)gguf->count, (unsigned long long)pairs, (unsigned long long)c.size);
    ternary_gguf_keys keys;
    status = ternary_gguf_keys_read(path, &c, pairs, &keys, err);
    gguf->alignment = keys.alignment;
    gguf->part = keys.part;
    gguf->parts = keys.parts;
    gguf->hadamard = keys.hadamard;
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
