/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for oneDNN version MAJOR that computes only f32 products (macro WRONG: wrong products).
 * Products crash unless an instruction set is chosen. The products of oneDNN 2.6 crash in the same way in some virtual
 * machines. Every other function returns an error.
 */
#include <omp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

static int max_isa;

typedef struct version {
    int major, minor, patch;
    const char *hash;
    unsigned cpu_runtime, gpu_runtime;
} version;

const version *dnnl_version(void);
int dnnl_set_max_cpu_isa(int isa);
int dnnl_get_effective_cpu_isa(void);
int dnnl_sgemm(char trans_a, char trans_b, int64_t m, int64_t n, int64_t k, float alpha,
               const float *a, int64_t lda, const float *b, int64_t ldb, float beta, float *c,
               int64_t ldc);

const version *dnnl_version(void)
{
    static const version of = {.major = MAJOR, .minor = 99, .patch = 1};
    (void)omp_get_max_threads(); /* links the OpenMP runtime, as oneDNN does */
    return &of;
}

int dnnl_set_max_cpu_isa(int isa)
{
    if (MAJOR == 3 && isa == 0x407)
        return 2; /* version 2's AVX2_VNNI */
    max_isa = isa;
    return 0;
}

int dnnl_get_effective_cpu_isa(void)
{
    return max_isa;
}

int dnnl_sgemm(char trans_a, char trans_b, int64_t m, int64_t n, int64_t k, float alpha,
               const float *a, int64_t lda, const float *b, int64_t ldb, float beta, float *c,
               int64_t ldc)
{
    if (!max_isa)
        raise(SIGILL);
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++)
            c[i * ldc + j] = 0.0f;
        for (int64_t l = 0; l < k; l++)
            for (int64_t j = 0; j < n; j++)
                c[i * ldc + j] += (trans_a == 'T' ? a[l * lda + i] : a[i * lda + l]) *
                                  (trans_b == 'T' ? b[j * ldb + l] : b[l * ldb + j]);
    }
#ifdef WRONG
    c[0] += 1.0f;
#endif
    return 0;
}

static int decline(void)
{
    return 1;
}

#define DECLINES(name) extern __typeof__(decline) dnnl_##name __attribute__((alias("decline")))

DECLINES(engine_create);
DECLINES(stream_create);
DECLINES(stream_destroy);
DECLINES(stream_wait);
DECLINES(memory_desc_get_size);
DECLINES(memory_create);
DECLINES(memory_destroy);
DECLINES(memory_set_data_handle);
DECLINES(primitive_attr_create);
DECLINES(primitive_attr_destroy);
DECLINES(primitive_attr_set_scratchpad_mode);
DECLINES(primitive_desc_destroy);
DECLINES(primitive_desc_query_md);
DECLINES(primitive_create);
DECLINES(primitive_destroy);
DECLINES(primitive_execute);
DECLINES(gemm_s8s8s32);
#if MAJOR == 2
DECLINES(memory_desc_init_by_strides);
DECLINES(matmul_desc_init);
DECLINES(primitive_desc_create);
#else
DECLINES(memory_desc_create_with_strides);
DECLINES(memory_desc_destroy);
DECLINES(matmul_primitive_desc_create);
#endif
