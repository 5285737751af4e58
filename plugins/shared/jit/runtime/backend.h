/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend.h - what backends that compile kernels at run time have in common: their device, its
 * queues, and the slots of the vtable that need no driver.
 *
 * A backend's `struct collet_device` begins with a jit_base, its `struct collet_queue` with a
 * jit_queue; the driver's own things follow. What is shared comes first (backend.c, queue.c,
 * program.c), what a backend implements stands at the end.
 */
#ifndef COLLET_JIT_RUNTIME_BACKEND_H
#define COLLET_JIT_RUNTIME_BACKEND_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "launch.h"
#include "pool.h"
#include "program.h"
#include "staging.h"

#define JIT_MESSAGE 400

typedef struct jit_base {
    const collet_host *host;
    jit_traits traits;
    uint64_t total_memory;
    char options[256];   /* of the compiler, for all programs: jit_options */
    char identity[1200]; /* what a program's binary depends on beside source and options */
    _Atomic int lost;    /* 0: it is not; the driver's error, or 1 */
    uint64_t staging;    /* bytes of a piece of page-locked memory; 0: transfers are direct */
    jit_pool pool;
    jit_programs programs;
    struct plan_cache *tables;
    pthread_mutex_t lock; /* of the queues' list */
    collet_queue *queues; /* all that were ever made */
} jit_base;

/*
 * Commands of a queue are counted by tickets. A queue that is destroyed lives on for the next
 * queue_create: freed buffers may still name tickets of it.
 */
typedef struct jit_queue {
    collet_device *device;
    pthread_mutex_t lock;
    uint64_t submitted; /* tickets given */
    uint64_t retired;   /* tickets known to have passed */
    jit_staging staging;
    collet_status failure; /* the first since the last wait */
    char failed[JIT_MESSAGE];
    int idle;
    collet_queue *next;
} jit_queue;

static inline jit_base *jit_base_of(collet_device *device)
{
    return (jit_base *)(void *)device;
}

static inline jit_queue *jit_queue_of(collet_queue *queue)
{
    return (jit_queue *)(void *)queue;
}

/* ---- backend.c: the device ------------------------------------------------------------------- */

/* Writes base.options: `first`, then what the traits define. */
void jit_options(collet_device *device, const char *first);

/* Before a command of `queue` that uses these buffers is enqueued: orders it after their last
 * owners. DEVICE_LOST. */
collet_status jit_before(collet_device *device, collet_buffer *const *buffers, uint32_t count,
                         collet_queue *queue, collet_error *err);

/* Slots. */
collet_status jit_device_open(const collet_host *host, uint32_t index, collet_device **device,
                              collet_error *err);
void jit_device_close(collet_device *device);
int32_t jit_device_supports(collet_device *device, uint32_t row);
collet_status jit_buffer_alloc(collet_device *device, uint64_t bytes, collet_buffer **buffer,
                               collet_error *err);
void jit_buffer_free(collet_device *device, collet_buffer *buffer);
collet_status jit_memory_stats(collet_device *device, collet_memory_stats *stats,
                               collet_error *err);
void jit_trim(collet_device *device);

/* ---- queue.c --------------------------------------------------------------------------------- */

/* Under the queue's lock: keeps the failure for the next wait, unless there is one. */
void jit_queue_fail(collet_queue *queue, collet_status status, const char *format, ...)
    COLLET_PRINTF(3, 4);
/* What is known to have failed since the last wait, which will still be told of it. */
collet_status jit_queue_check(collet_queue *queue, collet_error *err);
/* Calls `visit` for every queue there is, under its lock. */
void jit_queues_visit(collet_device *device, void (*visit)(collet_queue *queue));
/* Gives the page-locked memory of all queues back. */
void jit_queues_unpin(collet_device *device);
/* At jit_device_close. */
void jit_queues_free(collet_device *device);

/* Slots. */
collet_status jit_queue_create(collet_device *device, collet_queue **queue, collet_error *err);
void jit_queue_destroy(collet_device *device, collet_queue *queue);
collet_status jit_queue_wait(collet_device *device, collet_queue *queue, collet_error *err);

/* ---- between.c ------------------------------------------------------------------------------- */

/* Slot. */
collet_status jit_copy_between(collet_device *device, collet_queue *queue, collet_buffer *target,
                               uint64_t target_offset, const collet_plugin *of, collet_device *from,
                               collet_queue *from_queue, collet_buffer *source,
                               uint64_t source_offset, uint64_t bytes, collet_error *err);

/* ---- What a backend implements --------------------------------------------------------------- */

typedef struct backend_facts {
    const char *name;    /* its settings are NAME.memory (bytes a device may hold), NAME.staging
                            (staging.h) and NAME.sources (a directory that gets every source
                            compiled) */
    const char *prelude; /* the text before all sources */
    const collet_plugin *plugin;
    size_t device_bytes, queue_bytes; /* of its collet_device and collet_queue */
} backend_facts;

extern const backend_facts this_backend;

/* Finds device `index` and makes it ready; fills traits, total_memory, staging (what it is unless
 * NAME.staging is set), options and identity. The rest of *device is zeroed. jit_backend_close
 * follows whatever comes of it. */
collet_status jit_backend_open(collet_device *device, uint32_t index, collet_error *err);
void jit_backend_close(collet_device *device);
/* DEVICE_LOST, for a device that was lost before. */
collet_status jit_device_gone(collet_device *device, collet_error *err);

/* The driver's part of a zeroed queue; jit_backend_queue_close follows whatever comes of it. */
collet_status jit_backend_queue_open(collet_queue *queue, collet_error *err);
/* Everything in it has passed. */
void jit_backend_queue_close(collet_queue *queue);

/* A part of a buffer that another device may read. */
typedef struct jit_loan {
    collet_buffer *buffer;
    uint64_t offset;
    void *address;   /* that the other device reads */
    uint64_t ticket; /* of the buffer's own queue, after which it may */
} jit_loan;

/* Whether `device` reads the memory of `from`, another device of this backend, by itself. */
int jit_reaches(collet_device *device, collet_device *from);
/* In `queue`, of the buffer's device: sets the address and the ticket. */
collet_status jit_lend(collet_queue *queue, uint64_t bytes, jit_loan *lent, collet_error *err);
/* In `queue`, which was ordered after the ticket: reads what was lent into `target`. */
collet_status jit_fetch(collet_queue *queue, collet_buffer *target, uint64_t offset,
                        collet_device *from, const jit_loan *lent, uint64_t bytes, uint64_t *ticket,
                        collet_error *err);
/* In the lender's queue, which was ordered after the other device has read: a ticket after that. */
uint64_t jit_take_back(collet_queue *queue, const jit_loan *lent);

/* Under the queue's lock. */
/* Finds out which tickets have passed, and what failed. */
void jit_queue_retire(collet_queue *queue);
/* Waits at least until `ticket` has passed. */
void jit_queue_reach(collet_queue *queue, uint64_t ticket);
/* Waits for everything; a device that answers no more is lost then. */
void jit_queue_drain(collet_queue *queue);
/* Gives back what is kept for the queue to be fast; may wait for everything. */
void jit_queue_trim(collet_queue *queue);

#endif
