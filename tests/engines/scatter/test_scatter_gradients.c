/* SPDX-License-Identifier: Apache-2.0 */
/* libcollet-scatter: gradients against central differences of the forward simulation. */

#include "common/fixture.h"
#include "morphologies.h"

OWNS(collet_scatter, collet_scatter_destroy)

#define KINDS 5 /* kinds of parameters: the optical constants, and four arrays of each material */

static int set_up(void **state)
{
    open_shared(OPENMP_PLUGIN ":" SCALAR_PLUGIN, NULL, "cpu_openmp");
    return 0;
}

/* The loss: a sum of all numbers, with fixed weights of either sign. */
static double weight_of(int64_t i)
{
    uint64_t state = (uint64_t)i;
    random_number(&state);
    return 2 * random_number(&state);
}

static double loss_of(const collet_scatter_options *o)
{
    int64_t count = o->n_energies * o->shape[1] * o->shape[2];
    double *all = patterns_of(cx, o), sum = 0.0;
    for (int64_t i = 0; i < count; i++)
        sum += isnan(all[i]) ? 0.0 : weight_of(i) * all[i];
    free(all);
    return sum;
}

/* The number of elements of an array of a material; 0: the material does not have the array. */
static int64_t numbers_of(const morphology *m, int64_t k, int array)
{
    int arrays = m->vectors ? 2 : k == 0 && m->isotropic ? 1 : 4;
    return array >= arrays ? 0 : m->voxels * (m->vectors && array == 0 ? 3 : 1);
}

typedef struct gradients {
    collet_scatter_constants constants[ENERGIES * MATERIALS];
    double *array[MATERIALS][4];
} gradients;

static void free_gradients(gradients *g)
{
    for (int k = 0; k < MATERIALS; k++)
        for (int i = 0; i < 4; i++)
            free(g->array[k][i]);
}

static void gradients_of(const morphology *m, const collet_scatter_options *o, gradients *g,
                         collet_scatter_constants *constants)
{
    int64_t count = o->n_energies * o->shape[1] * o->shape[2];
    FREED(double) *cotangents = malloc((size_t)count * sizeof *cotangents);
    collet_scatter_derivatives to[MATERIALS];
    OWNED(collet_scatter) *s = NULL;
    collet_error err;
    for (int64_t i = 0; i < count; i++) {
        cotangents[i] = weight_of(i);
        if (o->dtype == COLLET_F32)
            ((float *)cotangents)[i] = (float)weight_of(i);
    }
    for (int64_t k = 0; k < m->materials; k++) {
        double **a = g->array[k];
        for (int i = 0; i < 4; i++) {
            a[i] = malloc((size_t)(3 * m->voxels) * sizeof *a[i]);
            a[i][0] = 7; /* old values must be overwritten */
        }
        to[k] = (collet_scatter_derivatives){.struct_size = sizeof to[k]};
        if (m->vectors) {
            to[k].direction = a[0];
            to[k].unaligned = a[1];
            continue;
        }
        to[k].volume = a[0];
        to[k].alignment = numbers_of(m, k, 1) ? a[1] : NULL;
        to[k].theta = numbers_of(m, k, 2) ? a[2] : NULL;
        to[k].psi = numbers_of(m, k, 3) ? a[3] : NULL;
    }
    const collet_scatter_gradients out = {
        .struct_size = sizeof out, .constants = constants, .materials = to};
    if (collet_scatter_create(cx, &s, o, &err) != COLLET_OK ||
        collet_scatter_differentiate(s, cotangents, &out, &err) != COLLET_OK)
        fail_msg("%s", err.text);
}

/* Changes the parameters of one kind along a random direction. Returns the scalar product of that
 * direction with the gradient. */
static double move(morphology *m, collet_scatter_constants *constants, const gradients *g,
                   int kind, double step)
{
    double product = 0.0;
    uint64_t state = 5;
    if (kind == 0)
        for (int64_t i = 0; i < 4 * ENERGIES * m->materials; i++) {
            double d = 2 * random_number(&state) - 1;
            (&constants->delta_parallel)[i] += step * d;
            product += d * (&g->constants->delta_parallel)[i];
        }
    for (int64_t k = 0; k < m->materials && kind > 0; k++)
        for (int64_t i = 0; i < numbers_of(m, k, kind - 1); i++) {
            double d = 2 * random_number(&state) - 1;
            m->array[k][kind - 1][i] += step * d;
            product += d * g->array[k][kind - 1][i];
        }
    return product;
}

static void compare(morphology *m, collet_scatter_options o,
                    collet_scatter_constants *constants, const char *what)
{
    static const double steps[KINDS] = {1e-6, 1e-6, 1e-5, 1e-5, 1e-5};
    gradients g = {0};
    gradients_of(m, &o, &g, g.constants);
    for (int kind = 0; kind < KINDS; kind++) {
        double step = m->vectors && kind > 0 ? 8e-7 : steps[kind], loss[2];
        if (kind > 0 && !numbers_of(m, m->materials - 1, kind - 1))
            continue;
        for (int64_t k = 0; k < m->materials && kind > 0; k++)
            for (int64_t i = 0; i < numbers_of(m, k, kind - 1); i++)
                if (isnan(g.array[k][kind - 1][i]))
                    printf("nan %s k%d kind%d i%d\n", what, (int)k, kind, (int)i);
        double product = move(m, constants, &g, kind, step);
        loss[1] = loss_of(&o);
        move(m, constants, &g, kind, -2 * step);
        loss[0] = loss_of(&o);
        move(m, constants, &g, kind, step);
        double measured = (loss[1] - loss[0]) / (2 * step);
        double rounding = 4e-15 * fabs(loss[0]) / step; /* of the differences */
        if (!(fabs(measured - product) <= 1e-5 * fabs(measured) + rounding))
            fail_msg("%s, %d x %d x %d, kind %d: %.12g, but the differences give %.12g", what,
                     (int)o.shape[0], (int)o.shape[1], (int)o.shape[2], kind, product, measured);
    }
    free_gradients(&g);
}

TEST(gradients_are_those_of_differences)
{
    static const int64_t shapes[][3] = {{6, 12, 16}, {1, 14, 10}, {5, 9, 11}, {8, 16, 8}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t k = 0; k < SCATTER_CASES; k++) {
            collet_scatter_constants constants[ENERGIES * MATERIALS];
            morphology m;
            int64_t materials = 1 + (int64_t)(i + k) % MATERIALS;
            int vectors = (int)(i + k / 2) % 2;
            make_random(&m, shapes[i], materials, vectors, !vectors && materials > 1 && k % 3 == 0);
            collet_scatter_options o = options_of(&m, shapes[i], constants);
            set_case(&o, &scatter_cases[k]);
            o.attenuation = k % 3 == 1;
            o.collapse = k % 4 == 3;
            compare(&m, o, constants, scatter_cases[k].what);
            free_morphology(&m);
        }
}

/* Gradients of 40 energies, more than the engine computes in one block. */
enum { MANY = 40 };
static const int64_t film[] = {ADDRESS_SANITIZER ? 4 : 8, 16, ADDRESS_SANITIZER ? 16 : 32};

static collet_scatter_options many_energies(const morphology *m, double *energies,
                                            collet_scatter_constants *constants)
{
    collet_scatter_options o = options_of(m, film, constants);
    for (int i = 0; i < MANY; i++)
        energies[i] = 250.0 + 5 * i;
    for (int i = ENERGIES * (int)m->materials; i < MANY * m->materials; i++)
        constants[i] = constants[i % (ENERGIES * (int)m->materials)];
    o.n_energies = MANY;
    o.energies = energies;
    return o;
}

/* Computes all gradients, one after another. The caller frees them with free(). */
static double *all_gradients(const morphology *m, const collet_scatter_options *o,
                             int64_t *count)
{
    gradients *g = calloc(1, sizeof *g);
    int64_t constants = 4 * o->n_energies * m->materials, at = constants;
    collet_scatter_constants *own = calloc((size_t)constants, sizeof *own);
    double *all = calloc((size_t)(constants + 8 * m->materials * m->voxels), sizeof *all);
    gradients_of(m, o, g, own);
    memcpy(all, own, (size_t)constants * sizeof *all);
    for (int64_t k = 0; k < m->materials; k++)
        for (int i = 0; i < 4; i++) {
            memcpy(all + at, g->array[k][i], (size_t)numbers_of(m, k, i) * sizeof *all);
            at += numbers_of(m, k, i);
        }
    free_gradients(g);
    free(own);
    free(g);
    *count = at;
    return all;
}

/* The gradients are the same with little memory, in f32, and on one thread. */
TEST(gradients_do_not_depend_on_the_way)
{
    collet_scatter_constants constants[MANY * MATERIALS];
    double energies[MANY];
    for (int vectors = 0; vectors < 2; vectors++) {
        morphology m;
        int64_t count;
        make_random(&m, film, 3, vectors, !vectors);
        collet_scatter_options o = many_energies(&m, energies, constants);
        FREED(double) *expected = all_gradients(&m, &o, &count);
        for (int kind = 0; kind < 3; kind++) {
            collet_scatter_options other = o;
            if (kind == 0) {
                int64_t passes;
                other.memory = least_memory(cx, o, &passes);
                assert_true(passes > 1);
            }
            if (kind == 1)
                other.dtype = COLLET_F32;
            if (kind == 2) {
                const char *one[] = {"num_threads = 1", NULL};
                close_shared();
                open_shared(OPENMP_PLUGIN ":" SCALAR_PLUGIN, one, "cpu_openmp");
            }
            FREED(double) *found = all_gradients(&m, &other, &count);
            if (kind == 2)
                assert_memory_equal(found, expected, (size_t)count * sizeof *found);
            for (int64_t first = 0; first < count; first += 64) {
                int64_t n = count - first < 64 ? count - first : 64;
                double off = difference(found + first, expected + first, n);
                if (off > (kind == 1 ? 1e-3 : 1e-11))
                    fail_msg("kind %d, number %d: %g", kind, (int)first, off);
            }
        }
        close_shared();
        open_shared(OPENMP_PLUGIN ":" SCALAR_PLUGIN, NULL, "cpu_openmp");
        free_morphology(&m);
    }
}

static collet_status no_layers(void *user, void *const *arrays, int64_t material, int64_t first,
                               int64_t count, collet_error *err)
{
    (void)user, (void)arrays, (void)material, (void)first, (void)count;
    return collet_fail(err, COLLET_IO, "no layers");
}

TEST(what_has_no_gradients_is_refused)
{
    static const int64_t shape[] = {2, 4, 4};
    collet_scatter_constants constants[ENERGIES * MATERIALS], to[ENERGIES * MATERIALS];
    double cotangents[ENERGIES * 16] = {0.0};
    collet_scatter_gradients out = {.struct_size = sizeof out, .constants = to};
    collet_scatter *s;
    collet_error err;
    morphology m;
    make_random(&m, shape, 2, 0, 0);
    for (int kind = 0; kind < 2; kind++) {
        collet_scatter_options o = options_of(&m, shape, constants);
        collet_context *second = context_of(rt);
        const collet_devices devices = {
            .struct_size = sizeof devices, .n_contexts = 1, .contexts = &second};
        if (kind == 0)
            o.method = COLLET_SCATTER_DIRECT;
        if (kind == 1) {
            o.devices = &devices;
        }
        assert_int_equal(collet_scatter_create(cx, &s, &o, &err), COLLET_OK);
        assert_error(collet_scatter_differentiate(s, cotangents, &out, &err), COLLET_REFUSED, err,
                     kind ? "without devices" : "gradients need the fast method");
        collet_scatter_destroy(s);
        collet_context_destroy(second);
    }
    collet_scatter_options o = options_of(&m, shape, constants);
    assert_int_equal(collet_scatter_create(cx, &s, &o, &err), COLLET_OK);
    assert_error(collet_scatter_differentiate(s, NULL, &out, &err), COLLET_INVALID, err,
                 "cotangents is NULL");
    o.collapse = 1;
    o.layers = no_layers;
    collet_scatter *collapsed;
    assert_error(collet_scatter_create(cx, &collapsed, &o, &err), COLLET_REFUSED, err, "collapse");
    out.struct_size = 0;
    assert_error(collet_scatter_differentiate(s, cotangents, &out, &err), COLLET_INVALID, err,
                 "the gradients");
    collet_scatter_destroy(s);
    free_morphology(&m);
}

TEST_GROUP(set_up, tear_down)
