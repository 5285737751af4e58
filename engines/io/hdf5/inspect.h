/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect.h - detects files that libhdf5 cannot read safely, in another process.
 *
 * On damaged files libhdf5 may crash or loop forever when it reads the header of an object, the index
 * of chunks, or strings of variable length such as labels. The program collet-inspect KIND FILE, in the
 * folder of the plugins, reads a file as the engine of its kind does, for a limited processor time, and
 * then writes a byte to descriptor 1.
 */
#ifndef ENGINES_IO_HDF5_INSPECT_H
#define ENGINES_IO_HDF5_INSPECT_H

#include <collet/collet.h>

/* `kind` is "morphology" or "trajectory". FORMAT if collet-inspect does not end normally. OK if it
 * cannot be started, because the library may be installed without it. Any thread; takes about 10 ms. */
collet_status io_hdf5_inspect(const char *kind, const char *path, collet_error *err);

#endif
