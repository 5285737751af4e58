/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outputs.h - what is computed for a frame, and under which key, shape and unit it is written.
 *
 * A buffer holds rows of one quantity, one row a frame. An output is a buffer, or one component of
 * it, under a key. To add an output: a buffer here, its line in both tables of outputs.c, and the
 * kernel call in analysis.c (from atoms) or derivation.c.
 */
#ifndef COLLET_EXTRACT_OUTPUTS_H
#define COLLET_EXTRACT_OUTPUTS_H

#include <stddef.h>
#include <stdint.h>

/* What an output needs beyond positions. */
#define EXTRACT_VELOCITIES 1u
#define EXTRACT_FORCES 2u
#define EXTRACT_TIMES 4u

/* The vectors that are decomposed, and their parts. */
enum { EXTRACT_L, EXTRACT_TAU, EXTRACT_OMEGA, EXTRACT_DLDT, EXTRACT_VECTORS };
enum {
    EXTRACT_VECTOR,
    EXTRACT_PARALLEL,
    EXTRACT_PERP,
    EXTRACT_Z,
    EXTRACT_MAG,
    EXTRACT_PARALLEL_MAG,
    EXTRACT_PERP_MAG,
    EXTRACT_Z_MAG,
    EXTRACT_PARTS
};

enum {
    EXTRACT_TIME,
    EXTRACT_COM,
    EXTRACT_INERTIA,
    EXTRACT_MOMENTS,
    EXTRACT_AXES,
    EXTRACT_EULER,
    EXTRACT_KINETIC,
    EXTRACT_RADIUS,
    EXTRACT_GYRATION,
    EXTRACT_ASPHERICITY,
    EXTRACT_RMSD,
    EXTRACT_TILT,
    EXTRACT_PART, /* the first of EXTRACT_VECTORS x EXTRACT_PARTS buffers */
    EXTRACT_BUFFERS = EXTRACT_PART + (int)EXTRACT_VECTORS * (int)EXTRACT_PARTS
};

#define EXTRACT_BUFFER_OF(vector, part)                                                            \
    ((int)EXTRACT_PART + (int)(vector) * (int)EXTRACT_PARTS + (int)(part))

typedef struct extract_output {
    const char *key;
    int32_t buffer;
    int32_t component; /* of the buffer's row; -1: the whole row */
    uint32_t needs;    /* EXTRACT_VELOCITIES, EXTRACT_FORCES, EXTRACT_TIMES */
    const char *unit;
    const char *meaning;
} extract_output;

#define EXTRACT_MAX_OUTPUTS 64

extern const extract_output extract_outputs[];
extern const size_t extract_output_count; /* <= EXTRACT_MAX_OUTPUTS */

/* Numbers in a row of a buffer. */
int64_t extract_buffer_width(int32_t buffer);
/* The shape of an array of n rows of a buffer; returns its number of axes, 1 to 3. */
int32_t extract_buffer_shape(int32_t buffer, int64_t n, int64_t shape[3]);
/* The same for what is written of it under a key. */
int32_t extract_output_shape(const extract_output *output, int64_t n, int64_t shape[3]);
/* What a buffer needs beyond positions. */
uint32_t extract_buffer_needs(int32_t buffer);

#endif
