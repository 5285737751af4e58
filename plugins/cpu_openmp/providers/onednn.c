/* SPDX-License-Identifier: Apache-2.0 */
#include "onednn_internal.h"

#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"
#include "cpu_openmp/runtime/team.h"

static onednn_settings settings = {.name = ONEDNN_NAME};
static pthread_mutex_t settling = PTHREAD_MUTEX_INITIALIZER;
static int settled;

void onednn_settle(const onednn_settings *given)
{
    (void)pthread_mutex_lock(&settling);
    if (!settled)
        settings = *given;
    settled = 1;
    (void)pthread_mutex_unlock(&settling);
}

static onednn library;
static pthread_once_t opened = PTHREAD_ONCE_INIT;

static const struct isa {
    const char *name;
    dnnl_cpu_isa_t value;
} isas[] = {
    {"SSE41", dnnl_cpu_isa_sse41},
    {"AVX", dnnl_cpu_isa_avx},
    {"AVX2", dnnl_cpu_isa_avx2},
    {"AVX2_VNNI", dnnl_cpu_isa_avx2_vnni},
    {"AVX512_MIC", dnnl_cpu_isa_avx512_mic},
    {"AVX512_MIC_4OPS", dnnl_cpu_isa_avx512_mic_4ops},
    {"AVX512_CORE", dnnl_cpu_isa_avx512_core},
    {"AVX512_CORE_VNNI", dnnl_cpu_isa_avx512_core_vnni},
    {"AVX512_CORE_BF16", dnnl_cpu_isa_avx512_core_bf16},
    {"AVX512_CORE_AMX", dnnl_cpu_isa_avx512_core_amx},
};

#define ISAS (sizeof isas / sizeof isas[0])

/* ---- Opening --------------------------------------------------------------------------------- */

static int find_functions(void *handle, onednn *o)
{
    return library_find(handle, "dnnl_version", &o->version) &&
           library_find(handle, "dnnl_set_max_cpu_isa", &o->set_max_cpu_isa) &&
           library_find(handle, "dnnl_get_effective_cpu_isa", &o->get_effective_cpu_isa) &&
           library_find(handle, "dnnl_sgemm", &o->sgemm) &&
           library_find(handle, "dnnl_gemm_s8s8s32", &o->gemm_s8s8s32) &&
           onednn_find_matmul(handle, o);
}

/* Two runtimes of OpenMP in one process know nothing of each other's threads. */
static int shares_openmp(void *handle)
{
    int (*theirs)(void), (*ours)(void) = omp_get_max_threads;
    return library_find(handle, "omp_get_max_threads", &theirs) && theirs == ours;
}

static void refuse(const char *format, const char *name)
{
    (void)snprintf(library.reason, sizeof library.reason, format, name);
}

static void limit_isa(void)
{
    for (size_t i = 0; i < ISAS; i++)
        if (strcmp(isas[i].name, settings.isa) == 0)
            (void)library.set_max_cpu_isa(isas[i].value);
}

static void open_library(void)
{
    onednn_settle(&settings);
    if (settings.refused[0]) {
        refuse("%s", settings.refused);
        return;
    }
    void *handle = library_open(settings.name, NULL);
    if (!handle)
        refuse("%s cannot be opened (Debian: libdnnl2)", settings.name);
    else if (!find_functions(handle, &library))
        refuse("%s lacks functions of oneDNN 2", settings.name);
    else if (library.version()->major != DNNL_VERSION_MAJOR)
        refuse("%s is not oneDNN 2", settings.name);
    else if (!shares_openmp(handle))
        refuse("%s uses another OpenMP runtime than this plugin", settings.name);
    if (library.reason[0])
        return;
    limit_isa();
    onednn_start(&library);
}

onednn *onednn_open(const char **reason)
{
    (void)pthread_once(&opened, open_library);
    *reason = library.reason;
    return library.reason[0] ? NULL : &library;
}

void onednn_version(const onednn *o, char *version, uint64_t capacity)
{
    const dnnl_version_t *v = o->version();
    (void)snprintf(version, (size_t)capacity, "%d.%d.%d", v->major, v->minor, v->patch);
}

const char *onednn_isa(const onednn *o)
{
    dnnl_cpu_isa_t value = o->get_effective_cpu_isa();
    for (size_t i = 0; i < ISAS; i++)
        if (isas[i].value == value)
            return isas[i].name;
    return "ALL";
}

void onednn_path(onednn *o, char *path, uint64_t capacity)
{
    library_path(&o->sgemm, path, capacity);
}

/* ---- Threads --------------------------------------------------------------------------------- */

/* What the library divides by is what OpenMP must then grant: it computes parts for threads that
 * it does not get, and leaves their results out. */
static int32_t openmp_limit(int32_t threads)
{
    if (omp_in_parallel() || omp_get_dynamic() || omp_get_max_active_levels() < 1)
        return 1;
    return threads < omp_get_thread_limit() ? threads : omp_get_thread_limit();
}

int32_t onednn_enter(const onednn *o, onednn_use *use, int32_t threads)
{
    (void)o;
    int32_t wanted = threads > 1 ? openmp_limit(threads) : 1;
    int32_t taken = wanted > 1 ? team_take(wanted, threads) : 0;
    *use = (onednn_use){
        .taken = taken, .threads = taken > 1 ? taken : 1, .before = omp_get_max_threads()};
    if (use->before != use->threads)
        omp_set_num_threads(use->threads);
    return use->threads;
}

void onednn_leave(const onednn *o, onednn_use *use)
{
    (void)o;
    if (use->before != use->threads)
        omp_set_num_threads(use->before);
    if (use->taken)
        team_give(use->taken);
}

/* ---- Products -------------------------------------------------------------------------------- */

int onednn_product_f32(const onednn *o, const blas_matrix *c, const blas_matrix *a,
                       const blas_matrix *b, int64_t m, int64_t n, int64_t k)
{
    return o->sgemm(a->transposed ? 'T' : 'N', b->transposed ? 'T' : 'N', m, n, k, 1.0f, a->at,
                    a->stride, b->at, b->stride, 0.0f, c->at, c->stride) == dnnl_success;
}

int onednn_product_i8(const onednn *o, const blas_matrix *c, const blas_matrix *a,
                      const blas_matrix *b, int64_t m, int64_t n, int64_t k)
{
    int32_t none = 0;
    return o->gemm_s8s8s32(a->transposed ? 'T' : 'N', b->transposed ? 'T' : 'N', 'F', m, n, k, 1.0f,
                           a->at, a->stride, 0, b->at, b->stride, 0, 0.0f, c->at, c->stride,
                           &none) == dnnl_success;
}
