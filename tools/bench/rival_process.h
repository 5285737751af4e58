/* SPDX-License-Identifier: Apache-2.0 */
/* A rival's child process, seen from backend-bench. */
#ifndef BENCH_RIVAL_PROCESS_H
#define BENCH_RIVAL_PROCESS_H

#include "rival.h"
#include "stats.h"

#include <stdio.h>
#include <sys/types.h>

#define RIVAL_SOCKET 3           /* the child's end of the connection */
#define RIVAL_ARGUMENT "--rival" /* argv[1] of the child */

typedef enum rival_state {
    RIVAL_RUNS,
    RIVAL_SLOW,   /* measured, and left out of later rounds: others are far faster */
    RIVAL_ABSENT, /* not on this machine, or it does not do this call; text says why */
    RIVAL_DEAD,   /* it was measured no further: a crash, a wrong result; text says how */
} rival_state;

typedef struct rival_process {
    const rival_library *library;
    const char *value; /* of the library's variable; NULL: its own pick */
    rival_state state;
    char text[RIVAL_TEXT];
    double *samples; /* seconds a call */
    int64_t count, calls;
    int32_t same;        /* the output that is compared, -1: none */
    rival_digest digest; /* of it */
    pid_t pid;           /* 0: none */
    FILE *from, *to;
} rival_process;

/* Starts the child for a call of the layout on so many threads and waits until it is ready. What
 * goes wrong is in state and text. Called on the main thread: the child ends with the thread that
 * started it. */
void rival_start(rival_process *p, const rival_library *library, const char *value,
                 const bench_layout *layout, int32_t threads);
/* Lets it sample for so long. */
void rival_sample(rival_process *p, double seconds);
/* The samples are lent, and sorted. 0 when there are none. */
int32_t rival_stats(rival_process *p, bench_stats *stats);
/* Ends the child and frees everything. */
void rival_stop(rival_process *p);

#endif
