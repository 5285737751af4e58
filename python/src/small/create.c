/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/op/test_small_functions.py */
#include "create.h"

#include <string.h>

#include <collet/floating.h>

#include "direct.h"
#include "src/array/array.h"
#include "src/array/element.h"
#include "src/base/numpy.h"
#include "src/base/runtime.h"

/* ---- From a NumPy array ------------------------------------------------------------------- */

static int is_dense(const numpy_view *v)
{
    int64_t step = 1;
    for (int32_t i = v->spec.ndim - 1; i >= 0; i--) {
        if (v->spec.shape[i] != 1 && v->strides[i] != step)
            return 0;
        step *= v->spec.shape[i];
    }
    return step > 0;
}

static PyObject *from_numpy(PyObject *source)
{
    numpy_view v;
    direct out;
    if (numpy_view_of(source, "the array", &v)) {
        PyErr_Clear(); /* the general function raises the error */
        Py_RETURN_NONE;
    }
    int small = v.usable && is_dense(&v) && array_size_of(&v.spec) <= DIRECT_LIMIT;
    int made = small ? direct_make(&out, v.spec.dtype, v.spec.ndim, v.spec.shape) : 0;
    if (made == 1 && out.size)
        memcpy(out.data, v.data, (size_t)out.size * out.width);
    return made < 0 ? NULL : made ? direct_finish(&out) : Py_NewRef(Py_None);
}

/* ---- From a list -------------------------------------------------------------------------- */

static collet_dtype dtype_of(PyObject *number)
{
    return PyFloat_CheckExact(number)  ? COLLET_F64
           : PyLong_CheckExact(number) ? COLLET_I64
           : PyBool_Check(number)      ? COLLET_BOOL
                                       : COLLET_DTYPE_NONE;
}

/* A number as an element of s->dtype. A list of floats may have integers that f64 holds exactly. */
static int read_number(PyObject *item, collet_scalar *s)
{
    const int64_t exact = INT64_C(1) << 53;
    int64_t integer;
    int is_exact = s->dtype == COLLET_F64 && direct_integer(item, &integer) && integer >= -exact &&
                   integer <= exact;
    return (is_exact || dtype_of(item) == s->dtype) && element_scalar(item, s);
}

/* Reads a list of numbers, or of such lists of one length. 1: done; 0: use the general function. */
static int read_list(PyObject *list, const direct *out, int32_t axis, char **to)
{
    Py_ssize_t count = PyList_Size(list);
    if (count != out->spec.shape[axis])
        return 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PyList_GetItem(list, i);
        collet_scalar s = {.dtype = out->spec.dtype};
        if (axis + 1 < out->spec.ndim) {
            if (!PyList_CheckExact(item) || !read_list(item, out, axis + 1, to))
                return 0;
            continue;
        }
        if (!read_number(item, &s))
            return 0;
        memcpy(*to, s.value.bytes, out->width);
        *to += out->width;
    }
    return 1;
}

static PyObject *from_list(PyObject *list)
{
    int64_t shape[COLLET_MAX_DIMS];
    int32_t ndim = 0;
    PyObject *item = list;
    while (PyList_CheckExact(item) && PyList_Size(item) && ndim < COLLET_MAX_DIMS) {
        shape[ndim++] = PyList_Size(item);
        item = PyList_GetItem(item, 0);
    }
    for (collet_dtype dtype = dtype_of(item); dtype;
         dtype = dtype == COLLET_I64 ? COLLET_F64 : COLLET_DTYPE_NONE) {
        direct out;
        int made = direct_make(&out, dtype, ndim, shape);
        if (made < 1)
            return made < 0 ? NULL : Py_NewRef(Py_None);
        char *to = out.data;
        if (read_list(list, &out, 0, &to))
            return direct_finish(&out);
        direct_close(&out);
    }
    return Py_NewRef(Py_None);
}

PyObject *create_from(PyObject *Py_UNUSED(module), PyObject *object)
{
    return numpy_is_array(object)      ? from_numpy(object)
           : PyList_CheckExact(object) ? from_list(object)
                                       : Py_NewRef(Py_None);
}

/* ---- From another dtype ------------------------------------------------------------------- */

/* Converts n elements as the op copy does. The result's type must hold the numbers exactly or rounded. */
#define CONVERT(from, to)                                                                          \
    for (int64_t i = 0; i < n; i++)                                                                \
    ((to *)out)[i] = (to)((const from *)in)[i]

static int convert(const void *in, collet_dtype from, void *out, collet_dtype to, int64_t n)
{
    COLLET_FLOATING_SCOPE;
    if (from == COLLET_BOOL && to == COLLET_F64)
        CONVERT(uint8_t, double);
    else if (from == COLLET_BOOL && to == COLLET_I64)
        CONVERT(uint8_t, int64_t);
    else if (from == COLLET_I32 && to == COLLET_F64)
        CONVERT(int32_t, double);
    else if (from == COLLET_I32 && to == COLLET_I64)
        CONVERT(int32_t, int64_t);
    else if (from == COLLET_I64 && to == COLLET_F64)
        CONVERT(int64_t, double);
    else if (from == COLLET_F32 && to == COLLET_F64)
        CONVERT(float, double);
    else if (from == COLLET_F64 && to == COLLET_F32)
        CONVERT(double, float);
    else
        return 0;
    return 1;
}

PyObject *create_converted(PyObject *Py_UNUSED(module), PyObject *const *arguments,
                           Py_ssize_t count)
{
    direct x, out;
    collet_dtype to = count == 2 ? numpy_dtype_parse(arguments[1]) : COLLET_DTYPE_NONE;
    int made = to ? direct_open(arguments[0], &x) : PyErr_Occurred() ? -1 : 0;
    if (made < 1)
        return made < 0 ? NULL : Py_NewRef(Py_None);
    made = direct_make(&out, to, x.spec.ndim, x.spec.shape);
    if (made == 1 && !convert(x.data, x.spec.dtype, out.data, to, x.size)) {
        direct_close(&out);
        made = 0;
    }
    direct_close(&x);
    return made < 0 ? NULL : made ? direct_finish(&out) : Py_NewRef(Py_None);
}

/* ---- New values --------------------------------------------------------------------------- */

PyObject *create_filled(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    int64_t shape[COLLET_MAX_DIMS];
    int ndim = count != 3 ? -1 : array_extents(arguments[0], shape);
    collet_scalar s = {.dtype = COLLET_DTYPE_NONE};
    direct out;
    if (ndim >= 0)
        s.dtype =
            arguments[2] == Py_None ? dtype_of(arguments[1]) : numpy_dtype_parse(arguments[2]);
    if (PyErr_Occurred())
        return NULL;
    int made =
        s.dtype && element_scalar(arguments[1], &s) ? direct_make(&out, s.dtype, ndim, shape) : 0;
    if (made < 1)
        return made < 0 ? NULL : Py_NewRef(Py_None);
    size_t bytes = (size_t)out.size * out.width;
    int zero = 1;
    for (size_t i = 0; i < out.width; i++)
        zero &= !s.value.bytes[i];
    if (zero && bytes)
        memset(out.data, 0, bytes);
    if (!zero && bytes)
        memcpy(out.data, s.value.bytes, out.width);
    for (size_t done = out.width; !zero && done < bytes; done *= 2) /* copies what is filled */
        memcpy(out.data + done, out.data, done < bytes - done ? done : bytes - done);
    return direct_finish(&out);
}

PyObject *create_range(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    int64_t start, stop, step, extent;
    direct out;
    if (count != 3 || !direct_integer(arguments[0], &start) ||
        !direct_integer(arguments[1], &stop) || !direct_integer(arguments[2], &step) || step == 0 ||
        __builtin_sub_overflow(stop, start, &extent) || extent > INT64_MAX / 2 ||
        extent < INT64_MIN / 2 || step > INT32_MAX || step < -INT32_MAX)
        Py_RETURN_NONE;
    extent = step > 0 ? (extent + step - 1) / step : (extent + step + 1) / step;
    extent = extent < 0 ? 0 : extent;
    int made = direct_make(&out, COLLET_I64, 1, &extent);
    for (int64_t i = 0; made == 1 && i < extent; i++)
        ((int64_t *)(void *)out.data)[i] = start + i * step;
    return made < 0 ? NULL : made ? direct_finish(&out) : Py_NewRef(Py_None);
}

PyObject *create_eye(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count,
                     PyObject *names)
{
    int64_t shape[2];
    direct out;
    collet_context *context = runtime_context();
    if (!context)
        return NULL;
    const char *backend = collet_get_backend(context);
    if (count != 1 || names || !direct_integer(arguments[0], &shape[0]) ||
        (strcmp(backend, "auto") != 0 && strncmp(backend, "cpu_", 4) != 0))
        Py_RETURN_NONE; /* a device that was chosen by name makes the matrix */
    shape[1] = shape[0];
    int made = direct_make(&out, COLLET_F64, 2, shape);
    if (made == 1 && out.size)
        memset(out.data, 0, (size_t)out.size * out.width);
    for (int64_t i = 0; made == 1 && i < shape[0]; i++)
        ((double *)(void *)out.data)[i * (shape[0] + 1)] = 1;
    return made < 0 ? NULL : made ? direct_finish(&out) : Py_NewRef(Py_None);
}
