/* SPDX-License-Identifier: Apache-2.0 */
/* program.h - the programs of a device, one for each source and options string, and their kernels.
 * A program is loaded from the disk cache (binary_cache.h) or compiled; a failed compilation is not
 * retried. */
#pragma once

#include "driver.h"

#define JIT_KERNELS 4096u

typedef struct jit_kernel {
    const jit_source *source;
    char *options, *name, *label; /* one allocation; "kernel NAME of SOURCE (OPTIONS)" */
    void *handle;
} jit_kernel;

/* An open hash table, at most half full. */
typedef struct jit_kernels {
    uint32_t count;
    jit_kernel kernels[JIT_KERNELS];
} jit_kernels;

/* Creates the kernel of a launch, and its program if needed. The caller holds the lock of the
 * programs. Returns COLLET_OK, REFUSED with the compiler's message, or DEVICE_LOST. */
collet_status jit_kernel_make(collet_device *device, const jit_launch *l, jit_kernel *kernel,
                              collet_error *err);

/* The launch's kernel in the table, or the empty entry for it, whose handle is NULL. */
jit_kernel *jit_kernels_at(jit_kernels *kernels, const jit_launch *l);
/* Inserts the launch's kernel, which must not be in the table yet. */
void jit_kernels_add(jit_kernels *kernels, const jit_launch *l, const jit_kernel *kernel);
/* Whether the table must be cleared before another kernel is added. */
static inline int jit_kernels_full(const jit_kernels *kernels)
{
    return kernels->count >= JIT_KERNELS / 2;
}
void jit_kernels_clear(collet_device *device, jit_kernels *kernels);

/* Unloads all programs. The caller holds the lock of the programs. */
void jit_programs_forget(collet_device *device);
/* The same, but takes the lock. */
void jit_programs_trim(collet_device *device);
