/* SPDX-License-Identifier: Apache-2.0 */
/* checks.h - checks options and voxels before a computation that may take hours. */
#pragma once

#include <collet/scatter.h>

/* Copies the program's structs: the size of each struct is in its struct_size. Checks the structs, but no voxels. The
 * caller frees own->materials with free(), also after a failure. */
collet_status scatter_take_options(collet_scatter_options *own, const collet_scatter_options *given,
                                   collet_error *err);

/* Returns the number of arrays of a material's kind. */
int scatter_count_arrays(const collet_scatter_material *material);
/* INVALID: the text says what is wrong and where. */
collet_status scatter_check_options(const collet_scatter_options *options, collet_error *err);
collet_status scatter_check_voxels(const collet_scatter_options *options, collet_error *err);

/* Parts of scatter_check_options, for callers that have read only some of the files. scatter_check_beam checks the beam
 * and the angles. scatter_check_energy checks an energy; its constants, unless `constants` is NULL; and, if
 * shape and voxel are known, that Ewald's sphere meets a pixel. */
collet_status scatter_check_beam(const collet_scatter_options *options, collet_error *err);
collet_status scatter_check_energy(const collet_scatter_options *options, int64_t energy,
                                   collet_error *err);

#define SCATTER_KINDS 6 /* kinds of faults of a material */
#define SCATTER_SUM 6   /* another kind of fault, for all materials together: the sum of fractions is not 1 */
#define SCATTER_SHOWN 3

/* The voxels with one kind of fault: their number, and the first few. */
typedef struct scatter_fault {
    const char *what, *expected;
    int64_t count, first[SCATTER_SHOWN][3]; /* z, y, x */
    double values[SCATTER_SHOWN];
} scatter_fault;

/* A part of a morphology, to be checked. */
typedef struct scatter_voxels {
    const collet_scatter_options *options;
    int64_t before;        /* number of voxels of the morphology before this part */
    scatter_fault *faults; /* index: m * SCATTER_KINDS + kind for material m; NULL: the first fault
    is an error */
    collet_error *err;
} scatter_voxels;

/* Checks voxels begin .. end - 1 of a material, and adds its volume fractions to `sum`. */
collet_status scatter_check_part(const scatter_voxels *v, int64_t m, int64_t begin, int64_t end,
                                 double *sum);
collet_status scatter_check_sums(const scatter_voxels *v, int64_t begin, int64_t end,
                                 const double *sum);
