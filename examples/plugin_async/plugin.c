/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A backend with memory of its own and asynchronous queues: the second template of
 * plugins/README.md. The memory is the host's and each queue is a thread; replace the commands by
 * the functions of your device.
 *
 * A queue has a ring of commands and a ring of bytes for writes (staging), both allocated when the
 * queue is created. So memory is limited, and enqueuing cannot fail: it waits while a ring is full.
 */
#define _POSIX_C_SOURCE 200809L
#include <collet/extensions.h>

#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

COLLET_PLUGIN_MANIFEST("manifest.json");

enum {
    DEVICES = 2,
    RING = 256,        /* commands in a queue */
    STAGING = 4 << 20, /* bytes in a queue that wait to be written */
    OPERANDS = 3,      /* maximum number of operands of a kernel */
    PARAMS = 64,       /* maximum bytes of parameters */
    RADIUS = 1024      /* maximum radius of smooth */
};

/* example_async.smooth: out[..., i] is the mean of a[..., j] for |j - i| <= radius. Indices beyond
 * the ends are omitted, or with `wrap` continue at the other end. */
typedef struct smooth_params {
    uint32_t struct_size; /* sizeof(smooth_params) */
    uint32_t radius;      /* at most RADIUS, or the call is REFUSED */
    uint32_t wrap;        /* 0 or 1 */
    uint32_t reserved;    /* 0 */
} smooth_params;

/* ---- Devices ------------------------------------------------------------------------------ */

struct collet_device {
    const collet_host *host;
    int64_t fail;         /* the number of the kernel that fails; 0: none */
    uint64_t limit;       /* bytes of the device's memory */
    pthread_mutex_t lock; /* guards the members below */
    uint64_t used, peak;
};

static collet_status capabilities(const collet_plugin *self, char *json, uint64_t capacity,
                                  uint64_t *needed, const collet_host *host, collet_error *err)
{
    (void)self;
    static const char text[] =
        "{\"jit\": false, \"parallel\": true, \"gpu\": false, \"device_count\": 2, \"devices\": ["
        "{\"name\": \"thread 0\", \"memory_space\": \"own\", \"asynchronous\": true}, "
        "{\"name\": \"thread 1\", \"memory_space\": \"own\", \"asynchronous\": true}]}";
    (void)host;
    (void)err;
    *needed = sizeof text;
    if (capacity >= sizeof text)
        memcpy(json, text, sizeof text);
    return COLLET_OK;
}

static collet_status device_open(const collet_plugin *self, collet_device **device,
                                 collet_device_properties *properties, const collet_host *host,
                                 uint32_t index, const char *name, collet_error *err)
{
    (void)self;
    (void)name;
    if (index >= DEVICES)
        return host->fail(err, COLLET_UNAVAILABLE, "example_async has %d devices, no number %u",
                          DEVICES, index);
    collet_device *d = calloc(1, sizeof *d);
    if (!d)
        return host->fail(err, COLLET_NO_MEMORY, "example_async: no memory to open device %u",
                          index);
    d->host = host;
    d->limit = strtoull(host->config(host, "example_async.memory"), NULL, 10);
    d->fail = strtoll(host->config(host, "example_async.fail"), NULL, 10);
    pthread_mutex_init(&d->lock, NULL);
    properties->memory = COLLET_MEMORY_OWN;
    properties->order = COLLET_ORDER_QUEUES;
    properties->threads = COLLET_THREADS_ANY;
    *device = d;
    return COLLET_OK;
}

static void device_close(collet_device *d)
{
    if (!d)
        return;
    pthread_mutex_destroy(&d->lock);
    free(d);
}

/* ---- Memory ------------------------------------------------------------------------------ */

struct collet_buffer {
    uint64_t bytes;
    unsigned char *data;
};

/* Takes `bytes` of the device's memory; 0: not enough is free. */
static int take(collet_device *d, uint64_t bytes)
{
    pthread_mutex_lock(&d->lock);
    int fits = bytes <= d->limit - d->used;
    if (fits)
        d->used += bytes;
    if (d->used > d->peak)
        d->peak = d->used;
    pthread_mutex_unlock(&d->lock);
    return fits;
}

static void give_back(collet_device *d, uint64_t bytes)
{
    pthread_mutex_lock(&d->lock);
    d->used -= bytes;
    pthread_mutex_unlock(&d->lock);
}

static collet_status buffer_alloc(collet_device *d, collet_buffer **buffer, uint64_t bytes,
                                  collet_error *err)
{
    collet_buffer *b = NULL;
    void *data = NULL;
    if (!take(d, bytes))
        return d->host->fail(err, COLLET_REFUSED,
                             "example_async: %llu bytes do not fit in the device's memory of %llu",
                             (unsigned long long)bytes, (unsigned long long)d->limit);
    b = calloc(1, sizeof *b);
    if (!b || posix_memalign(&data, 256, bytes) != 0) {
        free(b);
        give_back(d, bytes);
        return d->host->fail(err, COLLET_REFUSED, "example_async: no host memory for %llu bytes",
                             (unsigned long long)bytes);
    }
    b->bytes = bytes;
    b->data = data;
    *buffer = b;
    return COLLET_OK;
}

/* libcore has waited for all work that uses the buffer. */
static void buffer_free(collet_device *d, collet_buffer *b)
{
    if (!b)
        return;
    give_back(d, b->bytes);
    free(b->data);
    free(b);
}

static collet_status memory_stats(collet_device *d, collet_memory_stats *stats, collet_error *err)
{
    (void)err;
    pthread_mutex_lock(&d->lock);
    stats->current = stats->held = d->used;
    stats->peak = d->peak;
    stats->total = d->limit;
    stats->available = d->limit - d->used;
    pthread_mutex_unlock(&d->lock);
    return COLLET_OK;
}

static void memory_reset_peak(collet_device *d)
{
    pthread_mutex_lock(&d->lock);
    d->peak = d->used;
    pthread_mutex_unlock(&d->lock);
}

static const collet_memory_extension memory_extension = {sizeof memory_extension, 0, memory_stats,
                                                         memory_reset_peak};

/* ---- Queues ------------------------------------------------------------------------------ */

/* A copy of an operand for a command, because a call's arrays are valid only during the call. */
typedef struct view {
    unsigned char *first; /* address of the first element */
    int64_t element;      /* bytes of an element */
    int32_t ndim;         /* at least 1 */
    int64_t shape[COLLET_MAX_DIMS], strides[COLLET_MAX_DIMS];
} view;

/* The counter of a queue. Commands of other queues may wait for it even after the queue is
 * destroyed. */
typedef struct timeline {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint32_t references;
    uint64_t enqueued, done; /* number of commands */
    uint64_t failed;         /* number of the first command that failed; 0: none */
    uint32_t failed_op;
} timeline;

typedef struct command command;
struct command {
    void (*work)(const command *c);
    /* A kernel. */
    uint32_t op, operands;
    int fails;
    view operand[OPERANDS]; /* outputs first */
    collet_buffer *scratch;
    _Alignas(16) unsigned char params[PARAMS];
    /* A write. */
    collet_buffer *target;
    const unsigned char *staged;
    uint64_t offset, bytes;
    uint64_t staging_end; /* value of `staged` after this command */
    /* A wait for another queue. */
    timeline *other;
    uint64_t value;
    collet_stamp *stamp;
};

struct collet_queue {
    timeline *time; /* its lock guards the counters and `ending` */
    pthread_t thread;
    int ending;
    uint64_t staged, unstaged; /* total bytes copied to the staging ring, and released from it */
    int64_t kernels;
    unsigned char *staging;
    command ring[RING];
};

static timeline *timeline_new(void)
{
    timeline *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&t->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&t->lock, NULL);
    t->references = 1;
    return t;
}

static void timeline_release(timeline *t)
{
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    int last = --t->references == 0;
    pthread_mutex_unlock(&t->lock);
    if (!last)
        return;
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

/* Waits until `done` is at least `value`; returns 0 if the time limit passes first. */
static int timeline_wait(timeline *t, uint64_t value, int64_t nanoseconds)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (nanoseconds > 0) {
        end.tv_sec += nanoseconds / 1000000000;
        end.tv_nsec += nanoseconds % 1000000000;
        end.tv_sec += end.tv_nsec / 1000000000;
        end.tv_nsec %= 1000000000;
    }
    int result = 0;
    pthread_mutex_lock(&t->lock);
    while (t->done < value && result != ETIMEDOUT)
        result = nanoseconds < 0 ? pthread_cond_wait(&t->changed, &t->lock)
                                 : pthread_cond_timedwait(&t->changed, &t->lock, &end);
    int reached = t->done >= value;
    pthread_mutex_unlock(&t->lock);
    return reached;
}

/* The thread of a queue. A thread inherits the floating-point state of the thread that created it. */
static void *queue_run(void *argument)
{
    collet_queue *q = argument;
    timeline *t = q->time;
    fesetenv(FE_DFL_ENV);
    pthread_mutex_lock(&t->lock);
    for (;;) {
        while (t->done == t->enqueued && !q->ending)
            pthread_cond_wait(&t->changed, &t->lock);
        if (t->done == t->enqueued)
            break;
        command *c = &q->ring[t->done % RING];
        int skipped = t->failed != 0; /* commands after a failure may depend on it */
        pthread_mutex_unlock(&t->lock);
        if (!skipped && !c->fails)
            c->work(c);
        timeline_release(c->other);
        pthread_mutex_lock(&t->lock);
        t->done++;
        if (c->fails && !t->failed) {
            t->failed = t->done;
            t->failed_op = c->op;
        }
        q->unstaged = c->staging_end;
        pthread_cond_broadcast(&t->changed);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* Signals are for the program's threads, so this thread blocks them; it inherits the mask of the
 * thread that creates it. Signals of faults stay unblocked: the layer `validation` handles
 * SIGSEGV. */
static int thread_start(pthread_t *thread, void *(*run)(void *), void *argument)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    sigset_t all, before;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = pthread_create(thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

static collet_status queue_create(collet_device *d, collet_queue **queue, collet_error *err)
{
    collet_queue *q = calloc(1, sizeof *q);
    if (!q)
        goto no_memory;
    q->time = timeline_new();
    q->staging = malloc(STAGING);
    if (!q->time || !q->staging)
        goto no_memory;
    int result = thread_start(&q->thread, queue_run, q);
    if (result) {
        d->host->fail(err, COLLET_FAILED, "example_async: no thread for a queue: error %d", result);
        goto fail;
    }
    *queue = q;
    return COLLET_OK;
no_memory:
    d->host->fail(err, COLLET_NO_MEMORY, "example_async: no memory for a queue");
fail:
    if (q) {
        timeline_release(q->time);
        free(q->staging);
        free(q);
    }
    return err->status;
}

static void queue_destroy(collet_device *d, collet_queue *q)
{
    (void)d;
    if (!q)
        return;
    pthread_mutex_lock(&q->time->lock);
    q->ending = 1;
    pthread_cond_broadcast(&q->time->changed);
    pthread_mutex_unlock(&q->time->lock);
    pthread_join(q->thread, NULL);
    timeline_release(q->time);
    free(q->staging);
    free(q);
}

/* Returns the next command, empty, to be filled in. Only one thread at a time enqueues in a
 * queue. */
static command *command_begin(collet_queue *q)
{
    timeline *t = q->time;
    pthread_mutex_lock(&t->lock);
    while (t->enqueued - t->done == RING)
        pthread_cond_wait(&t->changed, &t->lock);
    command *c = &q->ring[t->enqueued % RING];
    pthread_mutex_unlock(&t->lock);
    memset(c, 0, sizeof *c);
    c->staging_end = q->staged;
    return c;
}

static void command_enqueue(collet_queue *q)
{
    pthread_mutex_lock(&q->time->lock);
    q->time->enqueued++;
    pthread_cond_broadcast(&q->time->changed);
    pthread_mutex_unlock(&q->time->lock);
}

static uint64_t queue_mark(collet_device *d, collet_queue *q)
{
    (void)d;
    pthread_mutex_lock(&q->time->lock);
    uint64_t value = q->time->enqueued;
    pthread_mutex_unlock(&q->time->lock);
    return value;
}

static collet_status queue_wait(collet_device *d, collet_queue *q, uint64_t value,
                                int64_t nanoseconds, collet_error *err)
{
    timeline *t = q->time;
    if (!timeline_wait(t, value, nanoseconds))
        return d->host->fail(err, COLLET_NOT_READY, "example_async: the queue is still at work");
    pthread_mutex_lock(&t->lock);
    uint64_t failed = t->failed;
    uint32_t op = t->failed_op;
    pthread_mutex_unlock(&t->lock);
    if (failed && failed <= value)
        return d->host->fail(err, COLLET_FAILED,
                             "example_async: command %llu of the queue, op %u, failed",
                             (unsigned long long)failed, op);
    return COLLET_OK;
}

static void do_wait(const command *c)
{
    (void)timeline_wait(c->other, c->value, -1);
}

static collet_status queue_after(collet_device *d, collet_queue *q, collet_queue *other,
                                 uint64_t value, collet_error *err)
{
    (void)d;
    (void)err;
    command *c = command_begin(q);
    c->work = do_wait;
    c->other = other->time;
    c->value = value;
    pthread_mutex_lock(&other->time->lock);
    other->time->references++;
    pthread_mutex_unlock(&other->time->lock);
    command_enqueue(q);
    return COLLET_OK;
}

/* ---- Transfers --------------------------------------------------------------------------- */

static void do_write(const command *c)
{
    memcpy(c->target->data + c->offset, c->staged, c->bytes);
}

/* Copies as many of `bytes` bytes as fit in one piece into the staging ring, and returns their
 * number; waits while the ring is full. */
static uint64_t stage(collet_queue *q, command *c, const unsigned char *source, uint64_t bytes)
{
    uint64_t at = q->staged % STAGING, piece = STAGING / 4;
    piece = piece < STAGING - at ? piece : STAGING - at;
    piece = piece < bytes ? piece : bytes;
    pthread_mutex_lock(&q->time->lock);
    while (q->staged + piece - q->unstaged > STAGING)
        pthread_cond_wait(&q->time->changed, &q->time->lock);
    pthread_mutex_unlock(&q->time->lock);
    memcpy(q->staging + at, source, piece);
    q->staged += piece;
    c->staged = q->staging + at;
    c->staging_end = q->staged;
    return piece;
}

static collet_status buffer_write(collet_device *d, collet_queue *q, collet_buffer *b,
                                  uint64_t offset, const void *source, uint64_t bytes,
                                  collet_error *err)
{
    const unsigned char *from = source;
    (void)d;
    (void)err;
    for (uint64_t at = 0; at < bytes;) {
        command *c = command_begin(q);
        c->work = do_write;
        c->target = b;
        c->offset = offset + at;
        c->bytes = stage(q, c, from + at, bytes - at);
        at += c->bytes;
        command_enqueue(q);
    }
    return COLLET_OK;
}

static collet_status buffer_read(collet_device *d, collet_queue *q, collet_buffer *b,
                                 uint64_t offset, void *target, uint64_t bytes, collet_error *err)
{
    collet_status status = queue_wait(d, q, queue_mark(d, q), -1, err);
    if (status == COLLET_OK)
        memcpy(target, b->data + offset, bytes);
    return status;
}

/* ---- Time -------------------------------------------------------------------------------- */

struct collet_stamp {
    int64_t time; /* nanoseconds; 0: the queue failed before it */
};

static void do_stamp(const command *c)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    c->stamp->time = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static collet_status timing_stamp(collet_device *d, collet_queue *q, collet_stamp **stamp,
                                  collet_error *err)
{
    collet_stamp *s = calloc(1, sizeof *s);
    if (!s)
        return d->host->fail(err, COLLET_NO_MEMORY, "example_async: no memory for a stamp");
    command *c = command_begin(q);
    c->work = do_stamp;
    c->stamp = s;
    command_enqueue(q);
    *stamp = s;
    return COLLET_OK;
}

static collet_status timing_elapsed(collet_device *d, collet_stamp *first, collet_stamp *last,
                                    int64_t *nanoseconds, collet_error *err)
{
    if (!first->time || !last->time)
        return d->host->fail(err, COLLET_FAILED, "example_async: the queue failed before a stamp");
    *nanoseconds = last->time - first->time;
    return COLLET_OK;
}

/* The stamp's command is done, because libcore has waited for a later mark. */
static void timing_release(collet_device *d, collet_stamp *stamp)
{
    (void)d;
    free(stamp);
}

static const collet_timing_extension timing_extension = {sizeof timing_extension, 0, timing_stamp,
                                                         timing_elapsed, timing_release};

/* ---- Kernels ----------------------------------------------------------------------------- */

static double load(const unsigned char *at, int64_t element)
{
    return element == 4 ? (double)*(const float *)(const void *)at
                        : *(const double *)(const void *)at;
}

static void store(unsigned char *at, int64_t element, double x)
{
    if (element == 4)
        *(float *)(void *)at = (float)x;
    else
        *(double *)(void *)at = x;
}

/* A row has the elements along the last axis. `row` counts the other axes; the last axis but one
 * varies fastest. */
static int64_t row_count(const view *v)
{
    int64_t rows = 1;
    for (int32_t axis = 0; axis < v->ndim - 1; axis++)
        rows *= v->shape[axis];
    return rows;
}

static unsigned char *row_start(const view *v, int64_t row)
{
    unsigned char *at = v->first;
    for (int32_t axis = v->ndim - 2; axis >= 0; axis--) {
        at += row % v->shape[axis] * v->strides[axis] * v->element;
        row /= v->shape[axis];
    }
    return at;
}

static int64_t row_length(const view *v)
{
    return v->shape[v->ndim - 1];
}

/* Bytes from one element of a row to the next. */
static int64_t row_step(const view *v)
{
    return v->strides[v->ndim - 1] * v->element;
}

/* out = value + a + b; a and b may be absent. */
static void add_up(const command *c, double value)
{
    const view *out = &c->operand[0];
    int64_t rows = row_count(out), n = row_length(out);
    for (int64_t row = 0; row < rows; row++) {
        unsigned char *at[OPERANDS];
        for (uint32_t k = 0; k < c->operands; k++)
            at[k] = row_start(&c->operand[k], row);
        for (int64_t i = 0; i < n; i++) {
            double x = c->operands > 1 ? load(at[1], c->operand[1].element) : value;
            if (c->operands > 2)
                x += load(at[2], c->operand[2].element);
            store(at[0], out->element, x);
            for (uint32_t k = 0; k < c->operands; k++)
                at[k] += row_step(&c->operand[k]);
        }
    }
}

static void do_add(const command *c)
{
    add_up(c, 0);
}

static void do_fill(const command *c)
{
    const collet_scalar *value = &((const collet_fill_params *)(const void *)c->params)->value;
    add_up(c, value->dtype == COLLET_F32 ? (double)value->value.f32 : value->value.f64);
}

/* Reads the input once; the scratch has a sum for each output element, in C order. */
static void do_sum(const command *c)
{
    const collet_reduce_params *p = (const void *)c->params;
    const view *out = &c->operand[0], *in = &c->operand[1];
    int64_t sums = row_count(out) * row_length(out), step[COLLET_MAX_DIMS] = {0}, next = 1;
    if (sums == 0)
        return;
    long double *sum = (void *)c->scratch->data;
    for (int64_t i = 0; i < sums; i++)
        sum[i] = 0;
    for (int32_t axis = in->ndim - 1; axis >= 0; axis--)
        if (!(p->axes >> axis & 1)) {
            step[axis] = next;
            next *= in->shape[axis];
        }
    for (int64_t row = 0, rows = row_count(in); row < rows; row++) {
        const unsigned char *at = row_start(in, row);
        long double *to = sum;
        int64_t rest = row;
        for (int32_t axis = in->ndim - 2; axis >= 0; axis--) {
            to += rest % in->shape[axis] * step[axis];
            rest /= in->shape[axis];
        }
        for (int64_t i = 0; i < row_length(in); i++, at += row_step(in))
            to[i * step[in->ndim - 1]] += load(at, in->element);
    }
    for (int64_t row = 0, rows = row_count(out); row < rows; row++)
        for (int64_t i = 0, n = row_length(out); i < n; i++)
            store(row_start(out, row) + i * row_step(out), out->element, (double)sum[row * n + i]);
}

/* The scratch has a copy of the row, because the output may be the input. */
static void do_smooth(const command *c)
{
    const smooth_params *p = (const void *)c->params;
    const view *out = &c->operand[0], *in = &c->operand[1];
    int64_t n = row_length(out), radius = p->radius;
    double *x = c->scratch ? (void *)c->scratch->data : NULL;
    for (int64_t row = 0, rows = n ? row_count(out) : 0; row < rows; row++) {
        for (int64_t i = 0; i < n; i++)
            x[i] = load(row_start(in, row) + i * row_step(in), in->element);
        for (int64_t i = 0; i < n; i++) {
            double sum = 0, count = 0;
            for (int64_t j = i - radius; j <= i + radius; j++)
                if (p->wrap || (j >= 0 && j < n)) {
                    sum += x[(j % n + n) % n];
                    count++;
                }
            store(row_start(out, row) + i * row_step(out), out->element, sum / count);
        }
    }
}

/* ---- Calls ------------------------------------------------------------------------------- */

/* Operand i of a call, outputs first. */
static const collet_operand *operand(const collet_kernel_call *call, uint32_t i)
{
    const char *first = (const char *)call->operands;
    return (const collet_operand *)(const void *)(first + (size_t)i * call->operand_size);
}

static view view_of(const collet_operand *o)
{
    view v = {.element = o->dtype == COLLET_F32 ? 4 : 8, .ndim = o->ndim};
    v.first = ((const collet_buffer *)o->buffer)->data + o->byte_offset;
    memcpy(v.shape, o->shape, (size_t)o->ndim * sizeof *v.shape);
    memcpy(v.strides, o->strides, (size_t)o->ndim * sizeof *v.strides);
    if (v.ndim == 0)
        v.shape[v.ndim++] = 1;
    return v;
}

static collet_status enqueue(collet_device *d, collet_queue *q, const collet_kernel_call *call,
                             void (*work)(const command *))
{
    command *c = command_begin(q);
    c->work = work;
    c->op = call->op;
    c->operands = call->n_out + call->n_in;
    c->fails = ++q->kernels == d->fail;
    for (uint32_t i = 0; i < c->operands; i++)
        c->operand[i] = view_of(operand(call, i));
    c->scratch = call->workspace;
    if (call->params_size)
        memcpy(c->params, call->params, call->params_size < PARAMS ? call->params_size : PARAMS);
    command_enqueue(q);
    return COLLET_OK;
}

static collet_status run_add(collet_device *d, collet_queue *q, const collet_kernel_call *call)
{
    return enqueue(d, q, call, do_add);
}

static collet_status run_fill(collet_device *d, collet_queue *q, const collet_kernel_call *call)
{
    return enqueue(d, q, call, do_fill);
}

static collet_status accept_fill(collet_device *d, const collet_kernel_call *call,
                                 uint64_t *workspace_bytes)
{
    const collet_scalar *value = &((const collet_fill_params *)call->params)->value;
    (void)workspace_bytes;
    if (value->dtype == COLLET_F32 || value->dtype == COLLET_F64)
        return COLLET_OK;
    return d->host->fail(call->err, COLLET_REFUSED,
                         "example_async: fill takes values of f32 and f64");
}

static collet_status run_sum(collet_device *d, collet_queue *q, const collet_kernel_call *call)
{
    return enqueue(d, q, call, do_sum);
}

static collet_status accept_sum(collet_device *d, const collet_kernel_call *call,
                                uint64_t *workspace_bytes)
{
    const collet_operand *out = operand(call, 0);
    uint64_t sums = 1;
    (void)d;
    for (int32_t axis = 0; axis < out->ndim; axis++)
        sums *= (uint64_t)out->shape[axis];
    *workspace_bytes = sums * sizeof(long double);
    return COLLET_OK;
}

static collet_status run_smooth(collet_device *d, collet_queue *q, const collet_kernel_call *call)
{
    return enqueue(d, q, call, do_smooth);
}

static collet_status accept_smooth(collet_device *d, const collet_kernel_call *call,
                                   uint64_t *workspace_bytes)
{
    const smooth_params *p = call->params;
    const collet_operand *out = operand(call, 0);
    if (p->radius > RADIUS || p->wrap > 1)
        return d->host->fail(
            call->err, COLLET_REFUSED,
            "example_async.smooth: radius must be at most %d, but is %u, and wrap must be 0 or "
            "1, not %u",
            RADIUS, p->radius, p->wrap);
    *workspace_bytes = (uint64_t)out->shape[out->ndim - 1] * sizeof(double);
    return COLLET_OK;
}

/* ---- Tables ------------------------------------------------------------------------------ */

static const collet_ops_field smooth_fields[] = {
    {"radius", "neighbours on each side", NULL, 1, COLLET_FIELD_NUMBER, COLLET_U32,
     offsetof(smooth_params, radius), sizeof(uint32_t)},
    {"wrap", "1: indices beyond an end continue at the other end", NULL, 0, COLLET_FIELD_FLAG,
     COLLET_U32, offsetof(smooth_params, wrap), sizeof(uint32_t)},
};

static const collet_ops_definition ops[] = {
    {"example_async.smooth", "out[...,N] : a[...,N]", "f:f d:d", sizeof(smooth_params), 1,
     smooth_fields, 2, sizeof *smooth_fields},
};

#define F COLLET_F32
#define D COLLET_F64
static const collet_kernel_row kernels[] = {
    COLLET_ROW(FILL, COLLET_SIG(F), run_fill, accept_fill),
    COLLET_ROW(FILL, COLLET_SIG(D), run_fill, accept_fill),
    COLLET_ROW(COPY, COLLET_SIG(F, F), run_add, NULL),
    COLLET_ROW(COPY, COLLET_SIG(D, D), run_add, NULL),
    COLLET_ROW(COPY, COLLET_SIG(D, F), run_add, NULL),
    COLLET_ROW(COPY, COLLET_SIG(F, D), run_add, NULL),
    COLLET_ROW(ADD, COLLET_SIG(F, F, F), run_add, NULL),
    COLLET_ROW(ADD, COLLET_SIG(D, D, D), run_add, NULL),
    COLLET_ROW(SUM, COLLET_SIG(F, F), run_sum, accept_sum),
    COLLET_ROW(SUM, COLLET_SIG(D, D), run_sum, accept_sum),
    {COLLET_OWN_OP(0), 0, COLLET_SIG(F, F), sizeof(smooth_params), 0, run_smooth, accept_smooth},
    {COLLET_OWN_OP(0), 0, COLLET_SIG(D, D), sizeof(smooth_params), 0, run_smooth, accept_smooth},
};

static const void *extension(collet_device *d, const char *name)
{
    (void)d;
    if (!strcmp(name, COLLET_EXTENSION_MEMORY))
        return &memory_extension;
    return strcmp(name, COLLET_EXTENSION_TIMING) ? NULL : &timing_extension;
}

static const collet_plugin plugin = {
    .abi = COLLET_ABI,
    .struct_size = sizeof(collet_plugin),
    .kernel_count = sizeof kernels / sizeof kernels[0],
    .kernel_size = sizeof kernels[0],
    .op_count = sizeof ops / sizeof ops[0],
    .op_size = sizeof ops[0],
    .name = "example_async",
    .version = "1.0.0",
    .kernels = kernels,
    .ops = ops,
    .capabilities = capabilities,
    .device_open = device_open,
    .device_close = device_close,
    .buffer_alloc = buffer_alloc,
    .buffer_free = buffer_free,
    .buffer_write = buffer_write,
    .buffer_read = buffer_read,
    .queue_create = queue_create,
    .queue_destroy = queue_destroy,
    .queue_mark = queue_mark,
    .queue_wait = queue_wait,
    .queue_after = queue_after,
    .extension = extension,
};

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    return host->abi >> 16 == COLLET_ABI_MAJOR ? &plugin : NULL;
}
