/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - macros that declare the functions of rows in the table of kernels, and which rows a device supports. */
#pragma once

#include <collet/plugin.h>

/* The functions of a row, as in plugin.h; families declare their functions with these types. */
typedef collet_status jit_run(collet_device *device, collet_queue *queue,
                              const collet_kernel_call *call);
typedef collet_status jit_accepts(collet_device *device, const collet_kernel_call *call,
                                  uint64_t *workspace_bytes);

/* Declares jit_<name>, a function collet_kernel_row.run; before a function body, the macro defines it. kernels.txt
 * says which ops it runs. */
#define JIT_KERNEL(name)                                                                           \
    jit_run jit_##name;                                                                            \
    collet_status jit_##name(collet_device *device, collet_queue *queue,                           \
                             const collet_kernel_call *call)

/* The same for a row's `accepts`. */
#define JIT_ACCEPTS(name)                                                                          \
    jit_accepts jit_##name##_accepts;                                                              \
    collet_status jit_##name##_accepts(collet_device *device, const collet_kernel_call *call,      \
                                       uint64_t *workspace_bytes)

/* Whether a device with these traits runs a row. A device without f64 runs ops that only copy, reorder or compare elements
 * (the list in rows.c) for every dtype, no other op of f64 or c128, and no op that computes other dtypes in f64. If
 * it does not round square roots and quotients of f32 correctly either, it runs no other op that needs these. */
struct jit_traits;
int jit_row_runs(const struct jit_traits *t, uint32_t op, uint64_t sig);
