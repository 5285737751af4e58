/* SPDX-License-Identifier: Apache-2.0 */
/* trajectory_info.h - what the first frame says about a trajectory. */
#ifndef COLLET_IO_TRAJECTORY_INFO_H
#define COLLET_IO_TRAJECTORY_INFO_H

#include <collet/collet.h>

typedef struct collet_trajectory collet_trajectory;

/* What the first frame says about the file. */
typedef struct collet_trajectory_info {
    const char *format;     /* "trr", "xtc" or "gro" */
    int64_t n_atoms;        /* of the file, whatever the selection */
    int64_t file_size;      /* bytes, when it was opened */
    collet_dtype dtype;     /* COLLET_F64: double-precision .trr, and .gro; else COLLET_F32 */
    int32_t has_velocities; /* 0 or 1 */
    int32_t has_forces;     /* 0 or 1 */
    double precision;       /* .xtc: positions are multiples of 1/precision nm; else 0 */
} collet_trajectory_info;

#endif
