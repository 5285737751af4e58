/* SPDX-License-Identifier: Apache-2.0 */
/* The program's callbacks run only on the caller's thread.
 * Tests: tests/engines/scatter/test_scatter_devices.c */
#include "scatter/devices.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "devices/devices.h"
#include "scatter/arrays.h"
#include "scatter/one.h"

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
    int64_t steps_total; /* of all devices */
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

/* Layers that a device requests from the program. */
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

collet_status scatter_devices_next(scatter_devices *all, const collet_scatter_pattern **out,
                                   collet_error *err)
{
    int64_t index, energy, count;
    collet_status status = devices_next(all->job, 1, &index, &energy, &count, err);
    *out = status == COLLET_OK && count ? scatter_pattern(all->device[index].s, energy) : NULL;
    return status;
}

const collet_scatter_plan *scatter_devices_plan(const scatter_devices *all)
{
    return &all->plan;
}

collet_status scatter_devices_share(const scatter_devices *all, collet_device_share *share,
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

collet_status scatter_devices_open(collet_runtime *runtime, const collet_scatter_options *options,
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
    all->options.devices = NULL; /* the program's */
    all->list = list;
    status = open_all(all, err);
    if (status == COLLET_OK)
        *out = all;
    else
        scatter_devices_close(all);
    return status;
}

void scatter_devices_close(scatter_devices *all)
{
    if (!all)
        return;
    devices_destroy(all->job);
    for (int64_t i = 0; i < all->list.count; i++)
        scatter_close_one(all->device[i].s);
    devices_close(&all->list);
    free(all);
}
