/* SPDX-License-Identifier: Apache-2.0 */
/* warnings.h - warnings about the results. */
#pragma once

#include "state.h"

/* The entry in left_out of an output that needs times, if the trajectory has no times. */
extern const char trajectory_no_times[];
/* The entry in left_out of an output that no key names. */
extern const char trajectory_not_requested[];

/* Fills in x->warnings after the last row: values that are not finite, frames without a selected atom, frames that
 * lack a field, fields that only later frames have, doubtful elements, molecules that the periodic box cuts,
 * velocities of some atoms only, missing times, times that do not rise, singular inertia tensors, devices that
 * failed, a truncated or damaged trajectory. If values are not finite, reads the frame again to find the atom.
 * COLLET_NO_MEMORY. */
collet_status trajectory_warnings_make(collet_trajectory *trajectory, collet_error *err);

/* With the option strict: COLLET_INVALID with the first warning about a body that may not be in one piece; else does
 * nothing. May be called before the last row, with notes.arranged as known so far. NO_MEMORY. */
collet_status trajectory_warnings_refuse(collet_trajectory *trajectory, collet_error *err);
