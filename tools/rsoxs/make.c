/* SPDX-License-Identifier: Apache-2.0 */
/* collet-rsoxs make: a morphology with its expected patterns.
 * Tests: tests/tools/rsoxs/test_rsoxs_make.c */
#include "commands.h"

#include "common/arguments.h"
#include "common/directory.h"
#include "common/interrupt.h"
#include "common/output.h"
#include "rsoxs/make/make.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct make_paths {
    char *directory; /* ends with a slash, or is empty */
    char *morphology, *expected;
} make_paths;

/* Names the files. The output is DIR, or the file of the morphology in DIR. */
static collet_status name_files(make_paths *paths, const make_options *o, collet_error *err)
{
    size_t length = strlen(o->output), size = length + 40;
    int file = length > 3 && !strcmp(o->output + length - 3, ".h5");
    const char *slash = strrchr(o->output, '/');
    int before = !file ? (int)length : slash ? (int)(slash - o->output) + 1 : 0;
    paths->directory = malloc(size);
    paths->morphology = malloc(size);
    paths->expected = malloc(size);
    if (!paths->directory || !paths->morphology || !paths->expected)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory");
    snprintf(paths->directory, size, "%.*s%s", before, o->output,
             before && o->output[before - 1] != '/' ? "/" : "");
    snprintf(paths->morphology, size, "%s%s", paths->directory,
             file ? o->output + before : "morphology.h5");
    snprintf(paths->expected, size, "%sexpected.json", paths->directory);
    return COLLET_OK;
}

/* COLLET_IO if a file that write_set would write exists already. */
static collet_status check_free(const make_scene *scene, const make_paths *paths, collet_error *err)
{
    size_t size = strlen(paths->directory) + 40;
    char *path = malloc(size);
    collet_status status = path ? COLLET_OK : collet_fail(err, COLLET_NO_MEMORY, "out of memory");
    for (int64_t i = 0; i < scene->materials + 3 && status == COLLET_OK; i++) {
        const char *other = i == 0 ? paths->morphology : i == 1 ? paths->expected : path;
        if (i == 2)
            snprintf(path, size, "%sconfig.txt", paths->directory);
        else if (i > 2)
            snprintf(path, size, "%sMaterial%" PRId64 ".txt", paths->directory, i - 2);
        status = io_spool_check_output(other, 0, err);
    }
    free(path);
    return status;
}

static collet_status check_space(const make_scene *scene, const make_paths *paths,
                                 collet_error *err)
{
    const int64_t *n = scene->options->size;
    double voxels = (double)n[0] * (double)n[1] * (double)n[2], fields = 0;
    for (int64_t m = 0; m < scene->materials; m++)
        fields += make_is_aligned(scene, m) ? 4 : 1;
    return tool_check_space(paths->directory, fields * voxels * sizeof(float), "the voxels", err);
}

static collet_status write_set(const make_scene *scene, const make_paths *paths, make_sums *sums,
                               make_set *set, collet_error *err)
{
    io_spool *morphology = NULL;
    collet_status status = io_spool_create(paths->morphology, IO_SPOOL_NAMED, &morphology, err);
    if (status == COLLET_OK)
        status = make_write_morphology(scene, morphology, sums, err);
    if (status == COLLET_OK)
        status = make_add_settings(set, scene, paths->directory, err);
    if (status == COLLET_OK)
        status = make_add_expected(set, scene, paths->expected, sums, err);
    /* The morphology is the last file, so it is always in a directory with its own settings. */
    set->spools[set->count++] = morphology;
    for (size_t i = 0; i < set->count && status == COLLET_OK; i++)
        status = io_spool_link(set->spools[i], err);
    return status;
}

static collet_status write_files(const make_scene *scene, const make_paths *paths,
                                 collet_error *err)
{
    make_set set = {.count = 0};
    make_sums *sums = calloc((size_t)scene->materials, sizeof *sums);
    collet_status status = sums ? COLLET_OK : collet_fail(err, COLLET_NO_MEMORY, "out of memory");
    if (status == COLLET_OK)
        status = write_set(scene, paths, sums, &set, err);
    if (status == COLLET_OK)
        status = io_spool_rename_all(set.spools, set.count, scene->options->force, err);
    for (size_t i = 0; i < set.count; i++)
        io_spool_free(set.spools[i]);
    free(sums);
    return status;
}

static void print_summary(const make_scene *scene, const make_paths *paths)
{
    const make_options *o = scene->options;
    if (o->quiet)
        return;
    printf("%s: %" PRId64 " x %" PRId64 " x %" PRId64 " voxels of %g nm (Z, Y, X), %" PRId64
           " material%s\n",
           tool_shown(paths->morphology), o->size[0], o->size[1], o->size[2], o->voxel,
           scene->materials, tool_plural(scene->materials));
    printf("compute: collet-rsoxs %s -c %sconfig.txt --q-grid exact -o %spatterns\n",
           tool_shown(paths->morphology), tool_shown(paths->directory),
           tool_shown(paths->directory));
}

static int run(const tool_command *self, int argc, char **argv)
{
    make_options options;
    make_scene scene = {0};
    make_paths paths = {0};
    collet_error err;
    int result = 0, made;
    make_options_parse(self, argc, argv, &options);
    tool_interrupt_install();
    collet_status status = name_files(&paths, &options, &err);
    if (status == COLLET_OK)
        status = make_scene_open(&scene, &options, &err);
    if (status == COLLET_OK && *paths.directory)
        status = tool_make_directory(paths.directory, &made, &err);
    if (status == COLLET_OK && !options.force)
        status = check_free(&scene, &paths, &err);
    if (status == COLLET_OK)
        status = check_space(&scene, &paths, &err);
    if (status == COLLET_OK)
        status = write_files(&scene, &paths, &err);
    if (status == COLLET_CANCELLED && tool_interrupt_signal()) {
        fprintf(stderr, "collet-rsoxs: %s; nothing was written\n",
                strsignal(tool_interrupt_signal()));
        result = 128 + tool_interrupt_signal();
    } else if (status != COLLET_OK) {
        tool_complain("collet-rsoxs", err.text);
        result = TOOL_EXIT_FAILURE;
    } else {
        tool_interrupt_report();
        print_summary(&scene, &paths);
        if (!tool_flush("collet-rsoxs", "all files are complete"))
            result = TOOL_EXIT_FAILURE;
    }
    make_scene_free(&scene);
    make_options_free(&options);
    free(paths.directory);
    free(paths.morphology);
    free(paths.expected);
    return result;
}

const tool_command rsoxs_make = {
    .name = "make",
    .summary = "write a morphology of known physics",
    .argp = {.options = make_argp_options,
             .parser = make_parse,
             .args_doc = "sphere|core-shell|cylinders|euler",
             .doc = make_doc,
             .children = tool_short_help},
    .run = run,
};
