/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - reads the frames of a file in order, in constant memory.
 *
 * The format is recognised by the file's first bytes, not its name; formats.h lists them. The size
 * of the file is taken when it is opened: frames that a simulation appends later are ignored.
 *
 * Files whose frames differ:
 * - The first frame decides the atom count and precision; a frame that differs is an error.
 * - The first frame defines which fields the file has. A later frame without a requested field is
 * an error that names the frame; fields that were not requested may be absent in some frames.
 * - A frame without positions is an error wherever it is read; slicing may skip it.
 * - trajectory_reader_set_missing leaves such frames out, or delivers NaN for missing fields.
 *
 * One thread at a time may use a trajectory. Errors name the file, the frame (from 0) and the byte.
 */
#pragma once

#include "trajectory/formats/frames.h"
#include "io/source.h"

/* Opens `path` and reads the head of its first frame. COLLET_IO when it cannot be read,
 * COLLET_FORMAT when it is empty, not a trajectory, or ends within the first head; the text gives
 * the likely type of the file. On an error *out is NULL. `poll` (NULL: none) is copied and called
 * after every 256 KiB that are read, here and later; COLLET_CANCELLED if it stops the work. */
collet_status trajectory_reader_open(const char *path, const io_poll *poll, trajectory_reader **out,
                                     collet_error *err);

struct trajectory_format;

/* Opens frames that are not in one file. `state`, format->state_size bytes, is copied; the memory to which it points
 * then belongs to the trajectory, even after an error. `name` is for messages. */
collet_status trajectory_reader_open_with(const struct trajectory_format *format, const void *state,
                                          const char *name, int64_t size, trajectory_reader **out,
                                          collet_error *err);

/* Call it before another thread reads. After this call `poll` is no longer called. */
void trajectory_reader_background(trajectory_reader *trajectory);

/* Creates a reader that decodes frames of the same file on another thread, with the selection and the poll of
 * `from`. The format of `from` must be `concurrent`; call trajectory_reader_background before, and keep `from` open.
 * Close the new reader like any other. */
collet_status trajectory_reader_share(const trajectory_reader *from, trajectory_reader **out,
                                      collet_error *err);

/* Closes the file and frees everything; NULL is allowed. */
void trajectory_reader_close(trajectory_reader *trajectory);

/* Sets the members of the info that are otherwise set when the last frame is read. Use it for a trajectory whose frames
 * are not read. `note`, a static text or NULL, is not copied. */
void trajectory_reader_set_end(trajectory_reader *trajectory, double precision, const char *note);

/* Times in single precision are replaced by the times of their clocks (clock.h), if frames are counted before they
 * are read (index.h). */
void trajectory_reader_use_clocks(trajectory_reader *trajectory);

/* Valid until the trajectory is closed. */
const trajectory_reader_info *trajectory_reader_get_info(const trajectory_reader *trajectory);

/* Selects the atoms that are delivered: `indices` (copied) must be strictly increasing and within
 * [0, n_atoms), else COLLET_INVALID. NULL with n = 0 means all atoms. */
collet_status trajectory_reader_select(trajectory_reader *trajectory, const int64_t *indices,
                                       int64_t n, collet_error *err);

/* Returns the number of atoms that a frame delivers: the selected atoms, or all. */
int64_t trajectory_reader_selected(const trajectory_reader *trajectory);

/* Deliver frames start, start + step, ... below stop; stop < 0 means to the end of the file. Call
 * it before the first read. start >= 0 and step >= 1, else COLLET_INVALID. If the format computes where a
 * frame begins, or index.h has counted the frames, frames in between are not read; otherwise only their heads are read
 * (text formats: their lines are scanned). A start after the last frame delivers nothing. */
collet_status trajectory_reader_slice(trajectory_reader *trajectory, int64_t start, int64_t stop,
                                      int64_t step, collet_error *err);

/* Like trajectory_reader_slice, but after `lead` delivered frames (INT64_MAX: no limit) the remaining frames before
 * frame `first` are skipped; `first` is the number of a frame of the slice. Frames that are left out because they lack
 * fields do not count for `lead`, and gaps of frames before `first` are not counted. COLLET_INVALID. */
collet_status trajectory_reader_slice_shard(trajectory_reader *trajectory, int64_t start,
                                            int64_t stop, int64_t step, int64_t lead, int64_t first,
                                            collet_error *err);

/* Sets COLLET_TRAJECTORY_MISSING_*. Call it before the first read. */
void trajectory_reader_set_missing(trajectory_reader *trajectory, uint32_t missing);
/* Frames that were left out or have NaN. Do not call it while a thread reads. Valid until the trajectory is closed. */
const trajectory_gaps *trajectory_reader_gaps(const trajectory_reader *trajectory);

/* COLLET_INVALID if the batch does not fit the trajectory; COLLET_NOT_FOUND if the batch has an array for a field that
 * the file does not have. */
collet_status trajectory_reader_check(const trajectory_reader *trajectory,
                                      const trajectory_frames *frames, collet_error *err);

/*
 * Fills `frames` with the next frames, at most its capacity; velocities and forces only if these arrays are
 * not NULL. frames->dtype must be the info's dtype, and n_atoms the number of selected atoms.
 *
 * COLLET_OK: n_frames frames were read; 0 means that all were delivered. Also after an error, n_frames complete
 * frames were read; the error is about the next frame:
 * - COLLET_FORMAT with frames->truncated = 1: the file ends inside that frame, like the file of an interrupted run;
 *   every complete frame was delivered.
 * - COLLET_FORMAT with truncated = 0: the bytes are not a frame of this trajectory.
 * - COLLET_NOT_FOUND: the frame lacks a requested field.
 * - COLLET_IO, COLLET_NO_MEMORY, COLLET_INVALID (the batch does not fit the trajectory).
 * After an error every further read returns the same error and no frames.
 */
collet_status trajectory_reader_read(trajectory_reader *trajectory, trajectory_frames *frames,
                                     collet_error *err);

/* Makes the current read, and each later read, stop and return COLLET_OK with the frames that are complete: at
 * once if a thread reads ahead, otherwise before the next frame. This is the only function that another thread
 * may call. */
void trajectory_reader_cancel(trajectory_reader *trajectory);
