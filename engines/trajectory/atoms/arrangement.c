/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_arrangement.c */
#include "arrangement.h"

#include <stdlib.h>
#include <string.h>

struct trajectory_arrangement {
    trajectory_arranger arranger;
    int64_t *atoms; /* to be read, ascending */
    int64_t n_atoms;
    int64_t *sources; /* n_members: the place of each in `atoms` */
    int64_t n_members;
    trajectory_choice *choice; /* NULL: the same atoms in all frames */
    int64_t *choice_rows;      /* the places of its atoms in `atoms` */
    int64_t *choice_members;   /* n_members: the place of each among its members */
    int64_t n_chosen;          /* members of the choice */
    double *masses;
};

/* Marks the members and lists them; `places`: n_atoms of the topology, zeros, is set to the place
 * of each atom that is listed. */
static void list_atoms(trajectory_arrangement *a, const trajectory_arrangement_setup *setup,
                       int64_t *places)
{
    int64_t n_needed = 0;
    const int64_t *needed =
        setup->choice ? trajectory_choice_atoms(setup->choice, &n_needed) : NULL;

    for (int64_t i = 0; i < setup->n_members; i++)
        places[setup->members[i]] = 1;
    for (int64_t i = 0; i < n_needed; i++)
        places[needed[i]] = 1;
    for (int64_t atom = 0; atom < setup->topology->n_atoms; atom++)
        if (places[atom]) {
            places[atom] = a->n_atoms;
            a->atoms[a->n_atoms++] = atom;
        }
    for (int64_t i = 0; i < setup->n_members; i++)
        a->sources[i] = places[setup->members[i]];
}

/* `places` of the atoms in a->atoms; overwritten. */
static int take_choice(trajectory_arrangement *a, const trajectory_arrangement_setup *setup,
                       int64_t *places)
{
    int64_t n;
    const int64_t *atoms = trajectory_choice_atoms(setup->choice, &n);

    a->choice = setup->choice;
    a->choice_rows = malloc(((size_t)n + 1) * sizeof *a->choice_rows);
    a->choice_members = malloc((size_t)a->n_members * sizeof *a->choice_members);
    a->masses = malloc((size_t)a->n_members * sizeof *a->masses);
    if (!a->choice_rows || !a->choice_members || !a->masses)
        return 0;
    for (int64_t i = 0; i < n; i++)
        a->choice_rows[i] = places[atoms[i]];
    const int64_t *members = trajectory_choice_members(setup->choice, &a->n_chosen);
    for (int64_t i = 0; i < a->n_chosen; i++)
        places[members[i]] = i;
    for (int64_t i = 0; i < a->n_members; i++)
        a->choice_members[i] = places[setup->members[i]];
    memcpy(a->masses, setup->masses, (size_t)a->n_members * sizeof *a->masses);
    return 1;
}

static int same_order(const trajectory_arrangement *a)
{
    if (a->n_members != a->n_atoms)
        return 0;
    for (int64_t i = 0; i < a->n_members; i++)
        if (a->sources[i] != i)
            return 0;
    return 1;
}

static void gather(const trajectory_arrangement *a, size_t real, const void *read, int64_t i,
                   void *out, int64_t k)
{
    size_t atom = 3 * real;
    const uint8_t *from = (const uint8_t *)read + (size_t)(i * a->n_atoms) * atom;
    uint8_t *to = (uint8_t *)out + (size_t)(k * a->n_members) * atom;

    if (real == sizeof(float)) /* a constant size: one move, not a call */
        for (int64_t m = 0; m < a->n_members; m++)
            memcpy(to + 12 * m, from + 12 * a->sources[m], 12);
    else
        for (int64_t m = 0; m < a->n_members; m++)
            memcpy(to + 24 * m, from + 24 * a->sources[m], 24);
}

/* Finds the atoms of frame k that frame i of `read` chooses. The force on any other is 0, because the
 * torque has no masses. */
static collet_status choose(const trajectory_arrangement *a, const trajectory_frames *read,
                            int64_t i, trajectory_frames *out, int64_t k, collet_error *err)
{
    size_t n = (size_t)a->n_members;
    double *masses = out->masses + (size_t)k * n;
    uint8_t *chosen = malloc((size_t)a->n_chosen + 1);
    collet_status status = chosen ? trajectory_choice_find(a->choice, read, i, a->choice_rows,
                                                           chosen, &out->chosen[k], err)
                                  : collet_fail(err, COLLET_NO_MEMORY, "selection: out of memory");
    size_t force = 3 * (out->dtype == COLLET_F64 ? sizeof(double) : sizeof(float));

    for (size_t m = 0; status == COLLET_OK && m < n; m++) {
        int is_chosen = chosen[a->choice_members[m]];

        masses[m] = is_chosen ? a->masses[m] : 0;
        if (!is_chosen && out->forces)
            memset((uint8_t *)out->forces + ((size_t)k * n + m) * force, 0, force);
    }
    free(chosen);
    return status;
}

static collet_status arrange_frame(void *user, trajectory_frames *read, int64_t i,
                                   trajectory_frames *out, int64_t k, collet_error *err)
{
    const trajectory_arrangement *a = user;
    size_t real = read->dtype == COLLET_F64 ? sizeof(double) : sizeof(float);

    gather(a, real, read->positions, i, out->positions, k);
    if (read->velocities)
        gather(a, real, read->velocities, i, out->velocities, k);
    if (read->forces)
        gather(a, real, read->forces, i, out->forces, k);
    out->times[k] = read->times[i];
    out->indices[k] = read->indices[i];
    memcpy(out->boxes + 9 * k, read->boxes + 9 * i, 9 * sizeof *out->boxes);
    return a->choice ? choose(a, read, i, out, k, err) : COLLET_OK;
}

collet_status trajectory_arrangement_create(const trajectory_arrangement_setup *setup,
                                            trajectory_arrangement **out, collet_error *err)
{
    trajectory_arrangement *a = calloc(1, sizeof *a);
    size_t n_members = (size_t)setup->n_members, n_topology = (size_t)setup->topology->n_atoms;
    int64_t *places = calloc(n_topology, sizeof *places);

    *out = NULL;
    if (a) {
        a->n_members = setup->n_members;
        a->atoms = calloc(n_topology, sizeof *a->atoms);
        a->sources = calloc(n_members, sizeof *a->sources);
    }
    if (!a || !places || !a->atoms || !a->sources) {
        free(places);
        trajectory_arrangement_free(a);
        return collet_fail(err, COLLET_NO_MEMORY, "no memory to arrange %lld atoms",
                           (long long)setup->n_members);
    }
    list_atoms(a, setup, places);
    int fits = !setup->choice || take_choice(a, setup, places);
    free(places);
    if (!fits) {
        trajectory_arrangement_free(a);
        return collet_fail(err, COLLET_NO_MEMORY, "no memory to choose among %lld atoms",
                           (long long)setup->n_members);
    }
    if (setup->choice || !same_order(a))
        a->arranger = (trajectory_arranger){.user = a,
                                            .n_atoms = a->n_members,
                                            .chooses = setup->choice != NULL,
                                            .frame = arrange_frame};
    *out = a;
    return COLLET_OK;
}

void trajectory_arrangement_free(trajectory_arrangement *a)
{
    if (!a)
        return;
    free(a->atoms);
    free(a->sources);
    free(a->choice_rows);
    free(a->choice_members);
    free(a->masses);
    free(a);
}

const int64_t *trajectory_arrangement_atoms(const trajectory_arrangement *a, int64_t *n)
{
    *n = a->n_atoms;
    return a->atoms;
}

const trajectory_arranger *trajectory_arrangement_arranger(const trajectory_arrangement *a)
{
    return a->arranger.frame ? &a->arranger : NULL;
}
