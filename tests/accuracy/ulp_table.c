/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ulp-table - measures, through collet.h, the largest errors of sqrt and of the functions of one
 * argument for which elementwise.def states a limit. test_functions measures lgamma, whose limit is
 * not relative to its result alone.
 *
 *   ulp-table BACKEND[,BACKEND...] OP|all DTYPE [--points N | --all] [--part I/N]
 *
 * --all measures every number of the type (f32: 2^32); without it, N pseudorandom numbers (points.h).
 * Each result is screened against the C library in double (f64: long double). Errors near the largest
 * error so far, and every 4096th error, are measured again with truth_error; both must agree. For
 * 16-bit types it also counts the results that differ from the correctly rounded f32 result rounded
 * to the type. Exit status 1: a limit of the conformance kit is exceeded.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit.h"
#include "points.h"
#include "truth.h"

#define BLOCK ((int64_t)1 << 18)
#define BACKENDS 4
#define CHECK_EVERY 4096

typedef struct tally {
    const char *backend;
    double worst, at; /* largest error in ulp; its argument */
    uint64_t differ;  /* 16-bit types: results that are not the rounded f32 result */
    collet_array *out;
    void *results;
} tally;

typedef struct run {
    collet_context *context;
    uint32_t op;
    collet_dtype dtype;
    uint64_t points, first;
    int all;
    void *x;
    long double *expected; /* fast reference of f64 */
    double *quick;         /* fast reference of the other types */
    double *errors;        /* errors of one tally against the fast reference */
    collet_array *in;
    tally tallies[BACKENDS];
    int backends;
} run;

/* The tolerance of the fast reference in ulp. */
static double tolerance(collet_dtype dtype)
{
    return dtype == COLLET_F64 ? 0.01 : 1e-6;
}

static _Noreturn void give_up(const char *what, const char *why)
{
    fprintf(stderr, "ulp-table: %s: %s\n", what, why);
    exit(2);
}

/*
 * Handles NaN results and references that are not finite: sets `error` to 0 if the result is right,
 * else to infinity. Returns 0 if the caller must compute the error in ulp, for instance when a
 * finite value was rounded to infinity.
 */
static int settled(long double expected, double x, double got, double *error)
{
    if (!isnan(expected) && !isinf(expected) && !isnan(got))
        return 0;
    *error = (isnan(expected) && isnan(got)) || (long double)got == expected ? 0 : (double)INFINITY;
    return *error == 0 || isnan(expected) || !isfinite(x) || isnan(got);
}

/* The error against the fast reference in long double. */
static double screened_long(const run *r, int64_t i, double x, double got)
{
    double error;
    long double expected = r->expected[i], given = isinf(got) ? copysignl(0x1p1024L, got) : got;
    if (settled(expected, x, got, &error))
        return error;
    expected = fabsl(expected) < 0x1p1024L ? expected : copysignl(0x1p1024L, expected);
    int exponent = expected == 0 ? -1022 : ilogbl(expected);
    exponent = exponent < -1022 ? -1022 : exponent > 1023 ? 1023 : exponent;
    return (double)(fabsl(given - expected) * ldexpl(1, 52 - exponent));
}

/* The error against the fast reference in double, for types other than f64. */
static double screened_double(const run *r, int64_t i, double x, double got)
{
    int digits = r->dtype == COLLET_F32 ? 23 : r->dtype == COLLET_F16 ? 10 : 7;
    uint64_t bits, max_exponent = r->dtype == COLLET_F16 ? 1023 + 15 : 1023 + 127;
    uint64_t min_exponent = r->dtype == COLLET_F16 ? 1023 - 14 : 1023 - 126;
    double expected = r->quick[i], error, top, per_unit;
    if (!(fabs(expected) < (double)INFINITY) || isnan(got)) {
        if (settled((long double)expected, x, got, &error))
            return error;
    }
    bits = (max_exponent + 1) << 52;
    memcpy(&top, &bits, sizeof top);
    expected = fabs(expected) < top ? expected : copysign(top, expected);
    got = fabs(got) < top ? got : copysign(top, got);
    memcpy(&bits, &expected, sizeof bits);
    bits = bits >> 52 & 0x7ff;
    bits = (uint64_t)(2046 + digits) - (bits < min_exponent   ? min_exponent
                                        : bits > max_exponent ? max_exponent
                                                              : bits);
    bits <<= 52;
    memcpy(&per_unit, &bits, sizeof per_unit);
    return fabs(got - expected) * per_unit;
}

/* Measures a screened error again if it may be the largest error. Also measures every
 * CHECK_EVERY-th screened error again. */
static double measured_again(const run *r, double largest, int64_t i, double x, double got,
                             double error)
{
    double margin = tolerance(r->dtype);
    int near = error > largest - margin && error > 4 * margin;
    if ((!near && i % CHECK_EVERY) || isinf(error) || !isfinite(x) || isnan(got))
        return error;
    if (error == 0 && isinf(got))
        return error;
    double precise = truth_error(r->op, r->dtype, x, got);
    if (fabs(precise - error) > margin) {
        fprintf(stderr, "ulp-table: the references differ at %a: errors of %g and %g ulp\n", x,
                error, precise);
        exit(2);
    }
    return precise;
}

/* Screens a whole block before measuring its largest errors again. Otherwise each of a series of
 * increasing errors would be the largest error so far, and would be measured again. */
static void compare(const run *r, tally *t, int64_t count)
{
    double largest = t->worst;
    int halves = r->dtype == COLLET_F16 || r->dtype == COLLET_BF16;
    for (int64_t i = 0; i < count; i++) {
        double x = points_value(r->x, r->dtype, i), got = points_value(t->results, r->dtype, i);
        double error =
            r->dtype == COLLET_F64 ? screened_long(r, i, x, got) : screened_double(r, i, x, got);
        r->errors[i] = error;
        largest = fmax(largest, error);
        if (halves && isfinite(x)) {
            uint16_t expected, is = ((const uint16_t *)t->results)[i];
            kit_convert(r->dtype, (long double)truth_f32(r->op, x), &expected);
            t->differ += expected != is && !(isnan(got) && isnan(kit_value(r->dtype, &expected)));
        }
    }
    for (int64_t i = 0; i < count; i++) {
        if (r->errors[i] <= largest - tolerance(r->dtype) && i % CHECK_EVERY)
            continue;
        double x = points_value(r->x, r->dtype, i), got = points_value(t->results, r->dtype, i);
        double error = measured_again(r, largest, i, x, got, r->errors[i]);
        if (error > t->worst) {
            t->worst = error;
            t->at = x;
        }
    }
}

static void check(const run *r, collet_status status)
{
    if (status != COLLET_OK)
        give_up(collet_status_name(status), collet_last_error(r->context));
}

static void measure_block(run *r, uint64_t block, int64_t count)
{
    size_t bytes = (size_t)BLOCK * collet_dtype_size(r->dtype);
    if (r->all)
        points_every(r->x, r->dtype, r->first + block * (uint64_t)BLOCK, count);
    else
        points_hard(r->x, r->dtype, r->op, r->first + block, count);
    check(r, collet_array_write(r->context, r->in, r->x, bytes));
    for (int64_t i = 0; i < count; i++) {
        double x = points_value(r->x, r->dtype, i);
        if (r->dtype == COLLET_F64)
            r->expected[i] = kit_function(r->op, (long double)x);
        else
            r->quick[i] = truth_double(r->op, x);
    }
    for (int b = 0; b < r->backends; b++) {
        tally *t = &r->tallies[b];
        const collet_array *ins[] = {r->in};
        check(r, collet_set_backend(r->context, t->backend));
        check(r, collet_call(r->context, r->op, &t->out, ins, NULL));
        check(r, collet_array_read(r->context, t->out, t->results, bytes));
        compare(r, t, count);
    }
}

static int report(const run *r)
{
    int failed = 0;
    for (int b = 0; b < r->backends; b++) {
        const tally *t = &r->tallies[b];
        const kit_limit *limit = kit_limit_find(r->op, r->dtype, "value");
        collet_ops_info info = {.struct_size = sizeof info};
        double limit_ulp = r->op == COLLET_OP_SQRT ? 0.5 : limit->limit;
        for (size_t i = 0; i < collet_ops_count(collet_context_runtime(r->context)); i++)
            if (collet_ops_at(collet_context_runtime(r->context), &info, i, NULL) == COLLET_OK &&
                info.id == r->op)
                break;
        printf("%-5s %-5s %-11s %11" PRIu64 "  %-7.5g of %-6.4g at %a", info.name,
               collet_dtype_name(r->dtype), t->backend, r->points, t->worst, limit_ulp, t->at);
        if (r->dtype == COLLET_F16 || r->dtype == COLLET_BF16)
            printf("; %" PRIu64 " differ from the rounded f32", t->differ);
        printf("\n");
        failed |= !(t->worst <= limit_ulp);
    }
    fflush(stdout);
    return failed;
}

static int measure(run *r)
{
    int64_t length = BLOCK;
    size_t bytes = (size_t)BLOCK * collet_dtype_size(r->dtype);
    r->x = kit_memory(bytes);
    r->expected = kit_memory((size_t)BLOCK * sizeof *r->expected);
    r->quick = kit_memory((size_t)BLOCK * sizeof *r->quick);
    r->errors = kit_memory((size_t)BLOCK * sizeof *r->errors);
    check(r, collet_array_create(r->context, &r->in, r->dtype, 1, &length));
    for (int b = 0; b < r->backends; b++) {
        tally *t = &r->tallies[b];
        *t = (tally){.backend = t->backend, .results = kit_memory(bytes)};
        check(r, collet_array_create(r->context, &t->out, r->dtype, 1, &length));
    }
    for (uint64_t done = 0; done < r->points; done += (uint64_t)BLOCK) {
        uint64_t left = r->points - done;
        measure_block(r, done / (uint64_t)BLOCK, left < (uint64_t)BLOCK ? (int64_t)left : BLOCK);
    }
    int failed = report(r);
    for (int b = 0; b < r->backends; b++) {
        collet_array_destroy(r->tallies[b].out);
        free(r->tallies[b].results);
    }
    collet_array_destroy(r->in);
    free(r->errors);
    free(r->quick);
    free(r->expected);
    free(r->x);
    return failed;
}

/* ---- Arguments ----------------------------------------------------------------------------- */

static collet_dtype find_dtype(const char *name)
{
    static const collet_dtype dtypes[] = {COLLET_F16, COLLET_BF16, COLLET_F32, COLLET_F64};
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (!strcmp(name, collet_dtype_name(dtypes[i])))
            return dtypes[i];
    give_up(name, "not one of f16 bf16 f32 f64");
}

static void take_options(run *r, int count, char **options)
{
    uint64_t part = 0, parts = 1;
    for (int i = 0; i < count; i++) {
        if (!strcmp(options[i], "--all"))
            r->all = 1;
        else if (!strcmp(options[i], "--points") && i + 1 < count)
            r->points = strtoull(options[++i], NULL, 10);
        else if (!strcmp(options[i], "--part") && i + 1 < count &&
                 sscanf(options[i + 1], "%" SCNu64 "/%" SCNu64, &part, &parts) == 2 && part < parts)
            i++;
        else
            give_up(options[i], "no such option");
    }
    if (r->all)
        r->points = points_all(r->dtype);
    if (r->points < parts)
        give_up("--all", "f64 has too many numbers; give --points");
    r->points /= parts;
    r->first = part * (r->all ? r->points : (r->points / (uint64_t)BLOCK + 1));
}

typedef struct function {
    uint32_t op, inputs;
    double ulp;
} function;

static const function functions[] = {
#define COLLET_ELEMENTWISE(NAME, id, name, inputs, result, kinds, ulp, ...)                        \
    {COLLET_OP_##NAME, inputs, ulp},
#include <collet/ops/elementwise.def>
};

static int is_measured(const function *f)
{
    return f->op == COLLET_OP_SQRT || (f->inputs == 1 && f->ulp > 0 && f->op != COLLET_OP_LGAMMA);
}

int main(int argc, char **argv)
{
    collet_runtime *runtime;
    collet_error err;
    collet_runtime_options options = {.struct_size = sizeof options};
    run r = {.points = 1000000};
    if (argc < 4)
        give_up("usage", "ulp-table BACKEND[,BACKEND...] OP|all DTYPE [--points N | --all] "
                         "[--part I/N]");
    for (char *name = strtok(argv[1], ","); name && r.backends < BACKENDS; name = strtok(NULL, ","))
        r.tallies[r.backends++].backend = name;
    r.dtype = find_dtype(argv[3]);
    take_options(&r, argc - 4, argv + 4);
    if (collet_runtime_create(&runtime, &options, &err) != COLLET_OK ||
        collet_context_create(runtime, &r.context, &err) != COLLET_OK)
        give_up("libcore", err.text);
    if (strcmp(argv[2], "all") != 0 && collet_ops_find(runtime, &r.op, argv[2], &err) != COLLET_OK)
        give_up(argv[2], err.text);
    uint32_t requested = r.op;
    int failed = 0, known = 0;
    printf("# truth: %s\n", truth_source());
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (!is_measured(&functions[i]) || (requested && requested != functions[i].op))
            continue;
        r.op = functions[i].op;
        known = 1;
        failed |= measure(&r);
    }
    if (!known)
        give_up(argv[2], "not a function of one argument with a limit in ulp");
    collet_context_destroy(r.context);
    collet_runtime_destroy(runtime);
    return failed;
}
