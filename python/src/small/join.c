/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/op/test_small_functions.py */
#include "join.h"

#include <string.h>

#include "direct.h"

/* The result: NULL with an exception if made < 0, None if it is 0. */
static PyObject *result(int made, direct *out)
{
    return made < 0 ? NULL : made ? direct_finish(out) : Py_NewRef(Py_None);
}

/* ---- Several Arrays ------------------------------------------------------------------------- */

static void close_all(direct *parts, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++)
        direct_close(&parts[i]);
}

/* Opens the Arrays of a list or tuple. Returns their number; 0: use the general function, for example if the dtypes or
 * the numbers of axes differ; -1 with an exception. */
static Py_ssize_t open_all(PyObject *sequence, direct *parts)
{
    int is_list = PyList_CheckExact(sequence);
    Py_ssize_t count = is_list                        ? PyList_Size(sequence)
                       : PyTuple_CheckExact(sequence) ? PyTuple_Size(sequence)
                                                      : 0;
    if (count > DIRECT_PARTS)
        return 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        int opened = direct_open(
            is_list ? PyList_GetItem(sequence, i) : PyTuple_GetItem(sequence, i), &parts[i]);
        if (opened == 1 && parts[i].spec.dtype == parts[0].spec.dtype &&
            parts[i].spec.ndim == parts[0].spec.ndim)
            continue;
        close_all(parts, i + 1);
        return opened < 0 ? -1 : 0;
    }
    return count;
}

/* Concatenates the parts in `out` along an axis. outer: the product of the extents before that axis. */
static void interleave(const direct *out, const direct *parts, Py_ssize_t count, int64_t outer)
{
    char *to = out->data;
    for (int64_t i = 0; i < outer; i++)
        for (Py_ssize_t k = 0; k < count; k++) {
            size_t block = (size_t)(parts[k].size / outer) * out->width;
            memcpy(to, parts[k].data + (size_t)i * block, block);
            to += block;
        }
}

/* Parses the arguments (arrays, /, *, axis=0). 0: the arguments have another form. */
static int take_axis(PyObject *const *arguments, Py_ssize_t count, PyObject *names, int64_t *axis)
{
    Py_ssize_t known = 0;
    PyObject *given = direct_keyword(arguments + count, names, "axis", &known);
    *axis = 0;
    return count == 1 && (!names || PyTuple_Size(names) == known) &&
           (!given || direct_integer(given, axis));
}

static PyObject *join(PyObject *const *arguments, Py_ssize_t count, PyObject *names, int added)
{
    direct parts[DIRECT_PARTS], out;
    int64_t axis, shape[COLLET_MAX_DIMS + 1];
    Py_ssize_t n = take_axis(arguments, count, names, &axis) ? open_all(arguments[0], parts) : 0;
    if (n < 1)
        return n < 0 ? NULL : Py_NewRef(Py_None);
    int32_t ndim = parts[0].spec.ndim, made = 1;
    if (axis < 0)
        axis += ndim + added;
    made = axis >= 0 && axis < ndim + added && ndim + added <= COLLET_MAX_DIMS;
    for (int32_t i = 0; made && i < ndim; i++) {
        int32_t to = i + (added && i >= axis);
        shape[to] = parts[0].spec.shape[i];
        for (Py_ssize_t k = 1; k < n; k++)
            if (!added && i == axis)
                shape[to] += parts[k].spec.shape[i];
            else if (parts[k].spec.shape[i] != shape[to])
                made = 0;
    }
    if (added)
        shape[made ? axis : 0] = n;
    if (made)
        made = direct_make(&out, parts[0].spec.dtype, ndim + added, shape);
    if (made == 1)
        interleave(&out, parts, n, direct_extent(&parts[0], 0, (int32_t)axis));
    close_all(parts, n);
    return result(made, &out);
}

PyObject *join_concat(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count,
                      PyObject *names)
{
    return join(arguments, count, names, 0);
}

PyObject *join_stack(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count,
                     PyObject *names)
{
    return join(arguments, count, names, 1);
}

/* ---- One Array ------------------------------------------------------------------------------ */

/* Opens arguments[0] and takes the integer arguments[1]. As direct_open. */
static int take_two(PyObject *const *arguments, Py_ssize_t count, direct *x, int64_t *n)
{
    return count == 2 && direct_integer(arguments[1], n) ? direct_open(arguments[0], x) : 0;
}

/* A function that makes its result from an Array and an integer. Returns as direct_make. */
typedef int mover(const direct *x, int64_t n, direct *out);

static PyObject *moved(mover *move, PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
    direct x, out;
    int64_t n;
    int made = names ? 0 : take_two(arguments, count, &x, &n);
    if (made < 1)
        return result(made, NULL);
    made = move(&x, n, &out);
    direct_close(&x);
    return result(made, &out);
}

static int make_times(const direct *x, int64_t n, direct *out)
{
    return n >= 0 && n <= DIRECT_LIMIT ? direct_make(out, x->spec.dtype, 1, &(int64_t){x->size * n})
                                       : 0;
}

static int repeat(const direct *x, int64_t n, direct *out)
{
    int made = make_times(x, n, out);
    if (made == 1 && x->width == 8)
        for (int64_t i = 0; i < x->size; i++)
            for (int64_t k = 0; k < n; k++)
                ((uint64_t *)(void *)out->data)[i * n + k] =
                    ((const uint64_t *)(const void *)x->data)[i];
    else if (made == 1)
        for (int64_t i = 0; i < x->size * n; i++)
            memcpy(out->data + (size_t)i * x->width, x->data + (size_t)(i / n) * x->width,
                   x->width);
    return made;
}

static int tile(const direct *x, int64_t n, direct *out)
{
    int made = x->spec.ndim == 1 ? make_times(x, n, out) : 0;
    size_t bytes = (size_t)x->size * x->width;
    for (int64_t i = 0; made == 1 && i < n; i++)
        memcpy(out->data + (size_t)i * bytes, x->data, bytes);
    return made;
}

static int roll(const direct *x, int64_t n, direct *out)
{
    int made = direct_make(out, x->spec.dtype, x->spec.ndim, x->spec.shape);
    int64_t by = n % x->size;
    size_t first = (size_t)(by < 0 ? by + x->size : by) * x->width;
    size_t all = (size_t)x->size * x->width;
    if (made == 1) {
        memcpy(out->data + first, x->data, all - first);
        memcpy(out->data, x->data + all - first, first);
    }
    return made;
}

#define MOVER(name, function)                                                                      \
    PyObject *name(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count,      \
                   PyObject *names)                                                                \
    {                                                                                              \
        return moved(function, arguments, count, names);                                           \
    }
MOVER(join_repeat, repeat)
MOVER(join_tile, tile)
MOVER(join_roll, roll)
#undef MOVER

PyObject *join_copy(PyObject *Py_UNUSED(module), PyObject *object)
{
    direct x, out;
    int made = direct_open(object, &x);
    if (made < 1)
        return result(made, NULL);
    made = direct_make(&out, x.spec.dtype, x.spec.ndim, x.spec.shape);
    if (made == 1)
        memcpy(out.data, x.data, (size_t)x.size * x.width);
    direct_close(&x);
    return result(made, &out);
}

PyObject *join_triangle(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    direct x, out;
    int64_t k;
    int lower = count == 3 ? PyObject_IsTrue(arguments[2]) : -1;
    int made = lower < 0 ? 0 : take_two(arguments, 2, &x, &k);
    if (made < 1)
        return result(made, NULL);
    int32_t ndim = x.spec.ndim;
    made = ndim > 1 && k > -DIRECT_LIMIT && k < DIRECT_LIMIT
               ? direct_make(&out, x.spec.dtype, ndim, x.spec.shape)
               : 0;
    for (int64_t row = 0; made == 1 && row < x.size / x.spec.shape[ndim - 1]; row++) {
        int64_t columns = x.spec.shape[ndim - 1], i = row % x.spec.shape[ndim - 2];
        int64_t at =
            i + k +
            lower; /* the first column after the lower triangle, or the first column of the upper triangle */
        size_t cut = (size_t)(at < 0 ? 0 : at > columns ? columns : at) * x.width;
        size_t whole = (size_t)columns * x.width, start = (size_t)row * whole;
        if (lower) {
            memcpy(out.data + start, x.data + start, cut);
            memset(out.data + start + cut, 0, whole - cut);
        } else {
            memset(out.data + start, 0, cut);
            memcpy(out.data + start + cut, x.data + start + cut, whole - cut);
        }
    }
    direct_close(&x);
    return result(made, &out);
}
