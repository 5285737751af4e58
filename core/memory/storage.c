/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_storage.c, tests/core/test_failures.c */
#include "storage.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "timeline/order.h"
#include "timeline/origins.h"

#define HOST_ALIGNMENT 64
#define HUGE_PAGE ((uint64_t)2 << 20)

static const origins no_origins;

/* ---- Validity ---------------------------------------------------------------------------- */

static uint64_t space_bit(int32_t space)
{
    return 1ull << space;
}

static int is_valid(const storage *s, int32_t space)
{
    return (s->valid & space_bit(space)) != 0;
}

static void set_valid(storage *s, int32_t space, int alone)
{
    s->valid = alone ? space_bit(space) : s->valid | space_bit(space);
}

static int never_written(const storage *s)
{
    return !s->valid && !s->lost;
}

/* Waits for the work from which the bytes derive, or reports only what is known of it. Origins
 * first: if an origin hangs, its own device is lost and reported, not the writer's device, which
 * only waits. */
static collet_status copy_outcome(const block *c, int wait, collet_error *err)
{
    collet_status status = origins_outcome(&c->origins, wait, err);
    return status == COLLET_OK ? use_outcome(c->writer, wait, err) : status;
}

/* Marks bytes that were valid only on a lost device as lost. Drops copies that derive from failed
 * work if another valid copy exists. */
static void drop_lost(storage *s)
{
    int had = !never_written(s);
    for (block *c = s->host.next; c; c = c->next) {
        uint64_t bit = space_bit(c->device->space);
        if (atomic_load(&c->device->state) == DEVICE_LOST)
            s->valid &= ~bit;
        else if (s->valid & bit && s->valid != bit && copy_outcome(c, 0, NULL) != COLLET_OK)
            s->valid &= ~bit;
    }
    if (had && !s->valid)
        s->lost = 1;
}

/* Called after every change of state, so that `settled` is current when the lock is released. */
static void state_unlock(storage *s)
{
    int settled = s->host.memory && s->valid == space_bit(0) && !s->host.next && !s->acquired &&
                  !s->lost && !s->host.writer.queue && !s->host.use_count;
    atomic_store_explicit(&s->settled, settled, memory_order_release);
    pthread_mutex_unlock(&s->lock);
}

/* ---- Host memory ------------------------------------------------------------------------- */

/* Huge pages give a tenth more bandwidth and one page fault instead of 512. */
static void *host_memory_create(uint64_t bytes)
{
    uint64_t alignment = bytes >= 2 * HUGE_PAGE ? HUGE_PAGE : HOST_ALIGNMENT;
    uint64_t rounded = bytes ? (bytes + alignment - 1) & ~(alignment - 1) : alignment;
    void *memory = rounded < bytes ? NULL : aligned_alloc(alignment, rounded);
    if (memory && alignment == HUGE_PAGE)
        madvise(memory, rounded, MADV_HUGEPAGE);
    return memory;
}

static collet_status host_memory_take(storage *s, collet_error *err)
{
    if (s->host.memory)
        return COLLET_OK;
    s->host.memory = host_memory_create(s->bytes);
    if (!s->host.memory)
        return collet_fail(err, COLLET_NO_MEMORY,
                           "out of host memory for an array of %" PRIu64 " bytes", s->bytes);
    memory_count_add(&s->runtime->host_memory, s->bytes);
    return COLLET_OK;
}

/* ---- Order ------------------------------------------------------------------------------- */

/* Orders the next work of `q` (NULL: the host) after `u`; `needed` as in queue_after. */
static collet_status after_use(const use *u, queue *q, int needed, collet_error *err)
{
    if (!u->queue)
        return COLLET_OK;
    return queue_after(q, u->queue, u->ticket, needed, err);
}

/* A write need not know whether earlier reads succeeded. */
static collet_status after_uses(block *c, queue *q, int32_t access, int needed, collet_error *err)
{
    collet_status status = after_use(&c->writer, q, needed, err);
    if (status == COLLET_OK && needed)
        status = origins_outcome(&c->origins, !q || q->device->synchronous, err);
    if (!(access & COLLET_WRITE))
        return status;
    for (uint32_t i = 0; status == COLLET_OK && i < c->use_count; i++)
        status = after_use(&c->uses[i], q, 0, err);
    return status;
}

static use use_of(queue *q, uint64_t ticket)
{
    return (use){q->device->synchronous ? NULL : q, ticket};
}

/* ---- Moving bytes ------------------------------------------------------------------------ */

static block *find_copy(storage *s, const device *d)
{
    if (d->space == 0)
        return &s->host;
    block *c = s->host.next;
    while (c && c->device != d)
        c = c->next;
    return c;
}

static collet_status device_copy_create(storage *s, queue *q, block **out, collet_error *err)
{
    collet_status status = block_reuse(q, s->bytes ? s->bytes : 1, out, err);
    if (status != COLLET_OK)
        return status;
    (*out)->next = s->host.next;
    s->host.next = *out;
    return COLLET_OK;
}

static block *any_valid_device_copy(storage *s)
{
    for (block *c = s->host.next; c; c = c->next)
        if (is_valid(s, c->device->space))
            return c;
    return NULL;
}

/* Copies from a device with valid bytes, on a queue used only for this copy. */
static collet_status fetch_to_host(storage *s, transfer_counters *moved, collet_error *err)
{
    block *from = any_valid_device_copy(s);
    queue *q = NULL;
    collet_status status = host_memory_take(s, err);
    if (status == COLLET_OK)
        status = after_uses(&s->host, NULL, COLLET_WRITE, 0, err);
    if (status == COLLET_OK)
        status = queue_take(from->device, &q, err);
    if (status != COLLET_OK)
        return status;
    status = copy_outcome(from, 1, err);
    if (status == COLLET_OK && s->bytes && (status = queue_lock(q, err)) == COLLET_OK) {
        device *d = from->device;
        device_enter(d);
        status = device_leave(d, d->table->buffer_read(d->handle, q->handle, from->memory, 0,
                                                       s->host.memory, s->bytes, err));
        if (status == COLLET_OK)
            pthread_mutex_unlock(&q->lock);
        else
            block_used(from, use_of(q, queue_unlock(q)), COLLET_READ, NULL);
    }
    queue_return(q);
    if (status != COLLET_OK)
        return status;
    moved->bytes_to_host += s->bytes;
    set_valid(s, 0, 0);
    return COLLET_OK;
}

static collet_status make_valid_on_host(storage *s, transfer_counters *moved, collet_error *err)
{
    if (is_valid(s, 0))
        return COLLET_OK;
    if (never_written(s))
        return host_memory_take(s, err);
    for (;;) {
        uint64_t before = s->valid;
        collet_status status = fetch_to_host(s, moved, err);
        if (status != COLLET_FAILED && status != COLLET_DEVICE_LOST)
            return status;
        /* Another device may have a valid copy. */
        drop_lost(s);
        if (!s->valid || s->valid == before)
            return status;
    }
}

/* Copies from a device with valid bytes. REFUSED if the two devices cannot copy directly. */
static collet_status send_between(storage *s, block *to, queue *q, transfer_counters *moved,
                                  collet_error *err)
{
    block *from = any_valid_device_copy(s);
    origins derived = from->origins;
    use read = {NULL, 0};
    uint64_t ticket = 0;
    origins_add(&derived, from->writer);
    collet_status status = after_uses(to, q, COLLET_WRITE, 0, err);
    if (status != COLLET_OK)
        return status;
    status = queue_copy_between(q, to->memory, from->device, from->memory, s->bytes, &from->writer,
                                &read, &ticket, err);
    if (status == COLLET_REFUSED || !read.queue)
        return status;
    origins_enqueued(&derived, q);
    block_used(from, read, COLLET_READ, NULL);
    block_used(to, use_of(q, ticket), COLLET_WRITE, &derived);
    if (status != COLLET_OK)
        return status;
    set_valid(s, q->device->space, 0);
    moved->bytes_direct += s->bytes;
    return COLLET_OK;
}

static collet_status send_from_host(storage *s, block *to, queue *q, transfer_counters *moved,
                                    collet_error *err)
{
    collet_status status = make_valid_on_host(s, moved, err);
    if (status == COLLET_OK)
        status = copy_outcome(&s->host, 1, err);
    if (status == COLLET_OK)
        status = after_uses(to, q, COLLET_WRITE, 0, err);
    if (status != COLLET_OK || !s->bytes)
        return status;
    status = queue_lock(q, err);
    if (status != COLLET_OK)
        return status;
    device *d = q->device;
    device_enter(d);
    status = device_leave(d, d->table->buffer_write(d->handle, q->handle, to->memory, 0,
                                                    s->host.memory, s->bytes, err));
    use written = use_of(q, queue_unlock(q));
    if (status != COLLET_REFUSED)
        block_used(to, written, COLLET_WRITE, &no_origins);
    if (status != COLLET_OK)
        return status;
    set_valid(s, q->device->space, 0);
    moved->bytes_to_device += s->bytes;
    return COLLET_OK;
}

static collet_status make_valid(storage *s, block *c, queue *q, int whole, transfer_counters *moved,
                                collet_error *err)
{
    int32_t space = q->device->space;
    if (space == 0) {
        return whole ? host_memory_take(s, err) : make_valid_on_host(s, moved, err);
    }
    if (is_valid(s, space) || whole || never_written(s))
        return COLLET_OK;
    collet_status status =
        is_valid(s, 0) || !s->bytes ? COLLET_REFUSED : send_between(s, c, q, moved, err);
    return status == COLLET_REFUSED ? send_from_host(s, c, q, moved, err) : status;
}

static collet_status lost(const storage *s, collet_error *err)
{
    return collet_fail(
        err, COLLET_DEVICE_LOST,
        "the %" PRIu64 " bytes of an array were valid only on a device that was lost", s->bytes);
}

static collet_status busy_check(const storage *s, int32_t access, collet_error *err)
{
    if (s->acquired == STORAGE_WRITER || (s->acquired && access & COLLET_WRITE))
        return collet_fail(err, COLLET_BUSY,
                           "an array is in use outside of libcore, by the program or by another "
                           "library as a tensor of DLPack; release it there first");
    return COLLET_OK;
}

static collet_status use_locked(storage *s, queue *q, int32_t access, int whole, void **memory,
                                int *commit, origins *from, transfer_counters *moved,
                                collet_error *err)
{
    device *d = q->device;
    collet_status status = busy_check(s, access, err);
    if (status != COLLET_OK)
        return status;
    if (s->host.next)
        drop_lost(s);
    if (s->lost && !whole)
        return lost(s, err);
    block *c = find_copy(s, d);
    if (!c)
        status = device_copy_create(s, q, &c, err);
    if (status == COLLET_OK)
        status = make_valid(s, c, q, whole, moved, err);
    if (status == COLLET_OK)
        status = after_uses(c, q, access, !whole, err);
    if (status != COLLET_OK)
        return status;
    if (!whole) {
        origins_add_all(from, &c->origins);
        origins_add(from, c->writer);
    }
    *memory = c->memory;
    *commit = !d->synchronous || (access & COLLET_WRITE &&
                                  (s->valid != space_bit(d->space) || s->lost || c->writer.queue));
    return COLLET_OK;
}

collet_status storage_use(storage *s, queue *q, int32_t access, int whole, void **memory,
                          int *commit, origins *from, transfer_counters *moved, collet_error *err)
{
    pthread_mutex_lock(&s->lock);
    collet_status status = use_locked(s, q, access, whole, memory, commit, from, moved, err);
    state_unlock(s);
    return status;
}

void storage_commit(storage *s, queue *q, uint64_t ticket, int32_t access, const origins *from)
{
    use u = use_of(q, ticket);
    pthread_mutex_lock(&s->lock);
    block *c = find_copy(s, q->device);
    if (c)
        block_used(c, u, access, from);
    if (access & COLLET_WRITE) {
        set_valid(s, q->device->space, 1);
        s->lost = 0;
    }
    state_unlock(s);
}

int storage_valid_only_on(storage *s, const device *d)
{
    pthread_mutex_lock(&s->lock);
    int only = is_valid(s, d->space) && !is_valid(s, 0);
    pthread_mutex_unlock(&s->lock);
    return only;
}

/* ---- Mapping ----------------------------------------------------------------------------- */

static void acquire(storage *s, int32_t access, int32_t space)
{
    s->acquired = access & COLLET_WRITE ? STORAGE_WRITER : s->acquired + 1;
    s->acquired_space = space;
}

/* Checks that the array is acquired in that space, so that it can be released there. */
static collet_status acquired_check(const storage *s, int32_t space, collet_error *err)
{
    int elsewhere = s->acquired == STORAGE_WRITER && s->acquired_space != space;
    if (s->acquired && !elsewhere)
        return COLLET_OK;
    return collet_fail(err, COLLET_INVALID, "the array is not acquired%s",
                       elsewhere ? " in this memory, but in another memory: release it there" : "");
}

static void unacquire(storage *s)
{
    s->acquired = s->acquired == STORAGE_WRITER ? 0 : s->acquired - 1;
}

static collet_status map_locked(storage *s, int32_t access, int whole, void **address,
                                transfer_counters *moved, collet_error *err)
{
    collet_status status = busy_check(s, access, err);
    if (status != COLLET_OK)
        return status;
    drop_lost(s);
    if (s->lost && !whole)
        return lost(s, err);
    status = whole ? host_memory_take(s, err) : make_valid_on_host(s, moved, err);
    if (status == COLLET_OK)
        status = after_uses(&s->host, NULL, access, !whole, err);
    if (status != COLLET_OK)
        return status;
    if (access & COLLET_WRITE) {
        block_used(&s->host, (use){NULL, 0}, COLLET_WRITE, &no_origins);
        set_valid(s, 0, 1);
        s->lost = 0;
    }
    acquire(s, access, 0);
    *address = s->host.memory;
    return COLLET_OK;
}

collet_status storage_map(storage *s, int32_t access, int whole, void **address,
                          transfer_counters *moved, collet_error *err)
{
    pthread_mutex_lock(&s->lock);
    collet_status status = map_locked(s, access, whole, address, moved, err);
    state_unlock(s);
    return status;
}

collet_status storage_unmap(storage *s, collet_error *err)
{
    pthread_mutex_lock(&s->lock);
    collet_status status = acquired_check(s, 0, err);
    if (status == COLLET_OK)
        unacquire(s);
    state_unlock(s);
    return status;
}

collet_status storage_prefetch(storage *s, queue *q, transfer_counters *moved, collet_error *err)
{
    void *memory;
    int commit;
    origins from = no_origins;
    pthread_mutex_lock(&s->lock);
    collet_status status = use_locked(s, q, COLLET_READ, 0, &memory, &commit, &from, moved, err);
    state_unlock(s);
    return status;
}

/* ---- Commands of the program's own ------------------------------------------------------- */

collet_status storage_acquire_on(storage *s, queue *q, int32_t access, int wait,
                                 collet_buffer **buffer, transfer_counters *moved,
                                 collet_error *err)
{
    void *memory = NULL;
    int commit;
    origins from = no_origins;
    pthread_mutex_lock(&s->lock);
    collet_status status = use_locked(s, q, access, 0, &memory, &commit, &from, moved, err);
    if (status == COLLET_OK && wait)
        status = after_uses(find_copy(s, q->device), NULL, access, 1, err);
    if (status == COLLET_OK) {
        acquire(s, access, q->device->space);
        *buffer = memory;
    }
    state_unlock(s);
    return status;
}

/* A use that covers all work enqueued in `q` so far. */
static collet_status commands_end(queue *q, use *u, collet_error *err)
{
    device *d = q->device;
    if (d->synchronous)
        return COLLET_OK;
    collet_status status = queue_lock(q, err);
    if (status != COLLET_OK)
        return status;
    device_enter(d);
    status = device_leave(d, d->extensions.native->queue_used(d->handle, q->handle, err));
    *u = use_of(q, queue_unlock(q));
    return status;
}

collet_status storage_release_on(storage *s, const device *d, queue *q, collet_error *err)
{
    use u = {NULL, 0};
    pthread_mutex_lock(&s->lock);
    collet_status status = acquired_check(s, d->space, err);
    block *c = find_copy(s, d);
    if (status == COLLET_OK && !c)
        status = collet_fail(err, COLLET_INVALID, "the array is not acquired on %s", d->name);
    if (status == COLLET_OK && q)
        status = commands_end(q, &u, err);
    if (status == COLLET_OK) {
        int32_t access = s->acquired == STORAGE_WRITER ? COLLET_WRITE : COLLET_READ;
        origins from = c->origins;
        origins_add(&from, c->writer);
        if (u.queue)
            origins_enqueued(&from, q);
        if (u.queue || access == COLLET_WRITE)
            block_used(c, u, access, &from);
        if (access == COLLET_WRITE)
            set_valid(s, d->space, 1);
        unacquire(s);
    }
    state_unlock(s);
    return status;
}

device *storage_device(storage *s)
{
    pthread_mutex_lock(&s->lock);
    block *c = is_valid(s, 0) ? NULL : any_valid_device_copy(s);
    pthread_mutex_unlock(&s->lock);
    return c ? c->device : NULL;
}
