/* SPDX-License-Identifier: Apache-2.0 */
/* Materials whose voxels are arrays in the memory of the device, and patterns that stay there. */

#include "backend.h"
#include "gradient.h"
#include "morphologies.h"

OWNS(collet_scatter, collet_scatter_destroy)

static const int64_t shape[] = {9, 40, 36};
#define PIXELS (40 * 36)
#define FILM_BYTES (9 * PIXELS * 4 * 2 * 8) /* size of two materials with Euler angles */

/* A random morphology: in host memory, and in arrays whose elements are only on the device. */
typedef struct film {
    morphology m;
    collet_scatter_constants constants[ENERGIES * MATERIALS];
    collet_array *array[MATERIALS][4];
    collet_scatter_material material[MATERIALS];
} film;

static collet_array *on_device(const void *values, int vectors)
{
    const int64_t n[] = {shape[0], shape[1], shape[2], 3};
    collet_array *from, *to;
    assert_ok(cx, collet_array_from(cx, &from, COLLET_F64, vectors ? 4 : 3, n, values));
    assert_ok(cx, collet_array_create(cx, &to, COLLET_F64, vectors ? 4 : 3, n));
    assert_ok(cx, collet_op_copy(cx, to, from));
    collet_array_destroy(from);
    return to;
}

static void make_arrays(film *f)
{
    for (int64_t k = 0; k < f->m.materials; k++) {
        const collet_scatter_material *a = &f->m.material[k];
        const void *const euler[] = {a->volume, a->alignment, a->theta, a->psi};
        const void *const vectors[] = {a->direction, a->unaligned, NULL, NULL};
        for (int i = 0; i < 4; i++) {
            const void *values = (a->direction ? vectors : euler)[i];
            f->array[k][i] = values ? on_device(values, a->direction && i == 0) : NULL;
        }
        f->material[k] = (collet_scatter_material){.struct_size = sizeof *a,
                                                   .dtype = COLLET_F64,
                                                   .kind = a->direction   ? COLLET_SCATTER_VECTOR
                                                           : a->alignment ? COLLET_SCATTER_EULER
                                                                          : COLLET_SCATTER_ISOTROPIC,
                                                   .arrays = (const collet_array *const *)f->array[k]};
    }
}

static void make_film(film *f, int64_t materials, int vectors, int isotropic)
{
    *f = (film){0};
    make_random(&f->m, shape, materials, vectors, isotropic);
    make_arrays(f);
}

static void free_arrays(film *f)
{
    for (int i = 0; i < 4 * MATERIALS; i++)
        collet_array_destroy(f->array[i / 4][i % 4]);
}

static void free_film(film *f)
{
    free_arrays(f);
    free_morphology(&f->m);
}

static collet_scatter_options options_with(film *f, int arrays)
{
    collet_scatter_options o = options_of(&f->m, shape, f->constants);
    o.grid = COLLET_SCATTER_EXACT;
    if (arrays)
        o.materials = f->material;
    return o;
}

/* Patterns that collet_scatter_next_array returns. */
static double *arrays_of(const collet_scatter_options *o)
{
    double *values = malloc(ENERGIES * PIXELS * sizeof *values);
    collet_scatter *s;
    collet_array *array;
    collet_error err;
    if (collet_scatter_create(cx, &s, o, &err))
        fail_msg("%s", err.text);
    for (int e = 0; e <= ENERGIES; e++) {
        if (collet_scatter_next_array(s, &array, &err))
            fail_msg("%s", err.text);
        assert_int_equal(array != NULL, e < ENERGIES);
        if (array)
            assert_ok(cx, collet_array_read(cx, array, values + e * PIXELS, PIXELS * sizeof *values));
        collet_array_destroy(array);
    }
    collet_scatter_destroy(s);
    return values;
}

static void assert_equal_patterns(const double *a, const double *b, double limit, const char *what)
{
    double found = difference(a, b, ENERGIES * PIXELS);
    if (!(found <= limit))
        fail_msg("%s: the patterns differ by %g of their peak", what, found);
}

/* Patterns of arrays may differ slightly from patterns of addresses: for attenuation the fractions are summed with
 * different roundings. */
TEST(patterns_of_arrays_are_those_of_addresses)
{
    for (int i = 0; i < SCATTER_CASES; i++) {
        const scatter_case *c = &scatter_cases[i];
        film f;
        make_film(&f, 2 + i % 2, i % 3 == 1, i % 2);
        collet_scatter_options by_address = options_with(&f, 0), by_array;
        set_case(&by_address, c);
        by_address.attenuation = by_address.omit_zero = i % 4 == 1;
        by_address.method = i % 5 == 2 ? COLLET_SCATTER_DIRECT : COLLET_SCATTER_FAST;
        by_array = by_address;
        by_array.materials = f.material;
        double limit = by_address.attenuation ? 1e-12 : 0.0;
        double *expected = patterns_of(cx, &by_address), *found = patterns_of(cx, &by_array);
        assert_equal_patterns(expected, found, limit, c->what);
        free(found);
        if (c->detector[2] == 0 && c->direction[2] == 0 && (c->mask || c->grid == COLLET_SCATTER_EXACT)) {
            found = arrays_of(&by_array);
            assert_equal_patterns(expected, found, limit, c->what);
            free(found);
        }
        free(expected);
        free_film(&f);
    }
}

static collet_counters counted(void)
{
    collet_counters c = {.struct_size = sizeof c};
    assert_ok(cx, collet_context_counters(cx, &c));
    return c;
}

/* Fewer bytes than a pattern has are copied from the device, and less than a fourth of the film's bytes to the
 * device. A film that is given by addresses is copied to the device, unless the backend works in the host's
 * memory. */
TEST(nothing_goes_through_the_host)
{
    film f;
    collet_scatter *s;
    collet_array *array;
    make_film(&f, 2, 0, 0);
    for (int arrays = 0; arrays < 2; arrays++) {
        collet_scatter_options o = options_with(&f, arrays);
        o.attenuation = o.omit_zero = 1;
        collet_counters before = counted();
        assert_int_equal(collet_scatter_create(cx, &s, &o, NULL), COLLET_OK);
        for (int e = 0; e < ENERGIES; e++) {
            assert_int_equal(collet_scatter_next_array(s, &array, NULL), COLLET_OK);
            assert_int_equal(collet_array_is_on_host(array), strcmp(backend, "opencl") != 0);
            collet_array_destroy(array);
        }
        collet_scatter_destroy(s);
        collet_counters after = counted();
        uint64_t there = after.bytes_to_device - before.bytes_to_device;
        assert_true(after.bytes_to_host - before.bytes_to_host < PIXELS * sizeof(double));
        assert_true(strcmp(backend, "opencl") != 0 ? there == 0 : (there >= FILM_BYTES) == !arrays);
        assert_true(!arrays || there < FILM_BYTES / 4);
    }
    free_film(&f);
}

static collet_error fails_with(film *f, int arrays, collet_status expected)
{
    collet_scatter_options o = options_with(f, arrays);
    collet_scatter *s;
    collet_error err;
    assert_int_equal(collet_scatter_create(cx, &s, &o, &err), expected);
    collet_scatter_destroy(s);
    return err;
}

/* The device finds each fault, and the message equals the message of a check on the host. A voxel within the host's
 * tolerances is not a fault. */
TEST(faults_are_found_on_the_device)
{
    static const struct {
        int vectors, material, array;
        int64_t at;
        double value;
    } faults[] = {{0, 0, 0, 777, NAN},  {0, 1, 0, 3, 1.5},  {0, 0, 0, 12959, -0.1}, {0, 1, 1, 50, 1.1}, {0, 0, 2, 51, INFINITY},
                  {0, 1, 3, 52, NAN},   {1, 0, 0, 100, NAN}, {1, 1, 1, 7, -1},      {1, 0, 1, 8, NAN},  {0, 0, 0, 9, 0.01},
                  {1, 1, 0, 3000, 0.99}};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        film f;
        make_film(&f, 2, faults[i].vectors, 0);
        free_arrays(&f);
        f.m.array[faults[i].material][faults[i].array][faults[i].at] = faults[i].value;
        make_arrays(&f);
        collet_error by_address = fails_with(&f, 0, COLLET_INVALID), by_array = fails_with(&f, 1, COLLET_INVALID);
        assert_string_equal(by_array.text, by_address.text);
        free_film(&f);
    }
    film f;
    make_film(&f, 2, 0, 0);
    free_arrays(&f);
    f.m.array[0][0][5] += 7e-6;
    f.m.array[1][1][6] = 1.00007;
    f.m.array[1][1][7] = 0.0;
    f.m.array[1][2][7] = NAN; /* of an unaligned voxel */
    make_arrays(&f);
    fails_with(&f, 1, COLLET_OK);
    free_film(&f);
}

static collet_status no_layers(void *user, void *const *arrays, int64_t material, int64_t first, int64_t count,
                               collet_error *err)
{
    return collet_fail(err, COLLET_FAILED, "not called");
}

TEST(wrong_arrays_are_refused)
{
    film f;
    make_film(&f, 2, 0, 0);
    collet_array *whole = f.array[1][0], *view;
    assert_ok(cx, collet_array_slice(cx, whole, &view, 0, 0, 8, 1));
    f.array[1][0] = view;
    assert_contains(fails_with(&f, 1, COLLET_INVALID).text, "material 2: array 1 must be a C-contiguous array of f64");
    collet_array_destroy(view);
    assert_ok(cx, collet_array_slice(cx, whole, &view, 0, 8, 9, -1));
    f.array[1][0] = view;
    assert_contains(fails_with(&f, 1, COLLET_INVALID).text, "material 2: array 1 must be a C-contiguous array of f64");
    collet_array_destroy(view);
    f.array[1][0] = whole;
    f.material[1].dtype = COLLET_F32;
    assert_contains(fails_with(&f, 1, COLLET_INVALID).text, "array 1 must be a C-contiguous array of f32");
    f.material[1].dtype = COLLET_F64;
    f.material[1].volume = f.m.array[1][0];
    assert_contains(fails_with(&f, 1, COLLET_INVALID).text, "material 2 has arrays and addresses");
    f.material[1] = f.m.material[1];
    assert_contains(fails_with(&f, 1, COLLET_INVALID).text, "material 2 has no arrays");
    free_arrays(&f);
    make_arrays(&f);
    f.material[0].kind = 0;
    assert_contains(fails_with(&f, 1, COLLET_INVALID).text, "material 1: unknown kind 0");
    f.material[0].kind = COLLET_SCATTER_EULER;
    collet_scatter_options o = options_with(&f, 1);
    o.layers = no_layers;
    collet_scatter *s;
    collet_error err;
    assert_error(collet_scatter_create(cx, &s, &o, &err), COLLET_REFUSED, err,
                 "material 1 has arrays, but a callback reads the layers");
    o.layers = NULL;
    for (int grid = 0; grid < 2; grid++) {
        collet_array *array;
        o.detector[0] = grid ? 0 : 0.3;
        o.detector[2] = 1.0;
        o.grid = grid ? COLLET_SCATTER_FFT : COLLET_SCATTER_EXACT;
        assert_int_equal(collet_scatter_create(cx, &s, &o, NULL), COLLET_OK);
        assert_int_equal(collet_scatter_next_array(s, &array, &err), COLLET_REFUSED);
        assert_null(array);
        assert_contains(err.text, grid ? "choose the exact grid, or `mask`" : "choose a detector that faces the beam");
        collet_scatter_destroy(s);
    }
    free_film(&f);
}

/* Patterns in host memory and patterns as arrays are requested alternately: each energy comes once. */
TEST(patterns_of_both_kinds_may_be_mixed)
{
    film f;
    make_film(&f, 2, 0, 0);
    collet_scatter_options o = options_with(&f, 1);
    FREED(double) *expected = patterns_of(cx, &o), *values = malloc(PIXELS * sizeof *values);
    for (int first = 0; first < 2; first++) {
        OWNED(collet_scatter) *s = NULL;
        assert_int_equal(collet_scatter_create(cx, &s, &o, NULL), COLLET_OK);
        for (int e = 0; e < ENERGIES; e++) {
            collet_array *array = NULL;
            const collet_scatter_pattern *pattern;
            if ((e + first) % 2) {
                assert_int_equal(collet_scatter_next_array(s, &array, NULL), COLLET_OK);
                assert_ok(cx, collet_array_read(cx, array, values, PIXELS * sizeof *values));
            } else {
                assert_int_equal(collet_scatter_next(s, &pattern, NULL), COLLET_OK);
                memcpy(values, pattern->values, PIXELS * sizeof *values);
            }
            collet_array_destroy(array);
            assert_memory_equal(values, expected + e * PIXELS, PIXELS * sizeof *values);
        }
    }
    free_film(&f);
}

static double *gradient_of(film *f, int arrays)
{
    collet_scatter_options o = options_with(f, arrays);
    return volume_gradient(&o, f->m.voxels, ENERGIES * PIXELS);
}

TEST(gradients_and_comparisons_of_arrays)
{
    film f;
    make_film(&f, 2, 0, 0);
    FREED(double) *a = gradient_of(&f, 0), *b = gradient_of(&f, 1);
    assert_memory_equal(a, b, (size_t)f.m.voxels * sizeof *a);
    collet_scatter_comparison c[2] = {{.struct_size = sizeof *c}, {.struct_size = sizeof *c}};
    for (int arrays = 0; arrays < 2; arrays++) {
        collet_scatter_options o = options_with(&f, arrays);
        o.grid = COLLET_SCATTER_CYRSOXS;
        assert_int_equal(collet_scatter_compare(cx, &c[arrays], &o, NULL), COLLET_OK);
    }
    assert_memory_equal(&c[0], &c[1], sizeof *c);
    free_film(&f);
}

TEST_GROUP(set_up, tear_down)

int main(int argc, char **argv)
{
    return take_backend(argc, argv) ? test_run() : SKIPPED;
}
