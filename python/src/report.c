/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/test_runtime.py */
#include "report.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/error.h"
#include "src/base/runtime.h"
#include "src/base/work.h"

/* Appends `item` and takes its reference; -1 with an exception. */
static int append(PyObject *list, PyObject *item)
{
    int failed = item ? PyList_Append(list, item) : -1;
    Py_XDECREF(item);
    return failed;
}

static PyObject *devices(collet_runtime *runtime, size_t index)
{
    collet_device_info d = {.struct_size = sizeof d};
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list && collet_device_info_at(runtime, &d, index, i, NULL) == COLLET_OK;
         i++)
        if (append(list, Py_BuildValue("{s:s,s:s,s:s,s:s,s:i,s:i,s:i,s:K,s:K,s:K,s:I,s:I}",
                                       "choice", d.choice, "name", d.name, "vendor", d.vendor,
                                       "driver", d.driver, "kind", (int)d.kind, "memory",
                                       (int)d.memory, "execution", (int)d.execution, "memory_bytes",
                                       (unsigned long long)d.memory_bytes, "largest_array",
                                       (unsigned long long)d.largest_array, "cache_bytes",
                                       (unsigned long long)d.cache_bytes, "compute_units",
                                       d.compute_units, "clock_mhz", d.clock_mhz)))
            Py_CLEAR(list);
    return list;
}

PyObject *report_backends(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    collet_runtime *runtime = runtime_get();
    collet_backend_info b = {.struct_size = sizeof b};
    PyObject *list = runtime ? PyList_New(0) : NULL;
    for (size_t i = 0; list && collet_backend_info_at(runtime, &b, i, NULL) == COLLET_OK; i++)
        if (append(list, Py_BuildValue("{s:s,s:i,s:s,s:i,s:N,s:N,s:N,s:I,s:N,s:s,s:s,s:N,s:N}",
                                       "name", b.name, "state", (int)b.state, "version", b.version,
                                       "priority", (int)b.priority, "jit", PyBool_FromLong(b.jit),
                                       "parallel", PyBool_FromLong(b.parallel), "gpu",
                                       PyBool_FromLong(b.gpu), "kernel_count", b.kernel_count,
                                       "path", PyUnicode_DecodeFSDefault(b.path), "reason",
                                       b.reason, "capabilities", b.capabilities, "calibration",
                                       PyUnicode_DecodeFSDefault(b.calibration), "devices",
                                       devices(runtime, i))))
            Py_CLEAR(list);
    return list;
}

PyObject *report_records(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    collet_runtime *runtime = runtime_get();
    collet_plugin_record r = {.struct_size = sizeof r};
    PyObject *list = runtime ? PyList_New(0) : NULL;
    for (size_t i = 0; list && collet_record_at(runtime, &r, i, NULL) == COLLET_OK; i++)
        if (append(list, Py_BuildValue("{s:N,s:s,s:N,s:s,s:s,s:d}", "path",
                                       PyUnicode_DecodeFSDefault(r.path), "stage", r.stage,
                                       "accepted", PyBool_FromLong(r.accepted), "code", r.code,
                                       "reason", r.reason, "milliseconds", r.milliseconds)))
            Py_CLEAR(list);
    return list;
}

PyObject *report_settings(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    collet_runtime *runtime = runtime_get();
    collet_setting s = {.struct_size = sizeof s};
    PyObject *list = runtime ? PyList_New(0) : NULL;
    for (size_t i = 0; list && collet_setting_at(runtime, &s, i, NULL) == COLLET_OK; i++)
        if (append(list, Py_BuildValue("{s:s,s:s,s:s,s:s,s:N,s:s,s:s}", "key", s.key, "environment",
                                       s.environment, "type", s.type, "default", s.fallback,
                                       "value", PyUnicode_DecodeFSDefault(s.value), "source",
                                       s.source, "help", s.help)))
            Py_CLEAR(list);
    return list;
}

PyObject *report_counters(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    collet_context *context = runtime_context();
    collet_counters c = {.struct_size = sizeof c};
    if (!context)
        return NULL;
    if (collet_context_counters(context, &c) != COLLET_OK)
        return runtime_raise(context);
    return Py_BuildValue(
        "{s:K,s:K,s:K,s:K,s:K,s:K}", "calls", (unsigned long long)c.calls, "fallbacks",
        (unsigned long long)c.fallbacks, "temporaries", (unsigned long long)c.temporaries,
        "bytes_to_device", (unsigned long long)c.bytes_to_device, "bytes_to_host",
        (unsigned long long)c.bytes_to_host, "bytes_direct", (unsigned long long)c.bytes_direct);
}

PyObject *report_memory(PyObject *Py_UNUSED(module), PyObject *space)
{
    const char *name = runtime_name(space, "a device");
    collet_context *context = name ? runtime_context() : NULL;
    collet_memory_stats m = {.struct_size = sizeof m};
    if (!context)
        return NULL;
    PyThreadState *state = runtime_leave();
    collet_status status = collet_memory(context, &m, name);
    runtime_return(state);
    if (status != COLLET_OK)
        return runtime_raise(context);
    collet_memory_limit limit = {.struct_size = sizeof limit};
    if (!strcmp(name, "host"))
        (void)collet_memory_limit_read(&limit, NULL);
    return Py_BuildValue("{s:K,s:K,s:K,s:K,s:K,s:s}", "current", (unsigned long long)m.current,
                         "held", (unsigned long long)m.held, "peak", (unsigned long long)m.peak,
                         "total", (unsigned long long)m.total, "available",
                         (unsigned long long)m.available, "limit", limit.by);
}

PyObject *report_memory_limit(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    collet_memory_limit limit = {.struct_size = sizeof limit};
    (void)collet_memory_limit_read(&limit, NULL);
    return Py_BuildValue("Ks", (unsigned long long)limit.total, limit.by);
}

PyObject *report_reset_peak(PyObject *Py_UNUSED(module), PyObject *space)
{
    const char *name = runtime_name(space, "a device");
    collet_context *context = name ? runtime_context() : NULL;
    if (!context)
        return NULL;
    PyThreadState *state = runtime_leave();
    collet_status status = collet_memory_reset_peak(context, name);
    runtime_return(state);
    return status == COLLET_OK ? Py_NewRef(Py_None) : runtime_raise(context);
}

typedef struct context_work {
    work work;
    collet_status (*function)(collet_context *context);
} context_work;

static collet_status run_function(work *w, collet_context *context)
{
    return ((context_work *)w)->function(context);
}

static void drop_function(work *w)
{
    free(w);
}

/* Calls a function with the thread's context; Ctrl-C interrupts the wait for it. */
static PyObject *call_heard(collet_status (*function)(collet_context *context))
{
    context_work *w = calloc(1, sizeof *w);
    if (!w)
        return PyErr_NoMemory();
    w->work.run = run_function;
    w->work.drop = drop_function;
    w->function = function;
    if (work_run(&w->work))
        return NULL;
    free(w);
    return Py_NewRef(Py_None);
}

PyObject *report_trim(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    return call_heard(collet_trim);
}

PyObject *report_finish(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    return work_settle() ? NULL : call_heard(collet_finish);
}

PyObject *report_last_backend(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    collet_context *context = runtime_context();
    return context ? PyUnicode_FromString(collet_last_backend(context)) : NULL;
}

PyObject *report_native_queue(PyObject *Py_UNUSED(module), PyObject *device)
{
    const char *name = runtime_name(device, "a device");
    collet_context *context = name ? runtime_context() : NULL;
    void *queue = NULL;
    if (!context)
        return NULL;
    PyThreadState *state = runtime_leave();
    collet_status status = collet_native_queue(context, &queue, name);
    runtime_return(state);
    if (status != COLLET_OK)
        return runtime_raise(context);
    return queue ? PyLong_FromVoidPtr(queue) : Py_NewRef(Py_None);
}

PyObject *report_directory(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    Dl_info info;
    char *path, *slash;
    PyObject *text;
    if (!dladdr((void *)(uintptr_t)collet_version, &info) ||
        !(path = realpath(info.dli_fname, NULL)))
        return error_raise(COLLET_NOT_FOUND, "the file of libcore was not found");
    for (slash = path + strlen(path); slash > path && *slash != '/'; slash--)
        ;
    text = PyUnicode_DecodeFSDefaultAndSize(path, slash - path);
    free(path);
    return text;
}
