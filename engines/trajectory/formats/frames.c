/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_trajectory.c */
#include "frames.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT ((size_t)64)
/* With this limit products of sizes stay below 2^63, so no other check for overflow is needed. */
#define ATOM_LIMIT ((int64_t)1 << 40)

#define BOX_BYTES (9 * sizeof(double))
/* Bytes of the time, the box and the index of a frame. */
#define FRAME_EXTRAS (sizeof(double) + BOX_BYTES + sizeof(int64_t))

const char *trajectory_fields_name(uint32_t fields)
{
    return fields & TRAJECTORY_HAS_POSITIONS    ? "positions"
           : fields & TRAJECTORY_HAS_VELOCITIES ? "velocities"
                                                : "forces";
}

static size_t real_size(collet_dtype dtype)
{
    return dtype == COLLET_F64 ? sizeof(double) : sizeof(float);
}

size_t trajectory_frames_bytes(int64_t n_atoms, collet_dtype dtype, int velocities, int forces)
{
    size_t quantities = 1u + (velocities != 0) + (forces != 0);

    return quantities * 3 * real_size(dtype) * (size_t)n_atoms + FRAME_EXTRAS;
}

static void *allocate(size_t n, size_t size)
{
    return aligned_alloc(ALIGNMENT, (n * size + ALIGNMENT - 1) & ~(ALIGNMENT - 1));
}

collet_status trajectory_frames_create(int64_t n_atoms, int64_t capacity, collet_dtype dtype,
                                       int velocities, int forces, trajectory_frames **out,
                                       collet_error *err)
{
    *out = NULL;
    if (n_atoms < 1 || n_atoms > ATOM_LIMIT || capacity < 1)
        return collet_fail(err, COLLET_INVALID,
                           "a batch of %lld frames of %lld atoms: both must be at least 1",
                           (long long)capacity, (long long)n_atoms);
    if (dtype != COLLET_F32 && dtype != COLLET_F64)
        return collet_fail(err, COLLET_INVALID,
                           "a batch of dtype %d: only f32 and f64 are supported", dtype);

    size_t bytes;
    size_t frame = 3 * real_size(dtype) * (size_t)n_atoms;
    size_t whole = trajectory_frames_bytes(n_atoms, dtype, velocities, forces);
    if (__builtin_mul_overflow(whole, (size_t)capacity, &bytes) || bytes > INT64_MAX)
        return collet_fail(err, COLLET_OVERFLOW,
                           "a batch of %lld frames of %lld atoms is larger than the address space; "
                           "use a smaller batch",
                           (long long)capacity, (long long)n_atoms);

    trajectory_frames *frames = calloc(1, sizeof *frames);
    if (!frames)
        return collet_fail(err, COLLET_NO_MEMORY, "no memory for a batch of frames");
    frames->dtype = dtype;
    frames->n_atoms = n_atoms;
    frames->capacity = capacity;
    frames->positions = allocate((size_t)capacity, frame);
    frames->velocities = velocities ? allocate((size_t)capacity, frame) : NULL;
    frames->forces = forces ? allocate((size_t)capacity, frame) : NULL;
    frames->times = allocate((size_t)capacity, sizeof(double));
    frames->boxes = allocate((size_t)capacity, BOX_BYTES);
    frames->indices = allocate((size_t)capacity, sizeof(int64_t));
    if (!frames->positions || (velocities && !frames->velocities) || (forces && !frames->forces) ||
        !frames->times || !frames->boxes || !frames->indices) {
        trajectory_frames_free(frames);
        return collet_fail(err, COLLET_NO_MEMORY,
                           "no memory for a batch of %lld frames of %lld atoms (%zu MiB); use a "
                           "smaller batch",
                           (long long)capacity, (long long)n_atoms, bytes >> 20);
    }
    *out = frames;
    return COLLET_OK;
}

collet_status trajectory_frames_add_choice(trajectory_frames *frames, collet_error *err)
{
    /* This product cannot overflow: the positions are larger, and they were allocated. */
    double *masses =
        allocate((size_t)frames->capacity, (size_t)frames->n_atoms * sizeof *frames->masses);
    int64_t *chosen = allocate((size_t)frames->capacity, sizeof *frames->chosen);

    if (!masses || !chosen) {
        free(masses);
        free(chosen);
        return collet_fail(err, COLLET_NO_MEMORY,
                           "no memory for the masses of %lld frames of %lld atoms; use a smaller "
                           "batch",
                           (long long)frames->capacity, (long long)frames->n_atoms);
    }
    frames->masses = masses;
    frames->chosen = chosen;
    return COLLET_OK;
}

/* Allocates capacity x n x 3 numbers. `of`: "atoms", for the messages. */
static collet_status add_vectors(const trajectory_frames *frames, int64_t n, const char *of, double **out,
                                 collet_error *err)
{
    size_t frame = 3 * sizeof **out * (size_t)n, bytes;

    if (__builtin_mul_overflow(frame, (size_t)frames->capacity, &bytes) || bytes > INT64_MAX)
        return collet_fail(err, COLLET_OVERFLOW,
                           "the places of %lld %s in %lld frames are larger than the address "
                           "space; use a smaller batch",
                           (long long)n, of, (long long)frames->capacity);
    *out = allocate((size_t)frames->capacity, frame);
    return *out ? COLLET_OK
                : collet_fail(err, COLLET_NO_MEMORY,
                              "no memory for the places of %lld %s in %lld frames; use a smaller "
                              "batch",
                              (long long)n, of, (long long)frames->capacity);
}

collet_status trajectory_frames_add_system(trajectory_frames *frames, int64_t n_system,
                                           collet_error *err)
{
    collet_status status = add_vectors(frames, n_system, "atoms", &frames->system, err);

    if (status == COLLET_OK)
        frames->n_system = n_system;
    return status;
}

collet_status trajectory_frames_add_paths(trajectory_frames *frames, int64_t n_bodies,
                                          collet_error *err)
{
    collet_status status = add_vectors(frames, n_bodies, "bodies", &frames->centres, err);

    if (status == COLLET_OK)
        status = add_vectors(frames, n_bodies, "bodies", &frames->moves, err);
    if (status == COLLET_OK) {
        frames->n_bodies = n_bodies;
        return status;
    }
    free(frames->centres);
    frames->centres = NULL;
    return status;
}

/* Moves rows of `bytes` bytes; NULL is allowed. */
static void move_rows(void *array, int64_t n, int64_t n_rows, size_t bytes)
{
    if (array)
        memmove(array, (char *)array + (size_t)n * bytes, (size_t)(n_rows - n) * bytes);
}

void trajectory_frames_drop(trajectory_frames *f, int64_t n)
{
    size_t atoms = (size_t)f->n_atoms;
    size_t vectors = 3 * atoms * (f->dtype == COLLET_F64 ? sizeof(double) : sizeof(float));

    move_rows(f->positions, n, f->n_frames, vectors);
    move_rows(f->velocities, n, f->n_frames, vectors);
    move_rows(f->forces, n, f->n_frames, vectors);
    move_rows(f->masses, n, f->n_frames, atoms * sizeof *f->masses);
    move_rows(f->chosen, n, f->n_frames, sizeof *f->chosen);
    move_rows(f->system, n, f->n_frames, (size_t)f->n_system * 3 * sizeof *f->system);
    move_rows(f->centres, n, f->n_frames, (size_t)f->n_bodies * 3 * sizeof *f->centres);
    move_rows(f->moves, n, f->n_frames, (size_t)f->n_bodies * 3 * sizeof *f->moves);
    move_rows(f->times, n, f->n_frames, sizeof *f->times);
    move_rows(f->boxes, n, f->n_frames, 9 * sizeof *f->boxes);
    move_rows(f->indices, n, f->n_frames, sizeof *f->indices);
    f->n_frames -= n;
}

void trajectory_frames_free(trajectory_frames *frames)
{
    if (!frames)
        return;
    free(frames->positions);
    free(frames->velocities);
    free(frames->forces);
    free(frames->masses);
    free(frames->chosen);
    free(frames->system);
    free(frames->centres);
    free(frames->moves);
    free(frames->times);
    free(frames->boxes);
    free(frames->indices);
    free(frames);
}
