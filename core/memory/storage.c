/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_storage.c, tests/core/test_failures.c */
#include "storage.h"

#include <inttypes.h>
#include "timeline/order.h"

#include "timeline/origins.h"
#include "written.h"

static const origins no_origins;

/* ---- State ------------------------------------------------------------------------------- */

/* Others may have written the shared bytes in the space `home`; then only the copy in that space is valid. */
static void trust_home(storage *s)
{
    if (!storage_is_shared(s) || s->acquired || copies_never_written(s))
        return;
    copies_set_valid(s, s->home, 1);
    s->lost = 0;
}

/* Called after every change of state, so that `settled` is current when the lock is released. */
static void state_unlock(storage *s)
{
    int settled = s->host.memory && s->valid == copies_bit(0) && !s->host.next && !s->acquired &&
                  !s->lost && !s->host.writer.queue && !s->host.use_count;
    if (programs_checked())
        written_note(s);
    atomic_store_explicit(&s->settled, settled, memory_order_release);
    pthread_mutex_unlock(&s->lock);
}

/* ---- Use --------------------------------------------------------------------------------- */

static collet_status lost(const storage *s, collet_error *err)
{
    return collet_fail(
        err, COLLET_DEVICE_LOST,
        atomic_load(&s->runtime->ended)
            ? "the %" PRIu64 " bytes of an array are valid only on a device, which is not used any "
              "more because the process ends: read them before"
            : "the %" PRIu64 " bytes of an array were valid only on a device that was lost",
        s->bytes);
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
    if (status == COLLET_OK && programs_checked())
        status = written_check(s, err);
    if (status != COLLET_OK)
        return status;
    trust_home(s);
    if (s->host.next)
        copies_drop_lost(s);
    if (s->lost && !whole)
        return lost(s, err);
    block *c = copies_find(s, d);
    if (!c)
        status = copies_create(s, q, &c, err);
    if (status == COLLET_OK)
        status = copies_make_valid(s, c, q, whole, moved, err);
    if (status == COLLET_OK)
        status = copies_after_uses(c, q, access, !whole, err);
    if (status != COLLET_OK)
        return status;
    if (!whole) {
        origins_add_all(from, &c->origins);
        origins_add(from, c->writer);
    }
    *memory = c->memory;
    *commit = !d->synchronous || (access & COLLET_WRITE &&
                                  (s->valid != copies_bit(d->space) || s->lost ||
                                   c->writer.queue || programs_checked()));
    return COLLET_OK;
}

collet_status storage_use(storage *s, queue *q, int32_t access, int whole, void **memory,
                          int *commit, origins *from, transfer_counters *moved, collet_error *err)
{
    pthread_mutex_lock(&s->lock);
    collet_status status = use_locked(s, q, access, whole, memory, commit, from, moved, err);
    if (status == COLLET_OK && *commit && access & COLLET_WRITE)
        s->writing++;
    state_unlock(s);
    return status;
}

collet_status storage_check_use(storage *s, int32_t access, collet_error *err)
{
    if (atomic_load_explicit(&s->settled, memory_order_acquire))
        return COLLET_OK;
    pthread_mutex_lock(&s->lock);
    collet_status status = busy_check(s, access, err);
    state_unlock(s);
    return status;
}

void storage_commit(storage *s, queue *q, uint64_t ticket, int32_t access, const origins *from)
{
    use u = copies_use(q, ticket);
    pthread_mutex_lock(&s->lock);
    block *c = copies_find(s, q->device);
    if (c)
        block_used(c, u, access, from);
    if (access & COLLET_WRITE) {
        s->writing--;
        copies_set_valid(s, q->device->space, 1);
        s->lost = 0;
    }
    state_unlock(s);
}

void storage_drop_use(storage *s, int32_t access)
{
    if (!(access & COLLET_WRITE))
        return;
    pthread_mutex_lock(&s->lock);
    s->writing--;
    state_unlock(s);
}

uint64_t storage_spaces(storage *s)
{
    if (atomic_load_explicit(&s->settled, memory_order_acquire))
        return copies_bit(0);
    pthread_mutex_lock(&s->lock);
    trust_home(s);
    uint64_t valid = s->valid;
    pthread_mutex_unlock(&s->lock);
    return valid;
}

int storage_valid_only_on(storage *s, const device *d)
{
    uint64_t valid = storage_spaces(s);
    return (valid & copies_bit(d->space)) && !(valid & copies_bit(0));
}

/* ---- Shared memory ----------------------------------------------------------------------- */

static collet_status send_home(storage *s, transfer_counters *moved, collet_error *err)
{
    queue *q = NULL;
    block *c = s->host.next;
    while (c->device->space != s->home)
        c = c->next;
    collet_status status = queue_take(c->device, &q, err);
    if (status == COLLET_OK)
        status = copies_make_valid(s, c, q, 0, moved, err);
    queue_return(q);
    return status == COLLET_OK ? copies_after_uses(c, NULL, COLLET_READ, 1, err) : status;
}

static collet_status settle_shared(storage *s, transfer_counters *moved, collet_error *err)
{
    if (!storage_is_shared(s) || copies_never_written(s))
        return COLLET_OK;
    if (s->home)
        return copies_valid_in(s, s->home) ? COLLET_OK : send_home(s, moved, err);
    collet_status status = copies_make_valid_on_host(s, moved, err);
    return status == COLLET_OK ? copies_after_uses(&s->host, NULL, COLLET_WRITE, 1, err) : status;
}

collet_status storage_settle_shared(storage *s, transfer_counters *moved, collet_error *err)
{
    if (!storage_is_shared(s))
        return COLLET_OK;
    pthread_mutex_lock(&s->lock);
    collet_status status = settle_shared(s, moved, err);
    state_unlock(s);
    return status;
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
    if (status == COLLET_OK && programs_checked())
        status = written_check(s, err);
    if (status != COLLET_OK)
        return status;
    trust_home(s);
    copies_drop_lost(s);
    if (s->lost && !whole)
        return lost(s, err);
    status = whole ? copies_take_host(s, err) : copies_make_valid_on_host(s, moved, err);
    if (status == COLLET_OK)
        status = copies_after_uses(&s->host, NULL, access, !whole, err);
    if (status != COLLET_OK)
        return status;
    if (access & COLLET_WRITE) {
        block_used(&s->host, (use){NULL, 0}, COLLET_WRITE, &no_origins);
        copies_set_valid(s, 0, 1);
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

/* Does not take the lock: if the caller has the only reference, no other thread uses the storage. */
int storage_settle_new(storage *s)
{
    if (atomic_load_explicit(&s->references, memory_order_acquire) != 1 ||
        !copies_never_written(s) || s->acquired || s->host.next ||
        copies_take_host(s, NULL) != COLLET_OK)
        return 0;
    copies_set_valid(s, 0, 1);
    atomic_store_explicit(&s->settled, 1, memory_order_release);
    return 1;
}

collet_status storage_unmap(storage *s, collet_error *err)
{
    transfer_counters moved = {0};
    pthread_mutex_lock(&s->lock);
    collet_status status = acquired_check(s, 0, err), written = COLLET_OK;
    if (status == COLLET_OK && programs_checked())
        written = written_check(s, err);
    if (status == COLLET_OK)
        unacquire(s);
    if (status == COLLET_OK && s->home)
        status = settle_shared(s, &moved, err);
    state_unlock(s);
    return status == COLLET_OK ? written : status;
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

/* ---- Others ------------------------------------------------------------------------------ */

collet_status storage_share(storage *s, void **address, transfer_counters *moved, collet_error *err)
{
    if (s->home)
        return collet_fail(err, COLLET_UNSUPPORTED,
                           "the array wraps device memory of another library: its copy in the host's memory cannot "
                           "be shared");
    pthread_mutex_lock(&s->lock);
    collet_status status = map_locked(s, COLLET_READ, 0, address, moved, err);
    if (status == COLLET_OK) {
        unacquire(s);
        status = copies_after_uses(&s->host, NULL, COLLET_WRITE, 0, err);
    }
    if (status == COLLET_OK) {
        copies_set_valid(s, 0, 1);
        atomic_fetch_add_explicit(&s->shared, 1, memory_order_relaxed);
    }
    state_unlock(s);
    return status;
}

void storage_unshare(storage *s)
{
    pthread_mutex_lock(&s->lock);
    trust_home(s);
    atomic_fetch_sub_explicit(&s->shared, 1, memory_order_relaxed);
    state_unlock(s);
}

/* ---- Commands that the program enqueues -------------------------------------------------- */

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
        status = copies_after_uses(copies_find(s, q->device), NULL, access, 1, err);
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
    *u = copies_use(q, queue_unlock(q));
    return status;
}

collet_status storage_release_on(storage *s, const device *d, queue *q, collet_error *err)
{
    use u = {NULL, 0};
    transfer_counters moved = {0};
    pthread_mutex_lock(&s->lock);
    collet_status status = acquired_check(s, d->space, err);
    block *c = copies_find(s, d);
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
            copies_set_valid(s, d->space, 1);
        unacquire(s);
        status = settle_shared(s, &moved, err);
    }
    state_unlock(s);
    return status;
}

device *storage_device(storage *s)
{
    pthread_mutex_lock(&s->lock);
    trust_home(s);
    block *c = copies_valid_in(s, 0) ? NULL : copies_any_on_device(s);
    pthread_mutex_unlock(&s->lock);
    return c ? c->device : NULL;
}
