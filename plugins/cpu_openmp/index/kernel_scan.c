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
#define NOTHING 0
#define NAME(x) x##_sum_f32
#define ELEMENT float
#define WORD double
#include "kernel_scan.inc"
#define NAME(x) x##_sum_f64
#define ELEMENT double
#define WORD double
#include "kernel_scan.inc"
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
#define NAME(x) x##_product_u64
#define ELEMENT uint64_t
#define WORD uint64_t
#include "kernel_scan.inc"

#define LOOPS(name)                                                                                \
    {                                                                                              \
        run_##name, add_##name, join_##name                                                        \
    }

extern const scan_kernels LEVEL_NAME(scan);
const scan_kernels LEVEL_NAME(scan) = {
    .loops = {{LOOPS(sum_f32), LOOPS(sum_f64), LOOPS(sum_u64)},
              {LOOPS(product_f32), LOOPS(product_f64), LOOPS(product_u64)}},
};
