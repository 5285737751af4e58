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
        &s, b->plugin->capabilities(&b->target->host, json, capacity, &needed, &s.err), MAY_OPEN);
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
    bench own = *b; /* with the lock and the verdict of `b` */
    (void)number;
    (void)user;
    memset(own.kept, 0, sizeof own.kept);
    for (int i = 0; i < 3 && !bench_failed(b); i++) {
        (void)capabilities_into(&own, NULL, 0);
        bench_open(&own);
        bench_scenario(&own);
        bench_close(&own);
    }
    for (size_t i = 0; i < sizeof own.kept / sizeof *own.kept; i++)
        free(own.kept[i]);
}

static void threads(bench *b)
{
    bench_threads(b, 4, open_and_work, NULL);
}

const kit_verb verbs_device[] = {
    {"device.capabilities", NEEDS_CLOSED, capabilities},
    {"device.index", NEEDS_CLOSED, index_of},
    {"device.null", 0, null},
    {"device.twice", 0, twice},
    {"device.threads", NEEDS_CLOSED, threads},
    {0},
};
