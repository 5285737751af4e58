/* SPDX-License-Identifier: Apache-2.0 */
/* Adds on the backend named on the command line; prints and checks the sum. */
#include <collet/collet.h>
#include <collet/ops/array.h>

#include <stdio.h>
#include <string.h>

static collet_status add(collet_context *cx, const char *backend, double *sum)
{
    const double x[] = {1.5, -2.0};
    collet_array *a = NULL;
    collet_status status = collet_set_backend(cx, backend);
    if (status == COLLET_OK)
        status = collet_array_from(cx, &a, COLLET_F64, 1, (int64_t[]){2}, x);
    if (status == COLLET_OK)
        status = collet_op_add(cx, a, a, a);
    if (status == COLLET_OK)
        status = collet_array_read(cx, a, sum, 2 * sizeof *sum);
    collet_array_destroy(a);
    return status;
}

int main(int argc, char **argv)
{
    const char *backend = argc > 1 ? argv[1] : "cpu_scalar";
    collet_error err = {0};
    collet_runtime *runtime = NULL;
    collet_context *cx = NULL;
    double sum[2] = {0, 0};
    if (strcmp(collet_version(), COLLET_VERSION) != 0)
        return fprintf(stderr, "headers %s, library %s\n", COLLET_VERSION, collet_version()), 1;
    collet_status status = collet_runtime_create(&runtime, NULL, &err);
    if (status == COLLET_OK)
        status = collet_context_create(runtime, &cx, &err);
    if (status == COLLET_OK)
        status = add(cx, backend, sum);
    if (status != COLLET_OK)
        fprintf(stderr, "program: %s\n", cx ? collet_last_error(cx) : err.text);
    else
        printf("%g %g by %s\n", sum[0], sum[1], collet_last_backend(cx));
    collet_context_destroy(cx);
    collet_runtime_destroy(runtime);
    return status != COLLET_OK || sum[0] != 3.0 || sum[1] != -4.0;
}
