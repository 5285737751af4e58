/* SPDX-License-Identifier: Apache-2.0 */
/* store.h - HDF5 files that are built in memory; the file appears under its name only when it is complete. Equal
 * contents give equal bytes. On failure, functions that return hid_t return a negative number, and
 * functions that return int return 0. */
#pragma once

#include "io/hdf5/file.h"
#include "scatter/files/inspections.h"

/* The argument `kind` of io_hdf5_open_file, which becomes part of its message. */
#define SCATTER_KIND                                                                               \
    "morphologies and patterns are HDF5 files, as in CyRSoXS (man collet-rsoxs, FILES)"

/* Creates a file in memory, which scatter_store closes. */
hid_t scatter_make_file(void);
hid_t scatter_make_group(hid_t file, const char *name);
/* Creates a dataset of the HDF5 type `stored` from values of the HDF5 type `type`. The caller closes it. */
hid_t scatter_make_set(hid_t group, const char *name, hid_t stored, int axes, const hsize_t *shape,
                       hid_t type, const void *values);

/* Closes the file, and writes it to `path` if `done` is 1: IO, NO_MEMORY. `done` = 0 means that an HDF5 call
 * failed before: returns NO_MEMORY, the only reason for which HDF5 fails to write to memory. */
collet_status scatter_store(hid_t file, int done, const char *path, collet_error *err);
/* Opens a file of scatter_store for reading; the caller closes it. First collet-inspect runs `inspection` with
 * `arguments` (NULL: none); in collet-inspect itself `inspection` is NULL. NOT_FOUND if the file does not exist. */
collet_status scatter_open_file(const char *path, const io_hdf5_inspection *inspection,
                                const int64_t *arguments, hid_t *file, collet_error *err);
/* Writes `settings`, the text of the options with which a file was computed, as an attribute. */
int scatter_write_settings(hid_t file, const char *settings);
/* OK if the file has these settings; NOT_FOUND if there is no file; INVALID for other settings, with the first
 * difference in the text; FORMAT if the file has no settings. */
collet_status scatter_compare_settings(const char *path, const char *settings, collet_error *err);
