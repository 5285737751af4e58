/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h - runs a program of elementwise steps over broadcast operands.
 *
 * The operands are walked in blocks whose values stay in the L1 cache: a step is one call of a block
 * kernel, and so is a chain of sums, differences and products, whose values stay in registers. Operands with
 * adjacent elements are used in place, others are gathered into a buffer. Rows too short for a block are walked
 * several at a time. If the elements of an input are adjacent along another axis than the elements of the
 * outputs, the input is transposed tile by tile. Results are bitwise equal to successive calls of the ops.
 *
 * Each value of the program has a slot: the index of its address. First come the views of the operands
 * (outputs, then inputs), then constants, then buffers. A value that is the same for all elements of a
 * block is `single`: one number.
 */
#pragma once

#include "cpu_openmp/runtime/device.h"

#include "cpu_openmp/util/loop.h"
#include "cpu_openmp/array/kernels/kernel_blocks.h"
#include "cpu_openmp/array/kernels/kernel_convert.h"
#include "cpu_openmp/array/kernels/kernel_move.h"

/* Values of a program: inputs, constants and steps. */
#define MACHINE_VALUES (COLLET_PROGRAM_INPUTS + COLLET_PROGRAM_CONSTANTS + COLLET_PROGRAM_STEPS)

/* Bytes of a buffer, which holds one block of the widest dtype. SMALL: if a program needs many buffers. */
#define MACHINE_BLOCK 4096
#define MACHINE_SMALL_BLOCK 2048

typedef struct machine_step {
    block_kernel run;
    collet_dtype from, to; /* the dtypes of the last input and of the result */
    uint16_t out, in[3];   /* slots */
    uint8_t kind;          /* MACHINE_* */
    uint8_t inputs;
    uint8_t repeated; /* bit k: input k is single, and the kernel accepts that */
    uint8_t single;   /* the result is single */
    uint8_t halves;   /* bit k: input k is f16 or bf16 */
    uint8_t op;       /* CHAIN_* of a step that can be a part of a chain: in[0] is `a`, in[1] x and in[2] y */
    uint8_t place;    /* its number in the chain; only the last step of a chain writes `out` */
    uint8_t links;    /* in the first step of a chain: the number of further steps */
} machine_step;

#define MACHINE_LINKS 16

enum {
    MACHINE_RUN,     /* a block kernel */
    MACHINE_HALF,    /* a block kernel of f32 for operands of f16 or bf16, which are converted */
    MACHINE_CONVERT, /* to another dtype */
    MACHINE_FILL,    /* repeats a single value */
    MACHINE_CHAIN,   /* this step and the `links` steps after it */
};

typedef struct machine_view {
    collet_dtype dtype;
    uint8_t kind;     /* MACHINE_ADJACENT ... */
    uint8_t streamed; /* an output that is written by non-temporal stores */
    uint8_t direct;   /* an output that a step writes */
    uint8_t single;   /* an output whose value is single */
    uint16_t slot;    /* outputs: the slot of the value; gathered inputs: the slot of the buffer */
    uint8_t
        across;   /* an input whose elements are adjacent along the last axis but one: its tiles are
                         transposed into the panel */
    int64_t size; /* bytes of an element */
    int32_t shift; /* log2 of the size */
    int64_t panel; /* if `across`: where its part of the panel begins */
} machine_view;

enum {
    MACHINE_ADJACENT,
    MACHINE_SINGLE,  /* one number for all elements of a block */
    MACHINE_GATHERED /* an input is gathered, an output scattered */
};

typedef struct machine {
    const collet_device *device;
    const collet_program *program;
    const collet_scalar *constants;
    loop l;
    machine_view view[LOOP_VIEWS];
    machine_step *steps;    /* each thread runs the first `prologue` steps once, the other steps per block */
    machine_step uncounted; /* the latest step, if `steps` is NULL */
    uint32_t n_steps, prologue;
    uint32_t first_buffer; /* slot */
    uint32_t buffers;
    int in_order;        /* parts are computed by machine_range or machine_part, so rows are in order */
    int read_soon;       /* outputs: no non-temporal stores */
    uint32_t few;        /* up to `few` buffers have MACHINE_BLOCK bytes; more have MACHINE_SMALL_BLOCK */
    uint32_t wide;       /* slot of the first of four buffers for operands of MACHINE_HALF */
    int64_t block_bytes; /* bytes of a buffer */
    int64_t block;       /* elements */
    int64_t block_rows;  /* short rows per block; 0: rows are long */
    int64_t
        tile_rows; /* rows that are walked together, block by block, if an input is `across`; else 0 */
    int64_t tile_columns;
    int64_t cost; /* cost of an element: the number of bytes whose copy takes as long */
    char *memory; /* machine_memory bytes a thread; NULL: each thread uses its stack, and
                            `few` is MACHINE_ON_STACK */
} machine;

/* The number of buffers of MACHINE_BLOCK bytes on the stack of a thread. Twice as many small buffers fit there. */
#define MACHINE_ON_STACK 4

/* Bytes of the tiles of all inputs that are transposed. The tiles are on the stack of a thread. */
#define MACHINE_PANEL (8 << 10)

/* The most machine steps that a program of `n` values needs: some steps only fill a buffer. */
#define MACHINE_STEPS(n) (2 * (n))

/* Prepares `m` for a program of at most MACHINE_VALUES values and the operands of a call: the
 * outputs of the program, then its inputs. `steps` has room for MACHINE_STEPS(values) steps. If `steps` is NULL, the
 * operands have no addresses yet, and machine_memory returns an upper bound. On entry only device,
 * program, constants, few and read_soon of `m` are set; the rest is 0. */
void machine_prepare(machine *m, const collet_kernel_call *call, machine_step *steps);

/* Bytes that each thread needs. */
int64_t machine_memory(const machine *m);

/* Runs the program on the threads of the device. */
void machine_run(machine *m);

/* `copy` between two dtypes. */
void machine_convert(collet_device *device, const collet_kernel_call *call);

/* Computes elements begin .. end-1 of the outputs, in C order, on the calling thread. Writes output k to
 * out + k * out_step. `memory` has machine_memory bytes, and MACHINE_STAGE more for each output if rows
 * are short. */
#define MACHINE_STAGE (16 << 10)
void machine_range(const machine *m, char *memory, int64_t begin, int64_t end, char *out,
                   int64_t out_step);

/* Properties of an op, as bits: its number of inputs; REPEATS: its kernels accept one repeated input
 * (kernel_blocks.h); HEAVY: it costs much more than memory accesses. */
#define MACHINE_INPUTS 3
#define MACHINE_REPEATS 4
#define MACHINE_HEAVY 8
int machine_traits(uint32_t op);

/* The kernel of an op whose last input has this dtype. */
static inline block_kernel machine_kernel(const isa_level *level, uint32_t op, collet_dtype dtype)
{
    block_find find = level->blocks_real->find[dtype];
    if (!find)
        find = level->blocks_integer->find[dtype];
    if (!find)
        find = level->blocks_complex->find[dtype];
    return find(op);
}

/* The elements that the loop walks together: a part begins and ends at a multiple of them. */
int64_t machine_unit(const machine *m);

/* Computes elements begin .. end-1, in C order, on the calling thread. Element 0 of view k (outputs, then inputs) is at
 * at[k]. `memory` has machine_memory bytes. */
void machine_part(const machine *m, char *memory, char *const *at, int64_t begin, int64_t end);
