/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cuda/test_cuda_capabilities.c, tests/cuda/test_cuda_ways.c */
#include "shared/host/util/plugin_head.h"
#include "cuda/runtime/backend.h"
#include "cuda/runtime/ways.h"
#include "shared/jit/texts.h"

COLLET_PLUGIN_MANIFEST("manifest.json");

#include "rows/cuda.inc"

/* Reports which implementation computes a call, and why: collet.explain/1. */
static void explain(collet_device *d, const collet_kernel_call *call, char *words,
                    uint64_t capacity)
{
    text out = {.at = words, .capacity = capacity};
    words[0] = '\0';
    if (call->op == COLLET_OP_MATMUL)
        cuda_explain_matmul(d, call, &out);
    else if (call->op == COLLET_OP_FFT)
        cuda_explain_fft(d, call, &out);
    else if (call->op == COLLET_OP_LU || call->op == COLLET_OP_SOLVE || call->op == COLLET_OP_QR ||
             call->op == COLLET_OP_SVD || call->op == COLLET_OP_EIGH ||
             call->op == COLLET_OP_CHOLESKY)
        cuda_explain_decomposition(d, call, &out);
}

static const collet_explain_extension explained = {sizeof explained, 0, explain};

static const jit_extension_table extensions[] = {
    {COLLET_EXTENSION_BATCH, &cuda_batches}, {COLLET_EXTENSION_EXPLAIN, &explained},
    {COLLET_EXTENSION_NATIVE, &cuda_native}, {COLLET_EXTENSION_PINNED, &cuda_pinned},
    {COLLET_EXTENSION_TIMING, &cuda_timing}, {NULL, NULL},
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
