/* SPDX-License-Identifier: Apache-2.0 */
/* Standard output that nobody reads, or that is full: one rule for all programs. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "directory.h"
#include "tool_run.h"

#include <stdio.h>
#include <string.h>

#define PEPTIDE COLLET_TEST_DATA "/md/peptide/"

static const char *const runs[][11] = {
    {"backend-info"},
    {"backend-info", "--json"},
    {"backend-bench", "--list"},
    {"backend-check", "--list", "cpu_scalar"},
    {"backend-check", "--quick", "cpu_scalar", "--op", "add", "--sig", "f:ff"},
    {"collet-extract", "-o", "x.npz", PEPTIDE "conf.gro", PEPTIDE "traj.trr"},
    {"collet-extract", "--json", "-d", "x", PEPTIDE "conf.gro", PEPTIDE "traj.trr"},
    {"collet-rsoxs", "make", "sphere", "--size", "8", "--radius", "2", "-o", ".", "--force"},
    {"collet-rsoxs", "validate", "morphology.h5", "-c", "config.txt"},
    {"collet-rsoxs", "--plan", "morphology.h5"},
    {"collet-rsoxs", "--force", "morphology.h5"},
    {"collet-ternary", "bench", "network", "--seconds", "0.001"},
};

static void to_pipe_but_ignore(void *user)
{
    tool_to_closed_pipe(user);
    signal(SIGPIPE, SIG_IGN);
}

static void test_unread(void **state)
{
    static const struct {
        void (*prepare)(void *);
        int status;
        const char *why;
    } ways[] = {{tool_to_closed_pipe, 128 + SIGPIPE, ""},
                {to_pipe_but_ignore, 1, ": standard output: "},
                {tool_to_full_device, 1, ": standard output: "}};

    (void)state;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
            const tool_setup setup = {.directory = directory, .prepare = ways[k].prepare};
            tool_result r = tool_run(runs[i][0], runs[i] + 1, &setup);
            if (r.status != ways[k].status || !strstr(r.err, ways[k].why) ||
                (*ways[k].why == '\0' && strstr(r.err, "standard output")))
                fail_msg("%s %s, way %zu: status %d, %s%s", runs[i][0], runs[i][1], k, r.status,
                         r.out, r.err);
            tool_free(&r);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unread),
    };

    return cmocka_run_group_tests_name("unread", tests, make_directory, remove_directory);
}
