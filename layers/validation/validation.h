/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validation - a layer that checks every call between libcore and a backend by the rules of
 * collet/plugin.h.
 *
 * A wrong call of libcore is not passed on; a wrong result of a plugin is passed on. Both are logged as
 * errors, and the call returns FAILED if it returns a status. The layer wraps the backend's
 * objects, so that it knows their lifetimes and uses.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include <collet/plugin.h>

#include "conduct.h"
#include "object.h"

typedef struct instance instance;

/* A backend's table, and the layer's table over it. Both exist until the process ends. */
struct instance {
    const collet_plugin *below;
    collet_plugin table;
    collet_kernel_row *rows;
    uint64_t sum; /* hash of the backend's table, rows and ops */
    instance *next;
};

typedef enum extension_kind {
    EXTENSION_EXPLAIN,
    EXTENSION_MEMORY,
    EXTENSION_TRIM,
    EXTENSION_COPY,
    EXTENSION_NATIVE,
    EXTENSION_PINNED,
    EXTENSION_TIMING,
    EXTENSION_BATCH,
    EXTENSION_KINDS
} extension_kind;

#define UNASKED 2

/* Memory of collet.pinned/1. */
typedef struct pinned {
    void *address, *handle;
    struct pinned *next;
} pinned;

typedef struct device {
    object object;
    collet_device *handle; /* the handle that libcore has */
    instance *of;
    const collet_host *host;
    collet_device *below;
    uint32_t index;
    collet_device_properties properties;
    _Atomic uint8_t *supported; /* by row: 0, 1, UNASKED */
    _Atomic(const void *)
        extensions[EXTENSION_KINDS]; /* the backend's tables; NULL: not asked yet */
    _Atomic uint32_t under_way, queues, buffers;
    pthread_mutex_t lock; /* guards the list */
    pinned *pinned;
    _Atomic uint64_t bytes; /* bytes of all buffers */
    _Atomic int lost;
} device;

/* When the queue's counter has reached `value`, the commands up to number `sequence` are done. */
typedef struct queue_mark {
    uint64_t value, sequence;
} queue_mark;

#define QUEUE_MARKS 256

typedef struct queue {
    object object;
    collet_queue *handle;
    device *device;
    collet_queue *below;
    _Atomic int enqueuing;
    pthread_mutex_t lock; /* guards the members below */
    uint64_t marked;      /* the last mark returned */
    uint64_t reached;     /* the largest value for which a wait returned */
    uint64_t failed;      /* the smallest value for which a wait returned FAILED; 0: none */
    uint64_t sequence;    /* number of commands enqueued */
    uint64_t done;        /* number of commands known to be done */
    uint32_t mark_count;
    queue_mark marks[QUEUE_MARKS];
} queue;

#define BUFFER_USES 8

typedef struct buffer_use {
    uint64_t queue, sequence; /* the queue's id */
} buffer_use;

typedef struct buffer {
    object object;
    collet_buffer *handle;
    device *device;
    collet_buffer *below;
    uint64_t bytes;
    int imported;
    pthread_mutex_t lock; /* guards the members below */
    uint32_t use_count;
    buffer_use uses[BUFFER_USES];
} buffer;

/* ---- call.c: one call through the layer -------------------------------------------------- */

typedef enum side { LIBCORE, PLUGIN } side;

typedef struct call {
    const char *slot;
    const collet_host *host; /* NULL: unknown, so violations cannot be logged */
    device *device;          /* NULL: unknown */
    device *opening;         /* the device that device_open is opening */
    queue *queue, *other;
    int enqueues, lost;
    conduct before;
    collet_error *err, *below_err; /* libcore's error; the error that the plugin gets */
    struct poison_block *err_block;
    collet_error own_err; /* used if no block is available */
    collet_error wrong;   /* the first violation; status OK: none */
} call;

/* Begins a call of `slot` for a device; 0 if it must not be passed on. */
int call_begin(call *c, const char *slot, collet_device *handle, collet_error *err);
/* The same for a slot without a device. */
void call_begin_unknown(call *c, const char *slot, const collet_host *host, collet_error *err);
/* Call these before and after the plugin's code runs. */
void call_enter(call *c);
void call_left(call *c);
/* Does what call_left does, and checks the plugin's status and error. `allowed`: bits CONTRACT_... */
collet_status call_status(call *c, collet_status status, uint32_t allowed);
/* Ends the call: returns the status for libcore, with the text in libcore's error. */
collet_status call_end(call *c, collet_status status);

/* Logs a violation; the first violation of a call becomes its error. */
void call_wrong(call *c, side by, const char *format, ...) COLLET_PRINTF(3, 4);

typedef enum queue_use { WAITS, ENQUEUES } queue_use;

/* The queue of a call; 0 if the call must not be passed on. The queue of a synchronous device must
 * be NULL. */
int call_queue(call *c, collet_queue *handle, queue_use use);
/* The same for a call that needs a device with queues. */
int call_own_queue(call *c, collet_queue *handle, queue_use use);
collet_queue *call_queue_below(const call *c);
/* Finds a buffer of the device `of`; NULL after a violation. The caller gives it back by
 * call_release_buffer. */
buffer *call_buffer(call *c, const device *of, collet_buffer *handle, const char *name, int writes);
void call_release_buffer(buffer *b, int writes);
/* Checks that the bytes are within the buffer. */
int call_range(call *c, const buffer *b, const char *name, uint64_t offset, uint64_t bytes);

/* ---- memory.c ---------------------------------------------------------------------------- */

/* Wraps the backend's new buffer in a buffer of the layer, or frees it after a violation. */
collet_status buffer_hand_out(call *c, collet_status status, collet_buffer *below, uint64_t bytes,
                              int imported, collet_buffer **out);

/* ---- queue.c ----------------------------------------------------------------------------- */

/* Notes that a command that uses `b` (NULL: no buffer) was enqueued in `q`. */
void queue_used(queue *q, buffer *b);
/* 1 if a wait has returned FAILED. */
int queue_failed(queue *q);
/* Notes that all commands enqueued in `q` so far are done. */
void queue_all_done(queue *q);
/* 1 if a use of the buffer may be in progress; *where receives the queue's number. */
int buffer_in_use(buffer *b, uint64_t *where);

/* ---- extension.c ------------------------------------------------------------------------- */

/* Forgets allocations that were not freed; returns their number. */
uint32_t pinned_forget(device *d);

/* ---- The slots --------------------------------------------------------------------------- */

collet_status validation_device_open(const collet_plugin *self, collet_device **out,
                                     collet_device_properties *properties, const collet_host *host,
                                     uint32_t index, const char *name, collet_error *err);
void validation_device_close(collet_device *device);
int32_t validation_device_supports(collet_device *device, uint32_t row);
collet_status validation_buffer_alloc(collet_device *device, collet_buffer **out, uint64_t bytes,
                                      collet_error *err);
void validation_buffer_free(collet_device *device, collet_buffer *buffer);
collet_status validation_buffer_write(collet_device *device, collet_queue *queue,
                                      collet_buffer *buffer, uint64_t offset, const void *source,
                                      uint64_t bytes, collet_error *err);
collet_status validation_buffer_read(collet_device *device, collet_queue *queue,
                                     collet_buffer *buffer, uint64_t offset, void *target,
                                     uint64_t bytes, collet_error *err);
collet_status validation_queue_create(collet_device *device, collet_queue **out, collet_error *err);
void validation_queue_destroy(collet_device *device, collet_queue *queue);
uint64_t validation_queue_mark(collet_device *device, collet_queue *queue);
collet_status validation_queue_wait(collet_device *device, collet_queue *queue, uint64_t value,
                                    int64_t nanoseconds, collet_error *err);
collet_status validation_queue_after(collet_device *device, collet_queue *queue,
                                     collet_queue *other, uint64_t value, collet_error *err);
collet_status validation_run(collet_device *device, collet_queue *queue,
                             const collet_kernel_call *call);
collet_status validation_accepts(collet_device *device, const collet_kernel_call *call,
                                 uint64_t *workspace_bytes);
const void *validation_extension(collet_device *device, const char *name);

/* ---- between.c, native.c, timing.c: tables of extensions --------------------------------- */

extern const struct collet_copy_extension validation_copy;
extern const struct collet_native_extension validation_native;
extern const struct collet_timing_extension validation_timing;

/* ---- instance.c ----------------------------------------------------------------------------- */

/* The instance to which a table of this layer belongs, or NULL. */
instance *instance_of(const collet_plugin *table);
/* Lock and unlock the list of instances: around calls of the next two functions, and around a fork. */
void instance_lock(void);
void instance_unlock(void);
/* The instance over a backend's table, or NULL. */
instance *instance_over(const collet_plugin *below);
void instance_add(instance *i);
/* instance_hash: a checksum of bytes, continued from `sum`. instance_sum: the checksum of a table with its rows and
 * ops. */
uint64_t instance_hash(uint64_t sum, const void *bytes, size_t count);
uint64_t instance_sum(const collet_plugin *below);
/* Row `index` of the backend's table. */
const collet_kernel_row *instance_row(const instance *i, uint32_t row);
/* Reports a violation if the backend's table has changed. */
void instance_check(call *c, const instance *i);
