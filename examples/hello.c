/* SPDX-License-Identifier: Apache-2.0 */
#include <collet/collet.h>
#include <collet/ops/array.h>
#include <stdio.h>

int main(void)
{
    const int64_t three = 3;
    float x[] = {1, 2, 3};
    collet_error err;
    collet_runtime *runtime = NULL;
    collet_context *cx = NULL;
    collet_array *a = NULL;
    int failed = collet_runtime_create(&runtime, NULL, &err) ||
                 collet_context_create(runtime, &cx, &err) ||
                 collet_array_from(cx, &a, COLLET_F32, 1, &three, x) ||
                 collet_op_add(cx, a, a, a) || collet_array_read(cx, a, x, sizeof x);
    if (failed)
        fprintf(stderr, "%s\n", cx ? collet_last_error(cx) : err.text);
    else
        printf("%g %g %g, computed by %s\n", x[0], x[1], x[2], collet_last_backend(cx));
    collet_array_destroy(a);
    collet_context_destroy(cx);
    collet_runtime_destroy(runtime);
    return failed;
}
