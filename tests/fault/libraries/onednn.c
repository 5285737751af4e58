/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library that passes for oneDNN 2 in its f32 products, and crashes in them unless it was told to
 * use no more than AVX512_CORE_BF16: as oneDNN 2.6 does in some virtual machines.
 */
#include <oneapi/dnnl/dnnl.h>

#include <omp.h>
#include <signal.h>
#include <stddef.h>

static dnnl_cpu_isa_t most = dnnl_cpu_isa_all;

const dnnl_version_t *dnnl_version(void)
{
    static const dnnl_version_t version = {.major = 2, .minor = 99, .patch = 1};
    (void)omp_get_max_threads(); /* so that it is linked with what oneDNN is linked with */
    return &version;
}

dnnl_status_t dnnl_set_max_cpu_isa(dnnl_cpu_isa_t isa)
{
    most = isa;
    return dnnl_success;
}

dnnl_cpu_isa_t dnnl_get_effective_cpu_isa(void)
{
    return most;
}

dnnl_status_t dnnl_sgemm(char turn_a, char turn_b, dnnl_dim_t m, dnnl_dim_t n, dnnl_dim_t k,
                         float alpha, const float *a, dnnl_dim_t lda, const float *b,
                         dnnl_dim_t ldb, float beta, float *c, dnnl_dim_t ldc)
{
    (void)alpha, (void)beta;
    if (most == dnnl_cpu_isa_all || most == dnnl_cpu_isa_avx512_core_amx)
        raise(SIGILL);
    for (dnnl_dim_t i = 0; i < m; i++) {
        for (dnnl_dim_t j = 0; j < n; j++)
            c[i * ldc + j] = 0.0f;
        for (dnnl_dim_t l = 0; l < k; l++)
            for (dnnl_dim_t j = 0; j < n; j++)
                c[i * ldc + j] += (turn_a == 'T' ? a[l * lda + i] : a[i * lda + l]) *
                                  (turn_b == 'T' ? b[j * ldb + l] : b[l * ldb + j]);
    }
    return dnnl_success;
}
