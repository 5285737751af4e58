/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/types.h - status codes, dtypes, limits and parameter blocks.
 *
 * Shared by programs (collet.h) and backends (plugin.h). Everything here crosses the plugin ABI:
 * fixed-width integers only, no enum, bool, long or bit-field in any struct, fields appended and
 * never reordered. tests/abi/test_abi.c has the sizes.
 */
#ifndef COLLET_TYPES_H
#define COLLET_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Marks the functions that a library exports: libcore and the engines their public functions, a plugin its
 * entry. All other functions are hidden. */
#if defined(__GNUC__)
#define COLLET_API __attribute__((visibility("default")))
#define COLLET_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define COLLET_API
#define COLLET_PRINTF(text, first)
#endif

#define COLLET_VERSION_MAJOR 0
#define COLLET_VERSION_MINOR 1
#define COLLET_VERSION_PATCH 0
#define COLLET_VERSION "0.1.0"
/* 1002003 for 1.2.3: newer versions have larger numbers. */
#define COLLET_VERSION_NUMBER                                                                      \
    (COLLET_VERSION_MAJOR * 1000000 + COLLET_VERSION_MINOR * 1000 + COLLET_VERSION_PATCH)

/*
 * Constants for a field or a parameter are enumerators. In C++, in C23, and in clang's C, which bindgen uses to read
 * headers, they have the type of the field or parameter. In other C, and for zig's translate-c, their type is int.
 */
#if defined(__cplusplus) || defined(__clang__) ||                                                  \
    (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
#define COLLET_ENUM(type) __extension__ enum : type
#else
#define COLLET_ENUM(type) enum
#endif

/* ---- Status ------------------------------------------------------------------------------ */

/*
 * X(NAME, value, "what it means"). Values are ABI: append, never renumber.
 *
 * A backend's kernel may return only OK, REFUSED, FAILED and DEVICE_LOST. All other statuses come from libcore or an
 * engine. An outcome that depends on data (a singular matrix, a time step of zero) is never a status: the kernel writes
 * it to its i32 output `info`.
 */
#define COLLET_STATUS_LIST(X)                                                                      \
    X(OK, 0, "success")                                                                            \
    X(INVALID, 1, "invalid argument")                                                              \
    X(SHAPE, 2, "shapes do not fit")                                                               \
    X(DTYPE, 3, "dtypes do not fit")                                                               \
    X(OVERFLOW, 4, "a size does not fit in 64 bits")                                               \
    X(NO_MEMORY, 5, "out of memory")                                                               \
    X(UNKNOWN_BACKEND, 6, "no backend of that name")                                               \
    X(UNAVAILABLE, 7, "the backend is known but cannot be used")                                   \
    X(UNSUPPORTED, 8, "no selected backend has this kernel")                                       \
    X(REFUSED, 9, "the backend refused the call; nothing was done")                                \
    X(FAILED, 10, "the backend failed; the outputs are undefined")                                 \
    X(DEVICE_LOST, 11, "the device was lost, with the bytes valid only there")                     \
    X(FORKED, 12, "a runtime cannot be used in a child of fork")                                   \
    X(IO, 13, "input or output failed")                                                            \
    X(FORMAT, 14, "malformed file")                                                                \
    X(ABI_MISMATCH, 15, "built for another version of the plugin interface")                       \
    X(BUSY, 16, "in use")                                                                          \
    X(NOT_FOUND, 17, "not found")                                                                  \
    X(NOT_READY, 18, "not finished yet")                                                           \
    X(CANCELLED, 19, "stopped by the caller")

typedef int32_t collet_status;

#define COLLET_STATUS_CONSTANT(name, value, text) COLLET_##name = value,
COLLET_ENUM(int32_t){COLLET_STATUS_LIST(COLLET_STATUS_CONSTANT) COLLET_STATUS_COUNT};
#undef COLLET_STATUS_CONSTANT

/*
 * An error with its text. The caller owns it and may leave it uninitialised: it is set only when a
 * function that takes it returns something other than COLLET_OK. Every function that takes a
 * `collet_error *` accepts NULL and then only returns the status. `text` is always terminated.
 */
#define COLLET_ERROR_TEXT 1020
typedef struct collet_error {
    collet_status status;
    char text[COLLET_ERROR_TEXT];
} collet_error;

/* ---- Dtypes ------------------------------------------------------------------------------ */

/*
 * The list of dtypes, the types of elements: X(NAME, id, bytes, "name", letter in signatures, C type, kind,
 * "NumPy's name"). All other code takes the dtypes from this list. Ids are ABI (they are packed into kernel
 * signatures): 1..31, append only. 0 is COLLET_DTYPE_NONE: an operand that is absent. f16 and bf16 are stored as their
 * bits; complex is {re, im}; of a bool 0 is false, any other byte is true, and kernels write 0 and 1. The kind is
 * DLPack's.
 */
#define COLLET_COMPLEX_LIST(X)                                                                     \
    X(C64, 5, 8, "c64", 'c', collet_c64, COMPLEX, "complex64")                                     \
    X(C128, 6, 16, "c128", 'z', collet_c128, COMPLEX, "complex128")
#define COLLET_REAL_LIST(X)                                                                        \
    X(F16, 1, 2, "f16", 'h', uint16_t, FLOAT, "float16")                                           \
    X(BF16, 2, 2, "bf16", 'b', uint16_t, BFLOAT, "bfloat16")                                       \
    X(F32, 3, 4, "f32", 'f', float, FLOAT, "float32")                                              \
    X(F64, 4, 8, "f64", 'd', double, FLOAT, "float64")                                             \
    X(I8, 7, 1, "i8", 'a', int8_t, INT, "int8")                                                    \
    X(U8, 8, 1, "u8", 'A', uint8_t, UINT, "uint8")                                                 \
    X(I16, 13, 2, "i16", 's', int16_t, INT, "int16")                                               \
    X(U16, 14, 2, "u16", 'S', uint16_t, UINT, "uint16")                                            \
    X(I32, 9, 4, "i32", 'i', int32_t, INT, "int32")                                                \
    X(U32, 10, 4, "u32", 'I', uint32_t, UINT, "uint32")                                            \
    X(I64, 11, 8, "i64", 'l', int64_t, INT, "int64")                                               \
    X(U64, 12, 8, "u64", 'L', uint64_t, UINT, "uint64")                                            \
    X(BOOL, 15, 1, "bool", 'B', uint8_t, BOOL, "bool")
#define COLLET_DTYPE_LIST(X) COLLET_COMPLEX_LIST(X) COLLET_REAL_LIST(X)

/* X(NAME, name, arguments) for each real type; the second list is for use within the first. */
#define COLLET_EACH_REAL(X, ...)                                                                   \
    X(F16, f16, __VA_ARGS__)                                                                       \
    X(BF16, bf16, __VA_ARGS__) X(F32, f32, __VA_ARGS__) X(F64, f64, __VA_ARGS__)                   \
        X(I8, i8, __VA_ARGS__) X(U8, u8, __VA_ARGS__) X(I16, i16, __VA_ARGS__)                     \
            X(U16, u16, __VA_ARGS__) X(I32, i32, __VA_ARGS__) X(U32, u32, __VA_ARGS__)             \
                X(I64, i64, __VA_ARGS__) X(U64, u64, __VA_ARGS__)                          \
                    X(BOOL, b8, __VA_ARGS__)
#define COLLET_EACH_REAL_AGAIN(X, ...)                                                             \
    X(F16, f16, __VA_ARGS__)                                                                       \
    X(BF16, bf16, __VA_ARGS__) X(F32, f32, __VA_ARGS__) X(F64, f64, __VA_ARGS__)                   \
        X(I8, i8, __VA_ARGS__) X(U8, u8, __VA_ARGS__) X(I16, i16, __VA_ARGS__)                     \
            X(U16, u16, __VA_ARGS__) X(I32, i32, __VA_ARGS__) X(U32, u32, __VA_ARGS__)             \
                X(I64, i64, __VA_ARGS__) X(U64, u64, __VA_ARGS__)                          \
                    X(BOOL, b8, __VA_ARGS__)

typedef int32_t collet_dtype;

#define COLLET_DTYPE_CONSTANT(NAME, id, ...) COLLET_##NAME = id,
COLLET_ENUM(int32_t){COLLET_DTYPE_NONE = 0, COLLET_DTYPE_LIST(COLLET_DTYPE_CONSTANT)};
#undef COLLET_DTYPE_CONSTANT
/* Ids are below COLLET_DTYPE_COUNT. */
#define COLLET_DTYPE_ONE(...) +1
COLLET_ENUM(int32_t){COLLET_DTYPE_COUNT = 1 COLLET_DTYPE_LIST(COLLET_DTYPE_ONE)};
#undef COLLET_DTYPE_ONE

typedef struct collet_c64 {
    float re, im;
} collet_c64;

typedef struct collet_c128 {
    double re, im;
} collet_c128;

/* One value of any dtype: the first `size of dtype` bytes of `bytes` hold it. */
typedef struct collet_scalar {
    union {
        uint8_t bytes[16];
        uint16_t f16, bf16; /* their bits */
        float f32;
        double f64;
        collet_c64 c64;
        collet_c128 c128;
        int8_t i8;
        uint8_t u8;
        int16_t i16;
        uint16_t u16;
        int32_t i32;
        uint32_t u32;
        int64_t i64;
        uint64_t u64;
        uint8_t b8; /* a bool */
    } value;
    collet_dtype dtype;
    uint32_t reserved; /* 0 */
} collet_scalar;

/* ---- Kernels ----------------------------------------------------------------------------- */

/* COLLET_OP_<NAME>: the ids of ops.def. */
#define COLLET_OP(NAME, id, ...) COLLET_OP_##NAME = id,
COLLET_ENUM(uint32_t){
    COLLET_NO_OP = 0,
#include <collet/ops.def>
};
#undef COLLET_OP

/* ---- Limits ------------------------------------------------------------------------------ */

#define COLLET_MAX_DIMS 8      /* axes of an array */
#define COLLET_MAX_OPERANDS 12 /* outputs plus inputs of one kernel */
#define COLLET_MAX_NAME 64     /* bytes of a backend's, device's or kernel's name, with the NUL */

/* ---- Messages and memory ----------------------------------------------------------------- */

/* Levels of log messages. */
COLLET_ENUM(int32_t){
    COLLET_LOG_ERROR = 1,
    COLLET_LOG_WARNING = 2,
    COLLET_LOG_INFO = 3,
    COLLET_LOG_DEBUG = 4,
};

/* The memory that holds the arrays of a device. */
COLLET_ENUM(uint32_t){
    COLLET_MEMORY_UNKNOWN = 0, /* in collet_device_info only */
    COLLET_MEMORY_HOST = 1,    /* in the host's memory; nothing is copied */
    COLLET_MEMORY_OWN = 2,     /* copied to memory that belongs to the device */
};

/* Bytes in one memory space. */
typedef struct collet_memory_stats {
    uint32_t struct_size;
    uint32_t reserved;  /* 0 */
    uint64_t current;   /* in use by arrays */
    uint64_t held;      /* allocated from the system or device, in use or pooled; >= current */
    uint64_t peak;      /* the largest `current` so far, or since it was reset */
    uint64_t total; /* memory of the device, or of the host that the process may use; 0 = unknown */
    uint64_t available; /* the free part of `total`; 0 = unknown */
} collet_memory_stats;

/* The host's memory that this process may use (collet_memory_limit_read). */
typedef struct collet_memory_limit {
    uint32_t struct_size;
    uint32_t reserved;  /* 0 */
    uint64_t machine;   /* bytes of the machine's memory */
    uint64_t total;     /* the minimum of `machine` and all limits */
    uint64_t available; /* the part of `total` that is free now, with the system's cache of files */
    char by[256];       /* the limit that decides `total`, as a text; "": the machine */
} collet_memory_limit;

/* A device as an object of its own programming interface. */
typedef struct collet_native_device {
    uint32_t struct_size;
    int32_t dlpack_type; /* DLDeviceType of DLPack: 1 the CPU, 2 CUDA, 4 OpenCL; 0: none */
    int32_t dlpack_id;   /* number of the device among the devices of that type */
    uint32_t reserved;   /* 0 */
    const char *api;     /* "host", "cuda", "opencl", ... */
    void *context;       /* CUcontext, cl_context; NULL for "host" */
    void *device;        /* CUdevice (a number), cl_device_id; NULL for "host" */
} collet_native_device;

/* ---- Parameter blocks -------------------------------------------------------------------- */

/* The meaning of a field of a parameter block, which determines the values that a caller may
 * give. */
COLLET_ENUM(int32_t){
    COLLET_FIELD_NUMBER = 0, /* a number */
    COLLET_FIELD_FLAG = 1,   /* 0 or 1 */
    COLLET_FIELD_CHOICE = 2, /* 0, 1, ...: the words of `choices` */
    COLLET_FIELD_AXES = 3,   /* u32, bit i: axis i of input 0; default -1: all axes */
    COLLET_FIELD_SCALAR = 4, /* a collet_scalar, converted to the dtype of output 0; required */
    COLLET_FIELD_RANK = 5,   /* the number of axes of input 0; the caller cannot choose it */
    COLLET_FIELD_PERMUTATION = 6, /* i32[8], the axes of input 0 in an order; default: reversed */
    COLLET_FIELD_POINTER = 7, /* u64, an address; types.h describes the memory. Not in ops of plugins */
    COLLET_FIELD_KINDS = 8,
};

/*
 * One field of an op's parameter block, so that a binding can fill in the block by name: it calls
 * collet_ops_defaults, then sets the given fields. struct_size and reserved fields are not
 * described. Strings live as long as the runtime; strings of a plugin's definition live as long as
 * the plugin. libcore refuses a plugin's field whose dtype, size, alignment or default does not fit
 * its kind: NUMBER needs f32, f64 or an integer; FLAG, CHOICE and RANK need an integer; the other
 * kinds are stated above.
 */
typedef struct collet_ops_field {
    const char *name;
    const char *meaning;  /* one line */
    const char *choices;  /* the words of a CHOICE, separated by blanks; else NULL */
    double default_value; /* the same for each element; a SCALAR has none */
    int32_t kind;         /* COLLET_FIELD_* */
    collet_dtype dtype;   /* dtype of an element; COLLET_U8 for SCALAR */
    uint32_t offset;      /* bytes from the beginning of the block */
    uint32_t size;        /* bytes of the field: one element or a fixed array */
} collet_ops_field;

/*
 * The parameters of kernels. `struct_size` is sizeof the caller's block; fields beyond it read as
 * zero. Reserved fields must be 0, and so must the bytes of a longer block that libcore does not
 * know; else the call is INVALID. ops.def describes every field.
 */

/* fill: the kernel converts the value to the output's dtype in the same way as `copy`. The value
 * has any real dtype; for a complex output it may be complex. */
typedef struct collet_fill_params {
    uint32_t struct_size;
    uint32_t reserved;
    collet_scalar value;
} collet_fill_params;

/* axpy: the kernel converts alpha, which has any real dtype, to the arrays' dtype in the same way
 * as `copy`. */
typedef struct collet_axpy_params {
    uint32_t struct_size;
    uint32_t reserved;
    collet_scalar alpha;
} collet_axpy_params;

/* transpose: output axis i is input axis perm[i]; perm is a permutation of 0..ndim-1. */
typedef struct collet_transpose_params {
    uint32_t struct_size;
    uint32_t ndim;
    int32_t perm[COLLET_MAX_DIMS];
} collet_transpose_params;

/* sum, prod, mean, min, max, argmin, argmax, any, all, count_nonzero: bit i of `axes` set = axis i is reduced; keepdims != 0 keeps it with
 * length 1. */
typedef struct collet_reduce_params {
    uint32_t struct_size;
    uint32_t axes;
    uint32_t keepdims;
    uint32_t reserved;
} collet_reduce_params;

/* var, std: the fields of collet_reduce_params, and the divisor is the number of elements minus
 * `correction`. */
typedef struct collet_variance_params {
    uint32_t struct_size;
    uint32_t axes;
    uint32_t keepdims;
    uint32_t reserved;
    double correction;
} collet_variance_params;

/* One step of a program: `op` computes a value of the dtype `dtype` from up to three values. Later versions may append
 * members. */
typedef struct collet_step {
    /* An op of elementwise.def; COLLET_OP_COPY: in[0] converted to dtype; or a reduction (COLLET_OP_SUM, ...) of in[0]
     * along its last axis, which keeps the extent 1. For var and std in[1] is a constant of dtype f64: the correction. */
    uint32_t op;
    collet_dtype dtype;
    uint16_t in[3];    /* numbers of values; 0 where the op has no such input */
    uint16_t reserved; /* 0 */
} collet_step;

#define COLLET_PROGRAM_INPUTS 8
#define COLLET_PROGRAM_OUTPUTS 4
#define COLLET_PROGRAM_STEPS 1024     /* maximum number in a program */
#define COLLET_PROGRAM_CONSTANTS 1024 /* the same */

/*
 * A program for the op `evaluate`. Its values are numbered: the inputs from 0, then the constants,
 * then the results of the steps. The inputs of a step have smaller numbers than its result, and exactly the dtypes of a
 * signature of its op; conversions are steps of their own. The values of constants, and shapes, are not part of a
 * program: a backend compiles it once for all of them. The pointers are valid during the call only, so a backend copies
 * what it keeps.
 *
 * In a program with steps that reduce, an input has the full shape, the inputs' broadcast shape, and a reduction has one
 * element per row. A step with an operand of the full shape has the full shape; a step without such an operand has one
 * element per row if an operand has; a step of constants only counts as a constant. An output has the shape of its
 * value, and a constant is broadcast to the full shape. Only values of the full shape are reduced.
 */
typedef struct collet_program {
    uint32_t struct_size;
    uint32_t n_in, n_constants, n_steps, n_out;
    uint32_t reduce; /* 0, or the op that reduces every output: COLLET_OP_SUM, ... */
    /* The number of steps that reduce; 0 if `reduce` is not 0. A kernel that cannot do such steps refuses the program. */
    uint32_t n_reductions;
    uint32_t reserved;     /* 0 */
    /* Bytes from one element to the next of `steps` and of the parameters' `constants`: set by the program's author to
     * sizeof(collet_step) and sizeof(collet_scalar). Members that a kernel does not know are 0. */
    uint32_t step_size, constant_size;
    uint64_t hash; /* a hash of the counts, `reduce` and the arrays below; equal programs have equal hashes,
                      and different programs rarely have equal hashes */
    const collet_dtype *dtypes; /* dtypes of the inputs, then of the constants */
    const collet_step *steps;
    const uint16_t *outs; /* the value of each output; an input must be copied first */
} collet_program;

/* Element i of an array whose elements have `size` bytes. */
#ifdef __cplusplus
#define COLLET_ELEMENT(type, first, size, i)                                                       \
    reinterpret_cast<const type *>(reinterpret_cast<const char *>(first) + size_t(size) * (i))
#else
#define COLLET_ELEMENT(type, first, size, i)                                                       \
    ((const type *)(const void *)((const char *)(first) + (size_t)(size) * (i)))
#endif

/* Step k; element i of the parameters' `constants`; the dtype of a value. */
static inline const collet_step *collet_program_step(const collet_program *program, uint32_t k)
{
    return COLLET_ELEMENT(collet_step, program->steps, program->step_size, k);
}
static inline const collet_scalar *
collet_program_constant(const collet_program *program, const collet_scalar *constants, uint32_t i)
{
    return COLLET_ELEMENT(collet_scalar, constants, program->constant_size, i);
}
static inline collet_dtype collet_program_dtype(const collet_program *program, uint32_t value)
{
    uint32_t given = program->n_in + program->n_constants;
    return value < given ? program->dtypes[value]
                         : collet_program_step(program, value - given)->dtype;
}

/* evaluate: bit i of `axes` set = axis i of the inputs' broadcast shape is reduced by the program's
 * `reduce`; keepdims != 0 keeps it with length 1; `correction` is the parameter of var and std. All
 * three are 0 without a reduction. `constants` are the values of the program's constants, in their dtypes. */
typedef struct collet_evaluate_params {
    uint32_t struct_size;
    uint32_t axes;
    uint32_t keepdims;
    uint32_t reserved; /* 0 */
    double correction;
    const collet_program *program;
    const collet_scalar *constants; /* n_constants of them; NULL if there are none */
} collet_evaluate_params;

/*
 * fft: the transform runs over the last `last_axes` axes, 1 to 3. inverse != 0: exponents with a plus
 * sign, and 1 / (product of the transformed extents) before the sum.
 */
typedef struct collet_fft_params {
    uint32_t struct_size;
    uint32_t last_axes;
    uint32_t inverse;
    uint32_t reserved; /* 0 */
} collet_fft_params;

/* fftshift: bit i of `axes` set = axis i is shifted; inverse != 0 undoes the shift of inverse 0. */
typedef struct collet_fftshift_params {
    uint32_t struct_size;
    uint32_t axes;
    uint32_t inverse;
    uint32_t reserved; /* 0 */
} collet_fftshift_params;

/* sort, argsort: along `axis`; a negative number counts from the last axis; descending != 0:
 * the greatest first. */
typedef struct collet_sort_params {
    uint32_t struct_size;
    int32_t axis;
    uint32_t descending;
    uint32_t reserved; /* 0 */
} collet_sort_params;

/* partition: index `kth` gets the element that it has in the sorted axis; negative values of `axis` and `kth` count
 * from the end. */
typedef struct collet_partition_params {
    uint32_t struct_size;
    int32_t axis;
    int64_t kth;
} collet_partition_params;

/* searchsorted: right != 0 gives the position after equal elements, 0 the position before them. */
typedef struct collet_searchsorted_params {
    uint32_t struct_size;
    uint32_t right;
} collet_searchsorted_params;

/* histogram: bins of equal width from `low` to `high` >= `low`; if they are equal, from low - 1/2 to
 * low + 1/2. `bins` is the number of bins of an output whose shape is inferred. */
typedef struct collet_histogram_params {
    uint32_t struct_size;
    uint32_t bins;
    double low;
    double high;
} collet_histogram_params;

/* uniform, normal, exponential, integers: element i, in C order of the output, is number offset + i (modulo 2^64) of
 * the sequence of `seed`. */
typedef struct collet_random_params {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t seed;
    uint64_t offset;
} collet_random_params;

/* The distributions of the op variate, with their parameters a, b, c. */
typedef enum collet_variate_distribution {
    COLLET_VARIATE_GAMMA = 0,          /* shape */
    COLLET_VARIATE_LOG_GAMMA = 1,      /* the natural logarithm of a gamma variate: shape */
    COLLET_VARIATE_POISSON = 2,        /* mean */
    COLLET_VARIATE_BINOMIAL = 3,       /* trials, probability */
    COLLET_VARIATE_GEOMETRIC = 4,      /* probability */
    COLLET_VARIATE_HYPERGEOMETRIC = 5, /* good, bad, drawn */
    COLLET_VARIATE_LOGSERIES = 6,      /* probability */
    COLLET_VARIATE_ZIPF = 7,           /* exponent */
    COLLET_VARIATE_VONMISES = 8        /* concentration */
} collet_variate_distribution;

/* variate: as collet_random_params. */
typedef struct collet_variate_params {
    uint32_t struct_size;
    uint32_t distribution; /* collet_variate_distribution */
    uint64_t seed;
    uint64_t offset;
} collet_variate_params;

/* scatter_ewald (nearest), scatter_projection (neighbours), scatter_slices (neighbours, layer,
 * layers), scatter_images (nearest), scatter_amplitudes (layer, layers, thickness), scatter_intensities (limit).
 * The names in parentheses are the fields that an op reads. */
typedef struct collet_scatter_params {
    uint32_t struct_size;
    uint32_t nearest;
    uint32_t neighbours;
    uint32_t layer;    /* the first of the layers that are given */
    uint32_t layers;   /* number of layers of the sample; 0: no layer follows the given layers */
    uint32_t reserved; /* 0 */
    double thickness;  /* of a layer, in nm */
    double limit;      /* the largest |q_z|, in 1/nm; 0: none */
} collet_scatter_params;

/* scatter_average: mask != 0 leaves NaN out of the mean; centre != 0 rotates images about the pixel of q = 0;
 * `aspect` is the height of a pixel over its width, > 0 (0: 1). */
typedef struct collet_scatter_average_params {
    uint32_t struct_size;
    uint32_t mask;
    uint32_t centre;
    uint32_t reserved; /* 0 */
    double aspect;
} collet_scatter_average_params;

/* How ternary weights v become codes. THRESHOLD: v > threshold is 1, v < -threshold is -1, all others
 * are 0; the scale is 1. ABSMEAN: the scale of a row is mean |v|, and the threshold is half of it. */
COLLET_ENUM(uint32_t){
    COLLET_TERNARY_THRESHOLD = 0,
    COLLET_TERNARY_ABSMEAN = 1,
};

/* ternary_quantize: `threshold` is finite and >= 0, and 0 for ABSMEAN. */
typedef struct collet_ternary_quantize_params {
    uint32_t struct_size;
    uint32_t mode;
    float threshold;
    uint32_t reserved; /* 0 */
} collet_ternary_quantize_params;

/* Layouts of the K weights of a row, defined in docs/KERNELS.md. */
COLLET_ENUM(uint32_t){
    COLLET_TERNARY_T2 = 0,     /* the layout that kernels use: 64 bytes for 256 weights */
    COLLET_TERNARY_PLANES = 1, /* a bit plane for +1 and a bit plane for -1: 2 ceil(K / 8) bytes */
    COLLET_TERNARY_ROTOR = 2,  /* 4 weights a byte: ceil(K / 4) bytes */
    COLLET_TERNARY_TQ2_0 = 3,  /* GGUF's blocks of 256: 66 bytes each */
    COLLET_TERNARY_TQ1_0 = 4,  /* GGUF's blocks of 256: 54 bytes each */
    COLLET_TERNARY_FORMATS = 5,
};

/* ternary_pack, ternary_unpack */
typedef struct collet_ternary_format_params {
    uint32_t struct_size;
    uint32_t format;
} collet_ternary_format_params;

/* Conversion of x before it is multiplied by the weights. */
COLLET_ENUM(uint32_t){
    COLLET_TERNARY_INT8 = 0,    /* 8 bits and a scale for each row of x, max |x| / 127 */
    COLLET_TERNARY_TERNARY = 1, /* x > threshold: 1, x < -threshold: -1, else 0 */
    COLLET_TERNARY_F32 = 2,     /* none */
    COLLET_TERNARY_INT4 = 3,    /* 4 bits: as INT8, max |x| / 7 */
};

/* ternary_linear: `threshold` is finite and >= 0, and 0 unless the activations are TERNARY; relu !=
 * 0: negative results become 0. */
typedef struct collet_ternary_linear_params {
    uint32_t struct_size;
    uint32_t activations;
    uint32_t relu;
    float threshold;
} collet_ternary_linear_params;

#ifdef __cplusplus
}
#endif
#endif
