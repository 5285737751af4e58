/* SPDX-License-Identifier: Apache-2.0 */
/* The extensions that libcore uses: their tables, and what each promises. */
#include "verbs/verbs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BYTES ((uint64_t)1 << 16)

/* ---- Tables -------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    uint32_t size;
} known[] = {
    {COLLET_EXTENSION_COPY, sizeof(collet_copy_extension)},
    {COLLET_EXTENSION_MEMORY, sizeof(collet_memory_extension)},
    {COLLET_EXTENSION_NATIVE, sizeof(collet_native_extension)},
    {COLLET_EXTENSION_PINNED, sizeof(collet_pinned_extension)},
    {COLLET_EXTENSION_RECORD, sizeof(collet_record_extension)},
    {COLLET_EXTENSION_TIMING, sizeof(collet_timing_extension)},
    {COLLET_EXTENSION_TRIM, sizeof(collet_trim_extension)},
};

static void check_table(bench *b, const char *name, uint32_t size, const void *table)
{
    uint32_t head[2];
    memcpy(head, table, sizeof head);
    bench_require(b, head[0] >= size,
                  "the table of %s has %u bytes; its struct_size is %u at least", name, head[0],
                  size);
    bench_require(b, !head[1], "the table of %s has a reserved member that is not 0", name);
    for (uint32_t at = sizeof head; at < size; at += sizeof(void (*)(void))) {
        void (*function)(void);
        memcpy(&function, (const char *)table + at, sizeof function);
        bench_require(b, function != NULL, "the table of %s has a NULL at byte %u", name, at);
    }
    bench_require(b, bench_extension(b, name) == table, "%s has another table the second time",
                  name);
}

static void tables(bench *b)
{
    static const char *const none[] = {"",
                                       "collet.",
                                       "collet.memory",
                                       "collet.memory/0",
                                       "collet.memory/10",
                                       "COLLET.MEMORY/1",
                                       "nobody.nothing/1"};
    const void *found[sizeof known / sizeof *known];
    unsigned char bytes[sizeof known / sizeof *known][128];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        found[i] = bench_extension(b, known[i].name);
        if (!found[i])
            continue;
        check_table(b, known[i].name, known[i].size, found[i]);
        memcpy(bytes[i], found[i], known[i].size);
    }
    bench other = bench_beside(b);
    bench_open(&other);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        (void)bench_extension(&other, known[i].name);
    bench_scenario(&other);
    bench_end(&other);
    bench_scenario(b);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        bench_require(b, !found[i] || !memcmp(bytes[i], found[i], known[i].size),
                      "the table of %s changed when another device was opened and closed",
                      known[i].name);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        bench_require(b, !bench_extension(b, none[i]),
                      "the slot extension returns a table for '%s', which does not exist", none[i]);
}

/* ---- collet.trim/1 ------------------------------------------------------------------------- */

static void trim_at_work(bench *b, int number, void *user)
{
    const collet_trim_extension *trim = user;
    for (int i = 0; i < 8; i++) {
        if (number) {
            bench_scenario(b);
            continue;
        }
        slot_call s;
        slot_begin(&s, b, "collet.trim/1 trim");
        trim->trim(b->device);
        slot_end(&s, COLLET_OK, 0);
    }
}

/* Trimming while others work takes nothing that is in use. */
static void trim(bench *b)
{
    const collet_trim_extension *table = bench_extension(b, COLLET_EXTENSION_TRIM);
    if (!table)
        bench_skip(b, "the device has no " COLLET_EXTENSION_TRIM);
    collet_queue *q = bench_queue(b);
    void *x = bench_numbers(b, q, 1000, 4);
    bench_threads(b, b->max_queues < 5 ? 1 : 3, trim_at_work, (void *)(uintptr_t)table);
    bench_expect(b, q, x, 1000, 4, "a buffer after a trim");
    bench_free(b, x);
    bench_destroy(b, q);
}

/* ---- collet.copy/1 ------------------------------------------------------------------------- */

/* From another device: after the work there, before what follows there, in the order of both. */
static void copy(bench *b)
{
    const collet_copy_extension *table = bench_extension(b, COLLET_EXTENSION_COPY);
    if (!table)
        bench_skip(b, "the device has no " COLLET_EXTENSION_COPY);
    if (b->target->device_count < 2)
        bench_skip(b, "the plugin has one device");
    bench_slow(b);
    int64_t n = b->elements;
    uint64_t bytes = (uint64_t)(n * b->size);
    bench other = bench_beside(b);
    other.index = (b->index + 1) % b->target->device_count;
    bench_open(&other);
    collet_queue *q = bench_queue(b), *from = bench_queue(&other);
    void *one = bench_numbers(&other, from, 1, 1), *x = bench_numbers(&other, from, n, 0);
    void *y = bench_numbers(b, q, n, 50), *own = bench_numbers(b, q, 1, 1);
    bench_chain(&other, from, x, one, n, CHAIN);
    slot_call s;
    slot_begin(&s, b, "collet.copy/1 between");
    collet_status status = slot_end(
        &s, table->between(b->device, q, y, 0, b->plugin, other.device, from, x, 0, bytes, &s.err),
        MAY(REFUSED) | MAY(DEVICE_LOST));
    if (status == COLLET_OK) {
        bench_chain(&other, from, x, one, n, 1);
        bench_chain(b, q, y, own, n, 1);
        bench_expect(b, q, y, n, CHAIN + 1, "a copy from another device, and work after it");
        bench_expect(&other, from, x, n, CHAIN + 1, "the source of a copy, and work after it");
    }
    bench_settle(&other, from);
    bench_settle(b, q);
    bench_free(&other, x);
    bench_free(&other, one);
    bench_free(b, y);
    bench_free(b, own);
    bench_destroy(&other, from);
    bench_destroy(b, q);
    bench_end(&other);
}

/* ---- Bytes --------------------------------------------------------------------------------- */

static void put(bench *b, collet_queue *q, void *buffer, int first)
{
    unsigned char *bytes = kit_memory(BYTES);
    for (uint64_t i = 0; i < BYTES; i++)
        bytes[i] = (unsigned char)((uint64_t)first + i * 7);
    bench_write(b, q, buffer, 0, bytes, BYTES);
    free(bytes);
}

static void check(bench *b, const unsigned char *bytes, uint64_t at, uint64_t count, int first,
                  const char *what)
{
    for (uint64_t i = 0; i < count; i++)
        bench_require(b, bytes[i] == (unsigned char)((uint64_t)first + (at + i) * 7),
                      "%s: byte %" PRIu64 " is wrong", what, at + i);
}

static void expect(bench *b, collet_queue *q, void *buffer, int first, const char *what)
{
    unsigned char *bytes = kit_memory(BYTES);
    bench_read(b, q, buffer, 0, bytes, BYTES);
    check(b, bytes, 0, BYTES, first, what);
    free(bytes);
}

/* ---- collet.native/1 ----------------------------------------------------------------------- */

#define MAY_IMPORT (MAY(INVALID) | MAY(NO_MEMORY) | MAY(DEVICE_LOST))

static void describes(bench *b, const collet_native_extension *native)
{
    slot_call s;
    collet_native_device is = {.struct_size = sizeof is};
    slot_begin(&s, b, COLLET_EXTENSION_NATIVE " device");
    collet_status status =
        slot_end(&s, native->device(b->device, &is, &s.err), MAY(FAILED) | MAY(DEVICE_LOST));
    bench_require(b, status == COLLET_OK, "the device's handles are not returned: %s", s.err.text);
    bench_require(b, is.struct_size == sizeof is && !is.reserved && is.api && *is.api,
                  "the device's handles: struct_size or reserved was changed, or api is not set");
}

/* The memory of a buffer under a second one: its bytes are the same, and stay when that is freed.
 */
static void imported(bench *b, const collet_native_extension *native, collet_queue *q)
{
    slot_call s;
    void *buffer = bench_alloc(b, BYTES), *handle = NULL;
    collet_buffer *second = NULL;
    put(b, q, buffer, 3);
    bench_settle(b, q);
    slot_begin(&s, b, COLLET_EXTENSION_NATIVE " buffer");
    collet_status status = slot_end(&s, native->buffer(b->device, buffer, &handle, &s.err),
                                    MAY(FAILED) | MAY(DEVICE_LOST));
    bench_require(b, status == COLLET_OK && handle, "a buffer has no handle");
    slot_begin(&s, b, COLLET_EXTENSION_NATIVE " buffer_import");
    status = slot_end(&s, native->buffer_import(b->device, handle, 0, BYTES, 4, &second, &s.err),
                      MAY_IMPORT);
    bench_require(b, status == COLLET_OK, "the memory of a buffer cannot be imported: %s",
                  s.err.text);
    expect(b, q, second, 3, "imported memory");
    put(b, q, second, 90);
    bench_settle(b, q);
    bench_free(b, second);
    expect(b, q, buffer, 90, "memory after a buffer imported over it was freed");
    bench_free(b, buffer);
}

static void native(bench *b)
{
    slot_call s;
    const collet_native_extension *table = bench_extension(b, COLLET_EXTENSION_NATIVE);
    if (!table)
        bench_skip(b, "the device has no " COLLET_EXTENSION_NATIVE);
    collet_queue *q = bench_queue(b);
    describes(b, table);
    imported(b, table, q);
    if (q) {
        void *handle = NULL;
        uint64_t before = bench_mark(b, q);
        slot_begin(&s, b, COLLET_EXTENSION_NATIVE " queue");
        collet_status status = slot_end(&s, table->queue(b->device, q, &handle, &s.err),
                                        MAY(FAILED) | MAY(DEVICE_LOST));
        bench_require(b, status == COLLET_OK && handle, "a queue has no handle");
        slot_begin(&s, b, COLLET_EXTENSION_NATIVE " queue_used");
        status = slot_end(&s, table->queue_used(b->device, q, &s.err), MAY_ENQUEUE);
        bench_require(b, status == COLLET_OK, "queue_used failed: %s", s.err.text);
        bench_require(b, bench_mark(b, q) > before,
                      "after queue_used the mark of an idle queue is as before: it is not after "
                      "the commands that the program enqueued");
        bench_settle(b, q);
    }
    bench_destroy(b, q);
}

/* ---- collet.pinned/1 ----------------------------------------------------------------------- */

static collet_status try_pinned(bench *b, const collet_pinned_extension *table, uint64_t bytes,
                                void **address, void **handle)
{
    slot_call s;
    slot_begin(&s, b, COLLET_EXTENSION_PINNED " alloc");
    return slot_end(&s, table->alloc(b->device, bytes, address, handle, &s.err), MAY_ENQUEUE);
}

static void pinned(bench *b)
{
    slot_call s;
    const collet_pinned_extension *table = bench_extension(b, COLLET_EXTENSION_PINNED);
    void *address = NULL, *handle = NULL, *none = NULL, *no_handle = NULL;
    if (!table)
        bench_skip(b, "the device has no " COLLET_EXTENSION_PINNED);
    collet_queue *q = bench_queue(b);
    void *buffer = bench_alloc(b, BYTES);
    put(b, q, buffer, 11);
    collet_status status = try_pinned(b, table, BYTES, &address, &handle);
    bench_require(b, status == COLLET_OK && address && (uintptr_t)address % 64 == 0,
                  "%" PRIu64 " bytes of page-locked memory: %s, at %p (64-byte aligned?)", BYTES,
                  collet_status_name(status), address);
    bench_require(b, try_read(b, q, buffer, 0, address, BYTES) == COLLET_OK,
                  "a read into page-locked memory failed");
    check(b, address, 0, BYTES, 11, "page-locked memory");
    memset(address, 0x5a, BYTES);
    bench_require(b, try_write(b, q, buffer, 0, address, BYTES) == COLLET_OK,
                  "a write from page-locked memory failed");
    /* The source may be reused at once. */
    for (uint64_t i = 0; i < BYTES; i++)
        ((unsigned char *)address)[i] = (unsigned char)(40 + i * 7);
    bench_require(b, try_write(b, q, buffer, 0, address, BYTES) == COLLET_OK,
                  "a write from page-locked memory failed");
    memset(address, 0, BYTES);
    expect(b, q, buffer, 40, "bytes written from page-locked memory that was changed at once");
    status = try_pinned(b, table, (uint64_t)1 << 60, &none, &no_handle);
    bench_require(b, status == COLLET_REFUSED, "2^60 bytes of page-locked memory: %s, not REFUSED",
                  collet_status_name(status));
    slot_begin(&s, b, COLLET_EXTENSION_PINNED " free");
    table->free(b->device, address, handle);
    slot_end(&s, COLLET_OK, 0);
    bench_free(b, buffer);
    bench_destroy(b, q);
}

const kit_verb verbs_extensions[] = {
    {"extensions.tables", 0, tables},
    {"extensions.trim", NEEDS_ADD, trim},
    {"extensions.copy", NEEDS_ADD | NEEDS_QUEUES | NEEDS_MEMORY, copy},
    {"extensions.native", NEEDS_MEMORY, native},
    {"extensions.pinned", NEEDS_MEMORY, pinned},
    {0},
};
