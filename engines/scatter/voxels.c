/* SPDX-License-Identifier: Apache-2.0 */
/* Voxels that are arrays in the memory of a device. Only bools and sums are copied from there.
 * Tests: tests/engines/scatter/test_scatter_arrays.c */
#include "scatter/voxels.h"

#include <inttypes.h>
#include <stdlib.h>

#include <collet/expression.h>

#include "scatter/checks.h"

#define CHUNK (32 << 20) /* voxels that are checked at a time, about */

/* A device may round differently from the host, so these limits are narrower than the limits of checks.c. The host
 * decides about voxels between the two limits. */
#define FRACTION(x) "(" x " >= -5e-6) & (" x " <= 1.000005)"
static const char *const faults[] = {
    [COLLET_SCATTER_ISOTROPIC] = "any(~(" FRACTION("a") "))",
    [COLLET_SCATTER_EULER] = "any(~(" FRACTION("a") " & (b >= -5e-5) & (b <= 1.00005)) | "
                             "(b != 0) & ~(isfinite(c) & isfinite(d)))",
    [COLLET_SCATTER_VECTOR] = "any(~isfinite(a))",
};

int scatter_has_arrays(const collet_scatter_options *o)
{
    for (int64_t m = 0; m < o->n_materials; m++)
        if (o->materials[m].arrays)
            return 1;
    return 0;
}

/* ---- Expressions ----------------------------------------------------------------------------- */

static collet_status evaluate(collet_context *context, const char *text, uint32_t count,
                              const collet_array *const *arrays, collet_array **out, collet_error *err)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    collet_argument arguments[4] = {{0}};
    collet_expression *expression;
    *out = NULL;
    collet_status status = collet_expression_parse(&expression, text, err);
    for (uint32_t i = 0; i < count; i++)
        arguments[i] = (collet_argument){.name = names[i], .array = arrays[i]};
    if (status == COLLET_OK &&
        collet_expression_evaluate(context, expression, out, arguments, count) != COLLET_OK)
        status = collet_fail(err, collet_last_status(context), "%s: %s", text, collet_last_error(context));
    collet_expression_destroy(expression);
    return status;
}

/* Evaluates to one element, and copies it to `value`. */
static collet_status evaluate_one(collet_context *context, const char *text, uint32_t count,
                                  const collet_array *const *arrays, collet_scalar *value, collet_error *err)
{
    collet_array *one;
    collet_status status = evaluate(context, text, count, arrays, &one, err);
    if (status == COLLET_OK && collet_array_read_element(context, one, value, NULL) != COLLET_OK)
        status = collet_fail(err, collet_last_status(context), "%s: %s", text, collet_last_error(context));
    collet_array_destroy(one);
    return status;
}

collet_status scatter_evaluate_bool(collet_context *context, const char *text, uint32_t count,
                                    const collet_array *const *arrays, int *value, collet_error *err)
{
    collet_scalar scalar;
    collet_status status = evaluate_one(context, text, count, arrays, &scalar, err);
    *value = status == COLLET_OK && scalar.value.bytes[0];
    return status;
}

/* ---- Layers ---------------------------------------------------------------------------------- */

/* Views of layers of a material's arrays. The caller frees them with free_layers, also after a failure. */
static collet_status view_layers(collet_context *context, const collet_scatter_material *a, int64_t first, int64_t count,
                                 collet_array *views[4], collet_error *err)
{
    collet_status status = COLLET_OK;
    for (int i = 0; i < scatter_count_arrays(a) && status == COLLET_OK; i++)
        status = collet_array_slice(context, a->arrays[i], &views[i], 0, first, count, 1);
    return status == COLLET_OK ? status : collet_fail(err, status, "layers: %s", collet_last_error(context));
}

static void free_layers(collet_array *views[4])
{
    for (int i = 0; i < 4; i++)
        collet_array_destroy(views[i]);
}

collet_status scatter_sum_fractions(collet_context *context, const collet_scatter_material *a, int wide, int64_t first,
                                    int64_t count, double *sum, collet_error *err)
{
    collet_array *views[4] = {NULL};
    const collet_array *const *inputs = (const collet_array *const *)views;
    int vector = a->kind == COLLET_SCATTER_VECTOR, parts = vector ? 2 : 1;
    static const char *const texts[2][2] = {{"sum(a)", "sum(a*a)"}, {"sum(f64(a))", "sum(f64(a)*f64(a))"}};
    collet_status status = view_layers(context, a, first, count, views, err);
    *sum = 0.0;
    for (int i = 0; i < parts && status == COLLET_OK; i++) {
        collet_scalar value;
        status = evaluate_one(context, texts[wide][vector && i == 0], 1, inputs + i, &value, err);
        if (status == COLLET_OK)
            *sum += value.dtype == COLLET_F64 ? value.value.f64 : (double)value.value.f32;
    }
    free_layers(views);
    return status;
}

/* Looks for faults in layers of a material, and adds its fractions to *total (NULL: none yet). */
static collet_status check_layers(collet_context *context, const collet_scatter_material *a, int64_t first, int64_t count,
                                  collet_array **total, int *faulty, collet_error *err)
{
    collet_array *views[4] = {NULL}, *fractions = NULL, *sum;
    const collet_array *const *inputs = (const collet_array *const *)views;
    int vector = a->kind == COLLET_SCATTER_VECTOR;
    collet_status status = view_layers(context, a, first, count, views, err);
    if (status == COLLET_OK)
        status = scatter_evaluate_bool(context, faults[a->kind], (uint32_t)(vector ? 1 : scatter_count_arrays(a)), inputs, faulty, err);
    if (status == COLLET_OK && vector && !*faulty)
        status = scatter_evaluate_bool(context, faults[COLLET_SCATTER_ISOTROPIC], 1, inputs + 1, faulty, err);
    if (status == COLLET_OK && !*faulty && vector)
        status = evaluate(context, "sum(a*a, axis=-1)", 1, inputs, &fractions, err);
    if (status == COLLET_OK && !*faulty) {
        const collet_array *all[3] = {views[vector], vector ? fractions : *total, *total};
        uint32_t n = 1 + (uint32_t)vector + (*total != NULL);
        status = evaluate(context, n == 1 ? "+a" : n == 2 ? "a + b" : "a + b + c", n, all, &sum, err);
        collet_array_destroy(*total);
        *total = sum;
    }
    collet_array_destroy(fractions);
    free_layers(views);
    return status;
}

/* ---- On the host ----------------------------------------------------------------------------- */

void scatter_release_voxels(collet_context *context, const collet_scatter_options *o, collet_scatter_material *held)
{
    for (int64_t i = 0; held && i < 4 * o->n_materials; i++) {
        const collet_scatter_material *from = &o->materials[i / 4], *to = &held[i / 4];
        const void *const euler[] = {to->volume, to->alignment, to->theta, to->psi};
        const void *const vectors[] = {to->direction, to->unaligned, NULL, NULL};
        if (from->arrays && (from->kind == COLLET_SCATTER_VECTOR ? vectors : euler)[i % 4])
            collet_array_release(context, (collet_array *)(uintptr_t)from->arrays[i % 4]);
    }
    free(held);
}

collet_status scatter_hold_voxels(collet_context *context, const collet_scatter_options *o,
                                  collet_scatter_material **out, collet_error *err)
{
    collet_scatter_material *held = calloc((size_t)o->n_materials, sizeof *held);
    collet_status status = held ? COLLET_OK : collet_fail(err, COLLET_NO_MEMORY, "no memory for a scattering");
    for (int64_t m = 0; m < o->n_materials && status == COLLET_OK; m++) {
        const collet_scatter_material *from = &o->materials[m];
        collet_scatter_material *to = &held[m];
        const void **euler[] = {&to->volume, &to->alignment, &to->theta, &to->psi};
        const void **vectors[] = {&to->direction, &to->unaligned};
        *to = *from;
        to->arrays = NULL;
        for (int i = 0; from->arrays && i < scatter_count_arrays(from) && status == COLLET_OK; i++) {
            void *address = NULL;
            status = collet_array_acquire(context, (collet_array *)(uintptr_t)from->arrays[i], &address, COLLET_READ);
            if (status != COLLET_OK)
                status = collet_fail(err, status, "copying voxels: %s", collet_last_error(context));
            *(from->kind == COLLET_SCATTER_VECTOR ? vectors : euler)[i] = address;
        }
    }
    if (status != COLLET_OK) {
        scatter_release_voxels(context, o, held);
        held = NULL;
    }
    *out = held;
    return status;
}

/* ---- Checking -------------------------------------------------------------------------------- */

/* The host's check names the voxel. */
static collet_status check_on_host(collet_context *context, const collet_scatter_options *o, collet_error *err)
{
    collet_scatter_options own = *o;
    collet_scatter_material *held;
    collet_status status = scatter_hold_voxels(context, o, &held, err);
    if (status != COLLET_OK)
        return status;
    own.materials = held;
    status = scatter_check_voxels(&own, err);
    scatter_release_voxels(context, o, held);
    return status;
}

collet_status scatter_check_devices(collet_context *context, const collet_scatter_options *o, collet_error *err)
{
    const int64_t *n = o->shape;
    int64_t step = n[1] * n[2] < CHUNK ? CHUNK / (n[1] * n[2]) : 1;
    for (int64_t m = 0; m < o->n_materials; m++)
        if (!o->materials[m].arrays)
            return collet_fail(err, COLLET_INVALID,
                               "material %" PRId64 " has no arrays, but other materials have: give arrays for all", m + 1);
    collet_status status = COLLET_OK;
    int faulty = 0;
    for (int64_t first = 0; first < n[0] && status == COLLET_OK && !faulty; first += step) {
        int64_t count = n[0] - first < step ? n[0] - first : step;
        collet_array *total = NULL;
        for (int64_t m = 0; m < o->n_materials && status == COLLET_OK && !faulty; m++)
            status = check_layers(context, &o->materials[m], first, count, &total, &faulty, err);
        if (status == COLLET_OK && !faulty)
            status = scatter_evaluate_bool(context, "any(~(abs(a - 1) <= 5e-6))", 1, (const collet_array *const *)&total,
                                           &faulty, err);
        collet_array_destroy(total);
    }
    return status == COLLET_OK && faulty ? check_on_host(context, o, err) : status;
}
