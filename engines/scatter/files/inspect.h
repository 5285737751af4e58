/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect.h - a file that libhdf5 cannot read safely is found out in another process.
 *
 * On damaged files libhdf5 crashes, or loops without end, where it reads the header of an object or
 * strings of variable length, which labels are. collet-inspect FILE, beside the plugins, reads what
 * is read of a morphology but its voxels, for at most 1 s of processor time, and then
 * writes a byte to descriptor 1.
 */
#ifndef ENGINES_SCATTER_FILES_INSPECT_H
#define ENGINES_SCATTER_FILES_INSPECT_H

#include <collet/collet.h>

/* FORMAT where collet-inspect does not end well. OK where it cannot be started: then the
 * library was installed without it. Any thread; takes some 10 ms. */
collet_status scatter_inspect(const char *path, collet_error *err);

/* The other process: opens all datasets of the materials and reads their labels, whatever faults
 * they have. */
void scatter_inspect_all(const char *path);

#endif
