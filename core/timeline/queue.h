/* SPDX-License-Identifier: Apache-2.0 */
/* A queue of a device: its tickets, their failures, and waits for them. */
#pragma once

#include "use.h"

/* A failure of the tickets (after, upto] of a queue. */
typedef struct queue_failure {
    collet_status status;
    uint64_t after, upto;
    char why[480];
} queue_failure;

#define QUEUE_FAILURES 8 /* if there are more, the oldest are merged */
#define QUEUE_WAITS 8    /* waits for other queues that a queue remembers */

/* A queue of a device, for contexts. Each enqueued call has a ticket: `base` + the value of
 * the plugin's queue after it. A use of bytes is recorded as (queue, ticket): it is over once
 * completed >= ticket. A queue of the plugin that has failed is replaced by a new queue, with a later base. Queues
 * live as long as their device, so a recorded use never dangles. Contexts share a queue if the device supports no
 * further queue. Locks are taken in the order retired_lock, lock, handle_lock, device.calls.
 */
struct queue {
    device *device;
    collet_queue *handle;         /* NULL on synchronous devices */
    uint64_t base;                /* written under both locks, as `handle` */
    pthread_mutex_t lock;         /* held while commands are enqueued */
    pthread_rwlock_t handle_lock; /* read-locked by waits, write-locked to replace the handle */
    _Atomic uint64_t submitted, completed;
    _Atomic uint64_t lost_after; /* if the device was lost: later tickets may still be at work */
    queue_failure failures[QUEUE_FAILURES]; /* by increasing ticket; under lock */
    _Atomic uint32_t failure_count;
    int32_t failed;         /* 1: the handle has failed; under lock */
    use waits[QUEUE_WAITS]; /* uses for which the handle waits, at most one for each queue; under lock */
    uint32_t next_wait;     /* index of the element to be replaced next */
    uint32_t users;         /* number of contexts that use the queue; under owner->lock */
    uint32_t number;        /* among the queues of its device, from 1; constant */
    _Atomic int traced;     /* 1: its row in the trace has a name */
    queue *next, *next_idle;
};

/* Gets a queue for one context, possibly shared; queue_return gives it back. */
collet_status queue_take(device *d, queue **out, collet_error *err);
void queue_return(queue *q);
/* Destroys the queues, at the end of the runtime, when they have no work. */
void queues_free(device *d);

/* Enclose calls of the plugin that enqueue commands, so that no other thread enqueues in between.
 * If the handle has failed, queue_lock replaces it. NO_MEMORY, FAILED, DEVICE_LOST: not locked. */
collet_status queue_lock(queue *q, collet_error *err);
/* Returns the ticket of the commands that were enqueued. */
uint64_t queue_unlock(queue *q);

/* Waits for `ticket`, at most as long as the setting `timeout`; after that the device is lost. Any
 * thread, also while others enqueue. See also use_reach in block.h. */
void queue_await(queue *q, uint64_t ticket);
/* 1 if `ticket` is over without a failure. Asks the device; 0 if that would block. */
int queue_passed(queue *q, uint64_t ticket);
/* 1 if the queue is still at work, or if asking would wait for another call of the device; 0 also
 * while the handle is being replaced. */
int queue_works(queue *q);
/* 1 if `ticket` was not known to be over when its device was lost. Such a ticket counts as completed, so that no
 * thread waits for it, but its commands may still be at work. */
static inline int queue_lost(const queue *q, uint64_t ticket)
{
    return ticket > atomic_load(&q->lost_after);
}
/* The known failure of `ticket`, else COLLET_OK. `q` may be NULL. */
collet_status queue_failure_of(queue *q, uint64_t ticket, collet_error *err);
collet_status queue_outcome(queue *q, uint64_t ticket, collet_error *err);
