/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.h - finds the frames of a trajectory in order, and decodes them in any order.
 *
 * `trajectory_scan_next` reads heads only: one thread at a time, in the order of the file.
 * `trajectory_scan_decode` reads the rest of a frame with a reader that belongs to the thread and has its own
 * window of the file and its own state of the format.
 */
#pragma once

#include "clock.h"
#include "trajectory/formats/trajectory_format.h"

/* A frame whose head was read. */
typedef struct trajectory_scanned {
    trajectory_frame_head head;
    int64_t offset;            /* byte where the frame begins */
    int64_t index;             /* its number in the file */
    int64_t line;              /* text formats: the line that begins at this byte */
    const trajectory_clock *clock; /* NULL: the frame's time is the time in the head */
    uint32_t gaps;             /* requested fields that the frame lacks, as bits: their values become NaN */
    int32_t bad_time;          /* set when the frame is decoded; 1: the frame's time is not finite */
    trajectory_gaps gaps_then; /* gaps of the trajectory up to this frame */
} trajectory_scanned;

/* Reads the head of the frame at trajectory->offset and checks it; *at_end = 1 if the file ends there, after a complete
 * frame. */
collet_status trajectory_scan_head(trajectory_reader *trajectory, trajectory_frame_head *head,
                                   int *at_end, collet_error *err);

/* Moves the trajectory to the end of the frame with this head. */
void trajectory_scan_step(trajectory_reader *trajectory, const trajectory_frame_head *head);

/* Finds the next frame to deliver into a batch like `frames`. The fields for which `frames` has arrays are requested.
 * *found = 0: no frame is left, or reading was cancelled. On an error trajectory->offset is the byte of the frame that
 * the error is about. */
collet_status trajectory_scan_next(trajectory_reader *trajectory, const trajectory_frames *frames,
                                   trajectory_scanned *out, int *found, collet_error *err);

/* Decodes a scanned frame into row `row` of `frames`. `decoder` is the trajectory's reader, or a reader that shares
 * its file. On an error decoder->offset is the byte of the frame. */
collet_status trajectory_scan_decode(trajectory_reader *decoder, trajectory_scanned *frame,
                                     trajectory_frames *frames, int64_t row, collet_error *err);
