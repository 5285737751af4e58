/* SPDX-License-Identifier: Apache-2.0 */
/* file.h - opens HDF5 files and datasets for reading. On failure, functions that return hid_t return a
 * negative number, and functions that return int return 0. This is a separate library, so that only engines that read
 * HDF5 need libhdf5. */
#pragma once

#include <collet/collet.h>
#include <hdf5.h>

/* io_hdf5_be_quiet stops HDF5 from printing errors; io_hdf5_report_again restores the state before. */
typedef struct io_hdf5_quiet {
    H5E_auto2_t report;
    void *data;
} io_hdf5_quiet;
void io_hdf5_be_quiet(io_hdf5_quiet *before);
void io_hdf5_report_again(const io_hdf5_quiet *before);

/* IO if the path exists but is not a regular file: opening a pipe, for instance, could block. */
collet_status io_hdf5_check_regular(const char *path, collet_error *err);
/* Opens an HDF5 file for reading; the caller closes it. IO if it cannot be read; FORMAT if it is damaged or
 * not HDF5. `kind` is a text for the message: the expected kind of file. */
collet_status io_hdf5_open_file(const char *path, const char *kind, hid_t *file, collet_error *err);
/* Opens a dataset. Fails with *elsewhere = 1 if its values, or the target of a link, are in another
 * file. */
hid_t io_hdf5_open_own(hid_t file, const char *name, int *elsewhere);
/* 1 if the file has a link of this name, and its target is in the same file. */
int io_hdf5_has(hid_t file, const char *name);
/* Creates access properties of a class. These properties refuse links to other files. Following such a link sets
 * *outside to 1, so `outside` must stay valid. The caller closes the properties. */
hid_t io_hdf5_stay_inside(hid_t class, int *outside);
