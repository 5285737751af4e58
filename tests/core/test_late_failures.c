/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_late_failures [PLUGINS DEVICE/... [SEED [COUNT]]] - compares random calls of several
 * contexts, on devices of any backend, with a model. A layer (tests/fakes/late) makes commands fail
 * late. PLUGINS are files, separated by ':'. Each context chooses among the given devices (or lists
 * of devices) and the host. Without arguments: the devices of the backend `remote`.
 *
 * The check: a read that returns OK returns the values that the calls compute when nothing fails. A call, a read or a
 * finish fails only if its results derive from a command that failed or that was enqueued after a failed command.
 * collet_finish reports each failure of a call that returned OK. After a failure a queue runs its other commands, or
 * only its waits for other queues, or nothing. Slow calls reveal a queue that does not wait for another queue.
 *
 * The short suite runs 20 to 100 seeds on each backend, long tests 2,500.
 */

#include "common/support.h"
#include "fakes/late/control.h"

#include <collet/plugin.h> /* COLLET_SANITIZER */

#define LATE_LAYER COLLET_TEST_LATE "/late.so"
#define CONTEXTS 5
#define ARRAYS 3
#define N 8 /* elements of an array; the elements of each half are equal */
#define SLOW (1 << 18)
#define STEPS 50
#define COMMANDS 4096
#define QUEUES (1 << 20)
#define RUNS 25 /* of one runtime */

typedef struct command_set {
    uint64_t bits[COMMANDS / 64];
} command_set;

typedef struct model {
    collet_array *array;
    float value[2];
    command_set derived; /* all commands from which the bytes may derive */
} model;

typedef struct program {
    collet_context *cx;
    collet_array *slow[2];
    command_set pending;  /* commands from which calls since the last finish may derive */
    command_set promised; /* own commands of the calls that returned OK */
} program;

static struct {
    collet_runtime *rt;
    program programs[CONTEXTS];
    model arrays[ARRAYS];
    int count, failures, chance;
    uint64_t queue[COMMANDS], value[COMMANDS];
    command_set call; /* commands of the current call */
    char complaint[400];
} w;

static uint64_t failed_value[QUEUES]; /* by queue: value of its first failed command; 0: none */
static const char *plugins, *devices[9];
static int device_count;
static int slow_copies; /* number of copies that together take 2 ms, at most 60 */
static uint64_t random_state;
static int first_seed = 1, seed_count = 30, seed, failures;

static int64_t pick(int64_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((random_state >> 33) % (uint64_t)below);
}

static void complain(const char *what, collet_context *cx)
{
    if (!*w.complaint)
        snprintf(w.complaint, sizeof w.complaint, "%.80s: %.300s", what, collet_last_error(cx));
}

/* ---- Commands ---------------------------------------------------------------------------- */

static void add_all(command_set *to, const command_set *from)
{
    for (int i = 0; i < COMMANDS / 64; i++)
        to->bits[i] |= from->bits[i];
}

static int any_failed(const command_set *set)
{
    for (int i = 0; i < w.count; i++)
        if (set->bits[i / 64] >> (i % 64) & 1 && failed_value[w.queue[i]] &&
            failed_value[w.queue[i]] <= w.value[i])
            return 1;
    return 0;
}

static int fails(late_control *unused, uint64_t queue, uint64_t value)
{
    int i = w.count++;
    assert_true(i < COMMANDS && queue < QUEUES);
    w.queue[i] = queue;
    w.value[i] = value;
    w.call.bits[i / 64] |= 1ull << (i % 64);
    int failing = pick(100) < w.chance;
    if (failing && !failed_value[queue])
        failed_value[queue] = value;
    failures += failing;
    return failing;
}

static late_control control = {.fails = fails};

/* Called after a call. Checks whether the call may fail, and notes what collet_finish may report and what it must
 * report. The call may have copied its inputs to the device, so the inputs derive from the call's commands too. */
static void called(program *p, collet_status status, model *const *in, int count, const char *what)
{
    command_set from = w.call;
    for (int k = 0; k < count; k++)
        add_all(&from, &in[k]->derived);
    for (int k = 0; k < count; k++)
        add_all(&in[k]->derived, &w.call);
    add_all(&p->pending, &from);
    if (status == COLLET_OK)
        add_all(&p->promised, &w.call);
    else if (status != COLLET_FAILED || !any_failed(&from))
        complain(what, p->cx);
}

/* ---- Steps ------------------------------------------------------------------------------- */

/* A view of one half (0 or 1), or of the whole array (2). */
static collet_array *view_of(const program *p, const model *m, int half)
{
    collet_array *view = NULL;
    if (collet_array_slice(p->cx, m->array, &view, 0, half % 2 * (N / 2), half == 2 ? N : N / 2,
                           1) != COLLET_OK)
        complain("collet_array_slice", p->cx);
    return view;
}

/* Notes that a successful call wrote these values to the array. */
static void wrote(model *m, int half, const float *values, model *const *in, int count)
{
    command_set from = w.call;
    for (int k = 0; k < count; k++)
        add_all(&from, &in[k]->derived);
    if (half != 2)
        add_all(&from, &m->derived);
    m->derived = from;
    for (int i = 0; i < 2; i++)
        if (half == 2 || half == i)
            m->value[i] = values[i];
}

/* out = a random value (0 inputs), a (1) or a + b (2), on one half of the arrays or on all (`half` 2). */
static void call(program *p, int inputs, int half, model *out, model *a, model *b)
{
    static const char *const names[] = {"fill", "copy", "add"};
    collet_array *views[] = {view_of(p, out, half), view_of(p, a, half), view_of(p, b, half)};
    collet_scalar s = {.dtype = COLLET_F32, .value.f32 = (float)(1 + pick(1000))};
    float values[2];
    for (int i = 0; i < 2; i++)
        values[i] = inputs == 0   ? s.value.f32
                    : inputs == 1 ? a->value[i]
                                  : a->value[i] + b->value[i];
    w.call = (command_set){{0}};
    collet_status status = inputs == 0   ? collet_op_fill(p->cx, views[0], &s)
                           : inputs == 1 ? collet_op_copy(p->cx, views[0], views[1])
                                         : collet_op_add(p->cx, views[0], views[1], views[2]);
    /* A call that writes a half of `out` also depends on the other half. */
    model *in[] = {out, a, b};
    called(p, status, in, 1 + inputs, names[inputs]);
    if (status == COLLET_OK)
        wrote(out, half, values, in + 1, inputs);
    for (int k = 0; k < 3; k++)
        collet_array_destroy(views[k]);
}

static model *any_array(void)
{
    return &w.arrays[pick(ARRAYS)];
}

static void step_call(program *p)
{
    call(p, (int)pick(3), (int)pick(3), any_array(), any_array(), any_array());
}

/* Delays the queue of the context by slow copies, then makes a call in it. */
static void step_slow(program *p)
{
    for (int i = 0; i < slow_copies; i++) {
        w.call = (command_set){{0}};
        collet_status status = collet_op_copy(p->cx, p->slow[1], p->slow[0]);
        model own = {.derived = p->pending};
        called(p, status, (model *[]){&own}, 1, "a slow copy");
    }
    step_call(p);
}

/* A slow queue reads an array. Other contexts then overwrite the array one after another. */
static void step_chase(program *p)
{
    model *x = any_array();
    step_slow(p);
    call(p, 1, 2, any_array(), x, x);
    for (int64_t i = pick(4); i >= 0; i--)
        call(&w.programs[pick(CONTEXTS)], 0, 2, x, x, x);
}

static void step_write(program *p)
{
    model *out = &w.arrays[pick(ARRAYS)];
    float bytes[N], values[2] = {(float)(1 + pick(1000)), (float)(1 + pick(1000))};
    for (int i = 0; i < N; i++)
        bytes[i] = values[i >= N / 2];
    w.call = (command_set){{0}};
    collet_status status = collet_array_write(p->cx, out->array, bytes, sizeof bytes);
    called(p, status, NULL, 0, "write");
    if (status == COLLET_OK)
        wrote(out, 2, values, NULL, 0);
}

static void read_all(program *p, model *m)
{
    float got[N];
    w.call = (command_set){{0}};
    collet_status status = collet_array_read(p->cx, m->array, got, sizeof got);
    called(p, status, &m, 1, "read");
    for (int i = 0; i < N && status == COLLET_OK; i++)
        if (got[i] != m->value[i >= N / 2])
            complain("read returned OK and wrong bytes", p->cx);
}

static void step_finish(program *p)
{
    collet_status status = collet_finish(p->cx);
    if (status != COLLET_OK && (status != COLLET_FAILED || !any_failed(&p->pending)))
        complain("finish", p->cx);
    if (status == COLLET_OK && any_failed(&p->promised))
        complain("finish returned OK in spite of a failure", p->cx);
    p->pending = p->promised = (command_set){{0}};
}

static void step_backend(program *p)
{
    /* Mostly chooses the first device, to test that queues of one device wait for each other. */
    if (collet_set_backend(p->cx, devices[pick(3) ? 1 : pick(device_count)]) != COLLET_OK)
        complain("collet_set_backend", p->cx);
}

static void new_array(model *m, const program *p)
{
    const int64_t n = N;
    float bytes[N];
    collet_array_destroy(m->array);
    *m = (model){.value = {(float)(1 + pick(1000)), (float)(1 + pick(1000))}};
    for (int i = 0; i < N; i++)
        bytes[i] = m->value[i >= N / 2];
    if (collet_array_from(p->cx, &m->array, COLLET_F32, 1, &n, bytes) != COLLET_OK)
        complain("collet_array_from", p->cx);
}

static void end_context(program *p)
{
    for (int i = 0; i < 2; i++)
        collet_array_destroy(p->slow[i]);
    collet_context_destroy(p->cx);
    *p = (program){.cx = NULL};
}

static void new_context(program *p)
{
    static float zeros[SLOW];
    const int64_t n = SLOW;
    end_context(p);
    p->cx = context_of(w.rt);
    step_backend(p);
    for (int i = 0; i < 2; i++)
        assert_ok(p->cx, collet_array_from(p->cx, &p->slow[i], COLLET_F32, 1, &n, zeros));
}

static void step(void)
{
    program *p = &w.programs[pick(CONTEXTS)];
    int64_t n = pick(100);
    if (n < 48)
        step_call(p);
    else if (n < 54)
        step_slow(p);
    else if (n < 60)
        step_chase(p);
    else if (n < 74)
        read_all(p, &w.arrays[pick(ARRAYS)]);
    else if (n < 80)
        step_write(p);
    else if (n < 86)
        step_finish(p);
    else if (n < 94)
        new_array(&w.arrays[pick(ARRAYS)], p);
    else if (n < 98)
        step_backend(p);
    else
        new_context(p);
}

/* ---- Runs -------------------------------------------------------------------------------- */

/* Measures copies on the first device. The first copy is slower and is not counted. */
static void calibrate(void)
{
    program p = {.cx = NULL};
    new_context(&p);
    assert_ok(p.cx, collet_set_backend(p.cx, devices[1]));
    double begin = 0;
    for (int i = 0; i < 5; i++) {
        assert_ok(p.cx, collet_op_copy(p.cx, p.slow[1], p.slow[0]));
        assert_ok(p.cx, collet_finish(p.cx));
        if (!i)
            begin = test_seconds(CLOCK_MONOTONIC);
    }
    double copies = 0.002 / ((test_seconds(CLOCK_MONOTONIC) - begin) / 4);
    slow_copies = copies > 60 ? 60 : copies < 1 ? 1 : (int)copies;
    end_context(&p);
}

static void open_runtime(void)
{
    char where[48], path[3000];
    const char *const settings[] = {where, "layers=late", "probe=off", NULL};
    snprintf(where, sizeof where, "late.control=%llx", (unsigned long long)(uintptr_t)&control);
    snprintf(path, sizeof path, "%s:%s:%s", plugins, SCALAR_PLUGIN, LATE_LAYER);
    atomic_store(&control.queues, 0);
    memset(failed_value, 0, sizeof failed_value);
    w.rt = runtime_with(path, settings);
    w.count = w.chance = 0;
    if (!slow_copies)
        calibrate();
}

static void one_run(void)
{
    w.count = w.chance = 0;
    random_state = (uint64_t)seed * 0x9e3779b97f4a7c15u;
    pick(2);
    for (int i = 0; i < CONTEXTS; i++)
        new_context(&w.programs[i]);
    for (int i = 0; i < ARRAYS; i++)
        new_array(&w.arrays[i], &w.programs[0]);
    /* After a failure a queue may skip its waits, so later work may race with earlier work. Its
     * results are discarded, but the thread sanitizer would report the race. */
    control.after_failure = strcmp(COLLET_SANITIZER, "thread") ? (int)pick(3) : 0;
    w.chance = (int[]){0, 2, 5, 15}[pick(4)];
    int steps = 0;
    for (; steps < STEPS && !*w.complaint; steps++)
        step();
    w.chance = 0;
    for (int i = 0; i < ARRAYS; i++) {
        if (!*w.complaint)
            read_all(&w.programs[pick(CONTEXTS)], &w.arrays[i]);
        collet_array_destroy(w.arrays[i].array);
        w.arrays[i].array = NULL;
    }
    for (int i = 0; i < CONTEXTS; i++)
        end_context(&w.programs[i]);
    if (*w.complaint)
        fail_msg("seed %d, step %d: %s", seed, steps, w.complaint);
}

TEST(reads_return_right_bytes_or_an_error)
{
    for (seed = first_seed; seed < first_seed + seed_count; seed++) {
        if (!w.rt)
            open_runtime();
        one_run();
        if (seed % RUNS == 0 || seed == first_seed + seed_count - 1) {
            collet_runtime_destroy(w.rt);
            w.rt = NULL;
        }
    }
    print_message("%d runs of %d steps, %d commands failed\n", seed_count, STEPS, failures);
}

int main(int argc, char **argv)
{
    char remote[] = "remote:0/remote:1";
    plugins = argc > 2 ? argv[1] : REMOTE_PLUGIN;
    devices[device_count++] = "cpu_scalar";
    for (char *d = strtok(argc > 2 ? argv[2] : remote, "/"); d && device_count < 9;
         d = strtok(NULL, "/"))
        devices[device_count++] = d;
    if (argc > 3)
        first_seed = atoi(argv[3]);
    if (argc > 3)
        seed_count = argc > 4 ? atoi(argv[4]) : 1;
    return test_run();
}
