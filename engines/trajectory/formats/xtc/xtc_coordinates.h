/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xtc_coordinates.h - the compressed coordinates of an .xtc frame (the "3dfcoord" scheme).
 *
 * Coordinates are integers, multiples of 1/precision. Three of them are packed into one number of
 * mixed radix. An atom is stored within the bounds min..max of the frame; up to ten atoms after it may be stored as
 * small differences, each to the atom before it. The range of these differences may change by a factor of 2^(1/3)
 * from run to run. The first atom of such a run is exchanged with the atom before it. This makes the differences in a
 * water molecule smaller, because the oxygen is then in the middle.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* At least this many readable bytes, of any value, must follow the packed bytes. */
#define TRAJECTORY_XTC_PADDING 128

typedef struct trajectory_xtc_block {
    const uint8_t *bytes;
    size_t n_bytes;
    int64_t n_atoms;
    float precision;
    int32_t min[3];
    int32_t max[3];
    int32_t small_index; /* index of the first range of small differences */
} trajectory_xtc_block;

/* Decodes at least the first `n_needed` atoms (1..n_atoms) into positions (n_atoms x 3 floats, nm),
 * rounded as GROMACS does: (float)integer * (1.0f / precision). Safe for any bytes. Returns NULL,
 * or a static text that describes the fault in the data; *n_done is then the number of atoms before
 * the fault. */
const char *trajectory_xtc_decode(const trajectory_xtc_block *block, int64_t n_needed,
                                  float *positions, int64_t *n_done);
