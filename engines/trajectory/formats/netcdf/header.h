/* SPDX-License-Identifier: Apache-2.0 */
/*
 * header.h - reads the header of a NetCDF file in one of the classic formats: CDF-1, CDF-2 (64-bit
 * offsets), CDF-5 (64-bit sizes).
 *
 * libnetcdf is not used: it reads a file that ends inside a frame as if zeros followed, depends on HDF5 and curl, and
 * copies numbers more often.
 */
#pragma once

#include "trajectory/formats/trajectory_format.h"

#define TRAJECTORY_NETCDF_AXES 4  /* maximum number of axes of a variable that is used */
#define TRAJECTORY_NETCDF_TEXT 64 /* bytes of a text that is kept, with its NUL */

typedef struct trajectory_netcdf_variable {
    int present;
    int32_t axes;
    int64_t shape[TRAJECTORY_NETCDF_AXES]; /* 0: the record axis; only the first axis can be the record axis */
    size_t width;   /* bytes of a number, 4 or 8: IEEE floats; 0: another type */
    int64_t begin;  /* byte of the file */
    int64_t stride; /* bytes from one index of the first axis to the next */
    int64_t length; /* bytes of one index of the first axis */
    double scale;   /* attribute scale_factor, else 1 */
    char units[TRAJECTORY_NETCDF_TEXT]; /* attribute; "": none */
} trajectory_netcdf_variable;

typedef struct trajectory_netcdf {
    int64_t n_records; /* -1: the file was written as a stream; its size determines the number of records */
    int64_t record;    /* bytes of a record; 0: no variable has records */
    int64_t records;   /* byte at which the first record begins */
    char conventions[TRAJECTORY_NETCDF_TEXT]; /* global attribute; "": none */
} trajectory_netcdf;

/* Fills *file, and variables[i] with the variable called names[i], for n names. Sizes are at least 0 and their products
 * at most 2^60. COLLET_FORMAT for a header that is damaged or ends too early. */
collet_status trajectory_netcdf_read(trajectory_reader *trajectory, const char *const *names,
                                     size_t n, trajectory_netcdf_variable *variables,
                                     trajectory_netcdf *file, collet_error *err);
