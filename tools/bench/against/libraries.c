/* SPDX-License-Identifier: Apache-2.0 */
/* The libraries that Collet is compared with: each is a row here and a file.
 * Tests: tests/tools/test_bench_against.c */
#include "reference.h"

#include <stdio.h>
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
