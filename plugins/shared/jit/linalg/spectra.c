/* SPDX-License-Identifier: Apache-2.0 */
/* qr, eigh and svd: the decompositions built on Householder reflectors. */
#include "spectra.h"

#include "slabs.h"
#include "shared/jit/texts.h"

static const char *const reflect_texts[] = {jit_text_linalg_slabs_params, jit_text_linalg_dense,
                                            jit_text_linalg_reflect, NULL};
static const jit_source reflect_source = {"reflect", reflect_texts};
static const char *const qr_texts[] = {jit_text_linalg_matrices_params,
                                       jit_text_linalg_matrices,
                                       jit_text_linalg_slabs_params,
                                       jit_text_linalg_dense,
                                       jit_text_linalg_take,
                                       jit_text_linalg_qr,
                                       NULL};
static const jit_source qr_source = {"qr", qr_texts};
static const char *const eigh_texts[] = {jit_text_linalg_matrices_params,
                                         jit_text_linalg_matrices,
                                         jit_text_linalg_slabs_params,
                                         jit_text_linalg_dense,
                                         jit_text_linalg_take,
                                         jit_text_linalg_rotate,
                                         jit_text_linalg_eigh,
                                         NULL};
static const jit_source eigh_source = {"eigh", eigh_texts};
static const char *const svd_texts[] = {jit_text_linalg_matrices_params,
                                        jit_text_linalg_matrices,
                                        jit_text_linalg_slabs_params,
                                        jit_text_linalg_dense,
                                        jit_text_linalg_take,
                                        jit_text_linalg_rotate,
                                        jit_text_linalg_svd,
                                        NULL};
static const jit_source svd_source = {"svd", svd_texts};

/* ---- Shared launches ------------------------------------------------------------------------ */

/* Launches in sequence, up to the first failure. */
typedef struct chain {
    jit_slabs d;
    collet_status status;
} chain;

static void go(chain *c, const jit_launch *l, uint64_t groups)
{
    if (c->status == COLLET_OK)
        c->status = jit_slabs_enqueue(&c->d, l, groups);
}

/* An m x n matrix at offset `first` of a slab. */
typedef struct place {
    int64_t first, m, n;
} place;

/* Copies operand k, or with `transposed` its transpose, into the slab. */
static void take(chain *c, uint32_t k, int transposed, const place *a, int32_t mirrored,
                 int32_t spectra)
{
    jit_launch l;
    const jit_batch *b = &c->d.batch;
    jit_slabs_launch(&c->d, &l, "take");
    jit_pass_operand(&l, jit_operand(c->d.call, k));
    jit_pass_i32(&l, (int32_t)k);
    jit_slabs_pass(&c->d, &l);
    jit_pass_i64(&l, a->first);
    jit_pass_i64(&l, a->m);
    jit_pass_i64(&l, a->n);
    jit_pass_i64(&l, transposed ? b->column[k] : b->row[k]);
    jit_pass_i64(&l, transposed ? b->row[k] : b->column[k]);
    jit_pass_i32(&l, mirrored);
    jit_pass_i32(&l, spectra);
    jit_pass_block(&l, b, sizeof *b);
    go(c, &l, (uint64_t)c->d.count);
}

static void identity(chain *c, const place *a)
{
    uint64_t across = jit_groups(c->d.traits, (uint64_t)(a->m * a->n));
    jit_launch l;
    jit_slabs_inside(&c->d, &l, &reflect_source, "identity");
    jit_pass_i64(&l, a->first);
    jit_pass_i64(&l, a->m);
    jit_pass_i64(&l, a->n);
    jit_pass_i64(&l, (int64_t)across);
    go(c, &l, across * (uint64_t)c->d.count);
}

/* The reflector of n numbers from `first` on, `step` apart; its tau goes to `tau`. */
typedef struct reflector {
    int64_t first, step, n, tau;
} reflector;

static void make(chain *c, const reflector *r)
{
    jit_launch l;
    jit_slabs_inside(&c->d, &l, &reflect_source, "reflector");
    jit_pass_i64(&l, r->first);
    jit_pass_i64(&l, r->step);
    jit_pass_i64(&l, r->n);
    jit_pass_i64(&l, r->tau);
    go(c, &l, (uint64_t)c->d.count);
}

/* Columns of a matrix per group, so that many groups share one matrix. */
#define MOST_COLUMNS 32

/* Applies a reflector to `count` columns, `column` apart, of numbers `row` apart; or, unless p is
 * 0, writes tau x^T v to p. */
static void reflect(chain *c, const reflector *r, int64_t x, int64_t row, int64_t column,
                    int64_t count, int64_t p)
{
    int32_t width = 1, most = (int32_t)c->d.traits->group;
    while (width < most && width < count && width < MOST_COLUMNS)
        width *= 2;
    uint64_t across = jit_ceiling((uint64_t)count, (uint64_t)width);
    jit_launch l;
    jit_slabs_inside(&c->d, &l, &reflect_source, "reflect");
    jit_pass_i64(&l, x);
    jit_pass_i64(&l, row);
    jit_pass_i64(&l, column);
    jit_pass_i64(&l, r->n);
    jit_pass_i64(&l, count);
    jit_pass_i64(&l, r->first);
    jit_pass_i64(&l, r->step);
    jit_pass_i64(&l, r->tau);
    jit_pass_i64(&l, p);
    jit_pass_i64(&l, (int64_t)across);
    jit_pass_i32(&l, width);
    go(c, &l, across * (uint64_t)c->d.count);
}

/* ---- qr -------------------------------------------------------------------------------------- */

static jit_slabs qr_of(collet_device *device, collet_queue *queue, const collet_kernel_call *call)
{
    jit_slabs d = jit_slabs_begin(device, queue, call, &qr_source, 2);
    int64_t min_mn = jit_smaller(d.m, d.n);
    d.pitch = jit_slabs_plus(d.pitch, min_mn, 1);
    d.pitch = jit_slabs_plus(jit_slabs_plus(d.pitch, d.m, d.n), d.m, min_mn);
    jit_slabs_operands(&d, 3);
    return d;
}

uint64_t jit_qr_workspace(collet_device *device, const collet_kernel_call *call)
{
    jit_slabs d = qr_of(device, NULL, call);
    return jit_slabs_bytes(&d);
}

collet_status jit_qr(collet_device *device, collet_queue *queue, const collet_kernel_call *call)
{
    chain c = {qr_of(device, queue, call), COLLET_OK};
    int64_t m = c.d.m, n = c.d.n, min_mn = jit_smaller(m, n);
    place a = {QR_MATRIX(min_mn), m, n}, q = {QR_FACTOR(m, n, min_mn), m, min_mn};
    take(&c, 2, 0, &a, 0, 0);
    for (int64_t k = 0; k < min_mn; k++) {
        reflector r = {a.first + k * n + k, n, m - k, QR_TAU + k};
        make(&c, &r);
        reflect(&c, &r, r.first + 1, n, 1, n - k - 1, 0);
    }
    identity(&c, &q);
    for (int64_t k = min_mn - 1; k >= 0; k--) {
        reflector r = {a.first + k * n + k, n, m - k, QR_TAU + k};
        reflect(&c, &r, q.first + k * min_mn + k, min_mn, 1, min_mn - k, 0);
    }
    jit_launch l;
    jit_slabs_launch(&c.d, &l, "give");
    jit_pass_operand(&l, jit_operand(call, 0));
    jit_pass_operand(&l, jit_operand(call, 1));
    jit_slabs_pass(&c.d, &l);
    jit_pass_i64(&l, m);
    jit_pass_i64(&l, n);
    jit_pass_block(&l, &c.d.batch, sizeof c.d.batch);
    go(&c, &l, (uint64_t)c.d.count);
    return c.status;
}

/* ---- eigh ------------------------------------------------------------------------------------ */

static jit_slabs eigh_of(collet_device *device, collet_queue *queue, const collet_kernel_call *call)
{
    jit_slabs d = jit_slabs_begin(device, queue, call, &eigh_source, 3);
    d.pitch = jit_slabs_plus(d.pitch, d.n, 8);
    d.pitch = jit_slabs_plus(jit_slabs_plus(d.pitch, d.n, d.n), d.n, d.n);
    jit_slabs_operands(&d, 4);
    return d;
}

uint64_t jit_eigh_workspace(collet_device *device, const collet_kernel_call *call)
{
    jit_slabs d = eigh_of(device, NULL, call);
    return jit_slabs_bytes(&d);
}

/* Applies the reflector from both sides to the matrix that begins one column after r, with p = tau
 * x v there. */
static void rank_two(chain *c, const reflector *r, int64_t p)
{
    uint64_t per_group = (uint64_t)c->d.traits->group * EIGH_EACH;
    uint64_t across = jit_ceiling((uint64_t)(r->n * r->n), per_group);
    jit_launch l;
    jit_slabs_inside(&c->d, &l, &eigh_source, "rank_two");
    jit_pass_i64(&l, r->first + 1);
    jit_pass_i64(&l, c->d.n);
    jit_pass_i64(&l, r->n);
    jit_pass_i64(&l, r->first);
    jit_pass_i64(&l, r->step);
    jit_pass_i64(&l, r->tau);
    jit_pass_i64(&l, p);
    jit_pass_i64(&l, (int64_t)across);
    go(c, &l, across * (uint64_t)c->d.count);
}

collet_status jit_eigh(collet_device *device, collet_queue *queue, const collet_kernel_call *call)
{
    chain c = {eigh_of(device, queue, call), COLLET_OK};
    int64_t n = c.d.n, taus = EIGH_TAU(n), p = EIGH_VECTOR(n);
    place a = {EIGH_MATRIX(n), n, n}, vectors = {EIGH_VECTORS(n), n, n};
    jit_launch l;
    take(&c, 3, 0, &a, 1, 1);
    for (int64_t k = 0; k + 1 < n; k++) {
        reflector r = {a.first + (k + 1) * n + k, n, n - k - 1, taus + k};
        make(&c, &r);
        reflect(&c, &r, r.first + 1, n, 1, r.n, p);
        rank_two(&c, &r, p);
    }
    identity(&c, &vectors);
    /* The vectors are stored as rows, so the product of the reflectors is accumulated transposed.
     */
    for (int64_t k = n - 2; k >= 0; k--) {
        reflector r = {a.first + (k + 1) * n + k, n, n - k - 1, taus + k};
        reflect(&c, &r, vectors.first + (k + 1) * (n + 1), 1, n, r.n, 0);
    }
    jit_slabs_inside(&c.d, &l, &eigh_source, "iterate");
    jit_pass_i64(&l, n);
    go(&c, &l, (uint64_t)c.d.count);
    jit_slabs_launch(&c.d, &l, "give");
    for (uint32_t k = 0; k < 3; k++)
        jit_pass_operand(&l, jit_operand(call, k));
    jit_slabs_pass(&c.d, &l);
    jit_pass_i64(&l, n);
    jit_pass_block(&l, &c.d.batch, sizeof c.d.batch);
    go(&c, &l, (uint64_t)c.d.count);
    return c.status;
}

/* ---- svd ------------------------------------------------------------------------------------- */

/* m >= n: the extents of the matrices or of their transposes. */
static jit_slabs svd_of(collet_device *device, collet_queue *queue, const collet_kernel_call *call)
{
    jit_slabs d = jit_slabs_begin(device, queue, call, &svd_source, 4);
    int64_t min_mn = jit_smaller(d.m, d.n);
    d.m = d.m > d.n ? d.m : d.n;
    d.n = min_mn;
    d.pitch = jit_slabs_plus(jit_slabs_plus(d.pitch, d.n, 12), d.n, d.n);
    d.pitch = jit_slabs_plus(jit_slabs_plus(d.pitch, d.m, d.n), d.m, d.n);
    jit_slabs_operands(&d, 5);
    return d;
}

uint64_t jit_svd_workspace(collet_device *device, const collet_kernel_call *call)
{
    jit_slabs d = svd_of(device, NULL, call);
    return jit_slabs_bytes(&d);
}

/* The reflectors of column k, from the left, and of the rest of row k, from the
 * right. */
static reflector of_column(const place *a, int64_t k)
{
    return (reflector){a->first + k * a->n + k, a->n, a->m - k, SVD_TAU_LEFT(a->n) + k};
}

static reflector of_row(const place *a, int64_t k)
{
    return (reflector){a->first + k * a->n + k + 1, 1, a->n - k - 1, SVD_TAU_RIGHT(a->n) + k};
}

static void bidiagonalise(chain *c, const place *a)
{
    for (int64_t k = 0; k < a->n; k++) {
        reflector left = of_column(a, k), right = of_row(a, k);
        make(c, &left);
        if (right.n == 0)
            break;
        reflect(c, &left, right.first, a->n, 1, right.n, 0);
        make(c, &right);
        reflect(c, &right, right.first + a->n, 1, a->n, a->m - k - 1, 0);
    }
}

/* The columns of U as rows of u, those of V as rows of v. */
static void accumulate(chain *c, const place *a, const place *u, const place *v)
{
    identity(c, u);
    identity(c, v);
    for (int64_t k = a->n - 1; k >= 0; k--) {
        reflector left = of_column(a, k), right = of_row(a, k);
        reflect(c, &left, u->first + k * (a->m + 1), 1, a->m, a->n - k, 0);
        if (right.n > 0)
            reflect(c, &right, v->first + (k + 1) * (a->n + 1), 1, a->n, right.n, 0);
    }
}

collet_status jit_svd(collet_device *device, collet_queue *queue, const collet_kernel_call *call)
{
    chain c = {svd_of(device, queue, call), COLLET_OK};
    const collet_operand *in = jit_operand(call, 4);
    int transposed = jit_extent(in, 1) < jit_extent(in, 0);
    int64_t m = c.d.m, n = c.d.n;
    place a = {SVD_MATRIX(n), m, n}, u = {SVD_LEFT(m, n), n, m}, v = {SVD_RIGHT(m, n), n, n};
    jit_launch l;
    take(&c, 4, transposed, &a, 0, 1);
    bidiagonalise(&c, &a);
    accumulate(&c, &a, &u, &v);
    jit_slabs_inside(&c.d, &l, &svd_source, "iterate");
    jit_pass_i64(&l, m);
    jit_pass_i64(&l, n);
    go(&c, &l, (uint64_t)c.d.count);
    jit_slabs_launch(&c.d, &l, "give");
    for (uint32_t k = 0; k < 4; k++)
        jit_pass_operand(&l, jit_operand(call, k));
    jit_slabs_pass(&c.d, &l);
    jit_pass_i64(&l, m);
    jit_pass_i64(&l, n);
    jit_pass_i32(&l, transposed);
    jit_pass_block(&l, &c.d.batch, sizeof c.d.batch);
    go(&c, &l, (uint64_t)c.d.count);
    return c.status;
}
