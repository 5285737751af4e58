/* SPDX-License-Identifier: Apache-2.0 */
/* Defects of md kernels, all f64. Results not affected by the defect may be inaccurate. */
#include "broken.h"

#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static void vector(const collet_operand *o, int64_t i, double v[3])
{
    for (int k = 0; k < 3; k++)
        v[k] = broken_get(o, 3 * i + k);
}

static void put(const collet_operand *o, int64_t i, const double *v, int count)
{
    for (int k = 0; k < count; k++)
        broken_set(o, count * i + k, v[k]);
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

BROKEN_KERNEL(com_of_nothing)
{
    const collet_operand *o = call->operands;
    int64_t frames = o[1].shape[0], atoms = o[1].shape[1];
    (void)device, (void)queue;
    for (int64_t f = 0; f < frames; f++) {
        double mass = 0, sum[3] = {0}, r[3];
        for (int64_t i = 0; i < atoms; i++) {
            double m = broken_get(&o[2], i);
            vector(&o[1], f * atoms + i, r);
            mass += m;
            for (int k = 0; k < 3; k++)
                sum[k] += m * r[k];
        }
        for (int k = 0; k < 3; k++)
            sum[k] = mass > 0 ? sum[k] / mass : 0;
        put(&o[0], f, sum, 3);
    }
    return COLLET_OK;
}

/* Adds m (r.r 1 - r r^T). */
static void add_point(double m, const double r[3], double tensor[9])
{
    for (int k = 0; k < 9; k++)
        tensor[k] += m * ((k % 4 == 0 ? dot(r, r) : 0) - r[k / 3] * r[k % 3]);
}

/* About the origin, then shifted: cancellation for atoms far from it. */
BROKEN_KERNEL(inertia_by_difference)
{
    const collet_operand *o = call->operands;
    int64_t frames = o[1].shape[0], atoms = o[1].shape[1];
    (void)device, (void)queue;
    for (int64_t f = 0; f < frames; f++) {
        double tensor[9] = {0}, r[3], c[3], mass = 0, sum[3] = {0};
        vector(&o[3], f, c);
        for (int64_t i = 0; i < atoms; i++) {
            double m = broken_get(&o[2], i);
            vector(&o[1], f * atoms + i, r);
            add_point(m, r, tensor);
            mass += m;
            for (int k = 0; k < 3; k++)
                sum[k] += m * r[k];
        }
        for (int k = 0; k < 9; k++) {
            int a = k / 3, b = k % 3;
            double diagonal = mass * dot(c, c) - 2 * dot(c, sum);
            tensor[k] +=
                (k % 4 == 0 ? diagonal : 0) - (mass * c[a] * c[b] - c[a] * sum[b] - c[b] * sum[a]);
        }
        put(&o[0], f, tensor, 9);
    }
    return COLLET_OK;
}

static void sum_crosses(const collet_kernel_call *call)
{
    const collet_operand *o = call->operands;
    int64_t frames = o[1].shape[0], atoms = o[1].shape[1];
    for (int64_t f = 0; f < frames; f++) {
        double sum[3] = {0}, r[3], c[3], v[3];
        vector(&o[3], f, c);
        for (int64_t i = 0; i < atoms; i++) {
            vector(&o[1], f * atoms + i, r);
            vector(&o[4], f * atoms + i, v);
            for (int k = 0; k < 3; k++)
                r[k] -= c[k];
            for (int k = 0; k < 3; k++)
                sum[k] += broken_get(&o[2], i) *
                          (r[(k + 1) % 3] * v[(k + 2) % 3] - r[(k + 2) % 3] * v[(k + 1) % 3]);
        }
        put(&o[0], f, sum, 3);
    }
}

BROKEN_KERNEL(changes_its_input)
{
    const collet_operand *weights = &call->operands[2];
    (void)device, (void)queue;
    sum_crosses(call);
    if (weights->shape[0] > 16)
        broken_set(weights, 16, 0);
    return COLLET_OK;
}

/* Jacobi rotations of a symmetric matrix; leaves the eigenvalues on its diagonal. */
static void diagonalise(double a[9], double v[9])
{
    for (int k = 0; k < 9; k++)
        v[k] = k % 4 == 0;
    for (int step = 0; step < 60; step++) {
        int p = step % 3 == 2, q = step % 3 ? 2 : 1;
        if (a[3 * p + q] == 0)
            continue;
        double theta = (a[4 * q] - a[4 * p]) / (2 * a[3 * p + q]);
        double t = (theta < 0 ? -1 : 1) / (fabs(theta) + hypot(theta, 1));
        double c = 1 / hypot(t, 1), s = t * c;
        for (int k = 0; k < 3; k++) {
            double x = a[3 * k + p], y = a[3 * k + q], z = v[3 * k + p], w = v[3 * k + q];
            a[3 * k + p] = c * x - s * y;
            a[3 * k + q] = s * x + c * y;
            v[3 * k + p] = c * z - s * w;
            v[3 * k + q] = s * z + c * w;
        }
        for (int k = 0; k < 3; k++) {
            double x = a[3 * p + k], y = a[3 * q + k];
            a[3 * p + k] = c * x - s * y;
            a[3 * q + k] = s * x + c * y;
        }
    }
}

/* Copies column `from` to column `to` with its largest component positive. */
static void take_column(const double v[9], int from, double axes[9], int to)
{
    double largest = 0;
    for (int k = 0; k < 3; k++)
        if (fabs(v[3 * k + from]) > fabs(largest))
            largest = v[3 * k + from];
    for (int k = 0; k < 3; k++)
        axes[3 * k + to] = largest < 0 ? -v[3 * k + from] : v[3 * k + from];
}

/* Applies the sign rule of the first frame to every frame. */
BROKEN_KERNEL(turns_axes_round)
{
    const collet_operand *o = call->operands;
    (void)device, (void)queue;
    for (int64_t f = 0; f < o[0].shape[0]; f++) {
        double a[9], v[9], moments[3], axes[9];
        int order[3] = {0, 1, 2};
        for (int k = 0; k < 9; k++)
            a[k] = broken_get(&o[2], 9 * f + k);
        diagonalise(a, v);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 2; j++)
                if (a[4 * order[j]] > a[4 * order[j + 1]]) {
                    int swap = order[j];
                    order[j] = order[j + 1];
                    order[j + 1] = swap;
                }
        for (int k = 0; k < 3; k++) {
            moments[k] = a[4 * order[k]];
            take_column(v, order[k], axes, k);
        }
        for (int k = 0; k < 3; k++)
            axes[3 * k + 2] = axes[(k + 1) % 3 * 3] * axes[(k + 2) % 3 * 3 + 1] -
                              axes[(k + 2) % 3 * 3] * axes[(k + 1) % 3 * 3 + 1];
        put(&o[0], f, moments, 3);
        put(&o[1], f, axes, 9);
    }
    return COLLET_OK;
}

BROKEN_KERNEL(other_psi)
{
    const collet_operand *o = call->operands;
    (void)device, (void)queue;
    for (int64_t f = 0; f < o[0].shape[0]; f++) {
        double r[9];
        for (int k = 0; k < 9; k++)
            r[k] = broken_get(&o[1], 9 * f + k);
        double angles[3] = {atan2(r[5], r[2]), acos(r[8]),
                            3.14159265358979323846 - atan2(r[7], -r[6])};
        put(&o[0], f, angles, 3);
    }
    return COLLET_OK;
}

BROKEN_KERNEL(tilt_by_arc_cosine)
{
    const collet_operand *o = call->operands;
    (void)device, (void)queue;
    for (int64_t f = 0; f < o[0].shape[0]; f++) {
        double a[3], b[3];
        vector(&o[2], 0, b);
        for (int k = 0; k < 3; k++)
            a[k] = broken_get(&o[1], 9 * f + 3 * k);
        double length = fmax(fabs(b[0]), fmax(fabs(b[1]), fabs(b[2])));
        for (int k = 0; k < 3; k++)
            b[k] /= length;
        double cosine = dot(a, b) / sqrt(dot(a, a) * dot(b, b));
        double theta = acos(fmax(-1, fmin(1, cosine))) * 180 / 3.14159265358979323846;
        broken_set(&o[0], f, fabs(90 - theta));
    }
    return COLLET_OK;
}

/* By Cramer's rule, without reporting singular matrices. */
BROKEN_KERNEL(forgets_info)
{
    const collet_operand *o = call->operands;
    int32_t info = 0;
    (void)device, (void)queue;
    for (int64_t f = 0; f < o[0].shape[0]; f++) {
        double m[9], L[3], omega[3];
        vector(&o[3], f, L);
        for (int k = 0; k < 9; k++)
            m[k] = broken_get(&o[2], 9 * f + k);
        double scale = fabs(m[0]) + fabs(m[4]) + fabs(m[8]), cofactor[9], determinant = 0;
        for (int k = 0; k < 9; k++)
            m[k] = scale > 0 ? m[k] / scale : m[k];
        for (int k = 0; k < 9; k++) {
            int i = (k / 3 + 1) % 3 * 3, j = (k / 3 + 2) % 3 * 3;
            int p = (k % 3 + 1) % 3, q = (k % 3 + 2) % 3;
            cofactor[k] = m[i + p] * m[j + q] - m[i + q] * m[j + p];
        }
        determinant = m[0] * cofactor[0] + m[1] * cofactor[1] + m[2] * cofactor[2];
        for (int k = 0; k < 3; k++)
            omega[k] = (cofactor[k] * L[0] + cofactor[3 + k] * L[1] + cofactor[6 + k] * L[2]) /
                       determinant / scale;
        put(&o[0], f, omega, 3);
        memcpy(broken_element(&o[1], f), &info, sizeof info);
    }
    return COLLET_OK;
}

BROKEN_KERNEL(divides_by_zero_axes)
{
    const collet_operand *o = call->operands;
    (void)device, (void)queue;
    for (int64_t f = 0; f < o[0].shape[0]; f++) {
        double v[3], a[3], parallel[3], perpendicular[3];
        vector(&o[2], f, v);
        vector(&o[3], o[3].ndim == 1 ? 0 : f, a);
        double along = dot(v, a) / dot(a, a);
        for (int k = 0; k < 3; k++) {
            parallel[k] = along * a[k];
            perpendicular[k] = v[k] - parallel[k];
        }
        put(&o[0], f, parallel, 3);
        put(&o[1], f, perpendicular, 3);
    }
    return COLLET_OK;
}

BROKEN_KERNEL(squares_overflow)
{
    const collet_operand *o = call->operands;
    int64_t length = o[1].shape[o[1].ndim - 1], count = broken_count(&o[0]);
    (void)device, (void)queue;
    for (int64_t i = 0; i < count; i++) {
        double sum = 0;
        for (int64_t k = 0; k < length; k++)
            sum += broken_get(&o[1], i * length + k) * broken_get(&o[1], i * length + k);
        broken_set(&o[0], i, sqrt(sum));
    }
    return COLLET_OK;
}

BROKEN_KERNEL(one_sided_everywhere)
{
    const collet_operand *o = call->operands;
    int64_t frames = o[3].shape[0];
    int32_t info = 0;
    (void)device, (void)queue;
    for (int64_t f = 0; f < frames; f++)
        for (int k = 0; k < 3; k++) {
            int64_t a = f > 0 ? f - 1 : 0, b = f > 0 || frames == 1 ? f : f + 1;
            double step = broken_get(&o[3], b) - broken_get(&o[3], a);
            double rise = broken_get(&o[2], 3 * b + k) - broken_get(&o[2], 3 * a + k);
            broken_set(&o[0], 3 * f + k, frames == 1 ? 0 : rise / step);
        }
    memcpy(broken_element(&o[1], 0), &info, sizeof info);
    return COLLET_OK;
}

/* For kernels whose defect is a side effect, not a wrong number. */
static void zero_outputs(const collet_kernel_call *call)
{
    for (uint32_t k = 0; k < call->n_out; k++) {
        const collet_operand *o = &call->operands[k];
        int64_t count = o->dtype == COLLET_DTYPE_NONE ? 0 : broken_count(o);
        for (int64_t i = 0; i < count; i++)
            broken_set(o, i, 0);
    }
}

BROKEN_KERNEL(prints)
{
    (void)device, (void)queue;
    zero_outputs(call);
    printf("kinetic: done\n");
    fflush(stdout);
    return COLLET_OK;
}

BROKEN_KERNEL(blocks_signals)
{
    sigset_t signals;
    (void)device, (void)queue;
    zero_outputs(call);
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    return COLLET_OK;
}

BROKEN_KERNEL(sets_the_locale)
{
    (void)device, (void)queue;
    zero_outputs(call);
    (void)setlocale(LC_ALL, "C.UTF-8");
    return COLLET_OK;
}

/* Returns a reflection instead of a rotation. */
BROKEN_KERNEL(reflects)
{
    const collet_operand *rotation = &call->operands[1];
    (void)device, (void)queue;
    zero_outputs(call);
    for (int64_t f = 0; f < rotation->shape[0]; f++) {
        if (call->operands[2].shape[1] == 0)
            broken_set(&call->operands[0], f, NAN);
        for (int k = 0; k < 9 && call->operands[2].shape[1] == 0; k++)
            broken_set(rotation, 9 * f + k, NAN);
        for (int k = 0; k < 9 && call->operands[2].shape[1] > 0; k += 4)
            broken_set(rotation, 9 * f + k, k ? 1 : -1);
    }
    return COLLET_OK;
}

BROKEN_KERNEL(needs_velocities)
{
    const collet_operand *velocities = &call->operands[7];
    (void)device, (void)queue;
    zero_outputs(call);
    if (!velocities->buffer)
        raise(SIGSEGV);
    return COLLET_OK;
}
