/* SPDX-License-Identifier: Apache-2.0 */
/* A layer of a network, tanh(x w), is recorded once and replayed for several inputs. */
#include <collet/ops.h>
#include <collet/recording.h>
#include <stdio.h>

enum { ROWS = 2, INNER = 3, COLUMNS = 2, RUNS = 3 };

/* Records tanh(x w). */
static collet_status record(collet_context *cx, collet_recording *r)
{
    uint32_t x, w, product, y;
    collet_status status =
        collet_recording_input(cx, r, &x, COLLET_F32, 2, (const int64_t[]){ROWS, INNER});
    if (status == COLLET_OK)
        status =
            collet_recording_input(cx, r, &w, COLLET_F32, 2, (const int64_t[]){INNER, COLUMNS});
    if (status == COLLET_OK)
        status = collet_recording_call(cx, r, &product, COLLET_OP_MATMUL, (const uint32_t[]){x, w},
                                       NULL, NULL);
    if (status == COLLET_OK)
        status = collet_recording_call(cx, r, &y, COLLET_OP_TANH, &product, NULL, NULL);
    return status == COLLET_OK ? collet_recording_complete(cx, r, &y, 1) : status;
}

/* Replays the recording for x filled with 0.1, 0.2, ... and prints the first element of each result. */
static collet_status replay(collet_context *cx, collet_recording *r)
{
    collet_array *w = NULL;
    collet_status status =
        collet_array_full(cx, &w, COLLET_F32, 2, (const int64_t[]){INNER, COLUMNS}, 0.5);
    for (int run = 1; status == COLLET_OK && run <= RUNS; run++) {
        collet_array *x = NULL, *result = NULL;
        float values[ROWS * COLUMNS];
        status =
            collet_array_full(cx, &x, COLLET_F32, 2, (const int64_t[]){ROWS, INNER}, 0.1 * run);
        if (status == COLLET_OK)
            status = collet_recording_run(cx, r, &result, (const collet_array *const[]){x, w});
        if (status == COLLET_OK)
            status = collet_array_read(cx, result, values, sizeof values);
        if (status == COLLET_OK)
            printf("%.4f%s", (double)values[0], run < RUNS ? " " : "\n");
        collet_array_destroy(result);
        collet_array_destroy(x);
    }
    collet_array_destroy(w);
    return status;
}

int main(void)
{
    collet_error err = {COLLET_OK, ""};
    collet_runtime *runtime = NULL;
    collet_context *cx = NULL;
    collet_recording *r = NULL;
    collet_status status = collet_runtime_create(&runtime, NULL, &err);
    if (status == COLLET_OK)
        status = collet_context_create(runtime, &cx, &err);
    if (status == COLLET_OK) {
        status = collet_recording_create(cx, &r);
        if (status == COLLET_OK)
            status = record(cx, r);
        if (status == COLLET_OK)
            status = replay(cx, r);
        if (status != COLLET_OK)
            collet_fail(&err, status, "%s", collet_last_error(cx));
    }
    if (status != COLLET_OK)
        fprintf(stderr, "recording: %s\n", err.text);
    collet_recording_destroy(r);
    collet_context_destroy(cx);
    collet_runtime_destroy(runtime);
    return status != COLLET_OK;
}
