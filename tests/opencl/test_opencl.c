/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The opencl backend on PoCL as two devices: bytes transferred, memory reuse and exhaustion,
 * binaries on disk. test_storage checks the transfers of libcore. Skipped if no driver has a device.
 */
#include <dirent.h>
#include <pthread.h>
#include <sys/stat.h>

#include "opencl_support.h"

static char cache_setting[512], cache_path[256];

/* A runtime with opencl and cpu_scalar; `more`: another setting, or NULL. */
static world open_opencl(const char *backend, const char *more)
{
    const char *const settings[] = {cache_setting, more, NULL};
    return open_world(OPENCL_PLUGIN ":" SCALAR_PLUGIN, settings, backend);
}

static collet_memory_stats memory_of(collet_context *cx, const char *space)
{
    collet_memory_stats stats = {.struct_size = sizeof stats};
    assert_ok(cx, collet_memory(cx, &stats, space));
    return stats;
}

TEST(copies_between_devices_avoid_the_host)
{
    OWNED(world) w = open_opencl("opencl:0", NULL);
    OWNED(collet_array) *a = floats(w.cx, 64, 1), *c = empty_floats(w.cx, 64),
                        *d = empty_floats(w.cx, 64);
    float expected[64];
    for (int i = 0; i < 64; i++)
        expected[i] = 2 * (float)(i + 1);
    for (int round = 0; round < 10; round++) {
        assert_ok(w.cx, collet_set_backend(w.cx, "opencl:0"));
        assert_ok(w.cx, collet_op_add(w.cx, c, a, a));
        assert_ok(w.cx, collet_set_backend(w.cx, "opencl:1"));
        assert_ok(w.cx, collet_op_copy(w.cx, d, c));
    }
    assert_int_equal(counters_of(w.cx).bytes_to_device, 256);
    assert_int_equal(counters_of(w.cx).bytes_to_host, 0);
    assert_int_equal(counters_of(w.cx).bytes_direct, 10 * 256);
    assert_floats(w.cx, d, expected);
}

/* With these settings PoCL transfers like a device with separate memory: in pieces, through
 * page-locked memory. */
TEST(transfers_are_split_as_set)
{
    static float values[50001], back[50001];
    const int64_t n = 50001;
    OWNED(world) w = open_opencl("opencl:0", "opencl.staging=20480");
    for (int round = 0; round < 3; round++) {
        collet_array *a = NULL;
        for (int i = 0; i < n; i++)
            values[i] = (float)(i + round);
        assert_ok(w.cx, collet_array_from(w.cx, &a, COLLET_F32, 1, &n, values));
        assert_ok(w.cx, collet_op_neg(w.cx, a, a));
        assert_ok(w.cx, collet_array_read(w.cx, a, back, sizeof back));
        for (int i = 0; i < n; i++)
            assert_true(back[i] == -(float)(i + round));
        collet_array_destroy(a);
        assert_ok(w.cx, collet_trim(w.cx));
    }
    assert_int_equal(counters_of(w.cx).bytes_to_device, 3 * sizeof values);
    assert_int_equal(counters_of(w.cx).bytes_to_host, 3 * sizeof values);
}

/* ---- Two devices at once --------------------------------------------------------------------- */

#define ROUNDS 40
#define LENGTH 4096

typedef struct worker {
    collet_runtime *rt;
    const char *backend;
    const char *error; /* NULL: none */
} worker;

/* Computes x = (x + 1) * 1 many times, each time in new arrays, so that freed memory is reused. */
static const char *count_up(collet_context *cx)
{
    static const float zeros[LENGTH];
    const int64_t n = LENGTH;
    float ones[LENGTH];
    collet_array *x = NULL, *one = NULL;
    for (int i = 0; i < LENGTH; i++)
        ones[i] = 1.0f;
    int ok = collet_array_from(cx, &x, COLLET_F32, 1, &n, zeros) == COLLET_OK &&
             collet_array_from(cx, &one, COLLET_F32, 1, &n, ones) == COLLET_OK;
    for (int i = 0; ok && i < ROUNDS; i++) {
        collet_array *next = NULL, *product = NULL;
        ok = collet_array_create(cx, &next, COLLET_F32, 1, &n) == COLLET_OK &&
             collet_array_create(cx, &product, COLLET_F32, 1, &n) == COLLET_OK &&
             collet_op_add(cx, next, x, one) == COLLET_OK &&
             collet_op_mul(cx, product, next, one) == COLLET_OK;
        collet_array_destroy(next);
        collet_array_destroy(x);
        x = product;
    }
    float *result = malloc(sizeof ones);
    ok = ok && result && collet_array_read(cx, x, result, sizeof ones) == COLLET_OK;
    for (int i = 0; ok && i < LENGTH; i++)
        ok = result[i] == (float)ROUNDS;
    free(result);
    collet_array_destroy(x);
    collet_array_destroy(one);
    return ok ? NULL : "a sum is wrong";
}

static void *work(void *argument)
{
    worker *w = argument;
    collet_context *cx = NULL;
    if (collet_context_create(w->rt, &cx, NULL) != COLLET_OK ||
        collet_set_backend(cx, w->backend) != COLLET_OK)
        w->error = "no context";
    for (int i = 0; !w->error && i < 5; i++)
        w->error = count_up(cx);
    collet_context_destroy(cx);
    return NULL;
}

TEST(two_devices_and_four_contexts_at_once)
{
    OWNED(world) w = open_opencl("opencl", NULL);
    pthread_t threads[4];
    worker workers[4];
    for (int i = 0; i < 4; i++) {
        workers[i] = (worker){w.rt, i % 2 ? "opencl:1" : "opencl:0", NULL};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++)
        if (workers[i].error)
            fail_msg("%s: %s", workers[i].backend, workers[i].error);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* c = a + a on a new c; frees it. */
static collet_status add_once(collet_context *cx, const collet_array *a, int64_t n)
{
    collet_array *c = NULL;
    assert_ok(cx, collet_array_create(cx, &c, COLLET_F32, 1, &n));
    collet_status status = collet_op_add(cx, c, a, a);
    collet_array_destroy(c);
    return status;
}

TEST(freed_memory_is_used_again)
{
    const int64_t n = 1000;
    OWNED(world) w = open_opencl("opencl", NULL);
    OWNED(collet_array) *a = NULL;
    assert_ok(w.cx, collet_array_create(w.cx, &a, COLLET_F32, 1, &n));
    assert_ok(w.cx, collet_op_copy(w.cx, a, a));
    assert_ok(w.cx, add_once(w.cx, a, n));
    assert_ok(w.cx, collet_finish(w.cx));
    collet_memory_stats first = memory_of(w.cx, "opencl:0");
    for (int i = 0; i < 100; i++)
        assert_ok(w.cx, add_once(w.cx, a, n));
    assert_ok(w.cx, collet_finish(w.cx));
    collet_memory_stats last = memory_of(w.cx, "opencl:0");
    assert_int_equal(first.current, 4 * n);
    assert_int_equal(first.peak, 8 * n);
    assert_int_equal(last.held, first.held);
    assert_int_equal(last.peak, first.peak);
    assert_int_equal(last.current, first.current);
    assert_true(last.held > last.current);
    assert_ok(w.cx, collet_trim(w.cx));
    assert_true(memory_of(w.cx, "opencl:0").held < first.held);
    assert_ok(w.cx, add_once(w.cx, a, n));
}

/* The length of a transform whose table is uploaded in several pieces. */
#define PRIME 5003
#define HALF_PRIME (PRIME / 2 + 1)

static void spectrum(collet_context *cx, collet_array *out, const collet_array *in,
                     float values[2 * HALF_PRIME])
{
    assert_ok(cx, collet_op_fft(cx, out, in, 1, 0));
    assert_ok(cx, collet_array_read(cx, out, values, 2 * HALF_PRIME * sizeof *values));
}

TEST(tables_are_kept_until_a_trim)
{
    static float first[2 * HALF_PRIME], again[2 * HALF_PRIME];
    const int64_t prime = PRIME, half = HALF_PRIME;
    OWNED(world) w = open_opencl("opencl", NULL);
    collet_context *other = context_of(w.rt);
    assert_ok(other, collet_set_backend(other, "opencl"));
    static float values[PRIME];
    OWNED(collet_array) *in = NULL, *out = NULL;
    for (int i = 0; i < PRIME; i++)
        values[i] = (float)(i % 7);
    assert_ok(w.cx, collet_array_create(w.cx, &in, COLLET_F32, 1, &prime));
    assert_ok(w.cx, collet_array_create(w.cx, &out, COLLET_C64, 1, &half));
    assert_ok(w.cx, collet_array_write(w.cx, in, values, sizeof values));
    spectrum(w.cx, out, in, first);
    uint64_t with_table = memory_of(w.cx, "opencl:0").current;
    assert_true(with_table > 4 * PRIME + 8 * HALF_PRIME + (128 << 10));
    /* This transform runs in another queue than the queue that wrote the table. */
    spectrum(other, out, in, again);
    assert_memory_equal(again, first, sizeof first);
    collet_context_destroy(other);
    spectrum(w.cx, out, in, again);
    assert_int_equal(memory_of(w.cx, "opencl:0").current, with_table);
    assert_ok(w.cx, collet_trim(w.cx));
    assert_int_equal(memory_of(w.cx, "opencl:0").current, 4 * PRIME + 8 * HALF_PRIME);
    spectrum(w.cx, out, in, again);
    assert_memory_equal(again, first, sizeof first);
    assert_int_equal(memory_of(w.cx, "opencl:0").current, with_table);
}

TEST(exhausted_memory_is_refused)
{
    const int64_t n = 1000;
    float expected[16];
    OWNED(world) w = open_opencl("opencl", "opencl.memory=10000");
    OWNED(collet_array) *a = NULL, *small = floats(w.cx, 16, 1), *sum = empty_floats(w.cx, 16);
    assert_ok(w.cx, collet_array_create(w.cx, &a, COLLET_F32, 1, &n));
    assert_ok(w.cx, collet_op_copy(w.cx, a, a));
    collet_array *b = NULL;
    assert_ok(w.cx, collet_array_create(w.cx, &b, COLLET_F32, 1, &n));
    assert_ok(w.cx, collet_op_add(w.cx, b, a, a));
    assert_status(w.cx, add_once(w.cx, a, n), COLLET_REFUSED, "bytes of device memory");
    assert_ok(w.cx, collet_op_add(w.cx, sum, small, small));
    for (int i = 0; i < 16; i++)
        expected[i] = 2.0f + 2.0f * (float)i;
    assert_floats(w.cx, sum, expected);
    /* Freed memory is available again. */
    collet_array_destroy(b);
    assert_ok(w.cx, add_once(w.cx, a, n));
}

/* ---- Binaries on disk ------------------------------------------------------------------------ */

/* Calls `each` for every file of the cache; returns their number. */
static int each_binary(void (*each)(const char *path))
{
    char path[600];
    int count = 0;
    snprintf(path, sizeof path, "%s/kernels", cache_path);
    DIR *d = opendir(path);
    for (struct dirent *entry = d ? readdir(d) : NULL; entry; entry = readdir(d)) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/kernels/%.200s", cache_path, entry->d_name);
        count++;
        if (each)
            each(path);
    }
    if (d)
        closedir(d);
    return count;
}

static void corrupt(const char *path)
{
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, -100, SEEK_END), 0);
    assert_int_not_equal(fputs("this is not what was written", f), EOF);
    assert_int_equal(fclose(f), 0);
}

static void is_not_corrupt(const char *path)
{
    char end[101] = "";
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fseek(f, -100, SEEK_END), 0);
    assert_int_equal(fread(end, 1, 100, f), 100);
    assert_int_equal(fclose(f), 0);
    assert_int_not_equal(strncmp(end, "this is not", 11), 0);
}

static void shorten(const char *path)
{
    assert_int_equal(truncate(path, 50), 0);
}

static void empty(const char *path)
{
    assert_int_equal(unlink(path), 0);
}

/* The last file that each_binary visited. */
static ino_t file_on_disk;

static void note_file(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 077, 0);
    file_on_disk = st.st_ino;
}

static void one_sum(void)
{
    OWNED(world) w = open_opencl("opencl", NULL);
    OWNED(collet_array) *a = floats(w.cx, 4, 1), *c = empty_floats(w.cx, 4);
    const float expected[] = {2, 4, 6, 8};
    assert_ok(w.cx, collet_op_add(w.cx, c, a, a));
    assert_floats(w.cx, c, expected);
}

/* A corrupt binary is compiled again. Sizes of files are not compared: PoCL's binary contains all
 * variants of a program that any process has compiled. */
TEST(corrupt_binaries_are_recompiled)
{
    void (*const harms[])(const char *) = {corrupt, shorten};
    each_binary(empty);
    one_sum();
    for (size_t i = 0; i < sizeof harms / sizeof *harms; i++) {
        each_binary(harms[i]);
        assert_int_equal(each_binary(note_file), 1);
        ino_t harmed = file_on_disk;
        one_sum();
        assert_int_equal(each_binary(note_file), 1);
        ino_t written = file_on_disk;
        assert_int_not_equal(written, harmed);
        each_binary(is_not_corrupt);
        /* The written file is complete: the next run uses it. */
        one_sum();
        assert_int_equal(each_binary(note_file), 1);
        assert_int_equal(file_on_disk, written);
    }
}

/* A cache directory that others can write to is not used. */
TEST(directory_open_to_others_is_unused)
{
    char path[600];
    each_binary(empty);
    snprintf(path, sizeof path, "%s/kernels", cache_path);
    assert_int_equal(chmod(path, 0770), 0);
    one_sum();
    assert_int_equal(each_binary(NULL), 0);
    assert_int_equal(chmod(path, 0700), 0);
    one_sum();
    assert_int_equal(each_binary(NULL), 1);
}

int main(void)
{
    setenv("POCL_DEVICES", "pthread pthread", 1);
    if (!has_devices(2))
        return SKIPPED;
    snprintf(cache_path, sizeof cache_path, "/tmp/collet-opencl-XXXXXX");
    if (!mkdtemp(cache_path))
        return 1;
    snprintf(cache_setting, sizeof cache_setting, "cache_dir=%s", cache_path);
    int failed = test_run();
    each_binary(empty);
    char command[600];
    snprintf(command, sizeof command, "rm -rf '%s'", cache_path);
    return system(command) || failed;
}
