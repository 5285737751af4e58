/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu_openmp/runtime/device.h"

#include <stdlib.h>

#include "cpu_openmp/runtime/cache.h"
#include "cpu_openmp/providers/choice.h"

COLLET_PLUGIN_MANIFEST("manifest.json");

/* Bounds of the plans that a device keeps. */
#define PLANS 64
#define PLAN_BYTES (64u << 20)

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/* ---- The table of kernels -------------------------------------------------------------------- */

#define ROW(OP, run, workspace, ...)                                                               \
    {                                                                                              \
        COLLET_OP_##OP, 0, COLLET_SIG(__VA_ARGS__), openmp_##run, workspace                        \
    }

/* The letters of ops.def. */
#define H COLLET_F16
#define B COLLET_BF16
#define F COLLET_F32
#define D COLLET_F64
#define C COLLET_C64
#define Z COLLET_C128
#define I COLLET_I32
#define H COLLET_F16
#define B COLLET_BF16
#define A COLLET_I8
#define U COLLET_U8

/* One row for each real type t, its signature SIG(t). */
#define REALS(OP, run, workspace, SIG)                                                             \
    ROW(OP, run, workspace, SIG(COLLET_F16)), ROW(OP, run, workspace, SIG(COLLET_BF16)),           \
        ROW(OP, run, workspace, SIG(COLLET_F32)), ROW(OP, run, workspace, SIG(COLLET_F64)),        \
        ROW(OP, run, workspace, SIG(COLLET_I8)), ROW(OP, run, workspace, SIG(COLLET_U8)),          \
        ROW(OP, run, workspace, SIG(COLLET_I32)), ROW(OP, run, workspace, SIG(COLLET_U32)),        \
        ROW(OP, run, workspace, SIG(COLLET_I64)), ROW(OP, run, workspace, SIG(COLLET_U64))

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
    ROW(OP, run, NULL, F, F), ROW(OP, run, NULL, D, D), ROW(OP, run, NULL, H, H),                  \
        ROW(OP, run, NULL, B, B)
#define BINARY(OP, run) ROW(OP, run, NULL, F, F, F), ROW(OP, run, NULL, D, D, D)
#define REDUCE(OP, run, ...) ROW(OP, run, openmp_reduce_workspace, __VA_ARGS__)
#define ARITHMETIC(OP, run)                                                                        \
    BINARY(OP, run), ROW(OP, run, NULL, H, H, H), ROW(OP, run, NULL, B, B, B),                     \
        ROW(OP, run, NULL, C, C, C), ROW(OP, run, NULL, Z, Z, Z)
#define ATOMS(OP, run, ...) ROW(OP, run, openmp_atoms_workspace, __VA_ARGS__)

static const collet_kernel_row kernels[] = {
    REALS(FILL, fill, NULL, ALONE),
    ROW(FILL, fill, NULL, C),
    ROW(FILL, fill, NULL, Z),
    REALS(COPY, copy, openmp_copy_workspace, TO_F16),
    REALS(COPY, copy, openmp_copy_workspace, TO_BF16),
    REALS(COPY, copy, openmp_copy_workspace, TO_F32),
    REALS(COPY, copy, openmp_copy_workspace, TO_F64),
    REALS(COPY, copy, openmp_copy_workspace, TO_I8),
    REALS(COPY, copy, openmp_copy_workspace, TO_U8),
    REALS(COPY, copy, openmp_copy_workspace, TO_I32),
    REALS(COPY, copy, openmp_copy_workspace, TO_U32),
    REALS(COPY, copy, openmp_copy_workspace, TO_I64),
    REALS(COPY, copy, openmp_copy_workspace, TO_U64),
    ROW(COPY, copy, openmp_copy_workspace, C, C),
    ROW(COPY, copy, openmp_copy_workspace, Z, Z),
    ROW(COPY, copy, openmp_copy_workspace, C, Z),
    ROW(COPY, copy, openmp_copy_workspace, Z, C),
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
    ROW(ABS, abs, NULL, F, C),
    ROW(ABS, abs, NULL, D, Z),
    ROW(CONJ, conj, NULL, C, C),
    ROW(CONJ, conj, NULL, Z, Z),
    BINARY(AXPY, axpy),
    REALS(TRANSPOSE, transpose, openmp_transpose_workspace, TWICE),
    ROW(TRANSPOSE, transpose, openmp_transpose_workspace, C, C),
    ROW(TRANSPOSE, transpose, openmp_transpose_workspace, Z, Z),
    REDUCE(SUM, sum, F, F),
    REDUCE(SUM, sum, D, D),
    REDUCE(SUM, sum, D, F),
    REDUCE(SUM, sum, C, C),
    REDUCE(SUM, sum, Z, Z),
    REDUCE(MEAN, mean, F, F),
    REDUCE(MEAN, mean, D, D),
    REDUCE(MEAN, mean, D, F),
    REDUCE(MIN, min, F, F),
    REDUCE(MIN, min, D, D),
    REDUCE(MAX, max, F, F),
    REDUCE(MAX, max, D, D),
    ROW(MATMUL, matmul, openmp_matmul_workspace, F, F, F),
    ROW(MATMUL, matmul, openmp_matmul_workspace, D, D, D),
    ROW(MATMUL, matmul, openmp_matmul_workspace, H, H, H),
    ROW(MATMUL, matmul, openmp_matmul_workspace, F, H, H),
    ROW(MATMUL, matmul, openmp_matmul_workspace, B, B, B),
    ROW(MATMUL, matmul, openmp_matmul_workspace, F, B, B),
    ROW(MATMUL, matmul, openmp_matmul_workspace, I, A, A),
    ROW(DOT, dot, openmp_dot_workspace, F, F, F),
    ROW(DOT, dot, openmp_dot_workspace, D, D, D),
    ROW(DOT, dot, openmp_dot_workspace, D, F, F),
    ROW(MATVEC, matvec, openmp_matvec_workspace, F, F, F),
    ROW(MATVEC, matvec, openmp_matvec_workspace, D, D, D),
    ROW(LU, lu, openmp_lu_workspace, I, F, F, I, F),
    ROW(LU, lu, openmp_lu_workspace, I, D, D, I, D),
    ROW(SOLVE, solve, openmp_solve_workspace, F, I, F, F),
    ROW(SOLVE, solve, openmp_solve_workspace, D, I, D, D),
    ROW(QR, qr, openmp_qr_workspace, F, F, F),
    ROW(QR, qr, openmp_qr_workspace, D, D, D),
    ROW(SVD, svd, openmp_svd_workspace, F, F, F, I, F),
    ROW(SVD, svd, openmp_svd_workspace, D, D, D, I, D),
    ROW(EIGH, eigh, openmp_eigh_workspace, F, F, I, F),
    ROW(EIGH, eigh, openmp_eigh_workspace, D, D, I, D),
    ROW(CHOLESKY, cholesky, openmp_cholesky_workspace, F, I, F),
    ROW(CHOLESKY, cholesky, openmp_cholesky_workspace, D, I, D),
    ROW(FFT, fft, openmp_fft_workspace, C, C),
    ROW(FFT, fft, openmp_fft_workspace, Z, Z),
    ROW(FFT, fft, openmp_fft_workspace, C, F),
    ROW(FFT, fft, openmp_fft_workspace, Z, D),
    ROW(FFT, fft, openmp_fft_workspace, F, C),
    ROW(FFT, fft, openmp_fft_workspace, D, Z),
    REALS(FFTSHIFT, fftshift, NULL, TWICE),
    ROW(FFTSHIFT, fftshift, NULL, C, C),
    ROW(FFTSHIFT, fftshift, NULL, Z, Z),
    ROW(TERNARY_QUANTIZE, ternary_quantize, openmp_ternary_quantize_workspace, A, F, I, F),
    ROW(TERNARY_QUANTIZE, ternary_quantize, openmp_ternary_quantize_workspace, A, F, I, D),
    ROW(TERNARY_QUANTIZE, ternary_quantize, openmp_ternary_quantize_workspace, A, F, I, H),
    ROW(TERNARY_QUANTIZE, ternary_quantize, openmp_ternary_quantize_workspace, A, F, I, B),
    ROW(TERNARY_PACK, ternary_pack, NULL, U, I, A, F),
    ROW(TERNARY_UNPACK, ternary_unpack, NULL, A, F, I, U),
    ROW(TERNARY_DOT, ternary_dot, NULL, I, U, U),
    ROW(TERNARY_MATMUL, ternary_matmul, openmp_ternary_matmul_workspace, I, U, U),
    ROW(TERNARY_MATMUL, ternary_matmul, openmp_ternary_matmul_workspace, I, U, A),
    ROW(TERNARY_MATMUL, ternary_matmul, openmp_ternary_matmul_workspace, F, U, F),
    ROW(TERNARY_LINEAR, ternary_linear, openmp_ternary_linear_workspace, F, U, F, F, F),
    ROW(UNIFORM, uniform, NULL, F),
    ROW(UNIFORM, uniform, NULL, D),
    ROW(NORMAL, normal, NULL, F),
    ROW(NORMAL, normal, NULL, D),
    ATOMS(COM, com, D, F, F),
    ATOMS(COM, com, D, F, D),
    ATOMS(COM, com, D, D, D),
    ATOMS(INERTIA, inertia, D, F, F, D),
    ATOMS(INERTIA, inertia, D, F, D, D),
    ATOMS(INERTIA, inertia, D, D, D, D),
    ATOMS(CROSS_SUM, cross_sum, D, F, F, D, F),
    ATOMS(CROSS_SUM, cross_sum, D, F, D, D, F),
    ATOMS(CROSS_SUM, cross_sum, D, D, D, D, D),
    ROW(PRINCIPAL_AXES, principal_axes, NULL, D, D, D, D),
    ROW(EULER_ZYZ, euler_zyz, NULL, D, D),
    ROW(TILT, tilt, NULL, D, D, D),
    ROW(ANGULAR_VELOCITY, angular_velocity, NULL, D, I, D, D),
    ROW(DECOMPOSE, decompose, NULL, D, D, D, D),
    ROW(MAGNITUDE, magnitude, NULL, D, F),
    ROW(MAGNITUDE, magnitude, NULL, D, D),
    ROW(TIME_DERIVATIVE, time_derivative, NULL, D, I, F, D),
    ROW(TIME_DERIVATIVE, time_derivative, NULL, D, I, D, D),
    ATOMS(KINETIC, kinetic, D, F, F, F),
    ATOMS(KINETIC, kinetic, D, F, D, F),
    ATOMS(KINETIC, kinetic, D, D, D, D),
    ATOMS(GYRATION, gyration, D, D, D, F, F),
    ATOMS(GYRATION, gyration, D, D, D, F, D),
    ATOMS(GYRATION, gyration, D, D, D, D, D),
    ROW(RMSD, rmsd, openmp_rmsd_workspace, D, D, F, F, F),
    ROW(RMSD, rmsd, openmp_rmsd_workspace, D, D, F, D, F),
    ROW(RMSD, rmsd, openmp_rmsd_workspace, D, D, F, D, D),
    ROW(RMSD, rmsd, openmp_rmsd_workspace, D, D, D, D, D),
    ATOMS(OBSERVABLES, observables, D, D, D, D, D, F, F, F, F),
    ATOMS(OBSERVABLES, observables, D, D, D, D, D, F, D, F, F),
    ATOMS(OBSERVABLES, observables, D, D, D, D, D, D, D, D, D),
};

/* ---- The device ------------------------------------------------------------------------------ */

static void describe(const collet_host *host, text *json)
{
    const char *reason = "";
    const isa_level *level = isa_select(host->config(host, "isa"), &reason);
    char name[64];
    isa_processor_name(name, sizeof name);
    text_add(json, "{\"jit\": false, \"parallel\": true, \"gpu\": false, ");
    if (!level) {
        text_add(json, "\"device_count\": 0, \"devices\": [], \"reason\": ");
        text_quote(json, reason);
        text_add(json, "}");
        return;
    }
    text_add(json, "\"device_count\": 1, \"devices\": [{\"name\": ");
    text_quote(json, name[0] ? name : "CPU");
    text_add(json, ", \"isa\": \"%s\", \"threads\": %d}], ", level->name, host->threads(host));
    choice_describe(host, level, json);
    text_add(json, "}");
}

static collet_status capabilities(const collet_host *host, char *json, uint64_t capacity,
                                  uint64_t *needed, collet_error *err)
{
    text measured = {.at = NULL}, written = {.at = json, .capacity = capacity};
    (void)err;
    describe(host, &measured);
    *needed = measured.used + 1;
    if (capacity >= *needed)
        describe(host, &written);
    return COLLET_OK;
}

static collet_status device_open(const collet_host *host, uint32_t index, collet_device **device,
                                 collet_error *err)
{
    const char *reason = "";
    if (index != 0) {
        return host->fail(err, COLLET_UNAVAILABLE, "cpu_openmp has one device, 0; there is no %u",
                          index);
    }
    const isa_level *level = isa_select(host->config(host, "isa"), &reason);
    if (!level)
        return host->fail(err, COLLET_UNAVAILABLE, "cpu_openmp: %s", reason);
    collet_device *d = calloc(1, sizeof *d);
    plan_cache *ffts = plan_cache_create(PLANS, PLAN_BYTES);
    if (!d || !ffts) {
        free(d);
        plan_cache_destroy(ffts);
        return host->fail(err, COLLET_NO_MEMORY, "cpu_openmp: no memory to open the device");
    }
    d->onednn = choice_settle(host, level);
    d->plans = onednn_plans_create();
    d->ffts = ffts;
    d->host = host;
    d->level = level;
    d->narrow = isa_narrow(level);
    d->ternary = isa_ternary(level);
    d->threads = host->threads(host);
    d->cache_bytes = cache_largest();
    *device = d;
    return COLLET_OK;
}

static void device_close(collet_device *device)
{
    if (!device)
        return;
    onednn_plans_free(device->plans);
    plan_cache_destroy(device->ffts);
    free(device);
}

static void trim(collet_device *device)
{
    if (device->plans)
        onednn_plans_clear(device->plans);
    plan_cache_trim(device->ffts);
}

/* ---- The plugin ------------------------------------------------------------------------------ */

static const collet_plugin plugin = {
    .abi = COLLET_ABI,
    .struct_size = sizeof(collet_plugin),
    .flags = COLLET_PLUGIN_HOST_MEMORY | COLLET_PLUGIN_SYNCHRONOUS,
    .kernel_count = COUNT(kernels),
    .kernel_size = sizeof(collet_kernel_row),
    .name = "cpu_openmp",
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
