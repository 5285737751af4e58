/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/md/md.c, tests/opencl/kernels.cmake */
#include "sums.h"

#include "shared/jit/texts.h"

static const jit_source sums_source =
    JIT_SOURCE("md_sums", jit_text_md_common_params, jit_text_md_sums_params, jit_text_md_common,
               jit_text_md_sums);
static const jit_source finish_source =
    JIT_SOURCE("md_finish", jit_text_md_common_params, jit_text_md_sums_params, jit_text_md_common,
               jit_text_md_eigen, jit_text_md_finish);

/* ---- Geometry -------------------------------------------------------------------------------- */

/* The number of items that keep a compute unit busy. */
#define ITEMS_A_UNIT 2048
/* Atoms per item. An item should have at least LEAST_ATOMS. If it has more than ENOUGH_ATOMS, the team always gets
 * more items. With more than MOST_ATOMS, sums would lose digits. */
#define LEAST_ATOMS 4
#define ENOUGH_ATOMS 64
#define MOST_ATOMS 4096
/* Minimum number of items in a team, if there are enough atoms. */
#define LEAST_TEAM 32

md_geometry md_geometry_of(const jit_traits *t, int64_t frames, int64_t atoms,
                           const collet_operand *offsets)
{
    md_geometry g = {.rows = frames, .bodies = 1, .atoms = atoms};
    if (offsets && operand_present(offsets)) {
        g.bodies = offsets->shape[0] - 1;
        g.rows = frames * g.bodies;
        g.offsets = md_first(offsets);
        g.offsets_step = offsets->strides[0];
        /* Uses the mean number of atoms per body, because the actual numbers are known only on the device. */
        atoms = (int64_t)jit_ceiling((uint64_t)atoms, (uint64_t)(g.bodies > 0 ? g.bodies : 1));
    }
    int64_t team = 1, target = (int64_t)t->units * ITEMS_A_UNIT;
    while (team < t->group && LEAST_ATOMS * team <= atoms &&
           (team < LEAST_TEAM || atoms > ENOUGH_ATOMS * team || g.rows * team < target)) {
        team *= 2;
        g.team_bits++;
    }
    int64_t blocks = (int64_t)jit_ceiling((uint64_t)atoms, (uint64_t)(team * MOST_ATOMS));
    blocks = blocks > 1 ? blocks : 1;
    while (g.rows * team * blocks < target && 4 * LEAST_ATOMS * team * blocks <= atoms)
        blocks *= 2;
    int64_t each = (int64_t)jit_ceiling((uint64_t)atoms, (uint64_t)(blocks * team));
    each = each > 1 ? each : 1;
    g.blocks = (int64_t)jit_ceiling((uint64_t)atoms, (uint64_t)(each * team));
    g.blocks = g.blocks > 1 ? g.blocks : 1;
    return g;
}

uint64_t md_geometry_groups(const md_geometry *g, const jit_traits *t)
{
    return jit_ceiling((uint64_t)g->rows * (uint64_t)g->blocks, t->group >> g->team_bits);
}

/* ---- Layout of the workspace ------------------------------------------------------------------
 */

typedef struct layout {
    int64_t partial, totals, origins, list; /* sums; list: i32s */
    int64_t end;                            /* sums */
} layout;

static layout layout_of(const md_geometry *g, int64_t first)
{
    layout r = {.partial = first};
    int64_t at = first + SUM_ROWS * g->rows * g->blocks;
    r.totals = g->blocks > 1 ? at : r.partial;
    at += g->blocks > 1 ? SUM_ROWS * g->rows : 0;
    r.origins = at;
    at += 3 * g->rows;
    r.list = 2 * at;
    r.end = at + (g->rows + 2) / 2;
    return r;
}

uint64_t md_sums_workspace(const md_geometry *g)
{
    return (uint64_t)layout_of(g, 0).end;
}

/* ---- Launches -------------------------------------------------------------------------------- */

#define OPTIONS(what)                                                                              \
    {                                                                                              \
        "-DPOSITIONS=f32 -DMASSES=f32 -DWHAT=" #what,                                              \
            "-DPOSITIONS=f32 -DMASSES=f64 -DWHAT=" #what,                                          \
            "-DPOSITIONS=f64 -DMASSES=f64 -DWHAT=" #what,                                          \
            "-DPAIRS=1 -DPOSITIONS=f32 -DMASSES=f32 -DWHAT=" #what                                 \
    }
static const char *const options[16][4] = {
    [1] = OPTIONS(1), [2] = OPTIONS(2), [7] = OPTIONS(7), [9] = OPTIONS(9), [15] = OPTIONS(15)};

/* Whether sums are pairs of f32. They are if results are f32. */
static int in_pairs(const jit_sequence *q)
{
    return operand_of(q->call, 0)->dtype == COLLET_F32;
}

static const char *finish_options(const jit_sequence *q)
{
    return in_pairs(q) ? "-DPAIRS=1" : "";
}

uint32_t md_types(const collet_operand *positions, const collet_operand *masses)
{
    if (positions->dtype == COLLET_F64)
        return 2;
    return masses && masses->dtype == COLLET_F64;
}

static uint32_t sums_set(uint32_t what)
{
    uint32_t set = 0;
    for (uint32_t k = 0; k < SUM_ROWS; k++)
        set |= SUM_IS_SET(what, k) ? 1u << k : 0;
    return set;
}

/* The list of bodies to sum again is usually short or empty, so only a few groups per compute unit share it. */
static uint64_t groups_of(const jit_traits *t, uint64_t all, int listed)
{
    uint64_t few = 8 * (uint64_t)t->units;
    return listed && all > few ? few : all;
}

static void launch_sums(jit_sequence *q, const md_sums *s, const md_geometry *g, const layout *r,
                        int32_t listed)
{
    sums_job job = {
        .r = md_place_of(s->positions, 2),
        .v = md_place_of(s->velocities, 2),
        .f = md_place_of(s->forces, 2),
        .masses = md_place_of_column(s->masses),
        .given = md_place_of(s->origins, 1),
        .g = *g,
        .partial = r->partial,
        .origins = r->origins,
        .list = r->list,
        .listed = listed,
    };
    uint32_t types = in_pairs(q) ? 3 : md_types(s->positions, s->masses);
    jit_launch l;
    jit_launch_begin(&l, &sums_source, options[s->what][types], "sums");
    jit_pass_buffer(&l, q->call->workspace);
    jit_pass_buffer(&l, q->call->workspace);
    md_pass(&l, s->positions);
    md_pass(&l, s->masses);
    md_pass(&l, s->velocities);
    md_pass(&l, s->forces);
    md_pass(&l, s->origins);
    md_pass(&l, s->offsets);
    jit_pass_block(&l, &job, sizeof job);
    jit_sequence_enqueue(q, &l, groups_of(q->traits, md_geometry_groups(g, q->traits), listed));
}

void md_gather(jit_sequence *q, const md_geometry *g, int64_t partial, int64_t totals, int64_t list,
               uint32_t set)
{
    jit_launch l;
    if (g->blocks == 1)
        return;
    jit_launch_begin(&l, &finish_source, finish_options(q), "gather");
    jit_pass_buffer(&l, q->call->workspace);
    jit_pass_buffer(&l, q->call->workspace);
    jit_pass_i64s(&l, partial, totals, list < 0 ? 0 : list, g->rows, g->blocks);
    jit_pass_i32(&l, (int32_t)set);
    jit_pass_i32(&l, list >= 0);
    jit_sequence_enqueue(q, &l, groups_of(q->traits, (uint64_t)g->rows, list >= 0));
}

static void launch_finish(jit_sequence *q, const md_sums *s, const md_geometry *g, const layout *r,
                          int32_t round)
{
    static const int32_t axes[MD_RESULTS] = {
        [MD_COM] = 1,      [MD_INERTIA] = 2, [MD_L] = 1,      [MD_TORQUE] = 1,
        [MD_ENERGIES] = 1, [MD_RADIUS] = 0,  [MD_TENSOR] = 2, [MD_ASPHERICITY] = 0};
    finish_job job = {.g = *g,
                      .totals = r->totals,
                      .origins = r->origins,
                      .list = r->list,
                      .set = (int32_t)sums_set(s->what),
                      .round = round,
                      .moves = s->moves};
    finish_places places;
    jit_launch l;
    jit_launch_begin(&l, &finish_source, finish_options(q), "finish");
    jit_pass_buffer(&l, q->call->workspace);
    jit_pass_buffer(&l, q->call->workspace);
    md_pass(&l, s->offsets);
    jit_pass_block(&l, &job, sizeof job);
    jit_pass_block(&l, &places, sizeof places);
    for (int i = 0; i < MD_RESULTS; i++) {
        places.at[i] = md_place_of(s->results[i], axes[i]);
        md_pass(&l, s->results[i]);
    }
    uint64_t groups = jit_groups(q->traits, (uint64_t)g->rows);
    jit_sequence_enqueue(q, &l, groups_of(q->traits, groups, round == 2));
}

/* Sums all rows, or in round 2 the rows that round 1 listed. */
static void run_round(jit_sequence *q, const md_sums *s, const md_geometry *g, const layout *r,
                      int32_t round)
{
    int32_t listed = round == 2;
    launch_sums(q, s, g, r, listed);
    md_gather(q, g, r->partial, r->totals, listed ? r->list : -1, sums_set(s->what));
    launch_finish(q, s, g, r, round);
}

void md_sums_run(jit_sequence *q, const md_sums *s, int64_t first)
{
    const collet_operand *positions = s->positions;
    int64_t frames = positions->ndim > 2 ? positions->shape[0] : 1;
    md_geometry g =
        md_geometry_of(q->traits, frames, positions->shape[positions->ndim - 2], s->offsets);
    if (g.rows == 0)
        return;
    layout r = layout_of(&g, first);
    run_round(q, s, &g, &r, s->moves ? 1 : 0);
    if (s->moves)
        run_round(q, s, &g, &r, 2);
}
