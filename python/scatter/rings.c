/* SPDX-License-Identifier: Apache-2.0 */
/* Integration over rings of q. `rings`: (flat, Y, X, voxel, (x, y, z), (x, y, z) of the
 * detector, wedge).
 * Tests: python/tests/test_scatter.py */
#include "bound.h"

#define RINGS "(pLLd(ddd)(ddd)d)"
#define RINGS_PLACES(r, flat, y, x)                                                                \
    flat, y, x, &(r)->voxel, &(r)->direction[0], &(r)->direction[1], &(r)->direction[2],           \
        &(r)->detector[0], &(r)->detector[1], &(r)->detector[2], &(r)->wedge

static void make_rings(collet_scattering_rings *rings, int flat, long long y, long long x)
{
    rings->struct_size = sizeof *rings;
    rings->flat = (uint32_t)flat;
    rings->y = y;
    rings->x = x;
}

/* (rings): q of the rings, f64. */
PyObject *rings_q(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    collet_scattering_rings rings = {0};
    collet_error err;
    long long y, x;
    int64_t count;
    int flat;
    void *q;
    if (!PyArg_ParseTuple(arguments, RINGS, RINGS_PLACES(&rings, &flat, &y, &x)))
        return NULL;
    make_rings(&rings, flat, y, x);
    collet_status status = collet_scattering_rings_q(&rings, &count, NULL, &err);
    if (status != COLLET_OK)
        return bound->raise(status, err.text);
    PyObject *array = bound->numpy_new(COLLET_F64, 1, &count, &q);
    if (array)
        collet_scattering_rings_q(&rings, &count, q, NULL);
    return array;
}

static PyObject *integrate(const collet_scattering_rings *rings, int64_t count, double energy,
                           collet_dtype dtype, const void *values)
{
    collet_scattering_integrals out = {.struct_size = sizeof out};
    float **places[] = {&out.polar, &out.mean, &out.parallel, &out.perpendicular, &out.anisotropy};
    PyObject *tuple = PyTuple_New(5);
    collet_error err;
    for (int i = 0; tuple && i < 5; i++) {
        const int64_t shape[] = {COLLET_SCATTERING_CHI, count};
        void *data;
        PyObject *array = i == 0 ? bound->numpy_new(COLLET_F32, 2, shape, &data)
                                 : bound->numpy_new(COLLET_F32, 1, shape + 1, &data);
        if (!array || PyTuple_SetItem(tuple, i, array)) {
            Py_DECREF(tuple);
            return NULL;
        }
        *places[i] = data;
    }
    if (!tuple)
        return NULL;
    PyThreadState *state = bound->leave();
    collet_status status = collet_scattering_integrate(rings, &out, energy, dtype, values, &err);
    bound->back(state);
    if (status == COLLET_OK)
        return tuple;
    Py_DECREF(tuple);
    return bound->raise(status, err.text);
}

/* (rings, energy, wide, values): (polar, mean, parallel, perpendicular, anisotropy), f32. */
PyObject *rings_integrate(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    collet_scattering_rings rings = {0};
    bound_memory values;
    collet_error err;
    PyObject *object, *result;
    double energy;
    long long y, x;
    int64_t count;
    int flat, wide;
    if (!PyArg_ParseTuple(arguments, RINGS "dpO", RINGS_PLACES(&rings, &flat, &y, &x), &energy,
                          &wide, &object))
        return NULL;
    make_rings(&rings, flat, y, x);
    collet_dtype dtype = wide ? COLLET_F64 : COLLET_F32;
    collet_status status = collet_scattering_rings_q(&rings, &count, NULL, &err);
    if (status != COLLET_OK)
        return bound->raise(status, err.text);
    collet_context *context = bound->context();
    if (!context || bound_acquire(&values, context, object, dtype, y * x, "values"))
        return NULL;
    result = integrate(&rings, count, energy, dtype, values.data);
    bound_release(&values, context);
    return result;
}
