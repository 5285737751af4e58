/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_bench_against.c */
#include "reference.h"

#include "bench/ops/inputs.h"

#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int32_t reference_fail(reference_job *job, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(job->text, sizeof job->text, format, arguments);
    va_end(arguments);
    return 0;
}

void *reference_load(reference_job *job, const char *file)
{
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        reference_fail(job, "%s", dlerror());
    return handle;
}

int32_t reference_find(reference_job *job, void *handle, const char *prefix,
                       const reference_symbol *symbols)
{
    for (; symbols->name; symbols++) {
        char name[96];
        snprintf(name, sizeof name, "%s%s", prefix, symbols->name);
        void *found = dlsym(handle, name);
        if (!found)
            return reference_fail(job, "it has no function %s", name);
        memcpy(symbols->function, &found, sizeof found);
    }
    return 1;
}

void *reference_memory(reference_job *job, size_t bytes)
{
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
    if (!memory)
        reference_fail(job, "out of memory");
    return memory;
}

static double bf16_number(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    float number;
    memcpy(&number, &bits, sizeof number);
    return (double)number;
}

static double number_at(const bench_operand *o, const void *data, int64_t i)
{
    switch (o->dtype) {
    case COLLET_BF16:
        return bf16_number(((const uint16_t *)data)[i]);
    case COLLET_F32:
    case COLLET_C64:
        return (double)((const float *)data)[i];
    case COLLET_F64:
    case COLLET_C128:
        return ((const double *)data)[i];
    case COLLET_I32:
        return (double)((const int32_t *)data)[i];
    default:
        return (double)NAN;
    }
}

reference_digest reference_digest_of(const bench_operand *o, const void *data)
{
    int64_t count = bench_operand_size(o);
    uint64_t state = 1;
    double squares = 0, sum = 0;
    if (o->dtype == COLLET_C64 || o->dtype == COLLET_C128)
        count *= 2;
    for (int64_t i = 0; i < count; i++) {
        double x = number_at(o, data, i);
        state = state * 6364136223846793005u + 1442695040888963407u;
        squares += x * x;
        sum += state >> 63 ? x : -x;
    }
    double n = (double)(count ? count : 1);
    return (reference_digest){sqrt(squares / n), sum / sqrt(n)};
}
