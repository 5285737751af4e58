/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.h - the protocol between the plugin and collet-worker. Both must be from the same installation: a worker of
 * another version is refused at its first message.
 *
 * The sockets are SOCK_SEQPACKET. `control` carries requests of the plugin and their replies, one at a time. `events`
 * carries messages for the log. Each queue has a socket for its commands, which have no replies; instead the plugin
 * and the worker share a wire_queue, whose counter shows how many commands are finished. The contents of buffers are
 * in shared memory.
 *
 * The plugin trusts nothing that it receives or that the worker may write. Shared memory is sealed
 * against shrinking, because an access beyond its end would raise a signal.
 */
#pragma once

#include <stdatomic.h>

#include <collet/plugin.h>

#define WIRE_VERSION "collet-worker/1"
#define WIRE_CONTROL 3 /* WIRE_CONTROL and WIRE_EVENTS are descriptors in the worker */
#define WIRE_EVENTS 4
#define WIRE_MAX 32768 /* the maximum size of a message, in bytes */
#define WIRE_TEXT 512
#define WIRE_PARAMS 256
#define WIRE_ROWS 1024 /* the maximum number of rows in a message */

/* ---- Opening: the worker sends a wire_opened, then messages of rows -----------------------------
 */

typedef struct wire_opened {
    char version[16];
    int32_t status; /* whether the device was opened; the members below up to `trims` are set if the status is OK */
    uint32_t memory, order, threads, max_queues;
    uint32_t row_count; /* how many rows follow */
    uint32_t trims;     /* 1: the device has collet.trim/1 */
    char text[WIRE_TEXT];
} wire_opened;

typedef struct wire_row {
    uint32_t op;
    uint32_t asks; /* 1: a WIRE_ACCEPTS request must precede a call */
    uint64_t sig;
} wire_row;

/* ---- Requests -------------------------------------------------------------------------------- */

typedef enum wire_verb {
    WIRE_ALLOC,   /* allocates `bytes`; for host memory its descriptor is sent along; the reply has `id` */
    WIRE_FREE,    /* frees buffer `id`; has no reply */
    WIRE_QUEUE,   /* creates a queue; the descriptors of its socket and memory are sent along; the reply has `id` */
    WIRE_DESTROY, /* destroys queue `id`; all its commands must be done */
    WIRE_ACCEPTS, /* sent as a wire_call; `bytes` of the reply is the size of the workspace */
    WIRE_TRIM,
    /* Commands of queues. */
    WIRE_RUN,   /* sent as a wire_call */
    WIRE_WRITE, /* copies `bytes` bytes from slot `value` of the queue's staging to `offset` of buffer `id` */
    WIRE_READ,  /* copies the other way */
    WIRE_AFTER, /* waits until queue `id` has done command `value` */
} wire_verb;

typedef struct wire_request {
    uint32_t verb;
    int32_t threads; /* for WIRE_RUN: the program's limit on threads (collet_set_thread_limit); 0: no limit */
    uint64_t id, bytes, offset, value;
} wire_request;

typedef struct wire_reply {
    int32_t status;
    uint32_t reserved;
    uint64_t id, bytes;
    char text[WIRE_TEXT];
} wire_reply;

typedef struct wire_operand {
    uint64_t buffer; /* the buffer's id + 1; 0: there is none */
    uint64_t byte_offset;
    int32_t dtype;
    int32_t ndim;
    int64_t shape[COLLET_MAX_DIMS], strides[COLLET_MAX_DIMS];
} wire_operand;

/* A message ends after the operands that the call has. */
typedef struct wire_call {
    wire_request head;
    uint64_t sig; /* the signature; its bits are 0 for absent operands */
    uint32_t row; /* the number of the row, in the order in which the worker sent the rows */
    uint32_t n_out, n_in;
    uint32_t params_size;
    uint64_t workspace; /* like wire_operand.buffer */
    uint64_t workspace_bytes;
    unsigned char params[WIRE_PARAMS];
    wire_operand operands[COLLET_MAX_OPERANDS];
} wire_call;

/* ---- Memory of a queue --------------------------------------------------------------------- */

#define WIRE_SLOTS 4
#define WIRE_SLOT_BYTES 262144

typedef struct wire_queue {
    _Atomic uint64_t done;    /* how many commands are done; written by the worker */
    _Atomic uint32_t changed; /* a futex that changes when `done` does */
    _Atomic uint32_t waiting; /* how many threads of the plugin wait */
    _Atomic uint64_t failed;  /* the first command that failed; 0: none */
    _Atomic uint32_t status;  /* the status of `failed` */
    _Atomic uint32_t running; /* row + 1 of the kernel that is running */
    char text[WIRE_TEXT];     /* the error text of `failed` */
    _Alignas(4096) unsigned char staging[WIRE_SLOTS][WIRE_SLOT_BYTES];
} wire_queue;

/* ---- Transport (wire.c) ---------------------------------------------------------------------- */

/* Sends a message and the descriptors `fds`. Waits for room in the socket. Returns 0 or an errno; there is no signal if
 * the other end is closed. */
int wire_send(int socket, const void *message, size_t bytes, const int *fds, int fd_count);
/* Receives a message. Returns its size, 0 if the other end is closed, or -errno. At most *fd_count descriptors are
 * stored at `fds`, and *fd_count becomes their number; further descriptors are closed. */
long wire_receive(int socket, void *message, size_t bytes, int *fds, int *fd_count, int flags);
/* Copies a text of at most WIRE_TEXT bytes, which may lack a terminating NUL, without control characters. */
void wire_text(char *to, const char *from);

/* Waits while *word is `seen`, for at most `nanoseconds`; a negative number means no limit. May
 * return earlier. */
void wire_futex_wait(_Atomic uint32_t *word, uint32_t seen, int64_t nanoseconds);
void wire_futex_wake(_Atomic uint32_t *word);
