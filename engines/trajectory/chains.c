/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_extract_periodic.c */
#include "chains.h"

#include "files.h"
#include "trajectory/atoms/molecules.h"
#include "trajectory/atoms/residues.h"
#include "trajectory/boxes/lattice.h"

#include <stdlib.h>
#include <string.h>

/* Largest distances of two joined atoms in nm, with a margin for motion. C to N is 0.13, O3' to P 0.16. */
#define BOND_MOST 0.25
#define CA_MOST 0.5     /* CA to CA is 0.38 */
#define BEADS_MOST 0.6  /* beads BB of Martini: 0.31 to 0.4 */
#define OTHERS_MOST 0.8 /* P to P is 0.55 to 0.7; side chains and beads of nucleotides are as far */

static double joint_most(const trajectory_topology *t, const trajectory_bond *joint)
{
    const char *first = t->names[joint->first], *second = t->names[joint->second];

    if ((strcmp(first, "C") == 0 && strcmp(second, "N") == 0) ||
        (strcmp(first, "O3'") == 0 && strcmp(second, "P") == 0))
        return BOND_MOST;
    if (!trajectory_residue_is_protein(t->residue_names[joint->first]))
        return OTHERS_MOST;
    if (strcmp(first, "CA") == 0 || strcmp(second, "CA") == 0)
        return CA_MOST;
    return strcmp(first, "BB") == 0 ? BEADS_MOST : OTHERS_MOST;
}

/* ---- The first frame --------------------------------------------------------------------- */

/* The atoms of the joints in one frame. */
typedef struct joints {
    const trajectory_bond *joints;
    int64_t n;
    int64_t *places; /* row in the frame of each atom of the topology */
    int64_t *atoms;  /* n_atoms, ascending */
    int64_t n_atoms;
    trajectory_frames *frame; /* NULL: none could be read */
} joints;

static int list_atoms(joints *j, int64_t n_topology)
{
    j->places = calloc((size_t)n_topology, sizeof *j->places);
    j->atoms = calloc(2 * (size_t)j->n, sizeof *j->atoms);
    if (!j->places || !j->atoms)
        return 0;
    for (int64_t k = 0; k < j->n; k++)
        j->places[j->joints[k].first] = j->places[j->joints[k].second] = 1;
    for (int64_t i = 0; i < n_topology; i++)
        if (j->places[i]) {
            j->places[i] = j->n_atoms;
            j->atoms[j->n_atoms++] = i;
        }
    return 1;
}

static collet_status read_frame(joints *j, const trajectory_settings *settings, collet_error *err)
{
    trajectory_reader *reader = NULL;
    collet_status status =
        trajectory_files_open_at(settings, j->atoms, j->n_atoms, settings->start, &reader, err);

    if (status == COLLET_OK)
        status = trajectory_frames_create(j->n_atoms, 1, trajectory_reader_get_info(reader)->dtype,
                                          0, 0, &j->frame, err);
    if (status == COLLET_OK)
        status = trajectory_reader_read(reader, j->frame, err);
    trajectory_reader_close(reader);
    if (status == COLLET_OK && j->frame->n_frames == 1)
        return COLLET_OK;
    trajectory_frames_free(j->frame);
    j->frame = NULL;
    return settings->source || status == COLLET_NO_MEMORY ? status : COLLET_OK;
}

static int is_apart(const joints *j, const trajectory_bond *joint,
                    const trajectory_lattice *lattice, double most)
{
    double d[3];

    for (int v = 0; v < 3; v++)
        d[v] = trajectory_frames_value(j->frame, j->frame->positions,
                                       3 * j->places[joint->first] + v) -
               trajectory_frames_value(j->frame, j->frame->positions,
                                       3 * j->places[joint->second] + v);
    if (lattice)
        trajectory_lattice_shorten(lattice, d);
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2] > most * most;
}

static collet_status separate(trajectory_topology *t, const joints *j, const char *path,
                              collet_error *err)
{
    trajectory_lattice lattice;
    int has_box = trajectory_lattice_make(&lattice, j->frame->boxes);
    collet_status status =
        trajectory_topology_allocate_one(t, &t->separate, sizeof *t->separate, path, err);

    for (int64_t k = 0; status == COLLET_OK && k < j->n; k++)
        t->separate[j->joints[k].second] = (uint8_t)is_apart(
            j, &j->joints[k], has_box ? &lattice : NULL, joint_most(t, &j->joints[k]));
    return status;
}

collet_status trajectory_chains_separate(trajectory_topology *topology,
                                         const trajectory_settings *settings, collet_error *err)
{
    trajectory_molecules *m;
    joints j = {0};
    collet_status status = trajectory_molecules_create(topology, &m, err);

    if (status != COLLET_OK)
        return status;
    j.joints = m->bonds + m->n_named;
    j.n = m->n_bonds - m->n_named;
    if (j.n > 0)
        status = list_atoms(&j, topology->n_atoms)
                     ? read_frame(&j, settings, err)
                     : collet_fail(err, COLLET_NO_MEMORY, "no memory for %lld atoms",
                                   (long long)topology->n_atoms);
    if (status == COLLET_OK && j.frame)
        status = separate(topology, &j, settings->topology, err);
    trajectory_frames_free(j.frame);
    free(j.places);
    free(j.atoms);
    trajectory_molecules_free(m);
    return status;
}
