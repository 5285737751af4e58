/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory.c */
#include "atoms/pattern.h"
#include "atoms/selection.h"
#include "reading/parts.h"
#include "reading/recognise.h"
#include "io/nearest.h"
#include "io/struct.h"
#include "run.h"
#include "warnings.h"
#include "work.h"

#include <stdlib.h>
#include <string.h>

#include <collet/floating.h>

collet_status collet_trajectory_check_selection(const char *text, collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    trajectory_selection *selection;
    collet_status status = trajectory_selection_compile(text, &selection, err);

    trajectory_selection_free(selection);
    return status;
}

/* ---- Keys -------------------------------------------------------------------------------- */

static const char some_velocities[] = "not every atom of the trajectory has a velocity";

#define SOME_VELOCITIES                                                                            \
    0x80000000u /* another bit of `has`: only some atoms have velocities */

/* Returns the reason why an output cannot be computed; NULL if it can. */
static const char *missing(uint32_t needs, uint32_t has)
{
    if (needs & ~has & TRAJECTORY_VELOCITIES)
        return has & SOME_VELOCITIES ? some_velocities : "the trajectory has no velocities";
    if (needs & ~has & TRAJECTORY_FORCES)
        return "the trajectory has no forces";
    if (needs & ~has & TRAJECTORY_SAME_ATOMS)
        return "the selection differs from frame to frame";
    if (needs & ~has & TRAJECTORY_CHARGES)
        return "the topology has no charges";
    if (needs & ~has & TRAJECTORY_UNDIVIDED)
        return "with the option each, its rows would be bodies, not atoms; leave out each";
    if (needs & ~has & TRAJECTORY_PATHS)
        return "it needs --pbc nojump, and bodies with atoms of one molecule each";
    return needs & ~has & TRAJECTORY_TIMES ? trajectory_no_times : NULL;
}

/* Returns the key that is most similar to the word; NULL if no key is similar. */
static const char *nearest_key(const char *word, size_t length)
{
    size_t bound = io_nearest_bound(length);
    const char *nearest = NULL;

    for (size_t i = 0; i < trajectory_output_count; i++)
        io_nearest_try(word, length, trajectory_outputs[i].key, &bound, &nearest);
    return nearest;
}

static collet_status cannot_compute(const collet_trajectory *x, const char *word, int shown,
                                    const char *reason, collet_error *err)
{
    const trajectory_topology *topology = x->inputs.topology;
    int64_t atom = x->inputs.info->lacking;
    const char *note = x->inputs.info->note; /* the note usually explains the missing field */

    if (reason != some_velocities)
        return collet_fail(err, COLLET_INVALID, "keys: '%.*s' cannot be computed: %s%s%s", shown,
                           word, reason, note ? ": " : "", note ? note : "");
    return collet_fail(err, COLLET_INVALID,
                       "keys: '%.*s' cannot be computed: %s: atom %lld (%s of %s %d, counted from "
                       "0) has no velocity",
                       shown, word, x->settings.trajectory, (long long)atom, topology->names[atom],
                       topology->residue_names[atom], (int)topology->residue_ids[atom]);
}

static collet_status choose_one(collet_trajectory *x, const char *word, size_t length, uint32_t has,
                                collet_error *err)
{
    const char *reason = NULL, *nearest;
    int chosen = 0, shown = (int)(length < 80 ? length : 80);

    for (size_t i = 0; i < trajectory_output_count; i++) {
        if (!trajectory_pattern_matches(word, length, trajectory_outputs[i].key) ||
            ((trajectory_outputs[i].needs & TRAJECTORY_BY_NAME) && memchr(word, '*', length)))
            continue;
        x->left_out[i] = missing(trajectory_outputs[i].needs, has);
        if (x->left_out[i] == NULL)
            chosen = 1;
        else
            reason = x->left_out[i];
    }
    if (chosen)
        return COLLET_OK;
    if (reason != NULL)
        return cannot_compute(x, word, shown, reason, err);
    nearest = nearest_key(word, length);
    return collet_fail(err, COLLET_INVALID,
                       "keys: '%.*s' matches none of the %d keys%s%s (collet-extract --help lists "
                       "them, in Python collet.md.quantities())",
                       shown, word, (int)trajectory_output_count,
                       nearest != NULL ? "; the nearest is " : "", nearest != NULL ? nearest : "");
}

/* Sets x->left_out[i] to NULL for a chosen output, else to the reason (a static text). Sets x->has
 * to the fields in `has` that chosen outputs need. COLLET_INVALID for a key that does not exist or
 * needs a field that the trajectory does not have. */
static collet_status choose_keys(collet_trajectory *x, uint32_t has, collet_error *err)
{
    const char *keys = x->settings.keys;

    x->has = 0;
    for (size_t i = 0; i < trajectory_output_count; i++)
        x->left_out[i] = keys == NULL && !(trajectory_outputs[i].needs & TRAJECTORY_BY_NAME)
                             ? missing(trajectory_outputs[i].needs, has)
                             : trajectory_not_requested;
    while (keys != NULL) {
        size_t length = strcspn(keys, ",");
        collet_status status = choose_one(x, keys, length, has, err);

        if (status != COLLET_OK)
            return status;
        keys = keys[length] == ',' ? keys + length + 1 : NULL;
    }
    for (size_t i = 0; i < trajectory_output_count; i++)
        if (x->left_out[i] == NULL)
            x->has |= trajectory_outputs[i].needs;
    return COLLET_OK;
}

/* ---- Opening ----------------------------------------------------------------------------- */

/* Sets the settings. With options.parts, reads them from the notes of the shards. */
static collet_status take_settings(collet_trajectory *x, const collet_trajectory_options *options,
                                   collet_error *err)
{
    collet_trajectory_options o = {0};
    collet_status status =
        options ? io_struct_in(&o, sizeof o, options, "collet_trajectory_create", err) : COLLET_OK;

    if (status != COLLET_OK || o.parts == NULL)
        return status == COLLET_OK ? trajectory_settings_copy(&x->settings, options, err) : status;
    if (o.topology || o.trajectory || o.n_shards > 0 || o.n_parts < 1 || o.devices)
        return collet_fail(err, COLLET_INVALID,
                           "options: parts name the inputs of the shards, so topology, trajectory "
                           "and devices must be NULL, n_shards 0, and n_parts at least 1");
    status = trajectory_replay_open(&o, &x->settings, &x->replay, err);
    if (status == COLLET_OK)
        x->rows_total = trajectory_replay_rows(x->replay);
    return status;
}

static collet_status open_all(collet_trajectory *x, const collet_trajectory_options *options,
                              collet_error *err)
{
    const io_poll poll = {trajectory_run_ask, x};
    uint32_t fields;
    collet_status status = take_settings(x, options, err);

    if (status == COLLET_OK && x->settings.n_shards > 0 &&
        (x->work = trajectory_work_describe(&x->settings)) == NULL)
        status = collet_fail(err, COLLET_NO_MEMORY, "shard: out of memory");
    if (status == COLLET_OK)
        status = trajectory_inputs_open(&x->inputs, &x->settings, &poll, err);
    if (status != COLLET_OK)
        return status;
    fields = (x->inputs.info->has_velocities ? TRAJECTORY_VELOCITIES : 0) |
             (x->inputs.info->has_forces ? TRAJECTORY_FORCES : 0) |
             (x->inputs.info->has_times ? TRAJECTORY_TIMES : 0) |
             (x->inputs.info->lacking >= 0 ? SOME_VELOCITIES : 0) |
             (trajectory_choice_varies(x->inputs.choice) ? 0 : TRAJECTORY_SAME_ATOMS) |
             (x->inputs.charges != NULL ? TRAJECTORY_CHARGES : 0) |
             (x->inputs.bodies.labels == NULL ? TRAJECTORY_UNDIVIDED : 0) |
             (trajectory_arrangement_follows(x->inputs.arrangement) ? TRAJECTORY_PATHS : 0);
    status = choose_keys(x, fields, err);
    if (status != COLLET_OK ||
        !(trajectory_run_buffers(x) & TRAJECTORY_BUFFER_BIT(TRAJECTORY_POSITIONS)))
        return status;
    return trajectory_bodies_label_atoms(x->inputs.topology, x->inputs.indices, x->inputs.n_atoms,
                                         &x->inputs.atom_labels, err);
}

collet_status collet_trajectory_create(collet_trajectory **out,
                                       const collet_trajectory_options *options, collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    collet_trajectory *x = calloc(1, sizeof *x);
    collet_status status;

    *out = NULL;
    if (x == NULL)
        return collet_fail(err, COLLET_NO_MEMORY, "trajectory: out of memory");
    x->began = trajectory_clock();
    x->notes.least_atoms = INT64_MAX;
    status = open_all(x, options, err);
    if (status != COLLET_OK) {
        collet_trajectory_destroy(x);
        return status;
    }
    *out = x;
    return COLLET_OK;
}

void collet_trajectory_destroy(collet_trajectory *x)
{
    if (x == NULL)
        return;
    trajectory_run_stop(x);
    trajectory_lanes_free(x->lanes);
    devices_close(&x->devices);
    devices_shares_clear(&x->planned);
    if (x->context != x->settings.context)
        collet_context_destroy(x->context);
    collet_runtime_destroy(x->runtime);
    trajectory_rows_free(x->rows);
    trajectory_replay_free(x->replay);
    trajectory_checks_free(&x->checks);
    trajectory_inputs_close(&x->inputs);
    for (size_t i = 0; i < x->n_warnings; i++)
        free(x->warnings[i]);
    free(x->warnings);
    free(x->component);
    free(x->output);
    free(x->meta);
    cJSON_Delete(x->work);
    trajectory_settings_free(&x->settings);
    free(x);
}

/* ---- Information -------------------------------------------------------------------------- */

void collet_trajectory_get_info(const collet_trajectory *x, collet_trajectory_info *info)
{
    const trajectory_reader_info *trajectory = x->inputs.info;
    int choice_varies = trajectory_choice_varies(x->inputs.choice);
    collet_trajectory_info own = {
        .truncated = x->notes.truncated,
        .format = trajectory->format,
        .has_velocities = trajectory->has_velocities,
        .has_forces = trajectory->has_forces,
        .has_times = trajectory->has_times,
        .atoms_total = x->inputs.topology->n_atoms,
        .atoms = x->inputs.n_selected,
        .least_atoms = !choice_varies          ? x->inputs.n_selected
                       : x->notes.n_frames > 0 ? x->notes.least_atoms
                                               : 0,
        .most_atoms = choice_varies ? x->notes.most_atoms : x->inputs.n_selected,
        .bodies = trajectory_inputs_extent(&x->inputs).bodies,
        .mass = x->inputs.mass,
        .masses_guessed = x->inputs.composition.guessed > 0,
        .elements = x->inputs.elements,
        .periodic = x->periodic[0] ? x->periodic : NULL,
        .drift = x->drift[0] ? x->drift : NULL,
        .bytes_total = (uint64_t)trajectory->file_size,
        .frames = x->notes.n_frames,
        .first_frame = x->notes.first_frame,
        .last_frame = x->notes.last_frame,
        .first_time = x->notes.first_time,
        .last_time = x->notes.last_time,
        .bytes = (uint64_t)x->notes.end_offset,
        .seconds = x->seconds > 0 ? x->seconds : trajectory_clock() - x->began,
        .output = x->output,
        .rows = x->share.rows,
        .kept = x->kept,
    };

    io_struct_out(info, &own, sizeof own);
}

collet_status collet_trajectory_file_at(const collet_trajectory *x, collet_trajectory_file *file,
                                        size_t index, collet_error *err)
{
    int64_t n;
    const trajectory_part *parts = trajectory_parts_get(x->inputs.trajectory, &n);
    collet_trajectory_file own = {.path = x->settings.trajectory,
                                  .format = x->inputs.info->format,
                                  .bytes = (uint64_t)x->inputs.info->file_size,
                                  .first_frame = -1};
    int done = x->stage == TRAJECTORY_DONE; /* before DONE another thread may change the counts */

    if (index >= (n > 0 ? (size_t)n : 1))
        return collet_fail(err, COLLET_NOT_FOUND,
                           "index %zu is out of range: the trajectory has %lld files", index,
                           (long long)(n > 0 ? n : 1));
    if (n > 0) {
        own.path = parts[index].path;
        own.format = parts[index].format;
        own.bytes = (uint64_t)parts[index].size;
    }
    if (done && n > 0) {
        own.was_cut = parts[index].was_cut;
        own.first_frame = parts[index].first;
        own.frames = parts[index].n_frames;
    } else if (done && x->notes.n_frames > 0) {
        own.first_frame = 0;
        own.frames = x->notes.last_frame + 1;
    }
    io_struct_out(file, &own, sizeof own);
    return COLLET_OK;
}

const char *collet_trajectory_body_at(const collet_trajectory *x, size_t index)
{
    return index < (size_t)trajectory_inputs_extent(&x->inputs).bodies
               ? x->inputs.bodies.labels[index]
               : NULL;
}

const char *collet_trajectory_atom_at(const collet_trajectory *x, size_t index)
{
    return x->inputs.atom_labels != NULL && index < (size_t)x->inputs.n_atoms
               ? x->inputs.atom_labels[index]
               : NULL;
}

collet_status collet_trajectory_format_at(collet_trajectory_format *format, size_t index,
                                          collet_error *err)
{
    size_t count = 0;

    while (trajectory_formats[count])
        count++;
    if (index >= count)
        return collet_fail(err, COLLET_NOT_FOUND,
                           "index %zu is out of range: there are %zu formats", index, count);
    const trajectory_format *row = trajectory_formats[index];
    const collet_trajectory_format own = {
        .has_topology = trajectory_format_holds(row, TRAJECTORY_HOLDS_TOPOLOGY),
        .has_frames = trajectory_format_holds(row, TRAJECTORY_HOLDS_FRAMES),
        .name = row->name,
        .title = row->title,
    };
    io_struct_out(format, &own, sizeof own);
    return COLLET_OK;
}

size_t collet_trajectory_quantity_count(void)
{
    return trajectory_output_count;
}

collet_status collet_trajectory_quantity_at(const collet_trajectory *x,
                                            collet_trajectory_quantity *quantity, size_t index,
                                            collet_error *err)
{
    collet_trajectory_quantity own = {.dtype = COLLET_F64, .width = 1};
    const trajectory_output *output;
    int64_t shape[TRAJECTORY_OUTPUT_DIMS];

    if (index >= trajectory_output_count)
        return collet_fail(err, COLLET_NOT_FOUND,
                           "index %zu is out of range: there are %zu quantities", index,
                           (size_t)trajectory_output_count);
    output = &trajectory_outputs[index];
    own.key = output->key;
    own.unit = output->unit;
    own.meaning = output->meaning;
    own.components = trajectory_output_components(output);
    own.ndim = trajectory_output_shape(output, 0,
                                       x != NULL ? trajectory_inputs_extent(&x->inputs)
                                                 : (trajectory_extent){0, 1},
                                       shape) -
               1;
    for (int32_t i = 0; i < own.ndim; i++) {
        own.shape[i] = shape[i + 1];
        own.width *= shape[i + 1];
    }
    if (x != NULL)
        own.left_out = x->left_out[index];
    io_struct_out(quantity, &own, sizeof own);
    return COLLET_OK;
}

const char *collet_trajectory_meta(const collet_trajectory *x)
{
    return x->meta;
}

const char *collet_trajectory_warning_at(const collet_trajectory *x, size_t index)
{
    return index < x->n_warnings ? x->warnings[index] : NULL;
}
