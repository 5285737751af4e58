/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_dcd.c, tests/fuzz/fuzz_trajectory.c */
#include "dcd_head.h"

#include "bigendian.h"

#include <stdlib.h>
#include <string.h>

#define FEMTOSECOND 1e-3       /* in ps */
#define AKMA (48.88821 * 1e-3) /* CHARMM's unit of time, in ps */
#define HEAD 84                /* bytes of the first record */
#define TITLE 80               /* bytes of a title */

/* Indices among the 20 integers of the head. */
enum {
    FIRST_STEP = 1,
    STEPS = 2,
    FIXED = 8,
    DELTA = 9,
    WITH_CELL = 10,
    FOURTH = 11,
    CHARGES = 12,
    VERSION = 19
};

static int32_t load_i32(const trajectory_dcd *s, const uint8_t *bytes)
{
    uint32_t word = trajectory_be32(bytes);

    return (int32_t)(s->big ? word : __builtin_bswap32(word));
}

static float load_f32(const trajectory_dcd *s, const uint8_t *bytes)
{
    int32_t word = load_i32(s, bytes);
    float value;

    memcpy(&value, &word, sizeof value);
    return value;
}

double trajectory_dcd_f64(const trajectory_dcd *s, const uint8_t *bytes)
{
    uint64_t word = trajectory_be64(bytes);
    double value;

    word = s->big ? word : __builtin_bswap64(word);
    memcpy(&value, &word, sizeof value);
    return value;
}

int64_t trajectory_dcd_marker(const trajectory_dcd *s, const uint8_t *bytes)
{
    uint64_t word;

    if (s->marker == 4)
        return load_i32(s, bytes);
    word = trajectory_be64(bytes);
    return (int64_t)(s->big ? word : __builtin_bswap64(word));
}

static collet_status damaged(const trajectory_reader *trajectory, collet_error *err)
{
    return trajectory_reader_fail(trajectory, COLLET_FORMAT, err,
                                  "the lengths of the head's records contradict each other: the "
                                  "file is damaged");
}

int trajectory_dcd_recognise(trajectory_dcd *s, const uint8_t *bytes, size_t n)
{
    for (s->marker = 4; s->marker <= 8; s->marker += 4) {
        if (n < s->marker + 4 || (memcmp(bytes + s->marker, "CORD", 4) != 0 &&
                                  memcmp(bytes + s->marker, "VELD", 4) != 0))
            continue;
        for (s->big = 0; s->big <= 1; s->big++)
            if (trajectory_dcd_marker(s, bytes) == HEAD)
                return 1;
    }
    return 0;
}

/* Reads the length at the start of a record; the whole record must be within the file. */
static collet_status open_record(trajectory_reader *trajectory, int64_t at, int64_t *length,
                                 collet_error *err)
{
    const trajectory_dcd *s = trajectory->state;
    int64_t marker = (int64_t)s->marker;
    const uint8_t *bytes;

    *length = 0;
    if (trajectory->source.size - at < marker)
        return trajectory_reader_truncated(trajectory, err);
    collet_status status = io_source_view(&trajectory->source, at, s->marker, &bytes, err);
    if (status != COLLET_OK)
        return status;
    *length = trajectory_dcd_marker(s, bytes);
    if (*length < 0)
        return damaged(trajectory, err);
    return trajectory->source.size - at - 2 * marker < *length
               ? trajectory_reader_truncated(trajectory, err)
               : COLLET_OK;
}

/* Sets *closed to 1 if the record at `at` ends after `held` bytes with the same marker as at its start. */
static collet_status closes(trajectory_reader *trajectory, int64_t at, int64_t held, int64_t length,
                            int *closed, collet_error *err)
{
    const trajectory_dcd *s = trajectory->state;
    int64_t end = at + (int64_t)s->marker + held;
    const uint8_t *bytes;

    *closed = 0;
    if (end > trajectory->source.size - (int64_t)s->marker)
        return COLLET_OK;
    collet_status status = io_source_view(&trajectory->source, end, s->marker, &bytes, err);
    if (status == COLLET_OK)
        *closed = trajectory_dcd_marker(s, bytes) == length;
    return status;
}

/* Moves *at to the end of a record of this length. */
static collet_status pass_record(trajectory_reader *trajectory, int64_t *at, int64_t length,
                                 collet_error *err)
{
    int64_t found;
    int closed;

    collet_status status = open_record(trajectory, *at, &found, err);
    if (status == COLLET_OK && found != length)
        return damaged(trajectory, err);
    if (status == COLLET_OK)
        status = closes(trajectory, *at, length, length, &closed, err);
    if (status != COLLET_OK)
        return status;
    *at += trajectory_dcd_record(trajectory->state, length);
    return closed ? COLLET_OK : damaged(trajectory, err);
}

/* Moves *at to the end of a record of this length and sets *content to the record's bytes. */
static collet_status take_record(trajectory_reader *trajectory, int64_t *at, int64_t length,
                                 const uint8_t **content, collet_error *err)
{
    const trajectory_dcd *s = trajectory->state;
    int64_t from = *at + (int64_t)s->marker;

    collet_status status = pass_record(trajectory, at, length, err);
    return status == COLLET_OK
               ? io_source_view(&trajectory->source, from, (size_t)length, content, err)
               : status;
}

static collet_status read_control(trajectory_reader *trajectory, int64_t *at, int32_t *control,
                                  collet_error *err)
{
    trajectory_dcd *s = trajectory->state;
    const uint8_t *bytes;

    size_t n = trajectory->source.size < 12 ? (size_t)trajectory->source.size : 12;
    collet_status status = io_source_view(&trajectory->source, 0, n, &bytes, err);
    if (status != COLLET_OK)
        return status;
    if (!trajectory_dcd_recognise(s, bytes, n)) /* the file was replaced after it was recognised */
        return trajectory_reader_no_frame(trajectory, bytes, n, err);
    status = take_record(trajectory, at, HEAD, &bytes, err);
    if (status != COLLET_OK)
        return status;
    if (memcmp(bytes, "VELD", 4) == 0)
        return trajectory_reader_fail(trajectory, COLLET_FORMAT, err,
                                      "the file holds velocities (VELD), not positions");
    for (size_t i = 0; i < 20; i++)
        control[i] = load_i32(s, bytes + 4 + 4 * i);
    s->version = control[VERSION];
    s->delta = s->version != 0 ? (double)load_f32(s, bytes + 4 + 4 * DELTA)
                               : trajectory_dcd_f64(s, bytes + 4 + 4 * DELTA);
    return COLLET_OK;
}

/* The titles show which program wrote the file: LAMMPS writes times in its own unit (femtoseconds with "units
 * real"); the other programs use AKMA units. Some programs write the length of two titles into this record's markers,
 * whatever the number of titles. */
static collet_status read_titles(trajectory_reader *trajectory, int64_t *at, collet_error *err)
{
    static const char lammps[] = "Written by LAMMPS";
    trajectory_dcd *s = trajectory->state;
    const uint8_t *bytes;
    int64_t length, held;
    int closed;

    collet_status status = open_record(trajectory, *at, &length, err);
    if (status != COLLET_OK)
        return status;
    size_t n = length < 4 + TITLE ? (size_t)length : 4 + TITLE;
    status = io_source_view(&trajectory->source, *at + (int64_t)s->marker, n, &bytes, err);
    if (status != COLLET_OK)
        return status;
    int32_t count = n >= 4 ? load_i32(s, bytes) : 0;
    s->delta *= n > TITLE && memcmp(bytes + 4, lammps, sizeof lammps - 1) == 0 ? FEMTOSECOND : AKMA;
    held = length;
    status = closes(trajectory, *at, held, length, &closed, err);
    if (status == COLLET_OK && !closed && count >= 0) {
        held = 4 + TITLE * (int64_t)count;
        status = closes(trajectory, *at, held, length, &closed, err);
    }
    if (status != COLLET_OK)
        return status;
    *at += trajectory_dcd_record(s, held);
    return closed ? COLLET_OK : damaged(trajectory, err);
}

static collet_status read_atoms(trajectory_reader *trajectory, int64_t *at, int32_t fixed,
                                collet_error *err)
{
    trajectory_dcd *s = trajectory->state;
    const uint8_t *bytes;

    collet_status status = take_record(trajectory, at, 4, &bytes, err);
    if (status != COLLET_OK)
        return status;
    s->n_atoms = load_i32(s, bytes);
    s->n_free = s->n_atoms - fixed;
    if (s->n_atoms < 1 || fixed < 0 || s->n_free < 1)
        return trajectory_reader_fail(trajectory, COLLET_FORMAT, err,
                                      "the head has %lld atoms and %d fixed atoms: it is damaged",
                                      (long long)s->n_atoms, fixed);
    return COLLET_OK;
}

/* Finds out if frames have cells: the length of the first frame's first record shows it, unless the record of x has
 * the same length. */
static collet_status find_cell(trajectory_reader *trajectory, int cell_announced, collet_error *err)
{
    trajectory_dcd *s = trajectory->state;
    const uint8_t *bytes;

    if (trajectory->source.size - s->data < (int64_t)s->marker)
        return trajectory_reader_fail(trajectory, COLLET_FORMAT, err,
                                      "the file has no frames, only a head for %lld atoms",
                                      (long long)s->n_atoms);
    collet_status status = io_source_view(&trajectory->source, s->data, s->marker, &bytes, err);
    if (status != COLLET_OK)
        return status;
    int64_t length = trajectory_dcd_marker(s, bytes);
    s->has_cell = length == TRAJECTORY_DCD_CELL && (length != 4 * s->n_atoms || cell_announced);
    return COLLET_OK;
}

static collet_status read_places(trajectory_reader *trajectory, int64_t list, collet_error *err)
{
    trajectory_dcd *s = trajectory->state;

    s->places = malloc((size_t)s->n_atoms * sizeof *s->places);
    if (!s->places)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for %lld atoms",
                           trajectory->source.path, (long long)s->n_atoms);
    memset(s->places, 0xff, (size_t)s->n_atoms * sizeof *s->places);
    for (int64_t i = 0; i < s->n_free; i++) {
        const uint8_t *bytes;
        collet_status status =
            io_source_view(&trajectory->source, list + (int64_t)s->marker + 4 * i, 4, &bytes, err);
        if (status != COLLET_OK)
            return status;
        int32_t atom = load_i32(s, bytes);
        if (atom < 1 || atom > s->n_atoms)
            return trajectory_reader_fail(
                trajectory, COLLET_FORMAT, err,
                "the list of moving atoms has atom %d; there are %lld atoms", atom,
                (long long)s->n_atoms);
        s->places[atom - 1] = (int32_t)i;
    }
    return COLLET_OK;
}

collet_status trajectory_dcd_read_head(trajectory_reader *trajectory, collet_error *err)
{
    trajectory_dcd *s = trajectory->state;
    int32_t control[20];
    int64_t at = 0, list;

    collet_status status = read_control(trajectory, &at, control, err);
    if (status == COLLET_OK)
        status = read_titles(trajectory, &at, err);
    if (status == COLLET_OK)
        status = read_atoms(trajectory, &at, control[FIXED], err);
    list = at;
    if (status == COLLET_OK && s->n_free < s->n_atoms)
        status = pass_record(trajectory, &at, 4 * s->n_free, err);
    if (status != COLLET_OK)
        return status;
    s->data = at;
    s->first_step = control[FIRST_STEP];
    s->steps = control[STEPS];
    s->extra = s->version != 0 ? (control[FOURTH] == 1) + (control[CHARGES] == 1) : 0;
    status = find_cell(trajectory, s->version != 0 && control[WITH_CELL] == 1, err);
    return status == COLLET_OK && s->n_free < s->n_atoms ? read_places(trajectory, list, err)
                                                         : status;
}
