/* SPDX-License-Identifier: Apache-2.0 */
/* store.h - HDF5 files that are made in memory and get their name when they are complete. The same
 * contents are the same bytes. Functions of hid_t return one below 0 on failure, functions of int
 * 0. */
#ifndef ENGINES_SCATTER_FILES_STORE_H
#define ENGINES_SCATTER_FILES_STORE_H

#include <collet/collet.h>
#include <hdf5.h>

/* HDF5 prints its errors unless it is told not to. */
typedef struct scatter_quiet {
    H5E_auto2_t report;
    void *data;
} scatter_quiet;
void scatter_be_quiet(scatter_quiet *before);
void scatter_report_again(const scatter_quiet *before);

/* IO if the path is there and no regular file, such as a pipe, on which opening would wait. */
collet_status scatter_check_regular(const char *path, collet_error *err);
/* Opens an HDF5 file to read; the caller closes it. IO; FORMAT if it is none, or damaged. */
collet_status scatter_open_file(const char *path, hid_t *file, collet_error *err);
/* Opens a dataset, if its values are in the file; *elsewhere: they are not, or a link leaves it. */
hid_t scatter_open_own(hid_t file, const char *name, int *elsewhere);
/* Whether there is such a link, which does not leave the file. */
int scatter_has(hid_t file, const char *name);
/* Properties of access, of a class, with which no link to another file is followed; *outside: one
 * was met. The caller closes them. */
hid_t scatter_stay_inside(hid_t class, int *outside);

/* A file in memory, closed by scatter_store. */
hid_t scatter_make_file(void);
hid_t scatter_make_group(hid_t file, const char *name);
/* Values of `type`, in the file of type `stored`. The caller closes it. */
hid_t scatter_make_set(hid_t group, const char *name, hid_t stored, int axes, const hsize_t *shape,
                       hid_t type, const void *values);

/* Closes the file; writes it to `path` by a spool if `done`. IO; NO_MEMORY, also if not done, which
 * is what failed where HDF5 wrote to memory. */
collet_status scatter_store(hid_t file, int done, const char *path, collet_error *err);

#endif
