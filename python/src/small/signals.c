/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/op/test_small_functions.py */
#include "signals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <collet/floating.h>

#include "direct.h"
#include "src/array/array.h"

static const double *numbers(const direct *d)
{
    return (const double *)(const void *)d->data;
}

/* ---- Interpolation ------------------------------------------------------------------------ */

/* Computes in the same steps as collet.interp, so the results have the same bits. */
static double between(double x, double x0, double y0, double x1, double y1)
{
    if (x == x1 || x == x0 || x != x)
        return x == x1 ? y1 : x == x0 ? y0 : x;
    double slope = (y1 - y0) / (x1 - x0), found = slope * (x - x0) + y0;
    if (found != found)
        found = slope * (x - x1) + y1;
    return found != found && y0 == y1 ? y0 : found;
}

static double interpolated(double x, const double *xp, const double *fp, int64_t n)
{
    if (x < xp[0] || n == 1)
        return fp[0];
    if (x > xp[n - 1])
        return fp[n - 1];
    int64_t low = 0, high = n; /* xp[low - 1] <= x < xp[high]; NaN comes after all numbers */
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (xp[middle] <= x || x != x)
            low = middle + 1;
        else
            high = middle;
    }
    int64_t below = low - 1 < 0 ? 0 : low - 1 > n - 2 ? n - 2 : low - 1;
    return between(x, xp[below], fp[below], xp[below + 1], fp[below + 1]);
}

static int ascends(const direct *xp)
{
    for (int64_t i = 0; i + 1 < xp->size; i++)
        if (!(numbers(xp)[i] <= numbers(xp)[i + 1]))
            return 0;
    return numbers(xp)[0] == numbers(xp)[0];
}

PyObject *signals_interp(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    COLLET_FLOATING_SCOPE;
    direct in[3] = {{.array = NULL}}, out;
    int made = count == 3;
    for (int i = 0; made == 1 && i < 3; i++) {
        made = direct_open(arguments[i], &in[i]);
        if (made == 1 && in[i].spec.dtype != COLLET_F64)
            made = 0;
    }
    if (made == 1)
        made = in[1].spec.ndim == 1 && in[2].spec.ndim == 1 && in[1].size == in[2].size &&
                       ascends(&in[1])
                   ? direct_make(&out, COLLET_F64, in[0].spec.ndim, in[0].spec.shape)
                   : 0;
    for (int64_t i = 0; made == 1 && i < in[0].size; i++)
        ((double *)(void *)out.data)[i] =
            interpolated(numbers(&in[0])[i], numbers(&in[1]), numbers(&in[2]), in[1].size);
    for (int i = 0; i < 3; i++)
        direct_close(&in[i]);
    return made < 0 ? NULL : made ? direct_finish(&out) : Py_NewRef(Py_None);
}

/* ---- Convolution -------------------------------------------------------------------------- */

#define PRODUCTS 4096 /* above this size, the library's products are faster */

/* out[k] = sum over j of a[k + first - j] v[j], for all j for which both exist. a has n, v has m elements. */
#define CONVOLVE(name, type, sum_type)                                                             \
    static void name(type *out, int64_t count, int64_t first, const type *a, int64_t n,            \
                     const type *v, int64_t m)                                                     \
    {                                                                                              \
        memset(out, 0, (size_t)count * sizeof *out);                                               \
        for (int64_t j = m - 1; j >= 0; j--) {                                                     \
            int64_t low = j - first > 0 ? j - first : 0;                                           \
            int64_t high = n + j - first < count ? n + j - first : count;                          \
            for (int64_t k = low; k < high; k++)                                                   \
                out[k] = (type)((sum_type)out[k] + (sum_type)a[k + first - j] * (sum_type)v[j]);   \
        }                                                                                          \
    }
CONVOLVE(convolve_f64, double, double)
CONVOLVE(convolve_f32, float, float)
CONVOLVE(convolve_i64, int64_t, uint64_t)
#undef CONVOLVE

PyObject *signals_convolve(PyObject *Py_UNUSED(module), PyObject *const *arguments,
                           Py_ssize_t count, PyObject *names)
{
    COLLET_FLOATING_SCOPE;
    direct in[2] = {{.array = NULL}}, out;
    int64_t length = 0, first = 0;
    Py_ssize_t known = 0;
    PyObject *given =
        count == 3 ? arguments[2] : direct_keyword(arguments + count, names, "mode", &known);
    const char *mode = !given                   ? "full"
                       : PyUnicode_Check(given) ? PyUnicode_AsUTF8AndSize(given, NULL)
                                                : NULL;
    if (count < 2 || count > 3 || (names && PyTuple_Size(names) != known))
        Py_RETURN_NONE;
    PyErr_Clear();
    int made = mode != NULL;
    for (int i = 0; made == 1 && i < 2; i++) {
        made = direct_open(arguments[i], &in[i]);
        if (made == 1 && in[i].spec.ndim != 1)
            made = 0;
    }
    if (made == 1) {
        int longer = in[0].size < in[1].size; /* the index of the longer array */
        direct a = in[longer], v = in[!longer];
        collet_dtype dtype = a.spec.dtype;
        int whole = !strcmp(mode, "full"), same = !strcmp(mode, "same"),
            valid = !strcmp(mode, "valid");
        length = whole ? a.size + v.size - 1 : same ? a.size : a.size - v.size + 1;
        first = whole ? 0 : same ? (v.size - 1) / 2 : v.size - 1;
        made = (whole || same || valid) && dtype == v.spec.dtype && v.size <= PRODUCTS / 16 &&
                       a.size * v.size <= 16 * PRODUCTS &&
                       (dtype == COLLET_F64 || dtype == COLLET_F32 || dtype == COLLET_I64)
                   ? direct_make(&out, dtype, 1, &length)
                   : 0;
        if (made == 1 && dtype == COLLET_F64)
            convolve_f64((double *)(void *)out.data, length, first, (double *)(void *)a.data,
                         a.size, (double *)(void *)v.data, v.size);
        else if (made == 1 && dtype == COLLET_F32)
            convolve_f32((float *)(void *)out.data, length, first, (float *)(void *)a.data, a.size,
                         (float *)(void *)v.data, v.size);
        else if (made == 1)
            convolve_i64((int64_t *)(void *)out.data, length, first, (int64_t *)(void *)a.data,
                         a.size, (int64_t *)(void *)v.data, v.size);
    }
    direct_close(&in[0]);
    direct_close(&in[1]);
    return made < 0 ? NULL : made ? direct_finish(&out) : Py_NewRef(Py_None);
}

/* ---- The median --------------------------------------------------------------------------- */

/* Moves the element of rank `rank` to its sorted place, and smaller elements before it: quickselect with the median of
 * three. */
static void place(double *x, int64_t n, int64_t rank)
{
    for (int64_t low = 0, high = n - 1; low < high;) {
        double a = x[low], b = x[low + (high - low) / 2], c = x[high];
        double pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
        int64_t i = low, j = high;
        while (i <= j) {
            while (x[i] < pivot)
                i++;
            while (x[j] > pivot)
                j--;
            if (i <= j) {
                double t = x[i];
                x[i++] = x[j];
                x[j--] = t;
            }
        }
        if (rank <= j)
            high = j;
        else if (rank >= i)
            low = i;
        else
            return;
    }
}

/* The median of f64 or f32 numbers: the mean of the middle two; if these are equal, the mean is that number. -0 comes
 * before 0, as in the op sort. */
static void median_of(const direct *x, double *numbers, collet_scalar *s)
{
    int64_t n = x->size, middle = n / 2, below = 0; /* below: the numbers before 0 */
    int is_nan = 0, narrow = x->spec.dtype == COLLET_F32;
    for (int64_t i = 0; i < n; i++) {
        numbers[i] = narrow ? (double)((const float *)(const void *)x->data)[i]
                            : ((const double *)(const void *)x->data)[i];
        is_nan |= numbers[i] != numbers[i];
        below += signbit(numbers[i]) != 0;
    }
    double found = (double)NAN;
    if (!is_nan) {
        place(numbers, n, middle);
        double second = numbers[middle], first = middle ? numbers[0] : second;
        for (int64_t i = 1; i < middle; i++)
            first = numbers[i] > first ? numbers[i] : first;
        double half =
            narrow ? (double)(((float)first + (float)second) * 0.5f) : (first + second) * 0.5;
        found = n % 2 || first == second ? second : half;
        if (second == 0 && (n % 2 || first == 0))
            found = (n % 2 ? middle : middle - 1) < below ? -0.0 : 0.0;
    }
    if (narrow)
        s->value.f32 = (float)found;
    else
        s->value.f64 = found;
}

PyObject *signals_median(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count,
                         PyObject *names)
{
    COLLET_FLOATING_SCOPE;
    direct x;
    int opened = count == 1 && !names ? direct_open(arguments[0], &x) : 0;
    if (opened < 1)
        return opened < 0 ? NULL : Py_NewRef(Py_None);
    collet_scalar s = {.dtype = x.spec.dtype};
    double *numbers = s.dtype == COLLET_F64 || s.dtype == COLLET_F32
                          ? malloc((size_t)x.size * sizeof *numbers)
                          : NULL;
    if (numbers)
        median_of(&x, numbers, &s);
    direct_close(&x);
    if (!numbers)
        Py_RETURN_NONE;
    free(numbers);
    return array_of_number(&s);
}

/* ---- Differences -------------------------------------------------------------------------- */

/* Opens the only argument, a vector of at least two elements. As direct_open. */
static int open_vector(PyObject *const *arguments, Py_ssize_t count, PyObject *names, direct *x)
{
    int opened = count == 1 && !names ? direct_open(arguments[0], x) : 0;
    if (opened < 1 || (x->spec.ndim == 1 && x->size > 1))
        return opened;
    direct_close(x);
    return 0;
}

static int has_differences(const direct *x)
{
    collet_dtype d = x->spec.dtype;
    return d == COLLET_F64 || d == COLLET_F32 || d == COLLET_I64 || d == COLLET_I32;
}

/* to[i] = from[i + distance] - from[i] for n elements; integers wrap. */
static void differences(const direct *x, void *to, int64_t distance, int64_t n)
{
    const void *from = x->data;
    for (int64_t i = 0; i < n; i++)
        switch (x->spec.dtype) {
        case COLLET_F64:
            ((double *)to)[i] = ((const double *)from)[i + distance] - ((const double *)from)[i];
            break;
        case COLLET_F32:
            ((float *)to)[i] = ((const float *)from)[i + distance] - ((const float *)from)[i];
            break;
        case COLLET_I64:
            ((uint64_t *)to)[i] = ((const uint64_t *)from)[i + distance] - ((const uint64_t *)from)[i];
            break;
        default:
            ((uint32_t *)to)[i] = ((const uint32_t *)from)[i + distance] - ((const uint32_t *)from)[i];
        }
}

PyObject *signals_diff(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count,
                       PyObject *names)
{
    COLLET_FLOATING_SCOPE;
    direct x, out;
    int made = open_vector(arguments, count, names, &x);
    if (made < 1)
        return made < 0 ? NULL : Py_NewRef(Py_None);
    int64_t n = x.size - 1;
    made = has_differences(&x) ? direct_make(&out, x.spec.dtype, 1, &n) : 0;
    if (made == 1)
        differences(&x, out.data, 1, n);
    direct_close(&x);
    return made < 0 ? NULL : made ? direct_finish(&out) : Py_NewRef(Py_None);
}

PyObject *signals_gradient(PyObject *Py_UNUSED(module), PyObject *const *arguments,
                           Py_ssize_t count, PyObject *names)
{
    COLLET_FLOATING_SCOPE;
    direct f, out;
    int made = open_vector(arguments, count, names, &f);
    if (made < 1)
        return made < 0 ? NULL : Py_NewRef(Py_None);
    made = f.spec.dtype == COLLET_F64 ? direct_make(&out, f.spec.dtype, 1, f.spec.shape) : 0;
    if (made == 1) {
        const double *y = numbers(&f);
        double *to = (double *)(void *)out.data;
        int64_t last = f.size - 1;
        differences(&f, to + 1, 2, last - 1);
        for (int64_t i = 1; i < last; i++)
            to[i] /= 2;
        to[0] = y[1] - y[0];
        to[last] = y[last] - y[last - 1];
    }
    direct_close(&f);
    return made < 0 ? NULL : made ? direct_finish(&out) : Py_NewRef(Py_None);
}
