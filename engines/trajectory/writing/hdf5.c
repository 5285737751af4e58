/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_forms.c */
#include "hdf5.h"

#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/hdf5/locks.h"

#define CHUNK_BYTES ((int64_t)4 << 20)
#define RESERVED 8192 /* bytes for the file, and for each array, in addition to the numbers */
#define LABEL 64      /* bytes for a label in addition to its text */

/* Writes a text attribute of variable length, because HDF5 limits texts of fixed length to 64 KiB. */
static int put_text(hid_t object, const char *name, const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR), attribute = -1;
    int done = H5Tset_size(type, H5T_VARIABLE) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0;

    if (done)
        attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    done = attribute >= 0 && H5Awrite(attribute, type, &text) >= 0;
    if (attribute >= 0)
        H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
    return done;
}

/* Copies the rows, some at a time. *status becomes the status of reading the rows. */
static int put_rows(const trajectory_table *t, int32_t i, hid_t set, int32_t ndim,
                    const hsize_t *shape, collet_status *status, collet_error *err)
{
    hsize_t first[TRAJECTORY_OUTPUT_DIMS] = {0}, count[TRAJECTORY_OUTPUT_DIMS], row = 1;

    for (int32_t k = 1; k < ndim; k++)
        row *= count[k] = shape[k];
    hsize_t capacity = (hsize_t)CHUNK_BYTES / (row * sizeof(double));
    capacity += capacity == 0;
    double *rows = malloc(capacity * row * sizeof *rows);
    int done = rows != NULL;

    for (; done && first[0] < shape[0]; first[0] += count[0]) {
        count[0] = shape[0] - first[0] < capacity ? shape[0] - first[0] : capacity;
        *status = io_results_read(t->results, t->arrays[i], (int64_t)first[0], (int64_t)count[0],
                                  rows, err);
        hid_t in_memory = H5Screate_simple(ndim, count, NULL), in_file = H5Dget_space(set);
        done = *status == COLLET_OK &&
               H5Sselect_hyperslab(in_file, H5S_SELECT_SET, first, NULL, count, NULL) >= 0 &&
               H5Dwrite(set, H5T_NATIVE_DOUBLE, in_memory, in_file, H5P_DEFAULT, rows) >= 0;
        H5Sclose(in_memory);
        H5Sclose(in_file);
    }
    free(rows);
    return done;
}

static int put_array(const trajectory_table *t, int32_t i, hid_t file, collet_status *status,
                     collet_error *err)
{
    const trajectory_output *output = t->outputs[i];
    int64_t own[TRAJECTORY_OUTPUT_DIMS];
    hsize_t shape[TRAJECTORY_OUTPUT_DIMS];
    int32_t ndim =
        trajectory_output_shape(output, io_results_rows(t->results, t->arrays[i]), t->extent, own);
    for (int32_t k = 0; k < ndim; k++)
        shape[k] = (hsize_t)own[k];
    hid_t space = H5Screate_simple(ndim, shape, NULL);
    hid_t set =
        H5Dcreate2(file, output->key, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    int done = set >= 0 && put_text(set, "unit", output->unit) &&
               put_text(set, "meaning", output->meaning) &&
               put_rows(t, i, set, ndim, shape, status, err);

    if (set >= 0)
        done = H5Dclose(set) >= 0 && done;
    H5Sclose(space);
    return done;
}

/* The labels, as texts. */
static int put_labels(const trajectory_table *t, hid_t file)
{
    const hsize_t n = (hsize_t)t->labels.n;

    if (n == 0)
        return 1;
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &n, NULL), set = -1;
    if (H5Tset_size(type, H5T_VARIABLE) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0)
        set = H5Dcreate2(file, t->labels.key, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    int done = set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, t->labels.texts) >= 0;
    if (set >= 0)
        done = H5Dclose(set) >= 0 && done;
    H5Sclose(space);
    H5Tclose(type);
    return done;
}

/* Reserves the disk space before HDF5 writes, because HDF5 crashes on a full disk. `flags`: flags of fallocate. */
static int reserve(const trajectory_table *t, const char *path, int flags)
{
    int64_t bytes = RESERVED + (t->meta ? (int64_t)strlen(t->meta) : 0);
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    for (int32_t i = 0; i < t->n; i++) {
        int64_t width = trajectory_output_width(t->outputs[i], t->extent);
        bytes += RESERVED + io_results_rows(t->results, t->arrays[i]) * width * 8;
    }
    for (int64_t i = 0; i < t->labels.n; i++)
        bytes += LABEL + (int64_t)strlen(t->labels.texts[i]);
    int done = fd >= 0 && (fallocate(fd, flags, 0, (off_t)bytes) == 0 || errno == EOPNOTSUPP);
    int code = errno;
    if (fd >= 0)
        close(fd);
    errno = code;
    return done;
}

collet_status trajectory_hdf5_check(const char *path, collet_error *err)
{
    (void)path;
    (void)err;
    return COLLET_OK;
}

collet_status trajectory_hdf5_write(const trajectory_table *table, io_spool *spool,
                                    collet_error *err)
{
    const char *path = io_spool_temporary(spool);
    collet_status status = COLLET_OK;
    H5E_auto2_t report;
    void *data;

    if (!reserve(table, path, 0))
        return collet_fail(err, COLLET_IO, "%s: cannot be written: %s", io_spool_path(spool),
                           strerror(errno));
    H5Eget_auto2(H5E_DEFAULT, &report, &data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    io_hdf5_without_locks(access); /* the spool holds a lock on the file, so HDF5 would fail to lock it */
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    int done = file >= 0 && reserve(table, path, FALLOC_FL_KEEP_SIZE) &&
               (!table->meta || put_text(file, "meta", table->meta)) && put_labels(table, file);
    for (int32_t i = 0; done && i < table->n; i++)
        done = put_array(table, i, file, &status, err);
    if (file >= 0)
        done = H5Fclose(file) >= 0 && done;
    /* If the thread ended with errors on its HDF5 error stack, HDF5 could not close at the end of the process. */
    H5Eclear2(H5E_DEFAULT);
    H5Eset_auto2(H5E_DEFAULT, report, data);
    if (status == COLLET_OK && !done)
        return collet_fail(err, COLLET_IO, "%s: HDF5 cannot write the file", io_spool_path(spool));
    return status;
}
