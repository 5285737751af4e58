/* SPDX-License-Identifier: Apache-2.0 */
/*
 * broken.h - a backend with one defect in each kernel. backend-check must report each defect. Each kernel runs the
 * kernel of cpu_scalar and changes the call or the results; the name of the defect describes the change.
 * test_broken.c lists the expected reports.
 */
#ifndef TESTS_CONFORMANCE_BROKEN_PLUGIN_BROKEN_H
#define TESTS_CONFORMANCE_BROKEN_PLUGIN_BROKEN_H

#include "cpu_scalar/device.h"
#include "shared/host/util/operand.h"

typedef collet_status broken_kernel(collet_device *device, collet_queue *queue,
                                    const collet_kernel_call *call);

/* A copy of a call, which a defect may change. */
typedef struct broken_call {
    collet_device *device;
    collet_queue *queue;
    broken_kernel *right; /* the kernel of cpu_scalar */
    collet_status status;
    collet_kernel_call call;
    collet_operand o[COLLET_MAX_OPERANDS];
    int64_t strides[COLLET_MAX_DIMS]; /* strides that a defect gives an operand */
    void *kept;                       /* freed after the call */
    union {
        unsigned char bytes[256];
        collet_transpose_params transpose;
        collet_fft_params fft;
        collet_fftshift_params shift;
        collet_ternary_format_params format;
        collet_ternary_quantize_params quantize;
        collet_ternary_linear_params linear;
    } params;
} broken_call;

/* Element i, in C order, of an operand. */
void *broken_element(const collet_operand *o, int64_t i);
double broken_get(const collet_operand *o, int64_t i);
void broken_set(const collet_operand *o, int64_t i, double value);

/* BROKEN_CALL: a defect that itself calls the kernel of cpu_scalar. BROKEN_VALUE: a defect that returns a new value for
 * element i of an output; x is the element after a correct call. */
#define BROKEN_CALL(name) void broken_##name(broken_call *m)
#define BROKEN_VALUE(name) double broken_##name(const broken_call *m, int64_t i, double x)

/* Columns: op, kernel, its `accepts`, defect, for VALUE also the index of the changed output, signature. `right` is
 * a correct kernel. The copies of f32 and f64 are correct, because libcore makes temporaries with them. */
#define BROKEN_ROWS(CALL, VALUE)                                                                   \
    CALL(FILL, fill, nothing, fills_gaps, F)                                                       \
    CALL(FILL, fill, nothing, leaks_threads, D)                                                    \
    CALL(COPY, copy, nothing, right, F, F)                                                         \
    CALL(COPY, copy, nothing, right, D, D)                                                         \
    VALUE(COPY, copy, nothing, truncates, 0, F, D)                                                 \
    VALUE(COPY, copy, nothing, wraps_integers, 0, U, L)                                            \
    CALL(COPY, copy, nothing, assumes_alignment, COLLET_U32, COLLET_U32)                           \
    CALL(COPY, copy, nothing, ignores_the_offset, L, L)                                            \
    CALL(COPY, copy, nothing, clears_first, I, I)                                                  \
    VALUE(ADD, elementwise, nothing, wrong_at_one_size, 0, F, F, F)                                \
    CALL(ADD, elementwise, nothing, right, D, D, D)                                                \
    CALL(SUB, elementwise, nothing, writes_behind_its_end, F, F, F)                                \
    CALL(SUB, elementwise, nothing, refuses_too_late, D, D, D)                                     \
    CALL(MUL, elementwise, nothing, flushes_denormals_for_all, F, F, F)                            \
    CALL(MUL, elementwise, nothing, fails_at_one_size, D, D, D)                                    \
    CALL(DIV, elementwise, nothing, ignores_the_sign_of_strides, F, F, F)                          \
    CALL(DIV, elementwise, nothing, reads_an_undeclared_key, D, D, D)                              \
    CALL(NEG, elementwise, nothing, changes_the_umask, F, F)                                       \
    VALUE(EXP, elementwise, nothing, two_ulp_off, 0, F, F)                                         \
    CALL(EXP, elementwise, nothing, refuses_all, D, D)                                             \
    VALUE(LOG, elementwise, nothing, logarithm_of_denormals, 0, F, F)                              \
    VALUE(SQRT, elementwise, nothing, loses_the_sign_of_zero, 0, F, F)                             \
    CALL(TRANSPOSE, transpose, nothing, inverts_the_permutation, F, F)                             \
    CALL(TRANSPOSE, transpose, nothing, aborts, D, D)                                              \
    CALL(TRANSPOSE, transpose, nothing, exits, I, I)                                               \
    CALL(TRANSPOSE, transpose, nothing, hangs, B, B)                                               \
    VALUE(SUM, reduce, nothing, adds_in_f32, 0, F, F)                                              \
    VALUE(SUM, reduce, nothing, ignores_nan, 0, D, D)                                              \
    VALUE(MIN, reduce, nothing, ignores_nan, 0, F, F)                                              \
    VALUE(MIN, reduce, nothing, loses_the_sign_of_zero, 0, D, D)                                   \
    CALL(MATMUL, matmul, nothing, adds_to_the_output, F, F, F)                                     \
    CALL(MATMUL, matmul, nothing, assumes_rows, D, D, D)                                           \
    VALUE(LU, decompose, decompose, forgets_its_rows, 0, I, D, D, I, D)                            \
    VALUE(LU, decompose, decompose, sets_no_info, 3, I, F, F, I, F)                                \
    VALUE(SOLVE, solve, decompose, sets_no_info, 1, D, I, D, D)                                    \
    VALUE(SOLVE, solve, decompose, loses_a_digit, 0, F, I, F, F)                                   \
    CALL(QR, decompose, decompose, leaves_signs, D, D, D)                                          \
    CALL(QR, decompose, decompose, stretches_columns, F, F, F)                                     \
    CALL(SVD, decompose, decompose, sorts_upwards, D, D, D, I, D)                                  \
    CALL(SVD, decompose, decompose, drops_null_vectors, F, F, F, I, F)                             \
    CALL(EIGH, decompose, decompose, reads_the_upper_triangle, D, D, I, D)                         \
    VALUE(EIGH, decompose, decompose, sets_no_info, 2, F, F, I, F)                                 \
    CALL(EIG, decompose, decompose, repeats_a_pair, Z, Z, I, Z)                                    \
    CALL(CHOLESKY, decompose, decompose, leaves_the_upper_triangle, D, I, D)                       \
    VALUE(CHOLESKY, decompose, decompose, ignores_nan, 0, F, I, F)                                 \
    CALL(FFT, fft, fft, always_forward, C, C)                                                      \
    CALL(FFT, fft, fft, transforms_in_f32, Z, Z)                                                   \
    VALUE(FFT, fft, fft, counts_all_imaginary_parts, 0, D, Z)                                      \
    CALL(FFTSHIFT, fftshift, nothing, shifts_back_as_forward, F, F)                                \
    VALUE(COM, com, nothing, ignores_nan, 0, D, D, D)                                              \
    VALUE(INERTIA, inertia, nothing, inertia_by_difference, 0, D, D, D, D)                         \
    CALL(CROSS_SUM, cross_sum, nothing, changes_its_input, D, D, D, D, D)                          \
    CALL(PRINCIPAL_AXES, principal_axes, nothing, turns_axes_round, D, D, D, D)                    \
    VALUE(EULER_ZYZ, frames, nothing, other_psi, 0, D, D)                                          \
    VALUE(TILT, frames, nothing, tilt_by_arc_cosine, 0, D, D, D)                                   \
    VALUE(ANGULAR_VELOCITY, frames, nothing, sets_no_info, 1, D, I, D, D)                          \
    VALUE(DECOMPOSE, frames, nothing, divides_by_zero_axes, 0, D, D, D, D)                         \
    VALUE(MAGNITUDE, magnitude, nothing, squares_overflow, 0, D, D)                                \
    VALUE(TIME_DERIVATIVE, time_derivative, nothing, one_sided_everywhere, 0, D, I, D, D)          \
    CALL(KINETIC, kinetic, nothing, prints, D, D, D, D)                                            \
    CALL(GYRATION, gyration, nothing, blocks_signals, D, D, D, D, D, L)                            \
    CALL(RMSD, rmsd, nothing, sets_the_locale, D, D, F, F, F, L)                                   \
    VALUE(RMSD, rmsd, nothing, reflects, 1, D, D, D, D, D, L)                                      \
    VALUE(TERNARY_QUANTIZE, ternary_quantize, nothing, takes_the_threshold_in, 0, B, F, I, F)      \
    VALUE(TERNARY_PACK, ternary_pack, nothing, sets_no_info, 1, U, I, B, F)                        \
    VALUE(TERNARY_UNPACK, ternary_unpack, nothing, keeps_invalid_codes, 0, B, F, I, U)             \
    VALUE(TERNARY_DOT, ternary_dot, nothing, adds_in_8_bits, 0, I, U, U)                           \
    VALUE(TERNARY_MATMUL, ternary_matmul, nothing, adds_in_16_bits, 0, I, U, U)                    \
    CALL(TERNARY_MATMUL, ternary_matmul, nothing, takes_minus_128_for_127, I, U, B)                \
    VALUE(TERNARY_LINEAR, ternary_linear, ternary_linear, rectifies_nan, 0, F, U, F, F, F)         \
    CALL(OBSERVABLES, observables, nothing, needs_velocities, D, D, D, D, D, D, D, D, D, L)

#define DECLARE_CALL(OP, kernel, accepts, defect, ...) BROKEN_CALL(defect);
#define DECLARE_VALUE(OP, kernel, accepts, defect, ...) BROKEN_VALUE(defect);
BROKEN_ROWS(DECLARE_CALL, DECLARE_VALUE)

#endif
