/* SPDX-License-Identifier: Apache-2.0 */
/* copies - a storage, and the copies of its bytes: which copies are valid, the order of work on them, and transfers
 * of bytes between them. The caller holds the storage's lock. */
#pragma once

#include "device/memory_count.h"
#include "timeline/block.h"
#include "util/programs.h"

#define STORAGE_WRITER (-1)

typedef struct storage {
    _Atomic int64_t references;
    collet_runtime *runtime;
    uint64_t bytes;
    uint32_t readonly; /* 1: wrapped memory that is never written; constant */
    void *own;         /* memory for few elements, allocated with the storage; NULL: none; constant */
    pthread_mutex_t lock;
    block host;              /* first of the list of copies */
    uint64_t valid;          /* bit 0: host, bit ordinal + 1: that device; 0: nothing written yet */
    int32_t acquired;        /* number of readers that have acquired the storage, or STORAGE_WRITER */
    int32_t acquired_space;  /* the space in which the storage is acquired for writing */
    int32_t lost;            /* 1: the only valid copy was on a lost device */
    int32_t wrapped;         /* 1: the host memory is the caller's */
    _Atomic int32_t settled; /* see storage_settled; set under the lock, read without it */
    void (*deleter)(void *user);
    void *user;
    int32_t home;           /* the space in which others share the bytes: 0, or the space of a wrapped block */
    _Atomic int32_t shared; /* number of other users; changed under the lock, read without it */
    /* written.h uses these members while programs are checked. */
    _Atomic int noted; /* 1: `hash` is the hash of the bytes on the host */
    uint64_t hash;
    int writing; /* number of calls in progress that write the bytes */
    int open;    /* 1: libcore or the program may be writing the bytes; under the lock of written.c */
    programs_scope made; /* the call that wrapped the memory */
    struct storage *next_wrapped;
} storage;

static inline uint64_t copies_bit(int32_t space)
{
    return 1ull << space;
}

static inline int copies_valid_in(const storage *s, int32_t space)
{
    return (s->valid & copies_bit(space)) != 0;
}

static inline void copies_set_valid(storage *s, int32_t space, int alone)
{
    s->valid = alone ? copies_bit(space) : s->valid | copies_bit(space);
}

static inline int copies_never_written(const storage *s)
{
    return !s->valid && !s->lost;
}

/* Marks bytes that were valid only on a lost device as lost. Drops copies that derive from failed
 * work if another valid copy exists. */
void copies_drop_lost(storage *s);

/* Allocates the host memory unless it exists. For few elements the storage may have it already. */
collet_status copies_take_host(storage *s, collet_error *err);
/* Adds a copy on q's device. */
collet_status copies_create(storage *s, queue *q, block **out, collet_error *err);
/* The copy in the device's space, or NULL; a valid copy on any device, or NULL. */
block *copies_find(storage *s, const device *d);
block *copies_any_on_device(storage *s);

/* Orders the next work of `q` (NULL: the host, which waits) after the work on a copy; `needed` as in
 * queue_after. */
collet_status copies_after_uses(block *c, queue *q, int32_t access, int needed, collet_error *err);
use copies_use(queue *q, uint64_t ticket);

collet_status copies_make_valid_on_host(storage *s, transfer_counters *moved, collet_error *err);
/* Makes the bytes valid for a use on q's device, whose copy is `c`. */
collet_status copies_make_valid(storage *s, block *c, queue *q, int whole, transfer_counters *moved,
                                collet_error *err);
