/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kit.h - the conformance kit behind backend-check: cases, oracles and judgement.
 *
 * A *row* is one op with one dtype for each operand. The family of the op (a folder each) *plans*
 * the row's cases (shapes, layouts, sharing of memory), *generates* their inputs and *judges* the
 * outputs against an oracle in long double that shares no code with any backend (README.md).
 * Everything else (building the operands, calling, comparing memory and process state) is the same
 * for all ops and is in run/run.c. To add an op, add an entry to the table of its family. If its
 * `check` in collet/ops.def is EXACT, SUM or ELEMENTWISE, limits.c has a default limit for it; for
 * other ops, add limits there.
 *
 * The kit runs in a child process (tools/check/supervise.c) and exits with KIT_EXIT_MEMORY when
 * memory runs out. Cases run on one thread; checks of slots (verbs/) start others.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <collet/collet.h>

#include "validation/conduct.h"

#define KIT_TEXT 1600 /* bytes of a failure's description */
#define KIT_SIG 24    /* bytes of a signature such as "ddddd:fdffl" */
#define KIT_OPERANDS COLLET_MAX_OPERANDS
#define KIT_EXIT_MEMORY 12

/* ---- Tensors (tensor.c) -------------------------------------------------------------------- */

/* Dense values in C order; dtype COLLET_DTYPE_NONE means absent. */
typedef struct kit_tensor {
    collet_dtype dtype;
    int32_t ndim;
    int64_t shape[COLLET_MAX_DIMS];
    int64_t count; /* elements */
    unsigned char *data;
} kit_tensor;

/* malloc that exits with KIT_EXIT_MEMORY on failure; free with free(). */
void *kit_memory(size_t bytes);

/* The dtype of the parts that are judged: f32 or f64 for complex types, whose elements have 2
 * parts; else the dtype itself. */
collet_dtype kit_part(collet_dtype dtype);
int64_t kit_parts(const kit_tensor *t);

/* Gets part i as a long double, which represents every value of every dtype exactly; sets part i,
 * converting as `copy` does. */
long double kit_get(const kit_tensor *t, int64_t i);
void kit_set(kit_tensor *t, int64_t i, long double value);
/* Address of part i. */
const void *kit_at(const kit_tensor *t, int64_t i);
/* Converts to one part of `dtype` at `target`: to integers toward zero and saturating, NaN to 0; to
 * floating types to the nearest, ties to even. */
void kit_convert(collet_dtype dtype, long double value, void *target);
long double kit_value(collet_dtype dtype, const void *source);
/* Allocates undefined elements for `t`; the caller frees t->data. */
void kit_allocate(kit_tensor *t);
void kit_tensor_shape(kit_tensor *t, int32_t ndim, const int64_t *shape);
bool kit_is_real_float(collet_dtype dtype);
int kit_precision(collet_dtype dtype); /* significant bits of a floating type */
/* The spacing of the numbers of `dtype` (a real or complex float) at |value|. */
long double kit_ulp(collet_dtype dtype, long double value);
/* Writes part i as text, exactly. */
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
/* Fills floating or integer parts with random bits, a bool with 0 or 1: every exponent, denormals, infinities, quiet
 * NaN. */
void kit_random_bits(kit_tensor *t, kit_rng *rng);
/* Replaces about half of the parts by zeros of both signs, ones and extremes. In floating types it also uses
 * infinities, NaN and denormals. */
void kit_sprinkle_specials(kit_tensor *t, kit_rng *rng);
/* Fills with normal() * 2^uniform(-spread, spread); integers: small and large integers. */
void kit_ordinary(kit_tensor *t, kit_rng *rng, double spread);
void kit_rotation(kit_rng *rng, double rotation[9]); /* proper, uniform */
void kit_rotation_about(const double axis[3], double angle, double rotation[9]);

/* ---- Fixed values (edge_values.c) ---------------------------------------------------------- */

/* The number of edge values of a dtype: the ends of its range, zeros of both signs, infinities,
 * NaN, subnormals, and values that a conversion to another dtype rounds, saturates or makes
 * infinite. */
int64_t kit_edge_count(collet_dtype dtype);
/* Edge value `index` of a real dtype; after the last comes the first again. */
long double kit_edge(collet_dtype part, int64_t index);
/* Fills all parts with edge values in turn. Each round begins `skew` values later, so
 * that two inputs with different skew form different pairs. */
void kit_edges(kit_tensor *t, int64_t skew);
/* An edge value of a complex dtype has two parts, each an edge value. */
collet_scalar kit_edge_scalar(collet_dtype dtype, int64_t index);

/* ---- Limits (limits.c) --------------------------------------------------------------------- */

typedef struct kit_limit {
    uint32_t op;
    collet_dtype dtype;   /* dtype of the output that is judged; COLLET_DTYPE_NONE: any */
    const char *quantity; /* what is compared, such as "residual" */
    double limit;
    const char *unit; /* text: "ulp", "of sum |m r| / |sum m|", ... */
} kit_limit;

/* Limit number `index` of an op; NULL after the last limit. */
const kit_limit *kit_limit_at(uint32_t op, size_t index);
/* Finds a limit; NULL if the op does not have it. */
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

/* The kit's entry for an op, or NULL. */
const kit_op *kit_op_find(uint32_t op);

/* The dtypes of row `index` of the op evaluate, whose signature does not list them; false beyond the last row (in
 * array/evaluate.c). */
bool kit_evaluate_row(size_t index, collet_dtype dtypes[KIT_OPERANDS]);
/* Appends the steps of the program of a case of evaluate: "; 4 = f32 add(0,1)". */
void kit_evaluate_text(const kit_case *c, char text[KIT_TEXT]);

/* The tables of the families, which end with op 0. */
#define KIT_TABLES(X)                                                                              \
    X(kit_array_axes_ops)                                                                          \
    X(kit_array_axpy_ops)                                                                          \
    X(kit_array_elementwise_ops)                                                                   \
    X(kit_array_evaluate_ops)                                                                      \
    X(kit_array_ops)                                                                               \
    X(kit_array_reduce_ops)                                                                        \
    X(kit_eigen_ops)                                                                               \
    X(kit_factor_ops)                                                                              \
    X(kit_fft_ops)                                                                                 \
    X(kit_index_pick_ops)                                                                          \
    X(kit_index_scan_ops)                                                                          \
    X(kit_index_sort_ops)                                                                          \
    X(kit_linalg_ops)                                                                              \
    X(kit_linalg_vector_ops)                                                                       \
    X(kit_md_axes_ops)                                                                             \
    X(kit_md_ops)                                                                                  \
    X(kit_md_vector_ops)                                                                           \
    X(kit_random_ops)                                                                              \
    X(kit_scatter_average_ops)                                                                     \
    X(kit_scatter_field_ops)                                                                       \
    X(kit_scatter_sphere_ops)                                                                      \
    X(kit_scatter_amplitudes_ops)                                                                  \
    X(kit_variate_ops)                                                                             \
    X(kit_spectra_ops)                                                                             \
    X(kit_ternary_ops)                                                                             \
    X(kit_ternary_product_ops)
#define KIT_TABLE(table) extern const kit_op table[];
KIT_TABLES(KIT_TABLE)
#undef KIT_TABLE

typedef struct kit_row {
    collet_ops_info info;
    const kit_op *kit; /* NULL: no oracle */
    uint32_t operands;
    collet_dtype dtypes[KIT_OPERANDS];
    char sig[KIT_SIG];
} kit_row;

/* Memory layouts of an operand. */
typedef enum kit_layout {
    KIT_OWNED,      /* memory that libcore allocates */
    KIT_DENSE,      /* wrapped memory, C-contiguous, 64-byte aligned */
    KIT_UNALIGNED,  /* the same, aligned to the element only */
    KIT_TRANSPOSED, /* first axis fastest */
    KIT_STEPPED,    /* gaps on every axis */
    KIT_REVERSED,   /* negative strides on every axis */
    KIT_MIXED,      /* order, step and sign differ by axis */
    KIT_REPEATED,   /* inputs: stride 0 on the first axis */
    KIT_WITHIN,     /* C-contiguous, offset by one element in a longer array */
    KIT_ROWS,       /* last axis without gaps, other axes as in KIT_MIXED */
    KIT_LAYOUTS
} kit_layout;

/* How output 0 and input `target` share memory, or how the call is made. */
typedef enum kit_mode {
    KIT_PLAIN,
    KIT_IN_PLACE,     /* output 0 is the same array as the input */
    KIT_SAME_VIEW,    /* output 0 is another view of the input's elements */
    KIT_ALL_IN_PLACE, /* output 0 is the same array as every input */
    KIT_BEHIND,       /* output 0 begins one element after the input begins */
    KIT_AHEAD,        /* output 0 ends one element before the input ends */
    KIT_BACKWARDS,    /* output 0 is the input reversed */
    KIT_PARTS,        /* the call is made in parts along the op's split axis */
    KIT_MODES
} kit_mode;

struct kit_case {
    const kit_row *row;
    int number;       /* number of the case in its row, from 0 */
    const char *data; /* name of the kind of values; "": ordinary */
    int kind;         /* the same kind, as a value of the family's enum */
    bool big;         /* several megabytes */
    bool in_sample;   /* a sample has this case, too */
    kit_mode mode;
    uint32_t target;
    kit_layout layout[KIT_OPERANDS];
    kit_tensor operand[KIT_OPERANDS]; /* outputs first */
    union {
        collet_fill_params fill;
        collet_axpy_params axpy;
        collet_transpose_params transpose;
        collet_reduce_params reduce;
        collet_variance_params variance;
        collet_evaluate_params evaluate;
        collet_fft_params fft;
        collet_fftshift_params fftshift;
        collet_sort_params sort;
        collet_partition_params partition;
        collet_searchsorted_params searchsorted;
        collet_histogram_params histogram;
        collet_random_params random;
        collet_variate_params variate;
        collet_scatter_params scatter;
        collet_scatter_average_params average;
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

/* The first element of matrix, vector or number `batch` of operand k (in tensor.c). The element has the last `axes`
 * axes of operand k and the last `own` axes of output 0. The other axes of operand k are broadcast to the axes of
 * output 0. */
int64_t kit_start(const kit_case *c, uint32_t k, int32_t axes, int32_t own, int64_t batch);

/* ---- Planning (plan.c) --------------------------------------------------------------------- */

struct kit_plan {
    const kit_row *row;
    int next;
    void (*run)(void *user, const kit_case *c);
    void *user;
};

/* A case with the row's dtypes and no shapes, all operands KIT_DENSE, KIT_PLAIN. */
kit_case kit_case_of(const kit_plan *plan);
void kit_shape(kit_case *c, uint32_t operand, int32_t ndim, const int64_t *shape);
/* Sets all shapes from the op's patterns: letters[i] has extent extents[i], "..." stands for
 * `dots`. `alternative` is the index of the pattern if the op has several. */
void kit_bind(kit_case *c, const char *letters, const int64_t *extents, int32_t dot_axes,
              const int64_t *dots, int alternative);
void kit_absent(kit_case *c, uint32_t operand);
/* Emit cases: a single case; a case for each layout that the operands may have, and for mixtures; a case for each
 * sharing of memory that the op and the case's shapes and dtypes allow; a case in parts along the split axis. */
void kit_emit(kit_plan *plan, const kit_case *c);
void kit_emit_layouts(kit_plan *plan, const kit_case *c);
void kit_emit_sharing(kit_plan *plan, const kit_case *c);
void kit_emit_parts(kit_plan *plan, const kit_case *c);

/* ---- Signatures and patterns (signature.c) ------------------------------------------------- */

/* Appends to `text`, truncated to its size. */
void kit_append(char text[KIT_TEXT], const char *format, ...) COLLET_PRINTF(2, 3);
void kit_signature_text(const collet_dtype *dtypes, uint32_t n_out, uint32_t count,
                        char text[KIT_SIG]);

/* Pattern `alternative` of an operand, or the last if it has fewer. */
const collet_ops_pattern *kit_pattern(const kit_case *c, uint32_t operand, int alternative);
/* The axis of an operand along which the op is split, or -1 if that operand is not split. */
int32_t kit_split_axis(const kit_case *c, uint32_t operand);

/* ---- Truth (array/elementwise.c) ------------------------------------------------------------ */

/* The value of an op of one argument that truth_near (array/truth.h) computes; else NaN. */
long double kit_function(uint32_t op, long double x);
/* Elementary functions (array/near_truth.c). */
long double kit_sin(long double x);
long double kit_cos(long double x);
long double kit_log(long double x);
long double kit_acos(long double x);
long double kit_atan2(long double y, long double x);
/* The range of ordinary arguments of an elementwise op: its columns `from` and `to` in elementwise.def. */
void kit_domain(uint32_t op, double *from, double *to);

/* ---- Judging (judge.c) --------------------------------------------------------------------- */

/* The result of a row's cases so far. */
struct kit_verdict {
    double worst;           /* largest error / limit; 0 before the first error */
    double error;           /* the error of `worst` */
    const kit_limit *limit; /* the limit of `worst`; NULL before the first error */
    bool failed;            /* this case failed */
    bool refused;           /* the backend returned COLLET_REFUSED, which is allowed */
    char text[KIT_TEXT];    /* reason of the failure, else "" */
};

/* Fails the case for a reason that is not a limit. */
void kit_fail(kit_verdict *v, const char *format, ...) COLLET_PRINTF(2, 3);
/* Compares an error with a limit. True if this is the first error of the case beyond its limit; if so, call kit_fail
 * with the reason. NaN is beyond any limit. */
bool kit_exceeds(kit_verdict *v, const kit_limit *limit, double error);
/* Checks that part i of operand k is `ideal` to within `limit` times `scale`. An f16 or bf16 number passes if a number
 * that rounds to it does. NaN and infinities must match. If the scale is NaN, because an input was NaN, any part
 * matches a finite `ideal`. */
void kit_near(const kit_case *c, kit_verdict *v, uint32_t k, int64_t i, long double ideal,
              long double scale, const kit_limit *limit);
/* Checks that part i of operand k is `ideal` to within `limit` ulp of its dtype. */
void kit_within_ulp(const kit_case *c, kit_verdict *v, uint32_t k, int64_t i, long double ideal,
                    const kit_limit *limit);
/* Checks that part i of operand k has the bits of `ideal`; unless `nan_bits`, any NaN matches a NaN. */
void kit_same(const kit_case *c, kit_verdict *v, uint32_t k, int64_t i, const void *ideal,
              bool nan_bits);
/* Writes "output 0 [1,2] (element 7)". */
void kit_where(const kit_case *c, uint32_t k, int64_t part, char text[128]);

/* ---- Running (run/run.c) ------------------------------------------------------------------- */

typedef struct kit_session {
    collet_context *context;
    const char *backend; /* the name that collet_last_backend returns for it */
    uint64_t seed;
    int large;   /* number of a row's large cases that run; -1: all */
    bool sample; /* only the cases of kit_sample_row */
    bool named;  /* the user named the op or check: cases that need gigabytes of memory run, too */
    int only;    /* number of the only case to run; -1: all */
    /* Called before each case; `text` describes it. */
    void (*progress)(void *user, int number, const char *text);
    void *user;
    int output; /* file descriptor of stdout and stderr, or -1: output is not checked */
} kit_session;

typedef struct kit_result {
    int planned; /* cases of the row, run or not */
    int cases, failures, refused;
    int empty;           /* number of cases without elements, which need no kernel */
    int first;           /* number of the first failing case; -1: no case failed */
    double worst, error; /* as in kit_verdict */
    const kit_limit *limit;
    char text[KIT_TEXT]; /* description of the first failure */
} kit_result;

/* Chooses a few small cases that reach the code that a backend may have for different sizes and
 * layouts; unused elements are -1. */
#define KIT_SAMPLE 16
void kit_sample_row(const kit_row *row, int numbers[KIT_SAMPLE]);

/* 1 if `index` is one of `chosen` indices, spread evenly over 0..count-1 and beginning with 0. */
bool kit_spread(int index, int count, int chosen);

/* Runs all cases of a row; row->kit is not NULL. */
void kit_run_row(const kit_session *session, const kit_row *row, kit_result *result);
/* "case 3 (stepped; in place of input 0; special): add f32[3,4]{8,2} : ..." */
void kit_describe(const kit_case *c, char text[KIT_TEXT]);

/* ---- Verbs (verbs/) ------------------------------------------------------------------------- */

typedef struct kit_target kit_target; /* a plugin, whose slots the kit calls without libcore */
typedef struct kit_verb kit_verb;     /* a check of its slots */

/* Opens the plugin of a backend that `runtime` has opened. `named` = NULL: the target has the
 * devices of `backend`; else it has one device, number 0, which is the device with this name.
 * `runtime` and `named` must outlive the target. NULL: the reason is in `text`. */
kit_target *kit_target_open(const collet_runtime *runtime, const collet_backend_info *backend,
                            const char *named, char text[KIT_TEXT]);
void kit_target_close(kit_target *target);

/* The features that device `device` does not have, for kit_verb_applies. */
uint32_t kit_target_lacks(kit_target *target, uint32_t device);
/* The check with number `index`; NULL beyond the last. */
const kit_verb *kit_verb_at(size_t index);
bool kit_verb_applies(const kit_verb *verb, uint32_t lacks);
const char *kit_verb_name(const kit_verb *verb); /* "wait.limit" */
/* Runs a check on device `device` of the target. False: the check failed, and the process should end.
 * result->cases is 0 if the check does not apply to the device; the text has the reason. */
bool kit_run_verb(const kit_session *session, const kit_verb *verb, kit_target *target,
                  uint32_t device, kit_result *result);

/* The operands of a case in memory (layout.c). */
typedef struct kit_block kit_block;
typedef struct kit_operands {
    kit_block *block[KIT_OPERANDS];    /* NULL: absent, or shares the block of another operand */
    collet_array *array[KIT_OPERANDS]; /* arguments of the call; NULL: absent */
    int64_t strides[KIT_OPERANDS][COLLET_MAX_DIMS];
} kit_operands;
/* Lays out a case's operands and writes the inputs; an error's text is in the context. */
collet_status kit_operands_create(collet_context *context, kit_case *c, kit_operands *o,
                                  kit_rng *rng);
/* Copies the outputs into c->operand[] and checks that no other memory changed. */
collet_status kit_operands_gather(collet_context *context, kit_case *c, kit_operands *o,
                                  kit_verdict *v);
void kit_operands_destroy(kit_operands *o);

/* Process state that a kernel must not change (conduct.c). */
typedef struct kit_conduct {
    conduct thread;
    int64_t printed; /* bytes */
} kit_conduct;
void kit_conduct_take(kit_conduct *state, int output);
/* Compares the present state with `before`; if they differ, fails the verdict and restores the
 * state. */
void kit_conduct_check(const kit_conduct *before, int output, kit_verdict *v);

/* Process state that a plugin must not change (process.c). */
#define KIT_SIGNALS 32
#define KIT_LIMITS 7
typedef struct kit_file {
    dev_t device;
    ino_t number;
} kit_file;
typedef struct kit_process {
    struct sigaction actions[KIT_SIGNALS];
    struct rlimit limits[KIT_LIMITS];
    char directory[4096];
    mode_t mask;
    uint64_t environment;
    kit_file files[3]; /* descriptors 0, 1, 2; zeros: closed */
    bool executable_stack;
} kit_process;
void kit_process_take(kit_process *state);
void kit_process_set_limits(const kit_process *state);
/* False: `text` describes a difference. The action of signal `except` may differ. */
bool kit_process_same(const kit_process *before, const kit_process *now, int except,
                      char text[KIT_TEXT]);
/* The process before and after the plugin and its libraries were loaded, for conduct.load. */
typedef struct kit_loading {
    kit_process before, after;
    char thread[KIT_TEXT]; /* the state of the thread that changed; "": none */
} kit_loading;
void kit_target_loaded(kit_target *target, const kit_loading *loading);

int kit_thread_count(void); /* threads of this process; 0 if unknown */
