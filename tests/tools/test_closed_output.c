/* SPDX-License-Identifier: Apache-2.0 */
/* Standard output that nobody reads, that is closed, or that is on a full device: all programs
 * behave alike. */
#include <signal.h>

#include "directory.h"
#include "tool_run.h"

#include <sys/stat.h>

#define PEPTIDE COLLET_TEST_DATA "/md/peptide/"

static const char *const runs[][11] = {
    {"backend-info", "--help"},
    {"backend-check", "--version"},
    {"backend-bench", "matmul", "--help"},
    {"collet-extract", "--help"},
    {"collet-extract", "-h"},
    {"collet-merge", "--usage"},
    {"collet-rsoxs", "view", "--help"},
    {"collet-rsoxs", "--version"},
    {"collet-ternary", "--help"},
    {"collet-ternary", "pack", "-h"},
    {"backend-info"},
    {"backend-info", "--json"},
    {"backend-bench", "--list"},
    {"backend-check", "--list", "cpu_scalar"},
    {"backend-check", "--quick", "cpu_scalar", "--op", "add", "--sig", "f:ff"},
    {"collet-extract", "--force", "-o", "x.npz", PEPTIDE "conf.gro", PEPTIDE "traj.trr"},
    {"collet-extract", "--json", "--force", "-o", "x/", PEPTIDE "conf.gro", PEPTIDE "traj.trr"},
    {"collet-rsoxs", "make", "sphere", "--size", "8", "--radius", "2", "-o", ".", "--force"},
    {"collet-rsoxs", "validate", "morphology.h5", "-c", "config.txt"},
    {"collet-rsoxs", "--plan", "morphology.h5"},
    {"collet-rsoxs", "--force", "morphology.h5"},
    {"collet-ternary", "info", COLLET_TEST_DATA "/../../examples/digits/digits.t2"},
};

static void close_errors(void *user)
{
    close(STDERR_FILENO);
}

static void to_pipe_but_ignore(void *user)
{
    tool_to_closed_pipe(user);
    signal(SIGPIPE, SIG_IGN);
}

TEST(test_closed_output)
{
    static const struct {
        void (*prepare)(void *);
        int status;
        const char *why;
    } ways[] = {{tool_to_closed_pipe, 128 + SIGPIPE, ""},
                {to_pipe_but_ignore, 1, ": standard output: "},
                {tool_to_full_device, 1, ": standard output: "},
                {close_errors, 0, ""}};

    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
            if (ADDRESS_SANITIZER && k != i % 4 && i < 20)
                continue; /* with ASan each way runs only some programs */
            const tool_setup setup = {.directory = directory, .prepare = ways[k].prepare};
            tool_result r = tool_run(runs[i][0], runs[i] + 1, &setup);
            if (r.status != ways[k].status || !strstr(r.err, ways[k].why) ||
                (*ways[k].why == '\0' && strstr(r.err, "standard output")))
                fail_msg("%s %s, way %zu: status %d, %s%s", runs[i][0], runs[i][1], k, r.status,
                         r.out, r.err);
        }
}

static void errors_to_closed_pipe(void *user)
{
    const int out = dup(STDOUT_FILENO);

    tool_to_closed_pipe(user);
    dup2(STDOUT_FILENO, STDERR_FILENO);
    dup2(out, STDOUT_FILENO);
}

/* Results are written even if nobody reads the warnings. */
TEST(test_unread_warning)
{
    static const char *const args[] = {"morphology.h5", "-c", "warns.txt", "-o", "kept", NULL};
    const tool_setup setup = {.directory = directory, .prepare = errors_to_closed_pipe};
    char path[sizeof directory + 64];

    snprintf(path, sizeof path, "%s/warns.txt", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("CaseType = 0;\nMorphologyType = 0;\nEnergies = [285.0];\n"
          "EAngleRotation = [0.0, 0.0, 0.0];\nUnused = 1;\n",
          file);
    assert_int_equal(fclose(file), 0);
    tool_result r = tool_run("collet-rsoxs", args, &setup);
    assert_int_equal(r.status, 0);
    snprintf(path, sizeof path, "%s/kept/Energy_285.00.h5", directory);
    assert_int_equal(access(path, R_OK), 0);
}

static void close_streams(void *user)
{
    setenv("COLLET_BAKEND", "", 1); /* two warnings, longer than a result */
    setenv("COLLET_PLUGNI", "", 1);
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        close(fd);
}

/* If standard streams are closed, files of results must not get their descriptors: printed text
 * would go to the files. */
TEST(test_closed)
{
    static const char *const args[] = {"-q",
                                       "-o",
                                       "closed/",
                                       "--stop",
                                       "1",
                                       "--keys",
                                       "time_ps,com,inertia_tensor",
                                       PEPTIDE "conf.gro",
                                       PEPTIDE "traj.trr",
                                       NULL};
    const tool_setup setup = {.directory = directory, .prepare = close_streams};
    char path[sizeof directory + 64];
    struct stat st;

    tool_result r = tool_run("collet-extract", args, &setup);
    assert_int_equal(r.status, 0);
    snprintf(path, sizeof path, "%s/closed/com.npy", directory);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 128 + 3 * sizeof(double));
}

TEST_GROUP(make_directory, remove_directory)
