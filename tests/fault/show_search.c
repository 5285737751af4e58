/* SPDX-License-Identifier: Apache-2.0 */
/* show_search [DIRECTORY [BACKEND]] - changes to the directory, creates a runtime, prints the records
 * of its search and the backend that computes. trust.sh, noexec.sh and unmounted.sh run this
 * program. */
#include <stdio.h>
#include <unistd.h>

#include <collet/collet.h>
#include <collet/ops/array.h>

static int compute(collet_runtime *rt, const char *backend)
{
    collet_error err;
    collet_context *cx = NULL;
    collet_array *a = NULL;
    collet_plugin_record record = {.struct_size = sizeof record};
    for (size_t i = 0; collet_record_at(rt, &record, i, NULL) == COLLET_OK; i++)
        printf("%s %s %s\n", record.stage, record.code, record.path);
    int failed = collet_context_create(rt, &cx, &err) ||
                 (backend && collet_set_backend(cx, backend)) ||
                 collet_array_from(cx, &a, COLLET_F32, 1, (int64_t[]){1}, (float[]){1}) ||
                 collet_op_add(cx, a, a, a);
    printf("computed by %s\n", failed ? "none" : collet_last_backend(cx));
    if (failed)
        fprintf(stderr, "show_search: %s\n", cx ? collet_last_error(cx) : err.text);
    collet_array_destroy(a);
    collet_context_destroy(cx);
    return failed;
}

int main(int argc, char **argv)
{
    collet_error err;
    collet_runtime *rt = NULL;
    if (argc > 1 && chdir(argv[1]))
        return perror(argv[1]), 2;
    if (collet_runtime_create(&rt, NULL, &err) != COLLET_OK)
        return fprintf(stderr, "show_search: %s\n", err.text), 2;
    int failed = compute(rt, argc > 2 ? argv[2] : NULL);
    collet_runtime_destroy(rt);
    return failed;
}
