/* SPDX-License-Identifier: Apache-2.0 */
/* Private header of the test backend `remote`: its objects, and the slots of queue.c and work.c. */
#ifndef TESTS_FAKES_REMOTE_REMOTE_H
#define TESTS_FAKES_REMOTE_REMOTE_H

#include <pthread.h>

#include <collet/extensions.h>

#include "control.h"

struct collet_buffer {
    collet_device *device;
    uint64_t bytes, serial;
    int64_t commands; /* number of unfinished commands that use it */
    struct collet_buffer *next;
    int foreign; /* `data` is the program's */
    unsigned char *data;
    _Alignas(16) unsigned char own[];
};

struct collet_stamp {
    int64_t time;
    _Atomic int pending; /* its command has not finished */
};

struct collet_device {
    const collet_host *host;
    uint32_t index;
    pthread_mutex_t lock;
    int64_t memory, refuse, lose, hang, delay_us;
    const char *fail;        /* comma-separated numbers of calls, or NULL */
    remote_control *control; /* or NULL */
    collet_status status;
    int64_t apart; /* no copies between devices */
    int64_t calls;
    int64_t kernel_ns;     /* 0: `clock` is not used */
    _Atomic int64_t clock; /* advanced by each kernel */
    _Atomic int lost;
    collet_memory_stats stats;
    collet_buffer *buffers;                 /* so that buffers of a hung device are not leaks */
    uint64_t kept;                          /* bytes freed since the last trim; simulates a pool */
    _Alignas(16) unsigned char spoiled[64]; /* see remote.extension */
    collet_queue *inner;                    /* remote.synchronous: runs all commands */
    int64_t hoards;                         /* freed memory is not available before a trim */
};

typedef struct timeline timeline;

/* A queued task. `work` runs on the queue's thread and returns the task's status. */
typedef struct task {
    collet_status (*work)(collet_device *device, struct task *task);
    collet_buffer *buffers[4]; /* the target, the sources, scratch */
    timeline *after;           /* waits for `value` of another queue */
    uint64_t value;
    int copied;   /* 1: waits for a copy between devices, even after a failure */
    int delay_us; /* delay before `work` */
    uint32_t op;
    collet_dtype dtype;
    int32_t ndim;
    int64_t shape[COLLET_MAX_DIMS];
    int64_t strides[3][COLLET_MAX_DIMS];
    uint64_t offsets[4];
    uint64_t bytes;
    collet_stamp *stamp;
    void (*foreign)(void *user); /* work of the program, which the counter omits */
    void *user;
    int64_t call;         /* number of the kernel call on the device; 0: no kernel */
    double fill;          /* the value of a fill */
    collet_status ending; /* chosen when enqueued; OK: the status of `work` */
    void *source;         /* owned */
    struct task *next;
} task;

/* Counts a command that uses the buffer: 1 when it is enqueued, -1 when it is over. */
void buffer_count(collet_buffer *b, int64_t change);

task *task_new(collet_device *d, collet_status (*work)(collet_device *, task *));
uint64_t next_serial(collet_device *d);
/* Appends the task to the queue, which takes ownership. */
void queue_push(collet_queue *q, task *t);
/* Like the slot queue_after, but works on a lost device too. `copied`: see task. */
collet_status queue_order(collet_device *d, collet_queue *q, collet_queue *other, uint64_t value,
                          int copied, collet_error *err);
/* Like queue_push. If `q` is NULL, appends to the device's inner queue and waits for the task. */
void queue_push_or_run(collet_device *d, collet_queue *q, task *t);

collet_status remote_accepts(collet_device *d, const collet_kernel_call *call,
                             uint64_t *workspace_bytes);

extern const collet_timing_extension remote_timing;
collet_status remote_run(collet_device *d, collet_queue *q, const collet_kernel_call *call);
collet_status remote_write(collet_device *d, collet_queue *q, collet_buffer *b, uint64_t offset,
                           const void *source, uint64_t bytes, collet_error *err);
collet_status remote_read(collet_device *d, collet_queue *q, collet_buffer *b, uint64_t offset,
                          void *target, uint64_t bytes, collet_error *err);
collet_status remote_copy_between(collet_device *d, collet_queue *q, collet_buffer *to,
                                  uint64_t to_offset, const collet_plugin *of, collet_device *from,
                                  collet_queue *from_queue, collet_buffer *source,
                                  uint64_t from_offset, uint64_t bytes, collet_error *err);
collet_status remote_queue_create(collet_device *d, collet_queue **out, collet_error *err);
collet_status remote_native_queue_of(collet_device *d, collet_queue *q, void **handle,
                                     collet_error *err);
collet_status remote_native_queue_used(collet_device *d, collet_queue *q, collet_error *err);
const void *remote_extension(collet_device *d, const char *name);
void remote_queue_destroy(collet_device *d, collet_queue *q);
uint64_t remote_queue_mark(collet_device *d, collet_queue *q);
collet_status remote_queue_wait(collet_device *d, collet_queue *q, uint64_t value,
                                int64_t nanoseconds, collet_error *err);
collet_status remote_queue_after(collet_device *d, collet_queue *q, collet_queue *other,
                                 uint64_t value, collet_error *err);

#endif
