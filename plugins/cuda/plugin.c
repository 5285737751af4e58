/* SPDX-License-Identifier: Apache-2.0 */
#include <collet/extensions.h>

#include "shared/jit/array/array.h"
#include "shared/jit/fft/fft.h"
#include "shared/jit/linalg/linalg.h"
#include "shared/jit/md/md.h"
#include "shared/jit/random/random.h"
#include "shared/jit/scatter/scatter.h"
#include "shared/jit/ternary/ternary.h"
#include "cuda/runtime/backend.h"
#include "cuda/linalg/decompositions.h"
#include "cuda/fft/fft.h"
#include "cuda/linalg/matmul.h"
#include "shared/jit/texts.h"

COLLET_PLUGIN_MANIFEST("manifest.json");

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/* One line per family: the rows of plugins/shared/jit, some with this backend's functions. */
static const collet_kernel_row kernels[] = {
    JIT_ARRAY_ROWS,
    JIT_MD_ROWS,
    JIT_RANDOM_ROWS,
    JIT_SCATTER_ROWS,
    JIT_TERNARY_ROWS,
    JIT_LINALG_ROWS(cuda_matmul),
    JIT_DECOMPOSITION_ROWS(CUDA_DECOMPOSE),
    JIT_FFT_ROWS(cuda_fft),
};

/* ---- The plugin ------------------------------------------------------------------------------ */

static const collet_plugin plugin = {
    JIT_SLOTS,          .kernel_count = COUNT(kernels),    .name = "cuda", .version = "0.1.0",
    .kernels = kernels, .capabilities = cuda_capabilities,
};

static const collet_copy_extension copy = {sizeof copy, 0, jit_copy_between};
static const collet_memory_extension memory = {sizeof memory, 0, cuda_memory_stats,
                                               jit_memory_reset_peak};
static const collet_trim_extension trim = {sizeof trim, 0, cuda_trim};

static const jit_extension_table extensions[] = {
    {COLLET_EXTENSION_COPY, &copy},
    {COLLET_EXTENSION_MEMORY, &memory},
    {COLLET_EXTENSION_NATIVE, &cuda_native},
    {COLLET_EXTENSION_RECORD, &cuda_record},
    {COLLET_EXTENSION_PINNED, &cuda_pinned},
    {COLLET_EXTENSION_TIMING, &cuda_timing},
    {COLLET_EXTENSION_TRIM, &trim},
    {NULL, NULL},
};

const backend_facts this_backend = {
    .name = "cuda",
    .prelude = jit_text_language_prelude_cuda,
    .plugin = &plugin,
    .extensions = extensions,
    .device_bytes = sizeof(collet_device),
    .queue_bytes = sizeof(collet_queue),
};
