/* SPDX-License-Identifier: Apache-2.0 */
/* share.h - computes a shard and writes its file. */
#pragma once

#include "state.h"

/* Implements collet_trajectory_write for a trajectory with n_shards; the form of `path` was checked. */
collet_status trajectory_share_write(collet_trajectory *trajectory, const char *path,
                                     uint32_t flags, collet_error *err);
