/* SPDX-License-Identifier: Apache-2.0 */
/* files.h - opens the trajectory that the settings name. */
#ifndef ENGINES_TRAJECTORY_FILES_H
#define ENGINES_TRAJECTORY_FILES_H

#include "settings.h"
#include "trajectory/reading/reader.h"

/* The files in order as one trajectory, or the source. The caller closes *out, also after an error.
 * COLLET_CANCELLED when `poll` stops the work; NULL: nothing does. */
collet_status trajectory_files_open(const trajectory_settings *settings, const io_poll *poll,
                                    trajectory_reader **out, collet_error *err);

/* The same for these atoms and the frames of the settings from `from` on. */
collet_status trajectory_files_open_at(const trajectory_settings *settings, const int64_t *atoms,
                                       int64_t n_atoms, int64_t from, trajectory_reader **out,
                                       collet_error *err);

#endif
