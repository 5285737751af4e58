/* SPDX-License-Identifier: Apache-2.0 */
/* Integration over rings of q. An argument `rings` means seven arguments: flat, Y, X, voxel, the direction (x, y,
 * z) of the beam, the normal (x, y, z) of the detector, wedge.
 * Tests: python/tests/test_scatter.py */
#include "bound.h"

#define RINGS "(pLLd(ddd)(ddd)d)"
#define RINGS_PLACES(r, flat, y, x)                                                                \
    flat, y, x, &(r)->voxel, &(r)->direction[0], &(r)->direction[1], &(r)->direction[2],           \
        &(r)->detector[0], &(r)->detector[1], &(r)->detector[2], &(r)->wedge

static void make_rings(collet_scatter_rings *rings, int flat, long long y, long long x)
{
    rings->struct_size = sizeof *rings;
    rings->flat = (uint32_t)flat;
    rings->y = y;
    rings->x = x;
}

/* Takes the arguments (rings). Returns the q of each ring, in f64. */
PyObject *rings_q(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    collet_scatter_rings rings = {0};
    collet_error err;
    long long y, x;
    int64_t count;
    int flat;
    void *q;
    if (!PyArg_ParseTuple(arguments, RINGS, RINGS_PLACES(&rings, &flat, &y, &x)))
        return NULL;
    make_rings(&rings, flat, y, x);
    collet_status status = collet_scatter_rings_q(&rings, &count, NULL, &err);
    if (status != COLLET_OK)
        return bound->raise(status, err.text);
    PyObject *array = bound->numpy_new(COLLET_F64, 1, &count, &q);
    if (array)
        collet_scatter_rings_q(&rings, &count, q, NULL);
    return array;
}

static PyObject *integrate(const collet_scatter_rings *rings, int64_t count, double energy,
                           collet_dtype dtype, const void *values, int double_precision)
{
    collet_scatter_integrals out = {.struct_size = sizeof out,
                                    .wide = (uint32_t)double_precision};
    void **places[] = {&out.polar, &out.mean, &out.parallel, &out.perpendicular, &out.anisotropy};
    collet_dtype to = double_precision ? COLLET_F64 : COLLET_F32;
    PyObject *tuple = PyTuple_New(5);
    collet_error err;
    for (int i = 0; tuple && i < 5; i++) {
        const int64_t shape[] = {COLLET_SCATTER_CHI, count};
        PyObject *array = i == 0 ? bound->numpy_new(to, 2, shape, places[i])
                                 : bound->numpy_new(to, 1, shape + 1, places[i]);
        if (!array || PyTuple_SetItem(tuple, i, array)) {
            Py_DECREF(tuple);
            return NULL;
        }
    }
    if (!tuple)
        return NULL;
    PyThreadState *state = bound->leave();
    collet_status status = collet_scatter_integrate(rings, &out, energy, dtype, values, &err);
    bound->back(state);
    if (status == COLLET_OK)
        return tuple;
    Py_DECREF(tuple);
    return bound->raise(status, err.text);
}

/* The arguments of a call that is about one pattern. */
typedef struct pattern_call {
    collet_scatter_rings rings;
    double energy;
    int64_t count; /* number of rings */
    collet_dtype dtype;
    collet_context *context;
    bound_memory values;
} pattern_call;

/* Takes the arguments (rings, energy, wide, values, more). 0; or -1 with an exception, and then nothing is to be
 * released. */
static int take_pattern(pattern_call *c, PyObject *arguments, PyObject **more)
{
    collet_error err;
    PyObject *object;
    long long y, x;
    int flat, wide;
    *c = (pattern_call){.count = 0};
    if (!PyArg_ParseTuple(arguments, RINGS "dpOO", RINGS_PLACES(&c->rings, &flat, &y, &x),
                          &c->energy, &wide, &object, more))
        return -1;
    make_rings(&c->rings, flat, y, x);
    c->dtype = wide ? COLLET_F64 : COLLET_F32;
    collet_status status = collet_scatter_rings_q(&c->rings, &c->count, NULL, &err);
    if (status != COLLET_OK) {
        bound->raise(status, err.text);
        return -1;
    }
    c->context = bound->context();
    return c->context ? bound_acquire(&c->values, c->context, object, c->dtype, y * x, "values")
                      : -1;
}

/* Arguments (rings, energy, wide, values, whether results are f64). Returns (polar, mean, parallel, perpendicular,
 * anisotropy). */
PyObject *rings_integrate(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    pattern_call c;
    PyObject *flag;
    if (take_pattern(&c, arguments, &flag))
        return NULL;
    PyObject *result =
        integrate(&c.rings, c.count, c.energy, c.dtype, c.values.data, flag == Py_True);
    bound_release(&c.values, c.context);
    return result;
}

/* Arguments (rings, energy, wide, values, five f64 cotangents or None). Returns dL / dvalues. */
PyObject *rings_adjoint(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    static const char *const names[] = {"polar", "mean", "parallel", "perpendicular", "anisotropy"};
    collet_scatter_integrals in = {.struct_size = sizeof in, .wide = 1};
    void **places[] = {&in.polar, &in.mean, &in.parallel, &in.perpendicular, &in.anisotropy};
    bound_memory held[5] = {{0}};
    pattern_call c;
    PyObject *list, *result = NULL;
    collet_error err;
    void *out;
    if (take_pattern(&c, arguments, &list))
        return NULL;
    int failed = 0;
    for (int i = 0; i < 5 && !failed; i++) {
        PyObject *object = PyTuple_GetItem(list, i);
        failed = !object;
        if (failed || object == Py_None)
            continue;
        failed = bound_acquire(&held[i], c.context, object, COLLET_F64,
                               c.count * (i ? 1 : COLLET_SCATTER_CHI), names[i]);
        *places[i] = (void *)(uintptr_t)held[i].data;
    }
    const int64_t shape[] = {c.rings.y, c.rings.x};
    if (!failed)
        result = bound->numpy_new(c.dtype, 2, shape, &out);
    if (result) {
        PyThreadState *state = bound->leave();
        collet_status status = collet_scatter_integrate_adjoint(&c.rings, &in, c.energy, c.dtype,
                                                                c.values.data, out, &err);
        bound->back(state);
        if (status != COLLET_OK) {
            Py_CLEAR(result);
            bound->raise(status, err.text);
        }
    }
    for (int i = 0; i < 5; i++)
        bound_release(&held[i], c.context);
    bound_release(&c.values, c.context);
    return result;
}
