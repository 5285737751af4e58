/* SPDX-License-Identifier: Apache-2.0 */
/* One operand of a call: an Array, memory of a NumPy array, or a number. */
#pragma once

#include "src/base/numpy.h"

typedef struct operand {
    collet_array *array;   /* the array for collet_call; NULL: absent, or not wrapped yet */
    PyObject *object;      /* a reference to the NumPy array or Array; NULL: none */
    collet_array *wrapped; /* the same as `array` if the operand owns it, else NULL */
    int host;              /* 1: the operand is in the memory of `view`; 0: it is an Array */
    int absent;            /* 1: an output that is not needed */
    numpy_view view;       /* of an operand that is an Array, only `spec` is set */
    _Alignas(16) unsigned char number[16];
} operand;

/* Initialises an operand; afterwards operand_clear is allowed. */
void operand_start(operand *o);

/* Takes an input: an Array, a NumPy array, or anything that numpy.asarray takes. A Python number gets
 * the dtype `like` (0: NumPy's dtype). Errors call the operand `name`. 0, or -1 with an exception. With the GIL. */
int operand_input(operand *o, PyObject *object, const char *name, collet_dtype like);

/* Takes an output that the caller gave: an Array, or a writable NumPy array whose layout libcore supports. */
int operand_output(operand *o, PyObject *object, const char *name);

/* Finds the order of the axes in memory, the outermost first, that all inputs with the shape of `spec` have. An
 * elementwise function is one pass over memory if its outputs have the same order. Returns 1; or 0 if the orders
 * differ, or if the order is C order.
 */
int operand_order(const operand *inputs, uint32_t count, const collet_array_spec *spec,
                  int32_t order[COLLET_MAX_DIMS]);

/* Makes a new output with the dtype and shape of o->view.spec: an Array if `device` is 1, else a NumPy array. `order`:
 * the order of its axes in memory; NULL: C order. */
int operand_make(operand *o, collet_context *context, int device, const int32_t *order);

/* Makes o->array from the memory of `view`, if the operand is no Array. The GIL is not needed. */
collet_status operand_wrap(operand *o, collet_context *context, uint32_t flags);
/* Waits, after a call on a device, until the memory of an output has its values. */
collet_status operand_fetch(operand *o, collet_context *context);
/* Frees the array of operand_wrap, which may wait. The GIL is not needed. */
void operand_unwrap(operand *o);

/* Drops the reference to the object. */
void operand_clear(operand *o);
