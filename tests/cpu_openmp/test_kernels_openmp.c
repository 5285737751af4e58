/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Properties of cpu_openmp that backend-check does not test: the choice of instruction set, the
 * same bits on any number of threads and with concurrent callers, and a host with its own BLAS.
 */

#include <malloc.h>
#include <pthread.h>

#define KERNEL_PLUGIN "cpu_openmp"
#include "common/test.h"
#include "common/kernel_call.h"

/* ---- A host that links another BLAS ---------------------------------------------------------- */

#define EXPORTED __attribute__((visibility("default")))

static int captured;

EXPORTED void cblas_sgemm(void);
EXPORTED void cblas_dgemm(void);

void cblas_sgemm(void)
{
    captured++;
}

void cblas_dgemm(void)
{
    captured++;
}

static void fill(double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = (double)(i * 7919 % 1009) / 64.0 - 7.0;
}

/* All products and sums in the test are exact, because they are small multiples of 2^-12. */
static void assert_product(const double *c, const double *a, const double *b, int n)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            assert_true(c[i * n + j] == sum);
        }
    }
}

#define N 150

TEST(test_product_is_not_captured)
{
    static double a[N * N], b[N * N], c[N * N];
    assert_non_null(dlsym(RTLD_DEFAULT, "cblas_dgemm"));
    fill(a, N * N);
    fill(b, N * N);
    CALL(MATMUL, 1, ARRAY(c, F64, N, N), ARRAY(a, F64, N, N), ARRAY(b, F64, N, N));
    assert_product(c, a, b, N);
    assert_int_equal(0, captured);
}

/* The host's OpenBLAS setting is kept, whether the host uses the library before or after
 * cpu_openmp. */
TEST(test_blas_threads_stay)
{
    static double a[N * N], c[N * N];
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        skip();
    int (*get)(void);
    void (*set)(int);
    *(void **)&get = dlsym(library, "openblas_get_num_threads");
    *(void **)&set = dlsym(library, "openblas_set_num_threads");
    assert_non_null(get);
    assert_non_null(set);
    int before = get();
    for (int threads = 1; threads <= 3; threads++) {
        set(threads);
        CALL(MATMUL, 1, ARRAY(c, F64, N, N), ARRAY(a, F64, N, N), ARRAY(a, F64, N, N));
        assert_int_equal(threads, get());
    }
    set(before);
}

/* ---- The choice of instruction set ----------------------------------------------------------- */

static void get_capabilities(char *json, uint64_t capacity)
{
    collet_error err;
    uint64_t needed = 0;
    assert_int_equal(COLLET_OK, plugin->capabilities(plugin, json, capacity, &needed, &host, &err));
    assert_true(needed <= capacity);
    assert_int_equal(needed, strlen(json) + 1);
}

#if defined(__x86_64__)
TEST(test_isa_can_be_capped)
{
    char json[2048];
    host_isa = "x86-64-v2";
    get_capabilities(json, sizeof json);
    assert_contains(json, "\"isa\": \"x86-64-v2\"");
    host_isa = "v2";
    get_capabilities(json, sizeof json);
    assert_contains(json, "\"isa\": \"x86-64-v2\"");
    host_isa = "auto";
    get_capabilities(json, sizeof json);
    const char *best = __builtin_cpu_supports("avx512vl") ? "\"isa\": \"x86-64-v4\""
                       : __builtin_cpu_supports("avx2")   ? "\"isa\": \"x86-64-v3\""
                                                          : "\"isa\": \"x86-64-v2\"";
    assert_contains(json, best);
    host_isa = NULL;
}
#endif

TEST(test_unknown_isa_is_refused_with_a_reason)
{
    char json[2048];
    collet_error err = {0};
    collet_device *d = NULL;
    host_isa = "x86-64-v9";
    get_capabilities(json, sizeof json);
    assert_contains(json, "\"device_count\": 0", "\"reason\": \"the setting isa");
    assert_int_equal(COLLET_UNAVAILABLE, host_open(0, &d, &err));
    assert_contains(err.text, "isa");
    assert_null(d);
    host_isa = NULL;
    assert_int_equal(COLLET_UNAVAILABLE, host_open(1, &d, &err));
}

TEST(test_capabilities_that_do_not_fit)
{
    char json[16] = "8 bytes behind";
    uint64_t needed = 0;
    collet_error err;
    assert_int_equal(COLLET_OK, plugin->capabilities(plugin, json, 8, &needed, &host, &err));
    assert_true(needed > 8);
    assert_string_equal("behind", json + 8);
}

/* ---- The same bits --------------------------------------------------------------------------- */

/* Few frames of several blocks of atoms, and many frames of few atoms. */
enum { FRAMES = 3, ATOMS = 20011, MANY = 301, FEW = 53 };

/* Bodies of 5 atoms each; one body in the middle has all other atoms. */
enum { BODIES = 1001 };

enum { COLUMNS = 11, LONG = COLUMNS * 200000 };

/* Ternary weights whose rows span several pieces; more tokens than fit a panel. */
enum { HIGH = 150, WIDE = 20011, NARROW = 700, TOKENS = 37 };

/* Transforms: of a length without large factors, of a prime length, of a plane, of lines, of real numbers,
 * of a volume. */
enum { LENGTH = 3 * 5 * 7 * 11 * 13, PRIME = 4099, SIDE = 48, LINES = 33, DEEP = 20, LOW = 16, LAST = 36 };

typedef struct inputs {
    double numbers[300 * 1001];
    float series[LONG];
    int64_t offsets[BODIES + 1];
    float r[FRAMES * ATOMS * 3], v[FRAMES * ATOMS * 3], f[FRAMES * ATOMS * 3], m[ATOMS];
} inputs;

typedef struct results {
    double all, rows[300], columns[1001], triples[3];
    double dot, along[300], across[1001];
    float few[COLUMNS];
    double com[MANY * 3], inertia[MANY * 9], L[MANY * 3], torque[MANY * 3], energies[MANY * 3];
    double radius[FRAMES], tensor[FRAMES * 9], asphericity[FRAMES];
    double rmsd[FRAMES], rotation[FRAMES * 9];
    double com_many[MANY * 3], inertia_many[MANY * 9], L_many[MANY * 3], energies_many[MANY * 3];
    double moments[MANY * 3], axes[MANY * 9];
    double com_bodies[FRAMES * BODIES * 3], inertia_bodies[FRAMES * BODIES * 9];
    double rmsd_bodies[FRAMES * BODIES], rotation_bodies[FRAMES * BODIES * 9];
    float exponentials[ATOMS];
    float scales[HIGH / 2], real[TOKENS * HIGH], linear[TOKENS * HIGH], ternary[TOKENS * HIGH];
    int8_t codes[HIGH / 2 * WIDE];
    uint8_t bytes[HIGH * 192];
    int32_t wrong, strange, dot_packed;
    double line[2 * LENGTH], prime[2 * PRIME], plane[2 * SIDE * SIDE], lines[2 * LINES * 100];
    float half[LENGTH + 1], volume[2 * DEEP * LOW * LAST];
    float uniform[ATOMS], normal[ATOMS];
    double uniform_wide[ATOMS], normal_wide[ATOMS];
} results;

static inputs in;

static void make_inputs(void)
{
    fill(in.numbers, 300 * 1001);
    for (int64_t i = 0; i < FRAMES * ATOMS * 3; i++) {
        in.r[i] = (float)(i * 2654435761 % 100003) / 3000.0f;
        in.v[i] = (float)(i * 40503 % 65521) / 65521.0f - 0.5f;
        in.f[i] = (float)(i * 48271 % 99991) - 5e4f;
    }
    for (int64_t i = 0; i <= BODIES; i++)
        in.offsets[i] = 5 * i + (i > BODIES / 2 ? ATOMS - 5 * BODIES : 0);
    for (int64_t i = 0; i < LONG; i++)
        in.series[i] = (float)(i * 69621 % 65537) / 65537.0f;
    for (int64_t i = 0; i < ATOMS; i++)
        in.m[i] = 1.0f + (float)(i % 17) * 0.9f;
}

static void compute_sums(results *out)
{
    collet_reduce_params all = {sizeof all, 3, 0, 0}, first = {sizeof first, 1, 0, 0};
    collet_reduce_params second = {sizeof second, 2, 0, 0};
    CALL_WITH(SUM, 1, &all, sizeof all, SCALAR(&out->all, F64), ARRAY(in.numbers, F64, 300, 1001));
    CALL_WITH(SUM, 1, &first, sizeof first, ARRAY(out->columns, F64, 1001),
              ARRAY(in.numbers, F64, 300, 1001));
    CALL_WITH(SUM, 1, &second, sizeof second, ARRAY(out->rows, F64, 300),
              ARRAY(in.numbers, F64, 300, 1001));
    CALL_WITH(SUM, 1, &first, sizeof first, ARRAY(out->triples, F64, 3),
              ARRAY(in.numbers, F64, 100100, 3));
}

/* Sums over rows, over columns and over few long columns. Sums of long columns and the dot product are
 * divided into chunks. */
static void compute_products(results *out)
{
    const int64_t shape[] = {1001, 300}, strides[] = {1, 1001};
    const int64_t few_shape[] = {COLUMNS, LONG / COLUMNS}, few_strides[] = {1, COLUMNS};
    collet_operand transposed = {in.numbers, 0, COLLET_F64, 2, shape, strides};
    collet_operand few = {in.series, 0, COLLET_F32, 2, few_shape, few_strides};
    CALL(DOT, 1, SCALAR(&out->dot, F64), ARRAY(in.series, F32, LONG), ARRAY(in.series, F32, LONG));
    CALL(MATVEC, 1, ARRAY(out->along, F64, 300), ARRAY(in.numbers, F64, 300, 1001),
         ARRAY(in.numbers, F64, 1001));
    CALL(MATVEC, 1, ARRAY(out->across, F64, 1001), transposed, ARRAY(in.numbers, F64, 300));
    CALL(MATVEC, 1, ARRAY(out->few, F32, COLUMNS), few, ARRAY(in.series, F32, LONG / COLUMNS));
}

static void compute_frames(results *out)
{
    CALL(OBSERVABLES, 5, ARRAY(out->com, F64, FRAMES, 3), ARRAY(out->inertia, F64, FRAMES, 3, 3),
         ARRAY(out->L, F64, FRAMES, 3), ARRAY(out->torque, F64, FRAMES, 3),
         ARRAY(out->energies, F64, FRAMES, 3), ARRAY(in.r, F32, FRAMES, ATOMS, 3),
         ARRAY(in.m, F32, ATOMS), ARRAY(in.v, F32, FRAMES, ATOMS, 3),
         ARRAY(in.f, F32, FRAMES, ATOMS, 3), ABSENT);
    CALL(GYRATION, 3, ARRAY(out->radius, F64, FRAMES), ARRAY(out->tensor, F64, FRAMES, 3, 3),
         ARRAY(out->asphericity, F64, FRAMES), ARRAY(in.r, F32, FRAMES, ATOMS, 3),
         ARRAY(in.m, F32, ATOMS), ABSENT);
    CALL(RMSD, 2, ARRAY(out->rmsd, F64, FRAMES), ARRAY(out->rotation, F64, FRAMES, 3, 3),
         ARRAY(in.r, F32, FRAMES, ATOMS, 3), ARRAY(in.m, F32, ATOMS), ARRAY(in.v, F32, ATOMS, 3),
         ABSENT);
    CALL(OBSERVABLES, 5, ARRAY(out->com_many, F64, MANY, 3),
         ARRAY(out->inertia_many, F64, MANY, 3, 3), ARRAY(out->L_many, F64, MANY, 3), ABSENT,
         ARRAY(out->energies_many, F64, MANY, 3), ARRAY(in.r, F32, MANY, FEW, 3),
         ARRAY(in.m, F32, FEW), ARRAY(in.v, F32, MANY, FEW, 3), ABSENT, ABSENT);
    CALL(PRINCIPAL_AXES, 2, ARRAY(out->moments, F64, MANY, 3), ARRAY(out->axes, F64, MANY, 3, 3),
         ARRAY(out->inertia_many, F64, MANY, 3, 3), ABSENT);
}

static void compute_bodies(results *out)
{
    CALL(OBSERVABLES, 5, ARRAY(out->com_bodies, F64, FRAMES, BODIES, 3),
         ARRAY(out->inertia_bodies, F64, FRAMES, BODIES, 3, 3), ABSENT, ABSENT, ABSENT,
         ARRAY(in.r, F32, FRAMES, ATOMS, 3), ARRAY(in.m, F32, ATOMS), ABSENT, ABSENT,
         ARRAY(in.offsets, I64, BODIES + 1));
    CALL(RMSD, 2, ARRAY(out->rmsd_bodies, F64, FRAMES, BODIES),
         ARRAY(out->rotation_bodies, F64, FRAMES, BODIES, 3, 3), ARRAY(in.r, F32, FRAMES, ATOMS, 3),
         ARRAY(in.m, F32, ATOMS), ARRAY(in.v, F32, ATOMS, 3), ARRAY(in.offsets, I64, BODIES + 1));
}

static void compute_ternary(results *out)
{
    collet_ternary_quantize_params absmean = {sizeof absmean, COLLET_TERNARY_ABSMEAN, 0, 0};
    collet_ternary_format_params t2 = {sizeof t2, COLLET_TERNARY_T2};
    collet_ternary_linear_params linear = {sizeof linear, COLLET_TERNARY_INT8, 1, 0};
    collet_operand weights = ARRAY(out->bytes, U8, HIGH, 192);
    collet_operand x = ARRAY(in.v, F32, TOKENS, NARROW), bias = ARRAY(in.f, F32, HIGH);
    CALL_WITH(TERNARY_QUANTIZE, 3, &absmean, sizeof absmean, ARRAY(out->codes, I8, HIGH / 2, WIDE),
              ARRAY(out->scales, F32, HIGH / 2), SCALAR(&out->strange, I32),
              ARRAY(in.series, F32, HIGH / 2, WIDE));
    CALL_WITH(TERNARY_PACK, 2, &t2, sizeof t2, weights, SCALAR(&out->wrong, I32),
              ARRAY(out->codes, I8, HIGH, NARROW), ABSENT);
    CALL(TERNARY_DOT, 1, SCALAR(&out->dot_packed, I32), ARRAY(out->bytes, U8, HIGH * 96),
         ARRAY(out->bytes + HIGH * 96, U8, HIGH * 96));
    CALL(TERNARY_MATMUL, 1, ARRAY(out->real, F32, TOKENS, HIGH), weights, x);
    CALL_WITH(TERNARY_LINEAR, 1, &linear, sizeof linear, ARRAY(out->linear, F32, TOKENS, HIGH),
              weights, x, ABSENT, bias);
    linear.activations = COLLET_TERNARY_TERNARY;
    CALL_WITH(TERNARY_LINEAR, 1, &linear, sizeof linear, ARRAY(out->ternary, F32, TOKENS, HIGH),
              weights, x, ABSENT, bias);
}

static void compute_transforms(results *out)
{
    const collet_fft_params one = {.struct_size = sizeof one, .last_axes = 1};
    const collet_fft_params back = {.struct_size = sizeof back, .last_axes = 2, .inverse = 1};
    const collet_fft_params deep = {.struct_size = sizeof deep, .last_axes = 3};
#define FFT(params, out, in) CALL_WITH(FFT, 1, &params, sizeof params, out, in)
    FFT(one, ARRAY(out->line, C128, LENGTH), ARRAY(in.numbers, C128, LENGTH));
    FFT(one, ARRAY(out->prime, C128, PRIME), ARRAY(in.numbers, C128, PRIME));
    FFT(back, ARRAY(out->plane, C128, SIDE, SIDE), ARRAY(in.numbers, C128, SIDE, SIDE));
    FFT(one, ARRAY(out->lines, C128, LINES, 100), ARRAY(in.numbers, C128, LINES, 100));
    FFT(one, ARRAY(out->half, C64, LENGTH / 2 + 1), ARRAY(in.series, F32, LENGTH));
    FFT(deep, ARRAY(out->volume, C64, DEEP, LOW, LAST), ARRAY(in.series, C64, DEEP, LOW, LAST));
}

static void draw(uint32_t op, uint64_t offset, collet_operand out)
{
    const collet_random_params params = {.struct_size = sizeof params, .seed = 77, .offset = offset};
    assert_int_equal(COLLET_OK, call_status(op, 1, 1, &out, &params, sizeof params));
}

static void compute_random(results *out)
{
    draw(COLLET_OP_UNIFORM, 5, ARRAY(out->uniform, F32, ATOMS));
    draw(COLLET_OP_UNIFORM, 5, ARRAY(out->uniform_wide, F64, ATOMS));
    draw(COLLET_OP_NORMAL, 5, ARRAY(out->normal, F32, ATOMS));
    draw(COLLET_OP_NORMAL, 5, ARRAY(out->normal_wide, F64, ATOMS));
}

static void compute(results *out)
{
    compute_ternary(out);
    compute_transforms(out);
    compute_random(out);
    compute_sums(out);
    compute_products(out);
    compute_frames(out);
    compute_bodies(out);
    CALL(EXP, 1, ARRAY(out->exponentials, F32, ATOMS), ARRAY(in.v, F32, ATOMS));
}

/* Reopens the device with this number of threads. */
static void reopen(int32_t threads)
{
    collet_error err;
    plugin->device_close(device);
    host_threads = threads;
    assert_int_equal(COLLET_OK, host_open(0, &device, &err));
}

TEST(test_results_do_not_depend_on_threads)
{
    static results one, more;
    const int32_t counts[] = {2, 3, 7};
    make_inputs();
    reopen(1);
    compute(&one);
    assert_true(one.energies[0] > 0.0 && one.rmsd[2] > 0.0 && one.columns[1000] != 0.0);
    assert_true(one.rmsd_bodies[BODIES / 2] > 0.0 && one.com_bodies[3 * (BODIES / 2)] > 0.0);
    assert_true(one.real[TOKENS * HIGH - 1] != 0.0f && one.dot_packed != 0);
    for (int i = 0; i < 3; i++) {
        reopen(counts[i]);
        memset(&more, 0, sizeof more);
        compute(&more);
        assert_memory_equal(&one, &more, sizeof one);
    }
}

/* Products and partial sums outside the range of f32 do not change results inside the range. */
TEST(test_numbers_beyond_f32)
{
    enum { ROWS = 40, SIZE = 3000 };
    static float large[ROWS * SIZE], signs[ROWS * SIZE], tiny[ROWS * SIZE], along[ROWS],
        across[SIZE];
    collet_reduce_params all = {sizeof all, 3, 0, 0}, first = {sizeof first, 1, 0, 0};
    float number = 0.0f;
    for (int i = 0; i < ROWS * SIZE; i++) {
        large[i] = 0x1.8p127f;
        signs[i] = i / SIZE % 2 ? 0x1p127f : -0x1p127f;
        tiny[i] = 0x1p-74f;
    }
    for (int32_t threads = 1; threads < 4; threads += 2) {
        reopen(threads);
        CALL_WITH(MEAN, 1, &all, sizeof all, SCALAR(&number, F32), ARRAY(large, F32, ROWS, SIZE));
        assert_true(number == 0x1.8p127f);
        CALL_WITH(SUM, 1, &all, sizeof all, SCALAR(&number, F32), ARRAY(signs, F32, ROWS, SIZE));
        assert_true(number == 0.0f);
        CALL_WITH(SUM, 1, &all, sizeof all, SCALAR(&number, F32), ARRAY(large, F32, ROWS, SIZE));
        assert_true(isinf(number));
        CALL_WITH(MEAN, 1, &first, sizeof first, ARRAY(across, F32, SIZE),
                  ARRAY(large, F32, ROWS, SIZE));
        assert_true(across[0] == 0x1.8p127f && across[SIZE - 1] == 0x1.8p127f);
        CALL(DOT, 1, SCALAR(&number, F32), ARRAY(large, F32, ROWS * SIZE),
             ARRAY(signs, F32, ROWS * SIZE));
        assert_true(number == 0.0f);
        /* each product is 2^-148, and 2^-150 rounds to 0 */
        CALL(DOT, 1, SCALAR(&number, F32), ARRAY(tiny, F32, 4 * SIZE), ARRAY(tiny, F32, 4 * SIZE));
        assert_true(number == 4 * SIZE * 0x1p-148f);
        for (int i = 0; i < ROWS * SIZE; i++)
            tiny[i] = 0x1p-75f;
        CALL(DOT, 1, SCALAR(&number, F32), ARRAY(tiny, F32, 4 * SIZE), ARRAY(tiny, F32, 4 * SIZE));
        assert_true(number == SIZE * 0x1p-148f);
        CALL(MATVEC, 1, ARRAY(along, F32, ROWS), ARRAY(tiny, F32, ROWS, SIZE),
             ARRAY(tiny, F32, SIZE));
        assert_true(along[0] == SIZE / 4 * 0x1p-148f && along[ROWS - 1] == along[0]);
        for (int i = 0; i < ROWS * SIZE; i++)
            tiny[i] = 0x1p-74f;
    }
}

#define MANY_NUMBERS 300007

/* Transforms a single row, and two rows in one call. The call with two rows uses a plan. */
TEST(test_one_block)
{
    static float x[2 * 16384];
    static const int64_t sizes[] = {17, 100, 128, 1000, 16384};
    for (int64_t i = 0; i < 2 * 16384; i++)
        x[i] = (float)(i * 7919 % 10007) / 1009.0f + 3.0f;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const int64_t n = sizes[k];
        collet_variance_params one = {.struct_size = sizeof one, .axes = 1, .correction = 1.0};
        collet_variance_params second = {.struct_size = sizeof one, .axes = 2, .correction = 1.0};
        float alone[5], rows[5][2];
#define BOTH(i, OP, size)                                                                          \
    CALL_WITH(OP, 1, &one, size, SCALAR(&alone[i], F32), ARRAY(x, F32, n));                        \
    CALL_WITH(OP, 1, &second, size, ARRAY(rows[i], F32, 2), ARRAY(x, F32, 2, n))
        BOTH(0, SUM, sizeof(collet_reduce_params));
        BOTH(1, MEAN, sizeof(collet_reduce_params));
        BOTH(2, VAR, sizeof one);
        BOTH(3, STD, sizeof one);
        BOTH(4, MAX, sizeof(collet_reduce_params));
        for (int i = 0; i < 5; i++)
            assert_memory_equal(&alone[i], &rows[i][0], sizeof(float));
    }
}

static int64_t place_of_maximum(const float *x, int32_t threads)
{
    collet_reduce_params all = {sizeof all, 1, 0, 0};
    int64_t place = -1;
    reopen(threads);
    CALL_WITH(ARGMAX, 1, &all, sizeof all, SCALAR(&place, I64), ARRAY(x, F32, MANY_NUMBERS));
    return place;
}

/* Threads divide the search for one maximum. The first of equal maxima, or of NaNs, may be in the part of any
 * thread. */
TEST(test_first_maximum_of_many_parts)
{
    static float x[MANY_NUMBERS];
    const int64_t places[] = {0, 1, 4095, 4096, 33334, 33335, 66670, 150001, MANY_NUMBERS - 1};
    enum { PLACES = sizeof places / sizeof *places };
    for (int32_t threads = 1; threads <= 7; threads += 3) {
        for (int64_t i = 0; i < MANY_NUMBERS; i++)
            x[i] = -INFINITY;
        assert_int_equal(0, place_of_maximum(x, threads));
        for (int i = 0; i < PLACES; i++) {
            for (int64_t k = 0; k < MANY_NUMBERS; k++)
                x[k] = (float)(k % 1000) - 2000.0f;
            for (int k = i; k < PLACES; k++)
                x[places[k]] = k == i ? -0.0f : 0.0f;
            assert_int_equal(places[i], place_of_maximum(x, threads));
            x[MANY_NUMBERS / 3] = 7.0f;
            assert_int_equal(MANY_NUMBERS / 3, place_of_maximum(x, threads));
            for (int k = i; k < PLACES; k++)
                x[places[k]] = NAN;
            assert_int_equal(places[i], place_of_maximum(x, threads));
        }
    }
}

/* Two contexts of one process do not affect each other's results. `trim` does not affect results either. */
static void *compute_repeatedly(void *argument)
{
    results *out = argument;
    for (int i = 0; i < 20; i++)
        compute(out);
    return NULL;
}

TEST(test_two_callers_at_once)
{
    static results alone, first, second;
    pthread_t thread;
    reopen(3);
    compute(&alone);
    assert_int_equal(0, pthread_create(&thread, NULL, compute_repeatedly, &first));
    for (int i = 0; i < 20; i++) {
        compute(&second);
        trim(device);
    }
    assert_int_equal(0, pthread_join(thread, NULL));
    assert_memory_equal(&alone, &first, sizeof alone);
    assert_memory_equal(&alone, &second, sizeof alone);
}

/* A random sequence is the same if it is written in consecutive pieces, or through strides (last axis slowest and
 * reversed, every second element). */
TEST(test_parts_of_a_sequence)
{
    enum { A = 11, B = 29, C = 61 };
    static double whole[A * B * C], pieces[A * B * C], apart[2 * A * B * C];
    const int64_t shape[] = {A, B, C}, strides[] = {2 * B, 2, -2 * A * B};
    const uint64_t start = UINT64_MAX - 1000;
    const collet_operand out = {
        apart, (uint64_t)(2 * A * B * (C - 1)) * sizeof *apart, COLLET_F64, 3, shape, strides};
    reopen(7);
    draw(COLLET_OP_NORMAL, start, ARRAY(whole, F64, A * B * C));
    for (int64_t at = 0, n, length = 1; at < A * B * C; at += n, length = length * 3 % 1021) {
        n = length < A * B * C - at ? length : A * B * C - at;
        draw(COLLET_OP_NORMAL, start + (uint64_t)at, ARRAY(pieces + at, F64, n));
    }
    assert_memory_equal(whole, pieces, sizeof whole);
    draw(COLLET_OP_NORMAL, start, out);
    for (int i = 0; i < A * B * C; i++) {
        int at = 2 * (A * B * (C - 1 - i % C) + B * (i / (B * C)) + i / C % B);
        assert_true(apart[at] == whole[i] && apart[at + 1] == 0.0);
    }
}

TEST(test_trim_gives_plans_back)
{
    static results r;
    trim(device);
    size_t before = mallinfo2().uordblks;
    if (before == 0)
        skip(); /* a sanitizer's malloc */
    compute_transforms(&r);
    size_t with_plans = mallinfo2().uordblks;
    compute_transforms(&r);
    /* Allocating and freeing workspaces changes the total of allocated bytes only by a few
     * bytes. */
    assert_true(mallinfo2().uordblks < with_plans + 1000);
    assert_true(with_plans > before + 50000);
    trim(device);
    assert_true(mallinfo2().uordblks < before + 1000);
}

/* A worker that flushes subnormal numbers to zero would write zeros to its part. */
TEST(test_subnormals_on_every_thread)
{
    static float x[1 << 18], y[1 << 18];
    const float smallest = 0x1p-149f;
    for (int i = 0; i < 1 << 18; i++)
        x[i] = smallest;
    reopen(7);
    CALL(ADD, 1, ARRAY(y, F32, 1 << 18), ARRAY(x, F32, 1 << 18), ARRAY(x, F32, 1 << 18));
    for (int i = 0; i < 1 << 18; i++)
        assert_true(y[i] == 2.0f * smallest);
}

TEST_GROUP(open_plugin, close_plugin)
