/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the weights of a file that are -1, 0 and 1.
 * Tests: tests/engines/test_ternary_files.c */
#include "io/struct.h"
#include "ternary/result.h"
#include "ternary/source.h"

#include <stdlib.h>

#include <collet/floating.h>

static collet_status count_rows(ternary_call *call, const ternary_source *source,
                                collet_ternary_counts *counts)
{
    int8_t *codes = malloc((size_t)(ternary_source_some(source, 0) * source->columns));
    collet_status status = COLLET_OK;

    if (!codes)
        return collet_fail(&call->error, COLLET_NO_MEMORY, "out of memory for counting codes");
    for (int64_t first = 0, count; first < source->rows && status == COLLET_OK; first += count) {
        count = ternary_source_some(source, first);
        int32_t invalid = 0;
        status = ternary_source_codes(call, source, first, count, codes, NULL, &invalid);
        if (status != COLLET_OK)
            break;
        ternary_count_codes(codes, count * source->columns, counts);
        counts->invalid += invalid;
        counts->zero -= invalid; /* invalid codes were unpacked as 0 */
        status = ternary_call_advance(call, count * source->columns);
    }
    free(codes);
    return status;
}

static collet_status file_count(ternary_call *call, const collet_ternary_file *file, int64_t index,
                                collet_ternary_counts *counts)
{
    ternary_source source;

    *counts = (collet_ternary_counts){0};
    collet_status status = ternary_source_open(file, index, &source, &call->error);
    if (status != COLLET_OK)
        return status;
    call->total = source.rows * source.columns;
    if (source.content == COLLET_TERNARY_NUMBERS)
        status =
            collet_fail(&call->error, COLLET_INVALID,
                        "%s: the matrix has numbers, but only codes can be counted", source.text);
    if (status == COLLET_OK)
        status = ternary_verify(call, file, index);
    if (status == COLLET_OK)
        status = count_rows(call, &source, counts);
    ternary_source_close(&source);
    return status;
}

collet_status collet_ternary_file_count(collet_context *context, const collet_ternary_file *file,
                                        collet_ternary_counts *counts, size_t index,
                                        const collet_ternary_monitor *monitor, collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    ternary_call call;
    collet_ternary_counts all;

    if (!context || !file || !counts)
        return collet_fail(err, COLLET_INVALID, "%s: an argument is NULL", __func__);
    if (ternary_call_begin(&call, context, monitor) != COLLET_OK)
        return ternary_call_end(&call, COLLET_INVALID, err);
    collet_status status = file_count(&call, file, ternary_file_index(index), &all);
    if (status == COLLET_OK)
        io_struct_out(counts, &all, sizeof all);
    return ternary_call_end(&call, status, err);
}
