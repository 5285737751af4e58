/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A parsed op: a row of ops.def, or a plugin's own definition. Parsed ops are constant and may be
 * read on any thread.
 */
#ifndef COLLET_CORE_OP_H
#define COLLET_CORE_OP_H

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
    /* NULL in a call. In collet_op_infer, memory for each output's shape; the shape of an output
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
    const collet_op_field *fields;
    uint32_t field_count, field_size;
    char sig[OP_SIG_MAX][COLLET_MAX_OPERANDS]; /* letters, '*' and '=' */
    uint64_t exact[OP_SIG_MAX];                /* the same packed, 0 where there is a '*' or '=' */
    collet_op_operand operand[COLLET_MAX_OPERANDS];
} op;

/* Input of op_parse. */
typedef struct op_source {
    uint32_t id;
    const char *name, *family, *shapes, *sigs;
    op_rule *rule;
    uint32_t params_size, alias;
    const collet_op_field *fields;
    uint32_t field_count, field_size;
    const char *split, *check, *measure, *summary;
} op_source;

/* Parses a definition; the strings must outlive the op. INVALID with the error in the definition.
 * "*" axes need a rule. */
collet_status op_parse(op *out, const op_source *source, collet_error *err);

/* Field k of the parameter block. */
const collet_op_field *op_field(const op *o, uint32_t k);
/* INVALID, with which and why, if a definition's field does not fit its kind, dtype and block
 * (field.c). */
collet_status op_field_check(const op *o, const collet_op_field *f, collet_error *err);

/* The ops of ops.def, parsed. `table` has OP_BUILTIN_MAX entries, NULL where there is no op. */
typedef struct op_table {
    op *ops;
    size_t count;
    const op *by_id[OP_BUILTIN_MAX];
} op_table;

collet_status op_table_create(op_table *table, collet_error *err);
void op_table_destroy(op_table *table);

/* ---- Dtypes (signature.c) ------------------------------------------------------------------ */

/* Fills op->sig, sig_count, unknown_sigs and exact from op->sigs. */
collet_status op_parse_sigs(op *o, collet_error *err);

/* Whether every signature of `b` is one of `a`. */
int op_has_sigs(const op *a, const op *b);

/* The dtypes packed in `sig` as ops.def writes them: "d:ff"; an absent operand is '-', a dtype that
 * does not exist its number in brackets. Returns `text`. */
#define OP_SIG_TEXT 64
const char *op_sig_text(const op *o, uint64_t sig, char text[OP_SIG_TEXT]);

/* The dtype of a letter; COLLET_DTYPE_NONE for '*' and '='. */
collet_dtype op_letter_dtype(char letter);
/* Whether the dtype fits a letter of a signature whose operand 0 has the dtype `first`. */
int op_letter_fits(char letter, collet_dtype d, collet_dtype first);

/* 1 if the dtypes packed in `sig` (absent operands 0) are accepted. */
int op_accepts(const op *o, uint64_t sig);

/* Accepted dtypes number `index`, with every operand present; returns 0 beyond the last. */
int op_signature(const op *o, size_t index, collet_dtype *dtypes);

/* Sets dtypes that are 0 to those of the first signature that fits. `scalar` is the
 * dtype of the op's value where it has one, else 0. Leaves them alone where none fits. */
void op_infer_dtypes(const op *o, op_shapes *views, collet_dtype scalar);

/* ---- Checks (check.c, field.c, shape.c)
 * --------------------------------------------------------------- */

/* op_params of an op that has parameters. */
collet_status op_take_params(const op *o, const void *params, void *copy, const void **out,
                             collet_error *err);

/* The parameter block of a call in *out: `params` itself, or a copy filled up with zeros in `copy`
 * (OP_PARAMS_MAX bytes, aligned) when the caller's is an older, shorter one. INVALID, also where a
 * newer, longer one or a reserved field is not 0. Inline, as
 * op_check: every call makes both. */
static inline collet_status op_params(const op *o, const void *params, void *copy, const void **out,
                                      collet_error *err)
{
    *out = NULL;
    return o->params_size ? op_take_params(o, params, copy, out, err) : COLLET_OK;
}

/* Writes collet_op_defaults, params_size bytes. */
void op_defaults(const op *o, int32_t ndim, void *params);

/* DTYPE: which operands have which dtype, and what they must be. */
collet_status op_dtype_error(const op *o, const op_shapes *views, collet_error *err);

/* Each SCALAR of the parameters must fit the dtype of output 0: DTYPE. */
collet_status op_check_scalars(const op *o, const op_shapes *views, const void *params,
                               collet_error *err);

/* Shapes and parameters alone: repeated when an operand was replaced by a copy with other strides.
 */
collet_status op_check_shapes(const op *o, op_shapes *views, const void *params,
                              op_scratch *scratch, collet_error *err);

/*
 * Checks dtypes, shapes and parameters of a call: `sig` packs the views' dtypes. Where a pattern
 * has "...", inputs get the broadcast axes (scratch, one an operand). DTYPE, SHAPE, INVALID,
 * OVERFLOW name the operands.
 */
static inline collet_status op_check(const op *o, uint64_t sig, op_shapes *views,
                                     const void *params, op_scratch *scratch, collet_error *err)
{
    collet_status status = COLLET_OK;
    if (!op_accepts(o, sig))
        return op_dtype_error(o, views, err);
    if (o->scalars)
        status = op_check_scalars(o, views, params, err);
    return status == COLLET_OK ? op_check_shapes(o, views, params, scratch, err) : status;
}

/* Merges neighbouring axes that are contiguous to each other in every view (elementwise ops). */
void op_merge_axes(op_shapes *views, uint32_t count, op_scratch *scratch);

/* "info (output 1)"; "input 2" where the definition has no name. Returns `buffer`. */
#define OP_OPERAND_TEXT 48
const char *op_operand_name(const op *o, uint32_t operand, char buffer[OP_OPERAND_TEXT]);

/* collet_op_infer of an op. */
collet_status op_infer(const op *o, const collet_array_spec *ins, const void *params,
                       collet_array_spec *outs, collet_error *err);

/* ---- Rules (core/ops) ------------------------------------------------------------------------ */

/* The shape of output k when it is to be inferred, else NULL. */
int64_t *op_open(op_shapes *views, uint32_t k);

/* Output k has this shape: stores it where it is to be inferred, else compares. SHAPE: the shapes
 * of output 0 and input 0, and `why`. */
collet_status op_expect(const op *o, op_shapes *views, uint32_t k, int32_t ndim,
                        const int64_t *shape, const char *why, collet_error *err);
collet_status op_shape_error(const op *o, const op_shapes *views, const char *why,
                             collet_error *err);

/* The column `rule` of ops.def. */
op_rule op_rule_transpose, op_rule_reduce, op_rule_reduce_some, op_rule_fft, op_rule_fftshift;
op_rule op_rule_observables, op_rule_scatter_slices, op_rule_scatter_images;
op_rule op_rule_ternary_quantize, op_rule_ternary_pack, op_rule_ternary_unpack, op_rule_ternary_dot,
    op_rule_ternary_matmul, op_rule_ternary_linear;

#endif
