/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_analysis.c */
#include <collet/ops/array.h>
#include <collet/ops/md.h>

#include "derivation.h"

#include <stdlib.h>
#include <string.h>

/* Frames that are carried over: the last frames of the block before. A central difference at a frame needs the frames
 * on both sides. */
#define CARRY 2

/* The first axis of a buffer is its rows: frames x bodies. The functions below count frames from the first frame of
 * the block; frames with negative numbers are carried over from the block before. */
struct trajectory_derivation {
    trajectory_scope scope;
    trajectory_derivation_setup setup;
    collet_array *axis; /* 3 */
    collet_array *buffers[TRAJECTORY_BUFFERS]; /* lead + block_frames frames; NULL: not computed */
    collet_array *across;   /* scratch: the part of a vector perpendicular to the axis */
    collet_array *singular; /* i32, a row */
    collet_array *info;     /* i32, a scalar */
    int64_t n_frames;       /* frames taken but not run yet */
    int64_t held;           /* frames carried over from the last block, 0..CARRY */
    int64_t n_singular;
};

/* ---- Creation ---------------------------------------------------------------------------- */

/* Returns the number of carried frames for which a buffer has rows in front of the block. To save memory, it is 0
 * unless the buffer is carried over or computed for carried frames. CARRY is 2 because dL/dt at the last frame of the
 * block before needs L of that frame and of the frame before it. */
static int64_t lead(int32_t buffer)
{
    if (buffer == TRAJECTORY_TIME ||
        buffer == TRAJECTORY_BUFFER_OF(TRAJECTORY_L, TRAJECTORY_VECTOR) ||
        buffer == TRAJECTORY_BUFFER_OF(TRAJECTORY_DLDT, TRAJECTORY_VECTOR))
        return CARRY;
    return buffer == TRAJECTORY_AXES || buffer >= TRAJECTORY_BUFFER_OF(TRAJECTORY_DLDT, 0);
}

/* Returns the number of rows of a buffer in a frame. */
static int64_t frame_rows(const trajectory_derivation *d, int32_t buffer)
{
    return trajectory_buffer_rows(buffer, (trajectory_extent){d->setup.bodies, d->setup.atoms});
}

static collet_status create_arrays(trajectory_derivation *d, const double *axis, collet_error *err)
{
    collet_context *cx = d->scope.context;
    int64_t bodies = d->setup.bodies, n = d->setup.block_frames;
    int64_t across[2] = {(n + 1) * bodies, 3}, singular = n * bodies;
    collet_status status = collet_array_from(cx, &d->axis, COLLET_F64, 1, (int64_t[]){3}, axis);

    for (int32_t i = 0; status == COLLET_OK && i < TRAJECTORY_BUFFERS; i++) {
        int64_t shape[3], rows = (lead(i) + n) * frame_rows(d, i);

        if (d->setup.buffers & TRAJECTORY_BUFFER_BIT(i))
            status = collet_array_create(cx, &d->buffers[i], COLLET_F64,
                                         trajectory_buffer_shape(i, rows, shape), shape);
    }
    if (status == COLLET_OK)
        status = collet_array_create(cx, &d->across, COLLET_F64, 2, across);
    if (status == COLLET_OK)
        status = collet_array_create(cx, &d->singular, COLLET_I32, 1, &singular);
    if (status == COLLET_OK)
        status = collet_array_create(cx, &d->info, COLLET_I32, 0, NULL);
    return trajectory_scope_check(&d->scope, status, err);
}

collet_status trajectory_derivation_create(collet_context *like,
                                           const trajectory_derivation_setup *setup,
                                           trajectory_derivation **out, collet_error *err)
{
    trajectory_derivation *d = calloc(1, sizeof *d);
    collet_status status;

    *out = NULL;
    if (d == NULL)
        return collet_fail(err, COLLET_NO_MEMORY, "analysis: out of memory");
    d->setup = *setup;
    status = collet_context_create(collet_context_runtime(like), &d->scope.context, err);
    if (status == COLLET_OK)
        status = trajectory_scope_check(
            &d->scope, collet_set_backend(d->scope.context, collet_get_backend(like)), err);
    if (status == COLLET_OK)
        status = create_arrays(d, setup->axis, err);
    if (status != COLLET_OK) {
        trajectory_derivation_free(d);
        return status;
    }
    *out = d;
    return COLLET_OK;
}

void trajectory_derivation_free(trajectory_derivation *d)
{
    if (d == NULL)
        return;
    trajectory_scope_clear(&d->scope);
    for (int i = 0; i < TRAJECTORY_BUFFERS; i++)
        collet_array_destroy(d->buffers[i]);
    collet_array_destroy(d->axis);
    collet_array_destroy(d->across);
    collet_array_destroy(d->singular);
    collet_array_destroy(d->info);
    collet_context_destroy(d->scope.context);
    free(d);
}

int64_t trajectory_derivation_singular(const trajectory_derivation *d)
{
    return d->n_singular;
}

const trajectory_scope *trajectory_derivation_scope(const trajectory_derivation *d)
{
    return &d->scope;
}

/* ---- Rows -------------------------------------------------------------------------------- */

/* Returns a view of the rows of frames first .. first + n - 1 of a buffer. */
static collet_array *rows(trajectory_derivation *d, int buffer, int64_t first, int64_t n)
{
    int64_t each = frame_rows(d, buffer);

    return trajectory_scope_rows(&d->scope, d->buffers[buffer], (lead(buffer) + first) * each,
                                 n * each);
}

/* Returns the same view with an axis of frames and, if there are several bodies, an axis of bodies. */
static collet_array *frames(trajectory_derivation *d, int buffer, int64_t first, int64_t n)
{
    collet_array *flat = rows(d, buffer, first, n);

    return d->setup.bodies == 1 ? flat : trajectory_scope_split(&d->scope, flat, n);
}

/* Returns the axes of the last frame of the block before; NULL: there is none. */
static collet_array *previous_axes(trajectory_derivation *d)
{
    collet_array *axes = d->held > 0 ? rows(d, TRAJECTORY_AXES, -1, 1) : NULL;

    return d->setup.bodies == 1 ? trajectory_scope_drop(&d->scope, axes, 0, 0) : axes;
}

/* Returns the axis of the smallest moment of each row, 3 numbers: the first column. */
static collet_array *long_axes(trajectory_derivation *d, int64_t first, int64_t n)
{
    return trajectory_scope_drop(&d->scope, rows(d, TRAJECTORY_AXES, first, n), 2, 0);
}

collet_status trajectory_derivation_take(trajectory_derivation *d, trajectory_scope *scope,
                                         collet_array *const buffers[TRAJECTORY_BUFFERS], int64_t n,
                                         collet_error *err)
{
    collet_status status = COLLET_OK;

    for (int i = 0; status == COLLET_OK && i < TRAJECTORY_BUFFERS; i++) {
        int64_t each = frame_rows(d, i);
        collet_array *from, *to;

        if (buffers[i] == NULL || d->buffers[i] == NULL)
            continue;
        from = trajectory_scope_rows(scope, buffers[i], 0, n * each);
        to = trajectory_scope_rows(scope, d->buffers[i], lead(i) * each, n * each);
        status = trajectory_scope_views(scope, err);
        if (status == COLLET_OK)
            status = trajectory_scope_ran(scope, collet_op_copy(scope->context, to, from), err);
    }
    trajectory_scope_clear(scope);
    if (status == COLLET_OK)
        d->n_frames = n;
    return status;
}

/* ---- Kernels ----------------------------------------------------------------------------- */

static collet_status ran(trajectory_derivation *d, collet_status status, collet_error *err)
{
    return trajectory_scope_ran(&d->scope, status, err);
}

/* Computes the requested parts of a vector in n frames, and their lengths. */
static collet_status take_apart(trajectory_derivation *d, int vector, int64_t first, int64_t n,
                                collet_error *err)
{
    collet_context *cx = d->scope.context;
    collet_array *parts[TRAJECTORY_PARTS], *axes, *across;
    collet_status status;

    if (d->buffers[TRAJECTORY_BUFFER_OF(vector, TRAJECTORY_PARALLEL)] == NULL)
        return COLLET_OK;
    axes = long_axes(d, first, n);
    across = trajectory_scope_rows(&d->scope, d->across, 0, n * d->setup.bodies);
    for (int i = 0; i < TRAJECTORY_PARTS; i++)
        parts[i] = rows(d, TRAJECTORY_BUFFER_OF(vector, i), first, n);
    status = trajectory_scope_views(&d->scope, err);
    if (status == COLLET_OK)
        status = ran(d,
                     collet_op_decompose(cx, parts[TRAJECTORY_PARALLEL], parts[TRAJECTORY_PERP],
                                         parts[TRAJECTORY_VECTOR], axes),
                     err);
    if (status == COLLET_OK)
        status = ran(
            d,
            collet_op_decompose(cx, parts[TRAJECTORY_Z], across, parts[TRAJECTORY_VECTOR], d->axis),
            err);
    for (int i = 0; status == COLLET_OK && i <= TRAJECTORY_Z; i++)
        status = ran(d, collet_op_magnitude(cx, parts[TRAJECTORY_MAG + i], parts[i]), err);
    trajectory_scope_clear(&d->scope);
    return status;
}

static collet_status orient(trajectory_derivation *d, int64_t n, collet_error *err)
{
    collet_context *cx = d->scope.context;
    collet_array *axes, *euler, *tilt, *inertia, *moments, *split, *previous;
    collet_status status;

    if (d->buffers[TRAJECTORY_AXES] == NULL)
        return COLLET_OK;
    axes = rows(d, TRAJECTORY_AXES, 0, n);
    euler = rows(d, TRAJECTORY_EULER, 0, n);
    tilt = rows(d, TRAJECTORY_TILT, 0, n);
    inertia = frames(d, TRAJECTORY_INERTIA, 0, n);
    moments = frames(d, TRAJECTORY_MOMENTS, 0, n);
    split = frames(d, TRAJECTORY_AXES, 0, n);
    previous = previous_axes(d);
    status = trajectory_scope_views(&d->scope, err);
    if (status == COLLET_OK)
        status = ran(d, collet_op_principal_axes(cx, moments, split, inertia, previous), err);
    if (status == COLLET_OK && euler != NULL)
        status = ran(d, collet_op_euler_zyz(cx, euler, axes), err);
    if (status == COLLET_OK && tilt != NULL)
        status = ran(d, collet_op_tilt(cx, tilt, axes, d->axis), err);
    trajectory_scope_clear(&d->scope);
    return status;
}

static collet_status count_singular(trajectory_derivation *d, int64_t n, collet_error *err)
{
    collet_context *cx = d->scope.context;
    void *address;
    collet_status status = collet_array_acquire(cx, d->singular, &address, COLLET_READ);

    if (status != COLLET_OK)
        return trajectory_scope_check(&d->scope, status, err);
    for (int64_t i = 0; i < n * d->setup.bodies; i++)
        d->n_singular += ((const int32_t *)address)[i] != 0;
    return trajectory_scope_check(&d->scope, collet_array_release(cx, d->singular), err);
}

static collet_status rotate(trajectory_derivation *d, int64_t n, collet_error *err)
{
    int omega_buffer = TRAJECTORY_BUFFER_OF(TRAJECTORY_OMEGA, TRAJECTORY_VECTOR);
    collet_array *inertia, *momentum, *omega, *singular;
    collet_status status;

    if (d->buffers[omega_buffer] == NULL)
        return COLLET_OK;
    inertia = rows(d, TRAJECTORY_INERTIA, 0, n);
    momentum = rows(d, TRAJECTORY_BUFFER_OF(TRAJECTORY_L, TRAJECTORY_VECTOR), 0, n);
    omega = rows(d, omega_buffer, 0, n);
    singular = trajectory_scope_rows(&d->scope, d->singular, 0, n * d->setup.bodies);
    status = trajectory_scope_views(&d->scope, err);
    if (status == COLLET_OK)
        status =
            ran(d, collet_op_angular_velocity(d->scope.context, omega, singular, inertia, momentum),
                err);
    trajectory_scope_clear(&d->scope);
    return status == COLLET_OK ? count_singular(d, n, err) : status;
}

/* Computes dL/dt of all frames, including carried frames. A value is correct if both neighbours of its frame are in the
 * buffer, or if the frame is the first or last of the trajectory. */
static collet_status differentiate(trajectory_derivation *d, int64_t n, collet_error *err)
{
    int64_t first = -d->held;
    collet_array *momentum =
        frames(d, TRAJECTORY_BUFFER_OF(TRAJECTORY_L, TRAJECTORY_VECTOR), first, d->held + n);
    collet_array *times = rows(d, TRAJECTORY_TIME, first, d->held + n);
    collet_array *derivative =
        frames(d, TRAJECTORY_BUFFER_OF(TRAJECTORY_DLDT, TRAJECTORY_VECTOR), first, d->held + n);
    collet_status status = trajectory_scope_views(&d->scope, err);

    if (status == COLLET_OK)
        status = ran(
            d, collet_op_time_derivative(d->scope.context, derivative, d->info, momentum, times),
            err);
    trajectory_scope_clear(&d->scope);
    return status;
}

/* ---- A block ----------------------------------------------------------------------------- */

static collet_status emit(trajectory_derivation *d, int buffer, int64_t first, int64_t n,
                          collet_error *err)
{
    collet_context *cx = d->scope.context;
    int64_t width = frame_rows(d, buffer) * trajectory_buffer_width(buffer);
    void *address;
    collet_status status, released;

    if (d->buffers[buffer] == NULL || n == 0)
        return COLLET_OK;
    status = collet_array_acquire(cx, d->buffers[buffer], &address, COLLET_READ);
    if (status != COLLET_OK)
        return trajectory_scope_check(&d->scope, status, err);
    status = d->setup.emit(d->setup.user, buffer, n,
                           (const double *)address + (lead(buffer) + first) * width, err);
    released = collet_array_release(cx, d->buffers[buffer]);
    return status != COLLET_OK ? status : trajectory_scope_check(&d->scope, released, err);
}

static collet_status run_frames(trajectory_derivation *d, int64_t n, collet_error *err)
{
    collet_status status = orient(d, n, err);

    if (status == COLLET_OK)
        status = rotate(d, n, err);
    for (int v = 0; status == COLLET_OK && v < TRAJECTORY_DLDT; v++)
        status = take_apart(d, v, 0, n, err);
    for (int i = 0; status == COLLET_OK && i < TRAJECTORY_BUFFER_OF(TRAJECTORY_DLDT, 0); i++)
        status = emit(d, i, 0, n, err);
    return status;
}

/* Emits the pending rows of dL/dt: all except the rows of the last frame, whose next neighbour is missing. With
 * `last`, also emits the rows of the last frame. */
static collet_status run_derivative(trajectory_derivation *d, int64_t n, int last,
                                    collet_error *err)
{
    int64_t first = d->held > 0 ? -1 : 0;
    int64_t count = n - first - (last ? 0 : 1);
    collet_status status;

    if (d->held + n == 0)
        return COLLET_OK;
    status = differentiate(d, n, err);
    if (status == COLLET_OK && count > 0)
        status = take_apart(d, TRAJECTORY_DLDT, first, count, err);
    for (int i = 0; status == COLLET_OK && i < TRAJECTORY_PARTS; i++)
        status = emit(d, TRAJECTORY_BUFFER_OF(TRAJECTORY_DLDT, i), first, count, err);
    return status;
}

/* Moves the block's last frames in front of the next block. */
static collet_status carry(trajectory_derivation *d, int64_t n, collet_error *err)
{
    static const int carried[] = {TRAJECTORY_TIME, TRAJECTORY_AXES,
                                  TRAJECTORY_BUFFER_OF(TRAJECTORY_L, TRAJECTORY_VECTOR)};
    int64_t held = d->held + n < CARRY ? d->held + n : CARRY;
    collet_status status = COLLET_OK;

    for (size_t i = 0; status == COLLET_OK && i < sizeof carried / sizeof *carried; i++) {
        collet_array *array = d->buffers[carried[i]];
        size_t width = (size_t)(frame_rows(d, carried[i]) * trajectory_buffer_width(carried[i])) *
                       sizeof(double);
        int64_t ahead = lead(carried[i]), moved = held < ahead ? held : ahead;
        void *address;

        if (array == NULL)
            continue;
        status =
            collet_array_acquire(d->scope.context, array, &address, COLLET_READ | COLLET_WRITE);
        if (status == COLLET_OK) {
            memmove((char *)address + (size_t)(ahead - moved) * width,
                    (char *)address + (size_t)(ahead + n - moved) * width, (size_t)moved * width);
            status = collet_array_release(d->scope.context, array);
        }
    }
    d->held = held;
    d->n_frames = 0;
    return trajectory_scope_check(&d->scope, status, err);
}

collet_status trajectory_derivation_run(trajectory_derivation *d, int last, collet_error *err)
{
    int64_t n = d->n_frames;
    collet_status status = n > 0 ? run_frames(d, n, err) : COLLET_OK;

    if (status == COLLET_OK &&
        d->buffers[TRAJECTORY_BUFFER_OF(TRAJECTORY_DLDT, TRAJECTORY_VECTOR)] != NULL)
        status = run_derivative(d, n, last, err);
    return status == COLLET_OK ? carry(d, n, err) : status;
}

/* Keeps a new view until trajectory_scope_clear frees it; on an error keeps the status instead. */
static collet_array *keep(trajectory_scope *scope, collet_status status, collet_array *const *view)
{
    if (status != COLLET_OK) {
        scope->view_status = status;
        return NULL;
    }
    scope->views[scope->n_views++] = *view;
    return *view;
}

collet_array *trajectory_scope_rows(trajectory_scope *scope, const collet_array *array,
                                    int64_t first, int64_t n)
{
    collet_array *view = NULL;

    if (array == NULL || scope->view_status != COLLET_OK)
        return NULL;
    return keep(scope, collet_array_slice(scope->context, array, &view, 0, first, n, 1), &view);
}

collet_array *trajectory_scope_split(trajectory_scope *scope, collet_array *array, int64_t n)
{
    collet_array *view = NULL;
    int64_t shape[COLLET_MAX_DIMS] = {n};
    int32_t ndim;

    if (array == NULL || scope->view_status != COLLET_OK)
        return NULL;
    ndim = collet_array_ndim(array);
    shape[1] = collet_array_shape(array)[0] / n;
    for (int32_t i = 1; i < ndim; i++)
        shape[i + 1] = collet_array_shape(array)[i];
    return keep(scope, collet_array_reshape(scope->context, array, &view, ndim + 1, shape), &view);
}

collet_array *trajectory_scope_drop(trajectory_scope *scope, const collet_array *array,
                                    int32_t axis, int64_t index)
{
    collet_array *one = NULL, *view = NULL;
    int64_t shape[COLLET_MAX_DIMS];
    int32_t ndim = 0;

    if (array == NULL || scope->view_status != COLLET_OK)
        return NULL;
    if (keep(scope, collet_array_slice(scope->context, array, &one, axis, index, 1, 1), &one) ==
        NULL)
        return NULL;
    for (int32_t i = 0; i < collet_array_ndim(array); i++)
        if (i != axis)
            shape[ndim++] = collet_array_shape(array)[i];
    return keep(scope, collet_array_reshape(scope->context, one, &view, ndim, shape), &view);
}

collet_status trajectory_scope_views(const trajectory_scope *scope, collet_error *err)
{
    return trajectory_scope_check(scope, scope->view_status, err);
}

void trajectory_scope_clear(trajectory_scope *scope)
{
    while (scope->n_views > 0)
        collet_array_destroy(scope->views[--scope->n_views]);
    scope->view_status = COLLET_OK;
}

collet_status trajectory_scope_check(const trajectory_scope *scope, collet_status status,
                                     collet_error *err)
{
    if (status == COLLET_OK)
        return COLLET_OK;
    return collet_fail(err, status, "%s", collet_last_error(scope->context));
}

collet_status trajectory_scope_ran(trajectory_scope *scope, collet_status status, collet_error *err)
{
    const char *name = collet_last_backend(scope->context);

    if (status != COLLET_OK)
        return trajectory_scope_check(scope, status, err);
    for (int32_t i = 0; i < scope->n_backends; i++)
        if (strcmp(scope->backends[i], name) == 0)
            return COLLET_OK;
    if (scope->n_backends < TRAJECTORY_MAX_BACKENDS)
        strncpy(scope->backends[scope->n_backends++], name, TRAJECTORY_BACKEND_NAME - 1);
    return COLLET_OK;
}
