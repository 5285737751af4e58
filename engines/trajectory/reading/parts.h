/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.h - several files as one trajectory, such as the parts of a run that was continued.
 *
 * Files with times are sorted by their first times, others stay in the order in which they are given.
 * A file's frames end where a later file begins: a frame whose time is not before the first time of a
 * later file is left out, and so are all frames after it. gmx trjcat does the same. Files without
 * times are joined whole. Frames are numbered from the first frame of the first file; frames that are
 * left out have no number. Messages name the file and the frame's number in the file.
 */
#ifndef ENGINES_TRAJECTORY_READING_PARTS_H
#define ENGINES_TRAJECTORY_READING_PARTS_H

#include "reader.h"

typedef struct trajectory_part {
    char *path;
    const char *format; /* a name of formats.h */
    int64_t size;       /* bytes */
    int64_t offset;     /* of its first byte among the bytes of all files */
    double end;         /* frames from this time on, ps, are left out; infinity: none is */
    int64_t first;      /* the number of its first frame; -1 until it was read */
    int64_t n_frames;   /* read so far, without those that are left out */
    int32_t was_cut;    /* 1: frames were left out */
    uint32_t reserved;  /* 0 */
    double last;        /* the time of the last frame that was left out, ps; 0: none was */
} trajectory_part;

/*
 * As trajectory_reader_open, for n >= 1 files, all of which are opened once. COLLET_FORMAT where the
 * number of atoms or the precision of one differs from the first. Formats may differ.
 */
collet_status trajectory_parts_open(const char *const *paths, int64_t n, const io_poll *poll,
                                    trajectory_reader **out, collet_error *err);

/* The files of a trajectory and their number; NULL and 0 where it is one file. Their numbers of
 * frames are final when all was read. Valid until the trajectory is closed. */
const trajectory_part *trajectory_parts_get(const trajectory_reader *trajectory, int64_t *n);

/* 1 for several files. */
int trajectory_parts_are(const trajectory_reader *trajectory);

/*
 * Opens the files of `from`, one or several, again, with the sizes that they had then and the poll of
 * `from`. COLLET_IO for a file that is shorter now.
 */
collet_status trajectory_parts_again(const trajectory_reader *from, trajectory_reader **out,
                                     collet_error *err);

/* The file of the frame whose head was read last, 0 of one file; its reader, the number of its first
 * frame and its first byte among the bytes of all. */
int64_t trajectory_parts_current(const trajectory_reader *trajectory,
                                 const trajectory_reader **file, int64_t *first, int64_t *begin);

/* Moves on in the present file, whose format computes, towards its last frame that is not left out,
 * as far as that needs no other heads. */
collet_status trajectory_parts_hop(trajectory_reader *trajectory, collet_error *err);

/* Sets what is known of file k after the last frame, where no frame is read; a k beyond the last is
 * ignored. */
void trajectory_parts_set(trajectory_reader *trajectory, int64_t k, int64_t first, int64_t n_frames,
                          int was_cut, double last);

/* Sets *time to the time of the last frame of a file, NaN: it has none; heads are read up to the first
 * that cannot be read. */
collet_status trajectory_parts_last_time(const char *path, const io_poll *poll, double *time,
                                         collet_error *err);

/* The file of frame `index` of the trajectory; NULL: one file, or it was not read. */
const trajectory_part *trajectory_parts_find(const trajectory_reader *trajectory, int64_t index);

#endif
