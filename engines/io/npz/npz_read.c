/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_merge.c, tests/tools/test_shards.c */
#include "npz_read.h"

#include "io/npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

#define TEXT_MOST ((int64_t)1 << 28) /* characters */

struct io_npz {
    zip_t *archive;
    char *path;
};

struct io_npz_array {
    io_npz *npz;
    zip_file_t *member;
    size_t row_bytes;
    int64_t left; /* rows */
};

static collet_status malformed(const io_npz *npz, const char *key, const char *what,
                               collet_error *err)
{
    return collet_fail(err, COLLET_FORMAT, "%s: %s %s: the file is damaged, or not of collet",
                       npz->path, key, what);
}

collet_status io_npz_open(const char *path, io_npz **out, collet_error *err)
{
    io_npz *npz = *out = calloc(1, sizeof *npz);
    zip_error_t reason;
    int code;

    if (npz)
        npz->path = strdup(path);
    if (!npz || !npz->path) {
        io_npz_close(npz);
        *out = NULL;
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to open it", path);
    }
    npz->archive = zip_open(path, ZIP_RDONLY, &code);
    if (npz->archive)
        return COLLET_OK;
    io_npz_close(npz);
    *out = NULL;
    /* Any other code means a malformed archive: later versions of libzip may have more such codes. */
    collet_status status = code == ZIP_ER_NOENT || code == ZIP_ER_OPEN || code == ZIP_ER_READ ||
                                   code == ZIP_ER_SEEK || code == ZIP_ER_MEMORY
                               ? COLLET_IO
                               : COLLET_FORMAT;
    zip_error_init_with_code(&reason, code);
    collet_fail(err, status, "%s: it cannot be opened as an .npz file: %s", path,
                zip_error_strerror(&reason));
    zip_error_fini(&reason);
    return status;
}

void io_npz_close(io_npz *npz)
{
    if (!npz)
        return;
    if (npz->archive)
        zip_discard(npz->archive);
    free(npz->path);
    free(npz);
}

int io_npz_has_id(const io_npz *npz, const char *id)
{
    int length;
    const char *comment = zip_get_archive_comment(npz->archive, &length, 0);

    return comment && strlen(id) == (size_t)length && memcmp(id, comment, strlen(id)) == 0;
}

/* ---- Members ----------------------------------------------------------------------------- */

static collet_status read_fully(const io_npz *npz, const char *key, zip_file_t *member, void *to,
                                size_t n, collet_error *err)
{
    for (size_t done = 0; done < n;) {
        zip_int64_t got = zip_fread(member, (char *)to + done, n - done);
        if (got <= 0)
            return malformed(npz, key, "ends too early, or differs from its checksum", err);
        done += (size_t)got;
    }
    return COLLET_OK;
}

collet_status io_npz_check(io_npz *npz, collet_error *err)
{
    char block[1 << 14];
    zip_int64_t n = zip_get_num_entries(npz->archive, 0), got = 0;

    for (zip_int64_t i = 0; i < n && got == 0; i++) {
        zip_file_t *member = zip_fopen_index(npz->archive, (zip_uint64_t)i, 0);

        do
            got = member ? zip_fread(member, block, sizeof block) : -1;
        while (got > 0);
        if (member)
            zip_fclose(member);
    }
    return got == 0 ? COLLET_OK : malformed(npz, "an array", "differs from its checksum", err);
}

/* Opens a member whose head must be `n` bytes of `expected`. */
static collet_status open_member(const io_npz *npz, const char *key, const char *expected, size_t n,
                                 zip_file_t **member, collet_error *err)
{
    char found[IO_NPY_HEAD], name[256];

    snprintf(name, sizeof name, "%.200s.npy", key);
    *member = zip_fopen(npz->archive, name, 0);
    if (!*member)
        return malformed(npz, key, "is missing", err);
    collet_status status = read_fully(npz, key, *member, found, n, err);
    if (status == COLLET_OK && memcmp(found, expected, n) != 0)
        status = malformed(npz, key, "has another shape", err);
    if (status != COLLET_OK) {
        zip_fclose(*member);
        *member = NULL;
    }
    return status;
}

collet_status io_npz_array_open(io_npz *npz, const char *key, int64_t n_rows, int32_t ndim,
                                const int64_t *shape, io_npz_array **out, collet_error *err)
{
    char head[IO_NPY_HEAD];
    size_t n = io_npy_head(head, COLLET_F64, n_rows, ndim, shape);
    io_npz_array *array = *out = calloc(1, sizeof *array);

    if (!array)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to read it", npz->path);
    array->npz = npz;
    array->left = n_rows;
    array->row_bytes = sizeof(double);
    for (int32_t i = 0; i < ndim; i++)
        array->row_bytes *= (size_t)shape[i];
    collet_status status = open_member(npz, key, head, n, &array->member, err);
    if (status != COLLET_OK) {
        free(array);
        *out = NULL;
    }
    return status;
}

collet_status io_npz_array_read(io_npz_array *array, int64_t n, double *rows, collet_error *err)
{
    collet_status status =
        read_fully(array->npz, "an array", array->member, rows, (size_t)n * array->row_bytes, err);
    char rest;

    array->left -= n;
    /* libzip compares the checksum when a read reaches the end. */
    if (status == COLLET_OK && array->left == 0 && zip_fread(array->member, &rest, 1) != 0)
        status = malformed(array->npz, "an array", "is longer, or differs from its checksum", err);
    return status;
}

void io_npz_array_close(io_npz_array *array)
{
    if (!array)
        return;
    zip_fclose(array->member);
    free(array);
}

/* Reads `width` characters of 32 bits into *text, which the caller frees; characters at the end may be 0. */
static collet_status read_text(const io_npz *npz, const char *key, zip_file_t *member, size_t width,
                               char **text, collet_error *err)
{
    uint32_t *characters = malloc(width * sizeof *characters);
    char rest;
    collet_status status = COLLET_OK;

    *text = malloc(width + 1);
    if (!characters || !*text)
        status = collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to read it", npz->path);
    if (status == COLLET_OK)
        status = read_fully(npz, key, member, characters, width * sizeof *characters, err);
    if (status == COLLET_OK && zip_fread(member, &rest, 1) != 0)
        status = malformed(npz, key, "differs from its checksum", err);
    for (size_t i = 0; status == COLLET_OK && i < width; i++)
        if (characters[i] > 0x1ff)
            status = malformed(npz, key, "has an unknown character", err);
        else
            (*text)[i] = (char)characters[i];
    free(characters);
    if (status == COLLET_OK) {
        (*text)[width] = '\0';
    } else {
        free(*text);
        *text = NULL;
    }
    return status;
}

collet_status io_npz_text(io_npz *npz, const char *key, char **text, collet_error *err)
{
    char head[IO_NPY_HEAD], name[256];
    zip_stat_t facts;
    zip_file_t *member;
    /* The size of the head does not depend on the width. */
    size_t n = io_npy_text_head(head, 1, 1);

    *text = NULL;
    snprintf(name, sizeof name, "%.200s.npy", key);
    if (zip_stat(npz->archive, name, 0, &facts) != 0 || facts.size < n ||
        facts.size - n > (uint64_t)TEXT_MOST * sizeof(uint32_t))
        return malformed(npz, key, "is missing, or no text", err);
    size_t width = (facts.size - n) / sizeof(uint32_t);
    io_npy_text_head(head, (int64_t)width, 1);
    collet_status status = open_member(npz, key, head, n, &member, err);
    if (status != COLLET_OK)
        return status;
    status = read_text(npz, key, member, width, text, err);
    zip_fclose(member);
    return status;
}
