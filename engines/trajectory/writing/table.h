/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - writes results as text: one line for each frame, or in .csv one line for each body of a frame.
 *
 * Numbers are exact (reading gives the same double) and have a decimal point in any locale. The first column is the
 * time (the first output). Without times, it is the number of the row.
 */
#pragma once

#include "trajectory/compute/outputs.h"
#include "io/results.h"

/* The input of a form: arrays of the results, and the output to which each array belongs. */
typedef struct trajectory_table {
    io_results *results;
    int32_t n;
    const trajectory_output *outputs[TRAJECTORY_MAX_OUTPUTS];
    int32_t arrays[TRAJECTORY_MAX_OUTPUTS]; /* column in `results` of each output */
    trajectory_extent extent;
    trajectory_labels labels;               /* labels of bodies or atoms */
    const char *title;                      /* title of the topology */
    const char *meta;                       /* the text of the meta file; NULL: none */
} trajectory_table;

/* Writes .csv: a line with the names of columns and their units, separated by commas, then lines of numbers. */
collet_status trajectory_csv_write(const trajectory_table *table, io_spool *file,
                                   collet_error *err);
/* Writes .xvg like GROMACS's programs. */
collet_status trajectory_xvg_write(const trajectory_table *table, io_spool *file,
                                   collet_error *err);
