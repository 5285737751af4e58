/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include "options.h"
#include "io/utf8.h"

#include "common/json_add.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

collet_status ternary_report_begin(ternary_report *report, const char *path, const char *kind,
                                   uint64_t bytes, uint32_t count, collet_error *err)
{
    *report = (ternary_report){.path = path, .kind = kind, .bytes = bytes, .count = count};
    report->layers = calloc(count, sizeof *report->layers);
    return report->layers
               ? (collet_status)COLLET_OK
               : collet_fail(err, COLLET_NO_MEMORY, "out of memory for %u layers", count);
}

void ternary_report_free(ternary_report *report)
{
    free(report->layers);
    memset(report, 0, sizeof *report);
}

collet_status ternary_print_json(cJSON *object, collet_error *err)
{
    char *text = object ? cJSON_Print(object) : NULL;

    cJSON_Delete(object);
    if (!text)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for the report");
    puts(text);
    cJSON_free(text);
    return COLLET_OK;
}

/* ---- Memory beside other types ------------------------------------------------------------- */

typedef struct memory {
    double weights, packed; /* bytes as they are */
    double int8, fp16, fp32;
} memory;

static memory measure(const ternary_report *report)
{
    memory m = {0};

    for (uint32_t i = 0; i < report->count; i++) {
        m.weights += (double)report->layers[i].rows * (double)report->layers[i].columns;
        m.packed += (double)report->layers[i].bytes;
    }
    m.int8 = m.weights;
    m.fp16 = 2 * m.weights;
    m.fp32 = 4 * m.weights;
    return m;
}

/* ---- Text ---------------------------------------------------------------------------------- */

static void print_layer(const ternary_report_layer *l, uint32_t index)
{
    double weights = (double)l->rows * (double)l->columns;

    printf("layer %u%s%s: %" PRId64 " x %" PRId64 " %s, %.3f bits a weight", index,
           l->name[0] ? " " : "", l->name, l->rows, l->columns, l->kind,
           8 * (double)l->bytes / weights);
    if (l->in_network) {
        printf("%s%s%s, activations %s", l->flags & COLLET_T2_SCALE ? ", scale" : "",
               l->flags & COLLET_T2_BIAS ? ", bias" : "", l->flags & COLLET_T2_RELU ? ", relu" : "",
               ternary_activations_name(l->activations));
        if (l->threshold > 0)
            printf(":%g", (double)l->threshold);
    }
    putchar('\n');
    if (l->counted)
        printf("  -1 %.2f %%, 0 %.2f %%, +1 %.2f %%, invalid codes %" PRId64 "\n",
               100 * (double)l->minus / weights, 100 * (double)l->zero / weights,
               100 * (double)l->plus / weights, l->invalid);
}

static void print_memory(const ternary_report *report)
{
    memory m = measure(report);
    const struct {
        const char *name;
        double bytes;
    } rows[] = {{report->layers[0].packed ? "as packed here" : "as it is here", m.packed},
                {"int8", m.int8},
                {"fp16", m.fp16},
                {"fp32", m.fp32}};

    printf("memory of %.0f weights\n", m.weights);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        printf("  %-14s %12.3f MiB %8.2f x\n", rows[i].name, rows[i].bytes / 0x1p20,
               rows[i].bytes / m.packed);
}

static void print_text(const ternary_report *report)
{
    printf("%s: %s, %" PRIu64 " bytes, %u layer%s\n", report->path, report->kind, report->bytes,
           report->count, report->count == 1 ? "" : "s");
    for (uint32_t i = 0; i < report->count; i++)
        print_layer(&report->layers[i], i);
    print_memory(report);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

/* A path may hold any bytes, JSON is UTF-8: others become '?'. */
static int add_path(cJSON *o, const char *path)
{
    char *text = strdup(path);
    size_t length = strlen(path), n;
    int added;

    for (size_t at = 0; text && at < length; at += n ? n : 1) {
        n = collet_utf8_character(text + at, length - at);
        if (n == 0 && (text[at] & 0x80))
            text[at] = '?';
    }
    added = text && json_add_text(o, "file", text);
    free(text);
    return added;
}

static int add_counts(cJSON *o, const ternary_report_layer *l)
{
    return json_add_number(o, "minus", (double)l->minus) &&
           json_add_number(o, "zero", (double)l->zero) &&
           json_add_number(o, "plus", (double)l->plus) &&
           json_add_number(o, "invalid", (double)l->invalid);
}

static int add_network(cJSON *o, const ternary_report_layer *l)
{
    return json_add_bool(o, "scale", (l->flags & COLLET_T2_SCALE) != 0) &&
           json_add_bool(o, "bias", (l->flags & COLLET_T2_BIAS) != 0) &&
           json_add_bool(o, "relu", (l->flags & COLLET_T2_RELU) != 0) &&
           json_add_text(o, "activations", ternary_activations_name(l->activations)) &&
           json_add_number(o, "threshold", (double)l->threshold);
}

static int add_layer(cJSON *list, const ternary_report_layer *l)
{
    cJSON *o = json_append_object(list);
    double weights = (double)l->rows * (double)l->columns;

    return o && json_add_text(o, "name", l->name) && json_add_number(o, "rows", (double)l->rows) &&
           json_add_number(o, "columns", (double)l->columns) && json_add_text(o, "type", l->kind) &&
           json_add_number(o, "bytes", (double)l->bytes) &&
           json_add_number(o, "bits_per_weight", 8 * (double)l->bytes / weights) &&
           (!l->counted || add_counts(o, l)) && (!l->in_network || add_network(o, l));
}

static cJSON *make_json(const ternary_report *report)
{
    memory m = measure(report);
    cJSON *root = cJSON_CreateObject();
    cJSON *layers = root ? cJSON_AddArrayToObject(root, "layers") : NULL;
    cJSON *bytes = root ? cJSON_AddObjectToObject(root, "memory") : NULL;
    int fine = layers && bytes && add_path(root, report->path) &&
               json_add_text(root, "kind", report->kind) &&
               json_add_number(root, "bytes", (double)report->bytes) &&
               json_add_number(bytes, "weights", m.weights) &&
               json_add_number(bytes, "packed", m.packed) &&
               json_add_number(bytes, "int8", m.int8) && json_add_number(bytes, "fp16", m.fp16) &&
               json_add_number(bytes, "fp32", m.fp32);

    for (uint32_t i = 0; fine && i < report->count; i++)
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

static int append_number(cJSON *list, double value)
{
    cJSON *number = cJSON_CreateNumber(value);

    if (number && cJSON_AddItemToArray(list, number))
        return 1;
    cJSON_Delete(number);
    return 0;
}

static int add_tensor(cJSON *list, const collet_gguf_tensor *t)
{
    char name[COLLET_GGUF_NAME], type[24];
    cJSON *o = json_append_object(list);
    cJSON *shape = o ? cJSON_AddArrayToObject(o, "shape") : NULL;
    int fine = shape && json_add_text(o, "name", collet_gguf_name(t, name)) &&
               json_add_text(o, "type", collet_gguf_type_name(t->type, type));

    for (uint32_t i = 0; fine && i < t->ndim; i++)
        fine = append_number(shape, (double)t->shape[i]);
    return fine;
}

static cJSON *tensors_json(const collet_gguf *gguf)
{
    cJSON *root = cJSON_CreateObject();
    cJSON *tensors = root ? cJSON_AddArrayToObject(root, "tensors") : NULL;
    int fine = tensors && add_path(root, collet_mapping_path(gguf->mapping)) &&
               json_add_text(root, "kind", "gguf") &&
               json_add_number(root, "version", gguf->version);

    for (uint64_t i = 0; fine && i < gguf->count; i++)
        fine = add_tensor(tensors, &gguf->tensors[i]);
    if (fine)
        return root;
    cJSON_Delete(root);
    return NULL;
}

static void print_tensor(const collet_gguf_tensor *t)
{
    char name[COLLET_GGUF_NAME], type[24];

    printf("  %-8s ", collet_gguf_type_name(t->type, type));
    for (uint32_t i = 0; i < t->ndim; i++)
        printf("%s%" PRId64, i > 0 ? " x " : "", t->shape[i]);
    printf("  %s\n", collet_gguf_name(t, name));
}

collet_status ternary_report_tensors(const collet_gguf *gguf, int json, collet_error *err)
{
    if (json)
        return ternary_print_json(tensors_json(gguf), err);
    printf("%s: gguf version %u, %" PRIu64 " tensor%s\n", collet_mapping_path(gguf->mapping),
           gguf->version, gguf->count, gguf->count == 1 ? "" : "s");
    for (uint64_t i = 0; i < gguf->count; i++)
        print_tensor(&gguf->tensors[i]);
    return COLLET_OK;
}
