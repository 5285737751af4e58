/* SPDX-License-Identifier: Apache-2.0 */
/* control.h - how a test chooses which commands fail late. Its address is the setting late.control,
 * in hexadecimal. */
#ifndef TESTS_FAKES_LATE_CONTROL_H
#define TESTS_FAKES_LATE_CONTROL_H

#include <stdatomic.h>
#include <stdint.h>

/* A queue runs after a failed command: all later commands; only waits for other queues; none. */
enum { LATE_GOES_ON, LATE_WAITS, LATE_SKIPS };

typedef struct late_control {
    _Atomic uint64_t queues; /* queues that were created; their numbers begin at 1 */
    _Atomic int after_failure;
    /* Called when a kernel or a write is enqueued: the command `value` of a queue. 1: it fails when
     * its turn comes, which waits for it or a later command report. */
    int (*fails)(struct late_control *control, uint64_t queue, uint64_t value);
} late_control;

#endif
