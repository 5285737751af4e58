/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the parts of collet._ternary. Weights, networks and open files are capsules; a network
 * is used by one thread at a time. All functions need the GIL.
 */
#ifndef PYTHON_TERNARY_BOUND_H
#define PYTHON_TERNARY_BOUND_H

#include "src/binding.h"

#include <collet/ternary.h>

/* The functions of collet._core. */
extern const binding *bound;

/* The monitor for long calls of the library: Ctrl-C ends them. */
extern const collet_ternary_monitor bound_monitor;

/* A monitor that keeps the warning of a call, which becomes a RuntimeWarning afterwards. */
typedef struct bound_watch {
    collet_ternary_monitor monitor;
    char text[COLLET_ERROR_TEXT]; /* "": none */
} bound_watch;
void bound_watch_begin(bound_watch *watch);
/* 0, or -1 with an exception: a filter made the warning an error. */
int bound_watch_end(const bound_watch *watch);

/* Raises the exception of a status, or keeps the exception of Ctrl-C; returns NULL. */
void *bound_raise(collet_status status, const collet_error *err);

/* An array over `object`, or *out NULL for None; the caller's. 0, or -1 with an exception. */
int bound_optional(collet_array **out, PyObject *object, collet_dtype dtype, const char *name);

/* A capsule that owns the weights; NULL with an exception, also for NULL. */
PyObject *weights_new(collet_ternary_weights *weights);
/* The weights of a capsule, which keeps them; NULL with an exception. */
const collet_ternary_weights *weights_get(PyObject *capsule);

PyObject *network_new(collet_ternary_network *network);
/* The network of a capsule, and whose turn it is: threads run it one after another, between begin and
 * end, without the GIL. NULL with an exception. */
typedef struct shared_network network_turn;
network_turn *network_get(PyObject *capsule, collet_ternary_network **network);
void network_turn_begin(network_turn *turn);
void network_turn_end(network_turn *turn);

/* Layers of a sequence of (weights, bias or None, activations, relu, threshold). */
typedef struct layer_list {
    collet_ternary_layer *layers;
    collet_array **biases;
    uint32_t count;
} layer_list;

/* 0, or -1 with an exception; layers_free follows in both cases. */
int layers_take(layer_list *list, PyObject *sequence);
void layers_free(layer_list *list);

/* Parameters from a pair (mode, threshold). NULL for None: the default, which keeps weights that
 * are already ternary and quantizes others with a threshold of 0.3. NULL with an exception on
 * error. */
const collet_ternary_quantize_params *quantize_take(PyObject *pair,
                                                    collet_ternary_quantize_params *params);

/* Functions of the module. */
PyObject *weights_quantize(PyObject *module, PyObject *arguments);
PyObject *weights_recognise(PyObject *module, PyObject *object);
PyObject *weights_from_codes(PyObject *module, PyObject *arguments);
PyObject *weights_from_bytes(PyObject *module, PyObject *arguments);
PyObject *weights_describe(PyObject *module, PyObject *capsule);
PyObject *network_create(PyObject *module, PyObject *layers);
PyObject *network_describe(PyObject *module, PyObject *capsule);
PyObject *network_run(PyObject *module, PyObject *arguments);
PyObject *network_run_on(PyObject *module, PyObject *arguments);
PyObject *network_load(PyObject *module, PyObject *arguments);
PyObject *file_open(PyObject *module, PyObject *name);
PyObject *file_describe(PyObject *module, PyObject *capsule);
PyObject *file_matrix(PyObject *module, PyObject *arguments);
PyObject *file_count(PyObject *module, PyObject *arguments);
PyObject *file_load(PyObject *module, PyObject *arguments);
PyObject *file_write(PyObject *module, PyObject *arguments);

#endif
