/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Libraries of cpu_openmp that are not what they should be: what their trial in the probe finds,
 * what backend-info says of it, and that products are right all the same. A process opens a library
 * once, so every case is a process of its own.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <collet/collet.h>

#define N 100

typedef struct library_case {
    const char *openblas, *onednn; /* settings */
    const char *more;              /* another; or NULL */
    const char *trial_ms;          /* NULL: more than a trial takes on the busiest machine */
    const char *tells[4];          /* parts of the capabilities */
    const char *tells_not;
} library_case;

static int complain(const char *what, const char *text)
{
    (void)fprintf(stderr, "%s: %s\n", what, text);
    return 0;
}

/* c = a b of whole numbers, in the type; 1 when every element is right. */
static int product_is_right(collet_context *cx, collet_dtype dtype)
{
    static double x[N * N], y[N * N], got[N * N];
    const int64_t shape[] = {N, N};
    collet_array *wide[2] = {NULL, NULL}, *in[2] = {NULL, NULL}, *c = NULL, *back = NULL;
    int fine = 1;
    for (int i = 0; i < N * N; i++) {
        x[i] = i * 7 % 11 - 5;
        y[i] = i * 5 % 13 - 6;
    }
    const double *values[] = {x, y};
    for (int i = 0; i < 2; i++)
        fine = fine &&
               collet_array_from(cx, &wide[i], COLLET_F64, 2, shape, values[i]) == COLLET_OK &&
               collet_array_create(cx, &in[i], dtype, 2, shape) == COLLET_OK &&
               collet_copy(cx, in[i], wide[i]) == COLLET_OK;
    fine = fine && collet_array_create(cx, &c, dtype, 2, shape) == COLLET_OK &&
           collet_matmul(cx, c, in[0], in[1]) == COLLET_OK &&
           collet_array_create(cx, &back, COLLET_F64, 2, shape) == COLLET_OK &&
           collet_copy(cx, back, c) == COLLET_OK &&
           collet_array_read(cx, back, got, sizeof got) == COLLET_OK;
    if (!fine)
        return complain("matmul", collet_last_error(cx));
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            double sum = 0.0;
            for (int k = 0; k < N; k++)
                sum += x[i * N + k] * y[k * N + j];
            fine = fine && got[i * N + j] == sum;
        }
    }
    for (int i = 0; i < 2; i++) {
        collet_array_free(wide[i]);
        collet_array_free(in[i]);
    }
    collet_array_free(c);
    collet_array_free(back);
    return fine ? 1 : complain("matmul", "a wrong element");
}

static int tells(const library_case *c, const char *capabilities)
{
    for (int i = 0; i < 4 && c->tells[i]; i++)
        if (!strstr(capabilities, c->tells[i]))
            return complain(c->tells[i], capabilities);
    if (c->tells_not && strstr(capabilities, c->tells_not))
        return complain(c->tells_not, capabilities);
    return 1;
}

/* The library is open here when, and as, the probe found it right. */
static int is_open_as_told(const char *library, const char *capabilities)
{
    char wanted[128];
    char *(*get_corename)(void);
    void *handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
    if (!handle)
        return strstr(capabilities, "\"openblas_refused\"") != NULL;
    *(void **)&get_corename = dlsym(handle, "openblas_get_corename");
    (void)snprintf(wanted, sizeof wanted, "\"core\": \"%s\", \"chosen_by\"", get_corename());
    return strstr(capabilities, wanted) ? 1 : complain(wanted, capabilities);
}

static int run_case(const library_case *c)
{
    char openblas[512], onednn[512], trial_ms[64];
    /* More time than a busy machine takes: what hangs is found by the limit of a trial. */
    const char *settings[] = {
        "cache=off", "probe_timeout_ms=240000", openblas, onednn, trial_ms, c->more, NULL};
    collet_runtime *rt = NULL;
    collet_context *cx = NULL;
    collet_error err = {COLLET_OK, ""};
    collet_backend_info info = {.struct_size = sizeof info};
    char **environment = environ;
    const char *told = getenv("OPENBLAS_CORETYPE");
    (void)snprintf(openblas, sizeof openblas, "cpu_openmp.openblas=%s", c->openblas);
    (void)snprintf(onednn, sizeof onednn, "cpu_openmp.onednn=%s", c->onednn);
    (void)snprintf(trial_ms, sizeof trial_ms, "cpu_openmp.trial_ms=%s",
                   c->trial_ms ? c->trial_ms : "60000");
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .plugin_path = COLLET_TEST_PLUGINS "/cpu_openmp.so",
                                      .backend = "cpu_openmp",
                                      .settings = settings};
    if (collet_runtime_create(&rt, &options, &err) != COLLET_OK ||
        collet_context_create(&cx, rt, &err) != COLLET_OK)
        return complain("runtime", err.text);
    int fine = collet_backend_info_at(rt, 0, &info) == COLLET_OK && tells(c, info.capabilities) &&
               product_is_right(cx, COLLET_F32) && product_is_right(cx, COLLET_F64) &&
               is_open_as_told(c->openblas, info.capabilities);
    /* A core is told to the library alone. */
    if (environ != environment || getenv("OPENBLAS_CORETYPE") != told)
        fine = complain("environment", "changed");
    collet_context_destroy(cx);
    collet_runtime_destroy(rt);
    return fine;
}

static void expect(const library_case *c)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0)
        _exit(run_case(c) ? 0 : 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

#define FAKE(name) COLLET_TEST_LIBRARIES "/lib" name ".so"
#define REFUSED(why) "\"blas\": {\"library\": null, \"reason\": \"" why

static void a_crash(void **state)
{
    (void)state;
    expect(
        &(library_case){FAKE("crashes"), "off", NULL, NULL, {REFUSED("crashed (SIGSEGV)")}, NULL});
}

static void a_hang(void **state)
{
    (void)state;
    expect(&(library_case){
        FAKE("hangs"), "off", NULL, "1000", {REFUSED("not done after 1000 ms")}, NULL});
}

static void an_end(void **state)
{
    (void)state;
    expect(&(library_case){
        FAKE("ends"), "off", NULL, NULL, {REFUSED("ended the process (status 3)")}, NULL});
}

static void a_wrong_product(void **state)
{
    (void)state;
    expect(&(library_case){
        FAKE("wrong"), "off", NULL, NULL, {REFUSED("its products of matrices are wrong")}, NULL});
}

static void another_library(void **state)
{
    (void)state;
    expect(
        &(library_case){FAKE("lacks"), "off", NULL, NULL, {"lacks functions of OpenBLAS"}, NULL});
}

static void no_library(void **state)
{
    (void)state;
    expect(&(library_case){"/nonexistent/libopenblas.so.0",
                           "off",
                           NULL,
                           NULL,
                           {REFUSED("/nonexistent/libopenblas.so.0 cannot be opened")},
                           NULL});
    expect(&(library_case){"off", "off", NULL, NULL, {REFUSED("switched off")}, NULL});
}

static void no_time_for_trials(void **state)
{
    (void)state;
    expect(&(library_case){FAKE("right"),
                           "off",
                           NULL,
                           "soon",
                           {REFUSED("cpu_openmp.trial_ms is a number of milliseconds above 0, not "
                                    "'soon'")},
                           NULL});
}

/* It takes this processor for a Prescott; told a core that the processor has, it is faster. */
static void a_better_core(void **state)
{
    (void)state;
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        skip();
    expect(&(library_case){FAKE("right"),
                           "off",
                           NULL,
                           NULL,
                           {"\"library\": \"Impostor 1.0\"", "the fastest of those tried",
                            "\"core\": \"Prescott\", \"own_pick\": true"},
                           "\"openblas_core\": \"own\""});
#else
    skip();
#endif
}

static void a_core_that_is_set(void **state)
{
    (void)state;
    expect(&(library_case){FAKE("right"),
                           "off",
                           "cpu_openmp.openblas_core=own",
                           NULL,
                           {"\"core\": \"Prescott\"", "the setting cpu_openmp.openblas_core"},
                           "the fastest"});
}

/* A trial that there was no time for says nothing against one that was right before. */
static void a_late_second_trial(void **state)
{
    char name[] = "/tmp/collet-test-XXXXXX";
    int file = mkstemp(name);
    (void)state;
    assert_true(file >= 0);
    assert_int_equal(setenv("COLLET_TEST_OPENED", name, 1), 0);
    expect(&(library_case){FAKE("stalls"),
                           "off",
                           "cpu_openmp.openblas_core=own",
                           "15000",
                           {"\"library\": \"Impostor 1.0\"", "\"provisional\": true"},
                           "\"openblas_refused\""});
    assert_int_equal(lseek(file, 0, SEEK_END), 3); /* two trials, and the test's own process */
    assert_int_equal(unsetenv("COLLET_TEST_OPENED"), 0);
    assert_int_equal(unlink(name), 0);
    assert_int_equal(close(file), 0);
}

static void a_core_of_the_environment(void **state)
{
    (void)state;
    assert_int_equal(setenv("OPENBLAS_CORETYPE", "Mine", 1), 0);
    expect(&(library_case){FAKE("right"),
                           "off",
                           NULL,
                           NULL,
                           {"\"core\": \"Mine\"", "the environment variable"},
                           NULL});
    assert_int_equal(unsetenv("OPENBLAS_CORETYPE"), 0);
}

#ifdef COLLET_TEST_ONEDNN
/* It crashes at what it takes the processor for, and runs at the next lower instruction set. */
static void a_crash_of_one_instruction_set(void **state)
{
    (void)state;
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        skip();
    expect(&(library_case){"off",
                           FAKE("onednn"),
                           NULL,
                           NULL,
                           {"\"library\": \"oneDNN 2.99.1\"", "\"chosen_for\": \"f32\"",
                            "\"failed\": {\"isa\": \"own\", \"reason\": \"crashed (SIGILL)\"}"},
                           "\"onednn_isa\": \"own\""});
#else
    skip();
#endif
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crash),
        cmocka_unit_test(a_hang),
        cmocka_unit_test(an_end),
        cmocka_unit_test(a_wrong_product),
        cmocka_unit_test(another_library),
        cmocka_unit_test(no_library),
        cmocka_unit_test(no_time_for_trials),
        cmocka_unit_test(a_better_core),
        cmocka_unit_test(a_core_that_is_set),
        cmocka_unit_test(a_late_second_trial),
        cmocka_unit_test(a_core_of_the_environment),
#ifdef COLLET_TEST_ONEDNN
        cmocka_unit_test(a_crash_of_one_instruction_set),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
