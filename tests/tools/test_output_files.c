/* SPDX-License-Identifier: Apache-2.0 */
/* No tool replaces an existing file, unless --force is given. A new tool or option that writes a file needs a row in
 * this table. */

#include "directory.h"
#include "extract_runs.h"
#include "ternary_runs.h"

#include <sys/stat.h>

#define MAKE "collet-rsoxs", "make", "sphere", "--size", "8", "--radius", "2", "-q"
#define FAST "--backend", "cpu_scalar", "-q"
#define PEPTIDE_FILES PEPTIDE "conf.gro", PEPTIDE "traj.trr"
#define MOST 20 /* arguments */

/* A command, and a file that it writes. */
static const struct {
    const char *file;
    const char *args[MOST];
} writers[] = {
    {"p.t2", {"collet-ternary", "pack", "c.npy", "-o", "p.t2", "-q"}},
    {"u.npy", {"collet-ternary", "unpack", "m.t2", "-o", "u.npy", "-q"}},
    {"y.npy", {"collet-ternary", "run", "m.t2", "x.npy", "-o", "y.npy", FAST}},
    {"info.json", {"backend-info", "-o", "info.json", "cpu_scalar"}},
    {"film/morphology.h5", {MAKE, "-o", "film"}},
    {"film/config.txt", {MAKE, "-o", "film"}},
    {"film/expected.json", {MAKE, "-o", "film"}},
    {"film/Material1.txt", {MAKE, "-o", "film"}},
    {"slice.vti", {"collet-rsoxs", "view", "film/morphology.h5", "-o", "slice.vti"}},
#ifdef COLLET_TEST_CAIRO
    {"slice.png", {"collet-rsoxs", "view", "film/morphology.h5", "-o", "slice.png"}},
    {"pattern/intensity.png",
     {"collet-rsoxs", "film/morphology.h5", "-c", "film/config.txt", "-o", "pattern", "--png",
      FAST}},
    {"pattern/Energy_285.00.png",
     {"collet-rsoxs", "film/morphology.h5", "-c", "film/config.txt", "-o", "pattern", "--png",
      FAST}},
    {"plots/com.png",
     {"collet-extract", "--keys", "com", "-o", "plotted.npz", "--plot", "plots", PEPTIDE_FILES,
      FAST}},
#endif
    {"pattern/Energy_285.00.h5",
     {"collet-rsoxs", "film/morphology.h5", "-c", "film/config.txt", "-o", "pattern", FAST}},
    {"out.npz", {"collet-extract", "--keys", "com,time_ps", "-o", "out.npz", PEPTIDE_FILES, FAST}},
    {"out.meta.json",
     {"collet-extract", "--keys", "com,time_ps", "-o", "out.npz", PEPTIDE_FILES, FAST}},
    {"all.npz", {"collet-merge", "-o", "all.npz", "out.npz", "-q"}},
    {"all.meta.json", {"collet-merge", "-o", "all.npz", "out.npz", "-q"}},
};

#define N_WRITERS (sizeof writers / sizeof *writers)

static const char former[] = "of someone else";

static tool_result run(size_t i, int force)
{
    const tool_setup setup = {.directory = directory};
    const char *args[MOST + 2] = {NULL};
    size_t n = 0;

    for (; writers[i].args[n + 1]; n++)
        args[n] = writers[i].args[n + 1];
    args[n] = force ? "--force" : NULL;
    return tool_run(writers[i].args[0], args, &setup);
}

TEST(files_are_replaced_only_with_force)
{
    for (size_t i = 0; i < N_WRITERS; i++) {
        const char *file = writers[i].file;
        FREED(char) *path = strdup(io_path(directory, file));
        tool_result r = run(i, 1);
        if (r.status != 0)
            fail_msg("%s: the run ended with %d: %s", file, r.status, r.err);
        if (access(path, F_OK) != 0)
            fail_msg("%s was not written", file);
        /* Only the file itself exists, without its companions. The run must be refused even then. */
        io_save(path, former, sizeof former);
        r = run(i, 0);
        OWNED(io_bytes) kept = io_load(path);
        if (r.status == 0 || !strstr(r.err, "--force"))
            fail_msg("%s: status %d: %s", file, r.status, r.err);
        if (kept.size != sizeof former || memcmp(kept.data, former, sizeof former) != 0)
            fail_msg("%s was replaced", file);
        free(kept.data);
        r = run(i, 1);
        if (r.status != 0)
            fail_msg("%s: --force ended with %d: %s", file, r.status, r.err);
        kept = io_load(path);
        assert_true(kept.size != sizeof former);
    }
}

/* A rename by root would replace the device. */
TEST(devices_are_never_replaced)
{
    const char *pipe = io_path(directory, "pipe.t2");
    struct stat facts;

    assert_int_equal(mkfifo(pipe, 0600), 0);
    const char *const args[] = {"pack", "c.npy", "-o", "pipe.t2", "--force", NULL};
    const tool_setup setup = {.directory = directory};
    tool_result r = tool_run("collet-ternary", args, &setup);
    EXPECT_ERR(r, 1, "pipe.t2: this is a device or pipe");
    assert_int_equal(stat(io_path(directory, "pipe.t2"), &facts), 0);
    assert_true(S_ISFIFO(facts.st_mode));
}

static int set_up(void **state)
{
    static const int8_t codes[2 * 4] = {1, 0, -1, 1, 0, 0, 1, -1};
    static const float vectors[2 * 4] = {1, 2, 3, 4, 5, 6, 7, 8};

    make_directory(state);
    ternary_npy(directory, "c.npy", "|i1", 2, 4, codes);
    ternary_npy(directory, "x.npy", "<f4", 2, 4, vectors);
    RUN_OK(directory, "pack", "c.npy", "-o", "m.t2");
    return 0;
}

TEST_GROUP(set_up, remove_directory)
