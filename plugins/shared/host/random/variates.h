/* SPDX-License-Identifier: Apache-2.0 */
/* variates.h - the ops `integers` and `variate` for every backend that works on host memory. */
#pragma once

#include <collet/plugin.h>

/* Draws numbers first .. first + n - 1 of the sequence of `seed`. All numbers share the parameters. They have the
 * same bits as the numbers of variate.dev. law: a `law` of variate.dev. */
typedef struct cpu_variate_runs {
    void (*integers)(uint64_t *out, uint64_t seed, uint64_t first, uint64_t low, uint64_t span, int64_t n);
    void (*variates)(double *out, uint64_t seed, uint64_t first, const void *law, int64_t n);
} cpu_variate_runs;

/* Draws one number of a law. */
double cpu_variate(const void *law, uint64_t seed, uint64_t element);

/* Computes elements begin .. end-1, in C order of the output; disjoint parts may run at the same time. runs: NULL to draw
 * one number at a time. */
void cpu_variates(const collet_kernel_call *call, const cpu_variate_runs *runs, int64_t begin, int64_t end);
