/* SPDX-License-Identifier: Apache-2.0 */
/*
 * families.h - the rows of all op families, for the table of kernels of a backend that compiles
 * kernels at run time: JIT_ROWS(matmul, decompose, fft), each of the three the backend's own
 * function or the function of this folder (jit_matmul, JIT_OWN, jit_fft), as linalg.h and fft.h
 * say.
 */
#ifndef PLUGINS_SHARED_JIT_FAMILIES_H
#define PLUGINS_SHARED_JIT_FAMILIES_H

#include "shared/jit/array/array.h"
#include "shared/jit/fft/fft.h"
#include "shared/jit/linalg/linalg.h"
#include "shared/jit/md/md.h"
#include "shared/jit/random/random.h"
#include "shared/jit/scatter/scatter.h"
#include "shared/jit/ternary/ternary.h"

/* clang-format off */
#define JIT_ROWS(matmul, decompose, fft)                                                           \
    JIT_ARRAY_ROWS,                                                                                \
    JIT_MD_ROWS,                                                                                   \
    JIT_RANDOM_ROWS,                                                                               \
    JIT_SCATTER_ROWS,                                                                              \
    JIT_TERNARY_ROWS,                                                                              \
    JIT_LINALG_ROWS(matmul),                                                                       \
    JIT_DECOMPOSITION_ROWS(decompose),                                                             \
    JIT_FFT_ROWS(fft)
/* clang-format on */

#endif
