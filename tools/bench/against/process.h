/* SPDX-License-Identifier: Apache-2.0 */
/* The child process of a reference. */
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
    REFERENCE_SLOW,   /* measured once, left out of later rounds: others are far faster */
    REFERENCE_ABSENT, /* not on this machine, or without this call; text has the reason */
    REFERENCE_DEAD,   /* crashed or gave a wrong result; text has the reason */
} reference_state;

typedef struct reference_process {
    const reference_library *library;
    const char *value; /* of the library's variable; NULL: its own choice */
    reference_state state;
    char text[REFERENCE_TEXT];
    double *samples; /* seconds a call */
    int64_t count, calls;
    int32_t same;            /* the output that is compared, -1: none */
    reference_digest digest; /* of it */
    pid_t pid;               /* 0: none */
    FILE *from, *to;
} reference_process;

/* Starts the child for a call of the layout on `threads` threads and waits until it is ready.
 * Failures are in state and text. Called on the main thread: the child ends with the thread that
 * started it. */
void reference_start(reference_process *p, const reference_library *library, const char *value,
                     const bench_layout *layout, int32_t threads);
/* Samples for `seconds`. */
void reference_sample(reference_process *p, double seconds);
/* The samples belong to the process and are sorted. 0 when there are none. */
int32_t reference_stats(reference_process *p, bench_stats *stats);
/* Ends the child and frees everything. */
void reference_stop(reference_process *p);

#endif
