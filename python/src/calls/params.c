/* SPDX-License-Identifier: Apache-2.0 */
/* Fills the parameter block of an op from Python values.
 * Tests: python/tests/test_op.py */
#include "op.h"

#include <string.h>

#include "src/base/dtype.h"
#include "src/base/error.h"
#include "src/base/numpy.h"

static int refuse(const op_field *field, PyObject *value, const char *expected)
{
    PyObject *text;
    PyErr_Clear();
    text = PyObject_Repr(value); /* fails for an int of more than 4,300 digits */
    if (text)
        PyErr_Format(PyExc_ValueError, "%U is %U; it must be %s", field->name, text, expected);
    Py_XDECREF(text);
    return -1;
}

/* Replaces a TypeError by a TypeError that says what is expected. Leaves other exceptions unchanged. Returns -1. */
static int refuse_type(const op_field *field, PyObject *value, const char *expected)
{
    if (PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Format(PyExc_TypeError, "%U is %R; it must be %s", field->name, value, expected);
    return -1;
}

/* ---- Numbers ------------------------------------------------------------------------------ */

/* The bits of integer types, negated for signed types; 0 for other types. */
#define BITS_INT(bits) -bits
#define BITS_UINT(bits) bits
#define BITS_FLOAT(bits) 0
#define BITS_BFLOAT(bits) 0
#define BITS_COMPLEX(bits) 0
#define BITS_BOOL(bits) 1
#define BITS(NAME, id, bytes, text, letter, type, kind, ...) [id] = BITS_##kind(8 * (bytes)),
static const int integer_bits[COLLET_DTYPE_COUNT] = {COLLET_DTYPE_LIST(BITS)};

static int in_range(int bits, long long number)
{
    if (bits <= -64 || bits >= 64)
        return 1;
    return bits < 0 ? number >= -(1LL << (-bits - 1)) && number < 1LL << (-bits - 1)
                    : number >= 0 && number < 1LL << bits;
}

static int store_integer(const op_field *field, PyObject *value, unsigned char *target)
{
    PyObject *index = PyNumber_Index(value);
    int overflow = 0;
    long long number;
    if (!index)
        return refuse_type(field, value, "an integer");
    if (field->row.dtype == COLLET_U64) {
        uint64_t v = PyLong_AsUnsignedLongLong(index);
        Py_DECREF(index);
        if (v == (uint64_t)-1 && PyErr_Occurred())
            return refuse(field, value, "within the range of its type");
        memcpy(target, &v, sizeof v);
        return 0;
    }
    number = PyLong_AsLongLongAndOverflow(index, &overflow);
    Py_DECREF(index);
    if (overflow || !in_range(integer_bits[field->row.dtype], number))
        return refuse(field, value, "within the range of its type");
    memcpy(target, &number, collet_dtype_size(field->row.dtype)); /* little-endian */
    return 0;
}

static int store_float(const op_field *field, PyObject *value, unsigned char *target)
{
    double number = PyFloat_AsDouble(value);
    if (number == -1 && PyErr_Occurred())
        return PyErr_ExceptionMatches(PyExc_OverflowError)
                   ? refuse(field, value, "within the range of its type")
                   : refuse_type(field, value, "a number");
    if (field->row.dtype == COLLET_F64)
        memcpy(target, &number, sizeof number);
    else
        memcpy(target, &(float){(float)number}, sizeof(float));
    return 0;
}

static int store_number(const op_field *field, PyObject *object, unsigned char *target)
{
    int floats = field->row.dtype == COLLET_F32 || field->row.dtype == COLLET_F64, failed;
    PyObject *value = numpy_number(object, field->name);
    if (!value)
        return -1;
    failed = (floats ? store_float : store_integer)(field, value, target);
    Py_DECREF(value);
    return failed;
}

/* Stores a number, or a sequence with a number for each element of the field. */
static int store_numbers(const op_field *field, PyObject *value, unsigned char *target)
{
    size_t size = collet_dtype_size(field->row.dtype), count = field->row.size / size;
    if (count <= 1)
        return store_number(field, value, target);
    if (PySequence_Size(value) != (Py_ssize_t)count) {
        PyErr_Clear();
        return refuse(field, value, "a sequence with the number of elements that the op's description gives");
    }
    for (size_t i = 0; i < count; i++) {
        PyObject *item = PySequence_GetItem(value, (Py_ssize_t)i);
        int failed = item ? store_number(field, item, target + i * size) : -1;
        Py_XDECREF(item);
        if (failed)
            return -1;
    }
    return 0;
}

/* ---- The other kinds ---------------------------------------------------------------------- */

static int store_choice(const op_field *field, PyObject *value, unsigned char *target)
{
    PyObject *number;
    Py_ssize_t index;
    int failed;
    if (!PyUnicode_Check(value))
        return store_number(field, value, target);
    index = PySequence_Index(field->choices, value);
    if (index < 0) {
        PyErr_Format(PyExc_ValueError, "%U is %R; it is one of %R", field->name, value,
                     field->choices);
        return -1;
    }
    number = PyLong_FromSsize_t(index);
    failed = number ? store_number(field, number, target) : -1;
    Py_XDECREF(number);
    return failed;
}

/* An axis of an array with `ndim` axes, counted from the end if it is negative; -1 with an
 * exception. */
static int32_t axis_of(const op_field *field, PyObject *value, int32_t ndim)
{
    PyObject *number = numpy_number(value, field->name);
    PyObject *index = number ? PyNumber_Index(number) : NULL;
    long axis = index ? PyLong_AsLong(index) : -1;
    Py_XDECREF(index);
    Py_XDECREF(number);
    if (number && !index)
        return refuse_type(field, value, "an integer");
    if (axis == -1 && PyErr_Occurred())
        return -1;
    if (axis < -ndim || axis >= ndim) {
        PyErr_Format(PyExc_ValueError, "%U: there is no axis %ld in an array of %d axes",
                     field->name, axis, (int)ndim);
        return -1;
    }
    return (int32_t)(axis < 0 ? axis + ndim : axis);
}

/* Stores axes as bits: bit i for axis i. */
static int store_axes(const op_field *field, PyObject *value, int32_t ndim, unsigned char *target)
{
    uint32_t bits = 0;
    int alone = PyIndex_Check(value);
    Py_ssize_t count = alone ? 1 : PySequence_Size(value);
    if (count < 0) {
        PyErr_Clear();
        return refuse(field, value, "an integer or a sequence of integers");
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = alone ? Py_NewRef(value) : PySequence_GetItem(value, i);
        int32_t axis = item ? axis_of(field, item, ndim) : -1;
        Py_XDECREF(item);
        if (axis < 0)
            return -1;
        if (bits & 1u << axis)
            return refuse(field, value, "axes that differ");
        bits |= 1u << axis;
    }
    memcpy(target, &bits, sizeof bits);
    return 0;
}

static int store_permutation(const op_field *field, PyObject *value, int32_t ndim,
                             unsigned char *target)
{
    int32_t axes[COLLET_MAX_DIMS] = {0};
    if (PySequence_Size(value) != ndim) {
        PyErr_Clear();
        return refuse(field, value, "a sequence of all axes of the first input");
    }
    for (int32_t i = 0; i < ndim; i++) {
        PyObject *item = PySequence_GetItem(value, i);
        axes[i] = item ? axis_of(field, item, ndim) : -1;
        Py_XDECREF(item);
        if (axes[i] < 0)
            return -1;
    }
    memcpy(target, axes, (size_t)ndim * sizeof *axes);
    return 0;
}

static int store_plain(const op_field *field, PyObject *value, unsigned char *target)
{
    collet_scalar scalar = {.dtype = COLLET_F64};
    int overflow = 0;
    if (PyComplex_Check(value)) {
        scalar.dtype = COLLET_C128;
        scalar.value.c128.re = PyComplex_RealAsDouble(value);
        scalar.value.c128.im = PyComplex_ImagAsDouble(value);
    } else if (PyIndex_Check(value)) {
        PyObject *index = PyNumber_Index(value);
        if (!index)
            return -1;
        scalar.dtype = COLLET_I64;
        scalar.value.i64 = PyLong_AsLongLongAndOverflow(index, &overflow);
        if (overflow) {
            scalar.dtype = COLLET_U64;
            scalar.value.u64 = PyLong_AsUnsignedLongLong(index);
        }
        if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_OverflowError)) { /* beyond 64 bits */
            PyErr_Clear();
            scalar.dtype = COLLET_F64;
            scalar.value.f64 = PyLong_AsDouble(index);
        }
        Py_DECREF(index);
    } else {
        scalar.value.f64 = PyFloat_AsDouble(value);
    }
    if (PyErr_Occurred())
        return PyErr_ExceptionMatches(PyExc_OverflowError)
                   ? error_too_large(PyUnicode_AsUTF8AndSize(field->name, NULL))
                   : refuse_type(field, value, "a number");
    memcpy(target, &scalar, sizeof scalar);
    return 0;
}

static int store_scalar(const op_field *field, PyObject *object, unsigned char *target)
{
    PyObject *value = numpy_number(object, field->name);
    int failed = value ? store_plain(field, value, target) : -1;
    Py_XDECREF(value);
    return failed;
}

static int store(const op_field *field, PyObject *value, int32_t ndim, unsigned char *target)
{
    PyObject *number;
    int truth;
    uint32_t flag;
    switch (field->row.kind) {
    case COLLET_FIELD_FLAG:
        number = numpy_number(value, field->name);
        truth = number ? PyObject_IsTrue(number) : -1;
        Py_XDECREF(number);
        flag = truth > 0;
        if (truth < 0 || field->row.size != sizeof flag)
            return truth < 0 ? -1 : store_number(field, truth ? Py_True : Py_False, target);
        memcpy(target, &flag, sizeof flag);
        return 0;
    case COLLET_FIELD_CHOICE:
        return store_choice(field, value, target);
    case COLLET_FIELD_AXES:
        return store_axes(field, value, ndim, target);
    case COLLET_FIELD_SCALAR:
        return store_scalar(field, value, target);
    case COLLET_FIELD_PERMUTATION:
        return store_permutation(field, value, ndim, target);
    default:
        return store_numbers(field, value, target);
    }
}

/* ---- fill ----------------------------------------------------------------------------------- */

/* Whether an integer type can hold the number; `bits` as in integer_bits. */
static int has_number(int bits, const collet_scalar *s)
{
    double high = (double)(1ULL << ((bits < 0 ? -bits : bits) - 1)) * (bits < 0 ? 1 : 2);
    double low = bits < 0 ? -high : 0, value = s->value.f64;
    switch (s->dtype) {
    case COLLET_I64:
        return bits == 64 ? s->value.i64 >= 0 : in_range(bits, s->value.i64);
    case COLLET_U64: /* the scalar is u64 only for numbers above the range of i64 */
        return bits == 64;
    case COLLET_F64:
        return value >= low && value < high && (value >= 0x1p53 || value == (double)(int64_t)value);
    default: /* libcore refuses complex numbers */
        return 1;
    }
}

int op_check_fill(const op_object *op, const void *params, PyObject *const *values,
                  collet_dtype dtype)
{
    const collet_scalar *value = &((const collet_fill_params *)params)->value;
    if (op->id != COLLET_OP_FILL || !integer_bits[dtype])
        return 0;
    int rounded = value->dtype == COLLET_F64 && PyLong_Check(values[0]); /* beyond 64 bits */
    if (!rounded && has_number(integer_bits[dtype], value))
        return 0;
    PyObject *text = PyObject_Str(values[0]);
    if (text)
        error_format(COLLET_DTYPE,
                     "value is %s, which %s does not have: give an integer in its range, "
                     "or fill another dtype and convert it by astype",
                     PyUnicode_AsUTF8AndSize(text, NULL), dtype_name(dtype));
    Py_XDECREF(text);
    return -1;
}

int op_set_params(op_object *op, const collet_runtime *runtime, int32_t ndim,
                  PyObject *const *values, void *params)
{
    collet_error err;
    collet_status status;
    if (!op->params_size)
        return 0;
    status = collet_ops_defaults(runtime, op->id, params, OP_PARAMS, ndim, &err);
    if (status != COLLET_OK) {
        error_raise(status, err.text);
        return -1;
    }
    for (uint32_t i = 0; i < op->field_count; i++) {
        const op_field *field = &op->fields[i];
        PyObject *value = values[i] == Py_None ? NULL : values[i];
        if (!value && field->row.kind == COLLET_FIELD_SCALAR) {
            PyErr_Format(PyExc_TypeError, "%U() needs the keyword %U", op->name, field->name);
            return -1;
        }
        if (value && store(field, value, ndim, (unsigned char *)params + field->row.offset))
            return -1;
    }
    return 0;
}
