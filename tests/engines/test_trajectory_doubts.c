/* SPDX-License-Identifier: Apache-2.0 */
/* Warnings about results that the user may not have intended with these options. */

#include "io_files.h"

#define WATER COLLET_TEST_DATA "/md/water/"

/* Computes everything. The first warning must contain `expected`; NULL: there must be no warning. */
static void expect_warning(collet_trajectory_options options, const char *expected)
{
    const collet_trajectory_batch *rows;
    OWNED(collet_trajectory) *x = NULL;
    collet_error err;

    options.struct_size = sizeof options;
    options.topology = WATER "conf.gro";
    options.backend = "cpu_scalar";
    if (options.trajectory == NULL)
        options.trajectory = WATER "traj.xtc";
    if (collet_trajectory_create(&x, &options, &err) != COLLET_OK ||
        collet_trajectory_collect(x, &rows, &err) != COLLET_OK)
        fail_msg("%s", err.text);
    if (expected != NULL)
        assert_contains(collet_trajectory_warning_at(x, 0), expected);
    else
        assert_null(collet_trajectory_warning_at(x, 0));
    assert_null(collet_trajectory_warning_at(x, expected != NULL));
}

TEST(residues_with_some_of_their_atoms)
{
    collet_trajectory_options options = {.each = "residue", .keys = "com", .stop = 2};

    options.selection = "resid 1:20 and (name OW or within 0.2 of (resid 1 and name OW))";
    expect_warning(options, "frame 0: only some atoms of body 'SOL 2' are selected; its "
                            "results are computed from these atoms (such rows of bodies: ");
    options.selection = "resid 1:20 and (all or within 0.2 of resid 1)";
    expect_warning(options, NULL);
    options.each = NULL;
    options.selection = "resid 1:20 and (name OW or within 0.2 of (resid 1 and name OW))";
    expect_warning(options, NULL);
}

TEST(bodies_of_one_atom)
{
    collet_trajectory_options options = {.each = "residue", .selection = "name OW", .stop = 2};

    options.keys = "com,tilt_deg";
    expect_warning(options, "body 'SOL 1' has one atom with a mass, and so no orientation: its "
                            "axes are the identity, its angles 0 (such bodies: 216)");
    options.keys = "com";
    expect_warning(options, NULL);
    options.keys = "axes";
    options.each = NULL;
    expect_warning(options, NULL);
    options.selection = "index 0";
    expect_warning(options, "the selection has one atom with a mass, and so no orientation: its "
                            "axes are the identity, its angles 0 (such bodies: 1)");
}

TEST(files_that_are_not_used)
{
    const char *twice[] = {WATER "traj.trr", NULL};
    collet_trajectory_options options = {.keys = "com"};

    options.trajectory = WATER "traj.trr";
    options.continuations = twice;
    expect_warning(options, "traj.trr: no frame of this file is used: another file begins at 0 ps too; "
                            "leave one of them out");
}

/* A file that begins and ends within another file. */
TEST(frames_that_no_file_has)
{
    char *directory = io_make_directory();
    OWNED(io_bytes) all = io_load(WATER "traj.trr");
    const size_t frame = all.size / 51;
    FREED(char) *part =
        strdup(io_save(io_path(directory, "part.trr"), all.data + 20 * frame, 3 * frame));
    const char *several[] = {part, NULL};
    collet_trajectory_options options = {
        .keys = "com", .trajectory = WATER "traj.trr", .continuations = several};

    expect_warning(options, "traj.trr: its frames after 0.44 ps, up to 1 ps, are not used and no other file "
                            "has them: a later file begins at 0.4 ps; leave that file out");
    io_save(part, all.data + 20 * frame, 31 * frame); /* up to the end */
    expect_warning(options, NULL);
    io_remove_directory(directory);
}

/* With `strict`, rows before the doubtful frame are delivered, and then the work ends. Here a batch has one frame. */
TEST(rows_before_a_frame_that_is_refused)
{
    char *directory = io_make_directory();
    static const char frame[] = "t= %d\n    2\n    1ALA     CA    1   %s   1.000   1.000\n"
                                "    9ALA     CA    2   0.2     1.000   1.000\n   3.0   3.0   3.0\n";
    char text[1024];
    int n = 0;

    for (int i = 0; i < 8; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, frame, i, i < 6 ? "0.6  " : "2.8  ");
    FREED(char) *path = strdup(io_save(io_path(directory, "dimer.gro"), text, (size_t)n));
    collet_trajectory_options options = {.struct_size = sizeof options, .topology = path, .trajectory = path,
                                         .backend = "cpu_scalar", .keys = "rg", .strict = 1, .batch_frames = 1,
                                         .batch_rows = 1, .threads = 1};
    const collet_trajectory_batch *rows = NULL;
    collet_trajectory_info info = {.struct_size = sizeof info};
    collet_trajectory *x;
    collet_error err;
    collet_status status;
    int64_t taken = 0;

    assert_int_equal(collet_trajectory_create(&x, &options, &err), COLLET_OK);
    while ((status = collet_trajectory_next(x, &rows, &err)) == COLLET_OK && rows != NULL)
        taken += rows->n_rows;
    assert_int_equal(status, COLLET_INVALID);
    assert_contains(err.text, "strict: frame 6: molecules of the selection are nearer to each other");
    assert_true(taken <= 6);
    collet_trajectory_get_info(x, &info);
    assert_int_equal(info.frames, 7); /* the last file is not read */
    assert_int_equal(collet_trajectory_next(x, &rows, &err), COLLET_INVALID); /* and remains so */
    collet_trajectory_destroy(x);
    options.strict = 2;
    assert_error(collet_trajectory_create(&x, &options, &err), COLLET_INVALID, err, "strict is 2");
    options.strict = 0;
    options.reserved = 1;
    assert_int_equal(collet_trajectory_create(&x, &options, &err), COLLET_INVALID);
    io_remove_directory(directory);
}
