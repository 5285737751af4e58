/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/md/axes.c, conformance/md/vectors.c */
#include "frames.h"

#include <math.h>

#include "shared/host/util/sum.h"
#include "eigen.h"
#include "formulas.h"
#include "operands.h"

void cpu_md_eigen(const collet_kernel_call *call, int64_t begin, int64_t end)
{
    const collet_operand *moments = operand_of(call, 0), *axes = operand_of(call, 1);
    const collet_operand *inertia = operand_of(call, 2);
    double tensor[9], m[3], now[9];
    for (int64_t f = begin; f < end; f++) {
        md_load9(inertia, f, tensor);
        cpu_eigen3(tensor, m, now);
        md_store3(moments, f, m);
        md_store9(axes, f, now);
    }
}

void cpu_md_align(const collet_kernel_call *call, int64_t begin, int64_t end)
{
    const collet_operand *axes = operand_of(call, 1), *previous = operand_of(call, 3);
    int64_t frames = axes->shape[0], bodies = md_bodies(axes, 2);
    double now[9], before[9];
    for (int64_t body = begin; body < end && frames > 0; body++) {
        int known = operand_present(previous);
        md_load9(known ? previous : axes, body, before);
        for (int64_t f = known ? 0 : 1; f < frames; f++) {
            md_load9(axes, f * bodies + body, now);
            cpu_align_axes(now, before);
            md_store9(axes, f * bodies + body, now);
            for (int i = 0; i < 9; i++)
                before[i] = now[i];
        }
    }
}

void cpu_md_euler_zyz(const collet_kernel_call *call, int64_t begin, int64_t end)
{
    const collet_operand *out = operand_of(call, 0), *axes = operand_of(call, 1);
    double rotation[9], angles[3];
    for (int64_t f = begin; f < end; f++) {
        md_load9(axes, f, rotation);
        cpu_euler_zyz(rotation, angles);
        md_store3(out, f, angles);
    }
}

void cpu_md_tilt(const collet_kernel_call *call, int64_t begin, int64_t end)
{
    const collet_operand *out = operand_of(call, 0), *axes = operand_of(call, 1);
    double axis[3], rotation[9];
    md_load3(operand_of(call, 2), 0, axis);
    for (int64_t f = begin; f < end; f++) {
        md_load9(axes, f, rotation);
        md_store1(out, f, cpu_tilt(rotation, axis));
    }
}

void cpu_md_angular_velocity(const collet_kernel_call *call, int64_t begin, int64_t end)
{
    const collet_operand *out = operand_of(call, 0), *info = operand_of(call, 1);
    const collet_operand *inertia = operand_of(call, 2), *momentum = operand_of(call, 3);
    double tensor[9], L[3], omega[3];
    for (int64_t f = begin; f < end; f++) {
        md_load9(inertia, f, tensor);
        md_load3(momentum, f, L);
        int32_t singular = cpu_angular_velocity(tensor, L, omega);
        md_store3(out, f, omega);
        *(int32_t *)(void *)md_block(info, f, 0) = singular;
    }
}

void cpu_md_decompose(const collet_kernel_call *call, int64_t begin, int64_t end)
{
    const collet_operand *parallel = operand_of(call, 0), *across = operand_of(call, 1);
    const collet_operand *vectors = operand_of(call, 2), *axes = operand_of(call, 3);
    double v[3], axis[3], along_axis[3], rest[3];
    for (int64_t f = begin; f < end; f++) {
        md_load3(vectors, f, v);
        md_load3(axes, f, axis);
        cpu_decompose(v, axis, along_axis, rest);
        md_store3(parallel, f, along_axis);
        md_store3(across, f, rest);
    }
}

/* The number of components that are read at a time. */
#define CHUNK 64

/* Up to this many squares are summed without compensation, because the sum is then exact enough. */
#define FEW 4

/* The largest magnitude of n numbers; NaN if a number is NaN. */
static double largest_of(const char *at, collet_dtype dtype, int64_t step, int64_t n)
{
    double x[CHUNK], largest = 0.0;
    for (int64_t first = 0; first < n; first += CHUNK) {
        int64_t count = n - first < CHUNK ? n - first : CHUNK;
        cpu_convert((char *)x, COLLET_F64, sizeof *x, at + first * step, dtype, step, count);
        for (int64_t i = 0; i < count; i++) {
            if (isnan(x[i]))
                return x[i];
            largest = fmax(largest, fabs(x[i]));
        }
    }
    return largest;
}

/* The sum of the squares of a few numbers of f32 or f64. The sum may leave the range of f64. */
static inline double few_squares(const char *at, collet_dtype dtype, int64_t step, int64_t n)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++, at += step) {
        double x = dtype == COLLET_F64 ? *(const double *)(const void *)at
                                       : (double)*(const float *)(const void *)at;
        sum += x * x;
    }
    return sum;
}

double cpu_norm(const char *at, collet_dtype dtype, int64_t step, int64_t n)
{
    if (n <= FEW && (dtype == COLLET_F32 || dtype == COLLET_F64)) {
        double sum = few_squares(at, dtype, step, n);
        if (sum > 0x1p-800 && sum < 0x1p800)
            return sqrt(sum);
    }
    double x[CHUNK], largest = largest_of(at, dtype, step, n);
    int exponent = 0;
    if (largest == 0.0 || !isfinite(largest))
        return largest;
    /* Squares of these neither overflow, for any count, nor lose bits below the smallest double. */
    if (largest < 0x1p-400 || largest > 0x1p+400)
        (void)frexp(largest, &exponent);
    cpu_sum squares = {0};
    for (int64_t first = 0; first < n; first += CHUNK) {
        int64_t count = n - first < CHUNK ? n - first : CHUNK;
        cpu_convert((char *)x, COLLET_F64, sizeof *x, at + first * step, dtype, step, count);
        for (int64_t i = 0; i < count; i++) {
            double scaled = exponent ? ldexp(x[i], -exponent) : x[i];
            cpu_add(&squares, scaled * scaled);
        }
    }
    double norm = sqrt(cpu_total(&squares));
    return exponent ? ldexp(norm, exponent) : norm;
}

int64_t cpu_md_time_derivative(const collet_kernel_call *call, int64_t begin, int64_t end)
{
    const collet_operand *out = operand_of(call, 0);
    const collet_operand *x = operand_of(call, 2), *t = operand_of(call, 3);
    int64_t frames = out->shape[0], bodies = md_bodies(out, 1), equal_times = frames;
    for (int64_t row = begin; row < end; row++) {
        int64_t f = row / bodies, before = f > 0 ? f - 1 : f, after = f + 1 < frames ? f + 1 : f;
        double x0[3], x1[3], rate[3] = {0.0, 0.0, 0.0};
        md_load3(x, row + (before - f) * bodies, x0);
        md_load3(x, row + (after - f) * bodies, x1);
        double span = *(const double *)(const void *)md_block(t, after, 0) -
                      *(const double *)(const void *)md_block(t, before, 0);
        if (span == 0.0 && frames > 1 && equal_times == frames)
            equal_times = f;
        for (int i = 0; i < 3 && frames > 1; i++)
            rate[i] = span == 0.0 ? (double)NAN : (x1[i] - x0[i]) / span;
        md_store3(out, row, rate);
    }
    return equal_times;
}

void cpu_md_time_derivative_info(const collet_kernel_call *call, int64_t equal_times)
{
    int64_t frames = operand_of(call, 0)->shape[0];
    int64_t flag = equal_times < frames ? equal_times + 1 : 0;
    *(int32_t *)(void *)cpu_at(operand_of(call, 1)) = flag < INT32_MAX ? (int32_t)flag : INT32_MAX;
}
