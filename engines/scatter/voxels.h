/* SPDX-License-Identifier: Apache-2.0 */
/* voxels.h - materials whose voxels are arrays of the runtime, in the memory of a device. */
#pragma once

#include <collet/scatter.h>

/* 1 if a material has arrays. */
int scatter_has_arrays(const collet_scatter_options *options);
/* Like scatter_check_voxels, on the device of the context. */
collet_status scatter_check_devices(collet_context *context, const collet_scatter_options *options, collet_error *err);
/* Makes copies of the materials, whose arrays are acquired for reading in the host's memory. */
collet_status scatter_hold_voxels(collet_context *context, const collet_scatter_options *options,
                                  collet_scatter_material **out, collet_error *err);
/* Releases the arrays, and frees the copies. NULL is allowed. */
void scatter_release_voxels(collet_context *context, const collet_scatter_options *options, collet_scatter_material *held);
/* Sets *sum to the sum of the volume fractions of layers of a material. */
collet_status scatter_sum_fractions(collet_context *context, const collet_scatter_material *material, int wide,
                                    int64_t first, int64_t count, double *sum, collet_error *err);
/* Evaluates an expression of arrays a, b, c and d whose value is one bool. */
collet_status scatter_evaluate_bool(collet_context *context, const char *text, uint32_t count,
                                    const collet_array *const *arrays, int *value, collet_error *err);
