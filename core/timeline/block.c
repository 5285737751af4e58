/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_block.c */
#include "block.h"

#include <stdlib.h>

/* If there are more retired blocks than this, allocations wait for the oldest. */
#define RETIRED_MAX 1024u

/* *waiting is a use that was found not to be over. Later uses of its queue are not over either, so
 * the device is not asked about them. */
static int over(const use *u, use *waiting)
{
    if (!u->queue)
        return 1;
    if ((u->queue == waiting->queue && u->ticket >= waiting->ticket) ||
        queue_lost(u->queue, u->ticket))
        return 0;
    if (queue_passed(u->queue, u->ticket))
        return 1;
    *waiting = *u;
    return 0;
}

/* Asks instead of waiting, because waits for a lost device may return while the device is still at
 * work. */
static int in_use(const block *b, use *waiting)
{
    int unused = over(&b->writer, waiting);
    for (uint32_t i = 0; i < b->use_count && unused; i++)
        unused = over(&b->uses[i], waiting);
    return !unused || atomic_load(&b->device->state) == DEVICE_LOST;
}

static void release(block *b)
{
    device *d = b->device;
    int hung = atomic_load(&d->hung);
    if (b->memory && !hung) {
        device_enter(d);
        if (b->destroy)
            b->destroy(d, b->memory);
        else
            d->table->buffer_free(d->handle, b->memory);
        device_leave(d, COLLET_OK);
    }
    memory_count_subtract(&d->memory, b->foreign ? 0 : b->bytes);
    if (b->deleter && !hung)
        b->deleter(b->user);
    free(b);
}

/* ---- Uses -------------------------------------------------------------------------------- */

static int finished(const use *u)
{
    return !u->queue ||
           (atomic_load(&u->queue->completed) >= u->ticket && !queue_lost(u->queue, u->ticket));
}

/* Removes uses that are over, and uses in `q`, because a later use in `q` replaces them. */
static void forget(block *b, const queue *q)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < b->use_count; i++)
        if (b->uses[i].queue != q && !finished(&b->uses[i]))
            b->uses[kept++] = b->uses[i];
    b->use_count = kept;
}

void use_reach(use u)
{
    if (!u.queue)
        return;
    queue_await(u.queue, u.ticket);
    blocks_collect(u.queue->device, 0);
}

static void add(block *b, use u)
{
    for (uint32_t i = 0; i < b->use_count; i++)
        if (b->uses[i].queue == u.queue)
            return; /* a later use of the same queue is recorded */
    for (uint32_t i = 0; i < b->use_count && b->use_count == BLOCK_USES; i++)
        if (queue_passed(b->uses[i].queue, b->uses[i].ticket))
            forget(b, NULL);
    if (b->use_count == BLOCK_USES) {
        use_reach(b->uses[0]);
        forget(b, NULL);
        /* None is over, so this use's device is lost: drops this use. Uses in other queues stay
         * recorded. */
        if (b->use_count == BLOCK_USES)
            forget(b, b->uses[0].queue);
    }
    b->uses[b->use_count++] = u;
}

void block_used(block *b, use u, int32_t access, const origins *from)
{
    use before = b->writer;
    forget(b, u.queue);
    if (!(access & COLLET_WRITE)) {
        add(b, u);
        return;
    }
    b->writer = u;
    b->origins = *from;
    if (before.queue != u.queue && !finished(&before))
        add(b, before);
}

void block_reach(const block *b)
{
    use_reach(b->writer);
    for (uint32_t i = 0; i < b->use_count; i++)
        use_reach(b->uses[i]);
}

device *block_lost(const block *b)
{
    for (uint32_t i = 0; i <= b->use_count; i++) {
        const use *u = i ? &b->uses[i - 1] : &b->writer;
        if (u->queue && queue_lost(u->queue, u->ticket))
            return u->queue->device;
    }
    return NULL;
}

/* ---- Retired blocks ---------------------------------------------------------------------- */

void block_free(block *b)
{
    use waiting = {NULL, 0};
    if (!b)
        return;
    if (b->foreign || b->destroy)
        block_reach(b);
    if (!in_use(b, &waiting)) {
        release(b);
        return;
    }
    device *d = b->device;
    b->next = NULL;
    pthread_mutex_lock(&d->retired_lock);
    *d->retired_end = b;
    d->retired_end = &b->next;
    atomic_fetch_add(&d->retired_count, 1);
    pthread_mutex_unlock(&d->retired_lock);
}

void block_outlive(device *d, void (*deleter)(void *user), void *user)
{
    block *b = calloc(1, sizeof *b);
    if (!b)
        return;
    b->device = d;
    b->deleter = deleter;
    b->user = user;
    block_free(b);
}

static void remove_at(device *d, block **at)
{
    *at = (*at)->next;
    if (!*at)
        d->retired_end = at;
    atomic_fetch_sub(&d->retired_count, 1);
}

/* Frees blocks under the lock: a thread that then finds no retired block knows that their memory is
 * free. */
static void collect_locked(device *d, int all)
{
    block **at = &d->retired;
    use waiting = {NULL, 0};
    while (*at) {
        block *b = *at;
        if (in_use(b, &waiting)) {
            if (!all)
                return;
            at = &b->next;
            continue;
        }
        remove_at(d, at);
        release(b);
    }
}

void blocks_collect(device *d, int all)
{
    if (!atomic_load(&d->retired_count))
        return;
    pthread_mutex_lock(&d->retired_lock);
    collect_locked(d, all);
    pthread_mutex_unlock(&d->retired_lock);
}

/* Waits for the oldest retired block and frees all retired blocks that are no longer used. 0 if there is none, or the
 * device is lost. */
static int wait_for_oldest(device *d)
{
    block oldest;
    int waits = 0;
    pthread_mutex_lock(&d->retired_lock);
    if (d->retired && atomic_load(&d->state) != DEVICE_LOST) {
        oldest = *d->retired;
        waits = 1;
    }
    pthread_mutex_unlock(&d->retired_lock);
    if (waits)
        block_reach(&oldest);
    blocks_collect(d, 1);
    return waits;
}

void blocks_destroy(device *d)
{
    while (d->retired) {
        block *b = d->retired;
        d->retired = b->next;
        release(b);
    }
}

/* ---- Allocation -------------------------------------------------------------------------- */

static collet_status allocate(device *d, uint64_t bytes, collet_buffer **out, collet_error *err)
{
    if (atomic_load(&d->state) == DEVICE_LOST)
        return device_lost(d, err);
    device_enter(d);
    return device_leave(d, d->table->buffer_alloc(d->handle, out, bytes, err));
}

static collet_status allocate_or_wait(device *d, uint64_t bytes, collet_buffer **out,
                                      collet_error *err)
{
    blocks_collect(d, atomic_load(&d->retired_count) >= RETIRED_MAX);
    if (atomic_load(&d->retired_count) >= RETIRED_MAX)
        wait_for_oldest(d);
    collet_status status = allocate(d, bytes, out, err);
    if (status != COLLET_REFUSED)
        return status;
    blocks_collect(d, 1);
    do
        status = allocate(d, bytes, out, err);
    while (status == COLLET_REFUSED && wait_for_oldest(d));
    if (status != COLLET_REFUSED)
        return status;
    device_trim(d);
    return allocate(d, bytes, out, err);
}

/* Sets *last to the last ticket of `q` that uses the block. Returns 0 if other queues may be using the block. */
static int only_in(const block *b, const queue *q, uint64_t *last)
{
    *last = 0;
    for (uint32_t i = 0; i <= b->use_count; i++) {
        const use *u = i ? &b->uses[i - 1] : &b->writer;
        if (u->queue == q)
            *last = u->ticket > *last ? u->ticket : *last;
        else if (!finished(u))
            return 0;
    }
    return 1;
}

collet_status block_reuse(queue *q, uint64_t bytes, block **out, collet_error *err)
{
    device *d = q->device;
    uint64_t last = 0;
    if (!atomic_load(&d->retired_count) || atomic_load(&d->state) == DEVICE_LOST)
        return block_create(d, bytes, out, err);
    pthread_mutex_lock(&d->retired_lock);
    block **at = &d->retired;
    while (*at && ((*at)->bytes != bytes || !only_in(*at, q, &last)))
        at = &(*at)->next;
    block *b = *at;
    if (b)
        remove_at(d, at);
    pthread_mutex_unlock(&d->retired_lock);
    if (!b)
        return block_create(d, bytes, out, err);
    /* Only the order matters. The bytes are undefined, so their origins do not matter. */
    b->writer = (use){NULL, 0};
    b->origins.count = 0;
    b->uses[0] = (use){q, last};
    b->use_count = 1;
    *out = b;
    return COLLET_OK;
}

collet_status block_create(device *d, uint64_t bytes, block **out, collet_error *err)
{
    collet_buffer *buffer = NULL;
    block *b = calloc(1, sizeof *b);
    if (!b)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for an array on %s", d->name);
    collet_status status = allocate_or_wait(d, bytes, &buffer, err);
    if (status != COLLET_OK) {
        free(b);
        return status;
    }
    memory_count_add(&d->memory, bytes);
    b->device = d;
    b->memory = buffer;
    b->bytes = bytes;
    *out = b;
    return COLLET_OK;
}

collet_status block_object(device *d, void (*destroy)(device *d, void *memory), block **out,
                           collet_error *err)
{
    block *b = calloc(1, sizeof *b);
    if (!b)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for an object on %s", d->name);
    b->device = d;
    b->destroy = destroy;
    *out = b;
    return COLLET_OK;
}

collet_status block_import(device *d, void *handle, uint64_t offset, uint64_t bytes,
                           uint32_t element, block **out, collet_error *err)
{
    collet_buffer *buffer = NULL;
    block *b = calloc(1, sizeof *b);
    if (!b)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for an array on %s", d->name);
    device_enter(d);
    collet_status status = d->extensions.native->buffer_import(d->handle, &buffer, handle, offset,
                                                               bytes, element, err);
    if (device_leave(d, status) != COLLET_OK) {
        free(b);
        return status;
    }
    b->device = d;
    b->memory = buffer;
    b->bytes = bytes;
    b->foreign = 1;
    *out = b;
    return COLLET_OK;
}
