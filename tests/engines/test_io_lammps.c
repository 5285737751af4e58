/* SPDX-License-Identifier: Apache-2.0 */
/* LAMMPS dumps: columns, boxes, units, atoms in any order, truncated and damaged files. */

#include "directory.h"

#define HEAD(units, step, box) units "ITEM: TIMESTEP\n" step "\nITEM: NUMBER OF ATOMS\n3\n" box
#define BOX "ITEM: BOX BOUNDS pp pp pp\n-1 9\n0 20\n0.5e1 35\n"
#define REAL "ITEM: UNITS\nreal\nITEM: TIME\n500\n"

static const char *save(const char *text, size_t size)
{
    return io_save(io_path(directory, "made.dump"), text, size);
}

/* Reads all frames of a text, which the caller frees. */
static trajectory_frames *read_all(const char *text, int64_t n_frames, collet_status expected,
                                   const char *message)
{
    trajectory_reader *t = io_open(save(text, strlen(text)));
    trajectory_frames *frames = io_batch(t, 8, 1);
    collet_error err = {0};

    assert_string_equal(trajectory_reader_get_info(t)->format, "dump");
    collet_status status = trajectory_reader_read(t, frames, &err);
    if (status != expected || frames->n_frames != n_frames)
        fail_msg("status %d, %lld frames, '%s'", status, (long long)frames->n_frames, err.text);
    assert_contains(err.text, message);
    trajectory_reader_close(t);
    return frames;
}

static void expect(const void *found, const double *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs(((const double *)found)[i] - numbers[i]) < 1e-13))
            fail_msg("number %zu: %.17g, not %.17g", i, ((const double *)found)[i], numbers[i]);
}

/* Atoms are sorted by their ids, which need not be 1, 2, 3. */
TEST(all_columns)
{
    static const char text[] = HEAD(
        REAL, "7",
        BOX) "ITEM: ATOMS type vx vy vz id x y z q fx fy fz ix iy iz \n"
             "1 1 2 3 30 10 20 30 -0.5 1 0 0 1 1 1\n"
             "1 4 5 6 4 40 50 60 0 0 1 0 0 0 0\n"
             "2 7 8 9 17 70 80 90 0 0 0 1 0 0 0 \n"
             "ITEM: TIME\n750\n" HEAD(
                 "", "8", BOX) "ITEM: ATOMS id vx vy vz x y z fx fy fz\n"
                               "4 0 0 0 1 1 1 0 0 0\n17 0 0 0 2 2 2 0 0 0\n30 0 0 0 3 3 3 0 0 0\n";
    OWNED(trajectory_frames) *frames = read_all(text, 2, COLLET_OK, "");
    static const double x[] = {4, 5, 6, 7, 8, 9, 1, 2, 3, .1, .1, .1, .2, .2, .2, .3, .3, .3};
    static const double v[] = {400, 500, 600, 700, 800, 900, 100, 200, 300};
    static const double f[] = {0, 41.84, 0, 0, 0, 41.84, 41.84, 0, 0};
    static const double box[] = {1, 0, 0, 0, 2, 0, 0, 0, 3}, times[] = {.5, .75};

    expect(frames->positions, x, 18);
    expect(frames->velocities, v, 9);
    expect(frames->forces, f, 9);
    expect(frames->boxes, box, 9);
    expect(frames->times, times, 2);
    trajectory_frames_free(frames);

    static const int64_t selected[] = {0, 2};
    static const double some[] = {4, 5, 6, 1, 2, 3};
    OWNED(trajectory_reader) *t = io_open(io_path(directory, "made.dump"));
    assert_int_equal(trajectory_reader_select(t, selected, 2, NULL), COLLET_OK);
    frames = io_batch(t, 1, 0);
    assert_int_equal(trajectory_reader_read(t, frames, NULL), COLLET_OK);
    expect(frames->positions, some, 6);
}

/* If the units are unknown, velocities, forces and times are not used, and a note says so. */
TEST(no_units)
{
    static const char text[] =
        HEAD("ITEM: TIME\n1\n", "0",
             BOX) "ITEM: ATOMS x y z vx vy vz\n1 2 3 1 1 1\n4 5 6 1 1 1\n7 8 9 1 1 1\n";
    trajectory_reader *t = io_open(save(text, strlen(text)));
    const trajectory_reader_info *info = trajectory_reader_get_info(t);
    assert_true(!info->has_times && !info->has_velocities);
    assert_contains(info->note, "dump_modify ID units yes");
    trajectory_reader_close(t);

    static const char positions[] = HEAD("", "0", BOX) "ITEM: ATOMS x y z\n1 2 3\n4 5 6\n7 8 9\n";
    t = io_open(save(positions, strlen(positions)));
    assert_contains(trajectory_reader_get_info(t)->note, "lengths are taken for Angstrom");
    trajectory_reader_close(t);

    static const char steps[] =
        HEAD("ITEM: UNITS\nreal\n", "0", BOX) "ITEM: ATOMS x y z\n1 2 3\n4 5 6\n7 8 9\n";
    t = io_open(save(steps, strlen(steps)));
    assert_contains(trajectory_reader_get_info(t)->note, "dump_modify ID units yes time yes");
    trajectory_reader_close(t);

    static const char metal[] =
        HEAD("ITEM: UNITS\nmetal\nITEM: TIME\n1\n", "0",
             BOX) "ITEM: ATOMS x y z vx vy vz\n1 2 3 1 1 1\n4 5 6 1 1 1\n7 8 9 1 1 1\n";
    static const double v[] = {.1, .1, .1}, time = 1;
    OWNED(trajectory_frames) *frames = read_all(metal, 1, COLLET_OK, "");
    expect(frames->velocities, v, 3);
    expect(frames->times, &time, 1);
}

TEST(boxes)
{
    static const struct {
        const char *text;
        double box[9], first[3]; /* first atom; its scaled coordinates are .5 .25 .125 */
    } cases[] = {
        {"ITEM: BOX BOUNDS pp pp ff\n-1 9\n0 20\n5 35\n",
         {1, 0, 0, 0, 2, 0, 0, 0, 0},
         {.4, .5, .875}},
        {"ITEM: BOX BOUNDS ff pp fs\n-1 9\n0 20\n5 35\n",
         {0, 0, 0, 0, 2, 0, 0, 0, 0},
         {.4, .5, .875}},
        {"ITEM: BOX BOUNDS\n-1 9\n0 20\n5 35\n", {0}, {.4, .5, .875}},
        {"ITEM: BOX BOUNDS ff fs mm\n-1 9\n0 20\n5 35\n", {0}, {.4, .5, .875}},
        {"ITEM: BOX BOUNDS xy xz yz pp pp pp\n-3 14 4\n-5 20 -3\n5 35 -5\n",
         {1, 0, 0, .4, 2, 0, -.3, -.5, 3},
         {.5 + .1 - .0375, .5 - .0625, .875}},
        {"ITEM: BOX BOUNDS abc origin pp pp pp\n0 10 0 1\n20 0 0 2\n0 0 -30 3\n",
         {0, 1, 0, 2, 0, 0, 0, 0, -3},
         {.1 + .5, .2 + .5, .3 - .375}},
        {"ITEM: BOX BOUNDS abc origin pp pp ff\n10 0 0 1\n0 0 20 2\n0 -30 0 3\n",
         {1, 0, 0, 0, 0, 2, 0, 0, 0},
         {.1 + .5, .2 - .375, .3 + .5}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n1\n%sITEM: ATOMS id type xs ys zs\n"
                 "1 1 .5 .25 .125\n",
                 cases[i].text);
        OWNED(trajectory_frames) *frames = read_all(text, 1, COLLET_OK, "");
        expect(frames->boxes, cases[i].box, 9);
        expect(frames->positions, cases[i].first, 3);
        assert_true(isnan(frames->times[0]));
    }
}

/* ---- Malformed files --------------------------------------------------------------------- */

#define FRAME(step, last) HEAD("", step, BOX) "ITEM: ATOMS id x y z\n1 0 0 0\n2 0 0 0\n" last
static const char good[] = FRAME("0", "3 0 0 0\n") FRAME("0", "3 0 0 0\n");

/* Runs that were appended repeat a step. If the file ends directly after a number, digits may be missing, so
 * the last frame counts as incomplete. */
TEST(truncations)
{
    size_t frame = (sizeof good - 1) / 2;

    for (size_t cut = frame; cut < sizeof good; cut++) {
        char text[sizeof good] = "";
        int whole = cut % frame == 0;
        memcpy(text, good, cut);
        OWNED(trajectory_frames) *frames =
            read_all(text, (int64_t)(cut / frame), whole ? COLLET_OK : COLLET_FORMAT,
                     whole ? "" : "inside frame 1");
        assert_int_equal(frames->truncated, !whole);
    }
    for (size_t cut = 6; cut < frame - 1; cut++) {
        io_refuse(save(good, cut), "inside frame 0");
    }
}

/* In files that other programs wrote or users joined, the last line may have no line end. */
TEST(no_last_line_end)
{
    static const char text[] = FRAME("0", "3 .250 .500 1.125\n") FRAME("1", "3 .250 .500 1.125\n");
    static const char cut[] = "inside frame 1, which begins";
    char copy[sizeof text];

    for (size_t less = 0; less < 4; less++) {
        memcpy(copy, text, sizeof text);
        copy[sizeof text - 1 - less] = '\0';
        OWNED(trajectory_frames) *frames = read_all(
            copy, less < 2 ? 2 : 1, less < 2 ? COLLET_OK : COLLET_FORMAT, less < 2 ? "" : cut);
        assert_true(less > 1 || ((const double *)frames->positions)[17] == .1125);
    }
    /* The first frame is accepted, with a note, also if its last number is shorter than the other numbers. */
    memcpy(copy, text, (sizeof text - 1) / 2);
    copy[(sizeof text - 1) / 2 - 2] = '\0';
    trajectory_frames_free(read_all(copy, 1, COLLET_OK, ""));
    memcpy(copy, good, (sizeof good - 1) / 2 - 1);
    copy[(sizeof good - 1) / 2 - 1] = '\0';
    trajectory_frames_free(read_all(copy, 1, COLLET_OK, ""));
}

TEST(damaged_frames)
{
    static const io_malformed bad[] = {
        {FRAME("0", "3 0 0 0\n") FRAME("1", "4 0 0 0\n"),
         "24: the atom with id 4 is not in the first"},
        {FRAME("0", "3 0 0 0\n") FRAME("1", "2 0 0 0\n"), "two atoms have the id 2"},
        {FRAME("0", "3 0 0 0\n") FRAME("1", "3 0 x 0\n"), "column 3 is not a number: 'x'"},
        {FRAME("0", "3 0 0 0\n") FRAME("1", "3 0 0\n"), "the line has 3 columns, not 4 (frame 1)"},
        {FRAME("0", "3 0 0 0\n") FRAME("x", "3 0 0 0\n"), "'x' is not a value of ITEM: TIMESTEP"},
        {FRAME("0",
               "3 0 0 0\n") "ITEM: TIMESTEP\n1\nITEM: NUMBER OF ATOMS\n1\nITEM: ATOMS id x y z\n"
                            "1 0 0 0\n",
         "has 1 atoms, the first frame has 3"},
        {FRAME("0", "3 0 0 0\n") "garbage\n", "'garbage' is not an ITEM: line of a LAMMPS dump"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        trajectory_frames_free(read_all(bad[i].text, 1, COLLET_FORMAT, bad[i].message));

    static const io_malformed heads[] = {
        {HEAD("ITEM: UNITS\nlj\n", "0", BOX) "ITEM: ATOMS id x y z\n1 0 0 0\n2 0 0 0\n3 0 0 0\n",
         "'units lj'; only real and metal are read"},
        {FRAME("0", "2 0 0 0\n"), "two atoms have the id 2"},
        {"ITEM: TIMESTEP\n0\nITEM: ATOMS id x y z\n", "no NUMBER OF ATOMS comes before ATOMS"},
        {"ITEM: TIMESTEP\n0\nITEM: NUMBER OF ENTRIES\n3\n", "'NUMBER OF ENTRIES' is not an item"},
        {"ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n99999999999\nITEM: ATOMS x y z\n",
         "inside frame 0"},
        {"ITEM: BOX BOUNDS pp pp pp\n0 1\n0\n0 1\n", "the box has no number in column 2"},
    };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        io_refuse(save(heads[i].text, strlen(heads[i].text)), heads[i].message);
    }
}

TEST_GROUP(make_directory, remove_directory)
