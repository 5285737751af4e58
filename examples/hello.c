/* SPDX-License-Identifier: Apache-2.0 */
#include <collet/collet.h>
#include <stdio.h>

int main(void)
{
    const float x[] = {1, 2, 3};
    float sum[3];
    collet_error err = {0};
    collet_runtime *runtime = NULL;
    collet_context *cx = NULL;
    collet_array *a = NULL;
    int ok = collet_runtime_create(&runtime, NULL, &err) == COLLET_OK &&
             collet_context_create(&cx, runtime, &err) == COLLET_OK &&
             collet_array_from(cx, &a, COLLET_F32, 1, (int64_t[]){3}, x) == COLLET_OK &&
             collet_add(cx, a, a, a) == COLLET_OK &&
             collet_array_read(cx, a, sum, sizeof sum) == COLLET_OK;
    if (ok)
        printf("%g %g %g, computed by %s\n", sum[0], sum[1], sum[2], collet_last_backend(cx));
    else
        fprintf(stderr, "%s\n", cx ? collet_last_error(cx) : err.text);
    collet_array_free(a);
    collet_context_destroy(cx);
    collet_runtime_destroy(runtime);
    return !ok;
}
