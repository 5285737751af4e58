/* SPDX-License-Identifier: Apache-2.0 */
/* frame - the state of one call, from its checks to its kernel. */
#pragma once

#include "context/context.h"
#include "memory/access.h"
#include "memory/array.h"
#include "op/op.h"
#include "op/program.h"
#include "util/text.h"

/* The state of one call, on the caller's stack, so that a call does not allocate. */
typedef struct frame {
    collet_context *cx;
    collet_error *error; /* the context's error for this thread */
    const op *op;
    uint32_t count;
    uint64_t sig, mask;
    const collet_array *arrays[COLLET_MAX_OPERANDS]; /* outputs first */
    collet_array *temporaries[COLLET_MAX_OPERANDS];
    const collet_array *originals[COLLET_MAX_OPERANDS]; /* arrays that temporaries replace */
    uint32_t temporary_count, temporaries_filled;
    op_shapes views;
    collet_operand operands[COLLET_MAX_OPERANDS];
    origins from;     /* origins of the bytes that the call writes */
    collet_error err; /* error of one device; the context's error is set only if the call fails */
    const void *params;
    int empty; /* no output has an element */
    _Alignas(16) unsigned char params_copy[OP_PARAMS_MAX];
    op_scratch scratch[COLLET_MAX_OPERANDS];
} frame;

/* Checks a call and fills *f; overlapping inputs get temporaries, which are not filled yet. Errors of
 * collet_call for wrong arguments. frame_end follows, also after a failure. */
collet_status frame_begin(frame *f, collet_context *cx, uint32_t id, collet_array *const *outs,
                          const collet_array *const *ins, const void *params);
void frame_end(frame *f);

/* Fills *call and asks the row whether it accepts the call; sets call->workspace_bytes. The reason of a refusal
 * is in f->err. */
collet_status frame_accept(frame *f, device *d, const collet_kernel_row *row,
                           collet_kernel_call *call);

/* Kernels may return only four statuses; after any other status the outputs are undefined. */
collet_status frame_kernel_status(frame *f, device *d, collet_status status);

/* Add one operand, or all operands, to a text such as "f32 4 x 4 <- f32 4 x 4, absent". */
void frame_operand_text(text_buffer *t, const op *o, uint32_t i, const collet_array *a);
void frame_operands_text(text_buffer *t, const frame *f);
