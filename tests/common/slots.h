/* SPDX-License-Identifier: Apache-2.0 */
/* slots.h - calls slots of a device backend directly; failed assertions print its error text. */
#ifndef TESTS_COMMON_SLOTS_H
#define TESTS_COMMON_SLOTS_H

#include "common/test.h"
#include "common/fake_host.h"

static collet_error err;

#define assert_status_is(got, expected)                                                            \
    do {                                                                                           \
        collet_status got_ = (got);                                                                \
        if (got_ != (expected))                                                                    \
            print_error("%s:%d: status %d, text '%s'\n", __FILE__, __LINE__, (int)got_, err.text); \
        assert_int_equal(got_, expected);                                                          \
    } while (0)
#define assert_good(got) assert_status_is(got, COLLET_OK)

static inline collet_device *open_device(uint32_t index)
{
    collet_device *device = NULL;
    assert_good(host_open(index, &device, &err));
    return device;
}

static inline const collet_copy_extension *copies(collet_device *d)
{
    return plugin->extension(d, COLLET_EXTENSION_COPY);
}

static inline const collet_native_extension *natives(collet_device *d)
{
    return plugin->extension(d, COLLET_EXTENSION_NATIVE);
}

static inline collet_queue *new_queue(collet_device *d)
{
    collet_queue *queue = NULL;
    assert_good(plugin->queue_create(d, &queue, &err));
    return queue;
}

/* Waits for everything enqueued so far. */
static inline collet_status wait_all(collet_device *d, collet_queue *queue)
{
    return plugin->queue_wait(d, queue, plugin->queue_mark(d, queue), -1, &err);
}

static inline collet_buffer *new_buffer(collet_device *d, uint64_t bytes)
{
    collet_buffer *buffer = NULL;
    assert_good(plugin->buffer_alloc(d, &buffer, bytes, &err));
    return buffer;
}

/* Fills the first `bytes` bytes with floats `value`. */
static inline collet_status write_floats(collet_device *d, collet_queue *queue, collet_buffer *b,
                                         uint64_t bytes, float value)
{
    float *values = malloc(bytes);
    assert_non_null(values);
    for (uint64_t i = 0; i < bytes / sizeof value; i++)
        values[i] = value;
    collet_status status = plugin->buffer_write(d, queue, b, 0, values, bytes, &err);
    free(values);
    return status;
}

/* Called between the row's `accepts` and its `run`; NULL: nothing is called. */
static void (*before_run)(void);

/* Runs the row of the call, with the workspace that it asks for. */
static inline collet_status run_call(collet_device *d, collet_queue *q, collet_kernel_call *call)
{
    const collet_kernel_row *row = plugin->kernels, *end = row + plugin->kernel_count;
    collet_buffer *workspace = NULL;
    while (row < end && (row->op != call->op || row->sig != call->sig))
        row++;
    if (row == end)
        fail_msg("kernel row not found");
    collet_status status = host_ask(row, d, call, &call->workspace_bytes);
    if (before_run)
        before_run();
    if (status == COLLET_OK && call->workspace_bytes)
        status = plugin->buffer_alloc(d, &workspace, call->workspace_bytes, &err);
    call->workspace = workspace;
    if (status == COLLET_OK)
        status = row->run(d, q, call);
    plugin->buffer_free(d, workspace);
    return status;
}

/* Runs the row (op, sig) on its operands, outputs first. */
static inline collet_status run_with(collet_device *d, collet_queue *q, uint32_t op, uint64_t sig,
                                     uint32_t n_out, const collet_operand *operands,
                                     const void *params, uint32_t params_size)
{
    collet_kernel_call call = {.struct_size = sizeof call,
                               .op = op,
                               .sig = sig,
                               .n_out = n_out,
                               .operand_size = sizeof *operands,
                               .params_size = params_size,
                               .operands = operands,
                               .params = params,
                               .err = &err};
    while (sig >> (n_out + call.n_in) * COLLET_SIG_BITS)
        call.n_in++;
    return run_call(d, q, &call);
}

static inline collet_status run_row(collet_device *d, collet_queue *q, uint32_t op, uint64_t sig,
                                    const collet_operand *operands)
{
    return run_with(d, q, op, sig, 1, operands, NULL, 0);
}

/* out = a + b of n f32. */
static inline collet_status add(collet_device *d, collet_queue *q, collet_buffer *out,
                                collet_buffer *a, collet_buffer *b, int64_t n)
{
    const int64_t step = 1;
    const collet_operand operands[] = {{out, 0, COLLET_F32, 1, &n, &step},
                                       {a, 0, COLLET_F32, 1, &n, &step},
                                       {b, 0, COLLET_F32, 1, &n, &step}};
    return run_row(d, q, COLLET_OP_ADD, COLLET_SIG(COLLET_F32, COLLET_F32, COLLET_F32), operands);
}

#endif
