/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes as a program: a list of steps, computed as one Expression or as single functions, and the inputs of the steps.
 *
 * The rule: an evaluation works on a copy. program_begin copies the nodes below a root under the GIL, makes no
 * Python object and drops no reference, so that no other code runs meanwhile: the garbage collector, a
 * finalizer, the handler of a signal and other threads find nodes without any state of an evaluation. Later
 * steps (objects for inputs, compiling, computing, publishing) may run such code. That code may evaluate
 * the same nodes or write their inputs. Therefore each call of a program first checks that none of the memory that it
 * reads was written since the copy, and pins this memory, so that a write waits until the call has read; no Python code
 * runs between the check and the computation. If memory was written, the write has computed the nodes that read the
 * memory, and the caller makes a new copy. All functions need the GIL.
 */
#pragma once

#include "step.h"

/* Copies the root and the nodes below it; the root's value is the first output. 0, or -1 with an exception. In both
 * cases program_end must follow. */
int program_begin(program *p, node *root);
/* Makes the value of node `i` an output too. */
void program_output(program *p, uint32_t i);
/* Makes a reduction of the root the only output, in place of the root. `r` must exist until program_end.
 * 0, or -1 with an exception. */
int program_reduce(program *p, const reduction *r);
/* Drops the references to the nodes, and keeps the steps. */
void program_forget_nodes(program *p);
void program_end(program *p);

/* Computes the outputs. `out`: NULL, or an array for the only output. Returns an Array or a tuple of Arrays; None: the
 * caller should compute the root and reduce it in a second call; NotImplemented: an input was written since
 * program_begin, and nothing was computed; NULL with an exception. */
PyObject *program_run(program *p, PyObject *out);
