/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/op/test_shared_memory.py */
#include "buffer.h"

#include <stdlib.h>

#include "array.h"
#include "dlpack.h"

typedef struct extents {
    versioned_tensor *tensor;                                    /* NULL: there are no elements */
    Py_ssize_t shape[COLLET_MAX_DIMS], strides[COLLET_MAX_DIMS]; /* strides in bytes */
} extents;

/* Format characters of Python's module struct, by dtype; NULL: the module has none for this dtype. */
static const char *const formats[COLLET_DTYPE_COUNT] = {
    [COLLET_BOOL] = "?", [COLLET_I8] = "b",   [COLLET_U8] = "B",  [COLLET_I16] = "h",
    [COLLET_U16] = "H",  [COLLET_I32] = "i",  [COLLET_U32] = "I", [COLLET_I64] = "l",
    [COLLET_U64] = "L",  [COLLET_F16] = "e",  [COLLET_F32] = "f", [COLLET_F64] = "d",
    [COLLET_C64] = "Zf", [COLLET_C128] = "Zd"};

static int fail(const char *message)
{
    PyErr_SetString(PyExc_BufferError, message);
    return -1;
}

static int is_of_form(const collet_array *a, int flags)
{
    if ((flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS)
        return array_is_dense(a, 0) || array_is_dense(a, 1);
    if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS)
        return array_is_dense(a, 1);
    if ((flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS ||
        (flags & PyBUF_STRIDES) != PyBUF_STRIDES)
        return array_is_dense(a, 0);
    return 1;
}

/* The memory of the elements; *address and *readonly describe it. NULL with an exception. */
static versioned_tensor *memory_of(PyObject *self, int flags, void **address, int *readonly)
{
    versioned_tensor *tensor = dlpack_share(self, NULL);
    if (!tensor)
        return NULL;
    *readonly = (tensor->flags & DLPACK_READ_ONLY) != 0;
    *address = (char *)tensor->tensor.data + tensor->tensor.byte_offset;
    if (tensor->tensor.device_type == DLPACK_CPU && !(*readonly && flags & PyBUF_WRITABLE))
        return tensor;
    fail(tensor->tensor.device_type == DLPACK_CPU
             ? "this collet.Array is read-only"
             : "the elements are on a device: share the memory of x.to_device('host')");
    tensor->deleter(tensor);
    return NULL;
}

static int get_buffer(PyObject *self, Py_buffer *view, int flags)
{
    static double nothing; /* Arrays without elements report this address */
    void *address = &nothing;
    int readonly = 0;
    view->obj = NULL;
    const collet_array *a = array_get(self);
    if (!a)
        return -1;
    const char *format = formats[collet_array_dtype(a)];
    if (!format)
        return fail("buffers have no bfloat16");
    if (!is_of_form(a, flags))
        return fail("the elements of this collet.Array do not follow each other: share a copy");
    extents *e = malloc(sizeof *e);
    if (!e) {
        PyErr_NoMemory();
        return -1;
    }
    e->tensor = NULL;
    if (collet_array_size(a) && !(e->tensor = memory_of(self, flags, &address, &readonly))) {
        free(e);
        return -1;
    }
    size_t size = collet_dtype_size(collet_array_dtype(a));
    for (int32_t i = 0; i < collet_array_ndim(a); i++) {
        e->shape[i] = (Py_ssize_t)collet_array_shape(a)[i];
        e->strides[i] = (Py_ssize_t)(collet_array_strides(a)[i] * (int64_t)size);
    }
    *view = (Py_buffer){.buf = address,
                        .obj = Py_NewRef(self),
                        .len = (Py_ssize_t)(collet_array_size(a) * (int64_t)size),
                        .itemsize = (Py_ssize_t)size,
                        .readonly = readonly,
                        .ndim = collet_array_ndim(a),
                        .format = flags & PyBUF_FORMAT ? (char *)(uintptr_t)format : NULL,
                        .shape = flags & PyBUF_ND ? e->shape : NULL,
                        .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? e->strides : NULL,
                        .internal = e};
    return 0;
}

static void release_buffer(PyObject *Py_UNUSED(self), Py_buffer *view)
{
    extents *e = view->internal;
    if (e->tensor)
        e->tensor->deleter(e->tensor);
    free(e);
}

const PyType_Slot buffer_slots[] = {
    {Py_bf_getbuffer, get_buffer}, {Py_bf_releasebuffer, release_buffer}, {0, NULL}};
