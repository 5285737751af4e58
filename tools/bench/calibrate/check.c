/* SPDX-License-Identifier: Apache-2.0 */
/* backend-bench calibrate --check: measures the regret of auto, which is its time divided by the time of the best
 * backend alone.
 * Tests: tests/tools/test_bench_calibrate.c */
#include "bench/ops/report.h"
#include "calibrate.h"

#include "common/stats.h"

#include "common/json_add.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALLEST 10.0
#define LARGEST 1e7
#define STEP 10.0
#define BUDGET_MIN 1e-3
#define BUDGET_MAX 20e-3
#define WORST 10
#define TURNS 5             /* most turns of a measurement: the machine may have several speeds */
#define SLOWEST_OTHER 16e-3 /* seconds; a backend that takes longer for a call is left out of larger calls */
#define FEW 50              /* up to this many elements auto should not cost more than cpu_scalar */

static const char *const dtypes[] = {"f32", "f64", "i32", "i64"};
#define DTYPES ((int32_t)(sizeof dtypes / sizeof *dtypes))

/* Thin products, which are measured in addition to square products of all sizes. */
static const char *const thin[] = {"16x320x320",   "320x16x320",   "320x320x16",
                                   "16x1000x1000", "1000x16x1000", "1000x1000x16"};
#define THIN ((int32_t)(sizeof thin / sizeof *thin))

/* The times of one call. seconds: on auto; own: on the backend that auto chose, or on auto if that backend was left
 * out; least: the shortest time, on the best backend. */
typedef struct regret {
    char call[CALIBRATE_KEY + BENCH_SHAPE_TEXT];
    const char *best, *chosen;
    double seconds, own, least;
} regret;

typedef struct check {
    calibration_run *run;
    int32_t automatic; /* index of auto among the backends */
    int32_t scalar;    /* index of the last backend in the order of auto */
    int32_t count, possible, done;
    double logs, logs_chosen, total, least; /* sums */
    regret worst[WORST];                    /* in descending order of ratio */
    regret few;  /* the worst call with few elements, compared with `scalar` */
    cJSON *list; /* may be NULL */
    int32_t fine;
} check;

/* Returns the time of the backend chosen by auto divided by the time of the best backend. It is 1 if auto chose the
 * best backend: the time on auto itself would add noise and the cost of choosing. */
static double ratio(const regret *r)
{
    return r->least > 0 ? r->own / r->least : 0;
}

static void keep_worst(check *c, const regret *r)
{
    int32_t at = WORST;
    while (at > 0 && ratio(r) > ratio(&c->worst[at - 1]))
        at--;
    if (at == WORST)
        return;
    memmove(&c->worst[at + 1], &c->worst[at], (size_t)(WORST - 1 - at) * sizeof *c->worst);
    c->worst[at] = *r;
}

static int32_t add_row(cJSON *list, const regret *r)
{
    cJSON *row = json_append_object(list);
    return row && json_add_text(row, "call", r->call) && json_add_text(row, "chosen", r->chosen) &&
           json_add_text(row, "best", r->best) && json_add_number(row, "auto", r->seconds) &&
           json_add_number(row, "chosen_seconds", r->own) &&
           json_add_number(row, "best_seconds", r->least) &&
           json_add_number(row, "ratio", ratio(r));
}

/* Compares the times of one call. The last call must have run on auto, so that its backend is known. */
static regret regret_of(const check *c, const double *seconds)
{
    regret r = {.seconds = seconds[c->automatic],
                .own = NAN,
                .least = INFINITY,
                .chosen = collet_last_backend(c->run->session->context)};
    for (int32_t b = 0; b < c->automatic; b++) {
        if (!strcmp(c->run->backends[b].name, r.chosen))
            r.own = seconds[b];
        if (seconds[b] < r.least) {
            r.least = seconds[b];
            r.best = c->run->backends[b].name;
        }
    }
    r.own = isnan(r.own) ? r.seconds : r.own;
    return r;
}

static void note(check *c, const bench_layout *l, const char *dtype, const double *seconds)
{
    char shape[BENCH_SHAPE_TEXT];
    regret r = regret_of(c, seconds);
    if (isnan(r.seconds) || isnan(r.own) || !r.best)
        return;
    snprintf(r.call, sizeof r.call, "%s %s %s", l->op.name, dtype,
             bench_shape_text(l->shape.count, l->shape.extents, shape));
    c->count++;
    c->logs += log(r.seconds / r.least);
    c->logs_chosen += log(ratio(&r));
    c->total += r.own;
    c->least += r.least;
    keep_worst(c, &r);
    c->fine = c->fine && (!c->list || add_row(c->list, &r));
    if (calibrate_work(l) < FEW && !isnan(seconds[c->scalar])) {
        r.least = seconds[c->scalar];
        c->few = ratio(&r) > ratio(&c->few) ? r : c->few;
    }
}

/* Measures and compares one call. Returns the time of the fastest backend. `seconds` as for calibrate_measure. */
static double check_call(check *c, const bench_layout *l, const char *dtype, double budget,
                         double *seconds)
{
    calibrate_measure(c->run, l, budget, seconds);
    regret r = regret_of(c, seconds);
    for (int turn = 1; turn < TURNS && r.own * CALIBRATE_SAME > r.least; turn++) { /* is it so? */
        calibrate_measure_again(c->run, l, budget, seconds);
        r = regret_of(c, seconds);
    }
    note(c, l, dtype, seconds);
    return fmin(r.seconds, r.least);
}

/* Leaves out backends that are far slower than the best: they will not be the fastest for larger calls either. */
static void leave_out_slow(const check *c, double best, double *seconds)
{
    for (int32_t b = 0; b < c->automatic; b++)
        if (seconds[b] * STEP > SLOWEST_OTHER && seconds[b] > 2 * best)
            seconds[b] = NAN;
}

static void check_op(check *c, const bench_case *row, const char *dtype)
{
    calibration_run *run = c->run;
    bench_layout l;
    double left = run->end - tool_now(), work = 0, best = 0, seconds[BENCH_LIST_MAX] = {0};
    double each = left / (c->possible - c->done) / run->count / log10(STEP * LARGEST / SMALLEST);
    double budget = fmin(fmax(each, BUDGET_MIN), BUDGET_MAX);
    if (left <= 0 && c->done)
        return;
    bench_session_show(run->session, "calibrate: check %s %s, %d of %d, %.0f s left", row->name,
                       dtype, (int)++c->done, (int)c->possible, fmax(left, 0));
    for (double size = SMALLEST; size < LARGEST * 1.1 && best * STEP < CALIBRATE_SLOWEST;
         size *= STEP) {
        if (!calibrate_layout(&l, run->session, row, dtype, size) || calibrate_work(&l) <= work)
            continue;
        work = calibrate_work(&l);
        best = check_call(c, &l, dtype, budget, seconds);
        leave_out_slow(c, best, seconds);
    }
    for (int32_t i = 0; i < THIN && !strcmp(row->name, "matmul"); i++) {
        double thin_seconds[BENCH_LIST_MAX] = {0};
        bench_case thin_row = *row;
        bench_options options = *run->session->options;
        collet_error err;
        options.shape = thin[i];
        options.axis = NULL;
        if (bench_layout_make(&l, run->session->runtime, &thin_row, &options, dtype, &err) ==
            COLLET_OK)
            check_call(c, &l, dtype, budget, thin_seconds);
    }
}

static void print_result(const check *c)
{
    char own[16], least[16];
    printf(
        "The backend that auto chooses takes %.3f times as long as the best one (geometric mean "
        "of %d calls of %d of %d ops and dtypes), and %.3f times in all.\n"
        "Calls under auto, measured directly, take %.3f times as long: the difference is noise and the "
        "cost of choosing.\nThe worst:\n",
        exp(c->logs_chosen / c->count), (int)c->count, (int)c->done, (int)c->possible,
        c->total / c->least, exp(c->logs / c->count));
    for (int32_t i = 0; i < WORST && ratio(&c->worst[i]) > 1; i++) {
        const regret *r = &c->worst[i];
        printf("  %.2f  %s: %s %s, %s %s\n", ratio(r), r->call, r->chosen,
               bench_time_text(r->own, own), r->best, bench_time_text(r->least, least));
    }
    if (c->few.best)
        printf("With less than %d elements, at most %.2f times as long as %s (%s).\n", FEW,
               ratio(&c->few), c->run->backends[c->scalar].name, c->few.call);
}

static int32_t add_result(const check *c, cJSON *report)
{
    return json_add_number(report, "ops_reached", c->done) &&
           json_add_number(report, "ops_possible", c->possible) &&
           json_add_number(report, "calls", c->count) &&
           json_add_number(report, "geometric_mean", exp(c->logs_chosen / c->count)) &&
           json_add_number(report, "geometric_mean_auto", exp(c->logs / c->count)) &&
           json_add_number(report, "total", c->total / c->least) &&
           json_add_number(report, "few_elements", c->few.best ? ratio(&c->few) : NAN);
}

static int32_t has_dtype(const check *c, const bench_case *row, const char *dtype)
{
    bench_layout l;
    return calibrate_has_dtype(c->run, dtype) &&
           calibrate_layout(&l, c->run->session, row, dtype, SMALLEST * STEP);
}

int calibrate_check(calibration_run *run)
{
    bench_session *s = run->session;
    check c = {.run = run, .automatic = run->count, .scalar = run->count - 1, .fine = 1};
    bench_case row;
    if (run->count == BENCH_LIST_MAX)
        return bench_complain(COLLET_INVALID, "calibrate: too many backends");
    run->backends[run->count++] = (calibrated){.name = "auto", .own_memory = 1};
    c.list = s->report ? cJSON_AddArrayToObject(s->report, "results") : NULL;
    c.fine = c.list || !s->report;
    for (size_t i = 0; calibrate_op(run, &i, &row);)
        for (int32_t d = 0; d < DTYPES; d++)
            c.possible += has_dtype(&c, &row, dtypes[d]);
    for (size_t i = 0; c.fine && calibrate_op(run, &i, &row);)
        for (int32_t d = 0; d < DTYPES; d++)
            if (has_dtype(&c, &row, dtypes[d]))
                check_op(&c, &row, dtypes[d]);
    tool_progress_end(&s->progress);
    if (c.done < c.possible)
        fprintf(stderr,
                "backend-bench: the time was enough for %d of %d ops and dtypes; --seconds gives "
                "more\n",
                (int)c.done, (int)c.possible);
    if (s->report)
        c.fine = c.fine && add_result(&c, s->report);
    else if (c.count)
        print_result(&c);
    else
        return bench_complain(COLLET_UNSUPPORTED, "calibrate: no call could be compared");
    return c.fine ? TOOL_EXIT_OK : bench_out_of_memory();
}
