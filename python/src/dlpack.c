/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/test_array.py */
#include "dlpack.h"

#include <stdlib.h>

#include "runtime.h"
#include "work.h"

#define VERSIONED "dltensor_versioned"
#define UNVERSIONED "dltensor"

/* https://dmlc.github.io/dlpack/latest/c_api.html */
typedef struct dl_tensor {
    void *data;
    int32_t device_type, device_id;
    int32_t ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} dl_tensor;

typedef struct DLManagedTensorVersioned versioned_tensor;
struct DLManagedTensorVersioned {
    uint32_t major, minor;
    void *manager;
    void (*deleter)(versioned_tensor *self);
    uint64_t flags;
    dl_tensor tensor;
};

typedef struct unversioned_tensor unversioned_tensor;
struct unversioned_tensor {
    dl_tensor tensor;
    void *manager;
    void (*deleter)(unversioned_tensor *self);
};

/* ---- Out ---------------------------------------------------------------------------------- */

/* A capsule that nobody used. */
static void end_versioned(PyObject *capsule)
{
    versioned_tensor *t =
        PyCapsule_IsValid(capsule, VERSIONED) ? PyCapsule_GetPointer(capsule, VERSIONED) : NULL;
    if (t)
        t->deleter(t);
}

static void end_unversioned(PyObject *capsule)
{
    unversioned_tensor *t =
        PyCapsule_IsValid(capsule, UNVERSIONED) ? PyCapsule_GetPointer(capsule, UNVERSIONED) : NULL;
    if (t)
        t->deleter(t);
}

static void delete_unversioned(unversioned_tensor *self)
{
    versioned_tensor *t = self->manager;
    t->deleter(t);
    free(self);
}

static PyObject *unversioned_capsule(versioned_tensor *t)
{
    unversioned_tensor *old = malloc(sizeof *old);
    PyObject *capsule;
    if (!old) {
        t->deleter(t);
        return PyErr_NoMemory();
    }
    *old = (unversioned_tensor){t->tensor, t, delete_unversioned};
    capsule = PyCapsule_New(old, UNVERSIONED, end_unversioned);
    if (!capsule)
        delete_unversioned(old);
    return capsule;
}

typedef struct exporting {
    work work;
    PyObject *owner; /* of the array */
    collet_array *array;
    int host; /* else: where the elements are */
    versioned_tensor *tensor;
} exporting;

static collet_status run_exporting(work *w, collet_context *context)
{
    exporting *e = (exporting *)w;
    return collet_array_to_dlpack(context, e->array, &e->tensor, e->host ? "host" : NULL,
                                  COLLET_READ);
}

static void drop_exporting(work *w)
{
    exporting *e = (exporting *)w;
    if (e->tensor)
        e->tensor->deleter(e->tensor);
    Py_DECREF(e->owner);
    free(e);
}

static versioned_tensor *export(PyObject *owner, collet_array *array, int host)
{
    versioned_tensor *tensor;
    exporting *e = calloc(1, sizeof *e);
    if (!e)
        return (versioned_tensor *)PyErr_NoMemory();
    *e = (exporting){
        .work = {.run = run_exporting, .drop = drop_exporting, .quick = !runtime_waits()},
        .owner = Py_NewRef(owner),
        .array = array,
        .host = host};
    if (work_run(&e->work))
        return NULL;
    tensor = e->tensor;
    e->tensor = NULL;
    drop_exporting(&e->work);
    return tensor;
}

PyObject *dlpack_capsule(PyObject *owner, collet_array *array, int host, int versioned)
{
    versioned_tensor *tensor = export(owner, array, host);
    PyObject *capsule;
    if (!tensor)
        return NULL;
    if (!versioned)
        return unversioned_capsule(tensor);
    capsule = PyCapsule_New(tensor, VERSIONED, end_versioned);
    if (!capsule)
        tensor->deleter(tensor);
    return capsule;
}

int dlpack_place(PyObject *owner, collet_array *array, int32_t *type, int32_t *id)
{
    versioned_tensor *tensor = export(owner, array, 0);
    if (!tensor)
        return -1;
    *type = tensor->tensor.device_type;
    *id = tensor->tensor.device_id;
    tensor->deleter(tensor);
    return 0;
}

/* ---- In ----------------------------------------------------------------------------------- */

static void delete_shim(versioned_tensor *self)
{
    unversioned_tensor *old = self->manager;
    if (old->deleter)
        old->deleter(old);
    free(self);
}

/* The tensor of a capsule, as one of DLPack 1. */
static versioned_tensor *tensor_of(PyObject *capsule)
{
    versioned_tensor *shim;
    unversioned_tensor *old;
    if (PyCapsule_IsValid(capsule, VERSIONED))
        return PyCapsule_GetPointer(capsule, VERSIONED);
    if (!PyCapsule_IsValid(capsule, UNVERSIONED)) {
        PyErr_SetString(PyExc_TypeError, "no unused capsule of DLPack");
        return NULL;
    }
    old = PyCapsule_GetPointer(capsule, UNVERSIONED);
    shim = malloc(sizeof *shim);
    if (!shim)
        return (versioned_tensor *)PyErr_NoMemory();
    *shim = (versioned_tensor){1, 0, old, delete_shim, 0, old->tensor};
    return shim;
}

collet_array *dlpack_take(PyObject *capsule)
{
    collet_context *context = runtime_context();
    versioned_tensor *tensor = context ? tensor_of(capsule) : NULL;
    collet_array *array = NULL;
    collet_status status;
    if (!tensor)
        return NULL;
    PyThreadState *state = runtime_leave();
    status = collet_array_from_dlpack(context, &array, tensor);
    runtime_return(state);
    if (status != COLLET_OK) {
        if (tensor->deleter == delete_shim)
            free(tensor);
        return runtime_raise(context);
    }
    if (PyCapsule_SetName(capsule, tensor->deleter == delete_shim ? "used_" UNVERSIONED
                                                                  : "used_" VERSIONED)) {
        collet_array_destroy(array);
        return NULL;
    }
    return array;
}
