/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - the members of collet_scatter, private to this folder. */
#pragma once

#include <collet/scatter.h>

#define SCATTER_FIELDS 7 /* number of fields of a material with directions */

/* The fields of one material, as a range of all fields. */
typedef struct scatter_part {
    int64_t first, count; /* count: 7, or 1 for the volume fraction only */
} scatter_part;

struct collet_scatter {
    struct scatter_devices *devices; /* several devices do the work; NULL: this struct does the work */
    int64_t n_devices;               /* number of devices that share the energies */
    collet_context *context;
    collet_scatter_options
        options;       /* the lists are copies; shape[0] is 1 if `collapse` is set */
    int64_t thickness; /* number of layers whose mean is one layer of fields: 1, or all */
    collet_scatter_plan plan;
    scatter_part *parts; /* one for each material */
    int64_t angles;
    double *radians;
    double axis[3][3];  /* e1 and e2 of the electric field, and the direction of the beam */
    double warp[2][2];  /* maps the image to the detector */
    int warps;          /* 0: `warp` is the identity */
    void *warped;       /* scratch for one pattern */
    double *q[3];       /* q of slices, rows, columns (z, y, x); NaN where CyRSoXS has no pixel */
    int64_t span;       /* fast method: energies of one pass over the morphology */
    int64_t layers;     /* layers of the morphology read at a time */
    int64_t depth;      /* largest number of slices of a pixel that one pass needs; on the exact grid the number of nodes */
    void *layer_values; /* layers of a material, if options.layers reads them */
    double *volumes;    /* with options.attenuation: sum of the fractions of each material */
    int64_t *counted;   /* for each material: number of layers whose fractions `volumes` includes */
    double *sums;       /* for each voxel that was read: sum of the fractions of all materials */
    collet_scatter_material *view;
    int32_t *range;       /* [2, Y, X]: first slice and number of slices of each pixel; NULL: the grid is exact */
    /* The members of the exact grid; NULL for other grids. */
    double *interval; /* [2, Y, X]: middle of each pixel's interval of q_z in the pass, NaN: none; half its extent */
    double *nodes;    /* [2, depth]: nodes in the intervals, from -1 to 1; their barycentric weights */
    collet_array *slices; /* fast method: [depth, F, Y, X], at slices or nodes; NULL: not made */
    int64_t sliced[2];    /* `slices` is for energies sliced[0] .. sliced[1]-1 */
    collet_array *fields; /* direct method: [M, 7, Z, Y, X] */
    collet_array *images; /* fast method: images of a block; NULL: not made */
    collet_array *out;    /* [block, Y, X] */
    void *values;         /* the patterns of a block */
    int64_t next;         /* index of the next energy */
    int64_t made[2];      /* energies made[0] .. made[1]-1 are in `out` */
    int64_t first, ready; /* energies first .. ready-1 are in `values` */
    int64_t steps, steps_total;
    collet_scatter_pattern pattern;
    collet_error error;
};

static inline int scatter_is_wide(const collet_scatter *s)
{
    return s->options.dtype == COLLET_F64;
}

static inline int scatter_is_exact(const collet_scatter *s)
{
    return s->options.grid == COLLET_SCATTER_EXACT;
}

static inline collet_dtype scatter_complex(const collet_scatter *s)
{
    return scatter_is_wide(s) ? COLLET_C128 : COLLET_C64;
}
