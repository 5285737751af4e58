/* SPDX-License-Identifier: Apache-2.0 */
/* Networks: layers in sequence.
 * Tests: tests/engines/test_ternary_network.c */
#include "ternary/network.h"

#include "io/struct.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <collet/floating.h>
#include <collet/ops/ternary.h>

typedef struct layer {
    collet_array *bytes, *scale, *bias; /* views of the caller's arrays */
    collet_ternary_linear_params params;
    int64_t rows, columns;
} layer;

/* The arrays between layers, for given leading axes. These arrays are views of two arrays, `flat`, which are used
 * alternately. */
typedef struct buffers {
    int32_t ndim; /* number of leading axes; -1: not allocated yet */
    int64_t shape[COLLET_MAX_DIMS];
    collet_array *flat[2];
    collet_array **between; /* count - 1 views */
} buffers;

struct collet_ternary_network {
    uint32_t count;
    layer *layers;
    buffers buffers;
    devices_shares shares;
};

/* ---- Layers ---------------------------------------------------------------------------------- */

collet_status ternary_check_layer(ternary_call *call, const char *what, uint32_t index,
                                  const collet_ternary_layer *l)
{
    if (!l->weights)
        return collet_fail(&call->error, COLLET_INVALID, "%s: layer %" PRIu32 " has no weights",
                           what, index);
    int64_t rows = collet_ternary_weights_rows(l->weights);
    if (!ternary_is_local(call->context, l->weights->bytes) ||
        !ternary_is_local(call->context, l->weights->scale) ||
        !ternary_is_local(call->context, l->bias))
        return collet_fail(&call->error, COLLET_INVALID,
                           "%s: layer %" PRIu32 " belongs to another runtime", what, index);
    if (l->bias && collet_array_dtype(l->bias) != COLLET_F32)
        return collet_fail(&call->error, COLLET_DTYPE,
                           "%s: the bias of layer %" PRIu32 " is %s, not f32", what, index,
                           collet_dtype_name(collet_array_dtype(l->bias)));
    if (l->bias && (collet_array_ndim(l->bias) != 1 || collet_array_shape(l->bias)[0] != rows))
        return collet_fail(&call->error, COLLET_SHAPE,
                           "%s: layer %" PRIu32 " has %" PRId64 " rows, but its bias has %" PRId64
                           " elements",
                           what, index, rows, collet_array_size(l->bias));
    return COLLET_OK;
}

/* The checks of ternary_linear, made before any layer runs. */
static collet_status check_activations(ternary_call *call, uint32_t index, uint32_t activations,
                                       float threshold)
{
    if (activations > COLLET_TERNARY_INT4)
        return collet_fail(&call->error, COLLET_INVALID,
                           "ternary network: layer %" PRIu32 ": activations is %" PRIu32
                           "; it must be 0 (int8), 1 (ternary), 2 (f32) or 3 (int4)",
                           index, activations);
    if (!isfinite(threshold) || threshold < 0)
        return collet_fail(&call->error, COLLET_INVALID,
                           "ternary network: layer %" PRIu32
                           ": the threshold is %g; it must be finite and not negative",
                           index, (double)threshold);
    if (threshold != 0 && activations != COLLET_TERNARY_TERNARY)
        return collet_fail(&call->error, COLLET_INVALID,
                           "ternary network: layer %" PRIu32
                           ": the threshold is %g; it must be 0 unless activations are ternary",
                           index, (double)threshold);
    return COLLET_OK;
}

static collet_status take_layer(ternary_call *call, layer *to, const collet_ternary_layer *l)
{
    to->params = (collet_ternary_linear_params){.struct_size = sizeof to->params,
                                                .activations = l->activations,
                                                .relu = l->relu,
                                                .threshold = l->threshold};
    to->rows = collet_ternary_weights_rows(l->weights);
    to->columns = collet_ternary_weights_columns(l->weights);
    collet_status status = ternary_share(call->context, &to->bytes, l->weights->bytes);
    if (status == COLLET_OK)
        status = ternary_share(call->context, &to->scale, l->weights->scale);
    if (status == COLLET_OK)
        status = ternary_share(call->context, &to->bias, l->bias);
    return status;
}

static collet_status take_layers(ternary_call *call, collet_ternary_network *network,
                                 const collet_ternary_layer *layers)
{
    const char *at = (const char *)layers;
    for (uint32_t i = 0; i < network->count; i++, at += layers->struct_size) {
        const collet_ternary_layer *l = (const collet_ternary_layer *)(const void *)at;
        collet_status status =
            io_struct_unknown(l, sizeof *l, layers->struct_size, "ternary network", &call->error);
        if (status == COLLET_OK)
            status = ternary_check_layer(call, "ternary network", i, l);
        if (status == COLLET_OK)
            status = check_activations(call, i, l->activations, l->threshold);
        if (status == COLLET_OK && i > 0 &&
            collet_ternary_weights_columns(l->weights) != network->layers[i - 1].rows)
            status = collet_fail(&call->error, COLLET_SHAPE,
                                 "ternary network: layer %" PRIu32 " has %" PRId64
                                 " rows, but layer %" PRIu32 " after it has %" PRId64 " columns",
                                 i - 1, network->layers[i - 1].rows, i,
                                 collet_ternary_weights_columns(l->weights));
        if (status == COLLET_OK)
            status = take_layer(call, &network->layers[i], l);
        if (status != COLLET_OK)
            return status;
    }
    return COLLET_OK;
}

/* NULL if out of memory. */
static collet_ternary_network *allocate(ternary_call *call, uint32_t count)
{
    collet_ternary_network *made = calloc(1, sizeof *made);
    if (made) {
        made->count = count;
        made->buffers.ndim = -1;
        made->layers = calloc(count, sizeof *made->layers);
    }
    if (made && made->layers)
        return made;
    free(made);
    (void)collet_fail(&call->error, COLLET_NO_MEMORY, "out of memory for a ternary network");
    return NULL;
}

static collet_status network_create(ternary_call *call, collet_ternary_network **out,
                                    const collet_ternary_layer *layers, uint32_t count)
{
    if (!out || !layers || count == 0)
        return collet_fail(&call->error, COLLET_INVALID, "ternary network: %s",
                           count == 0 ? "it must have at least one layer"
                           : layers   ? "out is NULL"
                                      : "layers is NULL");
    if (layers->struct_size < sizeof *layers)
        return collet_fail(&call->error, COLLET_INVALID,
                           "ternary network: a layer's struct_size is %" PRIu32
                           "; it must be at least %zu",
                           layers->struct_size, sizeof *layers);
    collet_ternary_network *made = allocate(call, count);
    collet_status status = made ? take_layers(call, made, layers) : COLLET_NO_MEMORY;
    if (status == COLLET_OK)
        *out = made;
    else
        collet_ternary_network_destroy(made);
    return status;
}

collet_status ternary_network_copy(ternary_call *call, collet_ternary_network **out,
                                   const collet_ternary_network *network)
{
    collet_ternary_network *made = *out = allocate(call, network->count);
    collet_status status = made ? COLLET_OK : COLLET_NO_MEMORY;
    for (uint32_t i = 0; i < network->count && status == COLLET_OK; i++) {
        const layer *from = &network->layers[i];
        layer *to = &made->layers[i];
        to->params = from->params;
        to->rows = from->rows;
        to->columns = from->columns;
        status = ternary_share(call->context, &to->bytes, from->bytes);
        if (status == COLLET_OK)
            status = ternary_share(call->context, &to->scale, from->scale);
        if (status == COLLET_OK)
            status = ternary_share(call->context, &to->bias, from->bias);
    }
    return status;
}

devices_shares *ternary_network_shares(collet_ternary_network *network)
{
    return &network->shares;
}

collet_status collet_ternary_network_share_at(const collet_ternary_network *network,
                                              collet_device_share *share, size_t index,
                                              collet_error *err)
{
    if (devices_shares_at(&network->shares, share, index) == COLLET_OK)
        return COLLET_OK;
    return collet_fail(err, COLLET_NOT_FOUND,
                       "index %zu is out of range: the last run had %" PRId64 " devices", index,
                       network->shares.count);
}

uint64_t ternary_network_bytes(const collet_ternary_network *network)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < network->count; i++) {
        const layer *l = &network->layers[i];
        bytes += (uint64_t)collet_array_size(l->bytes);
        bytes += l->scale ? sizeof(float) * (uint64_t)l->rows : 0;
        bytes += l->bias ? sizeof(float) * (uint64_t)l->rows : 0;
    }
    return bytes;
}

/* ---- Between layers -------------------------------------------------------------------------- */

static void buffers_clear(buffers *b, uint32_t views)
{
    for (uint32_t i = 0; b->between && i < views; i++)
        collet_array_destroy(b->between[i]);
    free(b->between);
    collet_array_destroy(b->flat[0]);
    collet_array_destroy(b->flat[1]);
    *b = (buffers){.ndim = -1};
}

void collet_ternary_network_destroy(collet_ternary_network *network)
{
    if (!network)
        return;
    buffers_clear(&network->buffers, network->count - 1);
    devices_shares_clear(&network->shares);
    for (uint32_t i = 0; network->layers && i < network->count; i++) {
        collet_array_destroy(network->layers[i].bytes);
        collet_array_destroy(network->layers[i].scale);
        collet_array_destroy(network->layers[i].bias);
    }
    free(network->layers);
    free(network);
}

/* Makes a view of `flat` as f32 (leading axes..., rows). */
static collet_status make_view(ternary_call *call, const buffers *b, const collet_array *flat,
                               int64_t tokens, int64_t rows, collet_array **out)
{
    int64_t shape[COLLET_MAX_DIMS];
    collet_array *part = NULL;
    memcpy(shape, b->shape, sizeof shape);
    shape[b->ndim] = rows;
    collet_status status = collet_array_slice(call->context, flat, &part, 0, 0, tokens * rows, 1);
    if (status == COLLET_OK)
        status = collet_array_reshape(call->context, part, out, b->ndim + 1, shape);
    collet_array_destroy(part);
    return status;
}

/* The sizes of x and y need no check for overflow, because both arrays exist. */
static collet_status buffers_make(ternary_call *call, const collet_ternary_network *network,
                                  const collet_array *x, buffers *b)
{
    int64_t tokens = 1, most[2] = {0, 0};
    uint32_t views = network->count - 1;
    b->ndim = collet_array_ndim(x) - 1;
    for (int32_t i = 0; i < b->ndim; i++) {
        b->shape[i] = collet_array_shape(x)[i];
        if (__builtin_mul_overflow(tokens, b->shape[i], &tokens))
            return collet_fail(&call->error, COLLET_OVERFLOW,
                               "ternary network: too many rows of x");
    }
    for (uint32_t i = 0; i < views; i++) {
        int64_t size;
        if (__builtin_mul_overflow(tokens, network->layers[i].rows, &size))
            return collet_fail(&call->error, COLLET_OVERFLOW,
                               "ternary network: the output of layer %" PRIu32 " is too large", i);
        most[i % 2] = size > most[i % 2] ? size : most[i % 2];
    }
    b->between = calloc(views ? views : 1, sizeof *b->between);
    if (!b->between)
        return collet_fail(&call->error, COLLET_NO_MEMORY, "out of memory for a ternary network");
    collet_status status = COLLET_OK;
    for (uint32_t i = 0; i < 2 && i < views && status == COLLET_OK; i++)
        status = collet_array_create(call->context, &b->flat[i], COLLET_F32, 1, &most[i]);
    for (uint32_t i = 0; i < views && status == COLLET_OK; i++)
        status =
            make_view(call, b, b->flat[i % 2], tokens, network->layers[i].rows, &b->between[i]);
    return status;
}

/* Creates buffers for x's leading axes; after a failure the network keeps its old buffers. */
static collet_status make_buffers(ternary_call *call, collet_ternary_network *network,
                                  const collet_array *x)
{
    buffers *b = &network->buffers, fresh = {.ndim = -1};
    int32_t ndim = collet_array_ndim(x) - 1;
    uint32_t views = network->count - 1;
    if (b->ndim == ndim &&
        !memcmp(b->shape, collet_array_shape(x), (size_t)ndim * sizeof *b->shape))
        return COLLET_OK;
    collet_status status = buffers_make(call, network, x, &fresh);
    if (status == COLLET_OK) {
        buffers_clear(b, views);
        *b = fresh;
    } else {
        buffers_clear(&fresh, views);
    }
    return status;
}

static collet_status check_ends(ternary_call *call, const collet_ternary_network *network,
                                const collet_array *y, const collet_array *x)
{
    int32_t ndim = collet_array_ndim(x);
    int64_t rows = network->layers[network->count - 1].rows;
    int64_t columns = network->layers[0].columns;
    /* This check comes first, so that no buffers are created in another runtime. */
    if (!ternary_is_local(call->context, network->layers[0].bytes))
        return collet_fail(
            &call->error, COLLET_INVALID,
            "ternary network: the context must be of the runtime that the layers belong to");
    if (collet_array_dtype(x) != COLLET_F32 || collet_array_dtype(y) != COLLET_F32)
        return collet_fail(
            &call->error, COLLET_DTYPE, "ternary network: x is %s and y is %s; both must be f32",
            collet_dtype_name(collet_array_dtype(x)), collet_dtype_name(collet_array_dtype(y)));
    if (ndim < 1 || collet_array_shape(x)[ndim - 1] != columns)
        return collet_fail(&call->error, COLLET_SHAPE,
                           "ternary network: rows of x have %" PRId64
                           " numbers, but the first layer has %" PRId64 " columns",
                           ndim < 1 ? 0 : collet_array_shape(x)[ndim - 1], columns);
    if (collet_array_ndim(y) != ndim || collet_array_shape(y)[ndim - 1] != rows ||
        memcmp(collet_array_shape(y), collet_array_shape(x),
               (size_t)(ndim - 1) * sizeof(int64_t)) != 0)
        return collet_fail(&call->error, COLLET_SHAPE,
                           "ternary network: y must have the shape of x, except for the last axis, "
                           "which must be %" PRId64,
                           rows);
    return COLLET_OK;
}

static collet_status network_run(ternary_call *call, collet_ternary_network *network,
                                 collet_array *y, const collet_array *x)
{
    if (!network || !y || !x)
        return collet_fail(&call->error, COLLET_INVALID, "ternary network: an argument is NULL");
    collet_status status = check_ends(call, network, y, x);
    if (status == COLLET_OK)
        status = make_buffers(call, network, x);
    for (uint32_t i = 0; i < network->count && status == COLLET_OK; i++) {
        const layer *l = &network->layers[i];
        const collet_array *from = i ? network->buffers.between[i - 1] : x;
        collet_array *to = i + 1 < network->count ? network->buffers.between[i] : y;
        status = collet_op_ternary_linear(call->context, to, l->bytes, from, l->scale, l->bias,
                                          &l->params);
    }
    return status;
}

int64_t ternary_network_widest(const collet_ternary_network *network)
{
    int64_t widest = network->layers[0].columns;
    for (uint32_t i = 0; i < network->count; i++)
        if (network->layers[i].rows > widest)
            widest = network->layers[i].rows;
    return widest;
}

/* ---- Public functions ------------------------------------------------------------------------ */

collet_status collet_ternary_network_create(collet_context *context, collet_ternary_network **out,
                                            const collet_ternary_layer *layers, uint32_t count,
                                            collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    ternary_call call;
    if (!context)
        return collet_fail(err, COLLET_INVALID, "ternary network: the context is NULL");
    ternary_call_begin(&call, context, NULL);
    return ternary_call_end(&call, network_create(&call, out, layers, count), err);
}

collet_status collet_ternary_network_run(collet_context *context, collet_ternary_network *network,
                                         collet_array *y, const collet_array *x, collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    ternary_call call;
    if (!context)
        return collet_fail(err, COLLET_INVALID, "ternary network: the context is NULL");
    ternary_call_begin(&call, context, NULL);
    return ternary_call_end(&call, network_run(&call, network, y, x), err);
}

int64_t collet_ternary_network_inputs(const collet_ternary_network *network)
{
    return network->layers[0].columns;
}

int64_t collet_ternary_network_outputs(const collet_ternary_network *network)
{
    return network->layers[network->count - 1].rows;
}
