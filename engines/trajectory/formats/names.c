/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_topology.c, tests/engines/test_io_psf.c */
#include "names.h"

#include <stdlib.h>
#include <string.h>

static collet_status no_memory(const trajectory_topology *topology, const char *path,
                               collet_error *err)
{
    return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for %lld atoms", path,
                       (long long)topology->n_atoms);
}

collet_status trajectory_topology_allocate(trajectory_topology *topology, int64_t n_atoms,
                                           const char *title, size_t title_length, const char *path,
                                           collet_error *err)
{
    size_t n = (size_t)n_atoms;

    topology->n_atoms = n_atoms;
    topology->lacking = -1;
    topology->title = strndup(title, title_length);
    topology->names = calloc(n, sizeof *topology->names);
    topology->residue_names = calloc(n, sizeof *topology->residue_names);
    topology->residue_ids = calloc(n, sizeof *topology->residue_ids);
    return topology->title && topology->names && topology->residue_names && topology->residue_ids
               ? COLLET_OK
               : no_memory(topology, path, err);
}

collet_status trajectory_topology_allocate_elements(trajectory_topology *topology, const char *path,
                                                    collet_error *err)
{
    topology->elements = calloc((size_t)topology->n_atoms, sizeof *topology->elements);
    return topology->elements ? COLLET_OK : no_memory(topology, path, err);
}

collet_status trajectory_topology_allocate_masses(trajectory_topology *topology, const char *path,
                                                  collet_error *err)
{
    topology->masses = calloc((size_t)topology->n_atoms, sizeof *topology->masses);
    return topology->masses ? COLLET_OK : no_memory(topology, path, err);
}

void trajectory_topology_copy_name(char name[TRAJECTORY_ATOM_NAME], const char *column,
                                   size_t width)
{
    const char *end = column + width;

    while (column < end && *column == ' ')
        column++;
    while (end > column && end[-1] == ' ')
        end--;
    memcpy(name, column, (size_t)(end - column));
}

void trajectory_topology_free(trajectory_topology *topology)
{
    if (!topology)
        return;
    free(topology->title);
    free(topology->names);
    free(topology->residue_names);
    free(topology->residue_ids);
    free(topology->elements);
    free(topology->masses);
    free(topology);
}
