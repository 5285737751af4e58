/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include "bench/base/suggest.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NEAR_MAX 3 /* edits; a third of the name at most */

/* ---- Parameters, shapes and work of single ops ------------------------------------------- */

static void fill_parameters(bench_layout *l)
{
    l->params.fill = (collet_fill_params){.struct_size = sizeof l->params.fill};
    l->params.fill.value.dtype = COLLET_F32;
    l->params.fill.value.value.f32 = 1.5f;
}

static void axpy_parameters(bench_layout *l)
{
    l->params.axpy = (collet_axpy_params){.struct_size = sizeof l->params.axpy};
    l->params.axpy.alpha.dtype = COLLET_F32;
    l->params.axpy.alpha.value.f32 = 1.5f;
}

static void transpose_parameters(bench_layout *l)
{
    collet_transpose_params *p = &l->params.transpose;
    *p = (collet_transpose_params){.struct_size = sizeof *p, .ndim = (uint32_t)l->shape.count};
    for (int32_t i = 0; i < l->shape.count; i++)
        p->perm[i] = l->shape.count - 1 - i;
}

static void reduce_parameters(bench_layout *l)
{
    l->params.reduce =
        (collet_reduce_params){.struct_size = sizeof l->params.reduce, .axes = l->axes};
}

static void random_parameters(bench_layout *l)
{
    l->params.random =
        (collet_random_params){.struct_size = sizeof l->params.random, .seed = 20261121};
}

/* Input 0 has all the axes of the shape. */
static collet_status whole_input(bench_layout *l, collet_error *err)
{
    bench_operand *in = &l->operands[1];
    if (l->shape.count > COLLET_MAX_DIMS)
        return collet_fail(err, COLLET_SHAPE, "%s: an array has at most %d axes", l->row->name,
                           COLLET_MAX_DIMS);
    in->ndim = l->shape.count;
    memcpy(in->shape, l->shape.extents, (size_t)in->ndim * sizeof *in->shape);
    return COLLET_OK;
}

static collet_status transpose_shapes(bench_layout *l, collet_error *err)
{
    bench_operand *out = &l->operands[0];
    collet_status status = whole_input(l, err);
    out->ndim = l->operands[1].ndim;
    for (int32_t i = 0; i < out->ndim; i++)
        out->shape[i] = l->operands[1].shape[out->ndim - 1 - i];
    return status;
}

static collet_status reduce_shapes(bench_layout *l, collet_error *err)
{
    const bench_operand *in = &l->operands[1];
    bench_operand *out = &l->operands[0];
    collet_status status = whole_input(l, err);
    out->ndim = 0;
    for (int32_t i = 0; i < in->ndim; i++)
        if (!(l->axes >> i & 1))
            out->shape[out->ndim++] = in->shape[i];
    return status;
}

/* A product and a sum for every element of M x K x N, in every batch. */
static double matmul_flops(const bench_layout *l)
{
    double flops = 2;
    for (int32_t i = 0; i < l->shape.count; i++)
        flops *= (double)l->shape.extents[i];
    return flops;
}

/* Extent `back` from the shape's last. */
static double extent_of(const bench_layout *l, int32_t back)
{
    return (double)l->shape.extents[l->shape.count - 1 - back];
}

/* How many matrices there are when each takes the last `own` extents. */
static double matrices_of(const bench_layout *l, int32_t own)
{
    double count = 1;
    for (int32_t i = 0; i < l->shape.count - own; i++)
        count *= (double)l->shape.extents[i];
    return count;
}

/* Sum over k < min(m, n) of (m - k)(n - k): what elimination updates. */
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

/* With Q made of its reflectors. */
static double qr_flops(const bench_layout *l)
{
    double m = extent_of(l, 1), n = extent_of(l, 0), k = m < n ? m : n;
    return 4 * (updated(m, n) + updated(m, k)) * matrices_of(l, 2);
}

/* The counts of Golub and Van Loan, Matrix Computations, 8.6 and 8.3, for values and vectors. */
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

static double cholesky_flops(const bench_layout *l)
{
    double n = extent_of(l, 0);
    return n * n * n / 3 * matrices_of(l, 1);
}

/* The transform runs over the axes named by --axis, the last ones; by default over all, 3 at most.
 */
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
    l->params.fft = (collet_fft_params){.struct_size = sizeof l->params.fft,
                                        .axes = (uint32_t)transformed_axes(l),
                                        .inverse = !is_complex(l->operands[0].dtype)};
}

static void fftshift_parameters(bench_layout *l)
{
    l->params.fftshift =
        (collet_fftshift_params){.struct_size = sizeof l->params.fftshift, .axes = l->axes};
}

static collet_status same_shapes(bench_layout *l, collet_error *err)
{
    bench_operand *out = &l->operands[0], *in = &l->operands[1];
    collet_status status = whole_input(l, err);
    out->ndim = in->ndim;
    memcpy(out->shape, in->shape, sizeof out->shape);
    return status;
}

/* The shape is that of the real side where there is one. */
static collet_status fft_shapes(bench_layout *l, collet_error *err)
{
    bench_operand *out = &l->operands[0], *in = &l->operands[1];
    uint32_t all = (1u << l->shape.count) - 1, others = all & ~l->axes;
    collet_status status = same_shapes(l, err);
    if (status != COLLET_OK || !in->ndim)
        return status;
    if (others & (others + 1))
        return collet_fail(err, COLLET_INVALID, "fft: --axis names the last axes, 3 at most");
    int64_t *last = is_complex(in->dtype) ? &in->shape[in->ndim - 1] : &out->shape[in->ndim - 1];
    if (is_complex(in->dtype) != is_complex(out->dtype))
        *last = *last / 2 + 1;
    return COLLET_OK;
}

/* 5 n log2 n, and half of it where one side is real: the customary count. */
static double fft_flops(const bench_layout *l)
{
    double points = 1, batch = 1;
    int32_t first = l->shape.count - transformed_axes(l);
    for (int32_t i = 0; i < l->shape.count; i++)
        *(i < first ? &batch : &points) *= (double)l->shape.extents[i];
    double flops = 5 * batch * points * log2(points);
    return l->operands[0].dtype == l->operands[1].dtype ? flops : flops / 2;
}

/* ---- Ternary ----------------------------------------------------------------------------- */

static void ternary_quantize_parameters(bench_layout *l)
{
    l->params.ternary_quantize =
        (collet_ternary_quantize_params){.struct_size = sizeof l->params.ternary_quantize,
                                         .mode = COLLET_TERNARY_THRESHOLD,
                                         .threshold = 0.3f};
}

static void absmean_parameters(bench_layout *l)
{
    l->params.ternary_quantize = (collet_ternary_quantize_params){
        .struct_size = sizeof l->params.ternary_quantize, .mode = COLLET_TERNARY_ABSMEAN};
}

static void ternary_format_parameters(bench_layout *l)
{
    l->params.ternary_format = (collet_ternary_format_params){
        .struct_size = sizeof l->params.ternary_format, .format = COLLET_TERNARY_T2};
}

static void linear_parameters_of(bench_layout *l, uint32_t activations)
{
    l->params.ternary_linear = (collet_ternary_linear_params){
        .struct_size = sizeof l->params.ternary_linear, .activations = activations, .relu = 1};
}

static void linear_parameters(bench_layout *l)
{
    linear_parameters_of(l, COLLET_TERNARY_INT8);
}

static void linear_ternary_parameters(bench_layout *l)
{
    linear_parameters_of(l, COLLET_TERNARY_TERNARY);
}

static void linear_f32_parameters(bench_layout *l)
{
    linear_parameters_of(l, COLLET_TERNARY_F32);
}

/* All axes of the shape; the last one in the bytes of t2 where the operand is packed. */
static void whole_operand(const bench_layout *l, bench_operand *o)
{
    int64_t *last = &o->shape[l->shape.count - 1];
    o->ndim = l->shape.count;
    memcpy(o->shape, l->shape.extents, (size_t)o->ndim * sizeof *o->shape);
    if (o->dtype == COLLET_U8)
        *last = collet_ternary_bytes(COLLET_TERNARY_T2, *last);
}

/* pack, unpack, dot: whatever has the axis that is packed. */
static collet_status ternary_shapes(bench_layout *l, collet_error *err)
{
    if (l->shape.count > COLLET_MAX_DIMS)
        return collet_fail(err, COLLET_SHAPE, "%s: an array has at most %d axes", l->row->name,
                           COLLET_MAX_DIMS);
    for (uint32_t i = 0; i < l->count; i++)
        if (l->operands[i].dtype == COLLET_U8 || l->operands[i].dtype == COLLET_I8)
            whole_operand(l, &l->operands[i]);
    return COLLET_OK;
}

/* y, weights, x, and numbers of the weights' rows. */
static collet_status ternary_product_shapes(bench_layout *l, collet_error *err)
{
    int32_t axes = l->shape.count - 1; /* of x and y */
    const int64_t *e = l->shape.extents;
    bench_operand *y = &l->operands[0], *weights = &l->operands[1], *x = &l->operands[2];
    if (axes < 1 || axes > COLLET_MAX_DIMS)
        return collet_fail(err, COLLET_SHAPE, "%s: the shape is ...,M,K joined by x, such as %s",
                           l->row->name, l->row->shape);
    y->ndim = x->ndim = axes;
    memcpy(y->shape, e, (size_t)axes * sizeof *e);
    memcpy(x->shape, e, (size_t)axes * sizeof *e);
    x->shape[axes - 1] = e[axes];
    weights->ndim = 2;
    weights->shape[0] = e[axes - 1];
    weights->shape[1] = collet_ternary_bytes(COLLET_TERNARY_T2, e[axes]);
    if (x->dtype == COLLET_U8)
        x->shape[axes - 1] = weights->shape[1];
    for (uint32_t i = 3; i < l->count; i++) {
        l->operands[i].ndim = 1;
        l->operands[i].shape[0] = e[axes - 1];
    }
    return COLLET_OK;
}

/* With one row of x the weights are read for one product each. */
static double ternary_flops(const bench_layout *l)
{
    return matrices_of(l, 2) > 1 ? matmul_flops(l) : 0;
}

/* ---- The table --------------------------------------------------------------------------- */

static const bench_case cases[] = {
    {"fill", "...", "64M", "o", NULL, fill_parameters, NULL},
    {"copy", "...", "64M", "ou", NULL, NULL, NULL},
    {"add", "...", "32M", "ouu", NULL, NULL, NULL},
    {"sub", "...", "32M", "ouu", NULL, NULL, NULL},
    {"mul", "...", "32M", "ouu", NULL, NULL, NULL},
    {"div", "...", "32M", "oup", NULL, NULL, NULL},
    {"exp", "...", "32M", "ou", NULL, NULL, NULL},
    {"log", "...", "32M", "op", NULL, NULL, NULL},
    {"sqrt", "...", "32M", "op", NULL, NULL, NULL},
    {"sin", "...", "32M", "ou", NULL, NULL, NULL},
    {"cos", "...", "32M", "ou", NULL, NULL, NULL},
    {"tanh", "...", "32M", "ou", NULL, NULL, NULL},
    {"neg", "...", "32M", "ou", NULL, NULL, NULL},
    {"abs", "...", "32M", "ou", NULL, NULL, NULL},
    {"conj", "...", "32M", "ou", NULL, NULL, NULL},
    {"axpy", "...", "32M", "ouu", NULL, axpy_parameters, NULL},
    {"transpose", "...", "8192x8192", "ou", transpose_shapes, transpose_parameters, NULL},
    {"sum", "...", "8192x8192", "ou", reduce_shapes, reduce_parameters, NULL},
    {"mean", "...", "8192x8192", "ou", reduce_shapes, reduce_parameters, NULL},
    {"min", "...", "8192x8192", "ou", reduce_shapes, reduce_parameters, NULL},
    {"max", "...", "8192x8192", "ou", reduce_shapes, reduce_parameters, NULL},
    {"matmul", "...,M,K,N", "1024x1024x1024", "ouu", NULL, NULL, matmul_flops},
    {"dot", "N", "32M", "ouu", NULL, NULL, NULL},
    {"matvec", "...,M,K", "8192x8192", "ouu", NULL, NULL, NULL},
    {"lu", "...,M,N", "1000x1000", "oooou", NULL, NULL, lu_flops},
    {"solve", "...,N,R", "1000x100", "oouu", NULL, NULL, solve_flops},
    {"qr", "...,M,N", "1000x1000", "oou", NULL, NULL, qr_flops},
    {"svd", "...,M,N", "500x500", "oooou", NULL, NULL, svd_flops},
    {"eigh", "...,N", "500", "ooou", NULL, NULL, eigh_flops},
    {"cholesky", "...,N", "1000", "oos", NULL, NULL, cholesky_flops},
    {"uniform", "...", "64M", "o", NULL, random_parameters, NULL},
    {"normal", "...", "64M", "o", NULL, random_parameters, NULL},
    {"fft", "...", "1048576", "ou", fft_shapes, fft_parameters, fft_flops},
    {"fftshift", "...", "8192x8192", "ou", same_shapes, fftshift_parameters, NULL},
    {"ternary_quantize", "...,K", "8192x8192", "ooou", NULL, ternary_quantize_parameters, NULL},
    {"ternary_quantize/absmean", "...,K", "8192x8192", "ooou", NULL, absmean_parameters, NULL},
    {"ternary_pack", "...,K", "8192x8192", "ooc-", ternary_shapes, ternary_format_parameters, NULL},
    {"ternary_unpack", "...,K", "8192x8192", "o-ow", ternary_shapes, ternary_format_parameters,
     NULL},
    {"ternary_dot", "N", "256M", "oww", ternary_shapes, NULL, NULL},
    {"ternary_matmul", "...,M,K", "16384x16384", "oww", ternary_product_shapes, NULL,
     ternary_flops},
    {"ternary_linear", "...,M,K", "16384x16384", "owwuu", ternary_product_shapes, linear_parameters,
     ternary_flops},
    {"ternary_linear/ternary", "...,M,K", "16384x16384", "owwuu", ternary_product_shapes,
     linear_ternary_parameters, ternary_flops},
    {"ternary_linear/f32", "...,M,K", "16384x16384", "owwuu", ternary_product_shapes,
     linear_f32_parameters, ternary_flops},
    {"com", "F,N", "10000x1000", "oxm", NULL, NULL, NULL},
    {"inertia", "F,N", "10000x1000", "oxmx", NULL, NULL, NULL},
    {"cross_sum", "F,N", "10000x1000", "oxmxu", NULL, NULL, NULL},
    {"principal_axes", "F", "100000", "ooi-", NULL, NULL, NULL},
    {"euler_zyz", "F", "100000", "or", NULL, NULL, NULL},
    {"tilt", "F", "100000", "oru", NULL, NULL, NULL},
    {"angular_velocity", "F", "100000", "ooiu", NULL, NULL, NULL},
    {"decompose", "F", "1000000", "oouu", NULL, NULL, NULL},
    {"magnitude", "...,K", "10000000x3", "ou", NULL, NULL, NULL},
    {"time_derivative", "F", "1000000", "oout", NULL, NULL, NULL},
    {"kinetic", "F,N", "10000x1000", "oxmu", NULL, NULL, NULL},
    {"gyration", "F,N", "10000x1000", "oooxm", NULL, NULL, NULL},
    {"rmsd", "F,N", "10000x1000", "ooxmx", NULL, NULL, NULL},
    {"observables", "F,N", "10000x1000", "ooo-oxmu-", NULL, NULL, NULL},
    {"observables/forces", "F,N", "10000x1000", "oooooxmuu", NULL, NULL, NULL},
    {"observables/positions", "F,N", "10000x1000", "oo---xm--", NULL, NULL, NULL},
};

size_t bench_case_count(void)
{
    return sizeof cases / sizeof *cases;
}

const bench_case *bench_case_at(size_t index)
{
    return &cases[index];
}

/* ---- Finding ----------------------------------------------------------------------------- */

static collet_status unknown_case(const collet_runtime *runtime, const char *name,
                                  collet_error *err)
{
    char near[256] = "";
    size_t length = 0, far = strlen(name) / 3 + 1;
    uint32_t op;
    if (collet_op_find(runtime, name, &op) == COLLET_OK)
        return collet_fail(err, COLLET_NOT_FOUND, "the op '%s' has no case in backend-bench", name);
    for (size_t d = 0; d <= far && d <= NEAR_MAX; d++)
        for (size_t i = 0; i < bench_case_count() && length < sizeof near; i++)
            if (bench_name_distance(name, cases[i].name) == d)
                length += (size_t)snprintf(near + length, sizeof near - length, "%s'%s'",
                                           length ? " or " : "; did you mean ", cases[i].name);
    return collet_fail(err, COLLET_NOT_FOUND,
                       "nothing to measure is called '%s'%s (dispatch, bandwidth, against, or an "
                       "op: backend-bench --list)",
                       name, near);
}

collet_status bench_case_find(const collet_runtime *runtime, const char *name,
                              const bench_case **found, collet_error *err)
{
    for (size_t i = 0; i < bench_case_count(); i++) {
        if (!strcmp(cases[i].name, name)) {
            *found = &cases[i];
            return COLLET_OK;
        }
    }
    return unknown_case(runtime, name, err);
}

collet_status bench_case_op(const collet_runtime *runtime, const bench_case *row,
                            collet_op_info *info, collet_error *err)
{
    size_t length = strcspn(row->name, "/");
    for (size_t i = 0; i < collet_op_count(runtime); i++) {
        *info = (collet_op_info){.struct_size = sizeof *info};
        if (collet_op_at(runtime, i, info) == COLLET_OK && strlen(info->name) == length &&
            !strncmp(info->name, row->name, length))
            return COLLET_OK;
    }
    return collet_fail(err, COLLET_NOT_FOUND, "%s: this libcore has no such op", row->name);
}
