/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derivation.h - quantities derived from the sums over atoms of many frames.
 *
 * `take` copies the sums of a block of frames; `run` computes axes, angles, angular velocity and the parts of the
 * vectors, and passes the rows to `emit`. Some results (dL/dt, the signs of the axes) depend on neighbouring frames.
 * For these results the last frames are carried over to the next block, so that no result depends on the size of
 * blocks.
 */
#pragma once

#include "outputs.h"

#include <collet/collet.h>

/*
 * The scope of a group of kernel calls on one context. It has short-lived views of arrays, errors with the context's
 * text, and the names of the backends that ran.
 *
 * A view that cannot be created is NULL, and a kernel would treat it as an absent operand. So create all views, check
 * trajectory_scope_views, then call kernels.
 */

#define TRAJECTORY_SCOPE_VIEWS 64 /* a batch of several bodies with all keys needs 44 */
#define TRAJECTORY_MAX_BACKENDS 8
#define TRAJECTORY_BACKEND_NAME (2 * COLLET_MAX_NAME) /* "worker:cuda" */

/* A scope is empty when all members but `context` are 0. */
typedef struct trajectory_scope {
    collet_context *context;
    collet_array *views[TRAJECTORY_SCOPE_VIEWS];
    int32_t n_views;
    collet_status view_status;
    int32_t n_backends;
    char backends[TRAJECTORY_MAX_BACKENDS][TRAJECTORY_BACKEND_NAME];
} trajectory_scope;

/* Elements first .. first + n - 1 of the first axis; NULL if `array` is NULL. Valid until
 * trajectory_scope_clear. */
collet_array *trajectory_scope_rows(trajectory_scope *scope, const collet_array *array,
                                    int64_t first, int64_t n);
/* Returns the first axis of n x k elements as two axes; NULL if `array` is NULL. */
collet_array *trajectory_scope_split(trajectory_scope *scope, collet_array *array, int64_t n);
/* Returns element `index` of axis `axis`, without that axis. */
collet_array *trajectory_scope_drop(trajectory_scope *scope, const collet_array *array,
                                    int32_t axis, int64_t index);

/* COLLET_OK when every view since the last `clear` could be created. */
collet_status trajectory_scope_views(const trajectory_scope *scope, collet_error *err);
void trajectory_scope_clear(trajectory_scope *scope);

/* Returns `status`; on an error copies the context's text to *err. */
collet_status trajectory_scope_check(const trajectory_scope *scope, collet_status status,
                                     collet_error *err);
/* Does the same as trajectory_scope_check for the kernel call that was just made; also notes which backend ran the
 * kernel. */
collet_status trajectory_scope_ran(trajectory_scope *scope, collet_status status,
                                   collet_error *err);

typedef struct trajectory_derivation trajectory_derivation;

/*
 * Receives the contiguous rows of n_frames frames of a buffer (outputs.h). Each buffer's rows come in the order of
 * the frames; rows of dL/dt come one frame later than rows of other buffers.
 */
typedef collet_status (*trajectory_emit_fn)(void *user, int32_t buffer, int64_t n_frames,
                                            const double *rows, collet_error *err);

typedef struct trajectory_derivation_setup {
    int64_t block_frames;
    int64_t bodies;     /* number of bodies in a frame, >= 1 */
    int64_t atoms;      /* number of atoms in a frame */
    uint64_t buffers;   /* set of buffers to compute: a result of trajectory_buffers_for */
    const double *axis; /* 3; copied */
    trajectory_emit_fn emit;
    void *user;
} trajectory_derivation_setup;

/* Creates its own context, with the runtime and the backend setting of `like`. On an error *out is
 * NULL. */
collet_status trajectory_derivation_create(collet_context *like,
                                           const trajectory_derivation_setup *setup,
                                           trajectory_derivation **out, collet_error *err);

/*
 * Copies the sums over atoms of n <= block_frames frames: the rows of the `buffers` that are not NULL and are needed.
 * Uses the context of `scope`, on which no other work may be under way.
 */
collet_status trajectory_derivation_take(trajectory_derivation *derivation, trajectory_scope *scope,
                                         collet_array *const buffers[TRAJECTORY_BUFFERS], int64_t n,
                                         collet_error *err);

/* Computes and emits the rows of the frames taken. With last = 1 no frames follow, so all pending rows are emitted. */
collet_status trajectory_derivation_run(trajectory_derivation *derivation, int last,
                                        collet_error *err);

/* Returns the number of rows so far whose inertia tensor could not be inverted for omega. */
int64_t trajectory_derivation_singular(const trajectory_derivation *derivation);
/* Returns the context and the backends that ran; valid until the derivation is freed. */
const trajectory_scope *trajectory_derivation_scope(const trajectory_derivation *derivation);

/* NULL is allowed. */
void trajectory_derivation_free(trajectory_derivation *derivation);
