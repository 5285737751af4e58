/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_selection.c, tests/engines/test_trajectory_choice.c */
#include "choice_program.h"

#include "selection_marks.h"

#include <stdlib.h>
#include <string.h>

collet_status choice_no_memory(const trajectory_choice *c, collet_error *err)
{
    return collet_fail(err, COLLET_NO_MEMORY, "selection: no memory for %lld atoms",
                       (long long)c->n_topology);
}

/* ---- Sets -------------------------------------------------------------------------------- */

void choice_invert(uint8_t *set, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        set[i] = !set[i];
}

void choice_join(selection_code code, uint8_t *set, const uint8_t *other, int64_t n)
{
    if (code == SELECT_AND)
        for (int64_t i = 0; i < n; i++)
            set[i] &= other[i];
    else
        for (int64_t i = 0; i < n; i++)
            set[i] |= other[i];
}

void choice_spread(uint8_t *set, const int64_t *labels, int64_t n_labels, int64_t n, uint8_t *marks)
{
    memset(marks, 0, (size_t)n_labels);
    for (int64_t i = 0; i < n; i++)
        marks[labels[i]] |= set[i];
    for (int64_t i = 0; i < n; i++)
        set[i] = marks[labels[i]];
}

uint8_t *choice_copy(const uint8_t *set, int64_t n)
{
    uint8_t *copy = malloc((size_t)n + 1);

    if (copy != NULL)
        memcpy(copy, set, (size_t)n);
    return copy;
}

/* ---- The program ---------------------------------------------------------------------------- */

void choice_free_node(choice_node *n)
{
    if (n->must != n->may)
        free(n->must);
    free(n->may);
    free(n->labels);
    free(n->domain);
    free(n->sources);
    free(n->targets);
}

static int is_empty(const uint8_t *set, int64_t n)
{
    return memchr(set, 1, (size_t)n) == NULL;
}

/* Copies the bounds `may` and `must` of node `from` to node `to`. 0 if out of memory. */
static int bound_from(choice_node *to, const choice_node *from, int64_t n)
{
    to->may = choice_copy(from->may, n);
    to->must = choice_copy(from->must, n);
    return to->may != NULL && to->must != NULL;
}

static collet_status label(const trajectory_choice *c, const selection_step *step,
                           const trajectory_topology *topology, choice_node *to, collet_error *err)
{
    to->labels = malloc(((size_t)c->n_topology + 1) * sizeof *to->labels);
    return to->labels != NULL
               ? selection_label(step->kind, topology, to->labels, &to->n_labels, err)
               : choice_no_memory(c, err);
}

/* Extends a set to all atoms that have the same label as an atom of the set: the operand's set if it is fixed, else the
 * bounds of *to, which are first copied from the operand. */
static collet_status same_as(const trajectory_choice *c, choice_node *operand, choice_node *to,
                             collet_error *err)
{
    uint8_t *marks = malloc((size_t)to->n_labels + 1);
    choice_node *changed = choice_is_fixed(operand) ? operand : to;

    if (marks == NULL || (changed == to && !bound_from(to, operand, c->n_topology))) {
        free(marks);
        return choice_no_memory(c, err);
    }
    choice_spread(changed->may, to->labels, to->n_labels, c->n_topology, marks);
    if (changed == to)
        choice_spread(to->must, to->labels, to->n_labels, c->n_topology, marks);
    free(marks);
    return COLLET_OK;
}

/* Bounds of "within" and "exwithin": any atom may be near to an atom that the operand may select. */
static int bound_within(const trajectory_choice *c, const choice_node *operand, choice_node *to)
{
    if (!bound_from(to, operand, c->n_topology))
        return 0;
    if (to->code == SELECT_WITHIN) {
        memset(to->may, 1, (size_t)c->n_topology);
    } else {
        memcpy(to->may, operand->must, (size_t)c->n_topology);
        choice_invert(to->may, c->n_topology);
        memset(to->must, 0, (size_t)c->n_topology);
    }
    return 1;
}

static choice_node *push_node(trajectory_choice *c, selection_code code)
{
    choice_node *n = &c->nodes[c->n_nodes];

    *n = (choice_node){.code = code, .right = c->n_nodes > 0 ? c->n_nodes - 1 : 0};
    return n;
}

static collet_status add_test(trajectory_choice *c, const trajectory_selection *s,
                              const selection_step *step, const trajectory_topology *topology,
                              const trajectory_groups *groups, collet_error *err)
{
    choice_node *to = push_node(c, SELECT_ALL);

    to->may = to->must = malloc((size_t)c->n_topology + 1);
    c->n_nodes++;
    return to->may != NULL ? selection_mark(s, step, topology, groups, to->may, err)
                           : choice_no_memory(c, err);
}

/* Adds an operator whose operand is the last node. If the result does not depend on positions, this function computes
 * it. */
static collet_status add_prefix(trajectory_choice *c, const selection_step *step,
                                const trajectory_topology *topology, collet_error *err)
{
    choice_node *to = push_node(c, step->code), *operand = to - 1;
    collet_status status = COLLET_OK;
    int fixed = choice_is_fixed(operand);

    if (step->code == SELECT_NOT && fixed) {
        choice_invert(operand->may, c->n_topology);
        return COLLET_OK;
    }
    if (step->code == SELECT_NOT) {
        if (!bound_from(to, operand, c->n_topology))
            status = choice_no_memory(c, err);
        uint8_t *may = to->must;
        to->must = to->may;
        to->may = may;
        if (status == COLLET_OK) {
            choice_invert(to->may, c->n_topology);
            choice_invert(to->must, c->n_topology);
        }
    } else if (step->code == SELECT_SAME) {
        status = label(c, step, topology, to, err);
        if (status == COLLET_OK)
            status = same_as(c, operand, to, err);
        if (fixed) {
            choice_free_node(to);
            return status;
        }
    } else {
        to->distance = step->number;
        if (is_empty(operand->may, c->n_topology)) /* no atom is near to an empty set */
            return COLLET_OK;
        if (!bound_within(c, operand, to))
            status = choice_no_memory(c, err);
    }
    c->n_nodes++;
    return status;
}

/* Adds "and" or "or" of two nodes: number `left` and the last node. */
static collet_status add_joint(trajectory_choice *c, selection_code code, size_t left,
                               collet_error *err)
{
    choice_node *to = push_node(c, code), *right = to - 1, *first = &c->nodes[left];

    if (choice_is_fixed(first) && choice_is_fixed(right)) {
        choice_join(code, first->may, right->may, c->n_topology);
        choice_free_node(right);
        c->n_nodes--;
        return COLLET_OK;
    }
    to->left = left;
    c->n_nodes++;
    if (!bound_from(to, first, c->n_topology))
        return choice_no_memory(c, err);
    choice_join(code, to->may, right->may, c->n_topology);
    choice_join(code, to->must, right->must, c->n_topology);
    return COLLET_OK;
}

collet_status choice_build(trajectory_choice *c, const trajectory_selection *s,
                           const trajectory_topology *topology, const trajectory_groups *groups,
                           collet_error *err)
{
    size_t *roots = calloc(s->n_steps + 1, sizeof *roots), top = 0;
    collet_status status = roots != NULL ? COLLET_OK : choice_no_memory(c, err);

    for (size_t i = 0; status == COLLET_OK && i < s->n_steps; i++) {
        const selection_step *step = &s->steps[i];

        if (step->code == SELECT_AND || step->code == SELECT_OR) {
            top--;
            status = add_joint(c, step->code, roots[top - 1], err);
        } else if (step->code >= SELECT_NOT) {
            status = add_prefix(c, step, topology, err);
        } else {
            status = add_test(c, s, step, topology, groups, err);
            top++;
        }
        roots[top - 1] = c->n_nodes - 1;
    }
    free(roots);
    return status;
}
