/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eigen.h - small symmetric eigenproblems, for every backend that works on host memory.
 *
 * Matrices are row-major; vectors are columns. The functions are pure: any thread may call them, and there are no
 * errors.
 */
#pragma once

/*
 * Moments (ascending) and axes of the symmetric part of a. The axes are orthonormal and right-handed, with
 * signs as in the first frame of `principal_axes`: the component of largest magnitude (the first component, if
 * several are equal) of columns 0 and 1 is positive; column 2 is their cross product. For equal moments the
 * axes are some orthonormal basis of their space, for a zero matrix the identity. If `a` is not finite, all
 * results are NaN. `axes` may be `a`. */
void cpu_eigen3(const double a[9], double moments[3], double axes[9]);

/*
 * Chooses the signs of right-handed axes: no column or two columns are reversed, so that the sum of the
 * dot products with the columns of `previous` is the largest. Among equal sums the first in the
 * order +++, +--, -+-, --+ is taken. If `axes` or `previous` has a NaN, nothing changes. */
void cpu_align_axes(double axes[9], const double previous[9]);

/* Unit eigenvector of the largest eigenvalue of the symmetric a, whose upper triangle is
 * read. A multiple of the identity gives (1, 0, 0, 0); anything not finite gives NaN. */
void cpu_largest_eigenvector4(const double a[16], double vector[4]);
