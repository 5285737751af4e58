/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/rsoxs/test_rsoxs.c, tests/tools/rsoxs/test_rsoxs_shards.c */
#include "energies.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The settings of all files begin with this tag. Its number grows if their text or the results change. */
#define RSOXS_TAG "collet-rsoxs 3"

static const uint64_t hash_start = UINT64_C(14695981039346656037);

/* Returns the FNV-1a hash, of 64 bits. */
static uint64_t hash(uint64_t h, const void *data, size_t bytes)
{
    for (const unsigned char *at = data, *end = at + bytes; at < end; at++)
        h = (h ^ *at) * UINT64_C(1099511628211);
    return h;
}

/* The energy is included because a file's name has only two decimals. The list of energies is not
 * included. */
void rsoxs_energies_describe(const rsoxs_run *run, double energy,
                             const collet_scatter_constants *constants,
                             char text[RSOXS_SETTINGS])
{
    const collet_scatter_options *w = &run->work;
    const uint32_t vectors = w->materials[0].kind == COLLET_SCATTER_VECTOR;
    const uint32_t choices[] = {w->nearest, w->window, w->mask, w->material_frame, vectors};
    uint64_t h = hash(hash_start, choices, sizeof choices);
    if (w->attenuation) /* files of older versions do not have this setting */
        h = hash(h, &w->attenuation, sizeof w->attenuation);
    h = hash(h, &energy, sizeof energy);
    h = hash(h, w->angles, sizeof w->angles);
    h = hash(h, w->detector, sizeof w->detector);
    h = hash(h, run->beams, (size_t)run->n_beams * sizeof *run->beams);
    h = hash(h, constants, (size_t)w->n_materials * sizeof *constants);
    snprintf(text, RSOXS_SETTINGS,
             RSOXS_TAG "; morphology %s; method %u; dtype %s; q grid %u; dc %u; configuration "
                       "%016" PRIx64,
             run->morphology, w->method, collet_dtype_name(w->dtype), w->grid, w->neighbours, h);
}

collet_status rsoxs_energies_left(rsoxs_run *run, double energy,
                                  const collet_scatter_constants *constants, int *left,
                                  collet_error *err)
{
    const rsoxs_options *o = run->options;
    char settings[RSOXS_SETTINGS];
    *left = 1;
    if (o->force || (o->plan && !o->resume))
        return COLLET_OK;
    rsoxs_energies_describe(run, energy, constants, settings);
    collet_status status = collet_scatter_written(run->directory, energy, settings, err);
    if (status == COLLET_NOT_FOUND)
        return COLLET_OK;
    if (o->resume && status == COLLET_OK) {
        *left = 0;
        run->kept++;
        return status;
    }
    if (status == COLLET_INVALID || status == COLLET_FORMAT) {
        char text[sizeof err->text];
        snprintf(text, sizeof text, "%s", err->text);
        return collet_fail(err, status,
                           o->merge
                               ? "%.*s: compute it again, by collet-rsoxs --force"
                               : "%.*s: give another directory (-o) to keep both, or --force to replace it",
                           (int)sizeof text - 80, text);
    }
    char name[COLLET_SCATTER_NAME];
    collet_scatter_file_name(name, energy);
    return status == COLLET_OK ? collet_fail(err, COLLET_IO,
                                             "%s/%s exists: --resume keeps patterns, --force "
                                             "replaces them",
                                             run->directory, name)
                               : status;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Writes the settings of the integrals: a hash of the settings of all patterns, and the wedges. */
static void describe_integrals(rsoxs_run *run, uint64_t patterns)
{
    snprintf(run->integrals, sizeof run->integrals,
             RSOXS_TAG "; morphology %s; energies %" PRId64 "; patterns %016" PRIx64
                       "; wedge %.17g",
             run->morphology, run->n_chosen, patterns,
             run->options->wedge > 0 ? run->options->wedge : 90);
}

collet_status rsoxs_energies_choose(rsoxs_run *run, collet_error *err)
{
    const collet_scatter_options *all = &run->work;
    size_t materials = (size_t)all->n_materials, energies = (size_t)all->n_energies;
    char settings[RSOXS_SETTINGS];
    uint64_t patterns = hash_start;
    int64_t count = 0;
    run->energies = malloc(energies * sizeof *run->energies);
    run->places = malloc(energies * sizeof *run->places);
    run->chosen = malloc(energies * sizeof *run->chosen);
    run->constants = malloc(energies * materials * sizeof *run->constants);
    if (!run->energies || !run->places || !run->chosen || !run->constants)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory");
    for (size_t e = 0; e < energies; e++) {
        const collet_scatter_constants *constants = all->constants + e * materials;
        int64_t place = run->n_chosen;
        int left;
        if (!rsoxs_films_chosen(run->options, all->energies[e]))
            continue;
        run->chosen[run->n_chosen++] = all->energies[e];
        rsoxs_energies_describe(run, all->energies[e], constants, settings);
        patterns = hash(patterns, settings, strlen(settings));
        if (place < run->first || place >= run->end)
            continue;
        collet_status status = rsoxs_energies_left(run, all->energies[e], constants, &left, err);
        if (status != COLLET_OK)
            return status;
        if (!left)
            continue;
        run->energies[count] = all->energies[e];
        run->places[count] = place;
        memcpy(run->constants + (size_t)count++ * materials, constants,
               materials * sizeof *run->constants);
    }
    qsort(run->chosen, (size_t)run->n_chosen, sizeof *run->chosen, ascending);
    describe_integrals(run, patterns);
    for (size_t e = 0; e < energies; e++) { /* all energies, so that a run of a few gives the same bits */
        double *range = run->work.energy_range;
        range[0] = e == 0 || all->energies[e] < range[0] ? all->energies[e] : range[0];
        range[1] = e == 0 || all->energies[e] > range[1] ? all->energies[e] : range[1];
    }
    run->work.n_energies = count;
    run->work.energies = run->energies;
    run->work.constants = run->constants;
    return COLLET_OK;
}
