/* SPDX-License-Identifier: Apache-2.0 */
/* Recording: the steps of a sequence, its slots and arguments. */
#include "sequence.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <collet/floating.h>

#include "context/life.h"

/* ---- Steps ------------------------------------------------------------------------------- */

static void views_free(step *t)
{
    for (uint32_t i = 0; t->views && i < t->count; i++)
        if (t->views[i].storage)
            storage_release(t->views[i].storage);
    free(t->views);
    t->views = NULL;
}

void sequence_truncate(collet_sequence *s, uint32_t count)
{
    while (s->step_count > count) {
        step *t = s->steps[--s->step_count];
        views_free(t);
        free(t);
    }
}

static int has_room(collet_sequence *s)
{
    if (s->step_count < s->step_capacity)
        return 1;
    uint32_t capacity = s->step_capacity ? 2 * s->step_capacity : 16;
    step **grown = realloc(s->steps, capacity * sizeof(step *));
    if (!grown)
        return 0;
    s->steps = grown;
    s->step_capacity = capacity;
    return 1;
}

static size_t numbers_of(const collet_kernel_call *call, uint32_t count)
{
    size_t numbers = 0;
    for (uint32_t i = 0; i < count; i++)
        numbers += 2 * (size_t)call->operands[i].ndim;
    return numbers;
}

/* One block: the step, its operands, where they are, parameters, shapes and strides. */
static step *step_create(const op *o, const collet_kernel_call *call)
{
    uint32_t count = call->n_out + call->n_in;
    size_t operands = sizeof(step) + count * sizeof(collet_operand);
    size_t params = (operands + count * sizeof(step_operand) + 15) & ~(size_t)15;
    size_t numbers = params + ((call->params_size + 15u) & ~(size_t)15);
    char *memory = calloc(1, numbers + numbers_of(call, count) * sizeof(int64_t));
    step *t = (step *)(void *)memory;
    if (!t)
        return NULL;
    t->views = calloc(count, sizeof *t->views);
    if (!t->views) {
        free(memory);
        return NULL;
    }
    t->call = *call;
    t->op = o;
    t->count = count;
    t->from = (step_operand *)(void *)(memory + operands);
    t->call.operands = t->operands;
    if (call->params)
        t->call.params = memcpy(memory + params, call->params, call->params_size);
    int64_t *next = (int64_t *)(void *)(memory + numbers);
    for (uint32_t i = 0; i < count; i++) {
        collet_operand *to = &t->operands[i];
        size_t bytes = (size_t)call->operands[i].ndim * sizeof *next;
        *to = call->operands[i];
        if (!to->dtype)
            continue;
        to->shape = memcpy(next, to->shape, bytes);
        to->strides = memcpy(next + to->ndim, to->strides, bytes);
        next += 2 * to->ndim;
    }
    return t;
}

collet_status sequence_append(collet_sequence *s, const op *o, const collet_kernel_row *row,
                              const collet_kernel_call *call, const collet_array *const *arrays,
                              collet_error *err)
{
    step *t = has_room(s) ? step_create(o, call) : NULL;
    if (!t)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for a recorded call");
    t->run = row->run;
    t->row = row;
    t->call.err = &s->err;
    for (uint32_t i = 0; i < t->count; i++) {
        if (!arrays[i])
            continue;
        t->views[i] = *arrays[i];
        t->from[i].offset = arrays[i]->offset;
        storage_retain(arrays[i]->storage);
    }
    s->steps[s->step_count++] = t;
    return COLLET_OK;
}

/* ---- Slots ------------------------------------------------------------------------------- */

static uint64_t first_byte(const collet_array *a)
{
    return a->offset + (uint64_t)(a->low * (int64_t)collet_dtype_size(a->dtype));
}

static uint64_t last_byte(const collet_array *a)
{
    return a->offset + (uint64_t)(a->high * (int64_t)collet_dtype_size(a->dtype));
}

/* The bytes [first, last) of a storage as an array. */
static collet_array byte_range(storage *s, uint64_t first, uint64_t last)
{
    int64_t size = (int64_t)(last - first);
    return (collet_array){.storage = s,
                          .dtype = COLLET_U8,
                          .ndim = 1,
                          .size = size,
                          .offset = first,
                          .high = size,
                          .contiguous = 1,
                          .shape = {size},
                          .strides = {1}};
}

/* Slots by their storages, while a recording ends: a hash table with twice the entries needed. */
typedef struct slot_index {
    slot *slots;
    uint32_t *numbers; /* of slots, from 1; 0: empty */
    size_t mask;
} slot_index;

/* The entry of a storage, or the empty one where it belongs. */
static uint32_t *entry_of(const slot_index *index, const storage *s)
{
    size_t i = (uintptr_t)s / _Alignof(max_align_t) * (size_t)0x9e3779b97f4a7c15u >> 20;
    while (index->numbers[i & index->mask] &&
           index->slots[index->numbers[i & index->mask] - 1].storage != s)
        i++;
    return &index->numbers[i & index->mask];
}

/* Of a new storage a slot is made; there is room for it. */
static uint32_t slot_of(const slot_index *index, uint32_t *count, const collet_array *a)
{
    uint32_t *entry = entry_of(index, a->storage);
    if (*entry)
        return *entry - 1;
    index->slots[*count] =
        (slot){.storage = a->storage, .view = byte_range(a->storage, first_byte(a), last_byte(a))};
    *entry = ++*count;
    return *count - 1;
}

static void slot_use(slot *s, const collet_array *a, int writes)
{
    uint64_t first = first_byte(&s->view), last = last_byte(&s->view);
    uint64_t a_first = first_byte(a), a_last = last_byte(a);
    int is_first = !s->reads && !s->writes;
    if (writes && is_first && a->contiguous) {
        s->written = a_first;
        s->written_end = a_last;
    }
    /* A later read of other bytes than those needs what was there before: the whole storage is
     * then made valid, as for the part that a write leaves alone. */
    if (!writes && (is_first || a_first < s->written || a_last > s->written_end))
        s->reads = 1;
    s->writes |= writes;
    s->view =
        byte_range(s->storage, a_first < first ? a_first : first, a_last > last ? a_last : last);
}

/* Inputs first: an output that is also an input needs its bytes. */
static void step_slots(step *t, const slot_index *index, uint32_t *count)
{
    for (uint32_t k = 0; k < t->count; k++) {
        uint32_t i = k < t->call.n_in ? t->call.n_out + k : k - t->call.n_in;
        const collet_array *a = &t->views[i];
        t->from[i].slot = SEQUENCE_NONE;
        if (!a->storage)
            continue;
        t->from[i].slot = slot_of(index, count, a);
        slot_use(&index->slots[t->from[i].slot], a, i < t->call.n_out);
    }
}

static collet_status slots_create(collet_sequence *s, slot_index *index, collet_error *err)
{
    size_t most = 1, entries = 2;
    for (uint32_t i = 0; i < s->step_count; i++)
        most += s->steps[i]->count;
    while (entries < 2 * most)
        entries *= 2;
    index->slots = calloc(most, sizeof *index->slots);
    index->numbers = calloc(entries, sizeof *index->numbers);
    index->mask = entries - 1;
    if (!index->slots || !index->numbers) {
        free(index->slots);
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for a sequence");
    }
    s->slot_count = 0;
    for (uint32_t i = 0; i < s->step_count; i++)
        step_slots(s->steps[i], index, &s->slot_count);
    free(s->slots);
    s->slots = index->slots;
    return COLLET_OK;
}

/* ---- Arguments --------------------------------------------------------------------------- */

static collet_status argument_take(collet_context *cx, collet_sequence *s, const slot_index *index,
                                   uint32_t k, const collet_array *a)
{
    if (!a || a->storage->runtime != s->runtime)
        return context_fail(cx, COLLET_INVALID, "collet_sequence_end: argument %u %s", k,
                            a ? "belongs to another runtime" : "is NULL");
    uint32_t number = *entry_of(index, a->storage);
    s->specs[k] = *a;
    s->arguments[k] = SEQUENCE_NONE;
    if (!number)
        return a->size ? context_fail(cx, COLLET_INVALID,
                                      "collet_sequence_end: no recorded call uses argument %u", k)
                       : COLLET_OK;
    slot *l = &s->slots[--number];
    if (l->argument)
        return context_fail(cx, COLLET_INVALID,
                            "collet_sequence_end: argument %u shares its storage with another one; "
                            "name one array that contains both",
                            k);
    l->argument = 1;
    l->view = *a;
    l->recorded = a->offset;
    s->arguments[k] = number;
    return COLLET_OK;
}

/* Whether a call uses nothing of the argument's storage but its elements. */
static int covers(const collet_array *a, const collet_array *v)
{
    return array_same(v, a) ||
           (a->contiguous && first_byte(v) >= first_byte(a) && last_byte(v) <= last_byte(a));
}

/* SEQUENCE_NONE: every argument covers what the calls use of its storage; else the first slot whose
 * argument does not. */
static uint32_t uncovered(const collet_sequence *s)
{
    for (uint32_t i = 0; i < s->step_count; i++) {
        const step *t = s->steps[i];
        for (uint32_t k = 0; k < t->count; k++) {
            uint32_t number = t->from[k].slot;
            if (number != SEQUENCE_NONE && s->slots[number].argument &&
                !covers(&s->slots[number].view, &t->views[k]))
                return number;
        }
    }
    return SEQUENCE_NONE;
}

static collet_status arguments_take(collet_context *cx, collet_sequence *s, const slot_index *index,
                                    uint32_t count, collet_array *const *arguments)
{
    free(s->arguments);
    free(s->specs);
    s->arguments = calloc(count ? count : 1, sizeof *s->arguments);
    s->specs = calloc(count ? count : 1, sizeof *s->specs);
    if (!s->arguments || !s->specs)
        return context_fail(cx, COLLET_NO_MEMORY, "out of memory for a sequence");
    collet_status status = COLLET_OK;
    for (uint32_t k = 0; status == COLLET_OK && k < count; k++)
        status = argument_take(cx, s, index, k, arguments[k]);
    s->argument_count = count;
    uint32_t number = status == COLLET_OK ? uncovered(s) : SEQUENCE_NONE, k = 0;
    if (number == SEQUENCE_NONE)
        return status;
    while (s->arguments[k] != number)
        k++;
    return context_fail(cx, COLLET_INVALID,
                        "collet_sequence_end: a recorded call uses elements of argument %u's "
                        "storage that are not in the argument, or the argument is not "
                        "contiguous and a call uses a part of it: name a contiguous array that "
                        "contains all that is used",
                        k);
}

/* ---- Life -------------------------------------------------------------------------------- */

/* The workspace is a storage that every run overwrites: so runs in two queues take turns. There is
 * room for its slot behind the others. */
collet_status sequence_scratch(collet_sequence *s, collet_error *err)
{
    uint64_t bytes = s->scratch_bytes;
    storage *scratch = NULL;
    for (uint32_t i = 0; i < s->step_count; i++)
        if (s->steps[i]->call.workspace_bytes > bytes)
            bytes = s->steps[i]->call.workspace_bytes;
    if (bytes == s->scratch_bytes)
        return COLLET_OK;
    collet_status status = storage_create(s->runtime, bytes, &scratch, err);
    if (status != COLLET_OK)
        return status;
    if (s->scratch == SEQUENCE_NONE)
        s->scratch = s->slot_count++;
    else
        storage_release(s->slots[s->scratch].storage);
    s->scratch_bytes = bytes;
    s->slots[s->scratch] = (slot){.storage = scratch,
                                  .view = byte_range(scratch, 0, bytes),
                                  .writes = 1,
                                  .written_end = bytes};
    return COLLET_OK;
}

/* From here on the slots hold the references. */
static void views_settle(collet_sequence *s)
{
    uint32_t borrowed = s->slot_count - (s->scratch != SEQUENCE_NONE);
    for (uint32_t i = 0; i < borrowed; i++)
        storage_retain(s->slots[i].storage);
    for (uint32_t i = 0; i < s->step_count; i++)
        views_free(s->steps[i]);
}

collet_status collet_sequence_begin(collet_context *cx)
{
    COLLET_FLOATING_SCOPE;
    collet_status status = context_ready(cx, "collet_sequence_begin");
    if (status != COLLET_OK)
        return status;
    device *chosen;
    status = context_first_device(cx, "collet_sequence_begin", &chosen);
    if (status != COLLET_OK)
        return status;
    collet_sequence *s = calloc(1, sizeof *s);
    if (!s)
        return context_fail(cx, COLLET_NO_MEMORY, "out of memory for a sequence");
    s->runtime = cx->runtime;
    s->device = chosen;
    s->scratch = SEQUENCE_NONE;
    runtime_retain(s->runtime);
    cx->recording = s;
    cx->recording_free = collet_sequence_destroy;
    return COLLET_OK;
}

collet_status collet_sequence_end(collet_context *cx, collet_sequence **out, uint32_t count,
                                  collet_array *const *arguments)
{
    COLLET_FLOATING_SCOPE;
    collet_status status = context_check(cx);
    if (status != COLLET_OK)
        return status;
    collet_sequence *s = cx->recording;
    if (!s)
        return context_fail(cx, COLLET_INVALID,
                            "collet_sequence_end: the context does not record; begin a "
                            "recording first");
    if (count && !arguments)
        return context_fail(cx, COLLET_INVALID,
                            "collet_sequence_end: the list of arguments is NULL");
    if (!out) {
        cx->recording = NULL;
        collet_sequence_destroy(s);
        return COLLET_OK;
    }
    slot_index index = {NULL, NULL, 0};
    status = slots_create(s, &index, context_error(cx));
    if (status == COLLET_OK)
        status = arguments_take(cx, s, &index, count, arguments);
    free(index.numbers);
    if (status == COLLET_OK)
        status = sequence_scratch(s, context_error(cx));
    if (status != COLLET_OK) {
        s->slot_count = 0; /* they hold no references yet */
        return status;
    }
    views_settle(s);
    cx->recording = NULL;
    *out = s;
    return COLLET_OK;
}

void collet_sequence_destroy(collet_sequence *s)
{
    COLLET_FLOATING_SCOPE;
    if (!s)
        return;
    collet_runtime *runtime = s->runtime;
    if (s->replays && runtime_alive(runtime)) {
        s->replays->memory = s->recording;
        block_free(s->replays);
    } else {
        free(s->replays);
    }
    sequence_truncate(s, 0);
    for (uint32_t i = 0; i < s->slot_count; i++)
        storage_release(s->slots[i].storage);
    free(s->steps);
    free(s->slots);
    free(s->arguments);
    free(s->specs);
    free(s);
    runtime_release(runtime);
}
