/* SPDX-License-Identifier: Apache-2.0 */
/* Calls example.clamp on four numbers; the plugin is found through COLLET_PLUGIN_PATH. */
#include <collet/collet.h>

#include <stdio.h>

/* The struct of examples/plugin/plugin.c; a backend would publish it in a header. */
typedef struct example_clamp_params {
    uint32_t struct_size; /* sizeof(example_clamp_params) */
    uint32_t reserved;    /* 0 */
    double lower;
    double upper;
} example_clamp_params;

/* The objects of this program; NULL until they exist. */
typedef struct session {
    collet_runtime *runtime;
    collet_context *context;
    collet_array *array;
} session;

static collet_status clamp_numbers(session *s, float *numbers, int64_t count, collet_error *err)
{
    collet_status status = collet_runtime_create(&s->runtime, NULL, err);
    if (status == COLLET_OK)
        status = collet_context_create(s->runtime, &s->context, err);
    if (status != COLLET_OK)
        return status;
    uint32_t op;
    if (collet_ops_find(s->runtime, &op, "example.clamp", err) != COLLET_OK)
        return err->status;
    status = collet_array_from(s->context, &s->array, COLLET_F32, 1, &count, numbers);
    if (status == COLLET_OK) {
        const example_clamp_params params = {sizeof params, 0, -1.0, 1.0};
        collet_array *outs[] = {s->array};
        const collet_array *ins[] = {s->array};
        status = collet_call(s->context, op, outs, ins, &params);
    }
    if (status == COLLET_OK) {
        status = collet_array_read(s->context, s->array, numbers, (size_t)count * sizeof *numbers);
    }
    if (status != COLLET_OK)
        return collet_fail(err, status, "%s", collet_last_error(s->context));
    return COLLET_OK;
}

int main(void)
{
    session s = {NULL, NULL, NULL};
    collet_error err;
    float numbers[4] = {-3.0f, -0.5f, 0.25f, 7.0f};
    collet_status status = clamp_numbers(&s, numbers, 4, &err);
    if (status == COLLET_OK) {
        printf("%s: %g %g %g %g\n", collet_last_backend(s.context), (double)numbers[0],
               (double)numbers[1], (double)numbers[2], (double)numbers[3]);
    } else {
        fprintf(stderr, "call_clamp: %s\n", err.text);
    }
    collet_array_destroy(s.array);
    collet_context_destroy(s.context);
    collet_runtime_destroy(s.runtime);
    return status == COLLET_OK ? 0 : 1;
}
