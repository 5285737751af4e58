/* SPDX-License-Identifier: Apache-2.0 */
/* Converts arrays to DLPack tensors and back.
 * Tests: tests/core/test_dlpack.c */
#include "dlpack.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <collet/floating.h>

#include "access.h"
#include "device/open.h"
#include "native.h"
#include "storage_life.h"

typedef struct DLManagedTensorVersioned tensor;

/* ---- Types ------------------------------------------------------------------------------- */

#define TYPE(NAME, id, bytes, text, letter, type, kind, ...) [id] = {DLPACK_##kind, 8 * bytes, 1},
static const dl_type types[COLLET_DTYPE_COUNT] = {COLLET_DTYPE_LIST(TYPE)};
#undef TYPE

static collet_dtype dtype_of(dl_type type)
{
    for (collet_dtype dtype = 1; dtype < COLLET_DTYPE_COUNT; dtype++)
        if (types[dtype].code == type.code && types[dtype].bits == type.bits && type.lanes == 1)
            return dtype;
    return COLLET_DTYPE_NONE;
}

/* ---- Out --------------------------------------------------------------------------------- */

/* A tensor for an array, which stays acquired until the tensor is deleted. */
typedef struct exported {
    tensor tensor;    /* first: the deleter gets its address */
    storage *storage; /* a reference */
    device *device;   /* NULL: the host */
    int shared;       /* 1: not acquired */
    int64_t shape[COLLET_MAX_DIMS];
    int64_t strides[COLLET_MAX_DIMS];
} exported;

static void exported_delete(tensor *t)
{
    COLLET_FLOATING_SCOPE;
    exported *e = (exported *)(void *)t;
    if (!e)
        return;
    if (!runtime_alive(e->storage->runtime))
        ; /* in a child of fork locks may stay locked: the memory is not freed */
    else if (e->shared)
        storage_unshare(e->storage);
    else if (e->device)
        storage_release_on(e->storage, e->device, NULL, NULL);
    else
        storage_unmap(e->storage, NULL);
    storage_release(e->storage);
    free(e);
}

static void describe(exported *e, const collet_array *a, const collet_native_device *native,
                     char *base, int32_t access)
{
    dl_tensor *t = &e->tensor.dl_tensor;
    e->tensor.version = (dl_version){DLPACK_MAJOR, DLPACK_MINOR};
    e->tensor.deleter = exported_delete;
    e->tensor.flags = access & COLLET_WRITE ? 0 : DLPACK_READ_ONLY;
    if (e->shared && !a->repeats && !a->storage->readonly)
        e->tensor.flags = 0;
    /* Some libraries ignore byte_offset, so it is used only for handles that are not addresses. */
    t->data = e->device ? base : base + a->offset;
    t->byte_offset = e->device ? a->offset : 0;
    t->device = (dl_device){native->dlpack_type, native->dlpack_id};
    t->ndim = a->ndim;
    t->dtype = types[a->dtype];
    t->shape = e->shape;
    t->strides = e->strides;
    memcpy(e->shape, a->shape, sizeof e->shape);
    memcpy(e->strides, a->strides, sizeof e->strides);
}

collet_status collet_array_to_dlpack(collet_context *cx, collet_array *array, tensor **out,
                                     const char *name, int32_t access)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx, array);
    COLLET_FLOATING_SCOPE;
    static const char what[] = "collet_array_to_dlpack";
    collet_native_device native;
    device *d = NULL;
    void *base = NULL;
    collet_status status = context_check(cx);
    if (status == COLLET_OK && !out)
        status = context_fail(cx, COLLET_INVALID, "%s: the address of the tensor is NULL", what);
    if (status == COLLET_OK)
        status = array_acquirable(cx, what, array, access == COLLET_SHARE ? COLLET_READ : access);
    if (status == COLLET_OK && name)
        status = context_space(cx, what, name, &d);
    if (status != COLLET_OK)
        return status;
    if (!name)
        d = storage_device(array->storage);
    if (d && !d->extensions.native)
        return context_fail(cx, COLLET_UNSUPPORTED, "%s: %s offers no native handles", what,
                            d->name);
    status = native_describe(d, &native, context_error(cx));
    if (status == COLLET_OK && !native.dlpack_type)
        status = context_fail(cx, COLLET_UNSUPPORTED, "%s: DLPack has no device type for %s", what,
                              d->name);
    if (status != COLLET_OK)
        return status;
    exported *e = malloc(sizeof *e); /* calloc is slower: it does not use malloc's cache of the thread */
    if (!e)
        return context_fail(cx, COLLET_NO_MEMORY, "%s: out of memory", what);
    *e = (exported){0};
    e->shared = !d && access == COLLET_SHARE;
    if (e->shared)
        status = storage_share(array->storage, &base, &cx->moved, context_error(cx));
    else if (d)
        status =
            native_acquire(cx, array, d, access == COLLET_SHARE ? COLLET_READ : access, 1, &base);
    else
        status = storage_map(array->storage, access, 0, &base, &cx->moved, context_error(cx));
    if (status != COLLET_OK) {
        free(e);
        return status;
    }
    e->device = d;
    e->storage = array->storage;
    storage_retain(e->storage);
    describe(e, array, &native, base, access);
    *out = &e->tensor;
    return COLLET_OK;
}

/* ---- In ---------------------------------------------------------------------------------- */

static void imported_delete(void *user)
{
    tensor *t = user;
    if (t->deleter)
        t->deleter(t);
}

/* 1 if `d` is open and is the device that DLPack names. */
static int is_there(device *d, dl_device where)
{
    collet_native_device native;
    collet_error ignored;
    return d && atomic_load(&d->state) == DEVICE_OPEN && d->space && d->extensions.native &&
           native_describe(d, &native, &ignored) == COLLET_OK && native.dlpack_type == where.type &&
           native.dlpack_id == where.id;
}

/* Searches the open devices, then the devices that the context has chosen. */
static device *find_device(collet_context *cx, dl_device where)
{
    for (uint32_t i = 0; i < RUNTIME_DEVICES_MAX; i++) {
        device *d = atomic_load(&cx->runtime->devices[i]);
        if (is_there(d, where))
            return d;
    }
    for (uint32_t i = 0; i < cx->selection.count; i++) {
        device *d = cx->selection.devices[i];
        if (device_open(d, NULL) == COLLET_OK && is_there(d, where))
            return d;
    }
    return NULL;
}

static collet_status refuse_dtype(const char *what, dl_type type, collet_error *err)
{
    static const char *const kinds[] = {"int",    "uint",    "float", "a handle",
                                        "bfloat", "complex", "bool"}; /* by DLPack's code */
    int known = type.code < sizeof kinds / sizeof *kinds;
    if (type.lanes != 1)
        return collet_fail(err, COLLET_UNSUPPORTED,
                           "%s: the tensor's elements are vectors of %u numbers, which Collet does "
                           "not support: make them an axis in that library",
                           what, type.lanes);
    return collet_fail(err, COLLET_UNSUPPORTED,
                       "%s: the tensor is %s of %u bits, which Collet does not support: convert "
                       "it in that library, for example to float of 32 bits",
                       what, known ? kinds[type.code] : "an unknown type", type.bits);
}

static collet_status check(const tensor *t, collet_dtype *dtype, collet_error *err)
{
    static const char what[] = "collet_array_from_dlpack";
    const dl_tensor *in = &t->dl_tensor;
    if (t->version.major != DLPACK_MAJOR)
        return collet_fail(err, COLLET_UNSUPPORTED,
                           "%s: the tensor is of DLPack %u.%u; version %d is supported", what,
                           t->version.major, t->version.minor, DLPACK_MAJOR);
    *dtype = dtype_of(in->dtype);
    if (!*dtype)
        return refuse_dtype(what, in->dtype, err);
    if (in->ndim < 0 || in->ndim > COLLET_MAX_DIMS)
        return collet_fail(err, COLLET_UNSUPPORTED,
                           "%s: the tensor has %d axes; 0 to %d are supported", what, in->ndim,
                           COLLET_MAX_DIMS);
    if (in->ndim && !in->shape)
        return collet_fail(err, COLLET_INVALID, "%s: the tensor's shape is NULL", what);
    return COLLET_OK;
}

static collet_status from_device(collet_context *cx, collet_array **out, collet_dtype dtype,
                                 tensor *t, uint32_t flags)
{
    static const char what[] = "collet_array_from_dlpack";
    const dl_tensor *in = &t->dl_tensor;
    collet_array *a = NULL;
    device *d = find_device(cx, in->device);
    if (!d)
        return context_fail(cx, COLLET_UNSUPPORTED,
                            "%s: the tensor is in the memory of device %d of DLPack's type %d, "
                            "which no device in use has; choose its backend first",
                            what, in->device.id, in->device.type);
    collet_status status =
        array_wrapping(what, &a, dtype, in->ndim, in->shape, in->strides, flags, context_error(cx));
    if (status != COLLET_OK)
        return status;
    if (a->size && !in->data)
        status = context_fail(cx, COLLET_INVALID, "%s: the tensor's data is NULL", what);
    else
        status = native_wrap(cx, d, a, in->data, in->byte_offset, flags, imported_delete, t);
    if (status != COLLET_OK) {
        programs_free(a);
        return status;
    }
    *out = a;
    return COLLET_OK;
}

collet_status collet_array_from_dlpack(collet_context *cx, collet_array **out, tensor *t)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx);
    COLLET_FLOATING_SCOPE;
    collet_dtype dtype = COLLET_DTYPE_NONE;
    collet_status status = context_check(cx);
    if (status == COLLET_OK && (!out || !t))
        status = context_fail(cx, COLLET_INVALID, "collet_array_from_dlpack: an argument is NULL");
    if (status == COLLET_OK)
        status = check(t, &dtype, context_error(cx));
    if (status != COLLET_OK)
        return status;
    const dl_tensor *in = &t->dl_tensor;
    uint32_t flags = (t->flags & DLPACK_READ_ONLY ? COLLET_WRAP_READONLY : 0) |
                     (t->flags & DLPACK_IS_COPIED ? 0 : COLLET_WRAP_SHARED);
    if (in->device.type != DLPACK_CPU && in->device.type != DLPACK_PINNED &&
        in->device.type != DLPACK_PINNED_ROCM)
        return from_device(cx, out, dtype, t, flags);
    void *data = in->data;
    if (data && !array_address(&data, in->byte_offset))
        return context_fail(cx, COLLET_INVALID,
                            "collet_array_from_dlpack: data %p with byte_offset %" PRIu64
                            " is outside of the address space",
                            data, in->byte_offset);
    return collet_array_wrap(cx, out, dtype, in->ndim, in->shape, in->strides, data, flags,
                             imported_delete, t);
}
