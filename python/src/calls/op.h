/* SPDX-License-Identifier: Apache-2.0 */
/* An op as a Python object, made from collet_ops_info: its names, parameters and text. */
#ifndef PYTHON_SRC_CALLS_OP_H
#define PYTHON_SRC_CALLS_OP_H

#include "compute.h"

#define OP_PARAMS CALL_PARAMS
#define OP_FIELDS 16 /* of a parameter block */

typedef struct op_field {
    PyObject *name;
    PyObject *choices;    /* a tuple of words; NULL: no CHOICE */
    collet_ops_field row; /* without its strings, which belong to a runtime */
} op_field;

typedef struct op_operand {
    PyObject *name;
    const char *text; /* of `name` */
    int optional;
    collet_dtype fixed; /* the only dtype of an input, beside inputs of several; 0: none */
} op_operand;

/* The last inference: the same inputs and parameters have the same outputs. */
typedef struct op_memory {
    uint64_t generation;                          /* 0: there is none */
    uint32_t absent;                              /* optional outputs that were absent */
    collet_array_spec specs[COLLET_MAX_OPERANDS]; /* outputs first */
    unsigned char params[OP_PARAMS];
} op_memory;

typedef struct op_object {
    PyObject_HEAD PyMethodDef method; /* of the function that calls the op */
    PyObject *name, *doc;
    PyObject
        *make; /* makes the result from a tuple of outputs; NULL: the only output is the result */
    uint64_t generation; /* of the runtime that `id` is of */
    uint32_t id, n_out, n_in, params_size, field_count;
    op_operand operands[COLLET_MAX_OPERANDS]; /* outputs first */
    op_field *fields;
    op_memory memory;
} op_object;

int op_add_type(PyObject *module);
int op_check(PyObject *object);

/* Finds the op in the current runtime, unless op->id belongs to it. 0, or -1 with an exception. */
int op_refresh(op_object *op);

/* A new op without its method; `make` may be NULL. NULL with an exception. */
op_object *op_new(PyObject *name, PyObject *doc, PyObject *make);

/* Functions of the module: the names of all ops, the description of one as a dict, and (call.c) the
 * function that calls it: (name, doc, make). */
PyObject *op_names(PyObject *module, PyObject *unused);
PyObject *op_describe(PyObject *module, PyObject *name);
PyObject *op_function(PyObject *module, PyObject *arguments);

/* Fills the parameter block by `values`: a value or NULL for each field of the op. `ndim` belongs
 * to input 0. 0, or -1 with an exception. */
int op_set_params(op_object *op, const collet_runtime *runtime, int32_t ndim,
                  PyObject *const *values, void *params);

/* `fill` of libcore rounds and saturates as `copy` does. In Python a value that the integers of the
 * output, of `dtype`, cannot hold is a DtypeError. 0, or -1 with an exception. */
int op_check_fill(const op_object *op, const void *params, PyObject *const *values,
                  collet_dtype dtype);

/* (call.c) The function of Arrays in the host's memory, for an op with one output, of `out`, and parameters, NULL if
 * it has none. The caller knows that it takes microseconds, and that nobody observes calls. */
PyObject *op_compute(op_object *op, const collet_array *const *in, const collet_array_spec *out,
                     const void *params);

/* (call.c) The function that Python calls by METH_FASTCALL; `self` is an op_object. */
PyObject *op_call(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords);
/* (call.c) The same as a part of a lazy evaluation; NotImplemented: the snapshot does not hold any more. */
PyObject *op_call_reading(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                          PyObject *keywords, const snapshot *reads);

#endif
