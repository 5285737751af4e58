/* SPDX-License-Identifier: Apache-2.0 */
/* scatter_slices for calls in which the elements of layers and slices are adjacent along x. A row of pixels is
 * cut where the slices change and at q = 0, so that each part reads adjacent elements.
 * Tests: conformance/scatter/sphere.c */
#include "cpu_openmp/runtime/device.h"

#include <math.h>
#include <string.h>

#include "cpu_openmp/runtime/team.h"
#include "shared/host/scatter/numbers.h"
#include "shared/host/scatter/scatter.h"
#include "kernel_scatter.h"

#define PI 3.14159265358979323846

typedef struct job {
    const collet_kernel_call *call;
    const scatter_kernels *kernels;
    int64_t size;         /* bytes of an element */
    double (*phase)[2];   /* exp(-2 pi i z / Z) */
    char *memory;         /* the threads' memory */
    int64_t memory_bytes; /* bytes of one thread's memory */
} job;

/* Pixels begin .. end-1 of row y, which have the same slices and are on one side of q = 0. */
typedef struct part {
    int64_t y, begin, end, first, count;
} part;

static int64_t layers_of(const collet_kernel_call *call)
{
    return operand_of(call, 1)->shape[1];
}

/* If slice d of a part exists, sets the phase factors of its layers and returns 1; else returns 0. */
static int find_phases(const job *j, const part *p, int64_t d, double (*weight)[2])
{
    const collet_scatter_params *params = j->call->params;
    int64_t Z = cpu_scatter_layers(j->call), z = p->first + d, a = (Z / 2 - z + Z) % Z;
    if (d >= p->count || z < 0 || z >= Z)
        return 0;
    for (int64_t l = 0; l < layers_of(j->call); l++)
        memcpy(weight[l], j->phase[a * (params->layer + l) % Z], sizeof *weight);
    return 1;
}

/* Finds the first element of each layer of field f that a part reads; returns the number of elements. */
static int64_t find_layers(const job *j, const part *p, int64_t f, const char **at)
{
    const collet_operand *layers = operand_of(j->call, 1), *out = operand_of(j->call, 0);
    int64_t Y = out->shape[2], X = out->shape[3], b = (Y / 2 - p->y + Y) % Y;
    int near = p->begin <= X / 2;
    /* For x > X / 2 the frequency is negative; its conjugate is stored at index x - X / 2. */
    int64_t c = near ? X / 2 - (p->end - 1) : p->begin - X / 2;
    const char *first = cpu_at(layers) + f * cpu_step(layers, 0) +
                        (near ? b : (Y - b) % Y) * cpu_step(layers, 2) + c * j->size;
    const int64_t step = cpu_step(layers, 1);
    for (int64_t l = 0; l < layers->shape[1]; l++)
        at[l] = first + l * step;
    return layers->shape[3] - c;
}

static void run_part(const job *j, const part *p, const char **at, double (*weight)[2])
{
    const collet_operand *out = operand_of(j->call, 0), *before = operand_of(j->call, 3);
    int near = p->begin <= out->shape[3] / 2;
    for (int64_t d = 0; d < out->shape[0]; d++) {
        int64_t count = find_phases(j, p, d, weight) ? layers_of(j->call) : 0;
        for (int64_t f = 0; f < out->shape[1]; f++) {
            char *to = cpu_at(out) + d * cpu_step(out, 0) + f * cpu_step(out, 1) +
                       p->y * cpu_step(out, 2) + p->begin * j->size;
            const char *from = NULL;
            if (operand_present(before))
                from = cpu_at(before) + d * cpu_step(before, 0) + f * cpu_step(before, 1) +
                       p->y * cpu_step(before, 2) + p->begin * j->size;
            if (!count && from == to)
                continue;
            int64_t room = find_layers(j, p, f, at);
            j->kernels->combine[j->size == 16](to, from, at, (const double(*)[2])weight, count,
                                               p->end - p->begin, room, near, !near);
        }
    }
}

static int32_t in_range(const job *j, int64_t which, int64_t y, int64_t x)
{
    const collet_operand *range = operand_of(j->call, 2);
    return *(const int32_t *)(const void *)(cpu_at(range) + which * cpu_step(range, 0) +
                                            y * cpu_step(range, 1) + x * cpu_step(range, 2));
}

static void run_row(const job *j, int64_t y, const char **at, double (*weight)[2])
{
    const collet_scatter_params *params = j->call->params;
    const collet_operand *out = operand_of(j->call, 0);
    int64_t X = out->shape[3], Y = out->shape[2];
    int centre = params->neighbours && y == Y / 2;
    for (int64_t begin = 0, end; begin < X; begin = end) {
        part p = {y, begin, X, in_range(j, 0, y, begin), in_range(j, 1, y, begin)};
        int64_t limit = begin <= X / 2 ? X / 2 + 1 : X;
        if (centre && begin <= X / 2)
            limit = begin < X / 2 ? X / 2 : X / 2 + 1;
        for (end = begin + 1;
             end < limit && in_range(j, 0, y, end) == p.first && in_range(j, 1, y, end) == p.count;)
            end++;
        p.end = end;
        if (!centre || begin != X / 2)
            run_part(j, &p, at, weight);
        for (int64_t d = 0; centre && begin == X / 2 && d < out->shape[0]; d++)
            cpu_scatter_slices_pixel(j->call, d * Y + y, begin);
    }
}

static TEAM_BODY(run_rows)
{
    const job *j = argument;
    double(*weight)[2] = (double(*)[2])(void *)(j->memory + thread * j->memory_bytes);
    const char **at = (const char **)(void *)(weight + layers_of(j->call));
    for (int64_t y = begin; y < end; y++)
        run_row(j, y, at, weight);
}

static TEAM_BODY(run_general)
{
    const job *j = argument;
    cpu_scatter_slices(j->call, begin, end);
}

static int64_t thread_bytes(const collet_kernel_call *call)
{
    return layers_of(call) * (int64_t)(sizeof(double[2]) + sizeof(char *)) + 64;
}

ACCEPTS(scatter_slices)
{
    *workspace_bytes = (uint64_t)(device->threads * thread_bytes(call)) +
                       (uint64_t)cpu_scatter_layers(call) * sizeof(double[2]);
    return COLLET_OK;
}

KERNEL(scatter_slices)
{
    const collet_operand *out = operand_of(call, 0), *layers = operand_of(call, 1);
    const collet_operand *before = operand_of(call, 3);
    int64_t size = is_wide(out) ? 16 : 8, Z = cpu_scatter_layers(call);
    job j = {.call = call,
             .kernels = device->level->scatter,
             .size = size,
             .phase = call->workspace,
             .memory_bytes = thread_bytes(call) / 16 * 16};
    j.memory = (char *)(j.phase + Z);
    for (int64_t z = 0; z < Z; z++) {
        j.phase[z][0] = cos(-2 * PI * (double)z / (double)Z);
        j.phase[z][1] = sin(-2 * PI * (double)z / (double)Z);
    }
    if (cpu_step(out, 3) == size && cpu_step(layers, 3) == size &&
        (!operand_present(before) || cpu_step(before, 3) == size))
        team_run(device->threads, out->shape[2], 1, run_rows, &j);
    else
        team_run(device->threads, out->shape[0] * out->shape[2], 1, run_general, &j);
    return COLLET_OK;
}
