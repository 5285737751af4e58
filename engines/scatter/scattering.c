/* SPDX-License-Identifier: Apache-2.0 */
/* A scattering, computed by one device or by several devices.
 * Tests: tests/engines/scatter/test_scatter.c, tests/engines/scatter/test_scatter_devices.c */
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <collet/floating.h>

#include "devices/devices.h"
#include "io/struct.h"
#include "scatter/arrays.h"
#include "scatter/checks.h"
#include "scatter/one.h"
#include "scatter/state.h"
#include "scatter/voxels.h"

/* This struct has one collet_scatter for each device. Each device computes blocks of energies. */
typedef struct scatter_devices scatter_devices;

typedef struct device {
    scatter_devices *all;
    int64_t index;
    collet_scatter *s;
} device;

struct scatter_devices {
    collet_scatter_options options; /* only callbacks and n_energies are used */
    collet_scatter_plan plan;
    devices_job *job;
    devices_list list;
    int64_t steps_total; /* steps of all devices */
    const char *_Atomic stage;
    device device[];
};

/* ---- On a device's thread -------------------------------------------------------------------- */

/* The progress callback of a device's scattering: counts a step; the caller's thread reports it. */
static int32_t note_step(void *user, const collet_progress *progress)
{
    scatter_devices *all = ((device *)user)->all;
    atomic_store(&all->stage, progress->stage);
    return devices_tick(all->job);
}

/* Layers that a device asks the program for. */
typedef struct layers {
    const collet_scatter_options *options;
    void *const *arrays;
    int64_t material, first, count;
} layers;

static collet_status read_layers(void *argument, collet_error *err)
{
    const layers *l = argument;
    return l->options->layers(l->options->layers_user, l->arrays, l->material, l->first, l->count,
                              err);
}

/* The layers callback of a device's scattering. */
static collet_status ask_layers(void *user, void *const *arrays, int64_t material, int64_t first,
                                int64_t count, collet_error *err)
{
    const device *d = user;
    layers wanted = {&d->all->options, arrays, material, first, count};
    return devices_ask(d->all->job, d->index, read_layers, &wanted, err);
}

static collet_status failed(const collet_scatter *s, collet_status status, collet_error *err)
{
    return status == COLLET_OK ? status : collet_fail(err, status, "%s", s->error.text);
}

/* Waits for the device, so that its speed is measured. */
static collet_status compute(void *user, int64_t index, int64_t first, int64_t *count,
                             collet_error *err)
{
    collet_scatter *s = ((scatter_devices *)user)->device[index].s;
    s->next = first;
    collet_status status = scatter_compute(s, *count, count);
    if (status == COLLET_OK && collet_finish(s->context) != COLLET_OK)
        status = scatter_failed(s, collet_last_status(s->context), "patterns");
    return failed(s, status, err);
}

static collet_status read_patterns(void *user, int64_t index, int64_t first, int64_t count,
                                   collet_error *err)
{
    collet_scatter *s = ((scatter_devices *)user)->device[index].s;
    s->next = first;
    return failed(s, scatter_read(s, count), err);
}

/* ---- The caller's thread --------------------------------------------------------------------- */

static int report(void *user, int64_t ticks, int64_t next)
{
    scatter_devices *all = user;
    collet_progress progress = {.struct_size = sizeof progress,
                                .done = next,
                                .fraction = (double)ticks / (double)all->steps_total,
                                .stage = atomic_load(&all->stage)};
    if (progress.fraction > 1.0)
        progress.fraction = 1.0;
    return all->options.progress(all->options.progress_user, &progress);
}

/* Like collet_scatter_next. Callbacks are called here, on the caller's thread. */
static collet_status scatter_devices_next(scatter_devices *all, const collet_scatter_pattern **out,
                                   collet_error *err)
{
    int64_t index, energy, count;
    collet_status status = devices_next(all->job, 1, &index, &energy, &count, err);
    *out = status == COLLET_OK && count ? scatter_pattern(all->device[index].s, energy) : NULL;
    return status;
}

static const collet_scatter_plan *scatter_devices_plan(const scatter_devices *all)
{
    return &all->plan;
}

/* NOT_FOUND for an index beyond the last device. */
static collet_status scatter_devices_share(const scatter_devices *all, collet_device_share *share,
                                    size_t index)
{
    return devices_share_at(all->job, share, index);
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* With several passes, one device computes the slices and all energies of a pass. With one pass, each device
 * computes all slices, and the devices share the energies. */
static collet_status plan(scatter_devices *all, collet_error *err)
{
    const collet_scatter *s = all->device[0].s;
    int64_t energies = all->options.n_energies;
    int64_t alike = s->plan.passes > 1 ? 1 : all->list.count;
    int64_t transforming = s->steps_total - energies * (s->span ? 1 : s->angles);
    const devices_work work = {.n_devices = all->list.count,
                               .contexts = all->list.contexts,
                               .count = energies,
                               .most = s->plan.passes > 1 ? s->span : s->plan.block,
                               .whole = s->plan.passes > 1,
                               .depth = 1,
                               .user = all,
                               .compute = compute,
                               .read = read_patterns,
                               .report = all->options.progress ? report : NULL};
    all->plan = s->plan;
    all->steps_total = s->steps_total + (alike - 1) * transforming;
    if (s->options.method == COLLET_SCATTER_FAST)
        all->plan.transforms *= alike;
    return devices_create(&all->job, &work, err);
}

static collet_status open_all(scatter_devices *all, collet_error *err)
{
    collet_status status = COLLET_OK;
    for (int64_t i = 0; i < all->list.count && status == COLLET_OK; i++) {
        device *d = &all->device[i];
        collet_scatter_options own = all->options;
        own.progress = note_step;
        own.progress_user = d;
        own.layers = all->options.layers ? ask_layers : NULL;
        own.layers_user = d;
        *d = (device){.all = all, .index = i};
        status = scatter_open_one(all->list.contexts[i], &own, all->list.count, &d->s, err);
    }
    return status == COLLET_OK ? plan(all, err) : status;
}

/* NULL is allowed. */
static void scatter_devices_close(scatter_devices *all)
{
    if (!all)
        return;
    devices_destroy(all->job);
    for (int64_t i = 0; i < all->list.count; i++)
        scatter_close_one(all->device[i].s);
    devices_close(&all->list);
    free(all);
}

/* Opens scatterings for the options' devices, in the runtime. The voxels must have been checked. */
static collet_status scatter_devices_open(collet_runtime *runtime,
                                          const collet_scatter_options *options,
                                   scatter_devices **out, collet_error *err)
{
    devices_list list;
    *out = NULL;
    collet_status status = devices_open(&list, options->devices, runtime, err);
    if (status != COLLET_OK)
        return status;
    scatter_devices *all = calloc(1, sizeof *all + (size_t)list.count * sizeof *all->device);
    if (!all) {
        devices_close(&list);
        return collet_fail(err, COLLET_NO_MEMORY, "no memory for a scattering");
    }
    all->options = *options;
    all->options.devices = NULL; /* because these structs belong to the program */
    all->list = list;
    status = open_all(all, err);
    if (status == COLLET_OK)
        *out = all;
    else
        scatter_devices_close(all);
    return status;
}

static collet_status take_options(collet_scatter_options *own,
                                  const collet_scatter_options *given, collet_error *err)
{
    *own = (collet_scatter_options){0};
    collet_status status = io_struct_in(own, sizeof *own, given, "the options", err);
    const struct {
        const char *name;
        uint32_t value;
    } flags[] = {{"attenuation", own->attenuation}, {"collapse", own->collapse}, {"omit_zero", own->omit_zero}};
    for (size_t i = 0; status == COLLET_OK && i < sizeof flags / sizeof *flags; i++)
        if (flags[i].value > 1)
            status = collet_fail(err, COLLET_INVALID, "the options: %s is %u; it must be 0 or 1",
                                 flags[i].name, flags[i].value);
    if (status == COLLET_OK && own->collapse && own->layers)
        status = collet_fail(err, COLLET_REFUSED,
                             "the options: collapse needs the arrays of the materials, but a "
                             "callback reads the layers");
    return status;
}

/* A copy of the materials, which the caller frees with free(). */
static collet_status take_materials(collet_scatter_options *o, collet_error *err)
{
    const char *given = (const char *)o->materials;
    collet_scatter_material *own = NULL;
    collet_status status = COLLET_OK;
    if (o->n_materials > 0 && given)
        own = calloc((size_t)o->n_materials, sizeof *own);
    for (int64_t m = 0; own && m < o->n_materials && status == COLLET_OK; m++) {
        status = io_struct_in(&own[m], sizeof *own, given, "a material", err);
        given += o->materials->struct_size;
    }
    if (o->n_materials > 0 && o->materials && !own)
        status = collet_fail(err, COLLET_NO_MEMORY, "no memory for a scattering");
    o->materials = own;
    return status;
}

collet_status scatter_take_options(collet_scatter_options *own, const collet_scatter_options *given,
                                   collet_error *err)
{
    collet_status status = take_options(own, given, err);
    if (status != COLLET_OK) {
        own->materials = NULL;
        return status;
    }
    status = take_materials(own, err);
    if (status == COLLET_OK)
        status = scatter_check_options(own, err);
    collet_scatter_material *material = (collet_scatter_material *)(uintptr_t)own->materials;
    for (int64_t m = 0; status == COLLET_OK && m < own->n_materials; m++, material++)
        if (!own->layers && !material->arrays)
            material->kind = material->direction   ? COLLET_SCATTER_VECTOR
                             : material->alignment ? COLLET_SCATTER_EULER
                                                   : COLLET_SCATTER_ISOTROPIC;
    return status;
}

static collet_status open_shared(collet_runtime *runtime, const collet_scatter_options *options,
                                 collet_scatter **out, collet_error *err)
{
    collet_scatter *s = calloc(1, sizeof *s);
    if (!s)
        return collet_fail(err, COLLET_NO_MEMORY, "no memory for a scattering");
    collet_status status = scatter_devices_open(runtime, options, &s->devices, err);
    if (status == COLLET_OK)
        *out = s;
    else
        collet_scatter_destroy(s);
    return status;
}

collet_status collet_scatter_create(collet_context *context, collet_scatter **out,
                                    const collet_scatter_options *options, collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    collet_scatter_options own;
    if (!out)
        return collet_fail(err, COLLET_INVALID, "out is NULL");
    *out = NULL;
    if (!context || !options)
        return collet_fail(err, COLLET_INVALID, "%s is NULL", context ? "options" : "context");
    collet_status status = scatter_take_options(&own, options, err);
    if (status == COLLET_OK && !own.layers)
        status = scatter_has_arrays(&own) ? scatter_check_devices(context, &own, err) : scatter_check_voxels(&own, err);
    if (status == COLLET_OK)
        status = own.devices ? open_shared(collet_context_runtime(context), &own, out, err)
                             : scatter_open_one(context, &own, 1, out, err);
    free((void *)(uintptr_t)own.materials);
    return status;
}

void collet_scatter_destroy(collet_scatter *s)
{
    if (!s)
        return;
    scatter_devices_close(s->devices);
    scatter_close_one(s);
}

void collet_scatter_get_plan(const collet_scatter *s, collet_scatter_plan *plan)
{
    io_struct_out(plan, s->devices ? scatter_devices_plan(s->devices) : &s->plan, sizeof s->plan);
}

collet_status collet_scatter_share_at(const collet_scatter *s, collet_device_share *share,
                                      size_t index, collet_error *err)
{
    if (s->devices && scatter_devices_share(s->devices, share, index) == COLLET_OK)
        return COLLET_OK;
    return collet_fail(err, COLLET_NOT_FOUND, "index %zu is out of range: there are fewer devices",
                       index);
}

/* ---- Work ------------------------------------------------------------------------------------ */

/* Computes the next block into s->values. */
static collet_status next_block(collet_scatter *s)
{
    int64_t count;
    s->error.status = COLLET_OK;
    collet_status status = scatter_compute(s, s->options.n_energies - s->next, &count);
    if (status == COLLET_OK)
        status = scatter_read(s, count);
    if (status == COLLET_OK)
        s->ready = s->next + count;
    return status;
}

static collet_status next_pattern(collet_scatter *s, const collet_scatter_pattern **out)
{
    if (s->devices)
        return scatter_devices_next(s->devices, out, &s->error);
    if (s->next == s->options.n_energies)
        return COLLET_OK;
    collet_status status = s->next >= s->ready ? next_block(s) : COLLET_OK;
    if (status == COLLET_OK)
        *out = scatter_pattern(s, s->next++);
    return status;
}

/* 1 if a pixel is finite. Begins at the middle, where most patterns have numbers. */
static int has_number(const collet_scatter_pattern *p)
{
    int64_t pixels = p->y * p->x, middle = p->y / 2 * p->x + p->x / 2;
    for (int64_t i = 0; i < pixels; i++) {
        int64_t at = (middle + i) % pixels;
        if (p->dtype == COLLET_F64 ? isfinite(((const double *)p->values)[at])
                                   : isfinite(((const float *)p->values)[at]))
            return 1;
    }
    return 0;
}

static collet_status no_number(collet_scatter *s, double energy)
{
    return collet_fail(&s->error, COLLET_INVALID,
                       "the pattern at %g eV has no finite number in its %" PRId64 " x %" PRId64
                       " pixels: check the constants and the morphology",
                       energy, s->options.shape[1], s->options.shape[2]);
}

collet_status collet_scatter_next(collet_scatter *s, const collet_scatter_pattern **out,
                                  collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    *out = NULL;
    if (s->error.status != COLLET_OK && s->error.status != COLLET_CANCELLED)
        return collet_fail(err, s->error.status, "%s", s->error.text);
    collet_status status = next_pattern(s, out);
    if (status == COLLET_OK && *out && !has_number(*out)) {
        status = no_number(s, (*out)->energy);
        *out = NULL;
    }
    return status == COLLET_OK ? status : collet_fail(err, status, "%s", s->error.text);
}

static collet_status next_array(collet_scatter *s, collet_array **out)
{
    int finite = 1;
    int64_t count;
    collet_status status = COLLET_OK;
    if (s->next == s->options.n_energies)
        return COLLET_OK;
    s->error.status = COLLET_OK;
    if (s->next < s->made[0] || s->next >= s->made[1])
        status = scatter_compute(s, s->options.n_energies - s->next, &count);
    if (status == COLLET_OK)
        status = scatter_pattern_array(s, out, &finite);
    if (status == COLLET_OK && !finite)
        status = no_number(s, s->options.energies[s->next]);
    if (status == COLLET_OK) {
        s->next++;
        return COLLET_OK;
    }
    collet_array_destroy(*out);
    *out = NULL;
    return status;
}

collet_status collet_scatter_next_array(collet_scatter *s, collet_array **out, collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    *out = NULL;
    if (s->error.status != COLLET_OK && s->error.status != COLLET_CANCELLED)
        return collet_fail(err, s->error.status, "%s", s->error.text);
    int spreads = !scatter_is_exact(s) && !s->options.mask;
    if (s->devices || s->warps || spreads)
        return collet_fail(err, COLLET_REFUSED, "patterns as arrays: %s",
                           s->devices ? "several devices share the energies, and their patterns are collected on the host; "
                                        "name one device"
                           : s->warps ? "the host warps patterns to the detector's plane; choose a detector that faces the beam"
                                      : "without `mask`, the host finishes patterns of this grid as CyRSoXS does; choose the exact "
                                        "grid, or `mask`");
    collet_status status = next_array(s, out);
    return status == COLLET_OK ? status : collet_fail(err, status, "%s", s->error.text);
}
