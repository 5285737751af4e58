/* SPDX-License-Identifier: Apache-2.0 */
/* backend-bench: measures the cost of Collet and the speed of its kernels on this machine.
 * Tests: tests/tools/test_bench.c */
#include "bench/base/modes.h"
#include "bench/ops/mode.h"
#include "bench/base/options.h"
#include "bench/base/session.h"
#include "common/output.h"

#include <stdlib.h>

/* A wrong command line prints no report. */
static int finish(bench_session *s, int result)
{
    if (s->report && result != TOOL_EXIT_USAGE && !tool_print_json(s->report))
        return bench_out_of_memory();
    return tool_flush("backend-bench", NULL) ? result : TOOL_EXIT_FAILURE;
}

#define ROW(name) &bench_mode_##name,
static const bench_mode *const modes[] = {BENCH_MODES(ROW) NULL};
#undef ROW

static int32_t needs_backend(const bench_options *options)
{
    return !options->list && !(options->mode && options->mode->no_backend);
}

static int run(bench_session *s)
{
    if (s->options->list)
        return bench_list_mode(s);
    return s->options->mode ? s->options->mode->run(s) : bench_op_mode(s);
}

int main(int argc, char **argv)
{
    bench_options options;
    bench_session session;
    collet_error err;

    bench_options_parse(argc, argv, modes, &options);
    collet_status status = bench_session_open(&session, &options, needs_backend(&options), &err);
    int result;
    if (status == COLLET_OK) {
        result = finish(&session, run(&session));
        bench_session_close(&session);
    } else {
        result = bench_complain(status, err.text);
    }
    free(options.command);
    return result;
}
