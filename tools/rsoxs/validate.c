/* SPDX-License-Identifier: Apache-2.0 */
/* collet-rsoxs validate: every fault of files.
 * Tests: tests/tools/rsoxs/test_rsoxs_validate.c */
#include "commands.h"

#include "common/arguments.h"
#include "common/json_add.h"
#include "common/output.h"

#include <collet/scatter.h>
#include <inttypes.h>

enum { KEY_JSON = 256 };

static const char doc[] =
    "Lists every fault of a morphology, a configuration or a file of optical constants, and warns "
    "of what is suspicious.\v"
    "A configuration is checked with the Material1.txt, Material2.txt, ... beside it. With -c a "
    "morphology is checked together with its configuration and constants, as it would be "
    "computed.\n\n"
    "Examples:\n"
    "  collet-rsoxs validate film.h5 -c config.txt\n"
    "  collet-rsoxs validate Material2.txt -c config.txt";

static const struct argp_option argp_options[] = {
    {"config", 'c', "FILE", 0, "The configuration of a morphology or of optical constants", 1},
    {"json", KEY_JSON, NULL, 0, "Print what was found as JSON", 1},
    {0},
};

typedef struct validation {
    const char *path, *configuration;
    cJSON *list; /* of --json */
    int json, failed;
    int64_t faults, warnings;
} validation;

static error_t parse(int key, char *text, struct argp_state *state)
{
    validation *v = state->input;
    switch (key) {
    case 'c':
        v->configuration = text;
        return 0;
    case KEY_JSON:
        v->json = 1;
        return 0;
    case ARGP_KEY_ARG:
        if (v->path)
            tool_error(state, "one file is expected, not '%s' too", text);
        v->path = text;
        return 0;
    case ARGP_KEY_END:
        if (!v->path)
            tool_error(state, "a file is required");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int add_voxels(cJSON *object, const collet_scatter_finding *f)
{
    cJSON *first = cJSON_CreateArray();
    int done = first && json_add_number(object, "voxels", (double)f->voxels);
    if (f->dataset)
        done = done && json_add_text(object, "dataset", f->dataset) &&
               json_add_number(object, "material", (double)f->material);
    for (int64_t i = 0; i < f->voxels && i < 3 && done; i++) {
        const double zyx[] = {(double)f->first[i][0], (double)f->first[i][1],
                              (double)f->first[i][2]};
        done = cJSON_AddItemToArray(first, cJSON_CreateDoubleArray(zyx, 3));
    }
    return json_add_item(object, "first", first) && done;
}

static void report(void *user, const collet_scatter_finding *finding)
{
    validation *v = user;
    const char *kind = finding->warning ? "warning" : "error";
    if (finding->warning)
        v->warnings++;
    else
        v->faults++;
    if (!v->json) {
        printf("%s: %s\n", kind, tool_shown(finding->text));
        return;
    }
    cJSON *object = json_append_object(v->list);
    v->failed |= !object || !json_add_text(object, "kind", kind) ||
                 !json_add_text(object, "text", finding->text) ||
                 (finding->voxels && !add_voxels(object, finding));
}

static void print_summary(const validation *v)
{
    printf("%s: ", tool_shown(v->path));
    if (!v->faults && !v->warnings)
        printf("no fault\n");
    else
        printf("%" PRId64 " error%s, %" PRId64 " warning%s\n", v->faults, v->faults == 1 ? "" : "s",
               v->warnings, v->warnings == 1 ? "" : "s");
}

static int print_json(const validation *v, cJSON *root)
{
    return !v->failed && root && json_add_number(root, "errors", (double)v->faults) &&
           json_add_number(root, "warnings", (double)v->warnings) && tool_print_json(root);
}

static int run(const tool_command *self, int argc, char **argv)
{
    validation v = {0};
    collet_error err;
    tool_parse(&self->argp, argc, argv, 0, &v);
    cJSON *root = v.json ? cJSON_CreateObject() : NULL;
    v.list = root ? cJSON_AddArrayToObject(root, "findings") : NULL;
    v.failed = v.json && !v.list;
    collet_status status =
        v.failed ? COLLET_OK : collet_scatter_check(v.path, v.configuration, report, &v, &err);
    if (status == COLLET_OK && v.json && !print_json(&v, root))
        status = collet_fail(&err, COLLET_NO_MEMORY, "out of memory");
    else if (status == COLLET_OK && !v.json)
        print_summary(&v);
    cJSON_Delete(root);
    if (status != COLLET_OK)
        tool_complain("collet-rsoxs", err.text);
    int printed = tool_flush("collet-rsoxs", NULL);
    return status == COLLET_OK && !v.faults && printed ? 0 : TOOL_EXIT_FAILURE;
}

const tool_command rsoxs_validate = {
    .name = "validate",
    .summary = "list every fault of a file",
    .argp = {.options = argp_options,
             .parser = parse,
             .args_doc = "FILE",
             .doc = doc,
             .children = tool_short_help},
    .run = run,
};
