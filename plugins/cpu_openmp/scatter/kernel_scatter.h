/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_scatter.h - the loops of the scatter family over adjacent elements. The index of a table
 * is [f32, f64]; arithmetic is in that type, and sums over angles are in f64.
 */
#ifndef PLUGINS_CPU_OPENMP_SCATTER_KERNEL_SCATTER_H
#define PLUGINS_CPU_OPENMP_SCATTER_KERNEL_SCATTER_H

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
 * count[f]-1]; `weight` holds the weights of the first one, then of the next: [count][re, im][padded]. */
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
    double *scratch; /* depth numbers for each lane of a vector */
    char *out[3];    /* adjacent energies */
} scatter_line;

/* Complex numbers in two arrays. */
typedef struct scatter_turns {
    double *re, *im, *step_re, *step_im; /* the phases of a layer; the phases by which a layer is turned */
    void *part_re, *part_im;             /* the phases in the real type */
} scatter_turns;

typedef struct scatter_kernels {
    /* out[e] = the mean over the angles of the weighted sum of taps at energy begin + e, for e < n; results are
     * out_step bytes apart. `mask`: NaN samples do not count; if all are NaN, the result is 0. */
    void (*mean[2])(const scatter_angle *angles, int64_t n_angles, int mask, int64_t begin,
                    int64_t n, char *out, int64_t out_step);
    /* out[e] = in[0][e] + sign in[1][e] + in[2][e] + sign in[3][e], e < n. */
    void (*fold[2])(const char *const in[4], double sign, int64_t n, char *out);
    /*
     * out[i] = before[i] + sum over fields of weight f[i], i < n, complex. `before` may be `out` or
     * NULL. `reversed`: reads f[n - 1 - i]; `conjugate`: adds the conjugate of the sum. `room` >= n
     * elements may be read from each f.
     */
    void (*combine[2])(char *out, const char *before, const char *const *f,
                       const double (*weights)[2], int64_t fields, int64_t n, int64_t room,
                       int reversed, int conjugate);
    /* Computes the three images at a pixel for all energies. */
    void (*images[2])(const scatter_energies *energies, const scatter_pixel *pixel);
    /* sum[i] += phase[i] f[i], i < n, from element `first` of the phases on; with `conjugate`, of the conjugate of f. */
    void (*add_layer[2])(const scatter_turns *turns, int64_t first, int64_t n, int conjugate,
                         const char *f, void *sum_re, void *sum_im);
    /* Sets part_re and part_im of n phases, then turns the phases to the next layer. */
    void (*next_layer[2])(const scatter_turns *turns, int64_t n);
    /* Computes the three images at a pixel for all energies. */
    void (*intensities[2])(const scatter_spheres *spheres, const scatter_line *line);
} scatter_kernels;

#endif
