/* SPDX-License-Identifier: Apache-2.0 */
/* config.txt and Material<i>.txt.
 * Tests: tests/tools/rsoxs/test_rsoxs_make.c */
#include "make.h"

#include <complex.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

collet_status make_add_text(make_set *set, const char *path, const char *text, collet_error *err)
{
    io_spool **spool = &set->spools[set->count];
    collet_status status = io_spool_create(path, IO_SPOOL_OUTPUT, spool, err);
    if (status != COLLET_OK)
        return status;
    set->count++;
    return io_spool_write(*spool, text, strlen(text), err);
}

/* Returns n, where n^2 = 1 - 0.004 + s E0^2 / (E0^2 - E^2 - i E). The resonance E0 is at 285, 286.5, ... eV
 * and 1 eV wide; it is stronger along the material's direction than across it. */
static double complex index_of(int64_t material, double energy, double strength)
{
    double resonance = 285 + 1.5 * (double)material;
    return csqrt(1 - 4e-3 +
                 3e-5 * strength * resonance * resonance /
                     (resonance * resonance - energy * energy - I * energy));
}

collet_scatter_constants make_constants(const make_scene *scene, int64_t material, double energy)
{
    if (scene->objects && material == scene->materials - 1)
        return (collet_scatter_constants){0}; /* vacuum */
    double complex parallel = index_of(material, energy, 1.6);
    double complex across = index_of(material, energy, 0.7);
    return (collet_scatter_constants){.delta_parallel = 1 - creal(parallel),
                                      .beta_parallel = cimag(parallel),
                                      .delta_perpendicular = 1 - creal(across),
                                      .beta_perpendicular = cimag(across)};
}

static void print_configuration(FILE *f, const make_options *o)
{
    fprintf(f, "CaseType = 0;\nMorphologyType = 0;\nEnergies = [");
    for (int64_t i = 0; i < o->n_energies; i++)
        fprintf(f, "%s%.4f", i ? ", " : "", o->energies[i]);
    fprintf(f,
            "];\nEAngleRotation = [%.4f, %.4f, %.4f];\nRotMask = 1;\nWindowingType = 0;\n"
            "EwaldsInterpolation = 1;\nReferenceFrame = 1;\n",
            o->angles[0], o->angles[1], o->angles[2]);
}

static void print_constants(FILE *f, const make_scene *scene, int64_t material)
{
    const make_options *o = scene->options;
    for (int64_t i = 0; i < o->n_energies; i++) {
        collet_scatter_constants c = make_constants(scene, material, o->energies[i]);
        fprintf(f,
                "EnergyData%" PRId64 ":\n{\n  Energy = %.4f;\n  BetaPara = %.17e;\n"
                "  BetaPerp = %.17e;\n  DeltaPara = %.17e;\n  DeltaPerp = %.17e;\n}\n",
                i, o->energies[i], c.beta_parallel, c.beta_perpendicular, c.delta_parallel,
                c.delta_perpendicular);
    }
}

/* Adds the file of the configuration, or of the constants of a material (from 0 on). */
static collet_status add_file(make_set *set, const make_scene *scene, const char *path,
                              int64_t material, collet_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (f && material < 0)
        print_configuration(f, scene->options);
    else if (f)
        print_constants(f, scene, material);
    int done = f && !ferror(f);
    done = f && fclose(f) == 0 && done && text;
    collet_status status = done ? make_add_text(set, path, text, err)
                                : collet_fail(err, COLLET_NO_MEMORY, "no memory to write %s", path);
    free(text);
    return status;
}

collet_status make_add_settings(make_set *set, const make_scene *scene, const char *directory,
                                collet_error *err)
{
    size_t size = strlen(directory) + 40;
    char *path = malloc(size);
    collet_status status =
        path ? COLLET_OK : collet_fail(err, COLLET_NO_MEMORY, "no memory to write %s", directory);
    for (int64_t m = -1; m < scene->materials && status == COLLET_OK; m++) {
        if (m < 0)
            snprintf(path, size, "%sconfig.txt", directory);
        else
            snprintf(path, size, "%sMaterial%" PRId64 ".txt", directory, m + 1);
        status = add_file(set, scene, path, m, err);
    }
    free(path);
    return status;
}
