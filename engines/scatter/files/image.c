/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a morphology as an image file of VTK (.vti), which ParaView opens: XML, then raw numbers.
 * Tests: tests/tools/rsoxs/test_rsoxs_view.c */
#include "io/numerals.h"
#include "io/spool.h"
#include "scatter/files/morphology.h"
#include "scatter/files/store.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PART (1 << 20) /* bytes of planes copied at a time, at least one plane */
#define FIELDS 4       /* maximum number of fields of a material */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BYTE_ORDER_NAME "LittleEndian"
#else
#define BYTE_ORDER_NAME "BigEndian"
#endif

static const struct {
    const char *name;
    int width;
} fields[2][FIELDS] = {{{"Vfrac", 1}, {"S", 1}, {"Theta", 1}, {"Psi", 1}},
                       {{"alignment", 3}, {"unaligned", 1}}};

typedef struct image {
    scatter_reader base; /* first member, because functions cast a pointer to `base` to a pointer to image */
    const char *path;
    io_spool *spool;
} image;

/* In collet-inspect o->spool is NULL, and nothing is written. */
static collet_status put(image *o, const void *bytes, size_t n)
{
    return o->spool ? io_spool_write(o->spool, bytes, n, o->base.err) : COLLET_OK;
}

static COLLET_PRINTF(2, 3) collet_status print(image *o, const char *format, ...)
{
    char text[800]; /* longer than each text that this file prints */
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return put(o, text, (size_t)length);
}

/* A file with Euler angles requires only the volume fraction. */
static int is_absent(const image *o, int64_t m, int field)
{
    char name[SCATTER_NAME_SIZE];
    scatter_name_dataset(name, o->base.file, 0, m, fields[0][field].name);
    return !o->base.in->vectors && field > 0 && !io_hdf5_has(o->base.file, name);
}

static uint64_t bytes_of(const image *o, int width)
{
    const int64_t *n = o->base.in->options.shape;
    return (uint64_t)(n[0] * n[1] * n[2]) * (uint64_t)width * sizeof(float);
}

/* An array has two parts in the file: an XML element with the array's offset, and the numbers. */
static collet_status write_place(image *o, const scatter_dataset *d, uint64_t *offset)
{
    collet_status status =
        print(o,
              "<DataArray type=\"Float32\" Name=\"%s\" NumberOfComponents=\"%d\" "
              "format=\"appended\" offset=\"%" PRIu64 "\"/>\n",
              strrchr(d->name, '/') + 1, d->width, *offset);
    *offset += sizeof(uint64_t) + bytes_of(o, d->width);
    return status;
}

static collet_status write_numbers(image *o, const scatter_dataset *d, uint64_t *offset)
{
    const int64_t *n = o->base.in->options.shape;
    int64_t plane = n[1] * n[2] * d->width, planes = PART / (plane * (int64_t)sizeof(float));
    uint64_t bytes = bytes_of(o, d->width);
    planes = planes > 1 ? planes : 1;
    (void)offset;
    float *values = malloc((size_t)(planes * plane) * sizeof *values);
    collet_status status =
        values ? put(o, &bytes, sizeof bytes)
               : collet_fail(o->base.err, COLLET_NO_MEMORY, "%s: no memory", o->base.path);
    for (int64_t z = 0; z < n[0] && status == COLLET_OK; z += planes) {
        int64_t count = n[0] - z < planes ? n[0] - z : planes;
        status = scatter_read_planes(&o->base, d, z, count, values);
        if (status == COLLET_OK)
            status = put(o, values, (size_t)(count * plane) * sizeof *values);
    }
    free(values);
    return status;
}

/* Calls `write` for each array. */
static collet_status write_arrays(image *o, collet_status (*write)(image *, const scatter_dataset *,
                                                                   uint64_t *))
{
    const int vectors = o->base.in->vectors;
    uint64_t offset = 0;
    collet_status status = COLLET_OK;
    for (int64_t m = 0; m < o->base.in->options.n_materials; m++)
        for (int i = 0; i < FIELDS && fields[vectors][i].name && status == COLLET_OK; i++) {
            scatter_dataset d;
            if (is_absent(o, m, i))
                continue;
            status = scatter_open_dataset(&o->base, m, fields[vectors][i].name,
                                          fields[vectors][i].width, &d);
            if (status == COLLET_OK)
                status = write(o, &d, &offset);
            if (d.set >= 0)
                H5Dclose(d.set);
        }
    return status;
}

/* Reads the shape from the first dataset: the header of the image file begins with the shape. */
static collet_status find_shape(image *o)
{
    scatter_dataset d;
    const int vectors = o->base.in->vectors;
    collet_status status =
        scatter_open_dataset(&o->base, 0, fields[vectors][0].name, fields[vectors][0].width, &d);
    if (d.set >= 0)
        H5Dclose(d.set);
    return status;
}

static collet_status write_header(image *o)
{
    const int64_t *n = o->base.in->options.shape;
    const double a = o->base.in->options.voxel;
    const locale_t before = io_numerals_begin();
    collet_status status =
        print(o,
              "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"1.0\" "
              "byte_order=\"" BYTE_ORDER_NAME "\" header_type=\"UInt64\">\n"
              "<ImageData WholeExtent=\"0 %" PRId64 " 0 %" PRId64 " 0 %" PRId64 "\" "
              "Origin=\"0 0 0\" Spacing=\"%.17g %.17g %.17g\">\n"
              "<Piece Extent=\"0 %" PRId64 " 0 %" PRId64 " 0 %" PRId64 "\">\n<CellData>\n",
              n[2], n[1], n[0], a, a, a, n[2], n[1], n[0]);
    io_numerals_end(before);
    return status;
}

static collet_status write_image(scatter_reader *base)
{
    image *o = (image *)base;
    base->in->vectors =
        !scatter_has_group(base->file, 0) && scatter_has_group(base->file, 1);
    collet_status status = find_shape(o);
    if (status == COLLET_OK && o->path)
        status = io_spool_create(o->path, IO_SPOOL_OUTPUT, &o->spool, base->err);
    if (status == COLLET_OK)
        status = write_header(o);
    if (status == COLLET_OK)
        status = write_arrays(o, write_place);
    if (status == COLLET_OK)
        status = print(o, "</CellData>\n</Piece>\n</ImageData>\n"
                          "<AppendedData encoding=\"raw\">\n_");
    if (status == COLLET_OK)
        status = write_arrays(o, write_numbers);
    if (status == COLLET_OK)
        status = print(o, "\n</AppendedData>\n</VTKFile>\n");
    return status;
}

/* `path` NULL: nothing is written. */
static collet_status convert(const char *morphology, const char *path, int replace,
                             io_hdf5_step step, collet_error *err)
{
    collet_scatter_input in = {.options = COLLET_SCATTER_OPTIONS, .step = step};
    image o = {.base = {.in = &in,
                        .path = morphology,
                        .file = -1,
                        .inspection = &scatter_inspect_image,
                        .err = err},
               .path = path};
    collet_status status = scatter_read_file(&o.base, write_image);
    if (status == COLLET_OK && path)
        status = io_spool_publish(o.spool, replace, err);
    io_spool_free(o.spool);
    free(in.materials);
    free(in.ranges);
    return status;
}

static void inspect(const char *path, const int64_t *arguments, io_hdf5_step step)
{
    collet_error err;
    (void)arguments;
    convert(path, NULL, 0, step, &err);
}

const io_hdf5_inspection scatter_inspect_image = {"image", inspect};

collet_status collet_scatter_write_image(const char *morphology, const char *path,
                                         int32_t replace, collet_error *err)
{
    return morphology && path ? convert(morphology, path, replace, NULL, err)
                              : collet_fail(err, COLLET_INVALID, "%s is NULL",
                                            morphology ? "path" : "morphology");
}
