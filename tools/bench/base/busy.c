/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_bench.c */
#include "busy.h"

#include "common/stats.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- Busy processes ---------------------------------------------------------------------- */

static void be_busy(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (volatile uint64_t i = 0; getppid() == parent;) {
        for (uint64_t end = i + 1000000; i < end;)
            i = i + 1;
    }
    _exit(0);
}

int32_t bench_busy_start(bench_busy *b, int32_t count)
{
    pid_t self = getpid();
    *b = (bench_busy){.count = 0};
    while (b->count < count) {
        pid_t process = fork();
        if (process == 0)
            be_busy(self);
        if (process < 0) {
            bench_busy_stop(b);
            return 0;
        }
        b->processes[b->count++] = process;
    }
    return 1;
}

void bench_busy_stop(bench_busy *b)
{
    for (int32_t i = 0; i < b->count; i++)
        kill(b->processes[i], SIGKILL);
    for (int32_t i = 0; i < b->count; i++)
        waitpid(b->processes[i], NULL, 0);
    b->count = 0;
}

/* ---- Time -------------------------------------------------------------------------------- */

bench_usage bench_usage_now(void)
{
    struct timespec used;
    bench_usage now = {.seconds = tool_now()};
    double ticks[8] = {0}; /* the fields are user nice system idle iowait irq softirq steal: proc(5) */
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    now.used = (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
    FILE *file = fopen("/proc/stat", "r");
    if (file && fscanf(file, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &ticks[0], &ticks[1], &ticks[2],
                       &ticks[3], &ticks[4], &ticks[5], &ticks[6], &ticks[7]) == 8) {
        now.stolen = ticks[7];
        for (int i = 0; i < 8; i++)
            now.ticks += ticks[i];
    }
    if (file)
        fclose(file);
    return now;
}

bench_usage bench_usage_between(const bench_usage *begin, const bench_usage *end)
{
    return (bench_usage){end->seconds - begin->seconds, end->used - begin->used,
                         end->ticks - begin->ticks, end->stolen - begin->stolen};
}
