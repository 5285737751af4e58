/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trajectory_format.h - the interface between the formats and ../reading, which reads files.
 *
 * The reader chooses frames; a format decodes them. To add a format, write its row (a trajectory_format) in a new
 * file, and add its name to formats.h.
 */
#pragma once

#include "frames.h"
#include "io/source.h"

#include <stdatomic.h>

struct trajectory_topology;
struct trajectory_places;

#define TRAJECTORY_HEAD_DETAIL 64 /* bytes */

/* The head of a frame; offsets are bytes in the file, 0 for a field that is absent. */
typedef struct trajectory_frame_head {
    int64_t end; /* byte after the frame; may be beyond the end of the file */
    int64_t n_atoms;
    collet_dtype dtype;
    double time;      /* ps */
    double rounding;  /* of `time` in single precision: half the distance to the next number, ps; 0: f64 or text */
    int32_t has_time; /* 0: this frame has no time in the file, and `time` is 0 */
    double box[9];    /* nm, the three vectors; zeros: none */
    int64_t box_at;   /* offset of the box, for formats that read it with the body; 0: none */
    int64_t step;     /* step of the simulation, in 32-bit formats modulo 2^32; -1: not in the file */
    int64_t positions;
    int64_t velocities;
    int64_t forces;
    int64_t lacking;  /* if only some atoms have velocities: the first atom without a velocity; else -1 */
    int64_t end_line; /* text formats: number of the line that begins at `end` */
    int32_t carries;  /* 1: later heads need the data that the format's state took from this head */
    /* private to the format: the data that `head` passes to `body` */
    uint64_t detail[TRAJECTORY_HEAD_DETAIL / 8];
} trajectory_frame_head;

/* The target of a decoded frame: row `frame` of the batch's arrays; NULL: not requested. */
typedef struct trajectory_frame_target {
    void *positions;
    void *velocities;
    void *forces;
} trajectory_frame_target;

/* Atoms first .. first + count - 1 of the file, all selected. */
typedef struct trajectory_atom_run {
    int64_t first;
    int64_t count;
} trajectory_atom_run;

typedef struct trajectory_format {
    const char *name;  /* "trr": the suffix of its files */
    const char *kind;  /* "a .trr trajectory", for "it looks like a .trr trajectory" */
    const char *title; /* "GROMACS, compressed positions", for lists of formats */
    int text;          /* 1: its files are text */
    /* 1 if a file of this format can begin with these n bytes. */
    int (*recognise)(const uint8_t *bytes, size_t n);
    /* Fills `topology`, which is zeroed and freed by the caller, from the start of the file. NULL:
     * the format has no topology. */
    collet_status (*topology)(io_source *source, struct trajectory_topology *topology,
                              collet_error *err);
    /* Reads the head at trajectory->offset, where at least one byte is left. An end of the file
     * inside the head is reported with trajectory_reader_truncated. head->end > offset on success.
     * NULL: the format has no frames. */
    collet_status (*head)(trajectory_reader *trajectory, trajectory_frame_head *head,
                          collet_error *err);
    /* Decodes the selected atoms; the frame is within the file and has the fields of `target`. May
     * set head->time and head->box. */
    collet_status (*body)(trajectory_reader *trajectory, trajectory_frame_head *head,
                          const trajectory_frame_target *target, collet_error *err);
    /* Both functions find frames without reading them, and are called after the first head was read. If both are
     * NULL, frames are found by reading the heads of all frames before them. `count`: the number of complete frames
     * in the file; -1: in this file frames must be found by their heads. `locate`: the byte at which frame
     * 0 <= index < count begins; it must be the byte that reading the heads would give. */
    int64_t (*count)(const trajectory_reader *trajectory);
    int64_t (*locate)(const trajectory_reader *trajectory, int64_t index);
    /* For a format that joins several files: jumps forward to frame `index`, or to one of the two frames before it, by
     * the positions in trajectory->places. NULL: not such a format. */
    collet_status (*place)(trajectory_reader *trajectory, int64_t index, collet_error *err);
    int times_rise; /* 1: no frame of a file has a time before the time of an earlier frame */
    int on_demand; /* 1: `body` runs on the thread that requests frames, and frames are not read ahead */
    /* 1: `body` uses only its arguments and trajectory->offset, index and line. Then several threads can decode frames,
     * each with its own reader and state, for which `head` was not called. Useful if decoding takes longer than
     * reading. */
    int concurrent;
    size_t state_size; /* bytes of trajectory->state, which is zeroed when the file is opened */
    /* Fills the state of `decoder`, which decodes frames of `from` on another thread. NULL: the state
     * remains zeroed. */
    void (*share)(const trajectory_reader *from, trajectory_reader *decoder);
    /* Frees the memory that the state points to; NULL if it owns none. */
    void (*close)(trajectory_reader *trajectory);
} trajectory_format;

struct trajectory_reader {
    const trajectory_format *format;
    io_source source;
    trajectory_reader_info info;
    void *state; /* private to the format */

    trajectory_atom_run *runs; /* the selection, as runs of consecutive indices */
    int64_t n_runs;
    int64_t n_selected;

    int64_t offset; /* byte where frame `index` begins */
    int64_t index;
    int64_t announced; /* number of frames that the head of the file states, set by the format; 0: unknown */
    int64_t line; /* text formats: line number at `offset`, from 1 */
    int64_t next; /* index of the frame to deliver next */
    int64_t stop; /* < 0: none */
    int64_t step;

    struct trajectory_places *places; /* where frames begin; NULL: not counted */
    int64_t lead;                     /* number of frames to deliver before the jump to `first` */
    int64_t first;                    /* frame to which the reader then jumps; -1: no jump is left */

    trajectory_reader *part; /* with several files: the reader of the current file; else NULL */

    int clocked;      /* 1: delivers times by the clocks of `places` */
    int delivered;    /* 1: a frame was delivered */
    uint32_t missing; /* COLLET_TRAJECTORY_MISSING_* */
    trajectory_gaps gaps;

    atomic_int cancelled;
    int truncated; /* 1: `error` means that the file ends inside a frame */
    collet_error error;
};

/* Returns `status` with the text "path: frame N at byte B: ..." about the frame at trajectory->offset; with
 * several files about the frame of the current file. */
collet_status trajectory_reader_fail(const trajectory_reader *trajectory, collet_status status,
                                     collet_error *err, const char *format, ...)
    COLLET_PRINTF(4, 5);

/* Reports that the n > 0 `bytes` at trajectory->offset do not begin a frame. */
collet_status trajectory_reader_no_frame(const trajectory_reader *trajectory, const uint8_t *bytes,
                                         size_t n, collet_error *err);

/* Reports that the file ends inside the frame at trajectory->offset. */
collet_status trajectory_reader_truncated(trajectory_reader *trajectory, collet_error *err);
