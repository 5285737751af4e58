/* SPDX-License-Identifier: Apache-2.0 */
/* In the place of onednn.c and onednn_plans.c where oneDNN's headers were not found: there is no
 * library to open, so nothing below is called. */
#include "onednn.h"

#include <stddef.h>

void onednn_settle(const onednn_settings *settings)
{
    (void)settings;
}

onednn *onednn_open(const char **reason)
{
    *reason = "this build was made without oneDNN (Debian: libdnnl-dev)";
    return NULL;
}

void onednn_version(const onednn *o, char *version, uint64_t capacity)
{
    (void)o;
    if (capacity)
        version[0] = '\0';
}

const char *onednn_isa(const onednn *o)
{
    (void)o;
    return "";
}

void onednn_path(onednn *o, char *path, uint64_t capacity)
{
    (void)o;
    if (capacity)
        path[0] = '\0';
}

int32_t onednn_enter(const onednn *o, onednn_use *use, int32_t threads)
{
    (void)o;
    (void)threads;
    *use = (onednn_use){.threads = 1};
    return 1;
}

void onednn_leave(const onednn *o, onednn_use *use)
{
    (void)o;
    (void)use;
}

int onednn_product_f32(const onednn *o, const blas_matrix *c, const blas_matrix *a,
                       const blas_matrix *b, int64_t m, int64_t n, int64_t k)
{
    (void)o, (void)c, (void)a, (void)b, (void)m, (void)n, (void)k;
    return 0;
}

int onednn_product_i8(const onednn *o, const blas_matrix *c, const blas_matrix *a,
                      const blas_matrix *b, int64_t m, int64_t n, int64_t k)
{
    return onednn_product_f32(o, c, a, b, m, n, k);
}

onednn_plans *onednn_plans_create(void)
{
    return NULL;
}

void onednn_plans_clear(onednn_plans *plans)
{
    (void)plans;
}

void onednn_plans_free(onednn_plans *plans)
{
    (void)plans;
}

int onednn_product_planned(onednn *o, onednn_plans *plans, int32_t threads, onednn_type type,
                           const blas_matrix *c, const blas_matrix *a, const blas_matrix *b,
                           int64_t m, int64_t n, int64_t k)
{
    (void)plans, (void)threads, (void)type;
    return onednn_product_f32(o, c, a, b, m, n, k);
}
