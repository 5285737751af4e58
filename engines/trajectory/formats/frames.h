/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames.h - the properties of a trajectory's frames, and a batch of frames in memory: one array for each
 * quantity.
 *
 * Positions, velocities and forces are row-major frames x atoms x 3, aligned to 64 bytes; the
 * number of atoms is the selection's.
 */
#pragma once

#include <collet/collet.h>

typedef struct trajectory_reader trajectory_reader;

/* Fields of a frame, as bits. */
enum { TRAJECTORY_HAS_POSITIONS = 1, TRAJECTORY_HAS_VELOCITIES = 2, TRAJECTORY_HAS_FORCES = 4 };

/* Returns the name of the first of these bits that is set: "positions", "velocities" or "forces". */
const char *trajectory_fields_name(uint32_t fields);

/* Frames that lack a requested field, and fields that are not used. */
typedef struct trajectory_gaps {
    int64_t frames;   /* number of such frames so far */
    int64_t first;    /* number in the file of the first such frame */
    uint32_t fields;  /* fields that the first such frame lacks */
    int64_t lacks[3]; /* number of frames without positions; of frames with them, but without velocities (forces) */
    uint32_t unused;  /* velocities or forces that a later frame has, but not the first frame */
    int64_t first_unused; /* number of the first frame with such a field */
} trajectory_gaps;

/* Properties of the trajectory, from its first frame. */
typedef struct trajectory_reader_info {
    const char *format;     /* a name of formats.h, or "memory" */
    int64_t n_atoms;        /* atoms in the file, not only the selected atoms */
    int64_t file_size;      /* bytes when the file was opened */
    collet_dtype dtype;     /* COLLET_F32 or COLLET_F64: the file's precision */
    int32_t has_velocities; /* 0 or 1 */
    int32_t has_forces;     /* 0 or 1 */
    int32_t has_times;      /* 0 or 1 */
    int32_t rounds_times;   /* 1: a file stores times in single precision */
    int32_t on_demand;      /* 1: the calling thread reads frames; no other thread reads ahead */
    int32_t concurrent;     /* 1: several threads may decode frames at once */
    double first_time;      /* time of the first frame, ps; NaN: the frame has no time */
    int64_t lacking;        /* if only some atoms have velocities (then has_velocities is 0): the first
                               atom without a velocity; else -1 */
    const char *note;       /* a warning about the file, static text; NULL: none */
    double precision;       /* .xtc: positions are multiples of 1/precision nm; else 0 */
} trajectory_reader_info;

typedef struct trajectory_frames {
    collet_dtype dtype; /* dtype of positions, velocities and forces: COLLET_F32 or COLLET_F64 */
    int32_t slot;       /* index of the buffer in a read-ahead; else 0 */
    int64_t n_atoms;    /* atoms of a frame in this batch */
    int64_t capacity;   /* frames that fit */
    int64_t n_frames;   /* frames in this batch */
    void *positions;    /* nm */
    void *velocities;   /* nm/ps; NULL: not requested */
    void *forces;       /* kJ/mol/nm; NULL: not requested */
    double *masses;     /* amu, capacity x n_atoms; 0: the atom is not chosen in this frame. NULL: the
                           same atoms in all frames */
    int64_t *chosen;    /* capacity: number of chosen atoms of each frame; NULL if masses is NULL */
    double *system;     /* nm, capacity x n_system x 3: for the removal of drift (drift.h); NULL: not needed */
    int64_t n_system;
    double *centres;    /* nm, capacity x n_bodies x 3: centres of bodies' molecules, or NaN; NULL: not needed */
    double *moves;      /* nm, the same shape: to be added to results of bodies, for paths without jumps (path.h) */
    int64_t n_bodies;
    double *times;      /* ps; NaN: the frame has no time, or its time is not finite */
    int64_t n_bad_times; /* frames of this batch whose time in the file is not finite */
    double *boxes; /* capacity x 9, nm: the three vectors of the box; zeros: the frame has none */
    int64_t *indices;   /* frame number in the file, from 0 */
    int64_t end_offset; /* byte of the file after the last frame of the batch; for progress */
    int32_t
        truncated; /* 1: the error returned with this batch means that the file ends inside a frame */
    uint32_t reserved; /* 0 */
} trajectory_frames;

/* Returns element i of one of the batch's arrays. */
static inline double trajectory_frames_value(const trajectory_frames *frames, const void *array,
                                             int64_t i)
{
    return frames->dtype == COLLET_F64 ? ((const double *)array)[i]
                                       : (double)((const float *)array)[i];
}

/* Returns the bytes that one frame takes, for the choice of a capacity. */
size_t trajectory_frames_bytes(int64_t n_atoms, collet_dtype dtype, int velocities, int forces);

/* Creates an empty batch. `velocities` and `forces`: 1 if these arrays are to be allocated. COLLET_INVALID
 * if the capacity or the number of atoms is below 1, or for another dtype; COLLET_OVERFLOW; COLLET_NO_MEMORY. */
collet_status trajectory_frames_create(int64_t n_atoms, int64_t capacity, collet_dtype dtype,
                                       int velocities, int forces, trajectory_frames **out,
                                       collet_error *err);

/* Allocates `masses` and `chosen`. COLLET_NO_MEMORY; after this error the batch has neither array. */
collet_status trajectory_frames_add_choice(trajectory_frames *frames, collet_error *err);

/* Allocates `system`, with n_system >= 1 rows. COLLET_OVERFLOW, COLLET_NO_MEMORY; after an error the batch has no
 * such array. */
collet_status trajectory_frames_add_system(trajectory_frames *frames, int64_t n_system,
                                           collet_error *err);

/* Allocates `centres` and `moves`, with n_bodies >= 1 rows. COLLET_OVERFLOW, COLLET_NO_MEMORY; after an error the
 * batch has neither array. */
collet_status trajectory_frames_add_paths(trajectory_frames *frames, int64_t n_bodies,
                                          collet_error *err);

/* Drops the first n <= n_frames frames. All other frames move to the front. */
void trajectory_frames_drop(trajectory_frames *frames, int64_t n);

/* Frees the batch and its arrays; NULL is allowed. */
void trajectory_frames_free(trajectory_frames *frames);
