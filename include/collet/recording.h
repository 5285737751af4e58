/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/recording.h - recordings: a list of calls that is made once and replayed by one call.
 *
 *     collet_recording *r;
 *     uint32_t x, w, product, y;
 *     collet_recording_create(context, &r);
 *     collet_recording_input(context, r, &x, COLLET_F32, 2, (int64_t[]){16, 8});
 *     collet_recording_input(context, r, &w, COLLET_F32, 2, (int64_t[]){8, 4});
 *     collet_recording_call(context, r, &product, COLLET_OP_MATMUL, (uint32_t[]){x, w}, NULL, NULL);
 *     collet_recording_call(context, r, &y, COLLET_OP_TANH, &product, NULL, NULL);
 *     collet_recording_complete(context, r, &y, 1);
 *     collet_recording_run(context, r, &result, (const collet_array *[]){activations, weights});
 *
 * A value is an input, a constant, or a result of a step, and has a number, a dtype and a shape. Dtypes and shapes are
 * checked and inferred when a step is added, so a run checks only its inputs. The memory of intermediate values is kept between
 * runs. Values that are not needed at the same time share it.
 *
 * A run has the results of the same calls in the same order. Each step is dispatched as collet_call does, in the context's
 * choice of backend at the time of the run. On an asynchronous device the steps are enqueued one after the other, and the
 * run does not wait.
 *
 * Threads: while nobody adds to a recording, several threads may run it at once, each with its own context. Each run
 * that overlaps another has its own memory for intermediate values.
 */
#ifndef COLLET_RECORDING_H
#define COLLET_RECORDING_H

#include <collet/expression.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct collet_recording collet_recording;

#define COLLET_RECORDING_VALUES 65536 /* inputs, constants and results, at most */
#define COLLET_RECORDING_ABSENT                                                                    \
    0xffffffffu /* in place of a value: an optional operand that is absent */

/* An empty recording of the context's runtime. NO_MEMORY. */
COLLET_API collet_status collet_recording_create(collet_context *context, collet_recording **out);
/* Frees the recording: no run may be using it, or use it later. NULL is allowed. */
COLLET_API void collet_recording_destroy(collet_recording *recording);

/*
 * The following calls add to a recording; *value is the number of the new value. INVALID: NULL, a value that does not
 * exist, more than COLLET_RECORDING_VALUES, a recording that collet_recording_complete has completed, or a context of another
 * runtime. NO_MEMORY. After an error the recording is as before.
 */
/* The next input. Each run passes an array of exactly this dtype and shape, with any strides. */
COLLET_API collet_status collet_recording_input(collet_context *context,
                                                collet_recording *recording, uint32_t *value,
                                                collet_dtype dtype, int32_t ndim,
                                                const int64_t *shape);
/* A constant: the elements of `array`, which is not copied and may be destroyed. Each run reads the elements that the
 * array's storage has at the time of the run. */
COLLET_API collet_status collet_recording_constant(collet_context *context,
                                                   collet_recording *recording, uint32_t *value,
                                                   const collet_array *array);
/* A call of the op. `values` gets the number of each output of the op; `ins` has an entry for each input. `specs`
 * has the outputs' dtypes and shapes as in collet_ops_infer, which also returns the errors; NULL: all are inferred. An
 * output whose ndim is COLLET_ABSENT is left out; its value becomes COLLET_RECORDING_ABSENT. `params` is copied. INVALID: the
 * op `evaluate` (use collet_recording_evaluate). */
COLLET_API collet_status collet_recording_call(collet_context *context, collet_recording *recording,
                                               uint32_t *values, uint32_t op, const uint32_t *ins,
                                               const collet_array_spec *specs, const void *params);
/* An evaluation of the expression. `values` gets the number of each of its outputs; `ins` has a value for each of its
 * inputs, in their order. The expression must exist as long as the recording. Errors of collet_expression_infer too. */
COLLET_API collet_status collet_recording_evaluate(collet_context *context,
                                                   collet_recording *recording, uint32_t *values,
                                                   collet_expression *expression,
                                                   const uint32_t *ins);

COLLET_ENUM(uint32_t){
    COLLET_VIEW_PERMUTE =
        1, /* `numbers`: the input axis of each axis, as in collet_array_permute */
    COLLET_VIEW_RESHAPE = 2,   /* a shape */
    COLLET_VIEW_BROADCAST = 3, /* a shape */
    COLLET_VIEW_SLICE = 4,     /* axis, start, count, step */
    COLLET_VIEW_SELECT = 5,    /* axis, index */
};
/* A view of the value `from`, by the function of collet/array.h that has the name of the view and also returns the
 * errors. INVALID: an unknown `view`, or a `count` that the view does not take. If an input is reshaped, a run returns
 * SHAPE where that needs a copy. */
COLLET_API collet_status collet_recording_view(collet_context *context, collet_recording *recording,
                                               uint32_t *value, uint32_t from, uint32_t view,
                                               const int64_t *numbers, int32_t count);
/* Completes the recording: a run returns these `count` values. INVALID: a value that is not the result of a call or an
 * evaluation (copy an input, a constant or a view by the op `copy`), or that is named twice. */
COLLET_API collet_status collet_recording_complete(collet_context *context,
                                                   collet_recording *recording,
                                                   const uint32_t *values, uint32_t count);

/*
 * Runs the recording: `ins` has an array for each input, in their order. `results` has an entry for each returned value; it is
 * set to a new array, and to NULL if the call fails. Inputs may be views of each other. After the first run of a thread only the
 * results, and views of inputs and results, are allocated.
 *
 * INVALID: the recording is not complete, a NULL, `results` and `ins` are the same list (it stays unchanged), or an
 * array or context of another runtime. SHAPE, DTYPE: an input has another shape or dtype than the recording; the text
 * names it. The errors of each step are the errors of collet_call and collet_expression_evaluate; the text begins with
 * the number of the step. No input and no earlier result is changed by a run that fails.
 */
COLLET_API collet_status collet_recording_run(collet_context *context, collet_recording *recording,
                                              collet_array **results, const collet_array *const *ins);

#ifdef __cplusplus
}
#endif
#endif
