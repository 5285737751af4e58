/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scatter_amplitudes where the elements of planes and amplitudes are adjacent along x. A row of pixels is handled in
 * the order of the elements that it reads: X / 2, ..., 0, then X / 2 + 1, ..., X - 1.
 * Tests: conformance/scatter/amplitudes.c
 */
#include "cpu_openmp/runtime/device.h"

#include <math.h>
#include <string.h>

#include "cpu_openmp/runtime/team.h"
#include "shared/host/scatter/numbers.h"
#include "shared/host/scatter/scatter.h"
#include "kernel_scatter.h"

typedef struct job {
    const collet_kernel_call *call;
    const scatter_kernels *kernels;
    int wide;
    char *memory;         /* the threads' memory */
    int64_t memory_bytes; /* bytes of one thread's memory */
} job;

/* Doubles of a thread: four for the phases of a pixel, its phases and its sums in the real type. */
static int64_t thread_bytes(const collet_kernel_call *call)
{
    const collet_operand *out = operand_of(call, 0);
    return (4 + 2 + 2 * out->shape[1]) * out->shape[3] * (int64_t)sizeof(double) + 64;
}

/* The pixel of place i in a row. */
static int64_t pixel_of(int64_t i, int64_t X)
{
    return i <= X / 2 ? X / 2 - i : i;
}

/* q_z of a pixel at node d. */
static double node_at(const collet_kernel_call *call, int64_t d, int64_t y, int64_t x)
{
    const collet_operand *nodes = operand_of(call, 2), *interval = operand_of(call, 3);
    const char *at = cpu_at(interval) + y * cpu_step(interval, 1) + x * cpu_step(interval, 2);
    return real_at(at, 1) + real_at(at + cpu_step(interval, 0), 1) *
                                real_at(cpu_at(nodes) + d * cpu_step(nodes, 1), 1);
}

/* Sets the phases of the first layer, and by how much a layer is turned against the one before it. */
static void find_phases(const job *j, int64_t d, int64_t y, const scatter_turns *t)
{
    const collet_scatter_params *params = j->call->params;
    int64_t X = operand_of(j->call, 0)->shape[3];
    double first = (double)params->layer - (double)(cpu_scatter_layers(j->call) - 1) / 2;
    for (int64_t i = 0; i < X; i++) {
        double step = node_at(j->call, d, y, pixel_of(i, X)) * params->thickness;
        t->re[i] = cos(step * first);
        t->im[i] = sin(step * first);
        t->step_re[i] = cos(step);
        t->step_im[i] = sin(step);
    }
}

/* Adds all layers of row y to the sums. */
static void add_layers(const job *j, int64_t y, const scatter_turns *t, char *sums)
{
    const collet_operand *planes = operand_of(j->call, 1), *out = operand_of(j->call, 0);
    int64_t fields = out->shape[1], Y = out->shape[2], X = out->shape[3], near = X / 2 + 1;
    int64_t b = (Y / 2 - y + Y) % Y, size = j->wide ? 8 : 4;
    memset(sums, 0, (size_t)(2 * fields * X * size));
    for (int64_t l = 0; l < planes->shape[1]; l++) {
        j->kernels->next_layer[j->wide](t, X);
        for (int64_t f = 0; f < fields; f++) {
            const char *layer = cpu_at(planes) + f * cpu_step(planes, 0) + l * cpu_step(planes, 1);
            char *re = sums + 2 * f * X * size, *im = re + X * size;
            j->kernels->add_layer[j->wide](t, 0, near, 0, layer + b * cpu_step(planes, 2), re, im);
            j->kernels->add_layer[j->wide](t, near, X - near, 1,
                                           layer + (Y - b) % Y * cpu_step(planes, 2) + 2 * size, re, im);
        }
    }
}

/* Writes the sums of row y at node d. */
static void store(const job *j, int64_t d, int64_t y, const char *sums)
{
    const collet_operand *out = operand_of(j->call, 0), *before = operand_of(j->call, 4);
    int64_t X = out->shape[3], size = j->wide ? 8 : 4;
    for (int64_t f = 0; f < out->shape[1]; f++) {
        const char *re = sums + 2 * f * X * size, *im = re + X * size;
        char *to = cpu_at(out) + d * cpu_step(out, 0) + f * cpu_step(out, 1) + y * cpu_step(out, 2);
        const char *from = operand_present(before) ? cpu_at(before) + d * cpu_step(before, 0) +
                                                         f * cpu_step(before, 1) + y * cpu_step(before, 2)
                                                   : NULL;
        for (int64_t i = 0; i < X; i++) {
            int64_t x = pixel_of(i, X);
            complex_number sum = {0.0, 0.0};
            if (!isnan(node_at(j->call, d, y, x)))
                sum = (complex_number){real_at(re + i * size, j->wide), real_at(im + i * size, j->wide)};
            if (from)
                sum = add(sum, complex_at(from + x * 2 * size, j->wide));
            set_complex(to + x * 2 * size, j->wide, sum);
        }
    }
}

static TEAM_BODY(run_rows)
{
    const job *j = argument;
    const collet_operand *out = operand_of(j->call, 0);
    int64_t X = out->shape[3];
    double *memory = (double *)(void *)(j->memory + thread * j->memory_bytes);
    scatter_turns t = {.re = memory,
                       .im = memory + X,
                       .step_re = memory + 2 * X,
                       .step_im = memory + 3 * X,
                       .part_re = memory + 4 * X,
                       .part_im = memory + 5 * X};
    for (int64_t y = begin; y < end; y++)
        for (int64_t d = 0; d < out->shape[0]; d++) {
            find_phases(j, d, y, &t);
            add_layers(j, y, &t, (char *)(memory + 6 * X));
            store(j, d, y, (const char *)(memory + 6 * X));
        }
}

static TEAM_BODY(run_general)
{
    const job *j = argument;
    cpu_scatter_amplitudes(j->call, begin, end);
}

ACCEPTS(scatter_amplitudes)
{
    *workspace_bytes = (uint64_t)(device->threads * thread_bytes(call));
    return COLLET_OK;
}

KERNEL(scatter_amplitudes)
{
    const collet_operand *out = operand_of(call, 0), *planes = operand_of(call, 1);
    const collet_operand *before = operand_of(call, 4);
    int64_t size = is_wide(out) ? 16 : 8, X = out->shape[3];
    job j = {.call = call,
             .kernels = device->level->scatter,
             .wide = is_wide(out),
             .memory = call->workspace,
             .memory_bytes = thread_bytes(call) / 64 * 64};
    if (cpu_step(out, 3) == size && cpu_step(planes, 3) == size && planes->shape[3] == X / 2 + 1 &&
        (!operand_present(before) || cpu_step(before, 3) == size))
        team_run(device->threads, out->shape[2], 1, run_rows, &j);
    else
        team_run(device->threads, out->shape[0] * out->shape[2], 1, run_general, &j);
    return COLLET_OK;
}
