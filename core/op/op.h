/* SPDX-License-Identifier: Apache-2.0 */
/* A parsed op: a row of ops.def, or a plugin's own definition. Parsed ops are constant and may be
 * read on any thread. */
#pragma once

#include <collet/collet.h>
#include <collet/plugin.h>

#define OP_SIG_MAX 24      /* signatures of one op */
#define OP_PARAMS_MAX 256  /* bytes of a parameter block */
#define OP_BUILTIN_MAX 512 /* ids in ops.def are smaller */
#define OP_FIELDS_MAX 32   /* fields of a parameter block */

struct op;

/* The shapes of one call; outputs first. */
typedef struct op_shapes {
    struct op_view {
        int32_t ndim;
        const int64_t *shape; /* NULL: absent */
        const int64_t *strides;
        collet_dtype dtype;
        /* The first element of an i64 operand whose bytes are only in host memory and not in use;
         * else NULL. Rules may check such values: they need not wait for a device. */
        const int64_t *host;
    } operand[COLLET_MAX_OPERANDS];
    /* NULL in a call. In collet_ops_infer, memory for each output's shape: the shape of an output
     * to be inferred points to it; ndim or extents that are unknown are -1. */
    int64_t (*open)[COLLET_MAX_DIMS];
    int merge; /* set by a rule: the axes may be merged, as for an elementwise op */
    int apart; /* set by a rule: no output may be an input, although the op permits it */
} op_shapes;

/* A rule expresses what patterns cannot. A rule runs after the patterns, when the views are broadcast. It computes
 * unknown shapes, and checks given shapes and the parameters. One function does both, so that a call accepts inferred
 * shapes: see op_expect and op_open. */
typedef collet_status op_rule(const struct op *op, op_shapes *views, const void *params,
                              collet_error *err);

/* Scratch for shape and strides (8 axes) of each operand. */
typedef int64_t op_scratch[2][COLLET_MAX_DIMS];

typedef struct op {
    uint32_t id;
    uint32_t n_out, n_in;
    uint32_t params_size;
    uint32_t alias; /* 0: no output may be an input; 1: an output may be any input; 2: only the first input */
    uint32_t sig_count;
    uint32_t unknown_sigs; /* number of signatures with dtypes that this libcore does not know */
    int32_t elementwise;   /* every pattern is "..." alone */
    int32_t rule_only;     /* every pattern is "*" */
    int32_t any_dtype;     /* every letter of its signature is "?" */
    int32_t scalars;       /* number of fields of kind SCALAR */
    uint64_t reserved;     /* bit i: word i of the parameters must be 0; only for ops of ops.def */
    op_rule *rule;         /* NULL: only patterns */
    const char *name, *family, *shapes, *sigs, *split, *check, *measure, *summary;
    const char *definer; /* the backend that defines an own op; else NULL */
    struct op *replaced; /* own ops: the shorter definition in use before this definition */
    const collet_ops_field *fields;
    uint32_t field_count, field_size;
    char sig[OP_SIG_MAX][COLLET_MAX_OPERANDS]; /* letters, '*' and '=' */
    uint64_t exact[OP_SIG_MAX];                /* the signature, packed; 0 if it has '*' or '=' */
    collet_ops_operand operand[COLLET_MAX_OPERANDS];
} op;

/* Writes "info (output 1)", or "input 2" if the operand has no name. Returns `buffer`. */
#define OP_OPERAND_TEXT 48
const char *op_operand_name(const op *o, uint32_t operand, char buffer[OP_OPERAND_TEXT]);
