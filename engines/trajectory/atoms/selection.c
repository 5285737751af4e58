/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_selection.c, tests/fuzz/fuzz_selection.c */
#include "selection.h"

#include "io/decimal.h"
#include "pattern.h"
#include "residues.h"

#include <stdlib.h>
#include <string.h>

/* Maximum nesting of parentheses and nots. A level takes at most three values of the evaluator's
 * stack: the left sides of an "or" and of an "and", and the current operand. */
#define MAX_DEPTH 100
#define STACK_SIZE (3 * (MAX_DEPTH + 1))

/* A selection is compiled to postfix: a test pushes its result, an operator replaces the top.
 * Evaluation needs neither recursion nor allocation. */
typedef enum opcode {
    OP_ALL,
    OP_NONE,
    OP_PROTEIN,
    OP_BACKBONE,
    OP_RESNAME,
    OP_NAME,
    OP_RESID,
    OP_INDEX,
    OP_GROUP,
    OP_NOT,
    OP_AND,
    OP_OR,
} opcode;

typedef struct instruction {
    opcode code;
    size_t first; /* index of its first item */
    size_t count;
} instruction;

/* A range of numbers, or the position and length of a pattern in the text. */
typedef struct item {
    int64_t low;
    int64_t high;
    size_t start;
    size_t length;
} item;

struct trajectory_selection {
    char *text;
    instruction *program;
    item *items;
    size_t n_instructions;
    size_t n_items;
};

typedef struct parser {
    trajectory_selection *selection;
    const char *text;
    size_t at;     /* position of the token */
    size_t length; /* bytes of the token; 0 at the end of the text */
    int depth;
    collet_error *err;
} parser;

typedef struct keyword {
    const char *text;
    opcode code;
    int takes; /* what follows the word: 'p' patterns, 'r' ranges, 0 nothing */
} keyword;

static const keyword keywords[] = {
    {"all", OP_ALL, 0},           {"none", OP_NONE, 0},         {"protein", OP_PROTEIN, 0},
    {"backbone", OP_BACKBONE, 0}, {"resname", OP_RESNAME, 'p'}, {"name", OP_NAME, 'p'},
    {"resid", OP_RESID, 'r'},     {"index", OP_INDEX, 'r'},     {"bynum", OP_INDEX, 'r'},
    {"group", OP_GROUP, 'p'},
};

/* ---- Errors ------------------------------------------------------------------------------ */

#define EXCERPT 60

/* The text around `at` with a caret below it; unprintable bytes become '?'. */
static collet_status fail_at(const parser *p, size_t at, const char *message)
{
    size_t start = at > EXCERPT / 2 ? at - EXCERPT / 2 : 0;
    const char *lead = start > 0 ? "..." : "";
    char excerpt[EXCERPT + 1];
    size_t n = strnlen(p->text + start, EXCERPT);

    memcpy(excerpt, p->text + start, n);
    excerpt[n] = '\0';
    for (size_t i = 0; i < n; i++)
        if (excerpt[i] < ' ' || excerpt[i] > '~')
            excerpt[i] = '?';
    return collet_fail(p->err, COLLET_INVALID, "selection, column %zu: %s\n    %s%s%s\n    %*s^",
                       at + 1, message, lead, excerpt, p->text[start + n] != '\0' ? "..." : "",
                       (int)(at - start + strlen(lead)), "");
}

static collet_status fail_no_memory(const parser *p)
{
    return collet_fail(p->err, COLLET_NO_MEMORY, "selection: out of memory");
}

/* ---- Tokens ------------------------------------------------------------------------------ */

static void advance(parser *p)
{
    const char *at = p->text + p->at + p->length;

    at += strspn(at, " \t\n\r");
    p->at = (size_t)(at - p->text);
    p->length = *at == '(' || *at == ')' ? 1 : strcspn(at, " \t\n\r()");
}

static int token_is(const parser *p, const char *word)
{
    return strlen(word) == p->length && memcmp(p->text + p->at, word, p->length) == 0;
}

static const keyword *token_keyword(const parser *p)
{
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (token_is(p, keywords[i].text))
            return &keywords[i];
    return NULL;
}

static int token_ends_list(const parser *p)
{
    return p->length == 0 || token_is(p, "(") || token_is(p, ")") || token_is(p, "and") ||
           token_is(p, "or") || token_is(p, "not") || token_keyword(p) != NULL;
}

/* ---- Lists ------------------------------------------------------------------------------- */

static int parse_digits(const char *text, size_t length, size_t *used, int64_t *value)
{
    size_t i = 0;

    while (i < length && text[i] >= '0' && text[i] <= '9')
        i++;
    *used = i;
    return io_decimal_parse_integer(text, i, value);
}

static collet_status parse_range(parser *p, item *range)
{
    static const char expected[] =
        "expected a number such as 7 or a range such as 3:9, with both ends included";
    const char *text = p->text + p->at;
    size_t used, more;

    if (!parse_digits(text, p->length, &used, &range->low))
        return fail_at(p, p->at, expected);
    range->high = range->low;
    if (used == p->length)
        return COLLET_OK;
    if (text[used] != ':' ||
        !parse_digits(text + used + 1, p->length - used - 1, &more, &range->high) ||
        used + 1 + more != p->length)
        return fail_at(p, p->at + used, expected);
    if (range->high < range->low)
        return fail_at(p, p->at, "the range ends before it begins");
    return COLLET_OK;
}

static collet_status parse_list(parser *p, const keyword *word, instruction *test)
{
    trajectory_selection *s = p->selection;
    int from_one = strcmp(word->text, "bynum") == 0;

    test->first = s->n_items;
    for (; !token_ends_list(p); advance(p)) {
        item *entry = &s->items[s->n_items];

        *entry = (item){0, 0, p->at, p->length};
        if (word->takes == 'r') {
            collet_status status = parse_range(p, entry);

            if (status != COLLET_OK)
                return status;
            if (from_one && entry->low == 0)
                return fail_at(p, p->at,
                               "bynum counts from 1, so 0 is no atom; index counts from 0");
            entry->low -= from_one;
            entry->high -= from_one;
        }
        s->n_items++;
    }
    test->count = s->n_items - test->first;
    if (test->count == 0)
        return fail_at(p, p->at,
                       word->takes == 'r' ? "expected a number such as 7 or a range such as 3:9"
                                          : "expected a name, in which * and ? are wildcards");
    return COLLET_OK;
}

/* ---- Grammar ----------------------------------------------------------------------------- */

static void emit(parser *p, instruction code)
{
    p->selection->program[p->selection->n_instructions++] = code;
}

static collet_status parse_joined(parser *p, opcode code);

static collet_status parse_test(parser *p)
{
    const keyword *word = token_keyword(p);
    instruction test = {OP_ALL, 0, 0};
    collet_status status;

    if (word == NULL)
        return fail_at(p, p->at,
                       "expected one of all, none, protein, backbone, resname, name, resid, index, "
                       "bynum, group, and, or, not, ( and )");
    test.code = word->code;
    advance(p);
    if (word->takes != 0) {
        status = parse_list(p, word, &test);
        if (status != COLLET_OK)
            return status;
    }
    emit(p, test);
    return COLLET_OK;
}

static collet_status parse_parenthesis(parser *p)
{
    size_t open = p->at;
    collet_status status;

    advance(p);
    status = parse_joined(p, OP_OR);
    if (status != COLLET_OK)
        return status;
    if (p->length == 0)
        return fail_at(p, open, "this parenthesis is never closed");
    if (!token_is(p, ")"))
        return fail_at(p, p->at, "expected 'and', 'or' or ')'");
    advance(p);
    return COLLET_OK;
}

static collet_status parse_not(parser *p)
{
    collet_status status;
    int negation = token_is(p, "not");

    if (!negation && !token_is(p, "("))
        return parse_test(p);
    if (p->depth == MAX_DEPTH)
        return fail_at(p, p->at, "parentheses and 'not' are nested too deeply");
    p->depth++;
    if (negation) {
        advance(p);
        status = parse_not(p);
        if (status == COLLET_OK)
            emit(p, (instruction){OP_NOT, 0, 0});
    } else {
        status = parse_parenthesis(p);
    }
    p->depth--;
    return status;
}

/* Operands of "or" are joined by "and", whose operands are tests. */
static collet_status parse_joined(parser *p, opcode code)
{
    const char *word = code == OP_OR ? "or" : "and";
    collet_status status = code == OP_OR ? parse_joined(p, OP_AND) : parse_not(p);

    while (status == COLLET_OK && token_is(p, word)) {
        advance(p);
        status = code == OP_OR ? parse_joined(p, OP_AND) : parse_not(p);
        if (status == COLLET_OK)
            emit(p, (instruction){code, 0, 0});
    }
    return status;
}

static collet_status parse(parser *p)
{
    collet_status status;

    advance(p);
    if (p->length == 0)
        return fail_at(p, p->at, "it is empty; 'all' selects every atom");
    status = parse_joined(p, OP_OR);
    if (status == COLLET_OK && p->length != 0)
        return fail_at(p, p->at,
                       token_is(p, ")") ? "this parenthesis was never opened"
                                        : "expected 'and' or 'or'");
    return status;
}

collet_status trajectory_selection_compile(const char *text, trajectory_selection **out,
                                           collet_error *err)
{
    trajectory_selection *s = calloc(1, sizeof *s);
    parser p = {s, text, 0, 0, 0, err};
    size_t capacity =
        strlen(text) + 1; /* instructions and items: no token is shorter than a byte */
    collet_status status;

    *out = NULL;
    if (s == NULL)
        return fail_no_memory(&p);
    s->text = strdup(text);
    s->program = calloc(capacity, sizeof *s->program);
    s->items = calloc(capacity, sizeof *s->items);
    if (s->text == NULL || s->program == NULL || s->items == NULL)
        status = fail_no_memory(&p);
    else
        status = parse(&p);
    if (status != COLLET_OK) {
        trajectory_selection_free(s);
        return status;
    }
    *out = s;
    return COLLET_OK;
}

void trajectory_selection_free(trajectory_selection *selection)
{
    if (selection == NULL)
        return;
    free(selection->text);
    free(selection->program);
    free(selection->items);
    free(selection);
}

/* ---- Evaluation -------------------------------------------------------------------------- */

static int matches_any(const trajectory_selection *s, const instruction *test, const char *name)
{
    const item *items = s->items + test->first;

    for (size_t i = 0; i < test->count; i++)
        if (trajectory_pattern_matches(s->text + items[i].start, items[i].length, name))
            return 1;
    return 0;
}

static int in_any(const trajectory_selection *s, const instruction *test, int64_t value)
{
    const item *items = s->items + test->first;

    for (size_t i = 0; i < test->count; i++)
        if (value >= items[i].low && value <= items[i].high)
            return 1;
    return 0;
}

static int is_backbone(const trajectory_topology *topology, int64_t atom)
{
    static const char *const names[] = {"N", "CA", "C", "O"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(topology->names[atom], names[i]) == 0)
            return trajectory_residue_is_protein(topology->residue_names[atom]);
    return 0;
}

static int test_atom(const trajectory_selection *s, const instruction *test,
                     const trajectory_topology *topology, int64_t atom)
{
    switch (test->code) {
    case OP_ALL:
        return 1;
    case OP_PROTEIN:
        return trajectory_residue_is_protein(topology->residue_names[atom]);
    case OP_BACKBONE:
        return is_backbone(topology, atom);
    case OP_RESNAME:
        return matches_any(s, test, topology->residue_names[atom]);
    case OP_NAME:
        return matches_any(s, test, topology->names[atom]);
    case OP_RESID:
        return in_any(s, test, topology->residue_ids[atom]);
    case OP_INDEX:
        return in_any(s, test, atom);
    default:
        return 0;
    }
}

/*
 * Makes *members: for each test of groups in turn, n_atoms bytes that are 1 for its atoms. NULL: no
 * test needs them.
 */
static collet_status mark_groups(const trajectory_selection *s, const trajectory_groups *groups,
                                 int64_t n_atoms, uint8_t **members, collet_error *err)
{
    size_t n = 0;
    uint8_t *at;

    *members = NULL;
    for (size_t i = 0; i < s->n_instructions; i++)
        n += s->program[i].code == OP_GROUP;
    if (n == 0)
        return COLLET_OK;
    if (groups == NULL)
        return collet_fail(err, COLLET_INVALID,
                           "selection: a group needs a .ndx file: give --ndx FILE, in Python and C "
                           "the option ndx");
    at = *members = calloc(n, (size_t)n_atoms);
    if (at == NULL)
        return collet_fail(err, COLLET_NO_MEMORY,
                           "selection: no memory for %zu groups of %lld atoms", n,
                           (long long)n_atoms);
    for (size_t i = 0; i < s->n_instructions; i++) {
        const instruction *test = &s->program[i];

        if (test->code != OP_GROUP)
            continue;
        for (size_t k = 0; k < test->count; k++) {
            const item *name = &s->items[test->first + k];

            if (trajectory_groups_mark(groups, s->text + name->start, name->length, at) == 0)
                return trajectory_groups_missing(groups, s->text + name->start, name->length, err);
        }
        at += n_atoms;
    }
    return COLLET_OK;
}

static int is_selected(const trajectory_selection *s, const trajectory_topology *topology,
                       const uint8_t *members, int64_t atom)
{
    unsigned char stack[STACK_SIZE];
    size_t top = 0;

    for (size_t i = 0; i < s->n_instructions; i++) {
        const instruction *step = &s->program[i];

        switch (step->code) {
        case OP_GROUP:
            stack[top++] = members[atom];
            members += topology->n_atoms;
            break;
        case OP_NOT:
            stack[top - 1] = !stack[top - 1];
            break;
        case OP_AND:
            top--;
            stack[top - 1] &= stack[top];
            break;
        case OP_OR:
            top--;
            stack[top - 1] |= stack[top];
            break;
        default:
            stack[top++] = (unsigned char)test_atom(s, step, topology, atom);
        }
    }
    return stack[0];
}

collet_status trajectory_selection_apply(const trajectory_selection *selection,
                                         const trajectory_topology *topology,
                                         const trajectory_groups *groups, int64_t **indices,
                                         int64_t *n, collet_error *err)
{
    int64_t *found = malloc(((size_t)topology->n_atoms + 1) * sizeof *found);
    uint8_t *members = NULL;
    collet_status status;

    *indices = NULL;
    *n = 0;
    if (found == NULL)
        return collet_fail(err, COLLET_NO_MEMORY, "selection: no memory for %lld atoms",
                           (long long)topology->n_atoms);
    status = mark_groups(selection, groups, topology->n_atoms, &members, err);
    for (int64_t i = 0; status == COLLET_OK && i < topology->n_atoms; i++)
        if (is_selected(selection, topology, members, i))
            found[(*n)++] = i;
    free(members);
    if (status != COLLET_OK)
        free(found);
    else
        *indices = found;
    return status;
}
