/* SPDX-License-Identifier: Apache-2.0 */
/* collet_trajectory_place, which moves molecules whose positions are in arrays of the program. */
#include <collet/trajectory.h>

#include "common/test.h"

static const double cube[9] = {3, 0, 0, 0, 3, 0, 0, 0, 3};
static const int64_t bonds[4] = {0, 1, 2, 1};
static const int64_t offsets[3] = {0, 3, 4};
static const double start[24] = {2.8, 0, 0, 3.1, 0, 0, 0.2, 0, 0, -1, 0, 0,
                                 0.1, 0, 0, 0.4, 0, 0, 0.5, 0, 0, 1,  0, 0};

/* Two frames with a molecule of three atoms and a single atom. */
static collet_trajectory_places two_frames(double *positions)
{
    memcpy(positions, start, sizeof start);
    return (collet_trajectory_places){.struct_size = sizeof(collet_trajectory_places),
                                      .dtype = COLLET_F64,
                                      .positions = positions,
                                      .n_frames = 2,
                                      .n_atoms = 4,
                                      .boxes = cube,
                                      .n_boxes = 1,
                                      .bonds = bonds,
                                      .n_bonds = 2};
}

static void expect_x(const double *positions, const double x[8])
{
    for (int i = 0; i < 8; i++)
        assert_true(fabs(positions[3 * i] - x[i]) < 1e-12);
}

TEST(each_way)
{
    static const double expected[3][8] = {
        {2.8, 3.1, 3.2, -1, 0.1, 0.4, 0.5, 1},
        {2.8, 3.1, 3.2, -1, 3.1, 3.4, 3.5, -2},
        {-0.2, 0.1, 0.2, 2, 0.1, 0.4, 0.5, 1},
    };
    double at[24];

    for (uint32_t what = 0; what < 3; what++)
        for (int by_offsets = 0; by_offsets < 2; by_offsets++) {
            collet_trajectory_places p = two_frames(at);

            p.what = what;
            if (by_offsets) {
                p.bonds = NULL;
                p.n_bonds = 0;
                p.offsets = offsets;
                p.n_molecules = 2;
            }
            assert_int_equal(collet_trajectory_place(&p, NULL), COLLET_OK);
            expect_x(at, expected[what]);
            assert_int_equal(p.left, 0);
            assert_int_equal(p.left_atom, -1);
        }
}

/* Packed positions are less than the box length, although 3 - 1e-12 rounds to 3 in f32. */
TEST(packs_what_is_just_outside)
{
    float at[6] = {-1e-12f, 3, 1, -1e-7f, 2, -3};
    collet_trajectory_places p = {.struct_size = sizeof p,
                                  .what = COLLET_TRAJECTORY_PLACE_PACK,
                                  .dtype = COLLET_F32,
                                  .positions = at,
                                  .n_frames = 1,
                                  .n_atoms = 2,
                                  .boxes = cube,
                                  .n_boxes = 1};

    assert_int_equal(collet_trajectory_place(&p, NULL), COLLET_OK);
    assert_memory_equal(at, ((float[]){0, 0, 1, 0, 2, 0}), sizeof at);
}

/* Nothing is moved in a frame without a box (the first), nor in a molecule bonded to its own
 * image. */
TEST(frames_and_molecules_that_are_left)
{
    const int64_t ring[8] = {0, 1, 1, 2, 2, 3, 3, 0};
    const double chain[12] = {0, 0, 0, 0.8, 0, 0, 1.6, 0, 0, 2.4, 0, 0};
    double at[24], boxes[18] = {0};
    collet_trajectory_places p = two_frames(at);

    memcpy(boxes + 9, cube, sizeof cube);
    at[12 + 6] += 3;
    p.boxes = boxes;
    p.n_boxes = 2;
    assert_int_equal(collet_trajectory_place(&p, NULL), COLLET_OK);
    expect_x(at, (const double[]){2.8, 3.1, 0.2, -1, 0.1, 0.4, 0.5, 1});
    p = two_frames(at);
    memcpy(at, chain, sizeof chain);
    p.n_frames = 1;
    p.bonds = ring;
    p.n_bonds = 4;
    assert_int_equal(collet_trajectory_place(&p, NULL), COLLET_OK);
    assert_memory_equal(at, chain, sizeof chain);
    assert_int_equal(p.left, 1);
    assert_int_equal(p.left_atom, 0);
}

static void refuse(collet_trajectory_places p, const char *text)
{
    collet_error err;

    assert_error(collet_trajectory_place(&p, &err), COLLET_INVALID, err, text);
    assert_memory_equal(p.positions, start, sizeof start);
}

#define REFUSE(text, ...)                                                                          \
    do {                                                                                           \
        collet_trajectory_places p = two_frames(at);                                               \
        __VA_ARGS__;                                                                               \
        refuse(p, text);                                                                           \
    } while (0)

TEST(what_is_refused)
{
    const int64_t far[2] = {0, 4}, self[2] = {1, 1}, falling[3] = {0, 5, 4}, late[3] = {1, 2, 4};
    const double flat[9] = {1, 0, 0, 2, 0, 0, 0, 0, 1}, bad[4] = {1, -1, 1, 1};
    double at[24];

    assert_int_equal(collet_trajectory_place(NULL, NULL), COLLET_INVALID);
    REFUSE("what is 3", p.what = 3);
    REFUSE("reserved 1", p.reserved = 1);
    REFUSE("dtype is", p.dtype = COLLET_I64);
    REFUSE("frames of 0 atoms", p.n_atoms = 0);
    REFUSE("3 boxes for 2 frames", p.n_boxes = 3);
    REFUSE("boxes is NULL", p.boxes = NULL);
    REFUSE("bonds is NULL", p.bonds = NULL);
    REFUSE("flat or not finite", p.boxes = flat);
    REFUSE("bond 0 joins atoms 0 and 4 of 4", p.bonds = far; p.n_bonds = 1);
    REFUSE("bond 0 joins atoms 1 and 1", p.bonds = self; p.n_bonds = 1);
    REFUSE("offset 1 of the molecules is 5", p.offsets = falling; p.n_molecules = 2);
    REFUSE("offset 0 of the molecules is 1", p.offsets = late; p.n_molecules = 2);
    REFUSE("offset 2 of the molecules is 4", p.offsets = falling; p.n_molecules = 2; p.n_atoms = 5);
    REFUSE("the mass of atom 1 is -1", p.masses = bad);
}
