/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_call.h - calls the kernel rows of a built plugin directly, without libcore, to test the
 * kernel alone. Include it in one file per program.
 *
 *   CALL(COM, 1, ARRAY(com, F64, 1, 3), ARRAY(r, F32, 1, 2, 3), ARRAY(m, F64, 2));
 *   EXPECT(com, 3, 1e-15, 3, 5, 0);
 *
 * CALL(OP, number of outputs, operands...) asserts that the row with these dtypes returns
 * COLLET_OK. EXPECT(got, n, tolerance, numbers...) compares doubles; NaN matches NaN. Set-up and
 * tear-down of the group are open_plugin and close_plugin. open_plugin loads the built plugin
 * KERNEL_PLUGIN (default cpu_scalar), which uses `host_threads` threads and the setting
 * isa = `host_isa`.
 */
#ifndef TESTS_COMMON_KERNEL_CALL_H
#define TESTS_COMMON_KERNEL_CALL_H

#include <math.h>
#include <stdlib.h>

#include "fake_host.h"

#ifndef KERNEL_PLUGIN
#define KERNEL_PLUGIN "cpu_scalar"
#endif

static collet_device *device;
static const char *host_isa;
static const host_setting kernel_settings[] = {{"isa", &host_isa}, {NULL, NULL}};

static collet_operand dense(void *data, collet_dtype dtype, int32_t ndim, const int64_t *shape,
                            int64_t *strides)
{
    int64_t step = 1;
    for (int32_t i = ndim - 1; i >= 0; i--) {
        strides[i] = step;
        step *= shape[i];
    }
    return (collet_operand){data, 0, dtype, ndim, shape, strides};
}

/* A C-contiguous operand; valid within the enclosing block. */
#define AXES(...) ((int32_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)))
#define ARRAY(data, dtype, ...)                                                                    \
    dense((void *)(uintptr_t)(data), COLLET_##dtype, AXES(__VA_ARGS__), (int64_t[]){__VA_ARGS__},  \
          (int64_t[8]){0})
#define SCALAR(data, dtype)                                                                        \
    dense((void *)(uintptr_t)(data), COLLET_##dtype, 0, (int64_t[1]){0}, (int64_t[1]){0})
#define ABSENT ((collet_operand){0})

static int row_fits(const collet_kernel_row *row, uint32_t op, const collet_operand *o, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        collet_dtype dtype = (collet_dtype)(row->sig >> (i * COLLET_SIG_BITS) & 31);
        if (o[i].dtype != COLLET_DTYPE_NONE && o[i].dtype != dtype)
            return 0;
    }
    return row->op == op;
}

/* Runs the row, if it accepts the call, with the workspace that it asks for. */
static collet_status run_row(const collet_kernel_row *row, collet_kernel_call *call)
{
    uint64_t bytes = 0;
    collet_status accepted = host_ask(row, device, call, &bytes);
    if (accepted != COLLET_OK)
        return accepted;
    void *workspace = bytes ? aligned_alloc(64, (bytes + 63) / 64 * 64) : NULL;
    if (bytes && !workspace)
        return COLLET_NO_MEMORY;
    call->workspace = workspace;
    call->workspace_bytes = bytes;
    collet_status status = row->run(device, NULL, call);
    free(workspace);
    return status;
}

static collet_status call_status(uint32_t op, uint32_t n_out, uint32_t n, const collet_operand *o,
                                 const void *params, size_t params_size)
{
    collet_error err;
    for (uint32_t i = 0; i < plugin->kernel_count; i++) {
        const collet_kernel_row *row = &plugin->kernels[i];
        if (!row_fits(row, op, o, n))
            continue;
        collet_kernel_call call = {
            .struct_size = sizeof call,
            .op = op,
            .sig = row->sig,
            .n_out = n_out,
            .n_in = n - n_out,
            .operand_size = sizeof *o,
            .params_size = (uint32_t)params_size,
            .operands = o,
            .params = params,
            .err = &err,
        };
        return run_row(row, &call);
    }
    return COLLET_UNSUPPORTED;
}

#define CALL(OP, n_out, ...) CALL_WITH(OP, n_out, NULL, 0, __VA_ARGS__)
#define CALL_WITH(OP, n_out, params, params_size, ...)                                             \
    do {                                                                                           \
        const collet_operand operands_[] = {__VA_ARGS__};                                          \
        assert_int_equal(COLLET_OK, call_status(COLLET_OP_##OP, n_out,                             \
                                                sizeof operands_ / sizeof operands_[0], operands_, \
                                                params, params_size));                             \
    } while (0)

static inline void assert_doubles(const double *got, const double *expected, int n,
                                  double tolerance)
{
    for (int i = 0; i < n; i++) {
        if (!(fabs(got[i] - expected[i]) <= tolerance) && !(isnan(got[i]) && isnan(expected[i])) &&
            !(isinf(expected[i]) && got[i] == expected[i]))
            fail_msg("element %d is %.17g, not %.17g", i, got[i], expected[i]);
    }
}

#define EXPECT(got, n, tolerance, ...)                                                             \
    assert_doubles(got, (const double[]){__VA_ARGS__}, n, tolerance)

static int open_plugin(void **state)
{
    collet_error err;
    host_settings = kernel_settings;
    if (load_plugin_file(COLLET_TEST_PLUGINS "/" KERNEL_PLUGIN ".so"))
        return -1;
    return host_open(0, &device, &err) == COLLET_OK ? 0 : -1;
}

static int close_plugin(void **state)
{
    plugin->device_close(device);
    return 0;
}

#endif
