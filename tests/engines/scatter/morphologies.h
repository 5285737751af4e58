/* SPDX-License-Identifier: Apache-2.0 */
/* morphologies.h - morphologies for the engine, and their patterns. Failures fail the test. */
#ifndef TESTS_ENGINES_SCATTER_MORPHOLOGIES_H
#define TESTS_ENGINES_SCATTER_MORPHOLOGIES_H

#include <collet/scatter.h>

#define PI 3.14159265358979323846
#define MATERIALS 3
#define ENERGIES 3

typedef struct morphology {
    int64_t materials, voxels;
    int vectors, isotropic; /* the first material */
    double *array[MATERIALS][4];
    collet_scatter_material material[MATERIALS];
} morphology;

void make_random(morphology *m, const int64_t *shape, int64_t materials, int vectors,
                 int isotropic);
void free_morphology(morphology *m);

/* Options for ENERGIES energies; fills `constants` with their optical constants. */
collet_scatter_options options_of(const morphology *m, const int64_t *shape,
                                  collet_scatter_constants *constants);

/* Options of the engine that are tested together. */
typedef struct scatter_case {
    const char *what;
    uint32_t grid, nearest, window, neighbours, mask, material;
    double direction[3], detector[3];
} scatter_case;
#define SCATTER_CASES 16
extern const scatter_case scatter_cases[SCATTER_CASES];
void set_case(collet_scatter_options *o, const scatter_case *c);

/* The smallest limit of memory (to 2 %) with which the work is possible. *passes: the number of passes with
 * this limit. */
uint64_t least_memory(collet_context *context, collet_scatter_options o, int64_t *passes);

/* Computes all patterns of the options, one after another. The caller frees them with free(). */
double *patterns_of(collet_context *context, const collet_scatter_options *o);

/* A number from 0 to 1. */
double random_number(uint64_t *state);

/* The largest difference of two images divided by their peak. Both must have NaN in the same
 * pixels. */
double difference(const double *a, const double *b, int64_t count);

#endif
