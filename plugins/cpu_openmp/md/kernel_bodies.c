/* SPDX-License-Identifier: Apache-2.0 */
/* Sums bodies of few atoms, one body in each lane. Atom j of every body is gathered, then atom j + 1. A body with
 * fewer atoms than others adds zeros, so that its sums do not depend on its neighbours.
 * Tests: conformance/md/md.c */
#include "kernel_lanes.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

typedef int64_t indices __attribute__((vector_size(8 * W)));

_Static_assert(sizeof(body_sums) == sizeof(frame_sums), "the same layout");
_Static_assert(W <= FRAME_BODIES, "a lane for each body");

/* Loads the numbers at these addresses. */
INLINE lanes gather(int wide, indices at)
{
#if defined(__AVX512F__)
    return wide ? (lanes)_mm512_i64gather_pd((__m512i)at, NULL, 1)
                : (lanes)_mm512_cvtps_pd(_mm512_i64gather_ps((__m512i)at, NULL, 1));
#else
    lanes v;
    for (int i = 0; i < W; i++)
        v[i] = wide ? *(const double *)(uintptr_t)at[i] : (double)*(const float *)(uintptr_t)at[i];
    return v;
#endif
}

INLINE indices addresses(const frame_field *field)
{
    indices at;
    for (int i = 0; i < W; i++)
        at[i] = (int64_t)(uintptr_t)field->at[i];
    return at;
}

INLINE triple gather_atoms(int wide, const frame_field *field, indices at)
{
    return (triple){gather(wide, at), gather(wide, at + field->step),
                    gather(wide, at + 2 * field->step)};
}

/* Returns v, with 0 in the lanes where `valid` is 0. */
INLINE lanes only(lanes v, indices valid)
{
    return (lanes)((indices)v & valid);
}

INLINE triple only_atoms(triple t, indices valid)
{
    return (triple){only(t.x, valid), only(t.y, valid), only(t.z, valid)};
}

/* x - x is NaN for infinities. */
INLINE indices is_finite(lanes x)
{
    return (indices)((x - x) == (x - x));
}

INLINE lanes finite_or_0(lanes x)
{
    return only(x, is_finite(x));
}

INLINE void add_moments(accumulators *s, lanes m, triple d, triple md)
{
    s->mass += m;
    s->first[0] += md.x;
    s->first[1] += md.y;
    s->first[2] += md.z;
    s->second[0] += md.x * d.x;
    s->second[1] += md.y * d.y;
    s->second[2] += md.z * d.z;
    s->second[3] += md.x * d.y;
    s->second[4] += md.x * d.z;
    s->second[5] += md.y * d.z;
}

INLINE void add_motion(accumulators *s, lanes m, triple md, triple v)
{
    lanes x = m * v.x, y = m * v.y, z = m * v.z;
    s->momentum[0] += x;
    s->momentum[1] += y;
    s->momentum[2] += z;
    s->vis_viva += x * v.x;
    s->vis_viva += y * v.y;
    s->vis_viva += z * v.z;
    add_cross(s->angular, md, v);
}

INLINE void add_forces(accumulators *s, triple d, triple f)
{
    s->force[0] += f.x;
    s->force[1] += f.y;
    s->force[2] += f.z;
    add_cross(s->torque, d, f);
}

/* ---- To the centre --------------------------------------------------------------------------- */

INLINE lanes magnitude(lanes x)
{
    return (lanes)((indices)x & INT64_MAX);
}

/* NaN where `bad`. */
INLINE lanes nan_where(indices bad, lanes x)
{
    const indices nan = (indices){0} + INT64_C(0x7ff8000000000000);
    return (lanes)(((indices)x & ~bad) | (nan & bad));
}

INLINE void subtract_cross(const lanes a[3], const lanes b[3], lanes from[3])
{
    from[0] -= a[1] * b[2] - a[2] * b[1];
    from[1] -= a[2] * b[0] - a[0] * b[2];
    from[2] -= a[0] * b[1] - a[1] * b[0];
}

/* Moves the sums from the origins to the centres of mass, which replace `first`. Returns a mask of the bodies
 * whose origin is too far from the centre. */
INLINE indices centre(accumulators *s, triple o, int with_v, int with_f)
{
    const lanes *p = s->first, per_mass = 1.0 / s->mass;
    const indices without_mass = (indices)(s->mass == 0.0);
    lanes moved = (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) * per_mass;
    lanes extent = (s->second[0] + s->second[1] + s->second[2]) - moved;
    indices far = (indices)(magnitude(moved) > FRAME_FAR * magnitude(extent)) & is_finite(moved) &
                  ~without_mass;
    lanes shift[3], com[3];
    for (int i = 0; i < 3; i++) {
        shift[i] = nan_where(without_mass, p[i] * per_mass);
        com[i] = (i == 0 ? o.x : i == 1 ? o.y : o.z) + shift[i];
        /* If the centre is infinite, all sums become NaN, because infinities could cancel to a finite number. */
        shift[i] = nan_where(~is_finite(shift[i]), shift[i]);
        s->second[i] -= p[i] * shift[i];
    }
    s->second[3] -= p[0] * shift[1];
    s->second[4] -= p[0] * shift[2];
    s->second[5] -= p[1] * shift[2];
    if (with_v)
        subtract_cross(shift, s->momentum, s->angular);
    if (with_f)
        subtract_cross(shift, s->force, s->torque);
    for (int i = 0; i < 3; i++)
        s->first[i] = com[i];
    return far;
}

/* ---- Energies -------------------------------------------------------------------------------- */

INLINE lanes either(indices condition, lanes yes, lanes no)
{
    return (lanes)(((indices)yes & condition) | ((indices)no & ~condition));
}

/* Computes L.I^-1 L by elimination. The result is negative if the tensor is singular or nearly singular, because
 * elimination would lose digits. */
INLINE lanes twice_rotational(const lanes second[6], const lanes L[3])
{
    const lanes xx = second[1] + second[2], yy = second[0] + second[2], zz = second[0] + second[1];
    const lanes xy = -second[3], xz = -second[4], yz = -second[5];
    lanes largest = either((indices)(xx > yy), xx, yy);
    largest = either((indices)(largest > zz), largest, zz);
    const lanes limit = FRAME_WELL_CONDITIONED * largest;
    const lanes r0 = 1.0 / xx, m1 = xy * r0, m2 = xz * r0;
    const lanes d1 = yy - m1 * xy, r1 = 1.0 / d1, e = yz - m2 * xy, m3 = e * r1;
    const lanes d2 = zz - m2 * xz - m3 * e;
    const lanes y1 = L[1] - m1 * L[0], y2 = L[2] - m2 * L[0] - m3 * y1;
    const lanes product = L[0] * (L[0] * r0) + y1 * (y1 * r1) + y2 * (y2 / d2);
    const indices good =
        (indices)(xx > limit) & (indices)(d1 > limit) & (indices)(d2 > limit) & is_finite(product);
    return either(good, product, (lanes){0} - 1.0);
}

/* Call it after `centre`. The energies replace `force`. */
INLINE void set_energies(accumulators *s)
{
    const lanes *p = s->momentum;
    const lanes twice = twice_rotational(s->second, s->angular);
    s->force[0] = 0.5 * s->vis_viva;
    s->force[1] = 0.5 * ((p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) / s->mass);
    s->force[2] = 0.5 * either((indices)(s->mass == 0.0), (lanes){0} - 1.0, twice);
}

/* ---- From lanes to bodies -------------------------------------------------------------------- */

/* to[i] = number i of each lane's body; `stride` doubles from body to body. */
INLINE void transpose(const lanes *from, double *to, int64_t stride)
{
    lanes column[W];
#if W == 8
    for (int i = 0; i < 2; i++) {
        lanes a = EVEN(from[0], from[1]), b = EVEN(from[2], from[3]);
        lanes c = EVEN(from[4], from[5]), d = EVEN(from[6], from[7]);
        if (i) {
            a = ODD(from[0], from[1]), b = ODD(from[2], from[3]);
            c = ODD(from[4], from[5]), d = ODD(from[6], from[7]);
        }
        lanes ab = EVEN_PAIRS(a, b), cd = EVEN_PAIRS(c, d);
        column[i] = LOW(ab, cd);
        column[4 + i] = HIGH(ab, cd);
        ab = ODD_PAIRS(a, b), cd = ODD_PAIRS(c, d);
        column[2 + i] = LOW(ab, cd);
        column[6 + i] = HIGH(ab, cd);
    }
#elif W == 4
    lanes a = EVEN(from[0], from[1]), b = EVEN(from[2], from[3]);
    column[0] = LOW(a, b);
    column[2] = HIGH(a, b);
    a = ODD(from[0], from[1]), b = ODD(from[2], from[3]);
    column[1] = LOW(a, b);
    column[3] = HIGH(a, b);
#else
    column[0] = EVEN(from[0], from[1]);
    column[1] = ODD(from[0], from[1]);
#endif
    for (int i = 0; i < W; i++)
        *(lanes_at_any *)(void *)(to + i * stride) = column[i];
}

/* ---- The sums -------------------------------------------------------------------------------- */

INLINE uint32_t sum_of(int wide, int with_v, int with_f, const frame_bodies *b, body_sums *sums)
{
    const indices at_r = addresses(&b->r), at_m = addresses(&b->m), none = {0};
    const indices at_v = with_v ? addresses(&b->v) : none, at_f = with_f ? addresses(&b->f) : none;
    triple o = gather_atoms(wide, &b->r, at_r), v = {0}, f = {0};
    accumulators s = {0};
    indices atoms;
    int64_t most = 0;
    for (int i = 0; i < W; i++) {
        atoms[i] = b->atoms[i];
        most = b->atoms[i] > most ? b->atoms[i] : most;
    }
    o = (triple){finite_or_0(o.x), finite_or_0(o.y), finite_or_0(o.z)};
    for (int64_t j = 0; j < most; j++) {
        /* Bodies with fewer than j + 1 atoms read their first atom again; this atom is not counted. */
        indices valid = (indices)(atoms > j);
        triple r = gather_atoms(wide, &b->r, at_r + (valid & (j * b->r.atom_step)));
        lanes m = gather(b->wide_masses, at_m + (valid & (j * b->m.atom_step)));
        triple d = only_atoms((triple){r.x - o.x, r.y - o.y, r.z - o.z}, valid);
        m = only(m, valid);
        triple md = {m * d.x, m * d.y, m * d.z};
        add_moments(&s, m, d, md);
        if (with_v) {
            v = only_atoms(gather_atoms(wide, &b->v, at_v + (valid & (j * b->v.atom_step))), valid);
            add_motion(&s, m, md, v);
        }
        if (with_f) {
            f = only_atoms(gather_atoms(wide, &b->f, at_f + (valid & (j * b->f.atom_step))), valid);
            add_forces(&s, d, f);
        }
    }
    const indices far = centre(&s, o, with_v, with_f);
    if (with_v)
        set_energies(&s);
    const int count = with_f ? 24 : with_v ? 20 : 10, stride = sizeof *sums / sizeof(double);
    for (int i = 0; i < count; i += W)
        transpose((const lanes *)&s + i, (double *)sums + i, stride);
    uint32_t bits = 0;
    for (int i = 0; i < W; i++)
        bits |= (uint32_t)(far[i] & 1) << i;
    return bits;
}

INLINE uint32_t sum_wide(int wide, int pass, const frame_bodies *b, body_sums *sums)
{
    return pass == FRAME_ALL          ? sum_of(wide, 1, 1, b, sums)
           : pass == FRAME_FORCES     ? sum_of(wide, 0, 1, b, sums)
           : pass == FRAME_VELOCITIES ? sum_of(wide, 1, 0, b, sums)
                                      : sum_of(wide, 0, 0, b, sums);
}

static uint32_t sum(int pass, const frame_bodies *bodies, body_sums *sums)
{
    return bodies->wide ? sum_wide(1, pass, bodies, sums) : sum_wide(0, pass, bodies, sums);
}

extern const body_kernels LEVEL_NAME(body);
const body_kernels LEVEL_NAME(body) = {.lanes = W, .sum = sum};
