/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of the work, and the summary of the finished work.
 * Tests: tests/tools/rsoxs/test_rsoxs.c */
#include "plan.h"
#include "backends.h"
#include "results.h"
#include "run.h"

#include "common/json_add.h"
#include "common/output.h"
#include "common/shares.h"
#include "common/size.h"
#include "common/stats.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

void rsoxs_print_json(cJSON *root)
{
    if (!tool_print_json(root))
        fprintf(stderr, "%s: out of memory for the report\n", program_invocation_short_name);
    cJSON_Delete(root);
}

/* Adds the list "devices". If the energies are not shared, it has the device `other` (NULL: none). */
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
