/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - a scattering. */
#ifndef ENGINES_SCATTER_STATE_H
#define ENGINES_SCATTER_STATE_H

#include <collet/scatter.h>

#define SCATTER_FIELDS 7 /* of a material with directions */

/* The fields of one material among all. */
typedef struct scatter_part {
    int64_t first, count; /* 7, or 1: only the volume fraction */
} scatter_part;

struct collet_scattering {
    struct scatter_devices *devices; /* which do it all; NULL: this is of one device */
    int64_t n_devices;               /* that share the energies */
    collet_context *context;
    collet_scattering_options options; /* with copies of its lists */
    collet_scattering_plan plan;
    scatter_part *parts; /* of the materials */
    int64_t angles;
    double *radians;
    double axis[3][3];  /* e1, e2 of the field, and the direction of the beam */
    double warp[2][2];  /* of the image on the detector */
    int warps;          /* 0: it is the identity */
    void *warped;       /* a pattern */
    double *q[3];       /* of slices, rows, columns: z, y, x; NaN where CyRSoXS has no pixel */
    int64_t span;       /* fast: energies of one pass over the morphology */
    int64_t layers;     /* of the sample that are read at a time */
    int64_t depth;      /* slices of a pixel, at most, for the energies of one pass */
    void *layer_values; /* of a material, where options.layers reads them */
    double *sums;       /* of their volume fractions over the materials */
    collet_scattering_material *view;
    int32_t *range;       /* [2, Y, X]: the first slice of each pixel, and how many */
    collet_array *slices; /* fast: [depth, F, Y, X]; NULL: not made */
    int64_t sliced[2];    /* of energies sliced[0] .. sliced[1]-1 */
    collet_array *fields; /* direct: [M, 7, Z, Y, X] */
    collet_array *images; /* fast: of a block; NULL: not made */
    collet_array *out;    /* [block, Y, X] */
    void *values;         /* the patterns of a block */
    int64_t next;         /* energy */
    int64_t first, ready; /* energies first .. ready-1 are in `values` */
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
