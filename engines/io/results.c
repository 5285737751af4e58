/* SPDX-License-Identifier: Apache-2.0 */
#include "results.h"

#include "archive.h"
#include "npy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".npy"

typedef struct column {
    char name[COLLET_RESULTS_KEY + sizeof SUFFIX]; /* KEY.npy */
    collet_dtype dtype;
    int32_t ndim;
    int64_t shape[COLLET_MAX_DIMS];
    int64_t rows; /* -1: complete, added by `put` */
    size_t row_bytes;
    collet_spool *spool;
} column;

struct collet_results {
    char *path; /* without trailing slashes */
    int32_t form;
    int made_directory;
    int finished;
    collet_spool *archive;
    column *columns;
    int32_t n_columns;
    int32_t capacity;
    int64_t bytes;
};

/* ---- Creation ---------------------------------------------------------------------------- */

static collet_status prepare_directory(collet_results *results, collet_error *err)
{
    struct stat st;

    if (mkdir(results->path, 0777) == 0) {
        results->made_directory = 1;
        return COLLET_OK;
    }
    int code = errno;
    if (code == EEXIST && stat(results->path, &st) == 0) {
        if (!S_ISDIR(st.st_mode))
            return collet_fail(err, COLLET_IO, "%s: is a file; a directory is to be written",
                               results->path);
        if (access(results->path, W_OK | X_OK) == 0)
            return COLLET_OK;
        code = errno;
    }
    return collet_spool_refused(results->path, code, err);
}

collet_status collet_results_create(const char *path, int32_t form, collet_results **out,
                                    collet_error *err)
{
    size_t length = strlen(path);
    collet_status status;

    *out = NULL;
    if (form != COLLET_RESULTS_NPZ && form != COLLET_RESULTS_DIRECTORY)
        return collet_fail(err, COLLET_INVALID, "%s: unknown form of output: %d", path, form);
    collet_results *results = calloc(1, sizeof *results);
    if (!results)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to write it", path);
    while (form == COLLET_RESULTS_DIRECTORY && length > 1 && path[length - 1] == '/')
        length--;
    results->form = form;
    results->path = strndup(path, length);
    if (!results->path) {
        status = collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to write it", path);
        goto fail;
    }
    if (form == COLLET_RESULTS_DIRECTORY)
        status = prepare_directory(results, err);
    else
        status = collet_spool_create(path, COLLET_SPOOL_OUTPUT, &results->archive, err);
    if (status != COLLET_OK)
        goto fail;
    *out = results;
    return COLLET_OK;
fail:
    collet_results_free(results);
    return status;
}

void collet_results_free(collet_results *results)
{
    if (!results)
        return;
    for (int32_t i = 0; i < results->n_columns; i++)
        collet_spool_free(results->columns[i].spool);
    collet_spool_free(results->archive);
    if (results->made_directory && !results->finished)
        rmdir(results->path);
    free(results->columns);
    free(results->path);
    free(results);
}

/* ---- Columns ----------------------------------------------------------------------------- */

static int is_key(const char *key)
{
    size_t n = strlen(key);

    return n > 0 && n < COLLET_RESULTS_KEY &&
           strspn(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == n;
}

static collet_status check_column(const collet_results *results, const column *c, const char *key,
                                  collet_error *err)
{
    for (int32_t i = 0; i < results->n_columns; i++)
        if (strcmp(results->columns[i].name, c->name) == 0)
            return collet_fail(err, COLLET_INVALID, "%s: there are two arrays named '%s'",
                               results->path, key);
    return COLLET_OK;
}

static collet_status measure(const collet_results *results, column *c, const char *key,
                             collet_error *err)
{
    c->row_bytes = collet_dtype_size(c->dtype);
    for (int32_t i = 0; i < c->ndim; i++)
        if (c->shape[i] < 0 ||
            __builtin_mul_overflow(c->row_bytes, (size_t)c->shape[i], &c->row_bytes))
            return collet_fail(err, COLLET_OVERFLOW, "%s: the shape of '%s' is too large",
                               results->path, key);
    return COLLET_OK;
}

static collet_status reserve_column(collet_results *results, collet_error *err)
{
    if (results->n_columns < results->capacity)
        return COLLET_OK;
    int32_t capacity = results->capacity > 0 ? 2 * results->capacity : 64;
    column *columns = realloc(results->columns, (size_t)capacity * sizeof *columns);
    if (!columns)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for another array", results->path);
    results->columns = columns;
    results->capacity = capacity;
    return COLLET_OK;
}

static collet_status open_spool(const collet_results *results, column *c, collet_error *err)
{
    if (results->form == COLLET_RESULTS_NPZ)
        return collet_spool_create(results->path, COLLET_SPOOL_SCRATCH, &c->spool, err);
    char *path = NULL;
    if (asprintf(&path, "%s/%s", results->path, c->name) < 0)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to write it", results->path);
    collet_status status = collet_spool_create(path, COLLET_SPOOL_OUTPUT, &c->spool, err);
    free(path);
    return status;
}

/* Also reserves space for the head, which is rewritten once the rows are counted. */
static collet_status write_head(column *c, collet_error *err)
{
    char head[COLLET_NPY_HEAD];
    size_t n = collet_npy_head(head, c->dtype, c->rows, c->ndim, c->shape);

    return collet_spool_write(c->spool, head, n, err);
}

static collet_status add_column(collet_results *results, const char *key, collet_dtype dtype,
                                int64_t rows, int32_t ndim, const int64_t *shape, column **out,
                                collet_error *err)
{
    char head[COLLET_NPY_HEAD];
    column c = {.dtype = dtype, .ndim = ndim, .rows = rows};

    if (!is_key(key))
        return collet_fail(err, COLLET_INVALID,
                           "%s: '%s' cannot name an array: 1 to %d letters, digits and _",
                           results->path, key, COLLET_RESULTS_KEY - 1);
    if (ndim < 0 || ndim >= COLLET_MAX_DIMS)
        return collet_fail(err, COLLET_SHAPE, "%s: '%s' has %d axes, 0 to %d are possible",
                           results->path, key, ndim, COLLET_MAX_DIMS - 1);
    for (int32_t i = 0; i < ndim; i++)
        c.shape[i] = shape[i];
    if (collet_npy_head(head, dtype, rows, ndim, c.shape) == 0)
        return collet_fail(err, COLLET_DTYPE, "%s: '%s' has a dtype that is not written: %s",
                           results->path, key, collet_dtype_name(dtype));
    snprintf(c.name, sizeof c.name, "%s" SUFFIX, key);
    collet_status status = check_column(results, &c, key, err);
    if (status == COLLET_OK)
        status = measure(results, &c, key, err);
    if (status == COLLET_OK)
        status = reserve_column(results, err);
    if (status == COLLET_OK)
        status = open_spool(results, &c, err);
    if (status != COLLET_OK)
        return status;
    *out = &results->columns[results->n_columns++];
    **out = c;
    return write_head(*out, err);
}

collet_status collet_results_add(collet_results *results, const char *key, collet_dtype dtype,
                                 int32_t ndim, const int64_t *shape, int32_t *number,
                                 collet_error *err)
{
    column *c;

    *number = results->n_columns;
    return add_column(results, key, dtype, 0, ndim, shape, &c, err);
}

collet_status collet_results_put(collet_results *results, const char *key, collet_dtype dtype,
                                 int32_t ndim, const int64_t *shape, const void *data,
                                 collet_error *err)
{
    column *c;

    collet_status status = add_column(results, key, dtype, -1, ndim, shape, &c, err);
    if (status != COLLET_OK)
        return status;
    results->bytes += (int64_t)c->row_bytes;
    return collet_spool_write(c->spool, data, c->row_bytes, err);
}

collet_status collet_results_append(collet_results *results, int32_t number, int64_t n_rows,
                                    const void *rows, collet_error *err)
{
    size_t bytes;

    if (number < 0 || number >= results->n_columns || results->columns[number].rows < 0 ||
        n_rows < 0)
        return collet_fail(err, COLLET_INVALID, "%s: array %d cannot take %lld rows", results->path,
                           number, (long long)n_rows);
    column *c = &results->columns[number];
    if (__builtin_mul_overflow(c->row_bytes, (size_t)n_rows, &bytes))
        return collet_fail(err, COLLET_OVERFLOW, "%s: %lld rows are too many", results->path,
                           (long long)n_rows);
    collet_status status = collet_spool_write(c->spool, rows, bytes, err);
    if (status != COLLET_OK)
        return status;
    c->rows += n_rows;
    results->bytes += (int64_t)bytes;
    return COLLET_OK;
}

int64_t collet_results_bytes(const collet_results *results)
{
    return results->bytes;
}

/* ---- Completion -------------------------------------------------------------------------- */

static collet_status complete_column(column *c, collet_error *err)
{
    collet_status status = collet_spool_seek(c->spool, 0, err);

    if (status == COLLET_OK)
        status = write_head(c, err);
    if (status == COLLET_OK)
        status = collet_spool_flush(c->spool, err);
    return status;
}

static collet_status finish_archive(collet_results *results, collet_error *err)
{
    uint32_t n = (uint32_t)results->n_columns;
    collet_archive_member *members = calloc((size_t)n + 1, sizeof *members);

    if (!members)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to write it", results->path);
    for (uint32_t i = 0; i < n; i++)
        members[i] = (collet_archive_member){results->columns[i].name, results->columns[i].spool};
    collet_status status = collet_archive_write(results->archive, members, n, err);
    free(members);
    if (status == COLLET_OK)
        status = collet_spool_link(results->archive, err);
    if (status == COLLET_OK)
        status = collet_spool_rename(results->archive, err);
    return status;
}

static collet_status finish_directory(collet_results *results, collet_error *err)
{
    collet_status status = COLLET_OK;

    for (int32_t i = 0; i < results->n_columns && status == COLLET_OK; i++)
        status = collet_spool_link(results->columns[i].spool, err);
    for (int32_t i = 0; i < results->n_columns && status == COLLET_OK; i++)
        status = collet_spool_rename(results->columns[i].spool, err);
    return status;
}

collet_status collet_results_finish(collet_results *results, collet_error *err)
{
    collet_status status = COLLET_OK;

    if (results->finished)
        return collet_fail(err, COLLET_INVALID, "%s: was finished already", results->path);
    if (results->n_columns == 0)
        return collet_fail(err, COLLET_INVALID, "%s: has no arrays", results->path);
    for (int32_t i = 0; i < results->n_columns && status == COLLET_OK; i++)
        status = complete_column(&results->columns[i], err);
    if (status == COLLET_OK)
        status = results->form == COLLET_RESULTS_NPZ ? finish_archive(results, err)
                                                     : finish_directory(results, err);
    results->finished = status == COLLET_OK;
    return status;
}
