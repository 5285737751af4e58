/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/layers/test_validation.c */
#include "validation.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "poison.h"

/* Guard bytes after the workspace of synchronous devices on host memory. */
#define GUARD 64
#define GUARD_BYTE 0xa5
#define SIGNATURE(operand, sig)                                                                    \
    ((sig) >> ((operand)*COLLET_SIG_BITS) & ((1u << COLLET_SIG_BITS) - 1))
#define REMEMBERED 4096 /* bytes of an output that are compared after a refusal */

typedef struct kernel_call {
    call call;
    const collet_kernel_call *given;
    const collet_kernel_row *row;
    uint32_t count;
    buffer *buffers[COLLET_MAX_OPERANDS + 1]; /* distinct buffers; the workspace is last */
    int written[COLLET_MAX_OPERANDS + 1];
    uint32_t buffer_count;
    poison_block *block;
    collet_kernel_call *copy; /* the copy that the plugin gets, in one piece of memory */
    size_t copy_bytes;
    uint64_t copy_sum;
    uint64_t guard;     /* size of the guard, bytes */
    uint64_t untouched; /* hash of the outputs before the call */
} kernel_call;

static const collet_operand *operand(const collet_kernel_call *k, uint32_t i)
{
    const char *first = (const char *)k->operands;
    return (const collet_operand *)(const void *)(first + (size_t)i * k->operand_size);
}

static int on_host(const kernel_call *k)
{
    return k->call.device->properties.memory == COLLET_MEMORY_HOST;
}

/* ---- What libcore passes ----------------------------------------------------------------- */

#define SIZE_OF(NAME, id, size, ...) [id] = size,
static const uint32_t dtype_sizes[] = {COLLET_DTYPE_LIST(SIZE_OF)};

/* Computes the bytes [*low, *high) of the buffer that the operand reaches. Returns 0 if they do not fit 64 bits. */
static int operand_reach(const collet_operand *o, int64_t *low, int64_t *high)
{
    int64_t size = dtype_sizes[o->dtype], first = 0, last = 0, offset = (int64_t)o->byte_offset;
    *low = *high = offset;
    for (int32_t k = 0; k < o->ndim; k++) {
        int64_t length;
        if (!o->shape[k])
            return 1;
        if (__builtin_mul_overflow(o->shape[k] - 1, o->strides[k], &length) ||
            __builtin_add_overflow(length < 0 ? first : last, length, length < 0 ? &first : &last))
            return 0;
    }
    return !__builtin_mul_overflow(first, size, &first) &&
           !__builtin_mul_overflow(last, size, &last) &&
           !__builtin_add_overflow(offset, first, low) &&
           !__builtin_add_overflow(offset + size, last, high) && *low >= 0;
}

static const char *operand_fault(const kernel_call *k, const collet_operand *o, uint32_t i)
{
    if (o->dtype == COLLET_DTYPE_NONE)
        return o->buffer ? "is absent, but has a buffer" : NULL;
    if (o->dtype < 0 || o->dtype >= COLLET_DTYPE_COUNT)
        return "has an unknown dtype";
    if (k->given->sig && SIGNATURE(i, k->given->sig) != (uint64_t)o->dtype) /* 0: any dtypes */
        return "has a dtype that differs from the row's signature";
    if (o->ndim < 0 || o->ndim > COLLET_MAX_DIMS)
        return "has an ndim out of range";
    if (o->ndim && (!o->shape || !o->strides))
        return "has no shape or strides";
    if (o->byte_offset % dtype_sizes[o->dtype])
        return "has an offset that is not a multiple of the element's size";
    int empty = 0, repeats = 0;
    for (int32_t axis = 0; axis < o->ndim; axis++) {
        if (o->shape[axis] < 0)
            return "has a negative extent";
        empty |= !o->shape[axis];
        repeats |= o->shape[axis] > 1 && !o->strides[axis];
    }
    return repeats && !empty && i < k->given->n_out ? "is an output that repeats elements" : NULL;
}

static int check_operands(kernel_call *k)
{
    for (uint32_t i = 0; i < k->count; i++) {
        const char *fault = operand_fault(k, operand(k->given, i), i);
        if (fault)
            call_wrong(&k->call, LIBCORE, "operand %u %s", i, fault);
    }
    return k->call.wrong.status == COLLET_OK;
}

static int check_head(kernel_call *k)
{
    const collet_kernel_call *g = k->given;
    const char *fault = NULL;
    if (g->struct_size < sizeof *g || g->operand_size < sizeof(collet_operand))
        fault = "struct_size or operand_size is too small";
    else if (!g->err || !g->operands)
        fault = "err or operands is NULL";
    else if (!g->n_out || g->n_out > COLLET_MAX_OPERANDS ||
             g->n_in > COLLET_MAX_OPERANDS - g->n_out)
        fault = "the number of operands is out of range";
    else if (!g->params != !g->params_size)
        fault = "one of params and params_size is 0 and the other is not";
    if (fault)
        call_wrong(&k->call, LIBCORE, "%s", fault);
    k->count = g->n_out + g->n_in;
    return !fault;
}

/* Finds the row as libcore does. */
static int find_row(kernel_call *k)
{
    const collet_kernel_call *g = k->given;
    const device *d = k->call.device;
    uint64_t mask = 0;
    for (uint32_t i = 0; i < k->count; i++)
        if (operand(g, i)->dtype != COLLET_DTYPE_NONE)
            mask |= COLLET_SIG_AT(i, (1u << COLLET_SIG_BITS) - 1);
    for (uint32_t r = 0; r < d->of->below->kernel_count && !k->row; r++) {
        const collet_kernel_row *row = instance_row(d->of, r);
        if (row->op == g->op && (!((row->sig ^ g->sig) & mask) || !row->sig) &&
            d->supported[r] == 1 && !row->flags && !row->reserved)
            k->row = row;
    }
    if (!k->row)
        call_wrong(&k->call, LIBCORE, "op %u, signature 0x%" PRIx64 ": the device has no such row",
                   g->op, g->sig);
    for (uint32_t i = k->row ? k->row->params_size : 0; k->row && i < g->params_size; i++)
        if (((const char *)g->params)[i]) {
            call_wrong(
                &k->call, LIBCORE,
                "byte %u of the parameters is not 0, but the row supports only the first %u bytes",
                i, k->row->params_size);
            return 0;
        }
    return k->row != NULL;
}

/* ---- Memory ------------------------------------------------------------------------------ */

/* Adds a buffer to the list if it is not there yet. Marks the buffer as written if any operand writes it. */
static void add_buffer(kernel_call *k, void *handle, int writes)
{
    for (uint32_t i = 0; i < k->buffer_count; i++)
        if ((void *)k->buffers[i] == handle) {
            k->written[i] |= writes;
            return;
        }
    k->buffers[k->buffer_count] = handle;
    k->written[k->buffer_count++] = writes;
}

/* Replaces handles by objects. Returns 0 after a violation; the call then holds no object. */
static int take_buffers(kernel_call *k)
{
    const collet_kernel_call *g = k->given;
    for (uint32_t i = 0; i < k->count; i++)
        if (operand(g, i)->dtype != COLLET_DTYPE_NONE)
            add_buffer(k, operand(g, i)->buffer, i < g->n_out);
    if (g->workspace)
        add_buffer(k, g->workspace, 1);
    for (uint32_t i = 0; i < k->buffer_count; i++) {
        buffer *b = call_buffer(&k->call, k->call.device, (collet_buffer *)(void *)k->buffers[i],
                                "a buffer of the call", k->written[i]);
        if (!b) {
            k->buffer_count = i;
            return 0;
        }
        k->buffers[i] = b;
    }
    return 1;
}

static buffer *taken(const kernel_call *k, const void *handle)
{
    for (uint32_t i = 0; i < k->buffer_count; i++)
        if (k->buffers[i]->handle == handle)
            return k->buffers[i];
    return NULL;
}

static int check_reach(kernel_call *k)
{
    for (uint32_t i = 0; i < k->count; i++) {
        const collet_operand *o = operand(k->given, i);
        int64_t low, high;
        if (o->dtype == COLLET_DTYPE_NONE)
            continue;
        int fits = operand_reach(o, &low, &high);
        if (fits && low < high && on_host(k) && !o->buffer)
            call_wrong(&k->call, LIBCORE, "operand %u has no memory", i);
        if (!fits || (!on_host(k) && (uint64_t)high > taken(k, o->buffer)->bytes))
            call_wrong(&k->call, LIBCORE, "operand %u reaches outside its buffer", i);
    }
    const collet_kernel_call *g = k->given;
    if (!g->workspace != !g->workspace_bytes)
        call_wrong(&k->call, LIBCORE,
                   "one of workspace and workspace_bytes is 0 and the other is not");
    else if (g->workspace && on_host(k) && (uintptr_t)g->workspace % 64)
        call_wrong(&k->call, LIBCORE, "the workspace is not aligned to 64 bytes");
    else if (g->workspace && !on_host(k) && taken(k, g->workspace)->bytes < g->workspace_bytes)
        call_wrong(&k->call, LIBCORE, "the workspace's buffer is smaller than workspace_bytes");
    return k->call.wrong.status == COLLET_OK;
}

/* ---- What the plugin gets ---------------------------------------------------------------- */

static void *put(char **at, const void *bytes, size_t count)
{
    char *start = *at;
    if (count)
        memcpy(start, bytes, count);
    *at += (count + 15) & ~(size_t)15;
    return start;
}

static size_t rounded(size_t bytes)
{
    return (bytes + 15) & ~(size_t)15;
}

static size_t size_of_copy(const kernel_call *k)
{
    const collet_kernel_call *g = k->given;
    size_t bytes = rounded(g->struct_size) + rounded((size_t)k->count * g->operand_size) +
                   rounded(g->params_size);
    for (uint32_t i = 0; i < k->count; i++)
        bytes += 2 * rounded((size_t)operand(g, i)->ndim * sizeof(int64_t));
    return bytes;
}

static void copy_operands(kernel_call *k, char **at)
{
    const collet_kernel_call *g = k->given;
    k->copy->operands = put(at, g->operands, (size_t)k->count * g->operand_size);
    for (uint32_t i = 0; i < k->count; i++) {
        collet_operand *o = (collet_operand *)(uintptr_t)operand(k->copy, i);
        if (o->dtype == COLLET_DTYPE_NONE)
            continue;
        o->shape = put(at, o->shape, (size_t)o->ndim * sizeof(int64_t));
        o->strides = put(at, o->strides, (size_t)o->ndim * sizeof(int64_t));
        if (!on_host(k) && o->buffer)
            o->buffer = taken(k, o->buffer)->below;
    }
}

/* Copies the call into one piece of memory, with the backend's handles. */
static int copy_call(kernel_call *k)
{
    const collet_kernel_call *g = k->given;
    k->copy_bytes = size_of_copy(k);
    char *at = poison_take(k->copy_bytes, k->call.slot, &k->block);
    if (!at) {
        call_wrong(&k->call, LIBCORE, "the layer is out of memory");
        return 0;
    }
    k->copy = put(&at, g, g->struct_size);
    copy_operands(k, &at);
    if (g->params)
        k->copy->params = put(&at, g->params, g->params_size);
    if (g->workspace && !on_host(k))
        k->copy->workspace = taken(k, g->workspace)->below;
    k->copy->err = k->call.below_err;
    k->copy_sum = instance_hash(1, k->copy, k->copy_bytes);
    return 1;
}

static uint64_t outputs_sum(const kernel_call *k)
{
    uint64_t sum = 1;
    for (uint32_t i = 0; i < k->given->n_out; i++) {
        const collet_operand *o = operand(k->given, i);
        int64_t low, high;
        if (o->dtype == COLLET_DTYPE_NONE || !operand_reach(o, &low, &high))
            continue;
        size_t bytes = (size_t)(high - low);
        sum = instance_hash(sum, (const char *)o->buffer + low,
                            bytes < REMEMBERED ? bytes : REMEMBERED);
    }
    return sum;
}

/* Whether the plugin uses no memory of the call after `run` has returned, so that the layer may compare the memory
 * afterwards. */
static int is_done_on_return(const kernel_call *k)
{
    return on_host(k) && k->call.device->properties.order == COLLET_ORDER_SYNCHRONOUS;
}

static int has_guard(const device *d)
{
    return d->properties.memory == COLLET_MEMORY_HOST &&
           d->properties.order == COLLET_ORDER_SYNCHRONOUS;
}

static int take_guard(kernel_call *k)
{
    const collet_kernel_call *g = k->given;
    if (!has_guard(k->call.device) || !g->workspace_bytes)
        return 1;
    if (g->workspace_bytes <= GUARD) {
        call_wrong(&k->call, LIBCORE, "the workspace has %" PRIu64 " bytes, fewer than requested",
                   g->workspace_bytes);
        return 0;
    }
    k->guard = g->workspace_bytes - GUARD;
    k->copy->workspace_bytes = k->guard;
    memset((char *)g->workspace + k->guard, GUARD_BYTE, GUARD);
    return 1;
}

static void check_guard(kernel_call *k)
{
    const unsigned char *at = (const unsigned char *)k->given->workspace + k->guard;
    for (uint32_t i = 0; k->guard && i < GUARD; i++)
        if (at[i] != GUARD_BYTE) {
            call_wrong(&k->call, PLUGIN,
                       "it wrote beyond the end of its workspace, at byte %" PRIu64, k->guard + i);
            return;
        }
}

/* ---- The call ---------------------------------------------------------------------------- */

static void check_copy(kernel_call *k)
{
    if (instance_hash(1, k->copy, k->copy_bytes) != k->copy_sum)
        call_wrong(&k->call, PLUGIN, "it wrote to the call, its operands or its parameters");
}

static collet_status run(kernel_call *k)
{
    call *c = &k->call;
    device *d = c->device;
    if (!copy_call(k) || !take_guard(k))
        return COLLET_FAILED;
    if (k->guard)
        k->copy_sum = instance_hash(1, k->copy, k->copy_bytes);
    if (is_done_on_return(k))
        k->untouched = outputs_sum(k);
    call_enter(c);
    collet_status status = k->row->run(d->below, call_queue_below(c), k->copy);
    status = call_status(c, status, CONTRACT_ENQUEUE);
    check_copy(k);
    if (status == COLLET_REFUSED && is_done_on_return(k) && outputs_sum(k) != k->untouched)
        call_wrong(c, PLUGIN, "it returned REFUSED, but had written to an output");
    check_guard(k);
    for (uint32_t i = 0; c->queue && status != COLLET_REFUSED && i < k->buffer_count; i++)
        queue_used(c->queue, k->buffers[i]);
    return status;
}

static int begin(kernel_call *k, const char *slot, collet_device *named,
                 const collet_kernel_call *given)
{
    memset(k, 0, sizeof *k);
    k->given = given;
    int known = call_begin(&k->call, slot, named, given ? given->err : NULL);
    if (!given)
        call_wrong(&k->call, LIBCORE, "the call is NULL");
    return known && given && check_head(k) && check_operands(k) && find_row(k);
}

static collet_status end(kernel_call *k, collet_status status)
{
    for (uint32_t i = 0; i < k->buffer_count; i++)
        call_release_buffer(k->buffers[i], k->written[i]);
    poison_release(k->block);
    return call_end(&k->call, status);
}

collet_status validation_run(collet_device *named, collet_queue *in,
                             const collet_kernel_call *given)
{
    kernel_call k;
    collet_status status = COLLET_FAILED;
    if (begin(&k, "run", named, given) && call_queue(&k.call, in, ENQUEUES) &&
        (on_host(&k) || take_buffers(&k)) && check_reach(&k))
        status = run(&k);
    return end(&k, status);
}

static int check_unbound(kernel_call *k)
{
    if (k->given->workspace || k->given->workspace_bytes)
        call_wrong(&k->call, LIBCORE, "the workspace is set before the call was accepted");
    for (uint32_t i = 0; i < k->count; i++)
        if (operand(k->given, i)->buffer)
            call_wrong(&k->call, LIBCORE, "operand %u has a buffer before the call was accepted",
                       i);
    return k->call.wrong.status == COLLET_OK;
}

static collet_status ask(kernel_call *k, uint64_t *bytes)
{
    call *c = &k->call;
    if (!k->row->accepts || !copy_call(k))
        return COLLET_FAILED;
    call_enter(c);
    collet_status status = k->row->accepts(c->device->below, k->copy, bytes);
    status = call_status(c, status, CONTRACT_ACCEPT);
    check_copy(k);
    if (*bytes && has_guard(c->device))
        *bytes += GUARD;
    return status;
}

collet_status validation_accepts(collet_device *named, const collet_kernel_call *given,
                                 uint64_t *workspace_bytes)
{
    kernel_call k;
    uint64_t bytes = 0;
    collet_status status = COLLET_FAILED;
    int known = begin(&k, "accepts", named, given);
    if (known && (!workspace_bytes || *workspace_bytes))
        call_wrong(&k.call, LIBCORE, "`workspace_bytes` is NULL, or not 0 before the call");
    else if (known && check_unbound(&k))
        status = ask(&k, &bytes);
    if (status == COLLET_OK)
        *workspace_bytes = bytes;
    return end(&k, status);
}
