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
#include <collet/runtime.h>
#include <collet/status.h>
#include <collet/types.h>
#include <collet/analysis.h>
#include <collet/scatter.h>
#include <collet/ternary.h>
#include <collet/trajectory.h>

#define MEMBER(type, name, offset, ...) \
    _Static_assert(offsetof(type, name) == (offset), #type "." #name ": offset"); \
    _Static_assert(__builtin_types_compatible_p(__typeof__(((type *)0)->name), __VA_ARGS__), #type "." #name ": type");
#define WHOLE(type, size) _Static_assert(sizeof(type) == (size), #type ": size");
/* struct_size tells how much of it a caller has: it may grow. */
#define GROWN(type, size) _Static_assert(sizeof(type) >= (size), #type ": size");
#define TYPE(name, ...) _Static_assert(__builtin_types_compatible_p(name, __VA_ARGS__), #name);
#define VALUE(name, value) _Static_assert((name) == (value), #name);

VALUE(COLLET_ABSENT, -2)
VALUE(COLLET_BACKEND_UNAVAILABLE, 1)
VALUE(COLLET_BACKEND_UNPROVEN, 2)
VALUE(COLLET_BACKEND_USABLE, 0)
VALUE(COLLET_BF16, 2)
VALUE(COLLET_BOOL, 15)
VALUE(COLLET_BUSY, 16)
VALUE(COLLET_C128, 6)
VALUE(COLLET_C64, 5)
VALUE(COLLET_CANCELLED, 19)
VALUE(COLLET_CLOCK_DEVICE, 2)
VALUE(COLLET_CLOCK_HOST, 1)
VALUE(COLLET_DEVICE_CPU, 1)
VALUE(COLLET_DEVICE_GPU, 2)
VALUE(COLLET_DEVICE_LOST, 11)
VALUE(COLLET_DEVICE_OTHER, 3)
VALUE(COLLET_DEVICE_UNKNOWN, 0)
VALUE(COLLET_DTYPE, 3)
VALUE(COLLET_DTYPE_NONE, 0)
VALUE(COLLET_ERROR_TEXT, 1020)
VALUE(COLLET_EXECUTION_ASYNCHRONOUS, 2)
VALUE(COLLET_EXECUTION_SYNCHRONOUS, 1)
VALUE(COLLET_EXECUTION_UNKNOWN, 0)
VALUE(COLLET_EXPRESSION_DEPTH, 64)
VALUE(COLLET_EXPRESSION_INPUTS, 64)
VALUE(COLLET_EXPRESSION_OUTPUTS, 64)
VALUE(COLLET_EXPRESSION_TEXT, 65536)
VALUE(COLLET_EXPRESSION_VALUES, 4096)
VALUE(COLLET_F16, 1)
VALUE(COLLET_F32, 3)
VALUE(COLLET_F64, 4)
VALUE(COLLET_FAILED, 10)
VALUE(COLLET_FIELD_AXES, 3)
VALUE(COLLET_FIELD_CHOICE, 2)
VALUE(COLLET_FIELD_FLAG, 1)
VALUE(COLLET_FIELD_KINDS, 8)
VALUE(COLLET_FIELD_NUMBER, 0)
VALUE(COLLET_FIELD_PERMUTATION, 6)
VALUE(COLLET_FIELD_POINTER, 7)
VALUE(COLLET_FIELD_RANK, 5)
VALUE(COLLET_FIELD_SCALAR, 4)
VALUE(COLLET_FORKED, 12)
VALUE(COLLET_FORMAT, 14)
VALUE(COLLET_I16, 13)
VALUE(COLLET_I32, 9)
VALUE(COLLET_I64, 11)
VALUE(COLLET_I8, 7)
VALUE(COLLET_INFER, -1)
VALUE(COLLET_INVALID, 1)
VALUE(COLLET_IO, 13)
VALUE(COLLET_LOG_DEBUG, 4)
VALUE(COLLET_LOG_ERROR, 1)
VALUE(COLLET_LOG_INFO, 3)
VALUE(COLLET_LOG_WARNING, 2)
VALUE(COLLET_MAX_DIMS, 8)
VALUE(COLLET_MAX_NAME, 64)
VALUE(COLLET_MAX_OPERANDS, 12)
VALUE(COLLET_MEMORY_HOST, 1)
VALUE(COLLET_MEMORY_OWN, 2)
VALUE(COLLET_MEMORY_UNKNOWN, 0)
VALUE(COLLET_NOT_FOUND, 17)
VALUE(COLLET_NOT_READY, 18)
VALUE(COLLET_NO_MEMORY, 5)
VALUE(COLLET_NO_OP, 0)
VALUE(COLLET_OK, 0)
VALUE(COLLET_OP_ABS, 13)
VALUE(COLLET_OP_ACOS, 304)
VALUE(COLLET_OP_ACOSH, 310)
VALUE(COLLET_OP_ADD, 3)
VALUE(COLLET_OP_ALL, 27)
VALUE(COLLET_OP_ANGULAR_VELOCITY, 102)
VALUE(COLLET_OP_ANY, 26)
VALUE(COLLET_OP_ARGMAX, 22)
VALUE(COLLET_OP_ARGMIN, 29)
VALUE(COLLET_OP_ARGSORT, 161)
VALUE(COLLET_OP_ASIN, 303)
VALUE(COLLET_OP_ASINH, 309)
VALUE(COLLET_OP_ATAN, 305)
VALUE(COLLET_OP_ATAN2, 306)
VALUE(COLLET_OP_ATANH, 311)
VALUE(COLLET_OP_AXPY, 18)
VALUE(COLLET_OP_BITWISE_AND, 276)
VALUE(COLLET_OP_BITWISE_INVERT, 279)
VALUE(COLLET_OP_BITWISE_LEFT_SHIFT, 280)
VALUE(COLLET_OP_BITWISE_OR, 277)
VALUE(COLLET_OP_BITWISE_RIGHT_SHIFT, 281)
VALUE(COLLET_OP_BITWISE_XOR, 278)
VALUE(COLLET_OP_CBRT, 313)
VALUE(COLLET_OP_CEIL, 290)
VALUE(COLLET_OP_CHOLESKY, 40)
VALUE(COLLET_OP_CLIP, 283)
VALUE(COLLET_OP_COM, 96)
VALUE(COLLET_OP_COMPLEX, 295)
VALUE(COLLET_OP_COMPRESS, 174)
VALUE(COLLET_OP_CONJ, 14)
VALUE(COLLET_OP_COPY, 2)
VALUE(COLLET_OP_COPYSIGN, 263)
VALUE(COLLET_OP_COS, 16)
VALUE(COLLET_OP_COSH, 308)
VALUE(COLLET_OP_COUNT_NONZERO, 28)
VALUE(COLLET_OP_CROSS_SUM, 98)
VALUE(COLLET_OP_CUMULATIVE_PROD, 181)
VALUE(COLLET_OP_CUMULATIVE_SUM, 180)
VALUE(COLLET_OP_DECOMPOSE, 103)
VALUE(COLLET_OP_DIV, 6)
VALUE(COLLET_OP_DOT, 33)
VALUE(COLLET_OP_EIG, 41)
VALUE(COLLET_OP_EIGH, 39)
VALUE(COLLET_OP_EQUAL, 266)
VALUE(COLLET_OP_ERF, 314)
VALUE(COLLET_OP_ERFC, 315)
VALUE(COLLET_OP_EULER_ZYZ, 100)
VALUE(COLLET_OP_EVALUATE, 30)
VALUE(COLLET_OP_EXP, 7)
VALUE(COLLET_OP_EXP2, 296)
VALUE(COLLET_OP_EXPIT, 316)
VALUE(COLLET_OP_EXPM1, 297)
VALUE(COLLET_OP_EXPONENTIAL, 82)
VALUE(COLLET_OP_FFT, 64)
VALUE(COLLET_OP_FFTSHIFT, 65)
VALUE(COLLET_OP_FILL, 1)
VALUE(COLLET_OP_FLOOR, 289)
VALUE(COLLET_OP_FLOOR_DIVIDE, 258)
VALUE(COLLET_OP_FMA, 265)
VALUE(COLLET_OP_GREATER, 270)
VALUE(COLLET_OP_GREATER_EQUAL, 271)
VALUE(COLLET_OP_GYRATION, 107)
VALUE(COLLET_OP_HISTOGRAM, 182)
VALUE(COLLET_OP_HYPOT, 312)
VALUE(COLLET_OP_IMAG, 294)
VALUE(COLLET_OP_INERTIA, 97)
VALUE(COLLET_OP_INTEGERS, 83)
VALUE(COLLET_OP_ISFINITE, 286)
VALUE(COLLET_OP_ISINF, 287)
VALUE(COLLET_OP_ISNAN, 288)
VALUE(COLLET_OP_KINETIC, 106)
VALUE(COLLET_OP_LESS, 268)
VALUE(COLLET_OP_LESS_EQUAL, 269)
VALUE(COLLET_OP_LGAMMA, 317)
VALUE(COLLET_OP_LOG, 8)
VALUE(COLLET_OP_LOG10, 300)
VALUE(COLLET_OP_LOG1P, 298)
VALUE(COLLET_OP_LOG2, 299)
VALUE(COLLET_OP_LOGADDEXP, 301)
VALUE(COLLET_OP_LOGICAL_AND, 272)
VALUE(COLLET_OP_LOGICAL_NOT, 275)
VALUE(COLLET_OP_LOGICAL_OR, 273)
VALUE(COLLET_OP_LOGICAL_XOR, 274)
VALUE(COLLET_OP_LU, 35)
VALUE(COLLET_OP_MAGNITUDE, 104)
VALUE(COLLET_OP_MATMUL, 32)
VALUE(COLLET_OP_MATVEC, 34)
VALUE(COLLET_OP_MAX, 21)
VALUE(COLLET_OP_MAXIMUM, 285)
VALUE(COLLET_OP_MEAN, 19)
VALUE(COLLET_OP_MIN, 20)
VALUE(COLLET_OP_MINIMUM, 284)
VALUE(COLLET_OP_MUL, 5)
VALUE(COLLET_OP_NEG, 12)
VALUE(COLLET_OP_NEXTAFTER, 264)
VALUE(COLLET_OP_NONZERO, 176)
VALUE(COLLET_OP_NORMAL, 81)
VALUE(COLLET_OP_NOT_EQUAL, 267)
VALUE(COLLET_OP_OBSERVABLES, 109)
VALUE(COLLET_OP_PARTITION, 162)
VALUE(COLLET_OP_PLACE, 175)
VALUE(COLLET_OP_POW, 260)
VALUE(COLLET_OP_PRINCIPAL_AXES, 99)
VALUE(COLLET_OP_PROD, 23)
VALUE(COLLET_OP_PUT, 172)
VALUE(COLLET_OP_QR, 37)
VALUE(COLLET_OP_REAL, 293)
VALUE(COLLET_OP_RECIPROCAL, 257)
VALUE(COLLET_OP_REMAINDER, 259)
VALUE(COLLET_OP_RMSD, 108)
VALUE(COLLET_OP_ROUND, 292)
VALUE(COLLET_OP_SCATTER_ADD, 173)
VALUE(COLLET_OP_SCATTER_AMPLITUDES, 152)
VALUE(COLLET_OP_SCATTER_AVERAGE, 151)
VALUE(COLLET_OP_SCATTER_EULER, 144)
VALUE(COLLET_OP_SCATTER_EWALD, 147)
VALUE(COLLET_OP_SCATTER_IMAGES, 150)
VALUE(COLLET_OP_SCATTER_INTENSITIES, 153)
VALUE(COLLET_OP_SCATTER_POLARISATION, 146)
VALUE(COLLET_OP_SCATTER_PROJECTION, 148)
VALUE(COLLET_OP_SCATTER_SLICES, 149)
VALUE(COLLET_OP_SCATTER_VECTOR, 145)
VALUE(COLLET_OP_SEARCHSORTED, 163)
VALUE(COLLET_OP_SIGN, 261)
VALUE(COLLET_OP_SIGNBIT, 262)
VALUE(COLLET_OP_SIN, 15)
VALUE(COLLET_OP_SINC, 318)
VALUE(COLLET_OP_SINH, 307)
VALUE(COLLET_OP_SOLVE, 36)
VALUE(COLLET_OP_SORT, 160)
VALUE(COLLET_OP_SQRT, 9)
VALUE(COLLET_OP_SQUARE, 256)
VALUE(COLLET_OP_STD, 25)
VALUE(COLLET_OP_SUB, 4)
VALUE(COLLET_OP_SUM, 11)
VALUE(COLLET_OP_SVD, 38)
VALUE(COLLET_OP_TAKE, 170)
VALUE(COLLET_OP_TAKE_ALONG_AXIS, 171)
VALUE(COLLET_OP_TAN, 302)
VALUE(COLLET_OP_TANH, 17)
VALUE(COLLET_OP_TERNARY_DOT, 131)
VALUE(COLLET_OP_TERNARY_LINEAR, 133)
VALUE(COLLET_OP_TERNARY_MATMUL, 132)
VALUE(COLLET_OP_TERNARY_PACK, 129)
VALUE(COLLET_OP_TERNARY_QUANTIZE, 128)
VALUE(COLLET_OP_TERNARY_UNPACK, 130)
VALUE(COLLET_OP_TILT, 101)
VALUE(COLLET_OP_TIME_DERIVATIVE, 105)
VALUE(COLLET_OP_TRANSPOSE, 10)
VALUE(COLLET_OP_TRUNC, 291)
VALUE(COLLET_OP_UNIFORM, 80)
VALUE(COLLET_OP_VAR, 24)
VALUE(COLLET_OP_VARIATE, 84)
VALUE(COLLET_OP_WHERE, 282)
VALUE(COLLET_OVERFLOW, 4)
VALUE(COLLET_PROGRAM_CONSTANTS, 1024)
VALUE(COLLET_PROGRAM_INPUTS, 8)
VALUE(COLLET_PROGRAM_OUTPUTS, 4)
VALUE(COLLET_PROGRAM_STEPS, 1024)
VALUE(COLLET_READ, 1)
VALUE(COLLET_REFUSED, 9)
VALUE(COLLET_SCATTER_ALIGNMENT, 1)
VALUE(COLLET_SCATTER_CHI, 360)
VALUE(COLLET_SCATTER_CYRSOXS, 1)
VALUE(COLLET_SCATTER_DIRECT, 1)
VALUE(COLLET_SCATTER_EULER, 2)
VALUE(COLLET_SCATTER_EXACT, 0)
VALUE(COLLET_SCATTER_FAST, 0)
VALUE(COLLET_SCATTER_FFT, 2)
VALUE(COLLET_SCATTER_FRACTION, 0)
VALUE(COLLET_SCATTER_ISOTROPIC, 1)
VALUE(COLLET_SCATTER_NAME, 40)
VALUE(COLLET_SCATTER_PSI, 3)
VALUE(COLLET_SCATTER_THETA, 2)
VALUE(COLLET_SCATTER_VECTOR, 3)
VALUE(COLLET_SHAPE, 2)
VALUE(COLLET_SHARE, 4)
VALUE(COLLET_STATUS_COUNT, 20)
VALUE(COLLET_TERNARY_ABSMEAN, 1)
VALUE(COLLET_TERNARY_BITNET, 66)
VALUE(COLLET_TERNARY_CODES, 2)
VALUE(COLLET_TERNARY_F32, 2)
VALUE(COLLET_TERNARY_FILE_GGUF, 3)
VALUE(COLLET_TERNARY_FILE_NPY, 2)
VALUE(COLLET_TERNARY_FILE_SAFETENSORS, 4)
VALUE(COLLET_TERNARY_FILE_T2, 1)
VALUE(COLLET_TERNARY_FORMATS, 5)
VALUE(COLLET_TERNARY_INT4, 3)
VALUE(COLLET_TERNARY_INT8, 0)
VALUE(COLLET_TERNARY_NUMBERS, 1)
VALUE(COLLET_TERNARY_OTHER, 0)
VALUE(COLLET_TERNARY_PACKED, 3)
VALUE(COLLET_TERNARY_PLANES, 1)
VALUE(COLLET_TERNARY_Q2_0, 64)
VALUE(COLLET_TERNARY_Q2_0_128, 65)
VALUE(COLLET_TERNARY_ROTOR, 2)
VALUE(COLLET_TERNARY_T2, 0)
VALUE(COLLET_TERNARY_TERNARY, 1)
VALUE(COLLET_TERNARY_THRESHOLD, 0)
VALUE(COLLET_TERNARY_TQ1_0, 4)
VALUE(COLLET_TERNARY_TQ2_0, 3)
VALUE(COLLET_TERNARY_WRITE_BYTES, 2)
VALUE(COLLET_TERNARY_WRITE_CODES, 0)
VALUE(COLLET_TERNARY_WRITE_VALUES, 1)
VALUE(COLLET_TRAJECTORY_CHECK, 8)
VALUE(COLLET_TRAJECTORY_DIRECTORY, 1)
VALUE(COLLET_TRAJECTORY_DRIFT_ANGULAR, 2)
VALUE(COLLET_TRAJECTORY_DRIFT_BOTH, 3)
VALUE(COLLET_TRAJECTORY_DRIFT_KEEP, 0)
VALUE(COLLET_TRAJECTORY_DRIFT_LINEAR, 1)
VALUE(COLLET_TRAJECTORY_MISSING_FAIL, 0)
VALUE(COLLET_TRAJECTORY_MISSING_NAN, 2)
VALUE(COLLET_TRAJECTORY_MISSING_SKIP, 1)
VALUE(COLLET_TRAJECTORY_OVERWRITE, 2)
VALUE(COLLET_TRAJECTORY_PBC_CENTER, 2)
VALUE(COLLET_TRAJECTORY_PBC_NOJUMP, 1)
VALUE(COLLET_TRAJECTORY_PBC_NONE, 3)
VALUE(COLLET_TRAJECTORY_PBC_WHOLE, 0)
VALUE(COLLET_TRAJECTORY_PLACE_PACK, 2)
VALUE(COLLET_TRAJECTORY_PLACE_UNWRAP, 1)
VALUE(COLLET_TRAJECTORY_PLACE_WHOLE, 0)
VALUE(COLLET_TRAJECTORY_RESUME, 4)
VALUE(COLLET_U16, 14)
VALUE(COLLET_U32, 10)
VALUE(COLLET_U64, 12)
VALUE(COLLET_U8, 8)
VALUE(COLLET_UNAVAILABLE, 7)
VALUE(COLLET_UNKNOWN_BACKEND, 6)
VALUE(COLLET_UNSUPPORTED, 8)
VALUE(COLLET_VARIATE_BINOMIAL, 3)
VALUE(COLLET_VARIATE_GAMMA, 0)
VALUE(COLLET_VARIATE_GEOMETRIC, 4)
VALUE(COLLET_VARIATE_HYPERGEOMETRIC, 5)
VALUE(COLLET_VARIATE_LOGSERIES, 6)
VALUE(COLLET_VARIATE_LOG_GAMMA, 1)
VALUE(COLLET_VARIATE_POISSON, 2)
VALUE(COLLET_VARIATE_VONMISES, 8)
VALUE(COLLET_VARIATE_ZIPF, 7)
VALUE(COLLET_WRAP_READONLY, 1)
VALUE(COLLET_WRAP_SHARED, 2)
VALUE(COLLET_WRITE, 2)
MEMBER(collet_error, status, 0, collet_status)
MEMBER(collet_error, text, 4, char [1020])
WHOLE(collet_error, 1024)
MEMBER(collet_c64, re, 0, float)
MEMBER(collet_c64, im, 4, float)
WHOLE(collet_c64, 8)
MEMBER(collet_c128, re, 0, double)
MEMBER(collet_c128, im, 8, double)
WHOLE(collet_c128, 16)
MEMBER(collet_scalar, value.bytes, 0, uint8_t [16])
MEMBER(collet_scalar, value.f16, 0, uint16_t)
MEMBER(collet_scalar, value.bf16, 0, uint16_t)
MEMBER(collet_scalar, value.f32, 0, float)
MEMBER(collet_scalar, value.f64, 0, double)
MEMBER(collet_scalar, value.c64, 0, collet_c64)
MEMBER(collet_scalar, value.c128, 0, collet_c128)
MEMBER(collet_scalar, value.i8, 0, int8_t)
MEMBER(collet_scalar, value.u8, 0, uint8_t)
MEMBER(collet_scalar, value.i16, 0, int16_t)
MEMBER(collet_scalar, value.u16, 0, uint16_t)
MEMBER(collet_scalar, value.i32, 0, int32_t)
MEMBER(collet_scalar, value.u32, 0, uint32_t)
MEMBER(collet_scalar, value.i64, 0, int64_t)
MEMBER(collet_scalar, value.u64, 0, uint64_t)
MEMBER(collet_scalar, value.b8, 0, uint8_t)
MEMBER(collet_scalar, dtype, 16, collet_dtype)
MEMBER(collet_scalar, reserved, 20, uint32_t)
WHOLE(collet_scalar, 24)
MEMBER(collet_memory_stats, struct_size, 0, uint32_t)
MEMBER(collet_memory_stats, reserved, 4, uint32_t)
MEMBER(collet_memory_stats, current, 8, uint64_t)
MEMBER(collet_memory_stats, held, 16, uint64_t)
MEMBER(collet_memory_stats, peak, 24, uint64_t)
MEMBER(collet_memory_stats, total, 32, uint64_t)
MEMBER(collet_memory_stats, available, 40, uint64_t)
GROWN(collet_memory_stats, 48)
MEMBER(collet_memory_limit, struct_size, 0, uint32_t)
MEMBER(collet_memory_limit, reserved, 4, uint32_t)
MEMBER(collet_memory_limit, machine, 8, uint64_t)
MEMBER(collet_memory_limit, total, 16, uint64_t)
MEMBER(collet_memory_limit, available, 24, uint64_t)
MEMBER(collet_memory_limit, by, 32, char [256])
GROWN(collet_memory_limit, 288)
MEMBER(collet_native_device, struct_size, 0, uint32_t)
MEMBER(collet_native_device, dlpack_type, 4, int32_t)
MEMBER(collet_native_device, dlpack_id, 8, int32_t)
MEMBER(collet_native_device, reserved, 12, uint32_t)
MEMBER(collet_native_device, api, 16, const char *)
MEMBER(collet_native_device, context, 24, void *)
MEMBER(collet_native_device, device, 32, void *)
GROWN(collet_native_device, 40)
MEMBER(collet_ops_field, name, 0, const char *)
MEMBER(collet_ops_field, meaning, 8, const char *)
MEMBER(collet_ops_field, choices, 16, const char *)
MEMBER(collet_ops_field, default_value, 24, double)
MEMBER(collet_ops_field, kind, 32, int32_t)
MEMBER(collet_ops_field, dtype, 36, collet_dtype)
MEMBER(collet_ops_field, offset, 40, uint32_t)
MEMBER(collet_ops_field, size, 44, uint32_t)
WHOLE(collet_ops_field, 48)
MEMBER(collet_fill_params, struct_size, 0, uint32_t)
MEMBER(collet_fill_params, reserved, 4, uint32_t)
MEMBER(collet_fill_params, value, 8, collet_scalar)
GROWN(collet_fill_params, 32)
MEMBER(collet_axpy_params, struct_size, 0, uint32_t)
MEMBER(collet_axpy_params, reserved, 4, uint32_t)
MEMBER(collet_axpy_params, alpha, 8, collet_scalar)
GROWN(collet_axpy_params, 32)
MEMBER(collet_transpose_params, struct_size, 0, uint32_t)
MEMBER(collet_transpose_params, ndim, 4, uint32_t)
MEMBER(collet_transpose_params, perm, 8, int32_t [8])
GROWN(collet_transpose_params, 40)
MEMBER(collet_reduce_params, struct_size, 0, uint32_t)
MEMBER(collet_reduce_params, axes, 4, uint32_t)
MEMBER(collet_reduce_params, keepdims, 8, uint32_t)
MEMBER(collet_reduce_params, reserved, 12, uint32_t)
GROWN(collet_reduce_params, 16)
MEMBER(collet_variance_params, struct_size, 0, uint32_t)
MEMBER(collet_variance_params, axes, 4, uint32_t)
MEMBER(collet_variance_params, keepdims, 8, uint32_t)
MEMBER(collet_variance_params, reserved, 12, uint32_t)
MEMBER(collet_variance_params, correction, 16, double)
GROWN(collet_variance_params, 24)
MEMBER(collet_step, op, 0, uint32_t)
MEMBER(collet_step, dtype, 4, collet_dtype)
MEMBER(collet_step, in, 8, uint16_t [3])
MEMBER(collet_step, reserved, 14, uint16_t)
WHOLE(collet_step, 16)
MEMBER(collet_program, struct_size, 0, uint32_t)
MEMBER(collet_program, n_in, 4, uint32_t)
MEMBER(collet_program, n_constants, 8, uint32_t)
MEMBER(collet_program, n_steps, 12, uint32_t)
MEMBER(collet_program, n_out, 16, uint32_t)
MEMBER(collet_program, reduce, 20, uint32_t)
MEMBER(collet_program, step_size, 24, uint32_t)
MEMBER(collet_program, constant_size, 28, uint32_t)
MEMBER(collet_program, hash, 32, uint64_t)
MEMBER(collet_program, dtypes, 40, const collet_dtype *)
MEMBER(collet_program, steps, 48, const collet_step *)
MEMBER(collet_program, outs, 56, const uint16_t *)
GROWN(collet_program, 64)
MEMBER(collet_evaluate_params, struct_size, 0, uint32_t)
MEMBER(collet_evaluate_params, axes, 4, uint32_t)
MEMBER(collet_evaluate_params, keepdims, 8, uint32_t)
MEMBER(collet_evaluate_params, reserved, 12, uint32_t)
MEMBER(collet_evaluate_params, correction, 16, double)
MEMBER(collet_evaluate_params, program, 24, const collet_program *)
MEMBER(collet_evaluate_params, constants, 32, const collet_scalar *)
GROWN(collet_evaluate_params, 40)
MEMBER(collet_fft_params, struct_size, 0, uint32_t)
MEMBER(collet_fft_params, last_axes, 4, uint32_t)
MEMBER(collet_fft_params, inverse, 8, uint32_t)
MEMBER(collet_fft_params, reserved, 12, uint32_t)
GROWN(collet_fft_params, 16)
MEMBER(collet_fftshift_params, struct_size, 0, uint32_t)
MEMBER(collet_fftshift_params, axes, 4, uint32_t)
MEMBER(collet_fftshift_params, inverse, 8, uint32_t)
MEMBER(collet_fftshift_params, reserved, 12, uint32_t)
GROWN(collet_fftshift_params, 16)
MEMBER(collet_sort_params, struct_size, 0, uint32_t)
MEMBER(collet_sort_params, axis, 4, int32_t)
MEMBER(collet_sort_params, descending, 8, uint32_t)
MEMBER(collet_sort_params, reserved, 12, uint32_t)
GROWN(collet_sort_params, 16)
MEMBER(collet_partition_params, struct_size, 0, uint32_t)
MEMBER(collet_partition_params, axis, 4, int32_t)
MEMBER(collet_partition_params, kth, 8, int64_t)
GROWN(collet_partition_params, 16)
MEMBER(collet_searchsorted_params, struct_size, 0, uint32_t)
MEMBER(collet_searchsorted_params, right, 4, uint32_t)
GROWN(collet_searchsorted_params, 8)
MEMBER(collet_histogram_params, struct_size, 0, uint32_t)
MEMBER(collet_histogram_params, bins, 4, uint32_t)
MEMBER(collet_histogram_params, low, 8, double)
MEMBER(collet_histogram_params, high, 16, double)
GROWN(collet_histogram_params, 24)
MEMBER(collet_random_params, struct_size, 0, uint32_t)
MEMBER(collet_random_params, reserved, 4, uint32_t)
MEMBER(collet_random_params, seed, 8, uint64_t)
MEMBER(collet_random_params, offset, 16, uint64_t)
GROWN(collet_random_params, 24)
MEMBER(collet_variate_params, struct_size, 0, uint32_t)
MEMBER(collet_variate_params, distribution, 4, uint32_t)
MEMBER(collet_variate_params, seed, 8, uint64_t)
MEMBER(collet_variate_params, offset, 16, uint64_t)
GROWN(collet_variate_params, 24)
MEMBER(collet_scatter_params, struct_size, 0, uint32_t)
MEMBER(collet_scatter_params, nearest, 4, uint32_t)
MEMBER(collet_scatter_params, neighbours, 8, uint32_t)
MEMBER(collet_scatter_params, layer, 12, uint32_t)
MEMBER(collet_scatter_params, layers, 16, uint32_t)
MEMBER(collet_scatter_params, reserved, 20, uint32_t)
MEMBER(collet_scatter_params, thickness, 24, double)
MEMBER(collet_scatter_params, limit, 32, double)
GROWN(collet_scatter_params, 40)
MEMBER(collet_scatter_average_params, struct_size, 0, uint32_t)
MEMBER(collet_scatter_average_params, mask, 4, uint32_t)
MEMBER(collet_scatter_average_params, centre, 8, uint32_t)
MEMBER(collet_scatter_average_params, reserved, 12, uint32_t)
MEMBER(collet_scatter_average_params, aspect, 16, double)
GROWN(collet_scatter_average_params, 24)
MEMBER(collet_ternary_quantize_params, struct_size, 0, uint32_t)
MEMBER(collet_ternary_quantize_params, mode, 4, uint32_t)
MEMBER(collet_ternary_quantize_params, threshold, 8, float)
MEMBER(collet_ternary_quantize_params, reserved, 12, uint32_t)
GROWN(collet_ternary_quantize_params, 16)
MEMBER(collet_ternary_format_params, struct_size, 0, uint32_t)
MEMBER(collet_ternary_format_params, format, 4, uint32_t)
GROWN(collet_ternary_format_params, 8)
MEMBER(collet_ternary_linear_params, struct_size, 0, uint32_t)
MEMBER(collet_ternary_linear_params, activations, 4, uint32_t)
MEMBER(collet_ternary_linear_params, relu, 8, uint32_t)
MEMBER(collet_ternary_linear_params, threshold, 12, float)
GROWN(collet_ternary_linear_params, 16)
MEMBER(collet_runtime_options, struct_size, 0, uint32_t)
MEMBER(collet_runtime_options, reserved, 4, uint32_t)
MEMBER(collet_runtime_options, plugin_path, 8, const char *)
MEMBER(collet_runtime_options, config_file, 16, const char *)
MEMBER(collet_runtime_options, backend, 24, const char *)
MEMBER(collet_runtime_options, log, 32, collet_log_fn)
MEMBER(collet_runtime_options, log_user, 40, void *)
MEMBER(collet_runtime_options, settings, 48, const char * const *)
MEMBER(collet_runtime_options, defaults, 56, const char * const *)
GROWN(collet_runtime_options, 64)
MEMBER(collet_backend_info, struct_size, 0, uint32_t)
MEMBER(collet_backend_info, state, 4, int32_t)
MEMBER(collet_backend_info, name, 8, const char *)
MEMBER(collet_backend_info, version, 16, const char *)
MEMBER(collet_backend_info, abi, 24, uint32_t)
MEMBER(collet_backend_info, priority, 28, int32_t)
MEMBER(collet_backend_info, jit, 32, int32_t)
MEMBER(collet_backend_info, parallel, 36, int32_t)
MEMBER(collet_backend_info, gpu, 40, int32_t)
MEMBER(collet_backend_info, device_count, 44, uint32_t)
MEMBER(collet_backend_info, kernel_count, 48, uint32_t)
MEMBER(collet_backend_info, named_devices, 52, int32_t)
MEMBER(collet_backend_info, path, 56, const char *)
MEMBER(collet_backend_info, reason, 64, const char *)
MEMBER(collet_backend_info, capabilities, 72, const char *)
MEMBER(collet_backend_info, calibration, 80, const char *)
GROWN(collet_backend_info, 88)
MEMBER(collet_device_info, struct_size, 0, uint32_t)
MEMBER(collet_device_info, kind, 4, int32_t)
MEMBER(collet_device_info, choice, 8, const char *)
MEMBER(collet_device_info, name, 16, const char *)
MEMBER(collet_device_info, vendor, 24, const char *)
MEMBER(collet_device_info, driver, 32, const char *)
MEMBER(collet_device_info, memory, 40, uint32_t)
MEMBER(collet_device_info, execution, 44, int32_t)
MEMBER(collet_device_info, memory_bytes, 48, uint64_t)
MEMBER(collet_device_info, largest_array, 56, uint64_t)
MEMBER(collet_device_info, cache_bytes, 64, uint64_t)
MEMBER(collet_device_info, compute_units, 72, uint32_t)
MEMBER(collet_device_info, clock_mhz, 76, uint32_t)
GROWN(collet_device_info, 80)
MEMBER(collet_plugin_record, struct_size, 0, uint32_t)
MEMBER(collet_plugin_record, accepted, 4, int32_t)
MEMBER(collet_plugin_record, path, 8, const char *)
MEMBER(collet_plugin_record, stage, 16, const char *)
MEMBER(collet_plugin_record, code, 24, const char *)
MEMBER(collet_plugin_record, reason, 32, const char *)
MEMBER(collet_plugin_record, milliseconds, 40, double)
GROWN(collet_plugin_record, 48)
MEMBER(collet_setting, struct_size, 0, uint32_t)
MEMBER(collet_setting, reserved, 4, uint32_t)
MEMBER(collet_setting, key, 8, const char *)
MEMBER(collet_setting, environment, 16, const char *)
MEMBER(collet_setting, type, 24, const char *)
MEMBER(collet_setting, fallback, 32, const char *)
MEMBER(collet_setting, value, 40, const char *)
MEMBER(collet_setting, source, 48, const char *)
MEMBER(collet_setting, help, 56, const char *)
MEMBER(collet_setting, values, 64, const char *)
GROWN(collet_setting, 72)
MEMBER(collet_counters, struct_size, 0, uint32_t)
MEMBER(collet_counters, reserved, 4, uint32_t)
MEMBER(collet_counters, calls, 8, uint64_t)
MEMBER(collet_counters, fallbacks, 16, uint64_t)
MEMBER(collet_counters, temporaries, 24, uint64_t)
MEMBER(collet_counters, bytes_to_device, 32, uint64_t)
MEMBER(collet_counters, bytes_to_host, 40, uint64_t)
MEMBER(collet_counters, bytes_direct, 48, uint64_t)
GROWN(collet_counters, 56)
MEMBER(collet_ops_axis, extent, 0, int32_t)
MEMBER(collet_ops_axis, letter, 4, uint16_t)
MEMBER(collet_ops_axis, other, 6, uint16_t)
WHOLE(collet_ops_axis, 8)
MEMBER(collet_ops_pattern, ndim, 0, int32_t)
MEMBER(collet_ops_pattern, dots, 4, int32_t)
MEMBER(collet_ops_pattern, any, 8, int32_t)
MEMBER(collet_ops_pattern, reserved, 12, int32_t)
MEMBER(collet_ops_pattern, axes, 16, collet_ops_axis [8])
WHOLE(collet_ops_pattern, 80)
MEMBER(collet_ops_operand, name, 0, char [24])
MEMBER(collet_ops_operand, optional, 24, int32_t)
MEMBER(collet_ops_operand, alternatives, 28, int32_t)
MEMBER(collet_ops_operand, pattern, 32, collet_ops_pattern [2])
WHOLE(collet_ops_operand, 192)
MEMBER(collet_ops_info, struct_size, 0, uint32_t)
MEMBER(collet_ops_info, id, 4, uint32_t)
MEMBER(collet_ops_info, name, 8, const char *)
MEMBER(collet_ops_info, family, 16, const char *)
MEMBER(collet_ops_info, shapes, 24, const char *)
MEMBER(collet_ops_info, sigs, 32, const char *)
MEMBER(collet_ops_info, split, 40, const char *)
MEMBER(collet_ops_info, check, 48, const char *)
MEMBER(collet_ops_info, n_out, 56, uint32_t)
MEMBER(collet_ops_info, n_in, 60, uint32_t)
MEMBER(collet_ops_info, params_size, 64, uint32_t)
MEMBER(collet_ops_info, alias, 68, uint32_t)
MEMBER(collet_ops_info, operand_size, 72, uint32_t)
MEMBER(collet_ops_info, field_size, 76, uint32_t)
MEMBER(collet_ops_info, operands, 80, const collet_ops_operand *)
MEMBER(collet_ops_info, fields, 88, const collet_ops_field *)
MEMBER(collet_ops_info, field_count, 96, uint32_t)
MEMBER(collet_ops_info, reserved, 100, uint32_t)
MEMBER(collet_ops_info, measure, 104, const char *)
MEMBER(collet_ops_info, summary, 112, const char *)
GROWN(collet_ops_info, 120)
MEMBER(collet_array_spec, dtype, 0, collet_dtype)
MEMBER(collet_array_spec, ndim, 4, int32_t)
MEMBER(collet_array_spec, shape, 8, int64_t [8])
WHOLE(collet_array_spec, 72)
MEMBER(collet_devices, struct_size, 0, uint32_t)
MEMBER(collet_devices, reserved, 4, uint32_t)
MEMBER(collet_devices, choices, 8, const char *)
MEMBER(collet_devices, n_contexts, 16, int64_t)
MEMBER(collet_devices, contexts, 24, collet_context * const *)
GROWN(collet_devices, 32)
MEMBER(collet_device_share, struct_size, 0, uint32_t)
MEMBER(collet_device_share, reserved, 4, uint32_t)
MEMBER(collet_device_share, device, 8, const char *)
MEMBER(collet_device_share, done, 16, int64_t)
MEMBER(collet_device_share, seconds, 24, double)
MEMBER(collet_device_share, error, 32, const char *)
GROWN(collet_device_share, 40)
MEMBER(collet_argument, name, 0, const char *)
MEMBER(collet_argument, array, 8, const collet_array *)
MEMBER(collet_argument, spec, 16, const collet_array_spec *)
MEMBER(collet_argument, number, 24, collet_scalar)
MEMBER(collet_argument, reserved, 48, uint64_t [2])
WHOLE(collet_argument, 64)
MEMBER(collet_progress, struct_size, 0, uint32_t)
MEMBER(collet_progress, reserved, 4, uint32_t)
MEMBER(collet_progress, done, 8, int64_t)
MEMBER(collet_progress, bytes, 16, uint64_t)
MEMBER(collet_progress, fraction, 24, double)
MEMBER(collet_progress, stage, 32, const char *)
GROWN(collet_progress, 40)
MEMBER(collet_analysis_rotation_curves, struct_size, 0, uint32_t)
MEMBER(collet_analysis_rotation_curves, reserved, 4, uint32_t)
MEMBER(collet_analysis_rotation_curves, c1, 8, double *)
MEMBER(collet_analysis_rotation_curves, c1_parts, 16, double *)
MEMBER(collet_analysis_rotation_curves, c2, 24, double *)
MEMBER(collet_analysis_rotation_curves, c2_parts, 32, double *)
MEMBER(collet_analysis_rotation_curves, s2_without, 40, double *)
MEMBER(collet_analysis_rotation_curves, s2, 48, double)
GROWN(collet_analysis_rotation_curves, 56)
MEMBER(collet_scatter_material, struct_size, 0, uint32_t)
MEMBER(collet_scatter_material, dtype, 4, collet_dtype)
MEMBER(collet_scatter_material, volume, 8, const void *)
MEMBER(collet_scatter_material, alignment, 16, const void *)
MEMBER(collet_scatter_material, theta, 24, const void *)
MEMBER(collet_scatter_material, psi, 32, const void *)
MEMBER(collet_scatter_material, direction, 40, const void *)
MEMBER(collet_scatter_material, unaligned, 48, const void *)
MEMBER(collet_scatter_material, kind, 56, uint32_t)
MEMBER(collet_scatter_material, reserved, 60, uint32_t)
MEMBER(collet_scatter_material, arrays, 64, const collet_array * const *)
GROWN(collet_scatter_material, 72)
MEMBER(collet_scatter_constants, delta_parallel, 0, double)
MEMBER(collet_scatter_constants, beta_parallel, 8, double)
MEMBER(collet_scatter_constants, delta_perpendicular, 16, double)
MEMBER(collet_scatter_constants, beta_perpendicular, 24, double)
WHOLE(collet_scatter_constants, 32)
MEMBER(collet_scatter_options, struct_size, 0, uint32_t)
MEMBER(collet_scatter_options, method, 4, uint32_t)
MEMBER(collet_scatter_options, dtype, 8, collet_dtype)
MEMBER(collet_scatter_options, grid, 12, uint32_t)
MEMBER(collet_scatter_options, nearest, 16, uint32_t)
MEMBER(collet_scatter_options, window, 20, uint32_t)
MEMBER(collet_scatter_options, neighbours, 24, uint32_t)
MEMBER(collet_scatter_options, mask, 28, uint32_t)
MEMBER(collet_scatter_options, material_frame, 32, uint32_t)
MEMBER(collet_scatter_options, attenuation, 36, uint32_t)
MEMBER(collet_scatter_options, shape, 40, int64_t [3])
MEMBER(collet_scatter_options, voxel, 64, double)
MEMBER(collet_scatter_options, direction, 72, double [3])
MEMBER(collet_scatter_options, angles, 96, double [3])
MEMBER(collet_scatter_options, n_materials, 120, int64_t)
MEMBER(collet_scatter_options, materials, 128, const collet_scatter_material *)
MEMBER(collet_scatter_options, n_energies, 136, int64_t)
MEMBER(collet_scatter_options, energies, 144, const double *)
MEMBER(collet_scatter_options, constants, 152, const collet_scatter_constants *)
MEMBER(collet_scatter_options, memory, 160, uint64_t)
MEMBER(collet_scatter_options, progress, 168, collet_progress_fn)
MEMBER(collet_scatter_options, progress_user, 176, void *)
MEMBER(collet_scatter_options, layers, 184, collet_scatter_layers_fn)
MEMBER(collet_scatter_options, layers_user, 192, void *)
MEMBER(collet_scatter_options, devices, 200, const collet_devices *)
MEMBER(collet_scatter_options, detector, 208, double [3])
MEMBER(collet_scatter_options, collapse, 232, uint32_t)
MEMBER(collet_scatter_options, omit_zero, 236, uint32_t)
MEMBER(collet_scatter_options, energy_range, 240, double [2])
GROWN(collet_scatter_options, 256)
MEMBER(collet_scatter_plan, struct_size, 0, uint32_t)
MEMBER(collet_scatter_plan, reserved, 4, uint32_t)
MEMBER(collet_scatter_plan, passes, 8, int64_t)
MEMBER(collet_scatter_plan, fields, 16, int64_t)
MEMBER(collet_scatter_plan, transforms, 24, int64_t)
MEMBER(collet_scatter_plan, block, 32, int64_t)
MEMBER(collet_scatter_plan, angles, 40, int64_t)
MEMBER(collet_scatter_plan, bytes, 48, uint64_t)
MEMBER(collet_scatter_plan, kept, 56, uint64_t)
GROWN(collet_scatter_plan, 64)
MEMBER(collet_scatter_pattern, struct_size, 0, uint32_t)
MEMBER(collet_scatter_pattern, dtype, 4, collet_dtype)
MEMBER(collet_scatter_pattern, index, 8, int64_t)
MEMBER(collet_scatter_pattern, energy, 16, double)
MEMBER(collet_scatter_pattern, y, 24, int64_t)
MEMBER(collet_scatter_pattern, x, 32, int64_t)
MEMBER(collet_scatter_pattern, qy, 40, const double *)
MEMBER(collet_scatter_pattern, qx, 48, const double *)
MEMBER(collet_scatter_pattern, values, 56, const void *)
GROWN(collet_scatter_pattern, 64)
MEMBER(collet_scatter_comparison, struct_size, 0, uint32_t)
MEMBER(collet_scatter_comparison, reserved, 4, uint32_t)
MEMBER(collet_scatter_comparison, energy, 8, double)
MEMBER(collet_scatter_comparison, y, 16, int64_t)
MEMBER(collet_scatter_comparison, x, 24, int64_t)
MEMBER(collet_scatter_comparison, low, 32, double)
MEMBER(collet_scatter_comparison, high, 40, double)
MEMBER(collet_scatter_comparison, total, 48, double)
GROWN(collet_scatter_comparison, 56)
MEMBER(collet_scatter_derivatives, struct_size, 0, uint32_t)
MEMBER(collet_scatter_derivatives, reserved, 4, uint32_t)
MEMBER(collet_scatter_derivatives, volume, 8, void *)
MEMBER(collet_scatter_derivatives, alignment, 16, void *)
MEMBER(collet_scatter_derivatives, theta, 24, void *)
MEMBER(collet_scatter_derivatives, psi, 32, void *)
MEMBER(collet_scatter_derivatives, direction, 40, void *)
MEMBER(collet_scatter_derivatives, unaligned, 48, void *)
GROWN(collet_scatter_derivatives, 56)
MEMBER(collet_scatter_gradients, struct_size, 0, uint32_t)
MEMBER(collet_scatter_gradients, reserved, 4, uint32_t)
MEMBER(collet_scatter_gradients, constants, 8, collet_scatter_constants *)
MEMBER(collet_scatter_gradients, materials, 16, const collet_scatter_derivatives *)
GROWN(collet_scatter_gradients, 24)
MEMBER(collet_scatter_rings, struct_size, 0, uint32_t)
MEMBER(collet_scatter_rings, flat, 4, uint32_t)
MEMBER(collet_scatter_rings, y, 8, int64_t)
MEMBER(collet_scatter_rings, x, 16, int64_t)
MEMBER(collet_scatter_rings, voxel, 24, double)
MEMBER(collet_scatter_rings, direction, 32, double [3])
MEMBER(collet_scatter_rings, wedge, 56, double)
MEMBER(collet_scatter_rings, detector, 64, double [3])
GROWN(collet_scatter_rings, 88)
MEMBER(collet_scatter_integrals, struct_size, 0, uint32_t)
MEMBER(collet_scatter_integrals, wide, 4, uint32_t)
MEMBER(collet_scatter_integrals, polar, 8, void *)
MEMBER(collet_scatter_integrals, mean, 16, void *)
MEMBER(collet_scatter_integrals, parallel, 24, void *)
MEMBER(collet_scatter_integrals, perpendicular, 32, void *)
MEMBER(collet_scatter_integrals, anisotropy, 40, void *)
GROWN(collet_scatter_integrals, 48)
MEMBER(collet_scatter_finding, struct_size, 0, uint32_t)
MEMBER(collet_scatter_finding, warning, 4, uint32_t)
MEMBER(collet_scatter_finding, text, 8, const char *)
MEMBER(collet_scatter_finding, dataset, 16, const char *)
MEMBER(collet_scatter_finding, material, 24, int64_t)
MEMBER(collet_scatter_finding, voxels, 32, int64_t)
MEMBER(collet_scatter_finding, first, 40, int64_t [3][3])
GROWN(collet_scatter_finding, 112)
MEMBER(collet_scatter_slice, struct_size, 0, uint32_t)
MEMBER(collet_scatter_slice, reserved, 4, uint32_t)
MEMBER(collet_scatter_slice, rows, 8, int64_t)
MEMBER(collet_scatter_slice, columns, 16, int64_t)
MEMBER(collet_scatter_slice, voxel, 24, double)
MEMBER(collet_scatter_slice, values, 32, float *)
GROWN(collet_scatter_slice, 40)
MEMBER(collet_ternary_monitor, struct_size, 0, uint32_t)
MEMBER(collet_ternary_monitor, reserved, 4, uint32_t)
MEMBER(collet_ternary_monitor, progress, 8, collet_progress_fn)
MEMBER(collet_ternary_monitor, user, 16, void *)
MEMBER(collet_ternary_monitor, warn, 24, void (*)(void *user, const char *text))
GROWN(collet_ternary_monitor, 32)
MEMBER(collet_ternary_layer, struct_size, 0, uint32_t)
MEMBER(collet_ternary_layer, activations, 4, uint32_t)
MEMBER(collet_ternary_layer, relu, 8, uint32_t)
MEMBER(collet_ternary_layer, threshold, 12, float)
MEMBER(collet_ternary_layer, weights, 16, const collet_ternary_weights *)
MEMBER(collet_ternary_layer, bias, 24, const collet_array *)
GROWN(collet_ternary_layer, 32)
MEMBER(collet_ternary_file_info, struct_size, 0, uint32_t)
MEMBER(collet_ternary_file_info, kind, 4, uint32_t)
MEMBER(collet_ternary_file_info, version, 8, uint32_t)
MEMBER(collet_ternary_file_info, reserved, 12, uint32_t)
MEMBER(collet_ternary_file_info, count, 16, int64_t)
MEMBER(collet_ternary_file_info, bytes, 24, uint64_t)
MEMBER(collet_ternary_file_info, path, 32, const char *)
MEMBER(collet_ternary_file_info, part, 40, uint32_t)
MEMBER(collet_ternary_file_info, parts, 44, uint32_t)
GROWN(collet_ternary_file_info, 48)
MEMBER(collet_ternary_matrix, struct_size, 0, uint32_t)
MEMBER(collet_ternary_matrix, content, 4, uint32_t)
MEMBER(collet_ternary_matrix, format, 8, uint32_t)
MEMBER(collet_ternary_matrix, dtype, 12, collet_dtype)
MEMBER(collet_ternary_matrix, ndim, 16, int32_t)
MEMBER(collet_ternary_matrix, in_network, 20, uint32_t)
MEMBER(collet_ternary_matrix, shape, 24, int64_t [8])
MEMBER(collet_ternary_matrix, rows, 88, int64_t)
MEMBER(collet_ternary_matrix, columns, 96, int64_t)
MEMBER(collet_ternary_matrix, row_bytes, 104, uint64_t)
MEMBER(collet_ternary_matrix, activations, 112, uint32_t)
MEMBER(collet_ternary_matrix, relu, 116, uint32_t)
MEMBER(collet_ternary_matrix, threshold, 120, float)
MEMBER(collet_ternary_matrix, has_scale, 124, uint32_t)
MEMBER(collet_ternary_matrix, has_bias, 128, uint32_t)
MEMBER(collet_ternary_matrix, type, 132, char [24])
MEMBER(collet_ternary_matrix, name, 156, char [256])
MEMBER(collet_ternary_matrix, fault, 416, const char *)
GROWN(collet_ternary_matrix, 424)
MEMBER(collet_ternary_counts, struct_size, 0, uint32_t)
MEMBER(collet_ternary_counts, reserved, 4, uint32_t)
MEMBER(collet_ternary_counts, minus, 8, int64_t)
MEMBER(collet_ternary_counts, zero, 16, int64_t)
MEMBER(collet_ternary_counts, plus, 24, int64_t)
MEMBER(collet_ternary_counts, invalid, 32, int64_t)
GROWN(collet_ternary_counts, 40)
MEMBER(collet_ternary_source, struct_size, 0, uint32_t)
MEMBER(collet_ternary_source, activations, 4, uint32_t)
MEMBER(collet_ternary_source, relu, 8, uint32_t)
MEMBER(collet_ternary_source, threshold, 12, float)
MEMBER(collet_ternary_source, weights, 16, const char *)
MEMBER(collet_ternary_source, scale, 24, const char *)
MEMBER(collet_ternary_source, bias, 32, const char *)
MEMBER(collet_ternary_source, quantize, 40, const collet_ternary_quantize_params *)
GROWN(collet_ternary_source, 48)
MEMBER(collet_ternary_run_files, struct_size, 0, uint32_t)
MEMBER(collet_ternary_run_files, reserved, 4, uint32_t)
MEMBER(collet_ternary_run_files, x, 8, const char *)
MEMBER(collet_ternary_run_files, y, 16, const char *)
MEMBER(collet_ternary_run_files, labels, 24, const char *)
MEMBER(collet_ternary_run_files, model, 32, const char *)
MEMBER(collet_ternary_run_files, devices, 40, const collet_devices *)
GROWN(collet_ternary_run_files, 48)
MEMBER(collet_ternary_run_result, struct_size, 0, uint32_t)
MEMBER(collet_ternary_run_result, reserved, 4, uint32_t)
MEMBER(collet_ternary_run_result, vectors, 8, int64_t)
MEMBER(collet_ternary_run_result, correct, 16, int64_t)
MEMBER(collet_ternary_run_result, seconds, 24, double)
GROWN(collet_ternary_run_result, 32)
MEMBER(collet_ternary_run_plan, struct_size, 0, uint32_t)
MEMBER(collet_ternary_run_plan, reserved, 4, uint32_t)
MEMBER(collet_ternary_run_plan, vectors, 8, int64_t)
MEMBER(collet_ternary_run_plan, at_a_time, 16, int64_t)
MEMBER(collet_ternary_run_plan, bytes, 24, uint64_t)
GROWN(collet_ternary_run_plan, 32)
MEMBER(collet_trajectory_frame, struct_size, 0, uint32_t)
MEMBER(collet_trajectory_frame, reserved, 4, uint32_t)
MEMBER(collet_trajectory_frame, time, 8, double)
MEMBER(collet_trajectory_frame, positions, 16, const void *)
MEMBER(collet_trajectory_frame, velocities, 24, const void *)
MEMBER(collet_trajectory_frame, forces, 32, const void *)
MEMBER(collet_trajectory_frame, box, 40, const double *)
GROWN(collet_trajectory_frame, 48)
MEMBER(collet_trajectory_source, struct_size, 0, uint32_t)
MEMBER(collet_trajectory_source, dtype, 4, collet_dtype)
MEMBER(collet_trajectory_source, name, 8, const char *)
MEMBER(collet_trajectory_source, n_atoms, 16, int64_t)
MEMBER(collet_trajectory_source, n_frames, 24, int64_t)
MEMBER(collet_trajectory_source, names, 32, const char * const *)
MEMBER(collet_trajectory_source, residue_names, 40, const char * const *)
MEMBER(collet_trajectory_source, residue_ids, 48, const int32_t *)
MEMBER(collet_trajectory_source, residue_numbers, 56, const int64_t *)
MEMBER(collet_trajectory_source, segments, 64, const char * const *)
MEMBER(collet_trajectory_source, chains, 72, const char * const *)
MEMBER(collet_trajectory_source, charges, 80, const double *)
MEMBER(collet_trajectory_source, bonds, 88, const int64_t *)
MEMBER(collet_trajectory_source, n_bonds, 96, int64_t)
MEMBER(collet_trajectory_source, has_velocities, 104, int32_t)
MEMBER(collet_trajectory_source, has_forces, 108, int32_t)
MEMBER(collet_trajectory_source, has_times, 112, int32_t)
MEMBER(collet_trajectory_source, reserved, 116, uint32_t)
MEMBER(collet_trajectory_source, read, 120, collet_status (*)(void *user, collet_trajectory_frame *frame, int64_t index, collet_error *err))
MEMBER(collet_trajectory_source, choose, 128, collet_status (*)(void *user, uint8_t *chosen, int64_t index, collet_error *err))
MEMBER(collet_trajectory_source, user, 136, void *)
GROWN(collet_trajectory_source, 144)
MEMBER(collet_trajectory_options, struct_size, 0, uint32_t)
MEMBER(collet_trajectory_options, missing, 4, uint32_t)
MEMBER(collet_trajectory_options, topology, 8, const char *)
MEMBER(collet_trajectory_options, trajectory, 16, const char *)
MEMBER(collet_trajectory_options, continuations, 24, const char * const *)
MEMBER(collet_trajectory_options, selection, 32, const char *)
MEMBER(collet_trajectory_options, ndx, 40, const char *)
MEMBER(collet_trajectory_options, each, 48, const char *)
MEMBER(collet_trajectory_options, masses, 56, const char *)
MEMBER(collet_trajectory_options, mass_values, 64, const double *)
MEMBER(collet_trajectory_options, n_mass_values, 72, int64_t)
MEMBER(collet_trajectory_options, reference, 80, const char *)
MEMBER(collet_trajectory_options, keys, 88, const char *)
MEMBER(collet_trajectory_options, axis, 96, double [3])
MEMBER(collet_trajectory_options, start, 120, int64_t)
MEMBER(collet_trajectory_options, stop, 128, int64_t)
MEMBER(collet_trajectory_options, step, 136, int64_t)
MEMBER(collet_trajectory_options, pbc, 144, uint32_t)
MEMBER(collet_trajectory_options, drift, 148, uint32_t)
MEMBER(collet_trajectory_options, drift_of, 152, const char *)
MEMBER(collet_trajectory_options, strict, 160, uint32_t)
MEMBER(collet_trajectory_options, reserved, 164, uint32_t)
MEMBER(collet_trajectory_options, context, 168, collet_context *)
MEMBER(collet_trajectory_options, backend, 176, const char *)
MEMBER(collet_trajectory_options, threads, 184, int64_t)
MEMBER(collet_trajectory_options, log, 192, collet_log_fn)
MEMBER(collet_trajectory_options, log_user, 200, void *)
MEMBER(collet_trajectory_options, batch_frames, 208, int64_t)
MEMBER(collet_trajectory_options, batch_rows, 216, int64_t)
MEMBER(collet_trajectory_options, progress, 224, collet_progress_fn)
MEMBER(collet_trajectory_options, progress_user, 232, void *)
MEMBER(collet_trajectory_options, program, 240, const char *)
MEMBER(collet_trajectory_options, command, 248, const char * const *)
MEMBER(collet_trajectory_options, source, 256, const collet_trajectory_source *)
MEMBER(collet_trajectory_options, shard, 264, int64_t)
MEMBER(collet_trajectory_options, n_shards, 272, int64_t)
MEMBER(collet_trajectory_options, shards, 280, const char *)
MEMBER(collet_trajectory_options, parts, 288, const char * const *)
MEMBER(collet_trajectory_options, n_parts, 296, int64_t)
MEMBER(collet_trajectory_options, devices, 304, const collet_devices *)
GROWN(collet_trajectory_options, 312)
MEMBER(collet_trajectory_format, struct_size, 0, uint32_t)
MEMBER(collet_trajectory_format, has_topology, 4, int32_t)
MEMBER(collet_trajectory_format, has_frames, 8, int32_t)
MEMBER(collet_trajectory_format, reserved, 12, uint32_t)
MEMBER(collet_trajectory_format, name, 16, const char *)
MEMBER(collet_trajectory_format, title, 24, const char *)
GROWN(collet_trajectory_format, 32)
MEMBER(collet_trajectory_info, struct_size, 0, uint32_t)
MEMBER(collet_trajectory_info, truncated, 4, int32_t)
MEMBER(collet_trajectory_info, format, 8, const char *)
MEMBER(collet_trajectory_info, has_velocities, 16, int32_t)
MEMBER(collet_trajectory_info, has_forces, 20, int32_t)
MEMBER(collet_trajectory_info, has_times, 24, int32_t)
MEMBER(collet_trajectory_info, masses_guessed, 28, int32_t)
MEMBER(collet_trajectory_info, elements, 32, const char *)
MEMBER(collet_trajectory_info, periodic, 40, const char *)
MEMBER(collet_trajectory_info, drift, 48, const char *)
MEMBER(collet_trajectory_info, atoms_total, 56, int64_t)
MEMBER(collet_trajectory_info, atoms, 64, int64_t)
MEMBER(collet_trajectory_info, least_atoms, 72, int64_t)
MEMBER(collet_trajectory_info, most_atoms, 80, int64_t)
MEMBER(collet_trajectory_info, bodies, 88, int64_t)
MEMBER(collet_trajectory_info, mass, 96, double)
MEMBER(collet_trajectory_info, bytes_total, 104, uint64_t)
MEMBER(collet_trajectory_info, frames, 112, int64_t)
MEMBER(collet_trajectory_info, first_frame, 120, int64_t)
MEMBER(collet_trajectory_info, last_frame, 128, int64_t)
MEMBER(collet_trajectory_info, first_time, 136, double)
MEMBER(collet_trajectory_info, last_time, 144, double)
MEMBER(collet_trajectory_info, bytes, 152, uint64_t)
MEMBER(collet_trajectory_info, seconds, 160, double)
MEMBER(collet_trajectory_info, output, 168, const char *)
MEMBER(collet_trajectory_info, rows, 176, int64_t)
MEMBER(collet_trajectory_info, kept, 184, int32_t)
MEMBER(collet_trajectory_info, reserved, 188, uint32_t)
GROWN(collet_trajectory_info, 192)
MEMBER(collet_trajectory_file, struct_size, 0, uint32_t)
MEMBER(collet_trajectory_file, was_cut, 4, int32_t)
MEMBER(collet_trajectory_file, path, 8, const char *)
MEMBER(collet_trajectory_file, format, 16, const char *)
MEMBER(collet_trajectory_file, bytes, 24, uint64_t)
MEMBER(collet_trajectory_file, first_frame, 32, int64_t)
MEMBER(collet_trajectory_file, frames, 40, int64_t)
GROWN(collet_trajectory_file, 48)
MEMBER(collet_trajectory_quantity, struct_size, 0, uint32_t)
MEMBER(collet_trajectory_quantity, dtype, 4, collet_dtype)
MEMBER(collet_trajectory_quantity, key, 8, const char *)
MEMBER(collet_trajectory_quantity, unit, 16, const char *)
MEMBER(collet_trajectory_quantity, meaning, 24, const char *)
MEMBER(collet_trajectory_quantity, ndim, 32, int32_t)
MEMBER(collet_trajectory_quantity, reserved, 36, uint32_t)
MEMBER(collet_trajectory_quantity, width, 40, int64_t)
MEMBER(collet_trajectory_quantity, shape, 48, int64_t [3])
MEMBER(collet_trajectory_quantity, components, 72, const char * const *)
MEMBER(collet_trajectory_quantity, left_out, 80, const char *)
GROWN(collet_trajectory_quantity, 88)
MEMBER(collet_trajectory_plan, struct_size, 0, uint32_t)
MEMBER(collet_trajectory_plan, reserved, 4, uint32_t)
MEMBER(collet_trajectory_plan, batch_frames, 8, int64_t)
MEMBER(collet_trajectory_plan, batches, 16, int64_t)
MEMBER(collet_trajectory_plan, host_bytes, 24, uint64_t)
MEMBER(collet_trajectory_plan, bytes, 32, uint64_t)
GROWN(collet_trajectory_plan, 40)
MEMBER(collet_trajectory_batch, struct_size, 0, uint32_t)
MEMBER(collet_trajectory_batch, reserved, 4, uint32_t)
MEMBER(collet_trajectory_batch, first_row, 8, int64_t)
MEMBER(collet_trajectory_batch, n_rows, 16, int64_t)
MEMBER(collet_trajectory_batch, columns, 24, const double * const *)
GROWN(collet_trajectory_batch, 32)
MEMBER(collet_trajectory_places, struct_size, 0, uint32_t)
MEMBER(collet_trajectory_places, what, 4, uint32_t)
MEMBER(collet_trajectory_places, dtype, 8, collet_dtype)
MEMBER(collet_trajectory_places, reserved, 12, uint32_t)
MEMBER(collet_trajectory_places, positions, 16, void *)
MEMBER(collet_trajectory_places, n_frames, 24, int64_t)
MEMBER(collet_trajectory_places, n_atoms, 32, int64_t)
MEMBER(collet_trajectory_places, boxes, 40, const double *)
MEMBER(collet_trajectory_places, n_boxes, 48, int64_t)
MEMBER(collet_trajectory_places, bonds, 56, const int64_t *)
MEMBER(collet_trajectory_places, n_bonds, 64, int64_t)
MEMBER(collet_trajectory_places, offsets, 72, const int64_t *)
MEMBER(collet_trajectory_places, n_molecules, 80, int64_t)
MEMBER(collet_trajectory_places, masses, 88, const double *)
MEMBER(collet_trajectory_places, left, 96, int64_t)
MEMBER(collet_trajectory_places, left_atom, 104, int64_t)
MEMBER(collet_trajectory_places, far, 112, int64_t)
MEMBER(collet_trajectory_places, far_frame, 120, int64_t)
MEMBER(collet_trajectory_places, far_atom, 128, int64_t)
GROWN(collet_trajectory_places, 136)
TYPE(collet_status, int32_t)
TYPE(collet_dtype, int32_t)
TYPE(collet_log_fn, void (*)(void *user, int32_t level, const char *text))
TYPE(collet_progress_fn, int32_t (*)(void *user, const collet_progress *progress))
TYPE(collet_scatter_layers_fn, collet_status (*)(void *user, void * const *arrays, int64_t material, int64_t first, int64_t count, collet_error *err))
TYPE(collet_scatter_finding_fn, void (*)(void *user, const collet_scatter_finding *finding))
TYPE(collet_trajectory_batch_fn, collet_status (*)(void *user, const collet_trajectory_batch *batch, collet_error *err))

const collet_step *(*p_collet_program_step)(const collet_program *program, uint32_t k) = collet_program_step;
const collet_scalar *(*p_collet_program_constant)(const collet_program *program, const collet_scalar *constants, uint32_t i) = collet_program_constant;
collet_dtype (*p_collet_program_dtype)(const collet_program *program, uint32_t value) = collet_program_dtype;
const char *(*p_collet_status_name)(collet_status status) = collet_status_name;
const char *(*p_collet_status_text)(collet_status status) = collet_status_text;
collet_status (*p_collet_fail)(collet_error *err, collet_status status, const char *format, ...) = collet_fail;
collet_status (*p_collet_fail_text)(collet_error *err, collet_status status, const char *text) = collet_fail_text;
const char *(*p_collet_dtype_name)(collet_dtype dtype) = collet_dtype_name;
size_t (*p_collet_dtype_size)(collet_dtype dtype) = collet_dtype_size;
collet_dtype (*p_collet_dtype_promote)(collet_dtype a, collet_dtype b) = collet_dtype_promote;
const char *(*p_collet_version)(void) = collet_version;
int32_t (*p_collet_version_number)(void) = collet_version_number;
collet_status (*p_collet_runtime_create)(collet_runtime **out, const collet_runtime_options *options, collet_error *err) = collet_runtime_create;
void (*p_collet_runtime_destroy)(collet_runtime *runtime) = collet_runtime_destroy;
collet_status (*p_collet_process_end)(int64_t nanoseconds, collet_error *err) = collet_process_end;
collet_status (*p_collet_set_thread_limit)(int32_t threads, collet_error *err) = collet_set_thread_limit;
int32_t (*p_collet_thread_limit)(void) = collet_thread_limit;
size_t (*p_collet_backend_count)(const collet_runtime *runtime) = collet_backend_count;
collet_status (*p_collet_backend_info_at)(const collet_runtime *runtime, collet_backend_info *info, size_t index, collet_error *err) = collet_backend_info_at;
collet_status (*p_collet_calibration_write)(const collet_runtime *runtime, char *path, size_t capacity, const char *backend, const char *text, collet_error *err) = collet_calibration_write;
collet_status (*p_collet_device_info_at)(const collet_runtime *runtime, collet_device_info *info, size_t index, size_t device, collet_error *err) = collet_device_info_at;
size_t (*p_collet_record_count)(const collet_runtime *runtime) = collet_record_count;
collet_status (*p_collet_record_at)(const collet_runtime *runtime, collet_plugin_record *record, size_t index, collet_error *err) = collet_record_at;
size_t (*p_collet_setting_count)(const collet_runtime *runtime) = collet_setting_count;
collet_status (*p_collet_setting_at)(const collet_runtime *runtime, collet_setting *setting, size_t index, collet_error *err) = collet_setting_at;
collet_status (*p_collet_context_create)(collet_runtime *runtime, collet_context **out, collet_error *err) = collet_context_create;
void (*p_collet_context_destroy)(collet_context *context) = collet_context_destroy;
collet_runtime *(*p_collet_context_runtime)(const collet_context *context) = collet_context_runtime;
const char *(*p_collet_last_error)(const collet_context *context) = collet_last_error;
collet_status (*p_collet_last_status)(const collet_context *context) = collet_last_status;
collet_status (*p_collet_set_backend)(collet_context *context, const char *choice) = collet_set_backend;
const char *(*p_collet_get_backend)(const collet_context *context) = collet_get_backend;
const char *(*p_collet_last_backend)(const collet_context *context) = collet_last_backend;
void (*p_collet_set_fallback)(collet_context *context, int32_t allowed) = collet_set_fallback;
int32_t (*p_collet_get_fallback)(const collet_context *context) = collet_get_fallback;
collet_status (*p_collet_finish)(collet_context *context) = collet_finish;
collet_status (*p_collet_context_counters)(collet_context *context, collet_counters *counters) = collet_context_counters;
collet_status (*p_collet_memory)(collet_context *context, collet_memory_stats *stats, const char *space) = collet_memory;
collet_status (*p_collet_memory_limit_read)(collet_memory_limit *limit, collet_error *err) = collet_memory_limit_read;
collet_status (*p_collet_memory_reset_peak)(collet_context *context, const char *space) = collet_memory_reset_peak;
collet_status (*p_collet_trim)(collet_context *context) = collet_trim;
collet_status (*p_collet_timestamp_take)(collet_context *context, collet_timestamp **out, const char *device) = collet_timestamp_take;
collet_status (*p_collet_timestamp_elapsed)(collet_context *context, const collet_timestamp *first, const collet_timestamp *last, int64_t *nanoseconds, int32_t *clock) = collet_timestamp_elapsed;
void (*p_collet_timestamp_destroy)(collet_timestamp *timestamp) = collet_timestamp_destroy;
collet_status (*p_collet_array_create)(collet_context *context, collet_array **out, collet_dtype dtype, int32_t ndim, const int64_t *shape) = collet_array_create;
collet_status (*p_collet_array_from)(collet_context *context, collet_array **out, collet_dtype dtype, int32_t ndim, const int64_t *shape, const void *data) = collet_array_from;
collet_status (*p_collet_array_wrap)(collet_context *context, collet_array **out, collet_dtype dtype, int32_t ndim, const int64_t *shape, const int64_t *strides, void *data, uint32_t flags, void (*deleter)(void *user), void *user) = collet_array_wrap;
collet_status (*p_collet_array_full)(collet_context *context, collet_array **out, collet_dtype dtype, int32_t ndim, const int64_t *shape, double value) = collet_array_full;
void (*p_collet_array_destroy)(collet_array *array) = collet_array_destroy;
int32_t (*p_collet_array_is_shared)(const collet_array *array) = collet_array_is_shared;
int32_t (*p_collet_array_is_on_host)(const collet_array *array) = collet_array_is_on_host;
void *(*p_collet_array_host_address)(collet_array *array, int32_t access) = collet_array_host_address;
collet_dtype (*p_collet_array_dtype)(const collet_array *array) = collet_array_dtype;
int32_t (*p_collet_array_ndim)(const collet_array *array) = collet_array_ndim;
const int64_t *(*p_collet_array_shape)(const collet_array *array) = collet_array_shape;
const int64_t *(*p_collet_array_strides)(const collet_array *array) = collet_array_strides;
int64_t (*p_collet_array_size)(const collet_array *array) = collet_array_size;
collet_runtime *(*p_collet_array_runtime)(const collet_array *array) = collet_array_runtime;
collet_status (*p_collet_array_slice)(collet_context *context, const collet_array *array, collet_array **out, int32_t axis, int64_t start, int64_t count, int64_t step) = collet_array_slice;
collet_status (*p_collet_array_select)(collet_context *context, const collet_array *array, collet_array **out, int32_t axis, int64_t index) = collet_array_select;
collet_status (*p_collet_array_permute)(collet_context *context, const collet_array *array, collet_array **out, const int32_t *perm) = collet_array_permute;
collet_status (*p_collet_array_diagonal)(collet_context *context, const collet_array *array, collet_array **out) = collet_array_diagonal;
collet_status (*p_collet_array_windows)(collet_context *context, const collet_array *array, collet_array **out, int32_t axis, int64_t length) = collet_array_windows;
collet_status (*p_collet_array_reshape)(collet_context *context, const collet_array *array, collet_array **out, int32_t ndim, const int64_t *shape) = collet_array_reshape;
collet_status (*p_collet_array_broadcast)(collet_context *context, const collet_array *array, collet_array **out, int32_t ndim, const int64_t *shape) = collet_array_broadcast;
collet_status (*p_collet_array_real)(collet_context *context, const collet_array *array, collet_array **out) = collet_array_real;
collet_status (*p_collet_array_imag)(collet_context *context, const collet_array *array, collet_array **out) = collet_array_imag;
collet_status (*p_collet_array_low)(collet_context *context, const collet_array *array, collet_array **out, collet_dtype dtype) = collet_array_low;
collet_status (*p_collet_array_read)(collet_context *context, const collet_array *array, void *target, size_t bytes) = collet_array_read;
collet_status (*p_collet_array_write)(collet_context *context, collet_array *array, const void *source, size_t bytes) = collet_array_write;
collet_status (*p_collet_array_read_element)(collet_context *context, const collet_array *array, collet_scalar *value, const int64_t *index) = collet_array_read_element;
collet_status (*p_collet_array_write_element)(collet_context *context, collet_array *array, const int64_t *index, const collet_scalar *value) = collet_array_write_element;
collet_status (*p_collet_array_text)(collet_context *context, const collet_array *array, char *text, size_t capacity) = collet_array_text;
collet_status (*p_collet_array_acquire)(collet_context *context, collet_array *array, void **address, int32_t access) = collet_array_acquire;
collet_status (*p_collet_array_release)(collet_context *context, collet_array *array) = collet_array_release;
collet_status (*p_collet_array_prefetch)(collet_context *context, collet_array *array, const char *device) = collet_array_prefetch;
collet_status (*p_collet_call)(collet_context *context, uint32_t op, collet_array * const *outs, const collet_array * const *ins, const void *params) = collet_call;
collet_status (*p_collet_ops_axes)(collet_context *context, uint32_t op, uint32_t *mask, const collet_array *a, const int32_t *axes, int32_t count) = collet_ops_axes;
collet_status (*p_collet_explain)(collet_context *context, uint32_t op, char *text, size_t capacity, collet_array * const *outs, const collet_array * const *ins, const void *params) = collet_explain;
collet_status (*p_collet_ops_find)(const collet_runtime *runtime, uint32_t *op, const char *name, collet_error *err) = collet_ops_find;
size_t (*p_collet_ops_count)(const collet_runtime *runtime) = collet_ops_count;
collet_status (*p_collet_ops_at)(const collet_runtime *runtime, collet_ops_info *info, size_t index, collet_error *err) = collet_ops_at;
collet_status (*p_collet_ops_describe)(const collet_runtime *runtime, uint32_t op, collet_ops_info *info, collet_error *err) = collet_ops_describe;
collet_status (*p_collet_ops_signature)(const collet_runtime *runtime, uint32_t op, collet_dtype *dtypes, size_t index, collet_error *err) = collet_ops_signature;
collet_status (*p_collet_ops_defaults)(const collet_runtime *runtime, uint32_t op, void *params, size_t bytes, int32_t ndim, collet_error *err) = collet_ops_defaults;
collet_status (*p_collet_ops_infer)(const collet_runtime *runtime, uint32_t op, collet_array_spec *outs, const collet_array_spec *ins, size_t spec_size, const void *params, collet_error *err) = collet_ops_infer;
collet_status (*p_collet_backend_has_kernel)(const collet_runtime *runtime, const char *backend, uint32_t op, const collet_dtype *dtypes, uint32_t count, collet_error *err) = collet_backend_has_kernel;
collet_status (*p_collet_native_describe)(collet_context *context, collet_native_device *native, const char *device) = collet_native_describe;
collet_status (*p_collet_native_queue)(collet_context *context, void **queue, const char *device) = collet_native_queue;
collet_status (*p_collet_array_acquire_on)(collet_context *context, collet_array *array, void **handle, uint64_t *offset, const char *device, int32_t access) = collet_array_acquire_on;
collet_status (*p_collet_array_release_on)(collet_context *context, collet_array *array, const char *device) = collet_array_release_on;
collet_status (*p_collet_array_wrap_on)(collet_context *context, collet_array **out, const char *device, collet_dtype dtype, int32_t ndim, const int64_t *shape, const int64_t *strides, void *handle, uint64_t offset, uint32_t flags, void (*deleter)(void *user), void *user) = collet_array_wrap_on;
collet_status (*p_collet_pinned_create)(collet_context *context, collet_pinned **out, void **address, const char *device, size_t bytes) = collet_pinned_create;
void (*p_collet_pinned_destroy)(collet_pinned *pinned) = collet_pinned_destroy;
collet_status (*p_collet_array_to_dlpack)(collet_context *context, collet_array *array, struct DLManagedTensorVersioned **tensor, const char *device, int32_t access) = collet_array_to_dlpack;
collet_status (*p_collet_array_from_dlpack)(collet_context *context, collet_array **out, struct DLManagedTensorVersioned *tensor) = collet_array_from_dlpack;
collet_status (*p_collet_expression_create)(collet_expression **out, collet_error *err) = collet_expression_create;
void (*p_collet_expression_destroy)(collet_expression *expression) = collet_expression_destroy;
collet_status (*p_collet_expression_parse)(collet_expression **out, const char *text, collet_error *err) = collet_expression_parse;
collet_status (*p_collet_expression_input)(collet_expression *expression, uint32_t *value, const char *name, collet_dtype dtype, collet_error *err) = collet_expression_input;
collet_status (*p_collet_expression_constant)(collet_expression *expression, uint32_t *value, const collet_scalar *constant, int32_t weak, collet_error *err) = collet_expression_constant;
collet_status (*p_collet_expression_literal)(collet_expression *expression, uint32_t *value, const collet_scalar *number, collet_error *err) = collet_expression_literal;
collet_status (*p_collet_expression_apply)(collet_expression *expression, uint32_t *value, uint32_t op, const uint32_t *operands, uint32_t count, collet_error *err) = collet_expression_apply;
collet_status (*p_collet_expression_convert)(collet_expression *expression, uint32_t *value, uint32_t operand, collet_dtype dtype, collet_error *err) = collet_expression_convert;
collet_status (*p_collet_expression_output)(collet_expression *expression, uint32_t value, collet_error *err) = collet_expression_output;
collet_status (*p_collet_expression_reduce)(collet_expression *expression, uint32_t op, const int32_t *axes, int32_t count, int32_t keepdims, double correction, collet_error *err) = collet_expression_reduce;
collet_status (*p_collet_expression_set_constant)(collet_expression *expression, uint32_t value, const collet_scalar *constant, collet_error *err) = collet_expression_set_constant;
collet_status (*p_collet_expression_gradient)(const collet_expression *expression, collet_expression **out, uint32_t output, uint32_t input, collet_error *err) = collet_expression_gradient;
uint32_t (*p_collet_expression_input_count)(const collet_expression *expression) = collet_expression_input_count;
uint32_t (*p_collet_expression_output_count)(const collet_expression *expression) = collet_expression_output_count;
const char *(*p_collet_expression_input_name)(const collet_expression *expression, uint32_t input) = collet_expression_input_name;
collet_status (*p_collet_expression_find)(const collet_expression *expression, uint32_t *input, const char *name, collet_error *err) = collet_expression_find;
collet_status (*p_collet_expression_infer)(collet_expression *expression, collet_array_spec *outs, size_t spec_size, const collet_argument *arguments, uint32_t count, collet_error *err) = collet_expression_infer;
collet_status (*p_collet_expression_evaluate)(collet_context *context, collet_expression *expression, collet_array **outs, const collet_argument *arguments, uint32_t count) = collet_expression_evaluate;
collet_status (*p_collet_op_add)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b) = collet_op_add;
collet_status (*p_collet_op_sub)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b) = collet_op_sub;
collet_status (*p_collet_op_mul)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b) = collet_op_mul;
collet_status (*p_collet_op_div)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b) = collet_op_div;
collet_status (*p_collet_op_exp)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_exp;
collet_status (*p_collet_op_log)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_log;
collet_status (*p_collet_op_sqrt)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_sqrt;
collet_status (*p_collet_op_neg)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_neg;
collet_status (*p_collet_op_abs)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_abs;
collet_status (*p_collet_op_conj)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_conj;
collet_status (*p_collet_op_sin)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_sin;
collet_status (*p_collet_op_cos)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_cos;
collet_status (*p_collet_op_tanh)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_tanh;
collet_status (*p_collet_op_square)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_square;
collet_status (*p_collet_op_reciprocal)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_reciprocal;
collet_status (*p_collet_op_floor_divide)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b) = collet_op_floor_divide;
collet_status (*p_collet_op_remainder)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b) = collet_op_remainder;
collet_status (*p_collet_op_pow)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b) = collet_op_pow;
collet_status (*p_collet_op_sign)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_sign;
collet_status (*p_collet_op_signbit)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_signbit;
collet_status (*p_collet_op_copysign)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b) = collet_op_copysign;
collet_status (*p_collet_op_nextafter)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b) = collet_op_nextafter;
collet_status (*p_collet_op_fma)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b, const collet_array *c) = collet_op_fma;
collet_status (*p_collet_op_equal)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b) = collet_op_equal;
collet_status (*p_collet_op_not_equal)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b) = collet_op_not_equal;
collet_status (*p_collet_op_less)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b) = collet_op_less;
collet_status (*p_collet_op_less_equal)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b) = collet_op_less_equal;
collet_status (*p_collet_op_greater)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b) = collet_op_greater;
collet_status (*p_collet_op_greater_equal)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b) = collet_op_greater_equal;
collet_status (*p_collet_op_logical_and)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b) = collet_op_logical_and;
collet_status (*p_collet_op_logical_or)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b) = collet_op_logical_or;
collet_status (*p_collet_op_logical_xor)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b) = collet_op_logical_xor;
collet_status (*p_collet_op_logical_not)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_logical_not;
collet_status (*p_collet_op_bitwise_and)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b) = collet_op_bitwise_and;
collet_status (*p_collet_op_bitwise_or)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b) = collet_op_bitwise_or;
collet_status (*p_collet_op_bitwise_xor)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b) = collet_op_bitwise_xor;
collet_status (*p_collet_op_bitwise_invert)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_bitwise_invert;
collet_status (*p_collet_op_bitwise_left_shift)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b) = collet_op_bitwise_left_shift;
collet_status (*p_collet_op_bitwise_right_shift)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b) = collet_op_bitwise_right_shift;
collet_status (*p_collet_op_where)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b, const collet_array *c) = collet_op_where;
collet_status (*p_collet_op_clip)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b, const collet_array *c) = collet_op_clip;
collet_status (*p_collet_op_minimum)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b) = collet_op_minimum;
collet_status (*p_collet_op_maximum)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b) = collet_op_maximum;
collet_status (*p_collet_op_isfinite)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_isfinite;
collet_status (*p_collet_op_isinf)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_isinf;
collet_status (*p_collet_op_isnan)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_isnan;
collet_status (*p_collet_op_floor)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_floor;
collet_status (*p_collet_op_ceil)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_ceil;
collet_status (*p_collet_op_trunc)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_trunc;
collet_status (*p_collet_op_round)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_round;
collet_status (*p_collet_op_real)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_real;
collet_status (*p_collet_op_imag)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_imag;
collet_status (*p_collet_op_complex)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b) = collet_op_complex;
collet_status (*p_collet_op_exp2)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_exp2;
collet_status (*p_collet_op_expm1)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_expm1;
collet_status (*p_collet_op_log1p)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_log1p;
collet_status (*p_collet_op_log2)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_log2;
collet_status (*p_collet_op_log10)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_log10;
collet_status (*p_collet_op_logaddexp)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b) = collet_op_logaddexp;
collet_status (*p_collet_op_tan)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_tan;
collet_status (*p_collet_op_asin)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_asin;
collet_status (*p_collet_op_acos)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_acos;
collet_status (*p_collet_op_atan)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_atan;
collet_status (*p_collet_op_atan2)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b) = collet_op_atan2;
collet_status (*p_collet_op_sinh)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_sinh;
collet_status (*p_collet_op_cosh)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_cosh;
collet_status (*p_collet_op_asinh)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_asinh;
collet_status (*p_collet_op_acosh)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_acosh;
collet_status (*p_collet_op_atanh)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_atanh;
collet_status (*p_collet_op_hypot)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b) = collet_op_hypot;
collet_status (*p_collet_op_cbrt)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_cbrt;
collet_status (*p_collet_op_erf)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_erf;
collet_status (*p_collet_op_erfc)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_erfc;
collet_status (*p_collet_op_expit)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_expit;
collet_status (*p_collet_op_lgamma)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_lgamma;
collet_status (*p_collet_op_sinc)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_sinc;
collet_status (*p_collet_op_copy)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_copy;
collet_status (*p_collet_op_fill)(collet_context *context, collet_array *out, const collet_scalar *value) = collet_op_fill;
collet_status (*p_collet_op_axpy)(collet_context *context, collet_array *out, const collet_scalar *alpha, const collet_array *x, const collet_array *y) = collet_op_axpy;
collet_status (*p_collet_op_transpose)(collet_context *context, collet_array *out, const collet_array *a, const int32_t *perm) = collet_op_transpose;
collet_status (*p_collet_op_sum)(collet_context *context, collet_array *out, const collet_array *a, const int32_t *axes, int32_t count, int32_t keepdims) = collet_op_sum;
collet_status (*p_collet_op_mean)(collet_context *context, collet_array *out, const collet_array *a, const int32_t *axes, int32_t count, int32_t keepdims) = collet_op_mean;
collet_status (*p_collet_op_min)(collet_context *context, collet_array *out, const collet_array *a, const int32_t *axes, int32_t count, int32_t keepdims) = collet_op_min;
collet_status (*p_collet_op_max)(collet_context *context, collet_array *out, const collet_array *a, const int32_t *axes, int32_t count, int32_t keepdims) = collet_op_max;
collet_status (*p_collet_op_argmax)(collet_context *context, collet_array *out, const collet_array *a, const int32_t *axes, int32_t count, int32_t keepdims) = collet_op_argmax;
collet_status (*p_collet_op_argmin)(collet_context *context, collet_array *out, const collet_array *a, const int32_t *axes, int32_t count, int32_t keepdims) = collet_op_argmin;
collet_status (*p_collet_op_prod)(collet_context *context, collet_array *out, const collet_array *a, const int32_t *axes, int32_t count, int32_t keepdims) = collet_op_prod;
collet_status (*p_collet_op_var)(collet_context *context, collet_array *out, const collet_array *a, const int32_t *axes, int32_t count, int32_t keepdims, double correction) = collet_op_var;
collet_status (*p_collet_op_std)(collet_context *context, collet_array *out, const collet_array *a, const int32_t *axes, int32_t count, int32_t keepdims, double correction) = collet_op_std;
collet_status (*p_collet_op_any)(collet_context *context, collet_array *out, const collet_array *a, const int32_t *axes, int32_t count, int32_t keepdims) = collet_op_any;
collet_status (*p_collet_op_all)(collet_context *context, collet_array *out, const collet_array *a, const int32_t *axes, int32_t count, int32_t keepdims) = collet_op_all;
collet_status (*p_collet_op_count_nonzero)(collet_context *context, collet_array *out, const collet_array *a, const int32_t *axes, int32_t count, int32_t keepdims) = collet_op_count_nonzero;
collet_status (*p_collet_op_fft)(collet_context *context, collet_array *out, const collet_array *a, uint32_t last_axes, int32_t inverse) = collet_op_fft;
collet_status (*p_collet_op_fftshift)(collet_context *context, collet_array *out, const collet_array *a, const int32_t *axes, int32_t count, int32_t inverse) = collet_op_fftshift;
collet_status (*p_collet_op_take)(collet_context *context, collet_array *out, collet_array *info, const collet_array *a, const collet_array *index) = collet_op_take;
collet_status (*p_collet_op_take_along_axis)(collet_context *context, collet_array *out, collet_array *info, const collet_array *a, const collet_array *index) = collet_op_take_along_axis;
collet_status (*p_collet_op_put)(collet_context *context, collet_array *out, collet_array *info, const collet_array *a, const collet_array *index, const collet_array *values) = collet_op_put;
collet_status (*p_collet_op_scatter_add)(collet_context *context, collet_array *out, collet_array *info, const collet_array *a, const collet_array *index, const collet_array *values) = collet_op_scatter_add;
collet_status (*p_collet_op_compress)(collet_context *context, collet_array *out, collet_array *count, const collet_array *a, const collet_array *mask) = collet_op_compress;
collet_status (*p_collet_op_place)(collet_context *context, collet_array *out, collet_array *count, const collet_array *a, const collet_array *mask, const collet_array *values) = collet_op_place;
collet_status (*p_collet_op_nonzero)(collet_context *context, collet_array *out, collet_array *count, const collet_array *a) = collet_op_nonzero;
collet_status (*p_collet_op_cumulative_sum)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_cumulative_sum;
collet_status (*p_collet_op_cumulative_prod)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_cumulative_prod;
collet_status (*p_collet_op_histogram)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *weights, const collet_histogram_params *params) = collet_op_histogram;
collet_status (*p_collet_op_sort)(collet_context *context, collet_array *out, const collet_array *a, int32_t axis, int32_t descending) = collet_op_sort;
collet_status (*p_collet_op_argsort)(collet_context *context, collet_array *out, const collet_array *a, int32_t axis, int32_t descending) = collet_op_argsort;
collet_status (*p_collet_op_partition)(collet_context *context, collet_array *out, const collet_array *a, int64_t kth, int32_t axis) = collet_op_partition;
collet_status (*p_collet_op_searchsorted)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *v, int32_t right) = collet_op_searchsorted;
collet_status (*p_collet_op_matmul)(collet_context *context, collet_array *c, const collet_array *a, const collet_array *b) = collet_op_matmul;
collet_status (*p_collet_op_dot)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b) = collet_op_dot;
collet_status (*p_collet_op_matvec)(collet_context *context, collet_array *y, const collet_array *a, const collet_array *x) = collet_op_matvec;
collet_status (*p_collet_op_lu)(collet_context *context, collet_array *perm, collet_array *lower, collet_array *upper, collet_array *info, const collet_array *a) = collet_op_lu;
collet_status (*p_collet_op_qr)(collet_context *context, collet_array *q, collet_array *r, const collet_array *a) = collet_op_qr;
collet_status (*p_collet_op_svd)(collet_context *context, collet_array *u, collet_array *s, collet_array *vt, collet_array *info, const collet_array *a) = collet_op_svd;
collet_status (*p_collet_op_eigh)(collet_context *context, collet_array *values, collet_array *vectors, collet_array *info, const collet_array *a) = collet_op_eigh;
collet_status (*p_collet_op_cholesky)(collet_context *context, collet_array *lower, collet_array *info, const collet_array *a) = collet_op_cholesky;
collet_status (*p_collet_op_eig)(collet_context *context, collet_array *values, collet_array *vectors, collet_array *info, const collet_array *a) = collet_op_eig;
collet_status (*p_collet_op_solve)(collet_context *context, collet_array *x, collet_array *info, const collet_array *a, const collet_array *b) = collet_op_solve;
collet_status (*p_collet_op_com)(collet_context *context, collet_array *com, const collet_array *positions, const collet_array *masses) = collet_op_com;
collet_status (*p_collet_op_inertia)(collet_context *context, collet_array *inertia, const collet_array *positions, const collet_array *masses, const collet_array *com) = collet_op_inertia;
collet_status (*p_collet_op_cross_sum)(collet_context *context, collet_array *out, const collet_array *positions, const collet_array *weights, const collet_array *com, const collet_array *vectors) = collet_op_cross_sum;
collet_status (*p_collet_op_principal_axes)(collet_context *context, collet_array *moments, collet_array *axes, const collet_array *inertia, const collet_array *previous) = collet_op_principal_axes;
collet_status (*p_collet_op_euler_zyz)(collet_context *context, collet_array *angles, const collet_array *axes) = collet_op_euler_zyz;
collet_status (*p_collet_op_tilt)(collet_context *context, collet_array *tilt, const collet_array *axes, const collet_array *axis) = collet_op_tilt;
collet_status (*p_collet_op_angular_velocity)(collet_context *context, collet_array *omega, collet_array *info, const collet_array *inertia, const collet_array *L) = collet_op_angular_velocity;
collet_status (*p_collet_op_decompose)(collet_context *context, collet_array *parallel, collet_array *perpendicular, const collet_array *vectors, const collet_array *axes) = collet_op_decompose;
collet_status (*p_collet_op_magnitude)(collet_context *context, collet_array *out, const collet_array *a) = collet_op_magnitude;
collet_status (*p_collet_op_time_derivative)(collet_context *context, collet_array *derivative, collet_array *info, const collet_array *x, const collet_array *t) = collet_op_time_derivative;
collet_status (*p_collet_op_kinetic)(collet_context *context, collet_array *energies, const collet_array *positions, const collet_array *masses, const collet_array *velocities) = collet_op_kinetic;
collet_status (*p_collet_op_gyration)(collet_context *context, collet_array *radius, collet_array *tensor, collet_array *asphericity, const collet_array *positions, const collet_array *masses, const collet_array *offsets) = collet_op_gyration;
collet_status (*p_collet_op_rmsd)(collet_context *context, collet_array *rmsd, collet_array *rotation, const collet_array *positions, const collet_array *weights, const collet_array *reference, const collet_array *offsets) = collet_op_rmsd;
collet_status (*p_collet_op_observables)(collet_context *context, collet_array *com, collet_array *inertia, collet_array *L, collet_array *torque, collet_array *kinetic, const collet_array *positions, const collet_array *masses, const collet_array *velocities, const collet_array *forces, const collet_array *offsets) = collet_op_observables;
collet_status (*p_collet_op_uniform)(collet_context *context, collet_array *out, uint64_t seed, uint64_t offset) = collet_op_uniform;
collet_status (*p_collet_op_normal)(collet_context *context, collet_array *out, uint64_t seed, uint64_t offset) = collet_op_normal;
collet_status (*p_collet_op_exponential)(collet_context *context, collet_array *out, uint64_t seed, uint64_t offset) = collet_op_exponential;
collet_status (*p_collet_op_integers)(collet_context *context, collet_array *out, const collet_array *low, const collet_array *span, uint64_t seed, uint64_t offset) = collet_op_integers;
collet_status (*p_collet_op_variate)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b, const collet_array *c, collet_variate_distribution distribution, uint64_t seed, uint64_t offset) = collet_op_variate;
collet_status (*p_collet_op_scatter_euler)(collet_context *context, collet_array *fields, const collet_array *volume, const collet_array *alignment, const collet_array *theta, const collet_array *psi) = collet_op_scatter_euler;
collet_status (*p_collet_op_scatter_vector)(collet_context *context, collet_array *fields, const collet_array *direction, const collet_array *unaligned) = collet_op_scatter_vector;
collet_status (*p_collet_op_scatter_polarisation)(collet_context *context, collet_array *p, const collet_array *fields, const collet_array *constants, const collet_array *field, const collet_array *frame) = collet_op_scatter_polarisation;
collet_status (*p_collet_op_scatter_ewald)(collet_context *context, collet_array *slice, collet_array *fraction, const collet_array *k, const collet_array *qx, const collet_array *qy, const collet_array *qz, const collet_scatter_params *params) = collet_op_scatter_ewald;
collet_status (*p_collet_op_scatter_projection)(collet_context *context, collet_array *image, const collet_array *spectrum, const collet_array *slice, const collet_array *fraction, const collet_array *k, const collet_array *qx, const collet_array *qy, const collet_array *qz, const collet_scatter_params *params) = collet_op_scatter_projection;
collet_status (*p_collet_op_scatter_slices)(collet_context *context, collet_array *slices, const collet_array *planes, const collet_array *range, const collet_array *before, const collet_scatter_params *params) = collet_op_scatter_slices;
collet_status (*p_collet_op_scatter_images)(collet_context *context, collet_array *images, const collet_array *slices, const collet_array *range, const collet_array *weights, const collet_array *k, const collet_array *qx, const collet_array *qy, const collet_array *qz, const collet_array *angles, const collet_scatter_params *params) = collet_op_scatter_images;
collet_status (*p_collet_op_scatter_average)(collet_context *context, collet_array *out, const collet_array *images, const collet_array *angles, const collet_array *weights, const collet_scatter_average_params *params) = collet_op_scatter_average;
collet_status (*p_collet_op_scatter_amplitudes)(collet_context *context, collet_array *amplitudes, const collet_array *planes, const collet_array *nodes, const collet_array *interval, const collet_array *before, const collet_scatter_params *params) = collet_op_scatter_amplitudes;
collet_status (*p_collet_op_scatter_intensities)(collet_context *context, collet_array *images, const collet_array *amplitudes, const collet_array *nodes, const collet_array *interval, const collet_array *weights, const collet_array *k, const collet_array *qx, const collet_array *qy, const collet_array *angles, const collet_scatter_params *params) = collet_op_scatter_intensities;
collet_status (*p_collet_op_ternary_quantize)(collet_context *context, collet_array *codes, collet_array *scale, collet_array *info, const collet_array *weights, const collet_ternary_quantize_params *params) = collet_op_ternary_quantize;
collet_status (*p_collet_op_ternary_dot)(collet_context *context, collet_array *out, const collet_array *a, const collet_array *b) = collet_op_ternary_dot;
collet_status (*p_collet_op_ternary_matmul)(collet_context *context, collet_array *y, const collet_array *weights, const collet_array *x) = collet_op_ternary_matmul;
collet_status (*p_collet_op_ternary_linear)(collet_context *context, collet_array *y, const collet_array *weights, const collet_array *x, const collet_array *scale, const collet_array *bias, const collet_ternary_linear_params *params) = collet_op_ternary_linear;
int64_t (*p_collet_ternary_bytes)(uint32_t format, int64_t weights) = collet_ternary_bytes;
collet_status (*p_collet_op_ternary_pack)(collet_context *context, collet_array *bytes, collet_array *info, const collet_array *codes, const collet_array *scale, uint32_t format) = collet_op_ternary_pack;
collet_status (*p_collet_op_ternary_unpack)(collet_context *context, collet_array *codes, collet_array *scale, collet_array *info, const collet_array *bytes, uint32_t format) = collet_op_ternary_unpack;
collet_status (*p_collet_analysis_autocorrelation)(collet_context *context, double *whole, double *parts, const collet_array *x, int64_t blocks, int32_t subtract_mean, collet_error *err) = collet_analysis_autocorrelation;
collet_status (*p_collet_analysis_displacement)(collet_context *context, double *whole, double *parts, const collet_array *x, int64_t blocks, collet_error *err) = collet_analysis_displacement;
collet_status (*p_collet_analysis_rotation)(collet_context *context, collet_analysis_rotation_curves *curves, const collet_array *axes, int64_t blocks, collet_error *err) = collet_analysis_rotation;
collet_status (*p_collet_analysis_errors)(double *errors, const double *parts, int64_t blocks, int64_t lags, int32_t normalise, collet_error *err) = collet_analysis_errors;
collet_status (*p_collet_scatter_create)(collet_context *context, collet_scatter **out, const collet_scatter_options *options, collet_error *err) = collet_scatter_create;
void (*p_collet_scatter_destroy)(collet_scatter *scattering) = collet_scatter_destroy;
void (*p_collet_scatter_get_plan)(const collet_scatter *scattering, collet_scatter_plan *plan) = collet_scatter_get_plan;
collet_status (*p_collet_scatter_next)(collet_scatter *scattering, const collet_scatter_pattern **out, collet_error *err) = collet_scatter_next;
collet_status (*p_collet_scatter_next_array)(collet_scatter *scattering, collet_array **out, collet_error *err) = collet_scatter_next_array;
collet_status (*p_collet_scatter_share_at)(const collet_scatter *scattering, collet_device_share *share, size_t index, collet_error *err) = collet_scatter_share_at;
collet_status (*p_collet_scatter_compare)(collet_context *context, collet_scatter_comparison *comparison, const collet_scatter_options *options, collet_error *err) = collet_scatter_compare;
collet_status (*p_collet_scatter_differentiate)(collet_scatter *scattering, const void *cotangents, const collet_scatter_gradients *out, collet_error *err) = collet_scatter_differentiate;
collet_status (*p_collet_scatter_rings_q)(const collet_scatter_rings *rings, int64_t *count, double *q, collet_error *err) = collet_scatter_rings_q;
collet_status (*p_collet_scatter_integrate)(const collet_scatter_rings *rings, const collet_scatter_integrals *out, double energy, collet_dtype dtype, const void *values, collet_error *err) = collet_scatter_integrate;
collet_status (*p_collet_scatter_integrate_adjoint)(const collet_scatter_rings *rings, const collet_scatter_integrals *cotangents, double energy, collet_dtype dtype, const void *values, void *out, collet_error *err) = collet_scatter_integrate_adjoint;
collet_status (*p_collet_scatter_read)(collet_scatter_input **out, const char *morphology, const char *configuration, collet_dtype dtype, collet_error *err) = collet_scatter_read;
void (*p_collet_scatter_input_destroy)(collet_scatter_input *input) = collet_scatter_input_destroy;
const collet_scatter_options *(*p_collet_scatter_input_options)(const collet_scatter_input *input) = collet_scatter_input_options;
int64_t (*p_collet_scatter_input_beams)(const collet_scatter_input *input, const double (**beams)[3]) = collet_scatter_input_beams;
const char *(*p_collet_scatter_input_warning_at)(const collet_scatter_input *input, size_t index) = collet_scatter_input_warning_at;
collet_status (*p_collet_scatter_check)(const char *path, const char *configuration, collet_scatter_finding_fn report, void *user, collet_error *err) = collet_scatter_check;
collet_status (*p_collet_scatter_read_slice)(collet_scatter_slice *out, const char *morphology, int64_t material, uint32_t field, uint32_t axis, int64_t at, collet_error *err) = collet_scatter_read_slice;
void (*p_collet_scatter_slice_destroy)(collet_scatter_slice *slice) = collet_scatter_slice_destroy;
collet_status (*p_collet_scatter_write_image)(const char *morphology, const char *path, int32_t replace, collet_error *err) = collet_scatter_write_image;
void (*p_collet_scatter_file_name)(char name[40], double energy) = collet_scatter_file_name;
collet_status (*p_collet_scatter_write)(const char *directory, double energy, int64_t n_beams, const double (*beams)[3], const collet_scatter_pattern *patterns, const char *settings, collet_error *err) = collet_scatter_write;
uint64_t (*p_collet_scatter_file_bytes)(int64_t n_beams, int64_t y, int64_t x, const char *settings) = collet_scatter_file_bytes;
collet_status (*p_collet_scatter_written)(const char *directory, double energy, const char *settings, collet_error *err) = collet_scatter_written;
collet_status (*p_collet_scatter_read_pattern)(float *values, const char *directory, double energy, int64_t beam, int64_t y, int64_t x, collet_error *err) = collet_scatter_read_pattern;
collet_status (*p_collet_scatter_write_integrals)(const char *path, const collet_scatter_rings *rings, int64_t n_beams, const double (*beams)[3], int64_t n_energies, const double *energies, const collet_scatter_integrals *integrals, const char *settings, collet_error *err) = collet_scatter_write_integrals;
collet_status (*p_collet_scatter_integrals_written)(const char *path, const char *settings, collet_error *err) = collet_scatter_integrals_written;
const char *(*p_collet_scatter_input_directory)(const collet_scatter_input *input) = collet_scatter_input_directory;
collet_status (*p_collet_ternary_recognise)(collet_context *context, collet_array **scale, const collet_array *weights, const collet_ternary_monitor *monitor, collet_error *err) = collet_ternary_recognise;
collet_status (*p_collet_ternary_weights_quantize)(collet_context *context, collet_ternary_weights **out, const collet_array *weights, const collet_ternary_quantize_params *params, const collet_ternary_monitor *monitor, collet_error *err) = collet_ternary_weights_quantize;
collet_status (*p_collet_ternary_weights_from_codes)(collet_context *context, collet_ternary_weights **out, const collet_array *codes, const collet_array *scale, collet_error *err) = collet_ternary_weights_from_codes;
collet_status (*p_collet_ternary_weights_from_bytes)(collet_context *context, collet_ternary_weights **out, const collet_array *bytes, int64_t columns, const collet_array *scale, const collet_ternary_monitor *monitor, collet_error *err) = collet_ternary_weights_from_bytes;
void (*p_collet_ternary_weights_destroy)(collet_ternary_weights *weights) = collet_ternary_weights_destroy;
int64_t (*p_collet_ternary_weights_rows)(const collet_ternary_weights *weights) = collet_ternary_weights_rows;
int64_t (*p_collet_ternary_weights_columns)(const collet_ternary_weights *weights) = collet_ternary_weights_columns;
const collet_array *(*p_collet_ternary_weights_bytes)(const collet_ternary_weights *weights) = collet_ternary_weights_bytes;
const collet_array *(*p_collet_ternary_weights_scale)(const collet_ternary_weights *weights) = collet_ternary_weights_scale;
collet_status (*p_collet_ternary_network_create)(collet_context *context, collet_ternary_network **out, const collet_ternary_layer *layers, uint32_t count, collet_error *err) = collet_ternary_network_create;
void (*p_collet_ternary_network_destroy)(collet_ternary_network *network) = collet_ternary_network_destroy;
int64_t (*p_collet_ternary_network_inputs)(const collet_ternary_network *network) = collet_ternary_network_inputs;
int64_t (*p_collet_ternary_network_outputs)(const collet_ternary_network *network) = collet_ternary_network_outputs;
collet_status (*p_collet_ternary_network_run)(collet_context *context, collet_ternary_network *network, collet_array *y, const collet_array *x, collet_error *err) = collet_ternary_network_run;
collet_status (*p_collet_ternary_file_open)(collet_ternary_file **out, int64_t *index, const char *name, collet_error *err) = collet_ternary_file_open;
void (*p_collet_ternary_file_destroy)(collet_ternary_file *file) = collet_ternary_file_destroy;
void (*p_collet_ternary_file_get_info)(const collet_ternary_file *file, collet_ternary_file_info *info) = collet_ternary_file_get_info;
collet_status (*p_collet_ternary_file_matrix_at)(const collet_ternary_file *file, collet_ternary_matrix *matrix, size_t index, collet_error *err) = collet_ternary_file_matrix_at;
collet_status (*p_collet_ternary_file_count)(collet_context *context, const collet_ternary_file *file, collet_ternary_counts *counts, size_t index, const collet_ternary_monitor *monitor, collet_error *err) = collet_ternary_file_count;
collet_status (*p_collet_ternary_file_load)(collet_context *context, const collet_ternary_file *file, collet_ternary_weights **out, collet_array **bias, size_t index, const collet_ternary_quantize_params *quantize, const collet_ternary_monitor *monitor, collet_error *err) = collet_ternary_file_load;
collet_status (*p_collet_ternary_network_load)(collet_context *context, collet_ternary_network **out, const collet_ternary_file *file, uint32_t activations, float threshold, const collet_ternary_monitor *monitor, collet_error *err) = collet_ternary_network_load;
collet_status (*p_collet_ternary_output_publish)(collet_ternary_output *output, int32_t replace, collet_error *err) = collet_ternary_output_publish;
void (*p_collet_ternary_output_destroy)(collet_ternary_output *output) = collet_ternary_output_destroy;
uint64_t (*p_collet_ternary_output_bytes)(const collet_ternary_output *output) = collet_ternary_output_bytes;
int64_t (*p_collet_ternary_output_weights)(const collet_ternary_output *output) = collet_ternary_output_weights;
collet_status (*p_collet_ternary_files_pack)(collet_context *context, collet_ternary_output **out, const char *path, const collet_ternary_source *layers, uint32_t count, uint32_t format, const collet_ternary_monitor *monitor, collet_error *err) = collet_ternary_files_pack;
collet_status (*p_collet_ternary_layers_write)(collet_context *context, collet_ternary_output **out, const char *path, const collet_ternary_layer *layers, const char * const *names, uint32_t count, const collet_ternary_monitor *monitor, collet_error *err) = collet_ternary_layers_write;
collet_status (*p_collet_ternary_file_unpack)(collet_context *context, const collet_ternary_file *file, collet_ternary_output **out, const char *path, size_t index, uint32_t what, const collet_ternary_monitor *monitor, collet_error *err) = collet_ternary_file_unpack;
collet_status (*p_collet_ternary_network_run_files)(collet_context *context, collet_ternary_network *network, collet_ternary_output **out, collet_ternary_run_result *result, const collet_ternary_run_files *files, const collet_ternary_monitor *monitor, collet_error *err) = collet_ternary_network_run_files;
collet_status (*p_collet_ternary_network_plan_files)(collet_context *context, collet_ternary_network *network, collet_ternary_run_plan *plan, const collet_ternary_run_files *files, collet_error *err) = collet_ternary_network_plan_files;
collet_status (*p_collet_ternary_network_run_vectors)(collet_context *context, collet_ternary_network *network, float *y, const float *x, int64_t vectors, const collet_devices *devices, const collet_ternary_monitor *monitor, collet_error *err) = collet_ternary_network_run_vectors;
collet_status (*p_collet_ternary_network_share_at)(const collet_ternary_network *network, collet_device_share *share, size_t index, collet_error *err) = collet_ternary_network_share_at;
collet_status (*p_collet_trajectory_check_selection)(const char *text, collet_error *err) = collet_trajectory_check_selection;
collet_status (*p_collet_trajectory_format_at)(collet_trajectory_format *format, size_t index, collet_error *err) = collet_trajectory_format_at;
collet_status (*p_collet_trajectory_create)(collet_trajectory **out, const collet_trajectory_options *options, collet_error *err) = collet_trajectory_create;
void (*p_collet_trajectory_destroy)(collet_trajectory *trajectory) = collet_trajectory_destroy;
const char *(*p_collet_trajectory_body_at)(const collet_trajectory *trajectory, size_t index) = collet_trajectory_body_at;
const char *(*p_collet_trajectory_atom_at)(const collet_trajectory *trajectory, size_t index) = collet_trajectory_atom_at;
void (*p_collet_trajectory_get_info)(const collet_trajectory *trajectory, collet_trajectory_info *info) = collet_trajectory_get_info;
collet_status (*p_collet_trajectory_file_at)(const collet_trajectory *trajectory, collet_trajectory_file *file, size_t index, collet_error *err) = collet_trajectory_file_at;
size_t (*p_collet_trajectory_quantity_count)(void) = collet_trajectory_quantity_count;
collet_status (*p_collet_trajectory_quantity_at)(const collet_trajectory *trajectory, collet_trajectory_quantity *quantity, size_t index, collet_error *err) = collet_trajectory_quantity_at;
collet_status (*p_collet_trajectory_share_at)(const collet_trajectory *trajectory, collet_device_share *share, size_t index, collet_error *err) = collet_trajectory_share_at;
collet_status (*p_collet_trajectory_plan_work)(collet_trajectory *trajectory, collet_trajectory_plan *plan, collet_error *err) = collet_trajectory_plan_work;
collet_status (*p_collet_trajectory_next)(collet_trajectory *trajectory, const collet_trajectory_batch **out, collet_error *err) = collet_trajectory_next;
collet_status (*p_collet_trajectory_collect)(collet_trajectory *trajectory, const collet_trajectory_batch **out, collet_error *err) = collet_trajectory_collect;
collet_status (*p_collet_trajectory_each)(collet_trajectory *trajectory, collet_trajectory_batch_fn take, void *user, collet_error *err) = collet_trajectory_each;
collet_status (*p_collet_trajectory_write)(collet_trajectory *trajectory, const char *path, uint32_t flags, collet_error *err) = collet_trajectory_write;
void (*p_collet_trajectory_watch)(collet_trajectory *trajectory, collet_trajectory_batch_fn take, void *user) = collet_trajectory_watch;
const char *(*p_collet_trajectory_meta)(const collet_trajectory *trajectory) = collet_trajectory_meta;
const char *(*p_collet_trajectory_warning_at)(const collet_trajectory *trajectory, size_t index) = collet_trajectory_warning_at;
collet_status (*p_collet_trajectory_extract)(const char *path, uint32_t flags, const collet_trajectory_options *options, collet_error *err) = collet_trajectory_extract;
collet_status (*p_collet_trajectory_times)(double *times, size_t capacity, int64_t *n, const char * const *paths, collet_error *err) = collet_trajectory_times;
collet_status (*p_collet_trajectory_place)(collet_trajectory_places *places, collet_error *err) = collet_trajectory_place;

int main(void)
{
    return 0;
}
