/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/op/test_lazy.py */
#include "program.h"

#include <stdlib.h>
#include <string.h>

#include "src/array/array.h"
#include "src/base/error.h"
#include "src/calls/expression.h"
#include "src/base/runtime.h"
#include "function.h"

#define KEPT 512        /* expressions */
#define WORTH (1 << 24) /* elements that single functions compute while a device would compile */

typedef struct kept {
    uint64_t hash;
    uint32_t size;
    unsigned char *key;
    expression_object *expression;
    int64_t elements; /* that single functions computed */
} kept;

static kept table[KEPT];

/* ---- Collecting --------------------------------------------------------------------------- */

static void put(program *p, const void *bytes, size_t size)
{
    if (p->key_size + size <= PROGRAM_KEY)
        memcpy(p->key + p->key_size, bytes, size);
    p->key_size += (uint32_t)size;
}

/* The number of something given; -1 with an exception. */
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

static int put_constant(program *p, step *s, PyObject *number)
{
    collet_scalar value;
    if (evaluate_number(number, "a number", &value) < 0)
        return -1;
    s->number = Py_NewRef(number);
    put(p, &value, sizeof value);
    return STEP_CONSTANT;
}

static int source(program *p, step *s, const input *in)
{
    if (in->kind == INPUT_NODE)
        return (int)in->node->index;
    if (in->kind == INPUT_CONSTANT)
        return put_constant(p, s, in->number);
    int i = give(p, in->value, in->number);
    return i < 0 ? -1 : STEP_GIVEN + i;
}

static int add_step(program *p, node *n)
{
    step *s = &p->steps[p->n_nodes];
    n->index = p->n_nodes;
    p->nodes[p->n_nodes++] = node_ref(n);
    *s = (step){.dtype = n->spec.dtype, .n_in = n->n_in};
    s->function = (elementwise *)Py_XNewRef((PyObject *)n->function);
    for (uint32_t i = 0; i < n->n_in; i++) {
        int from = source(p, s, &n->in[i]);
        if (from < 0)
            return -1;
        s->from[i] = (uint16_t)from;
    }
    const uint32_t what[2] = {n->function ? n->function->id : 0,
                              n->function ? n->n_in : (uint32_t)n->spec.dtype};
    put(p, what, sizeof what);
    put(p, s->from, sizeof s->from);
    return 0;
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
    return add_step(p, n);
}

int program_begin(program *p, node *root)
{
    static uint32_t mark;
    p->n_nodes = p->n_outs = p->n_given = p->key_size = 0;
    if (!++mark)
        mark = 1;
    if (walk(p, root, mark))
        return -1;
    program_output(p, p->n_nodes - 1);
    return 0;
}

void program_output(program *p, uint32_t i)
{
    p->outs[p->n_outs++] = i;
}

void program_forget_nodes(program *p)
{
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        node_unref(p->nodes[i]);
        p->nodes[i] = NULL;
    }
}

void program_end(program *p)
{
    program_forget_nodes(p);
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        Py_XDECREF((PyObject *)p->steps[i].function);
        Py_XDECREF(p->steps[i].number);
    }
    for (uint32_t i = 0; i < p->n_given; i++)
        Py_DECREF(p->given[i]);
}

/* ---- Building ----------------------------------------------------------------------------- */

static collet_status add_literal(collet_expression *e, PyObject *number, uint32_t *result,
                                 collet_error *err)
{
    collet_scalar s;
    if (evaluate_number(number, "a number", &s) < 0)
        return COLLET_DTYPE; /* with an exception */
    return collet_expression_literal(e, result, &s, err);
}

static collet_status apply(const step *s, collet_expression *e, const uint32_t *given,
                           uint32_t *results, uint32_t i, collet_error *err)
{
    uint32_t in[NODE_INPUTS] = {0};
    collet_status status = COLLET_OK;
    for (uint32_t k = 0; status == COLLET_OK && k < s->n_in; k++) {
        if (s->from[k] == STEP_CONSTANT)
            status = add_literal(e, s->number, &in[k], err);
        else
            in[k] = s->from[k] < STEP_GIVEN ? results[s->from[k]] : given[s->from[k] - STEP_GIVEN];
    }
    if (status != COLLET_OK)
        return status;
    return s->function ? collet_expression_apply(e, &results[i], s->function->id, in, s->n_in, err)
                       : collet_expression_convert(e, &results[i], in[0], s->dtype, err);
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
        status = apply(&p->steps[i], made->handle, given, results, i, &err);
    for (uint32_t i = 0; status == COLLET_OK && i < p->n_outs; i++)
        status = collet_expression_output(made->handle, results[p->outs[i]], &err);
    if (status == COLLET_OK && r)
        status = expression_reduce(made, r->op, r->axes, r->keepdims, r->correction, &err);
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

static int put_axes(program *p, PyObject *axes)
{
    if (axes == Py_None)
        return 0;
    Py_ssize_t count = PyTuple_Check(axes) ? PyTuple_Size(axes) : 1;
    for (Py_ssize_t i = 0; i < count; i++) {
        long axis = PyLong_AsLong(PyTuple_Check(axes) ? PyTuple_GetItem(axes, i) : axes);
        put(p, &axis, sizeof axis);
    }
    return PyErr_Occurred() ? -1 : 0;
}

static int put_rest(program *p, const reduction *r)
{
    for (uint32_t i = 1; i < p->n_outs; i++)
        put(p, &p->outs[i], sizeof p->outs[i]);
    if (!r)
        return 0;
    put(p, &r->op, sizeof r->op);
    put(p, &r->keepdims, sizeof r->keepdims);
    put(p, &r->correction, sizeof r->correction);
    return put_axes(p, r->axes);
}

/* The entry of the program, with its Expression. NULL with an exception. */
static kept *keep(program *p, const reduction *r)
{
    static kept last; /* of a program whose key is too long */
    uint64_t hash = 0;
    kept *k = &last;
    if (put_rest(p, r))
        return NULL;
    if (p->key_size <= PROGRAM_KEY) {
        hash = hash_of(p->key, p->key_size);
        k = &table[hash % KEPT];
        if (k->key && k->hash == hash && k->size == p->key_size &&
            !memcmp(k->key, p->key, p->key_size))
            return k;
    }
    expression_object *made = build(p, r), *before;
    unsigned char *key = made ? malloc(p->key_size) : NULL;
    if (!key) {
        Py_XDECREF(made);
        return made ? (kept *)PyErr_NoMemory() : NULL;
    }
    memcpy(key, p->key, p->key_size <= PROGRAM_KEY ? p->key_size : 0);
    before = k->expression;
    free(k->key);
    *k = (kept){hash, p->key_size, key, made, 0};
    Py_XDECREF(before);
    return k;
}

/* ---- Single functions --------------------------------------------------------------------- */

static PyObject *converted(PyObject *array, collet_dtype dtype)
{
    PyObject *module = PyImport_ImportModule("collet._standard.operators");
    PyObject *made =
        module ? PyObject_CallMethod(module, "copied", "Os", array, collet_dtype_name(dtype))
               : NULL;
    Py_XDECREF(module);
    return made;
}

static PyObject *compute(const program *p, const step *s, PyObject *const *made)
{
    PyObject *in[NODE_INPUTS];
    for (uint32_t k = 0; k < s->n_in; k++)
        in[k] = s->from[k] == STEP_CONSTANT ? s->number
                : s->from[k] < STEP_GIVEN   ? made[s->from[k]]
                                            : p->given[s->from[k] - STEP_GIVEN];
    return s->function ? function_call(s->function, in, NULL) : converted(in[0], s->dtype);
}

static PyObject *outputs(const program *p, PyObject *const *made)
{
    if (p->n_outs == 1)
        return Py_NewRef(made[p->outs[0]]);
    PyObject *tuple = PyTuple_New(p->n_outs);
    for (uint32_t i = 0; tuple && i < p->n_outs; i++)
        PyTuple_SetItem(tuple, i, Py_NewRef(made[p->outs[i]]));
    return tuple;
}

/* Each value is dropped after its last use, as NumPy does. */
static PyObject *compute_singly(const program *p)
{
    PyObject *made[PROGRAM_NODES] = {NULL}, *result = NULL;
    uint32_t last[PROGRAM_NODES] = {0}, i;
    for (i = 0; i < p->n_nodes; i++)
        for (uint32_t k = 0; k < p->steps[i].n_in; k++)
            if (p->steps[i].from[k] < STEP_GIVEN)
                last[p->steps[i].from[k]] = i;
    for (i = 0; i < p->n_outs; i++)
        last[p->outs[i]] = p->n_nodes;
    for (i = 0; i < p->n_nodes && (made[i] = compute(p, &p->steps[i], made)); i++)
        for (uint32_t k = 0; k < p->steps[i].n_in; k++)
            if (p->steps[i].from[k] < STEP_GIVEN && last[p->steps[i].from[k]] == i)
                Py_CLEAR(made[p->steps[i].from[k]]);
    if (i == p->n_nodes)
        result = outputs(p, made);
    for (i = 0; i < p->n_nodes; i++)
        Py_XDECREF(made[i]);
    return result;
}

static int64_t elements_of(const node *n)
{
    int64_t size = 1;
    for (int32_t i = 0; i < n->spec.ndim; i++)
        size *= n->spec.shape[i];
    return size;
}

/* A device compiles an Expression, which takes as long as many single functions: it is compiled once it was
 * needed that often. */
static int is_to_be_compiled(const program *p, kept *k)
{
    if (runtime_at_once() || !runtime_last_backend())
        return 1;
    k->elements += p->n_nodes * (elements_of(p->nodes[p->n_nodes - 1]) + 4096);
    return k->elements >= WORTH;
}

/* ---- Running ------------------------------------------------------------------------------ */

PyObject *program_run(program *p, const reduction *r, PyObject *out)
{
    if (p->n_nodes == 1 && p->steps[0].function && !p->steps[0].number && !r && !out)
        return compute(p, &p->steps[0], NULL);
    kept *k = keep(p, r);
    if (!k)
        return NULL;
    if (!out && !is_to_be_compiled(p, k))
        return r ? Py_NewRef(Py_None) : compute_singly(p);
    expression_object *e = (expression_object *)Py_NewRef(k->expression);
    if (out) /* which is written once no node reads it any more */
        program_forget_nodes(p);
    PyObject *made = evaluate_expression(e, p->given, out);
    Py_DECREF(e);
    return made;
}
