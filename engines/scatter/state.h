/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - a scattering. */
#ifndef COLLET_ENGINES_SCATTER_STATE_H
#define COLLET_ENGINES_SCATTER_STATE_H

#include <collet/scatter.h>

#define SCATTER_FIELDS 7    /* of a material with directions */
#define SCATTER_AT_A_TIME 4 /* energies whose amplitudes are kept, where the spectra are */

/* The fields of one material among all. */
typedef struct scatter_part {
    int64_t first, count; /* 7, or 1: only the volume fraction */
} scatter_part;

struct collet_scattering {
    collet_context *context;
    collet_scattering_options options; /* with copies of its lists */
    collet_scattering_plan plan;
    scatter_part *parts; /* of the materials */
    int64_t at_a_time;   /* energies whose amplitudes are kept */
    int64_t angles;
    double *radians;
    double axis[3][3];     /* e1, e2 of the field, and the direction of the beam */
    double *q[3];          /* of slices, rows, columns: z, y, x; NaN where CyRSoXS has no pixel */
    collet_array *spectra; /* [F, Z, Y, H] of all fields or of one material; NULL: not made */
    collet_array *fields;  /* direct: [M, 7, Z, Y, X] */
    collet_array *out;     /* [block, Y, X] */
    void *values;          /* the patterns of a block */
    int64_t next;          /* energy */
    int64_t ready;         /* energies below it are in `values` */
    int64_t steps, steps_total;
    collet_scattering_pattern pattern;
    collet_error error;
};

static inline int scatter_is_wide(const collet_scattering *s)
{
    return s->options.dtype == COLLET_F64;
}

static inline collet_dtype scatter_complex(const collet_scattering *s)
{
    return scatter_is_wide(s) ? COLLET_C128 : COLLET_C64;
}

#endif
