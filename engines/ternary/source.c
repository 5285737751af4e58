/* SPDX-License-Identifier: Apache-2.0 */
#include "ternary/source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Opening --------------------------------------------------------------------------------- */

static collet_status take_layer(ternary_source *source, int64_t index)
{
    source->packed = ternary_packed_of_layer(&source->file->t2, (uint32_t)index);
    source->content = COLLET_TERNARY_PACKED;
    source->rows = source->packed.rows;
    source->columns = source->packed.columns;
    return COLLET_OK;
}

static collet_status take_array(ternary_source *source, collet_error *err)
{
    const collet_npy *npy = &source->file->npy;

    if (npy->ndim < 1 || npy->ndim > 2)
        return collet_fail(err, COLLET_SHAPE,
                           "%s: has %d axes; weights have 2, rows and columns, or 1, a row",
                           source->text, npy->ndim);
    source->dtype = npy->dtype;
    source->rows = npy->ndim == 2 ? npy->rows : 1;
    source->columns = npy->ndim == 2 ? npy->row_elements : npy->rows;
    if (npy->dtype == COLLET_I8)
        source->content = COLLET_TERNARY_CODES;
    else if (npy->dtype != COLLET_F16 && npy->dtype != COLLET_F32 && npy->dtype != COLLET_F64)
        return collet_fail(err, COLLET_DTYPE,
                           "%s: has elements of %s; weights are f2, f4 or f8, codes i1",
                           source->text, collet_dtype_name(npy->dtype));
    return COLLET_OK;
}

static collet_status take_tensor(ternary_source *source, int64_t index, collet_error *err)
{
    const collet_gguf *gguf = &source->file->gguf;
    const collet_gguf_tensor *tensor = &gguf->tensors[index];
    char name[24];

    source->tensor = tensor;
    source->rows = tensor->rows;
    source->columns = tensor->columns;
    switch (tensor->type) {
    case COLLET_GGUF_TQ2_0:
    case COLLET_GGUF_TQ1_0:
        source->content = COLLET_TERNARY_PACKED;
        source->packed = ternary_packed_of_tensor(gguf, tensor, source->text);
        return COLLET_OK;
    case COLLET_GGUF_F16:
        source->dtype = COLLET_F16;
        return COLLET_OK;
    case COLLET_GGUF_BF16:
        source->dtype = COLLET_BF16;
        return COLLET_OK;
    case COLLET_GGUF_F32:
        source->dtype = COLLET_F32;
        return COLLET_OK;
    case COLLET_GGUF_F64:
        source->dtype = COLLET_F64;
        return COLLET_OK;
    case COLLET_GGUF_I8:
        source->dtype = COLLET_I8;
        source->content = COLLET_TERNARY_CODES;
        return COLLET_OK;
    default:
        return collet_fail(err, COLLET_UNSUPPORTED,
                           "%s: is of %s; TQ2_0, TQ1_0, F16, BF16, F32, F64 and I8 are read",
                           source->text, collet_gguf_type_name(tensor->type, name));
    }
}

/* The path, or "FILE:TENSOR". */
static char *make_text(const collet_ternary_file *file, int64_t index)
{
    const char *path = ternary_file_path(file);
    char name[COLLET_GGUF_NAME], *text;

    if (file->kind != COLLET_TERNARY_FILE_GGUF)
        return strdup(path);
    collet_gguf_name(&file->gguf.tensors[index], name);
    text = malloc(strlen(path) + strlen(name) + 2);
    if (text)
        sprintf(text, "%s:%s", path, name);
    return text;
}

collet_status ternary_source_open(const collet_ternary_file *file, int64_t index,
                                  ternary_source *out, collet_error *err)
{
    *out = (ternary_source){.file = file, .content = COLLET_TERNARY_NUMBERS};
    collet_status status = ternary_file_check_index(file, index, err);
    if (status != COLLET_OK)
        return status;
    out->text = make_text(file, index);
    if (!out->text)
        status = collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for its name",
                             ternary_file_path(file));
    else if (file->kind == COLLET_TERNARY_FILE_T2)
        status = take_layer(out, index);
    else if (file->kind == COLLET_TERNARY_FILE_GGUF)
        status = take_tensor(out, index, err);
    else
        status = take_array(out, err);
    if (status == COLLET_OK && (out->rows < 1 || out->columns < 1))
        status = collet_fail(err, COLLET_SHAPE, "%s: has no weights", out->text);
    if (status != COLLET_OK)
        ternary_source_close(out);
    return status;
}

void ternary_source_close(ternary_source *source)
{
    free(source->text);
    *source = (ternary_source){0};
}

int64_t ternary_source_row_bytes(const ternary_source *source)
{
    return source->content == COLLET_TERNARY_PACKED
               ? source->packed.row_bytes
               : source->columns * (int64_t)collet_dtype_size(source->dtype);
}

collet_status ternary_verify(ternary_call *call, const collet_t2_file *file, int64_t index)
{
    return collet_t2_verify(file, (uint32_t)index, ternary_call_stopped, call, &call->error);
}

int64_t ternary_layer_work(const collet_t2_file *file, uint32_t index)
{
    const collet_t2_layer *layer = &file->layers[index];

    /* Of t2 the padding is checked too. */
    return layer->rows *
           (layer->format == COLLET_TERNARY_T2 ? 4 * (int64_t)layer->row_bytes : layer->columns);
}

/* ---- Rows ---------------------------------------------------------------------------------- */

void ternary_source_rows(const ternary_source *source, int64_t first, int64_t count, void *out)
{
    if (source->tensor) {
        uint64_t row = (uint64_t)source->columns * collet_dtype_size(source->dtype);
        uint64_t offset = source->tensor->offset + (uint64_t)first * row;
        memcpy(out, collet_mapping_data(source->file->gguf.mapping) + offset,
               (uint64_t)count * row);
        collet_mapping_passed(source->file->gguf.mapping, offset, (uint64_t)count * row);
        return;
    }
    const collet_npy *npy = &source->file->npy;
    if (npy->ndim == 1) { /* its rows are the elements */
        first = 0;
        count = npy->rows;
    }
    collet_npy_rows(npy, first, count, out);
    collet_npy_passed(npy, first, count);
}

static double half_number(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = exponent == 31  ? (fraction ? NAN : INFINITY)
                   : exponent == 0 ? ldexp(fraction, -24)
                                   : ldexp(fraction + 1024, exponent - 25);

    return bits & 0x8000 ? -value : value;
}

double ternary_number(collet_dtype dtype, const void *elements, int64_t index)
{
    const uint8_t *at = (const uint8_t *)elements + (size_t)index * collet_dtype_size(dtype);
    uint32_t word = 0;
    uint16_t half;
    float single;
    double number;
    int64_t whole;
    int32_t small;

    switch (dtype) {
    case COLLET_F16:
        memcpy(&half, at, sizeof half);
        return half_number(half);
    case COLLET_BF16:
        memcpy(&half, at, sizeof half);
        word = (uint32_t)half << 16;
        memcpy(&single, &word, sizeof single);
        return (double)single;
    case COLLET_F32:
        memcpy(&single, at, sizeof single);
        return (double)single;
    case COLLET_F64:
        memcpy(&number, at, sizeof number);
        return number;
    case COLLET_I8:
        return (double)(int8_t)*at;
    case COLLET_U8:
        return (double)*at;
    case COLLET_I32:
        memcpy(&small, at, sizeof small);
        return (double)small;
    default:
        memcpy(&whole, at, sizeof whole);
        return (double)whole;
    }
}

collet_status ternary_source_complain(const ternary_source *source, int64_t first, int64_t count,
                                      const void *rows, collet_error *err)
{
    double value = 0;
    int64_t i = 0;

    for (; i < count * source->columns; i++) {
        value = ternary_number(source->dtype, rows, i);
        if (source->content == COLLET_TERNARY_NUMBERS ? !isfinite(value) : !(fabs(value) <= 1))
            break;
    }
    return collet_fail(
        err, COLLET_INVALID, "%s: row %lld, column %lld is %g; %s", source->text,
        (long long)(first + i / source->columns), (long long)(i % source->columns), value,
        source->content == COLLET_TERNARY_NUMBERS ? "weights are finite" : "codes are -1, 0 and 1");
}

/* ---- Scales and biases --------------------------------------------------------------------- */

collet_status ternary_read_floats(const char *path, const char *what, int64_t count,
                                  int one_for_all, float *out, collet_error *err)
{
    collet_npy npy;
    collet_status status = collet_npy_open(path, &npy, err);

    if (status != COLLET_OK)
        return status;
    int64_t have = npy.rows * npy.row_elements;
    int floats = npy.dtype == COLLET_F16 || npy.dtype == COLLET_F32 || npy.dtype == COLLET_F64;
    void *raw = malloc((size_t)have * collet_dtype_size(npy.dtype) + 1);
    if (!raw)
        status = collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to read it", path);
    else if (!floats)
        status = collet_fail(err, COLLET_DTYPE, "%s: has elements of %s; a %s is f2, f4 or f8",
                             path, collet_dtype_name(npy.dtype), what);
    else if (npy.ndim > 1 || (have != count && !(one_for_all && have == 1)))
        status = collet_fail(err, COLLET_SHAPE,
                             "%s: has %lld numbers on %d axes; a %s has %lld on one, one for each "
                             "row of weights",
                             path, (long long)have, npy.ndim, what, (long long)count);
    if (status == COLLET_OK)
        collet_npy_rows(&npy, 0, npy.rows, raw);
    for (int64_t i = 0; status == COLLET_OK && i < count; i++) {
        out[i] = (float)ternary_number(npy.dtype, raw, have == 1 ? 0 : i);
        if (!isfinite(out[i]))
            status = collet_fail(err, COLLET_INVALID, "%s: number %lld is %g; a %s is finite", path,
                                 (long long)i, (double)out[i], what);
    }
    free(raw);
    collet_npy_close(&npy);
    return status;
}
