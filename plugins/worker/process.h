/* SPDX-License-Identifier: Apache-2.0 */
/* process.h - the worker process of a device. A thread of the plugin starts it, passes its messages to the
 * log and waits for its end. The operating system ends a worker together with the thread that started it, so this
 * thread must live as long as the worker. A program that waits for any child process may get the status of a worker;
 * the thread still notices that the worker ended.
 */
#pragma once

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
    const char *name;   /* for messages; must outlive the process */
    char *const *words; /* the command line, NULL-terminated; used until process_start returns */
    void (*ended)(void *user); /* called by the thread, once, after `state` is ENDED */
    void *user;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    process_state state; /* `lock` protects this member and the next three */
    int error;           /* errno if the start failed */
    int status;          /* the status from waitpid */
    pid_t pid;
    int control, events;             /* the plugin's ends of the sockets */
    int their_control, their_events; /* the worker's ends, closed when it has started */
} process;

/* Returns COLLET_OK, UNAVAILABLE with the reason, or NO_MEMORY. After an error there is nothing to stop. */
collet_status process_start(process *p, collet_error *err);
void process_kill(process *p);
/* Waits at most `milliseconds` for the end of the process. Returns whether it has ended. */
bool process_wait(process *p, int milliseconds);
/* Writes how the process ended, such as "was ended by signal 11 (SEGV)". */
void process_end_text(process *p, char *text, size_t size);
/* Closes the control socket: the worker then ends. Kills the worker if it does not end. Frees *p's
 * contents. */
void process_stop(process *p);
