/* SPDX-License-Identifier: Apache-2.0 */
/*
 * migrate.h - moves threads to other processors where the operating system takes milliseconds to do
 * so. The processors that a thread may use stay as they are. Private to team.c.
 */
#ifndef PLUGINS_CPU_OPENMP_RUNTIME_MIGRATE_H
#define PLUGINS_CPU_OPENMP_RUNTIME_MIGRATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The operating system often wakes a thread on the processor of the thread that wakes it. If no
 * processor is idle, caller and worker then take turns on one. So the calling worker leaves
 * `processor` to the caller and competes with other programs for another one.
 */
void migrate_away(int32_t processor);

/*
 * The same for the thread `id`, which waits for the processor of the calling one: a worker that was
 * woken and has not run yet. Does nothing within 0.5 ms of the calling thread's
 * last attempt.
 */
void migrate_off(pid_t id);

/*
 * The operating system keeps a preempted thread on the processor where it ran last, even while the
 * processor of a waiting caller is idle. If the thread `id` of this process gets no processor time,
 * moves it to the processor of the calling thread. Returns whether it did. Takes some microseconds.
 */
bool migrate_here(pid_t id);

#endif
