/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scatter_amplitude where the elements of spectra and results are adjacent along x. A row of pixels
 * is cut where the slice changes and at q = 0, so that each part reads adjacent elements.
 */
#include "cpu_openmp/runtime/device.h"

#include "cpu_openmp/runtime/team.h"
#include "cpu_openmp/util/counts.h"
#include "shared/host/scatter/numbers.h"
#include "shared/host/scatter/scatter.h"
#include "kernel_scatter.h"

/* Of one thread: the fields that one of the six sums has, and their weights. */
typedef struct terms {
    const char **at;
    double (*weight)[2];
    int64_t *field;
} terms;

typedef struct job {
    const collet_kernel_call *call;
    const scatter_kernels *kernels;
    int64_t fields, size; /* bytes of an element */
    char *memory;
} job;

static int64_t thread_bytes(int64_t fields)
{
    return fields * (int64_t)(sizeof(char *) + sizeof(double[2]) + sizeof(int64_t));
}

/* The fields with a weight in sum c of energy e. */
static int64_t find_terms(const job *j, int64_t e, int64_t c, const terms *t)
{
    const collet_operand *weights = cpu_operand(j->call, 2);
    const char *at = cpu_at(weights) + e * cpu_step(weights, 0) + c * cpu_step(weights, 1);
    int64_t count = 0;
    for (int64_t f = 0; f < j->fields; f++) {
        complex_number w = complex_at(at + f * cpu_step(weights, 2), is_wide(weights));
        if (w.re == 0.0 && w.im == 0.0)
            continue;
        t->field[count] = f;
        t->weight[count][0] = w.re;
        t->weight[count++][1] = w.im;
    }
    return count;
}

/* Pixels begin .. end-1 of a row, whose slice is z (-1: outside), all on one side of q = 0. */
static void run_part(const job *j, int64_t y, int64_t z, int64_t begin, int64_t end, int64_t count,
                     const terms *t, char *out, const char *before)
{
    const collet_operand *spectra = cpu_operand(j->call, 1), *to = cpu_operand(j->call, 0);
    int64_t Z = spectra->shape[1], Y = to->shape[2], X = to->shape[3];
    int near = begin <= X / 2;
    if (z < 0) {
        j->kernels->combine[j->size == 16](out, before, NULL, NULL, 0, end - begin, 0, 0);
        return;
    }
    int64_t a = (Z / 2 - z + Z) % Z, b = (Y / 2 - y + Y) % Y;
    if (!near) {
        a = (Z - a) % Z;
        b = (Y - b) % Y;
    }
    int64_t first = near ? X / 2 - (end - 1) : begin - X / 2;
    /* Beyond q = 0 the index is N - (N / 2 - x + N) = x - N / 2. */
    const char *at =
        cpu_at(spectra) + a * cpu_step(spectra, 1) + b * cpu_step(spectra, 2) + first * j->size;
    for (int64_t k = 0; k < count; k++)
        t->at[k] = at + t->field[k] * cpu_step(spectra, 0);
    j->kernels->combine[j->size == 16](out, before, t->at, (const double(*)[2])t->weight, count,
                                       end - begin, near, !near);
}

static int64_t slice_of(const job *j, const char *row, int64_t x)
{
    const collet_scatter_params *params = j->call->params;
    int64_t Z = cpu_operand(j->call, 1)->shape[1];
    int64_t z = *(const int32_t *)(const void *)(row + x * cpu_last_step(cpu_operand(j->call, 3)));
    if (z < 0 || z >= Z)
        return -1;
    return z + params->offset < Z ? z + params->offset : z;
}

static void run_row(const job *j, int64_t e, int64_t y, const terms *t)
{
    const collet_operand *out = cpu_operand(j->call, 0), *slice = cpu_operand(j->call, 3);
    const collet_operand *before = cpu_operand(j->call, 4);
    const char *row = cpu_at(slice) + e * cpu_step(slice, 0) + y * cpu_step(slice, 1);
    int64_t X = out->shape[3];
    for (int64_t c = 0; c < 6; c++) {
        char *to = cpu_at(out) + e * cpu_step(out, 0) + c * cpu_step(out, 1) + y * cpu_step(out, 2);
        const char *from = NULL;
        int64_t count = find_terms(j, e, c, t);
        if (cpu_present(before))
            from = cpu_at(before) + e * cpu_step(before, 0) + c * cpu_step(before, 1) +
                   y * cpu_step(before, 2);
        for (int64_t begin = 0, end; begin < X; begin = end) {
            int64_t z = slice_of(j, row, begin), limit = begin <= X / 2 ? X / 2 + 1 : X;
            for (end = begin + 1; end < limit && slice_of(j, row, end) == z;)
                end++;
            run_part(j, y, z, begin, end, count, t, to + begin * j->size,
                     from ? from + begin * j->size : NULL);
        }
    }
}

static void run_rows(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    const job *j = argument;
    const collet_scatter_params *params = j->call->params;
    int64_t E = cpu_operand(j->call, 0)->shape[0], Y = cpu_operand(j->call, 0)->shape[2];
    char *memory = j->memory + thread * thread_bytes(j->fields);
    terms t = {.weight = (double(*)[2])(void *)memory};
    t.at = (const char **)(void *)(t.weight + j->fields);
    t.field = (int64_t *)(void *)(t.at + j->fields);
    /* Energies of a row one after the other: they read the same slices. */
    for (int64_t i = begin; i < end; i++) {
        int64_t y = i / E, e = i % E;
        if (params->neighbours && y == Y / 2)
            cpu_scatter_amplitude(j->call, e * Y + y, e * Y + y + 1);
        else
            run_row(j, e, y, &t);
    }
}

static void run_general(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    const job *j = argument;
    (void)thread;
    cpu_scatter_amplitude(j->call, begin, end);
}

ACCEPTS(scatter_amplitude)
{
    *workspace_bytes =
        (uint64_t)(device->threads * thread_bytes(cpu_operand(call, 1)->shape[0])) + 64;
    return COLLET_OK;
}

KERNEL(scatter_amplitude)
{
    const collet_operand *out = cpu_operand(call, 0), *spectra = cpu_operand(call, 1);
    const collet_operand *before = cpu_operand(call, 4);
    int64_t size = is_wide(out) ? 16 : 8;
    job j = {call, device->level->scatter, spectra->shape[0], size, call->workspace};
    int adjacent = cpu_step(out, 3) == size && cpu_step(spectra, 3) == size &&
                   (!cpu_present(before) || cpu_step(before, 3) == size);
    team_run(device->threads, out->shape[0] * out->shape[2], 1, adjacent ? run_rows : run_general,
             &j);
    return COLLET_OK;
}
