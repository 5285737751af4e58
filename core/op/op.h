/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A parsed op: a row of ops.def, or a plugin's own definition. Parsed ops are constant and may be
 * read on any thread.
 */
#ifndef CORE_OP_OP_H
#define CORE_OP_OP_H

#include <collet/collet.h>
#include <collet/plugin.h>

#define OP_SIG_MAX 24      /* signatures of one op */
#define OP_PARAMS_MAX 256  /* bytes of a parameter block */
#define OP_BUILTIN_MAX 256 /* ids of ops.def stay below */
#define OP_FIELDS_MAX 32   /* fields of a parameter block */

struct op;

/* The shapes of one call; outputs first. */
typedef struct op_shapes {
    struct op_view {
        int32_t ndim;
        const int64_t *shape; /* NULL: absent */
        const int64_t *strides;
        collet_dtype dtype;
    } operand[COLLET_MAX_OPERANDS];
    /* NULL in a call. In collet_ops_infer, memory for each output's shape; the shape of an output
     * that is to be inferred points to it, with ndim -1 or extents of -1 where nothing is known. */
    int64_t (*open)[COLLET_MAX_DIMS];
} op_shapes;

/*
 * A rule for what patterns cannot express, after the patterns (the views are broadcast then):
 * computes the shapes that are open, and checks the given ones and the parameters. One function
 * does both, so that inferred shapes are accepted: see op_expect and op_open.
 */
typedef collet_status op_rule(const struct op *op, op_shapes *views, const void *params,
                              collet_error *err);

/* Scratch for shape and strides (8 axes) of each operand. */
typedef int64_t op_scratch[2][COLLET_MAX_DIMS];

typedef struct op {
    uint32_t id;
    uint32_t n_out, n_in;
    uint32_t params_size;
    uint32_t alias; /* 1: an output may be exactly an input */
    uint32_t sig_count;
    uint32_t unknown_sigs; /* signatures of an own op with dtypes that this libcore does not know */
    int32_t elementwise;   /* every pattern is "..." alone */
    int32_t rule_only;     /* every pattern is "*" */
    int32_t scalars;       /* fields of kind SCALAR */
    uint64_t reserved; /* bit i: the i-th 4 bytes of the parameters are 0; ops of ops.def alone */
    op_rule *rule;     /* NULL: the patterns alone */
    const char *name, *family, *shapes, *sigs, *split, *check, *measure, *summary;
    const char *definer; /* the backend of an own op, else NULL */
    struct op *replaced; /* own ops: the shorter definition in use before this one */
    const collet_ops_field *fields;
    uint32_t field_count, field_size;
    char sig[OP_SIG_MAX][COLLET_MAX_OPERANDS]; /* letters, '*' and '=' */
    uint64_t exact[OP_SIG_MAX];                /* the same packed, 0 where there is a '*' or '=' */
    collet_ops_operand operand[COLLET_MAX_OPERANDS];
} op;

/* "info (output 1)"; "input 2" where the definition has no name. Returns `buffer`. */
#define OP_OPERAND_TEXT 48
const char *op_operand_name(const op *o, uint32_t operand, char buffer[OP_OPERAND_TEXT]);

#endif
