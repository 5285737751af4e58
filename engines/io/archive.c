/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_results.c */
#include "archive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

#define DOS_TIME 0
#define DOS_DATE ((1 << 5) | 1) /* 1980-01-01 */

/* The state of libzip's callbacks, for a member that libzip reads or for the archive that libzip writes.
 * libzip reports an error only as a number, so the first error is kept here with its text. */
typedef struct stream {
    io_spool *spool;
    int64_t position;
    zip_error_t zip_error;
    collet_error *first_error;
} stream;

static zip_int64_t fail(stream *s)
{
    zip_error_set(&s->zip_error, ZIP_ER_WRITE, EIO);
    return -1;
}

static zip_int64_t report_stat(void *data, zip_uint64_t length, int64_t size)
{
    zip_stat_t *st = data;

    if (length < sizeof *st)
        return -1;
    zip_stat_init(st);
    st->size = (zip_uint64_t)size;
    st->comp_method = ZIP_CM_STORE;
    st->valid = ZIP_STAT_SIZE | ZIP_STAT_COMP_METHOD;
    return (zip_int64_t)sizeof *st;
}

static zip_int64_t read_member(stream *s, void *data, zip_uint64_t length)
{
    int64_t left = io_spool_size(s->spool) - s->position;
    size_t n = (int64_t)length > left ? (size_t)left : (size_t)length;

    if (io_spool_read(s->spool, s->position, data, n, s->first_error) != COLLET_OK)
        return fail(s);
    s->position += (int64_t)n;
    return (zip_int64_t)n;
}

static zip_int64_t member_source(void *user, void *data, zip_uint64_t length,
                                 zip_source_cmd_t command)
{
    stream *s = user;

    switch (command) {
    case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE,
                                              ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE,
                                              -1);
    case ZIP_SOURCE_OPEN:
        s->position = 0;
        return 0;
    case ZIP_SOURCE_READ:
        return read_member(s, data, length);
    case ZIP_SOURCE_STAT:
        return report_stat(data, length, io_spool_size(s->spool));
    case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&s->zip_error, data, length);
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_FREE:
        return 0;
    default:
        zip_error_set(&s->zip_error, ZIP_ER_OPNOTSUPP, 0);
        return -1;
    }
}

static zip_int64_t seek_archive(stream *s, void *data, zip_uint64_t length)
{
    zip_int64_t to = zip_source_seek_compute_offset((zip_uint64_t)io_spool_position(s->spool),
                                                    (zip_uint64_t)io_spool_size(s->spool), data,
                                                    length, &s->zip_error);

    if (to < 0)
        return -1;
    return io_spool_seek(s->spool, to, s->first_error) == COLLET_OK ? 0 : fail(s);
}

static zip_int64_t archive_source(void *user, void *data, zip_uint64_t length,
                                  zip_source_cmd_t command)
{
    stream *s = user;

    switch (command) {
    case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(
            ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR,
            ZIP_SOURCE_FREE, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, ZIP_SOURCE_BEGIN_WRITE,
            ZIP_SOURCE_COMMIT_WRITE, ZIP_SOURCE_ROLLBACK_WRITE, ZIP_SOURCE_WRITE,
            ZIP_SOURCE_SEEK_WRITE, ZIP_SOURCE_TELL_WRITE, ZIP_SOURCE_REMOVE, -1);
    case ZIP_SOURCE_STAT:
        /* Reports that the archive does not exist yet; otherwise libzip would read it. */
        zip_error_set(&s->zip_error, ZIP_ER_READ, ENOENT);
        return -1;
    case ZIP_SOURCE_WRITE:
        if (io_spool_write(s->spool, data, (size_t)length, s->first_error) != COLLET_OK)
            return fail(s);
        return (zip_int64_t)length;
    case ZIP_SOURCE_SEEK_WRITE:
        return seek_archive(s, data, length);
    case ZIP_SOURCE_TELL_WRITE:
        return io_spool_position(s->spool);
    case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&s->zip_error, data, length);
    case ZIP_SOURCE_BEGIN_WRITE:
    case ZIP_SOURCE_COMMIT_WRITE:
    case ZIP_SOURCE_ROLLBACK_WRITE:
    case ZIP_SOURCE_FREE:
        return 0;
    default:
        zip_error_set(&s->zip_error, ZIP_ER_OPNOTSUPP, 0);
        return -1;
    }
}

static int add_member(zip_t *zip, stream *s, const char *name)
{
    zip_source_t *source = zip_source_function(zip, member_source, s);

    if (!source)
        return 0;
    zip_int64_t index = zip_file_add(zip, name, source, ZIP_FL_ENC_GUESS);
    if (index < 0) {
        zip_source_free(source);
        return 0;
    }
    return zip_set_file_compression(zip, (zip_uint64_t)index, ZIP_CM_STORE, 0) == 0 &&
           zip_file_set_dostime(zip, (zip_uint64_t)index, DOS_TIME, DOS_DATE, 0) == 0;
}

static zip_t *open_archive(stream *s, zip_error_t *zip_error)
{
    zip_source_t *source = zip_source_function_create(archive_source, s, zip_error);

    if (!source)
        return NULL;
    zip_t *zip = zip_open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, zip_error);
    if (!zip)
        zip_source_free(source);
    return zip;
}

collet_status io_archive_write(io_spool *out, const io_archive_member *members, size_t n,
                               const char *comment, collet_error *err)
{
    collet_error first = {.status = COLLET_OK};
    stream archive = {.spool = out, .first_error = &first};
    zip_error_t zip_error;
    collet_status status = COLLET_OK;

    stream *streams = calloc(n + 1, sizeof *streams);
    if (!streams)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for %zu arrays",
                           io_spool_path(out), n);
    zip_error_init(&zip_error);
    zip_t *zip = open_archive(&archive, &zip_error);
    if (!zip) {
        status = collet_fail(err, COLLET_IO, "%s: cannot create the archive: %s",
                             io_spool_path(out), zip_error_strerror(&zip_error));
        goto done;
    }
    int fine = zip_set_archive_comment(zip, comment, (zip_uint16_t)strlen(comment)) == 0;
    for (size_t i = 0; i < n && fine; i++) {
        streams[i] = (stream){.spool = members[i].data, .first_error = &first};
        fine = add_member(zip, &streams[i], members[i].name);
    }
    if (!fine || zip_close(zip) != 0) {
        if (first.status != COLLET_OK)
            status = collet_fail(err, first.status, "%s", first.text);
        else
            status = collet_fail(err, COLLET_IO, "%s: cannot write the archive: %s",
                                 io_spool_path(out), zip_strerror(zip));
        zip_discard(zip);
    }
done:
    zip_error_fini(&zip_error);
    free(streams);
    return status;
}
