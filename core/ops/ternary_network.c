/* SPDX-License-Identifier: Apache-2.0 */
/* Layers one after another. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory/array.h"
#include "runtime/context.h"
#include "ops/ternary.h"

typedef struct layer {
    collet_array *bytes, *scale, *bias; /* shared */
    collet_ternary_linear_params params;
    int64_t rows, columns;
} layer;

/* What goes from layer to layer for one choice of leading axes: two storages in turn. */
typedef struct passage {
    int32_t ndim; /* leading axes; -1: nothing yet */
    int64_t shape[COLLET_MAX_DIMS];
    collet_array *flat[2];
    collet_array **between; /* count - 1 views */
} passage;

struct collet_ternary_network {
    uint32_t count;
    layer *layers;
    passage passage;
};

/* Whether an array, which may be NULL, is of the context's runtime. */
static int is_ours(const collet_context *cx, const collet_array *array)
{
    return !array || array->storage->runtime == cx->runtime;
}

/* ---- Layers ---------------------------------------------------------------------------------- */

static collet_status check_bias(collet_context *cx, uint32_t index, const collet_array *bias,
                                int64_t rows)
{
    if (!bias)
        return COLLET_OK;
    if (collet_array_dtype(bias) != COLLET_F32)
        return context_fail(cx, COLLET_DTYPE,
                            "ternary network: the bias of layer %" PRIu32 " is %s, not f32", index,
                            collet_dtype_name(collet_array_dtype(bias)));
    if (collet_array_ndim(bias) != 1 || collet_array_shape(bias)[0] != rows)
        return context_fail(cx, COLLET_SHAPE,
                            "ternary network: layer %" PRIu32 " has %" PRId64
                            " rows, but its bias has %" PRId64 " elements",
                            index, rows, collet_array_size(bias));
    return COLLET_OK;
}

static collet_status check_layer(collet_context *cx, uint32_t index, const collet_ternary_layer *l)
{
    char who[48];
    if (!l->weights)
        return context_fail(cx, COLLET_INVALID, "ternary network: layer %" PRIu32 " has no weights",
                            index);
    if (!is_ours(cx, l->weights->bytes) || !is_ours(cx, l->weights->scale) || !is_ours(cx, l->bias))
        return context_fail(cx, COLLET_INVALID,
                            "ternary network: layer %" PRIu32 " belongs to another runtime", index);
    snprintf(who, sizeof who, "ternary network: layer %" PRIu32, index);
    collet_status status = ternary_check_activations(who, l->activations, l->threshold, &cx->error);
    if (status != COLLET_OK)
        return status;
    return check_bias(cx, index, l->bias, collet_ternary_weights_rows(l->weights));
}

static collet_status take_layer(collet_context *cx, layer *to, const collet_ternary_layer *l)
{
    to->params = (collet_ternary_linear_params){.struct_size = sizeof to->params,
                                                .activations = l->activations,
                                                .relu = l->relu,
                                                .threshold = l->threshold};
    to->rows = collet_ternary_weights_rows(l->weights);
    to->columns = collet_ternary_weights_columns(l->weights);
    collet_status status = ternary_share(cx, &to->bytes, l->weights->bytes);
    if (status == COLLET_OK)
        status = ternary_share(cx, &to->scale, l->weights->scale);
    if (status == COLLET_OK)
        status = ternary_share(cx, &to->bias, l->bias);
    return status;
}

static collet_status take_layers(collet_context *cx, collet_ternary_network *network,
                                 const collet_ternary_layer *layers)
{
    const char *at = (const char *)layers;
    for (uint32_t i = 0; i < network->count; i++, at += layers->struct_size) {
        const collet_ternary_layer *l = (const collet_ternary_layer *)(const void *)at;
        collet_status status = check_layer(cx, i, l);
        if (status == COLLET_OK && i > 0 &&
            collet_ternary_weights_columns(l->weights) != network->layers[i - 1].rows)
            status = context_fail(cx, COLLET_SHAPE,
                                  "ternary network: layer %" PRIu32 " gives %" PRId64
                                  " numbers, layer %" PRIu32 " takes %" PRId64,
                                  i - 1, network->layers[i - 1].rows, i,
                                  collet_ternary_weights_columns(l->weights));
        if (status == COLLET_OK)
            status = take_layer(cx, &network->layers[i], l);
        if (status != COLLET_OK)
            return status;
    }
    return COLLET_OK;
}

collet_status collet_ternary_network_create(collet_context *cx, collet_ternary_network **out,
                                            const collet_ternary_layer *layers, uint32_t count)
{
    if (!cx)
        return COLLET_INVALID;
    if (!out || !layers || count == 0)
        return context_fail(cx, COLLET_INVALID, "ternary network: no layers, or nowhere to put it");
    if (layers->struct_size < sizeof *layers)
        return context_fail(cx, COLLET_INVALID,
                            "ternary network: a layer's struct_size is %" PRIu32 ", less than %zu",
                            layers->struct_size, sizeof *layers);
    collet_ternary_network *made = calloc(1, sizeof *made);
    collet_status status = COLLET_NO_MEMORY;
    if (made) {
        made->count = count;
        made->passage.ndim = -1;
        made->layers = calloc(count, sizeof *made->layers);
    }
    if (made && made->layers)
        status = take_layers(cx, made, layers);
    else
        (void)context_fail(cx, status, "out of memory for a ternary network");
    if (status == COLLET_OK)
        *out = made;
    else
        collet_ternary_network_free(made);
    return status;
}

/* ---- Between layers -------------------------------------------------------------------------- */

static void passage_clear(passage *p, uint32_t views)
{
    for (uint32_t i = 0; p->between && i < views; i++)
        collet_array_free(p->between[i]);
    free(p->between);
    collet_array_free(p->flat[0]);
    collet_array_free(p->flat[1]);
    *p = (passage){.ndim = -1};
}

void collet_ternary_network_free(collet_ternary_network *network)
{
    if (!network)
        return;
    passage_clear(&network->passage, network->count - 1);
    for (uint32_t i = 0; network->layers && i < network->count; i++) {
        collet_array_free(network->layers[i].bytes);
        collet_array_free(network->layers[i].scale);
        collet_array_free(network->layers[i].bias);
    }
    free(network->layers);
    free(network);
}

/* f32 (leading axes..., rows) within `flat`. */
static collet_status make_view(collet_context *cx, const passage *p, const collet_array *flat,
                               int64_t tokens, int64_t rows, collet_array **out)
{
    int64_t shape[COLLET_MAX_DIMS];
    collet_array *part = NULL;
    memcpy(shape, p->shape, sizeof shape);
    shape[p->ndim] = rows;
    collet_status status = collet_array_slice(cx, &part, flat, 0, 0, tokens * rows, 1);
    if (status == COLLET_OK)
        status = collet_array_reshape(cx, out, part, p->ndim + 1, shape);
    collet_array_free(part);
    return status;
}

/* The product of the leading axes times each layer's rows fits: the arrays x and y exist. */
static collet_status passage_make(collet_context *cx, const collet_ternary_network *network,
                                  const collet_array *x, passage *p)
{
    int64_t tokens = 1, most[2] = {0, 0};
    uint32_t views = network->count - 1;
    p->ndim = collet_array_ndim(x) - 1;
    for (int32_t i = 0; i < p->ndim; i++) {
        p->shape[i] = collet_array_shape(x)[i];
        if (__builtin_mul_overflow(tokens, p->shape[i], &tokens))
            return context_fail(cx, COLLET_OVERFLOW, "ternary network: too many rows of x");
    }
    for (uint32_t i = 0; i < views; i++) {
        int64_t size;
        if (__builtin_mul_overflow(tokens, network->layers[i].rows, &size))
            return context_fail(cx, COLLET_OVERFLOW,
                                "ternary network: what layer %" PRIu32 " gives is too large", i);
        most[i % 2] = size > most[i % 2] ? size : most[i % 2];
    }
    p->between = calloc(views ? views : 1, sizeof *p->between);
    if (!p->between)
        return context_fail(cx, COLLET_NO_MEMORY, "out of memory for a ternary network");
    collet_status status = COLLET_OK;
    for (uint32_t i = 0; i < 2 && i < views && status == COLLET_OK; i++)
        status = collet_array_create(cx, &p->flat[i], COLLET_F32, 1, &most[i]);
    for (uint32_t i = 0; i < views && status == COLLET_OK; i++)
        status = make_view(cx, p, p->flat[i % 2], tokens, network->layers[i].rows, &p->between[i]);
    return status;
}

/* Room for x's leading axes; what there was stays when there is none. */
static collet_status make_room(collet_context *cx, collet_ternary_network *network,
                               const collet_array *x)
{
    passage *p = &network->passage, fresh = {.ndim = -1};
    int32_t ndim = collet_array_ndim(x) - 1;
    uint32_t views = network->count - 1;
    if (p->ndim == ndim &&
        !memcmp(p->shape, collet_array_shape(x), (size_t)ndim * sizeof *p->shape))
        return COLLET_OK;
    collet_status status = passage_make(cx, network, x, &fresh);
    if (status == COLLET_OK) {
        passage_clear(p, views);
        *p = fresh;
    } else {
        passage_clear(&fresh, views);
    }
    return status;
}

static collet_status check_ends(collet_context *cx, const collet_ternary_network *network,
                                const collet_array *y, const collet_array *x)
{
    int32_t ndim = collet_array_ndim(x);
    int64_t rows = network->layers[network->count - 1].rows;
    int64_t columns = network->layers[0].columns;
    /* Before there is room of the wrong runtime. */
    if (!is_ours(cx, network->layers[0].bytes))
        return context_fail(cx, COLLET_INVALID, "ternary network: it belongs to another runtime");
    if (collet_array_dtype(x) != COLLET_F32 || collet_array_dtype(y) != COLLET_F32)
        return context_fail(
            cx, COLLET_DTYPE, "ternary network: x is %s and y is %s; both must be f32",
            collet_dtype_name(collet_array_dtype(x)), collet_dtype_name(collet_array_dtype(y)));
    if (ndim < 1 || collet_array_shape(x)[ndim - 1] != columns)
        return context_fail(cx, COLLET_SHAPE,
                            "ternary network: rows of x have %" PRId64
                            " numbers; the first layer takes %" PRId64,
                            ndim < 1 ? 0 : collet_array_shape(x)[ndim - 1], columns);
    if (collet_array_ndim(y) != ndim || collet_array_shape(y)[ndim - 1] != rows ||
        memcmp(collet_array_shape(y), collet_array_shape(x),
               (size_t)(ndim - 1) * sizeof(int64_t)) != 0)
        return context_fail(cx, COLLET_SHAPE,
                            "ternary network: y must have x's axes but the last, which is %" PRId64,
                            rows);
    return COLLET_OK;
}

collet_status collet_ternary_network_run(collet_context *cx, collet_ternary_network *network,
                                         collet_array *y, const collet_array *x)
{
    if (!cx)
        return COLLET_INVALID;
    if (!network || !y || !x)
        return context_fail(cx, COLLET_INVALID, "ternary network: an argument is NULL");
    collet_status status = check_ends(cx, network, y, x);
    if (status == COLLET_OK)
        status = make_room(cx, network, x);
    for (uint32_t i = 0; i < network->count && status == COLLET_OK; i++) {
        const layer *l = &network->layers[i];
        const collet_array *from = i ? network->passage.between[i - 1] : x;
        collet_array *to = i + 1 < network->count ? network->passage.between[i] : y;
        status = collet_ternary_linear(cx, to, l->bytes, from, l->scale, l->bias, &l->params);
    }
    return status;
}
