/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pdb_topology.c - names, residues, chains, segments and elements of the atoms in the first model of
 * a .pdb file.
 *
 * An atom's index is its position in the file, whatever its serial number.
 *
 * Tests: tests/engines/test_io_pdb.c, tests/fuzz/fuzz_trajectory.c
 */
#include "io/letters.h"
#include "pdb.h"

#include <string.h>

#define SEGMENT 4 /* columns of a segment's name */

/* ---- Atoms ------------------------------------------------------------------------------- */

/* Copies the symbol of an element, one or two letters; "" for other text. */
static void copy_element(char element[TRAJECTORY_SYMBOL], const char *column)
{
    size_t n = 0;

    for (size_t i = 0; i < TRAJECTORY_PDB_ELEMENT_END - TRAJECTORY_PDB_ELEMENT; i++) {
        if (io_is_upper(column[i]) || io_is_lower(column[i]))
            element[n++] = column[i];
        else if (column[i] != ' ') {
            memset(element, 0, TRAJECTORY_SYMBOL);
            return;
        }
    }
}

static collet_status read_atom(const trajectory_pdb *pdb, const char *text, size_t length,
                               trajectory_topology *topology, collet_error *err)
{
    int64_t atom = pdb->n_atoms - 1;
    const char *residue = text + TRAJECTORY_PDB_RESIDUE + pdb->shift;
    const size_t segment = TRAJECTORY_PDB_SEGMENT + pdb->shift;
    double position[3];

    if (!trajectory_pdb_residue(residue, atom > 0 ? topology->residue_ids[atom - 1] : 0,
                                &topology->residue_ids[atom], &topology->insertions[atom]))
        return trajectory_text_fail(&pdb->lines, err,
                                    "the residue number in columns %zu-%zu is neither decimal nor "
                                    "hybrid-36: '%.4s'",
                                    TRAJECTORY_PDB_RESIDUE + pdb->shift + 1,
                                    TRAJECTORY_PDB_RESIDUE + pdb->shift + TRAJECTORY_PDB_NUMBER,
                                    residue);
    trajectory_topology_copy_name(topology->names[atom], text + TRAJECTORY_PDB_NAME + pdb->shift,
                                  TRAJECTORY_PDB_LOCATION - TRAJECTORY_PDB_NAME);
    trajectory_topology_copy_name(topology->residue_names[atom],
                                  text + TRAJECTORY_PDB_RESIDUE_NAME + pdb->shift,
                                  TRAJECTORY_PDB_CHAIN - TRAJECTORY_PDB_RESIDUE_NAME);
    trajectory_topology_copy_name(topology->chains[atom], text + TRAJECTORY_PDB_CHAIN + pdb->shift,
                                  1);
    if (length > segment)
        trajectory_topology_copy_name(topology->segments[atom], text + segment,
                                      length - segment < SEGMENT ? length - segment : SEGMENT);
    if (length >= TRAJECTORY_PDB_ELEMENT_END + pdb->shift)
        copy_element(topology->elements[atom], text + TRAJECTORY_PDB_ELEMENT + pdb->shift);
    return trajectory_pdb_position(pdb, text, position, err);
}

/* Reads the first model to count its atoms. */
static collet_status count_atoms(trajectory_pdb *pdb, collet_error *err)
{
    const char *text;
    size_t length;

    do {
        collet_status status = trajectory_pdb_next(pdb, &text, &length, err);
        if (status != COLLET_OK)
            return status;
    } while (text);
    if (pdb->n_atoms == 0)
        return collet_fail(err, COLLET_FORMAT,
                           "%s: there are no atoms: no line begins with ATOM or HETATM",
                           pdb->lines.source->path);
    if (pdb->end == TRAJECTORY_PDB_FILE && pdb->announced)
        return collet_fail(
            err, COLLET_FORMAT, "%s:%lld: the file ends inside the first model, after %lld atoms",
            pdb->lines.source->path, (long long)pdb->lines.number, (long long)pdb->n_atoms);
    return COLLET_OK;
}

collet_status trajectory_pdb_read_topology(io_source *source, trajectory_topology *topology,
                                           collet_error *err)
{
    const trajectory_pdb start = {.lines = {.source = source, .number = 1}};
    trajectory_pdb pdb = start;
    const char *text;
    size_t length;

    collet_status status = count_atoms(&pdb, err);
    if (status == COLLET_OK)
        status = trajectory_topology_allocate(topology, pdb.n_atoms, pdb.title, strlen(pdb.title),
                                              source->path, err);
    if (status == COLLET_OK)
        status = trajectory_topology_allocate_more(
            topology,
            TRAJECTORY_WITH_INSERTIONS | TRAJECTORY_WITH_CHAINS | TRAJECTORY_WITH_SEGMENTS |
                TRAJECTORY_WITH_ELEMENTS,
            source->path, err);
    topology->left_out = pdb.left_out;
    pdb = start;
    while (status == COLLET_OK) {
        status = trajectory_pdb_next(&pdb, &text, &length, err);
        if (status != COLLET_OK || !text)
            break;
        status = read_atom(&pdb, text, length, topology, err);
    }
    if (status == COLLET_OK)
        status = trajectory_pdb_read_bonds(&start, &pdb, topology, err);
    if (status == COLLET_OK)
        trajectory_topology_drop_empty(topology);
    return status;
}
