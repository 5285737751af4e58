/* SPDX-License-Identifier: Apache-2.0 */
#include "shared/jit/array/array.h"
#include "shared/jit/fft/fft.h"
#include "shared/jit/linalg/linalg.h"
#include "shared/jit/md/md.h"
#include "shared/jit/random/random.h"
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
    JIT_TERNARY_ROWS,
    JIT_LINALG_ROWS(cuda_matmul),
    JIT_DECOMPOSITION_ROWS(CUDA_DECOMPOSE),
    JIT_FFT_ROWS(cuda_fft),
};

/* ---- The plugin ------------------------------------------------------------------------------ */

static const collet_plugin plugin = {
    .abi = COLLET_ABI,
    .struct_size = sizeof(collet_plugin),
    .kernel_count = COUNT(kernels),
    .kernel_size = sizeof(collet_kernel_row),
    .name = "cuda",
    .version = "0.1.0",
    .kernels = kernels,
    .capabilities = cuda_capabilities,
    .device_open = jit_device_open,
    .device_close = jit_device_close,
    .device_supports = jit_device_supports,
    .buffer_alloc = jit_buffer_alloc,
    .buffer_free = jit_buffer_free,
    .buffer_write = jit_buffer_write,
    .buffer_read = jit_buffer_read,
    .buffer_copy = cuda_buffer_copy,
    .buffer_fill = cuda_buffer_fill,
    .queue_create = jit_queue_create,
    .queue_destroy = jit_queue_destroy,
    .queue_wait = jit_queue_wait,
    .event_create = cuda_event_create,
    .event_destroy = cuda_event_destroy,
    .event_record = cuda_event_record,
    .event_query = cuda_event_query,
    .event_wait = cuda_event_wait,
    .queue_wait_event = cuda_queue_wait_event,
    .event_elapsed = cuda_event_elapsed,
    .memory_stats = cuda_memory_stats,
    .host_alloc = cuda_host_alloc,
    .host_free = cuda_host_free,
    .buffer_import = jit_pool_import,
    .native_handle = cuda_native_handle,
    .trim = cuda_trim,
    .buffer_copy_between = jit_copy_between,
};

const backend_facts this_backend = {
    .name = "cuda",
    .prelude = jit_text_language_prelude_cuda,
    .plugin = &plugin,
    .device_bytes = sizeof(collet_device),
    .queue_bytes = sizeof(collet_queue),
};
