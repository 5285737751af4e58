/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the column `rule` in ops.def; they are in rule_<family>.c. */
#pragma once

#include "op.h"

op_rule op_rule_transpose, op_rule_reduce, op_rule_reduce_some, op_rule_evaluate;
op_rule op_rule_fft, op_rule_fftshift;
op_rule op_rule_partition, op_rule_compress, op_rule_nonzero, op_rule_histogram, op_rule_sort;
op_rule op_rule_variate;
op_rule op_rule_bodies, op_rule_observables, op_rule_scatter_slices, op_rule_scatter_images;
op_rule op_rule_scatter_amplitudes, op_rule_scatter_intensities;
op_rule op_rule_ternary_quantize, op_rule_ternary_pack, op_rule_ternary_unpack, op_rule_ternary_dot,
    op_rule_ternary_matmul, op_rule_ternary_linear;
