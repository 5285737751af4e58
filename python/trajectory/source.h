/* SPDX-License-Identifier: Apache-2.0 */
/* A collet_trajectory_source that gets atoms and frames from Python objects. All functions need the GIL. */
#pragma once

#include "src/binding.h"

#include <collet/trajectory.h>

#include <stdatomic.h>

#define SOURCE_TEXTS 4

typedef struct source {
    collet_trajectory_source given;
    PyObject *read; /* read(index, positions, velocities, forces, box) fills these arrays and returns the time in ps */
    PyObject *choose; /* choose(index) returns a byte for each atom, 1: selected; None: all are selected */
    PyObject *arrays
        [4]; /* NumPy arrays: positions, velocities, forces (None: the source lacks these), box */
    void *data[4];
    PyObject *lists[SOURCE_TEXTS]; /* keep names, residue names, segments and chains alive */
    const char **texts[SOURCE_TEXTS];
    int32_t *residue_ids;
    int64_t *residue_numbers;
    double *charges;
    int64_t *bonds;
    atomic_int cancelled; /* 1: no more frames are read */
} source;

/* Makes a source from the tuple (name, "float32" or "float64", frames, names, residue names, segments, chains, residue
 * ids, residue numbers, charges, bonds, has velocities, has forces, has times, read, choose). Names to charges are
 * lists with an item for each atom; `bonds` is a flat list with two atoms for each bond. Segments, chains, residue
 * numbers, charges and bonds may be None: unknown. Returns NULL with an exception set if it fails. */
source *source_new(const binding *core, PyObject *tuple);

void source_free(source *s); /* NULL is allowed */

/* Returns the floats of a list, in memory from malloc; NULL with an exception set if it fails. */
double *source_doubles(PyObject *list, int64_t *count);
