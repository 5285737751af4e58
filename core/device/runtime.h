/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime: settings, log, records, ops, backends and their devices, and the memory of the host.
 * Members are constant once the runtime exists, or guarded as their comments say.
 */
#ifndef COLLET_CORE_RUNTIME_H
#define COLLET_CORE_RUNTIME_H

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include <collet/collet.h>
#include <collet/plugin.h>

#include "settings/config.h"
#include "extensions.h"
#include "plugins/loader.h"
#include "util/log.h"
#include "memory_count.h"
#include "op/op.h"
#include "plugins/record.h"

#define RUNTIME_DEVICES_MAX 63  /* of all backends together: a 64-bit mask with the host */
#define RUNTIME_DEVICES_EACH 16 /* of one backend, so that it leaves places to the others */
#define RUNTIME_OWN_OPS_MAX 256 /* ops that plugins define */
#define DEVICE_NAMED UINT32_MAX

typedef struct backend backend;
typedef struct device device;
typedef struct queue queue;
typedef struct block block;

/* A kernel row that a device offers. */
typedef struct device_row {
    uint64_t sig;
    const collet_kernel_row *row;
} device_row;

/* FAILED: opening failed and is not retried; LOST: after it was open. */
typedef enum device_state { DEVICE_CLOSED, DEVICE_OPEN, DEVICE_FAILED, DEVICE_LOST } device_state;

struct device {
    backend *owner;
    uint32_t index;                 /* of the backend, or DEVICE_NAMED */
    uint32_t ordinal;               /* of the runtime, < RUNTIME_DEVICES_MAX */
    char name[COLLET_MAX_NAME * 2]; /* "backend:1", "backend:text" */
    _Atomic int state;              /* device_state; OPEN and FAILED publish the members below */
    char *reason;                   /* of state FAILED */
    const collet_plugin *table;
    collet_device *handle;
    device_extensions extensions;
    memory_count memory; /* what libcore has allocated there */
    int32_t space;       /* 0: works on host memory; else ordinal + 1 */
    int32_t synchronous;
    int32_t one_call;    /* COLLET_THREADS_ONE: `calls` is held during each call */
    int32_t direct;      /* synchronous, and calls may overlap */
    uint32_t max_queues; /* 0: any number */
    pthread_mutex_t calls;
    uint32_t *first; /* rows of op slot s: rows[first[s]] .. rows[first[s + 1]) */
    device_row *rows;
    device *next_named; /* of owner->named */
    queue *queues;      /* all, under owner->lock */
    queue *idle;        /* those that no context uses, under owner->lock */
    queue *copies;      /* for copies to other devices, made at the first; under owner->lock */
    _Atomic int hung;   /* lost because a wait took too long: it may hang in any call */
    pthread_mutex_t retired_lock;
    block *retired, **retired_end; /* block.h; oldest first, under retired_lock */
    _Atomic uint32_t retired_count;
};

struct backend {
    collet_runtime *runtime;
    const loader_plugin *plugin;
    pthread_mutex_t lock; /* opening, `idle` */
    _Atomic int state;    /* COLLET_BACKEND_* */
    _Atomic int skipped;  /* the warning that a list skips it was logged */
    char *reason;         /* of state UNAVAILABLE if not the loader's; under lock until set */
    char *capabilities;   /* queried in this process because the probe did not; or NULL */
    cJSON *description;   /* the capabilities parsed; published by `state` */
    const cJSON *choices; /* of the probe's capabilities; constant once the backends are listed */
    const collet_plugin *table; /* NULL until opened */
    uint32_t *own_ops;          /* id of the plugin's op k; 0: it was left out */
    uint32_t device_count;
    device *devices; /* that the capabilities list */
    device *named;   /* that programs named; under lock */
};

/* Work in progress: over once queue->completed >= ticket. */
typedef struct use {
    queue *queue;
    uint64_t ticket;
} use;

/* The tickets (after, upto] of a queue failed. */
typedef struct queue_failure {
    collet_status status;
    uint64_t after, upto;
    char why[480];
} queue_failure;

#define QUEUE_FAILURES 8 /* beyond that the oldest are merged */
#define QUEUE_WAITS 8    /* that a queue remembers */

/*
 * A queue of a device, as a context uses it. Each enqueued call has a ticket: `base` + the value of
 * the plugin's queue after it. A use of bytes is recorded as (queue, ticket): it is over once
 * completed >= ticket. A queue of the plugin that has failed is replaced by a new one, with a later
 * base. Queues live as long as their device, so a recorded use never dangles. Contexts share one
 * where the device allows no more. Locks are taken in the order retired_lock, lock, handle_lock,
 * device.calls.
 */
struct queue {
    device *device;
    collet_queue *handle;         /* NULL on synchronous devices */
    uint64_t base;                /* written under both locks, as `handle` */
    pthread_mutex_t lock;         /* held while something is enqueued */
    pthread_rwlock_t handle_lock; /* read-locked by waits, write-locked to replace the handle */
    _Atomic uint64_t submitted, completed;
    _Atomic uint64_t lost_after; /* the device was lost: later tickets may still be at work */
    queue_failure failures[QUEUE_FAILURES]; /* by rising ticket; under lock */
    _Atomic uint32_t failure_count;
    int32_t failed;         /* the handle has failed; under lock */
    use waits[QUEUE_WAITS]; /* after which the handle goes on, one a queue; under lock */
    uint32_t next_wait;     /* the one to be replaced next */
    uint32_t users;         /* under owner->lock */
    queue *next, *next_idle;
};

/* Bytes transferred between memory spaces. */
typedef struct transfer_counters {
    uint64_t bytes_to_device, bytes_to_host, bytes_direct;
} transfer_counters;

struct collet_runtime {
    collet_host host; /* first: a host table is cast back to its runtime */
    _Atomic int64_t references;
    unsigned char *fork_mark; /* a page that the kernel wipes in a child of fork: FORK_MARK_ */
    pid_t process;            /* that created the runtime */
    config *config;
    message_log log;
    int32_t threads; /* at most; a cgroup's quota may allow fewer */
    int64_t timeout; /* of waits for devices, in nanoseconds; -1: none */
    record_list *records;
    op_table ops;
    pthread_mutex_t own_ops_lock;
    _Atomic uint32_t own_op_count;
    /* id 2^31 + index; strings belong to open plugins. A longer definition replaces an op. */
    op *_Atomic own_ops[RUNTIME_OWN_OPS_MAX];
    loader_plugin *plugins; /* backends, then layers */
    size_t plugin_count;
    backend *backends; /* usable ones by falling priority, then the others; of plugins[i] */
    size_t backend_count;
    const loader_plugin **layers; /* of the setting, the outermost first */
    size_t layer_count;
    pthread_mutex_t device_lock; /* ordinals */
    _Atomic uint32_t device_total;
    device *_Atomic devices[RUNTIME_DEVICES_MAX]; /* by ordinal */
    memory_count host_memory;                     /* of arrays */
    _Atomic int fallback_logged;
};

void runtime_retain(collet_runtime *runtime);
void runtime_release(collet_runtime *runtime);

/* While the page is not wiped; the kernel cannot wipe it, and processes are compared. */
#define FORK_MARK_WIPED 1
#define FORK_MARK_PROCESS 2

/* 0 in a child of fork. */
static inline int runtime_alive(const collet_runtime *runtime)
{
    unsigned char mark = *(volatile unsigned char *)runtime->fork_mark;
    return mark == FORK_MARK_WIPED || (mark == FORK_MARK_PROCESS && runtime->process == getpid());
}
collet_status runtime_forked(collet_error *err);
/* Bytes of the machine's memory; 0 if unknown. */
uint64_t runtime_host_bytes(void);
/* FORKED; INVALID if the runtime or `out` is NULL. */
collet_status runtime_query(const collet_runtime *runtime, const void *out, const char *what,
                            collet_error *err);
/* NOT_FOUND of a list by index. */
collet_status runtime_beyond(size_t index, const char *list, collet_error *err);

/* NULL if unknown. */
const op *runtime_op(const collet_runtime *runtime, uint32_t id);

/* ---- registry.c: backends and devices ---------------------------------------------------- */

/* Finds plugins and lists them as backends. */
collet_status registry_create(collet_runtime *runtime, collet_error *err);
void registry_destroy(collet_runtime *runtime);

backend *registry_find(const collet_runtime *runtime, const char *name);
/* The backend or layer of the key "name.word", or NULL. */
const loader_plugin *registry_owner(const collet_runtime *runtime, const char *key);
/* The value of the key of a backend among the choices of its probe, or NULL. */
const char *registry_choice(const collet_runtime *runtime, const char *key);
/* COLLET_BACKEND_*, of what has a number or is "auto": a backend that has devices by name alone is
 * UNAVAILABLE, though its state is USABLE. */
int backend_state(const backend *b);
/* The reason why a backend in `state` (loaded from b->state) is unusable or unproven; else "". */
const char *backend_reason(const backend *b, int state);

/* Opens the plugin once (state UNPROVEN becomes USABLE or UNAVAILABLE); any thread. UNAVAILABLE
 * with the reason. */
collet_status backend_open(backend *b, collet_error *err);

/* Opens the device once; any thread. UNAVAILABLE with the reason (also of an earlier attempt),
 * DEVICE_LOST, NO_MEMORY. */
collet_status device_open(device *d, collet_error *err);

/* ---- device_list.c -------------------------------------------------------------------------- */

/* Makes the devices that the capabilities list. NO_MEMORY. */
collet_status devices_list(backend *b, uint32_t count, collet_error *err);
/* The device of the choice "backend:suffix", or "backend" if `suffix` is "": made at its first use
 * where it is a name. The backend is open; any thread. INVALID: no number, and the backend takes no
 * names; UNAVAILABLE with the reason. */
collet_status device_find(backend *b, const char *suffix, device **out, collet_error *err);
/* The name for device_open; NULL: the device has a number. */
static inline const char *device_given_name(const device *d)
{
    return d->index == DEVICE_NAMED ? strchr(d->name, ':') + 1 : NULL;
}

/* As collet_last_backend gives it. */
static inline const char *device_called(const device *d)
{
    return d->index == DEVICE_NAMED ? d->name : d->owner->plugin->name;
}

/* The row for (op, sig), operands outside `mask` not compared; NULL if none matches. The device is
 * open. */
const collet_kernel_row *device_find_row(const device *d, uint32_t op, uint64_t sig, uint64_t mask);

/* ---- own_ops.c: ops that plugins define --------------------------------------------------- */

/* Registers the ops of the backend's table, b->own_ops. What cannot be used is left out. NO_MEMORY,
 * INVALID. */
collet_status own_ops_register(backend *b, const collet_plugin *table, collet_error *err);
/* Whether the open backend's op of that name was left out. */
int own_op_left_out(const backend *b, const char *name);
/* Logs and records what of a plugin is left out; `code` is one of loader.h. NO_MEMORY. */
collet_status backend_left_out(const backend *b, const char *code, const char *text,
                               collet_error *err);

/* ---- layers.c: what lies between libcore and the backends -------------------------------- */

/* Sets r->layers from the setting; the plugins are listed. INVALID for the name of no layer,
 * UNAVAILABLE for one that was refused, NO_MEMORY. */
collet_status layers_choose(collet_runtime *runtime, collet_error *err);
/* *table, the backend's at first, becomes that of the outermost layer. As loader_open. */
collet_status layers_open(const backend *b, const collet_plugin **table, collet_error *err);

/* All of its memory, as its capabilities say; 0: unknown. */
uint64_t device_memory_bytes(const device *d);

/* ---- queue.c ----------------------------------------------------------------------------- */

/* A queue for one context, or one that it shares; returned with queue_return. */
collet_status queue_take(device *d, queue **out, collet_error *err);
void queue_return(queue *q);
void queues_destroy(device *d);

/* Records the status of a call through the device's table: a lost device is not used again. */
static inline collet_status device_note_status(device *d, collet_status status)
{
    if (status == COLLET_DEVICE_LOST)
        atomic_store(&d->state, DEVICE_LOST);
    return status;
}

/* Around each call of a slot, row or extension of an open device: one at a time where the device
 * needs that. No lock is taken in between. */
static inline void device_enter(device *d)
{
    if (d->one_call)
        pthread_mutex_lock(&d->calls);
}
/* `status` is the call's; noted and returned. */
static inline collet_status device_leave(device *d, collet_status status)
{
    if (d->one_call)
        pthread_mutex_unlock(&d->calls);
    return device_note_status(d, status);
}

static inline void device_trim(device *d)
{
    if (!d->extensions.trim)
        return;
    device_enter(d);
    d->extensions.trim->trim(d->handle);
    device_leave(d, COLLET_OK);
}

/* Around calls of the plugin that enqueue something: no other thread enqueues between the two. If
 * the handle has failed, queue_lock replaces it. NO_MEMORY, FAILED, DEVICE_LOST: not locked. */
collet_status queue_lock(queue *q, collet_error *err);
/* Returns the ticket of what was enqueued. */
uint64_t queue_unlock(queue *q);

/* Wait for `ticket`, or all work submitted so far; for the setting `timeout` at most: then the
 * device is lost. Any thread, also while others enqueue. */
void queue_reach(queue *q, uint64_t ticket);
void queue_wait(queue *q);
/* Whether `ticket` is over without a failure; asks the device, and is 0 where that would have to
 * wait. */
int queue_passed(queue *q, uint64_t ticket);
/* Whether `ticket` was not known to be over when its device was lost: it counts as completed, so
 * that nobody waits for it, and its commands may still be at work. */
static inline int queue_lost(const queue *q, uint64_t ticket)
{
    return ticket > atomic_load(&q->lost_after);
}
/* Waits, and reports the first failure of work with the tickets (after, upto], also one found by
 * another thread's wait. FAILED, DEVICE_LOST. */
collet_status queue_finish(queue *q, uint64_t after, uint64_t upto, collet_error *err);
/* The known failure of `ticket`, else COLLET_OK. `q` may be NULL. The first without its context. */
collet_status queue_failure_of(queue *q, uint64_t ticket, collet_error *err);
collet_status queue_outcome(queue *q, uint64_t ticket, collet_error *err);
/*
 * Makes `q` (NULL: the host) start its next work only after `ticket` of `other`; waits on the host
 * where the device cannot order the two. `needed`: the result will be read, so a known failure of
 * `ticket` is returned; otherwise only the order matters. Any thread. FAILED, DEVICE_LOST.
 */
collet_status queue_after(queue *q, queue *other, uint64_t ticket, int needed, collet_error *err);
/*
 * Copies `bytes` (> 0) bytes from the buffer `source` on `from` to `target` on q's device, by that
 * device itself, after the work `written`: sets *read to the use of the source, *ticket to q's
 * ticket, but not where it fails before anything is enqueued. REFUSED without text if the devices
 * cannot copy directly or `from` has failed: the copy over the host then works or reports the
 * reason. FAILED, DEVICE_LOST (q's device is).
 */
collet_status queue_copy_between(queue *q, collet_buffer *target, device *from,
                                 collet_buffer *source, uint64_t bytes, const use *written,
                                 use *read, uint64_t *ticket, collet_error *err);

#endif
