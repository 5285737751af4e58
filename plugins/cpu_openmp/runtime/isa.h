/* SPDX-License-Identifier: Apache-2.0 */
/*
 * isa.h - which instruction sets this machine runs, and the kernels compiled for each.
 */
#ifndef COLLET_OPENMP_ISA_H
#define COLLET_OPENMP_ISA_H

#include <stdint.h>

#include "cpu_openmp/array/kernel_convert.h"
#include "cpu_openmp/linalg/decompositions/kernel_eigen3.h"
#include "cpu_openmp/array/kernel_elementwise.h"
#include "cpu_openmp/fft/kernel_fft.h"
#include "cpu_openmp/md/kernel_frame.h"
#include "cpu_openmp/linalg/kernel_gemm.h"
#include "cpu_openmp/array/kernel_move.h"
#include "cpu_openmp/linalg/kernel_narrow.h"
#include "cpu_openmp/linalg/decompositions/kernel_panel.h"
#include "cpu_openmp/random/kernel_random.h"
#include "cpu_openmp/array/kernel_reduce.h"
#include "cpu_openmp/linalg/decompositions/kernel_solve.h"
#include "cpu_openmp/linalg/kernel_small.h"
#include "cpu_openmp/ternary/kernel_ternary.h"
#include "cpu_openmp/linalg/kernel_vector.h"

/* One level: every file of kernels/ compiled for it. Constant, lives as long as the process. */
typedef struct isa_level {
    const char *name; /* "x86-64-v3" */
    const elementwise_kernels *elementwise;
    const convert_kernels *convert;
    const move_kernels *move;
    const reduce_kernels *reduce;
    const frame_kernels *frame;
    const gemm_kernels *gemm;
    const vector_kernels *vector;
    const random_kernels *random;
    const eigen3_kernels *eigen3;
    const panel_kernels *panel;
    const solve_kernels *solve;
    const narrow_kernels *narrow;
    const small_kernels *small;
    const ternary_products *ternary;
    const ternary_rows *ternary_rows;
    const fft_kernels *fft; /* of f32 and of f64 */
} isa_level;

/*
 * The highest level that both the processor and the operating system support, not above `cap` ("v3"
 * or "x86-64-v3"; NULL, "" or "auto": no cap). NULL, with *reason in words, when the machine has
 * not even the lowest, or when there is no level of that name.
 */
const isa_level *isa_select(const char *cap, const char **reason);

/* The best products of narrow types at this level: with the processor's own instructions for int8
 * and bf16, which no level has, where it has them. */
const narrow_kernels *isa_narrow(const isa_level *level);

/* The best ternary products at this level, likewise: with int8 products and counts of bits. */
const ternary_products *isa_ternary(const isa_level *level);

/* The processor's name as it gives it itself, cleaned for JSON; "" when it gives none. */
void isa_processor_name(char *name, uint64_t capacity);

#endif
