/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_recording.c */
#include "workspace.h"

#include <stdlib.h>

#include "memory/storage_life.h"

/* ---- Planning ---------------------------------------------------------------------------- */

static uint64_t bytes_of(const recorded_value *v)
{
    return (uint64_t)v->like->size * collet_dtype_size(v->like->dtype);
}

static int is_intermediate(const recorded_value *v)
{
    return v->kind == VALUE_MADE && v->out < 0;
}

/* Sets the last step that uses the memory of each value. */
static void find_last_uses(collet_recording *r)
{
    for (uint32_t k = 0; k < r->n_steps; k++) {
        const recorded_step *s = r->steps[k];
        for (uint32_t i = 0; i < s->n_out + s->n_in; i++)
            if (s->values[i] != COLLET_RECORDING_ABSENT)
                r->values[r->values[s->values[i]].base].last = k;
    }
}

/* Returns the best free slot: the smallest that holds `bytes`, else the largest, which grows. */
static uint32_t best_slot(const collet_recording *r, const uint32_t *until, uint32_t step,
                          uint64_t bytes)
{
    uint32_t best = r->n_slots;
    for (uint32_t i = 0; i < r->n_slots; i++) {
        if (until[i] >= step)
            continue;
        uint64_t size = r->slots[i], chosen = best < r->n_slots ? r->slots[best] : 0;
        if (best == r->n_slots ||
            (size >= bytes ? chosen < bytes || size < chosen : chosen < bytes && size > chosen))
            best = i;
    }
    return best;
}

collet_status workspace_plan(collet_recording *r, collet_error *err)
{
    uint32_t *until =
        malloc((r->n_values + 1) * sizeof *until); /* the last step that uses the slot */
    r->slots = malloc((r->n_values + 1) * sizeof *r->slots);
    if (!until || !r->slots) {
        free(until);
        free(r->slots);
        r->slots = NULL;
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for a recording");
    }
    find_last_uses(r);
    for (uint32_t k = 0; k < r->n_steps; k++)
        for (uint32_t i = 0; i < r->steps[k]->n_out; i++) {
            uint32_t number = r->steps[k]->values[i];
            recorded_value *v = number == COLLET_RECORDING_ABSENT ? NULL : &r->values[number];
            if (!v || !is_intermediate(v))
                continue;
            v->slot = best_slot(r, until, k, bytes_of(v));
            if (v->slot == r->n_slots)
                r->slots[r->n_slots++] = 0;
            if (r->slots[v->slot] < bytes_of(v))
                r->slots[v->slot] = bytes_of(v);
            until[v->slot] = v->last;
        }
    free(until);
    return COLLET_OK;
}

/* ---- Life -------------------------------------------------------------------------------- */

static void destroy(const collet_recording *r, workspace *w)
{
    if (!w)
        return;
    for (uint32_t i = 0; w->own && i < r->n_values; i++)
        collet_array_destroy(w->own[i]);
    free(w->own);
    free(w->now);
    free(w->arguments);
    free(w);
}

/* Makes the arrays of intermediate values. Their storages belong to these arrays alone. */
static collet_status make_arrays(collet_context *cx, const collet_recording *r, workspace *w)
{
    storage **slots = calloc(r->n_slots + 1, sizeof(storage *));
    collet_status status = slots ? COLLET_OK : COLLET_NO_MEMORY;
    if (!slots)
        context_fail(cx, status, "out of memory for the memory of a recording");
    for (uint32_t i = 0; status == COLLET_OK && i < r->n_slots; i++)
        status = storage_create(r->runtime, r->slots[i], 0, &slots[i], context_error(cx));
    for (uint32_t i = 0; status == COLLET_OK && i < r->n_values; i++)
        if (is_intermediate(&r->values[i]))
            status = array_create_on(slots[r->values[i].slot], &w->own[i], r->values[i].like,
                                     context_error(cx));
    for (uint32_t i = 0; slots && i < r->n_slots && slots[i]; i++)
        storage_release(slots[i]);
    free(slots);
    return status;
}

/* Makes the views of constants and intermediate values; views of other values are made in each run. */
static collet_status make_views(collet_context *cx, const collet_recording *r, workspace *w)
{
    collet_status status = COLLET_OK;
    for (uint32_t k = 0; status == COLLET_OK && k < r->n_steps; k++) {
        const recorded_step *s = r->steps[k];
        if (!s->view)
            continue;
        const recorded_value *from = &r->values[s->values[1]];
        const collet_array *base = from->kind == VALUE_CONSTANT ? from->like : w->own[s->values[1]];
        if (base)
            status = steps_view(cx, s, base, &w->own[s->values[0]]);
    }
    return status;
}

static collet_status create(collet_context *cx, const collet_recording *r, workspace **out)
{
    uint32_t arguments = 1;
    for (uint32_t k = 0; k < r->n_steps; k++)
        if (r->steps[k]->expression && r->steps[k]->n_in > arguments)
            arguments = r->steps[k]->n_in;
    workspace *w = calloc(1, sizeof *w);
    if (w) {
        w->own = calloc(r->n_values + 1, sizeof(collet_array *));
        w->now = calloc(r->n_values + 1, sizeof(collet_array *));
        w->arguments = calloc(arguments, sizeof *w->arguments);
    }
    collet_status status =
        w && w->own && w->now && w->arguments
            ? make_arrays(cx, r, w)
            : context_fail(cx, COLLET_NO_MEMORY, "out of memory for the arrays of a recording");
    if (status == COLLET_OK)
        status = make_views(cx, r, w);
    if (status != COLLET_OK) {
        destroy(r, w);
        return status;
    }
    for (uint32_t i = 0; i < r->n_values; i++)
        w->now[i] = r->values[i].kind == VALUE_CONSTANT ? r->values[i].like : w->own[i];
    *out = w;
    return COLLET_OK;
}

collet_status workspace_take(collet_context *cx, collet_recording *r, workspace **out)
{
    pthread_mutex_lock(&r->lock);
    workspace *w = r->idle;
    if (w)
        r->idle = w->next;
    pthread_mutex_unlock(&r->lock);
    *out = w;
    return w ? COLLET_OK : create(cx, r, out);
}

void workspace_give_back(collet_recording *r, workspace *w)
{
    pthread_mutex_lock(&r->lock);
    w->next = r->idle;
    r->idle = w;
    pthread_mutex_unlock(&r->lock);
}

void workspace_destroy_all(collet_recording *r)
{
    while (r->idle) {
        workspace *w = r->idle;
        r->idle = w->next;
        destroy(r, w);
    }
}
