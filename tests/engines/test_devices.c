/* SPDX-License-Identifier: Apache-2.0 */
/* Several devices share a job. The devices are fakes that compute nothing and count items. */
#include <pthread.h>
#include <stdatomic.h>

#include "common/support.h"

#include "devices/devices.h"
#include "devices/spans.h"

#define DEVICES 4
#define MOST 9
#define ITEMS 200

typedef struct fake {
    int64_t computed[MOST], results[MOST];
    int64_t first;              /* item of the first result */
    int64_t calls, fail, reads; /* `fail`: the call of compute that fails; 0: none */
    int64_t fail_read;
    collet_status status; /* status of the failure */
    long delay_us;        /* time per item */
    int compiles;         /* 1: the first call waits until all items are delivered, at most 20 s */
} fake;

/* A job on fake devices. */
typedef struct world_of_fakes {
    collet_runtime *rt;
    collet_context *context[DEVICES];
    devices_job *job;
    fake fake[DEVICES];
    devices_work work;
    pthread_t caller;
    int64_t cancel;  /* number of the progress report that cancels */
    int64_t asked;   /* number of functions that devices passed to the caller's thread to run */
    int64_t ends_at; /* item at which the work ends; 0: no end */
    collet_status asks; /* what the functions return */
    int ask;
    atomic_llong delivered;
    int64_t stored[2 * ITEMS]; /* results by item, if devices keep several */
} world_of_fakes;

static int64_t result_of(int64_t item)
{
    return item * item + 1;
}

static void pause_us(long us)
{
    const struct timespec time = {0, us * 1000};
    if (us)
        nanosleep(&time, NULL);
}

static collet_status answer(void *argument, collet_error *err)
{
    world_of_fakes *w = argument;
    assert_true(pthread_equal(pthread_self(), w->caller));
    w->asked++;
    return w->asks == COLLET_OK ? COLLET_OK : collet_fail(err, w->asks, "asked in vain");
}

static collet_status compute(void *user, int64_t index, int64_t first, int64_t *count,
                             collet_error *err)
{
    world_of_fakes *w = user;
    fake *f = &w->fake[index];
    if (w->ask) {
        collet_status status = devices_ask(w->job, index, answer, w, err);
        if (status != COLLET_OK)
            return status;
    }
    if (w->ends_at && first + *count > w->ends_at) {
        devices_end(w->job, w->ends_at);
        *count = first < w->ends_at ? w->ends_at - first : 0;
    }
    *count = w->work.whole && *count > 2 ? 2 : *count; /* a part may need several calls */
    pause_us(f->delay_us * *count);
    for (int ms = 0; f->compiles && !f->calls && atomic_load(&w->delivered) < w->work.count && ms < 20000; ms++)
        pause_us(1000);
    if (++f->calls == f->fail)
        return collet_fail(err, f->status, "device %d failed", (int)index);
    for (int64_t i = 0; i < *count; i++)
        f->computed[i] = result_of(first + i);
    return devices_tick(w->job) ? collet_fail(err, COLLET_CANCELLED, "cancelled") : COLLET_OK;
}

static collet_status read_results(void *user, int64_t index, int64_t first, int64_t count,
                                  collet_error *err)
{
    world_of_fakes *w = user;
    fake *f = &w->fake[index];
    if (++f->reads == f->fail_read)
        return collet_fail(err, f->status, "device %d failed to read", (int)index);
    memset(f->results, 0, sizeof f->results);
    memcpy(f->results, f->computed, (size_t)count * sizeof *f->results);
    f->first = first;
    for (int64_t i = 0; i < count && w->work.depth > 1; i++)
        w->stored[first + i] = f->computed[i];
    return COLLET_OK;
}

static int report(void *user, int64_t ticks, int64_t next)
{
    world_of_fakes *w = user;
    assert_true(pthread_equal(pthread_self(), w->caller) && ticks > 0 && next >= 0);
    return w->cancel && --w->cancel == 0;
}

static void open_fakes(world_of_fakes *w, int64_t n_devices, int64_t count, int64_t most)
{
    memset(w, 0, sizeof *w);
    w->rt = runtime_with(SCALAR_PLUGIN, NULL);
    w->caller = pthread_self();
    for (int64_t i = 0; i < DEVICES; i++) {
        w->context[i] = context_of(w->rt);
        w->fake[i].status = COLLET_DEVICE_LOST;
    }
    w->work = (devices_work){.n_devices = n_devices,
                             .contexts = w->context,
                             .count = count,
                             .most = most,
                             .depth = 1,
                             .user = w,
                             .compute = compute,
                             .read = read_results,
                             .report = report};
}

static void close_fakes(world_of_fakes *w)
{
    devices_destroy(w->job);
    for (int64_t i = 0; i < DEVICES; i++)
        collet_context_destroy(w->context[i]);
    collet_runtime_destroy(w->rt);
}

/* Gets all results, at most `most` at a time, and checks them; returns the final status of the
 * job. */
static collet_status get_all(world_of_fakes *w, int64_t most, int64_t *done, collet_error *err)
{
    int64_t index, first, count;
    collet_status status;
    *done = 0;
    if (!w->job)
        assert_int_equal(devices_create(&w->job, &w->work, NULL), COLLET_OK);
    do {
        status = devices_next(w->job, most, &index, &first, &count, err);
        if (status == COLLET_CANCELLED)
            continue;
        if (status != COLLET_OK || count == 0)
            return status;
        assert_int_equal(first, *done);
        assert_true(count <= most);
        for (int64_t i = 0; i < count; i++)
            assert_int_equal(w->work.depth > 1
                                 ? w->stored[first + i]
                                 : w->fake[index].results[first - w->fake[index].first + i],
                             result_of(first + i));
        *done += count;
        atomic_store(&w->delivered, *done);
    } while (1);
}

TEST(results_come_in_order_whatever_fails)
{
    unsigned seed = 20261127;
    for (int trial = 0; trial < 150; trial++) {
        world_of_fakes w;
        int64_t n = 1 + rand_r(&seed) % DEVICES, count = rand_r(&seed) % ITEMS, done, all = 0;
        collet_error err;
        open_fakes(&w, n, count, 1 + rand_r(&seed) % MOST);
        w.work.whole = rand_r(&seed) % 2;
        w.work.depth = 1 + rand_r(&seed) % 2 * 3;
        w.ask = rand_r(&seed) % 4 == 0;
        w.ends_at = rand_r(&seed) % 4 == 0 ? 1 + rand_r(&seed) % ITEMS : 0;
        w.cancel = rand_r(&seed) % 30;
        if (w.ends_at)
            w.work.count = INT64_MAX;
        for (int64_t i = 1; i < n; i++) { /* device 0 never fails */
            w.fake[i].fail = rand_r(&seed) % 12;
            w.fake[i].fail_read = rand_r(&seed) % 12;
        }
        for (int64_t i = 0; i < n; i++)
            w.fake[i].delay_us = rand_r(&seed) % 3 * 20;
        assert_int_equal(get_all(&w, 1 + rand_r(&seed) % MOST, &done, &err), COLLET_OK);
        assert_int_equal(done, w.ends_at ? w.ends_at : count);
        for (int64_t i = 0; i < n; i++) {
            collet_device_share share = {.struct_size = sizeof share};
            assert_int_equal(devices_share_at(w.job, &share, (size_t)i), COLLET_OK);
            int failed = (w.fake[i].fail && w.fake[i].calls >= w.fake[i].fail) ||
                         (w.fake[i].fail_read && w.fake[i].reads >= w.fake[i].fail_read);
            assert_int_equal(share.error != NULL, failed);
            if (failed)
                assert_contains(share.error, "failed");
            assert_string_equal(share.device, "auto");
            all += share.done;
        }
        assert_true(all >= done);
        close_fakes(&w);
    }
}

TEST(when_all_fail_the_first_error_ends_the_job)
{
    world_of_fakes w;
    collet_device_share share = {.struct_size = sizeof share};
    collet_error err;
    int64_t done;
    open_fakes(&w, 3, ITEMS, 4);
    for (int64_t i = 0; i < 3; i++) {
        w.fake[i].delay_us = i ? 500 : 0;
        w.fake[i].fail = 8 * i + 1;
    }
    w.fake[0].status = COLLET_NO_MEMORY;
    for (int again = 0; again < 2; again++) {
        int64_t got;
        assert_int_equal(get_all(&w, 4, &got, &err), COLLET_NO_MEMORY);
        assert_string_equal(err.text, "device 0 failed");
    }
    assert_int_equal(devices_share_at(w.job, &share, 2), COLLET_OK);
    assert_string_equal(share.error, "device 2 failed");
    assert_int_equal(devices_share_at(w.job, &share, 3), COLLET_NOT_FOUND);
    close_fakes(&w);
    open_fakes(&w, 2, ITEMS, 4);
    w.fake[1].fail = 2; /* data that no device can use */
    w.fake[1].status = COLLET_INVALID;
    w.fake[0].delay_us = 100;
    assert_int_equal(get_all(&w, 4, &done, &err), COLLET_INVALID);
    assert_string_equal(err.text, "device 1 failed");
    close_fakes(&w);
    open_fakes(&w, 2, ITEMS, 4);
    w.ask = 1; /* an error of the program's function does not count as a failure of a device */
    w.asks = COLLET_NO_MEMORY;
    assert_int_equal(get_all(&w, 4, &done, &err), COLLET_NO_MEMORY);
    assert_string_equal(err.text, "asked in vain");
    close_fakes(&w);
}

/* A slow device gets few items. It gets no large part near the end, which would delay the job. */
TEST(parts_fit_the_measured_speed)
{
    world_of_fakes w;
    collet_device_share fast = {.struct_size = sizeof fast}, slow = fast;
    collet_error err;
    int64_t done;
    open_fakes(&w, 2, ITEMS, 8);
    w.fake[0].delay_us = 200;
    w.fake[1].delay_us = 4000;
    assert_int_equal(get_all(&w, 8, &done, &err), COLLET_OK);
    assert_int_equal(devices_share_at(w.job, &fast, 0), COLLET_OK);
    assert_int_equal(devices_share_at(w.job, &slow, 1), COLLET_OK);
    assert_int_equal(fast.done + slow.done, ITEMS);
    assert_true(fast.done > 4 * slow.done && slow.done >= 1);
    assert_true((double)fast.done / fast.seconds > 4 * (double)slow.done / slow.seconds);
    close_fakes(&w);
}

/* Results are delivered while a device compiles its kernels, whichever items it has taken. */
TEST(a_device_that_compiles_delays_no_result)
{
    for (int whole = 0; whole < 2; whole++) {
        world_of_fakes w;
        collet_device_share share = {.struct_size = sizeof share};
        collet_error err;
        struct timespec from, to;
        int64_t done, all = 0;
        open_fakes(&w, 3, ITEMS, 8);
        w.work.whole = whole;
        w.fake[1].compiles = 1;
        for (int i = 0; i < 3; i++)
            w.fake[i].delay_us = 100;
        clock_gettime(CLOCK_MONOTONIC, &from);
        assert_int_equal(get_all(&w, 8, &done, &err), COLLET_OK);
        clock_gettime(CLOCK_MONOTONIC, &to);
        assert_int_equal(done, ITEMS);
        assert_true(to.tv_sec - from.tv_sec < 15);
        for (size_t i = 0; i < 3; i++) {
            assert_int_equal(devices_share_at(w.job, &share, i), COLLET_OK);
            all += share.done;
        }
        assert_int_equal(all, ITEMS);
        close_fakes(&w);
    }
}

TEST(spans_are_taken_in_order)
{
    devices_spans spans = {0};
    const int64_t expected[][2] = {{0, 3}, {3, 5}, {7, 10}, {20, 21}};
    assert_true(devices_spans_reserve(&spans, 2));
    assert_true(devices_spans_first(&spans) == INT64_MAX);
    devices_spans_add(&spans, 20, 21);
    devices_spans_add(&spans, 0, 5);
    devices_spans_add(&spans, 9, 9);
    assert_true(devices_spans_reserve(&spans, 2));
    devices_spans_add(&spans, 7, 10);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(devices_spans_first(&spans), expected[i][0]);
        devices_span span = devices_spans_take(&spans, 3);
        assert_int_equal(span.first, expected[i][0]);
        assert_int_equal(span.end, expected[i][1]);
    }
    devices_span none = devices_spans_take(&spans, 3);
    assert_int_equal(none.first, none.end);
    free(spans.list);
}
