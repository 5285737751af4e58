/* SPDX-License-Identifier: Apache-2.0 */
/* periodic.h - describes in words how positions were changed for the periodic box. */
#ifndef ENGINES_TRAJECTORY_PERIODIC_H
#define ENGINES_TRAJECTORY_PERIODIC_H

#include "state.h"

/* Returns the name of a COLLET_TRAJECTORY_PBC_*: "whole". */
const char *trajectory_periodic_name(uint32_t pbc);

/* Sets x->periodic from x->arranged. */
void trajectory_periodic_describe(collet_trajectory *x);

#endif
