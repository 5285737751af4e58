/* SPDX-License-Identifier: Apache-2.0 */
/* lattice.h - the periods of any triclinic box, and the shortest image of a vector. */
#pragma once

/* `vectors` span the same lattice as the box and are Minkowski-reduced: each vector is as short as it can be. The
 * `neighbours` are their sums with coefficients -1, 0 and 1. However tilted the box is, a difference is its own
 * shortest image if adding or subtracting a neighbour never makes it shorter. */
typedef struct trajectory_lattice {
    double vectors[3][3];
    double inverse[9];        /* fractions of `vectors` = position x inverse */
    double safe_square;       /* a vector with a smaller square is the shortest image */
    double neighbours[13][3]; /* and their opposites */
    double half_squares[13];  /* half the squared lengths of neighbours */
    double box[3][3];         /* as given; a vector of length 0 is replaced by a very long vector */
    double box_inverse[9];    /* fractions of `box` = position x box_inverse */
    int periodic[3];          /* 0: vector i of the box is 0, there is no period along it */
} trajectory_lattice;

/* Makes the lattice of three vectors a, b and c. Returns 0 if there is no lattice: all vectors are 0, one is not
 * finite, or they are flat (their volume is below 1e-6 of the product of their lengths). */
int trajectory_lattice_make(trajectory_lattice *lattice, const double box[9]);

/* Replaces each vector without a period, which is 0, by a vector of length 1 orthogonal to the other vectors. */
void trajectory_lattice_complete(double vectors[3][3], const int periodic[3]);

/* 1 if trajectory_lattice_make would succeed. */
int trajectory_lattice_exists(const double box[9]);

/* Changes `difference` to its shortest image; returns 1 if it changed. Numbers that are not finite are not changed. */
int trajectory_lattice_shorten(const trajectory_lattice *lattice, double difference[3]);

/* Compares the length of a vector that is its own shortest image with the vector's other images. Returns 0 for a
 * vector of length 0, up to 1 if another image is equally long. In a rectangular box the result is the largest of 2
 * |d_i| / box_i. */
double trajectory_lattice_fill(const trajectory_lattice *lattice, const double shortest[3]);

/* Sets `fractions` so that `position` = fractions[0] a + fractions[1] b + fractions[2] c. */
void trajectory_lattice_fractions(const trajectory_lattice *lattice, const double position[3],
                                  double fractions[3]);
