/* SPDX-License-Identifier: Apache-2.0 */
/* The libraries that Collet is compared with: each is a row here and a file.
 * Tests: tests/tools/test_bench_against.c */
#include "reference.h"

#include "bench/ops/inputs.h"

#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Processor features ------------------------------------------------------------------- */

static int32_t always(void)
{
    return 1;
}

#if defined(__x86_64__)
static int32_t has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static int32_t has_avx512(void)
{
    return __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw");
}

static int32_t has_bf16(void)
{
    return has_avx512() && __builtin_cpu_supports("avx512bf16");
}

static int32_t is_amd(void)
{
    return has_avx2() && __builtin_cpu_is("amd");
}
#else
static int32_t has_avx2(void)
{
    return 0;
}
#define has_avx512 has_avx2
#define has_bf16 has_avx2
#define is_amd has_avx2
#endif

/* ---- The table ----------------------------------------------------------------------------- */

const reference_library reference_libraries[] = {
    {"openblas",
     "OPENBLAS_CORETYPE",
     {{NULL, always},
      {"Haswell", has_avx2},
      {"Zen", is_amd},
      {"SkylakeX", has_avx512},
      {"Cooperlake", has_bf16}},
     " matmul:ff matmul:dd lu:if lu:id solve:ff solve:dd qr:ff qr:dd svd:ff svd:dd eigh:ff eigh:dd "
     "cholesky:ff cholesky:dd ",
     reference_openblas_open},
    {"blis", NULL, {{NULL, always}}, " matmul:ff matmul:dd ", reference_blis_open},
    {"onednn",
     "DNNL_MAX_CPU_ISA",
     {{NULL, always}, {"AVX2", has_avx2}, {"AVX512_CORE_BF16", has_bf16}},
     " matmul:ff matmul:fb matmul:bb matmul:ia ",
     reference_onednn_open},
    {"fftw",
     NULL,
     {{NULL, always}, {"1 thread", always}},
     " fft:cc fft:zz fft:cf fft:zd ",
     reference_fftw_open},
};

const size_t reference_library_count = sizeof reference_libraries / sizeof *reference_libraries;

int32_t reference_library_offers(const reference_library *library, const bench_layout *layout)
{
    char entry[COLLET_MAX_NAME + 8];
    const char *inputs = strchr(layout->signature, ':');
    snprintf(entry, sizeof entry, " %s:%c%c ", layout->op.name, layout->signature[0],
             inputs ? inputs[1] : '?');
    return strstr(library->offers, entry) != NULL;
}

/* ---- Helpers of the reference files ------------------------------------------------------------
 */

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
