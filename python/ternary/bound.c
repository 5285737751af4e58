/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/test_ternary.py */
#include "bound.h"

#include <stdio.h>

const binding *bound;

/* Called without the GIL. The exception of a signal's handler stays set until the call of the engine returns. */
static int32_t report_progress(void *Py_UNUSED(user), const collet_progress *Py_UNUSED(progress))
{
    PyGILState_STATE state = PyGILState_Ensure();
    int32_t stop = PyErr_CheckSignals() != 0;
    PyGILState_Release(state);
    return stop;
}

const collet_ternary_monitor bound_monitor = {.struct_size = sizeof bound_monitor,
                                              .progress = report_progress};

static void keep_warning(void *user, const char *text)
{
    bound_watch *watch = user;
    snprintf(watch->text, sizeof watch->text, "%s", text);
}

void bound_watch_begin(bound_watch *watch)
{
    watch->monitor = (collet_ternary_monitor){.struct_size = sizeof watch->monitor,
                                              .progress = report_progress,
                                              .user = watch,
                                              .warn = keep_warning};
    watch->text[0] = '\0';
}

int bound_watch_end(const bound_watch *watch)
{
    /* 2: the warning names the line that called the function of collet.ternary */
    return watch->text[0] ? PyErr_WarnEx(PyExc_RuntimeWarning, watch->text, 2) : 0;
}

void *bound_raise(collet_status status, const collet_error *err)
{
    return PyErr_Occurred() ? NULL : bound->raise(status, err->text);
}

int bound_optional(collet_array **out, PyObject *object, collet_dtype dtype, const char *name)
{
    *out = object == Py_None ? NULL : bound->array_from(object, dtype, name);
    return *out || object == Py_None ? 0 : -1;
}
