/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.h - several files as one trajectory, such as the parts of a run that was continued.
 *
 * If all files have times, they are sorted by their first times; otherwise they stay in the given order. A
 * file's frames end where a later file begins: a frame whose time is not before the first time of a
 * later file is left out, and so are all frames after it. gmx trjcat does the same. A frame is kept if the two times
 * are equal in single precision, but steps show that the frame is earlier. Files without times are joined as a whole.
 * Frames are numbered from the first frame of the first file; frames that are left out have no number. Messages name
 * the file and the frame's number in the file.
 */
#pragma once

#include "reader.h"

typedef struct trajectory_part {
    char *path;
    const char *format; /* a name of formats.h */
    int64_t size;       /* bytes */
    int64_t offset;     /* offset of the file's first byte among the bytes of all files */
    double end;         /* ps; frames with a time >= end are left out; infinity: no limit */
    int64_t end_step;   /* the later file's first step, if both files store times in single precision; else -1 */
    int64_t first;      /* number of the file's first frame; -1: not read yet */
    int64_t n_frames;   /* number of frames read so far that are not left out */
    int32_t was_cut;    /* 1: frames were left out */
    uint32_t reserved;  /* 0 */
    double last;        /* the time of the last frame that was left out, ps; 0: no frame was left out */
} trajectory_part;

/* Like trajectory_reader_open, but for n >= 1 files. Opens each file once. COLLET_FORMAT if the number of atoms or
 * the precision of a file differs from the first file's. Formats may differ. */
collet_status trajectory_parts_open(const char *const *paths, int64_t n, const io_poll *poll,
                                    trajectory_reader **out, collet_error *err);

/* Returns the files of a trajectory and their number; NULL and 0 if it is a single file. `first`, `n_frames` and
 * `was_cut` are final when the whole trajectory was read. Valid until the trajectory is closed. */
const trajectory_part *trajectory_parts_get(const trajectory_reader *trajectory, int64_t *n);

/* 1 if the trajectory has several files. */
int trajectory_parts_are(const trajectory_reader *trajectory);

/* Opens the file or files of `from` again, with its poll. Bytes that were appended since the first opening are
 * ignored. COLLET_IO for a file that is shorter now. */
collet_status trajectory_parts_again(const trajectory_reader *from, trajectory_reader **out,
                                     collet_error *err);

/* Returns the number of the file that has the frame whose head was read last (0 if there is only one file).
 * Sets *file to the file's reader, *first to the number of the file's first frame, and *begin to the file's first
 * byte among the bytes of all files. */
int64_t trajectory_parts_current(const trajectory_reader *trajectory,
                                 const trajectory_reader **file, int64_t *first, int64_t *begin);

/* For a current file whose format computes where frames begin: jumps to the last but one of the file's frames that are
 * not left out. Does nothing if only reading all heads can show which frames are left out. */
collet_status trajectory_parts_hop(trajectory_reader *trajectory, collet_error *err);

/* Sets the data of file k that are otherwise set when its last frame is read. Use it for a trajectory whose frames are
 * not read. A k beyond the last file is ignored. */
void trajectory_parts_set(trajectory_reader *trajectory, int64_t k, int64_t first, int64_t n_frames,
                          int was_cut, double last);

/* Sets *time to the time of the last frame of a file; NaN: the frame has no time. Heads of frames are read up to the
 * first head that cannot be read. */
collet_status trajectory_parts_last_time(const char *path, const io_poll *poll, double *time,
                                         collet_error *err);

/* Returns the file of frame `index` of the trajectory; NULL if there is only one file, or if the frame was not read. */
const trajectory_part *trajectory_parts_find(const trajectory_reader *trajectory, int64_t index);
