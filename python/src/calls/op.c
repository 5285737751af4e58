/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/test_op.py */
#include "op.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/dtype.h"
#include "src/base/error.h"
#include "src/base/runtime.h"

static PyTypeObject *op_type;

static const collet_ops_operand *operand_at(const collet_ops_info *info, uint32_t i)
{
    const char *first = (const char *)info->operands;
    return (const collet_ops_operand *)(const void *)(first + (size_t)i * info->operand_size);
}

static const collet_ops_field *field_at(const collet_ops_info *info, uint32_t i)
{
    const char *first = (const char *)info->fields;
    return (const collet_ops_field *)(const void *)(first + (size_t)i * info->field_size);
}

/* Finds the description of the op with this name. 0, or -1 with an exception. */
static int find(PyObject *name, collet_ops_info *info)
{
    collet_error err;
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    collet_runtime *runtime = text ? runtime_get() : NULL;
    uint32_t id;
    collet_status status;
    if (!runtime)
        return -1;
    *info = (collet_ops_info){.struct_size = sizeof *info};
    status = collet_ops_find(runtime, &id, text, &err);
    if (status == COLLET_OK)
        status = collet_ops_describe(runtime, id, info, &err);
    if (status == COLLET_OK)
        return 0;
    error_raise(status, err.text);
    return -1;
}

/* Whether a parameter is a pointer: such parameters cannot be given by name. */
static int takes_pointers(const collet_ops_info *info)
{
    for (uint32_t i = 0; i < info->field_count; i++)
        if (field_at(info, i)->kind == COLLET_FIELD_POINTER)
            return 1;
    return 0;
}

PyObject *op_names(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    collet_runtime *runtime = runtime_get();
    PyObject *list = runtime ? PyList_New(0) : NULL;
    collet_ops_info info = {.struct_size = sizeof info};
    for (size_t i = 0; list && collet_ops_at(runtime, &info, i, NULL) == COLLET_OK; i++) {
        if (takes_pointers(&info))
            continue;
        PyObject *name = PyUnicode_FromString(info.name);
        if (!name || PyList_Append(list, name))
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

/* ---- Descriptions ------------------------------------------------------------------------- */

static PyObject *describe_operands(const collet_ops_info *info)
{
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list && i < info->n_out + info->n_in; i++) {
        const collet_ops_operand *o = operand_at(info, i);
        PyObject *item = Py_BuildValue("{s:s,s:N,s:N}", "name", o->name, "output",
                                       PyBool_FromLong(i < info->n_out), "optional",
                                       PyBool_FromLong(o->optional));
        if (!item || PyList_Append(list, item))
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static PyObject *describe_fields(const collet_ops_info *info)
{
    static const char *const kinds[COLLET_FIELD_KINDS] = {
        "number", "flag", "choice", "axes", "scalar", "rank", "permutation", "pointer"};
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list && i < info->field_count; i++) {
        const collet_ops_field *f = field_at(info, i);
        PyObject *item =
            Py_BuildValue("{s:s,s:s,s:z,s:d,s:s,s:s}", "name", f->name, "meaning", f->meaning,
                          "choices", f->choices, "default", f->default_value, "kind",
                          f->kind >= 0 && f->kind < COLLET_FIELD_KINDS ? kinds[f->kind] : "unknown",
                          "dtype", dtype_name(f->dtype));
        if (!item || PyList_Append(list, item))
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

PyObject *op_describe(PyObject *Py_UNUSED(module), PyObject *name)
{
    collet_ops_info info;
    if (find(name, &info))
        return NULL;
    return Py_BuildValue("{s:s,s:s,s:s,s:s,s:s,s:N,s:N}", "name", info.name, "family", info.family,
                         "shapes", info.shapes, "sigs", info.sigs, "summary", info.summary,
                         "operands", describe_operands(&info), "fields", describe_fields(&info));
}

/* ---- Objects ------------------------------------------------------------------------------ */

static void op_dealloc(PyObject *self)
{
    op_object *op = (op_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    for (uint32_t i = 0; i < COLLET_MAX_OPERANDS; i++)
        Py_XDECREF(op->operands[i].name);
    for (uint32_t i = 0; op->fields && i < op->field_count; i++) {
        Py_XDECREF(op->fields[i].name);
        Py_XDECREF(op->fields[i].choices);
    }
    free(op->fields);
    Py_XDECREF(op->name);
    Py_XDECREF(op->doc);
    Py_XDECREF(op->make);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* Python pickles a C function as an attribute of its __self__, here the op, by the function's name.
 * So the op has this attribute, and is itself pickled by its name. */
static PyObject *op_attribute(PyObject *self, PyObject *name)
{
    const op_object *op = (const op_object *)self;
    PyObject *module, *function;
    if (PyUnicode_Compare(name, op->name) != 0)
        return PyObject_GenericGetAttr(self, name);
    module = PyImport_ImportModule("collet._ops");
    function = module ? PyObject_CallMethod(module, "get", "O", name) : NULL;
    Py_XDECREF(module);
    return function;
}

static PyObject *op_reduce(PyObject *self, PyObject *Py_UNUSED(unused))
{
    PyObject *module = PyImport_ImportModule("collet._ops");
    PyObject *owner = module ? PyObject_GetAttrString(module, "owner") : NULL;
    Py_XDECREF(module);
    return owner ? Py_BuildValue("N(O)", owner, ((op_object *)self)->name) : NULL;
}

int op_check(PyObject *object)
{
    return PyObject_TypeCheck(object, op_type);
}

int op_add_type(PyObject *module)
{
    static PyMethodDef methods[] = {{"__reduce__", op_reduce, METH_NOARGS, NULL},
                                    {NULL, NULL, 0, NULL}};
    PyType_Slot slots[] = {{Py_tp_dealloc, op_dealloc},
                           {Py_tp_getattro, op_attribute},
                           {Py_tp_methods, methods},
                           {Py_tp_doc, "An op: `__self__` of the function that calls it."},
                           {0, NULL}};
    PyType_Spec spec = {.name = "collet._core.Op",
                        .basicsize = sizeof(op_object),
                        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                        .slots = slots};
    op_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return op_type ? PyModule_AddObjectRef(module, "Op", (PyObject *)op_type) : -1;
}

static PyObject *interned(const char *text)
{
    return PyUnicode_InternFromString(text);
}

static int take_fields(op_object *op, const collet_ops_info *info)
{
    op->fields = calloc(info->field_count + 1, sizeof *op->fields);
    if (!op->fields) {
        PyErr_NoMemory();
        return -1;
    }
    op->field_count = info->field_count;
    for (uint32_t i = 0; i < info->field_count; i++) {
        const collet_ops_field *row = field_at(info, i);
        PyObject *words = row->choices ? PyUnicode_FromString(row->choices) : NULL;
        op->fields[i].row = *row;
        op->fields[i].name = interned(row->name);
        op->fields[i].choices = words ? PyUnicode_Split(words, NULL, -1) : NULL;
        Py_XDECREF(words);
        if (!op->fields[i].name || (row->choices && !op->fields[i].choices))
            return -1;
    }
    return 0;
}

static collet_dtype dtype_of(char letter)
{
#define LETTER(NAME, id, bytes, text, letter, ...) [id] = letter,
    static const char letters[COLLET_DTYPE_COUNT] = {COLLET_DTYPE_LIST(LETTER)};
#undef LETTER
    collet_dtype dtype = COLLET_DTYPE_COUNT;
    while (--dtype && letters[dtype] != letter)
        ;
    return dtype;
}

/* Sets `fixed` of the inputs that have the same dtype in all signatures: in "d:Bdd f:Bff" the first
 * input is always bool. */
static void take_fixed(op_object *op, const char *sigs)
{
    size_t length = strlen(sigs);
    uint32_t varied = 0, end = op->n_out + op->n_in;
    for (uint32_t i = op->n_out; i < end; i++) {
        op->operands[i].fixed = i + 1 < length ? dtype_of(sigs[i + 1]) : COLLET_DTYPE_NONE;
        for (size_t at = i + 1; at < length; at += end + 2)
            if (sigs[at] != sigs[i + 1])
                op->operands[i].fixed = COLLET_DTYPE_NONE;
        varied += !op->operands[i].fixed;
    }
    for (uint32_t i = op->n_out; i < end && !varied; i++)
        op->operands[i].fixed = COLLET_DTYPE_NONE;
}

static int take_info(op_object *op, const collet_ops_info *info)
{
    if (info->params_size > OP_PARAMS || info->field_count > OP_FIELDS) {
        error_format(COLLET_UNSUPPORTED,
                     "%s has %u parameters in %u bytes; from Python at most %d in %d can be given",
                     info->name, (unsigned)info->field_count, (unsigned)info->params_size,
                     OP_FIELDS, OP_PARAMS);
        return -1;
    }
    op->id = info->id;
    op->n_out = info->n_out;
    op->n_in = info->n_in;
    op->params_size = info->params_size;
    for (uint32_t i = 0; i < info->n_out + info->n_in; i++) {
        const collet_ops_operand *row = operand_at(info, i);
        op->operands[i].optional = row->optional;
        op->operands[i].name = interned(row->name);
        if (!op->operands[i].name)
            return -1;
        op->operands[i].text = PyUnicode_AsUTF8AndSize(op->operands[i].name, NULL);
    }
    take_fixed(op, info->sigs);
    return take_fields(op, info);
}

int op_refresh(op_object *op)
{
    collet_ops_info info;
    if (op->generation == runtime_generation())
        return 0;
    if (find(op->name, &info))
        return -1;
    if (info.n_out != op->n_out || info.n_in != op->n_in || info.params_size != op->params_size) {
        error_format(COLLET_NOT_FOUND, "%s is another op in the current runtime", info.name);
        return -1;
    }
    op->id = info.id;
    op->generation = runtime_generation();
    return 0;
}

op_object *op_new(PyObject *name, PyObject *doc, PyObject *make)
{
    collet_ops_info info;
    op_object *op = find(name, &info) ? NULL : PyObject_New(op_object, op_type);
    if (!op)
        return NULL;
    memset((char *)op + sizeof op->ob_base, 0, sizeof *op - sizeof op->ob_base);
    op->name = Py_NewRef(name);
    op->doc = Py_NewRef(doc);
    op->make = Py_XNewRef(make);
    op->generation = runtime_generation();
    if (take_info(op, &info))
        Py_CLEAR(op);
    return op;
}
