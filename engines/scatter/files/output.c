/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns in HDF5, as CyRSoXS writes them. */
#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <hdf5_hl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <collet/scatter.h>

#define SETTINGS "collet_settings"

void collet_scattering_file_name(double energy, char name[COLLET_SCATTERING_NAME])
{
    snprintf(name, COLLET_SCATTERING_NAME, "Energy_%.2f.h5", energy);
}

/* The same patterns are the same bytes. */
static hid_t without_times(hid_t class)
{
    hid_t properties = H5Pcreate(class);
    H5Pset_obj_track_times(properties, 0);
    return properties;
}

static hid_t make_group(hid_t file, const char *name)
{
    hid_t properties = without_times(H5P_GROUP_CREATE);
    hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, properties, H5P_DEFAULT);
    H5Pclose(properties);
    return group;
}

static int write_set(hid_t group, const char *name, int axes, const hsize_t *shape, hid_t type,
                     const void *values, const char *const *labels)
{
    hid_t space = H5Screate_simple(axes, shape, NULL);
    hid_t properties = without_times(H5P_DATASET_CREATE);
    hid_t set =
        H5Dcreate2(group, name, H5T_NATIVE_FLOAT, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    H5Pclose(properties);
    int done = set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
    for (unsigned i = 0; labels && done && i < 2; i++)
        done = H5DSset_label(set, i, labels[i]) >= 0;
    if (set >= 0)
        done = H5Dclose(set) >= 0 && done;
    H5Sclose(space);
    return done;
}

static int write_pattern(hid_t file, int64_t index, const collet_scattering_pattern *p)
{
    static const char *const labels[] = {"Qy", "Qx"};
    const hsize_t shape[] = {(hsize_t)p->y, (hsize_t)p->x};
    char name[32];
    snprintf(name, sizeof name, "K%" PRId64, index);
    hid_t group = make_group(file, name);
    int done =
        group >= 0 &&
        write_set(group, "projection", 2, shape,
                  p->dtype == COLLET_F64 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT, p->values, labels);
    return group >= 0 && H5Gclose(group) >= 0 && done;
}

static int write_settings(hid_t file, const char *settings)
{
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, strlen(settings) + 1);
    hid_t attribute = H5Acreate2(file, SETTINGS, type, space, H5P_DEFAULT, H5P_DEFAULT);
    int done = attribute >= 0 && H5Awrite(attribute, type, settings) >= 0;
    if (attribute >= 0)
        H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
    return done;
}

/*
 * The file in memory, for free(); NULL on failure. Where HDF5 writes to a disk that is full, its
 * close fails, and the process crashes at its end.
 */
static void *make_image(int64_t n_beams, const double (*beams)[3],
                        const collet_scattering_pattern *patterns, const char *settings,
                        size_t *bytes)
{
    const hsize_t shape[] = {(hsize_t)n_beams, 3};
    void *image = NULL;
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(access, 1 << 20, 0);
    hid_t file = H5Fcreate("pattern", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    if (file < 0)
        return NULL;
    hid_t group = make_group(file, "KIDList");
    int done = group >= 0 && write_set(group, "KVec", 2, shape, H5T_NATIVE_DOUBLE, beams, NULL);
    if (group >= 0)
        H5Gclose(group);
    done = done && write_settings(file, settings);
    for (int64_t i = 0; i < n_beams && done; i++)
        done = write_pattern(file, i, &patterns[i]);
    ssize_t size =
        done && H5Fflush(file, H5F_SCOPE_LOCAL) >= 0 ? H5Fget_file_image(file, NULL, 0) : -1;
    if (size > 0)
        image = malloc((size_t)size);
    if (image && H5Fget_file_image(file, image, (size_t)size) != size) {
        free(image);
        image = NULL;
    }
    *bytes = (size_t)size;
    H5Fclose(file);
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

collet_status collet_scattering_write(const char *directory, double energy, int64_t n_beams,
                                      const double (*beams)[3],
                                      const collet_scattering_pattern *patterns,
                                      const char *settings, collet_error *err)
{
    char name[COLLET_SCATTERING_NAME];
    size_t size = strlen(directory) + sizeof name + 32, bytes = 0;
    char *path = malloc(size), *temporary = malloc(size);
    H5E_auto2_t report;
    void *data;
    H5Eget_auto2(H5E_DEFAULT, &report, &data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    void *image = path && temporary ? make_image(n_beams, beams, patterns, settings, &bytes) : NULL;
    H5Eset_auto2(H5E_DEFAULT, report, data);
    collet_status status = COLLET_OK;
    if (!image) {
        status =
            collet_fail(err, COLLET_NO_MEMORY, "no memory to write the pattern of %g eV", energy);
    } else {
        collet_scattering_file_name(energy, name);
        snprintf(path, size, "%s/%s", directory, name);
        snprintf(temporary, size, "%s/.%s.%ld", directory, name, (long)getpid());
        unlink(temporary); /* of a killed process of this number */
        int failed = settle(temporary, path, image, bytes);
        if (failed) {
            unlink(temporary);
            status =
                collet_fail(err, COLLET_IO, "%s: cannot be written: %s", path, strerror(failed));
        }
    }
    free(image);
    free(path);
    free(temporary);
    return status;
}

/* Whether the file has these settings; -1: it has none. */
static int compare_settings(hid_t file, const char *settings)
{
    hid_t attribute = H5Aopen(file, SETTINGS, H5P_DEFAULT);
    if (attribute < 0)
        return -1;
    hid_t type = H5Aget_type(attribute);
    size_t size = H5Tget_size(type);
    char *text = calloc(size + 1, 1);
    int same = -1;
    if (text && H5Tget_class(type) == H5T_STRING && !H5Tis_variable_str(type) &&
        H5Aread(attribute, type, text) >= 0)
        same = !strcmp(text, settings);
    free(text);
    H5Tclose(type);
    H5Aclose(attribute);
    return same;
}

collet_status collet_scattering_written(const char *directory, double energy, const char *settings,
                                        collet_error *err)
{
    char name[COLLET_SCATTERING_NAME];
    size_t size = strlen(directory) + sizeof name + 2;
    char *path = malloc(size);
    H5E_auto2_t report;
    void *data;
    if (!path)
        return collet_fail(err, COLLET_NO_MEMORY, "no memory");
    collet_scattering_file_name(energy, name);
    snprintf(path, size, "%s/%s", directory, name);
    collet_status status = access(path, F_OK) == 0
                               ? COLLET_OK
                               : collet_fail(err, COLLET_NOT_FOUND, "%s does not exist", path);
    H5Eget_auto2(H5E_DEFAULT, &report, &data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t file = status == COLLET_OK ? H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT) : -1;
    int same = file >= 0 ? compare_settings(file, settings) : -1;
    if (file >= 0)
        H5Fclose(file);
    H5Eset_auto2(H5E_DEFAULT, report, data);
    if (status == COLLET_OK && same < 0)
        status = collet_fail(err, COLLET_FORMAT, "%s was not written by collet-rsoxs", path);
    else if (status == COLLET_OK && !same)
        status = collet_fail(err, COLLET_INVALID, "%s was written with other settings", path);
    free(path);
    return status;
}
