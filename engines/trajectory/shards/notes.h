/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notes.h - facts about the frames of a run, from which warnings and the meta file are made.
 *
 * Each part of the work has its own notes. The notes of all frames are the sum of the notes of the
 * parts, added in the order of the frames, and of trajectory_notes_row for each row.
 */
#ifndef ENGINES_TRAJECTORY_SHARDS_NOTES_H
#define ENGINES_TRAJECTORY_SHARDS_NOTES_H

#include "trajectory/arrangement/arrangement.h"

#include <cjson/cJSON.h>

/* A value of `truncated`: a frame is damaged or does not belong to the earlier frames. */
#define TRAJECTORY_DAMAGED 2

/* Zeros at first. Frames have their numbers in the file. */
typedef struct trajectory_notes {
    /* set by trajectory_notes_row */
    int64_t n_frames;
    int64_t first_frame;
    int64_t last_frame;
    double first_time; /* NaN: that frame has none */
    double last_time;
    double latest; /* the last time that is not NaN, while n_timed > 0 */
    int64_t n_timed;
    int64_t first_untimed;    /* the first frame without a time, where n_timed < n_frames */
    int64_t times_not_rising; /* frames that are not later than the one before them */
    int64_t first_not_rising; /* the first of these */
    double not_rising[2];     /* the time of the frame before it, and its own */

    /* set by the run, and added part by part */
    int64_t n_bad_times; /* frames whose time is not finite */
    int64_t end_offset;  /* byte of the trajectory after the last frame */
    int64_t least_atoms; /* of a frame, where the selection varies */
    int64_t most_atoms;
    int64_t n_empty;       /* bodies of frames without a selected atom that has a mass */
    int64_t first_empty;   /* the frame of the first of these */
    int64_t empty_body;    /* its body */
    int64_t n_partial;     /* bodies of frames with only some of their atoms selected */
    int64_t first_partial; /* the frame of the first of these */
    int64_t partial_body;  /* its body */
    int64_t boxed;         /* frames with a periodic box */
    int64_t n_apart;       /* frames with a body between whose chains the boundary lies */
    int64_t first_apart;   /* the first of these */
    int64_t apart_body;    /* its body */
    trajectory_arrangement_notes arranged; /* what was done about the periodic box; at the end */
    trajectory_gaps gaps;                  /* frames without a field that a key needs; at the end */
    int32_t truncated; /* 1: the trajectory ends inside a frame, or TRAJECTORY_DAMAGED; see
                          `truncation` */
    collet_error truncation;
} trajectory_notes;

/* Notes the next row: a frame's number, and its time in ps, NaN: it has none. */
void trajectory_notes_row(trajectory_notes *notes, int64_t index, double time);

/* Adds the notes of the part that follows; its rows are noted by trajectory_notes_row. */
void trajectory_notes_add(trajectory_notes *notes, const trajectory_notes *part);

/* The notes as JSON, which the caller deletes; NULL: out of memory. */
cJSON *trajectory_notes_write(const trajectory_notes *notes);

/* Reads what trajectory_notes_write made for so many atoms of the topology and bodies, in the file `path`.
 * COLLET_FORMAT: it lacks a member, or one is out of range. */
collet_status trajectory_notes_read(const cJSON *json, const char *path, int64_t n_atoms,
                                    int64_t n_bodies, trajectory_notes *notes, collet_error *err);

#endif
