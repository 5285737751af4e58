/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded sequences: what is recorded, which arrays may replace others, failures, lifetimes. See
 * also test_sequence_random.c. */
#include <pthread.h>
#include <time.h>

#include <collet/ops/array.h>

#include "common/fixture.h"
#include "fakes/remote/control.h"

#define BOTH REMOTE_PLUGIN ":" SCALAR_PLUGIN

static collet_array *a, *b, *x;
static collet_sequence *sequence;

static int set_up_on(const char *backend, const char *first, const char *second)
{
    const char *const settings[] = {first, second, NULL};
    open_shared(BOTH, settings, backend);
    a = floats(cx, 4, 1);
    b = floats(cx, 4, 10);
    x = floats(cx, 4, 100);
    sequence = NULL;
    return 0;
}

static int set_up(void **state)
{
    (void)state;
    return set_up_on("cpu_scalar", NULL, NULL);
}

static int set_up_remote(void **state)
{
    (void)state;
    return set_up_on("remote:0", NULL, NULL);
}

static int clean_up(void **state)
{
    collet_sequence_destroy(sequence);
    collet_array_destroy(a);
    collet_array_destroy(b);
    collet_array_destroy(x);
    return tear_down(state);
}

/* x = (a + b) * a, with an array of the sequence's own; the arguments are x, a, b. */
static void record(void)
{
    collet_array *sum;
    assert_ok(cx, collet_sequence_begin(cx));
    sum = empty_floats(cx, 4);
    assert_ok(cx, collet_op_add(cx, sum, a, b));
    assert_ok(cx, collet_op_mul(cx, x, sum, a));
    collet_array_destroy(sum);
    assert_ok(cx, collet_sequence_end(cx, &sequence, 3, (collet_array *[]){x, a, b}));
}

static const float untouched[] = {100, 101, 102, 103}, result[] = {11, 26, 45, 68};

static void recording_does_not_run(void **state)
{
    (void)state;
    record();
    assert_floats(cx, x, untouched);
    assert_int_equal(counters_of(cx).calls, 0);
    assert_ok(cx, collet_sequence_run(cx, sequence, NULL));
    assert_floats(cx, x, result);
    assert_int_equal(counters_of(cx).calls, 2);
    assert_ok(cx, collet_array_write(cx, b, (float[]){0, 0, 0, 0}, 16));
    assert_ok(cx, collet_sequence_run(cx, sequence, NULL));
    assert_floats(cx, x, (float[]){1, 4, 9, 16});
}

static void arguments_are_replaced(void **state)
{
    (void)state;
    collet_array *y = empty_floats(cx, 4), *c = floats(cx, 4, 0), *table, *row;
    record();
    assert_ok(cx, collet_sequence_run(cx, sequence, (collet_array *[]){y, NULL, c}));
    assert_floats(cx, x, untouched);
    assert_floats(cx, y, (float[]){1, 6, 15, 28});
    /* They stay until others replace them. */
    assert_ok(cx, collet_array_write(cx, c, (float[]){0, 0, 0, 0}, 16));
    assert_ok(cx, collet_sequence_run(cx, sequence, NULL));
    assert_floats(cx, y, (float[]){1, 4, 9, 16});
    /* An argument that was replaced may be another. */
    assert_ok(cx, collet_sequence_run(cx, sequence, (collet_array *[]){x, a, c}));
    assert_ok(cx, collet_sequence_run(cx, sequence, (collet_array *[]){y, x, c}));
    assert_floats(cx, y, (float[]){1, 16, 81, 256});
    /* A row of a table, which keeps its other elements. */
    assert_ok(cx, collet_array_from(cx, &table, COLLET_F32, 2, (int64_t[]){2, 4},
                                    (float[]){7, 7, 7, 7, 8, 8, 8, 8}));
    assert_ok(cx, collet_array_slice(cx, &row, table, 0, 1, 1, 1));
    collet_array *flat;
    assert_ok(cx, collet_array_reshape(cx, &flat, row, 1, (int64_t[]){4}));
    assert_ok(cx, collet_sequence_run(cx, sequence, (collet_array *[]){flat, a, b}));
    assert_floats(cx, table, (float[]){7, 7, 7, 7, 11, 26, 45, 68});
    collet_array_destroy(flat);
    collet_array_destroy(row);
    collet_array_destroy(table);
    collet_array_destroy(y);
    collet_array_destroy(c);
}

/* The calls use views of an argument; the replacement's offset differs. */
static void views_follow_their_argument(void **state)
{
    (void)state;
    collet_array *low, *high, *longer = floats(cx, 6, 0), *middle;
    assert_ok(cx, collet_array_slice(cx, &low, x, 0, 0, 2, 1));
    assert_ok(cx, collet_array_slice(cx, &high, x, 0, 3, 2, -1));
    assert_ok(cx, collet_sequence_begin(cx));
    assert_ok(cx, collet_op_add(cx, low, low, high));
    collet_array_destroy(low);
    collet_array_destroy(high);
    assert_ok(cx, collet_sequence_end(cx, &sequence, 1, &x));
    assert_ok(cx, collet_array_slice(cx, &middle, longer, 0, 1, 4, 1));
    assert_ok(cx, collet_sequence_run(cx, sequence, &middle));
    assert_floats(cx, longer, (float[]){0, 5, 5, 3, 4, 5});
    assert_floats(cx, x, untouched);
    collet_array_destroy(middle);
    collet_array_destroy(longer);
}

/* An overlap that needs a temporary: its copy is recorded too, and is not if the call fails. */
static void temporaries_are_recorded(void **state)
{
    (void)state;
    collet_array *low, *high;
    assert_ok(cx, collet_array_slice(cx, &low, x, 0, 0, 3, 1));
    assert_ok(cx, collet_array_slice(cx, &high, x, 0, 1, 3, 1));
    assert_ok(cx, collet_set_backend(cx, "remote:0"));
    assert_ok(cx, collet_sequence_begin(cx));
    assert_ok(cx, collet_op_add(cx, high, low, low));
    assert_status(cx, collet_op_sub(cx, high, low, low), COLLET_UNSUPPORTED);
    assert_text_has(cx, "recording a sequence for remote");
    assert_status(cx, collet_op_add(cx, low, a, b), COLLET_SHAPE);
    assert_ok(cx, collet_sequence_end(cx, &sequence, 0, NULL));
    assert_ok(cx, collet_sequence_run(cx, sequence, NULL));
    assert_int_equal(counters_of(cx).calls, 3); /* two copies */
    assert_floats(cx, x, (float[]){100, 200, 202, 204});
    assert_ok(cx, collet_sequence_run(cx, sequence, NULL));
    assert_floats(cx, x, (float[]){100, 200, 400, 404});
    collet_array_destroy(low);
    collet_array_destroy(high);
}

static void empty_calls_and_sequences(void **state)
{
    (void)state;
    collet_array *none = empty_floats(cx, 0);
    assert_ok(cx, collet_sequence_begin(cx));
    assert_ok(cx, collet_op_add(cx, none, none, none));
    assert_ok(cx, collet_sequence_end(cx, &sequence, 1, &none));
    assert_ok(cx, collet_sequence_run(cx, sequence, &none));
    assert_int_equal(counters_of(cx).calls, 0);
    collet_array_destroy(none);
}

static void only_calls_can_be_recorded(void **state)
{
    (void)state;
    float values[4];
    void *address;
    collet_array *other;
    const int64_t four = 4;
    record();
    assert_ok(cx, collet_sequence_begin(cx));
    assert_status(cx, collet_sequence_begin(cx), COLLET_BUSY);
    assert_text_has(cx, "end the recording first");
    assert_status(cx, collet_sequence_run(cx, sequence, NULL), COLLET_BUSY);
    assert_status(cx, collet_array_read(cx, a, values, 16), COLLET_BUSY);
    assert_status(cx, collet_array_write(cx, a, values, 16), COLLET_BUSY);
    assert_status(cx, collet_array_from(cx, &other, COLLET_F32, 1, &four, values), COLLET_BUSY);
    assert_status(cx, collet_array_acquire(cx, a, &address, COLLET_READ), COLLET_BUSY);
    assert_status(cx, collet_array_release(cx, a), COLLET_BUSY);
    assert_status(cx, collet_finish(cx), COLLET_BUSY);
    assert_status(cx, collet_trim(cx), COLLET_BUSY);
    assert_status(cx, collet_set_backend(cx, "auto"), COLLET_BUSY);
    /* Another context is not concerned. */
    collet_context *second = context_of(rt);
    assert_ok(second, collet_array_read(second, a, values, 16));
    collet_context_destroy(second);
    assert_ok(cx, collet_sequence_end(cx, NULL, 0, NULL));
    assert_ok(cx, collet_array_read(cx, a, values, 16));
    assert_status(cx, collet_sequence_end(cx, &sequence, 0, NULL), COLLET_INVALID);
    assert_text_has(cx, "begin a recording first");
}

/* A failing end leaves the recording as it was. */
static void refused_at_the_end(collet_array *const *arguments, uint32_t count, const char *text)
{
    assert_status(cx, collet_sequence_end(cx, &sequence, count, arguments), COLLET_INVALID);
    assert_text_has(cx, text);
    assert_null(sequence);
}

static void arguments_that_cannot_be_named(void **state)
{
    (void)state;
    world other = open_world(SCALAR_PLUGIN, NULL, NULL);
    collet_array *foreign = floats(other.cx, 4, 0), *half, *odd, *same;
    assert_ok(cx, collet_array_slice(cx, &half, a, 0, 0, 2, 1));
    assert_ok(cx, collet_array_slice(cx, &odd, a, 0, 0, 2, 2));
    assert_ok(cx, collet_array_slice(cx, &same, a, 0, 0, 4, 1));
    assert_ok(cx, collet_sequence_begin(cx));
    assert_ok(cx, collet_op_add(cx, x, a, a));
    refused_at_the_end(NULL, 1, "is NULL");
    refused_at_the_end((collet_array *[]){a, NULL}, 2, "argument 1 is NULL");
    refused_at_the_end(&foreign, 1, "another runtime");
    refused_at_the_end(&b, 1, "no recorded call uses argument 0");
    refused_at_the_end(&half, 1, "not in the argument");
    refused_at_the_end(&odd, 1, "contiguous");
    refused_at_the_end((collet_array *[]){a, x, same}, 3, "argument 2 shares its storage");
    assert_ok(cx, collet_sequence_end(cx, &sequence, 2, (collet_array *[]){same, x}));
    assert_ok(cx, collet_sequence_run(cx, sequence, NULL));
    assert_floats(cx, x, (float[]){2, 4, 6, 8});
    collet_array_destroy(half);
    collet_array_destroy(odd);
    collet_array_destroy(same);
    collet_array_destroy(foreign);
    close_world(other);
}

static void refused_in_place_of(uint32_t argument, collet_array *array, collet_status status,
                                const char *text)
{
    collet_array *arguments[3] = {NULL, NULL, NULL};
    arguments[argument] = array;
    assert_status(cx, collet_sequence_run(cx, sequence, arguments), status);
    assert_text_has(cx, text);
    assert_floats(cx, x, untouched);
}

static void arrays_that_cannot_replace(void **state)
{
    (void)state;
    world other = open_world(SCALAR_PLUGIN, NULL, NULL);
    float memory[8] = {0};
    const int64_t four = 4;
    collet_array *foreign = floats(other.cx, 4, 0), *five = floats(cx, 5, 0), *doubles, *constant,
                 *strided, *shifted, *eight = floats(cx, 8, 0);
    assert_ok(cx, collet_array_create(cx, &doubles, COLLET_F64, 1, &four));
    assert_ok(cx, collet_array_wrap(cx, &constant, COLLET_F32, 1, &four, NULL, memory,
                                    COLLET_WRAP_READONLY, NULL, NULL));
    assert_ok(cx, collet_array_slice(cx, &strided, eight, 0, 0, 4, 2));
    assert_ok(cx, collet_array_slice(cx, &shifted, five, 0, 0, 4, 1));
    record();
    refused_in_place_of(1, foreign, COLLET_INVALID, "argument 1 belongs to another runtime");
    refused_in_place_of(1, five, COLLET_SHAPE, "argument 1 is f32 5, but was recorded as f32 4");
    refused_in_place_of(1, doubles, COLLET_DTYPE, "is f64 4, but");
    refused_in_place_of(1, strided, COLLET_SHAPE, "with strides 2");
    refused_in_place_of(0, constant, COLLET_INVALID, "wraps read-only memory");
    refused_in_place_of(0, a, COLLET_INVALID, "overlaps");
    refused_in_place_of(2, x, COLLET_INVALID, "argument 2 overlaps");
    collet_array *sliding[] = {shifted, NULL, NULL}, *tail;
    assert_ok(cx, collet_array_slice(cx, &tail, five, 0, 1, 4, 1));
    sliding[1] = tail;
    assert_status(cx, collet_sequence_run(cx, sequence, sliding), COLLET_INVALID);
    /* Inputs may be the same array, and one that is only read may be read-only. */
    assert_ok(cx, collet_sequence_run(cx, sequence, (collet_array *[]){x, constant, constant}));
    assert_floats(cx, x, memory);
    assert_status(cx, collet_sequence_run(cx, NULL, NULL), COLLET_INVALID);
    assert_status(other.cx, collet_sequence_run(other.cx, sequence, NULL), COLLET_INVALID);
    assert_int_equal(collet_sequence_begin(NULL), COLLET_INVALID);
    collet_sequence_destroy(NULL);
    collet_array *all[] = {foreign, five, doubles, constant, strided, shifted, eight, tail};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        collet_array_destroy(all[i]);
    close_world(other);
}

/* ---- Lifetimes --------------------------------------------------------------------------- */

static void count_delete(void *user)
{
    ++*(int *)user;
}

/* The sequence holds what it uses, and lets go of what was replaced. */
static void arrays_may_be_freed(void **state)
{
    (void)state;
    float memory[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
    int deleted[2] = {0, 0};
    const int64_t four = 4;
    collet_array *wrapped[2];
    for (int i = 0; i < 2; i++)
        assert_ok(cx, collet_array_wrap(cx, &wrapped[i], COLLET_F32, 1, &four, NULL, memory[i], 0,
                                        count_delete, &deleted[i]));
    assert_ok(cx, collet_sequence_begin(cx));
    assert_ok(cx, collet_op_add(cx, x, wrapped[0], wrapped[0]));
    assert_ok(cx, collet_sequence_end(cx, &sequence, 1, wrapped));
    collet_array_destroy(wrapped[0]);
    assert_ok(cx, collet_sequence_run(cx, sequence, NULL));
    assert_floats(cx, x, (float[]){2, 4, 6, 8});
    assert_int_equal(deleted[0], 0);
    assert_ok(cx, collet_sequence_run(cx, sequence, &wrapped[1]));
    assert_int_equal(deleted[0], 1);
    collet_array_destroy(wrapped[1]);
    assert_ok(cx, collet_sequence_run(cx, sequence, NULL));
    assert_floats(cx, x, (float[]){10, 12, 14, 16});
    assert_int_equal(deleted[1], 0);
    collet_sequence_destroy(sequence);
    sequence = NULL;
    assert_int_equal(deleted[1], 1);
}

static void a_context_may_be_destroyed(void **state)
{
    (void)state;
    collet_context *second = context_of(rt);
    assert_ok(second, collet_set_backend(second, "cpu_scalar"));
    assert_ok(second, collet_sequence_begin(second));
    assert_ok(second, collet_op_add(second, x, a, b));
    collet_context_destroy(second); /* drops the recording */
    second = context_of(rt);
    assert_ok(second, collet_set_backend(second, "remote:1"));
    assert_ok(second, collet_sequence_begin(second));
    assert_ok(second, collet_op_add(second, x, a, b));
    assert_ok(second, collet_sequence_end(second, &sequence, 0, NULL));
    collet_context_destroy(second);
    assert_ok(cx, collet_sequence_run(cx, sequence, NULL));
    assert_string_equal(collet_last_backend(cx), "remote");
    assert_floats(cx, x, (float[]){11, 13, 15, 17});
}

static void *run_elsewhere(void *unused)
{
    collet_context *second = context_of(rt);
    (void)unused;
    assert_ok(second, collet_sequence_run(second, sequence, NULL));
    collet_context_destroy(second);
    return NULL;
}

static void threads_may_take_turns(void **state)
{
    (void)state;
    pthread_t thread;
    record();
    for (int i = 0; i < 10; i++) {
        assert_int_equal(pthread_create(&thread, NULL, run_elsewhere, NULL), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_ok(cx, collet_sequence_run(cx, sequence, (collet_array *[]){x, a, b}));
        assert_floats(cx, x, result);
        assert_ok(cx, collet_array_write(cx, x, untouched, sizeof untouched));
    }
}

static void acquired_arrays_are_busy(void **state)
{
    (void)state;
    void *address;
    record();
    assert_ok(cx, collet_array_acquire(cx, x, &address, COLLET_READ));
    assert_status(cx, collet_sequence_run(cx, sequence, NULL), COLLET_BUSY);
    assert_ok(cx, collet_array_release(cx, x));
    assert_ok(cx, collet_array_acquire(cx, a, &address, COLLET_WRITE));
    assert_status(cx, collet_sequence_run(cx, sequence, NULL), COLLET_BUSY);
    *(float *)address = 3;
    assert_ok(cx, collet_array_release(cx, a));
    assert_floats(cx, x, untouched);
    assert_ok(cx, collet_sequence_run(cx, sequence, NULL));
    assert_floats(cx, x, (float[]){39, 26, 45, 68});
}

/* ---- A device with memory and queues of its own ---------------------------------------------- */

static void bytes_move_once(void **state)
{
    (void)state;
    record();
    for (int i = 0; i < 5; i++)
        assert_ok(cx, collet_sequence_run(cx, sequence, NULL));
    collet_counters counters = counters_of(cx);
    assert_int_equal(counters.bytes_to_device, 32); /* a and b: x is overwritten */
    assert_int_equal(counters.bytes_to_host, 0);
    assert_int_equal(counters.calls, 10);
    assert_ok(cx, collet_finish(cx));
    assert_floats(cx, x, result);
    assert_ok(cx, collet_array_write(cx, b, (float[]){0, 0, 0, 0}, 16));
    assert_ok(cx, collet_sequence_run(cx, sequence, NULL));
    assert_int_equal(counters_of(cx).bytes_to_device, 48);
    assert_floats(cx, x, (float[]){1, 4, 9, 16});
}

/* Two queues of one device take turns, though each runs when it likes. */
static void two_contexts(void **state)
{
    (void)state;
    collet_array *total = floats(cx, 4, 0), *step;
    collet_context *second = context_of(rt);
    assert_ok(cx, collet_sequence_begin(cx));
    step = empty_floats(cx, 4);
    assert_ok(cx, collet_op_add(cx, step, a, total));
    assert_ok(cx, collet_op_copy(cx, total, step));
    collet_array_destroy(step);
    assert_ok(cx, collet_sequence_end(cx, &sequence, 0, NULL));
    for (int i = 0; i < 50; i++) {
        assert_ok(cx, collet_sequence_run(cx, sequence, NULL));
        assert_ok(second, collet_sequence_run(second, sequence, NULL));
    }
    assert_floats(cx, total, (float[]){100, 201, 302, 403});
    collet_context_destroy(second);
    collet_array_destroy(total);
}

static void assert_unreadable(const collet_array *array, collet_status status)
{
    float sink[4];
    assert_status(cx, collet_array_read(cx, array, sink, sizeof sink), status);
}

/* Call 3, the first of the second run, fails late: what that run wrote is failed, what another
 * context computes from it too, until it is overwritten. */
static void late_failures_travel(void **state)
{
    (void)state;
    collet_context *second = context_of(rt);
    collet_array *y = empty_floats(cx, 4);
    assert_ok(second, collet_set_backend(second, "remote:1"));
    record();
    assert_ok(cx, collet_sequence_run(cx, sequence, NULL));
    assert_floats(cx, x, result);
    assert_ok(cx, collet_sequence_run(cx, sequence, NULL));
    assert_ok(second, collet_op_add(second, y, x, x));
    assert_status(second, collet_finish(second), COLLET_FAILED);
    assert_unreadable(y, COLLET_FAILED);
    assert_unreadable(x, COLLET_FAILED);
    assert_status(cx, collet_finish(cx), COLLET_FAILED);
    assert_floats(cx, a, (float[]){1, 2, 3, 4});
    assert_ok(cx, collet_sequence_run(cx, sequence, NULL));
    assert_ok(cx, collet_finish(cx));
    assert_floats(cx, x, result);
    collet_array_destroy(y);
    collet_context_destroy(second);
}

static int set_up_late(void **state)
{
    (void)state;
    return set_up_on("remote:0", "remote.fail=3", NULL);
}

/* The same of a device that records: its third run, a replay, fails late. Its queue is then
 * replaced. */
static void late_failures_of_replays(void **state)
{
    (void)state;
    record();
    for (int i = 0; i < 2; i++) {
        assert_ok(cx, collet_sequence_run(cx, sequence, NULL));
        assert_floats(cx, x, result);
    }
    assert_ok(cx, collet_sequence_run(cx, sequence, NULL));
    assert_unreadable(x, COLLET_FAILED);
    assert_status(cx, collet_finish(cx), COLLET_FAILED);
    for (int i = 0; i < 2; i++) {
        assert_ok(cx, collet_sequence_run(cx, sequence, NULL));
        assert_floats(cx, x, result);
    }
}

static int set_up_later(void **state)
{
    (void)state;
    return set_up_on("remote:0", "remote.fail=5", NULL);
}

/* A failed input fails the run before anything is done. */
static void failed_inputs(void **state)
{
    (void)state;
    record();
    for (int i = 0; i < 2; i++)
        assert_ok(cx, collet_op_add(cx, x, b, b));
    assert_ok(cx, collet_op_add(cx, a, b, b));
    assert_status(cx, collet_finish(cx), COLLET_FAILED);
    assert_status(cx, collet_sequence_run(cx, sequence, NULL), COLLET_FAILED);
    assert_floats(cx, x, (float[]){20, 22, 24, 26});
    assert_ok(cx, collet_array_write(cx, a, (float[]){1, 2, 3, 4}, 16));
    assert_ok(cx, collet_sequence_run(cx, sequence, NULL));
    assert_floats(cx, x, result);
}

/* The first call of a run refused: nothing was done. A later one: the run has failed. */
static void refused_calls(void **state)
{
    (void)state;
    record();
    assert_status(cx, collet_sequence_run(cx, sequence, NULL), COLLET_REFUSED);
    assert_text_has(cx, "call 1 of 2, add on remote:0: ");
    assert_floats(cx, x, untouched);
    assert_ok(cx, collet_sequence_run(cx, sequence, NULL));
    assert_floats(cx, x, result);
}

static int set_up_refusing_first(void **state)
{
    (void)state;
    return set_up_on("remote:0", "remote.refuse=1", NULL);
}

static void refused_in_between(void **state)
{
    (void)state;
    record();
    assert_status(cx, collet_sequence_run(cx, sequence, NULL), COLLET_FAILED);
    assert_text_has(cx, "call 2 of 2, mul on remote:0: ");
    assert_ok(cx, collet_sequence_run(cx, sequence, NULL));
    assert_floats(cx, x, result);
}

static int set_up_refusing_second(void **state)
{
    (void)state;
    return set_up_on("remote:0", "remote.refuse=2", NULL);
}

static void lost_devices(void **state)
{
    (void)state;
    record();
    assert_ok(cx, collet_sequence_run(cx, sequence, NULL));
    assert_status(cx, collet_finish(cx), COLLET_DEVICE_LOST);
    assert_status(cx, collet_sequence_run(cx, sequence, NULL), COLLET_DEVICE_LOST);
    assert_text_has(cx, "record it again for another device");
    assert_unreadable(x, COLLET_DEVICE_LOST);
    collet_sequence_destroy(sequence);
    assert_ok(cx, collet_set_backend(cx, "cpu_scalar"));
    record();
    assert_ok(cx, collet_sequence_run(cx, sequence, NULL));
    assert_floats(cx, x, result);
}

static int set_up_losing(void **state)
{
    (void)state;
    return set_up_on("remote:0", "remote.lose=2", NULL);
}

/* The device's memory holds three of the four arrays: nothing was done. */
static void short_memory(void **state)
{
    (void)state;
    record();
    assert_status(cx, collet_sequence_run(cx, sequence, NULL), COLLET_REFUSED);
    assert_floats(cx, x, untouched);
}

static int set_up_small(void **state)
{
    (void)state;
    return set_up_on("remote:0", "remote.memory=48", NULL);
}

/* ---- A device that records ------------------------------------------------------------------- */

static remote_control control;

static collet_status enqueued(remote_control *c, remote_command *command)
{
    (void)c;
    (void)command;
    return COLLET_OK;
}

static void waited(remote_control *c, uint64_t queue, uint64_t value, collet_status status)
{
    (void)c;
    (void)queue;
    (void)value;
    (void)status;
}

static int set_up_watched(const char *setting)
{
    char text[64];
    control = (remote_control){.enqueued = enqueued, .waited = waited};
    snprintf(text, sizeof text, "remote.control=%llx", (unsigned long long)(uintptr_t)&control);
    return set_up_on("remote:0", text, setting);
}

static int set_up_recording(void **state)
{
    (void)state;
    return set_up_watched(NULL);
}

static int none_is_left(void **state)
{
    collet_sequence_destroy(sequence);
    sequence = NULL;
    int left = atomic_load(&control.recordings);
    clean_up(state);
    return left;
}

/* Recordings so far, replays so far, living recordings. */
static void assert_counted(int recorded, int replayed, int living)
{
    assert_int_equal(atomic_load(&control.recorded), recorded);
    assert_int_equal(atomic_load(&control.replayed), replayed);
    assert_int_equal(atomic_load(&control.recordings), living);
}

static void run_and_check(collet_context *by, collet_array *const *arguments)
{
    assert_ok(cx, collet_array_write(cx, x, untouched, sizeof untouched));
    assert_ok(by, collet_sequence_run(by, sequence, arguments));
    assert_floats(cx, x, result);
}

/* The first run enqueues the calls, the second records them. */
static void the_device_records(void **state)
{
    (void)state;
    collet_array *y = empty_floats(cx, 4), *c = floats(cx, 4, 0);
    record();
    run_and_check(cx, NULL);
    assert_counted(0, 0, 0);
    for (int i = 0; i < 3; i++)
        run_and_check(cx, (collet_array *[]){x, a, b});
    assert_counted(1, 3, 1);
    assert_ok(cx, collet_sequence_run(cx, sequence, (collet_array *[]){y, NULL, c}));
    assert_floats(cx, y, (float[]){1, 6, 15, 28});
    assert_counted(2, 4, 1);
    run_and_check(cx, (collet_array *[]){x, a, b});
    assert_counted(3, 5, 1);
    collet_array_destroy(y);
    collet_array_destroy(c);
    run_and_check(cx, NULL);
    assert_counted(3, 6, 1);
}

/* A recording is of one queue. */
static void each_queue_records(void **state)
{
    (void)state;
    collet_context *second = context_of(rt);
    record();
    for (int i = 1; i < 4; i++) {
        run_and_check(cx, NULL);
        run_and_check(second, NULL);
        assert_counted(2 * i - 1, 2 * i - 1, 1);
    }
    collet_context_destroy(second);
}

static void after_a_trim(void **state)
{
    (void)state;
    record();
    run_and_check(cx, NULL);
    run_and_check(cx, NULL);
    assert_ok(cx, collet_trim(cx));
    run_and_check(cx, NULL);
    assert_counted(1, 1, 1);
    run_and_check(cx, NULL);
    assert_counted(2, 2, 1);
}

static void what_cannot_be_recorded(void **state)
{
    (void)state;
    uint32_t plus;
    assert_int_equal(collet_ops_find(rt, &plus, "remote.plus", NULL), COLLET_OK);
    assert_ok(cx, collet_sequence_begin(cx));
    assert_ok(cx, collet_op_add(cx, x, a, b));
    assert_ok(cx, collet_call(cx, plus, &x, (const collet_array *[]){x, a}, NULL));
    assert_ok(cx, collet_sequence_end(cx, &sequence, 0, NULL));
    for (int i = 0; i < 4; i++) {
        assert_ok(cx, collet_sequence_run(cx, sequence, NULL));
        assert_floats(cx, x, (float[]){12, 15, 18, 21});
    }
    assert_counted(0, 0, 0);
    assert_int_equal(atomic_load(&control.begun), 1);
}

static int set_up_slow(void **state)
{
    (void)state;
    return set_up_watched("remote.delay_us=20000");
}

/* The plugin aborts if the recording is released before its replays are over. */
static void freed_while_it_runs(void **state)
{
    (void)state;
    record();
    for (int i = 0; i < 3; i++)
        assert_ok(cx, collet_sequence_run(cx, sequence, NULL));
    collet_sequence_destroy(sequence);
    sequence = NULL;
    assert_counted(1, 2, 0);
}

/* Rows are asked again about a call whose operands are at other offsets, before anything moves. */
static void other_offsets(void **state)
{
    (void)state;
    uint32_t plus;
    collet_array *longer = floats(cx, 8, 0), *at[5];
    assert_int_equal(collet_ops_find(rt, &plus, "remote.plus", NULL), COLLET_OK);
    for (int i = 0; i < 5; i++)
        assert_ok(cx, collet_array_slice(cx, &at[i], longer, 0, i, 4, 1));
    assert_ok(cx, collet_sequence_begin(cx));
    assert_ok(cx, collet_call(cx, plus, &x, (const collet_array *[]){b, a}, NULL));
    assert_ok(cx, collet_sequence_end(cx, &sequence, 1, &x));
    assert_ok(cx, collet_sequence_run(cx, sequence, NULL));
    assert_ok(cx, collet_sequence_run(cx, sequence, &at[4]));
    assert_floats(cx, longer, (float[]){0, 1, 2, 3, 11, 13, 15, 17});
    for (int i = 0; i < 2; i++) {
        assert_status(cx, collet_sequence_run(cx, sequence, i ? NULL : &at[3]), COLLET_REFUSED);
        assert_text_has(cx, "call 1 of 1, remote.plus on remote:0: 12 bytes from the start");
    }
    assert_floats(cx, longer, (float[]){0, 1, 2, 3, 11, 13, 15, 17});
    assert_ok(cx, collet_sequence_run(cx, sequence, &at[0]));
    assert_floats(cx, longer, (float[]){11, 13, 15, 17, 11, 13, 15, 17});
    for (int i = 0; i < 5; i++)
        collet_array_destroy(at[i]);
    collet_array_destroy(longer);
}

static void without_the_extension(void **state)
{
    (void)state;
    record();
    for (int i = 0; i < 3; i++)
        run_and_check(cx, NULL);
    assert_counted(0, 0, 0);
}

static int set_up_without(void **state)
{
    (void)state;
    return set_up_watched("remote.extension=collet.record/1 absent");
}

/* The third run, a replay, is refused in its second call: the run has failed. */
static void refused_replays(void **state)
{
    (void)state;
    record();
    run_and_check(cx, NULL);
    run_and_check(cx, NULL);
    assert_status(cx, collet_sequence_run(cx, sequence, NULL), COLLET_FAILED);
    assert_text_has(cx, "collet_sequence_run: 2 calls on remote:0: ");
    run_and_check(cx, NULL);
}

static int set_up_refusing_replay(void **state)
{
    (void)state;
    return set_up_watched("remote.refuse=6");
}

static void lost_in_a_replay(void **state)
{
    (void)state;
    record();
    run_and_check(cx, NULL);
    run_and_check(cx, NULL);
    assert_ok(cx, collet_sequence_run(cx, sequence, NULL));
    assert_unreadable(x, COLLET_DEVICE_LOST);
    assert_status(cx, collet_sequence_run(cx, sequence, NULL), COLLET_DEVICE_LOST);
}

static int set_up_losing_replay(void **state)
{
    (void)state;
    return set_up_on("remote:0", "remote.lose=6", NULL); /* control would decide how calls end */
}

#define TEST(name, begin) cmocka_unit_test_setup_teardown(name, begin, clean_up)
#define RECORDING(name, begin) cmocka_unit_test_setup_teardown(name, begin, none_is_left)

#define MANY 40000

static double processor_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* The end takes about as long as the recording, however many arrays there are; a search through all
 * of them for each would take seconds. */
static void many_arrays(void **state)
{
    const int64_t one = 1;
    collet_array **all = calloc(MANY, sizeof(collet_array *));
    const float first = 1;
    (void)state;
    assert_non_null(all);
    for (int i = 0; i < MANY; i++)
        assert_ok(cx, collet_array_from(cx, &all[i], COLLET_F32, 1, &one, &first));
    double begin = processor_seconds();
    assert_ok(cx, collet_sequence_begin(cx));
    for (int i = 1; i < MANY; i++)
        assert_ok(cx, collet_op_add(cx, all[i], all[i - 1], all[0]));
    double end = processor_seconds();
    assert_ok(cx, collet_sequence_end(cx, &sequence, MANY, all));
    if (processor_seconds() - end > 3 * (end - begin) + 0.02)
        fail_msg("collet_sequence_end took %.3f s, the recording %.3f", processor_seconds() - end,
                 end - begin);
    assert_ok(cx, collet_sequence_run(cx, sequence, NULL));
    assert_floats(cx, all[MANY - 1], (const float[]){MANY});
    for (int i = 0; i < MANY; i++)
        collet_array_destroy(all[i]);
    free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(many_arrays, set_up),
        TEST(recording_does_not_run, set_up),
        TEST(arguments_are_replaced, set_up),
        TEST(arguments_are_replaced, set_up_remote),
        TEST(views_follow_their_argument, set_up),
        TEST(views_follow_their_argument, set_up_remote),
        TEST(temporaries_are_recorded, set_up),
        TEST(empty_calls_and_sequences, set_up),
        TEST(only_calls_can_be_recorded, set_up),
        TEST(arguments_that_cannot_be_named, set_up),
        TEST(arrays_that_cannot_replace, set_up),
        TEST(arrays_may_be_freed, set_up),
        TEST(arrays_may_be_freed, set_up_remote),
        TEST(a_context_may_be_destroyed, set_up),
        TEST(threads_may_take_turns, set_up),
        TEST(threads_may_take_turns, set_up_remote),
        TEST(acquired_arrays_are_busy, set_up),
        TEST(acquired_arrays_are_busy, set_up_remote),
        TEST(bytes_move_once, set_up_remote),
        TEST(two_contexts, set_up_remote),
        TEST(late_failures_travel, set_up_late),
        TEST(late_failures_of_replays, set_up_later),
        TEST(failed_inputs, set_up_late),
        TEST(refused_calls, set_up_refusing_first),
        TEST(refused_in_between, set_up_refusing_second),
        TEST(lost_devices, set_up_losing),
        TEST(short_memory, set_up_small),
        RECORDING(the_device_records, set_up_recording),
        RECORDING(each_queue_records, set_up_recording),
        RECORDING(after_a_trim, set_up_recording),
        RECORDING(what_cannot_be_recorded, set_up_recording),
        RECORDING(freed_while_it_runs, set_up_slow),
        TEST(other_offsets, set_up_remote),
        RECORDING(without_the_extension, set_up_without),
        RECORDING(refused_replays, set_up_refusing_replay),
        RECORDING(lost_in_a_replay, set_up_losing_replay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
