/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pdb_links.c - the bonds of SSBOND and LINK records, which come before the first atom.
 *
 * Both ends are named by chain, residue and atom; the atom of an SSBOND is SG. Symmetry operators name
 * the image of an end: 1555 is the image in the file. A bond to another image joins two molecules.
 *
 * Tests: tests/engines/test_io_links.c, tests/fuzz/fuzz_trajectory.c
 */
#include "pdb.h"

#include <string.h>

#define RECORD 6
#define SYMMETRY 6 /* columns of an operator */

/* The columns (from 0) in which a record has the names, chains and residues of both ends. */
typedef struct ends {
    const char *record;
    size_t names[2]; /* 0: no such column; the atom is SG */
    size_t chains[2];
    size_t residues[2];
} ends;

static const ends kinds[] = {{"SSBOND", {0, 0}, {15, 29}, {17, 31}},
                             {"LINK  ", {12, 42}, {21, 51}, {22, 52}}};
static const size_t symmetries[2] = {59, 66};

static int is_identity(const char *text, size_t length, size_t at)
{
    char operator[TRAJECTORY_ATOM_NAME] = "";

    if (at < length)
        trajectory_topology_copy_name(operator, text + at,
                                      length - at < SYMMETRY ? length - at : SYMMETRY);
    return operator[0] == '\0' || strcmp(operator, "1555") == 0;
}

/* Reads both ends of a bond. 0: the line is too short, or a residue number is not a number. */
static int take_ends(const char *text, size_t length, const ends *columns,
                     trajectory_link_end link[2])
{
    for (int k = 0; k < 2; k++) {
        size_t at = columns->residues[k], n = length > at ? length - at : 0;
        char residue[TRAJECTORY_PDB_NUMBER + 1];

        link[k] = (trajectory_link_end){.name = "SG"};
        if (n < TRAJECTORY_PDB_NUMBER)
            return 0;
        residue[TRAJECTORY_PDB_NUMBER] = ' ';
        memcpy(residue, text + at, n < sizeof residue ? n : sizeof residue);
        if (!trajectory_pdb_residue(residue, 0, &link[k].residue, &link[k].insertion))
            return 0;
        trajectory_topology_copy_name(link[k].chain, text + columns->chains[k], 1);
        if (columns->names[k] > 0)
            trajectory_topology_copy_name(link[k].name, text + columns->names[k], 4);
    }
    return 1;
}

collet_status trajectory_pdb_read_links(io_lines lines, trajectory_links *links, collet_error *err)
{
    for (;;) {
        trajectory_link_end link[2];
        const char *text;
        size_t length;
        collet_status status = io_lines_next(&lines, &text, &length, err);

        if (status != COLLET_OK || !text || trajectory_pdb_begins_model(text, length))
            return status;
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (length > RECORD && memcmp(text, kinds[i].record, RECORD) == 0 &&
                is_identity(text, length, symmetries[0]) &&
                is_identity(text, length, symmetries[1]) &&
                take_ends(text, length, &kinds[i], link) && !trajectory_links_add(links, link))
                return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for its bonds",
                                   lines.source->path);
    }
}
