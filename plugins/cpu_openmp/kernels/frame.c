/* SPDX-License-Identifier: Apache-2.0 */
#include "frame.h"

#include <string.h>

#include "level.h"

#if defined(__AVX__)
#include <immintrin.h>
#endif

#define W LANES_F64

typedef double lanes __attribute__((vector_size(8 * W)));
typedef double lanes_at_any __attribute__((vector_size(8 * W), aligned(8), may_alias));
typedef float half_lanes __attribute__((vector_size(4 * W)));
typedef float half_lanes_at_any __attribute__((vector_size(4 * W), aligned(4), may_alias));

/* Three coordinates of W atoms. */
typedef struct triple {
    lanes x, y, z;
} triple;

/*
 * x0 y0 z0 x1 y1 z1 ... in three vectors: since 3 and W share no divisor, the x fill different
 * lanes of the three, and so do the y and the z; blending them gives the atoms in the order 3 j mod
 * W, with y turned by one lane and z by two.
 */
#if W == 8
static const uint8_t order[W] = {0, 3, 6, 1, 4, 7, 2, 5};
#define BLEND_X(a, b, c)                                                                           \
    __builtin_shufflevector(__builtin_shufflevector(a, b, 0, 9, 2, 3, 12, 5, 6, 15), c, 0, 1, 10,  \
                            3, 4, 13, 6, 7)
#define BLEND_Y(a, b, c)                                                                           \
    __builtin_shufflevector(__builtin_shufflevector(a, b, 0, 1, 10, 3, 4, 13, 6, 7), c, 8, 1, 2,   \
                            11, 4, 5, 14, 7)
#define BLEND_Z(a, b, c)                                                                           \
    __builtin_shufflevector(__builtin_shufflevector(a, b, 8, 1, 2, 11, 4, 5, 14, 7), c, 0, 9, 2,   \
                            3, 12, 5, 6, 15)
#define TURN_1(a) __builtin_shufflevector(a, a, 1, 2, 3, 4, 5, 6, 7, 0)
#define TURN_2(a) __builtin_shufflevector(a, a, 2, 3, 4, 5, 6, 7, 0, 1)
#elif W == 4
static const uint8_t order[W] = {0, 3, 2, 1};
#define BLEND_X(a, b, c)                                                                           \
    __builtin_shufflevector(__builtin_shufflevector(a, b, 0, 1, 6, 3), c, 0, 5, 2, 3)
#define BLEND_Y(a, b, c)                                                                           \
    __builtin_shufflevector(__builtin_shufflevector(a, b, 4, 1, 2, 7), c, 0, 1, 6, 3)
#define BLEND_Z(a, b, c)                                                                           \
    __builtin_shufflevector(__builtin_shufflevector(a, b, 0, 5, 2, 3), c, 4, 1, 2, 7)
#define TURN_1(a) __builtin_shufflevector(a, a, 1, 2, 3, 0)
#define TURN_2(a) __builtin_shufflevector(a, a, 2, 3, 0, 1)
#else
static const uint8_t order[W] = {0, 1};
#define BLEND_X(a, b, c) __builtin_shufflevector(a, b, 0, 3)
#define BLEND_Y(a, b, c) __builtin_shufflevector(a, c, 2, 1)
#define BLEND_Z(a, b, c) __builtin_shufflevector(b, c, 0, 3)
#define TURN_1(a) __builtin_shufflevector(a, a, 1, 0)
#define TURN_2(a) (a)
#endif

INLINE lanes widen(half_lanes v)
{
    /* gcc 12 makes two conversions and an insertion of the generic one. */
#if defined(__AVX512F__)
    return (lanes)_mm512_cvtps_pd((__m256)v);
#elif defined(__AVX__)
    return (lanes)_mm256_cvtps_pd((__m128)v);
#else
    return __builtin_convertvector(v, lanes);
#endif
}

INLINE triple load_f32(const void *atoms)
{
    const half_lanes_at_any *p = atoms;
    half_lanes a = p[0], b = p[1], c = p[2];
    half_lanes x = BLEND_X(a, b, c), y = BLEND_Y(a, b, c), z = BLEND_Z(a, b, c);
    y = TURN_1(y);
    z = TURN_2(z);
    return (triple){widen(x), widen(y), widen(z)};
}

INLINE triple load_f64(const void *atoms)
{
    const lanes_at_any *p = atoms;
    lanes a = p[0], b = p[1], c = p[2];
    lanes y = BLEND_Y(a, b, c), z = BLEND_Z(a, b, c);
    return (triple){BLEND_X(a, b, c), TURN_1(y), TURN_2(z)};
}

INLINE triple load(int wide, const void *atoms)
{
    return wide ? load_f64(atoms) : load_f32(atoms);
}

INLINE double total(lanes v)
{
    double sum = v[0];
    for (int i = 1; i < W; i++)
        sum += v[i];
    return sum;
}

/* ---- Sums of a frame ------------------------------------------------------------------------- */

/* Which members of frame_sums a pass fills. */
#define FIRST 1
#define SECOND 2
#define LINEAR 4
#define ANGULAR 8
#define TORQUE 16

typedef struct accumulators {
    lanes first[3], second[6], momentum[3], vis_viva, angular[3], force[3], torque[3];
} accumulators;

INLINE void add_cross(lanes sum[3], triple a, triple b)
{
    sum[0] += a.y * b.z;
    sum[1] += a.z * b.x;
    sum[2] += a.x * b.y;
    sum[0] -= a.z * b.y;
    sum[1] -= a.x * b.z;
    sum[2] -= a.y * b.x;
}

INLINE void add_atoms(int what, accumulators *s, lanes m, triple d, triple v, triple f)
{
    triple md = {m * d.x, m * d.y, m * d.z};
    if (what & FIRST) {
        s->first[0] += md.x;
        s->first[1] += md.y;
        s->first[2] += md.z;
    }
    if (what & SECOND) {
        s->second[0] += md.x * d.x;
        s->second[1] += md.y * d.y;
        s->second[2] += md.z * d.z;
        s->second[3] += md.x * d.y;
        s->second[4] += md.x * d.z;
        s->second[5] += md.y * d.z;
    }
    if (what & ANGULAR)
        add_cross(s->angular, md, v);
    if (what & LINEAR) {
        triple mv = {m * v.x, m * v.y, m * v.z};
        s->momentum[0] += mv.x;
        s->momentum[1] += mv.y;
        s->momentum[2] += mv.z;
        s->vis_viva += mv.x * v.x;
        s->vis_viva += mv.y * v.y;
        s->vis_viva += mv.z * v.z;
    }
    if (what & TORQUE) {
        s->force[0] += f.x;
        s->force[1] += f.y;
        s->force[2] += f.z;
        add_cross(s->torque, d, f);
    }
}

/* The last n < W atoms, and `fill` for the missing ones. */
INLINE triple load_rest(int wide, const void *atoms, int64_t n, const double fill[3])
{
    double padded[3 * W];
    for (int64_t i = 0; i < 3 * W; i++) {
        if (i >= 3 * n)
            padded[i] = fill[i % 3];
        else
            padded[i] = wide ? ((const double *)atoms)[i] : (double)((const float *)atoms)[i];
    }
    return load_f64(padded);
}

INLINE const void *atom_at(int wide, const void *atoms, int64_t i)
{
    return (const char *)atoms + i * (wide ? 24 : 12);
}

INLINE triple relative(triple r, const triple *origin)
{
    return (triple){r.x - origin->x, r.y - origin->y, r.z - origin->z};
}

INLINE triple spread(const double v[3])
{
    lanes zero = {0};
    return (triple){zero + v[0], zero + v[1], zero + v[2]};
}

INLINE void totals(const lanes *from, double *to, int count)
{
    for (int i = 0; i < count; i++)
        to[i] = total(from[i]);
}

INLINE void pass(int wide, int what, const frame_view *view, frame_sums *sums)
{
    static const double nothing[3] = {0.0, 0.0, 0.0};
    const triple origin = spread(view->origin), zero = spread(nothing);
    accumulators s = {0};
    int64_t i = 0;
    for (; i + W <= view->atoms; i += W) {
        triple d = relative(load(wide, atom_at(wide, view->positions, i)), &origin);
        triple v = zero, f = zero;
        if (what & (LINEAR | ANGULAR))
            v = load(wide, atom_at(wide, view->velocities, i));
        if (what & TORQUE)
            f = load(wide, atom_at(wide, view->forces, i));
        add_atoms(what, &s, *(const lanes_at_any *)(view->masses + i), d, v, f);
    }
    int64_t rest = view->atoms - i;
    if (rest > 0) {
        triple r = load_rest(wide, atom_at(wide, view->positions, i), rest, view->origin);
        triple v = zero, f = zero;
        if (what & (LINEAR | ANGULAR))
            v = load_rest(wide, atom_at(wide, view->velocities, i), rest, nothing);
        if (what & TORQUE)
            f = load_rest(wide, atom_at(wide, view->forces, i), rest, nothing);
        add_atoms(what, &s, *(const lanes_at_any *)(view->masses + i), relative(r, &origin), v, f);
    }
    totals(s.first, sums->first, 3);
    totals(s.second, sums->second, 6);
    totals(s.momentum, sums->momentum, 3);
    totals(&s.vis_viva, &sums->vis_viva, 1);
    totals(s.angular, sums->angular, 3);
    totals(s.force, sums->force, 3);
    totals(s.torque, sums->torque, 3);
}

static void first_f32(const frame_view *view, frame_sums *sums)
{
    pass(0, FIRST, view, sums);
}

static void first_f64(const frame_view *view, frame_sums *sums)
{
    pass(1, FIRST, view, sums);
}

static void second_f32(const frame_view *view, frame_sums *sums)
{
    pass(0, FIRST | SECOND, view, sums);
}

static void second_f64(const frame_view *view, frame_sums *sums)
{
    pass(1, FIRST | SECOND, view, sums);
}

static void angular_f32(const frame_view *view, frame_sums *sums)
{
    pass(0, ANGULAR, view, sums);
}

static void angular_f64(const frame_view *view, frame_sums *sums)
{
    pass(1, ANGULAR, view, sums);
}

static void velocities_f32(const frame_view *view, frame_sums *sums)
{
    pass(0, FIRST | SECOND | LINEAR | ANGULAR, view, sums);
}

static void velocities_f64(const frame_view *view, frame_sums *sums)
{
    pass(1, FIRST | SECOND | LINEAR | ANGULAR, view, sums);
}

static void forces_f32(const frame_view *view, frame_sums *sums)
{
    pass(0, FIRST | SECOND | TORQUE, view, sums);
}

static void forces_f64(const frame_view *view, frame_sums *sums)
{
    pass(1, FIRST | SECOND | TORQUE, view, sums);
}

static void all_f32(const frame_view *view, frame_sums *sums)
{
    pass(0, FIRST | SECOND | LINEAR | ANGULAR | TORQUE, view, sums);
}

static void all_f64(const frame_view *view, frame_sums *sums)
{
    pass(1, FIRST | SECOND | LINEAR | ANGULAR | TORQUE, view, sums);
}

/* ---- A frame against a reference ------------------------------------------------------------- */

INLINE triple reference_at(const double *reference, int64_t stride, int64_t i)
{
    return (triple){*(const lanes_at_any *)(reference + i),
                    *(const lanes_at_any *)(reference + stride + i),
                    *(const lanes_at_any *)(reference + 2 * stride + i)};
}

/* Atoms i .. i + W - 1 relative to the origin; those beyond the last are at the origin. */
INLINE triple relative_at(int wide, const frame_view *view, const triple *origin, int64_t i)
{
    const void *atoms = atom_at(wide, view->positions, i);
    int64_t left = view->atoms - i;
    triple r = left >= W ? load(wide, atoms) : load_rest(wide, atoms, left, view->origin);
    return relative(r, origin);
}

INLINE void overlap(int wide, const frame_view *view, const double *reference, int64_t stride,
                    overlap_sums *sums)
{
    const triple origin = spread(view->origin);
    lanes first[3] = {{0}}, covariance[9] = {{0}};
    for (int64_t i = 0; i < view->atoms; i += W) {
        triple d = relative_at(wide, view, &origin, i);
        triple ref = reference_at(reference, stride, i);
        lanes m = *(const lanes_at_any *)(view->masses + i);
        lanes md[3] = {m * d.x, m * d.y, m * d.z};
        for (int k = 0; k < 3; k++) {
            first[k] += md[k];
            covariance[3 * k] += md[k] * ref.x;
            covariance[3 * k + 1] += md[k] * ref.y;
            covariance[3 * k + 2] += md[k] * ref.z;
        }
    }
    totals(first, sums->first, 3);
    totals(covariance, sums->covariance, 9);
}

INLINE double deviation(int wide, const frame_view *view, const double *reference, int64_t stride,
                        const double rotation[9], const double shift[3])
{
    const triple origin = spread(view->origin), away = spread(shift);
    const triple rx = spread(rotation), ry = spread(rotation + 3), rz = spread(rotation + 6);
    lanes sum = {0};
    for (int64_t i = 0; i < view->atoms; i += W) {
        triple d = relative_at(wide, view, &origin, i);
        triple ref = reference_at(reference, stride, i);
        lanes m = *(const lanes_at_any *)(view->masses + i);
        lanes x = rx.x * d.x + rx.y * d.y + rx.z * d.z - ref.x - away.x;
        lanes y = ry.x * d.x + ry.y * d.y + ry.z * d.z - ref.y - away.y;
        lanes z = rz.x * d.x + rz.y * d.y + rz.z * d.z - ref.z - away.z;
        sum += m * (x * x + y * y + z * z);
    }
    return total(sum);
}

static void overlap_f32(const frame_view *view, const double *reference, int64_t stride,
                        overlap_sums *sums)
{
    overlap(0, view, reference, stride, sums);
}

static void overlap_f64(const frame_view *view, const double *reference, int64_t stride,
                        overlap_sums *sums)
{
    overlap(1, view, reference, stride, sums);
}

static double deviation_f32(const frame_view *view, const double *reference, int64_t stride,
                            const double rotation[9], const double shift[3])
{
    return deviation(0, view, reference, stride, rotation, shift);
}

static double deviation_f64(const frame_view *view, const double *reference, int64_t stride,
                            const double rotation[9], const double shift[3])
{
    return deviation(1, view, reference, stride, rotation, shift);
}

extern const frame_kernels LEVEL_NAME(frame);
const frame_kernels LEVEL_NAME(frame) = {
    .lanes = W,
    .order = order,
    .pass = {{first_f32, second_f32, angular_f32, velocities_f32, forces_f32, all_f32},
             {first_f64, second_f64, angular_f64, velocities_f64, forces_f64, all_f64}},
    .overlap = {overlap_f32, overlap_f64},
    .deviation = {deviation_f32, deviation_f64},
};
