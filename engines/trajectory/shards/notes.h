/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notes.h - facts about the frames of a run, from which warnings and the meta file are made.
 *
 * Each part of the work has its own notes. To get the notes of all frames, call trajectory_notes_row for each row
 * and trajectory_notes_add for each part, in the order of the frames.
 */
#pragma once

#include "trajectory/arrangement/arrangement.h"

#include <cjson/cJSON.h>

/* A value of `truncated`: a frame is damaged or does not belong to the earlier frames. */
#define TRAJECTORY_DAMAGED 2

/* Initialise with zeros. Frame numbers are numbers in the file. */
typedef struct trajectory_notes {
    /* The following members are set by trajectory_notes_row. */
    int64_t n_frames;
    int64_t first_frame;
    int64_t last_frame;
    double first_time; /* time of first_frame, NaN: none; also last_time */
    double last_time;
    double latest; /* if n_timed > 0: the last time that is not NaN */
    int64_t n_timed;
    int64_t first_untimed;    /* if n_timed < n_frames: the first frame without a time */
    int64_t times_not_rising; /* number of frames that are not later than the frame before them */
    int64_t first_not_rising; /* the first such frame */
    double not_rising[2];     /* time of the frame before first_not_rising, and its own time */

    /* The following members are set by the run and added by trajectory_notes_add. */
    int64_t n_bad_times; /* frames whose time is not finite */
    int64_t end_offset;  /* byte of the trajectory after the last frame */
    int64_t least_atoms; /* if the selection varies: smallest number of atoms selected in a frame */
    int64_t most_atoms;
    int64_t n_empty;       /* number of pairs (frame, body) in which the body has no selected atom with a mass */
    int64_t first_empty;   /* frame of the first such case */
    int64_t empty_body;    /* body of the first such case */
    int64_t n_partial;     /* number of pairs (frame, body) in which only some of the body's atoms are selected */
    int64_t first_partial; /* frame of the first such case */
    int64_t partial_body;  /* body of the first such case */
    int64_t boxed;         /* number of frames with a periodic box */
    int64_t n_apart;       /* number of frames with a body that the boundary of the box divides */
    int64_t first_apart;   /* the first such frame */
    int64_t apart_body;    /* the body that is divided in this frame */
    int64_t n_clashes;     /* pairs of residues with atoms too near to each other (chains.h); set at the end */
    int64_t clash[2];      /* atoms of the first such pair */
    trajectory_arrangement_notes arranged; /* how molecules were made whole; set at the end */
    trajectory_gaps gaps;                  /* frames without a needed field; set at the end */
    int32_t truncated; /* 1: the trajectory ends inside a frame; or TRAJECTORY_DAMAGED. `truncation`
                          is the error */
    collet_error truncation;
} trajectory_notes;

/* Notes the next row: the frame's number, and its time in ps (NaN: none). */
void trajectory_notes_row(trajectory_notes *notes, int64_t index, double time);

/* Adds the notes of the next part. Its rows must be noted with trajectory_notes_row. */
void trajectory_notes_add(trajectory_notes *notes, const trajectory_notes *part);

/* The notes as JSON, which the caller deletes; NULL: out of memory. */
cJSON *trajectory_notes_write(const trajectory_notes *notes);

/* Reads the result of trajectory_notes_write from the file `path`; n_atoms of the topology and n_bodies are limits.
 * COLLET_FORMAT if a member is missing or out of range. */
collet_status trajectory_notes_read(const cJSON *json, const char *path, int64_t n_atoms,
                                    int64_t n_bodies, trajectory_notes *notes, collet_error *err);
