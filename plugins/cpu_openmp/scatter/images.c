/* SPDX-License-Identifier: Apache-2.0 */
/* scatter_images for calls in which the energies of a pixel are adjacent and the polarisation is not rotated.
 * Tests: conformance/scatter/sphere.c */
#include "cpu_openmp/runtime/device.h"

#include "cpu_openmp/runtime/team.h"
#include "shared/host/scatter/numbers.h"
#include "shared/host/scatter/scatter.h"
#include "kernel_scatter.h"

#define PADDING 16 /* energies are padded to a multiple of this number: to whole vectors */

typedef struct job {
    const collet_kernel_call *call;
    const scatter_kernels *kernels;
    scatter_energies energies;
    int wide;
} job;

static int64_t padded_energies(const collet_kernel_call *call)
{
    return (operand_of(call, 0)->shape[0] + PADDING - 1) / PADDING * PADDING;
}

/* Element i of a vector, or element (i, j) of a matrix. */
static double number(const collet_operand *o, int64_t i, int64_t j)
{
    return real_at(cpu_at(o) + i * cpu_step(o, 0) + (o->ndim > 1 ? j * cpu_step(o, 1) : 0), 1);
}

/* Copies k, and qz of the slices, to `memory`. Returns the address after them. */
static double *copy_waves(job *j, double *memory)
{
    const collet_operand *k = operand_of(j->call, 4), *qz = operand_of(j->call, 7);
    scatter_energies *g = &j->energies;
    double *waves = memory, *slices = memory + 4 * g->padded;
    for (int64_t e = 0; e < g->padded; e++) {
        double square = 0.0;
        for (int a = 0; a < 3; a++) {
            double x = number(k, e < g->n ? e : g->n - 1, a);
            waves[a * g->padded + e] = x;
            square += x * x;
        }
        waves[3 * g->padded + e] = square;
    }
    for (int a = 0; a < 3; a++)
        g->k[a] = waves + a * g->padded;
    g->square = waves + 3 * g->padded;
    g->qz = slices;
    for (int64_t z = 0; z < g->slices; z++)
        slices[z] = number(qz, z, 0);
    return slices + g->slices;
}

static const char *weight_at(const job *j, int64_t e, int64_t c, int64_t f)
{
    const collet_operand *w = operand_of(j->call, 3);
    return cpu_at(w) + e * cpu_step(w, 0) + c * cpu_step(w, 1) + f * cpu_step(w, 2);
}

/* Whether field f has a weight in sum c. */
static int is_used(const job *j, int64_t c, int64_t f)
{
    for (int64_t e = 0; e < j->energies.n; e++) {
        complex_number w = complex_at(weight_at(j, e, c, f), j->wide);
        if (w.re != 0.0 || w.im != 0.0)
            return 1;
    }
    return 0;
}

/* Copies the weights of the six sums, without fields whose weights are 0 at all energies. */
static void copy_weights(job *j, double *memory)
{
    scatter_energies *g = &j->energies;
    int64_t fields = operand_of(j->call, 1)->shape[1];
    int64_t *list = (int64_t *)(void *)memory;
    char *to = (char *)(list + 6 * fields);
    int part = j->wide ? 8 : 4;
    for (int64_t c = 0; c < 6; c++) {
        g->field[c] = list + c * fields;
        g->weight[c] = to;
        for (int64_t f = 0; f < fields; f++) {
            if (!is_used(j, c, f))
                continue;
            list[c * fields + g->count[c]++] = f;
            for (int64_t e = 0; e < g->padded; e++) {
                complex_number w = complex_at(weight_at(j, e < g->n ? e : g->n - 1, c, f), j->wide);
                set_real(to + e * part, j->wide, w.re);
                set_real(to + (g->padded + e) * part, j->wide, w.im);
            }
            to += 2 * g->padded * part;
        }
    }
}

static int32_t in_range(const job *j, int64_t which, int64_t y, int64_t x)
{
    const collet_operand *range = operand_of(j->call, 2);
    return *(const int32_t *)(const void *)(cpu_at(range) + which * cpu_step(range, 0) +
                                            y * cpu_step(range, 1) + x * cpu_step(range, 2));
}

static TEAM_BODY(run_rows)
{
    const job *j = argument;
    const collet_operand *out = operand_of(j->call, 0), *slices = operand_of(j->call, 1);
    for (int64_t y = begin; y < end; y++) {
        scatter_pixel p = {.slice_step = cpu_step(slices, 0),
                           .field_step = cpu_step(slices, 1),
                           .qy = number(operand_of(j->call, 6), y, 0)};
        for (int64_t x = 0; x < out->shape[3]; x++) {
            p.at = cpu_at(slices) + y * cpu_step(slices, 2) + x * cpu_step(slices, 3);
            p.first = in_range(j, 0, y, x);
            p.count = in_range(j, 1, y, x);
            if (p.count > slices->shape[0])
                p.count = slices->shape[0];
            p.qx = number(operand_of(j->call, 5), x, 0);
            for (int k = 0; k < 3; k++)
                p.out[k] = cpu_at(out) + k * cpu_step(out, 1) + y * cpu_step(out, 2) +
                           x * cpu_step(out, 3);
            j->kernels->images[j->wide](&j->energies, &p);
        }
    }
}

static TEAM_BODY(run_general)
{
    const job *j = argument;
    cpu_scatter_images(j->call, begin, end);
}

ACCEPTS(scatter_images)
{
    int64_t fields = operand_of(call, 1)->shape[1], padded = padded_energies(call);
    int64_t doubles = 4 * padded + operand_of(call, 7)->shape[0] + 6 * fields;
    (void)device;
    *workspace_bytes = (uint64_t)(doubles + 12 * fields * padded) * sizeof(double);
    return COLLET_OK;
}

KERNEL(scatter_images)
{
    const collet_scatter_params *params = call->params;
    const collet_operand *out = operand_of(call, 0);
    job j = {.call = call,
             .kernels = device->level->scatter,
             .energies = {.n = out->shape[0],
                          .padded = padded_energies(call),
                          .slices = operand_of(call, 7)->shape[0],
                          .nearest = params->nearest != 0},
             .wide = is_wide(out)};
    int adjacent = out->shape[0] == 1 || cpu_step(out, 0) == (j.wide ? 8 : 4);
    if (adjacent && !operand_present(operand_of(call, 8)) && out->shape[0] && j.energies.slices) {
        copy_weights(&j, copy_waves(&j, call->workspace));
        team_run(device->threads, out->shape[2], 1, run_rows, &j);
    } else {
        team_run(device->threads, out->shape[0] * out->shape[2], 1, run_general, &j);
    }
    return COLLET_OK;
}
