/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_file.h - the file that keeps an index (places.h) for other processes.
 *
 * A head, the parts and the entries, as numbers of this machine. A file that is shorter, of another
 * version or order of bytes, of other trajectories, or whose hash differs is not used.
 */
#ifndef ENGINES_TRAJECTORY_READING_INDEX_FILE_H
#define ENGINES_TRAJECTORY_READING_INDEX_FILE_H

#include "places.h"

typedef struct trajectory_index_head {
    char magic[8];
    uint32_t version;
    uint32_t order;    /* of bytes */
    uint64_t identity; /* of the trajectory's files */
    int64_t n_frames;
    int64_t n_parts;
    int64_t width;
    int64_t n_entries;
    int64_t unused[2];
    uint64_t hash; /* of the whole file, with 0 here */
} trajectory_index_head;

/* Sets what depends on the rest of the n bytes of a file, which begin with a head: magic, version, order,
 * hash. */
void trajectory_index_seal(void *bytes, size_t n);

/* The index of the trajectory `identity`, of n_parts files, freed by the caller; NULL: the file
 * `path` is missing or not used. */
trajectory_places *trajectory_index_load(const char *path, uint64_t identity, int64_t n_parts);

/* Writes the file, atomically. COLLET_IO, COLLET_NO_MEMORY; then there is none. */
collet_status trajectory_index_save(const char *path, uint64_t identity,
                                    const trajectory_places *places, collet_error *err);

#endif
