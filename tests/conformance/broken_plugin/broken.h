/* SPDX-License-Identifier: Apache-2.0 */
/*
 * broken.h - a backend with one defect in each kernel, which backend-check must report. Kernels are
 * named after their defect; test_broken.c lists the expected report for each.
 */
#ifndef TESTS_CONFORMANCE_BROKEN_PLUGIN_BROKEN_H
#define TESTS_CONFORMANCE_BROKEN_PLUGIN_BROKEN_H

#include <collet/plugin.h>

/* Element i, in C order, of an operand. */
void *broken_element(const collet_operand *o, int64_t i);
int64_t broken_count(const collet_operand *o);
/* Read and write element i of an f32 or f64 operand as a double. */
double broken_get(const collet_operand *o, int64_t i);
void broken_set(const collet_operand *o, int64_t i, double value);

#define BROKEN_KERNEL(name)                                                                        \
    collet_status broken_##name(collet_device *device, collet_queue *queue,                        \
                                const collet_kernel_call *call)

/* These two are correct; libcore needs the second for its temporaries. */
BROKEN_KERNEL(nothing);
BROKEN_KERNEL(moves);

BROKEN_KERNEL(reads_an_undeclared_key);
BROKEN_KERNEL(wrong_at_one_size);
BROKEN_KERNEL(writes_behind_its_end);
BROKEN_KERNEL(flushes_denormals_for_all);
BROKEN_KERNEL(ignores_the_sign_of_strides);
BROKEN_KERNEL(changes_the_umask);
BROKEN_KERNEL(two_ulp_off);
BROKEN_KERNEL(logarithm_of_denormals);
BROKEN_KERNEL(loses_the_sign_of_zero);
BROKEN_KERNEL(truncates);
BROKEN_KERNEL(wraps_integers);
BROKEN_KERNEL(assumes_alignment);
BROKEN_KERNEL(ignores_the_offset);
BROKEN_KERNEL(clears_first);
BROKEN_KERNEL(fills_gaps);
BROKEN_KERNEL(leaks_threads);
BROKEN_KERNEL(inverts_the_permutation);
BROKEN_KERNEL(aborts);
BROKEN_KERNEL(exits);
BROKEN_KERNEL(hangs);
BROKEN_KERNEL(adds_in_f32);
BROKEN_KERNEL(skips_nan);
BROKEN_KERNEL(ignores_nan);
BROKEN_KERNEL(takes_any_zero);
BROKEN_KERNEL(adds_to_the_output);
BROKEN_KERNEL(assumes_rows);
BROKEN_KERNEL(fails_at_one_size);
BROKEN_KERNEL(refuses_all);
BROKEN_KERNEL(refuses_too_late);

BROKEN_KERNEL(forgets_its_rows);
BROKEN_KERNEL(lu_without_info);
BROKEN_KERNEL(counts_from_zero);
BROKEN_KERNEL(loses_a_digit);
BROKEN_KERNEL(leaves_signs);
BROKEN_KERNEL(stretches_columns);
BROKEN_KERNEL(sorts_upwards);
BROKEN_KERNEL(drops_null_vectors);
BROKEN_KERNEL(reads_the_upper_triangle);
BROKEN_KERNEL(trusts_every_number);
BROKEN_KERNEL(repeats_a_pair);
BROKEN_KERNEL(leaves_the_upper_triangle);
BROKEN_KERNEL(keeps_what_it_had);
BROKEN_KERNEL(always_forward);
BROKEN_KERNEL(transforms_in_f32);
BROKEN_KERNEL(counts_all_imaginary_parts);
BROKEN_KERNEL(shifts_back_as_forward);

BROKEN_KERNEL(com_of_nothing);
BROKEN_KERNEL(inertia_by_difference);
BROKEN_KERNEL(changes_its_input);
BROKEN_KERNEL(turns_axes_round);
BROKEN_KERNEL(other_psi);
BROKEN_KERNEL(tilt_by_arc_cosine);
BROKEN_KERNEL(forgets_info);
BROKEN_KERNEL(divides_by_zero_axes);
BROKEN_KERNEL(squares_overflow);
BROKEN_KERNEL(one_sided_everywhere);
BROKEN_KERNEL(prints);
BROKEN_KERNEL(blocks_signals);
BROKEN_KERNEL(sets_the_locale);
BROKEN_KERNEL(reflects);
BROKEN_KERNEL(needs_velocities);

BROKEN_KERNEL(takes_the_threshold_in);
BROKEN_KERNEL(sees_no_code_but_three);
BROKEN_KERNEL(keeps_invalid_codes);
BROKEN_KERNEL(adds_in_8_bits);
BROKEN_KERNEL(adds_in_16_bits);
BROKEN_KERNEL(takes_minus_128_for_127);
BROKEN_KERNEL(rectifies_nan);

#endif
