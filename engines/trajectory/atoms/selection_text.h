/* SPDX-License-Identifier: Apache-2.0 */
/* selection_text.h - the words of a selection's text, and messages that point at them. */
#pragma once

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
    int depth;     /* nesting of parentheses, and of operators in front of their operand */
    int open;      /* 1: the last operand is a "same" or "within" without parentheses around it */
    size_t opened; /* position at which that operand begins */
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

/* Returns COLLET_INVALID; the text is `message`, the column of position `at`, and two lines: the selection, and a caret
 * below that position. */
collet_status selection_fail(const selection_parser *parser, size_t at, const char *message);

/* Steps to the next token. COLLET_INVALID for a quote that is not closed. */
collet_status selection_advance(selection_parser *parser);

/* 1 if the token is this word, in upper or lower case, without quotes. */
int selection_is(const selection_parser *parser, const char *word);
int selection_at_end(const selection_parser *parser);
/* 1 if the token ends a list: the end, a parenthesis, "and", "or", "not". */
int selection_ends_list(const selection_parser *parser);

/* Returns the entry of the token if it is a word that begins a test; else NULL. */
const selection_word *selection_find_word(const selection_parser *parser);

/* Fails for a token that is not a word of the language. The message names the nearest word, or how to write what the
 * word means in another program. */
collet_status selection_fail_word(const selection_parser *parser);
