/* SPDX-License-Identifier: Apache-2.0 */
/* amber.c - NetCDF trajectories and restart files of the AMBER convention.
 * Tests: tests/engines/test_io_netcdf.c, tests/fuzz/fuzz_trajectory.c */
#include "trajectory/formats/bigendian.h"
#include "trajectory/formats/cell.h"
#include "trajectory/formats/formats.h"
#include "trajectory/formats/netcdf/header.h"
#include "trajectory/formats/units.h"

#include "io/letters.h"

#include <string.h>

#define PI 3.14159265358979323846

enum { POSITIONS, VELOCITIES, FORCES, TIME, LENGTHS, ANGLES, VARIABLES };

/* The variables of the AMBER convention; `axes` does not count the axis of frames. */
static const struct {
    const char *name;
    int32_t axes;
    trajectory_measure measure;
    double usual; /* factor to the unit of results if the file names no unit */
} kinds[VARIABLES] = {
    [POSITIONS] = {"coordinates", 2, TRAJECTORY_LENGTH, .1},
    [VELOCITIES] = {"velocities", 2, TRAJECTORY_VELOCITY, .1},
    [FORCES] = {"forces", 2, TRAJECTORY_FORCE, 41.84},
    [TIME] = {"time", 0, TRAJECTORY_TIME, 1},
    [LENGTHS] = {"cell_lengths", 1, TRAJECTORY_LENGTH, .1},
    [ANGLES] = {"cell_angles", 1, TRAJECTORY_LENGTH, 1},
};

typedef struct nc {
    int ready;
    trajectory_netcdf file;
    trajectory_netcdf_variable variables[VARIABLES];
    double factors[VARIABLES];
    int64_t n_atoms;
    int64_t n_frames; /* frames by the file's header; some may be missing at the end of the file */
} nc;

static int recognise(const uint8_t *bytes, size_t n)
{
    return n >= 4 && memcmp(bytes, "CDF", 3) == 0 &&
           (bytes[3] == 1 || bytes[3] == 2 || bytes[3] == 5);
}

/* ---- The head of the file ---------------------------------------------------------------- */

/* 1 if the variable has an axis of frames; 0 if its values are valid for all frames. */
static int has_frames(const trajectory_netcdf_variable *v, int kind)
{
    return v->axes > kinds[kind].axes;
}

/* Bytes of a variable in one frame. */
static int64_t frame_bytes(const nc *s, int kind)
{
    static const int64_t numbers[] = {1, 3};
    int32_t axes = kinds[kind].axes;

    return (int64_t)s->variables[kind].width * (axes == 2 ? 3 * s->n_atoms : numbers[axes]);
}

static collet_status check_shape(trajectory_reader *trajectory, int kind, collet_error *err)
{
    const nc *s = trajectory->state;
    const trajectory_netcdf_variable *v = &s->variables[kind];
    const int64_t *shape = v->shape + has_frames(v, kind);
    int32_t axes = kinds[kind].axes;
    int64_t bytes;

    if (v->width == 0)
        return trajectory_reader_fail(trajectory, COLLET_FORMAT, err,
                                      "the variable '%s' is not of floating-point numbers",
                                      kinds[kind].name);
    if ((v->axes != axes && v->axes != axes + 1) || (axes >= 1 && shape[axes - 1] != 3) ||
        (axes == 2 && shape[0] != s->n_atoms) ||
        __builtin_mul_overflow(v->shape[0], v->length, &bytes) || bytes > INT64_MAX / 4)
        return trajectory_reader_fail(
            trajectory, COLLET_FORMAT, err,
            "the shape of the variable '%s' is not the AMBER convention's (%lld atoms)",
            kinds[kind].name, (long long)s->n_atoms);
    if (has_frames(v, kind) && v->shape[0] != 0 && v->shape[0] < s->n_frames)
        return trajectory_reader_fail(trajectory, COLLET_FORMAT, err,
                                      "the variable '%s' has %lld frames, the coordinates have "
                                      "%lld",
                                      kinds[kind].name, (long long)v->shape[0],
                                      (long long)s->n_frames);
    return COLLET_OK;
}

/* Sets *factor to the size of the unit in degrees. */
static int parse_angle(const char *unit, double *factor)
{
    static const struct {
        const char *name;
        double degrees;
    } angles[] = {{"degrees", 1},        {"degree", 1},        {"deg", 1},
                  {"radians", 180 / PI}, {"radian", 180 / PI}, {"rad", 180 / PI}};

    for (size_t i = 0; i < sizeof angles / sizeof *angles; i++)
        if (strlen(unit) == strlen(angles[i].name) &&
            io_same_letters(unit, angles[i].name, strlen(unit))) {
            *factor = angles[i].degrees;
            return 1;
        }
    return 0;
}

static collet_status choose_factor(trajectory_reader *trajectory, int kind, collet_error *err)
{
    nc *s = trajectory->state;
    const trajectory_netcdf_variable *v = &s->variables[kind];
    double *factor = &s->factors[kind];

    *factor = kinds[kind].usual;
    if (v->units[0] &&
        !(kind == ANGLES ? parse_angle(v->units, factor)
                         : trajectory_unit_parse(v->units, kinds[kind].measure, factor)))
        return trajectory_reader_fail(trajectory, COLLET_FORMAT, err,
                                      "the variable '%s' has the unit '%s', which is unknown or of "
                                      "something else",
                                      kinds[kind].name, v->units);
    *factor *= v->scale;
    return COLLET_OK;
}

/* Returns the number of frames that the header states. If the file is too short for so many frames, returns the number
 * of complete frames plus 1, for the incomplete frame. */
static int64_t count_frames(const trajectory_reader *trajectory)
{
    const nc *s = trajectory->state;
    const trajectory_netcdf_variable *positions = &s->variables[POSITIONS];
    int64_t size = trajectory->source.size - s->file.records;

    if (!has_frames(positions, POSITIONS))
        return 1;
    if (positions->shape[0] != 0)
        return positions->shape[0];
    int64_t room = size > 0 ? (size - 1) / s->file.record + 1 : 0;
    if (s->file.n_records < 0)
        return room;
    return s->file.n_records <= room ? s->file.n_records : room + 1;
}

static collet_status open_file(trajectory_reader *trajectory, collet_error *err)
{
    const char *names[VARIABLES];
    nc *s = trajectory->state;

    for (int i = 0; i < VARIABLES; i++)
        names[i] = kinds[i].name;
    collet_status status =
        trajectory_netcdf_read(trajectory, names, VARIABLES, s->variables, &s->file, err);
    if (status != COLLET_OK)
        return status;
    if (!strstr(s->file.conventions, "AMBER"))
        return trajectory_reader_fail(trajectory, COLLET_FORMAT, err,
                                      "the NetCDF file does not have AMBER's convention: its "
                                      "attribute Conventions is '%s'",
                                      s->file.conventions);
    const trajectory_netcdf_variable *positions = &s->variables[POSITIONS];
    if (!positions->present || positions->axes < 2)
        return trajectory_reader_fail(trajectory, COLLET_FORMAT, err,
                                      "the NetCDF file has no coordinates");
    s->n_atoms = positions->shape[has_frames(positions, POSITIONS)];
    s->n_frames = count_frames(trajectory);
    for (int i = 0; i < VARIABLES && status == COLLET_OK; i++) {
        if (s->variables[i].present)
            status = check_shape(trajectory, i, err);
        if (s->variables[i].present && status == COLLET_OK)
            status = choose_factor(trajectory, i, err);
    }
    if (status == COLLET_OK && s->n_frames == 0)
        return trajectory_reader_fail(trajectory, COLLET_FORMAT, err, "the file counts no frames");
    if (s->variables[LENGTHS].present != s->variables[ANGLES].present)
        trajectory->info.note =
            "the file has only one of cell_lengths and cell_angles, so that its "
            "frames have no box";
    trajectory->announced = s->n_frames;
    s->ready = status == COLLET_OK;
    return status;
}

/* ---- Frames ------------------------------------------------------------------------------ */

static int64_t offset_of(const nc *s, int kind, int64_t frame)
{
    const trajectory_netcdf_variable *v = &s->variables[kind];

    if (!v->present)
        return 0;
    return v->begin + (has_frames(v, kind) ? frame * v->stride : 0);
}

/* Returns the byte after the last of a frame's numbers. */
static int64_t end_of_numbers(const nc *s, int64_t frame)
{
    int64_t end = 0;

    for (int i = 0; i < VARIABLES; i++) {
        int64_t own = s->variables[i].present ? offset_of(s, i, frame) + frame_bytes(s, i) : 0;
        end = own > end ? own : end;
    }
    return end;
}

/* Returns the byte where the next frame begins. If the bytes after the last frame are too few for another frame,
 * they count as padding of the last frame. */
static int64_t end_of_frame(const trajectory_reader *trajectory, int64_t index)
{
    const nc *s = trajectory->state;
    const trajectory_netcdf_variable *positions = &s->variables[POSITIONS];
    int records = positions->stride == s->file.record && positions->shape[0] == 0;
    int64_t size = trajectory->source.size, next = index + 1;
    int64_t end = records ? s->file.records + next * s->file.record
                          : positions->begin + next * frame_bytes(s, POSITIONS);
    int64_t rest = records ? s->file.record : size;

    return end > size || (next == s->n_frames && size - end < rest) ? size : end;
}

static int64_t count(const trajectory_reader *trajectory)
{
    const nc *s = trajectory->state;
    int64_t low = 0, high = s->n_frames;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (end_of_numbers(s, middle) <= trajectory->source.size)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int64_t locate(const trajectory_reader *trajectory, int64_t index)
{
    return index == 0 ? 0 : end_of_frame(trajectory, index - 1);
}

/* Reads `n` numbers, at most 3, of a frame's variable. */
static collet_status read_numbers(trajectory_reader *trajectory, int kind, size_t n,
                                  double *numbers, collet_error *err)
{
    const nc *s = trajectory->state;
    size_t width = s->variables[kind].width;
    const uint8_t *bytes;

    collet_status status = io_source_view(
        &trajectory->source, offset_of(s, kind, trajectory->index), n * width, &bytes, err);
    if (status == COLLET_OK)
        trajectory_be_scale(numbers, sizeof *numbers, bytes, width, n, s->factors[kind]);
    return status;
}

static collet_status read_box(trajectory_reader *trajectory, double box[9], collet_error *err)
{
    const nc *s = trajectory->state;
    double lengths[3], angles[3];

    if (!s->variables[LENGTHS].present || !s->variables[ANGLES].present)
        return COLLET_OK;
    collet_status status = read_numbers(trajectory, LENGTHS, 3, lengths, err);
    if (status == COLLET_OK)
        status = read_numbers(trajectory, ANGLES, 3, angles, err);
    if (status != COLLET_OK)
        return status;
    for (int i = 0; i < 3; i++) {
        lengths[i] *= 10;
        angles[i] = trajectory_cell_cosine(angles[i]);
    }
    trajectory_cell_vectors(box, lengths, angles);
    return COLLET_OK;
}

static collet_status read_head(trajectory_reader *trajectory, trajectory_frame_head *head,
                               collet_error *err)
{
    const nc *s = trajectory->state;
    collet_status status = s->ready ? COLLET_OK : open_file(trajectory, err);

    if (status != COLLET_OK)
        return status;
    if (trajectory->index >= s->n_frames)
        return trajectory_reader_fail(
            trajectory, COLLET_FORMAT, err,
            "the file counts %lld frames, but more follow: the program that wrote it was "
            "interrupted before it counted them, or the file is damaged",
            (long long)s->n_frames);
    head->n_atoms = s->n_atoms;
    head->dtype = COLLET_F32;
    for (int i = POSITIONS; i <= FORCES; i++)
        if (s->variables[i].width == 8)
            head->dtype = COLLET_F64;
    head->has_time = s->variables[TIME].present;
    head->step = -1;
    head->positions = offset_of(s, POSITIONS, trajectory->index);
    head->velocities = offset_of(s, VELOCITIES, trajectory->index);
    head->forces = offset_of(s, FORCES, trajectory->index);
    head->end = end_of_numbers(s, trajectory->index);
    if (head->end > trajectory->source.size) /* truncated */
        return COLLET_OK;
    head->end = end_of_frame(trajectory, trajectory->index);
    if (head->has_time)
        status = read_numbers(trajectory, TIME, 1, &head->time, err);
    if (s->variables[TIME].width == 4)
        head->rounding = s->factors[TIME] * trajectory_f32_rounding(head->time / s->factors[TIME]);
    return status == COLLET_OK ? read_box(trajectory, head->box, err) : status;
}

static collet_status read_body(trajectory_reader *trajectory, trajectory_frame_head *head,
                               const trajectory_frame_target *target, collet_error *err)
{
    const nc *s = trajectory->state;
    size_t real = head->dtype == COLLET_F64 ? sizeof(double) : sizeof(float);
    const int64_t offsets[] = {head->positions, head->velocities, head->forces};
    void *const targets[] = {target->positions, target->velocities, target->forces};
    collet_status status = COLLET_OK;

    for (int i = POSITIONS; status == COLLET_OK && i <= FORCES; i++)
        if (targets[i])
            status = trajectory_be_read(trajectory, offsets[i], s->variables[i].width,
                                        s->factors[i], real, targets[i], err);
    return status;
}

const trajectory_format trajectory_nc_format = {
    .name = "nc",
    .kind = "a NetCDF file",
    .title = "AMBER, NetCDF trajectories and restart files",
    .recognise = recognise,
    .head = read_head,
    .body = read_body,
    .count = count,
    .locate = locate,
    .state_size = sizeof(nc),
};
