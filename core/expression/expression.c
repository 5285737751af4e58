/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_expression.c */
#include "expression.h"

#include <stdlib.h>
#include <string.h>

#include <collet/floating.h>

#include "constants.h"
#include "op/program.h"
#include "parse.h"
#include "util/programs.h"
#include "util/text.h"

/* ---- Life -------------------------------------------------------------------------------- */

collet_status collet_expression_create(collet_expression **out, collet_error *err)
{
    PROGRAM_CALL(COLLET_INVALID, err, NULL);
    if (!out)
        return collet_fail(err, COLLET_INVALID, "collet_expression_create: out is NULL");
    collet_expression *e = calloc(1, sizeof *e);
    if (!e)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for an expression");
    pthread_mutex_init(&e->lock, NULL);
    programs_made("expression", e);
    *out = e;
    return COLLET_OK;
}

static void drop_plans(collet_expression *e)
{
    for (size_t i = 0; i < EXPRESSION_PLANS; i++) {
        plan_destroy(e->plans[i]);
        e->plans[i] = NULL;
    }
}

void collet_expression_destroy(collet_expression *e)
{
    PROGRAM_CALL(, NULL, e);
    if (!e)
        return;
    drop_plans(e);
    graph_free(&e->graph);
    pthread_mutex_destroy(&e->lock);
    programs_free(e);
}

collet_status collet_expression_parse(collet_expression **out, const char *text, collet_error *err)
{
    PROGRAM_CALL(COLLET_INVALID, err, NULL);
    COLLET_FLOATING_SCOPE;
    collet_expression *e;
    collet_status status = collet_expression_create(&e, err);
    if (status != COLLET_OK)
        return status;
    status = out ? parse_text(&e->graph, text, err)
                 : collet_fail(err, COLLET_INVALID, "collet_expression_parse: out is NULL");
    if (status != COLLET_OK) {
        collet_expression_destroy(e);
        return status;
    }
    *out = e;
    return COLLET_OK;
}

/* ---- Building ---------------------------------------------------------------------------- */

/* Begins a change of the expression: drops its plans. INVALID for NULL. */
static collet_status begin(collet_expression *e, const void *argument, const char *what,
                           collet_error *err)
{
    if (!e || !argument)
        return collet_fail(err, COLLET_INVALID, "%s: %s is NULL", what,
                           e ? "an argument" : "the expression");
    drop_plans(e);
    return COLLET_OK;
}

/* Adds the name of the function to an error. */
static collet_status end(const char *what, collet_status status, const collet_error *why,
                         collet_error *err)
{
    return status == COLLET_OK ? COLLET_OK : collet_fail(err, status, "%s: %s", what, why->text);
}

#define BUILD(name, argument, call)                                                                \
    collet_error why;                                                                              \
    static const char what[] = "collet_expression_" name;                                          \
    collet_status status = begin(e, argument, what, err);                                          \
    return status == COLLET_OK ? end(what, call, &why, err) : status

collet_status collet_expression_input(collet_expression *e, uint32_t *value, const char *name,
                                      collet_dtype dtype, collet_error *err)
{
    PROGRAM_CALL(COLLET_INVALID, err, e);
    if (!name)
        name = "";
    BUILD("input", value,
          graph_input(&e->graph, value, name, strnlen(name, GRAPH_NAME), dtype, &why));
}

collet_status collet_expression_constant(collet_expression *e, uint32_t *value,
                                         const collet_scalar *constant, int32_t weak,
                                         collet_error *err)
{
    PROGRAM_CALL(COLLET_INVALID, err, e);
    BUILD("constant", value, graph_constant(&e->graph, value, constant, weak, &why));
}

static collet_status add_literal(graph *g, uint32_t *value, const collet_scalar *s,
                                 collet_error *why)
{
    collet_status status = graph_check_number(s, 1, why);
    if (status != COLLET_OK)
        return status;
    const literal number = literal_read(s, 1);
    return graph_literal(g, value, &number, why);
}

collet_status collet_expression_literal(collet_expression *e, uint32_t *value,
                                        const collet_scalar *number, collet_error *err)
{
    PROGRAM_CALL(COLLET_INVALID, err, e);
    BUILD("literal", value, add_literal(&e->graph, value, number, &why));
}

collet_status collet_expression_apply(collet_expression *e, uint32_t *value, uint32_t op,
                                      const uint32_t *operands, uint32_t count, collet_error *err)
{
    PROGRAM_CALL(COLLET_INVALID, err, e);
    COLLET_FLOATING_SCOPE;
    BUILD("apply", value, graph_apply(&e->graph, value, op, operands, count, &why));
}

collet_status collet_expression_convert(collet_expression *e, uint32_t *value, uint32_t operand,
                                        collet_dtype dtype, collet_error *err)
{
    PROGRAM_CALL(COLLET_INVALID, err, e);
    BUILD("convert", value, graph_convert(&e->graph, value, NODE_CONVERT, operand, 0, dtype, &why));
}

collet_status collet_expression_reduce_rows(collet_expression *e, uint32_t *value, uint32_t op,
                                            uint32_t operand, double correction, collet_error *err)
{
    PROGRAM_CALL(COLLET_INVALID, err, e);
    BUILD("reduce_rows", value,
          graph_reduce_rows(&e->graph, value, op, operand, correction, &why));
}

collet_status collet_expression_output(collet_expression *e, uint32_t value, collet_error *err)
{
    PROGRAM_CALL(COLLET_INVALID, err, e);
    BUILD("output", e, graph_output(&e->graph, value, &why));
}

collet_status collet_expression_reduce(collet_expression *e, uint32_t op, const int32_t *axes,
                                       int32_t count, int32_t keepdims, double correction,
                                       collet_error *err)
{
    PROGRAM_CALL(COLLET_INVALID, err, e);
    BUILD("reduce", e, graph_reduce(&e->graph, op, axes, count, keepdims, correction, &why));
}

collet_status collet_expression_set_constant(collet_expression *e, uint32_t value,
                                             const collet_scalar *constant, collet_error *err)
{
    PROGRAM_CALL(COLLET_INVALID, err, e);
    static const char what[] = "collet_expression_set_constant";
    if (!e || !constant)
        return collet_fail(err, COLLET_INVALID, "%s: %s is NULL", what,
                           e ? "the constant" : "the expression");
    collet_error why;
    collet_status status = graph_set_constant(&e->graph, value, constant, &why);
    if (status != COLLET_OK)
        return end(what, status, &why, err);
    e->version++;
    return COLLET_OK;
}

/* ---- Queries ----------------------------------------------------------------------------- */

uint32_t collet_expression_input_count(const collet_expression *e)
{
    PROGRAM_CALL(0, NULL, e);
    return e ? e->graph.input_count : 0;
}

uint32_t collet_expression_output_count(const collet_expression *e)
{
    PROGRAM_CALL(0, NULL, e);
    return e ? e->graph.output_count : 0;
}

const char *collet_expression_input_name(const collet_expression *e, uint32_t input)
{
    PROGRAM_CALL(NULL, NULL, e);
    return e && input < e->graph.input_count ? e->graph.names[input] : NULL;
}

collet_status expression_unknown(const graph *g, const char *name, collet_error *err)
{
    text_buffer t;
    text_clear(&t);
    for (uint32_t i = 0; i < g->input_count; i++)
        if (*g->names[i])
            text_add(&t, "%s%s", t.length ? ", " : "", g->names[i]);
    return collet_fail(err, COLLET_INVALID, "expression: no input is named %s; the names are: %s",
                       name, t.length ? t.bytes : "none");
}

collet_status collet_expression_find(const collet_expression *e, uint32_t *input, const char *name,
                                     collet_error *err)
{
    PROGRAM_CALL(COLLET_INVALID, err, e);
    if (!e || !input || !name)
        return collet_fail(err, COLLET_INVALID, "collet_expression_find: an argument is NULL");
    uint32_t i = *name ? graph_find(&e->graph, name, 0) : e->graph.input_count;
    if (i == e->graph.input_count)
        return expression_unknown(&e->graph, name, err);
    *input = i;
    return COLLET_OK;
}

/* ---- Plans ------------------------------------------------------------------------------- */

static uint64_t hash_of(const collet_dtype *dtypes, uint32_t count)
{
    uint64_t hash = count;
    for (uint32_t i = 0; i < count; i++)
        hash = (hash ^ (uint64_t)dtypes[i]) * 0x9e3779b97f4a7c15u;
    return hash;
}

/* The place for a new plan: an empty place, or the place of the oldest plan that is not in use. NULL: all
 * are in use. */
static plan **place(collet_expression *e)
{
    plan **oldest = NULL;
    for (size_t i = 0; i < EXPRESSION_PLANS; i++) {
        if (!e->plans[i])
            return &e->plans[i];
        if (!e->plans[i]->users && (!oldest || e->plans[i]->used < (*oldest)->used))
            oldest = &e->plans[i];
    }
    return oldest;
}

static collet_status find_plan(collet_expression *e, plan **out, const collet_dtype *dtypes,
                               int beyond, collet_error *err)
{
    uint32_t count = e->graph.input_count;
    uint64_t hash = hash_of(dtypes, count);
    plan *p = NULL;
    for (size_t i = 0; i < EXPRESSION_PLANS && !p; i++)
        if (e->plans[i] && e->plans[i]->hash == hash && e->plans[i]->beyond == beyond &&
            !memcmp(e->plans[i]->in_dtypes, dtypes, count * sizeof *dtypes))
            p = e->plans[i];
    collet_status status = COLLET_OK;
    if (!p) {
        status = plan_create(&p, &e->graph, dtypes, beyond, err);
        if (status != COLLET_OK)
            return status;
        plan **slot = place(e);
        p->hash = hash;
        p->version = e->version;
        p->kept = slot != NULL;
        if (slot) {
            plan_destroy(*slot);
            *slot = p;
        }
    } else if (p->version != e->version) {
        status = constants_set(p, &e->graph, err);
        if (status == COLLET_OK)
            p->version = e->version;
    }
    if (status == COLLET_OK) {
        p->users++;
        p->used = ++e->clock;
        *out = p;
    }
    return status;
}

collet_status expression_plan(collet_expression *e, plan **out, const collet_dtype *dtypes,
                              int beyond, collet_error *err)
{
    if (!e->graph.output_count)
        return collet_fail(err, COLLET_INVALID, "the expression has no output");
    pthread_mutex_lock(&e->lock);
    collet_status status = find_plan(e, out, dtypes, beyond, err);
    pthread_mutex_unlock(&e->lock);
    return status;
}

void expression_release(collet_expression *e, plan *p)
{
    pthread_mutex_lock(&e->lock);
    int ends = !--p->users && !p->kept;
    pthread_mutex_unlock(&e->lock);
    if (ends)
        plan_destroy(p);
}
