/* SPDX-License-Identifier: Apache-2.0 */
/* Rows delivered to files. */
#include "io/results.h"
#include "io/spool.h"
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <collet/floating.h>

/* ---- Paths ------------------------------------------------------------------------------- */

static collet_status check_path(const extract_settings *settings, const char *path, uint32_t flags,
                                collet_error *err)
{
    const char *inputs[] = {settings->topology, settings->trajectory, settings->masses,
                            settings->reference};
    collet_status status = COLLET_OK;
    struct stat facts;

    for (size_t i = 0; i < sizeof inputs / sizeof *inputs && status == COLLET_OK; i++)
        status = collet_spool_check_input(path, inputs[i], err);
    if (status != COLLET_OK)
        return status;
    if (!(flags & COLLET_EXTRACTION_OVERWRITE) && lstat(path, &facts) == 0)
        return collet_fail(err, COLLET_IO,
                           "%s exists already, perhaps from another trajectory: choose another "
                           "name, or replace it (collet-extract: --force; in C: the flag "
                           "COLLET_EXTRACTION_OVERWRITE)",
                           path);
    return COLLET_OK;
}

/*
 * Sets *meta to the path of the meta file, which the caller frees. COLLET_INVALID when `output`
 * does not end in ".npz" or a file would replace an input, COLLET_IO when one exists already.
 */
static collet_status check_paths(const extract_settings *settings, const char *output,
                                 uint32_t flags, char **meta, collet_error *err)
{
    int directory = (flags & COLLET_EXTRACTION_DIRECTORY) != 0, length = (int)strlen(output);
    collet_status status = COLLET_OK;

    *meta = NULL;
    if (!directory) {
        length -= (int)strlen(".npz");
        if (length < 1 || strcmp(output + length, ".npz") != 0)
            return collet_fail(err, COLLET_INVALID,
                               "the output %s is an .npz file, whatever it is called: give it a "
                               "name that ends in .npz",
                               output);
    }
    if (asprintf(meta, "%.*s%s", length, output, directory ? "/meta.json" : ".meta.json") < 0) {
        *meta = NULL;
        return collet_fail(err, COLLET_NO_MEMORY, "output: out of memory");
    }
    if (!directory)
        status = check_path(settings, output, flags, err);
    if (status == COLLET_OK)
        status = check_path(settings, *meta, flags, err);
    if (status == COLLET_OK)
        return COLLET_OK;
    free(*meta);
    *meta = NULL;
    return status;
}

/* ---- Rows -------------------------------------------------------------------------------- */

typedef struct writer {
    const collet_extraction *x;
    collet_results *results;
    int32_t columns[EXTRACT_MAX_OUTPUTS]; /* of an output that is written */
} writer;

static collet_status open_results(writer *w, const char *path, uint32_t flags, collet_error *err)
{
    int form = flags & COLLET_EXTRACTION_DIRECTORY ? COLLET_RESULTS_DIRECTORY : COLLET_RESULTS_NPZ;
    collet_status status = collet_results_create(path, form, &w->results, err);

    for (size_t i = 0; status == COLLET_OK && i < extract_output_count; i++) {
        const extract_output *output = &extract_outputs[i];
        int64_t shape[3];
        int32_t ndim = extract_output_shape(output, 0, shape);

        if (w->x->left_out[i] == NULL)
            status = collet_results_add(w->results, output->key, ndim - 1, shape + 1,
                                        &w->columns[i], err);
    }
    return status;
}

static collet_status put(void *user, size_t output, int64_t n, const double *rows,
                         collet_error *err)
{
    writer *w = user;

    return collet_results_append(w->results, w->columns[output], n, rows, err);
}

static collet_status write_results(collet_extraction *x, writer *w, collet_error *err)
{
    collet_status status = extract_run_start(x, INT64_MAX, put, w, err);

    while (status == COLLET_OK && x->stage == EXTRACT_RUNNING)
        status = extract_run_step(x, err);
    /* No thread may still append rows. */
    extract_run_stop(x);
    return status == COLLET_OK ? collet_results_link(w->results, err) : status;
}

/* As the results, under a temporary name. */
static collet_status link_meta(collet_extraction *x, const writer *w, collet_spool *meta,
                               collet_error *err)
{
    x->id = collet_results_id(w->results);
    collet_status status = extract_run_end(x, err);

    x->id = NULL; /* of results that are freed */
    if (status == COLLET_OK)
        status = collet_spool_write(meta, x->meta, strlen(x->meta), err);
    return status == COLLET_OK ? collet_spool_link(meta, err) : status;
}

static collet_status write_all(collet_extraction *x, const char *path, uint32_t flags,
                               collet_error *err)
{
    writer w = {.x = x};
    char *meta = NULL;
    collet_spool *meta_file = NULL;
    collet_status status = check_paths(&x->settings, path, flags, &meta, err);

    if (status == COLLET_OK && (x->output = strdup(path)) == NULL)
        status = collet_fail(err, COLLET_NO_MEMORY, "output: out of memory");
    if (status == COLLET_OK)
        status = open_results(&w, path, flags, err);
    if (status == COLLET_OK)
        status = collet_spool_create(meta, COLLET_SPOOL_OUTPUT, &meta_file, err);
    if (status == COLLET_OK)
        status = write_results(x, &w, err);
    if (status == COLLET_OK)
        status = link_meta(x, &w, meta_file, err);
    if (status == COLLET_OK)
        status = collet_results_rename(w.results, meta_file,
                                       (flags & COLLET_EXTRACTION_OVERWRITE) != 0, err);
    collet_spool_free(meta_file);
    collet_results_free(w.results);
    free(meta);
    return status;
}

collet_status collet_extraction_write(collet_extraction *x, const char *path, uint32_t flags,
                                      collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    collet_status status;

    if (path == NULL || flags & ~(COLLET_EXTRACTION_DIRECTORY | COLLET_EXTRACTION_OVERWRITE))
        return collet_fail(err, COLLET_INVALID, "collet_extraction_write: %s",
                           path == NULL ? "path is NULL" : "unknown flags");
    if (x->status != COLLET_OK)
        return extract_run_failed(x, x->status, err);
    if (x->stage != EXTRACT_OPEN)
        return collet_fail(err, COLLET_INVALID,
                           "%s: rows of this extraction were taken or written already", path);
    status = write_all(x, path, flags, &x->error);
    return status == COLLET_OK ? status : extract_run_failed(x, status, err);
}

collet_status collet_extract(const collet_extraction_options *options, const char *path,
                             uint32_t flags, collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    collet_extraction *x;
    collet_status status = collet_extraction_create(&x, options, err);

    if (status == COLLET_OK)
        status = collet_extraction_write(x, path, flags, err);
    if (status == COLLET_OK && x->truncated)
        status = collet_fail(err, COLLET_FORMAT, "%s; they are in %s", x->truncation.text, path);
    collet_extraction_destroy(x);
    return status;
}
