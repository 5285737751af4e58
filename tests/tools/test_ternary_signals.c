/* SPDX-License-Identifier: Apache-2.0 */
/* A signal stops every command of collet-ternary at the next work unit. */

#include "directory.h"
#include "ternary_runs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define K 256
#define DAMAGED COLLET_TEST_CORPUS "/t2/bit"
#define DEADLINE_SECONDS 20
#define PAUSE_US 2000

static int set_up(void **state)
{
    static int8_t codes[4 * K];

    directory = io_make_directory();
    for (int i = 0; i < 4 * K; i++)
        codes[i] = (int8_t)(i % 3 - 1);
    ternary_npy(directory, "c.npy", "|i1", 4, K, codes);
    RUN_OK(directory, "pack", "c.npy", "-o", "good.t2");
    ternary_npy(directory, "x.npy", "|i1", 2, K, codes);
    /* wait_in_create.c: every command waits for this FIFO when it creates its runtime, until the
     * signal has arrived. */
    return mkfifo(io_path(directory, "fifo"), 0600);
}

static void wait_in_create(void *user)
{
    char library[] = WAIT_IN_CREATE;
    setenv("WAIT_FOR", "fifo", 1);
    tool_preload(library);
}

/* Sends the signal, then lets the program continue; kills it if it does not end. */
static void interrupt(pid_t program)
{
    siginfo_t ended = {0};
    int64_t us = 0;
    int fifo;

    while ((fifo = open(io_path(directory, "fifo"), O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0 &&
           errno == ENXIO && us < DEADLINE_SECONDS * INT64_C(1000000)) {
        usleep(PAUSE_US);
        us += PAUSE_US;
    }
    kill(program, fifo < 0 ? SIGKILL : SIGINT);
    close(fifo);
    for (us = 0; us < DEADLINE_SECONDS * INT64_C(1000000); us += PAUSE_US) {
        if (waitid(P_PID, (id_t)program, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 ||
            ended.si_pid == program)
            return;
        usleep(PAUSE_US);
    }
    kill(program, SIGKILL);
}

static void check(const char *const *args)
{
    const tool_setup setup = {
        .directory = directory, .prepare = wait_in_create, .meanwhile = interrupt};
    int before = io_count_entries(directory);
    tool_result result = tool_run("collet-ternary", args, &setup);

    tool_expect(&result, 128 + SIGINT);
    assert_string_equal(result.err, "collet-ternary: Interrupt; nothing was written\n");
    assert_int_equal(io_count_entries(directory), before);
}
#define CHECK(...) check((const char *const[]){__VA_ARGS__, NULL})

/* The output file, already created, is removed. */
TEST(test_outputs)
{
    CHECK("pack", "c.npy", "-o", "s.t2");
    CHECK("unpack", "good.t2", "-o", "s.npy");
    CHECK("run", "good.t2", "x.npy", "-o", "s.npy");
}

/* A signal stops the check of a model before the damage is found. */
TEST(test_models)
{
    ternary_npy(directory, "x8.npy", "|i1", 1, 8, NULL);
    tool_result result = TERNARY(directory, "info", DAMAGED);
    tool_expect(&result, 1);
    CHECK("info", DAMAGED);
    CHECK("run", DAMAGED, "x8.npy", "-o", "s.npy");
}

TEST_GROUP(set_up, remove_directory)
