/* SPDX-License-Identifier: Apache-2.0 */
/* collet/call.h - calls of kernels, and descriptions of ops. collet/collet.h has the conventions. */
#ifndef COLLET_CALL_H
#define COLLET_CALL_H

#include <collet/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Rules for every kernel. Outputs come first. All arrays must exist and have the right shape and
 * dtype, otherwise nothing runs (INVALID for NULL, SHAPE, DTYPE; the text names the operand and the
 * dtypes that it may have). Work is asynchronous in the device's queue. An output may be exactly
 * the same view as an input where ops.def has EXACT; for any other overlap with an input libcore
 * makes a temporary. INVALID also: an output that repeats elements or overlaps another output, and
 * arrays of another runtime. BUSY: see collet_array_acquire. UNSUPPORTED: no selected backend has
 * the kernel. REFUSED: every backend that has the kernel refused the call, for example for lack of memory; nothing
 * was done. FAILED and DEVICE_LOST: the outputs are undefined; a failure that is detected later is reported by
 * collet_finish and by reads of the outputs.
 *
 * docs/KERNELS.md gives the formulas.
 */

/* Runs any kernel by the id of its op (COLLET_OP_* or collet_ops_find). `outs` and `ins` have an
 * entry for each operand of the op; an entry may be NULL where the operand is optional. `params` is the op's
 * parameter block, or NULL. NOT_FOUND when there is no such op. */
COLLET_API collet_status collet_call(collet_context *context, uint32_t op,
                                     collet_array *const *outs, const collet_array *const *ins,
                                     const void *params);
/* Sets bit i of *mask, the parameter `axes` of an op such as `sum`, for each of `count` axes i of `a`
 * (negative axes count from the last axis); count 0 with axes NULL: for all. INVALID: an axis that `a`
 * does not have, or that is named twice. NOT_FOUND when there is no such op. */
COLLET_API collet_status collet_ops_axes(collet_context *context, uint32_t op, uint32_t *mask,
                                         const collet_array *a, const int32_t *axes, int32_t count);

/*
 * Explains what collet_call with the same arguments would do, without doing it. Writes into
 * text[0..capacity) which device would run the call, and why; which of the device's implementations
 * (kernel or library), with the measured figures; how much scratch memory the call needs; and which
 * other devices could run it. The text is English, in lines that end with a newline, and is cut if it
 * does not fit (4096 bytes suffice). Devices and libraries are opened as in the call. The text is not an interface:
 * later versions may change it. Wrong arguments cause the same errors as in collet_call. INVALID: capacity 0.
 */
COLLET_API collet_status collet_explain(collet_context *context, uint32_t op, char *text,
                                        size_t capacity, collet_array *const *outs,
                                        const collet_array *const *ins, const void *params);

/* Finds the id of an op by its name; backends may have ops of their own ("vendor.op"). NOT_FOUND:
 * the text suggests a similar name if there is one. */
COLLET_API collet_status collet_ops_find(const collet_runtime *runtime, uint32_t *op,
                                         const char *name, collet_error *err);

/* One axis of an operand, as a pattern of its op describes it. */
typedef struct collet_ops_axis {
    int32_t extent;  /* the exact extent if `letter` is 0 */
    uint16_t letter; /* 'A'..'z': any extent, the same wherever the letter occurs in the op; or 0 */
    uint16_t other;  /* not 0: a second letter; the extent is the smaller of the two letters' extents */
} collet_ops_axis;

typedef struct collet_ops_pattern {
    int32_t ndim; /* number of `axes` */
    int32_t dots; /* 1: before `axes` any further axes, which are broadcast ("...") */
    int32_t any;  /* 1: any axes, which a rule of the op computes or checks ("*") */
    int32_t reserved;
    collet_ops_axis axes[COLLET_MAX_DIMS];
} collet_ops_pattern;

typedef struct collet_ops_operand {
    char name[24];        /* "a"; "out0", "in1" where the op's definition gives none */
    int32_t optional;     /* 1: may be absent (NULL) */
    int32_t alternatives; /* number of patterns, 1 or 2; the first that fits is used */
    collet_ops_pattern pattern[2];
} collet_ops_operand;

/* Description of an op: its row of ops.def or its plugin's definition. All pointers are valid as
 * long as the runtime. */
typedef struct collet_ops_info {
    uint32_t struct_size;
    uint32_t id;
    const char *name;
    const char *family; /* "own" for a plugin's own op */
    const char *shapes; /* the operands as ops.def writes them */
    const char *sigs;   /* "outputs:inputs ..."; collet_ops_signature enumerates them */
    const char *split;
    const char *check;
    uint32_t n_out, n_in;
    uint32_t params_size;               /* bytes of the parameter block; 0: the op has none */
    uint32_t alias;                     /* the column `alias` of ops.def: 0: NONE, 1: EXACT, 2: FIRST */
    uint32_t operand_size, field_size;  /* bytes from one operand, or field, to the next in the lists below */
    const collet_ops_operand *operands; /* n_out + n_in, outputs first */
    const collet_ops_field *fields;     /* of the parameter block */
    uint32_t field_count;
    uint32_t reserved;
    const char *measure; /* the shape that backend-bench measures by default; "" for own ops */
    const char *summary; /* one line; "" for own ops */
} collet_ops_info;

/* All ops: first the ops of ops.def in its order, then the plugins' own. Set info->struct_size
 * before the call. NOT_FOUND beyond the count. */
COLLET_API size_t collet_ops_count(const collet_runtime *runtime);
COLLET_API collet_status collet_ops_at(const collet_runtime *runtime, collet_ops_info *info,
                                       size_t index, collet_error *err);
/* Like collet_ops_at, by the op's id. NOT_FOUND. */
COLLET_API collet_status collet_ops_describe(const collet_runtime *runtime, uint32_t op,
                                             collet_ops_info *info, collet_error *err);
/* Writes signature `index` of the op to dtypes[0..n_out + n_in): the dtypes of its operands,
 * outputs first. NOT_FOUND beyond the last signature (an op that takes any dtypes has none), or when there is
 * no such op. In any signature an optional operand may be absent. */
COLLET_API collet_status collet_ops_signature(const collet_runtime *runtime, uint32_t op,
                                              collet_dtype *dtypes, size_t index,
                                              collet_error *err);

/*
 * Fills the parameter block of an op with its defaults, for an input 0 with `ndim` axes: AXES has
 * every axis, PERMUTATION reverses the axes, RANK is `ndim`; SCALAR fields, which have no default,
 * are zero and must be set; struct_size is set. `params` has `bytes` bytes, at least the op's
 * params_size. Then set fields by their offsets, as examples/by_name.c does. NOT_FOUND, INVALID.
 */
COLLET_API collet_status collet_ops_defaults(const collet_runtime *runtime, uint32_t op,
                                             void *params, size_t bytes, int32_t ndim,
                                             collet_error *err);

/* Dtype and shape of an array. Later versions may append members. `ndim` is COLLET_ABSENT for an absent optional operand; the other
 * members are then ignored. */
COLLET_ENUM(int32_t){
    COLLET_INFER = -1,
    COLLET_ABSENT = -2,
};
typedef struct collet_array_spec {
    collet_dtype dtype;
    int32_t ndim;
    int64_t shape[COLLET_MAX_DIMS]; /* extents, `ndim` of them */
} collet_array_spec;

/*
 * Infers the outputs of a call: `outs` and `ins` have an entry for each operand and belong to the
 * caller. spec_size is sizeof(collet_array_spec). A dtype COLLET_DTYPE_NONE or an ndim COLLET_INFER of an output is inferred; given values
 * are checked. On success a collet_call with arrays of these specs and the same parameters passes every check of
 * dtypes, shapes and parameters, though not necessarily the checks of strides. On failure
 * `outs` are unchanged.
 *
 * If several outputs fit, the first signature that fits gives the dtype. If that signature allows any dtype, the first
 * input gives the dtype; in an op without inputs, the SCALAR parameter gives it. A half spectrum of m elements becomes
 * 2 (m - 1) real elements. Packed bytes become as many weights as they can hold.
 *
 * Errors are the same as for the call: INVALID (NULL, an absent operand that is not optional, an
 * extent < 0, ndim out of range, parameters), SHAPE, DTYPE, OVERFLOW, NOT_FOUND; SHAPE and DTYPE
 * also if the inputs do not determine an output, as in ops without inputs: then the output must be given. Any
 * thread; allocates nothing, opens no device.
 */
COLLET_API collet_status collet_ops_infer(const collet_runtime *runtime, uint32_t op,
                                          collet_array_spec *outs, const collet_array_spec *ins,
                                          size_t spec_size, const void *params, collet_error *err);
/* Opens the device ("cuda:1"), or the first device of the backend ("cuda"). OK when the device has
 * a kernel for the op with these `count` dtypes, outputs first; a dtype COLLET_DTYPE_NONE, or one
 * beyond `count`, stands for any (`dtypes` NULL: all). UNSUPPORTED: it has none. NOT_FOUND: no such
 * op; UNKNOWN_BACKEND and UNAVAILABLE as in collet_set_backend; INVALID: also "auto", lists,
 * "host"; DTYPE. */
COLLET_API collet_status collet_backend_has_kernel(const collet_runtime *runtime,
                                                   const char *backend, uint32_t op,
                                                   const collet_dtype *dtypes, uint32_t count,
                                                   collet_error *err);

#ifdef __cplusplus
}
#endif
#endif
