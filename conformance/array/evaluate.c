/* SPDX-License-Identifier: Apache-2.0 */
/* array: evaluate. Each row has a program of exact functions, chosen at random by the row's signature,
 * whose steps are computed element by element, or row by row if some of them reduce rows.
 * Tests: tests/conformance/test_broken.c */
#include "array.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "truth.h"

/* Programs have 2 constants, or more than a device takes as arguments of a kernel. */
enum { STEPS = 60, CONSTANTS = 36, CHOSEN = 9, CHOSEN_PER_STAGE = 3 };
enum { VALUES = KIT_OPERANDS + CONSTANTS + STEPS };

/* ---- Rows ------------------------------------------------------------------------------------ */

/* `value`: the dtype that is reduced. `first`, `second`: ops of steps that reduce rows; the second output has the
 * result of the second. */
static const struct {
    const char *sig;
    uint32_t reduce;
    char value;
    uint32_t first, second;
} rows[] = {
    {"f:ff", 0, 0, 0, 0},
    {"d:df", 0, 0, 0, 0},
    {"h:hbf", 0, 0, 0, 0},
    {"b:bA", 0, 0, 0, 0},
    {"B:fdB", 0, 0, 0, 0},
    {"l:liA", 0, 0, 0, 0},
    {"I:IsS", 0, 0, 0, 0},
    {"L:Lla", 0, 0, 0, 0},
    {"c:cf", 0, 0, 0, 0},
    {"z:zcd", 0, 0, 0, 0},
    {"fB:dlf", 0, 0, 0, 0},
    {"dicl:fdiclABS", 0, 0, 0, 0},
    {"f:fff", COLLET_OP_MAX, 'f', 0, 0},
    {"l:iA", COLLET_OP_SUM, 'i', 0, 0},
    {"l:df", COLLET_OP_COUNT_NONZERO, 'f', 0, 0},
    {"B:zd", COLLET_OP_ANY, 'd', 0, 0},
    {"d:dd", COLLET_OP_SUM, 'd', 0, 0},
    {"fl:fff", 0, 0, COLLET_OP_MAX, COLLET_OP_COUNT_NONZERO},
    {"dB:dif", 0, 0, COLLET_OP_ANY, COLLET_OP_ALL},
    {"li:lA", 0, 0, COLLET_OP_SUM, COLLET_OP_MIN},
    {"hb:bhS", 0, 0, COLLET_OP_MIN, COLLET_OP_MAX},
    {"fz:zf", 0, 0, COLLET_OP_COUNT_NONZERO, COLLET_OP_MAX},
};

enum { ROWS = sizeof rows / sizeof *rows };

#define LETTER(name, id, size, text, letter, ...) [id] = letter,
static const char letters[COLLET_DTYPE_COUNT] = {COLLET_DTYPE_LIST(LETTER)};
#undef LETTER

static collet_dtype dtype_of(char letter)
{
    collet_dtype d = 1;
    while (letters[d] != letter)
        d++;
    return d;
}

bool kit_evaluate_row(size_t index, collet_dtype dtypes[KIT_OPERANDS])
{
    if (index >= ROWS)
        return false;
    memset(dtypes, 0, KIT_OPERANDS * sizeof *dtypes);
    uint32_t at = 0;
    for (const char *s = rows[index].sig; *s; s++)
        if (*s == ':')
            at = COLLET_PROGRAM_OUTPUTS;
        else
            dtypes[at++] = dtype_of(*s);
    return true;
}

/* ---- Programs -------------------------------------------------------------------------------- */

typedef struct kit_program {
    collet_program program;
    collet_scalar constants[CONSTANTS];
    collet_step steps[STEPS];
    uint16_t outs[COLLET_PROGRAM_OUTPUTS];
    uint32_t inputs[STEPS];
    collet_dtype value[VALUES]; /* the dtype of every value */
    bool full[VALUES];          /* whether it has the inputs' shape */
} kit_program;

typedef enum result_kind { SAME, BOOL, REAL, COMPLEX, SELECT } result_kind;

typedef struct function {
    uint32_t op, inputs;
    result_kind result;
    const char *kinds;
} function;

/* Whether programs may use the function. The function must be exact, and its result may not depend on the sign of a
 * NaN. */
static bool is_chosen(const function *f, double ulp)
{
    return ulp == 0 && f->op != COLLET_OP_SIGNBIT && f->op != COLLET_OP_COPYSIGN;
}

static bool choose_function(kit_rng *rng, function *f)
{
    static const struct {
        function f;
        double ulp;
    } functions[] = {
#define COLLET_ELEMENTWISE(NAME, id, name, inputs, result, kinds, ulp, ...)                        \
    {{COLLET_OP_##NAME, inputs, result, #kinds}, ulp},
#include <collet/ops/elementwise.def>
    };
    size_t i = (size_t)kit_below(rng, sizeof functions / sizeof *functions);
    *f = functions[i].f;
    return is_chosen(f, functions[i].ulp);
}

/* Whether the function takes the dtype and is exact for it: complex quotients, magnitudes and roots
 * are not exact. */
static bool takes(const function *f, collet_dtype d)
{
    static const uint32_t limited[] = {COLLET_OP_DIV, COLLET_OP_RECIPROCAL, COLLET_OP_ABS,
                                       COLLET_OP_SIGN, COLLET_OP_SQRT};
    char kind = kit_part(d) != d                     ? 'C'
                : d == COLLET_BOOL                   ? 'B'
                : !kit_is_real_float(d)              ? 'I'
                : d == COLLET_F32 || d == COLLET_F64 ? 'W'
                                                     : 'F';
    for (size_t i = 0; i < sizeof limited / sizeof *limited; i++)
        if (kind == 'C' && f->op == limited[i])
            return false;
    return strchr(f->kinds, kind) || (kind == 'W' && strchr(f->kinds, 'F'));
}

static uint32_t values_of(const kit_program *p)
{
    return p->program.n_in + p->program.n_constants + p->program.n_steps;
}

static uint16_t add_step(kit_program *p, uint32_t op, collet_dtype dtype, const uint16_t in[3],
                         uint32_t inputs)
{
    uint16_t value = (uint16_t)values_of(p);
    p->inputs[p->program.n_steps] = inputs;
    p->steps[p->program.n_steps++] =
        (collet_step){.op = op, .dtype = dtype, .in = {in[0], in[1], in[2]}};
    p->value[value] = dtype;
    for (uint32_t k = 0; k < inputs; k++)
        p->full[value] |= p->full[in[k]];
    return value;
}

/* Converts a value. If the dtype is real, a complex value is replaced by its real part first. */
static uint16_t converted(kit_program *p, uint16_t value, collet_dtype dtype)
{
    collet_dtype part = kit_part(p->value[value]);
    if (p->value[value] == dtype)
        return value;
    if (part != p->value[value] && kit_part(dtype) == dtype && dtype != COLLET_BOOL)
        value = add_step(p, COLLET_OP_REAL, part, (const uint16_t[3]){value}, 1);
    return p->value[value] == dtype
               ? value
               : add_step(p, COLLET_OP_COPY, dtype, (const uint16_t[3]){value}, 1);
}

static collet_dtype result_of(const function *f, collet_dtype d)
{
    switch (f->result) {
    case BOOL:
        return COLLET_BOOL;
    case REAL:
        return kit_part(d);
    case COMPLEX:
        return d == COLLET_F32 ? COLLET_C64 : COLLET_C128;
    default:
        return d;
    }
}

/* Adds a function of earlier values, mostly of the latest values, converted to the dtype of one of these. */
static void add_function(kit_program *p, kit_rng *rng)
{
    function f;
    uint16_t in[3] = {0};
    collet_dtype d;
    do {
        uint32_t count = values_of(p), recent = count < 4 ? count : 4;
        for (int k = 0; k < 3; k++)
            in[k] = (uint16_t)(kit_next(rng) & 1 ? kit_below(rng, count)
                                                 : count - 1 - (uint32_t)kit_below(rng, recent));
        if (kit_below(rng, 4)) /* few results are unused */
            in[0] = (uint16_t)(count - 1);
        d = p->value[in[0]];
    } while (!choose_function(rng, &f) || !takes(&f, d));
    for (uint32_t k = 0; k < 3; k++)
        in[k] = k >= f.inputs ? 0 : converted(p, in[k], f.result == SELECT && !k ? COLLET_BOOL : d);
    add_step(p, f.op, result_of(&f, d), in, f.inputs);
}

/* The last value of the inputs' shape, as a step. */
static uint16_t last_full(kit_program *p)
{
    uint16_t value = (uint16_t)(values_of(p) - 1);
    while (!p->full[value])
        value--;
    return value < p->program.n_in
               ? add_step(p, COLLET_OP_COPY, p->value[value], (const uint16_t[3]){value}, 1)
               : value;
}

static uint16_t add_reduction(kit_program *p, uint32_t op)
{
    uint16_t of = last_full(p);
    collet_dtype d = p->value[of], part = kit_part(d);
    if (op == COLLET_OP_SUM)
        d = COLLET_I64;
    else if (op == COLLET_OP_MIN || op == COLLET_OP_MAX)
        d = part == COLLET_BOOL ? COLLET_U8 : part;
    of = op == COLLET_OP_SUM || op == COLLET_OP_MIN || op == COLLET_OP_MAX ? converted(p, of, d)
                                                                           : of;
    collet_dtype to = op == COLLET_OP_COUNT_NONZERO                ? COLLET_I64
                      : op == COLLET_OP_ANY || op == COLLET_OP_ALL ? COLLET_BOOL
                                                                   : d;
    uint16_t value = add_step(p, op, to, (const uint16_t[3]){of}, 1);
    p->full[value] = false;
    p->program.n_reductions++;
    return value;
}

/* Adds functions, a reduction, functions that may use it, a second reduction and more functions. */
static void add_stages(kit_program *p, size_t index, kit_rng *rng, const collet_dtype *dtypes)
{
    uint16_t result = 0;
    for (int stage = 0; stage < 3; stage++) {
        if (stage) { /* rows depend on the result */
            collet_dtype d = dtypes[0];
            const uint16_t in[3] = {converted(p, last_full(p), d), converted(p, result, d)};
            add_step(p, COLLET_OP_ADD, d, in, 2);
        }
        for (int i = 0; i < CHOSEN_PER_STAGE; i++)
            add_function(p, rng);
        if (stage < 2)
            result = add_reduction(p, stage ? rows[index].second : rows[index].first);
    }
    p->outs[p->program.n_out++] = converted(p, last_full(p), dtypes[0]);
    p->outs[p->program.n_out++] = converted(p, result, dtypes[1]);
}

static void build(kit_program *p, size_t index)
{
    kit_rng rng = {.state = index + 1};
    collet_dtype dtypes[KIT_OPERANDS];
    kit_evaluate_row(index, dtypes);
    p->program = (collet_program){.struct_size = sizeof p->program,
                                  .n_constants = index % 4 ? 2 : CONSTANTS,
                                  .reduce = rows[index].reduce,
                                  .step_size = sizeof *p->steps,
                                  .constant_size = sizeof *p->constants,
                                  .hash = index + 1,
                                  .dtypes = p->value,
                                  .steps = p->steps,
                                  .outs = p->outs};
    for (uint32_t k = COLLET_PROGRAM_OUTPUTS; k < KIT_OPERANDS && dtypes[k]; k++) {
        p->full[p->program.n_in] = true;
        p->value[p->program.n_in++] = dtypes[k];
    }
    for (uint32_t i = 0; i < p->program.n_constants; i++) {
        collet_dtype d = p->value[i % p->program.n_in];
        kit_tensor number = {.dtype = d, .count = 1, .data = p->constants[i].value.bytes};
        p->constants[i] = kit_edge_scalar(d, (int64_t)i);
        for (int64_t part = 0; part < kit_parts(&number) && i > 1; part++)
            kit_set(&number, part, i + part);
        p->value[p->program.n_in + i] = d;
    }
    if (rows[index].first) {
        add_stages(p, index, &rng, dtypes);
        return;
    }
    for (int i = 0; i < CHOSEN; i++)
        add_function(p, &rng);
    uint16_t last = (uint16_t)(values_of(p) - 1);
    if (p->program.n_constants == CONSTANTS) { /* the result uses one of the last constants */
        uint32_t at = p->program.n_in + (CONSTANTS - 1) / p->program.n_in * p->program.n_in;
        const uint16_t in[3] = {converted(p, last, p->value[0]), (uint16_t)at};
        last = add_step(p, COLLET_OP_ADD, p->value[0], in, 2);
    }
    for (uint32_t k = 0; k < COLLET_PROGRAM_OUTPUTS && dtypes[k]; k++) {
        collet_dtype d = rows[index].value ? dtype_of(rows[index].value) : dtypes[k];
        p->outs[p->program.n_out++] = converted(p, (uint16_t)(last - k), d);
    }
}

/* Cases point to their programs, so the programs are never freed; they are the same in every run. */
static kit_program programs[ROWS];

static void build_programs(void)
{
    for (size_t i = 0; i < ROWS; i++)
        build(&programs[i], i);
}

static const kit_program *program_of(const kit_row *row)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, build_programs);
    size_t i = 0;
    while (strcmp(rows[i].sig, row->sig))
        i++;
    return &programs[i];
}

/* ---- Cases ----------------------------------------------------------------------------------- */

/* All inputs have the shape. With `broadcast`, every second input has extent 1 on the first axis.
 * A reduction is over `axes`. */
static kit_case of_shape(const kit_plan *plan, const kit_program *p, int32_t ndim,
                         const int64_t *shape, bool broadcast, uint32_t axes)
{
    kit_case c = kit_case_of(plan);
    int64_t left[COLLET_MAX_DIMS], ones[COLLET_MAX_DIMS], one_per_row[COLLET_MAX_DIMS];
    int32_t count = 0;
    axes = p->program.reduce ? axes : 0;
    for (int32_t i = 0; i < ndim; i++) {
        ones[i] = i ? shape[i] : 1;
        one_per_row[i] = i < ndim - 1 ? shape[i] : 1;
        if (!(axes >> i & 1))
            left[count++] = shape[i];
    }
    for (uint32_t k = 0; k < plan->row->operands; k++)
        if (!c.operand[k].dtype)
            kit_absent(&c, k);
        else if (k < plan->row->info.n_out)
            kit_shape(&c, k, count, k && p->program.n_reductions ? one_per_row : left);
        else
            kit_shape(&c, k, ndim, broadcast && (k - plan->row->info.n_out) % 2 ? ones : shape);
    c.params.evaluate = (collet_evaluate_params){.struct_size = sizeof c.params.evaluate,
                                                 .axes = axes,
                                                 .program = &p->program,
                                                 .constants = p->constants};
    return c;
}

static void plan_evaluate(kit_plan *plan)
{
    static const struct {
        int32_t ndim;
        int64_t shape[3];
        uint32_t axes;
    } shapes[] = {
        {0, {0}, 0},       {1, {1}, 1},         {1, {17}, 1},     {1, {1100}, 1},   {2, {0, 3}, 2},
        {3, {2, 3, 5}, 5}, {3, {4, 300, 3}, 2}, {2, {700, 3}, 2}, {2, {3, 700}, 1},
    };
    const kit_program *p = program_of(plan->row);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int kind = ORDINARY; kind <= EDGES; kind++) {
            kit_case c =
                of_shape(plan, p, shapes[i].ndim, shapes[i].shape, kind % 2, shapes[i].axes);
            bool empty_maximum = p->program.reduce == COLLET_OP_MAX && shapes[i].shape[0] == 0;
            c.kind = kind;
            c.data = kind == ORDINARY  ? ""
                     : kind == SPECIAL ? "special"
                     : kind == BITS    ? "bits"
                                       : "edges";
            bool reduces = p->program.reduce || p->program.n_reductions;
            if ((shapes[i].ndim && empty_maximum) || (!shapes[i].ndim && reduces))
                continue;
            kit_emit(plan, &c);
            for (uint32_t k = 0; k < plan->row->operands; k++)
                c.layout[k] = KIT_MIXED;
            if (shapes[i].ndim)
                kit_emit(plan, &c);
            if (kind == ORDINARY && !reduces)
                kit_emit_sharing(plan, &c);
        }
    int64_t big = (1 << 19) + 3, wide[] = {(1 << 15) + 3, 17};
    kit_case c = p->program.n_reductions ? of_shape(plan, p, 2, wide, false, 0)
                                         : of_shape(plan, p, 1, &big, false, 1);
    c.big = true;
    kit_emit(plan, &c);
}

/* NULL: the op is not a reduction that rows[] has. */
static const char *reduction_name(uint32_t op)
{
    static const struct {
        uint32_t op;
        const char *name;
    } reductions[] = {{COLLET_OP_SUM, "sum"}, {COLLET_OP_MIN, "min"},
                      {COLLET_OP_MAX, "max"}, {COLLET_OP_ANY, "any"},
                      {COLLET_OP_ALL, "all"}, {COLLET_OP_COUNT_NONZERO, "count_nonzero"}};
    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++)
        if (reductions[i].op == op)
            return reductions[i].name;
    return NULL;
}

static const char *name_of(uint32_t op)
{
    switch (op) {
#define COLLET_ELEMENTWISE(NAME, id, name, ...)                                                    \
    case COLLET_OP_##NAME:                                                                         \
        return #name;
#include <collet/ops/elementwise.def>
    case COLLET_OP_COPY:
        return "copy";
    default:
        return reduction_name(op);
    }
}

void kit_evaluate_text(const kit_case *c, char text[KIT_TEXT])
{
    const collet_program *p = c->params.evaluate.program;
    const kit_program *own = (const kit_program *)(const void *)p;
    for (uint32_t i = 0; i < p->n_steps; i++) {
        kit_append(text, "; %u = %s %s", p->n_in + p->n_constants + i,
                   collet_dtype_name(own->steps[i].dtype), name_of(own->steps[i].op));
        for (uint32_t k = 0; k < own->inputs[i]; k++)
            kit_append(text, "%c%u", k ? ',' : '(', own->steps[i].in[k]);
        kit_append(text, ")");
    }
    for (uint32_t k = 0; k < p->n_out; k++)
        kit_append(text, "%s%u", k ? "," : "; outputs ", p->outs[k]);
}

/* ---- The oracle ------------------------------------------------------------------------------ */

static void copy_element(collet_dtype to, unsigned char *out, collet_dtype from, unsigned char *in)
{
    kit_tensor target = {.dtype = to, .count = 1, .data = out};
    const kit_tensor source = {.dtype = from, .count = 1, .data = in};
    if (to == COLLET_BOOL && kit_parts(&source) == 2)
        *out = kit_get(&source, 0) != 0 || kit_get(&source, 1) != 0;
    for (int64_t i = 0; i < kit_parts(&target) && !(to == COLLET_BOOL && kit_parts(&source) == 2);
         i++)
        kit_set(&target, i, i < kit_parts(&source) ? kit_get(&source, i) : 0);
}

/* The element of an input that is broadcast to element i of `full`. */
static int64_t place_in(const kit_tensor *in, const kit_tensor *full, int64_t i)
{
    int64_t at = 0, stride = 1;
    for (int32_t axis = full->ndim - 1; axis >= 0; axis--) {
        int64_t index = i % full->shape[axis];
        i /= full->shape[axis];
        at += in->shape[axis] == 1 ? 0 : index * stride;
        stride *= in->shape[axis];
    }
    return at;
}

/* Sets the values of the inputs and constants for one element. */
static void load(const kit_case *c, int64_t element, unsigned char (*values)[16])
{
    const collet_program *p = c->params.evaluate.program;
    for (uint32_t k = 0; k < p->n_in; k++) {
        const kit_tensor *in = kit_in(c, k);
        size_t size = collet_dtype_size(in->dtype);
        memcpy(values[k], in->data + size * (size_t)place_in(in, kit_in(c, 0), element), size);
    }
    for (uint32_t k = 0; k < p->n_constants; k++)
        memcpy(values[p->n_in + k], c->params.evaluate.constants[k].value.bytes, 16);
}

/* Computes an elementwise step for one element. */
static void run_step(const collet_program *p, uint32_t i, unsigned char (*values)[16])
{
    const kit_program *own = (const kit_program *)(const void *)p;
    const collet_step *s = collet_program_step(p, i);
    uint32_t value = p->n_in + p->n_constants + i;
    char *at[4] = {(char *)values[value]};
    collet_dtype from = own->value[s->in[own->inputs[i] - 1]];
    for (uint32_t k = 0; k < 3; k++)
        at[k + 1] = (char *)values[s->in[k]];
    if (s->op == COLLET_OP_COPY)
        copy_element(s->dtype, values[value], from, values[s->in[0]]);
    else
        truth_exact(s->op, from, at);
}

/* Computes all values of the program for one element. */
static void run(const kit_case *c, int64_t element, unsigned char (*values)[16])
{
    const collet_program *p = c->params.evaluate.program;
    load(c, element, values);
    for (uint32_t i = 0; i < p->n_steps; i++)
        run_step(p, i, values);
}

/* Compares element i of output k. */
static void judge_element(const kit_case *c, kit_verdict *v, uint32_t k, int64_t i,
                          unsigned char (*values)[16])
{
    const collet_program *p = c->params.evaluate.program;
    const kit_tensor *out = &c->operand[k];
    int64_t parts = kit_parts(out) / out->count;
    for (int64_t part = 0; part < parts; part++)
        kit_same(c, v, k, i * parts + part,
                 values[p->outs[k]] + part * (int64_t)collet_dtype_size(kit_part(out->dtype)),
                 false);
}

static void judge_elements(const kit_case *c, kit_verdict *v)
{
    unsigned char values[VALUES][16];
    for (int64_t i = 0; i < c->operand[0].count; i++) {
        run(c, i, values);
        for (uint32_t k = 0; k < c->params.evaluate.program->n_out; k++)
            judge_element(c, v, k, i, values);
    }
}

/* ---- Steps that reduce rows ------------------------------------------------------------------ */

/* The larger of two numbers, with -0 < 0; a NaN if one of them is a NaN. */
static long double larger(long double a, long double b)
{
    if (isnan(a) || isnan(b))
        return NAN;
    return a == b ? (signbit(a) ? b : a) : a > b ? a : b;
}

/* Computes a step that reduces the row; all elements of the row get the result. */
static void run_reduction(const collet_program *p, uint32_t i, int64_t length,
                          unsigned char (*row)[VALUES][16])
{
    const kit_program *own = (const kit_program *)(const void *)p;
    const collet_step *s = collet_program_step(p, i);
    uint32_t value = p->n_in + p->n_constants + i;
    collet_dtype from = own->value[s->in[0]];
    long double most = -(long double)INFINITY, least = -(long double)INFINITY;
    int64_t nonzero = 0;
    uint64_t sum = 0;
    for (int64_t e = 0; e < length; e++) {
        const kit_tensor of = {.dtype = from, .count = 1, .data = row[e][s->in[0]]};
        int64_t integer;
        int is_zero = 1;
        for (int64_t part = 0; part < kit_parts(&of); part++)
            is_zero = is_zero && kit_get(&of, part) == 0;
        nonzero += !is_zero;
        most = larger(most, kit_get(&of, 0));
        least = larger(least, -kit_get(&of, 0));
        memcpy(&integer, of.data, sizeof integer);
        sum += (uint64_t)integer;
    }
    for (int64_t e = 0; e < length; e++)
        switch (s->op) {
        case COLLET_OP_SUM:
            memcpy(row[e][value], &sum, sizeof sum);
            break;
        case COLLET_OP_MAX:
            kit_convert(s->dtype, most, row[e][value]);
            break;
        case COLLET_OP_MIN:
            kit_convert(s->dtype, -least, row[e][value]);
            break;
        case COLLET_OP_COUNT_NONZERO:
            kit_convert(s->dtype, (long double)nonzero, row[e][value]);
            break;
        default:
            row[e][value][0] = s->op == COLLET_OP_ANY ? nonzero > 0 : nonzero == length;
        }
}

static void judge_rows(const kit_case *c, kit_verdict *v)
{
    const collet_program *p = c->params.evaluate.program;
    const kit_tensor *full = &c->operand[0];
    int64_t length = full->shape[full->ndim - 1];
    unsigned char(*row)[VALUES][16] = kit_memory((size_t)length * sizeof *row + 1);
    for (int64_t first = 0; first < full->count; first += length) {
        for (int64_t e = 0; e < length; e++)
            load(c, first + e, row[e]);
        for (uint32_t i = 0; i < p->n_steps; i++) {
            if (reduction_name(collet_program_step(p, i)->op))
                run_reduction(p, i, length, row);
            else
                for (int64_t e = 0; e < length; e++)
                    run_step(p, i, row[e]);
        }
        for (int64_t e = 0; e < length; e++)
            judge_element(c, v, 0, first + e, row[e]);
        judge_element(c, v, 1, first / length, row[0]);
    }
    free(row);
}

/* ---- Programs that reduce their outputs ------------------------------------------------------ */

/* The totals of a reduction over the elements so far. */
typedef struct total {
    long double sum, magnitude, most;
    int64_t nonzero;
} total;

static void take_element(total *t, long double x)
{
    t->sum += x;
    t->magnitude += fabsl(x);
    t->most = isnan(t->most) || x < t->most ? t->most : x;
    t->nonzero += x != 0;
}

static void judge_total(const kit_case *c, kit_verdict *v, int64_t i, const total *t)
{
    const kit_tensor *out = &c->operand[0];
    uint32_t reduce = c->params.evaluate.program->reduce;
    unsigned char ideal[16];
    if (reduce == COLLET_OP_SUM && kit_is_real_float(out->dtype)) {
        if (t->magnitude >= 0x1p1023L && isfinite(t->magnitude))
            return; /* a partial sum may overflow */
        kit_near(c, v, 0, i, t->sum, t->magnitude,
                 kit_limit_find(COLLET_OP_SUM, out->dtype, "value"));
        return;
    }
    kit_convert(out->dtype,
                reduce == COLLET_OP_SUM   ? t->sum
                : reduce == COLLET_OP_MAX ? t->most
                                          : (long double)t->nonzero,
                ideal);
    kit_same(c, v, 0, i, ideal, false);
}

/* The element of the output to which element i of `full` is reduced. */
static int64_t place_of(const kit_tensor *full, uint32_t axes, int64_t i)
{
    int64_t at = 0, stride = 1;
    for (int32_t axis = full->ndim - 1; axis >= 0; axis--) {
        int64_t index = i % full->shape[axis];
        i /= full->shape[axis];
        if (axes >> axis & 1)
            continue;
        at += index * stride;
        stride *= full->shape[axis];
    }
    return at;
}

static void judge_reduced(const kit_case *c, kit_verdict *v)
{
    unsigned char values[VALUES][16];
    const collet_program *p = c->params.evaluate.program;
    const kit_program *own = (const kit_program *)(const void *)p;
    const kit_tensor *full = kit_in(c, 0);
    total *totals = kit_memory((size_t)c->operand[0].count * sizeof *totals + 1);
    for (int64_t i = 0; i < c->operand[0].count; i++)
        totals[i] = (total){.most = -(long double)INFINITY};
    for (int64_t i = 0; i < full->count; i++) {
        run(c, i, values);
        take_element(&totals[place_of(full, c->params.evaluate.axes, i)],
                     kit_value(own->value[p->outs[0]], values[p->outs[0]]));
    }
    for (int64_t i = 0; i < c->operand[0].count; i++)
        judge_total(c, v, i, &totals[i]);
    free(totals);
}

static void judge_evaluate(const kit_case *c, kit_verdict *v)
{
    if (c->params.evaluate.program->n_reductions)
        judge_rows(c, v);
    else if (c->params.evaluate.program->reduce)
        judge_reduced(c, v);
    else
        judge_elements(c, v);
}

const kit_op kit_array_evaluate_ops[] = {
    {COLLET_OP_EVALUATE, plan_evaluate, kit_generate_any, judge_evaluate},
    {0},
};
