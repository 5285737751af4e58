/* SPDX-License-Identifier: Apache-2.0 */
/* Molecules of the program's arrays.
 * Tests: tests/engines/test_trajectory_place.c */
#include "images.h"
#include "tree.h"

#include "io/struct.h"

#include <collet/floating.h>
#include <collet/trajectory.h>
#include <math.h>
#include <stdlib.h>

/* Keeps products of sizes below 2^63. */
#define ATOMS_MOST ((int64_t)1 << 40)

/* ---- Checks ------------------------------------------------------------------------------ */

static collet_status check_sizes(const collet_trajectory_places *p, collet_error *err)
{
    if (p->what > COLLET_TRAJECTORY_PLACE_PACK || p->reserved)
        return collet_fail(err, COLLET_INVALID,
                           "place: what is %u, reserved %u; they must be 0 to 2 and 0", p->what,
                           p->reserved);
    if (p->dtype != COLLET_F32 && p->dtype != COLLET_F64)
        return collet_fail(err, COLLET_INVALID, "place: dtype is %s; it must be f32 or f64",
                           collet_dtype_name(p->dtype));
    if (p->n_atoms < 1 || p->n_atoms > ATOMS_MOST || p->n_frames < 0 || p->n_bonds < 0 ||
        p->n_molecules < 0)
        return collet_fail(err, COLLET_INVALID,
                           "place: %lld frames of %lld atoms, %lld bonds, %lld molecules: atoms "
                           "must be 1 to 2^40, and no number negative",
                           (long long)p->n_frames, (long long)p->n_atoms, (long long)p->n_bonds,
                           (long long)p->n_molecules);
    if (p->n_boxes != 1 && p->n_boxes != p->n_frames)
        return collet_fail(err, COLLET_INVALID,
                           "place: %lld boxes for %lld frames: give one, or one for each",
                           (long long)p->n_boxes, (long long)p->n_frames);
    if ((p->n_frames > 0 && (!p->positions || !p->boxes)) || (p->n_bonds > 0 && !p->bonds))
        return collet_fail(err, COLLET_INVALID, "place: %s is NULL",
                           !p->positions ? "positions"
                           : !p->boxes   ? "boxes"
                                         : "bonds");
    return COLLET_OK;
}

static collet_status check_masses(const collet_trajectory_places *p, collet_error *err)
{
    for (int64_t i = 0; p->masses && i < p->n_atoms; i++)
        if (!(p->masses[i] >= 0) || !isfinite(p->masses[i]))
            return collet_fail(err, COLLET_INVALID,
                               "place: the mass of atom %lld is %g; it must be finite and not "
                               "negative",
                               (long long)i, p->masses[i]);
    return COLLET_OK;
}

static collet_status check_molecules(const collet_trajectory_places *p, collet_error *err)
{
    for (int64_t b = 0; b < p->n_bonds; b++) {
        int64_t i = p->bonds[2 * b], k = p->bonds[2 * b + 1];

        if (i < 0 || k < 0 || i >= p->n_atoms || k >= p->n_atoms || i == k)
            return collet_fail(err, COLLET_INVALID,
                               "place: bond %lld joins atoms %lld and %lld of %lld, counted from 0",
                               (long long)b, (long long)i, (long long)k, (long long)p->n_atoms);
    }
    for (int64_t m = 0; p->offsets && m <= p->n_molecules; m++) {
        int64_t low = m == 0 ? 0 : p->offsets[m - 1];
        int64_t high = m == 0 ? 0 : p->n_atoms;

        if (p->offsets[m] < low || p->offsets[m] > high ||
            (m == p->n_molecules && p->offsets[m] != p->n_atoms))
            return collet_fail(err, COLLET_INVALID,
                               "place: offset %lld of the molecules is %lld; offsets must ascend "
                               "from 0 to the %lld atoms",
                               (long long)m, (long long)p->offsets[m], (long long)p->n_atoms);
    }
    return COLLET_OK;
}

static int is_zero(const double box[9])
{
    for (int i = 0; i < 9; i++)
        if (box[i] != 0)
            return 0;
    return 1;
}

static collet_status check_boxes(const collet_trajectory_places *p, collet_error *err)
{
    int64_t n = p->n_frames > 0 ? p->n_boxes : 0;

    for (int64_t f = 0; f < n; f++)
        if (!is_zero(p->boxes + 9 * f) && !trajectory_lattice_exists(p->boxes + 9 * f))
            return collet_fail(err, COLLET_INVALID,
                               "place: the box of frame %lld is flat or not finite; give zeros "
                               "where there is none",
                               (long long)f);
    return COLLET_OK;
}

/* ---- Work -------------------------------------------------------------------------------- */

typedef struct placing {
    const collet_trajectory_places *given;
    trajectory_molecules *molecules;
    trajectory_tree *tree;     /* NULL until the first frame with a box */
    trajectory_images *images; /* NULL: molecules are not moved */
} placing;

static void *frame_at(const collet_trajectory_places *p, int64_t frame)
{
    size_t real = p->dtype == COLLET_F64 ? sizeof(double) : sizeof(float);

    return (uint8_t *)p->positions + (size_t)(frame * p->n_atoms * 3) * real;
}

static collet_status make_tree(placing *w, int64_t frame, const trajectory_lattice *lattice,
                               collet_error *err)
{
    const collet_trajectory_places *p = w->given;
    size_t n = 3 * (size_t)p->n_atoms;
    const void *from = frame_at(p, frame);
    double *positions = malloc(n * sizeof *positions);
    collet_status status;

    if (!positions)
        return collet_fail(err, COLLET_NO_MEMORY, "place: no memory for %lld atoms",
                           (long long)p->n_atoms);
    for (size_t i = 0; i < n; i++)
        positions[i] =
            p->dtype == COLLET_F64 ? ((const double *)from)[i] : (double)((const float *)from)[i];
    status = trajectory_tree_create(w->molecules, positions, lattice, &w->tree, err);
    free(positions);
    for (int64_t m = 0; status == COLLET_OK && w->images && m < w->molecules->count; m++)
        w->images->fixed[m] = w->tree->left[m] != TRAJECTORY_PLACED;
    return status;
}

static collet_status place_frame(placing *w, int64_t frame, collet_error *err)
{
    const collet_trajectory_places *p = w->given;
    void *positions = frame_at(p, frame);
    trajectory_lattice lattice;
    int has_box = trajectory_lattice_make(&lattice, p->boxes + (p->n_boxes > 1 ? 9 * frame : 0));
    collet_status status = has_box && !w->tree ? make_tree(w, frame, &lattice, err) : COLLET_OK;

    if (status != COLLET_OK)
        return status;
    if (has_box)
        trajectory_tree_place(w->tree, &lattice, p->dtype, positions);
    if (p->what == COLLET_TRAJECTORY_PLACE_UNWRAP)
        trajectory_images_follow(w->images, has_box ? &lattice : NULL, p->dtype, positions, frame);
    else if (p->what == COLLET_TRAJECTORY_PLACE_PACK && has_box)
        trajectory_images_pack(w->images, &lattice, p->dtype, positions);
    return COLLET_OK;
}

static collet_status make_molecules(placing *w, collet_error *err)
{
    const collet_trajectory_places *p = w->given;
    trajectory_bond *bonds = malloc(((size_t)p->n_bonds + 1) * sizeof *bonds);
    collet_status status;

    if (!bonds)
        return collet_fail(err, COLLET_NO_MEMORY, "place: no memory for %lld bonds",
                           (long long)p->n_bonds);
    for (int64_t b = 0; b < p->n_bonds; b++)
        bonds[b] = (trajectory_bond){p->bonds[2 * b], p->bonds[2 * b + 1]};
    status = trajectory_molecules_from(p->n_atoms, bonds, p->n_bonds, p->offsets,
                                       p->offsets ? p->n_molecules : 0, &w->molecules, err);
    free(bonds);
    if (status == COLLET_OK && p->what != COLLET_TRAJECTORY_PLACE_WHOLE)
        status = trajectory_images_create(w->molecules->of, p->n_atoms, w->molecules->count,
                                          p->masses, &w->images, err);
    return status;
}

static void note_left(collet_trajectory_places *p, const placing *w)
{
    for (int64_t m = 0; w->tree && m < w->molecules->count; m++)
        if (w->tree->left[m] != TRAJECTORY_PLACED && p->left++ == 0)
            p->left_atom = w->molecules->atoms[w->molecules->offsets[m]];
}

static void note_far(collet_trajectory_places *p, const trajectory_images *images)
{
    if (!images || images->far == 0)
        return;
    p->far = images->far;
    p->far_frame = images->far_frame;
    p->far_atom = trajectory_images_row(images, images->far_molecule);
}

static collet_status place_all(collet_trajectory_places *p, collet_error *err)
{
    placing w = {.given = p};
    collet_status status = make_molecules(&w, err);

    for (int64_t f = 0; status == COLLET_OK && f < p->n_frames; f++)
        status = place_frame(&w, f, err);
    note_left(p, &w);
    note_far(p, w.images);
    trajectory_images_free(w.images);
    trajectory_tree_free(w.tree);
    trajectory_molecules_free(w.molecules);
    return status;
}

collet_status collet_trajectory_place(collet_trajectory_places *places, collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    collet_trajectory_places own = {0};
    collet_status status;

    if (!places)
        return collet_fail(err, COLLET_INVALID, "collet_trajectory_place: places is NULL");
    status = io_struct_in(&own, sizeof own, places, "collet_trajectory_place", err);
    own.left = 0;
    own.far = 0;
    own.left_atom = own.far_frame = own.far_atom = -1;
    if (status == COLLET_OK)
        status = check_sizes(&own, err);
    if (status == COLLET_OK)
        status = check_masses(&own, err);
    if (status == COLLET_OK)
        status = check_molecules(&own, err);
    if (status == COLLET_OK)
        status = check_boxes(&own, err);
    if (status == COLLET_OK)
        status = place_all(&own, err);
    if (status == COLLET_OK)
        io_struct_out(places, &own, sizeof own);
    return status;
}
