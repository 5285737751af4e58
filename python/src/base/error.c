/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/test_messages.py */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "dtype.h"

static PyObject *types[COLLET_STATUS_COUNT];

/* The class of a status, and the built-in class that it also derives from (NULL: none). */
typedef struct error_class {
    collet_status status;
    const char *name;
    PyObject **also;
} error_class;

static PyObject *new_type(const error_class *row)
{
    char name[64], doc[160];
    PyObject *bases, *members, *type = NULL;
    snprintf(name, sizeof name, "collet.%s", row->name);
    snprintf(doc, sizeof doc, "%s: %s", collet_status_name(row->status),
             row->status ? collet_status_text(row->status)
                         : "a call of libcore failed; `status` is its status");
    bases = !row->status ? PyTuple_Pack(1, PyExc_Exception)
            : row->also  ? PyTuple_Pack(2, types[COLLET_OK], *row->also)
                         : PyTuple_Pack(1, types[COLLET_OK]);
    members = Py_BuildValue("{s:i}", "status", (int)row->status);
    if (bases && members)
        type = PyErr_NewExceptionWithDoc(name, doc, bases, members);
    Py_XDECREF(bases);
    Py_XDECREF(members);
    return type;
}

int error_is_own(void)
{
    return PyErr_ExceptionMatches(types[COLLET_OK]);
}

int error_add_types(PyObject *module)
{
    const error_class rows[] = {
        {COLLET_OK, "Error", NULL},
        {COLLET_INVALID, "InvalidError", &PyExc_ValueError},
        {COLLET_SHAPE, "ShapeError", &PyExc_ValueError},
        {COLLET_DTYPE, "DtypeError", &PyExc_TypeError},
        {COLLET_OVERFLOW, "SizeOverflowError", &PyExc_OverflowError},
        {COLLET_NO_MEMORY, "NoMemoryError", &PyExc_MemoryError},
        {COLLET_UNKNOWN_BACKEND, "UnknownBackendError", &PyExc_ValueError},
        {COLLET_UNAVAILABLE, "UnavailableError", &PyExc_RuntimeError},
        {COLLET_UNSUPPORTED, "UnsupportedError", &PyExc_NotImplementedError},
        {COLLET_REFUSED, "RefusedError", NULL},
        {COLLET_FAILED, "FailedError", NULL},
        {COLLET_DEVICE_LOST, "DeviceLostError", NULL},
        {COLLET_FORKED, "ForkedError", NULL},
        {COLLET_IO, "FileError", &PyExc_OSError},
        {COLLET_FORMAT, "FormatError", &PyExc_ValueError},
        {COLLET_ABI_MISMATCH, "AbiError", NULL},
        {COLLET_BUSY, "BusyError", NULL},
        {COLLET_NOT_FOUND, "NotFoundError", &PyExc_LookupError},
        {COLLET_NOT_READY, "NotReadyError", NULL},
        {COLLET_CANCELLED, "CancelledError", NULL},
    };
    _Static_assert(sizeof rows / sizeof *rows == COLLET_STATUS_COUNT, "a status has no class");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PyObject *type = new_type(&rows[i]);
        if (!type || PyModule_AddObjectRef(module, rows[i].name, type))
            return -1;
        types[rows[i].status] = type;
    }
    return 0;
}

/* Copies `text` without names of C functions before a colon, because Python's traceback shows the
 * call. Texts of libcore and the engines have such names nowhere else. */
static void take_functions_out(const char *text, char out[COLLET_ERROR_TEXT])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    size_t n = 0;
    while (*text && n < COLLET_ERROR_TEXT - 1) {
        size_t length = strncmp(text, "collet_", 7) ? 0 : strspn(text, letters);
        int first = !n || (n >= 2 && !memcmp(out + n - 2, ": ", 2));
        if (length && first && text[length] == ':' && text[length + 1] == ' ')
            text += length + 2;
        else
            out[n++] = *text++;
    }
    out[n] = 0;
}

void *error_raise(collet_status status, const char *text)
{
    char taken[COLLET_ERROR_TEXT], shown[COLLET_ERROR_TEXT];
    if (PyErr_Occurred())
        return NULL; /* keeps the exception of a callback: it is more exact */
    if (status <= COLLET_OK || status >= COLLET_STATUS_COUNT)
        status = COLLET_OK;
    take_functions_out(text && *text ? text : collet_status_text(status), taken);
    dtype_translate(taken, shown, sizeof shown);
    PyErr_SetString(types[status], shown);
    return NULL;
}

void *error_format(collet_status status, const char *format, ...)
{
    char text[COLLET_ERROR_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return error_raise(status, text);
}

int error_too_large(const char *name)
{
    PyErr_Clear();
    error_format(
        COLLET_DTYPE,
        "%s is beyond the range of float64, which no dtype exceeds: give a number below 1.8e308",
        name);
    return -1;
}
