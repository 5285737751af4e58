/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subject - a small backend, part of the test program, that breaks one rule on demand.
 *
 * Device 0 has memory of its own and queues, device 1 works on host memory and is synchronous,
 * device 2 is as device 0 with one thread and one queue. Commands are done when they are enqueued.
 * Row 0 copies f32, row 1 too, with a workspace of 100 bytes, row 2 is `fill`.
 */
#ifndef TESTS_LAYERS_SUBJECT_H
#define TESTS_LAYERS_SUBJECT_H

#include <collet/plugin.h>

extern const collet_plugin subject;

/* The defect of the subject: a word of subject.c; "": none. */
extern const char *subject_defect;
/* While it is locked, calls of `run` and `queue_wait` with the defect "blocks" block; posted when
 * one does. */
void subject_block(int on);
void subject_wait_blocked(void);
/* Undoes changes of its table. */
void subject_reset(void);

#endif
