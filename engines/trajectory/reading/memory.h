/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - topology and frames of a collet_trajectory_source, in place of files. */
#pragma once

#include "topology.h"
#include "reader.h"

#include <collet/trajectory.h>

/* The topology, which the caller frees. COLLET_INVALID for a name that is missing or too long,
 * COLLET_FORMAT for a bond of atoms that do not exist; COLLET_NO_MEMORY. */
collet_status trajectory_memory_topology(const collet_trajectory_source *source,
                                         trajectory_topology **out, collet_error *err);

/* Opens a trajectory that calls source->read on the reading thread; `source` must stay valid until it is closed.
 * COLLET_INVALID for a source without frames; COLLET_NO_MEMORY. */
collet_status trajectory_memory_open(const collet_trajectory_source *source,
                                     trajectory_reader **out, collet_error *err);
