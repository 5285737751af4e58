/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libcore knows of an op: the row of ops.def, or a plugin's own definition, parsed once.
 * Parsed ops are constant and may be read on any thread.
 */
#ifndef COLLET_CORE_OP_H
#define COLLET_CORE_OP_H

#include <collet/collet.h>
#include <collet/plugin.h>

#define OP_SIG_MAX 24      /* signatures of one op */
#define OP_PARAMS_MAX 256  /* bytes of a parameter block */
#define OP_BUILTIN_MAX 256 /* ids of ops.def stay below */

/* An axis of a pattern: an exact extent >= 0, a letter 'A'..'z' as -letter, or the smaller of two
 * letters' extents as both of them, the second 128-fold. */
#define OP_AXIS_LEAST(first, second) (-((first) + 128 * (second)))
#define OP_AXIS_IS_LEAST(axis) ((axis) <= -128)
#define OP_AXIS_LETTER(axis) ((int)(-(axis) % 128))
#define OP_AXIS_SECOND(axis) ((int)(-(axis) / 128))

typedef struct op_pattern {
    int32_t ndim; /* named axes, without "..." */
    int32_t dots; /* 1: begins with "..." */
    int32_t axes[COLLET_MAX_DIMS];
} op_pattern;

typedef struct op_operand {
    op_pattern pattern[2];
    int32_t alternatives; /* 1 or 2 */
    int32_t optional;
} op_operand;

struct op;

/* The shapes of one call; outputs first. */
typedef struct op_shapes {
    struct op_view {
        int32_t ndim;
        const int64_t *shape;
        const int64_t *strides;
        collet_dtype dtype;
    } operand[COLLET_MAX_OPERANDS];
} op_shapes;

/*
 * A shape rule for what patterns cannot express: checks the views and the parameters, after the
 * patterns where the op has some (the views are broadcast then). May replace a
 * view's shape and strides by ones in `scratch` (COLLET_MAX_DIMS entries each, one pair an operand)
 * when the kernel wants to see other axes than the caller gave.
 */
typedef collet_status (*op_rule)(const struct op *op, op_shapes *views, const void *params,
                                 int64_t (*scratch)[2][COLLET_MAX_DIMS], collet_error *err);

typedef struct op {
    uint32_t id;
    uint32_t n_out, n_in;
    uint32_t params_size;
    uint32_t alias; /* 1: an output may be exactly an input */
    uint32_t sig_count;
    int32_t elementwise; /* every pattern is "..." alone */
    op_rule rule;        /* NULL: the patterns alone */
    int32_t rule_only;   /* there are no patterns */
    const char *name, *family, *shapes, *sigs, *split, *check;
    op_operand operand[COLLET_MAX_OPERANDS];
    char sig[OP_SIG_MAX][COLLET_MAX_OPERANDS]; /* letters, '*' and '=' */
    uint64_t exact[OP_SIG_MAX];                /* the same packed, 0 where there is a '*' or '=' */
} op;

/* Parses a definition; the strings are lent for as long as the op lives. INVALID says what is
 * wrong. `shapes` with an '@' needs `rule`. */
collet_status op_parse(op *out, uint32_t id, const char *name, const char *family,
                       const char *shapes, const char *sigs, uint32_t params_size, uint32_t alias,
                       op_rule rule, collet_error *err);

/* 1 when the dtypes packed in `sig` (absent operands 0) are accepted. */
int op_accepts(const op *o, uint64_t sig);

/* The ops of ops.def, parsed. `table` has OP_BUILTIN_MAX entries, NULL where there is no op. */
typedef struct op_table {
    op *ops;
    size_t count;
    const op *by_id[OP_BUILTIN_MAX];
} op_table;

collet_status op_table_create(op_table *table, collet_error *err);
void op_table_destroy(op_table *table);

/*
 * Checks the views of a call against the op's patterns: operands that are absent have shape NULL.
 * Where "..." stands, views get the broadcast axes (scratch). SHAPE names operands and shapes.
 */
collet_status op_check_shapes(const op *o, op_shapes *views, const void *params,
                              int64_t (*scratch)[2][COLLET_MAX_DIMS], collet_error *err);

/* Merges neighbouring axes that are contiguous to each other in every view (elementwise ops). */
void op_merge_axes(op_shapes *views, uint32_t count, int64_t (*scratch)[2][COLLET_MAX_DIMS]);

/* "output 0", "input 2", ... of operand i. */
const char *op_operand_name(const op *o, uint32_t operand, char buffer[24]);

/* Rules that ops.def names: "@transpose" is op_rule_transpose. They live in core/ops/. */
collet_status op_rule_transpose(const op *o, op_shapes *views, const void *params,
                                int64_t (*scratch)[2][COLLET_MAX_DIMS], collet_error *err);
collet_status op_rule_reduce(const op *o, op_shapes *views, const void *params,
                             int64_t (*scratch)[2][COLLET_MAX_DIMS], collet_error *err);
collet_status op_rule_reduce_some(const op *o, op_shapes *views, const void *params,
                                  int64_t (*scratch)[2][COLLET_MAX_DIMS], collet_error *err);
collet_status op_rule_fft(const op *o, op_shapes *views, const void *params,
                          int64_t (*scratch)[2][COLLET_MAX_DIMS], collet_error *err);
collet_status op_rule_fftshift(const op *o, op_shapes *views, const void *params,
                               int64_t (*scratch)[2][COLLET_MAX_DIMS], collet_error *err);
collet_status op_rule_ternary_quantize(const op *o, op_shapes *views, const void *params,
                                       int64_t (*scratch)[2][COLLET_MAX_DIMS], collet_error *err);
collet_status op_rule_ternary_pack(const op *o, op_shapes *views, const void *params,
                                   int64_t (*scratch)[2][COLLET_MAX_DIMS], collet_error *err);
collet_status op_rule_ternary_unpack(const op *o, op_shapes *views, const void *params,
                                     int64_t (*scratch)[2][COLLET_MAX_DIMS], collet_error *err);
collet_status op_rule_ternary_dot(const op *o, op_shapes *views, const void *params,
                                  int64_t (*scratch)[2][COLLET_MAX_DIMS], collet_error *err);
collet_status op_rule_ternary_matmul(const op *o, op_shapes *views, const void *params,
                                     int64_t (*scratch)[2][COLLET_MAX_DIMS], collet_error *err);
collet_status op_rule_ternary_linear(const op *o, op_shapes *views, const void *params,
                                     int64_t (*scratch)[2][COLLET_MAX_DIMS], collet_error *err);

#endif
