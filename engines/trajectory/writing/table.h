/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - results as text: one line a frame, in .csv one line for each body of a frame.
 *
 * Numbers read back to the same double, with a point, whatever the locale. The first column is the
 * time, which is the first output; without it, it is the number of the row.
 */
#ifndef ENGINES_TRAJECTORY_WRITING_TABLE_H
#define ENGINES_TRAJECTORY_WRITING_TABLE_H

#include "trajectory/compute/outputs.h"
#include "io/results.h"

/* What a form writes: arrays of the results with their outputs. */
typedef struct trajectory_table {
    io_results *results;
    int32_t n;
    const trajectory_output *outputs[TRAJECTORY_MAX_OUTPUTS];
    int32_t arrays[TRAJECTORY_MAX_OUTPUTS]; /* their numbers in `results` */
    trajectory_extent extent;
    trajectory_labels labels;               /* of bodies or atoms */
    const char *title;                      /* of the topology */
    const char *meta;                       /* the text of the meta file; NULL: none */
} trajectory_table;

/* Names of columns with units, separated by commas, then numbers. */
collet_status trajectory_csv_write(const trajectory_table *table, io_spool *file,
                                   collet_error *err);
/* As programs of GROMACS write it. */
collet_status trajectory_xvg_write(const trajectory_table *table, io_spool *file,
                                   collet_error *err);

#endif
