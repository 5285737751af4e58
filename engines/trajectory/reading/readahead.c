/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_readahead.c */
#include "readahead.h"

#include "scan.h"
#include "io/thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WAIT_NS 50000000

/* A piece is large enough that taking turns costs little, and small enough that all threads have a piece before the
 * slots are full. */
#define PIECE_FRAMES 64
#define PIECE_BYTES ((int64_t)128 << 10)

/* Each thread works on one piece, and a few complete pieces wait for earlier pieces. */
#define PIECES 256

/* Consecutive frames of a slot; one thread finds and decodes them. */
typedef struct piece {
    trajectory_frames *frames;
    int64_t n_frames; /* number of frames found; once `done`, number of frames decoded */
    int64_t n_bad_times;
    int64_t end_offset;
    trajectory_gaps gaps; /* frames without a field, from the start of the trajectory to the piece's end */
    int done;
    int last;           /* 1: no frame follows, or `error` ended reading */
    collet_error error; /* error of the frame after the piece */
    int32_t truncated;
} piece;

typedef struct worker {
    trajectory_readahead *ahead;
    trajectory_reader *decoder; /* the worker's own reader; with one worker, the trajectory's */
    trajectory_frames *read;    /* receives a frame that is not arranged yet; NULL: frames are read into the slot */
    pthread_t thread;
    trajectory_scanned found[PIECE_FRAMES];
} worker;

/* Slots and pieces are numbered from 0 on; their index in the ring is the number modulo the ring's size.
 * Slots before number `returned` are free. Slots from `returned` to `filled` - 1 are complete, and the caller has the
 * first `held` of these slots. The thread whose turn it is puts frames into slot `filling`. */
struct trajectory_readahead {
    trajectory_reader *trajectory;
    int32_t n_slots;
    int32_t n_workers;
    int32_t n_allowed; /* threads to start */
    int32_t n_threads; /* threads that were started; 0: `next` reads */
    int64_t piece_frames;
    const trajectory_arranger *arranger; /* NULL: none */
    int64_t first;                       /* frames before this number are not returned */
    trajectory_frames *slots[TRAJECTORY_READAHEAD_SLOTS];
    worker *workers;
    io_poll poll;

    pthread_mutex_t lock; /* guards the members below, and `pieces` */
    pthread_cond_t filled_one;
    pthread_cond_t may_scan;
    int64_t returned;
    int64_t filled;
    int64_t filling;
    int64_t row;       /* row of slot `filling` that gets the next frame */
    int64_t begun;     /* number of pieces begun */
    int64_t completed; /* number of pieces delivered, in order */
    int scanning;      /* 1: a thread has its turn */
    int scanned;       /* 1: there are no more turns */
    int ended;         /* 1: no more slots will be filled */
    int64_t held;
    int32_t truncated;
    collet_error error; /* why reading ended; COLLET_OK: after the last frame */
    trajectory_gaps gaps;
    piece pieces[PIECES];
};

/* ---- Pieces ------------------------------------------------------------------------------ */

static trajectory_frames *slot_of(const trajectory_readahead *ahead, int64_t number)
{
    return ahead->slots[number % ahead->n_slots];
}

static int is_cancelled(const trajectory_readahead *ahead)
{
    return atomic_load_explicit(&ahead->trajectory->cancelled, memory_order_relaxed);
}

/* Ends the piece before a frame that cannot be read. */
static void set_error(piece *p, const trajectory_gaps *gaps, int64_t offset, collet_status status,
                      const collet_error *error)
{
    p->last = 1;
    p->error = *error;
    p->error.status = status;
    p->end_offset = offset;
    p->gaps = *gaps;
}

/* Finds up to `n` frames. Called in turns. */
static void scan(worker *w, piece *p, int64_t n)
{
    trajectory_reader *trajectory = w->ahead->trajectory;
    collet_error error = {0};
    collet_status status = COLLET_OK;
    int found = 1;

    while (p->n_frames < n && found) {
        status =
            trajectory_scan_next(trajectory, p->frames, &w->found[p->n_frames], &found, &error);
        p->n_frames += found;
    }
    p->last = !found;
    p->end_offset = trajectory->offset;
    p->gaps = trajectory->gaps;
    if (status != COLLET_OK)
        set_error(p, &trajectory->gaps, trajectory->offset, status, &error);
    p->truncated = trajectory->truncated;
}

static collet_status decode_frame(const worker *w, trajectory_scanned *frame,
                                  trajectory_frames *frames, int64_t row, collet_error *err)
{
    const trajectory_arranger *arranger = w->ahead->arranger;
    trajectory_frames *read = w->read ? w->read : frames;
    int64_t i = w->read ? 0 : row;

    if (is_cancelled(w->ahead))
        return COLLET_CANCELLED;
    collet_status status = trajectory_scan_decode(w->decoder, frame, read, i, err);
    return status == COLLET_OK && arranger
               ? arranger->frame(arranger->user, read, i, frames, row, err)
               : status;
}

/* Decodes the frames of the piece into the rows of its slot from `row` on. */
static void decode(worker *w, piece *p, int64_t row)
{
    collet_error error = {0};

    for (int64_t i = 0; i < p->n_frames; i++) {
        trajectory_scanned *frame = &w->found[i];
        collet_status status = decode_frame(w, frame, p->frames, row + i, &error);

        if (status != COLLET_OK) {
            p->n_frames = i;
            set_error(p, &frame->gaps_then, frame->offset, status, &error);
            p->truncated = w->decoder->truncated;
            return;
        }
        p->n_bad_times += frame->bad_time && frame->index >= w->ahead->first;
    }
}

static void complete_slot(trajectory_readahead *ahead)
{
    ahead->filled++;
    pthread_cond_broadcast(&ahead->filled_one);
}

/* Adds the piece to slot `filled`, the oldest slot that is not complete. */
static void deliver(trajectory_readahead *ahead, const piece *p)
{
    trajectory_frames *frames = p->frames;

    frames->n_frames += p->n_frames;
    frames->n_bad_times += p->n_bad_times;
    frames->end_offset = p->end_offset;
    if (p->last) {
        ahead->ended = ahead->scanned = 1;
        ahead->error = p->error;
        ahead->truncated = p->truncated;
        ahead->gaps = p->gaps;
        if (frames->n_frames > 0)
            complete_slot(ahead);
        pthread_cond_broadcast(&ahead->may_scan);
    } else if (frames->n_frames == frames->capacity) {
        complete_slot(ahead);
    }
}

/* Delivers the decoded pieces in order. Pieces after the piece that ends reading are dropped. */
static void deliver_pieces(trajectory_readahead *ahead)
{
    int had_room = ahead->begun - ahead->completed < PIECES;

    while (ahead->completed < ahead->begun && ahead->pieces[ahead->completed % PIECES].done) {
        piece *p = &ahead->pieces[ahead->completed++ % PIECES];
        if (!ahead->ended)
            deliver(ahead, p);
    }
    if (!had_room)
        pthread_cond_broadcast(&ahead->may_scan);
    if (ahead->ended && ahead->completed == ahead->begun)
        pthread_cond_broadcast(&ahead->filled_one);
}

/* ---- Work -------------------------------------------------------------------------------- */

static int can_scan(const trajectory_readahead *ahead)
{
    return !ahead->scanning && ahead->filling - ahead->returned < ahead->n_slots &&
           ahead->begun - ahead->completed < PIECES;
}

/* Begins a piece in the slot `filling`. */
static piece *begin_piece(trajectory_readahead *ahead)
{
    piece *p = &ahead->pieces[ahead->begun++ % PIECES];
    trajectory_frames *frames = slot_of(ahead, ahead->filling);

    if (ahead->row == 0)
        frames->n_frames = frames->n_bad_times = 0;
    *p = (piece){.frames = frames};
    return p;
}

/* Finds and decodes a piece. Called with `lock` held when `can_scan` is true; releases the lock while it works. */
static void work(worker *w)
{
    trajectory_readahead *ahead = w->ahead;
    piece *p = begin_piece(ahead);
    int64_t row = ahead->row, n = p->frames->capacity - row;

    ahead->scanning = 1;
    pthread_mutex_unlock(&ahead->lock);
    scan(w, p, n < ahead->piece_frames ? n : ahead->piece_frames);
    pthread_mutex_lock(&ahead->lock);
    ahead->scanning = 0;
    ahead->row += p->n_frames;
    if (ahead->row == p->frames->capacity) {
        ahead->row = 0;
        ahead->filling++;
    }
    ahead->scanned |= p->last;
    pthread_cond_signal(&ahead->may_scan);
    pthread_mutex_unlock(&ahead->lock);
    decode(w, p, row);
    pthread_mutex_lock(&ahead->lock);
    p->done = 1;
    deliver_pieces(ahead);
}

static void *run_worker(void *argument)
{
    worker *w = argument;
    trajectory_readahead *ahead = w->ahead;

    pthread_mutex_lock(&ahead->lock);
    while (!ahead->scanned) {
        if (can_scan(ahead))
            work(w);
        else
            pthread_cond_wait(&ahead->may_scan, &ahead->lock);
    }
    /* Wakes the threads that wait for a turn, so that they end, too. */
    pthread_cond_broadcast(&ahead->may_scan);
    pthread_mutex_unlock(&ahead->lock);
    return NULL;
}

/* ---- Start and stop ---------------------------------------------------------------------- */

static void free_all(trajectory_readahead *ahead)
{
    pthread_cond_destroy(&ahead->filled_one);
    pthread_cond_destroy(&ahead->may_scan);
    pthread_mutex_destroy(&ahead->lock);
    for (int32_t i = 0; i < ahead->n_slots; i++)
        trajectory_frames_free(ahead->slots[i]);
    for (int32_t i = 0; ahead->workers && i < ahead->n_workers; i++) {
        trajectory_frames_free(ahead->workers[i].read);
        if (ahead->workers[i].decoder != ahead->trajectory)
            trajectory_reader_close(ahead->workers[i].decoder);
    }
    free(ahead->workers);
    free(ahead);
}

static collet_status create_frames(const trajectory_readahead *ahead,
                                   const trajectory_readahead_options *options, int64_t n_atoms,
                                   int64_t n_frames, trajectory_frames **out, collet_error *err)
{
    return trajectory_frames_create(n_atoms, n_frames,
                                    trajectory_reader_get_info(ahead->trajectory)->dtype,
                                    options->velocities, options->forces, out, err);
}

static collet_status create_slots(trajectory_readahead *ahead,
                                  const trajectory_readahead_options *options, collet_error *err)
{
    int64_t n_atoms =
        ahead->arranger ? ahead->arranger->n_atoms : trajectory_reader_selected(ahead->trajectory);
    collet_status status = COLLET_OK;

    for (int32_t i = 0; status == COLLET_OK && i < ahead->n_slots; i++) {
        status =
            create_frames(ahead, options, n_atoms, options->batch_frames, &ahead->slots[i], err);
        if (status == COLLET_OK)
            ahead->slots[i]->slot = i;
        if (status == COLLET_OK && ahead->arranger && ahead->arranger->chooses)
            status = trajectory_frames_add_choice(ahead->slots[i], err);
        if (status == COLLET_OK && ahead->arranger && ahead->arranger->n_system > 0)
            status =
                trajectory_frames_add_system(ahead->slots[i], ahead->arranger->n_system, err);
        if (status == COLLET_OK && ahead->arranger && ahead->arranger->n_bodies > 0)
            status =
                trajectory_frames_add_paths(ahead->slots[i], ahead->arranger->n_bodies, err);
    }
    return status;
}

static collet_status create_worker(worker *w, const trajectory_readahead_options *options,
                                   collet_error *err)
{
    const trajectory_readahead *ahead = w->ahead;
    collet_status status = COLLET_OK;

    if (ahead->n_workers == 1)
        w->decoder = ahead->trajectory;
    else
        status = trajectory_reader_share(ahead->trajectory, &w->decoder, err);
    if (status == COLLET_OK && ahead->arranger && !ahead->arranger->in_place)
        status = create_frames(ahead, options, trajectory_reader_selected(ahead->trajectory), 1,
                               &w->read, err);
    return status == COLLET_OK
               ? trajectory_reader_check(w->decoder, w->read ? w->read : ahead->slots[0], err)
               : status;
}

static collet_status create_workers(trajectory_readahead *ahead,
                                    const trajectory_readahead_options *options, collet_error *err)
{
    collet_status status = COLLET_OK;

    ahead->workers = calloc((size_t)ahead->n_workers, sizeof *ahead->workers);
    if (!ahead->workers)
        return collet_fail(err, COLLET_NO_MEMORY, "no memory to read ahead");
    for (int32_t i = 0; status == COLLET_OK && i < ahead->n_workers; i++) {
        ahead->workers[i].ahead = ahead;
        status = create_worker(&ahead->workers[i], options, err);
    }
    return status;
}

static void end_threads(trajectory_readahead *ahead)
{
    trajectory_reader_cancel(ahead->trajectory);
    pthread_mutex_lock(&ahead->lock);
    ahead->scanned = 1;
    pthread_cond_broadcast(&ahead->may_scan);
    pthread_mutex_unlock(&ahead->lock);
    for (int32_t i = 0; i < ahead->n_threads; i++)
        pthread_join(ahead->workers[i].thread, NULL);
    ahead->n_threads = 0;
}

collet_status trajectory_readahead_start(trajectory_readahead *ahead, collet_error *err)
{
    for (int32_t i = 0; i < ahead->n_allowed; i++) {
        int code = io_thread_start(&ahead->workers[i].thread, run_worker, &ahead->workers[i]);
        if (code != 0) {
            end_threads(ahead);
            return collet_fail(err, COLLET_FAILED, "cannot start a thread to read ahead: %s",
                               strerror(code));
        }
        ahead->n_threads++;
    }
    return COLLET_OK;
}

/* Returns the number of frames in a piece. With one worker a piece is one frame, so that the worker reads head and
 * body, which are consecutive bytes, one after the other. */
static int64_t choose_piece(const trajectory_readahead *ahead, const trajectory_reader_info *info)
{
    int64_t frames =
        PIECE_BYTES / (int64_t)trajectory_frames_bytes(info->n_atoms, info->dtype, 0, 0);

    if (ahead->n_workers == 1 || frames < 1)
        return 1;
    return frames < PIECE_FRAMES ? frames : PIECE_FRAMES;
}

static void init_locks(trajectory_readahead *ahead)
{
    pthread_condattr_t attributes;

    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->may_scan, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&ahead->filled_one, &attributes);
    pthread_condattr_destroy(&attributes);
}

collet_status trajectory_readahead_create(trajectory_reader *trajectory,
                                          const trajectory_readahead_options *options,
                                          trajectory_readahead **out, collet_error *err)
{
    const trajectory_reader_info *info = trajectory_reader_get_info(trajectory);
    int32_t n_threads = info->on_demand                               ? 0
                        : !info->concurrent && options->n_threads > 1 ? 1
                                                                      : options->n_threads;

    *out = NULL;
    trajectory_readahead *ahead = calloc(1, sizeof *ahead);
    if (!ahead)
        return collet_fail(err, COLLET_NO_MEMORY, "no memory to read ahead");
    ahead->trajectory = trajectory;
    ahead->n_slots = options->n_slots;
    ahead->n_allowed = n_threads;
    ahead->n_workers = n_threads > 1 ? n_threads : 1;
    ahead->piece_frames = choose_piece(ahead, info);
    ahead->poll = options->poll;
    ahead->arranger = options->arranger;
    ahead->first = options->first;
    init_locks(ahead);
    if (n_threads > 0)
        trajectory_reader_background(trajectory);
    collet_status status = create_slots(ahead, options, err);
    if (status == COLLET_OK)
        status = create_workers(ahead, options, err);
    if (status != COLLET_OK) {
        free_all(ahead);
        return status;
    }
    *out = ahead;
    return COLLET_OK;
}

void trajectory_readahead_stop(trajectory_readahead *ahead)
{
    if (!ahead)
        return;
    end_threads(ahead);
    free_all(ahead);
}

/* ---- The caller -------------------------------------------------------------------------- */

const trajectory_frames *trajectory_readahead_slot(const trajectory_readahead *ahead, int32_t i)
{
    return ahead->slots[i];
}

/* Waits for a change, at most 50 ms; COLLET_CANCELLED when the poll stops the work. */
static collet_status wait_for_slot(trajectory_readahead *ahead, collet_error *err)
{
    struct timespec until;
    int stops;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += WAIT_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (pthread_cond_timedwait(&ahead->filled_one, &ahead->lock, &until) != ETIMEDOUT)
        return COLLET_OK;
    pthread_mutex_unlock(&ahead->lock);
    stops = io_poll_stops(&ahead->poll);
    pthread_mutex_lock(&ahead->lock);
    return stops ? collet_fail(err, COLLET_CANCELLED, "cancelled") : COLLET_OK;
}

/* Waits until a slot is complete, or until no further slot will become complete and no thread reads. */
static collet_status await_slot(trajectory_readahead *ahead, collet_error *err)
{
    collet_status status = COLLET_OK;

    while (status == COLLET_OK && ahead->filled == ahead->returned + ahead->held &&
           !(ahead->ended && ahead->completed == ahead->begun)) {
        if (ahead->n_threads > 0)
            status = wait_for_slot(ahead, err);
        else
            work(&ahead->workers[0]);
    }
    return status;
}

/* Returns the next slot, like trajectory_readahead_take, but does not call finish_slot. */
static collet_status next_slot(trajectory_readahead *ahead, trajectory_frames **out,
                               int32_t *truncated, collet_error *err)
{
    *out = NULL;
    if (truncated)
        *truncated = 0;
    pthread_mutex_lock(&ahead->lock);
    collet_status status = await_slot(ahead, err);
    if (status == COLLET_OK && ahead->filled > ahead->returned + ahead->held) {
        *out = slot_of(ahead, ahead->returned + ahead->held++);
    } else if (status == COLLET_OK) {
        ahead->trajectory->gaps = ahead->gaps;
        if (truncated)
            *truncated = ahead->truncated;
        if (ahead->error.status != COLLET_OK)
            status = collet_fail(err, ahead->error.status, "%s", ahead->error.text);
    }
    pthread_mutex_unlock(&ahead->lock);
    return status;
}

/* Calls `in_order` for a slot and drops frames before `first`, because those frames were needed only to arrange later
 * frames. */
static void finish_slot(const trajectory_readahead *ahead, trajectory_frames *frames)
{
    int64_t n = 0;

    if (ahead->arranger && ahead->arranger->in_order)
        ahead->arranger->in_order(ahead->arranger->user, frames);
    while (n < frames->n_frames && frames->indices[n] < ahead->first)
        n++;
    if (n > 0)
        trajectory_frames_drop(frames, n);
}

void trajectory_readahead_give(trajectory_readahead *ahead, int64_t n)
{
    pthread_mutex_lock(&ahead->lock);
    ahead->returned += n;
    ahead->held -= n;
    pthread_cond_signal(&ahead->may_scan);
    pthread_mutex_unlock(&ahead->lock);
}

collet_status trajectory_readahead_take(trajectory_readahead *ahead, const trajectory_frames **out,
                                        int32_t *truncated, collet_error *err)
{
    trajectory_frames *frames;
    collet_status status;

    for (;;) {
        status = next_slot(ahead, &frames, truncated, err);
        if (frames)
            finish_slot(ahead, frames);
        if (!frames || frames->n_frames > 0)
            break;
        if (io_poll_stops(&ahead->poll)) {
            *out = NULL;
            return collet_fail(err, COLLET_CANCELLED, "cancelled");
        }
        trajectory_readahead_give(ahead, 1); /* the caller has no other slot yet */
    }
    *out = frames;
    return status;
}

collet_status trajectory_readahead_next(trajectory_readahead *ahead, const trajectory_frames **out,
                                        int32_t *truncated, collet_error *err)
{
    trajectory_readahead_give(ahead, ahead->held);
    return trajectory_readahead_take(ahead, out, truncated, err);
}
