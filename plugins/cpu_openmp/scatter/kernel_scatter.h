/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_scatter.h - the loops of the scatter family over adjacent elements. Tables have one entry per type,
 * [f32, f64]; arithmetic is in that type, and sums over angles are in f64. */
#pragma once

#include <stdint.h>

/* A pixel of an image that is read: the address of its first energy, and its weight. */
typedef struct scatter_tap {
    const char *at;
    double weight;
} scatter_tap;

/* The taps of one angle. count -1: the sample is outside the images. */
typedef struct scatter_angle {
    const scatter_tap *taps;
    int64_t count;
} scatter_angle;

/* The data of all energies for scatter_images, in arrays that are padded to `padded` numbers by repeating the last
 * energy. For each of six sums, `field` lists the `count` fields that have weights, and `weight` holds these weights:
 * [count][re, im][padded]. */
typedef struct scatter_energies {
    int64_t n, padded;
    const double *k[3], *square;
    const char *weight[6];
    const int64_t *field[6];
    int64_t count[6];
    const double *qz; /* qz of the slices */
    int64_t slices;
    int nearest;
} scatter_energies;

/* A pixel: its slices `first` .. first+count-1, whose fields are field_step bytes apart. */
typedef struct scatter_pixel {
    const char *at;
    int64_t slice_step, field_step, first, count;
    double qx, qy;
    char *out[3]; /* adjacent energies */
} scatter_pixel;

/* The data of all energies for scatter_intensities, padded as in scatter_energies. Field f adds to sums[f][0 ..
 * count[f]-1]; `weight` holds the weights of the first sum, then of the next: [count][re, im][padded]. */
typedef struct scatter_spheres {
    int64_t n, padded, fields, depth;
    const double *k[3], *square;
    const double *nodes, *barycentric;
    double limit; /* the largest |q_z|; INFINITY: none */
    const char **weight;
    const int8_t (*sums)[6];
    const int8_t *count;
} scatter_spheres;

/* A pixel: its amplitudes, depth_step bytes from node to node and field_step bytes from field to field. */
typedef struct scatter_line {
    const char *at;
    int64_t depth_step, field_step;
    double qx, qy, middle, half;
    double *scratch; /* `depth` numbers for each lane of a vector */
    char *out[3];    /* adjacent energies */
} scatter_line;

#define SCATTER_NODES 4   /* the most nodes at a time */
#define SCATTER_LAYERS 32 /* the most layers at a time */
#define SCATTER_LANES 16  /* the most pixels at a time */

/* A row of pixels, in the order in which the elements of a plane's row are stored. Phases are [node][stride]. */
typedef struct scatter_row {
    int64_t fields, layers, stride;
    double *re, *im, *step_re, *step_im; /* phases of the first layer; factors per layer */
    void *turns; /* SCATTER_LAYERS x SCATTER_NODES x 2 x SCATTER_LANES numbers */
    void *sums;  /* [fields][SCATTER_NODES][re, im][lanes]: results */
} scatter_row;

typedef struct scatter_kernels {
    /* out[e] = the mean over the angles of the weighted sum of taps at energy begin + e, for e < n; results are
     * out_step bytes apart. `mask`: NaN samples do not count; if all are NaN, the result is 0. */
    void (*mean[2])(const scatter_angle *angles, int64_t n_angles, int mask, int64_t begin,
                    int64_t n, char *out, int64_t out_step);
    /* out[e] = in[0][e] + sign in[1][e] + in[2][e] + sign in[3][e], e < n. */
    void (*fold[2])(const char *const in[4], double sign, int64_t n, char *out);
    /* out[i] = before[i] + sum over fields of weight f[i], i < n, complex. `before` may be `out` or
     * NULL. `reversed`: reads f[n - 1 - i]; `conjugate`: adds the conjugate of the sum. `room` >= n
     * elements may be read from each f. */
    void (*combine[2])(char *out, const char *before, const char *const *f,
                       const double (*weights)[2], int64_t fields, int64_t n, int64_t room,
                       int reversed, int conjugate);
    /* Computes the three images at a pixel for all energies. */
    void (*images[2])(const scatter_energies *energies, const scatter_pixel *pixel);
    int32_t lanes[2]; /* pixels that `amplitudes` computes at a time */
    /* exp(i q thickness first) and exp(i q thickness) for n numbers q. If q is NaN, the results are undefined. */
    void (*phases)(const double *q, double thickness, double first, int64_t n, double *re, double *im,
                   double *step_re, double *step_im);
    /* Computes row->sums for `nodes` nodes, from row->re[offset] on, and for n <= lanes pixels, whose first
     * elements are at `planes`. With `conjugate`, it takes the conjugates of the elements. It reads `lanes`
     * phases. */
    void (*amplitudes[2])(const scatter_row *row, int64_t offset, int32_t nodes, int64_t n, const char *planes,
                          int64_t field_step, int64_t layer_step, int conjugate);
    /* out[i] = before[i] + number i of a row of sums, complex; `before` may be `out` or NULL. `reversed`: the numbers are
     * in the opposite order. */
    void (*store[2])(char *out, const char *before, const void *sums, int64_t n, int reversed);
    /* Computes the three images at a pixel for all energies. */
    void (*intensities[2])(const scatter_spheres *spheres, const scatter_line *line);
} scatter_kernels;
