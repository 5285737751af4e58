/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/op/test_lazy.py */
#include "program.h"

#include <stdlib.h>
#include <string.h>

#include "src/array/array.h"
#include "src/array/capture.h"
#include "src/base/dtype.h"
#include "src/base/error.h"
#include "src/calls/expression.h"
#include "src/calls/op.h"
#include "src/base/runtime.h"
#include "function.h"

#define KEPT 512        /* number of expressions that are kept */
#define WORTH (1 << 24) /* elements that single functions compute in the time of one compilation */

typedef struct kept {
    uint64_t hash;
    uint32_t size;
    unsigned char *key;
    PyObject *compiled; /* an Expression */
    int64_t elements;   /* elements that single functions have computed instead of the expression */
} kept;

static kept table[KEPT];

/* ---- Collecting --------------------------------------------------------------------------- */

static void put(program *p, const void *bytes, size_t size)
{
    if (p->key_size + size <= PROGRAM_KEY)
        memcpy(p->key + p->key_size, bytes, size);
    p->key_size += (uint32_t)size;
}

/* Returns the index of a value or number in the list of given values, and adds it to the list if necessary. -1 with
 * an exception. */
static int give(program *p, lazy_value *v, PyObject *number, int column)
{
    uint32_t i = 0;
    while (i < p->n_given &&
           (v ? p->values[i] != v || p->columns[i] != column : p->given[i] != number))
        i++;
    if (i < p->n_given)
        return (int)i;
    if (i == COLLET_EXPRESSION_INPUTS) {
        error_raise(COLLET_OVERFLOW,
                    "a lazy expression has more inputs than an expression can have");
        return -1;
    }
    p->values[i] = v ? value_ref(v) : NULL;
    p->columns[i] = (uint8_t)column;
    p->given[i] = Py_XNewRef(number);
    p->n_given++;
    if (v)
        snapshot_add(&p->reads, v);
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

/* The place of the node in the hash table; 0 is stored there if the node has no number yet. */
static uint16_t *place_of(program *p, const node *n)
{
    uint32_t i = (uint32_t)(((uintptr_t)n >> 4) * 0x9e3779b1u >> 7);
    while (p->places[i & p->mask] && p->nodes[p->places[i & p->mask] - 1] != n)
        i++;
    return &p->places[i & p->mask];
}

/* An operand of a node without the axis of the rows is a node or the value of such a node, or it is what is reduced. */
static int source(program *p, step *s, const node *n, const input *in)
{
    if (in->kind == INPUT_NODE)
        return *place_of(p, in->node) - 1;
    if (in->kind == INPUT_CONSTANT)
        return put_constant(p, s, in->number);
    int i = give(p, in->value, in->number, n->flat && !n->reduces);
    return i < 0 ? -1 : STEP_GIVEN + i;
}

static int add_step(program *p, node *n)
{
    step *s = &p->steps[p->n_nodes];
    p->nodes[p->n_nodes++] = node_ref(n);
    *place_of(p, n) = (uint16_t)p->n_nodes;
    *s = (step){.dtype = n->spec.dtype,
                .n_in = n->n_in,
                .reduces = n->reduces,
                .correction = n->correction,
                .narrow = p->full.ndim && (n->flat || n->spec.shape[p->full.ndim - 1] == 1)};
    s->function = (elementwise *)Py_XNewRef((PyObject *)n->function);
    for (uint32_t i = 0; i < n->n_in; i++) {
        int from = source(p, s, n, &n->in[i]);
        if (from < 0)
            return -1;
        s->from[i] = (uint16_t)from;
    }
    const uint32_t what[2] = {n->function ? n->function->id : 0,
                              n->function ? n->n_in : (uint32_t)n->spec.dtype};
    put(p, what, sizeof what);
    put(p, s->from, sizeof s->from);
    if (p->full.ndim) {
        const uint32_t shape[2] = {n->reduces, (uint32_t)s->narrow};
        put(p, shape, sizeof shape);
        put(p, &n->correction, sizeof n->correction);
        p->by_rows |= n->reduces || s->narrow != p->steps[0].narrow;
    }
    return 0;
}

static int walk(program *p, node *n)
{
    if (*place_of(p, n))
        return 0;
    for (uint32_t i = 0; i < n->n_in; i++)
        if (n->in[i].kind == INPUT_NODE && walk(p, n->in[i].node))
            return -1;
    if (p->n_nodes == PROGRAM_NODES) {
        error_raise(COLLET_OVERFLOW, "a lazy expression has too many nodes");
        return -1;
    }
    return add_step(p, n);
}

int program_begin(program *p, node *root)
{
    p->n_nodes = p->n_steps = p->n_outs = p->n_given = p->key_size = p->reads.count = 0;
    p->by_rows = p->full.ndim = 0;
    if (root->row) {
        p->full = root->spec;
        p->full.ndim += root->flat;
        p->full.shape[p->full.ndim - 1] = root->row;
    }
    for (p->mask = 7; p->mask < 2 * root->count && p->mask < PROGRAM_PLACES - 1;)
        p->mask = 2 * p->mask + 1;
    memset(p->places, 0, (p->mask + 1) * sizeof *p->places);
    if (walk(p, root))
        return -1;
    p->n_steps = p->n_nodes;
    program_output(p, p->n_nodes - 1);
    return 0;
}

void program_output(program *p, uint32_t i)
{
    if (p->n_outs)
        put(p, &i, sizeof i);
    p->outs[p->n_outs++] = i;
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

int program_reduce(program *p, const reduction *r)
{
    p->steps[p->n_steps] = (step){.reduction = r, .n_in = 1, .from = {(uint16_t)(p->n_steps - 1)}};
    p->outs[0] = p->n_steps++;
    put(p, &r->op, sizeof r->op);
    put(p, &r->keepdims, sizeof r->keepdims);
    put(p, &r->correction, sizeof r->correction);
    return put_axes(p, r->axes);
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
    for (uint32_t i = 0; i < p->n_given; i++) {
        Py_XDECREF(p->given[i]);
        value_unref(p->values[i]);
    }
    snapshot_clear(&p->reads);
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
    if (s->reduces)
        return collet_expression_reduce_rows(e, &results[i], s->reduces, in[0], s->correction, err);
    return s->function ? collet_expression_apply(e, &results[i], s->function->id, in, s->n_in, err)
                       : collet_expression_convert(e, &results[i], in[0], s->dtype, err);
}

static expression_object *build(const program *p)
{
    collet_error err = {0};
    collet_status status = COLLET_OK;
    uint32_t given[COLLET_EXPRESSION_INPUTS], results[PROGRAM_NODES];
    const reduction *r = p->steps[p->n_steps - 1].reduction;
    expression_object *made = (expression_object *)expression_new(NULL);
    if (!made)
        return NULL;
    for (uint32_t i = 0; status == COLLET_OK && i < p->n_given; i++)
        status = collet_expression_input(made->handle, &given[i], NULL, COLLET_DTYPE_NONE, &err);
    for (uint32_t i = 0; status == COLLET_OK && i < p->n_nodes; i++)
        status = apply(&p->steps[i], made->handle, given, results, i, &err);
    for (uint32_t i = 0; status == COLLET_OK && i < p->n_outs; i++)
        status = collet_expression_output(made->handle, results[p->outs[i] - (r != NULL)], &err);
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

/* The entry of the program in the table, with its compiled form; builds it if necessary. NULL with an exception. */
static kept *keep(program *p)
{
    static kept last; /* for a program whose key is too long */
    uint64_t hash = 0;
    kept *k = &last;
    if (p->key_size <= PROGRAM_KEY) {
        hash = hash_of(p->key, p->key_size);
        k = &table[hash % KEPT];
        if (k->key && k->hash == hash && k->size == p->key_size &&
            !memcmp(k->key, p->key, p->key_size))
            return k;
    }
    PyObject *made = (PyObject *)build(p), *before;
    unsigned char *key = made ? malloc(p->key_size) : NULL;
    if (!key) {
        Py_XDECREF(made);
        return made ? (kept *)PyErr_NoMemory() : NULL;
    }
    memcpy(key, p->key, p->key_size <= PROGRAM_KEY ? p->key_size : 0);
    before = k->compiled;
    free(k->key);
    *k = (kept){hash, p->key_size, key, made, 0};
    Py_XDECREF(before);
    return k;
}

/* ---- Single functions --------------------------------------------------------------------- */

static PyObject *converted(PyObject *array, collet_dtype dtype, const snapshot *reads)
{
    static PyObject *copy, *dtype_only; /* the op; ("dtype",) */
    if (!copy) {
        PyObject *module = PyImport_ImportModule("collet._ops");
        copy = module ? PyObject_CallMethod(module, "get", "s", "copy") : NULL;
        Py_XDECREF(module);
    }
    if (!copy || (!dtype_only && !(dtype_only = Py_BuildValue("(s)", "dtype"))))
        return NULL;
    PyObject *name = PyUnicode_FromString(dtype_name(dtype));
    PyObject *const given[] = {array, name};
    PyObject *made =
        name ? op_call_reading(PyCFunction_GetSelf(copy), given, 1, dtype_only, reads) : NULL;
    Py_XDECREF(name);
    return made;
}

/* The function of the op that reduces, a new reference. */
static PyObject *reduction_function(uint32_t id)
{
    static struct {
        uint32_t id;
        const char *name;
        PyObject *function; /* NULL: not used yet */
    } all[] = {{COLLET_OP_SUM, "sum", NULL}, {COLLET_OP_MEAN, "mean", NULL}, {COLLET_OP_VAR, "var", NULL},
               {COLLET_OP_STD, "std", NULL}, {COLLET_OP_MIN, "min", NULL},   {COLLET_OP_MAX, "max", NULL}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].id != id)
            continue;
        PyObject *module = all[i].function ? NULL : PyImport_ImportModule("collet._ops");
        if (module && !all[i].function)
            all[i].function = PyObject_CallMethod(module, "get", "s", all[i].name);
        Py_XDECREF(module);
        return Py_XNewRef(all[i].function);
    }
    PyErr_Format(PyExc_SystemError, "no reduction of rows has the number %u", id);
    return NULL;
}

/* Reduces the rows of an Array; the last axis is kept. */
static PyObject *reduced_rows(PyObject *array, const step *s, const snapshot *reads)
{
    int corrects = s->reduces == COLLET_OP_VAR || s->reduces == COLLET_OP_STD;
    PyObject *function = reduction_function(s->reduces), *made = NULL;
    PyObject *names = corrects ? Py_BuildValue("(sss)", "axes", "keepdims", "correction")
                               : Py_BuildValue("(ss)", "axes", "keepdims");
    PyObject *axis = PyLong_FromLong(-1), *correction = PyFloat_FromDouble(s->correction);
    PyObject *const given[] = {array, axis, Py_True, correction};
    if (function && names && axis && correction)
        made = op_call_reading(PyCFunction_GetSelf(function), given, 1, names, reads);
    Py_XDECREF(function);
    Py_XDECREF(names);
    Py_XDECREF(axis);
    Py_XDECREF(correction);
    return made;
}

static PyObject *compute(const program *p, const step *s, PyObject *const *made)
{
    PyObject *in[NODE_INPUTS];
    for (uint32_t k = 0; k < s->n_in; k++)
        in[k] = s->from[k] == STEP_CONSTANT ? s->number
                : s->from[k] < STEP_GIVEN   ? made[s->from[k]]
                                            : p->given[s->from[k] - STEP_GIVEN];
    return s->reduces    ? reduced_rows(in[0], s, &p->reads)
           : s->function ? function_call(s->function, in, NULL, &p->reads)
                         : converted(in[0], s->dtype, &p->reads);
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

/* Computes the program by single functions. Drops each value after its last use, like a program in NumPy. */
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
    for (i = 0; i < p->n_nodes && (made[i] = compute(p, &p->steps[i], made)) &&
                made[i] != Py_NotImplemented;
         i++)
        for (uint32_t k = 0; k < p->steps[i].n_in; k++)
            if (p->steps[i].from[k] < STEP_GIVEN && last[p->steps[i].from[k]] == i)
                Py_CLEAR(made[p->steps[i].from[k]]);
    if (i == p->n_nodes)
        result = outputs(p, made);
    else if (made[i])
        result = Py_NewRef(Py_NotImplemented);
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

/* Whether to compute by the Expression. On a device, compiling takes as long as many single functions. So a program is
 * first computed by single functions, until they have taken about the time of compiling. */
static int is_to_be_compiled(const program *p, kept *k)
{
    if (runtime_at_once() || !runtime_last_backend() || capture_now())
        return 1; /* a recording runs many times */
    for (uint32_t i = 0; i < p->n_nodes; i++)
        k->elements += elements_of(p->nodes[i]) + 4096;
    return k->elements >= WORTH;
}

/* ---- Running ------------------------------------------------------------------------------ */

/* The Array of given value i. NULL with an exception. */
static PyObject *given_array(const program *p, uint32_t i)
{
    lazy_value *v = p->values[i];
    collet_context *context = p->columns[i] ? runtime_context() : NULL;
    collet_array_spec spec;
    collet_array *column = NULL;
    if (!p->columns[i])
        return array_of_value(v);
    if (!context)
        return NULL;
    array_spec(v->array, &spec);
    spec.shape[spec.ndim++] = 1;
    if (collet_array_reshape(context, v->array, &column, spec.ndim, spec.shape) != COLLET_OK)
        runtime_raise(context);
    lazy_value *flat = v;
    v = value_new(column, flat);
    if (v && capture_now())
        capture_name(v,
                     capture_view(capture_number(flat), COLLET_VIEW_RESHAPE, spec.shape, spec.ndim),
                     CAPTURE_VIEW);
    PyObject *made = v ? array_of_value(v) : NULL;
    value_unref(v);
    return made;
}

/* Makes the Arrays of the given values; that may run other code. 0, or -1 with an exception. */
static int make_given(program *p)
{
    for (uint32_t i = 0; i < p->n_given; i++)
        if (!p->given[i] && !(p->given[i] = given_array(p, i)))
            return -1;
    return 0;
}

PyObject *program_run(program *p, PyObject *out)
{
    if (make_given(p))
        return NULL;
    if (p->n_steps == 1 && p->steps[0].function && !p->steps[0].number && !out)
        return compute(p, &p->steps[0], NULL);
    kept *k = keep(p);
    if (!k)
        return NULL;
    PyObject *e = Py_NewRef(k->compiled);
    PyObject *made = out || is_to_be_compiled(p, k)
                         ? evaluate_expression((expression_object *)e, p->given, out, &p->reads)
                     : p->n_steps > p->n_nodes ? Py_NewRef(Py_None)
                                               : compute_singly(p);
    Py_DECREF(e);
    return made;
}
