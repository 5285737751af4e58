/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_ternary_pack.c, tests/tools/test_ternary_errors.c */
#include <collet/ops/ternary.h>

#include "report.h"

#include "options.h"

#include "common/json_add.h"
#include "common/output.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *kind_of(const ternary_report *report)
{
    static const char *const kinds[] = {[COLLET_TERNARY_FILE_T2] = "t2",
                                        [COLLET_TERNARY_FILE_NPY] = "npy",
                                        [COLLET_TERNARY_FILE_GGUF] = "gguf",
                                        [COLLET_TERNARY_FILE_SAFETENSORS] = "safetensors"};

    return kinds[report->info.kind];
}

collet_status ternary_report_begin(ternary_report *report, const char *name,
                                   const collet_ternary_file *file, collet_error *err)
{
    *report = (ternary_report){.name = name, .info.struct_size = sizeof report->info};
    collet_ternary_file_get_info(file, &report->info);
    report->layers = calloc((size_t)report->info.count + 1, sizeof *report->layers);
    return report->layers ? (collet_status)COLLET_OK
                          : collet_fail(err, COLLET_NO_MEMORY, "out of memory for %lld layers",
                                        (long long)report->info.count);
}

collet_status ternary_print_json(cJSON *object, collet_error *err)
{
    int printed = tool_print_json(object);

    cJSON_Delete(object);
    return printed ? (collet_status)COLLET_OK
                   : collet_fail(err, COLLET_NO_MEMORY, "out of memory for the report");
}

/* 1 for rows in a format of `pack --format`. */
static int is_packed(const collet_ternary_matrix *m)
{
    return m->content == COLLET_TERNARY_PACKED && m->format < COLLET_TERNARY_FORMATS;
}

/* Returns the type's name in `pack --format` and NumPy; its name in the file for other packed types. */
static const char *type_of(const collet_ternary_matrix *m)
{
    return is_packed(m)                          ? ternary_format_word(m->format)
           : m->content == COLLET_TERNARY_PACKED ? m->type
                                                 : collet_dtype_name(m->dtype);
}

/* ---- Sizes --------------------------------------------------------------------------------- */

static double weights_in(const collet_ternary_matrix *m)
{
    return (double)m->rows * (double)m->columns;
}

static double bytes_of(const collet_ternary_matrix *m)
{
    return (double)m->rows * (double)m->row_bytes;
}

/* Returns the number of bits of a weight in its type. Rows that do not fill their last block need more. */
static double bits_of_type(const collet_ternary_matrix *m)
{
    enum { BLOCK = 256 };

    return is_packed(m) ? 8.0 * (double)collet_ternary_bytes(m->format, BLOCK) / (double)BLOCK
                        : 8 * bytes_of(m) / weights_in(m);
}

static double bits_of_padding(const collet_ternary_matrix *m)
{
    return 8 * bytes_of(m) / weights_in(m) - bits_of_type(m);
}

typedef struct memory {
    double weights, padding, packed; /* bytes stored, padding included */
} memory;

/* Types for comparison: the report states the memory that the weights would need in each type. */
static const struct {
    const char *name;
    double bytes; /* the size of a weight */
} others[] = {{"int8", 1}, {"fp16", 2}, {"fp32", 4}};
#define OTHERS (sizeof others / sizeof *others)

static memory measure(const ternary_report *report)
{
    memory m = {0};

    for (int64_t i = 0; i < report->count; i++) {
        const collet_ternary_matrix *from = &report->layers[i].matrix;
        m.weights += weights_in(from);
        m.packed += bytes_of(from);
        m.padding += bits_of_padding(from) * weights_in(from) / 8;
    }
    return m;
}

/* Returns the size of the file if it is a .t2 file, otherwise the size of the matrix. */
static double bytes_reported(const ternary_report *report)
{
    return report->info.kind == COLLET_TERNARY_FILE_T2 ? (double)report->info.bytes
                                                       : bytes_of(&report->layers[0].matrix);
}

/* ---- Text ---------------------------------------------------------------------------------- */

static void print_layer(const ternary_report_layer *l, int64_t index)
{
    const collet_ternary_matrix *m = &l->matrix;
    const collet_ternary_counts *c = &l->counts;
    double weights = weights_in(m);

    printf("layer %" PRId64 "%s%s: %" PRId64 " x %" PRId64 " %s, %.4g bits a weight", index,
           m->name[0] ? " " : "", m->name, m->rows, m->columns, type_of(m), bits_of_type(m));
    if (bits_of_padding(m) > 0)
        printf(" + %.3g of padding", bits_of_padding(m));
    if (m->in_network) {
        printf("%s%s%s, activations %s", m->has_scale ? ", scale" : "", m->has_bias ? ", bias" : "",
               m->relu ? ", relu" : "", ternary_activations_word(m->activations));
        if (m->threshold > 0)
            printf(":%g", (double)m->threshold);
    }
    putchar('\n');
    if (l->counted)
        printf("  -1 %.2f %%, 0 %.2f %%, +1 %.2f %%, invalid codes %" PRId64 "\n",
               100 * (double)c->minus / weights, 100 * (double)c->zero / weights,
               100 * (double)c->plus / weights, c->invalid);
}

static void print_bytes(const char *name, double bytes, double packed)
{
    char size[TOOL_SIZE_TEXT];

    printf("  %-14s %10s %8.2f x\n", name, tool_size_format(size, bytes), bytes / packed);
}

static void print_memory(const ternary_report *report)
{
    memory m = measure(report);
    int packed = report->layers[0].matrix.content == COLLET_TERNARY_PACKED;
    char size[TOOL_SIZE_TEXT];

    printf("memory of %.0f weights\n", m.weights);
    print_bytes(packed ? "as packed here" : "as it is here", m.packed, m.packed);
    for (size_t i = 0; i < OTHERS; i++)
        print_bytes(others[i].name, others[i].bytes * m.weights, m.packed);
    if (m.padding > 0)
        printf("%s of what is packed here pads rows to whole blocks\n",
               tool_size_format(size, m.padding));
}

static void print_text(const ternary_report *report)
{
    printf("%s: %s, %.0f bytes, %" PRId64 " layer%s\n", tool_shown(report->name), kind_of(report),
           bytes_reported(report), report->count, report->count == 1 ? "" : "s");
    for (int64_t i = 0; i < report->count; i++)
        print_layer(&report->layers[i], i);
    print_memory(report);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static int add_counts(cJSON *o, const collet_ternary_counts *c)
{
    return json_add_number(o, "minus", (double)c->minus) &&
           json_add_number(o, "zero", (double)c->zero) &&
           json_add_number(o, "plus", (double)c->plus) &&
           json_add_number(o, "invalid", (double)c->invalid);
}

static int add_network(cJSON *o, const collet_ternary_matrix *m)
{
    return json_add_bool(o, "scale", (int32_t)m->has_scale) &&
           json_add_bool(o, "bias", (int32_t)m->has_bias) &&
           json_add_bool(o, "relu", (int32_t)m->relu) &&
           json_add_text(o, "activations", ternary_activations_word(m->activations)) &&
           json_add_number(o, "threshold", (double)m->threshold);
}

static int add_layer(cJSON *list, const ternary_report_layer *l)
{
    const collet_ternary_matrix *m = &l->matrix;
    cJSON *o = json_append_object(list);

    return o && json_add_text(o, "name", m->name) && json_add_number(o, "rows", (double)m->rows) &&
           json_add_number(o, "columns", (double)m->columns) &&
           json_add_text(o, "type", type_of(m)) && json_add_number(o, "bytes", bytes_of(m)) &&
           json_add_number(o, "bits_per_weight", bits_of_type(m)) &&
           json_add_number(o, "padding_bits_per_weight", bits_of_padding(m)) &&
           (!l->counted || add_counts(o, &l->counts)) && (!m->in_network || add_network(o, m));
}

static cJSON *make_json(const ternary_report *report)
{
    memory m = measure(report);
    cJSON *root = cJSON_CreateObject();
    cJSON *layers = root ? cJSON_AddArrayToObject(root, "layers") : NULL;
    cJSON *bytes = root ? cJSON_AddObjectToObject(root, "memory") : NULL;
    int fine = layers && bytes && json_add_text(root, "file", report->name) &&
               json_add_text(root, "kind", kind_of(report)) &&
               json_add_number(root, "bytes", bytes_reported(report)) &&
               json_add_number(bytes, "weights", m.weights) &&
               json_add_number(bytes, "packed", m.packed) &&
               json_add_number(bytes, "padding", m.padding);

    for (size_t i = 0; fine && i < OTHERS; i++)
        fine = json_add_number(bytes, others[i].name, others[i].bytes * m.weights);
    for (int64_t i = 0; fine && i < report->count; i++)
        fine = add_layer(layers, &report->layers[i]);
    if (fine)
        return root;
    cJSON_Delete(root);
    return NULL;
}

collet_status ternary_report_print(const ternary_report *report, int json, collet_error *err)
{
    if (json)
        return ternary_print_json(make_json(report), err);
    print_text(report);
    return COLLET_OK;
}

/* ---- Tensors ------------------------------------------------------------------------------- */

static int add_tensor(cJSON *list, const collet_ternary_matrix *m)
{
    cJSON *o = json_append_object(list);
    double shape[COLLET_MAX_DIMS];

    for (int32_t i = 0; i < m->ndim; i++)
        shape[i] = (double)m->shape[i];
    return o && json_add_item(o, "shape", cJSON_CreateDoubleArray(shape, m->ndim)) &&
           json_add_text(o, "name", m->name) && json_add_text(o, "type", m->type) &&
           (!m->fault || json_add_text(o, "fault", m->fault));
}

static cJSON *tensors_json(const ternary_report *report)
{
    cJSON *root = cJSON_CreateObject();
    cJSON *tensors = root ? cJSON_AddArrayToObject(root, "tensors") : NULL;
    int fine = tensors && json_add_text(root, "file", report->name) &&
               json_add_text(root, "kind", kind_of(report));

    if (fine && report->info.version > 0)
        fine = json_add_number(root, "version", report->info.version);
    if (fine && report->info.parts > 0)
        fine = json_add_number(root, "part", report->info.part) &&
               json_add_number(root, "parts", report->info.parts);
    for (int64_t i = 0; fine && i < report->count; i++)
        fine = add_tensor(tensors, &report->layers[i].matrix);
    if (fine)
        return root;
    cJSON_Delete(root);
    return NULL;
}

static void print_tensor(const collet_ternary_matrix *m)
{
    printf("  %-8s %s", m->type, m->ndim > 0 ? "" : "-");
    for (int32_t i = 0; i < m->ndim; i++)
        printf("%s%" PRId64, i > 0 ? " x " : "", m->shape[i]);
    printf("  %s", m->name);
    if (m->fault)
        printf("  (not read: %s)", m->fault);
    putchar('\n');
}

collet_status ternary_report_tensors(const ternary_report *report, int json, collet_error *err)
{
    int64_t faulty = 0;

    if (json)
        return ternary_print_json(tensors_json(report), err);
    printf("%s: %s", tool_shown(report->name), kind_of(report));
    if (report->info.version > 0)
        printf(" version %u", report->info.version);
    printf(", %" PRId64 " tensor%s", report->count, report->count == 1 ? "" : "s");
    for (int64_t i = 0; i < report->count; i++)
        faulty += report->layers[i].matrix.fault != NULL;
    if (faulty > 0)
        printf(", %" PRId64 " of them cannot be read", faulty);
    if (report->info.parts > 0)
        printf("; part %u of %u of a split file", report->info.part, report->info.parts);
    putchar('\n');
    for (int64_t i = 0; i < report->count; i++)
        print_tensor(&report->layers[i].matrix);
    return COLLET_OK;
}
