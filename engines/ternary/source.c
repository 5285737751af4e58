/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_ternary_files.c, tests/engines/test_ternary_q2_0.c,
 * tests/engines/test_ternary_safetensors.c */
#include <collet/ops/ternary.h>

#include "ternary/source.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCALE_BYTES 2

/* Codes of the formats that only files of other programs have. Two bits hold a code + 1, so the codes are -1, 0, 1
 * and 2. */

/* Returns the bytes of a block of Q2_0: a scale in f16, then 2 bits for each weight, with the first weight in the
 * lowest bits. */
static int64_t ternary_decode_bytes(int64_t weights)
{
    return SCALE_BYTES + weights / 4;
}

/* Stores the codes of adjacent blocks of Q2_0 with `weights` weights each (a multiple of 4). */
static void ternary_decode_q2_0(const uint8_t *bytes, int64_t blocks, int64_t weights,
                                int8_t *codes)
{
    for (int64_t b = 0; b < blocks; b++, bytes += ternary_decode_bytes(weights))
        for (int64_t i = 0; i < weights / 4; i++, codes += 4)
            for (int k = 0; k < 4; k++)
                codes[k] = (int8_t)((bytes[SCALE_BYTES + i] >> 2 * k & 3) - 1);
}

/* Stores the codes of rows first .. first + count - 1 of a BitNet matrix of 4 x `quarter` rows: byte row r has the
 * codes of row r + i quarter in its bits 2i. */
static void ternary_decode_bitnet(const uint8_t *bytes, int64_t quarter, int64_t columns,
                                  int64_t first, int64_t count, int8_t *codes)
{
    for (int64_t r = first; r < first + count; r++, codes += columns) {
        const uint8_t *row = bytes + r % quarter * columns;
        int shift = (int)(2 * (r / quarter));
        for (int64_t c = 0; c < columns; c++)
            codes[c] = (int8_t)((row[c] >> shift & 3) - 1);
    }
}

#define AT_A_TIME ((int64_t)1 << 20)
#define BLOCK 256 /* weights of a block, which has one scale, in tq2_0 and tq1_0 */

/* ---- Opening --------------------------------------------------------------------------------- */

static void take_layer(ternary_source *source, int64_t index)
{
    const ternary_t2_file *file = &source->file->t2;
    const ternary_t2_layer *layer = &file->layers[index];

    source->content = COLLET_TERNARY_PACKED;
    source->format = layer->format;
    source->rows = layer->rows;
    source->columns = layer->columns;
    source->bytes = ternary_t2_weights(file, (uint32_t)index);
    source->scale = ternary_t2_scale(file, (uint32_t)index);
}

static collet_status take_array(ternary_source *source, collet_error *err)
{
    const io_npy *npy = &source->file->npy;

    if (npy->ndim < 1 || npy->ndim > 2)
        return collet_fail(
            err, COLLET_SHAPE,
            "%s: the array has %d axes; weights must have 2, rows and columns, or 1, a row",
            source->text, npy->ndim);
    source->dtype = npy->dtype;
    source->rows = npy->ndim == 2 ? npy->rows : 1;
    source->columns = npy->ndim == 2 ? npy->row_elements : npy->rows;
    if (npy->dtype == COLLET_I8)
        source->content = COLLET_TERNARY_CODES;
    else if (npy->dtype != COLLET_F16 && npy->dtype != COLLET_F32 && npy->dtype != COLLET_F64)
        return collet_fail(err, COLLET_DTYPE,
                           "%s: the elements are %s; weights must be f2, f4 or f8, and codes i1",
                           source->text, collet_dtype_name(npy->dtype));
    return COLLET_OK;
}

static collet_status take_tensor(ternary_source *source, int64_t index, collet_error *err)
{
    static const struct {
        uint32_t type, content, format;
        collet_dtype dtype;
    } types[] = {
        {TERNARY_GGUF_TQ2_0, COLLET_TERNARY_PACKED, COLLET_TERNARY_TQ2_0, COLLET_DTYPE_NONE},
        {TERNARY_GGUF_TQ1_0, COLLET_TERNARY_PACKED, COLLET_TERNARY_TQ1_0, COLLET_DTYPE_NONE},
        {TERNARY_GGUF_Q2_0, COLLET_TERNARY_PACKED, COLLET_TERNARY_Q2_0, COLLET_DTYPE_NONE},
        {TERNARY_GGUF_F16, COLLET_TERNARY_NUMBERS, 0, COLLET_F16},
        {TERNARY_GGUF_BF16, COLLET_TERNARY_NUMBERS, 0, COLLET_BF16},
        {TERNARY_GGUF_F32, COLLET_TERNARY_NUMBERS, 0, COLLET_F32},
        {TERNARY_GGUF_F64, COLLET_TERNARY_NUMBERS, 0, COLLET_F64},
        {TERNARY_GGUF_I8, COLLET_TERNARY_CODES, 0, COLLET_I8},
    };
    const ternary_gguf *gguf = &source->file->gguf;
    const ternary_gguf_tensor *tensor = &gguf->tensors[index];
    char name[24];
    collet_status status;
    const char *fault = ternary_gguf_fault(tensor, &status);

    if (tensor->fault)
        return collet_fail(err, status, "%s: %s", source->text, fault);
    if (fault)
        return collet_fail(err, status, "%s: %s%s is not supported: %s", source->text,
                           ternary_gguf_type_find(tensor->type) ? "type " : "",
                           ternary_gguf_type_name(tensor->type, name), fault);
    ternary_gguf_name(tensor, source->name);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == tensor->type) {
            source->content = types[i].content;
            source->format = types[i].format;
            source->dtype = types[i].dtype;
            source->has_blocks = source->content == COLLET_TERNARY_PACKED;
            source->rows = tensor->rows;
            source->columns = tensor->columns;
            source->bytes = io_mapping_data(gguf->mapping) + tensor->offset;
        }
    if (source->has_blocks)
        source->block = tensor->block;
    if (source->format == COLLET_TERNARY_Q2_0 && tensor->block == 128)
        source->format = COLLET_TERNARY_Q2_0_128;
    return COLLET_OK;
}

/* Sets the scale and the bias of a BitNet tensor, for each row. */
static collet_status take_bitnet(ternary_source *source, const ternary_safetensors_tensor *tensor,
                                 const uint8_t *data, collet_error *err)
{
    size_t size = (size_t)tensor->rows * sizeof(float);

    source->content = COLLET_TERNARY_PACKED;
    source->format = COLLET_TERNARY_BITNET;
    source->dtype = COLLET_DTYPE_NONE;
    source->scale = source->own_scale = malloc(size);
    source->own_bias = tensor->bias ? malloc(size) : NULL;
    if (!source->own_scale || (tensor->bias && !source->own_bias))
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for its scales", source->text);
    for (int64_t r = 0; r < tensor->rows; r++)
        source->scale[r] = tensor->scale;
    for (int64_t r = 0; tensor->bias && r < tensor->rows; r++) {
        float number = source->own_bias[r] =
            (float)ternary_number(tensor->bias->dtype, data + tensor->bias->offset, r);
        if (!isfinite(number))
            return collet_fail(
                err, COLLET_INVALID,
                "%s: number %lld of the layer's bias is %g; it must be finite in f32", source->text,
                (long long)r, (double)number);
    }
    return COLLET_OK;
}

static collet_status take_safetensor(ternary_source *source, int64_t index, collet_error *err)
{
    const ternary_safetensors *file = &source->file->safetensors;
    const ternary_safetensors_tensor *tensor = &file->tensors[index];
    uint8_t *data = io_mapping_data(file->mapping);

    if (tensor->fault)
        return collet_fail(err, tensor->fault_status, "%s: %s", source->text, tensor->fault);
    if (tensor->reason)
        return collet_fail(err, COLLET_UNSUPPORTED, "%s: type %s is not supported: %s",
                           source->text, tensor->type, tensor->reason);
    ternary_tensor_name(tensor->name, strlen(tensor->name), source->name);
    source->rows = tensor->rows;
    source->columns = tensor->columns;
    source->dtype = tensor->dtype;
    source->bytes = data + tensor->offset;
    source->content = tensor->dtype == COLLET_I8 ? COLLET_TERNARY_CODES : COLLET_TERNARY_NUMBERS;
    return tensor->dtype == COLLET_U8 ? take_bitnet(source, tensor, data, err)
                                      : (collet_status)COLLET_OK;
}

/* Returns the bytes of a row; 0 if the formats of packed rows do not support such a row. */
static int64_t row_bytes(const ternary_source *source)
{
    if (source->content != COLLET_TERNARY_PACKED)
        return source->columns * (int64_t)collet_dtype_size(source->dtype);
    if (source->format == COLLET_TERNARY_BITNET)
        return (source->columns + 3) / 4;
    return source->format >= COLLET_TERNARY_FORMATS
               ? source->columns / source->block * ternary_decode_bytes(source->block)
               : collet_ternary_bytes(source->format, source->columns);
}

static char *make_text(const collet_ternary_file *file, int64_t index)
{
    const char *path = ternary_file_path(file);
    char name[TERNARY_TENSOR_NAME] = "";
    size_t size = strlen(path) + sizeof name + 32;
    char *text = malloc(size);

    if (text && file->kind == COLLET_TERNARY_FILE_T2)
        snprintf(text, size, "%s: layer %lld", path, (long long)index);
    else if (text && file->kind == COLLET_TERNARY_FILE_SAFETENSORS)
        snprintf(text, size, "%s:%s", path,
                 ternary_tensor_name(file->safetensors.tensors[index].name,
                                     strlen(file->safetensors.tensors[index].name), name));
    else if (text && file->kind == COLLET_TERNARY_FILE_GGUF)
        snprintf(text, size, "%s:%s", path, ternary_gguf_name(&file->gguf.tensors[index], name));
    else if (text)
        strcpy(text, path);
    return text;
}

collet_status ternary_source_open(const collet_ternary_file *file, int64_t index,
                                  ternary_source *out, collet_error *err)
{
    *out = (ternary_source){.file = file, .content = COLLET_TERNARY_NUMBERS, .block = BLOCK};
    collet_status status = ternary_file_check_index(file, index, err);
    if (status != COLLET_OK)
        return status;
    out->text = make_text(file, index);
    if (!out->text)
        status = collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for its name",
                             ternary_file_path(file));
    else if (file->kind == COLLET_TERNARY_FILE_T2)
        take_layer(out, index);
    else if (file->kind == COLLET_TERNARY_FILE_GGUF)
        status = take_tensor(out, index, err);
    else if (file->kind == COLLET_TERNARY_FILE_SAFETENSORS)
        status = take_safetensor(out, index, err);
    else
        status = take_array(out, err);
    if (status == COLLET_OK && (out->rows < 1 || out->columns < 1))
        status = collet_fail(err, COLLET_SHAPE, "%s: the matrix has no weights", out->text);
    if (status != COLLET_OK)
        ternary_source_close(out);
    else
        out->row_bytes = row_bytes(out);
    return status;
}

void ternary_source_close(ternary_source *source)
{
    free(source->text);
    free(source->own_scale);
    free(source->own_bias);
    *source = (ternary_source){0};
}

collet_status ternary_verify(ternary_call *call, const collet_ternary_file *file, int64_t index)
{
    return file->kind == COLLET_TERNARY_FILE_T2
               ? ternary_t2_verify(&file->t2, (uint32_t)index, ternary_call_stopped, call,
                                   &call->error)
               : (collet_status)COLLET_OK;
}

/* ---- Rows ---------------------------------------------------------------------------------- */

int64_t ternary_source_some(const ternary_source *source, int64_t first)
{
    int64_t some = AT_A_TIME / source->columns, left = source->rows - first;

    return some < 1 ? 1 : some < left ? some : left;
}

static void passed(const ternary_source *source, int64_t first, int64_t count)
{
    io_mapping *mapping = source->file->mapping;
    uint64_t offset = (uint64_t)(source->bytes - io_mapping_data(mapping));

    io_mapping_passed(mapping, offset + (uint64_t)(first * source->row_bytes),
                      (uint64_t)(count * source->row_bytes));
}

/* Releases the pages of rows that were read. A byte row has the weights of one row from each quarter of the matrix, so
 * rows of one quarter are in adjacent byte rows. If the rows are in two quarters, all pages are released. */
static void passed_bitnet(const ternary_source *source, int64_t first, int64_t count)
{
    io_mapping *mapping = source->file->mapping;
    uint64_t offset = (uint64_t)(source->bytes - io_mapping_data(mapping));
    int64_t quarter = source->rows / 4, begin = first % quarter, rows = count;

    if (begin + rows > quarter) {
        begin = 0;
        rows = quarter;
    }
    io_mapping_passed(mapping, offset + (uint64_t)(begin * source->columns),
                      (uint64_t)(rows * source->columns));
}

size_t ternary_source_scales(const ternary_source *source, int64_t count)
{
    return (size_t)(count * source->columns / source->block + 1);
}

void ternary_source_rows(const ternary_source *source, int64_t first, int64_t count, void *out)
{
    const io_npy *npy = &source->file->npy;

    if (source->bytes) {
        memcpy(out, source->bytes + first * source->row_bytes, (size_t)(count * source->row_bytes));
        passed(source, first, count);
        return;
    }
    if (npy->ndim == 1) { /* each element is a row of the file */
        first = 0;
        count = npy->rows;
    }
    io_npy_rows(npy, first, count, out);
    io_npy_passed(npy, first, count);
}

/* Returns INVALID; the text has the first of the `count` rows that has an invalid code. */
static collet_status report_invalid_code(ternary_call *call, const ternary_source *source,
                                         int64_t first, int64_t count, int8_t *codes)
{
    int32_t invalid = 0;
    int64_t row = first;

    for (; row < first + count; row++) {
        collet_status status = ternary_source_codes(call, source, row, 1, codes, NULL, &invalid);
        if (status != COLLET_OK)
            return status;
        if (invalid > 0)
            break;
    }
    return collet_fail(&call->error, COLLET_INVALID,
                       "%s: row %lld has %d weight%s with the invalid code 11", source->text,
                       (long long)row, invalid, invalid == 1 ? "" : "s");
}

/* Decodes rows of a format that only files have: codes -1, 0, 1 and 2, and the scales of blocks. */
static void decode_rows(const ternary_source *source, int64_t first, int64_t count, int8_t *codes,
                        float *block_scale)
{
    if (source->format == COLLET_TERNARY_BITNET) {
        ternary_decode_bitnet(source->bytes, source->rows / 4, source->columns, first, count,
                              codes);
        passed_bitnet(source, first, count);
        return;
    }
    const uint8_t *rows = source->bytes + first * source->row_bytes;
    int64_t blocks = count * source->columns / source->block;

    ternary_decode_q2_0(rows, blocks, source->block, codes);
    for (int64_t i = 0; block_scale && i < blocks; i++)
        block_scale[i] =
            (float)ternary_number(COLLET_F16, rows + i * ternary_decode_bytes(source->block), 0);
    passed(source, first, count);
}

/* Decodes rows; the value 2 becomes 0 and is counted, or, with `invalid` NULL, is an error. */
static collet_status decode_codes(ternary_call *call, const ternary_source *source, int64_t first,
                                  int64_t count, int8_t *codes, float *block_scale,
                                  int32_t *invalid)
{
    decode_rows(source, first, count, codes, block_scale);
    for (int64_t i = 0; i < count * source->columns; i++) {
        if (codes[i] != 2)
            continue;
        if (!invalid)
            return collet_fail(
                &call->error, COLLET_INVALID,
                "%s: the weight in row %lld, column %lld is 2 times the scale, but ternary weights "
                "are -1, 0 and 1 times it: quantize again with --threshold or --absmean",
                source->text, (long long)(first + i / source->columns),
                (long long)(i % source->columns));
        codes[i] = 0;
        ++*invalid;
    }
    return COLLET_OK;
}

collet_status ternary_source_codes(ternary_call *call, const ternary_source *source, int64_t first,
                                   int64_t count, int8_t *codes, float *block_scale,
                                   int32_t *invalid)
{
    int32_t found = 0;

    if (invalid)
        *invalid = 0;
    if (source->content == COLLET_TERNARY_CODES) {
        ternary_source_rows(source, first, count, codes);
        return COLLET_OK;
    }
    if (source->format >= COLLET_TERNARY_FORMATS)
        return decode_codes(call, source, first, count, codes, block_scale, invalid);
    const collet_ternary_format_params params = {sizeof params, source->format};
    int64_t blocks = source->columns / source->block;
    const ternary_operand operands[] = {
        {COLLET_I8, 2, {count, source->columns}, codes},
        {COLLET_F32, 2, {count, blocks}, source->has_blocks ? block_scale : NULL},
        {COLLET_I32, 0, {0}, invalid ? invalid : &found},
        {COLLET_U8, 2, {count, source->row_bytes}, source->bytes + first * source->row_bytes}};
    collet_status status =
        ternary_kernel(call, source->text, COLLET_OP_TERNARY_UNPACK, &params, operands, 3);
    passed(source, first, count);
    return status == COLLET_OK && found > 0 ? report_invalid_code(call, source, first, count, codes)
                                            : status;
}

void ternary_source_values(const ternary_source *source, int64_t first, int64_t count,
                           const int8_t *codes, const float *block_scale, float *values)
{
    int64_t columns = source->columns;

    for (int64_t r = 0; r < count; r++) {
        float scale = source->scale ? source->scale[first + r] : 1;
        for (int64_t c = 0; c < columns; c++) {
            if (source->has_blocks && c % source->block == 0)
                scale = block_scale[(r * columns + c) / source->block];
            values[r * columns + c] = scale * (float)codes[r * columns + c];
        }
    }
}

collet_status ternary_source_numbers(ternary_call *call, const ternary_source *source,
                                     int64_t first, int64_t count, int8_t *codes,
                                     float *block_scale, float *values)
{
    collet_status status = COLLET_OK;

    if (source->format >= COLLET_TERNARY_FORMATS)
        decode_rows(source, first, count, codes, block_scale);
    else
        status = ternary_source_codes(call, source, first, count, codes, block_scale, NULL);
    if (status == COLLET_OK)
        ternary_source_values(source, first, count, codes, block_scale, values);
    return status;
}

const char *ternary_format_name(uint32_t format)
{
    static const char *const names[COLLET_TERNARY_FORMATS] = {"t2", "planes", "rotor", "tq2_0",
                                                              "tq1_0"};

    return names[format];
}

/* ---- Numbers ------------------------------------------------------------------------------- */

collet_status ternary_report_element(const ternary_source *source, collet_dtype dtype,
                                     int64_t first, int64_t count, const void *elements,
                                     collet_error *err)
{
    double value = 0;
    int64_t i = 0;

    for (; i < count * source->columns; i++) {
        value = ternary_number(dtype, elements, i);
        if (dtype == COLLET_I8 ? fabs(value) > 1 : !isfinite(value))
            break;
    }
    return collet_fail(err, COLLET_INVALID, "%s: row %lld, column %lld is %g; %s", source->text,
                       (long long)(first + i / source->columns), (long long)(i % source->columns),
                       value,
                       dtype == COLLET_I8 ? "codes must be -1, 0 or 1" : "weights must be finite");
}
