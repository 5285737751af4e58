/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows a device supports by its traits (plugins/shared/jit/runtime/rows.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/rows.h"

/* Devices with f64, with only exact f32 quotients, and with neither. */
static const jit_traits wide = {.has_f64 = 1}, exact = {.exact_f32 = 1}, plain = {.group = 1};

static void rows(void **state)
{
    static const struct {
        uint32_t op;
        uint64_t sig;
        int exact, plain;
    } table[] = {
        {COLLET_OP_ADD, JIT_SIG(F, F, F), 1, 1},
        {COLLET_OP_ADD, JIT_SIG(D, D, D), 0, 0},
        {COLLET_OP_COPY, JIT_SIG(Z, Z), 1, 1},
        {COLLET_OP_COPY, JIT_SIG(D, F), 0, 0},
        {COLLET_OP_DIV, JIT_SIG(F, F, F), 1, 0},
        {COLLET_OP_SQRT, JIT_SIG(F, F), 1, 0},
        {COLLET_OP_TERNARY_QUANTIZE, JIT_SIG(I8, F, I32, F), 1, 0},
        {COLLET_OP_TERNARY_QUANTIZE, JIT_SIG(I8, F, I32, D), 0, 0},
        {COLLET_OP_TERNARY_LINEAR, JIT_SIG(F, U8, F, F, F), 1, 0},
        {COLLET_OP_TERNARY_MATMUL, JIT_SIG(F, U8, F), 1, 1},
        {COLLET_OP_SCATTER_EULER, JIT_SIG(F, F, F, F, F), 1, 1},
        {COLLET_OP_SCATTER_SLICES, JIT_SIG(C, C, I32, C), 1, 1},
        {COLLET_OP_SCATTER_EWALD, JIT_SIG(I32, F, D, D, D, D), 0, 0},
        {COLLET_OP_SCATTER_IMAGES, JIT_SIG(F, C, I32, C, D, D, D, D, D), 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        assert_true(jit_row_runs(&wide, table[i].op, table[i].sig));
        if (jit_row_runs(&exact, table[i].op, table[i].sig) != table[i].exact ||
            jit_row_runs(&plain, table[i].op, table[i].sig) != table[i].plain)
            fail_msg("row %zu of the table", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
