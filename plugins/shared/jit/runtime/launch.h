/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch.h - launches of kernels, for the host side of the op families (plugins/shared/jit/FAMILY). The host side
 * decides which kernel serves a call, on how many groups and with which arguments. It uses the
 * functions below and is compiled into each backend (driver.h). A backend may replace
 * the function of a row by its own, as plugins/cuda/linalg/matmul.c does with a vendor's library.
 *
 * A device source is plugins/shared/jit/FAMILY/NAME.dev; CMake embeds it in the plugin as text. It
 * is compiled at the first launch of one of its kernels, once for each options string, and its
 * binary is cached (binary_cache.h). Kernels are looked up by name.
 *
 *     static collet_status add(collet_device *device, collet_queue *queue,
 *                              const collet_kernel_call *call)
 *     {
 *         jit_launch l;
 *         jit_launch_begin(&l, &source, "-DTYPE=f32", "add");
 *         jit_pass_operand(&l, operand_of(call, 0));
 *         jit_pass_operand(&l, operand_of(call, 1));
 *         jit_pass_i64(&l, n);
 *         return jit_enqueue(device, queue, &l, groups, call->err);
 *     }
 *
 * The kernel is KERNEL(add)(GLOBAL f32 *out, i64 out_first, GLOBAL const f32 *a, i64 a_first, i64
 * n): an operand is two arguments, its buffer and the index of its first element, because the host
 * cannot do pointer arithmetic on OpenCL buffers.
 */
#pragma once

#include "shared/host/util/operand.h"
#include "driver.h"

/* The elementary functions of plugins/shared/formula, without the special functions. */
#define JIT_FUNCTIONS                                                                              \
    jit_text_language_reduction, jit_text_formula_functions_f32, jit_text_formula_functions_f64

/* An initialiser of a jit_source: the name, then the texts. */
#define JIT_SOURCE(name, ...)                                                                      \
    {                                                                                              \
        name, (const char *const[]){__VA_ARGS__, NULL}, NULL                                       \
    }

/* ---- Launches ------------------------------------------------------------------------------ */

/*
 * `options`: further options of the compiler, such as "-DTYPE=f32 -DN=4", or "". Each options string is
 * compiled as a separate program, so there should be few options strings, and short ones. A launch with more than
 * JIT_ARGUMENTS arguments fails.
 */
void jit_launch_begin(jit_launch *l, const jit_source *source, const char *options,
                      const char *kernel);

/* Passes the buffer and the index of the first element; for an absent operand, a null pointer and 0. */
void jit_pass_operand(jit_launch *l, const collet_operand *o);
/* Passes the first `count` operands of a call. */
void jit_pass_operands(jit_launch *l, const collet_kernel_call *call, uint32_t count);
/* Passes a buffer, such as call->workspace; NULL passes a null pointer. */
void jit_pass_buffer(jit_launch *l, void *buffer);
void jit_pass_i32(jit_launch *l, int32_t value);
void jit_pass_i64(jit_launch *l, int64_t value);
void jit_pass_u64(jit_launch *l, uint64_t value);
void jit_pass_f32(jit_launch *l, float value);
void jit_pass_f64(jit_launch *l, double value);
/* Passes a value of `size` (1 .. 16) bytes, which are copied. */
void jit_pass_value(jit_launch *l, const void *value, uint32_t size);
/* Passes several i64. */
#define jit_pass_i64s(l, ...)                                                                      \
    jit_pass_i64_list(l, (const int64_t[]){__VA_ARGS__},                                           \
                      sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
void jit_pass_i64_list(jit_launch *l, const int64_t *values, size_t count);
/* Passes a struct of any size by value; `block` must stay valid until the launch is enqueued. */
void jit_pass_block(jit_launch *l, const void *block, uint32_t size);

/* Enqueues the launch on `groups` groups; with 0 groups it does nothing. Returns COLLET_OK, DEVICE_LOST or REFUSED:
 * nothing was enqueued, because the program did not compile or the device is out of resources. A later
 * failure is reported by the queue's next wait, with the kernel's name. */
collet_status jit_enqueue(collet_device *device, collet_queue *queue, const jit_launch *l,
                          uint64_t groups, collet_error *err);

/* The launches of a call. */
typedef struct jit_sequence {
    collet_device *device;
    collet_queue *queue;
    const collet_kernel_call *call;
    const struct jit_traits *traits;
    collet_status status;
    int launched;
} jit_sequence;

jit_sequence jit_sequence_of(collet_device *device, collet_queue *queue,
                             const collet_kernel_call *call);
/* Like jit_enqueue, but stores the status in s->status; after the first launch, FAILED replaces REFUSED. Does
 * nothing after a failure. */
void jit_sequence_enqueue(jit_sequence *s, const jit_launch *l, uint64_t groups);

/* ---- Extents ------------------------------------------------------------------------------- */

/* Whether the operand is contiguous in C order. */
int jit_contiguous(const collet_operand *o);

/* n / d rounded up. */
static inline uint64_t jit_ceiling(uint64_t n, uint64_t d)
{
    return n / d + (n % d != 0);
}

/* The number of groups for n elements if an item has one element. */
static inline uint64_t jit_groups(const jit_traits *t, uint64_t n)
{
    return jit_ceiling(n, t->group);
}
