/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - the members of collet_trajectory, private to this folder.
 *
 *   settings.c, inputs.c   options and files; needs no backend
 *   run.c                  runtime, reading thread and kernels; rows go to a trajectory_emit_fn
 *   batches.c, write.c     the two receivers of rows: the caller's batches, or files
 *   checks.c, warnings.c   warnings about the results
 *   periodic.c             what was done about the periodic box
 *   trajectory.c           create, destroy and information
 */
#ifndef ENGINES_TRAJECTORY_STATE_H
#define ENGINES_TRAJECTORY_STATE_H

#include "arrangement/arrangement.h"
#include "checks.h"
#include "compute/analysis.h"
#include "inputs.h"
#include "rows.h"
#include "settings.h"

/* A value of `truncated`: a frame is damaged or does not belong to the earlier frames. */
#define TRAJECTORY_DAMAGED 2

typedef enum trajectory_stage {
    TRAJECTORY_OPEN,
    TRAJECTORY_RUNNING,
    TRAJECTORY_DONE
} trajectory_stage;

struct collet_trajectory {
    trajectory_settings settings;
    trajectory_inputs inputs;
    uint32_t has; /* fields that the chosen keys need: TRAJECTORY_VELOCITIES and so on */
    const char *left_out[TRAJECTORY_MAX_OUTPUTS]; /* NULL: computed */

    trajectory_stage stage;
    collet_status status; /* what ended the work; every later call returns it */
    collet_error error;

    collet_runtime *runtime; /* NULL: the caller gave a context */
    collet_context *context; /* of `runtime`, or the caller's */
    int64_t batch_frames;    /* chosen or given */
    trajectory_analysis *analysis;
    trajectory_feed *feed;
    trajectory_rows_fn receive;
    void *receiver;
    collet_trajectory_batch_fn watch; /* NULL: none */
    void *watcher;
    double *component; /* one number a row, while a buffer is split into outputs */
    int64_t component_rows;
    trajectory_checks checks; /* only the emitting thread uses it until the work is done */
    trajectory_analysis_notes notes;
    trajectory_rows *rows; /* `next` takes rows from here; NULL before its first call */

    int64_t n_frames;
    int64_t first_frame;
    int64_t last_frame;
    double first_time; /* NaN: that frame has none */
    double last_time;
    double latest; /* the last time that is not NaN, while n_timed > 0 */
    int64_t n_timed;
    int64_t n_bad_times;      /* frames whose time is not finite */
    int64_t first_untimed;    /* the first frame without a time, where n_timed < n_frames */
    int64_t end_offset;       /* byte of the trajectory after the last frame */
    int64_t times_not_rising; /* frames that are not later than the one before them */
    int64_t first_not_rising; /* the first of these, by its number in the file */
    double not_rising[2];     /* the time of the frame before it, and its own */
    int64_t least_atoms;      /* of a frame, where the selection varies */
    int64_t most_atoms;
    int64_t n_empty;          /* bodies of frames without a selected atom that has a mass */
    int64_t first_empty;      /* the frame of the first of these, by its number in the file */
    int64_t empty_body;       /* its body */
    int64_t n_partial;        /* bodies of frames with only some of their atoms selected */
    int64_t first_partial;    /* the frame of the first of these, by its number in the file */
    int64_t partial_body;     /* its body */
    int64_t boxless;          /* frames without a periodic box */
    int64_t n_apart;          /* frames with a body between whose chains the boundary lies */
    int64_t first_apart;      /* the first of these, by its number in the file */
    int64_t apart_body;       /* its body */
    trajectory_arrangement_notes arranged; /* what was done about the periodic box; at the end */
    char periodic[128];       /* in words; "" before the end */
    trajectory_gaps gaps;     /* frames without a field that a key needs */
    int32_t truncated;        /* 1: the trajectory ends inside a frame, or TRAJECTORY_DAMAGED; see
                          `truncation` */
    collet_error truncation;

    char **warnings;
    size_t n_warnings;
    char *output;   /* path that `write` wrote; NULL: none */
    char *meta;     /* contents of the meta file */
    const char *id; /* identifier of the written files, while the meta file is made; else NULL */
    double began;   /* seconds of the monotonic clock */
    double computed_seconds;
    double seconds; /* duration of the whole work; 0 before its end */
};

#endif
