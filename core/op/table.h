/* SPDX-License-Identifier: Apache-2.0 */
/* Parses definitions of ops, and makes the table of ops.def. */
#pragma once

#include "op.h"

/* The input of op_parse. */
typedef struct op_source {
    uint32_t id;
    const char *name, *family, *shapes, *sigs;
    op_rule *rule;
    uint32_t params_size, alias;
    const collet_ops_field *fields;
    uint32_t field_count, field_size;
    const char *split, *check, *measure, *summary;
} op_source;

/* Parses a definition; the strings must outlive the op. INVALID with the error in the definition.
 * "*" axes need a rule. */
collet_status op_parse(op *out, const op_source *source, collet_error *err);

/* Parses the ops of ops.def. `table` has OP_BUILTIN_MAX entries; NULL: no op has this id. */
typedef struct op_table {
    op *ops;
    size_t count;
    const op *by_id[OP_BUILTIN_MAX];
} op_table;

collet_status op_table_create(op_table *table, collet_error *err);
void op_table_destroy(op_table *table);
