/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/worker/test_worker.c */
#include "device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <collet/extensions.h>

/* ---- Loss ------------------------------------------------------------------------------------ */

collet_status device_is_lost(collet_device *d, collet_error *err)
{
    return d->host->fail(err, COLLET_DEVICE_LOST, "worker:%s: %s", d->name, d->why);
}

static void set_lost(collet_device *d, const char *why)
{
    pthread_mutex_lock(&d->lock);
    if (!atomic_load(&d->lost))
        snprintf(d->why, sizeof d->why, "%s", why);
    atomic_store(&d->lost, 1);
    for (collet_queue *q = d->queues; q; q = q->next) {
        atomic_fetch_add(&q->shared->changed, 1);
        wire_futex_wake(&q->shared->changed);
    }
    pthread_mutex_unlock(&d->lock);
}

collet_status device_lose(collet_device *d, collet_error *err, const char *format, ...)
{
    char why[sizeof d->why];
    va_list arguments;
    va_start(arguments, format);
    if (vsnprintf(why, sizeof why, format, arguments) < 0)
        why[0] = '\0';
    va_end(arguments);
    set_lost(d, why);
    process_kill(&d->process);
    return device_is_lost(d, err);
}

/* The op whose kernel the worker was running when it was lost; "" if it ran no kernel. */
static const char *running_op(collet_device *d)
{
    static const char *const names[] = {
#define COLLET_OP(NAME, id, name, ...) [id] = #name,
#include <collet/ops.def>
    };
    uint32_t served = 0, op = 0;
    pthread_mutex_lock(&d->lock);
    for (const collet_queue *q = d->queues; q && !served; q = q->next)
        served = atomic_load(&q->shared->running);
    pthread_mutex_unlock(&d->lock);
    for (uint32_t i = 0; served && d->links && i < d->plugin->kernel_count; i++)
        if (d->links[i].served == served)
            op = d->links[i].op;
    return op && op < sizeof names / sizeof *names && names[op] ? names[op] : "";
}

void device_ended(void *user)
{
    collet_device *d = user;
    char how[64], why[160];
    const char *op = running_op(d);
    process_end_text(&d->process, how, sizeof how);
    snprintf(why, sizeof why, "its process %s%s%s", how, *op ? " in " : "", op);
    set_lost(d, why);
}

collet_status device_broken(collet_device *d, int error, collet_error *err)
{
    if (error == EAGAIN)
        return device_lose(d, err, "its process did not answer in %lld ms",
                           (long long)d->patience / 1000000);
    if (error == EMSGSIZE)
        return device_lose(d, err, "its process sent a message that is too long");
    /* Waits a little for the process to end, because its exit status is a better reason than the closed socket. */
    for (int i = 0; i < 100 && !atomic_load(&d->lost) && process_wait(&d->process, 1000); i++)
        usleep(1000);
    return device_lose(d, err, "its process closed the connection%s%s", error ? ": " : "",
                       error ? strerror(error) : "");
}

/* ---- Requests -------------------------------------------------------------------------------- */

static collet_status reply_check(collet_device *d, long got, uint32_t allowed, wire_reply *reply,
                                 collet_error *err)
{
    char text[WIRE_TEXT];
    if (got <= 0)
        return device_broken(d, (int)-got, err);
    if (got != sizeof *reply ||
        (reply->status != COLLET_OK &&
         (reply->status < 0 || reply->status > 31 || !(allowed >> reply->status & 1))))
        return device_lose(d, err, "its process sent a malformed reply (%ld bytes, status %d)", got,
                           got == sizeof *reply ? reply->status : 0);
    if (reply->status == COLLET_OK)
        return COLLET_OK;
    wire_text(text, reply->text);
    return reply->status == COLLET_DEVICE_LOST
               ? device_lose(d, err, "%s", text)
               : d->host->fail(err, (collet_status)reply->status, "worker:%s: %s", d->name, text);
}

collet_status device_request(collet_device *d, const void *request, size_t bytes, const int *fds,
                             int fd_count, uint32_t allowed, wire_reply *reply, collet_error *err)
{
    pthread_mutex_lock(&d->requests);
    int error =
        atomic_load(&d->lost) ? 0 : wire_send(d->process.control, request, bytes, fds, fd_count);
    long got = error ? -error : 0;
    if (!error && !atomic_load(&d->lost))
        got = wire_receive(d->process.control, reply, sizeof *reply, NULL, NULL, 0);
    pthread_mutex_unlock(&d->requests);
    return atomic_load(&d->lost) ? device_is_lost(d, err)
                                 : reply_check(d, got, allowed, reply, err);
}

void *device_memory(uint64_t bytes, int *fd)
{
    struct rlimit limit;
    *fd = -1;
    /* Beyond this limit, ftruncate would send SIGXFSZ, which would end the program. */
    if (!getrlimit(RLIMIT_FSIZE, &limit) && bytes > limit.rlim_cur) {
        errno = EFBIG;
        return NULL;
    }
    int low = memfd_create("collet-worker", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    *fd = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, 10);
    if (low >= 0)
        close(low);
    void *memory = MAP_FAILED;
    if (*fd >= 0 && !ftruncate(*fd, (off_t)bytes) &&
        !fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    if (memory != MAP_FAILED)
        return memory;
    int error = errno;
    if (*fd >= 0)
        close(*fd);
    errno = error;
    return NULL;
}

const char *device_memory_error(int error)
{
    return error == EFBIG ? "shared memory is beyond the limit on the size of files (ulimit -f)"
                          : strerror(error);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static int by_signature(const void *left, const void *right)
{
    const row_link *a = left, *b = right;
    if (a->op != b->op)
        return a->op < b->op ? -1 : 1;
    return a->sig < b->sig ? -1 : a->sig > b->sig;
}

const row_link *device_link(const collet_device *d, uint32_t op, uint64_t sig)
{
    const row_link key = {.op = op, .sig = sig};
    return bsearch(&key, d->links, d->plugin->kernel_count, sizeof key, by_signature);
}

bool device_links_create(collet_device *d)
{
    const collet_kernel_row *rows = d->plugin->kernels;
    uint32_t count = d->plugin->kernel_count;
    d->links = calloc(count, sizeof *d->links);
    d->link_of = calloc(count, sizeof *d->link_of);
    if (!d->links || !d->link_of)
        return false;
    for (uint32_t i = 0; i < count; i++)
        d->links[i] = (row_link){.op = rows[i].op, .own = i, .sig = rows[i].sig};
    qsort(d->links, count, sizeof *d->links, by_signature);
    for (uint32_t i = 0; i < count; i++)
        d->link_of[d->links[i].own] = i;
    return true;
}

/* Rows that are not in the table are left out. */
collet_status device_receive_rows(collet_device *d, uint32_t count, collet_error *err)
{
    wire_row rows[WIRE_ROWS];
    for (uint32_t at = 0; at < count;) {
        uint32_t some = count - at < WIRE_ROWS ? count - at : WIRE_ROWS;
        long got = wire_receive(d->process.control, rows, sizeof rows, NULL, NULL, 0);
        if (got <= 0)
            return device_broken(d, (int)-got, err);
        if (got != (long)(some * sizeof *rows))
            return device_lose(d, err, "its process sent %ld bytes in place of %u rows", got, some);
        for (uint32_t i = 0; i < some; i++) {
            row_link *link = (row_link *)(uintptr_t)device_link(d, rows[i].op, rows[i].sig);
            if (link)
                *link = (row_link){link->op, link->own, link->sig, at + i + 1, rows[i].asks};
        }
        at += some;
    }
    return COLLET_OK;
}

int32_t worker_supports(collet_device *d, uint32_t row)
{
    return row < d->plugin->kernel_count && d->links[d->link_of[row]].served != 0;
}

/* ---- Trim ------------------------------------------------------------------------------------ */

static void trim(collet_device *d)
{
    wire_request r = {.verb = WIRE_TRIM};
    wire_reply reply;
    collet_error ignored;
    (void)device_request(d, &r, sizeof r, NULL, 0, 0, &reply, &ignored);
}

static const collet_trim_extension trim_extension = {sizeof trim_extension, 0, trim};

const void *worker_extension(collet_device *d, const char *name)
{
    return d->trims && !strcmp(name, COLLET_EXTENSION_TRIM) ? &trim_extension : NULL;
}
