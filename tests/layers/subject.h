/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subject - a small backend, part of the test program, that breaks one rule on demand.
 *
 * Device 0 has its own memory and queues. Device 1 works on host memory and is synchronous. Device
 * 2 is like device 0, but allows one thread and one queue. Commands are done when they are
 * enqueued. Kernel row 0 copies f32, row 1 does the same with a workspace of 100 bytes, row 2 is
 * `fill`.
 */
#ifndef TESTS_LAYERS_SUBJECT_H
#define TESTS_LAYERS_SUBJECT_H

#include <collet/plugin.h>

extern const collet_plugin subject;

/* The defect of the subject: a name that subject.c knows; "": none. */
extern const char *subject_defect;
/* While subject_block is on, calls of `run` and `queue_wait` block if the defect is "blocks".
 * subject_wait_blocked waits until a call blocks. */
void subject_block(int on);
void subject_wait_blocked(void);
/* Undoes changes of the subject's table. */
void subject_reset(void);

#endif
