/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.h - the process of a device. A thread of the plugin starts it, passes its messages to the
 * log and waits for its end: the kernel ends a worker with the thread that started it, which must
 * therefore live as long. A program that waits for any child may get this one too; its end is
 * noticed nevertheless.
 */
#ifndef PLUGINS_WORKER_PROCESS_H
#define PLUGINS_WORKER_PROCESS_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include <collet/plugin.h>

typedef enum process_state {
    PROCESS_STARTING,
    PROCESS_RUNS,
    PROCESS_ENDED
} process_state;

typedef struct process {
    const collet_host *host;
    const char *name;   /* for messages; lent */
    char *const *words; /* of the command line, NULL-terminated; lent until process_start returns */
    void (*ended)(void *user); /* called by the thread, once, after `state` is ENDED */
    void *user;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    process_state state; /* under lock, as the next three */
    int error;           /* errno of a start that failed */
    int status;          /* of waitpid */
    pid_t pid;
    int control, events;             /* of this side */
    int their_control, their_events; /* closed when it has started */
} process;

/* UNAVAILABLE with the reason; NO_MEMORY. On an error nothing is left to stop. */
collet_status process_start(process *p, collet_error *err);
void process_kill(process *p);
/* Waits at most `milliseconds` for the end of the process. Returns whether it has ended. */
bool process_wait(process *p, int milliseconds);
/* How it ended: "was ended by signal 11 (SEGV)". */
void process_end_text(process *p, char *text, size_t size);
/* Closes the control socket: the worker then ends. Kills the worker if it does not end. Frees *p's
 * contents. */
void process_stop(process *p);

#endif
