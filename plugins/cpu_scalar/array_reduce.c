/* SPDX-License-Identifier: Apache-2.0 */
/* The reductions of the array family, one output element after another.
 * Tests: conformance/array/reduce.c */
#include "device.h"

#include <math.h>

#include "shared/host/util/convert.h"
#include "shared/host/util/rows.h"
#include "shared/host/util/sum.h"

static int is_float(collet_dtype dtype)
{
    return dtype == COLLET_F32 || dtype == COLLET_F64 || dtype == COLLET_F16 ||
           dtype == COLLET_BF16 || cpu_dtype_is_complex(dtype);
}

static double number_at(const char *at, collet_dtype dtype)
{
    double x;
    cpu_convert((char *)&x, COLLET_F64, 0, at, dtype, 0, 1);
    return x;
}

/* An integer modulo 2^64. */
static uint64_t word_at(const char *at, collet_dtype dtype)
{
    uint64_t x;
    cpu_convert((char *)&x, dtype == COLLET_U64 ? COLLET_U64 : COLLET_I64, 0, at, dtype, 0, 1);
    return x;
}

static int is_nonzero(const char *at, collet_dtype dtype)
{
    if (cpu_dtype_is_complex(dtype)) {
        collet_dtype part = part_of(dtype);
        return number_at(at, part) != 0.0 || number_at(at + cpu_dtype_size(part), part) != 0.0;
    }
    return is_float(dtype) ? number_at(at, dtype) != 0.0 : word_at(at, dtype) != 0;
}

/* ---- One element of the output ----------------------------------------------------------- */

/* The state of a reduction after some elements. */
typedef struct state {
    collet_dtype dtype; /* of the elements; a complex number counts as two elements, its parts */
    int greatest;       /* max and argmax instead of min and argmin */
    double center;      /* var, std: the squared distances from it are summed */
    cpu_sum sum;
    double product;
    uint64_t word_sum, word_product;
    int64_t count, nonzero;
    const char *extreme; /* the first of the smallest or largest elements; NULL: none yet */
    int64_t place;       /* index of `extreme` */
} state;

typedef void take(state *s, const char *at);

static void take_sum(state *s, const char *at)
{
    if (is_float(s->dtype))
        cpu_add(&s->sum, number_at(at, s->dtype));
    else
        s->word_sum += word_at(at, s->dtype);
}

static void take_product(state *s, const char *at)
{
    if (is_float(s->dtype))
        s->product *= number_at(at, s->dtype);
    else
        s->word_product *= word_at(at, s->dtype);
}

static void take_deviation(state *s, const char *at)
{
    double x = number_at(at, s->dtype) - s->center;
    cpu_add(&s->sum, x * x);
}

static void take_nonzero(state *s, const char *at)
{
    s->nonzero += is_nonzero(at, s->dtype);
}

/* Whether x replaces y, an earlier element: NaN precedes numbers, and -0 precedes 0 unless zeros are equal. */
static int precedes(const state *s, const char *x, const char *y, int zeros_equal)
{
    if (!is_float(s->dtype)) {
        uint64_t sign = s->dtype == COLLET_U64 ? 0 : (uint64_t)1 << 63;
        uint64_t p = word_at(x, s->dtype) ^ sign, q = word_at(y, s->dtype) ^ sign;
        return s->greatest ? p > q : p < q;
    }
    double p = number_at(x, s->dtype), q = number_at(y, s->dtype);
    if (isnan(p) || isnan(q))
        return !isnan(q);
    if (p == q && !zeros_equal)
        return s->greatest ? signbit(q) && !signbit(p) : signbit(p) && !signbit(q);
    return s->greatest ? p > q : p < q;
}

static void take_extreme(state *s, const char *at)
{
    if (!s->extreme || precedes(s, at, s->extreme, 0))
        s->extreme = at;
}

static void take_place(state *s, const char *at)
{
    if (s->extreme && !precedes(s, at, s->extreme, 1))
        return;
    s->extreme = at;
    s->place = s->count;
}

/* Applies `one` to the elements over which `reduced` loops, starting at `at`. */
static void walk(cpu_rows reduced, char *at, state *s, take *one)
{
    s->count = 0;
    reduced.at[0] = at;
    for (cpu_rows_begin(&reduced); reduced.rows > 0; cpu_rows_next(&reduced))
        for (int64_t i = 0; i < reduced.length; i++, s->count++)
            one(s, reduced.at[0] + i * reduced.inner[0]);
}

static take *const takes[] = {
    [COLLET_OP_SUM] = take_sum,      [COLLET_OP_PROD] = take_product,
    [COLLET_OP_MEAN] = take_sum,     [COLLET_OP_VAR] = take_sum,
    [COLLET_OP_STD] = take_sum,      [COLLET_OP_MIN] = take_extreme,
    [COLLET_OP_MAX] = take_extreme,  [COLLET_OP_ARGMIN] = take_place,
    [COLLET_OP_ARGMAX] = take_place, [COLLET_OP_ANY] = take_nonzero,
    [COLLET_OP_ALL] = take_nonzero,  [COLLET_OP_COUNT_NONZERO] = take_nonzero,
};

static double variance_of(cpu_rows reduced, char *at, state *s, double correction)
{
    s->center = cpu_total(&s->sum) / (double)s->count;
    s->sum = (cpu_sum){0};
    walk(reduced, at, s, take_deviation);
    double divisor = (double)s->count - correction;
    return cpu_total(&s->sum) / (divisor > 0.0 ? divisor : 0.0);
}

/* Reduces the elements at `at`, of dtype `from`, and stores the result at `out` as dtype `to`. */
static void reduce_one(const collet_kernel_call *call, cpu_rows reduced, char *at,
                       collet_dtype from, char *out, collet_dtype to)
{
    const collet_variance_params *params = call->params;
    state s = {.dtype = from, .product = 1.0, .word_product = 1};
    double number = 0.0;
    uint64_t word = 0;
    s.greatest = call->op == COLLET_OP_MAX || call->op == COLLET_OP_ARGMAX;
    walk(reduced, at, &s, takes[call->op]);
    switch (call->op) {
    case COLLET_OP_SUM:
        number = cpu_total(&s.sum);
        word = s.word_sum;
        break;
    case COLLET_OP_PROD:
        number = s.product;
        word = s.word_product;
        break;
    case COLLET_OP_MEAN:
        number = cpu_total(&s.sum) / (double)s.count;
        break;
    case COLLET_OP_VAR:
        number = variance_of(reduced, at, &s, params->correction);
        break;
    case COLLET_OP_STD:
        number = sqrt(variance_of(reduced, at, &s, params->correction));
        break;
    case COLLET_OP_MIN:
    case COLLET_OP_MAX:
        cpu_move(out, 0, s.extreme, 0, cpu_dtype_size(to), 1);
        return;
    case COLLET_OP_ANY:
        word = s.nonzero > 0;
        break;
    case COLLET_OP_ALL:
        word = s.nonzero == s.count;
        break;
    case COLLET_OP_COUNT_NONZERO:
        word = (uint64_t)s.nonzero;
        break;
    default:
        word = (uint64_t)s.place;
        break;
    }
    if (is_float(to))
        cpu_convert(out, to, 0, (const char *)&number, COLLET_F64, 0, 1);
    else
        cpu_move(out, 0, (const char *)&word, 0, cpu_dtype_size(to), 1);
}

/* ---- The axes ------------------------------------------------------------------------------ */

/* Splits the input's axes: `kept` loops over input and output, `reduced` only over the input. */
static void split_axes(const collet_kernel_call *call, cpu_rows *kept, cpu_rows *reduced)
{
    const collet_reduce_params *params = call->params;
    const collet_operand *out = operand_of(call, 0), *in = operand_of(call, 1);
    kept->views = 2;
    kept->at[0] = cpu_at(in);
    kept->at[1] = cpu_at(out);
    reduced->views = 1;
    for (int32_t i = 0; i < in->ndim; i++) {
        if (params->axes >> i & 1) {
            reduced->shape[reduced->ndim] = in->shape[i];
            reduced->step[0][reduced->ndim++] = cpu_step(in, i);
        } else {
            kept->shape[kept->ndim] = in->shape[i];
            kept->step[0][kept->ndim] = cpu_step(in, i);
            kept->step[1][kept->ndim] = cpu_step(out, params->keepdims ? i : kept->ndim);
            kept->ndim++;
        }
    }
}

/* Sums the real and the imaginary parts of complex numbers separately. */
KERNEL(reduce)
{
    collet_dtype from = operand_of(call, 1)->dtype, to = operand_of(call, 0)->dtype;
    int64_t parts = cpu_dtype_is_complex(to) ? 2 : 1;
    if (parts == 2) {
        from = part_of(from);
        to = part_of(to);
    }
    int64_t in_size = (int64_t)cpu_dtype_size(from), out_size = (int64_t)cpu_dtype_size(to);
    cpu_rows kept = {0}, reduced = {0};
    split_axes(call, &kept, &reduced);
    for (cpu_rows_begin(&kept); kept.rows > 0; cpu_rows_next(&kept)) {
        for (int64_t i = 0; i < kept.length * parts; i++) {
            char *in = kept.at[0] + i / parts * kept.inner[0] + i % parts * in_size;
            char *out = kept.at[1] + i / parts * kept.inner[1] + i % parts * out_size;
            reduce_one(call, reduced, in, from, out, to);
        }
    }
    return COLLET_OK;
}
