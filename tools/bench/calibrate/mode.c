/* SPDX-License-Identifier: Apache-2.0 */
/* backend-bench calibrate: measures the implementations among which libcore and the backends choose on this machine,
 * and stores the results for later runs.
 * Tests: tests/tools/test_bench_calibrate.c */
#include "bench/base/modes.h"
#include "calibrate.h"
#include "ways.h"

#include "common/json_add.h"
#include "common/output.h"
#include "common/stats.h"

#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FASTER 1.1
#define SHAPE "512x512x512"
#define AGAIN 2 /* number of further measurements of a core type that seems faster */

extern char **environ;

static const char *const dtypes[CALIBRATE_DTYPES] = {"f32", "f64"};

/* 1 if the processor supports the core type. Core types with SSE kernels are left out: they are far slower. */
static int32_t is_supported(const char *core)
{
#if defined(__x86_64__)
    int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    int avx512 = __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                 __builtin_cpu_supports("avx512bw");
    return !strcmp(core, "Haswell")    ? avx2
           : !strcmp(core, "Zen")      ? avx2 && __builtin_cpu_is("amd")
           : !strcmp(core, "SkylakeX") ? avx512
                                       : avx512 && __builtin_cpu_supports("avx512bf16");
#else
    (void)core;
    return 0;
#endif
}

static const char *const names[] = {"own", "Haswell", "Zen", "SkylakeX", "Cooperlake"};
#define CORES (sizeof names / sizeof *names)

typedef struct core {
    const char *name;                 /* "own": as OpenBLAS chooses */
    double seconds[CALIBRATE_DTYPES]; /* NaN: not measured */
} core;

/* Sets `present` to the core type that OpenBLAS uses now. 0: the backend has no OpenBLAS. */
static int32_t find_blas(const collet_backend_info *b, char present[64])
{
    cJSON *capabilities = cJSON_Parse(b->capabilities);
    const cJSON *blas = cJSON_GetObjectItemCaseSensitive(capabilities, "blas");
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(blas, "core"));
    if (name)
        snprintf(present, 64, "%s", name);
    cJSON_Delete(capabilities);
    return name != NULL;
}

/* Starts this program (backend-bench) as another process, whose report goes to `out`. */
static int spawn(pid_t *pid, const char **argv, int out)
{
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawn_file_actions_adddup2(&actions, out, 1) ||
            posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) ||
            posix_spawn(pid, "/proc/self/exe", &actions, NULL, (char **)(uintptr_t)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Reads a report up to its end, and lowers shortest[d] to the shortest time of dtype d. */
static void read_report(int in, double shortest[CALIBRATE_DTYPES])
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = fdopen(in, "r");
    ssize_t length = file ? getdelim(&text, &size, '\0', file) : -1;
    cJSON *report = length > 0 ? cJSON_Parse(text) : NULL;
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(report, "results");
    for (int d = 0; d < CALIBRATE_DTYPES; d++) {
        const cJSON *times =
            cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(rows, d), "call_seconds");
        const cJSON *fastest = cJSON_GetObjectItemCaseSensitive(times, "min");
        shortest[d] = fmin(shortest[d], cJSON_GetNumberValue(fastest)); /* NaN without one */
    }
    cJSON_Delete(report);
    free(text);
    if (file)
        fclose(file);
    else
        close(in);
}

/* Measures a product with a core type. OpenBLAS reads its core type when it is loaded, so this is done in
 * another process. The processes run in sequence, and the load of the machine may change meanwhile. So the shortest
 * time of all calls counts. */
static void measure_core(const calibration_run *run, const char *backend, core *c, double seconds)
{
    bench_session *s = run->session;
    char time[32], threads[32], device[160], ways[160];
    const char *argv[20 + 2 * BENCH_DEFAULTS_MAX] = {
        "backend-bench", "matmul", SHAPE,       "--json", "--dtype",   "f32,f64",
        "--backend",     backend,  "--seconds", time,     "--threads", threads,
        "--setting",     device,   "--setting", ways};
    size_t count = 16;
    int ends[2];
    pid_t pid = 0;
    bench_session_show(s, "calibrate: OpenBLAS as %s", c->name);
    snprintf(time, sizeof time, "%g", seconds);
    snprintf(threads, sizeof threads, "%d", (int)s->machine.threads);
    snprintf(device, sizeof device, "%s.openblas_core=%s", backend, c->name);
    snprintf(ways, sizeof ways, "%s.ways=openblas", backend);
    for (const char *const *d = s->options->defaults; *d; d++) {
        argv[count++] = "--default";
        argv[count++] = *d;
    }
    if (pipe2(ends, O_CLOEXEC))
        return;
    int error = spawn(&pid, argv, ends[1]);
    close(ends[1]);
    read_report(ends[0], c->seconds);
    if (!error)
        waitpid(pid, NULL, 0);
}

/* Returns the speed of a core type relative to `than`, as the geometric mean over the dtypes; NaN: not measured. */
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
    char present[64];
    core cores[CORES], *now = NULL, *best = NULL;
    size_t count = 0;
    if (!find_blas(b, present))
        return 1;
    for (size_t i = 0; i < CORES; i++)
        if (!i || is_supported(names[i]))
            cores[count++] = (core){names[i], {NAN, NAN}};
    seconds /= (double)count * CALIBRATE_DTYPES;
    for (size_t i = 0; i < count; i++)
        measure_core(run, b->name, &cores[i], seconds);
    for (size_t i = 0; i < count; i++) /* cores[0] is the library's own choice */
        if (!i || !strcasecmp(cores[i].name, present))
            now = &cores[i];
    for (size_t i = 1; i < count; i++)
        if (speedup(&cores[i], now) > (best ? speedup(best, now) : FASTER))
            best = &cores[i];
    for (int again = 0; again < AGAIN && best && speedup(best, now) > FASTER; again++) {
        measure_core(run, b->name, now, seconds);
        measure_core(run, b->name, best, seconds);
    }
    tool_progress_end(&s->progress);
    return !best || speedup(best, now) <= FASTER || tell(b->name, best, now, present, list);
}

/* Measures the core types that the processor supports, each in its own process, for `seconds` in total. If a
 * core type is more than 10 % faster than the present one, prints the setting that chooses it, or adds
 * "cores" to `report`. 0 when out of memory. */
static int32_t calibrate_cores(calibration_run *run, double seconds, cJSON *report)
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

#define SECONDS 60.0
#define CORES_SHARE 0.1
#define WAYS_SHARE 0.25 /* the largest part of the time that measuring ways of products and decompositions may take */

/* Writes the document, and adds it to the report even if writing failed. Returns an exit status. */
static int keep(bench_session *s, const calibrated *c, cJSON *list)
{
    char path[4096] = "", *text = cJSON_PrintUnformatted(c->now);
    collet_error err;
    collet_status status = text ? COLLET_OK : COLLET_NO_MEMORY;
    if (!text)
        collet_fail(&err, status, "out of memory for the calibration");
    if (status == COLLET_OK && !s->options->dry_run)
        status = collet_calibration_write(s->runtime, path, sizeof path, c->name, text, &err);
    free(text);
    int result = status == COLLET_OK ? TOOL_EXIT_OK : bench_complain(status, err.text);
    if (!s->report) {
        if (*path)
            printf("%s: %s\n", c->name, tool_shown(path));
        return result;
    }
    cJSON *row = json_append_object(list);
    return row && json_add_text(row, "backend", c->name) && json_add_text(row, "path", path) &&
                   json_add_item(row, "calibration", cJSON_Duplicate(c->now, 1))
               ? result
               : bench_out_of_memory();
}

/* 1 if the result can be written. This is checked before a minute is spent on measurements. */
static int can_keep(const calibration_run *run)
{
    collet_error err;
    for (int32_t b = 0; b < run->count && !run->session->options->dry_run; b++) {
        collet_status status = collet_calibration_write(run->session->runtime, NULL, 0,
                                                        run->backends[b].name, NULL, &err);
        if (status != COLLET_OK)
            return bench_complain(status, err.text);
    }
    return TOOL_EXIT_OK;
}

/* Warns if a setting prevents libcore from using the documents that were written. */
static void warn_if_unused(const collet_runtime *runtime)
{
    collet_setting s = {.struct_size = sizeof s};
    for (size_t i = 0; collet_setting_at(runtime, &s, i, NULL) == COLLET_OK; i++)
        if ((!strcmp(s.key, "calibration") || !strcmp(s.key, "measure")) && !strcmp(s.value, "off"))
            fprintf(stderr, "backend-bench: the setting %s is off: the calibration is not used\n",
                    s.key);
}

static int conclude(calibration_run *run)
{
    bench_session *s = run->session;
    cJSON *list = s->report ? cJSON_AddArrayToObject(s->report, "results") : NULL;
    int result = TOOL_EXIT_OK;
    if ((s->report && !list) || !calibrate_changes(run, s->report) ||
        !calibrate_ways_changes(run, s->report))
        return bench_out_of_memory();
    if (run->measured < run->possible)
        fprintf(stderr,
                "backend-bench: the time was enough for %d of %d ops and dtypes; --seconds gives "
                "more\n",
                (int)run->measured, (int)run->possible);
    for (int32_t b = 0; b < run->count; b++) {
        int failed = keep(s, &run->backends[b], list);
        result = failed ? failed : result;
    }
    if (!s->options->dry_run)
        warn_if_unused(s->runtime);
    return result;
}

static int run_mode(bench_session *s)
{
    collet_error err;
    calibration_run run = {.session = s, .end = tool_now() + s->options->seconds};
    int result = TOOL_EXIT_OK;
    collet_status status = calibrate_choose(&run, &err);
    if (status == COLLET_OK)
        status = calibrate_begin(&run, &err);
    if (status != COLLET_OK)
        result = bench_complain(status, err.text);
    else if (!run.count)
        result = bench_complain(COLLET_INVALID, "calibrate: name backends, without devices");
    else if (s->options->check)
        result = calibrate_check(&run);
    else
        result = can_keep(&run);
    if (result == TOOL_EXIT_OK && !s->options->check &&
        (!calibrate_cores(&run, CORES_SHARE * s->options->seconds, s->report) ||
         !calibrate_ways(&run, tool_now() + WAYS_SHARE * s->options->seconds) ||
         !calibrate_transfers(&run) || !calibrate_times(&run)))
        result = bench_out_of_memory();
    tool_progress_end(&s->progress);
    if (result == TOOL_EXIT_OK && !s->options->check)
        result = conclude(&run);
    calibrate_end(&run);
    return result;
}

const bench_mode bench_mode_calibrate = {
    .name = "calibrate",
    .summary = "measure what is fastest on this machine, and keep it",
    .takes_names = 1,
    .options = "dtype backend threads seconds dry-run check",
    .seconds = SECONDS,
    .run = run_mode,
};
