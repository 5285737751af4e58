/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/index/scan.c */
#include "kernel_scan.h"

#include <stddef.h>
#include <string.h>

#include "cpu_openmp/util/kernel_level.h"

#define GROUP 8
#define LANES LANES_F64
#define PARTS (GROUP / LANES)

#define JOIN(a, b) ((a) + (b))
#define NOTHING -0.0 /* 0 and -0 are 0 */
#define NAME(x) x##_sum_f32
#define ELEMENT float
#define WORD double
#include "kernel_scan.inc"
#define NAME(x) x##_sum_f64
#define ELEMENT double
#define WORD double
#include "kernel_scan.inc"
#undef NOTHING
#define NOTHING 0
#define NAME(x) x##_sum_u64
#define ELEMENT uint64_t
#define WORD uint64_t
#include "kernel_scan.inc"
#undef JOIN
#undef NOTHING

#define JOIN(a, b) ((a) * (b))
#define NOTHING 1
#define NAME(x) x##_product_f32
#define ELEMENT float
#define WORD double
#include "kernel_scan.inc"
#define NAME(x) x##_product_f64
#define ELEMENT double
#define WORD double
#include "kernel_scan.inc"

#if defined(__AVX512DQ__)
#define NAME(x) x##_product_u64
#define ELEMENT uint64_t
#define WORD uint64_t
#include "kernel_scan.inc"
#else
/* This loop is scalar, because AVX2 does not multiply 64-bit integers. Products wrap, so any order gives the same
 * bits. */

/* The number of independent chains, which hide the latency of a multiplication. */
#define CHAINS 4

static void run_product_u64(void *out, const void *in, int64_t n, const scan_word *before,
                            scan_word *local)
{
    const uint64_t *from = in;
    uint64_t *to = out, all = before->word * local->word, part[CHAINS] = {local->word, 1, 1, 1};
    for (int64_t i = 0; i < n; i++) {
        uint64_t x = from[i]; /* `out` may be `in` */
        part[i % CHAINS] *= x;
        if (to)
            to[i] = all *= x;
    }
    local->word = part[0] * part[1] * part[2] * part[3];
}

static void add_product_u64(scan_word *all, const void *in, int64_t n)
{
    const uint64_t *from = in;
    for (int64_t i = 0; i < n; i++)
        all[i].word *= from[i];
}

static void join_product_u64(scan_word *a, const scan_word *b)
{
    a->word *= b->word;
}
#endif

#define LOOPS(name)                                                                                \
    {                                                                                              \
        run_##name, add_##name, join_##name                                                        \
    }

extern const scan_kernels LEVEL_NAME(scan);
const scan_kernels LEVEL_NAME(scan) = {
    .loops = {{LOOPS(sum_f32), LOOPS(sum_f64), LOOPS(sum_u64)},
              {LOOPS(product_f32), LOOPS(product_f64), LOOPS(product_u64)}},
};
