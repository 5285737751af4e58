/* SPDX-License-Identifier: Apache-2.0 */
/* Defects of Fourier transforms, which are computed by their defining sums. */
#include "broken.h"

#include <math.h>

#define PRODUCTS 65536 /* above, the sums take too long */

typedef struct sums {
    const collet_operand *out, *in;
    int32_t axes;
    int64_t n[3], in_extent[3], out_extent[3], in_block, out_block;
    int inverse, from_half;
    int always_forward, in_f32, counts_all; /* the defects */
} sums;

static int is_real(const collet_operand *o)
{
    return o->dtype == COLLET_F32 || o->dtype == COLLET_F64;
}

static int is_wide(const collet_operand *o)
{
    return o->dtype == COLLET_F64 || o->dtype == COLLET_C128;
}

static double part(const collet_operand *o, int64_t i, int imaginary)
{
    const void *at = broken_element(o, i);
    if (imaginary && is_real(o))
        return 0;
    return is_wide(o) ? ((const double *)at)[imaginary] : (double)((const float *)at)[imaginary];
}

static void set_part(const collet_operand *o, int64_t i, int imaginary, double value)
{
    void *at = broken_element(o, i);
    if (is_wide(o))
        ((double *)at)[imaginary] = value;
    else
        ((float *)at)[imaginary] = (float)value;
}

static void one_output(const sums *s, int64_t block, int64_t k)
{
    double re = 0, im = 0, sign = s->inverse && !s->always_forward ? 1 : -1, points = 1;
    for (int32_t a = 0; a < s->axes; a++)
        points *= (double)s->n[a];
    for (int64_t i = 0; i < s->in_block; i++) {
        int64_t rest_in = i, rest_out = k, last = i % s->in_extent[s->axes - 1];
        double turns = 0;
        for (int32_t a = s->axes - 1; a >= 0; a--) {
            int64_t product = rest_in % s->in_extent[a] * (rest_out % s->out_extent[a]);
            turns += (double)(product % s->n[a]) / (double)s->n[a];
            rest_in /= s->in_extent[a];
            rest_out /= s->out_extent[a];
        }
        double c = cos(2 * M_PI * turns), d = sign * sin(2 * M_PI * turns);
        double x = part(s->in, block * s->in_block + i, 0);
        double y = part(s->in, block * s->in_block + i, 1);
        int twice = s->from_half && last > 0 && 2 * last != s->n[s->axes - 1];
        re += (twice ? 2 : 1) * (x * c - y * d);
        re += s->counts_all && last == 0 ? y : 0;
        im += x * d + y * c;
        if (s->in_f32) {
            re = (float)re;
            im = (float)im;
        }
    }
    if (s->inverse && !s->always_forward) {
        re /= points;
        im /= points;
    }
    set_part(s->out, block * s->out_block + k, 0, re);
    if (!s->from_half)
        set_part(s->out, block * s->out_block + k, 1, im);
}

static collet_status transform(const collet_kernel_call *call, sums s)
{
    const collet_fft_params *p = call->params;
    s.out = &call->operands[0];
    s.in = &call->operands[1];
    s.axes = (int32_t)p->last_axes;
    s.inverse = p->inverse != 0;
    s.from_half = is_real(s.out);
    s.in_block = s.out_block = 1;
    for (int32_t a = 0; a < s.axes; a++) {
        s.in_extent[a] = s.in->shape[s.in->ndim - s.axes + a];
        s.out_extent[a] = s.out->shape[s.out->ndim - s.axes + a];
        s.n[a] = is_real(s.in) ? s.in_extent[a] : s.out_extent[a];
        s.in_block *= s.in_extent[a];
        s.out_block *= s.out_extent[a];
    }
    int64_t blocks = s.out_block > 0 ? broken_count(s.out) / s.out_block : 0;
    if (s.in_block * s.out_block * blocks > PRODUCTS || s.in->buffer == s.out->buffer)
        return COLLET_REFUSED;
    for (int64_t b = 0; b < blocks; b++)
        for (int64_t k = 0; k < s.out_block; k++)
            one_output(&s, b, k);
    return COLLET_OK;
}

BROKEN_KERNEL(always_forward)
{
    (void)device, (void)queue;
    return transform(call, (sums){.always_forward = 1});
}

BROKEN_KERNEL(transforms_in_f32)
{
    (void)device, (void)queue;
    return transform(call, (sums){.in_f32 = 1});
}

BROKEN_KERNEL(counts_all_imaginary_parts)
{
    (void)device, (void)queue;
    return transform(call, (sums){.counts_all = 1});
}

/* Correct only for even lengths. */
BROKEN_KERNEL(shifts_back_as_forward)
{
    const collet_fftshift_params *p = call->params;
    const collet_operand *out = &call->operands[0], *in = &call->operands[1];
    int64_t count = broken_count(out);
    (void)device, (void)queue;
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = i, from = 0, scale = 1;
        for (int32_t a = out->ndim - 1; a >= 0; a--) {
            int64_t n = out->shape[a], at = rest % n;
            if (p->axes >> a & 1)
                at = (at + n - n / 2) % n;
            from += at * scale;
            scale *= n;
            rest /= n;
        }
        broken_set(out, i, broken_get(in, from));
    }
    return COLLET_OK;
}
