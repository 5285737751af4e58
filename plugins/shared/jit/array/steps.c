/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/array/array.c, conformance/array/elementwise.c */
#include "steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/jit/language/formulas.h"
#include "shared/jit/runtime/binary_cache.h"
#include "shared/jit/runtime/rows.h"
#include "shared/jit/runtime/source.h"
#include "shared/jit/runtime/staging.h"
#include "shared/jit/texts.h"

/* ---- Functions and types --------------------------------------------------------------------- */

typedef struct step_function {
    const char *name;
    uint32_t inputs;
    uint32_t elementary; /* for floating-point numbers: an elementary function, not a formula */
} step_function;

static const step_function functions[] = {
#define COLLET_ELEMENTWISE(NAME, id, name, inputs, result, kinds, ulp, ...)                        \
    [COLLET_OP_##NAME] = {#name, inputs, (ulp) > 0},
#include <collet/ops/elementwise.def>
    [COLLET_OP_COPY] = {"copy", 1, 0},
};

/* NULL: the op is a reduction. */
static const step_function *function_of(uint32_t op)
{
    return op < sizeof functions / sizeof *functions && functions[op].name ? &functions[op] : NULL;
}

#define TYPE_NAME(NAME, name, ...) [COLLET_##NAME] = #name,
const char *const jit_type_names[COLLET_DTYPE_COUNT] = {
    COLLET_EACH_REAL(TYPE_NAME, 0)[COLLET_C64] = "c64", [COLLET_C128] = "c128"};

static int is_half(collet_dtype dtype)
{
    return dtype == COLLET_F16 || dtype == COLLET_BF16;
}

uint32_t jit_steps_inputs(uint32_t op)
{
    const step_function *function = function_of(op);
    return function ? function->inputs : 0;
}

/* The dtype in which a function of `dtype` is computed. */
static collet_dtype computed(collet_dtype dtype)
{
    return is_half(dtype) ? COLLET_F32 : dtype;
}

/* The type of a value. A program without steps that does not reduce only moves bits, so it also supports types with
 * which the device cannot compute. */
const char *jit_steps_type(const collet_program *p, uint32_t value)
{
    static const char *const moved[17] = {
        [1] = "u8", [2] = "u16", [4] = "u32", [8] = "u64", [16] = "b128"};
    collet_dtype dtype = collet_program_dtype(p, value);
    return p->n_steps || p->reduce ? jit_type_names[dtype] : moved[cpu_dtype_size(dtype)];
}

/* ---- Options --------------------------------------------------------------------------------- */

static uint64_t hash_of(const collet_program *p, uint64_t seed)
{
    const uint32_t numbers[] = {p->n_in, p->n_constants, p->n_steps, p->n_out};
    uint64_t hash = binary_hash(seed, numbers, sizeof numbers);
    hash = binary_hash(hash, p->dtypes, (p->n_in + p->n_constants) * sizeof *p->dtypes);
    hash = binary_hash(hash, p->outs, p->n_out * sizeof *p->outs);
    return binary_hash(hash, p->steps, (size_t)p->n_steps * p->step_size);
}

static int needs_f64(const collet_program *p)
{
    int needs = 0, computes = p->n_steps || p->reduce;
    for (uint32_t i = 0; computes && i < p->n_in + p->n_constants + p->n_steps; i++)
        needs |= part_of(collet_program_dtype(p, i)) == COLLET_F64;
    return needs;
}

void jit_steps_options(char options[STEPS_OPTIONS], const collet_program *p)
{
    const collet_step *last = p->n_steps ? collet_program_step(p, p->n_steps - 1) : NULL;
    snprintf(options, STEPS_OPTIONS, "-DPROGRAM=%s_%s_%016llx%016llx -DVIEW_OPERANDS=%u%s",
             p->n_reductions ? "rows"
             : last          ? functions[last->op].name
                             : "move",
             jit_steps_type(p, p->outs[0]), (unsigned long long)hash_of(p, 1),
             (unsigned long long)hash_of(p, 2), p->n_out + p->n_in,
             needs_f64(p) ? " -DNEEDS_F64=1" : "");
}

int jit_steps_offered(const collet_program *p, const jit_traits *t, char why[STEPS_WHY])
{
    for (uint32_t i = 0; i < p->n_steps; i++) {
        const collet_step *s = collet_program_step(p, i);
        const step_function *function = function_of(s->op);
        if (!function)
            continue;
        collet_dtype dtype = collet_program_dtype(p, s->in[function->inputs - 1]);
        int runs =
            jit_row_runs(t, s->op, COLLET_SIG(s->dtype, dtype, collet_program_dtype(p, s->in[0])));
        if (runs)
            continue;
        snprintf(why, STEPS_WHY, "step %u, %s from %s to %s, is not supported", i, function->name,
                 jit_type_names[dtype], jit_type_names[s->dtype]);
        return 0;
    }
    return 1;
}

/* ---- The text of the steps ------------------------------------------------------------------- */

/* Writes a value as an argument of a function, converted to the type of computation. */
static void write_argument(text *t, const collet_program *p, uint32_t value)
{
    collet_dtype dtype = collet_program_dtype(p, value);
    if (is_half(dtype))
        text_add(t, "f32_of_%s(v%u)", jit_type_names[dtype], value);
    else
        text_add(t, "v%u", value);
}

static void write_copy(text *t, const collet_program *p, const collet_step *s)
{
    collet_dtype from = collet_program_dtype(p, s->in[0]), to = s->dtype;
    const char *part = jit_type_names[part_of(to)];
    uint32_t v = s->in[0];
    if (from == to)
        text_add(t, "v%u", v);
    else if (to == COLLET_BOOL && part_of(from) != from)
        text_add(t, "(b8)(RE(v%u) != 0 || IM(v%u) != 0)", v, v);
    else if (part_of(to) == to)
        text_add(t, "CONVERT(%s, %s, v%u)", jit_type_names[to], jit_type_names[from], v);
    else if (part_of(from) != from)
        text_add(t, "parts_%s((%s)RE(v%u), (%s)IM(v%u))", jit_type_names[to], part, v, part, v);
    else
        text_add(t, "parts_%s(CONVERT(%s, %s, v%u), (%s)0)", jit_type_names[to], part,
                 jit_type_names[from], v, part);
}

void jit_steps_write(text *t, const collet_program *p, const collet_step *s)
{
    const step_function *function = &functions[s->op];
    int rounds = is_half(s->dtype);
    /* The first input of `where` is a bool. */
    collet_dtype dtype = computed(collet_program_dtype(p, s->in[function->inputs - 1]));
    if (s->op == COLLET_OP_COPY) {
        write_copy(t, p, s);
        return;
    }
    text_add(t, "%s%s%s_%s(", rounds ? jit_type_names[s->dtype] : "", rounds ? "_of_f32(" : "",
             function->name, jit_type_names[dtype]);
    for (uint32_t i = 0; i < function->inputs; i++) {
        text_add(t, "%s", i ? ", " : "");
        write_argument(t, p, s->in[i]);
    }
    text_add(t, "%s", rounds ? "))" : ")");
}

static uint32_t words_of(collet_dtype dtype)
{
    return (uint32_t)(cpu_dtype_size(dtype) + 3) / 4;
}

static uint32_t count_words(const collet_program *p)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->n_constants; i++)
        count += words_of(p->dtypes[p->n_in + i]);
    return count;
}

/* The number of elements in a chunk. A chunk has 16 bytes of the widest dtype. A long program has chunks of at most 4
 * elements, because the compiler gets the program's steps once for each element. */
uint32_t jit_steps_chunk(const collet_program *p)
{
    uint32_t largest = 1, is_long = p->n_steps > 8;
    for (uint32_t i = 0; i < p->n_in + p->n_constants + p->n_steps; i++) {
        uint32_t size = (uint32_t)cpu_dtype_size(collet_program_dtype(p, i));
        largest = size > largest ? size : largest;
    }
    for (uint32_t i = 0; i < p->n_steps; i++)
        is_long |= functions[collet_program_step(p, i)->op].elementary;
    return is_long && largest < 4 ? 4 : 16 / largest;
}

/* The number of outputs among the parameters. A reduction declares its output elsewhere. */
static uint32_t outputs_of(const collet_program *p)
{
    return p->reduce ? 0 : p->n_out;
}

/* Writes the parameters of operands: pointers and indices, outputs first. */
static void write_parameters(text *t, const collet_program *p, const char *index)
{
    uint32_t outputs = outputs_of(p);
    for (uint32_t i = 0; i < outputs; i++)
        text_add(t, "%sGLOBAL %s *o%u, i64 o%u%s", i ? ", " : "", jit_steps_type(p, p->outs[i]), i,
                 i, index);
    for (uint32_t i = 0; i < p->n_in; i++)
        text_add(t, "%sGLOBAL const %s *i%u, i64 i%u%s", outputs + i ? ", " : "",
                 jit_steps_type(p, i), i, i, index);
}

void jit_steps_constants(text *t, const collet_program *p, const char *words)
{
    uint32_t word = 0;
    for (uint32_t i = p->n_in; i < p->n_in + p->n_constants; word += words_of(p->dtypes[i++])) {
        const char *type = jit_steps_type(p, i);
        text_add(t, "    %s v%u = constant_%s(%s + %u);\n", type, i, type, words, word);
    }
}

const char *jit_steps_words(const collet_program *p)
{
    return count_words(p) > STEPS_INLINE ? "k + k_first" : "k.words";
}

/* Writes the function `element`, which stores the outputs of one element or, for a reduction, returns the value. */
static void write_function(text *t, const collet_program *p)
{
    uint32_t given = p->n_in + p->n_constants;
    const char *result = jit_type_names[computed(collet_program_dtype(p, p->outs[0]))];
    text_add(t, "INLINE %s element(", p->reduce ? result : "void");
    write_parameters(t, p, "_at");
    text_add(t, "%s%s)\n{\n",
             count_words(p) > STEPS_INLINE ? ", GLOBAL"
             : p->n_constants              ? ","
                                           : "",
             p->n_constants ? " const u32 *words" : "");
    for (uint32_t i = 0; i < p->n_in; i++)
        text_add(t, "    %s v%u = i%u[i%u_at];\n", jit_steps_type(p, i), i, i, i);
    jit_steps_constants(t, p, "words");
    for (uint32_t i = 0; i < p->n_steps; i++) {
        text_add(t, "    %s v%u = ", jit_steps_type(p, given + i), given + i);
        jit_steps_write(t, p, collet_program_step(p, i));
        text_add(t, ";\n");
    }
    for (uint32_t i = 0; i < outputs_of(p); i++)
        text_add(t, "    o%u[o%u_at] = v%u;\n", i, i, p->outs[i]);
    if (p->reduce) {
        text_add(t, "    return ");
        write_argument(t, p, p->outs[0]);
        text_add(t, ";\n");
    }
    text_add(t, "}\n");
}

/* Writes the macros for the parameters of kernels. */
static void write_buffers(text *t, const collet_program *p)
{
    uint32_t word = count_words(p);
    text_add(t, "#define BUFFERS ");
    write_parameters(t, p, "_first");
    if (word > STEPS_INLINE)
        text_add(t, "\n#define CONSTANTS , GLOBAL const u32 *k, i64 k_first\n"
                    "#define CONSTANT_NAMES , k, k_first\n");
    else if (word)
        text_add(t,
                 "\ntypedef struct constants {\n    u32 words[%u];\n} constants;\n"
                 "#define CONSTANTS , constants k\n#define CONSTANT_NAMES , k\n",
                 word);
    else
        text_add(t, "\n#define CONSTANTS\n#define CONSTANT_NAMES\n");
}

/* Writes the arguments of a program's functions after the operands: the constants, if there are any. */
static void pass_constants(text *t, const collet_program *p)
{
    if (p->n_constants)
        text_add(t, ", %s", jit_steps_words(p));
}

/* Writes the function `elements`, which computes chunk `at` of the operands by `element`, and the macros for it. Each
 * address is an index of chunks: NVRTC compiles the assignment of a chunk to a single memory access. */
static void write_chunk(text *t, const collet_program *p)
{
    text_add(t, "#define CHUNK %u\n#if HAVE_CHUNKS && CHUNK > 1\nINLINE void elements(",
             jit_steps_chunk(p));
    write_parameters(t, p, "_first");
    text_add(t, ", i64 at%s)\n{\n", p->n_constants ? ", const u32 *words" : "");
    for (uint32_t i = 0; i < p->n_out; i++)
        text_add(t, "    chunk<%s, CHUNK> to%u;\n", jit_steps_type(p, p->outs[i]), i);
    for (uint32_t i = 0; i < p->n_in; i++)
        text_add(
            t, "    chunk<%s, CHUNK> from%u = ((const chunk<%s, CHUNK> *)(i%u + i%u_first))[at];\n",
            jit_steps_type(p, i), i, jit_steps_type(p, i), i, i);
    text_add(t, "    UNROLL for (i32 place = 0; place < CHUNK; place++)\n        element(");
    for (uint32_t i = 0; i < p->n_out; i++)
        text_add(t, "%sto%u.at, place", i ? ", " : "", i);
    for (uint32_t i = 0; i < p->n_in; i++)
        text_add(t, ", from%u.at, place", i);
    text_add(t, "%s);\n", p->n_constants ? ", words" : "");
    for (uint32_t i = 0; i < p->n_out; i++)
        text_add(t, "    ((chunk<%s, CHUNK> *)(o%u + o%u_first))[at] = to%u;\n",
                 jit_steps_type(p, p->outs[i]), i, i, i);
    text_add(t, "}\n#endif\n#define CHUNKS_ALIGNED IS_ALIGNED(o0 + o0_first)");
    for (uint32_t i = 1; i < p->n_out; i++)
        text_add(t, " && IS_ALIGNED(o%u + o%u_first)", i, i);
    for (uint32_t i = 0; i < p->n_in; i++)
        text_add(t, " && IS_ALIGNED(i%u + i%u_first)", i, i);
    text_add(t, "\n#define EACH_CHUNK(at) elements(");
    for (uint32_t i = 0; i < p->n_out; i++)
        text_add(t, "%so%u, o%u_first", i ? ", " : "", i, i);
    for (uint32_t i = 0; i < p->n_in; i++)
        text_add(t, ", i%u, i%u_first", i, i);
    text_add(t, ", at");
    pass_constants(t, p);
    text_add(t, ")\n");
}

/* Writes the macros with which kernels declare their parameters and pass them on. */
static void write_macros(text *t, const collet_program *p)
{
    uint32_t outputs = outputs_of(p);
    text_add(t, "#define INPUTS %u\n#define BUFFER_NAMES ", p->n_in);
    for (uint32_t i = 0; i < p->n_in; i++)
        text_add(t, "%si%u, i%u_first", i ? ", " : "", i, i);
    text_add(t, "\n#define EACH(AT) element(");
    for (uint32_t i = 0; i < outputs; i++)
        text_add(t, "%so%u, AT(%u, o%u_first)", i ? ", " : "", i, i, i);
    for (uint32_t i = 0; i < p->n_in; i++)
        text_add(t, "%si%u, AT(%u, i%u_first)", outputs + i ? ", " : "", i, outputs + i, i);
    pass_constants(t, p);
    text_add(t, ")\n");
    if (!p->reduce)
        write_chunk(t, p);
}

/* ---- The texts of a source ------------------------------------------------------------------- */

typedef struct text_list {
    const char *texts[JIT_TEXTS];
    uint32_t count;
} text_list;

static void add(text_list *l, const char *piece)
{
    l->texts[l->count++] = piece;
}

/* Finds the formulas that the steps need: used[dtype] is 1, or 2 if elementary functions are needed too. */
static void find_used(uint8_t used[COLLET_DTYPE_COUNT], const collet_program *p)
{
    for (uint32_t i = 0; i < p->n_steps; i++) {
        const collet_step *s = collet_program_step(p, i);
        const step_function *function = function_of(s->op);
        if (!function)
            continue;
        collet_dtype dtype = computed(collet_program_dtype(p, s->in[function->inputs - 1]));
        int is_complex = part_of(dtype) != dtype;
        if (s->op == COLLET_OP_COPY)
            continue;
        if ((function->elementary && jit_formulas[dtype].elementary) ||
            (s->op == COLLET_OP_SQRT && is_complex))
            used[dtype] = 2;
        used[dtype] = used[dtype] ? used[dtype] : 1;
        if (part_of(s->dtype) != s->dtype && !used[s->dtype])
            used[s->dtype] = 1;
    }
    /* Complex formulas need the formulas of the parts. */
    if (used[COLLET_C64] > used[COLLET_F32])
        used[COLLET_F32] = used[COLLET_C64];
    if (used[COLLET_C128] > used[COLLET_F64])
        used[COLLET_F64] = used[COLLET_C128];
}

static void add_formulas(text_list *l, const collet_program *p)
{
    uint8_t used[COLLET_DTYPE_COUNT] = {0};
    find_used(used, p);
    if (used[COLLET_F32] > 1 || used[COLLET_F64] > 1)
        add(l, jit_text_language_reduction);
    if (used[COLLET_F32] > 1) {
        add(l, jit_text_formula_functions_f32);
        add(l, jit_text_formula_special_f32);
    }
    if (used[COLLET_F64] > 1) {
        add(l, jit_text_formula_functions_f64);
        add(l, jit_text_formula_special_f64);
    }
    for (uint32_t i = 0; i < p->n_steps; i++)
        if (collet_program_step(p, i)->op == COLLET_OP_COPY) {
            add(l, jit_text_language_convert);
            break;
        }
    for (uint32_t i = 0; i < JIT_FORMULA_COUNT; i++) {
        collet_dtype dtype = jit_formula_order[i];
        if (!used[dtype])
            continue;
        add(l, jit_formulas[dtype].begin);
        add(l, jit_formulas[dtype].text);
        if (used[dtype] > 1)
            add(l, jit_formulas[dtype].elementary);
        add(l, JIT_FORMULA_END);
    }
}

const char **jit_steps_list(const collet_program *p, jit_steps_writer *write,
                            const char *const *before, const char *const *after)
{
    text_list l = {.count = 0};
    text made = {.at = NULL};
    add_formulas(&l, p);
    add(&l, jit_text_array_steps);
    for (; *before; before++)
        add(&l, *before);
    uint32_t place = l.count;
    add(&l, "");
    for (; *after; after++)
        add(&l, *after);
    add(&l, NULL);
    write_buffers(&made, p);
    write(&made, p);
    size_t bytes = l.count * sizeof *l.texts;
    const char **list = malloc(bytes + made.used + 1);
    if (!list)
        return NULL;
    memcpy(list, l.texts, bytes);
    made = (text){.at = (char *)list + bytes, .capacity = made.used + 1};
    list[place] = made.at;
    write_buffers(&made, p);
    write(&made, p);
    return list;
}

static void write_element(text *t, const collet_program *p)
{
    write_function(t, p);
    write_macros(t, p);
}

const char **jit_steps_texts(const void *program)
{
    static const char *const none[] = {NULL}, *const elements[] = {jit_text_array_elementwise, NULL},
                      *const reduction[] = {jit_text_array_reduce_params, jit_text_array_keys,
                                            jit_text_array_members, jit_text_array_accumulate,
                                            jit_text_array_reduce, NULL};
    const collet_program *p = program;
    return jit_steps_list(p, write_element, none, p->reduce ? reduction : elements);
}

uint64_t jit_steps_scratch(const collet_program *p)
{
    uint32_t count = count_words(p);
    return count > STEPS_INLINE ? 4 * count : 0;
}

uint32_t jit_steps_passed(const collet_program *p)
{
    uint32_t count = count_words(p);
    return count > STEPS_INLINE ? 16 : 4 * count;
}

void jit_steps_pass(jit_sequence *s, jit_launch *l, const collet_program *p,
                    const collet_scalar *constants, uint64_t at, uint32_t words[STEPS_WORDS])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->n_constants; i++) {
        collet_dtype dtype = p->dtypes[p->n_in + i];
        words[count + words_of(dtype) - 1] = 0;
        memcpy(&words[count], collet_program_constant(p, constants, i)->value.bytes,
               cpu_dtype_size(dtype));
        count += words_of(dtype);
    }
    if (count <= STEPS_INLINE) {
        if (count)
            jit_pass_block(l, words, 4 * count);
        return;
    }
    jit_pass_buffer(l, s->call->workspace);
    jit_pass_u64(l, at / 4);
    if (s->status != COLLET_OK)
        return;
    s->status = jit_buffer_write(s->device, s->queue, s->call->workspace, at, words, 4 * count,
                                 s->call->err);
    if (s->launched)
        s->status = jit_after_first(s->status);
    s->launched = 1;
}

collet_status jit_steps_fit(collet_device *device, const collet_kernel_call *call, uint64_t bytes)
{
    uint64_t most = jit_traits_of(device)->argument_bytes;
    if (bytes <= most)
        return COLLET_OK;
    return jit_host(device)->fail(call->err, COLLET_REFUSED,
                                  "evaluate: operands and constants are %llu bytes of a kernel's "
                                  "arguments, the device allows %llu",
                                  (unsigned long long)bytes, (unsigned long long)most);
}
