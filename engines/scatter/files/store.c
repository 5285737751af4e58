/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/rsoxs/test_rsoxs.c, tests/tools/rsoxs/test_rsoxs_warnings.c */
#include "scatter/files/store.h"

#include "io/spool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Creates a file in memory, because on a full disk HDF5 fails to close a file, and crashes when the process
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

/* Returns the bytes of the file and sets *bytes to their number. The caller frees them; NULL on failure. */
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
        status = io_spool_publish(spool, 1, err);
    io_spool_free(spool);
    free(image);
    return status;
}

/* ---- Settings -------------------------------------------------------------------------------- */

#define SETTINGS "collet_settings"
#define DIFFERENCE 200

int scatter_write_settings(hid_t file, const char *settings)
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

/* Writes the first part that differs, such as "'dtype f32', not 'dtype f64'"; semicolons separate
 * the parts. */
static void name_difference(const char *has, const char *expected, char text[DIFFERENCE])
{
    size_t same = 0;
    while (has[same] && has[same] == expected[same])
        same++;
    while (same && has[same - 1] != ';')
        same--;
    has += same + strspn(has + same, " ");
    expected += same + strspn(expected + same, " ");
    size_t a = strcspn(has, ";"), b = strcspn(expected, ";");
    snprintf(text, DIFFERENCE, "'%.*s', not '%.*s'", (int)(a < 80 ? a : 80), has,
             (int)(b < 80 ? b : 80), expected);
}

/* 1 if the file has these settings; 0 if its settings differ, with the first difference; -1 if it has no settings. */
static int compare_settings(hid_t file, const char *settings, char difference[DIFFERENCE])
{
    hid_t attribute = H5Aopen(file, SETTINGS, H5P_DEFAULT);
    if (attribute < 0)
        return -1;
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    size_t size = H5Tget_size(type);
    char *text = calloc(size + 1, 1);
    int same = -1;
    if (text && H5Sget_simple_extent_npoints(space) == 1 && H5Tget_class(type) == H5T_STRING &&
        !H5Tis_variable_str(type) && H5Aread(attribute, type, text) >= 0)
        same = !strcmp(text, settings);
    if (same == 0)
        name_difference(text, settings, difference);
    free(text);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
    return same;
}

collet_status scatter_open_file(const char *path, const io_hdf5_inspection *inspection,
                                const int64_t *arguments, hid_t *file, collet_error *err)
{
    static const int64_t none[IO_HDF5_ARGUMENTS] = {0};
    *file = -1;
    if (access(path, F_OK) != 0)
        return collet_fail(err, COLLET_NOT_FOUND, "%s does not exist", path);
    collet_status status = io_hdf5_check_regular(path, err);
    if (status == COLLET_OK && inspection)
        status = io_hdf5_inspect(inspection, path, arguments ? arguments : none, err);
    return status == COLLET_OK ? io_hdf5_open_file(path, SCATTER_KIND, file, err) : status;
}

static collet_status compare(const char *path, const char *settings,
                             const io_hdf5_inspection *inspection, collet_error *err)
{
    char difference[DIFFERENCE];
    io_hdf5_quiet before;
    hid_t file;
    io_hdf5_be_quiet(&before);
    collet_status status = scatter_open_file(path, inspection, NULL, &file, err);
    int same = file >= 0 ? compare_settings(file, settings, difference) : -1;
    if (file >= 0)
        H5Fclose(file);
    io_hdf5_report_again(&before);
    if (status == COLLET_OK && same < 0)
        status = collet_fail(err, COLLET_FORMAT, "%s was not written by collet-rsoxs", path);
    else if (status == COLLET_OK && !same)
        status = collet_fail(err, COLLET_INVALID, "%s was written with other settings: %s", path,
                             difference);
    return status;
}

collet_status scatter_compare_settings(const char *path, const char *settings, collet_error *err)
{
    return compare(path, settings, &scatter_inspect_results, err);
}

static void inspect(const char *path, const int64_t *arguments, io_hdf5_step step)
{
    collet_error err;
    (void)arguments;
    (void)step;
    compare(path, "", NULL, &err);
}

const io_hdf5_inspection scatter_inspect_results = {"results", inspect};
