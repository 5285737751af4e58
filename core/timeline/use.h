/* SPDX-License-Identifier: Apache-2.0 */
/* A reference to work in a queue, as blocks and queues record it. */
#pragma once

#include "device/device.h"

/* A use; it is over once queue->completed >= ticket. */
typedef struct use {
    queue *queue;
    uint64_t ticket;
} use;

/* Work from which bytes derive: origins.h. */
#define ORIGINS_MAX 8

typedef struct origins {
    uint32_t count;
    use uses[ORIGINS_MAX];
} origins;
