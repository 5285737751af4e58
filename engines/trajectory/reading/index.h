/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.h - where the frames of a trajectory begin, so that a reader can go to any of them.
 *
 * Frames are counted as a reader from the first frame on reaches them: without frames that a later
 * file replaces, and up to the first frame that is cut off or damaged. Formats whose frames have a
 * constant size or a table (.dcd, NetCDF, H5MD, sources in memory) compute it. For other formats one
 * pass reads the heads of all frames and keeps 8 bytes a frame (text: 24) in an index file that
 * processes share.
 *
 * An index file may be wrong after all. So its first frame must begin at the start of the file, and the head of each
 * frame that is read must agree with the index about where the next frame begins. Shards of all frames check the
 * whole index.
 *
 * If the frames of a reader were counted, or its format computes where they begin, a slice goes directly to
 * the frames that it delivers. Frames in between are not read, so errors in them are not found. The delivered
 * frames have the same numbers and lines, and the same errors, as without an index.
 */
#ifndef ENGINES_TRAJECTORY_READING_INDEX_H
#define ENGINES_TRAJECTORY_READING_INDEX_H

#include "clock.h"
#include "index_lock.h"
#include "reader.h"

/*
 * Sets *frames to the number of frames, and lets slices of `trajectory` jump; before the first read.
 * `directory`, which exists, gets the index file frames-HASH.index, whose name follows from the paths,
 * sizes and times of modification of the trajectory's files; NULL, or where it cannot be written:
 * only this reader has the index. If several processes need the file at once, one makes it and the others
 * wait. It appears complete; a damaged one is made again; a process that is killed leaves at most
 * frames-HASH.index.lock, which hinders nobody. A file whose offsets are computed gets none.
 *
 * `watch` may be NULL. COLLET_IO when a file cannot be read or was changed, or another process makes no
 * progress; COLLET_INVALID after a read; COLLET_NO_MEMORY; COLLET_CANCELLED by `watch` or the
 * poll of the trajectory.
 */
collet_status trajectory_reader_count(trajectory_reader *trajectory, const char *directory,
                                      const trajectory_index_watch *watch, int64_t *frames,
                                      collet_error *err);

/* The clock of file k; NULL: the trajectory has no times in single precision, or was not counted. */
const trajectory_clock *trajectory_reader_clock(const trajectory_reader *trajectory, int64_t k);

#endif
