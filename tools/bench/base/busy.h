/* SPDX-License-Identifier: Apache-2.0 */
/* busy.h - other work on the machine: processes that only use processors, and stolen time. */
#ifndef TOOLS_BENCH_BASE_BUSY_H
#define TOOLS_BENCH_BASE_BUSY_H

#include <stdint.h>
#include <sys/types.h>

#define BENCH_BUSY_MAX 64

typedef struct bench_busy {
    int32_t count;
    pid_t processes[BENCH_BUSY_MAX];
} bench_busy;

/* Starts `count` processes, each busy until bench_busy_stop or the end of this program. 0: not all
 * could be started, and none is left. */
int32_t bench_busy_start(bench_busy *b, int32_t count);
void bench_busy_stop(bench_busy *b);

/* Up to now: seconds that passed and that this process used of processors; the ticks of all
 * processors, and those that a hypervisor gave to others (0 where the system does not count them).
 */
typedef struct bench_usage {
    double seconds, used, ticks, stolen;
} bench_usage;

bench_usage bench_usage_now(void);
/* The same between the two. */
bench_usage bench_usage_between(const bench_usage *begin, const bench_usage *end);

#endif
