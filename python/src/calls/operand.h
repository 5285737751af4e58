/* SPDX-License-Identifier: Apache-2.0 */
/* One operand of a call: an Array, memory of a NumPy array, or a number. */
#ifndef PYTHON_SRC_CALLS_OPERAND_H
#define PYTHON_SRC_CALLS_OPERAND_H

#include "src/base/numpy.h"

typedef struct operand {
    collet_array *array;   /* what collet_call gets; NULL: absent, or not wrapped yet */
    PyObject *object;      /* a reference to the NumPy array or Array; NULL: none */
    collet_array *wrapped; /* `array`, where the operand owns it */
    int host;              /* 1: memory of `view` */
    int absent;            /* 1: an output that is not needed */
    numpy_view view;       /* of an Array its spec alone */
    _Alignas(16) unsigned char number[16];
} operand;

/* Initialises an operand for the other functions; operand_clear may follow. */
void operand_start(operand *o);

/* An input: an Array, a NumPy array, or any argument of numpy.asarray. A Python number gets the
 * dtype `like` (0: NumPy's). `name` is for errors. 0, or -1 with an exception. With the GIL. */
int operand_input(operand *o, PyObject *object, const char *name, collet_dtype like);

/* An output that the caller gave: an Array, or a writable NumPy array whose layout can be used. */
int operand_output(operand *o, PyObject *object, const char *name);

/*
 * The common order of the axes in memory, the outermost first, of all inputs with the shape of `spec`. An
 * elementwise function is one pass over memory if its outputs have the same order. 0: the orders differ, or
 * the order is C order.
 */
int operand_order(const operand *inputs, uint32_t count, const collet_array_spec *spec,
                  int32_t order[COLLET_MAX_DIMS]);

/* Makes a new output of o->view.spec: an Array or a NumPy array. `order`: of its axes in memory; NULL:
 * C order. */
int operand_make(operand *o, collet_context *context, int device, const int32_t *order);

/* Wraps memory; the GIL is not needed. */
collet_status operand_wrap(operand *o, collet_context *context, uint32_t flags);
/* Waits, after a call on a device, until the memory of an output has its values. */
collet_status operand_fetch(operand *o, collet_context *context);
/* Frees the array of operand_wrap, which may wait. The GIL is not needed. */
void operand_unwrap(operand *o);

/* Drops the reference. */
void operand_clear(operand *o);

#endif
