/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xtc.c - GROMACS' compressed trajectory: XDR, big-endian, positions only.
 *
 * A frame has magic, atoms, step, time, box, and atoms again. Up to nine atoms have coordinates as floats. For more
 * atoms there follow the precision, the smallest and largest coordinate integers, the first range of small
 * differences, the number of packed bytes, and the packed bytes, padded to a multiple of four. With magic 1995 the
 * number of packed bytes has 32 bits. With magic 2023 (GROMACS 2023.2 and later, very large systems) it has 64 bits.
 * Tests: tests/engines/test_io_xtc.c, tests/fuzz/fuzz_trajectory.c
 */
#include "trajectory/formats/bigendian.h"
#include "trajectory/formats/formats.h"
#include "xtc_coordinates.h"

#include <math.h>
#include <stdlib.h>

#define MAGIC 1995
#define MAGIC_LARGE 2023
#define PLAIN_ATOMS 9
#define ATOM_BYTES 12

/* Byte offsets in a frame. */
enum {
    ATOMS = 4,
    STEP = 8,
    TIME = 12,
    BOX = 16,
    ATOMS_AGAIN = 52,
    PLAIN = 56,
    PRECISION = 56,
    MIN = 60,
    MAX = 72,
    SMALL_INDEX = 84,
    PACKED_SIZE = 88
};

#define PACKED(magic) ((size_t)PACKED_SIZE + ((magic) == MAGIC_LARGE ? 8 : 4))

/* head->detail is a trajectory_xtc_block; n_bytes = 0 means uncompressed floats. */
_Static_assert(sizeof(trajectory_xtc_block) <= TRAJECTORY_HEAD_DETAIL,
               "the block of a frame fits into its head");

typedef struct xtc_state {
    uint8_t *packed;
    size_t packed_capacity;
    float *all; /* n_atoms x 3, if only some atoms are selected */
} xtc_state;

static int is_magic(int32_t magic)
{
    return magic == MAGIC || magic == MAGIC_LARGE;
}

static int recognise(const uint8_t *bytes, size_t n)
{
    return n >= 4 && is_magic(trajectory_be_i32(bytes));
}

static void close_state(trajectory_reader *trajectory)
{
    xtc_state *state = trajectory->state;

    free(state->packed);
    free(state->all);
}

/* ---- Head -------------------------------------------------------------------------------- */

static collet_status check_start(trajectory_reader *trajectory, const uint8_t *bytes, size_t n,
                                 collet_error *err)
{
    static const uint8_t magics[2][4] = {{0, 0, 0x07, 0xcb}, {0, 0, 0x07, 0xe7}};
    size_t present = n < 4 ? n : 4;

    if (memcmp(bytes, magics[0], present) != 0 && memcmp(bytes, magics[1], present) != 0)
        return trajectory_reader_no_frame(trajectory, bytes, n, err);
    if (n < PLAIN)
        return trajectory_reader_truncated(trajectory, err);
    int32_t atoms = trajectory_be_i32(bytes + ATOMS);
    if (atoms < 0 || atoms != trajectory_be_i32(bytes + ATOMS_AGAIN))
        return trajectory_reader_fail(
            trajectory, COLLET_FORMAT, err,
            "has two different numbers of atoms, %d and %d: the file is damaged", atoms,
            trajectory_be_i32(bytes + ATOMS_AGAIN));
    return COLLET_OK;
}

static void read_common(const uint8_t *bytes, trajectory_frame_head *head)
{
    head->n_atoms = trajectory_be_i32(bytes + ATOMS);
    head->dtype = COLLET_F32;
    head->step = trajectory_be_step(bytes + STEP);
    head->time = (double)trajectory_be_f32(bytes + TIME);
    head->rounding = trajectory_f32_rounding(head->time);
    head->has_time = 1;
    for (size_t i = 0; i < 9; i++)
        head->box[i] = (double)trajectory_be_f32(bytes + BOX + 4 * i);
}

static collet_status read_block(const trajectory_reader *trajectory, const uint8_t *bytes,
                                trajectory_frame_head *head, trajectory_xtc_block *block,
                                collet_error *err)
{
    int large = trajectory_be_i32(bytes) == MAGIC_LARGE;
    int64_t size = large ? (int64_t)trajectory_be64(bytes + PACKED_SIZE)
                         : (int64_t)trajectory_be32(bytes + PACKED_SIZE);
    int64_t begin = trajectory->offset + (int64_t)PACKED(large ? MAGIC_LARGE : MAGIC);

    *block = (trajectory_xtc_block){.n_atoms = head->n_atoms};
    block->precision = trajectory_be_f32(bytes + PRECISION);
    for (size_t i = 0; i < 3; i++) {
        block->min[i] = trajectory_be_i32(bytes + MIN + 4 * i);
        block->max[i] = trajectory_be_i32(bytes + MAX + 4 * i);
    }
    block->small_index = trajectory_be_i32(bytes + SMALL_INDEX);
    if (!(block->precision > 0.0f) || !isfinite(1.0f / block->precision))
        return trajectory_reader_fail(trajectory, COLLET_FORMAT, err,
                                      "has a precision of %g: the file is damaged",
                                      (double)block->precision);
    /* An atom takes more than one bit, so more atoms than packed bits are refused before memory is allocated. */
    if (size < 1 || size > INT64_MAX - begin - 3 || head->n_atoms / 8 > size)
        return trajectory_reader_fail(trajectory, COLLET_FORMAT, err,
                                      "has %lld bytes for %lld atoms: the file is damaged",
                                      (long long)size, (long long)head->n_atoms);
    block->n_bytes = (size_t)size;
    head->positions = begin;
    head->end = begin + ((size + 3) & ~(int64_t)3);
    return COLLET_OK;
}

static collet_status read_head(trajectory_reader *trajectory, trajectory_frame_head *head,
                               collet_error *err)
{
    int64_t offset = trajectory->offset;
    int64_t rest = trajectory->source.size - offset;
    size_t n = PACKED(MAGIC_LARGE);
    const uint8_t *bytes;
    trajectory_xtc_block block;

    if ((int64_t)n > rest)
        n = (size_t)rest;
    collet_status status = io_source_view(&trajectory->source, offset, n, &bytes, err);
    if (status != COLLET_OK)
        return status;
    status = check_start(trajectory, bytes, n, err);
    if (status != COLLET_OK)
        return status;
    read_common(bytes, head);
    if (head->n_atoms <= PLAIN_ATOMS) {
        block = (trajectory_xtc_block){.n_atoms = head->n_atoms};
        memcpy(head->detail, &block, sizeof block);
        head->positions = offset + PLAIN;
        head->end = head->positions + head->n_atoms * ATOM_BYTES;
        return COLLET_OK;
    }
    if (n < PACKED(trajectory_be_i32(bytes)))
        return trajectory_reader_truncated(trajectory, err);
    status = read_block(trajectory, bytes, head, &block, err);
    if (status == COLLET_OK && trajectory->index == 0)
        trajectory->info.precision = (double)block.precision;
    memcpy(head->detail, &block, sizeof block);
    return status;
}

/* ---- Body -------------------------------------------------------------------------------- */

static collet_status load_packed(trajectory_reader *trajectory, trajectory_xtc_block *block,
                                 int64_t offset, collet_error *err)
{
    xtc_state *state = trajectory->state;
    size_t n = block->n_bytes;

    if (state->packed_capacity < n + TRAJECTORY_XTC_PADDING) {
        /* Frames differ a little in size: spare capacity avoids repeated allocation. */
        size_t capacity = n + n / 8 + TRAJECTORY_XTC_PADDING;
        free(state->packed);
        state->packed_capacity = 0;
        state->packed = malloc(capacity);
        if (!state->packed)
            return trajectory_reader_fail(trajectory, COLLET_NO_MEMORY, err,
                                          "no memory for its %zu packed bytes", n);
        state->packed_capacity = capacity;
    }
    memset(state->packed + n, 0, TRAJECTORY_XTC_PADDING);
    block->bytes = state->packed;
    return io_source_copy(&trajectory->source, offset, n, state->packed, err);
}

static collet_status read_plain(trajectory_reader *trajectory, int64_t offset, int64_t n_atoms,
                                float *positions, collet_error *err)
{
    size_t n = (size_t)n_atoms * ATOM_BYTES;
    const uint8_t *bytes;

    collet_status status = io_source_view(&trajectory->source, offset, n, &bytes, err);
    if (status == COLLET_OK)
        trajectory_be_decode(positions, bytes, n / 4, 4);
    return status;
}

static collet_status read_all(trajectory_reader *trajectory, const trajectory_frame_head *head,
                              int64_t n_needed, float *positions, collet_error *err)
{
    trajectory_xtc_block block;
    int64_t n_done;

    memcpy(&block, head->detail, sizeof block);
    if (block.n_bytes == 0)
        return read_plain(trajectory, head->positions, block.n_atoms, positions, err);
    collet_status status = load_packed(trajectory, &block, head->positions, err);
    if (status != COLLET_OK)
        return status;
    const char *wrong = trajectory_xtc_decode(&block, n_needed, positions, &n_done);
    if (wrong)
        return trajectory_reader_fail(trajectory, COLLET_FORMAT, err,
                                      "its packed coordinates are damaged after atom %lld of "
                                      "%lld: %s",
                                      (long long)n_done, (long long)block.n_atoms, wrong);
    return COLLET_OK;
}

static collet_status read_body(trajectory_reader *trajectory, trajectory_frame_head *head,
                               const trajectory_frame_target *target, collet_error *err)
{
    xtc_state *state = trajectory->state;
    const trajectory_atom_run *last = &trajectory->runs[trajectory->n_runs - 1];
    float *to = target->positions;

    if (trajectory->n_selected == head->n_atoms)
        return read_all(trajectory, head, head->n_atoms, to, err);
    if (!state->all)
        state->all = malloc((size_t)head->n_atoms * ATOM_BYTES);
    if (!state->all)
        return trajectory_reader_fail(trajectory, COLLET_NO_MEMORY, err, "no memory for %lld atoms",
                                      (long long)head->n_atoms);
    collet_status status = read_all(trajectory, head, last->first + last->count, state->all, err);
    if (status != COLLET_OK)
        return status;
    for (int64_t r = 0; r < trajectory->n_runs; r++) {
        const trajectory_atom_run *run = &trajectory->runs[r];
        memcpy(to, state->all + 3 * run->first, (size_t)run->count * ATOM_BYTES);
        to += 3 * run->count;
    }
    return COLLET_OK;
}

const trajectory_format trajectory_xtc_format = {
    .name = "xtc",
    .kind = "an .xtc trajectory",
    .title = "GROMACS, compressed positions",
    .recognise = recognise,
    .head = read_head,
    .body = read_body,
    .concurrent = 1,
    .state_size = sizeof(xtc_state),
    .close = close_state,
};
