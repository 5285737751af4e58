/* SPDX-License-Identifier: Apache-2.0 */
/* part.h - the results of one run: an .npz file and its meta file. */
#pragma once

#include "io/npz/npz_read.h"

#include <cjson/cJSON.h>
#include <collet/collet.h>

typedef struct merge_part {
    const char *path; /* the path of the .npz file */
    char *meta_path;
    io_npz *archive;
    cJSON *meta;
    double *times; /* ps */
    int64_t n_rows;
    int64_t kept;  /* rows before the first row that a later part replaces */
    size_t number; /* the part's place on the command line, from 0 */
} merge_part;

/* Opens a part and reads its times. Fails with IO or NO_MEMORY, and with FORMAT if the files are not results of
 * collet-extract, or belong to different runs. The caller closes the part, also after an error. */
collet_status merge_part_open(const char *path, merge_part *part, collet_error *err);
void merge_part_close(merge_part *part);

/* Returns COLLET_INVALID if two parts are not results of the same kind; the text names the difference. */
collet_status merge_part_compare(const merge_part *first, const merge_part *other,
                                 collet_error *err);

/* Sets `shape` to the shape of a row of the array `key`; a row has at most 3 axes. Returns the number of axes; -1 if
 * there is no such array. */
int32_t merge_part_shape(const merge_part *part, const char *key, int64_t shape[3]);

/* Takes n_rows rows of an array. Any status except OK ends the reading, and merge_part_rows returns it. */
typedef collet_status (*merge_take)(void *user, int64_t n_rows, const double *rows,
                                    collet_error *err);

/* Reads the kept rows of an array, a few at a time. */
collet_status merge_part_rows(const merge_part *part, const char *key, merge_take take, void *user,
                              collet_error *err);
