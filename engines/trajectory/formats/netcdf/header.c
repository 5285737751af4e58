/* SPDX-License-Identifier: Apache-2.0 */
/* The format: "The NetCDF Classic Format Specification" of Unidata, and CDF-5 of PnetCDF.
 * Tests: tests/engines/test_io_netcdf.c, tests/fuzz/fuzz_trajectory.c */
#include "trajectory/formats/netcdf/header.h"

#include "trajectory/formats/bigendian.h"

#include <string.h>

#define DIMENSIONS 10 /* tags of lists */
#define VARIABLES 11
#define ATTRIBUTES 12
#define CHARACTERS 2 /* types */
#define SINGLE 5
#define DOUBLE 6
#define CDF_64BIT_OFFSETS 2
#define CDF_64BIT_SIZES 5
#define MOST_DIMENSIONS 1024 /* as libnetcdf */
#define SIZE_LIMIT ((int64_t)1 << 60)

static const uint8_t type_widths[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};

typedef struct header {
    trajectory_reader *trajectory;
    collet_error *err;
    int64_t at;
    int version;
    collet_status status; /* status of the first error; after it all functions do nothing */
    int64_t lengths[MOST_DIMENSIONS];
    int64_t n_dimensions;
    int64_t record_variables;
    int64_t first_length; /* bytes of the first record variable in a record, without padding */
} header;

/* ---- Numbers ----------------------------------------------------------------------------- */

static void damaged(header *h)
{
    if (h->status == COLLET_OK)
        h->status = trajectory_reader_fail(h->trajectory, COLLET_FORMAT, h->err,
                                           "the NetCDF header is damaged before byte %lld",
                                           (long long)h->at);
}

/* Returns the next n <= IO_SOURCE_VIEW bytes, valid until the next call; NULL after an error. */
static const uint8_t *take(header *h, int64_t n)
{
    const uint8_t *bytes = NULL;

    if (h->status == COLLET_OK && h->trajectory->source.size - h->at < n)
        h->status = trajectory_reader_truncated(h->trajectory, h->err);
    if (h->status == COLLET_OK)
        h->status = io_source_view(&h->trajectory->source, h->at, (size_t)n, &bytes, h->err);
    if (h->status != COLLET_OK)
        return NULL;
    h->at += n;
    return bytes;
}

static void skip(header *h, int64_t n)
{
    if (h->status == COLLET_OK && h->trajectory->source.size - h->at < n)
        h->status = trajectory_reader_truncated(h->trajectory, h->err);
    h->at += h->status == COLLET_OK ? n : 0;
}

static int64_t take_number(header *h, int64_t width)
{
    const uint8_t *bytes = take(h, width);

    if (!bytes)
        return 0;
    return width == 8 ? (int64_t)trajectory_be64(bytes) : (int64_t)trajectory_be32(bytes);
}

/* Reads a size that must not be negative; 0 after an error. */
static int64_t take_size(header *h)
{
    int64_t size = take_number(h, h->version == CDF_64BIT_SIZES ? 8 : 4);

    if (size < 0 || size > SIZE_LIMIT)
        damaged(h);
    return h->status == COLLET_OK ? size : 0;
}

static int64_t product(header *h, int64_t a, int64_t b)
{
    int64_t result;

    if (__builtin_mul_overflow(a, b, &result) || result > SIZE_LIMIT)
        damaged(h);
    return h->status == COLLET_OK ? result : 0;
}

static int64_t padded(int64_t size)
{
    return (size + 3) & ~INT64_C(3);
}

/* Reads a text of `length` bytes and its padding. Bytes that do not fit are left out. */
static void take_text(header *h, int64_t length, char text[TRAJECTORY_NETCDF_TEXT])
{
    int64_t n = length < TRAJECTORY_NETCDF_TEXT - 1 ? length : TRAJECTORY_NETCDF_TEXT - 1;
    const uint8_t *bytes = take(h, n);

    memset(text, 0, TRAJECTORY_NETCDF_TEXT);
    if (bytes)
        memcpy(text, bytes, (size_t)n);
    skip(h, padded(length) - n);
}

static void take_name(header *h, char name[TRAJECTORY_NETCDF_TEXT])
{
    take_text(h, take_size(h), name);
}

/* Reads the length of a list. Each element takes at least 8 bytes, so a list that the file cannot hold is damaged. */
static int64_t begin_list(header *h, int64_t tag)
{
    int64_t found = take_number(h, 4), n = take_size(h);

    if (found != tag && !(found == 0 && n == 0))
        damaged(h);
    if (h->status == COLLET_OK && n > (h->trajectory->source.size - h->at) / 8)
        h->status = trajectory_reader_truncated(h->trajectory, h->err);
    return h->status == COLLET_OK ? n : 0;
}

/* ---- Lists ------------------------------------------------------------------------------- */

static void read_dimensions(header *h)
{
    char name[TRAJECTORY_NETCDF_TEXT];

    h->n_dimensions = begin_list(h, DIMENSIONS);
    if (h->n_dimensions > MOST_DIMENSIONS)
        damaged(h);
    for (int64_t i = 0; i < h->n_dimensions && h->status == COLLET_OK; i++) {
        take_name(h, name);
        h->lengths[i] = take_size(h);
    }
}

static int64_t take_type(header *h)
{
    int64_t type = take_number(h, 4);

    if (type < 1 || type >= (int64_t)sizeof type_widths)
        damaged(h);
    return h->status == COLLET_OK ? type : 0;
}

/* Reads a list of attributes; keeps the text of attribute `kept`, and scale_factor unless `scale` is NULL. */
static void read_attributes(header *h, const char *kept, char text[TRAJECTORY_NETCDF_TEXT],
                            double *scale)
{
    char name[TRAJECTORY_NETCDF_TEXT];
    int64_t n = begin_list(h, ATTRIBUTES);

    for (int64_t i = 0; i < n && h->status == COLLET_OK; i++) {
        take_name(h, name);
        int64_t type = take_type(h), count = take_size(h);
        int64_t bytes = product(h, count, type_widths[type]);
        if (type == CHARACTERS && strcmp(name, kept) == 0) {
            take_text(h, bytes, text);
        } else if (scale && count == 1 && strcmp(name, "scale_factor") == 0 &&
                   (type == SINGLE || type == DOUBLE)) {
            const uint8_t *value = take(h, bytes);
            if (value)
                *scale =
                    type == DOUBLE ? trajectory_be_f64(value) : (double)trajectory_be_f32(value);
        } else {
            skip(h, padded(bytes));
        }
    }
}

/* Reads the axes into `v`, at most TRAJECTORY_NETCDF_AXES of them, and sets v->length to the number
 * of elements for each index of the first axis. Returns 1 if the first axis is the record axis. */
static int read_axes(header *h, trajectory_netcdf_variable *v)
{
    int64_t axes = take_size(h);
    int records = 0;

    v->length = 1;
    for (int64_t i = 0; i < axes && h->status == COLLET_OK; i++) {
        int64_t id = take_size(h);
        if (id >= h->n_dimensions || (i > 0 && h->lengths[id] == 0)) {
            damaged(h);
            return 0;
        }
        if (i == 0)
            records = h->lengths[id] == 0;
        else
            v->length = product(h, v->length, h->lengths[id]);
        if (i < TRAJECTORY_NETCDF_AXES)
            v->shape[i] = h->lengths[id];
    }
    v->axes = axes <= TRAJECTORY_NETCDF_AXES ? (int32_t)axes : TRAJECTORY_NETCDF_AXES + 1;
    return records;
}

static void read_variable(header *h, trajectory_netcdf *file, char name[TRAJECTORY_NETCDF_TEXT],
                          trajectory_netcdf_variable *v)
{
    *v = (trajectory_netcdf_variable){.present = 1, .scale = 1};
    take_name(h, name);
    int records = read_axes(h, v);
    read_attributes(h, "units", v->units, &v->scale);
    int64_t type = take_type(h);
    take_size(h); /* not used: this number is wrong for a variable whose size needs more bits than the number has */
    v->begin = take_number(h, h->version >= CDF_64BIT_OFFSETS ? 8 : 4);
    if (v->begin < 0 || v->begin > SIZE_LIMIT)
        damaged(h);
    v->width = type == SINGLE || type == DOUBLE ? type_widths[type] : 0;
    v->length = v->stride = product(h, v->length, type_widths[type]);
    if (!records || h->status != COLLET_OK)
        return;
    v->stride = 0;
    if (h->record_variables == 0 || v->begin < file->records)
        file->records = v->begin;
    if (h->record_variables++ == 0)
        h->first_length = v->length;
    if (__builtin_add_overflow(file->record, padded(v->length), &file->record) ||
        file->record > SIZE_LIMIT)
        damaged(h);
}

static void read_variables(header *h, const char *const *names, size_t n,
                           trajectory_netcdf_variable *variables, trajectory_netcdf *file)
{
    int64_t count = begin_list(h, VARIABLES);

    for (int64_t i = 0; i < count && h->status == COLLET_OK; i++) {
        char name[TRAJECTORY_NETCDF_TEXT];
        trajectory_netcdf_variable variable;

        read_variable(h, file, name, &variable);
        for (size_t k = 0; k < n && h->status == COLLET_OK; k++)
            if (strcmp(name, names[k]) == 0)
                variables[k] = variable;
    }
    if (h->record_variables == 1) /* a single record variable is not padded */
        file->record = h->first_length;
}

/* Sets the stride of a record variable, and checks that the variable is within a record. */
static void check_records(header *h, const trajectory_netcdf *file, trajectory_netcdf_variable *v)
{
    if (!v->present || v->axes == 0 || v->shape[0] != 0)
        return;
    v->stride = file->record;
    if (v->begin - file->records > file->record - v->length)
        damaged(h);
}

collet_status trajectory_netcdf_read(trajectory_reader *trajectory, const char *const *names,
                                     size_t n, trajectory_netcdf_variable *variables,
                                     trajectory_netcdf *file, collet_error *err)
{
    header h = {.trajectory = trajectory, .err = err};
    const uint8_t *magic = take(&h, 4);

    memset(file, 0, sizeof *file);
    memset(variables, 0, n * sizeof *variables);
    if (!magic)
        return h.status;
    h.version = magic[3];
    file->n_records = take_number(&h, h.version == CDF_64BIT_SIZES ? 8 : 4);
    if (file->n_records == (h.version == CDF_64BIT_SIZES ? -1 : (int64_t)UINT32_MAX))
        file->n_records = -1;
    else if (file->n_records < 0)
        damaged(&h);
    read_dimensions(&h);
    read_attributes(&h, "Conventions", file->conventions, NULL);
    read_variables(&h, names, n, variables, file);
    for (size_t i = 0; i < n && h.status == COLLET_OK; i++)
        check_records(&h, file, &variables[i]);
    return h.status;
}
