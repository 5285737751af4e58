/* SPDX-License-Identifier: Apache-2.0 */
/* control.h - how a test chooses which commands fail late. Its address is the setting late.control,
 * in hexadecimal. */
#ifndef TESTS_FAKES_LATE_CONTROL_H
#define TESTS_FAKES_LATE_CONTROL_H

#include <stdatomic.h>
#include <stdint.h>

/* What a queue still runs after a failed command. GOES_ON: all later commands. WAITS: only waits
 * for other queues. SKIPS: nothing. */
enum { LATE_GOES_ON, LATE_WAITS, LATE_SKIPS };

typedef struct late_control {
    _Atomic uint64_t queues; /* number of queues created so far; queues are numbered from 1 */
    _Atomic int after_failure;
    /* Called when a kernel or a write is enqueued as command number `value` of a queue. Returns 1
     * if the command must fail. A wait for this command or for a later command then reports the
     * failure. */
    int (*fails)(struct late_control *control, uint64_t queue, uint64_t value);
} late_control;

#endif
