/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls a kernel without libcore, to measure the overhead of libcore's dispatch. No other tool uses plugin.h.
 */
#ifndef TOOLS_BENCH_OPS_DIRECT_H
#define TOOLS_BENCH_OPS_DIRECT_H

#include <collet/collet.h>
#include <collet/plugin.h>

typedef struct bench_direct {
    collet_host host; /* first member: a pointer to it is cast to bench_direct */
    const collet_runtime *runtime;
    int32_t threads;
    void *library;
    const collet_plugin *table;
    collet_device *device;
    const collet_kernel_row *row;
} bench_direct;

/*
 * Opens a device of the plugin file with another host table (and the runtime's settings) and finds the row of
 * `op` with `sig`. UNSUPPORTED if there is no such row, or if the device does not run kernels synchronously in
 * host memory. `device` is its number, its name, or "" for number 0. `d` must not move until
 * bench_direct_close, which must be called after a failure too.
 */
collet_status bench_direct_open(bench_direct *d, const collet_runtime *runtime, int32_t threads,
                                const char *path, const char *device, uint32_t op, uint64_t sig,
                                collet_error *err);
void bench_direct_close(bench_direct *d);

#endif
