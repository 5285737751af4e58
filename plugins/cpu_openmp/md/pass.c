/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/md/md.c, tests/cpu_openmp/test_kernels_openmp.c */
#include "pass.h"

#include <string.h>

#include "cpu_openmp/runtime/team.h"
#include "cpu_openmp/util/real.h"
#include "shared/host/util/counts.h"

/* Minimum number of atoms per thread: some microseconds of work. */
#define GRAIN 8192

/* Bodies of at most this many atoms are summed one per lane; a larger body fills all lanes. */
#define FEW_ATOMS 24

int64_t atoms_blocks(int64_t atoms)
{
    return divide_up(atoms, ATOMS_BLOCK);
}

int64_t atoms_shared_above(const collet_device *device, int64_t frames, int64_t bodies,
                           int64_t atoms)
{
    int64_t pieces = 4 * (int64_t)device->threads;
    if (device->threads == 1 || atoms_blocks(atoms) <= 1 || frames >= pieces)
        return INT64_MAX;
    if (frames * bodies < pieces)
        return -1;
    return atoms / pieces > ATOMS_BLOCK ? atoms / pieces : ATOMS_BLOCK;
}

/* ---- Atoms ----------------------------------------------------------------------------------- */

atoms_source atoms_find(const collet_operand *o)
{
    atoms_source s = {NULL, 0, 0, 0, 0, 1};
    if (!o || !operand_present(o))
        return s;
    int32_t last = o->ndim - 1;
    s.at = cpu_at(o);
    s.frame_step = last > 1 ? cpu_step(o, 0) : 0;
    s.atom_step = cpu_step(o, last - 1);
    s.step = cpu_step(o, last);
    s.wide = o->dtype == COLLET_F64;
    s.adjacent = o->strides[last] == 1 && o->strides[last - 1] == 3;
    return s;
}

atoms_source atoms_find_masses(const collet_operand *o)
{
    atoms_source s = {NULL, 0, 0, 0, 0, 1};
    if (!o || !operand_present(o))
        return s;
    s.at = cpu_at(o);
    s.frame_step = o->ndim > 1 ? cpu_step(o, 0) : 0;
    s.atom_step = cpu_step(o, o->ndim - 1);
    s.wide = o->dtype == COLLET_F64;
    s.adjacent = o->strides[o->ndim - 1] == 1;
    return s;
}

/* Copies `width` numbers of each of `count` atoms. */
static void copy_atoms(const atoms_source *source, const char *at, int64_t count, int width,
                       void *copy)
{
    for (int64_t i = 0; i < count; i++, at += source->atom_step) {
        for (int k = 0; k < width; k++) {
            const char *from = at + k * source->step;
            if (source->wide)
                ((double *)copy)[width * i + k] = *(const double *)(const void *)from;
            else
                ((float *)copy)[width * i + k] = *(const float *)(const void *)from;
        }
    }
}

static const char *atom_of(const atoms_source *source, int64_t frame, int64_t atom)
{
    return source->at + frame * source->frame_step + atom * source->atom_step;
}

const void *atoms_adjacent(const atoms_source *source, int64_t frame, int64_t first, int64_t count,
                           void *copy)
{
    if (!source->at)
        return NULL;
    if (source->adjacent)
        return atom_of(source, frame, first);
    copy_atoms(source, atom_of(source, frame, first), count, 3, copy);
    return copy;
}

const void *atoms_adjacent_masses(const atoms_source *source, int64_t frame, int64_t first,
                                  int64_t count, void *copy)
{
    if (!source->at)
        return NULL;
    if (source->adjacent)
        return atom_of(source, frame, first);
    copy_atoms(source, atom_of(source, frame, first), count, 1, copy);
    return copy;
}

void atoms_first(const atoms_source *source, const md_body *body, double origin[3])
{
    origin[0] = origin[1] = origin[2] = 0.0;
    if (body->atoms == 0)
        return;
    const char *at = atom_of(source, body->frame, body->first);
    for (int k = 0; k < 3; k++, at += source->step) {
        double x = real_load(at, source->wide);
        if (isfinite(x))
            origin[k] = x;
    }
}

/* ---- Sums of a body -------------------------------------------------------------------------- */

static void add_sums(frame_sums *total, const frame_sums *part)
{
    double *to = (double *)total;
    const double *from = (const double *)part;
    for (size_t i = 0; i < sizeof *total / sizeof *to; i++)
        to[i] += from[i];
}

/* Atoms that are not adjacent are copied, a few at a time. */
static void sum_block(const atoms_job *job, const md_body *body, int64_t block,
                      const double origin[3], frame_sums *sums)
{
    double r[3 * ATOMS_COPIED], v[3 * ATOMS_COPIED], f[3 * ATOMS_COPIED], m[ATOMS_COPIED];
    int64_t first = body->first + block * ATOMS_BLOCK;
    int64_t end = min_i64(first + ATOMS_BLOCK, body->first + body->atoms);
    int64_t piece = job->adjacent ? ATOMS_BLOCK : ATOMS_COPIED;
    frame_view view = {.wide_masses = job->m.wide, .origin = {origin[0], origin[1], origin[2]}};
    for (int64_t i = first; i == first || i < end; i += piece) {
        frame_sums part;
        int64_t n = min_i64(end - i, piece);
        view.positions = atoms_adjacent(&job->r, body->frame, i, n, r);
        view.velocities = atoms_adjacent(&job->v, body->frame, i, n, v);
        view.forces = atoms_adjacent(&job->f, body->frame, i, n, f);
        view.masses = atoms_adjacent_masses(&job->m, body->frame, i, n, m);
        view.atoms = n;
        job->device->level->frame->pass[job->pass](job->r.wide, &view, i == first ? sums : &part);
        if (i > first)
            add_sums(sums, &part);
    }
}

static void sum_body(const atoms_job *job, const md_body *body, const double origin[3],
                     frame_sums *sums)
{
    sum_block(job, body, 0, origin, sums);
    for (int64_t b = 1; b < atoms_blocks(body->atoms); b++) {
        frame_sums part;
        sum_block(job, body, b, origin, &part);
        add_sums(sums, &part);
    }
}

static void first_origin(const atoms_job *job, const md_body *body, double origin[3])
{
    if (job->origins)
        md_load3(job->origins, body->frame, origin);
    else
        atoms_first(&job->r, body, origin);
}

/* If origin and centre are too far apart, moves the origin to the centre and returns 1; else returns 0. */
static int better_origin(const atoms_job *job, const frame_sums *s, double origin[3])
{
    if (job->origins || s->mass == 0.0)
        return 0;
    const double *p = s->first;
    double moved = (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) / s->mass;
    double extent = (s->second[0] + s->second[1] + s->second[2]) - moved;
    if (!(fabs(moved) > FRAME_FAR * fabs(extent)) || !isfinite(moved))
        return 0;
    for (int i = 0; i < 3; i++)
        origin[i] += s->first[i] / s->mass;
    return 1;
}

static void subtract_cross(const double a[3], const double b[3], double from[3])
{
    from[0] -= a[1] * b[2] - a[2] * b[1];
    from[1] -= a[2] * b[0] - a[0] * b[2];
    from[2] -= a[0] * b[1] - a[1] * b[0];
}

/* Moves a body's sums from the origin of the pass to its centre of mass. Without mass there is no
 * centre: the sums are then NaN, or 0 if there are no atoms. */
static void centre(const md_body *body, const double origin[3], const frame_sums *s, body_sums *c)
{
    double shift[3], force[3], per_mass = 1.0 / s->mass;
    int without_mass = s->mass == 0.0;
    memcpy(c, s, sizeof *c);
    memcpy(force, s->force, sizeof force);
    for (int i = 0; i < 3; i++) {
        shift[i] = without_mass ? (double)NAN : s->first[i] * per_mass;
        c->com[i] = origin[i] + shift[i];
        /* If the centre is infinite, all sums become NaN, because infinities could cancel to a finite number. */
        shift[i] = isfinite(shift[i]) ? shift[i] : (double)NAN;
        if (without_mass && body->atoms == 0)
            shift[i] = 0.0;
        c->second[i] -= s->first[i] * shift[i];
    }
    c->second[3] -= s->first[0] * shift[1];
    c->second[4] -= s->first[0] * shift[2];
    c->second[5] -= s->first[1] * shift[2];
    subtract_cross(shift, s->momentum, c->angular);
    subtract_cross(shift, force, c->torque);
    c->energies[2] = -1.0;
}

/* Computes the sums about the centre of mass from the sums about `origin`. If the origin is too far away, sums the
 * body again. */
static void centre_body(const atoms_job *job, const md_body *body, double origin[3],
                        frame_sums *sums, body_sums *central)
{
    if (better_origin(job, sums, origin))
        sum_body(job, body, origin, sums);
    if (job->origins)
        memcpy(central, sums, sizeof *central);
    else
        centre(body, origin, sums, central);
}

static void sum_one(const atoms_job *job, const md_body *body, body_sums *central)
{
    double origin[3];
    frame_sums sums;
    first_origin(job, body, origin);
    sum_body(job, body, origin, &sums);
    centre_body(job, body, origin, &sums, central);
}

/* ---- Several bodies -------------------------------------------------------------------------- */

/* This many bodies are first all summed, and then finished one after another. Finishing a body is a chain of divisions;
 * the chains of several bodies overlap in time if no pass is between them. */
#define BATCH 16

typedef struct batch {
    md_body body[BATCH];
    body_sums sums[BATCH + FRAME_BODIES]; /* the kernel stores the sums of all lanes, used or not */
} batch;

static void set_lane(frame_field *field, const atoms_source *source, const md_body *body, int lane)
{
    if (source->at)
        field->at[lane] = atom_of(source, body->frame, body->first);
}

static void set_steps(frame_field *field, const atoms_source *source)
{
    field->atom_step = source->atom_step;
    field->step = source->step;
}

/* Sums bodies first .. first + count - 1, one per lane; the remaining lanes repeat body `first`. */
static void sum_lanes(const atoms_job *job, frame_bodies *lanes, batch *b, int first, int count)
{
    const body_kernels *kernels = job->device->level->body;
    for (int i = 0; i < kernels->lanes; i++) {
        const md_body *body = &b->body[first + (i < count ? i : 0)];
        set_lane(&lanes->r, &job->r, body, i);
        set_lane(&lanes->v, &job->v, body, i);
        set_lane(&lanes->f, &job->f, body, i);
        set_lane(&lanes->m, &job->m, body, i);
        lanes->atoms[i] = body->atoms;
    }
    uint32_t far = kernels->sum(job->pass, lanes, &b->sums[first]);
    for (int i = 0; i < count && far; i++)
        if (far >> i & 1)
            sum_one(job, &b->body[first + i], &b->sums[first + i]);
}

static int fits_lanes(const atoms_job *job, const md_body *body)
{
    return body->atoms > 0 && body->atoms <= FEW_ATOMS && !job->origins && job->m.at;
}

/* Sums `count` bodies: consecutive bodies of few atoms together, one body per lane; other bodies one at a time. */
static void sum_batch(const atoms_job *job, frame_bodies *lanes, batch *b, int count)
{
    int most = job->device->level->body->lanes, fit;
    for (int i = 0; i < count; i += fit ? fit : 1) {
        fit = 0;
        while (i + fit < count && fit < most && fits_lanes(job, &b->body[i + fit]))
            fit++;
        if (fit)
            sum_lanes(job, lanes, b, i, fit);
        else
            sum_one(job, &b->body[i], &b->sums[i]);
    }
}

static TEAM_BODY(run_rows)
{
    const atoms_job *job = argument;
    batch b;
    frame_bodies lanes = {.wide = job->r.wide, .wide_masses = job->m.wide};
    int64_t frame = begin / job->bodies, body = begin % job->bodies;
    memset(b.sums, 0, (size_t)(min_i64(end - begin, BATCH) + FRAME_BODIES) * sizeof *b.sums);
    set_steps(&lanes.r, &job->r);
    set_steps(&lanes.v, &job->v);
    set_steps(&lanes.f, &job->f);
    set_steps(&lanes.m, &job->m);
    for (int64_t row = begin; row < end; row += BATCH) {
        int count = (int)min_i64(end - row, BATCH), n = 0;
        for (int i = 0; i < count; i++) {
            b.body[n] = md_body_at(job->offsets, body, job->atoms);
            b.body[n].row = row + i;
            b.body[n].frame = frame;
            n += b.body[n].atoms <= job->shared_above;
            body = body + 1 == job->bodies ? 0 : body + 1;
            frame += body == 0;
        }
        sum_batch(job, &lanes, &b, n);
        for (int i = 0; i < n; i++)
            job->finish(job, &b.body[i], &b.sums[i]);
    }
}

/* ---- Bodies of many atoms ---------------------------------------------------------------- */

typedef struct blocks_job {
    const atoms_job *job;
    const md_body *body;
    const double *origin;
} blocks_job;

static TEAM_BODY(run_blocks)
{
    const blocks_job *b = argument;
    for (int64_t i = begin; i < end; i++)
        sum_block(b->job, b->body, i, b->origin, &b->job->partial[i]);
}

/* The team sums the blocks of one body; the result is the same as on one thread. */
static void share_body(const atoms_job *job, const md_body *body)
{
    double origin[3];
    first_origin(job, body, origin);
    blocks_job blocks = {job, body, origin};
    int64_t count = atoms_blocks(body->atoms);
    team_run(job->device->threads, count > 0 ? count : 1, 1, run_blocks, &blocks);
    frame_sums sums = job->partial[0];
    for (int64_t b = 1; b < count; b++)
        add_sums(&sums, &job->partial[b]);
    body_sums central;
    centre_body(job, body, origin, &sums, &central);
    job->finish(job, body, &central);
}

static void share_bodies(const atoms_job *job)
{
    const collet_operand *o = job->offsets;
    int many = job->bodies > 1 && job->shared_above >= 0;
    const int64_t *at = many ? (const int64_t *)(const void *)cpu_at(o) : NULL;
    for (int64_t i = 0; i < job->bodies; i++) {
        /* This test must be fast: there may be hundreds of thousands of small bodies. */
        if (many && (uint64_t)at[(i + 1) * o->strides[0]] - (uint64_t)at[i * o->strides[0]] <=
                        (uint64_t)job->shared_above)
            continue;
        md_body body = md_body_at(job->offsets, i, job->atoms);
        if (body.atoms <= job->shared_above)
            continue;
        for (; body.row < job->rows; body.row += job->bodies, body.frame++)
            share_body(job, &body);
    }
}

/* ---- The job --------------------------------------------------------------------------------- */

uint64_t atoms_workspace(const collet_device *device, const collet_operand *positions,
                         const collet_operand *offsets)
{
    int64_t frames = positions->shape[0], atoms = positions->shape[1];
    return atoms_shared_above(device, frames, md_bodies_of(offsets), atoms) < INT64_MAX
               ? (uint64_t)atoms_blocks(atoms) * sizeof(frame_sums)
               : 0;
}

collet_status atoms_run(const collet_device *device, const collet_kernel_call *call, atoms_job *job)
{
    job->call = call;
    job->device = device;
    job->r = atoms_find(job->positions);
    job->v = atoms_find(job->velocities);
    job->f = atoms_find(job->forces);
    job->m = atoms_find_masses(job->masses);
    job->adjacent = job->r.adjacent && job->v.adjacent && job->f.adjacent && job->m.adjacent;
    job->bodies = md_bodies_of(job->offsets);
    job->rows = job->positions->shape[0] * job->bodies;
    job->atoms = job->positions->shape[1];
    job->partial = call->workspace;
    job->shared_above =
        atoms_shared_above(device, job->positions->shape[0], job->bodies, job->atoms);
    if (job->shared_above < INT64_MAX)
        share_bodies(job);
    if (job->shared_above >= 0) {
        int64_t grain = job->bodies * GRAIN / (job->atoms + job->bodies + 1) + 1;
        team_run(device->threads, job->rows, grain, run_rows, job);
    }
    return COLLET_OK;
}
