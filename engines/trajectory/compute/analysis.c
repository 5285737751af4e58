/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_analysis.c */
#include <collet/ops/array.h>
#include <collet/ops/md.h>

#include "analysis.h"

#include "worker.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The dipole of a body is W times the vector from its centre of mass to the centre of `weights`; W is the sum of the
 * weights. An atom's weight is its charge plus a fraction of its mass, so that W is never near 0. */
typedef struct polarity {
    collet_array *weights; /* n_atoms */
    collet_array *sums;    /* bodies x 1, W */
    collet_array *centres; /* scratch, rows of a block */
    collet_array *inertia; /* scratch: the kernel writes it too */
} polarity;

struct trajectory_analysis {
    trajectory_scope scope;
    int64_t n_atoms;
    int64_t bodies;
    int64_t block_frames;
    collet_array *masses;
    collet_array *offsets;                     /* i64; NULL: one body */
    collet_array *reference;                   /* n_atoms x 3; by default the first frame */
    collet_array *rotation;                    /* scratch for the superposition */
    collet_array *buffers[TRAJECTORY_BUFFERS]; /* the sums, of block_frames */
    polarity polarity;                         /* all NULL if no dipole is computed */
    collet_array *unused;                      /* the kernel's inertia tensors of velocities, which are not used */
    collet_array *moves;                       /* moves of bodies along paths, for the rows of a block; NULL: none */
    int64_t *ends;                             /* bodies x 2, the first and the last atom of each */
    double *paths;                             /* batch frames x bodies x 3: first to last atom */
    int64_t n_frames;                          /* frames in the block */
    trajectory_derivation *derivation;         /* while the worker is busy, only the worker uses this */
    trajectory_worker *worker;
    int last; /* the worker's block is the last block */
};

/* Returns the number of rows of a buffer in a frame. */
static int64_t frame_rows(const trajectory_analysis *a, int32_t buffer)
{
    return trajectory_buffer_rows(buffer, (trajectory_extent){a->bodies, a->n_atoms});
}

/* ---- Creation ---------------------------------------------------------------------------- */

static collet_status derive(void *user, collet_error *err)
{
    trajectory_analysis *a = user;

    return trajectory_derivation_run(a->derivation, a->last, err);
}

static collet_status create_polarity(trajectory_analysis *a, const trajectory_analysis_setup *setup,
                                     collet_error *err)
{
    collet_context *cx = a->scope.context;
    int64_t bodies[2] = {a->bodies, 1}, rows[3] = {a->block_frames * a->bodies, 3, 3};
    double *weights = malloc((size_t)a->n_atoms * sizeof *weights);
    double *sums = calloc((size_t)a->bodies, sizeof *sums);
    collet_status status = weights && sums ? COLLET_OK : COLLET_NO_MEMORY;

    for (int64_t b = 0; status == COLLET_OK && b < a->bodies; b++) {
        double charge = 0, mass = 0;

        for (int64_t i = a->ends[2 * b]; i <= a->ends[2 * b + 1]; i++) {
            charge += setup->charges[i];
            mass += setup->masses[i];
        }
        for (int64_t i = a->ends[2 * b]; i <= a->ends[2 * b + 1]; i++) {
            weights[i] = setup->charges[i] + (1 + fabs(charge)) / mass * setup->masses[i];
            sums[b] += weights[i];
        }
    }
    if (status == COLLET_OK)
        status = collet_array_from(cx, &a->polarity.weights, COLLET_F64, 1, &a->n_atoms, weights);
    if (status == COLLET_OK)
        status = collet_array_from(cx, &a->polarity.sums, COLLET_F64, 2, bodies, sums);
    if (status == COLLET_OK)
        status = collet_array_create(cx, &a->polarity.centres, COLLET_F64, 2, rows);
    if (status == COLLET_OK)
        status = collet_array_create(cx, &a->polarity.inertia, COLLET_F64, 3, rows);
    free(weights);
    free(sums);
    return trajectory_scope_check(&a->scope, status, err);
}

static collet_status create_ends(trajectory_analysis *a, const trajectory_analysis_setup *setup,
                                 collet_error *err)
{
    a->ends = malloc((size_t)a->bodies * 2 * sizeof *a->ends);
    a->paths = malloc((size_t)(a->bodies * a->block_frames * 3) * sizeof *a->paths);
    if (a->ends == NULL || a->paths == NULL)
        return collet_fail(err, COLLET_NO_MEMORY, "analysis: out of memory");
    for (int64_t b = 0; b < a->bodies; b++) {
        a->ends[2 * b] = setup->offsets != NULL ? setup->offsets[b] : 0;
        a->ends[2 * b + 1] = (setup->offsets != NULL ? setup->offsets[b + 1] : a->n_atoms) - 1;
    }
    return setup->buffers & TRAJECTORY_BUFFER_BIT(TRAJECTORY_DIPOLE)
               ? create_polarity(a, setup, err)
               : COLLET_OK;
}

static collet_status create_arrays(trajectory_analysis *a, const trajectory_analysis_setup *setup,
                                   collet_error *err)
{
    collet_context *cx = a->scope.context;
    int64_t atoms[2] = {setup->n_atoms, 3}, offsets = setup->bodies + 1;
    int64_t matrices[3] = {setup->block_frames * setup->bodies, 3, 3};
    /* The kernel that computes the centre of mass writes the inertia, too. */
    uint64_t buffers =
        trajectory_buffers_for(setup->buffers) | TRAJECTORY_BUFFER_BIT(TRAJECTORY_INERTIA);
    collet_status status = collet_array_from(cx, &a->masses, COLLET_F64, 1, atoms, setup->masses);

    if (status == COLLET_OK && setup->bodies > 1)
        status = collet_array_from(cx, &a->offsets, COLLET_I64, 1, &offsets, setup->offsets);
    if (status == COLLET_OK && setup->reference != NULL)
        status = collet_array_from(cx, &a->reference, COLLET_F64, 2, atoms, setup->reference);
    if (status == COLLET_OK && (buffers & TRAJECTORY_BUFFER_BIT(TRAJECTORY_RMSD)))
        status = collet_array_create(cx, &a->rotation, COLLET_F64, 3, matrices);
    if (status == COLLET_OK && (buffers & TRAJECTORY_BUFFER_BIT(TRAJECTORY_COM_VELOCITY)))
        status = collet_array_create(cx, &a->unused, COLLET_F64, 3, matrices);
    for (size_t i = 0; status == COLLET_OK && i < TRAJECTORY_SUMS; i++) {
        int32_t buffer = trajectory_sums[i].buffer;
        int64_t shape[3], rows = frame_rows(a, buffer);

        if (buffers & TRAJECTORY_BUFFER_BIT(buffer))
            status = collet_array_create(
                cx, &a->buffers[buffer], COLLET_F64,
                trajectory_buffer_shape(buffer, setup->block_frames * rows, shape), shape);
    }
    return trajectory_scope_check(&a->scope, status, err);
}

collet_status trajectory_analysis_create(collet_context *context,
                                         const trajectory_analysis_setup *setup,
                                         trajectory_analysis **out, collet_error *err)
{
    uint64_t buffers = trajectory_buffers_for(setup->buffers);
    const trajectory_derivation_setup derivation = {
        .block_frames = setup->block_frames,
        .bodies = setup->bodies,
        .atoms = setup->n_atoms,
        .buffers = setup->sums_only ? trajectory_buffers_summed(buffers) : buffers,
        .axis = setup->axis,
        .emit = setup->emit,
        .user = setup->user};
    trajectory_analysis *a = calloc(1, sizeof *a);
    collet_status status;

    *out = NULL;
    if (a == NULL)
        return collet_fail(err, COLLET_NO_MEMORY, "analysis: out of memory");
    a->scope.context = context;
    a->n_atoms = setup->n_atoms;
    a->bodies = setup->bodies;
    a->block_frames = setup->block_frames;
    status = create_arrays(a, setup, err);
    if (status == COLLET_OK)
        status = create_ends(a, setup, err);
    if (status == COLLET_OK)
        status = trajectory_derivation_create(context, &derivation, &a->derivation, err);
    if (status == COLLET_OK)
        status = trajectory_worker_start(derive, a, &a->worker, err);
    if (status != COLLET_OK) {
        trajectory_analysis_free(a);
        return status;
    }
    *out = a;
    return COLLET_OK;
}

void trajectory_analysis_free(trajectory_analysis *a)
{
    if (a == NULL)
        return;
    trajectory_worker_stop(a->worker);
    trajectory_derivation_free(a->derivation);
    trajectory_scope_clear(&a->scope);
    for (int i = 0; i < TRAJECTORY_BUFFERS; i++)
        collet_array_destroy(a->buffers[i]);
    collet_array_destroy(a->masses);
    collet_array_destroy(a->offsets);
    collet_array_destroy(a->reference);
    collet_array_destroy(a->rotation);
    collet_array_destroy(a->unused);
    collet_array_destroy(a->moves);
    collet_array_destroy(a->polarity.weights);
    collet_array_destroy(a->polarity.sums);
    collet_array_destroy(a->polarity.centres);
    collet_array_destroy(a->polarity.inertia);
    free(a->ends);
    free(a->paths);
    free(a);
}

/* ---- Notes ------------------------------------------------------------------------------- */

void trajectory_analysis_add_backend(trajectory_analysis_notes *notes, const char *name)
{
    for (int32_t k = 0; k < notes->n_backends; k++)
        if (strcmp(notes->backends[k], name) == 0)
            return;
    if (notes->n_backends < TRAJECTORY_MAX_BACKENDS)
        snprintf(notes->backends[notes->n_backends++], TRAJECTORY_BACKEND_NAME, "%s", name);
}

static void add_scope(trajectory_analysis_notes *notes, const trajectory_scope *scope)
{
    collet_counters c;

    memset(&c, 0, sizeof c);
    c.struct_size = sizeof c;
    (void)collet_context_counters(scope->context, &c); /* all 0 if it fails */
    notes->counters.calls += c.calls;
    notes->counters.fallbacks += c.fallbacks;
    notes->counters.temporaries += c.temporaries;
    notes->counters.bytes_to_device += c.bytes_to_device;
    notes->counters.bytes_to_host += c.bytes_to_host;
    notes->counters.bytes_direct += c.bytes_direct;
    for (int32_t i = 0; i < scope->n_backends; i++)
        trajectory_analysis_add_backend(notes, scope->backends[i]);
}

void trajectory_analysis_get_notes(const trajectory_analysis *a, trajectory_analysis_notes *notes)
{
    memset(notes, 0, sizeof *notes);
    notes->singular = trajectory_derivation_singular(a->derivation);
    trajectory_analysis_add_notes(a, notes);
}

void trajectory_analysis_add_notes(const trajectory_analysis *a, trajectory_analysis_notes *notes)
{
    add_scope(notes, &a->scope);
    add_scope(notes, trajectory_derivation_scope(a->derivation));
}

/* ---- A batch ----------------------------------------------------------------------------- */

static collet_status take_reference(trajectory_analysis *a, const trajectory_batch *batch,
                                    collet_error *err)
{
    collet_array *frame = trajectory_scope_drop(&a->scope, batch->positions, 0, 0);
    int64_t shape[2] = {a->n_atoms, 3};
    collet_status status = trajectory_scope_views(&a->scope, err);

    if (status != COLLET_OK)
        return status;
    status = collet_array_create(a->scope.context, &a->reference, COLLET_F64, 2, shape);
    if (status != COLLET_OK)
        return trajectory_scope_check(&a->scope, status, err);
    return trajectory_scope_ran(&a->scope, collet_op_copy(a->scope.context, a->reference, frame),
                                err);
}

/* Returns a view of the rows of the block's next n frames; with several bodies it has an axis of bodies. */
static collet_array *next_frames(trajectory_analysis *a, collet_array *array, int64_t n)
{
    collet_array *rows =
        trajectory_scope_rows(&a->scope, array, a->n_frames * a->bodies, n * a->bodies);

    return a->bodies == 1 ? rows : trajectory_scope_split(&a->scope, rows, n);
}

static collet_array *next_rows(trajectory_analysis *a, int buffer, int64_t n)
{
    return next_frames(a, a->buffers[buffer], n);
}

/* Writes the vectors from the first to the last atom of each body. These vectors are differences of two positions; a
 * kernel's sum over all atoms with weights -1, 0 and 1 would be less exact. */
static collet_status write_paths(trajectory_analysis *a, const trajectory_frames *frames,
                                 collet_error *err)
{
    int64_t n = frames->n_frames;
    collet_array *rows = next_rows(a, TRAJECTORY_END_TO_END, n);
    collet_status status = trajectory_scope_views(&a->scope, err);

    if (status != COLLET_OK || rows == NULL)
        return status;
    for (int64_t i = 0; i < n * a->bodies; i++) {
        const int64_t *ends = a->ends + i % a->bodies * 2;
        int64_t frame = i / a->bodies * a->n_atoms;

        for (int64_t k = 0; k < 3; k++)
            a->paths[3 * i + k] =
                trajectory_frames_value(frames, frames->positions, 3 * (frame + ends[1]) + k) -
                trajectory_frames_value(frames, frames->positions, 3 * (frame + ends[0]) + k);
    }
    return trajectory_scope_check(
        &a->scope,
        collet_array_write(a->scope.context, rows, a->paths,
                           (size_t)(n * a->bodies * 3) * sizeof *a->paths),
        err);
}

static collet_status copy_positions(trajectory_analysis *a, const trajectory_batch *batch,
                                    collet_error *err)
{
    int64_t n = batch->frames->n_frames;
    collet_array *rows =
        trajectory_scope_split(&a->scope,
                               trajectory_scope_rows(&a->scope, a->buffers[TRAJECTORY_POSITIONS],
                                                     a->n_frames * a->n_atoms, n * a->n_atoms),
                               n);
    collet_status status = trajectory_scope_views(&a->scope, err);

    if (status != COLLET_OK || rows == NULL)
        return status;
    return trajectory_scope_ran(&a->scope, collet_op_copy(a->scope.context, rows, batch->positions),
                                err);
}

/* Computes the dipoles of a batch, from the batch's centres of mass, which must be computed already. */
static collet_status polarise(trajectory_analysis *a, const trajectory_batch *batch,
                              collet_error *err)
{
    collet_context *cx = a->scope.context;
    const polarity *p = &a->polarity;
    int64_t n = batch->frames->n_frames;
    collet_array *com = next_rows(a, TRAJECTORY_COM, n);
    collet_array *dipole = next_rows(a, TRAJECTORY_DIPOLE, n);
    collet_array *centres = next_frames(a, p->centres, n);
    collet_array *inertia = next_frames(a, p->inertia, n);
    collet_status status = trajectory_scope_views(&a->scope, err);

    if (status != COLLET_OK || dipole == NULL)
        return status;
    status = trajectory_scope_ran(&a->scope,
                                  collet_op_observables(cx, centres, inertia, NULL, NULL, NULL,
                                                        batch->positions, p->weights, NULL, NULL,
                                                        a->offsets),
                                  err);
    if (status == COLLET_OK)
        status = trajectory_scope_ran(&a->scope, collet_op_sub(cx, dipole, centres, com), err);
    if (status == COLLET_OK)
        status = trajectory_scope_ran(&a->scope, collet_op_mul(cx, dipole, dipole, p->sums), err);
    return status;
}

/* Writes the block's next rows of an array, `rows` of `width` numbers in each of n frames. NULL is allowed. */
static collet_status write_rows(trajectory_analysis *a, collet_array *array, int64_t rows, int64_t width,
                                int64_t n, const double *from, collet_error *err)
{
    collet_array *next = trajectory_scope_rows(&a->scope, array, a->n_frames * rows, n * rows);
    collet_status status = trajectory_scope_views(&a->scope, err);

    if (status != COLLET_OK || next == NULL)
        return status;
    return trajectory_scope_check(
        &a->scope,
        collet_array_write(a->scope.context, next, from, (size_t)(n * rows * width) * sizeof *from), err);
}

/* Writes the data that the frames have in addition to their atoms. */
static collet_status write_frames(trajectory_analysis *a, const trajectory_frames *f, collet_error *err)
{
    int64_t n = f->n_frames, shape[2] = {a->block_frames * a->bodies, 3};
    collet_status status = write_rows(a, a->buffers[TRAJECTORY_TIME], 1, 1, n, f->times, err);

    if (status == COLLET_OK)
        status = write_rows(a, a->buffers[TRAJECTORY_BOX], 1, 9, n, f->boxes, err);
    if (status != COLLET_OK || f->moves == NULL)
        return status;
    if (a->moves == NULL)
        status = trajectory_scope_check(
            &a->scope, collet_array_create(a->scope.context, &a->moves, COLLET_F64, 2, shape), err);
    if (status == COLLET_OK)
        status = write_rows(a, a->moves, a->bodies, 3, n, f->moves, err);
    return status == COLLET_OK ? write_rows(a, a->buffers[TRAJECTORY_MOLECULE_WRAPPED], a->bodies, 3, n,
                                            f->centres, err)
                               : status;
}

/* Adds the frames' `moves` to the centres of mass and the positions of a batch, so that their paths do not jump at the
 * periodic boundary. Call this function after all functions that need the centres and positions before the move. */
static collet_status follow(trajectory_analysis *a, const trajectory_frames *frames, collet_error *err)
{
    collet_context *cx = a->scope.context;
    int64_t n = frames->n_frames;
    collet_array *com = next_rows(a, TRAJECTORY_COM, n);
    collet_array *wrapped = next_rows(a, TRAJECTORY_COM_WRAPPED, n);
    collet_array *moves = next_frames(a, a->moves, n);
    collet_array *positions = trajectory_scope_split(
        &a->scope,
        trajectory_scope_rows(&a->scope, a->buffers[TRAJECTORY_POSITIONS], a->n_frames * a->n_atoms,
                              n * a->n_atoms),
        n);
    collet_array *all = positions ? trajectory_scope_split(&a->scope, moves, n) : NULL; /* one body */
    collet_status status = trajectory_scope_views(&a->scope, err);

    if (status != COLLET_OK || frames->moves == NULL)
        return status;
    if (wrapped != NULL)
        status = trajectory_scope_ran(&a->scope, collet_op_copy(cx, wrapped, com), err);
    if (status == COLLET_OK)
        status = trajectory_scope_ran(&a->scope, collet_op_add(cx, com, com, moves), err);
    if (status == COLLET_OK && positions != NULL)
        status = trajectory_scope_ran(&a->scope, collet_op_add(cx, positions, positions, all), err);
    return status;
}

/* Runs the kernels that read all atoms. */
static collet_status reduce(trajectory_analysis *a, const trajectory_batch *batch,
                            collet_error *err)
{
    collet_context *cx = a->scope.context;
    int64_t n = batch->frames->n_frames;
    collet_array *masses = batch->masses != NULL ? batch->masses : a->masses;
    collet_array *com = next_rows(a, TRAJECTORY_COM, n);
    collet_array *inertia = next_rows(a, TRAJECTORY_INERTIA, n);
    collet_array *momentum = next_rows(a, TRAJECTORY_BUFFER_OF(TRAJECTORY_L, TRAJECTORY_VECTOR), n);
    collet_array *torque = next_rows(a, TRAJECTORY_BUFFER_OF(TRAJECTORY_TAU, TRAJECTORY_VECTOR), n);
    collet_array *kinetic = next_rows(a, TRAJECTORY_KINETIC, n);
    collet_array *radius = next_rows(a, TRAJECTORY_RADIUS, n);
    collet_array *tensor = next_rows(a, TRAJECTORY_GYRATION, n);
    collet_array *asphericity = next_rows(a, TRAJECTORY_ASPHERICITY, n);
    collet_array *rmsd = next_rows(a, TRAJECTORY_RMSD, n);
    collet_array *rotation = next_frames(a, a->rotation, n);
    collet_array *velocity = next_rows(a, TRAJECTORY_COM_VELOCITY, n);
    collet_array *unused = next_frames(a, a->unused, n);
    collet_status status = trajectory_scope_views(&a->scope, err);

    if (status == COLLET_OK)
        status = trajectory_scope_ran(
            &a->scope,
            collet_op_observables(cx, com, inertia, momentum, torque, kinetic, batch->positions,
                                  masses, batch->velocities, batch->forces, a->offsets),
            err);
    if (status == COLLET_OK && radius != NULL)
        status = trajectory_scope_ran(&a->scope,
                                      collet_op_gyration(cx, radius, tensor, asphericity,
                                                         batch->positions, masses, a->offsets),
                                      err);
    if (status == COLLET_OK && velocity != NULL) /* the centre of mass of the velocities */
        status = trajectory_scope_ran(&a->scope,
                                      collet_op_observables(cx, velocity, unused, NULL, NULL, NULL,
                                                            batch->velocities, masses, NULL, NULL,
                                                            a->offsets),
                                      err);
    if (status == COLLET_OK && rmsd != NULL)
        status = trajectory_scope_ran(
            &a->scope,
            collet_op_rmsd(cx, rmsd, rotation, batch->positions, masses, a->reference, a->offsets),
            err);
    return status;
}

/* Passes the block to the worker once the previous block is complete. */
static collet_status hand_over(trajectory_analysis *a, int last, collet_error *err)
{
    collet_status status = trajectory_worker_wait(a->worker, err);

    if (status == COLLET_OK && a->n_frames > 0)
        status = trajectory_derivation_take(a->derivation, &a->scope, a->buffers, a->n_frames, err);
    if (status == COLLET_OK)
        status = trajectory_scope_check(&a->scope, collet_finish(a->scope.context), err);
    if (status != COLLET_OK)
        return status;
    a->n_frames = 0;
    a->last = last;
    trajectory_worker_go(a->worker);
    return COLLET_OK;
}

collet_status trajectory_analysis_add(trajectory_analysis *a, const trajectory_batch *batch,
                                      collet_error *err)
{
    collet_status status = COLLET_OK;

    if (a->reference == NULL && a->buffers[TRAJECTORY_RMSD] != NULL)
        status = take_reference(a, batch, err);
    if (status == COLLET_OK)
        status = write_frames(a, batch->frames, err);
    if (status == COLLET_OK)
        status = write_paths(a, batch->frames, err);
    if (status == COLLET_OK)
        status = copy_positions(a, batch, err);
    if (status == COLLET_OK)
        status = reduce(a, batch, err);
    if (status == COLLET_OK)
        status = polarise(a, batch, err);
    if (status == COLLET_OK)
        status = follow(a, batch->frames, err);
    trajectory_scope_clear(&a->scope);
    if (status != COLLET_OK)
        return status;
    a->n_frames += batch->frames->n_frames;
    /* A block that has no room for another batch is handed over now: the caller may be waiting for these rows. */
    return a->n_frames + batch->frames->capacity > a->block_frames ? hand_over(a, 0, err)
                                                                   : COLLET_OK;
}

/* Appends rows of a buffer to the rows of the block. */
static collet_status copy_sums(trajectory_analysis *a, int32_t buffer, int64_t n,
                               const double *from, collet_error *err)
{
    int64_t each = frame_rows(a, buffer);
    collet_array *rows =
        trajectory_scope_rows(&a->scope, a->buffers[buffer], a->n_frames * each, n * each);
    size_t bytes = (size_t)(n * each * trajectory_buffer_width(buffer)) * sizeof *from;
    collet_status status = trajectory_scope_views(&a->scope, err);

    if (status == COLLET_OK)
        status = trajectory_scope_check(
            &a->scope, collet_array_write(a->scope.context, rows, from, bytes), err);
    trajectory_scope_clear(&a->scope);
    return status;
}

collet_status trajectory_analysis_add_sums(trajectory_analysis *a, int64_t n,
                                           const double *const sums[TRAJECTORY_SUMS],
                                           collet_error *err)
{
    for (int64_t done = 0, step; done < n; done += step) {
        collet_status status = COLLET_OK;

        step = a->block_frames - a->n_frames < n - done ? a->block_frames - a->n_frames : n - done;
        for (size_t i = 0; status == COLLET_OK && i < TRAJECTORY_SUMS; i++) {
            int32_t buffer = trajectory_sums[i].buffer;
            int64_t width = frame_rows(a, buffer) * trajectory_buffer_width(buffer);

            if (sums[i] != NULL && a->buffers[buffer] != NULL)
                status = copy_sums(a, buffer, step, sums[i] + done * width, err);
        }
        if (status == COLLET_OK)
            a->n_frames += step;
        if (status == COLLET_OK && a->n_frames == a->block_frames)
            status = hand_over(a, 0, err);
        if (status != COLLET_OK)
            return status;
    }
    return COLLET_OK;
}

collet_status trajectory_analysis_finish(trajectory_analysis *a, collet_error *err)
{
    collet_status status = hand_over(a, 1, err);

    return status == COLLET_OK ? trajectory_worker_wait(a->worker, err) : status;
}
