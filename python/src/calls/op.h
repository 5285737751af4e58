/* SPDX-License-Identifier: Apache-2.0 */
/* An op as a Python object, made from collet_ops_info: its names, parameters and text. */
#pragma once

#include "compute.h"

#define OP_PARAMS CALL_PARAMS
#define OP_FIELDS 16 /* maximum number of fields of a parameter block */

typedef struct op_field {
    PyObject *name;
    PyObject *choices;    /* a tuple of words; NULL: the field is no CHOICE */
    collet_ops_field row; /* its strings are not used: they belong to a runtime */
} op_field;

typedef struct op_operand {
    PyObject *name;
    const char *text; /* the characters of `name` */
    int optional;
    collet_dtype fixed; /* the dtype of an input that allows only one dtype, if other inputs allow several; else 0 */
} op_operand;

/* What collet_ops_infer returned last for the op. A call whose inputs have the same dtypes and shapes, with the same
 * parameters, uses it again. */
typedef struct op_memory {
    uint64_t generation;                          /* 0: there is none */
    uint32_t absent;                              /* a bit for each optional output that was absent */
    collet_array_spec specs[COLLET_MAX_OPERANDS]; /* outputs, then inputs */
    unsigned char params[OP_PARAMS];
} op_memory;

typedef struct op_object {
    PyObject_HEAD PyMethodDef method; /* the definition of the Python function that calls the op */
    PyObject *name, *doc;
    PyObject
        *make; /* makes the result from a tuple of outputs; NULL: the only output is the result */
    uint64_t generation; /* the generation of the runtime to which `id` belongs */
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

/* Functions of the module. op_names: the names of all ops. op_describe: the description of an op, as a
 * dict. op_function (call.c): makes the function that calls an op, from (name, doc, make). */
PyObject *op_names(PyObject *module, PyObject *unused);
PyObject *op_describe(PyObject *module, PyObject *name);
PyObject *op_function(PyObject *module, PyObject *arguments);

/* Fills the parameter block from `values`: a value or NULL for each field of the op. `ndim`: the number
 * of axes of the first input. 0, or -1 with an exception. */
int op_set_params(op_object *op, const collet_runtime *runtime, int32_t ndim,
                  PyObject *const *values, void *params);

/* For the op `fill`: raises DtypeError for a value that integers of the output's `dtype` cannot hold, which libcore
 * would round and saturate as `copy` does. 0, or -1 with an exception. */
int op_check_fill(const op_object *op, const void *params, PyObject *const *values,
                  collet_dtype dtype);

/* (call.c) Computes an op with one output on arrays in the host's memory, keeping the GIL; returns a new Array. out:
 * dtype and shape of the output; params: the parameter block, or NULL if the op has none. The caller knows that the
 * call takes microseconds, and that no observer is set. NULL with an exception. */
PyObject *op_compute(op_object *op, const collet_array *const *in, const collet_array_spec *out,
                     const void *params);

/* (call.c) The function that Python calls by METH_FASTCALL; `self` is an op_object. */
PyObject *op_call(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords);
/* (call.c) op_call as a part of a lazy evaluation. NotImplemented: memory of `reads` was written since the snapshot. */
PyObject *op_call_reading(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                          PyObject *keywords, const snapshot *reads);
