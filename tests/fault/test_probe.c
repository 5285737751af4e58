/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests how libcore interprets the report of a probe, whatever the report contains and however the
 * probe ends. Also tests how libcore interprets the capabilities that a plugin returns.
 */
#include <signal.h>
#include <sys/stat.h>

#include <collet/collet.h>

#include "common/test.h"
#include "plugins/capabilities.h"
#include "plugins/probe.h"

/* ---- Reports --------------------------------------------------------------------------------- */

typedef struct report_case {
    const char *script; /* of the program */
    const char *code, *reason;
} report_case;

#define SAYS(text) "printf '%s\\n' '" text "' >&3"
#define DEVICE                                                                                     \
    "{\\\"jit\\\":false,\\\"parallel\\\":false,\\\"gpu\\\":false,\\\"device_count\\\":1,"          \
    "\\\"devices\\\":[{\\\"name\\\":\\\"d\\\"}]}"
#define REPORT(code, reason, unproven, more)                                                       \
    SAYS("le{\"code\":" code ",\"reason\":" reason ",\"unproven\":" unproven more "}")
#define CAPABILITIES(text) ",\"capabilities\":\"" text "\""
#define FORTY "1234567890123456789012345678901234567890"
#define MALFORMED "exit-in-entry", "ended the process in collet_plugin_entry (status 0)"

static const report_case reports[] = {
    {REPORT("\"ok\"", "\"\"", "false", CAPABILITIES(DEVICE)), "ok", ""},
    {REPORT("\"entry-null\"", "\"so\"", "true", ""), "entry-null", "so"},
    {REPORT("1", "\"so\"", "true", ""), MALFORMED},
    {REPORT("\"entry-null\"", "1", "true", ""), MALFORMED},
    {REPORT("\"entry-null\"", "\"so\"", "1", ""), MALFORMED},
    {REPORT("\"" FORTY "12345678\"", "\"so\"", "true", ""), MALFORMED},
    {REPORT("\"entry-null\"", "\"so\"", "true", CAPABILITIES(DEVICE)), MALFORMED},
    {REPORT("\"ok\"", "\"\"", "false", ""), MALFORMED},
    {REPORT("\"ok\"", "\"\"", "false", CAPABILITIES("{}")), MALFORMED},
    {SAYS("le{\"code\":\"'$(printf %02000d 0)'\"}"), MALFORMED},
    {"printf '%s\\n' \"le{\\\"code\\\":\\\"entry-null\\\",\\\"unproven\\\":true,"
     "\\\"reason\\\":\\\"$(printf %02000d 0)\\\"}\" >&3",
     MALFORMED},
    {SAYS("le{"), MALFORMED},
    {"printf l >&3; exec head -c 3000000 /dev/zero >&3", "crash-in-constructor", "(SIGPIPE)"},
    {"printf 'no  \\n' >&2", "probe-unavailable", "reported nothing; last output: no"},
    {"exit 0", "probe-unavailable", "reported nothing"},
    {"printf v >&3; printf '\\377' >&2; kill -50 $$", "crash-in-vtable", "(SIG?)"},
    {"printf c >&3; kill -ALRM $$", "hang-in-capabilities", "no response after 20000 ms"},
};

static char directory[] = "/tmp/collet-probe-XXXXXX", program[64];

static int set_up(void **state)
{
    if (!mkdtemp(directory))
        return -1;
    snprintf(program, sizeof program, "%s/probe", directory);
    return 0;
}

static int tear_down(void **state)
{
    unlink(program);
    return rmdir(directory);
}

static void run(const report_case *c, int64_t timeout_ms, probe_report *report)
{
    const probe_request request = {
        .program = program, .path = "/plugin.so", .threads = 1, .timeout_ms = timeout_ms};
    collet_error err = {COLLET_OK, ""};
    FILE *file = fopen(program, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", c->script);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(program, 0755), 0);
    assert_int_equal(probe_run(&request, report, 1, &err), COLLET_OK);
}

static void expect(const report_case *c, int64_t timeout_ms)
{
    probe_report report;
    run(c, timeout_ms, &report);
    if (strcmp(report.code, c->code) || !strstr(report.reason, c->reason))
        fail_msg("%s: %s: %s", c->script, report.code, report.reason);
    assert_int_equal(report.capabilities != NULL, !strcmp(c->code, "ok"));
    probe_report_clear(&report);
}

TEST(every_report)
{
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++)
        expect(&reports[i], 20000);
    print_message("%zu reports\n", sizeof reports / sizeof *reports);
}

/* A program that ignores SIGTERM is killed. */
TEST(deaf)
{
    static const report_case c = {
        "trap '' TERM; printf le >&3; exec 3>&-; while :; do sleep 0.01; done", "hang-in-entry",
        "no response after 50 ms"};
    expect(&c, 50);
}

/* If the host ignores SIGCHLD, no process learns how children end. */
TEST(ignored_children)
{
    static const report_case c = {"printf c >&3; echo no >&2; exit 3", "exit-in-capabilities",
                                  "ended the process in its capabilities; last output: no"};
    signal(SIGCHLD, SIG_IGN);
    expect(&c, 20000);
    signal(SIGCHLD, SIG_DFL);
}

/* A plugin must not read the host's standard input. */
TEST(input_is_the_hosts)
{
    static const report_case c = {
        "printf c >&3; read line; echo \"got '$line'\" >&2; exit 3", "exit-in-capabilities",
        "ended the process in its capabilities (status 3); last output: got ''"};
    int ends[2], kept = dup(0);
    char left[8] = "";
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "secret\n", 7), 7);
    assert_int_equal(dup2(ends[0], 0), 0);
    expect(&c, 20000);
    assert_int_equal(dup2(kept, 0), 0);
    assert_int_equal(read(ends[0], left, sizeof left), 7);
    assert_string_equal(left, "secret\n");
    close(kept);
    close(ends[0]);
    close(ends[1]);
}

/* ---- Capabilities ---------------------------------------------------------------------------- */

typedef struct capabilities_case {
    const char *json;
    uint64_t needed;    /* what the plugin states */
    const char *reason; /* "": it is accepted */
} capabilities_case;

#define BOOLEANS "\"jit\":false,\"parallel\":false,\"gpu\":false"
#define NONE "{" BOOLEANS ",\"device_count\":0"
#define ONE "{" BOOLEANS ",\"device_count\":1"

#define CASE(json, reason)                                                                         \
    {                                                                                              \
        json, sizeof(json), reason                                                                 \
    }

static const capabilities_case cases[] = {
    CASE(NONE "}", ""),
    CASE(NONE ",\"devices\":[]}", ""),
    CASE(ONE ",\"devices\":[{\"name\":\"d\"}],\"choices\":{\"a\":\"b\"}}", ""),
    CASE("[]", "not an object"),
    CASE("{", "syntax error"),
    CASE("{\"jit\":1,\"parallel\":false,\"gpu\":false}", "must be booleans"),
    CASE("{\"jit\":true,\"parallel\":1,\"gpu\":false}", "must be booleans"),
    CASE("{\"jit\":true,\"parallel\":true,\"gpu\":1}", "must be booleans"),
    CASE("{" BOOLEANS "}", "device_count must be an integer from 0 to 256"),
    CASE("{" BOOLEANS ",\"device_count\":257}", "device_count must be an integer from 0 to 256"),
    CASE(ONE "}", "devices must be a list of device_count (1) objects"),
    CASE(ONE ",\"devices\":[]}", "devices must be a list of device_count (1) objects"),
    CASE(NONE ",\"devices\":{}}", "devices must be a list of device_count (0) objects"),
    CASE(ONE ",\"devices\":[1]}", "every device must be an object"),
    CASE(ONE ",\"devices\":[{\"name\":1}]}", "every device must be an object"),
    CASE(NONE ",\"choices\":1}", "choices must be an object"),
    CASE(NONE ",\"lasting\":1}", "lasting must be a boolean"),
    CASE(NONE ",\"choices\":{\"a\":1}}", "every choice must be a string"),
    {NONE "}", CAPABILITIES_MAX_BYTES + 1, "1 to 262144 are allowed"},
    {NONE "}", 4, "the text has no NUL within its 4 bytes"},
    {NONE "}", 100000, "the text needs more bytes at each call"},
    {"", 0, "0 bytes needed"},
    CASE(NONE ",\"a\":\"\x80\\n\\u0001\\u0085\\u00e4\\u0041\\\\\"}\x80", "text follows"),
    CASE(NONE ",\"a\":\"\\u00g0\"}", "incomplete \\u in a string"),
    CASE(NONE ",\"a\":\"\\", "syntax error"),
    CASE(NONE ",\"a\":\"\x01\"}", "a control character"),
};

static const capabilities_case *current;
static uint64_t calls;

static collet_status give(const collet_plugin *self, char *json, uint64_t capacity,
                          uint64_t *needed, const collet_host *host, collet_error *err)
{
    size_t bytes = strlen(current->json) + 1;
    *needed = current->needed > bytes ? current->needed + calls++ : current->needed;
    memcpy(json, current->json, bytes < capacity ? bytes : capacity);
    return COLLET_OK;
}

static collet_status fail_silently(const collet_plugin *self, char *json, uint64_t capacity,
                                   uint64_t *needed, const collet_host *host, collet_error *err)
{
    return COLLET_FAILED;
}

/* Returns the capabilities as libcore stores them, or "" if it refuses them. The caller frees
 * them. */
static char *got(const capabilities_case *c)
{
    static const collet_plugin plugin = {.capabilities = give};
    refusal why = {.text = ""};
    char *json = NULL;
    current = c;
    calls = 0;
    collet_status status = capabilities_get(&plugin, NULL, &json, &why);
    if (status != (c->reason[0] ? COLLET_FORMAT : COLLET_OK) || !strstr(why.text, c->reason))
        fail_msg("%s: status %d (%s)", c->json, status, why.text);
    return json;
}

TEST(every_capability)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        free(got(&cases[i]));
    print_message("%zu capabilities\n", sizeof cases / sizeof *cases);
}

/* Control characters and bytes that are not UTF-8 are replaced. */
TEST(replaced_characters)
{
    static const capabilities_case c = CASE(
        NONE ",\"a\":\"\x80\\n\\u0001\\u0085\\u00e4\\u0041\\u00a0\\u2000\\u202E\xe2\x80\xae\"}",
        "");
    FREED(char) *json = got(&c);
    assert_string_equal(json,
                        NONE ",\"a\":\"?  \\u003f\\u003f\\u00e4\\u0041\\u00a0\\u2000\\u003f???\"}");
}

TEST(no_reason)
{
    static const collet_plugin plugin = {.capabilities = fail_silently};
    refusal why;
    char *json;
    assert_error(capabilities_get(&plugin, NULL, &json, &why), COLLET_UNAVAILABLE, why,
                 "no reason given");
}

TEST(long_capabilities)
{
    static char text[CAPABILITIES_MAX_BYTES + 2];
    collet_error err = {COLLET_OK, ""};
    memset(text, ' ', sizeof text - 1);
    assert_error(capabilities_verify(text, NULL, NULL, &err), COLLET_FORMAT, err,
                 "262145 bytes; at most 262144 are allowed");
}

TEST_GROUP(set_up, tear_down)
