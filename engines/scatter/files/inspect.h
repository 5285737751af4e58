/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect.h - detects files that libhdf5 cannot read safely, in another process.
 *
 * On damaged files libhdf5 may crash or loop forever when it reads the header of an object, or
 * strings of variable length such as labels. The program collet-inspect FILE, in the folder of the
 * plugins, reads all of a morphology but its voxels, for at most 1 s of processor time, and then
 * writes a byte to descriptor 1.
 */
#ifndef ENGINES_SCATTER_FILES_INSPECT_H
#define ENGINES_SCATTER_FILES_INSPECT_H

#include <collet/collet.h>

/* FORMAT if collet-inspect does not end normally. OK if it cannot be started, because the library
 * may be installed without it. Any thread; takes about 10 ms. */
collet_status scatter_inspect(const char *path, collet_error *err);

/* The work of the other process: opens all datasets of the materials and reads their labels.
 * Ignores faults. */
void scatter_inspect_all(const char *path);

#endif
