/* SPDX-License-Identifier: Apache-2.0 */
/* bigendian.h - reads big-endian numbers, as XDR stores them, and arrays of numbers in either byte order, on
 * any host. */
#pragma once

#include "trajectory_format.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t trajectory_be32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static inline uint64_t trajectory_be64(const uint8_t *bytes)
{
    return (uint64_t)trajectory_be32(bytes) << 32 | trajectory_be32(bytes + 4);
}

static inline int32_t trajectory_be_i32(const uint8_t *bytes)
{
    return (int32_t)trajectory_be32(bytes);
}

static inline float trajectory_be_f32(const uint8_t *bytes)
{
    uint32_t bits = trajectory_be32(bytes);
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A step number of 32 bits, modulo 2^32. The number -1 is kept. */
static inline int64_t trajectory_be_step(const uint8_t *bytes)
{
    uint32_t step = trajectory_be32(bytes);

    return step == UINT32_MAX ? -1 : (int64_t)step;
}

/* Half the distance between numbers of single precision near `value`. */
static inline double trajectory_f32_rounding(double value)
{
    float size = fabsf((float)value);

    return ((double)nextafterf(size, INFINITY) - (double)size) / 2;
}

static inline double trajectory_be_f64(const uint8_t *bytes)
{
    uint64_t bits = trajectory_be64(bytes);
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Converts n big-endian numbers of `width` bytes (4 or 8) to the host's order. Source and destination need no
 * alignment and must not overlap. Uses the widest vectors that the processor has. */
void trajectory_be_decode(void *restrict destination, const void *restrict source, size_t n,
                          size_t width);

/* Converts n big-endian floats of `width` bytes, multiplied by `factor`, to host floats of `to_width` >= `width`
 * bytes. The rules for alignment and overlap are as in trajectory_be_decode. */
void trajectory_be_scale(void *restrict destination, size_t to_width, const void *restrict source,
                         size_t width, size_t n, double factor);

/* Reads the vectors of the selected atoms. The file has the vectors of all atoms at `offset`, as big-endian floats
 * of `width` bytes; they are multiplied by `factor` and stored as host floats of `to_width` bytes. COLLET_IO. */
collet_status trajectory_be_read(trajectory_reader *trajectory, int64_t offset, size_t width,
                                 double factor, size_t to_width, void *destination,
                                 collet_error *err);

/* Computes n positions in nm from the arrays x, y and z of n 32-bit floats in Angstrom. With `swap` the byte order of
 * these floats is not the host's. x, y and z need no alignment. Uses the widest vectors that the processor has. */
void trajectory_planes_join(float *restrict positions, const uint8_t *x, const uint8_t *y,
                            const uint8_t *z, size_t n, int swap);
