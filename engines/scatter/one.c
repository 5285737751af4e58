/* SPDX-License-Identifier: Apache-2.0 */
/* Plans and computes the work of one device, block by block.
 * Tests: tests/engines/scatter/test_scatter.c */
#include "scatter/one.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <collet/ops/array.h>

#include "scatter/arrays.h"
#include "scatter/attenuation.h"
#include "scatter/geometry.h"
#include "scatter/methods.h"
#include "scatter/voxels.h"

#define BLOCK 32                /* maximum number of energies at a time */
#define LAYER_BYTES (256 << 20) /* limit for the fields of layers transformed at a time */

/* ---- The plan -------------------------------------------------------------------------------- */

static uint64_t real_bytes(const collet_scatter *s)
{
    return scatter_is_wide(s) ? 8 : 4;
}

/* Bytes of the pattern of one energy, on the device and on the host together. */
static uint64_t pattern_bytes(const collet_scatter *s)
{
    return (uint64_t)(s->options.shape[1] * s->options.shape[2]) * 2 * real_bytes(s);
}

/* Bytes of the images of one energy. */
static uint64_t image_bytes(const collet_scatter *s)
{
    uint64_t images = s->options.material_frame ? (uint64_t)s->angles : 4; /* 3 images and scratch */
    return (uint64_t)(s->options.shape[1] * s->options.shape[2]) * images * real_bytes(s);
}

static int64_t max_fields(const collet_scatter *s)
{
    int64_t maximum = 0;
    for (int64_t m = 0; m < s->options.n_materials; m++)
        maximum = s->parts[m].count > maximum ? s->parts[m].count : maximum;
    return maximum;
}

/* Bytes of one layer of a material with its fields and their spectra. */
static uint64_t layer_bytes(const collet_scatter *s)
{
    const int64_t *n = s->options.shape;
    uint64_t fields = (uint64_t)max_fields(s), rows = (uint64_t)n[1];
    return real_bytes(s) * rows *
               ((fields + 4) * (uint64_t)n[2] + fields * 2 * (uint64_t)(n[2] / 2 + 1)) +
           (s->thickness > 1 ? real_bytes(s) * rows * fields * (uint64_t)n[2] : 0) +
           (s->options.layers ? 8 * rows * (uint64_t)n[2] : 0);
}

static int64_t layers_of(const collet_scatter *s)
{
    int64_t count = (int64_t)(LAYER_BYTES / layer_bytes(s));
    return count < 1 ? 1 : count < s->options.shape[0] ? count : s->options.shape[0];
}

static uint64_t slice_bytes(const collet_scatter *s, int64_t depth)
{
    uint64_t pixels = (uint64_t)(s->options.shape[1] * s->options.shape[2]);
    return pixels * ((scatter_is_exact(s) ? 16 : 8) +
                     (uint64_t)(depth * s->plan.fields) * 2 * real_bytes(s));
}

/* Bytes of the buffers for layers that are read: 4 fields and the sums of fractions. */
static uint64_t read_bytes(const collet_scatter *s, int64_t layers)
{
    uint64_t voxels = (uint64_t)(layers * s->options.shape[1] * s->options.shape[2]);
    return s->options.layers ? voxels * (4 * real_bytes(s) + 8) : 0;
}

static uint64_t warp_bytes(const collet_scatter *s)
{
    return s->warps ? pattern_bytes(s) / 2 : 0;
}

static void plan_direct(collet_scatter *s)
{
    const int64_t *n = s->options.shape;
    uint64_t voxels = (uint64_t)(n[0] * n[1] * n[2]);
    s->plan.passes = 1;
    s->plan.block = 1;
    s->depth = 1;
    s->plan.transforms = 3 * s->angles * s->options.n_energies;
    s->layers = layers_of(s);
    s->plan.kept = voxels * real_bytes(s) * (uint64_t)(7 * s->options.n_materials) +
                   pattern_bytes(s) + read_bytes(s, s->layers) + warp_bytes(s);
    s->plan.bytes = s->plan.kept + voxels * real_bytes(s) * (2 * 3 * 2) +
                    (uint64_t)(n[1] * n[2] * (s->angles + 1)) * real_bytes(s);
    s->steps_total = s->options.n_materials * ((n[0] + s->layers - 1) / s->layers) +
                     s->angles * s->options.n_energies;
}

/* Returns the largest number of slices of a pixel in any pass, for passes of `span` energies. */
static int64_t depth_of(const collet_scatter *s, int64_t span)
{
    int64_t depth = 1;
    for (int64_t first = 0; first < s->options.n_energies; first += span) {
        int64_t left = s->options.n_energies - first;
        int64_t end = first + (left < span ? left : span);
        int64_t pass = scatter_is_exact(s) ? scatter_exact_depth(s, first, end)
                                           : scatter_depth(s, first, end, NULL);
        if (pass < 0)
            return pass;
        depth = pass > depth ? pass : depth;
    }
    return depth;
}

/* Bytes of all arrays. Fields of layers are freed before images are created. */
static uint64_t fast_bytes(const collet_scatter *s, int64_t layers, int64_t block)
{
    uint64_t pass = layer_bytes(s) * (uint64_t)layers;
    uint64_t images = image_bytes(s) * (uint64_t)block + read_bytes(s, layers);
    return slice_bytes(s, s->depth) + warp_bytes(s) + pattern_bytes(s) * (uint64_t)block +
           (pass > images ? pass : images);
}

/* The number of bytes that arrays may use: options.memory if it is set. Otherwise it is 7/8 of the available memory,
 * if the system limits the memory of this process and would end the process beyond the limit. */
static uint64_t memory_of(const collet_scatter *s)
{
    collet_memory_limit limit = {.struct_size = sizeof limit};
    if (s->options.memory)
        return s->options.memory;
    return collet_memory_limit_read(&limit, NULL) == COLLET_OK && *limit.by
               ? limit.available / 8 * 7
               : UINT64_MAX;
}

/* Chooses as many energies for a pass as fit into memory, then as many layers and energies at a
 * time. */
static collet_status plan_fast(collet_scatter *s, collet_error *err)
{
    uint64_t limit = memory_of(s);
    int64_t energies = s->options.n_energies, layers = s->options.shape[0];
    for (s->span = energies;; s->span = (s->span + 1) / 2) {
        s->depth = depth_of(s, s->span);
        if (s->depth < 0)
            return collet_fail(err, COLLET_NO_MEMORY, "no memory for wave numbers");
        if (s->span == 1 || fast_bytes(s, 1, 1) <= limit)
            break;
    }
    s->layers = layers_of(s);
    while (s->layers > 1 && fast_bytes(s, s->layers, 1) > limit)
        s->layers--;
    s->plan.block = s->span < BLOCK ? s->span : BLOCK;
    /* At least two blocks for each device, because devices may differ in speed. */
    if (s->n_devices > 1 && s->plan.block > (energies + 2 * s->n_devices - 1) / (2 * s->n_devices))
        s->plan.block = (energies + 2 * s->n_devices - 1) / (2 * s->n_devices);
    while (s->plan.block > 1 && fast_bytes(s, s->layers, s->plan.block) > limit)
        s->plan.block--;
    s->plan.passes = (energies + s->span - 1) / s->span;
    s->plan.transforms = s->plan.fields * s->plan.passes;
    s->plan.bytes = fast_bytes(s, s->layers, s->plan.block);
    s->plan.kept = slice_bytes(s, s->depth) + warp_bytes(s) + read_bytes(s, s->layers) +
                   (pattern_bytes(s) + image_bytes(s)) * (uint64_t)s->plan.block;
    s->steps_total =
        s->options.n_materials * ((layers + s->layers - 1) / s->layers) * s->plan.passes + energies;
    return COLLET_OK;
}

static collet_status plan(collet_scatter *s, collet_error *err)
{
    s->plan.struct_size = sizeof s->plan;
    s->plan.angles = s->angles;
    collet_status status = COLLET_OK;
    if (s->options.method == COLLET_SCATTER_DIRECT)
        plan_direct(s);
    else
        status = plan_fast(s, err);
    if (status == COLLET_OK && s->options.memory && s->plan.bytes > s->options.memory)
        return collet_fail(err, COLLET_REFUSED,
                           "memory is limited to %" PRIu64 " bytes, but one energy needs %" PRIu64
                           " bytes; raise the limit",
                           s->options.memory, s->plan.bytes);
    return status;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static void *copied(const void *list, size_t bytes)
{
    void *copy = malloc(bytes);
    return copy ? memcpy(copy, list, bytes) : NULL;
}

/* Copies the lists of the options, and allocates the arrays that depend on their lengths. */
static collet_status copy_lists(collet_scatter *s, collet_error *err)
{
    collet_scatter_options *o = &s->options;
    size_t materials = (size_t)o->n_materials, energies = (size_t)o->n_energies;
    o->materials = copied(o->materials, materials * sizeof *o->materials);
    o->energies = copied(o->energies, energies * sizeof *o->energies);
    o->constants = copied(o->constants, energies * materials * sizeof *o->constants);
    s->parts = malloc(materials * sizeof *s->parts);
    s->angles = scatter_angles(o->angles, NULL);
    s->radians = malloc((size_t)s->angles * sizeof *s->radians);
    size_t pixels = (size_t)(o->shape[1] * o->shape[2]);
    int exact = scatter_is_exact(s);
    s->range = exact ? NULL : malloc(2 * pixels * sizeof *s->range);
    s->interval = exact ? malloc(2 * pixels * sizeof *s->interval) : NULL;
    s->volumes = calloc(materials, sizeof *s->volumes);
    s->counted = calloc(materials, sizeof *s->counted);
    for (int a = 0; a < 3; a++)
        s->q[a] = malloc((size_t)o->shape[a] * sizeof *s->q[a]);
    if (!o->materials || !o->energies || !o->constants || !s->parts || !s->radians || (exact ? !s->interval : !s->range) ||
        !s->volumes || !s->counted || !s->q[0] || !s->q[1] || !s->q[2])
        return collet_fail(err, COLLET_NO_MEMORY, "no memory for a scattering");
    scatter_angles(o->angles, s->radians);
    scatter_directions(s->axis, o->direction);
    scatter_warp_of(s->warp, o->direction, o->detector);
    for (int i = 0; i < 4; i++)
        s->warps |= fabs(s->warp[i / 2][i % 2] - (i % 3 == 0)) > 1e-12;
    for (int a = 0; a < 3; a++)
        scatter_axis(s->q[a], o->shape[a], o, a > 0);
    for (size_t m = 0; m < materials; m++) {
        const collet_scatter_material *material = &o->materials[m];
        int oriented = material->kind > COLLET_SCATTER_ISOTROPIC;
        s->parts[m] = (scatter_part){s->plan.fields, oriented ? SCATTER_FIELDS : 1};
        s->plan.fields += s->parts[m].count;
    }
    return COLLET_OK;
}

static collet_status make_output(collet_scatter *s, collet_error *err)
{
    const int64_t *n = s->options.shape;
    const int64_t shape[] = {s->plan.block, n[1], n[2]};
    size_t real = (size_t)real_bytes(s);
    s->values = malloc((size_t)(s->plan.block * n[1] * n[2]) * real);
    s->warped = s->warps ? malloc((size_t)warp_bytes(s)) : NULL;
    if (!s->values || (s->warps && !s->warped))
        return collet_fail(err, COLLET_NO_MEMORY, "no memory for patterns");
    collet_status status = collet_array_create(s->context, &s->out, s->options.dtype, 3, shape);
    return status == COLLET_OK ? status
                               : collet_fail(err, status, "%s", collet_last_error(s->context));
}

/* Allocates buffers for layers that are read. */
static collet_status make_layers(collet_scatter *s, collet_error *err)
{
    size_t voxels = (size_t)(s->layers * s->options.shape[1] * s->options.shape[2]), size = 4;
    for (int64_t m = 0; m < s->options.n_materials; m++)
        size = s->options.materials[m].dtype == COLLET_F64 ? 8 : size;
    s->layer_values = malloc(4 * voxels * size);
    s->sums = malloc(voxels * sizeof *s->sums);
    s->view = calloc((size_t)s->options.n_materials, sizeof *s->view);
    return s->layer_values && s->sums && s->view
               ? COLLET_OK
               : collet_fail(err, COLLET_NO_MEMORY, "no memory for layers of the morphology");
}

void scatter_close_one(collet_scatter *s)
{
    if (!s)
        return;
    free((void *)(uintptr_t)s->options.materials);
    free((void *)(uintptr_t)s->options.energies);
    free((void *)(uintptr_t)s->options.constants);
    free(s->parts);
    free(s->radians);
    for (int a = 0; a < 3; a++)
        free(s->q[a]);
    free(s->values);
    free(s->warped);
    free(s->layer_values);
    free(s->volumes);
    free(s->counted);
    free(s->sums);
    free(s->view);
    free(s->range);
    free(s->interval);
    free(s->nodes);
    collet_array_destroy(s->slices);
    collet_array_destroy(s->images);
    collet_array_destroy(s->fields);
    collet_array_destroy(s->out);
    free(s);
}

collet_status scatter_open_one(collet_context *context, const collet_scatter_options *options,
                               int64_t devices, collet_scatter **out, collet_error *err)
{
    collet_scatter *s = calloc(1, sizeof *s);
    if (!s)
        return collet_fail(err, COLLET_NO_MEMORY, "no memory for a scattering");
    s->context = context;
    s->n_devices = devices;
    s->options = *options;
    s->thickness = options->collapse ? options->shape[0] : 1;
    s->options.shape[0] /= s->thickness;
    collet_status status = copy_lists(s, err);
    if (status == COLLET_OK)
        status = plan(s, err);
    if (status == COLLET_OK && scatter_is_exact(s))
        status = scatter_exact_nodes(s, err);
    if (status == COLLET_OK)
        status = make_output(s, err);
    if (status == COLLET_OK && s->options.layers)
        status = make_layers(s, err);
    if (status == COLLET_OK)
        *out = s;
    else
        scatter_close_one(s);
    return status;
}

/* ---- Work ------------------------------------------------------------------------------------ */

collet_status scatter_compute(collet_scatter *s, int64_t max_count, int64_t *count)
{
    /* Limits the block, because it must not extend into the next pass. */
    if (s->span && max_count > s->span - s->next % s->span)
        max_count = s->span - s->next % s->span;
    *count = max_count < s->plan.block ? max_count : s->plan.block;
    s->made[0] = s->made[1] = 0;
    collet_status status =
        s->options.method == COLLET_SCATTER_DIRECT ? scatter_direct(s, *count) : scatter_fast(s, *count);
    if (status == COLLET_OK) {
        s->made[0] = s->next;
        s->made[1] = s->next + *count;
    }
    return status;
}

/* Multiplies pattern i of the block by the transmission of the film. */
static void attenuate(collet_scatter *s, int64_t i)
{
    int64_t pixels = s->options.shape[1] * s->options.shape[2];
    double factor = scatter_transmission(s, s->next + i);
    for (int64_t k = i * pixels; k < (i + 1) * pixels && s->options.attenuation; k++)
        if (scatter_is_wide(s))
            ((double *)s->values)[k] *= factor;
        else
            ((float *)s->values)[k] = (float)(factor * (double)((float *)s->values)[k]);
}

static void omit_zero(collet_scatter *s, int64_t i)
{
    const int64_t *n = s->options.shape;
    int64_t at = (i * n[1] + n[1] / 2) * n[2] + n[2] / 2;
    if (scatter_is_wide(s))
        ((double *)s->values)[at] = (double)NAN;
    else
        ((float *)s->values)[at] = NAN;
}

collet_status scatter_read(collet_scatter *s, int64_t count)
{
    const int64_t *n = s->options.shape;
    size_t bytes = (size_t)(count * n[1] * n[2]) * (size_t)real_bytes(s);
    collet_array *part;
    collet_status status = scatter_at(s, &part, s->out, 0, count, 0);
    if (status == COLLET_OK && collet_array_read(s->context, part, s->values, bytes) != COLLET_OK)
        status = scatter_failed(s, collet_last_status(s->context), "patterns");
    collet_array_destroy(part);
    for (int64_t i = 0; i < count && status == COLLET_OK; i++) {
        attenuate(s, i);
        scatter_warp(s, (char *)s->values + bytes / (size_t)count * (size_t)i);
        if (s->options.omit_zero)
            omit_zero(s, i);
    }
    s->first = s->next;
    return status;
}

/* Writes NaN to q = 0 of a pattern [Y, X]. */
static collet_status omit_zero_array(collet_scatter *s, const collet_array *pattern)
{
    collet_array *row = NULL, *pixel = NULL;
    const collet_scalar nan = {.dtype = COLLET_F64, .value.f64 = (double)NAN};
    collet_status status = collet_array_select(s->context, pattern, &row, 0, s->options.shape[1] / 2);
    if (status == COLLET_OK)
        status = collet_array_select(s->context, row, &pixel, 0, s->options.shape[2] / 2);
    if (status == COLLET_OK)
        status = collet_op_fill(s->context, pixel, &nan);
    if (status != COLLET_OK)
        status = scatter_failed(s, status, "the pixel of q = 0");
    collet_array_destroy(row);
    collet_array_destroy(pixel);
    return status;
}

collet_status scatter_pattern_array(collet_scatter *s, collet_array **out, int *finite)
{
    double factor = scatter_transmission(s, s->next);
    collet_array *part = NULL, *number = NULL;
    collet_status status = scatter_at(s, &part, s->out, s->next - s->made[0], 1, 1);
    if (status == COLLET_OK)
        status = scatter_array(s, out, s->options.dtype, 2, s->options.shape + 1);
    if (status == COLLET_OK)
        status = scatter_numbers(s, &number, s->options.dtype, 1, SCATTER_SHAPE(1), &factor);
    if (status == COLLET_OK && collet_op_mul(s->context, *out, part, number) != COLLET_OK)
        status = scatter_failed(s, collet_last_status(s->context), "a pattern");
    if (status == COLLET_OK && s->options.omit_zero)
        status = omit_zero_array(s, *out);
    if (status == COLLET_OK)
        status = scatter_evaluate_bool(s->context, "any(isfinite(a))", 1, (const collet_array *const *)out, finite, &s->error);
    collet_array_destroy(part);
    collet_array_destroy(number);
    return status;
}

const collet_scatter_pattern *scatter_pattern(collet_scatter *s, int64_t energy)
{
    const int64_t *n = s->options.shape;
    s->pattern = (collet_scatter_pattern){.struct_size = sizeof s->pattern,
                                          .dtype = s->options.dtype,
                                          .index = energy,
                                          .energy = s->options.energies[energy],
                                          .y = n[1],
                                          .x = n[2],
                                          .qy = s->q[1],
                                          .qx = s->q[2],
                                          .values = (char *)s->values +
                                                       (size_t)((energy - s->first) * n[1] * n[2]) *
                                                           (size_t)real_bytes(s)};
    return &s->pattern;
}
