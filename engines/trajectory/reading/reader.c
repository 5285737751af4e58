/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_trajectory.c */
#include "reader.h"

#include "places.h"
#include "recognise.h"
#include "scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Opening ----------------------------------------------------------------------------- */

static collet_status set_format(trajectory_reader *trajectory, const trajectory_format *format,
                                collet_error *err)
{
    trajectory->state = calloc(1, format->state_size + 1);
    if (!trajectory->state)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to open it",
                           trajectory->source.path);
    trajectory->format = format;
    return COLLET_OK;
}

static collet_status choose_format(trajectory_reader *trajectory, collet_error *err)
{
    const uint8_t *bytes;
    size_t n;

    collet_status status = io_source_begin(&trajectory->source, &bytes, &n, err);
    if (status != COLLET_OK)
        return status;
    const trajectory_format *format = trajectory_formats_find(TRAJECTORY_HOLDS_FRAMES, trajectory->source.path, bytes, n);
    return format ? set_format(trajectory, format, err)
                  : trajectory_formats_refuse(TRAJECTORY_HOLDS_FRAMES, trajectory->source.path,
                                              bytes, n, err);
}

static void describe(trajectory_reader *trajectory, const trajectory_frame_head *head)
{
    trajectory_reader_info *info = &trajectory->info;

    info->format = trajectory->format->name;
    info->on_demand = trajectory->format->on_demand;
    info->concurrent = trajectory->format->concurrent;
    info->n_atoms = head->n_atoms;
    info->file_size = trajectory->source.size;
    info->dtype = head->dtype;
    info->has_velocities = head->velocities != 0;
    info->has_forces = head->forces != 0;
    info->has_times = head->has_time;
    info->rounds_times = head->rounding > 0;
    info->first_time = head->has_time ? head->time : (double)NAN;
    info->lacking = head->lacking;
}

static collet_status read_first_head(trajectory_reader *trajectory, collet_error *err)
{
    trajectory_frame_head head = {.lacking = -1};

    collet_status status = trajectory->format->head(trajectory, &head, err);
    if (status != COLLET_OK)
        return status;
    if (head.n_atoms < 1)
        return trajectory_reader_fail(trajectory, COLLET_FORMAT, err, "has no atoms");
    describe(trajectory, &head);
    return trajectory_reader_select(trajectory, NULL, 0, err);
}

static trajectory_reader *allocate(const char *path, collet_error *err)
{
    trajectory_reader *trajectory = calloc(1, sizeof *trajectory);

    if (!trajectory) {
        collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to open it", path);
        return NULL;
    }
    trajectory->source.fd = -1;
    trajectory->line = 1;
    trajectory->stop = -1;
    trajectory->step = 1;
    trajectory->first = -1;
    atomic_init(&trajectory->cancelled, 0);
    return trajectory;
}

/* The last step of opening: sets *out to the trajectory, or after an error closes the trajectory. `status`: the
 * result of the earlier steps. */
static collet_status finish_open(trajectory_reader *trajectory, collet_status status,
                                 trajectory_reader **out, collet_error *err)
{
    if (status == COLLET_OK)
        status = read_first_head(trajectory, err);
    if (status == COLLET_OK)
        *out = trajectory;
    else
        trajectory_reader_close(trajectory);
    return status;
}

collet_status trajectory_reader_open(const char *path, const io_poll *poll, trajectory_reader **out,
                                     collet_error *err)
{
    *out = NULL;
    trajectory_reader *trajectory = allocate(path, err);
    if (!trajectory)
        return COLLET_NO_MEMORY;

    collet_status status = io_source_open(&trajectory->source, path, poll, err);
    if (status == COLLET_OK)
        status = choose_format(trajectory, err);
    return finish_open(trajectory, status, out, err);
}

static int32_t is_cancelled(void *user)
{
    trajectory_reader *trajectory = user;

    return atomic_load_explicit(&trajectory->cancelled, memory_order_relaxed);
}

void trajectory_reader_background(trajectory_reader *trajectory)
{
    trajectory->source.poll = (io_poll){is_cancelled, trajectory};
}

/* Frees the memory that the state of a format points to. */
static collet_status drop_state(const trajectory_format *format, const void *state)
{
    trajectory_reader none = {.state = (void *)(uintptr_t)state};

    if (format->close)
        format->close(&none);
    return COLLET_NO_MEMORY;
}

collet_status trajectory_reader_open_with(const trajectory_format *format, const void *state,
                                          const char *name, int64_t size, trajectory_reader **out,
                                          collet_error *err)
{
    *out = NULL;
    trajectory_reader *trajectory = allocate(name, err);
    if (!trajectory)
        return drop_state(format, state);
    trajectory->source.size = size;
    trajectory->source.path = strdup(name);

    collet_status status = trajectory->source.path ? set_format(trajectory, format, err)
                                                   : collet_fail(err, COLLET_NO_MEMORY,
                                                                 "%s: no memory to open it", name);
    if (status == COLLET_OK)
        memcpy(trajectory->state, state, format->state_size);
    else
        drop_state(format, state);
    return finish_open(trajectory, status, out, err);
}

/* A trajectory that is not a single file has no file descriptor. */
static collet_status share_source(const io_source *from, io_source *source, collet_error *err)
{
    if (from->fd >= 0)
        return io_source_share(from, source, err);
    *source = (io_source){.fd = -1, .size = from->size, .poll = from->poll};
    source->path = strdup(from->path);
    return source->path
               ? COLLET_OK
               : collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to open it", from->path);
}

static collet_status share(const trajectory_reader *from, trajectory_reader *decoder,
                           collet_error *err)
{
    size_t runs = (size_t)from->n_runs * sizeof *from->runs;

    collet_status status = share_source(&from->source, &decoder->source, err);
    if (status == COLLET_OK)
        status = set_format(decoder, from->format, err);
    if (status != COLLET_OK)
        return status;
    decoder->runs = malloc(runs);
    if (!decoder->runs)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to open it", from->source.path);
    memcpy(decoder->runs, from->runs, runs);
    decoder->n_runs = from->n_runs;
    decoder->n_selected = from->n_selected;
    decoder->info = from->info;
    if (from->format->share)
        from->format->share(from, decoder);
    return COLLET_OK;
}

collet_status trajectory_reader_share(const trajectory_reader *from, trajectory_reader **out,
                                      collet_error *err)
{
    *out = NULL;
    trajectory_reader *decoder = allocate(from->source.path, err);
    if (!decoder)
        return COLLET_NO_MEMORY;
    collet_status status = share(from, decoder, err);
    if (status == COLLET_OK)
        *out = decoder;
    else
        trajectory_reader_close(decoder);
    return status;
}

void trajectory_reader_close(trajectory_reader *trajectory)
{
    if (!trajectory)
        return;
    if (trajectory->format && trajectory->format->close)
        trajectory->format->close(trajectory);
    io_source_close(&trajectory->source);
    trajectory_places_free(trajectory->places);
    free(trajectory->state);
    free(trajectory->runs);
    free(trajectory);
}

void trajectory_reader_set_end(trajectory_reader *trajectory, double precision, const char *note)
{
    trajectory->info.precision = precision;
    trajectory->info.note = note;
}

void trajectory_reader_use_clocks(trajectory_reader *trajectory)
{
    trajectory->clocked = 1;
}

const trajectory_reader_info *trajectory_reader_get_info(const trajectory_reader *trajectory)
{
    return &trajectory->info;
}

/* ---- Selection and slice ----------------------------------------------------------------- */

static collet_status check_indices(const trajectory_reader *trajectory, const int64_t *indices,
                                   int64_t n, collet_error *err)
{
    if (n < 1)
        return collet_fail(err, COLLET_INVALID, "%s: the selection has no atoms",
                           trajectory->source.path);
    for (int64_t i = 0; i < n; i++) {
        if (indices[i] < 0 || indices[i] >= trajectory->info.n_atoms)
            return collet_fail(err, COLLET_INVALID,
                               "%s: the selection has atom index %lld, but the file has 0..%lld",
                               trajectory->source.path, (long long)indices[i],
                               (long long)trajectory->info.n_atoms - 1);
        if (i > 0 && indices[i] <= indices[i - 1])
            return collet_fail(err, COLLET_INVALID,
                               "%s: the selection's atom indices must increase; index %lld is not "
                               "larger than the one before it",
                               trajectory->source.path, (long long)indices[i]);
    }
    return COLLET_OK;
}

static int64_t join_runs(const int64_t *indices, int64_t n, trajectory_atom_run *runs)
{
    int64_t n_runs = 0;

    for (int64_t i = 0; i < n; i++) {
        if (i > 0 && indices[i] == indices[i - 1] + 1)
            runs[n_runs - 1].count++;
        else
            runs[n_runs++] = (trajectory_atom_run){indices[i], 1};
    }
    return n_runs;
}

collet_status trajectory_reader_select(trajectory_reader *trajectory, const int64_t *indices,
                                       int64_t n, collet_error *err)
{
    collet_status status = indices ? check_indices(trajectory, indices, n, err) : COLLET_OK;
    trajectory_atom_run *runs;

    if (status != COLLET_OK)
        return status;
    runs = calloc(indices ? (size_t)n : 1, sizeof *runs);
    if (!runs)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for a selection of %lld atoms",
                           trajectory->source.path, (long long)n);
    free(trajectory->runs);
    trajectory->runs = runs;
    trajectory->n_selected = indices ? n : trajectory->info.n_atoms;
    runs[0] = (trajectory_atom_run){0, trajectory->info.n_atoms};
    trajectory->n_runs = indices ? join_runs(indices, n, runs) : 1;
    return COLLET_OK;
}

int64_t trajectory_reader_selected(const trajectory_reader *trajectory)
{
    return trajectory->n_selected;
}

collet_status trajectory_reader_slice(trajectory_reader *trajectory, int64_t start, int64_t stop,
                                      int64_t step, collet_error *err)
{
    if (start < 0 || step < 1)
        return collet_fail(
            err, COLLET_INVALID,
            "%s: start %lld, step %lld: start must be at least 0 and step at least 1",
            trajectory->source.path, (long long)start, (long long)step);
    if (trajectory->index > 0 || trajectory->error.status != COLLET_OK)
        return collet_fail(err, COLLET_INVALID, "%s: the slice must be set before frames are read",
                           trajectory->source.path);
    trajectory->next = start;
    trajectory->stop = stop;
    trajectory->step = step;
    trajectory->first = -1;
    return COLLET_OK;
}

collet_status trajectory_reader_slice_shard(trajectory_reader *trajectory, int64_t start,
                                            int64_t stop, int64_t step, int64_t lead, int64_t first,
                                            collet_error *err)
{
    collet_status status = trajectory_reader_slice(trajectory, start, stop, step, err);

    if (status != COLLET_OK)
        return status;
    if (lead < 0 || first < start || (first - start) % step != 0)
        return collet_fail(
            err, COLLET_INVALID, "%s: frame %lld is not a frame of the slice from %lld by %lld",
            trajectory->source.path, (long long)first, (long long)start, (long long)step);
    trajectory->lead = lead;
    trajectory->first = first;
    return COLLET_OK;
}

void trajectory_reader_set_missing(trajectory_reader *trajectory, uint32_t missing)
{
    trajectory->missing = missing;
}

const trajectory_gaps *trajectory_reader_gaps(const trajectory_reader *trajectory)
{
    return &trajectory->gaps;
}

/* ---- Reading ----------------------------------------------------------------------------- */

collet_status trajectory_reader_check(const trajectory_reader *trajectory,
                                      const trajectory_frames *frames, collet_error *err)
{
    const trajectory_reader_info *info = &trajectory->info;

    if (frames->dtype != info->dtype || frames->n_atoms != trajectory->n_selected)
        return collet_fail(err, COLLET_INVALID,
                           "%s: a batch for %lld atoms of dtype %d cannot take %lld atoms of "
                           "dtype %d",
                           trajectory->source.path, (long long)frames->n_atoms, frames->dtype,
                           (long long)trajectory->n_selected, info->dtype);
    if ((frames->velocities && !info->has_velocities) || (frames->forces && !info->has_forces))
        return collet_fail(err, COLLET_NOT_FOUND, "%s: the file has no %s, but they were requested",
                           trajectory->source.path,
                           frames->velocities && !info->has_velocities ? "velocities" : "forces");
    return COLLET_OK;
}

static collet_status read_frames(trajectory_reader *trajectory, trajectory_frames *frames,
                                 collet_error *err)
{
    while (frames->n_frames < frames->capacity) {
        trajectory_scanned frame;
        int found;

        collet_status status = trajectory_scan_next(trajectory, frames, &frame, &found, err);
        if (status != COLLET_OK || !found)
            return status;
        status = trajectory_scan_decode(trajectory, &frame, frames, frames->n_frames, err);
        if (status != COLLET_OK)
            return status;
        frames->n_frames++;
        frames->n_bad_times += frame.bad_time;
    }
    return COLLET_OK;
}

collet_status trajectory_reader_read(trajectory_reader *trajectory, trajectory_frames *frames,
                                     collet_error *err)
{
    collet_error *kept = &trajectory->error;

    frames->n_frames = 0;
    frames->truncated = 0;
    frames->n_bad_times = 0;
    frames->end_offset = trajectory->offset;
    if (kept->status == COLLET_OK) {
        collet_error found = {0};
        collet_status status = trajectory_reader_check(trajectory, frames, err);
        if (status != COLLET_OK)
            return status;
        status = read_frames(trajectory, frames, &found);
        if (status == COLLET_CANCELLED && is_cancelled(trajectory))
            status = COLLET_OK;
        frames->end_offset = trajectory->offset;
        if (status == COLLET_OK)
            return COLLET_OK;
        *kept = found;
        kept->status = status;
    }
    frames->truncated = trajectory->truncated;
    return collet_fail(err, kept->status, "%s", kept->text);
}

void trajectory_reader_cancel(trajectory_reader *trajectory)
{
    atomic_store_explicit(&trajectory->cancelled, 1, memory_order_relaxed);
}
