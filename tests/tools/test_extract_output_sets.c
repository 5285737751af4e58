/* SPDX-License-Identifier: Apache-2.0 */
/* A complete set of files of collet-extract -o DIR/ is from one run, even if an earlier run was killed
 * between two files, or another run writes to DIR/ meanwhile. */

#include "directory.h"
#include "extract_runs.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>

/* The files in the order in which they get their names; meta.json is the last. */
static const char *const names[] = {"time_ps.npy", "com.npy", "meta.json"};
#define FILES 3
#define LINE(frames)                                                                               \
    {                                                                                              \
        "-q", "--force", "-o", "set/", "--keys", "time_ps,com", "--stop", frames,                  \
            PEPTIDE "conf.gro", PEPTIDE "traj.trr", NULL                                           \
    }
static const char *const two_frames[] = LINE("2"), *const three_frames[] = LINE("3");

static tool_setup in_directory(void (*prepare)(void *), void *user)
{
    return (tool_setup){.directory = directory, .prepare = prepare, .user = user};
}

static void run(const char *const *args, tool_setup setup, int status)
{
    tool_result result = tool_run("collet-extract", args, &setup);

    tool_expect(&result, status);
}

static int has(const char *name)
{
    char *set = strdup(io_path(directory, "set"));
    int found = access(io_path(set, name), F_OK) == 0;

    free(set);
    return found;
}

/* The number of frames of a complete array; 0: the file does not exist. */
static int64_t frames_of(const char *name)
{
    char *set = strdup(io_path(directory, "set"));
    int64_t frames = 0;

    if (has(name)) {
        OWNED(io_bytes) bytes = io_load(io_path(set, name));
        frames = npy_parse(bytes.data, bytes.size).shape[0];
    }
    free(set);
    return frames;
}

static void expect_set(int64_t frames)
{
    assert_int_equal(io_count_entries(io_path(directory, "set")), FILES);
    assert_true(has("meta.json"));
    assert_int_equal(frames_of("com.npy"), frames);
    assert_int_equal(frames_of("time_ps.npy"), frames);
}

/* After a kill there is no meta.json. Every other file is complete, from the killed run or the run
 * before it. The next run removes the temporary files of the killed run. */
TEST(test_killed_between_files)
{
    for (int old = 0; old < 2; old++) { /* 1: an older set exists */
        for (int n = 0; n < FILES; n++) {
            char call[2] = {(char)('1' + n), '\0'};

            if (old)
                run(two_frames, in_directory(NULL, NULL), 0);
            run(three_frames, in_directory(tool_kill_at, call), 128 + SIGKILL);
            assert_false(has("meta.json"));
            for (int i = 0; i < FILES - 1; i++)
                assert_int_equal(frames_of(names[i]), i < n ? 3 : old ? 2 : 0);
            run(three_frames, in_directory(NULL, NULL), 0);
            expect_set(3);
            if (!old)
                for (int i = 0; i < FILES; i++) {
                    char file[40];
                    snprintf(file, sizeof file, "set/%s", names[i]);
                    assert_int_equal(remove(io_path(directory, file)), 0);
                }
        }
    }
}

/* Starts another run while this run is stopped between two files. */
static void run_another(pid_t program)
{
    siginfo_t stopped;
    int status;

    assert_int_equal(waitid(P_PID, (id_t)program, &stopped, WSTOPPED | WEXITED | WNOWAIT), 0);
    pid_t child = fork();
    if (child == 0) {
        run(two_frames, in_directory(NULL, NULL), 0);
        _exit(0);
    }
    /* Waits until the other run's files are complete. Then waits long enough for the other run to
     * rename its files, which would be wrong. */
    for (int i = 0; i < 2000 && io_count_entries(io_path(directory, "set")) <= 2 * FILES; i++)
        usleep(1000);
    usleep(100000);
    kill(program, SIGCONT);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

TEST(test_beside_another_run)
{
    tool_setup setup = in_directory(tool_kill_at, "-2");

    run(two_frames, in_directory(NULL, NULL), 0);
    setup.meanwhile = run_another;
    run(three_frames, setup, 0);
    expect_set(2);
}

/* A program that locks the directory for a long time is not treated as another run of
 * collet-extract. */
TEST(test_locked_directory)
{
    run(two_frames, in_directory(NULL, NULL), 0);
    char path[300];
    snprintf(path, sizeof path, "%s/set", directory);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(0, flock(fd, LOCK_EX));
    run(three_frames, in_directory(NULL, NULL), 0);
    close(fd);
    expect_set(3);
}

TEST_GROUP(make_directory, remove_directory)
