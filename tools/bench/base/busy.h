/* SPDX-License-Identifier: Apache-2.0 */
/* busy.h - simulates other work on the machine by processes that only use processors, and measures stolen time. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#define BENCH_BUSY_MAX 64

typedef struct bench_busy {
    int32_t count;
    pid_t processes[BENCH_BUSY_MAX];
} bench_busy;

/* Starts `count` processes, each busy until bench_busy_stop or the end of this program. 0: not all processes could be
 * started; then no process is left running. */
int32_t bench_busy_start(bench_busy *b, int32_t count);
void bench_busy_stop(bench_busy *b);

/* Counters up to a point in time. seconds: wall-clock time; used: processor time of this process; ticks: time of all
 * processors; stolen: ticks that a hypervisor gave to other machines (0 if the system does not count them). */
typedef struct bench_usage {
    double seconds, used, ticks, stolen;
} bench_usage;

bench_usage bench_usage_now(void);
/* Returns the usage between two points in time. */
bench_usage bench_usage_between(const bench_usage *begin, const bench_usage *end);
