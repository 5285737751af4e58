/* SPDX-License-Identifier: Apache-2.0 */
#include "scatter/files/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void scatter_be_quiet(scatter_quiet *before)
{
    H5Eget_auto2(H5E_DEFAULT, &before->report, &before->data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void scatter_report_again(const scatter_quiet *before)
{
    /* Errors of a thread that ends before the process keep HDF5 from closing. */
    H5Eclear2(H5E_DEFAULT);
    H5Eset_auto2(H5E_DEFAULT, before->report, before->data);
}

/* Where HDF5 writes to a disk that is full, its close fails, and the process crashes at its end. */
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

/* The bytes of the file, for free(); NULL on failure. */
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

/* On disk, and under its name: 0, or an errno. */
static int settle(const char *temporary, const char *path, const char *image, size_t bytes)
{
    int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), failed = 0;
    if (file < 0)
        return errno;
    for (size_t done = 0; done < bytes && !failed;) {
        ssize_t count = write(file, image + done, bytes - done);
        if (count >= 0)
            done += (size_t)count;
        else if (errno != EINTR)
            failed = errno;
    }
    if (!failed && fsync(file) != 0)
        failed = errno;
    if (close(file) != 0 && !failed)
        failed = errno;
    if (!failed && rename(temporary, path) != 0)
        failed = errno;
    return failed;
}

collet_status scatter_store(hid_t file, int done, const char *path, collet_error *err)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t size = strlen(path) + 32, bytes = 0;
    char *temporary = malloc(size);
    void *image = done && temporary ? image_of(file, &bytes) : NULL;
    collet_status status = COLLET_OK;
    if (file >= 0)
        H5Fclose(file);
    if (!image) {
        status = collet_fail(err, COLLET_NO_MEMORY, "no memory to write %s", path);
    } else {
        snprintf(temporary, size, "%.*s.%s.%ld", (int)(name - path), path, name, (long)getpid());
        unlink(temporary); /* of a killed process of this number */
        int failed = settle(temporary, path, image, bytes);
        if (failed) {
            unlink(temporary);
            status =
                collet_fail(err, COLLET_IO, "%s: cannot be written: %s", path, strerror(failed));
        }
    }
    free(image);
    free(temporary);
    return status;
}
