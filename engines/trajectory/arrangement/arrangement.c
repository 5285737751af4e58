/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_arrangement.c, python/tests/md/test_md_paths.py */
#include "arrangement.h"

#include "drift.h"
#include "images.h"
#include "trajectory/formats/frames.h"

#include <collet/trajectory.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/*
 * Finds, for each body and frame, the move that leads to a path without jumps through the periodic box.
 *
 * A body's move is the shift of the molecule of its first atom. Kernels sum over positions without this move; the move
 * is added to the results (the centre of mass, positions) afterwards. So the move does not cost precision, and results
 * of a later part of a trajectory can be moved again, to the path of the earlier part (collet-merge). Before the sums,
 * only a body's other molecules are moved: each by its own shift minus the body's move.
 */

typedef struct trajectory_paths {
    int64_t n_bodies;
    int64_t *offsets; /* n_bodies + 1: body b has the rows offsets[b] to offsets[b + 1] - 1 of a frame */
    int64_t *of;      /* the molecule of each row, as in trajectory_images_create */
    int alone;        /* 1: no body has atoms of several molecules */
} trajectory_paths;

/* NULL is allowed. */
static void trajectory_paths_free(trajectory_paths *p)
{
    if (!p)
        return;
    free(p->offsets);
    free(p->of);
    free(p);
}

/* `of` and `offsets` are copied. COLLET_NO_MEMORY; on an error *out is NULL. */
static collet_status trajectory_paths_create(const int64_t *of, const int64_t *offsets,
                                             int64_t n_bodies, trajectory_paths **out,
                                             collet_error *err)
{
    size_t rows = (size_t)offsets[n_bodies], n = (size_t)n_bodies + 1;
    trajectory_paths *p = *out = calloc(1, sizeof *p);

    if (p) {
        p->offsets = malloc(n * sizeof *offsets);
        p->of = malloc((rows + 1) * sizeof *of);
    }
    if (!p || !p->offsets || !p->of) {
        trajectory_paths_free(p);
        *out = NULL;
        return collet_fail(err, COLLET_NO_MEMORY, "no memory for the paths of %lld bodies",
                           (long long)n_bodies);
    }
    memcpy(p->offsets, offsets, n * sizeof *offsets);
    memcpy(p->of, of, rows * sizeof *of);
    p->n_bodies = n_bodies;
    p->alone = 1;
    for (int64_t b = 0; b < n_bodies; b++)
        for (int64_t row = offsets[b] + 1; row < offsets[b + 1]; row++)
            p->alone &= of[row] == of[offsets[b]];
    return COLLET_OK;
}

/* Moves each row of body b by the difference between its molecule's shift and the body's shift. */
static void move_others(const trajectory_paths *p, const trajectory_images *images, int64_t b,
                        trajectory_frames *frames, int64_t i)
{
    const double *own = images->shifts + 3 * p->of[p->offsets[b]];

    for (int64_t row = p->offsets[b]; row < p->offsets[b + 1]; row++) {
        const double *shift = images->shifts + 3 * p->of[row];

        for (int k = 0; k < 3 && shift != own; k++) {
            int64_t e = 3 * (i * frames->n_atoms + row) + k;
            double value = trajectory_frames_value(frames, frames->positions, e) + (shift[k] - own[k]);

            if (frames->dtype == COLLET_F64)
                ((double *)frames->positions)[e] = value;
            else
                ((float *)frames->positions)[e] = (float)value;
        }
    }
}

/* Tracks the molecules in frame i, and sets the frame's `centres` and `moves`. Call this function in the order of the
 * frames. lattice NULL: the frame has no box. */
static void trajectory_paths_follow(const trajectory_paths *p, trajectory_images *images,
                             const trajectory_lattice *lattice, trajectory_frames *frames, int64_t i)
{
    size_t real = frames->dtype == COLLET_F64 ? sizeof(double) : sizeof(float);
    const char *positions = (const char *)frames->positions + (size_t)(3 * i * frames->n_atoms) * real;

    trajectory_images_track(images, lattice, frames->dtype, positions, frames->indices[i]);
    for (int64_t b = 0; b < p->n_bodies; b++) {
        int64_t molecule = p->of[p->offsets[b]];

        for (int k = 0; k < 3; k++) {
            int64_t e = 3 * (i * p->n_bodies + b) + k;

            frames->centres[e] = images->fixed[molecule] ? (double)NAN : images->before[3 * molecule + k];
            frames->moves[e] = images->shifts[3 * molecule + k];
        }
        if (!p->alone)
            move_others(p, images, b, frames, i);
    }
}

struct trajectory_arrangement {
    trajectory_arranger arranger;
    uint32_t pbc;
    trajectory_members members;
    trajectory_molecules *molecules; /* molecules of the atoms that are read */
    uint8_t *others;                 /* for each molecule, 1: the molecule has no member */
    trajectory_images *images;       /* images of the members; NULL: molecules are not moved */
    trajectory_paths *paths;         /* paths of the bodies; NULL: bodies are not followed */
    trajectory_drift *drift;         /* NULL: no drift is removed */
    int64_t n_system;                /* molecules of the system */

    trajectory_first_frame *first; /* reads the deciding frame; NULL: frames come in order */
    void *user;
    int64_t number; /* number of the first frame */

    pthread_mutex_t lock; /* held to prepare */
    atomic_int prepared;
    trajectory_tree *tree; /* tree of the atoms that are read; NULL: molecules are not made whole */
    trajectory_arrangement_notes notes;
};

/* ---- A frame ----------------------------------------------------------------------------- */

static void *row_of(const trajectory_frames *frames, void *array, int64_t i)
{
    size_t real = frames->dtype == COLLET_F64 ? sizeof(double) : sizeof(float);

    return (uint8_t *)array + (size_t)(i * frames->n_atoms) * 3 * real;
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
        trajectory_members_gather(&a->members, read, i, out, k);
    if (a->drift)
        trajectory_drift_remove(a->drift, read, i, out, k);
    if (a->members.choice)
        status = trajectory_members_choose(&a->members, read, i, out, k, err);
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
            notes->left_atom[why] = a->members.atoms[m->atoms[m->offsets[k]]];
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
    cut->atom = a->members.atoms[cut->atom];
    if (cut->count > 0 && cut->next >= 0)
        cut->next = a->members.atoms[cut->next];
    return status;
}

/* Decides how molecules are made whole, and which molecules are cut, from one frame. Changes `positions`, the positions
 * of the atoms that are read. `box` must not be flat. */
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
    double *positions = malloc((size_t)a->members.n_atoms * 3 * sizeof *positions);
    collet_status status;

    if (!positions)
        return collet_fail(err, COLLET_NO_MEMORY, "no memory for %lld molecules",
                           (long long)a->molecules->count);
    for (int64_t k = 0; k < 3 * a->members.n_atoms; k++)
        positions[k] = trajectory_frames_value(read, row, k);
    status = learn(a, positions, read->boxes + 9 * i, err);
    free(positions);
    a->notes.frame = read->indices[i];
    atomic_store(&a->prepared, status == COLLET_OK);
    return status;
}

/* The first frame with a box always decides. If a thread reaches a later frame before another thread reaches the first
 * frame, the first frame is read once more. */
static collet_status learn_from_first(trajectory_arrangement *a, const trajectory_frames *read,
                                      int64_t i, collet_error *err)
{
    trajectory_frames *first = NULL;
    int reads = a->first && read->indices[i] != a->number;
    collet_status status = reads ? a->first(a->user, &first, err) : COLLET_OK;

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

    for (int64_t i = 0; i < read->n_frames && read->n_atoms == a->members.n_atoms && status == COLLET_OK &&
                        !atomic_load(&a->prepared);
         i++)
        if (trajectory_lattice_exists(read->boxes + 9 * i))
            status = prepare_at(a, read, i, err);
    return status;
}

void trajectory_arrangement_set_first(trajectory_arrangement *a, trajectory_first_frame *first,
                                      void *user, int64_t number)
{
    a->first = first;
    a->user = user;
    a->number = number;
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

int trajectory_arrangement_is_decided(const trajectory_arrangement *a)
{
    return atomic_load(&a->prepared);
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
        row = trajectory_images_row(images, images->far_molecule);
        notes->far_atom = a->members.atoms[a->members.sources[row]];
    } else if (a->drift) {
        notes->far = trajectory_drift_far(a->drift, &notes->far_frame, &row);
        notes->far_atom = notes->far > 0 ? a->members.atoms[row] : 0;
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

/* Finds the molecules of the atoms that are read and, if molecules are moved, the molecules of the members. */
static collet_status make_molecules(trajectory_arrangement *a,
                                    const trajectory_arrangement_setup *setup,
                                    const trajectory_molecules *all, collet_error *err)
{
    collet_status status =
        trajectory_molecules_subset(all, a->members.atoms, a->members.n_atoms, &a->molecules, err);
    int64_t *of;

    if (status != COLLET_OK)
        return status;
    of = calloc((size_t)a->members.n_members, sizeof *of);
    a->others = malloc((size_t)a->molecules->count + 1);
    if (!of || !a->others) {
        free(of);
        return collet_fail(err, COLLET_NO_MEMORY, "no memory to move %lld atoms",
                           (long long)a->members.n_members);
    }
    memset(a->others, 1, (size_t)a->molecules->count);
    for (int64_t i = 0; i < a->members.n_members; i++) {
        of[i] = a->molecules->of[a->members.sources[i]];
        a->others[of[i]] = 0;
    }
    if (a->pbc == COLLET_TRAJECTORY_PBC_NOJUMP || a->pbc == COLLET_TRAJECTORY_PBC_CENTER)
        status = trajectory_images_create(of, a->members.n_members, a->molecules->count, setup->masses,
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
                                          .rows = a->members.system,
                                          .masses = system->masses,
                                          .n = system->n};
    found = calloc((size_t)a->molecules->count + 1, 1);
    if (!found)
        return collet_fail(err, COLLET_NO_MEMORY, "drift: no memory for %lld molecules",
                           (long long)a->molecules->count);
    for (int64_t i = 0; i < system->n; i++) {
        uint8_t *molecule = &found[a->molecules->of[a->members.system[i]]];

        a->n_system += !*molecule;
        *molecule = 1;
    }
    free(found);
    return trajectory_drift_create(&drift, &a->drift, err);
}

static void set_arranger(trajectory_arrangement *a)
{
    int in_place = trajectory_members_are_read(&a->members);
    int whole = a->pbc != COLLET_TRAJECTORY_PBC_NONE && a->molecules->count < a->members.n_atoms;
    int64_t n_system = a->drift ? trajectory_drift_rows(a->drift) : 0;
    int in_order = a->paths || n_system > 0;

    if (!in_place || whole || a->images || a->drift)
        a->arranger = (trajectory_arranger){
            .user = a,
            .n_atoms = a->members.n_members,
            .in_place = in_place,
            .chooses = a->members.choice != NULL,
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
        status = trajectory_members_create(&a->members, setup, all, err);
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
    trajectory_members_free(&a->members);
    free(a->others);
    free(a);
}

const int64_t *trajectory_arrangement_atoms(const trajectory_arrangement *a, int64_t *n)
{
    *n = a->members.n_atoms;
    return a->members.atoms;
}

const trajectory_arranger *trajectory_arrangement_arranger(const trajectory_arrangement *a)
{
    return a->arranger.frame ? &a->arranger : NULL;
}
