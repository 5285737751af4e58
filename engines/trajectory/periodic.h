/* SPDX-License-Identifier: Apache-2.0 */
/* periodic.h - describes in words how frames were changed: for the periodic box, and to remove drift. */
#pragma once

#include "state.h"

/* Returns the name of a COLLET_TRAJECTORY_PBC_*: "whole". */
const char *trajectory_periodic_name(uint32_t pbc);

/* Sets x->periodic from x->arranged. */
void trajectory_periodic_describe(collet_trajectory *x);

/* Returns the name of a COLLET_TRAJECTORY_DRIFT_*: "linear". */
const char *trajectory_periodic_drift_name(uint32_t drift);

/* 1 if positions of a frame were moved to remove drift. */
int trajectory_periodic_moved(const collet_trajectory *x);

/* Sets x->drift. Call it after the last row. */
void trajectory_periodic_describe_drift(collet_trajectory *x);
