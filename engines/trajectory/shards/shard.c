/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_shards.c */
#include "shard.h"

#include "io/npz/npz_read.h"
#include "io/numerals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t trajectory_sum_width(int32_t buffer, trajectory_extent extent)
{
    return trajectory_buffer_rows(buffer, extent) * trajectory_buffer_width(buffer);
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

int64_t trajectory_shard_number(const cJSON *json, const char *key)
{
    double value = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(json, key));

    return value >= 0 && value <= 0x1p53 ? (int64_t)value : -1;
}

static collet_status take_notes(trajectory_shard *s, collet_error *err)
{
    const char *format = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(s->json, "format"));
    const cJSON *notes = cJSON_GetObjectItemCaseSensitive(s->json, "notes");

    if (!format || strcmp(format, TRAJECTORY_SHARD_FORMAT) != 0)
        return collet_fail(err, COLLET_FORMAT,
                           "%s: it is no shard of this version of collet: compute it again",
                           s->path);
    s->shard = trajectory_shard_number(s->json, "shard");
    s->n_shards = trajectory_shard_number(s->json, "n_shards");
    s->rows = trajectory_shard_number(s->json, "rows");
    s->n_frames = trajectory_shard_number(notes, "n_frames");
    s->truncated = trajectory_shard_number(notes, "truncated") != 0;
    if (s->n_shards < 1 || s->n_shards > TRAJECTORY_SHARDS_MOST || s->shard < 1 ||
        s->shard > s->n_shards || s->rows < 0 || s->n_frames < 0)
        return collet_fail(err, COLLET_FORMAT, "%s: its notes are damaged: compute it again",
                           s->path);
    return COLLET_OK;
}

collet_status trajectory_shard_read(const char *path, trajectory_shard *s, collet_error *err)
{
    io_npz *npz = NULL;
    char *text = NULL;

    *s = (trajectory_shard){.path = strdup(path)};
    collet_status status = s->path ? io_npz_open(path, &npz, err)
                                   : collet_fail(err, COLLET_NO_MEMORY, "%s: out of memory", path);
    if (status == COLLET_OK)
        status = io_npz_text(npz, TRAJECTORY_SHARD_NOTES, &text, err);
    if (status == COLLET_OK) {
        locale_t before = io_numerals_begin();
        s->json = cJSON_Parse(text);
        io_numerals_end(before);
        status = take_notes(s, err);
    }
    free(text);
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
