/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_dcd.c, tests/engines/test_io_pdb.c */
#include "cell.h"

#include <math.h>
#include <string.h>

#define ANGSTROM 10.       /* in 1 nm */
#define ADAPTED_VERSION 24 /* version of CHARMM that NAMD, LAMMPS, OpenMM and others write */
#define PI 3.14159265358979323846

double trajectory_cell_cosine(double degrees)
{
    return sin((90 - degrees) * (PI / 180));
}

void trajectory_cell_vectors(double box[9], const double lengths[3], const double cosines[3])
{
    double a = lengths[0] / ANGSTROM, b = lengths[1] / ANGSTROM, c = lengths[2] / ANGSTROM;
    double sine = sqrt(1 - cosines[2] * cosines[2]);
    double y = (cosines[0] - cosines[1] * cosines[2]) / sine;
    double height = sqrt(1 - cosines[1] * cosines[1] - y * y);

    memset(box, 0, 9 * sizeof *box);
    if (!(a > 0 && b > 0 && c > 0 && sine > 0 && height > 0) || !isfinite(a + b + c))
        return;
    box[0] = a;
    box[3] = b * cosines[2];
    box[4] = b * sine;
    box[6] = c * cosines[1];
    box[7] = c * y;
    box[8] = c * height;
}

void trajectory_cell_of_crystal(double box[9], const double cell[6])
{
    double cosines[3];

    for (size_t i = 0; i < 3; i++)
        cosines[i] = trajectory_cell_cosine(cell[3 + i]);
    trajectory_cell_vectors(box, cell, cosines);
    if (cell[0] == 1 && cell[1] == 1 && cell[2] == 1)
        memset(box, 0, 9 * sizeof *box);
}

/* 1 if the symmetric matrix is positive definite; the matrix of a box always is. */
static int is_box(const double cell[6])
{
    double xx = cell[0], xy = cell[1], yy = cell[2], xz = cell[3], yz = cell[4], zz = cell[5];

    return xx > 0 && xx * yy - xy * xy > 0 &&
           xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz) > 0;
}

void trajectory_cell_of_dcd(double box[9], const double cell[6], int version)
{
    static const int rows[9] = {0, 1, 3, 1, 2, 4, 3, 4, 5};
    const double lengths[3] = {cell[0], cell[2], cell[5]};
    double angles[3] = {cell[4], cell[3], cell[1]};
    int cosines = 1, degrees = 1;

    for (size_t i = 0; i < 3; i++) {
        cosines = cosines && fabs(angles[i]) <= 1;
        degrees = degrees && angles[i] >= 0 && angles[i] <= 180;
    }
    if (is_box(cell) && (version > ADAPTED_VERSION || !(cosines || degrees))) {
        for (size_t i = 0; i < 9; i++)
            box[i] = cell[rows[i]] / ANGSTROM;
        return;
    }
    for (size_t i = 0; i < 3 && !cosines; i++)
        angles[i] = trajectory_cell_cosine(angles[i]);
    trajectory_cell_vectors(box, lengths, angles);
}
