/* SPDX-License-Identifier: Apache-2.0 */
/* backend-info --explain: explains which device and implementation would run a call, and why.
 * Tests: tests/tools/test_info.c */
#include "info.h"

#include "bench/ops/cases.h"
#include "common/output.h"

#include <stdio.h>
#include <string.h>

#define TEXT 8192

/* Writes the explanation of a call with new arrays, whose elements are not touched. */
static collet_status explain(collet_context *cx, const bench_layout *l, char text[TEXT],
                             collet_error *err)
{
    collet_array *arrays[COLLET_MAX_OPERANDS] = {NULL};
    collet_status status = COLLET_OK;
    for (uint32_t i = 0; i < l->count && status == COLLET_OK; i++) {
        const bench_operand *o = &l->operands[i];
        if (o->make != '-')
            status = collet_array_create(cx, &arrays[i], o->dtype, o->ndim, o->shape);
    }
    if (status == COLLET_OK)
        status = collet_explain(cx, l->op.id, text, TEXT, arrays,
                                (const collet_array *const *)arrays + l->op.n_out,
                                l->op.params_size ? &l->params : NULL);
    if (status != COLLET_OK)
        collet_fail(err, status, "%s", collet_last_error(cx));
    for (uint32_t i = 0; i < l->count; i++)
        collet_array_destroy(arrays[i]);
    return status;
}

static int32_t print_json(const bench_layout *l, char *text)
{
    char shape[BENCH_SHAPE_TEXT], *rest = text, *line;
    cJSON *root = cJSON_CreateObject(),
          *lines = root ? cJSON_AddArrayToObject(root, "lines") : NULL;
    int32_t fine = lines && cJSON_AddStringToObject(root, "op", l->row->name) &&
                   cJSON_AddStringToObject(root, "signature", l->signature) &&
                   cJSON_AddStringToObject(
                       root, "shape", bench_shape_text(l->shape.count, l->shape.extents, shape));
    while (fine && (line = strsep(&rest, "\n")))
        fine = !*line || cJSON_AddItemToArray(lines, cJSON_CreateString(line));
    fine = fine && tool_print_json(root);
    if (!fine)
        fputs("backend-info: out of memory for the report\n", stderr);
    cJSON_Delete(root);
    return fine;
}

int info_explain(collet_runtime *runtime, const info_options *options)
{
    char text[TEXT];
    bench_case row;
    bench_layout layout;
    bench_options shape = {.shape = options->shape};
    collet_context *cx = NULL;
    collet_error err;
    uint32_t id;
    collet_status status = bench_case_find(runtime, options->explain, &row, &err);
    if (status == COLLET_NOT_FOUND)
        (void)collet_ops_find(runtime, &id, options->explain, &err); /* with the nearest names */
    if (status == COLLET_OK)
        status = bench_layout_make(&layout, runtime, &row, &shape, options->dtype, &err);
    int usage = status != COLLET_OK && status != COLLET_NO_MEMORY;
    if (status == COLLET_OK)
        status = collet_context_create(runtime, &cx, &err);
    if (status == COLLET_OK)
        status = explain(cx, &layout, text, &err);
    collet_context_destroy(cx);
    if (status != COLLET_OK) {
        tool_complain("backend-info", err.text);
        return usage ? TOOL_EXIT_USAGE : tool_exit_of(status);
    }
    if (options->json)
        return print_json(&layout, text) ? TOOL_EXIT_OK : TOOL_EXIT_FAILURE;
    fputs(text, stdout);
    return TOOL_EXIT_OK;
}
