/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - macros for rows of a family's table of kernels: JIT_ROW(OP, run, types...), outputs
 * first, the kernel being jit_<run>; JIT_ROW_ACCEPTS has jit_<run>_accepts too. Types are
 * written as H (f16), B (bf16), F, D, C (c64), Z (c128), I8, U8, I32, I64, or by their constants
 * where a list names them.
 */
#ifndef PLUGINS_SHARED_JIT_RUNTIME_ROWS_H
#define PLUGINS_SHARED_JIT_RUNTIME_ROWS_H

#include <collet/plugin.h>

/* The functions of a row, as in plugin.h; families declare theirs with these types. */
typedef collet_status jit_run(collet_device *device, collet_queue *queue,
                              const collet_kernel_call *call);
typedef collet_status jit_accepts(collet_device *device, const collet_kernel_call *call,
                                  uint64_t *workspace_bytes);

#define JIT_TYPE_H COLLET_F16
#define JIT_TYPE_B COLLET_BF16
#define JIT_TYPE_F COLLET_F32
#define JIT_TYPE_D COLLET_F64
#define JIT_TYPE_C COLLET_C64
#define JIT_TYPE_Z COLLET_C128
#define JIT_TYPE_I8 COLLET_I8
#define JIT_TYPE_U8 COLLET_U8
#define JIT_TYPE_I32 COLLET_I32
#define JIT_TYPE_I64 COLLET_I64
#define JIT_TYPE_0 0

/* No signature of ops.def has more than ten operands. */
#define JIT_SIG_10(a, b, c, d, e, f, g, h, i, j, ...)                                              \
    COLLET_SIG(JIT_TYPE_##a, JIT_TYPE_##b, JIT_TYPE_##c, JIT_TYPE_##d, JIT_TYPE_##e, JIT_TYPE_##f, \
               JIT_TYPE_##g, JIT_TYPE_##h, JIT_TYPE_##i, JIT_TYPE_##j)
#define JIT_SIG(...) JIT_SIG_10(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

#define JIT_ROW(OP, run, ...) COLLET_ROW(OP, JIT_SIG(__VA_ARGS__), jit_##run, NULL)
#define JIT_ROW_ACCEPTS(OP, run, ...)                                                              \
    COLLET_ROW(OP, JIT_SIG(__VA_ARGS__), jit_##run, jit_##run##_accepts)
/* A row with a backend's functions `run` and run_accepts, jit_<...> or another. */
#define JIT_ROW_BY(OP, run, ...) JIT_ROW_BY_(OP, run, __VA_ARGS__)
#define JIT_ROW_BY_(OP, run, ...) COLLET_ROW(OP, JIT_SIG(__VA_ARGS__), run, run##_accepts)

/* For the parameter `by` of families' rows: the kernel jit_NAME. */
#define JIT_OWN(name) jit_##name

/*
 * Whether a device with these traits serves a row: arithmetic in f64 and c128 needs f64 (moves do
 * not), and f32 square roots and quotients must be correctly rounded.
 */
struct jit_traits;
int jit_row_runs(const struct jit_traits *t, uint32_t op, uint64_t sig);

#endif
