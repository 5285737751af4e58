/* SPDX-License-Identifier: Apache-2.0 */
/* control.h - the struct by which a test observes the commands of the backend `remote` and chooses the status of
 * each. The setting remote.control has the address of the struct, in hexadecimal. */
#ifndef TESTS_FAKES_REMOTE_CONTROL_H
#define TESTS_FAKES_REMOTE_CONTROL_H

#include <stdatomic.h>
#include <stdint.h>

#include <collet/types.h>

/* A command. Queues and buffers are identified by serial numbers from 1. */
typedef struct remote_command {
    uint32_t device;             /* index */
    uint64_t queue, value;       /* value: the queue's counter when the command is done */
    uint64_t target, sources[2]; /* buffers; 0: none */
    int kernel;                  /* 0: a transfer */
    int partial;                 /* writes part of the target */
    int delay_us;                /* set by `enqueued`: delay before it runs */
} remote_command;

/* What a queue still runs after a failed command. GOES_ON: all later commands. WAITS: only waits
 * for other queues. SKIPS: nothing. */
enum { REMOTE_GOES_ON, REMOTE_WAITS, REMOTE_SKIPS };

typedef struct remote_control {
    _Atomic uint64_t serial;
    _Atomic int stamps;         /* alive */
    _Atomic int after_failure;  /* REMOTE_* */
    _Atomic int refused_writes; /* how many of the next writes to refuse */
    /* Called when a command is enqueued, before it runs; returns the command's final
     * status. Unless the status is OK, the target's bytes are garbage afterwards. */
    collet_status (*enqueued)(struct remote_control *control, remote_command *command);
    /* Called when a wait for a value of the queue's counter returns `status`. */
    void (*waited)(struct remote_control *control, uint64_t queue, uint64_t value,
                   collet_status status);
} remote_control;

/* The handle of a queue in collet.native/1. A buffer's handle is its address. */
typedef struct remote_native_queue {
    /* Enqueues a command of the program, which the plugin does not count. */
    void (*enqueue)(struct remote_native_queue *queue, void (*work)(void *user), void *user);
} remote_native_queue;

#endif
