/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/md/md.c, tests/cpu_openmp/test_kernels_openmp.c */
#include "kernel_lanes.h"

#if defined(__AVX__)
#include <immintrin.h>
#endif

typedef float half_lanes __attribute__((vector_size(4 * W)));
typedef float half_lanes_at_any __attribute__((vector_size(4 * W), aligned(4), may_alias));

/* Three vectors hold x0 y0 z0 x1 y1 z1 .... 3 and W have no common divisor, so no two x are in the same lane number;
 * the same holds for y and z. So a blend of the three vectors gives all x, in the order 3 j mod W of the atoms;
 * other blends give all y, rotated by one lane, and all z, rotated by two lanes. */
#if W == 8
#define ORDERED(a) __builtin_shufflevector(a, a, 0, 3, 6, 1, 4, 7, 2, 5)
#define BLEND_X(a, b, c)                                                                           \
    __builtin_shufflevector(__builtin_shufflevector(a, b, 0, 9, 2, 3, 12, 5, 6, 15), c, 0, 1, 10,  \
                            3, 4, 13, 6, 7)
#define BLEND_Y(a, b, c)                                                                           \
    __builtin_shufflevector(__builtin_shufflevector(a, b, 0, 1, 10, 3, 4, 13, 6, 7), c, 8, 1, 2,   \
                            11, 4, 5, 14, 7)
#define BLEND_Z(a, b, c)                                                                           \
    __builtin_shufflevector(__builtin_shufflevector(a, b, 8, 1, 2, 11, 4, 5, 14, 7), c, 0, 9, 2,   \
                            3, 12, 5, 6, 15)
#define ROTATE_1(a) __builtin_shufflevector(a, a, 1, 2, 3, 4, 5, 6, 7, 0)
#define ROTATE_2(a) __builtin_shufflevector(a, a, 2, 3, 4, 5, 6, 7, 0, 1)
#elif W == 4
#define ORDERED(a) __builtin_shufflevector(a, a, 0, 3, 2, 1)
#define BLEND_X(a, b, c)                                                                           \
    __builtin_shufflevector(__builtin_shufflevector(a, b, 0, 1, 6, 3), c, 0, 5, 2, 3)
#define BLEND_Y(a, b, c)                                                                           \
    __builtin_shufflevector(__builtin_shufflevector(a, b, 4, 1, 2, 7), c, 0, 1, 6, 3)
#define BLEND_Z(a, b, c)                                                                           \
    __builtin_shufflevector(__builtin_shufflevector(a, b, 0, 5, 2, 3), c, 4, 1, 2, 7)
#define ROTATE_1(a) __builtin_shufflevector(a, a, 1, 2, 3, 0)
#define ROTATE_2(a) __builtin_shufflevector(a, a, 2, 3, 0, 1)
#else
#define ORDERED(a) (a)
#define BLEND_X(a, b, c) __builtin_shufflevector(a, b, 0, 3)
#define BLEND_Y(a, b, c) __builtin_shufflevector(a, c, 2, 1)
#define BLEND_Z(a, b, c) __builtin_shufflevector(b, c, 0, 3)
#define ROTATE_1(a) __builtin_shufflevector(a, a, 1, 0)
#define ROTATE_2(a) (a)
#endif

INLINE lanes widen(half_lanes v)
{
    /* gcc 12 compiles __builtin_convertvector to two conversions and an insertion. */
#if defined(__AVX512F__)
    return (lanes)_mm512_cvtps_pd((__m256)v);
#elif defined(__AVX__)
    return (lanes)_mm256_cvtps_pd((__m128)v);
#else
    return __builtin_convertvector(v, lanes);
#endif
}

#define HALF_LANES_AT(at) (*(const half_lanes_at_any *)(const void *)(at))
#define LANES_AT(at) (*(const lanes_at_any *)(const void *)(at))

INLINE triple load_f32(const float *at)
{
    half_lanes a = HALF_LANES_AT(at), b = HALF_LANES_AT(at + W), c = HALF_LANES_AT(at + 2 * W);
    half_lanes y = BLEND_Y(a, b, c), z = BLEND_Z(a, b, c);
    return (triple){widen(BLEND_X(a, b, c)), widen(ROTATE_1(y)), widen(ROTATE_2(z))};
}

INLINE triple load_f64(const double *at)
{
    lanes a = LANES_AT(at), b = LANES_AT(at + W), c = LANES_AT(at + 2 * W);
    lanes y = BLEND_Y(a, b, c), z = BLEND_Z(a, b, c);
    return (triple){BLEND_X(a, b, c), ROTATE_1(y), ROTATE_2(z)};
}

/* The same, where the memory of one more atom may be read too. Lanes are rotated by unaligned loads instead of
 * permutations: the load units are idle, while permutations compete with the arithmetic. */
INLINE triple load_inside_f32(const float *at)
{
#define SHIFTED(k)                                                                                 \
    BLEND_X(HALF_LANES_AT(at + k), HALF_LANES_AT(at + W + k), HALF_LANES_AT(at + 2 * W + k))
    return (triple){widen(SHIFTED(0)), widen(SHIFTED(1)), widen(SHIFTED(2))};
#undef SHIFTED
}

INLINE triple load_inside_f64(const double *at)
{
#define SHIFTED(k) BLEND_X(LANES_AT(at + k), LANES_AT(at + W + k), LANES_AT(at + 2 * W + k))
    return (triple){SHIFTED(0), SHIFTED(1), SHIFTED(2)};
#undef SHIFTED
}

INLINE triple load(int wide, const void *atoms)
{
    return wide ? load_f64(atoms) : load_f32(atoms);
}

INLINE triple load_inside(int wide, const void *atoms)
{
    return wide ? load_inside_f64(atoms) : load_inside_f32(atoms);
}

/* Masses of W atoms, in the order of their coordinates. */
typedef struct masses {
    const char *at;
    int wide;
    int64_t size; /* bytes per mass; 0: all atoms have the same mass */
} masses;

INLINE masses masses_of(const frame_view *view)
{
    static const double ones[W] = {
        1.0,
        1.0,
#if W > 2
        1.0,
        1.0,
#endif
#if W > 4
        1.0,
        1.0,
        1.0,
        1.0
#endif
    };
    if (!view->masses)
        return (masses){(const char *)ones, 1, 0};
    return (masses){view->masses, view->wide_masses, view->wide_masses ? 8 : 4};
}

INLINE lanes load_masses(const masses *m)
{
    if (m->wide)
        return ORDERED(LANES_AT(m->at));
    return widen(ORDERED(HALF_LANES_AT(m->at)));
}

/* Loads n < W masses; the other lanes are 0. */
INLINE lanes load_last_masses(const masses *m, int64_t n)
{
    double padded[W];
    for (int64_t i = 0; i < W; i++) {
        const void *at = m->at + i * m->size;
        padded[i] = i >= n ? 0.0 : m->wide ? *(const double *)at : (double)*(const float *)at;
    }
    return ORDERED(LANES_AT(padded));
}

/* ---- Totals of lanes --------------------------------------------------------------------------
 */

/* Lane i is the total of the lanes of v[i]. */
INLINE lanes totals_of(const lanes v[W])
{
    lanes pairs[W / 2];
    for (int i = 0; i < W / 2; i++)
        pairs[i] = EVEN(v[2 * i], v[2 * i + 1]) + ODD(v[2 * i], v[2 * i + 1]);
#if W == 8
    lanes a = EVEN_PAIRS(pairs[0], pairs[1]) + ODD_PAIRS(pairs[0], pairs[1]);
    lanes b = EVEN_PAIRS(pairs[2], pairs[3]) + ODD_PAIRS(pairs[2], pairs[3]);
    return LOW(a, b) + HIGH(a, b);
#elif W == 4
    return LOW(pairs[0], pairs[1]) + HIGH(pairs[0], pairs[1]);
#else
    return pairs[0];
#endif
}

/* to[i] = the total of from[i]. */
INLINE void totals(const lanes *from, double *to, int count)
{
    for (int i = 0; i < count; i += W) {
        lanes group[W] = {{0}};
        for (int j = 0; j < W && i + j < count; j++)
            group[j] = from[i + j];
        lanes sums = totals_of(group);
        for (int j = 0; j < W && i + j < count; j++)
            to[i + j] = sums[j];
    }
}

/* ---- Sums of a frame ------------------------------------------------------------------------- */

/* Which members of frame_sums a pass fills. */
#define FIRST 1
#define SECOND 2
#define LINEAR 4
#define ANGULAR 8
#define TORQUE 16

/* The prefetch distance in bytes. The kernels do so much arithmetic for each atom that two threads do not
 * reach the memory bandwidth with hardware prefetching alone. */
#define READ_AHEAD 2048

INLINE void prefetch_atoms(int wide, const char *at)
{
    for (int64_t i = 0; i < (wide ? 24 : 12) * W; i += 64)
        __builtin_prefetch(at + READ_AHEAD + i);
}

INLINE void add_atoms(int what, accumulators *s, lanes m, triple d, triple v, triple f)
{
    triple md = {m * d.x, m * d.y, m * d.z};
    if (what & FIRST) {
        s->mass += m;
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

/* Copies n < W atoms to `padded`, followed by W - n times `fill`. */
INLINE void pad(int wide, void *padded, const void *atoms, int64_t n, const double fill[3])
{
    for (int64_t i = 0; i < 3 * W; i++) {
        if (wide)
            ((double *)padded)[i] = i < 3 * n ? ((const double *)atoms)[i] : fill[i % 3];
        else
            ((float *)padded)[i] = i < 3 * n ? ((const float *)atoms)[i] : (float)fill[i % 3];
    }
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

INLINE void pass(int wide, int what, const frame_view *view, frame_sums *sums)
{
    static const double nothing[3] = {0.0, 0.0, 0.0};
    const triple origin = spread(view->origin);
    const char *r = view->positions, *v = view->velocities, *f = view->forces;
    masses m = masses_of(view);
    const int64_t step = wide ? 24 * W : 12 * W;
    const int with_v = what & (LINEAR | ANGULAR), with_f = what & TORQUE;
    accumulators s = {0};
    triple d, velocity = {0}, force = {0};
    int64_t left = view->atoms;
    for (; left > W; left -= W, m.at += W * m.size, r += step) {
        prefetch_atoms(wide, r);
        d = relative(load_inside(wide, r), &origin);
        if (with_v) {
            prefetch_atoms(wide, v);
            velocity = load_inside(wide, v);
            v += step;
        }
        if (with_f) {
            prefetch_atoms(wide, f);
            force = load_inside(wide, f);
            f += step;
        }
        add_atoms(what, &s, load_masses(&m), d, velocity, force);
    }
    if (left > 0) {
        double padded[3][3 * W];
        if (left < W) {
            pad(wide, padded[0], r, left, view->origin);
            if (with_v)
                pad(wide, padded[1], v, left, nothing);
            if (with_f)
                pad(wide, padded[2], f, left, nothing);
        }
        d = relative(load(wide, left < W ? (const char *)padded[0] : r), &origin);
        if (with_v)
            velocity = load(wide, left < W ? (const char *)padded[1] : v);
        if (with_f)
            force = load(wide, left < W ? (const char *)padded[2] : f);
        add_atoms(what, &s, left < W ? load_last_masses(&m, left) : load_masses(&m), d, velocity,
                  force);
    }
    *sums = (frame_sums){{0.0}, {0.0}, 0.0, {0.0}, 0.0, {0.0}, {0.0}, {0.0}, 0.0};
    /* Totals of adjacent members are computed together: W totals cost little more than one total. */
    if (what & LINEAR)
        totals((const lanes *)&s, (double *)sums, 17);
    else if (what & FIRST)
        totals((const lanes *)&s, (double *)sums, 10);
    else
        totals(s.angular, sums->angular, 3);
    if (with_f)
        totals((const lanes *)&s + 17, (double *)sums + 17, 6);
}

/* The branch gives each type a separate loop. */
INLINE void pass_of(int wide, int what, const frame_view *view, frame_sums *sums)
{
    if (wide)
        pass(1, what, view, sums);
    else
        pass(0, what, view, sums);
}

static void first(int wide, const frame_view *view, frame_sums *sums)
{
    pass_of(wide, FIRST, view, sums);
}

static void second(int wide, const frame_view *view, frame_sums *sums)
{
    pass_of(wide, FIRST | SECOND, view, sums);
}

static void angular(int wide, const frame_view *view, frame_sums *sums)
{
    pass_of(wide, ANGULAR, view, sums);
}

static void velocities(int wide, const frame_view *view, frame_sums *sums)
{
    pass_of(wide, FIRST | SECOND | LINEAR | ANGULAR, view, sums);
}

static void forces(int wide, const frame_view *view, frame_sums *sums)
{
    pass_of(wide, FIRST | SECOND | TORQUE, view, sums);
}

static void all(int wide, const frame_view *view, frame_sums *sums)
{
    pass_of(wide, FIRST | SECOND | LINEAR | ANGULAR | TORQUE, view, sums);
}

/* ---- A body against a reference -------------------------------------------------------------- */

/* Loads atoms i .. i + W - 1 of n, relative to `origin`; atoms beyond the last are at the origin. */
INLINE triple relative_at(int wide, const void *positions, int64_t i, int64_t n,
                          const double origin[3])
{
    const void *atoms = atom_at(wide, positions, i);
    const triple o = spread(origin);
    double padded[3 * W];
    if (n - i < W)
        pad(wide, padded, atoms, n - i, origin);
    return relative(load(wide, n - i < W ? (const void *)padded : atoms), &o);
}

/* Loads reference atoms of either type. The branch is well predicted: the type does not change. */
INLINE triple reference_at(const frame_reference *reference, int64_t i, int64_t n)
{
    return reference->wide ? relative_at(1, reference->positions, i, n, reference->centre)
                           : relative_at(0, reference->positions, i, n, reference->centre);
}

INLINE lanes masses_at(const masses *all, int64_t i, int64_t n)
{
    masses m = {all->at + i * all->size, all->wide, all->size};
    return n - i < W ? load_last_masses(&m, n - i) : load_masses(&m);
}

INLINE void overlap_of(int wide, const frame_view *view, const frame_reference *reference,
                       overlap_sums *sums)
{
    const masses all = masses_of(view);
    lanes first[3] = {{0}}, rest[3] = {{0}}, covariance[9] = {{0}};
    for (int64_t i = 0; i < view->atoms; i += W) {
        triple d = relative_at(wide, view->positions, i, view->atoms, view->origin);
        triple e = reference_at(reference, i, view->atoms);
        lanes m = masses_at(&all, i, view->atoms);
        lanes md[3] = {m * d.x, m * d.y, m * d.z};
        rest[0] += m * e.x;
        rest[1] += m * e.y;
        rest[2] += m * e.z;
        for (int k = 0; k < 3; k++) {
            first[k] += md[k];
            covariance[3 * k] += md[k] * e.x;
            covariance[3 * k + 1] += md[k] * e.y;
            covariance[3 * k + 2] += md[k] * e.z;
        }
    }
    totals(first, sums->first, 3);
    totals(rest, sums->rest, 3);
    totals(covariance, sums->covariance, 9);
}

INLINE double deviation_of(int wide, const frame_view *view, const frame_reference *reference,
                           const double rotation[9], const double shift[3])
{
    const masses all = masses_of(view);
    const triple away = spread(shift);
    const triple rx = spread(rotation), ry = spread(rotation + 3), rz = spread(rotation + 6);
    lanes sum = {0};
    for (int64_t i = 0; i < view->atoms; i += W) {
        triple d = relative_at(wide, view->positions, i, view->atoms, view->origin);
        triple e = reference_at(reference, i, view->atoms);
        lanes m = masses_at(&all, i, view->atoms);
        lanes x = rx.x * d.x + rx.y * d.y + rx.z * d.z - e.x - away.x;
        lanes y = ry.x * d.x + ry.y * d.y + ry.z * d.z - e.y - away.y;
        lanes z = rz.x * d.x + rz.y * d.y + rz.z * d.z - e.z - away.z;
        sum += m * (x * x + y * y + z * z);
    }
    double result;
    totals(&sum, &result, 1);
    return result;
}

static void overlap(int wide, const frame_view *view, const frame_reference *reference,
                    overlap_sums *sums)
{
    if (wide)
        overlap_of(1, view, reference, sums);
    else
        overlap_of(0, view, reference, sums);
}

static double deviation(int wide, const frame_view *view, const frame_reference *reference,
                        const double rotation[9], const double shift[3])
{
    return wide ? deviation_of(1, view, reference, rotation, shift)
                : deviation_of(0, view, reference, rotation, shift);
}

extern const frame_kernels LEVEL_NAME(frame);
const frame_kernels LEVEL_NAME(frame) = {
    .pass = {first, second, angular, velocities, forces, all},
    .overlap = overlap,
    .deviation = deviation,
};
