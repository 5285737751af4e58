/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pass.h - the pass over the atoms of every body in every frame. All ops of the md family that sum over
 * atoms use it.
 *
 * A row is a body in a frame. Threads get equal numbers of rows and read each row from memory once.
 * Bodies of few atoms are summed several at a time, one in each lane. A body of many atoms is summed
 * block by block. If there are fewer rows than pieces of work for the threads, or if a body has a large
 * share of all atoms, the threads divide its blocks. All blocks have the same size and their sums are
 * added in order, so results do not depend on the number of threads.
 */
#pragma once

#include <math.h>
#include <collet/plugin.h>

#include "cpu_openmp/runtime/device.h"
#include "shared/host/md/operands.h"
#include "kernel_atoms.h"

/* Atoms of a block: a multiple of the lanes of every level. */
#define ATOMS_BLOCK 8192

typedef struct atoms_job atoms_job;

/* The layout of the atoms of an operand. Its shape is F x N x 3 or N x 3, for masses F x N or N. Masses do not use
 * `step`. Strides are in bytes. */
typedef struct atoms_source {
    const char *at; /* NULL: absent */
    int64_t frame_step, atom_step, step;
    int wide;     /* f64 */
    int adjacent; /* 1: the atoms of a frame are adjacent triples, or adjacent numbers, or absent */
} atoms_source;

/* The kernel sets all members before `call`. `pass` is the index of the sums (FRAME_*). `masses` NULL or
 * absent: all are 1. `offsets` NULL or absent: all atoms are one body. `origins`, F x 3: the origin in
 * each frame, for d = r - origin; NULL: the body's first atom. `finish` is called with a body's sums, on any
 * thread, in any order. Without `origins` the sums are moved to the centre of mass. If that would lose digits, because
 * origin and centre are far apart relative to the extent, the body is summed again about its centre. */
struct atoms_job {
    int pass;
    const collet_operand *positions;
    const collet_operand *masses;
    const collet_operand *offsets;
    const collet_operand *origins;
    const collet_operand *velocities;
    const collet_operand *forces;
    void (*finish)(const atoms_job *job, const md_body *body, const body_sums *sums);

    const collet_kernel_call *call;
    const collet_device *device;
    atoms_source r, v, f, m; /* positions, velocities, forces, masses */
    int adjacent;            /* 1: all of these are adjacent */
    int64_t rows, bodies, atoms, shared_above;
    frame_sums *partial; /* the sums of each block of a body whose blocks the threads divide */
};

/* The workspace of an op whose first inputs are positions and masses. */
uint64_t atoms_workspace(const collet_device *device, const collet_operand *positions,
                         const collet_operand *offsets);

/* Runs the job. The call's workspace has atoms_workspace bytes. */
collet_status atoms_run(const collet_device *device, const collet_kernel_call *call,
                        atoms_job *job);

/* ---- For kernels with their own passes ---------------------------------------------------- */

/* The number of blocks that `atoms` atoms fill. */
int64_t atoms_blocks(int64_t atoms);

/* Bodies with more atoms than this are summed one after another, each by all threads, which divide its blocks. The rows
 * of all other bodies are divided among the threads. -1: the first holds for all bodies; INT64_MAX: for no body.
 * `atoms`: per frame. */
int64_t atoms_shared_above(const collet_device *device, int64_t frames, int64_t bodies,
                           int64_t atoms);

/* `o` may be NULL or absent. */
atoms_source atoms_find(const collet_operand *o);
atoms_source atoms_find_masses(const collet_operand *o);

/* Returns atoms first .. first+count-1 of a frame as adjacent triples: in place, or copied to `copy` (3 *
 * count elements). NULL if the source is absent. */
const void *atoms_adjacent(const atoms_source *source, int64_t frame, int64_t first, int64_t count,
                           void *copy);
/* The same for `count` masses. */
const void *atoms_adjacent_masses(const atoms_source *source, int64_t frame, int64_t first,
                                  int64_t count, void *copy);

/* The number of atoms that are copied at a time if they are not adjacent; a multiple of the lanes of every level. */
#define ATOMS_COPIED 192

/* Sets `origin` to the body's first atom. Components that are not finite become 0. If the body is empty, all
 * components become 0. */
void atoms_first(const atoms_source *source, const md_body *body, double origin[3]);
