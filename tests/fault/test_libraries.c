/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Defective libraries of cpu_openmp: the findings of the probe, the report in the capabilities, and correct products
 * in spite of the defects. A process opens a library only once, so every case is a separate
 * process.
 */
#include <dlfcn.h>
#include <sys/wait.h>

#include <collet/collet.h>
#include <collet/ops/array.h>
#include <collet/ops/linalg.h>

#include "common/test.h"

#define N 136 /* large enough that cpu_openmp uses a library by default */

typedef struct library_case {
    const char *openblas, *onednn; /* settings */
    const char *more;              /* another setting, or NULL */
    const char *reports[4];        /* parts of the capabilities */
    const char *reports_not;       /* a text that they must not contain, or NULL */
    const char *warns; /* part of a warning; NULL: no warning about a setting or a core type */
} library_case;

static int loaded_before; /* the program has loaded OpenBLAS before libcore */
static int measures; /* the probe measures rates, so another implementation may be chosen */

static int complain(const char *what, const char *text)
{
    (void)fprintf(stderr, "%s: %s\n", what, text);
    return 0;
}

static void keep_warning(void *user, int32_t level, const char *text)
{
    if (level == COLLET_LOG_WARNING &&
        (strstr(text, "has no effect") || strstr(text, "the program has loaded")))
        (void)snprintf(user, COLLET_ERROR_TEXT, "%s", text);
}

/* c = a b of integers in `dtype`; returns 1 if every element is exact. */
static int product_is_right(collet_context *cx, collet_dtype dtype)
{
    static double x[N * N], y[N * N], got[N * N];
    const int64_t shape[] = {N, N};
    collet_array *wide[2] = {NULL, NULL}, *in[2] = {NULL, NULL}, *c = NULL, *back = NULL;
    int ok = 1;
    for (int i = 0; i < N * N; i++) {
        x[i] = i * 7 % 11 - 5;
        y[i] = i * 5 % 13 - 6;
    }
    const double *values[] = {x, y};
    for (int i = 0; i < 2; i++)
        ok = ok && collet_array_from(cx, &wide[i], COLLET_F64, 2, shape, values[i]) == COLLET_OK &&
             collet_array_create(cx, &in[i], dtype, 2, shape) == COLLET_OK &&
             collet_op_copy(cx, in[i], wide[i]) == COLLET_OK;
    ok = ok && collet_array_create(cx, &c, dtype, 2, shape) == COLLET_OK &&
         collet_op_matmul(cx, c, in[0], in[1]) == COLLET_OK &&
         collet_array_create(cx, &back, COLLET_F64, 2, shape) == COLLET_OK &&
         collet_op_copy(cx, back, c) == COLLET_OK &&
         collet_array_read(cx, back, got, sizeof got) == COLLET_OK;
    if (!ok)
        return complain("matmul", collet_last_error(cx));
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            double sum = 0.0;
            for (int k = 0; k < N; k++)
                sum += x[i * N + k] * y[k * N + j];
            ok = ok && got[i * N + j] == sum;
        }
    }
    for (int i = 0; i < 2; i++) {
        collet_array_destroy(wide[i]);
        collet_array_destroy(in[i]);
    }
    collet_array_destroy(c);
    collet_array_destroy(back);
    return ok ? 1 : complain("matmul", "a wrong element");
}

static int reports(const library_case *c, const char *capabilities)
{
    for (int i = 0; i < 4 && c->reports[i]; i++)
        if (!strstr(capabilities, c->reports[i]))
            return complain(c->reports[i], capabilities);
    if (c->reports_not && strstr(capabilities, c->reports_not))
        return complain(c->reports_not, capabilities);
    return 1;
}

/* The library is loaded, with the reported core, if and only if the probe accepted the library. */
static int is_open_as_reported(const char *library, const char *capabilities)
{
    char expected[128];
    char *(*get_corename)(void);
    void *handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
    if (!handle)
        return strstr(capabilities, "\"openblas_refused\"") != NULL;
    *(void **)&get_corename = dlsym(handle, "openblas_get_corename");
    if (!get_corename)
        *(void **)&get_corename = dlsym(handle, "scipy_openblas_get_corename");
    (void)snprintf(expected, sizeof expected, "\"core\": \"%s\", \"chosen_by\"", get_corename());
    return strstr(capabilities, expected) ? 1 : complain(expected, capabilities);
}

static int run_case(const library_case *c)
{
    char openblas[512], onednn[512], warning[COLLET_ERROR_TEXT] = "";
    /* A minute is enough even on a busy machine. */
    const char *settings[] = {
        measures ? "measure=on" : "measure=off",      "cache=off", openblas, onednn,
        c->more ? c->more : "probe_timeout=60", NULL};
    collet_runtime *rt = NULL;
    collet_context *cx = NULL;
    collet_error err = {COLLET_OK, ""};
    collet_backend_info info = {.struct_size = sizeof info};
    char **environment = environ;
    const char *coretype = getenv("OPENBLAS_CORETYPE");
    (void)snprintf(openblas, sizeof openblas, "cpu_openmp.openblas=%s", c->openblas);
    (void)snprintf(onednn, sizeof onednn, "cpu_openmp.onednn=%s", c->onednn);
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .plugin_path = COLLET_TEST_PLUGINS "/cpu_openmp.so",
                                      .backend = "cpu_openmp",
                                      .settings = settings,
                                      .log = keep_warning,
                                      .log_user = warning};
    if (loaded_before && !dlopen(c->openblas, RTLD_NOW | RTLD_LOCAL))
        return complain("dlopen", dlerror());
    if (collet_runtime_create(&rt, &options, &err) != COLLET_OK ||
        collet_context_create(rt, &cx, &err) != COLLET_OK)
        return complain("runtime", err.text);
    int ok = collet_backend_info_at(rt, &info, 0, NULL) == COLLET_OK &&
             reports(c, info.capabilities) && product_is_right(cx, COLLET_F32) &&
             product_is_right(cx, COLLET_F64) &&
             (loaded_before || measures || is_open_as_reported(c->openblas, info.capabilities));
    /* cpu_openmp sets a core type for the library in the environment, and removes it afterwards. */
    if (environ != environment || getenv("OPENBLAS_CORETYPE") != coretype)
        ok = complain("environment", "changed");
    if (c->warns ? !strstr(warning, c->warns) : warning[0])
        ok = complain("warning", warning);
    collet_context_destroy(cx);
    collet_runtime_destroy(rt);
    return ok;
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
/* The JSON of the capabilities has no blanks, because libcore has added a choice and has written
 * the JSON again. */
#define LEFT_ALONE(library, why)                                                                   \
    "\"" library "\":{\"library\":null,\"reason\":\"not used in safe mode: " why

TEST(a_crash)
{
    expect(&(library_case){
        FAKE("crashes"),
        "off",
        NULL,
        {LEFT_ALONE("blas",
                    "the probe crashed in its capabilities (SIGSEGV); last output: trying " FAKE(
                        "crashes"))},
        NULL,
        NULL});
}

TEST(a_hang)
{
    expect(&(library_case){
        FAKE("hangs"),
        "off",
        "probe_timeout=4",
        {LEFT_ALONE("blas", "the probe hung in its capabilities (no response after 4000 ms)")},
        NULL,
        NULL});
}

TEST(an_end)
{
    expect(&(library_case){
        FAKE("ends"),
        "off",
        NULL,
        {LEFT_ALONE("blas", "the probe ended the process in its capabilities (status 3)")},
        NULL,
        NULL});
}

TEST(a_safe_mode_that_is_set)
{
    expect(&(library_case){FAKE("right"),
                           "off",
                           "cpu_openmp.safe_mode=on",
                           {REFUSED("not used in safe mode: on")},
                           NULL,
                           NULL});
}

TEST(a_wrong_product)
{
    expect(&(library_case){FAKE("wrong"),
                           "off",
                           NULL,
                           {REFUSED("its products of matrices are wrong")},
                           "safe_mode",
                           "cpu_openmp.openblas has no effect: its products"});
}

TEST(a_wrong_solution)
{
    expect(&(library_case){FAKE("unsolved"),
                           "off",
                           NULL,
                           {REFUSED("its solution of linear equations is wrong")},
                           "safe_mode",
                           "cpu_openmp.openblas has no effect: its solution"});
}

TEST(another_library)
{
    expect(&(library_case){FAKE("lacks"),
                           "off",
                           NULL,
                           {"lacks functions of OpenBLAS"},
                           NULL,
                           "cpu_openmp.openblas has no effect: "});
}

/* The stand-ins are slow, so that our kernels compute the products. */
TEST(rates)
{
    measures = 1;
    expect(&(library_case){
        FAKE("right"), "off", NULL, {"\"measured\": \"f32/256:own=", ",openblas="}, NULL, NULL});
    expect(&(library_case){"off",
                           FAKE("onednn2"),
                           "cpu_openmp.onednn_isa=AVX2",
                           {"\"measured\": \"f32/256:own=", ",onednn="},
                           ",openblas=",
                           NULL});
    measures = 0;
    expect(&(library_case){FAKE("right"), "off", NULL, {"\"measured\": \"\""}, NULL, NULL});
}

/* Function names with a prefix, as in the OpenBLAS package of PyPI. */
TEST(a_prefix)
{
    const library_case prefixed = {FAKE("prefixed"),       "off", "cpu_openmp.openblas_core=mine",
                                   {"\"core\": \"mine\""}, NULL,  NULL};
    expect(&prefixed);
    loaded_before = 1;
    expect(&(library_case){
        FAKE("prefixed"), "off", NULL, {"\"library\": \"Stand-in 1.0\""}, NULL, NULL});
    loaded_before = 0;
}

/* Integers of 64 bits, as in the OpenBLAS inside NumPy, whose names have a prefix and a suffix. */
TEST(long_integers)
{
    static const char *const libraries[] = {FAKE("long"), FAKE("suffixed")};
    for (int i = 0; i < 2; i++)
        expect(&(library_case){libraries[i],
                               "off",
                               NULL,
                               {"has integers of 64 bits"},
                               NULL,
                               "cpu_openmp.openblas has no effect: "});
}

TEST(no_library)
{
    expect(&(library_case){COLLET_TEST_NOTHING "/libopenblas.so.0",
                           "off",
                           NULL,
                           {REFUSED(COLLET_TEST_NOTHING "/libopenblas.so.0 cannot be opened")},
                           NULL,
                           "the setting cpu_openmp.openblas has no effect: " COLLET_TEST_NOTHING
                           "/"});
    expect(&(library_case){"off", "off", NULL, {REFUSED("switched off")}, NULL, NULL});
}

/* The stand-in selects Prescott unless a core is set. */
TEST(a_core_by_features)
{
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        skip();
    const library_case by_features = {
        FAKE("right"), "off", NULL, {"\"library\": \"Stand-in 1.0\"", "the processor's features"},
        "Prescott",    NULL};
    expect(&by_features);
    /* Set, but empty. */
    assert_int_equal(setenv("OPENBLAS_CORETYPE", "", 1), 0);
    expect(&by_features);
    assert_int_equal(unsetenv("OPENBLAS_CORETYPE"), 0);
    /* There is no warning if OpenBLAS is already loaded. NumPy's OpenBLAS is loaded in every
     * program that imports NumPy. */
    loaded_before = 1;
    expect(
        &(library_case){FAKE("right"), "off", NULL, {"\"library\": \"Stand-in 1.0\""}, NULL, NULL});
    loaded_before = 0;
#else
    skip();
#endif
}

TEST(a_core_that_is_set)
{
    expect(&(library_case){FAKE("right"),
                           "off",
                           "cpu_openmp.openblas_core=own",
                           {"\"core\": \"Prescott\"", "the setting cpu_openmp.openblas_core"},
                           NULL,
                           NULL});
    expect(&(library_case){FAKE("right"),
                           "off",
                           "cpu_openmp.openblas_core=mine",
                           {"\"core\": \"mine\"", "the setting cpu_openmp.openblas_core"},
                           NULL,
                           NULL});
    expect(&(library_case){
        FAKE("right"),
        "off",
        "cpu_openmp.openblas_core=Unknown",
        {"\"core\": \"Prescott\""},
        NULL,
        "openblas_core has no effect: OpenBLAS does not have the core type Unknown and runs as "
        "Prescott"});
}

TEST(a_core_of_the_environment)
{
    assert_int_equal(setenv("OPENBLAS_CORETYPE", "Mine", 1), 0);
    expect(&(library_case){FAKE("right"),
                           "off",
                           NULL,
                           {"\"core\": \"Mine\"", "the environment variable"},
                           NULL,
                           NULL});
    assert_int_equal(unsetenv("OPENBLAS_CORETYPE"), 0);
}

/* The stand-in crashes unless it is limited to an instruction set. oneDNN 2.6 does the same in some
 * virtual machines. */
TEST(a_crash_of_one_instruction_set)
{
    expect(&(library_case){"off",
                           FAKE("onednn2"),
                           "cpu_openmp.onednn_isa=own", /* no limit because of AMX */
                           {LEFT_ALONE("onednn", "the probe crashed"), "SIGILL"},
                           NULL,
                           NULL});
}

TEST(versions_of_onednn)
{
    expect(&(library_case){
        "off",
        FAKE("onednn2"),
        "cpu_openmp.onednn_isa=AVX2",
        {"\"library\": \"oneDNN 2.99.1\"", "\"isa\": \"AVX2\"", "\"right_for\": \"f32\""},
        NULL,
        NULL});
    expect(&(library_case){
        "off",
        FAKE("onednn3"),
        "cpu_openmp.onednn_isa=AVX2_VNNI",
        {"\"library\": \"oneDNN 3.99.1\"", "\"isa\": \"AVX2_VNNI\"", "\"right_for\": \"f32\""},
        NULL,
        NULL});
    expect(&(library_case){"off",
                           FAKE("onednn4"),
                           NULL,
                           {"\"onednn\": {\"library\": null", "is not oneDNN 2 or 3"},
                           NULL,
                           "cpu_openmp.onednn has no effect: "});
    expect(&(library_case){"off",
                           FAKE("onednn3"),
                           "cpu_openmp.onednn_isa=AVX512_MIC",
                           {"this version of oneDNN does not have the instruction set AVX512_MIC"},
                           NULL,
                           "cpu_openmp.onednn has no effect: "});
}

/* Without a setting, cpu_openmp searches for oneDNN by its sonames; this is the soname in Debian
 * 13. */
TEST(sonames_of_onednn)
{
    if (dlopen("libdnnl.so.3", RTLD_LAZY)) /* the real library would be found first */
        skip();
    expect(&(library_case){"off",
                           "",
                           "cpu_openmp.onednn_isa=AVX2",
                           {"\"library\": \"oneDNN 3.99.1\"", "/soname/libdnnl.so.3.6\""},
                           NULL,
                           NULL});
}

TEST(a_wrong_onednn)
{
    expect(&(library_case){"off",
                           FAKE("onednn_wrong"),
                           "cpu_openmp.onednn_isa=AVX2",
                           {"\"onednn\": {\"library\": null, \"reason\": \"its products of "
                            "matrices are wrong\""},
                           NULL,
                           "cpu_openmp.onednn has no effect: "});
}

int main(void)
{
    (void)unsetenv("OPENBLAS_CORETYPE");
    return test_run();
}
