/* SPDX-License-Identifier: Apache-2.0 */
/* A context: the choice of backend, a queue per device, scratch memory, counters, the last error.
 */
#pragma once

#include "select.h"
#include "timeline/block.h"

/* The state of a context on one device. */
typedef struct lane {
    queue *queue;
    uint64_t enqueued; /* ticket of the context's last kernels */
    uint64_t finished; /* last ticket of the queue at the last collet_finish */
    void *scratch;     /* workspace for kernels: host address or buffer; collet_trim frees it */
    uint64_t scratch_bytes;
    block *block;    /* block of the scratch, on a device with its own memory */
    origins origins; /* origins of the work since the last collet_finish */
} lane;

/* The last failure of one thread. */
typedef struct thread_error {
    pthread_t thread;
    uint64_t number; /* unique number of the thread; a later thread may get the same `thread` */
    collet_error error;
    struct thread_error *next;
} thread_error;

struct collet_context {
    collet_runtime *runtime;
    thread_error creator;         /* the last element of the list `errors` */
    thread_error *_Atomic errors; /* new elements are added at the head */
    selection selection;
    int32_t fallback; /* 0: none; 1: to any backend; -1: to the other named backends, under auto to any */
    const char *last_backend;
    collet_counters counters;
    transfer_counters moved;
    lane lanes[RUNTIME_DEVICES_MAX];
};

/* The context's lane on an open device, created on first use. */
collet_status context_lane(collet_context *cx, device *d, lane **out, collet_error *err);
/* Finds the device that `name` names; *out is NULL for "host". INVALID if it does not name one
 * device; else errors as in collet_set_backend. `what`: the function's name, for messages. */
collet_status context_device(collet_context *cx, const char *what, const char *name, device **out);
/* The first device of the context's choice that can be opened. UNAVAILABLE, DEVICE_LOST, NO_MEMORY.
 */
collet_status context_first_device(collet_context *cx, const char *what, device **out);
/* Opens the device that `space` names; *out is NULL for the host's memory: for "host" and for
 * devices that work in it. INVALID if `space` does not name one device; errors as in
 * collet_set_backend. */
collet_status context_space(collet_context *cx, const char *what, const char *space, device **out);
/* Sets *memory to at least `bytes` bytes of scratch on the lane. REFUSED if the device is out of
 * memory. */
collet_status lane_scratch(lane *l, uint64_t bytes, void **memory, collet_error *err);

/* The last failure of the calling thread; NULL if there is no memory for it. */
collet_error *context_error(collet_context *cx);
/* Checks that the context can be used. INVALID: cx is NULL; FORKED: in a child of fork; NO_MEMORY:
 * context_error is NULL. */
collet_status context_check(collet_context *cx);

/* Stores status and text as the thread's last error (cx may be NULL); returns `status`. In a child
 * of fork the error is FORKED, whatever the arguments. */
collet_status context_fail(collet_context *cx, collet_status status, const char *format, ...)
    COLLET_PRINTF(3, 4);
