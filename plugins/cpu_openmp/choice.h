/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choice.h - which libraries serve, and what they are told of the processor.
 *
 * A library may take a processor that is newer than itself for an old one and be ten times too
 * slow, or run an instruction that a virtual machine does not have. So the probe tries each way in
 * a child of its own (collet_host.trial), computes what has a known result, and takes the fastest
 * that is right; the library's own way when it is nearly as fast. The outcome is among the choices
 * of the capabilities, by which every later process opens the library.
 *
 * Settings of the user come first: cpu_openmp.openblas (a path, or "off"), cpu_openmp.openblas_core
 * (a core's name, or "own"), OPENBLAS_CORETYPE; what they name is still tried.
 */
#ifndef COLLET_OPENMP_CHOICE_H
#define COLLET_OPENMP_CHOICE_H

#include <collet/plugin.h>

#include "isa.h"
#include "text.h"

/* Adds the members "blas" and "choices" to the capabilities, with what was tried. In a probe the
 * libraries are opened in its children alone; elsewhere they are opened here. The same text each
 * time. Any thread. */
void choice_describe(const collet_host *host, const isa_level *level, text *json);

/* Settles, for a process that is about to use them, how the libraries will be opened. Any thread.
 */
void choice_settle(const collet_host *host, const isa_level *level);

#endif
