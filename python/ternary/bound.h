/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of collet._ternary. Weights, networks and open files are capsules; a network
 * is used by one thread at a time. All functions need the GIL. */
#pragma once

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

/* Makes an array over `object`, which the caller owns; *out is NULL if `object` is None. 0, or -1 with an
 * exception. */
int bound_optional(collet_array **out, PyObject *object, collet_dtype dtype, const char *name);

/* A capsule that owns the weights; NULL with an exception, also if `weights` is NULL. */
PyObject *weights_new(collet_ternary_weights *weights);
/* The weights of a capsule, which the capsule owns; NULL with an exception. */
const collet_ternary_weights *weights_get(PyObject *capsule);

PyObject *network_new(collet_ternary_network *network);
/* The network of a capsule, and its lock: threads run a network in turn, between network_turn_begin and
 * network_turn_end, which are called without the GIL. NULL with an exception. */
typedef struct shared_network network_turn;
network_turn *network_get(PyObject *capsule, collet_ternary_network **network);
void network_turn_begin(network_turn *turn);
void network_turn_end(network_turn *turn);

/* Layers made from a sequence of (weights, bias or None, activations, relu, threshold). */
typedef struct layer_list {
    collet_ternary_layer *layers;
    collet_array **biases;
    uint32_t count;
} layer_list;

/* Makes the layers. 0, or -1 with an exception; in both cases layers_free must follow. */
int layers_take(layer_list *list, PyObject *sequence);
void layers_free(layer_list *list);

/* Fills *params from a pair (mode, threshold) and returns params. Returns NULL without an exception if `pair` is None:
 * NULL stands for the default parameters: weights that are already ternary are kept, and others are quantized with a
 * threshold of 0.3. On error returns NULL with an exception. */
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
