/* SPDX-License-Identifier: Apache-2.0 */
/* Extensions, of devices that have them. */
#include "verbs/verbs.h"

#include <stdlib.h>
#include <string.h>

/* The same table each time, none for a name that nobody has. */
static void tables(bench *b)
{
    static const char *const names[] = {COLLET_EXTENSION_COPY, COLLET_EXTENSION_MEMORY,
                                        COLLET_EXTENSION_NATIVE, COLLET_EXTENSION_RECORD,
                                        COLLET_EXTENSION_TRIM};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const void *table = bench_extension(b, names[i]);
        bench_require(b, table == bench_extension(b, names[i]),
                      "extension returned another table for %s when asked again", names[i]);
    }
    bench_require(b,
                  !bench_extension(b, "") && !bench_extension(b, "collet.memory") &&
                      !bench_extension(b, "kit.nobody/1"),
                  "extension returned a table for a name that no device has");
}

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
    bench other = *b;
    other.index = (b->index + 1) % b->target->device_count;
    memset(other.kept, 0, sizeof other.kept);
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
    bench_close(&other);
    for (size_t i = 0; i < sizeof other.kept / sizeof *other.kept; i++)
        free(other.kept[i]);
}

const kit_verb verbs_extensions[] = {
    {"extensions.tables", 0, tables},
    {"extensions.trim", NEEDS_ADD, trim},
    {"extensions.copy", NEEDS_ADD | NEEDS_QUEUES | NEEDS_MEMORY, copy},
    {0},
};
