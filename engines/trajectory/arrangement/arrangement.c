/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_arrangement.c */
#include "arrangement.h"

#include "drift.h"
#include "paths.h"

#include <collet/trajectory.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct trajectory_arrangement {
    trajectory_arranger arranger;
    uint32_t pbc;
    int64_t *atoms; /* to be read, ascending */
    int64_t n_atoms;
    int64_t *sources; /* n_members: index of each member in `atoms` */
    int64_t n_members;
    trajectory_choice *choice; /* NULL: the same atoms in all frames */
    int64_t *choice_rows;      /* index in `atoms` of each atom of the choice */
    int64_t *choice_members;   /* n_members: index of each member among the choice's members */
    int64_t n_chosen;          /* members of the choice */
    double *masses;

    trajectory_molecules *molecules; /* of the atoms that are read */
    uint8_t *others;                 /* for each molecule, 1: it has no member */
    trajectory_images *images;       /* of the members; NULL: molecules are not moved */
    trajectory_paths *paths;         /* of the bodies; NULL: they are not followed */
    trajectory_drift *drift;         /* NULL: no drift is removed */
    int64_t *system;                 /* index in `atoms` of each atom of the system */
    int64_t n_system;                /* molecules of the system */

    trajectory_first_frame *first; /* reads the deciding frame; NULL: frames come in order */
    void *user;

    pthread_mutex_t lock; /* held to prepare */
    atomic_int prepared;
    trajectory_tree *tree; /* of the atoms that are read; NULL: molecules are not made whole */
    trajectory_arrangement_notes notes;
};

/* ---- Atoms ------------------------------------------------------------------------------- */

/*
 * Marks the atoms to be read in `places`: the n `atoms`, and all atoms of their molecules. If only the first atom
 * of a molecule is in `atoms`, the rest of the molecule is not needed, because the first atom is never moved.
 * needed[m] becomes 1 if all atoms of molecule m are needed.
 */
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

/* Lists the marked atoms in `atoms` and sets places[atom] to the index of each in this list. Returns their number. */
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

/* Copies what the arrangement needs of the choice. `places`: index in a->atoms of each atom of the topology; it is
 * overwritten. 0: out of memory. */
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

/* ---- A frame ----------------------------------------------------------------------------- */

static size_t real_size(collet_dtype dtype)
{
    return dtype == COLLET_F64 ? sizeof(double) : sizeof(float);
}

static void *row_of(const trajectory_frames *frames, void *array, int64_t i)
{
    return (uint8_t *)array + (size_t)(i * frames->n_atoms) * 3 * real_size(frames->dtype);
}

static void gather(const trajectory_arrangement *a, size_t real, const void *read, void *out)
{
    const uint8_t *from = read;
    uint8_t *to = out;

    if (real == sizeof(float)) /* with constant sizes memcpy becomes one move, not a call */
        for (int64_t m = 0; m < a->n_members; m++)
            memcpy(to + 12 * m, from + 12 * a->sources[m], 12);
    else
        for (int64_t m = 0; m < a->n_members; m++)
            memcpy(to + 24 * m, from + 24 * a->sources[m], 24);
}

static void gather_frame(const trajectory_arrangement *a, const trajectory_frames *read, int64_t i,
                         trajectory_frames *out, int64_t k)
{
    size_t real = real_size(read->dtype);

    gather(a, real, row_of(read, read->positions, i), row_of(out, out->positions, k));
    if (read->velocities)
        gather(a, real, row_of(read, read->velocities, i), row_of(out, out->velocities, k));
    if (read->forces)
        gather(a, real, row_of(read, read->forces, i), row_of(out, out->forces, k));
    out->times[k] = read->times[i];
    out->indices[k] = read->indices[i];
    memcpy(out->boxes + 9 * k, read->boxes + 9 * i, 9 * sizeof *out->boxes);
}

/* Finds the atoms that the choice selects in frame i of `read`, for frame k of `out`. Other atoms get the mass 0;
 * they also get the force 0, because the torque does not depend on masses. */
static collet_status choose(const trajectory_arrangement *a, const trajectory_frames *read,
                            int64_t i, trajectory_frames *out, int64_t k, collet_error *err)
{
    size_t n = (size_t)a->n_members;
    double *masses = out->masses + (size_t)k * n;
    uint8_t *chosen = malloc((size_t)a->n_chosen + 1);
    collet_status status = chosen ? trajectory_choice_find(a->choice, read, i, a->choice_rows,
                                                           chosen, &out->chosen[k], err)
                                  : collet_fail(err, COLLET_NO_MEMORY, "selection: out of memory");
    size_t force = 3 * real_size(out->dtype);

    for (size_t m = 0; status == COLLET_OK && m < n; m++) {
        int is_chosen = chosen[a->choice_members[m]];

        masses[m] = is_chosen ? a->masses[m] : 0;
        if (!is_chosen && out->forces)
            memset((uint8_t *)out->forces + ((size_t)k * n + m) * force, 0, force);
    }
    free(chosen);
    return status;
}

/* Centers frame k; uses the masses of the frame if it has its own. */
static void center(const trajectory_arrangement *a, const trajectory_lattice *lattice,
                   trajectory_frames *out, int64_t k)
{
    trajectory_images images = *a->images;

    if (out->masses)
        images.weights = out->masses + k * out->n_atoms;
    trajectory_images_center(&images, lattice, out->dtype, row_of(out, out->positions, k));
}

static collet_status prepare_at(trajectory_arrangement *a, const trajectory_frames *read, int64_t i,
                                collet_error *err);

/* Makes the molecules of the atoms that are read whole. Then moves molecules of the members, if this depends on no
 * other frame. */
static collet_status arrange_frame(void *user, trajectory_frames *read, int64_t i,
                                   trajectory_frames *out, int64_t k, collet_error *err)
{
    trajectory_arrangement *a = user;
    trajectory_lattice lattice;
    int has_box = trajectory_lattice_make(&lattice, read->boxes + 9 * i);
    collet_status status = has_box ? prepare_at(a, read, i, err) : COLLET_OK;

    if (status != COLLET_OK)
        return status;
    if (has_box && a->tree)
        trajectory_tree_place(a->tree, &lattice, read->dtype, row_of(read, read->positions, i));
    if (!a->arranger.in_place)
        gather_frame(a, read, i, out, k);
    if (a->drift)
        trajectory_drift_remove(a->drift, read, i, out, k);
    if (a->choice)
        status = choose(a, read, i, out, k, err);
    if (status == COLLET_OK && has_box && a->pbc == COLLET_TRAJECTORY_PBC_CENTER)
        center(a, &lattice, out, k);
    return status;
}

static void follow_frames(void *user, trajectory_frames *out)
{
    trajectory_arrangement *a = user;

    for (int64_t i = 0; i < out->n_frames && a->paths; i++) {
        trajectory_lattice lattice;
        int has_box = trajectory_lattice_make(&lattice, out->boxes + 9 * i);

        trajectory_paths_follow(a->paths, a->images, has_box ? &lattice : NULL, out, i);
    }
    if (a->drift)
        trajectory_drift_follow(a->drift, out);
}

/* ---- The first frame --------------------------------------------------------------------- */

/* Notes the molecules that are not made whole; these must not be moved to other images either. */
static void note_left(trajectory_arrangement *a)
{
    const trajectory_molecules *m = a->molecules;
    trajectory_arrangement_notes *notes = &a->notes;

    for (int64_t k = 0; k < m->count; k++) {
        int why = a->tree->left[k];

        if (a->images)
            a->images->fixed[k] = why != TRAJECTORY_PLACED;
        if (!a->others[k] && notes->left[why]++ == 0)
            notes->left_atom[why] = a->atoms[m->atoms[m->offsets[k]]];
    }
}

static collet_status find_cut(trajectory_arrangement *a, double *positions,
                              const trajectory_lattice *lattice, collet_error *err)
{
    trajectory_cut *cut = &a->notes.cut;
    collet_status status;

    if (a->tree)
        trajectory_tree_place(a->tree, lattice, COLLET_F64, positions);
    for (int64_t k = 0; a->tree && k < a->molecules->count; k++)
        a->tree->left[k] |= a->others[k];
    status = trajectory_cut_find(cut, a->molecules, positions, lattice,
                                 a->tree ? a->tree->left : a->others, err);
    cut->atom = a->atoms[cut->atom];
    if (cut->count > 0 && cut->next >= 0)
        cut->next = a->atoms[cut->next];
    return status;
}

/* Decides how molecules are made whole, and which molecules are cut, by one frame. `positions` of the atoms that are
 * read are changed; `box` must not be flat. */
static collet_status learn(trajectory_arrangement *a, double *positions, const double box[9],
                           collet_error *err)
{
    trajectory_lattice lattice;
    collet_status status = COLLET_OK;

    memset(&a->notes, 0, sizeof a->notes);
    a->notes.known = a->molecules->known;
    trajectory_lattice_make(&lattice, box);
    trajectory_tree_free(a->tree);
    a->tree = NULL;
    if (a->pbc != COLLET_TRAJECTORY_PBC_NONE)
        status = trajectory_tree_create(a->molecules, positions, &lattice, &a->tree, err);
    if (status == COLLET_OK && a->drift)
        status =
            trajectory_drift_learn(a->drift, a->molecules, a->tree ? a->tree->left : NULL, err);
    if (status == COLLET_OK && a->tree)
        note_left(a);
    return status == COLLET_OK ? find_cut(a, positions, &lattice, err) : status;
}

static collet_status learn_from(trajectory_arrangement *a, const trajectory_frames *read, int64_t i,
                                collet_error *err)
{
    const void *row = row_of(read, read->positions, i);
    double *positions = malloc((size_t)a->n_atoms * 3 * sizeof *positions);
    collet_status status;

    if (!positions)
        return collet_fail(err, COLLET_NO_MEMORY, "no memory for %lld molecules",
                           (long long)a->molecules->count);
    for (int64_t k = 0; k < 3 * a->n_atoms; k++)
        positions[k] = trajectory_frames_value(read, row, k);
    status = learn(a, positions, read->boxes + 9 * i, err);
    free(positions);
    a->notes.frame = read->indices[i];
    atomic_store(&a->prepared, status == COLLET_OK);
    return status;
}

/* Always decides by the first frame with a box: a thread may reach a later frame before another thread reaches the
 * first. */
static collet_status learn_from_first(trajectory_arrangement *a, const trajectory_frames *read,
                                      int64_t i, collet_error *err)
{
    trajectory_frames *first = NULL;
    collet_status status = a->first ? a->first(a->user, &first, err) : COLLET_OK;

    if (status == COLLET_OK)
        status = first ? learn_from(a, first, 0, err) : learn_from(a, read, i, err);
    trajectory_frames_free(first);
    return status;
}

static collet_status prepare_at(trajectory_arrangement *a, const trajectory_frames *read, int64_t i,
                                collet_error *err)
{
    collet_status status = COLLET_OK;

    if (atomic_load(&a->prepared))
        return COLLET_OK;
    pthread_mutex_lock(&a->lock);
    if (!atomic_load(&a->prepared))
        status = learn_from_first(a, read, i, err);
    pthread_mutex_unlock(&a->lock);
    return status;
}

collet_status trajectory_arrangement_prepare(trajectory_arrangement *a,
                                             const trajectory_frames *read, collet_error *err)
{
    collet_status status = COLLET_OK;

    for (int64_t i = 0; i < read->n_frames && read->n_atoms == a->n_atoms && status == COLLET_OK &&
                        !atomic_load(&a->prepared);
         i++)
        if (trajectory_lattice_exists(read->boxes + 9 * i))
            status = prepare_at(a, read, i, err);
    return status;
}

void trajectory_arrangement_set_first(trajectory_arrangement *a, trajectory_first_frame *first,
                                      void *user)
{
    a->first = first;
    a->user = user;
}

collet_status trajectory_arrangement_apart(trajectory_arrangement *a, trajectory_frames *read,
                                           trajectory_frames *out, collet_error *err)
{
    trajectory_first_frame *first = a->first;
    const trajectory_arrangement_notes notes = a->notes;
    int was = atomic_load(&a->prepared);
    collet_status status;

    if (!a->arranger.frame)
        return COLLET_OK;
    a->first = NULL;
    status = arrange_frame(a, read, 0, out, 0, err);
    a->first = first;
    a->notes = notes;
    atomic_store(&a->prepared, was);
    return status;
}

void trajectory_arrangement_get_notes(const trajectory_arrangement *a,
                                      trajectory_arrangement_notes *notes)
{
    const trajectory_images *images = a->images;
    int64_t row;

    *notes = a->notes;
    if (images && images->far > 0) {
        notes->far = images->far;
        notes->far_frame = images->far_frame;
        notes->far_atom = a->atoms[a->sources[trajectory_images_row(images, images->far_molecule)]];
    } else if (a->drift) {
        notes->far = trajectory_drift_far(a->drift, &notes->far_frame, &row);
        notes->far_atom = notes->far > 0 ? a->atoms[row] : 0;
    }
}

int trajectory_arrangement_follows(const trajectory_arrangement *a)
{
    return a->paths && a->paths->alone;
}

int64_t trajectory_arrangement_system(const trajectory_arrangement *a)
{
    return a->n_system;
}

/* ---- Making ------------------------------------------------------------------------------ */

/* Finds the molecules of the atoms that are read and, if molecules are moved, those of the members. */
static collet_status make_molecules(trajectory_arrangement *a,
                                    const trajectory_arrangement_setup *setup,
                                    const trajectory_molecules *all, collet_error *err)
{
    collet_status status =
        trajectory_molecules_subset(all, a->atoms, a->n_atoms, &a->molecules, err);
    int64_t *of;

    if (status != COLLET_OK)
        return status;
    of = calloc((size_t)a->n_members, sizeof *of);
    a->others = malloc((size_t)a->molecules->count + 1);
    if (!of || !a->others) {
        free(of);
        return collet_fail(err, COLLET_NO_MEMORY, "no memory to move %lld atoms",
                           (long long)a->n_members);
    }
    memset(a->others, 1, (size_t)a->molecules->count);
    for (int64_t i = 0; i < a->n_members; i++) {
        of[i] = a->molecules->of[a->sources[i]];
        a->others[of[i]] = 0;
    }
    if (a->pbc == COLLET_TRAJECTORY_PBC_NOJUMP || a->pbc == COLLET_TRAJECTORY_PBC_CENTER)
        status = trajectory_images_create(of, a->n_members, a->molecules->count, setup->masses,
                                          &a->images, err);
    if (status == COLLET_OK && a->pbc == COLLET_TRAJECTORY_PBC_NOJUMP)
        status = trajectory_paths_create(of, setup->offsets, setup->n_bodies, &a->paths, err);
    free(of);
    return status;
}

/* Counts the molecules of the system, and creates its drift. */
static collet_status make_drift(trajectory_arrangement *a,
                                const trajectory_arrangement_setup *setup, collet_error *err)
{
    const trajectory_system *system = setup->system;
    uint8_t *found;

    if (!system)
        return COLLET_OK;
    const trajectory_drift_setup drift = {.removed = setup->drift,
                                          .pbc = setup->pbc,
                                          .rows = a->system,
                                          .masses = system->masses,
                                          .n = system->n};
    found = calloc((size_t)a->molecules->count + 1, 1);
    if (!found)
        return collet_fail(err, COLLET_NO_MEMORY, "drift: no memory for %lld molecules",
                           (long long)a->molecules->count);
    for (int64_t i = 0; i < system->n; i++) {
        uint8_t *molecule = &found[a->molecules->of[a->system[i]]];

        a->n_system += !*molecule;
        *molecule = 1;
    }
    free(found);
    return trajectory_drift_create(&drift, &a->drift, err);
}

/* Lists the atoms to be read, and the index in this list of each member and of each atom of the system and the choice.
 * 0: out of memory. */
static int fill_lists(trajectory_arrangement *a, const trajectory_arrangement_setup *setup,
                      const trajectory_molecules *all, int64_t *places, uint8_t *needed)
{
    int64_t n;

    mark_atoms(setup->members, setup->n_members, a->pbc, all, needed, places);
    if (setup->choice) {
        const int64_t *atoms = trajectory_choice_atoms(setup->choice, &n);

        mark_atoms(atoms, n, a->pbc, all, needed, places);
    }
    if (setup->system)
        mark_atoms(setup->system->atoms, setup->system->n, a->pbc, all, needed, places);
    a->n_atoms = list_atoms(a->atoms, setup->topology->n_atoms, places);
    for (int64_t i = 0; i < setup->n_members; i++)
        a->sources[i] = places[setup->members[i]];
    for (int64_t i = 0; setup->system && i < setup->system->n; i++)
        a->system[i] = places[setup->system->atoms[i]];
    return !setup->choice || take_choice(a, setup, places);
}

static collet_status make_lists(trajectory_arrangement *a,
                                const trajectory_arrangement_setup *setup,
                                const trajectory_molecules *all, collet_error *err)
{
    size_t n_members = (size_t)setup->n_members, n_topology = (size_t)setup->topology->n_atoms;
    int64_t *places = calloc(n_topology, sizeof *places);
    uint8_t *needed = calloc((size_t)all->count, 1);
    int filled;

    a->n_members = setup->n_members;
    a->atoms = calloc(n_topology, sizeof *a->atoms);
    a->sources = calloc(n_members, sizeof *a->sources);
    a->system = calloc(setup->system ? (size_t)setup->system->n : 1, sizeof *a->system);
    filled = places && needed && a->atoms && a->sources && a->system &&
             fill_lists(a, setup, all, places, needed);
    free(places);
    free(needed);
    return filled ? COLLET_OK
                  : collet_fail(err, COLLET_NO_MEMORY, "no memory to arrange %lld atoms",
                                (long long)setup->n_members);
}

static void set_arranger(trajectory_arrangement *a)
{
    int in_place = !a->choice && same_order(a);
    int whole = a->pbc != COLLET_TRAJECTORY_PBC_NONE && a->molecules->count < a->n_atoms;
    int64_t n_system = a->drift ? trajectory_drift_rows(a->drift) : 0;
    int in_order = a->paths || n_system > 0;

    if (!in_place || whole || a->images || a->drift)
        a->arranger = (trajectory_arranger){
            .user = a,
            .n_atoms = a->n_members,
            .in_place = in_place,
            .chooses = a->choice != NULL,
            .n_system = n_system,
            .n_bodies = a->paths ? a->paths->n_bodies : 0,
            .frame = arrange_frame,
            .in_order = in_order ? follow_frames : NULL};
}

collet_status trajectory_arrangement_create(const trajectory_arrangement_setup *setup,
                                            trajectory_arrangement **out, collet_error *err)
{
    trajectory_arrangement *a = calloc(1, sizeof *a);
    trajectory_molecules *all = NULL;
    collet_status status;

    *out = NULL;
    if (!a)
        return collet_fail(err, COLLET_NO_MEMORY, "no memory to arrange %lld atoms",
                           (long long)setup->n_members);
    pthread_mutex_init(&a->lock, NULL);
    a->pbc = setup->pbc;
    status = trajectory_molecules_create(setup->topology, &all, err);
    if (status == COLLET_OK)
        status = make_lists(a, setup, all, err);
    if (status == COLLET_OK)
        status = make_molecules(a, setup, all, err);
    if (status == COLLET_OK)
        status = make_drift(a, setup, err);
    if (status == COLLET_OK)
        a->notes.known = a->molecules->known;
    trajectory_molecules_free(all);
    if (status != COLLET_OK) {
        trajectory_arrangement_free(a);
        return status;
    }
    set_arranger(a);
    *out = a;
    return COLLET_OK;
}

void trajectory_arrangement_free(trajectory_arrangement *a)
{
    if (!a)
        return;
    trajectory_tree_free(a->tree);
    trajectory_images_free(a->images);
    trajectory_paths_free(a->paths);
    trajectory_drift_free(a->drift);
    trajectory_molecules_free(a->molecules);
    pthread_mutex_destroy(&a->lock);
    free(a->atoms);
    free(a->sources);
    free(a->system);
    free(a->choice_rows);
    free(a->choice_members);
    free(a->masses);
    free(a->others);
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
