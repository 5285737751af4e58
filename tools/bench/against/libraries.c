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

/* Of BLIS 0.9, which takes some processors with AVX-512 for Haswell. */
#define BLIS_HASWELL "3"
#define BLIS_SKX "0"

/* ---- The table ----------------------------------------------------------------------------- */

const reference_library reference_libraries[] = {
    {"openblas",
     "OPENBLAS_CORETYPE",
     {{NULL, always, 0},
      {"Nehalem", always, 2},
      {"Haswell", has_avx2, 3},
      {"Zen", is_amd, 3},
      {"SkylakeX", has_avx512, 4},
      {"Cooperlake", has_bf16, 4}},
     1,
     " matmul:ff matmul:dd lu:if lu:id solve:ff solve:dd qr:ff qr:dd svd:ff svd:dd eigh:ff eigh:dd "
     "cholesky:ff cholesky:dd ",
     reference_openblas_open},
    {"blis",
     "BLIS_ARCH_TYPE",
     {{NULL, always, 0}, {BLIS_HASWELL, has_avx2, 3}, {BLIS_SKX, has_avx512, 4}},
     0,
     " matmul:ff matmul:dd ",
     reference_blis_open},
    {"onednn",
     "DNNL_MAX_CPU_ISA",
     {{NULL, always, 0},
      {"SSE41", always, 2},
      {"AVX2", has_avx2, 3},
      {"AVX512_CORE_BF16", has_bf16, 4}},
     0,
     " matmul:ff matmul:fb matmul:bb matmul:ia ",
     reference_onednn_open},
    {"fftw",
     NULL,
     {{NULL, always, 1}, {"1 thread", always, 1}},
     0,
     " fft:cc fft:zz fft:cf fft:zd ",
     reference_fftw_open},
};

const size_t reference_library_count = sizeof reference_libraries / sizeof *reference_libraries;

/* Kernels for SSE are far slower than others and measured only at their own level. */
int32_t reference_variant_fits(const reference_variant *v, int32_t limit)
{
    int32_t measured = v->level == 0 ? limit >= 4 : v->level <= limit;
    return measured && (v->level != 2 || limit == 2) && v->fits();
}

int32_t reference_library_offers(const reference_library *library, const bench_layout *layout)
{
    char entry[COLLET_MAX_NAME + 8];
    const char *inputs = strchr(layout->signature, ':');
    snprintf(entry, sizeof entry, " %s:%c%c ", layout->op.name, layout->signature[0],
             inputs ? inputs[1] : '?');
    return strstr(library->offers, entry) != NULL;
}
