/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_failure_model [SEED [COUNT]] - random calls on arrays, views, contexts and devices whose
 * commands fail late, against a model.
 *
 * What is checked:
 * - A read that returns OK returns the values that the calls compute when nothing fails.
 * - collet_finish reports each failed command from which results of its context derive. It may also
 *   report the loss of a device that the context used.
 * - A call fails only if its device was lost, or if an array that it reads is bad in every memory
 *   space where it is valid. It then leaves its output unchanged, unless the device was lost.
 *
 * A copy of an array on a device is bad if the device was lost or if its bytes derive from a bad command. A
 * command is bad if it failed, if it was enqueued after a failed command in the same queue of the
 * plugin, or if it ran on a lost device and no wait had confirmed it. After a partial write, an
 * array still derives from all commands from which it derived before. After a failure a queue runs its
 * other commands, or only its waits for other queues, or nothing.
 *
 * The test backend `remote` reports to this program each command with its buffers, and each wait.
 */
#include <pthread.h>

#include "common/support.h"
#include "fakes/remote/control.h"

#include <collet/plugin.h> /* COLLET_SANITIZER */

#define BOTH REMOTE_PLUGIN ":" SCALAR_PLUGIN
#define DEVICES 3
#define CONTEXTS 5
#define ARRAYS 6
#define N 6 /* elements of an array */
#define STEPS 80
#define COMMANDS 1024
#define SERIALS 2048
#define FAULTS 6 /* less than 8: a queue distinguishes at most 8 failures */

typedef struct command_set {
    uint64_t bits[COMMANDS / 64];
} command_set;

/* An array of the program. `places` is a set of bits: bit 0 is the host, bit d + 1 is device d. */
typedef struct model {
    collet_array *array;
    float value[N];
    uint32_t places; /* where its bytes are valid */
    int undefined;   /* the device that should have written the array was lost */
    uint64_t buffer[DEVICES];
} model;

typedef struct view {
    model *of;
    collet_array *array;
    int64_t start, step;
} view;

typedef struct program {
    collet_context *cx;
    int device;           /* -1: the host */
    uint32_t used;        /* devices, as bits */
    command_set pending;  /* commands of all calls since the last collet_finish */
    command_set promised; /* commands of the calls that returned OK */
} program;

static struct {
    collet_runtime *rt;
    program programs[CONTEXTS];
    model arrays[ARRAYS];
    int lost[DEVICES];
    command_set derived[SERIALS];   /* for each buffer: the commands from which its bytes derive */
    uint64_t failed_value[SERIALS]; /* for each queue: value of its first failed command, 0: none */
    int count, confirmed[COMMANDS];
    remote_command command[COMMANDS];
    int faults, chance, may_lose;
    command_set call; /* the commands that this call's results derive from */
    int kernels;      /* number of kernels of this call */
    char complaint[400];
} w;

static uint64_t random_state;
static int first_seed = 1, seed_count = ADDRESS_SANITIZER ? 100 : 150, seed;

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

static int failed(const remote_command *c)
{
    return w.failed_value[c->queue] && w.failed_value[c->queue] <= c->value;
}

static int any(const command_set *set, int or_lost)
{
    for (int i = 0; i < w.count; i++) {
        int lost = or_lost && w.lost[w.command[i].device] && !w.confirmed[i];
        if (set->bits[i / 64] >> (i % 64) & 1 && (lost || failed(&w.command[i])))
            return 1;
    }
    return 0;
}

static collet_status fault(void)
{
    if (w.faults == FAULTS || pick(100) >= w.chance)
        return COLLET_OK;
    w.faults++;
    return w.may_lose && !pick(3) ? COLLET_DEVICE_LOST : COLLET_FAILED;
}

static collet_status enqueued(remote_control *unused, remote_command *c)
{
    int i = w.count++;
    command_set from = {{0}};
    from.bits[i / 64] |= 1ull << (i % 64);
    w.command[i] = *c;
    if (c->partial)
        add_all(&from, &w.derived[c->target]);
    for (int k = 0; k < 2; k++)
        add_all(&from, &w.derived[c->sources[k]]);
    w.derived[c->target] = from;
    add_all(&w.call, &from);
    w.kernels += c->kernel;
    c->delay_us = pick(6) ? 0 : (int)pick(1500);
    collet_status status = fault();
    if (status == COLLET_DEVICE_LOST)
        w.lost[c->device] = 1;
    if (status == COLLET_FAILED && !w.failed_value[c->queue])
        w.failed_value[c->queue] = c->value;
    return status;
}

static void waited(remote_control *unused, uint64_t queue, uint64_t value, collet_status status)
{
    for (int i = 0; i < w.count && status == COLLET_OK; i++)
        if (w.command[i].queue == queue && w.command[i].value <= value)
            w.confirmed[i] = 1;
}

static remote_control control = {.enqueued = enqueued, .waited = waited};

static void begin_call(void)
{
    w.call = (command_set){{0}};
    w.kernels = 0;
}

/* ---- What may fail ----------------------------------------------------------------------- */

static int may_fail(const model *m)
{
    if (m->undefined)
        return 1;
    if (m->places & 1)
        return 0;
    for (int d = 0; d < DEVICES; d++) {
        uint32_t place = 2u << d;
        if (m->places & place && !w.lost[d] && !any(&w.derived[m->buffer[d]], 1))
            return 0;
    }
    return 1;
}

static int device_lost(const program *p)
{
    return p->device >= 0 && w.lost[p->device];
}

static int is_failure(collet_status status)
{
    return status == COLLET_FAILED || status == COLLET_DEVICE_LOST;
}

static void check_status(const program *p, collet_status status, int allowed, const char *call)
{
    char what[100];
    if (status == COLLET_OK || (allowed && is_failure(status)))
        return;
    snprintf(what, sizeof what, "%s returned %s without cause", call, collet_status_name(status));
    complain(what, p->cx);
}

/* ---- Arrays and views -------------------------------------------------------------------- */

static void written(model *m, const program *p, int whole)
{
    m->places = w.kernels ? 2u << p->device : 1;
    if (w.kernels)
        m->buffer[p->device] = w.command[w.count - 1].target;
    m->undefined &= !whole;
}

/* Called after each call. Notes which failures collet_finish may report (pending) and which it must
 * report (promised). */
static void called(program *p, collet_status status)
{
    if (p->device >= 0)
        p->used |= 1u << p->device;
    add_all(&p->pending, &w.call);
    if (status == COLLET_OK)
        add_all(&p->promised, &w.call);
}

static void new_array(model *m, const program *p)
{
    const int64_t n = N;
    *m = (model){.array = NULL};
    for (int i = 0; i < N; i++)
        m->value[i] = (float)(1 + pick(100));
    begin_call();
    if (collet_array_from(p->cx, &m->array, COLLET_F32, 1, &n, m->value) != COLLET_OK)
        complain("collet_array_from", p->cx);
    written(m, p, 1);
}

static view pick_view(const program *p, int64_t count)
{
    view v = {.of = &w.arrays[pick(ARRAYS)], .step = 1};
    if (count < N && (count - 1) * 2 < N)
        v.step = 1 + pick(2);
    v.start = pick(N - (count - 1) * v.step);
    if (collet_array_slice(p->cx, v.of->array, &v.array, 0, v.start, count, v.step) != COLLET_OK)
        complain("collet_array_slice", p->cx);
    return v;
}

static int64_t pick_count(void)
{
    return pick(2) ? N : 1 + pick(N - 1);
}

static float *element(const view *v, int64_t i)
{
    return &v->of->value[v->start + i * v->step];
}

/* ---- Steps ------------------------------------------------------------------------------- */

/* After a successful call its inputs are valid in the memory of the device that ran it. */
static void inputs_used(const program *p, const view *in, int count)
{
    for (int k = 0; k < count; k++) {
        if (p->device < 0)
            in[k].of->places |= 1;
        if (p->device < 0 || w.kernels != 1)
            continue;
        in[k].of->places |= 2u << p->device;
        in[k].of->buffer[p->device] = w.command[w.count - 1].sources[k];
    }
}

static void step_call(program *p)
{
    static const char *const names[] = {"fill", "copy", "add"};
    int64_t count = pick_count();
    int inputs = (int)pick(3), allowed;
    view out = pick_view(p, count), in[] = {pick_view(p, count), pick_view(p, count)};
    float results[N];
    collet_scalar value = {.dtype = COLLET_F32, .value.f32 = (float)(1 + pick(100))};
    for (int64_t i = 0; i < count; i++)
        results[i] = inputs == 0   ? value.value.f32
                     : inputs == 1 ? *element(&in[0], i)
                                   : *element(&in[0], i) + *element(&in[1], i);
    begin_call();
    collet_status status = inputs == 0 ? collet_op_fill(p->cx, out.array, &value)
                           : inputs == 1
                               ? collet_op_copy(p->cx, out.array, in[0].array)
                               : collet_op_add(p->cx, out.array, in[0].array, in[1].array);
    allowed = device_lost(p) || (count < N && may_fail(out.of));
    for (int k = 0; k < inputs; k++)
        allowed |= may_fail(in[k].of);
    check_status(p, status, allowed, names[inputs]);
    called(p, status);
    if (status == COLLET_OK) {
        inputs_used(p, in, inputs);
        written(out.of, p, count == N);
        for (int64_t i = 0; i < count; i++)
            *element(&out, i) = results[i];
    } else {
        out.of->undefined |= device_lost(p);
    }
    collet_array_destroy(out.array);
    collet_array_destroy(in[0].array);
    collet_array_destroy(in[1].array);
}

static void step_write(program *p)
{
    int64_t count = pick_count();
    view out = pick_view(p, count);
    float values[N];
    for (int64_t i = 0; i < count; i++)
        values[i] = (float)(1 + pick(100));
    begin_call();
    collet_status status =
        collet_array_write(p->cx, out.array, values, (size_t)count * sizeof *values);
    int lost = out.step > 1 && device_lost(p);
    check_status(p, status, lost || (count < N && may_fail(out.of)), "write");
    called(p, status);
    if (status == COLLET_OK) {
        written(out.of, p, count == N);
        for (int64_t i = 0; i < count; i++)
            *element(&out, i) = values[i];
    } else {
        out.of->undefined |= lost;
    }
    collet_array_destroy(out.array);
}

static void step_acquire(program *p)
{
    model *m = &w.arrays[pick(ARRAYS)];
    int64_t i = pick(N);
    void *address = NULL;
    begin_call();
    collet_status status = collet_array_acquire(p->cx, m->array, &address, COLLET_WRITE);
    check_status(p, status, may_fail(m), "acquire");
    if (status != COLLET_OK)
        return;
    m->value[i] = ((float *)address)[i] = (float)(1 + pick(100));
    written(m, p, 0);
    if (collet_array_release(p->cx, m->array) != COLLET_OK)
        complain("release", p->cx);
}

static void read_view(program *p, const view *v, int64_t count)
{
    float got[N];
    begin_call();
    collet_status status = collet_array_read(p->cx, v->array, got, (size_t)count * sizeof *got);
    int lost = w.kernels && device_lost(p);
    check_status(p, status, lost || may_fail(v->of) || any(&w.call, 1), "read");
    called(p, status);
    if (status != COLLET_OK)
        return;
    for (int64_t i = 0; i < count; i++)
        if (got[i] != *element(v, i))
            complain("read returned OK and wrong bytes", p->cx);
    if (v->step == 1)
        v->of->places |= 1;
}

static void step_read(program *p)
{
    int64_t count = pick_count();
    view v = pick_view(p, count);
    read_view(p, &v, count);
    collet_array_destroy(v.array);
}

static void step_finish(program *p)
{
    int lost = 0;
    collet_status status = collet_finish(p->cx);
    for (int d = 0; d < DEVICES; d++)
        lost |= w.lost[d] && p->used >> d & 1;
    check_status(p, status, any(&p->pending, 1) || (lost && status == COLLET_DEVICE_LOST),
                 "finish");
    if (status == COLLET_OK && any(&p->promised, 0))
        complain("finish returned OK in spite of a failure", p->cx);
    p->pending = p->promised = (command_set){{0}};
}

static void step_backend(program *p)
{
    char name[32] = "cpu_scalar";
    int device = (int)pick(DEVICES + 1) - 1;
    if (device >= 0)
        snprintf(name, sizeof name, "remote:%d", device);
    if (collet_set_backend(p->cx, name) == COLLET_OK)
        p->device = device;
    else if (device < 0 || !w.lost[device])
        complain("collet_set_backend", p->cx);
}

static void new_context(program *p)
{
    collet_context_destroy(p->cx);
    *p = (program){.device = -1};
    if (collet_context_create(w.rt, &p->cx, NULL) != COLLET_OK ||
        collet_set_backend(p->cx, "cpu_scalar") != COLLET_OK)
        complain("new context", p->cx);
    else
        step_backend(p);
}

static void step_array(program *p)
{
    model *m = &w.arrays[pick(ARRAYS)];
    collet_array_destroy(m->array);
    new_array(m, p);
}

static void *step(void *unused)
{
    program *p = &w.programs[pick(CONTEXTS)];
    int64_t n = pick(100);
    if (n < 50)
        step_call(p);
    else if (n < 65)
        step_read(p);
    else if (n < 75)
        step_write(p);
    else if (n < 85)
        step_backend(p);
    else if (n < 92)
        step_finish(p);
    else if (n < 95)
        step_acquire(p);
    else if (n < 98)
        step_array(p);
    else
        new_context(p);
    return NULL;
}

/* ---- Runs -------------------------------------------------------------------------------- */

static void open_run(void)
{
    char where[48], apart[32];
    const char *const settings[] = {where, apart, "remote.devices=3", "probe=off", NULL};
    memset(&w, 0, sizeof w);
    atomic_store(&control.serial, 0);
    random_state = (uint64_t)seed;
    pick(2);
    snprintf(where, sizeof where, "remote.control=%llx", (unsigned long long)(uintptr_t)&control);
    snprintf(apart, sizeof apart, "remote.apart=%d", !pick(4));
    w.chance = (int[]){0, 2, 5, 15}[pick(4)];
    w.may_lose = !pick(3);
    /* After a failure a queue may skip its waits, so later work may race with earlier work. Its
     * results are discarded, but the thread sanitizer would report the race. */
    control.after_failure = strcmp(COLLET_SANITIZER, "thread") ? (int)pick(3) : 0;
    w.rt = runtime_with(BOTH, settings);
    for (int i = 0; i < CONTEXTS; i++)
        new_context(&w.programs[i]);
    for (int i = 0; i < ARRAYS; i++)
        new_array(&w.arrays[i], &w.programs[0]);
}

static void close_run(void)
{
    collet_memory_stats stats = {.struct_size = sizeof stats};
    for (int i = 0; i < ARRAYS; i++) {
        view all = {.of = &w.arrays[i], .array = w.arrays[i].array, .step = 1};
        if (!*w.complaint)
            read_view(&w.programs[pick(CONTEXTS)], &all, N);
        collet_array_destroy(w.arrays[i].array);
    }
    assert_ok(w.programs[0].cx, collet_memory(w.programs[0].cx, &stats, "host"));
    assert_int_equal(stats.current, 0);
    for (int i = 0; i < CONTEXTS; i++)
        collet_context_destroy(w.programs[i].cx);
    collet_runtime_destroy(w.rt);
}

/* In every second run each step runs on a separate thread. */
static void one_run(void)
{
    int steps = 0;
    open_run();
    for (; steps < STEPS && !*w.complaint; steps++) {
        pthread_t thread;
        if (seed % 2) {
            step(NULL);
            continue;
        }
        assert_int_equal(pthread_create(&thread, NULL, step, NULL), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_true(w.count < COMMANDS - 20 && control.serial < SERIALS - 40);
    }
    close_run();
    if (*w.complaint)
        fail_msg("seed %d, step %d: %s", seed, steps, w.complaint);
}

TEST(reads_return_right_bytes_or_an_error)
{
    for (seed = first_seed; seed < first_seed + seed_count; seed++)
        one_run();
    print_message("%d runs of %d steps\n", seed_count, STEPS);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        first_seed = atoi(argv[1]);
    if (argc > 1)
        seed_count = argc > 2 ? atoi(argv[2]) : 1;
    return test_run();
}
