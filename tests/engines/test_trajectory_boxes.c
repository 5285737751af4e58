/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes: shortest images in any box, molecules made whole, followed, centred and packed. */

#include "common/test.h"
#include "trajectory/arrangement/images.h"
#include "trajectory/arrangement/tree.h"

static const double cube[9] = {3, 0, 0, 0, 3, 0, 0, 0, 3};

static double uniform(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) / 9007199254740992.0;
}

static double square(const double d[3])
{
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
}

static trajectory_lattice lattice_of(const double box[9])
{
    trajectory_lattice lattice;

    assert_true(trajectory_lattice_make(&lattice, box));
    return lattice;
}

/* ---- Lattices ---------------------------------------------------------------------------- */

/* The squared length of the shortest image, found by trying more images than the most tilted box
 * needs. */
static double search(const double box[9], const double d[3])
{
    double shortest = HUGE_VAL;

    for (int a = -40; a <= 40; a++)
        for (int b = -20; b <= 20; b++)
            for (int c = -6; c <= 6; c++) {
                double image[3];

                for (int i = 0; i < 3; i++)
                    image[i] = d[i] + a * box[i] + b * box[3 + i] + c * box[6 + i];
                shortest = fmin(shortest, square(image));
            }
    return shortest;
}

TEST(shortest_images_in_any_box)
{
    static const double boxes[][9] = {
        {3, 0, 0, 0, 3, 0, 0, 0, 3},
        {3, 0, 0, 0, 2, 0, 0, 0, 5},
        {4, 0, 0, 0, 4, 0, 2, 2, 2.828427},                              /* dodecahedron */
        {4, 0, 0, 1.333333, 3.771236, 0, -1.333333, 1.885618, 3.265986}, /* octahedron */
        {4, 0, 0, 2, 3.464102, 0, 0, 0, 6},                              /* hexagonal */
        {2, 0, 0, 3.9, 1, 0, -5.2, 4.1, 1.5}, /* tilted by more than its lengths */
        {1, 2, 3, -2, 1, 0.5, 0.3, -1, 2},    /* not triangular */
    };
    uint64_t seed = 7;

    for (size_t k = 0; k < sizeof boxes / sizeof *boxes; k++) {
        const trajectory_lattice lattice = lattice_of(boxes[k]);

        for (int n = 0; n < 100; n++) {
            double d[3], before[3], difference[3], fractions[3];

            for (int i = 0; i < 3; i++)
                d[i] = before[i] = 8 * uniform(&seed) - 4;
            int other = trajectory_lattice_shorten(&lattice, d);
            assert_true(fabs(square(d) - search(boxes[k], before)) < 1e-9);
            assert_int_equal(other, memcmp(d, before, sizeof d) != 0);
            for (int i = 0; i < 3; i++)
                difference[i] = d[i] - before[i];
            trajectory_lattice_fractions(&lattice, difference, fractions);
            for (int i = 0; i < 3; i++)
                assert_true(fabs(fractions[i] - nearbyint(fractions[i])) < 1e-9);
        }
    }
}

TEST(boxes_without_periods)
{
    const double zeros[9] = {0}, flat[9] = {1, 0, 0, 2, 0, 0, 0, 0, 1};
    const double nan_box[9] = {3, 0, 0, 0, (double)NAN, 0, 0, 0, 3};
    const double slab[9] = {3, 0, 0, 0, 3, 0, 0, 0, 0};
    double d[3] = {2.9, -1.6, 70}, bad[3] = {2.9, (double)NAN, 0};
    trajectory_lattice lattice;

    assert_false(trajectory_lattice_make(&lattice, zeros));
    assert_false(trajectory_lattice_make(&lattice, flat));
    assert_false(trajectory_lattice_make(&lattice, nan_box));
    assert_false(trajectory_lattice_exists(nan_box));
    assert_true(trajectory_lattice_exists(slab));
    lattice = lattice_of(slab);
    assert_true(trajectory_lattice_shorten(&lattice, d));
    assert_true(fabs(d[0] + 0.1) < 1e-12 && fabs(d[1] - 1.4) < 1e-12 && d[2] == 70);
    assert_false(trajectory_lattice_shorten(&lattice, bad));
    assert_true(bad[0] == 2.9 && isnan(bad[1]));
    for (int missing = 0; missing < 3; missing++) {
        double turned[9] = {0}, e[3] = {2.9, 70, -1.6}, one[9] = {0}, f[3] = {70, 2.9, 70};

        turned[3 * ((missing + 1) % 3)] = turned[3 * ((missing + 2) % 3) + 2] = 3;
        lattice = lattice_of(turned); /* a and b not in the xy plane */
        assert_true(trajectory_lattice_shorten(&lattice, e));
        assert_true(fabs(e[0] + 0.1) < 1e-12 && e[1] == 70 && fabs(e[2] - 1.4) < 1e-12);
        one[3 * missing + 1] = 3;
        lattice = lattice_of(one);
        assert_true(trajectory_lattice_shorten(&lattice, f));
        assert_true(f[0] == 70 && fabs(f[1] + 0.1) < 1e-12 && f[2] == 70);
    }
}

/* ---- Whole molecules --------------------------------------------------------------------- */

static trajectory_tree *tree_of(const trajectory_bond *bonds, int64_t n_bonds,
                                const int64_t *offsets, int64_t n, int64_t n_atoms,
                                const double *positions, const double box[9])
{
    trajectory_molecules *molecules;
    trajectory_tree *tree;
    const trajectory_lattice lattice = lattice_of(box);

    assert_int_equal(
        trajectory_molecules_from(n_atoms, bonds, n_bonds, offsets, n, &molecules, NULL),
        COLLET_OK);
    assert_int_equal(trajectory_tree_create(molecules, positions, &lattice, &tree, NULL),
                     COLLET_OK);
    trajectory_molecules_free(molecules);
    return tree;
}

#define LONG 40

/* Wraps a helix of LONG atoms, longer than the box, atom by atom. */
static void make_helix(double whole[3 * LONG], double wrapped[3 * LONG], const double box[9])
{
    const trajectory_lattice lattice = lattice_of(box);

    for (int a = 0; a < LONG; a++) {
        double *at = whole + 3 * a, fractions[3];

        at[0] = 0.1 + 0.3 * cos(0.5 * a);
        at[1] = 0.2 + 0.3 * sin(0.5 * a);
        at[2] = 2.9 - 0.1 * a;
        trajectory_lattice_fractions(&lattice, at, fractions);
        for (int i = 0; i < 3; i++)
            wrapped[3 * a + i] = at[i];
        for (int v = 0; v < 3 && a > 0; v++)
            for (int i = 0; i < 3; i++)
                wrapped[3 * a + i] -= floor(fractions[v]) * box[3 * v + i];
    }
}

/* A molecule longer than the box is made whole by its bonds, in a shuffled order, and by distances
 * alone. */
TEST(a_molecule_longer_than_the_box)
{
    static const double tilted[9] = {3, 0, 0, 2.5, 2.2, 0, -4.1, 1.9, 2.4};
    const int64_t offsets[2] = {0, LONG};
    trajectory_bond bonds[LONG - 1];
    double whole[3 * LONG], wrapped[3 * LONG], copy[3 * LONG];
    float single[3 * LONG];

    for (int b = 0; b < LONG - 1; b++)
        bonds[b * 7 % (LONG - 1)] = (trajectory_bond){b, b + 1};
    for (int by_bonds = 0; by_bonds < 2; by_bonds++)
        for (int k = 0; k < 2; k++) {
            const double *box = k ? tilted : cube;
            const trajectory_lattice lattice = lattice_of(box);

            make_helix(whole, wrapped, box);
            trajectory_tree *tree = by_bonds ? tree_of(bonds, LONG - 1, NULL, 0, LONG, wrapped, box)
                                             : tree_of(NULL, 0, offsets, 1, LONG, wrapped, box);
            assert_int_equal(tree->n, LONG - 1);
            memcpy(copy, wrapped, sizeof copy);
            for (int i = 0; i < 3 * LONG; i++)
                single[i] = (float)wrapped[i];
            trajectory_tree_place(tree, &lattice, COLLET_F64, copy);
            trajectory_tree_place(tree, &lattice, COLLET_F32, single);
            for (int i = 0; i < 3 * LONG; i++) {
                assert_true(fabs(copy[i] - whole[i]) < 1e-12);
                assert_true(fabs((double)single[i] - whole[i]) < 1e-6);
            }
            trajectory_tree_free(tree);
        }
    trajectory_tree_free(NULL);
}

/* A ring is made whole. A chain that is bonded to its own image is left as it is. */
TEST(molecules_without_an_end)
{
    static const double ring[12] = {0, 0, 0, 2.8, 0, 0, 2.8, 2.8, 0, 0, 2.8, 0};
    static const double chain[12] = {0, 0, 0, 0.8, 0, 0, 1.6, 0, 0, 2.4, 0, 0};
    static const trajectory_bond bonds[] = {{0, 1}, {0, 3}, {1, 2}, {2, 3}};
    const int64_t offsets[2] = {0, 4};

    trajectory_tree *tree = tree_of(bonds, 4, NULL, 0, 4, ring, cube);
    assert_int_equal(tree->n, 3);
    assert_int_equal(tree->left[0], TRAJECTORY_PLACED);
    trajectory_tree_free(tree);
    tree = tree_of(bonds, 4, NULL, 0, 4, chain, cube);
    assert_int_equal(tree->n, 0);
    assert_int_equal(tree->left[0], TRAJECTORY_ENDLESS);
    trajectory_tree_free(tree);
    tree = tree_of(NULL, 0, offsets, 1, 4, chain, cube);
    assert_int_equal(tree->left[0], TRAJECTORY_ENDLESS);
    trajectory_tree_free(tree);
}

TEST(residues_too_large_to_join)
{
    const int64_t n = TRAJECTORY_SPAN_MOST + 1, offsets[2] = {0, n};
    FREED(double) *positions = calloc(3 * (size_t)n, sizeof *positions);

    assert_non_null(positions);
    trajectory_tree *tree = tree_of(NULL, 0, offsets, 1, n, positions, cube);
    assert_int_equal(tree->n, 0);
    assert_int_equal(tree->left[0], TRAJECTORY_UNJOINED);
    trajectory_tree_free(tree);
}

/* An atom without a finite position is not moved, nor are the atoms next to it. */
TEST(positions_that_are_not_finite)
{
    double at[9] = {0.1, 0.1, 0.1, (double)NAN, 0, 0, 2.9, 0.1, 0.1};
    const int64_t offsets[2] = {0, 3};
    const trajectory_lattice lattice = lattice_of(cube);

    trajectory_tree *tree = tree_of(NULL, 0, offsets, 1, 3, at, cube);
    trajectory_tree_place(tree, &lattice, COLLET_F64, at);
    assert_true(fabs(at[6] + 0.1) < 1e-12);
    assert_true(isnan(at[3]));
    trajectory_tree_free(tree);
}

/* ---- Images ------------------------------------------------------------------------------ */

static trajectory_images *images_of(const int64_t *of, int64_t n, int64_t count,
                                    const double *weights)
{
    trajectory_images *images;

    assert_int_equal(trajectory_images_create(of, n, count, weights, &images, NULL), COLLET_OK);
    return images;
}

/* Two atoms of one molecule and one atom of another molecule; their steps are wrapped into a box that grows. */
TEST(paths_without_jumps)
{
    static const int64_t of[] = {0, 1, 0};
    trajectory_images *images = images_of(of, 3, 2, NULL);
    double path = 1.4;

    for (int f = 0; f < 40; f++) {
        double edge = 3 + 0.01 * f, box[9] = {edge, 0, 0, 0, edge, 0, 0, 0, edge};
        const trajectory_lattice lattice = lattice_of(box);
        double x = path - edge * floor(path / edge);
        double at[9] = {x, 0, 0, 1, 1, 1, x + 0.2, 0, 0};
        static double last, followed;

        trajectory_images_follow(images, f == 20 ? NULL : &lattice, COLLET_F64, at, f);
        if (f > 0 && f != 20 && f != 21) {
            double step = x - last;

            step -= edge * nearbyint(step / edge);
            assert_true(fabs(at[0] - followed - step) < 1e-12);
        }
        assert_true(fabs(at[6] - at[0] - 0.2) < 1e-12);
        assert_true(at[3] == 1 && at[4] == 1 && at[5] == 1);
        last = x;
        followed = at[0];
        path += 0.7;
    }
    assert_int_equal(images->far, 0); /* 0.47 of the way to the next image */
    trajectory_images_free(images);
    trajectory_images_free(NULL);
}

/* Steps of more than 0.4 of the box are counted as far. The boxes describe one periodic lattice, by the vectors of a cube
 * and by skewed vectors. */
TEST(steps_of_half_a_box)
{
    static const double boxes[2][9] = {{3, 0, 0, 0, 3, 0, 0, 0, 3}, {3, 0, 0, 3, 3, 0, 0, 3, 3}};
    static const int64_t of[] = {0, 1, 1};
    static const double steps[] = {0.5, -1.15, 1.25, -1.4, 1.7, 0};
    for (int k = 0; k < 2; k++) {
        trajectory_images *images = images_of(of, 3, 2, NULL);
        const trajectory_lattice lattice = lattice_of(boxes[k]);
        double y = 0;
        assert_true(fabs(trajectory_lattice_fill(&lattice, (const double[3]){0, -1.5, 0}) - 1) < 1e-12);
        assert_true(fabs(trajectory_lattice_fill(&lattice, (const double[3]){.3, .6, -.9}) - 0.6) < 1e-12);
        for (int f = 0; f < 6; f++) {
            double at[9] = {1, 1, 1, 0, y, 0, 0, y, 0};
            trajectory_images_follow(images, &lattice, COLLET_F64, at, 10 + f);
            y += steps[f];
        }
        assert_int_equal(images->far, 3); /* 1.25, -1.4 and 1.7, which is -1.3 */
        assert_int_equal(images->far_frame, 13);
        assert_int_equal(images->far_molecule, 1);
        assert_int_equal(trajectory_images_row(images, 1), 1);
        trajectory_images_free(images);
    }
}

TEST(centres_and_packs)
{
    static const int64_t of[] = {0, 1, 1, 2};
    static const double weights[] = {3, 1, 1, 0};
    static const double start[12] = {0.1, 0, 0, 2.9, 0, 0, 3.1, 0, 0, 7, -4, 0.5};
    double at[12];
    float single[12];
    const trajectory_lattice lattice = lattice_of(cube);
    trajectory_images *images = images_of(of, 4, 3, weights);

    images->fixed[2] = 1;
    memcpy(at, start, sizeof at);
    trajectory_images_pack(images, &lattice, COLLET_F64, at);
    assert_true(at[0] == 0.1 && fabs(at[3] + 0.1) < 1e-12 && fabs(at[6] - 0.1) < 1e-12);
    assert_true(at[9] == 7);
    memcpy(at, start, sizeof at);
    for (int i = 0; i < 12; i++)
        single[i] = (float)start[i];
    trajectory_images_center(images, &lattice, COLLET_F64, at);
    trajectory_images_center(images, &lattice, COLLET_F32, single);
    /* Molecule 1 is at 0, next to molecule 0. Their centre, 0.06, is moved to 1.5. */
    assert_true(fabs(at[0] - 1.54) < 1e-12 && fabs(at[3] - 1.34) < 1e-12);
    assert_true(fabs(at[9] - 8.44) < 1e-12 && fabs(at[1] - 1.5) < 1e-12);
    for (int i = 0; i < 12; i++)
        assert_true(fabs((double)single[i] - at[i]) < 1e-6);
    trajectory_images_free(images);
}
