/* SPDX-License-Identifier: Apache-2.0 */
/* The output and exit status of backend-info. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "json_expect.h"
#include "tool_run.h"

#include <cjson/cJSON.h>
#include <collet/collet.h>
#include <fcntl.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define BAD_PLUGIN COLLET_TEST_ZOO "/zoo_crash_entry.so"

/* "VARIABLE=value" in the child's environment. */
static void set_variable(void *user)
{
    putenv(user);
}

static tool_result info_with(const char *variable, const char *const *args)
{
    const tool_setup setup = {.prepare = set_variable, .user = (void *)(uintptr_t)variable};
    return tool_run("backend-info", args, &setup);
}

#define INFO(...) TOOL("backend-info", __VA_ARGS__)
#define INFO_WITH(variable, ...) info_with(variable, (const char *const[]){__VA_ARGS__, NULL})

/* The object in the list with `key` equal to `value`. */
static const cJSON *find(const cJSON *list, const char *key, const char *value)
{
    const cJSON *object;
    cJSON_ArrayForEach(object, list) if (!strcmp(text_of(object, key), value)) return object;
    fail_msg("no object with %s = %s", key, value);
    return NULL;
}

/* ---- Tests ------------------------------------------------------------------------------- */

static void test_listing(void **state)
{
    tool_result r = tool_run("backend-info", (const char *const[]){NULL}, NULL);
    (void)state;
    tool_expect(&r, 0);
    assert_contains(r.out, "  cpu_scalar  usable         CPU, one thread\n");
    assert_contains(r.out, "* cpu_openmp  usable ");
    assert_contains(r.out, "* is selected by auto. backend-info NAME shows");
    assert_string_equal(r.err, "");
    tool_free(&r);

    /* The list ends with missing requirements and the commands that install them. Commands are printed as the user
     * types them. */
    r = INFO_WITH("COLLET_PLUGIN_DENY=cpu_openmp,opencl,cuda,worker", "--called", "python -m collet");
    tool_expect(&r, 0);
    assert_contains(r.out, "* is selected by auto. python -m collet NAME shows");
    assert_contains(r.out, "Missing, and how to get it (python -m collet --doctor says why):\n");
    assert_contains(r.out, "  a backend that computes on all cores: install the backend cpu_openmp; ");
    tool_free(&r);

    r = INFO_WITH("COLLET_BACKEND=cpu_scalar", NULL);
    tool_expect(&r, 0);
    assert_contains(r.out, "* cpu_scalar  usable ");
    assert_contains(r.out, "  cpu_openmp  usable ");
    assert_contains(r.out, "selected by the setting backend = cpu_scalar (environment)");
    tool_free(&r);

    r = INFO("cpu_scalar");
    tool_expect(&r, 0);
    assert_contains(r.out, "cpu_scalar " COLLET_VERSION ": usable\n");
    assert_contains(r.out, "  plugin interface    2.0\n");
    assert_contains(r.out, "jit no, parallel no, gpu no\n");
    assert_contains(r.out, "  cpu_scalar:0        CPU, one thread\n");
    assert_contains(r.out, COLLET_TEST_PLUGINS "/cpu_scalar.so\n");
    assert_null(strstr(r.out, "cpu_openmp"));
    tool_free(&r);
}

/* COLLET_BACKEND and the argument NAME may name a device, as a program may. A device that a program
 * cannot choose is not marked as selected. */
static void test_named_device(void **state)
{
    static const char *const none[][2] = {
        {"COLLET_BACKEND=worker:none", "there is no backend 'none'"},
        {"COLLET_BACKEND=cpu_scalar:7", "device 7 is out of range"},
        {"COLLET_BACKEND=cpu_scalar,cpu_sclaar", "did you mean 'cpu_scalar'"},
        {"COLLET_BACKEND=cpu_scalar:x", "is not a choice of backend"},
        {"COLLET_BACKEND=cpu_scalar:", "is not a choice of backend"},
    };
    (void)state;
    tool_result r = INFO(NULL);
    assert_contains(r.out, "  worker      by name        name a backend: worker:NAME");
    tool_free(&r);
    r = INFO("--doctor");
    assert_contains(r.out, "  worker: by name\n");
    tool_free(&r);
    r = INFO_WITH("COLLET_BACKEND=worker:cpu_scalar", NULL);
    tool_expect(&r, 0);
    assert_contains(r.out, "* worker      usable         worker:cpu_scalar\n");
    assert_contains(r.out, "selected by the setting backend = worker:cpu_scalar (environment)");
    tool_free(&r);
    r = INFO_WITH("COLLET_BACKEND=worker:none, cpu_scalar", NULL);
    tool_expect(&r, 0);
    assert_contains(r.out, "* cpu_scalar  usable ");
    tool_free(&r);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        r = INFO_WITH(none[i][0], "--json");
        tool_expect(&r, 77);
        assert_contains(r.err, "selects no usable backend: ");
        tool_free(&r);
        r = INFO_WITH(none[i][0], "--env");
        tool_expect(&r, 0);
        tool_free(&r);
        r = INFO_WITH(none[i][0], NULL);
        tool_expect(&r, 77);
        assert_contains(r.out, "selects no usable backend: ");
        assert_contains(r.out, none[i][1]);
        assert_null(strstr(r.out, "* "));
        tool_free(&r);
    }

    r = INFO("worker:cpu_scalar");
    tool_expect(&r, 0);
    assert_contains(r.out, "usable as worker:cpu_scalar\n");
    assert_contains(r.out, "  kernels of cpu_scalar ");
    tool_free(&r);
    r = INFO("worker:cpu_scalar", "--json");
    tool_expect(&r, 0);
    cJSON *json = cJSON_Parse(r.out);
    const cJSON *worker = find(cJSON_GetObjectItem(json, "backends"), "name", "worker");
    assert_string_equal(text_of(worker, "status"), "usable");
    find(cJSON_GetObjectItem(worker, "devices"), "name", "worker:cpu_scalar");
    cJSON_Delete(json);
    tool_free(&r);
    r = INFO("worker:none");
    tool_expect(&r, 77);
    assert_int_equal(strncmp(r.err, "backend-info: worker:none: there is no backend 'none'; ", 54),
                     0);
    assert_contains(r.err, "available: ");
    assert_null(strstr(r.err, "others"));
    assert_ptr_equal(strchr(r.err, '\n'), r.err + strlen(r.err) - 1);
    tool_free(&r);
}

/* On a terminal of 60 columns no line is longer, unless it cannot be broken. The path of the build may have blanks. */
static void test_wrapping(void **state)
{
    struct winsize size = {.ws_row = 24, .ws_col = 60};
    int master, status = -1;
    pid_t child = forkpty(&master, NULL, NULL, &size);
    if (!child) {
        execl(COLLET_TEST_BIN "/backend-info", "backend-info", "--why", "--env", NULL);
        _exit(127);
    }
    if (child < 0) {
        print_message("no pseudo terminal: is /dev/pts mounted?\n");
        skip();
    }
    FILE *terminal = fdopen(master, "r");
    char line[4096], build[] = COLLET_TEST_BIN;
    int32_t lines = 0;
    (void)state;
    *strrchr(build, '/') = '\0';
    assert_non_null(terminal);
    for (; fgets(line, sizeof line, terminal); lines++) {
        size_t length = strcspn(line, "\r\n");
        line[length] = '\0';
        const char *last = strrchr(line, ' ');
        if (length > 60 && last && last - line > 30 && !strstr(line, build))
            fail_msg("%zu columns: %s", length, line);
    }
    fclose(terminal);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(lines > 20);
}

static void test_json(void **state)
{
    tool_result r = INFO("--json");
    cJSON *root = parsed(&r, 0);
    const cJSON *b = find(member(root, "backends"), "name", "cpu_scalar");
    const cJSON *features = member(b, "features");
    (void)state;
    assert_string_equal(text_of(root, "collet"), COLLET_VERSION);
    assert_string_equal(text_of(b, "version"), COLLET_VERSION);
    assert_int_equal(cJSON_GetArraySize(member(b, "abi")), 2);
    assert_int_equal(cJSON_GetArrayItem(member(b, "abi"), 0)->valueint, 2);
    assert_string_equal(text_of(b, "status"), "usable");
    assert_string_equal(text_of(b, "reason"), "");
    assert_true(cJSON_IsFalse(member(features, "jit")));
    assert_true(cJSON_IsFalse(member(features, "parallel")));
    assert_true(cJSON_IsFalse(member(features, "gpu")));
    assert_int_equal((int)number_of(b, "device_count"), 1);
    assert_int_equal(cJSON_GetArraySize(member(b, "devices")), 1);
    text_of(cJSON_GetArrayItem(member(b, "devices"), 0), "name");
    text_of(b, "path");
    number_of(b, "priority");
    assert_true(number_of(b, "kernel_count") > 20);
    assert_true(cJSON_IsObject(member(b, "capabilities")));
    assert_null(cJSON_GetObjectItem(root, "records"));
    assert_null(cJSON_GetObjectItem(root, "settings"));
    cJSON_Delete(root);
}

static void test_name(void **state)
{
    tool_result r = INFO("cpu_scalar", "--json");
    cJSON *root = parsed(&r, 0);
    (void)state;
    assert_int_equal(cJSON_GetArraySize(member(root, "backends")), 1);
    cJSON_Delete(root);

    r = INFO("cpu_scalar:0");
    tool_expect(&r, 0);
    assert_contains(r.out, "cpu_scalar " COLLET_VERSION ": usable\n");
    assert_contains(r.out, "  cpu_scalar:0        CPU, one thread\n");
    tool_free(&r);

    r = INFO("cpu_scalar:0", "--json");
    root = parsed(&r, 0);
    const cJSON *only = cJSON_GetArrayItem(member(root, "backends"), 0);
    assert_string_equal(text_of(only, "name"), "cpu_scalar");
    assert_int_equal(cJSON_GetArraySize(member(only, "devices")), 1);
    cJSON_Delete(root);

    r = INFO("cpu_scalar:1");
    tool_expect(&r, 77);
    assert_contains(r.err, "device 1 is out of range: it has 1 device, numbered from 0");
    tool_free(&r);

    r = INFO("cpu_scalar:x");
    tool_expect(&r, 2);
    assert_contains(r.err, "'cpu_scalar:x' is not a choice of backend");
    tool_free(&r);

    r = INFO("cpu_scalra");
    tool_expect(&r, 2);
    assert_contains(r.err, "there is no backend 'cpu_scalra'; did you mean 'cpu_scalar'");
    assert_contains(r.err, "available: ");
    assert_string_equal(r.out, "");
    tool_free(&r);

    r = INFO("cpu_scalar,cpu_scalar");
    tool_expect(&r, 2);
    assert_contains(r.err, "is not the name of one backend");
    tool_free(&r);
}

static void test_file(void **state)
{
    char text[] = "/tmp/collet-test-XXXXXX", file[64];
    tool_result r = INFO(COLLET_TEST_PLUGINS "/cpu_scalar.so:0");
    (void)state;
    tool_expect(&r, 0);
    assert_contains(r.out, "cpu_scalar " COLLET_VERSION ": usable\n");
    assert_contains(r.out, COLLET_TEST_PLUGINS "/cpu_scalar.so\n");
    tool_free(&r);

    r = INFO(COLLET_TEST_PLUGINS "/cpu_scalar.so", "--json");
    cJSON *root = parsed(&r, 0);
    assert_int_equal(cJSON_GetArraySize(member(root, "backends")), 1);
    cJSON_Delete(root);

    r = INFO(COLLET_TEST_PLUGINS "/cpu_scalar.so:1");
    tool_expect(&r, 77);
    assert_contains(r.err, "device 1 is out of range: it has 1 device, numbered from 0");
    tool_free(&r);

    r = INFO("./nowhere.so");
    tool_expect(&r, 1);
    assert_string_equal(r.err, "backend-info: ./nowhere.so: No such file or directory\n");
    tool_free(&r);

    r = INFO(COLLET_TEST_PLUGINS "/");
    tool_expect(&r, 1);
    assert_contains(r.err, " is not the file of a plugin\n");
    tool_free(&r);

    assert_non_null(mkdtemp(text));
    snprintf(file, sizeof file, "%s/text.so", text);
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fputs("text\n", out);
    fclose(out);
    r = INFO(file);
    tool_expect(&r, 77);
    assert_contains(r.out, "text: unavailable: not an ELF file\n");
    assert_string_equal(r.err, "");
    tool_free(&r);
    unlink(file);
    rmdir(text);
}

static void test_unavailable(void **state)
{
    tool_result r = INFO_WITH("COLLET_PLUGIN_PATH=" BAD_PLUGIN, "zoo_crash_entry");
    (void)state;
    tool_expect(&r, 77);
    assert_contains(r.out, "zoo_crash_entry 1.0: unavailable: ");
    assert_contains(r.out, "the zoo is closed");
    tool_free(&r);

    r = INFO_WITH("COLLET_PLUGIN_PATH=" BAD_PLUGIN, "--json", "--why");
    cJSON *root = parsed(&r, 77);
    const cJSON *b = find(member(root, "backends"), "name", "zoo_crash_entry");
    assert_string_equal(text_of(b, "status"), "unavailable");
    assert_true(strlen(text_of(b, "reason")) > 0);
    assert_int_equal(cJSON_GetArraySize(member(b, "devices")), 0);
    const cJSON *probe = find(member(root, "records"), "stage", "probe");
    assert_true(cJSON_IsFalse(member(probe, "accepted")));
    assert_string_equal(text_of(probe, "path"), BAD_PLUGIN);
    text_of(probe, "code");
    assert_true(number_of(probe, "ms") >= 0);
    cJSON_Delete(root);
}

/* --why also reports refused files, and lists the directories that were searched. */
static void test_refused_files(void **state)
{
    static const char path[] = COLLET_TEST_ZOO "/libzoo_plain_library.so";
    (void)state;
    for (int file = 0; file < 2; file++) {
        tool_result r = INFO_WITH("COLLET_PLUGIN_PATH=" COLLET_TEST_ZOO "/libzoo_plain_library.so",
                                  file ? path : "libzoo_plain_library", "--why");
        tool_expect(&r, 77);
        assert_contains(r.err, "libzoo_plain_library.so is refused: ");
        assert_contains(r.out, "libzoo_plain_library.so\n  policy    passed ");
        assert_contains(r.out, "  manifest  refused  no-manifest ");
        tool_free(&r);
    }
    tool_result r =
        INFO_WITH("COLLET_PLUGIN_PATH=" COLLET_TEST_ZOO "/libzoo_plain_library.so", "--why");
    tool_expect(&r, 77);
    assert_contains(r.out, "no backend was found. Searched:\n  /");
    assert_null(strstr(r.out, "the search path is empty"));
    tool_free(&r);
}

/* The probe of the plugin succeeds, but a device is refused when it is opened. */
static void test_refused_devices(void **state)
{
    tool_result r = INFO_WITH("COLLET_PLUGIN_PATH=" COLLET_TEST_MIXED "/mixed.so", "--why");
    (void)state;
    tool_expect(&r, 0);
    assert_contains(r.out, "mixed:5: device_open set memory to 3");
    assert_null(strstr(r.out, "mixed:0: "));
    tool_free(&r);
    r = INFO_WITH("COLLET_PLUGIN_PATH=" COLLET_TEST_MIXED "/mixed.so", "mixed");
    tool_expect(&r, 0);
    assert_null(strstr(r.out, "device_open"));
    tool_free(&r);
}

static void test_not_tried(void **state)
{
    tool_result r = INFO_WITH("COLLET_PROBE=off", "cpu_scalar", "--json");
    cJSON *root = parsed(&r, 0);
    const cJSON *b = find(member(root, "backends"), "name", "cpu_scalar");
    (void)state;
    assert_string_equal(text_of(b, "status"), "unproven");
    assert_true(cJSON_IsNull(member(b, "capabilities")));
    cJSON_Delete(root);

    r = INFO_WITH("COLLET_PROBE=off", "cpu_scalar");
    tool_expect(&r, 0);
    assert_contains(r.out, "cpu_scalar " COLLET_VERSION ": not tried yet");
    tool_free(&r);
}

static void test_why(void **state)
{
    tool_result r = INFO("cpu_scalar", "--why");
    const char *at;
    (void)state;
    tool_expect(&r, 0);
    at = strstr(r.out, "Steps of the search");
    assert_non_null(at);
    assert_contains(at, COLLET_TEST_PLUGINS "/cpu_scalar.so\n");
    assert_contains(at, "policy    passed");
    assert_contains(at, "manifest  passed");
    assert_contains(at, "probe     passed");
    assert_null(strstr(at, "cpu_openmp"));
    tool_free(&r);
}

static void test_env(void **state)
{
    tool_result r = INFO_WITH("COLLET_BACKEND=cpu_scalar", "--env", "--json");
    cJSON *root = parsed(&r, 0);
    const cJSON *s = find(member(root, "settings"), "key", "backend");
    (void)state;
    assert_string_equal(text_of(s, "variable"), "COLLET_BACKEND");
    assert_string_equal(text_of(s, "default"), "auto");
    assert_string_equal(text_of(s, "value"), "cpu_scalar");
    assert_string_equal(text_of(s, "source"), "environment");
    text_of(s, "type");
    text_of(s, "help");
    s = find(member(root, "settings"), "key", "cpu_openmp.onednn_isa");
    assert_string_equal(text_of(s, "variable"), "");
    assert_string_equal(text_of(s, "type"), "choice");
    assert_contains(text_of(s, "values"), "own SSE41 AVX");
    cJSON_Delete(root);

    r = INFO("--env");
    tool_expect(&r, 0);
    assert_contains(r.out, "COLLET_NUM_THREADS");
    assert_contains(r.out, "cpu_openmp.openblas ");
    assert_contains(r.out, ". path or off, default libopenblas.so.0");
    assert_null(strstr(r.out, "cpu_scalar " COLLET_VERSION));
    tool_free(&r);
}

static void test_nothing_found(void **state)
{
    const char *const none[] = {NULL};
    tool_result r = info_with("COLLET_PLUGIN_PATH=" COLLET_TEST_NOTHING "/plugins", none);
    (void)state;
    tool_expect(&r, 77);
    assert_contains(r.out, "no backend was found");
    assert_contains(r.out, "  " COLLET_TEST_NOTHING "/plugins: ");
    tool_free(&r);

    r = info_with("COLLET_PLUGIN_PATH=+" COLLET_TEST_NOTHING "/plugins:here", none);
    tool_expect(&r, 0);
    assert_contains(r.out, "cpu_scalar");
    assert_contains(r.err, COLLET_TEST_NOTHING "/plugins is ignored: it does not exist\n");
    assert_contains(r.err, "here is ignored: only absolute paths are searched");
    tool_free(&r);
}

static void to_full_disk(void *user)
{
    int full = open("/dev/full", O_WRONLY);
    (void)user;
    dup2(full, STDOUT_FILENO);
}

static void test_statuses(void **state)
{
    tool_result r = INFO("--nonsense");
    const tool_setup full = {.prepare = to_full_disk};
    (void)state;
    tool_expect(&r, 2);
    tool_free(&r);
    r = INFO("cpu_scalar", "cpu_openmp");
    tool_expect(&r, 2);
    assert_contains(r.err, "only one NAME");
    tool_free(&r);
    r = INFO("--version");
    tool_expect(&r, 0);
    assert_contains(r.out, "backend-info " COLLET_VERSION);
    tool_free(&r);
    r = INFO("--help");
    tool_expect(&r, 0);
    assert_contains(r.out, "--why");
    tool_result brief = INFO("-h");
    tool_expect(&brief, 0);
    assert_string_equal(brief.out, r.out);
    tool_free(&brief);
    tool_free(&r);
    r = tool_run("backend-info", (const char *const[]){"--json", NULL}, &full);
    tool_expect(&r, 1);
    assert_contains(r.err, "standard output");
    tool_free(&r);
    r = INFO_WITH("COLLET_CONFIG=" COLLET_TEST_NOTHING "/collet.conf", "--json");
    tool_expect(&r, 1);
    assert_contains(r.err, COLLET_TEST_NOTHING "/collet.conf");
    tool_free(&r);
}

static void test_require_gpu(void **state)
{
    (void)state;
    tool_result r = INFO_WITH("COLLET_PLUGIN_DENY=cuda,opencl", "--require", "gpu");
    tool_expect(&r, 1);
    assert_contains(r.out, "* cpu_openmp  usable ");
    assert_contains(r.err, "no usable backend has a GPU; --doctor lists what is missing\n");
    tool_free(&r);
    r = INFO("--require", "fpu");
    tool_expect(&r, 2);
    assert_contains(r.err, "--require: 'fpu' is not supported; only gpu is");
    tool_free(&r);
}

static void test_export_json(void **state)
{
    char path[] = "/tmp/collet-info-XXXXXX", text[65536];
    int fd = mkstemp(path);
    (void)state;
    assert_true(fd >= 0 && !close(fd));
    tool_result r = INFO("-o", path, "cpu_scalar");
    tool_expect(&r, 1);
    assert_contains(r.err, "already exists: choose another name, or replace it (--force)");
    tool_free(&r);
    r = INFO("-o", path, "cpu_scalar", "--force");
    tool_expect(&r, 0);
    assert_contains(r.out, "cpu_scalar ");
    tool_free(&r);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_int_equal(unlink(path), 0);
    cJSON *root = cJSON_Parse(text);
    assert_string_equal(text_of(member(root, "system"), "name"), "Linux");
    assert_string_equal(text_of(find(member(root, "backends"), "name", "cpu_scalar"), "status"),
                        "usable");
    cJSON_Delete(root);
    r = INFO("-o", "/nowhere/report.json");
    tool_expect(&r, 1);
    assert_contains(r.err, "-o: /nowhere/report.json: ");
    tool_free(&r);
}

/* A cache that cannot be used is reported, because it makes every start slow. */
static void test_cache_that_cannot_be_used(void **state)
{
    char open_to_all[] = "/tmp/collet-cache-XXXXXX", variable[64], file[64], fix[64];
    (void)state;
    assert_non_null(mkdtemp(open_to_all));
    assert_int_equal(chmod(open_to_all, 0755), 0);
    snprintf(variable, sizeof variable, "COLLET_CACHE_DIR=%s", open_to_all);
    snprintf(fix, sizeof fix, "fix:   chmod 700 %s\n", open_to_all);
    tool_result r = INFO_WITH(variable, "--doctor");
    assert_contains(r.out, "cannot be used, so nothing is kept between processes (others have access");
    assert_contains(r.out, fix);
    assert_contains(r.err, "others have access to it");
    tool_free(&r);
    r = INFO_WITH(variable, "--why");
    assert_contains(r.out, "others have access to it");
    tool_free(&r);
    r = INFO_WITH(variable, "--env");
    assert_contains(r.out, "others have");
    tool_free(&r);
    assert_int_equal(chmod(open_to_all, 0700), 0);
    r = INFO_WITH(variable, "--doctor");
    assert_null(strstr(r.out, "the cache"));
    tool_free(&r);
    snprintf(file, sizeof file, "COLLET_CACHE_DIR=%s/file/below", open_to_all);
    snprintf(fix, sizeof fix, "%s/file", open_to_all);
    fclose(fopen(fix, "w"));
    r = INFO_WITH(file, "--doctor");
    assert_contains(r.out, "Not a directory");
    assert_contains(r.out, "fix:   set COLLET_CACHE_DIR to a directory that is yours alone");
    tool_free(&r);
    unlink(fix);
    snprintf(fix, sizeof fix, "rm -rf %s", open_to_all);
    assert_int_equal(system(fix), 0);
}

/* A library that the probe cannot open is reported once. */
static void test_library_that_is_missing(void **state)
{
    char directory[] = "/tmp/collet-conf-XXXXXX", variable[64];
    (void)state;
    assert_non_null(mkdtemp(directory));
    snprintf(variable, sizeof variable, "COLLET_CONFIG=%s/collet.conf", directory);
    const char *path = strchr(variable, '=') + 1;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("cpu_openmp.onednn = /nowhere/libdnnl.so.3\n", file);
    fclose(file);
    tool_result r = INFO_WITH(variable, "--doctor");
    assert_contains(r.out, "missing: onednn for cpu_openmp\n  why:   /nowhere/libdnnl.so.3");
    tool_free(&r);
    unlink(path);
    rmdir(directory);
}

static void test_doctor(void **state)
{
    (void)state;
    tool_result r = INFO_WITH("COLLET_PLUGIN_DENY=cuda,opencl,cpu_openmp", "--doctor");
    tool_expect(&r, 0);
    assert_contains(r.out, "  cpu_scalar: usable, CPU, one thread\n");
    assert_contains(r.out, "missing: the backend cuda\n  why:   ");
    assert_contains(r.out, "\n  fix:   backend-info --why cuda\n");
    assert_contains(r.out, "missing: a backend that computes on all cores\n");
    assert_null(strstr(r.out, "worker for"));
    tool_free(&r);
    r = INFO_WITH("COLLET_PLUGIN_PATH=" BAD_PLUGIN, "--doctor", "--json");
    cJSON *root = parsed(&r, 77);
    const cJSON *first = cJSON_GetArrayItem(member(root, "findings"), 0);
    assert_string_equal(text_of(first, "what"), "any usable backend");
    assert_contains(text_of(first, "why"), ", so /");
    assert_string_equal(text_of(first, "fix"),
                        "unset COLLET_PLUGIN_PATH, or begin it with '+' to search both");
    assert_true(cJSON_GetArraySize(member(root, "findings")) > 1);
    cJSON_Delete(root);
    r = INFO_WITH("COLLET_BACKEND=nosuch", "--doctor");
    tool_expect(&r, 0);
    assert_contains(r.out, "missing: the backend that is chosen\n");
    assert_contains(r.out, "  fix:   set COLLET_BACKEND (the setting backend) to ");
    tool_free(&r);
    setenv("COLLET_CALIBRATION", "on", 1);
    r = INFO_WITH("COLLET_PLUGIN_PATH=+" COLLET_TEST_REMOTE "/remote.so", "--doctor");
    setenv("COLLET_CALIBRATION", "off", 1);
    tool_expect(&r, 0);
    assert_contains(r.out, "missing: a calibration of this machine\n");
    assert_contains(r.out, "  fix:   backend-bench calibrate\n");
    tool_free(&r);
    r = INFO_WITH("COLLET_PLUGIN_PATH=+/usr:/usr", "--doctor");
    assert_null(strstr(r.out, "searched before"));
    tool_free(&r);
    r = INFO("--doctor", "cpu_scalar");
    tool_expect(&r, 2);
    tool_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_require_gpu),
        cmocka_unit_test(test_export_json),
        cmocka_unit_test(test_doctor),
        cmocka_unit_test(test_library_that_is_missing),
        cmocka_unit_test(test_cache_that_cannot_be_used),
        cmocka_unit_test(test_listing),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_name),
        cmocka_unit_test(test_unavailable),
        cmocka_unit_test(test_refused_devices),
        cmocka_unit_test(test_not_tried),
        cmocka_unit_test(test_why),
        cmocka_unit_test(test_env),
        cmocka_unit_test(test_nothing_found),
        cmocka_unit_test(test_statuses),
        cmocka_unit_test(test_named_device),
        cmocka_unit_test(test_refused_files),
        cmocka_unit_test(test_wrapping),
        cmocka_unit_test(test_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
