/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/op/test_lazy.py */
#include "node.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/runtime.h"

int node_same_shape(const collet_array_spec *a, const collet_array_spec *b)
{
    return a->ndim == b->ndim && !memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape);
}

static struct {
    node *first;
    int64_t bytes;
    uint64_t generation;
} pending;

node *node_new(elementwise *function, uint32_t choice)
{
    node *n = malloc(sizeof *n); /* calloc is slower: it has no cache for small blocks */
    if (!n)
        return (node *)PyErr_NoMemory();
    *n = (node){.refs = 1,
                .function = function,
                .count = 1,
                .choice = choice,
                .generation = runtime_generation()};
    Py_XINCREF((PyObject *)function);
    return n;
}

node *node_ref(node *n)
{
    n->refs++;
    return n;
}

/* Unlinks the inputs first, because dropping a reference may run other code. */
static void drop_inputs(node *n)
{
    input in[NODE_INPUTS];
    uint32_t count = n->n_in;
    for (uint32_t i = 0; i < count; i++) {
        if (n->in[i].kind == INPUT_NODE)
            reader_unlink(&n->in[i].reader);
        if (n->in[i].kind == INPUT_VALUE)
            value_not_read_by(n->in[i].value, &n->in[i].reader);
        in[i] = n->in[i];
    }
    n->n_in = 0;
    for (uint32_t i = 0; i < count; i++) {
        node_unref(in[i].node);
        value_unref(in[i].value);
        Py_XDECREF(in[i].number);
    }
}

void node_release(node *n)
{
    drop_inputs(n);
}

void node_unref(node *n)
{
    if (!n || --n->refs)
        return;
    drop_inputs(n);
    value_unref(n->value);
    Py_XDECREF((PyObject *)n->function);
    Py_XDECREF(n->code);
    Py_XDECREF(n->offset);
    free(n);
}

/* ---- Inputs ------------------------------------------------------------------------------- */

static input *add(node *n, input_kind kind, uint32_t count, uint32_t inputs)
{
    input *in = &n->in[n->n_in++];
    *in = (input){.kind = kind, .reader.node = n};
    n->count += count;
    n->inputs += inputs;
    return in;
}

void node_add_node(node *n, node *from)
{
    input *in = add(n, INPUT_NODE, from->count, from->inputs);
    in->node = node_ref(from);
    n->strided |= from->strided;
    reader_link(&in->reader, &from->readers);
}

/* Whether the axes with several elements have strides that never increase, or some elements are repeated: then C order
 * suits an elementwise function of the array. */
static int suits_c_order(const collet_array *a)
{
    int64_t last = INT64_MAX;
    int suits = 1;
    for (int32_t i = 0; i < collet_array_ndim(a); i++) {
        int64_t stride = llabs(collet_array_strides(a)[i]);
        if (collet_array_shape(a)[i] <= 1)
            continue;
        if (!stride)
            return 1;
        suits &= stride <= last;
        last = stride;
    }
    return suits;
}

void node_add_value(node *n, lazy_value *v)
{
    input *in = add(n, INPUT_VALUE, 0, 1);
    in->value = value_ref(v);
    n->strided |= !suits_c_order(v->array);
    value_read_by(v, &in->reader);
}

void node_add_number(node *n, PyObject *number, input_kind kind)
{
    add(n, kind, 0, 1)->number = Py_NewRef(number);
}

/* ---- Counting ----------------------------------------------------------------------------- */

typedef struct counter {
    uint64_t visit;
    uint32_t nodes, inputs;
    const void *input[NODE_INPUT_LIMIT + 1]; /* the addresses of different inputs */
} counter;

static void count_input(counter *c, const void *in)
{
    uint32_t i = 0;
    while (i < c->inputs && c->input[i] != in)
        i++;
    if (i == c->inputs && c->inputs <= NODE_INPUT_LIMIT)
        c->input[c->inputs++] = in;
}

static void count_nodes(counter *c, node *n)
{
    if (n->visit == c->visit)
        return;
    n->visit = c->visit;
    c->nodes++;
    for (uint32_t i = 0; i < n->n_in; i++) {
        const input *in = &n->in[i];
        if (in->kind == INPUT_NODE)
            count_nodes(c, in->node);
        else
            count_input(c, in->value ? (const void *)in->value : in->number);
    }
}

void node_count(node *const *roots, uint32_t n_roots, uint32_t *nodes, uint32_t *inputs)
{
    static uint64_t visits;
    counter c = {.visit = ++visits};
    for (uint32_t i = 0; i < n_roots; i++)
        count_nodes(&c, roots[i]);
    *nodes = c.nodes;
    *inputs = c.inputs;
}

/* ---- Pending nodes ------------------------------------------------------------------------ */

static int64_t bytes_of(const node *n)
{
    int64_t bytes = (int64_t)collet_dtype_size(n->spec.dtype);
    for (int32_t i = 0; i < n->spec.ndim; i++)
        bytes *= n->spec.shape[i];
    return bytes;
}

static void forget_earlier(void)
{
    if (pending.generation == runtime_generation())
        return;
    for (node *n = pending.first, *next; n; n = next) { /* nodes of the parent of a fork */
        next = n->next;
        n->place = NULL;
    }
    pending.first = NULL;
    pending.bytes = 0;
    pending.generation = runtime_generation();
}

static void end_pending(node *n)
{
    if (!n->place)
        return;
    *n->place = n->next;
    if (n->next)
        n->next->place = n->place;
    n->place = NULL;
    pending.bytes -= bytes_of(n);
}

void node_own(node *n, PyObject *owner)
{
    forget_earlier();
    n->owner = owner;
    if (!owner) {
        end_pending(n);
        return;
    }
    n->next = pending.first;
    n->place = &pending.first;
    if (n->next)
        n->next->place = &n->next;
    pending.first = n;
    pending.bytes += bytes_of(n);
}

node *node_last_pending(void)
{
    forget_earlier();
    return pending.first;
}

int64_t node_owed(void)
{
    forget_earlier();
    return pending.bytes;
}

node *node_top(reader *r)
{
    node *n = r->node;
    while (!n->owner && n->readers)
        n = n->readers->node;
    return n;
}

/* The readers of the node read its value from now on. */
void node_publish(node *n, lazy_value *v)
{
    if (n->value) {
        value_unref(v);
        return;
    }
    n->value = v;
    end_pending(n);
    while (n->readers) {
        reader *r = n->readers;
        input *in = (input *)((char *)r - offsetof(input, reader));
        reader_unlink(r);
        in->kind = INPUT_VALUE;
        in->value = value_ref(v);
        in->node = NULL;
        n->refs--; /* the caller has one */
        value_read_by(v, r);
    }
    drop_inputs(n);
}

/* ---- Where nodes were made --------------------------------------------------------------- */

void node_set_origin(node *n)
{
    static PyObject *name;
    PyFrameObject *frame = PyEval_GetFrame();
    if (!frame || (!name && !(name = PyUnicode_InternFromString("f_lasti"))))
        return;
    n->offset = PyObject_GetAttr((PyObject *)frame, name);
    n->code = (PyObject *)PyFrame_GetCode(frame);
}
