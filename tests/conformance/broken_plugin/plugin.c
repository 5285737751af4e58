/* SPDX-License-Identifier: Apache-2.0 */
#include "broken.h"

#include <string.h>

COLLET_PLUGIN_MANIFEST("manifest.json");

#define ROW(OP, run, ...) COLLET_ROW(OP, COLLET_SIG(__VA_ARGS__), broken_##run, NULL)
#define F COLLET_F32
#define D COLLET_F64
#define C COLLET_C64
#define Z COLLET_C128
#define I COLLET_I32
#define L COLLET_I64

static const collet_kernel_row kernels[] = {
    ROW(FILL, fills_gaps, F),
    ROW(FILL, leaks_threads, D),
    ROW(COPY, moves, F, F),
    ROW(COPY, moves, D, D),
    ROW(COPY, truncates, F, D),
    ROW(COPY, wraps_integers, COLLET_U8, COLLET_I64),
    ROW(COPY, assumes_alignment, COLLET_U32, COLLET_U32),
    ROW(COPY, ignores_the_offset, COLLET_I64, COLLET_I64),
    ROW(COPY, clears_first, I, I),
    ROW(ADD, wrong_at_one_size, F, F, F),
    ROW(ADD, nothing, D, D, D),
    ROW(SUB, writes_behind_its_end, F, F, F),
    ROW(SUB, refuses_too_late, D, D, D),
    ROW(MUL, flushes_denormals_for_all, F, F, F),
    ROW(MUL, fails_at_one_size, D, D, D),
    ROW(DIV, ignores_the_sign_of_strides, F, F, F),
    ROW(DIV, reads_an_undeclared_key, D, D, D),
    ROW(NEG, changes_the_umask, F, F),
    ROW(EXP, two_ulp_off, F, F),
    ROW(EXP, refuses_all, D, D),
    ROW(LOG, logarithm_of_denormals, F, F),
    ROW(SQRT, loses_the_sign_of_zero, F, F),
    ROW(TRANSPOSE, inverts_the_permutation, F, F),
    ROW(TRANSPOSE, aborts, D, D),
    ROW(TRANSPOSE, exits, I, I),
    ROW(TRANSPOSE, hangs, COLLET_I8, COLLET_I8),
    ROW(SUM, adds_in_f32, F, F),
    ROW(SUM, skips_nan, D, D),
    ROW(MIN, ignores_nan, F, F),
    ROW(MIN, takes_any_zero, D, D),
    ROW(MATMUL, adds_to_the_output, F, F, F),
    ROW(MATMUL, assumes_rows, D, D, D),
    ROW(LU, forgets_its_rows, I, D, D, I, D),
    ROW(LU, lu_without_info, I, F, F, I, F),
    ROW(SOLVE, counts_from_zero, D, I, D, D),
    ROW(SOLVE, loses_a_digit, F, I, F, F),
    ROW(QR, leaves_signs, D, D, D),
    ROW(QR, stretches_columns, F, F, F),
    ROW(SVD, sorts_upwards, D, D, D, I, D),
    ROW(SVD, drops_null_vectors, F, F, F, I, F),
    ROW(EIGH, reads_the_upper_triangle, D, D, I, D),
    ROW(EIGH, trusts_every_number, F, F, I, F),
    ROW(EIG, repeats_a_pair, Z, Z, I, Z),
    ROW(CHOLESKY, leaves_the_upper_triangle, D, I, D),
    ROW(CHOLESKY, keeps_what_it_had, F, I, F),
    ROW(FFT, always_forward, C, C),
    ROW(FFT, transforms_in_f32, Z, Z),
    ROW(FFT, counts_all_imaginary_parts, D, Z),
    ROW(FFTSHIFT, shifts_back_as_forward, F, F),
    ROW(COM, com_of_nothing, D, D, D),
    ROW(INERTIA, inertia_by_difference, D, D, D, D),
    ROW(CROSS_SUM, changes_its_input, D, D, D, D, D),
    ROW(PRINCIPAL_AXES, turns_axes_round, D, D, D, D),
    ROW(EULER_ZYZ, other_psi, D, D),
    ROW(TILT, tilt_by_arc_cosine, D, D, D),
    ROW(ANGULAR_VELOCITY, forgets_info, D, I, D, D),
    ROW(DECOMPOSE, divides_by_zero_axes, D, D, D, D),
    ROW(MAGNITUDE, squares_overflow, D, D),
    ROW(TIME_DERIVATIVE, one_sided_everywhere, D, I, D, D),
    ROW(KINETIC, prints, D, D, D, D),
    ROW(GYRATION, blocks_signals, D, D, D, D, D, L),
    ROW(RMSD, sets_the_locale, D, D, F, F, F, L),
    ROW(RMSD, reflects, D, D, D, D, D, L),
    ROW(TERNARY_QUANTIZE, takes_the_threshold_in, COLLET_I8, F, I, F),
    ROW(TERNARY_PACK, sees_no_code_but_three, COLLET_U8, I, COLLET_I8, F),
    ROW(TERNARY_UNPACK, keeps_invalid_codes, COLLET_I8, F, I, COLLET_U8),
    ROW(TERNARY_DOT, adds_in_8_bits, I, COLLET_U8, COLLET_U8),
    ROW(TERNARY_MATMUL, adds_in_16_bits, I, COLLET_U8, COLLET_U8),
    ROW(TERNARY_MATMUL, takes_minus_128_for_127, I, COLLET_U8, COLLET_I8),
    ROW(TERNARY_LINEAR, rectifies_nan, F, COLLET_U8, F, F, F),
    ROW(OBSERVABLES, needs_velocities, D, D, D, D, D, D, D, D, D, L),
};

static const char capabilities_json[] =
    "{\"jit\": false, \"parallel\": false, \"gpu\": false, \"device_count\": 1,"
    " \"devices\": [{\"name\": \"broken device\"}]}";

static collet_status capabilities(const collet_plugin *self, char *json, uint64_t capacity,
                                  uint64_t *needed, const collet_host *host, collet_error *err)
{
    (void)self;
    (void)host, (void)err;
    *needed = sizeof capabilities_json;
    if (capacity >= sizeof capabilities_json)
        memcpy(json, capabilities_json, sizeof capabilities_json);
    return COLLET_OK;
}

static collet_status device_open(const collet_plugin *self, collet_device **device,
                                 collet_device_properties *properties, const collet_host *host,
                                 uint32_t index, const char *name, collet_error *err)
{
    (void)self;
    (void)name;
    (void)index, (void)err;
    properties->memory = COLLET_MEMORY_HOST;
    properties->order = COLLET_ORDER_SYNCHRONOUS;
    properties->threads = COLLET_THREADS_ANY;
    *device = (collet_device *)(uintptr_t)host;
    return COLLET_OK;
}

static void device_close(collet_device *device)
{
    (void)device;
}

static const collet_plugin plugin = {
    .abi = COLLET_ABI,
    .struct_size = sizeof(collet_plugin),
    .kernel_count = sizeof kernels / sizeof *kernels,
    .kernel_size = sizeof(collet_kernel_row),
    .name = "broken",
    .version = "0.1.0",
    .kernels = kernels,
    .capabilities = capabilities,
    .device_open = device_open,
    .device_close = device_close,
};

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    return host->abi >> 16 == COLLET_ABI_MAJOR ? &plugin : NULL;
}
