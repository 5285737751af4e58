/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/rsoxs/test_rsoxs.c */
#include "backends.h"
#include "run.h"
#include "common/size.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 1 if an element of a list such as "cuda:1,cpu_openmp" is the backend or one of its devices. */
static int names(const char *element, const char *backend)
{
    size_t length = strlen(backend);
    return !strncmp(element, backend, length) && strchr(":,", element[length]) != NULL;
}

/* Finds the first device of the backend in the choice that has a name instead of a number, such as
 * "worker:cuda". */
static void find_named(const rsoxs_run *run, const char *backend, char named[64])
{
    const char *at =
        run->options->devices ? run->options->devices : collet_get_backend(run->context);
    for (; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        const char *device = at + strlen(backend) + 1;
        size_t length = strcspn(at, ",");
        if (names(at, backend) && device[-1] == ':' && !strchr(",0123456789", *device) &&
            length < 64) {
            snprintf(named, 64, "%.*s", (int)length, at);
            return;
        }
    }
}

/* Opens the backend's first device, and scatterings on all devices that would share the energies. */
static collet_status try(rsoxs_run *run, rsoxs_backend *b, int named, collet_error *err)
{
    collet_memory_stats stats = {.struct_size = sizeof stats};
    collet_status status = collet_context_create(run->runtime, &run->context, err);
    if (status == COLLET_OK &&
        ((status = collet_set_backend(run->context, named ? b->first : b->name)) != COLLET_OK ||
         (*b->first && (status = collet_memory(run->context, &stats, b->first)) != COLLET_OK)))
        return collet_fail(err, status, "%s", collet_last_error(run->context));
    if (status == COLLET_OK)
        status = tool_devices_choose(&run->devices, run->context, NULL, (tool_place){0, 1}, err);
    return status == COLLET_OK ? rsoxs_run_open_work(run, err) : status;
}

double rsoxs_plan_bytes(const rsoxs_run *run, const collet_scatter_plan *plan)
{
    return (double)plan->bytes + (double)plan->kept * (double)(run->n_beams - 1);
}

/* Notes that the system would end the process, because the work needs more memory than it may use. */
static void too_large(rsoxs_backend *b)
{
    char needs[TOOL_SIZE_TEXT], has[TOOL_SIZE_TEXT];
    collet_memory_limit limit = {.struct_size = sizeof limit};
    (void)collet_memory_limit_read(&limit, NULL);
    snprintf(b->why, sizeof b->why, "it needs %s, but this process may use %s (%s)",
             tool_size_format(needs, b->bytes), tool_size_format(has, (double)b->has),
             *limit.by ? limit.by : "the machine's memory");
}

static void plan(const rsoxs_run *run, size_t index, const collet_backend_info *info,
                 rsoxs_backend *b)
{
    rsoxs_run own = *run;
    collet_error err;
    collet_device_info device = {.struct_size = sizeof device};
    *b = (rsoxs_backend){
        .name = info->name, .priority = info->priority, .plan = {.struct_size = sizeof b->plan}};
    snprintf(b->why, sizeof b->why, "%s%s",
             info->state == COLLET_BACKEND_UNPROVEN ? "not tried yet: " : "", info->reason);
    find_named(run, info->name, b->first);
    int named = *b->first != '\0';
    if (info->state != COLLET_BACKEND_USABLE && !named)
        return;
    if (!named && collet_device_info_at(run->runtime, &device, index, 0, NULL) == COLLET_OK) {
        snprintf(b->first, sizeof b->first, "%s", device.choice);
        b->has = device.memory_bytes;
    }
    own.context = NULL;
    own.contexts = NULL;
    own.scatterings = NULL;
    own.devices = (tool_devices){0};
    b->usable = try(&own, b, named, &err) == COLLET_OK;
    if (!b->usable)
        snprintf(b->why, sizeof b->why, "%s", err.text);
    b->devices = own.devices;
    if (b->usable && own.scatterings)
        collet_scatter_get_plan(own.scatterings[0], &b->plan);
    b->bytes = rsoxs_plan_bytes(run, &b->plan);
    if (b->usable && device.memory == COLLET_MEMORY_HOST && b->has && b->bytes > (double)b->has) {
        b->usable = 0;
        too_large(b);
    }
    rsoxs_run_close_work(&own);
    collet_context_destroy(own.context);
}

static void choose(const rsoxs_run *run, rsoxs_backend *backends, size_t count)
{
    const char *choice = collet_get_backend(run->context), *at = choice;
    if (run->options->devices) {
        for (size_t i = 0; i < count; i++)
            for (int64_t d = 0; d < run->devices.count; d++)
                if (names(run->devices.choice[d], backends[i].name)) {
                    backends[i].chosen = 1;
                    snprintf(backends[i].why, sizeof backends[i].why, "named by --devices");
                }
        return;
    }
    int any = !strcmp(choice, "auto");
    for (const char *next; at; at = next ? next + 1 : NULL) {
        next = strchr(at, ',');
        for (size_t i = 0; i < count; i++)
            if (backends[i].usable && (any || names(at, backends[i].name))) {
                backends[i].chosen = 1;
                snprintf(backends[i].why, sizeof backends[i].why, "the first of %.200s%s",
                         any ? "these" : choice, " that can be used");
                return;
            }
    }
}

collet_status rsoxs_backends(const rsoxs_run *run, rsoxs_backend **out, size_t *count,
                             collet_error *err)
{
    collet_backend_info info = {.struct_size = sizeof info};
    *count = collet_backend_count(run->runtime);
    *out = calloc(*count + 1, sizeof **out);
    if (!*out)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < *count; i++)
        if (collet_backend_info_at(run->runtime, &info, i, NULL) == COLLET_OK)
            plan(run, i, &info, &(*out)[i]);
    choose(run, *out, *count);
    return COLLET_OK;
}
