/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/md/vectors.c */
#include "cpu_openmp/runtime/device.h"

#include "cpu_openmp/runtime/team.h"
#include "shared/host/md/formulas.h"
#include "shared/host/md/operands.h"
#include "kernel_atoms.h"
#include "pass.h"

/* Minimum number of atoms per thread. */
#define GRAIN 4096

/* Sums over a block of atoms of one body: `overlap` by the first pass, `deviation` by the second. */
typedef struct block_sums {
    overlap_sums overlap;
    double deviation;
} block_sums;

/* The best superposition of a body on the reference: R (d - shift), where d = r - origin. */
typedef struct fit {
    double origin[3];
    double shift[3];
    double rotation[9];
} fit;

/* The centre of a body's part of the reference, and the sum of its weights. */
typedef struct centre {
    double at[3];
    double weight;
} centre;

typedef struct rmsd_job {
    const collet_device *device;
    const collet_kernel_call *call;
    atoms_source positions, weights, reference;
    int adjacent; /* 1: all three are adjacent */
    int64_t rows, bodies, atoms, shared_above;
    block_sums *partial; /* the sums of each block of a body whose blocks the threads divide */
} rmsd_job;

static int64_t block_length(const md_body *body, int64_t block)
{
    int64_t left = body->atoms - block * ATOMS_BLOCK;
    return left < ATOMS_BLOCK ? left : ATOMS_BLOCK;
}

static centre centre_of_reference(const rmsd_job *job, const md_body *body)
{
    double origin[3], copy[3 * ATOMS_COPIED], masses[ATOMS_COPIED], sums[3] = {0.0};
    centre c = {{0.0}, 0.0};
    md_body first = *body;
    first.frame = 0;
    atoms_first(&job->reference, &first, origin);
    for (int64_t i = 0; i < body->atoms; i += ATOMS_COPIED) {
        int64_t at = body->first + i, left = body->atoms - i;
        int64_t n = left < ATOMS_COPIED ? left : ATOMS_COPIED;
        frame_view view = {.positions = atoms_adjacent(&job->reference, 0, at, n, copy),
                           .masses =
                               atoms_adjacent_masses(&job->weights, body->frame, at, n, masses),
                           .wide_masses = job->weights.wide,
                           .atoms = n,
                           .origin = {origin[0], origin[1], origin[2]}};
        frame_sums part;
        job->device->level->frame->pass[FRAME_FIRST](job->reference.wide, &view, &part);
        for (int k = 0; k < 3; k++)
            sums[k] += part.first[k];
        c.weight += part.mass;
    }
    for (int k = 0; k < 3; k++)
        c.at[k] = origin[k] + sums[k] / c.weight;
    return c;
}

/* ---- A body ---------------------------------------------------------------------------------- */

static void add_sums(block_sums *sums, const block_sums *part)
{
    for (int k = 0; k < 3; k++) {
        sums->overlap.first[k] += part->overlap.first[k];
        sums->overlap.rest[k] += part->overlap.rest[k];
    }
    for (int k = 0; k < 9; k++)
        sums->overlap.covariance[k] += part->overlap.covariance[k];
    sums->deviation += part->deviation;
}

/* A pass over a body. With `fit` it is the second pass, which needs the rotation. */
typedef struct body_pass {
    const rmsd_job *job;
    const md_body *body;
    const centre *centre;
    const double *origin;
    const fit *fit;
} body_pass;

/* Adds the sums over atoms i .. i + n - 1. */
static void pass_piece(const body_pass *p, int64_t i, int64_t n, block_sums *sums)
{
    const rmsd_job *job = p->job;
    const frame_kernels *kernels = job->device->level->frame;
    double copy[3 * ATOMS_COPIED], copy_of_reference[3 * ATOMS_COPIED], masses[ATOMS_COPIED];
    double away[3] = {0.0};
    frame_view view = {.positions = atoms_adjacent(&job->positions, p->body->frame, i, n, copy),
                       .masses = atoms_adjacent_masses(&job->weights, p->body->frame, i, n, masses),
                       .wide_masses = job->weights.wide,
                       .atoms = n,
                       .origin = {p->origin[0], p->origin[1], p->origin[2]}};
    const frame_reference reference = {
        .positions = atoms_adjacent(&job->reference, 0, i, n, copy_of_reference),
        .wide = job->reference.wide,
        .centre = {p->centre->at[0], p->centre->at[1], p->centre->at[2]}};
    block_sums part = {{{0.0}, {0.0}, {0.0}}, 0.0};
    for (int k = 0; p->fit && k < 3; k++) {
        const double *row = p->fit->rotation + 3 * k, *shift = p->fit->shift;
        away[k] = row[0] * shift[0] + row[1] * shift[1] + row[2] * shift[2];
    }
    if (p->fit)
        part.deviation =
            kernels->deviation(job->positions.wide, &view, &reference, p->fit->rotation, away);
    else
        kernels->overlap(job->positions.wide, &view, &reference, &part.overlap);
    add_sums(sums, &part);
}

static void pass_block(const body_pass *p, int64_t block, block_sums *sums)
{
    int64_t first = p->body->first + block * ATOMS_BLOCK;
    int64_t end = first + block_length(p->body, block);
    int64_t piece = p->job->adjacent ? ATOMS_BLOCK : ATOMS_COPIED;
    *sums = (block_sums){{{0.0}, {0.0}, {0.0}}, 0.0};
    for (int64_t i = first; i < end; i += piece)
        pass_piece(p, i, end - i < piece ? end - i : piece, sums);
}

static TEAM_BODY(share_pass)
{
    const body_pass *p = argument;
    for (int64_t b = begin; b < end; b++)
        pass_block(p, b, &p->job->partial[b]);
}

/* Sums all blocks of a body in order: on this thread or, if `partial` is set, on the team. */
static void pass_body(body_pass *p, block_sums *sums)
{
    int64_t blocks = atoms_blocks(p->body->atoms);
    *sums = (block_sums){{{0.0}, {0.0}, {0.0}}, 0.0};
    if (p->job->partial)
        team_run(p->job->device->threads, blocks, 1, share_pass, p);
    for (int64_t b = 0; b < blocks; b++) {
        block_sums part;
        if (p->job->partial)
            part = p->job->partial[b];
        else
            pass_block(p, b, &part);
        add_sums(sums, &part);
    }
}

static void fit_body(const rmsd_job *job, const md_body *body)
{
    fit f;
    block_sums sums;
    centre c = centre_of_reference(job, body);
    atoms_first(&job->positions, body, f.origin);
    body_pass pass = {job, body, &c, f.origin, NULL};
    pass_body(&pass, &sums);
    double *covariance = sums.overlap.covariance;
    for (int i = 0; i < 3; i++) {
        f.shift[i] = sums.overlap.first[i] / c.weight;
        for (int j = 0; j < 3; j++)
            covariance[3 * i + j] -= f.shift[i] * sums.overlap.rest[j];
    }
    for (int i = 0; i < 9 && c.weight == 0.0; i++)
        covariance[i] = NAN;
    cpu_superpose(covariance, f.rotation);
    pass.fit = &f;
    pass_body(&pass, &sums);
    md_store1(operand_of(job->call, 0), body->row, sqrt(sums.deviation / c.weight));
    md_store9(operand_of(job->call, 1), body->row, f.rotation);
}

static TEAM_BODY(fit_rows)
{
    const rmsd_job *job = argument;
    const collet_operand *offsets = operand_of(job->call, 5);
    for (int64_t row = begin; row < end; row++) {
        md_body body = md_body_of(offsets, job->bodies, row, job->atoms);
        if (body.atoms <= job->shared_above)
            fit_body(job, &body);
    }
}

static void share_bodies(const rmsd_job *job)
{
    for (int64_t i = 0; i < job->bodies; i++) {
        md_body body = md_body_at(operand_of(job->call, 5), i, job->atoms);
        if (body.atoms <= job->shared_above)
            continue;
        for (; body.row < job->rows; body.row += job->bodies, body.frame++)
            fit_body(job, &body);
    }
}

ACCEPTS(rmsd)
{
    const collet_operand *positions = operand_of(call, 2);
    if (atoms_shared_above(device, positions->shape[0], md_bodies_of(operand_of(call, 5)),
                           positions->shape[1]) < INT64_MAX)
        *workspace_bytes = (uint64_t)atoms_blocks(positions->shape[1]) * sizeof(block_sums);
    return COLLET_OK;
}

KERNEL(rmsd)
{
    const collet_operand *positions = operand_of(call, 2);
    rmsd_job job = {.device = device,
                    .call = call,
                    .positions = atoms_find(positions),
                    .weights = atoms_find_masses(operand_of(call, 3)),
                    .reference = atoms_find(operand_of(call, 4)),
                    .bodies = md_bodies_of(operand_of(call, 5)),
                    .atoms = positions->shape[1]};
    job.adjacent = job.positions.adjacent && job.weights.adjacent && job.reference.adjacent;
    job.rows = positions->shape[0] * job.bodies;
    job.shared_above = atoms_shared_above(device, positions->shape[0], job.bodies, job.atoms);
    if (job.shared_above < INT64_MAX) {
        job.partial = call->workspace;
        share_bodies(&job);
        job.partial = NULL;
    }
    if (job.shared_above >= 0) {
        int64_t grain = job.bodies * GRAIN / (job.atoms + job.bodies + 1) + 1;
        team_run(device->threads, job.rows, grain, fit_rows, &job);
    }
    return COLLET_OK;
}
