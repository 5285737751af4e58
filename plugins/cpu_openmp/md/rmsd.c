/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/md/vectors.c */
#include "cpu_openmp/runtime/device.h"

#include "cpu_openmp/runtime/team.h"
#include "cpu_openmp/util/real.h"
#include "shared/host/md/formulas.h"
#include "shared/host/md/operands.h"
#include "kernel_frame.h"
#include "pass.h"

/* Minimum number of atoms per thread. */
#define GRAIN 4096

/* Sums over a block of atoms of one frame, first of the one pass, then of the other. */
typedef struct block_sums {
    overlap_sums overlap;
    double deviation;
} block_sums;

/* The best superposition of a frame: R (d - shift) on the reference, d taken from origin. */
typedef struct fit {
    double origin[3];
    double shift[3];
    double rotation[9];
} fit;

typedef struct rmsd_job {
    const collet_device *device;
    const collet_kernel_call *call;
    atoms_source positions, reference;
    int64_t frames, atoms, padded, blocks;
    double weight;
    double *weights;      /* table; the next two point after it */
    double *reference_at; /* three tables: the reference from its centre */
    double reference_centre[3];
    double reference_rest[3]; /* sum w ref, not exactly 0 because of rounding */
    block_sums *partial;      /* [block], where threads divide the blocks of a frame */
    const fit *shared;        /* of the frame whose blocks are divided */
    int64_t shared_frame;
} rmsd_job;

static int64_t block_length(const rmsd_job *job, int64_t first)
{
    return job->atoms - first < ATOMS_BLOCK ? job->atoms - first : ATOMS_BLOCK;
}

/* ---- The reference --------------------------------------------------------------------------- */

static void centre_reference(rmsd_job *job)
{
    double origin[3], copy[3 * ATOMS_COPIED], sums[3] = {0.0};
    atoms_first(&job->reference, 0, origin);
    for (int64_t first = 0; first < job->atoms; first += ATOMS_COPIED) {
        int64_t left = job->atoms - first, n = left < ATOMS_COPIED ? left : ATOMS_COPIED;
        frame_view view = {.positions = atoms_adjacent(&job->reference, 0, first, n, copy),
                           .masses = job->weights + first,
                           .atoms = n,
                           .origin = {origin[0], origin[1], origin[2]}};
        frame_sums part;
        job->device->level->frame->pass[FRAME_FIRST](job->reference.wide, &view, &part);
        for (int k = 0; k < 3; k++)
            sums[k] += part.first[k];
    }
    for (int k = 0; k < 3; k++)
        job->reference_centre[k] = origin[k] + sums[k] / job->weight;
}

static void fill_reference(rmsd_job *job)
{
    const frame_kernels *kernels = job->device->level->frame;
    const atoms_source *source = &job->reference;
    for (int k = 0; k < 3; k++) {
        double *table = job->reference_at + k * job->padded;
        job->reference_rest[k] = 0.0;
        for (int64_t i = 0; i < job->padded; i++) {
            int64_t lane = i % kernels->lanes, atom = i - lane + kernels->order[lane];
            table[i] = atom < job->atoms
                           ? real_load(source->at + atom * source->atom_step + k * source->step,
                                       source->wide) -
                                 job->reference_centre[k]
                           : 0.0;
            job->reference_rest[k] += job->weights[i] * table[i];
        }
    }
}

/* ---- A frame --------------------------------------------------------------------------------- */

static void add_overlap(overlap_sums *sums, const overlap_sums *part)
{
    for (int k = 0; k < 3; k++)
        sums->first[k] += part->first[k];
    for (int k = 0; k < 9; k++)
        sums->covariance[k] += part->covariance[k];
}

/* One pass over atoms first .. first+count-1; with `f` the second, that needs the rotation. */
static void pass_over(const rmsd_job *job, int64_t frame, int64_t first, int64_t count,
                      const double origin[3], const fit *f, block_sums *sums)
{
    const frame_kernels *kernels = job->device->level->frame;
    double copy[3 * ATOMS_COPIED], away[3] = {0.0};
    int64_t piece = job->positions.adjacent ? ATOMS_BLOCK : ATOMS_COPIED;
    for (int k = 0; f && k < 3; k++) {
        away[k] = f->rotation[3 * k] * f->shift[0] + f->rotation[3 * k + 1] * f->shift[1] +
                  f->rotation[3 * k + 2] * f->shift[2];
    }
    for (int64_t i = first; i < first + count; i += piece) {
        int64_t left = first + count - i, n = left < piece ? left : piece;
        frame_view view = {.positions = atoms_adjacent(&job->positions, frame, i, n, copy),
                           .masses = job->weights + i,
                           .atoms = n,
                           .origin = {origin[0], origin[1], origin[2]}};
        overlap_sums part;
        if (f) {
            sums->deviation += kernels->deviation(job->positions.wide, &view, job->reference_at + i,
                                                  job->padded, f->rotation, away);
            continue;
        }
        kernels->overlap(job->positions.wide, &view, job->reference_at + i, job->padded, &part);
        add_overlap(&sums->overlap, &part);
    }
}

static TEAM_BODY(share_pass)
{
    const rmsd_job *job = argument;
    for (int64_t b = begin; b < end; b++) {
        const fit *f = job->shared;
        job->partial[b] = (block_sums){{{0.0}, {0.0}}, 0.0};
        double origin[3];
        atoms_first(&job->positions, job->shared_frame, origin);
        pass_over(job, job->shared_frame, b * ATOMS_BLOCK, block_length(job, b * ATOMS_BLOCK),
                  origin, f, &job->partial[b]);
    }
}

/* All blocks of a frame, added in order, by this thread or, with `partial`, by the team. */
static void pass_frame(rmsd_job *job, int64_t frame, const double origin[3], const fit *f,
                       block_sums *sums)
{
    *sums = (block_sums){{{0.0}, {0.0}}, 0.0};
    if (job->partial) {
        job->shared = f;
        job->shared_frame = frame;
        team_run(job->device->threads, job->blocks, 1, share_pass, job);
    }
    for (int64_t b = 0; b < job->blocks; b++) {
        block_sums part = {{{0.0}, {0.0}}, 0.0};
        if (job->partial)
            part = job->partial[b];
        else
            pass_over(job, frame, b * ATOMS_BLOCK, block_length(job, b * ATOMS_BLOCK), origin, f,
                      &part);
        add_overlap(&sums->overlap, &part.overlap);
        sums->deviation += part.deviation;
    }
}

static void fit_frame(rmsd_job *job, int64_t frame)
{
    fit f;
    block_sums sums;
    atoms_first(&job->positions, frame, f.origin);
    pass_frame(job, frame, f.origin, NULL, &sums);
    double *covariance = sums.overlap.covariance;
    for (int i = 0; i < 3; i++) {
        f.shift[i] = sums.overlap.first[i] / job->weight;
        for (int j = 0; j < 3; j++)
            covariance[3 * i + j] -= f.shift[i] * job->reference_rest[j];
    }
    for (int i = 0; i < 9 && job->weight == 0.0; i++)
        covariance[i] = NAN;
    cpu_superpose(covariance, f.rotation);
    pass_frame(job, frame, f.origin, &f, &sums);
    md_store1(operand_of(job->call, 0), frame, sqrt(sums.deviation / job->weight));
    md_store9(operand_of(job->call, 1), frame, f.rotation);
}

static TEAM_BODY(fit_frames)
{
    rmsd_job job = *(const rmsd_job *)argument;
    for (int64_t f = begin; f < end; f++)
        fit_frame(&job, f);
}

ACCEPTS(rmsd)
{
    if (operand_of(call, 3)->ndim > 1 || operand_present(operand_of(call, 5)))
        return device->base.host->fail(call->err, COLLET_REFUSED,
                                       "it has no kernel for bodies yet");
    (void)device;
    int64_t atoms = operand_of(call, 2)->shape[1];
    *workspace_bytes = (uint64_t)(4 * atoms_padded(atoms) + atoms_blocks(atoms)) * sizeof(double) +
                       (uint64_t)atoms_blocks(atoms) * sizeof(block_sums);
    return COLLET_OK;
}

KERNEL(rmsd)
{
    rmsd_job job = {.device = device,
                    .call = call,
                    .positions = atoms_find(operand_of(call, 2)),
                    .reference = atoms_find(operand_of(call, 4)),
                    .weights = call->workspace};
    job.frames = operand_of(call, 2)->shape[0];
    job.atoms = operand_of(call, 2)->shape[1];
    job.padded = atoms_padded(job.atoms);
    job.blocks = atoms_blocks(job.atoms);
    job.reference_at = job.weights + job.padded;
    double *sums = job.reference_at + 3 * job.padded;
    if (job.frames == 0)
        return COLLET_OK;
    job.weight = atoms_masses(device, operand_of(call, 3), job.atoms, job.weights, sums);
    centre_reference(&job);
    fill_reference(&job);
    if (atoms_share_blocks(device, job.frames, job.atoms)) {
        job.partial = (block_sums *)(void *)(sums + job.blocks);
        for (int64_t f = 0; f < job.frames; f++)
            fit_frame(&job, f);
    } else {
        team_run(device->threads, job.frames, GRAIN / (job.atoms + 1) + 1, fit_frames, &job);
    }
    return COLLET_OK;
}
