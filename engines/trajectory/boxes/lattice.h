/* SPDX-License-Identifier: Apache-2.0 */
/* lattice.h - the periods of a box, any triclinic one, and the shortest image of a vector. */
#ifndef ENGINES_TRAJECTORY_BOXES_LATTICE_H
#define ENGINES_TRAJECTORY_BOXES_LATTICE_H

/*
 * `vectors` span the same lattice as the box and are reduced (Minkowski): each is as short as it can
 * be. Then the vectors that can make a difference shorter are sums of at most one of each
 * (neighbours), however tilted the box is.
 */
typedef struct trajectory_lattice {
    double vectors[3][3];
    double inverse[9];        /* fractions of `vectors` = position x inverse */
    double safe_square;       /* a vector with a smaller square is the shortest image */
    double neighbours[13][3]; /* and their opposites */
    double half_squares[13];  /* of neighbours */
    double box[3][3];         /* as given; a very long vector where the box has none */
    double box_inverse[9];    /* fractions of `box` */
    int periodic[3];          /* 0: vector i of the box is 0, there is no period along it */
} trajectory_lattice;

/* The lattice of three vectors a, b and c. 0: there is none, because all are 0, one is not finite, or
 * they are flat (the volume is below 1e-6 of the product of lengths). */
int trajectory_lattice_make(trajectory_lattice *lattice, const double box[9]);

/* Sets the vectors without a period: orthogonal to the others, of length 1. They are 0 before. */
void trajectory_lattice_complete(double vectors[3][3], const int periodic[3]);

/* 1 if there is one. */
int trajectory_lattice_exists(const double box[9]);

/* Changes `difference` to its shortest image. 1: it changed. Numbers that are not finite stay. */
int trajectory_lattice_shorten(const trajectory_lattice *lattice, double difference[3]);

/* The fractions of the box's vectors that sum up to `position`. */
void trajectory_lattice_fractions(const trajectory_lattice *lattice, const double position[3],
                                  double fractions[3]);

#endif
