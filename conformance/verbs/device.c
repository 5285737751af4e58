/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: capabilities, opening and closing. */
#include "verbs/verbs.h"

#include <stdlib.h>
#include <string.h>

#define CANARY 0xa7

static uint64_t capabilities_into(bench *b, char *json, uint64_t capacity)
{
    slot_call s;
    uint64_t needed = UINT64_MAX;
    slot_begin(&s, b, "capabilities");
    collet_status status = slot_end(
        &s, b->plugin->capabilities(b->plugin, json, capacity, &needed, &b->target->host, &s.err),
        MAY_OPEN);
    bench_require(b, status == COLLET_OK, "capabilities with room for %llu bytes returned %s",
                  (unsigned long long)capacity, collet_status_name(status));
    bench_require(b, needed > 2 && needed < 1 << 24,
                  "capabilities set *needed to %llu: the size with the NUL",
                  (unsigned long long)needed);
    return needed;
}

/* The room is the text's and a canary behind it. */
static void check_room(bench *b, uint64_t room)
{
    char *json = kit_memory((size_t)room + 64);
    memset(json, CANARY, (size_t)room + 64);
    uint64_t needed = capabilities_into(b, json, room), written = needed <= room ? needed : 0;
    for (uint64_t i = written ? written : room; i < room + 64; i++)
        bench_require(b, json[i] == (char)CANARY,
                      "capabilities of %llu bytes with room for %llu wrote byte %llu",
                      (unsigned long long)needed, (unsigned long long)room, (unsigned long long)i);
    bench_require(b, !written || strnlen(json, (size_t)written) + 1 == written,
                  "capabilities set *needed to %llu, but the text with its NUL has %zu bytes",
                  (unsigned long long)needed, strnlen(json, (size_t)written) + 1);
    free(json);
}

static void capabilities(bench *b)
{
    uint64_t needed = capabilities_into(b, NULL, 0);
    check_room(b, 1);
    check_room(b, needed - 1);
    check_room(b, needed);
    check_room(b, needed + 100);
}

static void index_of(bench *b)
{
    const uint32_t wrong[] = {b->target->device_count, b->target->device_count + 1000, UINT32_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        collet_device *device = NULL;
        collet_status status = try_open(b, wrong[i], &device);
        bench_require(b, status != COLLET_OK, "device_open of device %u of %u returned OK",
                      wrong[i], b->target->device_count);
    }
}

static void null(bench *b)
{
    bench_close(b);
    bench_close(b); /* NULL */
    bench_open(b);
    if (b->own_memory)
        bench_free(b, NULL);
    bench_destroy(b, NULL);
    bench_scenario(b);
}

/* A second device of the same index, opened and closed while the first works. */
static void twice(bench *b)
{
    collet_device *first = b->device, *second;
    collet_queue *q = bench_queue(b);
    void *buffer = bench_alloc(b, 100);
    unsigned char bytes[100], back[100];
    memset(bytes, 7, sizeof bytes);
    bench_write(b, q, buffer, 0, bytes, sizeof bytes);
    bench_open(b);
    second = b->device;
    bench_scenario(b);
    b->device = first;
    bench_read(b, q, buffer, 0, back, sizeof back);
    b->device = second;
    bench_close(b);
    b->device = first;
    bench_read(b, q, buffer, 0, back, sizeof back);
    bench_require(b, !memcmp(bytes, back, sizeof back),
                  "the bytes of a device changed while another was opened and closed");
    bench_free(b, buffer);
    bench_destroy(b, q);
    bench_scenario(b);
}

/* A bench of its own for each thread, which shares the verdict. */
static void open_and_work(bench *b, int number, void *user)
{
    bench own = bench_beside(b);
    (void)number;
    (void)user;
    for (int i = 0; i < 3 && !bench_failed(b); i++) {
        (void)capabilities_into(&own, NULL, 0);
        bench_open(&own);
        bench_scenario(&own);
        bench_end(&own);
    }
}

static void threads(bench *b)
{
    bench_threads(b, 4, open_and_work, NULL);
}

/* Work in queues of two devices in turn; each has its numbers. */
static void in_turn(bench *b, bench *other)
{
    enum { TURNS = 40 };
    const int64_t n = b->elements / 4;
    bench *benches[2] = {b, other};
    collet_queue *q[2];
    void *one[2], *x[2];
    for (int i = 0; i < 2; i++) {
        q[i] = bench_queue(benches[i]);
        one[i] = bench_numbers(benches[i], q[i], 1, 1 + i);
        x[i] = bench_numbers(benches[i], q[i], n, 100 * i);
    }
    for (int turn = 0; turn < TURNS; turn++)
        for (int i = 0; i < 2; i++)
            bench_chain(benches[i], q[i], x[i], one[i], n, 1 + turn % 3);
    for (int i = 0; i < 2; i++)
        bench_expect(benches[i], q[i], x[i], n, i ? 100 + 2 * 79 : 79,
                     "work of two devices in turn");
    for (int i = 0; i < 2; i++) {
        bench_settle(benches[i], q[i]);
        bench_free(benches[i], one[i]);
        bench_free(benches[i], x[i]);
        bench_destroy(benches[i], q[i]);
    }
}

/* Memory that is allocated in one device does not count in another. */
static void count_apart(bench *b, bench *other)
{
    const uint64_t bytes = (uint64_t)4 << 20;
    collet_memory_stats before = {.struct_size = sizeof before}, after = before;
    if (!b->own_memory || !bench_statistics(b, &before))
        return;
    bench_reset_peak(b);
    void *buffer = bench_alloc(other, bytes);
    bench_statistics(b, &after);
    bench_require(b, after.current < before.current + bytes && after.peak < before.current + bytes,
                  "memory_stats of device %u counts a buffer of device %u", b->index, other->index);
    bench_free(other, buffer);
}

/* Devices share nothing: the other devices of the plugin, and this one opened twice. */
static void apart(bench *b)
{
    uint32_t count = b->target->device_count;
    bench_slow(b);
    for (uint32_t i = 0; i < 2 && i < count; i++) {
        bench other = bench_beside(b);
        other.index = (b->index + i) % count;
        bench_open(&other);
        if (i)
            count_apart(b, &other);
        in_turn(b, &other);
        bench_end(&other);
    }
}

/* Every call that uses the host. */
static void use_host(bench *b)
{
    collet_device *wrong = NULL;
    void *none = NULL;
    bench_scenario(b);
    (void)try_open(b, b->target->device_count, &wrong);
    if (b->own_memory && allocation_watched() &&
        try_alloc(b, (uint64_t)1 << 62, &none) == COLLET_OK)
        bench_fail(b, "buffer_alloc of 2^62 bytes returned OK");
    if (!b->has_queues || b->add < 0)
        return;
    collet_queue *q = bench_queue(b);
    none = bench_numbers(b, q, 9, 1);
    bench_chain(b, q, none, none, 9, 3);
    (void)try_wait(b, q, bench_mark(b, q), 0);
    bench_settle(b, q);
    bench_free(b, none);
    bench_destroy(b, q);
}

/* A device uses the host of its own device_open: that of another is gone with it. */
static void host(bench *b)
{
    kit_target *second = kit_memory(sizeof *second);
    memcpy(second, b->target, sizeof *second);
    pthread_mutex_init(&second->lock, NULL);
    bench other = bench_beside(b);
    other.target = second;
    bench_open(&other);
    use_host(&other);
    bench_end(&other);
    pthread_mutex_destroy(&second->lock);
    memset(second, 0, sizeof *second);
    b->session->progress(b->session->user, 0,
                         "device.host: a call with the host of a device that is closed");
    use_host(b);
    free(second);
}

/* device_supports is 0 or 1, and the same each time, also of another device of the index. */
static void supports(bench *b)
{
    if (!b->plugin->device_supports)
        bench_skip(b, "the plugin has no device_supports: every row runs on every device");
    bench other = bench_beside(b);
    bench_open(&other);
    for (uint32_t i = 0; i < b->plugin->kernel_count; i++) {
        int32_t first = b->plugin->device_supports(b->device, i);
        bench_require(b, first == 0 || first == 1, "device_supports returned %d for row %u", first,
                      i);
        bench_require(b,
                      b->plugin->device_supports(b->device, i) == first &&
                          b->plugin->device_supports(other.device, i) == first,
                      "device_supports returned %d for row %u, and then another number", first, i);
    }
    bench_end(&other);
}

const kit_verb verbs_device[] = {
    {"device.capabilities", NEEDS_CLOSED, capabilities},
    {"device.index", NEEDS_CLOSED, index_of},
    {"device.null", 0, null},
    {"device.twice", 0, twice},
    {"device.apart", NEEDS_ADD, apart},
    {"device.host", 0, host},
    {"device.supports", 0, supports},
    {"device.threads", NEEDS_CLOSED, threads},
    {0},
};
