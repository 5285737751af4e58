/* SPDX-License-Identifier: Apache-2.0 */
/* inspect.h - what collet-inspect does with a trajectory (io/hdf5/inspect.h). */
#ifndef ENGINES_TRAJECTORY_FORMATS_H5MD_INSPECT_H
#define ENGINES_TRAJECTORY_FORMATS_H5MD_INSPECT_H

/* Opens the file, walks through the chunks of its elements, reads their first and last rows. Ignores
 * faults. */
void trajectory_h5md_inspect(const char *path);

#endif
