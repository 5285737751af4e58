/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pass.h - the pass over the atoms of every frame that all sums of the md family share.
 *
 * Threads get equal numbers of frames, each read from memory once. A frame of many atoms is
 * summed block by block, and where frames are few the threads divide the blocks. Blocks are of one
 * size and their sums are added in order: results do not depend on the number of threads.
 */
#ifndef PLUGINS_CPU_OPENMP_MD_PASS_H
#define PLUGINS_CPU_OPENMP_MD_PASS_H

#include <math.h>
#include <collet/plugin.h>

#include "cpu_openmp/runtime/device.h"
#include "kernel_frame.h"

/* Atoms of a block: a multiple of the lanes of every level. */
#define ATOMS_BLOCK 8192

typedef struct atoms_job atoms_job;

/* The layout of the atoms of an F x N x 3 or N x 3 operand; strides in bytes. */
typedef struct atoms_source {
    const char *at; /* NULL: absent */
    int64_t frame_step, atom_step, step;
    int64_t atoms;
    int wide;     /* f64 */
    int adjacent; /* the atoms of a frame are adjacent triples */
} atoms_source;

/*
 * Set by the kernel: everything before `call`. `pass` names the sums (FRAME_*); `masses` NULL or
 * absent means all 1; `origins` F x 3 are the origins of d, NULL: the frame's first atom.
 * `finish` is called with a frame's sums and origin, on any thread, frames in any order. Without
 * `origins` the sums will be moved to the centre of mass; a frame for which that would lose digits,
 * because origin and centre are far apart relative to the extent, is then summed again from its
 * centre.
 */
struct atoms_job {
    int pass;
    const collet_operand *positions;
    const collet_operand *masses;
    const collet_operand *origins;
    const collet_operand *velocities;
    const collet_operand *forces;
    void (*finish)(const atoms_job *job, int64_t frame, const double origin[3],
                   const frame_sums *sums);

    const collet_kernel_call *call;
    const collet_device *device;
    atoms_source r, v, f; /* positions, velocities, forces */
    int adjacent;         /* all of them */
    int64_t frames, atoms, blocks;
    double mass;         /* of all atoms */
    double per_mass;     /* 1 / mass */
    double *table;       /* of masses, in the order of the frame kernels */
    frame_sums *partial; /* [frame][block], where threads divide blocks */
};

/* The workspace of an op whose first inputs are positions and masses. */
uint64_t atoms_workspace(const collet_device *device, const collet_kernel_call *call);

/* Runs the job. The workspace is atoms_workspace's. */
collet_status atoms_run(const collet_device *device, const collet_kernel_call *call,
                        atoms_job *job);

/* ---- For kernels with passes of their own ---------------------------------------------------- */

/* Atoms rounded up to whole blocks of lanes: the length of a table. */
int64_t atoms_padded(int64_t atoms);

/* Blocks of a frame, and whether threads divide these instead of frames. */
int64_t atoms_blocks(int64_t atoms);
int atoms_share_blocks(const collet_device *device, int64_t frames, int64_t atoms);

/* Fills `table` with `masses` (NULL or absent: 1) in the kernels' order, and returns their sum.
 * `sums` is scratch of one number per block. */
double atoms_masses(const collet_device *device, const collet_operand *masses, int64_t atoms,
                    double *table, double *sums);

/* `o` may be NULL or absent. */
atoms_source atoms_find(const collet_operand *o);

/* Atoms first .. first+count-1 of a frame as adjacent triples: in place, or copied to `copy` (3 *
 * count elements). */
const void *atoms_adjacent(const atoms_source *source, int64_t frame, int64_t first, int64_t count,
                           void *copy);

/* Atoms copied at a time where they are not adjacent; a multiple of the lanes of every level. */
#define ATOMS_COPIED 256

/* The frame's first atom, components that are not finite (or not there) replaced by 0. */
void atoms_first(const atoms_source *source, int64_t frame, double origin[3]);

#endif
