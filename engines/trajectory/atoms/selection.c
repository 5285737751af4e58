/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_selection.c, tests/fuzz/fuzz_selection.c */
#include "selection.h"
#include "guess.h"

#include "io/decimal.h"
#include "io/letters.h"
#include "selection_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Maximum nesting of parentheses and of operators in front of their operand. */
#define MAX_DEPTH 100

/* Distances without a unit are in nm. VMD and MDAnalysis measure in Angstrom, so a distance of at least this many nm
 * may be meant in Angstrom. Such a distance needs a unit. */
#define UNIT_NEEDED 2

/* ---- Lists ------------------------------------------------------------------------------- */

/* Refuses regular expressions, which VMD and GROMACS allow: here they would silently match nothing. */
static collet_status check_pattern(const selection_parser *p, const selection_word *word)
{
    const char *text = p->text + p->at;
    size_t length = p->length;

    if (length == 0)
        return selection_fail(p, p->at, "a name is empty");
    if (word->code == SELECT_GROUP)
        return COLLET_OK;
    if (word->code == SELECT_ELEMENT && trajectory_element_find(text, length) == NULL)
        return selection_fail(p, p->at, "no element has this symbol");
    for (size_t i = 0; i < length; i++)
        if (strchr("[]^$|\\<>=~,", text[i]) != NULL ||
            (text[i] == '.' && i + 1 < length && text[i + 1] == '*'))
            return selection_fail(
                p, p->at + i,
                "names cannot contain this character: separate names by blanks, as in name CA CB; * stands for any "
                "characters and ? for one, as in name C*");
    return COLLET_OK;
}

static int is_lower(const selection_parser *p)
{
    for (size_t i = 0; i < p->length; i++)
        if (io_is_upper(p->text[p->at + i]))
            return 0;
    return 1;
}

/* 1 if the token is a keyword in a list of names, because then probably an "and" was forgotten. A keyword with
 * capitals counts as a name if it is the first in the list, or in a list of groups (Protein, Water). */
static int is_stray_word(const selection_parser *p, const selection_word *word, size_t before)
{
    return selection_find_word(p) != NULL &&
           (is_lower(p) || (before > 0 && word->code != SELECT_GROUP));
}

static collet_status parse_patterns(selection_parser *p, const selection_word *word)
{
    trajectory_selection *s = p->selection;
    collet_status status = COLLET_OK;
    size_t first = s->n_items;

    while (status == COLLET_OK && !selection_ends_list(p)) {
        if (is_stray_word(p, word, s->n_items - first))
            return selection_fail(p, p->at,
                                  "expected a name, 'and' or 'or'; a name that is a word of the "
                                  "language stands in quotes");
        status = check_pattern(p, word);
        if (status != COLLET_OK)
            return status;
        s->items[s->n_items++] = (selection_item){.start = p->at, .length = p->length};
        status = selection_advance(p);
    }
    if (status != COLLET_OK || s->n_items > first)
        return status;
    return selection_fail(p, p->at, "expected a name, in which * and ? are wildcards");
}

static const char expected_range[] =
    "expected a number such as 7, or a range such as 3:9, 3-9 or 3 to 9, with both ends included";

/* A number with or without a sign, at the start of the text. */
static int take_number(const char *text, size_t length, size_t *used, int64_t *value)
{
    size_t i = length > 0 && text[0] == '-';

    while (i < length && text[i] >= '0' && text[i] <= '9')
        i++;
    *used = i;
    return io_decimal_parse_integer(text, i, value);
}

/* One token: 7, 52A, 3:9, 3-9 or -5--3. */
static collet_status parse_range(const selection_parser *p, const selection_word *word,
                                 selection_item *range)
{
    const char *text = p->text + p->at;
    size_t used, more;

    if (!take_number(text, p->length, &used, &range->low))
        return selection_fail(p, p->at, expected_range);
    range->high = range->low;
    if (used == p->length)
        return COLLET_OK;
    if (word->code == SELECT_RESID && used + 1 == p->length &&
        (io_is_upper(text[used]) || io_is_lower(text[used]))) {
        range->insertion = text[used];
        return COLLET_OK;
    }
    if ((text[used] != ':' && text[used] != '-') ||
        !take_number(text + used + 1, p->length - used - 1, &more, &range->high) ||
        used + 1 + more != p->length)
        return selection_fail(p, p->at + used, expected_range);
    return COLLET_OK;
}

/* Reads the end of a range, which may continue with "to" and a number. */
static collet_status end_range(selection_parser *p, selection_item *range)
{
    int single = range->high == range->low && range->insertion == 0;
    collet_status status = selection_advance(p);
    size_t used;

    if (status != COLLET_OK || !single || !selection_is(p, "to"))
        return status;
    status = selection_advance(p);
    if (status != COLLET_OK)
        return status;
    if (!take_number(p->text + p->at, p->length, &used, &range->high) || used != p->length)
        return selection_fail(p, p->at, expected_range);
    return selection_advance(p);
}

static collet_status parse_ranges(selection_parser *p, const selection_word *word)
{
    trajectory_selection *s = p->selection;
    int from_one = strcmp(word->text, "bynum") == 0;

    if (selection_ends_list(p))
        return selection_fail(p, p->at, expected_range);
    while (!selection_ends_list(p)) {
        selection_item range = {0};
        size_t at = p->at;
        collet_status status = parse_range(p, word, &range);

        if (status == COLLET_OK)
            status = end_range(p, &range);
        if (status != COLLET_OK)
            return status;
        if (range.high < range.low)
            return selection_fail(p, at, "the range ends before it begins");
        if (word->code == SELECT_INDEX && range.low < from_one)
            return selection_fail(p, at,
                                  "index counts from 0 and bynum from 1: there is no such atom");
        range.low -= from_one && word->code == SELECT_INDEX;
        range.high -= from_one && word->code == SELECT_INDEX;
        s->items[s->n_items++] = range;
    }
    return COLLET_OK;
}

/* ---- Comparisons ------------------------------------------------------------------------- */

/* Shortens the token to its first `length` bytes; the rest becomes the next token. */
static void cut(selection_parser *p, size_t length)
{
    p->length = length;
    p->end = p->at + length;
}

static int take_comparison(selection_parser *p, selection_comparison *comparison)
{
    static const struct {
        char text[3];
        selection_comparison comparison;
    } signs[] = {{"<=", SELECT_LESS_EQUAL}, {">=", SELECT_GREATER_EQUAL}, {"==", SELECT_EQUAL},
                 {"!=", SELECT_NOT_EQUAL},  {"<", SELECT_LESS},           {">", SELECT_GREATER},
                 {"=", SELECT_EQUAL}};

    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        size_t length = strlen(signs[i].text);

        if (p->quoted || p->length < length || memcmp(p->text + p->at, signs[i].text, length) != 0)
            continue;
        *comparison = signs[i].comparison;
        cut(p, length);
        return 1;
    }
    return 0;
}

static collet_status parse_number(selection_parser *p, double *number, const char *message)
{
    if (p->quoted || !io_decimal_parse(p->text + p->at, p->length, number) || !isfinite(*number))
        return selection_fail(p, p->at, message);
    return selection_advance(p);
}

static collet_status parse_comparison(selection_parser *p, selection_step *test)
{
    collet_status status;

    if (!take_comparison(p, &test->comparison))
        return selection_fail(p, p->at, "expected a comparison such as > 12 or <= 0.5");
    status = selection_advance(p);
    return status == COLLET_OK ? parse_number(p, &test->number, "expected a number to compare with")
                               : status;
}

/* ---- Grammar ----------------------------------------------------------------------------- */

static void emit(selection_parser *p, selection_step step)
{
    p->selection->steps[p->selection->n_steps++] = step;
}

static collet_status parse_joined(selection_parser *p, selection_code code);

static collet_status parse_test(selection_parser *p)
{
    size_t length = p->length, word_length = 0;
    selection_step test = {.first = p->selection->n_items};
    const selection_word *word;
    collet_status status;

    while (word_length < length && strchr("<>=!", p->text[p->at + word_length]) == NULL)
        word_length++;
    if (!p->quoted) /* mass>12 */
        cut(p, word_length);
    word = selection_find_word(p);
    if (word == NULL) {
        p->length = length;
        return selection_fail_word(p);
    }
    test.code = word->code;
    status = selection_advance(p);
    if (status == COLLET_OK && word->operand == SELECT_PATTERNS)
        status = parse_patterns(p, word);
    else if (status == COLLET_OK && word->operand == SELECT_RANGES)
        status = parse_ranges(p, word);
    else if (status == COLLET_OK && word->operand == SELECT_COMPARISON)
        status = parse_comparison(p, &test);
    if (status != COLLET_OK)
        return status;
    test.count = p->selection->n_items - test.first;
    emit(p, test);
    return COLLET_OK;
}

static collet_status parse_parenthesis(selection_parser *p)
{
    size_t open = p->at;
    collet_status status = selection_advance(p);

    if (status == COLLET_OK)
        status = parse_joined(p, SELECT_OR);
    if (status != COLLET_OK)
        return status;
    if (selection_at_end(p))
        return selection_fail(p, open, "this parenthesis is never closed");
    if (!selection_is(p, ")"))
        return selection_fail(p, p->at, "expected 'and', 'or' or ')'");
    p->open = 0;
    return selection_advance(p);
}

/* Reads what follows "same": the kind of thing that the atoms share (residue, chain, ...), and "as". */
static collet_status parse_kind(selection_parser *p, selection_step *step)
{
    static const struct {
        const char *word;
        selection_kind kind;
    } kinds[] = {{"residue", SELECT_SAME_RESIDUE},   {"molecule", SELECT_SAME_MOLECULE},
                 {"fragment", SELECT_SAME_MOLECULE}, {"chain", SELECT_SAME_CHAIN},
                 {"segid", SELECT_SAME_SEGMENT},     {"segname", SELECT_SAME_SEGMENT},
                 {"segment", SELECT_SAME_SEGMENT}};
    collet_status status = selection_advance(p);
    size_t i = 0;

    if (status != COLLET_OK)
        return status;
    while (i < sizeof kinds / sizeof *kinds && !selection_is(p, kinds[i].word))
        i++;
    if (i == sizeof kinds / sizeof *kinds)
        return selection_fail(p, p->at,
                              "expected residue, molecule, chain or segid, as in same residue as "
                              "name CA");
    step->kind = kinds[i].kind;
    status = selection_advance(p);
    if (status != COLLET_OK)
        return status;
    return selection_is(p, "as") ? selection_advance(p) : selection_fail(p, p->at, "expected 'as'");
}

/* Reads what follows "within": the distance, its unit and "of". */
static collet_status parse_distance(selection_parser *p, selection_step *step)
{
    collet_status status = selection_advance(p);
    size_t at = p->at;

    if (status == COLLET_OK)
        status =
            parse_number(p, &step->number,
                         "expected a distance, as in within 0.5 of protein (nm), or within 5 A "
                         "of protein");
    if (status != COLLET_OK)
        return status;
    if (step->number < 0)
        return selection_fail(p, at, "a distance cannot be negative");
    if (selection_is(p, "a") || selection_is(p, "angstrom")) {
        step->number /= 10;
        status = selection_advance(p);
    } else if (selection_is(p, "nm")) {
        status = selection_advance(p);
    } else if (step->number >= UNIT_NEEDED) {
        return selection_fail(p, at,
                              "distances are in nm, and this one is long: write the unit, within 5 "
                              "A of ... or within 5 nm of ...");
    }
    if (status != COLLET_OK)
        return status;
    return selection_is(p, "of") ? selection_advance(p) : selection_fail(p, p->at, "expected 'of'");
}

static collet_status parse_operand(selection_parser *p);

/* An operator in front of its operand. */
static collet_status parse_prefix(selection_parser *p, selection_step step)
{
    size_t at = p->at;
    collet_status status = step.code == SELECT_NOT    ? selection_advance(p)
                           : step.code == SELECT_SAME ? parse_kind(p, &step)
                                                      : parse_distance(p, &step);

    if (status == COLLET_OK)
        status = parse_operand(p);
    if (status != COLLET_OK)
        return status;
    if (step.code != SELECT_NOT) {
        p->open = 1;
        p->opened = at;
    }
    emit(p, step);
    return COLLET_OK;
}

static selection_code prefix_code(selection_parser *p)
{
    if (!p->quoted && p->text[p->at] == '!' && p->length > 1)
        cut(p, 1);
    if (selection_is(p, "not") || selection_is(p, "!"))
        return SELECT_NOT;
    if (selection_is(p, "same"))
        return SELECT_SAME;
    if (selection_is(p, "within"))
        return SELECT_WITHIN;
    return selection_is(p, "exwithin") ? SELECT_EXWITHIN : SELECT_ALL;
}

static collet_status parse_operand(selection_parser *p)
{
    selection_step step = {.code = prefix_code(p)};
    int parenthesis = selection_is(p, "(");
    collet_status status;

    p->open = 0;
    if (!parenthesis && step.code == SELECT_ALL)
        return parse_test(p);
    if (p->depth == MAX_DEPTH)
        return selection_fail(p, p->at, "parentheses and operators are nested too deeply");
    p->depth++;
    status = parenthesis ? parse_parenthesis(p) : parse_prefix(p, step);
    p->depth--;
    return status;
}

/* Programs disagree on whether "within 0.5 of A and B" means (within 0.5 of A) and B. */
static collet_status check_joint(const selection_parser *p)
{
    if (!p->open)
        return COLLET_OK;
    return selection_fail(
        p, p->opened,
        "'and' and 'or' after this need parentheses: write (within 0.5 of A) and "
        "B, or within 0.5 of (A and B); the rule also holds for 'same ... as'");
}

/* Operands of "or" are joined by "and", whose operands are tests. */
static collet_status parse_joined(selection_parser *p, selection_code code)
{
    const char *word = code == SELECT_OR ? "or" : "and", *sign = code == SELECT_OR ? "||" : "&&";
    collet_status status = code == SELECT_OR ? parse_joined(p, SELECT_AND) : parse_operand(p);

    while (status == COLLET_OK && (selection_is(p, word) || selection_is(p, sign))) {
        status = check_joint(p);
        if (status == COLLET_OK)
            status = selection_advance(p);
        if (status == COLLET_OK)
            status = code == SELECT_OR ? parse_joined(p, SELECT_AND) : parse_operand(p);
        if (status == COLLET_OK)
            emit(p, (selection_step){.code = code});
    }
    return status;
}

static collet_status parse(selection_parser *p)
{
    collet_status status = selection_advance(p);

    if (status == COLLET_OK && selection_at_end(p))
        return selection_fail(p, p->at, "it is empty; 'all' selects every atom");
    if (status == COLLET_OK)
        status = parse_joined(p, SELECT_OR);
    if (status == COLLET_OK && !selection_at_end(p))
        return selection_fail(p, p->at,
                              selection_is(p, ")") ? "this parenthesis was never opened"
                                                   : "expected 'and' or 'or'");
    return status;
}

collet_status trajectory_selection_compile(const char *text, trajectory_selection **out,
                                           collet_error *err)
{
    trajectory_selection *s = calloc(1, sizeof *s);
    selection_parser p = {.selection = s, .text = text, .err = err};
    size_t capacity = strlen(text) + 1; /* steps and items: no token is shorter than a byte */
    collet_status status;

    *out = NULL;
    if (s == NULL)
        return collet_fail(err, COLLET_NO_MEMORY, "selection: out of memory");
    s->text = strdup(text);
    s->steps = calloc(capacity, sizeof *s->steps);
    s->items = calloc(capacity, sizeof *s->items);
    if (s->text == NULL || s->steps == NULL || s->items == NULL)
        status = collet_fail(err, COLLET_NO_MEMORY, "selection: out of memory");
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
    free(selection->steps);
    free(selection->items);
    free(selection);
}
