/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_fixture.h - the cuda plugin as it was built, on the fake libraries of fake_cuda.h, its slots
 * called directly. One includer a program.
 */
#ifndef TESTS_DEVICE_CUDA_FIXTURE_H
#define TESTS_DEVICE_CUDA_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <cuda.h>

#include "fake_cuda.h"
#include "fake_host.h"

#define CUDA_PLUGIN COLLET_TEST_PLUGINS "/cuda.so"
#define FAKE_CUDA COLLET_TEST_FAKES "/libfake_cuda.so"
#define FAKE_NVRTC COLLET_TEST_FAKES "/libfake_nvrtc.so"
#define FAKE_CUBLAS COLLET_TEST_FAKES "/libfake_cublas.so"
#define FAKE_CUFFT COLLET_TEST_FAKES "/libfake_cufft.so"

static fake_cuda_control *cu;
static fake_nvrtc_control *rtc;
static collet_error err;

/* Settings of the plugin; NULL: not set. */
static const char *set_library = FAKE_CUDA, *set_nvrtc = FAKE_NVRTC, *set_memory, *set_sync;
static const char *set_cache = "off", *set_cache_dir, *set_cublas = "off", *set_cufft = "off";

static const host_setting cuda_settings[] = {
    {"cuda.library", &set_library}, {"cuda.nvrtc", &set_nvrtc},    {"cuda.cublas", &set_cublas},
    {"cuda.cufft", &set_cufft},     {"cuda.memory", &set_memory},  {"cuda.sync", &set_sync},
    {"cache", &set_cache},          {"cache_dir", &set_cache_dir}, {NULL, NULL}};

static void *symbol_of(const char *path, const char *name)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail_msg("%s", dlerror());
    void *symbol = dlsym(library, name);
    assert_non_null(symbol);
    return symbol;
}

static int load_plugin(void **state)
{
    (void)state;
    host_settings = cuda_settings;
    cu = symbol_of(FAKE_CUDA, "fake_cuda");
    rtc = symbol_of(FAKE_NVRTC, "fake_nvrtc");
    return load_plugin_file(CUDA_PLUGIN);
}

/* Before each test: the fakes as at first. After it: nothing lives, and no call was made in another
 * context than its object's. */
static int fresh(void **state)
{
    (void)state;
    set_library = FAKE_CUDA;
    set_nvrtc = FAKE_NVRTC;
    set_memory = set_sync = set_cache_dir = NULL;
    set_cache = set_cublas = set_cufft = "off";
    cu->reset();
    rtc->major = 12;
    rtc->minor = 4;
    rtc->fails = rtc->damaged = rtc->compiled = 0;
    return 0;
}

static int nothing_left(void **state)
{
    (void)state;
    if (!cu->contexts && !cu->allocations && !cu->host_allocations && !cu->streams && !cu->events &&
        !cu->modules && !cu->outside && !cu->current())
        return 0;
    print_error("left: contexts %d, memory %d, page-locked %d, streams %d, events %d, modules %d; "
                "calls in a wrong context %d; current context %p\n",
                cu->contexts, cu->allocations, cu->host_allocations, cu->streams, cu->events,
                cu->modules, cu->outside, cu->current());
    return -1;
}

#define assert_status_is(got, wanted)                                                              \
    do {                                                                                           \
        collet_status got_ = (got);                                                                \
        if (got_ != (wanted))                                                                      \
            print_error("%s:%d: status %d, text '%s'\n", __FILE__, __LINE__, (int)got_, err.text); \
        assert_int_equal(got_, wanted);                                                            \
    } while (0)
#define assert_good(got) assert_status_is(got, COLLET_OK)
#define assert_says(text, part)                                                                    \
    do {                                                                                           \
        if (!strstr(text, part))                                                                   \
            fail_msg("'%s' lacks '%s'", text, part);                                               \
    } while (0)

static inline collet_device *open_device(uint32_t index)
{
    collet_device *device = NULL;
    assert_good(plugin->device_open(&host, index, &device, &err));
    return device;
}

static inline collet_queue *new_queue(collet_device *d)
{
    collet_queue *queue = NULL;
    assert_good(plugin->queue_create(d, &queue, &err));
    return queue;
}

static inline collet_buffer *new_buffer(collet_device *d, uint64_t bytes)
{
    collet_buffer *buffer = NULL;
    assert_good(plugin->buffer_alloc(d, bytes, &buffer, &err));
    return buffer;
}

/* Runs the row (op, sig) on three operands, the output first. */
static inline collet_status run_row(collet_device *d, collet_queue *q, uint32_t op, uint64_t sig,
                                    const collet_operand *operands)
{
    const collet_kernel_call call = {.struct_size = sizeof call,
                                     .op = op,
                                     .sig = sig,
                                     .n_out = 1,
                                     .n_in = 2,
                                     .operand_size = sizeof *operands,
                                     .operands = operands,
                                     .err = &err};
    for (uint32_t i = 0; i < plugin->kernel_count; i++)
        if (plugin->kernels[i].op == op && plugin->kernels[i].sig == sig)
            return plugin->kernels[i].run(d, q, &call);
    fail_msg("no such row");
    return COLLET_FAILED;
}

/* out = a + b of n f32. */
static inline collet_status add(collet_device *d, collet_queue *q, collet_buffer *out,
                                collet_buffer *a, collet_buffer *b, int64_t n)
{
    const int64_t step = 1;
    const collet_operand operands[] = {{out, 0, COLLET_F32, 1, &n, &step},
                                       {a, 0, COLLET_F32, 1, &n, &step},
                                       {b, 0, COLLET_F32, 1, &n, &step}};
    return run_row(d, q, COLLET_OP_ADD, COLLET_SIG(COLLET_F32, COLLET_F32, COLLET_F32), operands);
}

/* The device that most tests use, with a queue. */
static collet_device *device;
static collet_queue *queue;

static inline int open_one(void **state)
{
    fresh(state);
    device = open_device(0);
    queue = new_queue(device);
    return 0;
}

static inline int close_one(void **state)
{
    plugin->queue_destroy(device, queue);
    plugin->device_close(device);
    return nothing_left(state);
}

static inline void inject(const char *function, int after, int error)
{
    cu->fails = function;
    cu->fails_after = after;
    cu->fails_times = 1;
    cu->fails_with = error;
}

static inline const fake_launch *last_launch(void)
{
    assert_true(cu->launch_count > 0);
    return &cu->launches[(cu->launch_count - 1) % FAKE_LAUNCHES];
}

#endif
