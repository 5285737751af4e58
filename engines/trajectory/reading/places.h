/* SPDX-License-Identifier: Apache-2.0 */
/* places.h - where the frames of a trajectory begin: what index.h makes, and readers use to jump. */
#ifndef ENGINES_TRAJECTORY_READING_PLACES_H
#define ENGINES_TRAJECTORY_READING_PLACES_H

#include "clock.h"
#include "io/mapping.h"
#include "trajectory/formats/trajectory_format.h"

/* The numbers of an entry. */
enum {
    TRAJECTORY_ENTRY_OFFSET,  /* in its file */
    TRAJECTORY_ENTRY_LINE,    /* that begins there */
    TRAJECTORY_ENTRY_CARRIER, /* the last frame of its file before it whose head carries; -1: none */
    TRAJECTORY_ENTRY_MOST
};

/* A file of the trajectory. */
typedef struct trajectory_places_part {
    int64_t first;    /* number of its first frame */
    int64_t n_frames; /* without those that are left out */
    int64_t was_cut;  /* 1: some are */
    double last;      /* of those: the last time, ps; 0: none */
    int64_t entry;    /* of its first frame; -1: its format locates frames */
    trajectory_clock clock;
} trajectory_places_part;

typedef struct trajectory_places {
    int64_t n_frames;
    int64_t n_parts;
    int64_t width; /* numbers of an entry: 1 without text files, else TRAJECTORY_ENTRY_MOST */
    int64_t n_entries;
    int64_t
        unused[2]; /* the first frame with velocities, and with forces, where the first frame of all
                          has none; -1: there is none */
    trajectory_places_part *parts;
    int64_t *entries;
    io_mapping *mapping; /* of the index file, which has both arrays; NULL: they were allocated */
} trajectory_places;

/* NULL is allowed. */
void trajectory_places_free(trajectory_places *places);

/* The clock of frame `index`. */
const trajectory_clock *trajectory_places_clock(const trajectory_places *places, int64_t index);

/* 1 if the format of an opened file tells without reading where its frames begin. */
int trajectory_places_computes(const trajectory_reader *file);

/* FORMAT unless frame `index` of a file, which begins at its byte `offset` by the head of the frame before it, has
 * this place in the index. */
collet_status trajectory_places_check(const trajectory_reader *file, const trajectory_places *places,
                                      const trajectory_places_part *part, int64_t index,
                                      int64_t offset, collet_error *err);

/*
 * Moves the reader of one file to its frame `index`, which is after its frame `seen` - 1, the last one whose head
 * is known to the format. `part` may be NULL for a file whose format computes.
 */
collet_status trajectory_places_go(trajectory_reader *file, const trajectory_places *places,
                                   const trajectory_places_part *part, int64_t index, int64_t seen,
                                   collet_error *err);

#endif
