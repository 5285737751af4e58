/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology.h - reads a topology from a file of any format with a topology.
 *
 * The topology of a file with several frames is the topology of the first frame.
 */
#pragma once

#include "trajectory/formats/names.h"

/* Reads `path` into *out, which the caller frees. COLLET_IO when the file cannot be read,
 * COLLET_FORMAT (with "path:line:" in the text) when it is not a topology, COLLET_NO_MEMORY,
 * COLLET_CANCELLED when `poll` (NULL: none), called after every 256 KiB, stops the work. On an
 * error *out is NULL. Any thread. */
collet_status trajectory_topology_read(const char *path, const io_poll *poll,
                                       trajectory_topology **out, collet_error *err);
