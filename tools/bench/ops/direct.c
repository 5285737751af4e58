/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_bench.c */
#include "direct.h"

#include "bench/base/session.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

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

collet_status bench_direct_open(bench_direct *d, const collet_runtime *runtime, int32_t threads,
                                const char *path, const char *device, uint32_t op, uint64_t sig,
                                collet_error *err)
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

void bench_direct_close(bench_direct *d)
{
    if (d->device)
        d->table->device_close(d->device);
    if (d->library)
        dlclose(d->library);
    *d = (bench_direct){0};
}
