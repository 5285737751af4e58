/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_fixture.h - for tests that call the slots of the built cuda plugin directly, on the
 * stand-ins of tests/fakes/cuda/control.h. Included once per program.
 */
#ifndef TESTS_CUDA_CUDA_FIXTURE_H
#define TESTS_CUDA_CUDA_FIXTURE_H

#include "cuda/providers/abi/cuda.h"
#include "fakes/cuda/control.h"
#include "common/slots.h"

#define CUDA_PLUGIN COLLET_TEST_PLUGINS "/cuda.so"
#define FAKE_CUDA COLLET_TEST_FAKES "/libfake_cuda.so"
#define FAKE_NVRTC COLLET_TEST_FAKES "/libfake_nvrtc.so"
#define FAKE_CUBLAS COLLET_TEST_FAKES "/libfake_cublas.so"
#define FAKE_CUFFT COLLET_TEST_FAKES "/libfake_cufft.so"
#define FAKE_CUSOLVER COLLET_TEST_FAKES "/libfake_cusolver.so"

static fake_cuda_control *cu;
static fake_nvrtc_control *rtc;

/* Settings of the plugin; NULL: not set. */
static const char *set_library = FAKE_CUDA, *set_nvrtc = FAKE_NVRTC, *set_memory, *set_sync,
                  *set_staging;
static const char *set_cache = "off", *set_cache_dir, *set_cublas = "off", *set_cufft = "off",
                  *set_cusolver = "off", *set_from, *set_ways, *set_calibrated;

static const host_setting cuda_settings[] = {
    {"cuda.library", &set_library},   {"cuda.nvrtc", &set_nvrtc},
    {"cuda.cublas", &set_cublas},     {"cuda.cufft", &set_cufft},
    {"cuda.cusolver", &set_cusolver}, {"cuda.cusolver_from", &set_from},
    {"cuda.ways", &set_ways},         {"cuda.calibrated", &set_calibrated},
    {"cuda.memory", &set_memory},     {"cuda.sync", &set_sync},
    {"cuda.staging", &set_staging},   {"cache", &set_cache},
    {"cache_dir", &set_cache_dir},    {NULL, NULL}};

static void *symbol_of(const char *path, const char *name)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail_msg("%s", dlerror());
    void *symbol = dlsym(library, name);
    assert_non_null(symbol);
    return symbol;
}

static inline int load_plugin(void **state)
{
    host_settings = cuda_settings;
    cu = symbol_of(FAKE_CUDA, "fake_cuda");
    rtc = symbol_of(FAKE_NVRTC, "fake_nvrtc");
    return load_plugin_file(CUDA_PLUGIN);
}

/* `fresh` runs before each test and resets the fakes. `nothing_left` runs after each test and checks that
 * nothing leaked and that no call was made in a wrong context or out of order. */
static int fresh(void **state)
{
    set_library = FAKE_CUDA;
    set_nvrtc = FAKE_NVRTC;
    set_memory = set_sync = set_staging = set_cache_dir = set_from = NULL;
    set_ways = set_calibrated = NULL;
    set_cache = set_cublas = set_cufft = set_cusolver = "off";
    cu->reset();
    rtc->major = 12;
    rtc->minor = 4;
    rtc->fails = rtc->damaged = rtc->compiled = 0;
    return 0;
}

static int nothing_left(void **state)
{
    if (!cu->contexts && !cu->allocations && !cu->host_allocations && !cu->streams && !cu->events &&
        !cu->modules && !cu->graphs && !cu->outside && !cu->unordered && !cu->current())
        return 0;
    print_error("left: contexts %d, memory %d, page-locked %d, streams %d, events %d, modules %d, "
                "graphs %d, calls in a wrong context %d, out of order %d; "
                "current context %p\n",
                cu->contexts, cu->allocations, cu->host_allocations, cu->streams, cu->events,
                cu->modules, cu->graphs, cu->outside, cu->unordered, cu->current());
    return -1;
}

/* The device and queue that most tests use. */
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
