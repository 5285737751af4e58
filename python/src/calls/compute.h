/* SPDX-License-Identifier: Apache-2.0 */
/* The computation of a call of an op, or of an evaluation of an expression, once its arguments are operands. */
#pragma once

#include "operand.h"
#include "src/array/value.h"

#define CALL_PARAMS 512 /* bytes of the longest parameter block */

typedef struct call call;
struct call {
    PyObject *object; /* the op or the expression */
    const char *name; /* for messages */
    /* Calls libcore to compute; without the GIL. */
    collet_status (*issue)(const call *c, collet_array *const *outs,
                           const collet_array *const *ins);
    /* Describes the effect of `issue` in words. NULL: there is no such text. */
    collet_status (*explain)(const call *c, char *text, size_t capacity,
                             collet_array *const *outs, const collet_array *const *ins);
    uint32_t *users; /* incremented while the call may continue after a signal; may be NULL */
    collet_context *context;
    uint64_t id; /* identifies the op or the expression, for fingerprints */
    uint32_t n_out, n_in, params_size;
    int device;        /* 1: the results are Arrays */
    int given;         /* 1: the caller gave outputs */
    int elementwise;   /* 1: outputs get the inputs' order of axes in memory */
    const snapshot *reads; /* the snapshot of the lazy evaluation to which the call belongs, or NULL */
    int pinned;            /* 1: the snapshot is pinned, until the call is computed */
    operand *operands; /* outputs first */
    _Alignas(16) unsigned char params[CALL_PARAMS];
};

/* Makes the outputs that the caller did not give, and computes. Before that, computes the nodes that wait to read
 * outputs that the caller gave, and waits for evaluations that read them. 0; -1 with an exception; 1: memory of
 * `reads` was written since the snapshot, and nothing was computed. */
int call_compute(call *c);

/* The outputs of a computed call: one object, or a tuple. A new reference; NULL with an exception. */
PyObject *call_results(const call *c);

/* 1 if calls of this thread are observed. */
int call_is_observed(void);

/* Function of the module: observe(function). From now on `function` is called with (name, True) before and with
 * (name, False) after each call that the calling thread computes; None ends that. Returns the earlier function. */
PyObject *compute_observe(PyObject *module, PyObject *function);

/* Function of the module, for use in the function of observe(): the text of collet_explain for the call that
 * begins. */
PyObject *compute_explain(PyObject *module, PyObject *unused);
