/* SPDX-License-Identifier: Apache-2.0 */
/* The setting trace: the times in the file, and the file after a kill and with several writers. */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cjson/cJSON.h>

#include "common/support.h"
#include "fakes/remote/control.h"
#include "util/trace.h"

OWNS(cJSON, cJSON_Delete)

#define ALL REMOTE_PLUGIN ":" SCALAR_PLUGIN

static remote_control control;
static char path[] = "/tmp/collet-trace-XXXXXX";
static char setting_trace[64];

static int make_file(void **state)
{
    int fd = mkstemp(path);
    snprintf(setting_trace, sizeof setting_trace, "trace=%s", path);
    return fd < 0 || close(fd);
}

static int remove_file(void **state)
{
    return unlink(path);
}

static int kernel_count, failing; /* kernels so far; number of the kernel that fails, 0: none */

static collet_status enqueued(remote_control *c, remote_command *command)
{
    return command->kernel && ++kernel_count == failing ? COLLET_FAILED : COLLET_OK;
}

static void waited(remote_control *c, uint64_t queue, uint64_t value, collet_status status)
{
}

static world open_traced(const char *setting, const char *backend)
{
    char watched[64];
    kernel_count = 0;
    control = (remote_control){.enqueued = enqueued, .waited = waited};
    snprintf(watched, sizeof watched, "remote.control=%llx",
             (unsigned long long)(uintptr_t)&control);
    const char *settings[] = {setting_trace, watched, "remote.kernel_ns=1000", setting, NULL};
    return open_world(ALL, settings, backend);
}

/* ---- Reading ----------------------------------------------------------------------------- */

static cJSON *events(const char *end)
{
    static char text[1 << 20];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text - 8, file);
    fclose(file);
    snprintf(text + length, 8, "%s", end);
    cJSON *list = cJSON_ParseWithOpts(text, NULL, 1);
    if (!cJSON_IsArray(list))
        fail_msg("not a JSON array:\n%s", text);
    return list;
}

static const char *text_in(const cJSON *event, const char *key)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(event, key));
    return text ? text : "";
}

static double number_in(const cJSON *event, const char *key)
{
    return cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(event, key));
}

/* The number of events of a category with this name (NULL: any); *sum: their total time in
 * microseconds. */
static int count(const cJSON *list, const char *category, const char *name, double *sum)
{
    const cJSON *e;
    int found = 0;
    double total = 0;
    cJSON_ArrayForEach(e, list)
    {
        if (strcmp(text_in(e, "cat"), category) != 0 ||
            (name && strcmp(text_in(e, "name"), name) != 0))
            continue;
        total += number_in(e, "dur");
        found++;
    }
    if (sum)
        *sum = total;
    return found;
}

static const cJSON *find(const cJSON *list, const char *category, const char *name)
{
    const cJSON *e;
    cJSON_ArrayForEach(e, list) if (!strcmp(text_in(e, "cat"), category) &&
                                    !strcmp(text_in(e, "name"), name)) return e;
    fail_msg("no %s %s", category, name);
    return NULL;
}

static void assert_args(const cJSON *event, const char *device, const char *detail,
                        const char *clock)
{
    const cJSON *args = cJSON_GetObjectItemCaseSensitive(event, "args");
    assert_string_equal(text_in(args, "device"), device);
    assert_string_equal(text_in(args, "detail"), detail);
    assert_string_equal(text_in(args, "clock"), clock);
}

/* ---- Times ------------------------------------------------------------------------------- */

static void adds(collet_context *cx, int n)
{
    OWNED(collet_array) *a = floats(cx, 4, 1), *b = empty_floats(cx, 4);
    for (int i = 0; i < n; i++)
        assert_ok(cx, collet_op_add(cx, b, a, a));
    assert_floats(cx, b, (const float[]){2, 4, 6, 8});
}

TEST(device_clock)
{
    double sum;
    world w = open_traced(NULL, "remote:0");
    adds(w.cx, 3);
    close_world(w);
    assert_int_equal(control.stamps, 0);
    OWNED(cJSON) *list = events("");
    assert_int_equal(count(list, "call", "add", NULL), 3);
    assert_int_equal(count(list, "kernel", "add", &sum), 3);
    assert_true(fabs(sum - 3.0) < 1e-9); /* the device's clock: 1,000 ns a kernel */
    assert_int_equal(count(list, "transfer", "copy host to device", NULL), 1);
    assert_int_equal(count(list, "transfer", "copy device to host", NULL), 1);
    assert_true(count(list, "wait", "wait", NULL) > 0);
    const cJSON *kernel = find(list, "kernel", "add"), *call = find(list, "call", "add");
    assert_args(kernel, "remote:0", "f32 4 <- f32 4, f32 4", "device");
    assert_args(call, "remote", "f32 4 <- f32 4, f32 4", "host");
    assert_args(find(list, "transfer", "copy host to device"), "remote:0", "16 bytes", "device");
    assert_int_equal((int)number_in(call, "pid"), getpid());
    assert_true(number_in(kernel, "pid") != number_in(call, "pid"));
}

/* Without collet.timing/1 libcore waits for each kernel and uses the host's clock. */
TEST(host_clock)
{
    double sum;
    world w = open_traced("remote.extension=collet.timing/1 absent", "remote:0");
    adds(w.cx, 3);
    close_world(w);
    OWNED(cJSON) *list = events("");
    assert_int_equal(count(list, "kernel", "add", &sum), 3);
    assert_true(sum > 0);
    assert_args(find(list, "kernel", "add"), "remote:0", "f32 4 <- f32 4, f32 4", "host");
}

TEST(sequential)
{
    static float values[160 * 160];
    double share = 0;
    for (int attempt = 0; attempt < 5 && share < 0.95; attempt++) {
        collet_array *a = NULL, *b = NULL;
        double kernels;
        world w = open_traced(NULL, "cpu_scalar");
        assert_ok(w.cx, collet_array_from(w.cx, &a, COLLET_F32, 2, (int64_t[]){160, 160}, values));
        assert_ok(w.cx, collet_array_create(w.cx, &b, COLLET_F32, 2, (int64_t[]){160, 160}));
        assert_ok(w.cx, collet_op_matmul(w.cx, b, a, a)); /* opens the device */
        int64_t begin = trace_now();
        for (int i = 0; i < 10; i++)
            assert_ok(w.cx, collet_op_matmul(w.cx, b, a, a));
        double wall = 1e-3 * (double)(trace_now() - begin);
        collet_array_destroy(a);
        collet_array_destroy(b);
        close_world(w);
        OWNED(cJSON) *list = events("");
        cJSON_DeleteItemFromArray(list, 0);
        int skip = 0; /* the first kernel */
        while (strcmp(text_in(cJSON_GetArrayItem(list, skip), "cat"), "kernel") != 0)
            skip++;
        cJSON_DeleteItemFromArray(list, skip);
        assert_int_equal(count(list, "kernel", "matmul", &kernels), 10);
        share = kernels / wall;
        assert_true(share <= 1.0);
    }
    if (share < 0.95)
        fail_msg("kernels take %.3f of the time of the run", share);
}

TEST(failed_work)
{
    failing = 2;
    world w = open_traced(NULL, "remote:0");
    collet_array *a = floats(w.cx, 4, 1), *b = empty_floats(w.cx, 4);
    assert_ok(w.cx, collet_op_add(w.cx, b, a, a));
    assert_ok(w.cx, collet_op_add(w.cx, b, a, a));
    assert_status(w.cx, collet_finish(w.cx), COLLET_FAILED);
    assert_status(w.cx, collet_op_add(w.cx, b, a, NULL), COLLET_INVALID);
    collet_array_destroy(a);
    collet_array_destroy(b);
    close_world(w);
    failing = 0;
    assert_int_equal(control.stamps, 0);
    OWNED(cJSON) *list = events("");
    assert_int_equal(count(list, "call", "add", NULL), 3);
    assert_int_equal(count(list, "kernel", "add", NULL), 1);
}

/* ---- The file ---------------------------------------------------------------------------- */

TEST(killed)
{
    int how;
    pid_t child = fork();
    if (!child) {
        world w = open_traced(NULL, "cpu_scalar");
        adds(w.cx, 5);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSIGNALED(how));
    OWNED(cJSON) *list = events("\n]");
    assert_int_equal(count(list, "kernel", "add", NULL), 5);
}

TEST(shared)
{
    world a = open_traced(NULL, "cpu_scalar"), b = open_traced(NULL, "cpu_scalar");
    adds(a.cx, 1);
    adds(b.cx, 1);
    close_world(a);
    adds(b.cx, 1);
    close_world(b);
    OWNED(cJSON) *list = events("");
    assert_int_equal(count(list, "call", "add", NULL), 3);
    cJSON_Delete(list);
    /* No process writes the trace any more: it is replaced. */
    close_world(open_traced(NULL, "cpu_scalar"));
    list = events("");
    assert_int_equal(count(list, "call", NULL, NULL), 0);
}

TEST(cannot_be_written)
{
    const char *settings[] = {"trace=/nowhere/trace.json", NULL};
    collet_runtime_options options = {
        .struct_size = sizeof options, .plugin_path = SCALAR_PLUGIN, .settings = settings};
    collet_runtime *rt = NULL;
    collet_error err = {COLLET_OK, ""};
    assert_error(collet_runtime_create(&rt, &options, &err), COLLET_IO, err,
                 "/nowhere/trace.json: No such file or directory");
}

static collet_status open_at(const char *file, collet_runtime **rt, collet_error *err)
{
    char setting[128];
    snprintf(setting, sizeof setting, "trace=%s", file);
    const char *settings[] = {setting, NULL};
    collet_runtime_options options = {
        .struct_size = sizeof options, .plugin_path = SCALAR_PLUGIN, .settings = settings};
    *rt = NULL;
    return collet_runtime_create(rt, &options, err);
}

/* An earlier trace is replaced, even a truncated trace. Any other file is kept. */
TEST(other_files_are_kept)
{
    static const char *const texts[] = {"important", "[1]", "[\n{\"ph\":\"X\"}]"};
    char found[32] = "";
    collet_runtime *rt;
    collet_error err = {COLLET_OK, ""};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        FILE *file = fopen(path, "w");
        fputs(texts[i], file);
        fclose(file);
        assert_error(open_at(path, &rt, &err), COLLET_IO, err,
                     "exists and is not a trace: name another file");
        file = fopen(path, "r");
        found[fread(found, 1, sizeof found - 1, file)] = '\0';
        fclose(file);
        assert_string_equal(found, texts[i]);
    }
    assert_int_equal(truncate(path, 0), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(open_at(path, &rt, &err), COLLET_OK);
        collet_runtime_destroy(rt);
        cJSON_Delete(events(""));
    }
}

TEST(pipes)
{
    char fifo[] = "/tmp/collet-fifo-XXXXXX", bytes[3];
    collet_runtime *rt;
    collet_error err = {COLLET_OK, ""};
    sigset_t pending;
    int fd = mkstemp(fifo);
    assert_true(fd >= 0 && !close(fd) && !unlink(fifo) && !mkfifo(fifo, 0600));
    alarm(20);
    assert_error(open_at(fifo, &rt, &err), COLLET_IO, err, "nobody reads the pipe");
    int reader = open(fifo, O_RDONLY | O_NONBLOCK);
    assert_int_equal(open_at(fifo, &rt, &err), COLLET_OK);
    assert_int_equal(read(reader, bytes, 2), 2);
    assert_memory_equal(bytes, "[\n", 2);
    close(reader);
    collet_runtime_destroy(rt); /* writes the end */
    alarm(0);
    sigpending(&pending);
    assert_false(sigismember(&pending, SIGPIPE));
    unlink(fifo);
}

TEST_GROUP(make_file, remove_file)
