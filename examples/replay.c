/* SPDX-License-Identifier: Apache-2.0 */
/* Records y = |W x| * x once and runs it on three pairs of arrays. */
#include <collet/collet.h>
#include <collet/ops/array.h>
#include <collet/ops/linalg.h>
#include <stdio.h>

/* The intermediate result belongs to the sequence. */
static int record(collet_context *cx, const collet_array *w, collet_array *x, collet_array *y,
                  collet_sequence **layer)
{
    collet_array *product = NULL, *arguments[] = {x, y};
    int failed = collet_sequence_begin(cx) ||
                 collet_array_create(cx, &product, COLLET_F32, 1, (int64_t[]){3}) ||
                 collet_op_matvec(cx, product, w, x) || collet_op_abs(cx, product, product) ||
                 collet_op_mul(cx, y, product, x) || collet_sequence_end(cx, layer, 2, arguments);
    collet_array_destroy(product);
    return failed;
}

static int run(collet_context *cx)
{
    static const float weights[3][3] = {{1, 0, 0}, {0, -1, 0}, {0, 0, 1}};
    static const float inputs[3][3] = {{1, 0, 2}, {2, 0, -3}, {0, 5, 0}};
    collet_array *w = NULL, *x[3] = {NULL}, *y[3] = {NULL};
    collet_sequence *layer = NULL;
    int failed = collet_array_from(cx, &w, COLLET_F32, 2, (int64_t[]){3, 3}, weights) != 0;
    for (int i = 0; i < 3 && !failed; i++)
        failed = collet_array_from(cx, &x[i], COLLET_F32, 1, (int64_t[]){3}, inputs[i]) ||
                 collet_array_create(cx, &y[i], COLLET_F32, 1, (int64_t[]){3});
    failed = failed || record(cx, w, x[0], y[0], &layer);
    for (int i = 0; i < 3 && !failed; i++) {
        float out[3] = {0};
        failed = collet_sequence_run(cx, layer, (collet_array *[]){x[i], y[i]}) ||
                 collet_array_read(cx, y[i], out, sizeof out);
        if (!failed)
            printf("%.4g %.4g %.4g\n", (double)out[0], (double)out[1], (double)out[2]);
    }
    collet_sequence_destroy(layer);
    collet_array_destroy(w);
    for (int i = 0; i < 3; i++) {
        collet_array_destroy(x[i]);
        collet_array_destroy(y[i]);
    }
    return failed;
}

int main(void)
{
    collet_error err = {0};
    collet_runtime *runtime = NULL;
    collet_context *cx = NULL;
    int failed = collet_runtime_create(&runtime, NULL, &err) ||
                 collet_context_create(runtime, &cx, &err) || run(cx);
    if (failed)
        fprintf(stderr, "replay: %s\n", cx ? collet_last_error(cx) : err.text);
    collet_context_destroy(cx);
    collet_runtime_destroy(runtime);
    return failed;
}
