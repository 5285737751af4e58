/* SPDX-License-Identifier: Apache-2.0 */
/* Calls an op by its name, as a binding of another language does: `sum` over axis 1. The op's parameter block gets
 * its defaults, then one field is set by name; the shape of the output is inferred. */
#include <collet/collet.h>
#include <stdio.h>
#include <string.h>

/* The address of a u32 field in the parameter block; NULL if no field has this name. */
static uint32_t *field(const collet_ops_info *op, unsigned char *params, const char *name)
{
    const char *f = (const char *)op->fields;
    for (uint32_t k = 0; k < op->field_count; k++, f += op->field_size) {
        const collet_ops_field *it = (const collet_ops_field *)(const void *)f;
        if (!strcmp(it->name, name) && it->dtype == COLLET_U32)
            return (uint32_t *)(void *)(params + it->offset);
    }
    return NULL;
}

static collet_status sum_of_rows(collet_context *cx, const collet_array *a, collet_array **sums,
                                 collet_error *err)
{
    const collet_runtime *runtime = collet_context_runtime(cx);
    collet_ops_info op = {.struct_size = sizeof op};
    _Alignas(16) unsigned char params[256];
    uint32_t id, *axes;
    collet_array_spec in = {.dtype = COLLET_F64, .ndim = 2, .shape = {2, 3}};
    collet_array_spec out = {.ndim = COLLET_INFER};
    collet_status status = collet_ops_find(runtime, &id, "sum", err);
    if (status == COLLET_OK)
        status = collet_ops_defaults(runtime, id, params, sizeof params, in.ndim, err);
    if (status != COLLET_OK || collet_ops_describe(runtime, id, &op, NULL) != COLLET_OK ||
        !(axes = field(&op, params, "axes")))
        return COLLET_NOT_FOUND;
    *axes = 1u << 1; /* the default is every axis */
    status = collet_ops_infer(runtime, id, &out, &in, sizeof in, params, err);
    if (status != COLLET_OK)
        return status;
    status = collet_array_create(cx, sums, out.dtype, out.ndim, out.shape);
    if (status == COLLET_OK)
        status = collet_call(cx, id, sums, &a, params);
    return status == COLLET_OK ? status : collet_fail(err, status, "%s", collet_last_error(cx));
}

int main(void)
{
    static const double numbers[] = {1, 2, 3, 40, 50, 60};
    collet_error err = {COLLET_OK, ""};
    collet_runtime *runtime = NULL;
    collet_context *cx = NULL;
    collet_array *a = NULL, *sums = NULL;
    double result[2] = {0};
    collet_status status = collet_runtime_create(&runtime, NULL, &err);
    if (status == COLLET_OK)
        status = collet_context_create(runtime, &cx, &err);
    if (status == COLLET_OK)
        status = collet_array_from(cx, &a, COLLET_F64, 2, (const int64_t[]){2, 3}, numbers);
    if (status == COLLET_OK)
        status = sum_of_rows(cx, a, &sums, &err);
    if (status == COLLET_OK)
        status = collet_array_read(cx, sums, result, sizeof result);
    if (status == COLLET_OK)
        printf("%g %g\n", result[0], result[1]);
    else
        fprintf(stderr, "by_name: %s\n", err.text);
    collet_array_destroy(sums);
    collet_array_destroy(a);
    collet_context_destroy(cx);
    collet_runtime_destroy(runtime);
    return status != COLLET_OK;
}
