/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/array/elementwise.c */
#include "kernel_blocks.h"

#include <float.h>

#include "cpu_openmp/util/kernel_level.h"
#include "cpu_openmp/util/kernel_elementary.h"
#include "cpu_openmp/util/kernel_functions_lanes.h"
#include "shared/formula/formulas.h"
#include "shared/formula/kinds.h"

/* The number of elements that are checked for special arguments at a time. */
#define GUARDED 1024

#define BLOCK(x) block_##x##_f32
#define F(x) x##_f32
#define OF OF_F
#define TYPE f32
#define REAL f32
#define COMPLEX c64
#include "kernel_blocks.inc"

#define BLOCK(x) block_##x##_f64
#define F(x) x##_f64
#define OF OF_F
#define TYPE f64
#define REAL f64
#define COMPLEX c128
#include "kernel_blocks.inc"

#define BLOCK(x) block_##x##_f32
#define F(x) x##_f32
#define TYPE f32
#define PERIODIC_LIMIT PERIODIC_LIMIT_F32
#define EXP_LIMIT EXP_NORMAL_LIMIT_F32
#define LEAST_NORMAL FLT_MIN
#define LARGEST FLT_MAX
#include "kernel_blocks_common.inc"

#define BLOCK(x) block_##x##_f64
#define F(x) x##_f64
#define TYPE f64
#define PERIODIC_LIMIT PERIODIC_LIMIT_F64
#define EXP_LIMIT EXP_NORMAL_LIMIT_F64
#define LEAST_NORMAL DBL_MIN
#define LARGEST DBL_MAX
#include "kernel_blocks_common.inc"

#if HAVE_LANES
/* Fewer numbers than a register holds take the same path as full registers. */
INLINE void lanes(__m512 (*map)(__m512), float *out, const float *a, int64_t n)
{
    int64_t i = 0;
    for (; i + LANES_F32 <= n; i += LANES_F32)
        _mm512_storeu_ps(out + i, map(_mm512_loadu_ps(a + i)));
    __mmask16 mask = (__mmask16)((1u << (n - i)) - 1u);
    _mm512_mask_storeu_ps(out + i, mask, map(_mm512_maskz_loadu_ps(mask, a + i)));
}

static void lanes_exp(void *out, const void *const *in, __attribute__((unused)) uint32_t repeated,
                      int64_t n)
{
    lanes(exp_lanes_f32, out, in[0], n);
}

static void lanes_log(void *out, const void *const *in, __attribute__((unused)) uint32_t repeated,
                      int64_t n)
{
    lanes(log_lanes_f32, out, in[0], n);
}

static block_kernel find_f32(uint32_t op)
{
    return op == COLLET_OP_EXP   ? lanes_exp
           : op == COLLET_OP_LOG ? lanes_log
                                 : block_find_common_f32(op);
}
#else
#define find_f32 block_find_common_f32
#endif

extern const block_kernels LEVEL_NAME(blocks_real);
const block_kernels LEVEL_NAME(blocks_real) = {
    .find = {[COLLET_F32] = find_f32,
             [COLLET_F16] = find_f32,
             [COLLET_BF16] = find_f32,
             [COLLET_F64] = block_find_common_f64},
    .chain = {[COLLET_F32] = block_chain_f32, [COLLET_F64] = block_chain_f64}};
