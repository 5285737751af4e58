/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - the programs of a device, one for each source and text of options, and the kernels in
 * them. A program comes from the disk (binary_cache.h) or is compiled; what does not compile is not
 * compiled again.
 */
#ifndef COLLET_JIT_RUNTIME_PROGRAM_H
#define COLLET_JIT_RUNTIME_PROGRAM_H

#include <pthread.h>

#include "launch.h"

/* What is kept; there is room again after device_programs_forget. */
#define DEVICE_PROGRAMS 1024u
#define DEVICE_KERNELS 4096u

typedef struct device_program {
    const device_source *source;
    char *options;
    void *handle; /* NULL: it does not compile, */
    char *why;    /* as told then */
} device_program;

typedef struct device_programs {
    pthread_mutex_t lock; /* held while anything is compiled */
    uint32_t count;
    device_program programs[DEVICE_PROGRAMS];
} device_programs;

typedef struct device_kernel {
    const device_source *source;
    char *options, *name, *label; /* one allocation; "kernel NAME of SOURCE (OPTIONS)" */
    void *handle;
} device_kernel;

/* An open hash table, at most half full. */
typedef struct device_kernels {
    uint32_t count;
    device_kernel kernels[DEVICE_KERNELS];
} device_kernels;

/* Under the lock of the programs: makes the kernel of a launch, and its program where there is
 * none. REFUSED with the compiler's words; DEVICE_LOST. */
collet_status device_kernel_make(collet_device *device, const device_launch *l,
                                 device_kernel *kernel, collet_error *err);

/* The launch's kernel, or the place for it, whose handle is NULL. */
device_kernel *device_kernels_at(device_kernels *kernels, const device_launch *l);
/* Puts a kernel that was made for the launch, and is not there yet, in its place. */
void device_kernels_add(device_kernels *kernels, const device_launch *l,
                        const device_kernel *kernel);
/* Whether they have to be cleared before one more is added. */
static inline int device_kernels_full(const device_kernels *kernels)
{
    return kernels->count >= DEVICE_KERNELS / 2;
}
void device_kernels_clear(collet_device *device, device_kernels *kernels);

/* Under the lock of the programs: releases them all. */
void device_programs_release(collet_device *device);
/* Locks, and device_programs_forget. */
void device_programs_trim(collet_device *device);

/* ---- What a backend implements, under the lock of the programs ------------------------------- */

/* Makes room: device_programs_release, and what has to go before programs do. */
void device_programs_forget(collet_device *device);
/* A binary that was kept; NULL: the driver does not take it. */
void *device_program_load(collet_device *device, const void *binary, uint64_t bytes,
                          const char *options);
/* Compiles `count` texts, prelude first, and keeps the binary under `key` (binary_cache_put; NULL:
 * not). REFUSED with the compiler's words; DEVICE_LOST. */
collet_status device_program_compile(collet_device *device, const char *name,
                                     const char *const *texts, uint32_t count, const char *options,
                                     const char *key, void **handle, collet_error *err);
void device_program_unload(collet_device *device, void *handle);
/* The kernel `name` of a program; NULL, with the driver's word for why. */
void *device_kernel_open(collet_device *device, void *program, const char *name, char why[160]);
void device_kernel_close(collet_device *device, void *handle);

#endif
