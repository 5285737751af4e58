/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - the programs of a device, one for each source and text of options, and the kernels in
 * them. A program comes from the disk (binary_cache.h) or is compiled; what does not compile is not
 * compiled again.
 */
#ifndef COLLET_JIT_RUNTIME_PROGRAM_H
#define COLLET_JIT_RUNTIME_PROGRAM_H

#include "base.h"

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

/* Under the lock of the programs: makes the kernel of a launch, and its program where there is
 * none. REFUSED with the compiler's words; DEVICE_LOST. */
collet_status jit_kernel_make(collet_device *device, const jit_launch *l, jit_kernel *kernel,
                              collet_error *err);

/* The launch's kernel, or the place for it, whose handle is NULL. */
jit_kernel *jit_kernels_at(jit_kernels *kernels, const jit_launch *l);
/* Puts a kernel that was made for the launch, and is not there yet, in its place. */
void jit_kernels_add(jit_kernels *kernels, const jit_launch *l, const jit_kernel *kernel);
/* Whether they have to be cleared before one more is added. */
static inline int jit_kernels_full(const jit_kernels *kernels)
{
    return kernels->count >= JIT_KERNELS / 2;
}
void jit_kernels_clear(collet_device *device, jit_kernels *kernels);

/* Under the lock of the programs: releases them all. */
void jit_programs_release(collet_device *device);
/* Locks, and jit_programs_forget. */
void jit_programs_trim(collet_device *device);

/* ---- What a backend implements, under the lock of the programs ------------------------------- */

/* Makes room: jit_programs_release, and what has to go before programs do. */
void jit_programs_forget(collet_device *device);
/* A binary that was kept; NULL: the driver does not take it. */
void *jit_program_load(collet_device *device, const void *binary, uint64_t bytes,
                       const char *options);
/* Compiles `count` texts, prelude first, and keeps the binary under `key` (binary_cache_put; NULL:
 * not). REFUSED with the compiler's words; DEVICE_LOST. */
collet_status jit_program_compile(collet_device *device, const char *name, const char *const *texts,
                                  uint32_t count, const char *options, const char *key,
                                  void **handle, collet_error *err);
void jit_program_unload(collet_device *device, void *handle);
/* The kernel `name` of a program; NULL, with the driver's word for why. */
void *jit_kernel_open(collet_device *device, void *program, const char *name, char why[160]);
void jit_kernel_close(collet_device *device, void *handle);

#endif
