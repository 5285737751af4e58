/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/fault/test_libraries.c, tests/cpu_openmp/test_symbol_clash.c */
#include "onednn_api.h"

#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/host/util/address_space.h"
#include "shared/host/util/statics.h"

static library_choice choice = {.lock = PTHREAD_MUTEX_INITIALIZER};
static const library_settings *const settings = &choice.settings;

void onednn_settle(const library_settings *given)
{
    library_settle(&choice, given);
}

static onednn library;
static pthread_once_t opened = PTHREAD_ONCE_INIT;

/* Instruction sets as DNNL_MAX_CPU_ISA names them, and their values in versions 2 and 3 (0: that version lacks the
 * name). */
static const struct isa {
    const char *name;
    int value[2];
} isas[] = {
    {"SSE41", {0x1, 0x1}},
    {"AVX", {0x3, 0x3}},
    {"AVX2", {0x7, 0x7}},
    {"AVX2_VNNI", {0x407, 0xf}},
    {"AVX2_VNNI_2", {0, 0x1f}},
    {"AVX512_MIC", {0xf, 0}},
    {"AVX512_MIC_4OPS", {0x1f, 0}},
    {"AVX512_CORE", {0x27, 0x27}},
    {"AVX512_CORE_VNNI", {0x67, 0x67}},
    {"AVX512_CORE_BF16", {0xe7, 0xe7}},
    {"AVX512_CORE_FP16", {0, 0x1ef}},
    {"AVX512_CORE_AMX", {0x3e7, 0xfef}},
    {"AVX512_CORE_AMX_FP16", {0, 0x1fef}},
};

#define ISAS (sizeof isas / sizeof isas[0])

/* Address space of the library and the kernels that it compiles. */
#define OPEN_BYTES (UINT64_C(64) << 20)

/* ---- Opening --------------------------------------------------------------------------------- */

/* Whether the library uses the same OpenMP runtime as this plugin. Two runtimes would not share threads. */
static int shares_openmp(void *handle)
{
    int (*theirs)(void), (*ours)(void) = omp_get_max_threads;
    return library_find(handle, "omp_get_max_threads", &theirs) && theirs == ours;
}

static void refuse(const char *format, const char *name)
{
    (void)snprintf(library.reason, sizeof library.reason, format, name);
}

static int value_of(const struct isa *isa)
{
    return isa->value[library.major == 2 ? 0 : 1];
}

static void limit_isa(void)
{
    for (size_t i = 0; i < ISAS; i++) {
        if (strcmp(isas[i].name, settings->target) != 0)
            continue;
        if (value_of(&isas[i]))
            (void)library.set_max_cpu_isa(value_of(&isas[i]));
        else
            refuse("this version of oneDNN does not have the instruction set %s", isas[i].name);
    }
}

static void open_named(const char *name)
{
    library = (onednn){.major = 0};
    void *handle = library_open(name, NULL);
    if (!handle) {
        refuse("%s cannot be opened (Debian: libdnnl2 or libdnnl3.6)", name);
        return;
    }
    if (library_find(handle, "dnnl_version", &library.version))
        library.major = library.version()->major;
    if (library.major != 2 && library.major != 3)
        refuse("%s is not oneDNN 2 or 3", name);
    else if (!onednn_find(handle, &library))
        refuse("%s lacks functions of oneDNN", name);
    else if (!shares_openmp(handle))
        refuse("%s uses another OpenMP runtime than this plugin", name);
    else if (!statics_keep(handle))
        refuse("%s: mprotect fails, so exit() would destroy data that calls use", name);
}

static void open_first(void)
{
    /* libdnnl.so.3.6 is the soname in Debian 13; libdnnl.so is the link of a development package. */
    static const char *const names[] = {"libdnnl.so.3", "libdnnl.so.3.6", "libdnnl.so.2",
                                        "libdnnl.so"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        open_named(names[i]);
        if (!library.reason[0])
            return;
    }
}

static void open_library(void)
{
    library_settle(&choice, NULL);
    if (settings->refused[0]) {
        refuse("%s", settings->refused);
        return;
    }
    if (!address_space_has(OPEN_BYTES)) {
        refuse("%s needs 64 MiB of address space, and the limit on it (ulimit -v, -d) leaves less",
               "oneDNN");
        return;
    }
    if (settings->name[0])
        open_named(settings->name);
    else
        open_first();
    if (library.reason[0])
        return;
    limit_isa();
    if (!library.reason[0])
        onednn_start(&library);
}

onednn *onednn_open(const char **reason)
{
    (void)pthread_once(&opened, open_library);
    if (reason)
        *reason = library.reason;
    return library.reason[0] ? NULL : &library;
}

void onednn_refuse(const char *reason)
{
    refuse("%s", reason);
}

void onednn_version(const onednn *o, char *version, uint64_t capacity)
{
    const onednn_version_info *v = o->version();
    (void)snprintf(version, (size_t)capacity, "%d.%d.%d", v->major, v->minor, v->patch);
}

const char *onednn_isa(const onednn *o)
{
    int value = o->get_effective_cpu_isa();
    for (size_t i = 0; i < ISAS; i++)
        if (value_of(&isas[i]) == value)
            return isas[i].name;
    return "ALL";
}

void onednn_path(onednn *o, char *path, uint64_t capacity)
{
    library_path(&o->sgemm, path, capacity);
}

/* ---- Threads --------------------------------------------------------------------------------- */

int onednn_enter(void)
{
    int before = omp_get_max_threads();
    if (before != 1)
        omp_set_num_threads(1);
    return before;
}

void onednn_leave(int before)
{
    if (before != 1)
        omp_set_num_threads(before);
}

/* ---- Products -------------------------------------------------------------------------------- */

int onednn_product_f32(const onednn *o, const blas_matrix *c, const blas_matrix *a,
                       const blas_matrix *b, int64_t m, int64_t n, int64_t k)
{
    int status = o->sgemm(a->transposed ? 'T' : 'N', b->transposed ? 'T' : 'N', m, n, k, 1.0f,
                          a->at, a->stride, b->at, b->stride, 0.0f, c->at, c->stride);
    return status == DNNL_SUCCESS;
}

int onednn_product_i8(const onednn *o, const blas_matrix *c, const blas_matrix *a,
                      const blas_matrix *b, int64_t m, int64_t n, int64_t k)
{
    int32_t none = 0;
    int status =
        o->gemm_s8s8s32(a->transposed ? 'T' : 'N', b->transposed ? 'T' : 'N', 'F', m, n, k, 1.0f,
                        a->at, a->stride, 0, b->at, b->stride, 0, 0.0f, c->at, c->stride, &none);
    return status == DNNL_SUCCESS;
}
