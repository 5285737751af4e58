/* SPDX-License-Identifier: Apache-2.0 */
/* gro_trajectory.c - a .gro file with one frame or several as a trajectory.
 * Tests: tests/engines/test_io_trajectory.c, tests/fuzz/fuzz_trajectory.c */
#include "gro.h"
#include "formats.h"

#include <string.h>

/* What `head` passes to `body`. The first atom's line begins at head->positions. */
typedef struct gro_detail {
    int64_t atoms_line;
    trajectory_gro_columns columns;
} gro_detail;

_Static_assert(sizeof(gro_detail) <= TRAJECTORY_HEAD_DETAIL,
               "gro_detail must fit into the detail of a trajectory_head");

/* Skips the atoms' lines. The first of these lines defines the columns. */
static collet_status scan_atoms(trajectory_reader *trajectory, io_lines *lines, int64_t n_atoms,
                                trajectory_gro_columns *columns, collet_error *err)
{
    for (int64_t i = 0; i < n_atoms; i++) {
        const char *text;
        size_t length;

        collet_status status = io_lines_next(lines, &text, &length, err);
        if (status == COLLET_OK && !text)
            return trajectory_reader_truncated(trajectory, err);
        if (status == COLLET_OK)
            status = trajectory_gro_measure(lines, text, length, i, columns, err);
        if (status != COLLET_OK)
            return status;
    }
    return COLLET_OK;
}

/* Skips empty lines, which may follow the last frame. */
static collet_status find_end(const io_lines *lines, int64_t size, trajectory_frame_head *head,
                              collet_error *err)
{
    int at_end;

    collet_status status = io_lines_at_end(lines, &at_end, err);
    head->end = at_end ? size : lines->offset;
    head->end_line = lines->number;
    return status;
}

static collet_status scan_frame(trajectory_reader *trajectory, io_lines *lines, gro_detail *detail,
                                trajectory_frame_head *head, trajectory_gro_head *text,
                                collet_error *err)
{
    int truncated;

    collet_status status = trajectory_gro_read_head(lines, text, &truncated, err);
    if (truncated)
        return trajectory_reader_truncated(trajectory, err);
    if (status != COLLET_OK)
        return status;
    head->positions = lines->offset;
    detail->atoms_line = lines->number;
    status = scan_atoms(trajectory, lines, text->n_atoms, &detail->columns, err);
    if (status != COLLET_OK)
        return status;
    trajectory_text_ending ending;
    status = trajectory_gro_read_box(lines, head->box, &ending, err);
    return status == COLLET_OK || ending == TRAJECTORY_TEXT_CUT
               ? trajectory_text_finish(trajectory, ending, err)
               : status;
}

static collet_status read_head(trajectory_reader *trajectory, trajectory_frame_head *head,
                               collet_error *err)
{
    io_lines lines = trajectory_text_lines(trajectory, trajectory->offset, trajectory->line);
    trajectory_gro_head text;
    gro_detail detail;

    collet_status status = scan_frame(trajectory, &lines, &detail, head, &text, err);
    if (status != COLLET_OK)
        return trajectory_text_explain(trajectory, &lines, status, err);

    head->n_atoms = text.n_atoms;
    head->dtype = COLLET_F64;
    head->has_time = text.title.has_time;
    head->time = text.title.time;
    head->step = text.title.step;
    memcpy(head->detail, &detail, sizeof detail);
    head->velocities = detail.columns.lacking < 0 ? head->positions : 0;
    head->lacking = trajectory_gro_lacking(&detail.columns);
    return find_end(&lines, trajectory->source.size, head, err);
}

static collet_status skip_lines(io_lines *lines, int64_t n, collet_error *err)
{
    collet_status status = COLLET_OK;

    for (int64_t i = 0; i < n && status == COLLET_OK; i++) {
        const char *text;
        size_t length;
        status = io_lines_next(lines, &text, &length, err);
    }
    return status;
}

static collet_status read_atom(io_lines *lines, const trajectory_gro_columns *columns,
                               double *position, double *velocity, collet_error *err)
{
    const char *text;
    size_t length;

    collet_status status = io_lines_next(lines, &text, &length, err);
    if (status != COLLET_OK)
        return status;
    return trajectory_gro_read_atom(lines, text, length, columns, position, velocity, err);
}

static collet_status read_body(trajectory_reader *trajectory, trajectory_frame_head *head,
                               const trajectory_frame_target *target, collet_error *err)
{
    gro_detail detail;
    memcpy(&detail, head->detail, sizeof detail);
    io_lines lines = trajectory_text_lines(trajectory, head->positions, detail.atoms_line);
    double *position = target->positions;
    double *velocity = target->velocities;
    int64_t next = 0;

    for (int64_t r = 0; r < trajectory->n_runs; r++) {
        const trajectory_atom_run *run = &trajectory->runs[r];
        collet_status status = skip_lines(&lines, run->first - next, err);
        next = run->first + run->count;
        for (int64_t i = 0; i < run->count && status == COLLET_OK; i++) {
            status = read_atom(&lines, &detail.columns, position, velocity, err);
            position += 3;
            velocity = velocity ? velocity + 3 : NULL;
        }
        if (status != COLLET_OK)
            return trajectory_text_explain(trajectory, &lines, status, err);
    }
    return COLLET_OK;
}

const trajectory_format trajectory_gro_format = {
    .name = "gro",
    .kind = "a .gro file",
    .title = "GROMACS, text with the names of atoms",
    .text = 1,
    .topology = trajectory_gro_read_topology,
    .recognise = trajectory_gro_recognise,
    .head = read_head,
    .body = read_body,
    .concurrent = 1,
};
