/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scatter_average where the energies of a pixel are adjacent. A pixel's places in the images are
 * found once for all energies.
 */
#include "cpu_openmp/runtime/device.h"

#include <math.h>

#include "cpu_openmp/runtime/team.h"
#include "shared/host/scatter/between.h"
#include "shared/host/scatter/numbers.h"
#include "shared/host/scatter/scatter.h"
#include "kernel_scatter.h"

#define KINDS 8 /* images of an angle that have a weight, at most */

/* One angle. */
typedef struct turn {
    double c, s;
    int64_t kinds;
    int64_t offset[KINDS]; /* bytes to the image */
    double weight[KINDS];
} turn;

/* Of one thread. */
typedef struct places {
    scatter_angle *angles;
    scatter_tap *taps;
} places;

typedef struct job {
    const collet_kernel_call *call;
    const scatter_kernels *kernels;
    int64_t n_angles;
    turn *turns;
    int32_t *order; /* the pixels by their distance from the centre: see order_pixels */
    char *memory;   /* of the threads */
    int64_t bytes;
} job;

static int64_t angles_of(const collet_kernel_call *call)
{
    return cpu_operand(call, 2)->shape[0];
}

static int64_t thread_bytes(const collet_kernel_call *call)
{
    return angles_of(call) * (int64_t)(sizeof(scatter_angle) + 4 * KINDS * sizeof(scatter_tap));
}

/* The radius of pixel i of out, in whole pixels. */
static int64_t radius(const collet_operand *out, int64_t i)
{
    double dy = (double)(i / out->shape[2]) - (double)out->shape[1] / 2;
    double dx = (double)(i % out->shape[2]) - (double)out->shape[2] / 2;
    return (int64_t)sqrt(dx * dx + dy * dy);
}

static int64_t rings_of(const collet_operand *out)
{
    return out->shape[1] + out->shape[2] + 1;
}

/* All angles of a pixel read the same ring of the images, so pixels of a ring share its bytes in
 * the caches. */
static void order_pixels(const job *j, const collet_operand *out)
{
    int64_t pixels = out->shape[1] * out->shape[2], rings = rings_of(out);
    int32_t *first = j->order + pixels;
    for (int64_t r = 0; r <= rings; r++)
        first[r] = 0;
    for (int64_t i = 0; i < pixels; i++)
        first[radius(out, i) + 1]++;
    for (int64_t r = 0; r < rings; r++)
        first[r + 1] += first[r];
    for (int64_t i = 0; i < pixels; i++)
        j->order[first[radius(out, i)]++] = (int32_t)i;
}

/* 0: an angle has more weights. */
static int find_turns(const job *j)
{
    const collet_operand *images = cpu_operand(j->call, 1), *angles = cpu_operand(j->call, 2);
    const collet_operand *weights = cpu_operand(j->call, 3);
    for (int64_t a = 0; a < j->n_angles; a++) {
        turn *t = &j->turns[a];
        double angle = real_at(cpu_at(angles) + a * cpu_step(angles, 0), 1);
        *t = (turn){.c = cos(angle), .s = sin(angle)};
        for (int64_t k = 0; k < images->shape[1]; k++) {
            double w =
                real_at(cpu_at(weights) + a * cpu_step(weights, 0) + k * cpu_step(weights, 1), 1);
            if (w == 0.0)
                continue;
            if (t->kinds == KINDS)
                return 0;
            t->offset[t->kinds] = k * cpu_step(images, 1);
            t->weight[t->kinds++] = w;
        }
    }
    return 1;
}

/* Adds the taps of an angle; returns their number, or -1 outside of the images. */
static int64_t find_taps(const collet_operand *images, const turn *t, double dx, double dy,
                         scatter_tap *taps)
{
    int64_t Y = images->shape[2], X = images->shape[3], count = 0;
    between across = between_pixels((double)X / 2 + t->c * dx - t->s * dy, X);
    between down = between_pixels((double)Y / 2 + t->s * dx + t->c * dy, Y);
    if (across.low < 0 || down.low < 0)
        return -1;
    for (int i = 0; i < 4; i++) {
        double w =
            (i % 2 ? across.high : 1.0 - across.high) * (i / 2 ? down.high : 1.0 - down.high);
        const char *at = cpu_at(images) + (down.low + i / 2) * cpu_step(images, 2) +
                         (across.low + i % 2) * cpu_step(images, 3);
        for (int64_t k = 0; k < t->kinds && w != 0.0; k++)
            taps[count++] = (scatter_tap){at + t->offset[k], w * t->weight[k]};
    }
    return count;
}

static void run_rows(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    const job *j = argument;
    const collet_scatter_average_params *params = j->call->params;
    const collet_operand *out = cpu_operand(j->call, 0), *images = cpu_operand(j->call, 1);
    scatter_angle *angles = (scatter_angle *)(void *)(j->memory + thread * j->bytes);
    scatter_tap *taps = (scatter_tap *)(void *)(angles + j->n_angles);
    for (int64_t i = begin; i < end; i++) {
        int64_t at = j->order[i], y = at / out->shape[2], x = at % out->shape[2], outside = 0;
        double dx = (double)x - (double)out->shape[2] / 2,
               dy = (double)y - (double)out->shape[1] / 2;
        char *to = cpu_at(out) + y * cpu_step(out, 1) + x * cpu_step(out, 2);
        for (int64_t a = 0; a < j->n_angles; a++) {
            scatter_tap *of = taps + a * 4 * KINDS;
            angles[a] = (scatter_angle){of, find_taps(images, &j->turns[a], dx, dy, of)};
            outside |= angles[a].count < 0;
        }
        if (outside && !params->mask) {
            for (int64_t e = 0; e < out->shape[0]; e++)
                set_real(to + e * cpu_step(out, 0), is_wide(out), NAN);
            continue;
        }
        j->kernels->mean[is_wide(out)](angles, j->n_angles, params->mask != 0, out->shape[0], to,
                                       cpu_step(out, 0));
    }
}

static void run_general(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    const job *j = argument;
    (void)thread;
    cpu_scatter_average(j->call, begin, end);
}

static uint64_t order_bytes(const collet_operand *out)
{
    uint64_t count = (uint64_t)(out->shape[1] * out->shape[2] + rings_of(out) + 1);
    return (count + 15) / 16 * 16 * sizeof(int32_t);
}

ACCEPTS(scatter_average)
{
    *workspace_bytes = (uint64_t)(device->threads * thread_bytes(call)) +
                       (uint64_t)angles_of(call) * sizeof(turn) + order_bytes(cpu_operand(call, 0));
    return COLLET_OK;
}

KERNEL(scatter_average)
{
    const collet_operand *out = cpu_operand(call, 0), *images = cpu_operand(call, 1);
    job j = {.call = call,
             .kernels = device->level->scatter,
             .n_angles = angles_of(call),
             .turns = call->workspace,
             .bytes = thread_bytes(call)};
    j.order = (int32_t *)(void *)(j.turns + j.n_angles);
    j.memory = (char *)j.order + order_bytes(out);
    int adjacent = images->shape[0] == 1 || cpu_step(images, 0) == (is_wide(images) ? 8 : 4);
    int small = out->shape[1] * out->shape[2] < INT32_MAX;
    if (adjacent && small && j.n_angles > 0 && find_turns(&j)) {
        order_pixels(&j, out);
        team_run(device->threads, out->shape[1] * out->shape[2], 16, run_rows, &j);
    } else {
        team_run(device->threads, out->shape[0] * out->shape[1], 1, run_general, &j);
    }
    return COLLET_OK;
}
