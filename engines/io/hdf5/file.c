/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/rsoxs/test_rsoxs.c, tests/tools/rsoxs/test_rsoxs_warnings.c */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "locks.h"

void io_hdf5_be_quiet(io_hdf5_quiet *before)
{
    H5Eget_auto2(H5E_DEFAULT, &before->report, &before->data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void io_hdf5_report_again(const io_hdf5_quiet *before)
{
    /* If the thread ended with errors on its stack, HDF5 could not close at the end of the process. */
    H5Eclear2(H5E_DEFAULT);
    H5Eset_auto2(H5E_DEFAULT, before->report, before->data);
}

collet_status io_hdf5_check_regular(const char *path, collet_error *err)
{
    struct stat found;
    return stat(path, &found) == 0 && !S_ISREG(found.st_mode)
               ? collet_fail(err, COLLET_IO, "%s: not a regular file", path)
               : COLLET_OK;
}

static hid_t open_file(const char *path, int locks)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_sec2(access); /* so that H5Fget_vfd_handle gives a descriptor */
    if (!locks)
        io_hdf5_without_locks(access);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, access);
    H5Pclose(access);
    return file;
}

/* 1 if the file system does not support locks, like NFS and Lustre on some clusters. HDF5 cannot open files there
 * unless its locks are switched off. */
static int lacks_locks(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), lacks;
    if (fd < 0)
        return 0;
    lacks = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno != EWOULDBLOCK;
    close(fd);
    return lacks;
}

/* Explains why HDF5 cannot open a file. HDF5 locks a file while it writes it. */
static collet_status explain_refusal(const char *path, const char *kind, collet_error *err)
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
    return H5Fis_hdf5(path) > 0
               ? collet_fail(err, COLLET_FORMAT,
                             "%s: HDF5 cannot open the file: it is damaged, or was not closed",
                             path)
               : collet_fail(err, COLLET_FORMAT, "%s: not an HDF5 file; %s", path, kind);
}

collet_status io_hdf5_open_file(const char *path, const char *kind, hid_t *file, collet_error *err)
{
    *file = -1;
    collet_status status = io_hdf5_check_regular(path, err);
    if (status != COLLET_OK)
        return status;
    *file = open_file(path, 1);
    if (*file < 0 && lacks_locks(path))
        *file = open_file(path, 0);
    return *file >= 0 ? COLLET_OK : explain_refusal(path, kind, err);
}

static herr_t refuse_link(const char *parent, const char *group, const char *file,
                          const char *object, unsigned *flags, hid_t access, void *outside)
{
    (void)parent, (void)group, (void)file, (void)object, (void)flags, (void)access;
    *(int *)outside = 1;
    return -1;
}

hid_t io_hdf5_stay_inside(hid_t class, int *outside)
{
    hid_t properties = H5Pcreate(class);
    *outside = 0;
    H5Pset_elink_cb(properties, refuse_link, outside);
    return properties;
}

int io_hdf5_has(hid_t file, const char *name)
{
    int outside;
    hid_t access = io_hdf5_stay_inside(H5P_LINK_ACCESS, &outside);
    int has = H5Lexists(file, name, access) > 0;
    H5Pclose(access);
    return has;
}

hid_t io_hdf5_open_own(hid_t file, const char *name, int *elsewhere)
{
    hid_t access = io_hdf5_stay_inside(H5P_DATASET_ACCESS, elsewhere);
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
