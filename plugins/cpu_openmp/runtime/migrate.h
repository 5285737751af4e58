/* SPDX-License-Identifier: Apache-2.0 */
/* migrate.h - moves threads to other processors in cases in which the operating system would take
 * milliseconds to move them. The set of processors that a thread may use does not change. Private to team.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The operating system often wakes a thread on the processor of the thread that wakes it. If no processor
 * is idle, the caller of a job and a worker then take turns on one processor. A worker calls this function
 * to leave `processor` to the caller of the job and to compete with other programs for another processor. */
void migrate_away(int32_t processor);

/* Moves the worker `id` away from the processor of the calling thread: the worker was woken but
 * has not run yet, because it waits for this processor. Does nothing within 0.5 ms of the
 * calling thread's last attempt. */
void migrate_off(pid_t id);

/*
 * The operating system keeps a preempted thread on the processor where it ran last, even while the
 * processor of a waiting caller is idle. If the thread `id` of this process gets no processor time,
 * moves it to the processor of the calling thread. Returns whether it did. Takes some microseconds.
 */
bool migrate_here(pid_t id);
