/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/linalg/spectra.c, tests/host/test_decompositions.c */
#include <float.h>
#include <math.h>

#include "rotation.h"
#include "spectral.h"

/* Limit of the average number of steps per singular value; two are usual. */
#define STEPS 60

static void turn_left(const bidiagonal *b, int64_t i, int64_t k, double c, double s)
{
    cpu_rotate(b->left + i * b->left_length, b->left + k * b->left_length, b->left_length, c, s);
}

static void turn_right(const bidiagonal *b, int64_t i, int64_t k, double c, double s)
{
    cpu_rotate(b->right + i * b->right_length, b->right + k * b->right_length, b->right_length, c,
               s);
}

/* ---- Iteration ------------------------------------------------------------------------------- */

/* Called if d[zero] is 0 and is not the last element of a block: makes e[zero] 0 by rotations with the rows
 * below. */
static void clear_row(const bidiagonal *b, int64_t zero, int64_t last)
{
    double f = b->e[zero], c, s;
    b->e[zero] = 0.0;
    for (int64_t k = zero + 1; k <= last && f != 0.0; k++) {
        b->d[k] = cpu_rotation(b->d[k], f, &c, &s);
        turn_left(b, k, zero, c, s);
        f = -s * b->e[k];
        if (k < last)
            b->e[k] *= c;
    }
}

/* Called if d[last] is 0: makes e[last - 1] 0 by rotations with the columns before it. */
static void clear_column(const bidiagonal *b, int64_t first, int64_t last)
{
    double f = b->e[last - 1], c, s;
    b->e[last - 1] = 0.0;
    for (int64_t k = last - 1; k >= first && f != 0.0; k--) {
        b->d[k] = cpu_rotation(b->d[k], f, &c, &s);
        turn_right(b, k, last, c, s);
        if (k == first)
            break;
        f = -s * b->e[k - 1];
        b->e[k - 1] *= c;
    }
}

/* The last 2 x 2 block of B^T B has two eigenvalues. Returns the eigenvalue that is closer to the
 * block's last entry. */
static double shift_of(const bidiagonal *b, int64_t first, int64_t last)
{
    const double *d = b->d, *e = b->e;
    double before = last - 1 > first ? e[last - 2] : 0.0;
    double top = d[last - 1] * d[last - 1] + before * before;
    double off_diagonal = d[last - 1] * e[last - 1];
    double bottom = d[last] * d[last] + e[last - 1] * e[last - 1];
    double half = (top - bottom) / 2.0;
    double far = half + copysign(hypot(half, off_diagonal), half);
    return far == 0.0 ? bottom : bottom - off_diagonal / far * off_diagonal;
}

/* One implicit QR step on the unreduced block first..last, where no d is 0. */
static void step(const bidiagonal *b, int64_t first, int64_t last)
{
    double *d = b->d, *e = b->e, c, s;
    double y = d[first] - shift_of(b, first, last) / d[first], z = e[first];
    for (int64_t k = first; k < last; k++) {
        double r = cpu_rotation(y, z, &c, &s);
        if (k > first)
            e[k - 1] = r;
        turn_right(b, k, k + 1, c, s);
        y = c * d[k] + s * e[k];
        e[k] = c * e[k] - s * d[k];
        z = s * d[k + 1];
        d[k + 1] *= c;
        d[k] = cpu_rotation(y, z, &c, &s);
        turn_left(b, k, k + 1, c, s);
        y = c * e[k] + s * d[k + 1];
        d[k + 1] = c * d[k + 1] - s * e[k];
        e[k] = y;
        z = 0.0;
        if (k + 1 < last) {
            z = s * e[k + 1];
            e[k + 1] *= c;
        }
    }
}

/* Whether e[i] is negligible, so that the matrix splits there. */
static int is_split(const bidiagonal *b, int64_t i)
{
    return fabs(b->e[i]) <= DBL_EPSILON / 2.0 * (fabs(b->d[i]) + fabs(b->d[i + 1]));
}

/* The index of a d in the block that is negligible relative to the whole matrix, or -1. */
static int64_t find_zero(const bidiagonal *b, int64_t first, int64_t last, double norm)
{
    for (int64_t i = first; i <= last; i++)
        if (fabs(b->d[i]) <= DBL_EPSILON / 2.0 * norm)
            return i;
    return -1;
}

static int diagonalise(const bidiagonal *b)
{
    double norm = 0.0;
    for (int64_t i = 0; i < b->n; i++)
        norm = fmax(norm, fabs(b->d[i]) + fabs(b->e[i]));
    int64_t left = STEPS * b->n;
    for (int64_t last = b->n - 1; last > 0;) {
        int64_t first = last;
        while (first > 0 && !is_split(b, first - 1))
            first--;
        if (first > 0)
            b->e[first - 1] = 0.0;
        if (first == last) {
            last--;
            continue;
        }
        if (left-- == 0)
            return 1;
        int64_t zero = find_zero(b, first, last, norm);
        if (zero < 0) {
            step(b, first, last);
            continue;
        }
        b->d[zero] = 0.0;
        if (zero < last)
            clear_row(b, zero, last);
        else
            clear_column(b, first, last);
    }
    return 0;
}

/* ---- Order ----------------------------------------------------------------------------------- */

static void sort(const bidiagonal *b)
{
    for (int64_t i = 0; i < b->n; i++) {
        if (signbit(b->d[i])) {
            b->d[i] = -b->d[i];
            for (int64_t k = 0; k < b->right_length; k++)
                b->right[i * b->right_length + k] = -b->right[i * b->right_length + k];
        }
    }
    for (int64_t i = 0; i + 1 < b->n; i++) {
        int64_t most = i;
        for (int64_t k = i + 1; k < b->n; k++)
            if (b->d[k] > b->d[most])
                most = k;
        if (most == i)
            continue;
        cpu_rows_swap(b->d + i, b->d + most, 1);
        cpu_rows_swap(b->left + i * b->left_length, b->left + most * b->left_length,
                      b->left_length);
        cpu_rows_swap(b->right + i * b->right_length, b->right + most * b->right_length,
                      b->right_length);
    }
}

int cpu_bidiagonal_svd(const bidiagonal *b)
{
    if (diagonalise(b))
        return 1;
    sort(b);
    return 0;
}
