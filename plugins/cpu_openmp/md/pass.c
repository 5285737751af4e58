/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/md/md.c, tests/cpu_openmp/test_kernels_openmp.c */
#include "pass.h"

#include "cpu_openmp/runtime/team.h"
#include "shared/host/util/counts.h"
#include "cpu_openmp/util/real.h"
#include "shared/host/md/operands.h"
#include "shared/host/util/sum.h"

/* Minimum number of atoms per thread: some microseconds of work. */
#define GRAIN 8192

/* The squared distance between origin and centre, relative to the squared extent, from which a
 * frame is summed again: the subtraction then costs two of sixteen digits. */
#define FAR 64.0

/* ---- Masses ---------------------------------------------------------------------------------- */

int64_t atoms_padded(int64_t atoms)
{
    return (atoms + 7) / 8 * 8;
}

int64_t atoms_blocks(int64_t atoms)
{
    return divide_up(atoms, ATOMS_BLOCK);
}

int atoms_share_blocks(const collet_device *device, int64_t frames, int64_t atoms)
{
    return device->threads > 1 && atoms_blocks(atoms) > 1 && frames < 4 * (int64_t)device->threads;
}

typedef struct mass_job {
    const collet_operand *masses; /* NULL: 1 */
    const frame_kernels *kernels;
    int64_t atoms;
    double *table, *sums;
} mass_job;

static double mass_at(const collet_operand *o, int64_t i)
{
    return o ? real_load(cpu_at(o) + i * cpu_step(o, 0), o->dtype == COLLET_F64) : 1.0;
}

static TEAM_BODY(fill_table)
{
    const mass_job *job = argument;
    for (int64_t b = begin; b < end; b++) {
        int64_t first = b * ATOMS_BLOCK;
        int64_t last = min_i64(first + ATOMS_BLOCK, atoms_padded(job->atoms));
        double sums[8] = {0.0};
        for (int64_t i = first; i < last; i++) {
            int64_t lane = i & (job->kernels->lanes - 1);
            int64_t atom = i - lane + job->kernels->order[lane];
            double m = atom < job->atoms ? mass_at(job->masses, atom) : 0.0;
            job->table[i] = m;
            sums[i % 8] += m;
        }
        job->sums[b] = ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
                       ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    }
}

double atoms_masses(const collet_device *device, const collet_operand *masses, int64_t atoms,
                    double *table, double *sums)
{
    mass_job job = {.masses = masses && operand_present(masses) ? masses : NULL,
                    .kernels = device->level->frame,
                    .atoms = atoms,
                    .table = table,
                    .sums = sums};
    cpu_sum total = {0};
    team_run(device->threads, atoms_blocks(atoms), 2, fill_table, &job);
    for (int64_t b = 0; b < atoms_blocks(atoms); b++)
        cpu_add(&total, sums[b]);
    return cpu_total(&total);
}

/* ---- Positions of atoms ------------------------------------------------------------------------
 */

atoms_source atoms_find(const collet_operand *o)
{
    atoms_source s = {NULL, 0, 0, 0, 0, 0, 1};
    if (!o || !operand_present(o))
        return s;
    int32_t last = o->ndim - 1;
    s.at = cpu_at(o);
    s.frame_step = last > 1 ? cpu_step(o, 0) : 0;
    s.atom_step = cpu_step(o, last - 1);
    s.step = cpu_step(o, last);
    s.atoms = o->shape[last - 1];
    s.wide = o->dtype == COLLET_F64;
    s.adjacent = o->strides[last] == 1 && o->strides[last - 1] == 3;
    return s;
}

const void *atoms_adjacent(const atoms_source *source, int64_t frame, int64_t first, int64_t count,
                           void *copy)
{
    const char *at = source->at + frame * source->frame_step + first * source->atom_step;
    if (source->adjacent)
        return at;
    for (int64_t i = 0; i < count; i++, at += source->atom_step) {
        for (int k = 0; k < 3; k++) {
            const char *from = at + k * source->step;
            if (source->wide)
                ((double *)copy)[3 * i + k] = *(const double *)(const void *)from;
            else
                ((float *)copy)[3 * i + k] = *(const float *)(const void *)from;
        }
    }
    return copy;
}

void atoms_first(const atoms_source *source, int64_t frame, double origin[3])
{
    origin[0] = origin[1] = origin[2] = 0.0;
    if (source->atoms == 0)
        return;
    const char *at = source->at + frame * source->frame_step;
    for (int k = 0; k < 3; k++, at += source->step) {
        double x = real_load(at, source->wide);
        if (isfinite(x))
            origin[k] = x;
    }
}

/* ---- Sums ------------------------------------------------------------------------------------ */

static void add_sums(frame_sums *total, const frame_sums *part)
{
    double *to = (double *)total;
    const double *from = (const double *)part;
    for (size_t i = 0; i < sizeof *total / sizeof *to; i++)
        to[i] += from[i];
}

/* Atoms that are not adjacent are copied, a few at a time. */
static void sum_block(const atoms_job *job, int64_t frame, int64_t block, const double origin[3],
                      frame_sums *sums)
{
    double r[3 * ATOMS_COPIED], v[3 * ATOMS_COPIED], f[3 * ATOMS_COPIED];
    int64_t first = block * ATOMS_BLOCK, end = min_i64(first + ATOMS_BLOCK, job->atoms);
    int64_t piece = job->adjacent ? ATOMS_BLOCK : ATOMS_COPIED;
    frame_view view = {.origin = {origin[0], origin[1], origin[2]}};
    for (int64_t i = first; i == first || i < end; i += piece) {
        frame_sums part;
        int64_t n = min_i64(end - i, piece);
        view.positions = atoms_adjacent(&job->r, frame, i, n, r);
        view.velocities = job->v.at ? atoms_adjacent(&job->v, frame, i, n, v) : NULL;
        view.forces = job->f.at ? atoms_adjacent(&job->f, frame, i, n, f) : NULL;
        view.masses = job->table + i;
        view.atoms = n;
        job->device->level->frame->pass[job->pass](job->r.wide, &view, i == first ? sums : &part);
        if (i > first)
            add_sums(sums, &part);
    }
}

static void sum_frame(const atoms_job *job, int64_t frame, const double origin[3], frame_sums *sums)
{
    if (job->blocks == 1) {
        sum_block(job, frame, 0, origin, sums);
        return;
    }
    *sums = (frame_sums){{0.0}, {0.0}, {0.0}, 0.0, {0.0}, {0.0}, {0.0}};
    for (int64_t b = 0; b < job->blocks; b++) {
        frame_sums part;
        sum_block(job, frame, b, origin, &part);
        add_sums(sums, &part);
    }
}

static void first_origin(const atoms_job *job, int64_t frame, double origin[3])
{
    if (job->origins)
        md_load3(job->origins, frame, origin);
    else
        atoms_first(&job->r, frame, origin);
}

/* Moves the origin to the centre when they are too far apart; 0 when it did not. */
static int better_origin(const atoms_job *job, const frame_sums *s, double origin[3])
{
    if (job->origins || job->mass == 0.0)
        return 0;
    const double *p = s->first;
    double moved = (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) * job->per_mass;
    double extent = (s->second[0] + s->second[1] + s->second[2]) - moved;
    if (!(fabs(moved) > FAR * fabs(extent)) || !isfinite(moved))
        return 0;
    for (int i = 0; i < 3; i++)
        origin[i] += s->first[i] * job->per_mass;
    return 1;
}

static void finish_frame(const atoms_job *job, int64_t frame, double origin[3], frame_sums *sums)
{
    if (better_origin(job, sums, origin))
        sum_frame(job, frame, origin, sums);
    job->finish(job, frame, origin, sums);
}

/* ---- Distribution -----------------------------------------------------------------------------
 */

/* Frames summed before they are finished: finishing a frame is a chain of divisions, and the chains
 * of several frames overlap when no pass is between them. */
#define BATCH 16

static TEAM_BODY(run_frames)
{
    const atoms_job *job = argument;
    double origin[BATCH][3];
    frame_sums sums[BATCH];
    for (int64_t first = begin; first < end; first += BATCH) {
        int64_t count = end - first < BATCH ? end - first : BATCH;
        for (int64_t i = 0; i < count; i++) {
            first_origin(job, first + i, origin[i]);
            sum_frame(job, first + i, origin[i], &sums[i]);
        }
        for (int64_t i = 0; i < count; i++)
            finish_frame(job, first + i, origin[i], &sums[i]);
    }
}

static TEAM_BODY(run_blocks)
{
    const atoms_job *job = argument;
    for (int64_t i = begin; i < end; i++) {
        double origin[3];
        first_origin(job, i / job->blocks, origin);
        sum_block(job, i / job->blocks, i % job->blocks, origin, &job->partial[i]);
    }
}

/* Frames whose blocks were divided among threads: the same sums as on one thread. */
static void finish_blocks(const atoms_job *job)
{
    for (int64_t f = 0; f < job->frames; f++) {
        double origin[3];
        frame_sums sums = {{0.0}, {0.0}, {0.0}, 0.0, {0.0}, {0.0}, {0.0}};
        first_origin(job, f, origin);
        for (int64_t b = 0; b < job->blocks; b++)
            add_sums(&sums, &job->partial[f * job->blocks + b]);
        finish_frame(job, f, origin, &sums);
    }
}

uint64_t atoms_workspace(const collet_device *device, const collet_kernel_call *call)
{
    const collet_operand *positions = operand_of(call, call->n_out);
    int64_t frames = positions->shape[0], atoms = positions->shape[1];
    int64_t blocks = atoms_blocks(atoms);
    uint64_t bytes = (uint64_t)(atoms_padded(atoms) + blocks) * sizeof(double);
    if (atoms_share_blocks(device, frames, atoms))
        bytes += (uint64_t)(frames * blocks) * sizeof(frame_sums);
    return bytes;
}

collet_status atoms_run(const collet_device *device, const collet_kernel_call *call, atoms_job *job)
{
    job->call = call;
    job->device = device;
    job->r = atoms_find(job->positions);
    job->v = atoms_find(job->velocities);
    job->f = atoms_find(job->forces);
    job->adjacent = job->r.adjacent && job->v.adjacent && job->f.adjacent;
    job->frames = job->positions->shape[0];
    job->atoms = job->positions->shape[1];
    job->blocks = atoms_blocks(job->atoms);
    job->table = call->workspace;
    double *sums = job->table + atoms_padded(job->atoms);
    if (job->frames == 0)
        return COLLET_OK;
    job->mass = atoms_masses(device, job->masses, job->atoms, job->table, sums);
    job->per_mass = 1.0 / job->mass;
    if (atoms_share_blocks(device, job->frames, job->atoms)) {
        job->partial = (frame_sums *)(void *)(sums + job->blocks);
        team_run(device->threads, job->frames * job->blocks, 1, run_blocks, job);
        finish_blocks(job);
    } else {
        int64_t grain = GRAIN / (job->atoms + 1) + 1;
        team_run(device->threads, job->frames, grain, run_frames, job);
    }
    return COLLET_OK;
}
