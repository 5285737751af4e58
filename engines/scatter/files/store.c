/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/rsoxs/test_rsoxs.c, tests/tools/rsoxs/test_rsoxs_warnings.c */
#include "scatter/files/store.h"

#include "io/spool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

void scatter_be_quiet(scatter_quiet *before)
{
    H5Eget_auto2(H5E_DEFAULT, &before->report, &before->data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void scatter_report_again(const scatter_quiet *before)
{
    /* Errors that a thread leaves when it ends would prevent HDF5 from closing at the end of the
     * process. */
    H5Eclear2(H5E_DEFAULT);
    H5Eset_auto2(H5E_DEFAULT, before->report, before->data);
}

collet_status scatter_check_regular(const char *path, collet_error *err)
{
    struct stat found;
    return stat(path, &found) == 0 && !S_ISREG(found.st_mode)
               ? collet_fail(err, COLLET_IO, "%s: not a regular file", path)
               : COLLET_OK;
}

/* Explains why HDF5 cannot open a file. HDF5 locks a file while it writes it. */
static collet_status explain_refusal(const char *path, collet_error *err)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return collet_fail(err, COLLET_IO, "%s: cannot be read: %s", path, strerror(errno));
    int locked = flock(fileno(f), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    fclose(f);
    if (locked)
        return collet_fail(
            err, COLLET_IO,
            "%s: the file is locked, because another program writes it; close it there", path);
    return collet_fail(err, COLLET_FORMAT, "%s: %s", path,
                       H5Fis_hdf5(path) > 0
                           ? "HDF5 cannot open the file: it is damaged, or was not closed"
                           : "not an HDF5 file; morphologies and patterns are HDF5 files, as in "
                             "CyRSoXS (man collet-rsoxs, FILES)");
}

collet_status scatter_open_file(const char *path, hid_t *file, collet_error *err)
{
    *file = -1;
    collet_status status = scatter_check_regular(path, err);
    if (status != COLLET_OK)
        return status;
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_sec2(access); /* so that H5Fget_vfd_handle gives a descriptor */
    *file = H5Fopen(path, H5F_ACC_RDONLY, access);
    H5Pclose(access);
    return *file >= 0 ? COLLET_OK : explain_refusal(path, err);
}

static herr_t refuse_link(const char *parent, const char *group, const char *file,
                          const char *object, unsigned *flags, hid_t access, void *outside)
{
    (void)parent, (void)group, (void)file, (void)object, (void)flags, (void)access;
    *(int *)outside = 1;
    return -1;
}

hid_t scatter_stay_inside(hid_t class, int *outside)
{
    hid_t properties = H5Pcreate(class);
    *outside = 0;
    H5Pset_elink_cb(properties, refuse_link, outside);
    return properties;
}

int scatter_has(hid_t file, const char *name)
{
    int outside;
    hid_t access = scatter_stay_inside(H5P_LINK_ACCESS, &outside);
    int has = H5Lexists(file, name, access) > 0;
    H5Pclose(access);
    return has;
}

hid_t scatter_open_own(hid_t file, const char *name, int *elsewhere)
{
    hid_t access = scatter_stay_inside(H5P_DATASET_ACCESS, elsewhere);
    hid_t set = H5Dopen2(file, name, access);
    H5Pclose(access);
    if (set < 0)
        return set;
    hid_t properties = H5Dget_create_plist(set);
    *elsewhere = H5Pget_layout(properties) == H5D_VIRTUAL || H5Pget_external_count(properties) > 0;
    H5Pclose(properties);
    if (*elsewhere) {
        H5Dclose(set);
        return -1;
    }
    return set;
}

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
