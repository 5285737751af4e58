/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/rsoxs/test_rsoxs.c, tests/tools/rsoxs/test_rsoxs_results.c */
#include "run.h"
#include "energies.h"
#include "io/spool.h"
#include "results.h"

#include "common/directory.h"
#include "common/interrupt.h"
#include "common/output.h"
#include "common/shares.h"
#include "state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* 1 if `file` is NAME.png, NAME_K0.png and so on. NAME is the first `length` characters of `name`. */
static int is_picture(const char *file, const char *name, size_t length)
{
    const char *end = file + length;
    if (strncmp(file, name, length) != 0)
        return 0;
    if (!strncmp(end, "_K", 2))
        end += 2 + strspn(end + 2, "0123456789");
    return !strcmp(end, ".png");
}

/* 1 if the file is a picture of I(q, E). If `pattern` is not NULL, also 1 for the integrals and the pictures of
 * `pattern`. */
static int is_companion(const char *file, const char *pattern)
{
    return is_picture(file, "intensity", strlen("intensity")) ||
           (pattern && (!strcmp(file, RSOXS_INTEGRALS) ||
                        is_picture(file, pattern, strlen(pattern) - strlen(".h5"))));
}

static void remove_companions(const char *path, const char *pattern)
{
    DIR *directory = opendir(path);
    const struct dirent *entry;
    while (directory && (entry = readdir(directory)) != NULL) {
        struct stat st;
        if (!is_companion(entry->d_name, pattern))
            continue;
        if (fstatat(dirfd(directory), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
            mode_t mask = umask(077); /* the replacement gets no wider permissions */
            umask(mask | (~st.st_mode & 077));
        }
        unlinkat(dirfd(directory), entry->d_name, 0);
    }
    if (directory)
        closedir(directory);
}

/* Removes the files that were made from a pattern that --force replaces, or from all patterns. */
static void rsoxs_remove_companions(const char *directory, double energy)
{
    char pattern[COLLET_SCATTER_NAME];
    collet_scatter_file_name(pattern, energy);
    remove_companions(directory, pattern);
}

/* Removes the pictures of I(q, E), because they no longer show the patterns. */
static void rsoxs_remove_maps(const char *directory)
{
    remove_companions(directory, NULL);
}

/* 1 if the run makes or removes files with this name. */
static int is_output(const rsoxs_run *run, const char *name)
{
    const rsoxs_options *o = run->options;
    int companions = o->force || o->integrate || o->png;
    for (int64_t i = 0; i < run->n_chosen; i++) {
        char pattern[COLLET_SCATTER_NAME];
        collet_scatter_file_name(pattern, run->chosen[i]);
        if (!strcmp(name, pattern) || (companions && is_companion(name, pattern)))
            return 1;
    }
    return 0;
}

/* Fails if `output` is one of the morphologies, the configuration or its Material<i>.txt. */
static collet_status check_inputs(const rsoxs_run *run, const char *output, collet_error *err)
{
    const char *configuration = run->options->configuration, *slash = strrchr(configuration, '/');
    int before = slash ? (int)(slash - configuration) + 1 : 0;
    size_t size = (size_t)before + 40;
    char *material = malloc(size);
    struct stat file;
    const char *film =
        stat(output, &file) == 0 ? rsoxs_films_find(&run->session->films, &file) : NULL;
    collet_status status = material ? io_spool_check_input(output, film, err)
                                    : collet_fail(err, COLLET_NO_MEMORY, "out of memory");
    if (status == COLLET_OK)
        status = io_spool_check_input(output, configuration, err);
    for (int64_t m = 1; m <= run->work.n_materials && status == COLLET_OK; m++) {
        snprintf(material, size, "%.*sMaterial%" PRId64 ".txt", before, configuration, m);
        status = io_spool_check_input(output, material, err);
    }
    free(material);
    return status;
}

/* Returns INVALID if the run would replace or remove a file that it reads. */
static collet_status rsoxs_check_outputs(const rsoxs_run *run, collet_error *err)
{
    DIR *directory = opendir(run->directory);
    const struct dirent *entry;
    collet_status status = COLLET_OK;
    while (directory && status == COLLET_OK && (entry = readdir(directory)) != NULL) {
        size_t size = strlen(run->directory) + strlen(entry->d_name) + 2;
        char *path = malloc(size);
        if (path)
            snprintf(path, size, "%s/%s", run->directory, entry->d_name);
        status = path ? check_inputs(run, path, err)
                      : collet_fail(err, COLLET_NO_MEMORY, "out of memory");
        free(path);
        if (status == COLLET_INVALID && !is_output(run, entry->d_name))
            status = COLLET_OK;
    }
    if (directory)
        closedir(directory);
    return status;
}

#define BLOCK 4096 /* of a disk, usually */

/* ---- Reading ---------------------------------------------------------------------------------- */

/* Describes the morphology by the size and the time of its file, which must not change while it is
 * opened. */
static collet_status describe_morphology(rsoxs_run *run, collet_error *err)
{
    struct stat file;
    char before[sizeof run->morphology];
    memcpy(before, run->morphology, sizeof before);
    if (stat(run->film, &file) != 0)
        return collet_fail(err, COLLET_IO, "%s: %s", run->film, strerror(errno));
    snprintf(run->morphology, sizeof run->morphology, "%jd bytes of %jd.%09ld",
             (intmax_t)file.st_size, (intmax_t)file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
    return !*before || !strcmp(before, run->morphology)
               ? COLLET_OK
               : collet_fail(err, COLLET_IO, "%s: was replaced or changed while it was read",
                             run->film);
}

double rsoxs_run_bytes(const rsoxs_run *run)
{
    char settings[RSOXS_SETTINGS];
    rsoxs_energies_describe(run, 0, collet_scatter_input_options(run->input)->constants,
                            settings);
    double pattern = (double)collet_scatter_file_bytes(run->n_beams, run->work.shape[1],
                                                       run->work.shape[2], settings);
    pattern = ceil(pattern / BLOCK) * BLOCK;
    return (double)run->work.n_energies * pattern + rsoxs_results_disk(run);
}

/* Checks that the disk has space for all results; replaced files already have their space. */
static collet_status check_space(const rsoxs_run *run, collet_error *err)
{
    const rsoxs_options *o = run->options;
    return o->plan || o->force || o->merge || run->n_chosen == 0
               ? COLLET_OK
               : tool_check_space(run->directory, rsoxs_run_bytes(run), "the results", err);
}

collet_status rsoxs_run_read(rsoxs_run *run, rsoxs_session *session, const rsoxs_film *film,
                             collet_error *err)
{
    const rsoxs_options *options = session->options;
    *run = (rsoxs_run){.options = options,
                       .session = session,
                       .film = film->path,
                       .directory = film->directory,
                       .first = film->first,
                       .end = film->end};
    collet_status status = describe_morphology(run, err);
    if (status == COLLET_OK)
        status = collet_scatter_read(&run->input, run->film, options->configuration,
                                     options->dtype, err);
    if (status == COLLET_OK)
        status = describe_morphology(run, err);
    if (status != COLLET_OK)
        return status;
    run->work = *collet_scatter_input_options(run->input);
    run->work.method = options->method;
    run->work.grid = options->grid;
    run->work.neighbours = options->neighbours;
    if (run->work.nearest && run->work.grid == COLLET_SCATTER_EXACT)
        return collet_fail(err, COLLET_INVALID,
                           "%s: EwaldsInterpolation = 0 takes the nearest slice, but --q-grid exact has no slices: set it "
                           "to 1",
                           options->configuration);
    run->n_beams = collet_scatter_input_beams(run->input, &run->beams);
    run->work.memory = options->memory / (uint64_t)run->n_beams;
    status = rsoxs_results_check(run, err);
    if (status == COLLET_OK)
        status = rsoxs_energies_choose(run, err);
    if (status == COLLET_OK && !options->plan)
        status = rsoxs_check_outputs(run, err);
    return status == COLLET_OK ? check_space(run, err) : status;
}

/* ---- Errors that name files, as in the command validate -------------------------------------- */

typedef struct explanation {
    const char *of; /* the text of an error; NULL: a fault in voxels is searched */
    collet_error found;
} explanation;

static void note_fault(void *user, const collet_scatter_finding *finding)
{
    explanation *e = user;
    if (e->found.status == COLLET_OK && !finding->warning &&
        (e->of ? strstr(finding->text, e->of) != NULL : finding->voxels > 0))
        collet_fail(&e->found, COLLET_INVALID, "%s", finding->text);
}

/* Replaces the error of a scattering by a fault that a check of the files finds: the fault with the
 * text `of` or, if `of` is NULL, a fault in voxels. */
static void explain(const char *path, const char *configuration, const char *of, collet_error *err)
{
    explanation e = {.of = of};
    if (collet_scatter_check(path, configuration, note_fault, &e, NULL) == COLLET_OK &&
        e.found.status == COLLET_INVALID)
        *err = e.found;
}

/* ---- Work ------------------------------------------------------------------------------------ */

static int32_t show_progress(void *user, const collet_progress *progress)
{
    const rsoxs_run *run = user;
    rsoxs_session *s = run->session;
    if (s->n_films > 1)
        tool_progress_update(&s->progress, s->done, 0,
                             ((double)s->done + progress->fraction) / (double)s->n_films);
    else
        tool_progress_update(&s->progress, progress->done, 0, progress->fraction);
    return tool_interrupt_signal();
}

static collet_status open_runtime(rsoxs_session *session, collet_error *err)
{
    static const char *const defaults[] = {TOOL_LOG_LEVEL, NULL};
    const rsoxs_options *o = session->options;
    char text[48];
    const char *const settings[] = {text, NULL};
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .backend = o->backend,
                                      .log = tool_log,
                                      .log_user = &session->progress,
                                      .defaults = defaults};
    snprintf(text, sizeof text, "num_threads=%" PRId64, o->threads);
    if (o->threads > 0)
        options.settings = settings;
    collet_status status = collet_runtime_create(&session->runtime, &options, err);
    if (status == COLLET_OK)
        status = collet_context_create(session->runtime, &session->context, err);
    if (status == COLLET_OK)
        status =
            tool_devices_choose(&session->devices, session->context, o->devices, o->place, err);
    if (status != COLLET_OK) {
        collet_context_destroy(session->context);
        collet_runtime_destroy(session->runtime);
        session->context = NULL;
        session->runtime = NULL;
    }
    return status;
}

/* Opens a context for each beam and device, because a scattering occupies its context. */
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
            tool_devices_context(&run->devices, i % count, run->runtime, &run->contexts[i], err);
    return status;
}

/* 1 if the same warning about the configuration was printed for an earlier film; otherwise remembers it. */
static int is_told(rsoxs_session *s, const char *warning)
{
    for (size_t i = 0; i < s->n_told; i++)
        if (!strcmp(s->told[i], warning))
            return 1;
    char **more = realloc(s->told, (s->n_told + 1) * sizeof *more);
    if (more)
        s->told = more;
    char *copy = more ? strdup(warning) : NULL;
    if (copy)
        s->told[s->n_told++] = copy;
    return 0;
}

/* Prints the new warnings. Warnings about voxels arise when the voxels are read. */
static void print_warnings(rsoxs_run *run)
{
    const char *warning;
    size_t length = strlen(run->film);
    while ((warning = collet_scatter_input_warning_at(run->input, run->warned)) != NULL) {
        run->warned++;
        if (strncmp(warning, run->film, length) != 0 && is_told(run->session, warning))
            continue;
        tool_progress_end(&run->session->progress);
        tool_warn(program_invocation_short_name, warning);
    }
}

/* Warns, for the first film, that CyRSoXS's grid is the default, and how far its intensities are from the exact
 * intensities. Faults of voxels are reported later, when the patterns are computed. */
static void warn_of_grid(rsoxs_run *run)
{
    const int64_t *n = run->work.shape, most = INT64_C(1) << 25; /* voxels that are read once more */
    collet_scatter_comparison c = {.struct_size = sizeof c};
    char text[400], size[160] = "";
    rsoxs_session *s = run->session;
    if (run->options->has_grid || run->options->plan || run->options->shard.shard > 1 ||
        s->compared || n[0] == 1)
        return;
    s->compared = 1;
    collet_scatter_options work = run->work;
    memcpy(work.direction, run->beams[0], sizeof work.direction);
    if (n[0] * n[1] * n[2] <= most) {
        if (collet_scatter_compare(run->context, &c, &work, NULL) != COLLET_OK || !(c.total >= 0))
            return;
        snprintf(size, sizeof size,
                 ": at %g eV, in the middle of %s, they are %.2f to %.2f times the exact intensities, and their sum "
                 "%.2f times the exact sum",
                 c.energy, tool_shown(run->film), c.low, c.high, c.total);
    }
    snprintf(text, sizeof text,
             "the default --q-grid cyrsoxs interpolates intensities between slices, as CyRSoXS does%s; --q-grid "
             "exact computes the exact intensities",
             size);
    tool_progress_end(&s->progress);
    tool_warn(program_invocation_short_name, text);
}

collet_status rsoxs_run_open(rsoxs_run *run, collet_error *err)
{
    rsoxs_session *session = run->session;
    print_warnings(run);
    if (run->work.n_energies == 0 && !run->options->plan)
        return COLLET_OK;
    collet_status status = session->runtime ? COLLET_OK : open_runtime(session, err);
    if (status != COLLET_OK)
        return status;
    run->runtime = session->runtime;
    run->context = session->context;
    run->devices = session->devices;
    status = rsoxs_run_open_work(run, err);
    if (status == COLLET_OK)
        warn_of_grid(run);
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
    for (int64_t i = 0; i < run->n_beams && status == COLLET_OK; i++) {
        memcpy(run->work.direction, run->beams[i], sizeof run->work.direction);
        collet_context **own = run->contexts ? run->contexts + i * run->devices.count : NULL;
        const collet_devices devices = {
            .struct_size = sizeof devices, .n_contexts = run->devices.count, .contexts = own};
        run->work.devices = run->devices.count > 1 ? &devices : NULL;
        status = collet_scatter_create(own ? *own : run->context, &run->scatterings[i],
                                       &run->work, err);
    }
    run->work.devices = NULL;
    return status;
}

int rsoxs_run_share(const rsoxs_run *run, size_t index, collet_device_share *share)
{
    *share = (collet_device_share){.struct_size = sizeof *share};
    for (int64_t i = 0; run->scatterings && i < run->n_beams; i++) {
        collet_device_share of = {.struct_size = sizeof of};
        if (collet_scatter_share_at(run->scatterings[i], &of, index, NULL) != COLLET_OK)
            return 0;
        share->device = of.device;
        share->done += of.done;
        share->seconds += of.seconds;
        share->error = share->error ? share->error : of.error;
    }
    return share->device != NULL;
}

/* Warns about devices that failed since the last call; other devices do their work. */
static void warn_of_devices(rsoxs_run *run)
{
    collet_device_share share;
    for (size_t i = 0; rsoxs_run_share(run, i, &share); i++)
        if (share.error && !(run->failed >> i & 1)) {
            run->failed |= UINT64_C(1) << i;
            tool_progress_end(&run->session->progress);
            tool_share_warn(&share);
        }
}

static collet_status open_directory(const char *path, int *made, collet_error *err)
{
    collet_status status = tool_make_directory(path, made, err);
    if (status == COLLET_OK && eaccess(path, W_OK | X_OK) != 0)
        return collet_fail(err, COLLET_IO, "%s: cannot be written to: %s; choose another with -o",
                           path, strerror(errno));
    return status;
}

/* Computes and writes the patterns of the next energy for all beams. */
static collet_status next_energy(rsoxs_run *run, collet_scatter_pattern *patterns,
                                 collet_error *err)
{
    char settings[RSOXS_SETTINGS];
    for (int64_t i = 0; i < run->n_beams; i++) {
        const collet_scatter_pattern *pattern;
        collet_status status = collet_scatter_next(run->scatterings[i], &pattern, err);
        if (status != COLLET_OK)
            return status;
        patterns[i] = *pattern;
    }
    const collet_scatter_constants *constants =
        run->constants + patterns[0].index * run->work.n_materials;
    int left;
    /* Another program may have written the pattern meanwhile. */
    collet_status status = rsoxs_energies_left(run, patterns[0].energy, constants, &left, err);
    if (status != COLLET_OK || !left)
        return status;
    rsoxs_energies_describe(run, patterns[0].energy, constants, settings);
    if (run->options->force)
        rsoxs_remove_companions(run->directory, patterns[0].energy);
    status = collet_scatter_write(run->directory, patterns[0].energy, run->n_beams, run->beams,
                                  patterns, settings, err);
    run->written += status == COLLET_OK;
    return status;
}

collet_status rsoxs_run_work(rsoxs_run *run, collet_error *err)
{
    collet_scatter_pattern *patterns = malloc((size_t)run->n_beams * sizeof *patterns);
    int made = 0;
    collet_status status = patterns ? open_directory(run->directory, &made, err)
                                    : collet_fail(err, COLLET_NO_MEMORY, "out of memory");
    if (status == COLLET_OK && run->options->shard.n_shards && run->options->png)
        rsoxs_remove_maps(run->directory);
    for (int64_t e = 0; e < run->work.n_energies && status == COLLET_OK; e++) {
        status = tool_interrupt_signal() ? collet_fail(err, COLLET_CANCELLED, "stopped")
                                         : next_energy(run, patterns, err);
        print_warnings(run);
        if (status == COLLET_OK)
            warn_of_devices(run);
    }
    free(patterns);
    if (status == COLLET_INVALID)
        explain(run->film, run->options->configuration, NULL, err);
    /* Removes the directory unless it has patterns, or another shard may be about to write patterns. */
    if (status != COLLET_OK && made && !run->options->shard.n_shards)
        rmdir(run->directory);
    if (status == COLLET_OK && rsoxs_run_whole(run) && !rsoxs_results_kept(run))
        status = rsoxs_results_write(run, err);
    tool_progress_end(&run->session->progress);
    if (status != COLLET_OK && run->written + run->kept > 0) {
        collet_error why = *err;
        collet_fail(err, status, "%.900s; complete files are kept, --resume continues", why.text);
    }
    return status;
}

void rsoxs_run_close_work(rsoxs_run *run)
{
    for (int64_t i = 0; run->scatterings && i < run->n_beams; i++)
        collet_scatter_destroy(run->scatterings[i]);
    free(run->scatterings);
    for (int64_t i = 0; run->contexts && i < run->n_beams * run->devices.count; i++)
        collet_context_destroy(run->contexts[i]);
    free(run->contexts);
}

void rsoxs_run_close(rsoxs_run *run)
{
    rsoxs_run_close_work(run);
    collet_scatter_input_destroy(run->input);
    free(run->energies);
    free(run->places);
    free(run->chosen);
    free(run->constants);
}
