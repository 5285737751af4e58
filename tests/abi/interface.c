/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface as it was frozen; tools/dev/interface.py wrote this file. check.sh compiles and links it. */
#include <stddef.h>
#include <collet/array.h>
#include <collet/call.h>
#include <collet/collet.h>
#include <collet/context.h>
#include <collet/devices.h>
#include <collet/expression.h>
#include <collet/native.h>
#include <collet/ops/array.h>
#include <collet/ops/fft.h>
#include <collet/ops/index.h>
#include <collet/ops/linalg.h>
#include <collet/ops/md.h>
#include <collet/ops/random.h>
#include <collet/ops/scatter.h>
#include <collet/ops/ternary.h>
#include <collet/progress.h>
#include <collet/recording.h>
#include <collet/runtime.h>
#include <collet/status.h>
#include <collet/types.h>
#include <collet/analysis.h>
#include <collet/scatter.h>
#include <collet/ternary.h>
#include <collet/trajectory.h>

/* The size of a struct (>=: struct_size tells how much of it a caller has, so it may grow), and its members. */
#define STRUCT(type, relation, size, ...) \
    void check_##type(void) \
    { \
        typedef type whole; \
        _Static_assert(sizeof(whole) relation(size), #type ": size"); \
        __VA_ARGS__ \
    }
#define MEMBER(name, offset, ...) \
    _Static_assert(offsetof(whole, name) == (offset), #name ": offset"); \
    _Static_assert(__builtin_types_compatible_p(__typeof__(((whole *)0)->name), __VA_ARGS__), #name ": type");
#define TYPE(name, ...) _Static_assert(__builtin_types_compatible_p(name, __VA_ARGS__), #name);
#define VALUE(name, value) _Static_assert((name) == (value), #name);

VALUE(COLLET_ABSENT, -2) VALUE(COLLET_BACKEND_UNAVAILABLE, 1) VALUE(COLLET_BACKEND_UNPROVEN, 2)
VALUE(COLLET_BACKEND_USABLE, 0) VALUE(COLLET_BF16, 2) VALUE(COLLET_BOOL, 15) VALUE(COLLET_BUSY, 16)
VALUE(COLLET_C128, 6) VALUE(COLLET_C64, 5) VALUE(COLLET_CANCELLED, 19) VALUE(COLLET_CLOCK_DEVICE, 2)
VALUE(COLLET_CLOCK_HOST, 1) VALUE(COLLET_DEVICE_CPU, 1) VALUE(COLLET_DEVICE_GPU, 2) VALUE(COLLET_DEVICE_LOST, 11)
VALUE(COLLET_DEVICE_OTHER, 3) VALUE(COLLET_DEVICE_UNKNOWN, 0) VALUE(COLLET_DTYPE, 3) VALUE(COLLET_DTYPE_NONE, 0)
VALUE(COLLET_ERROR_TEXT, 1020) VALUE(COLLET_EXECUTION_ASYNCHRONOUS, 2) VALUE(COLLET_EXECUTION_SYNCHRONOUS, 1)
VALUE(COLLET_EXECUTION_UNKNOWN, 0) VALUE(COLLET_EXPRESSION_DEPTH, 64) VALUE(COLLET_EXPRESSION_INPUTS, 64)
VALUE(COLLET_EXPRESSION_OUTPUTS, 64) VALUE(COLLET_EXPRESSION_TEXT, 65536) VALUE(COLLET_EXPRESSION_VALUES, 4096)
VALUE(COLLET_F16, 1) VALUE(COLLET_F32, 3) VALUE(COLLET_F64, 4) VALUE(COLLET_FAILED, 10) VALUE(COLLET_FIELD_AXES, 3)
VALUE(COLLET_FIELD_CHOICE, 2) VALUE(COLLET_FIELD_FLAG, 1) VALUE(COLLET_FIELD_KINDS, 8) VALUE(COLLET_FIELD_NUMBER, 0)
VALUE(COLLET_FIELD_PERMUTATION, 6) VALUE(COLLET_FIELD_POINTER, 7) VALUE(COLLET_FIELD_RANK, 5)
VALUE(COLLET_FIELD_SCALAR, 4) VALUE(COLLET_FORKED, 12) VALUE(COLLET_FORMAT, 14) VALUE(COLLET_I16, 13)
VALUE(COLLET_I32, 9) VALUE(COLLET_I64, 11) VALUE(COLLET_I8, 7) VALUE(COLLET_INFER, -1) VALUE(COLLET_INVALID, 1)
VALUE(COLLET_IO, 13) VALUE(COLLET_LOG_DEBUG, 4) VALUE(COLLET_LOG_ERROR, 1) VALUE(COLLET_LOG_INFO, 3)
VALUE(COLLET_LOG_WARNING, 2) VALUE(COLLET_MAX_DIMS, 8) VALUE(COLLET_MAX_NAME, 64) VALUE(COLLET_MAX_OPERANDS, 12)
VALUE(COLLET_MEMORY_HOST, 1) VALUE(COLLET_MEMORY_OWN, 2) VALUE(COLLET_MEMORY_UNKNOWN, 0) VALUE(COLLET_NOT_FOUND, 17)
VALUE(COLLET_NOT_READY, 18) VALUE(COLLET_NO_MEMORY, 5) VALUE(COLLET_NO_OP, 0) VALUE(COLLET_OK, 0)
VALUE(COLLET_OP_ABS, 13) VALUE(COLLET_OP_ACOS, 304) VALUE(COLLET_OP_ACOSH, 310) VALUE(COLLET_OP_ADD, 3)
VALUE(COLLET_OP_ALL, 27) VALUE(COLLET_OP_ANGULAR_VELOCITY, 102) VALUE(COLLET_OP_ANY, 26) VALUE(COLLET_OP_ARGMAX, 22)
VALUE(COLLET_OP_ARGMIN, 29) VALUE(COLLET_OP_ARGSORT, 161) VALUE(COLLET_OP_ASIN, 303) VALUE(COLLET_OP_ASINH, 309)
VALUE(COLLET_OP_ATAN, 305) VALUE(COLLET_OP_ATAN2, 306) VALUE(COLLET_OP_ATANH, 311) VALUE(COLLET_OP_AXPY, 18)
VALUE(COLLET_OP_BITWISE_AND, 276) VALUE(COLLET_OP_BITWISE_INVERT, 279) VALUE(COLLET_OP_BITWISE_LEFT_SHIFT, 280)
VALUE(COLLET_OP_BITWISE_OR, 277) VALUE(COLLET_OP_BITWISE_RIGHT_SHIFT, 281) VALUE(COLLET_OP_BITWISE_XOR, 278)
VALUE(COLLET_OP_CBRT, 313) VALUE(COLLET_OP_CEIL, 290) VALUE(COLLET_OP_CHOLESKY, 40) VALUE(COLLET_OP_CLIP, 283)
VALUE(COLLET_OP_COM, 96) VALUE(COLLET_OP_COMPLEX, 295) VALUE(COLLET_OP_COMPRESS, 174) VALUE(COLLET_OP_CONJ, 14)
VALUE(COLLET_OP_COPY, 2) VALUE(COLLET_OP_COPYSIGN, 263) VALUE(COLLET_OP_COS, 16) VALUE(COLLET_OP_COSH, 308)
VALUE(COLLET_OP_COUNT_NONZERO, 28) VALUE(COLLET_OP_CROSS_SUM, 98) VALUE(COLLET_OP_CUMULATIVE_PROD, 181)
VALUE(COLLET_OP_CUMULATIVE_SUM, 180) VALUE(COLLET_OP_DECOMPOSE, 103) VALUE(COLLET_OP_DIV, 6) VALUE(COLLET_OP_DOT, 33)
VALUE(COLLET_OP_EIG, 41) VALUE(COLLET_OP_EIGH, 39) VALUE(COLLET_OP_EQUAL, 266) VALUE(COLLET_OP_ERF, 314)
VALUE(COLLET_OP_ERFC, 315) VALUE(COLLET_OP_EULER_ZYZ, 100) VALUE(COLLET_OP_EVALUATE, 30) VALUE(COLLET_OP_EXP, 7)
VALUE(COLLET_OP_EXP2, 296) VALUE(COLLET_OP_EXPIT, 316) VALUE(COLLET_OP_EXPM1, 297) VALUE(COLLET_OP_EXPONENTIAL, 82)
VALUE(COLLET_OP_FFT, 64) VALUE(COLLET_OP_FFTSHIFT, 65) VALUE(COLLET_OP_FILL, 1) VALUE(COLLET_OP_FLOOR, 289)
VALUE(COLLET_OP_FLOOR_DIVIDE, 258) VALUE(COLLET_OP_FMA, 265) VALUE(COLLET_OP_GREATER, 270)
VALUE(COLLET_OP_GREATER_EQUAL, 271) VALUE(COLLET_OP_GYRATION, 107) VALUE(COLLET_OP_HISTOGRAM, 182)
VALUE(COLLET_OP_HYPOT, 312) VALUE(COLLET_OP_IMAG, 294) VALUE(COLLET_OP_INERTIA, 97) VALUE(COLLET_OP_INTEGERS, 83)
VALUE(COLLET_OP_ISFINITE, 286) VALUE(COLLET_OP_ISINF, 287) VALUE(COLLET_OP_ISNAN, 288) VALUE(COLLET_OP_KINETIC, 106)
VALUE(COLLET_OP_LESS, 268) VALUE(COLLET_OP_LESS_EQUAL, 269) VALUE(COLLET_OP_LGAMMA, 317) VALUE(COLLET_OP_LOG, 8)
VALUE(COLLET_OP_LOG10, 300) VALUE(COLLET_OP_LOG1P, 298) VALUE(COLLET_OP_LOG2, 299) VALUE(COLLET_OP_LOGADDEXP, 301)
VALUE(COLLET_OP_LOGICAL_AND, 272) VALUE(COLLET_OP_LOGICAL_NOT, 275) VALUE(COLLET_OP_LOGICAL_OR, 273)
VALUE(COLLET_OP_LOGICAL_XOR, 274) VALUE(COLLET_OP_LU, 35) VALUE(COLLET_OP_MAGNITUDE, 104) VALUE(COLLET_OP_MATMUL, 32)
VALUE(COLLET_OP_MATVEC, 34) VALUE(COLLET_OP_MAX, 21) VALUE(COLLET_OP_MAXIMUM, 285) VALUE(COLLET_OP_MEAN, 19)
VALUE(COLLET_OP_MIN, 20) VALUE(COLLET_OP_MINIMUM, 284) VALUE(COLLET_OP_MUL, 5) VALUE(COLLET_OP_NEG, 12)
VALUE(COLLET_OP_NEXTAFTER, 264) VALUE(COLLET_OP_NONZERO, 176) VALUE(COLLET_OP_NORMAL, 81)
VALUE(COLLET_OP_NOT_EQUAL, 267) VALUE(COLLET_OP_OBSERVABLES, 109) VALUE(COLLET_OP_PARTITION, 162)
VALUE(COLLET_OP_PLACE, 175) VALUE(COLLET_OP_POW, 260) VALUE(COLLET_OP_PRINCIPAL_AXES, 99) VALUE(COLLET_OP_PROD, 23)
VALUE(COLLET_OP_PUT, 172) VALUE(COLLET_OP_QR, 37) VALUE(COLLET_OP_REAL, 293) VALUE(COLLET_OP_RECIPROCAL, 257)
VALUE(COLLET_OP_REMAINDER, 259) VALUE(COLLET_OP_RMSD, 108) VALUE(COLLET_OP_ROUND, 292) VALUE(COLLET_OP_SCATTER_ADD, 173)
VALUE(COLLET_OP_SCATTER_AMPLITUDES, 152) VALUE(COLLET_OP_SCATTER_AVERAGE, 151) VALUE(COLLET_OP_SCATTER_EULER, 144)
VALUE(COLLET_OP_SCATTER_EWALD, 147) VALUE(COLLET_OP_SCATTER_IMAGES, 150) VALUE(COLLET_OP_SCATTER_INTENSITIES, 153)
VALUE(COLLET_OP_SCATTER_POLARISATION, 146) VALUE(COLLET_OP_SCATTER_PROJECTION, 148) VALUE(COLLET_OP_SCATTER_SLICES, 149)
VALUE(COLLET_OP_SCATTER_VECTOR, 145) VALUE(COLLET_OP_SEARCHSORTED, 163) VALUE(COLLET_OP_SIGN, 261)
VALUE(COLLET_OP_SIGNBIT, 262) VALUE(COLLET_OP_SIN, 15) VALUE(COLLET_OP_SINC, 318) VALUE(COLLET_OP_SINH, 307)
VALUE(COLLET_OP_SOLVE, 36) VALUE(COLLET_OP_SORT, 160) VALUE(COLLET_OP_SQRT, 9) VALUE(COLLET_OP_SQUARE, 256)
VALUE(COLLET_OP_STD, 25) VALUE(COLLET_OP_SUB, 4) VALUE(COLLET_OP_SUM, 11) VALUE(COLLET_OP_SVD, 38)
VALUE(COLLET_OP_TAKE, 170) VALUE(COLLET_OP_TAKE_ALONG_AXIS, 171) VALUE(COLLET_OP_TAN, 302) VALUE(COLLET_OP_TANH, 17)
VALUE(COLLET_OP_TERNARY_DOT, 131) VALUE(COLLET_OP_TERNARY_LINEAR, 133) VALUE(COLLET_OP_TERNARY_MATMUL, 132)
VALUE(COLLET_OP_TERNARY_PACK, 129) VALUE(COLLET_OP_TERNARY_QUANTIZE, 128) VALUE(COLLET_OP_TERNARY_UNPACK, 130)
VALUE(COLLET_OP_TILT, 101) VALUE(COLLET_OP_TIME_DERIVATIVE, 105) VALUE(COLLET_OP_TRANSPOSE, 10)
VALUE(COLLET_OP_TRUNC, 291) VALUE(COLLET_OP_UNIFORM, 80) VALUE(COLLET_OP_VAR, 24) VALUE(COLLET_OP_VARIATE, 84)
VALUE(COLLET_OP_WHERE, 282) VALUE(COLLET_OVERFLOW, 4) VALUE(COLLET_PROGRAM_CONSTANTS, 1024)
VALUE(COLLET_PROGRAM_INPUTS, 8) VALUE(COLLET_PROGRAM_OUTPUTS, 4) VALUE(COLLET_PROGRAM_STEPS, 1024) VALUE(COLLET_READ, 1)
VALUE(COLLET_RECORDING_VALUES, 65536) VALUE(COLLET_REFUSED, 9) VALUE(COLLET_SCATTER_ALIGNMENT, 1)
VALUE(COLLET_SCATTER_CHI, 360) VALUE(COLLET_SCATTER_CYRSOXS, 1) VALUE(COLLET_SCATTER_DIRECT, 1)
VALUE(COLLET_SCATTER_EULER, 2) VALUE(COLLET_SCATTER_EXACT, 0) VALUE(COLLET_SCATTER_FAST, 0) VALUE(COLLET_SCATTER_FFT, 2)
VALUE(COLLET_SCATTER_FRACTION, 0) VALUE(COLLET_SCATTER_ISOTROPIC, 1) VALUE(COLLET_SCATTER_NAME, 40)
VALUE(COLLET_SCATTER_PSI, 3) VALUE(COLLET_SCATTER_THETA, 2) VALUE(COLLET_SCATTER_VECTOR, 3) VALUE(COLLET_SHAPE, 2)
VALUE(COLLET_SHARE, 4) VALUE(COLLET_STATUS_COUNT, 20) VALUE(COLLET_TERNARY_ABSMEAN, 1) VALUE(COLLET_TERNARY_BITNET, 66)
VALUE(COLLET_TERNARY_CODES, 2) VALUE(COLLET_TERNARY_F32, 2) VALUE(COLLET_TERNARY_FILE_GGUF, 3)
VALUE(COLLET_TERNARY_FILE_NPY, 2) VALUE(COLLET_TERNARY_FILE_SAFETENSORS, 4) VALUE(COLLET_TERNARY_FILE_T2, 1)
VALUE(COLLET_TERNARY_FORMATS, 5) VALUE(COLLET_TERNARY_INT4, 3) VALUE(COLLET_TERNARY_INT8, 0)
VALUE(COLLET_TERNARY_NUMBERS, 1) VALUE(COLLET_TERNARY_OTHER, 0) VALUE(COLLET_TERNARY_PACKED, 3)
VALUE(COLLET_TERNARY_PLANES, 1) VALUE(COLLET_TERNARY_Q2_0, 64) VALUE(COLLET_TERNARY_Q2_0_128, 65)
VALUE(COLLET_TERNARY_ROTOR, 2) VALUE(COLLET_TERNARY_T2, 0) VALUE(COLLET_TERNARY_TERNARY, 1)
VALUE(COLLET_TERNARY_THRESHOLD, 0) VALUE(COLLET_TERNARY_TQ1_0, 4) VALUE(COLLET_TERNARY_TQ2_0, 3)
VALUE(COLLET_TERNARY_WRITE_BYTES, 2) VALUE(COLLET_TERNARY_WRITE_CODES, 0) VALUE(COLLET_TERNARY_WRITE_VALUES, 1)
VALUE(COLLET_TRAJECTORY_CHECK, 8) VALUE(COLLET_TRAJECTORY_DIRECTORY, 1) VALUE(COLLET_TRAJECTORY_DRIFT_ANGULAR, 2)
VALUE(COLLET_TRAJECTORY_DRIFT_BOTH, 3) VALUE(COLLET_TRAJECTORY_DRIFT_KEEP, 0) VALUE(COLLET_TRAJECTORY_DRIFT_LINEAR, 1)
VALUE(COLLET_TRAJECTORY_MISSING_FAIL, 0) VALUE(COLLET_TRAJECTORY_MISSING_NAN, 2)
VALUE(COLLET_TRAJECTORY_MISSING_SKIP, 1) VALUE(COLLET_TRAJECTORY_OVERWRITE, 2) VALUE(COLLET_TRAJECTORY_PBC_CENTER, 2)
VALUE(COLLET_TRAJECTORY_PBC_NOJUMP, 1) VALUE(COLLET_TRAJECTORY_PBC_NONE, 3) VALUE(COLLET_TRAJECTORY_PBC_WHOLE, 0)
VALUE(COLLET_TRAJECTORY_PLACE_PACK, 2) VALUE(COLLET_TRAJECTORY_PLACE_UNWRAP, 1) VALUE(COLLET_TRAJECTORY_PLACE_WHOLE, 0)
VALUE(COLLET_TRAJECTORY_RESUME, 4) VALUE(COLLET_U16, 14) VALUE(COLLET_U32, 10) VALUE(COLLET_U64, 12) VALUE(COLLET_U8, 8)
VALUE(COLLET_UNAVAILABLE, 7) VALUE(COLLET_UNKNOWN_BACKEND, 6) VALUE(COLLET_UNSUPPORTED, 8)
VALUE(COLLET_VARIATE_BINOMIAL, 3) VALUE(COLLET_VARIATE_GAMMA, 0) VALUE(COLLET_VARIATE_GEOMETRIC, 4)
VALUE(COLLET_VARIATE_HYPERGEOMETRIC, 5) VALUE(COLLET_VARIATE_LOGSERIES, 6) VALUE(COLLET_VARIATE_LOG_GAMMA, 1)
VALUE(COLLET_VARIATE_POISSON, 2) VALUE(COLLET_VARIATE_VONMISES, 8) VALUE(COLLET_VARIATE_ZIPF, 7)
VALUE(COLLET_VIEW_BROADCAST, 3) VALUE(COLLET_VIEW_PERMUTE, 1) VALUE(COLLET_VIEW_RESHAPE, 2) VALUE(COLLET_VIEW_SELECT, 5)
VALUE(COLLET_VIEW_SLICE, 4) VALUE(COLLET_WRAP_READONLY, 1) VALUE(COLLET_WRAP_SHARED, 2) VALUE(COLLET_WRITE, 2)
STRUCT(collet_error, ==, 1024, MEMBER(status, 0, collet_status) MEMBER(text, 4, char [1020]))
STRUCT(collet_c64, ==, 8, MEMBER(re, 0, float) MEMBER(im, 4, float))
STRUCT(collet_c128, ==, 16, MEMBER(re, 0, double) MEMBER(im, 8, double))
STRUCT(collet_scalar, ==, 24, MEMBER(value.bytes, 0, uint8_t [16]) MEMBER(value.f16, 0, uint16_t)
    MEMBER(value.bf16, 0, uint16_t) MEMBER(value.f32, 0, float) MEMBER(value.f64, 0, double)
    MEMBER(value.c64, 0, collet_c64) MEMBER(value.c128, 0, collet_c128) MEMBER(value.i8, 0, int8_t)
    MEMBER(value.u8, 0, uint8_t) MEMBER(value.i16, 0, int16_t) MEMBER(value.u16, 0, uint16_t)
    MEMBER(value.i32, 0, int32_t) MEMBER(value.u32, 0, uint32_t) MEMBER(value.i64, 0, int64_t)
    MEMBER(value.u64, 0, uint64_t) MEMBER(value.b8, 0, uint8_t) MEMBER(dtype, 16, collet_dtype)
    MEMBER(reserved, 20, uint32_t))
STRUCT(collet_memory_stats, >=, 48, MEMBER(struct_size, 0, uint32_t) MEMBER(reserved, 4, uint32_t)
    MEMBER(current, 8, uint64_t) MEMBER(held, 16, uint64_t) MEMBER(peak, 24, uint64_t) MEMBER(total, 32, uint64_t)
    MEMBER(available, 40, uint64_t))
STRUCT(collet_memory_limit, >=, 288, MEMBER(struct_size, 0, uint32_t) MEMBER(reserved, 4, uint32_t)
    MEMBER(machine, 8, uint64_t) MEMBER(total, 16, uint64_t) MEMBER(available, 24, uint64_t) MEMBER(by, 32, char [256]))
STRUCT(collet_native_device, >=, 40, MEMBER(struct_size, 0, uint32_t) MEMBER(dlpack_type, 4, int32_t)
    MEMBER(dlpack_id, 8, int32_t) MEMBER(reserved, 12, uint32_t) MEMBER(api, 16, const char *)
    MEMBER(context, 24, void *) MEMBER(device, 32, void *))
STRUCT(collet_ops_field, ==, 48, MEMBER(name, 0, const char *) MEMBER(meaning, 8, const char *)
    MEMBER(choices, 16, const char *) MEMBER(default_value, 24, double) MEMBER(kind, 32, int32_t)
    MEMBER(dtype, 36, collet_dtype) MEMBER(offset, 40, uint32_t) MEMBER(size, 44, uint32_t))
STRUCT(collet_fill_params, >=, 32, MEMBER(struct_size, 0, uint32_t) MEMBER(reserved, 4, uint32_t)
    MEMBER(value, 8, collet_scalar))
STRUCT(collet_axpy_params, >=, 32, MEMBER(struct_size, 0, uint32_t) MEMBER(reserved, 4, uint32_t)
    MEMBER(alpha, 8, collet_scalar))
STRUCT(collet_transpose_params, >=, 40, MEMBER(struct_size, 0, uint32_t) MEMBER(ndim, 4, uint32_t)
    MEMBER(perm, 8, int32_t [8]))
STRUCT(collet_reduce_params, >=, 16, MEMBER(struct_size, 0, uint32_t) MEMBER(axes, 4, uint32_t)
    MEMBER(keepdims, 8, uint32_t) MEMBER(reserved, 12, uint32_t))
STRUCT(collet_variance_params, >=, 24, MEMBER(struct_size, 0, uint32_t) MEMBER(axes, 4, uint32_t)
    MEMBER(keepdims, 8, uint32_t) MEMBER(reserved, 12, uint32_t) MEMBER(correction, 16, double))
STRUCT(collet_step, ==, 16, MEMBER(op, 0, uint32_t) MEMBER(dtype, 4, collet_dtype) MEMBER(in, 8, uint16_t [3])
    MEMBER(reserved, 14, uint16_t))
STRUCT(collet_program, >=, 72, MEMBER(struct_size, 0, uint32_t) MEMBER(n_in, 4, uint32_t)
    MEMBER(n_constants, 8, uint32_t) MEMBER(n_steps, 12, uint32_t) MEMBER(n_out, 16, uint32_t)
    MEMBER(reduce, 20, uint32_t) MEMBER(n_reductions, 24, uint32_t) MEMBER(reserved, 28, uint32_t)
    MEMBER(step_size, 32, uint32_t) MEMBER(constant_size, 36, uint32_t) MEMBER(hash, 40, uint64_t)
    MEMBER(dtypes, 48, const collet_dtype *) MEMBER(steps, 56, const collet_step *) MEMBER(outs, 64, const uint16_t *))
STRUCT(collet_evaluate_params, >=, 40, MEMBER(struct_size, 0, uint32_t) MEMBER(axes, 4, uint32_t)
    MEMBER(keepdims, 8, uint32_t) MEMBER(reserved, 12, uint32_t) MEMBER(correction, 16, double)
    MEMBER(program, 24, const collet_program *) MEMBER(constants, 32, const collet_scalar *))
STRUCT(collet_fft_params, >=, 16, MEMBER(struct_size, 0, uint32_t) MEMBER(last_axes, 4, uint32_t)
    MEMBER(inverse, 8, uint32_t) MEMBER(reserved, 12, uint32_t))
STRUCT(collet_fftshift_params, >=, 16, MEMBER(struct_size, 0, uint32_t) MEMBER(axes, 4, uint32_t)
    MEMBER(inverse, 8, uint32_t) MEMBER(reserved, 12, uint32_t))
STRUCT(collet_sort_params, >=, 16, MEMBER(struct_size, 0, uint32_t) MEMBER(axis, 4, int32_t)
    MEMBER(descending, 8, uint32_t) MEMBER(reserved, 12, uint32_t))
STRUCT(collet_partition_params, >=, 16, MEMBER(struct_size, 0, uint32_t) MEMBER(axis, 4, int32_t)
    MEMBER(kth, 8, int64_t))
STRUCT(collet_searchsorted_params, >=, 8, MEMBER(struct_size, 0, uint32_t) MEMBER(right, 4, uint32_t))
STRUCT(collet_histogram_params, >=, 24, MEMBER(struct_size, 0, uint32_t) MEMBER(bins, 4, uint32_t)
    MEMBER(low, 8, double) MEMBER(high, 16, double))
STRUCT(collet_random_params, >=, 24, MEMBER(struct_size, 0, uint32_t) MEMBER(reserved, 4, uint32_t)
    MEMBER(seed, 8, uint64_t) MEMBER(offset, 16, uint64_t))
STRUCT(collet_variate_params, >=, 24, MEMBER(struct_size, 0, uint32_t) MEMBER(distribution, 4, uint32_t)
    MEMBER(seed, 8, uint64_t) MEMBER(offset, 16, uint64_t))
STRUCT(collet_scatter_params, >=, 40, MEMBER(struct_size, 0, uint32_t) MEMBER(nearest, 4, uint32_t)
    MEMBER(neighbours, 8, uint32_t) MEMBER(layer, 12, uint32_t) MEMBER(layers, 16, uint32_t)
    MEMBER(reserved, 20, uint32_t) MEMBER(thickness, 24, double) MEMBER(limit, 32, double))
STRUCT(collet_scatter_average_params, >=, 24, MEMBER(struct_size, 0, uint32_t) MEMBER(mask, 4, uint32_t)
    MEMBER(centre, 8, uint32_t) MEMBER(reserved, 12, uint32_t) MEMBER(aspect, 16, double))
STRUCT(collet_ternary_quantize_params, >=, 16, MEMBER(struct_size, 0, uint32_t) MEMBER(mode, 4, uint32_t)
    MEMBER(threshold, 8, float) MEMBER(reserved, 12, uint32_t))
STRUCT(collet_ternary_format_params, >=, 8, MEMBER(struct_size, 0, uint32_t) MEMBER(format, 4, uint32_t))
STRUCT(collet_ternary_linear_params, >=, 16, MEMBER(struct_size, 0, uint32_t) MEMBER(activations, 4, uint32_t)
    MEMBER(relu, 8, uint32_t) MEMBER(threshold, 12, float))
STRUCT(collet_runtime_options, >=, 64, MEMBER(struct_size, 0, uint32_t) MEMBER(reserved, 4, uint32_t)
    MEMBER(plugin_path, 8, const char *) MEMBER(config_file, 16, const char *) MEMBER(backend, 24, const char *)
    MEMBER(log, 32, collet_log_fn) MEMBER(log_user, 40, void *) MEMBER(settings, 48, const char * const *)
    MEMBER(defaults, 56, const char * const *))
STRUCT(collet_backend_info, >=, 88, MEMBER(struct_size, 0, uint32_t) MEMBER(state, 4, int32_t)
    MEMBER(name, 8, const char *) MEMBER(version, 16, const char *) MEMBER(abi, 24, uint32_t)
    MEMBER(priority, 28, int32_t) MEMBER(jit, 32, int32_t) MEMBER(parallel, 36, int32_t) MEMBER(gpu, 40, int32_t)
    MEMBER(device_count, 44, uint32_t) MEMBER(kernel_count, 48, uint32_t) MEMBER(named_devices, 52, int32_t)
    MEMBER(path, 56, const char *) MEMBER(reason, 64, const char *) MEMBER(capabilities, 72, const char *)
    MEMBER(calibration, 80, const char *))
STRUCT(collet_device_info, >=, 80, MEMBER(struct_size, 0, uint32_t) MEMBER(kind, 4, int32_t)
    MEMBER(choice, 8, const char *) MEMBER(name, 16, const char *) MEMBER(vendor, 24, const char *)
    MEMBER(driver, 32, const char *) MEMBER(memory, 40, uint32_t) MEMBER(execution, 44, int32_t)
    MEMBER(memory_bytes, 48, uint64_t) MEMBER(largest_array, 56, uint64_t) MEMBER(cache_bytes, 64, uint64_t)
    MEMBER(compute_units, 72, uint32_t) MEMBER(clock_mhz, 76, uint32_t))
STRUCT(collet_plugin_record, >=, 48, MEMBER(struct_size, 0, uint32_t) MEMBER(accepted, 4, int32_t)
    MEMBER(path, 8, const char *) MEMBER(stage, 16, const char *) MEMBER(code, 24, const char *)
    MEMBER(reason, 32, const char *) MEMBER(milliseconds, 40, double))
STRUCT(collet_setting, >=, 72, MEMBER(struct_size, 0, uint32_t) MEMBER(reserved, 4, uint32_t)
    MEMBER(key, 8, const char *) MEMBER(environment, 16, const char *) MEMBER(type, 24, const char *)
    MEMBER(fallback, 32, const char *) MEMBER(value, 40, const char *) MEMBER(source, 48, const char *)
    MEMBER(help, 56, const char *) MEMBER(values, 64, const char *))
STRUCT(collet_counters, >=, 56, MEMBER(struct_size, 0, uint32_t) MEMBER(reserved, 4, uint32_t)
    MEMBER(calls, 8, uint64_t) MEMBER(fallbacks, 16, uint64_t) MEMBER(temporaries, 24, uint64_t)
    MEMBER(bytes_to_device, 32, uint64_t) MEMBER(bytes_to_host, 40, uint64_t) MEMBER(bytes_direct, 48, uint64_t))
STRUCT(collet_ops_axis, ==, 8, MEMBER(extent, 0, int32_t) MEMBER(letter, 4, uint16_t) MEMBER(other, 6, uint16_t))
STRUCT(collet_ops_pattern, ==, 80, MEMBER(ndim, 0, int32_t) MEMBER(dots, 4, int32_t) MEMBER(any, 8, int32_t)
    MEMBER(reserved, 12, int32_t) MEMBER(axes, 16, collet_ops_axis [8]))
STRUCT(collet_ops_operand, ==, 192, MEMBER(name, 0, char [24]) MEMBER(optional, 24, int32_t)
    MEMBER(alternatives, 28, int32_t) MEMBER(pattern, 32, collet_ops_pattern [2]))
STRUCT(collet_ops_info, >=, 120, MEMBER(struct_size, 0, uint32_t) MEMBER(id, 4, uint32_t) MEMBER(name, 8, const char *)
    MEMBER(family, 16, const char *) MEMBER(shapes, 24, const char *) MEMBER(sigs, 32, const char *)
    MEMBER(split, 40, const char *) MEMBER(check, 48, const char *) MEMBER(n_out, 56, uint32_t)
    MEMBER(n_in, 60, uint32_t) MEMBER(params_size, 64, uint32_t) MEMBER(alias, 68, uint32_t)
    MEMBER(operand_size, 72, uint32_t) MEMBER(field_size, 76, uint32_t) MEMBER(operands, 80, const collet_ops_operand *)
    MEMBER(fields, 88, const collet_ops_field *) MEMBER(field_count, 96, uint32_t) MEMBER(reserved, 100, uint32_t)
    MEMBER(measure, 104, const char *) MEMBER(summary, 112, const char *))
STRUCT(collet_array_spec, ==, 72, MEMBER(dtype, 0, collet_dtype) MEMBER(ndim, 4, int32_t) MEMBER(shape, 8, int64_t [8]))
STRUCT(collet_devices, >=, 32, MEMBER(struct_size, 0, uint32_t) MEMBER(reserved, 4, uint32_t)
    MEMBER(choices, 8, const char *) MEMBER(n_contexts, 16, int64_t) MEMBER(contexts, 24, collet_context * const *))
STRUCT(collet_device_share, >=, 40, MEMBER(struct_size, 0, uint32_t) MEMBER(reserved, 4, uint32_t)
    MEMBER(device, 8, const char *) MEMBER(done, 16, int64_t) MEMBER(seconds, 24, double)
    MEMBER(error, 32, const char *))
STRUCT(collet_argument, ==, 64, MEMBER(name, 0, const char *) MEMBER(array, 8, const collet_array *)
    MEMBER(spec, 16, const collet_array_spec *) MEMBER(number, 24, collet_scalar) MEMBER(reserved, 48, uint64_t [2]))
STRUCT(collet_progress, >=, 40, MEMBER(struct_size, 0, uint32_t) MEMBER(reserved, 4, uint32_t) MEMBER(done, 8, int64_t)
    MEMBER(bytes, 16, uint64_t) MEMBER(fraction, 24, double) MEMBER(stage, 32, const char *))
STRUCT(collet_analysis_rotation_curves, >=, 56, MEMBER(struct_size, 0, uint32_t) MEMBER(reserved, 4, uint32_t)
    MEMBER(c1, 8, double *) MEMBER(c1_parts, 16, double *) MEMBER(c2, 24, double *) MEMBER(c2_parts, 32, double *)
    MEMBER(s2_without, 40, double *) MEMBER(s2, 48, double))
STRUCT(collet_scatter_material, >=, 72, MEMBER(struct_size, 0, uint32_t) MEMBER(dtype, 4, collet_dtype)
    MEMBER(volume, 8, const void *) MEMBER(alignment, 16, const void *) MEMBER(theta, 24, const void *)
    MEMBER(psi, 32, const void *) MEMBER(direction, 40, const void *) MEMBER(unaligned, 48, const void *)
    MEMBER(kind, 56, uint32_t) MEMBER(reserved, 60, uint32_t) MEMBER(arrays, 64, const collet_array * const *))
STRUCT(collet_scatter_constants, ==, 32, MEMBER(delta_parallel, 0, double) MEMBER(beta_parallel, 8, double)
    MEMBER(delta_perpendicular, 16, double) MEMBER(beta_perpendicular, 24, double))
STRUCT(collet_scatter_options, >=, 256, MEMBER(struct_size, 0, uint32_t) MEMBER(method, 4, uint32_t)
    MEMBER(dtype, 8, collet_dtype) MEMBER(grid, 12, uint32_t) MEMBER(nearest, 16, uint32_t) MEMBER(window, 20, uint32_t)
    MEMBER(neighbours, 24, uint32_t) MEMBER(mask, 28, uint32_t) MEMBER(material_frame, 32, uint32_t)
    MEMBER(attenuation, 36, uint32_t) MEMBER(shape, 40, int64_t [3]) MEMBER(voxel, 64, double)
    MEMBER(direction, 72, double [3]) MEMBER(angles, 96, double [3]) MEMBER(n_materials, 120, int64_t)
    MEMBER(materials, 128, const collet_scatter_material *) MEMBER(n_energies, 136, int64_t)
    MEMBER(energies, 144, const double *) MEMBER(constants, 152, const collet_scatter_constants *)
    MEMBER(memory, 160, uint64_t) MEMBER(progress, 168, collet_progress_fn) MEMBER(progress_user, 176, void *)
    MEMBER(layers, 184, collet_scatter_layers_fn) MEMBER(layers_user, 192, void *)
    MEMBER(devices, 200, const collet_devices *) MEMBER(detector, 208, double [3]) MEMBER(collapse, 232, uint32_t)
    MEMBER(omit_zero, 236, uint32_t) MEMBER(energy_range, 240, double [2]))
STRUCT(collet_scatter_plan, >=, 64, MEMBER(struct_size, 0, uint32_t) MEMBER(reserved, 4, uint32_t)
    MEMBER(passes, 8, int64_t) MEMBER(fields, 16, int64_t) MEMBER(transforms, 24, int64_t) MEMBER(block, 32, int64_t)
    MEMBER(angles, 40, int64_t) MEMBER(bytes, 48, uint64_t) MEMBER(kept, 56, uint64_t))
STRUCT(collet_scatter_pattern, >=, 64, MEMBER(struct_size, 0, uint32_t) MEMBER(dtype, 4, collet_dtype)
    MEMBER(index, 8, int64_t) MEMBER(energy, 16, double) MEMBER(y, 24, int64_t) MEMBER(x, 32, int64_t)
    MEMBER(qy, 40, const double *) MEMBER(qx, 48, const double *) MEMBER(values, 56, const void *))
STRUCT(collet_scatter_comparison, >=, 56, MEMBER(struct_size, 0, uint32_t) MEMBER(reserved, 4, uint32_t)
    MEMBER(energy, 8, double) MEMBER(y, 16, int64_t) MEMBER(x, 24, int64_t) MEMBER(low, 32, double)
    MEMBER(high, 40, double) MEMBER(total, 48, double))
STRUCT(collet_scatter_derivatives, >=, 56, MEMBER(struct_size, 0, uint32_t) MEMBER(reserved, 4, uint32_t)
    MEMBER(volume, 8, void *) MEMBER(alignment, 16, void *) MEMBER(theta, 24, void *) MEMBER(psi, 32, void *)
    MEMBER(direction, 40, void *) MEMBER(unaligned, 48, void *))
STRUCT(collet_scatter_gradients, >=, 24, MEMBER(struct_size, 0, uint32_t) MEMBER(reserved, 4, uint32_t)
    MEMBER(constants, 8, collet_scatter_constants *) MEMBER(materials, 16, const collet_scatter_derivatives *))
STRUCT(collet_scatter_rings, >=, 88, MEMBER(struct_size, 0, uint32_t) MEMBER(flat, 4, uint32_t) MEMBER(y, 8, int64_t)
    MEMBER(x, 16, int64_t) MEMBER(voxel, 24, double) MEMBER(direction, 32, double [3]) MEMBER(wedge, 56, double)
    MEMBER(detector, 64, double [3]))
STRUCT(collet_scatter_integrals, >=, 48, MEMBER(struct_size, 0, uint32_t) MEMBER(wide, 4, uint32_t)
    MEMBER(polar, 8, void *) MEMBER(mean, 16, void *) MEMBER(parallel, 24, void *) MEMBER(perpendicular, 32, void *)
    MEMBER(anisotropy, 40, void *))
STRUCT(collet_scatter_finding, >=, 112, MEMBER(struct_size, 0, uint32_t) MEMBER(warning, 4, uint32_t)
    MEMBER(text, 8, const char *) MEMBER(dataset, 16, const char *) MEMBER(material, 24, int64_t)
    MEMBER(voxels, 32, int64_t) MEMBER(first, 40, int64_t [3][3]))
STRUCT(collet_scatter_slice, >=, 40, MEMBER(struct_size, 0, uint32_t) MEMBER(reserved, 4, uint32_t)
    MEMBER(rows, 8, int64_t) MEMBER(columns, 16, int64_t) MEMBER(voxel, 24, double) MEMBER(values, 32, float *))
STRUCT(collet_ternary_monitor, >=, 32, MEMBER(struct_size, 0, uint32_t) MEMBER(reserved, 4, uint32_t)
    MEMBER(progress, 8, collet_progress_fn) MEMBER(user, 16, void *)
    MEMBER(warn, 24, void (*)(void *user, const char *text)))
STRUCT(collet_ternary_layer, >=, 32, MEMBER(struct_size, 0, uint32_t) MEMBER(activations, 4, uint32_t)
    MEMBER(relu, 8, uint32_t) MEMBER(threshold, 12, float) MEMBER(weights, 16, const collet_ternary_weights *)
    MEMBER(bias, 24, const collet_array *))
STRUCT(collet_ternary_file_info, >=, 48, MEMBER(struct_size, 0, uint32_t) MEMBER(kind, 4, uint32_t)
    MEMBER(version, 8, uint32_t) MEMBER(reserved, 12, uint32_t) MEMBER(count, 16, int64_t) MEMBER(bytes, 24, uint64_t)
    MEMBER(path, 32, const char *) MEMBER(part, 40, uint32_t) MEMBER(parts, 44, uint32_t))
STRUCT(collet_ternary_matrix, >=, 424, MEMBER(struct_size, 0, uint32_t) MEMBER(content, 4, uint32_t)
    MEMBER(format, 8, uint32_t) MEMBER(dtype, 12, collet_dtype) MEMBER(ndim, 16, int32_t)
    MEMBER(in_network, 20, uint32_t) MEMBER(shape, 24, int64_t [8]) MEMBER(rows, 88, int64_t)
    MEMBER(columns, 96, int64_t) MEMBER(row_bytes, 104, uint64_t) MEMBER(activations, 112, uint32_t)
    MEMBER(relu, 116, uint32_t) MEMBER(threshold, 120, float) MEMBER(has_scale, 124, uint32_t)
    MEMBER(has_bias, 128, uint32_t) MEMBER(type, 132, char [24]) MEMBER(name, 156, char [256])
    MEMBER(fault, 416, const char *))
STRUCT(collet_ternary_counts, >=, 40, MEMBER(struct_size, 0, uint32_t) MEMBER(reserved, 4, uint32_t)
    MEMBER(minus, 8, int64_t) MEMBER(zero, 16, int64_t) MEMBER(plus, 24, int64_t) MEMBER(invalid, 32, int64_t))
STRUCT(collet_ternary_source, >=, 48, MEMBER(struct_size, 0, uint32_t) MEMBER(activations, 4, uint32_t)
    MEMBER(relu, 8, uint32_t) MEMBER(threshold, 12, float) MEMBER(weights, 16, const char *)
    MEMBER(scale, 24, const char *) MEMBER(bias, 32, const char *)
    MEMBER(quantize, 40, const collet_ternary_quantize_params *))
STRUCT(collet_ternary_run_files, >=, 48, MEMBER(struct_size, 0, uint32_t) MEMBER(reserved, 4, uint32_t)
    MEMBER(x, 8, const char *) MEMBER(y, 16, const char *) MEMBER(labels, 24, const char *)
    MEMBER(model, 32, const char *) MEMBER(devices, 40, const collet_devices *))
STRUCT(collet_ternary_run_result, >=, 32, MEMBER(struct_size, 0, uint32_t) MEMBER(reserved, 4, uint32_t)
    MEMBER(vectors, 8, int64_t) MEMBER(correct, 16, int64_t) MEMBER(seconds, 24, double))
STRUCT(collet_ternary_run_plan, >=, 32, MEMBER(struct_size, 0, uint32_t) MEMBER(reserved, 4, uint32_t)
    MEMBER(vectors, 8, int64_t) MEMBER(at_a_time, 16, int64_t) MEMBER(bytes, 24, uint64_t))
STRUCT(collet_trajectory_frame, >=, 48, MEMBER(struct_size, 0, uint32_t) MEMBER(reserved, 4, uint32_t)
    MEMBER(time, 8, double) MEMBER(positions, 16, const void *) MEMBER(velocities, 24, const void *)
    MEMBER(forces, 32, const void *) MEMBER(box, 40, const double *))
STRUCT(collet_trajectory_source, >=, 144, MEMBER(struct_size, 0, uint32_t) MEMBER(dtype, 4, collet_dtype)
    MEMBER(name, 8, const char *) MEMBER(n_atoms, 16, int64_t) MEMBER(n_frames, 24, int64_t)
    MEMBER(names, 32, const char * const *) MEMBER(residue_names, 40, const char * const *)
    MEMBER(residue_ids, 48, const int32_t *) MEMBER(residue_numbers, 56, const int64_t *)
    MEMBER(segments, 64, const char * const *) MEMBER(chains, 72, const char * const *)
    MEMBER(charges, 80, const double *) MEMBER(bonds, 88, const int64_t *) MEMBER(n_bonds, 96, int64_t)
    MEMBER(has_velocities, 104, int32_t) MEMBER(has_forces, 108, int32_t) MEMBER(has_times, 112, int32_t)
    MEMBER(reserved, 116, uint32_t)
    MEMBER(read, 120, collet_status (*)(void *user, collet_trajectory_frame *frame, int64_t index, collet_error *err))
    MEMBER(choose, 128, collet_status (*)(void *user, uint8_t *chosen, int64_t index, collet_error *err))
    MEMBER(user, 136, void *))
STRUCT(collet_trajectory_options, >=, 312, MEMBER(struct_size, 0, uint32_t) MEMBER(missing, 4, uint32_t)
    MEMBER(topology, 8, const char *) MEMBER(trajectory, 16, const char *)
    MEMBER(continuations, 24, const char * const *) MEMBER(selection, 32, const char *) MEMBER(ndx, 40, const char *)
    MEMBER(each, 48, const char *) MEMBER(masses, 56, const char *) MEMBER(mass_values, 64, const double *)
    MEMBER(n_mass_values, 72, int64_t) MEMBER(reference, 80, const char *) MEMBER(keys, 88, const char *)
    MEMBER(axis, 96, double [3]) MEMBER(start, 120, int64_t) MEMBER(stop, 128, int64_t) MEMBER(step, 136, int64_t)
    MEMBER(pbc, 144, uint32_t) MEMBER(drift, 148, uint32_t) MEMBER(drift_of, 152, const char *)
    MEMBER(strict, 160, uint32_t) MEMBER(reserved, 164, uint32_t) MEMBER(context, 168, collet_context *)
    MEMBER(backend, 176, const char *) MEMBER(threads, 184, int64_t) MEMBER(log, 192, collet_log_fn)
    MEMBER(log_user, 200, void *) MEMBER(batch_frames, 208, int64_t) MEMBER(batch_rows, 216, int64_t)
    MEMBER(progress, 224, collet_progress_fn) MEMBER(progress_user, 232, void *) MEMBER(program, 240, const char *)
    MEMBER(command, 248, const char * const *) MEMBER(source, 256, const collet_trajectory_source *)
    MEMBER(shard, 264, int64_t) MEMBER(n_shards, 272, int64_t) MEMBER(shards, 280, const char *)
    MEMBER(parts, 288, const char * const *) MEMBER(n_parts, 296, int64_t) MEMBER(devices, 304, const collet_devices *))
STRUCT(collet_trajectory_format, >=, 32, MEMBER(struct_size, 0, uint32_t) MEMBER(has_topology, 4, int32_t)
    MEMBER(has_frames, 8, int32_t) MEMBER(reserved, 12, uint32_t) MEMBER(name, 16, const char *)
    MEMBER(title, 24, const char *))
STRUCT(collet_trajectory_info, >=, 192, MEMBER(struct_size, 0, uint32_t) MEMBER(truncated, 4, int32_t)
    MEMBER(format, 8, const char *) MEMBER(has_velocities, 16, int32_t) MEMBER(has_forces, 20, int32_t)
    MEMBER(has_times, 24, int32_t) MEMBER(masses_guessed, 28, int32_t) MEMBER(elements, 32, const char *)
    MEMBER(periodic, 40, const char *) MEMBER(drift, 48, const char *) MEMBER(atoms_total, 56, int64_t)
    MEMBER(atoms, 64, int64_t) MEMBER(least_atoms, 72, int64_t) MEMBER(most_atoms, 80, int64_t)
    MEMBER(bodies, 88, int64_t) MEMBER(mass, 96, double) MEMBER(bytes_total, 104, uint64_t) MEMBER(frames, 112, int64_t)
    MEMBER(first_frame, 120, int64_t) MEMBER(last_frame, 128, int64_t) MEMBER(first_time, 136, double)
    MEMBER(last_time, 144, double) MEMBER(bytes, 152, uint64_t) MEMBER(seconds, 160, double)
    MEMBER(output, 168, const char *) MEMBER(rows, 176, int64_t) MEMBER(kept, 184, int32_t)
    MEMBER(reserved, 188, uint32_t))
STRUCT(collet_trajectory_file, >=, 48, MEMBER(struct_size, 0, uint32_t) MEMBER(was_cut, 4, int32_t)
    MEMBER(path, 8, const char *) MEMBER(format, 16, const char *) MEMBER(bytes, 24, uint64_t)
    MEMBER(first_frame, 32, int64_t) MEMBER(frames, 40, int64_t))
STRUCT(collet_trajectory_quantity, >=, 88, MEMBER(struct_size, 0, uint32_t) MEMBER(dtype, 4, collet_dtype)
    MEMBER(key, 8, const char *) MEMBER(unit, 16, const char *) MEMBER(meaning, 24, const char *)
    MEMBER(ndim, 32, int32_t) MEMBER(reserved, 36, uint32_t) MEMBER(width, 40, int64_t) MEMBER(shape, 48, int64_t [3])
    MEMBER(components, 72, const char * const *) MEMBER(left_out, 80, const char *))
STRUCT(collet_trajectory_plan, >=, 40, MEMBER(struct_size, 0, uint32_t) MEMBER(reserved, 4, uint32_t)
    MEMBER(batch_frames, 8, int64_t) MEMBER(batches, 16, int64_t) MEMBER(host_bytes, 24, uint64_t)
    MEMBER(bytes, 32, uint64_t))
STRUCT(collet_trajectory_batch, >=, 32, MEMBER(struct_size, 0, uint32_t) MEMBER(reserved, 4, uint32_t)
    MEMBER(first_row, 8, int64_t) MEMBER(n_rows, 16, int64_t) MEMBER(columns, 24, const double * const *))
STRUCT(collet_trajectory_places, >=, 136, MEMBER(struct_size, 0, uint32_t) MEMBER(what, 4, uint32_t)
    MEMBER(dtype, 8, collet_dtype) MEMBER(reserved, 12, uint32_t) MEMBER(positions, 16, void *)
    MEMBER(n_frames, 24, int64_t) MEMBER(n_atoms, 32, int64_t) MEMBER(boxes, 40, const double *)
    MEMBER(n_boxes, 48, int64_t) MEMBER(bonds, 56, const int64_t *) MEMBER(n_bonds, 64, int64_t)
    MEMBER(offsets, 72, const int64_t *) MEMBER(n_molecules, 80, int64_t) MEMBER(masses, 88, const double *)
    MEMBER(left, 96, int64_t) MEMBER(left_atom, 104, int64_t) MEMBER(far, 112, int64_t) MEMBER(far_frame, 120, int64_t)
    MEMBER(far_atom, 128, int64_t))
TYPE(collet_status, int32_t)
TYPE(collet_dtype, int32_t)
TYPE(collet_log_fn, void (*)(void *user, int32_t level, const char *text))
TYPE(collet_progress_fn, int32_t (*)(void *user, const collet_progress *progress))
TYPE(collet_scatter_layers_fn, collet_status (*)(void *user, void * const *arrays, int64_t material, int64_t first, int64_t count, collet_error *err))
TYPE(collet_scatter_finding_fn, void (*)(void *user, const collet_scatter_finding *finding))
TYPE(collet_trajectory_batch_fn, collet_status (*)(void *user, const collet_trajectory_batch *batch, collet_error *err))

/* Each function must have this type, and the libraries must export it. */
const collet_step *(*functions_0[])(const collet_program *program, uint32_t k) = {collet_program_step};
const collet_scalar *(*functions_1[])(const collet_program *program, const collet_scalar *constants, uint32_t i) = {collet_program_constant};
collet_dtype (*functions_2[])(const collet_program *program, uint32_t value) = {collet_program_dtype};
const char *(*functions_3[])(collet_status status) = {
    collet_status_name, collet_status_text};
collet_status (*functions_4[])(collet_error *err, collet_status status, const char *format, ...) = {collet_fail};
collet_status (*functions_5[])(collet_error *err, collet_status status, const char *text) = {collet_fail_text};
const char *(*functions_6[])(collet_dtype dtype) = {collet_dtype_name};
size_t (*functions_7[])(collet_dtype dtype) = {collet_dtype_size};
collet_dtype (*functions_8[])(collet_dtype a, collet_dtype b) = {collet_dtype_promote};
const char *(*functions_9[])(void) = {collet_version};
int32_t (*functions_10[])(void) = {
    collet_version_number, collet_thread_limit};
collet_status (*functions_11[])(collet_runtime **out, const collet_runtime_options *options, collet_error *err) = {collet_runtime_create};
void (*functions_12[])(collet_runtime *runtime) = {collet_runtime_destroy};
collet_status (*functions_13[])(int64_t nanoseconds, collet_error *err) = {collet_process_end};
collet_status (*functions_14[])(int32_t threads, collet_error *err) = {collet_set_thread_limit};
size_t (*functions_15[])(const collet_runtime *runtime) = {
    collet_backend_count, collet_record_count, collet_setting_count, collet_ops_count};
collet_status (*functions_16[])(const collet_runtime *runtime, collet_backend_info *info, size_t index, collet_error *err) = {collet_backend_info_at};
collet_status (*functions_17[])(const collet_runtime *runtime, char *path, size_t capacity, const char *backend, const char *text, collet_error *err) = {collet_calibration_write};
collet_status (*functions_18[])(const collet_runtime *runtime, collet_device_info *info, size_t index, size_t device, collet_error *err) = {collet_device_info_at};
collet_status (*functions_19[])(const collet_runtime *runtime, collet_plugin_record *record, size_t index, collet_error *err) = {collet_record_at};
collet_status (*functions_20[])(const collet_runtime *runtime, collet_setting *setting, size_t index, collet_error *err) = {collet_setting_at};
collet_status (*functions_21[])(collet_runtime *runtime, collet_context **out, collet_error *err) = {collet_context_create};
void (*functions_22[])(collet_context *context) = {collet_context_destroy};
collet_runtime *(*functions_23[])(const collet_context *context) = {collet_context_runtime};
const char *(*functions_24[])(const collet_context *context) = {
    collet_last_error, collet_get_backend, collet_last_backend};
collet_status (*functions_25[])(const collet_context *context) = {collet_last_status};
collet_status (*functions_26[])(collet_context *context, const char *choice) = {collet_set_backend};
void (*functions_27[])(collet_context *context, int32_t allowed) = {collet_set_fallback};
int32_t (*functions_28[])(const collet_context *context) = {collet_get_fallback};
collet_status (*functions_29[])(collet_context *context) = {
    collet_finish, collet_trim};
collet_status (*functions_30[])(collet_context *context, collet_counters *counters) = {collet_context_counters};
collet_status (*functions_31[])(collet_context *context, collet_memory_stats *stats, const char *space) = {collet_memory};
collet_status (*functions_32[])(collet_memory_limit *limit, collet_error *err) = {collet_memory_limit_read};
collet_status (*functions_33[])(collet_context *context, const char *space) = {collet_memory_reset_peak};
collet_status (*functions_34[])(collet_context *context, collet_timestamp **out, const char *device) = {collet_timestamp_take};
collet_status (*functions_35[])(collet_context *context, const collet_timestamp *first, const collet_timestamp *last, int64_t *nanoseconds, int32_t *clock) = {collet_timestamp_elapsed};
void (*functions_36[])(collet_timestamp *timestamp) = {collet_timestamp_destroy};
collet_status (*functions_37[])(collet_context *context, collet_array **out, collet_dtype dtype, int32_t ndim, const int64_t *shape) = {collet_array_create};
collet_status (*functions_38[])(collet_context *context, collet_array **out, collet_dtype dtype, int32_t ndim, const int64_t *shape, const void *data) = {collet_array_from};
collet_status (*functions_39[])(collet_context *context, collet_array **out, collet_dtype dtype, int32_t ndim, const int64_t *shape, const int64_t *strides, void *data, uint32_t flags, void (*deleter)(void *user), void *user) = {collet_array_wrap};
collet_status (*functions_40[])(collet_context *context, collet_array **out, collet_dtype dtype, int32_t ndim, const int64_t *shape, double value) = {collet_array_full};
void (*functions_41[])(collet_array *array) = {collet_array_destroy};
int32_t (*functions_42[])(const collet_array *array) = {
    collet_array_is_shared, collet_array_is_on_host, collet_array_ndim};
void *(*functions_43[])(collet_array *array, int32_t access) = {collet_array_host_address};
collet_dtype (*functions_44[])(const collet_array *array) = {collet_array_dtype};
const int64_t *(*functions_45[])(const collet_array *array) = {
    collet_array_shape, collet_array_strides};
int64_t (*functions_46[])(const collet_array *array) = {collet_array_size};
collet_runtime *(*functions_47[])(const collet_array *array) = {collet_array_runtime};
collet_status (*functions_48[])(collet_context *context, const collet_array *array, collet_array **out, int32_t axis, int64_t start, int64_t count, int64_t step) = {collet_array_slice};
collet_status (*functions_49[])(collet_context *context, const collet_array *array, collet_array **out, int32_t axis, int64_t index) = {collet_array_select};
collet_status (*functions_50[])(collet_context *context, const collet_array *array, collet_array **out, const int32_t *perm) = {collet_array_permute};
collet_status (*functions_51[])(collet_context *context, const collet_array *array, collet_array **out) = {
    collet_array_diagonal, collet_array_real, collet_array_imag};
collet_status (*functions_52[])(collet_context *context, const collet_array *array, collet_array **out, int32_t axis, int64_t length) = {collet_array_windows};
collet_status (*functions_53[])(collet_context *context, const collet_array *array, collet_array **out, int32_t ndim, const int64_t *shape) = {
    collet_array_reshape, collet_array_broadcast};
collet_status (*functions_54[])(collet_context *context, const collet_array *array, collet_array **out, collet_dtype dtype) = {collet_array_low};
collet_status (*functions_55[])(collet_context *context, const collet_array *array, void *target, size_t bytes) = {collet_array_read};
collet_status (*functions_56[])(collet_context *context, collet_array *array, const void *source, size_t bytes) = {collet_array_write};
collet_status (*functions_57[])(collet_context *context, const collet_array *array, collet_scalar *value, const int64_t *index) = {collet_array_read_element};
collet_status (*functions_58[])(collet_context *context, collet_array *array, const int64_t *index, const collet_scalar *value) = {collet_array_write_element};
collet_status (*functions_59[])(collet_context *context, const collet_array *array, char *text, size_t capacity) = {collet_array_text};
collet_status (*functions_60[])(collet_context *context, collet_array *array, void **address, int32_t access) = {collet_array_acquire};
collet_status (*functions_61[])(collet_context *context, collet_array *array) = {collet_array_release};
collet_status (*functions_62[])(collet_context *context, collet_array *array, const char *device) = {
    collet_array_prefetch, collet_array_release_on};
collet_status (*functions_63[])(collet_context *context, uint32_t op, collet_array * const *outs, const collet_array * const *ins, const void *params) = {collet_call};
collet_status (*functions_64[])(collet_context *context, uint32_t op, uint32_t *mask, const collet_array *a, const int32_t *axes, int32_t count) = {collet_ops_axes};
collet_status (*functions_65[])(collet_context *context, uint32_t op, char *text, size_t capacity, collet_array * const *outs, const collet_array * const *ins, const void *params) = {collet_explain};
collet_status (*functions_66[])(const collet_runtime *runtime, uint32_t *op, const char *name, collet_error *err) = {collet_ops_find};
collet_status (*functions_67[])(const collet_runtime *runtime, collet_ops_info *info, size_t index, collet_error *err) = {collet_ops_at};
collet_status (*functions_68[])(const collet_runtime *runtime, uint32_t op, collet_ops_info *info, collet_error *err) = {collet_ops_describe};
collet_status (*functions_69[])(const collet_runtime *runtime, uint32_t op, collet_dtype *dtypes, size_t index, collet_error *err) = {collet_ops_signature};
collet_status (*functions_70[])(const collet_runtime *runtime, uint32_t op, void *params, size_t bytes, int32_t ndim, collet_error *err) = {collet_ops_defaults};
collet_status (*functions_71[])(const collet_runtime *runtime, uint32_t op, collet_array_spec *outs, const collet_array_spec *ins, size_t spec_size, const void *params, collet_error *err) = {collet_ops_infer};
collet_status (*functions_72[])(const collet_runtime *runtime, const char *backend, uint32_t op, const collet_dtype *dtypes, uint32_t count, collet_error *err) = {collet_backend_has_kernel};
collet_status (*functions_73[])(collet_context *context, collet_native_device *native, const char *device) = {collet_native_describe};
collet_status (*functions_74[])(collet_context *context, void **queue, const char *device) = {collet_native_queue};
collet_status (*functions_75[])(collet_context *context, collet_array *array, void **handle, uint64_t *offset, const char *device, int32_t access) = {collet_array_acquire_on};
collet_status (*functions_76[])(collet_context *context, collet_array **out, const char *device, collet_dtype dtype, int32_t ndim, const int64_t *shape, const int64_t *strides, void *handle, uint64_t offset, uint32_t flags, void (*deleter)(void *user), void *user) = {collet_array_wrap_on};
collet_status (*functions_77[])(collet_context *context, collet_pinned **out, void **address, const char *device, size_t bytes) = {collet_pinned_create};
void (*functions_78[])(collet_pinned *pinned) = {collet_pinned_destroy};
collet_status (*functions_79[])(collet_context *context, collet_array *array, struct DLManagedTensorVersioned **tensor, const char *device, int32_t access) = {collet_array_to_dlpack};
collet_status (*functions_80[])(collet_context *context, collet_array **out, struct DLManagedTensorVersioned *tensor) = {collet_array_from_dlpack};
collet_status (*functions_81[])(collet_expression **out, collet_error *err) = {collet_expression_create};
void (*functions_82[])(collet_expression *expression) = {collet_expression_destroy};
collet_status (*functions_83[])(collet_expression **out, const char *text, collet_error *err) = {collet_expression_parse};
collet_status (*functions_84[])(collet_expression *expression, uint32_t *value, const char *name, collet_dtype dtype, collet_error *err) = {collet_expression_input};
collet_status (*functions_85[])(collet_expression *expression, uint32_t *value, const collet_scalar *constant, int32_t weak, collet_error *err) = {collet_expression_constant};
collet_status (*functions_86[])(collet_expression *expression, uint32_t *value, const collet_scalar *number, collet_error *err) = {collet_expression_literal};
collet_status (*functions_87[])(collet_expression *expression, uint32_t *value, uint32_t op, const uint32_t *operands, uint32_t count, collet_error *err) = {collet_expression_apply};
collet_status (*functions_88[])(collet_expression *expression, uint32_t *value, uint32_t operand, collet_dtype dtype, collet_error *err) = {collet_expression_convert};
collet_status (*functions_89[])(collet_expression *expression, uint32_t *value, uint32_t op, uint32_t operand, double correction, collet_error *err) = {collet_expression_reduce_rows};
collet_status (*functions_90[])(collet_expression *expression, uint32_t value, collet_error *err) = {collet_expression_output};
collet_status (*functions_91[])(collet_expression *expression, uint32_t op, const int32_t *axes, int32_t count, int32_t keepdims, double correction, collet_error *err) = {collet_expression_reduce};
collet_status (*functions_92[])(collet_expression *expression, uint32_t value, const collet_scalar *constant, collet_error *err) = {collet_expression_set_constant};
collet_status (*functions_93[])(const collet_expression *expression, collet_expression **out, uint32_t output, uint32_t input, collet_error *err) = {collet_expression_gradient};
uint32_t (*functions_94[])(const collet_expression *expression) = {
    collet_expression_input_count, collet_expression_output_count};
const char *(*functions_95[])(const collet_expression *expression, uint32_t input) = {collet_expression_input_name};
collet_status (*functions_96[])(const collet_expression *expression, uint32_t *input, const char *name, collet_error *err) = {collet_expression_find};
collet_status (*functions_97[])(collet_expression *expression, collet_array_spec *outs, size_t spec_size, const collet_argument *arguments, uint32_t count, collet_error *err) = {collet_expression_infer};
collet_status (*functions_98[])(collet_context *context, collet_expression *expression, collet_array **outs, const collet_argument *arguments, uint32_t count) = {collet_expression_evaluate};
collet_status (*functions_99[])(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b) = {
    collet_op_add, collet_op_sub, collet_op_mul, collet_op_div, collet_op_floor_divide, collet_op_remainder,
    collet_op_pow, collet_op_copysign, collet_op_nextafter, collet_op_equal, collet_op_not_equal, collet_op_less,
    collet_op_less_equal, collet_op_greater, collet_op_greater_equal, collet_op_logical_and, collet_op_logical_or,
    collet_op_logical_xor, collet_op_bitwise_and, collet_op_bitwise_or, collet_op_bitwise_xor,
    collet_op_bitwise_left_shift, collet_op_bitwise_right_shift, collet_op_minimum, collet_op_maximum,
    collet_op_complex, collet_op_logaddexp, collet_op_atan2, collet_op_hypot, collet_op_dot, collet_op_ternary_dot};
collet_status (*functions_100[])(collet_context *context, collet_array *out, const collet_array *a) = {
    collet_op_exp, collet_op_log, collet_op_sqrt, collet_op_neg, collet_op_abs, collet_op_conj, collet_op_sin,
    collet_op_cos, collet_op_tanh, collet_op_square, collet_op_reciprocal, collet_op_sign, collet_op_signbit,
    collet_op_logical_not, collet_op_bitwise_invert, collet_op_isfinite, collet_op_isinf, collet_op_isnan,
    collet_op_floor, collet_op_ceil, collet_op_trunc, collet_op_round, collet_op_real, collet_op_imag, collet_op_exp2,
    collet_op_expm1, collet_op_log1p, collet_op_log2, collet_op_log10, collet_op_tan, collet_op_asin, collet_op_acos,
    collet_op_atan, collet_op_sinh, collet_op_cosh, collet_op_asinh, collet_op_acosh, collet_op_atanh, collet_op_cbrt,
    collet_op_erf, collet_op_erfc, collet_op_expit, collet_op_lgamma, collet_op_sinc, collet_op_copy,
    collet_op_cumulative_sum, collet_op_cumulative_prod, collet_op_magnitude};
collet_status (*functions_101[])(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b, const collet_array *c) = {
    collet_op_fma, collet_op_where, collet_op_clip};
collet_status (*functions_102[])(collet_context *context, collet_array *out, const collet_scalar *value) = {collet_op_fill};
collet_status (*functions_103[])(collet_context *context, collet_array *out, const collet_scalar *alpha, const collet_array *x, const collet_array *y) = {collet_op_axpy};
collet_status (*functions_104[])(collet_context *context, collet_array *out, const collet_array *a, const int32_t *perm) = {collet_op_transpose};
collet_status (*functions_105[])(collet_context *context, collet_array *out, const collet_array *a, const int32_t *axes, int32_t count, int32_t keepdims) = {
    collet_op_sum, collet_op_mean, collet_op_min, collet_op_max, collet_op_argmax, collet_op_argmin, collet_op_prod,
    collet_op_any, collet_op_all, collet_op_count_nonzero};
collet_status (*functions_106[])(collet_context *context, collet_array *out, const collet_array *a, const int32_t *axes, int32_t count, int32_t keepdims, double correction) = {
    collet_op_var, collet_op_std};
collet_status (*functions_107[])(collet_context *context, collet_array *out, const collet_array *a, uint32_t last_axes, int32_t inverse) = {collet_op_fft};
collet_status (*functions_108[])(collet_context *context, collet_array *out, const collet_array *a, const int32_t *axes, int32_t count, int32_t inverse) = {collet_op_fftshift};
collet_status (*functions_109[])(collet_context *context, collet_array *out, collet_array *info, const collet_array *a, const collet_array *index) = {
    collet_op_take, collet_op_take_along_axis};
collet_status (*functions_110[])(collet_context *context, collet_array *out, collet_array *info, const collet_array *a, const collet_array *index, const collet_array *values) = {
    collet_op_put, collet_op_scatter_add};
collet_status (*functions_111[])(collet_context *context, collet_array *out, collet_array *count, const collet_array *a, const collet_array *mask) = {collet_op_compress};
collet_status (*functions_112[])(collet_context *context, collet_array *out, collet_array *count, const collet_array *a, const collet_array *mask, const collet_array *values) = {collet_op_place};
collet_status (*functions_113[])(collet_context *context, collet_array *out, collet_array *count, const collet_array *a) = {collet_op_nonzero};
collet_status (*functions_114[])(collet_context *context, collet_array *out, const collet_array *a, const collet_array *weights, const collet_histogram_params *params) = {collet_op_histogram};
collet_status (*functions_115[])(collet_context *context, collet_array *out, const collet_array *a, int32_t axis, int32_t descending) = {
    collet_op_sort, collet_op_argsort};
collet_status (*functions_116[])(collet_context *context, collet_array *out, const collet_array *a, int64_t kth, int32_t axis) = {collet_op_partition};
collet_status (*functions_117[])(collet_context *context, collet_array *out, const collet_array *a, const collet_array *v, int32_t right) = {collet_op_searchsorted};
collet_status (*functions_118[])(collet_context *context, collet_array *c, const collet_array *a, const collet_array *b) = {collet_op_matmul};
collet_status (*functions_119[])(collet_context *context, collet_array *y, const collet_array *a, const collet_array *x) = {collet_op_matvec};
collet_status (*functions_120[])(collet_context *context, collet_array *perm, collet_array *lower, collet_array *upper, collet_array *info, const collet_array *a) = {collet_op_lu};
collet_status (*functions_121[])(collet_context *context, collet_array *q, collet_array *r, const collet_array *a) = {collet_op_qr};
collet_status (*functions_122[])(collet_context *context, collet_array *u, collet_array *s, collet_array *vt, collet_array *info, const collet_array *a) = {collet_op_svd};
collet_status (*functions_123[])(collet_context *context, collet_array *values, collet_array *vectors, collet_array *info, const collet_array *a) = {
    collet_op_eigh, collet_op_eig};
collet_status (*functions_124[])(collet_context *context, collet_array *lower, collet_array *info, const collet_array *a) = {collet_op_cholesky};
collet_status (*functions_125[])(collet_context *context, collet_array *x, collet_array *info, const collet_array *a, const collet_array *b) = {collet_op_solve};
collet_status (*functions_126[])(collet_context *context, collet_array *com, const collet_array *positions, const collet_array *masses) = {collet_op_com};
collet_status (*functions_127[])(collet_context *context, collet_array *inertia, const collet_array *positions, const collet_array *masses, const collet_array *com) = {collet_op_inertia};
collet_status (*functions_128[])(collet_context *context, collet_array *out, const collet_array *positions, const collet_array *weights, const collet_array *com, const collet_array *vectors) = {collet_op_cross_sum};
collet_status (*functions_129[])(collet_context *context, collet_array *moments, collet_array *axes, const collet_array *inertia, const collet_array *previous) = {collet_op_principal_axes};
collet_status (*functions_130[])(collet_context *context, collet_array *angles, const collet_array *axes) = {collet_op_euler_zyz};
collet_status (*functions_131[])(collet_context *context, collet_array *tilt, const collet_array *axes, const collet_array *axis) = {collet_op_tilt};
collet_status (*functions_132[])(collet_context *context, collet_array *omega, collet_array *info, const collet_array *inertia, const collet_array *L) = {collet_op_angular_velocity};
collet_status (*functions_133[])(collet_context *context, collet_array *parallel, collet_array *perpendicular, const collet_array *vectors, const collet_array *axes) = {collet_op_decompose};
collet_status (*functions_134[])(collet_context *context, collet_array *derivative, collet_array *info, const collet_array *x, const collet_array *t) = {collet_op_time_derivative};
collet_status (*functions_135[])(collet_context *context, collet_array *energies, const collet_array *positions, const collet_array *masses, const collet_array *velocities) = {collet_op_kinetic};
collet_status (*functions_136[])(collet_context *context, collet_array *radius, collet_array *tensor, collet_array *asphericity, const collet_array *positions, const collet_array *masses, const collet_array *offsets) = {collet_op_gyration};
collet_status (*functions_137[])(collet_context *context, collet_array *rmsd, collet_array *rotation, const collet_array *positions, const collet_array *weights, const collet_array *reference, const collet_array *offsets) = {collet_op_rmsd};
collet_status (*functions_138[])(collet_context *context, collet_array *com, collet_array *inertia, collet_array *L, collet_array *torque, collet_array *kinetic, const collet_array *positions, const collet_array *masses, const collet_array *velocities, const collet_array *forces, const collet_array *offsets) = {collet_op_observables};
collet_status (*functions_139[])(collet_context *context, collet_array *out, uint64_t seed, uint64_t offset) = {
    collet_op_uniform, collet_op_normal, collet_op_exponential};
collet_status (*functions_140[])(collet_context *context, collet_array *out, const collet_array *low, const collet_array *span, uint64_t seed, uint64_t offset) = {collet_op_integers};
collet_status (*functions_141[])(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b, const collet_array *c, collet_variate_distribution distribution, uint64_t seed, uint64_t offset) = {collet_op_variate};
collet_status (*functions_142[])(collet_context *context, collet_array *fields, const collet_array *volume, const collet_array *alignment, const collet_array *theta, const collet_array *psi) = {collet_op_scatter_euler};
collet_status (*functions_143[])(collet_context *context, collet_array *fields, const collet_array *direction, const collet_array *unaligned) = {collet_op_scatter_vector};
collet_status (*functions_144[])(collet_context *context, collet_array *p, const collet_array *fields, const collet_array *constants, const collet_array *field, const collet_array *frame) = {collet_op_scatter_polarisation};
collet_status (*functions_145[])(collet_context *context, collet_array *slice, collet_array *fraction, const collet_array *k, const collet_array *qx, const collet_array *qy, const collet_array *qz, const collet_scatter_params *params) = {collet_op_scatter_ewald};
collet_status (*functions_146[])(collet_context *context, collet_array *image, const collet_array *spectrum, const collet_array *slice, const collet_array *fraction, const collet_array *k, const collet_array *qx, const collet_array *qy, const collet_array *qz, const collet_scatter_params *params) = {collet_op_scatter_projection};
collet_status (*functions_147[])(collet_context *context, collet_array *slices, const collet_array *planes, const collet_array *range, const collet_array *before, const collet_scatter_params *params) = {collet_op_scatter_slices};
collet_status (*functions_148[])(collet_context *context, collet_array *images, const collet_array *slices, const collet_array *range, const collet_array *weights, const collet_array *k, const collet_array *qx, const collet_array *qy, const collet_array *qz, const collet_array *angles, const collet_scatter_params *params) = {collet_op_scatter_images};
collet_status (*functions_149[])(collet_context *context, collet_array *out, const collet_array *images, const collet_array *angles, const collet_array *weights, const collet_scatter_average_params *params) = {collet_op_scatter_average};
collet_status (*functions_150[])(collet_context *context, collet_array *amplitudes, const collet_array *planes, const collet_array *nodes, const collet_array *interval, const collet_array *before, const collet_scatter_params *params) = {collet_op_scatter_amplitudes};
collet_status (*functions_151[])(collet_context *context, collet_array *images, const collet_array *amplitudes, const collet_array *nodes, const collet_array *interval, const collet_array *weights, const collet_array *k, const collet_array *qx, const collet_array *qy, const collet_array *angles, const collet_scatter_params *params) = {collet_op_scatter_intensities};
collet_status (*functions_152[])(collet_context *context, collet_array *codes, collet_array *scale, collet_array *info, const collet_array *weights, const collet_ternary_quantize_params *params) = {collet_op_ternary_quantize};
collet_status (*functions_153[])(collet_context *context, collet_array *y, const collet_array *weights, const collet_array *x) = {collet_op_ternary_matmul};
collet_status (*functions_154[])(collet_context *context, collet_array *y, const collet_array *weights, const collet_array *x, const collet_array *scale, const collet_array *bias, const collet_ternary_linear_params *params) = {collet_op_ternary_linear};
int64_t (*functions_155[])(uint32_t format, int64_t weights) = {collet_ternary_bytes};
collet_status (*functions_156[])(collet_context *context, collet_array *bytes, collet_array *info, const collet_array *codes, const collet_array *scale, uint32_t format) = {collet_op_ternary_pack};
collet_status (*functions_157[])(collet_context *context, collet_array *codes, collet_array *scale, collet_array *info, const collet_array *bytes, uint32_t format) = {collet_op_ternary_unpack};
collet_status (*functions_158[])(collet_context *context, collet_recording **out) = {collet_recording_create};
void (*functions_159[])(collet_recording *recording) = {collet_recording_destroy};
collet_status (*functions_160[])(collet_context *context, collet_recording *recording, uint32_t *value, collet_dtype dtype, int32_t ndim, const int64_t *shape) = {collet_recording_input};
collet_status (*functions_161[])(collet_context *context, collet_recording *recording, uint32_t *value, const collet_array *array) = {collet_recording_constant};
collet_status (*functions_162[])(collet_context *context, collet_recording *recording, uint32_t *values, uint32_t op, const uint32_t *ins, const collet_array_spec *specs, const void *params) = {collet_recording_call};
collet_status (*functions_163[])(collet_context *context, collet_recording *recording, uint32_t *values, collet_expression *expression, const uint32_t *ins) = {collet_recording_evaluate};
collet_status (*functions_164[])(collet_context *context, collet_recording *recording, uint32_t *value, uint32_t from, uint32_t view, const int64_t *numbers, int32_t count) = {collet_recording_view};
collet_status (*functions_165[])(collet_context *context, collet_recording *recording, const uint32_t *values, uint32_t count) = {collet_recording_complete};
collet_status (*functions_166[])(collet_context *context, collet_recording *recording, collet_array **results, const collet_array * const *ins) = {collet_recording_run};
collet_status (*functions_167[])(collet_context *context, double *whole, double *parts, const collet_array *x, int64_t blocks, int32_t subtract_mean, collet_error *err) = {collet_analysis_autocorrelation};
collet_status (*functions_168[])(collet_context *context, double *whole, double *parts, const collet_array *x, int64_t blocks, collet_error *err) = {collet_analysis_displacement};
collet_status (*functions_169[])(collet_context *context, collet_analysis_rotation_curves *curves, const collet_array *axes, int64_t blocks, collet_error *err) = {collet_analysis_rotation};
collet_status (*functions_170[])(double *errors, const double *parts, int64_t blocks, int64_t lags, int32_t normalise, collet_error *err) = {collet_analysis_errors};
collet_status (*functions_171[])(collet_context *context, collet_scatter **out, const collet_scatter_options *options, collet_error *err) = {collet_scatter_create};
void (*functions_172[])(collet_scatter *scattering) = {collet_scatter_destroy};
void (*functions_173[])(const collet_scatter *scattering, collet_scatter_plan *plan) = {collet_scatter_get_plan};
collet_status (*functions_174[])(collet_scatter *scattering, const collet_scatter_pattern **out, collet_error *err) = {collet_scatter_next};
collet_status (*functions_175[])(collet_scatter *scattering, collet_array **out, collet_error *err) = {collet_scatter_next_array};
collet_status (*functions_176[])(const collet_scatter *scattering, collet_device_share *share, size_t index, collet_error *err) = {collet_scatter_share_at};
collet_status (*functions_177[])(collet_context *context, collet_scatter_comparison *comparison, const collet_scatter_options *options, collet_error *err) = {collet_scatter_compare};
collet_status (*functions_178[])(collet_scatter *scattering, const void *cotangents, const collet_scatter_gradients *out, collet_error *err) = {collet_scatter_differentiate};
collet_status (*functions_179[])(const collet_scatter_rings *rings, int64_t *count, double *q, collet_error *err) = {collet_scatter_rings_q};
collet_status (*functions_180[])(const collet_scatter_rings *rings, const collet_scatter_integrals *out, double energy, collet_dtype dtype, const void *values, collet_error *err) = {collet_scatter_integrate};
collet_status (*functions_181[])(const collet_scatter_rings *rings, const collet_scatter_integrals *cotangents, double energy, collet_dtype dtype, const void *values, void *out, collet_error *err) = {collet_scatter_integrate_adjoint};
collet_status (*functions_182[])(collet_scatter_input **out, const char *morphology, const char *configuration, collet_dtype dtype, collet_error *err) = {collet_scatter_read};
void (*functions_183[])(collet_scatter_input *input) = {collet_scatter_input_destroy};
const collet_scatter_options *(*functions_184[])(const collet_scatter_input *input) = {collet_scatter_input_options};
int64_t (*functions_185[])(const collet_scatter_input *input, const double (**beams)[3]) = {collet_scatter_input_beams};
const char *(*functions_186[])(const collet_scatter_input *input, size_t index) = {collet_scatter_input_warning_at};
collet_status (*functions_187[])(const char *path, const char *configuration, collet_scatter_finding_fn report, void *user, collet_error *err) = {collet_scatter_check};
collet_status (*functions_188[])(collet_scatter_slice *out, const char *morphology, int64_t material, uint32_t field, uint32_t axis, int64_t at, collet_error *err) = {collet_scatter_read_slice};
void (*functions_189[])(collet_scatter_slice *slice) = {collet_scatter_slice_destroy};
collet_status (*functions_190[])(const char *morphology, const char *path, int32_t replace, collet_error *err) = {collet_scatter_write_image};
void (*functions_191[])(char name[40], double energy) = {collet_scatter_file_name};
collet_status (*functions_192[])(const char *directory, double energy, int64_t n_beams, const double (*beams)[3], const collet_scatter_pattern *patterns, const char *settings, collet_error *err) = {collet_scatter_write};
uint64_t (*functions_193[])(int64_t n_beams, int64_t y, int64_t x, const char *settings) = {collet_scatter_file_bytes};
collet_status (*functions_194[])(const char *directory, double energy, const char *settings, collet_error *err) = {collet_scatter_written};
collet_status (*functions_195[])(float *values, const char *directory, double energy, int64_t beam, int64_t y, int64_t x, collet_error *err) = {collet_scatter_read_pattern};
collet_status (*functions_196[])(const char *path, const collet_scatter_rings *rings, int64_t n_beams, const double (*beams)[3], int64_t n_energies, const double *energies, const collet_scatter_integrals *integrals, const char *settings, collet_error *err) = {collet_scatter_write_integrals};
collet_status (*functions_197[])(const char *path, const char *settings, collet_error *err) = {collet_scatter_integrals_written};
const char *(*functions_198[])(const collet_scatter_input *input) = {collet_scatter_input_directory};
collet_status (*functions_199[])(collet_context *context, collet_array **scale, const collet_array *weights, const collet_ternary_monitor *monitor, collet_error *err) = {collet_ternary_recognise};
collet_status (*functions_200[])(collet_context *context, collet_ternary_weights **out, const collet_array *weights, const collet_ternary_quantize_params *params, const collet_ternary_monitor *monitor, collet_error *err) = {collet_ternary_weights_quantize};
collet_status (*functions_201[])(collet_context *context, collet_ternary_weights **out, const collet_array *codes, const collet_array *scale, collet_error *err) = {collet_ternary_weights_from_codes};
collet_status (*functions_202[])(collet_context *context, collet_ternary_weights **out, const collet_array *bytes, int64_t columns, const collet_array *scale, const collet_ternary_monitor *monitor, collet_error *err) = {collet_ternary_weights_from_bytes};
void (*functions_203[])(collet_ternary_weights *weights) = {collet_ternary_weights_destroy};
int64_t (*functions_204[])(const collet_ternary_weights *weights) = {
    collet_ternary_weights_rows, collet_ternary_weights_columns};
const collet_array *(*functions_205[])(const collet_ternary_weights *weights) = {
    collet_ternary_weights_bytes, collet_ternary_weights_scale};
collet_status (*functions_206[])(collet_context *context, collet_ternary_network **out, const collet_ternary_layer *layers, uint32_t count, collet_error *err) = {collet_ternary_network_create};
void (*functions_207[])(collet_ternary_network *network) = {collet_ternary_network_destroy};
int64_t (*functions_208[])(const collet_ternary_network *network) = {
    collet_ternary_network_inputs, collet_ternary_network_outputs};
collet_status (*functions_209[])(collet_context *context, collet_ternary_network *network, collet_array *y, const collet_array *x, collet_error *err) = {collet_ternary_network_run};
collet_status (*functions_210[])(collet_ternary_file **out, int64_t *index, const char *name, collet_error *err) = {collet_ternary_file_open};
void (*functions_211[])(collet_ternary_file *file) = {collet_ternary_file_destroy};
void (*functions_212[])(const collet_ternary_file *file, collet_ternary_file_info *info) = {collet_ternary_file_get_info};
collet_status (*functions_213[])(const collet_ternary_file *file, collet_ternary_matrix *matrix, size_t index, collet_error *err) = {collet_ternary_file_matrix_at};
collet_status (*functions_214[])(collet_context *context, const collet_ternary_file *file, collet_ternary_counts *counts, size_t index, const collet_ternary_monitor *monitor, collet_error *err) = {collet_ternary_file_count};
collet_status (*functions_215[])(collet_context *context, const collet_ternary_file *file, collet_ternary_weights **out, collet_array **bias, size_t index, const collet_ternary_quantize_params *quantize, const collet_ternary_monitor *monitor, collet_error *err) = {collet_ternary_file_load};
collet_status (*functions_216[])(collet_context *context, collet_ternary_network **out, const collet_ternary_file *file, uint32_t activations, float threshold, const collet_ternary_monitor *monitor, collet_error *err) = {collet_ternary_network_load};
collet_status (*functions_217[])(collet_ternary_output *output, int32_t replace, collet_error *err) = {collet_ternary_output_publish};
void (*functions_218[])(collet_ternary_output *output) = {collet_ternary_output_destroy};
uint64_t (*functions_219[])(const collet_ternary_output *output) = {collet_ternary_output_bytes};
int64_t (*functions_220[])(const collet_ternary_output *output) = {collet_ternary_output_weights};
collet_status (*functions_221[])(collet_context *context, collet_ternary_output **out, const char *path, const collet_ternary_source *layers, uint32_t count, uint32_t format, const collet_ternary_monitor *monitor, collet_error *err) = {collet_ternary_files_pack};
collet_status (*functions_222[])(collet_context *context, collet_ternary_output **out, const char *path, const collet_ternary_layer *layers, const char * const *names, uint32_t count, const collet_ternary_monitor *monitor, collet_error *err) = {collet_ternary_layers_write};
collet_status (*functions_223[])(collet_context *context, const collet_ternary_file *file, collet_ternary_output **out, const char *path, size_t index, uint32_t what, const collet_ternary_monitor *monitor, collet_error *err) = {collet_ternary_file_unpack};
collet_status (*functions_224[])(collet_context *context, collet_ternary_network *network, collet_ternary_output **out, collet_ternary_run_result *result, const collet_ternary_run_files *files, const collet_ternary_monitor *monitor, collet_error *err) = {collet_ternary_network_run_files};
collet_status (*functions_225[])(collet_context *context, collet_ternary_network *network, collet_ternary_run_plan *plan, const collet_ternary_run_files *files, collet_error *err) = {collet_ternary_network_plan_files};
collet_status (*functions_226[])(collet_context *context, collet_ternary_network *network, float *y, const float *x, int64_t vectors, const collet_devices *devices, const collet_ternary_monitor *monitor, collet_error *err) = {collet_ternary_network_run_vectors};
collet_status (*functions_227[])(const collet_ternary_network *network, collet_device_share *share, size_t index, collet_error *err) = {collet_ternary_network_share_at};
collet_status (*functions_228[])(const char *text, collet_error *err) = {collet_trajectory_check_selection};
collet_status (*functions_229[])(collet_trajectory_format *format, size_t index, collet_error *err) = {collet_trajectory_format_at};
collet_status (*functions_230[])(collet_trajectory **out, const collet_trajectory_options *options, collet_error *err) = {collet_trajectory_create};
void (*functions_231[])(collet_trajectory *trajectory) = {collet_trajectory_destroy};
const char *(*functions_232[])(const collet_trajectory *trajectory, size_t index) = {
    collet_trajectory_body_at, collet_trajectory_atom_at, collet_trajectory_warning_at};
void (*functions_233[])(const collet_trajectory *trajectory, collet_trajectory_info *info) = {collet_trajectory_get_info};
collet_status (*functions_234[])(const collet_trajectory *trajectory, collet_trajectory_file *file, size_t index, collet_error *err) = {collet_trajectory_file_at};
size_t (*functions_235[])(void) = {collet_trajectory_quantity_count};
collet_status (*functions_236[])(const collet_trajectory *trajectory, collet_trajectory_quantity *quantity, size_t index, collet_error *err) = {collet_trajectory_quantity_at};
collet_status (*functions_237[])(const collet_trajectory *trajectory, collet_device_share *share, size_t index, collet_error *err) = {collet_trajectory_share_at};
collet_status (*functions_238[])(collet_trajectory *trajectory, collet_trajectory_plan *plan, collet_error *err) = {collet_trajectory_plan_work};
collet_status (*functions_239[])(collet_trajectory *trajectory, const collet_trajectory_batch **out, collet_error *err) = {
    collet_trajectory_next, collet_trajectory_collect};
collet_status (*functions_240[])(collet_trajectory *trajectory, collet_trajectory_batch_fn take, void *user, collet_error *err) = {collet_trajectory_each};
collet_status (*functions_241[])(collet_trajectory *trajectory, const char *path, uint32_t flags, collet_error *err) = {collet_trajectory_write};
void (*functions_242[])(collet_trajectory *trajectory, collet_trajectory_batch_fn take, void *user) = {collet_trajectory_watch};
const char *(*functions_243[])(const collet_trajectory *trajectory) = {collet_trajectory_meta};
collet_status (*functions_244[])(const char *path, uint32_t flags, const collet_trajectory_options *options, collet_error *err) = {collet_trajectory_extract};
collet_status (*functions_245[])(double *times, size_t capacity, int64_t *n, const char * const *paths, collet_error *err) = {collet_trajectory_times};
collet_status (*functions_246[])(collet_trajectory_places *places, collet_error *err) = {collet_trajectory_place};

int main(void)
{
    return 0;
}
