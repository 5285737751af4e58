/* SPDX-License-Identifier: Apache-2.0 */
/* fft by FFTW 3, planned by measuring. The inverse of a half spectrum is left out: FFTW overwrites
 * its input and does not scale.
 * Tests: tests/tools/test_bench_against.c */
#include "reference.h"

#include "bench/ops/inputs.h"

#include <stdio.h>
#include <string.h>

enum { FORWARD = -1, MEASURE = 0 };

typedef struct fftw {
    int (*init_threads)(void);
    void (*plan_with_nthreads)(int threads);
    void *(*plan_complex)(int rank, const int *n, int batch, void *in, const int *in_embed,
                          int in_step, int in_distance, void *out, const int *out_embed,
                          int out_step, int out_distance, int sign, unsigned flags);
    void *(*plan_real)(int rank, const int *n, int batch, void *in, const int *in_embed,
                       int in_step, int in_distance, void *out, const int *out_embed, int out_step,
                       int out_distance, unsigned flags); /* r2c */
    void (*execute)(const void *plan);
    void *plan;
} fftw;

static int32_t call_plan(reference_job *job)
{
    const fftw *f = job->state;
    f->execute(f->plan);
    return 1;
}

static int is_complex(collet_dtype dtype)
{
    return dtype == COLLET_C64 || dtype == COLLET_C128;
}

/* FFTW_MEASURE overwrites the operands, so they are filled again. */
static int32_t make_plan(reference_job *job, fftw *f)
{
    const bench_operand *out = &job->operands[0], *in = &job->operands[1];
    int n[3], batch = 1, rank = job->axes, in_distance = 1, out_distance = 1;
    int32_t first = in->ndim - rank;
    for (int32_t i = 0; i < in->ndim; i++) {
        if (i < first) {
            batch *= (int)in->shape[i];
            continue;
        }
        n[i - first] = (int)in->shape[i];
        in_distance *= (int)in->shape[i];
        out_distance *= (int)out->shape[i];
    }
    f->init_threads();
    f->plan_with_nthreads(job->threads);
    if (is_complex(in->dtype))
        f->plan = f->plan_complex(rank, n, batch, job->data[1], NULL, 1, in_distance, job->data[0],
                                  NULL, 1, out_distance, FORWARD, MEASURE);
    else
        f->plan = f->plan_real(rank, n, batch, job->data[1], NULL, 1, in_distance, job->data[0],
                               NULL, 1, out_distance, MEASURE);
    bench_input_fill(in, 1, job->data[1]);
    return f->plan ? 1 : reference_fail(job, "it does not support this plan");
}

int32_t reference_fftw_open(reference_job *job)
{
    collet_dtype from = job->operands[1].dtype;
    int32_t wide = from == COLLET_C128 || from == COLLET_F64;
    fftw *f = reference_memory(job, sizeof *f);
    if (job->axes < 1 || job->axes > 3)
        return reference_fail(job, "one to three axes are compared");
    void *plain = f ? reference_load(job, wide ? "libfftw3.so.3" : "libfftw3f.so.3") : NULL;
    void *threads =
        plain ? reference_load(job, wide ? "libfftw3_threads.so.3" : "libfftw3f_threads.so.3")
              : NULL;
    const char *version = "", *prefix = wide ? "fftw_" : "fftwf_";
    if (!threads ||
        !reference_find(job, threads, prefix,
                        (reference_symbol[]){{"init_threads", &f->init_threads},
                                             {"plan_with_nthreads", &f->plan_with_nthreads},
                                             {NULL, NULL}}) ||
        !reference_find(job, plain, prefix,
                        (reference_symbol[]){{"plan_many_dft", &f->plan_complex},
                                             {"plan_many_dft_r2c", &f->plan_real},
                                             {"execute", &f->execute},
                                             {"version", &version},
                                             {NULL, NULL}}))
        return 0;
    job->state = f;
    job->call = call_plan;
    snprintf(job->text, sizeof job->text, "%.64s, FFTW_MEASURE", version);
    return make_plan(job, f);
}
