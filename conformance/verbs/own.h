/* SPDX-License-Identifier: Apache-2.0 */
/* own.h - calls of a plugin's own ops, whose results are compared with each other (own.c); their
 * checks are in own_checks.c. */
#pragma once

#include "verbs/verbs.h"

typedef enum arrangement {
    DENSE,
    WITHIN,  /* dense, with an offset */
    STEPPED, /* gaps on every axis */
    REVERSED,
    TRANSPOSED, /* the first axis is the fastest */
    ARRANGEMENTS
} arrangement;

/* How a call is made. */
typedef struct manner {
    arrangement of[KIT_OPERANDS];
    unsigned char fill; /* byte that fills outputs and workspace before the call */
    uint32_t shared;    /* output 0 is the input with this operand number; 0: not in place */
    bool repeated;      /* inputs have stride 0 on their first "..." axis */
    void *slow, *one;   /* buffers for slow work before the call; NULL: none */
    int32_t chain;      /* the length of that work */
    bool patient;       /* the arguments are overwritten only when the work is done: for reference results */
} manner;

typedef struct own_call {
    uint32_t number; /* number of the row in the plugin's table */
    kit_row row;
    kit_case c; /* elements of the inputs, and of the outputs of the last call */
    unsigned char params[256 + 64];
} own_call;

/* The outputs of a call. */
typedef struct results {
    kit_tensor out[KIT_OPERANDS];
    bool waited; /* true: the slow work was not done when `run` had returned and its arguments were overwritten */
} results;

/* Calls a row; false: it refused. The caller frees the results. Ends the check if anything but the
 * outputs is written, or if `accepts` contradicts an earlier call of `accepts` or the call of
 * `run`. */
bool own_run(testbed *b, collet_queue *q, const own_call *o, const manner *m, results *r);
void own_results_free(results *r);
/* Ends the check unless the results are equal: bit for bit, or `near`. */
void own_compare(testbed *b, const own_call *o, const results *found, const results *expected,
                 bool near, const char *what);
void own_fill(own_call *o, uint64_t seed, bool repeated);
void own_free(own_call *o);
const collet_ops_field *own_field(const own_call *o, uint32_t i);
/* Calls `body` for each row of an own op that accepts a call with default parameters; `base` are
 * its results. `scale` multiplies "..." axes. */
void own_each(testbed *b, int64_t scale,
              void (*body)(testbed *b, collet_queue *q, own_call *o, const results *base));
