/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_storage.c, tests/core/test_failures.c */
#include "storage_life.h"

#include <inttypes.h>
#include <stdlib.h>

#include "context/life.h"
#include "util/host_memory.h"
#include "written.h"

#define ALIGNMENT 64 /* alignment of elements, as in host_memory.c */

/* Elements of at most FEW bytes are a part of the storage's own memory. A sanitizer would not see writes beyond
 * them. */
#if defined(__SANITIZE_ADDRESS__)
#define FEW 0
#else
#define FEW 224 /* 1,024 bytes with the structs: malloc's cache of the thread has blocks of at most 1,032 */
#endif

/* Makes a storage with `room` bytes behind it. */
static collet_status create(collet_runtime *runtime, uint64_t bytes, size_t room, storage **out,
                            collet_error *err)
{
    storage *s = malloc(sizeof *s + room);
    if (!s)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for an array");
    *s = (storage){0};
    atomic_init(&s->references, 1);
    pthread_mutex_init(&s->lock, NULL);
    s->runtime = runtime;
    s->bytes = bytes;
    runtime_retain(runtime);
    *out = s;
    return COLLET_OK;
}

collet_status storage_create(collet_runtime *runtime, uint64_t bytes, size_t behind, storage **out,
                             collet_error *err)
{
    size_t few = bytes <= FEW ? (size_t)bytes + ALIGNMENT : 0;
    collet_status status = create(runtime, bytes, behind + few, out, err);
    if (status == COLLET_OK && few) {
        uintptr_t end = (uintptr_t)(*out + 1) + behind;
        (*out)->own = (char *)(*out + 1) + behind + (ALIGNMENT - end % ALIGNMENT);
    }
    return status;
}

collet_status storage_wrap(collet_runtime *runtime, void *data, uint64_t bytes,
                           void (*deleter)(void *user), void *user, storage **out,
                           collet_error *err)
{
    storage *s = NULL;
    collet_status status = create(runtime, bytes, 0, &s, err);
    if (status != COLLET_OK)
        return status;
    s->host.memory = data;
    s->wrapped = data != NULL;
    s->deleter = deleter;
    s->user = user;
    /* Without `data`, the memory is allocated later, when a kernel first needs an address. */
    if (data) {
        s->valid = 1;
        atomic_init(&s->settled, 1);
        if (programs_checked())
            written_begin(s);
    }
    *out = s;
    return COLLET_OK;
}

collet_status storage_wrap_block(collet_runtime *runtime, block *b, void (*deleter)(void *user),
                                 void *user, storage **out, collet_error *err)
{
    storage *s = NULL;
    collet_status status = create(runtime, b->bytes, 0, &s, err);
    if (status != COLLET_OK)
        return status;
    s->host.next = b;
    s->deleter = deleter;
    s->user = user;
    s->home = b->device->space;
    s->valid = 1ull << s->home;
    *out = s;
    return COLLET_OK;
}

void storage_retain(storage *s)
{
    atomic_fetch_add_explicit(&s->references, 1, memory_order_relaxed);
}

/* The block of foreign memory that the storage wraps on a device; NULL: none. */
static block *foreign_block(const storage *s)
{
    block *b = s->host.next;
    while (b && !b->foreign)
        b = b->next;
    return b;
}

static collet_status write_back_on(storage *s, device *d, transfer_counters *moved,
                                   collet_error *err)
{
    queue *q = NULL;
    collet_buffer *buffer;
    collet_status status = queue_take(d, &q, err);
    if (status == COLLET_OK)
        status = storage_acquire_on(s, q, COLLET_READ, 1, &buffer, moved, err);
    queue_return(q);
    return status;
}

/* Logs the failure, because there is no caller who could receive it. */
static void write_back(storage *s, const block *foreign)
{
    void *address;
    transfer_counters moved = {0};
    collet_error err;
    int only_there = atomic_load_explicit(&s->settled, memory_order_acquire);
    if ((only_there && !programs_checked()) ||
        s->acquired == STORAGE_WRITER) /* never released, so the caller may have written the bytes */
        return;
    collet_status status = foreign ? write_back_on(s, foreign->device, &moved, &err)
                                   : storage_map(s, COLLET_READ, 0, &address, &moved, &err);
    if (status != COLLET_OK && status != COLLET_INVALID) /* written_check has logged it */
        log_message(&s->runtime->log, COLLET_LOG_ERROR,
                    "a wrapped array was destroyed, and its %" PRIu64
                    " bytes at %p could not be copied from the device: %s",
                    s->bytes, foreign ? foreign->memory : s->host.memory, err.text);
}

static void end_memory(device *lost, void (*deleter)(void *user), void *user)
{
    if (deleter && lost)
        block_outlive(lost, deleter, user);
    else if (deleter)
        deleter(user);
}

/* Memory must exist until all work on it is over, also on a lost device. Returns such a device if it may use memory
 * that was allocated with the storage. */
static device *end_copies(storage *s)
{
    block *foreign = foreign_block(s);
    if (s->wrapped || foreign)
        write_back(s, foreign);
    block_reach(&s->host);
    device *lost = block_lost(&s->host);
    if (s->host.memory && !s->wrapped) {
        if (!s->own)
            end_memory(lost, host_memory_free, s->host.memory);
        memory_count_subtract(&s->runtime->host_memory, s->bytes);
    }
    if (foreign) {
        foreign->deleter = s->deleter;
        foreign->user = s->user;
    }
    while (s->host.next) {
        block *c = s->host.next;
        s->host.next = c->next;
        block_free(c);
    }
    if (!foreign)
        end_memory(lost, s->deleter, s->user);
    return s->own ? lost : NULL;
}

void storage_release(storage *s)
{
    if (atomic_fetch_sub_explicit(&s->references, 1, memory_order_acq_rel) != 1)
        return;
    collet_runtime *runtime = s->runtime;
    device *lost = NULL;
    if (runtime_alive(runtime)) {
        lost = end_copies(s);
        if (programs_checked())
            written_end(s);
    } else {
        if (s->host.memory && !s->wrapped && !s->own)
            host_memory_free(s->host.memory);
        end_memory(NULL, s->deleter, s->user);
    }
    pthread_mutex_destroy(&s->lock);
    end_memory(lost, free, s);
    runtime_release(runtime);
}
