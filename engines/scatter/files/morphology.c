/* SPDX-License-Identifier: Apache-2.0 */
/* Reads morphologies in HDF5.
 * Tests: tests/tools/rsoxs/test_rsoxs.c, tests/tools/rsoxs/test_rsoxs_validate.c */
#include "scatter/files/morphology.h"
#include "scatter/files/store.h"

#include <hdf5_hl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MATERIALS_MAX 1000
#define VOXELS_MAX (UINT64_C(1) << 40)
#define BYTES_PER_S 0x1p24 /* slowest allowed reading, bytes per second of processor time */

static size_t element_bytes(const scatter_reader *r)
{
    return r->in->options.dtype == COLLET_F64 ? 8 : 4;
}

/* ---- Datasets of this file ------------------------------------------------------------------- */

void scatter_begin_step(const scatter_reader *r, int width)
{
    const int64_t *n = r->in->options.shape;
    if (r->in->step)
        r->in->step(1 + (double)n[0] * (double)n[1] * (double)n[2] * width *
                        (double)element_bytes(r) / BYTES_PER_S);
}

collet_status scatter_open_set(scatter_reader *r, const char *name, hid_t *out)
{
    int elsewhere;
    scatter_begin_step(r, 0);
    *out = io_hdf5_open_own(r->file, name, &elsewhere);
    if (*out >= 0)
        return COLLET_OK;
    return elsewhere
               ? collet_fail(
                     r->err, COLLET_FORMAT,
                     "%s: the values of %s are in other datasets or files; only values in the file "
                     "itself are read",
                     r->path, name)
               : collet_fail(r->err, COLLET_FORMAT, "%s: there is no dataset %s", r->path, name);
}

/* ---- Parameters ------------------------------------------------------------------------------ */

/* Reads one number, or an array of equal numbers. */
static collet_status read_number(scatter_reader *r, const char *name, double *value)
{
    double few[16];
    hid_t set;
    collet_status status = scatter_open_set(r, name, &set);
    if (status != COLLET_OK)
        return status;
    hid_t space = H5Dget_space(set);
    hssize_t points = H5Sget_simple_extent_npoints(space);
    int read = points >= 1 && points <= 16 &&
               H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, few) >= 0;
    H5Sclose(space);
    H5Dclose(set);
    for (hssize_t i = 1; read && i < points; i++)
        if (few[i] != few[0])
            return collet_fail(r->err, COLLET_FORMAT, "%s: %s has different elements, %g and %g",
                               r->path, name, few[0], few[i]);
    if (!read)
        return collet_fail(r->err, COLLET_FORMAT, "%s: %s is not a number", r->path, name);
    *value = few[0];
    return COLLET_OK;
}

/* FORMAT for files of CyRSoXS before 1.0. Up to version 0.7 the beam was along the first component of vectors, later
 * along the third component. The version is not in the files. */
static collet_status refuse_old(scatter_reader *r)
{
    if (H5Lexists(r->file, "/Morphology_Parameters", H5P_DEFAULT) > 0 || H5Lexists(r->file, "/igor_parameters", H5P_DEFAULT) <= 0)
        return COLLET_OK;
    return collet_fail(r->err, COLLET_FORMAT,
                       "%s: this is a morphology of CyRSoXS before 1.0 (/igor_parameters), which does not say along which axis "
                       "the beam is: up to 0.7 it was the first, later the third component of vectors. Write it anew with the "
                       "axes Z, Y, X, vectors x, y, z, /Morphology_Parameters/PhysSize (nm) and NumMaterial",
                       r->path);
}

static collet_status read_parameters(scatter_reader *r)
{
    collet_scatter_input *in = r->in;
    double count = 0.0, size = 0.0;
    collet_status status = refuse_old(r);
    if (status != COLLET_OK)
        return status;
    status = read_number(r, "/Morphology_Parameters/NumMaterial", &count);
    if (status == COLLET_OK &&
        (!(count >= 1.0 && count <= MATERIALS_MAX) || count != (double)(int64_t)count)) {
        status = collet_fail(r->err, COLLET_FORMAT, "%s: NumMaterial is %g; it must be 1 to %d",
                             r->path, count, MATERIALS_MAX);
        count = 0.0;
    }
    if (!scatter_goes_on(in, &status, r->err))
        return status;
    status = read_number(r, "/Morphology_Parameters/PhysSize", &size);
    if (status == COLLET_OK && !(size > 0.0 && isfinite(size)))
        status =
            collet_fail(r->err, COLLET_FORMAT,
                        "%s: PhysSize is %g nm; it must be positive and finite", r->path, size);
    if (!scatter_goes_on(in, &status, r->err))
        return status;
    in->options.n_materials = (int64_t)count;
    in->options.voxel = size;
    in->materials = calloc((size_t)count + 1, sizeof *in->materials);
    in->ranges = calloc((size_t)count + 1, sizeof *in->ranges);
    return in->materials && in->ranges
               ? COLLET_OK
               : collet_fail(r->err, COLLET_NO_MEMORY, "%s: no memory", r->path);
}

/* ---- Voxels ---------------------------------------------------------------------------------- */

/* Reads labels 0 and 2 of `rank` labels, of variable or fixed length; they are "" if the attribute is not a
 * list of `rank` texts. 0: the labels cannot be read. H5DSget_label is not used, because it does not check
 * the attribute. */
static int read_texts(hid_t attribute, hid_t type, hid_t space, hsize_t rank, char labels[2][8])
{
    char texts[4 * 64] = {0}, *lists[4] = {NULL};
    hsize_t count = 0;
    size_t size = H5Tget_size(type);
    if (type >= 0 && (H5Tget_class(type) != H5T_STRING || H5Sget_simple_extent_ndims(space) != 1 ||
                      H5Sget_simple_extent_dims(space, &count, NULL) != 1 || count != rank))
        return 1;
    int variable = H5Tis_variable_str(type) > 0;
    if ((!variable && size >= 64) ||
        H5Aread(attribute, type, variable ? (void *)lists : (void *)texts) < 0)
        return 0;
    for (size_t i = 0; i < 2; i++)
        if (variable)
            snprintf(labels[i], 8, "%s", lists[2 * i] ? lists[2 * i] : "");
        else
            snprintf(labels[i], 8, "%.*s", (int)size, texts + 2 * i * size);
    if (variable)
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, lists);
    return 1;
}

/* Reads the labels of axes 0 and 2; they are "" if there are none. 0: the labels cannot be read. */
static int read_labels(hid_t set, hsize_t rank, char labels[2][8])
{
    htri_t has = H5Aexists(set, "DIMENSION_LABELS");
    labels[0][0] = labels[1][0] = '\0';
    if (has <= 0)
        return has == 0;
    hid_t attribute = H5Aopen(set, "DIMENSION_LABELS", H5P_DEFAULT);
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    int done = read_texts(attribute, type, space, rank, labels);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
    return done;
}

/* Sets *reversed to 1 if the labels of axes 0 and 2 are X and Z. Without labels the axes are Z, Y,
 * X. */
static collet_status read_order(scatter_reader *r, hid_t set, const char *name, int axes,
                                int *reversed)
{
    char labels[2][8], *first = labels[0], *last = labels[1];
    if (!read_labels(set, (hsize_t)axes, labels))
        return collet_fail(r->err, COLLET_FORMAT, "%s: the labels of the axes of %s cannot be read",
                           r->path, name);
    *reversed = !strcmp(first, "X") && !strcmp(last, "Z");
    if (*reversed || (!strcmp(first, "Z") && !strcmp(last, "X")) || (!*first && !*last))
        return COLLET_OK;
    return collet_fail(r->err, COLLET_FORMAT,
                       "%s: the axes of %s are labelled %s .. %s; they must be Z, Y, X or X, Y, Z",
                       r->path, name, first, last);
}

collet_status scatter_check_shape(scatter_reader *r, hid_t set, const char *name, int width)
{
    int64_t *shape = r->in->options.shape;
    hsize_t n[4] = {0};
    int reversed = 0;
    hid_t space = H5Dget_space(set);
    int axes = H5Sget_simple_extent_ndims(space), expected = width > 1 ? 4 : 3;
    if (axes == expected)
        H5Sget_simple_extent_dims(space, n, NULL);
    H5Sclose(space);
    if (axes != expected || (width > 1 && n[3] != (hsize_t)width))
        return collet_fail(r->err, COLLET_FORMAT, "%s: the shape of %s must be (Z, Y, X%s)",
                           r->path, name, width > 1 ? ", 3" : "");
    collet_status status = read_order(r, set, name, axes, &reversed);
    int fits = 1;
    for (int a = 0; a < 3; a++)
        fits = fits && n[a] >= 1 && n[a] <= INT32_MAX;
    if (status == COLLET_OK && (!fits || n[0] * n[1] > VOXELS_MAX / n[2]))
        status = collet_fail(r->err, COLLET_FORMAT,
                             "%s: %s must have at least 1 and at most 2^40 voxels", r->path, name);
    if (status != COLLET_OK)
        return status;
    const int64_t found[3] = {(int64_t)n[reversed ? 2 : 0], (int64_t)n[1],
                              (int64_t)n[reversed ? 0 : 2]};
    if (shape[0] == 0) {
        memcpy(shape, found, sizeof found);
        r->reversed = reversed;
    }
    if (r->reversed != reversed)
        return collet_fail(r->err, COLLET_FORMAT,
                           "%s: the axes of %s are %s, but the earlier datasets have the axes %s",
                           r->path, name, reversed ? "X, Y, Z" : "Z, Y, X",
                           r->reversed ? "X, Y, Z" : "Z, Y, X");
    if (memcmp(shape, found, sizeof found) != 0)
        return collet_fail(
            r->err, COLLET_FORMAT,
            "%s: %s has %" PRId64 " x %" PRId64 " x %" PRId64
            " voxels (Z, Y, X), but the datasets before have %" PRId64 " x %" PRId64 " x %" PRId64,
            r->path, name, found[0], found[1], found[2], shape[0], shape[1], shape[2]);
    return COLLET_OK;
}

/* Copies numbers in the order X, Y, Z to the order Z, Y, X. */
static void turn_axes(const scatter_reader *r, const char *from, char *to, size_t voxel,
                      int64_t planes)
{
    const int64_t *n = r->in->options.shape;
    for (int64_t z = 0; z < planes; z++)
        for (int64_t y = 0; y < n[1]; y++)
            for (int64_t x = 0; x < n[2]; x++, to += voxel)
                memcpy(to, from + (size_t)((x * n[1] + y) * planes + z) * voxel, voxel);
}

/* Makes HDF5 read the whole index of chunks, so that a damaged index shows in collet-inspect. */
static void walk_chunks(hid_t set)
{
    hsize_t count;
    hid_t space = H5Dget_space(set);
    H5Dget_num_chunks(set, space, &count);
    H5Sclose(space);
}

collet_status scatter_open_dataset(scatter_reader *r, int64_t m, const char *what, int width,
                                   scatter_dataset *out)
{
    *out = (scatter_dataset){.set = -1, .width = width};
    scatter_name_dataset(out->name, r->file, r->in->vectors, m, what);
    hid_t set;
    collet_status status = scatter_open_set(r, out->name, &set);
    if (status != COLLET_OK)
        return status;
    status = scatter_check_shape(r, set, out->name, width);
    if (r->in->step)
        walk_chunks(set);
    if (status == COLLET_OK)
        out->set = set;
    else
        H5Dclose(set);
    return status;
}

collet_status scatter_read_planes(scatter_reader *r, const scatter_dataset *d, int64_t first,
                                  int64_t planes, void *values)
{
    const int64_t *n = r->in->options.shape;
    size_t voxel = (size_t)d->width * element_bytes(r);
    int z = r->reversed ? 2 : 0;
    hsize_t start[4] = {0}, count[4] = {0, (hsize_t)n[1], 0, (hsize_t)d->width};
    hsize_t points = (hsize_t)(planes * n[1] * n[2] * d->width);
    void *turned = r->reversed ? malloc((size_t)points * element_bytes(r) + 1) : NULL;
    if (r->reversed && !turned)
        return collet_fail(r->err, COLLET_NO_MEMORY, "%s: no memory for %s", r->path, d->name);
    scatter_begin_step(r, d->width);
    start[z] = (hsize_t)first;
    count[z] = (hsize_t)planes;
    count[2 - z] = (hsize_t)n[2];
    hid_t file = H5Dget_space(d->set), memory = H5Screate_simple(1, &points, NULL);
    int done = H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
               H5Dread(d->set, element_bytes(r) == 8 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT, memory,
                       file, H5P_DEFAULT, turned ? turned : values) >= 0;
    H5Sclose(memory);
    H5Sclose(file);
    if (done && turned)
        turn_axes(r, turned, values, voxel, planes);
    free(turned);
    return done ? COLLET_OK
                : collet_fail(r->err, COLLET_IO, "%s: %s cannot be read", r->path, d->name);
}

/* ---- Materials ------------------------------------------------------------------------------- */

static const char *const euler[] = {"Vfrac", "S", "Theta", "Psi"};
static const char *const vector[] = {"alignment", "unaligned"};

/* Sets *found to 1 if any number of the dataset is not 0. */
static collet_status find_number(scatter_reader *r, const scatter_dataset *d, int *found)
{
    const int64_t *n = r->in->options.shape;
    size_t bytes = (size_t)(n[1] * n[2] * d->width) * element_bytes(r);
    char *plane = malloc(bytes + 1);
    collet_status status =
        plane ? COLLET_OK : collet_fail(r->err, COLLET_NO_MEMORY, "%s: no memory", r->path);
    *found = 0;
    for (int64_t z = 0; z < n[0] && !*found && status == COLLET_OK; z++) {
        status = scatter_read_planes(r, d, z, 1, plane);
        for (size_t i = 0; i < bytes && !*found && status == COLLET_OK; i++)
            *found = plane[i] != 0;
    }
    free(plane);
    return status;
}

/* Checks the datasets of a material without reading their values, and sets the material's kind. */
static collet_status open_material(scatter_reader *r, int64_t m)
{
    collet_scatter_material *material = &r->in->materials[m];
    int aligned = 1, vectors = r->in->vectors, has = 1;
    collet_status status = vectors ? COLLET_OK : scatter_find_alignment(r, m, &has);
    for (int i = 0; i < (vectors ? 2 : has ? 4 : 1) && aligned && status == COLLET_OK; i++) {
        scatter_dataset d;
        status = scatter_open_dataset(r, m, vectors ? vector[i] : euler[i],
                                      vectors && i == 0 ? 3 : 1, &d);
        if (status == COLLET_OK && !vectors && i == 1)
            status = find_number(r, &d, &aligned);
        if (d.set >= 0)
            H5Dclose(d.set);
    }
    *material =
        (collet_scatter_material){.struct_size = sizeof *material,
                                  .dtype = r->in->options.dtype,
                                  .kind = vectors          ? COLLET_SCATTER_VECTOR
                                             : has && aligned ? COLLET_SCATTER_EULER
                                                              : COLLET_SCATTER_ISOTROPIC};
    return status;
}

static collet_status open_materials(scatter_reader *r)
{
    collet_status status = COLLET_OK;
    for (int64_t m = 0; m < r->in->options.n_materials && status == COLLET_OK; m++)
        status = open_material(r, m);
    return status == COLLET_OK ? scatter_warn_of_file(r) : status;
}

/* A request to read layers of a material. */
typedef struct layers {
    scatter_reader base;
    int64_t material, first, count;
    void *const *arrays;
} layers;

static collet_status read_layers(scatter_reader *r)
{
    const layers *l = (layers *)r;
    uint32_t kind = r->in->materials[l->material].kind;
    int vectors = kind == COLLET_SCATTER_VECTOR, width = vectors ? 3 : 1;
    int count = vectors ? 2 : kind == COLLET_SCATTER_EULER ? 4 : 1;
    collet_status status = COLLET_OK;
    for (int i = 0; i < count && status == COLLET_OK; i++, width = 1) {
        scatter_dataset d;
        status = scatter_open_dataset(r, l->material, vectors ? vector[i] : euler[i], width, &d);
        if (status != COLLET_OK)
            return status;
        status = scatter_read_planes(r, &d, l->first, l->count, l->arrays[i]);
        H5Dclose(d.set);
    }
    return status;
}

/* Adds layers of a material that were read for the first time to its scatter_range. */
static collet_status note_layers(const layers *l)
{
    collet_scatter_input *in = l->base.in;
    const int64_t *n = in->options.shape;
    collet_scatter_material view = in->materials[l->material];
    scatter_range *range = &in->ranges[l->material];
    if (l->first > range->layers || l->first + l->count <= range->layers)
        return COLLET_OK;
    if (view.kind == COLLET_SCATTER_VECTOR) {
        view.direction = l->arrays[0];
        view.unaligned = l->arrays[1];
    } else {
        view.volume = l->arrays[0];
    }
    if (view.kind == COLLET_SCATTER_EULER) {
        view.alignment = l->arrays[1];
        view.theta = l->arrays[2];
        view.psi = l->arrays[3];
    }
    scatter_note_range(range, &view, l->count * n[1] * n[2]);
    range->layers = l->first + l->count;
    return range->layers == n[0]
               ? scatter_warn_of_voxels(in, in->path, l->material, range, l->base.err)
               : COLLET_OK;
}

collet_status scatter_read_layers(void *user, void *const *arrays, int64_t material, int64_t first,
                                  int64_t count, collet_error *err)
{
    collet_scatter_input *in = user;
    layers l = {{.in = in, .path = in->path, .file = -1, .reversed = in->reversed, .err = err},
                material,
                first,
                count,
                arrays};
    collet_status status = scatter_read_file(&l.base, read_layers);
    return status == COLLET_OK ? note_layers(&l) : status;
}

/* ---- The file -------------------------------------------------------------------------------- */

/* The file is opened again for each part of the voxels. This function fails if the path no longer leads to the same
 * file. */
static collet_status check_same(scatter_reader *r, int first)
{
    struct stat *a = &r->in->file, b;
    void *descriptor;
    if (H5Fget_vfd_handle(r->file, H5P_DEFAULT, &descriptor) < 0 ||
        fstat(*(int *)descriptor, &b) != 0)
        return collet_fail(r->err, COLLET_IO, "%s: cannot be read", r->path);
    if (first)
        *a = b;
    return a->st_dev == b.st_dev && a->st_ino == b.st_ino && a->st_size == b.st_size &&
                   a->st_mtim.tv_sec == b.st_mtim.tv_sec && a->st_mtim.tv_nsec == b.st_mtim.tv_nsec
               ? COLLET_OK
               : collet_fail(r->err, COLLET_IO,
                             "%s: the file was replaced or changed while it was read; run again",
                             r->path);
}

/* If in->materials is set, the parameters were read before, and the file was inspected then. */
static collet_status open_file(scatter_reader *r)
{
    collet_status status = io_hdf5_check_regular(r->path, r->err);
    if (status == COLLET_OK && !r->in->step && !r->in->materials)
        status = io_hdf5_inspect(r->inspection, r->path, r->arguments, r->err);
    if (status == COLLET_OK)
        status = io_hdf5_open_file(r->path, SCATTER_KIND, &r->file, r->err);
    if (status != COLLET_OK)
        return status;
    status = check_same(r, !r->in->materials);
    return status == COLLET_OK && !r->in->materials ? read_parameters(r) : status;
}

collet_status scatter_read_file(scatter_reader *r, collet_status (*work)(scatter_reader *))
{
    io_hdf5_quiet before;
    io_hdf5_be_quiet(&before);
    collet_status status = open_file(r);
    if (status == COLLET_OK) {
        status = work(r);
        collet_status same = check_same(r, 0);
        status = same == COLLET_OK ? status : same;
    }
    if (r->file >= 0)
        H5Fclose(r->file);
    io_hdf5_report_again(&before);
    return status;
}

collet_status scatter_read_morphology(collet_scatter_input *in, const char *path,
                                      collet_error *err)
{
    scatter_reader r = {.in = in,
                        .path = path,
                        .file = -1,
                        .inspection = &scatter_inspect_morphology,
                        .arguments = {in->vectors, (int64_t)in->options.dtype},
                        .err = err};
    collet_status status = scatter_read_file(&r, open_materials);
    in->reversed = r.reversed;
    in->path = strdup(path);
    return status == COLLET_OK && !in->path
               ? collet_fail(err, COLLET_NO_MEMORY, "%s: no memory", path)
               : status;
}

/* ---- Inspection ------------------------------------------------------------------------------ */

/* Reads only the first and the last layers; scatter_open_dataset has read the index of all chunks. */
static void try_layers(collet_scatter_input *in)
{
    collet_error err;
    const int64_t *n = in->options.shape;
    double *memory = malloc((size_t)(n[1] * n[2]) * 6 * sizeof *memory);
    void *const arrays[4] = {memory, memory + 3 * n[1] * n[2], memory + 4 * n[1] * n[2],
                             memory + 5 * n[1] * n[2]};
    for (int64_t m = 0; memory && m < in->options.n_materials; m++)
        for (int last = 0; last <= 1; last++)
            scatter_read_layers(in, arrays, m, last ? n[0] - 1 : 0, 1, &err);
    free(memory);
}

static void inspect(const char *path, const int64_t *arguments, io_hdf5_step step)
{
    collet_error err;
    collet_scatter_input *in = calloc(1, sizeof *in);
    if (!in)
        return;
    in->options = (collet_scatter_options)COLLET_SCATTER_OPTIONS;
    in->options.dtype = (collet_dtype)arguments[1];
    in->vectors = arguments[0] != 0;
    in->step = step;
    if (scatter_read_morphology(in, path, &err) == COLLET_OK)
        try_layers(in);
    collet_scatter_input_destroy(in);
}

const io_hdf5_inspection scatter_inspect_morphology = {"morphology", inspect};
