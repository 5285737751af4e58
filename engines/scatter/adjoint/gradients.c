/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients of a loss on all patterns: the fast method backwards, pass by pass.
 * Tests: tests/engines/scatter/test_scatter_gradients.c */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <collet/floating.h>

#include "io/struct.h"
#include "scatter/adjoint/adjoint.h"
#include "scatter/arrays.h"
#include "scatter/attenuation.h"
#include "scatter/geometry.h"
#include "scatter/methods.h"
#include "scatter/voxels.h"

static void free_adjoint(scatter_adjoint *a)
{
    for (int i = 0; a->scratch && i < a->threads; i++)
        free(a->scratch[i]);
    free(a->scratch);
    free(a->wave);
    free(a->turn);
    free(a->valid);
    free(a->reached);
    free(a->mean);
    free(a->slice_cotangents);
    free(a->row_constants);
    free(a->losses);
    free(a->by_fraction);
    free(a->constants);
    free((void *)(uintptr_t)a->out.materials);
}

static int64_t block_of(const collet_scatter *s)
{
    return s->plan.block < ADJOINT_BLOCK ? s->plan.block : ADJOINT_BLOCK;
}

static size_t slice_bytes(const collet_scatter *s)
{
    const int64_t *n = s->options.shape;
    return (size_t)(s->depth * s->plan.fields * n[1] * n[2]) * (scatter_is_wide(s) ? 16 : 8);
}

/* Allocates all memory, enough for the largest pass. */
static collet_status allocate(scatter_adjoint *a)
{
    collet_scatter *s = a->s;
    const int64_t *n = s->options.shape;
    size_t pixels = (size_t)(n[1] * n[2]), materials = (size_t)s->options.n_materials;
    size_t rows = (size_t)(4 * (1 + 2 * s->depth) * n[2]) * sizeof(double);
    size_t scratch = scatter_adjoint_scratch(a);
    a->scratch = calloc((size_t)a->threads, sizeof *a->scratch);
    int good = a->scratch != NULL;
    for (int i = 0; i < a->threads && good; i++)
        good = (a->scratch[i] = malloc(scratch > rows ? scratch : rows)) != NULL;
    a->wave = malloc(ADJOINT_BLOCK * sizeof *a->wave);
    a->turn = malloc((size_t)s->angles * sizeof *a->turn);
    a->valid = malloc(pixels * sizeof *a->valid);
    a->reached = s->options.mask ? malloc(pixels * (size_t)s->angles * sizeof *a->reached) : NULL;
    a->mean =
        malloc(pixels * (size_t)(s->plan.block < ADJOINT_BLOCK ? s->plan.block : ADJOINT_BLOCK) *
               sizeof *a->mean);
    a->slice_cotangents = malloc(slice_bytes(s));
    a->row_constants = malloc((size_t)n[1] * ADJOINT_BLOCK * materials * sizeof *a->row_constants);
    a->losses = calloc((size_t)s->options.n_energies, sizeof *a->losses);
    a->by_fraction = calloc(materials, sizeof *a->by_fraction);
    a->constants = calloc((size_t)s->options.n_energies * materials, sizeof *a->constants);
    if (!good || !a->wave || !a->turn || !a->valid || (s->options.mask && !a->reached) ||
        !a->losses || !a->by_fraction || !a->mean || !a->slice_cotangents || !a->row_constants ||
        !a->constants)
        return collet_fail(&s->error, COLLET_NO_MEMORY, "no memory for gradients");
    for (int64_t i = 0; i < s->angles; i++) {
        a->turn[i][0] = cos(s->radians[i]);
        a->turn[i][1] = sin(s->radians[i]);
    }
    return COLLET_OK;
}

/* ---- Passes ---------------------------------------------------------------------------------- */

static void run_block(scatter_adjoint *a, int64_t first, int64_t count)
{
    const collet_scatter *s = a->s;
    a->first = first;
    a->count = count;
    for (int64_t e = 0; e < count; e++) {
        double k = scatter_wave(s->options.energies[first + e]), *wave = a->wave[e];
        for (int i = 0; i < 3; i++)
            wave[i] = k * s->axis[2][i];
        wave[3] = wave[0] * wave[0] + wave[1] * wave[1] + wave[2] * wave[2];
    }
    scatter_adjoint_patterns(a);
    scatter_adjoint_images(a);
}

/* Returns an upper limit for the number of steps of progress. */
static int64_t steps_of(const scatter_adjoint *a, const collet_scatter_gradients *out)
{
    const collet_scatter *s = a->s;
    int64_t layers = (s->options.shape[0] + s->layers - 1) / s->layers * s->options.n_materials;
    int64_t blocks = (s->span + block_of(s) - 1) / block_of(s);
    return s->plan.passes * (layers * (out->materials ? 2 : 1) + blocks);
}

/* The pattern of an energy is T I, with the transmission T. So dL / d(log T) = sum of dL / d(T I) T I over the
 * pixels. I is a quadratic form of the constants c, so the sum of dI / dc c is 2 I. Therefore dL / d(log T) =
 * (sum of dL / dc c) / 2. */
static void differentiate_attenuation(scatter_adjoint *a, int64_t first, int64_t end)
{
    const collet_scatter_options *o = &a->s->options;
    memset(a->by_fraction, 0, (size_t)o->n_materials * sizeof *a->by_fraction);
    for (int64_t e = first; e < end; e++) {
        double sum = 0.0;
        for (int64_t i = e * o->n_materials; i < (e + 1) * o->n_materials; i++) {
            double c[3][2];
            scatter_constants(&o->constants[i], c);
            for (int j = 0; j < 6; j++)
                sum += c[j / 2][j % 2] * a->constants[i][j / 2][j % 2];
        }
        a->losses[e] = sum / (8 * 3.14159265358979323846);
        for (int64_t m = 0; m < o->n_materials; m++)
            a->by_fraction[m] -= a->losses[e] * scatter_absorption(a->s, e) *
                                 scatter_mean_beta(&o->constants[e * o->n_materials + m]);
    }
}

/* Computes the gradients of energies first .. end - 1, the energies of one pass over the morphology. */
static collet_status run_pass(scatter_adjoint *a, int64_t first, int64_t end)
{
    collet_scatter *s = a->s;
    int64_t next = s->next, block = block_of(s);
    collet_status status = COLLET_OK;
    void *slices;
    collet_array_destroy(s->images); /* frees memory for the cotangents; created again when needed */
    s->images = NULL;
    s->next = first;
    if (first < s->sliced[0] || first >= s->sliced[1])
        status = scatter_slices(s);
    s->next = next;
    if (status == COLLET_OK &&
        collet_array_acquire(s->context, s->slices, &slices, COLLET_READ) != COLLET_OK)
        status = scatter_failed(s, collet_last_status(s->context), "reading slices");
    if (status != COLLET_OK)
        return status;
    a->slices = slices;
    memset(a->slice_cotangents, 0, slice_bytes(s));
    for (int64_t e = first; e < end && status == COLLET_OK; e += block) {
        run_block(a, e, end - e < block ? end - e : block);
        status = scatter_step(s, "differentiating");
    }
    collet_array_release(s->context, s->slices);
    if (s->options.attenuation)
        differentiate_attenuation(a, first, end);
    return status == COLLET_OK && a->out.materials ? scatter_adjoint_fields(a) : status;
}

/* dL / d(delta, beta) from dL / dc: n^2 - 1 = delta^2 - beta^2 - 2 delta + 2 i beta (1 - delta) */
static void chain(double delta, double beta, const double c[2], double share, double *by_delta,
                  double *by_beta)
{
    *by_delta += share * (2 * (delta - 1) * c[0] - 2 * beta * c[1]);
    *by_beta += share * (-2 * beta * c[0] + 2 * (1 - delta) * c[1]);
}

static void write_constants(const scatter_adjoint *a)
{
    const collet_scatter_options *o = &a->s->options;
    for (int64_t i = 0; i < o->n_energies * o->n_materials; i++) {
        const collet_scatter_constants *n = &o->constants[i];
        collet_scatter_constants d = {0};
        double c[3][2], across[2];
        for (int j = 0; j < 6; j++)
            c[j / 2][j % 2] = a->constants[i][j / 2][j % 2] / (4 * 3.14159265358979323846);
        for (int j = 0; j < 2; j++)
            across[j] = c[1][j] - c[2][j];
        double delta = (n->delta_parallel + 2 * n->delta_perpendicular) / 3;
        double beta = (n->beta_parallel + 2 * n->beta_perpendicular) / 3;
        chain(delta, beta, c[0], 1.0 / 3, &d.delta_parallel, &d.beta_parallel);
        chain(delta, beta, c[0], 2.0 / 3, &d.delta_perpendicular, &d.beta_perpendicular);
        chain(n->delta_perpendicular, n->beta_perpendicular, across, 1.0, &d.delta_perpendicular,
              &d.beta_perpendicular);
        chain(n->delta_parallel, n->beta_parallel, c[2], 1.0, &d.delta_parallel, &d.beta_parallel);
        int64_t e = i / o->n_materials, m = i % o->n_materials;
        double by_beta = -a->losses[e] * scatter_absorption(a->s, e) * a->s->volumes[m];
        d.beta_parallel += by_beta / 3;
        d.beta_perpendicular += 2 * by_beta / 3;
        a->out.constants[i] = d;
    }
}

/* ---- Arguments ------------------------------------------------------------------------------- */

static void clear(void *array, int64_t count, collet_dtype dtype)
{
    if (array)
        memset(array, 0, (size_t)count * (dtype == COLLET_F64 ? 8 : 4));
}

/* Copies the caller's structs, and sets the gradients of the voxels to 0. */
static collet_status take_gradients(scatter_adjoint *a, const collet_scatter_gradients *given)
{
    const collet_scatter_options *o = &a->s->options;
    int64_t voxels = a->s->thickness * o->shape[0] * o->shape[1] * o->shape[2];
    collet_status status =
        io_struct_in(&a->out, sizeof a->out, given, "the gradients", &a->s->error);
    const char *at = (const char *)a->out.materials;
    if (status != COLLET_OK || !at) {
        a->out.materials = NULL;
        return status;
    }
    uint32_t step = a->out.materials->struct_size;
    collet_scatter_derivatives *own = calloc((size_t)o->n_materials, sizeof *own);
    a->out.materials = own;
    if (!own)
        return collet_fail(&a->s->error, COLLET_NO_MEMORY, "no memory for gradients");
    for (int64_t m = 0; m < o->n_materials && status == COLLET_OK; m++, at += step) {
        status =
            io_struct_in(&own[m], sizeof *own, at, "the gradients of a material", &a->s->error);
        collet_dtype dtype = o->materials[m].dtype;
        void *const arrays[] = {own[m].volume, own[m].alignment, own[m].theta,
                                own[m].psi,    own[m].direction, own[m].unaligned};
        for (int i = 0; i < 6 && status == COLLET_OK; i++)
            clear(arrays[i], voxels * (i == 4 ? 3 : 1), dtype);
    }
    return status;
}

static collet_status refuse(const collet_scatter *s, const void *cotangents,
                            const collet_scatter_gradients *out, collet_error *err)
{
    if (!s || !cotangents || !out)
        return collet_fail(err, COLLET_INVALID, "%s is NULL",
                           !s           ? "scattering"
                           : cotangents ? "out"
                                        : "cotangents");
    if (s->devices)
        return collet_fail(err, COLLET_REFUSED,
                           "gradients need one device; create the scattering without devices");
    if (s->options.method != COLLET_SCATTER_FAST)
        return collet_fail(err, COLLET_REFUSED,
                           "gradients need the fast method (0), and the option method is %u",
                           s->options.method);
    return COLLET_OK;
}

collet_status collet_scatter_differentiate(collet_scatter *s, const void *cotangents,
                                           const collet_scatter_gradients *out,
                                           collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    collet_status status = refuse(s, cotangents, out, err);
    if (status != COLLET_OK)
        return status;
    if (s->error.status != COLLET_OK && s->error.status != COLLET_CANCELLED)
        return collet_fail(err, s->error.status, "%s", s->error.text);
    s->error.status = COLLET_OK;
    scatter_adjoint a = {.s = s,
                         .cotangents = cotangents,
                         .threads = scatter_threads(collet_context_runtime(s->context))};
    int64_t energies = s->options.n_energies, steps = s->steps, steps_total = s->steps_total;
    s->steps = 0;
    s->steps_total = steps_of(&a, out);
    const collet_scatter_options given = s->options;
    collet_scatter_material *held = NULL;
    status = scatter_hold_voxels(s->context, &given, &held, &s->error);
    if (status == COLLET_OK) {
        s->options.materials = held;
        status = take_gradients(&a, out);
    }
    if (status == COLLET_OK)
        status = allocate(&a);
    for (int64_t first = 0; first < energies && status == COLLET_OK; first += s->span)
        status = run_pass(&a, first, first + s->span < energies ? first + s->span : energies);
    if (status == COLLET_OK && a.out.constants)
        write_constants(&a);
    free_adjoint(&a);
    scatter_release_voxels(s->context, &given, held);
    s->options.materials = given.materials;
    s->steps = steps;
    s->steps_total = steps_total;
    return status == COLLET_OK ? status : collet_fail(err, status, "%s", s->error.text);
}
