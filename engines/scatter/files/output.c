/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads patterns in HDF5, in the layout of CyRSoXS.
 * Tests: tests/tools/rsoxs/test_rsoxs.c, tests/tools/rsoxs/test_rsoxs_results.c */
#include "scatter/files/store.h"

#include <hdf5_hl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <collet/scatter.h>

#include <collet/floating.h>

static int write_set(hid_t group, const char *name, const hsize_t shape[2], hid_t type,
                     const void *values, const char *const *labels)
{
    hid_t set = scatter_make_set(group, name, H5T_NATIVE_FLOAT, 2, shape, type, values);
    int done = set >= 0;
    for (unsigned i = 0; labels && done && i < 2; i++)
        done = H5DSset_label(set, i, labels[i]) >= 0;
    return set >= 0 && H5Dclose(set) >= 0 && done;
}

static int write_pattern(hid_t file, int64_t index, const collet_scatter_pattern *p)
{
    static const char *const labels[] = {"Qy", "Qx"};
    const hsize_t shape[] = {(hsize_t)p->y, (hsize_t)p->x};
    char name[32];
    snprintf(name, sizeof name, "K%" PRId64, index);
    hid_t group = scatter_make_group(file, name);
    int done =
        group >= 0 &&
        write_set(group, "projection", shape,
                  p->dtype == COLLET_F64 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT, p->values, labels);
    return group >= 0 && H5Gclose(group) >= 0 && done;
}

static int write_beams(hid_t file, int64_t n_beams, const double (*beams)[3])
{
    const hsize_t shape[] = {(hsize_t)n_beams, 3};
    hid_t group = scatter_make_group(file, "KIDList");
    int done = group >= 0 && write_set(group, "KVec", shape, H5T_NATIVE_DOUBLE, beams, NULL);
    return group >= 0 && H5Gclose(group) >= 0 && done;
}

/* Returns "DIRECTORY/Energy_285.20.h5", which the caller frees; NULL if out of memory. */
static char *path_of(const char *directory, double energy)
{
    char name[COLLET_SCATTER_NAME];
    size_t size = strlen(directory) + sizeof name + 2;
    char *path = malloc(size);
    collet_scatter_file_name(name, energy);
    if (path)
        snprintf(path, size, "%s/%s", directory, name);
    return path;
}

#define MEASURED 32 /* for up to this many beams the size is measured; for more beams it is extrapolated */

uint64_t collet_scatter_file_bytes(int64_t n_beams, int64_t y, int64_t x, const char *settings)
{
    static const double beams[MEASURED][3] = {{0}};
    const float value = 0;
    const collet_scatter_pattern one = {.dtype = COLLET_F32, .y = 1, .x = 1, .values = &value};
    int64_t count = n_beams < MEASURED ? n_beams : MEASURED;
    io_hdf5_quiet before;
    io_hdf5_be_quiet(&before);
    hid_t file = scatter_make_file();
    int done =
        file >= 0 && write_beams(file, count, beams) && scatter_write_settings(file, settings);
    for (int64_t i = 0; i < count && done; i++)
        done = write_pattern(file, i, &one);
    done = done && H5Fflush(file, H5F_SCOPE_LOCAL) >= 0;
    ssize_t bytes = done ? H5Fget_file_image(file, NULL, 0) : 0;
    if (file >= 0)
        H5Fclose(file);
    io_hdf5_report_again(&before);
    return (uint64_t)((double)bytes * ((double)n_beams / (double)count)) +
           (uint64_t)(n_beams * y * x) * sizeof(float);
}

collet_status collet_scatter_write(const char *directory, double energy, int64_t n_beams,
                                   const double (*beams)[3],
                                   const collet_scatter_pattern *patterns,
                                   const char *settings, collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    char *path = path_of(directory, energy);
    io_hdf5_quiet before;
    if (!path)
        return collet_fail(err, COLLET_NO_MEMORY, "no memory");
    io_hdf5_be_quiet(&before);
    hid_t file = scatter_make_file();
    int done =
        file >= 0 && write_beams(file, n_beams, beams) && scatter_write_settings(file, settings);
    for (int64_t i = 0; i < n_beams && done; i++)
        done = write_pattern(file, i, &patterns[i]);
    collet_status status = scatter_store(file, done, path, err);
    io_hdf5_report_again(&before);
    free(path);
    return status;
}

collet_status collet_scatter_written(const char *directory, double energy, const char *settings,
                                     collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    char *path = path_of(directory, energy);
    if (!path)
        return collet_fail(err, COLLET_NO_MEMORY, "no memory");
    collet_status status = scatter_compare_settings(path, settings, err);
    free(path);
    return status;
}

/* 0 if there is no such dataset of this shape, or its values are in another file. */
static int read_set(hid_t file, const char *name, int64_t y, int64_t x, float *values)
{
    hsize_t shape[2] = {0};
    int elsewhere;
    hid_t set = io_hdf5_open_own(file, name, &elsewhere);
    if (set < 0)
        return 0;
    hid_t space = H5Dget_space(set);
    int fits = H5Sget_simple_extent_ndims(space) == 2 &&
               H5Sget_simple_extent_dims(space, shape, NULL) == 2 && shape[0] == (hsize_t)y &&
               shape[1] == (hsize_t)x;
    H5Sclose(space);
    fits = fits && H5Dread(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
    H5Dclose(set);
    return fits;
}

/* The arguments are beam, y and x. */
static collet_status read_pattern(const char *path, const int64_t *arguments,
                                  const io_hdf5_inspection *inspection, float *values,
                                  collet_error *err)
{
    char name[48];
    io_hdf5_quiet before;
    hid_t file;
    snprintf(name, sizeof name, "/K%" PRId64 "/projection", arguments[0]);
    io_hdf5_be_quiet(&before);
    collet_status status = scatter_open_file(path, inspection, arguments, &file, err);
    if (status == COLLET_OK && !read_set(file, name, arguments[1], arguments[2], values))
        status = collet_fail(err, COLLET_FORMAT,
                             "%s: %s has no pattern of %" PRId64 " x %" PRId64 " pixels", path,
                             name, arguments[1], arguments[2]);
    if (file >= 0)
        H5Fclose(file);
    io_hdf5_report_again(&before);
    return status;
}

collet_status collet_scatter_read_pattern(float *values, const char *directory, double energy,
                                          int64_t beam, int64_t y, int64_t x, collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    char *path = path_of(directory, energy);
    const int64_t arguments[IO_HDF5_ARGUMENTS] = {beam, y, x};
    if (!path)
        return collet_fail(err, COLLET_NO_MEMORY, "no memory");
    collet_status status = read_pattern(path, arguments, &scatter_inspect_pattern, values, err);
    free(path);
    return status;
}

static void inspect(const char *path, const int64_t *arguments, io_hdf5_step step)
{
    collet_error err;
    size_t numbers;
    if (arguments[1] < 1 || arguments[2] < 1 ||
        __builtin_mul_overflow((size_t)arguments[1], (size_t)arguments[2], &numbers) ||
        numbers > SIZE_MAX / sizeof(float))
        return;
    float *values = malloc(numbers * sizeof *values);
    step(1 + (double)numbers / 0x1p22);
    if (values)
        read_pattern(path, arguments, NULL, values, &err);
    free(values);
}

const io_hdf5_inspection scatter_inspect_pattern = {"pattern", inspect};
