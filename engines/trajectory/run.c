/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory.c, tests/tools/test_extract_options.c */
#include "run.h"

#include "meta.h"
#include "periodic.h"
#include "start.h"
#include "warnings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The maximum number of frames of a block. The kernels that do not read atoms run on a whole block at once. With many
 * bodies a block has fewer frames, to limit memory. */
#define BLOCK_FRAMES 1024

double trajectory_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- Start ------------------------------------------------------------------------------- */

/* Copies one component of each row of n frames of a buffer; NULL if out of memory. */
static const double *pack(collet_trajectory *x, const trajectory_output *output, int64_t n,
                          const double *rows)
{
    int64_t width = trajectory_buffer_width(output->buffer);

    n *= trajectory_buffer_rows(output->buffer, trajectory_inputs_extent(&x->inputs));
    if (n > x->component_rows) {
        double *grown = realloc(x->component, (size_t)n * sizeof *grown);

        if (grown == NULL)
            return NULL;
        x->component = grown;
        x->component_rows = n;
    }
    for (int64_t i = 0; i < n; i++)
        x->component[i] = rows[i * width + output->component];
    return x->component;
}

static collet_status emit(void *user, int32_t buffer, int64_t n, const double *rows,
                          collet_error *err)
{
    collet_trajectory *x = user;
    collet_status status =
        trajectory_checks_rows(&x->checks, buffer, n * x->inputs.bodies.n, rows, err);

    for (size_t i = 0; status == COLLET_OK && i < trajectory_output_count; i++) {
        const trajectory_output *output = &trajectory_outputs[i];
        const double *part = rows;

        if (output->buffer != buffer || x->left_out[i] != NULL)
            continue;
        if (output->component >= 0)
            part = pack(x, output, n, rows);
        if (part == NULL)
            return collet_fail(err, COLLET_NO_MEMORY, "results: out of memory");
        status = x->receive(x->receiver, i, n, part, err);
    }
    return status;
}

uint64_t trajectory_run_buffers(const collet_trajectory *x)
{
    uint64_t chosen = 0;

    for (size_t i = 0; i < trajectory_output_count; i++)
        if (x->left_out[i] == NULL)
            chosen |= TRAJECTORY_BUFFER_BIT(trajectory_outputs[i].buffer);
    return trajectory_buffers_for(chosen);
}

int64_t trajectory_run_rows(const collet_trajectory *x)
{
    return trajectory_buffers_rows(trajectory_run_buffers(x), trajectory_inputs_extent(&x->inputs));
}

/* ---- Frames ------------------------------------------------------------------------------ */

/* Notes how many atoms are chosen in frame i, and which bodies have no chosen atom with a mass. */
static void note_chosen(collet_trajectory *x, const trajectory_frames *frames, int64_t i)
{
    const trajectory_bodies *bodies = &x->inputs.bodies;
    const double *masses = frames->masses + i * frames->n_atoms;

    if (frames->chosen[i] < x->notes.least_atoms)
        x->notes.least_atoms = frames->chosen[i];
    if (frames->chosen[i] > x->notes.most_atoms)
        x->notes.most_atoms = frames->chosen[i];
    for (int64_t b = 0; b < bodies->n; b++) {
        int64_t massive = 0, chosen = 0;

        for (int64_t m = bodies->offsets[b]; m < bodies->offsets[b + 1]; m++) {
            massive += x->inputs.masses[m] > 0;
            chosen += masses[m] > 0;
        }
        if (chosen == 0 && x->notes.n_empty++ == 0) {
            x->notes.first_empty = frames->indices[i];
            x->notes.empty_body = b;
        }
        if (chosen > 0 && chosen < massive && x->notes.n_partial++ == 0) {
            x->notes.first_partial = frames->indices[i];
            x->notes.partial_body = b;
        }
    }
}

/* If frames are used as read, without an arranger, the first frame is checked here for molecules that the box cuts. */
static collet_status check_first(const collet_trajectory *x, const trajectory_frames *frames,
                                 collet_error *err)
{
    trajectory_arrangement *arrangement = x->inputs.arrangement;

    return trajectory_arrangement_arranger(arrangement)
               ? COLLET_OK
               : trajectory_arrangement_prepare(arrangement, frames, err);
}

/* Molecules that are followed without jumps keep the arrangement of the first frame that is used, and may move
 * apart. */
static void note_apart(collet_trajectory *x, const trajectory_frames *frames, int64_t i)
{
    int is_first = x->notes.n_frames == 0 && x->share.first_row == 0;

    if (x->settings.pbc == COLLET_TRAJECTORY_PBC_NOJUMP && !is_first)
        return;
    int64_t body = trajectory_apart_find(x->inputs.apart, frames, i);

    if (body >= 0 && x->notes.n_apart++ == 0) {
        x->notes.first_apart = frames->indices[i];
        x->notes.apart_body = body;
    }
}

static void note_clashes(collet_trajectory *x)
{
    x->notes.n_clashes = x->inputs.topology->n_clashes;
    memcpy(x->notes.clash, x->inputs.topology->clash, sizeof x->notes.clash);
}

static void note_frames(collet_trajectory *x, const trajectory_frames *frames)
{
    for (int64_t i = 0; i < frames->n_frames; i++) {
        x->notes.boxed += trajectory_lattice_exists(frames->boxes + 9 * i);
        note_apart(x, frames, i);
        if (frames->chosen != NULL)
            note_chosen(x, frames, i);
        trajectory_notes_row(&x->notes, frames->indices[i], frames->times[i]);
    }
    x->notes.n_bad_times += frames->n_bad_times;
    x->notes.end_offset = frames->end_offset;
}

/* With the option strict, fails if it is known before the last frame that a body may not be in one piece. */
static collet_status refuse(collet_trajectory *x, collet_error *err)
{
    if (trajectory_arrangement_is_decided(x->inputs.arrangement))
        trajectory_arrangement_get_notes(x->inputs.arrangement, &x->notes.arranged);
    note_clashes(x);
    return trajectory_warnings_refuse(x, err);
}

/* Checks and notes the frames of a batch before they are computed, then passes their numbers to x->take_frames. */
collet_status trajectory_run_read(void *user, const trajectory_frames *frames, collet_error *err)
{
    collet_trajectory *x = user;
    collet_status status = check_first(x, frames, err);

    note_frames(x, frames);
    if (status == COLLET_OK && x->settings.strict)
        status = refuse(x, err);
    return status == COLLET_OK && x->take_frames != NULL
               ? x->take_frames(x->receiver, frames->n_frames, frames->indices, frames->times, err)
               : status;
}

static collet_status create_lanes(collet_trajectory *x, const trajectory_analysis_setup *setup,
                                  collet_error *err)
{
    const trajectory_lanes_setup lanes = {.analysis = *setup,
                                          .contexts = x->devices.contexts,
                                          .n = x->devices.count,
                                          .batch_frames = x->batch_frames,
                                          .slots = x->slots,
                                          .read = trajectory_run_read,
                                          .ask = trajectory_run_ask,
                                          .user = x};

    return trajectory_lanes_create(&lanes, &x->lanes, err);
}

static collet_status start_work(collet_trajectory *x, int64_t rows, collet_error *err)
{
    const trajectory_inputs *in = &x->inputs;
    int velocities = (x->has & TRAJECTORY_VELOCITIES) != 0,
        forces = (x->has & TRAJECTORY_FORCES) != 0;
    int64_t rows_a_frame = trajectory_run_rows(x);
    trajectory_readahead_options reading = {.velocities = velocities,
                                            .forces = forces,
                                            .poll = {trajectory_run_ask, x},
                                            .first = x->share.first,
                                            .arranger =
                                                trajectory_arrangement_arranger(in->arrangement)};
    trajectory_analysis_setup setup = {.n_atoms = in->n_atoms,
                                       .bodies = in->bodies.n,
                                       .offsets = in->bodies.offsets,
                                       .buffers = trajectory_run_buffers(x),
                                       .sums_only = x->take_sums != NULL,
                                       .masses = in->masses,
                                       .charges = in->charges,
                                       .reference = in->reference,
                                       .axis = x->settings.axis,
                                       .emit = x->take_sums ? x->take_sums : emit,
                                       .user = x->take_sums ? x->receiver : x};
    collet_status status;

    trajectory_start_sizes(x, rows, rows_a_frame, &reading);
    setup.block_frames = rows < BLOCK_FRAMES ? rows : BLOCK_FRAMES;
    if (setup.block_frames > TRAJECTORY_BLOCK_ROWS / rows_a_frame)
        setup.block_frames = TRAJECTORY_BLOCK_ROWS / rows_a_frame;
    if (setup.block_frames < x->batch_frames)
        setup.block_frames = x->batch_frames;
    status = trajectory_analysis_create(x->context, &setup, &x->analysis, err);
    if (status == COLLET_OK && x->devices.count > 0)
        status = create_lanes(x, &setup, err);
    if (status == COLLET_OK && x->replay != NULL) {
        trajectory_replay_start(x->replay, in, trajectory_buffers_summed(setup.buffers),
                                setup.block_frames);
        return COLLET_OK;
    }
    if (status == COLLET_OK)
        status = trajectory_feed_start(x->context, in->trajectory, &reading, &x->feed, err);
    if (x->lanes != NULL)
        trajectory_lanes_feed(x->lanes, x->feed);
    return status;
}

/* ---- Progress ---------------------------------------------------------------------------- */

int32_t trajectory_run_ask(void *trajectory)
{
    collet_trajectory *x = trajectory;
    const trajectory_reader_info *info = x->inputs.info;
    const trajectory_settings *s = &x->settings;
    collet_progress progress = {.struct_size = sizeof progress,
                                .done = x->notes.n_frames,
                                .bytes = (uint64_t)x->notes.end_offset};
    int64_t bytes_total = info != NULL ? info->file_size : 0;
    double frames = 0;

    if (s->progress == NULL)
        return 0;
    if (x->rows_total > 0) { /* not all bytes are read: progress is counted in rows */
        progress.bytes = 0;
        progress.fraction = (double)x->notes.n_frames / (double)x->rows_total;
    } else if (bytes_total > 0)
        progress.fraction = (double)progress.bytes / (double)bytes_total;
    if (s->stop >= 0 && x->notes.n_frames > 0)
        frames = (double)(x->notes.last_frame + 1 - s->start) / (double)(s->stop - s->start);
    if (frames > progress.fraction)
        progress.fraction = frames;
    if (progress.fraction > 1)
        progress.fraction = 1;
    return s->progress(s->progress_user, &progress);
}

static collet_status report(collet_trajectory *x, collet_error *err)
{
    if (trajectory_run_ask(x) == 0)
        return COLLET_OK;
    return collet_fail(err, COLLET_CANCELLED, "cancelled after %lld frame%s",
                       (long long)x->notes.n_frames, x->notes.n_frames == 1 ? "" : "s");
}

static collet_status start(collet_trajectory *x, int64_t rows, collet_error *err)
{
    collet_status status;

    x->stage = TRAJECTORY_RUNNING;
    status = report(x, err);
    if (status == COLLET_OK)
        status = trajectory_start_context(x, err);
    return status == COLLET_OK ? start_work(x, rows, err) : status;
}

collet_status trajectory_run_start(collet_trajectory *x, int64_t rows, trajectory_rows_fn receive,
                                   void *user, collet_error *err)
{
    x->receive = receive;
    x->receiver = user;
    return start(x, rows, err);
}

collet_status trajectory_run_sums(collet_trajectory *x, trajectory_emit_fn sums,
                                  trajectory_take_frames frames, void *user, collet_error *err)
{
    x->take_sums = sums;
    x->take_frames = frames;
    x->receiver = user;
    return start(x, INT64_MAX, err);
}

/* ---- Steps ------------------------------------------------------------------------------- */

static collet_status check_rows(collet_trajectory *x, collet_error *err)
{
    const trajectory_gaps *gaps = &x->notes.gaps;

    if (x->notes.n_frames > 0)
        return COLLET_OK;
    if (x->notes.truncated)
        return collet_fail(err, COLLET_FORMAT, "%s", x->notes.truncation.text);
    if (gaps->frames > 0)
        return collet_fail(err, COLLET_INVALID,
                           "no frame to compute: each of the %lld frames of %s lacks a field that "
                           "a key needs",
                           (long long)gaps->frames, x->settings.trajectory);
    return collet_fail(err, COLLET_INVALID,
                       "no frame to compute: %s ends before frame %lld, which is the start; "
                       "choose a smaller start",
                       x->settings.trajectory, (long long)x->settings.start);
}

/* If a frame is damaged, adds the number of frames before it to the message. */
static void describe_damage(trajectory_notes *notes)
{
    collet_error own = notes->truncation;

    if (notes->truncated == TRAJECTORY_DAMAGED)
        collet_fail(&notes->truncation, COLLET_FORMAT, "%s; frames before it: %lld", own.text,
                    (long long)notes->n_frames);
}

/* Sets the members of x->ran and x->notes that are known only after the last frame. */
static void take_notes(collet_trajectory *x)
{
    trajectory_analysis_get_notes(x->analysis, &x->ran);
    if (x->lanes != NULL)
        trajectory_lanes_add_notes(x->lanes, &x->ran);
    if (x->replay != NULL) {
        trajectory_replay_finish(x->replay, &x->inputs, &x->ran);
        return;
    }
    x->notes.gaps = *trajectory_reader_gaps(x->inputs.trajectory);
    trajectory_arrangement_get_notes(x->inputs.arrangement, &x->notes.arranged);
    note_clashes(x);
}

/* Called after the last frame: emits all rows and sets warnings. */
static collet_status finish(collet_trajectory *x, collet_error *err)
{
    collet_status status = trajectory_analysis_finish(x->analysis, err);

    if (status != COLLET_OK)
        return status;
    take_notes(x);
    x->computed_seconds = trajectory_clock() - x->began;
    status = trajectory_warnings_refuse(x, err);
    if (status == COLLET_OK && x->take_sums == NULL) {
        status = check_rows(x, err);
        describe_damage(&x->notes);
        trajectory_periodic_describe(x);
        trajectory_periodic_describe_drift(x);
        if (status == COLLET_OK)
            status = trajectory_warnings_make(x, err);
    }
    if (status == COLLET_OK)
        x->stage = TRAJECTORY_DONE;
    return status;
}

/* Computes the next batch; *more is 0 if no batch is left. *own becomes the error that ended reading, if any. */
static collet_status next_batch(collet_trajectory *x, int *more, collet_error *own,
                                collet_error *err)
{
    const trajectory_batch *batch = NULL;
    const double *const *sums;
    int64_t n = 0;
    collet_status status =
        x->lanes != NULL ? trajectory_lanes_next(x->lanes, &n, &sums, &x->notes.truncated, own)
                         : trajectory_feed_next(x->feed, &batch, &x->notes.truncated, own);

    *more = n > 0 || batch != NULL;
    if (n > 0)
        return trajectory_analysis_add_sums(x->analysis, n, sums, err);
    if (batch != NULL)
        status = trajectory_run_read(x, batch->frames, err);
    return batch != NULL && status == COLLET_OK ? trajectory_analysis_add(x->analysis, batch, err)
                                                : status;
}

static collet_status replay_step(collet_trajectory *x, collet_error *err)
{
    const double *const *sums;
    int64_t n;
    collet_status status = trajectory_replay_next(x->replay, &x->notes, &n, &sums, err);

    if (status != COLLET_OK)
        return status;
    if (n == 0)
        return finish(x, err);
    status = trajectory_analysis_add_sums(x->analysis, n, sums, err);
    return status == COLLET_OK ? report(x, err) : status;
}

collet_status trajectory_run_step(collet_trajectory *x, collet_error *err)
{
    collet_error own;
    int more;

    if (x->replay != NULL)
        return replay_step(x, err);
    collet_status status = next_batch(x, &more, &own, err);
    if (more)
        return status == COLLET_OK ? report(x, err) : status;
    if (status == COLLET_FORMAT && !x->notes.truncated)
        x->notes.truncated = TRAJECTORY_DAMAGED;
    if (status != COLLET_OK && !x->notes.truncated) {
        if (err != NULL)
            *err = own;
        return status;
    }
    if (status != COLLET_OK)
        x->notes.truncation = own;
    return finish(x, err);
}

collet_status trajectory_run_end(collet_trajectory *x, collet_error *err)
{
    if (x->meta != NULL)
        return COLLET_OK;
    trajectory_run_stop(x);
    x->seconds = trajectory_clock() - x->began;
    return trajectory_meta_format(x, &x->meta, err);
}

collet_status trajectory_run_failed(collet_trajectory *x, collet_status status, collet_error *err)
{
    trajectory_run_stop(x);
    x->stage = TRAJECTORY_DONE;
    x->status = x->error.status = status;
    if (err != NULL)
        *err = x->error;
    return status;
}

void trajectory_run_stop(collet_trajectory *x)
{
    trajectory_lanes_stop(x->lanes);
    trajectory_feed_stop(x->feed);
    x->feed = NULL;
    trajectory_analysis_free(x->analysis);
    x->analysis = NULL;
}
