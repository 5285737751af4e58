/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/gradient/test_replay_device.py */
#include "capture.h"

#include <stdlib.h>

#include "src/base/runtime.h"

static _Thread_local capture *now;

void capture_begin(capture *c)
{
    c->begin = value_serial();
    now = c;
}

void capture_end(void)
{
    now = NULL;
}

capture *capture_now(void)
{
    return now && !now->failed ? now : NULL;
}

void capture_fail(void)
{
    if (now)
        now->failed = 1;
}

static const capture_entry *find(const lazy_value *v)
{
    for (size_t i = now->count; i-- > 0;)
        if (now->entries[i].serial == v->serial)
            return &now->entries[i];
    return NULL;
}

void capture_name(const lazy_value *v, uint32_t number, capture_kind kind)
{
    capture *c = capture_now();
    if (!c || number == CAPTURE_UNKNOWN)
        return;
    if (c->count == c->room) {
        size_t room = 2 * c->room + 64;
        capture_entry *grown = realloc(c->entries, room * sizeof *grown);
        if (!grown) {
            c->failed = 1;
            return;
        }
        c->entries = grown;
        c->room = room;
    }
    c->entries[c->count++] = (capture_entry){v->serial, number, kind};
}

void capture_made(const lazy_value *v, uint32_t number)
{
    if (find(v))
        capture_fail();
    else
        capture_name(v, number, CAPTURE_MADE);
}

/* The context of the thread, which may be another one during the handler of a signal. NULL: the
 * capture fails. */
static collet_context *context_now(void)
{
    collet_context *context = runtime_context();
    if (!context) {
        PyErr_Clear();
        capture_fail();
    }
    return context;
}

void capture_constant(const lazy_value *v)
{
    capture *c = capture_now();
    collet_context *context = c ? context_now() : NULL;
    uint32_t number;
    if (!context)
        return;
    if (collet_recording_constant(context, c->handle, &number, v->array) == COLLET_OK)
        capture_name(v, number, CAPTURE_GIVEN);
    else
        c->failed = 1;
}

uint32_t capture_number(const lazy_value *v)
{
    const capture *c = capture_now();
    if (!c)
        return CAPTURE_UNKNOWN;
    const capture_entry *e = find(v);
    if (e)
        return e->number;
    if (v->serial > c->begin)
        return CAPTURE_UNKNOWN;
    capture_constant(v);
    e = find(v);
    return e ? e->number : CAPTURE_UNKNOWN;
}

capture_kind capture_kind_of(const lazy_value *v)
{
    const capture_entry *e = capture_now() ? find(v) : NULL;
    return e ? e->kind : CAPTURE_NONE;
}

uint32_t capture_view(uint32_t from, uint32_t view, const int64_t *numbers, int32_t count)
{
    capture *c = capture_now();
    collet_context *context = c && from != CAPTURE_UNKNOWN ? context_now() : NULL;
    uint32_t number;
    if (!context ||
        collet_recording_view(context, c->handle, &number, from, view, numbers, count) != COLLET_OK)
        return CAPTURE_UNKNOWN;
    return number;
}
