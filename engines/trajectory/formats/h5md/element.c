/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_h5md.c */
#include "trajectory/formats/h5md/element.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNIT 64                       /* bytes of a unit with its NUL */
#define ROWS_LIMIT ((int64_t)1 << 40) /* maximum number of rows; products of sizes stay below 2^63 */
/* Memory for unpacked chunks: a chunk may hold several frames. */
#define CACHE_BYTES ((size_t)64 << 20)
#define CACHE_SLOTS 10007 /* a prime */

/* ---- Attributes and small datasets ------------------------------------------------------- */

/* Reads a text of an attribute, of fixed or variable length. 0: there is none. */
static int read_text(hid_t object, const char *name, char text[UNIT])
{
    hid_t attribute = H5Aexists(object, name) > 0 ? H5Aopen(object, name, H5P_DEFAULT) : -1;
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    size_t size = H5Tget_size(type);
    char *variable = NULL;
    int read = 0;

    memset(text, 0, UNIT);
    if (attribute >= 0 && H5Tget_class(type) == H5T_STRING &&
        H5Sget_simple_extent_npoints(space) == 1) {
        if (H5Tis_variable_str(type) > 0) {
            read = H5Aread(attribute, type, &variable) >= 0 && variable;
            if (read)
                snprintf(text, UNIT, "%s", variable);
            H5Dvlen_reclaim(type, space, H5P_DEFAULT, &variable);
        } else {
            read = size < UNIT && H5Aread(attribute, type, text) >= 0;
        }
    }
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
    return read;
}

static double read_offset(hid_t set)
{
    double offset = 0;
    hid_t attribute = H5Aexists(set, "offset") > 0 ? H5Aopen(set, "offset", H5P_DEFAULT) : -1;
    hid_t space = H5Aget_space(attribute);

    if (attribute >= 0 && H5Sget_simple_extent_npoints(space) == 1)
        H5Aread(attribute, H5T_NATIVE_DOUBLE, &offset);
    H5Sclose(space);
    H5Aclose(attribute);
    return offset;
}

static collet_status choose_unit(hid_t set, const char *file_name, const char *name,
                                 trajectory_measure measure, double usual, double *factor,
                                 collet_error *err)
{
    char unit[UNIT];

    *factor = usual;
    if (!read_text(set, "unit", unit))
        return usual > 0
                   ? COLLET_OK
                   : collet_fail(err, COLLET_FORMAT,
                                 "%s: %s has no attribute 'unit', so that its size is unknown: add "
                                 "it, in Python: h5py.File(file, 'a')['%s'].attrs['unit'] = 'nm'",
                                 file_name, name, name);
    return trajectory_unit_parse(unit, measure, factor)
               ? COLLET_OK
               : collet_fail(err, COLLET_FORMAT,
                             "%s: %s has the unit '%s', which is unknown or of something else",
                             file_name, name, unit);
}

static int read_first(hid_t set, hid_t space, hsize_t n, double *numbers)
{
    const hsize_t start = 0;
    hid_t memory = H5Screate_simple(1, &n, NULL);
    int read = H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &n, NULL) >= 0 &&
               H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, numbers) >= 0;

    H5Sclose(memory);
    return read;
}

/* Reads the dataset of steps or times. The dataset has one number for each row (missing numbers become NaN), or
 * only the interval, with the first number as an attribute. NULL: there is no such dataset. */
static double *read_rows(hid_t file, const char *name, int64_t n_rows, hid_t *set)
{
    int elsewhere;
    hsize_t extent = 0;
    double *rows = NULL, interval;

    *set = io_hdf5_has(file, name) ? io_hdf5_open_own(file, name, &elsewhere) : -1;
    hid_t space = *set >= 0 ? H5Dget_space(*set) : -1;
    int axes = H5Sget_simple_extent_ndims(space);
    if (axes == 1)
        H5Sget_simple_extent_dims(space, &extent, NULL);
    if (extent > (hsize_t)n_rows)
        extent = (hsize_t)n_rows;
    if (axes == 0 || axes == 1)
        rows = malloc(((size_t)n_rows + 1) * sizeof *rows);
    if (rows && extent > 0 && !read_first(*set, space, extent, rows)) {
        free(rows);
        rows = NULL;
    }
    for (int64_t i = (int64_t)extent; rows && axes == 1 && i < n_rows; i++)
        rows[i] = (double)NAN;
    if (rows && axes == 0) {
        if (H5Dread(*set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &interval) < 0)
            interval = 0;
        for (int64_t i = 0; i < n_rows; i++)
            rows[i] = read_offset(*set) + interval * (double)i;
    }
    H5Sclose(space);
    return rows;
}

/* 1 if a dataset has a number of single precision for each row. */
static int is_single(hid_t set)
{
    hid_t type = H5Dget_type(set), space = H5Dget_space(set);
    int single = H5Tget_class(type) == H5T_FLOAT && H5Tget_size(type) == sizeof(float) &&
                 H5Sget_simple_extent_ndims(space) == 1;

    H5Tclose(type);
    H5Sclose(space);
    return single;
}

/* Reads the steps and times of the rows. Both are optional. */
static collet_status read_moments(hid_t file, const char *file_name, const char *path,
                                  trajectory_h5md_element *element, collet_error *err)
{
    char name[TRAJECTORY_H5MD_NAME];
    collet_status status = COLLET_OK;
    double factor;
    hid_t set;

    snprintf(name, sizeof name, "%s/time", path);
    element->times = read_rows(file, name, element->n_rows, &set);
    if (element->times)
        status = choose_unit(set, file_name, name, TRAJECTORY_TIME, 0, &factor, err);
    for (int64_t i = 0; element->times && status == COLLET_OK && i < element->n_rows; i++)
        element->times[i] *= factor;
    if (element->times && status == COLLET_OK && is_single(set))
        element->single_ps = factor;
    H5Dclose(set);
    if (status != COLLET_OK)
        return status;
    snprintf(name, sizeof name, "%s/step", path);
    double *steps = read_rows(file, name, element->n_rows, &set);
    H5Dclose(set);
    if (!steps)
        return COLLET_OK;
    element->steps = malloc((size_t)element->n_rows * sizeof *element->steps);
    for (int64_t i = 0; element->steps && i < element->n_rows; i++)
        element->steps[i] = steps[i] >= 0 && steps[i] < 0x1p62 ? (int64_t)steps[i] : -1;
    free(steps);
    return element->steps ? COLLET_OK
                          : collet_fail(err, COLLET_NO_MEMORY, "%s: no memory", file_name);
}

/* ---- Values ------------------------------------------------------------------------------ */

/* Lets HDF5 keep a row of chunks in memory: with its default cache, reading each frame could unpack the whole chunk
 * again. */
static void enlarge_cache(hid_t file, const hsize_t *shape, trajectory_h5md_element *element)
{
    hid_t properties = H5Dget_create_plist(element->set);
    hsize_t chunk[3] = {0};
    size_t bytes = element->width;

    int axes = H5Pget_layout(properties) == H5D_CHUNKED ? H5Pget_chunk(properties, 3, chunk) : 0;
    H5Pclose(properties);
    for (int i = 0; i < axes; i++) {
        hsize_t extent = i == 0 ? chunk[0] : shape[i] + chunk[i];
        if (__builtin_mul_overflow(bytes, (size_t)extent, &bytes))
            bytes = SIZE_MAX;
    }
    if (axes < 1 || bytes <= (size_t)1 << 20)
        return;
    hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    H5Pset_chunk_cache(access, CACHE_SLOTS, bytes < CACHE_BYTES ? bytes : CACHE_BYTES, 1);
    hid_t again = H5Dopen2(file, element->name, access);
    H5Pclose(access);
    if (again < 0)
        return;
    H5Dclose(element->set);
    element->set = again;
}

static collet_status read_shape(hid_t file, const char *file_name, trajectory_h5md_element *element,
                                collet_error *err)
{
    hsize_t shape[3] = {1, 1, 1}, bytes = 0;
    hid_t space = H5Dget_space(element->set), type = H5Dget_type(element->set);
    int axes = H5Sget_simple_extent_ndims(space), is_real = H5Tget_class(type) == H5T_FLOAT;

    element->width = H5Tget_size(type) <= 4 ? 4 : 8;
    if (axes >= 0 && axes <= 3)
        H5Sget_simple_extent_dims(space, shape, NULL);
    H5Tclose(type);
    H5Sclose(space);
    if (!is_real || axes < 1 || axes > 3 || shape[0] > (hsize_t)ROWS_LIMIT ||
        shape[1] > (hsize_t)ROWS_LIMIT || shape[2] > (hsize_t)ROWS_LIMIT)
        return collet_fail(err, COLLET_FORMAT,
                           "%s: %s is not an array of floating-point numbers with frames",
                           file_name, element->name);
    element->n_rows = element->is_fixed ? 1 : (int64_t)shape[0];
    if (H5Fget_filesize(file, &bytes) < 0 || (hsize_t)element->n_rows >= bytes)
        return collet_fail(err, COLLET_FORMAT,
                           "%s: the file is too small for the %lld frames of %s: it is damaged",
                           file_name, (long long)element->n_rows, element->name);
    element->axes = axes - !element->is_fixed;
    for (int i = 0; i < 2; i++)
        element->shape[i] = i < element->axes ? (int64_t)shape[i + !element->is_fixed] : 1;
    enlarge_cache(file, shape, element);
    return COLLET_OK;
}

static int is_dataset(hid_t file, const char *path)
{
    int outside;
    hid_t access = io_hdf5_stay_inside(H5P_LINK_ACCESS, &outside);
    hid_t object = H5Oopen(file, path, access);
    int is = H5Iget_type(object) == H5I_DATASET;

    H5Oclose(object);
    H5Pclose(access);
    return is;
}

collet_status trajectory_h5md_open(hid_t file, const char *file_name, const char *path,
                                   trajectory_measure measure, double usual,
                                   trajectory_h5md_element *element, collet_error *err)
{
    int elsewhere;

    *element = (trajectory_h5md_element){.set = -1};
    if (!io_hdf5_has(file, path))
        return COLLET_OK;
    snprintf(element->name, sizeof element->name, "%s/value", path);
    if (is_dataset(file, path)) {
        element->is_fixed = 1;
        snprintf(element->name, sizeof element->name, "%s", path);
    } else if (!io_hdf5_has(file, element->name)) {
        return COLLET_OK;
    }
    element->set = io_hdf5_open_own(file, element->name, &elsewhere);
    if (element->set < 0)
        return collet_fail(
            err, COLLET_FORMAT,
            "%s: %s cannot be read: it is damaged, or its values are in another file", file_name,
            element->name);
    element->present = 1;
    collet_status status = read_shape(file, file_name, element, err);
    if (status == COLLET_OK)
        status = choose_unit(element->set, file_name, element->name, measure, usual,
                             &element->factor, err);
    if (status == COLLET_OK && !element->is_fixed)
        status = read_moments(file, file_name, path, element, err);
    return status;
}

void trajectory_h5md_close(trajectory_h5md_element *element)
{
    if (element->present)
        H5Dclose(element->set);
    free(element->steps);
    free(element->times);
    memset(element, 0, sizeof *element);
}

collet_status trajectory_h5md_read(const trajectory_h5md_element *element, const char *file_name,
                                   int64_t row, int64_t first, int64_t count, size_t width,
                                   void *to, collet_error *err)
{
    hsize_t start[3] = {(hsize_t)row, (hsize_t)first, 0};
    hsize_t size[3] = {1, (hsize_t)count, (hsize_t)element->shape[1]};
    int skipped = element->is_fixed, axes = element->axes + !skipped;
    hid_t space = H5Dget_space(element->set);
    hid_t memory = H5Screate_simple(axes, size + skipped, NULL);
    int read = H5Sselect_hyperslab(space, H5S_SELECT_SET, start + skipped, NULL, size + skipped,
                                   NULL) >= 0 &&
               H5Dread(element->set, width == 4 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE, memory,
                       space, H5P_DEFAULT, to) >= 0;

    H5Sclose(memory);
    H5Sclose(space);
    return read ? COLLET_OK
                : collet_fail(err, COLLET_FORMAT,
                              "%s: row %lld of %s cannot be read: the file is "
                              "damaged, or needs a filter that libhdf5 lacks",
                              file_name, (long long)row, element->name);
}

void trajectory_h5md_walk(const trajectory_h5md_element *element)
{
    hsize_t chunks;

    if (!element->present)
        return;
    hid_t space = H5Dget_space(element->set);
    H5Dget_num_chunks(element->set, space, &chunks);
    H5Sclose(space);
}
