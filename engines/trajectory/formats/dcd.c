/* SPDX-License-Identifier: Apache-2.0 */
/* dcd.c - trajectories of CHARMM, NAMD, X-PLOR, LAMMPS and OpenMM.
 * Tests: tests/engines/test_io_dcd.c, tests/fuzz/fuzz_trajectory.c */
#include "bigendian.h"
#include "cell.h"
#include "dcd_head.h"
#include "formats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SPAN 32768 /* atoms that are read at a time: three planes fit into the second-level cache */
#define GAP 1024   /* at most this many unselected atoms between two selected atoms are read with them (a page) */

static int is_swapped(const trajectory_dcd *dcd)
{
    return dcd->big == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
}

static int recognise(const uint8_t *bytes, size_t n)
{
    trajectory_dcd dcd;

    return trajectory_dcd_recognise(&dcd, bytes, n);
}

/* ---- Planes ------------------------------------------------------------------------------ */

/* Checks the markers around the end of plane `plane` (0 to 2) of a frame whose x begins at `x`. */
static collet_status check_markers(trajectory_reader *trajectory, int64_t x, int64_t length,
                                   int64_t plane, collet_error *err)
{
    const trajectory_dcd *dcd = trajectory->state;
    int64_t end = x + (plane + 1) * trajectory_dcd_record(dcd, length) - (int64_t)dcd->marker;
    size_t n = plane < 2 ? 2 : 1;
    const uint8_t *bytes;

    collet_status status = io_source_view(&trajectory->source, end, n * dcd->marker, &bytes, err);
    for (size_t i = 0; status == COLLET_OK && i < n; i++)
        if (trajectory_dcd_marker(dcd, bytes + i * dcd->marker) != length)
            status = trajectory_reader_fail(
                trajectory, COLLET_FORMAT, err,
                "the record of %c does not have the length %lld at its %s: the file is damaged",
                (int)"xyz"[plane + (int64_t)i], (long long)length, i == 0 ? "end" : "begin");
    return status;
}

/* Reads x, y and z of `count` atoms, from atom `first` of the frame's `atoms` on. With `check`, for
 * the first span of a frame, checks the markers in the order of the file. */
static collet_status read_planes(trajectory_reader *trajectory, int64_t x, int64_t atoms,
                                 int64_t first, int64_t count, int check, collet_error *err)
{
    const trajectory_dcd *dcd = trajectory->state;
    collet_status status = COLLET_OK;

    for (int64_t i = 0; status == COLLET_OK && i < 3; i++) {
        int64_t plane = x + i * trajectory_dcd_record(dcd, 4 * atoms) + (int64_t)dcd->marker;
        status = io_source_copy(&trajectory->source, plane + 4 * first, 4 * (size_t)count,
                                dcd->planes + (size_t)i * dcd->span, err);
        if (status == COLLET_OK && check)
            status = check_markers(trajectory, x, 4 * atoms, i, err);
    }
    return status;
}

/* Stores the positions of `count` atoms of the span that was read, from the span's atom `from` on. */
static void join(const trajectory_dcd *dcd, float *positions, int64_t from, int64_t count)
{
    const uint8_t *plane = dcd->planes + 4 * from;

    trajectory_planes_join(positions, plane, plane + dcd->span, plane + 2 * dcd->span,
                           (size_t)count, is_swapped(dcd));
}

static int64_t min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Reads all of the frame's atoms. */
static collet_status read_all(trajectory_reader *trajectory, int64_t x, int64_t atoms,
                              float *positions, collet_error *err)
{
    collet_status status = COLLET_OK;

    for (int64_t first = 0; status == COLLET_OK && first < atoms; first += SPAN) {
        int64_t count = min_i64(atoms - first, SPAN);
        status = read_planes(trajectory, x, atoms, first, count, first == 0, err);
        if (status == COLLET_OK)
            join(trajectory->state, positions + 3 * first, 0, count);
    }
    return status;
}

/* Reads the selected atoms in spans. A span includes gaps between selected atoms that are cheaper to read than to
 * skip. */
static collet_status read_selected(trajectory_reader *trajectory, int64_t x, float *positions,
                                   collet_error *err)
{
    const trajectory_dcd *dcd = trajectory->state;
    const trajectory_atom_run *run = trajectory->runs, *end = run + trajectory->n_runs;
    int64_t done = 0; /* atoms of *run */

    for (int check = 1; run < end; check = 0) {
        int64_t first = run->first + done;
        int64_t stop = min_i64(run->first + run->count, first + SPAN);
        for (const trajectory_atom_run *next = run + 1;
             next < end && next->first - stop <= GAP && next->first + next->count <= first + SPAN;
             next++)
            stop = next->first + next->count;
        collet_status status =
            read_planes(trajectory, x, dcd->n_atoms, first, stop - first, check, err);
        if (status != COLLET_OK)
            return status;
        while (run < end && run->first + done < stop) {
            int64_t from = run->first + done;
            int64_t count = min_i64(run->count - done, stop - from);
            join(dcd, positions, from - first, count);
            positions += 3 * count;
            done += count;
            if (done == run->count) {
                run++;
                done = 0;
            }
        }
    }
    return COLLET_OK;
}

/* ---- Fixed atoms ------------------------------------------------------------------------- */

/* Keeps the positions of the first frame, because later frames do not have the fixed atoms. */
static collet_status keep_first(trajectory_reader *trajectory, int64_t x, collet_error *err)
{
    trajectory_dcd *dcd = trajectory->state;

    dcd->positions = malloc(3 * (size_t)dcd->n_atoms * sizeof *dcd->positions);
    dcd->moved = malloc(3 * (size_t)dcd->n_free * sizeof *dcd->moved);
    if (!dcd->positions || !dcd->moved)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for %lld atoms",
                           trajectory->source.path, (long long)dcd->n_atoms);
    return read_all(trajectory, x, dcd->n_atoms, dcd->positions, err);
}

static collet_status read_moving(trajectory_reader *trajectory, int64_t x, float *positions,
                                 collet_error *err)
{
    const trajectory_dcd *dcd = trajectory->state;

    collet_status status = read_all(trajectory, x, dcd->n_free, dcd->moved, err);
    if (status != COLLET_OK)
        return status;
    for (int64_t r = 0; r < trajectory->n_runs; r++) {
        const trajectory_atom_run *run = &trajectory->runs[r];
        for (int64_t i = run->first; i < run->first + run->count; i++, positions += 3) {
            int32_t place = dcd->places[i];
            memcpy(positions, place >= 0 ? dcd->moved + 3 * (int64_t)place : dcd->positions + 3 * i,
                   3 * sizeof *positions);
        }
    }
    return COLLET_OK;
}

/* ---- Frames ------------------------------------------------------------------------------ */

/* Bytes of a frame without extra records. */
static int64_t frame_bytes(const trajectory_dcd *dcd, int64_t atoms)
{
    int64_t cell = dcd->has_cell ? trajectory_dcd_record(dcd, TRAJECTORY_DCD_CELL) : 0;

    return cell + 3 * trajectory_dcd_record(dcd, 4 * atoms);
}

static int64_t count(const trajectory_reader *trajectory)
{
    const trajectory_dcd *dcd = trajectory->state;
    int64_t rest = trajectory->source.size - dcd->data - frame_bytes(dcd, dcd->n_atoms);

    if (dcd->extra > 0) /* records of any length */
        return -1;
    return rest < 0 ? 0 : 1 + rest / frame_bytes(dcd, dcd->n_free);
}

static int64_t locate(const trajectory_reader *trajectory, int64_t index)
{
    const trajectory_dcd *dcd = trajectory->state;

    if (index == 0)
        return 0;
    return dcd->data + frame_bytes(dcd, dcd->n_atoms) + (index - 1) * frame_bytes(dcd, dcd->n_free);
}

static collet_status open_file(trajectory_reader *trajectory, collet_error *err)
{
    trajectory_dcd *dcd = trajectory->state;

    collet_status status = trajectory_dcd_read_head(trajectory, err);
    if (status != COLLET_OK)
        return status;
    dcd->span = 4 * (size_t)min_i64(dcd->n_atoms, SPAN);
    dcd->planes = malloc(3 * dcd->span);
    if (!dcd->planes)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to read it",
                           trajectory->source.path);
    if (dcd->places) {
        int64_t cell = dcd->has_cell ? trajectory_dcd_record(dcd, TRAJECTORY_DCD_CELL) : 0;
        if (trajectory->source.size - dcd->data < frame_bytes(dcd, dcd->n_atoms))
            return trajectory_reader_truncated(trajectory, err);
        status = keep_first(trajectory, dcd->data + cell, err);
    }
    dcd->ready = status == COLLET_OK;
    return status;
}

/* Skips the records after z. Their markers contain their lengths. */
static collet_status skip_extra(trajectory_reader *trajectory, trajectory_frame_head *head,
                                collet_error *err)
{
    const trajectory_dcd *dcd = trajectory->state;

    for (int i = 0; i < dcd->extra; i++) {
        const uint8_t *bytes;
        if (trajectory->source.size - head->end < (int64_t)dcd->marker)
            return trajectory_reader_truncated(trajectory, err);
        collet_status status =
            io_source_view(&trajectory->source, head->end, dcd->marker, &bytes, err);
        if (status != COLLET_OK)
            return status;
        int64_t length = trajectory_dcd_marker(dcd, bytes);
        if (length < 0 || length > 4 * dcd->n_atoms)
            return trajectory_reader_fail(trajectory, COLLET_FORMAT, err,
                                          "a record of %lld bytes follows z: the file is damaged",
                                          (long long)length);
        head->end += trajectory_dcd_record(dcd, length);
    }
    return COLLET_OK;
}

/* Reads the cell, if the file has it, and the marker of x. */
static collet_status read_begin(trajectory_reader *trajectory, int64_t at, int64_t atoms,
                                trajectory_frame_head *head, collet_error *err)
{
    const trajectory_dcd *dcd = trajectory->state;
    size_t marker = dcd->marker, cell = dcd->has_cell ? TRAJECTORY_DCD_CELL : 0;
    size_t n = (cell ? 2 * marker + cell : 0) + marker;
    double numbers[6];
    const uint8_t *bytes;

    if (trajectory->source.size - at < (int64_t)n)
        return trajectory_reader_truncated(trajectory, err);
    collet_status status = io_source_view(&trajectory->source, at, n, &bytes, err);
    if (status != COLLET_OK)
        return status;
    if (trajectory_dcd_marker(dcd, bytes + n - marker) != 4 * atoms ||
        (cell && (trajectory_dcd_marker(dcd, bytes) != (int64_t)cell ||
                  trajectory_dcd_marker(dcd, bytes + marker + cell) != (int64_t)cell)))
        return trajectory_reader_no_frame(trajectory, bytes, n, err);
    if (cell) {
        for (size_t i = 0; i < 6; i++)
            numbers[i] = trajectory_dcd_f64(dcd, bytes + marker + 8 * i);
        trajectory_cell_of_dcd(head->box, numbers, dcd->version);
    }
    head->positions = at + (int64_t)(n - marker);
    head->end = head->positions + 3 * trajectory_dcd_record(dcd, 4 * atoms);
    return COLLET_OK;
}

static collet_status read_head(trajectory_reader *trajectory, trajectory_frame_head *head,
                               collet_error *err)
{
    const trajectory_dcd *dcd = trajectory->state;
    int is_first = trajectory->index == 0;
    collet_status status = dcd->ready ? COLLET_OK : open_file(trajectory, err);

    if (status == COLLET_OK)
        status = read_begin(trajectory, is_first ? dcd->data : trajectory->offset,
                            is_first ? dcd->n_atoms : dcd->n_free, head, err);
    if (status == COLLET_OK)
        status = skip_extra(trajectory, head, err);
    if (status != COLLET_OK)
        return status;
    head->n_atoms = dcd->n_atoms;
    head->dtype = COLLET_F32;
    head->step = dcd->first_step + trajectory->index * dcd->steps;
    head->has_time = dcd->steps > 0 && dcd->delta > 0 && isfinite(dcd->delta);
    head->time = head->has_time ? (double)head->step * dcd->delta : 0;
    return COLLET_OK;
}

static collet_status read_body(trajectory_reader *trajectory, trajectory_frame_head *head,
                               const trajectory_frame_target *target, collet_error *err)
{
    const trajectory_dcd *dcd = trajectory->state;

    return dcd->places && trajectory->index > 0
               ? read_moving(trajectory, head->positions, target->positions, err)
               : read_selected(trajectory, head->positions, target->positions, err);
}

static void close_file(trajectory_reader *trajectory)
{
    trajectory_dcd *dcd = trajectory->state;

    free(dcd->places);
    free(dcd->planes);
    free(dcd->positions);
    free(dcd->moved);
}

const trajectory_format trajectory_dcd_format = {
    .name = "dcd",
    .kind = "a .dcd trajectory",
    .title = "CHARMM, NAMD, LAMMPS, OpenMM, X-PLOR, single precision",
    .recognise = recognise,
    .head = read_head,
    .body = read_body,
    .count = count,
    .locate = locate,
    .times_rise = 1,
    .state_size = sizeof(trajectory_dcd),
    .close = close_file,
};
