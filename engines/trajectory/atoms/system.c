/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_drift.c */
#include "system.h"

#include "choice.h"
#include "masses.h"
#include "selection_marks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static collet_status no_memory(const trajectory_system_setup *setup, collet_error *err)
{
    return collet_fail(err, COLLET_NO_MEMORY, "drift: no memory for %lld atoms",
                       (long long)setup->topology->n_atoms);
}

/* Allocates the arrays, and copies the atoms of the choice; NULL: all atoms. */
static collet_status copy_atoms(trajectory_system *s, const trajectory_system_setup *setup,
                                const trajectory_choice *choice, collet_error *err)
{
    const int64_t *members = NULL;

    s->n = setup->topology->n_atoms;
    if (choice)
        members = trajectory_choice_members(choice, &s->n);
    s->atoms = malloc(((size_t)s->n + 1) * sizeof *s->atoms);
    s->masses = calloc((size_t)s->n + 1, sizeof *s->masses);
    if (!s->atoms || !s->masses)
        return no_memory(setup, err);
    for (int64_t i = 0; i < s->n; i++)
        s->atoms[i] = members ? members[i] : i;
    return COLLET_OK;
}

static collet_status check_choice(const trajectory_system_setup *setup,
                                  const trajectory_selection *selection,
                                  const trajectory_choice *choice, collet_error *err)
{
    char hint[256];
    int64_t n;

    if (trajectory_choice_varies(choice))
        return collet_fail(err, COLLET_INVALID,
                           "drift_of: the selection '%s' differs from frame to frame; the drift "
                           "needs the same atoms in all frames",
                           setup->text);
    (void)trajectory_choice_members(choice, &n);
    if (n > 0)
        return COLLET_OK;
    trajectory_selection_hint(selection, setup->topology, hint, sizeof hint);
    return collet_fail(err, COLLET_INVALID,
                       "drift_of: the selection '%s' matches none of the %lld atoms of %s%s",
                       setup->text, (long long)setup->topology->n_atoms, setup->path, hint);
}

static collet_status choose(trajectory_system *s, const trajectory_system_setup *setup,
                            collet_error *err)
{
    trajectory_groups *groups = NULL;
    trajectory_selection *selection = NULL;
    trajectory_choice *choice = NULL;
    collet_status status = trajectory_selection_compile(setup->text, &selection, err);

    if (status == COLLET_OK && setup->ndx)
        status = trajectory_groups_read(setup->ndx, setup->topology->n_atoms, &groups, err);
    if (status == COLLET_OK)
        status = trajectory_choice_create(selection, setup->topology, groups, &choice, err);
    if (status == COLLET_OK)
        status = check_choice(setup, selection, choice, err);
    if (status == COLLET_OK)
        status = copy_atoms(s, setup, choice, err);
    trajectory_choice_free(choice);
    trajectory_selection_free(selection);
    trajectory_groups_free(groups);
    return status;
}

static collet_status find_masses(trajectory_system *s, const trajectory_system_setup *setup,
                                 collet_error *err)
{
    trajectory_composition found;
    collet_error own;

    for (int64_t i = 0; setup->masses && i < s->n; i++)
        s->masses[i] = setup->masses[s->atoms[i]];
    if (setup->masses)
        return COLLET_OK;
    collet_status status =
        trajectory_masses_guess(setup->topology, s->atoms, s->n, s->masses, &found, &own);
    return status == COLLET_OK
               ? COLLET_OK
               : collet_fail(err, status, "drift: %s (of the drift: --drift-of)", own.text);
}

/* Atoms without a mass do not matter. */
static void drop_massless(trajectory_system *s)
{
    int64_t n = 0;

    for (int64_t i = 0; i < s->n; i++) {
        if (!(s->masses[i] > 0))
            continue;
        s->atoms[n] = s->atoms[i];
        s->masses[n] = s->masses[i];
        s->mass += s->masses[n++];
    }
    s->n = n;
}

collet_status trajectory_system_open(trajectory_system *s, const trajectory_system_setup *setup,
                                     collet_error *err)
{
    collet_status status = setup->text ? choose(s, setup, err) : copy_atoms(s, setup, NULL, err);

    if (status == COLLET_OK)
        status = find_masses(s, setup, err);
    if (status != COLLET_OK)
        return status;
    drop_massless(s);
    if (s->n > setup->rotates)
        return COLLET_OK;
    return collet_fail(err, COLLET_INVALID,
                       s->n == 0
                           ? "drift: none of the atoms of %s%s has a mass; give masses, or choose "
                             "other atoms"
                           : "drift: of the atoms of %s%s only one has a mass, and one atom has no "
                             "rotation; choose more atoms, or remove only the linear motion",
                       setup->text ? "drift_of " : setup->path, setup->text ? setup->text : "");
}

void trajectory_system_free(trajectory_system *s)
{
    free(s->atoms);
    free(s->masses);
    memset(s, 0, sizeof *s);
}
