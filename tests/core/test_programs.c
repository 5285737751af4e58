/* SPDX-License-Identifier: Apache-2.0 */
/* Checked programs (COLLET_LAYERS=programs): a message names each fault, and the call fails or does nothing. Each case
 * runs in a separate process, test_programs CASE BACKEND, so that a crash fails only this case. */
#include <pthread.h>
#include <sys/mman.h>

#include "common/fixture.h"

static collet_array *a, *b;
static collet_error err;
static float memory[16];
static const int64_t sixteen = 16;

static void expect(int condition, const char *what)
{
    if (!condition) {
        printf("WRONG: %s\n", what);
        exit(1);
    }
}
#define INVALID(call) expect((call) == COLLET_INVALID, #call)
#define OK(call) expect((call) == COLLET_OK, #call)
#define TEXT_HAS(part) expect(strstr(collet_last_error(cx), part) != NULL, part)

static collet_array *wrap(collet_dtype dtype, int64_t n, uint32_t flags)
{
    collet_array *w = NULL;
    OK(collet_array_wrap(cx, &w, dtype, 1, &n, NULL, memory, flags, NULL, NULL));
    return w;
}

static void destroyed_array(void)
{
    collet_array *out = NULL;
    collet_expression *e = NULL;
    collet_array_spec spec;
    const collet_argument argument = {.name = "x", .array = a};
    OK(collet_expression_parse(&e, "2 * x", &err));
    collet_array_destroy(a);
    INVALID(collet_array_slice(cx, a, &out, 0, 0, 1, 1));
    TEXT_HAS("array 3, made by collet_array_from (called at ");
    TEXT_HAS("was destroyed by collet_array_destroy (called at ");
    expect(!collet_array_shape(a) && !collet_array_size(a), "getters");
    INVALID(collet_op_add(cx, b, b, a));
    INVALID(collet_op_add(cx, a, b, b));
    INVALID(collet_expression_evaluate(cx, e, &out, &argument, 1));
    TEXT_HAS("collet_expression_evaluate");
    INVALID(collet_expression_infer(e, &spec, sizeof spec, &argument, 1, &err));
    expect(strstr(err.text, "collet_expression_infer (called") != NULL, err.text);
    collet_array_destroy(a);
}

static void destroyed_expression(void)
{
    OWNED(collet_expression) *e = NULL;
    collet_array *out = NULL;
    OK(collet_expression_parse(&e, "2", &err));
    collet_expression_destroy(e);
    INVALID(collet_expression_evaluate(cx, e, &out, NULL, 0));
    TEXT_HAS("made by collet_expression_parse");
}

/* An expression without a runtime: COLLET_LAYERS=programs in the environment turns the checks on. */
static void early_expression(void)
{
    collet_expression *e = NULL;
    OK(collet_expression_parse(&e, "2 * x", &err));
    collet_expression_destroy(e);
    expect(!collet_expression_input_count(e), "count");
}

static void destroyed_context(void)
{
    collet_context_destroy(cx);
    INVALID(collet_finish(cx));
    INVALID(collet_array_read(cx, a, memory, sizeof memory));
    expect(!*collet_last_error(cx), "no text");
    collet_set_fallback(cx, 1);
    collet_context_destroy(cx);
}

/* Contexts and arrays keep a runtime alive: only the second collet_runtime_destroy is a fault. */
static void destroyed_runtime(void)
{
    collet_runtime_destroy(rt);
    OK(collet_op_add(cx, a, a, b));
    collet_runtime_destroy(rt);
    OK(collet_op_add(cx, a, a, b));
    collet_array_destroy(a);
    collet_array_destroy(b);
    collet_context_destroy(cx);
    expect(!collet_backend_count(rt), "count");
    INVALID(collet_context_create(rt, &cx, &err));
    expect(strstr(err.text, "runtime 1, was destroyed by") != NULL, err.text);
}

/* Two threads call with the same context until a call is refused. The check refuses a call while another
 * call runs, so this fault does no harm. */
static void *use_until_refused(void *user)
{
    static _Atomic int refused;
    for (int i = 0; i < 20000 && !refused; i++)
        if (collet_op_add(cx, b, a, b) != COLLET_OK) {
            TEXT_HAS("another thread is in collet_call with the same context");
            refused = 1;
        }
    expect(refused, "no call was refused");
    return user;
}

static void two_threads(void)
{
    pthread_t other;
    const int64_t many = 1 << 18;
    OK(collet_array_full(cx, &a, COLLET_F32, 1, &many, 1));
    OK(collet_array_full(cx, &b, COLLET_F32, 1, &many, 1));
    expect(!pthread_create(&other, NULL, use_until_refused, NULL), "thread");
    use_until_refused(NULL);
    pthread_join(other, NULL);
}

static void written_while_read(void)
{
    void *address = NULL;
    OK(collet_array_acquire(cx, a, &address, COLLET_READ));
    ((float *)address)[15] = 7;
    INVALID(collet_array_release(cx, a));
    TEXT_HAS("acquired with COLLET_READ alone");
    OK(collet_array_acquire(cx, a, &address, COLLET_WRITE)); /* it was released */
}

static void written_wrapped(void)
{
    OWNED(collet_array) *w =
        wrap(COLLET_U8, 11, 0); /* 11 bytes: a word of 8 bytes and a part of the next word */
    OK(collet_op_add(cx, w, w, w));
    ((char *)memory)[10] += 1;
    INVALID(collet_op_add(cx, w, w, w));
    TEXT_HAS("which collet_array_wrap (called at ");
    OK(collet_op_add(cx, w, w, w)); /* named once */
    ((char *)memory)[0] += 1;
    INVALID(collet_array_read(cx, w, &err, 11));
    ((char *)memory)[0] += 1;
}

/* A call that fails after it has begun to use its outputs. */
static void written_after_failure(void)
{
    void *address = NULL;
    const int64_t four[] = {4, 4};
    collet_array *q = NULL, *r = NULL, *matrix = NULL;
    OK(collet_array_full(cx, &matrix, COLLET_F32, 2, four, 1));
    OK(collet_array_full(cx, &r, COLLET_F32, 2, four, 1));
    OK(collet_array_wrap(cx, &q, COLLET_F32, 2, four, NULL, memory, 0, NULL, NULL));
    OK(collet_array_acquire(cx, r, &address, COLLET_WRITE));
    expect(collet_op_qr(cx, q, r, matrix) == COLLET_BUSY, "r was acquired");
    memory[3] += 1;
    INVALID(collet_op_add(cx, q, q, q));
}

static void unmapped(void)
{
    const int64_t bytes = 1 << 20;
    OWNED(collet_array) *w = NULL;
    char *pages =
        mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    expect(pages != MAP_FAILED, "mmap");
    OK(collet_array_wrap(cx, &w, COLLET_U8, 1, &bytes, NULL, pages, 0, NULL, NULL));
    OK(collet_op_add(cx, w, w, w));
    munmap(pages + bytes / 2, (size_t)bytes / 2);
    INVALID(collet_op_add(cx, w, w, w));
    TEXT_HAS("cannot be read: free or unmap memory only after the arrays over it are destroyed");
    INVALID(collet_op_add(cx, w, w, w));
}

/* ---- Right programs ---------------------------------------------------------------------- */

#define ROWS 4
#define COLUMNS (1 << 16)
#define TURNS 100
static float rows[ROWS][COLUMNS];
static const int64_t columns = COLUMNS;
static collet_array *whole, *one;
static const char *backend_name;

/* Two threads write different rows: one through a view of an array, one through another array over
 * the same memory. */
static void *count_in_row(void *row)
{
    const int64_t i = (float(*)[COLUMNS])row - rows;
    collet_context *mine = context_of(rt);
    collet_array *view = NULL, *own = NULL;
    expect(collet_set_backend(mine, backend_name) == COLLET_OK &&
               collet_array_select(mine, whole, &view, 0, i) == COLLET_OK &&
               collet_array_wrap(mine, &own, COLLET_F32, 1, &columns, NULL, rows[i], 0, NULL,
                                 NULL) == COLLET_OK,
           "arrays of a row");
    for (int k = 0; k < TURNS; k++)
        expect(collet_op_add(mine, view, view, one) == COLLET_OK &&
                   collet_op_add(mine, own, own, one) == COLLET_OK,
               collet_last_error(mine));
    collet_array_destroy(own);
    collet_array_destroy(view);
    collet_context_destroy(mine);
    return NULL;
}

static void threads_on_rows(void)
{
    const int64_t shape[] = {ROWS, COLUMNS};
    pthread_t threads[ROWS];
    OK(collet_array_wrap(cx, &whole, COLLET_F32, 2, shape, NULL, rows, 0, NULL, NULL));
    OK(collet_array_full(cx, &one, COLLET_F32, 0, NULL, 1));
    for (int i = 0; i < ROWS; i++)
        expect(!pthread_create(&threads[i], NULL, count_in_row, rows[i]), "thread");
    for (int i = 0; i < ROWS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < ROWS; i++)
        expect(rows[i][0] == 2 * TURNS && rows[i][COLUMNS - 1] == 2 * TURNS, "sums");
    collet_array_destroy(whole);
}

static void right(void)
{
    void *address = NULL;
    collet_array *w = wrap(COLLET_F32, sixteen, 0), *again = wrap(COLLET_F32, sixteen, 0);
    collet_array *shared = wrap(COLLET_F32, sixteen, COLLET_WRAP_SHARED), *view = NULL;
    OK(collet_array_acquire(cx, w, &address, COLLET_WRITE));
    memory[1] = 5;
    OK(collet_array_release(cx, w));
    OK(collet_op_add(cx, again, again, b));
    OK(collet_op_add(cx, w, w, w));
    OK(collet_op_add(cx, shared, b, b));
    memory[2] = 5;
    OK(collet_op_add(cx, shared, shared, b));
    OK(collet_array_acquire(cx, a, &address, COLLET_READ));
    OK(collet_op_add(cx, b, a, b));
    OK(collet_array_release(cx, a));
    OK(collet_array_slice(cx, w, &view, 0, 0, 8, 2));
    collet_array_destroy(w);
    OK(collet_op_add(cx, view, view, view));
    for (int i = 0; i < 70000; i++) { /* more than are remembered */
        collet_array_destroy(view);
        OK(collet_array_create(cx, &view, COLLET_F32, 0, NULL));
    }
}

/* `says`: the texts that the messages must contain. */
static const struct {
    const char *name;
    void (*run)(void);
    const char *says[3];
} cases[] = {
    {"array",
     destroyed_array,
     {"collet_array_shape (called at ", "collet_call (called at ", "collet_array_destroy (called"}},
    {"expression",
     destroyed_expression,
     {"collet_expression_evaluate (called at ", "collet_expression_destroy (called at "}},
    {"early",
     early_expression,
     {"collet_expression_input_count (called", "expression 1, made by collet_expression_parse"}},
    {"context",
     destroyed_context,
     {"collet_finish (called", "collet_set_fallback (called", "collet_context_destroy (called"}},
    {"runtime", destroyed_runtime, {"collet_runtime_destroy (called", "collet_backend_count"}},
    {"two_threads", two_threads, {"another thread is in"}},
    {"written_while_read", written_while_read, {"programs: collet_array_release (called at "}},
    {"written_wrapped",
     written_wrapped,
     {"programs: collet_call", "programs: collet_array_read", "programs: collet_array_destroy"}},
    {"written_after_failure", written_after_failure, {"programs: collet_call"}},
    {"unmapped",
     unmapped,
     {"programs: collet_call (called", "programs: collet_array_destroy", "cannot be read"}},
    {"threads_on_rows", threads_on_rows, {NULL}},
    {"right", right, {NULL}},
};
#define CASES (sizeof cases / sizeof *cases)

static int run_case(const char *name, const char *backend)
{
    const char *const settings[] = {"layers=programs", NULL};
    size_t i = 0;
    while (strcmp(cases[i].name, name) != 0)
        i++;
    if (cases[i].run != early_expression) {
        backend_name = backend;
        open_shared(SCALAR_PLUGIN ":" OPENMP_PLUGIN, settings, backend);
        a = floats(cx, 16, 1);
        b = floats(cx, 16, 2);
    }
    cases[i].run();
    return 0;
}

/* Archer, which informs the thread sanitizer about OpenMP, prints this line when OpenMP is used first. */
static void remove_archers_line(char *said)
{
    static const char line[] = "Warning: please export TSAN_OPTIONS='ignore_noninstrumented_modules=1'";
    char *found = strstr(said, line), *end = found ? strchr(found, '\n') : NULL;
    if (end)
        memmove(found, end + 1, strlen(end + 1) + 1);
}

static void faults_are_named(void **state)
{
    static char said[65536];
    for (size_t i = 0; i < 2 * CASES; i++) {
        char command[4096];
        const char *backend = i % 2 ? "cpu_openmp" : "cpu_scalar";
        snprintf(command, sizeof command, "%s '%s' %s %s 2>&1",
                 cases[i / 2].run == early_expression ? "COLLET_LAYERS=programs" : "",
                 (const char *)*state, cases[i / 2].name, backend);
        FILE *child = popen(command, "r"); /* NOLINT(cert-env33-c): this program */
        assert_non_null(child);
        said[fread(said, 1, sizeof said - 1, child)] = '\0';
        remove_archers_line(said);
        int status = pclose(child);
        if (status || (!cases[i / 2].says[0] && *said))
            fail_msg("%s: status %d: %s", command, status, said);
        for (size_t k = 0; k < 3 && cases[i / 2].says[k]; k++)
            assert_contains(said, cases[i / 2].says[k]);
    }
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(faults_are_named, arguments[0])};
    return count == 3 ? run_case(arguments[1], arguments[2])
                      : cmocka_run_group_tests(tests, NULL, NULL);
}
