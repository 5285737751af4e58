/* SPDX-License-Identifier: Apache-2.0 */
/* A call of an op or an evaluation of an expression, between its arguments and its results. */
#ifndef PYTHON_SRC_CALLS_COMPUTE_H
#define PYTHON_SRC_CALLS_COMPUTE_H

#include "operand.h"
#include "src/array/value.h"

#define CALL_PARAMS 512 /* bytes of the longest parameter block */

typedef struct call call;
struct call {
    PyObject *object; /* the op or the expression */
    const char *name; /* for messages */
    /* Computes by calls of libcore, without the GIL. */
    collet_status (*issue)(const call *c, collet_array *const *outs,
                           const collet_array *const *ins);
    /* What `issue` would do, in words; NULL: not known. */
    collet_status (*explain)(const call *c, char *text, size_t capacity,
                             collet_array *const *outs, const collet_array *const *ins);
    uint32_t *users; /* counts calls that continue after a signal; may be NULL */
    collet_context *context;
    uint64_t id; /* of what is computed, for fingerprints */
    uint32_t n_out, n_in, params_size;
    int device;        /* 1: the results are Arrays */
    int given;         /* 1: the caller gave outputs */
    int elementwise;   /* 1: outputs get the order of the axes of the inputs */
    const snapshot *reads; /* of the lazy evaluation that the call is a part of; NULL: of none */
    int pinned;            /* 1: the snapshot is, until the call is computed */
    operand *operands; /* outputs first */
    _Alignas(16) unsigned char params[CALL_PARAMS];
};

/* Makes the outputs that the caller did not give, and computes. What waits to read the outputs is computed
 * before, and evaluations that read them are awaited. 0; -1 with an exception; 1: `reads` does not hold any
 * more, nothing was computed. */
int call_compute(call *c);

/* 1 if calls of this thread are observed. */
int call_is_observed(void);

/* Function of the module: observe(function) has the function called with (name, True) before and (name,
 * False) after each call of the calling thread that is done; None ends that. The function before. */
PyObject *compute_observe(PyObject *module, PyObject *function);

/* Function of the module: the text of collet_explain for the call that is about to be done, within the
 * function of observe(). */
PyObject *compute_explain(PyObject *module, PyObject *unused);

#endif
