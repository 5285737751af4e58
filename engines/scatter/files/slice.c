/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one slice of a material.
 * Tests: tests/tools/rsoxs/test_rsoxs_view.c */
#include "io/struct.h"
#include "scatter/files/morphology.h"
#include "scatter/files/store.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <collet/floating.h>

typedef struct slice_reader {
    scatter_reader base; /* first member, because functions cast a pointer to `base` to a pointer to slice_reader */
    int64_t material, at;
    uint32_t field, axis;
    collet_scatter_slice slice;
} slice_reader;

/* Reads the slice of an open dataset with `width` elements per voxel. Rows and columns are as in the file. */
static collet_status read_plane(slice_reader *r, hid_t set, const char *name, int width,
                                float **values)
{
    const int64_t *shape = r->base.in->options.shape;
    hsize_t start[4] = {0}, count[4] = {0, 0, 0, (hsize_t)width}, points = (hsize_t)width;
    for (uint32_t a = 0; a < 3; a++) {
        uint32_t place = r->base.reversed ? 2 - a : a;
        start[place] = a == r->axis ? (hsize_t)r->at : 0;
        count[place] = a == r->axis ? 1 : (hsize_t)shape[a];
        points *= count[place];
    }
    *values = malloc((size_t)points * sizeof **values);
    if (!*values)
        return collet_fail(r->base.err, COLLET_NO_MEMORY, "%s: no memory for %s", r->base.path,
                           name);
    scatter_begin_step(&r->base, width);
    hid_t file = H5Dget_space(set), memory = H5Screate_simple(1, &points, NULL);
    int done = H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
               H5Dread(set, H5T_NATIVE_FLOAT, memory, file, H5P_DEFAULT, *values) >= 0;
    H5Sclose(memory);
    H5Sclose(file);
    return done ? COLLET_OK
                : collet_fail(r->base.err, COLLET_IO, "%s: %s cannot be read", r->base.path, name);
}

static collet_status check_place(slice_reader *r, const char *name)
{
    const int64_t *shape = r->base.in->options.shape;
    if (r->at >= 0 && r->at < shape[r->axis])
        return COLLET_OK;
    return collet_fail(r->base.err, COLLET_INVALID,
                       "%s: %s has voxels 0 to %" PRId64 " along %c; there is no voxel %" PRId64,
                       r->base.path, name, shape[r->axis] - 1, "zyx"[r->axis], r -> at);
}

static collet_status read_dataset(slice_reader *r, int vectors, const char *what, int width,
                                  float **values)
{
    char name[SCATTER_NAME_SIZE];
    scatter_name_dataset(name, r->base.file, vectors, r->material - 1, what);
    hid_t set;
    collet_status status = scatter_open_set(&r->base, name, &set);
    if (status != COLLET_OK)
        return status;
    status = scatter_check_shape(&r->base, set, name, width);
    if (status == COLLET_OK)
        status = check_place(r, name);
    if (status == COLLET_OK)
        status = read_plane(r, set, name, width, values);
    H5Dclose(set);
    return status;
}

static float of_vector(const slice_reader *r, const float s[3], float unaligned)
{
    double length = sqrt((double)s[0] * s[0] + (double)s[1] * s[1] + (double)s[2] * s[2]);
    double aligned = length * length, volume = aligned + (double)unaligned;
    switch (r->field) {
    case COLLET_SCATTER_FRACTION:
        return (float)volume;
    case COLLET_SCATTER_ALIGNMENT:
        return (float)(aligned / volume);
    case COLLET_SCATTER_THETA:
        return (float)acos(s[2] / length);
    default:
        return length > 0 ? atan2f(s[1], s[0]) : NAN;
    }
}

static collet_status read_vectors(slice_reader *r)
{
    const int64_t *n = r->base.in->options.shape;
    float *direction = NULL, *values = NULL;
    collet_status status = read_dataset(r, 1, "alignment", 3, &direction);
    if (status == COLLET_OK)
        status = read_dataset(r, 1, "unaligned", 1, &values);
    int64_t count = status == COLLET_OK ? n[0] * n[1] * n[2] / n[r->axis] : 0;
    for (int64_t i = 0; i < count; i++)
        values[i] = of_vector(r, direction + 3 * i, values[i]);
    free(direction);
    r->slice.values = values;
    return status;
}

/* The slice of the alignment or of an angle, for a material without a dataset S. Such a material is not aligned: where
 * it is present, its alignment is 0; its angles are NaN. */
static collet_status read_unaligned(slice_reader *r)
{
    const int64_t *n = r->base.in->options.shape;
    collet_status status = read_dataset(r, 0, "Vfrac", 1, &r->slice.values);
    int64_t count = status == COLLET_OK ? n[0] * n[1] * n[2] / n[r->axis] : 0;
    float *values = r->slice.values;
    for (int64_t i = 0; i < count; i++)
        values[i] = r->field == COLLET_SCATTER_ALIGNMENT && values[i] != 0 ? 0 : NAN;
    return status;
}

/* A voxel without the material has no alignment; a voxel without alignment has no direction. */
static collet_status read_angles(slice_reader *r)
{
    static const char *const names[] = {"Vfrac", "S", "Theta", "Psi"};
    const int64_t *n = r->base.in->options.shape;
    float *values[4] = {NULL};
    uint32_t last = r->field;
    collet_status status = COLLET_OK;
    for (uint32_t i = 0; i <= last && status == COLLET_OK; i++)
        if (i < COLLET_SCATTER_THETA || i == last)
            status = read_dataset(r, 0, names[i], 1, &values[i]);
    int64_t count = status == COLLET_OK ? n[0] * n[1] * n[2] / n[r->axis] : 0;
    for (int64_t i = 0; i < count && last > COLLET_SCATTER_FRACTION; i++)
        if (values[0][i] == 0 || (last >= COLLET_SCATTER_THETA && values[1][i] == 0))
            values[last][i] = NAN;
    r->slice.values = values[last];
    values[last] = NULL;
    for (int i = 0; i < 4; i++)
        free(values[i]);
    return status;
}

/* Transposes the slice of a file in the order X, Y, Z. */
static collet_status turn(slice_reader *r)
{
    collet_scatter_slice *s = &r->slice;
    float *turned = malloc((size_t)(s->rows * s->columns) * sizeof *turned);
    if (!turned)
        return collet_fail(r->base.err, COLLET_NO_MEMORY, "%s: no memory", r->base.path);
    for (int64_t y = 0; y < s->rows; y++)
        for (int64_t x = 0; x < s->columns; x++)
            turned[y * s->columns + x] = s->values[x * s->rows + y];
    free(s->values);
    s->values = turned;
    return COLLET_OK;
}

static collet_status read_slice(scatter_reader *base)
{
    slice_reader *r = (slice_reader *)base;
    const collet_scatter_options *o = &base->in->options;
    if (r->material < 1 || r->material > o->n_materials)
        return collet_fail(base->err, COLLET_INVALID,
                           "%s has materials 1 to %" PRId64 "; there is no material %" PRId64,
                           base->path, o->n_materials, r->material);
    char name[SCATTER_NAME_SIZE];
    scatter_name_dataset(name, base->file, 0, r->material - 1, "S");
    int aligned = r->field == COLLET_SCATTER_FRACTION || io_hdf5_has(base->file, name);
    collet_status status = !scatter_has_group(base->file, 0) ? read_vectors(r)
                           : aligned                                 ? read_angles(r)
                                                                     : read_unaligned(r);
    r->slice.voxel = o->voxel;
    r->slice.rows = o->shape[r->axis == 0 ? 1 : 0];
    r->slice.columns = o->shape[r->axis == 2 ? 1 : 2];
    return status == COLLET_OK && base->reversed ? turn(r) : status;
}

/* The arguments are material, field, axis and voxel. */
static collet_status read_file(const char *path, const int64_t *arguments, io_hdf5_step step,
                               collet_scatter_slice *slice, collet_error *err)
{
    collet_scatter_input in = {.options = COLLET_SCATTER_OPTIONS, .step = step};
    slice_reader r = {.base = {.in = &in,
                               .path = path,
                               .file = -1,
                               .inspection = &scatter_inspect_slice,
                               .err = err},
                      .material = arguments[0],
                      .at = arguments[3],
                      .field = (uint32_t)arguments[1],
                      .axis = (uint32_t)arguments[2],
                      .slice = {.struct_size = sizeof r.slice}};
    memcpy(r.base.arguments, arguments, sizeof r.base.arguments);
    collet_status status = scatter_read_file(&r.base, read_slice);
    free(in.materials);
    free(in.ranges);
    if (status != COLLET_OK) {
        free(r.slice.values);
        r.slice = (collet_scatter_slice){.struct_size = sizeof r.slice};
    }
    *slice = r.slice;
    return status;
}

static void inspect(const char *path, const int64_t *arguments, io_hdf5_step step)
{
    collet_scatter_slice slice;
    collet_error err;
    if (arguments[1] >= 0 && arguments[1] <= COLLET_SCATTER_PSI && arguments[2] >= 0 &&
        arguments[2] <= 2 && read_file(path, arguments, step, &slice, &err) == COLLET_OK)
        free(slice.values);
}

const io_hdf5_inspection scatter_inspect_slice = {"slice", inspect};

collet_status collet_scatter_read_slice(collet_scatter_slice *out, const char *morphology,
                                        int64_t material, uint32_t field, uint32_t axis,
                                        int64_t at, collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    if (!morphology || !out || field > COLLET_SCATTER_PSI || axis > 2)
        return collet_fail(err, COLLET_INVALID, "%s",
                           !morphology ? "morphology is NULL"
                           : !out      ? "out is NULL"
                           : axis > 2  ? "axis must be 0, 1 or 2"
                                       : "field must be 0 to 3");
    collet_scatter_slice slice;
    const int64_t arguments[] = {material, field, axis, at};
    collet_status status = read_file(morphology, arguments, NULL, &slice, err);
    io_struct_out(out, &slice, sizeof slice);
    return status;
}

void collet_scatter_slice_destroy(collet_scatter_slice *slice)
{
    if (slice)
        free(slice->values);
}
