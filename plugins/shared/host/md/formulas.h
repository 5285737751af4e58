/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formulas.h - formulas on the sums over one frame's atoms, for every backend that works on host
 * memory. docs/KERNELS.md has the formulas. Matrices are 3 x 3, row-major; axes are columns. Pure
 * functions: any thread, no state, no errors. Outputs must not be inputs.
 */
#ifndef PLUGINS_SHARED_HOST_MD_FORMULAS_H
#define PLUGINS_SHARED_HOST_MD_FORMULAS_H

#include <stdint.h>

/* phi, theta, psi in radians of R = Rz(phi) Ry(theta) Rz(psi); psi = 0 where sin theta is 0. */
void cpu_euler_zyz(const double rotation[9], double angles[3]);

/* The inertia tensor from the second moments xx yy zz xy xz yz. */
void cpu_inertia(const double moments[6], double inertia[9]);

/* |90 - theta| in degrees, theta between column 0 of `axes` and `axis`; NaN when either is zero. */
double cpu_tilt(const double axes[9], const double axis[3]);

/*
 * omega = inertia^-1 L. Moments of at most 1e-12 of the largest magnitude count as zero: omega is
 * then the minimum-norm least-squares solution and 1 is returned, otherwise 0. Not finite: omega is
 * NaN, 0 is returned.
 */
int32_t cpu_angular_velocity(const double inertia[9], const double L[3], double omega[3]);

/* Components of v parallel and perpendicular to `axis`. A zero axis: parallel is 0, perpendicular
 * v. */
void cpu_decompose(const double v[3], const double axis[3], double parallel[3],
                   double perpendicular[3]);

/*
 * energies: total, translational, rotational of a frame with sum m v.v = vis_viva, sum m = mass,
 * sum m v = momentum, and inertia and L about the com. Mass 0: the last two are NaN.
 */
void cpu_kinetic(double vis_viva, double mass, const double momentum[3], const double inertia[9],
                 const double L[3], double energies[3]);

/* 3/2 sum (l - mean l)^2 / (sum l)^2 of the eigenvalues l of a symmetric tensor; trace 0: NaN. */
double cpu_asphericity(const double tensor[9]);

/*
 * The proper rotation R that maximises sum w y.(R x), from covariance[i][j] = sum w x_i y_j: it
 * superposes the points x on the points y. Covariance 0: the identity. Not finite: NaN.
 */
void cpu_superpose(const double covariance[9], double rotation[9]);

#endif
