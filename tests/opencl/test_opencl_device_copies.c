/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two PoCL devices, called through the plugin's slots, work at the same time, even while data is copied from one to the
 * other. verbs_opencl_copies checks the bytes and the order of copies. Skipped if no driver has two devices.
 */
#include <sched.h>

#include "common/slots.h"

#define N (1 << 18)
#define BYTES ((uint64_t)N * sizeof(float))
#define CHAIN (ADDRESS_SANITIZER ? 6 : 24)
#define ATTEMPTS (ADDRESS_SANITIZER ? 1 : 200)

typedef struct side {
    collet_device *device;
    collet_queue *queue, *copies;
    collet_buffer *a, *b, *one;
} side;

static side sides[2];
static const char *no_cache = "off";
static const host_setting settings[] = {{"cache", &no_cache}, {NULL, NULL}};

static void fill(const side *s, collet_buffer *b, float value)
{
    assert_good(write_floats(s->device, s->queue, b, BYTES, value));
}

static int open_both(void **state)
{
    for (uint32_t i = 0; i < 2; i++) {
        side *s = &sides[i];
        s->device = open_device(i);
        s->queue = new_queue(s->device);
        s->copies = new_queue(s->device);
        s->a = new_buffer(s->device, BYTES);
        s->b = new_buffer(s->device, BYTES);
        s->one = new_buffer(s->device, BYTES);
        fill(s, s->one, 1.0f);
        fill(s, s->a, 0.0f);
        assert_good(wait_all(s->device, s->queue));
    }
    return 0;
}

static int close_both(void **state)
{
    for (uint32_t i = 0; i < 2; i++) {
        side *s = &sides[i];
        collet_status status = wait_all(s->device, s->queue);
        if (status == COLLET_OK)
            status = wait_all(s->device, s->copies);
        plugin->buffer_free(s->device, s->a);
        plugin->buffer_free(s->device, s->b);
        plugin->buffer_free(s->device, s->one);
        plugin->queue_destroy(s->device, s->queue);
        plugin->queue_destroy(s->device, s->copies);
        plugin->device_close(s->device);
        if (status != COLLET_OK)
            return -1;
    }
    return 0;
}

/* Adds 1 to every element of `b`, `times` times, one kernel each. */
static void count_up(const side *s, collet_buffer *b, int times)
{
    for (int i = 0; i < times; i++)
        assert_good(add(s->device, s->queue, b, b, s->one, N));
}

/* Orders the queue `later` after `earlier`. */
static void order(const side *s, collet_queue *earlier, collet_queue *later)
{
    uint64_t value = plugin->queue_mark(s->device, earlier);
    assert_good(plugin->queue_after(s->device, later, earlier, value, &err));
}

static void copy(collet_buffer *target, collet_buffer *source)
{
    const side *from = &sides[0], *to = &sides[1];
    order(from, from->queue, from->copies);
    assert_good(copies(to->device)
                    ->between(to->device, to->queue, target, 0, plugin, from->device, from->copies,
                              source, 0, BYTES, &err));
}

TEST_WITH(a_device_refuses_copies_from_itself, open_both, close_both)
{
    const side *s = &sides[1];
    assert_status_is(copies(s->device)->between(s->device, s->queue, s->a, 8, plugin, s->device, s->copies, s->b, 64,
                                                12, &err),
                     COLLET_REFUSED);
}

static int reached(const side *s, uint64_t value)
{
    return plugin->queue_wait(s->device, s->queue, value, 0, &err) == COLLET_OK;
}

/* Whether a poll ever found that both devices had started and neither had finished. */
static int busy_together(void)
{
    uint64_t begun[2], ended[2];
    int both = 0;
    for (int i = 0; i < 2; i++) {
        count_up(&sides[i], sides[i].b, 1);
        begun[i] = plugin->queue_mark(sides[i].device, sides[i].queue);
    }
    for (int k = 0; k < 10 * CHAIN; k++)
        for (int i = 0; i < 2; i++)
            count_up(&sides[i], sides[i].b, 1);
    for (int i = 0; i < 2; i++)
        ended[i] = plugin->queue_mark(sides[i].device, sides[i].queue);
    while (!reached(&sides[0], ended[0]) && !reached(&sides[1], ended[1])) {
        both += reached(&sides[0], begun[0]) && reached(&sides[1], begun[1]) &&
                !reached(&sides[0], ended[0]) && !reached(&sides[1], ended[1]);
        sched_yield();
    }
    for (int i = 0; i < 2; i++)
        assert_good(wait_all(sides[i].device, sides[i].queue));
    return both > 0;
}

/* Device 1 works on its copy while device 0 runs other work. Some attempts may miss the overlap, but not
 * all. */
TEST_WITH(both_devices_are_busy_at_once, open_both, close_both)
{
    int seen = 0;
    copy(sides[1].a, sides[0].a);
    for (int attempt = 0; attempt < ATTEMPTS && !seen; attempt++)
        seen = busy_together();
    assert_true(seen || ATTEMPTS == 1);
}

int main(void)
{
    collet_device *second = NULL;
    setenv("POCL_DEVICES", "pthread pthread", 1);
    host_settings = settings;
    if (load_plugin_file(COLLET_TEST_PLUGINS "/opencl.so"))
        return 1;
    if (host_open(1, &second, &err) != COLLET_OK) {
        printf("SKIP: no second OpenCL device: %s\n", err.text);
        return 77;
    }
    plugin->device_close(second);
    return test_run();
}
