/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base.h - the objects that backends which compile at run time have in common. A backend's `struct
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

/* What is kept; there is room again after jit_programs_forget. */
#define JIT_PROGRAMS 1024u

typedef struct jit_program {
    const jit_source *source;
    char *options;
    void *handle; /* NULL: it does not compile, */
    char *why;    /* the reason then reported */
} jit_program;

typedef struct jit_programs {
    pthread_mutex_t lock; /* held while anything is compiled */
    uint32_t count;
    jit_program programs[JIT_PROGRAMS];
} jit_programs;

typedef struct jit_piece {
    void *address;   /* NULL: not taken */
    void *handle;    /* the driver's */
    uint64_t ticket; /* of the last command that uses it */
} jit_piece;

typedef struct jit_staging {
    pthread_mutex_t lock; /* of a whole transfer; before the queue's */
    jit_piece pieces[2];
    uint32_t next;
    int none; /* there was no memory to have, until the next trim */
} jit_staging;

/* ---- Devices and queues ---------------------------------------------------------------------- */

#define JIT_MESSAGE 400

typedef struct jit_base {
    const collet_host *host;
    jit_traits traits;
    uint64_t total_memory;
    char options[256];   /* of the compiler, for all programs: jit_options */
    char identity[1200]; /* what a program's binary depends on besides source and options */
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

/* DEVICE_LOST, for a device that was lost before. */
collet_status jit_device_gone(collet_device *device, collet_error *err);

#endif
