/* SPDX-License-Identifier: Apache-2.0 */
/* scatter_amplitudes for calls in which the elements of planes and amplitudes are adjacent along x. A row of pixels
 * is handled in the order of the elements that it reads: X / 2, ..., 0, then X / 2 + 1, ..., X - 1.
 * Tests: conformance/scatter/amplitudes.c */
#include "cpu_openmp/runtime/device.h"

#include <math.h>

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

#define PADDING SCATTER_LANES /* numbers after a row, for the last vector */
#define MOST_NUMBERS 0x1p40

/* Numbers that a thread stores: for each pixel of a row, q_z and for each node four numbers for
 * the phases; then the phases of one vector of pixels, and the sums of SCATTER_NODES nodes. */
static double thread_numbers(const collet_kernel_call *call)
{
    const collet_operand *out = operand_of(call, 0);
    double row = (double)out->shape[3] + 2 * PADDING; /* two vectors may be only partly filled */
    return (1 + 4 * (double)out->shape[0]) * row + SCATTER_LAYERS * SCATTER_NODES * 2 * SCATTER_LANES +
           (double)out->shape[1] * SCATTER_NODES * 2 * row;
}

static int64_t thread_bytes(const collet_kernel_call *call)
{
    return (int64_t)thread_numbers(call) * (int64_t)sizeof(double) + 64;
}

/* The pixel of place i in a row. */
static int64_t pixel_of(int64_t i, int64_t X)
{
    return i <= X / 2 ? X / 2 - i : i;
}

static double node_at(const collet_kernel_call *call, int64_t d)
{
    const collet_operand *nodes = operand_of(call, 2);
    return real_at(cpu_at(nodes) + d * cpu_step(nodes, 1), 1);
}

/* The middle of the interval of a pixel; *half: half its width. */
static double middle_at(const collet_kernel_call *call, int64_t y, int64_t x, double *half)
{
    const collet_operand *interval = operand_of(call, 3);
    const char *at = cpu_at(interval) + y * cpu_step(interval, 1) + x * cpu_step(interval, 2);
    *half = real_at(at + cpu_step(interval, 0), 1);
    return real_at(at, 1);
}

/* Sets the phases of the first layer at all nodes of row y, and the phase factors from each layer to the next. The
 * numbers after the row repeat the numbers of pixel x = 0. */
static void find_phases(const job *j, int64_t y, const scatter_row *row, double *q)
{
    const collet_scatter_params *params = j->call->params;
    const collet_operand *out = operand_of(j->call, 0);
    double first = (double)params->layer - (double)(cpu_scatter_layers(j->call) - 1) / 2, half;
    for (int64_t d = 0; d < out->shape[0]; d++) {
        double node = node_at(j->call, d);
        int64_t at = d * row->stride;
        for (int64_t i = 0; i < row->stride; i++) {
            double middle = middle_at(j->call, y, i < out->shape[3] ? pixel_of(i, out->shape[3]) : 0, &half);
            q[i] = middle + half * node;
            q[i] = isnan(q[i]) ? 0.0 : q[i];
        }
        j->kernels->phases(q, params->thickness, first, row->stride, row->re + at, row->im + at, row->step_re + at,
                           row->step_im + at);
    }
}

/* Writes one pixel, which may have no interval. `re`: the real part of its sum. */
static void store_pixel(const job *j, int64_t y, int64_t x, char *to, const char *from, const char *re, int64_t lanes)
{
    double half;
    int64_t size = j->wide ? 8 : 4;
    complex_number sum = {0.0, 0.0};
    if (!isnan(middle_at(j->call, y, x, &half)))
        sum = (complex_number){real_at(re, j->wide), real_at(re + lanes * size, j->wide)};
    if (from)
        sum = add(sum, complex_at(from, j->wide));
    set_complex(to, j->wide, sum);
}

/* Whether pixels first .. first + n - 1 of row y all have intervals. */
static int all_have_intervals(const collet_kernel_call *call, int64_t y, int64_t first, int64_t n)
{
    double half;
    int all = 1;
    for (int64_t x = first; x < first + n; x++)
        all &= !isnan(middle_at(call, y, x, &half));
    return all;
}

/* Some pixels of a row, from place i on: the pixels of one vector. */
typedef struct block {
    int64_t i, n;
    int64_t first; /* the first of the pixels */
    int reversed;  /* 1: pixels descend where places ascend */
    int all;       /* 1: all have intervals */
} block;

/* `all`: 1 if all pixels of the row have intervals. */
static block block_at(const job *j, int64_t y, int64_t i, int all)
{
    int64_t X = operand_of(j->call, 0)->shape[3], lanes = j->kernels->lanes[j->wide];
    int64_t end = i > X / 2 ? X : X / 2 + 1;
    block b = {.i = i, .n = end - i < lanes ? end - i : lanes, .reversed = i <= X / 2};
    b.first = b.reversed ? pixel_of(i + b.n - 1, X) : i;
    b.all = all || all_have_intervals(j->call, y, b.first, b.n);
    return b;
}

/* Stores the results of a block of pixels for field f and node d: the sums that begin at `re`, plus `before` if that is
 * given. A pixel without an interval gets `before` alone, or 0. */
static void store(const job *j, int64_t d, int64_t f, int64_t y, const block *b, const char *re)
{
    const collet_operand *out = operand_of(j->call, 0), *before = operand_of(j->call, 4);
    const int64_t size = j->wide ? 8 : 4, lanes = j->kernels->lanes[j->wide];
    char *to = cpu_at(out) + d * cpu_step(out, 0) + f * cpu_step(out, 1) + y * cpu_step(out, 2) +
               b->first * 2 * size;
    const char *from = operand_present(before)
                           ? cpu_at(before) + d * cpu_step(before, 0) + f * cpu_step(before, 1) +
                                 y * cpu_step(before, 2) + b->first * 2 * size
                           : NULL;
    if (b->all)
        j->kernels->store[j->wide](to, from, re, b->n, b->reversed);
    for (int64_t p = 0; p < b->n && !b->all; p++)
        store_pixel(j, y, b->first + p, to + p * 2 * size, from ? from + p * 2 * size : NULL,
                    re + (b->reversed ? b->n - 1 - p : p) * size, lanes);
}

/* Computes nodes d .. d + nodes - 1 of row y. The results are written row by row. If they were written vector by
 * vector, they would be spread over as many pages as there are fields and nodes. */
static void run_nodes(const job *j, int64_t y, const scatter_row *row, int64_t d, int32_t nodes)
{
    const collet_operand *out = operand_of(j->call, 0), *planes = operand_of(j->call, 1);
    int64_t F = out->shape[1], Y = out->shape[2], X = out->shape[3], lanes = j->kernels->lanes[j->wide];
    int64_t b = (Y / 2 - y + Y) % Y, size = j->wide ? 16 : 8;
    int64_t bytes = F * SCATTER_NODES * lanes * size; /* of the sums of a block */
    scatter_row part = *row;
    int all = all_have_intervals(j->call, y, 0, X);
    for (int64_t i = 0; i < X;) {
        block of = block_at(j, y, i, all);
        int64_t column = of.reversed ? i : i - X / 2; /* after X / 2: conjugates of row -b, from column 1 on */
        const char *from = cpu_at(planes) + (of.reversed ? b : (Y - b) % Y) * cpu_step(planes, 2) + column * size;
        j->kernels->amplitudes[j->wide](&part, d * row->stride + i, nodes, of.n, from, cpu_step(planes, 0),
                                        cpu_step(planes, 1), !of.reversed);
        part.sums = (char *)part.sums + bytes;
        i += of.n;
    }
    for (int64_t k = 0; k < F * nodes; k++) {
        const char *sums = (const char *)row->sums + (k / nodes * SCATTER_NODES + k % nodes) * lanes * size;
        for (int64_t i = 0; i < X; sums += bytes) {
            block of = block_at(j, y, i, all);
            store(j, d + k % nodes, k / nodes, y, &of, sums);
            i += of.n;
        }
    }
}

static void run_row(const job *j, int64_t y, const scatter_row *row)
{
    int64_t D = operand_of(j->call, 0)->shape[0];
    for (int64_t d = 0; d < D; d += SCATTER_NODES)
        run_nodes(j, y, row, d, (int32_t)(D - d < SCATTER_NODES ? D - d : SCATTER_NODES));
}

static TEAM_BODY(run_rows)
{
    const job *j = argument;
    const collet_operand *out = operand_of(j->call, 0);
    int64_t stride = out->shape[3] + 2 * PADDING, all = out->shape[0] * stride;
    double *q = (double *)(void *)(j->memory + thread * j->memory_bytes), *phases = q + stride;
    scatter_row row = {.fields = out->shape[1],
                       .layers = operand_of(j->call, 1)->shape[1],
                       .stride = stride,
                       .re = phases,
                       .im = phases + all,
                       .step_re = phases + 2 * all,
                       .step_im = phases + 3 * all,
                       .turns = phases + 4 * all,
                       .sums = phases + 4 * all + SCATTER_LAYERS * SCATTER_NODES * 2 * SCATTER_LANES};
    for (int64_t y = begin; y < end; y++) {
        find_phases(j, y, &row, q);
        run_row(j, y, &row);
    }
}

static TEAM_BODY(run_general)
{
    const job *j = argument;
    cpu_scatter_amplitudes(j->call, begin, end);
}

ACCEPTS(scatter_amplitudes)
{
    if (thread_numbers(call) > MOST_NUMBERS)
        return device->base.host->fail(call->err, COLLET_REFUSED, "a row of %lld pixels does not fit into memory",
                           (long long)operand_of(call, 0)->shape[3]);
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
