/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory.c, tests/engines/test_trajectory_source.c */
#include "inputs.h"

#include "chains.h"
#include "files.h"
#include "trajectory/atoms/selection_marks.h"
#include "trajectory/reading/index.h"
#include "trajectory/reading/memory.h"
#include "trajectory/shards/shard.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static collet_status copy_members(trajectory_inputs *in, collet_error *err)
{
    const int64_t *members = trajectory_choice_members(in->choice, &in->n_selected);

    in->selected = malloc(((size_t)in->n_selected + 1) * sizeof *in->selected);
    if (in->selected == NULL)
        return collet_fail(err, COLLET_NO_MEMORY, "selection: no memory for %lld atoms",
                           (long long)in->n_selected);
    memcpy(in->selected, members, (size_t)in->n_selected * sizeof *in->selected);
    return COLLET_OK;
}

/* Groups need not contain all selected atoms: removes selected atoms that are in no body. */
static collet_status drop_others(trajectory_inputs *in, collet_error *err)
{
    uint8_t *used = calloc((size_t)in->topology->n_atoms, 1);
    int64_t n = 0;

    if (used == NULL)
        return collet_fail(err, COLLET_NO_MEMORY, "bodies: out of memory");
    for (int64_t i = 0; i < in->n_atoms; i++)
        used[in->indices[i]] = 1;
    for (int64_t i = 0; i < in->n_selected; i++)
        if (used[in->selected[i]])
            in->selected[n++] = in->selected[i];
    in->n_selected = n;
    free(used);
    return COLLET_OK;
}

static collet_status open_bodies(trajectory_inputs *in, const trajectory_settings *settings,
                                 const trajectory_groups *groups, collet_error *err)
{
    collet_status status =
        trajectory_bodies_find(&in->bodies, settings->each, in->topology, settings->topology,
                               groups, in->selected, in->n_selected, err);

    if (status != COLLET_OK)
        return status;
    in->indices = in->bodies.members;
    in->n_atoms = in->bodies.offsets[in->bodies.n];
    return trajectory_bodies_named(settings->each) ? COLLET_OK : drop_others(in, err);
}

static collet_status open_selection(trajectory_inputs *in, const trajectory_settings *settings,
                                    collet_error *err)
{
    trajectory_groups *groups = NULL;
    trajectory_selection *selection;
    collet_status status = trajectory_selection_compile(settings->selection, &selection, err);

    if (status != COLLET_OK)
        return status;
    if (settings->ndx != NULL)
        status = trajectory_groups_read(settings->ndx, in->topology->n_atoms, &groups, err);
    if (status == COLLET_OK)
        status = trajectory_choice_create(selection, in->topology, groups, &in->choice, err);
    if (status == COLLET_OK && settings->source != NULL)
        trajectory_choice_set_frames(in->choice, settings->source->choose, settings->source->user);
    if (status == COLLET_OK)
        status = copy_members(in, err);
    if (status == COLLET_OK && in->n_selected == 0) {
        char hint[256];
        trajectory_selection_hint(selection, in->topology, hint, sizeof hint);
        status = collet_fail(
            err, COLLET_INVALID, "the selection '%s' matches none of the %lld atoms of %s%s",
            settings->selection, (long long)in->topology->n_atoms, settings->topology, hint);
    }
    if (status == COLLET_OK)
        status = open_bodies(in, settings, groups, err);
    trajectory_groups_free(groups);
    trajectory_selection_free(selection);
    return status;
}

static collet_status copy_masses(const trajectory_settings *settings,
                                 const trajectory_topology *topology, double *masses,
                                 collet_error *err)
{
    size_t n = (size_t)topology->n_atoms;

    if (settings->n_mass_values != topology->n_atoms)
        return collet_fail(
            err, COLLET_INVALID,
            "mass_values: %lld masses, but %s has %lld atoms; give one for every atom, "
            "selected or not",
            (long long)settings->n_mass_values, settings->topology, (long long)topology->n_atoms);
    for (size_t i = 0; i < n; i++) {
        masses[i] = settings->mass_values[i];
        if (!(masses[i] >= 0) || !isfinite(masses[i]))
            return collet_fail(
                err, COLLET_INVALID,
                "mass_values: the mass of atom %lld is %g; it must be finite and not negative",
                (long long)i, masses[i]);
    }
    return COLLET_OK;
}

static collet_status guessed_masses(trajectory_inputs *in, double *masses, collet_error *err)
{
    collet_status status = trajectory_masses_guess(in->topology, in->selected, in->n_selected,
                                                   masses, &in->composition, err);

    if (status != COLLET_OK)
        return status;
    /* Moves the masses from the front of the array to their atoms' indices. The last mass is moved first: because
     * selected[i] >= i, no mass is overwritten before it is moved. */
    for (int64_t i = in->n_selected - 1; i >= 0; i--)
        masses[in->selected[i]] = masses[i];
    in->elements = trajectory_composition_text(&in->composition);
    return in->elements != NULL ? COLLET_OK
                                : collet_fail(err, COLLET_NO_MEMORY, "masses: out of memory");
}

/* Sets masses[a] for each selected atom a of the topology. */
static collet_status choose_masses(trajectory_inputs *in, const trajectory_settings *settings,
                                   double *masses, collet_error *err)
{
    if (trajectory_settings_equal_masses(settings)) {
        for (int64_t i = 0; i < in->topology->n_atoms; i++)
            masses[i] = 1;
        return COLLET_OK;
    }
    if (settings->masses != NULL)
        return trajectory_masses_read(settings->masses, in->topology, masses, err);
    if (settings->mass_values != NULL)
        return copy_masses(settings, in->topology, masses, err);
    if (in->topology->masses == NULL)
        return guessed_masses(in, masses, err);
    memcpy(masses, in->topology->masses, (size_t)in->topology->n_atoms * sizeof *masses);
    return COLLET_OK;
}

static collet_status refuse_mass(const trajectory_inputs *in, const trajectory_settings *settings,
                                 int64_t body, collet_error *err)
{
    const trajectory_bodies *b = &in->bodies;
    char of[160];

    if (b->labels == NULL)
        snprintf(of, sizeof of, "the selection '%.100s'", settings->selection);
    else
        snprintf(of, sizeof of, "the body '%.100s'", b->labels[body]);
    return collet_fail(
        err, COLLET_INVALID,
        "the total mass of the %lld atoms of %s is 0 (masses "
        "%s %s), so that there is no centre of mass; give masses or select other atoms",
        (long long)(b->offsets[body + 1] - b->offsets[body]), of,
        settings->masses != NULL        ? "from"
        : settings->mass_values != NULL ? "given for"
        : in->topology->masses != NULL  ? "of"
                                        : "by the elements of the atoms in",
        settings->masses != NULL ? settings->masses : settings->topology);
}

/* Copies the masses from an array with an element for each atom of the topology to an array with an element for each
 * member of a body. */
static collet_status spread_masses(trajectory_inputs *in, const trajectory_settings *settings,
                                   const double *masses, collet_error *err)
{
    for (int64_t i = 0; i < in->n_selected; i++)
        in->mass += masses[in->selected[i]];
    for (int64_t b = 0; b < in->bodies.n; b++) {
        double mass = 0;

        for (int64_t i = in->bodies.offsets[b]; i < in->bodies.offsets[b + 1]; i++)
            mass += in->masses[i] = masses[in->indices[i]];
        if (!(mass > 0))
            return refuse_mass(in, settings, b, err);
    }
    return COLLET_OK;
}

/* Copies the charges to the members of the bodies. */
static collet_status open_charges(trajectory_inputs *in, collet_error *err)
{
    const double *charges = in->topology->charges;

    if (charges == NULL)
        return COLLET_OK;
    in->charges = malloc((size_t)in->n_atoms * sizeof *in->charges);
    if (in->charges == NULL)
        return collet_fail(err, COLLET_NO_MEMORY, "charges: no memory for %lld atoms",
                           (long long)in->n_atoms);
    for (int64_t i = 0; i < in->n_atoms; i++)
        in->charges[i] = charges[in->indices[i]];
    return COLLET_OK;
}

/* `masses`: the masses of the atoms of the topology. */
static collet_status open_system(trajectory_inputs *in, const trajectory_settings *settings,
                                 const double *masses, collet_error *err)
{
    const trajectory_system_setup setup = {
        .topology = in->topology,
        .path = settings->topology,
        .text = settings->drift_of,
        .ndx = settings->ndx,
        .masses = in->elements == NULL ? masses : NULL,
        .rotates = (settings->drift & COLLET_TRAJECTORY_DRIFT_ANGULAR) != 0};

    return settings->drift == COLLET_TRAJECTORY_DRIFT_KEEP
               ? COLLET_OK
               : trajectory_system_open(&in->system, &setup, err);
}

static collet_status open_masses(trajectory_inputs *in, const trajectory_settings *settings,
                                 collet_error *err)
{
    double *masses = calloc((size_t)in->topology->n_atoms, sizeof *masses);
    collet_status status;

    in->masses = calloc((size_t)in->n_atoms, sizeof *in->masses);
    if (in->masses == NULL || masses == NULL) {
        free(masses);
        return collet_fail(err, COLLET_NO_MEMORY, "masses: no memory for %lld atoms",
                           (long long)in->topology->n_atoms);
    }
    status = choose_masses(in, settings, masses, err);
    if (status == COLLET_OK)
        status = spread_masses(in, settings, masses, err);
    if (status == COLLET_OK)
        status = open_charges(in, err);
    if (status == COLLET_OK)
        status = open_system(in, settings, masses, err);
    free(masses);
    return status;
}

static collet_status open_arrangement(trajectory_inputs *in, const trajectory_settings *settings,
                                      collet_error *err)
{
    const trajectory_arrangement_setup setup = {
        .topology = in->topology,
        .members = in->indices,
        .n_members = in->n_atoms,
        .offsets = in->bodies.offsets,
        .n_bodies = in->bodies.n,
        .choice = trajectory_choice_varies(in->choice) ? in->choice : NULL,
        .masses = in->masses,
        .system = in->system.n > 0 ? &in->system : NULL,
        .pbc = settings->pbc,
        .drift = settings->drift};

    return trajectory_arrangement_create(&setup, &in->arrangement, err);
}

/* Faults of the frame are reported when the work reads it. */
static collet_status open_apart(trajectory_inputs *in, const trajectory_settings *settings,
                                collet_error *err)
{
    trajectory_frames *frame = NULL;
    int64_t n = 0;

    if (settings->pbc == COLLET_TRAJECTORY_PBC_NONE)
        return COLLET_OK;
    collet_status status = trajectory_apart_create(in->topology, in->indices, in->bodies.offsets,
                                                   in->bodies.n, &in->apart, err);
    const int64_t *atoms = in->apart ? trajectory_apart_atoms(in->apart, &n) : NULL;
    if (status != COLLET_OK || n == 0)
        return status;
    status = trajectory_files_first(settings, atoms, n, &frame, err);
    if (status == COLLET_OK)
        status = trajectory_apart_decide(in->apart, frame, err);
    trajectory_frames_free(frame);
    return status;
}

/* Returns the error for a trajectory `path` whose n_atoms differs from the topology's. */
static collet_status atoms_differ(const trajectory_topology *topology, const char *topology_path,
                                  const char *path, int64_t n_atoms, collet_error *err)
{
    int64_t n = topology->n_atoms;
    char left_out[80] = "", molecules[80] = "";

    if (topology->left_out > 0)
        snprintf(left_out, sizeof left_out, ", without %lld in alternative locations",
                 (long long)topology->left_out);
    if (n_atoms > n && n_atoms % n == 0)
        snprintf(molecules, sizeof molecules, ", such as a .top file with %lld of these molecules",
                 (long long)(n_atoms / n));
    return collet_fail(
        err, COLLET_FORMAT, "%s has %lld atoms, but %s has %lld%s: %s%s", path, (long long)n_atoms,
        topology_path, (long long)n, left_out,
        n_atoms < n
            ? "give files of the same system; a trajectory of a part of the system needs a topology of this part, "
              "such as a .gro or .pdb file that was written with it"
            : "give files of the same system",
        molecules);
}

/* Opens the trajectory or the reference, `path`, which must have as many atoms as the topology, and selects
 * its atoms. */
static collet_status open_frames(const trajectory_inputs *in, const trajectory_settings *settings,
                                 const char *path, const io_poll *poll, trajectory_reader **out,
                                 collet_error *err)
{
    collet_status status = path == settings->trajectory
                               ? trajectory_files_open(settings, poll, out, err)
                               : trajectory_reader_open(path, poll, out, err);
    int64_t n_atoms;

    if (status != COLLET_OK)
        return status;
    n_atoms = trajectory_reader_get_info(*out)->n_atoms;
    if (n_atoms != in->topology->n_atoms)
        return atoms_differ(in->topology, settings->topology, path, n_atoms, err);
    const int64_t *atoms = trajectory_arrangement_atoms(in->arrangement, &n_atoms);
    return trajectory_reader_select(*out, atoms, n_atoms, err);
}

/* Reads the first frame of a reader into *read. If arranging needs other memory for its result, creates *out; otherwise
 * *out is NULL. The caller frees both, also after an error. */
static collet_status read_first(const trajectory_inputs *in, trajectory_reader *trajectory,
                                const char *path, const int fields[2], trajectory_frames **read,
                                trajectory_frames **out, collet_error *err)
{
    const trajectory_arranger *arranger = trajectory_arrangement_arranger(in->arrangement);
    collet_dtype dtype = trajectory_reader_get_info(trajectory)->dtype;
    collet_status status = trajectory_frames_create(trajectory_reader_selected(trajectory), 1,
                                                    dtype, fields[0], fields[1], read, err);

    if (status == COLLET_OK)
        status = trajectory_reader_read(trajectory, *read, err);
    if (status == COLLET_OK && (*read)->n_frames == 0)
        status = collet_fail(err, COLLET_FORMAT, "%s: the file has no frame", path);
    if (status == COLLET_OK && arranger && !arranger->in_place)
        status =
            trajectory_frames_create(arranger->n_atoms, 1, dtype, fields[0], fields[1], out, err);
    return status;
}

/* Copies the positions of the only frame of `frames` to the reference. */
static collet_status copy_reference(trajectory_inputs *in, const trajectory_frames *frames,
                                    collet_error *err)
{
    int64_t n = in->n_atoms * 3;

    in->reference = calloc((size_t)n, sizeof *in->reference);
    if (in->reference == NULL)
        return collet_fail(err, COLLET_NO_MEMORY, "reference: out of memory");
    for (int64_t i = 0; i < n; i++)
        in->reference[i] = trajectory_frames_value(frames, frames->positions, i);
    return COLLET_OK;
}

/* One position that is not finite would make the rmsd of every frame NaN. */
static collet_status check_reference(const trajectory_inputs *in, const char *path,
                                     collet_error *err)
{
    for (int64_t i = 0; i < in->n_atoms * 3; i++)
        if (!isfinite(in->reference[i]))
            return collet_fail(
                err, COLLET_FORMAT,
                "%s: the position of atom %lld (counted from 0) is %g, so this frame cannot be "
                "the reference of the rmsd",
                path, (long long)in->indices[i / 3], in->reference[i]);
    return COLLET_OK;
}

static collet_status open_reference(trajectory_inputs *in, const trajectory_settings *settings,
                                    const io_poll *poll, collet_error *err)
{
    const char *path = settings->reference;
    trajectory_reader *trajectory = NULL;
    trajectory_frames *read = NULL, *out = NULL;
    collet_status status;

    if (path == NULL)
        return COLLET_OK;
    if (trajectory_choice_varies(in->choice))
        return collet_fail(err, COLLET_INVALID,
                           "reference: the selection '%s' differs from frame to frame, so that no "
                           "rmsd can be computed",
                           settings->selection);
    status = open_frames(in, settings, path, poll, &trajectory, err);
    if (status == COLLET_OK) {
        const trajectory_reader_info *info = trajectory_reader_get_info(trajectory);

        strncpy(in->reference_format, info->format, sizeof in->reference_format - 1);
        status = read_first(in, trajectory, path, (const int[2]){0, 0}, &read, &out, err);
    }
    if (status == COLLET_OK)
        status = trajectory_arrangement_apart(in->arrangement, read, out ? out : read, err);
    if (status == COLLET_OK)
        status = copy_reference(in, out ? out : read, err);
    if (status == COLLET_OK)
        status = check_reference(in, path, err);
    trajectory_frames_free(read);
    trajectory_frames_free(out);
    trajectory_reader_close(trajectory);
    return status;
}

collet_status trajectory_inputs_take_first(trajectory_inputs *in, const char *directory,
                                           int velocities, int forces, collet_error *err)
{
    const trajectory_arranger *arranger = trajectory_arrangement_arranger(in->arrangement);
    const trajectory_settings *s = in->settings;
    trajectory_reader *trajectory = NULL;
    trajectory_frames *read = NULL, *out = NULL;
    int64_t n, frames;
    const int64_t *atoms = trajectory_arrangement_atoms(in->arrangement, &n);

    if (in->reference != NULL)
        return COLLET_OK;
    collet_status status = trajectory_files_open_at(s, atoms, n, s->start, &trajectory, err);
    if (status == COLLET_OK &&
        s->start > 0) /* with the index of frames, the reader jumps to `start` */
        status = trajectory_reader_count(trajectory, directory, NULL, &frames, err);
    if (status == COLLET_OK)
        status = read_first(in, trajectory, s->trajectory, (const int[2]){velocities, forces},
                            &read, &out, err);
    if (status == COLLET_OK && arranger)
        status = arranger->frame(arranger->user, read, 0, out ? out : read, 0, err);
    if (status == COLLET_OK)
        status = copy_reference(in, out ? out : read, err);
    trajectory_frames_free(read);
    trajectory_frames_free(out);
    trajectory_reader_close(trajectory);
    return status;
}

/* Reads up to the first frame that has a box, but at most `most` frames. Ignores faults of frames: the work will report
 * them. */
static collet_status read_boxed(const trajectory_inputs *in, int64_t most, trajectory_frames **out,
                                collet_error *err)
{
    trajectory_reader *trajectory = NULL;
    trajectory_frames *frames = NULL;
    int64_t n_atoms;
    const int64_t *atoms = trajectory_arrangement_atoms(in->arrangement, &n_atoms);
    collet_status found = COLLET_OK;
    collet_status status = trajectory_files_open_at(in->settings, atoms, n_atoms,
                                                    in->settings->start, &trajectory, err);

    *out = NULL;
    if (status == COLLET_OK)
        status = trajectory_frames_create(n_atoms, 1, trajectory_reader_get_info(trajectory)->dtype,
                                          0, 0, &frames, err);
    for (int64_t i = 0; status == COLLET_OK && found == COLLET_OK && !*out && i < most; i++) {
        found = trajectory_reader_read(trajectory, frames, err);
        if (found != COLLET_OK || frames->n_frames == 0)
            break;
        if (trajectory_lattice_exists(frames->boxes))
            *out = frames;
    }
    if (!*out)
        trajectory_frames_free(frames);
    trajectory_reader_close(trajectory);
    return found == COLLET_NO_MEMORY || in->settings->source ? found : status;
}

static collet_status find_boxed(void *user, trajectory_frames **out, collet_error *err)
{
    return read_boxed(user, INT64_MAX, out, err);
}

/*
 * Threads arrange several frames at once, but the first frame with a box decides how molecules are made
 * whole. find_boxed reads this frame a second time only if a thread arranges a later frame with a box first. So a file
 * with one frame, or without boxes, is not read twice. A reference is made whole like the first frame, so the first
 * frame is read here if there is a reference. Frames of a source, and frames that are not arranged, come in order, so
 * the first frame needs no search, except in a shard, because a shard does not begin with the first frame.
 */
static collet_status read_ahead(trajectory_inputs *in, collet_error *err)
{
    const trajectory_settings *s = in->settings;
    trajectory_frames *frames = NULL;
    collet_status status = COLLET_OK;

    if (s->n_shards == 0 && !trajectory_arrangement_arranger(in->arrangement))
        return COLLET_OK;
    if (s->reference != NULL)
        status = read_boxed(in, 1, &frames, err);
    if (status == COLLET_OK && frames)
        status = trajectory_arrangement_prepare(in->arrangement, frames, err);
    if (s->n_shards > 0 || s->source == NULL)
        trajectory_arrangement_set_first(in->arrangement, find_boxed, in, s->start);
    trajectory_frames_free(frames);
    return status;
}

static int32_t tell(void *user, const char *text)
{
    const trajectory_settings *s = ((const trajectory_inputs *)user)->settings;
    const collet_progress progress = {.struct_size = sizeof progress, .stage = text};

    return s->progress(s->progress_user, &progress);
}

/* Times in single precision are replaced by the times of a clock, which is fitted to all frames of the trajectory.
 * Shards count these frames together, in trajectory_inputs_divide. */
static collet_status keep_time(trajectory_inputs *in, collet_error *err)
{
    const trajectory_settings *s = in->settings;
    const trajectory_index_watch watch = {.tell = s->progress ? tell : NULL, .user = in};
    int64_t frames;

    if (!trajectory_reader_get_info(in->trajectory)->rounds_times)
        return COLLET_OK;
    trajectory_reader_use_clocks(in->trajectory);
    return s->n_shards > 0 ? COLLET_OK
                           : trajectory_reader_count(in->trajectory, NULL, &watch, &frames, err);
}

collet_status trajectory_inputs_open(trajectory_inputs *in, const trajectory_settings *settings,
                                     const io_poll *poll, collet_error *err)
{
    collet_status status;

    memset(in, 0, sizeof *in);
    in->settings = settings;
    status = trajectory_files_unpack(settings, poll, &in->unpacked, err);
    if (status == COLLET_OK)
        status = settings->source != NULL
                     ? trajectory_memory_topology(settings->source, &in->topology, err)
                     : trajectory_topology_read(settings->topology, poll, &in->topology, err);
    if (status == COLLET_OK)
        status = trajectory_chains_find(in->topology, settings, err);
    if (status == COLLET_OK)
        status = open_selection(in, settings, err);
    if (status == COLLET_OK)
        status = open_masses(in, settings, err);
    if (status == COLLET_OK)
        status = open_arrangement(in, settings, err);
    if (status == COLLET_OK)
        status = open_apart(in, settings, err);
    if (status == COLLET_OK)
        status = open_frames(in, settings, settings->trajectory, poll, &in->trajectory, err);
    if (status == COLLET_OK)
        trajectory_reader_set_missing(in->trajectory, settings->missing);
    if (status == COLLET_OK)
        status = trajectory_reader_slice(in->trajectory, settings->start, settings->stop,
                                         settings->step, err);
    if (status == COLLET_OK)
        status = keep_time(in, err);
    if (status == COLLET_OK)
        status = read_ahead(in, err);
    if (status == COLLET_OK)
        status = open_reference(in, settings, poll, err);
    if (status != COLLET_OK) {
        trajectory_inputs_close(in);
        return status;
    }
    in->info = trajectory_reader_get_info(in->trajectory);
    return COLLET_OK;
}

/* ---- Shards ------------------------------------------------------------------------------ */

/* Returns how many frames before its own frames a shard reads: a path without jumps needs all earlier frames; a
 * displacement needs the first frame. */
static int64_t lead_of(const trajectory_settings *s)
{
    if (s->pbc == COLLET_TRAJECTORY_PBC_NOJUMP)
        return INT64_MAX;
    return (s->drift & COLLET_TRAJECTORY_DRIFT_LINEAR) != 0;
}

collet_status trajectory_inputs_divide(trajectory_inputs *in, const char *directory,
                                       trajectory_share *share, collet_error *err)
{
    const trajectory_settings *s = in->settings;
    const trajectory_index_watch watch = {.tell = s->progress ? tell : NULL, .user = in};
    int is_last = s->shard == s->n_shards;
    int64_t frames;

    collet_status status = trajectory_reader_count(in->trajectory, directory, &watch, &frames, err);
    if (status != COLLET_OK)
        return status;
    if (s->stop >= 0 && s->stop < frames)
        frames = s->stop;
    share->rows = frames > s->start ? (frames - s->start - 1) / s->step + 1 : 0;
    share->first_row = trajectory_shard_end(share->rows, s->shard - 1, s->n_shards);
    share->end_row = trajectory_shard_end(share->rows, s->shard, s->n_shards);
    share->first = s->start + share->first_row * s->step;
    /* The last shard reads even if it has no rows, because it must find a frame that cannot be read. */
    share->reads = is_last || share->end_row > share->first_row;
    return share->reads
               ? trajectory_reader_slice_shard(
                     in->trajectory, s->start,
                     is_last ? s->stop : s->start + share->end_row * s->step, s->step,
                     lead_of(s), share->first, err)
               : COLLET_OK;
}

trajectory_extent trajectory_inputs_extent(const trajectory_inputs *in)
{
    return (trajectory_extent){in->bodies.labels != NULL ? in->bodies.n : 0, in->n_atoms};
}

trajectory_labels trajectory_inputs_labels(const trajectory_inputs *in)
{
    if (in->atom_labels != NULL)
        return (trajectory_labels){"atoms", in->n_atoms, (const char *const *)in->atom_labels};
    return (trajectory_labels){"bodies", in->bodies.labels != NULL ? in->bodies.n : 0,
                               (const char *const *)in->bodies.labels};
}

void trajectory_inputs_close(trajectory_inputs *in)
{
    trajectory_reader_close(in->trajectory);
    trajectory_arrangement_free(in->arrangement);
    trajectory_apart_free(in->apart);
    trajectory_choice_free(in->choice);
    trajectory_topology_free(in->topology);
    free(in->selected);
    trajectory_bodies_free(&in->bodies);
    free(in->masses);
    free(in->charges);
    trajectory_system_free(&in->system);
    for (int64_t i = 0; in->atom_labels != NULL && i < in->n_atoms; i++)
        free(in->atom_labels[i]);
    free(in->atom_labels);
    free(in->elements);
    free(in->reference);
    trajectory_files_release(&in->unpacked);
    memset(in, 0, sizeof *in);
}
