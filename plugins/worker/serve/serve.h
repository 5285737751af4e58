/* SPDX-License-Identifier: Apache-2.0 */
/* serve.h - the parts of collet-worker: one device of one backend, its buffers and queues. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include <collet/collet.h>
#include <collet/extensions.h>

#include "worker/wire.h"

typedef struct served_buffer {
    void *handle; /* a host address or the device's buffer; NULL: this number is free */
    uint64_t bytes;
} served_buffer;

typedef struct served_queue served_queue;

typedef struct server {
    collet_host host; /* passed to the backend; must be the first member */
    int32_t threads;
    collet_runtime *runtime;
    char backend[COLLET_MAX_NAME];
    const collet_plugin *plugin;
    collet_device *device;
    collet_device_properties properties;
    const collet_trim_extension *trim;
    uint32_t *rows; /* the rows of the backend, in the order in which they were sent */
    uint32_t row_count;
    pthread_mutex_t calls; /* held during a call if the device takes only one call at a time */
    pthread_mutex_t lock;  /* protects the members below */
    served_buffer *buffers;
    uint64_t buffer_count;
    served_queue *queues;
    uint64_t next_queue;
} server;

/* ---- device.c -------------------------------------------------------------------------------- */

/* Must be called before and after each call of the device. */
void serve_enter(server *s);
void serve_leave(server *s);
/* Allocates a buffer of the device or, if `fd` is not -1, maps the memory of `fd`, which the plugin maps too. Returns
 * COLLET_OK, REFUSED or DEVICE_LOST. */
collet_status serve_buffer_alloc(server *s, uint64_t bytes, int fd, uint64_t *id,
                                 collet_error *err);
void serve_buffer_free(server *s, uint64_t id);
/* The handle of the buffer with the number `wire` of messages; NULL for 0 or if there is no such buffer. */
void *serve_buffer(server *s, uint64_t wire);

/* ---- open.c ---------------------------------------------------------------------------------- */

/* Opens the backend `name` ("backend" or "backend:1") and reports to the plugin. Returns false if that failed: the
 * plugin then has the reason, or has ended. */
bool serve_open(server *s, const char *name, const char *const *settings);

/* ---- control.c ------------------------------------------------------------------------------- */

/* Serves until the plugin closes the socket. */
void serve_control(server *s);

/* ---- call.c ---------------------------------------------------------------------------------- */

/* Runs the kernel in the queue, which is NULL if the device has no queues. On failure *err has the text. */
collet_status serve_run(server *s, collet_queue *queue, const wire_call *call, collet_error *err);
collet_status serve_accepts(server *s, const wire_call *call, uint64_t *workspace,
                            collet_error *err);
/* Whether a message of `bytes` bytes is a call. */
bool serve_call_valid(const server *s, const wire_call *call, size_t bytes);
/* The size of the parameters that libcore knows of an op; 0 if it has none. */
uint32_t serve_params_size(uint32_t op);

/* ---- queue.c --------------------------------------------------------------------------------- */

/* Creates a queue that uses `socket` and the shared memory `memory`; both are closed even on failure. Returns
 * COLLET_OK, NO_MEMORY, FAILED or DEVICE_LOST. */
collet_status serve_queue_create(server *s, int socket, int memory, uint64_t *id,
                                 collet_error *err);
void serve_queue_destroy(server *s, uint64_t id);
