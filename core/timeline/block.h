/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block - memory in one memory space, or another object that commands of a device use; and the work that may be using
 * it.
 *
 * A use is removed when the counter of its queue has passed it, or when a later use in that queue follows. A use
 * stays recorded when another queue has waited for it, because that queue may have failed, and may have skipped the
 * wait.
 *
 * A device's memory is freed when every recorded use of it is over. A block that its owner frees
 * earlier is retired: kept in a list of its device, and used again by the same queue or freed by
 * later calls that allocate, wait or compute on that device. Memory that a lost device may be using is freed at the
 * end of the runtime, after the device's queues. Memory that a hung device may be using is never freed.
 */
#pragma once

#include "queue.h"

#define BLOCK_USES 8

struct block {
    device *device;  /* NULL: the host's memory */
    void *memory;    /* host address, collet_buffer * or other object; NULL until needed */
    uint64_t bytes;  /* size of a device's memory */
    int32_t foreign; /* 1: memory of a device that belongs to the program */
    use writer;
    origins origins;      /* origins of the bytes, besides `writer` */
    use uses[BLOCK_USES]; /* reads, and uses before `writer`; the oldest first, at most one of each
    queue */
    uint32_t use_count;
    void (*destroy)(device *d, void *memory); /* frees an object that is not a buffer */
    void (*deleter)(void *user);              /* called once the block is freed; or NULL */
    void *user;
    block *next; /* next element of its owner's list, then of the list of retired blocks */
};

/* Records that `u` uses the block. `from`: the origins of the bytes written; not used for reads. If the
 * list is full, waits for one of the uses. No lock of a queue may be held. */
void block_used(block *b, use u, int32_t access, const origins *from);
/* Waits for `u` as queue_await does (not if u.queue is NULL), then frees the retired blocks of its
 * device that are no longer used. */
void use_reach(use u);
/* Waits for all recorded uses. */
void block_reach(const block *b);
/* A lost device that may still be using the block, or NULL. Waits for a lost device do not
 * block. */
device *block_lost(const block *b);

/* Allocates `bytes` (> 0) bytes on an open device with its own memory. If the device is out of
 * memory: frees the retired blocks that are no longer used, waits for the other retired blocks (the oldest first),
 * and trims the device. REFUSED if that was not enough; NO_MEMORY, FAILED, DEVICE_LOST. */
collet_status block_create(device *d, uint64_t bytes, block **out, collet_error *err);
/* Reuses a retired block of the same size, if no work uses the block, or only work in `q`, which is in order.
 * Otherwise does what block_create does. */
collet_status block_reuse(queue *q, uint64_t bytes, block **out, collet_error *err);
/* A block over foreign memory of a device with collet.native/1: arguments and errors as in
 * buffer_import. */
collet_status block_import(device *d, void *handle, uint64_t offset, uint64_t bytes,
                           uint32_t element, block **out, collet_error *err);
/* A block for another object of a device, which `destroy` frees; `memory` is NULL, and the caller
 * sets it. NO_MEMORY. */
collet_status block_object(device *d, void (*destroy)(device *d, void *memory), block **out,
                           collet_error *err);
/* Frees a block of a device, or retires it, without waiting; only for foreign memory and other
 * objects it waits for their uses. NULL does nothing. */
void block_free(block *b);

/* Calls `deleter` when the lost device is no longer at work: after its queues are destroyed, at the
 * end of the runtime. Does not call it if the device hangs, or if memory is too short to record
 * it. */
void block_outlive(device *d, void (*deleter)(void *user), void *user);

/* Frees retired blocks that are no longer used, without waiting for other blocks. `all`: does not
 * stop at the first block that is still used. Any thread; no lock of a queue may be held. */
void blocks_collect(device *d, int all);
/* Called at the end of the runtime, when no device has a queue. */
void blocks_destroy(device *d);
