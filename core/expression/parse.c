/* SPDX-License-Identifier: Apache-2.0 */
/* Recursive descent over Python's expressions.
 * Tests: tests/core/test_expression.c, tests/fuzz/fuzz_expression.c */
#include "parse.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op/elementwise.h"
#include "op/program.h"
#include "token.h"
#include "util/numerals.h"
#include "util/text.h"

#define NUMBER_MAX 64 /* characters of a number */

/* Adds the column to an error of the graph. */
static collet_status placed(parser *p, const char *at, collet_status status,
                            const collet_error *why)
{
    return status == COLLET_INVALID || status == COLLET_DTYPE ? token_fail(p, at, "%s", why->text)
           : status == COLLET_OK                              ? COLLET_OK
                                 : collet_fail(p->err, status, "%s", why->text);
}

static collet_status apply(parser *p, const char *at, uint32_t *value, uint32_t op,
                           const uint32_t *in, uint32_t count)
{
    return placed(p, at, graph_apply(p->g, value, op, in, count, &p->why), &p->why);
}

static collet_status add_literal(parser *p, uint32_t *value, literal number)
{
    return placed(p, p->token, graph_literal(p->g, value, &number, &p->why), &p->why);
}

/* ---- Primaries --------------------------------------------------------------------------- */

static collet_status expression(parser *p, uint32_t *value, int lowest);

/* *used: the characters of the number; 0: it is not a number. (sscanf accepts "1e" and "0x1.8" too.) */
static double real_number(const char *digits, int *used)
{
    double x = 0.0;
    locale_t before = numerals_begin();
    if (sscanf(digits, "%lf%n", &x, used) != 1 || !strchr("0123456789.", digits[*used - 1]) ||
        strpbrk(digits, "xX"))
        *used = 0;
    numerals_end(before);
    return x;
}

/* Reads decimal digits; 0: the number has too many bits. */
static int whole_number(const char *digits, literal *out)
{
    literal_integer v = 0;
    for (; *digits >= '0' && *digits <= '9'; digits++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *digits - '0', &v))
            return 0;
    *out = literal_of_integer(v);
    return 1;
}

static collet_status number(parser *p, uint32_t *value)
{
    char digits[NUMBER_MAX + 1];
    int used = (int)strspn(p->token, "0123456789");
    literal made;
    if (p->length > NUMBER_MAX)
        return token_fail(p, p->token, "expected a number of at most %d characters", NUMBER_MAX);
    memcpy(digits, p->token, p->length);
    digits[p->length] = '\0';
    if (strpbrk(digits, ".eEjJ")) {
        double x = real_number(digits, &used);
        int imaginary = used && (digits[used] == 'j' || digits[used] == 'J');
        made = imaginary ? literal_of_complex(0.0, x) : literal_of_real(x);
        used += imaginary;
    } else if (!whole_number(digits, &made)) {
        return token_fail(p, p->token,
                          "expected an integer of at most %d bits; write %s.0 for an f64",
                          LITERAL_BITS, digits);
    }
    if (digits[used])
        return token_expected(p, "a number such as 12, 0.5, 1e-3 or 2j");
    collet_status status = add_literal(p, value, made);
    token_next(p);
    return status;
}

static collet_status unknown_function(parser *p, const char *name, size_t length)
{
    char text[GRAPH_NAME];
    const char *nearest = NULL;
    size_t n = length < sizeof text - 1 ? length : sizeof text - 1;
    memcpy(text, name, n);
    text[n] = '\0';
    for (size_t i = 0; elementwise_at(i); i++)
        text_nearest(text, elementwise_at(i)->name, &nearest);
    return token_fail(p, name, "there is no function '%s'%s%s", text,
                      nearest ? "; the nearest is " : "", nearest ? nearest : "");
}

/* Finds a dtype by libcore's or NumPy's name: f32, float32. */
static collet_dtype dtype_named(const char *name, size_t length)
{
#define DTYPE_NAMES(NAME, id, bytes, text, letter, type, kind, numpy) [id] = {text, numpy},
    static const char *const names[COLLET_DTYPE_COUNT][2] = {COLLET_DTYPE_LIST(DTYPE_NAMES)};
#undef DTYPE_NAMES
    for (collet_dtype d = 1; d < COLLET_DTYPE_COUNT; d++)
        for (int i = 0; i < 2; i++)
            if (strlen(names[d][i]) == length && !memcmp(names[d][i], name, length))
                return d;
    return COLLET_DTYPE_NONE;
}

static collet_status apply_named(parser *p, const char *name, size_t length, uint32_t *value,
                                 const uint32_t *in, uint32_t count)
{
    const elementwise *e = elementwise_named(name, length);
    collet_dtype dtype = dtype_named(name, length);
    if (e)
        return apply(p, name, value, e->op, in, count);
    if (dtype && count == 1)
        return placed(p, name, graph_convert(p->g, value, NODE_CONVERT, *in, 0, dtype, &p->why),
                      &p->why);
    if (dtype)
        return token_fail(p, name, "a conversion to %s takes 1 operand, and there are %u",
                          collet_dtype_name(dtype), count);
    return unknown_function(p, name, length);
}

/* Parses a function's operands, after its name and "(". */
static collet_status call(parser *p, const char *name, size_t length, uint32_t *value)
{
    uint32_t in[3], count = 0;
    collet_status status = COLLET_OK;
    token_next(p);
    if (!token_is(p, ")"))
        for (;;) {
            uint32_t operand;
            status = expression(p, &operand, 0);
            if (status != COLLET_OK)
                return status;
            if (count < 3)
                in[count] = operand;
            count++;
            if (!token_is(p, ","))
                break;
            token_next(p);
        }
    if (!token_is(p, ")"))
        return token_expected(p, "an operator, ',' or ')'");
    token_next(p);
    return apply_named(p, name, length, value, in, count);
}

/* ---- Reductions -------------------------------------------------------------------------- */

typedef struct reduction {
    uint32_t op;
    int32_t axes[COLLET_MAX_DIMS], count, keepdims;
    double correction;
} reduction;

static collet_status axis(parser *p, reduction *r)
{
    char digits[8];
    int negative = token_is(p, "-");
    if (negative)
        token_next(p);
    if (p->kind != TOKEN_NUMBER || p->length >= sizeof digits ||
        strspn(p->token, "0123456789") < p->length)
        return token_expected(p, "the number of an axis");
    if (r->count == COLLET_MAX_DIMS)
        return token_fail(p, p->token, "more than %d axes", COLLET_MAX_DIMS);
    memcpy(digits, p->token, p->length);
    digits[p->length] = '\0';
    r->axes[r->count++] = (negative ? -1 : 1) * atoi(digits);
    token_next(p);
    return COLLET_OK;
}

/* Parses the axes of a reduction: 0, (0,), (0, 1) or None. */
static collet_status axes(parser *p, reduction *r)
{
    if (token_is(p, "None")) {
        token_next(p);
        return COLLET_OK;
    }
    r->count = 0;
    if (!token_is(p, "("))
        return axis(p, r);
    token_next(p);
    while (!token_is(p, ")")) {
        collet_status status = axis(p, r);
        if (status != COLLET_OK)
            return status;
        if (token_is(p, ","))
            token_next(p);
        else if (!token_is(p, ")"))
            return token_expected(p, "',' or ')'");
    }
    token_next(p);
    return COLLET_OK;
}

static collet_status keyword(parser *p, reduction *r)
{
    int used, is_axis = token_is(p, "axis"), keepdims = token_is(p, "keepdims");
    int correction = token_is(p, "correction");
    if (p->kind != TOKEN_NAME || !(is_axis || keepdims || correction))
        return token_expected(p, r->op == COLLET_OP_MIN || r->op == COLLET_OP_MAX
                                     ? "axis= or keepdims=; of two values, minimum(a, b) or "
                                       "maximum(a, b)"
                                     : "axis=, keepdims= or correction=");
    token_next(p);
    if (!token_is(p, "="))
        return token_expected(p, "'='");
    token_next(p);
    if (is_axis)
        return axes(p, r);
    if (keepdims && (token_is(p, "True") || token_is(p, "False"))) {
        r->keepdims = token_is(p, "True");
    } else if (correction && p->kind == TOKEN_NUMBER && p->length < NUMBER_MAX) {
        char digits[NUMBER_MAX];
        memcpy(digits, p->token, p->length);
        digits[p->length] = '\0';
        r->correction = real_number(digits, &used);
        if (!used || digits[used])
            return token_expected(p, "a number");
    } else {
        return token_expected(p, keepdims ? "True or False" : "a number");
    }
    token_next(p);
    return COLLET_OK;
}

/* Parses the operand and the keywords of a reduction, after its name. */
static collet_status reduced(parser *p, uint32_t *value, reduction *r)
{
    token_next(p);
    collet_status status = expression(p, value, 0);
    while (status == COLLET_OK && token_is(p, ",")) {
        token_next(p);
        status = keyword(p, r);
    }
    if (status != COLLET_OK)
        return status;
    if (!token_is(p, ")"))
        return token_expected(p, "an operator, ',' or ')'");
    token_next(p);
    return COLLET_OK;
}

static int is_of_rows(const reduction *r)
{
    return r->count == 1 && r->axes[0] == -1 && r->keepdims;
}

/* Parses a reduction of rows within an expression. */
static collet_status rows(parser *p, const char *name, size_t length, uint32_t *value)
{
    reduction r = {.op = program_reduction(name, length), .count = -1};
    uint32_t in;
    collet_status status = reduced(p, &in, &r);
    if (status != COLLET_OK)
        return status;
    if (is_of_rows(&r))
        return placed(p, name, graph_reduce_rows(p->g, value, r.op, in, r.correction, &p->why),
                      &p->why);
    return token_fail(
        p, name,
        "a reduction within an expression is of rows: write %.*s(..., axis=-1, keepdims=True). "
        "Only a reduction around a whole output has other axes",
        (int)length, name);
}

/* ---- Names ------------------------------------------------------------------------------- */

/* Returns 1 if the name stands for a number. */
static int named_number(const char *name, size_t length, literal *out)
{
    static const struct {
        const char *name;
        double value;
    } numbers[] = {{"pi", 0x1.921fb54442d18p+1}, {"inf", INFINITY}, {"nan", NAN}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (length == strlen(numbers[i].name) && !memcmp(name, numbers[i].name, length)) {
            *out = literal_of_real(numbers[i].value);
            return 1;
        }
    int is_true = length == 4 && !memcmp(name, "True", 4);
    if (!is_true && !(length == 5 && !memcmp(name, "False", 5)))
        return 0;
    *out = literal_of_bool(is_true);
    return 1;
}

static collet_status bound_name(parser *p, const char *name, size_t length, uint32_t *value)
{
    const graph *g = p->g;
    for (const parse_name *n = p->names; n && n->name; n++)
        if (strlen(n->name) == length && !memcmp(n->name, name, length)) {
            *value = n->value;
            return COLLET_OK;
        }
    if (p->names)
        return token_fail(p, name, "the name '%.*s' is unknown here", (int)length, name);
    for (uint32_t i = 0; i < g->input_count; i++)
        if (strlen(g->names[i]) == length && !memcmp(g->names[i], name, length)) {
            *value = g->inputs[i];
            return COLLET_OK;
        }
    return placed(p, name, graph_input(p->g, value, name, length, COLLET_DTYPE_NONE, &p->why),
                  &p->why);
}

/* Whether the token is a keyword of Python that expressions do not support. */
static int is_keyword(const parser *p)
{
    static const char *const words[] = {"and", "or", "not", "if", "else", "in", "is", "lambda"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (token_is(p, words[i]))
            return 1;
    return 0;
}

static collet_status name_or_call(parser *p, uint32_t *value)
{
    const char *name = p->token;
    size_t length = p->length;
    literal made;
    if (is_keyword(p))
        return token_expected(p, "a value, written with the operators & | ~ or where()");
    token_next(p);
    if (token_is(p, "("))
        return program_reduction(name, length) ? rows(p, name, length, value)
                                               : call(p, name, length, value);
    if (named_number(name, length, &made))
        return add_literal(p, value, made);
    return bound_name(p, name, length, value);
}

static collet_status primary(parser *p, uint32_t *value)
{
    if (p->kind == TOKEN_NUMBER)
        return number(p, value);
    if (p->kind == TOKEN_NAME)
        return name_or_call(p, value);
    if (!token_is(p, "("))
        return token_expected(p, "a number, a name or '('");
    token_next(p);
    collet_status status = expression(p, value, 0);
    if (status != COLLET_OK)
        return status;
    if (!token_is(p, ")"))
        return token_expected(p, "an operator or ')'");
    token_next(p);
    return COLLET_OK;
}

/* ---- Operators --------------------------------------------------------------------------- */

/* Parses signs and powers; a power binds more tightly than the sign before it. */
static collet_status signed_power(parser *p, uint32_t *value)
{
    const char *at = p->token;
    uint32_t in[2];
    if (++p->depth > COLLET_EXPRESSION_DEPTH)
        return token_fail(p, at, "more than %d parentheses, signs or powers are nested",
                          COLLET_EXPRESSION_DEPTH);
    collet_status status;
    if (token_is(p, "-") || token_is(p, "+") || token_is(p, "~")) {
        token_next(p);
        status = signed_power(p, in);
        *value = in[0];
        if (status == COLLET_OK && *at != '+')
            status =
                apply(p, at, value, *at == '-' ? COLLET_OP_NEG : COLLET_OP_BITWISE_INVERT, in, 1);
    } else {
        status = primary(p, value);
        if (status == COLLET_OK && token_is(p, "**")) {
            at = p->token;
            token_next(p);
            in[0] = *value;
            status = signed_power(p, &in[1]);
            if (status == COLLET_OK)
                status = apply(p, at, value, COLLET_OP_POW, in, 2);
        }
    }
    p->depth--;
    return status;
}

#define COMPARISON 1

static const struct {
    const char *sign;
    int level;
    uint32_t op;
} operators[] = {
    {"<", COMPARISON, COLLET_OP_LESS},
    {"<=", COMPARISON, COLLET_OP_LESS_EQUAL},
    {">", COMPARISON, COLLET_OP_GREATER},
    {">=", COMPARISON, COLLET_OP_GREATER_EQUAL},
    {"==", COMPARISON, COLLET_OP_EQUAL},
    {"!=", COMPARISON, COLLET_OP_NOT_EQUAL},
    {"|", 2, COLLET_OP_BITWISE_OR},
    {"^", 3, COLLET_OP_BITWISE_XOR},
    {"&", 4, COLLET_OP_BITWISE_AND},
    {"<<", 5, COLLET_OP_BITWISE_LEFT_SHIFT},
    {">>", 5, COLLET_OP_BITWISE_RIGHT_SHIFT},
    {"+", 6, COLLET_OP_ADD},
    {"-", 6, COLLET_OP_SUB},
    {"*", 7, COLLET_OP_MUL},
    {"/", 7, COLLET_OP_DIV},
    {"//", 7, COLLET_OP_FLOOR_DIVIDE},
    {"%", 7, COLLET_OP_REMAINDER},
};

#define OPERATORS (sizeof operators / sizeof *operators)

static size_t operator_here(const parser *p)
{
    size_t k = 0;
    while (k < OPERATORS && !(p->kind == TOKEN_SIGN && token_is(p, operators[k].sign)))
        k++;
    return k;
}

/* Parses operators whose precedence is at least `lowest`. */
static collet_status expression(parser *p, uint32_t *value, int lowest)
{
    collet_status status = signed_power(p, value);
    int compared = 0;
    while (status == COLLET_OK) {
        size_t k = operator_here(p);
        if (k == OPERATORS || operators[k].level < lowest)
            break;
        const char *at = p->token;
        if (operators[k].level == COMPARISON && compared++)
            return token_fail(p, at, "comparisons cannot be chained; write (a < b) & (b < c)");
        uint32_t in[2] = {*value};
        token_next(p);
        status = expression(p, &in[1], operators[k].level + 1);
        if (status == COLLET_OK)
            status = apply(p, at, value, operators[k].op, in, 2);
    }
    return status;
}

/* ---- Outputs ----------------------------------------------------------------------------- */

static int same_reduction(const reduction *a, const reduction *b)
{
    int same = a->op == b->op && a->count == b->count && a->keepdims == b->keepdims &&
               a->correction == b->correction;
    for (int32_t i = 0; same && i < a->count; i++)
        same = a->axes[i] == b->axes[i];
    return same;
}

/* Whether the name begins a reduction that ends with the output. */
static int is_reduced(const parser *p)
{
    parser ahead = *p;
    int depth = 0;
    if (p->kind != TOKEN_NAME || !program_reduction(p->token, p->length))
        return 0;
    token_next(&ahead);
    if (!token_is(&ahead, "("))
        return 0;
    do {
        depth += token_is(&ahead, "(") - token_is(&ahead, ")");
        token_next(&ahead);
    } while (depth && ahead.kind != TOKEN_END && ahead.kind != TOKEN_BAD);
    return ahead.kind == TOKEN_END || ahead.kind == TOKEN_BAD || token_is(&ahead, ";");
}

/* Parses an expression, or a reduction around an expression. */
static collet_status output(parser *p, uint32_t *value, reduction *r)
{
    *r = (reduction){.op = is_reduced(p) ? program_reduction(p->token, p->length) : COLLET_NO_OP,
                     .count = -1};
    if (!r->op)
        return expression(p, value, 0);
    token_next(p);
    return reduced(p, value, r);
}

/* An output, before the graph has it. */
typedef struct parsed_output {
    const char *at;
    uint32_t value;
    reduction r;
} parsed_output;

/* If all outputs have the same reduction, it is the expression's. Else a reduction of rows is a step. */
static collet_status add_outputs(parser *p, const parsed_output *outs, uint32_t count)
{
    const reduction *first = &outs->r;
    uint32_t alike = 1;
    while (alike < count && same_reduction(first, &outs[alike].r))
        alike++;
    int same = alike == count;
    for (uint32_t k = 0; k < count; k++) {
        const parsed_output *out = &outs[k];
        uint32_t value = out->value;
        collet_status status = COLLET_OK;
        if (!same && out->r.op && !is_of_rows(&out->r))
            return token_fail(p, outs[alike].at,
                              "all outputs must have the same reduction, or none");
        if (!same && out->r.op)
            status =
                graph_reduce_rows(p->g, &value, out->r.op, out->value, out->r.correction, &p->why);
        if (status == COLLET_OK)
            status = graph_output(p->g, value, &p->why);
        if (status != COLLET_OK)
            return placed(p, out->at, status, &p->why);
    }
    if (!same || !first->op)
        return COLLET_OK;
    return placed(p, p->text,
                  graph_reduce(p->g, first->op, first->count < 0 ? NULL : first->axes, first->count,
                               first->keepdims, first->correction, &p->why),
                  &p->why);
}

static collet_status outputs(parser *p)
{
    parsed_output outs[COLLET_EXPRESSION_OUTPUTS];
    uint32_t count = 0;
    for (;;) {
        if (count == COLLET_EXPRESSION_OUTPUTS)
            return token_fail(p, p->token, "more than %d outputs", COLLET_EXPRESSION_OUTPUTS);
        parsed_output *out = &outs[count++];
        out->at = p->token;
        collet_status status = output(p, &out->value, &out->r);
        if (status != COLLET_OK)
            return status;
        if (p->kind == TOKEN_END)
            return add_outputs(p, outs, count);
        if (!token_is(p, ";"))
            return token_expected(p, is_keyword(p)
                                         ? "an operator, such as & | ~, or the function where()"
                                         : "an operator, ';' or the end");
        token_next(p);
    }
}

collet_status parse_text(graph *g, const char *text, collet_error *err)
{
    collet_error why;
    parser p = {.g = g, .text = text, .at = text, .err = err ? err : &why};
    if (!text)
        return collet_fail(err, COLLET_INVALID, "the text is NULL");
    if (strnlen(text, COLLET_EXPRESSION_TEXT + 1) > COLLET_EXPRESSION_TEXT)
        return collet_fail(err, COLLET_INVALID, "the text has more than %d bytes",
                           COLLET_EXPRESSION_TEXT);
    token_next(&p);
    return outputs(&p);
}

collet_status parse_values(graph *g, uint32_t *values, uint32_t count, const char *text,
                           const parse_name *names, collet_error *err)
{
    collet_error why;
    parser p = {.g = g, .text = text, .at = text, .names = names, .err = err ? err : &why};
    collet_status status = COLLET_OK;
    for (uint32_t i = 0; i < count && status == COLLET_OK; i++) {
        token_next(&p);
        status = expression(&p, &values[i], 0);
        if (status == COLLET_OK && !(i + 1 < count ? token_is(&p, ";") : p.kind == TOKEN_END))
            status = token_expected(&p, i + 1 < count ? "';'" : "the end");
    }
    return status;
}
