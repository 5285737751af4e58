/* SPDX-License-Identifier: Apache-2.0 */
/* hdf5.h - writes results as HDF5: one dataset for each key, with its unit and meaning as attributes; the meta data
 * are an attribute of the file. */
#pragma once

#include "table.h"

/* UNSUPPORTED in a build without HDF5; called before anything is computed. */
collet_status trajectory_hdf5_check(const char *path, collet_error *err);
/* Writes the table. COLLET_IO. If the disk has no space for the whole file, this function fails before it writes
 * anything. */
collet_status trajectory_hdf5_write(const trajectory_table *table, io_spool *file,
                                    collet_error *err);
