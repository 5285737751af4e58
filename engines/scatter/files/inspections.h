/* SPDX-License-Identifier: Apache-2.0 */
/* inspections.h - the functions that collet-inspect runs on an HDF5 file before this engine reads the file
 * (io/hdf5/inspect.h). Each comment names the source file of the function, then its arguments. */
#pragma once

#include "io/hdf5/inspect.h"

extern const io_hdf5_inspection scatter_inspect_morphology; /* morphology.c; vectors, dtype */
extern const io_hdf5_inspection scatter_inspect_faults;     /* validate.c; vectors */
extern const io_hdf5_inspection scatter_inspect_slice;      /* slice.c; material, field, axis, voxel */
extern const io_hdf5_inspection scatter_inspect_image;      /* image.c */
extern const io_hdf5_inspection scatter_inspect_results;    /* store.c: a file's settings */
extern const io_hdf5_inspection scatter_inspect_pattern;    /* output.c; beam, y, x */
