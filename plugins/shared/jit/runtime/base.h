/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base.h - the objects shared by the backends that compile kernels at run time. A backend's `struct
 * collet_device` begins with a jit_base, its `struct collet_queue` with a jit_queue; the driver's
 * own members follow.
 */
#ifndef COLLET_JIT_RUNTIME_BASE_H
#define COLLET_JIT_RUNTIME_BASE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "launch.h"
#include "pool.h"

/* ---- Parts of a device and of a queue -------------------------------------------------------- */

/* A device keeps at most this many; jit_programs_forget empties the table. */
#define JIT_PROGRAMS 1024u

typedef struct jit_program {
    const jit_source *source;
    char *options;
    void *handle; /* NULL: it did not compile, */
    char *why;    /* and this is the reason */
} jit_program;

typedef struct jit_programs {
    pthread_mutex_t lock; /* held during compilation */
    double seconds;       /* spent on compilation */
    uint32_t compiled;    /* programs */
    uint32_t count;
    jit_program programs[JIT_PROGRAMS];
} jit_programs;

typedef struct jit_piece {
    void *address;   /* NULL: not taken */
    void *handle;    /* the driver's handle */
    uint64_t ticket; /* of the last command that uses it */
} jit_piece;

typedef struct jit_staging {
    pthread_mutex_t lock; /* held for a whole transfer; taken before the queue's */
    jit_piece pieces[2];
    uint32_t next;
    int none; /* allocation failed; tried again after the next trim */
} jit_staging;

/* ---- Devices and queues ---------------------------------------------------------------------- */

#define JIT_MESSAGE 400

typedef struct jit_base {
    const collet_host *host;
    uint32_t index;
    jit_traits traits;
    uint64_t total_memory;
    char options[256];   /* compiler options for all programs: jit_options */
    char identity[1200]; /* what a binary depends on besides source and options */
    _Atomic int lost;    /* 0: the device works; else the driver's error, or 1 */
    uint64_t staging;    /* size of a page-locked piece; 0: direct transfers */
    jit_pool pool;
    jit_programs programs;
    struct plan_cache *tables;
    _Atomic uint64_t freed; /* counts what recorded commands may refer to: tables, programs, ... */
    pthread_mutex_t lock;   /* protects the list of queues */
    collet_queue *queues;   /* all ever created */
} jit_base;

/*
 * Commands of a queue are counted by tickets, from 1. A destroyed queue is kept for the next
 * queue_create: tables may still refer to its tickets.
 */
typedef struct jit_queue {
    collet_device *device;
    pthread_mutex_t lock;
    uint64_t submitted; /* tickets issued */
    uint64_t retired;   /* tickets known to be complete */
    jit_staging staging;
    collet_status failure; /* the first */
    uint64_t failed_at;    /* its ticket, or an earlier one that may have failed */
    int drained;           /* since then */
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

/* Recordings of commands made before this are of no use. */
static inline void jit_freed(collet_device *device)
{
    atomic_fetch_add(&jit_base_of(device)->freed, 1);
}

/* ---- What a backend implements --------------------------------------------------------------- */

typedef struct jit_extension_table {
    const char *name;
    const void *table;
} jit_extension_table;

typedef struct backend_facts {
    const char *name;    /* its settings are NAME.memory (bytes a device may allocate), NAME.staging
                          * (staging.h) and NAME.sources (a directory that receives every source
                          * compiled) */
    const char *prelude; /* the text that precedes all sources */
    const collet_plugin *plugin;
    const jit_extension_table *extensions; /* a NULL name ends them */
    size_t device_bytes, queue_bytes;      /* sizes of its collet_device and collet_queue */
} backend_facts;

extern const backend_facts this_backend;

/* DEVICE_LOST if the device was lost earlier. */
collet_status jit_device_gone(collet_device *device, collet_error *err);

#endif
