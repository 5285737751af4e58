/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_weights.c, tests/engines/test_ternary_q2_0.c, tests/fuzz/fuzz_gguf.c */
#include "gguf.h"
#include "gguf_keys.h"
#include "tensor_faults.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "GGUF"
#define TENSOR_BYTES_MIN 24 /* with an empty name and no axes: name length, ndim, type, offset */
#define PAIR_BYTES_MIN 13   /* with an empty key: key length, type, value of one byte */
#define AXES_MAX 2          /* axes of a tensor that is read */
#define Q2_0_WEIGHTS 64     /* weights of a block in the layout with the smaller blocks */

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

/* Finds out which layout the tensors of type Q2_0 have, and sets the fault of these tensors if the layout is not
 * clear. `size`: bytes of the data of all tensors. */
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
 * begin. `layout`: the layout of Q2_0, or NULL with a fault. */
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

#define READ NULL
#define MANY                                                                                       \
    "weights of this type have more values than -1, 0 and 1; use a file of the model with TQ2_0, " \
    "Q2_0, F16 or BF16 weights"
#define REMOVED "GGUF files no longer have this type: llama.cpp removed it; convert the model again"
#define HADAMARD                                                                                   \
    "PrismML stores such weights after a Hadamard transform, and Collet does not transform the "   \
    "activations; without that every result would be wrong"
#define BITNET_CPP                                                                                 \
    "bitnet.cpp lays such weights out for the kernels of one kind of CPU, and the file does not "  \
    "tell which; use the model's safetensors file, or a GGUF file with TQ2_0"

static const ternary_gguf_type types[] = {
    {TERNARY_GGUF_F32, 1, 4, "F32", READ},
    {TERNARY_GGUF_F16, 1, 2, "F16", READ},
    {2, 32, 0, "Q4_0", MANY},
    {3, 32, 0, "Q4_1", MANY},
    {4, 1, 0, "Q4_2", REMOVED},
    {5, 1, 0, "Q4_3", REMOVED},
    {6, 32, 0, "Q5_0", MANY},
    {7, 32, 0, "Q5_1", MANY},
    {8, 32, 0, "Q8_0", MANY},
    {9, 32, 0, "Q8_1", MANY},
    {10, 256, 0, "Q2_K", MANY},
    {11, 256, 0, "Q3_K", MANY},
    {12, 256, 0, "Q4_K", MANY},
    {13, 256, 0, "Q5_K", MANY},
    {14, 256, 0, "Q6_K", MANY},
    {15, 256, 0, "Q8_K", MANY},
    {16, 256, 0, "IQ2_XXS", MANY},
    {17, 256, 0, "IQ2_XS", MANY},
    {18, 256, 0, "IQ3_XXS", MANY},
    {19, 256, 0, "IQ1_S",
     "its weights have three values, but shifted by an amount for each group of 32 weights, so they are not "
     "-s, 0 and s; use a file of the model with TQ2_0, F16 or BF16 weights"},
    {20, 32, 0, "IQ4_NL", MANY},
    {21, 256, 0, "IQ3_S", MANY},
    {22, 256, 0, "IQ2_S", MANY},
    {23, 256, 0, "IQ4_XS", MANY},
    {TERNARY_GGUF_I8, 1, 1, "I8", READ},
    {25, 1, 0, "I16", TERNARY_WHOLE_NUMBERS},
    {26, 1, 0, "I32", TERNARY_WHOLE_NUMBERS},
    {27, 1, 0, "I64", TERNARY_WHOLE_NUMBERS},
    {TERNARY_GGUF_F64, 1, 8, "F64", READ},
    {29, 256, 0, "IQ1_M",
     "its weights have three values, but shifted by an amount for each group of 8 weights, so they are not "
     "-s, 0 and s; use a file of the model with TQ2_0, F16 or BF16 weights"},
    {TERNARY_GGUF_BF16, 1, 2, "BF16", READ},
    {31, 1, 0, "Q4_0_4_4", REMOVED},
    {32, 1, 0, "Q4_0_4_8", REMOVED},
    {33, 1, 0, "Q4_0_8_8", REMOVED},
    {TERNARY_GGUF_TQ1_0, 256, 54, "TQ1_0", READ},
    {TERNARY_GGUF_TQ2_0, 256, 66, "TQ2_0", READ},
    /* In llama.cpp the numbers 36 to 38 were types that were only in memory, so in a file they are bitnet.cpp's. */
    {36, 1, 0, "I2_S", BITNET_CPP},
    {37, 1, 0, "I8_S", BITNET_CPP},
    {38, 1, 0, "TL1", BITNET_CPP},
    {39, 1, 0, "MXFP4",
     "its weights are 4-bit floating-point numbers (E2M1) with an exponent for each 32, so they "
     "have more values than -1, 0 and 1; bitnet.cpp has the same number for TL2, which is not read "
     "either"},
    {40, 64, 0, "NVFP4",
     "its weights are 4-bit floating-point numbers (E2M1) with a scale for each 16, so they have "
     "more values than -1, 0 and 1"},
    {41, 128, 0, "Q1_0",
     "its weights are -s and s in one bit, with a scale for each 128; Collet has one scale for "
     "each row, and no binary format"},
    {TERNARY_GGUF_Q2_0, 64, 0, "Q2_0", READ},
    {142, 128, 0, "PQ2_0", HADAMARD},
    {143, 128, 0, "PTQ1_0", HADAMARD},
};

const ternary_gguf_type *ternary_gguf_type_find(uint32_t id)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].id == id)
            return &types[i];
    return NULL;
}

const char *ternary_gguf_type_reason(uint32_t id)
{
    const ternary_gguf_type *known = ternary_gguf_type_find(id);

    return known ? known->reason
                 : "this version of Collet does not know the number of the type; use a file of the "
                   "model with TQ2_0, Q2_0, F16 or BF16 weights";
}

const char *ternary_gguf_type_name(uint32_t id, char text[24])
{
    const ternary_gguf_type *known = ternary_gguf_type_find(id);

    if (known)
        return known->name;
    snprintf(text, 24, "type %u", (unsigned)id);
    return text;
}

#define TWO "Q2_0 has two layouts, 64 weights in 18 bytes (llama.cpp) and 128 in 34 (PrismML), and "

static const ternary_gguf_block layouts[] = {{64, 18}, {128, 34}};
enum { LAYOUTS = 2, ALL = (1 << LAYOUTS) - 1 };

static int compare_offsets(const void *a, const void *b)
{
    uint64_t x = ((const ternary_gguf_extent *)a)->offset;
    uint64_t y = ((const ternary_gguf_extent *)b)->offset;

    return x < y ? -1 : x > y;
}

/* 1 if the tensor, followed by the padding of the alignment, ends at `end`; with `exact` also if the tensor alone ends
 * at `end`. */
static int ends_at(const ternary_gguf_extent *e, const ternary_gguf_block *layout, uint64_t end,
                   uint64_t alignment, int exact)
{
    uint64_t weights, bytes;

    if (e->columns % layout->weights != 0 || end < e->offset ||
        __builtin_mul_overflow(e->rows, e->columns, &weights) ||
        __builtin_mul_overflow(weights / layout->weights, layout->bytes, &bytes))
        return 0;
    uint64_t have = end - e->offset, padding = (alignment - bytes % alignment) % alignment;
    return (exact && have == bytes) || (have >= bytes && have - bytes == padding);
}

/* Returns a bit for each layout that the tensor fits. */
static unsigned fits(const ternary_gguf_extent *e, uint64_t end, uint64_t alignment, int exact)
{
    unsigned found = 0;

    for (unsigned i = 0; i < LAYOUTS; i++)
        found |= (unsigned)ends_at(e, &layouts[i], end, alignment, exact) << i;
    return found;
}

const ternary_gguf_block *ternary_gguf_layout(ternary_gguf_extent *extents, uint64_t count,
                                              uint64_t alignment, uint64_t size, const char **fault)
{
    unsigned left = ALL;
    uint64_t last;

    qsort(extents, (size_t)count, sizeof *extents, compare_offsets);
    for (last = count; last > 0 && extents[last - 1].offset == extents[count - 1].offset;)
        last--;
    for (uint64_t i = 0, next = 0; i < last; i++) {
        for (next = next > i ? next : i + 1; extents[next].offset == extents[i].offset;)
            next++;
        if (extents[i].rows > 0)
            left &= fits(&extents[i], extents[next].offset, alignment, 0);
    }
    for (uint64_t i = last, both = left == ALL; both && i < count; i++)
        if (extents[i].rows > 0)
            left &= fits(&extents[i], size, alignment, 1);
    *fault = left == ALL ? TWO
                 "the offsets of the file's tensors fit both; convert the model again, to TQ2_0"
                         : TWO "the offsets of the file's tensors fit neither: the file is damaged "
                               "or truncated, or has "
                               "gaps; convert the model again";
    return left == 1 ? &layouts[0] : left == 2 ? &layouts[1] : NULL;
}
