/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analysis.h - from batches of frames to rows of results.
 *
 * The kernels that read all atoms run once a batch, which is sized for the processor's caches. Their
 * few numbers a frame are gathered into a block of many frames, on which the remaining kernels run
 * once, so that their fixed cost vanishes. What depends on neighbouring frames (dL/dt, the signs of
 * the axes) carries over from block to block: neither batch nor block size changes any result.
 */
#ifndef COLLET_EXTRACT_ANALYSIS_H
#define COLLET_EXTRACT_ANALYSIS_H

#include "feed.h"
#include "outputs.h"

typedef struct extract_analysis extract_analysis;

/*
 * Takes n_rows rows of a buffer (outputs.h), contiguous. Each buffer's rows come in the order of the
 * frames; those of dL/dt one frame later than the others.
 */
typedef collet_status (*extract_emit_fn)(void *user, int32_t buffer, int64_t n_rows,
                                         const double *rows, collet_error *err);

typedef struct extract_analysis_setup {
    int64_t n_atoms;
    int64_t block_frames;    /* at least the frames of a batch */
    uint32_t has;            /* EXTRACT_VELOCITIES, EXTRACT_FORCES */
    const double *masses;    /* n_atoms, amu; copied */
    const double *reference; /* n_atoms x 3, nm; copied. NULL: the first frame */
    const double *axis;      /* 3; copied */
    extract_emit_fn emit;
    void *user;
} extract_analysis_setup;

#define EXTRACT_MAX_BACKENDS 8

/* What is worth telling beside the rows. */
typedef struct extract_analysis_notes {
    int64_t singular_frames; /* frames whose inertia tensor could not be inverted for omega */
    int32_t n_backends;      /* names of the backends that ran a kernel, in order of appearance */
    char backends[EXTRACT_MAX_BACKENDS][COLLET_MAX_NAME];
} extract_analysis_notes;

/* Allocates on the context. On an error *out is NULL. */
collet_status extract_analysis_create(collet_context *context, const extract_analysis_setup *setup,
                                      extract_analysis **out, collet_error *err);

/* Computes a batch; emits rows when the block is full. */
collet_status extract_analysis_add(extract_analysis *analysis, const extract_batch *batch,
                                   collet_error *err);

/* Emits all rows that are left. */
collet_status extract_analysis_finish(extract_analysis *analysis, collet_error *err);

/* Lent until `free`. */
const extract_analysis_notes *extract_analysis_get_notes(const extract_analysis *analysis);

/* NULL is allowed. */
void extract_analysis_free(extract_analysis *analysis);

#endif
