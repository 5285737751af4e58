/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/op/test_lazy.py */
#include "program.h"

#include <stdlib.h>
#include <string.h>

#include "../array.h"
#include "../base/error.h"
#include "../expression.h"
#include "elementwise.h"

#define KEPT 512 /* expressions */

static struct kept {
    uint64_t hash;
    uint32_t size;
    unsigned char *key;
    expression_object *expression;
} kept[KEPT];

/* ---- Collecting --------------------------------------------------------------------------- */

static void put(program *p, const void *bytes, size_t size)
{
    if (p->key_size + size <= PROGRAM_KEY)
        memcpy(p->key + p->key_size, bytes, size);
    p->key_size += (uint32_t)size;
}

/* The number of an input; -1 with an exception. */
static int give(program *p, lazy_value *v, PyObject *number)
{
    uint32_t i = 0;
    while (i < p->n_given && (v ? p->values[i] != v : p->given[i] != number))
        i++;
    if (i < p->n_given)
        return (int)i;
    if (i == COLLET_EXPRESSION_INPUTS) {
        error_raise(COLLET_OVERFLOW,
                    "a lazy expression has more inputs than an expression can have");
        return -1;
    }
    PyObject *object = v ? array_of_value(v) : Py_NewRef(number);
    if (!object)
        return -1;
    p->given[i] = object;
    p->values[i] = v;
    p->n_given++;
    return (int)i;
}

static int put_input(program *p, const input *in)
{
    unsigned char word[2] = {(unsigned char)in->kind, 0};
    int place = 0;
    if (in->kind == INPUT_NODE)
        word[1] = (unsigned char)in->node->index;
    else if (in->kind != INPUT_CONSTANT) {
        place = give(p, in->value, in->number);
        word[0] = INPUT_VALUE; /* numbers are given like Arrays */
        word[1] = (unsigned char)place;
    }
    put(p, word, sizeof word);
    if (in->kind == INPUT_CONSTANT) {
        collet_scalar s;
        if (evaluate_number(in->number, "a number", &s) < 0)
            return -1;
        put(p, &s, sizeof s);
    }
    return place < 0 ? -1 : 0;
}

static int walk(program *p, node *n, uint32_t mark)
{
    if (n->mark == mark)
        return 0;
    n->mark = mark;
    for (uint32_t i = 0; i < n->n_in; i++)
        if (n->in[i].kind == INPUT_NODE && walk(p, n->in[i].node, mark))
            return -1;
    if (p->n_nodes == PROGRAM_NODES) {
        error_raise(COLLET_OVERFLOW, "a lazy expression has too many nodes");
        return -1;
    }
    n->index = p->n_nodes;
    p->order[p->n_nodes++] = n;
    uint32_t what[2] = {n->function ? n->function->id : 0,
                        n->function ? n->n_in : (uint32_t)n->spec.dtype};
    put(p, what, sizeof what);
    for (uint32_t i = 0; i < n->n_in; i++)
        if (put_input(p, &n->in[i]))
            return -1;
    return 0;
}

int program_begin(program *p, node *root)
{
    static uint32_t mark;
    p->n_nodes = p->n_outs = p->n_given = p->key_size = 0;
    if (!++mark)
        mark = 1;
    program_output(p, root);
    return walk(p, root, mark);
}

void program_output(program *p, node *n)
{
    p->outs[p->n_outs++] = node_ref(n);
}

void program_drop_outputs(program *p)
{
    for (uint32_t i = 0; i < p->n_outs; i++)
        node_unref(p->outs[i]);
    p->n_outs = 0;
}

void program_end(program *p)
{
    program_drop_outputs(p);
    for (uint32_t i = 0; i < p->n_given; i++)
        Py_DECREF(p->given[i]);
}

/* ---- Building ----------------------------------------------------------------------------- */

static collet_status add_constant(collet_expression *e, PyObject *number, uint32_t *result,
                                  collet_error *err)
{
    collet_scalar s;
    if (evaluate_number(number, "a number", &s) < 0)
        return COLLET_DTYPE;
    return collet_expression_literal(e, result, &s, err);
}

static collet_status add_node(const program *p, const node *n, collet_expression *e,
                              const uint32_t *given, uint32_t *results, collet_error *err)
{
    uint32_t in[NODE_INPUTS] = {0};
    collet_status status = COLLET_OK;
    for (uint32_t i = 0; status == COLLET_OK && i < n->n_in; i++) {
        const input *from = &n->in[i];
        uint32_t k = 0;
        if (from->kind == INPUT_NODE) {
            in[i] = results[from->node->index];
        } else if (from->kind == INPUT_CONSTANT) {
            status = add_constant(e, from->number, &in[i], err);
        } else {
            while (from->value ? p->values[k] != from->value : p->given[k] != from->number)
                k++;
            in[i] = given[k];
        }
    }
    if (status != COLLET_OK)
        return status;
    if (!n->function)
        return collet_expression_convert(e, &results[n->index], in[0], n->spec.dtype, err);
    return collet_expression_apply(e, &results[n->index], n->function->id, in, n->n_in, err);
}

static collet_status add_reduction(expression_object *made, const reduction *r, collet_error *err)
{
    if (!r->op)
        return COLLET_OK;
    return expression_reduce(made, r->op, r->axes, r->keepdims, r->correction, err);
}

static expression_object *build(const program *p, const reduction *r)
{
    collet_error err = {0};
    collet_status status = COLLET_OK;
    uint32_t given[COLLET_EXPRESSION_INPUTS], results[PROGRAM_NODES];
    expression_object *made = (expression_object *)expression_new(NULL);
    if (!made)
        return NULL;
    for (uint32_t i = 0; status == COLLET_OK && i < p->n_given; i++)
        status = collet_expression_input(made->handle, &given[i], NULL, COLLET_DTYPE_NONE, &err);
    for (uint32_t i = 0; status == COLLET_OK && i < p->n_nodes; i++)
        status = add_node(p, p->order[i], made->handle, given, results, &err);
    for (uint32_t i = 0; status == COLLET_OK && i < p->n_outs; i++)
        status = collet_expression_output(made->handle, results[p->outs[i]->index], &err);
    if (status == COLLET_OK)
        status = add_reduction(made, r, &err);
    if (status == COLLET_OK)
        return made;
    error_raise(status, err.text);
    Py_DECREF(made);
    return NULL;
}

/* ---- Kept expressions --------------------------------------------------------------------- */

static uint64_t hash_of(const unsigned char *key, size_t size)
{
    uint64_t hash = size, word;
    for (size_t i = 0; i < size; i += sizeof word) {
        size_t left = size - i < sizeof word ? size - i : sizeof word;
        word = 0;
        memcpy(&word, key + i, left);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

static void put_reduction(program *p, const reduction *r)
{
    if (!r->op)
        return;
    put(p, &r->op, sizeof r->op);
    put(p, &r->keepdims, sizeof r->keepdims);
    put(p, &r->correction, sizeof r->correction);
}

static int put_axes(program *p, PyObject *axes)
{
    Py_ssize_t count;
    if (!axes || axes == Py_None)
        return 0;
    count = PyTuple_Check(axes) ? PyTuple_Size(axes) : 1;
    for (Py_ssize_t i = 0; i < count; i++) {
        long axis = PyLong_AsLong(PyTuple_Check(axes) ? PyTuple_GetItem(axes, i) : axes);
        put(p, &axis, sizeof axis);
    }
    return PyErr_Occurred() ? -1 : 0;
}

expression_object *program_expression(program *p, const reduction *r)
{
    for (uint32_t i = 1; i < p->n_outs; i++)
        put(p, &p->outs[i]->index, sizeof p->outs[i]->index);
    put_reduction(p, r);
    if (put_axes(p, r->axes))
        return NULL;
    if (p->key_size > PROGRAM_KEY)
        return build(p, r);
    uint64_t hash = hash_of(p->key, p->key_size);
    struct kept *k = &kept[hash % KEPT];
    if (k->key && k->hash == hash && k->size == p->key_size && !memcmp(k->key, p->key, p->key_size))
        return (expression_object *)Py_NewRef(k->expression);
    expression_object *made = build(p, r);
    unsigned char *key = made ? malloc(p->key_size) : NULL;
    if (!key)
        return made; /* is not kept */
    memcpy(key, p->key, p->key_size);
    expression_object *before = k->expression;
    free(k->key);
    *k = (struct kept){hash, p->key_size, key, (expression_object *)Py_NewRef(made)};
    Py_XDECREF(before);
    return made;
}
