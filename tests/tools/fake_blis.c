/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stand-in for BLIS in python/tests/process/test_against.py. FAKE_BLIS selects its behaviour: correct products (the
 * default), wrong products, a crash or a hang.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void bli_init(void);
EXPORTED const char *bli_info_get_version_str(void);
EXPORTED int bli_arch_query_id(void);
EXPORTED const char *bli_arch_string(int id);
EXPORTED void cblas_sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                          const float *a, int lda, const float *b, int ldb, float beta, float *c,
                          int ldc);
EXPORTED void cblas_dgemm(void);

/* Creates the file HANGS_HERE, which the test waits for, and never returns. */
static void hang(void)
{
    const char *path = getenv("HANGS_HERE");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file)
        fclose(file);
    for (;;)
        pause();
}

static int is_set_to(const char *what)
{
    const char *set = getenv("FAKE_BLIS");
    return set && !strcmp(set, what);
}

void bli_init(void)
{
}

const char *bli_info_get_version_str(void)
{
    return "of a test";
}

int bli_arch_query_id(void)
{
    return 7;
}

const char *bli_arch_string(int id)
{
    return id == 7 ? "seven" : "?";
}

void cblas_sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc)
{
    if (is_set_to("crash") || order != 101 || trans_a != 111 || trans_b != 111 || alpha != 1 ||
        beta != 0)
        abort();
    if (is_set_to("hangs"))
        hang();
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
            float sum = is_set_to("wrong") ? 1.0f : 0.0f;
            for (int l = 0; l < k; l++)
                sum += a[i * lda + l] * b[l * ldb + j];
            c[i * ldc + j] = sum;
        }
    }
}

void cblas_dgemm(void)
{
    abort();
}
