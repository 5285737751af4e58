/* SPDX-License-Identifier: Apache-2.0 */
/* scatter_intensities for calls in which the energies of a pixel are adjacent and the polarisation is not rotated.
 * Tests: conformance/scatter/amplitudes.c */
#include "cpu_openmp/runtime/device.h"

#include <math.h>
#include <string.h>

#include "cpu_openmp/runtime/team.h"
#include "shared/host/scatter/numbers.h"
#include "shared/host/scatter/pattern.h"
#include "shared/host/scatter/scatter.h"
#include "kernel_scatter.h"

#define MOST_NUMBERS 0x1p40
#define LANES 16  /* the most energies at a time */
/* Pixels whose amplitudes are copied together. All nodes and fields of a pixel share few sets of a cache, because
 * the distance between them is the size of an image. */
#define PIXELS 64

typedef struct job {
    const collet_kernel_call *call;
    const scatter_kernels *kernels;
    scatter_spheres spheres;
    int wide;
    char *memory;         /* the threads' memory */
    int64_t memory_bytes; /* bytes of one thread's memory */
} job;

static int64_t padded_energies(const collet_kernel_call *call)
{
    return (operand_of(call, 0)->shape[0] + LANES - 1) / LANES * LANES;
}

static int64_t depth_of(const collet_kernel_call *call)
{
    return operand_of(call, 2)->shape[1];
}

/* Bytes of the nodes' shares, and bytes of all memory that a thread needs. */
static int64_t share_bytes(const collet_kernel_call *call)
{
    return depth_of(call) * LANES * (int64_t)sizeof(double);
}

static int64_t thread_bytes(const collet_kernel_call *call)
{
    int64_t amplitudes = depth_of(call) * operand_of(call, 1)->shape[1] * PIXELS;
    return share_bytes(call) + amplitudes * 2 * (int64_t)sizeof(double);
}

/* Copies k and the nodes to `memory`. Returns the address after them. */
static double *copy_waves(job *j, double *memory)
{
    const collet_operand *nodes = operand_of(j->call, 2);
    scatter_spheres *g = &j->spheres;
    double *waves = memory, *places = memory + 4 * g->padded;
    for (int64_t e = 0; e < g->padded; e++) {
        double k[3];
        read_vector(operand_of(j->call, 5), e < g->n ? e : g->n - 1, k);
        for (int a = 0; a < 3; a++)
            waves[a * g->padded + e] = k[a];
        waves[3 * g->padded + e] = scatter_dot(k, k);
    }
    for (int a = 0; a < 3; a++)
        g->k[a] = waves + a * g->padded;
    g->square = waves + 3 * g->padded;
    g->nodes = places;
    g->barycentric = places + g->depth;
    for (int64_t i = 0; i < 2 * g->depth; i++)
        places[i] = real_at(cpu_at(nodes) + i / g->depth * cpu_step(nodes, 0) +
                                i % g->depth * cpu_step(nodes, 1),
                            1);
    return places + 2 * g->depth;
}

static complex_number weight_at(const job *j, int64_t e, int64_t c, int64_t f)
{
    const collet_operand *w = operand_of(j->call, 4);
    return complex_at(cpu_at(w) + e * cpu_step(w, 0) + c * cpu_step(w, 1) + f * cpu_step(w, 2), j->wide);
}

/* Whether field f has a weight in sum c. */
static int is_used(const job *j, int64_t c, int64_t f)
{
    for (int64_t e = 0; e < j->spheres.n; e++) {
        complex_number w = weight_at(j, e, c, f);
        if (w.re != 0.0 || w.im != 0.0)
            return 1;
    }
    return 0;
}

/* Copies the weights of the fields, without sums in which a field has no weight at any energy. Returns the address
 * after them. */
static char *copy_weights(job *j, double *memory)
{
    scatter_spheres *g = &j->spheres;
    const char **weight = (const char **)(void *)memory;
    int8_t(*sums)[6] = (int8_t(*)[6])(void *)(weight + g->fields), *count = (int8_t *)(sums + g->fields);
    char *to = (char *)(memory + 2 * g->fields);
    int64_t part = j->wide ? 8 : 4;
    for (int64_t f = 0; f < g->fields; f++) {
        weight[f] = to;
        count[f] = 0;
        for (int8_t c = 0; c < 6; c++) {
            if (!is_used(j, c, f))
                continue;
            sums[f][count[f]++] = c;
            for (int64_t e = 0; e < g->padded; e++) {
                complex_number w = weight_at(j, e < g->n ? e : g->n - 1, c, f);
                set_real(to + e * part, j->wide, w.re);
                set_real(to + (g->padded + e) * part, j->wide, w.im);
            }
            to += 2 * g->padded * part;
        }
    }
    g->weight = weight;
    g->sums = (const int8_t(*)[6])sums;
    g->count = count;
    return to;
}

/* Copies the amplitudes of n pixels of row y from x on: [node][field][PIXELS]. */
static void copy_amplitudes(const job *j, int64_t y, int64_t x, int64_t n, char *to)
{
    const collet_operand *amplitudes = operand_of(j->call, 1);
    const int64_t size = j->wide ? 16 : 8, step = cpu_step(amplitudes, 3);
    for (int64_t k = 0; k < j->spheres.depth * j->spheres.fields; k++, to += PIXELS * size) {
        const char *from = cpu_at(amplitudes) + k / j->spheres.fields * cpu_step(amplitudes, 0) +
                           k % j->spheres.fields * cpu_step(amplitudes, 1) +
                           y * cpu_step(amplitudes, 2) + x * step;
        if (step == size)
            memcpy(to, from, (size_t)(n * size));
        for (int64_t i = 0; i < n && step != size; i++)
            memcpy(to + i * size, from + i * step, (size_t)size);
    }
}

static TEAM_BODY(run_rows)
{
    const job *j = argument;
    const collet_operand *out = operand_of(j->call, 0), *interval = operand_of(j->call, 3);
    const int64_t size = j->wide ? 16 : 8, X = out->shape[3];
    char *memory = j->memory + thread * j->memory_bytes, *copy = memory + share_bytes(j->call);
    scatter_line p = {.depth_step = j->spheres.fields * PIXELS * size,
                      .field_step = PIXELS * size,
                      .scratch = (double *)(void *)memory};
    for (int64_t i = begin * X; i < end * X; i++) {
        int64_t y = i / X, x = i % X;
        const char *at = cpu_at(interval) + y * cpu_step(interval, 1) + x * cpu_step(interval, 2);
        if (x % PIXELS == 0)
            copy_amplitudes(j, y, x, X - x < PIXELS ? X - x : PIXELS, copy);
        p.at = copy + x % PIXELS * size;
        p.middle = real_at(at, 1);
        p.half = real_at(at + cpu_step(interval, 0), 1);
        p.qx = scatter_number(operand_of(j->call, 6), x);
        p.qy = scatter_number(operand_of(j->call, 7), y);
        for (int k = 0; k < 3; k++)
            p.out[k] = cpu_at(out) + k * cpu_step(out, 1) + y * cpu_step(out, 2) +
                       x * cpu_step(out, 3);
        j->kernels->intensities[j->wide](&j->spheres, &p);
    }
}

static TEAM_BODY(run_general)
{
    const job *j = argument;
    cpu_scatter_intensities(j->call, begin, end);
}

ACCEPTS(scatter_intensities)
{
    double most = (double)depth_of(call) * (LANES + 2.0 * PIXELS * (double)operand_of(call, 1)->shape[1]) +
                  (4 + 12.0 * (double)operand_of(call, 1)->shape[1]) * ((double)operand_of(call, 0)->shape[0] + LANES);
    if (most > MOST_NUMBERS)
        return device->base.host->fail(call->err, COLLET_REFUSED,
                           "%lld energies, %lld nodes, %lld fields do not fit into memory",
                           (long long)operand_of(call, 0)->shape[0], (long long)depth_of(call),
                           (long long)operand_of(call, 1)->shape[1]);
    int64_t fields = operand_of(call, 1)->shape[1], padded = padded_energies(call);
    int64_t doubles = 4 * padded + 2 * depth_of(call) + 2 * fields + 12 * fields * padded;
    *workspace_bytes = (uint64_t)doubles * sizeof(double) + (uint64_t)(device->threads * thread_bytes(call)) + 64;
    return COLLET_OK;
}

KERNEL(scatter_intensities)
{
    const collet_scatter_params *params = call->params;
    const collet_operand *out = operand_of(call, 0);
    job j = {.call = call,
             .kernels = device->level->scatter,
             .spheres = {.n = out->shape[0],
                         .padded = padded_energies(call),
                         .fields = operand_of(call, 1)->shape[1],
                         .depth = depth_of(call),
                         .limit = params->limit == 0.0 ? INFINITY : params->limit},
             .wide = is_wide(out),
             .memory_bytes = thread_bytes(call)};
    int adjacent = out->shape[0] == 1 || cpu_step(out, 0) == (j.wide ? 8 : 4);
    if (adjacent && !operand_present(operand_of(call, 8)) && out->shape[0] && j.spheres.depth) {
        char *end = copy_weights(&j, copy_waves(&j, call->workspace));
        j.memory = (char *)(((uintptr_t)end + 63) / 64 * 64);
        team_run(device->threads, out->shape[2], 1, run_rows, &j);
    } else {
        team_run(device->threads, out->shape[0] * out->shape[2], 1, run_general, &j);
    }
    return COLLET_OK;
}
