/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.h - the protocol of the plugin and collet-worker. Both are of one installation: a worker of
 * another version is refused at its first message.
 *
 * Sockets, SOCK_SEQPACKET: `control` carries requests of the plugin and their replies, one at a
 * time; `events` messages for the log; one a queue carries commands, which have no replies: a queue
 * shares a wire_queue, whose counter shows the finished commands. Bytes of buffers are in shared
 * memory.
 *
 * The plugin trusts nothing that it receives or that the worker may write. Its memory is sealed
 * against shrinking, because an access beyond the end would raise a signal.
 */
#ifndef PLUGINS_WORKER_WIRE_H
#define PLUGINS_WORKER_WIRE_H

#include <stdatomic.h>

#include <collet/plugin.h>

#define WIRE_VERSION "collet-worker/1"
#define WIRE_CONTROL 3 /* descriptors of the worker */
#define WIRE_EVENTS 4
#define WIRE_MAX 32768 /* bytes of a message */
#define WIRE_TEXT 512
#define WIRE_PARAMS 256
#define WIRE_ROWS 1024 /* in one message */

/* ---- Opening: the worker sends a wire_opened, then messages of rows -----------------------------
 */

typedef struct wire_opened {
    char version[16];
    int32_t status; /* of the opening; the rest is set if it is OK */
    uint32_t memory, order, threads, max_queues;
    uint32_t row_count; /* rows that follow */
    uint32_t trims;     /* 1: has collet.trim/1 */
    char text[WIRE_TEXT];
} wire_opened;

typedef struct wire_row {
    uint32_t op;
    uint32_t asks; /* 1: ACCEPTS is asked before a call */
    uint64_t sig;
} wire_row;

/* ---- Requests -------------------------------------------------------------------------------- */

typedef enum wire_verb {
    WIRE_ALLOC,   /* `bytes`, of host memory with its descriptor; *id */
    WIRE_FREE,    /* `id`; no reply */
    WIRE_QUEUE,   /* with descriptors of socket and memory; *id */
    WIRE_DESTROY, /* `id`; all its commands are done */
    WIRE_ACCEPTS, /* a wire_call; *bytes of the workspace */
    WIRE_TRIM,
    /* Commands of queues. */
    WIRE_RUN,   /* a wire_call */
    WIRE_WRITE, /* to `offset` of buffer `id`, from `value` of the queue's staging */
    WIRE_READ,  /* the other way */
    WIRE_AFTER, /* waits for `value` of queue `id` */
} wire_verb;

typedef struct wire_request {
    uint32_t verb;
    int32_t threads; /* of WIRE_RUN: the program's limit (collet_set_thread_limit); 0: none */
    uint64_t id, bytes, offset, value;
} wire_request;

typedef struct wire_reply {
    int32_t status;
    uint32_t reserved;
    uint64_t id, bytes;
    char text[WIRE_TEXT];
} wire_reply;

typedef struct wire_operand {
    uint64_t buffer; /* id + 1; 0: none */
    uint64_t byte_offset;
    int32_t dtype;
    int32_t ndim;
    int64_t shape[COLLET_MAX_DIMS], strides[COLLET_MAX_DIMS];
} wire_operand;

/* A message has only the operands of the call. */
typedef struct wire_call {
    wire_request head;
    uint64_t sig; /* 0 where an operand is absent */
    uint32_t row; /* as received */
    uint32_t n_out, n_in;
    uint32_t params_size;
    uint64_t workspace; /* as wire_operand.buffer */
    uint64_t workspace_bytes;
    unsigned char params[WIRE_PARAMS];
    wire_operand operands[COLLET_MAX_OPERANDS];
} wire_call;

/* ---- Memory of a queue --------------------------------------------------------------------- */

#define WIRE_SLOTS 4
#define WIRE_SLOT_BYTES 262144

typedef struct wire_queue {
    _Atomic uint64_t done;    /* commands; written by the worker */
    _Atomic uint32_t changed; /* a futex: grows with `done` */
    _Atomic uint32_t waiting; /* threads of the plugin */
    _Atomic uint64_t failed;  /* the first command that failed; 0: none */
    _Atomic uint32_t status;  /* of `failed` */
    _Atomic uint32_t running; /* row + 1 of the kernel that is running */
    char text[WIRE_TEXT];     /* of `failed` */
    _Alignas(4096) unsigned char staging[WIRE_SLOTS][WIRE_SLOT_BYTES];
} wire_queue;

/* ---- Transport (wire.c) ---------------------------------------------------------------------- */

/* 0, or an errno. `fds` are sent along. Waits for room; no signal if the other end is closed. */
int wire_send(int socket, const void *message, size_t bytes, const int *fds, int fd_count);
/* The bytes of the next message, 0 at its end, or -errno. Descriptors that come along are stored
 * at `fds`, where *fd_count have room, and counted; others are closed. */
long wire_receive(int socket, void *message, size_t bytes, int *fds, int *fd_count, int flags);
/* Copies a text of WIRE_TEXT bytes that may have no end, without control characters. */
void wire_text(char *to, const char *from);

/* Waits while *word is `seen`, for `nanoseconds` at most; negative: no limit. Also returns early.
 */
void wire_futex_wait(_Atomic uint32_t *word, uint32_t seen, int64_t nanoseconds);
void wire_futex_wake(_Atomic uint32_t *word);

#endif
