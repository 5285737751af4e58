/* SPDX-License-Identifier: Apache-2.0 */
/* Finds which backends, ops and dtypes the command line selects for measurement.
 * Tests: tests/tools/test_bench_calibrate.c */
#include "calibrate.h"

#include <string.h>

static const char *const first_ops[] = {"matmul", "add",  "mul", "sub",    "div",    "exp",
                                        "sqrt",   "sum",  "dot", "matvec", "mean",   "max",
                                        "where",  "copy", "fft", "take",   "uniform"};
#define FIRST_OPS (sizeof first_ops / sizeof *first_ops)

static int32_t is_in(const char *const *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(name, list[i]))
            return 1;
    return 0;
}

/* ---- Names ------------------------------------------------------------------------------- */

static collet_status check_dtypes(const bench_options *o, collet_error *err)
{
    static const char *const dtypes[] = {"f32", "f64", "i32", "i64"};
    size_t count = o->check ? 4 : 2;
    for (int32_t d = 0; d < o->dtype_count; d++)
        if (!is_in(dtypes, count, o->dtypes[d]))
            return collet_fail(err, COLLET_DTYPE,
                               "--dtype: '%s' is none of f32%s f64, which calibrate%s",
                               o->dtypes[d], o->check ? ", i32, i64 and" : " and",
                               o->check ? " --check compares" : " measures");
    return COLLET_OK;
}

collet_status calibrate_choose(calibration_run *run, collet_error *err)
{
    bench_session *s = run->session;
    const bench_options *o = s->options;
    collet_backend_info b;
    bench_case row;
    int32_t backends = 0;
    for (int32_t i = 0; i < o->case_count; i++) {
        const char *name = o->cases[i];
        if (bench_session_backend(s, name, &b)) {
            collet_status status = collet_set_backend(s->context, name);
            if (status != COLLET_OK)
                return collet_fail(err, status, "%s", collet_last_error(s->context));
            s->choices[backends++] = name;
        } else if (!strchr(name, '/') &&
                   bench_case_find(s->runtime, name, &row, err) == COLLET_OK) {
            run->ops[run->op_count++] = name;
        } else {
            return collet_fail(err, COLLET_NOT_FOUND,
                               "calibrate: there is no backend and no op '%s' (backend-info and "
                               "backend-bench --list show them)",
                               name);
        }
    }
    s->choice_count = backends ? backends : s->choice_count;
    return check_dtypes(o, err);
}

int32_t calibrate_has_op(const calibration_run *run, const char *op)
{
    return !run->op_count || is_in(run->ops, (size_t)run->op_count, op);
}

int32_t calibrate_has_dtype(const calibration_run *run, const char *dtype)
{
    const bench_options *o = run->session->options;
    return !o->dtype_count || is_in(o->dtypes, (size_t)o->dtype_count, dtype);
}

/* ---- Ops --------------------------------------------------------------------------------- */

int32_t calibrate_op(const calibration_run *run, size_t *index, bench_case *row)
{
    const collet_runtime *runtime = run->session->runtime;
    collet_error err;
    while (*index < FIRST_OPS) {
        const char *name = first_ops[(*index)++];
        if (calibrate_has_op(run, name) && bench_case_find(runtime, name, row, &err) == COLLET_OK)
            return 1;
    }
    while (bench_case_at(runtime, (*index)++ - FIRST_OPS, row))
        if (!strchr(row->name, '/') && !is_in(first_ops, FIRST_OPS, row->name) &&
            calibrate_has_op(run, row->name))
            return 1;
    return 0;
}
