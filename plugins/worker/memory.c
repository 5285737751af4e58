/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers. If the served device works on host memory, both processes map its buffers, so that a
 * byte is copied once; buffers of other devices are reached through the queue's staging.
 * Tests: tests/worker/test_worker.c */
#include "device.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <collet/extensions.h>

#define MAY(name) (1u << COLLET_##name)

/* Whether the host has this much memory: memory that does not exist would cause a signal when it is touched. */
static bool is_there(const collet_host *host, uint64_t bytes)
{
    const collet_host_memory_extension *memory =
        host->extension(host, COLLET_EXTENSION_HOST_MEMORY);
    collet_memory_limit limit = {.struct_size = sizeof limit};
    return !memory || memory->read(&limit, NULL) || bytes <= limit.total;
}

static collet_status short_of_memory(const collet_device *d, uint64_t bytes, int error,
                                     collet_error *err)
{
    return d->host->fail(err, COLLET_REFUSED, "worker:%s: there are no %" PRIu64 " bytes%s%s",
                         d->name, bytes, error ? ": " : "",
                         error ? device_memory_error(error) : "");
}

collet_status worker_buffer_alloc(collet_device *d, collet_buffer **buffer, uint64_t bytes,
                                  collet_error *err)
{
    const wire_request r = {.verb = WIRE_ALLOC, .bytes = bytes};
    wire_reply reply = {.status = COLLET_OK};
    int fd = -1;
    if (atomic_load(&d->lost))
        return device_is_lost(d, err);
    if (d->host_memory && !is_there(d->host, bytes))
        return short_of_memory(d, bytes, 0, err);
    collet_buffer *b = calloc(1, sizeof *b);
    if (b && d->host_memory)
        b->memory = device_memory(bytes, &fd);
    if (!b || (d->host_memory && !b->memory)) {
        int error = errno;
        free(b);
        return short_of_memory(d, bytes, error, err);
    }
    b->bytes = bytes;
    collet_status status = device_request(d, &r, sizeof r, &fd, d->host_memory ? 1 : 0,
                                          MAY(REFUSED) | MAY(DEVICE_LOST), &reply, err);
    if (fd >= 0)
        close(fd);
    b->id = reply.id;
    if (status == COLLET_OK) {
        *buffer = b;
        return COLLET_OK;
    }
    if (b->memory)
        munmap(b->memory, bytes);
    free(b);
    return status;
}

void worker_buffer_free(collet_device *d, collet_buffer *b)
{
    if (!b)
        return;
    const wire_request r = {.verb = WIRE_FREE, .id = b->id};
    pthread_mutex_lock(&d->requests);
    if (!atomic_load(&d->lost))
        (void)wire_send(d->process.control, &r, sizeof r, NULL, 0);
    pthread_mutex_unlock(&d->requests);
    if (b->memory)
        munmap(b->memory, b->bytes);
    free(b);
}

/* Waits until the queue has done the command `ticket`, even if it failed. Returns COLLET_OK or DEVICE_LOST. */
static collet_status reach(collet_device *d, collet_queue *q, uint64_t ticket, collet_error *err)
{
    collet_error ignored = {COLLET_OK, ""};
    collet_status status = worker_queue_wait(d, q, ticket, d->patience, &ignored);
    return status == COLLET_DEVICE_LOST ? device_is_lost(d, err) : COLLET_OK;
}

/* Sets *slot to the next slot of the queue's staging, and waits until no command uses it. Returns COLLET_OK or
 * DEVICE_LOST. */
static collet_status take_slot(collet_device *d, collet_queue *q, uint32_t *slot, collet_error *err)
{
    *slot = q->next_slot++ % WIRE_SLOTS;
    return reach(d, q, q->slot_ticket[*slot], err);
}

static collet_status transfer(collet_queue *q, wire_verb verb, const collet_buffer *b,
                              uint64_t offset, uint64_t bytes, uint32_t slot, collet_error *err)
{
    const wire_request r = {
        .verb = verb, .id = b->id, .bytes = bytes, .offset = offset, .value = slot};
    collet_status status = worker_command(q, &r, sizeof r, err);
    q->slot_ticket[slot] = atomic_load(&q->sent);
    return status;
}

static uint64_t piece(uint64_t bytes)
{
    return bytes < WIRE_SLOT_BYTES ? bytes : WIRE_SLOT_BYTES;
}

collet_status worker_buffer_write(collet_device *d, collet_queue *q, collet_buffer *b,
                                  uint64_t offset, const void *source, uint64_t bytes,
                                  collet_error *err)
{
    const unsigned char *from = source;
    uint64_t sent = atomic_load(&q->sent);
    collet_status status = COLLET_OK;
    uint32_t slot;
    if (atomic_load(&d->lost))
        return device_is_lost(d, err);
    bool direct = b->memory && (bytes > WIRE_SLOT_BYTES || atomic_load(&q->shared->done) >= sent);
    if (direct) {
        status = reach(d, q, sent, err);
        if (status == COLLET_OK)
            memcpy(b->memory + offset, from, bytes);
        return status;
    }
    for (uint64_t at = 0; status == COLLET_OK && at < bytes; at += piece(bytes - at)) {
        status = take_slot(d, q, &slot, err);
        if (status != COLLET_OK)
            return status;
        memcpy(q->shared->staging[slot], from + at, piece(bytes - at));
        status = transfer(q, WIRE_WRITE, b, offset + at, piece(bytes - at), slot, err);
    }
    return status;
}

collet_status worker_buffer_read(collet_device *d, collet_queue *q, collet_buffer *b,
                                 uint64_t offset, void *target, uint64_t bytes, collet_error *err)
{
    unsigned char *to = target;
    uint32_t slot;
    collet_status status = worker_queue_wait(d, q, atomic_load(&q->sent), d->patience, err);
    if (status == COLLET_OK && b->memory) {
        memcpy(to, b->memory + offset, bytes);
        return COLLET_OK;
    }
    for (uint64_t at = 0; status == COLLET_OK && at < bytes; at += piece(bytes - at)) {
        status = take_slot(d, q, &slot, err);
        if (status == COLLET_OK)
            status = transfer(q, WIRE_READ, b, offset + at, piece(bytes - at), slot, err);
        if (status == COLLET_OK)
            status = worker_queue_wait(d, q, atomic_load(&q->sent), d->patience, err);
        if (status == COLLET_OK)
            memcpy(to + at, q->shared->staging[slot], piece(bytes - at));
    }
    return status;
}
