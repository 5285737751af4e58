/* SPDX-License-Identifier: Apache-2.0 */

#include "common/support.h"
#include "morphologies.h"

double random_number(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

static void fill_euler(morphology *m, int64_t i, int64_t k, double fraction, uint64_t *state)
{
    const double values[] = {fraction, random_number(state), PI * random_number(state),
                             2 * PI * random_number(state)};
    for (int a = 0; a < 4; a++)
        m->array[k][a][i] = values[a];
}

static void fill_vector(morphology *m, int64_t i, int64_t k, double fraction, uint64_t *state)
{
    double aligned = fraction * random_number(state), theta = PI * random_number(state);
    double psi = 2 * PI * random_number(state), s = sqrt(aligned);
    m->array[k][0][3 * i] = s * cos(psi) * sin(theta);
    m->array[k][0][3 * i + 1] = s * sin(psi) * sin(theta);
    m->array[k][0][3 * i + 2] = s * cos(theta);
    m->array[k][1][i] = fraction - aligned;
}

void make_random(morphology *m, const int64_t *shape, int64_t materials, int vectors, int isotropic)
{
    uint64_t state = 7;
    *m = (morphology){.materials = materials,
                      .voxels = shape[0] * shape[1] * shape[2],
                      .vectors = vectors,
                      .isotropic = isotropic};
    for (int64_t k = 0; k < materials; k++)
        for (int a = 0; a < 4; a++)
            m->array[k][a] = calloc((size_t)m->voxels * 3, sizeof(double));
    for (int64_t i = 0; i < m->voxels; i++) {
        double part[MATERIALS], sum = 0;
        for (int64_t k = 0; k < materials; k++)
            sum += part[k] = 0.1 + random_number(&state);
        for (int64_t k = 0; k < materials; k++)
            (vectors ? fill_vector : fill_euler)(m, i, k, part[k] / sum, &state);
    }
    for (int64_t k = 0; k < materials; k++) {
        double **a = m->array[k];
        m->material[k] =
            (collet_scatter_material){.struct_size = sizeof m->material[k], .dtype = COLLET_F64};
        if (vectors) {
            m->material[k].direction = a[0];
            m->material[k].unaligned = a[1];
            continue;
        }
        m->material[k].volume = a[0];
        if (k == 0 && isotropic)
            continue;
        m->material[k].alignment = a[1];
        m->material[k].theta = a[2];
        m->material[k].psi = a[3];
    }
}

void free_morphology(morphology *m)
{
    for (int64_t k = 0; k < m->materials; k++)
        for (int a = 0; a < 4; a++)
            free(m->array[k][a]);
}

static const double energies[ENERGIES] = {285.2, 270.0, 320.5};

collet_scatter_options options_of(const morphology *m, const int64_t *shape,
                                  collet_scatter_constants *constants)
{
    collet_scatter_options o = COLLET_SCATTER_OPTIONS;
    uint64_t state = 11;
    o.dtype = COLLET_F64;
    memcpy(o.shape, shape, sizeof o.shape);
    o.voxel = 2.5;
    o.grid = COLLET_SCATTER_CYRSOXS;
    o.angles[1] = 15.0;
    o.angles[2] = 165.0;
    o.n_materials = m->materials;
    o.materials = m->material;
    o.n_energies = ENERGIES;
    o.energies = energies;
    for (int64_t i = 0; i < ENERGIES * m->materials; i++)
        constants[i] = (collet_scatter_constants){
            2e-3 * random_number(&state), 2e-3 * random_number(&state),
            2e-3 * random_number(&state), 2e-3 * random_number(&state)};
    o.constants = constants;
    return o;
}

const scatter_case scatter_cases[SCATTER_CASES] = {
    {"plain", COLLET_SCATTER_CYRSOXS, 0, 0, 0, 0, 0, {0}, {0}},
    {"fft grid, mask", COLLET_SCATTER_FFT, 0, 0, 0, 1, 0, {0}, {0}},
    {"nearest", COLLET_SCATTER_CYRSOXS, 1, 0, 0, 1, 0, {0}, {0}},
    {"window, neighbours", COLLET_SCATTER_CYRSOXS, 0, 1, 1, 1, 0, {0}, {0}},
    {"neighbours", COLLET_SCATTER_FFT, 0, 0, 1, 0, 0, {0}, {0}},
    {"material frame", COLLET_SCATTER_CYRSOXS, 0, 0, 0, 1, 1, {0}, {0}},
    {"oblique beam", COLLET_SCATTER_FFT, 0, 0, 0, 1, 0, {0.1, 0.2, 1.0}, {0}},
    {"oblique beam, material", COLLET_SCATTER_CYRSOXS, 1, 0, 1, 1, 1, {-0.2, 0.1, 1.0}, {0}},
    {"tilted detector", COLLET_SCATTER_FFT, 0, 0, 0, 0, 0, {0.1, 0.2, 1.0}, {0.3, -0.1, 0.8}},
    {"tilted detector, mask", COLLET_SCATTER_CYRSOXS, 0, 0, 0, 1, 0, {0}, {0.3, -0.1, 0.8}},
    {"exact", COLLET_SCATTER_EXACT, 0, 0, 0, 0, 0, {0}, {0}},
    {"exact, mask, window", COLLET_SCATTER_EXACT, 0, 1, 0, 1, 0, {0}, {0}},
    {"exact, material frame", COLLET_SCATTER_EXACT, 0, 0, 0, 0, 1, {0}, {0}},
    {"exact, oblique beam", COLLET_SCATTER_EXACT, 0, 0, 0, 1, 0, {0.1, 0.2, 1.0}, {0}},
    {"exact, tilted detector", COLLET_SCATTER_EXACT, 0, 0, 0, 0, 0, {0.1, 0.2, 1.0}, {0.3, -0.1, 0.8}},
    {"exact, tilted detector, mask", COLLET_SCATTER_EXACT, 0, 0, 0, 1, 0, {0}, {0.3, -0.1, 0.8}},
};

void set_case(collet_scatter_options *o, const scatter_case *c)
{
    o->grid = c->grid;
    o->nearest = c->nearest;
    o->window = c->window;
    o->neighbours = c->neighbours;
    o->mask = c->mask;
    o->material_frame = c->material;
    memcpy(o->direction, c->direction, sizeof o->direction);
    memcpy(o->detector, c->detector, sizeof o->detector);
}

/* The number of passes with this limit of memory; 0: the limit is too small. */
static int64_t passes_within(collet_context *context, collet_scatter_options o, uint64_t memory)
{
    collet_scatter_plan plan = {.struct_size = sizeof plan};
    collet_scatter *s;
    o.memory = memory;
    if (collet_scatter_create(context, &s, &o, NULL) != COLLET_OK)
        return 0;
    collet_scatter_get_plan(s, &plan);
    assert_true(plan.bytes <= memory);
    collet_scatter_destroy(s);
    return plan.passes;
}

uint64_t least_memory(collet_context *context, collet_scatter_options o, int64_t *passes)
{
    uint64_t low = 1000, high = 2000;
    while ((*passes = passes_within(context, o, high)) == 0) {
        low = high;
        high *= 2;
    }
    while (high - low > low / 50) {
        uint64_t middle = low + (high - low) / 2;
        int64_t found = passes_within(context, o, middle);
        if (found == 0) {
            low = middle;
        } else {
            high = middle;
            *passes = found;
        }
    }
    return high;
}

double *patterns_of(collet_context *context, const collet_scatter_options *o)
{
    int64_t pixels = o->shape[1] * o->shape[2], at = 0;
    double *all = malloc((size_t)(pixels * o->n_energies) * sizeof *all);
    const collet_scatter_pattern *pattern;
    collet_scatter *s;
    collet_error err;
    collet_status status = collet_scatter_create(context, &s, o, &err);
    if (status != COLLET_OK)
        fail_msg("%s", err.text);
    while ((status = collet_scatter_next(s, &pattern, &err)) == COLLET_OK && pattern) {
        assert_int_equal(pattern->index, at++);
        for (int64_t i = 0; i < pixels; i++)
            all[pattern->index * pixels + i] = pattern->dtype == COLLET_F64
                                                   ? ((const double *)pattern->values)[i]
                                                   : (double)((const float *)pattern->values)[i];
    }
    if (status != COLLET_OK)
        fail_msg("%s", err.text);
    assert_int_equal(at, o->n_energies);
    collet_scatter_destroy(s);
    return all;
}

double difference(const double *a, const double *b, int64_t count)
{
    double peak = 0, most = 0;
    int64_t numbers = 0;
    for (int64_t i = 0; i < count; i++) {
        if (isnan(a[i]) != isnan(b[i]))
            fail_msg("pixel %d is %g and %g", (int)i, a[i], b[i]);
        if (isnan(a[i]))
            continue;
        peak = fmax(peak, fabs(a[i]));
        most = fmax(most, fabs(a[i] - b[i]));
        numbers++;
    }
    assert_true(numbers > 0 && peak > 0);
    return most / peak;
}
