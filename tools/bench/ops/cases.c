/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_bench.c */
#include <collet/ops/ternary.h>

#include "cases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Parameters, shapes and work of single ops ------------------------------------------- */

/* Counts a product and a sum for every element of M x K x N, in every batch. */
static double matmul_flops(const bench_layout *l)
{
    double flops = 2;
    for (int32_t i = 0; i < l->shape.count; i++)
        flops *= (double)l->shape.extents[i];
    return flops;
}

/* Returns the extent that is `back` places before the shape's last. */
static double extent_of(const bench_layout *l, int32_t back)
{
    return (double)l->shape.extents[l->shape.count - 1 - back];
}

/* Returns the number of matrices in the batch; the last `own` extents belong to a matrix. */
static double matrices_of(const bench_layout *l, int32_t own)
{
    double count = 1;
    for (int32_t i = 0; i < l->shape.count - own; i++)
        count *= (double)l->shape.extents[i];
    return count;
}

/* Returns the sum over k < min(m, n) of (m - k)(n - k): the elements that elimination updates. */
static double updated(double m, double n)
{
    double k = m < n ? m : n;
    return m * n * k - (m + n) * k * k / 2 + k * k * k / 3;
}

static double lu_flops(const bench_layout *l)
{
    return 2 * updated(extent_of(l, 1), extent_of(l, 0)) * matrices_of(l, 2);
}

static double solve_flops(const bench_layout *l)
{
    double n = extent_of(l, 1), r = extent_of(l, 0);
    return (2 * updated(n, n) + 2 * n * n * r) * matrices_of(l, 2);
}

/* Returns the number of operations for R, and for computing Q from the Householder reflectors. */
static double qr_flops(const bench_layout *l)
{
    double m = extent_of(l, 1), n = extent_of(l, 0), k = m < n ? m : n;
    return 4 * (updated(m, n) + updated(m, k)) * matrices_of(l, 2);
}

/* The numbers of operations for singular values and vectors (here) and for eigenvalues and vectors (below) are from Golub
 * and Van Loan, Matrix Computations, 8.6 and 8.3. */
static double svd_flops(const bench_layout *l)
{
    double m = extent_of(l, 1), n = extent_of(l, 0), tall = m > n ? m : n, wide = m < n ? m : n;
    return (14 * tall * wide * wide + 8 * wide * wide * wide) * matrices_of(l, 2);
}

static double eigh_flops(const bench_layout *l)
{
    double n = extent_of(l, 0);
    return 9 * n * n * n * matrices_of(l, 1);
}

/* Returns the number of operations for the matrices of the QR iteration, and for the eigenvectors of the triangular
 * matrix (same book, 7.5). */
static double eig_flops(const bench_layout *l)
{
    double n = extent_of(l, 0);
    return 25 * n * n * n * matrices_of(l, 1);
}

static double cholesky_flops(const bench_layout *l)
{
    double n = extent_of(l, 0);
    return n * n * n / 3 * matrices_of(l, 1);
}

/* Returns the number of transformed axes: the axes of --axis, which must be the last axes; by default all axes, at
 * most 3. */
static int32_t transformed_axes(const bench_layout *l)
{
    int32_t count = 0;
    for (int32_t i = 0; i < l->shape.count; i++)
        count += (int32_t)(l->axes >> i & 1);
    return count > 3 ? 3 : count;
}

static int32_t is_complex(collet_dtype dtype)
{
    return dtype == COLLET_C64 || dtype == COLLET_C128;
}

static void fft_parameters(bench_layout *l)
{
    l->params.fft.last_axes = (uint32_t)transformed_axes(l);
    l->params.fft.inverse = !is_complex(l->operands[0].dtype);
}

/* Sets the shapes of an FFT. The given shape is the shape of the real operand, if one operand is real. */
static collet_status fft_shapes(bench_layout *l, collet_error *err)
{
    bench_operand *out = &l->operands[0], *in = &l->operands[1];
    uint32_t all = (1u << l->shape.count) - 1, others = all & ~l->axes;
    if (in->ndim && others & (others + 1))
        return collet_fail(err, COLLET_INVALID, "fft: --axis names the last axes, 3 at most");
    if (!in->ndim || !is_complex(in->dtype) || is_complex(out->dtype))
        return COLLET_OK;
    out->ndim = in->ndim;
    memcpy(out->shape, in->shape, sizeof out->shape);
    in->shape[in->ndim - 1] = in->shape[in->ndim - 1] / 2 + 1;
    return COLLET_OK;
}

/* Returns the customary count of operations: 5 n log2 n, or half of that if one operand is real. */
static double fft_flops(const bench_layout *l)
{
    double points = 1, batch = 1;
    int32_t first = l->shape.count - transformed_axes(l);
    for (int32_t i = 0; i < l->shape.count; i++)
        *(i < first ? &batch : &points) *= (double)l->shape.extents[i];
    double flops = 5 * batch * points * log2(points);
    return l->operands[0].dtype == l->operands[1].dtype ? flops : flops / 2;
}

static void median_parameters(bench_layout *l)
{
    l->params.partition.kth = l->shape.extents[l->shape.count - 1] / 2;
}

/* ---- Ternary ----------------------------------------------------------------------------- */

static void ternary_quantize_parameters(bench_layout *l)
{
    l->params.ternary_quantize.threshold = 0.3f;
}

static void absmean_parameters(bench_layout *l)
{
    l->params.ternary_quantize.mode = COLLET_TERNARY_ABSMEAN;
}

static void linear_parameters(bench_layout *l)
{
    l->params.ternary_linear.relu = 1;
}

static void linear_ternary_parameters(bench_layout *l)
{
    linear_parameters(l);
    l->params.ternary_linear.activations = COLLET_TERNARY_TERNARY;
}

static void linear_f32_parameters(bench_layout *l)
{
    linear_parameters(l);
    l->params.ternary_linear.activations = COLLET_TERNARY_F32;
}

/* The shape counts weights; a packed row has the number of bytes that the format t2 needs for these weights. */
static collet_status packed_rows(bench_layout *l, collet_error *err)
{
    (void)err;
    for (uint32_t i = 0; i < l->count; i++) {
        bench_operand *o = &l->operands[i];
        if (o->dtype == COLLET_U8)
            o->shape[o->ndim - 1] =
                collet_ternary_bytes(COLLET_TERNARY_T2, l->shape.extents[l->shape.count - 1]);
    }
    return COLLET_OK;
}

/* Bodies of three atoms. */
static collet_status bodies(bench_layout *l, collet_error *err)
{
    (void)err;
    for (uint32_t i = 0; i < l->op.n_out; i++)
        l->operands[i].ndim = COLLET_INFER;
    l->operands[l->count - 1].shape[0] = l->shape.extents[1] / 3 + 1;
    return COLLET_OK;
}

/* Operations of a ternary product. 0 for a single row of x: such a call is bound by memory, because each weight is
 * used only once. */
static double ternary_flops(const bench_layout *l)
{
    return matrices_of(l, 2) > 1 ? matmul_flops(l) : 0;
}

/* ---- The table --------------------------------------------------------------------------- */

/* Ops without a row are measured by their description, with values in [-1, 1). */
static const bench_detail details[] = {
    {"div", NULL, "oup", NULL, NULL, NULL},
    {"log", NULL, "op", NULL, NULL, NULL},
    {"sqrt", NULL, "op", NULL, NULL, NULL},
    {"matmul", NULL, NULL, NULL, NULL, matmul_flops},
    {"lu", NULL, NULL, NULL, NULL, lu_flops},
    {"solve", NULL, NULL, NULL, NULL, solve_flops},
    {"qr", NULL, NULL, NULL, NULL, qr_flops},
    {"svd", NULL, NULL, NULL, NULL, svd_flops},
    {"eigh", NULL, NULL, NULL, NULL, eigh_flops},
    {"eig", NULL, NULL, NULL, NULL, eig_flops},
    {"cholesky", NULL, "oos", NULL, NULL, cholesky_flops},
    {"fft", NULL, NULL, fft_shapes, fft_parameters, fft_flops},
    {"partition", NULL, NULL, NULL, median_parameters, NULL},
    {"histogram", NULL, "ou-", NULL, NULL, NULL},
    {"histogram/weights", NULL, "ouu", NULL, NULL, NULL},
    {"variate", NULL, "op--", NULL, NULL, NULL},
    {"com", NULL, "oxm", NULL, NULL, NULL},
    {"inertia", NULL, "oxmx", NULL, NULL, NULL},
    {"cross_sum", NULL, "oxmxu", NULL, NULL, NULL},
    {"principal_axes", NULL, "ooi-", NULL, NULL, NULL},
    {"euler_zyz", NULL, "or", NULL, NULL, NULL},
    {"tilt", NULL, "oru", NULL, NULL, NULL},
    {"angular_velocity", NULL, "ooiu", NULL, NULL, NULL},
    {"time_derivative", NULL, "oout", NULL, NULL, NULL},
    {"kinetic", NULL, "oxmu", NULL, NULL, NULL},
    {"gyration", "F,N", "oooxm-", NULL, NULL, NULL},
    {"rmsd", "F,N", "ooxmx-", NULL, NULL, NULL},
    {"observables", "F,N", "ooo-oxmu--", NULL, NULL, NULL},
    {"observables/forces", "F,N", "oooooxmuu-", NULL, NULL, NULL},
    {"observables/positions", "F,N", "oo---xm---", NULL, NULL, NULL},
    {"observables/bodies", "F,N", "ooo-oxmu-b", bodies, NULL, NULL},
    {"observables/positions-of-bodies", "F,N", "oo---xm--b", bodies, NULL, NULL},
    {"ternary_quantize", NULL, NULL, NULL, ternary_quantize_parameters, NULL},
    {"ternary_quantize/absmean", NULL, NULL, NULL, absmean_parameters, NULL},
    {"ternary_pack", NULL, "ooc-", packed_rows, NULL, NULL},
    {"ternary_unpack", "...,K", "o-ow", packed_rows, NULL, NULL},
    {"ternary_dot", "N", "oww", packed_rows, NULL, NULL},
    {"ternary_matmul", "...,M,K", "oww", packed_rows, NULL, ternary_flops},
    {"ternary_linear", "...,M,K", "owwuu", packed_rows, linear_parameters, ternary_flops},
    {"ternary_linear/ternary", "...,M,K", "owwuu", packed_rows, linear_ternary_parameters,
     ternary_flops},
    {"ternary_linear/f32", "...,M,K", "owwuu", packed_rows, linear_f32_parameters, ternary_flops},
};

#define DETAILS (sizeof details / sizeof *details)

static const bench_detail plain;

static int32_t is_about(const bench_detail *d, const char *op)
{
    size_t length = strcspn(d->name, "/");
    return !strncmp(d->name, op, length) && !op[length];
}

/* ---- Cases ------------------------------------------------------------------------------- */

/* Writes "...,M,K,N": the letters of the inputs in the order in which they occur. */
static void derive_extents(const collet_ops_info *op, char text[BENCH_LETTERS])
{
    char letters[BENCH_LETTERS] = "";
    size_t count = 0, length = 0;
    int32_t dots = 0;
    for (uint32_t i = op->n_in ? op->n_out : 0; i < op->n_out + op->n_in; i++) {
        const collet_ops_pattern *p = &op->operands[i].pattern[0];
        dots |= p->dots || p->any;
        for (int32_t k = 0; k < p->ndim; k++) {
            char letter = (char)p->axes[k].letter;
            if (letter && !strchr(letters, letter) && count + 1 < BENCH_LETTERS / 2 - 2)
                letters[count++] = letter;
        }
    }
    if (dots)
        length = (size_t)snprintf(text, BENCH_LETTERS, "...");
    for (size_t i = 0; i < count; i++) {
        if (length)
            text[length++] = ',';
        text[length++] = letters[i];
    }
    text[length] = '\0';
}

static void make_case(bench_case *c, const collet_ops_info *op, const bench_detail *d)
{
    *c = (bench_case){
        .name = d->name ? d->name : op->name, .shape = op->measure, .op = *op, .detail = d};
    if (d->extents)
        snprintf(c->extents, sizeof c->extents, "%s", d->extents);
    else
        derive_extents(op, c->extents);
}

/* Finds case number `index` of an op; an op without rows in the table has one case. */
static int32_t case_of_op(const collet_ops_info *op, size_t index, bench_case *c)
{
    size_t seen = 0;
    for (size_t i = 0; i < DETAILS; i++) {
        if (!is_about(&details[i], op->name) || seen++ < index)
            continue;
        make_case(c, op, &details[i]);
        return 1;
    }
    if (seen || index)
        return 0;
    make_case(c, op, &plain);
    return 1;
}

int32_t bench_case_at(const collet_runtime *runtime, size_t index, bench_case *c)
{
    for (size_t i = 0; i < collet_ops_count(runtime); i++) {
        collet_ops_info op = {.struct_size = sizeof op};
        if (collet_ops_at(runtime, &op, i, NULL) != COLLET_OK || !*op.measure)
            continue;
        for (size_t row = 0; case_of_op(&op, row, c); row++)
            if (!index--)
                return 1;
    }
    return 0;
}

/* ---- Finding ----------------------------------------------------------------------------- */

collet_status bench_case_find(const collet_runtime *runtime, const char *name, bench_case *found,
                              collet_error *err)
{
    uint32_t op;
    collet_error unknown;
    for (size_t i = 0; bench_case_at(runtime, i, found); i++)
        if (!strcmp(found->name, name))
            return COLLET_OK;
    if (collet_ops_find(runtime, &op, name, &unknown) == COLLET_OK)
        return collet_fail(err, COLLET_NOT_FOUND, "the op '%s' has no case in backend-bench", name);
    return collet_fail(err, COLLET_NOT_FOUND,
                       "%s (dispatch, bandwidth, calibrate, or an op of --list)", unknown.text);
}
