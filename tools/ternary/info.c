/* SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include "report.h"
#include "session.h"

/* Describes a matrix, and counts its codes unless it holds numbers. */
static collet_status add_layer(ternary_report *report, ternary_session *session,
                               const collet_ternary_file *file, int64_t index, collet_error *err)
{
    ternary_report_layer *layer = &report->layers[report->count];

    layer->matrix.struct_size = sizeof layer->matrix;
    collet_status status = collet_ternary_file_matrix(file, index, &layer->matrix, err);
    if (status != COLLET_OK)
        return status;
    layer->counted = layer->matrix.content != COLLET_TERNARY_NUMBERS;
    /* (What is no weights fails here, with the reason.) */
    if (layer->counted)
        status = collet_ternary_file_count(session->context, file, index, &layer->counts,
                                           &session->monitor, err);
    report->count++;
    return status;
}

static collet_status list_tensors(ternary_report *report, const collet_ternary_file *file, int json,
                                  collet_error *err)
{
    collet_status status = COLLET_OK;

    for (int64_t i = 0; i < report->info.count && status == COLLET_OK; i++) {
        ternary_report_layer *layer = &report->layers[report->count++];
        layer->matrix.struct_size = sizeof layer->matrix;
        status = collet_ternary_file_matrix(file, i, &layer->matrix, err);
    }
    return status == COLLET_OK ? ternary_report_tensors(report, json, err) : status;
}

static collet_status describe(ternary_report *report, const ternary_options *options,
                              const collet_ternary_file *file, int64_t index, collet_error *err)
{
    int64_t first = index < 0 ? 0 : index, last = index < 0 ? report->info.count : index + 1;
    ternary_session session;

    collet_status status = ternary_session_open(&session, options, "weights", err);
    for (int64_t i = first; i < last && status == COLLET_OK; i++)
        status = add_layer(report, &session, file, i, err);
    tool_progress_end(&session.progress);
    if (status == COLLET_OK)
        status = ternary_report_print(report, options->json, err);
    ternary_session_close(&session);
    return status;
}

collet_status ternary_info(const ternary_options *options, collet_error *err)
{
    collet_ternary_file *file = NULL;
    ternary_report report = {0};
    int64_t index;

    collet_status status = collet_ternary_file_open(&file, &index, options->arguments[0], err);
    if (status == COLLET_OK)
        status = ternary_report_begin(&report, options->arguments[0], file, err);
    if (status == COLLET_OK)
        status = report.info.kind == COLLET_TERNARY_FILE_GGUF && index < 0
                     ? list_tensors(&report, file, options->json, err)
                     : describe(&report, options, file, index, err);
    ternary_report_free(&report);
    collet_ternary_file_close(file);
    return status;
}
