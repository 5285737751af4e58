/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_program.h - runs a program with steps that reduce rows (collet_program), a tile of rows at a time.
 *
 * The steps are divided into stages. A stage is a reduction, or elementwise steps of one shape that depend only on
 * operands and on earlier stages. A thread computes all stages of a tile before it begins another tile, so
 * the values of a tile stay in the caches of its processor, and each is computed once. Results are bitwise equal to
 * successive calls of the ops.
 */
#pragma once

#include "cpu_openmp/runtime/device.h"

/* Sets the size of the workspace. Returns NULL, or the reason why the program cannot be run by tiles. */
const char *row_program_accepts(const collet_device *device, const collet_kernel_call *call,
                                uint64_t *workspace_bytes);
void row_program_run(collet_device *device, const collet_kernel_call *call);
