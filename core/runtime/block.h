/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block - memory in one memory space, and the work that may be using it.
 *
 * A device's memory is freed when every recorded use of it is over. A block that its owner frees
 * earlier is retired: kept in a list of its device, and used again by the same queue or freed by
 * later calls that allocate, wait or compute on that device. Memory of a lost device is freed after
 * its queues, at the end of the runtime; that of a hung device never.
 */
#ifndef COLLET_CORE_BLOCK_H
#define COLLET_CORE_BLOCK_H

#include "origins.h"

#define BLOCK_READERS 4

struct block {
    device *device;  /* NULL: the host's memory */
    void *memory;    /* host address, or collet_buffer *; NULL until needed */
    uint64_t bytes;  /* of a device */
    int32_t foreign; /* of a device, and the program's */
    use writer;
    origins origins; /* of the bytes, besides `writer` */
    use readers[BLOCK_READERS];
    uint32_t reader_count;
    block *next; /* of its owner's list, then of the retired ones */
};

/*
 * `bytes` (> 0) bytes on an open device with memory of its own. While the device's memory is short:
 * frees the retired blocks that are no longer used, waits for the others, the oldest first, and
 * trims the device. REFUSED if that was not enough; NO_MEMORY, FAILED, DEVICE_LOST.
 */
collet_status block_create(device *d, uint64_t bytes, block **out, collet_error *err);
/* A retired block of as many bytes that is over or used in `q` alone, where work is in order; else
 * as block_create. */
collet_status block_reuse(queue *q, uint64_t bytes, block **out, collet_error *err);
/* A block over foreign memory of a device with collet.native/1: arguments and errors as of
 * buffer_import. */
collet_status block_import(device *d, void *handle, uint64_t offset, uint64_t bytes,
                           uint32_t element, block **out, collet_error *err);
/* Frees a block of a device, or retires it; does not block, but waits for the uses of foreign
 * memory. NULL does nothing. */
void block_free(block *b);

/* Frees retired blocks that are no longer used, without waiting for the others. `all`: looks behind
 * those that are still used, too. Any thread; no lock of a queue may be held. */
void blocks_collect(device *d, int all);
/* At the end of the runtime, when no device has a queue. */
void blocks_destroy(device *d);

#endif
