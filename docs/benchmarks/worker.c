/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker BACKEND...: prints the times of calls and transfers on each BACKEND. With the arguments
 * "cpu_openmp worker:cpu_openmp" the difference is the cost of a separate process for the backend.
 * Each figure is the smallest of many.
 * To compile: cc -O2 worker.c $(pkg-config --cflags --libs collet)
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <collet/collet.h>
#include <collet/ops/array.h>
#include <collet/ops/linalg.h>

#define CALLS 50
#define BYTES ((int64_t)64 << 20)

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void check(collet_context *cx, collet_status status)
{
    if (status == COLLET_OK)
        return;
    fprintf(stderr, "%s\n", collet_last_error(cx));
    exit(1);
}

static void least(double *best, double start)
{
    double took = seconds() - start;
    *best = took < *best ? took : *best;
}

static void calls(collet_context *cx)
{
    const int64_t n[2] = {8, 8};
    const float zeros[64] = {0};
    double one = 1, many = 1, asked = 1;
    collet_array *a, *b;
    check(cx, collet_array_from(cx, &a, COLLET_F32, 2, n, zeros));
    check(cx, collet_array_create(cx, &b, COLLET_F32, 2, n));
    for (int i = 0; i < 5000; i++) {
        double start = seconds();
        check(cx, collet_op_add(cx, b, a, a));
        check(cx, collet_finish(cx));
        least(&one, start);
        start = seconds();
        check(cx, collet_op_matmul(cx, b, a, a));
        check(cx, collet_finish(cx));
        least(&asked, start);
        start = seconds();
        for (int k = 0; k < CALLS && i < 300; k++)
            check(cx, collet_op_add(cx, b, a, a));
        check(cx, collet_finish(cx));
        if (i < 300)
            least(&many, start);
    }
    printf("add and wait %.2f us, one of %d adds %.2f us, matmul and wait %.2f us\n", one * 1e6,
           CALLS, many / CALLS * 1e6, asked * 1e6);
    collet_array_destroy(a);
    collet_array_destroy(b);
}

static void bytes(collet_context *cx)
{
    const int64_t n = BYTES / (int64_t)sizeof(float);
    float *values = calloc((size_t)n, sizeof *values);
    double write = 1e3, kernel = 1e3, read = 1e3;
    collet_array *a, *b;
    check(cx, collet_array_create(cx, &a, COLLET_F32, 1, &n));
    check(cx, collet_array_create(cx, &b, COLLET_F32, 1, &n));
    for (int i = 0; values && i < 20; i++) {
        double start = seconds();
        check(cx, collet_array_write(cx, a, values, BYTES));
        check(cx, collet_op_add(cx, b, a, a));
        check(cx, collet_finish(cx));
        least(&write, start);
        start = seconds();
        check(cx, collet_op_add(cx, b, a, a));
        check(cx, collet_finish(cx));
        least(&kernel, start);
        start = seconds();
        check(cx, collet_array_read(cx, b, values, BYTES));
        least(&read, start);
    }
    printf("64 MiB: write and add %.1f ms, add %.1f ms, read %.1f ms\n", write * 1e3, kernel * 1e3,
           read * 1e3);
    collet_array_destroy(a);
    collet_array_destroy(b);
    free(values);
}

int main(int count, char **backends)
{
    collet_runtime *runtime;
    collet_context *cx;
    collet_error err;
    if (collet_runtime_create(&runtime, NULL, &err) || collet_context_create(runtime, &cx, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    for (int i = 1; i < count; i++) {
        check(cx, collet_set_backend(cx, backends[i]));
        printf("%s: ", backends[i]);
        calls(cx);
        printf("%s: ", backends[i]);
        bytes(cx);
    }
    collet_context_destroy(cx);
    collet_runtime_destroy(runtime);
    return 0;
}
