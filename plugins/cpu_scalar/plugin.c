/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

#include <stdlib.h>
#include <string.h>

COLLET_PLUGIN_MANIFEST("manifest.json");

/* Bounds of the plans that a device keeps. */
#define PLANS 32
#define PLAN_BYTES (64u << 20)

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/* ---- The table of kernels ---------------------------------------------------------------- */

#define ROW(OP, run, ...)                                                                          \
    {                                                                                              \
        COLLET_OP_##OP, 0, COLLET_SIG(__VA_ARGS__), scalar_##run, NULL                             \
    }

/* The same, with a workspace of its own. */
#define ROOM(OP, run, ...)                                                                         \
    {                                                                                              \
        COLLET_OP_##OP, 0, COLLET_SIG(__VA_ARGS__), scalar_##run, scalar_##run##_workspace         \
    }

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

/* One row for each real type t, its signature SIG(t). */
#define REALS(OP, run, SIG)                                                                        \
    ROW(OP, run, SIG(COLLET_F16)), ROW(OP, run, SIG(COLLET_BF16)), ROW(OP, run, SIG(COLLET_F32)),  \
        ROW(OP, run, SIG(COLLET_F64)), ROW(OP, run, SIG(COLLET_I8)), ROW(OP, run, SIG(COLLET_U8)), \
        ROW(OP, run, SIG(COLLET_I32)), ROW(OP, run, SIG(COLLET_U32)),                              \
        ROW(OP, run, SIG(COLLET_I64)), ROW(OP, run, SIG(COLLET_U64))

#define ALONE(t) t
#define TWICE(t) t, t
#define TO_F16(t) COLLET_F16, t
#define TO_BF16(t) COLLET_BF16, t
#define TO_F32(t) COLLET_F32, t
#define TO_F64(t) COLLET_F64, t
#define TO_I8(t) COLLET_I8, t
#define TO_U8(t) COLLET_U8, t
#define TO_I32(t) COLLET_I32, t
#define TO_U32(t) COLLET_U32, t
#define TO_I64(t) COLLET_I64, t
#define TO_U64(t) COLLET_U64, t

#define UNARY(OP, run)                                                                             \
    ROW(OP, run, F, F), ROW(OP, run, D, D), ROW(OP, run, H, H), ROW(OP, run, B, B)
#define BINARY(OP, run) ROW(OP, run, F, F, F), ROW(OP, run, D, D, D)
#define ARITHMETIC(OP, run)                                                                        \
    BINARY(OP, run), ROW(OP, run, H, H, H), ROW(OP, run, B, B, B), ROW(OP, run, C, C, C),          \
        ROW(OP, run, Z, Z, Z)

static const collet_kernel_row kernels[] = {
    REALS(FILL, fill, ALONE),
    ROW(FILL, fill, C),
    ROW(FILL, fill, Z),
    REALS(COPY, copy, TO_F16),
    REALS(COPY, copy, TO_BF16),
    REALS(COPY, copy, TO_F32),
    REALS(COPY, copy, TO_F64),
    REALS(COPY, copy, TO_I8),
    REALS(COPY, copy, TO_U8),
    REALS(COPY, copy, TO_I32),
    REALS(COPY, copy, TO_U32),
    REALS(COPY, copy, TO_I64),
    REALS(COPY, copy, TO_U64),
    ROW(COPY, copy, C, C),
    ROW(COPY, copy, Z, Z),
    ROW(COPY, copy, C, Z),
    ROW(COPY, copy, Z, C),
    ARITHMETIC(ADD, add),
    ARITHMETIC(SUB, sub),
    ARITHMETIC(MUL, mul),
    ARITHMETIC(DIV, div),
    UNARY(EXP, exp),
    UNARY(LOG, log),
    UNARY(SQRT, sqrt),
    UNARY(SIN, sin),
    UNARY(COS, cos),
    UNARY(TANH, tanh),
    UNARY(NEG, neg),
    UNARY(ABS, abs),
    ROW(ABS, abs, F, C),
    ROW(ABS, abs, D, Z),
    ROW(CONJ, conj, C, C),
    ROW(CONJ, conj, Z, Z),
    BINARY(AXPY, axpy),
    REALS(TRANSPOSE, transpose, TWICE),
    ROW(TRANSPOSE, transpose, C, C),
    ROW(TRANSPOSE, transpose, Z, Z),
    ROW(SUM, sum, F, F),
    ROW(SUM, sum, D, D),
    ROW(SUM, sum, D, F),
    ROW(SUM, sum, C, C),
    ROW(SUM, sum, Z, Z),
    ROW(MEAN, mean, F, F),
    ROW(MEAN, mean, D, D),
    ROW(MEAN, mean, D, F),
    ROW(MIN, min, F, F),
    ROW(MIN, min, D, D),
    ROW(MAX, max, F, F),
    ROW(MAX, max, D, D),
    BINARY(MATMUL, matmul),
    ROW(MATMUL, matmul, H, H, H),
    ROW(MATMUL, matmul, F, H, H),
    ROW(MATMUL, matmul, B, B, B),
    ROW(MATMUL, matmul, F, B, B),
    ROW(MATMUL, matmul, I, A, A),
    BINARY(DOT, dot),
    ROW(DOT, dot, D, F, F),
    BINARY(MATVEC, matvec),
    ROOM(LU, lu, I, F, F, I, F),
    ROOM(LU, lu, I, D, D, I, D),
    ROOM(SOLVE, solve, F, I, F, F),
    ROOM(SOLVE, solve, D, I, D, D),
    ROOM(QR, qr, F, F, F),
    ROOM(QR, qr, D, D, D),
    ROOM(SVD, svd, F, F, F, I, F),
    ROOM(SVD, svd, D, D, D, I, D),
    ROOM(EIGH, eigh, F, F, I, F),
    ROOM(EIGH, eigh, D, D, I, D),
    ROOM(CHOLESKY, cholesky, F, I, F),
    ROOM(CHOLESKY, cholesky, D, I, D),
    ROW(UNIFORM, uniform, F),
    ROW(UNIFORM, uniform, D),
    ROW(NORMAL, normal, F),
    ROW(NORMAL, normal, D),
    ROOM(FFT, fft, C, C),
    ROOM(FFT, fft, Z, Z),
    ROOM(FFT, fft, C, F),
    ROOM(FFT, fft, Z, D),
    ROOM(FFT, fft, F, C),
    ROOM(FFT, fft, D, Z),
    REALS(FFTSHIFT, fftshift, TWICE),
    ROW(FFTSHIFT, fftshift, C, C),
    ROW(FFTSHIFT, fftshift, Z, Z),
    ROW(TERNARY_QUANTIZE, ternary_quantize, A, F, I, F),
    ROW(TERNARY_QUANTIZE, ternary_quantize, A, F, I, D),
    ROW(TERNARY_QUANTIZE, ternary_quantize, A, F, I, H),
    ROW(TERNARY_QUANTIZE, ternary_quantize, A, F, I, B),
    ROW(TERNARY_PACK, ternary_pack, U, I, A, F),
    ROW(TERNARY_UNPACK, ternary_unpack, A, F, I, U),
    ROW(TERNARY_DOT, ternary_dot, I, U, U),
    ROW(TERNARY_MATMUL, ternary_matmul, I, U, U),
    ROW(TERNARY_MATMUL, ternary_matmul, I, U, A),
    ROW(TERNARY_MATMUL, ternary_matmul, F, U, F),
    ROOM(TERNARY_LINEAR, ternary_linear, F, U, F, F, F),
    ROW(COM, com, D, F, F),
    ROW(COM, com, D, F, D),
    ROW(COM, com, D, D, D),
    ROW(INERTIA, inertia, D, F, F, D),
    ROW(INERTIA, inertia, D, F, D, D),
    ROW(INERTIA, inertia, D, D, D, D),
    ROW(CROSS_SUM, cross_sum, D, F, F, D, F),
    ROW(CROSS_SUM, cross_sum, D, F, D, D, F),
    ROW(CROSS_SUM, cross_sum, D, D, D, D, D),
    ROW(PRINCIPAL_AXES, principal_axes, D, D, D, D),
    ROW(EULER_ZYZ, euler_zyz, D, D),
    ROW(TILT, tilt, D, D, D),
    ROW(ANGULAR_VELOCITY, angular_velocity, D, I, D, D),
    ROW(DECOMPOSE, decompose, D, D, D, D),
    ROW(MAGNITUDE, magnitude, D, F),
    ROW(MAGNITUDE, magnitude, D, D),
    ROW(TIME_DERIVATIVE, time_derivative, D, I, F, D),
    ROW(TIME_DERIVATIVE, time_derivative, D, I, D, D),
    ROW(KINETIC, kinetic, D, F, F, F),
    ROW(KINETIC, kinetic, D, F, D, F),
    ROW(KINETIC, kinetic, D, D, D, D),
    ROW(GYRATION, gyration, D, D, D, F, F),
    ROW(GYRATION, gyration, D, D, D, F, D),
    ROW(GYRATION, gyration, D, D, D, D, D),
    ROW(RMSD, rmsd, D, D, F, F, F),
    ROW(RMSD, rmsd, D, D, F, D, F),
    ROW(RMSD, rmsd, D, D, F, D, D),
    ROW(RMSD, rmsd, D, D, D, D, D),
    ROW(OBSERVABLES, observables, D, D, D, D, D, F, F, F, F),
    ROW(OBSERVABLES, observables, D, D, D, D, D, F, D, F, F),
    ROW(OBSERVABLES, observables, D, D, D, D, D, D, D, D, D),
};

/* ---- The device -------------------------------------------------------------------------- */

static const char capabilities_json[] =
    "{\"jit\": false, \"parallel\": false, \"gpu\": false, \"device_count\": 1,"
    " \"devices\": [{\"name\": \"CPU, one thread\"}]}";

static collet_status capabilities(const collet_host *host, char *json, uint64_t capacity,
                                  uint64_t *needed, collet_error *err)
{
    (void)host;
    (void)err;
    *needed = sizeof capabilities_json;
    if (capacity >= sizeof capabilities_json)
        memcpy(json, capabilities_json, sizeof capabilities_json);
    return COLLET_OK;
}

static collet_status device_open(const collet_host *host, uint32_t index, collet_device **device,
                                 collet_error *err)
{
    if (index != 0) {
        return host->fail(err, COLLET_UNAVAILABLE, "cpu_scalar has one device, 0; there is no %u",
                          index);
    }
    collet_device *d = calloc(1, sizeof *d);
    plan_cache *plans = plan_cache_create(PLANS, PLAN_BYTES);
    if (!d || !plans) {
        free(d);
        plan_cache_destroy(plans);
        return host->fail(err, COLLET_NO_MEMORY, "cpu_scalar: no memory to open the device");
    }
    d->host = host;
    d->plans = plans;
    *device = d;
    return COLLET_OK;
}

static void device_close(collet_device *device)
{
    if (device)
        plan_cache_destroy(device->plans);
    free(device);
}

static void trim(collet_device *device)
{
    plan_cache_trim(device->plans);
}

/* ---- The plugin -------------------------------------------------------------------------- */

static const collet_plugin plugin = {
    .abi = COLLET_ABI,
    .struct_size = sizeof(collet_plugin),
    .flags = COLLET_PLUGIN_HOST_MEMORY | COLLET_PLUGIN_SYNCHRONOUS,
    .kernel_count = COUNT(kernels),
    .kernel_size = sizeof(collet_kernel_row),
    .name = "cpu_scalar",
    .version = "0.1.0",
    .kernels = kernels,
    .capabilities = capabilities,
    .device_open = device_open,
    .device_close = device_close,
    .trim = trim,
};

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    return host->abi >> 16 == COLLET_ABI_MAJOR ? &plugin : NULL;
}
