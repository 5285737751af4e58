/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays are exported as DLPack tensors and imported: every field, which tensors are refused, who calls the deleter. */

#include "common/support.h"

#include <pthread.h>

#include "core/memory/dlpack.h"

typedef struct DLManagedTensorVersioned tensor;

#define N 6

/* ---- Out --------------------------------------------------------------------------------- */

static const struct {
    collet_dtype dtype;
    dl_type type;
} types[] = {{COLLET_F16, {2, 16, 1}}, {COLLET_BF16, {4, 16, 1}}, {COLLET_F32, {2, 32, 1}},
             {COLLET_F64, {2, 64, 1}}, {COLLET_C64, {5, 64, 1}},  {COLLET_C128, {5, 128, 1}},
             {COLLET_I8, {0, 8, 1}},   {COLLET_U8, {1, 8, 1}},    {COLLET_I16, {0, 16, 1}},
             {COLLET_U16, {1, 16, 1}}, {COLLET_I32, {0, 32, 1}},  {COLLET_U32, {1, 32, 1}},
             {COLLET_I64, {0, 64, 1}}, {COLLET_U64, {1, 64, 1}},  {COLLET_BOOL, {6, 8, 1}}};

TEST(every_dtype)
{
    const int64_t shape[] = {2, 3};
    unsigned char bytes[N * 16];
    OWNED(world) w = open_world(SCALAR_PLUGIN, NULL, NULL);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)i;
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        collet_array *a = NULL, *back = NULL;
        tensor *t = NULL;
        size_t size = collet_dtype_size(types[k].dtype);
        unsigned char got[N * 16];
        assert_ok(w.cx, collet_array_from(w.cx, &a, types[k].dtype, 2, shape, bytes));
        assert_ok(w.cx, collet_array_to_dlpack(w.cx, a, &t, NULL, COLLET_READ));
        const dl_type type = t->dl_tensor.dtype;
        if (memcmp(&type, &types[k].type, sizeof type) != 0)
            fail_msg("%s is {%d, %d, %d} in DLPack", collet_dtype_name(types[k].dtype), type.code,
                     type.bits, type.lanes);
        assert_memory_equal(t->dl_tensor.data, bytes, N * size);
        assert_ok(w.cx, collet_array_from_dlpack(w.cx, &back, t));
        collet_array_destroy(a);
        assert_int_equal(collet_array_dtype(back), types[k].dtype);
        assert_ok(w.cx, collet_array_read(w.cx, back, got, N * size));
        assert_memory_equal(got, bytes, N * size);
        collet_array_destroy(back);
    }
    assert_int_equal(sizeof types / sizeof *types, COLLET_DTYPE_COUNT - 1);
}

TEST(every_field)
{
    const int64_t shape[] = {2, 3};
    const float values[] = {0, 1, 2, 3, 4, 5};
    OWNED(collet_array) *a = NULL, *turned = NULL;
    tensor *t = NULL;
    OWNED(world) w = open_world(REMOTE_PLUGIN, NULL, "remote");
    assert_ok(w.cx, collet_array_from(w.cx, &a, COLLET_F32, 2, shape, values));
    assert_ok(w.cx, collet_array_slice(w.cx, a, &turned, 1, 2, 3, -1));
    assert_ok(w.cx, collet_array_to_dlpack(w.cx, turned, &t, "host", COLLET_READ));
    assert_int_equal(t->version.major, 1);
    assert_int_equal(t->flags, DLPACK_READ_ONLY);
    assert_int_equal(t->dl_tensor.device.type, 1);
    assert_int_equal(t->dl_tensor.device.id, 0);
    assert_int_equal(t->dl_tensor.ndim, 2);
    assert_int_equal(t->dl_tensor.shape[0], 2);
    assert_int_equal(t->dl_tensor.shape[1], 3);
    assert_int_equal(t->dl_tensor.strides[0], 3);
    assert_int_equal(t->dl_tensor.strides[1], -1);
    assert_int_equal(t->dl_tensor.byte_offset, 0);
    assert_true(*(const float *)t->dl_tensor.data == 2.0f);
    t->deleter(t);
    assert_ok(w.cx, collet_array_to_dlpack(w.cx, turned, &t, "remote:1", COLLET_WRITE));
    assert_int_equal(t->flags, 0);
    assert_int_equal(t->dl_tensor.device.type, 12);
    assert_int_equal(t->dl_tensor.device.id, 1);
    assert_int_equal(t->dl_tensor.byte_offset, 2 * sizeof(float));
    ((float *)t->dl_tensor.data)[2] = 7.0f;
    t->deleter(t);
    /* The tensor names the device that has the bytes now. */
    assert_ok(w.cx, collet_array_to_dlpack(w.cx, a, &t, NULL, COLLET_READ));
    assert_int_equal(t->dl_tensor.device.id, 1);
    t->deleter(t);
    const float expected[] = {0, 1, 7, 3, 4, 5};
    assert_floats(w.cx, a, expected);
}

/* The array counts as acquired until the tensor's deleter is called. */
TEST(the_array_is_acquired)
{
    world w = open_world(SCALAR_PLUGIN, NULL, NULL);
    collet_array *a = floats(w.cx, N, 0), *b = empty_floats(w.cx, N), *wide = NULL;
    const int64_t shape[] = {2, N};
    tensor *t = NULL, *other = NULL;
    assert_ok(w.cx, collet_array_to_dlpack(w.cx, a, &t, "host", COLLET_READ));
    assert_ok(w.cx, collet_array_to_dlpack(w.cx, a, &other, "host", COLLET_READ));
    assert_ok(w.cx, collet_op_add(w.cx, b, a, a));
    assert_status(w.cx, collet_op_add(w.cx, a, b, b), COLLET_BUSY);
    t->deleter(t);
    other->deleter(other);
    assert_ok(w.cx, collet_array_to_dlpack(w.cx, a, &t, "host", COLLET_WRITE));
    assert_status(w.cx, collet_op_add(w.cx, b, a, a), COLLET_BUSY);
    assert_status(w.cx, collet_array_to_dlpack(w.cx, a, &other, "host", COLLET_READ), COLLET_BUSY);
    t->deleter(t);
    assert_ok(w.cx, collet_op_add(w.cx, b, a, a));
    assert_ok(w.cx, collet_array_broadcast(w.cx, a, &wide, 2, shape));
    assert_status(w.cx, collet_array_to_dlpack(w.cx, wide, &t, NULL, COLLET_WRITE), COLLET_INVALID);
    assert_ok(w.cx, collet_array_to_dlpack(w.cx, wide, &t, NULL, COLLET_READ));
    assert_int_equal(t->dl_tensor.strides[0], 0);
    assert_status(w.cx, collet_array_to_dlpack(w.cx, a, &other, NULL, 8), COLLET_INVALID);
    assert_status(w.cx, collet_array_to_dlpack(w.cx, a, NULL, NULL, COLLET_READ), COLLET_INVALID);
    assert_status(w.cx, collet_array_to_dlpack(w.cx, a, &other, "auto", COLLET_READ),
                  COLLET_INVALID);
    /* The tensor keeps the memory, and the runtime, alive. */
    collet_array_destroy(wide);
    collet_array_destroy(a);
    collet_array_destroy(b);
    close_world(w);
    assert_true(((const float *)t->dl_tensor.data)[N - 1] == (float)(N - 1));
    t->deleter(t);
}

static void add_one(world w, collet_array *a)
{
    OWNED(collet_array) *one = floats(w.cx, N, 0);
    const float ones[N] = {1, 1, 1, 1, 1, 1};
    assert_ok(w.cx, collet_array_write(w.cx, one, ones, sizeof ones));
    assert_ok(w.cx, collet_op_add(w.cx, a, a, one));
}

/* The other library and calls on a device write the shared memory alternately. */
TEST(the_memory_is_shared)
{
    const int64_t two[] = {2, N};
    tensor *t = NULL, *other = NULL;
    OWNED(world) w = open_world(REMOTE_PLUGIN, NULL, "remote");
    OWNED(collet_array) *a = floats(w.cx, N, 0), *wide = NULL;
    add_one(w, a); /* only the device has the current elements */
    assert_false(collet_array_is_shared(a));
    assert_ok(w.cx, collet_array_to_dlpack(w.cx, a, &t, NULL, COLLET_SHARE));
    assert_int_equal(t->flags, DLPACK_READ_ONLY); /* as COLLET_READ */
    assert_false(collet_array_is_shared(a));
    t->deleter(t);
    assert_ok(w.cx, collet_array_to_dlpack(w.cx, a, &t, "host", COLLET_SHARE));
    assert_ok(w.cx, collet_array_broadcast(w.cx, a, &wide, 2, two));
    assert_ok(w.cx, collet_array_to_dlpack(w.cx, wide, &other, "host", COLLET_SHARE));
    assert_int_equal(t->flags, 0);
    assert_int_equal(other->flags, DLPACK_READ_ONLY);
    assert_true(collet_array_is_shared(a) && collet_array_is_shared(wide));
    float *elements = t->dl_tensor.data;
    for (int i = 0; i < 3; i++) {
        elements[0] = 10;
        add_one(w, a);
        assert_true(elements[0] == 11 && elements[1] == 3 + (float)i);
    }
    uint64_t moved = counters_of(w.cx).bytes_to_device;
    assert_ok(w.cx, collet_array_prefetch(w.cx, a, "remote"));
    elements[0] = 20;
    add_one(w, a);
    assert_int_equal(counters_of(w.cx).bytes_to_device - moved, 3 * N * sizeof(float));
    assert_true(elements[0] == 21);
    other->deleter(other);
    assert_true(collet_array_is_shared(a));
    assert_ok(w.cx, collet_array_prefetch(w.cx, a, "remote"));
    elements[0] = 30;
    t->deleter(t);
    assert_false(collet_array_is_shared(a));
    add_one(w, a);
    const float expected[] = {31, 7, 8, 9, 10, 11};
    assert_floats(w.cx, a, expected);
}

TEST(sharing_waits_for_a_writer)
{
    tensor *t = NULL, *other = NULL;
    OWNED(world) w = open_world(SCALAR_PLUGIN, NULL, NULL);
    collet_array *a = floats(w.cx, N, 0);
    assert_ok(w.cx, collet_array_to_dlpack(w.cx, a, &t, "host", COLLET_WRITE));
    assert_status(w.cx, collet_array_to_dlpack(w.cx, a, &other, "host", COLLET_SHARE), COLLET_BUSY);
    t->deleter(t);
    assert_status(w.cx, collet_array_to_dlpack(w.cx, a, &t, "host", COLLET_SHARE | COLLET_READ),
                  COLLET_INVALID);
    assert_ok(w.cx, collet_array_to_dlpack(w.cx, a, &t, "host", COLLET_SHARE));
    add_one(w, a);
    collet_array_destroy(a);
    assert_true(((const float *)t->dl_tensor.data)[N - 1] == (float)N);
    t->deleter(t);
}

static void *delete (void *argument)
{
    tensor *t = argument;
    t->deleter(t);
    return NULL;
}

TEST(deleters_run_on_any_thread)
{
    pthread_t threads[4];
    tensor *t[4];
    world w = open_world(REMOTE_PLUGIN, NULL, "remote");
    collet_array *a = floats(w.cx, N, 0), *b = empty_floats(w.cx, N);
    assert_ok(w.cx, collet_op_add(w.cx, b, a, a));
    for (int i = 0; i < 4; i++)
        assert_ok(w.cx,
                  collet_array_to_dlpack(w.cx, b, &t[i], i % 2 ? "remote" : "host", COLLET_READ));
    collet_array_destroy(b);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, delete, t[i]), 0);
    assert_ok(w.cx, collet_op_add(w.cx, a, a, a));
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    collet_array_destroy(a);
    close_world(w);
}

/* ---- In ---------------------------------------------------------------------------------- */

static float memory[4 * N];
static int64_t shape[COLLET_MAX_DIMS + 1] = {N};
static int deleted;

static void count(tensor *t)
{
    deleted++;
}

static tensor sample(void)
{
    deleted = 0;
    for (int i = 0; i < 4 * N; i++)
        memory[i] = (float)i;
    return (tensor){.version = {1, 9},
                    .deleter = count,
                    .dl_tensor = {.data = memory,
                                  .device = {DLPACK_CPU, 0},
                                  .ndim = 1,
                                  .dtype = {DLPACK_FLOAT, 32, 1},
                                  .shape = shape}};
}

TEST(tensors_are_wrapped)
{
    int64_t strides[] = {2};
    collet_array *a = NULL, *b = NULL;
    world w = open_world(REMOTE_PLUGIN, NULL, "remote");
    tensor t = sample();
    t.dl_tensor.strides = strides;
    t.dl_tensor.byte_offset = sizeof(float);
    t.flags = DLPACK_READ_ONLY;
    assert_ok(w.cx, collet_array_from_dlpack(w.cx, &a, &t));
    const float expected[] = {1, 3, 5, 7, 9, 11};
    assert_floats(w.cx, a, expected);
    assert_status(w.cx, collet_op_add(w.cx, a, a, a), COLLET_INVALID);
    assert_int_equal(deleted, 0);
    collet_array_destroy(a);
    assert_int_equal(deleted, 1);
    /* A tensor in device memory is used in place. When its deleter is called, the memory has the result. */
    t = sample();
    t.dl_tensor.device = (dl_device){12, 0};
    uint64_t moved = counters_of(w.cx).bytes_to_device;
    assert_ok(w.cx, collet_array_from_dlpack(w.cx, &a, &t));
    assert_ok(w.cx, collet_array_slice(w.cx, a, &b, 0, 0, N, 1));
    assert_ok(w.cx, collet_op_add(w.cx, a, a, a));
    assert_int_equal(counters_of(w.cx).bytes_to_device, moved);
    collet_array_destroy(a);
    assert_int_equal(deleted, 0);
    collet_array_destroy(b);
    assert_int_equal(deleted, 1);
    assert_true(memory[N - 1] == 2.0f * (N - 1) && memory[N] == (float)N);
    /* The tensor is on a device that only another context has opened. */
    collet_context *other = context_of(w.rt);
    for (int i = 0; i < 2; i++) {
        assert_ok(w.cx, collet_set_backend(w.cx, i ? "remote:0" : "remote:1"));
        assert_ok(other, collet_set_backend(other, i ? "remote:1" : "remote:0"));
        t = sample();
        t.dl_tensor.device = (dl_device){12, i};
        assert_ok(w.cx, collet_array_from_dlpack(w.cx, &a, &t));
        collet_array_destroy(a);
    }
    collet_context_destroy(other);
    /* A tensor without a deleter. */
    t = sample();
    t.deleter = NULL;
    assert_ok(w.cx, collet_array_from_dlpack(w.cx, &a, &t));
    collet_array_destroy(a);
    close_world(w);
}

/* Calls see what another library writes to its memory, on the host or on a device. Results that calls compute on
 * another device are in that memory when the calls have finished. A tensor marked as a copy is not shared. */
TEST(memory_of_others_is_shared)
{
    for (int i = 0; i < 2; i++) {
        OWNED(collet_array) *a = NULL;
        void *address;
        OWNED(world) w = open_world(REMOTE_PLUGIN, NULL, "remote");
        tensor t = sample();
        t.dl_tensor.device = i ? (dl_device){12, 0} : t.dl_tensor.device;
        assert_ok(w.cx, collet_array_from_dlpack(w.cx, &a, &t));
        assert_true(collet_array_is_shared(a));
        float *elements = memory;
        for (int k = 0; k < 2; k++) {
            elements[0] = 10;
            assert_ok(w.cx, collet_set_backend(w.cx, k ? "remote:1" : "remote:0"));
            add_one(w, a);
            assert_ok(w.cx, collet_finish(w.cx));
            assert_true(elements[0] == 11 && elements[1] == 2 + (float)k);
        }
        const float expected[] = {40, 3, 4, 5, 6, 7};
        elements[0] = 40;
        assert_floats(w.cx, a, expected);
        assert_ok(w.cx, collet_array_acquire(w.cx, a, &address, COLLET_WRITE));
        ((float *)address)[0] = 50;
        assert_ok(w.cx, collet_array_release(w.cx, a));
        assert_true(elements[0] == 50);
        collet_array_destroy(a);
        t = sample();
        t.flags = DLPACK_IS_COPIED;
        assert_ok(w.cx, collet_array_from_dlpack(w.cx, &a, &t));
        assert_false(collet_array_is_shared(a));
    }
}

TEST(foreign_memory_of_a_device_is_not_shared_on_the_host)
{
    OWNED(collet_array) *a = NULL;
    tensor *out = NULL;
    OWNED(world) w = open_world(REMOTE_PLUGIN, NULL, "remote");
    tensor t = sample();
    t.dl_tensor.device = (dl_device){12, 0};
    assert_ok(w.cx, collet_array_from_dlpack(w.cx, &a, &t));
    assert_status(w.cx, collet_array_to_dlpack(w.cx, a, &out, "host", COLLET_SHARE),
                  COLLET_UNSUPPORTED, "cannot be shared");
}

static void refuse(world w, const tensor *t, collet_status status, const char *reason)
{
    collet_array *a = NULL;
    tensor copy = *t;
    assert_status(w.cx, collet_array_from_dlpack(w.cx, &a, &copy), status, reason);
    assert_null(a);
    assert_int_equal(deleted, 0);
}

/* A refused tensor is not deleted: it still belongs to the caller. */
TEST(what_does_not_fit_is_refused)
{
    static const dl_type none[] = {{6, 16, 1}, {2, 32, 4}, {2, 8, 1}, {0, 128, 1}, {9, 8, 1}};
    static const char *const texts[] = {
        "the tensor is bool of 16 bits, which Collet does not support", "vectors of 4 numbers",
        "float of 8 bits", "int of 128 bits", "an unknown type of 8 bits"};
    OWNED(world) w = open_world(REMOTE_PLUGIN, NULL, "remote");
    const tensor good = sample();
    tensor t = good;
    t.version = (dl_version){2, 0};
    refuse(w, &t, COLLET_UNSUPPORTED, "the tensor is of DLPack 2.0; version 1 is supported");
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        t = good;
        t.dl_tensor.dtype = none[i];
        refuse(w, &t, COLLET_UNSUPPORTED, texts[i]);
    }
    t = good;
    t.dl_tensor.ndim = COLLET_MAX_DIMS + 1;
    refuse(w, &t, COLLET_UNSUPPORTED, "the tensor has 9 axes");
    t = good;
    t.dl_tensor.device = (dl_device){2, 5};
    refuse(
        w, &t, COLLET_UNSUPPORTED,
        "the tensor is in the memory of device 5 of DLPack's type 2, which no device in use has");
    t = good;
    t.dl_tensor.shape = NULL;
    refuse(w, &t, COLLET_INVALID, "shape is NULL");
    for (int on = 0; on < 2; on++) {
        t = good;
        t.dl_tensor.device.type = on ? 12 : 1;
        t.dl_tensor.data = NULL;
        refuse(w, &t, COLLET_INVALID, "data is NULL");
        t = good;
        t.dl_tensor.device.type = on ? 12 : 1;
        t.dl_tensor.byte_offset = 1;
        refuse(w, &t, COLLET_INVALID, "aligned");
        t.dl_tensor.byte_offset = UINT64_MAX - 7;
        refuse(w, &t, COLLET_INVALID,
               on ? "outside of the memory" : "outside of the address space");
    }
    static const int64_t far[] = {-(INT64_C(1) << 50)};
    t = good;
    t.dl_tensor.device.type = 1;
    t.dl_tensor.strides = (int64_t *)far;
    refuse(w, &t, COLLET_INVALID, "the strides reach outside of the address space");
    collet_array *a = NULL;
    assert_status(w.cx, collet_array_from_dlpack(w.cx, &a, NULL), COLLET_INVALID);
    assert_status(w.cx, collet_array_from_dlpack(w.cx, NULL, &t), COLLET_INVALID);
}
