/* SPDX-License-Identifier: Apache-2.0 */
#include <collet/ops/array.h>
#include <collet/ops/md.h>

#include "derivation.h"

#include <stdlib.h>
#include <string.h>

/* Rows in front of a block that hold the last frames of the block before it: their central
 * differences need both neighbours. */
#define CARRY 2

struct extract_derivation {
    extract_scope scope;
    int64_t block_frames;
    uint32_t has;
    extract_emit_fn emit;
    void *user;
    collet_array *axis;                     /* 3 */
    collet_array *buffers[EXTRACT_BUFFERS]; /* (CARRY + block_frames) rows; NULL = not computed */
    collet_array *across;                   /* the part of a vector perpendicular to the axis */
    collet_array *singular;                 /* i32, a row a frame */
    collet_array *info;                     /* i32, no axes */
    int64_t n_rows;                         /* frames taken and not run yet */
    int64_t held;                           /* carried rows, 0..CARRY */
    int64_t singular_frames;
};

/* ---- Creation ---------------------------------------------------------------------------- */

static collet_status create_arrays(extract_derivation *d, const double *axis, collet_error *err)
{
    collet_context *cx = d->scope.context;
    int64_t n = CARRY + d->block_frames;
    collet_status status = collet_array_from(cx, &d->axis, COLLET_F64, 1, (int64_t[]){3}, axis);

    for (int32_t i = 0; status == COLLET_OK && i < EXTRACT_BUFFERS; i++) {
        int64_t shape[3];

        if ((extract_buffer_needs(i) & ~d->has) == 0)
            status = collet_array_create(cx, &d->buffers[i], COLLET_F64,
                                         extract_buffer_shape(i, n, shape), shape);
    }
    if (status == COLLET_OK)
        status = collet_array_create(cx, &d->across, COLLET_F64, 2, (int64_t[]){n, 3});
    if (status == COLLET_OK)
        status = collet_array_create(cx, &d->singular, COLLET_I32, 1, &n);
    if (status == COLLET_OK)
        status = collet_array_create(cx, &d->info, COLLET_I32, 0, NULL);
    return extract_scope_check(&d->scope, status, err);
}

collet_status extract_derivation_create(collet_context *like, int64_t block_frames, uint32_t has,
                                        const double *axis, extract_emit_fn emit, void *user,
                                        extract_derivation **out, collet_error *err)
{
    extract_derivation *d = calloc(1, sizeof *d);
    collet_status status;

    *out = NULL;
    if (d == NULL)
        return collet_fail(err, COLLET_NO_MEMORY, "analysis: out of memory");
    d->block_frames = block_frames;
    d->has = has;
    d->emit = emit;
    d->user = user;
    status = collet_context_create(collet_context_runtime(like), &d->scope.context, err);
    if (status == COLLET_OK)
        status = extract_scope_check(
            &d->scope, collet_set_backend(d->scope.context, collet_get_backend(like)), err);
    if (status == COLLET_OK)
        status = create_arrays(d, axis, err);
    if (status != COLLET_OK) {
        extract_derivation_free(d);
        return status;
    }
    *out = d;
    return COLLET_OK;
}

void extract_derivation_free(extract_derivation *d)
{
    if (d == NULL)
        return;
    extract_scope_clear(&d->scope);
    for (int i = 0; i < EXTRACT_BUFFERS; i++)
        collet_array_destroy(d->buffers[i]);
    collet_array_destroy(d->axis);
    collet_array_destroy(d->across);
    collet_array_destroy(d->singular);
    collet_array_destroy(d->info);
    collet_context_destroy(d->scope.context);
    free(d);
}

int64_t extract_derivation_singular(const extract_derivation *d)
{
    return d->singular_frames;
}

const extract_scope *extract_derivation_scope(const extract_derivation *d)
{
    return &d->scope;
}

/* ---- Rows -------------------------------------------------------------------------------- */

static collet_array *rows(extract_derivation *d, int buffer, int64_t first, int64_t n)
{
    return extract_scope_rows(&d->scope, d->buffers[buffer], first, n);
}

/* The axes of the smallest moment, n x 3: the first columns. */
static collet_array *long_axes(extract_derivation *d, int64_t first, int64_t n)
{
    return extract_scope_drop(&d->scope, rows(d, EXTRACT_AXES, first, n), 2, 0);
}

collet_status extract_derivation_take(extract_derivation *d, extract_scope *scope,
                                      collet_array *const buffers[EXTRACT_BUFFERS], int64_t n,
                                      collet_error *err)
{
    collet_status status = COLLET_OK;

    for (int i = 0; status == COLLET_OK && i < EXTRACT_BUFFERS; i++) {
        collet_array *from, *to;

        if (buffers[i] == NULL)
            continue;
        from = extract_scope_rows(scope, buffers[i], 0, n);
        to = extract_scope_rows(scope, d->buffers[i], CARRY, n);
        status = extract_scope_views(scope, err);
        if (status == COLLET_OK)
            status = extract_scope_ran(scope, collet_op_copy(scope->context, to, from), err);
    }
    extract_scope_clear(scope);
    if (status == COLLET_OK)
        d->n_rows = n;
    return status;
}

/* ---- Kernels ----------------------------------------------------------------------------- */

static collet_status ran(extract_derivation *d, collet_status status, collet_error *err)
{
    return extract_scope_ran(&d->scope, status, err);
}

/* The parts of rows first .. first + n of a vector, and their lengths. */
static collet_status take_apart(extract_derivation *d, int vector, int64_t first, int64_t n,
                                collet_error *err)
{
    collet_context *cx = d->scope.context;
    collet_array *parts[EXTRACT_PARTS], *axes = long_axes(d, first, n);
    collet_array *across = extract_scope_rows(&d->scope, d->across, first, n);
    collet_status status;

    for (int i = 0; i < EXTRACT_PARTS; i++)
        parts[i] = rows(d, EXTRACT_BUFFER_OF(vector, i), first, n);
    status = extract_scope_views(&d->scope, err);
    if (status == COLLET_OK)
        status = ran(d,
                     collet_op_decompose(cx, parts[EXTRACT_PARALLEL], parts[EXTRACT_PERP],
                                         parts[EXTRACT_VECTOR], axes),
                     err);
    if (status == COLLET_OK)
        status = ran(
            d, collet_op_decompose(cx, parts[EXTRACT_Z], across, parts[EXTRACT_VECTOR], d->axis),
            err);
    for (int i = 0; status == COLLET_OK && i <= EXTRACT_Z; i++)
        status = ran(d, collet_op_magnitude(cx, parts[EXTRACT_MAG + i], parts[i]), err);
    extract_scope_clear(&d->scope);
    return status;
}

static collet_status orient(extract_derivation *d, int64_t n, collet_error *err)
{
    collet_context *cx = d->scope.context;
    collet_array *inertia = rows(d, EXTRACT_INERTIA, CARRY, n);
    collet_array *moments = rows(d, EXTRACT_MOMENTS, CARRY, n);
    collet_array *axes = rows(d, EXTRACT_AXES, CARRY, n);
    collet_array *euler = rows(d, EXTRACT_EULER, CARRY, n);
    collet_array *tilt = rows(d, EXTRACT_TILT, CARRY, n);
    collet_array *previous =
        d->held > 0 ? extract_scope_drop(&d->scope, d->buffers[EXTRACT_AXES], 0, CARRY - 1) : NULL;
    collet_status status = extract_scope_views(&d->scope, err);

    if (status == COLLET_OK)
        status = ran(d, collet_op_principal_axes(cx, moments, axes, inertia, previous), err);
    if (status == COLLET_OK)
        status = ran(d, collet_op_euler_zyz(cx, euler, axes), err);
    if (status == COLLET_OK)
        status = ran(d, collet_op_tilt(cx, tilt, axes, d->axis), err);
    extract_scope_clear(&d->scope);
    return status;
}

static collet_status count_singular(extract_derivation *d, int64_t n, collet_error *err)
{
    collet_context *cx = d->scope.context;
    void *address;
    collet_status status = collet_array_acquire(cx, d->singular, &address, COLLET_READ);

    if (status != COLLET_OK)
        return extract_scope_check(&d->scope, status, err);
    for (int64_t i = 0; i < n; i++)
        d->singular_frames += ((const int32_t *)address)[CARRY + i] != 0;
    return extract_scope_check(&d->scope, collet_array_release(cx, d->singular), err);
}

static collet_status rotate(extract_derivation *d, int64_t n, collet_error *err)
{
    collet_array *inertia = rows(d, EXTRACT_INERTIA, CARRY, n);
    collet_array *momentum = rows(d, EXTRACT_BUFFER_OF(EXTRACT_L, EXTRACT_VECTOR), CARRY, n);
    collet_array *omega = rows(d, EXTRACT_BUFFER_OF(EXTRACT_OMEGA, EXTRACT_VECTOR), CARRY, n);
    collet_array *singular = extract_scope_rows(&d->scope, d->singular, CARRY, n);
    collet_status status = extract_scope_views(&d->scope, err);

    if (status == COLLET_OK)
        status =
            ran(d, collet_op_angular_velocity(d->scope.context, omega, singular, inertia, momentum),
                err);
    extract_scope_clear(&d->scope);
    return status == COLLET_OK ? count_singular(d, n, err) : status;
}

/* dL/dt of all frames here, carried ones included; correct only for frames with both neighbours and
 * at the ends of the trajectory. */
static collet_status differentiate(extract_derivation *d, int64_t first, int64_t n,
                                   collet_error *err)
{
    collet_array *momentum = rows(d, EXTRACT_BUFFER_OF(EXTRACT_L, EXTRACT_VECTOR), first, n);
    collet_array *times = rows(d, EXTRACT_TIME, first, n);
    collet_array *derivative = rows(d, EXTRACT_BUFFER_OF(EXTRACT_DLDT, EXTRACT_VECTOR), first, n);
    collet_status status = extract_scope_views(&d->scope, err);

    if (status == COLLET_OK)
        status = ran(
            d, collet_op_time_derivative(d->scope.context, derivative, d->info, momentum, times),
            err);
    extract_scope_clear(&d->scope);
    return status;
}

/* ---- A block ----------------------------------------------------------------------------- */

static collet_status emit(extract_derivation *d, int buffer, int64_t first, int64_t n,
                          collet_error *err)
{
    collet_context *cx = d->scope.context;
    void *address;
    collet_status status, released;

    if (d->buffers[buffer] == NULL || n == 0)
        return COLLET_OK;
    status = collet_array_acquire(cx, d->buffers[buffer], &address, COLLET_READ);
    if (status != COLLET_OK)
        return extract_scope_check(&d->scope, status, err);
    status = d->emit(d->user, buffer, n,
                     (const double *)address + first * extract_buffer_width(buffer), err);
    released = collet_array_release(cx, d->buffers[buffer]);
    return status != COLLET_OK ? status : extract_scope_check(&d->scope, released, err);
}

static collet_status run_frames(extract_derivation *d, int64_t n, collet_error *err)
{
    collet_status status = orient(d, n, err);

    if (status == COLLET_OK && (d->has & EXTRACT_VELOCITIES))
        status = rotate(d, n, err);
    for (int v = 0; status == COLLET_OK && v < EXTRACT_DLDT; v++)
        if (d->buffers[EXTRACT_BUFFER_OF(v, EXTRACT_VECTOR)] != NULL)
            status = take_apart(d, v, CARRY, n, err);
    for (int i = 0; status == COLLET_OK && i < EXTRACT_BUFFER_OF(EXTRACT_DLDT, 0); i++)
        status = emit(d, i, CARRY, n, err);
    return status;
}

/* The pending rows of dL/dt: all but the last frame, whose next neighbour is still missing. */
static collet_status run_derivative(extract_derivation *d, int64_t n, int last, collet_error *err)
{
    int64_t first = d->held > 0 ? CARRY - 1 : CARRY;
    int64_t count = CARRY + n - first - (last ? 0 : 1);
    collet_status status;

    if (d->held + n == 0)
        return COLLET_OK;
    status = differentiate(d, CARRY - d->held, d->held + n, err);
    if (status == COLLET_OK && count > 0)
        status = take_apart(d, EXTRACT_DLDT, first, count, err);
    for (int i = 0; status == COLLET_OK && i < EXTRACT_PARTS; i++)
        status = emit(d, EXTRACT_BUFFER_OF(EXTRACT_DLDT, i), first, count, err);
    return status;
}

/* Moves the block's last rows in front of the next block. */
static collet_status carry(extract_derivation *d, int64_t n, collet_error *err)
{
    static const int carried[] = {EXTRACT_TIME, EXTRACT_AXES,
                                  EXTRACT_BUFFER_OF(EXTRACT_L, EXTRACT_VECTOR)};
    int64_t held = d->held + n < CARRY ? d->held + n : CARRY;
    collet_status status = COLLET_OK;

    for (size_t i = 0; status == COLLET_OK && i < sizeof carried / sizeof *carried; i++) {
        collet_array *array = d->buffers[carried[i]];
        size_t width = (size_t)extract_buffer_width(carried[i]) * sizeof(double);
        void *address;

        if (array == NULL)
            continue;
        status =
            collet_array_acquire(d->scope.context, array, &address, COLLET_READ | COLLET_WRITE);
        if (status == COLLET_OK) {
            memmove((char *)address + (size_t)(CARRY - held) * width,
                    (char *)address + (size_t)(CARRY + n - held) * width, (size_t)held * width);
            status = collet_array_release(d->scope.context, array);
        }
    }
    d->held = held;
    d->n_rows = 0;
    return extract_scope_check(&d->scope, status, err);
}

collet_status extract_derivation_run(extract_derivation *d, int last, collet_error *err)
{
    int64_t n = d->n_rows;
    collet_status status = n > 0 ? run_frames(d, n, err) : COLLET_OK;

    if (status == COLLET_OK && d->buffers[EXTRACT_BUFFER_OF(EXTRACT_DLDT, EXTRACT_VECTOR)] != NULL)
        status = run_derivative(d, n, last, err);
    return status == COLLET_OK ? carry(d, n, err) : status;
}
