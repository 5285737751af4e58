/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: capabilities, opening and closing.
 * Tests: tests/conformance/verbs/defects.sh */
#include "verbs/verbs.h"

#include <stdlib.h>
#include <string.h>

#define CANARY 0xa7

static uint64_t capabilities_into(testbed *b, char *json, uint64_t capacity)
{
    slot_call s;
    uint64_t needed = UINT64_MAX;
    slot_begin(&s, b, "capabilities");
    collet_status status = slot_end(
        &s, b->plugin->capabilities(b->plugin, json, capacity, &needed, &b->target->host, &s.err),
        CONTRACT_OPEN);
    testbed_require(b, status == COLLET_OK,
                    "capabilities with a capacity of %llu bytes returned %s",
                    (unsigned long long)capacity, collet_status_name(status));
    testbed_require(b, needed > 2 && needed < 1 << 24,
                    "capabilities set *needed to %llu: the size with the NUL",
                    (unsigned long long)needed);
    return needed;
}

/* A buffer of `capacity` bytes for the text, with a canary after it. */
static void check_capacity(testbed *b, uint64_t capacity)
{
    char *json = kit_memory((size_t)capacity + 64);
    memset(json, CANARY, (size_t)capacity + 64);
    uint64_t needed = capabilities_into(b, json, capacity);
    uint64_t written = needed <= capacity ? needed : 0;
    for (uint64_t i = written ? written : capacity; i < capacity + 64; i++)
        testbed_require(b, json[i] == (char)CANARY,
                        "capabilities of %llu bytes with a capacity of %llu wrote byte %llu",
                        (unsigned long long)needed, (unsigned long long)capacity,
                        (unsigned long long)i);
    testbed_require(b, !written || strnlen(json, (size_t)written) + 1 == written,
                    "capabilities set *needed to %llu, but the text with its NUL has %zu bytes",
                    (unsigned long long)needed, strnlen(json, (size_t)written) + 1);
    free(json);
}

static void capabilities(testbed *b)
{
    uint64_t needed = capabilities_into(b, NULL, 0);
    check_capacity(b, 1);
    check_capacity(b, needed - 1);
    check_capacity(b, needed);
    check_capacity(b, needed + 100);
}

static void index_of(testbed *b)
{
    const uint32_t wrong[] = {b->target->device_count, b->target->device_count + 1000, UINT32_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        collet_device *device = NULL;
        collet_status status = try_open(b, wrong[i], &device);
        testbed_require(b, status != COLLET_OK, "device_open of device %u of %u returned OK",
                        wrong[i], b->target->device_count);
    }
}

static void null(testbed *b)
{
    testbed_close(b);
    testbed_close(b); /* NULL */
    testbed_open(b);
    if (b->own_memory)
        testbed_free(b, NULL);
    testbed_destroy(b, NULL);
    testbed_scenario(b);
}

/* A second device of the same index, opened and closed while the first works. */
static void twice(testbed *b)
{
    collet_device *first = b->device, *second;
    collet_queue *q = testbed_queue(b);
    void *buffer = testbed_alloc(b, 100);
    unsigned char bytes[100], back[100];
    memset(bytes, 7, sizeof bytes);
    testbed_write(b, q, buffer, 0, bytes, sizeof bytes);
    testbed_open(b);
    second = b->device;
    testbed_scenario(b);
    b->device = first;
    testbed_read(b, q, buffer, 0, back, sizeof back);
    b->device = second;
    testbed_close(b);
    b->device = first;
    testbed_read(b, q, buffer, 0, back, sizeof back);
    testbed_require(b, !memcmp(bytes, back, sizeof back),
                    "the bytes of a device changed while another was opened and closed");
    testbed_free(b, buffer);
    testbed_destroy(b, q);
    testbed_scenario(b);
}

/* Each thread has its own testbed; all share the verdict. */
static void open_and_work(testbed *b, int number, void *user)
{
    testbed own = testbed_beside(b);
    (void)number;
    (void)user;
    for (int i = 0; i < 3 && !testbed_failed(b); i++) {
        (void)capabilities_into(&own, NULL, 0);
        testbed_open(&own);
        testbed_scenario(&own);
        testbed_end(&own);
    }
}

static void threads(testbed *b)
{
    testbed_threads(b, 4, open_and_work, NULL);
}

/* Enqueues work alternately in queues of two devices; each must compute its own numbers. */
static void in_turn(testbed *b, testbed *other)
{
    enum { TURNS = 40 };
    const int64_t n = b->elements / 4;
    testbed *testbeds[2] = {b, other};
    collet_queue *q[2];
    void *one[2], *x[2];
    for (int i = 0; i < 2; i++) {
        q[i] = testbed_queue(testbeds[i]);
        one[i] = testbed_numbers(testbeds[i], q[i], 1, 1 + i);
        x[i] = testbed_numbers(testbeds[i], q[i], n, 100 * i);
    }
    for (int turn = 0; turn < TURNS; turn++)
        for (int i = 0; i < 2; i++)
            testbed_chain(testbeds[i], q[i], x[i], one[i], n, 1 + turn % 3);
    for (int i = 0; i < 2; i++)
        testbed_expect(testbeds[i], q[i], x[i], n, i ? 100 + 2 * 79 : 79,
                       "work of two devices in turn");
    for (int i = 0; i < 2; i++) {
        testbed_settle(testbeds[i], q[i]);
        testbed_free(testbeds[i], one[i]);
        testbed_free(testbeds[i], x[i]);
        testbed_destroy(testbeds[i], q[i]);
    }
}

/* Memory that is allocated in one device does not count in another. */
static void count_apart(testbed *b, testbed *other)
{
    const uint64_t bytes = (uint64_t)4 << 20;
    collet_memory_stats before = {.struct_size = sizeof before}, after = before;
    if (!b->own_memory || !testbed_statistics(b, &before))
        return;
    testbed_reset_peak(b);
    void *buffer = testbed_alloc(other, bytes);
    testbed_statistics(b, &after);
    testbed_require(
        b, after.current < before.current + bytes && after.peak < before.current + bytes,
        "memory_stats of device %u counts a buffer of device %u", b->index, other->index);
    testbed_free(other, buffer);
}

/* Checks that devices share no state: this device and the plugin's other devices, and this device opened twice. */
static void apart(testbed *b)
{
    uint32_t count = b->target->device_count;
    testbed_slow(b);
    for (uint32_t i = 0; i < 2 && i < count; i++) {
        testbed other = testbed_beside(b);
        other.index = (b->index + i) % count;
        testbed_open(&other);
        if (i)
            count_apart(b, &other);
        in_turn(b, &other);
        testbed_end(&other);
    }
}

/* Makes every call that may use the host's functions. */
static void use_host(testbed *b)
{
    collet_device *wrong = NULL;
    void *none = NULL;
    testbed_scenario(b);
    (void)try_open(b, b->target->device_count, &wrong);
    if (b->own_memory && allocation_watched() &&
        try_alloc(b, (uint64_t)1 << 62, &none) == COLLET_OK)
        testbed_fail(b, "buffer_alloc of 2^62 bytes returned OK");
    if (!b->has_queues || b->add < 0)
        return;
    collet_queue *q = testbed_queue(b);
    none = testbed_numbers(b, q, 9, 1);
    testbed_chain(b, q, none, none, 9, 3);
    (void)try_wait(b, q, testbed_mark(b, q), 0);
    testbed_settle(b, q);
    testbed_free(b, none);
    testbed_destroy(b, q);
}

/* A device must use the host table that its own device_open received: the host table of another
 * device is valid only until that device is closed. */
static void host(testbed *b)
{
    kit_target *second = kit_memory(sizeof *second);
    memcpy(second, b->target, sizeof *second);
    pthread_mutex_init(&second->lock, NULL);
    testbed other = testbed_beside(b);
    other.target = second;
    testbed_open(&other);
    use_host(&other);
    testbed_end(&other);
    pthread_mutex_destroy(&second->lock);
    memset(second, 0, sizeof *second);
    b->session->progress(b->session->user, 0,
                         "device.host: a call with the host of a device that is closed");
    use_host(b);
    free(second);
}

/* device_supports returns 0 or 1, and returns the same each time. A second device with the same index returns the
 * same, too. */
static void supports(testbed *b)
{
    if (!b->plugin->device_supports)
        testbed_skip(b, "the plugin has no device_supports: every row runs on every device");
    testbed other = testbed_beside(b);
    testbed_open(&other);
    for (uint32_t i = 0; i < b->plugin->kernel_count; i++) {
        int32_t first = b->plugin->device_supports(b->device, i);
        testbed_require(b, first == 0 || first == 1, "device_supports returned %d for row %u",
                        first, i);
        testbed_require(b,
                        b->plugin->device_supports(b->device, i) == first &&
                            b->plugin->device_supports(other.device, i) == first,
                        "device_supports returned %d for row %u, and then another number", first,
                        i);
    }
    testbed_end(&other);
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
