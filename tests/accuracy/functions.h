/* SPDX-License-Identifier: Apache-2.0 */
/* functions.h - the functions of plugins/shared/formula as loops over arrays, compiled for each
 * instruction-set level (x86-64-v2 to v4). */
#ifndef TESTS_ACCURACY_FUNCTIONS_H
#define TESTS_ACCURACY_FUNCTIONS_H

#include <stdint.h>

/* Only functions of two arguments read b. */
typedef struct level_function {
    const char *name;
    void (*f32)(float *out, const float *a, const float *b, int64_t n);
    void (*f64)(double *out, const double *a, const double *b, int64_t n);
} level_function;

/* Functions of one argument, then of two: X(name), Y(name). */
#define FUNCTIONS(X, Y)                                                                            \
    X(sqrt)                                                                                        \
    X(exp)                                                                                         \
    X(exp2)                                                                                        \
    X(expm1)                                                                                       \
    X(log)                                                                                         \
    X(log1p)                                                                                       \
    X(log2)                                                                                        \
    X(log10)                                                                                       \
    X(sin)                                                                                         \
    X(cos)                                                                                         \
    X(tan)                                                                                         \
    X(asin)                                                                                        \
    X(acos)                                                                                        \
    X(atan)                                                                                        \
    X(sinh)                                                                                        \
    X(cosh)                                                                                        \
    X(tanh)                                                                                        \
    X(asinh)                                                                                       \
    X(acosh)                                                                                       \
    X(atanh)                                                                                       \
    X(cbrt)                                                                                        \
    X(expit)                                                                                       \
    X(erf)                                                                                         \
    X(erfc)                                                                                        \
    X(lgamma)                                                                                      \
    Y(atan2) Y(hypot) Y(pow) Y(logaddexp)

#define COUNT_FUNCTION(name) +1
enum { FUNCTION_COUNT = 0 FUNCTIONS(COUNT_FUNCTION, COUNT_FUNCTION) };

extern const level_function functions_v2[FUNCTION_COUNT], functions_v3[FUNCTION_COUNT],
    functions_v4[FUNCTION_COUNT], functions_baseline[FUNCTION_COUNT];

#endif
