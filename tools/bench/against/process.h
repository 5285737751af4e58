/* SPDX-License-Identifier: Apache-2.0 */
/* A reference's child process, seen from backend-bench. */
#ifndef BENCH_REFERENCE_PROCESS_H
#define BENCH_REFERENCE_PROCESS_H

#include "reference.h"
#include "common/stats.h"

#include <stdio.h>
#include <sys/types.h>

#define REFERENCE_SOCKET 3               /* the child's end of the connection */
#define REFERENCE_ARGUMENT "--reference" /* argv[1] of the child */

typedef enum reference_state {
    REFERENCE_RUNS,
    REFERENCE_SLOW,   /* measured, and left out of later rounds: others are far faster */
    REFERENCE_ABSENT, /* not on this machine, or it does not do this call; text says why */
    REFERENCE_DEAD,   /* it was measured no further: a crash, a wrong result; text says how */
} reference_state;

typedef struct reference_process {
    const reference_library *library;
    const char *value; /* of the library's variable; NULL: its own pick */
    reference_state state;
    char text[REFERENCE_TEXT];
    double *samples; /* seconds a call */
    int64_t count, calls;
    int32_t same;            /* the output that is compared, -1: none */
    reference_digest digest; /* of it */
    pid_t pid;               /* 0: none */
    FILE *from, *to;
} reference_process;

/* Starts the child for a call of the layout on so many threads and waits until it is ready. What
 * goes wrong is in state and text. Called on the main thread: the child ends with the thread that
 * started it. */
void reference_start(reference_process *p, const reference_library *library, const char *value,
                     const bench_layout *layout, int32_t threads);
/* Lets it sample for so long. */
void reference_sample(reference_process *p, double seconds);
/* The samples are lent, and sorted. 0 when there are none. */
int32_t reference_stats(reference_process *p, bench_stats *stats);
/* Ends the child and frees everything. */
void reference_stop(reference_process *p);

#endif
