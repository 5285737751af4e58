/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library in the place of BLIS, for the tests of backend-bench against: its products are right,
 * wrong, the end of the process, or without an end of their own, as FAKE_BLIS says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED const char *bli_info_get_version_str(void);
EXPORTED int bli_arch_query_id(void);
EXPORTED const char *bli_arch_string(int id);
EXPORTED void cblas_sgemm(int order, int turn_a, int turn_b, int m, int n, int k, float alpha,
                          const float *a, int lda, const float *b, int ldb, float beta, float *c,
                          int ldc);
EXPORTED void cblas_dgemm(void);

/* Says so by the file HANGS_HERE, which is waited for. */
static void hang(void)
{
    const char *path = getenv("HANGS_HERE");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file)
        fclose(file);
    for (;;)
        pause();
}

static int told(const char *what)
{
    const char *set = getenv("FAKE_BLIS");
    return set && !strcmp(set, what);
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

void cblas_sgemm(int order, int turn_a, int turn_b, int m, int n, int k, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc)
{
    if (told("crash") || order != 101 || turn_a != 111 || turn_b != 111 || alpha != 1 || beta != 0)
        abort();
    if (told("hangs"))
        hang();
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
            float sum = told("wrong") ? 1.0f : 0.0f;
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
