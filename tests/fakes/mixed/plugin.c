/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
/*
 * Test backends with devices of different kinds. They abort if libcore violates the properties of a
 * device. Work is done when it is enqueued. CMakeLists.txt builds five backends from this file:
 *
 *   mixed        the op mixed.scale, and seven devices: 0 host memory; 1 own memory; 2 own memory,
 *                at most one queue; 3 like 1, one call at a time; 4 like 0, one call at a time;
 *                5 an unknown property; 6 host memory with queues: the device is lost at its first
 *                call, and the call's output is written only when the queue is destroyed
 *   mixed_newer  mixed.scale with more parameters and signatures; an add with an unknown flag;
 *                mixed.later, which needs a newer interface
 *   mixed_clash  another mixed.scale; mixed.weigh with a factor of i32, not f32; mixed_clash.odd
 *                with a signature of unknown types
 *   mixed_none   no device
 *   mixed_named  only devices that are opened by name: "host" and "own"
 */
/* clang-format on */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <collet/plugin.h>

COLLET_PLUGIN_MANIFEST(MIXED_MANIFEST);

enum { HOST, OWN, ONE_QUEUE, OWN_ONE_CALL, HOST_ONE_CALL, UNKNOWN, HOST_LOST, DEVICES };

struct collet_device {
    const collet_host *host;
    uint32_t kind;
    int64_t refused, largest_write;
    _Atomic int64_t kernels, fails;
    _Atomic int calls, queues;
};

struct collet_buffer {
    uint64_t bytes;
    _Alignas(16) char data[];
};

struct collet_queue {
    _Atomic int calls;
    _Atomic uint64_t value, failed_at;
    float *late; /* HOST_LOST: the output that is written when the queue is destroyed */
};

static void broken(const char *promise)
{
    fprintf(stderr, MIXED_NAME ": %s\n", promise);
    abort();
}

/* enter and leave surround every call of a device. They abort if two calls overlap that must not
 * overlap. */
static void enter(collet_device *d)
{
    int one = d->kind == OWN_ONE_CALL || d->kind == HOST_ONE_CALL;
    if (d->calls++ && one)
        broken("two calls of a device with COLLET_THREADS_ONE");
    if (one)
        usleep(50);
}

static collet_status leave(collet_device *d, collet_status status)
{
    d->calls--;
    return status;
}

/* ---- Devices ------------------------------------------------------------------------------ */

static collet_status capabilities(const collet_plugin *self, char *json, uint64_t capacity,
                                  uint64_t *needed, const collet_host *host, collet_error *err)
{
    char text[512] = "{\"jit\": false, \"parallel\": false, \"gpu\": false, \"device_count\": 0,"
                     " \"reason\": \"the card is in another machine\"}";
    int length = (int)strlen(text);
    if (MIXED_DEVICES) {
        length = snprintf(text, sizeof text,
                          "{\"jit\": false, \"parallel\": false, \"gpu\": false,"
                          " \"device_count\": %d, \"devices\": [",
                          MIXED_DEVICES);
        for (int i = 0; i < MIXED_DEVICES; i++)
            length += snprintf(text + length, sizeof text - (size_t)length, "%s{\"name\": \"%d\"}",
                               i ? ", " : "", i);
        length += snprintf(text + length, sizeof text - (size_t)length, "]}");
    }
    *needed = (uint64_t)length + 1;
    if (capacity >= *needed)
        memcpy(json, text, *needed);
    return COLLET_OK;
}

static collet_status device_open(const collet_plugin *self, collet_device **device,
                                 collet_device_properties *of, const collet_host *host,
                                 uint32_t index, const char *name, collet_error *err)
{
    static const collet_device_properties kinds[DEVICES] = {
#define KIND(space, order, calls, queues)                                                          \
    {0, COLLET_MEMORY_##space, COLLET_ORDER_##order, COLLET_THREADS_##calls, queues, 0}
        [HOST] = KIND(HOST, SYNCHRONOUS, ANY, 0),
        [OWN] = KIND(OWN, SYNCHRONOUS, ANY, 0),
        [ONE_QUEUE] = KIND(OWN, QUEUES, ANY, 1),
        [OWN_ONE_CALL] = KIND(OWN, QUEUES, ONE, 0),
        [HOST_ONE_CALL] = KIND(HOST, SYNCHRONOUS, ONE, 0),
        [HOST_LOST] = KIND(HOST, QUEUES, ANY, 0),
        [UNKNOWN] = {0, 3, COLLET_ORDER_SYNCHRONOUS, COLLET_THREADS_ANY, 0, 0},
    };
    if (name && strcmp(name, "host") != 0 && strcmp(name, "own") != 0)
        return host->fail(err, COLLET_UNAVAILABLE, "no device is called %s", name);
    if (name)
        index = strcmp(name, "own") ? HOST : OWN;
    collet_device *d = calloc(1, sizeof *d);
    if (!d)
        return host->fail(err, COLLET_NO_MEMORY, "no memory for device %u", index);
    d->host = host;
    d->kind = index;
    d->refused = strtoll(host->config(host, MIXED_NAME ".refused"), NULL, 10);
    d->largest_write = strtoll(host->config(host, MIXED_NAME ".largest_write"), NULL, 10);
    d->fails = strtoll(host->config(host, MIXED_NAME ".fails"), NULL, 10);
    of->memory = kinds[index].memory;
    of->order = kinds[index].order;
    of->threads = kinds[index].threads;
    of->max_queues = kinds[index].max_queues;
    *device = d;
    return COLLET_OK;
}

static void device_close(collet_device *d)
{
    free(d);
}

/* ---- Memory ------------------------------------------------------------------------------- */

static collet_status buffer_alloc(collet_device *d, collet_buffer **buffer, uint64_t bytes,
                                  collet_error *err)
{
    enter(d);
    *buffer = malloc(sizeof **buffer + bytes);
    return leave(d, *buffer ? COLLET_OK : d->host->fail(err, COLLET_REFUSED, "no memory"));
}

static void buffer_free(collet_device *d, collet_buffer *buffer)
{
    enter(d);
    free(buffer);
    leave(d, COLLET_OK);
}

static void enqueue(collet_device *d, collet_queue *q)
{
    if (q && q->calls++)
        broken("two threads enqueue in one queue");
    if (q && d->kind == ONE_QUEUE)
        usleep(50);
    if (q) {
        q->value++;
        q->calls--;
    }
}

static collet_status buffer_write(collet_device *d, collet_queue *q, collet_buffer *buffer,
                                  uint64_t offset, const void *source, uint64_t bytes,
                                  collet_error *err)
{
    enter(d);
    if ((int64_t)bytes > d->largest_write)
        return leave(d, d->host->fail(err, COLLET_REFUSED, "no staging buffer is left"));
    memcpy(buffer->data + offset, source, bytes);
    enqueue(d, q);
    return leave(d, COLLET_OK);
}

static collet_status buffer_read(collet_device *d, collet_queue *q, collet_buffer *buffer,
                                 uint64_t offset, void *target, uint64_t bytes, collet_error *err)
{
    enter(d);
    memcpy(target, buffer->data + offset, bytes);
    enqueue(d, q);
    return leave(d, COLLET_OK);
}

/* ---- Queues ------------------------------------------------------------------------------- */

static collet_status queue_create(collet_device *d, collet_queue **queue, collet_error *err)
{
    enter(d);
    if (d->kind == ONE_QUEUE && d->queues++)
        broken("a second queue of a device with max_queues 1");
    *queue = calloc(1, sizeof **queue);
    return leave(d, *queue ? COLLET_OK : d->host->fail(err, COLLET_NO_MEMORY, "no memory"));
}

static void queue_destroy(collet_device *d, collet_queue *q)
{
    enter(d);
    if (d->kind == ONE_QUEUE)
        d->queues--;
    if (q && q->late)
        *q->late = 7;
    free(q);
    leave(d, COLLET_OK);
}

static uint64_t queue_mark(collet_device *d, collet_queue *q)
{
    enter(d);
    uint64_t value = q->value;
    leave(d, COLLET_OK);
    return value;
}

static collet_status queue_wait(collet_device *d, collet_queue *q, uint64_t value,
                                int64_t nanoseconds, collet_error *err)
{
    enter(d);
    if (q->late)
        return leave(d, d->host->fail(err, COLLET_DEVICE_LOST, "the device is lost"));
    if (q->failed_at && value >= q->failed_at)
        return leave(d,
                     d->host->fail(err, COLLET_FAILED, "kernel %lld failed", (long long)d->fails));
    return leave(d, COLLET_OK);
}

static collet_status queue_after(collet_device *d, collet_queue *q, collet_queue *other,
                                 uint64_t value, collet_error *err)
{
    enter(d);
    enqueue(d, q);
    return leave(d, COLLET_OK);
}

/* ---- Kernels ------------------------------------------------------------------------------ */

typedef struct scale_params {
    uint32_t struct_size;
    float factor;
#if MIXED_NEWER
    float summand;
    uint32_t reserved;
#endif
} scale_params;

static float *elements(const collet_device *d, const collet_operand *o)
{
    int own = d->kind != HOST && d->kind != HOST_ONE_CALL && d->kind != HOST_LOST;
    char *first = own ? ((collet_buffer *)o->buffer)->data : o->buffer;
    return (float *)(void *)(first + o->byte_offset);
}

static int64_t count_of(const collet_operand *o)
{
    int64_t count = 1;
    for (int32_t i = 0; i < o->ndim; i++)
        count *= o->shape[i];
    return count;
}

static void compute(const collet_device *d, const collet_kernel_call *call)
{
    const collet_operand *o = call->operands;
    float *out = elements(d, &o[0]), *a = elements(d, &o[1]);
    float *b = call->n_in > 1 ? elements(d, &o[2]) : NULL;
    const scale_params *p = call->params;
    for (int64_t i = 0; i < count_of(o); i++)
        out[i] = b ? a[i] + b[i] : a[i];
    for (int64_t i = 0; p && i < count_of(o); i++)
        out[i] *= p->factor;
#if MIXED_NEWER
    for (int64_t i = 0; p && i < count_of(o); i++)
        out[i] += p->summand;
#endif
}

static collet_status run(collet_device *d, collet_queue *q, const collet_kernel_call *call)
{
    enter(d);
    compute(d, call);
    if (d->kind == HOST_LOST)
        q->late = elements(d, call->operands);
    enqueue(d, q);
    if (++d->kernels == d->fails && q)
        q->failed_at = q->value;
    return leave(d, COLLET_OK);
}

static collet_status accepts(collet_device *d, const collet_kernel_call *call,
                             uint64_t *workspace_bytes)
{
    enter(d);
    for (uint32_t i = 0; i < call->n_out + call->n_in; i++)
        if (call->operands[i].buffer)
            broken("accepts sees a buffer");
    if (*workspace_bytes || call->workspace)
        broken("accepts sees a workspace");
    if (count_of(call->operands) < d->refused)
        return leave(d, COLLET_OK);
    return leave(d, d->host->fail(call->err, COLLET_REFUSED, "%lld elements are too many",
                                  (long long)count_of(call->operands)));
}

#define FF COLLET_SIG(COLLET_F32, COLLET_F32)
#define FFF COLLET_SIG(COLLET_F32, COLLET_F32, COLLET_F32)
static const collet_kernel_row kernels[] = {
    COLLET_ROW(COPY, FF, run, NULL),
#if MIXED_NEWER
    {COLLET_OP_ADD, 4, FFF, 0, 0, run, NULL},
#else
    COLLET_ROW(ADD, FFF, run, NULL),
#endif
    COLLET_ROW(MATMUL, FFF, run, accepts),
    {COLLET_OWN_OP(0), 0, FF, MIXED_CLASH ? 0 : sizeof(scale_params), 0, run, NULL},
#if MIXED_NEWER
    {COLLET_OWN_OP(1), 0, FF, 512, 0, run, NULL},
#endif
#if MIXED_CLASH
    {COLLET_OWN_OP(1), 0, FF, 0, 0, run, NULL},
    {COLLET_OWN_OP(1), 0, COLLET_SIG(31, 31), 0, 0, run, NULL},
#endif
#if !MIXED_NEWER
    {COLLET_OWN_OP(MIXED_CLASH + 1), 0, FF, sizeof(scale_params), 0, run, NULL},
#endif
};

static const collet_ops_field fields[] = {
    {"factor", "of a", NULL, 1, COLLET_FIELD_NUMBER, MIXED_CLASH ? COLLET_I32 : COLLET_F32, 4, 4},
#if MIXED_NEWER
    {"summand", "added", NULL, 0, COLLET_FIELD_NUMBER, COLLET_F32, 8, 4},
#endif
};

static const collet_ops_definition ops[] = {
#if MIXED_CLASH
    {"mixed.scale", "out[N] : a[N]", "f:f", 0, 1, NULL, 0, 0},
    {"mixed_clash.odd", "out[...] : a[...]", "f:f q:q", 0, 1, NULL, 0, 0},
#else
    {"mixed.scale", "out[...] : a[...]", MIXED_NEWER ? "d:d f:f" : "f:f", sizeof(scale_params), 1,
     fields, MIXED_NEWER ? 2 : 1, sizeof *fields},
#endif
#if MIXED_NEWER
    {"mixed.later", "out[...] : a[...]", "f:f", 512, 2, NULL, 0, 0},
#else
    {"mixed.weigh", "out[...] : a[...]", "f:f", sizeof(scale_params), 1, fields, 1, sizeof *fields},
#endif
};

static const collet_plugin plugin = {
    .abi = COLLET_ABI + MIXED_NEWER,
    .struct_size = sizeof plugin,
    .kernel_count = sizeof kernels / sizeof *kernels,
    .kernel_size = sizeof *kernels,
    .op_count = sizeof ops / sizeof *ops,
    .op_size = sizeof *ops,
    .name = MIXED_NAME,
    .version = "1.0",
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
};

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    return host->abi >> 16 == COLLET_ABI_MAJOR ? &plugin : NULL;
}
