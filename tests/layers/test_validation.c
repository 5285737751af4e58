/* SPDX-License-Identifier: Apache-2.0 */
/* The validation layer over a backend of this program: each rule is broken once by the backend or
 * by the caller, and reported. */
#include <dlfcn.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>

#include <collet/collet.h>
#include <collet/extensions.h>

#include "common/test.h"
#include "subject.h"

/* ---- A host that stores the logged messages ---------------------------------------------------- */

static char said[16384];

static void keep(const collet_host *of, int32_t level, const char *format, ...)
{
    size_t length = strlen(said);
    va_list arguments;
    assert_int_equal(level, COLLET_LOG_ERROR);
    va_start(arguments, format);
    int more = vsnprintf(said + length, sizeof said - length, format, arguments);
    va_end(arguments);
    length += (size_t)more;
    snprintf(said + length, sizeof said - length, "\n");
}

static void keep_text(const collet_host *of, int32_t level, const char *text)
{
    keep(of, level, "%s", text);
}

static const collet_host host = {.abi = COLLET_ABI,
                                 .struct_size = sizeof host,
                                 .fail = collet_fail,
                                 .log = keep,
                                 .fail_text = collet_fail_text,
                                 .log_text = keep_text};

static const collet_plugin *layer; /* the layer's table over the subject */
static collet_layer_entry_fn entry;
static collet_error err;

static void expect(const char *text)
{
    assert_contains(said, text);
    said[0] = '\0';
}

static void quiet(void)
{
    if (said[0])
        fail_msg("'%s'", said);
}

/* ---- A device with two buffers and a queue ----------------------------------------------- */

typedef struct room {
    uint32_t index;
    collet_device *device;
    collet_queue *queue, *other;
    collet_buffer *a, *b;
    float x[64], y[64]; /* of the host's memory */
} room;

static collet_status open_device(room *r, uint32_t index)
{
    collet_device_properties properties = {.struct_size = sizeof properties};
    memset(r, 0, sizeof *r);
    r->index = index;
    return layer->device_open(layer, &r->device, &properties, &host, index, NULL, &err);
}

static void make(room *r, uint32_t index)
{
    assert_int_equal(open_device(r, index), COLLET_OK);
    for (uint32_t row = 0; row < layer->kernel_count; row++)
        assert_true(layer->device_supports(r->device, row));
    if (index != 1) {
        assert_int_equal(layer->queue_create(r->device, &r->queue, &err), COLLET_OK);
        assert_int_equal(layer->buffer_alloc(r->device, &r->a, 256, &err), COLLET_OK);
        assert_int_equal(layer->buffer_alloc(r->device, &r->b, 256, &err), COLLET_OK);
    }
    if (index == 0)
        assert_int_equal(layer->queue_create(r->device, &r->other, &err), COLLET_OK);
}

static void finish(const room *r)
{
    if (r->queue)
        layer->queue_wait(r->device, r->queue, layer->queue_mark(r->device, r->queue), -1, &err);
}

static void destroy(room *r)
{
    if (r->index != 1) {
        finish(r);
        layer->buffer_free(r->device, r->a);
        layer->buffer_free(r->device, r->b);
        layer->queue_destroy(r->device, r->queue);
        layer->queue_destroy(r->device, r->other);
    }
    layer->device_close(r->device);
}

/* A call of a kernel row on the buffers of a room: b = op(a), 16 elements. */
typedef struct kernel {
    uint32_t row;
    int64_t shape[1], strides[2][1];
    collet_operand operands[2];
    collet_fill_params params;
    collet_kernel_call call;
    void *scratch;
} kernel;

static void prepare(kernel *k, room *r, uint32_t row)
{
    const collet_kernel_row *of = &layer->kernels[row];
    int fill = of->op == COLLET_OP_FILL;
    *k = (kernel){.row = row, .shape = {16}, .strides = {{1}, {1}}};
    for (int i = 0; i < 2 - fill; i++)
        k->operands[i] = (collet_operand){.dtype = COLLET_F32,
                                          .ndim = 1,
                                          .shape = k->shape,
                                          .strides = k->strides[i],
                                          .buffer = r->index != 1 ? (void *)(i ? r->a : r->b)
                                                                  : (void *)(i ? r->x : r->y)};
    k->params = (collet_fill_params){.struct_size = sizeof k->params};
    k->call = (collet_kernel_call){.struct_size = sizeof k->call,
                                   .op = of->op,
                                   .sig = of->sig,
                                   .n_out = 1,
                                   .n_in = !fill,
                                   .operand_size = sizeof(collet_operand),
                                   .operands = k->operands,
                                   .params = fill ? &k->params : NULL,
                                   .params_size = fill ? sizeof k->params : 0,
                                   .err = &err};
}

/* Calls `accepts` as libcore does: before any operand has a buffer. */
static collet_status ask(kernel *k, room *r, uint64_t *bytes)
{
    void *buffers[] = {k->operands[0].buffer, k->operands[1].buffer};
    *bytes = 0;
    k->operands[0].buffer = k->operands[1].buffer = NULL;
    collet_status status = layer->kernels[k->row].accepts(r->device, &k->call, bytes);
    k->operands[0].buffer = buffers[0];
    k->operands[1].buffer = buffers[1];
    return status;
}

static collet_status launch(kernel *k, room *r)
{
    const collet_kernel_row *of = &layer->kernels[k->row];
    uint64_t bytes = 0;
    if (of->accepts && ask(k, r, &bytes) != COLLET_OK)
        return COLLET_FAILED;
    if (bytes) {
        k->call.workspace_bytes = bytes;
        k->call.workspace = k->scratch = aligned_alloc(64, (bytes + 63) / 64 * 64);
    }
    collet_status status = of->run(r->device, r->queue, &k->call);
    free(k->scratch);
    return status;
}

static collet_status run_row(room *r, uint32_t row)
{
    kernel k;
    prepare(&k, r, row);
    return launch(&k, r);
}

/* ---- No mistake -------------------------------------------------------------------------- */

TEST(a_clean_life_is_silent)
{
    room r;
    for (uint32_t index = 0; index < 3; index++) {
        make(&r, index);
        for (int i = 0; i < 16; i++)
            r.x[i] = (float)i;
        if (index != 1)
            assert_int_equal(layer->buffer_write(r.device, r.queue, r.a, 0, r.x, sizeof r.x, &err),
                             COLLET_OK);
        assert_int_equal(run_row(&r, 0), COLLET_OK);
        assert_int_equal(run_row(&r, 2), COLLET_OK);
        assert_int_equal(run_row(&r, 0), COLLET_OK);
        if (index == 1)
            assert_int_equal(run_row(&r, 1), COLLET_OK);
        else
            assert_int_equal(layer->buffer_read(r.device, r.queue, r.b, 0, r.y, sizeof r.y, &err),
                             COLLET_OK);
        assert_memory_equal(r.x, r.y, 64);
        const collet_memory_extension *m = layer->extension(r.device, COLLET_EXTENSION_MEMORY);
        collet_memory_stats stats = {.struct_size = sizeof stats};
        assert_int_equal(m->stats(r.device, &stats, &err), COLLET_OK);
        assert_int_equal(stats.current, index == 1 ? 0 : 512);
        if (index == 0)
            assert_int_equal(layer->queue_after(r.device, r.other, r.queue,
                                                layer->queue_mark(r.device, r.queue), &err),
                             COLLET_OK);
        destroy(&r);
    }
    quiet();
}

TEST(the_table_is_the_same_each_time)
{
    collet_plugin copy = subject;
    assert_ptr_equal(entry(&host, &subject, &err), layer);
    assert_ptr_not_equal(entry(&host, &copy, &err), layer);
    quiet();
}

/* ---- Mistakes of the plugin -------------------------------------------------------------- */

typedef struct defect {
    const char *name;
    void (*act)(room *r);
    const char *text;
} defect;

static void act_open(room *r)
{
    room another;
    assert_int_equal(open_device(&another, r->index), COLLET_FAILED);
}

static void act_alloc(room *r)
{
    collet_buffer *b;
    collet_error own = {COLLET_OK, ""};
    assert_int_equal(layer->buffer_alloc(r->device, &b, 16, &own), COLLET_FAILED);
    assert_int_equal(own.status, COLLET_FAILED);
    assert_contains(own.text, "validation: buffer_alloc: plugin: ");
}

static void act_queue(room *r)
{
    collet_queue *q;
    assert_int_equal(layer->queue_create(r->device, &q, &err), COLLET_FAILED);
}

static void act_mark(room *r)
{
    layer->queue_mark(r->device, r->queue);
    layer->queue_mark(r->device, r->queue);
}

static void wait_for(room *r, int64_t nanoseconds)
{
    assert_int_equal(layer->queue_wait(r->device, r->queue, layer->queue_mark(r->device, r->queue),
                                       nanoseconds, &err),
                     COLLET_FAILED);
}

static void act_wait(room *r)
{
    wait_for(r, -1);
}

static void act_wait_second(room *r)
{
    wait_for(r, 1000000000);
}

static void act_forget(room *r)
{
    uint64_t value = layer->queue_mark(r->device, r->queue);
    layer->queue_wait(r->device, r->queue, value, -1, &err);
    assert_int_equal(layer->queue_wait(r->device, r->queue, value, 0, &err), COLLET_FAILED);
}

static void act_recover(room *r)
{
    assert_int_equal(layer->buffer_write(r->device, r->queue, r->a, 0, r->x, 4, &err), COLLET_OK);
    subject_defect = "fails";
    wait_for(r, -1);
    quiet();
    subject_defect = "recovers";
    wait_for(r, -1);
}

static void act_after(room *r)
{
    assert_int_equal(layer->queue_after(r->device, r->queue, r->other, 0, &err), COLLET_FAILED);
}

static void act_write(room *r)
{
    assert_int_equal(layer->buffer_write(r->device, r->queue, r->a, 0, r->x, 16, &err),
                     COLLET_FAILED);
}

static void act_run(room *r)
{
    assert_int_equal(run_row(r, 0), COLLET_FAILED);
}

static void act_lost(room *r)
{
    assert_int_equal(run_row(r, 0), COLLET_DEVICE_LOST);
    quiet();
    subject_defect = "";
    assert_int_equal(run_row(r, 0), COLLET_FAILED);
}

static void act_lost_refuses(room *r)
{
    assert_int_equal(run_row(r, 0), COLLET_DEVICE_LOST);
    subject_defect = "refuses";
    assert_int_equal(run_row(r, 0), COLLET_FAILED);
}

static void act_lost_after(room *r)
{
    assert_int_equal(run_row(r, 0), COLLET_DEVICE_LOST);
    act_after(r);
}

static void fail_queue(room *r)
{
    assert_int_equal(layer->buffer_write(r->device, r->queue, r->a, 0, r->x, 4, &err), COLLET_OK);
    subject_defect = "fails";
    wait_for(r, -1);
    quiet();
}

static void act_unsure(room *r)
{
    fail_queue(r);
    subject_defect = "unsure";
    wait_for(r, 0);
}

static void act_read_failed(room *r)
{
    fail_queue(r);
    assert_int_equal(layer->buffer_read(r->device, r->queue, r->a, 0, r->x, 4, &err),
                     COLLET_FAILED);
}

static void act_native(room *r)
{
    collet_native_device native = {.struct_size = sizeof native};
    const collet_native_extension *e = layer->extension(r->device, COLLET_EXTENSION_NATIVE);
    assert_int_equal(e->device(r->device, &native, &err), COLLET_FAILED);
}

static void act_fill(room *r)
{
    assert_int_equal(run_row(r, 2), COLLET_FAILED);
}

static void act_neg(room *r)
{
    assert_int_equal(run_row(r, 1), COLLET_FAILED);
}

/* When the subject trims, it uses an address that it kept, which is a defect. */
static void later(room *r)
{
    const collet_trim_extension *t = layer->extension(r->device, COLLET_EXTENSION_TRIM);
    quiet();
    t->trim(r->device);
    quiet();
    t->trim(r->device);
}

static void act_run_later(room *r)
{
    assert_int_equal(run_row(r, 2), COLLET_OK);
    later(r);
}

static void act_accept_later(room *r)
{
    assert_int_equal(run_row(r, 1), COLLET_OK);
    later(r);
}

static void act_write_later(room *r)
{
    layer->buffer_write(r->device, r->queue, r->a, 0, r->x, 16, &err);
    later(r);
}

static void act_read_later(room *r)
{
    layer->buffer_read(r->device, r->queue, r->a, 0, r->x, 16, &err);
    later(r);
}

static void act_read_behind(room *r)
{
    layer->buffer_write(r->device, r->queue, r->a, 0, r->x, 16, &err);
    quiet();
    layer->buffer_write(r->device, r->queue, r->a, 0, r->x, 16, &err);
}

static void act_alloc_later(room *r)
{
    collet_buffer *b;
    assert_int_equal(layer->buffer_alloc(r->device, &b, 16, &err), COLLET_OK);
    later(r);
    layer->buffer_free(r->device, b);
}

static void act_supports(room *r)
{
    layer->device_supports(r->device, 0);
}

static void act_extension(room *r)
{
    layer->extension(r->device, COLLET_EXTENSION_TRIM);
    layer->extension(r->device, COLLET_EXTENSION_TRIM);
}

static void act_stats(room *r)
{
    collet_memory_stats stats = {.struct_size = sizeof stats};
    const collet_memory_extension *m = layer->extension(r->device, COLLET_EXTENSION_MEMORY);
    m->reset_peak(r->device);
    assert_int_equal(m->stats(r->device, &stats, &err), COLLET_FAILED);
}

static const collet_timing_extension *timing_of(const room *r)
{
    return layer->extension(r->device, COLLET_EXTENSION_TIMING);
}

static void act_stamp(room *r)
{
    collet_stamp *s;
    assert_int_equal(timing_of(r)->stamp(r->device, r->queue, &s, &err), COLLET_FAILED);
}

static void act_elapsed(room *r)
{
    collet_stamp *s[2];
    int64_t ns;
    for (int i = 0; i < 2; i++)
        assert_int_equal(timing_of(r)->stamp(r->device, r->queue, &s[i], &err), COLLET_OK);
    finish(r);
    assert_int_equal(timing_of(r)->elapsed(r->device, s[0], s[1], &ns, &err), COLLET_FAILED);
    for (int i = 0; i < 2; i++)
        timing_of(r)->release(r->device, s[i]);
}

static void act_table(room *r)
{
    collet_queue *q;
    subject_reset();
    assert_int_equal(layer->queue_create(r->device, &q, &err), COLLET_FAILED);
}

static void act_capabilities(room *r)
{
    static collet_plugin copies[4];
    static int count;
    copies[count] = subject;
    entry(&host, &copies[count++], &err);
}

#define KEPT "was accessed after it returned"
static const defect defects[] = {
    {"open_status", act_open, "device_open: plugin: it returned the status 16, which"},
    {"no_device", act_open, "device_open: plugin: it returned OK and no device"},
    {"properties", act_open, "plugin: it changed the properties' struct_size"},
    {"supports", act_supports,
     "device_supports: plugin: it returned 2 for row 0; it must return 0 or 1"},
    {"supports_less", act_supports,
     "device_supports: plugin: it returned 0 for row 0, but 1 before"},
    {"lost", act_lost,
     "run: plugin: it returned the status 0, but the device returned DEVICE_LOST before"},
    {"lost", act_lost_refuses,
     "it returned the status 9, but the device returned DEVICE_LOST before"},
    {"lost", act_lost_after,
     "queue_after: plugin: it returned the status 0, but the device returned"},
    {"silent", act_alloc, "plugin: it returned the status 9 and set the error's to 0"},
    {"other_status", act_alloc, "plugin: it returned the status 9 and set the error's to 5"},
    {"endless_text", act_alloc, "plugin: the error's text has no terminating NUL"},
    {"no_buffer", act_alloc, "plugin: it returned OK and no buffer"},
    {"mask", act_alloc, "plugin: the signal mask was changed"},
    {"locale", act_alloc, "plugin: the locale was changed"},
    {"keeps_err", act_alloc_later, "memory that a call of buffer_alloc pointed to " KEPT},
    {"no_queue", act_queue, "plugin: it returned OK and no queue"},
    {"mark_back", act_mark,
     "queue_mark: plugin: it returned 4, which is less than the mark before, 5"},
    {"waits_short", act_wait, "plugin: it returned NOT_READY after "},
    {"waits_short", act_wait_second, "ns; the limit is 1000000000"},
    {"early", act_wait, "plugin: it returned OK for 1, and NOT_READY at a second call"},
    {"forgets", act_forget, "plugin: it returned NOT_READY for 1, but the counter was 1 before"},
    {"recovers", act_recover, "plugin: it returned OK for 1, but a wait for 1 returned FAILED"},
    {"unsure", act_unsure, "plugin: it returned NOT_READY for 1, but the counter was 1 before"},
    {"reads", act_read_failed,
     "buffer_read: plugin: it returned OK, but a wait for the queue returned FAIL"},
    {"after_status", act_after, "queue_after: plugin: it returned the status 2, which"},
    {"writes_source", act_write, "buffer_write: plugin: it wrote to the host's memory"},
    {"keeps_source", act_write_later, "memory that a call of buffer_write pointed to " KEPT},
    {"reads_behind", act_read_behind, "or beyond its end"},
    {"writes_late", act_read_later, "memory that a call of buffer_read pointed to " KEPT},
    {"rounding", act_run, "run: plugin: the floating-point control word was changed"},
    {"run_status", act_run, "run: plugin: it returned the status 16, which"},
    {"writes_call", act_run, "plugin: it wrote to the call, its operands or its parameters"},
    {"writes_params", act_fill, "plugin: it wrote to the call, its operands or its parameters"},
    {"keeps_call", act_run_later, "memory that a call of run pointed to " KEPT},
    {"keeps_operands", act_run_later, "memory that a call of run pointed to " KEPT},
    {"keeps_shape", act_run_later, "memory that a call of run pointed to " KEPT},
    {"keeps_strides", act_run_later, "memory that a call of run pointed to " KEPT},
    {"keeps_params", act_run_later, "memory that a call of run pointed to " KEPT},
    {"extension_short", act_extension, "collet.trim/1 has 8 bytes, fewer than the first release"},
    {"extension_reserved", act_extension, "collet.trim/1 has a reserved member that is not 0"},
    {"extension_null", act_extension, "the table of collet.trim/1 has a function that is NULL"},
    {"native_overrun", act_native, "collet.native/1 device: plugin: it wrote beyond struct_size"},
    {"native_status", act_native, "native/1 device: plugin: it returned the status"},
    {"native_api", act_native, "collet.native/1 device: plugin: `api` is NULL"},
    {"extension_other", act_extension,
     "the slot returned a different table for collet.trim/1 than before"},
    {"stats_lie", act_stats,
     "collet.memory/1 stats: plugin: current is 1, but the buffers have 512"},
    {"stats_peak", act_stats, ", more than held, 1024, or peak, 1023"},
    {"stats_size", act_stats, "plugin: it changed struct_size"},
    {"stats_overrun", act_stats, "plugin: it wrote beyond struct_size"},
    {"stamp_status", act_stamp, "timing/1 stamp: plugin: it returned the status 16, which"},
    {"no_stamp", act_stamp, "collet.timing/1 stamp: plugin: it returned OK and no stamp"},
    {"elapsed_status", act_elapsed, "timing/1 elapsed: plugin: it returned the status 9, which"},
    {"elapsed_back", act_elapsed,
     "plugin: it returned -1 ns, which contradicts the order of the queue"},
    {"table", act_table, "queue_create: plugin: its table, rows or ops were changed"},
    {"capabilities_size", act_capabilities, "it wrote to json beyond its 14 bytes"},
    {"capabilities_overrun", act_capabilities, "it wrote to json beyond its 0 bytes"},
};

/* Defects on the device that works on host memory. */
static const defect host_defects[] = {
    {"accepts_status", act_neg, "accepts: plugin: it returned the status 10, which"},
    {"accepts_writes", act_neg, "accepts: plugin: it wrote to the call, its operands"},
    {"keeps_accepted", act_accept_later, "memory that a call of accepts pointed to " KEPT},
    {"workspace_overrun", act_neg, "it wrote beyond the end of its workspace, at byte 100"},
    {"refuses_late", act_run, "it returned REFUSED, but had written to an output"},
    {"writes_params", act_fill, "it wrote to the call, its operands or its parameters"},
};

static void try_defect(const defect *d, uint32_t index)
{
    room r;
    subject_defect = "";
    make(&r, index);
    quiet();
    subject_defect = d->name;
    d->act(&r);
    subject_defect = "";
    subject_reset();
    if (!strstr(said, d->text))
        fail_msg("%s: '%s' is not in '%s'", d->name, d->text, said);
    said[0] = '\0';
    fesetround(FE_TONEAREST);
    setlocale(LC_NUMERIC, "C");
    if (strcmp(d->name, "mark_back") != 0)
        destroy(&r);
    said[0] = '\0';
}

TEST(the_plugin_is_watched)
{
    for (size_t i = 0; i < sizeof defects / sizeof *defects; i++)
        try_defect(&defects[i], 0);
    for (size_t i = 0; i < sizeof host_defects / sizeof *host_defects; i++)
        try_defect(&host_defects[i], 1);
}

/* After a plugin changed the state of the process, the layer restores it. */
TEST(what_was_changed_is_put_back)
{
    room r;
    make(&r, 0);
    subject_defect = "rounding";
    run_row(&r, 0);
    subject_defect = "";
    assert_int_equal(fegetround(), FE_TONEAREST);
    expect("control word");
    destroy(&r);
    quiet();
}

TEST(refusals_pass)
{
    room r;
    make(&r, 1);
    subject_defect = "refuses";
    assert_int_equal(run_row(&r, 0), COLLET_REFUSED);
    assert_string_equal(err.text, "no");
    subject_defect = "";
    destroy(&r);
    quiet();
}

/* ---- Mistakes of the caller: handles ----------------------------------------------------- */

TEST(handles)
{
    room r, host_room;
    collet_buffer *b;
    collet_queue *q;
    make(&r, 0);
    make(&host_room, 1);
    assert_int_equal(layer->buffer_alloc(NULL, &b, 16, &err), COLLET_FAILED);
    expect("buffer_alloc: libcore: the device is NULL");
    assert_int_equal(layer->buffer_alloc((collet_device *)(void *)r.a, &b, 16, &err),
                     COLLET_FAILED);
    expect("the device is a buffer");
    layer->buffer_write(r.device, r.other, (collet_buffer *)(void *)r.queue, 0, r.x, 4, &err);
    expect("the buffer is a queue");
    layer->buffer_write(r.device, (collet_queue *)&r, r.a, 0, r.x, 4, &err);
    expect("the queue is not a handle of this layer");
    layer->buffer_write(host_room.device, NULL, r.a, 0, r.x, 4, &err);
    expect("subject:1 buffer_write: libcore: the device works on host memory");
    assert_int_equal(layer->queue_create(host_room.device, &q, &err), COLLET_FAILED);
    expect("a synchronous device has no queues");
    layer->buffer_write(r.device, NULL, r.a, 0, r.x, 4, &err);
    expect("the queue is NULL");
    destroy(&host_room);
    layer->device_close(host_room.device);
    expect("device_close: libcore: the device is destroyed before");
    destroy(&r);
    quiet();
}

TEST(foreign_handles)
{
    room r, second;
    make(&r, 0);
    make(&second, 0);
    layer->buffer_write(r.device, second.queue, r.a, 0, r.x, 4, &err);
    expect("the queue is a queue of another device");
    layer->buffer_write(r.device, r.queue, second.a, 0, r.x, 4, &err);
    expect("the buffer is a buffer of another device");
    layer->queue_after(r.device, r.queue, second.queue, 0, &err);
    expect("`other` is a queue of another device");
    layer->queue_after(r.device, r.queue, r.queue, 0, &err);
    expect("`other` is the queue itself");
    destroy(&second);
    destroy(&r);
    quiet();
}

TEST(lives)
{
    room r;
    make(&r, 0);
    layer->buffer_free(r.device, r.a);
    layer->buffer_free(r.device, NULL);
    quiet();
    layer->buffer_free(r.device, r.a);
    expect("buffer_free: libcore: the buffer is destroyed before");
    assert_int_equal(run_row(&r, 0), COLLET_FAILED);
    expect("a buffer of the call is destroyed before");
    layer->queue_destroy(r.device, r.other);
    layer->queue_destroy(r.device, NULL);
    quiet();
    assert_int_equal(layer->queue_wait(r.device, r.other, 0, 0, &err), COLLET_FAILED);
    expect("queue_wait: libcore: the queue is destroyed before");
    layer->device_close(r.device);
    expect("device_close: libcore: 1 queues and 1 buffers of the device were not freed before");
    layer->device_close(NULL);
    quiet();
}

/* ---- Mistakes of the caller: arguments --------------------------------------------------- */

/* An enqueued command uses its buffers until a wait, a read, or the destruction of the queue. */
TEST(frees)
{
    room r;
    make(&r, 0);
    layer->buffer_write(r.device, r.queue, r.a, 0, r.x, 4, &err);
    uint64_t first = layer->queue_mark(r.device, r.queue);
    run_row(&r, 0);
    layer->queue_mark(r.device, r.queue);
    layer->buffer_free(r.device, r.a);
    expect("buffer_free: libcore: work in queue ");
    layer->queue_wait(r.device, r.queue, first, -1, &err);
    layer->buffer_free(r.device, r.a);
    expect("may still use the buffer, because no wait has reached it; it is not freed");
    layer->queue_wait(r.device, r.queue, layer->queue_mark(r.device, r.queue), -1, &err);
    layer->buffer_free(r.device, r.a);
    r.a = NULL;
    quiet();
    layer->buffer_write(r.device, r.queue, r.b, 0, r.x, 4, &err);
    layer->buffer_read(r.device, r.queue, r.b, 0, r.x, 4, &err);
    layer->buffer_free(r.device, r.b);
    quiet();
    layer->buffer_alloc(r.device, &r.a, 256, &err);
    layer->buffer_alloc(r.device, &r.b, 256, &err);
    finish(&r);
    subject_defect = "run_fails"; /* without raising the mark */
    assert_int_equal(run_row(&r, 0), COLLET_FAILED);
    subject_defect = "";
    layer->queue_mark(r.device, r.queue);
    layer->buffer_free(r.device, r.a);
    layer->buffer_free(r.device, r.b);
    r.a = NULL;
    quiet();
    layer->buffer_alloc(r.device, &r.b, 256, &err);
    layer->buffer_write(r.device, r.other, r.b, 0, r.x, 4, &err);
    layer->queue_destroy(r.device, r.other);
    r.other = NULL;
    destroy(&r);
    quiet();
}

/* Queue B waits for queue A (queue_after). If B's work is done, A's work may still not be done: B
 * may have failed and skipped the wait. */
TEST(a_wait_reaches_no_other_queue)
{
    room r;
    make(&r, 0);
    layer->buffer_write(r.device, r.queue, r.a, 0, r.x, 4, &err);
    uint64_t value = layer->queue_mark(r.device, r.queue);
    layer->queue_after(r.device, r.other, r.queue, value, &err);
    layer->buffer_write(r.device, r.other, r.b, 0, r.x, 4, &err);
    layer->queue_wait(r.device, r.other, layer->queue_mark(r.device, r.other), -1, &err);
    quiet();
    layer->buffer_free(r.device, r.a);
    expect("may still use the buffer, because no wait has reached it; it is not freed");
    layer->queue_wait(r.device, r.queue, value, -1, &err);
    layer->buffer_free(r.device, r.a);
    r.a = NULL;
    destroy(&r);
    quiet();
}

TEST(arguments)
{
    room r;
    collet_buffer *b;
    collet_device *device;
    collet_device_properties properties = {.struct_size = sizeof properties};
    assert_int_equal(layer->device_open(&subject, &device, &properties, &host, 0, NULL, &err),
                     COLLET_FAILED);
    expect("device_open: libcore: `self` is not the table that is called");
    make(&r, 0);
    assert_int_equal(layer->buffer_alloc(r.device, &b, 0, &err), COLLET_FAILED);
    expect("buffer_alloc: libcore: bytes is 0");
    layer->buffer_alloc(r.device, NULL, 16, &err);
    expect("`buffer` is NULL");
    layer->buffer_write(r.device, r.queue, r.a, 0, NULL, 4, &err);
    expect("the host's address is NULL");
    layer->buffer_write(r.device, r.queue, r.a, 252, r.x, 8, &err);
    expect("bytes 252 to 260 of the buffer, which has 256");
    layer->buffer_read(r.device, r.queue, r.a, UINT64_MAX, r.x, 8, &err);
    expect("of the buffer, which has 256");
    layer->buffer_read(r.device, r.queue, r.a, 0, r.x, 0, &err);
    expect("bytes 0 to 0 of the buffer");
    layer->queue_wait(r.device, r.queue, 1, -1, &err);
    expect("value is 1, which is above the last mark, 0");
    layer->queue_after(r.device, r.queue, r.other, 7, &err);
    expect("7 is above the last mark of `other`, 0");
    layer->device_supports(r.device, 3);
    expect("there is no row 3");
    layer->extension(r.device, NULL);
    expect("the name is NULL");
    assert_null(layer->extension(r.device, "vendor.unknown/1"));
    const collet_memory_extension *m = layer->extension(r.device, COLLET_EXTENSION_MEMORY);
    m->stats(r.device, NULL, &err);
    expect("collet.memory/1 stats: libcore: `stats` is NULL");
    m->stats(r.device, &(collet_memory_stats){.struct_size = 8}, &err);
    expect("struct_size is too small");
    destroy(&r);
    quiet();
}

TEST(copies)
{
    room r, second;
    const collet_copy_extension *e;
    make(&r, 0);
    make(&second, 0);
    e = layer->extension(r.device, COLLET_EXTENSION_COPY);
    r.x[0] = 5.0f;
    layer->buffer_write(second.device, second.queue, second.a, 0, r.x, 4, &err);
    assert_int_equal(e->between(r.device, r.queue, r.a, 8, layer, second.device, second.queue,
                                second.a, 0, 4, &err),
                     COLLET_OK);
    layer->buffer_read(r.device, r.queue, r.a, 8, r.y, 4, &err);
    assert_true(r.y[0] == 5.0f);
    quiet();
    layer->buffer_free(second.device, second.a);
    expect("may still use the buffer");
    e->between(r.device, r.queue, r.a, 0, &subject, second.device, second.queue, second.a, 0, 4,
               &err);
    expect("collet.copy/1: libcore: `from` is not a device of the plugin `of`");
    e->between(r.device, r.queue, r.a, 0, layer, NULL, second.queue, second.a, 0, 4, &err);
    expect("`from` is NULL");
    e->between(r.device, r.queue, r.a, 0, layer, second.device, r.other, second.a, 0, 4, &err);
    expect("`from_queue` is not a queue of `from`");
    e->between(r.device, r.queue, r.a, 0, layer, r.device, r.queue, r.b, 0, 4, &err);
    expect("another call enqueues in `from_queue`");
    e->between(r.device, r.queue, r.a, 0, layer, second.device, second.queue, r.b, 0, 4, &err);
    expect("the source is a buffer of another device");
    e->between(r.device, r.queue, r.a, 255, layer, second.device, second.queue, second.a, 0, 4,
               &err);
    expect("bytes 255 to 259 of the target, which has 256");
    e->between(r.device, r.queue, r.a, 0, layer, second.device, second.queue, second.a, 255, 4,
               &err);
    expect("of the source, which has 256");
    destroy(&second);
    destroy(&r);
    quiet();
}

TEST(timing)
{
    room r, second, host_room;
    collet_stamp *s[3], *other;
    int64_t ns = 0;
    make(&r, 0);
    make(&second, 0);
    make(&host_room, 1);
    const collet_timing_extension *e = timing_of(&r);
    for (int i = 0; i < 2; i++)
        assert_int_equal(e->stamp(r.device, r.queue, &s[i], &err), COLLET_OK);
    assert_int_equal(e->stamp(r.device, r.other, &s[2], &err), COLLET_OK);
    assert_int_equal(timing_of(&second)->stamp(second.device, second.queue, &other, &err),
                     COLLET_OK);
    quiet();
    e->stamp(r.device, r.queue, NULL, &err);
    expect("collet.timing/1 stamp: libcore: `stamp` is NULL");
    timing_of(&host_room)->stamp(host_room.device, NULL, &other, &err);
    expect("a synchronous device has no queues");
    e->elapsed(r.device, s[0], s[1], &ns, &err);
    expect("collet.timing/1 elapsed: libcore: no wait has reached a mark made after `first`");
    e->release(r.device, s[0]);
    expect("collet.timing/1 release: libcore: no wait has reached a mark made after the stamp");
    finish(&r);
    finish(&second);
    assert_int_equal(e->elapsed(r.device, s[0], s[1], &ns, &err), COLLET_OK);
    assert_int_equal(ns, 1);
    assert_int_equal(e->elapsed(r.device, s[1], s[0], &ns, &err), COLLET_OK);
    assert_int_equal(e->elapsed(r.device, s[1], s[1], &ns, &err), COLLET_OK);
    quiet();
    e->elapsed(r.device, s[0], s[2], &ns, &err);
    expect("no wait has reached a mark made after `last`");
    e->elapsed(r.device, s[0], other, &ns, &err);
    expect("`last` is a stamp of another device");
    e->elapsed(r.device, s[0], s[1], NULL, &err);
    expect("`nanoseconds` is NULL");
    layer->queue_destroy(r.device, r.other);
    r.other = NULL;
    assert_int_equal(e->elapsed(r.device, s[0], s[2], &ns, &err), COLLET_OK);
    assert_int_equal(ns, 2);
    e->release(r.device, NULL);
    for (int i = 0; i < 3; i++)
        e->release(r.device, s[i]);
    e->release(second.device, other);
    quiet();
    e->release(r.device, s[0]);
    expect("the stamp is destroyed before");
    destroy(&host_room);
    destroy(&second);
    destroy(&r);
    quiet();
}

TEST(natives)
{
    room r;
    collet_native_device native = {.struct_size = sizeof native};
    const collet_native_extension *e;
    collet_buffer *b;
    void *handle;
    make(&r, 0);
    e = layer->extension(r.device, COLLET_EXTENSION_NATIVE);
    assert_int_equal(e->device(r.device, &native, &err), COLLET_OK);
    assert_string_equal(native.api, "subject");
    assert_int_equal(e->queue(r.device, r.queue, &handle, &err), COLLET_OK);
    assert_int_equal(e->queue_used(r.device, r.queue, &err), COLLET_OK);
    assert_int_equal(e->buffer(r.device, r.a, &handle, &err), COLLET_OK);
    assert_int_equal(e->buffer_import(r.device, &b, r.x, 4, 64, 4, &err), COLLET_OK);
    layer->buffer_free(r.device, b);
    quiet();
    e->device(r.device, NULL, &err);
    expect("collet.native/1 device: libcore: the address of the result is NULL");
    e->buffer_import(r.device, &b, r.x, 0, 0, 4, &err);
    expect("collet.native/1 buffer_import: libcore: bytes or the element's size is 0");
    e->buffer(r.device, b, &handle, &err);
    expect("the buffer is destroyed before");
    subject_defect = "native_size";
    assert_int_equal(e->device(r.device, &native, &err), COLLET_FAILED);
    expect("collet.native/1 device: plugin: it changed struct_size");
    subject_defect = "";
    assert_int_equal(e->device(r.device, &(collet_native_device){.struct_size = 8}, &err),
                     COLLET_FAILED);
    expect("collet.native/1 device: libcore: struct_size is too small");
    subject_defect = "";
    destroy(&r);
    quiet();
}

TEST(pinned_memory)
{
    room r;
    void *address, *handle;
    make(&r, 0);
    const collet_pinned_extension *e = layer->extension(r.device, COLLET_EXTENSION_PINNED);
    assert_int_equal(e->alloc(r.device, &address, &handle, 100, &err), COLLET_OK);
    memset(address, 1, 100);
    e->free(r.device, address, handle);
    quiet();
    e->free(r.device, address, handle);
    expect(
        "collet.pinned/1 free: libcore: the memory was not returned by alloc, or was freed before");
    e->alloc(r.device, &address, &handle, 0, &err);
    expect("collet.pinned/1 alloc: libcore: bytes is 0");
    subject_defect = "pinned_unaligned";
    assert_int_equal(e->alloc(r.device, &address, &handle, 100, &err), COLLET_FAILED);
    expect("collet.pinned/1 alloc: plugin: the address ");
    subject_defect = "";
    assert_int_equal(e->alloc(r.device, &address, &handle, 100, &err), COLLET_OK);
    destroy(&r);
    expect("1 allocations of collet.pinned/1 were not freed before");
    free(handle);
}

TEST(too_many_queues)
{
    room r;
    collet_queue *q;
    make(&r, 2);
    assert_int_equal(layer->queue_create(r.device, &q, &err), COLLET_FAILED);
    expect("the device already has 1 queues, its max_queues");
    destroy(&r);
    quiet();
}

/* ---- Mistakes of the caller: kernel calls ------------------------------------------------ */

static kernel k;
static room calls;

static void wrong_call(const char *text)
{
    assert_int_equal(launch(&k, &calls), COLLET_FAILED);
    expect(text);
    prepare(&k, &calls, 0);
}

TEST(calls_are_checked)
{
    make(&calls, 0);
    prepare(&k, &calls, 0);
    k.call.struct_size = 8;
    wrong_call("struct_size or operand_size is too small");
    k.call.operands = NULL;
    wrong_call("err or operands is NULL");
    k.call.n_in = 1000;
    wrong_call("the number of operands is out of range");
    k.call.params_size = 4;
    wrong_call("one of params and params_size is 0");
    k.call.op = COLLET_OP_ADD;
    wrong_call("the device has no such row");
    struct {
        collet_fill_params known;
        char newer[8];
    } params = {{.struct_size = sizeof params}, {0}};
    prepare(&k, &calls, 2);
    k.call.params = &params;
    k.call.params_size = sizeof params;
    assert_int_equal(launch(&k, &calls), COLLET_OK);
    params.newer[1] = 1;
    wrong_call("of the parameters is not 0, but the row supports only ");
    k.operands[0].dtype = 99;
    wrong_call("operand 0 has an unknown dtype");
    k.operands[1].dtype = COLLET_F64;
    wrong_call("operand 1 has a dtype that differs from the row's signature");
    k.operands[1].dtype = COLLET_DTYPE_NONE;
    wrong_call("operand 1 is absent, but has a buffer");
    k.operands[1].ndim = -1;
    wrong_call("operand 1 has an ndim out of range");
    k.operands[1].strides = NULL;
    wrong_call("operand 1 has no shape or strides");
    k.operands[0].byte_offset = 2;
    wrong_call("operand 0 has an offset that is not a multiple of the element's size");
    k.shape[0] = -1;
    wrong_call("operand 0 has a negative extent");
    k.strides[0][0] = 0;
    wrong_call("operand 0 is an output that repeats elements");
    k.shape[0] = 65;
    wrong_call("operand 0 reaches outside its buffer");
    k.strides[1][0] = -1;
    wrong_call("operand 1 reaches outside its buffer");
    k.operands[0].buffer = NULL;
    wrong_call("a buffer of the call is NULL");
    k.call.workspace = (void *)calls.b;
    wrong_call("one of workspace and workspace_bytes is 0");
    k.call.workspace = (void *)calls.b;
    k.call.workspace_bytes = 257;
    wrong_call("the workspace's buffer is smaller than workspace_bytes");
    destroy(&calls);
    quiet();
}

TEST(calls_are_accepted_without_memory)
{
    uint64_t bytes = 0;
    make(&calls, 1);
    prepare(&k, &calls, 1);
    collet_status (*accepts)(collet_device *, const collet_kernel_call *, uint64_t *) =
        layer->kernels[1].accepts;
    assert_null(layer->kernels[0].accepts);
    assert_int_equal(accepts(calls.device, &k.call, &bytes), COLLET_FAILED);
    expect("accepts: libcore: operand 0 has a buffer before the call was accepted");
    bytes = 1;
    accepts(calls.device, &k.call, &bytes);
    expect("`workspace_bytes` is NULL, or not 0 before the call");
    k.call.workspace_bytes = 1;
    assert_int_equal(ask(&k, &calls, &bytes), COLLET_FAILED);
    expect("the workspace is set before the call was accepted");
    assert_int_equal(accepts(calls.device, NULL, &bytes), COLLET_FAILED);
    expect("the call is NULL");
    destroy(&calls);
    quiet();
}

TEST(calls_on_host_memory_are_checked)
{
    static _Alignas(64) char scratch[256];
    make(&calls, 1);
    prepare(&k, &calls, 0);
    k.operands[0].buffer = NULL;
    wrong_call("operand 0 has no memory");
    k.call.workspace = scratch + 8;
    k.call.workspace_bytes = 128;
    wrong_call("the workspace is not aligned to 64 bytes");
    k.call.workspace = scratch;
    k.call.workspace_bytes = 64;
    wrong_call("the workspace has 64 bytes, fewer than requested");
    calls.queue = (collet_queue *)&calls;
    wrong_call("a queue was passed for a synchronous device");
    calls.queue = NULL;
    destroy(&calls);
    quiet();
}

/* ---- Mistakes of the caller: threads ----------------------------------------------------- */

static void *run_in_thread(void *of)
{
    return (void *)(intptr_t)run_row(of, 0);
}

static void *wait_in_thread(void *of)
{
    room *r = of;
    collet_error own;
    return (void *)(intptr_t)layer->queue_wait(r->device, r->queue, 0, -1, &own);
}

/* Calls `act` while another thread is in the subject. */
static void during(room *r, void *(*call)(void *), void (*act)(room *))
{
    pthread_t thread;
    void *status;
    subject_block(1);
    subject_defect = "blocks";
    assert_int_equal(pthread_create(&thread, NULL, call, r), 0);
    subject_wait_blocked();
    subject_defect = "";
    act(r);
    subject_block(0);
    pthread_join(thread, &status);
    assert_int_equal((intptr_t)status, COLLET_OK);
}

static void enqueue_twice(room *r)
{
    layer->buffer_write(r->device, r->queue, r->a, 0, r->x, 4, &err);
    expect("buffer_write: libcore: another call enqueues in this queue");
}

static void use_named(room *r)
{
    layer->buffer_write(r->device, r->other, r->b, 0, r->x, 4, &err);
    expect("the buffer is in use by another call");
    layer->buffer_read(r->device, r->other, r->b, 0, r->x, 4, &err);
    expect("the buffer is in use by another call, which writes it");
    layer->buffer_read(r->device, r->other, r->a, 0, r->x, 4, &err);
    quiet();
    layer->buffer_free(r->device, r->b);
    expect("the buffer is in use by another call, which writes it");
    layer->buffer_free(r->device, r->a);
    expect("another call uses the buffer; it is not freed");
}

static void use_while_waiting(room *r)
{
    layer->buffer_write(r->device, r->queue, r->a, 0, r->x, 4, &err);
    layer->queue_mark(r->device, r->queue);
    layer->queue_after(r->device, r->other, r->queue, 1, &err);
    quiet();
    layer->queue_destroy(r->device, r->queue);
    expect("queue_destroy: libcore: another call uses the queue; it is not destroyed");
    layer->device_close(r->device);
    expect("another call uses the device; it is not closed");
}

static void any_call(room *r)
{
    layer->queue_mark(r->device, r->queue);
    expect("queue_mark: libcore: another call is under way on a device with COLLET_THREADS_ONE");
}

TEST(threads)
{
    room r;
    make(&r, 0);
    during(&r, run_in_thread, enqueue_twice);
    finish(&r);
    during(&r, run_in_thread, use_named);
    during(&r, wait_in_thread, use_while_waiting);
    destroy(&r);
    make(&r, 2);
    during(&r, run_in_thread, any_call);
    destroy(&r);
    quiet();
}

static int load(void **state)
{
    void *library = dlopen(COLLET_TEST_PLUGINS "/validation.so", RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "collet_layer_entry") : NULL;
    if (!symbol) {
        print_error("%s\n", dlerror());
        return -1;
    }
    memcpy(&entry, &symbol, sizeof entry);
    layer = entry(&host, &subject, &err);
    return layer ? 0 : -1;
}

TEST_GROUP(load, NULL)
