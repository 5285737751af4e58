/* SPDX-License-Identifier: Apache-2.0 */
/* qr, eigh, svd and eig: the decompositions built on Householder reflectors.
 * Tests: conformance/linalg/spectra.c, conformance/linalg/factors.c, conformance/linalg/eigen.c */
#include "linalg.h"
#include "shared/host/util/counts.h"
#include "slabs.h"
#include "shared/jit/texts.h"

static const jit_source reflect_source =
    JIT_SOURCE("reflect", SLAB_NUMBER_TEXTS, jit_text_linalg_reflect);
static const jit_source qr_source =
    JIT_SOURCE("qr", SLAB_TEXTS, jit_text_linalg_load, jit_text_linalg_qr);
static const jit_source eigh_source = JIT_SOURCE("eigh", SLAB_TEXTS, jit_text_linalg_load,
                                                 jit_text_linalg_rotate, jit_text_linalg_eigh);
static const jit_source svd_source = JIT_SOURCE("svd", SLAB_TEXTS, jit_text_linalg_load,
                                                jit_text_linalg_rotate, jit_text_linalg_svd);
static const jit_source eig_source =
    JIT_SOURCE("eig", SLAB_TEXTS, jit_text_linalg_load, jit_text_linalg_eig);

/* ---- Shared launches ------------------------------------------------------------------------ */

/* An m x n matrix at offset `first` of a slab. */
typedef struct place {
    int64_t first, m, n;
} place;

/* Copies operand k, or with `transposed` its transpose, into the slab. */
static void load(jit_slabs *d, uint32_t k, int transposed, const place *a, int32_t mirrored,
                 int32_t spectra)
{
    jit_launch l;
    const jit_batch *b = &d->batch;
    jit_slabs_launch(d, &l, "load");
    jit_pass_operand(&l, operand_of(d->s.call, k));
    jit_pass_i32(&l, (int32_t)k);
    jit_slabs_pass(d, &l);
    jit_pass_i64s(&l, a->first, a->m, a->n, transposed ? b->column[k] : b->row[k],
                  transposed ? b->row[k] : b->column[k]);
    jit_pass_i32(&l, mirrored);
    jit_pass_i32(&l, spectra);
    jit_slabs_each(d, &l);
}

static void identity(jit_slabs *d, const place *a)
{
    uint64_t across = jit_groups(d->s.traits, (uint64_t)(a->m * a->n));
    jit_launch l;
    jit_slabs_inside(d, &l, &reflect_source, "identity");
    jit_pass_i64s(&l, a->first, a->m, a->n, (int64_t)across);
    jit_sequence_enqueue(&d->s, &l, across * (uint64_t)d->count);
}

/* The reflector of the n numbers from offset `first` of a slab on, `step` apart; its tau is at offset `tau`. With
 * `conjugated`, the conjugate of the reflector is applied. */
typedef struct reflector {
    int64_t first, step, n, tau, conjugated;
} reflector;

static void make(jit_slabs *d, const reflector *r)
{
    jit_launch l;
    jit_slabs_inside(d, &l, &reflect_source, "reflector");
    jit_pass_i64s(&l, r->first, r->step, r->n, r->tau);
    jit_sequence_enqueue(&d->s, &l, (uint64_t)d->count);
}

/* The maximum number of columns of a group, so that many groups share one matrix. */
#define MOST_COLUMNS 32

/* Applies a reflector to `count` columns, `column` apart, whose numbers are `row` apart. If p is not 0, only writes
 * tau x^T conj(v) to p instead. */
static void reflect(jit_slabs *d, const reflector *r, int64_t x, int64_t row, int64_t column,
                    int64_t count, int64_t p)
{
    int32_t width = 1, most = (int32_t)d->s.traits->group;
    while (width < most && width < count && width < MOST_COLUMNS)
        width *= 2;
    uint64_t across = jit_ceiling((uint64_t)count, (uint64_t)width);
    jit_launch l;
    jit_slabs_inside(d, &l, &reflect_source, "reflect");
    jit_pass_i64s(&l, x, row, column, r->n, count, r->first, r->step, r->conjugated, r->tau, p,
                  (int64_t)across);
    jit_pass_i32(&l, width);
    jit_sequence_enqueue(&d->s, &l, across * (uint64_t)d->count);
}

/* ---- qr -------------------------------------------------------------------------------------- */

static jit_slabs qr_of(collet_device *device, collet_queue *queue, const collet_kernel_call *call)
{
    jit_slabs d = jit_slabs_begin(device, queue, call, &qr_source, 2);
    int64_t min_mn = min_i64(d.m, d.n);
    d.pitch = jit_slabs_plus(d.pitch, min_mn, 1);
    d.pitch = jit_slabs_plus(jit_slabs_plus(d.pitch, d.m, d.n), d.m, min_mn);
    jit_slabs_operands(&d, 3);
    return d;
}

JIT_ACCEPTS(qr)
{
    jit_slabs d = qr_of(device, NULL, call);
    *workspace_bytes = jit_slabs_bytes(&d);
    return COLLET_OK;
}

JIT_KERNEL(qr)
{
    jit_slabs d = qr_of(device, queue, call);
    int64_t m = d.m, n = d.n, min_mn = min_i64(m, n);
    place a = {QR_MATRIX(min_mn), m, n}, q = {QR_FACTOR(m, n, min_mn), m, min_mn};
    load(&d, 2, 0, &a, 0, 0);
    for (int64_t k = 0; k < min_mn; k++) {
        reflector r = {a.first + k * n + k, n, m - k, QR_TAU + k, 0};
        make(&d, &r);
        reflect(&d, &r, r.first + 1, n, 1, n - k - 1, 0);
    }
    identity(&d, &q);
    for (int64_t k = min_mn - 1; k >= 0; k--) {
        reflector r = {a.first + k * n + k, n, m - k, QR_TAU + k, 0};
        reflect(&d, &r, q.first + k * min_mn + k, min_mn, 1, min_mn - k, 0);
    }
    jit_launch l;
    jit_slabs_launch(&d, &l, "store");
    jit_pass_operands(&l, call, 2);
    jit_slabs_pass(&d, &l);
    jit_pass_i64s(&l, m, n);
    jit_slabs_each(&d, &l);
    return d.s.status;
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

JIT_ACCEPTS(eigh)
{
    jit_slabs d = eigh_of(device, NULL, call);
    *workspace_bytes = jit_slabs_bytes(&d);
    return COLLET_OK;
}

/* Applies the reflector from both sides to the matrix x that begins one column after r. `p` is the offset of the
 * vector conj(tau x v). */
static void rank_two(jit_slabs *d, const reflector *r, int64_t p)
{
    uint64_t per_group = (uint64_t)d->s.traits->group * EIGH_EACH;
    uint64_t across = jit_ceiling((uint64_t)(r->n * r->n), per_group);
    jit_launch l;
    jit_slabs_inside(d, &l, &eigh_source, "rank_two");
    jit_pass_i64s(&l, r->first + 1, d->n, r->n, r->first, r->step, r->tau, p, (int64_t)across);
    jit_sequence_enqueue(&d->s, &l, across * (uint64_t)d->count);
}

JIT_KERNEL(eigh)
{
    jit_slabs d = eigh_of(device, queue, call);
    int64_t n = d.n, taus = EIGH_TAU(n), p = EIGH_VECTOR(n);
    place a = {EIGH_MATRIX(n), n, n}, vectors = {EIGH_VECTORS(n), n, n};
    jit_launch l;
    load(&d, 3, 0, &a, 1, 1);
    for (int64_t k = 0; k + 1 < n; k++) {
        reflector r = {a.first + (k + 1) * n + k, n, n - k - 1, taus + k, 0};
        make(&d, &r);
        reflect(&d, &r, r.first + 1, n, 1, r.n, p);
        rank_two(&d, &r, p);
    }
    identity(&d, &vectors);
    /* The vectors are stored as rows, so the product of the reflectors is accumulated transposed.
     */
    for (int64_t k = n - 2; k >= 0; k--) {
        reflector r = {a.first + (k + 1) * n + k, n, n - k - 1, taus + k, 0};
        reflect(&d, &r, vectors.first + (k + 1) * (n + 1), 1, n, r.n, 0);
    }
    jit_slabs_inside(&d, &l, &eigh_source, "iterate");
    jit_pass_i64(&l, n);
    jit_sequence_enqueue(&d.s, &l, (uint64_t)d.count);
    jit_slabs_launch(&d, &l, "store");
    jit_pass_operands(&l, call, 3);
    jit_slabs_pass(&d, &l);
    jit_pass_i64(&l, n);
    jit_slabs_each(&d, &l);
    return d.s.status;
}

/* ---- svd ------------------------------------------------------------------------------------- */

/* Begins svd. m >= n are the extents of the matrices or of their transposes. */
static jit_slabs svd_of(collet_device *device, collet_queue *queue, const collet_kernel_call *call)
{
    jit_slabs d = jit_slabs_begin(device, queue, call, &svd_source, 4);
    int64_t min_mn = min_i64(d.m, d.n);
    d.m = d.m > d.n ? d.m : d.n;
    d.n = min_mn;
    d.pitch = jit_slabs_plus(jit_slabs_plus(d.pitch, d.n, 12), d.n, d.n);
    d.pitch = jit_slabs_plus(jit_slabs_plus(d.pitch, d.m, d.n), d.m, d.n);
    jit_slabs_operands(&d, 5);
    return d;
}

JIT_ACCEPTS(svd)
{
    jit_slabs d = svd_of(device, NULL, call);
    *workspace_bytes = jit_slabs_bytes(&d);
    return COLLET_OK;
}

/* The reflector of column k is applied from the left; the reflector of the remaining elements of row k is applied
 * from the right. */
static reflector of_column(const place *a, int64_t k)
{
    return (reflector){a->first + k * a->n + k, a->n, a->m - k, SVD_TAU_LEFT(a->n) + k, 0};
}

static reflector of_row(const place *a, int64_t k)
{
    return (reflector){a->first + k * a->n + k + 1, 1, a->n - k - 1, SVD_TAU_RIGHT(a->n) + k, 0};
}

static void bidiagonalise(jit_slabs *d, const place *a)
{
    for (int64_t k = 0; k < a->n; k++) {
        reflector left = of_column(a, k), right = of_row(a, k);
        make(d, &left);
        if (right.n == 0)
            break;
        reflect(d, &left, right.first, a->n, 1, right.n, 0);
        make(d, &right);
        reflect(d, &right, right.first + a->n, 1, a->n, a->m - k - 1, 0);
    }
}

/* Stores the columns of U as the rows of u, and V^H as v. */
static void accumulate(jit_slabs *d, const place *a, const place *u, const place *v)
{
    identity(d, u);
    identity(d, v);
    for (int64_t k = a->n - 1; k >= 0; k--) {
        reflector left = of_column(a, k), right = of_row(a, k);
        reflect(d, &left, u->first + k * (a->m + 1), 1, a->m, a->n - k, 0);
        if (right.n > 0)
            reflect(d, &right, v->first + (k + 1) * (a->n + 1), 1, a->n, right.n, 0);
    }
}

JIT_KERNEL(svd)
{
    jit_slabs d = svd_of(device, queue, call);
    const collet_operand *in = operand_of(call, 4);
    int transposed = operand_extent(in, 1) < operand_extent(in, 0);
    int64_t m = d.m, n = d.n;
    place a = {SVD_MATRIX(n), m, n}, u = {SVD_LEFT(m, n), n, m}, v = {SVD_RIGHT(m, n), n, n};
    jit_launch l;
    load(&d, 4, transposed, &a, 0, 1);
    bidiagonalise(&d, &a);
    accumulate(&d, &a, &u, &v);
    jit_slabs_inside(&d, &l, &svd_source, "iterate");
    jit_pass_i64s(&l, m, n);
    jit_sequence_enqueue(&d.s, &l, (uint64_t)d.count);
    jit_slabs_launch(&d, &l, "store");
    jit_pass_operands(&l, call, 4);
    jit_slabs_pass(&d, &l);
    jit_pass_i64s(&l, m, n);
    jit_pass_i32(&l, transposed);
    jit_slabs_each(&d, &l);
    return d.s.status;
}

/* ---- eig ------------------------------------------------------------------------------------- */

static jit_slabs eig_of(collet_device *device, collet_queue *queue, const collet_kernel_call *call)
{
    jit_slabs d = jit_slabs_begin(device, queue, call, &eig_source, 3);
    jit_slabs_widen(&d, operand_of(call, 3)->dtype);
    d.pitch = jit_slabs_plus(EIG_VALUES, d.n, 2);
    for (int part = 0; part < 3; part++)
        d.pitch = jit_slabs_plus(d.pitch, d.n, d.n);
    jit_slabs_operands(&d, 4);
    return d;
}

JIT_ACCEPTS(eig)
{
    jit_slabs d = eig_of(device, NULL, call);
    *workspace_bytes = jit_slabs_bytes(&d);
    return COLLET_OK;
}

/* Reduces the matrix to Hessenberg form. The columns of the unitary factor are stored as rows. */
static void hessenberg(jit_slabs *d, const place *a, const place *factor)
{
    int64_t n = d->n;
    for (int64_t k = 0; k + 2 < n; k++) {
        reflector r = {a->first + (k + 1) * n + k, n, n - k - 1, EIG_TAU(n) + k, 0};
        make(d, &r);
        reflect(d, &r, r.first + 1, n, 1, r.n, 0);
        r.conjugated = 1; /* the matrix is transposed here */
        reflect(d, &r, a->first + k + 1, 1, n, n, 0);
    }
    identity(d, factor);
    for (int64_t k = n - 3; k >= 0; k--) {
        reflector r = {a->first + (k + 1) * n + k, n, n - k - 1, EIG_TAU(n) + k, 0};
        reflect(d, &r, factor->first + (k + 1) * (n + 1), 1, n, r.n, 0);
    }
}

JIT_KERNEL(eig)
{
    jit_slabs d = eig_of(device, queue, call);
    collet_dtype dtype = operand_of(call, 3)->dtype;
    int64_t n = d.n, groups = n > 0 ? n : 1;
    int32_t is_real = part_of(dtype) == dtype;
    place a = {EIG_MATRIX(n), n, n}, factor = {EIG_FACTOR(n), n, n};
    jit_launch l;
    load(&d, 3, 0, &a, 0, 1);
    hessenberg(&d, &a, &factor);
    jit_slabs_inside(&d, &l, &eig_source, "triangulate");
    jit_pass_i64(&l, n);
    jit_pass_i32(&l, is_real);
    jit_sequence_enqueue(&d.s, &l, (uint64_t)d.count);
    uint64_t across = jit_groups(d.s.traits, (uint64_t)n);
    jit_slabs_inside(&d, &l, &eig_source, "substitute");
    jit_pass_i64(&l, n);
    jit_pass_i32(&l, is_real);
    jit_pass_i64(&l, (int64_t)across);
    jit_sequence_enqueue(&d.s, &l, across * (uint64_t)d.count);
    jit_slabs_launch(&d, &l, "store");
    jit_pass_operands(&l, call, 3);
    jit_slabs_pass(&d, &l);
    jit_pass_i64(&l, n);
    jit_pass_i32(&l, is_real);
    jit_pass_block(&l, &d.batch, sizeof d.batch);
    jit_sequence_enqueue(&d.s, &l, (uint64_t)(groups * d.count));
    return d.s.status;
}
