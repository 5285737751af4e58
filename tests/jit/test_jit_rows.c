/* SPDX-License-Identifier: Apache-2.0 */
/* Tests which rows a device supports, given its traits (plugins/shared/jit/runtime/rows.h). */

#include "common/test.h"
#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/rows.h"

#define F COLLET_F32
#define D COLLET_F64
#define C COLLET_C64
#define Z COLLET_C128
#define A COLLET_I8
#define U COLLET_U8
#define I COLLET_I32
#define L COLLET_I64

/* Devices with f64, with only exact f32 quotients, and with neither. */
static const jit_traits wide = {.has_f64 = 1}, exact = {.exact_f32 = 1}, plain = {.group = 1};

TEST(rows)
{
    static const struct {
        uint32_t op;
        uint64_t sig;
        int exact, plain;
    } table[] = {
        {COLLET_OP_ADD, COLLET_SIG(F, F, F), 1, 1},
        {COLLET_OP_ADD, COLLET_SIG(D, D, D), 0, 0},
        {COLLET_OP_COPY, COLLET_SIG(Z, Z), 1, 1},
        {COLLET_OP_COPY, COLLET_SIG(D, F), 0, 0},
        {COLLET_OP_DIV, COLLET_SIG(F, F, F), 1, 0},
        {COLLET_OP_SQRT, COLLET_SIG(F, F), 1, 0},
        {COLLET_OP_TERNARY_QUANTIZE, COLLET_SIG(A, F, I, F), 1, 0},
        {COLLET_OP_TERNARY_QUANTIZE, COLLET_SIG(A, F, I, D), 0, 0},
        {COLLET_OP_TERNARY_LINEAR, COLLET_SIG(F, U, F, F, F), 1, 0},
        {COLLET_OP_TERNARY_MATMUL, COLLET_SIG(F, U, F), 1, 1},
        {COLLET_OP_GYRATION, COLLET_SIG(F, F, F, F, F, L), 1, 1},
        {COLLET_OP_GYRATION, COLLET_SIG(D, D, D, F, F, L), 0, 0},
        {COLLET_OP_VAR, COLLET_SIG(F, F), 0, 0},
        {COLLET_OP_PROD, COLLET_SIG(L, I), 1, 1},
        {COLLET_OP_TAKE, COLLET_SIG(Z, L, Z, L), 1, 1},
        {COLLET_OP_SCATTER_ADD, COLLET_SIG(D, L, D, L, D), 0, 0},
        {COLLET_OP_CUMULATIVE_SUM, COLLET_SIG(F, F), 0, 0},
        {COLLET_OP_CUMULATIVE_SUM, COLLET_SIG(L, I), 1, 1},
        {COLLET_OP_HISTOGRAM, COLLET_SIG(L, I, L), 0, 0},
        {COLLET_OP_EXPONENTIAL, COLLET_SIG(F), 1, 0},
        {COLLET_OP_VARIATE, COLLET_SIG(L, D, D, D), 0, 0},
        {COLLET_OP_SCATTER_EULER, COLLET_SIG(F, F, F, F, F), 1, 1},
        {COLLET_OP_SCATTER_SLICES, COLLET_SIG(C, C, I, C), 1, 1},
        {COLLET_OP_SCATTER_EWALD, COLLET_SIG(I, F, D, D, D, D), 0, 0},
        {COLLET_OP_SCATTER_AMPLITUDES, COLLET_SIG(C, C, D, D, C), 0, 0},
        {COLLET_OP_SCATTER_IMAGES, COLLET_SIG(F, C, I, C, D, D, D, D, D), 0, 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        assert_true(jit_row_runs(&wide, table[i].op, table[i].sig));
        if (jit_row_runs(&exact, table[i].op, table[i].sig) != table[i].exact ||
            jit_row_runs(&plain, table[i].op, table[i].sig) != table[i].plain)
            fail_msg("row %zu of the table", i);
    }
}
