/* SPDX-License-Identifier: Apache-2.0 */
/*
 * element.h - an element of an H5MD file: a dataset of values, with the steps and times of its rows.
 *
 * Turn off HDF5's messages before a call (io/hdf5/file.h); only one thread at a time may call these functions. On a
 * damaged file libhdf5 itself may crash; therefore collet-inspect reads the file first (io/hdf5/inspect.h).
 */
#pragma once

#include "io/hdf5/file.h"
#include "trajectory/formats/units.h"

#define TRAJECTORY_H5MD_NAME 200 /* bytes of the name of a dataset with its NUL */

/* A zeroed struct means that the element is absent. */
typedef struct trajectory_h5md_element {
    int present;
    int is_fixed; /* 1: the values are the same in all frames; `set` has no axis of frames */
    hid_t set;
    char name[TRAJECTORY_H5MD_NAME]; /* name of `set` */
    int64_t n_rows;                  /* 1 if fixed */
    int64_t shape[2];                /* shape of a row; 1 for an axis that is absent */
    int32_t axes;                    /* number of axes of a row, 0 to 2 */
    size_t width;                    /* bytes of a number: 4 or 8 */
    double factor;                   /* converts values from the file's unit */
    int64_t *steps;                  /* n_rows; NULL: no steps */
    double *times;                   /* n_rows, ps; NULL: no times */
    double single_ps;                /* the unit (ps) if each row has a time in single precision; else 0 */
} trajectory_h5md_element;

/* Opens the element `path` of an open file: a group with the dataset "value", or a dataset of one row. If there is
 * neither, the element is absent. `usual`: the factor if the file names no unit; 0: the file must name a unit.
 * COLLET_FORMAT, COLLET_NO_MEMORY. */
collet_status trajectory_h5md_open(hid_t file, const char *file_name, const char *path,
                                   trajectory_measure measure, double usual,
                                   trajectory_h5md_element *element, collet_error *err);
void trajectory_h5md_close(trajectory_h5md_element *element);

/* Reads `count` numbers of the first axis, from `first` on, of row `row`, as numbers of `width` bytes.
 * COLLET_FORMAT: the file is damaged. */
collet_status trajectory_h5md_read(const trajectory_h5md_element *element, const char *file_name,
                                   int64_t row, int64_t first, int64_t count, size_t width,
                                   void *to, collet_error *err);

/* Walks through the index of the chunks; ignores faults. The element may be absent. */
void trajectory_h5md_walk(const trajectory_h5md_element *element);
