/* SPDX-License-Identifier: Apache-2.0 */
/* The tokens of a text, and errors that name a column. */
#pragma once

#include "graph.h"

typedef enum token_kind { TOKEN_END, TOKEN_NAME, TOKEN_NUMBER, TOKEN_SIGN, TOKEN_BAD } token_kind;

typedef struct parser {
    graph *g;
    const char *text, *at; /* `at`: behind the token */
    const char *token;
    size_t length;
    token_kind kind;
    int depth;
    const struct parse_name *names; /* NULL: names are inputs */
    collet_error *err;
    collet_error why; /* the graph's error; not a local variable, because the parser recurses */
} parser;

/* Reads the next token. */
void token_next(parser *p);
int token_is(const parser *p, const char *text);

/* INVALID, with the column of `at`, and what was expected instead of the token. */
collet_status token_fail(parser *p, const char *at, const char *format, ...) COLLET_PRINTF(3, 4);
collet_status token_expected(parser *p, const char *what);
