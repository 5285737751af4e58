/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/worker/test_worker.c */
#include "device.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "shared/host/util/clock.h"

#define MAY(name) (1u << COLLET_##name)

/* ---- Creation -------------------------------------------------------------------------------- */

static void queue_free(collet_queue *q)
{
    if (q->shared)
        munmap(q->shared, sizeof *q->shared);
    if (q->socket >= 0)
        close(q->socket);
    free(q);
}

static void link_queue(collet_device *d, collet_queue *q)
{
    pthread_mutex_lock(&d->lock);
    q->next = d->queues;
    d->queues = q;
    pthread_mutex_unlock(&d->lock);
}

static void unlink_queue(collet_device *d, collet_queue *q)
{
    pthread_mutex_lock(&d->lock);
    collet_queue **at = &d->queues;
    while (*at && *at != q)
        at = &(*at)->next;
    if (*at)
        *at = q->next;
    pthread_mutex_unlock(&d->lock);
}

/* Sends the worker its end of the socket and the descriptor of the shared memory. */
static collet_status introduce(collet_device *d, collet_queue *q, int theirs, int memory,
                               collet_error *err)
{
    const wire_request r = {.verb = WIRE_QUEUE};
    const int fds[2] = {theirs, memory};
    wire_reply reply = {.status = COLLET_OK};
    collet_status status = device_request(
        d, &r, sizeof r, fds, 2, MAY(NO_MEMORY) | MAY(FAILED) | MAY(DEVICE_LOST), &reply, err);
    q->id = reply.id;
    return status;
}

collet_status worker_queue_create(collet_device *d, collet_queue **queue, collet_error *err)
{
    int ends[2] = {-1, -1}, memory = -1;
    if (atomic_load(&d->lost))
        return device_is_lost(d, err);
    collet_queue *q = calloc(1, sizeof *q);
    if (!q)
        return d->host->fail(err, COLLET_NO_MEMORY, "worker:%s: no memory for a queue", d->name);
    q->device = d;
    q->socket = -1;
    q->shared = device_memory(sizeof *q->shared, &memory);
    if (!q->shared || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
        int error = errno;
        if (memory >= 0)
            close(memory);
        queue_free(q);
        return d->host->fail(err, COLLET_FAILED, "worker:%s: cannot create a queue: %s", d->name,
                             device_memory_error(error));
    }
    q->socket = ends[0];
    struct timeval limit = {d->patience < 0 ? 0 : d->patience / 1000000000, 0};
    setsockopt(q->socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    link_queue(d, q);
    collet_status status = introduce(d, q, ends[1], memory, err);
    close(ends[1]);
    close(memory);
    if (status == COLLET_OK) {
        *queue = q;
        return COLLET_OK;
    }
    unlink_queue(d, q);
    queue_free(q);
    return status;
}

void worker_queue_destroy(collet_device *d, collet_queue *q)
{
    collet_error ignored;
    wire_reply reply = {.status = COLLET_OK};
    if (!q)
        return;
    (void)worker_queue_wait(d, q, atomic_load(&q->sent), d->patience, &ignored);
    const wire_request r = {.verb = WIRE_DESTROY, .id = q->id};
    if (!atomic_load(&d->lost))
        (void)device_request(d, &r, sizeof r, NULL, 0, 0, &reply, &ignored);
    unlink_queue(d, q);
    queue_free(q);
}

/* ---- Commands -------------------------------------------------------------------------------- */

collet_status worker_command(collet_queue *q, const void *command, size_t bytes, collet_error *err)
{
    collet_device *d = q->device;
    if (atomic_load(&d->lost))
        return device_is_lost(d, err);
    int error = wire_send(q->socket, command, bytes, NULL, 0);
    if (error)
        return device_broken(d, error, err);
    atomic_fetch_add(&q->sent, 1);
    return COLLET_OK;
}

uint64_t worker_queue_mark(collet_device *d, collet_queue *q)
{
    (void)d;
    return atomic_load(&q->sent);
}

collet_status worker_queue_after(collet_device *d, collet_queue *q, collet_queue *other,
                                 uint64_t value, collet_error *err)
{
    (void)d;
    const wire_request r = {.verb = WIRE_AFTER, .id = other->id, .value = value};
    return worker_command(q, &r, sizeof r, err);
}

/* ---- Waiting --------------------------------------------------------------------------------- */

/* The status that the worker reports for the commands up to `value`; all of them are done. */
static collet_status outcome(collet_device *d, const collet_queue *q, uint64_t value,
                             collet_error *err)
{
    char text[WIRE_TEXT];
    uint64_t failed = atomic_load(&q->shared->failed);
    if (!failed || failed > value)
        return COLLET_OK;
    wire_text(text, q->shared->text);
    if (atomic_load(&q->shared->status) == COLLET_DEVICE_LOST)
        return device_lose(d, err, "%s", text);
    return d->host->fail(err, COLLET_FAILED, "worker:%s: %s", d->name, text);
}

collet_status worker_queue_wait(collet_device *d, collet_queue *q, uint64_t value,
                                int64_t nanoseconds, collet_error *err)
{
    wire_queue *shared = q->shared;
    int64_t left = nanoseconds, end = clock_now();
    if (nanoseconds > 0 && __builtin_add_overflow(end, nanoseconds, &end))
        end = INT64_MAX;
    while (!atomic_load(&d->lost) && atomic_load(&shared->done) < value) {
        if (nanoseconds > 0)
            left = end - clock_now();
        /* The worker has not answered for as long as the plugin waits: it is killed, and the device is lost. */
        if (nanoseconds > 0 && left <= 0 && nanoseconds == d->patience)
            return device_broken(d, EAGAIN, err);
        if (nanoseconds >= 0 && left <= 0)
            return d->host->fail(err, COLLET_NOT_READY, "worker:%s: the queue is still at work",
                                 d->name);
        uint32_t seen = atomic_load(&shared->changed);
        atomic_fetch_add(&shared->waiting, 1);
        if (!atomic_load(&d->lost) && atomic_load(&shared->done) < value)
            wire_futex_wait(&shared->changed, seen, left);
        atomic_fetch_sub(&shared->waiting, 1);
    }
    return atomic_load(&d->lost) ? device_is_lost(d, err) : outcome(d, q, value, err);
}
