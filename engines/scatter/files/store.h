/* SPDX-License-Identifier: Apache-2.0 */
/* store.h - HDF5 files that are made in memory and get their name when they are complete. Equal
 * contents give equal bytes. On failure, functions that return hid_t return a negative number, and
 * functions that return int return 0. */
#ifndef ENGINES_SCATTER_FILES_STORE_H
#define ENGINES_SCATTER_FILES_STORE_H

#include <collet/collet.h>
#include <hdf5.h>

/* Stops HDF5 from printing errors, and restores that. */
typedef struct scatter_quiet {
    H5E_auto2_t report;
    void *data;
} scatter_quiet;
void scatter_be_quiet(scatter_quiet *before);
void scatter_report_again(const scatter_quiet *before);

/* IO if the path exists but is not a regular file: opening a pipe, for instance, could block. */
collet_status scatter_check_regular(const char *path, collet_error *err);
/* Opens an HDF5 file for reading; the caller closes it. IO; FORMAT if it is not HDF5 or damaged. */
collet_status scatter_open_file(const char *path, hid_t *file, collet_error *err);
/* Opens a dataset. Fails with *elsewhere = 1 if its values, or the target of a link, are in another
 * file. */
hid_t scatter_open_own(hid_t file, const char *name, int *elsewhere);
/* Whether there is such a link, which does not leave the file. */
int scatter_has(hid_t file, const char *name);
/* Access properties of a class that refuse links to other files; such a link sets *outside to 1,
 * which must stay valid. The caller closes the properties. */
hid_t scatter_stay_inside(hid_t class, int *outside);

/* Creates a file in memory, which scatter_store closes. */
hid_t scatter_make_file(void);
hid_t scatter_make_group(hid_t file, const char *name);
/* Creates a dataset from values of `type`, stored as `stored`. The caller closes it. */
hid_t scatter_make_set(hid_t group, const char *name, hid_t stored, int axes, const hsize_t *shape,
                       hid_t type, const void *values);

/* Closes the file, and writes it to `path` if `done` is 1. `done` = 0: a step before failed; then
 * NO_MEMORY, the only reason for which HDF5 fails to write to memory. Else IO, NO_MEMORY. */
collet_status scatter_store(hid_t file, int done, const char *path, collet_error *err);

#endif
