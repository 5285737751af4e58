/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of the work, and the summary of the finished work.
 * Tests: tests/tools/rsoxs/test_rsoxs.c */
#include "plan.h"
#include "results.h"
#include "run.h"

#include "common/json_add.h"
#include "common/output.h"
#include "common/shares.h"
#include "common/stats.h"
#include "state.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A backend: whether it is usable and chosen, and the memory that the work needs on it. */
typedef struct rsoxs_backend {
    const char *name; /* valid as long as the runtime exists */
    int32_t priority;
    int usable, chosen;
    char why[COLLET_ERROR_TEXT]; /* why the backend cannot be used, or why it is chosen */
    tool_devices devices;       /* without an entry, the first device is used */
    char first[64];              /* device */
    collet_scatter_plan plan;
    double bytes; /* the size of the arrays of all beams on each device */
    uint64_t has; /* the first device's memory; 0: unknown */
} rsoxs_backend;

/* 1 if an element of a list such as "cuda:1,cpu_openmp" is the backend or one of its devices. */
static int names(const char *element, const char *backend)
{
    size_t length = strlen(backend);
    return !strncmp(element, backend, length) && strchr(":,", element[length]) != NULL;
}

/* Finds the first device in the choice that belongs to the backend and is chosen by a name instead of a number,
 * such as "worker:cuda". */
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

/* Returns the size in bytes of the arrays of all beams if one beam is computed at a time. */
static double rsoxs_plan_bytes(const rsoxs_run *run, const collet_scatter_plan *plan)
{
    return (double)plan->bytes + (double)plan->kept * (double)(run->n_beams - 1);
}

/* Notes that the work needs more memory than this process may use: the system would end the process. */
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

/* Plans the work on each backend, in the order in which auto prefers them. The caller frees *out. */
static collet_status rsoxs_backends(const rsoxs_run *run, rsoxs_backend **out, size_t *count,
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

void rsoxs_print_json(cJSON *root)
{
    if (!tool_print_json(root))
        fprintf(stderr, "%s: out of memory for the report\n", program_invocation_short_name);
    cJSON_Delete(root);
}

/* Adds the list "devices". If the energies are not shared, the list has only `other` (NULL: nothing). */
static void add_devices(cJSON *object, const tool_devices *devices, const char *other)
{
    cJSON *list = cJSON_AddArrayToObject(object, "devices");
    for (int64_t i = 0; i < devices->count; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(devices->choice[i]));
    if (devices->count == 0 && other)
        cJSON_AddItemToArray(list, cJSON_CreateString(other));
}

cJSON *rsoxs_run_json(const rsoxs_run *run)
{
    const int64_t *n = run->work.shape;
    cJSON *root = cJSON_CreateObject();
    cJSON *shape = cJSON_AddArrayToObject(root, "shape");
    for (int i = 0; i < 3; i++)
        cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)n[i]));
    cJSON_AddNumberToObject(root, "materials", (double)run->work.n_materials);
    cJSON_AddNumberToObject(root, "energies", (double)run->work.n_energies);
    cJSON_AddNumberToObject(root, "kept", (double)run->kept);
    cJSON_AddNumberToObject(root, "beams", (double)run->n_beams);
    cJSON_AddStringToObject(root, "method", run->options->method ? "direct" : "fast");
    cJSON_AddStringToObject(root, "dtype", collet_dtype_name(run->options->dtype));
    cJSON_AddStringToObject(root, "directory", run->directory);
    return root;
}

/* Prints "cuda:0, cuda:1", or `other` if the energies are not shared. */
static void print_devices(const tool_devices *devices, const char *other)
{
    for (int64_t i = 0; i < devices->count; i++)
        printf("%s%s", i ? ", " : "", devices->choice[i]);
    if (devices->count == 0)
        printf("%s", other);
}

static void add_backends(cJSON *root, const rsoxs_backend *backends, size_t count)
{
    cJSON *list = cJSON_AddArrayToObject(root, "backends");
    for (size_t i = 0; i < count; i++) {
        const rsoxs_backend *b = &backends[i];
        cJSON *object = json_append_object(list);
        cJSON_AddStringToObject(object, "name", b->name);
        cJSON_AddNumberToObject(object, "priority", b->priority);
        cJSON_AddBoolToObject(object, "usable", b->usable);
        cJSON_AddBoolToObject(object, "chosen", b->chosen);
        if (*b->why)
            cJSON_AddStringToObject(object, "why", b->why);
        if (!b->usable)
            continue;
        add_devices(object, &b->devices, b->first);
        cJSON_AddNumberToObject(object, "bytes", b->bytes);
        cJSON_AddNumberToObject(object, "energies_at_a_time", (double)b->plan.block);
        if (b->has)
            cJSON_AddNumberToObject(object, "memory_bytes", (double)b->has);
        if (b->chosen && !cJSON_HasObjectItem(root, "backend"))
            cJSON_AddStringToObject(root, "backend", b->name);
    }
}

static void print_backends(const rsoxs_backend *backends, size_t count)
{
    char size[TOOL_SIZE_TEXT];
    printf("backends, those that can be used in the order of auto:\n");
    for (size_t i = 0; i < count; i++) {
        const rsoxs_backend *b = &backends[i];
        printf("  %s (priority %d): ", b->name, (int)b->priority);
        if (!b->usable) {
            printf("cannot be used: %s\n", b->why);
            continue;
        }
        printf("%s on %s", tool_size_format(size, b->bytes),
               b->devices.count > 1 ? "each of " : "");
        print_devices(&b->devices, *b->first ? b->first : b->name);
        if (b->has)
            printf(", which ha%s %s", b->devices.count > 1 ? "ve" : "s",
                   tool_size_format(size, (double)b->has));
        printf(", %" PRId64 " energ%s at a time", b->plan.block, b->plan.block == 1 ? "y" : "ies");
        printf(b->chosen ? "; chosen: %s\n" : "\n", b->why);
    }
}

/* Measures device i, which computes the first energy twice. Only the second time is measured, because
 * kernels may be compiled in the first. */
static collet_status measure(const rsoxs_run *run, int64_t i, collet_device_share *share,
                             collet_error *err)
{
    collet_scatter_options one = run->work;
    collet_context *context = NULL;
    one.n_energies = 1;
    one.progress = NULL;
    collet_status status = tool_devices_context(&run->devices, i, run->runtime, &context, err);
    *share = (collet_device_share){
        .struct_size = sizeof *share, .device = run->devices.choice[i], .done = 1};
    for (int time = 0; time < 2 && status == COLLET_OK; time++) {
        const collet_scatter_pattern *pattern;
        collet_scatter *scattering;
        status = collet_scatter_create(context, &scattering, &one, err);
        double began = tool_now();
        if (status == COLLET_OK)
            status = collet_scatter_next(scattering, &pattern, err);
        share->seconds = tool_now() - began;
        collet_scatter_destroy(scattering);
    }
    collet_context_destroy(context);
    return status;
}

/* Returns the number of devices that share the energies; 0 if one device computes all. */
static int64_t measured(const rsoxs_run *run)
{
    return run->scatterings && run->devices.count > 1 ? run->devices.count : 0;
}

static cJSON *plan_json(const rsoxs_run *run, const collet_scatter_plan *plan,
                        const rsoxs_backend *backends, size_t count,
                        const collet_device_share *shares)
{
    cJSON *root = rsoxs_run_json(run);
    add_devices(root, &run->devices, NULL);
    cJSON_AddNumberToObject(root, "fields", (double)plan->fields);
    cJSON_AddNumberToObject(root, "angles", (double)plan->angles);
    cJSON_AddNumberToObject(root, "transforms", (double)plan->transforms);
    cJSON_AddNumberToObject(root, "energies_at_a_time", (double)plan->block);
    cJSON_AddNumberToObject(root, "passes", (double)plan->passes);
    cJSON_AddNumberToObject(root, "bytes", rsoxs_plan_bytes(run, plan));
    cJSON_AddNumberToObject(root, "integrals_bytes", (double)rsoxs_results_bytes(run));
    add_backends(root, backends, count);
    if (measured(run))
        tool_shares_plan(shares, measured(run), "energies", root);
    return root;
}

/* Prints "3 x 20 x 24 voxels of 2 nm (Z, Y, X), 2 materials, 40 energies (2 kept), ...". */
void rsoxs_print_work(const rsoxs_run *run, const collet_scatter_plan *plan)
{
    const int64_t *n = run->work.shape, energies = run->kept + run->work.n_energies;
    printf("%" PRId64 " x %" PRId64 " x %" PRId64 " voxels of %g nm (Z, Y, X), %" PRId64
           " material%s, %" PRId64 " energ%s",
           n[0], n[1], n[2], run->work.voxel, run->work.n_materials,
           tool_plural(run->work.n_materials), energies, energies == 1 ? "y" : "ies");
    if (run->kept)
        printf(" (%" PRId64 " kept)", run->kept);
    if (plan)
        printf(", %" PRId64 " angle%s", plan->angles, tool_plural(plan->angles));
    printf(", %" PRId64 " beam%s\n", run->n_beams, tool_plural(run->n_beams));
}

static void print_plan_text(const rsoxs_run *run, const collet_scatter_plan *plan,
                            const rsoxs_backend *backends, size_t count,
                            const collet_device_share *shares)
{
    char size[TOOL_SIZE_TEXT];
    rsoxs_print_work(run, run->scatterings ? plan : NULL);
    if (run->scatterings) {
        printf("%s method in %s: %" PRId64 " fields, %" PRId64 " transforms, %" PRId64
               " energ%s at a time%s\n",
               run->options->method ? "direct" : "fast", collet_dtype_name(run->options->dtype),
               plan->fields, plan->transforms * run->n_beams, plan->block,
               plan->block == 1 ? "y" : "ies",
               plan->passes > 1 ? ", and several passes over the morphology" : "");
        printf("arrays: %s on %s", tool_size_format(size, rsoxs_plan_bytes(run, plan)),
               run->devices.count > 0 ? "each of " : "");
        const char *first = "the chosen backend";
        for (size_t i = 0; i < count; i++)
            first = backends[i].chosen ? backends[i].name : first;
        print_devices(&run->devices, first);
        printf("\n");
    } else {
        printf("nothing is left to compute\n");
    }
    if (run->options->integrate)
        printf("integrals: %s\n", tool_size_format(size, (double)rsoxs_results_bytes(run)));
    if (run->scatterings)
        print_backends(backends, count);
    if (measured(run))
        printf("measured by the first energy:\n");
    tool_shares_plan(shares, measured(run), "energies", NULL);
}

collet_status rsoxs_print_plan(const rsoxs_run *run, cJSON *json, collet_error *err)
{
    collet_scatter_plan plan = {.struct_size = sizeof plan};
    rsoxs_backend *backends;
    size_t count;
    collet_device_share shares[TOOL_DEVICES];
    collet_status status = COLLET_OK;
    for (int64_t i = 0; i < measured(run) && status == COLLET_OK; i++)
        status = measure(run, i, &shares[i], err);
    if (status == COLLET_OK)
        status = rsoxs_backends(run, &backends, &count, err);
    if (status != COLLET_OK)
        return status;
    if (run->scatterings)
        collet_scatter_get_plan(run->scatterings[0], &plan);
    if (json)
        cJSON_AddItemToObject(json, "largest", plan_json(run, &plan, backends, count, shares));
    else if (run->options->json)
        rsoxs_print_json(plan_json(run, &plan, backends, count, shares));
    else
        print_plan_text(run, &plan, backends, count, shares);
    free(backends);
    return COLLET_OK;
}

/* Reports the share that each of several devices has computed. */
static void report_shares(const rsoxs_run *run, cJSON *root)
{
    collet_device_share share;
    cJSON *list = root && run->devices.count > 1 ? cJSON_AddArrayToObject(root, "shares") : NULL;
    for (size_t i = 0; rsoxs_run_share(run, i, &share); i++)
        if (root)
            tool_share_add(list, &share, "energies");
        else
            tool_share_print(&share, run->n_beams > 1 ? "patterns" : "energies");
}

void rsoxs_print_summary(const rsoxs_run *run, double seconds)
{
    if (run->options->json) {
        cJSON *root = rsoxs_run_json(run);
        add_devices(root, &run->devices, NULL);
        report_shares(run, root);
        cJSON_AddNumberToObject(root, "seconds", seconds);
        if (run->context)
            cJSON_AddStringToObject(
                root, "backend",
                collet_last_backend(run->contexts ? *run->contexts : run->context));
        if (run->options->integrate && rsoxs_run_whole(run))
            cJSON_AddStringToObject(root, "integrals", RSOXS_INTEGRALS);
        rsoxs_print_json(root);
        return;
    }
    if (run->options->quiet)
        return;
    if (run->options->part)
        printf("shard %" PRId64 " of %" PRId64 ": ", run->options->shard.shard,
               run->options->shard.n_shards);
    if (run->options->merge)
        printf("%" PRId64 " pattern%s of all shards in %s\n", run->kept, tool_plural(run->kept),
               tool_shown(run->directory));
    else if (run->kept)
        printf("%" PRId64 " pattern%s of an earlier run kept\n", run->kept, tool_plural(run->kept));
    if (run->work.n_energies) {
        printf("%" PRId64 " pattern%s of %" PRId64 " x %" PRId64 " pixels in %s, %.2f s on ",
               run->work.n_energies, tool_plural(run->work.n_energies), run->work.shape[1],
               run->work.shape[2], tool_shown(run->directory), seconds);
        print_devices(&run->devices, collet_last_backend(run->context));
        printf("\n");
        report_shares(run, NULL);
    } else if (!run->options->merge) {
        printf("nothing was left to compute\n");
    }
    if (run->options->part)
        return;
    if (!rsoxs_run_whole(run))
        printf(
            "several shards compute energies of this film: collet-merge %s.shards completes it\n",
            tool_shown(run->directory));
    else if (run->options->integrate)
        printf("%s/%s: I(q, chi), I(q), wedges and A(q) of %" PRId64 " energ%s\n",
               tool_shown(run->directory), RSOXS_INTEGRALS, run->n_chosen,
               run->n_chosen == 1 ? "y" : "ies");
    if (run->options->png && rsoxs_run_whole(run))
        printf("pictures of %" PRId64 " pattern%s, and of I(q, E), in %s\n",
               run->n_chosen * run->n_beams, tool_plural(run->n_chosen * run->n_beams),
               tool_shown(run->directory));
}
