/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis.h"

#include <stdlib.h>
#include <string.h>

/* Rows in front of a block that hold its predecessor's last frames: a central difference at the
 * last of them looks one back and one ahead. */
#define CARRY 2

#define MAX_VIEWS 32

struct extract_analysis {
    collet_context *context;
    extract_analysis_setup setup; /* its pointers are not used after creation */
    collet_array *masses;
    collet_array *axis;      /* 3 */
    collet_array *reference; /* n_atoms x 3; made of the first frame if not given */
    collet_array *buffers[EXTRACT_BUFFERS]; /* (CARRY + block_frames) rows; NULL = not computed */
    collet_array *across;          /* what is left of a vector beside its part along --axis */
    collet_array *rotation;        /* of the superposition */
    collet_array *singular;        /* i32, a row a frame */
    collet_array *equal_times;     /* i32, no axes */
    int64_t n_rows;                /* frames in the block */
    int64_t held;                  /* carried rows, 0..CARRY */
    collet_array *views[MAX_VIEWS]; /* alive during one step */
    int n_views;
    collet_status view_status;
    extract_analysis_notes notes;
};

/* ---- Errors, views ----------------------------------------------------------------------- */

static collet_status failed(const extract_analysis *a, collet_status status, collet_error *err)
{
    return collet_fail(err, status, "%s", collet_last_error(a->context));
}

/* The status of a kernel that was just called; remembers where it ran. */
static collet_status ran(extract_analysis *a, collet_status status, collet_error *err)
{
    extract_analysis_notes *notes = &a->notes;
    const char *name = collet_last_backend(a->context);

    if (status != COLLET_OK)
        return failed(a, status, err);
    for (int32_t i = 0; i < notes->n_backends; i++)
        if (strcmp(notes->backends[i], name) == 0)
            return COLLET_OK;
    if (notes->n_backends < EXTRACT_MAX_BACKENDS)
        strncpy(notes->backends[notes->n_backends++], name, COLLET_MAX_NAME - 1);
    return COLLET_OK;
}

/* Keeps a view until views_free. A view that could not be made is NULL, which a kernel would take
 * for an operand left out: view_status is looked at before any kernel is called. */
static collet_array *keep(extract_analysis *a, collet_status status, collet_array *const *view)
{
    if (status != COLLET_OK) {
        a->view_status = status;
        return NULL;
    }
    a->views[a->n_views++] = *view;
    return *view;
}

static void views_free(extract_analysis *a)
{
    while (a->n_views > 0)
        collet_array_free(a->views[--a->n_views]);
    a->view_status = COLLET_OK;
}

/* Rows first .. first + n of an array; NULL for an array that there is not. */
static collet_array *slice(extract_analysis *a, const collet_array *array, int64_t first, int64_t n)
{
    collet_array *view = NULL;

    if (array == NULL || a->view_status != COLLET_OK)
        return NULL;
    return keep(a, collet_array_slice(a->context, &view, array, 0, first, n, 1), &view);
}

static collet_array *rows(extract_analysis *a, int buffer, int64_t first, int64_t n)
{
    return slice(a, a->buffers[buffer], first, n);
}

/* Row `row` of the axes as a matrix. */
static collet_array *axes_of(extract_analysis *a, int64_t row)
{
    collet_array *view = NULL, *one = rows(a, EXTRACT_AXES, row, 1);

    if (one == NULL)
        return NULL;
    return keep(a, collet_array_reshape(a->context, &view, one, 2, (int64_t[]){3, 3}), &view);
}

/* The axes of the smallest moment, n x 3: the first columns. */
static collet_array *long_axes(extract_analysis *a, int64_t first, int64_t n)
{
    collet_array *column = NULL, *view = NULL, *axes = rows(a, EXTRACT_AXES, first, n);

    if (axes == NULL)
        return NULL;
    column = keep(a, collet_array_slice(a->context, &column, axes, 2, 0, 1, 1), &column);
    if (column == NULL)
        return NULL;
    return keep(a, collet_array_reshape(a->context, &view, column, 2, (int64_t[]){n, 3}), &view);
}

/* ---- Creation ---------------------------------------------------------------------------- */

static collet_status create_buffers(extract_analysis *a, collet_error *err)
{
    int64_t n = CARRY + a->setup.block_frames;
    collet_status status = COLLET_OK;

    for (int32_t i = 0; status == COLLET_OK && i < EXTRACT_BUFFERS; i++) {
        int64_t width = extract_buffer_width(i);
        int64_t shape[3] = {n, width == 9 ? 3 : width, 3};

        if ((extract_buffer_needs(i) & ~a->setup.has) == 0)
            status = collet_array_create(a->context, &a->buffers[i], COLLET_F64,
                                         width == 1 ? 1 : width == 3 ? 2 : 3, shape);
    }
    if (status == COLLET_OK)
        status = collet_array_create(a->context, &a->across, COLLET_F64, 2, (int64_t[]){n, 3});
    if (status == COLLET_OK)
        status = collet_array_create(a->context, &a->rotation, COLLET_F64, 3, (int64_t[]){n, 3, 3});
    if (status == COLLET_OK)
        status = collet_array_create(a->context, &a->singular, COLLET_I32, 1, &n);
    if (status == COLLET_OK)
        status = collet_array_create(a->context, &a->equal_times, COLLET_I32, 0, NULL);
    return status == COLLET_OK ? COLLET_OK : failed(a, status, err);
}

static collet_status create_inputs(extract_analysis *a, collet_error *err)
{
    const extract_analysis_setup *setup = &a->setup;
    int64_t shape[2] = {setup->n_atoms, 3};
    collet_status status;

    status = collet_array_from(a->context, &a->masses, COLLET_F64, 1, shape, setup->masses);
    if (status == COLLET_OK)
        status =
            collet_array_from(a->context, &a->axis, COLLET_F64, 1, (int64_t[]){3}, setup->axis);
    if (status == COLLET_OK && setup->reference != NULL)
        status = collet_array_from(a->context, &a->reference, COLLET_F64, 2, shape,
                                   setup->reference);
    return status == COLLET_OK ? COLLET_OK : failed(a, status, err);
}

collet_status extract_analysis_create(collet_context *context, const extract_analysis_setup *setup,
                                      extract_analysis **out, collet_error *err)
{
    extract_analysis *a = calloc(1, sizeof *a);
    collet_status status;

    *out = NULL;
    if (a == NULL)
        return collet_fail(err, COLLET_NO_MEMORY, "analysis: out of memory");
    a->context = context;
    a->setup = *setup;
    status = create_inputs(a, err);
    if (status == COLLET_OK)
        status = create_buffers(a, err);
    if (status != COLLET_OK) {
        extract_analysis_free(a);
        return status;
    }
    *out = a;
    return COLLET_OK;
}

void extract_analysis_free(extract_analysis *a)
{
    if (a == NULL)
        return;
    views_free(a);
    for (int i = 0; i < EXTRACT_BUFFERS; i++)
        collet_array_free(a->buffers[i]);
    collet_array_free(a->masses);
    collet_array_free(a->axis);
    collet_array_free(a->reference);
    collet_array_free(a->across);
    collet_array_free(a->rotation);
    collet_array_free(a->singular);
    collet_array_free(a->equal_times);
    free(a);
}

const extract_analysis_notes *extract_analysis_get_notes(const extract_analysis *analysis)
{
    return &analysis->notes;
}

/* ---- A batch ----------------------------------------------------------------------------- */

static collet_status take_reference(extract_analysis *a, const extract_batch *batch,
                                    collet_error *err)
{
    int64_t shape[2] = {a->setup.n_atoms, 3};
    collet_array *first = slice(a, batch->positions, 0, 1), *frame = NULL;
    collet_status status;

    if (first == NULL)
        return failed(a, a->view_status, err);
    frame = keep(a, collet_array_reshape(a->context, &frame, first, 2, shape), &frame);
    if (frame == NULL)
        return failed(a, a->view_status, err);
    status = collet_array_create(a->context, &a->reference, COLLET_F64, 2, shape);
    if (status != COLLET_OK)
        return failed(a, status, err);
    return ran(a, collet_copy(a->context, a->reference, frame), err);
}

static collet_status write_times(extract_analysis *a, const collet_frames *frames, int64_t at,
                                 collet_error *err)
{
    collet_array *times = rows(a, EXTRACT_TIME, at, frames->n_frames);
    collet_status status;

    if (times == NULL)
        return failed(a, a->view_status, err);
    status = collet_array_write(a->context, times, frames->times,
                                (size_t)frames->n_frames * sizeof *frames->times);
    return status == COLLET_OK ? COLLET_OK : failed(a, status, err);
}

/* The kernels that read all atoms, into rows at .. at + n of the block. */
static collet_status reduce_batch(extract_analysis *a, const extract_batch *batch, int64_t at,
                                  collet_error *err)
{
    int64_t n = batch->frames->n_frames;
    collet_array *com = rows(a, EXTRACT_COM, at, n);
    collet_array *inertia = rows(a, EXTRACT_INERTIA, at, n);
    collet_array *momentum = rows(a, EXTRACT_BUFFER_OF(EXTRACT_L, EXTRACT_VECTOR), at, n);
    collet_array *torque = rows(a, EXTRACT_BUFFER_OF(EXTRACT_TAU, EXTRACT_VECTOR), at, n);
    collet_array *kinetic = rows(a, EXTRACT_KINETIC, at, n);
    collet_array *radius = rows(a, EXTRACT_RADIUS, at, n);
    collet_array *tensor = rows(a, EXTRACT_GYRATION, at, n);
    collet_array *asphericity = rows(a, EXTRACT_ASPHERICITY, at, n);
    collet_array *rmsd = rows(a, EXTRACT_RMSD, at, n);
    collet_array *rotation = slice(a, a->rotation, at, n);
    collet_status status;

    if (a->view_status != COLLET_OK)
        return failed(a, a->view_status, err);
    status = ran(a,
                 collet_observables(a->context, com, inertia, momentum, torque, kinetic,
                                    batch->positions, a->masses, batch->velocities,
                                    batch->forces),
                 err);
    if (status == COLLET_OK)
        status = ran(a,
                     collet_gyration(a->context, radius, tensor, asphericity, batch->positions,
                                     a->masses),
                     err);
    if (status == COLLET_OK)
        status = ran(a,
                     collet_rmsd(a->context, rmsd, rotation, batch->positions, a->masses,
                                 a->reference),
                     err);
    return status;
}

/* ---- A block ----------------------------------------------------------------------------- */

/* The parts of rows first .. first + n of a vector, and their lengths. */
static collet_status take_apart(extract_analysis *a, int vector, int64_t first, int64_t n,
                                collet_error *err)
{
    collet_array *parts[EXTRACT_PARTS], *across = slice(a, a->across, first, n);
    collet_array *axes = long_axes(a, first, n);
    collet_status status;

    for (int i = 0; i < EXTRACT_PARTS; i++)
        parts[i] = rows(a, EXTRACT_BUFFER_OF(vector, i), first, n);
    if (a->view_status != COLLET_OK)
        return failed(a, a->view_status, err);
    status = ran(a,
                 collet_decompose(a->context, parts[EXTRACT_PARALLEL], parts[EXTRACT_PERP],
                                  parts[EXTRACT_VECTOR], axes),
                 err);
    if (status == COLLET_OK)
        status = ran(a,
                     collet_decompose(a->context, parts[EXTRACT_Z], across, parts[EXTRACT_VECTOR],
                                      a->axis),
                     err);
    for (int i = 0; status == COLLET_OK && i <= EXTRACT_Z; i++)
        status = ran(a, collet_magnitude(a->context, parts[EXTRACT_MAG + i], parts[i]), err);
    return status;
}

/* What follows from the axes of the block's own frames. */
static collet_status orient(extract_analysis *a, int64_t n, collet_error *err)
{
    collet_array *inertia = rows(a, EXTRACT_INERTIA, CARRY, n);
    collet_array *moments = rows(a, EXTRACT_MOMENTS, CARRY, n);
    collet_array *axes = rows(a, EXTRACT_AXES, CARRY, n);
    collet_array *euler = rows(a, EXTRACT_EULER, CARRY, n);
    collet_array *tilt = rows(a, EXTRACT_TILT, CARRY, n);
    collet_array *previous = a->held > 0 ? axes_of(a, CARRY - 1) : NULL;
    collet_status status;

    if (a->view_status != COLLET_OK)
        return failed(a, a->view_status, err);
    status = ran(a, collet_principal_axes(a->context, moments, axes, inertia, previous), err);
    if (status == COLLET_OK)
        status = ran(a, collet_euler_zyz(a->context, euler, axes), err);
    if (status == COLLET_OK)
        status = ran(a, collet_tilt(a->context, tilt, axes, a->axis), err);
    return status;
}

static collet_status rotate(extract_analysis *a, int64_t n, collet_error *err)
{
    collet_array *inertia = rows(a, EXTRACT_INERTIA, CARRY, n);
    collet_array *momentum = rows(a, EXTRACT_BUFFER_OF(EXTRACT_L, EXTRACT_VECTOR), CARRY, n);
    collet_array *omega = rows(a, EXTRACT_BUFFER_OF(EXTRACT_OMEGA, EXTRACT_VECTOR), CARRY, n);
    collet_array *singular = slice(a, a->singular, CARRY, n);
    collet_status status;
    void *address;

    if (a->view_status != COLLET_OK)
        return failed(a, a->view_status, err);
    status = ran(a, collet_angular_velocity(a->context, omega, singular, inertia, momentum), err);
    if (status != COLLET_OK)
        return status;
    status = collet_array_acquire(a->context, singular, COLLET_READ, &address);
    if (status != COLLET_OK)
        return failed(a, status, err);
    for (int64_t i = 0; i < n; i++)
        a->notes.singular_frames += ((const int32_t *)address)[i] != 0;
    status = collet_array_release(a->context, singular);
    return status == COLLET_OK ? COLLET_OK : failed(a, status, err);
}

/* dL/dt of all frames here, carried ones included; only those that have both neighbours, or are an
 * end of the trajectory, come out right. */
static collet_status differentiate(extract_analysis *a, int64_t first, int64_t n, collet_error *err)
{
    collet_array *momentum = rows(a, EXTRACT_BUFFER_OF(EXTRACT_L, EXTRACT_VECTOR), first, n);
    collet_array *times = rows(a, EXTRACT_TIME, first, n);
    collet_array *derivative = rows(a, EXTRACT_BUFFER_OF(EXTRACT_DLDT, EXTRACT_VECTOR), first, n);

    if (a->view_status != COLLET_OK)
        return failed(a, a->view_status, err);
    return ran(a,
               collet_time_derivative(a->context, derivative, a->equal_times, momentum, times),
               err);
}

static collet_status emit(extract_analysis *a, int buffer, int64_t first, int64_t n,
                          collet_error *err)
{
    void *address;
    collet_status status, released;

    if (a->buffers[buffer] == NULL || n == 0)
        return COLLET_OK;
    status = collet_array_acquire(a->context, a->buffers[buffer], COLLET_READ, &address);
    if (status != COLLET_OK)
        return failed(a, status, err);
    status = a->setup.emit(a->setup.user, buffer, n,
                           (const double *)address + first * extract_buffer_width(buffer), err);
    released = collet_array_release(a->context, a->buffers[buffer]);
    return status != COLLET_OK || released == COLLET_OK ? status : failed(a, released, err);
}

/* The pending rows of dL/dt: all but the last frame, whose next neighbour is not known yet. */
static collet_status finish_derivative(extract_analysis *a, int64_t n, int last, collet_error *err)
{
    int64_t first = a->held > 0 ? CARRY - 1 : CARRY;
    int64_t count = CARRY + n - first - (last ? 0 : 1);
    collet_status status;

    if (a->held + n == 0)
        return COLLET_OK;
    status = differentiate(a, CARRY - a->held, a->held + n, err);
    if (status == COLLET_OK && count > 0)
        status = take_apart(a, EXTRACT_DLDT, first, count, err);
    for (int i = 0; status == COLLET_OK && i < EXTRACT_PARTS; i++)
        status = emit(a, EXTRACT_BUFFER_OF(EXTRACT_DLDT, i), first, count, err);
    return status;
}

/* Moves the block's last rows in front of the next one. */
static collet_status carry(extract_analysis *a, int64_t n, collet_error *err)
{
    static const int carried[] = {EXTRACT_TIME, EXTRACT_AXES,
                                  EXTRACT_BUFFER_OF(EXTRACT_L, EXTRACT_VECTOR)};
    int64_t held = a->held + n < CARRY ? a->held + n : CARRY;

    for (size_t i = 0; i < sizeof carried / sizeof *carried; i++) {
        collet_array *array = a->buffers[carried[i]];
        size_t width = (size_t)extract_buffer_width(carried[i]) * sizeof(double);
        collet_status status;
        void *address;

        if (array == NULL)
            continue;
        status = collet_array_acquire(a->context, array, COLLET_READ | COLLET_WRITE, &address);
        if (status != COLLET_OK)
            return failed(a, status, err);
        memmove((char *)address + (size_t)(CARRY - held) * width,
                (char *)address + (size_t)(CARRY + n - held) * width, (size_t)held * width);
        status = collet_array_release(a->context, array);
        if (status != COLLET_OK)
            return failed(a, status, err);
    }
    a->held = held;
    a->n_rows = 0;
    return COLLET_OK;
}

static collet_status compute_block(extract_analysis *a, int64_t n, collet_error *err)
{
    collet_status status = orient(a, n, err);

    if (status == COLLET_OK && (a->setup.has & EXTRACT_VELOCITIES))
        status = rotate(a, n, err);
    for (int v = 0; status == COLLET_OK && v < EXTRACT_DLDT; v++) {
        views_free(a);
        if (a->buffers[EXTRACT_BUFFER_OF(v, EXTRACT_VECTOR)] != NULL)
            status = take_apart(a, v, CARRY, n, err);
    }
    for (int i = 0; status == COLLET_OK && i < EXTRACT_BUFFER_OF(EXTRACT_DLDT, 0); i++)
        status = emit(a, i, CARRY, n, err);
    return status;
}

static collet_status finish_block(extract_analysis *a, int last, collet_error *err)
{
    int64_t n = a->n_rows;
    collet_status status = COLLET_OK;

    views_free(a);
    if (n > 0)
        status = compute_block(a, n, err);
    views_free(a);
    if (status == COLLET_OK && (a->setup.has & EXTRACT_VELOCITIES))
        status = finish_derivative(a, n, last, err);
    views_free(a);
    return status == COLLET_OK ? carry(a, n, err) : status;
}

collet_status extract_analysis_add(extract_analysis *a, const extract_batch *batch,
                                   collet_error *err)
{
    int64_t n = batch->frames->n_frames;
    collet_status status = COLLET_OK;

    if (a->n_rows + n > a->setup.block_frames)
        status = finish_block(a, 0, err);
    if (status == COLLET_OK && a->reference == NULL)
        status = take_reference(a, batch, err);
    if (status == COLLET_OK)
        status = write_times(a, batch->frames, CARRY + a->n_rows, err);
    if (status == COLLET_OK)
        status = reduce_batch(a, batch, CARRY + a->n_rows, err);
    views_free(a);
    if (status == COLLET_OK)
        a->n_rows += n;
    return status;
}

collet_status extract_analysis_finish(extract_analysis *a, collet_error *err)
{
    return finish_block(a, 1, err);
}
