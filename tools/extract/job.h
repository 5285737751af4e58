/* SPDX-License-Identifier: Apache-2.0 */
/* job.h - one run of collet-extract, from the options to the finished files. */
#ifndef COLLET_EXTRACT_JOB_H
#define COLLET_EXTRACT_JOB_H

#include "trajectory/analysis.h"
#include "inputs.h"
#include "io/results.h"

typedef struct extract_job {
    const extract_options *options;
    char *output; /* path of the file or directory */
    char *meta;   /* path of the meta file */

    extract_inputs inputs;
    collet_runtime *runtime;
    collet_context *context;
    uint32_t has;         /* EXTRACT_VELOCITIES, EXTRACT_FORCES: what the trajectory has */
    int64_t batch_frames; /* chosen or given */
    extract_analysis_notes notes;

    /* Columns of an output that is written; -1 = left out. */
    int32_t columns[EXTRACT_MAX_OUTPUTS];
    collet_results *results;
    double *component; /* one number a row, while a buffer is taken apart into outputs */
    int64_t component_rows;

    int64_t n_frames; /* that were written */
    int64_t first_frame;
    int64_t last_frame;
    double first_time;
    double last_time;
    int64_t end_offset;       /* byte of the trajectory after the last frame */
    int64_t times_not_rising; /* frames that are not later than the one before them */
    int64_t first_not_rising; /* the first of these, by its number in the file */
    int32_t truncated; /* 1: the trajectory ends inside a frame; the text is in `truncation` */
    uint32_t reserved;
    collet_error truncation;
    double seconds;        /* from the start of the run to the finished output */
    double finish_seconds; /* of these, after the last frame was computed */
} extract_job;

/*
 * Does the work and names the output. *job is filled in, for the meta file, and belongs to the
 * caller, who ends it with extract_job_close whatever is returned. COLLET_NOT_READY when a signal
 * stopped it. On an error nothing stands under the output's name that was not there before.
 */
collet_status extract_job_run(extract_job *job, const extract_options *options,
                              const extract_selection *selection, collet_error *err);
void extract_job_close(extract_job *job);

/* Frames of a batch under "auto". */
int64_t extract_job_batch(int64_t bytes_a_frame);

#endif
