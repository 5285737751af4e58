/* SPDX-License-Identifier: Apache-2.0 */
/* backend-bench: what Collet costs, and what its kernels reach on this machine. */
#include "dispatch.h"
#include "options.h"
#include "session.h"

#include <stdio.h>
#include <string.h>

static int finish(bench_session *s, int result)
{
    if (s->report) {
        char *text = cJSON_Print(s->report);
        if (!text)
            return bench_out_of_memory();
        puts(text);
        cJSON_free(text);
    }
    if (ferror(stdout) || fflush(stdout)) {
        perror("backend-bench: standard output");
        return BENCH_EXIT_FAILURE;
    }
    return result;
}

int main(int argc, char **argv)
{
    bench_options options;
    bench_session session;
    collet_error err;

    bench_options_parse(argc, argv, &options);
    collet_status status = bench_session_open(&session, &options, 1, &err);
    if (status != COLLET_OK)
        return bench_complain(status, err.text);
    int result = finish(&session, bench_dispatch(&session));
    bench_session_close(&session);
    return result;
}
