/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.h - where the frames of a trajectory begin, so that a reader can go to any frame.
 *
 * The index has the frames that a reader would deliver from the first frame on, up to the first frame that is cut off
 * or damaged. It does not have frames that are left out because a later file has their times. Formats whose frames
 * have a constant size or a table (.dcd, NetCDF, H5MD, sources in memory) compute where a frame begins. For other
 * formats one pass reads the heads of all frames and keeps 8 bytes for each frame (text: 24) in an index file
 * that processes share.
 *
 * An index file may be wrong in spite of its checksum. So the reader checks that the first frame of the index begins at
 * the start of the file and, after reading the head of a frame, that the next frame begins where the index has it.
 * Shards that together have all frames thus check the whole index.
 *
 * If the frames of a reader were counted, or its format computes where they begin, a slice jumps directly to
 * the frames that it delivers. Frames in between are not read, so errors in them are not found. The delivered
 * frames have the same numbers and lines, and the same errors, as without an index.
 */
#pragma once

#include "clock.h"
#include "index_lock.h"
#include "reader.h"

/*
 * Sets *frames to the number of frames, and lets slices of `trajectory` jump. Call it before the first read.
 * The index file frames-HASH.index is written to `directory`, which must exist; HASH depends on the paths,
 * sizes and times of modification of the trajectory's files. If `directory` is NULL or cannot be written,
 * only this reader has the index. If several processes need the file at once, one process makes the file and all
 * others wait. The file appears only when complete; a damaged file is made again; a process that is killed leaves
 * at most frames-HASH.index.lock, which blocks no other process. If the format computes all offsets, no
 * index file is written.
 *
 * `watch` may be NULL. COLLET_IO if a file cannot be read or was changed, or if another process makes no
 * progress; COLLET_INVALID if a frame was read before; COLLET_NO_MEMORY; COLLET_CANCELLED if `watch` or the poll of
 * the trajectory cancels.
 */
collet_status trajectory_reader_count(trajectory_reader *trajectory, const char *directory,
                                      const trajectory_index_watch *watch, int64_t *frames,
                                      collet_error *err);

/* The clock of file k; NULL: the trajectory has no times in single precision, or was not counted. */
const trajectory_clock *trajectory_reader_clock(const trajectory_reader *trajectory, int64_t k);
