/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each queue has a thread. If the device has no queues, the thread executes the commands. Otherwise it enqueues them
 * in the device's queue; while no further command comes, it waits for the oldest command, so that the queue's counter
 * follows each command.
 * Tests: tests/worker/test_worker.c */
#include <errno.h>
#include <fenv.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve.h"

#define AHEAD 256 /* the maximum number of commands that are enqueued and not known to be done */

struct served_queue {
    server *server;
    uint64_t id;
    int socket;
    wire_queue *shared;
    collet_queue *real; /* the backend's queue; NULL: the device has no queues */
    pthread_t thread;
    uint64_t received, done;
    uint64_t marks[AHEAD]; /* the mark of command n is at n % AHEAD */
    uint32_t users;        /* protected by server->lock */
    served_queue *next;
};

/* ---- The counter ----------------------------------------------------------------------------- */

/* The first failure stays. */
static void fail(served_queue *q, uint64_t ticket, collet_status status, const collet_error *err)
{
    if (atomic_load(&q->shared->failed))
        return;
    wire_text(q->shared->text, err->text);
    atomic_store(&q->shared->status, (uint32_t)status);
    atomic_store(&q->shared->failed, ticket);
}

static void publish(served_queue *q, uint64_t ticket)
{
    q->done = ticket;
    atomic_store(&q->shared->done, ticket);
    atomic_fetch_add(&q->shared->changed, 1);
    if (atomic_load(&q->shared->waiting))
        wire_futex_wake(&q->shared->changed);
}

/* Waits for the oldest command. */
static void settle_one(served_queue *q)
{
    server *s = q->server;
    collet_error err = {COLLET_OK, ""};
    uint64_t ticket = q->done + 1;
    serve_enter(s);
    collet_status status =
        s->plugin->queue_wait(s->device, q->real, q->marks[ticket % AHEAD], -1, &err);
    serve_leave(s);
    if (status != COLLET_OK)
        fail(q, ticket, status, &err);
    publish(q, ticket);
}

static void settle(served_queue *q, uint64_t ticket)
{
    while (q->done < ticket)
        settle_one(q);
}

/* ---- Other queues ---------------------------------------------------------------------------- */

static void release(served_queue *q)
{
    pthread_mutex_lock(&q->server->lock);
    uint32_t users = --q->users;
    pthread_mutex_unlock(&q->server->lock);
    if (users)
        return;
    munmap(q->shared, sizeof *q->shared);
    close(q->socket);
    free(q);
}

/* Finds a queue by its id. NULL if it was destroyed; then all its commands are done. */
static served_queue *find(server *s, uint64_t id)
{
    pthread_mutex_lock(&s->lock);
    served_queue *q = s->queues;
    while (q && q->id != id)
        q = q->next;
    if (q)
        q->users++;
    pthread_mutex_unlock(&s->lock);
    return q;
}

static void go_on_after(served_queue *q, const wire_request *r)
{
    served_queue *other = find(q->server, r->id);
    if (!other)
        return;
    wire_queue *shared = other->shared;
    while (atomic_load(&shared->done) < r->value) {
        uint32_t seen = atomic_load(&shared->changed);
        atomic_fetch_add(&shared->waiting, 1);
        if (atomic_load(&shared->done) < r->value)
            wire_futex_wait(&shared->changed, seen, -1);
        atomic_fetch_sub(&shared->waiting, 1);
    }
    release(other);
}

/* ---- Commands -------------------------------------------------------------------------------- */

static collet_status transfer(served_queue *q, const wire_request *r, collet_error *err)
{
    server *s = q->server;
    unsigned char *buffer = serve_buffer(s, r->id + 1);
    if (!buffer || r->value >= WIRE_SLOTS || r->bytes > WIRE_SLOT_BYTES)
        return collet_fail(err, COLLET_FAILED, "no such transfer");
    unsigned char *staging = q->shared->staging[r->value];
    if (s->properties.memory == COLLET_MEMORY_HOST) {
        memcpy(buffer + r->offset, staging, r->bytes);
        return COLLET_OK;
    }
    collet_buffer *own = (void *)buffer;
    serve_enter(s);
    collet_status status =
        r->verb == WIRE_WRITE
            ? s->plugin->buffer_write(s->device, q->real, own, r->offset, staging, r->bytes, err)
            : s->plugin->buffer_read(s->device, q->real, own, r->offset, staging, r->bytes, err);
    serve_leave(s);
    return status;
}

static collet_status run(served_queue *q, const wire_call *call, size_t bytes, collet_error *err)
{
    if (!serve_call_valid(q->server, call, bytes))
        return collet_fail(err, COLLET_FAILED, "no such call");
    collet_status limited = collet_set_thread_limit(call->head.threads, err);
    if (limited != COLLET_OK)
        return limited;
    atomic_store(&q->shared->running, call->row + 1);
    collet_status status = serve_run(q->server, q->real, call, err);
    atomic_store(&q->shared->running, 0);
    return status;
}

static void command(served_queue *q, const wire_call *m, size_t bytes)
{
    server *s = q->server;
    collet_error err = {COLLET_OK, "a kernel failed without a text"};
    collet_status status = COLLET_OK;
    uint64_t ticket = ++q->received;
    if (m->head.verb == WIRE_AFTER) {
        settle(q, ticket - 1);
        go_on_after(q, &m->head);
    } else if (!atomic_load(&q->shared->failed)) {
        status = m->head.verb == WIRE_RUN ? run(q, m, bytes, &err) : transfer(q, &m->head, &err);
    }
    if (status != COLLET_OK) {
        settle(q, ticket - 1);
        fail(q, ticket, status, &err);
    }
    if (!q->real) {
        publish(q, ticket);
        return;
    }
    serve_enter(s);
    q->marks[ticket % AHEAD] = s->plugin->queue_mark(s->device, q->real);
    serve_leave(s);
}

static void *thread_main(void *argument)
{
    served_queue *q = argument;
    wire_call message;
    fesetenv(FE_DFL_ENV);
    for (;;) {
        bool pending = q->done < q->received;
        long got = wire_receive(q->socket, &message, sizeof message, NULL, NULL,
                                pending ? MSG_DONTWAIT : 0);
        if (got == -EAGAIN) {
            settle_one(q);
            continue;
        }
        if (got < (long)sizeof message.head)
            break;
        if (q->received - q->done == AHEAD - 1)
            settle_one(q);
        command(q, &message, (size_t)got);
    }
    settle(q, q->received);
    return NULL;
}

/* ---- Creation -------------------------------------------------------------------------------- */

static collet_status real_create(served_queue *q, collet_error *err)
{
    server *s = q->server;
    if (s->properties.order != COLLET_ORDER_QUEUES)
        return COLLET_OK;
    serve_enter(s);
    collet_status status = s->plugin->queue_create(s->device, &q->real, err);
    serve_leave(s);
    return status;
}

static void real_destroy(served_queue *q)
{
    server *s = q->server;
    if (!q->real)
        return;
    serve_enter(s);
    s->plugin->queue_destroy(s->device, q->real);
    serve_leave(s);
}

collet_status serve_queue_create(server *s, int socket, int memory, uint64_t *id, collet_error *err)
{
    served_queue *q = calloc(1, sizeof *q);
    void *shared = mmap(NULL, sizeof *q->shared, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    close(memory);
    if (!q || shared == MAP_FAILED) {
        free(q);
        close(socket);
        return collet_fail(err, COLLET_NO_MEMORY, "the worker has no memory for a queue");
    }
    *q = (served_queue){
        .server = s, .id = s->next_queue++, .socket = socket, .shared = shared, .users = 1};
    *id = q->id;
    collet_status status = real_create(q, err);
    if (status == COLLET_OK && pthread_create(&q->thread, NULL, thread_main, q)) {
        real_destroy(q);
        status = collet_fail(err, COLLET_FAILED, "the worker cannot start a thread for a queue");
    }
    if (status != COLLET_OK) {
        release(q);
        return status;
    }
    pthread_mutex_lock(&s->lock);
    q->next = s->queues;
    s->queues = q;
    pthread_mutex_unlock(&s->lock);
    return COLLET_OK;
}

void serve_queue_destroy(server *s, uint64_t id)
{
    pthread_mutex_lock(&s->lock);
    served_queue **at = &s->queues, *q;
    while (*at && (*at)->id != id)
        at = &(*at)->next;
    q = *at;
    if (q)
        *at = q->next;
    pthread_mutex_unlock(&s->lock);
    if (!q)
        return;
    shutdown(q->socket, SHUT_RDWR);
    pthread_join(q->thread, NULL);
    real_destroy(q);
    release(q);
}
