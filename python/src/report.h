/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of libcore about backends, settings, memory and calls, as dicts. Functions of the
 * module. */
#pragma once

#include "src/base/python.h"

PyObject *report_backends(PyObject *module, PyObject *unused);
PyObject *report_records(PyObject *module, PyObject *unused);
PyObject *report_settings(PyObject *module, PyObject *unused);
PyObject *report_counters(PyObject *module, PyObject *unused);
PyObject *report_memory(PyObject *module, PyObject *space);
/* The name of the limit of the host's memory, and its bytes; needs no backend. */
PyObject *report_memory_limit(PyObject *module, PyObject *unused);
PyObject *report_reset_peak(PyObject *module, PyObject *space);
PyObject *report_trim(PyObject *module, PyObject *unused);
PyObject *report_finish(PyObject *module, PyObject *unused);
PyObject *report_last_backend(PyObject *module, PyObject *unused);
/* The native handle of this thread's queue on a device, such as a CUDA stream, as a number; None:
   there is none. */
PyObject *report_native_queue(PyObject *module, PyObject *device);
/* The directory of libcore. */
PyObject *report_directory(PyObject *module, PyObject *unused);
