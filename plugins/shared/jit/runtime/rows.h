/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - how the families write their rows: DEVICE_ROW(OP, run, types...), outputs first, the
 * kernel being device_<run>; DEVICE_ROW_WORKSPACE has device_<run>_workspace too. Types are written
 * as H (f16), B (bf16), F, D, C (c64), Z (c128), I8, U8, I32, U32, I64, U64.
 */
#ifndef COLLET_JIT_RUNTIME_ROWS_H
#define COLLET_JIT_RUNTIME_ROWS_H

#include <collet/plugin.h>

#define DEVICE_TYPE_H COLLET_F16
#define DEVICE_TYPE_B COLLET_BF16
#define DEVICE_TYPE_F COLLET_F32
#define DEVICE_TYPE_D COLLET_F64
#define DEVICE_TYPE_C COLLET_C64
#define DEVICE_TYPE_Z COLLET_C128
#define DEVICE_TYPE_I8 COLLET_I8
#define DEVICE_TYPE_U8 COLLET_U8
#define DEVICE_TYPE_I32 COLLET_I32
#define DEVICE_TYPE_U32 COLLET_U32
#define DEVICE_TYPE_I64 COLLET_I64
#define DEVICE_TYPE_U64 COLLET_U64
#define DEVICE_TYPE_0 0

/* No signature of ops.def has more than nine operands. */
#define DEVICE_SIG_9(a, b, c, d, e, f, g, h, i, ...)                                               \
    COLLET_SIG(DEVICE_TYPE_##a, DEVICE_TYPE_##b, DEVICE_TYPE_##c, DEVICE_TYPE_##d,                 \
               DEVICE_TYPE_##e, DEVICE_TYPE_##f, DEVICE_TYPE_##g, DEVICE_TYPE_##h,                 \
               DEVICE_TYPE_##i)
#define DEVICE_SIG(...) DEVICE_SIG_9(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0, 0)

#define DEVICE_ROW(OP, run, ...)                                                                   \
    {                                                                                              \
        COLLET_OP_##OP, 0, DEVICE_SIG(__VA_ARGS__), device_##run, NULL                             \
    }
#define DEVICE_ROW_WORKSPACE(OP, run, ...)                                                         \
    {                                                                                              \
        COLLET_OP_##OP, 0, DEVICE_SIG(__VA_ARGS__), device_##run, device_##run##_workspace         \
    }
/* The kernel `run` and run_workspace of a backend's own, device_<...> or another. */
#define DEVICE_ROW_BY(OP, run, ...)                                                                \
    {                                                                                              \
        COLLET_OP_##OP, 0, DEVICE_SIG(__VA_ARGS__), run, run##_workspace                           \
    }

/*
 * Whether a device with these traits serves a row: f64 and c128 are computed with only where it has
 * f64 (they are moved anywhere), and roots and quotients of f32 only where they come out exact.
 */
struct device_traits;
int device_row_runs(const struct device_traits *t, uint32_t op, uint64_t sig);

#endif
