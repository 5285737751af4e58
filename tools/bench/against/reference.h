/* SPDX-License-Identifier: Apache-2.0 */
/*
 * References: libraries with the function of an op, called directly.
 *
 * Each is loaded in a child process (worker.c): a library chooses its kernels when it is loaded,
 * and a crash must not end the program. The child computes the same operands as the parent, since
 * inputs.h returns the same numbers in every run. The tool links none of the libraries: their
 * functions are declared in the reference files and found by dlsym.
 */
#ifndef TOOLS_BENCH_AGAINST_REFERENCE_H
#define TOOLS_BENCH_AGAINST_REFERENCE_H

#include "bench/ops/cases.h"

#define REFERENCE_TEXT 256
#define REFERENCE_VARIANTS 8

/* A call of a reference, in the child. */
typedef struct reference_job {
    const char *op;
    uint32_t count; /* operands, outputs first */
    bench_operand operands[COLLET_MAX_OPERANDS];
    void *data[COLLET_MAX_OPERANDS]; /* C-contiguous, 64-byte aligned; NULL: absent */
    int32_t axes;                    /* fft: how many, the last ones */
    int32_t threads;
    int32_t (*call)(struct reference_job *job); /* set by open; 0 when it failed */
    int32_t same;              /* set by open: the output that must equal the op's; -1: none */
    void *state;               /* of the library's file */
    const char *file;          /* that is opened instead of the usual one; NULL: none */
    char text[REFERENCE_TEXT]; /* set by open: the library, or why it cannot be used */
} reference_job;

/* A value of the library's variable, a test for the processor's support, and the level of x86-64 that
 * it needs: 0: whatever the processor has, 1: unknown. */
typedef struct reference_variant {
    const char
        *value; /* NULL: the library's own choice; without a variable "1 thread" or the like */
    int32_t (*fits)(void);
    int32_t level;
} reference_variant;

typedef struct reference_library {
    const char *name;
    const char *variable; /* of the environment, by which its kernels are chosen; NULL: none */
    reference_variant variants[REFERENCE_VARIANTS]; /* up to the first without `fits` */
    int32_t has_builds;                             /* --openblas names more of them */
    const char *offers; /* "op:dtypes of output 0 and input 0, ...": " matmul:ff matmul:dd " */
    int32_t (*open)(
        reference_job *job); /* in the child: loads and prepares; 0: text has the reason */
} reference_library;

extern const reference_library reference_libraries[];
extern const size_t reference_library_count;
/* Whether a variant is measured where the setting `isa` limits Collet to a level; 4: no limit. */
int32_t reference_variant_fits(const reference_variant *variant, int32_t limit);
/* 1 when the library has the call of the layout. */
int32_t reference_library_offers(const reference_library *library, const bench_layout *layout);

/* Rows of the table. */
int32_t reference_openblas_open(reference_job *job);
int32_t reference_blis_open(reference_job *job);
int32_t reference_onednn_open(reference_job *job);
int32_t reference_fftw_open(reference_job *job);
/* The LAPACK inside the OpenBLAS of that handle, whose names begin with `prefix`. */
int32_t reference_lapack_open(reference_job *job, void *handle, const char *prefix);

typedef struct reference_symbol {
    const char *name;
    void *function;
} reference_symbol;

/* Helpers of the reference files; each returns 0 with job->text when it fails. */
int32_t reference_fail(reference_job *job, const char *format, ...) COLLET_PRINTF(2, 3);
/* dlopen; NULL with the text. */
void *reference_load(reference_job *job, const char *file);
/* Sets the pointers to functions at symbols[..].function, up to a name NULL; each symbol is called
 * `prefix` and its name. */
int32_t reference_find(reference_job *job, void *handle, const char *prefix,
                       const reference_symbol *symbols);
/* Memory that is never freed; NULL with the text. */
void *reference_memory(reference_job *job, size_t bytes);

/* Both sides of a comparison must agree in these: the root mean square of an operand's numbers, and
 * their sum with pseudo-random signs over the root of their count, which depends on their order.
 * NaN for dtypes that no compared output has. */
typedef struct reference_digest {
    double magnitude, signature;
} reference_digest;

reference_digest reference_digest_of(const bench_operand *operand, const void *data);

#endif
