/* SPDX-License-Identifier: Apache-2.0 */
/* Atoms and frames of Python objects as a collet_trajectory_source. With the GIL. */
#ifndef PYTHON_TRAJECTORY_SOURCE_H
#define PYTHON_TRAJECTORY_SOURCE_H

#include "src/binding.h"

#include <collet/trajectory.h>

#include <stdatomic.h>

#define SOURCE_TEXTS 4

typedef struct source {
    collet_trajectory_source given;
    PyObject *read; /* read(index, positions, velocities, forces) fills these, returns ps */
    PyObject *choose; /* choose(index) returns a byte an atom, 1: the frame has it; None: all do */
    PyObject *arrays
        [4]; /* NumPy: positions, velocities, forces (None: the source has no such field), box */
    void *data[4];
    PyObject *lists[SOURCE_TEXTS]; /* keep the texts of names, residue names, segments, chains */
    const char **texts[SOURCE_TEXTS];
    int32_t *residue_ids;
    int64_t *residue_numbers;
    double *charges;
    int64_t *bonds;
    atomic_int cancelled; /* 1: nothing more is read */
} source;

/* Makes a source from (name, "float32" or "float64", frames, names, residue names, segments, chains, residue
 * ids, residue numbers, charges, bonds, has velocities, has forces, has times, read, choose): lists as long
 * as there are atoms, `bonds` a list of two atoms a bond, one after the other; None from segments to
 * bonds, ids apart: unknown. NULL with an exception. */
source *source_new(const binding *core, PyObject *tuple);

void source_free(source *s); /* NULL is allowed */

/* The floats of a list, of malloc; NULL with an exception. */
double *source_doubles(PyObject *list, int64_t *count);

#endif
