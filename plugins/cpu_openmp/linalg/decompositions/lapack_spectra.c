/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/linalg/spectra.c, tests/host/test_decompositions.c */
#include <pthread.h>

#include "cpu_openmp/util/real.h"
#include "shared/host/linalg/decompositions.h"
#include "shared/host/linalg/matrices.h"
#include "lapack.h"

/* From this length of the shorter side on, several threads of the library are faster than one thread. With shorter
 * sides the threads mostly wait for each other. Two threads save no time at side 256, 15 % at side 512, and a third
 * at side 1000. */
#define LIBRARY_THREADS_SIDE 384

static int32_t library_threads(const lapack_job *job, const dense_view *a)
{
    int64_t side = a->rows < a->columns ? a->rows : a->columns;
    return side < LIBRARY_THREADS_SIDE ? 1 : job->threads;
}

/* Stores the adjacent elements at x as output `o` of matrix `index`. */
static void store_vector(const collet_operand *o, int64_t index, const void *x)
{
    uint64_t size = cpu_dtype_size(o->dtype);
    cpu_move(cpu_matrix_at(o, 1, index), cpu_step(o, o->ndim - 1), x, (int64_t)size, size,
             operand_extent(o, 0));
}

/* ---- svd ------------------------------------------------------------------------------------- */

/* LAPACK reads a row-major matrix as its transpose. The U and V^T that it stores, read as row-major, are the V^T and
 * U of the matrix; so nothing has to be transposed. */
typedef struct svd_scratch {
    void *a, *u, *s, *vt, *work, *reals, *integers;
    int lwork;
} svd_scratch;

static int64_t larger(int64_t x, int64_t y)
{
    return x > y ? x : y;
}

static svd_scratch svd_take(const collet_kernel_call *call, lapack_pieces *p)
{
    const collet_operand *u = operand_of(call, 0), *vt = operand_of(call, 2);
    const collet_operand *a = operand_of(call, 4);
    int64_t m = operand_extent(a, 1), n = operand_extent(a, 0), k = m < n ? m : n;
    int64_t numbers = 4 * k * k + 7 * k + 64 * (m + n);
    uint64_t size = cpu_dtype_size(a->dtype);
    svd_scratch r;
    r.a = lapack_take(p, m, n, size);
    r.u = dense_output(u, 0).at ? NULL : lapack_take(p, m, k, size);
    r.vt = dense_output(vt, 0).at ? NULL : lapack_take(p, k, n, size);
    r.s = lapack_take(p, k, 1, size);
    r.work = lapack_take(p, numbers, 1, size);
    r.reals = lapack_take(p, larger(5 * k * k + 5 * k, 2 * k * (larger(m, n) + k) + k),
                          part_of(a->dtype) == a->dtype ? 0 : 1, size / 2);
    r.integers = lapack_take(p, 8 * k, 1, sizeof(int));
    r.lwork = (int)numbers;
    return r;
}

void lapack_svd_scratch(const collet_kernel_call *call, lapack_pieces *p)
{
    (void)svd_take(call, p);
}

/* Returns 0, or another number if the method did not converge. */
static int decompose(const lapack_job *job, int64_t index, const svd_scratch *r,
                     const dense_view *a)
{
    const collet_operand *u_out = operand_of(job->call, 0), *vt_out = operand_of(job->call, 2);
    dense_view u = dense_output(u_out, index), vt = dense_output(vt_out, index);
    if (!u.at)
        u = dense_at(r->u, a->dtype, u.rows, u.columns);
    if (!vt.at)
        vt = dense_at(r->vt, a->dtype, vt.rows, vt.columns);
    int m = (int)a->columns, n = (int)a->rows, u_stride = dense_stride(&u);
    int vt_stride = dense_stride(&vt), info;
    blas_use use;
    lapack_enter(job, &use, library_threads(job, a));
    if (job->parts == 2)
        job->lapack->gesdd_complex("S", &m, &n, r->a, &m, r->s, vt.at, &vt_stride, u.at, &u_stride,
                                   r->work, &r->lwork, r->reals, r->integers, &info, 1);
    else
        job->lapack->gesdd("S", &m, &n, r->a, &m, r->s, vt.at, &vt_stride, u.at, &u_stride, r->work,
                           &r->lwork, r->integers, &info, 1);
    lapack_leave(job, &use);
    if (info != 0)
        return 1;
    dense_view out = dense_of(u_out, index);
    if (out.at != u.at)
        dense_copy(job->device, job->threads, &out, &u);
    out = dense_of(vt_out, index);
    if (out.at != vt.at)
        dense_copy(job->device, job->threads, &out, &vt);
    store_vector(operand_of(job->call, 1), index, r->s);
    return 0;
}

void lapack_svd(const lapack_job *job, void *scratch, int64_t begin, int64_t end)
{
    const collet_kernel_call *call = job->call;
    lapack_pieces p = {.base = scratch};
    svd_scratch r = svd_take(call, &p);
    for (int64_t index = begin; index < end; index++) {
        dense_view in = dense_of(operand_of(call, 4), index);
        dense_view a = dense_at(r.a, in.dtype, in.rows, in.columns);
        if (!lapack_is_regular(job, dense_load(job->device, job->threads, &a, &in, 0)) ||
            decompose(job, index, &r, &a))
            (void)cpu_decomposition_run(call, scratch, index, index + 1);
        else
            cpu_info_store(operand_of(call, 3), index, 0);
    }
}

/* ---- eigh ------------------------------------------------------------------------------------ */

typedef struct eigh_scratch {
    void *a, *values, *work, *reals, *integers;
    int lwork, lrwork, liwork;
} eigh_scratch;

static eigh_scratch eigh_take(const collet_kernel_call *call, lapack_pieces *p)
{
    const collet_operand *a = operand_of(call, 3);
    int64_t n = operand_extent(a, 0), numbers = 2 * n * n + 64 * n + 1;
    uint64_t size = cpu_dtype_size(a->dtype);
    eigh_scratch r;
    r.a = lapack_take(p, n, n, size);
    r.values = lapack_take(p, n, 1, size);
    r.work = lapack_take(p, numbers, 1, size);
    r.lrwork = (int)(2 * n * n + 5 * n + 1);
    r.reals = lapack_take(p, r.lrwork, part_of(a->dtype) == a->dtype ? 0 : 1, size / 2);
    r.integers = lapack_take(p, 5 * n + 3, 1, sizeof(int));
    r.lwork = (int)numbers;
    r.liwork = (int)(5 * n + 3);
    return r;
}

void lapack_eigh_scratch(const collet_kernel_call *call, lapack_pieces *p)
{
    (void)eigh_take(call, p);
}

/* Replaces the matrix in r->a by its eigenvectors. A complex matrix is replaced by the eigenvectors of its conjugate.
 * Returns LAPACK's info. */
static int eigenvectors(const lapack_job *job, const eigh_scratch *r, int64_t order)
{
    int n = (int)order, info;
    /* The lower triangle in row-major order is the upper triangle in LAPACK's column-major order.
     * */
    if (job->parts == 1) {
        job->lapack->syevd("V", "U", &n, r->a, &n, r->values, r->work, &r->lwork, r->integers,
                           &r->liwork, &info, 1, 1);
        return info;
    }
    job->lapack->heevd("V", "U", &n, r->a, &n, r->values, r->work, &r->lwork, r->reals, &r->lrwork,
                       r->integers, &r->liwork, &info, 1, 1);
    for (int64_t i = 0; i < order * order; i++) {
        char *imaginary = (char *)r->a + (2 * i + 1) * job->size / 2;
        real_store(imaginary, job->wide, -real_load(imaginary, job->wide));
    }
    return info;
}

void lapack_eigh(const lapack_job *job, void *scratch, int64_t begin, int64_t end)
{
    const collet_kernel_call *call = job->call;
    const collet_operand *values = operand_of(call, 0), *vectors = operand_of(call, 1);
    lapack_pieces p = {.base = scratch};
    eigh_scratch r = eigh_take(call, &p);
    for (int64_t index = begin; index < end; index++) {
        dense_view in = dense_of(operand_of(call, 3), index), out = dense_of(vectors, index);
        dense_view a = dense_at(r.a, in.dtype, in.rows, in.columns);
        int info = 1;
        blas_use use;
        if (lapack_is_regular(job, dense_load(job->device, job->threads, &a, &in, 1))) {
            lapack_enter(job, &use, library_threads(job, &a));
            info = eigenvectors(job, &r, in.rows);
            lapack_leave(job, &use);
        }
        if (info != 0) {
            (void)cpu_decomposition_run(call, scratch, index, index + 1);
            continue;
        }
        dense_view transpose = dense_transposed(a);
        dense_copy(job->device, job->threads, &out, &transpose);
        store_vector(values, index, r.values);
        cpu_info_store(operand_of(call, 2), index, 0);
    }
}

/* ---- eig ------------------------------------------------------------------------------------- */

/* Numbers of LAPACK's workspace per row of the matrix: two blocks of 64 and some more. */
#define EIG_WORK 132

typedef struct eig_scratch {
    void *a, *values, *vectors, *work, *reals;
    int lwork;
} eig_scratch;

static eig_scratch eig_take(const collet_kernel_call *call, lapack_pieces *p)
{
    const collet_operand *a = operand_of(call, 3);
    int64_t n = operand_extent(a, 0);
    uint64_t size = cpu_dtype_size(a->dtype);
    eig_scratch r = {.lwork = (int)(EIG_WORK * n)};
    r.a = lapack_take(p, n, n, size);
    r.vectors = lapack_take(p, n, n, size);
    r.values = lapack_take(p, n, 2, size);
    r.work = lapack_take(p, EIG_WORK, n, size);
    r.reals = lapack_take(p, n, 2, size);
    return r;
}

void lapack_eig_scratch(const collet_kernel_call *call, lapack_pieces *p)
{
    (void)eig_take(call, p);
}

static void set_complex(char *at, int wide, double real, double imaginary)
{
    real_store(at, wide, real);
    real_store(at + (wide ? 8 : 4), wide, imaginary);
}

/* Stores LAPACK's results for a real matrix as complex numbers. In a conjugate pair of eigenvalues, the first
 * eigenvalue has the positive imaginary part. LAPACK's two columns are the real and imaginary parts of its vector. */
static void store_pairs(const lapack_job *job, int64_t index, const eig_scratch *r, int64_t n)
{
    const collet_operand *values = operand_of(job->call, 0);
    dense_view out = dense_of(operand_of(job->call, 1), index);
    char *value = cpu_matrix_at(values, 1, index);
    int64_t size = job->size, step = cpu_step(values, values->ndim - 1);
    const char *re = r->values, *im = re + n * size;
    double other = 0.0;
    for (int64_t k = 0; k < n; k++) {
        double imaginary = real_load(im + k * size, job->wide);
        /* The second vector of a pair is the conjugate of the first and uses the same two columns. */
        int second = imaginary < 0.0 && other > 0.0;
        const char *column = (const char *)r->vectors + (second ? k - 1 : k) * n * size;
        set_complex(value + k * step, job->wide, real_load(re + k * size, job->wide), imaginary);
        for (int64_t i = 0; i < n; i++) {
            double part = imaginary == 0.0 ? 0.0 : real_load(column + (n + i) * size, job->wide);
            set_complex(out.at + i * out.row + k * out.column, job->wide,
                        real_load(column + i * size, job->wide), second ? -part : part);
        }
        other = second ? 0.0 : imaginary;
    }
}

typedef struct geev_call {
    const lapack_job *job;
    const eig_scratch *r;
    int n, info;
} geev_call;

static void *run_geev(void *argument)
{
    geev_call *c = argument;
    const eig_scratch *r = c->r;
    char *values = r->values;
    int *n = &c->n, one = 1;
    if (c->job->parts == 2)
        c->job->lapack->geev_complex("N", "V", n, r->a, n, values, NULL, &one, r->vectors, n,
                                     r->work, &r->lwork, r->reals, &c->info, 1, 1);
    else
        c->job->lapack->geev("N", "V", n, r->a, n, values, values + *n * c->job->size, NULL, &one,
                             r->vectors, n, r->work, &r->lwork, &c->info, 1, 1);
    return NULL;
}

/* Runs `work` on a thread with a large stack: LAPACK's hqr needs more stack than collet.h requires of callers. Returns
 * 0 if no thread could be started. */
static int on_large_stack(void *(*work)(void *), void *argument)
{
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0)
        return 0;
    int started = pthread_attr_setstacksize(&attributes, 1 << 20) == 0 &&
                  pthread_create(&thread, &attributes, work, argument) == 0;
    pthread_attr_destroy(&attributes);
    return started && pthread_join(thread, NULL) == 0;
}

/* Returns 0 on success. `a` is the matrix in r->a, in column-major order. */
static int decompose_any(const lapack_job *job, int64_t index, const eig_scratch *r,
                         const dense_view *a)
{
    geev_call c = {.job = job, .r = r, .n = (int)a->rows, .info = 1};
    int64_t n = a->rows;
    blas_use use;
    lapack_enter(job, &use, library_threads(job, a));
    int done = on_large_stack(run_geev, &c);
    lapack_leave(job, &use);
    if (!done || c.info != 0)
        return 1;
    if (job->parts == 1) {
        store_pairs(job, index, r, n);
        return 0;
    }
    dense_view out = dense_of(operand_of(job->call, 1), index);
    dense_view vectors = dense_transposed(dense_at(r->vectors, a->dtype, n, n));
    dense_copy(job->device, job->threads, &out, &vectors);
    store_vector(operand_of(job->call, 0), index, r->values);
    return 0;
}

void lapack_eig(const lapack_job *job, void *scratch, int64_t begin, int64_t end)
{
    const collet_kernel_call *call = job->call;
    lapack_pieces p = {.base = scratch};
    eig_scratch r = eig_take(call, &p);
    for (int64_t index = begin; index < end; index++) {
        dense_view in = dense_of(operand_of(call, 3), index);
        dense_view a = dense_transposed(dense_at(r.a, in.dtype, in.rows, in.columns));
        if (!lapack_is_regular(job, dense_load(job->device, job->threads, &a, &in, 0)) ||
            decompose_any(job, index, &r, &a) != 0)
            (void)cpu_decomposition_run(call, scratch, index, index + 1);
        else
            cpu_info_store(operand_of(call, 2), index, 0);
    }
}
