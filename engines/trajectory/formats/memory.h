/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - topology and frames of a collet_extraction_source, in place of files. */
#ifndef COLLET_IO_MEMORY_SOURCE_H
#define COLLET_IO_MEMORY_SOURCE_H

#include "topology.h"
#include "trajectory.h"

#include <collet/trajectory.h>

/* COLLET_INVALID for a name that is missing or too long; COLLET_NO_MEMORY. The caller's. */
collet_status collet_memory_topology(const collet_extraction_source *source, collet_topology **out,
                                     collet_error *err);

/* A trajectory that calls source->read on the reading thread; `source` outlives it. COLLET_INVALID
 * for a source without frames; COLLET_NO_MEMORY. */
collet_status collet_memory_open(const collet_extraction_source *source, collet_trajectory **out,
                                 collet_error *err);

#endif
