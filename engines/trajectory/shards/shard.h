/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard.h - a file with the results of a part of the work: sums over atoms for each of its frames, and notes.
 *
 * The file is an .npz file. It has an array frames x numbers for each sum (outputs.h); the arrays "time_ps" and
 * "frame" with the times and numbers of the frames in the trajectory; and the text "notes". The text is JSON, and
 * each byte of the JSON is one character.
 */
#pragma once

#include "trajectory/compute/outputs.h"

#include <cjson/cJSON.h>
#include <collet/collet.h>

/* The value of "format" in notes that this library writes. */
#define TRAJECTORY_SHARD_FORMAT "collet trajectory shard 1"
#define TRAJECTORY_SHARD_NOTES "notes"
#define TRAJECTORY_SHARD_FRAMES "frame"
#define TRAJECTORY_SHARD_MASSES "mass_values"
#define TRAJECTORY_SHARDS_MOST ((int64_t)1 << 30)

typedef struct trajectory_shard {
    char *path;
    cJSON *json;   /* the notes */
    int64_t shard; /* 1 to n_shards */
    int64_t n_shards;
    int64_t rows;      /* number of rows of all shards, before any row is left out */
    int64_t n_frames;  /* number of frames in this shard */
    int32_t truncated; /* 1: the rows end in this shard */
} trajectory_shard;

/* Returns how many numbers the array of a sum has for one frame. */
int64_t trajectory_sum_width(int32_t buffer, trajectory_extent extent);

/* Returns the first row after a shard: rows x shard / n_shards, computed without overflow. */
int64_t trajectory_shard_end(int64_t rows, int64_t shard, int64_t n_shards);

/* Returns "DIR/003-of-100.npz", which the caller frees; NULL: out of memory. */
char *trajectory_shard_path(const char *directory, int64_t shard, int64_t n_shards);

/* Reads the notes of a shard. COLLET_IO, FORMAT, NO_MEMORY; the caller frees it, also after an error. */
collet_status trajectory_shard_read(const char *path, trajectory_shard *shard, collet_error *err);
void trajectory_shard_free(trajectory_shard *shard);

/* Reads the whole file. COLLET_FORMAT if it is damaged. */
collet_status trajectory_shard_check(const trajectory_shard *shard, collet_error *err);

/* Reads n masses, which the caller frees; n = 0: NULL. COLLET_IO, FORMAT, NO_MEMORY. */
collet_status trajectory_shard_masses(const trajectory_shard *shard, int64_t n, double **out,
                                      collet_error *err);

/* ---- Rows -------------------------------------------------------------------------------- */

typedef struct trajectory_shard_rows {
    const double *frames;                /* frame numbers (whole numbers) */
    const double *sums[TRAJECTORY_SUMS]; /* NULL: not among the sums */
    struct io_npz *npz;
    struct io_npz_array *arrays[TRAJECTORY_SUMS + 1];
    double *memory[TRAJECTORY_SUMS + 1];
} trajectory_shard_rows;

/* Opens the rows of a shard: the buffers of the set `sums`, and the times. At most `most` rows are read at a time.
 * COLLET_IO, FORMAT, NO_MEMORY; the caller closes the rows, also after an error. */
collet_status trajectory_shard_rows_open(const trajectory_shard *shard, uint64_t sums,
                                         trajectory_extent extent, int64_t most,
                                         trajectory_shard_rows *rows, collet_error *err);
/* Reads the next n rows into the arrays. */
collet_status trajectory_shard_rows_read(trajectory_shard_rows *rows, int64_t n, collet_error *err);
/* A struct of zeros is allowed. */
void trajectory_shard_rows_close(trajectory_shard_rows *rows);
