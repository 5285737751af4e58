/* SPDX-License-Identifier: Apache-2.0 */
#include <collet/ops/array.h>
#include <collet/ops/md.h>

#include "analysis.h"

#include "worker.h"

#include <stdlib.h>
#include <string.h>

/* Buffers that are sums over atoms, and the times. */
static const int32_t primary[] = {
    EXTRACT_TIME,
    EXTRACT_COM,
    EXTRACT_INERTIA,
    EXTRACT_KINETIC,
    EXTRACT_RADIUS,
    EXTRACT_ASPHERICITY,
    EXTRACT_RMSD,
    EXTRACT_GYRATION,
    EXTRACT_BUFFER_OF(EXTRACT_L, EXTRACT_VECTOR),
    EXTRACT_BUFFER_OF(EXTRACT_TAU, EXTRACT_VECTOR),
};

struct extract_analysis {
    extract_scope scope;
    int64_t n_atoms;
    int64_t block_frames;
    collet_array *masses;
    collet_array *reference;                /* n_atoms x 3; by default the first frame */
    collet_array *rotation;                 /* of the superposition */
    collet_array *buffers[EXTRACT_BUFFERS]; /* the primary ones, block_frames rows */
    int64_t n_rows;                         /* frames in the block */
    extract_derivation *derivation;         /* the worker's while it is busy */
    extract_worker *worker;
    int last; /* the worker's block is the last one */
};

/* ---- Creation ---------------------------------------------------------------------------- */

static collet_status derive(void *user, collet_error *err)
{
    extract_analysis *a = user;

    return extract_derivation_run(a->derivation, a->last, err);
}

static collet_status create_arrays(extract_analysis *a, const extract_analysis_setup *setup,
                                   collet_error *err)
{
    collet_context *cx = a->scope.context;
    int64_t atoms[2] = {setup->n_atoms, 3}, matrices[3] = {setup->block_frames, 3, 3};
    collet_status status = collet_array_from(cx, &a->masses, COLLET_F64, 1, atoms, setup->masses);

    if (status == COLLET_OK && setup->reference != NULL)
        status = collet_array_from(cx, &a->reference, COLLET_F64, 2, atoms, setup->reference);
    if (status == COLLET_OK)
        status = collet_array_create(cx, &a->rotation, COLLET_F64, 3, matrices);
    for (size_t i = 0; status == COLLET_OK && i < sizeof primary / sizeof *primary; i++) {
        int64_t shape[3];

        if ((extract_buffer_needs(primary[i]) & ~setup->has) == 0)
            status = collet_array_create(
                cx, &a->buffers[primary[i]], COLLET_F64,
                extract_buffer_shape(primary[i], setup->block_frames, shape), shape);
    }
    return extract_scope_check(&a->scope, status, err);
}

collet_status extract_analysis_create(collet_context *context, const extract_analysis_setup *setup,
                                      extract_analysis **out, collet_error *err)
{
    extract_analysis *a = calloc(1, sizeof *a);
    collet_status status;

    *out = NULL;
    if (a == NULL)
        return collet_fail(err, COLLET_NO_MEMORY, "analysis: out of memory");
    a->scope.context = context;
    a->n_atoms = setup->n_atoms;
    a->block_frames = setup->block_frames;
    status = create_arrays(a, setup, err);
    if (status == COLLET_OK)
        status = extract_derivation_create(context, setup->block_frames, setup->has, setup->axis,
                                           setup->emit, setup->user, &a->derivation, err);
    if (status == COLLET_OK)
        status = extract_worker_start(derive, a, &a->worker, err);
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
    extract_worker_stop(a->worker);
    extract_derivation_free(a->derivation);
    extract_scope_clear(&a->scope);
    for (int i = 0; i < EXTRACT_BUFFERS; i++)
        collet_array_destroy(a->buffers[i]);
    collet_array_destroy(a->masses);
    collet_array_destroy(a->reference);
    collet_array_destroy(a->rotation);
    free(a);
}

/* ---- Notes ------------------------------------------------------------------------------- */

static void add_scope(extract_analysis_notes *notes, const extract_scope *scope)
{
    collet_counters c;

    memset(&c, 0, sizeof c);
    c.struct_size = sizeof c;
    (void)collet_context_counters(scope->context, &c); /* zeros where it fails */
    notes->counters.calls += c.calls;
    notes->counters.fallbacks += c.fallbacks;
    notes->counters.temporaries += c.temporaries;
    notes->counters.bytes_to_device += c.bytes_to_device;
    notes->counters.bytes_to_host += c.bytes_to_host;
    notes->counters.bytes_direct += c.bytes_direct;
    for (int32_t i = 0; i < scope->n_backends; i++) {
        int32_t k = 0;

        while (k < notes->n_backends && strcmp(notes->backends[k], scope->backends[i]) != 0)
            k++;
        if (k == notes->n_backends && k < EXTRACT_MAX_BACKENDS)
            memcpy(notes->backends[notes->n_backends++], scope->backends[i], EXTRACT_BACKEND_NAME);
    }
}

void extract_analysis_get_notes(const extract_analysis *a, extract_analysis_notes *notes)
{
    memset(notes, 0, sizeof *notes);
    notes->singular_frames = extract_derivation_singular(a->derivation);
    add_scope(notes, &a->scope);
    add_scope(notes, extract_derivation_scope(a->derivation));
}

/* ---- A batch ----------------------------------------------------------------------------- */

static collet_status take_reference(extract_analysis *a, const extract_batch *batch,
                                    collet_error *err)
{
    collet_array *frame = extract_scope_drop(&a->scope, batch->positions, 0, 0);
    int64_t shape[2] = {a->n_atoms, 3};
    collet_status status = extract_scope_views(&a->scope, err);

    if (status != COLLET_OK)
        return status;
    status = collet_array_create(a->scope.context, &a->reference, COLLET_F64, 2, shape);
    if (status != COLLET_OK)
        return extract_scope_check(&a->scope, status, err);
    return extract_scope_ran(&a->scope, collet_op_copy(a->scope.context, a->reference, frame), err);
}

/* The block's next n rows of a buffer. */
static collet_array *next_rows(extract_analysis *a, int buffer, int64_t n)
{
    return extract_scope_rows(&a->scope, a->buffers[buffer], a->n_rows, n);
}

static collet_status write_times(extract_analysis *a, const collet_frames *frames,
                                 collet_error *err)
{
    collet_array *times = next_rows(a, EXTRACT_TIME, frames->n_frames);
    size_t bytes = (size_t)frames->n_frames * sizeof *frames->times;
    collet_status status = extract_scope_views(&a->scope, err);

    if (status != COLLET_OK || times == NULL)
        return status;
    return extract_scope_check(
        &a->scope, collet_array_write(a->scope.context, times, frames->times, bytes), err);
}

/* The kernels that read all atoms. */
static collet_status reduce(extract_analysis *a, const extract_batch *batch, collet_error *err)
{
    collet_context *cx = a->scope.context;
    int64_t n = batch->frames->n_frames;
    collet_array *com = next_rows(a, EXTRACT_COM, n);
    collet_array *inertia = next_rows(a, EXTRACT_INERTIA, n);
    collet_array *momentum = next_rows(a, EXTRACT_BUFFER_OF(EXTRACT_L, EXTRACT_VECTOR), n);
    collet_array *torque = next_rows(a, EXTRACT_BUFFER_OF(EXTRACT_TAU, EXTRACT_VECTOR), n);
    collet_array *kinetic = next_rows(a, EXTRACT_KINETIC, n);
    collet_array *radius = next_rows(a, EXTRACT_RADIUS, n);
    collet_array *tensor = next_rows(a, EXTRACT_GYRATION, n);
    collet_array *asphericity = next_rows(a, EXTRACT_ASPHERICITY, n);
    collet_array *rmsd = next_rows(a, EXTRACT_RMSD, n);
    collet_array *rotation = extract_scope_rows(&a->scope, a->rotation, a->n_rows, n);
    collet_status status = extract_scope_views(&a->scope, err);

    if (status == COLLET_OK)
        status = extract_scope_ran(&a->scope,
                                   collet_op_observables(cx, com, inertia, momentum, torque,
                                                         kinetic, batch->positions, a->masses,
                                                         batch->velocities, batch->forces),
                                   err);
    if (status == COLLET_OK)
        status = extract_scope_ran(
            &a->scope,
            collet_op_gyration(cx, radius, tensor, asphericity, batch->positions, a->masses), err);
    if (status == COLLET_OK)
        status = extract_scope_ran(
            &a->scope,
            collet_op_rmsd(cx, rmsd, rotation, batch->positions, a->masses, a->reference), err);
    return status;
}

/* Passes the block to the worker once the previous one is complete. */
static collet_status hand_over(extract_analysis *a, int last, collet_error *err)
{
    collet_status status = extract_worker_wait(a->worker, err);

    if (status == COLLET_OK && a->n_rows > 0)
        status = extract_derivation_take(a->derivation, &a->scope, a->buffers, a->n_rows, err);
    if (status == COLLET_OK)
        status = extract_scope_check(&a->scope, collet_finish(a->scope.context), err);
    if (status != COLLET_OK)
        return status;
    a->n_rows = 0;
    a->last = last;
    extract_worker_go(a->worker);
    return COLLET_OK;
}

collet_status extract_analysis_add(extract_analysis *a, const extract_batch *batch,
                                   collet_error *err)
{
    collet_status status = COLLET_OK;

    if (a->reference == NULL)
        status = take_reference(a, batch, err);
    if (status == COLLET_OK)
        status = write_times(a, batch->frames, err);
    if (status == COLLET_OK)
        status = reduce(a, batch, err);
    extract_scope_clear(&a->scope);
    if (status != COLLET_OK)
        return status;
    a->n_rows += batch->frames->n_frames;
    /* At once, not with the next batch: the rows may be all that the caller waits for. */
    return a->n_rows + batch->frames->capacity > a->block_frames ? hand_over(a, 0, err) : COLLET_OK;
}

collet_status extract_analysis_finish(extract_analysis *a, collet_error *err)
{
    collet_status status = hand_over(a, 1, err);

    return status == COLLET_OK ? extract_worker_wait(a->worker, err) : status;
}
