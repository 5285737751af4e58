/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.h - where the frames of a trajectory begin, so that a reader can go to any of them.
 *
 * Frames are counted as a reader from the first frame on reaches them: without frames that a later
 * file replaces, and up to the first frame that is cut off or damaged. Formats whose frames have a
 * constant size or a table (.dcd, NetCDF, H5MD, sources in memory) compute it. Of other files one pass
 * reads the heads of all frames and keeps 8 bytes a frame, of text files 24.
 *
 * A slice of a reader that was counted, or whose format computes it, goes directly to the frames that it
 * delivers: frames in between are not read, so that nothing is said about them. Numbers, lines and
 * errors of frames are as without.
 */
#ifndef ENGINES_TRAJECTORY_READING_INDEX_H
#define ENGINES_TRAJECTORY_READING_INDEX_H

#include "reader.h"

/*
 * Sets *frames to the number of frames, and lets slices of `trajectory` jump; before the first read.
 * COLLET_IO when a file cannot be read or was changed; COLLET_INVALID after a read;
 * COLLET_NO_MEMORY; COLLET_CANCELLED by the poll of the trajectory.
 */
collet_status trajectory_reader_count(trajectory_reader *trajectory, int64_t *frames,
                                      collet_error *err);

#endif
