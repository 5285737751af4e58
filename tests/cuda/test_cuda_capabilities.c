/* SPDX-License-Identifier: Apache-2.0 */
/* Capabilities of the cuda backend, and the reasons it reports if something is missing. */
#include "cuda_fixture.h"

#include <collet/collet.h>

OWNS(collet_context, collet_context_destroy)
OWNS(collet_runtime, collet_runtime_destroy)

/* cpu_scalar, because libcore requires at least one usable backend. */
#define BACKENDS CUDA_PLUGIN ":" COLLET_TEST_PLUGINS "/cpu_scalar.so"

static char json[8192];

static const char *capabilities(void)
{
    uint64_t needed = 0;
    assert_good(plugin->capabilities(plugin, json, sizeof json, &needed, &host, &err));
    assert_int_equal(needed, strlen(json) + 1);
    return json;
}

/* Checks that the plugin has no device, and that the reason in its capabilities and from
 * device_open contains this text. */
static void is_without(const char *text)
{
    collet_device *d = NULL;
    assert_contains(capabilities(), "\"device_count\": 0");
    assert_contains(json, "\"devices\": []", text);
    assert_status_is(host_open(0, &d, &err), COLLET_UNAVAILABLE);
    assert_null(d);
    assert_int_equal(err.status, COLLET_UNAVAILABLE);
    assert_contains(err.text, text);
}

/* ---- What may be missing --------------------------------------------------------------------- */

static int has_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return library != NULL;
}

TEST_WITH(no_driver, fresh, nothing_left)
{
    if (has_driver())
        skip();
    set_library = NULL;
    is_without("libcuda.so.1 not found: no NVIDIA driver");
}

/* The same test through libcore: the plugin loads, has no device, and its info contains the
 * reason. */
TEST_WITH(no_driver_in_libcore, fresh, nothing_left)
{
    const char *const settings[] = {"cache=off", "cuda.library=/nowhere/libcuda.so.1", NULL};
    collet_runtime_options options = {
        .struct_size = sizeof options, .plugin_path = BACKENDS, .settings = settings};
    OWNED(collet_runtime) *rt = NULL;
    OWNED(collet_context) *cx = NULL;
    collet_backend_info info = {.struct_size = sizeof info};
    assert_good(collet_runtime_create(&rt, &options, &err));
    assert_good(collet_context_create(rt, &cx, &err));
    /* The unusable cuda is listed after cpu_scalar, although cuda has the higher priority. */
    assert_good(collet_backend_info_at(rt, &info, 1, NULL));
    assert_string_equal(info.name, "cuda");
    assert_int_equal(info.device_count, 0);
    assert_contains(info.capabilities, "/nowhere/libcuda.so.1 cannot be opened: no NVIDIA driver");
    assert_int_equal(collet_set_backend(cx, "cuda"), COLLET_UNAVAILABLE);
    assert_contains(collet_last_error(cx), "no NVIDIA driver");
}

TEST_WITH(another_library, fresh, nothing_left)
{
    set_library = "libm.so.6";
    is_without("libm.so.6 has no cuInit: a driver for CUDA 11.2 is needed");
}

TEST_WITH(no_gpu, fresh, nothing_left)
{
    cu->fails = "Init";
    cu->fails_after = 0;
    cu->fails_times = 100;
    cu->fails_with = CUDA_ERROR_NO_DEVICE;
    assert_int_equal(unsetenv("CUDA_VISIBLE_DEVICES"), 0);
    is_without("the NVIDIA driver finds no GPU");
    assert_int_equal(setenv("CUDA_VISIBLE_DEVICES", "17", 1), 0);
    is_without("the NVIDIA driver finds no GPU (CUDA_VISIBLE_DEVICES is ");
    assert_int_equal(unsetenv("CUDA_VISIBLE_DEVICES"), 0);
}

TEST_WITH(a_driver_that_does_not_start, fresh, nothing_left)
{
    cu->fails = "Init";
    cu->fails_after = 0;
    cu->fails_times = 100;
    cu->fails_with = CUDA_ERROR_SYSTEM_DRIVER_MISMATCH;
    is_without("failed to initialise: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (the driver's message)");
    cu->fails_with = CUDA_ERROR_NOT_INITIALIZED;
    is_without("forked by one which used CUDA: start processes by spawn");
}

TEST_WITH(no_compiler, fresh, nothing_left)
{
    set_nvrtc = "/nowhere/libnvrtc.so.12";
    is_without("/nowhere/libnvrtc.so.12 cannot be opened: no NVRTC");
    set_nvrtc = "libm.so.6";
    is_without("libm.so.6 has no nvrtcVersion");
}

TEST_WITH(no_context, fresh, nothing_left)
{
    collet_device *d = NULL;
    cu->fails = "DevicePrimaryCtxRetain";
    cu->fails_after = 0;
    cu->fails_times = 1;
    cu->fails_with = CUDA_ERROR_OUT_OF_MEMORY;
    assert_status_is(host_open(0, &d, &err), COLLET_UNAVAILABLE);
    assert_contains(err.text, "the GPU's primary context: CUDA_ERROR_OUT_OF_MEMORY");
}

TEST_WITH(no_such_device, fresh, nothing_left)
{
    collet_device *d = NULL;
    cu->devices = 2;
    assert_status_is(host_open(2, &d, &err), COLLET_UNAVAILABLE);
    assert_contains(err.text, "has 2 GPUs, counted from 0; there is no GPU 2");
}

TEST_WITH(too_old, fresh, nothing_left)
{
    collet_device *d = NULL;
    cu->capability = 61;
    assert_status_is(host_open(0, &d, &err), COLLET_UNAVAILABLE);
    assert_contains(err.text, "NVRTC 12.4 does not compile for compute capability 6.1");
}

/* ---- What there is --------------------------------------------------------------------------- */

TEST_WITH(facts, fresh, nothing_left)
{
    cu->devices = 3;
    cu->memory = (size_t)80 << 30;
    capabilities();
    const char *const parts[] = {
        "{\"jit\": true, \"parallel\": true, \"gpu\": true, \"device_count\": 3, ",
        "{\"name\": \"Fake GPU 0\", \"vendor\": \"NVIDIA\"",
        "\"name\": \"Fake GPU 2\"",
        "\"cuda_version\": \"12.4\"",
        "\"runtime_version\": \"NVRTC 12.4\"",
        "\"compute_capability\": \"9.0\"",
        "\"warp_size\": 32",
        "\"compute_units\": 132",
        "\"clock_mhz\": 1980",
        "\"memory_total\": 85899345920",
        "\"cache_bytes\": 62914560",
        "\"local_memory\": 49152",
        "\"f64\": true, \"f16\": true",
        "\"uuid\": \"10111213-1415-1617-1819-1a1b1c1d1e1f\"",
        "\"pci\": \"0000:a1:00.0\"",
        "\"cublas\": \"off: Collet's own kernel multiplies matrices\"",
        "\"cufft\": \"off: transforms use Collet's own kernels\"",
        "\"cusolver\": \"off: decompositions use Collet's own kernels\"",
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_contains(json, parts[i]);
    /* Capabilities create no context. */
    assert_int_equal(cu->contexts, 0);
}

/* The fake NVML is loaded already, so the plugin finds it by its soname. */
TEST_WITH(facts_by_nvml, fresh, nothing_left)
{
    const int *opened = symbol_of(COLLET_TEST_FAKES "/libnvidia-ml.so.1", "fake_nvml_open");
    cu->devices = 2;
    capabilities();
    assert_contains(json, "\"driver_version\": \"550.54\"",
                    "\"memory_total\": 1048576, \"cache_bytes\"",
                    "\"memory_total\": 1048576, \"memory_free\": 23456,");
    assert_int_equal(*opened, 0);
}

/* libcore finds all devices. If the text does not fit its buffer, libcore repeats the call. */
TEST_WITH(several_in_libcore, fresh, nothing_left)
{
    const char *const settings[] = {"cache=off", "cuda.library=" FAKE_CUDA,
                                    "cuda.nvrtc=" FAKE_NVRTC, NULL};
    collet_runtime_options options = {
        .struct_size = sizeof options, .plugin_path = BACKENDS, .settings = settings};
    collet_runtime *rt = NULL;
    collet_context *cx = NULL;
    assert_good(collet_runtime_create(&rt, &options, &err));
    assert_good(collet_context_create(rt, &cx, &err));
    assert_int_equal(collet_set_backend(cx, "cuda:0"), COLLET_OK);
    assert_int_equal(collet_set_backend(cx, "cuda:5"), COLLET_UNAVAILABLE);
    collet_context_destroy(cx);
    collet_runtime_destroy(rt);
    uint64_t needed = 0;
    assert_good(plugin->capabilities(plugin, json, 10, &needed, &host, &err));
    assert_true(needed > 10);
}

TEST_GROUP(load_plugin, NULL)
