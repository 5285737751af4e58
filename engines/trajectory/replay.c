/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_shards.c */
#include "replay.h"

#include "io/json/json.h"
#include "io/spool.h"
#include "trajectory/reading/parts.h"
#include "work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROWS 4096 /* read at a time */

struct trajectory_replay {
    trajectory_shards shards;
    int64_t next; /* shard to open */
    int64_t left; /* rows of the open shard that are not read yet */
    int64_t row;  /* number, over all shards, of the last row that was read; -1: none */
    const trajectory_inputs *inputs;
    uint64_t sums;
    int64_t most;
    trajectory_shard_rows rows;
};

static const cJSON *member(const trajectory_shard *shard, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(shard->json, key);
}

collet_status trajectory_replay_open(const collet_trajectory_options *options,
                                     trajectory_settings *settings, trajectory_replay **out,
                                     collet_error *err)
{
    trajectory_replay *r = *out = calloc(1, sizeof *r);

    if (r == NULL)
        return collet_fail(err, COLLET_NO_MEMORY, "shards: out of memory");
    double *masses = NULL;
    collet_status status =
        trajectory_shards_open(options->parts, options->n_parts, &r->shards, err);
    if (status == COLLET_OK) {
        const trajectory_shard *first = &r->shards.list[0];
        const cJSON *work = member(first, "work");

        status = trajectory_work_check(work, first->path, err);
        if (status == COLLET_OK)
            status =
                trajectory_shard_masses(first, io_json_whole(work, "n_mass_values"), &masses, err);
        if (status == COLLET_OK)
            status = trajectory_work_settings(work, first->path, member(first, "origin"), options,
                                              masses, settings, err);
    }
    free(masses);
    if (status != COLLET_OK) {
        trajectory_replay_free(r);
        *out = NULL;
    }
    return status;
}

void trajectory_replay_free(trajectory_replay *r)
{
    if (r == NULL)
        return;
    trajectory_shard_rows_close(&r->rows);
    trajectory_shards_free(&r->shards);
    free(r);
}

int64_t trajectory_replay_rows(const trajectory_replay *r)
{
    int64_t rows = 0;

    for (int64_t i = 0; i < r->shards.n; i++)
        rows += r->shards.list[i].n_frames;
    return rows;
}

collet_status trajectory_replay_check(const trajectory_replay *r, const char *path,
                                      collet_error *err)
{
    collet_status status = COLLET_OK;

    for (int64_t i = 0; status == COLLET_OK && i < r->shards.n; i++)
        status = io_spool_check_input(path, r->shards.list[i].path, err);
    return status;
}

void trajectory_replay_start(trajectory_replay *r, const trajectory_inputs *inputs, uint64_t sums,
                             int64_t most)
{
    r->inputs = inputs;
    r->row = -1;
    r->sums = sums;
    r->most = most < MOST_ROWS ? most : MOST_ROWS;
}

/* ---- Rows -------------------------------------------------------------------------------- */

static collet_status add_notes(const trajectory_replay *r, const trajectory_shard *shard,
                               trajectory_notes *notes, collet_error *err)
{
    trajectory_notes part;

    collet_status status =
        trajectory_notes_read(member(shard, "notes"), shard->path, r->inputs->topology->n_atoms,
                              r->inputs->bodies.n, &part, err);
    if (status == COLLET_OK)
        trajectory_notes_add(notes, &part);
    return status;
}

/* Opens shards until a shard has rows. */
static collet_status open_next(trajectory_replay *r, trajectory_notes *notes, collet_error *err)
{
    collet_status status = COLLET_OK;

    while (status == COLLET_OK && r->left == 0 && r->next < r->shards.n) {
        const trajectory_shard *shard = &r->shards.list[r->next++];

        trajectory_shard_rows_close(&r->rows);
        status = add_notes(r, shard, notes, err);
        if (status == COLLET_OK)
            status = trajectory_shard_rows_open(shard, r->sums, trajectory_inputs_extent(r->inputs),
                                                r->most, &r->rows, err);
        r->left = shard->n_frames;
    }
    return status;
}

/* Checks that frame numbers belong to rows of the shard and rise. The numbers need not be consecutive, because frames
 * that lack a field may be left out. */
static collet_status check_frames(trajectory_replay *r, int64_t n, collet_error *err)
{
    const trajectory_shard *s = &r->shards.list[r->next - 1];
    const trajectory_settings *settings = r->inputs->settings;
    int64_t first = trajectory_shard_end(s->rows, s->shard - 1, s->n_shards);
    int64_t end = trajectory_shard_end(s->rows, s->shard, s->n_shards);

    for (int64_t i = 0; i < n; i++) {
        double row = (r->rows.frames[i] - (double)settings->start) / (double)settings->step;
        int64_t least = r->row + 1 > first ? r->row + 1 : first;

        if (!(row >= (double)least && row < (double)end) || row != floor(row))
            return collet_fail(err, COLLET_FORMAT,
                               "%s: the number of frame %lld is %g; it must be from %.0f on, below "
                               "%.0f, in steps of %lld: compute the shard again",
                               s->path, (long long)(s->n_frames - r->left + i), r->rows.frames[i],
                               (double)settings->start + (double)least * (double)settings->step,
                               (double)settings->start + (double)end * (double)settings->step,
                               (long long)settings->step);
        r->row = (int64_t)row;
    }
    return COLLET_OK;
}

collet_status trajectory_replay_next(trajectory_replay *r, trajectory_notes *notes, int64_t *n,
                                     const double *const **sums, collet_error *err)
{
    collet_status status = open_next(r, notes, err);

    *n = r->left < r->most ? r->left : r->most;
    *sums = r->rows.sums;
    if (status != COLLET_OK || *n == 0)
        return status;
    status = trajectory_shard_rows_read(&r->rows, *n, err);
    if (status == COLLET_OK)
        status = check_frames(r, *n, err);
    r->left -= *n;
    for (int64_t i = 0; status == COLLET_OK && i < *n; i++)
        trajectory_notes_row(notes, (int64_t)r->rows.frames[i], r->rows.sums[0][i]);
    return status;
}

/* ---- The end ----------------------------------------------------------------------------- */

static void add_backends(const trajectory_replay *r, trajectory_analysis_notes *ran)
{
    for (int64_t i = 0; i < r->shards.n; i++) {
        const cJSON *item;

        cJSON_ArrayForEach(item, member(&r->shards.list[i], "backends"))
            trajectory_analysis_add_backend(ran, cJSON_GetStringValue(item));
    }
}

void trajectory_replay_finish(const trajectory_replay *r, trajectory_inputs *in,
                              trajectory_analysis_notes *ran)
{
    const trajectory_shard *last = &r->shards.list[r->shards.n - 1];
    const cJSON *end = member(last, "end"), *file;
    const trajectory_analysis_notes own = *ran;
    int64_t k = 0;

    trajectory_reader_set_end(in->trajectory, io_json_number(end, "precision"),
                              io_json_text(end, "note"));
    cJSON_ArrayForEach(file, cJSON_GetObjectItemCaseSensitive(end, "files")) trajectory_parts_set(
        in->trajectory, k++, io_json_whole(file, "first"), io_json_whole(file, "frames"),
        cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(file, "was_cut")),
        io_json_number(file, "last_ps"));
    ran->n_backends = 0;
    add_backends(r, ran);
    for (int32_t i = 0; i < own.n_backends; i++)
        trajectory_analysis_add_backend(ran, own.backends[i]);
}
