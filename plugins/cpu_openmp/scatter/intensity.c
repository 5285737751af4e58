/* SPDX-License-Identifier: Apache-2.0 */
/* scatter_intensity where the amplitudes are adjacent along x and the polarisation is not turned.
 */
#include "cpu_openmp/runtime/device.h"

#include <math.h>

#include "cpu_openmp/runtime/team.h"
#include "cpu_openmp/util/counts.h"
#include "shared/host/scatter/numbers.h"
#include "shared/host/scatter/scatter.h"
#include "kernel_scatter.h"

#define PART 256 /* pixels at a time */

typedef struct job {
    const collet_kernel_call *call;
    const scatter_kernels *kernels;
    int wide;
} job;

/* Pixels first .. first+n-1 of row y of an energy. */
typedef struct part {
    int64_t e, y, first, n;
    double k[3], sx[PART], sz[2][PART], share[PART];
    int outside[PART];
} part;

static double number(const collet_operand *o, int64_t i)
{
    return real_at(cpu_at(o) + i * cpu_step(o, 0), 1);
}

/* s of the pixels at both slices, and the share of the second. */
static void find_waves(const job *j, part *p)
{
    const collet_operand *slice = cpu_operand(j->call, 3), *fraction = cpu_operand(j->call, 4);
    const collet_operand *qx = cpu_operand(j->call, 6), *qz = cpu_operand(j->call, 8);
    int two = cpu_present(cpu_operand(j->call, 2)) && cpu_present(fraction);
    int64_t Z = qz->shape[0];
    const char *row = cpu_at(slice) + p->e * cpu_step(slice, 0) + p->y * cpu_step(slice, 1);
    for (int64_t i = 0; i < p->n; i++) {
        int64_t x = p->first + i;
        int64_t z = *(const int32_t *)(const void *)(row + x * cpu_step(slice, 2));
        p->outside[i] = z < 0 || z >= Z;
        p->sx[i] = p->k[0] + number(qx, x);
        p->sz[0][i] = p->sz[1][i] = p->share[i] = 0.0;
        if (p->outside[i])
            continue;
        p->sz[0][i] = p->k[2] + number(qz, z);
        if (!two || z + 1 >= Z)
            continue;
        p->sz[1][i] = p->k[2] + number(qz, z + 1);
        p->share[i] = real_at(cpu_at(fraction) + p->e * cpu_step(fraction, 0) +
                                  p->y * cpu_step(fraction, 1) + x * cpu_step(fraction, 2),
                              j->wide);
    }
}

/* |...|^2 of one slice at an angle. */
static void one_slice(const job *j, const part *p, int slice, double angle, double *values)
{
    const collet_operand *o = cpu_operand(j->call, 1 + (uint32_t)slice);
    scatter_row row = {.sx = p->sx,
                       .sz = p->sz[slice],
                       .sy = p->k[1] + number(cpu_operand(j->call, 7), p->y),
                       .k_square = p->k[0] * p->k[0] + p->k[1] * p->k[1] + p->k[2] * p->k[2]};
    for (int c = 0; c < 6; c++)
        row.amplitude[c] = cpu_at(o) + p->e * cpu_step(o, 0) + c * cpu_step(o, 1) +
                           p->y * cpu_step(o, 2) + p->first * cpu_step(o, 3);
    j->kernels->intensity[j->wide](&row, cos(angle), sin(angle), p->n, values);
}

static void run_part(const job *j, part *p)
{
    const collet_operand *out = cpu_operand(j->call, 0), *angles = cpu_operand(j->call, 9);
    double values[2][PART];
    find_waves(j, p);
    for (int64_t a = 0; a < out->shape[1]; a++) {
        char *to = cpu_at(out) + p->e * cpu_step(out, 0) + a * cpu_step(out, 1) +
                   p->y * cpu_step(out, 2) + p->first * cpu_step(out, 3);
        one_slice(j, p, 0, number(angles, a), values[0]);
        if (cpu_present(cpu_operand(j->call, 2)))
            one_slice(j, p, 1, number(angles, a), values[1]);
        for (int64_t i = 0; i < p->n; i++) {
            double x = values[0][i], w = p->share[i];
            if (w != 0.0)
                x = (1.0 - w) * x + w * values[1][i];
            set_real(to + i * cpu_step(out, 3), j->wide, p->outside[i] ? NAN : x);
        }
    }
}

static void run_rows(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    const job *j = argument;
    int64_t Y = cpu_operand(j->call, 0)->shape[2], X = cpu_operand(j->call, 0)->shape[3];
    (void)thread;
    for (int64_t row = begin; row < end; row++) {
        part p = {.e = row / Y, .y = row % Y};
        read_vector(cpu_operand(j->call, 5), p.e, p.k);
        for (p.first = 0; p.first < X; p.first += PART) {
            p.n = min_i64(X - p.first, PART);
            run_part(j, &p);
        }
    }
}

static void run_general(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    const job *j = argument;
    (void)thread;
    cpu_scatter_intensity(j->call, begin, end);
}

KERNEL(scatter_intensity)
{
    const collet_scatter_params *params = call->params;
    const collet_operand *out = cpu_operand(call, 0), *next = cpu_operand(call, 2);
    job j = {call, device->level->scatter, is_wide(out)};
    int64_t size = j.wide ? 16 : 8;
    int adjacent = cpu_step(cpu_operand(call, 1), 3) == size &&
                   (!cpu_present(next) || cpu_step(next, 3) == size);
    team_run(device->threads, out->shape[0] * out->shape[2], 1,
             adjacent && !params->material ? run_rows : run_general, &j);
    return COLLET_OK;
}
