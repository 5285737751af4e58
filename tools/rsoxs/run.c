/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/rsoxs/test_rsoxs.c */
#include "run.h"
#include "files.h"
#include "outputs.h"
#include "results.h"

#include "common/interrupt.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK 4096       /* of a disk, usually */
#define SAME_ENERGY 1e-3 /* eV, between --energies and the configuration */

/* ---- Choice of energies ---------------------------------------------------------------------- */

/* FNV-1a, of 64 bits. */
static uint64_t hash(uint64_t h, const void *data, size_t bytes)
{
    for (const unsigned char *at = data, *end = at + bytes; at < end; at++)
        h = (h ^ *at) * UINT64_C(1099511628211);
    return h;
}

/* The morphology by size and time of its file, the same before and after it is opened. */
static collet_status describe_morphology(rsoxs_run *run, collet_error *err)
{
    struct stat file;
    char before[sizeof run->morphology];
    memcpy(before, run->morphology, sizeof before);
    if (stat(run->options->morphology, &file) != 0)
        return collet_fail(err, COLLET_IO, "%s: %s", run->options->morphology, strerror(errno));
    snprintf(run->morphology, sizeof run->morphology, "%jd bytes of %jd.%09ld",
             (intmax_t)file.st_size, (intmax_t)file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
    return !*before || !strcmp(before, run->morphology)
               ? COLLET_OK
               : collet_fail(err, COLLET_IO, "%s: was replaced or changed while it was read",
                             run->options->morphology);
}

/* Describes everything that determines a pattern. This includes the energy, because the file's name
 * has only two decimals, but not the list of energies. */
static void describe(const rsoxs_run *run, double energy,
                     const collet_scattering_constants *constants, char text[RSOXS_SETTINGS])
{
    const collet_scattering_options *w = &run->work;
    const uint32_t vectors = w->materials[0].kind == COLLET_SCATTERING_VECTOR;
    const uint32_t choices[] = {w->nearest, w->window, w->mask, w->material, vectors};
    uint64_t h = hash(UINT64_C(14695981039346656037), choices, sizeof choices);
    h = hash(h, &energy, sizeof energy);
    h = hash(h, w->angles, sizeof w->angles);
    h = hash(h, w->detector, sizeof w->detector);
    h = hash(h, run->beams, (size_t)run->n_beams * sizeof *run->beams);
    h = hash(h, constants, (size_t)w->n_materials * sizeof *constants);
    snprintf(
        text, RSOXS_SETTINGS,
        "collet-rsoxs 2; morphology %s; method %u; precision %s; q grid %u; dc %u; configuration "
        "%016" PRIx64,
        run->morphology, w->method, collet_dtype_name(w->dtype), w->grid, w->neighbours, h);
}

static int is_chosen(const rsoxs_options *o, double energy)
{
    for (int64_t i = 0; i < o->n_energies; i++)
        if (fabs(o->energies[i] - energy) <= SAME_ENERGY)
            return 1;
    return o->energies == NULL;
}

static collet_status check_chosen(const rsoxs_run *run, collet_error *err)
{
    const rsoxs_options *o = run->options;
    for (int64_t i = 0; i < o->n_energies; i++) {
        int64_t e = 0;
        while (e < run->work.n_energies &&
               fabs(run->work.energies[e] - o->energies[i]) > SAME_ENERGY)
            e++;
        if (e == run->work.n_energies)
            return collet_fail(err, COLLET_INVALID, "--energies: %s has no energy of %.10g eV",
                               o->configuration, o->energies[i]);
    }
    return COLLET_OK;
}

/* Whether the energy is to be computed; an error where its file is in the way. */
static collet_status is_left(rsoxs_run *run, double energy,
                             const collet_scattering_constants *constants, int *left,
                             collet_error *err)
{
    const rsoxs_options *o = run->options;
    char settings[RSOXS_SETTINGS];
    *left = 1;
    if (o->force || (o->plan && !o->resume))
        return COLLET_OK;
    describe(run, energy, constants, settings);
    collet_status status = collet_scattering_written(run->directory, energy, settings, err);
    if (status == COLLET_NOT_FOUND)
        return COLLET_OK;
    if (o->resume && status == COLLET_OK) {
        *left = 0;
        run->kept++;
        return status;
    }
    if (status == COLLET_INVALID || status == COLLET_FORMAT) {
        char text[sizeof err->text];
        snprintf(text, sizeof text, "%s", err->text);
        return collet_fail(err, status,
                           "%.*s: another directory (-o) keeps both, --force replaces it",
                           (int)sizeof text - 80, text);
    }
    char name[COLLET_SCATTERING_NAME];
    collet_scattering_file_name(name, energy);
    return status == COLLET_OK ? collet_fail(err, COLLET_IO,
                                             "%s/%s exists: --resume keeps patterns, --force "
                                             "replaces them",
                                             run->directory, name)
                               : status;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static collet_status choose_energies(rsoxs_run *run, collet_error *err)
{
    const collet_scattering_options *all = &run->work;
    size_t materials = (size_t)all->n_materials, energies = (size_t)all->n_energies;
    int64_t count = 0;
    run->energies = malloc(energies * sizeof *run->energies);
    run->chosen = malloc(energies * sizeof *run->chosen);
    run->constants = malloc(energies * materials * sizeof *run->constants);
    if (!run->energies || !run->chosen || !run->constants)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory");
    for (size_t e = 0; e < energies; e++) {
        int left;
        if (!is_chosen(run->options, all->energies[e]))
            continue;
        run->chosen[run->n_chosen++] = all->energies[e];
        collet_status status =
            is_left(run, all->energies[e], all->constants + e * materials, &left, err);
        if (status != COLLET_OK)
            return status;
        if (!left)
            continue;
        run->energies[count] = all->energies[e];
        memcpy(run->constants + (size_t)count++ * materials, all->constants + e * materials,
               materials * sizeof *run->constants);
    }
    qsort(run->chosen, (size_t)run->n_chosen, sizeof *run->chosen, ascending);
    run->work.n_energies = count;
    run->work.energies = run->energies;
    run->work.constants = run->constants;
    return COLLET_OK;
}

/* Checks the space for the patterns, --integrate and --png; replaced files already have theirs. */
static collet_status check_space(const rsoxs_run *run, collet_error *err)
{
    char settings[RSOXS_SETTINGS];
    if (run->options->plan || run->options->force || run->n_chosen == 0)
        return COLLET_OK;
    describe(run, 0, collet_scattering_input_options(run->input)->constants, settings);
    double pattern = (double)collet_scattering_file_bytes(run->n_beams, run->work.shape[1],
                                                          run->work.shape[2], settings);
    pattern = ceil(pattern / BLOCK) * BLOCK;
    return rsoxs_check_space(run->directory,
                             (double)run->work.n_energies * pattern + rsoxs_results_disk(run),
                             "the results", err);
}

collet_status rsoxs_run_read(rsoxs_run *run, const rsoxs_options *options, collet_error *err)
{
    *run = (rsoxs_run){.options = options};
    collet_status status = describe_morphology(run, err);
    if (status == COLLET_OK)
        status = collet_scattering_read(&run->input, options->morphology, options->configuration,
                                        options->dtype, err);
    if (status == COLLET_OK)
        status = describe_morphology(run, err);
    if (status == COLLET_IO && access(options->configuration, F_OK) != 0) {
        const collet_error found = *err;
        return collet_fail(err, status, "%s; name a configuration by -c FILE", found.text);
    }
    if (status != COLLET_OK)
        return status;
    run->work = *collet_scattering_input_options(run->input);
    run->work.method = options->method;
    run->work.grid = options->grid;
    run->work.neighbours = options->neighbours;
    run->n_beams = collet_scattering_input_beams(run->input, &run->beams);
    run->work.memory = options->memory / (uint64_t)run->n_beams;
    run->directory = options->directory ? options->directory
                     : collet_scattering_input_directory(run->input)
                         ? collet_scattering_input_directory(run->input)
                         : "HDF5";
    status = check_chosen(run, err);
    if (status == COLLET_OK)
        status = rsoxs_results_check(run, err);
    if (status == COLLET_OK)
        status = choose_energies(run, err);
    if (status == COLLET_OK && !options->plan)
        status = rsoxs_check_outputs(run, err);
    return status == COLLET_OK ? check_space(run, err) : status;
}

/* ---- Explanations, with files, as validate has them ------------------------------------------ */

typedef struct explanation {
    const char *of; /* an error's text; NULL: of voxels */
    collet_error found;
} explanation;

static void note_fault(void *user, const collet_scattering_finding *finding)
{
    explanation *e = user;
    if (e->found.status == COLLET_OK && !finding->warning &&
        (e->of ? strstr(finding->text, e->of) != NULL : finding->voxels > 0))
        collet_fail(&e->found, COLLET_INVALID, "%s", finding->text);
}

/* Replaces the error of a scattering by the fault that a check of the files finds: the one with the
 * text `of`, or NULL: one in voxels. */
static void explain(const char *path, const char *configuration, const char *of, collet_error *err)
{
    explanation e = {.of = of};
    if (collet_scattering_check(path, configuration, note_fault, &e, NULL) == COLLET_OK &&
        e.found.status == COLLET_INVALID)
        *err = e.found;
}

/* ---- Work ------------------------------------------------------------------------------------ */

static int32_t show_progress(void *user, const collet_scattering_progress *progress)
{
    rsoxs_run *run = user;
    tool_progress_update(&run->progress, progress->energies, 0, progress->fraction);
    return tool_interrupt_signal();
}

static collet_status open_runtime(rsoxs_run *run, collet_error *err)
{
    static const char *const defaults[] = {TOOL_LOG_LEVEL, NULL};
    char text[48];
    const char *const settings[] = {text, NULL};
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .backend = run->options->backend,
                                      .log = tool_log,
                                      .log_user = &run->progress,
                                      .defaults = defaults};
    snprintf(text, sizeof text, "num_threads=%" PRId64, run->options->threads);
    if (run->options->threads > 0)
        options.settings = settings;
    tool_progress_begin(&run->progress, "collet-rsoxs", stderr, run->options->quiet);
    run->progress.unit = "energies";
    collet_status status = collet_runtime_create(&run->runtime, &options, err);
    if (status == COLLET_OK)
        status = collet_context_create(run->runtime, &run->context, err);
    if (status == COLLET_OK)
        status = rsoxs_devices_choose(&run->devices, run->context, run->options->devices, err);
    return status;
}

/* A context for each beam and device: a scattering keeps its own busy. */
static collet_status open_contexts(rsoxs_run *run, collet_error *err)
{
    int64_t count = run->devices.count;
    collet_status status = COLLET_OK;
    if (count == 0)
        return status;
    run->contexts = calloc((size_t)(count * run->n_beams), sizeof(void *));
    if (!run->contexts)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory");
    for (int64_t i = 0; i < count * run->n_beams && status == COLLET_OK; i++)
        status =
            rsoxs_devices_context(&run->devices, i % count, run->runtime, &run->contexts[i], err);
    return status;
}

/* Warnings about voxels come when the voxels are read. */
static void print_warnings(rsoxs_run *run)
{
    const char *warning;
    while ((warning = collet_scattering_input_warning(run->input, run->warned)) != NULL) {
        if (run->progress.program)
            tool_progress_end(&run->progress);
        fprintf(stderr, "collet-rsoxs: warning: %s\n", warning);
        run->warned++;
    }
}

collet_status rsoxs_run_open(rsoxs_run *run, collet_error *err)
{
    print_warnings(run);
    collet_status status = open_runtime(run, err);
    if (status == COLLET_OK)
        status = rsoxs_run_open_work(run, err);
    if (status == COLLET_INVALID && run->scatterings)
        explain(run->options->configuration, NULL, err->text, err);
    return status;
}

collet_status rsoxs_run_open_work(rsoxs_run *run, collet_error *err)
{
    if (run->work.n_energies == 0)
        return COLLET_OK;
    run->scatterings = calloc((size_t)run->n_beams, sizeof(void *));
    if (!run->scatterings)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory");
    collet_status status = open_contexts(run, err);
    run->work.progress = show_progress;
    run->work.progress_user = run;
    run->work.n_contexts = run->contexts ? run->devices.count - 1 : 0;
    for (int64_t i = 0; i < run->n_beams && status == COLLET_OK; i++) {
        memcpy(run->work.direction, run->beams[i], sizeof run->work.direction);
        collet_context **own = run->contexts ? run->contexts + i * run->devices.count : NULL;
        run->work.contexts = own ? own + 1 : NULL;
        status = collet_scattering_create(own ? *own : run->context, &run->scatterings[i],
                                          &run->work, err);
    }
    return status;
}

static collet_status open_directory(const char *path, int *made, collet_error *err)
{
    collet_status status = rsoxs_make_directory(path, made, err);
    if (status == COLLET_OK && eaccess(path, W_OK | X_OK) != 0)
        return collet_fail(err, COLLET_IO, "%s: cannot be written to: %s; choose another with -o",
                           path, strerror(errno));
    return status;
}

/* The patterns of the next energy, all beams. */
static collet_status next_energy(rsoxs_run *run, collet_scattering_pattern *patterns,
                                 collet_error *err)
{
    char settings[RSOXS_SETTINGS];
    for (int64_t i = 0; i < run->n_beams; i++) {
        const collet_scattering_pattern *pattern;
        collet_status status = collet_scattering_next(run->scatterings[i], &pattern, err);
        if (status != COLLET_OK)
            return status;
        patterns[i] = *pattern;
    }
    const collet_scattering_constants *constants =
        run->constants + patterns[0].index * run->work.n_materials;
    int left;
    /* Another program may have written it meanwhile. */
    collet_status status = is_left(run, patterns[0].energy, constants, &left, err);
    if (status != COLLET_OK || !left)
        return status;
    describe(run, patterns[0].energy, constants, settings);
    if (run->options->force)
        rsoxs_remove_companions(run->directory, patterns[0].energy);
    status = collet_scattering_write(run->directory, patterns[0].energy, run->n_beams, run->beams,
                                     patterns, settings, err);
    run->written += status == COLLET_OK;
    return status;
}

collet_status rsoxs_run_work(rsoxs_run *run, collet_error *err)
{
    collet_scattering_pattern *patterns = malloc((size_t)run->n_beams * sizeof *patterns);
    int made = 0;
    collet_status status = patterns ? open_directory(run->directory, &made, err)
                                    : collet_fail(err, COLLET_NO_MEMORY, "out of memory");
    for (int64_t e = 0; e < run->work.n_energies && status == COLLET_OK; e++) {
        status = tool_interrupt_signal() ? collet_fail(err, COLLET_CANCELLED, "stopped")
                                         : next_energy(run, patterns, err);
        print_warnings(run);
    }
    free(patterns);
    if (status == COLLET_INVALID)
        explain(run->options->morphology, run->options->configuration, NULL, err);
    if (status != COLLET_OK && made)
        rmdir(run->directory); /* unless there are patterns */
    if (status == COLLET_OK && (run->options->integrate || run->options->png))
        status = rsoxs_results_write(run, err);
    tool_progress_end(&run->progress);
    if (status != COLLET_OK && run->written + run->kept > 0) {
        collet_error why = *err;
        collet_fail(err, status, "%.900s; complete files are kept, --resume continues", why.text);
    }
    return status;
}

void rsoxs_run_close_work(rsoxs_run *run)
{
    for (int64_t i = 0; run->scatterings && i < run->n_beams; i++)
        collet_scattering_destroy(run->scatterings[i]);
    free(run->scatterings);
    for (int64_t i = 0; run->contexts && i < run->n_beams * run->devices.count; i++)
        collet_context_destroy(run->contexts[i]);
    free(run->contexts);
    collet_context_destroy(run->context);
}

void rsoxs_run_close(rsoxs_run *run)
{
    if (run->progress.program)
        tool_progress_end(&run->progress);
    rsoxs_run_close_work(run);
    collet_runtime_destroy(run->runtime);
    collet_scattering_input_destroy(run->input);
    free(run->energies);
    free(run->chosen);
    free(run->constants);
}
