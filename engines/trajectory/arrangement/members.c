/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_arrangement.c */
#include "members.h"

#include <collet/trajectory.h>
#include <stdlib.h>
#include <string.h>

/* ---- Atoms ------------------------------------------------------------------------------- */

/* Marks the atoms to be read in `places`: the n `atoms`, and all atoms of their molecules. If only the first atom
 * of a molecule is in `atoms`, the rest of the molecule is not needed, because the first atom is never moved.
 * needed[m] becomes 1 if all atoms of molecule m are needed. */
static void mark_atoms(const int64_t *atoms, int64_t n, uint32_t pbc, const trajectory_molecules *m,
                       uint8_t *needed, int64_t *places)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t molecule = m->of[atoms[i]];

        places[atoms[i]] = 1;
        needed[molecule] |=
            pbc != COLLET_TRAJECTORY_PBC_NONE && atoms[i] != m->atoms[m->offsets[molecule]];
    }
    for (int64_t atom = 0; atom < m->n_atoms; atom++)
        if (needed[m->of[atom]])
            places[atom] = 1;
}

/* Lists the marked atoms in `atoms` and sets places[atom] to the index of each atom in this list. Returns their
 * number. */
static int64_t list_atoms(int64_t *atoms, int64_t n_topology, int64_t *places)
{
    int64_t n = 0;

    for (int64_t atom = 0; atom < n_topology; atom++)
        if (places[atom]) {
            places[atom] = n;
            atoms[n++] = atom;
        }
    return n;
}

/* Copies the parts of the choice that are needed. `places`: index in m->atoms of each atom of the topology; it is
 * overwritten. 0: out of memory. */
static int take_choice(trajectory_members *m, const trajectory_arrangement_setup *setup,
                       int64_t *places)
{
    int64_t n;
    const int64_t *atoms = trajectory_choice_atoms(setup->choice, &n);

    m->choice = setup->choice;
    m->choice_rows = malloc(((size_t)n + 1) * sizeof *m->choice_rows);
    m->choice_members = malloc((size_t)m->n_members * sizeof *m->choice_members);
    m->masses = malloc((size_t)m->n_members * sizeof *m->masses);
    if (!m->choice_rows || !m->choice_members || !m->masses)
        return 0;
    for (int64_t i = 0; i < n; i++)
        m->choice_rows[i] = places[atoms[i]];
    const int64_t *members = trajectory_choice_members(setup->choice, &m->n_chosen);
    for (int64_t i = 0; i < m->n_chosen; i++)
        places[members[i]] = i;
    for (int64_t i = 0; i < m->n_members; i++)
        m->choice_members[i] = places[setup->members[i]];
    memcpy(m->masses, setup->masses, (size_t)m->n_members * sizeof *m->masses);
    return 1;
}

/* Lists the atoms to be read, and the index in this list of each member and of each atom of the system and the choice.
 * 0: out of memory. */
static int fill_lists(trajectory_members *m, const trajectory_arrangement_setup *setup,
                      const trajectory_molecules *all, int64_t *places, uint8_t *needed)
{
    int64_t n;

    mark_atoms(setup->members, setup->n_members, setup->pbc, all, needed, places);
    if (setup->choice) {
        const int64_t *atoms = trajectory_choice_atoms(setup->choice, &n);

        mark_atoms(atoms, n, setup->pbc, all, needed, places);
    }
    if (setup->system)
        mark_atoms(setup->system->atoms, setup->system->n, setup->pbc, all, needed, places);
    m->n_atoms = list_atoms(m->atoms, setup->topology->n_atoms, places);
    for (int64_t i = 0; i < setup->n_members; i++)
        m->sources[i] = places[setup->members[i]];
    for (int64_t i = 0; setup->system && i < setup->system->n; i++)
        m->system[i] = places[setup->system->atoms[i]];
    return !setup->choice || take_choice(m, setup, places);
}

collet_status trajectory_members_create(trajectory_members *m,
                                        const trajectory_arrangement_setup *setup,
                                        const trajectory_molecules *all, collet_error *err)
{
    size_t n_members = (size_t)setup->n_members, n_topology = (size_t)setup->topology->n_atoms;
    int64_t *places = calloc(n_topology, sizeof *places);
    uint8_t *needed = calloc((size_t)all->count, 1);
    int filled;

    m->n_members = setup->n_members;
    m->atoms = calloc(n_topology, sizeof *m->atoms);
    m->sources = calloc(n_members, sizeof *m->sources);
    m->system = calloc(setup->system ? (size_t)setup->system->n : 1, sizeof *m->system);
    filled = places && needed && m->atoms && m->sources && m->system &&
             fill_lists(m, setup, all, places, needed);
    free(places);
    free(needed);
    return filled ? COLLET_OK
                  : collet_fail(err, COLLET_NO_MEMORY, "no memory to arrange %lld atoms",
                                (long long)setup->n_members);
}

void trajectory_members_free(trajectory_members *m)
{
    free(m->atoms);
    free(m->sources);
    free(m->system);
    free(m->choice_rows);
    free(m->choice_members);
    free(m->masses);
}

int trajectory_members_are_read(const trajectory_members *m)
{
    if (m->choice || m->n_members != m->n_atoms)
        return 0;
    for (int64_t i = 0; i < m->n_members; i++)
        if (m->sources[i] != i)
            return 0;
    return 1;
}

/* ---- A frame ----------------------------------------------------------------------------- */

static size_t real_size(collet_dtype dtype)
{
    return dtype == COLLET_F64 ? sizeof(double) : sizeof(float);
}

static void *row_of(const trajectory_frames *frames, void *array, int64_t i)
{
    return (uint8_t *)array + (size_t)(i * frames->n_atoms) * 3 * real_size(frames->dtype);
}

static void gather(const trajectory_members *m, size_t real, const void *read, void *out)
{
    const uint8_t *from = read;
    uint8_t *to = out;

    if (real == sizeof(float)) /* with constant sizes memcpy becomes one move, not a call */
        for (int64_t i = 0; i < m->n_members; i++)
            memcpy(to + 12 * i, from + 12 * m->sources[i], 12);
    else
        for (int64_t i = 0; i < m->n_members; i++)
            memcpy(to + 24 * i, from + 24 * m->sources[i], 24);
}

void trajectory_members_gather(const trajectory_members *m, const trajectory_frames *read,
                               int64_t i, trajectory_frames *out, int64_t k)
{
    size_t real = real_size(read->dtype);

    gather(m, real, row_of(read, read->positions, i), row_of(out, out->positions, k));
    if (read->velocities)
        gather(m, real, row_of(read, read->velocities, i), row_of(out, out->velocities, k));
    if (read->forces)
        gather(m, real, row_of(read, read->forces, i), row_of(out, out->forces, k));
    out->times[k] = read->times[i];
    out->indices[k] = read->indices[i];
    memcpy(out->boxes + 9 * k, read->boxes + 9 * i, 9 * sizeof *out->boxes);
}

collet_status trajectory_members_choose(const trajectory_members *m, const trajectory_frames *read,
                                        int64_t i, trajectory_frames *out, int64_t k,
                                        collet_error *err)
{
    size_t n = (size_t)m->n_members;
    double *masses = out->masses + (size_t)k * n;
    uint8_t *chosen = malloc((size_t)m->n_chosen + 1);
    collet_status status = chosen ? trajectory_choice_find(m->choice, read, i, m->choice_rows,
                                                           chosen, &out->chosen[k], err)
                                  : collet_fail(err, COLLET_NO_MEMORY, "selection: out of memory");
    size_t force = 3 * real_size(out->dtype);

    for (size_t j = 0; status == COLLET_OK && j < n; j++) {
        int is_chosen = chosen[m->choice_members[j]];

        masses[j] = is_chosen ? m->masses[j] : 0;
        if (!is_chosen && out->forces)
            memset((uint8_t *)out->forces + ((size_t)k * n + j) * force, 0, force);
    }
    free(chosen);
    return status;
}
