/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_config.c, tests/core/test_fork.c */
#include "life.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <collet/floating.h>

#include "device/registry.h"
#include "device/setting_info.h"
#include "end.h"
#include "plugins/open.h"
#include "settings/threads.h"
#include "timeline/block.h"
#include "timeline/order.h"
#include "timeline/span.h"
#include "util/struct.h"

/* ---- The host table ---------------------------------------------------------------------- */

static const collet_runtime *host_runtime(const collet_host *host)
{
    return (const collet_runtime *)(const void *)host;
}

static void host_log(const collet_host *host, int32_t level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    log_arguments(&host_runtime(host)->log, level, format, arguments);
    va_end(arguments);
}

static int32_t host_threads(const collet_host *host)
{
    return threads_within_quota(host_runtime(host)->threads);
}

static const char *host_config(const collet_host *host, const char *key)
{
    const collet_runtime *r = host_runtime(host);
    const char *source, *value = setting_value(r, key, &source);
    const loader_plugin *p = value ? NULL : registry_owner(r, key);
    if (!value && strcmp(key, "in_probe") != 0 && !(p && manifest_setting(&p->manifest, key)))
        log_message(
            &r->log, COLLET_LOG_ERROR,
            "a backend reads the setting %s, but its manifest does not declare it in \"settings\"",
            key);
    return value;
}

/* ---- Life -------------------------------------------------------------------------------- */

/* Makes a page that the kernel zeroes in children of fork: the cheapest test that works in every child. The emulator
 * QEMU ignores advice, but accepts any, even an invalid one: the first call of madvise detects that. */
static collet_status mark_create(collet_runtime *r, collet_error *err)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *mark = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mark == MAP_FAILED)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for a runtime");
    r->fork_mark = mark;
    r->process = getpid();
    int wiped = madvise(mark, page, -1) != 0 && madvise(mark, page, MADV_WIPEONFORK) == 0;
    *r->fork_mark = wiped ? FORK_MARK_WIPED : FORK_MARK_PROCESS;
    return COLLET_OK;
}

static void runtime_free(collet_runtime *r)
{
    end_remove(r);
    uint32_t devices = atomic_load(&r->device_total);
    for (uint32_t i = 0; i < devices; i++)
        spans_destroy(r->devices[i]);
    /* Queues of one device may use memory of another device, so all queues end before any memory is freed.
     * */
    for (uint32_t i = 0; i < devices; i++)
        queues_destroy(r->devices[i]);
    for (uint32_t i = 0; i < devices; i++)
        blocks_destroy(r->devices[i]);
    registry_destroy(r);
    trace_destroy(r->trace);
    op_table_destroy(&r->ops);
    record_list_free(r->records);
    config_destroy(r->config);
    if (r->fork_mark)
        munmap(r->fork_mark, (size_t)sysconf(_SC_PAGESIZE));
    pthread_mutex_destroy(&r->own_ops_lock);
    pthread_mutex_destroy(&r->device_lock);
    if (programs_checked())
        programs_end_log(&r->log);
    programs_free(r);
}

/* Sets the number of threads that the setting requests, limited to the available processors. */
static void take_threads(collet_runtime *r)
{
    int64_t requested = config_integer(r->config, CONFIG_NUM_THREADS);
    long machine = sysconf(_SC_NPROCESSORS_ONLN);
    r->threads = threads_allowed(requested);
    if (r->threads >= requested)
        return;
    if (r->threads < machine)
        log_message(
            &r->log, COLLET_LOG_WARNING,
            "the setting num_threads is %lld, but the processor affinity of this thread allows "
            "%d of %ld (taskset, a batch system, or a library that bound it)",
            (long long)requested, r->threads, machine);
    else
        log_message(&r->log, COLLET_LOG_WARNING,
                    "the setting num_threads is %lld, but this machine has %d processor%s: %d "
                    "thread%s used",
                    (long long)requested, r->threads, r->threads == 1 ? "" : "s", r->threads,
                    r->threads == 1 ? " is" : "s are");
}

collet_status collet_runtime_create(collet_runtime **out, const collet_runtime_options *given,
                                    collet_error *err)
{
    PROGRAM_CALL(COLLET_INVALID, err, NULL);
    COLLET_FLOATING_SCOPE;
    collet_runtime_options options = {0};
    if (!out)
        return collet_fail(err, COLLET_INVALID, "collet_runtime_create: out is NULL");
    collet_status status =
        given ? struct_in(&options, sizeof options, given, "collet_runtime_create", err)
              : COLLET_OK;
    if (status != COLLET_OK)
        return status;
    if (options.reserved)
        return collet_fail(err, COLLET_INVALID,
                           "collet_runtime_create: options->reserved is %u; set it to 0",
                           options.reserved);
    collet_runtime *r = calloc(1, sizeof *r);
    if (!r)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for a runtime");
    r->host = (collet_host){.abi = COLLET_ABI,
                            .struct_size = sizeof r->host,
                            .fail = collet_fail,
                            .log = host_log,
                            .threads = host_threads,
                            .config = host_config,
                            .extension = open_host_extension,
                            .fail_text = collet_fail_text,
                            .log_text = open_host_log_text};
    atomic_store(&r->references, 1);
    pthread_mutex_init(&r->own_ops_lock, NULL);
    pthread_mutex_init(&r->device_lock, NULL);
    status = config_create(&r->config, &options, err);
    if (status != COLLET_OK)
        goto fail;
    r->log = (message_log){options.log, options.log_user,
                           log_level_parse(config_text(r->config, CONFIG_LOG))};
    config_check_environment(&r->log);
    take_threads(r);
    int64_t seconds = config_integer(r->config, CONFIG_TIMEOUT);
    r->timeout = seconds ? seconds * 1000000000 : -1;
    const char *file = config_text(r->config, CONFIG_TRACE);
    if (*file)
        status = trace_create(&r->trace, file, &r->log, err);
    if (status == COLLET_OK)
        status = mark_create(r, err);
    if (status == COLLET_OK)
        status = op_table_create(&r->ops, err);
    if (status == COLLET_OK)
        status = record_list_create(&r->records, err);
    if (status == COLLET_OK)
        status = registry_create(r, err);
    if (status == COLLET_OK)
        status = end_add(r, err);
    if (status != COLLET_OK)
        goto fail;
    programs_made("runtime", r);
    *out = r;
    return COLLET_OK;
fail:
    runtime_free(r);
    return status;
}

void runtime_retain(collet_runtime *r)
{
    atomic_fetch_add_explicit(&r->references, 1, memory_order_relaxed);
}

/* In a child of fork, devices, locks and threads belong to the parent and are not used. */
void runtime_release(collet_runtime *r)
{
    if (atomic_fetch_sub_explicit(&r->references, 1, memory_order_acq_rel) == 1 && runtime_alive(r))
        runtime_free(r);
}

void collet_runtime_destroy(collet_runtime *runtime)
{
    PROGRAM_CALL(, NULL, runtime);
    COLLET_FLOATING_SCOPE;
    if (runtime && (!programs_checked() || programs_destroyed(runtime)))
        runtime_release(runtime);
}
