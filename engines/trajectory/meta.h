/* SPDX-License-Identifier: Apache-2.0 */
/* meta.h - the meta file: describes results and inputs. */
#pragma once

#include "state.h"

/* Sets *text, which the caller frees, to the JSON text about a finished trajectory, with a final
 * newline. man/collet-extract.1 lists the members. COLLET_NO_MEMORY. */
collet_status trajectory_meta_format(const collet_trajectory *trajectory, char **text,
                                     collet_error *err);
