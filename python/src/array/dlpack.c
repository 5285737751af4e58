/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/op/test_dlpack.py, python/tests/op/test_shared_memory.py */
#include "dlpack.h"

#include <stdlib.h>

#include "array.h"
#include "src/base/error.h"
#include "src/base/runtime.h"
#include "src/base/work.h"

#define VERSIONED "dltensor_versioned"
#define UNVERSIONED "dltensor"

typedef struct unversioned_tensor unversioned_tensor;
struct unversioned_tensor {
    dl_tensor tensor;
    void *manager;
    void (*deleter)(unversioned_tensor *self);
};

/* ---- Export ------------------------------------------------------------------------------- */

/* Deletes the tensor of a capsule that no library has taken. */
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

static PyObject *capsule_of(versioned_tensor *tensor, int versioned)
{
    PyObject *capsule;
    if (!versioned)
        return unversioned_capsule(tensor);
    capsule = PyCapsule_New(tensor, VERSIONED, end_versioned);
    if (!capsule)
        tensor->deleter(tensor);
    return capsule;
}

typedef struct exporting {
    work work;
    PyObject *owner;  /* keeps the array alive */
    PyObject *device; /* keeps `name` alive; may be NULL */
    collet_array *array;
    const char *name; /* the device; NULL: the place where the elements are */
    int32_t access;
    versioned_tensor *tensor;
} exporting;

static collet_status run_exporting(work *w, collet_context *context)
{
    exporting *e = (exporting *)w;
    return collet_array_to_dlpack(context, e->array, &e->tensor, e->name, e->access);
}

static void drop_exporting(work *w)
{
    exporting *e = (exporting *)w;
    if (e->tensor)
        e->tensor->deleter(e->tensor);
    Py_DECREF(e->owner);
    Py_XDECREF(e->device);
    free(e);
}

/* Makes a tensor over the memory of an array; `owner` keeps the array alive. device: a string, or
 * NULL for the place where the bytes are. With the access COLLET_WRITE nothing else may use the array
 * until the tensor is deleted, and afterwards the bytes are valid only on that device. NULL with an
 * exception. */
static versioned_tensor *export(PyObject *owner, collet_array *array, PyObject *device,
                                int32_t access)
{
    versioned_tensor *tensor;
    exporting *e;
    const char *name = device ? runtime_name(device, "a device") : NULL;
    if (device && !name)
        return NULL;
    if (!device && collet_array_is_on_host(array)) {
        collet_context *context = runtime_context();
        if (!context)
            return NULL;
        return collet_array_to_dlpack(context, array, &tensor, NULL, access) == COLLET_OK
                   ? tensor
                   : runtime_raise(context);
    }
    e = calloc(1, sizeof *e);
    if (!e)
        return (versioned_tensor *)PyErr_NoMemory();
    *e = (exporting){.work = {.run = run_exporting,
                              .drop = drop_exporting,
                              .quick = !device && !runtime_waits()},
                     .owner = Py_NewRef(owner),
                     .device = Py_XNewRef(device),
                     .array = array,
                     .name = name,
                     .access = access};
    if (work_run(&e->work))
        return NULL;
    tensor = e->tensor;
    e->tensor = NULL;
    drop_exporting(&e->work);
    return tensor;
}

versioned_tensor *dlpack_share(PyObject *object, PyObject *device)
{
    collet_array *array = array_get(object);
    versioned_tensor *tensor = array ? export(object, array, device, COLLET_SHARE) : NULL;
    if (tensor && !array_get_written(object)) { /* computes nodes that wait to read it */
        tensor->deleter(tensor);
        return NULL;
    }
    return tensor;
}

/* ---- Import ------------------------------------------------------------------------------- */

static void delete_shim(versioned_tensor *self)
{
    unversioned_tensor *old = self->manager;
    if (old->deleter)
        old->deleter(old);
    free(self);
}

/* The tensor of a capsule, in the form of DLPack 1. */
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
    /* Old capsules do not say whether their memory may be written. Their memory is read-only here, as in NumPy,
     * because JAX makes such capsules of its immutable arrays. */
    *shim = (versioned_tensor){1, 0, old, delete_shim, DLPACK_READ_ONLY, old->tensor};
    return shim;
}

/* Makes an array of the tensor. NULL with an exception; then the tensor is still the caller's. */
static collet_array *import(versioned_tensor *tensor)
{
    collet_context *context = runtime_context();
    collet_array *array = NULL;
    collet_status status;
    if (!context)
        return NULL;
    PyThreadState *state = runtime_leave();
    status = collet_array_from_dlpack(context, &array, tensor);
    runtime_return(state);
    return status == COLLET_OK ? array : runtime_raise(context);
}

static collet_array *take(PyObject *capsule)
{
    versioned_tensor *tensor = tensor_of(capsule);
    collet_array *array = tensor ? import(tensor) : NULL;
    int shim = tensor && tensor->deleter == delete_shim;
    if (!array) {
        if (shim)
            free(tensor);
        return NULL;
    }
    if (PyCapsule_SetName(capsule, shim ? "used_" UNVERSIONED : "used_" VERSIONED)) {
        collet_array_destroy(array);
        return NULL;
    }
    return array;
}

static PyObject *from_capsule(PyObject *Py_UNUSED(module), PyObject *capsule)
{
    return array_new(take(capsule));
}

/* ---- Methods of Arrays -------------------------------------------------------------------- */

/* A method: (device or None, versioned, copied) -> capsule */
static PyObject *capsule(PyObject *self, PyObject *arguments)
{
    int versioned, copied;
    PyObject *device;
    versioned_tensor *tensor;
    collet_array *a = array_get(self);
    if (!a || !PyArg_ParseTuple(arguments, "Opp", &device, &versioned, &copied))
        return NULL;
    device = device == Py_None ? NULL : device;
    tensor = copied ? export(self, a, device, COLLET_WRITE) : dlpack_share(self, device);
    if (tensor && copied)
        tensor->flags |= DLPACK_IS_COPIED;
    /* Tensors on devices have the flag DLPACK_READ_ONLY too, although their Arrays can be written. They are exported
     * without a version too, because libraries older than DLPack 1 could not import them otherwise. */
    if (tensor && !versioned && tensor->flags & DLPACK_READ_ONLY &&
        tensor->tensor.device_type == DLPACK_CPU) {
        tensor->deleter(tensor);
        PyErr_SetString(
            PyExc_BufferError,
            "the Array is read-only, or repeats elements, which a capsule without a version "
            "cannot say: ask for max_version=(1, 0), or for copy=True");
        return NULL;
    }
    return tensor ? capsule_of(tensor, versioned) : NULL;
}

/* Exports the array to `device` (NULL: where it is) and deletes the tensor at once. Afterwards the bytes are there, and
 * the work on them has ended. 0, or -1 with an exception. */
static int visit(PyObject *self, PyObject *device, int32_t access, dl_tensor *found)
{
    collet_array *a = array_get(self);
    versioned_tensor *tensor = a ? export(self, a, device, access) : NULL;
    if (!tensor)
        return -1;
    *found = tensor->tensor;
    tensor->deleter(tensor);
    return 0;
}

static PyObject *place(PyObject *self, PyObject *Py_UNUSED(unused))
{
    dl_tensor found = {.device_type = DLPACK_CPU};
    const collet_array *a = array_get(self);
    return !a || (!collet_array_is_on_host(a) && visit(self, NULL, COLLET_READ, &found))
               ? NULL
               : Py_BuildValue("ii", (int)found.device_type, (int)found.device_id);
}

static PyObject *move_to(PyObject *self, PyObject *device)
{
    dl_tensor found;
    if (visit(self, device, COLLET_WRITE, &found))
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *host_memory(PyObject *self, PyObject *device)
{
    versioned_tensor *tensor = dlpack_share(self, device == Py_None ? NULL : device);
    if (!tensor)
        return NULL;
    if (tensor->tensor.device_type != DLPACK_CPU) {
        tensor->deleter(tensor);
        Py_RETURN_NONE;
    }
    PyObject *address = PyLong_FromVoidPtr(tensor->tensor.data);
    PyObject *is_readonly = PyBool_FromLong(tensor->flags & DLPACK_READ_ONLY);
    return Py_BuildValue("NNN", address, is_readonly, capsule_of(tensor, 1));
}

/* ---- Functions for C code of other libraries ----------------------------------------------- */

typedef void set_error(void *context, const char *kind, const char *message);

/* DLPackExchangeAPI. Its functions return 0, or -1 with an exception; `allocate` sets no exception, and any thread may
 * call it without the GIL. */
typedef struct exchange {
    uint32_t major, minor;
    struct exchange *previous;
    int (*allocate)(dl_tensor *like, versioned_tensor **out, void *context, set_error *error);
    int (*from_object)(void *object, versioned_tensor **out);
    int (*to_object)(versioned_tensor *tensor, void **object);
    int (*borrow)(void *object, dl_tensor *out);
    int (*stream)(int32_t device_type, int32_t device_id, void **out);
} exchange;

/* The name of a device: a new reference; NULL with an exception. */
static PyObject *device_name(int32_t type, int32_t id)
{
    if (type == DLPACK_CPU)
        return PyUnicode_FromString("host");
    if (type == DLPACK_CUDA || type == DLPACK_OPENCL)
        return PyUnicode_FromFormat("%s:%d", type == DLPACK_CUDA ? "cuda" : "opencl", (int)id);
    PyErr_Format(PyExc_BufferError,
                 "no backend has devices of DLPack's type %d; the host is 1, cuda 2, opencl 4",
                 (int)type);
    return NULL;
}

#define CODE_INT 0
#define CODE_UINT 1
#define CODE_FLOAT 2
#define CODE_BFLOAT 4
#define CODE_COMPLEX 5
#define CODE_BOOL 6

static collet_dtype dtype_of(const dl_tensor *t)
{
#define TYPE(NAME, id, bytes, text, letter, type, kind, ...) [id] = {CODE_##kind, 8 * bytes},
    static const struct {
        uint8_t code, bits;
    } types[COLLET_DTYPE_COUNT] = {COLLET_DTYPE_LIST(TYPE)};
#undef TYPE
    for (collet_dtype d = 1; d < COLLET_DTYPE_COUNT; d++)
        if (types[d].code == t->code && types[d].bits == t->bits && t->lanes == 1)
            return d;
    PyErr_Format(PyExc_BufferError,
                 "Collet has no dtype for DLPack's code %d with %d bits and %d lanes", t->code,
                 t->bits, t->lanes);
    return COLLET_DTYPE_NONE;
}

static versioned_tensor *allocated(const dl_tensor *like)
{
    collet_array *array;
    versioned_tensor *tensor = NULL;
    collet_context *context = runtime_context();
    collet_dtype dtype = context ? dtype_of(like) : COLLET_DTYPE_NONE;
    PyObject *owner = NULL;
    PyObject *device = dtype ? device_name(like->device_type, like->device_id) : NULL;
    if (!device)
        return NULL;
    if (collet_array_create(context, &array, dtype, like->ndim, like->shape) != COLLET_OK)
        runtime_raise(context);
    else
        owner = array_new(array);
    if (owner)
        tensor = export(owner, array, device, COLLET_WRITE);
    Py_XDECREF(owner);
    Py_DECREF(device);
    if (tensor)
        tensor->flags |= DLPACK_IS_COPIED;
    return tensor;
}

/* Passes the exception to `error`, and clears it. */
static void tell(void *context, set_error *error)
{
    PyObject *type, *value, *trace, *kind, *text;
    const char *name, *message;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    kind = type ? PyObject_GetAttrString(type, "__name__") : NULL;
    text = value ? PyObject_Str(value) : NULL;
    name = kind ? PyUnicode_AsUTF8AndSize(kind, NULL) : NULL;
    message = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    PyErr_Clear();
    error(context, name ? name : "BufferError", message ? message : "no memory for a tensor");
    Py_XDECREF(kind);
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

static int allocate(dl_tensor *like, versioned_tensor **out, void *context, set_error *error)
{
    PyGILState_STATE state = PyGILState_Ensure();
    *out = allocated(like);
    if (!*out)
        tell(context, error);
    PyGILState_Release(state);
    return *out ? 0 : -1;
}

static collet_array *array_of(PyObject *object)
{
    if (array_check(object))
        return array_get(object);
    PyErr_Format(PyExc_TypeError, "%R is no collet.Array", (PyObject *)Py_TYPE(object));
    return NULL;
}

static int from_object(void *object, versioned_tensor **out)
{
    *out = array_of(object) ? dlpack_share(object, NULL) : NULL;
    return *out ? 0 : -1;
}

/* Takes over the tensor, also on failure. */
static int to_object(versioned_tensor *tensor, void **object)
{
    collet_array *array = import(tensor);
    *object = array ? array_new(array) : NULL;
    if (!array && tensor->deleter) { /* the deleter may run Python code */
        PyObject *type, *value, *trace;
        PyErr_Fetch(&type, &value, &trace);
        tensor->deleter(tensor);
        PyErr_Restore(type, value, trace);
    }
    return *object ? 0 : -1;
}

/* The tensor is deleted at once. So *out gets pointers to the shape and the strides of the array, which exists as long
 * as the object. */
static int borrow(void *object, dl_tensor *out)
{
    collet_array *array = array_of(object);
    versioned_tensor *tensor = array ? dlpack_share(object, NULL) : NULL;
    if (!tensor)
        return -1;
    *out = tensor->tensor;
    out->shape = (int64_t *)(uintptr_t)collet_array_shape(array);
    out->strides = (int64_t *)(uintptr_t)collet_array_strides(array);
    tensor->deleter(tensor);
    return 0;
}

static int stream(int32_t type, int32_t id, void **out)
{
    collet_context *context;
    collet_status status;
    PyObject *device;
    *out = NULL;
    if (type == DLPACK_CPU)
        return 0;
    device = device_name(type, id);
    context = device ? runtime_context() : NULL;
    if (!context) {
        Py_XDECREF(device);
        return -1;
    }
    const char *name = runtime_name(device, "a device");
    PyThreadState *state = runtime_leave();
    status = collet_native_queue(context, out, name);
    runtime_return(state);
    Py_DECREF(device);
    if (status == COLLET_OK)
        return 0;
    runtime_raise(context);
    return -1;
}

/* ---- The type ----------------------------------------------------------------------------- */

int dlpack_add(PyObject *module)
{
    static exchange table = {1, 3, NULL, allocate, from_object, to_object, borrow, stream};
    static PyMethodDef methods[] = {
        {"_capsule", capsule, METH_VARARGS, "DLPack: device or None, versioned, copied."},
        {"_move", move_to, METH_O, "Makes the bytes valid in the memory of a device alone."},
        {"_memory", host_memory, METH_O,
         "Shares the memory where the bytes are (None) or the host's (\"host\"): returns the "
         "address of the "
         "first element, whether the memory is read-only, and a capsule that keeps it. None if the "
         "bytes "
         "are on a device."},
        {"_place", place, METH_NOARGS, "Where the bytes are: type and number, as in DLPack."}};
    static PyMethodDef function[] = {{"from_capsule", from_capsule, METH_O, NULL},
                                     {NULL, NULL, 0, NULL}};
    PyObject *type = PyObject_GetAttrString(module, "Array");
    PyObject *api = type ? PyCapsule_New(&table, "dlpack_exchange_api", NULL) : NULL;
    int failed = !api || PyObject_SetAttrString(type, "__dlpack_c_exchange_api__", api) ||
                 PyModule_AddFunctions(module, function);
    for (size_t i = 0; !failed && i < sizeof methods / sizeof *methods; i++)
        failed = array_add_method(&methods[i]);
    Py_XDECREF(api);
    Py_XDECREF(type);
    return failed ? -1 : 0;
}
