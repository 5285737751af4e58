/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kit.h - the conformance kit behind backend-check: cases, oracles and judgement.
 *
 * A *row* is one op with one dtype for each operand. The family of the op (a folder each)
 * *plans* the row's cases (shapes, layouts, sharing of memory), *generates* their inputs and
 * *judges* what came back, against an oracle in long double that shares no code with any backend.
 * Everything else (building the operands, calling, comparing memory and process state) is the same
 * for all ops and lives in run.c. To add an op: a row in the table of its family, its limits in
 * limits.c.
 *
 * The kit runs inside a process of its own (tools/check/supervise.c), so it ends the process when
 * memory runs out (KIT_EXIT_MEMORY). One thread; nothing is global but constant tables.
 */
#ifndef COLLET_KIT_H
#define COLLET_KIT_H

#include <stdbool.h>

#include <collet/collet.h>

#define KIT_TEXT 1600 /* bytes of a failure's description */
#define KIT_SIG 24    /* bytes of a signature such as "ddddd:fdff" */
#define KIT_OPERANDS COLLET_MAX_OPERANDS
#define KIT_EXIT_MEMORY 12

/* ---- Tensors (tensor.c) -------------------------------------------------------------------- */

/* Dense values in C order; dtype COLLET_DTYPE_NONE: the operand is absent. */
typedef struct kit_tensor {
    collet_dtype dtype;
    int32_t ndim;
    int64_t shape[COLLET_MAX_DIMS];
    int64_t count; /* elements */
    unsigned char *data;
} kit_tensor;

/* malloc and calloc that end the process when there is no memory; free with free(). */
void *kit_memory(size_t bytes);

/* Complex types are judged part by part: 2 parts of f32 or f64; any other type is its own part. */
collet_dtype kit_part(collet_dtype dtype);
int64_t kit_parts(const kit_tensor *t);

/* Part i as a long double, which holds every value of every dtype exactly; and the reverse,
 * converting as `copy` does. */
long double kit_get(const kit_tensor *t, int64_t i);
void kit_set(kit_tensor *t, int64_t i, long double value);
/* Bytes of part i. */
const void *kit_at(const kit_tensor *t, int64_t i);
/* Converts to one part of `dtype` at `target`: to integers toward zero and saturating, NaN to 0; to
 * floating types to the nearest, ties to even. */
void kit_convert(collet_dtype dtype, long double value, void *target);
long double kit_value(collet_dtype dtype, const void *source);
/* Fills `t` with undefined elements; the caller frees t->data. */
void kit_allocate(kit_tensor *t);
void kit_tensor_shape(kit_tensor *t, int32_t ndim, const int64_t *shape);
bool kit_is_real_float(collet_dtype dtype);
int kit_precision(collet_dtype dtype); /* significant bits of a floating type */
/* The distance of neighbouring numbers of `dtype` (a real or complex float) at |value|. */
long double kit_ulp(collet_dtype dtype, long double value);
/* Text of part i, exact. */
void kit_format(const kit_tensor *t, int64_t i, char text[64]);
void kit_format_long(long double value, char text[64]);

/* ---- Random numbers (values.c) ------------------------------------------------------------- */

/* splitmix64: the same numbers on every machine. */
typedef struct kit_rng {
    uint64_t state;
} kit_rng;

uint64_t kit_next(kit_rng *rng);
double kit_uniform(kit_rng *rng, double low, double high); /* [low, high) */
double kit_normal(kit_rng *rng);                           /* mean 0, deviation 1 */
int64_t kit_below(kit_rng *rng, int64_t count);            /* 0..count-1 */
/* Fills floating or integer parts with random bits: every exponent, denormals, infinities, quiet
 * NaN. */
void kit_random_bits(kit_tensor *t, kit_rng *rng);
/* Replaces about half of the parts by zeros of both signs, ones, extremes, and for floating types
 * infinities, NaN, denormals. */
void kit_sprinkle_specials(kit_tensor *t, kit_rng *rng);
/* normal() 2^uniform(-spread, spread); integers: small and large ones. */
void kit_ordinary(kit_tensor *t, kit_rng *rng, double spread);
void kit_rotation(kit_rng *rng, double rotation[9]); /* proper, uniform */
void kit_rotation_about(const double axis[3], double angle, double rotation[9]);

/* ---- Limits (limits.c) --------------------------------------------------------------------- */

typedef struct kit_limit {
    uint32_t op;
    collet_dtype dtype;   /* of the output judged; COLLET_DTYPE_NONE: any */
    const char *quantity; /* what is judged */
    double limit;
    const char *unit; /* in words: "ulp", "of sum |m r| / |sum m|", ... */
} kit_limit;

extern const kit_limit kit_limits[];
extern const size_t kit_limit_count;
/* NULL when there is none. */
const kit_limit *kit_limit_find(uint32_t op, collet_dtype dtype, const char *quantity);

/* ---- Rows and cases ------------------------------------------------------------------------ */

typedef struct kit_op kit_op;
typedef struct kit_case kit_case;
typedef struct kit_plan kit_plan;
typedef struct kit_verdict kit_verdict;

struct kit_op {
    uint32_t op;
    void (*plan)(kit_plan *plan);
    void (*generate)(kit_case *c, kit_rng *rng); /* fills c->operand[] of the inputs */
    void (*judge)(const kit_case *c, kit_verdict *verdict);
};

extern const kit_op kit_array_arithmetic_ops[], kit_array_function_ops[];
extern const size_t kit_array_arithmetic_op_count, kit_array_function_op_count;

/* The oracle's entry for an op, or NULL. */
const kit_op *kit_op_find(uint32_t op);
extern const kit_op kit_factor_ops[], kit_spectra_ops[];
extern const size_t kit_factor_op_count, kit_spectra_op_count;
extern const kit_op kit_array_ops[], kit_array_axes_ops[], kit_array_reduce_ops[], kit_linalg_ops[],
    kit_linalg_vector_ops[], kit_md_ops[], kit_md_axes_ops[], kit_md_vector_ops[];
extern const size_t kit_array_op_count, kit_array_axes_op_count, kit_array_reduce_op_count,
    kit_linalg_op_count, kit_linalg_vector_op_count, kit_md_op_count, kit_md_axes_op_count,
    kit_md_vector_op_count;
extern const kit_op kit_random_ops[], kit_fft_ops[];
extern const size_t kit_fft_op_count;
extern const kit_op kit_ternary_ops[], kit_ternary_product_ops[];
extern const size_t kit_ternary_op_count, kit_ternary_product_op_count;
extern const size_t kit_random_op_count;

typedef struct kit_row {
    collet_op_info info;
    const kit_op *kit; /* NULL: no oracle */
    uint32_t operands;
    collet_dtype dtypes[KIT_OPERANDS];
    char sig[KIT_SIG];
} kit_row;

/* How an operand lies in memory. */
typedef enum kit_layout {
    KIT_OWNED,      /* memory of libcore's */
    KIT_DENSE,      /* the caller's, C-contiguous, 64-byte aligned */
    KIT_UNALIGNED,  /* the same, aligned to the element and no better */
    KIT_TRANSPOSED, /* first axis fastest */
    KIT_STEPPED,    /* gaps on every axis */
    KIT_REVERSED,   /* negative strides on every axis */
    KIT_MIXED,      /* each axis its own order, step and sign */
    KIT_REPEATED,   /* inputs: stride 0 on the first axis */
    KIT_WITHIN,     /* C-contiguous, from the second element of a longer array on */
    KIT_ROWS,       /* the last axis without gaps, the others each its own order, step and sign */
    KIT_LAYOUTS
} kit_layout;

/* How output 0 and input `target` share memory, and how the call is made. */
typedef enum kit_mode {
    KIT_PLAIN,
    KIT_IN_PLACE,     /* output 0 is the very array of the input */
    KIT_SAME_VIEW,    /* ... or another view of exactly the same elements */
    KIT_ALL_IN_PLACE, /* ... and of every input */
    KIT_BEHIND,       /* output 0 begins one element behind the input's begin */
    KIT_AHEAD,        /* ... ends one element before its end */
    KIT_BACKWARDS,    /* output 0 is the input read from its end */
    KIT_PARTS,        /* the call is made in parts along the op's split axis */
    KIT_MODES
} kit_mode;

struct kit_case {
    const kit_row *row;
    int number;       /* within the row, from 0 */
    const char *data; /* what kind of values the family puts in; "" for the ordinary */
    int kind;         /* the same for the family's own use */
    bool big;         /* of several megabytes */
    kit_mode mode;
    uint32_t target;
    kit_layout layout[KIT_OPERANDS];
    kit_tensor operand[KIT_OPERANDS]; /* outputs first */
    union {
        collet_fill_params fill;
        collet_axpy_params axpy;
        collet_transpose_params transpose;
        collet_reduce_params reduce;
        collet_fft_params fft;
        collet_fftshift_params fftshift;
        collet_random_params random;
        collet_ternary_quantize_params quantize;
        collet_ternary_format_params format;
        collet_ternary_linear_params linear;
    } params;
};

/* Input k of a case. */
static inline const kit_tensor *kit_in(const kit_case *c, uint32_t k)
{
    return &c->operand[c->row->info.n_out + k];
}

/* ---- Planning (plan.c) --------------------------------------------------------------------- */

struct kit_plan {
    const kit_row *row;
    int next;
    void (*run)(void *user, const kit_case *c);
    void *user;
};

/* A case with the row's dtypes, no shapes yet, everything KIT_DENSE and KIT_PLAIN. */
kit_case kit_case_of(const kit_plan *plan);
void kit_shape(kit_case *c, uint32_t operand, int32_t ndim, const int64_t *shape);
/* Shapes of all operands from the op's patterns; letters[i] has extent extents[i]; `dots` axes
 * stand for "...". Of alternatives the one numbered `alternative` is taken. */
void kit_bind(kit_case *c, const char *letters, const int64_t *extents, int32_t dot_axes,
              const int64_t *dots, int alternative);
void kit_absent(kit_case *c, uint32_t operand);
/* One case; every layout that the operands may have and mixtures of them; every sharing of memory
 * that the op and the case's shapes and dtypes admit; parts along the split axis. */
void kit_emit(kit_plan *plan, const kit_case *c);
void kit_emit_layouts(kit_plan *plan, const kit_case *c);
void kit_emit_sharing(kit_plan *plan, const kit_case *c);
void kit_emit_parts(kit_plan *plan, const kit_case *c);

/* ---- Signatures and patterns (signature.c) ------------------------------------------------- */

void kit_signature_text(const collet_dtype *dtypes, uint32_t n_out, uint32_t count,
                        char text[KIT_SIG]);

/* A pattern of operand k, the last where there are fewer. */
const collet_op_pattern *kit_pattern(const kit_case *c, uint32_t operand, int alternative);
/* The axis of operand k along which the op is cut, or -1 when that operand is not cut. */
int32_t kit_split_axis(const kit_case *c, uint32_t operand);

/* ---- Truth (array/functions.c) -------------------------------------------------------------- */

/* exp, log, sqrt, sin, cos or tanh, whose op's id is given, as the C library's long double has it.
 */
long double kit_function(uint32_t op, long double x);

/* ---- Judging (judge.c) --------------------------------------------------------------------- */

/* What a row's cases have come to so far. */
struct kit_verdict {
    double worst;           /* the largest error / limit; 0 before the first */
    double error;           /* that error */
    const kit_limit *limit; /* and its limit; NULL before the first */
    bool failed;            /* this case */
    bool refused;           /* the backend declined it, as it may */
    char text[KIT_TEXT];    /* why; "" otherwise */
};

/* The case fails for a reason that is no number. */
void kit_fail(kit_verdict *v, const char *format, ...) COLLET_PRINTF(2, 3);
/* Notes an error against a limit. True when it is this case's first beyond it: then say why with
 * kit_fail. A NaN is beyond any limit. */
bool kit_exceeds(kit_verdict *v, const kit_limit *limit, double error);
/* Operand k's part i must be `want`, within `limit` of `scale`. NaN and infinities must match;
 * where the scale is NaN (some input was) a finite `want` is no obligation. */
void kit_near(const kit_case *c, kit_verdict *v, uint32_t k, int64_t i, long double want,
              long double scale, const kit_limit *limit);
/* ... within `limit` ulp of its dtype. */
void kit_within_ulp(const kit_case *c, kit_verdict *v, uint32_t k, int64_t i, long double want,
                    const kit_limit *limit);
/* ... these very bits; any NaN for a NaN unless `nan_bits`. */
void kit_same(const kit_case *c, kit_verdict *v, uint32_t k, int64_t i, const void *want,
              bool nan_bits);
/* "output 0 [1,2] (element 7)". */
void kit_where(const kit_case *c, uint32_t k, int64_t part, char text[128]);

/* ---- Running (run.c) ----------------------------------------------------------------------- */

typedef struct kit_session {
    collet_context *context;
    const char *backend; /* its name, as collet_last_backend gives it */
    uint64_t seed;
    int large;   /* how many of a row's large cases are run; -1: all */
    bool sample; /* only what kit_sample_row chooses */
    int only;    /* the one case to run, -1: all */
    /* Told before each case; `text` describes it. */
    void (*progress)(void *user, int number, const char *text);
    void *user;
    int output; /* a file that stdout and stderr go to, or -1: nobody looks what is printed */
} kit_session;

typedef struct kit_result {
    int cases, failures, refused;
    int empty;           /* cases without an element to compute, which no kernel need see */
    int first;           /* number of the first failing case, -1 */
    double worst, error; /* as in kit_verdict */
    const kit_limit *limit;
    char text[KIT_TEXT]; /* the first failure, spelled out */
} kit_result;

/* The numbers of a few small cases that reach what a backend may compute in another way; -1: less
 * than that. */
#define KIT_SAMPLE 16
void kit_sample_row(const kit_row *row, int numbers[KIT_SAMPLE]);

/* Whether number `index` of `count` is one of `wanted`, which are spread over all and begin with 0. */
bool kit_spread(int index, int count, int wanted);

/* Runs every case of a row that has an oracle. */
void kit_run_row(const kit_session *session, const kit_row *row, kit_result *result);
/* "case 3 (stepped; in place of input 0; special): add f32[3,4]{8,2} : ..." */
void kit_describe(const kit_case *c, char text[KIT_TEXT]);

/* Operands in memory (layout.c). */
typedef struct kit_block kit_block;
typedef struct kit_operands {
    kit_block *block[KIT_OPERANDS];    /* NULL: absent, or shares the block of another operand */
    collet_array *array[KIT_OPERANDS]; /* what the call is given; NULL: absent */
    int64_t strides[KIT_OPERANDS][COLLET_MAX_DIMS];
} kit_operands;
/* Lays out a case's operands with the inputs' values; a status that is not OK is in the context. */
collet_status kit_operands_create(collet_context *context, kit_case *c, kit_operands *o,
                                  kit_rng *rng);
/* Brings the outputs' values into c->operand[] and verifies that nothing else changed in memory. */
collet_status kit_operands_gather(collet_context *context, kit_case *c, kit_operands *o,
                                  kit_verdict *v);
void kit_operands_destroy(kit_operands *o);

/* State of the process that a kernel must leave alone (conduct.c). */
typedef struct kit_conduct {
    uint64_t fp_control, x87_control;
    int rounding;
    int64_t printed;
    char locale[128];
    unsigned char signals[128], affinity[128];
} kit_conduct;
void kit_conduct_take(kit_conduct *state, int output);
/* Compares, fails the verdict for what changed, and puts it back. */
void kit_conduct_check(const kit_conduct *before, int output, kit_verdict *v);
int kit_thread_count(void); /* of this process; 0 when the system does not say */

#endif
