/* SPDX-License-Identifier: Apache-2.0 */
#include "functions.h"

#include "cpu_openmp/util/kernel_functions.h"
#include "shared/formula/special_f32.dev"
#include "shared/formula/special_f64.dev"

#define LOOP(name, type, REAL, ...)                                                                \
    static void loop_##name##_##type(REAL *out, const REAL *a, const REAL *b, int64_t n)           \
    {                                                                                              \
        (void)b;                                                                                   \
        INDEPENDENT                                                                                \
        for (int64_t i = 0; i < n; i++)                                                            \
            out[i] = name##_##type(__VA_ARGS__);                                                   \
    }
#define LOOPS_OF_ONE(name) LOOP(name, f32, float, a[i]) LOOP(name, f64, double, a[i])
#define LOOPS_OF_TWO(name) LOOP(name, f32, float, a[i], b[i]) LOOP(name, f64, double, a[i], b[i])

FUNCTIONS(LOOPS_OF_ONE, LOOPS_OF_TWO)

#define ROW(name) {#name, loop_##name##_f32, loop_##name##_f64},

const level_function LEVEL_NAME(functions)[FUNCTION_COUNT] = {FUNCTIONS(ROW, ROW)};
