/* SPDX-License-Identifier: Apache-2.0 */
/* Leaks: blocks of memory, descriptors, threads, memory of the device. A plugin may keep the objects that the first
 * rounds create; later rounds must not add to them.
 * Tests: tests/conformance/verbs/defects.sh */
#include "verbs/own.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct holdings {
    int64_t blocks;
    int threads, descriptors, keys;
    uint64_t memory;
} holdings;

static int descriptor_count(void)
{
    DIR *files = opendir("/proc/self/fd");
    int count = 0;
    while (files && readdir(files))
        count++;
    if (files)
        closedir(files);
    return count;
}

/* Keys of thread-specific data that are in use; a process has PTHREAD_KEYS_MAX. */
static int key_count(void)
{
    pthread_key_t keys[PTHREAD_KEYS_MAX];
    int left = 0;
    while (left < PTHREAD_KEYS_MAX && pthread_key_create(&keys[left], NULL) == 0)
        left++;
    for (int i = 0; i < left; i++)
        pthread_key_delete(keys[i]);
    return PTHREAD_KEYS_MAX - left;
}

/* A thread that was joined may still be listed for a moment. */
static int thread_count(int expected)
{
    int count = kit_thread_count();
    for (int i = 0; i < 200 && count > expected; i++) {
        usleep(1000);
        count = kit_thread_count();
    }
    return count;
}

static holdings take(testbed *b, int threads)
{
    collet_memory_stats stats = {.struct_size = sizeof stats};
    if (!b->device || !testbed_statistics(b, &stats))
        stats.current = 0;
    return (holdings){allocation_live(), thread_count(threads), descriptor_count(), key_count(),
                      stats.current};
}

#define WARM 4
#define ROUNDS 12

/* Compares the amounts after the first rounds and after the last round. A plugin may create an object
 * late, but only once; a leak grows in every round. */
void testbed_repeat(testbed *b, int times, void (*body)(testbed *b), const char *what)
{
    holdings before = {0};
    allocation_watch(b->target->begin, b->target->end);
    for (int i = 0; i < ROUNDS; i++) {
        if (i == WARM)
            before = take(b, 0);
        for (int k = 0; k < times; k++)
            body(b);
    }
    holdings after = take(b, before.threads);
    const int limit = (ROUNDS - WARM) / 2;
    testbed_require(b, after.blocks - before.blocks < limit,
                    "leak: %lld blocks of memory stay allocated after %d times %s",
                    (long long)(after.blocks - before.blocks), times * (ROUNDS - WARM), what);
    testbed_require(b, after.threads - before.threads < limit,
                    "leak: %d threads stay after %d times %s", after.threads - before.threads,
                    times * (ROUNDS - WARM), what);
    testbed_require(b, after.descriptors - before.descriptors < limit,
                    "leak: %d descriptors stay open after %d times %s",
                    after.descriptors - before.descriptors, times * (ROUNDS - WARM), what);
    testbed_require(b, after.keys - before.keys < limit,
                    "leak: %d keys of pthread_key_create stay after %d times %s",
                    after.keys - before.keys, times * (ROUNDS - WARM), what);
    testbed_require(b, after.memory <= before.memory,
                    "leak: memory_stats reports %llu bytes more in use after %d times %s",
                    (unsigned long long)(after.memory - before.memory), times * (ROUNDS - WARM),
                    what);
}

static void open_close(testbed *b)
{
    testbed_open(b);
    testbed_scenario(b);
    testbed_close(b);
}

static void device(testbed *b)
{
    testbed_repeat(b, 1, open_close, "device_open and device_close");
}

static void create_destroy(testbed *b)
{
    collet_queue *q[2] = {0};
    int count = testbed_queues(b, q, 2);
    if (count > 1)
        testbed_after(b, q[0], q[1], testbed_mark(b, q[1]));
    for (int i = 0; i < count; i++)
        testbed_destroy(b, q[i]);
}

static void queues(testbed *b)
{
    testbed_repeat(b, 3, create_destroy, "queue_create and queue_destroy");
}

static void alloc_free(testbed *b)
{
    void *buffers[3];
    for (uint64_t i = 0; i < 3; i++)
        buffers[i] = testbed_alloc(b, 1 + i * 70000);
    for (int i = 0; i < 3; i++)
        testbed_free(b, buffers[i]);
}

static void buffers(testbed *b)
{
    testbed_repeat(b, 5, alloc_free, "buffer_alloc and buffer_free");
}

static void calls(testbed *b)
{
    testbed_repeat(b, 4, testbed_scenario, "writes, kernels, waits and reads");
}

static void ask(testbed *b)
{
    slot_call s;
    uint64_t needed = 0;
    slot_begin(&s, b, "capabilities");
    slot_end(&s, b->plugin->capabilities(b->plugin, NULL, 0, &needed, &b->target->host, &s.err),
             CONTRACT_OPEN);
}

static void capabilities(testbed *b)
{
    testbed_repeat(b, 3, ask, "capabilities");
}

static void refuse(testbed *b)
{
    collet_device *none = NULL;
    void *buffer = NULL;
    (void)try_open(b, b->target->device_count, &none);
    if (b->own_memory)
        (void)try_alloc(b, UINT64_MAX - 4096, &buffer);
}

static void errors(testbed *b)
{
    testbed_repeat(b, 5, refuse, "device_open and buffer_alloc that fail");
}

static void nothing(testbed *b, collet_queue *q, own_call *o, const results *base)
{
    (void)b;
    (void)q;
    (void)o;
    (void)base;
}

static void call_own(testbed *b)
{
    own_each(b, 1, nothing);
}

static void own(testbed *b)
{
    testbed_repeat(b, 1, call_own, "calls of the plugin's own ops");
}

static void rows(testbed *b)
{
    testbed_repeat(b, 1, testbed_rows, "calls of the rows");
}

static void accepts(testbed *b)
{
    testbed_repeat(b, 1, testbed_ask_rows, "accepts, also of calls that are refused");
}

const kit_verb verbs_leaks[] = {
    {"leaks.device", NEEDS_CLOSED, device},
    {"leaks.queues", NEEDS_QUEUES, queues},
    {"leaks.buffers", NEEDS_MEMORY, buffers},
    {"leaks.calls", 0, calls},
    {"leaks.capabilities", 0, capabilities},
    {"leaks.errors", 0, errors},
    {"leaks.rows", 0, rows},
    {"leaks.own", 0, own},
    {"leaks.accepts", 0, accepts},
    {0},
};
