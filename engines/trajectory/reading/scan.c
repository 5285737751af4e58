/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_trajectory.c, tests/engines/test_io_readahead.c */
#include "scan.h"

#include "io/numerals.h"
#include "places.h"

#include <collet/trajectory.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define PLACE 128 /* bytes of the text about a frame */

/* ---- Heads ------------------------------------------------------------------------------- */

collet_status trajectory_scan_head(trajectory_reader *trajectory, trajectory_frame_head *head,
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

void trajectory_scan_step(trajectory_reader *trajectory, const trajectory_frame_head *head)
{
    trajectory->offset = head->end;
    trajectory->line = head->end_line;
    trajectory->index++;
}

/* ---- Gaps -------------------------------------------------------------------------------- */

/* Writes " (atom A, time T ps, step S)", without parts that are unknown; A is the first atom without a velocity. */
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

/* Returns the requested fields that a frame lacks. */
static uint32_t lacking_fields(const trajectory_frame_head *head, const trajectory_frames *frames)
{
    return (head->positions ? 0 : TRAJECTORY_HAS_POSITIONS) |
           (frames->velocities && !head->velocities ? TRAJECTORY_HAS_VELOCITIES : 0) |
           (frames->forces && !head->forces ? TRAJECTORY_HAS_FORCES : 0);
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

/* Decides what happens to a frame that lacks fields. *skip = 1: the frame is left out. */
static collet_status close_gaps(trajectory_reader *trajectory, const trajectory_frame_head *head,
                                uint32_t lacking, int *skip, collet_error *err)
{
    *skip = 0;
    if (!lacking)
        return COLLET_OK;
    if (trajectory->missing == COLLET_TRAJECTORY_MISSING_FAIL ||
        (trajectory->missing == COLLET_TRAJECTORY_MISSING_NAN && !trajectory->delivered &&
         lacking & TRAJECTORY_HAS_POSITIONS))
        return refuse_gap(trajectory, head, lacking, err);
    note_gap(trajectory, lacking);
    *skip = trajectory->missing == COLLET_TRAJECTORY_MISSING_SKIP;
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
    return !atomic_load_explicit(&trajectory->cancelled, memory_order_relaxed) &&
           (trajectory->stop < 0 || trajectory->next < trajectory->stop);
}

/* Takes the frame whose head was read. *found = 0: the frame lacks a field and is left out. */
static collet_status take(trajectory_reader *trajectory, const trajectory_frames *frames,
                          trajectory_scanned *out, int *found, collet_error *err)
{
    uint32_t lacking = lacking_fields(&out->head, frames);
    int skip;

    collet_status status = close_gaps(trajectory, &out->head, lacking, &skip, err);
    if (status != COLLET_OK)
        return status;
    out->offset = trajectory->offset;
    out->index = trajectory->index;
    out->line = trajectory->line;
    out->clock = trajectory->clocked && trajectory->places
                     ? trajectory_places_clock(trajectory->places, trajectory->index)
                     : NULL;
    out->gaps = lacking;
    out->gaps_then = trajectory->gaps;
    if (__builtin_add_overflow(trajectory->next, trajectory->step, &trajectory->next))
        trajectory->next = INT64_MAX;
    trajectory->delivered |= !skip;
    trajectory->lead -= !skip && trajectory->lead > 0;
    *found = !skip;
    return COLLET_OK;
}

/* Once the `lead` frames were delivered, jumps to the frame `first`. At this frame gaps are counted anew. */
static void leave_lead(trajectory_reader *trajectory)
{
    trajectory_gaps *gaps = &trajectory->gaps;

    if (trajectory->next < trajectory->first) {
        if (trajectory->lead > 0)
            return;
        trajectory->next = trajectory->first;
        trajectory->delivered = 1;
    }
    trajectory->first = -1;
    *gaps = (trajectory_gaps){.unused = gaps->unused, .first_unused = gaps->first_unused};
}

/* Notes whether frames that were skipped before frame trajectory->index have velocities or forces that are not used;
 * places->unused has the first such frames. */
static void note_passed(trajectory_reader *trajectory, const trajectory_places *places)
{
    static const uint32_t fields[2] = {TRAJECTORY_HAS_VELOCITIES, TRAJECTORY_HAS_FORCES};
    trajectory_gaps *gaps = &trajectory->gaps;

    for (int i = 0; i < 2; i++) {
        int64_t first = places->unused[i];
        if (first < 0 || first >= trajectory->index)
            continue;
        if (!gaps->unused || first < gaps->first_unused)
            gaps->first_unused = first;
        gaps->unused |= fields[i];
    }
}

/* Fails unless the table of frames states that frame number `index` begins at byte `offset` of the file. The format that
 * joins several files checks this itself. */
static collet_status check_place(const trajectory_reader *trajectory, int64_t index, int64_t offset,
                                 collet_error *err)
{
    const trajectory_places *places = trajectory->places;

    return places && !trajectory->format->place
               ? trajectory_places_check(trajectory, places, places->parts, index, offset, err)
               : COLLET_OK;
}

/* Jumps to the next frame to deliver, if the frames before it need not be read. If no such frame is left, jumps to the
 * last frame instead of the end, so that the bytes after the last frame are still checked. */
static collet_status skip_to_next(trajectory_reader *trajectory, collet_error *err)
{
    const trajectory_places *places = trajectory->places;
    collet_status status;

    if (trajectory->next <= trajectory->index ||
        (!places && !trajectory_places_computes(trajectory)))
        return COLLET_OK;
    int64_t last = (places ? places->n_frames : trajectory->format->count(trajectory)) - 1;
    int64_t index = trajectory->next < last ? trajectory->next : last;
    if (index <= trajectory->index)
        return COLLET_OK;
    if (trajectory->format->place)
        status = trajectory->format->place(trajectory, index, err);
    else
        status = trajectory_places_go(trajectory, places, places ? places->parts : NULL, index,
                                      trajectory->index, err);
    if (status == COLLET_OK && places)
        note_passed(trajectory, places);
    return status;
}

/* First jumps to the next frame to deliver, if this is possible; then reads the next head. */
static collet_status next_head(trajectory_reader *trajectory, trajectory_frame_head *head,
                               int *at_end, collet_error *err)
{
    collet_status status =
        trajectory->index == 0 ? check_place(trajectory, 0, trajectory->offset, err) : COLLET_OK;

    *at_end = 0;
    if (status == COLLET_OK)
        status = skip_to_next(trajectory, err);
    if (status == COLLET_OK)
        status = trajectory_scan_head(trajectory, head, at_end, err);
    if (status != COLLET_OK || *at_end)
        return status;
    note_unused(trajectory, head);
    return check_place(trajectory, trajectory->index + 1, head->end, err);
}

collet_status trajectory_scan_next(trajectory_reader *trajectory, const trajectory_frames *frames,
                                   trajectory_scanned *out, int *found, collet_error *err)
{
    *found = 0;
    if (trajectory->first >= 0)
        leave_lead(trajectory);
    while (!*found && has_next(trajectory)) {
        int at_end;

        collet_status status = next_head(trajectory, &out->head, &at_end, err);
        if (status != COLLET_OK || at_end)
            return status;
        if (trajectory->index == trajectory->next)
            status = take(trajectory, frames, out, found, err);
        if (status != COLLET_OK)
            return status;
        trajectory_scan_step(trajectory, &out->head);
        if (trajectory->first >= 0)
            leave_lead(trajectory);
    }
    return COLLET_OK;
}

/* ---- Bodies ------------------------------------------------------------------------------ */

/* Fills the array of a field that the frame lacks with NaN, and sets the target to NULL, so that the field is not
 * decoded. */
static void fill_gap(void **target, const trajectory_frames *frames)
{
    for (int64_t i = 0; i < 3 * frames->n_atoms; i++)
        if (frames->dtype == COLLET_F64)
            ((double *)*target)[i] = (double)NAN;
        else
            ((float *)*target)[i] = NAN;
    *target = NULL;
}

static void *row_of(void *array, int64_t frame, const trajectory_frames *frames)
{
    size_t real = frames->dtype == COLLET_F64 ? sizeof(double) : sizeof(float);

    if (!array)
        return NULL;
    return (uint8_t *)array + (size_t)frame * (size_t)frames->n_atoms * 3 * real;
}

static collet_status decode(trajectory_reader *decoder, trajectory_scanned *frame,
                            const trajectory_frames *frames, int64_t i, collet_error *err)
{
    trajectory_frame_target target = {
        .positions = row_of(frames->positions, i, frames),
        .velocities = row_of(frames->velocities, i, frames),
        .forces = row_of(frames->forces, i, frames),
    };

    if (frame->gaps & TRAJECTORY_HAS_POSITIONS)
        fill_gap(&target.positions, frames);
    if (frame->gaps & TRAJECTORY_HAS_VELOCITIES)
        fill_gap(&target.velocities, frames);
    if (frame->gaps & TRAJECTORY_HAS_FORCES)
        fill_gap(&target.forces, frames);
    return decoder->format->body(decoder, &frame->head, &target, err);
}

static double time_of(const trajectory_scanned *frame)
{
    const trajectory_frame_head *head = &frame->head;

    return frame->clock ? trajectory_clock_time(frame->clock, frame->index, head->step, head->time)
                        : head->time;
}

collet_status trajectory_scan_decode(trajectory_reader *decoder, trajectory_scanned *frame,
                                     trajectory_frames *frames, int64_t row, collet_error *err)
{
    const trajectory_frame_head *head = &frame->head;
    int64_t offset = decoder->offset, index = decoder->index, line = decoder->line;

    decoder->offset = frame->offset;
    decoder->index = frame->index;
    decoder->line = frame->line;
    collet_status status = decode(decoder, frame, frames, row, err);
    if (status != COLLET_OK)
        return status;
    decoder->offset = offset;
    decoder->index = index;
    decoder->line = line;
    frame->bad_time = head->has_time && !isfinite(head->time);
    frames->times[row] = head->has_time && !frame->bad_time ? time_of(frame) : (double)NAN;
    memcpy(frames->boxes + 9 * row, head->box, sizeof head->box);
    frames->indices[row] = frame->index;
    return COLLET_OK;
}
