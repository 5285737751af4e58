/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures calls through dispatch and direct calls of the same kernel row, `add` of one f32 element, in turn, so that
 * clock rate, caches and load are the same for both. The difference of the medians is the cost of dispatch.
 * Tests: tests/tools/test_bench.c */
#include <collet/collet.h>
#include <collet/ops/array.h>
#include <collet/plugin.h>

#include "bench/base/modes.h"

#include "common/json_add.h"
#include "bench/base/heap.h"
#include "bench/base/session.h"
#include "bench/base/sampler.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Calls a kernel without libcore, to measure what libcore's dispatch adds. No other tool uses plugin.h. */

typedef struct bench_direct {
    collet_host host; /* first member: a pointer to it is cast to bench_direct */
    const collet_runtime *runtime;
    int32_t threads;
    void *library;
    const collet_plugin *table;
    collet_device *device;
    const collet_kernel_row *row;
} bench_direct;

static void host_log(const collet_host *host, int32_t level, const char *format, ...)
{
    (void)host;
    (void)level;
    (void)format;
}

static void host_log_text(const collet_host *host, int32_t level, const char *text)
{
    host_log(host, level, "%s", text);
}

static int32_t host_threads(const collet_host *host)
{
    return ((const bench_direct *)(const void *)host)->threads;
}

static const void *host_extension(const collet_host *host, const char *name)
{
    (void)host;
    (void)name;
    return NULL;
}

static const char *host_config(const collet_host *host, const char *key)
{
    const char *value = bench_setting(((const bench_direct *)(const void *)host)->runtime, key);
    return *value ? value : NULL;
}

static collet_status find_entry(bench_direct *d, const char *path, collet_error *err)
{
    collet_plugin_entry_fn entry = NULL;
    d->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!d->library)
        return collet_fail(err, COLLET_UNAVAILABLE, "%s: %s", path, dlerror());
    void *symbol = dlsym(d->library, "collet_plugin_entry");
    memcpy(&entry, &symbol, sizeof entry);
    d->table = entry ? entry(&d->host) : NULL;
    return d->table ? COLLET_OK
                    : collet_fail(err, COLLET_ABI_MISMATCH,
                                  "%s: its entry returned no table: it was probably built for "
                                  "another version of the plugin interface; rebuild it",
                                  path);
}

static const collet_kernel_row *find_row(const bench_direct *d, uint32_t op, uint64_t sig)
{
    const collet_plugin *t = d->table;
    for (uint32_t i = 0; i < t->kernel_count; i++) {
        const void *at = (const char *)t->kernels + (size_t)i * t->kernel_size;
        const collet_kernel_row *row = at;
        if (row->op == op && row->sig == sig &&
            (!t->device_supports || t->device_supports(d->device, i)))
            return row;
    }
    return NULL;
}

/* Opens a device of the plugin file with another host table (and the runtime's settings) and finds the row of
 * `op` with `sig`. Fails with UNSUPPORTED if there is no such row, or if the device does not run kernels
 * synchronously in host memory. `device` is the device's number or name, or "" for number 0. `d` must not move until
 * bench_direct_close, which must be called after a failure too. */
static collet_status bench_direct_open(bench_direct *d, const collet_runtime *runtime,
                                       int32_t threads, const char *path, const char *device,
                                       uint32_t op, uint64_t sig, collet_error *err)
{
    int numbered = !device[strspn(device, "0123456789")];
    uint32_t index = numbered ? (uint32_t)strtoul(device, NULL, 10) : 0;
    collet_device_properties properties = {.struct_size = sizeof properties};
    *d = (bench_direct){.host = {.abi = COLLET_ABI,
                                 .struct_size = sizeof d->host,
                                 .fail = collet_fail,
                                 .log = host_log,
                                 .threads = host_threads,
                                 .config = host_config,
                                 .extension = host_extension,
                                 .fail_text = collet_fail_text,
                                 .log_text = host_log_text},
                        .runtime = runtime,
                        .threads = threads};
    collet_status status = find_entry(d, path, err);
    if (status != COLLET_OK)
        return status;
    status = d->table->device_open(d->table, &d->device, &properties, &d->host, index,
                                   numbered ? NULL : device, err);
    if (status != COLLET_OK)
        return status;
    if (properties.memory != COLLET_MEMORY_HOST || properties.order != COLLET_ORDER_SYNCHRONOUS)
        return collet_fail(
            err, COLLET_UNSUPPORTED,
            "%s is not synchronous in host memory: a direct call of its kernel would measure its "
            "queue; measure it by `backend-bench add 1 --backend %s%s%s`",
            d->table->name, d->table->name, *device ? ":" : "", device);
    d->row = find_row(d, op, sig);
    if (!d->row)
        return collet_fail(err, COLLET_UNSUPPORTED, "%s does not have this kernel", d->table->name);
    if (d->row->accepts)
        return collet_fail(err, COLLET_UNSUPPORTED, "%s: this kernel may need a workspace",
                           d->table->name);
    return COLLET_OK;
}

static void bench_direct_close(bench_direct *d)
{
    if (d->device)
        d->table->device_close(d->device);
    if (d->library)
        dlclose(d->library);
    *d = (bench_direct){0};
}

#define CALLS_PER_SAMPLE 1000
#define COUNTED_CALLS 1000000

typedef struct routed {
    collet_context *context;
    collet_array *out, *a, *b;
} routed;

typedef struct direct {
    const bench_direct *kernel;
    collet_kernel_call call;
    collet_operand operands[3];
    int64_t shape[1], strides[1];
    float values[3];
    collet_error err;
} direct;

typedef struct dispatch_result {
    tool_stats routed, direct;
    uint64_t allocations;
} dispatch_result;

static collet_status call_routed(void *user, int64_t calls)
{
    routed *r = user;
    collet_status status = COLLET_OK;
    for (int64_t i = 0; i < calls && status == COLLET_OK; i++)
        status = collet_op_add(r->context, r->out, r->a, r->b);
    return status;
}

static collet_status call_direct(void *user, int64_t calls)
{
    direct *d = user;
    const bench_direct *k = d->kernel;
    collet_status status = COLLET_OK;
    for (int64_t i = 0; i < calls && status == COLLET_OK; i++)
        status = k->row->run(k->device, NULL, &d->call);
    return status;
}

/* ---- Preparing --------------------------------------------------------------------------- */

static collet_status routed_open(routed *r, collet_context *context)
{
    static const int64_t shape[] = {1};
    static const float one = 1;
    *r = (routed){.context = context};
    collet_status status = collet_array_create(context, &r->out, COLLET_F32, 1, shape);
    if (status == COLLET_OK)
        status = collet_array_from(context, &r->a, COLLET_F32, 1, shape, &one);
    if (status == COLLET_OK)
        status = collet_array_from(context, &r->b, COLLET_F32, 1, shape, &one);
    return status;
}

static void routed_close(routed *r)
{
    collet_array_destroy(r->out);
    collet_array_destroy(r->a);
    collet_array_destroy(r->b);
}

static void direct_prepare(direct *d, const bench_direct *kernel)
{
    *d = (direct){.kernel = kernel, .shape = {1}, .strides = {1}, .values = {0, 1, 1}};
    for (int i = 0; i < 3; i++)
        d->operands[i] = (collet_operand){.buffer = &d->values[i],
                                          .dtype = COLLET_F32,
                                          .ndim = 1,
                                          .shape = d->shape,
                                          .strides = d->strides};
    d->call = (collet_kernel_call){.struct_size = sizeof d->call,
                                   .op = COLLET_OP_ADD,
                                   .sig = kernel->row->sig,
                                   .n_out = 1,
                                   .n_in = 2,
                                   .operand_size = sizeof *d->operands,
                                   .operands = d->operands,
                                   .err = &d->err};
}

/* ---- Measuring --------------------------------------------------------------------------- */

static collet_status measure(tool_sampler *samplers, int count, double budget)
{
    double end = tool_now() + budget;
    collet_status status = COLLET_OK;
    for (int i = 0; i < count && status == COLLET_OK; i++) {
        status = tool_sampler_warm(&samplers[i], budget);
        samplers[i].calls = CALLS_PER_SAMPLE;
    }
    while (status == COLLET_OK && (tool_now() < end || samplers->count < 10))
        for (int i = 0; i < count && status == COLLET_OK; i++)
            status = tool_sampler_take(&samplers[i]);
    return status;
}

static collet_status compare(routed *r, direct *d, double budget, dispatch_result *out)
{
    tool_sampler samplers[2] = {{0}};
    collet_status status = tool_sampler_create(&samplers[0], call_routed, r);
    if (status == COLLET_OK)
        status = tool_sampler_create(&samplers[1], call_direct, d);
    if (status == COLLET_OK)
        status = measure(samplers, 2, budget);
    if (status == COLLET_OK) {
        tool_sampler_stats(&samplers[0], &out->routed);
        tool_sampler_stats(&samplers[1], &out->direct);
        uint64_t before = bench_heap_allocations();
        status = call_routed(r, COUNTED_CALLS);
        out->allocations = bench_heap_allocations() - before;
    }
    for (int i = 0; i < 2; i++)
        tool_sampler_clear(&samplers[i]);
    return status;
}

static collet_status dispatch_one(const bench_session *s, const char *choice, dispatch_result *out,
                                  collet_error *err)
{
    collet_backend_info backend;
    bench_direct kernel;
    direct d;
    routed r = {0};
    const char *colon = strchr(choice, ':');
    collet_status status = collet_set_backend(s->context, choice);
    if (status != COLLET_OK || !bench_session_backend(s, choice, &backend))
        return collet_fail(err, COLLET_INVALID, "'%s' is not the name of one backend", choice);
    status = bench_direct_open(&kernel, s->runtime, s->machine.threads, backend.path,
                               colon ? colon + 1 : "", COLLET_OP_ADD,
                               COLLET_SIG(COLLET_F32, COLLET_F32, COLLET_F32), err);
    if (status == COLLET_OK) {
        direct_prepare(&d, &kernel);
        status = routed_open(&r, s->context);
        if (status == COLLET_OK)
            status = compare(&r, &d, s->options->seconds, out);
        if (status != COLLET_OK)
            collet_fail(err, status, "%s", collet_last_error(s->context));
        routed_close(&r);
    }
    bench_direct_close(&kernel);
    return status;
}

/* ---- Reporting --------------------------------------------------------------------------- */

static double overhead(const dispatch_result *r)
{
    return 1e9 * (r->routed.median - r->direct.median);
}

static void print_row(const char *choice, const dispatch_result *r, int32_t first)
{
    if (first)
        printf("add of one f32, ns a call (medians; allocations in %d calls)\n"
               "%-16s %9s %9s %9s %9s %9s %12s\n",
               COUNTED_CALLS, "backend", "routed", "direct", "overhead", "p95", "p99",
               "allocations");
    printf("%-16s %9.1f %9.1f %9.1f %9.1f %9.1f %12llu\n", choice, 1e9 * r->routed.median,
           1e9 * r->direct.median, overhead(r), 1e9 * r->routed.p95, 1e9 * r->routed.p99,
           (unsigned long long)r->allocations);
}

static int32_t add_row(cJSON *list, const char *choice, const dispatch_result *r)
{
    cJSON *row = json_append_object(list);
    return row && json_add_text(row, "backend", choice) && json_add_text(row, "op", "add") &&
           json_add_text(row, "signature", "f:ff") &&
           json_add_number(row, "samples", (double)r->routed.samples) &&
           json_add_number(row, "calls_per_sample", CALLS_PER_SAMPLE) &&
           json_add_item(row, "routed_seconds", tool_stats_json(&r->routed)) &&
           json_add_item(row, "direct_seconds", tool_stats_json(&r->direct)) &&
           json_add_number(row, "overhead_ns", overhead(r)) &&
           json_add_number(row, "counted_calls", COUNTED_CALLS) &&
           json_add_number(row, "allocations", (double)r->allocations);
}

static int run_mode(bench_session *s)
{
    cJSON *list = s->report ? cJSON_AddArrayToObject(s->report, "results") : NULL;
    int result = TOOL_EXIT_OK, measured = 0;
    if (s->report && !list)
        return bench_out_of_memory();
    for (int32_t i = 0; i < s->choice_count; i++) {
        dispatch_result r;
        collet_error err;
        bench_session_show(s, "dispatch: %s", s->choices[i]);
        collet_status status = dispatch_one(s, s->choices[i], &r, &err);
        tool_progress_end(&s->progress);
        if (status == COLLET_UNSUPPORTED && !s->options->backend_count)
            continue;
        if (status != COLLET_OK) {
            result = bench_complain(status, err.text);
            continue;
        }
        if (!s->report)
            print_row(s->choices[i], &r, !measured);
        else if (!add_row(list, s->choices[i], &r))
            return bench_out_of_memory();
        measured = 1;
    }
    if (!measured && result == TOOL_EXIT_OK)
        return bench_complain(COLLET_UNSUPPORTED,
                              "no backend is synchronous in host memory: nothing to compare");
    return result;
}

const bench_mode bench_mode_dispatch = {
    .name = "dispatch",
    .summary = "measure what a call costs over its kernel, and its allocations",
    .options = "backend threads seconds",
    .run = run_mode,
};
