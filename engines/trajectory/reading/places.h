/* SPDX-License-Identifier: Apache-2.0 */
/* places.h - where the frames of a trajectory begin. index.h makes these tables, and readers use them to jump. */
#pragma once

#include "clock.h"
#include "io/mapping.h"
#include "trajectory/formats/trajectory_format.h"

/* The numbers of an entry. */
enum {
    TRAJECTORY_ENTRY_OFFSET,  /* offset of the frame in its file */
    TRAJECTORY_ENTRY_LINE,    /* number of the line that begins there */
    TRAJECTORY_ENTRY_CARRIER, /* last earlier frame in the same file whose head `carries` data; -1: none */
    TRAJECTORY_ENTRY_MOST
};

/* A file of the trajectory. */
typedef struct trajectory_places_part {
    int64_t first;    /* number of the file's first frame */
    int64_t n_frames; /* number of frames that are not left out */
    int64_t was_cut;  /* 1: some frames are left out */
    double last;      /* time of the last frame that is left out, ps; 0: none */
    int64_t entry;    /* entry of the file's first frame; -1: no entry, because the format locates frames */
    trajectory_clock clock;
} trajectory_places_part;

typedef struct trajectory_places {
    int64_t n_frames;
    int64_t n_parts;
    int64_t width; /* numbers in an entry: 1 without text files, else TRAJECTORY_ENTRY_MOST */
    int64_t n_entries;
    int64_t
        unused[2]; /* if frame 0 has no velocities (no forces): first frame that has them, -1: none */
    trajectory_places_part *parts;
    int64_t *entries;
    io_mapping *mapping; /* the index file, which has both arrays; NULL: they were allocated */
} trajectory_places;

/* NULL is allowed. */
void trajectory_places_free(trajectory_places *places);

/* The clock of frame `index`. */
const trajectory_clock *trajectory_places_clock(const trajectory_places *places, int64_t index);

/* 1 if the format of an opened file computes where frames begin, without reading them. */
int trajectory_places_computes(const trajectory_reader *file);

/* `offset`: the byte at which frame `index` of a file begins; the head of the frame before it states this byte.
 * FORMAT if the index of the file has another offset. */
collet_status trajectory_places_check(const trajectory_reader *file, const trajectory_places *places,
                                      const trajectory_places_part *part, int64_t index,
                                      int64_t offset, collet_error *err);

/* Moves the reader of one file to its frame `index`. The format has read the heads of frames up to `seen` - 1, and
 * `index` must be after these. `part` may be NULL for a file whose format computes where frames begin. */
collet_status trajectory_places_go(trajectory_reader *file, const trajectory_places *places,
                                   const trajectory_places_part *part, int64_t index, int64_t seen,
                                   collet_error *err);
