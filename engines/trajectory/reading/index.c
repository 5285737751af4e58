/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_index.c */
#include "index.h"

#include "index_file.h"
#include "io/results.h"
#include "parts.h"
#include "places.h"
#include "recognise.h"
#include "scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct builder {
    trajectory_places *places;
    trajectory_reader *walker; /* reads heads */
    int64_t capacity;          /* entries */
    int64_t part;              /* file of the last frame; -1: no frame yet */
    int64_t carrier;
    trajectory_tick *ticks; /* times of frames, if they are rounded */
    int64_t n_ticks;
    int64_t ticks_capacity;
    trajectory_index_lock *lock;
} builder;

static collet_status no_memory(const trajectory_reader *trajectory, collet_error *err)
{
    return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for the index of its frames",
                       trajectory->source.path);
}

static int64_t *append(builder *b)
{
    trajectory_places *places = b->places;
    const size_t bytes = (size_t)places->width * sizeof *places->entries;

    if (places->n_entries == b->capacity) {
        int64_t capacity = b->capacity + b->capacity / 2 + 1024;
        int64_t *grown = realloc(places->entries, (size_t)capacity * bytes);
        if (!grown)
            return NULL;
        places->entries = grown;
        b->capacity = capacity;
    }
    return places->entries + places->width * places->n_entries++;
}

/* Keeps the frame's time, if it is rounded. */
static collet_status keep_time(builder *b, const trajectory_frame_head *head, collet_error *err)
{
    const trajectory_tick *before = b->n_ticks > 0 ? &b->ticks[b->n_ticks - 1] : NULL;

    if (!head->has_time || !(head->rounding > 0))
        return COLLET_OK;
    if (b->n_ticks == b->ticks_capacity) {
        int64_t capacity = b->ticks_capacity + b->ticks_capacity / 2 + 1024;
        trajectory_tick *grown = realloc(b->ticks, (size_t)capacity * sizeof *grown);
        if (!grown)
            return no_memory(b->walker, err);
        before = before ? grown + (before - b->ticks) : NULL;
        b->ticks = grown;
        b->ticks_capacity = capacity;
    }
    b->ticks[b->n_ticks++] = (trajectory_tick){
        .frame = b->walker->index,
        .step = trajectory_clock_step(head->step, before ? before->step : -1),
        .time = head->time,
        .rounding = head->rounding,
    };
    return COLLET_OK;
}

/* Makes one clock for all files, if the times of all files are rounded and the clock fits; else a clock for each
 * file. */
static void fit_clocks(builder *b)
{
    trajectory_places *places = b->places;
    trajectory_clock all = {0};
    int64_t i = 0;

    if (b->n_ticks == places->n_frames)
        all = trajectory_clock_fit(b->ticks, b->n_ticks);
    for (int64_t k = 0; k < places->n_parts; k++) {
        trajectory_places_part *part = &places->parts[k];
        const int64_t first = i, end = part->first + part->n_frames;
        while (i < b->n_ticks && b->ticks[i].frame < end)
            i++;
        part->clock = all;
        if (!all.by && i - first == part->n_frames)
            part->clock = trajectory_clock_fit(b->ticks + first, i - first);
    }
}

/* Adds the frame whose head the walker has read. */
static collet_status add(builder *b, const trajectory_frame_head *head, collet_error *err)
{
    const trajectory_reader *w = b->walker, *file;
    const uint32_t has[2] = {head->velocities && !w->info.has_velocities,
                             head->forces && !w->info.has_forces};
    trajectory_places *places = b->places;
    int64_t first, begin, k = trajectory_parts_current(w, &file, &first, &begin);
    trajectory_places_part *part = &places->parts[k];

    for (int i = 0; i < 2; i++)
        if (has[i] && places->unused[i] < 0)
            places->unused[i] = w->index;
    if (k != b->part)
        part->entry = trajectory_places_computes(file) ? -1 : places->n_entries;
    if (k != b->part)
        b->carrier = -1;
    b->part = k;
    if (keep_time(b, head, err) != COLLET_OK)
        return COLLET_NO_MEMORY;
    if (part->entry < 0)
        return COLLET_OK;
    int64_t *entry = append(b);
    if (!entry)
        return no_memory(w, err);
    entry[TRAJECTORY_ENTRY_OFFSET] = w->offset - begin;
    if (places->width > 1) {
        entry[TRAJECTORY_ENTRY_LINE] = w->line;
        entry[TRAJECTORY_ENTRY_CARRIER] = b->carrier;
    }
    if (head->carries)
        b->carrier = w->index - first;
    return COLLET_OK;
}

/* Reads heads up to the end, or to the first head that cannot be read. */
static collet_status walk(builder *b, collet_error *err)
{
    trajectory_reader *w = b->walker;
    collet_error own = {0};

    for (;;) {
        trajectory_frame_head head;
        int at_end;

        collet_status status = trajectory_scan_head(w, &head, &at_end, &own);
        if (status == COLLET_FORMAT || (status == COLLET_OK && at_end))
            return COLLET_OK;
        if (status != COLLET_OK)
            return collet_fail(err, status, "%s", own.text);
        int64_t before = b->part;
        status = add(b, &head, err);
        if (status != COLLET_OK)
            return status;
        trajectory_scan_step(w, &head);
        if (trajectory_index_progress(b->lock, w->index,
                                      (int)(100. * (double)w->offset / (double)w->source.size)))
            return collet_fail(err, COLLET_CANCELLED, "%s: cancelled", w->source.path);
        if (b->part != before && b->places->parts[b->part].entry < 0 && !(head.rounding > 0))
            status = trajectory_parts_hop(w, err);
        if (status != COLLET_OK)
            return status;
    }
}

static void take_parts(builder *b)
{
    trajectory_places *places = b->places;
    int64_t n;
    const trajectory_part *parts = trajectory_parts_get(b->walker, &n);

    places->n_frames = b->walker->index;
    if (n == 0)
        places->parts[0].n_frames = places->n_frames;
    for (int64_t k = 0; k < n; k++) {
        places->parts[k].first = parts[k].first < 0 ? places->n_frames : parts[k].first;
        places->parts[k].n_frames = parts[k].n_frames;
        places->parts[k].was_cut = parts[k].was_cut;
        places->parts[k].last = parts[k].last;
    }
}

/* 1 if a file of the trajectory is text: entries then need line numbers. */
static int has_text(const trajectory_reader *trajectory)
{
    int64_t n;
    const trajectory_part *parts = trajectory_parts_get(trajectory, &n);

    for (const trajectory_format *const *f = trajectory_formats; n > 0 && *f; f++)
        for (int64_t k = 0; k < n; k++)
            if ((*f)->text && strcmp((*f)->name, parts[k].format) == 0)
                return 1;
    return n == 0 && trajectory->format->text;
}

static trajectory_places *allocate(const trajectory_reader *trajectory)
{
    trajectory_places *places = calloc(1, sizeof *places);
    int64_t n;

    trajectory_parts_get(trajectory, &n);
    if (!places)
        return NULL;
    places->n_parts = n > 0 ? n : 1;
    places->width = has_text(trajectory) ? TRAJECTORY_ENTRY_MOST : 1;
    places->unused[0] = places->unused[1] = -1;
    places->parts = calloc((size_t)places->n_parts, sizeof *places->parts);
    if (!places->parts) {
        trajectory_places_free(places);
        return NULL;
    }
    for (int64_t k = 0; k < places->n_parts; k++)
        places->parts[k].entry = -1;
    return places;
}

/* 1 if the format computes all offsets, so that no index is needed. */
static int is_computed(const trajectory_reader *trajectory)
{
    return !trajectory_parts_are(trajectory) && trajectory_places_computes(trajectory);
}

static collet_status make(const trajectory_reader *trajectory, trajectory_index_lock *lock,
                          trajectory_places **out, collet_error *err)
{
    builder b = {.places = allocate(trajectory), .part = -1, .carrier = -1, .lock = lock};
    collet_status status = COLLET_OK;

    *out = NULL;
    if (!b.places)
        return no_memory(trajectory, err);
    if (is_computed(trajectory) && !trajectory->info.rounds_times) {
        b.places->n_frames = b.places->parts[0].n_frames = trajectory->format->count(trajectory);
    } else {
        status = trajectory_parts_again(trajectory, &b.walker, err);
        if (status == COLLET_OK)
            status = walk(&b, err);
        if (status == COLLET_OK) {
            take_parts(&b);
            fit_clocks(&b);
        }
        free(b.ticks);
        trajectory_reader_close(b.walker);
    }
    if (status == COLLET_OK)
        *out = b.places;
    else
        trajectory_places_free(b.places);
    return status;
}

/* ---- The index file ---------------------------------------------------------------------- */

/* Adds a file to the hash of an identity. Returns 0 if the file no longer exists. */
static int identify(const char *path, int64_t size, uint64_t *hash)
{
    char *name = realpath(path, NULL);
    struct stat st;

    if (!name || stat(name, &st) != 0) {
        free(name);
        return 0;
    }
    const int64_t numbers[] = {size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec};
    *hash = io_hash_bytes(*hash, name, strlen(name) + 1);
    *hash = io_hash_bytes(*hash, numbers, sizeof numbers);
    free(name);
    return 1;
}

/* Returns the identity of the trajectory's files; 0 if one of them no longer exists. */
static uint64_t identify_all(const trajectory_reader *trajectory)
{
    int64_t n;
    const trajectory_part *parts = trajectory_parts_get(trajectory, &n);
    uint64_t hash = 1;
    int found = n > 0 || identify(trajectory->source.path, trajectory->source.size, &hash);

    for (int64_t k = 0; k < n; k++)
        found = found && identify(parts[k].path, parts[k].size, &hash);
    return found ? hash : 0;
}

/* Loads the index file, or makes the index and writes the file. If the file cannot be written, that is not an error:
 * other processes then make their own index. */
static collet_status share(trajectory_reader *trajectory, const char *path, uint64_t identity,
                           trajectory_index_lock *lock, collet_error *err)
{
    collet_status status = COLLET_OK;
    int64_t n;
    int again = 1;

    trajectory_parts_get(trajectory, &n);
    while (status == COLLET_OK && again && !trajectory->places) {
        trajectory->places = trajectory_index_load(path, identity, n > 0 ? n : 1);
        if (trajectory->places)
            break;
        status = trajectory_index_enter(lock, path, &trajectory->source.poll, &again, err);
    }
    /* A process that had the lock may have written the index file and ended before it removed the lock file. */
    if (status == COLLET_OK && !trajectory->places && lock->fd >= 0)
        trajectory->places = trajectory_index_load(path, identity, n > 0 ? n : 1);
    if (status != COLLET_OK || trajectory->places)
        return status;
    status = make(trajectory, lock, &trajectory->places, err);
    if (status == COLLET_OK)
        (void)trajectory_index_save(path, identity, trajectory->places, NULL);
    return status;
}

static collet_status share_in(trajectory_reader *trajectory, const char *directory,
                              trajectory_index_lock *lock, collet_error *err)
{
    size_t size = strlen(directory) + 40;
    uint64_t identity = identify_all(trajectory);
    char *path = malloc(size);
    collet_status status;

    if (!path)
        return no_memory(trajectory, err);
    snprintf(path, size, "%s/frames-%016llx.index", directory, (unsigned long long)identity);
    status = identity ? share(trajectory, path, identity, lock, err)
                      : collet_fail(err, COLLET_IO,
                                    "%s: a file of the trajectory was removed while it was read",
                                    trajectory->source.path);
    trajectory_index_leave(lock);
    free(path);
    return status;
}

/* ---- The function of readers ------------------------------------------------------------- */

collet_status trajectory_reader_count(trajectory_reader *trajectory, const char *directory,
                                      const trajectory_index_watch *watch, int64_t *frames,
                                      collet_error *err)
{
    trajectory_index_lock lock = {.name = trajectory->source.path, .fd = -1};
    collet_status status = COLLET_OK;

    if (watch)
        lock.watch = *watch;
    if (trajectory->index > 0 || trajectory->error.status != COLLET_OK)
        return collet_fail(err, COLLET_INVALID, "%s: frames must be counted before they are read",
                           trajectory->source.path);
    if (!trajectory->places)
        status = directory && !is_computed(trajectory)
                     ? share_in(trajectory, directory, &lock, err)
                     : make(trajectory, &lock, &trajectory->places, err);
    if (status == COLLET_OK)
        *frames = trajectory->places->n_frames;
    return status;
}

const trajectory_clock *trajectory_reader_clock(const trajectory_reader *trajectory, int64_t k)
{
    const trajectory_places *places = trajectory->places;

    return places && trajectory->clocked ? &places->parts[k].clock : NULL;
}
