/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cuda/test_cuda_capabilities.c */
#include "shared/host/util/plugin_head.h"
#include "cuda/runtime/backend.h"
#include "cuda/ways.h"
#include "shared/jit/texts.h"

COLLET_PLUGIN_MANIFEST("manifest.json");

#include "rows/cuda.inc"

static const jit_extension_table extensions[] = {
    {COLLET_EXTENSION_EXPLAIN, &cuda_explain},
    {COLLET_EXTENSION_NATIVE, &cuda_native},
    {COLLET_EXTENSION_PINNED, &cuda_pinned},
    {COLLET_EXTENSION_TIMING, &cuda_timing},
    {NULL, NULL},
};

static const jit_driver driver = {
    .plugin = {PLUGIN_HEAD("cuda", kernels), JIT_SLOTS, .capabilities = cuda_capabilities},
    .prelude = jit_text_language_prelude_cuda,
    .extensions = extensions,
    .device_bytes = sizeof(collet_device),
    .queue_bytes = sizeof(collet_queue),
    .device = &cuda_devices,
    .memory = &cuda_memory,
    .programs = &cuda_programs,
    .queue = &cuda_queues,
    .copy = &cuda_copies,
    .launch = cuda_launch,
};

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    return host->abi >> 16 == COLLET_ABI_MAJOR ? &driver.plugin : NULL;
}
