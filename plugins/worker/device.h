/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - a device served by a worker. Everything that a worker sends is checked; a worker that
 * breaks the protocol is killed, and its device is lost. */
#pragma once

#include "process.h"
#include "wire.h"

#define WORKER_USAGE "name a backend: worker:NAME or worker:NAME:DEVICE"

/* Links a row of the plugin's table of kernels to the row of the served backend with the same op and signature. */
typedef struct row_link {
    uint32_t op, own; /* `own` is the row of the plugin's table */
    uint64_t sig;
    uint32_t served; /* the row of the backend + 1; 0: the backend has no such row */
    uint32_t asks;
} row_link;

/* A WIRE_ACCEPTS request that the worker has accepted. */
typedef struct accepted_call {
    size_t bytes; /* bytes of `call`; 0: the entry is empty */
    uint64_t workspace;
    wire_call call;
} accepted_call;

#define WORKER_ACCEPTED 64

struct collet_device {
    const collet_plugin *plugin;
    const collet_host *host;
    char name[COLLET_MAX_NAME]; /* "backend" or "backend:1" */
    process process;
    bool host_memory; /* buffers are memory that the program and the worker both map */
    int32_t trims;
    int32_t (*limit)(void);   /* returns the limit on the program's threads; NULL: there is none */
    int64_t patience;         /* limit of a wait in nanoseconds; -1: no limit */
    pthread_mutex_t requests; /* held from a request to its reply */
    row_link *links;          /* one per row of the plugin's table, sorted by op and signature */
    uint32_t *link_of;        /* the index in `links` of each row of the table */
    pthread_mutex_t lock;     /* protects the members below */
    _Atomic int lost;         /* 1: the device is lost, and `why` is set */
    char why[WIRE_TEXT + 64];
    collet_queue *queues;
    accepted_call accepted[WORKER_ACCEPTED]; /* each entry has the last call with that hash */
};

struct collet_buffer {
    uint64_t id, bytes;
    unsigned char *memory; /* NULL: only the served device has the memory */
};

struct collet_queue {
    collet_device *device;
    uint64_t id;
    int socket;
    wire_queue *shared;
    _Atomic uint64_t sent; /* how many commands were sent */
    uint64_t slot_ticket[WIRE_SLOTS];
    uint32_t next_slot;
    collet_queue *next;
};

/* The callback process.ended; `user` is the device. */
void device_ended(void *user);
/* Marks the device as lost and kills the worker. Only the first reason is kept. Returns DEVICE_LOST. */
collet_status device_lose(collet_device *d, collet_error *err, const char *format, ...)
    COLLET_PRINTF(3, 4);
/* Returns DEVICE_LOST with the reason, for a device that is lost. */
collet_status device_is_lost(collet_device *d, collet_error *err);
/* Called when the worker closed a socket or did not answer in time. `error` is an errno or 0. Returns DEVICE_LOST. */
collet_status device_broken(collet_device *d, int error, collet_error *err);

/* Sends a request of `bytes` bytes and receives the reply, whose status must be OK or have its bit set in `allowed`. */
collet_status device_request(collet_device *d, const void *request, size_t bytes, const int *fds,
                             int fd_count, uint32_t allowed, wire_reply *reply, collet_error *err);
/* Allocates memory that the worker can map but not make smaller, with its descriptor; on failure returns NULL and sets
 * errno. */
void *device_memory(uint64_t bytes, int *fd);
/* Explains an errno of device_memory. The text is valid until the next call. */
const char *device_memory_error(int error);

/* Creates the links, at first without rows of the backend; false if there is no memory. */
bool device_links_create(collet_device *d);
/* Receives `count` rows of the backend and links them. Rows that are not in the plugin's table are left out. Returns
 * COLLET_OK or DEVICE_LOST. */
collet_status device_receive_rows(collet_device *d, uint32_t count, collet_error *err);
/* The link of the row with this op and signature; NULL if the table has no such row. */
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
/* Sends a command; queue->sent is then its ticket. Returns COLLET_OK or DEVICE_LOST. */
collet_status worker_command(collet_queue *queue, const void *command, size_t bytes,
                             collet_error *err);

collet_status worker_run(collet_device *device, collet_queue *queue,
                         const collet_kernel_call *call);
collet_status worker_accepts(collet_device *device, const collet_kernel_call *call,
                             uint64_t *workspace_bytes);
