/* SPDX-License-Identifier: Apache-2.0 */
/* formulas.h - formulas on the sums over one frame's atoms, for every backend that works on host
 * memory. docs/KERNELS.md has the formulas. Matrices are 3 x 3, row-major; axes are columns. The functions are pure:
 * any thread may call them, and there are no errors. Outputs must not be inputs. */
#pragma once

#include <stdint.h>

/* The angles phi, theta, psi, in radians, of R = Rz(phi) Ry(theta) Rz(psi). psi = 0 if sin theta is 0. */
void cpu_euler_zyz(const double rotation[9], double angles[3]);

/* The inertia tensor from the second moments xx yy zz xy xz yz. */
void cpu_inertia(const double moments[6], double inertia[9]);

/* |90 - theta| in degrees, where theta is the angle between `axis` and column 0 of `axes`. NaN if either is 0. */
double cpu_tilt(const double axes[9], const double axis[3]);

/* omega = inertia^-1 L. Moments whose magnitude is at most 1e-12 of the largest count as zero; omega is then
 * the minimum-norm least-squares solution, and the result is 1. Otherwise the result is 0. If an input is not
 * finite, omega is NaN and the result is 0. */
int32_t cpu_angular_velocity(const double inertia[9], const double L[3], double omega[3]);

/* Components of v parallel and perpendicular to `axis`. If the axis is zero, parallel is 0 and perpendicular is v. */
void cpu_decompose(const double v[3], const double axis[3], double parallel[3],
                   double perpendicular[3]);

/* energies: total, translational and rotational energy of a frame. vis_viva = sum m v.v, mass = sum m,
 * momentum = sum m v; inertia and L are about the centre of mass. If the mass is 0, the translational and the
 * rotational energy are NaN. */
void cpu_kinetic(double vis_viva, double mass, const double momentum[3], const double inertia[9],
                 const double L[3], double energies[3]);

/* 3/2 sum (l - mean l)^2 / (sum l)^2 of the eigenvalues l of a symmetric tensor; trace 0: NaN. */
double cpu_asphericity(const double tensor[9]);

/* The proper rotation R that maximises sum w y.(R x), from covariance[i][j] = sum w x_i y_j: it
 * superposes the points x on the points y. If the covariance is 0, R is the identity; if it is not finite, R is NaN. */
void cpu_superpose(const double covariance[9], double rotation[9]);
