/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trr.c - GROMACS' full-precision trajectory: XDR, big-endian, single or double precision.
 *
 * A frame has magic 1993, a string ("GMX_trn_file" with its length twice, as C and as XDR count it), ten sizes in
 * bytes, atoms, step, nre, time and lambda. Then follow box, virial, pressure, positions, velocities and forces; each
 * is present if its size is not 0. The size of a real follows from these sizes. Frames may have different fields.
 * Tests: tests/engines/test_io_trr.c, tests/fuzz/fuzz_trajectory.c
 */
#include "bigendian.h"
#include "formats.h"

/* The bytes before the sizes; they are the same in each frame. */
static const uint8_t preamble[24] = {0,   0,   0x07, 0xc9, 0,   0,   0,   13,  0,   0,   0,   12,
                                     'G', 'M', 'X',  '_',  't', 'r', 'n', '_', 'f', 'i', 'l', 'e'};

#define HEAD_INTS 13 /* ten sizes, atoms, step, nre */
#define HEAD_BYTES(real) (sizeof preamble + HEAD_INTS * 4 + 2 * (size_t)(real))

/* Positions of the head's integers, in the order of the file. */
enum {
    IR,
    ENERGY,
    BOX,
    VIRIAL,
    PRESSURE,
    TOPOLOGY,
    SYMBOLS,
    POSITIONS,
    VELOCITIES,
    FORCES,
    ATOMS,
    STEP
};

static int recognise(const uint8_t *bytes, size_t n)
{
    return n >= 4 && memcmp(bytes, preamble, 4) == 0;
}

/* Returns the size in bytes of a floating-point number in the frame; 0 if the sizes of its fields contradict
 * each other. */
static int64_t real_size(const int32_t *ints)
{
    int64_t vectors = 3 * (int64_t)ints[ATOMS];
    int64_t real = 0;

    for (int i = BOX; i <= FORCES; i++) {
        int64_t n = i <= PRESSURE ? 9 : vectors;
        if (ints[i] == 0)
            continue;
        if (i == TOPOLOGY || i == SYMBOLS || n == 0)
            return 0;
        if (real == 0)
            real = ints[i] / n;
        if (ints[i] != n * real)
            return 0;
    }
    return real == 4 || real == 8 ? real : 0;
}

static collet_status check_ints(const trajectory_reader *trajectory, const int32_t *ints,
                                collet_error *err)
{
    int has_data = ints[BOX] || ints[VIRIAL] || ints[PRESSURE] || ints[POSITIONS] ||
                   ints[VELOCITIES] || ints[FORCES];

    if (ints[ATOMS] < 0)
        return trajectory_reader_fail(trajectory, COLLET_FORMAT, err, "has %d atoms", ints[ATOMS]);
    if (!has_data)
        return trajectory_reader_fail(trajectory, COLLET_FORMAT, err,
                                      "has no data, not even a box");
    if (ints[IR] != 0 || ints[ENERGY] != 0 || real_size(ints) == 0)
        return trajectory_reader_fail(
            trajectory, COLLET_FORMAT, err,
            "has sizes that contradict each other (%d atoms; box %d, positions %d, velocities %d, "
            "forces %d bytes): the file is damaged",
            ints[ATOMS], ints[BOX], ints[POSITIONS], ints[VELOCITIES], ints[FORCES]);
    return COLLET_OK;
}

/* For a head that the end of the file cuts: reports a truncated frame, or that the bytes do not begin a frame. */
static collet_status check_preamble(trajectory_reader *trajectory, const uint8_t *bytes, size_t n,
                                    collet_error *err)
{
    size_t present = n < sizeof preamble ? n : sizeof preamble;

    if (memcmp(bytes, preamble, present) != 0)
        return trajectory_reader_no_frame(trajectory, bytes, n, err);
    if (n < HEAD_BYTES(4))
        return trajectory_reader_truncated(trajectory, err);
    return COLLET_OK;
}

static double load_real(const uint8_t *bytes, int64_t real)
{
    return real == 8 ? trajectory_be_f64(bytes) : (double)trajectory_be_f32(bytes);
}

/* Sets the offset of a field; fields are consecutive. Returns the offset of the next field. */
static int64_t place(int64_t *field, int64_t at, int32_t size)
{
    *field = size != 0 ? at : 0;
    return at + size;
}

static void place_fields(trajectory_frame_head *head, const int32_t *ints, int64_t box)
{
    int64_t at = place(&head->box_at, box, ints[BOX]) + ints[VIRIAL] + ints[PRESSURE];

    at = place(&head->positions, at, ints[POSITIONS]);
    at = place(&head->velocities, at, ints[VELOCITIES]);
    head->end = place(&head->forces, at, ints[FORCES]);
}

static collet_status read_head(trajectory_reader *trajectory, trajectory_frame_head *head,
                               collet_error *err)
{
    int64_t offset = trajectory->offset;
    int64_t rest = trajectory->source.size - offset;
    size_t n = HEAD_BYTES(8);
    const uint8_t *bytes;
    int32_t ints[HEAD_INTS];

    if ((int64_t)n > rest)
        n = (size_t)rest;
    collet_status status = io_source_view(&trajectory->source, offset, n, &bytes, err);
    if (status != COLLET_OK)
        return status;
    status = check_preamble(trajectory, bytes, n, err);
    if (status != COLLET_OK)
        return status;
    for (size_t i = 0; i < HEAD_INTS; i++)
        ints[i] = trajectory_be_i32(bytes + sizeof preamble + 4 * i);
    status = check_ints(trajectory, ints, err);
    if (status != COLLET_OK)
        return status;

    int64_t real = real_size(ints);
    size_t length = HEAD_BYTES(real);
    if (n < length)
        return trajectory_reader_truncated(trajectory, err);
    head->n_atoms = ints[ATOMS];
    head->dtype = real == 8 ? COLLET_F64 : COLLET_F32;
    head->step = trajectory_be_step(bytes + sizeof preamble + 4 * STEP);
    head->time = load_real(bytes + length - 2 * (size_t)real, real);
    head->rounding = real == 8 ? 0 : trajectory_f32_rounding(head->time);
    head->has_time = 1;
    place_fields(head, ints, offset + (int64_t)length);
    return COLLET_OK;
}

static collet_status read_box(trajectory_reader *trajectory, trajectory_frame_head *head,
                              int64_t real, collet_error *err)
{
    const uint8_t *bytes;

    if (head->box_at == 0)
        return COLLET_OK;
    collet_status status =
        io_source_view(&trajectory->source, head->box_at, 9 * (size_t)real, &bytes, err);
    for (int i = 0; status == COLLET_OK && i < 9; i++)
        head->box[i] = load_real(bytes + i * real, real);
    return status;
}

static collet_status read_body(trajectory_reader *trajectory, trajectory_frame_head *head,
                               const trajectory_frame_target *target, collet_error *err)
{
    size_t real = head->dtype == COLLET_F64 ? sizeof(double) : sizeof(float);
    const struct {
        int64_t offset;
        void *to;
    } fields[] = {
        {head->positions, target->positions},
        {head->velocities, target->velocities},
        {head->forces, target->forces},
    };

    collet_status status = read_box(trajectory, head, (int64_t)real, err);
    for (size_t i = 0; status == COLLET_OK && i < sizeof fields / sizeof *fields; i++)
        if (fields[i].to)
            status =
                trajectory_be_read(trajectory, fields[i].offset, real, 1, real, fields[i].to, err);
    return status;
}

const trajectory_format trajectory_trr_format = {
    .name = "trr",
    .kind = "a .trr trajectory",
    .title = "GROMACS, single or double precision",
    .recognise = recognise,
    .head = read_head,
    .body = read_body,
};
