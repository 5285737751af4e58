/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/op/test_small_functions.py */
#include "select.h"

#include <string.h>

#include "direct.h"
#include "src/array/array.h"
#include "src/array/element.h"

/* ---- Indices ------------------------------------------------------------------------------ */

static int64_t index_at(const direct *index, int64_t i)
{
    if (index->spec.dtype == COLLET_I32)
        return ((const int32_t *)(const void *)index->data)[i];
    return ((const int64_t *)(const void *)index->data)[i];
}

/* Whether all elements of `index` are integers, and valid indices of an axis of that extent. */
static int is_index(const direct *index, int64_t extent)
{
    if (index->spec.dtype != COLLET_I64 && index->spec.dtype != COLLET_I32)
        return 0;
    for (int64_t i = 0; i < index->size; i++) {
        int64_t at = index_at(index, i);
        if (at < -extent || at >= extent)
            return 0;
    }
    return 1;
}

/* Copies `block` bytes for each index. */
static void gather(char *to, const char *from, const direct *index, int64_t extent, size_t block)
{
#define OF(type)                                                                                   \
    for (int64_t i = 0; i < index->size; i++) {                                                    \
        int64_t at = index_at(index, i);                                                           \
        ((type *)(void *)to)[i] = ((const type *)(const void *)from)[at < 0 ? at + extent : at];   \
    }
    if (block == 8) {
        OF(uint64_t)
    } else if (block == 4) {
        OF(uint32_t)
    } else {
        for (int64_t i = 0; i < index->size; i++) {
            int64_t at = index_at(index, i);
            memcpy(to + (size_t)i * block, from + (size_t)(at < 0 ? at + extent : at) * block,
                   block);
        }
    }
#undef OF
}

/* The elements of `x` at the indices of an axis. As direct_open. */
static int take(const direct *x, const direct *index, int32_t axis, direct *out)
{
    int64_t shape[2 * COLLET_MAX_DIMS];
    int32_t ndim = 0;
    int64_t extent = x->spec.shape[axis];
    if (x->spec.ndim - 1 + index->spec.ndim > COLLET_MAX_DIMS || !is_index(index, extent))
        return 0;
    for (int32_t i = 0; i < axis; i++)
        shape[ndim++] = x->spec.shape[i];
    for (int32_t i = 0; i < index->spec.ndim; i++)
        shape[ndim++] = index->spec.shape[i];
    for (int32_t i = axis + 1; i < x->spec.ndim; i++)
        shape[ndim++] = x->spec.shape[i];
    int made = direct_make(out, x->spec.dtype, ndim, shape);
    if (made < 1)
        return made;
    int64_t outer = direct_extent(x, 0, axis);
    size_t block = (size_t)direct_extent(x, axis + 1, x->spec.ndim) * x->width;
    for (int64_t i = 0; i < outer; i++)
        gather(out->data + (size_t)(i * index->size) * block,
               x->data + (size_t)(i * extent) * block, index, extent, block);
    return 1;
}

/* ---- Masks -------------------------------------------------------------------------------- */

/* Whether the operand is a mask of the first axes of `x`. */
static int is_mask(const direct *mask, const direct *x)
{
    if (mask->spec.dtype != COLLET_BOOL || !mask->spec.ndim || mask->spec.ndim > x->spec.ndim)
        return 0;
    return !memcmp(mask->spec.shape, x->spec.shape,
                   (size_t)mask->spec.ndim * sizeof *x->spec.shape);
}

static int64_t trues(const direct *mask)
{
    int64_t count = 0;
    for (int64_t i = 0; i < mask->size; i++)
        count += mask->data[i] != 0;
    return count;
}

static int compress(const direct *x, const direct *mask, direct *out)
{
    int64_t shape[COLLET_MAX_DIMS] = {trues(mask)};
    int32_t ndim = 1;
    for (int32_t i = mask->spec.ndim; i < x->spec.ndim; i++)
        shape[ndim++] = x->spec.shape[i];
    size_t block = (size_t)(x->size / mask->size) * x->width;
    int made = direct_make(out, x->spec.dtype, ndim, shape);
    char *to = made == 1 ? out->data : NULL;
    for (int64_t i = 0; to && i < mask->size; i++)
        if (mask->data[i]) {
            memcpy(to, x->data + (size_t)i * block, block);
            to += block;
        }
    return made;
}

PyObject *select_read(PyObject *array, PyObject *key)
{
    direct x, by = {.array = NULL}, out = {.array = NULL};
    int made = direct_open(array, &x);
    if (made == 1 && x.spec.ndim)
        made = direct_open(key, &by);
    else if (made == 1)
        made = 0;
    if (made == 1)
        made = is_mask(&by, &x)                               ? compress(&x, &by, &out)
               : by.spec.ndim && by.spec.dtype != COLLET_BOOL ? take(&x, &by, 0, &out)
                                                              : 0;
    direct_close(&x);
    direct_close(&by);
    return made < 0 ? NULL : made ? direct_finish(&out) : Py_NewRef(Py_None);
}

/* Stores a number in each element of block `at`, which has `block` elements. */
static void store(const direct *x, int64_t at, int64_t block, const collet_scalar *s)
{
    for (int64_t i = at * block; i < (at + 1) * block; i++)
        memcpy(x->data + (size_t)i * x->width, s->value.bytes, x->width);
}

PyObject *select_assign(PyObject *array, PyObject *key, PyObject *value)
{
    direct x = {.array = NULL}, by;
    collet_scalar s = {.dtype = array_dtype_of(array)};
    int made = element_scalar(value, &s) ? direct_open(key, &by) : 0;
    if (made < 1)
        return made < 0 ? NULL : Py_NewRef(Py_None);
    made = direct_open_written(array, &x);
    int whole = made == 1 && x.spec.ndim && by.spec.ndim;
    int mask = whole && is_mask(&by, &x);
    if (mask) {
        int64_t block = x.size / by.size;
        for (int64_t i = 0; i < by.size; i++)
            if (by.data[i])
                store(&x, i, block, &s);
    } else if (whole && is_index(&by, x.spec.shape[0])) {
        int64_t extent = x.spec.shape[0], block = x.size / extent;
        for (int64_t i = 0; i < by.size; i++) {
            int64_t at = index_at(&by, i);
            store(&x, at < 0 ? at + extent : at, block, &s);
        }
    } else if (made == 1) {
        made = 0;
    }
    direct_close(&x);
    direct_close(&by);
    return made < 0 ? NULL : Py_NewRef(made ? Py_True : Py_None);
}

PyObject *select_take(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count,
                      PyObject *names)
{
    direct x = {.array = NULL}, index = {.array = NULL}, out;
    Py_ssize_t known = 0;
    int64_t axis = 0;
    PyObject *given = direct_keyword(arguments + count, names, "axis", &known);
    if (count != 2 || (names && PyTuple_Size(names) != known))
        Py_RETURN_NONE;
    int made = direct_open(arguments[0], &x);
    if (made == 1)
        made = direct_open(arguments[1], &index);
    if (made == 1 && given && given != Py_None) {
        made = direct_integer(given, &axis) && axis >= -x.spec.ndim && axis < x.spec.ndim;
        axis = axis < 0 ? axis + x.spec.ndim : axis;
    } else if (made == 1) {
        made = x.spec.ndim == 1;
    }
    if (made == 1)
        made = take(&x, &index, (int32_t)axis, &out);
    direct_close(&x);
    direct_close(&index);
    return made < 0 ? NULL : made ? direct_finish(&out) : Py_NewRef(Py_None);
}

/* ---- Elements that are not 0 ---------------------------------------------------------------- */

static int is_nonzero(const direct *x, int64_t i)
{
    const char *at = x->data + (size_t)i * x->width;
    double wide[2] = {0, 0};
    float narrow[2] = {0, 0};
    uint64_t bits = 0;
    switch (x->spec.dtype) {
    case COLLET_F64:
    case COLLET_C128:
        memcpy(wide, at, x->width);
        return wide[0] != 0 || wide[1] != 0;
    case COLLET_F32:
    case COLLET_C64:
        memcpy(narrow, at, x->width);
        return narrow[0] != 0 || narrow[1] != 0;
    case COLLET_F16:
    case COLLET_BF16:
        memcpy(&bits, at, 2);
        return (bits & 0x7fff) != 0;
    default:
        memcpy(&bits, at, x->width);
        return bits != 0;
    }
}

static int64_t count_of(const direct *x)
{
    int64_t count = 0;
#define OF(type)                                                                                   \
    for (int64_t i = 0; i < x->size; i++)                                                          \
    count += ((const type *)(const void *)x->data)[i] != 0
    if (x->spec.dtype == COLLET_F64)
        OF(double);
    else if (x->spec.dtype == COLLET_I64 || x->spec.dtype == COLLET_U64)
        OF(uint64_t);
    else if (x->spec.dtype == COLLET_BOOL)
        OF(uint8_t);
    else
        for (int64_t i = 0; i < x->size; i++)
            count += is_nonzero(x, i);
#undef OF
    return count;
}

PyObject *select_count(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count,
                       PyObject *names)
{
    direct x;
    collet_scalar s = {.dtype = COLLET_I64};
    int opened = count == 1 && !names ? direct_open(arguments[0], &x) : 0;
    if (opened < 1)
        return opened < 0 ? NULL : Py_NewRef(Py_None);
    s.value.i64 = count_of(&x);
    direct_close(&x);
    return array_of_number(&s);
}

PyObject *select_nonzero(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count,
                         PyObject *names)
{
    direct x, out[COLLET_MAX_DIMS] = {{.array = NULL}};
    int made = count == 1 && !names ? direct_open(arguments[0], &x) : 0;
    if (made < 1)
        return made < 0 ? NULL : Py_NewRef(Py_None);
    int64_t found = count_of(&x), next = 0;
    made = x.spec.ndim > 0;
    for (int32_t axis = 0; made == 1 && axis < x.spec.ndim; axis++)
        made = direct_make(&out[axis], COLLET_I64, 1, &found);
    for (int64_t i = 0; made == 1 && next < found; i++) {
        int64_t rest = i;
        if (!is_nonzero(&x, i))
            continue;
        for (int32_t axis = x.spec.ndim - 1; axis >= 0; axis--) {
            ((int64_t *)(void *)out[axis].data)[next] = rest % x.spec.shape[axis];
            rest /= x.spec.shape[axis];
        }
        next++;
    }
    PyObject *tuple = made == 1 ? PyTuple_New(x.spec.ndim) : NULL;
    for (int32_t axis = 0; tuple && axis < x.spec.ndim; axis++) {
        PyObject *array = direct_finish(&out[axis]);
        if (!array || PyTuple_SetItem(tuple, axis, array))
            Py_CLEAR(tuple);
    }
    for (int32_t axis = 0; axis < x.spec.ndim; axis++)
        direct_close(&out[axis]);
    direct_close(&x);
    return made ? tuple : Py_NewRef(Py_None);
}
