/* SPDX-License-Identifier: Apache-2.0 */
/* row_plan.h - the stages of a program with steps that reduce rows, and where its values are. */
#pragma once

#include "machine.h"
#include "reduction.h"
#include "shared/host/util/counts.h"

/* The most steps and constants of a program; a tile of few rows then fits into the L2 cache. */
#define ROW_STEPS 64
#define ROW_CONSTANTS 64
#define ROW_VALUES (COLLET_PROGRAM_INPUTS + ROW_CONSTANTS + ROW_STEPS)

/* The shape of a value. */
enum { ROW_NUMBER, ROW_NARROW /* one element per row */, ROW_FULL };

/* Where a value is that a stage stores or a reduction reads. */
typedef struct row_place {
    uint8_t stored;
    uint8_t in_operand; /* 1: in the memory of an operand, in C order; 0: in the memory of the thread's tile */
    int64_t size;       /* bytes of an element */
    int64_t offset;     /* in the memory of a tile */
    char *at;           /* the first element of the operand */
} row_place;

typedef struct row_stage {
    uint32_t op;      /* a reduction, or 0 */
    uint16_t from;    /* the value that is reduced */
    uint16_t outs[COLLET_PROGRAM_OUTPUTS], ins[COLLET_PROGRAM_INPUTS]; /* values */
    row_method by;    /* of a reduction */
    int narrow;       /* the steps have one element per row */
    machine m;
    collet_program program;
    collet_dtype dtypes[COLLET_PROGRAM_INPUTS + ROW_CONSTANTS];
    collet_step steps[ROW_STEPS];
    uint16_t results[COLLET_PROGRAM_OUTPUTS], number[ROW_VALUES]; /* the values' numbers in `program` */
} row_stage;

typedef struct row_plan {
    const collet_device *device;
    const collet_kernel_call *call;
    const collet_program *p;
    const collet_scalar *constants;
    uint32_t first;          /* the number of inputs and constants */
    int64_t length, rows;    /* of the inputs' broadcast shape */
    int64_t full[COLLET_MAX_DIMS], narrow[COLLET_MAX_DIMS], one; /* strides in elements */
    uint32_t last;           /* the last level */
    uint32_t level[ROW_VALUES];  /* the number of stages, one after the other, before the stage of a step */
    uint8_t shape[ROW_VALUES];
    row_place place[ROW_VALUES];
    uint32_t n_stages;
    row_stage *stages;
    int64_t tile_rows, tile_bytes, machine_bytes, thread_bytes;
    char *memory; /* thread_bytes of each thread: results of reductions, the tile's values, the machine's memory */
} row_plan;

/* The stages are made in the order in which they run: for each level the elementwise stages of the full shape, those with one
 * element per row, then the reductions. */
typedef struct row_cursor {
    uint32_t level, phase, next; /* phase: 0 full, 1 narrow, 2 reductions; next: the next step */
} row_cursor;

/* Makes the plan except its stages, and counts these. `s`: memory for one stage meanwhile. NULL; or the reason why the
 * program cannot be run by tiles. */
const char *row_plan_make(row_plan *r, const collet_device *device, const collet_kernel_call *call,
                          row_stage *s);

/* Makes the next stage. 1; 0: there is none; -1: a stage has too many inputs. */
int row_plan_next(const row_plan *r, row_cursor *c, row_stage *s);

/* Prepares the machine of an elementwise stage, or the method of a reduction. `tile`: the memory of a tile, or NULL. */
void row_plan_prepare(const row_plan *r, row_stage *s, machine_step *steps, char *tile);

static inline int row_is_narrow(const row_plan *r, uint32_t value)
{
    return r->shape[value] == ROW_NARROW;
}

/* Bytes of a number for each row of a tile. */
static inline int64_t row_results(const row_plan *r)
{
    return divide_up(r->tile_rows * (int64_t)sizeof(double), 64) * 64;
}
