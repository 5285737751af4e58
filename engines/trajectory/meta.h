/* SPDX-License-Identifier: Apache-2.0 */
/* meta.h - the meta file: describes results and inputs. */
#ifndef ENGINES_TRAJECTORY_META_H
#define ENGINES_TRAJECTORY_META_H

#include "state.h"

/*
 * JSON text about a trajectory that is done, with a final newline, in *text (the caller frees).
 * man/collet-extract.1 lists the members. COLLET_NO_MEMORY.
 */
collet_status trajectory_meta_format(const collet_trajectory *trajectory, char **text,
                                     collet_error *err);

#endif
