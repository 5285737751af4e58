/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/md/vectors.c */
#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/rows.h"

#include "sums.h"
#include "rmsd_params.h"
#include "shared/jit/texts.h"

static const jit_source rmsd_source =
    JIT_SOURCE("md_rmsd", jit_text_md_common_params, jit_text_md_rmsd_params, jit_text_md_common,
               jit_text_md_rmsd);
static const jit_source fit_source =
    JIT_SOURCE("md_fit", jit_text_md_common_params, jit_text_md_rmsd_params, jit_text_md_common,
               jit_text_md_eigen, jit_text_md_fit);

/* A call. The members from `partial` on are offsets in the workspace, in f64s. */
typedef struct rmsd_call {
    jit_sequence s;
    const collet_operand *positions, *weights, *reference, *offsets;
    md_geometry g;
    int64_t frames_of_centres; /* 1, or the number of frames if weights differ from frame to frame */
    int64_t partial, totals, deviations, weight_sums, centres, fits, sums, end;
} rmsd_call;

static rmsd_call call_of(collet_device *device, collet_queue *queue, const collet_kernel_call *call)
{
    const jit_traits *t = jit_traits_of(device);
    rmsd_call c = {.s = jit_sequence_of(device, queue, call),
                   .positions = operand_of(call, 2),
                   .weights = operand_of(call, 3),
                   .reference = operand_of(call, 4),
                   .offsets = operand_of(call, 5)};
    int64_t frames = c.positions->shape[0], atoms = c.positions->shape[1];
    c.g = md_geometry_of(t, frames, atoms, c.offsets);
    c.frames_of_centres = c.weights->ndim > 1 ? frames : 1;
    md_geometry centres = md_geometry_of(t, c.frames_of_centres, atoms, c.offsets);
    int64_t rows = c.g.rows, at = OVERLAP_ROWS * rows * c.g.blocks;
    c.totals = c.g.blocks > 1 ? at : 0;
    at += c.g.blocks > 1 ? OVERLAP_ROWS * rows : 0;
    /* The sums of weights are needed until the end. The deviations overwrite the sums that follow the sums of
     * weights. */
    c.weight_sums = c.totals;
    c.deviations = c.totals + rows;
    c.centres = at;
    c.fits = at + 3 * centres.rows;
    c.sums = c.fits + 12 * rows;
    c.end = c.sums + (int64_t)md_sums_workspace(&centres);
    return c;
}

/* ---- Launches -------------------------------------------------------------------------------- */

/* Computes the centres of mass of the reference. The reference is the same for every frame (stride 0). */
static void centre_reference(rmsd_call *c)
{
    const int64_t bodies = c->g.bodies;
    const int64_t shape[] = {c->frames_of_centres, bodies, 3}, strides[] = {3 * bodies, 3, 1};
    const int64_t frames[] = {c->frames_of_centres, c->reference->shape[0], 3};
    const int64_t steps[] = {0, c->reference->strides[0], c->reference->strides[1]};
    collet_operand repeated = *c->reference;
    collet_operand centre = {.buffer = c->s.call->workspace,
                             .byte_offset = (uint64_t)c->centres * sizeof(double),
                             .dtype = COLLET_F64,
                             .ndim = 3,
                             .shape = shape,
                             .strides = strides};
    repeated.ndim = 3;
    repeated.shape = frames;
    repeated.strides = steps;
    md_sums s = {.what = MD_MOMENTS,
                 .moves = 1,
                 .positions = &repeated,
                 .offsets = operand_present(c->offsets) ? c->offsets : NULL,
                 .masses = operand_present(c->weights) ? c->weights : NULL,
                 .results = {[MD_COM] = &centre}};
    md_sums_run(&c->s, &s, c->sums);
}

/* Launches a kernel that sums over the atoms of every row, into `partial`. */
static void launch_pass(rmsd_call *c, const char *kernel, int64_t partial)
{
    static const char *const options[] = {"-DPOSITIONS=f32 -DMASSES=f32 -DREFERENCE=f32",
                                          "-DPOSITIONS=f32 -DMASSES=f64 -DREFERENCE=f32",
                                          "-DPOSITIONS=f64 -DMASSES=f64 -DREFERENCE=f64",
                                          "-DPOSITIONS=f32 -DMASSES=f64 -DREFERENCE=f64"};
    uint32_t types = md_types(c->positions, c->weights);
    if (types < 2 && c->reference->dtype == COLLET_F64)
        types = 3;
    rmsd_job job = {.g = c->g,
                    .r = md_place_of(c->positions, 2),
                    .masses = md_place_of_column(c->weights),
                    .reference = md_place_of(c->reference, 2),
                    .partial = partial,
                    .centres = c->centres,
                    .centres_frame = c->frames_of_centres > 1 ? c->g.bodies : 0,
                    .fits = c->fits};
    jit_launch l;
    jit_launch_begin(&l, &rmsd_source, options[types], kernel);
    jit_pass_buffer(&l, c->s.call->workspace);
    md_pass(&l, c->positions);
    md_pass(&l, c->weights);
    md_pass(&l, c->reference);
    md_pass(&l, c->offsets);
    jit_pass_block(&l, &job, sizeof job);
    jit_sequence_enqueue(&c->s, &l, md_geometry_groups(&c->g, c->s.traits));
}

/* Launches a kernel with one item per row, which writes `out`. `from` and `to` are offsets in the workspace. */
static void launch_fit(rmsd_call *c, const char *kernel, const collet_operand *out, int32_t axes,
                       int64_t from, int64_t to)
{
    md_place at = md_place_of(out, axes);
    jit_launch l;
    jit_launch_begin(&l, &fit_source, "", kernel);
    jit_pass_buffer(&l, c->s.call->workspace);
    md_pass(&l, out);
    jit_pass_block(&l, &at, sizeof at);
    jit_pass_i64s(&l, from, to, c->g.rows, c->g.bodies);
    jit_sequence_enqueue(&c->s, &l, jit_groups(c->s.traits, (uint64_t)c->g.rows));
}

/* ---- The call -------------------------------------------------------------------------------- */

JIT_KERNEL(rmsd)
{
    rmsd_call c = call_of(device, queue, call);
    if (c.g.rows == 0)
        return COLLET_OK;
    centre_reference(&c);
    launch_pass(&c, "overlap", c.partial);
    md_gather(&c.s, &c.g, c.partial, c.totals, -1, (1u << OVERLAP_ROWS) - 1);
    launch_fit(&c, "superpose", operand_of(call, 1), 2, c.totals, c.fits);
    launch_pass(&c, "deviation", c.g.blocks > 1 ? c.partial : c.deviations);
    md_gather(&c.s, &c.g, c.partial, c.deviations, -1, 1);
    launch_fit(&c, "deviate", operand_of(call, 0), 0, c.weight_sums, c.deviations);
    return c.s.status;
}

JIT_ACCEPTS(rmsd)
{
    *workspace_bytes = (uint64_t)call_of(device, NULL, call).end * sizeof(double);
    return COLLET_OK;
}
