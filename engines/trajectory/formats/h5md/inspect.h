/* SPDX-License-Identifier: Apache-2.0 */
/* inspect.h - the function that collet-inspect runs on an HDF5 file before this engine reads the file
 * (io/hdf5/inspect.h). */
#pragma once

#include "io/hdf5/inspect.h"

extern const io_hdf5_inspection trajectory_inspect_h5md; /* h5md.c */
