/* SPDX-License-Identifier: Apache-2.0 */
/* Backend selection: the order of sources, and the errors of unusable choices. */
#include <sys/stat.h>

#include "common/support.h"

#if defined(__x86_64__)
#define OWN_LEVEL "x86-64-v2"
#define OTHER_LEVEL "armv8"
#else
#define OWN_LEVEL "armv8"
#define OTHER_LEVEL "x86-64-v3"
#endif

typedef struct place {
    char directory[64];
    char file[96];   /* configuration */
    char broken[96]; /* an empty file where a plugin should be */
    char path[512];  /* plugin path: broken, remote, scalar */
} place;

static int set_up(void **state)
{
    place *p = calloc(1, sizeof *p);
    if (!p)
        return -1;
    strcpy(p->directory, "/tmp/collet-select-XXXXXX");
    if (!mkdtemp(p->directory))
        return -1;
    snprintf(p->file, sizeof p->file, "%s/collet.conf", p->directory);
    snprintf(p->broken, sizeof p->broken, "%s/cuda.so", p->directory);
    snprintf(p->path, sizeof p->path, "%s:%s:%s", p->broken, REMOTE_PLUGIN, SCALAR_PLUGIN);
    FILE *file = fopen(p->broken, "w");
    if (!file)
        return -1;
    fclose(file);
    unsetenv("COLLET_BACKEND");
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    place *p = *state;
    unlink(p->file);
    unlink(p->broken);
    rmdir(p->directory);
    unsetenv("COLLET_BACKEND");
    free(p);
    return 0;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static collet_status create(const place *p, const char *backend, const char *const *settings,
                            collet_runtime **rt, collet_error *err)
{
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .plugin_path = p->path,
                                      .config_file = access(p->file, F_OK) ? NULL : p->file,
                                      .backend = backend,
                                      .settings = settings};
    return collet_runtime_create(rt, &options, err);
}

static void assert_choice(const place *p, const char *backend, const char *expected)
{
    OWNED(collet_runtime) *rt = NULL;
    collet_error err;
    assert_int_equal(create(p, backend, NULL, &rt, &err), COLLET_OK);
    OWNED(collet_context) *cx = context_of(rt);
    assert_string_equal(collet_get_backend(cx), expected);
}

/* file < environment < program's option < collet_set_backend */
TEST_WITH(authority, set_up, tear_down)
{
    const place *p = *state;
    assert_choice(p, NULL, "auto");
    write_file(p->file, "# mine\nbackend = cpu_scalar   # slow and sure\n");
    assert_choice(p, NULL, "cpu_scalar");
    setenv("COLLET_BACKEND", "remote", 1);
    assert_choice(p, NULL, "remote");
    assert_choice(p, "remote:1", "remote:1");
    collet_runtime *rt = NULL;
    collet_error err;
    assert_int_equal(create(p, "remote:1", NULL, &rt, &err), COLLET_OK);
    collet_context *cx = context_of(rt);
    assert_ok(cx, collet_set_backend(cx, "cpu_scalar"));
    collet_array *a = floats(cx, 4, 1), *c = empty_floats(cx, 4);
    assert_ok(cx, collet_op_add(cx, c, a, a));
    assert_string_equal(collet_last_backend(cx), "cpu_scalar");
    collet_array_destroy(a);
    collet_array_destroy(c);
    collet_context_destroy(cx);
    collet_runtime_destroy(rt);
    unsetenv("COLLET_BACKEND");
}

TEST_WITH(unknown_names_get_a_suggestion, set_up, tear_down)
{
    const place *p = *state;
    OWNED(collet_runtime) *rt = NULL;
    collet_error err;
    assert_int_equal(create(p, "cpu_scalar", NULL, &rt, &err), COLLET_OK);
    OWNED(collet_context) *cx = context_of(rt);
    assert_status(cx, collet_set_backend(cx, "cpu_sclaar"), COLLET_UNKNOWN_BACKEND,
                  "there is no backend 'cpu_sclaar'", "did you mean 'cpu_scalar'",
                  "available: cpu_scalar, remote", "not usable: cuda");
    assert_string_equal(collet_get_backend(cx), "cpu_scalar");
    assert_status(cx, collet_set_backend(cx, "quantum"), COLLET_UNKNOWN_BACKEND);
    assert_null(strstr(collet_last_error(cx), "did you mean"));
}

TEST_WITH(unusable_backends_get_their_reason, set_up, tear_down)
{
    const place *p = *state;
    OWNED(collet_runtime) *rt = NULL;
    OWNED(collet_context) *cx = NULL;
    collet_error err;
    assert_int_equal(create(p, "cuda", NULL, &rt, &err), COLLET_OK);
    assert_error(collet_context_create(rt, &cx, &err), COLLET_UNAVAILABLE, err,
                 "the backend 'cuda' cannot be used",
                 "; others available: cpu_scalar, remote (backend-info --why");
    assert_null(strstr(err.text, "not usable"));
    collet_runtime_destroy(rt);
    assert_int_equal(create(p, NULL, NULL, &rt, &err), COLLET_OK);
    cx = context_of(rt);
    assert_status(cx, collet_set_backend(cx, "remote:2"), COLLET_UNAVAILABLE,
                  "device 2 is out of range: it has 2 devices, numbered from 0",
                  "; others available: cpu_scalar; not usable: cuda");
    const char *const wrong[] = {"", ",", "remote,", "remote:", "remote:x", "remote:-1", ":1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_status(cx, collet_set_backend(cx, wrong[i]), COLLET_UNKNOWN_BACKEND);
    assert_status(cx, collet_set_backend(cx, NULL), COLLET_INVALID);
    assert_string_equal(collet_get_backend(cx), "auto");
}

static void count_warning(void *user, int32_t level, const char *text)
{
    if (level == COLLET_LOG_WARNING && strstr(text, "skipped") && strstr(text, "'cuda'"))
        ++*(int *)user;
}

/* A list skips unusable backends with a warning; unknown names are errors. */
TEST_WITH(a_list_is_an_order_of_preference, set_up, tear_down)
{
    const place *p = *state;
    int warnings = 0;
    OWNED(collet_runtime) *rt = NULL;
    collet_error err;
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .plugin_path = p->path,
                                      .log = count_warning,
                                      .log_user = &warnings};
    assert_int_equal(collet_runtime_create(&rt, &options, &err), COLLET_OK);
    OWNED(collet_context) *cx = context_of(rt);
    assert_ok(cx, collet_set_backend(cx, "cuda, remote:1,cpu_scalar"));
    assert_int_equal(warnings, 1);
    collet_context *other = context_of(rt);
    assert_ok(other, collet_set_backend(other, "cuda,cpu_scalar"));
    assert_int_equal(warnings, 1);
    collet_context_destroy(other);
    OWNED(collet_array) *a = floats(cx, 4, 1), *c = empty_floats(cx, 4);
    assert_ok(cx, collet_op_add(cx, c, a, a));
    assert_string_equal(collet_last_backend(cx), "remote");
    assert_status(cx, collet_set_backend(cx, "cuda,remote:7"), COLLET_UNAVAILABLE,
                  "the backend 'cuda' cannot be used");
    assert_status(cx, collet_set_backend(cx, "cuda,remtoe"), COLLET_UNKNOWN_BACKEND,
                  "did you mean 'remote'");
    assert_string_equal(collet_get_backend(cx), "cuda, remote:1,cpu_scalar");
}

TEST_WITH(the_environment_is_checked_too, set_up, tear_down)
{
    const place *p = *state;
    collet_runtime *rt = NULL;
    collet_context *cx = NULL;
    collet_error err;
    setenv("COLLET_BACKEND", "nonesuch", 1);
    assert_int_equal(create(p, NULL, NULL, &rt, &err), COLLET_OK);
    assert_error(collet_context_create(rt, &cx, &err), COLLET_UNKNOWN_BACKEND, err, "'nonesuch'");
    collet_runtime_destroy(rt);
    unsetenv("COLLET_BACKEND");
}

TEST_WITH(backends_are_listed_in_order_of_preference, set_up, tear_down)
{
    const char *const names[] = {"cpu_scalar", "remote", "cuda"};
    const int states[] = {COLLET_BACKEND_USABLE, COLLET_BACKEND_USABLE, COLLET_BACKEND_UNAVAILABLE};
    const place *p = *state;
    OWNED(collet_runtime) *rt = NULL;
    collet_error err;
    assert_int_equal(create(p, NULL, NULL, &rt, &err), COLLET_OK);
    assert_int_equal(collet_backend_count(rt), 3);
    for (size_t i = 0; i < 3; i++) {
        collet_backend_info info = {.struct_size = sizeof info};
        assert_int_equal(collet_backend_info_at(rt, &info, i, NULL), COLLET_OK);
        assert_string_equal(info.name, names[i]);
        assert_int_equal(info.state, states[i]);
        assert_int_equal(info.device_count, i == 0 ? 1 : i == 1 ? 2 : 0);
        assert_int_equal(*info.reason != 0, i == 2);
    }
    collet_backend_info info = {.struct_size = sizeof info};
    assert_int_equal(collet_backend_info_at(rt, &info, 3, NULL), COLLET_NOT_FOUND);
    info.struct_size = 0;
    assert_int_equal(collet_backend_info_at(rt, &info, 0, NULL), COLLET_INVALID);
    collet_runtime_destroy(rt);
    /* With equal priority the backend whose probe succeeded is chosen. */
    const collet_runtime_options zoo = {.struct_size = sizeof zoo,
                                        .plugin_path = COLLET_TEST_ZOO
                                        "/zoo_entry_null.so:" COLLET_TEST_ZOO "/zoo_good.so"};
    assert_int_equal(collet_runtime_create(&rt, &zoo, &err), COLLET_OK);
    info.struct_size = sizeof info;
    assert_int_equal(collet_backend_info_at(rt, &info, 0, NULL), COLLET_OK);
    assert_string_equal(info.name, "zoo_good");
    assert_int_equal(collet_backend_info_at(rt, &info, 1, NULL), COLLET_OK);
    assert_string_equal(info.name, "zoo_entry_null");
    assert_int_equal(info.state, COLLET_BACKEND_UNAVAILABLE);
}

/* With probing off, a plugin's code first runs when a call needs the plugin. Then the plugin works or reports the
 * reason why it does not. */
TEST_WITH(unproven_backends_are_tried_at_first_use, set_up, tear_down)
{
    static const char *const settings[] = {"probe=off", NULL};
    const place *p = *state;
    OWNED(collet_runtime) *rt = NULL;
    collet_error err;
    assert_int_equal(create(p, "remote:1", settings, &rt, &err), COLLET_OK);
    collet_backend_info info = {.struct_size = sizeof info};
    assert_int_equal(collet_backend_info_at(rt, &info, 1, NULL), COLLET_OK);
    assert_string_equal(info.name, "remote");
    assert_int_equal(info.state, COLLET_BACKEND_UNPROVEN);
    OWNED(collet_context) *cx = context_of(rt);
    assert_int_equal(collet_backend_info_at(rt, &info, 1, NULL), COLLET_OK);
    assert_int_equal(info.state, COLLET_BACKEND_USABLE);
    assert_int_equal(info.device_count, 2);
}

static int32_t state_of(const collet_runtime *rt, const char *name)
{
    collet_backend_info info = {.struct_size = sizeof info};
    for (size_t i = 0; collet_backend_info_at(rt, &info, i, NULL) == COLLET_OK; i++)
        if (!strcmp(info.name, name))
            return info.state;
    fail_msg("no backend %s", name);
    return 0;
}

/* Under "auto" a backend that was not probed is opened only for a call that no other backend can run. */
TEST_WITH(auto_opens_what_is_unproven_last, set_up, tear_down)
{
    OWNED(collet_runtime) *rt =
        runtime_with(COLLET_TEST_ZOO "/zoo_missing_library.so:" SCALAR_PLUGIN, NULL);
    OWNED(collet_context) *cx = context_of(rt);
    OWNED(collet_array) *a = floats(cx, 4, 1), *c = empty_floats(cx, 4);
    assert_ok(cx, collet_op_add(cx, c, a, a));
    assert_int_equal(state_of(rt, "zoo_missing_library"), COLLET_BACKEND_UNPROVEN);
    collet_backend_info first = {.struct_size = sizeof first};
    assert_int_equal(collet_backend_info_at(rt, &first, 1, NULL), COLLET_OK);
    assert_string_equal(first.name, "zoo_missing_library");
    assert_status(cx, collet_set_backend(cx, "zoo_missing_library"), COLLET_UNAVAILABLE);
    assert_int_equal(state_of(rt, "zoo_missing_library"), COLLET_BACKEND_UNAVAILABLE);
    collet_array_destroy(a);
    collet_array_destroy(c);
    collet_context_destroy(cx);
    collet_runtime_destroy(rt);

    static const char *const settings[] = {"probe=off", NULL};
    rt = runtime_with(REMOTE_PLUGIN ":" COLLET_TEST_MIXED "/mixed.so", settings);
    cx = context_of(rt);
    OWNED(collet_context) *second = context_of(rt);
    a = floats(cx, 4, 1), c = empty_floats(cx, 4);
    assert_ok(cx, collet_op_add(cx, c, a, a));
    assert_string_equal(collet_last_backend(cx), "mixed");
    assert_int_equal(state_of(rt, "remote"), COLLET_BACKEND_UNPROVEN);
    assert_ok(cx, collet_op_mul(cx, c, a, a));
    assert_string_equal(collet_last_backend(cx), "remote");
    assert_ok(second, collet_op_mul(second, c, a, a));
}

TEST_WITH(no_backend_at_all, set_up, tear_down)
{
    const place *p = *state;
    OWNED(collet_runtime) *rt = runtime_with(p->broken, NULL);
    collet_context *cx = NULL;
    collet_error err;
    assert_error(collet_context_create(rt, &cx, &err), COLLET_UNAVAILABLE, err,
                 "no backend can be used", "cuda");
}

TEST_WITH(several_backends_and_none, set_up, tear_down)
{
    place *p = *state;
    char other[96];
    OWNED(collet_runtime) *rt = NULL;
    collet_context *cx = NULL;
    collet_error err;
    snprintf(other, sizeof other, "%s/cudb.so", p->directory);
    write_file(other, "");
    snprintf(p->path, sizeof p->path, "%s:%s", p->broken, other);
    assert_int_equal(create(p, "", NULL, &rt, &err), COLLET_OK);
    assert_error(collet_context_create(rt, &cx, &err), COLLET_UNAVAILABLE, err,
                 "no backend can be used: cuda, cudb: the file is empty");
    assert_null(strchr(err.text, ';'));
    write_file(other, "not ELF");
    collet_runtime_destroy(rt);
    assert_int_equal(create(p, "", NULL, &rt, &err), COLLET_OK);
    assert_error(collet_context_create(rt, &cx, &err), COLLET_UNAVAILABLE, err,
                 "no backend can be used: cuda: the file is empty; cudb: ");
    collet_runtime_destroy(rt);
    assert_int_equal(create(p, "cudc", NULL, &rt, &err), COLLET_OK);
    assert_error(collet_context_create(rt, &cx, &err), COLLET_UNKNOWN_BACKEND, err,
                 "did you mean 'cuda' or 'cudb'");
    collet_runtime_destroy(rt);
    unlink(other);
    unlink(p->broken);
    rt = runtime_with(p->directory, NULL);
    assert_error(collet_context_create(rt, &cx, &err), COLLET_UNAVAILABLE, err,
                 "can be used: no plugin was found in the search path");
}

/* ---- Settings ---------------------------------------------------------------------------- */

static void assert_refused(const place *p, const char *text, collet_status status, const char *part)
{
    collet_runtime *rt = NULL;
    collet_error err = {COLLET_OK, ""};
    write_file(p->file, text);
    assert_int_equal(create(p, NULL, NULL, &rt, &err), status);
    assert_contains(err.text, part);
}

TEST_WITH(bad_configuration_is_refused, set_up, tear_down)
{
    const place *p = *state;
    assert_refused(p, "backend cpu_scalar\n", COLLET_FORMAT, "collet.conf:1: ");
    assert_refused(p, "\n\nbakend = x\n", COLLET_INVALID,
                   "collet.conf:3: unknown setting 'bakend'");
    assert_refused(p, "bakend = x\n", COLLET_INVALID, "the nearest is backend");
    assert_refused(p, "temperature = 3\n", COLLET_INVALID,
                   "unknown setting 'temperature' (backend-info --env");
    assert_refused(
        p, "num_threads = many\n", COLLET_INVALID,
        "a whole number from 0 to 2147483647, not 'many' (maximum number of CPU threads");
    assert_refused(
        p, "probe_timeout_ms = 500\n", COLLET_INVALID,
        "unknown setting 'probe_timeout_ms'; the nearest is probe_timeout: seconds that");
    assert_refused(p, "num_threads = -1\n", COLLET_INVALID, "num_threads");
    assert_refused(p, "probe = maybe\n", COLLET_INVALID, "probe must be on or off, not 'maybe'");
    assert_refused(p, "isa = avx2\n", COLLET_INVALID, "isa must be auto, x86-64-v2");
    assert_refused(p, "log = loud\n", COLLET_INVALID, "log must be error, warning");
    char line[8300];
    snprintf(line, sizeof line, "log_%0*d = x", (int)sizeof line - 20, 0);
    assert_refused(p, line, COLLET_FORMAT, "collet.conf:1: the line is longer than 8190 bytes");
    snprintf(line, sizeof line, "%-8190s\nbakend = x\n", "backend = auto #");
    assert_refused(p, line, COLLET_INVALID, "collet.conf:2: unknown setting");
    setenv("COLLET_ISA", OTHER_LEVEL, 1); /* another architecture's */
    assert_refused(p, "", COLLET_INVALID, "COLLET_ISA: isa must be auto, " OWN_LEVEL);
    unsetenv("COLLET_ISA");
    unlink(p->file);
    collet_runtime *rt = NULL;
    collet_error err;
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .config_file = COLLET_TEST_NOTHING};
    assert_int_equal(collet_runtime_create(&rt, &options, &err), COLLET_IO);
    options = (collet_runtime_options){0};
    assert_int_equal(collet_runtime_create(&rt, &options, &err), COLLET_INVALID);
    assert_int_equal(collet_runtime_create(NULL, NULL, &err), COLLET_INVALID);
}

/* The manifest of a plugin declares the keys of the plugin's settings. libcore itself has no list of them. */
TEST_WITH(bad_keys_of_a_backend_are_refused, set_up, tear_down)
{
    static const char *const settings[] = {"remote.delay=20", NULL};
    const place *p = *state;
    collet_runtime *rt = NULL;
    collet_error err;
    assert_refused(
        p, "\nremote.memroy = 100\n", COLLET_INVALID,
        "collet.conf:2: unknown setting 'remote.memroy'; the nearest is remote.memory: ");
    assert_refused(p, "remote.temperature = 3\n", COLLET_INVALID,
                   "unknown setting 'remote.temperature' (backend-info --env");
    assert_refused(p, "cpu_scalar.device = 3\n", COLLET_INVALID,
                   "unknown setting 'cpu_scalar.device': cpu_scalar has no settings (Reference");
    assert_refused(
        p, "remote.memory = 1GB\n", COLLET_INVALID,
        "collet.conf:1: remote.memory must be a number of bytes (also 64K, 16M, 2G), not "
        "'1GB'");
    assert_refused(p, "remote.devices = two\n", COLLET_INVALID,
                   "a whole number from 0 to 2147483647, not 'two'");
    /* A bad value is refused even if a later line overrides it. */
    assert_refused(p, "remote.devices = x\nremote.devices = 1\n", COLLET_INVALID, "conf:1: ");
    unlink(p->file);
    assert_error(create(p, NULL, settings, &rt, &err), COLLET_INVALID, err,
                 "settings of the program: unknown setting 'remote.delay'");
}

/* Keeps only the warnings under test: on a busy machine a slow probe is reported too. */
static void keep_warning(void *user, int32_t level, const char *text)
{
    if (strstr(text, "is ignored") || strstr(text, "can be used"))
        snprintf(user, COLLET_ERROR_TEXT, "%s", text);
}

TEST_WITH(devices_without_a_place_are_warned_about, set_up, tear_down)
{
    for (int i = 0; i < 2; i++) {
        char message[COLLET_ERROR_TEXT] = "";
        const char *const settings[] = {i ? "remote.devices=17" : "remote.devices=16", NULL};
        collet_runtime_options options = {.struct_size = sizeof options,
                                          .plugin_path = REMOTE_PLUGIN,
                                          .settings = settings,
                                          .log = keep_warning,
                                          .log_user = message};
        OWNED(collet_runtime) *rt = NULL;
        assert_int_equal(collet_runtime_create(&rt, &options, NULL), COLLET_OK);
        OWNED(collet_context) *cx = context_of(rt);
        assert_ok(cx, collet_set_backend(cx, "remote:15"));
        assert_int_equal(collet_set_backend(cx, "remote:16") == COLLET_OK, 0);
        assert_int_equal(strstr(message, "only the first 16 of its 17 devices") != NULL, i);
        assert_int_equal(message[0] != '\0', i);
    }
}

TEST_WITH(unknown_variable_is_warned_about, set_up, tear_down)
{
    char message[COLLET_ERROR_TEXT] = "";
    OWNED(collet_runtime) *rt = NULL;
    collet_runtime_options options = {
        .struct_size = sizeof options, .log = keep_warning, .log_user = message};
    setenv("COLLET_BAKEND", "cpu_scalar", 1);
    assert_int_equal(collet_runtime_create(&rt, &options, NULL), COLLET_OK);
    unsetenv("COLLET_BAKEND");
    assert_contains(message, "COLLET_BAKEND is ignored", "the nearest is COLLET_BACKEND: ");
    collet_runtime_destroy(rt);

    char long_name[80];
    message[0] = '\0';
    snprintf(long_name, sizeof long_name, "COLLET_%070d", 0);
    setenv(long_name, "", 1);
    assert_int_equal(collet_runtime_create(&rt, &options, NULL), COLLET_OK);
    unsetenv(long_name);
    assert_string_equal(message, "");
    collet_runtime_destroy(rt);

    setenv("COLLET_MPI", "off", 1);
    assert_int_equal(collet_runtime_create(&rt, &options, NULL), COLLET_OK);
    unsetenv("COLLET_MPI");
    assert_string_equal(message, "");
    collet_runtime_destroy(rt);

    setenv("COLLET_TEMPERATURE", "3", 1);
    assert_int_equal(collet_runtime_create(&rt, &options, NULL), COLLET_OK);
    unsetenv("COLLET_TEMPERATURE");
    assert_contains(message, "COLLET_TEMPERATURE is ignored: unknown setting (backend");
    collet_runtime_destroy(rt);

    setenv("COLLET_PROBE_TIMEOUT_MS", "500", 1);
    assert_int_equal(collet_runtime_create(&rt, &options, NULL), COLLET_OK);
    unsetenv("COLLET_PROBE_TIMEOUT_MS");
    assert_contains(message, "the nearest is COLLET_PROBE_TIMEOUT: seconds that a probe");
}

static void assert_file_refused(const place *p, const char *file, collet_status expected,
                                const char *text)
{
    collet_runtime *rt = NULL;
    collet_error err;
    collet_runtime_options options = {
        .struct_size = sizeof options, .plugin_path = p->path, .config_file = file};
    assert_int_equal(collet_runtime_create(&rt, &options, &err), expected);
    if (expected == COLLET_OK)
        collet_runtime_destroy(rt);
    else
        assert_contains(err.text, text);
}

/* A configuration file must be trusted, because its settings name libraries to load. Opening a FIFO
 * must not block. */
TEST_WITH(files_that_are_not_trusted, set_up, tear_down)
{
    const place *p = *state;
    write_file(p->file, "backend = cpu_scalar\n");
    assert_int_equal(chmod(p->file, 0646), 0);
    assert_file_refused(p, p->file, COLLET_INVALID, "is not used: anyone may write to it");
    assert_int_equal(chmod(p->file, 0644), 0);
    assert_int_equal(chmod(p->directory, 0757), 0);
    assert_file_refused(p, p->file, COLLET_INVALID, "anyone may write to /");
    assert_int_equal(chmod(p->directory, 0755), 0);
    if (!geteuid() && !chown(p->file, 54321, 54321))
        assert_file_refused(p, p->file, COLLET_INVALID,
                            "it belongs to user 54321: only root, this user, the owner of libcore "
                            "and members of the groups in COLLET_TRUST_GROUP are trusted: chown "
                            "it, or copy it to a directory of your own");
    unlink(p->file);
    assert_int_equal(mkfifo(p->file, 0600), 0);
    assert_file_refused(p, p->file, COLLET_INVALID, "not a regular file");
    unlink(p->file);
    assert_int_equal(symlink(p->file, p->file), 0);
    assert_file_refused(p, p->file, COLLET_IO, "symbolic links");
    unlink(p->file);
    assert_file_refused(p, "/dev/zero", COLLET_INVALID, "not");
    assert_file_refused(p, "/etc/.", COLLET_INVALID, "not a regular file");
    assert_file_refused(p, "/proc/self/mem", COLLET_IO, "cannot read /proc/self/mem: Input/output");
    write_file(p->file, "");
    assert_int_equal(truncate(p->file, (off_t)1 << 40), 0);
    assert_file_refused(p, p->file, COLLET_INVALID, "is larger than");
    unlink(p->file);
}

static void assert_file_used(const place *p, const char *const *settings)
{
    OWNED(collet_runtime) *rt = NULL;
    collet_error err = {COLLET_OK, ""};
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .plugin_path = p->path,
                                      .config_file = p->file,
                                      .settings = settings};
    assert_success(collet_runtime_create(&rt, &options, &err), err);
}

/* The environment decides whether the file is trusted, not a setting in that file. */
TEST_WITH(file_of_a_trusted_group, set_up, tear_down)
{
    const place *p = *state;
    write_file(p->file, "trust_group = 54322\nbackend = cpu_scalar\n");
    if (geteuid() || chown(p->file, 0, 54321) || chmod(p->file, 0664)) {
        unlink(p->file);
        skip();
    }
    assert_file_refused(p, p->file, COLLET_INVALID,
                        "set COLLET_TRUST_GROUP=54321 in the environment, else chmod g-w ");
    setenv("COLLET_TRUST_GROUP", "54321", 1);
    assert_file_used(p, NULL);
    unsetenv("COLLET_TRUST_GROUP");
    assert_file_used(p, (const char *const[]){"trust_group = 54321", NULL});
    write_file(p->file, "trust_group = 54321\nbackend = cpu_scalar\n");
    assert_file_refused(p, p->file, COLLET_INVALID, "is not used: members of the group 54321");
    unlink(p->file);
}

/* If the file does not exist, the directories on its path are still checked for other users who may
 * write to them. */
TEST_WITH(no_file_at_all, set_up, tear_down)
{
    const place *p = *state;
    FREED(char) *before = getenv("XDG_CONFIG_HOME") ? strdup(getenv("XDG_CONFIG_HOME")) : NULL;
    char directory[96], file[112];
    snprintf(directory, sizeof directory, "%s/collet", p->directory);
    snprintf(file, sizeof file, "%s/collet.conf", directory);
    assert_int_equal(chmod(p->directory, 0777), 0);
    assert_int_equal(mkdir(directory, 0700), 0);
    setenv("XDG_CONFIG_HOME", p->directory, 1);
    assert_file_refused(p, NULL, COLLET_OK, "");
    write_file(file, "");
    assert_file_refused(p, NULL, COLLET_INVALID, "anyone may write to /");
    unlink(file);
    rmdir(directory);
    before ? setenv("XDG_CONFIG_HOME", before, 1) : unsetenv("XDG_CONFIG_HOME");
}

/* A relative path: the current directory and its parents are checked, too. */
TEST_WITH(relative_file, set_up, tear_down)
{
    const place *p = *state;
    FREED(char) *before = getcwd(NULL, 0);
    write_file(p->file, "bakend = x\n");
    assert_int_equal(chdir(p->directory), 0);
    assert_file_refused(p, "collet.conf", COLLET_INVALID, "collet.conf:1: unknown setting");
    assert_file_refused(p, "none.conf", COLLET_IO, "none.conf is not used: cannot be opened");
    assert_file_refused(p, "", COLLET_OK, "");
    assert_int_equal(chdir(before), 0);
}

/* If several plugin files have the same backend name, the manifest of the valid file counts. */
TEST_WITH(keys_of_a_backend_with_a_bad_file, set_up, tear_down)
{
    place *p = *state;
    char bad[96], again[96], worse[112];
    snprintf(bad, sizeof bad, "%s/remote.so", p->directory);
    snprintf(again, sizeof again, "%s/again", p->directory);
    snprintf(worse, sizeof worse, "%s/remote.so", again);
    write_file(bad, "");
    assert_int_equal(mkdir(again, 0700), 0);
    write_file(worse, "");
    const char *const files[] = {REMOTE_PLUGIN, bad, worse};
    for (size_t i = 0; i < 3; i++) {
        snprintf(p->path, sizeof p->path, "%s:%s:%s:%s", files[i], files[(i + 1) % 3],
                 files[(i + 2) % 3], SCALAR_PLUGIN);
        assert_refused(p, "remote.memory = 1GB\n", COLLET_INVALID,
                       "remote.memory must be a number");
    }
    unlink(bad);
    unlink(worse);
    rmdir(again);
}

static void expect_no_directories(void)
{
    OWNED(collet_runtime) *rt = runtime_with(SCALAR_PLUGIN, NULL);
    for (size_t i = 0; i < collet_setting_count(rt); i++) {
        collet_setting s = {.struct_size = sizeof s};
        assert_int_equal(collet_setting_at(rt, &s, i, NULL), COLLET_OK);
        if (!strcmp(s.key, "cache_dir") || !strcmp(s.key, "config"))
            assert_string_equal(s.value, "");
    }
}

/* libcore uses the user's directories only if their paths are absolute and the home directory exists. */
TEST_WITH(without_a_home, set_up, tear_down)
{
    static const char *const names[] = {"HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"};
    const place *p = *state;
    char *before[3], absent[sizeof p->file + 8];
    for (int i = 0; i < 3; i++) {
        before[i] = getenv(names[i]) ? strdup(getenv(names[i])) : NULL;
        setenv(names[i], "here", 1);
    }
    setenv("COLLET_CONFIG", "", 1);
    expect_no_directories();
    snprintf(absent, sizeof absent, "%s.absent", p->file);
    setenv("HOME", absent, 1);
    expect_no_directories();
    assert_int_not_equal(access(absent, F_OK), 0);
    unsetenv("COLLET_CONFIG");
    for (int i = 0; i < 3; free(before[i++]))
        before[i] ? setenv(names[i], before[i], 1) : unsetenv(names[i]);
}

/* The configuration file may serve several machines, so it may name a backend that is absent
 * here. */
TEST_WITH(keys_of_absent_backends, set_up, tear_down)
{
    const place *p = *state;
    char message[COLLET_ERROR_TEXT] = "";
    OWNED(collet_runtime) *rt = NULL;
    collet_error err = {COLLET_OK, ""};
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .plugin_path = p->path,
                                      .config_file = p->file,
                                      .log = keep_warning,
                                      .log_user = message};
    char long_name[128];
    snprintf(long_name, sizeof long_name, "%0*d.memory = 1\n", COLLET_MAX_NAME, 0);
    write_file(p->file, long_name);
    assert_int_equal(collet_runtime_create(&rt, &options, &err), COLLET_OK);
    assert_contains(message, "is ignored: no backend of that name was found (backend-info");
    collet_runtime_destroy(rt);
    write_file(p->file, "\nremot.memory = 100\n");
    assert_int_equal(collet_runtime_create(&rt, &options, &err), COLLET_OK);
    assert_contains(message, "collet.conf:2: the setting 'remot.memory' is ignored: no "
                             "backend of that name was found; the nearest is remote ");
    collet_runtime_destroy(rt);
    /* The plugin file of this backend was refused; backend-info reports that, so there is no
     * warning. */
    message[0] = '\0';
    write_file(p->file, "cuda.anything = 100\n");
    assert_int_equal(collet_runtime_create(&rt, &options, &err), COLLET_OK);
    assert_string_equal(message, "");
}

static void keep_error(void *user, int32_t level, const char *text)
{
    if (level == COLLET_LOG_ERROR)
        snprintf(user, COLLET_ERROR_TEXT, "%s", text);
}

TEST_WITH(reads_of_undeclared_keys_are_logged, set_up, tear_down)
{
    static const char *settings[] = {"probe=off", "log=error", NULL};
    char message[COLLET_ERROR_TEXT] = "";
    OWNED(collet_runtime) *rt = NULL;
    OWNED(collet_context) *cx = NULL;
    collet_error err;
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .plugin_path = COLLET_TEST_ZOO "/zoo_undeclared.so",
                                      .backend = "zoo_undeclared",
                                      .settings = settings,
                                      .log = keep_error,
                                      .log_user = message};
    assert_int_equal(collet_runtime_create(&rt, &options, &err), COLLET_OK);
    (void)collet_context_create(rt, &cx, &err);
    assert_contains(message, "reads the setting zoo_undeclared.secret, but its manifest");
    collet_context_destroy(cx);
    collet_runtime_destroy(rt);
    message[0] = '\0';
    settings[1] = "log=off";
    assert_int_equal(collet_runtime_create(&rt, &options, &err), COLLET_OK);
    (void)collet_context_create(rt, &cx, &err);
    assert_string_equal(message, "");
}

TEST_WITH(settings_report_their_source, set_up, tear_down)
{
    static const char *const settings[] = {"num_threads=1", "remote.memory=3K",
                                           "remote.refuse=", NULL};
    const place *p = *state;
    OWNED(collet_runtime) *rt = NULL;
    collet_error err;
    setenv("COLLET_LOG", "error", 1);
    write_file(p->file, "fallback = no\nremote.refuse = 1\nremote.fail = 1,2\n");
    assert_int_equal(create(p, NULL, settings, &rt, &err), COLLET_OK);
    unsetenv("COLLET_LOG");
    unlink(p->file);
    int seen = 0;
    for (size_t i = 0; i < collet_setting_count(rt); i++) {
        collet_setting s = {.struct_size = sizeof s};
        assert_int_equal(collet_setting_at(rt, &s, i, NULL), COLLET_OK);
        const char *expected = !strcmp(s.key, "num_threads")      ? "program 1"
                               : !strcmp(s.key, "fallback")       ? "file off"
                               : !strcmp(s.key, "log")            ? "environment error"
                               : !strcmp(s.key, "probe")          ? "default on"
                               : !strcmp(s.key, "remote.memory")  ? "program 3072"
                               : !strcmp(s.key, "remote.fail")    ? "file 1,2"
                               : !strcmp(s.key, "remote.refuse")  ? "default 2147483647"
                               : !strcmp(s.key, "remote.devices") ? "default 2"
                                                                  : NULL;
        char got[128];
        snprintf(got, sizeof got, "%s %.100s", s.source, s.value);
        if (expected) {
            assert_string_equal(got, expected);
            seen++;
        }
    }
    assert_int_equal(seen, 8);
    collet_setting s = {.struct_size = sizeof s};
    assert_int_equal(collet_setting_at(rt, &s, collet_setting_count(rt), NULL), COLLET_NOT_FOUND);
}
