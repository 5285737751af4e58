/* SPDX-License-Identifier: Apache-2.0 */
/* The fft family: shape rules and the typed calls. */
#include <inttypes.h>

#include "op/op.h"
#include "util/text.h"
#include "runtime/context.h"

static collet_status shape_error(const op *o, const op_shapes *v, const char *why,
                                 collet_error *err)
{
    text_buffer t;
    text_clear(&t);
    text_add(&t, "%s: output 0 is ", o->name);
    text_add_shape(&t, v->operand[0].ndim, v->operand[0].shape);
    text_add(&t, ", input 0 is ");
    text_add_shape(&t, v->operand[1].ndim, v->operand[1].shape);
    text_add(&t, "; %s", why);
    return collet_fail(err, COLLET_SHAPE, "%s", t.bytes);
}

static int is_real(collet_dtype dtype)
{
    return dtype == COLLET_F32 || dtype == COLLET_F64;
}

/* Elements of the half spectrum of n real numbers. */
static int64_t half(int64_t n)
{
    return n > 0 ? n / 2 + 1 : 0;
}

collet_status op_rule_fft(const op *o, op_shapes *views, const void *params,
                          int64_t (*scratch)[2][COLLET_MAX_DIMS], collet_error *err)
{
    const collet_fft_params *p = params;
    const struct op_view *out = &views->operand[0], *in = &views->operand[1];
    int32_t last = in->ndim - 1;
    (void)scratch;
    if (p->axes < 1 || p->axes > 3)
        return collet_fail(err, COLLET_INVALID, "fft: over the last 1, 2 or 3 axes, not %" PRIu32,
                           p->axes);
    if (is_real(in->dtype) && p->inverse)
        return collet_fail(err, COLLET_INVALID, "fft: %s to %s is a forward transform",
                           collet_dtype_name(in->dtype), collet_dtype_name(out->dtype));
    if (is_real(out->dtype) && !p->inverse)
        return collet_fail(err, COLLET_INVALID, "fft: %s to %s is an inverse transform",
                           collet_dtype_name(in->dtype), collet_dtype_name(out->dtype));
    if (in->ndim != out->ndim || (uint32_t)in->ndim < p->axes)
        return shape_error(o, views, "both need the transformed axes, and the same before them",
                           err);
    for (int32_t i = 0; i < last; i++)
        if (out->shape[i] != in->shape[i])
            return shape_error(o, views, "only the last axis may differ", err);
    int64_t from = in->shape[last], to = out->shape[last];
    if (is_real(in->dtype) && to != half(from))
        return shape_error(o, views, "of a real axis n the half spectrum is n / 2 + 1", err);
    if (is_real(out->dtype) && from != half(to))
        return shape_error(o, views, "a real axis n comes from a half spectrum of n / 2 + 1", err);
    if (!is_real(in->dtype) && !is_real(out->dtype) && from != to)
        return shape_error(o, views, "a complex transform keeps the length", err);
    return COLLET_OK;
}

collet_status op_rule_fftshift(const op *o, op_shapes *views, const void *params,
                               int64_t (*scratch)[2][COLLET_MAX_DIMS], collet_error *err)
{
    const collet_fftshift_params *p = params;
    const struct op_view *out = &views->operand[0], *in = &views->operand[1];
    (void)scratch;
    if (p->axes >> in->ndim)
        return collet_fail(err, COLLET_INVALID,
                           "fftshift: axes 0x%" PRIx32 " name more than the %d axes of input 0",
                           p->axes, in->ndim);
    if (in->ndim != out->ndim)
        return shape_error(o, views, "the shapes must be the same", err);
    for (int32_t i = 0; i < in->ndim; i++)
        if (out->shape[i] != in->shape[i])
            return shape_error(o, views, "the shapes must be the same", err);
    return COLLET_OK;
}

/* ---- Typed calls ------------------------------------------------------------------------- */

collet_status collet_fft(collet_context *context, collet_array *out, const collet_array *a,
                         int32_t axes, int32_t inverse)
{
    collet_fft_params params = {
        .struct_size = sizeof params, .axes = (uint32_t)axes, .inverse = inverse != 0};
    if (axes < 1 || axes > 3)
        return context_fail(context, COLLET_INVALID, "fft: over the last 1, 2 or 3 axes, not %d",
                            axes);
    return collet_call(context, COLLET_OP_FFT, &out, &a, &params);
}

collet_status collet_fftshift(collet_context *context, collet_array *out, const collet_array *a,
                              const int32_t *axes, int32_t count, int32_t inverse)
{
    collet_fftshift_params params = {.struct_size = sizeof params, .inverse = inverse != 0};
    int32_t ndim = a ? collet_array_ndim(a) : 0;
    if (count < 0 || (count && !axes))
        return context_fail(context, COLLET_INVALID, "fftshift: %d axes at %s", count,
                            axes ? "an address" : "no address");
    if (!axes)
        params.axes = (1u << ndim) - 1;
    for (int32_t i = 0; a && i < count; i++) {
        int32_t axis = axes[i] < 0 ? axes[i] + ndim : axes[i];
        if (axis < 0 || axis >= ndim || params.axes >> axis & 1)
            return context_fail(
                context, COLLET_INVALID,
                "fftshift: axis %d is not one of the %d axes of the array, or named twice", axes[i],
                ndim);
        params.axes |= 1u << axis;
    }
    return collet_call(context, COLLET_OP_FFTSHIFT, &out, &a, &params);
}
