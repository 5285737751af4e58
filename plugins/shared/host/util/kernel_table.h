/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_table.h - the macros of kernels.def, the tables of kernels of the CPU backends. Only for
 * plugin.c, which includes its table (by kernel_table.inc, or itself) with definitions of
 *
 *   ROW(OP, run, signature...)           a kernel that accepts every call, without workspace
 *   ASK(OP, run, accepts, signature...)  one with `accepts`
 */
#ifndef PLUGINS_SHARED_HOST_UTIL_KERNEL_TABLE_H
#define PLUGINS_SHARED_HOST_UTIL_KERNEL_TABLE_H

#include <collet/plugin.h>

/* The letters of ops.def. */
#define H COLLET_F16
#define B COLLET_BF16
#define F COLLET_F32
#define D COLLET_F64
#define C COLLET_C64
#define Z COLLET_C128
#define I COLLET_I32
#define A COLLET_I8
#define U COLLET_U8

/* One row for each real type t, its signature SIG(t): REALS(ROW, SIG, OP, run) or
 * REALS(ASK, SIG, OP, run, accepts). NUMBERS: for each real and complex type. CONVERSIONS: from
 * every real type to every real type, and between complex types. */
#define ALONE(t) t
#define TWICE(t) t, t
#define REALS(row, SIG, ...) COLLET_EACH_REAL(REAL_ROW, row, SIG, __VA_ARGS__)
#define REAL_ROW(NAME, name, row, SIG, ...) row(__VA_ARGS__, SIG(COLLET_##NAME))
#define NUMBERS(row, SIG, ...)                                                                     \
    REALS(row, SIG, __VA_ARGS__) row(__VA_ARGS__, SIG(C)) row(__VA_ARGS__, SIG(Z))
#define CONVERSIONS(row, ...)                                                                      \
    COLLET_EACH_REAL(CONVERSIONS_TO, row, __VA_ARGS__)                                             \
    row(__VA_ARGS__, C, C) row(__VA_ARGS__, Z, Z) row(__VA_ARGS__, C, Z) row(__VA_ARGS__, Z, C)
#define CONVERSIONS_TO(NAME, name, row, ...)                                                       \
    COLLET_EACH_REAL_AGAIN(CONVERSION, COLLET_##NAME, row, __VA_ARGS__)
#define CONVERSION(NAME, name, to, row, ...) row(__VA_ARGS__, to, COLLET_##NAME)

#define UNARY(OP, run) ROW(OP, run, F, F) ROW(OP, run, D, D) ROW(OP, run, H, H) ROW(OP, run, B, B)
#define BINARY(OP, run) ROW(OP, run, F, F, F) ROW(OP, run, D, D, D)
#define ARITHMETIC(OP, run)                                                                        \
    BINARY(OP, run)                                                                                \
    ROW(OP, run, H, H, H) ROW(OP, run, B, B, B) ROW(OP, run, C, C, C) ROW(OP, run, Z, Z, Z)

#endif
