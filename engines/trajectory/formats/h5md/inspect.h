/* SPDX-License-Identifier: Apache-2.0 */
/* inspect.h - the way in which this engine reads HDF5 files. collet-inspect first reads a file in the same way
 * (io/hdf5/inspect.h). */
#pragma once

#include "io/hdf5/inspect.h"

extern const io_hdf5_inspection trajectory_inspect_h5md; /* h5md.c */
