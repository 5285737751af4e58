/* SPDX-License-Identifier: Apache-2.0 */
#include "inputs.h"

#include "trajectory/masses.h"

#include <stdlib.h>
#include <string.h>

static collet_status open_selection(extract_inputs *in, const extract_options *options,
                                    const extract_selection *selection, collet_error *err)
{
    collet_status status =
        extract_selection_apply(selection, in->topology, &in->indices, &in->n_atoms, err);

    if (status == COLLET_OK && in->n_atoms == 0)
        return collet_fail(err, COLLET_INVALID,
                           "the selection '%s' matches none of the %lld atoms of %s",
                           options->selection, (long long)in->topology->n_atoms, options->topology);
    return status;
}

/* The masses of the selected atoms, moved to the front. */
static collet_status open_masses(extract_inputs *in, const extract_options *options,
                                 collet_error *err)
{
    collet_status status =
        options->masses != NULL
            ? extract_masses_read(options->masses, in->topology, &in->masses, err)
            : extract_masses_guess(in->topology, &in->masses, err);

    if (status != COLLET_OK)
        return status;
    for (int64_t i = 0; i < in->topology->n_atoms; i++)
        in->mass_all += in->masses[i];
    for (int64_t i = 0; i < in->n_atoms; i++) {
        in->masses[i] = in->masses[in->indices[i]];
        in->mass += in->masses[i];
    }
    if (!(in->mass > 0))
        return collet_fail(err, COLLET_INVALID,
                           "the %lld atoms of the selection '%s' have no mass together (masses %s "
                           "%s): there is no centre of mass",
                           (long long)in->n_atoms, options->selection,
                           options->masses != NULL ? "from" : "guessed from the atoms' names in",
                           options->masses != NULL ? options->masses : options->topology);
    return COLLET_OK;
}

/* A trajectory of as many atoms as the topology, which then delivers the selected ones. */
static collet_status open_frames(const extract_inputs *in, const extract_options *options,
                                 const char *path, collet_trajectory **out, collet_error *err)
{
    collet_status status = collet_trajectory_open(path, out, err);
    int64_t n_atoms;

    if (status != COLLET_OK)
        return status;
    n_atoms = collet_trajectory_get_info(*out)->n_atoms;
    if (n_atoms != in->topology->n_atoms)
        return collet_fail(err, COLLET_FORMAT,
                           "%s has %lld atoms, %s has %lld: they do not belong together", path,
                           (long long)n_atoms, options->topology, (long long)in->topology->n_atoms);
    if (in->n_atoms == n_atoms)
        return collet_trajectory_select(*out, NULL, 0, err);
    return collet_trajectory_select(*out, in->indices, in->n_atoms, err);
}

/* Positions of the only frame of `frames` in double precision. */
static double *to_double(const collet_frames *frames, collet_error *err)
{
    size_t n = (size_t)frames->n_atoms * 3;
    double *positions = calloc(n, sizeof *positions);

    if (positions == NULL) {
        collet_fail(err, COLLET_NO_MEMORY, "reference: out of memory");
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        positions[i] = frames->dtype == COLLET_F64 ? ((const double *)frames->positions)[i]
                                                   : (double)((const float *)frames->positions)[i];
    return positions;
}

static collet_status open_reference(extract_inputs *in, const extract_options *options,
                                    collet_error *err)
{
    const char *path = options->reference;
    collet_trajectory *trajectory = NULL;
    collet_frames *frames = NULL;
    collet_status status;

    if (path == NULL)
        return COLLET_OK;
    status = open_frames(in, options, path, &trajectory, err);
    if (status == COLLET_OK) {
        const collet_trajectory_info *info = collet_trajectory_get_info(trajectory);

        strncpy(in->reference_format, info->format, sizeof in->reference_format - 1);
        status = collet_frames_create(in->n_atoms, 1, info->dtype, 0, 0, &frames, err);
    }
    if (status == COLLET_OK)
        status = collet_trajectory_read(trajectory, frames, err);
    if (status == COLLET_OK && frames->n_frames == 0)
        status = collet_fail(err, COLLET_FORMAT, "%s: there is no frame in it", path);
    if (status == COLLET_OK) {
        in->reference = to_double(frames, err);
        if (in->reference == NULL)
            status = COLLET_NO_MEMORY;
    }
    collet_frames_free(frames);
    collet_trajectory_close(trajectory);
    return status;
}

collet_status extract_inputs_open(extract_inputs *in, const extract_options *options,
                                  const extract_selection *selection, collet_error *err)
{
    collet_status status;

    memset(in, 0, sizeof *in);
    status = collet_topology_read(options->topology, &in->topology, err);
    if (status == COLLET_OK)
        status = open_selection(in, options, selection, err);
    if (status == COLLET_OK)
        status = open_masses(in, options, err);
    if (status == COLLET_OK)
        status = open_frames(in, options, options->trajectory, &in->trajectory, err);
    if (status == COLLET_OK)
        status = collet_trajectory_slice(in->trajectory, options->start, options->stop,
                                         options->step, err);
    if (status == COLLET_OK)
        status = open_reference(in, options, err);
    if (status != COLLET_OK) {
        extract_inputs_close(in);
        return status;
    }
    in->info = collet_trajectory_get_info(in->trajectory);
    return COLLET_OK;
}

void extract_inputs_close(extract_inputs *in)
{
    collet_trajectory_close(in->trajectory);
    collet_topology_free(in->topology);
    free(in->indices);
    free(in->masses);
    free(in->reference);
    memset(in, 0, sizeof *in);
}
