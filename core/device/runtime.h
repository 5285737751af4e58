/* SPDX-License-Identifier: Apache-2.0 */
/* The members of a runtime: settings, log, records, ops, backends with their devices, and the count
 * of the host's memory. Members are constant after the runtime was created, unless their comments
 * name a lock. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include <collet/collet.h>
#include <collet/plugin.h>

#include "memory_count.h"
#include "op/table.h"
#include "plugins/loader.h"
#include "plugins/record.h"
#include "settings/config.h"
#include "util/log.h"
#include "util/programs.h"
#include "util/trace.h"

#define RUNTIME_DEVICES_MAX 63  /* in all backends; with the host they fit into a 64-bit mask */
#define RUNTIME_OWN_OPS_MAX 256 /* ops that plugins define */

typedef struct crossover crossover;
typedef struct backend backend;
typedef struct device device;

struct collet_runtime {
    collet_host host; /* first: a host table is cast back to its runtime */
    _Atomic int64_t references;
    unsigned char *fork_mark; /* a page that the kernel wipes in a child of fork: FORK_MARK_* */
    trace *trace;             /* the setting trace; NULL: none */
    pid_t process;            /* the process that created the runtime */
    config *config;
    message_log log;
    int32_t threads; /* maximum; a cgroup's quota may allow fewer */
    int64_t timeout; /* limit for waits for devices, in nanoseconds; -1: none */
    record_list *records;
    op_table ops;
    pthread_mutex_t own_ops_lock;
    _Atomic uint32_t own_op_count;
    /* Own op i has the id 2^31 + i; its strings belong to open plugins. A longer definition
     * replaces an op. */
    op *_Atomic own_ops[RUNTIME_OWN_OPS_MAX];
    loader_plugin *plugins; /* backends, then layers */
    size_t plugin_count;
    backend *backends; /* backends[i] is plugins[i]; proven, unproven, others, each by priority */
    size_t backend_count;
    crossover *crossovers; /* one element for each op (calibration_compare); NULL: nothing was measured */
    const loader_plugin **layers; /* layers in the setting, the outermost first */
    size_t layer_count;
    pthread_mutex_t device_lock; /* guards the assignment of ordinals */
    _Atomic uint32_t device_total;
    device *_Atomic devices[RUNTIME_DEVICES_MAX]; /* by ordinal */
    memory_count host_memory;                     /* bytes of arrays in host memory */
    _Atomic int fallback_logged;
    _Atomic int ended;    /* RUNTIME_*; not 0: devices with queues are not used any more */
    pthread_t ender;      /* RUNTIME_EXITS: the thread that called exit(); set before `ended` */
    collet_runtime *next; /* in the list of context/end.c, under its lock */
};

/* Values of `ended`: collet_process_end was called, by the program or by exit(). */
#define RUNTIME_ENDED 1
#define RUNTIME_EXITS 2

/* Values of the mark in the process that made it. WIPED: the kernel zeroes the page in a child.
 * PROCESS: the kernel cannot zero it, so process ids are compared. */
#define FORK_MARK_WIPED 1
#define FORK_MARK_PROCESS 2

/* 1 in the process that created the runtime; 0 in a child of fork. */
static inline int runtime_alive(const collet_runtime *runtime)
{
    unsigned char mark = *(volatile unsigned char *)runtime->fork_mark;
    return mark == FORK_MARK_WIPED || (mark == FORK_MARK_PROCESS && runtime->process == getpid());
}
collet_status runtime_forked(collet_error *err);
/* Returns `status`. Exception: another thread has called exit(), and a device is not used any more for that reason.
 * Then the calling thread sleeps until the process ends, because its work has not failed. Called where no lock is
 * held. */
collet_status runtime_stop(const collet_runtime *runtime, collet_status status);
/* Checks the arguments of a query. FORKED; INVALID if the runtime or `out` is NULL. */
collet_status runtime_query(const collet_runtime *runtime, const void *out, const char *what,
                            collet_error *err);
/* Returns NOT_FOUND for an index beyond the `count` elements of a list; `element`: the word for one element. */
collet_status runtime_beyond(size_t index, size_t count, const char *element, collet_error *err);

/* The op with this id; NULL if unknown. */
const op *runtime_op(const collet_runtime *runtime, uint32_t id);
