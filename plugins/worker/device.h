/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - a device served by a worker. Everything that a worker sends is checked; a worker that
 * breaks the protocol is killed, and its device is lost.
 */
#ifndef PLUGINS_WORKER_DEVICE_H
#define PLUGINS_WORKER_DEVICE_H

#include "process.h"
#include "wire.h"

#define WORKER_USAGE "name a backend: worker:NAME or worker:NAME:DEVICE"

/* A row of the table and the row of the served backend. */
typedef struct row_link {
    uint32_t op, own; /* row of the plugin's table */
    uint64_t sig;
    uint32_t served; /* index + 1; 0: there is none */
    uint32_t asks;
} row_link;

/* A call that the worker has accepted, as it was asked. */
typedef struct accepted_call {
    size_t bytes; /* of `call`; 0: none */
    uint64_t workspace;
    wire_call call;
} accepted_call;

#define WORKER_ACCEPTED 64

struct collet_device {
    const collet_plugin *plugin;
    const collet_host *host;
    char name[COLLET_MAX_NAME]; /* "backend" or "backend:1" */
    process process;
    bool host_memory; /* buffers are memory that both map */
    int32_t trims;
    int32_t (*limit)(void);   /* of the program's threads; NULL: none */
    int64_t patience;         /* limit of a wait in nanoseconds, -1: none */
    pthread_mutex_t requests; /* held from a request to its reply */
    row_link *links;          /* one a row of the plugin's table, by op and signature */
    uint32_t *link_of;        /* by row of the table */
    pthread_mutex_t lock;     /* of the members below */
    _Atomic int lost;         /* set when `why` is */
    char why[WIRE_TEXT + 64];
    collet_queue *queues;
    accepted_call accepted[WORKER_ACCEPTED]; /* by hash; each the last such call */
};

struct collet_buffer {
    uint64_t id, bytes;
    unsigned char *memory; /* NULL: of the served device alone */
};

struct collet_queue {
    collet_device *device;
    uint64_t id;
    int socket;
    wire_queue *shared;
    _Atomic uint64_t sent; /* commands */
    uint64_t slot_ticket[WIRE_SLOTS];
    uint32_t next_slot;
    collet_queue *next;
};

/* The callback process.ended; `user` is the device. */
void device_ended(void *user);
/* The device is lost; the first reason counts. Kills the worker. DEVICE_LOST. */
collet_status device_lose(collet_device *d, collet_error *err, const char *format, ...)
    COLLET_PRINTF(3, 4);
/* DEVICE_LOST with the reason, for a device that is lost. */
collet_status device_is_lost(collet_device *d, collet_error *err);
/* The worker closed a socket, or did not answer in time: `error` is an errno or 0. DEVICE_LOST. */
collet_status device_broken(collet_device *d, int error, collet_error *err);

/* A request of `bytes` bytes; the reply's status must be OK or one of the bits of `allowed`. */
collet_status device_request(collet_device *d, const void *request, size_t bytes, const int *fds,
                             int fd_count, uint32_t allowed, wire_reply *reply, collet_error *err);
/* Memory that the worker cannot make smaller, with its descriptor; NULL: errno tells why. */
void *device_memory(uint64_t bytes, int *fd);
/* The meaning of that errno, as text. Valid until the next call. */
const char *device_memory_error(int error);

/* Links without rows; false: no memory. */
bool device_links_create(collet_device *d);
/* Receives `count` rows. Rows that are not in the plugin's table are left out. DEVICE_LOST. */
collet_status device_receive_rows(collet_device *d, uint32_t count, collet_error *err);
/* The link of a call's row; NULL: the table has none. */
const row_link *device_link(const collet_device *d, uint32_t op, uint64_t sig);

/* ---- The slots ------------------------------------------------------------------------------- */

collet_status worker_open(const collet_plugin *self, collet_device **device,
                          collet_device_properties *properties, const collet_host *host,
                          uint32_t index, const char *name, collet_error *err);
void worker_close(collet_device *device);
int32_t worker_supports(collet_device *device, uint32_t row);
const void *worker_extension(collet_device *device, const char *name);

collet_status worker_buffer_alloc(collet_device *device, collet_buffer **buffer, uint64_t bytes,
                                  collet_error *err);
void worker_buffer_free(collet_device *device, collet_buffer *buffer);
collet_status worker_buffer_write(collet_device *device, collet_queue *queue, collet_buffer *buffer,
                                  uint64_t offset, const void *source, uint64_t bytes,
                                  collet_error *err);
collet_status worker_buffer_read(collet_device *device, collet_queue *queue, collet_buffer *buffer,
                                 uint64_t offset, void *target, uint64_t bytes, collet_error *err);

collet_status worker_queue_create(collet_device *device, collet_queue **queue, collet_error *err);
void worker_queue_destroy(collet_device *device, collet_queue *queue);
uint64_t worker_queue_mark(collet_device *device, collet_queue *queue);
collet_status worker_queue_wait(collet_device *device, collet_queue *queue, uint64_t value,
                                int64_t nanoseconds, collet_error *err);
collet_status worker_queue_after(collet_device *device, collet_queue *queue, collet_queue *other,
                                 uint64_t value, collet_error *err);
/* Sends a command, whose ticket is queue->sent afterwards. DEVICE_LOST. */
collet_status worker_command(collet_queue *queue, const void *command, size_t bytes,
                             collet_error *err);

collet_status worker_run(collet_device *device, collet_queue *queue,
                         const collet_kernel_call *call);
collet_status worker_accepts(collet_device *device, const collet_kernel_call *call,
                             uint64_t *workspace_bytes);

#endif
