/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outputs.h - the quantities computed for each frame and body: key, shape and unit.
 *
 * A buffer holds rows of one quantity: one row for each body of each frame; the rows of a frame are adjacent. The
 * buffers of times and boxes have one row for each frame, the buffer of positions one row for each atom. An output is
 * a buffer, or one component of it, with a key. To add an output, add: a buffer here; its line in the tables of
 * outputs.c (also in trajectory_sums if it is a sum over atoms); in trajectory_buffers_for the buffers from which it
 * is derived; and the kernel call in analysis.c (sums over atoms) or derivation.c.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The data that an output needs in addition to positions: fields, the same atoms in all frames, charges, or a single
 * body. PATHS: --pbc nojump, and bodies of one molecule each. BY_NAME: the output is chosen only by its full key, not
 * by a pattern with '*'. */
#define TRAJECTORY_VELOCITIES 1u
#define TRAJECTORY_FORCES 2u
#define TRAJECTORY_TIMES 4u
#define TRAJECTORY_SAME_ATOMS 8u
#define TRAJECTORY_CHARGES 16u
#define TRAJECTORY_UNDIVIDED 32u
#define TRAJECTORY_BY_NAME 64u
#define TRAJECTORY_PATHS 128u

/* The vectors that are decomposed, and their parts. */
enum { TRAJECTORY_L, TRAJECTORY_TAU, TRAJECTORY_OMEGA, TRAJECTORY_DLDT, TRAJECTORY_VECTORS };
enum {
    TRAJECTORY_VECTOR,
    TRAJECTORY_PARALLEL,
    TRAJECTORY_PERP,
    TRAJECTORY_Z,
    TRAJECTORY_MAG,
    TRAJECTORY_PARALLEL_MAG,
    TRAJECTORY_PERP_MAG,
    TRAJECTORY_Z_MAG,
    TRAJECTORY_PARTS
};

enum {
    TRAJECTORY_TIME,
    TRAJECTORY_COM,
    TRAJECTORY_INERTIA,
    TRAJECTORY_MOMENTS,
    TRAJECTORY_AXES,
    TRAJECTORY_EULER,
    TRAJECTORY_KINETIC,
    TRAJECTORY_RADIUS,
    TRAJECTORY_GYRATION,
    TRAJECTORY_ASPHERICITY,
    TRAJECTORY_RMSD,
    TRAJECTORY_TILT,
    TRAJECTORY_DIPOLE,
    TRAJECTORY_END_TO_END,
    TRAJECTORY_COM_VELOCITY,
    TRAJECTORY_POSITIONS,
    TRAJECTORY_BOX,
    TRAJECTORY_COM_WRAPPED,
    TRAJECTORY_MOLECULE_WRAPPED,
    TRAJECTORY_PART, /* the first of TRAJECTORY_VECTORS x TRAJECTORY_PARTS buffers */
    TRAJECTORY_BUFFERS = TRAJECTORY_PART + (int)TRAJECTORY_VECTORS * (int)TRAJECTORY_PARTS
};

#define TRAJECTORY_BUFFER_OF(vector, part)                                                         \
    ((int)TRAJECTORY_PART + (int)(vector) * (int)TRAJECTORY_PARTS + (int)(part))

typedef struct trajectory_output {
    const char *key;
    int32_t buffer;
    int32_t component; /* index of a component of the buffer's row; -1: the whole row */
    uint32_t needs;    /* TRAJECTORY_VELOCITIES and so on */
    const char *unit;
    const char *meaning;
} trajectory_output;

#define TRAJECTORY_MAX_OUTPUTS 64

extern const trajectory_output trajectory_outputs[];
extern const size_t trajectory_output_count; /* <= TRAJECTORY_MAX_OUTPUTS */

/* Axes of an output's array: frames, bodies or atoms, and the axes of a row. */
#define TRAJECTORY_OUTPUT_DIMS 4

/* How many bodies and atoms a frame has. */
typedef struct trajectory_extent {
    int64_t bodies; /* 0: one body, and results have no axis of bodies */
    int64_t atoms;
} trajectory_extent;

/* Labels of bodies or atoms, the second axis of results. */
typedef struct trajectory_labels {
    const char *key; /* key of the array of labels: "bodies" or "atoms" */
    int64_t n;       /* 0: there are none */
    const char *const *texts;
} trajectory_labels;

/* Returns the number of elements in a row of a buffer. */
int64_t trajectory_buffer_width(int32_t buffer);
/* 1 if a row belongs to the frame, not to a body or an atom. */
int trajectory_buffer_is_shared(int32_t buffer);
/* Returns the number of rows of a buffer in a frame. */
int64_t trajectory_buffer_rows(int32_t buffer, trajectory_extent extent);
/* Returns the largest number of rows in a frame of any buffer of the set. */
int64_t trajectory_buffers_rows(uint64_t buffers, trajectory_extent extent);
/* Sets the shape of an array of n rows of a buffer; returns its number of axes, 1 to 3. */
int32_t trajectory_buffer_shape(int32_t buffer, int64_t n, int64_t shape[3]);
/* Sets the shape of n frames of an output; returns its number of axes. */
int32_t trajectory_output_shape(const trajectory_output *output, int64_t n,
                                trajectory_extent extent, int64_t shape[TRAJECTORY_OUTPUT_DIMS]);
/* Returns how many numbers the array of an output has for one frame. */
int64_t trajectory_output_width(const trajectory_output *output, trajectory_extent extent);
/* Returns how many numbers a row of an output has. */
int64_t trajectory_output_numbers(const trajectory_output *output);
/* The names of the numbers of a row: "x", "y", "z"; "" if a row is one number. Static. */
const char *const *trajectory_output_components(const trajectory_output *output);
/* Returns the fields that a buffer needs beyond positions. */
uint32_t trajectory_buffer_needs(int32_t buffer);

/* A set of buffers, one bit each. */
#define TRAJECTORY_BUFFER_BIT(buffer) ((uint64_t)1 << (buffer))

/* The buffers that kernels compute from all atoms of a frame: sums over atoms. Other buffers are derived from
 * these. */
typedef struct trajectory_sum {
    int32_t buffer;
    const char *name;
} trajectory_sum;

#define TRAJECTORY_SUMS 17
extern const trajectory_sum trajectory_sums[TRAJECTORY_SUMS];
/* Returns the sums in a set of buffers. */
uint64_t trajectory_buffers_summed(uint64_t buffers);

/* Returns the buffers that must be computed to get the buffers in `chosen`: the chosen buffers, the buffers from
 * which they are derived, and the centre of mass. */
uint64_t trajectory_buffers_for(uint64_t chosen);
