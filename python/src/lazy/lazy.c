/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/op/test_lazy.py */
#include "lazy.h"

#include "src/array/array.h"
#include "src/array/capture.h"
#include "src/base/error.h"
#include "src/base/runtime.h"
#include "src/calls/expression.h"
#include "program.h"

#define SLACK (1 << 20) /* bytes that nodes may keep alive beyond the bytes of their results */

static _Thread_local int off; /* depth of nested collet.eager() */
static int busy;              /* number of running evaluations */

int lazy_is_off(void)
{
    return off;
}

PyObject *lazy_array(node *n)
{
    node_set_origin(n);
    PyObject *array = array_of_node(n);
    if (array && n->count >= NODE_LIMIT && !array_get(array))
        Py_CLEAR(array);
    node_unref(n);
    return array;
}

/* ---- Errors ------------------------------------------------------------------------------- */

/* Adds to the text of an error the place in the program that made the node. */
static void name_origin(const node *n)
{
    PyObject *type, *error, *trace, *module, *text = NULL;
    if (!n->code || PyErr_ExceptionMatches(PyExc_KeyboardInterrupt))
        return;
    PyErr_Fetch(&type, &error, &trace);
    module = PyImport_ImportModule("collet._array.origin");
    text = module ? PyObject_CallMethod(module, "explain", "OOOO", type, error ? error : Py_None,
                                        n->code, n->offset)
                  : NULL;
    Py_XDECREF(module);
    if (text) {
        Py_XDECREF(error);
        error = text;
    }
    PyErr_Clear();
    PyErr_Restore(type, error, trace);
}

/* ---- Evaluation --------------------------------------------------------------------------- */

/* Whether a node was computed before, and something besides this program may need its value again. */
static int is_needed_again(const node *n)
{
    return n->seen && (n->owner || (n->readers && n->readers->next));
}

/* The first element of each row, in a new array. NULL with an exception. */
static collet_array *first_column(const collet_array *a)
{
    collet_context *context = runtime_context();
    collet_array *view = NULL, *made = NULL;
    collet_array_spec spec;
    array_spec(a, &spec);
    int32_t last = spec.ndim - 1;
    spec.shape[last] = 1;
    if (!context)
        return NULL;
    const collet_array *in = NULL;
    collet_status status = collet_array_slice(context, a, &view, last, 0, 1, 1);
    in = view;
    if (status == COLLET_OK)
        status = collet_array_create(context, &made, spec.dtype, spec.ndim, spec.shape);
    if (status == COLLET_OK)
        status = collet_call(context, COLLET_OP_COPY, &made, &in, NULL);
    collet_array_destroy(view);
    if (status == COLLET_OK) {
        runtime_called(context);
        return made;
    }
    runtime_raise(context);
    collet_array_destroy(made);
    return NULL;
}

/* A new reference to the value that the Array `made` has for the node. The elements of a row are equal if the node has one
 * element per row and was computed from Arrays alone: for the Expression these had the full shape. Then the value has the
 * first of them. A value without the axis of the rows is a view without it. NULL with an exception. */
static lazy_value *value_for(const node *n, PyObject *made)
{
    lazy_value *v = array_value(made), *whole;
    if (!v)
        return NULL;
    int32_t last = collet_array_ndim(v->array) - 1;
    int narrow = n->flat || (last >= 0 && n->spec.shape[last] == 1);
    v = narrow && collet_array_shape(v->array)[last] != 1 ? value_new(first_column(v->array), NULL)
                                                          : value_ref(v);
    if (!v || !n->flat)
        return v;
    collet_array *flat = NULL;
    if (collet_array_reshape(runtime_context(), v->array, &flat, n->spec.ndim, n->spec.shape) !=
        COLLET_OK)
        runtime_raise(runtime_context());
    whole = v;
    v = value_new(flat, whole);
    if (v && capture_now())
        capture_name(
            v,
            capture_view(capture_number(whole), COLLET_VIEW_RESHAPE, n->spec.shape, n->spec.ndim),
            CAPTURE_VIEW);
    value_unref(whole);
    return v;
}

static int take(node *n, PyObject *made)
{
    lazy_value *v = value_for(n, made);
    if (!v || !value_memory(v)) {
        value_unref(v);
        return -1;
    }
    collet_array_spec made_as;
    array_spec(v->array, &made_as);
    if (made_as.dtype != n->spec.dtype || !node_same_shape(&made_as, &n->spec)) {
        PyErr_Format(PyExc_SystemError, "a lazy result is %s with %d axes or has another shape, expected was %s with %d axes",
                     collet_dtype_name(made_as.dtype), (int)made_as.ndim,
                     collet_dtype_name(n->spec.dtype), (int)n->spec.ndim);
        value_unref(v);
        return -1;
    }
    value_attach(v, NULL);
    if (!n->value && n->owner)
        array_settle(n->owner, v);
    node_publish(n, v);
    return 0;
}

/* Whether only programs refer to the node, and no Array or other node. A program works on a copy of its nodes, so
 * nothing needs the value of this node, and a write to its inputs need not compute the node first. */
static int is_unneeded(const node *n)
{
    return !n->value && !n->owner && !n->readers;
}

static void mark_seen(const program *p)
{
    for (uint32_t i = 0; i < p->n_nodes; i++)
        p->nodes[i]->seen = 1;
}

/* Stores the computed values in their nodes. The root is last: storing the root's value drops the root's inputs. */
static int publish(const program *p, PyObject *made)
{
    int failed = 0;
    mark_seen(p);
    for (uint32_t i = p->n_outs; i-- > 0 && !failed;)
        failed = take(p->nodes[p->outs[i]], p->n_outs == 1 ? made : PyTuple_GetItem(made, i));
    for (uint32_t i = p->n_nodes; i-- > 0 && !failed;)
        if (is_unneeded(p->nodes[i]))
            node_release(p->nodes[i]);
    return failed;
}

static int force(node *n, int every);

/* What to compute: a node's value, a reduction of the node, or its elements into `out`. */
typedef struct request {
    int every;                  /* 1: also store the values of all nodes below that have an Array */
    const reduction *reduction; /* NULL: no reduction */
    PyObject *out; /* NULL: no `out`; else the caller has the only reference to the node */
} request;

/* Returns a node of the program, not the root, for which is_needed_again is true; NULL if there is no such node. */
static node *needed_again(const program *p)
{
    for (uint32_t i = p->n_nodes - 1; i-- > 0;)
        if (is_needed_again(p->nodes[i]))
            return p->nodes[i];
    return NULL;
}

static PyObject *reduced(program *p, const reduction *r)
{
    PyObject *made = program_reduce(p, r) ? NULL : program_run(p, NULL);
    if (made && made != Py_NotImplemented)
        mark_seen(p);
    return made;
}

/* Computes the program into `out`. The caller has dropped its reference to the root. Drops the nodes first: the root
 * may read `out`, and before `out` is written all nodes that read it are computed. */
static PyObject *computed_into(program *p, PyObject *out)
{
    mark_seen(p);
    program_forget_nodes(p);
    return program_run(p, out);
}

static PyObject *published(program *p, int every)
{
    /* A reduced value that has an Array is stored now: it needs little memory, and computing it again would take a
     * pass over its operand. */
    for (uint32_t i = 0; i + 1 < p->n_nodes && p->n_outs < COLLET_EXPRESSION_OUTPUTS; i++)
        if (every || (p->by_rows && p->steps[i].narrow) ? p->nodes[i]->owner != NULL
                                                        : is_needed_again(p->nodes[i]))
            program_output(p, i);
    PyObject *made = program_run(p, NULL);
    if (made && made != Py_NotImplemented && publish(p, made))
        Py_CLEAR(made);
    return made;
}

static PyObject *attempt(node *n, const request *q)
{
    program p;
    PyObject *made = NULL;
    int failed = program_begin(&p, n);
    node *again = failed || !q->reduction ? NULL : needed_again(&p);
    if (q->out)
        node_unref(n);
    if (again)
        made = force(again, 0) ? NULL : Py_NewRef(Py_NotImplemented);
    else if (!failed)
        made = q->reduction ? reduced(&p, q->reduction)
               : q->out     ? computed_into(&p, q->out)
                            : published(&p, q->every);
    if (!made && !again && !q->out)
        name_origin(n);
    program_end(&p);
    return made;
}

/* Every evaluation of nodes is a call of this function. Returns the result of program_run; None also if the node has a
 * value already or is not needed any more. With `out` the node no longer exists afterwards, so the function returns
 * NotImplemented instead of trying again. */
static PyObject *evaluate(node *n, const request *q)
{
    PyObject *made = Py_NewRef(Py_NotImplemented);
    busy++;
    do {
        Py_XDECREF(made);
        made = n->value || !n->n_in ? Py_NewRef(Py_None) : attempt(n, q);
    } while (made == Py_NotImplemented && !q->out);
    busy--;
    return made;
}

static int force(node *n, int every)
{
    const request q = {.every = every};
    runtime_switched before;
    if (n->value)
        return 0;
    if (n->generation != runtime_generation()) {
        array_raise_forked();
        return -1;
    }
    if (runtime_switch(n->choice, &before))
        return -1;
    PyObject *made = evaluate(n, &q);
    int failed = !made;
    Py_XDECREF(made);
    runtime_switch_back(&before);
    lazy_save_memory();
    return failed ? -1 : 0;
}

int lazy_force(node *n)
{
    return force(n, 0);
}

int lazy_force_all(node *n)
{
    return force(n, 1);
}

static int force_last_pending(void)
{
    node *n = node_ref(node_last_pending());
    int failed = force(n, 1);
    node_unref(n);
    return failed;
}

int lazy_reads(const node *n, const memory *m)
{
    for (uint32_t i = 0; i < n->n_in; i++) {
        const input *in = &n->in[i];
        if (in->kind == INPUT_VALUE && in->value->memory == m)
            return 1;
        if (in->kind == INPUT_NODE && lazy_reads(in->node, m))
            return 1;
    }
    return 0;
}

int lazy_before_write(lazy_value *v)
{
    int failed = 0;
    while (v->memory && (v->memory->readers || v->memory->pins) && !failed) {
        node *n = v->memory->readers ? node_ref(node_top(v->memory->readers)) : NULL;
        failed = n ? force(n, 1) : memory_wait_unpinned(v->memory);
        node_unref(n);
    }
    return failed ? -1 : 0;
}

PyObject *lazy_compute_into(node *n, PyObject *out)
{
    const request q = {.out = out};
    PyObject *made = evaluate(n, &q);
    lazy_save_memory();
    return made;
}

/* ---- Pending nodes------------------------------------------------------------------------ */

static int raise_later(void *error)
{
    PyErr_SetObject((PyObject *)Py_TYPE((PyObject *)error), error);
    Py_DECREF((PyObject *)error);
    return -1;
}

/* Handles the exception of an evaluation that no caller requested. Errors of libcore and MemoryError are dropped,
 * because they occur again when the value is needed. The exception of a signal's handler would not occur again, so
 * the main thread raises it later. */
static void put_off(void)
{
    PyObject *type, *error, *trace;
    if (PyErr_ExceptionMatches(PyExc_MemoryError) || error_is_own()) {
        PyErr_Clear();
        return;
    }
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    if (!error || Py_AddPendingCall(raise_later, error))
        Py_XDECREF(error);
    Py_XDECREF(type);
    Py_XDECREF(trace);
}

void lazy_save_memory(void)
{
    PyObject *type, *error, *trace;
    if (busy || value_held() <= node_owed() + SLACK)
        return;
    PyErr_Fetch(&type, &error, &trace);
    while (value_held() > node_owed() + SLACK && node_last_pending())
        if (force_last_pending()) {
            put_off();
            break;
        }
    PyErr_Restore(type, error, trace);
}

PyObject *lazy_flush(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    while (node_last_pending())
        if (force_last_pending())
            return NULL;
    Py_RETURN_NONE;
}

PyObject *lazy_eager(PyObject *Py_UNUSED(module), PyObject *change)
{
    long by = PyLong_AsLong(change);
    if (by == -1 && PyErr_Occurred())
        return NULL;
    off += (int)by;
    Py_RETURN_NONE;
}

PyObject *lazy_is_pending(PyObject *Py_UNUSED(module), PyObject *object)
{
    return PyBool_FromLong(array_check(object) && array_node(object) != NULL);
}

/* ---- Reductions --------------------------------------------------------------------------- */

PyObject *lazy_reduce(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *array, *op;
    reduction r;
    const request q = {.reduction = &r};
    if (!PyArg_ParseTuple(arguments, "OOOpd", &array, &op, &r.axes, &r.keepdims, &r.correction) ||
        !(r.op = expression_op(op)))
        return NULL;
    if (!array_check(array) || !array_node(array))
        Py_RETURN_NONE;
    uint32_t choice = runtime_choice(); /* may run other code that computes the Array */
    node *n = choice ? array_node(array) : NULL;
    if (!choice)
        return NULL;
    if (!n || n->seen || n->row || off || n->generation != runtime_generation() ||
        n->choice != choice)
        Py_RETURN_NONE;
    PyObject *made = evaluate(node_ref(n), &q);
    node_unref(n);
    lazy_save_memory();
    return made;
}

/* Rows of these numbers of elements, in Arrays of at least ROWS_LEAST elements. Smaller Arrays fit into the cache as a whole,
 * and calls/small.c reduces them. */
#define ROWS_SHORTEST 2
#define ROWS_LONGEST (1 << 15)
#define ROWS_LEAST (128 << 10)

/* Whether the reduction along this axis of an Array of this dtype and shape should be lazy, so that it is computed
 * together with other steps. */
static int has_rows(const collet_array_spec *s, long axis)
{
    int64_t size = 1;
    for (int32_t i = 0; i < s->ndim; i++)
        size *= s->shape[i];
    return s->ndim > 1 && (axis == -1 || axis == s->ndim - 1) &&
           (s->dtype == COLLET_F32 || s->dtype == COLLET_F64) && size >= ROWS_LEAST &&
           s->shape[s->ndim - 1] >= ROWS_SHORTEST && s->shape[s->ndim - 1] <= ROWS_LONGEST;
}

PyObject *lazy_reduce_rows(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *array, *op;
    long axis;
    int keepdims;
    double correction;
    if (!PyArg_ParseTuple(arguments, "OOlpd", &array, &op, &axis, &keepdims, &correction))
        return NULL;
    if (!array_check(array) || off)
        Py_RETURN_NONE;
    uint32_t id = expression_op(op), choice = id ? runtime_choice() : 0; /* may run other code */
    if (!choice)
        return NULL;
    node *from = array_node(array);
    lazy_value *v = from ? NULL : array_value(array);
    if (!from && !v)
        return NULL;
    collet_array_spec spec;
    if (from)
        spec = from->spec;
    else
        array_spec(v->array, &spec);
    if (!has_rows(&spec, axis))
        Py_RETURN_NONE;
    if (from ? from->seen || from->flat || from->choice != choice || from->generation != runtime_generation()
             : v->generation != runtime_generation() || collet_array_is_shared(v->array) ||
                   !array_is_dense(v->array, 0))
        Py_RETURN_NONE;
    node *n = from || value_memory(v) ? node_new(NULL, choice) : NULL;
    if (!n)
        return NULL;
    n->reduces = id;
    n->correction = correction;
    n->row = spec.shape[spec.ndim - 1];
    n->spec = spec;
    n->spec.shape[spec.ndim - 1] = 1;
    n->flat = !keepdims;
    n->spec.ndim -= n->flat;
    if (from)
        node_add_node(n, from);
    else
        node_add_value(n, v);
    return lazy_array(n);
}
