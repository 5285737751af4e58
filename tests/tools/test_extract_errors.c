/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet-extract on bad input: each case has its own message and status, and leaves the directory
 * with the output of an earlier run unchanged.
 */

#include "directory.h"
#include "extract_runs.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define FRAME 10200 /* bytes of a frame of the peptide's traj.trr */

/* The earlier output, which no failure may change. */
static const char former[] = "the output of an earlier run";

static int set_up(void **state)
{
    directory = io_make_directory();
    io_save(io_path(directory, "out.npz"), former, sizeof former);
    return 0;
}

static void check_former(void)
{
    OWNED(io_bytes) bytes = io_load(io_path(directory, "out.npz"));

    assert_int_equal(bytes.size, sizeof former);
    assert_memory_equal(bytes.data, former, sizeof former);
}

/* The run exits with `status`, prints each of the texts (up to NULL), and leaves no files. */
static void check(int status, const char *const *args, const char *const *texts)
{
    const char *all[60] = {"--force", "-o", "out.npz"};
    tool_setup setup = {.directory = directory};
    tool_result result;
    int before = io_count_entries(directory);
    size_t n = 3;

    while (*args != NULL && n < 59)
        all[n++] = *args++;
    result = tool_run("collet-extract", all, &setup);
    tool_expect(&result, status);
    assert_string_equal(result.out, "");
    assert_memory_equal(result.err, "collet-extract: ", 16);
    for (; *texts != NULL; texts++)
        assert_contains(result.err, *texts);
    assert_int_equal(io_count_entries(directory), before);
    check_former();
}

#define LIST(...)                                                                                  \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

static void save_text(const char *name, const char *text)
{
    io_save(io_path(directory, name), text, strlen(text));
}

/* Saves the first `size` bytes of the peptide's trajectory. */
static void save_part(const char *name, size_t size)
{
    OWNED(io_bytes) bytes = io_load(PEPTIDE "traj.trr");

    io_save(io_path(directory, name), bytes.data, size);
}

TEST(missing_files)
{
    check(1, LIST("nowhere.gro", WATER "traj.trr"), LIST("nowhere.gro", "No such file"));
    check(1, LIST(WATER "conf.gro", "nowhere.trr"), LIST("nowhere.trr", "No such file"));
    check(1, LIST(WATER "conf.gro", WATER "traj.trr", "--masses", "nowhere.txt"),
          LIST("nowhere.txt", "No such file"));
    check(1, LIST(WATER "conf.gro", WATER "traj.trr", "--reference", "nowhere.gro"),
          LIST("nowhere.gro", "No such file"));
    check(1, LIST(WATER "conf.gro", "."), LIST(".", "directory"));
}

TEST(not_a_trajectory)
{
    save_text("text.trr", "hello, this is no trajectory\n");
    save_text("empty.trr", "");
    save_text("text.gro", "title\nmany\n");
    check(1, LIST(WATER "conf.gro", "text.trr"), LIST("text.trr"));
    check(1, LIST(WATER "conf.gro", "empty.trr"), LIST("empty.trr", "empty"));
    check(1, LIST("text.gro", WATER "traj.trr"), LIST("text.gro"));
    check(1, LIST(WATER "traj.trr", WATER "conf.gro"), LIST("traj.trr"));
    check(1, LIST(WATER "conf.gro", COLLET_TEST_DATA "/md/reference.json"), LIST("reference.json"));
}

TEST(atom_counts)
{
    check(1, LIST(WATER "conf.gro", PEPTIDE "traj.trr"), LIST("280 atoms", "has 648", "conf.gro"));
    check(1, LIST(PEPTIDE "conf.gro", PEPTIDE "traj.trr", "--reference", WATER "traj.xtc"),
          LIST("648 atoms", "has 280"));
    check(1, LIST(WATER "conf.gro", WATER "traj.trr", "--masses", PEPTIDE "masses.txt"),
          LIST("280 masses", "648 atoms", "masses.txt"));
    check(1, LIST(PEPTIDE "conf.gro", PEPTIDE "traj.trr", "--masses", WATER "masses.txt"),
          LIST(":281: more masses"));
}

TEST(masses)
{
    char zeros[3 * 648];

    for (int i = 0; i < 648; i++)
        memcpy(zeros + 2 * i, "0\n", 3);
    save_text("zeros.txt", zeros);
    check(
        2,
        LIST(WATER "conf.gro", WATER "traj.trr", "--masses", "zeros.txt", "--selection", "name OW"),
        LIST("216 atoms", "'name OW'", "the total mass", "zeros.txt"));
    save_text("negative.txt", "1\n-1\n");
    check(1, LIST(WATER "conf.gro", WATER "traj.trr", "--masses", "negative.txt"),
          LIST("negative.txt:2:", "negative"));
    save_text("odd.gro", "beads\n1\n    1LIG     QQ    1   0.000   0.000   0.000\n   1 1 1\n");
    check(1, LIST("odd.gro", "odd.gro"), LIST("atom 1, 'QQ' of residue LIG 1", "masses"));
}

TEST(selections)
{
    check(2, LIST(WATER "conf.gro", WATER "traj.trr", "--selection", "protein"),
          LIST("'protein'", "none of the 648 atoms", "conf.gro"));
    check(2, LIST(WATER "conf.gro", WATER "traj.trr", "--selection", "name hw1"),
          LIST("names, in which case matters, are OW, HW1, HW2"));
    check(2, LIST(WATER "conf.gro", WATER "traj.trr", "--selection", "name OW and"),
          LIST("column 12:", "\n               ^"));
}

TEST(truncated)
{
    const char *args[] = {"-o", "cut.npz", PEPTIDE "conf.gro", "cut.trr", NULL};
    tool_setup setup = {.directory = directory};
    tool_result result;
    npz whole, part;
    OWNED(io_bytes) file = {0};
    OWNED(cJSON) *meta = NULL;
    int64_t n;
    size_t count;

    save_part("cut.trr", 10 * FRAME + 5000);
    result = tool_run("collet-extract", args, &setup);
    EXPECT_ERR(result, 3, "inside frame 10, which begins at byte 102000",
               "has the 10 frames before the incomplete or damaged frame");

    whole = EXTRACT(directory, PEPTIDE "conf.gro", PEPTIDE "traj.trr", "--stop", "10");
    io_save(io_path(directory, "out.npz"), former, sizeof former);
    part = npz_open(io_path(directory, "cut.npz"));
    for (size_t i = 0; i < EXTRACT_KEYS; i++) {
        const double *x = npz_f64(&part, extract_keys[i], &n, &count);

        assert_int_equal(n, 10);
        assert_memory_equal(x, npz_f64(&whole, extract_keys[i], NULL, NULL), count * sizeof *x);
    }
    npz_close(&whole);
    npz_close(&part);

    file = io_load(io_path(directory, "cut.meta.json"));
    meta = cJSON_ParseWithLength((const char *)file.data, file.size);
    assert_string_equal(meta_at(meta, "status")->valuestring, "truncated");
    assert_int_equal(meta_at(meta, "truncation/last_complete_frame")->valueint, 9);
    assert_int_equal(meta_at(meta, "truncation/end_of_last_complete_frame")->valueint, 10 * FRAME);
}

TEST(no_complete_frame)
{
    save_part("first.trr", 5000);
    save_part("head.trr", 50);
    check(1, LIST(PEPTIDE "conf.gro", "first.trr"), LIST("first.trr", "inside frame 0"));
    check(1, LIST(PEPTIDE "conf.gro", "head.trr"), LIST("head.trr"));
}

/* Runs collet-extract on a damaged file; the output damaged.npz must have `rows` frames. */
static void check_damaged(const char *topology, const char *trajectory, int64_t rows,
                          const char *text)
{
    const char *args[] = {"-o",    "damaged.npz", "--force",  "--masses",
                          "equal", topology,      trajectory, NULL};
    tool_setup setup = {.directory = directory};
    tool_result result = tool_run("collet-extract", args, &setup);
    int64_t n;

    EXPECT_ERR(result, 3, text, "damaged.npz has the");
    npz out = npz_open(io_path(directory, "damaged.npz"));
    npz_f64(&out, "com", &n, NULL);
    assert_int_equal(n, rows);
    npz_close(&out);
    OWNED(io_bytes) file = io_load(io_path(directory, "damaged.meta.json"));
    OWNED(cJSON) *meta = cJSON_ParseWithLength((const char *)file.data, file.size);
    assert_string_equal(meta_at(meta, "status")->valuestring, "damaged");
    assert_int_equal(meta_at(meta, "truncation/last_complete_frame")->valueint, rows - 1);
    assert_contains(meta_at(meta, "truncation/message")->valuestring, text);
}

/* The frames before a damaged frame are kept, whether its header or its contents are damaged. */
TEST(broken_frame)
{
    io_bytes bytes = io_load(PEPTIDE "traj.trr");

    memset(bytes.data + 20 * FRAME, 0x55, 40);
    io_save(io_path(directory, "broken.trr"), bytes.data, bytes.size);
    check_damaged(PEPTIDE "conf.gro", "broken.trr", 20,
                  "broken.trr: frame 20 at byte 204000: no .trr frame begins here");
    memset(bytes.data, 0x55, 40);
    io_save(io_path(directory, "broken.trr"), bytes.data, bytes.size);
    free(bytes.data);
    check(1, LIST(PEPTIDE "conf.gro", "broken.trr"), LIST("broken.trr"));

    bytes = io_load(PEPTIDE "traj.xtc");
    memset(bytes.data + bytes.size / 2, 0xff, 900);
    io_save(io_path(directory, "broken.xtc"), bytes.data, bytes.size);
    free(bytes.data);
    check_damaged(PEPTIDE "conf.gro", "broken.xtc", 25, "broken.xtc: frame ");
}

/* A later frame with another number of atoms, and a frame with a line that describes no atom. */
TEST(foreign_frame)
{
    static const char one[] = "t= 0\n1\n    1CA      CA    1   0.000   0.000   0.000\n   9 9 9\n";
    char text[512];
    io_image image = {0};

    save_text("one.gro", one);
    io_put_trr(&image, 4, 1, 0, IO_BOX | IO_X);
    io_put_trr(&image, 4, 1, 1, IO_BOX | IO_X);
    io_put_trr(&image, 4, 2, 2, IO_BOX | IO_X);
    io_save(io_path(directory, "foreign.trr"), image.data, image.size);
    free(image.data);
    check_damaged("one.gro", "foreign.trr", 2,
                  "foreign.trr: frame 2 at byte 264: has 2 atoms, the first frame has 1; frames "
                  "before it: 2");
    snprintf(text, sizeof text, "%s%st= 2\n1\n    1CA      CA    1   0.000   junk\n   9 9 9\n", one,
             one);
    save_text("foreign.gro", text);
    check_damaged("one.gro", "foreign.gro", 2, "foreign.gro:11: ");
}

/* Forces exist in the first frame, but not in the second. */
TEST(frames_that_differ)
{
    io_image image = {0};

    save_text("one.gro", "one\n1\n    1CA      CA    1   0.000   0.000   0.000\n   1 1 1\n");
    io_put_trr(&image, 4, 1, 0, IO_BOX | IO_X | IO_F);
    io_put_trr(&image, 4, 1, 1, IO_BOX | IO_X);
    io_save(io_path(directory, "sparse.trr"), image.data, image.size);
    free(image.data);
    check(1, LIST("one.gro", "sparse.trr"), LIST("sparse.trr: frame 1", "forces"));
}

TEST(keys)
{
    check(2, LIST(WATER "conf.gro", WATER "traj.trr", "--keys", "com,mass"),
          LIST("'mass' matches none of the 54 keys (collet-extract --help"));
    check(2, LIST(WATER "conf.gro", WATER "traj.trr", "--keys", "com,Tau_vectro"),
          LIST("'Tau_vectro' matches none", "; the nearest is tau_vector ("));
    check(2, LIST(WATER "conf.gro", WATER "traj.xtc", "--keys", "com,tau_*"),
          LIST("'tau_*' cannot be computed", "no forces"));
}

TEST(drift)
{
    check(2, LIST(WATER "conf.gro", WATER "traj.trr", "--drift", "rotation"),
          LIST("--drift: 'rotation' is not keep, linear, angular or both"));
    check(2, LIST(WATER "conf.gro", WATER "traj.trr", "--drift-of", "protein"),
          LIST("--drift-of protein: it needs --drift linear, angular or both"));
    check(2, LIST(WATER "conf.gro", WATER "traj.trr", "--drift", "both", "--drift-of", "protein"),
          LIST("drift_of: the selection 'protein' matches none of the 648 atoms"));
    check(2, LIST(WATER "conf.gro", WATER "traj.trr", "--drift", "both", "--drift-of", "name OW and"),
          LIST("name OW and"));
    check(2, LIST(WATER "conf.gro", WATER "traj.trr", "--drift", "both", "--drift-of", "index 0"),
          LIST("only one has a mass, and one atom has no rotation"));
}

TEST(frames_out_of_range)
{
    check(2, LIST(WATER "conf.gro", WATER "traj.trr", "--start", "51"),
          LIST("no frame", "traj.trr", "frame 51", "the start"));
}

/* A run with an output in another directory fails with this text. */
static void check_output(const char *option, const char *path, const char *text)
{
    const char *args[] = {option, path, WATER "conf.gro", WATER "traj.trr", NULL};
    tool_setup setup = {.directory = directory};
    int before = io_count_entries(directory);
    tool_result result = tool_run("collet-extract", args, &setup);
    size_t length = strlen(path);

    tool_expect(&result, 1);
    /* Messages name a directory without its slash. */
    if (memmem(result.err, strlen(result.err), path, length - (path[length - 1] == '/')) == NULL ||
        strstr(result.err, text) == NULL)
        fail_msg("'%s' not found in: %s", text, result.err);
    assert_int_equal(io_count_entries(directory), before);
}

TEST(unwritable_output)
{
    mkdir(io_path(directory, "folder.npz"), 0777);
    save_text("file", "a file");
    check_output("-o", "nowhere/out.npz", "no directory nowhere");
    check_output("-o", "/proc/out.npz", "no file can be created in /proc/ (");
    check_output("-o", "/proc/out/", "choose another directory");
    check_output("-o", "folder.npz", "already exists");
    check_output("-o", "file/", "file");
    check_output("-o", "nowhere/results/", "no directory nowhere/; create it");
}

/* If the summary cannot be printed, the results are kept: they are written first. */
TEST(standard_output)
{
    const char *args[] = {"-o", "said.npz", PEPTIDE "conf.gro", PEPTIDE "traj.trr", NULL};
    void (*const prepare[])(void *) = {tool_to_full_device, tool_to_closed_pipe};

    for (int i = 0; i < 2; i++) {
        const tool_setup setup = {.directory = directory, .prepare = prepare[i]};
        tool_result result = tool_run("collet-extract", args, &setup);
        io_bytes bytes = io_load(io_path(directory, "said.npz"));

        tool_expect(&result, i ? 128 + SIGPIPE : 1);
        assert_contains(result.err, i ? ""
                                      : "standard output: No space left on device; the "
                                        "results and the meta file are complete");
        assert_true(bytes.size > 0);
        free(bytes.data);
        assert_int_equal(remove(io_path(directory, "said.npz")), 0);
        assert_int_equal(remove(io_path(directory, "said.meta.json")), 0);
    }
}

TEST(output_is_an_input)
{
    const char *args[] = {"-o", "copy.npz", PEPTIDE "conf.gro", "./copy.npz", NULL};
    tool_setup setup = {.directory = directory};
    tool_result result;
    OWNED(io_bytes) before = {0}, after = {0};

    repeat_file(PEPTIDE "traj.xtc", io_path(directory, "copy.npz"), 1);
    before = io_load(io_path(directory, "copy.npz"));
    result = tool_run("collet-extract", args, &setup);
    EXPECT_ERR(result, 2, "would replace the input");
    after = io_load(io_path(directory, "copy.npz"));
    assert_int_equal(before.size, after.size);
    assert_memory_equal(before.data, after.data, before.size);
}

TEST(usage)
{
    static const char *const lines[][8] = {
        {"collet-extract"},
        {"conf.gro"},
        {"a", "b", "--axis", "0,0,0"},
        {"a", "b", "--axis", "1,2"},
        {"a", "b", "--axis", "1,2,3,4"},
        {"a", "b", "--axis", "x,y,z"},
        {"a", "b", "--step", "0"},
        {"a", "b", "--start", "-1"},
        {"a", "b", "--start", "5", "--stop", "5"},
        {"a", "b", "--batch", "0"},
        {"a", "b", "--batch", "many"},
        {"a", "b", "--threads", "0"},
        {"a", "b", "-o", "-"},
        {"a", "b", "-o", "/"},
        {"a", "b", "-o", "x"},
        {"a", "b", "-o", "x.txt"},
        {"a", "b", "-o", ".npz"},
        {"a", "b", "--unknown"},
    };

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        tool_result result = tool_run("collet-extract", lines[i] + (i == 0), NULL);

        EXPECT_ERR(result, 2, "--help");
    }
}

TEST(unknown_backend)
{
    check(2, LIST(WATER "conf.gro", WATER "traj.trr", "--backend", "cpu_sclar"),
          LIST("cpu_sclar", "cpu_scalar"));
}

/* ---- Full disks -------------------------------------------------------------------------- */

static void limit_file_size(void *user)
{
    struct rlimit limit = {*(rlim_t *)user, *(rlim_t *)user};

    setrlimit(RLIMIT_FSIZE, &limit);
}

/* One limit is reached while the columns are written, the other when the archive of all columns is written. */
TEST(file_size_limit)
{
    static const rlim_t limits[] = {3000, 30000};

    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const char *args[] = {"--force", "-o", "out.npz", WATER "conf.gro", WATER "traj.trr", NULL};
        rlim_t limit = limits[i];
        tool_setup setup = {.directory = directory, .prepare = limit_file_size, .user = &limit};
        int before = io_count_entries(directory);
        tool_result result = tool_run("collet-extract", args, &setup);

        EXPECT_ERR(result, 1, "out.npz", strerror(EFBIG));
        assert_int_equal(io_count_entries(directory), before);
        check_former();
    }
}

/* Runs in the child: the mount is private to the child and ends with it. */
static void mount_small_disk(void *user)
{
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", user, "tmpfs", 0, "size=64k") != 0 || chdir(user) != 0)
        _exit(77);
}

TEST(full_disk)
{
    const char *args[] = {"--force", "-o", "out.npz", WATER "conf.gro", WATER "traj.trr", NULL};
    tool_setup setup = {.directory = directory, .prepare = mount_small_disk};
    tool_result result;

    setup.user = directory;
    result = tool_run("collet-extract", args, &setup);
    if (result.status == 77)
        skip();
    EXPECT_ERR(result, 1, "out.npz", strerror(ENOSPC));
}

/* ---- Signals ----------------------------------------------------------------------------- */

static int signal_to_send;

/* Sends the signal while the program computes: as soon as the backend's library is mapped. */
static void interrupt(pid_t program)
{
    char path[64], line[1000];
    struct timespec pause = {0, 1000000};

    snprintf(path, sizeof path, "/proc/%d/maps", (int)program);
    for (int i = 0; i < 10000; i++) {
        FILE *maps = fopen(path, "r");
        int found = 0;

        while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
            found |= strstr(line, "cpu_scalar") != NULL;
        if (maps != NULL)
            fclose(maps);
        if (found)
            break;
        nanosleep(&pause, NULL);
    }
    kill(program, signal_to_send);
}

TEST(test_signals)
{
    static const int signals[] = {SIGINT, SIGTERM};
    const char *args[] = {"--force", "-o", "out.npz",   PEPTIDE "conf.gro", "many.trr",
                          "--batch", "1",  "--backend", "cpu_scalar",       NULL};
    tool_setup setup = {.directory = directory, .meanwhile = interrupt};
    int before;

    repeat_file(PEPTIDE "traj.trr", io_path(directory, "many.trr"), 200);
    before = io_count_entries(directory);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        tool_result result;

        signal_to_send = signals[i];
        result = tool_run("collet-extract", args, &setup);
        tool_expect(&result, 128 + signals[i]);
        assert_contains(result.err, strsignal(signals[i]), "nothing was written");
        assert_int_equal(io_count_entries(directory), before);
        check_former();
    }
}

TEST_GROUP(set_up, remove_directory)
