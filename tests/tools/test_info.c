/* SPDX-License-Identifier: Apache-2.0 */
/* The output and exit status of backend-info. */

#include "json_expect.h"

#include <collet/collet.h>
#include <fcntl.h>
#include <pty.h>
#include <sys/stat.h>
#include <sys/wait.h>

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

TEST(test_listing)
{
    tool_result r = tool_run("backend-info", (const char *const[]){NULL}, NULL);
    EXPECT_OUT(r, 0, "  cpu_scalar  usable         CPU, one thread\n", "* cpu_openmp  usable ",
               "* is selected by auto. backend-info NAME shows");
    assert_string_equal(r.err, "");

    /* The list ends with missing requirements and the commands that install them. Commands are printed as the user
     * types them. */
    r = INFO_WITH("COLLET_PLUGIN_DENY=cpu_openmp,opencl,cuda,worker", "--called", "python -m collet");
    EXPECT_OUT(r, 0, "* is selected by auto. python -m collet NAME shows",
               "Missing, and how to get it (python -m collet --doctor says why):\n",
               "  a backend that computes on all cores: install the backend cpu_openmp; ");

    r = INFO_WITH("COLLET_BACKEND=cpu_scalar", NULL);
    EXPECT_OUT(r, 0, "* cpu_scalar  usable ", "  cpu_openmp  usable ",
               "selected by the setting backend = cpu_scalar (environment)");

    r = INFO("cpu_scalar");
    EXPECT_OUT(r, 0, "cpu_scalar " COLLET_VERSION ": usable\n", "  plugin interface    2.0\n",
               "jit no, parallel no, gpu no\n", "  cpu_scalar:0        CPU, one thread\n",
               COLLET_TEST_PLUGINS "/cpu_scalar.so\n");
    assert_null(strstr(r.out, "cpu_openmp"));
}

/* COLLET_BACKEND and the argument NAME may name a device, like the backend that a program chooses.
 * A device that a program cannot choose is not marked as selected. */
TEST(named_device)
{
    static const char *const none[][2] = {
        {"COLLET_BACKEND=worker:none", "there is no backend 'none'"},
        {"COLLET_BACKEND=cpu_scalar:7", "device 7 is out of range"},
        {"COLLET_BACKEND=cpu_scalar,cpu_sclaar", "did you mean 'cpu_scalar'"},
        {"COLLET_BACKEND=cpu_scalar:x", "is not a choice of backend"},
        {"COLLET_BACKEND=cpu_scalar:", "is not a choice of backend"},
    };
    tool_result r = INFO(NULL);
    assert_contains(r.out, "  worker      by name        name a backend: worker:NAME");
    r = INFO("--doctor");
    assert_contains(r.out, "  worker: by name\n");
    r = INFO_WITH("COLLET_BACKEND=worker:cpu_scalar", NULL);
    EXPECT_OUT(r, 0, "* worker      usable         worker:cpu_scalar\n",
               "selected by the setting backend = worker:cpu_scalar (environment)");
    r = INFO_WITH("COLLET_BACKEND=worker:none, cpu_scalar", NULL);
    EXPECT_OUT(r, 0, "* cpu_scalar  usable ");
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        r = INFO_WITH(none[i][0], "--json");
        EXPECT_ERR(r, 77, "selects no usable backend: ");
        r = INFO_WITH(none[i][0], "--env");
        tool_expect(&r, 0);
        r = INFO_WITH(none[i][0], NULL);
        EXPECT_OUT(r, 77, "selects no usable backend: ", none[i][1]);
        assert_null(strstr(r.out, "* "));
    }

    r = INFO("worker:cpu_scalar");
    EXPECT_OUT(r, 0, "usable as worker:cpu_scalar\n", "  kernels of cpu_scalar ");
    r = INFO("worker:cpu_scalar", "--json");
    tool_expect(&r, 0);
    cJSON *json = cJSON_Parse(r.out);
    const cJSON *worker = find(cJSON_GetObjectItem(json, "backends"), "name", "worker");
    assert_string_equal(text_of(worker, "status"), "usable");
    find(cJSON_GetObjectItem(worker, "devices"), "name", "worker:cpu_scalar");
    cJSON_Delete(json);
    r = INFO("worker:none");
    tool_expect(&r, 77);
    assert_int_equal(strncmp(r.err, "backend-info: worker:none: there is no backend 'none'; ", 54),
                     0);
    assert_contains(r.err, "available: ");
    assert_null(strstr(r.err, "others"));
    assert_ptr_equal(strchr(r.err, '\n'), r.err + strlen(r.err) - 1);
}

/* On a terminal of 60 columns no line is longer than 60 columns, unless it cannot be broken. The path of the build may
 * have blanks. */
TEST(wrapping)
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

TEST(test_json)
{
    tool_result r = INFO("--json");
    OWNED(cJSON) *root = parsed(&r, 0);
    const cJSON *b = find(member(root, "backends"), "name", "cpu_scalar");
    const cJSON *features = member(b, "features");
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
}

TEST(name)
{
    tool_result r = INFO("cpu_scalar", "--json");
    cJSON *root = parsed(&r, 0);
    assert_int_equal(cJSON_GetArraySize(member(root, "backends")), 1);
    cJSON_Delete(root);

    r = INFO("cpu_scalar:0");
    EXPECT_OUT(r, 0, "cpu_scalar " COLLET_VERSION ": usable\n",
               "  cpu_scalar:0        CPU, one thread\n");

    r = INFO("cpu_scalar:0", "--json");
    root = parsed(&r, 0);
    const cJSON *only = cJSON_GetArrayItem(member(root, "backends"), 0);
    assert_string_equal(text_of(only, "name"), "cpu_scalar");
    assert_int_equal(cJSON_GetArraySize(member(only, "devices")), 1);
    cJSON_Delete(root);

    r = INFO("cpu_scalar:1");
    EXPECT_ERR(r, 77, "device 1 is out of range: it has 1 device, numbered from 0");

    r = INFO("cpu_scalar:x");
    EXPECT_ERR(r, 2, "'cpu_scalar:x' is not a choice of backend");

    r = INFO("cpu_scalra");
    EXPECT_ERR(r, 2, "there is no backend 'cpu_scalra'; did you mean 'cpu_scalar'", "available: ");
    assert_string_equal(r.out, "");

    r = INFO("cpu_scalar,cpu_scalar");
    EXPECT_ERR(r, 2, "is not the name of one backend");
}

TEST(test_file)
{
    char text[] = "/tmp/collet-test-XXXXXX", file[64];
    tool_result r = INFO(COLLET_TEST_PLUGINS "/cpu_scalar.so:0");
    EXPECT_OUT(r, 0, "cpu_scalar " COLLET_VERSION ": usable\n",
               COLLET_TEST_PLUGINS "/cpu_scalar.so\n");

    r = INFO(COLLET_TEST_PLUGINS "/cpu_scalar.so", "--json");
    cJSON *root = parsed(&r, 0);
    assert_int_equal(cJSON_GetArraySize(member(root, "backends")), 1);
    cJSON_Delete(root);

    r = INFO(COLLET_TEST_PLUGINS "/cpu_scalar.so:1");
    EXPECT_ERR(r, 77, "device 1 is out of range: it has 1 device, numbered from 0");

    r = INFO("./nowhere.so");
    tool_expect(&r, 1);
    assert_string_equal(r.err, "backend-info: ./nowhere.so: No such file or directory\n");

    r = INFO(COLLET_TEST_PLUGINS "/");
    EXPECT_ERR(r, 1, " is not the file of a plugin\n");

    assert_non_null(mkdtemp(text));
    snprintf(file, sizeof file, "%s/text.so", text);
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fputs("text\n", out);
    fclose(out);
    r = INFO(file);
    EXPECT_OUT(r, 77, "text: unavailable: not an ELF file\n");
    assert_string_equal(r.err, "");
    unlink(file);
    rmdir(text);
}

TEST(unavailable)
{
    tool_result r = INFO_WITH("COLLET_PLUGIN_PATH=" BAD_PLUGIN, "zoo_crash_entry");
    EXPECT_OUT(r, 77, "zoo_crash_entry 1.0: unavailable: ", "the zoo is closed");

    r = INFO_WITH("COLLET_PLUGIN_PATH=" BAD_PLUGIN, "--json", "--why");
    OWNED(cJSON) *root = parsed(&r, 77);
    const cJSON *b = find(member(root, "backends"), "name", "zoo_crash_entry");
    assert_string_equal(text_of(b, "status"), "unavailable");
    assert_true(strlen(text_of(b, "reason")) > 0);
    assert_int_equal(cJSON_GetArraySize(member(b, "devices")), 0);
    const cJSON *probe = find(member(root, "records"), "stage", "probe");
    assert_true(cJSON_IsFalse(member(probe, "accepted")));
    assert_string_equal(text_of(probe, "path"), BAD_PLUGIN);
    text_of(probe, "code");
    assert_true(number_of(probe, "ms") >= 0);
}

/* --why also reports refused files, and lists the directories that were searched. */
TEST(refused_files)
{
    static const char path[] = COLLET_TEST_ZOO "/libzoo_plain_library.so";
    for (int file = 0; file < 2; file++) {
        tool_result r = INFO_WITH("COLLET_PLUGIN_PATH=" COLLET_TEST_ZOO "/libzoo_plain_library.so",
                                  file ? path : "libzoo_plain_library", "--why");
        EXPECT_OUT(r, 77, "libzoo_plain_library.so\n  policy    passed ",
                   "  manifest  refused  no-manifest ");
        assert_contains(r.err, "libzoo_plain_library.so is refused: ");
    }
    tool_result r =
        INFO_WITH("COLLET_PLUGIN_PATH=" COLLET_TEST_ZOO "/libzoo_plain_library.so", "--why");
    EXPECT_OUT(r, 77, "no backend was found. Searched:\n  /");
    assert_null(strstr(r.out, "the search path is empty"));
}

/* The probe of the plugin succeeds, but a device is refused when it is opened. */
TEST(refused_devices)
{
    tool_result r = INFO_WITH("COLLET_PLUGIN_PATH=" COLLET_TEST_MIXED "/mixed.so", "--why");
    EXPECT_OUT(r, 0, "mixed:5: device_open set memory to 3");
    assert_null(strstr(r.out, "mixed:0: "));
    r = INFO_WITH("COLLET_PLUGIN_PATH=" COLLET_TEST_MIXED "/mixed.so", "mixed");
    tool_expect(&r, 0);
    assert_null(strstr(r.out, "device_open"));
}

TEST(not_tried)
{
    tool_result r = INFO_WITH("COLLET_PROBE=off", "cpu_scalar", "--json");
    cJSON *root = parsed(&r, 0);
    const cJSON *b = find(member(root, "backends"), "name", "cpu_scalar");
    assert_string_equal(text_of(b, "status"), "unproven");
    assert_true(cJSON_IsNull(member(b, "capabilities")));
    cJSON_Delete(root);

    r = INFO_WITH("COLLET_PROBE=off", "cpu_scalar");
    EXPECT_OUT(r, 0, "cpu_scalar " COLLET_VERSION ": not tried yet");
}

TEST(why)
{
    tool_result r = INFO("cpu_scalar", "--why");
    const char *at;
    tool_expect(&r, 0);
    at = strstr(r.out, "Steps of the search");
    assert_non_null(at);
    assert_contains(at, COLLET_TEST_PLUGINS "/cpu_scalar.so\n", "policy    passed",
                    "manifest  passed", "probe     passed");
    assert_null(strstr(at, "cpu_openmp"));
}

TEST(test_env)
{
    tool_result r = INFO_WITH("COLLET_BACKEND=cpu_scalar", "--env", "--json");
    cJSON *root = parsed(&r, 0);
    const cJSON *s = find(member(root, "settings"), "key", "backend");
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
    EXPECT_OUT(r, 0, "COLLET_NUM_THREADS", "cpu_openmp.openblas ",
               ". path or off, default libopenblas.so.0");
    assert_null(strstr(r.out, "cpu_scalar " COLLET_VERSION));
}

TEST(nothing_found)
{
    const char *const none[] = {NULL};
    tool_result r = info_with("COLLET_PLUGIN_PATH=" COLLET_TEST_NOTHING "/plugins", none);
    EXPECT_OUT(r, 77, "no backend was found", "  " COLLET_TEST_NOTHING "/plugins: ");

    r = info_with("COLLET_PLUGIN_PATH=+" COLLET_TEST_NOTHING "/plugins:here", none);
    EXPECT_OUT(r, 0, "cpu_scalar");
    assert_contains(r.err, COLLET_TEST_NOTHING "/plugins is ignored: it does not exist\n",
                    "here is ignored: only absolute paths are searched");
}

static void to_full_disk(void *user)
{
    int full = open("/dev/full", O_WRONLY);
    dup2(full, STDOUT_FILENO);
}

TEST(statuses)
{
    tool_result r = INFO("--nonsense");
    const tool_setup full = {.prepare = to_full_disk};
    tool_expect(&r, 2);
    r = INFO("cpu_scalar", "cpu_openmp");
    EXPECT_ERR(r, 2, "only one NAME");
    r = INFO("--version");
    EXPECT_OUT(r, 0, "backend-info " COLLET_VERSION);
    r = INFO("--help");
    EXPECT_OUT(r, 0, "--why");
    tool_result brief = INFO("-h");
    tool_expect(&brief, 0);
    assert_string_equal(brief.out, r.out);
    r = tool_run("backend-info", (const char *const[]){"--json", NULL}, &full);
    EXPECT_ERR(r, 1, "standard output");
    r = INFO_WITH("COLLET_CONFIG=" COLLET_TEST_NOTHING "/collet.conf", "--json");
    EXPECT_ERR(r, 1, COLLET_TEST_NOTHING "/collet.conf");
}

TEST(require_gpu)
{
    tool_result r = INFO_WITH("COLLET_PLUGIN_DENY=cuda,opencl", "--require", "gpu");
    EXPECT_OUT(r, 1, "* cpu_openmp  usable ");
    assert_contains(r.err, "no usable backend has a GPU; --doctor lists what is missing\n");
    r = INFO("--require", "fpu");
    EXPECT_ERR(r, 2, "--require: 'fpu' is not supported; only gpu is");
}

TEST(export_json)
{
    char path[] = "/tmp/collet-info-XXXXXX", text[65536];
    int fd = mkstemp(path);
    assert_true(fd >= 0 && !close(fd));
    tool_result r = INFO("-o", path, "cpu_scalar");
    EXPECT_ERR(r, 1, "already exists: choose another name, or replace it (--force)");
    r = INFO("-o", path, "cpu_scalar", "--force");
    EXPECT_OUT(r, 0, "cpu_scalar ");
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
    EXPECT_ERR(r, 1, "-o: /nowhere/report.json: ");
}

/* A cache that cannot be used is reported, because it makes every start slow. */
TEST(cache_that_cannot_be_used)
{
    char open_to_all[] = "/tmp/collet-cache-XXXXXX", variable[64], file[64], fix[64];
    assert_non_null(mkdtemp(open_to_all));
    assert_int_equal(chmod(open_to_all, 0755), 0);
    snprintf(variable, sizeof variable, "COLLET_CACHE_DIR=%s", open_to_all);
    snprintf(fix, sizeof fix, "fix:   chmod 700 %s\n", open_to_all);
    tool_result r = INFO_WITH(variable, "--doctor");
    assert_contains(r.out, "cannot be used, so nothing is kept between processes (others have access", fix);
    assert_contains(r.err, "others have access to it");
    r = INFO_WITH(variable, "--why");
    assert_contains(r.out, "others have access to it");
    r = INFO_WITH(variable, "--env");
    assert_contains(r.out, "others have");
    assert_int_equal(chmod(open_to_all, 0700), 0);
    r = INFO_WITH(variable, "--doctor");
    assert_null(strstr(r.out, "the cache"));
    snprintf(file, sizeof file, "COLLET_CACHE_DIR=%s/file/below", open_to_all);
    snprintf(fix, sizeof fix, "%s/file", open_to_all);
    fclose(fopen(fix, "w"));
    r = INFO_WITH(file, "--doctor");
    assert_contains(r.out, "Not a directory",
                    "fix:   set COLLET_CACHE_DIR to a directory that is yours alone");
    unlink(fix);
    snprintf(fix, sizeof fix, "rm -rf %s", open_to_all);
    assert_int_equal(system(fix), 0);
}

/* A library that the probe cannot open is reported once. */
TEST(library_that_is_missing)
{
    char directory[] = "/tmp/collet-conf-XXXXXX", variable[64];
    assert_non_null(mkdtemp(directory));
    snprintf(variable, sizeof variable, "COLLET_CONFIG=%s/collet.conf", directory);
    const char *path = strchr(variable, '=') + 1;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("cpu_openmp.onednn = /nowhere/libdnnl.so.3\n", file);
    fclose(file);
    tool_result r = INFO_WITH(variable, "--doctor");
    assert_contains(r.out, "missing: onednn for cpu_openmp\n  why:   /nowhere/libdnnl.so.3");
    unlink(path);
    rmdir(directory);
}

TEST(doctor)
{
    tool_result r = INFO_WITH("COLLET_PLUGIN_DENY=cuda,opencl,cpu_openmp", "--doctor");
    EXPECT_OUT(r, 0, "  cpu_scalar: usable, CPU, one thread\n",
               "missing: the backend cuda\n  why:   ", "\n  fix:   backend-info --why cuda\n",
               "missing: a backend that computes on all cores\n");
    assert_null(strstr(r.out, "worker for"));
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
    EXPECT_OUT(r, 0, "missing: the backend that is chosen\n",
               "  fix:   set COLLET_BACKEND (the setting backend) to ");
    setenv("COLLET_CALIBRATION", "on", 1);
    r = INFO_WITH("COLLET_PLUGIN_PATH=+" COLLET_TEST_REMOTE "/remote.so", "--doctor");
    setenv("COLLET_CALIBRATION", "off", 1);
    EXPECT_OUT(r, 0, "missing: a calibration of this machine\n",
               "  fix:   backend-bench calibrate\n");
    r = INFO_WITH("COLLET_PLUGIN_PATH=+/usr:/usr", "--doctor");
    assert_null(strstr(r.out, "searched before"));
    r = INFO("--doctor", "cpu_scalar");
    tool_expect(&r, 2);
}
