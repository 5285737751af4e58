/* SPDX-License-Identifier: Apache-2.0 */
/* random: an independent implementation of the generator, from the paper. docs/KERNELS.md defines how its bits become
 * numbers. The results of uniform must match bit for bit; normal and exponential are judged in long double.
 * Tests: tests/conformance/defects.sh */
#include "kit.h"

#include <math.h>
#include <string.h>

#include "random.h"

/* ---- The oracle ---------------------------------------------------------------------------- */

/* One round of Philox4x32; the 10 rounds differ only in the key. */
static void mix(uint32_t x[4], uint32_t low_key, uint32_t high_key)
{
    const uint64_t even = (uint64_t)x[0] * 3528531795u, odd = (uint64_t)x[2] * 3449720151u;
    const uint32_t first = (uint32_t)(odd >> 32) ^ x[1] ^ low_key;
    const uint32_t third = (uint32_t)(even >> 32) ^ x[3] ^ high_key;
    x[3] = (uint32_t)even;
    x[2] = third;
    x[1] = (uint32_t)odd;
    x[0] = first;
}

void kit_philox(uint64_t seed, uint64_t counter, uint32_t third, uint32_t fourth, uint32_t x[4])
{
    x[0] = (uint32_t)counter;
    x[1] = (uint32_t)(counter >> 32);
    x[2] = third;
    x[3] = fourth;
    for (uint32_t round = 0; round < 10; round++)
        mix(x, (uint32_t)seed + round * 2654435769u, (uint32_t)(seed >> 32) + round * 3144134277u);
}

static uint64_t joined(uint32_t low, uint32_t high)
{
    return (uint64_t)high << 32 | low;
}

/* cos(pi t) and sin(pi t) for 0 <= t < 2, reduced to an angle of at most pi / 2. */
static long double cos_pi(long double t)
{
    const long double pi = 3.14159265358979323846264338327950288L;
    if (t > 1)
        t = 2 - t;
    if (t <= 0.25L)
        return kit_cos(pi * t);
    if (t >= 0.75L)
        return -kit_cos(pi * (1 - t));
    return kit_sin(pi * (0.5L - t));
}

static long double sin_pi(long double t)
{
    return cos_pi(t < 0.5L ? t + 1.5L : t - 0.5L);
}

static long double box_muller(long double u, long double v, bool even)
{
    return sqrtl(-2 * kit_log(u)) * (even ? cos_pi(2 * v) : sin_pi(2 * v));
}

static long double ideal_number(const kit_case *c, int64_t i)
{
    const collet_random_params *p = &c->params.random;
    bool narrow = c->operand[0].dtype == COLLET_F32, normal = c->row->info.id == COLLET_OP_NORMAL;
    uint64_t lanes = narrow ? 4 : 2, element = p->offset + (uint64_t)i, lane = element % lanes;
    uint32_t x[4];
    kit_philox(p->seed, element / lanes, 0, 0, x);
    if (c->row->info.id == COLLET_OP_EXPONENTIAL) {
        volatile float scaled = (float)x[lane % 4] * 0x1p-32f, u = scaled + 0x1p-33f;
        return narrow ? -kit_log(u)
                      : -kit_log(ldexpl((long double)(joined(x[2 * lane], x[2 * lane + 1]) >> 12) + 0.5L, -52));
    }
    if (!normal)
        return narrow ? ldexpl(x[lane] >> 8, -24)
                      : ldexpl((long double)(joined(x[2 * lane], x[2 * lane + 1]) >> 11), -53);
    if (narrow) {
        volatile float scaled = (float)x[lane & 2u] * 0x1p-32f;
        volatile float u = scaled + 0x1p-33f;
        return box_muller(u, ldexpl(x[lane | 1u] >> 8, -24), lane % 2 == 0);
    }
    volatile double u = (double)(joined(x[0], x[1]) >> 11) * 0x1p-53 + 0x1p-54;
    return box_muller(u, ldexpl((long double)(joined(x[2], x[3]) >> 11), -53), lane == 0);
}

static void judge_uniform(const kit_case *c, kit_verdict *v)
{
    for (int64_t i = 0; i < c->operand[0].count; i++) {
        unsigned char ideal[16];
        kit_convert(c->operand[0].dtype, ideal_number(c, i), ideal);
        kit_same(c, v, 0, i, ideal, true);
    }
}

static void judge_normal(const kit_case *c, kit_verdict *v)
{
    const kit_limit *limit = kit_limit_find(c->row->info.id, c->operand[0].dtype, "value");
    for (int64_t i = 0; i < c->operand[0].count; i++)
        kit_within_ulp(c, v, 0, i, ideal_number(c, i), limit);
}

/* ---- Plans --------------------------------------------------------------------------------- */

/* Position of the numbers in a sequence. */
enum { START, ANYWHERE, HIGH_WORD, WRAPS, KINDS, EDGES = KINDS };
static const char *const kind_names[] = {"from the start", "anywhere", "about block 2^32",
                                         "about element 2^64", "edges of seed and offset"};

/* Lengths around the blocks of a vector, and beyond the share of one thread. */
static const int64_t lengths[] = {0,  1,  2,  3,  4,  5,  7,   8,   15,  16,   17,   31,  33,
                                  63, 64, 65, 66, 67, 97, 127, 129, 255, 1000, 1027, 4099};

static const struct {
    int32_t ndim;
    int64_t extent[COLLET_MAX_DIMS];
} shapes[] = {{0, {0}},          {1, {19}},        {2, {3, 5}},
              {2, {65, 33}},     {2, {0, 3}},      {3, {7, 1, 4}},
              {4, {2, 3, 4, 5}}, {3, {300, 7, 3}}, {8, {2, 1, 3, 1, 2, 2, 1, 3}}};

static kit_case of_shape(const kit_plan *plan, int32_t ndim, const int64_t *extent, int kind)
{
    kit_case c = kit_case_of(plan);
    c.kind = kind;
    c.data = kind_names[kind];
    kit_shape(&c, 0, ndim, extent);
    return c;
}

static void plan_random(kit_plan *plan)
{
    static const int64_t big[] = {(1 << 20) + 3}, folded[] = {1025, 513};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        for (int kind = START; kind < KINDS; kind++) {
            kit_case c = of_shape(plan, 1, &lengths[i], kind);
            kit_emit(plan, &c);
            c.layout[0] = KIT_UNALIGNED;
            kit_emit(plan, &c);
        }
    }
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        kit_case c = of_shape(plan, shapes[i].ndim, shapes[i].extent, (int)i % KINDS);
        kit_emit_layouts(plan, &c);
    }
    for (int kind = ANYWHERE; kind < KINDS; kind++) {
        kit_case c = of_shape(plan, 1, big, kind);
        c.big = true;
        kit_emit(plan, &c);
        c = of_shape(plan, 2, folded, kind);
        c.layout[0] = kind == WRAPS ? KIT_MIXED : KIT_TRANSPOSED;
        c.big = true;
        kit_emit(plan, &c);
    }
}

/* Seeds and offsets at the limits of the narrower types to which a kernel may convert them. */
static void plan_edges(kit_plan *plan)
{
    static const int64_t length = 5;
    for (int64_t i = 0; i < kit_edge_count(COLLET_U64); i++)
        for (int64_t k = 0; k < 3; k++) {
            kit_case c = of_shape(plan, 1, &length, EDGES);
            c.params.random =
                (collet_random_params){.struct_size = sizeof c.params.random,
                                       .seed = (uint64_t)kit_edge(COLLET_U64, i),
                                       .offset = (uint64_t)kit_edge(COLLET_U64, k < 2 ? k : i)};
            kit_emit(plan, &c);
            c.params.random = (collet_random_params){.struct_size = sizeof c.params.random,
                                                     .seed = c.params.random.offset,
                                                     .offset = c.params.random.seed};
            kit_emit(plan, &c);
        }
}

static void plan_all(kit_plan *plan)
{
    plan_random(plan);
    plan_edges(plan);
}

static void generate_random(kit_case *c, kit_rng *rng)
{
    if (c->kind == EDGES)
        return;
    collet_random_params *p = &c->params.random;
    uint64_t inside = (uint64_t)kit_below(rng, c->operand[0].count + 1);
    uint64_t lanes = c->operand[0].dtype == COLLET_F32 ? 4 : 2;
    *p = (collet_random_params){.struct_size = sizeof *p, .seed = kit_next(rng)};
    p->offset = c->kind == START       ? 0
                : c->kind == HIGH_WORD ? (lanes << 32) - inside
                : c->kind == WRAPS     ? 0 - inside
                                       : kit_next(rng);
}

const kit_op kit_random_ops[] = {
    {COLLET_OP_UNIFORM, plan_all, generate_random, judge_uniform},
    {COLLET_OP_NORMAL, plan_all, generate_random, judge_normal},
    {COLLET_OP_EXPONENTIAL, plan_all, generate_random, judge_normal},
    {0},
};
