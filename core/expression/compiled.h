/* SPDX-License-Identifier: Apache-2.0 */
/* An expression compiled for the dtypes of its inputs: typed steps, cut into programs. */
#pragma once

#include "graph.h"

#define PLAN_NUMBER 0x100

/* The number of a value: its kind in the upper bits. */
#define PLAN_INPUT 0u
#define PLAN_CONSTANT 0x40000000u
#define PLAN_STEP 0x80000000u
#define PLAN_KIND(id) ((id)&0xc0000000u)
#define PLAN_INDEX(id) ((id)&0x3fffffffu)

typedef struct plan_step {
    uint32_t op, inputs;
    uint32_t in[3];
    collet_dtype dtype;
    uint8_t shape; /* program_shape; set when the step is added */
} plan_step;

/* Numbers that the host knows are identified by their node in the graph, or by PLAN_STEP | the index of a range. */
#define PLAN_ZERO UINT32_MAX /* the number 0 */

/* A number converted to a dtype; an integer must fit. If elements of an integer dtype are compared with an integer
 * that does not fit the dtype, the constant is the nearest integer of the dtype or, as a bool, the result of the
 * comparison. */
typedef struct plan_constant {
    uint32_t number;
    collet_dtype dtype;
    uint32_t compares;   /* the comparison; COLLET_NO_OP: none */
    collet_dtype beside; /* the dtype of the elements that are compared with it */
} plan_constant;

/* A function of known integers and bools. If a `where` selects among such numbers for each element, only the
 * bounds of the result are known. */
typedef struct plan_range {
    uint32_t op, count;
    uint32_t in[3]; /* numbers; UINT32_MAX: a condition that is an array */
    int varies;     /* 1: the value differs from element to element */
    int given;      /* depends on inputs that are numbers */
} plan_range;

typedef struct plan_bounds {
    literal low, high;
} plan_bounds;

/* A check before an evaluation: the range must be within the integer dtype. */
typedef struct plan_check {
    uint32_t range;
    collet_dtype dtype;
} plan_check;

/* Steps that one call of `evaluate` computes. */
typedef struct plan_piece {
    collet_program program;
    uint32_t first, end;                                             /* steps [first, end) */
    uint32_t in[COLLET_PROGRAM_INPUTS], out[COLLET_PROGRAM_OUTPUTS]; /* numbers of values; numbers of steps */
    collet_dtype *dtypes;
    collet_step *steps;
    uint16_t outs[COLLET_PROGRAM_OUTPUTS];
    uint32_t *constant; /* indices */
    collet_scalar *values;
} plan_piece;

typedef struct plan {
    int users, kept;  /* kept: in the list of the expression */
    uint64_t used;    /* time of the last use; the plan with the oldest time is replaced */
    uint64_t version; /* version of the constants */
    uint64_t hash;    /* hash of in_dtypes */
    int beyond; /* 1: numbers with which elements are compared may be beyond the dtype of the elements */
    int misses; /* 1: a number is beyond the dtype, but `beyond` is 0: these constants need another plan */
    collet_dtype in_dtypes[COLLET_EXPRESSION_INPUTS]; /* the bit PLAN_NUMBER marks a weak number */
    plan_step *steps;
    uint32_t step_count, step_capacity;
    plan_constant *constants;
    uint32_t constant_count, constant_capacity;
    plan_range *ranges;
    uint32_t range_count, range_capacity;
    plan_check *checks;
    uint32_t check_count, check_capacity;
    collet_scalar *values; /* values of constants that do not depend on inputs; `bounds`: of ranges */
    plan_bounds *bounds;
    uint32_t outs[COLLET_EXPRESSION_OUTPUTS];           /* step of each output */
    collet_dtype out_dtypes[COLLET_EXPRESSION_OUTPUTS]; /* after the reduction */
    uint64_t out_narrow; /* bit k: output k has one element per row */
    uint32_t *last; /* for each step, the last piece that uses it; outputs: the end */
    plan_piece *pieces;
    uint32_t piece_count;
    int fused; /* 1: the last piece reduces all outputs */
    uint32_t reductions; /* steps that reduce rows; each is a piece of its own */
    plan_piece *rows;    /* the whole program with these steps, for backends that take it; NULL: it is too large */
} plan;
