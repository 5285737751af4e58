/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of expressions. */
#pragma once

#include "graph.h"

/* A name for a value of the graph. */
typedef struct parse_name {
    const char *name;
    uint32_t value;
} parse_name;

/* Adds the expressions of a text to an empty graph. collet_expression_parse describes the syntax.
 * */
collet_status parse_text(graph *g, const char *text, collet_error *err);
/* Parses at most `count` expressions, separated by ";", and stores their values. The expressions may use only the
 * names in `names`, whose last element has the name NULL. */
collet_status parse_values(graph *g, uint32_t *values, uint32_t count, const char *text,
                           const parse_name *names, collet_error *err);
