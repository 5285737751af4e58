/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_boxes.c */
#include "spanning.h"

#include <math.h>

/* Returns the squared distance from `a` to the nearest image of `b`; HUGE_VAL if a position is not finite.
 * *other becomes 1 if that image is not `b` itself. */
static double square_of(const trajectory_lattice *lattice, const double *a, const double *b,
                        int *other)
{
    double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, square;

    *other = lattice && trajectory_lattice_shorten(lattice, d);
    square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    return isfinite(square) ? square : HUGE_VAL;
}

/* Prim's algorithm. If atom i is not joined yet, nearest[i] is the nearest joined atom and squares[i] the squared
 * distance to it; if atom i is joined, squares[i] is -1. */
double trajectory_span(const trajectory_lattice *lattice, const double *positions, int64_t n,
                       trajectory_bond *edges, double *scratch)
{
    double *squares = scratch, *nearest = scratch + n, longest = 0;
    int64_t last = 0;
    int other;

    for (int64_t i = 0; i < n; i++) {
        squares[i] = HUGE_VAL;
        nearest[i] = 0;
    }
    for (int64_t k = 0; k + 1 < n; k++) {
        int64_t next = -1;

        squares[last] = -1;
        for (int64_t i = 0; i < n; i++) {
            double square;

            if (squares[i] < 0)
                continue;
            square = square_of(lattice, positions + 3 * last, positions + 3 * i, &other);
            if (square < squares[i]) {
                squares[i] = square;
                nearest[i] = (double)last;
            }
            if (next < 0 || squares[i] < squares[next])
                next = i;
        }
        edges[k] = (trajectory_bond){(int64_t)nearest[next], next};
        if (isfinite(squares[next]))
            longest = fmax(longest, squares[next]);
        last = next;
    }
    return sqrt(longest);
}

int trajectory_span_endless(const trajectory_lattice *lattice, const double *positions, int64_t n,
                            double distance)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = i + 1; k < n; k++) {
            int other;
            double square = square_of(lattice, positions + 3 * i, positions + 3 * k, &other);

            if (other && square <= distance * distance)
                return 1;
        }
    return 0;
}
