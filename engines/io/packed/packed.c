/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_packed.c */
#include "packed.h"

#include "decoders.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK ((size_t)256 * 1024)

struct io_packed {
    struct stat from; /* of the packed file */
    int fd;           /* of the temporary file */
    int64_t size;
    int users;
    io_packed *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static io_packed *all;

/* ---- Unpacking --------------------------------------------------------------------------- */

/* A file that is being unpacked. */
typedef struct unpacking {
    const char *path;
    const char *directory;
    const io_decoder *decoder;
    void *stream;
    int from, to;
    uint8_t *input, *output; /* CHUNK bytes each */
    int64_t read, written;
    io_decoding data;
} unpacking;

static const char *directory_of_temporary(void)
{
    const char *directory = secure_getenv("TMPDIR");

    return directory && *directory ? directory : "/tmp";
}

static int create_temporary(const char *directory)
{
    int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
        return fd;
    size_t size = strlen(directory) + sizeof "/collet-XXXXXX";
    char *name = malloc(size);
    if (!name)
        return -1;
    snprintf(name, size, "%s/collet-XXXXXX", directory);
    fd = mkostemp(name, O_CLOEXEC);
    int code = errno;
    if (fd >= 0)
        unlink(name);
    free(name);
    errno = code;
    return fd;
}

static collet_status cannot_write(const unpacking *u, collet_error *err)
{
    return collet_fail(err, COLLET_IO,
                       "%s: a temporary file in %s for its unpacked data cannot be written after "
                       "%lld bytes: %s; set TMPDIR to a directory with more room, or unpack the "
                       "file with %s",
                       u->path, u->directory, (long long)u->written, strerror(errno),
                       u->decoder->program);
}

static collet_status damaged(const unpacking *u, const char *how, collet_error *err)
{
    return collet_fail(err, COLLET_FORMAT,
                       "%s: the packed data %s, after %lld unpacked bytes; %s -t tests the file",
                       u->path, how, (long long)u->written, u->decoder->program);
}

/* Sets *n to the number of bytes read; 0 at the end of the file and after an error. */
static collet_status read_some(int fd, const char *path, int64_t at, uint8_t *bytes, size_t most,
                               size_t *n, collet_error *err)
{
    ssize_t count;

    do
        count = pread(fd, bytes, most, (off_t)at);
    while (count < 0 && errno == EINTR);
    *n = count > 0 ? (size_t)count : 0;
    return count >= 0 ? COLLET_OK
                      : collet_fail(err, COLLET_IO, "%s: reading at byte %lld failed: %s", path,
                                    (long long)at, strerror(errno));
}

/* Reads more input; if there is no more, sets data.is_last. */
static collet_status fill(unpacking *u, collet_error *err)
{
    collet_status status =
        read_some(u->from, u->path, u->read, u->input, CHUNK, &u->data.n_input, err);

    u->data.input = u->input;
    u->read += (int64_t)u->data.n_input;
    u->data.is_last = u->data.n_input == 0;
    return status;
}

/* Writes the bytes of the output buffer that are filled. CHUNK is its size, and data.n_output bytes are still free. */
static collet_status drain(unpacking *u, collet_error *err)
{
    size_t n = CHUNK - u->data.n_output, done = 0;

    while (done < n) {
        ssize_t count = write(u->to, u->output + done, n - done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return cannot_write(u, err);
        done += (size_t)count;
        u->written += count;
    }
    u->data.output = u->output;
    u->data.n_output = CHUNK;
    return COLLET_OK;
}

/* After the end of a part: begins the next one. *end = 1 if there is no further part. Zeros may follow the last part,
 * because programs for tapes fill the last block with zeros. */
static collet_status next_part(unpacking *u, int *end, collet_error *err)
{
    collet_status status = COLLET_OK;
    int zeros = 1;

    *end = 1;
    for (;;) {
        if (u->data.n_input == 0 && !u->data.is_last)
            status = fill(u, err);
        if (status != COLLET_OK || u->data.is_last)
            return status;
        zeros = zeros && *u->data.input == 0;
        if (!zeros)
            break;
        u->data.input++;
        u->data.n_input--;
    }
    if (*u->data.input != (uint8_t)*u->decoder->signature)
        return damaged(u, "are followed by other bytes", err);
    *end = 0;
    u->decoder->end(u->stream);
    u->stream = u->decoder->begin();
    return u->stream ? COLLET_OK
                     : collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to unpack it", u->path);
}

static collet_status unpack_all(unpacking *u, const io_poll *poll, collet_error *err)
{
    collet_status status = COLLET_OK;
    int end = 0;

    u->data.output = u->output;
    u->data.n_output = CHUNK;
    while (status == COLLET_OK && !end) {
        if (poll && io_poll_stops(poll))
            return collet_fail(err, COLLET_CANCELLED, "%s: cancelled", u->path);
        if (u->data.n_input == 0)
            status = fill(u, err);
        if (status != COLLET_OK)
            return status;
        io_decoded decoded = u->decoder->step(u->stream, &u->data);
        int is_full = u->data.n_output == 0;
        status = drain(u, err);
        if (status != COLLET_OK)
            return status;
        if (decoded == IO_DECODED_END)
            status = next_part(u, &end, err);
        else if (decoded == IO_DECODED_NO_MEMORY)
            return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to unpack it", u->path);
        else if (decoded == IO_DECODED_DAMAGED)
            return damaged(u, "are damaged", err);
        else if (u->data.is_last && !is_full)
            return damaged(u, "end early", err);
    }
    return status;
}

static collet_status unpack(unpacking *u, const io_poll *poll, collet_error *err)
{
    if (!u->decoder->begin)
        return collet_fail(err, COLLET_FORMAT,
                           "%s: this Collet was built without %s: unpack the file with %s", u->path,
                           u->decoder->library, u->decoder->program);
    u->directory = directory_of_temporary();
    u->to = create_temporary(u->directory);
    if (u->to < 0)
        return cannot_write(u, err);
    u->input = malloc(CHUNK);
    u->output = malloc(CHUNK);
    u->stream = u->decoder->begin();
    collet_status status =
        u->input && u->output && u->stream
            ? unpack_all(u, poll, err)
            : collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to unpack it", u->path);
    if (u->stream)
        u->decoder->end(u->stream);
    free(u->input);
    free(u->output);
    if (status != COLLET_OK)
        close(u->to);
    return status;
}

/* ---- Files of the process ---------------------------------------------------------------- */

static int is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Returns the unpacked file and counts the caller as a user; NULL: there is none. Called with the lock held. */
static io_packed *take(const struct stat *from)
{
    io_packed *packed = all;

    while (packed && !is_same(&packed->from, from))
        packed = packed->next;
    if (packed)
        packed->users++;
    return packed;
}

/* Adds a new file to the list, or returns the file that another thread has added since. */
static io_packed *add(io_packed *own)
{
    pthread_mutex_lock(&lock);
    io_packed *packed = take(&own->from);
    if (!packed) {
        own->users = 1;
        own->next = all;
        all = packed = own;
    }
    pthread_mutex_unlock(&lock);
    return packed;
}

collet_status io_packed_open(int fd, const char *path, const io_poll *poll, io_packed **out,
                             collet_error *err)
{
    unpacking u = {.path = path, .from = fd};
    uint8_t bytes[IO_DECODER_SIGNATURE];
    struct stat from;
    size_t n;

    *out = NULL;
    collet_status status = read_some(fd, path, 0, bytes, sizeof bytes, &n, err);
    if (status != COLLET_OK)
        return status;
    u.decoder = io_decoder_find(bytes, n);
    if (!u.decoder || fstat(fd, &from) != 0)
        return COLLET_OK;
    pthread_mutex_lock(&lock);
    *out = take(&from);
    pthread_mutex_unlock(&lock);
    if (*out)
        return COLLET_OK;
    io_packed *own = calloc(1, sizeof *own);
    if (!own)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to unpack it", path);
    status = unpack(&u, poll, err);
    if (status != COLLET_OK) {
        free(own);
        return status;
    }
    *own = (io_packed){.from = from, .fd = u.to, .size = u.written};
    *out = add(own);
    if (*out != own) {
        close(own->fd);
        free(own);
    }
    return COLLET_OK;
}

collet_status io_packed_open_path(const char *path, const io_poll *poll, io_packed **out,
                                  collet_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    collet_status status = COLLET_OK;
    struct stat st;

    *out = NULL;
    if (fd < 0)
        return COLLET_OK;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        status = io_packed_open(fd, path, poll, out, err);
    close(fd);
    return status;
}

int io_packed_file(const io_packed *packed, int64_t *size)
{
    *size = packed->size;
    return packed->fd;
}

void io_packed_release(io_packed *packed)
{
    io_packed **at = &all;

    if (!packed)
        return;
    pthread_mutex_lock(&lock);
    int is_last = --packed->users == 0;
    while (is_last && *at != packed)
        at = &(*at)->next;
    if (is_last)
        *at = packed->next;
    pthread_mutex_unlock(&lock);
    if (is_last) {
        close(packed->fd);
        free(packed);
    }
}
