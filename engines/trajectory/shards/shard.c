/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_shards.c */
#include "shard.h"

#include "io/json/json.h"
#include "io/npz/npz_read.h"
#include "notes.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t trajectory_sum_width(int32_t buffer, trajectory_extent extent)
{
    return trajectory_buffer_rows(buffer, extent) * trajectory_buffer_width(buffer);
}

int64_t trajectory_shard_end(int64_t rows, int64_t shard, int64_t n_shards)
{
    return rows / n_shards * shard + rows % n_shards * shard / n_shards;
}

char *trajectory_shard_path(const char *directory, int64_t shard, int64_t n_shards)
{
    int digits = snprintf(NULL, 0, "%lld", (long long)n_shards);
    char *path;

    return asprintf(&path, "%s/%0*lld-of-%lld.npz", directory, digits, (long long)shard,
                    (long long)n_shards) < 0
               ? NULL
               : path;
}

/* ---- Notes ------------------------------------------------------------------------------- */

#define WHOLE_MOST 0x1p53

static const io_json_field text = {.type = IO_JSON_TEXT};
static const io_json_field of_origin[] = {
    {.name = "command", .type = IO_JSON_LIST, .high = INT32_MAX, .fields = &text},
    {.name = "directory", .type = IO_JSON_TEXT, .flags = IO_JSON_NULLABLE}};
static const io_json_field of_file[] = {
    {.name = "first", .type = IO_JSON_WHOLE, .low = -1, .high = WHOLE_MOST},
    {.name = "frames", .type = IO_JSON_WHOLE, .high = WHOLE_MOST},
    {.name = "was_cut", .type = IO_JSON_BOOLEAN},
    {.name = "last_ps", .type = IO_JSON_NUMBER, .low = -DBL_MAX, .high = DBL_MAX}};
static const io_json_field file = {.type = IO_JSON_OBJECT, .fields = IO_JSON_ROWS(of_file)};
static const io_json_field of_end[] = {
    {.name = "precision", .type = IO_JSON_NUMBER, .high = DBL_MAX},
    {.name = "note", .type = IO_JSON_TEXT, .flags = IO_JSON_NULLABLE},
    {.name = "files", .type = IO_JSON_LIST, .high = INT32_MAX, .fields = &file}};
static const io_json_field of_notes[] = {
    {.name = "n_frames", .type = IO_JSON_WHOLE, .high = WHOLE_MOST},
    {.name = "truncated", .type = IO_JSON_WHOLE, .high = TRAJECTORY_DAMAGED},
    {.name = "truncation", .type = IO_JSON_TEXT, .flags = IO_JSON_OPTIONAL}};
/* trajectory_work_settings checks the fields of "work"; trajectory_notes_read checks the other fields of "notes". */
static const io_json_field of_shard[] = {
    {.name = "shard", .type = IO_JSON_WHOLE, .low = 1, .high = TRAJECTORY_SHARDS_MOST},
    {.name = "n_shards", .type = IO_JSON_WHOLE, .low = 1, .high = TRAJECTORY_SHARDS_MOST},
    {.name = "rows", .type = IO_JSON_WHOLE, .high = WHOLE_MOST},
    {.name = "work", .type = IO_JSON_OBJECT},
    {.name = "origin", .type = IO_JSON_OBJECT, .fields = IO_JSON_ROWS(of_origin)},
    {.name = "notes", .type = IO_JSON_OBJECT, .fields = IO_JSON_ROWS(of_notes)},
    {.name = "end", .type = IO_JSON_OBJECT, .fields = IO_JSON_ROWS(of_end)},
    {.name = "backends", .type = IO_JSON_LIST, .high = INT32_MAX, .fields = &text}};

static collet_status take_notes(trajectory_shard *s, collet_error *err)
{
    const char *format = io_json_text(s->json, "format");
    const cJSON *notes = cJSON_GetObjectItemCaseSensitive(s->json, "notes");

    if (!format || strcmp(format, TRAJECTORY_SHARD_FORMAT) != 0)
        return collet_fail(err, COLLET_FORMAT,
                           "%s: it is not a shard of this version of collet: compute it again",
                           s->path);
    collet_status status = io_json_check(s->path, "", s->json, IO_JSON_ROWS(of_shard), err);
    if (status != COLLET_OK)
        return status;
    s->shard = io_json_whole(s->json, "shard");
    s->n_shards = io_json_whole(s->json, "n_shards");
    s->rows = io_json_whole(s->json, "rows");
    s->n_frames = io_json_whole(notes, "n_frames");
    s->truncated = io_json_whole(notes, "truncated") != 0;
    int64_t rows = trajectory_shard_end(s->rows, s->shard, s->n_shards) -
                   trajectory_shard_end(s->rows, s->shard - 1, s->n_shards);
    if (s->shard > s->n_shards || s->n_frames > rows)
        return collet_fail(err, COLLET_FORMAT,
                           "%s: its notes are damaged: shard %lld of %lld has %lld of %lld frames; "
                           "compute it again",
                           s->path, (long long)s->shard, (long long)s->n_shards,
                           (long long)s->n_frames, (long long)s->rows);
    return COLLET_OK;
}

collet_status trajectory_shard_read(const char *path, trajectory_shard *s, collet_error *err)
{
    io_npz *npz = NULL;
    char *notes = NULL;

    *s = (trajectory_shard){.path = strdup(path)};
    collet_status status = s->path ? io_npz_open(path, &npz, err)
                                   : collet_fail(err, COLLET_NO_MEMORY, "%s: out of memory", path);
    if (status == COLLET_OK)
        status = io_npz_text(npz, TRAJECTORY_SHARD_NOTES, &notes, err);
    if (status == COLLET_OK)
        status = io_json_parse(path, notes, strlen(notes), &s->json, err);
    if (status == COLLET_OK)
        status = take_notes(s, err);
    free(notes);
    io_npz_close(npz);
    return status;
}

void trajectory_shard_free(trajectory_shard *s)
{
    cJSON_Delete(s->json);
    free(s->path);
}

collet_status trajectory_shard_check(const trajectory_shard *s, collet_error *err)
{
    io_npz *npz;
    collet_status status = io_npz_open(s->path, &npz, err);

    if (status == COLLET_OK)
        status = io_npz_check(npz, err);
    io_npz_close(npz);
    return status;
}

collet_status trajectory_shard_masses(const trajectory_shard *s, int64_t n, double **out,
                                      collet_error *err)
{
    io_npz *npz = NULL;
    io_npz_array *array = NULL;

    *out = n > 0 ? malloc((size_t)n * sizeof **out) : NULL;
    if (n == 0)
        return COLLET_OK;
    collet_status status = *out ? io_npz_open(s->path, &npz, err)
                                : collet_fail(err, COLLET_NO_MEMORY, "%s: out of memory", s->path);
    if (status == COLLET_OK)
        status = io_npz_array_open(npz, TRAJECTORY_SHARD_MASSES, n, 0, NULL, &array, err);
    if (status == COLLET_OK)
        status = io_npz_array_read(array, n, *out, err);
    io_npz_array_close(array);
    io_npz_close(npz);
    return status;
}

/* ---- Rows -------------------------------------------------------------------------------- */

static collet_status open_array(const trajectory_shard *s, const char *key, int64_t width,
                                int64_t most, trajectory_shard_rows *rows, size_t i,
                                collet_error *err)
{
    size_t bytes;

    if (!__builtin_mul_overflow((size_t)width * sizeof(double), (size_t)most, &bytes))
        rows->memory[i] = malloc(bytes);
    if (!rows->memory[i])
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to read it", s->path);
    return io_npz_array_open(rows->npz, key, s->n_frames, 1, &width, &rows->arrays[i], err);
}

collet_status trajectory_shard_rows_open(const trajectory_shard *s, uint64_t sums,
                                         trajectory_extent extent, int64_t most,
                                         trajectory_shard_rows *rows, collet_error *err)
{
    memset(rows, 0, sizeof *rows);
    collet_status status = io_npz_open(s->path, &rows->npz, err);
    if (status == COLLET_OK)
        status = open_array(s, TRAJECTORY_SHARD_FRAMES, 1, most, rows, TRAJECTORY_SUMS, err);
    rows->frames = rows->memory[TRAJECTORY_SUMS];
    sums |= TRAJECTORY_BUFFER_BIT(TRAJECTORY_TIME);
    for (size_t i = 0; status == COLLET_OK && i < TRAJECTORY_SUMS; i++) {
        int32_t buffer = trajectory_sums[i].buffer;

        if (sums & TRAJECTORY_BUFFER_BIT(buffer))
            status = open_array(s, trajectory_sums[i].name, trajectory_sum_width(buffer, extent),
                                most, rows, i, err);
        rows->sums[i] = rows->memory[i];
    }
    return status;
}

collet_status trajectory_shard_rows_read(trajectory_shard_rows *rows, int64_t n, collet_error *err)
{
    collet_status status = COLLET_OK;

    for (size_t i = 0; status == COLLET_OK && i <= TRAJECTORY_SUMS; i++)
        if (rows->arrays[i])
            status = io_npz_array_read(rows->arrays[i], n, rows->memory[i], err);
    return status;
}

void trajectory_shard_rows_close(trajectory_shard_rows *rows)
{
    for (size_t i = 0; i <= TRAJECTORY_SUMS; i++) {
        io_npz_array_close(rows->arrays[i]);
        free(rows->memory[i]);
    }
    io_npz_close(rows->npz);
    memset(rows, 0, sizeof *rows);
}
