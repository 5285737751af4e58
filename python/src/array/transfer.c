/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/test_array.py */
#include "transfer.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "capture.h"
#include "src/base/numpy.h"
#include "src/base/runtime.h"
#include "src/base/work.h"

#define LONG_COPY (64 << 20)   /* bytes whose copy takes longer than 10 ms */
#define SHORT_COPY (256 << 10) /* bytes whose copy takes at most some ten microseconds */

typedef struct moving {
    work work;
    PyObject *array, *owner; /* the Array of `value`, and the owner of `data` */
    const lazy_value *value;
    void *data; /* memory, or the name of a device */
    size_t bytes;
} moving;

static collet_status run_reading(work *w, collet_context *context)
{
    moving *m = (moving *)w;
    return collet_array_read(context, m->value->array, m->data, m->bytes);
}

static collet_status run_writing(work *w, collet_context *context)
{
    moving *m = (moving *)w;
    return collet_array_write(context, m->value->array, m->data, m->bytes);
}

static collet_status run_prefetching(work *w, collet_context *context)
{
    moving *m = (moving *)w;
    return collet_array_prefetch(context, m->value->array, m->data);
}

static void drop_moving(work *w)
{
    moving *m = (moving *)w;
    Py_DECREF(m->array);
    Py_DECREF(m->owner);
    free(m);
}

static size_t bytes_of(const collet_array *a)
{
    return (size_t)collet_array_size(a) * collet_dtype_size(collet_array_dtype(a));
}

/* Calls `run` to copy the elements to or from `data`, memory of `owner`. 0, or -1 with an
   exception. */
static int move(PyObject *self, PyObject *owner, void *data, size_t bytes,
                collet_status (*run)(work *, collet_context *))
{
    moving *m = calloc(1, sizeof *m);
    if (!m) {
        PyErr_NoMemory();
        return -1;
    }
    lazy_value *value = array_value(self);
    *m = (moving){
        .work = {.run = run,
                 .drop = drop_moving,
                 .quick = bytes <= LONG_COPY && (!runtime_waits() || collet_array_is_on_host(value->array))},
        .array = Py_NewRef(self),
        .value = value,
        .owner = Py_NewRef(owner),
        .data = data,
        .bytes = bytes};
    if (work_run(&m->work))
        return -1;
    drop_moving(&m->work);
    return 0;
}

/* Copies the elements to `data`, memory of `owner`. 0, or -1 with an exception. */
static int read_elements(PyObject *self, PyObject *owner, void *data)
{
    collet_array *a = array_get(self);
    size_t bytes = a ? bytes_of(a) : 0;
    const void *from = a && bytes <= SHORT_COPY && array_is_dense(a, 0)
                           ? collet_array_host_address(a, COLLET_READ)
                           : NULL;
    capture_fail();
    if (from)
        memcpy(data, from, bytes);
    return from ? 0 : a ? move(self, owner, data, bytes, run_reading) : -1;
}

static PyObject *to_numpy(PyObject *self, PyObject *Py_UNUSED(unused))
{
    collet_array *a = array_get(self);
    PyObject *array;
    numpy_view view;
    if (!a)
        return NULL;
    array = numpy_empty(collet_array_dtype(a), collet_array_ndim(a), collet_array_shape(a));
    if (array && (numpy_view_of(array, "the array", &view) || read_elements(self, array, view.data)))
        Py_CLEAR(array);
    return array;
}

PyObject *transfer_bytes(PyObject *self, PyObject *Py_UNUSED(unused))
{
    collet_array *a = array_get(self);
    PyObject *bytes;
    if (!a)
        return NULL;
    bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)bytes_of(a));
    if (bytes && read_elements(self, bytes, PyBytes_AsString(bytes)))
        Py_CLEAR(bytes);
    return bytes;
}

static PyObject *write_bytes(PyObject *self, PyObject *bytes)
{
    char *source;
    Py_ssize_t size;
    if (!array_get_written(self) || PyBytes_AsStringAndSize(bytes, &source, &size) ||
        move(self, bytes, source, (size_t)size, run_writing))
        return NULL;
    Py_RETURN_NONE;
}

/* `bytes` is SIZE_MAX, so that the work is interruptible: it may open the device. */
static PyObject *prefetch(PyObject *self, PyObject *device)
{
    const char *name = array_get(self) ? runtime_name(device, "a device") : NULL;
    if (!name || move(self, device, (void *)(uintptr_t)name, SIZE_MAX, run_prefetching))
        return NULL;
    Py_RETURN_NONE;
}

int transfer_add(void)
{
    static PyMethodDef methods[] = {
        {"_bytes", transfer_bytes, METH_NOARGS, "The elements as bytes, in C order."},
        {"_write", write_bytes, METH_O, "Sets the elements by bytes, in C order."},
        {"prefetch", prefetch, METH_O,
         "prefetch($self, device, /)\n--\n\n"
         "Copies the elements to a device, such as \"cuda:0\", or to the \"host\", unless they are there. The next "
         "use there needs no copy. A copy to a device goes on after the call.\n\n"
         ">>> collet.asarray([1.0, 2]).prefetch(\"host\")"},
        {"to_numpy", to_numpy, METH_NOARGS,
         "to_numpy($self)\n--\n\n"
         "A NumPy array with a copy of the elements, after the work that computes them.\n\n"
         ">>> collet.asarray([1, 2]).to_numpy()\narray([1, 2])"}};
    int failed = 0;
    for (size_t i = 0; !failed && i < sizeof methods / sizeof *methods; i++)
        failed = array_add_method(&methods[i]);
    return failed;
}
