/* SPDX-License-Identifier: Apache-2.0 */
/* backend-check must fail every defect of the broken plugin for the right reason. */

#include "common/test.h"

#include <sys/wait.h>

#include <cjson/cJSON.h>

OWNS(cJSON, cJSON_Delete)

typedef struct expectation {
    const char *op, *sig;
    const char *reason; /* part of the reported reason; NULL: the row passes */
    const char *other;  /* another part, or NULL */
} expectation;

static const expectation expectations[] = {
    {"add", "d:dd", NULL, NULL},
    {"copy", "f:f", NULL, NULL},
    {"copy", "d:d", NULL, NULL},
    {"fill", "f:", "outside the elements of the outputs was changed", "in a gap"},
    {"fill", "d:", "more threads than there were", NULL},
    {"copy", "f:d", "the bits must be equal", NULL},
    {"copy", "A:l", "the bits must be equal", "<- i64"},
    {"copy", "I:I", "unaligned", "the bits must be equal"},
    {"copy", "l:l", "the bits must be equal", NULL},
    {"copy", "i:i", "in place", "got 0"},
    {"add", "f:ff", "add f32(33)", "output 0 [32]"},
    {"sub", "f:ff", "outside the elements of the outputs was changed", "after it"},
    {"sub", "d:dd", "the call was refused but output 0 was written", "f64(17)"},
    {"mul", "f:ff", "conduct:", "control word was changed"},
    {"mul", "d:dd", "the call failed: COLLET_FAILED", "f64(1000)"},
    {"div", "f:ff", "reversed", "the bits must be equal"},
    {"div", "d:dd", "an error was logged", "broken.undeclared"},
    {"neg", "f:f", "the umask was changed", NULL},
    {"exp", "f:f", "value is off by", "ulp, the limit is 1"},
    {"exp", "d:d", "refused every case", NULL},
    {"log", "f:f", "got -inf", NULL},
    {"sqrt", "f:f", "expected -0, got 0", NULL},
    {"transpose", "f:f", "perm=1,2,0", "the bits must be equal"},
    {"transpose", "d:d", "ended by signal 6", "f64(64,64)"},
    {"transpose", "i:i", "the process exited with status 0 in the middle of a call", "(64,64)"},
    {"transpose", "a:a", "did not return in time", "(64,64)"},
    {"sum", "f:f", "of the sum of magnitudes", "positive"},
    {"sum", "d:d", "expected nan", "special values"},
    {"min", "f:f", "expected nan", "special values"},
    {"min", "d:d", "expected -0, got 0", "zeros of both signs"},
    {"matmul", "f:ff", "got nan", NULL},
    {"matmul", "d:dd", "transposed", "of sum |a b|"},
    {"lu", "iddi:d", "residual is", "|L| |U|"},
    {"lu", "iffi:f", "info is 0, but must be 1", "zero"},
    {"solve", "di:dd", "info is 0, but must be 1", "zero"},
    {"solve", "fi:ff", "backward error is", "f32(33,33)"},
    {"qr", "dd:d", "is negative", "R[0,0]"},
    {"qr", "ff:f", "orthogonality is", NULL},
    {"svd", "dddi:d", "are not descending", NULL},
    {"svd", "fffi:f", "orthogonality is", "rank deficient"},
    {"eigh", "ddi:d", "residual is", "of n u |A|"},
    {"eigh", "ffi:f", "info is 0, but must be 1", "not finite"},
    {"eig", "zzi:z", "trace is", NULL},
    {"cholesky", "di:d", "L[0,1] is not 0", NULL},
    {"cholesky", "fi:f", "expected nan, got 0", "zero"},
    {"fft", "c:c", "inverse", "of eps (1 + log2 N)"},
    {"fft", "z:z", "the outputs of transform 0: the error is", "c128"},
    {"fft", "d:z", "the outputs of transform 0: the error is", "f64(1) <- c128(1)"},
    {"fftshift", "f:f", "inverse", "the bits must be equal"},
    {"com", "d:dd", "expected nan, got 0", NULL},
    {"inertia", "d:ddd", "of sum m d.d", NULL},
    {"cross_sum", "d:dddd", "memory of input 1", NULL},
    {"principal_axes", "dd:dd", "flipped", NULL},
    {"euler_zyz", "d:d", "output 0 [0,2]", "ulp"},
    {"tilt", "d:dd", "almost parallel", "of 90 degrees"},
    {"angular_velocity", "di:dd", "one moment zero", "output 1 [0]: expected 1, got 0"},
    {"decompose", "dd:dd", "some axes zero", "got nan"},
    {"magnitude", "d:d", "whose squares overflow", "got inf"},
    {"time_derivative", "di:dd", "(|x1| + |x0|) / |t1 - t0|", NULL},
    {"kinetic", "d:ddd", "bytes were printed, 'kinetic: done'", NULL},
    {"gyration", "ddd:ddl", "the signal mask was changed", NULL},
    {"rmsd", "dd:fffl", "the locale was changed from 'C'", NULL},
    {"rmsd", "dd:dddl", "not a proper rotation", NULL},
    {"ternary_quantize", "afi:f", "expected 0, got 1", NULL},
    {"ternary_pack", "Ai:af", "any codes: output 1", "expected 1, got 0"},
    {"ternary_unpack", "afi:A", "any codes: output 0", "expected 0, got 2"},
    {"ternary_dot", "i:AA", "expected 4081, got -271", "weights of a row equal"},
    {"ternary_matmul", "i:AA", "weights of a row equal", "the bits must be equal"},
    {"ternary_matmul", "i:Aa", "expected -128, got -127", NULL},
    {"ternary_linear", "f:Afff", "expected nan", "relu; some x not finite"},
};
#define COUNT (sizeof expectations / sizeof *expectations)

static cJSON *report; /* the JSON of backend-check for the broken plugin */

/* Returns the JSON of one run; sets its exit status. */
static cJSON *run(const char *command, int *status)
{
    FILE *pipe = popen(command, "r");
    char *text = malloc(1 << 20);
    assert_non_null(pipe);
    assert_non_null(text);
    size_t length = fread(text, 1, (1 << 20) - 1, pipe);
    text[length] = '\0';
    int ended = pclose(pipe);
    assert_true(WIFEXITED(ended));
    *status = WEXITSTATUS(ended);
    cJSON *json = cJSON_Parse(text);
    if (!json)
        print_error("backend-check printed: %s\n", text);
    free(text);
    assert_non_null(json);
    return json;
}

static int check_broken(void **state)
{
    int status;
    report = run(COLLET_TEST_CHECK " --json --quick --timeout 3 " COLLET_TEST_BROKEN " 2>/dev/null",
                 &status);
    assert_int_equal(status, 1);
    return 0;
}

static int forget(void **state)
{
    cJSON_Delete(report);
    return 0;
}

static const char *text_of(const cJSON *object, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItem(object, name));
}

static const cJSON *row_of(const char *op, const char *sig)
{
    const cJSON *row = cJSON_GetObjectItem(report, "rows")->child;
    while (row && (strcmp(text_of(row, "op"), op) || strcmp(text_of(row, "sig"), sig)))
        row = row->next;
    return row;
}

static void each_for_its_reason(void **state)
{
    const expectation *e = *state;
    const cJSON *row = row_of(e->op, e->sig);
    assert_non_null(row);
    const char *status = text_of(row, "status");
    const char *reason = text_of(row, "reason");
    if (!e->reason) {
        assert_string_equal(status, "pass");
        return;
    }
    assert_string_equal(status, "fail");
    assert_non_null(reason);
#ifdef __SANITIZE_ADDRESS__
    if (strstr(reason,
               "the process exited with status")) /* the sanitizer saw the fault before the check */
        return;
#endif
    if (!strstr(reason, e->reason) || (e->other && !strstr(reason, e->other)))
        fail_msg("%s %s: the reason should name '%s' and '%s': %s", e->op, e->sig, e->reason,
                 e->other ? e->other : "", reason);
}

static void every_row_is_expected(void **state)
{
    /* The kernel of `observables` ends by a signal or by a sanitizer's exit, so the reported reason varies. */
    const cJSON *row = row_of("observables", "ddddd:ddddl");
    assert_non_null(row);
    assert_string_equal(text_of(row, "status"), "fail");
    size_t count = 0; /* number of rows with a signature; checks of slots have no signature */
    for (row = cJSON_GetObjectItem(report, "rows")->child; row; row = row->next)
        count += *text_of(row, "sig") != '\0';
    assert_int_equal(count, COUNT + 1);
}

/* The command printed for a failure reproduces only that failure. */
static void a_case_runs_again(void **state)
{
    char command[1024];
    int status;
    const cJSON *row = row_of("add", "f:ff");
    int number = (int)cJSON_GetNumberValue(cJSON_GetObjectItem(row, "first_case"));
    snprintf(command, sizeof command, "%s --json %s --op add --sig f:ff --case %d --seed 1",
             COLLET_TEST_CHECK, COLLET_TEST_BROKEN, number);
    cJSON *json = run(command, &status);
    const cJSON *again = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "rows"), 0);
    assert_int_equal(status, 1);
    assert_int_equal((int)cJSON_GetNumberValue(cJSON_GetObjectItem(again, "cases")), 1);
    assert_string_equal(text_of(again, "reason"), text_of(row, "reason"));
    cJSON_Delete(json);
    assert_int_equal(system("'" COLLET_TEST_CHECK
                            "' cpu_scalar --op add --sig d:dd --case 0 | grep -q "
                            "'1 row passed, 0 failed, 0 skipped; 1 case in'"),
                     0);
}

#define VENDOR COLLET_TEST_REMOTE "/remote.so"

/* A kernel without a reference is never a PASS. */
static void a_vendors_kernel_is_skipped(void **state)
{
    int status;
    OWNED(cJSON) *json = run(COLLET_TEST_CHECK " --json --op remote.plus " VENDOR, &status);
    const cJSON *row = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "rows"), 0);
    assert_int_equal(status, 0);
    assert_string_equal(text_of(row, "op"), "remote.plus");
    assert_string_equal(text_of(row, "status"), "skip");
    assert_contains(text_of(row, "reason"), "no oracle");
    assert_int_equal((int)cJSON_GetNumberValue(cJSON_GetObjectItem(json, "passed")), 0);
}

static void absent_hardware_is_skipped(void **state)
{
    int status;
    OWNED(cJSON) *json = run(COLLET_TEST_CHECK " --json " COLLET_TEST_ABSENT, &status);
    const char *reason = text_of(json, "reason");
    assert_int_equal(status, 77);
    assert_int_equal((int)cJSON_GetNumberValue(cJSON_GetObjectItem(json, "passed")), 0);
    assert_non_null(reason);
    assert_contains(reason, "the card is in another machine");
}

static int status_of(const char *arguments)
{
    char command[1024];
    snprintf(command, sizeof command, "%s %s >/dev/null 2>&1", COLLET_TEST_CHECK, arguments);
    int ended = system(command);
    assert_true(WIFEXITED(ended));
    return WEXITSTATUS(ended);
}

static void exit_statuses(void **state)
{
    assert_int_equal(status_of(COLLET_TEST_BROKEN " --op add --sig d:dd"), 0);
    assert_int_equal(status_of(COLLET_TEST_BROKEN " --op add --sig f:ff"), 1);
    assert_int_equal(status_of("--list"), 0);
    assert_int_equal(status_of("--version"), 0);
    assert_int_equal(status_of("-h"), 0);
    assert_int_equal(status_of(""), 2);
    assert_int_equal(status_of("--no-such-option"), 2);
    assert_int_equal(status_of(COLLET_TEST_BROKEN " --case x"), 2);
    assert_int_equal(status_of(COLLET_TEST_BROKEN " --op nonsense"), 2);
    assert_int_equal(status_of("/no/such/plugin.so"), 1);
    assert_int_equal(status_of(COLLET_TEST_CHECK "/"), 1);
    assert_int_equal(status_of("no_such_backend"), 2);
    /* A report that cannot be written is an error. */
    int ended = system("'" COLLET_TEST_CHECK "' cpu_scalar --op add >/dev/full 2>/dev/null");
    assert_int_equal(WEXITSTATUS(ended), 1);
}

static void expect(const char *environment, const char *arguments, int status, const char *part)
{
    char command[1024], text[8192];
    snprintf(command, sizeof command, "%s %s %s 2>&1", environment, COLLET_TEST_CHECK, arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    text[fread(text, 1, sizeof text - 1, pipe)] = '\0';
    int ended = pclose(pipe);
    if (!WIFEXITED(ended) || WEXITSTATUS(ended) != status || !strstr(text, part))
        fail_msg("%s: expected status %d and '%s', got %d and '%s'", arguments, status, part,
                 WEXITSTATUS(ended), text);
}

static void a_refused_file_gets_one_line(void **state)
{
    expect("", COLLET_TEST_NO_PLUGIN, 1, "backend-check: no_plugin: not an ELF file\n");
    expect("", COLLET_TEST_NO_PLUGIN " 2>&1 | wc -l", 0, "1\n");
}

static void a_filter_that_selects_nothing(void **state)
{
    expect("", COLLET_TEST_BROKEN " --op ad", 2, "there is no op 'ad'; the nearest is add");
    expect("", VENDOR " --op matmul", 2, "remote has no kernel matmul");
    expect("", COLLET_TEST_BROKEN " --op add --sig h:hh", 2, "'h:hh', only f:ff d:dd");
    expect("", COLLET_TEST_BROKEN " --sig ffff", 2, "no kernel with the signature 'ffff'");
    expect("", COLLET_TEST_BROKEN " --op add --sig f:ff --case 99999", 2, "cases 0 to ");
    expect("", VENDOR " --op remote.plus --case 0", 2, "have no cases");
    expect("", COLLET_TEST_BROKEN " --signatures 0", 2, "--signatures 0");
}

/* Without collet-probe the check looks for the device in its own process. */
static void absent_hardware_without_a_probe(void **state)
{
    expect("COLLET_PROBE=off", COLLET_TEST_ABSENT, 77, "the card is in another machine");
}

static void warnings_of_the_plugin_are_printed(void **state)
{
    expect("", VENDOR " --op remote.plus", 0, "backend-check: remote: opening device 0");
}

/* The named backend is checked regardless of COLLET_BACKEND. Unknown names get a suggestion. */
static void the_named_backend_is_checked(void **state)
{
    int status;
    setenv("COLLET_BACKEND", "no_such_backend", 1);
    assert_int_equal(status_of(COLLET_TEST_BROKEN " --op add --sig d:dd"), 0);
    assert_int_equal(status_of("cpu_scalar --op add --sig d:dd --quick"), 0);
    /* backend-check tests the kernels and the slots of a named device. */
    assert_int_equal(status_of("worker:cpu_scalar --op add --sig d:dd --quick"), 0);
    assert_int_equal(status_of("worker:cpu_scalar:0 --verbs --op device"), 0);
    assert_int_equal(status_of("worker:no_such_backend --op add"), 1);
    assert_int_equal(status_of("worker: --op add"), 2);
    unsetenv("COLLET_BACKEND");
    OWNED(cJSON) *json = run(COLLET_TEST_CHECK " --json cpu_sclaar 2>/dev/null", &status);
    assert_int_equal(status, 2);
    assert_contains(text_of(json, "reason"), "did you mean 'cpu_scalar'; available: ");
}

int main(void)
{
    struct CMUnitTest tests[COUNT + 10];
    static char names[COUNT][64];
    for (size_t i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof names[i], "%s %s", expectations[i].op, expectations[i].sig);
        tests[i] = (struct CMUnitTest){.name = names[i],
                                       .test_func = each_for_its_reason,
                                       .initial_state = (void *)(uintptr_t)&expectations[i]};
    }
    tests[COUNT] = (struct CMUnitTest)cmocka_unit_test(every_row_is_expected);
    tests[COUNT + 1] = (struct CMUnitTest)cmocka_unit_test(a_case_runs_again);
    tests[COUNT + 2] = (struct CMUnitTest)cmocka_unit_test(exit_statuses);
    tests[COUNT + 3] = (struct CMUnitTest)cmocka_unit_test(a_vendors_kernel_is_skipped);
    tests[COUNT + 4] = (struct CMUnitTest)cmocka_unit_test(absent_hardware_is_skipped);
    tests[COUNT + 5] = (struct CMUnitTest)cmocka_unit_test(the_named_backend_is_checked);
    tests[COUNT + 6] = (struct CMUnitTest)cmocka_unit_test(a_filter_that_selects_nothing);
    tests[COUNT + 7] = (struct CMUnitTest)cmocka_unit_test(absent_hardware_without_a_probe);
    tests[COUNT + 8] = (struct CMUnitTest)cmocka_unit_test(warnings_of_the_plugin_are_printed);
    tests[COUNT + 9] = (struct CMUnitTest)cmocka_unit_test(a_refused_file_gets_one_line);
    return cmocka_run_group_tests(tests, check_broken, forget);
}
