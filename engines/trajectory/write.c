/* SPDX-License-Identifier: Apache-2.0 */
/* Rows delivered to files.
 * Tests: tests/engines/test_trajectory.c, tests/tools/test_extract_output_sets.c */
#include "io/results.h"
#include "io/spool.h"
#include "run.h"
#include "share.h"
#include "writing/forms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <collet/floating.h>

/* ---- Paths ------------------------------------------------------------------------------- */

static collet_status check_path(const collet_trajectory *x, const char *path, uint32_t flags,
                                collet_error *err)
{
    const trajectory_settings *settings = &x->settings;
    const char *inputs[] = {settings->topology, settings->trajectory, settings->ndx,
                            settings->masses, settings->reference};
    collet_status status = COLLET_OK;

    for (size_t i = 0; i < sizeof inputs / sizeof *inputs && status == COLLET_OK; i++)
        status = io_spool_check_input(path, inputs[i], err);
    for (int64_t i = trajectory_settings_continuations(settings); i > 0 && status == COLLET_OK; i--)
        status = io_spool_check_input(path, settings->continuations[i - 1], err);
    if (status == COLLET_OK && x->replay != NULL)
        status = trajectory_replay_check(x->replay, path, err);
    if (status != COLLET_OK)
        return status;
    return io_spool_check_output(path, (flags & COLLET_TRAJECTORY_OVERWRITE) != 0, err);
}

static collet_status check_array(const collet_trajectory *x, const char *directory, const char *key,
                                 uint32_t flags, collet_error *err)
{
    char *path;
    collet_status status;

    if (asprintf(&path, "%s/%s.npy", directory, key) < 0)
        return collet_fail(err, COLLET_NO_MEMORY, "output: out of memory");
    status = check_path(x, path, flags, err);
    free(path);
    return status;
}

/* Checks the .npy files in a directory that has no meta file because a run was killed. */
static collet_status check_arrays(const collet_trajectory *x, const char *directory, uint32_t flags,
                                  collet_error *err)
{
    const trajectory_labels labels = trajectory_inputs_labels(&x->inputs);
    collet_status status = COLLET_OK;

    for (size_t i = 0; status == COLLET_OK && i < trajectory_output_count; i++)
        if (x->left_out[i] == NULL)
            status = check_array(x, directory, trajectory_outputs[i].key, flags, err);
    return status == COLLET_OK && labels.n > 0 ? check_array(x, directory, labels.key, flags, err)
                                               : status;
}

/* Returns "OUT.meta.json" for OUT.npz, "OUT.csv.meta.json" for OUT.csv; NULL if out of memory. */
static char *meta_path(const char *output, const trajectory_form *form)
{
    char *path;
    int length = (int)strlen(output);

    if (form != NULL && form->write == NULL)
        length -= (int)strlen(form->suffix);
    return asprintf(&path, "%.*s%s", length, output, form ? ".meta.json" : "/meta.json") < 0 ? NULL
                                                                                             : path;
}

/* Sets *meta to the path of the meta file, which the caller frees; NULL: there is none. `form`: NULL
 * for a directory. COLLET_INVALID when a file would replace an input, COLLET_IO when an output file exists
 * already. */
static collet_status check_paths(const collet_trajectory *x, const char *output,
                                 const trajectory_form *form, uint32_t flags, char **meta,
                                 collet_error *err)
{
    collet_status status =
        form == NULL ? check_arrays(x, output, flags, err) : check_path(x, output, flags, err);

    *meta = NULL;
    if (status != COLLET_OK || (form != NULL && form->described))
        return status;
    *meta = meta_path(output, form);
    if (*meta == NULL)
        return collet_fail(err, COLLET_NO_MEMORY, "output: out of memory");
    status = check_path(x, *meta, flags, err);
    if (status == COLLET_OK)
        return COLLET_OK;
    free(*meta);
    *meta = NULL;
    return status;
}

/* ---- Rows -------------------------------------------------------------------------------- */

typedef struct writer {
    collet_trajectory *x;
    const trajectory_form *form; /* NULL: a directory */
    io_results *results;
    int32_t columns[TRAJECTORY_MAX_OUTPUTS]; /* index of the array of each written output */
    int hides_times; /* 1: rows have times only for the progress callback; the times are not written */
} writer;

/* The function `write` of an io_results_writer. All rows are known now, so the meta data can be written, too. */
static collet_status write_form(void *user, io_results *results, io_spool *file, collet_error *err)
{
    const writer *w = user;
    collet_trajectory *x = w->x;
    trajectory_table table = {.results = results,
                              .extent = trajectory_inputs_extent(&x->inputs),
                              .labels = trajectory_inputs_labels(&x->inputs),
                              .title = x->inputs.topology->title};

    for (size_t i = 0; i < trajectory_output_count; i++)
        if (x->left_out[i] == NULL) {
            table.outputs[table.n] = &trajectory_outputs[i];
            table.arrays[table.n++] = w->columns[i];
        }
    x->id = io_results_id(results);
    collet_status status = trajectory_run_end(x, err);
    x->id = NULL; /* the id belongs to the results, which will be freed */
    table.meta = x->meta;
    return status == COLLET_OK ? w->form->write(&table, file, err) : status;
}

static collet_status open_results(writer *w, const char *path, collet_error *err)
{
    const trajectory_labels labels = trajectory_inputs_labels(&w->x->inputs);
    const trajectory_form *form = w->form;
    collet_status status;

    if (form != NULL && form->write != NULL) {
        const io_results_writer written = {form->spool, write_form, w};
        status = io_results_create_file(path, &written, &w->results, err);
    } else {
        status =
            io_results_create(path, form ? IO_RESULTS_NPZ : IO_RESULTS_DIRECTORY, &w->results, err);
    }

    for (size_t i = 0; status == COLLET_OK && i < trajectory_output_count; i++) {
        const trajectory_output *output = &trajectory_outputs[i];
        int64_t shape[TRAJECTORY_OUTPUT_DIMS];
        int32_t ndim =
            trajectory_output_shape(output, 0, trajectory_inputs_extent(&w->x->inputs), shape);

        if (w->x->left_out[i] == NULL)
            status =
                io_results_add(w->results, output->key, ndim - 1, shape + 1, &w->columns[i], err);
    }
    if (status == COLLET_OK && labels.n > 0 && (form == NULL || form->write == NULL))
        status = io_results_add_texts(w->results, labels.key, labels.n, labels.texts, err);
    return status;
}

static collet_status put(void *user, size_t output, int64_t n, const double *rows,
                         collet_error *err)
{
    writer *w = user;

    if (w->x->rows != NULL) {
        collet_status status = trajectory_rows_put(w->x->rows, output, n, rows, err);
        if (status != COLLET_OK)
            return status;
    }
    return output == 0 && w->hides_times
               ? COLLET_OK
               : io_results_append(w->results, w->columns[output], n, rows, err);
}

/* Passes the complete rows to the function of collet_trajectory_watch. */
static collet_status show_rows(collet_trajectory *x, collet_error *err)
{
    const collet_trajectory_batch *batch;
    int64_t ready = x->rows != NULL ? trajectory_rows_ready(x->rows) : 0;

    if (ready == 0)
        return COLLET_OK;
    collet_status status = trajectory_rows_take(x->rows, ready, &batch, err);
    return status == COLLET_OK ? x->watch(x->watcher, batch, err) : status;
}

static collet_status write_results(collet_trajectory *x, writer *w, collet_error *err)
{
    const char *untimed = x->left_out[0];
    collet_status status = COLLET_OK;

    w->hides_times = x->watch != NULL && untimed != NULL && x->inputs.info->has_times;
    if (w->hides_times)
        x->left_out[0] = NULL;
    if (x->watch != NULL)
        status = trajectory_rows_create(x->left_out, trajectory_inputs_extent(&x->inputs), &x->rows,
                                        err);
    if (status == COLLET_OK)
        status = trajectory_run_start(x, INT64_MAX, put, w, err);
    while (status == COLLET_OK && x->stage == TRAJECTORY_RUNNING) {
        status = trajectory_run_step(x, err);
        if (status == COLLET_OK)
            status = show_rows(x, err);
    }
    /* Stops the threads first, so that no thread appends rows any more. */
    trajectory_run_stop(x);
    trajectory_rows_free(x->rows);
    x->rows = NULL;
    x->left_out[0] = untimed;
    return status == COLLET_OK ? io_results_link(w->results, err) : status;
}

/* Writes under a temporary name, like the results. */
static collet_status link_meta(collet_trajectory *x, const writer *w, io_spool *meta,
                               collet_error *err)
{
    x->id = io_results_id(w->results);
    collet_status status = trajectory_run_end(x, err);

    x->id = NULL; /* the id belongs to the results, which will be freed */
    if (status == COLLET_OK)
        status = io_spool_write(meta, x->meta, strlen(x->meta), err);
    return status == COLLET_OK ? io_spool_link(meta, err) : status;
}

/* Adds the arrays that collet-merge needs to continue the paths of centres of mass. */
static void add_paths(collet_trajectory *x)
{
    int follows = trajectory_arrangement_follows(x->inputs.arrangement);

    for (size_t i = 0; i < trajectory_output_count; i++)
        follows &= trajectory_outputs[i].buffer != TRAJECTORY_COM || x->left_out[i] == NULL;
    for (size_t i = 0; follows && i < trajectory_output_count; i++)
        if (trajectory_outputs[i].needs & TRAJECTORY_PATHS || trajectory_outputs[i].buffer == TRAJECTORY_BOX)
            x->left_out[i] = NULL;
}

/* Sets *form to the form of the output; NULL for a directory. */
static collet_status choose_form(collet_trajectory *x, const char *path, uint32_t flags,
                                 const trajectory_form **form, collet_error *err)
{
    *form = NULL;
    if (flags & COLLET_TRAJECTORY_DIRECTORY)
        return COLLET_OK;
    *form = trajectory_form_of(path);
    if (*form == NULL)
        return collet_fail(err, COLLET_INVALID,
                           "the name of the output %s does not name a file format: let it end in .npz, "
                           ".csv, .xvg or .h5",
                           path);
    collet_status status = (*form)->check ? (*form)->check(path, err) : COLLET_OK;
    if (status != COLLET_OK)
        return status;
    if ((*form)->timed && (trajectory_run_buffers(x) & TRAJECTORY_BUFFER_BIT(TRAJECTORY_POSITIONS)))
        return collet_fail(
            err, COLLET_INVALID,
            "%s: a table has no columns for the positions of %lld atoms; write them "
            "to a file .npz or .h5, or to .npy files of a directory (collet-extract: "
            "-o DIR/), or leave the key positions out",
            path, (long long)x->inputs.n_atoms);
    if ((*form)->timed && x->inputs.info->has_times) {
        x->left_out[0] = NULL; /* time_ps */
        x->has |= TRAJECTORY_TIMES;
    }
    if ((*form)->write == NULL || x->settings.n_shards > 0)
        add_paths(x);
    return COLLET_OK;
}

static collet_status write_all(collet_trajectory *x, const char *path, uint32_t flags,
                               collet_error *err)
{
    writer w = {.x = x};
    char *meta = NULL;
    io_spool *meta_file = NULL;
    collet_status status = choose_form(x, path, flags, &w.form, err);

    if (status == COLLET_OK && x->settings.n_shards > 0)
        return trajectory_share_write(x, path, flags, err);
    if (status == COLLET_OK)
        status = check_paths(x, path, w.form, flags, &meta, err);
    if (status != COLLET_OK || (flags & COLLET_TRAJECTORY_CHECK)) {
        free(meta);
        return status;
    }

    if ((x->output = strdup(path)) == NULL)
        status = collet_fail(err, COLLET_NO_MEMORY, "output: out of memory");
    if (status == COLLET_OK)
        status = open_results(&w, path, err);
    if (status == COLLET_OK && meta != NULL)
        status = io_spool_create(meta, IO_SPOOL_OUTPUT, &meta_file, err);
    if (status == COLLET_OK)
        status = write_results(x, &w, err);
    if (status == COLLET_OK && meta != NULL)
        status = link_meta(x, &w, meta_file, err);
    if (status == COLLET_OK)
        status = io_results_rename(w.results, meta_file, (flags & COLLET_TRAJECTORY_OVERWRITE) != 0,
                                   err);
    io_spool_free(meta_file);
    io_results_free(w.results);
    free(meta);
    return status;
}

void collet_trajectory_watch(collet_trajectory *x, collet_trajectory_batch_fn take, void *user)
{
    x->watch = take;
    x->watcher = user;
}

collet_status collet_trajectory_write(collet_trajectory *x, const char *path, uint32_t flags,
                                      collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    collet_status status;

    if (path == NULL || flags & ~(COLLET_TRAJECTORY_DIRECTORY | COLLET_TRAJECTORY_OVERWRITE |
                                  COLLET_TRAJECTORY_RESUME | COLLET_TRAJECTORY_CHECK))
        return collet_fail(err, COLLET_INVALID, "collet_trajectory_write: %s",
                           path == NULL ? "path is NULL" : "flags has unknown bits");
    if (x->status != COLLET_OK)
        return trajectory_run_failed(x, x->status, err);
    if (x->stage != TRAJECTORY_OPEN)
        return collet_fail(err, COLLET_INVALID,
                           "%s: rows of this trajectory were already taken or written; create "
                           "another trajectory to write them all",
                           path);
    status = write_all(x, path, flags, &x->error);
    return status == COLLET_OK ? status : trajectory_run_failed(x, status, err);
}

collet_status collet_trajectory_extract(const char *path, uint32_t flags,
                                        const collet_trajectory_options *options, collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    collet_trajectory *x;
    collet_status status = collet_trajectory_create(&x, options, err);

    if (status == COLLET_OK)
        status = collet_trajectory_write(x, path, flags, err);
    if (status == COLLET_OK && x->notes.truncated)
        status = collet_fail(err, COLLET_FORMAT, "%s; they are in %s", x->notes.truncation.text,
                             x->output);
    collet_trajectory_destroy(x);
    return status;
}
