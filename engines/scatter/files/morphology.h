/* SPDX-License-Identifier: Apache-2.0 */
/* morphology.h - opens the file of a morphology and its datasets. */
#pragma once

#include "scatter/files/group.h"
#include "scatter/files/warnings.h"

/* Opens the file, reads its parameters into r->in unless they were read before, calls `work`, and
 * closes the file. Unless the file was read before, collet-inspect runs r->inspection first. */
collet_status scatter_read_file(scatter_reader *r, collet_status (*work)(scatter_reader *));
/* Call it before data with `width` elements per voxel are read. In collet-inspect the call restarts the time
 * limit. */
void scatter_begin_step(const scatter_reader *r, int width);
/* Opens a dataset; the caller closes it. FORMAT, and *out = -1, if there is no such dataset, or if its values or a
 * link to it are in another file. */
collet_status scatter_open_set(scatter_reader *r, const char *name, hid_t *out);
/* Checks the shape of a dataset. The first dataset sets r->in->options.shape and r->reversed; all other datasets must
 * have the same shape. `width`: number of elements of a voxel. */
collet_status scatter_check_shape(scatter_reader *r, hid_t set, const char *name, int width);

/* A dataset of a material. */
typedef struct scatter_dataset {
    char name[SCATTER_NAME_SIZE];
    hid_t set; /* the caller closes it; -1: not open */
    int width; /* number of elements of a voxel */
} scatter_dataset;

/* Opens and checks the dataset `what` of material m, from 0. */
collet_status scatter_open_dataset(scatter_reader *r, int64_t m, const char *what, int width,
                                   scatter_dataset *out);
/* Reads planes first .. first + planes - 1 along z, in the order Z, Y, X, as the input's dtype. */
collet_status scatter_read_planes(scatter_reader *r, const scatter_dataset *d, int64_t first,
                                  int64_t planes, void *values);
