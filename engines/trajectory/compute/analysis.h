/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analysis.h - computes rows of results from batches of frames.
 *
 * The kernels that read all atoms run once for each batch. Batches are small enough for the CPU's caches. Each of
 * these kernels writes a few numbers for each frame. The numbers of many frames form a block. Derived quantities
 * (derivation.h) are computed once for each block, so that the fixed cost of their many small kernels is negligible.
 * Another thread computes them, while the caller's thread computes the next batches. No result depends on the size of
 * batches or blocks. Only the data for the chosen buffers are computed and allocated.
 */
#pragma once

#include "derivation.h"
#include "feed.h"

typedef struct trajectory_analysis trajectory_analysis;

typedef struct trajectory_analysis_setup {
    int64_t n_atoms;
    int64_t block_frames;    /* >= the frames of a batch */
    int64_t bodies;          /* number of bodies in a frame, >= 1 */
    const int64_t *offsets; /* bodies + 1: first atom of each body, and n_atoms; copied. May be NULL
                                for one body */
    uint64_t buffers;       /* set of buffers to compute (outputs.h) */
    int32_t sums_only;      /* 1: computes only the sums over atoms from which `buffers` are derived */
    uint32_t reserved;      /* 0 */
    const double *masses;    /* n_atoms, amu; copied */
    const double *charges;   /* n_atoms, elementary charges; copied. NULL: no dipole is computed */
    const double *reference; /* n_atoms x 3, nm; copied. NULL: the first frame */
    const double *axis;      /* 3; copied */
    trajectory_emit_fn emit; /* called on another thread, until `finish` or `free` returns */
    void *user;
} trajectory_analysis_setup;

/* Statistics of a run. */
typedef struct trajectory_analysis_notes {
    int64_t singular;         /* rows whose inertia tensor could not be inverted for omega */
    collet_counters counters; /* summed over all contexts */
    int32_t n_backends;       /* number of names: backends that ran a kernel */
    char backends[TRAJECTORY_MAX_BACKENDS][TRAJECTORY_BACKEND_NAME];
} trajectory_analysis_notes;

/* Allocates on the context and on a second context of the same runtime. On an error *out is NULL. */
collet_status trajectory_analysis_create(collet_context *context,
                                         const trajectory_analysis_setup *setup,
                                         trajectory_analysis **out, collet_error *err);

/* Computes a batch; emits rows when the block is full. A failure to derive or emit may be reported
 * by a later call. */
collet_status trajectory_analysis_add(trajectory_analysis *analysis, const trajectory_batch *batch,
                                      collet_error *err);

/* Adds the sums over atoms of n frames instead of a batch. sums[i] belongs to trajectory_sums[i] (outputs.h); NULL: not
 * needed. */
collet_status trajectory_analysis_add_sums(trajectory_analysis *analysis, int64_t n,
                                           const double *const sums[TRAJECTORY_SUMS],
                                           collet_error *err);

/* Emits the remaining rows, and waits for them. */
collet_status trajectory_analysis_finish(trajectory_analysis *analysis, collet_error *err);

/* Call it only while no rows are emitted: after `finish`, or before the first `add`. */
void trajectory_analysis_get_notes(const trajectory_analysis *analysis,
                                   trajectory_analysis_notes *notes);

/* Adds counters and backends to the notes of another analysis. */
void trajectory_analysis_add_notes(const trajectory_analysis *analysis,
                                   trajectory_analysis_notes *notes);

/* Adds the name of a backend, "worker:cuda", unless it is in the list or the list is full. */
void trajectory_analysis_add_backend(trajectory_analysis_notes *notes, const char *name);

/* Waits for work under way, then frees. NULL is allowed. */
void trajectory_analysis_free(trajectory_analysis *analysis);
