/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gro_topology.c - names and residues of the atoms in the first frame of a .gro file.
 *
 * Residue numbers have five digits and wrap to 0 after 99999; they are kept as written. Atom
 * numbers are ignored: an atom's index is its position in the file. Positions, velocities and the
 * box are checked, not kept.
 *
 * Tests: tests/engines/test_io_topology.c, tests/fuzz/fuzz_trajectory.c
 */
#include "gro.h"
#include "io/decimal.h"

#define COLUMN 5         /* width of the three fields that are read */
#define SHORTEST_LINE 24 /* no atom's line is shorter: limits the memory by the size of the file */

/* Refuses numbers that the file cannot hold before memory is allocated for them. */
static collet_status check_atoms(const io_lines *lines, int64_t n_atoms, collet_error *err)
{
    if (n_atoms < 1)
        return trajectory_text_fail(lines, err, "the number of atoms is 0");
    if (n_atoms > lines->source->size / SHORTEST_LINE)
        return trajectory_text_fail(lines, err,
                                    "%lld atoms are announced, but a file of %lld bytes cannot "
                                    "hold them",
                                    (long long)n_atoms, (long long)lines->source->size);
    return COLLET_OK;
}

/* The title is the first line, which was read already. */
static collet_status allocate_atoms(io_source *source, trajectory_topology *topology,
                                    int64_t n_atoms, collet_error *err)
{
    io_lines first = {.source = source, .number = 1};
    const char *title;
    size_t length;

    collet_status status = io_lines_next(&first, &title, &length, err);
    return status == COLLET_OK
               ? trajectory_topology_allocate(topology, n_atoms, title, length, source->path, err)
               : status;
}

static collet_status read_identity(const io_lines *lines, const char *text,
                                   trajectory_topology *topology, int64_t atom, collet_error *err)
{
    int64_t residue;

    if (!io_decimal_parse_integer(text, COLUMN, &residue))
        return trajectory_text_fail(
            lines, err, "the residue number in columns 1-5 is not a number: '%.5s'", text);
    topology->residue_ids[atom] = (int32_t)residue;
    trajectory_topology_copy_name(topology->residue_names[atom], text + COLUMN, COLUMN);
    trajectory_topology_copy_name(topology->names[atom], text + 2 * COLUMN, COLUMN);
    return COLLET_OK;
}

static collet_status read_atoms(io_lines *lines, trajectory_topology *topology, collet_error *err)
{
    trajectory_gro_columns columns;
    double position[3];

    for (int64_t i = 0; i < topology->n_atoms; i++) {
        const char *text;
        size_t length;

        collet_status status = io_lines_next(lines, &text, &length, err);
        if (status != COLLET_OK)
            return status;
        if (!text)
            return collet_fail(err, COLLET_FORMAT,
                               "%s:%lld: the file ends after %lld of its %lld atoms",
                               lines->source->path, (long long)lines->number, (long long)i,
                               (long long)topology->n_atoms);
        if (length < TRAJECTORY_GRO_POSITIONS)
            return trajectory_text_fail(lines, err,
                                        "expected atom %lld of %lld, but the line has %zu columns",
                                        (long long)i + 1, (long long)topology->n_atoms, length);
        status = trajectory_gro_measure(lines, text, length, i, &columns, err);
        if (status != COLLET_OK)
            return status;
        status = read_identity(lines, text, topology, i, err);
        if (status != COLLET_OK)
            return status;
        status = trajectory_gro_read_atom(lines, text, length, &columns, position, NULL, err);
        if (status != COLLET_OK)
            return status;
    }
    topology->lacking = trajectory_gro_lacking(&columns);
    return COLLET_OK;
}

collet_status trajectory_gro_read_topology(io_source *source, trajectory_topology *topology,
                                           collet_error *err)
{
    io_lines lines = {.source = source, .number = 1};
    trajectory_gro_head head;
    double box[9];
    trajectory_text_ending ending;
    int truncated;

    collet_status status = trajectory_gro_read_head(&lines, &head, &truncated, err);
    if (status != COLLET_OK)
        return status;
    status = check_atoms(&lines, head.n_atoms, err);
    if (status != COLLET_OK)
        return status;
    status = allocate_atoms(source, topology, head.n_atoms, err);
    if (status != COLLET_OK)
        return status;
    status = read_atoms(&lines, topology, err);
    return status == COLLET_OK ? trajectory_gro_read_box(&lines, box, &ending, err) : status;
}
