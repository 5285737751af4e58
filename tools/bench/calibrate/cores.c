/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_bench_calibrate.c */
#include "cores.h"

#include "bench/against/process.h"
#include "common/json_add.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FASTER 1.1
#define SHAPE "512x512x512"
#define ROUNDS 3
#define AGAIN 2    /* times that a faster core type has to prove itself */
#define NO_LIMIT 4 /* of reference_variant_fits */

static const char *const dtypes[CALIBRATE_DTYPES] = {"f32", "f64"};

typedef struct core {
    const char *name; /* NULL: as OpenBLAS chooses */
    size_t variant;
    double seconds[CALIBRATE_DTYPES]; /* NaN: not measured */
} core;

/* The library's file and core type in the capabilities. 0: the backend has no OpenBLAS. */
static int32_t find_blas(const collet_backend_info *b, char path[4096], char present[64])
{
    cJSON *capabilities = cJSON_Parse(b->capabilities);
    const cJSON *blas = cJSON_GetObjectItemCaseSensitive(capabilities, "blas");
    const char *file = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(blas, "path"));
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(blas, "core"));
    if (file && name) {
        snprintf(path, 4096, "%s", file);
        snprintf(present, 64, "%s", name);
    }
    cJSON_Delete(capabilities);
    return file && name;
}

static double measure(const bench_session *s, const core *c, const char *path,
                      const bench_layout *l, double seconds)
{
    reference_process p;
    tool_stats stats;
    double fastest = NAN;
    reference_start(&p, 0, c->variant, path, l, s->machine.threads);
    for (int round = 0; round < ROUNDS && p.state == REFERENCE_RUNS; round++)
        reference_sample(&p, seconds / ROUNDS);
    if (p.state == REFERENCE_RUNS && reference_stats(&p, &stats))
        fastest = stats.min; /* processes run one after the other, at any load */
    reference_stop(&p);
    return fastest;
}

/* The shortest times of the core type, those of earlier calls included. */
static void measure_core(const calibration_run *run, core *c, const char *path, double seconds)
{
    bench_session *s = run->session;
    bench_options options = *s->options;
    bench_case row;
    bench_layout l;
    collet_error err;
    options.shape = SHAPE;
    options.axis = NULL;
    for (int d = 0; d < CALIBRATE_DTYPES; d++) {
        bench_session_show(s, "calibrate: OpenBLAS as %s, %s", c->name ? c->name : "it chooses",
                           dtypes[d]);
        if (bench_case_find(s->runtime, "matmul", &row, &err) == COLLET_OK &&
            bench_layout_make(&l, s->runtime, &row, &options, dtypes[d], &err) == COLLET_OK)
            c->seconds[d] = fmin(c->seconds[d], measure(s, c, path, &l, seconds));
    }
}

/* The geometric mean of how many times as fast as `than` a core type is; NaN: not measured. */
static double speedup(const core *c, const core *than)
{
    double logs = 0;
    for (int d = 0; d < CALIBRATE_DTYPES; d++)
        logs += log(than->seconds[d] / c->seconds[d]);
    return exp(logs / CALIBRATE_DTYPES);
}

static int32_t tell(const char *backend, const core *best, const core *now, const char *present,
                    cJSON *list)
{
    if (list) {
        cJSON *row = json_append_object(list);
        return row && json_add_text(row, "backend", backend) &&
               json_add_text(row, "present", present) && json_add_text(row, "faster", best->name) &&
               json_add_number(row, "speedup", speedup(best, now));
    }
    printf("%s: OpenBLAS as %s is %.2f times as fast as %s (matmul " SHAPE
           "): set %s.openblas_core = %s in collet.conf\n",
           backend, best->name, speedup(best, now), present, backend, best->name);
    return 1;
}

static int32_t compare_cores(calibration_run *run, const collet_backend_info *b, double seconds,
                             cJSON *list)
{
    bench_session *s = run->session;
    char path[4096], present[64];
    core cores[REFERENCE_VARIANTS], *now = NULL, *best = NULL;
    size_t count = 0;
    if (!find_blas(b, path, present))
        return 1;
    const reference_variant *variants = reference_libraries[0].variants;
    for (size_t v = 0; v < REFERENCE_VARIANTS && variants[v].fits; v++)
        if (reference_variant_fits(&variants[v], NO_LIMIT))
            cores[count++] = (core){variants[v].value, v, {NAN, NAN}};
    seconds /= (double)count * CALIBRATE_DTYPES;
    for (size_t i = 0; i < count; i++)
        measure_core(run, &cores[i], path, seconds);
    for (size_t i = 0; i < count; i++) /* the first one is the library's own choice */
        if (!i || (cores[i].name && !strcasecmp(cores[i].name, present)))
            now = &cores[i];
    for (size_t i = 1; i < count; i++)
        if (speedup(&cores[i], now) > (best ? speedup(best, now) : FASTER))
            best = &cores[i];
    for (int again = 0; again < AGAIN && best && speedup(best, now) > FASTER; again++) {
        measure_core(run, now, path, seconds);
        measure_core(run, best, path, seconds);
    }
    tool_progress_end(&s->progress);
    return !best || speedup(best, now) <= FASTER || tell(b->name, best, now, present, list);
}

int32_t calibrate_cores(calibration_run *run, double seconds, cJSON *report)
{
    cJSON *list = report ? cJSON_AddArrayToObject(report, "cores") : NULL;
    int32_t fine = list || !report, wanted = calibrate_has_op(run, "matmul");
    for (int d = 0; d < CALIBRATE_DTYPES; d++)
        wanted = wanted && calibrate_has_dtype(run, dtypes[d]);
    for (int32_t i = 0; i < run->count && fine && wanted; i++) {
        collet_backend_info b;
        if (bench_session_backend(run->session, run->backends[i].name, &b))
            fine = compare_cores(run, &b, seconds, list);
    }
    return fine;
}
