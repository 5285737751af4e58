/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analysis.h - from batches of frames to rows of results.
 *
 * The kernels that read all atoms run once a batch, sized for the CPU's caches.
 * Their few numbers a frame are gathered into a block of many frames. Derived quantities
 * (derivation.h) are computed once a block, so that the fixed cost of their many small kernels
 * is negligible, and on a thread of their own, while the next batches are computed here. Neither
 * batch nor block size changes any result.
 */
#ifndef ENGINES_TRAJECTORY_COMPUTE_ANALYSIS_H
#define ENGINES_TRAJECTORY_COMPUTE_ANALYSIS_H

#include "derivation.h"
#include "feed.h"

typedef struct trajectory_analysis trajectory_analysis;

typedef struct trajectory_analysis_setup {
    int64_t n_atoms;
    int64_t block_frames;    /* at least the frames of a batch */
    uint32_t has;            /* what outputs may need: TRAJECTORY_VELOCITIES and so on */
    const double *masses;    /* n_atoms, amu; copied */
    const double *reference; /* n_atoms x 3, nm; copied. NULL: the first frame */
    const double *axis;      /* 3; copied */
    trajectory_emit_fn emit; /* called on another thread, until `finish` or `free` returns */
    void *user;
} trajectory_analysis_setup;

/* Statistics of a run. */
typedef struct trajectory_analysis_notes {
    int64_t singular_frames;  /* frames whose inertia tensor could not be inverted for omega */
    collet_counters counters; /* of all contexts */
    int32_t n_backends;       /* names of the backends that ran a kernel */
    char backends[TRAJECTORY_MAX_BACKENDS][TRAJECTORY_BACKEND_NAME];
} trajectory_analysis_notes;

/* Allocates on the context, and on another one of its runtime. On an error *out is NULL. */
collet_status trajectory_analysis_create(collet_context *context,
                                         const trajectory_analysis_setup *setup,
                                         trajectory_analysis **out, collet_error *err);

/* Computes a batch; emits rows when the block is full. A failure to derive or emit may be reported
 * by a later call. */
collet_status trajectory_analysis_add(trajectory_analysis *analysis, const trajectory_batch *batch,
                                      collet_error *err);

/* Emits all rows that are left, and waits for them. */
collet_status trajectory_analysis_finish(trajectory_analysis *analysis, collet_error *err);

/* Not while rows are being emitted: after `finish`, or before the first `add`. */
void trajectory_analysis_get_notes(const trajectory_analysis *analysis,
                                   trajectory_analysis_notes *notes);

/* Waits for what is under way. NULL is allowed. */
void trajectory_analysis_free(trajectory_analysis *analysis);

#endif
