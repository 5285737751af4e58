/* SPDX-License-Identifier: Apache-2.0 */
/* table.h - tables that give the functions of each decomposition, for real matrices (real.c) and for complex matrices
 * (complex.c). The index is the op. */
#pragma once

#include <collet/plugin.h>

/* The two functions of decompositions.h for one op. */
typedef struct cpu_decomposition {
    uint64_t (*scratch)(const collet_kernel_call *call);
    int64_t (*run)(const collet_kernel_call *call, void *scratch, int64_t begin, int64_t end);
} cpu_decomposition;

extern const cpu_decomposition cpu_real_decompositions[], cpu_complex_decompositions[];
