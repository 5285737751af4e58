/* SPDX-License-Identifier: Apache-2.0 */
/* checks.h - options and voxels before hours are spent on them. */
#ifndef ENGINES_SCATTER_CHECKS_H
#define ENGINES_SCATTER_CHECKS_H

#include <collet/scatter.h>

/* INVALID, with what is wrong and where. */
collet_status scatter_check_options(const collet_scattering_options *options, collet_error *err);
collet_status scatter_check_voxels(const collet_scattering_options *options, collet_error *err);

/* Parts of these, for files that are not known wholly. The beam and the angles; an energy, if
 * `constants` is not NULL, its constants and, if shape and voxel are known, that it reaches a
 * pixel.
 */
collet_status scatter_check_beam(const collet_scattering_options *options, collet_error *err);
collet_status scatter_check_energy(const collet_scattering_options *options, int64_t energy,
                                   collet_error *err);

#define SCATTER_KINDS 6 /* of faults of a material */
#define SCATTER_SUM 6   /* kind, after the kinds of all materials: the sum is not 1 */
#define SCATTER_SHOWN 3

/* Voxels with one fault: how many, and the first ones. */
typedef struct scatter_fault {
    const char *what, *expected;
    int64_t count, first[SCATTER_SHOWN][3]; /* z, y, x */
    double values[SCATTER_SHOWN];
} scatter_fault;

/* Part of a morphology. */
typedef struct scatter_voxels {
    const collet_scattering_options *options;
    int64_t before;        /* voxels before the options' arrays */
    scatter_fault *faults; /* kind of material m at m SCATTER_KINDS + kind; NULL: the first fault is
                              an error */
    collet_error *err;
} scatter_voxels;

/* Checks voxels begin .. end - 1 of a material, and adds its volume fractions to `sum`. */
collet_status scatter_check_part(const scatter_voxels *v, int64_t m, int64_t begin, int64_t end,
                                 double *sum);
collet_status scatter_check_sums(const scatter_voxels *v, int64_t begin, int64_t end,
                                 const double *sum);

#endif
