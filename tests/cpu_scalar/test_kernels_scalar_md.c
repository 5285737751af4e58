/* SPDX-License-Identifier: Apache-2.0 */
/* The reference kernels of md on bodies small enough to compute by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "common/kernel_call.h"

/* ---- md: sums over atoms ----------------------------------------------------------------- */

/* A dumbbell along x rotating about z at 2 rad per unit time: masses 1 and 3, com at (3, 5, 0). */
static const float dumbbell[6] = {0, 5, 0, 4, 5, 0};
static const float dumbbell_v[6] = {0, -6, 0, 0, 2, 0};
static const double dumbbell_m[2] = {1, 3};
static const double dumbbell_com[3] = {3, 5, 0};

static void test_sums_over_atoms(void **state)
{
    (void)state;
    double com[3], inertia[9], L[3], energies[3];
    const collet_operand r = ARRAY(dumbbell, F32, 1, 2, 3), v = ARRAY(dumbbell_v, F32, 1, 2, 3);
    const collet_operand m = ARRAY(dumbbell_m, F64, 2);
    CALL(COM, 1, ARRAY(com, F64, 1, 3), r, m);
    EXPECT(com, 3, 0, 3, 5, 0);
    CALL(INERTIA, 1, ARRAY(inertia, F64, 1, 3, 3), r, m, ARRAY(com, F64, 1, 3));
    EXPECT(inertia, 9, 0, 0, 0, 0, 0, 12, 0, 0, 0, 12);
    const double elsewhere[3] = {2, 4, -1};
    CALL(INERTIA, 1, ARRAY(inertia, F64, 1, 3, 3), r, m, ARRAY(elsewhere, F64, 1, 3));
    EXPECT(inertia, 9, 0, 8, -4, -4, -4, 20, -4, -4, -4, 20);
    CALL(CROSS_SUM, 1, ARRAY(L, F64, 1, 3), r, m, ARRAY(com, F64, 1, 3), v);
    EXPECT(L, 3, 0, 0, 0, 24);
    CALL(KINETIC, 1, ARRAY(energies, F64, 1, 3), r, m, v);
    EXPECT(energies, 3, 1e-14, 24, 0, 24);
}

static void test_observables_with_and_without(void **state)
{
    (void)state;
    double com[3], inertia[9], L[3], torque[3], energies[3] = {7, 7, 7};
    const float f[6] = {0, 1, 0, 0, 2, 0};
    const collet_operand r = ARRAY(dumbbell, F32, 1, 2, 3), m = ARRAY(dumbbell_m, F64, 2);
    const collet_operand v = ARRAY(dumbbell_v, F32, 1, 2, 3), forces = ARRAY(f, F32, 1, 2, 3);
    const collet_operand out_com = ARRAY(com, F64, 1, 3), out_I = ARRAY(inertia, F64, 1, 3, 3);
    const collet_operand out_L = ARRAY(L, F64, 1, 3), out_k = ARRAY(energies, F64, 1, 3);
    const collet_operand out_t = ARRAY(torque, F64, 1, 3);
    CALL(OBSERVABLES, 5, out_com, out_I, ABSENT, out_t, ABSENT, r, m, ABSENT, forces, ABSENT);
    EXPECT(com, 3, 0, 3, 5, 0);
    EXPECT(inertia, 9, 0, 0, 0, 0, 0, 12, 0, 0, 0, 12);
    EXPECT(torque, 3, 0, 0, 0, -1);
    CALL(OBSERVABLES, 5, out_com, out_I, out_L, ABSENT, out_k, r, m, v, ABSENT, ABSENT);
    EXPECT(L, 3, 0, 0, 0, 24);
    EXPECT(energies, 3, 1e-14, 24, 0, 24);
}

/* Offsets that libcore could not check lead to no atom that does not exist. */
static void test_bodies(void **state)
{
    (void)state;
    double com[12], inertia[36];
    const double frames[2 * 2] = {1, 3, 0, 2};
    const float twice[12] = {0, 5, 0, 4, 5, 0, 1, 5, 0, 5, 5, 0};
    const int64_t offsets[3] = {0, 1, 2}, bad[3] = {-7, 1, INT64_MAX}, falling[3] = {2, 9, 1};
    const collet_operand r = ARRAY(twice, F32, 2, 2, 3), m = ARRAY(frames, F64, 2, 2);
    const collet_operand out = ARRAY(com, F64, 2, 2, 3), out_I = ARRAY(inertia, F64, 2, 2, 3, 3);
    CALL(COM, 1, ARRAY(com, F64, 2, 3), r, m);
    EXPECT(com, 6, 0, 3, 5, 0, 5, 5, 0);
    CALL(OBSERVABLES, 5, out, out_I, ABSENT, ABSENT, ABSENT, r, m, ABSENT, ABSENT,
         ARRAY(offsets, I64, 3));
    EXPECT(com, 12, 0, 0, 5, 0, 4, 5, 0, NAN, NAN, NAN, 5, 5, 0);
    CALL(OBSERVABLES, 5, out, out_I, ABSENT, ABSENT, ABSENT, r, m, ABSENT, ABSENT,
         ARRAY(bad, I64, 3));
    EXPECT(com, 12, 0, 0, 5, 0, 4, 5, 0, NAN, NAN, NAN, 5, 5, 0);
    CALL(OBSERVABLES, 5, out, out_I, ABSENT, ABSENT, ABSENT, r, m, ABSENT, ABSENT,
         ARRAY(falling, I64, 3));
    EXPECT(com, 12, 0, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN);
    EXPECT(inertia + 27, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

static void test_atoms_in_odd_numbers(void **state)
{
    (void)state;
    double com[3], energies[3], inertia[9], r[1] = {0}, tensor[9], asphericity;
    CALL(COM, 1, ARRAY(com, F64, 1, 3), ARRAY(r, F64, 1, 0, 3), ARRAY(r, F64, 0));
    EXPECT(com, 3, 0, NAN, NAN, NAN);
    CALL(INERTIA, 1, ARRAY(inertia, F64, 1, 3, 3), ARRAY(r, F64, 1, 0, 3), ARRAY(r, F64, 0),
         ARRAY(dumbbell_com, F64, 1, 3));
    EXPECT(inertia, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    CALL(KINETIC, 1, ARRAY(energies, F64, 1, 3), ARRAY(r, F64, 1, 0, 3), ARRAY(r, F64, 0),
         ARRAY(r, F64, 1, 0, 3));
    EXPECT(energies, 3, 0, 0, NAN, NAN);
    CALL(COM, 1, ARRAY(com, F64, 0, 3), ARRAY(r, F64, 0, 1, 3), ARRAY(r, F64, 1));
    const double massless[2] = {0, 0};
    CALL(COM, 1, ARRAY(com, F64, 1, 3), ARRAY(dumbbell, F32, 1, 2, 3), ARRAY(massless, F64, 2));
    EXPECT(com, 3, 0, NAN, NAN, NAN);
    const double one[3] = {3.3, -7.8, 1e7}, mass = 12.011;
    CALL(COM, 1, ARRAY(com, F64, 1, 3), ARRAY(one, F64, 1, 1, 3), ARRAY(&mass, F64, 1));
    EXPECT(com, 3, 0, 3.3, -7.8, 1e7);
    CALL(GYRATION, 3, ARRAY(r, F64, 1), ARRAY(tensor, F64, 1, 3, 3), ARRAY(&asphericity, F64, 1),
         ARRAY(one, F64, 1, 1, 3), ARRAY(&mass, F64, 1), ABSENT);
    EXPECT(((double[]){r[0], asphericity}), 2, 0, 0, NAN);
}

static void test_atoms_through_strides(void **state)
{
    (void)state;
    /* 600 atoms, more than one chunk, stored by component and in reverse. */
    static double columns[3][600], masses[600];
    for (int i = 0; i < 600; i++) {
        masses[i] = 2.0;
        columns[0][i] = i;
        columns[1][i] = 1.0;
        columns[2][i] = -i;
    }
    const int64_t shape[] = {1, 600, 3}, strides[] = {1800, -1, 600};
    const collet_operand r = {columns, 599 * sizeof(double), COLLET_F64, 3, shape, strides};
    double com[3];
    CALL(COM, 1, ARRAY(com, F64, 1, 3), r, ARRAY(masses, F64, 600));
    EXPECT(com, 3, 1e-12, 299.5, 1, -299.5);
}

static void test_gyration(void **state)
{
    (void)state;
    double radius, tensor[9], asphericity;
    CALL(GYRATION, 3, ARRAY(&radius, F64, 1), ARRAY(tensor, F64, 1, 3, 3),
         ARRAY(&asphericity, F64, 1), ARRAY(dumbbell, F32, 1, 2, 3), ARRAY(dumbbell_m, F64, 2),
         ABSENT);
    EXPECT(tensor, 9, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0);
    EXPECT(((double[]){radius, asphericity}), 2, 1e-15, sqrt(3.0), 1);
    const double cross[18] = {1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1};
    const double ones[6] = {1, 1, 1, 1, 1, 1};
    CALL(GYRATION, 3, ARRAY(&radius, F64, 1), ARRAY(tensor, F64, 1, 3, 3),
         ARRAY(&asphericity, F64, 1), ARRAY(cross, F64, 1, 6, 3), ARRAY(ones, F64, 6), ABSENT);
    EXPECT(((double[]){radius, asphericity}), 2, 1e-15, 1, 0);
}

/* Four points without symmetry, and the same rotated by 90 degrees about z and translated. */
static const double shape_points[12] = {0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3};
static const double rotated_points[12] = {5, 5, 5, 5, 6, 5, 3, 5, 5, 5, 5, 8};

static void test_rmsd(void **state)
{
    (void)state;
    double rmsd, R[9];
    CALL(RMSD, 2, ARRAY(&rmsd, F64, 1), ARRAY(R, F64, 1, 3, 3), ARRAY(rotated_points, F64, 1, 4, 3),
         ABSENT, ARRAY(shape_points, F64, 4, 3), ABSENT);
    EXPECT(&rmsd, 1, 1e-14, 0);
    EXPECT(R, 9, 1e-14, 0, 1, 0, -1, 0, 0, 0, 0, 1);
    double mirrored[12];
    for (int i = 0; i < 12; i++)
        mirrored[i] = i % 3 == 2 ? -shape_points[i] : shape_points[i];
    const double w[4] = {1, 2, 3, 4};
    CALL(RMSD, 2, ARRAY(&rmsd, F64, 1), ARRAY(R, F64, 1, 3, 3), ARRAY(mirrored, F64, 1, 4, 3),
         ARRAY(w, F64, 4), ARRAY(shape_points, F64, 4, 3), ABSENT);
    double det = R[0] * (R[4] * R[8] - R[5] * R[7]) - R[1] * (R[3] * R[8] - R[5] * R[6]) +
                 R[2] * (R[3] * R[7] - R[4] * R[6]);
    EXPECT(&det, 1, 1e-14, 1);
    assert_true(rmsd > 0.1);
    const double none[4] = {0, 0, 0, 0};
    CALL(RMSD, 2, ARRAY(&rmsd, F64, 1), ARRAY(R, F64, 1, 3, 3), ARRAY(mirrored, F64, 1, 4, 3),
         ARRAY(none, F64, 4), ARRAY(shape_points, F64, 4, 3), ABSENT);
    EXPECT(((double[]){rmsd, R[0], R[8]}), 3, 0, NAN, NAN, NAN);
    CALL(RMSD, 2, ARRAY(&rmsd, F64, 1), ARRAY(R, F64, 1, 3, 3), ARRAY(mirrored, F64, 1, 0, 3),
         ABSENT, ARRAY(shape_points, F64, 0, 3), ABSENT);
    EXPECT(((double[]){rmsd, R[0], R[8]}), 3, 0, NAN, NAN, NAN);
    CALL(RMSD, 2, ARRAY(&rmsd, F64, 1), ARRAY(R, F64, 1, 3, 3), ARRAY(mirrored + 3, F64, 1, 1, 3),
         ABSENT, ARRAY(shape_points, F64, 1, 3), ABSENT);
    EXPECT(((double[]){rmsd, R[0], R[1], R[4], R[8]}), 5, 0, 0, 1, 0, 1, 1);
}

/* ---- md: from the sums ------------------------------------------------------------------- */

static void test_principal_axes(void **state)
{
    (void)state;
    double m[3], a[9];
    const double tensor[9] = {2.28, 0.96, 0, 0.96, 1.72, 0, 0, 0, 5};
    CALL(PRINCIPAL_AXES, 2, ARRAY(m, F64, 1, 3), ARRAY(a, F64, 1, 3, 3),
         ARRAY(tensor, F64, 1, 3, 3), ABSENT);
    EXPECT(m, 3, 1e-15, 1, 3, 5);
    EXPECT(a, 9, 1e-15, -0.6, 0.8, 0, 0.8, 0.6, 0, 0, 0, -1);
    const double zero[9] = {0};
    CALL(PRINCIPAL_AXES, 2, ARRAY(m, F64, 1, 3), ARRAY(a, F64, 1, 3, 3), ARRAY(zero, F64, 1, 3, 3),
         ABSENT);
    EXPECT(m, 3, 0, 0, 0, 0);
    EXPECT(a, 9, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1);
    const double bad[9] = {1, 0, 0, 0, NAN, 0, 0, 0, 1};
    CALL(PRINCIPAL_AXES, 2, ARRAY(m, F64, 1, 3), ARRAY(a, F64, 1, 3, 3), ARRAY(bad, F64, 1, 3, 3),
         ABSENT);
    EXPECT(m, 3, 0, NAN, NAN, NAN);
    EXPECT(a, 3, 0, NAN, NAN, NAN);
}

static void test_axes_of_many_tensors(void **state)
{
    (void)state;
    for (int k = 0; k < 200; k++) {
        double t[9], m[3], a[9];
        for (int i = 0; i < 9; i++)
            t[i] = sin(1.0 + 37.0 * k + 5.0 * (i % 3 + i / 3) + 3.0 * (i % 3) * (i / 3));
        CALL(PRINCIPAL_AXES, 2, ARRAY(m, F64, 1, 3), ARRAY(a, F64, 1, 3, 3), ARRAY(t, F64, 1, 3, 3),
             ABSENT);
        assert_true(m[0] <= m[1] && m[1] <= m[2]);
        for (int j = 0; j < 3; j++) {
            double lowest = fmin(a[j], fmin(a[3 + j], a[6 + j]));
            double most = fmax(a[j], fmax(a[3 + j], a[6 + j]));
            assert_true(j == 2 || most >= -lowest);
            for (int i = 0; i < 3; i++) {
                double image = 0, overlap = 0;
                for (int l = 0; l < 3; l++) {
                    image += t[3 * i + l] * a[3 * l + j];
                    overlap += a[3 * l + i] * a[3 * l + j];
                }
                EXPECT(&image, 1, 4e-15, m[j] * a[3 * i + j]);
                EXPECT(&overlap, 1, 2e-15, i == j);
            }
        }
    }
}

static void test_axes_keep_their_signs(void **state)
{
    (void)state;
    /* A body rotating about z in steps of 30 degrees: no axis may flip its sign. */
    enum { FRAMES = 24 };
    static double I[FRAMES][9], m[FRAMES][3], a[FRAMES][9], tail[FRAMES][9];
    for (int f = 0; f < FRAMES; f++) {
        const double angle = (f + 0.1) * acos(-1.0) / 6;
        double c = cos(angle), s = sin(angle);
        const double tensor[9] = {
            c * c + 2 * s * s, -c * s, 0, -c * s, s * s + 2 * c * c, 0, 0, 0, 3};
        memcpy(I[f], tensor, sizeof tensor);
    }
    CALL(PRINCIPAL_AXES, 2, ARRAY(m, F64, FRAMES, 3), ARRAY(a, F64, FRAMES, 3, 3),
         ARRAY(I, F64, FRAMES, 3, 3), ABSENT);
    for (int f = 1; f < FRAMES; f++) {
        for (int k = 0; k < 3; k++) {
            double dot = 0;
            for (int i = 0; i < 9; i += 3)
                dot += a[f][i + k] * a[f - 1][i + k];
            assert_true(dot > 0.8);
        }
    }
    assert_true(a[6][0] < -0.99);
    for (int f = 0; f < FRAMES; f++) {
        double *x = tail[0];
        CALL(PRINCIPAL_AXES, 2, ARRAY(m, F64, 1, 3), ARRAY(x, F64, 1, 3, 3),
             ARRAY(I[f], F64, 1, 3, 3), ABSENT);
        assert_true(fabs(x[0]) > fabs(x[3]) ? x[0] > 0 && x[4] > 0 : x[3] > 0 && x[1] > 0);
        assert_true(fabs(x[8] - (x[0] * x[4] - x[3] * x[1])) < 1e-15);
    }
    CALL(PRINCIPAL_AXES, 2, ARRAY(m, F64, 18, 3), ARRAY(tail, F64, 18, 3, 3),
         ARRAY(I[6], F64, 18, 3, 3), ARRAY(a[5], F64, 3, 3));
    assert_memory_equal(a[6], tail[0], 18 * sizeof a[0]);
}

static void test_euler_and_tilt(void **state)
{
    (void)state;
    double angles[9], tilt[2];
    const double phi = 0.3, theta = 1.1, psi = -2.5;
    const double cp = cos(phi), sp = sin(phi), ct = cos(theta), st = sin(theta);
    const double cs = cos(psi), ss = sin(psi);
    const double R[27] = {
        cp * ct * cs - sp * ss,
        -cp * ct * ss - sp * cs,
        cp * st,
        sp * ct * cs + cp * ss,
        -sp * ct * ss + cp * cs,
        sp * st,
        -st * cs,
        st * ss,
        ct,
        1,
        0,
        0,
        0,
        1,
        0,
        0,
        0,
        1.0000000001,
        0,
        -1,
        0,
        1,
        0,
        0,
        0,
        0,
        1,
    };
    CALL(EULER_ZYZ, 1, ARRAY(angles, F64, 3, 3), ARRAY(R, F64, 3, 3, 3));
    EXPECT(angles, 9, 1e-15, phi, theta, psi, 0, 0, 0, acos(0.0), 0, 0);
    const double axis[3] = {0, 0, -2}, none[3] = {0, 0, 0};
    const double axes[18] = {0.8, 0.6, 0, 0, 0, 1, 0.6, -0.8, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    CALL(TILT, 1, ARRAY(tilt, F64, 2), ARRAY(axes, F64, 2, 3, 3), ARRAY(axis, F64, 3));
    EXPECT(tilt, 2, 1e-13, asin(0.6) * 180 / acos(-1.0), 0);
    CALL(TILT, 1, ARRAY(tilt, F64, 2), ARRAY(axes, F64, 2, 3, 3), ARRAY(none, F64, 3));
    EXPECT(tilt, 2, 0, NAN, NAN);
}

static void test_angular_velocity(void **state)
{
    (void)state;
    /* The second is a rod along (1, 2, 3), up to rounding: no omega yields L's axial component. */
    const double s = 0.1;
    const double I[27] = {
        /* clang-format off */
        2, 0, 0, 0, 4, 0, 0, 0, 8,
        s * 13, s * -2, s * -3, s * -2, s * 10, s * -6, s * -3, s * -6, s * 5,
        NAN, 0, 0, 0, 1, 0, 0, 0, 1,
        /* clang-format on */
    };
    const double L[9] = {2, 4, 16, 4.2 + 1, 2, -1.4 + 3, 1, 1, 1};
    double omega[9];
    int32_t info[3] = {9, 9, 9};
    CALL(ANGULAR_VELOCITY, 2, ARRAY(omega, F64, 3, 3), ARRAY(info, I32, 3), ARRAY(I, F64, 3, 3, 3),
         ARRAY(L, F64, 3, 3));
    EXPECT(omega, 9, 1e-14, 1, 1, 2, 3, 0, -1, NAN, NAN, NAN);
    assert_memory_equal(((int32_t[]){0, 1, 0}), info, sizeof info);
}

static void test_decompose_and_magnitude(void **state)
{
    (void)state;
    const double v[6] = {1, 2, 3, 4, 5, 6}, axes[6] = {0, 0, -9, 0, 0, 0}, z[3] = {0, 0, 1e-300};
    double parallel[6], across[6], norm[2];
    const collet_operand p = ARRAY(parallel, F64, 2, 3), q = ARRAY(across, F64, 2, 3);
    CALL(DECOMPOSE, 2, p, q, ARRAY(v, F64, 2, 3), ARRAY(axes, F64, 2, 3));
    EXPECT(parallel, 6, 0, 0, 0, 3, 0, 0, 0);
    EXPECT(across, 6, 0, 1, 2, 0, 4, 5, 6);
    CALL(DECOMPOSE, 2, p, q, ARRAY(v, F64, 2, 3), ARRAY(z, F64, 3));
    EXPECT(parallel, 6, 0, 0, 0, 3, 0, 0, 6);
    const double extreme[4] = {3e300, -4e300, 3e-320, 4e-320},
                 odd[4] = {INFINITY, NAN, INFINITY, 1};
    CALL(MAGNITUDE, 1, ARRAY(norm, F64, 2), ARRAY(extreme, F64, 2, 2));
    assert_true(norm[0] == 5e300 && norm[1] == 5e-320);
    CALL(MAGNITUDE, 1, ARRAY(norm, F64, 2), ARRAY(odd, F64, 2, 2));
    EXPECT(norm, 2, 0, NAN, INFINITY);
    CALL(MAGNITUDE, 1, ARRAY(norm, F64, 2), ARRAY(odd, F64, 2, 0));
    EXPECT(norm, 2, 0, 0, 0);
}

static void test_time_derivative(void **state)
{
    (void)state;
    const double x[12] = {0, 0, 0, 1, 2, 3, 4, 8, 12, 9, 18, 27};
    const double t[4] = {0, 1, 2, 3}, stuck[4] = {0, 1, 0, 2};
    double rate[12];
    int32_t info = 9;
    const collet_operand xs = ARRAY(x, F64, 4, 3), out = ARRAY(rate, F64, 4, 3);
    CALL(TIME_DERIVATIVE, 2, out, SCALAR(&info, I32), xs, ARRAY(t, F64, 4));
    EXPECT(rate, 12, 0, 1, 2, 3, 2, 4, 6, 4, 8, 12, 5, 10, 15);
    assert_int_equal(0, info);
    CALL(TIME_DERIVATIVE, 2, out, SCALAR(&info, I32), xs, ARRAY(stuck, F64, 4));
    EXPECT(rate, 6, 0, 1, 2, 3, NAN, NAN, NAN);
    assert_int_equal(2, info);
    CALL(TIME_DERIVATIVE, 2, ARRAY(rate, F64, 1, 3), SCALAR(&info, I32), ARRAY(x, F64, 1, 3),
         ARRAY(t, F64, 1));
    EXPECT(rate, 3, 0, 0, 0, 0);
    assert_int_equal(0, info);
    CALL(TIME_DERIVATIVE, 2, ARRAY(rate, F64, 0, 3), SCALAR(&info, I32), ARRAY(x, F64, 0, 3),
         ARRAY(t, F64, 0));
    assert_int_equal(0, info);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_over_atoms),
        cmocka_unit_test(test_observables_with_and_without),
        cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_atoms_in_odd_numbers),
        cmocka_unit_test(test_atoms_through_strides),
        cmocka_unit_test(test_gyration),
        cmocka_unit_test(test_rmsd),
        cmocka_unit_test(test_principal_axes),
        cmocka_unit_test(test_axes_of_many_tensors),
        cmocka_unit_test(test_axes_keep_their_signs),
        cmocka_unit_test(test_euler_and_tilt),
        cmocka_unit_test(test_angular_velocity),
        cmocka_unit_test(test_decompose_and_magnitude),
        cmocka_unit_test(test_time_derivative),
    };
    return cmocka_run_group_tests(tests, open_plugin, close_plugin);
}
