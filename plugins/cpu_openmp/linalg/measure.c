/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/fault/test_libraries.c */
#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cpu_openmp/providers/blas.h"
#include "cpu_openmp/providers/onednn.h"
#include "cpu_openmp/providers/ways.h"
#include "kernel_gemm.h"
#include "kernel_narrow.h"
#include "kernel_small.h"

#define SECONDS 0.25 /* the time of all measurements */
#define TURN 20e-6   /* minimum seconds of one measurement: shorter products are repeated */
#define TURNS 5      /* repetitions of products that take less than LONG; others have TURNS_LONG */
#define TURNS_LONG 2
#define LONG 2e-3

/* The products that are measured, the most important products first. */
static const struct product_case {
    int type;
    int16_t rows, columns, inner;
} cases[] = {
    {WAY_F32, 256, 256, 256},  {WAY_F64, 240, 240, 240},  {WAY_F32, 128, 1024, 256},
    {WAY_F64, 192, 512, 512},  {WAY_F32, 128, 128, 128},  {WAY_F64, 128, 128, 128},
    {WAY_I8, 256, 256, 256},   {WAY_BF16, 256, 256, 256}, {WAY_F32, 64, 64, 64},
    {WAY_F64, 64, 64, 64},     {WAY_F32, 320, 320, 16},   {WAY_F32, 16, 320, 320},
    {WAY_F32, 320, 16, 320},   {WAY_F64, 320, 320, 16},   {WAY_F64, 16, 320, 320},
    {WAY_F64, 320, 16, 320},   {WAY_F32, 32, 32, 32},     {WAY_F64, 32, 32, 32},
    {WAY_I8, 64, 64, 64},      {WAY_BF16, 64, 64, 64},    {WAY_F32, 16, 500, 500},
    {WAY_F64, 16, 500, 500},   {WAY_F32, 400, 400, 400},  {WAY_F64, 384, 384, 384},
    {WAY_F32, 256, 1024, 768}, {WAY_F32, 16, 1024, 512},  {WAY_F32, 512, 1024, 16},
    {WAY_F64, 16, 512, 512},   {WAY_F64, 512, 512, 16},   {WAY_F32, 512, 16, 1024},
    {WAY_F64, 512, 16, 512},
};
#define CASES (sizeof cases / sizeof cases[0])
#define ELEMENTS (1024 * 1024) /* the maximum number of elements of a matrix */

typedef struct measuring {
    const isa_level *level;
    const narrow_kernels *narrow;
    blas *blas;
    onednn *onednn;
    uint32_t onednn_types;
    onednn_plans *plans;
    const struct product_case *of;
    char *matrix[3], *scratch; /* c, a, b */
} measuring;

static double clock_now(clockid_t clock)
{
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int is_wide(const measuring *m)
{
    return m->of->type == WAY_F64;
}

/* ---- One product ----------------------------------------------------------------------------- */

static void multiply_own(const measuring *m)
{
    const struct product_case *p = m->of;
    gemm_matrix c = {m->matrix[0], p->columns, 1}, a = {m->matrix[1], p->inner, 1};
    gemm_matrix b = {m->matrix[2], p->columns, 1};
    if (p->type == WAY_I8 || p->type == WAY_BF16)
        m->narrow->product(&c, p->type == WAY_I8 ? COLLET_I32 : COLLET_F32, &a, &b,
                           p->type == WAY_I8 ? COLLET_I8 : COLLET_BF16, p->rows, p->columns,
                           p->inner, m->scratch);
    else if (small_fits(m->level->small, is_wide(m), p->rows, p->columns, p->inner))
        m->level->small->product[is_wide(m)](&c, &a, &b, p->rows, p->columns, p->inner);
    else
        m->level->gemm->product[is_wide(m)](&c, &a, &b, p->rows, p->columns, p->inner, m->scratch);
}

/* 0: the library declined. */
static int multiply_onednn(const measuring *m, const blas_matrix *c, const blas_matrix *a,
                           const blas_matrix *b)
{
    const struct product_case *p = m->of;
    int before = onednn_enter();
    int done = p->type == WAY_F32
                   ? onednn_product_f32(m->onednn, c, a, b, p->rows, p->columns, p->inner)
                   : onednn_product_planned(m->onednn, m->plans,
                                            p->type == WAY_I8 ? ONEDNN_I8_I32 : ONEDNN_BF16_F32, c,
                                            a, b, p->rows, p->columns, p->inner);
    onednn_leave(before);
    return done;
}

static int multiply(const measuring *m, way w)
{
    const struct product_case *p = m->of;
    blas_matrix c = {m->matrix[0], p->columns, 0}, a = {m->matrix[1], p->inner, 0};
    blas_matrix b = {m->matrix[2], p->columns, 0};
    if (w == WAY_ONEDNN)
        return multiply_onednn(m, &c, &a, &b);
    if (w == WAY_OPENBLAS)
        blas_multiply(m->blas, is_wide(m) ? BLAS_F64 : BLAS_F32, &c, &a, &b, p->rows, p->columns,
                      p->inner, 1, 0);
    else
        multiply_own(m);
    return 1;
}

static int is_possible(const measuring *m, way w)
{
    int real = m->of->type == WAY_F32 || m->of->type == WAY_F64;
    uint32_t type = m->of->type == WAY_F32    ? ONEDNN_TYPE_F32
                    : m->of->type == WAY_I8   ? ONEDNN_TYPE_I8
                    : m->of->type == WAY_BF16 ? ONEDNN_TYPE_BF16
                                              : 0;
    return w == WAY_OWN || (w == WAY_OPENBLAS && m->blas && real) ||
           (w == WAY_ONEDNN && m->onednn && (m->onednn_types & type));
}

/* ---- Measuring ------------------------------------------------------------------------------- */

/* Fills the factors with small integers of the type. None is subnormal, because subnormal numbers could be slower. */
static void fill(const measuring *m)
{
    for (int k = 1; k < 3; k++) {
        for (int64_t i = 0; i < (int64_t)m->of->inner * (k == 1 ? m->of->rows : m->of->columns);
             i++) {
            float value = (float)((i * 7 + k) % 9 - 4);
            uint32_t bits;
            memcpy(&bits, &value, sizeof bits);
            if (m->of->type == WAY_F64)
                ((double *)(void *)m->matrix[k])[i] = value;
            else if (m->of->type == WAY_F32)
                ((float *)(void *)m->matrix[k])[i] = value;
            else if (m->of->type == WAY_BF16)
                ((uint16_t *)(void *)m->matrix[k])[i] = (uint16_t)(bits >> 16);
            else
                ((int8_t *)m->matrix[k])[i] = (int8_t)value;
        }
    }
}

/* Seconds of one product; INFINITY: the library declined it. */
static double time_of(const measuring *m, way w, int64_t times)
{
    double start = clock_now(CLOCK_THREAD_CPUTIME_ID);
    for (int64_t i = 0; i < times; i++)
        if (!multiply(m, w))
            return INFINITY;
    return fmax(clock_now(CLOCK_THREAD_CPUTIME_ID) - start, 1e-9) / (double)times;
}

static void measure(const measuring *m, way_point *p)
{
    double work = (double)m->of->rows * m->of->columns * m->of->inner, best[WAYS];
    int64_t times[WAYS];
    int turns = TURNS;
    for (int i = 0; i < WAYS; i++) {
        best[i] = INFINITY;
        if (!is_possible(m, i))
            continue;
        best[i] = time_of(m, i, 1); /* includes the time in which a library compiles its kernel */
        if (best[i] < LONG)
            best[i] = time_of(m, i, 1);
        times[i] = best[i] < TURN ? (int64_t)(TURN / best[i]) + 1 : 1;
        turns = best[i] > LONG && !isinf(best[i]) ? TURNS_LONG : turns;
    }
    for (int turn = 0; turn < turns; turn++)
        for (int i = 0; i < WAYS; i++)
            if (!isinf(best[i]))
                best[i] = fmin(best[i], time_of(m, i, times[i]));
    *p = (way_point){.side = cbrt(work)};
    for (int i = 0; i < WAYS; i++)
        p->rate[i] = isinf(best[i]) ? 0.0 : 2e-9 * work / best[i];
}

static int key_of(const struct product_case *p)
{
    int64_t size = p->type == WAY_F64 ? 8 : p->type == WAY_F32 ? 4 : p->type == WAY_BF16 ? 2 : 1;
    int page = (p->type == WAY_F32 || p->type == WAY_F64) &&
               (p->columns * size % WAYS_PAGE == 0 || p->inner * size % WAYS_PAGE == 0);
    return WAY_PRODUCT(p->type, ways_form(p->rows, p->columns, p->inner, page));
}

static int start(measuring *m)
{
    uint64_t scratch = m->level->gemm->scratch_bytes;
    if (m->narrow->scratch_bytes > scratch)
        scratch = m->narrow->scratch_bytes;
    scratch = (scratch + 63) & ~(uint64_t)63;
    m->scratch = aligned_alloc(64, scratch + (uint64_t)3 * 8 * ELEMENTS);
    for (int k = 0; k < 3 && m->scratch; k++)
        m->matrix[k] = m->scratch + scratch + (uint64_t)k * 8 * ELEMENTS;
    m->plans = onednn_plans_create();
    return m->scratch && m->plans && library_enter();
}

void measure_products(const isa_level *level, const narrow_kernels *narrow, uint32_t types,
                      text *out)
{
    measuring m = {.level = level,
                   .narrow = narrow,
                   .blas = blas_open(NULL),
                   .onednn = onednn_open(NULL),
                   .onednn_types = types};
    double end = clock_now(CLOCK_MONOTONIC) + SECONDS;
    blas_use use;
    int runs = start(&m);
    if (runs && m.blas)
        (void)blas_enter(m.blas, &use, 1);
    for (size_t i = 0; i < CASES && runs && clock_now(CLOCK_MONOTONIC) < end; i++) {
        way_point p;
        m.of = &cases[i];
        if (!is_possible(&m, WAY_OPENBLAS) && !is_possible(&m, WAY_ONEDNN))
            continue;
        fill(&m);
        measure(&m, &p);
        ways_write(out, &openmp_ways, key_of(m.of), &p);
    }
    if (runs && m.blas)
        blas_leave(m.blas, &use);
    if (runs)
        library_leave();
    onednn_plans_free(m.plans);
    free(m.scratch);
}
