/* SPDX-License-Identifier: Apache-2.0 */
/* Defects that change values: they return the replacement of element i of a correct result x. */
#include "broken.h"

#include <math.h>

#include "shared/host/ternary/formats.h"
#include "shared/host/util/rows.h"

#define PI 3.14159265358979323846

/* ---- Elements ---------------------------------------------------------------------------- */

void *broken_element(const collet_operand *o, int64_t i)
{
    char *element = cpu_at(o);
    for (int32_t a = o->ndim - 1; a >= 0; a--) {
        element += i % o->shape[a] * cpu_step(o, a);
        i /= o->shape[a];
    }
    return element;
}

double broken_get(const collet_operand *o, int64_t i)
{
    double x;
    cpu_convert((char *)&x, COLLET_F64, 0, broken_element(o, i), o->dtype, 0, 1);
    return x;
}

void broken_set(const collet_operand *o, int64_t i, double value)
{
    cpu_convert(broken_element(o, i), o->dtype, 0, (const char *)&value, COLLET_F64, 0, 1);
}

/* ---- Defects of several kernels ---------------------------------------------------------- */

BROKEN_VALUE(ignores_nan)
{
    return isnan(x) ? 0 : x;
}

BROKEN_VALUE(sets_no_info)
{
    return 0;
}

BROKEN_VALUE(loses_the_sign_of_zero)
{
    return x == 0 ? 0 : x;
}

BROKEN_VALUE(wrong_at_one_size)
{
    return i == 32 && operand_count(&m->o[0]) == 33 ? 0 : x;
}

/* ---- array ------------------------------------------------------------------------------- */

BROKEN_VALUE(two_ulp_off)
{
    return x > 1 && isfinite(x) ? nextafterf(nextafterf((float)x, 0), 0) : x;
}

BROKEN_VALUE(truncates)
{
    return fabs(x) > fabs(broken_get(&m->o[1], i)) ? nextafterf((float)x, 0) : x;
}

BROKEN_VALUE(wraps_integers)
{
    return *(uint8_t *)broken_element(&m->o[1], i);
}

BROKEN_VALUE(logarithm_of_denormals)
{
    double of = broken_get(&m->o[1], i);
    return of > 0 && of < 0x1p-126 ? -INFINITY : x;
}

/* The error grows with the number of terms, like the error of a sum in f32. */
BROKEN_VALUE(adds_in_f32)
{
    int64_t terms = operand_count(&m->o[1]) / operand_count(&m->o[0]);
    return x * (1 + (double)terms * 0x1p-27);
}

/* Adds the imaginary part of the first input number. The correct result is real and does not depend on it. */
BROKEN_VALUE(counts_all_imaginary_parts)
{
    return i ? x : x + ((double *)broken_element(&m->o[1], 0))[1];
}

/* ---- linalg ------------------------------------------------------------------------------ */

BROKEN_VALUE(forgets_its_rows)
{
    return (double)(i % operand_extent(&m->o[0], 0));
}

/* In systems of more than twenty unknowns the fourth digit of the first unknown is wrong. */
BROKEN_VALUE(loses_a_digit)
{
    return i == 0 && operand_extent(&m->o[0], 1) > 20 ? x * 1.001 : x;
}

/* ---- md ---------------------------------------------------------------------------------- */

/* Adds the rounding errors of a tensor that is computed about the origin and then shifted. */
BROKEN_VALUE(inertia_by_difference)
{
    double mass = 0, far = 0;
    for (int64_t k = 0; k < operand_count(&m->o[2]); k++)
        mass += broken_get(&m->o[2], k);
    for (int64_t k = 0; k < 3; k++)
        far += pow(broken_get(&m->o[3], i / 9 * 3 + k), 2);
    return x + 0x1p-52 * mass * far;
}

BROKEN_VALUE(other_psi)
{
    return i % 3 == 2 ? PI - x : x;
}

BROKEN_VALUE(tilt_by_arc_cosine)
{
    return 90 - acos(cos((90 - x) * PI / 180)) * 180 / PI;
}

BROKEN_VALUE(divides_by_zero_axes)
{
    const collet_operand *axes = &m->o[3];
    double squares = 0;
    for (int64_t k = 0; k < 3; k++)
        squares += pow(broken_get(axes, axes->ndim == 1 ? k : i / 3 * 3 + k), 2);
    return squares == 0 ? NAN : x;
}

BROKEN_VALUE(squares_overflow)
{
    return x > 0x1p512 ? INFINITY : x;
}

BROKEN_VALUE(one_sided_everywhere)
{
    const collet_operand *of = &m->o[2], *t = &m->o[3];
    int64_t frames = operand_count(t), width = operand_count(of) / frames, f = i / width;
    if (f == 0 || f == frames - 1)
        return x;
    return (broken_get(of, i) - broken_get(of, i - width)) /
           (broken_get(t, f) - broken_get(t, f - 1));
}

/* Returns a reflection instead of a rotation. */
BROKEN_VALUE(reflects)
{
    return -x;
}

/* ---- ternary ----------------------------------------------------------------------------- */

BROKEN_VALUE(takes_the_threshold_in)
{
    const collet_ternary_quantize_params *p = &m->params.quantize;
    return p->mode != COLLET_TERNARY_ABSMEAN && broken_get(&m->o[3], i) == (double)p->threshold ? 1
                                                                                                : x;
}

/* The code 3 of t2 becomes 2. */
BROKEN_VALUE(keeps_invalid_codes)
{
    int64_t count = operand_extent(&m->o[0], 0), k = i % count, in = k % CPU_T2_WEIGHTS;
    if (m->params.format.format != COLLET_TERNARY_T2)
        return x;
    const uint8_t *row = broken_element(&m->o[3], i / count * operand_extent(&m->o[3], 0));
    return (row[k / CPU_T2_WEIGHTS * CPU_T2_BYTES + in % 64] >> (in / 64 * 2) & 3) == 3 ? 2 : x;
}

/* Changes the result as 32 lanes of 8-bit accumulators would if they overflowed, for products that are
 * all 1. */
BROKEN_VALUE(adds_in_8_bits)
{
    return x > 32 * 127 ? x - 256 * (x - 32 * 127) : x;
}

BROKEN_VALUE(adds_in_16_bits)
{
    return (int16_t)(int64_t)x;
}

BROKEN_VALUE(rectifies_nan)
{
    return m->params.linear.relu && isnan(x) ? 0 : x;
}
