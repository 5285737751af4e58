/* SPDX-License-Identifier: Apache-2.0 */
/* The module collet._core: a thin layer over collet.h, for the Python of the package.
 * Tests: python/tests/test_runtime.py, python/tests/test_bench.py */
#include "src/array/array.h"
#include "src/array/buffer.h"
#include "binding.h"
#include "src/base/python.h"
#include "src/calls/compute.h"
#include "src/array/dlpack.h"
#include "src/array/element.h"
#include "src/array/key.h"
#include "src/array/transfer.h"
#include "src/array/wrap.h"
#include "src/base/error.h"
#include "src/calls/expression.h"
#include "src/lazy/elementwise.h"
#include "src/lazy/lazy.h"
#include "src/lazy/replay.h"
#include "src/lazy/wait.h"
#include "src/calls/op.h"
#include "src/calls/recording.h"
#include "src/calls/signature.h"
#include "src/calls/small.h"
#include "src/small/create.h"
#include "src/small/join.h"
#include "src/small/select.h"
#include "src/small/sets.h"
#include "src/small/signals.h"
#include "report.h"
#include "src/base/runtime.h"
#include "src/calls/texts.h"
#include "src/base/tracer.h"
#include "src/base/work.h"

#include <stdlib.h>

#define CAPSULE "collet._core.timestamp"

typedef struct moment {
    collet_timestamp *timestamp;
    uint64_t generation; /* of the timestamp's runtime */
} moment;

/* Does not release a timestamp that was taken before a fork: its runtime is the parent's. */
static void drop(PyObject *capsule)
{
    moment *m = PyCapsule_GetPointer(capsule, CAPSULE);
    if (m->generation == runtime_generation()) {
        PyThreadState *state = runtime_leave();
        collet_timestamp_destroy(m->timestamp);
        runtime_return(state);
    }
    free(m);
}

static collet_timestamp *moment_get(PyObject *capsule)
{
    moment *m = PyCapsule_GetPointer(capsule, CAPSULE);
    if (m && m->generation != runtime_generation())
        return error_raise(COLLET_INVALID,
                           "this timestamp is from an earlier runtime: take another "
                           "after fork or configure");
    return m ? m->timestamp : NULL;
}

/* Takes a timestamp of a device, or of the first device of the choice of backend (None). Returns a
   capsule. */
static PyObject *timestamp_take(PyObject *Py_UNUSED(module), PyObject *device)
{
    const char *name = device == Py_None ? NULL : runtime_name(device, "a device");
    collet_context *context = name || device == Py_None ? runtime_context() : NULL;
    moment *m = context ? calloc(1, sizeof *m) : NULL;
    PyObject *capsule;
    if (!m)
        return context ? PyErr_NoMemory() : NULL;
    PyThreadState *state = runtime_leave();
    collet_status status = collet_timestamp_take(context, &m->timestamp, name);
    runtime_return(state);
    m->generation = runtime_generation();
    capsule = status == COLLET_OK ? PyCapsule_New(m, CAPSULE, drop) : runtime_raise(context);
    if (!capsule) {
        collet_timestamp_destroy(status == COLLET_OK ? m->timestamp : NULL);
        free(m);
    }
    return capsule;
}

typedef struct measuring {
    work work;
    PyObject *capsules; /* a tuple */
    collet_timestamp *first, *last;
    int64_t nanoseconds;
    int32_t clock;
} measuring;

static collet_status run_measuring(work *w, collet_context *context)
{
    measuring *m = (measuring *)w;
    return collet_timestamp_elapsed(context, m->first, m->last, &m->nanoseconds, &m->clock);
}

static void drop_measuring(work *w)
{
    measuring *m = (measuring *)w;
    Py_DECREF(m->capsules);
    free(m);
}

/* Arguments (first, last). Returns the nanoseconds between these timestamps, and whether the device's clock
   measured them. */
static PyObject *timestamp_elapsed(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *pair[2], *result;
    collet_timestamp *first, *last;
    measuring *m;
    if (!PyArg_ParseTuple(arguments, "OO", &pair[0], &pair[1]) || !(first = moment_get(pair[0])) ||
        !(last = moment_get(pair[1])))
        return NULL;
    m = calloc(1, sizeof *m);
    if (!m)
        return PyErr_NoMemory();
    *m = (measuring){
        .work = {.run = run_measuring, .drop = drop_measuring, .quick = !runtime_waits()},
        .capsules = Py_NewRef(arguments),
        .first = first,
        .last = last};
    if (work_run(&m->work))
        return NULL;
    result = Py_BuildValue("LN", (long long)m->nanoseconds,
                           PyBool_FromLong(m->clock == COLLET_CLOCK_DEVICE));
    drop_measuring(&m->work);
    return result;
}

#define FAST(name, function)                                                                       \
    {                                                                                              \
        name, (PyCFunction)(void (*)(void))function, METH_FASTCALL | METH_KEYWORDS, NULL           \
    }
static PyMethodDef functions[] = {
    {"set_backend", runtime_set_backend, METH_O, NULL},
    {"get_backend", runtime_get_backend, METH_NOARGS, NULL},
    {"at_once", runtime_is_at_once, METH_NOARGS, NULL},
    {"set_uses", runtime_set_uses, METH_VARARGS, NULL},
    {"set_num_threads", runtime_set_num_threads, METH_O, NULL},
    {"thread_limit", runtime_thread_limit, METH_NOARGS, NULL},
    {"set_settings", runtime_set_settings, METH_O, NULL},
    {"op_names", op_names, METH_NOARGS, NULL},
    {"op_describe", op_describe, METH_O, NULL},
    {"op_function", op_function, METH_VARARGS, NULL},
    {"evaluate", (PyCFunction)(void (*)(void))texts_evaluate, METH_FASTCALL | METH_KEYWORDS,
     TEXTS_DOC},
    {"elementwise", elementwise_make, METH_VARARGS, NULL},
    {"convert", elementwise_convert, METH_VARARGS, NULL},
    {"flush", lazy_flush, METH_NOARGS, NULL},
    {"eager", lazy_eager, METH_O, NULL},
    {"wait_from", wait_from, METH_O, NULL},
    {"reduce", lazy_reduce, METH_VARARGS, NULL},
    {"reduce_rows", lazy_reduce_rows, METH_VARARGS, NULL},
    {"recording", recording_make, METH_VARARGS, NULL},
    {"probe", replay_probe, METH_VARARGS, NULL},
    {"replaying", replay_make, METH_VARARGS, NULL},
    {"signature", signature_of, METH_VARARGS, NULL},
    {"small_reduction", small_reduction, METH_O, NULL},
    {"small_product", small_product, METH_VARARGS, NULL},
    {"small_sort", small_sort, METH_O, NULL},
    {"small_norm", small_norm, METH_O, NULL},
    {"small_unique", sets_unique, METH_O, NULL},
    FAST("small_take", select_take),
    FAST("small_nonzero", select_nonzero),
    FAST("small_count_nonzero", select_count),
    FAST("small_concat", join_concat),
    FAST("small_stack", join_stack),
    FAST("small_repeat", join_repeat),
    FAST("small_tile", join_tile),
    FAST("small_roll", join_roll),
    FAST("small_median", signals_median),
    FAST("small_diff", signals_diff),
    FAST("small_gradient", signals_gradient),
    FAST("small_eye", create_eye),
    {"small_astype", (PyCFunction)(void (*)(void))create_converted, METH_FASTCALL, NULL},
    {"small_copy", join_copy, METH_O, NULL},
    {"small_asarray", create_from, METH_O, NULL},
    {"small_triangle", (PyCFunction)(void (*)(void))join_triangle, METH_FASTCALL, NULL},
    {"small_filled", (PyCFunction)(void (*)(void))create_filled, METH_FASTCALL, NULL},
    {"small_arange", (PyCFunction)(void (*)(void))create_range, METH_FASTCALL, NULL},
    {"small_interp", (PyCFunction)(void (*)(void))signals_interp, METH_FASTCALL, NULL},
    FAST("small_convolve", signals_convolve),
    {"observe", compute_observe, METH_O, NULL},
    {"explanation", compute_explain, METH_NOARGS, NULL},
    {"is_pending", lazy_is_pending, METH_O, NULL},
    {"set_tracer", tracer_set, METH_VARARGS, NULL},
    {"empty", (PyCFunction)(void (*)(void))array_empty, METH_FASTCALL, NULL},
    {"dtype", array_dtype, METH_O, NULL},
    {"dtype_name", array_dtype_name, METH_O, NULL},
    {"dtype_letters", array_dtype_letters, METH_NOARGS, NULL},
    {"array_from", wrap_numpy, METH_VARARGS, NULL},
    {"backends", report_backends, METH_NOARGS, NULL},
    {"records", report_records, METH_NOARGS, NULL},
    {"settings", report_settings, METH_NOARGS, NULL},
    {"counters", report_counters, METH_NOARGS, NULL},
    {"memory", report_memory, METH_O, NULL},
    {"memory_limit", report_memory_limit, METH_NOARGS, NULL},
    {"reset_peak", report_reset_peak, METH_O, NULL},
    {"trim", report_trim, METH_NOARGS, NULL},
    {"native_queue", report_native_queue, METH_O, NULL},
    {"finish", report_finish, METH_NOARGS, NULL},
    {"last_backend", report_last_backend, METH_NOARGS, NULL},
    {"timestamp", timestamp_take, METH_O, NULL},
    {"elapsed", timestamp_elapsed, METH_VARARGS, NULL},
    {"directory", report_directory, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

/* Refuses a libcore of another version than the extension was built with: its structs may differ. */
static int check_version(void)
{
    if (collet_version_number() == COLLET_VERSION_NUMBER)
        return 0;
    PyErr_Format(PyExc_ImportError,
                 "the package collet %s found libcore %s: install the package again, or remove the "
                 "other libcore from LD_LIBRARY_PATH",
                 COLLET_VERSION, collet_version());
    return -1;
}

static int add_array_type(PyObject *module)
{
    static const array_upper upper = {.compute = lazy_force,
                                      .before_write = lazy_before_write,
                                      .released = lazy_save_memory,
                                      .read = select_read,
                                      .assign = select_assign};
    static const PyType_Slot *const slots[] = {operators_slots, element_slots, buffer_slots, NULL};
    return array_add_type(module, &upper, slots);
}

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void)
{
    static PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                     .m_name = "collet._core",
                                     .m_doc = "libcore for the package collet.",
                                     .m_size = -1,
                                     .m_methods = functions};
    PyObject *module;
    if (check_version())
        return NULL;
    module = python_module(&definition);
    if (!module || runtime_prepare() || work_prepare() || error_add_types(module) ||
        op_add_type(module) || add_array_type(module) || dlpack_add(module) || key_add() ||
        element_add() || transfer_add() || expression_add_type(module) ||
        elementwise_add_type(module) || binding_add(module) ||
        PyModule_AddStringConstant(module, "version", collet_version())) {
        Py_XDECREF(module);
        return NULL;
    }
    return module;
}
