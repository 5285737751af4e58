/* SPDX-License-Identifier: Apache-2.0 */
/* The extensions that libcore uses: their tables, and the contract of each.
 * Tests: tests/conformance/verbs/defects.sh */
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
    {COLLET_EXTENSION_BATCH, sizeof(collet_batch_extension)},
    {COLLET_EXTENSION_COPY, sizeof(collet_copy_extension)},
    {COLLET_EXTENSION_MEMORY, sizeof(collet_memory_extension)},
    {COLLET_EXTENSION_NATIVE, sizeof(collet_native_extension)},
    {COLLET_EXTENSION_PINNED, sizeof(collet_pinned_extension)},
    {COLLET_EXTENSION_TIMING, sizeof(collet_timing_extension)},
    {COLLET_EXTENSION_TRIM, sizeof(collet_trim_extension)},
};

static void check_table(testbed *b, const char *name, uint32_t size, const void *table)
{
    char text[CONTRACT_TEXT];
    testbed_require(b, !contract_table(table, size, text), "the table of %s has %s", name, text);
    testbed_require(b, testbed_extension(b, name) == table,
                    "the slot extension returns a different table for %s at the second call", name);
}

static void tables(testbed *b)
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
        found[i] = testbed_extension(b, known[i].name);
        if (!found[i])
            continue;
        check_table(b, known[i].name, known[i].size, found[i]);
        memcpy(bytes[i], found[i], known[i].size);
    }
    testbed other = testbed_beside(b);
    testbed_open(&other);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        (void)testbed_extension(&other, known[i].name);
    testbed_scenario(&other);
    testbed_end(&other);
    testbed_scenario(b);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        testbed_require(b, !found[i] || !memcmp(bytes[i], found[i], known[i].size),
                        "the table of %s changed when another device was opened and closed",
                        known[i].name);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        testbed_require(b, !testbed_extension(b, none[i]),
                        "the slot extension returns a table for '%s', which does not exist",
                        none[i]);
}

/* ---- collet.trim/1 ------------------------------------------------------------------------- */

static void trim_once(testbed *b, const collet_trim_extension *table)
{
    slot_call s;
    slot_begin(&s, b, "collet.trim/1 trim");
    table->trim(b->device);
    slot_end(&s, COLLET_OK, 0);
}

static void alloc_and_free(testbed *b)
{
    void *buffers[4];
    for (uint64_t i = 0; i < 4; i++)
        buffers[i] = testbed_alloc(b, 4096 + 64 * (i % 2));
    for (int i = 0; i < 4; i++)
        testbed_free(b, buffers[i]);
}

static void trim_at_work(testbed *b, int number, void *user)
{
    for (int i = 0; i < 24; i++) {
        if (number)
            testbed_scenario(b);
        for (int k = 0; k < 250; k++)
            if (!number)
                trim_once(b, user);
            else if (b->own_memory)
                alloc_and_free(b);
    }
}

/* A trim changes neither the bytes reported as in use nor the peak. */
static void trim_counts(testbed *b, const collet_trim_extension *table)
{
    collet_memory_stats before = {.struct_size = sizeof before}, after = before;
    if (!b->own_memory || !testbed_statistics(b, &before))
        return;
    testbed_free(b, testbed_alloc(b, (uint64_t)1 << 20));
    testbed_statistics(b, &before);
    trim_once(b, table);
    testbed_statistics(b, &after);
    testbed_require(b, after.peak >= before.peak && after.current == before.current,
                    "a trim changed the peak from %" PRIu64 " to %" PRIu64
                    " and the bytes in use from %" PRIu64 " to %" PRIu64,
                    before.peak, after.peak, before.current, after.current);
}

/* Trimming while other threads work frees nothing that is in use. */
static void trim(testbed *b)
{
    const collet_trim_extension *table = testbed_extension(b, COLLET_EXTENSION_TRIM);
    if (!table)
        testbed_skip(b, "the device has no " COLLET_EXTENSION_TRIM);
    collet_queue *q = testbed_queue(b);
    void *x = testbed_numbers(b, q, 1000, 4);
    collet_memory_stats before = {.struct_size = sizeof before}, after = before;
    trim_once(b, table);
    testbed_statistics(b, &before);
    testbed_threads(b, b->max_queues < 9 || b->one_thread ? 1 : 4, trim_at_work,
                    (void *)(uintptr_t)table);
    trim_once(b, table);
    testbed_statistics(b, &after);
    testbed_require(b, after.current == before.current && after.held <= before.held,
                    "%" PRIu64 " bytes are in use and %" PRIu64 " held after trims beside other "
                    "threads, %" PRIu64 " and %" PRIu64 " before",
                    after.current, after.held, before.current, before.held);
    testbed_expect(b, q, x, 1000, 4, "a buffer after a trim");
    trim_counts(b, table);
    testbed_free(b, x);
    testbed_destroy(b, q);
}

/* ---- collet.copy/1 ------------------------------------------------------------------------- */

static collet_status copy_between(testbed *b, const collet_copy_extension *table, collet_queue *q,
                                  void *target, uint64_t to, const collet_plugin *of, testbed *other,
                                  collet_queue *from, void *source, uint64_t at, uint64_t bytes)
{
    slot_call s;
    slot_begin(&s, b, "collet.copy/1 between");
    return slot_end(
        &s,
        table->between(b->device, q, target, to, of, other->device, from, source, at, bytes, &s.err),
        CONTRACT_ACCEPT);
}

/* A copy must transfer the last bytes of large sizes, too, and change no byte next to them. */
static void copy_sizes(testbed *b, const collet_copy_extension *table, collet_queue *q,
                       testbed *other, collet_queue *from)
{
    static const uint64_t sizes[] = {1, 4099, ((uint64_t)9 << 20) + 5, (uint64_t)40 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        void *x = NULL, *y = NULL;
        const uint64_t all = sizes[i] + 96, to = 8, at = 64;
        unsigned char *bytes = kit_memory(all), *found = kit_memory(all);
        for (uint64_t k = 0; k < all; k++)
            bytes[k] = (unsigned char)(k * 2654435761u >> 13);
        bool allocated = try_alloc(other, all, &x) == COLLET_OK && try_alloc(b, all, &y) == COLLET_OK;
        if (allocated) {
            testbed_write(other, from, x, 0, bytes, all);
            testbed_write(b, q, y, 0, found, all);
            allocated =
                copy_between(b, table, q, y, to, b->plugin, other, from, x, at, sizes[i]) == COLLET_OK;
        }
        if (allocated)
            testbed_read(b, q, y, 0, found, all);
        bool same = !allocated || !memcmp(bytes + at, found + to, sizes[i]);
        for (uint64_t k = 0; allocated && k < all; k++)
            same = same && (found[k] == 0 || (k >= to && k < to + sizes[i]));
        testbed_settle(other, from);
        testbed_settle(b, q);
        if (x)
            testbed_free(other, x);
        if (y)
            testbed_free(b, y);
        free(bytes);
        free(found);
        testbed_require(b, same, "a copy of %" PRIu64 " bytes from another device has other bytes",
                        sizes[i]);
    }
}

#define TRIES 12

/* The call returns before the earlier work is done. On a loaded machine that work may be done already, hence several
 * tries. */
static void copy_returns(testbed *b, const collet_copy_extension *table, testbed *other,
                         collet_queue *q, collet_queue *from)
{
    bool early = false;
    int64_t n = b->elements;
    void *one = testbed_numbers(other, from, 1, 1), *x = testbed_numbers(other, from, n, 0);
    void *y = testbed_numbers(b, q, n, 0);
    for (int i = 0; i < TRIES && !early; i++) {
        testbed_settle(other, from);
        testbed_chain(other, from, x, one, n, CHAIN);
        uint64_t work = testbed_mark(other, from);
        early = copy_between(b, table, q, y, 0, b->plugin, other, from, x, 0, (uint64_t)b->size) !=
                    COLLET_OK ||
                try_wait(other, from, work, 0) == COLLET_NOT_READY;
        testbed_settle(b, q);
    }
    testbed_settle(other, from);
    testbed_require(b, early, "in %d tries, `between` returned only after the earlier work was done",
                    TRIES);
    testbed_free(b, y);
    testbed_free_all(other, x, one);
}

/* A copy from another device comes after earlier work in the source queue and before later work there. */
static void copy(testbed *b)
{
    const collet_copy_extension *table = testbed_extension(b, COLLET_EXTENSION_COPY);
    if (!table)
        testbed_skip(b, "the device has no " COLLET_EXTENSION_COPY);
    if (b->target->device_count < 2)
        testbed_skip(b, "the plugin has one device");
    testbed_slow(b);
    int64_t n = b->elements;
    uint64_t bytes = (uint64_t)(n * b->size);
    testbed other = testbed_beside(b);
    other.index = (b->index + 1) % b->target->device_count;
    testbed_open(&other);
    collet_queue *q = testbed_queue(b), *from = testbed_queue(&other);
    void *one = testbed_numbers(&other, from, 1, 1), *x = testbed_numbers(&other, from, n, 0);
    void *y = testbed_numbers(b, q, n, 50), *own = testbed_numbers(b, q, 1, 1);
    collet_status status = COLLET_OK;
    double value = 0.0;
    /* In round 0 the queue of the copy has more slow work, in round 1 the source queue. */
    for (int i = 0; i < 2 && status == COLLET_OK; i++) {
        int late = i ? 3 * CHAIN : CHAIN / 2;
        testbed_chain(&other, from, x, one, n, late);
        testbed_chain(b, q, y, own, n, 3 * CHAIN + CHAIN / 2 - late);
        status = copy_between(b, table, q, y, 0, b->plugin, &other, from, x, 0, bytes);
        if (status != COLLET_OK)
            break;
        testbed_chain(&other, from, x, one, n, 1);
        testbed_chain(b, q, y, own, n, 1);
        value += late + 1;
        testbed_expect(b, q, y, n, value, "a copy from another device, and work after it");
        testbed_expect(&other, from, x, n, value, "the source of a copy, and work after it");
    }
    if (status == COLLET_OK) {
        copy_sizes(b, table, q, &other, from);
        copy_returns(b, table, &other, q, from);
    }
    collet_plugin stranger = *b->plugin;
    stranger.name = "nobody";
    stranger.extension = NULL;
    /* This is not checked under the layer validation, because that layer reports this call as an error of libcore. */
    testbed_require(
        b,
        target_has_layers(b->target) || copy_between(b, table, q, y, 0, &stranger, &other, from, x, 0,
                                                     (uint64_t)b->size) != COLLET_OK,
        "a copy from a device of a plugin \"nobody\" was not refused: `of` is not checked");
    testbed_settle(&other, from);
    testbed_settle(b, q);
    testbed_free_all(&other, x, one);
    testbed_free_all(b, y, own);
    testbed_destroy(&other, from);
    testbed_destroy(b, q);
    testbed_end(&other);
    if (status != COLLET_OK)
        testbed_skip(b, "the device refuses copies from the next one of the plugin");
}

/* ---- Bytes --------------------------------------------------------------------------------- */

static void put(testbed *b, collet_queue *q, void *buffer, int first)
{
    unsigned char *bytes = kit_memory(BYTES);
    for (uint64_t i = 0; i < BYTES; i++)
        bytes[i] = (unsigned char)((uint64_t)first + i * 7);
    testbed_write(b, q, buffer, 0, bytes, BYTES);
    free(bytes);
}

static void check(testbed *b, const unsigned char *bytes, uint64_t at, uint64_t count, int first,
                  const char *what)
{
    for (uint64_t i = 0; i < count; i++)
        testbed_require(b, bytes[i] == (unsigned char)((uint64_t)first + (at + i) * 7),
                        "%s: byte %" PRIu64 " is wrong", what, at + i);
}

static void expect(testbed *b, collet_queue *q, void *buffer, int first, const char *what)
{
    unsigned char *bytes = kit_memory(BYTES);
    testbed_read(b, q, buffer, 0, bytes, BYTES);
    check(b, bytes, 0, BYTES, first, what);
    free(bytes);
}

/* ---- collet.native/1 ----------------------------------------------------------------------- */


static void describes(testbed *b, const collet_native_extension *native)
{
    slot_call s;
    collet_native_device is = {.struct_size = sizeof is};
    slot_begin(&s, b, COLLET_EXTENSION_NATIVE " device");
    collet_status status =
        slot_end(&s, native->device(b->device, &is, &s.err), CONTRACT_REPORT);
    testbed_require(b, status == COLLET_OK, "the device's handles are not returned: %s",
                    s.err.text);
    testbed_require(b, is.struct_size == sizeof is && !is.reserved && is.api && *is.api,
                    "the device's handles: struct_size or reserved was changed, or api is not set");
}

/* A plugin may refuse to import memory that begins at some offsets. */
static void imported_parts(testbed *b, const collet_native_extension *native, collet_queue *q,
                           void *handle)
{
    static const uint64_t offsets[] = {4, 8, 20, 64, 100, 256, 1000, 4096, 4100, 40000};
    unsigned char bytes[512];
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        slot_call s;
        collet_buffer *part = NULL;
        slot_begin(&s, b, COLLET_EXTENSION_NATIVE " buffer_import");
        if (slot_end(&s,
                     native->buffer_import(b->device, &part, handle, offsets[i], sizeof bytes, 4,
                                           &s.err),
                     CONTRACT_IMPORT) != COLLET_OK)
            continue;
        testbed_read(b, q, part, 0, bytes, sizeof bytes);
        check(b, bytes, offsets[i], sizeof bytes, 90,
              "memory imported from a byte after the handle");
        testbed_settle(b, q);
        testbed_free(b, part);
    }
}

/* Imports the memory of a buffer as a second buffer. The second buffer has the same bytes, and the first buffer keeps
 * the bytes when the second is freed. */
static void imported(testbed *b, const collet_native_extension *native, collet_queue *q)
{
    slot_call s;
    void *buffer = testbed_alloc(b, BYTES), *handle = NULL;
    collet_buffer *second = NULL;
    put(b, q, buffer, 3);
    testbed_settle(b, q);
    slot_begin(&s, b, COLLET_EXTENSION_NATIVE " buffer");
    collet_status status = slot_end(&s, native->buffer(b->device, buffer, &handle, &s.err),
                                    CONTRACT_REPORT);
    testbed_require(b, status == COLLET_OK && handle, "a buffer has no handle");
    slot_begin(&s, b, COLLET_EXTENSION_NATIVE " buffer_import");
    status = slot_end(&s, native->buffer_import(b->device, &second, handle, 0, BYTES, 4, &s.err),
                      CONTRACT_IMPORT);
    testbed_require(b, status == COLLET_OK, "the memory of a buffer cannot be imported: %s",
                    s.err.text);
    expect(b, q, second, 3, "imported memory");
    put(b, q, second, 90);
    testbed_settle(b, q);
    testbed_free(b, second);
    expect(b, q, buffer, 90, "memory after a buffer imported over it was freed");
    imported_parts(b, native, q, handle);
    testbed_free(b, buffer);
}

static void native(testbed *b)
{
    slot_call s;
    const collet_native_extension *table = testbed_extension(b, COLLET_EXTENSION_NATIVE);
    if (!table)
        testbed_skip(b, "the device has no " COLLET_EXTENSION_NATIVE);
    collet_queue *q = testbed_queue(b);
    describes(b, table);
    imported(b, table, q);
    if (q) {
        void *handle = NULL;
        uint64_t before = testbed_mark(b, q);
        slot_begin(&s, b, COLLET_EXTENSION_NATIVE " queue");
        collet_status status = slot_end(&s, table->queue(b->device, q, &handle, &s.err),
                                        CONTRACT_REPORT);
        testbed_require(b, status == COLLET_OK && handle, "a queue has no handle");
        slot_begin(&s, b, COLLET_EXTENSION_NATIVE " queue_used");
        status = slot_end(&s, table->queue_used(b->device, q, &s.err), CONTRACT_ENQUEUE);
        testbed_require(b, status == COLLET_OK, "queue_used failed: %s", s.err.text);
        testbed_require(b, testbed_mark(b, q) >= before, "queue_mark decreased after queue_used");
        testbed_settle(b, q);
    }
    testbed_destroy(b, q);
}

/* ---- collet.pinned/1 ----------------------------------------------------------------------- */

static collet_status try_pinned(testbed *b, const collet_pinned_extension *table, uint64_t bytes,
                                void **address, void **handle)
{
    slot_call s;
    slot_begin(&s, b, COLLET_EXTENSION_PINNED " alloc");
    return slot_end(&s, table->alloc(b->device, address, handle, bytes, &s.err), CONTRACT_ENQUEUE);
}

/* Blocks that are in use at the same time do not overlap, and have the requested size. */
static void pinned_apart(testbed *b, const collet_pinned_extension *table)
{
    static const uint64_t sizes[] = {100, 100000, 100000, 1 << 20, 1 << 20, 5 << 20, 5 << 20};
    enum { BLOCKS = sizeof sizes / sizeof *sizes };
    unsigned char *address[BLOCKS] = {0};
    void *handle[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        void *at = NULL;
        if (try_pinned(b, table, sizes[i], &at, &handle[i]) == COLLET_OK)
            address[i] = memset(at, i + 1, sizes[i]);
    }
    for (int i = 0; i < BLOCKS; i++)
        for (uint64_t k = 0; address[i] && k < sizes[i]; k++)
            testbed_require(b, address[i][k] == i + 1,
                            "byte %" PRIu64 " of %" PRIu64 " of page-locked memory is another "
                            "block's, too",
                            k, sizes[i]);
    for (int i = 0; i < BLOCKS; i++) {
        slot_call s;
        if (!address[i])
            continue;
        slot_begin(&s, b, COLLET_EXTENSION_PINNED " free");
        table->free(b->device, address[i], handle[i]);
        slot_end(&s, COLLET_OK, 0);
    }
}

static void pinned_leaks(testbed *b)
{
    slot_call s;
    const collet_pinned_extension *table = testbed_extension(b, COLLET_EXTENSION_PINNED);
    void *address = NULL, *handle = NULL;
    if (!table)
        testbed_skip(b, "the device has no " COLLET_EXTENSION_PINNED);
    testbed_require(b, try_pinned(b, table, 70000, &address, &handle) == COLLET_OK,
                    "70000 bytes of page-locked memory were refused");
    slot_begin(&s, b, COLLET_EXTENSION_PINNED " free");
    table->free(b->device, address, handle);
    slot_end(&s, COLLET_OK, 0);
}

static void pinned_again(testbed *b)
{
    testbed_repeat(b, 5, pinned_leaks, "alloc and free of page-locked memory");
}

static void pinned(testbed *b)
{
    slot_call s;
    const collet_pinned_extension *table = testbed_extension(b, COLLET_EXTENSION_PINNED);
    void *address = NULL, *handle = NULL, *none = NULL, *no_handle = NULL;
    if (!table)
        testbed_skip(b, "the device has no " COLLET_EXTENSION_PINNED);
    collet_queue *q = testbed_queue(b);
    void *buffer = testbed_alloc(b, BYTES);
    put(b, q, buffer, 11);
    collet_status status = try_pinned(b, table, BYTES, &address, &handle);
    testbed_require(b, status == COLLET_OK && address && (uintptr_t)address % 64 == 0,
                    "%" PRIu64 " bytes of page-locked memory: %s, at %p (64-byte aligned?)", BYTES,
                    collet_status_name(status), address);
    testbed_require(b, try_read(b, q, buffer, 0, address, BYTES) == COLLET_OK,
                    "a read into page-locked memory failed");
    check(b, address, 0, BYTES, 11, "page-locked memory");
    /* The write is queued behind slow work. */
    if (b->add >= 0)
        testbed_slow(b);
    void *one = b->add < 0 ? NULL : testbed_numbers(b, q, 1, 1);
    void *slow = b->add < 0 ? NULL : testbed_numbers(b, q, b->elements, 0);
    if (slow)
        testbed_chain(b, q, slow, one, b->elements, CHAIN);
    memset(address, 0x5a, BYTES);
    testbed_require(b, try_write(b, q, buffer, 0, address, BYTES) == COLLET_OK,
                    "a write from page-locked memory failed");
    /* The source may be reused at once. */
    for (uint64_t i = 0; i < BYTES; i++)
        ((unsigned char *)address)[i] = (unsigned char)(40 + i * 7);
    testbed_require(b, try_write(b, q, buffer, 0, address, BYTES) == COLLET_OK,
                    "a write from page-locked memory failed");
    memset(address, 0, BYTES);
    expect(b, q, buffer, 40, "bytes written from page-locked memory that was changed at once");
    status = try_pinned(b, table, (uint64_t)1 << 60, &none, &no_handle);
    testbed_require(b, status == COLLET_REFUSED,
                    "2^60 bytes of page-locked memory: the status is %s; it must be REFUSED",
                    collet_status_name(status));
    slot_begin(&s, b, COLLET_EXTENSION_PINNED " free");
    table->free(b->device, address, handle);
    slot_end(&s, COLLET_OK, 0);
    pinned_apart(b, table);
    testbed_settle(b, q);
    if (slow) {
        testbed_free_all(b, slow, one);
    }
    testbed_free(b, buffer);
    testbed_destroy(b, q);
}

const kit_verb verbs_extensions[] = {
    {"extensions.tables", 0, tables},
    {"extensions.trim", NEEDS_ADD, trim},
    {"extensions.copy", NEEDS_ADD | NEEDS_QUEUES | NEEDS_MEMORY, copy},
    {"extensions.native", NEEDS_MEMORY, native},
    {"extensions.pinned", NEEDS_MEMORY, pinned},
    {"extensions.pinned_leaks", NEEDS_MEMORY, pinned_again},
    {0},
};
