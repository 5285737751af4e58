/* SPDX-License-Identifier: Apache-2.0 */
/* morphology.h - the file of a morphology, for those that read its datasets. */
#ifndef ENGINES_SCATTER_FILES_MORPHOLOGY_H
#define ENGINES_SCATTER_FILES_MORPHOLOGY_H

#include "scatter/files/warnings.h"

/* Opens the file, reads its parameters into r->in unless they are there, works, and closes it. */
collet_status scatter_read_file(scatter_reader *r, collet_status (*work)(scatter_reader *));
/* Opens a dataset whose values are in this file, which no link leaves; the caller closes it.
 * FORMAT, and -1. */
collet_status scatter_open_set(scatter_reader *r, const char *name, hid_t *out);
/* The first dataset determines r->in->options.shape and r->reversed, which the others have.
 * `width`: numbers of a voxel. */
collet_status scatter_check_shape(scatter_reader *r, hid_t set, const char *name, int width);

/* A dataset of a material. */
typedef struct scatter_dataset {
    char name[80];
    hid_t set; /* closed by who opened it; -1: there is none */
    int width; /* numbers of a voxel */
} scatter_dataset;

/* Opens and checks Mat_m_what, m from 0. */
collet_status scatter_open_dataset(scatter_reader *r, int64_t m, const char *what, int width,
                                   scatter_dataset *out);
/* Planes first .. first + planes - 1 along z, as Z, Y, X, of the input's dtype. */
collet_status scatter_read_planes(scatter_reader *r, const scatter_dataset *d, int64_t first,
                                  int64_t planes, void *values);

#endif
