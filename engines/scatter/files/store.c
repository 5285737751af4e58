/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/rsoxs/test_rsoxs.c, tests/tools/rsoxs/test_rsoxs_warnings.c */
#include "scatter/files/store.h"

#include "io/spool.h"

#include <stdlib.h>

/* A file in memory, because on a full disk HDF5 fails to close a file, and crashes when the process
 * ends. */
hid_t scatter_make_file(void)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(access, 1 << 20, 0);
    hid_t file = H5Fcreate("memory", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    return file;
}

static hid_t without_times(hid_t class)
{
    hid_t properties = H5Pcreate(class);
    H5Pset_obj_track_times(properties, 0);
    return properties;
}

hid_t scatter_make_group(hid_t file, const char *name)
{
    hid_t properties = without_times(H5P_GROUP_CREATE);
    hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, properties, H5P_DEFAULT);
    H5Pclose(properties);
    return group;
}

hid_t scatter_make_set(hid_t group, const char *name, hid_t stored, int axes, const hsize_t *shape,
                       hid_t type, const void *values)
{
    hid_t space = H5Screate_simple(axes, shape, NULL);
    hid_t properties = without_times(H5P_DATASET_CREATE);
    hid_t set = H5Dcreate2(group, name, stored, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    H5Pclose(properties);
    H5Sclose(space);
    if (set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) {
        H5Dclose(set);
        return -1;
    }
    return set;
}

/* The bytes of the file, which the caller frees; NULL on failure. */
static void *image_of(hid_t file, size_t *bytes)
{
    void *image = NULL;
    ssize_t size = H5Fflush(file, H5F_SCOPE_LOCAL) >= 0 ? H5Fget_file_image(file, NULL, 0) : -1;
    if (size > 0)
        image = malloc((size_t)size);
    if (image && H5Fget_file_image(file, image, (size_t)size) != size) {
        free(image);
        image = NULL;
    }
    *bytes = (size_t)size;
    return image;
}

collet_status scatter_store(hid_t file, int done, const char *path, collet_error *err)
{
    size_t bytes = 0;
    void *image = done ? image_of(file, &bytes) : NULL;
    io_spool *spool = NULL;
    if (file >= 0)
        H5Fclose(file);
    if (!image)
        return collet_fail(err, COLLET_NO_MEMORY, "no memory to write %s", path);
    collet_status status = io_spool_create(path, IO_SPOOL_OUTPUT, &spool, err);
    if (status == COLLET_OK)
        status = io_spool_write(spool, image, bytes, err);
    if (status == COLLET_OK)
        status = io_spool_publish(spool, err);
    io_spool_free(spool);
    free(image);
    return status;
}
