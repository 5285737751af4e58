/* SPDX-License-Identifier: Apache-2.0 */
/* Tests collet-extract --plot: it makes a picture for each group of quantities, and the picture has
 * lines. */

#include "directory.h"
#include "extract_runs.h"

static tool_result run(const char *pictures, const char *trajectory, const char *option,
                       const char *value)
{
    const char *args[] = {"--force",  "-q",     "-o",     "out.npz", PEPTIDE "conf.gro",
                          trajectory, "--plot", pictures, option,    value,
                          NULL};
    tool_setup setup = {.directory = directory};

    return tool_run("collet-extract", args, &setup);
}

#ifdef COLLET_TEST_CAIRO
#include <cairo.h>

/* The number of pixels that have the colour of the first line. */
static int64_t count_blue(const char *folder, const char *name)
{
    char path[600];
    int64_t n = 0;

    snprintf(path, sizeof path, "%s/%s/%s", directory, folder, name);
    cairo_surface_t *s = cairo_image_surface_create_from_png(path);
    assert_int_equal(cairo_surface_status(s), CAIRO_STATUS_SUCCESS);
    int width = cairo_image_surface_get_width(s), height = cairo_image_surface_get_height(s);
    int stride = cairo_image_surface_get_stride(s);
    assert_int_equal(width, (140 + 480 + 190) * 3 / 2);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const unsigned char *p = cairo_image_surface_get_data(s) + y * stride + 4 * x;
            n += p[0] > 140 && p[2] < 90;
        }
    cairo_surface_destroy(s);
    return n;
}

TEST(pictures)
{
    static const char *const names[] = {"com.png",      "size.png",        "inertia.png",
                                        "gyration.png", "orientation.png", "axes.png",
                                        "energy.png",   "L.png",           "tau.png",
                                        "omega.png",    "dLdt.png",        "end_to_end.png"};
    const char *folders[] = {"whole", "residues", "long", "one"};
    char path[600];

    snprintf(path, sizeof path, "%s/long.trr", directory);
    repeat_file(PEPTIDE "traj.trr", path, 50);
    tool_result results[] = {run("whole", PEPTIDE "traj.trr", NULL, NULL),
                             run("residues", PEPTIDE "traj.trr", "--each", "residue"),
                             run("long", path, NULL, NULL),
                             run("one", PEPTIDE "traj.trr", "--stop", "1")};
    for (size_t i = 0; i < 4; i++) {
        tool_expect(&results[i], 0);
        snprintf(path, sizeof path, "%s/%s", directory, folders[i]);
        assert_int_equal(io_count_entries(path), 12);
        for (size_t k = 0; k < 12; k++)
            assert_true(count_blue(folders[i], names[k]) > (i == 3 ? 20 : 300));
    }
}

/* Pictures show times even if the results do not contain the times. */
TEST(pictures_have_times)
{
    static const char *const outputs[] = {"timed.npz", "bare.npz", "bare.csv"};
    io_bytes first = {0};

    for (int i = 0; i < 3; i++) {
        char folder[16];
        snprintf(folder, sizeof folder, "timed%d", i);
        const char *args[] = {"-q", "-o", outputs[i], PEPTIDE "conf.gro", PEPTIDE "traj.trr", "--plot", folder, "--keys",
                              i == 0 ? "time_ps,com,rg" : "com,rg", NULL};
        tool_setup setup = {.directory = directory};
        tool_result result = tool_run("collet-extract", args, &setup);
        char path[64];

        tool_expect(&result, 0);
        snprintf(path, sizeof path, "%s/com.png", folder);
        io_bytes picture = io_load(io_path(directory, path));
        if (i == 0) {
            first = picture;
            continue;
        }
        assert_int_equal(picture.size, first.size);
        assert_memory_equal(picture.data, first.data, first.size);
        free(picture.data);
    }
    free(first.data);
    OWNED_NPZ bare = npz_open(io_path(directory, "bare.npz"));
    assert_false(npz_has(&bare, "time_ps"));
}

TEST(no_place_for_pictures)
{
    static const char *const places[] = {"nowhere/x", "a_file", ""};
    io_save(io_path(directory, "a_file"), "x", 1);
    for (int i = 0; i < 3; i++) {
        const char *args[] = {
            "-q",     "-o",      "third.npz", PEPTIDE "conf.gro", PEPTIDE "traj.trr",
            "--plot", places[i], NULL};
        tool_setup setup = {.directory = directory};
        tool_result result = tool_run("collet-extract", args, &setup);

        tool_expect(&result, i < 2 ? 1 : 2);
        assert_contains(result.err, i < 2 ? ": cannot be created: " : "--plot: the name is empty");
        assert_int_equal(access(io_path(directory, "third.npz"), F_OK), -1); /* before the work */
    }
}

TEST(pictures_that_exist)
{
    const char *args[] = {"-q",     "-o",    "second.npz", PEPTIDE "conf.gro", PEPTIDE "traj.trr",
                          "--plot", "whole", NULL};
    tool_setup setup = {.directory = directory};
    tool_result result = tool_run("collet-extract", args, &setup);

    EXPECT_ERR(result, 1, "whole/com.png already exists");
    assert_int_equal(access(io_path(directory, "second.npz"), F_OK), -1); /* before the work */
}
#else
TEST(pictures)
{
    tool_result result = run("whole", PEPTIDE "traj.trr", NULL, NULL);

    EXPECT_ERR(result, 1, "built without cairo");
    assert_int_equal(access(io_path(directory, "out.npz"), F_OK), -1); /* before the work */
}
#endif

TEST_GROUP(make_directory, remove_directory)
