/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage - bytes, and the memory spaces in which they are valid.
 *
 * A storage is reference-counted and has a copy per memory space: the host (space 0, shared by all
 * backends that work on host memory) and each device with separate memory. Each copy is a block,
 * valid or stale, and records the last write, the work on other queues from which its bytes derive,
 * and the reads that may be in progress. The storage's mutex guards all of that; it may be held
 * while waiting for such work. Locks are taken in the order storage, backend, queue.
 */
#pragma once

#include "copies.h"

/* Makes the bytes usable by `q` in its device's space and returns their address or buffer. `access`
 * is COLLET_READ or COLLET_WRITE. `whole`: all bytes will be written, so their present value need
 * not be moved. The next work of `q` is ordered after work in progress. BUSY while the storage is
 * acquired; REFUSED when the device's memory is short; NO_MEMORY, DEVICE_LOST, FAILED. *commit is
 * set to 1 when storage_commit must follow once the work is done or enqueued; until then copies in
 * other spaces stay valid, so that a refused call loses nothing. Unless `whole`, the work from
 * which the bytes derive is added to *from. */
collet_status storage_use(storage *s, queue *q, int32_t access, int whole, void **memory,
                          int *commit, origins *from, transfer_counters *moved, collet_error *err);

/* 1 if the bytes are valid only in host memory, not acquired, and not in use by a queue, as
 * storage_use would find under the lock. Then s->host.memory may be used directly, and by `q` without
 * storage_commit. */
static inline int storage_settled_on_host(const storage *s)
{
    return atomic_load_explicit(&s->settled, memory_order_acquire);
}
static inline int storage_settled(const storage *s, const queue *q)
{
    return q->device->space == 0 && q->device->synchronous && storage_settled_on_host(s);
}

/* Makes `settled` true for a storage with undefined bytes that has one reference and that nothing has used on the host.
 * 0: the storage does not meet these conditions, or memory is short. */
int storage_settle_new(storage *s);

/* BUSY if storage_use would be refused because the storage is acquired. */
collet_status storage_check_use(storage *s, int32_t access, collet_error *err);

/* Call it when the work after storage_use is in `q` with this ticket (already done on synchronous
 * devices). A write makes the copies in all other spaces stale, and the written bytes derive from
 * `from`. */
void storage_commit(storage *s, queue *q, uint64_t ticket, int32_t access, const origins *from);
/* Call it instead of storage_commit if no work followed. */
void storage_drop_use(storage *s, int32_t access);

/* Makes the bytes valid in host memory and waits for work on them; the address is valid until
 * storage_unmap. Several readers or one writer, else BUSY. `whole`: all bytes will be written,
 * so their present value is not needed and may be lost. */
collet_status storage_map(storage *s, int32_t access, int whole, void **address,
                          transfer_counters *moved, collet_error *err);
collet_status storage_unmap(storage *s, collet_error *err);

/*
 * Shared memory: others may read and write the bytes in the space `home` at any time between two calls. So no copy
 * in another space is valid at the start of a use, and storage_settle_shared ends each call.
 *
 * storage_share waits for the work on the host memory and shares it until storage_unshare. BUSY; UNSUPPORTED if
 * another space is home.
 */
collet_status storage_share(storage *s, void **address, transfer_counters *moved,
                            collet_error *err);
void storage_unshare(storage *s);
/* Copies to home the bytes that were written in another space. If home is the host's memory, waits for all work on the
 * bytes. */
collet_status storage_settle_shared(storage *s, transfer_counters *moved, collet_error *err);
static inline int storage_is_shared(const storage *s)
{
    return atomic_load_explicit(&s->shared, memory_order_relaxed) != 0;
}

/* Makes the bytes valid in the memory of q's device; commands of `q` come after that. */
collet_status storage_prefetch(storage *s, queue *q, transfer_counters *moved, collet_error *err);

/* Like storage_map, for memory of q's device and for commands that the program itself enqueues in
 * `q`; these come after the work on the bytes. `wait`: waits for that work, so that the commands
 * may be in any queue. Returns the buffer. If `q` is NULL at the release, all such commands are over; else they are
 * in `q`. */
collet_status storage_acquire_on(storage *s, queue *q, int32_t access, int wait,
                                 collet_buffer **buffer, transfer_counters *moved,
                                 collet_error *err);
collet_status storage_release_on(storage *s, const device *d, queue *q, collet_error *err);
/* A device where the bytes are valid, if they are not valid in host memory; else NULL. */
device *storage_device(storage *s);

/* 1 if the bytes are valid in the device's space and stale in the host's. */
int storage_valid_only_on(storage *s, const device *d);

/* The spaces where the bytes are valid, as in storage.valid. */
uint64_t storage_spaces(storage *s);
