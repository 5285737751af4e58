/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_shards.c */
#include "share.h"

#include "io/numerals.h"
#include "io/results.h"
#include "run.h"
#include "trajectory/reading/parts.h"
#include "work.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* `lock` guards `results`: take_sums runs on another thread than the function that takes the frames. */
typedef struct writer {
    pthread_mutex_t lock;
    io_results *results;
    trajectory_extent extent;
    int32_t columns[TRAJECTORY_BUFFERS]; /* -1: none */
    int32_t frames;                      /* column of the frame numbers */
} writer;

/* ---- Rows -------------------------------------------------------------------------------- */

static collet_status append(writer *w, int32_t column, int64_t n, const double *rows,
                            collet_error *err)
{
    pthread_mutex_lock(&w->lock);
    collet_status status = io_results_append(w->results, column, n, rows, err);
    pthread_mutex_unlock(&w->lock);
    return status;
}

/* Writes the sums. The buffer of times is ignored: the times come with the frame numbers. */
static collet_status take_sums(void *user, int32_t buffer, int64_t n, const double *rows,
                               collet_error *err)
{
    writer *w = user;

    return buffer == TRAJECTORY_TIME || w->columns[buffer] < 0
               ? COLLET_OK
               : append(w, w->columns[buffer], n, rows, err);
}

static collet_status take_frames(void *user, int64_t n, const int64_t *indices, const double *times,
                                 collet_error *err)
{
    writer *w = user;
    double numbers[256];
    const int64_t most = sizeof numbers / sizeof *numbers;
    collet_status status = append(w, w->columns[TRAJECTORY_TIME], n, times, err);

    for (int64_t done = 0, k = 0; status == COLLET_OK && done < n; done += k) {
        k = n - done < most ? n - done : most;
        for (int64_t i = 0; i < k; i++)
            numbers[i] = (double)indices[done + i];
        status = append(w, w->frames, k, numbers, err);
    }
    return status;
}

static collet_status add_masses(const trajectory_settings *s, io_results *results,
                                collet_error *err)
{
    int32_t column;

    if (s->mass_values == NULL)
        return COLLET_OK;
    collet_status status = io_results_add(results, TRAJECTORY_SHARD_MASSES, 0, NULL, &column, err);
    return status == COLLET_OK
               ? io_results_append(results, column, s->n_mass_values, s->mass_values, err)
               : status;
}

static collet_status add_columns(const collet_trajectory *x, writer *w, collet_error *err)
{
    uint64_t sums = trajectory_buffers_summed(trajectory_run_buffers(x)) |
                    TRAJECTORY_BUFFER_BIT(TRAJECTORY_TIME);
    int64_t one = 1;
    collet_status status =
        io_results_add(w->results, TRAJECTORY_SHARD_FRAMES, 1, &one, &w->frames, err);

    for (int32_t i = 0; i < TRAJECTORY_BUFFERS; i++)
        w->columns[i] = -1;
    for (size_t i = 0; status == COLLET_OK && i < TRAJECTORY_SUMS; i++) {
        int32_t buffer = trajectory_sums[i].buffer;
        int64_t width = trajectory_sum_width(buffer, w->extent);

        if (sums & TRAJECTORY_BUFFER_BIT(buffer))
            status = io_results_add(w->results, trajectory_sums[i].name, 1, &width,
                                    &w->columns[buffer], err);
    }
    return status;
}

/* ---- Notes ------------------------------------------------------------------------------- */

static cJSON *describe_file(const trajectory_part *part)
{
    cJSON *file = cJSON_CreateObject();

    if (file && trajectory_work_put(file, "first", cJSON_CreateNumber((double)part->first)) &&
        trajectory_work_put(file, "frames", cJSON_CreateNumber((double)part->n_frames)) &&
        trajectory_work_put(file, "was_cut", cJSON_CreateBool(part->was_cut)) &&
        trajectory_work_put(file, "last_ps", cJSON_CreateNumber(part->last)))
        return file;
    cJSON_Delete(file);
    return NULL;
}

/* Returns, as JSON, the data that the reader has only after the last frame. */
static cJSON *describe_end(const trajectory_inputs *in)
{
    cJSON *end = cJSON_CreateObject(), *files = cJSON_CreateArray();
    int64_t n;
    const trajectory_part *parts = trajectory_parts_get(in->trajectory, &n);
    int done =
        end && trajectory_work_put(end, "precision", cJSON_CreateNumber(in->info->precision)) &&
        trajectory_work_put(
            end, "note", in->info->note ? cJSON_CreateString(in->info->note) : cJSON_CreateNull());

    for (int64_t k = 0; done && files && k < n; k++)
        done = trajectory_work_put(files, NULL, describe_file(&parts[k]));
    if (done && files && cJSON_AddItemToObject(end, "files", files))
        return end;
    cJSON_Delete(files);
    cJSON_Delete(end);
    return NULL;
}

static cJSON *describe_backends(const trajectory_analysis_notes *ran)
{
    cJSON *list = cJSON_CreateArray();

    for (int32_t i = 0; list && i < ran->n_backends; i++)
        if (!trajectory_work_put(list, NULL, cJSON_CreateString(ran->backends[i]))) {
            cJSON_Delete(list);
            return NULL;
        }
    return list;
}

static cJSON *describe(const collet_trajectory *x)
{
    const trajectory_settings *s = &x->settings;
    cJSON *root = cJSON_CreateObject();

    if (root && trajectory_work_put(root, "format", cJSON_CreateString(TRAJECTORY_SHARD_FORMAT)) &&
        trajectory_work_put(root, "shard", cJSON_CreateNumber((double)s->shard)) &&
        trajectory_work_put(root, "n_shards", cJSON_CreateNumber((double)s->n_shards)) &&
        trajectory_work_put(root, "rows", cJSON_CreateNumber((double)x->share.rows)) &&
        trajectory_work_put(root, "work", cJSON_Duplicate(x->work, 1)) &&
        trajectory_work_put(root, "origin", trajectory_work_origin(s)) &&
        trajectory_work_put(root, "notes", trajectory_notes_write(&x->notes)) &&
        trajectory_work_put(root, "end", describe_end(&x->inputs)) &&
        trajectory_work_put(root, "backends", describe_backends(&x->ran)))
        return root;
    cJSON_Delete(root);
    return NULL;
}

/* Paths may have any bytes, but the writer of texts replaces invisible characters such as 0x7f to 0x9f. So each byte
 * from 0x7f on is stored as the character with code U+0100 + byte. */
static char *widen(const char *text)
{
    char *wide = malloc(2 * strlen(text) + 1), *to = wide;

    for (; wide && *text; text++) {
        unsigned char byte = (unsigned char)*text;

        if (byte >= 0x7f)
            *to++ = (char)(0xc4 | byte >> 6);
        *to++ = (char)(byte >= 0x7f ? 0x80 | (byte & 0x3f) : byte);
    }
    if (wide)
        *to = '\0';
    return wide;
}

static collet_status write_notes(const collet_trajectory *x, io_results *results, collet_error *err)
{
    cJSON *json = describe(x);
    locale_t before = io_numerals_begin();
    char *printed = json ? cJSON_PrintUnformatted(json) : NULL;
    char *wide = printed ? widen(printed) : NULL;
    const char *text = wide;

    io_numerals_end(before);
    collet_status status =
        wide ? io_results_add_texts(results, TRAJECTORY_SHARD_NOTES, 1, &text, err)
             : collet_fail(err, COLLET_NO_MEMORY, "shard: out of memory");
    free(wide);
    cJSON_free(printed);
    cJSON_Delete(json);
    return status;
}

/* ---- The file ---------------------------------------------------------------------------- */

/* Creates the directory of shards and sets *out to its path, which the caller frees. */
static collet_status make_directory(const collet_trajectory *x, const char *path, char **out,
                                    collet_error *err)
{
    int length = (int)strlen(path);
    struct stat facts;

    while (length > 1 && path[length - 1] == '/')
        length--;
    *out = NULL;
    if (x->settings.shards != NULL)
        *out = strdup(x->settings.shards);
    else if (asprintf(out, "%.*s.shards", length, path) < 0)
        *out = NULL;
    if (*out == NULL)
        return collet_fail(err, COLLET_NO_MEMORY, "shard: out of memory");
    if (mkdir(*out, 0777) == 0 ||
        (errno == EEXIST && stat(*out, &facts) == 0 && S_ISDIR(facts.st_mode)))
        return COLLET_OK;
    return io_spool_refused(*out, errno, err);
}

/* Sets x->kept if the shard's file exists and may be kept. A damaged file is replaced. */
static collet_status check_old(collet_trajectory *x, uint32_t *flags, collet_error *err)
{
    const trajectory_settings *s = &x->settings;
    trajectory_shard old;
    struct stat facts;
    char why[320] = "";
    collet_status status;

    if (*flags & COLLET_TRAJECTORY_OVERWRITE || lstat(x->output, &facts) != 0)
        return COLLET_OK;
    if (!(*flags & COLLET_TRAJECTORY_RESUME))
        return collet_fail(err, COLLET_IO,
                           "%s already exists: keep it (collet-extract: --resume), or replace it "
                           "(--force)",
                           x->output);
    status = trajectory_shard_read(x->output, &old, err);
    if (status == COLLET_OK)
        trajectory_shards_differ(x->work, cJSON_GetObjectItemCaseSensitive(old.json, "work"), why,
                                 sizeof why);
    if (status == COLLET_OK && (*why || old.shard != s->shard || old.n_shards != s->n_shards))
        status = collet_fail(err, COLLET_INVALID,
                             "%s is of other work (%s): replace it (--force), or "
                             "choose another output",
                             x->output, *why ? why : "shards");
    if (status == COLLET_OK)
        status = trajectory_shard_check(&old, err);
    x->share.rows = status == COLLET_OK ? old.rows : 0;
    x->kept = status == COLLET_OK;
    trajectory_shard_free(&old);
    if (status != COLLET_FORMAT)
        return status;
    *flags |= COLLET_TRAJECTORY_OVERWRITE;
    return COLLET_OK;
}

/* Checks that the paths of the inputs still lead to the files that were opened. */
static collet_status check_inputs(const collet_trajectory *x, collet_error *err)
{
    cJSON *now = trajectory_work_describe(&x->settings);
    char why[320] = "";

    if (now)
        trajectory_shards_differ(x->work, now, why, sizeof why);
    cJSON_Delete(now);
    if (!now)
        return collet_fail(err, COLLET_NO_MEMORY, "shard: out of memory");
    return *why ? collet_fail(err, COLLET_IO,
                              "%s: an input was changed or replaced while it was read (%s): run "
                              "this shard again",
                              x->output, why)
                : COLLET_OK;
}

static collet_status compute(collet_trajectory *x, writer *w, collet_error *err)
{
    collet_status status = COLLET_OK;

    if (x->share.reads) {
        status = trajectory_run_sums(x, take_sums, take_frames, w, err);
        while (status == COLLET_OK && x->stage == TRAJECTORY_RUNNING)
            status = trajectory_run_step(x, err);
        trajectory_run_stop(x);
    }
    x->stage = TRAJECTORY_DONE;
    x->seconds = trajectory_clock() - x->began;
    return status;
}

static collet_status write_file(collet_trajectory *x, const char *directory, uint32_t flags,
                                collet_error *err)
{
    writer w = {.extent = trajectory_inputs_extent(&x->inputs)};
    int rmsd = (trajectory_run_buffers(x) & TRAJECTORY_BUFFER_BIT(TRAJECTORY_RMSD)) != 0;

    collet_status status = check_inputs(x, err); /* before an index of these files is made */

    if (status == COLLET_OK)
        status = trajectory_inputs_divide(&x->inputs, directory, &x->share, err);
    if (status == COLLET_OK && rmsd && x->share.first_row > 0 && x->share.reads)
        status = trajectory_inputs_take_first(&x->inputs, directory,
                                              (x->has & TRAJECTORY_VELOCITIES) != 0,
                                              (x->has & TRAJECTORY_FORCES) != 0, err);
    if (status == COLLET_OK)
        status = io_results_create(x->output, IO_RESULTS_NPZ, &w.results, err);
    if (status != COLLET_OK)
        return status;
    x->rows_total = x->share.end_row - x->share.first_row;
    pthread_mutex_init(&w.lock, NULL);
    status = add_columns(x, &w, err);
    if (status == COLLET_OK)
        status = add_masses(&x->settings, w.results, err);
    if (status == COLLET_OK)
        status = compute(x, &w, err);
    if (status == COLLET_OK)
        status = check_inputs(x, err);
    if (status == COLLET_OK)
        status = write_notes(x, w.results, err);
    if (status == COLLET_OK)
        status = io_results_link(w.results, err);
    if (status == COLLET_OK)
        status =
            io_results_rename(w.results, NULL, (flags & COLLET_TRAJECTORY_OVERWRITE) != 0, err);
    pthread_mutex_destroy(&w.lock);
    io_results_free(w.results);
    return status;
}

collet_status trajectory_share_write(collet_trajectory *x, const char *path, uint32_t flags,
                                     collet_error *err)
{
    char *directory;
    collet_status status = make_directory(x, path, &directory, err);

    if (status == COLLET_OK) {
        x->output = trajectory_shard_path(directory, x->settings.shard, x->settings.n_shards);
        if (x->output == NULL)
            status = collet_fail(err, COLLET_NO_MEMORY, "shard: out of memory");
    }
    if (status == COLLET_OK)
        status = check_old(x, &flags, err);
    if (status == COLLET_OK && !x->kept)
        status = write_file(x, directory, flags, err);
    free(directory);
    return status;
}
