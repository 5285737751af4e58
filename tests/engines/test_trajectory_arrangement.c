/* SPDX-License-Identifier: Apache-2.0 */
/* Arrangement: more atoms may be read; kernels get only the selected ones, in the requested order. */
#include "io_files.h"
#include "trajectory/arrangement/arrangement.h"

#define WATER COLLET_TEST_DATA "/md/water/traj.trr"
#define ATOMS 648

static trajectory_arrangement *arrange(const int64_t *members, int64_t n, uint32_t pbc)
{
    trajectory_topology *topology;
    trajectory_arrangement *a;

    assert_int_equal(
        trajectory_topology_read(COLLET_TEST_DATA "/md/water/conf.gro", NULL, &topology, NULL),
        COLLET_OK);
    const int64_t offsets[] = {0, n};
    const trajectory_arrangement_setup setup = {.topology = topology,
                                                .members = members,
                                                .n_members = n,
                                                .offsets = offsets,
                                                .n_bodies = 1,
                                                .pbc = pbc};
    assert_int_equal(trajectory_arrangement_create(&setup, &a, NULL), COLLET_OK);
    trajectory_topology_free(topology);
    return a;
}

static trajectory_readahead *start(trajectory_reader *t, const trajectory_arranger *arranger)
{
    const trajectory_readahead_options options = {
        .batch_frames = 7, .n_slots = 3, .velocities = 1, .forces = 1, .arranger = arranger};
    trajectory_readahead *ahead;

    assert_int_equal(trajectory_readahead_create(t, &options, &ahead, NULL), COLLET_OK);
    assert_int_equal(trajectory_readahead_start(ahead, NULL), COLLET_OK);
    return ahead;
}

TEST(ascending_members_need_nothing)
{
    const int64_t members[] = {0, 5, 6, 647};
    trajectory_arrangement *a = arrange(members, 4, COLLET_TRAJECTORY_PBC_NONE);
    int64_t n;

    assert_memory_equal(trajectory_arrangement_atoms(a, &n), members, sizeof members);
    assert_int_equal(n, 4);
    assert_null(trajectory_arrangement_arranger(a));
    trajectory_arrangement_free(a);
    trajectory_arrangement_free(NULL);
}

static void compare(const trajectory_frames *frames, int64_t i, const trajectory_frames *whole,
                    const int64_t *members)
{
    const size_t atom = 3 * sizeof(float);
    const struct {
        const uint8_t *got, *expected;
    } fields[] = {{frames->positions, whole->positions},
                  {frames->velocities, whole->velocities},
                  {frames->forces, whole->forces}};

    assert_int_equal(frames->indices[i], whole->indices[0]);
    assert_true(frames->times[i] == whole->times[0]);
    assert_memory_equal(frames->boxes + 9 * i, whole->boxes, 9 * sizeof *whole->boxes);
    for (size_t f = 0; f < 3; f++)
        for (int64_t m = 0; m < frames->n_atoms; m++)
            assert_memory_equal(fields[f].got + (size_t)(i * frames->n_atoms + m) * atom,
                                fields[f].expected + (size_t)members[m] * atom, atom);
}

TEST(members_in_any_order_and_twice)
{
    const int64_t members[] = {600, 3, 3, 0, 647, 600};
    trajectory_arrangement *a = arrange(members, 6, COLLET_TRAJECTORY_PBC_NONE);
    trajectory_reader *t = io_open(WATER), *plain = io_open(WATER);
    trajectory_frames *whole = io_batch(plain, 1, 1);
    const trajectory_frames *frames;
    int64_t n, rows = 0;
    const int64_t *atoms = trajectory_arrangement_atoms(a, &n);

    assert_int_equal(n, 4);
    assert_int_equal(trajectory_reader_select(t, atoms, n, NULL), COLLET_OK);
    trajectory_readahead *ahead = start(t, trajectory_arrangement_arranger(a));
    for (;;) {
        assert_int_equal(trajectory_readahead_next(ahead, &frames, NULL, NULL), COLLET_OK);
        if (!frames)
            break;
        assert_int_equal(frames->n_atoms, 6);
        for (int64_t i = 0; i < frames->n_frames; i++, rows++) {
            assert_int_equal(trajectory_reader_read(plain, whole, NULL), COLLET_OK);
            compare(frames, i, whole, members);
        }
    }
    io_read(plain, whole, 0);
    assert_true(rows > 7);
    trajectory_readahead_stop(ahead);
    trajectory_frames_free(whole);
    trajectory_reader_close(t);
    trajectory_reader_close(plain);
    trajectory_arrangement_free(a);
}

/* ---- Periodic boxes ---------------------------------------------------------------------- */

/* Returns the positions of all frames, frames x n x 3. The caller frees them. */
static double *collect(trajectory_arrangement *a, int64_t n, int64_t *n_frames)
{
    trajectory_reader *t = io_open(WATER);
    const trajectory_frames *frames;
    double *all = calloc((size_t)(100 * n * 3), sizeof *all);
    int64_t n_atoms;
    const int64_t *atoms = trajectory_arrangement_atoms(a, &n_atoms);

    assert_non_null(all);
    *n_frames = 0;
    assert_int_equal(trajectory_reader_select(t, atoms, n_atoms, NULL), COLLET_OK);
    trajectory_readahead *ahead = start(t, trajectory_arrangement_arranger(a));
    for (;;) {
        assert_int_equal(trajectory_readahead_next(ahead, &frames, NULL, NULL), COLLET_OK);
        if (!frames)
            break;
        assert_int_equal(frames->n_atoms, n);
        for (int64_t i = 0; i < frames->n_frames * n * 3; i++)
            all[*n_frames * n * 3 + i] = trajectory_frames_value(frames, frames->positions, i) +
                                         (frames->moves ? frames->moves[i / (3 * n) * 3 + i % 3] : 0);
        *n_frames += frames->n_frames;
    }
    trajectory_readahead_stop(ahead);
    trajectory_reader_close(t);
    trajectory_arrangement_free(a);
    return all;
}

static double apart(const double *a, const double *b)
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

/* In a water molecule that crosses the boundary of the box, the position of a hydrogen is the same whether
 * it is selected alone, in any order, or with all other atoms. The oxygen alone needs no other atom. */
TEST(whole_molecules_of_some_atoms)
{
    const int64_t alone[] = {8}, order[] = {8, 6, 7}, oxygen[] = {6};
    int64_t frames, n, all[ATOMS];

    for (int64_t i = 0; i < ATOMS; i++)
        all[i] = i;
    FREED(double) *first = collect(arrange(alone, 1, COLLET_TRAJECTORY_PBC_WHOLE), 1, &frames);
    FREED(double) *second = collect(arrange(order, 3, COLLET_TRAJECTORY_PBC_WHOLE), 3, &frames);
    FREED(double) *third =
        collect(arrange(all, ATOMS, COLLET_TRAJECTORY_PBC_WHOLE), ATOMS, &frames);
    assert_int_equal(frames, 51);
    for (int64_t f = 0; f < frames; f++) {
        assert_memory_equal(first + 3 * f, second + 9 * f, 3 * sizeof(double));
        assert_memory_equal(first + 3 * f, third + 3 * (f * ATOMS + 8), 3 * sizeof(double));
        for (int64_t w = 0; w < ATOMS / 3; w++)
            for (int64_t h = 1; h < 3; h++)
                assert_true(apart(third + 3 * (f * ATOMS + 3 * w),
                                  third + 3 * (f * ATOMS + 3 * w + h)) < 0.11);
    }
    trajectory_arrangement *a = arrange(oxygen, 1, COLLET_TRAJECTORY_PBC_WHOLE);
    assert_memory_equal(trajectory_arrangement_atoms(a, &n), oxygen, sizeof oxygen);
    assert_int_equal(n, 1);
    assert_null(trajectory_arrangement_arranger(a));
    trajectory_arrangement_free(a);
}

/* If molecules are followed, no atom moves by half a box between frames. If they are centred, their centre
 * stays in the middle. */
TEST(followed_and_centred_molecules)
{
    const double edge = 1.86206;
    const int64_t water[] = {6, 7, 8};
    int64_t frames, all[ATOMS], jumps[2] = {0, 0};

    for (int64_t i = 0; i < ATOMS; i++)
        all[i] = i;
    FREED(double) *plain =
        collect(arrange(all, ATOMS, COLLET_TRAJECTORY_PBC_WHOLE), ATOMS, &frames);
    FREED(double) *paths =
        collect(arrange(all, ATOMS, COLLET_TRAJECTORY_PBC_NOJUMP), ATOMS, &frames);
    assert_memory_equal(plain, paths, ATOMS * 3 * sizeof(double));
    for (int64_t i = ATOMS; i < frames * ATOMS; i++) {
        jumps[0] += apart(plain + 3 * i, plain + 3 * (i - ATOMS)) > edge / 2;
        jumps[1] += apart(paths + 3 * i, paths + 3 * (i - ATOMS)) > edge / 2;
    }
    assert_true(jumps[0] > 0);
    assert_int_equal(jumps[1], 0);
    FREED(double) *middle = collect(arrange(water, 3, COLLET_TRAJECTORY_PBC_CENTER), 3, &frames);
    for (int64_t f = 0; f < frames; f++)
        for (int k = 0; k < 3; k++)
            assert_true(
                fabs((middle[9 * f + k] + middle[9 * f + 3 + k] + middle[9 * f + 6 + k]) / 3 -
                     edge / 2) < 1e-3);
}

/* The trajectory's first frame with a box determines how molecules are made whole. If a later frame is the first to be
 * arranged, the arrangement calls a function that reads the trajectory's first frame once more. */
static collet_status count_calls(void *user, trajectory_frames **out, collet_error *err)
{
    *out = NULL;
    ++*(int *)user;
    return COLLET_OK;
}

TEST(the_first_frame_is_read_once_more_only_if_it_comes_late)
{
    static const int64_t numbers[] = {0, 3};
    const int64_t cut[] = {1, 4, 7}; /* hydrogens, so that whole molecules are read */

    for (int i = 0; i < 2; i++) {
        trajectory_arrangement *a = arrange(cut, 3, COLLET_TRAJECTORY_PBC_WHOLE);
        int64_t frames;
        int calls = 0;

        trajectory_arrangement_set_first(a, count_calls, &calls, numbers[i]);
        free(collect(a, 3, &frames));
        assert_true(frames > 10 && calls == (numbers[i] != 0));
    }
}

/* ---- Errors ------------------------------------------------------------------------------ */

/* An arranger that works in place. fail_at_nine fails at frame 9. number_batches writes the number of the batch to the
 * batch's first position. */
static collet_status fail_at_nine(void *user, trajectory_frames *read, int64_t i,
                                  trajectory_frames *out, int64_t k, collet_error *err)
{
    assert_ptr_equal(read, out);
    assert_int_equal(i, k);
    return read->indices[i] == 9 ? collet_fail(err, COLLET_INVALID, "nine") : COLLET_OK;
}

static void number_batches(void *user, trajectory_frames *out)
{
    int *calls = user;

    ((float *)out->positions)[0] = (float)++*calls;
}

TEST(an_error_comes_after_the_frames_before_it)
{
    int calls = 0;
    const trajectory_arranger arranger = {.user = &calls,
                                          .n_atoms = ATOMS,
                                          .in_place = 1,
                                          .frame = fail_at_nine,
                                          .in_order = number_batches};
    trajectory_reader *t = io_open(WATER);
    trajectory_readahead *ahead = start(t, &arranger);
    const trajectory_frames *frames;
    collet_error err;

    for (int batch = 1; batch <= 2; batch++) {
        assert_int_equal(trajectory_readahead_next(ahead, &frames, NULL, &err), COLLET_OK);
        assert_int_equal(frames->n_frames, batch == 1 ? 7 : 2);
        assert_true(((const float *)frames->positions)[0] == (float)batch);
    }
    assert_int_equal(trajectory_readahead_next(ahead, &frames, NULL, &err), COLLET_INVALID);
    assert_string_equal(err.text, "nine");
    assert_int_equal(calls, 2);
    trajectory_readahead_stop(ahead);
    trajectory_reader_close(t);
}
