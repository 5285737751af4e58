/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - the state of an extraction, shared by its files.
 *
 *   settings.c, inputs.c   options and files; needs no backend
 *   run.c                  runtime, reading thread and kernels; rows go to an extract_emit_fn
 *   batches.c, write.c     the two receivers of rows: the caller's batches, or files
 *   checks.c, warnings.c   warnings about the results
 *   extraction.c           open, close and information
 */
#ifndef COLLET_EXTRACT_STATE_H
#define COLLET_EXTRACT_STATE_H

#include "checks.h"
#include "compute/analysis.h"
#include "inputs.h"
#include "rows.h"
#include "settings.h"

/* The reason in left_out of outputs that need times. */
extern const char extract_no_times[];

typedef enum extract_stage { EXTRACT_OPEN, EXTRACT_RUNNING, EXTRACT_DONE } extract_stage;

struct collet_extraction {
    extract_settings settings;
    extract_inputs inputs;
    uint32_t has; /* EXTRACT_VELOCITIES, EXTRACT_FORCES, EXTRACT_TIMES: fields that the chosen keys
                     need */
    const char *left_out[EXTRACT_MAX_OUTPUTS]; /* NULL: computed */

    extract_stage stage;
    collet_status status; /* what ended the work; every later call returns it */
    collet_error error;

    collet_runtime *runtime; /* our own, or NULL */
    collet_context *context; /* our own, or the caller's */
    int64_t batch_frames;    /* chosen or given */
    extract_analysis *analysis;
    extract_feed *feed;
    extract_rows_fn receive;
    void *receiver;
    double *component; /* one number a row, while a buffer is split into outputs */
    int64_t component_rows;
    extract_checks checks; /* the emitting thread's until the work is done */
    extract_analysis_notes notes;
    extract_rows *rows; /* what `next` delivers from; NULL before the first call */

    int64_t n_frames;
    int64_t first_frame;
    int64_t last_frame;
    double first_time; /* NaN: that frame has none */
    double last_time;
    double latest; /* the last time that is not NaN, while n_timed > 0 */
    int64_t n_timed;
    int64_t first_untimed;    /* the first frame without one, where n_timed < n_frames */
    int64_t end_offset;       /* byte of the trajectory after the last frame */
    int64_t times_not_rising; /* frames that are not later than the one before them */
    int64_t first_not_rising; /* the first of these, by its number in the file */
    double not_rising[2];     /* the time before it, and its own */
    int32_t truncated;        /* 1: the trajectory ends inside a frame; see `truncation` */
    collet_error truncation;

    char **warnings;
    size_t n_warnings;
    char *output;   /* what `write` wrote; NULL: nothing */
    char *meta;     /* contents of the meta file */
    const char *id; /* of the files that are written, while the meta file is made; else NULL */
    double began;   /* seconds of the monotonic clock */
    double computed_seconds;
    double seconds; /* until everything was done; 0 before */
};

#endif
