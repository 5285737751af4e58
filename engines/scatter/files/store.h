/* SPDX-License-Identifier: Apache-2.0 */
/* store.h - HDF5 files that are made in memory and get their name when they are complete. Equal
 * contents give equal bytes. On failure, functions that return hid_t return a negative number, and
 * functions that return int return 0. */
#ifndef ENGINES_SCATTER_FILES_STORE_H
#define ENGINES_SCATTER_FILES_STORE_H

#include "io/hdf5/file.h"
#include "scatter/files/inspections.h"

/* What io_hdf5_open_file says of other files. */
#define SCATTER_KIND                                                                               \
    "morphologies and patterns are HDF5 files, as in CyRSoXS (man collet-rsoxs, FILES)"

/* Creates a file in memory, which scatter_store closes. */
hid_t scatter_make_file(void);
hid_t scatter_make_group(hid_t file, const char *name);
/* Creates a dataset from values of `type`, stored as `stored`. The caller closes it. */
hid_t scatter_make_set(hid_t group, const char *name, hid_t stored, int axes, const hsize_t *shape,
                       hid_t type, const void *values);

/* Closes the file, and writes it to `path` if `done` is 1. `done` = 0: a step before failed; then
 * NO_MEMORY, the only reason for which HDF5 fails to write to memory. Else IO, NO_MEMORY. */
collet_status scatter_store(hid_t file, int done, const char *path, collet_error *err);
/* Opens a written file for reading, after collet-inspect has run `inspection`, which is NULL there, with the
 * arguments (NULL: none); the caller closes it. NOT_FOUND if it does not exist. */
collet_status scatter_open_file(const char *path, const io_hdf5_inspection *inspection,
                                const int64_t *arguments, hid_t *file, collet_error *err);
/* Writes the attribute that says how a file was made. */
int scatter_write_settings(hid_t file, const char *settings);
/* OK if the file has these settings; NOT_FOUND; INVALID for others, with the first difference;
 * FORMAT if it has none. */
collet_status scatter_compare_settings(const char *path, const char *settings, collet_error *err);

#endif
