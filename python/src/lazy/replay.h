/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a recorded Python function that one call of libcore replays on a device. */
#pragma once

#include "src/base/python.h"

/* Function of the module: replaying(function, dtypes). Makes a function that returns what
 * `function` returns, a tuple of Arrays. dtypes: for each argument None, if it is an Array, or the
 * dtype that a number takes.
 *
 * The first call captures the calls that `function` makes (src/array/capture.h). Later calls replay
 * them by one call of libcore without the GIL, which enqueues them and does not wait. Arguments
 * that wait are computed first. The function calls `function` instead
 * - if the capture failed, or the recording would keep much memory;
 * - with another choice of backend or another runtime than the captured call;
 * - for an Array with other strides, and for a number that its dtype cannot hold;
 * - if calls are observed, and within collet.eager(). */
PyObject *replay_make(PyObject *module, PyObject *arguments);

/* Function of the module: probe(function, arguments, keywords). Calls the function, and returns
 * its result and a number: 1 if a capture can follow the call, 2 if moreover the result is an
 * argument or a view, and 0 otherwise. */
PyObject *replay_probe(PyObject *module, PyObject *arguments);
