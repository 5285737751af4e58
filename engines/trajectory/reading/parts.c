/* SPDX-License-Identifier: Apache-2.0 */
/* Joins several files into one trajectory, which has its own format. The functions of this format call the functions of
 * the current file's format.
 * Tests: tests/engines/test_io_parts.c */
#include "parts.h"

#include "places.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The state of the format that joins files. */
typedef struct parts_state {
    trajectory_part *parts;
    int64_t n;
    int is_shared;             /* 1: `parts` belongs to the reader that scans the frames */
    trajectory_reader *reader; /* reader of file `current`; NULL: no file is open */
    int64_t current;
    double times
        [2]; /* times of the last frame of `current` whose head was read, and of the frame before it */
} parts_state;

/* ---- The current file -------------------------------------------------------------------- */

/* Closes the current file. The selection (runs) is not freed: it belongs to the whole trajectory. */
static void close_current(parts_state *s)
{
    if (s->reader)
        s->reader->runs = NULL;
    trajectory_reader_close(s->reader);
    s->reader = NULL;
}

/* Opens file k unless it is open. */
static collet_status open_part(trajectory_reader *trajectory, int64_t k, collet_error *err)
{
    parts_state *s = trajectory->state;
    const trajectory_part *part = &s->parts[k];
    trajectory_reader *reader;

    if (s->reader && s->current == k)
        return COLLET_OK;
    close_current(s);
    trajectory->part = NULL;
    collet_status status =
        trajectory_reader_open(part->path, &trajectory->source.poll, &reader, err);
    if (status != COLLET_OK)
        return status;
    free(reader->runs);
    reader->runs = NULL;
    s->reader = trajectory->part = reader;
    s->current = k;
    if (reader->source.size < part->size)
        return collet_fail(err, COLLET_IO, "%s: the file was changed while it was read; run again",
                           part->path);
    reader->source.size = part->size; /* frames appended since the first opening are ignored */
    return COLLET_OK;
}

/* Moves the reader of file k to the trajectory's frame. */
static collet_status move_to(trajectory_reader *trajectory, int64_t k, collet_error *err)
{
    const parts_state *s = trajectory->state;
    const trajectory_part *part = &s->parts[k];

    collet_status status = open_part(trajectory, k, err);
    if (status != COLLET_OK)
        return status;
    s->reader->source.poll = trajectory->source.poll;
    s->reader->runs = trajectory->runs;
    s->reader->n_runs = trajectory->n_runs;
    s->reader->n_selected = trajectory->n_selected;
    s->reader->offset = trajectory->offset - part->offset;
    s->reader->index = trajectory->index - part->first;
    s->reader->line = trajectory->line;
    return COLLET_OK;
}

/* Returns the file that has this byte, counted over all files; the byte must be within the files. */
static int64_t part_at(const parts_state *s, int64_t offset)
{
    int64_t k = 0;

    while (k + 1 < s->n && offset >= s->parts[k + 1].offset)
        k++;
    return k;
}

/* ---- Functions of the format ------------------------------------------------------------- */

/* If other files follow file k, adds to the error of file k that they are not read. */
static collet_status explain(trajectory_reader *trajectory, int64_t k, collet_status status,
                             collet_error *err)
{
    const parts_state *s = trajectory->state;
    collet_error own;

    trajectory->truncated = s->reader && s->reader->truncated;
    if (status != COLLET_FORMAT || k + 1 == s->n || !err)
        return status;
    own = *err;
    return collet_fail(err, status,
                       "%s; the files after it (%lld) are not read, because frames between would "
                       "be missing: leave this file out, or give one without the gap",
                       own.text, (long long)(s->n - 1 - k));
}

/* Reads the head of the trajectory's frame in file k. */
static collet_status read_part(trajectory_reader *trajectory, int64_t k,
                               trajectory_frame_head *head, collet_error *err)
{
    parts_state *s = trajectory->state;
    trajectory_part *part = &s->parts[k];

    if (part->first < 0)
        part->first = trajectory->index;
    collet_status status = move_to(trajectory, k, err);
    if (status == COLLET_OK)
        status = s->reader->format->head(s->reader, head, err);
    return status;
}

/* 1 if a frame with this head is at or after the end of a file. If its time equals the end, the steps decide: the frame
 * is before the end if its step is smaller by so little that the difference in time, computed with the frame's ratio
 * time / step, is less than the distance of adjacent stored times. */
static int is_beyond(const trajectory_part *part, const trajectory_frame_head *head)
{
    if (!head->has_time || !isfinite(part->end) || !(head->time >= part->end))
        return 0;
    double ahead = (double)(part->end_step - head->step);
    return head->time > part->end || head->step < 0 || !(ahead > 0) ||
           !(ahead * head->time < 2 * head->rounding * (double)head->step);
}

/* 1 if the frame of file k whose head was just read, or is cut off, is left out. If the head is cut off, the frame's
 * time is estimated: the interval from the frame before to this frame is taken as equal to the interval between the
 * two frames before. */
static int is_left_out(const parts_state *s, int64_t k, collet_status status,
                       const trajectory_frame_head *head)
{
    const trajectory_part *part = &s->parts[k];

    if (status == COLLET_OK)
        return is_beyond(part, head);
    double step = s->times[0] - s->times[1];
    return s->reader && s->reader->truncated && s->reader->index >= 2 &&
           s->times[0] + step * (1 + 1e-3) >= part->end;
}

/* Fails if the file before file k ended too early: after a complete frame, but with fewer frames than its
 * head counts. */
static collet_status check_before(trajectory_reader *trajectory, int64_t k, collet_error *err)
{
    const parts_state *s = trajectory->state;
    const trajectory_part *before = &s->parts[k - 1];

    if (!s->reader || s->current != k - 1 || before->was_cut ||
        before->n_frames >= s->reader->announced)
        return COLLET_OK;
    s->reader->offset = before->size;
    s->reader->index = before->n_frames;
    return explain(trajectory, k - 1, trajectory_reader_truncated(s->reader, err), err);
}

/* Converts the head of a frame in file k that is not left out to a head of the whole trajectory. */
static collet_status accept(trajectory_reader *trajectory, int64_t k, collet_status status,
                            trajectory_frame_head *head, collet_error *err)
{
    parts_state *s = trajectory->state;
    trajectory_part *part = &s->parts[k];

    if (status == COLLET_OK && head->end > part->size)
        status = trajectory_reader_truncated(s->reader, err);
    if (status != COLLET_OK)
        return explain(trajectory, k, status, err);
    if (trajectory->places)
        status = trajectory_places_check(s->reader, trajectory->places,
                                         &trajectory->places->parts[k], s->reader->index + 1,
                                         head->end, err);
    if (status != COLLET_OK)
        return status;
    part->n_frames = s->reader->index + 1;
    head->end += part->offset;
    s->times[1] = s->times[0];
    s->times[0] = head->has_time ? head->time : (double)NAN;
    if (k + 1 == s->n && s->reader->announced > 0)
        trajectory->announced = part->first + s->reader->announced;
    trajectory->info.precision = s->reader->info.precision;
    if (s->reader->info.note)
        trajectory->info.note = s->reader->info.note;
    return COLLET_OK;
}

/* Returns the time of the last frame of `file` with a finite time. `head` is the head that was read last. */
static double last_time(trajectory_reader *file, const trajectory_frame_head *head)
{
    trajectory_frame_head next = *head;
    double time = next.time;
    collet_error err;

    if (trajectory_places_computes(file) &&
        trajectory_places_go(file, NULL, NULL, file->format->count(file) - 1, file->index, &err) ==
            COLLET_OK)
        next.end = file->offset;
    while (next.end < file->source.size) {
        file->index++;
        file->offset = next.end;
        file->line = next.end_line;
        next = (trajectory_frame_head){.lacking = -1};
        if (file->format->head(file, &next, &err) != COLLET_OK || next.end > file->source.size)
            break;
        if (next.has_time && isfinite(next.time))
            time = next.time;
    }
    return time;
}

static collet_status read_head(trajectory_reader *trajectory, trajectory_frame_head *head,
                               collet_error *err)
{
    parts_state *s = trajectory->state;
    const trajectory_frame_head none = *head;

    for (int64_t k = part_at(s, trajectory->offset);; k++) {
        trajectory_part *part = &s->parts[k];
        int begins = trajectory->offset == part->offset;

        collet_status status = begins && k > 0 ? check_before(trajectory, k, err) : COLLET_OK;
        if (begins)
            trajectory->line = 1;
        *head = none;
        if (status != COLLET_OK)
            return status;
        status = read_part(trajectory, k, head, err);
        if (!is_left_out(s, k, status, head))
            return accept(trajectory, k, status, head, err);
        part->was_cut = 1;
        part->last = status == COLLET_OK ? last_time(s->reader, head) : part->end;
        trajectory->offset = s->parts[k + 1].offset;
    }
}

static collet_status read_body(trajectory_reader *trajectory, trajectory_frame_head *head,
                               const trajectory_frame_target *target, collet_error *err)
{
    const parts_state *s = trajectory->state;
    int64_t k = part_at(s, trajectory->offset);

    collet_status status = move_to(trajectory, k, err);
    if (status == COLLET_OK)
        status = s->reader->format->body(s->reader, head, target, err);
    return status == COLLET_OK ? status : explain(trajectory, k, status, err);
}

static void close_parts(trajectory_reader *trajectory)
{
    parts_state *s = trajectory->state;

    close_current(s);
    if (s->is_shared)
        return;
    for (int64_t k = 0; s->parts && k < s->n; k++)
        free(s->parts[k].path);
    free(s->parts);
}

static void share_parts(const trajectory_reader *from, trajectory_reader *decoder)
{
    const parts_state *s = from->state;

    *(parts_state *)decoder->state = (parts_state){.parts = s->parts, .n = s->n, .is_shared = 1};
}

/* ---- Jumps ------------------------------------------------------------------------------- */

/* Sets offset, line and index of the trajectory from the reader of the current file. */
static void follow(trajectory_reader *trajectory)
{
    const parts_state *s = trajectory->state;
    const trajectory_part *part = &s->parts[s->current];

    trajectory->offset = part->offset + s->reader->offset;
    trajectory->line = s->reader->line;
    trajectory->index = part->first + s->reader->index;
}

/* Opens file k. Sets the data of earlier files as if they had been read. */
static collet_status enter_part(trajectory_reader *trajectory, const trajectory_places *places,
                                int64_t k, collet_error *err)
{
    const parts_state *s = trajectory->state;

    for (int64_t i = 0; i <= k; i++) {
        trajectory_part *part = &s->parts[i];
        if (part->first < 0)
            part->first = places->parts[i].first;
        if (i < k) {
            part->n_frames = places->parts[i].n_frames;
            part->was_cut = (int32_t)places->parts[i].was_cut;
            part->last = places->parts[i].last;
        }
    }
    return open_part(trajectory, k, err);
}

/* Jumps forward to frame `index`. If other files follow the frame's file, jumps to the second frame before frame
 * `index`: the times of two frames decide whether a cut frame after them is left out or an error. */
static collet_status place(trajectory_reader *trajectory, int64_t index, collet_error *err)
{
    const trajectory_places *places = trajectory->places;
    const parts_state *s = trajectory->state;
    int64_t k = 0;

    while (index >= places->parts[k].first + places->parts[k].n_frames)
        k++;
    const trajectory_places_part *part = &places->parts[k];
    int64_t from = k + 1 < s->n && index - part->first > 2 ? index - 2
                   : k + 1 < s->n                          ? part->first
                                                           : index;
    if (from <= trajectory->index)
        return COLLET_OK;
    int was_open = s->reader && s->current == k;
    collet_status status = enter_part(trajectory, places, k, err);
    if (status != COLLET_OK)
        return status;
    s->reader->source.poll = trajectory->source.poll;
    status = trajectory_places_go(s->reader, places, part, from - part->first,
                                  was_open ? trajectory->index - part->first : 1, err);
    if (status == COLLET_OK)
        follow(trajectory);
    return status;
}

static const trajectory_format parts_format = {
    .name = "parts",
    .head = read_head,
    .body = read_body,
    .state_size = sizeof(parts_state),
    .share = share_parts,
    .close = close_parts,
    .place = place,
};

/* ---- Counting ---------------------------------------------------------------------------- */

int trajectory_parts_are(const trajectory_reader *trajectory)
{
    return trajectory->format == &parts_format;
}

int64_t trajectory_parts_current(const trajectory_reader *trajectory,
                                 const trajectory_reader **file, int64_t *first, int64_t *begin)
{
    const parts_state *s = trajectory->state;

    *file = trajectory;
    *first = *begin = 0;
    if (!trajectory_parts_are(trajectory))
        return 0;
    *file = s->reader;
    *first = s->parts[s->current].first;
    *begin = s->parts[s->current].offset;
    return s->current;
}

/* Sets *frame to the first frame of `file` that is left out, or to n if there is none; times must rise in the file.
 * Returns 0 if a head cannot be read. */
static int find_cut(trajectory_reader *file, const trajectory_part *part, int64_t n, int64_t *frame)
{
    int64_t low = 0, high = n;

    while (low < high) {
        trajectory_frame_head head = {.lacking = -1};
        collet_error err;

        file->index = low + (high - low) / 2;
        file->offset = file->format->locate(file, file->index);
        if (file->format->head(file, &head, &err) != COLLET_OK)
            return 0;
        if (is_beyond(part, &head))
            high = file->index;
        else
            low = file->index + 1;
    }
    *frame = low;
    return 1;
}

/* Jumps to the last but one frame: the times of the last two frames decide whether a cut frame after them is left out
 * or an error. */
collet_status trajectory_parts_hop(trajectory_reader *trajectory, collet_error *err)
{
    const parts_state *s = trajectory->state;
    const trajectory_part *part = &s->parts[s->current];
    int64_t n = s->reader->format->count(s->reader), frames = n;

    if (isfinite(part->end) && s->reader->info.has_times &&
        (!s->reader->format->times_rise || !find_cut(s->reader, part, n, &frames)))
        return COLLET_OK;
    if (part->first + frames - 2 <= trajectory->index)
        return COLLET_OK;
    collet_status status =
        trajectory_places_go(s->reader, NULL, NULL, frames - 2, s->reader->index, err);
    follow(trajectory);
    return status;
}

/* ---- Opening ----------------------------------------------------------------------------- */

static collet_status check_info(const trajectory_reader_info *info,
                                const trajectory_reader_info *first, const char *path,
                                const char *first_path, collet_error *err)
{
    if (info->n_atoms != first->n_atoms)
        return collet_fail(err, COLLET_FORMAT,
                           "%s has %lld atoms, but %s has %lld: give files of the same system",
                           path, (long long)info->n_atoms, first_path, (long long)first->n_atoms);
    if (info->dtype != first->dtype)
        return collet_fail(err, COLLET_FORMAT,
                           "%s is in %s precision, but %s is in %s: convert one of them", path,
                           info->dtype == COLLET_F64 ? "double" : "single", first_path,
                           first->dtype == COLLET_F64 ? "double" : "single");
    return COLLET_OK;
}

/* Returns the time from which frames of the earlier file are left out. Files of different formats may store
 * the same time with different precision, so in that case the limit is rounded down to f32. */
static double time_before(const trajectory_reader_info *earlier,
                          const trajectory_reader_info *later)
{
    if (!earlier->has_times || !later->has_times || !isfinite(later->first_time))
        return (double)INFINITY;
    if (earlier->format == later->format || (earlier->rounds_times && later->rounds_times))
        return later->first_time;
    return (double)nextafterf((float)later->first_time, -INFINITY);
}

/* A file that was opened, with its properties. */
typedef struct opened {
    const char *path;
    trajectory_reader_info info;
    int64_t step; /* step of the first frame; -1: none */
} opened;

static int is_after(const opened *a, const opened *b)
{
    if (a->info.first_time != b->info.first_time)
        return a->info.first_time > b->info.first_time;
    return a->info.rounds_times && b->info.rounds_times && b->step >= 0 && a->step > b->step;
}

/* Sorts the files by their first times if all have times, and by steps if times are equal in single precision.
 * Other files with the same first time keep their order. */
static void sort_by_time(opened *files, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        if (!files[k].info.has_times || !isfinite(files[k].info.first_time))
            return;
    for (int64_t k = 1; k < n; k++) {
        opened file = files[k];
        int64_t i = k;
        for (; i > 0 && is_after(&files[i - 1], &file); i--)
            files[i] = files[i - 1];
        files[i] = file;
    }
}

/* Opens each file once. */
static collet_status inspect(opened *files, int64_t n, const io_poll *poll, collet_error *err)
{
    for (int64_t k = 0; k < n; k++) {
        trajectory_frame_head head = {.lacking = -1, .step = -1};
        trajectory_reader *reader;
        collet_status status = trajectory_reader_open(files[k].path, poll, &reader, err);
        if (status != COLLET_OK)
            return status;
        files[k].info = *trajectory_reader_get_info(reader);
        status = reader->format->head(reader, &head, err);
        files[k].step = status == COLLET_OK ? head.step : -1;
        trajectory_reader_close(reader);
        if (status != COLLET_OK)
            return status;
        status = check_info(&files[k].info, &files[0].info, files[k].path, files[0].path, err);
        if (status != COLLET_OK)
            return status;
    }
    return COLLET_OK;
}

/* Notes where each file begins and ends. */
static collet_status join(const opened *files, parts_state *s, collet_error *err)
{
    int64_t offset = 0;

    for (int64_t k = 0; k < s->n; k++) {
        trajectory_part *part = &s->parts[k];
        *part = (trajectory_part){.path = strdup(files[k].path),
                                  .format = files[k].info.format,
                                  .size = files[k].info.file_size,
                                  .offset = offset,
                                  .end = (double)INFINITY,
                                  .end_step = -1,
                                  .first = -1};
        if (!part->path)
            return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to open it", files[k].path);
        if (__builtin_add_overflow(offset, part->size, &offset))
            return collet_fail(err, COLLET_OVERFLOW, "%s: the trajectory is too large",
                               files[k].path);
        for (int64_t i = 0; i < k; i++) {
            double end = time_before(&files[i].info, &files[k].info);
            int both = files[i].info.rounds_times && files[k].info.rounds_times;

            if (!(end < s->parts[i].end))
                continue;
            s->parts[i].end = end;
            s->parts[i].end_step = both ? files[k].step : -1;
        }
    }
    return COLLET_OK;
}

static collet_status open_several(const char *const *paths, parts_state *s, const io_poll *poll,
                                  trajectory_reader **out, collet_error *err)
{
    opened *files = calloc((size_t)s->n, sizeof *files);
    int concurrent = 1, rounds = 0;

    s->parts = calloc((size_t)s->n, sizeof *s->parts);
    for (int64_t k = 0; files && k < s->n; k++)
        files[k].path = paths[k];
    collet_status status = files && s->parts ? inspect(files, s->n, poll, err)
                                             : collet_fail(err, COLLET_NO_MEMORY,
                                                           "%s: no memory to open it", paths[0]);
    if (status == COLLET_OK) {
        sort_by_time(files, s->n);
        status = join(files, s, err);
    }
    for (int64_t k = 0; status == COLLET_OK && k < s->n; k++) {
        concurrent = concurrent && files[k].info.concurrent;
        rounds = rounds || files[k].info.rounds_times;
    }
    free(files);
    if (status != COLLET_OK) {
        trajectory_reader none = {.state = s};
        close_parts(&none);
        return status;
    }
    const trajectory_part *last = &s->parts[s->n - 1];
    status = trajectory_reader_open_with(&parts_format, s, s->parts[0].path,
                                         last->offset + last->size, out, err);
    if (status != COLLET_OK)
        return status;
    (*out)->info.format = s->parts[0].format;
    (*out)->info.rounds_times = rounds;
    (*out)->info.concurrent = concurrent;
    return COLLET_OK;
}

/* A single file. */
static collet_status open_again(const trajectory_reader *from, trajectory_reader **out,
                                collet_error *err)
{
    collet_status status = trajectory_reader_open(from->source.path, &from->source.poll, out, err);

    if (status != COLLET_OK)
        return status;
    if ((*out)->source.size >= from->source.size) {
        (*out)->source.size = from->source.size;
        return COLLET_OK;
    }
    trajectory_reader_close(*out);
    *out = NULL;
    return collet_fail(err, COLLET_IO, "%s: the file was changed while it was read; run again",
                       from->source.path);
}

collet_status trajectory_parts_again(const trajectory_reader *from, trajectory_reader **out,
                                     collet_error *err)
{
    const parts_state *of = from->state;

    if (!trajectory_parts_are(from))
        return open_again(from, out, err);
    parts_state s = {.n = of->n, .parts = calloc((size_t)of->n, sizeof *s.parts)};
    int whole = s.parts != NULL;
    for (int64_t k = 0; whole && k < s.n; k++) {
        s.parts[k] = of->parts[k];
        s.parts[k].path = strdup(of->parts[k].path);
        s.parts[k].first = -1;
        s.parts[k].n_frames = s.parts[k].was_cut = 0;
        s.parts[k].last = 0;
        whole = s.parts[k].path != NULL;
    }
    if (!whole) {
        trajectory_reader none = {.state = &s};
        close_parts(&none);
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to open it", from->source.path);
    }
    collet_status status = trajectory_reader_open_with(&parts_format, &s, from->source.path,
                                                       from->source.size, out, err);
    if (status == COLLET_OK) {
        (*out)->source.poll = from->source.poll;
        (*out)->info.rounds_times = from->info.rounds_times;
    }
    return status;
}

collet_status trajectory_parts_open(const char *const *paths, int64_t n, const io_poll *poll,
                                    trajectory_reader **out, collet_error *err)
{
    parts_state s = {.n = n};

    *out = NULL;
    return n == 1 ? trajectory_reader_open(paths[0], poll, out, err)
                  : open_several(paths, &s, poll, out, err);
}

const trajectory_part *trajectory_parts_get(const trajectory_reader *trajectory, int64_t *n)
{
    const parts_state *s = trajectory->format == &parts_format ? trajectory->state : NULL;

    *n = s ? s->n : 0;
    return s ? s->parts : NULL;
}

void trajectory_parts_set(trajectory_reader *trajectory, int64_t k, int64_t first, int64_t n_frames,
                          int was_cut, double last)
{
    const parts_state *s = trajectory->format == &parts_format ? trajectory->state : NULL;

    if (!s || k >= s->n)
        return;
    s->parts[k].first = first;
    s->parts[k].n_frames = n_frames;
    s->parts[k].was_cut = was_cut;
    s->parts[k].last = last;
}

const trajectory_part *trajectory_parts_find(const trajectory_reader *trajectory, int64_t index)
{
    int64_t n;
    const trajectory_part *parts = trajectory_parts_get(trajectory, &n), *found = NULL;

    for (int64_t k = 0; k < n; k++)
        if (parts[k].first >= 0 && index >= parts[k].first &&
            index - parts[k].first < parts[k].n_frames)
            found = &parts[k];
    return found;
}

collet_status trajectory_parts_last_time(const char *path, const io_poll *poll, double *time,
                                         collet_error *err)
{
    trajectory_frame_head head = {.lacking = -1};
    trajectory_reader *file;

    *time = (double)NAN;
    collet_status status = trajectory_reader_open(path, poll, &file, err);
    if (status != COLLET_OK)
        return status;
    status = file->format->head(file, &head, err);
    if (status == COLLET_OK && head.has_time)
        *time = last_time(file, &head);
    trajectory_reader_close(file);
    return status;
}
