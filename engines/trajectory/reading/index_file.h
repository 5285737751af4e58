/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_file.h - the file that keeps an index (places.h) for other processes.
 *
 * The file has a head, the parts and the entries, as numbers in this machine's form. A file is not used if it is too
 * short, if its version, byte order or trajectory is different, or if its hash is wrong.
 */
#pragma once

#include "places.h"

typedef struct trajectory_index_head {
    char magic[8];
    uint32_t version;
    uint32_t order;    /* byte-order mark */
    uint64_t identity; /* hash that identifies the trajectory's files */
    int64_t n_frames;
    int64_t n_parts;
    int64_t width;
    int64_t n_entries;
    int64_t unused[2];
    uint64_t hash; /* hash of the whole file, with this member as 0 */
} trajectory_index_head;

/* Completes the head of the n `bytes` of a file: sets magic, version, order and hash. */
void trajectory_index_seal(void *bytes, size_t n);

/* Loads the index of the trajectory `identity`, which has n_parts files, from `path`; the caller frees the result. NULL
 * if the file is missing or cannot be used. */
trajectory_places *trajectory_index_load(const char *path, uint64_t identity, int64_t n_parts);

/* Writes the file atomically. COLLET_IO, COLLET_NO_MEMORY; after an error no file was written. */
collet_status trajectory_index_save(const char *path, uint64_t identity,
                                    const trajectory_places *places, collet_error *err);
