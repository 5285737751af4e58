/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rivals: libraries that do by themselves what an op of Collet does, called directly.
 *
 * Each is loaded in a process of its own (rival_worker.c), a child of backend-bench: what a library
 * takes the processor for is fixed when it is loaded, and one that dies takes nobody along. The
 * child makes the same operands as the parent, for inputs.h gives the same numbers in every run.
 * The tool links none of them: their few functions are declared by hand and found by dlsym.
 */
#ifndef BENCH_RIVAL_H
#define BENCH_RIVAL_H

#include "cases.h"

#define RIVAL_TEXT 256
#define RIVAL_VARIANTS 8

/* A call that a rival is to make, in the child. */
typedef struct rival_job {
    const char *op;
    uint32_t count; /* operands, outputs first */
    bench_operand operands[COLLET_MAX_OPERANDS];
    void *data[COLLET_MAX_OPERANDS]; /* C-contiguous, 64-byte aligned; NULL: absent */
    int32_t axes;                    /* fft: how many, the last ones */
    int32_t threads;
    int32_t (*call)(struct rival_job *job); /* set by open; 0 when it failed */
    int32_t same;          /* set by open: the output that must be as the op's own; -1: none is */
    void *state;           /* the library's own, for the life of the process */
    char text[RIVAL_TEXT]; /* set by open: which library this is, or why it cannot be used */
} rival_job;

/* A value of the library's variable, and whether this processor has what it stands for. */
typedef struct rival_variant {
    const char *value; /* NULL: the library's own pick; without a variable "1 thread" or the like */
    int32_t (*fits)(void);
} rival_variant;

typedef struct rival_library {
    const char *name;
    const char *variable; /* of the environment, by which its kernels are chosen; NULL: none */
    rival_variant variants[RIVAL_VARIANTS]; /* up to the first without `fits` */
    const char *offers; /* "op:dtypes of output 0 and input 0, ...": " matmul:ff matmul:dd " */
    int32_t (*open)(rival_job *job); /* in the child: loads and prepares; 0: text says why not */
} rival_library;

size_t rival_library_count(void);
const rival_library *rival_library_at(size_t index);
/* NULL when there is none of that name. */
const rival_library *rival_library_find(const char *name);
/* 1 when the library does what the layout asks for. */
int32_t rival_library_offers(const rival_library *library, const bench_layout *layout);

/* What a rival file offers to the table. */
int32_t rival_openblas_open(rival_job *job);
int32_t rival_blis_open(rival_job *job);
int32_t rival_onednn_open(rival_job *job);
int32_t rival_fftw_open(rival_job *job);
/* The LAPACK inside the OpenBLAS of that handle. */
int32_t rival_lapack_open(rival_job *job, void *handle);

/* Helpers of the rival files; each returns 0 with job->text when it fails. */
int32_t rival_fail(rival_job *job, const char *format, ...) COLLET_PRINTF(2, 3);
/* dlopen by handle; NULL with the text. */
void *rival_load(rival_job *job, const char *file);
/* *function is the address of a pointer to a function. */
int32_t rival_find(rival_job *job, void *handle, const char *name, void *function);
/* Memory for the life of the process; NULL with the text. */
void *rival_memory(rival_job *job, size_t bytes);

/* What the two sides of a comparison must agree in: the root of the mean square of an operand's
 * numbers, and their sum under pseudo-random signs over the root of their count, which is as large
 * and another as soon as they stand in another order. NaN for dtypes that no compared output has.
 */
typedef struct rival_digest {
    double magnitude, signature;
} rival_digest;

rival_digest rival_digest_of(const bench_operand *operand, const void *data);

/* The child's main: argv as rival_process.c makes it. */
int rival_worker(int argc, char **argv);

#endif
