/* SPDX-License-Identifier: Apache-2.0 */
/* warnings.h - warnings about files with suspicious contents. */
#pragma once

#include "scatter/files/input.h"
#include "scatter/files/inspections.h"

#include <hdf5.h>

/* The file of a morphology, while it is read. */
typedef struct scatter_reader {
    collet_scatter_input *in;
    const char *path;
    hid_t file;
    int reversed; /* 1: the axes of the first dataset are X, Y, Z */
    const io_hdf5_inspection *inspection;
    int64_t arguments[IO_HDF5_ARGUMENTS]; /* arguments of `inspection` */
    collet_error *err;
} scatter_reader;

/* Sets *has to 1 if material m, from 0, has a dataset S. A material without S is not aligned; if such a
 * material has angles, the function warns. NO_MEMORY. */
collet_status scatter_find_alignment(scatter_reader *r, int64_t m, int *has);
/* Warns about suspicious parameters of the file. NO_MEMORY. */
collet_status scatter_warn_of_file(scatter_reader *r);
/* Adds the first `voxels` voxels of a material's arrays to *range. */
void scatter_note_range(scatter_range *range, const collet_scatter_material *material,
                        int64_t voxels);
/* Warn about suspicious energies, constants, and voxels of material m (from 0). Call each function after all its
 * values were read. NO_MEMORY. */
collet_status scatter_warn_of_energies(collet_scatter_input *in, const char *path,
                                       collet_error *err);
collet_status scatter_warn_of_constants(collet_scatter_input *in, const char *path,
                                        collet_error *err);
collet_status scatter_warn_of_voxels(collet_scatter_input *in, const char *path, int64_t m,
                                     const scatter_range *range, collet_error *err);
