/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of slots, each with the checks that hold for every call.
 * Tests: tests/conformance/verbs/defects.sh */
#include "verbs/verbs.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- The end of a check -------------------------------------------------------------------- */

static _Noreturn void leave(testbed *b)
{
    if (pthread_equal(pthread_self(), b->main))
        longjmp(b->escape, 1);
    pthread_exit(NULL);
}

void testbed_fail(testbed *b, const char *format, ...)
{
    char text[KIT_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pthread_mutex_lock(b->lock);
    kit_fail(b->verdict, "%s", text);
    pthread_mutex_unlock(b->lock);
    leave(b);
}

void testbed_skip(testbed *b, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pthread_mutex_lock(b->lock);
    if (!b->verdict->failed) {
        b->skipped = true;
        vsnprintf(b->verdict->text, sizeof b->verdict->text, format, arguments);
    }
    pthread_mutex_unlock(b->lock);
    va_end(arguments);
    leave(b);
}

bool testbed_failed(testbed *b)
{
    pthread_mutex_lock(b->lock);
    bool failed = b->verdict->failed;
    pthread_mutex_unlock(b->lock);
    return failed;
}

void testbed_check(testbed *b)
{
    if (testbed_failed(b))
        leave(b);
}

/* ---- Arguments of calls ------------------------------------------------------------------ */

/* The arguments of a call are overwritten when the slot has returned, and kept for a while, to detect a plugin
 * that still reads or writes them. */
#define BLOCKS (sizeof((testbed){0}.kept) / sizeof *(testbed){0}.kept)

static bool untouched(const kept_block *k)
{
    const unsigned char *bytes = k->bytes;
    return !k->size || (bytes[0] == KEPT && !memcmp(bytes, bytes + 1, k->size - 1));
}

static const char written[] = "memory of a call's arguments was written after the call returned";

void arguments_keep(testbed *b, void *block, size_t size)
{
    memset(block, KEPT, size);
    pthread_mutex_lock(b->lock);
    kept_block *at = &b->kept[b->kept_at++ % BLOCKS], old = *at;
    *at = (kept_block){block, size};
    pthread_mutex_unlock(b->lock);
    bool same = untouched(&old);
    free(old.bytes);
    testbed_require(b, same, "%s", written);
}

bool arguments_free(testbed *b)
{
    bool same = true;
    for (size_t i = 0; i < BLOCKS; i++) {
        same = same && untouched(&b->kept[i]);
        free(b->kept[i].bytes);
        b->kept[i] = (kept_block){0};
    }
    return same;
}

/* ---- Calls --------------------------------------------------------------------------------- */

void testbed_logged(testbed *b, const char *slot)
{
    char text[KIT_TEXT];
    pthread_mutex_lock(&b->target->lock);
    snprintf(text, sizeof text, "%s", b->target->logged);
    pthread_mutex_unlock(&b->target->lock);
    testbed_require(b, !text[0], "%s: an error was logged: %.1400s", slot, text);
}

void slot_begin(slot_call *s, testbed *b, const char *slot)
{
    s->b = b;
    s->slot = slot;
    memset(&s->err, 0x5a, sizeof s->err); /* a caller need not initialise it */
    s->err.status = COLLET_STATUS_COUNT;
    s->err.text[0] = '\0';
    if (b->one_thread)
        pthread_mutex_lock(b->serial);
    kit_conduct_take(&s->before, b->session->output);
}

collet_status slot_end(slot_call *s, collet_status status, uint32_t allowed)
{
    testbed *b = s->b;
    kit_verdict v = {0};
    char text[CONTRACT_TEXT];
    kit_conduct_check(&s->before, b->session->output, &v);
    if (b->one_thread)
        pthread_mutex_unlock(b->serial);
    testbed_require(b, !v.failed, "%s: %s", s->slot, v.text);
    testbed_logged(b, s->slot);
    testbed_require(b, !contract_status(status, allowed, &s->err, text), "%s: %s", s->slot, text);
    return status;
}

/* Ends the check unless the call succeeded. */
static void must(testbed *b, const char *slot, collet_status status)
{
    testbed_require(b, status == COLLET_OK, "%s returned %s", slot, collet_status_name(status));
}

collet_status try_open(testbed *b, uint32_t index, collet_device **device)
{
    slot_call s;
    collet_device_properties p = {.struct_size = sizeof p};
    slot_begin(&s, b, "device_open");
    collet_status status =
        slot_end(&s,
                 b->plugin->device_open(b->plugin, device, &p, &b->target->host, index,
                                        target_device_name(b->target, index), &s.err),
                 CONTRACT_OPEN);
    if (status == COLLET_OK) {
        b->own_memory = p.memory == COLLET_MEMORY_OWN;
        b->has_queues = p.order == COLLET_ORDER_QUEUES;
        b->one_thread = p.threads == COLLET_THREADS_ONE;
        b->max_queues = !b->has_queues ? 1 : p.max_queues ? p.max_queues : UINT32_MAX;
    }
    return status;
}

collet_status try_alloc(testbed *b, uint64_t bytes, void **buffer)
{
    slot_call s;
    collet_buffer *allocated = NULL;
    if (!b->own_memory) {
        *buffer = aligned_alloc(256, (size_t)(bytes + 255) / 256 * 256);
        return *buffer ? COLLET_OK : COLLET_REFUSED;
    }
    slot_begin(&s, b, "buffer_alloc");
    collet_status status =
        slot_end(&s, b->plugin->buffer_alloc(b->device, &allocated, bytes, &s.err), CONTRACT_ACCEPT);
    *buffer = allocated;
    return status;
}

collet_status try_queue(testbed *b, collet_queue **queue)
{
    slot_call s;
    *queue = NULL;
    if (!b->has_queues)
        return COLLET_OK;
    slot_begin(&s, b, "queue_create");
    return slot_end(&s, b->plugin->queue_create(b->device, queue, &s.err), CONTRACT_CREATE);
}

collet_status try_write(testbed *b, collet_queue *q, void *buffer, uint64_t offset,
                        const void *source, uint64_t bytes)
{
    slot_call s;
    if (!b->own_memory) {
        memcpy((char *)buffer + offset, source, bytes);
        return COLLET_OK;
    }
    slot_begin(&s, b, "buffer_write");
    return slot_end(&s,
                    b->plugin->buffer_write(b->device, q, buffer, offset, source, bytes, &s.err),
                    CONTRACT_ENQUEUE);
}

collet_status try_read(testbed *b, collet_queue *q, void *buffer, uint64_t offset, void *target,
                       uint64_t bytes)
{
    slot_call s;
    if (!b->own_memory) {
        memcpy(target, (char *)buffer + offset, bytes);
        return COLLET_OK;
    }
    slot_begin(&s, b, "buffer_read");
    return slot_end(&s, b->plugin->buffer_read(b->device, q, buffer, offset, target, bytes, &s.err),
                    CONTRACT_ENQUEUE);
}

collet_status try_wait(testbed *b, collet_queue *q, uint64_t value, int64_t nanoseconds)
{
    slot_call s;
    if (!q)
        return COLLET_OK;
    slot_begin(&s, b, "queue_wait");
    return slot_end(&s, b->plugin->queue_wait(b->device, q, value, nanoseconds, &s.err), CONTRACT_WAIT);
}

collet_status try_after(testbed *b, collet_queue *q, collet_queue *other, uint64_t value)
{
    slot_call s;
    if (!q || q == other)
        return COLLET_OK;
    slot_begin(&s, b, "queue_after");
    return slot_end(&s, b->plugin->queue_after(b->device, q, other, value, &s.err), CONTRACT_ENQUEUE);
}

int64_t testbed_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- Calls that succeed -------------------------------------------------------------------- */

void testbed_open(testbed *b)
{
    collet_device *device = NULL;
    must(b, "device_open", try_open(b, b->index, &device));
    testbed_require(b, device, "device_open returned OK and no device");
    b->device = device;
    /* libcore does the same. */
    for (uint32_t i = 0; b->plugin->device_supports && i < b->plugin->kernel_count; i++)
        (void)b->plugin->device_supports(device, i);
}

void testbed_close(testbed *b)
{
    slot_call s;
    slot_begin(&s, b, "device_close");
    b->plugin->device_close(b->device);
    b->device = NULL;
    slot_end(&s, COLLET_OK, 0);
}

void *testbed_alloc(testbed *b, uint64_t bytes)
{
    void *buffer = NULL;
    must(b, "buffer_alloc", try_alloc(b, bytes, &buffer));
    testbed_require(b, buffer, "buffer_alloc returned OK and no buffer");
    return buffer;
}

void testbed_free(testbed *b, void *buffer)
{
    slot_call s;
    if (!b->own_memory) {
        free(buffer);
        return;
    }
    slot_begin(&s, b, "buffer_free");
    b->plugin->buffer_free(b->device, buffer);
    slot_end(&s, COLLET_OK, 0);
}

void testbed_free_each(testbed *b, void *const *buffers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        testbed_free(b, buffers[i]);
}

collet_queue *testbed_queue(testbed *b)
{
    collet_queue *queue;
    must(b, "queue_create", try_queue(b, &queue));
    testbed_require(b, queue || !b->has_queues, "queue_create returned OK and no queue");
    return queue;
}

void testbed_destroy(testbed *b, collet_queue *q)
{
    slot_call s;
    if (!b->has_queues)
        return;
    slot_begin(&s, b, "queue_destroy");
    b->plugin->queue_destroy(b->device, q);
    slot_end(&s, COLLET_OK, 0);
}

#define KEPT_BYTES (1 << 16)

void testbed_write(testbed *b, collet_queue *q, void *buffer, uint64_t offset, const void *source,
                   uint64_t bytes)
{
    void *block = kit_memory(bytes);
    memcpy(block, source, bytes);
    collet_status status = try_write(b, q, buffer, offset, block, bytes);
    bool same = !memcmp(block, source, bytes);
    if (bytes <= KEPT_BYTES) {
        arguments_keep(b, block, bytes);
    } else {
        memset(block, KEPT, bytes);
        free(block);
    }
    testbed_require(b, same, "buffer_write changed the source");
    must(b, "buffer_write", status);
}

void testbed_read(testbed *b, collet_queue *q, void *buffer, uint64_t offset, void *target,
                  uint64_t bytes)
{
    must(b, "buffer_read", try_read(b, q, buffer, offset, target, bytes));
}

uint64_t testbed_mark(testbed *b, collet_queue *q)
{
    slot_call s;
    if (!q)
        return 0;
    slot_begin(&s, b, "queue_mark");
    uint64_t value = b->plugin->queue_mark(b->device, q);
    slot_end(&s, COLLET_OK, 0);
    return value;
}

void testbed_wait(testbed *b, collet_queue *q, uint64_t value)
{
    collet_status status = try_wait(b, q, value, -1);
    testbed_require(b, status != COLLET_NOT_READY,
                    "queue_wait without a limit returned NOT_READY: a negative number means no limit");
    must(b, "queue_wait", status);
}

collet_status testbed_poll(testbed *b, collet_queue *q, uint64_t value, int64_t nanoseconds)
{
    int64_t start = testbed_now();
    collet_status status = try_wait(b, q, value, nanoseconds);
    int64_t took = testbed_now() - start;
    testbed_require(b, status != COLLET_NOT_READY || took >= nanoseconds,
                    "queue_wait with a limit of %lld ns returned NOT_READY after %lld ns",
                    (long long)nanoseconds, (long long)took);
    testbed_require(b, status == COLLET_OK || status == COLLET_NOT_READY, "queue_wait returned %s",
                    collet_status_name(status));
    return status;
}

void testbed_after(testbed *b, collet_queue *q, collet_queue *other, uint64_t value)
{
    must(b, "queue_after", try_after(b, q, other, value));
}

void testbed_settle(testbed *b, collet_queue *q)
{
    testbed_wait(b, q, testbed_mark(b, q));
}

const void *testbed_extension(testbed *b, const char *name)
{
    slot_call s;
    if (!b->plugin->extension)
        return NULL;
    slot_begin(&s, b, "extension");
    const void *table = b->plugin->extension(b->device, name);
    slot_end(&s, COLLET_OK, 0);
    return table;
}

bool testbed_statistics(testbed *b, collet_memory_stats *stats)
{
    slot_call s;
    const collet_memory_extension *memory = testbed_extension(b, COLLET_EXTENSION_MEMORY);
    if (!memory)
        return false;
    slot_begin(&s, b, "collet.memory/1 stats");
    must(b, "collet.memory/1 stats",
         slot_end(&s, memory->stats(b->device, stats, &s.err), CONTRACT_REPORT));
    return true;
}

void testbed_reset_peak(testbed *b)
{
    slot_call s;
    const collet_memory_extension *memory = testbed_extension(b, COLLET_EXTENSION_MEMORY);
    if (!memory)
        return;
    slot_begin(&s, b, "collet.memory/1 reset_peak");
    memory->reset_peak(b->device);
    slot_end(&s, COLLET_OK, 0);
}

const collet_timing_extension *testbed_timing(testbed *b)
{
    return b->has_queues ? testbed_extension(b, COLLET_EXTENSION_TIMING) : NULL;
}

collet_status try_stamp(testbed *b, collet_queue *q, collet_stamp **stamp)
{
    slot_call s;
    const collet_timing_extension *table = testbed_timing(b);
    slot_begin(&s, b, COLLET_EXTENSION_TIMING " stamp");
    collet_status status =
        slot_end(&s, table->stamp(b->device, q, stamp, &s.err), CONTRACT_STAMP);
    testbed_require(b, status != COLLET_OK || *stamp, "stamp returned OK and no stamp");
    return status;
}

int64_t testbed_elapsed(testbed *b, collet_stamp *first, collet_stamp *last)
{
    slot_call s;
    int64_t nanoseconds = INT64_MIN;
    const collet_timing_extension *table = testbed_timing(b);
    slot_begin(&s, b, COLLET_EXTENSION_TIMING " elapsed");
    collet_status status =
        slot_end(&s, table->elapsed(b->device, first, last, &nanoseconds, &s.err),
                 CONTRACT_REPORT);
    testbed_require(b, status == COLLET_OK, "elapsed returned %s: %s", collet_status_name(status),
                    s.err.text);
    testbed_require(b, nanoseconds != INT64_MIN, "elapsed returned OK and set no time");
    return nanoseconds;
}

void testbed_release(testbed *b, collet_stamp *stamp)
{
    slot_call s;
    const collet_timing_extension *table = testbed_timing(b);
    slot_begin(&s, b, COLLET_EXTENSION_TIMING " release");
    table->release(b->device, stamp);
    slot_end(&s, COLLET_OK, 0);
}

testbed testbed_beside(const testbed *b)
{
    testbed other = *b;
    memset(other.kept, 0, sizeof other.kept);
    return other;
}

void testbed_end(testbed *b)
{
    testbed_close(b);
    testbed_require(b, arguments_free(b), "%s", written);
}
