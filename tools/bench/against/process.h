/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The child process of a reference. Both ends are this program, so structures cross the socket
 * REFERENCE_SOCKET as they are: the parent sends a reference_request, the child a reference_reply;
 * then for each time to sample for (a double, seconds) the child sends a reference_round and its
 * samples (doubles), until the parent closes the connection.
 */
#ifndef TOOLS_BENCH_AGAINST_PROCESS_H
#define TOOLS_BENCH_AGAINST_PROCESS_H

#include "reference.h"
#include "common/stats.h"

#include <sys/types.h>

#define REFERENCE_FILE 512               /* bytes of a path */
#define REFERENCE_SOCKET 3               /* the child's end of the connection */
#define REFERENCE_ARGUMENT "--reference" /* argv[1] of the child */

typedef struct reference_request {
    size_t library, variant; /* indices of the table */
    char op[COLLET_MAX_NAME];
    uint32_t count; /* operands, outputs first */
    bench_operand operands[COLLET_MAX_OPERANDS];
    int32_t axes, threads;
    char file[REFERENCE_FILE]; /* as in reference_job; "": none */
} reference_request;

typedef struct reference_reply {
    int32_t ready; /* 0: absent */
    int32_t same;  /* as in reference_job */
    char text[REFERENCE_TEXT];
} reference_reply;

typedef struct reference_round {
    int64_t count, calls; /* samples, and calls of each */
    reference_digest digest;
} reference_round;

/* Exactly `bytes`; 0 when the connection ended, or nothing arrived for `timeout` milliseconds (-1:
 * no limit). */
int32_t reference_send(int socket, const void *data, size_t bytes);
int32_t reference_receive(int socket, void *data, size_t bytes, int timeout);

typedef enum reference_state {
    REFERENCE_RUNS,
    REFERENCE_SLOW,   /* measured once, left out of later rounds: others are far faster */
    REFERENCE_ABSENT, /* not on this machine, or without this call; text has the reason */
    REFERENCE_DEAD,   /* crashed or gave a wrong result; text has the reason */
} reference_state;

typedef struct reference_process {
    const reference_library *library;
    const char *value; /* of the library's variable; NULL: its own choice */
    const char *file;  /* as in reference_job */
    reference_state state;
    char text[REFERENCE_TEXT];
    double *samples; /* seconds a call */
    int64_t count, calls;
    int32_t same;            /* the output that is compared, -1: none */
    reference_digest digest; /* of it */
    pid_t pid;               /* 0: none */
    int socket;              /* -1: closed */
} reference_process;

/* Starts the child for a call of the layout on `threads` threads and waits until it is ready. `file`
 * as in reference_job.
 * Failures are in state and text. Called on the main thread: the child ends with the thread that
 * started it. */
void reference_start(reference_process *p, size_t library, size_t variant, const char *file,
                     const bench_layout *layout, int32_t threads);
/* Samples for `seconds`. */
void reference_sample(reference_process *p, double seconds);
/* The samples belong to the process and are sorted. 0 without samples. */
int32_t reference_stats(reference_process *p, tool_stats *stats);
/* Ends the child and frees everything. */
void reference_stop(reference_process *p);

/* The child's main; an exit status. */
int reference_worker(void);

#endif
