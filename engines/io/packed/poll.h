/* SPDX-License-Identifier: Apache-2.0 */
/* poll.h - asks the caller of long work whether to stop it. */
#pragma once

#include <stdint.h>

/* Called from time to time: returns 0 to continue, any other value to stop the work. `ask` = NULL:
 * continue. */
typedef struct io_poll {
    int32_t (*ask)(void *user);
    void *user;
} io_poll;

static inline int io_poll_stops(const io_poll *poll)
{
    return poll->ask && poll->ask(poll->user);
}
