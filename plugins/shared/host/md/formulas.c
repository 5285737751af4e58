/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/md/md.c, conformance/md/axes.c */
#include "formulas.h"

#include <math.h>

#include "eigen.h"
#include "vector3.h"

#define DEGREES (180.0 / 3.14159265358979323846)

/* Jacobi's method computes a moment that is exactly 0 as a few 1e-16 of the largest moment. */
#define SINGULAR 1e-12

void cpu_euler_zyz(const double r[9], double angles[3])
{
    double cosine = r[8];
    if (cosine > 1.0)
        cosine = 1.0;
    if (cosine < -1.0)
        cosine = -1.0;
    angles[1] = acos(cosine);
    if ((r[2] == 0.0 && r[5] == 0.0) || (r[6] == 0.0 && r[7] == 0.0)) {
        /* Here only phi +- psi is defined, and the general formulas would depend on the signs of zeros. */
        angles[0] = atan2(0.0 - r[1], r[4]);
        angles[2] = 0.0;
        return;
    }
    angles[0] = atan2(r[5], r[2]);
    angles[2] = atan2(r[7], -r[6]);
}

void cpu_inertia(const double s[6], double inertia[9])
{
    inertia[0] = s[1] + s[2];
    inertia[4] = s[0] + s[2];
    inertia[8] = s[0] + s[1];
    inertia[1] = inertia[3] = 0.0 - s[3];
    inertia[2] = inertia[6] = 0.0 - s[4];
    inertia[5] = inertia[7] = 0.0 - s[5];
}

double cpu_tilt(const double axes[9], const double axis[3])
{
    double column[3] = {axes[0], axes[3], axes[6]};
    double a[3], b[3], normal[3];
    if (!cpu_unit3(column, a) || !cpu_unit3(axis, b))
        return NAN;
    /* Computes 90 - theta from both its sine and its cosine, because an arc cosine loses half the digits near 0. */
    cpu_cross3(a, b, normal);
    return atan2(fabs(cpu_dot3(a, b)), sqrt(cpu_dot3(normal, normal))) * DEGREES;
}

int32_t cpu_angular_velocity(const double inertia[9], const double L[3], double omega[3])
{
    double moments[3], axes[9];
    int32_t singular = 0;
    cpu_eigen3(inertia, moments, axes);
    double cutoff = SINGULAR * fmax(fabs(moments[0]), fabs(moments[2]));
    omega[0] = omega[1] = omega[2] = 0.0;
    for (int k = 0; k < 3; k++) {
        double along = axes[k] * L[0] + axes[3 + k] * L[1] + axes[6 + k] * L[2];
        if (fabs(moments[k]) <= cutoff) {
            singular = 1;
            continue;
        }
        along /= moments[k];
        for (int i = 0; i < 3; i++)
            omega[i] += axes[3 * i + k] * along;
    }
    int finite = isfinite(moments[0]) && isfinite(L[0]) && isfinite(L[1]) && isfinite(L[2]);
    if (!finite)
        omega[0] = omega[1] = omega[2] = NAN;
    return finite ? singular : 0;
}

void cpu_decompose(const double v[3], const double axis[3], double parallel[3],
                   double perpendicular[3])
{
    double u[3];
    int axis_given = cpu_unit3(axis, u);
    double along = axis_given ? cpu_dot3(v, u) : 0.0;
    for (int i = 0; i < 3; i++) {
        parallel[i] = along * u[i];
        perpendicular[i] = v[i] - parallel[i];
    }
}

void cpu_kinetic(double vis_viva, double mass, const double momentum[3], const double inertia[9],
                 const double L[3], double energies[3])
{
    double omega[3];
    energies[0] = 0.5 * vis_viva;
    if (mass == 0.0) {
        energies[1] = energies[2] = NAN;
        return;
    }
    (void)cpu_angular_velocity(inertia, L, omega);
    energies[1] = 0.5 * (cpu_dot3(momentum, momentum) / mass);
    energies[2] = 0.5 * cpu_dot3(omega, L);
}

double cpu_asphericity(const double g[9])
{
    double trace = g[0] + g[4] + g[8];
    if (trace == 0.0)
        return NAN;
    /* sum (l - mean)^2 is the squared norm of the traceless part: nothing cancels. */
    double x = ((g[0] - g[4]) + (g[0] - g[8])) / 3.0 / trace;
    double y = ((g[4] - g[0]) + (g[4] - g[8])) / 3.0 / trace;
    double z = ((g[8] - g[0]) + (g[8] - g[4])) / 3.0 / trace;
    double xy = g[1] / trace, xz = g[2] / trace, yz = g[5] / trace;
    return 1.5 * (x * x + y * y + z * z + 2.0 * (xy * xy + xz * xz + yz * yz));
}

void cpu_superpose(const double s[9], double rotation[9])
{
    /* B. K. P. Horn, J. Opt. Soc. Am. A 4, 629 (1987): the best rotation is the quaternion of the
     * largest eigenvalue of this matrix; a quaternion cannot be a reflection. */
    const double m[16] = {
        /* clang-format off */
        s[0] + s[4] + s[8], s[5] - s[7],        s[6] - s[2],         s[1] - s[3],
        0.0,                s[0] - s[4] - s[8], s[1] + s[3],         s[6] + s[2],
        0.0,                0.0,                -s[0] + s[4] - s[8], s[5] + s[7],
        0.0,                0.0,                0.0,                 -s[0] - s[4] + s[8],
        /* clang-format on */
    };
    double q[4];
    cpu_largest_eigenvector4(m, q);
    double w = q[0], x = q[1], y = q[2], z = q[3];
    rotation[0] = w * w + x * x - y * y - z * z;
    rotation[1] = 2.0 * (x * y - w * z);
    rotation[2] = 2.0 * (x * z + w * y);
    rotation[3] = 2.0 * (x * y + w * z);
    rotation[4] = w * w - x * x + y * y - z * z;
    rotation[5] = 2.0 * (y * z - w * x);
    rotation[6] = 2.0 * (x * z - w * y);
    rotation[7] = 2.0 * (y * z + w * x);
    rotation[8] = w * w - x * x - y * y + z * z;
}
