/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_trajectory.c */
#include "reader.h"

#include "recognise.h"
#include "io/numerals.h"

#include <collet/trajectory.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACE 128 /* bytes of the text about a frame */

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
    const trajectory_format *format = trajectory_formats_find(TRAJECTORY_HOLDS_FRAMES, bytes, n);
    return format ? set_format(trajectory, format, err)
                  : trajectory_formats_refuse(TRAJECTORY_HOLDS_FRAMES, trajectory->source.path,
                                              bytes, n, err);
}

static void describe(trajectory_reader *trajectory, const trajectory_frame_head *head)
{
    trajectory_reader_info *info = &trajectory->info;

    info->format = trajectory->format->name;
    info->on_demand = trajectory->format->on_demand;
    info->n_atoms = head->n_atoms;
    info->file_size = trajectory->source.size;
    info->dtype = head->dtype;
    info->has_velocities = head->velocities != 0;
    info->has_forces = head->forces != 0;
    info->has_times = head->has_time;
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
    atomic_init(&trajectory->cancelled, 0);
    return trajectory;
}

/* The last step of opening: takes the trajectory, also on an error. `status`: the result of the
 * steps before. */
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

    collet_status status = io_source_open(&trajectory->source, path, err);
    if (poll)
        trajectory->source.poll = *poll;
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

collet_status trajectory_reader_open_with(const trajectory_format *format, const void *state,
                                          const char *name, int64_t size, trajectory_reader **out,
                                          collet_error *err)
{
    *out = NULL;
    trajectory_reader *trajectory = allocate(name, err);
    if (!trajectory)
        return COLLET_NO_MEMORY;
    trajectory->source.size = size;
    trajectory->source.path = strdup(name);

    collet_status status = trajectory->source.path ? set_format(trajectory, format, err)
                                                   : collet_fail(err, COLLET_NO_MEMORY,
                                                                 "%s: no memory to open it", name);
    if (status == COLLET_OK)
        memcpy(trajectory->state, state, format->state_size);
    return finish_open(trajectory, status, out, err);
}

void trajectory_reader_close(trajectory_reader *trajectory)
{
    if (!trajectory)
        return;
    if (trajectory->format && trajectory->format->close)
        trajectory->format->close(trajectory);
    io_source_close(&trajectory->source);
    free(trajectory->state);
    free(trajectory->runs);
    free(trajectory);
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

static collet_status check_batch(const trajectory_reader *trajectory,
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

/* Reads the head at trajectory->offset; *at_end = 1 where the file ends after a complete frame. */
static collet_status read_head(trajectory_reader *trajectory, trajectory_frame_head *head,
                               int *at_end, collet_error *err)
{
    const trajectory_reader_info *info = &trajectory->info;

    *at_end = trajectory->offset == trajectory->source.size;
    if (*at_end && trajectory->index < trajectory->announced)
        return trajectory_reader_truncated(trajectory, err);
    if (*at_end)
        return COLLET_OK;
    *head = (trajectory_frame_head){.lacking = -1};
    collet_status status = trajectory->format->head(trajectory, head, err);
    if (status != COLLET_OK)
        return status;
    if (head->n_atoms != info->n_atoms)
        return trajectory_reader_fail(trajectory, COLLET_FORMAT, err,
                                      "has %lld atoms, the first frame has %lld",
                                      (long long)head->n_atoms, (long long)info->n_atoms);
    if (head->dtype != info->dtype)
        return trajectory_reader_fail(trajectory, COLLET_FORMAT, err,
                                      "is in %s precision, the first frame is in %s",
                                      head->dtype == COLLET_F64 ? "double" : "single",
                                      info->dtype == COLLET_F64 ? "double" : "single");
    if (head->end > trajectory->source.size)
        return trajectory_reader_truncated(trajectory, err);
    return COLLET_OK;
}

static void step_over(trajectory_reader *trajectory, const trajectory_frame_head *head)
{
    trajectory->offset = head->end;
    trajectory->line = head->end_line;
    trajectory->index++;
}

/* Writes " (atom A, time T ps, step S)", without parts that the file does not have; A is the first
 * atom without a velocity. */
static void describe_place(const trajectory_frame_head *head, char *text, size_t size)
{
    const char *before = " (";
    int n = 0;
    locale_t locale = io_numerals_begin();

    text[0] = '\0';
    if (head->lacking >= 0) {
        n += snprintf(text + n, size - (size_t)n, "%satom %lld, counted from 0", before,
                      (long long)head->lacking);
        before = ", ";
    }
    if (head->has_time) {
        n += snprintf(text + n, size - (size_t)n, "%stime %g ps", before, head->time);
        before = ", ";
    }
    if (head->step >= 0) {
        n += snprintf(text + n, size - (size_t)n, "%sstep %lld", before, (long long)head->step);
        before = ", ";
    }
    if (n > 0)
        snprintf(text + n, size - (size_t)n, ")");
    io_numerals_end(locale);
}

const char *trajectory_fields_name(uint32_t fields)
{
    return fields & TRAJECTORY_HAS_POSITIONS    ? "positions"
           : fields & TRAJECTORY_HAS_VELOCITIES ? "velocities"
                                                : "forces";
}

/* The requested fields that a frame lacks. */
static uint32_t lacking_fields(const trajectory_frame_head *head,
                               const trajectory_frame_target *target)
{
    return (head->positions ? 0 : TRAJECTORY_HAS_POSITIONS) |
           (target->velocities && !head->velocities ? TRAJECTORY_HAS_VELOCITIES : 0) |
           (target->forces && !head->forces ? TRAJECTORY_HAS_FORCES : 0);
}

static collet_status refuse_gap(const trajectory_reader *trajectory,
                                const trajectory_frame_head *head, uint32_t lacking,
                                collet_error *err)
{
    char place[PLACE];

    describe_place(head, place, sizeof place);
    return trajectory_reader_fail(trajectory, COLLET_NOT_FOUND, err,
                                  "the frame has no %s%s; choose frames that have them with start, "
                                  "stop and step, keys that need none (--keys com,rg), or what is "
                                  "done with such frames (--missing skip, nan)",
                                  trajectory_fields_name(lacking), place);
}

static void note_gap(trajectory_reader *trajectory, uint32_t lacking)
{
    trajectory_gaps *gaps = &trajectory->gaps;

    if (gaps->frames++ == 0) {
        gaps->first = trajectory->index;
        gaps->fields = lacking;
    }
    if (lacking & TRAJECTORY_HAS_POSITIONS) {
        gaps->lacks[0]++;
        return;
    }
    gaps->lacks[1] += (lacking & TRAJECTORY_HAS_VELOCITIES) != 0;
    gaps->lacks[2] += (lacking & TRAJECTORY_HAS_FORCES) != 0;
}

/* NaN in place of what a frame lacks; its target is not decoded. */
static void fill_gap(void **target, const trajectory_frames *frames)
{
    for (int64_t i = 0; i < 3 * frames->n_atoms; i++)
        if (frames->dtype == COLLET_F64)
            ((double *)*target)[i] = (double)NAN;
        else
            ((float *)*target)[i] = NAN;
    *target = NULL;
}

/* *skip: the frame is left out. */
static collet_status close_gaps(trajectory_reader *trajectory, const trajectory_frame_head *head,
                                const trajectory_frames *frames, trajectory_frame_target *target,
                                int *skip, collet_error *err)
{
    uint32_t lacking = lacking_fields(head, target);

    *skip = 0;
    if (!lacking)
        return COLLET_OK;
    if (trajectory->missing == COLLET_TRAJECTORY_MISSING_FAIL ||
        (trajectory->missing == COLLET_TRAJECTORY_MISSING_NAN && !trajectory->delivered &&
         lacking & TRAJECTORY_HAS_POSITIONS))
        return refuse_gap(trajectory, head, lacking, err);
    note_gap(trajectory, lacking);
    *skip = trajectory->missing == COLLET_TRAJECTORY_MISSING_SKIP;
    if (*skip)
        return COLLET_OK;
    if (lacking & TRAJECTORY_HAS_POSITIONS)
        fill_gap(&target->positions, frames);
    if (lacking & TRAJECTORY_HAS_VELOCITIES)
        fill_gap(&target->velocities, frames);
    if (lacking & TRAJECTORY_HAS_FORCES)
        fill_gap(&target->forces, frames);
    return COLLET_OK;
}

static void *row(void *array, int64_t frame, const trajectory_frames *frames)
{
    size_t real = frames->dtype == COLLET_F64 ? sizeof(double) : sizeof(float);

    if (!array)
        return NULL;
    return (uint8_t *)array + (size_t)frame * (size_t)frames->n_atoms * 3 * real;
}

static collet_status deliver(trajectory_reader *trajectory, trajectory_frame_head *head,
                             trajectory_frames *frames, collet_error *err)
{
    int64_t i = frames->n_frames;
    trajectory_frame_target target = {
        .positions = row(frames->positions, i, frames),
        .velocities = row(frames->velocities, i, frames),
        .forces = row(frames->forces, i, frames),
    };

    int skip;
    collet_status status = close_gaps(trajectory, head, frames, &target, &skip, err);
    if (status != COLLET_OK || skip)
        return status;
    status = trajectory->format->body(trajectory, head, &target, err);
    if (status != COLLET_OK)
        return status;
    frames->n_bad_times += head->has_time && !isfinite(head->time);
    frames->times[i] = head->has_time && isfinite(head->time) ? head->time : (double)NAN;
    memcpy(frames->boxes + 9 * i, head->box, sizeof head->box);
    frames->indices[i] = trajectory->index;
    frames->n_frames++;
    trajectory->delivered = 1;
    return COLLET_OK;
}

static void note_unused(trajectory_reader *trajectory, const trajectory_frame_head *head)
{
    trajectory_gaps *gaps = &trajectory->gaps;
    uint32_t unused =
        (head->velocities && !trajectory->info.has_velocities ? TRAJECTORY_HAS_VELOCITIES : 0) |
        (head->forces && !trajectory->info.has_forces ? TRAJECTORY_HAS_FORCES : 0);

    if (unused && !gaps->unused)
        gaps->first_unused = trajectory->index;
    gaps->unused |= unused;
}

static int has_next(const trajectory_reader *trajectory)
{
    return trajectory->stop < 0 || trajectory->next < trajectory->stop;
}

static collet_status read_frames(trajectory_reader *trajectory, trajectory_frames *frames,
                                 collet_error *err)
{
    while (frames->n_frames < frames->capacity && has_next(trajectory)) {
        trajectory_frame_head head;
        int at_end;

        if (is_cancelled(trajectory))
            return COLLET_OK;
        collet_status status = read_head(trajectory, &head, &at_end, err);
        if (status != COLLET_OK || at_end)
            return status;
        note_unused(trajectory, &head);
        if (trajectory->index == trajectory->next) {
            status = deliver(trajectory, &head, frames, err);
            if (status != COLLET_OK)
                return status;
            if (__builtin_add_overflow(trajectory->next, trajectory->step, &trajectory->next))
                trajectory->next = INT64_MAX;
        }
        step_over(trajectory, &head);
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
        collet_status status = check_batch(trajectory, frames, err);
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
