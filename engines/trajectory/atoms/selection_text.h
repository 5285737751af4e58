/* SPDX-License-Identifier: Apache-2.0 */
/* selection_text.h - the words of a selection's text, and messages that point at them. */
#ifndef ENGINES_TRAJECTORY_ATOMS_SELECTION_TEXT_H
#define ENGINES_TRAJECTORY_ATOMS_SELECTION_TEXT_H

#include "selection_steps.h"

#include <collet/collet.h>

/* Reads a text from the left, one token at a time: a parenthesis, a text in quotes, or a word. */
typedef struct selection_parser {
    trajectory_selection *selection;
    const char *text;
    size_t at;     /* position of the token, behind an opening quote */
    size_t length; /* bytes of the token; 0 at the end of the text, and for "" */
    size_t end;    /* end of the token, behind a closing quote */
    int quoted;
    int depth;     /* of parentheses, and of operators in front of their operand */
    int open;      /* 1: the last operand is of "same" or "within", without parentheses around it */
    size_t opened; /* where it begins */
    collet_error *err;
} selection_parser;

/* What follows a word that begins a test. */
typedef enum selection_operand {
    SELECT_NOTHING,
    SELECT_PATTERNS,
    SELECT_RANGES,
    SELECT_COMPARISON
} selection_operand;

typedef struct selection_word {
    const char *text;
    selection_code code;
    selection_operand operand;
} selection_word;

/* COLLET_INVALID: `message`, the column of position `at`, and a line with a caret below it. */
collet_status selection_fail(const selection_parser *parser, size_t at, const char *message);

/* Steps to the next token. COLLET_INVALID for a quote that is not closed. */
collet_status selection_advance(selection_parser *parser);

/* 1 if the token is this word, in any case; a text in quotes is none. */
int selection_is(const selection_parser *parser, const char *word);
int selection_at_end(const selection_parser *parser);
/* 1 if the token ends a list: the end, a parenthesis, "and", "or", "not". */
int selection_ends_list(const selection_parser *parser);

/* The word that begins a test; NULL: the token is none. */
const selection_word *selection_find_word(const selection_parser *parser);

/* The token is not a word of the language: the message names the nearest, or how to write what the
 * word means elsewhere. */
collet_status selection_fail_word(const selection_parser *parser);

#endif
