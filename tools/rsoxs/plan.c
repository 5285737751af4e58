/* SPDX-License-Identifier: Apache-2.0 */
/* What the work takes, and what was done. */
#include "run.h"

#include "common/json_add.h"
#include "common/size.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdlib.h>

static void print_json(cJSON *root)
{
    char *text = cJSON_Print(root);
    if (text)
        puts(text);
    cJSON_free(text);
    cJSON_Delete(root);
}

static cJSON *common_members(const rsoxs_run *run)
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
    cJSON_AddStringToObject(root, "road", run->options->road ? "direct" : "fast");
    cJSON_AddStringToObject(root, "precision", collet_dtype_name(run->options->dtype));
    cJSON_AddStringToObject(root, "directory", run->directory);
    cJSON *devices = cJSON_AddArrayToObject(root, "devices");
    for (int64_t i = 0; i < run->devices.count; i++)
        cJSON_AddItemToArray(devices, cJSON_CreateString(run->devices.choice[i]));
    return root;
}

/* "cuda:0, cuda:1", or `other` where the energies are not shared. */
static void print_devices(const rsoxs_run *run, const char *other)
{
    for (int64_t i = 0; i < run->devices.count; i++)
        printf("%s%s", i ? ", " : "", run->devices.choice[i]);
    if (run->devices.count == 0)
        printf("%s", other);
}

/* Of the arrays of all beams, of which one is computed at a time. */
static double bytes_of(const rsoxs_run *run, const collet_scattering_plan *plan)
{
    return (double)plan->bytes + (double)plan->kept * (double)(run->n_beams - 1);
}

void rsoxs_print_plan(const rsoxs_run *run)
{
    const int64_t *n = run->work.shape;
    collet_scattering_plan plan = {.struct_size = sizeof plan};
    char size[TOOL_SIZE_TEXT];
    if (run->scatterings)
        collet_scattering_get_plan(run->scatterings[0], &plan);
    if (run->options->json) {
        cJSON *root = common_members(run);
        cJSON_AddNumberToObject(root, "fields", (double)plan.fields);
        cJSON_AddNumberToObject(root, "angles", (double)plan.angles);
        cJSON_AddNumberToObject(root, "transforms", (double)plan.transforms);
        cJSON_AddNumberToObject(root, "energies_at_a_time", (double)plan.block);
        cJSON_AddNumberToObject(root, "passes", (double)plan.passes);
        cJSON_AddNumberToObject(root, "bytes", bytes_of(run, &plan));
        cJSON_AddNumberToObject(root, "integrals_bytes", (double)rsoxs_results_bytes(run));
        print_json(root);
        return;
    }
    printf("%" PRId64 " x %" PRId64 " x %" PRId64 " voxels of %g nm (Z, Y, X), %" PRId64
           " material%s, %" PRId64 " energ%s, %" PRId64 " angle%s, %" PRId64 " beam%s\n",
           n[0], n[1], n[2], run->work.voxel, run->work.n_materials,
           tool_plural(run->work.n_materials), run->work.n_energies,
           run->work.n_energies == 1 ? "y" : "ies", plan.angles, tool_plural(plan.angles),
           run->n_beams, tool_plural(run->n_beams));
    printf("%s road in %s: %" PRId64 " fields, %" PRId64 " transforms, %" PRId64
           " energ%s at a time%s\n",
           run->options->road ? "direct" : "fast", collet_dtype_name(run->options->dtype),
           plan.fields, plan.transforms * run->n_beams, plan.block, plan.block == 1 ? "y" : "ies",
           plan.passes > 1 ? ", and several passes over the morphology" : "");
    printf("arrays: %s", tool_size_format(size, bytes_of(run, &plan)));
    if (run->devices.count > 0) {
        printf(" on each of ");
        print_devices(run, "");
    }
    printf("\n");
    if (run->options->integrate)
        printf("integrals: %s\n", tool_size_format(size, (double)rsoxs_results_bytes(run)));
}

void rsoxs_print_summary(const rsoxs_run *run, double seconds)
{
    if (run->options->json) {
        cJSON *root = common_members(run);
        cJSON_AddNumberToObject(root, "seconds", seconds);
        cJSON_AddStringToObject(root, "backend",
                                collet_last_backend(run->contexts ? *run->contexts : run->context));
        if (run->options->integrate)
            cJSON_AddStringToObject(root, "integrals", RSOXS_INTEGRALS);
        print_json(root);
        return;
    }
    if (run->options->quiet)
        return;
    if (run->kept)
        printf("%" PRId64 " pattern%s of an earlier run kept\n", run->kept, tool_plural(run->kept));
    printf("%" PRId64 " pattern%s of %" PRId64 " x %" PRId64 " pixels in %s, %.2f s on ",
           run->work.n_energies, tool_plural(run->work.n_energies), run->work.shape[1],
           run->work.shape[2], run->directory, seconds);
    print_devices(run, run->work.n_energies ? collet_last_backend(run->context) : "no backend");
    printf("\n");
    if (run->options->integrate)
        printf("%s/%s: I(q, chi), I(q), wedges and A(q) of %" PRId64 " energ%s\n", run->directory,
               RSOXS_INTEGRALS, run->n_chosen, run->n_chosen == 1 ? "y" : "ies");
    if (run->options->png)
        printf("pictures of %" PRId64 " pattern%s, and of I(q, E), in %s\n",
               run->n_chosen * run->n_beams, tool_plural(run->n_chosen * run->n_beams),
               run->directory);
}
