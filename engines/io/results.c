/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_results.c, tests/engines/test_io_spool.c,
 * tests/engines/test_io_allocation.c */
#include "results.h"

#include "archive.h"
#include "npy.h"
#include "utf8.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct column {
    char name[IO_RESULTS_KEY + sizeof ".npy"]; /* KEY.npy */
    int complete;                              /* 1: an array of texts, which gets no further rows */
    int32_t ndim;
    int64_t shape[IO_RESULTS_DIMS];
    int64_t rows;
    size_t row_bytes;
    size_t head;   /* bytes before the rows */
    uint64_t hash; /* hash of the rows */
    io_spool *spool;
} column;

#define WRITTEN 2 /* third value of `form`: `writer` writes the file */

struct io_results {
    char *path; /* without trailing slashes */
    int32_t form;
    io_results_writer writer;
    int made_directory;
    int finished;
    char id[IO_RESULTS_ID];
    io_spool *archive;
    column *columns;
    int32_t n_columns;
    io_spool **files; /* set by io_results_link: the files to rename; has space for one more file */
};

/* ---- Creation ---------------------------------------------------------------------------- */

static collet_status prepare_directory(io_results *results, collet_error *err)
{
    struct stat st;

    if (mkdir(results->path, 0777) == 0) {
        results->made_directory = 1;
        return COLLET_OK;
    }
    int code = errno;
    if (code == EEXIST && stat(results->path, &st) == 0) {
        if (!S_ISDIR(st.st_mode))
            return collet_fail(
                err, COLLET_IO,
                "%s: this is a file, but the output must be a directory; choose another name",
                results->path);
        if (eaccess(results->path, W_OK | X_OK) == 0)
            return COLLET_OK;
        return collet_fail(err, COLLET_IO,
                           "%s: no permission to write: %s; choose another directory",
                           results->path, strerror(errno));
    }
    return io_spool_refused(results->path, code, err);
}

static collet_status create(const char *path, int32_t form, const io_results_writer *writer,
                            io_results **out, collet_error *err)
{
    size_t length = strlen(path);
    collet_status status;

    *out = NULL;
    io_results *results = calloc(1, sizeof *results);
    if (!results)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to write it", path);
    while (form == IO_RESULTS_DIRECTORY && length > 1 && path[length - 1] == '/')
        length--;
    results->form = form;
    results->writer = *writer;
    results->path = strndup(path, length);
    if (!results->path) {
        status = collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to write it", path);
        goto fail;
    }
    if (form == IO_RESULTS_DIRECTORY)
        status = prepare_directory(results, err);
    else
        status = io_spool_create(path, writer->spool, &results->archive, err);
    if (status != COLLET_OK)
        goto fail;
    *out = results;
    return COLLET_OK;
fail:
    io_results_free(results);
    return status;
}

collet_status io_results_create(const char *path, int32_t form, io_results **out, collet_error *err)
{
    static const io_results_writer archive = {.spool = IO_SPOOL_OUTPUT};

    return create(path, form, &archive, out, err);
}

collet_status io_results_create_file(const char *path, const io_results_writer *writer,
                                     io_results **out, collet_error *err)
{
    return create(path, WRITTEN, writer, out, err);
}

void io_results_free(io_results *results)
{
    if (!results)
        return;
    for (int32_t i = 0; i < results->n_columns; i++)
        io_spool_free(results->columns[i].spool);
    io_spool_free(results->archive);
    if (results->made_directory && !results->finished)
        rmdir(results->path);
    free(results->columns);
    free(results->files);
    free(results->path);
    free(results);
}

/* ---- Columns ----------------------------------------------------------------------------- */

static collet_status open_spool(const io_results *results, column *c, collet_error *err)
{
    if (results->form != IO_RESULTS_DIRECTORY)
        return io_spool_create(results->path, IO_SPOOL_SCRATCH, &c->spool, err);
    char *path = NULL;
    if (asprintf(&path, "%s/%s", results->path, c->name) < 0)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to write it", results->path);
    collet_status status = io_spool_create(path, IO_SPOOL_OUTPUT, &c->spool, err);
    free(path);
    return status;
}

/* Reserves space for the head, which is written again when the number of rows is known. */
static collet_status write_head(column *c, collet_error *err)
{
    char head[IO_NPY_HEAD];

    c->head = io_npy_head(head, COLLET_F64, c->rows, c->ndim, c->shape);
    return io_spool_write(c->spool, head, c->head, err);
}

/* Adds a column like `c`, with a spool. */
static collet_status add_column(io_results *results, const char *key, column c, collet_error *err)
{
    size_t n = (size_t)results->n_columns;
    column *columns = realloc(results->columns, (n + 1) * sizeof *columns);

    if (!columns)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for another array", results->path);
    results->columns = columns;
    snprintf(c.name, sizeof c.name, "%s.npy", key);
    collet_status status = open_spool(results, &c, err);
    if (status != COLLET_OK)
        return status;
    columns[n] = c;
    results->n_columns++;
    return COLLET_OK;
}

collet_status io_results_add(io_results *results, const char *key, int32_t ndim,
                             const int64_t *shape, int32_t *number, collet_error *err)
{
    column c = {.ndim = ndim, .row_bytes = sizeof(double)};

    *number = results->n_columns;
    for (int32_t i = 0; i < ndim; i++) {
        c.shape[i] = shape[i];
        c.row_bytes *= (size_t)shape[i];
    }
    collet_status status = add_column(results, key, c, err);
    return status == COLLET_OK ? write_head(&results->columns[*number], err) : status;
}

uint64_t io_hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
    for (size_t at = 0; at < n; at += sizeof hash) {
        uint64_t word = 0;
        memcpy(&word, (const char *)bytes + at, n - at < sizeof word ? n - at : sizeof word);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 32;
    }
    return hash;
}

/* Returns the number of characters of a text, and writes the first `width` of them to `out`, filled up with 0. */
static size_t decode(uint32_t *out, size_t width, const char *text)
{
    size_t size = strlen(text), n = 0;

    for (size_t at = 0; at < size; n++) {
        uint32_t code = '?';
        size_t length = io_utf8_decode(&code, text + at, size - at);
        if (n < width)
            out[n] = code;
        at += length > 0 ? length : 1;
    }
    for (size_t i = n; i < width; i++)
        out[i] = 0;
    return n;
}

static collet_status write_texts(column *c, int64_t n, const char *const *texts,
                                 uint32_t *characters, size_t width, collet_error *err)
{
    char head[IO_NPY_HEAD];
    collet_status status =
        io_spool_write(c->spool, head, io_npy_text_head(head, (int64_t)width, n), err);

    for (int64_t i = 0; status == COLLET_OK && i < n; i++) {
        decode(characters, width, texts[i]);
        status = io_spool_write(c->spool, characters, width * sizeof *characters, err);
        c->hash = io_hash_bytes(c->hash, characters, width * sizeof *characters);
    }
    return status;
}

collet_status io_results_add_texts(io_results *results, const char *key, int64_t n,
                                   const char *const *texts, collet_error *err)
{
    size_t width = 1;
    int32_t number = results->n_columns;
    collet_status status = add_column(results, key, (column){.complete = 1}, err);

    if (status != COLLET_OK)
        return status;
    for (int64_t i = 0; i < n; i++) {
        size_t length = decode(NULL, 0, texts[i]);
        width = length > width ? length : width;
    }
    uint32_t *characters = malloc(width * sizeof *characters);
    if (!characters)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to write it", results->path);
    status = write_texts(&results->columns[number], n, texts, characters, width, err);
    free(characters);
    return status;
}

collet_status io_results_append(io_results *results, int32_t number, int64_t n_rows,
                                const double *rows, collet_error *err)
{
    column *c = &results->columns[number];
    collet_status status = io_spool_write(c->spool, rows, c->row_bytes * (size_t)n_rows, err);

    if (status == COLLET_OK) {
        c->rows += n_rows;
        c->hash = io_hash_bytes(c->hash, rows, c->row_bytes * (size_t)n_rows);
    }
    return status;
}

int64_t io_results_rows(const io_results *results, int32_t number)
{
    return results->columns[number].rows;
}

collet_status io_results_read(io_results *results, int32_t number, int64_t first, int64_t n,
                              double *rows, collet_error *err)
{
    const column *c = &results->columns[number];

    return io_spool_read(c->spool, (int64_t)c->head + first * (int64_t)c->row_bytes, rows,
                         (size_t)n * c->row_bytes, err);
}

/* ---- Completion -------------------------------------------------------------------------- */

static collet_status complete_column(column *c, collet_error *err)
{
    collet_status status = c->complete ? COLLET_OK : io_spool_seek(c->spool, 0, err);

    if (status == COLLET_OK && !c->complete)
        status = write_head(c, err);
    if (status == COLLET_OK)
        status = io_spool_flush(c->spool, err);
    return status;
}

static collet_status write_archive(io_results *results, collet_error *err)
{
    uint32_t n = (uint32_t)results->n_columns;
    io_archive_member *members = calloc((size_t)n + 1, sizeof *members);

    if (!members)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to write it", results->path);
    for (uint32_t i = 0; i < n; i++)
        members[i] = (io_archive_member){results->columns[i].name, results->columns[i].spool};
    collet_status status = io_archive_write(results->archive, members, n, results->id, err);
    free(members);
    return status;
}

static void set_id(io_results *results)
{
    uint64_t hash = 0;

    for (int32_t i = 0; i < results->n_columns; i++) {
        const column *c = &results->columns[i];
        hash = io_hash_bytes(hash, c->name, strlen(c->name));
        hash = io_hash_bytes(hash, &c->hash, sizeof c->hash);
    }
    snprintf(results->id, sizeof results->id, "%016llx", (unsigned long long)hash);
}

const char *io_results_id(const io_results *results)
{
    return results->id;
}

collet_status io_results_link(io_results *results, collet_error *err)
{
    size_t n = (size_t)results->n_columns;
    collet_status status = COLLET_OK;

    set_id(results);
    results->files = calloc(n + 2, sizeof *results->files);
    if (!results->files)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to write it", results->path);
    for (size_t i = 0; i < n && status == COLLET_OK; i++) {
        results->files[i] = results->columns[i].spool;
        status = complete_column(&results->columns[i], err);
    }
    if (results->form != IO_RESULTS_DIRECTORY) {
        const io_results_writer *writer = &results->writer;
        results->files[0] = results->archive;
        if (status == COLLET_OK)
            status = results->form == WRITTEN
                         ? writer->write(writer->user, results, results->archive, err)
                         : write_archive(results, err);
        n = 1;
    }
    for (size_t i = 0; i < n && status == COLLET_OK; i++)
        status = io_spool_link(results->files[i], err);
    return status;
}

collet_status io_results_rename(io_results *results, io_spool *last, int replace, collet_error *err)
{
    size_t n = results->form == IO_RESULTS_DIRECTORY ? (size_t)results->n_columns : 1;

    results->files[n] = last;
    collet_status status = io_spool_rename_all(results->files, last ? n + 1 : n, replace, err);
    results->finished = status == COLLET_OK;
    return status;
}
