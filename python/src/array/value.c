/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/op/test_lazy.py */
#include "value.h"

#include <stdlib.h>
#include "src/base/error.h"

#include "src/base/runtime.h"
#include "src/base/work.h"

static struct {
    int64_t bytes;
    uint64_t generation;
} held; /* memories that only nodes keep */

int64_t value_held(void)
{
    return held.generation == runtime_generation() ? held.bytes : 0;
}

void reader_link(reader *r, reader **list)
{
    r->next = *list;
    r->place = list;
    if (r->next)
        r->next->place = &r->next;
    *list = r;
}

void reader_unlink(reader *r)
{
    if (!r->place)
        return;
    *r->place = r->next;
    if (r->next)
        r->next->place = r->place;
    r->place = NULL;
}

/* ---- Memory ------------------------------------------------------------------------------- */

static int is_held(const memory *m)
{
    return !m->objects && m->readers;
}

static void account(const memory *m, int before)
{
    if (held.generation != runtime_generation()) { /* `held` counts an earlier runtime */
        held.generation = runtime_generation();
        held.bytes = 0;
    }
    if (m->generation == held.generation)
        held.bytes += (is_held(m) - before) * m->bytes;
}

memory *value_memory(lazy_value *v)
{
    if (v->memory)
        return v->memory;
    memory *m = malloc(sizeof *m);
    if (!m)
        return (memory *)PyErr_NoMemory();
    *m = (memory){.refs = 1,
                  .objects = v->object != NULL,
                  .generation = v->generation,
                  .bytes = collet_array_size(v->array) *
                           (int64_t)collet_dtype_size(collet_array_dtype(v->array))};
    return v->memory = m;
}

void value_read_by(lazy_value *v, reader *r)
{
    int before = is_held(v->memory);
    reader_link(r, &v->memory->readers);
    account(v->memory, before);
}

void value_not_read_by(lazy_value *v, reader *r)
{
    int before = is_held(v->memory);
    reader_unlink(r);
    account(v->memory, before);
}

void value_attach(lazy_value *v, PyObject *object)
{
    memory *m = v->memory;
    if (m) {
        int before = is_held(m);
        m->objects += object != NULL;
        m->objects -= v->object != NULL;
        account(m, before);
    }
    v->object = object;
}

static void memory_unref(memory *m)
{
    if (m && !--m->refs)
        free(m);
}

/* ---- Writes and pins ---------------------------------------------------------------------- */

void memory_begin_write(memory *m)
{
    if (m)
        m->writes++;
}

/* The thread that computes removes the pin. It needs neither the GIL nor the thread that waits here. So a thread that
 * has pinned memory may wait here too, for example in the handler of a signal. */
int memory_wait_unpinned(memory *m)
{
    m->refs++;
    int failed = work_wait_for(&m->pins);
    memory_unref(m);
    return failed;
}

void snapshot_add(snapshot *s, const lazy_value *v)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->of[i].memory == v->memory)
            return;
    v->memory->refs++;
    s->of[s->count].memory = v->memory;
    s->of[s->count++].writes = v->memory->writes;
}

void snapshot_copy(snapshot *to, const snapshot *from)
{
    *to = *from;
    for (uint32_t i = 0; i < to->count; i++)
        to->of[i].memory->refs++;
}

void snapshot_clear(snapshot *s)
{
    while (s->count)
        memory_unref(s->of[--s->count].memory);
}

int snapshot_holds(const snapshot *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->of[i].memory->writes != s->of[i].writes)
            return 0;
    return 1;
}

void snapshot_pin(const snapshot *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        s->of[i].memory->pins++;
}

void snapshot_unpin(const snapshot *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        s->of[i].memory->pins--;
    work_wake();
}

/* ---- Values ------------------------------------------------------------------------------- */

static void destroy(collet_array *array)
{
    if (!array || runtime_at_once()) {
        collet_array_destroy(array);
        return;
    }
    PyThreadState *state = runtime_leave(); /* may wait for work on the array */
    collet_array_destroy(array);
    runtime_return(state);
}

static uint64_t serial;

uint64_t value_serial(void)
{
    return serial;
}

lazy_value *value_new(collet_array *array, lazy_value *base)
{
    memory *m = base && array ? value_memory(base) : NULL;
    lazy_value *v = array && (m || !base) ? malloc(sizeof *v) : NULL;
    if (!v) {
        if (array && !PyErr_Occurred())
            PyErr_NoMemory();
        collet_array_destroy(array);
        return NULL;
    }
    *v = (lazy_value){.refs = 1,
                      .array = array,
                      .memory = m,
                      .generation = runtime_generation(),
                      .serial = ++serial};
    if (m)
        m->refs++;
    return v;
}

lazy_value *value_ref(lazy_value *v)
{
    v->refs++;
    return v;
}

void value_unref(lazy_value *v)
{
    if (!v || --v->refs)
        return;
    memory *m = v->memory;
    collet_array *array = v->array;
    free(v);
    memory_unref(m);
    destroy(array);
}
