/* SPDX-License-Identifier: Apache-2.0 */
/* files.h - opens the trajectory that the settings name. */
#pragma once

#include "settings.h"
#include "io/packed/packed.h"
#include "trajectory/reading/reader.h"

/* Opens the files, in order, as one trajectory, or the source of the settings. The caller closes *out, also after an
 * error. COLLET_CANCELLED if `poll` stops the work; `poll` may be NULL. */
collet_status trajectory_files_open(const trajectory_settings *settings, const io_poll *poll,
                                    trajectory_reader **out, collet_error *err);

/* Opens the same files, but reads only these atoms, and only the settings' frames from `from` on. */
collet_status trajectory_files_open_at(const trajectory_settings *settings, const int64_t *atoms,
                                       int64_t n_atoms, int64_t from, trajectory_reader **out,
                                       collet_error *err);

/* The packed files of the settings, unpacked; a zeroed struct has no files. While they are kept, opening the files
 * does not unpack them again. */
typedef struct trajectory_unpacked {
    io_packed **files;
    int64_t n;
} trajectory_unpacked;

/* Has the errors of io_packed_open; after an error nothing is kept. */
collet_status trajectory_files_unpack(const trajectory_settings *settings, const io_poll *poll,
                                      trajectory_unpacked *unpacked, collet_error *err);
void trajectory_files_release(trajectory_unpacked *unpacked);

/* Reads these atoms of the first frame at or after `start`. The caller frees *frame. If a file has no such frame or
 * cannot be read, *frame is NULL and the status is COLLET_OK, because later work reports the error. COLLET_NO_MEMORY;
 * every error of settings->source. */
collet_status trajectory_files_first(const trajectory_settings *settings, const int64_t *atoms,
                                     int64_t n_atoms, trajectory_frames **frame, collet_error *err);
