/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory.c */
#include "settings.h"

#include "devices/devices.h"
#include "io/struct.h"
#include "trajectory/bodies/bodies.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define SOURCE_ATOMS ((int64_t)1 << 40) /* maximum number of atoms; products of sizes stay below 2^63 */

static collet_status check_axis(const double *axis, collet_error *err)
{
    double square = axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2];

    if (!isfinite(square) || (square == 0 && (axis[0] != 0 || axis[1] != 0 || axis[2] != 0)))
        return collet_fail(
            err, COLLET_INVALID,
            "axis: %g,%g,%g has no direction; give finite numbers that are not all 0", axis[0],
            axis[1], axis[2]);
    return COLLET_OK;
}

static collet_status check_source(const collet_trajectory_options *o, collet_error *err)
{
    const collet_trajectory_source *s = o->source;

    if (o->topology != NULL || o->trajectory != NULL || o->continuations != NULL)
        return collet_fail(err, COLLET_INVALID,
                           "options: give source, or topology and trajectory, not both");
    if (s->struct_size != sizeof *s)
        return collet_fail(err, COLLET_INVALID,
                           "source: struct_size is %u; it must be the size of the struct, %zu",
                           s->struct_size, sizeof *s);
    if (s->reserved)
        return collet_fail(err, COLLET_INVALID, "source: reserved is %u; it must be 0",
                           s->reserved);
    if (s->n_atoms < 1 || s->n_atoms > SOURCE_ATOMS)
        return collet_fail(err, COLLET_INVALID, "source: n_atoms is %lld; it must be 1 to 2^40",
                           (long long)s->n_atoms);
    if (s->dtype != COLLET_F32 && s->dtype != COLLET_F64)
        return collet_fail(err, COLLET_INVALID, "source: dtype is %s; it must be f32 or f64",
                           collet_dtype_name(s->dtype));
    if (s->n_bonds < 0 || s->n_bonds > SOURCE_ATOMS)
        return collet_fail(err, COLLET_INVALID, "source: n_bonds is %lld; it must be 0 to 2^40",
                           (long long)s->n_bonds);
    if (s->name == NULL || s->read == NULL)
        return collet_fail(err, COLLET_INVALID, "source: %s is NULL",
                           s->name == NULL ? "name" : "read");
    return COLLET_OK;
}

static collet_status check_inputs(const collet_trajectory_options *o, collet_error *err)
{
    if (o->source != NULL)
        return check_source(o, err);
    if (o->topology == NULL || o->trajectory == NULL)
        return collet_fail(err, COLLET_INVALID, "options: %s is NULL; give a path",
                           o->topology == NULL ? "topology" : "trajectory");
    return COLLET_OK;
}

static collet_status check(const collet_trajectory_options *o, collet_error *err)
{
    if (o->missing > COLLET_TRAJECTORY_MISSING_NAN)
        return collet_fail(err, COLLET_INVALID, "options: missing is %u; it must be 0, 1 or 2", o->missing);
    if (o->missing != COLLET_TRAJECTORY_MISSING_FAIL && o->source != NULL)
        return collet_fail(err, COLLET_INVALID,
                           "options: missing is for files; the frames of a source have all fields");
    if (o->pbc > COLLET_TRAJECTORY_PBC_NONE || o->drift > COLLET_TRAJECTORY_DRIFT_BOTH)
        return collet_fail(err, COLLET_INVALID,
                           "options: pbc is %u, drift %u; they must be 0 to 3", o->pbc, o->drift);
    if (o->strict > 1 || o->reserved)
        return collet_fail(err, COLLET_INVALID, "options: strict is %u, reserved %u; they must be 0 or 1, and 0",
                           o->strict, o->reserved);
    if (o->drift_of != NULL && o->drift == COLLET_TRAJECTORY_DRIFT_KEEP)
        return collet_fail(err, COLLET_INVALID,
                           "drift_of: '%s' is given, but no drift is removed (collet-extract: "
                           "--drift)",
                           o->drift_of);
    if (o->start < 0 || o->stop < 0 || o->step < 0)
        return collet_fail(err, COLLET_INVALID,
                           "frames: start %lld, stop %lld, step %lld: none may be negative",
                           (long long)o->start, (long long)o->stop, (long long)o->step);
    if (o->stop > 0 && o->stop <= o->start)
        return collet_fail(
            err, COLLET_INVALID,
            "frames: start %lld, stop %lld selects no frame; stop must be larger than start",
            (long long)o->start, (long long)o->stop);
    if (o->threads < 0 || o->batch_frames < 0 || o->batch_rows < 0)
        return collet_fail(err, COLLET_INVALID,
                           "options: threads, batch_frames and batch_rows may not be negative");
    if (!trajectory_bodies_named(o->each) && o->ndx == NULL)
        return collet_fail(err, COLLET_INVALID,
                           "each: '%s' is not residue, molecule, segment or chain; groups need a "
                           "file (collet-extract: --ndx)",
                           o->each);
    if (o->masses != NULL && o->mass_values != NULL)
        return collet_fail(err, COLLET_INVALID, "options: give masses or mass_values, not both");
    if ((o->context != NULL || (o->devices != NULL && o->devices->contexts != NULL)) &&
        (o->backend != NULL || o->threads > 0))
        return collet_fail(
            err, COLLET_INVALID,
            "options: with a context, backend and threads must not be set; the context "
            "defines them");
    if (o->devices != NULL && o->backend != NULL)
        return collet_fail(err, COLLET_INVALID, "options: give backend or devices, not both");
    if (o->n_shards < 0 || o->shard < 0 || o->shard > o->n_shards ||
        (o->n_shards > 0 && o->shard < 1))
        return collet_fail(err, COLLET_INVALID,
                           "options: shard %lld of %lld: shards are counted from 1",
                           (long long)o->shard, (long long)o->n_shards);
    return check_axis(o->axis, err);
}

/* ---- Copies ------------------------------------------------------------------------------ */

#define TEXT(member)                                                                               \
    {                                                                                              \
#member, offsetof(trajectory_settings, member), 0                                          \
    }

static const trajectory_settings_text texts[] = {
    TEXT(topology),
    TEXT(trajectory),
    TEXT(selection),
    TEXT(drift_of),
    TEXT(ndx),
    TEXT(each),
    TEXT(masses),
    TEXT(reference),
    TEXT(keys),
    TEXT(backend),
    TEXT(program),
    {"shards", offsetof(trajectory_settings, shards), 1}};

#define N_TEXTS (sizeof texts / sizeof *texts)

static char **text_at(trajectory_settings *s, size_t i)
{
    return (char **)((char *)s + texts[i].offset);
}

const trajectory_settings_text *trajectory_settings_text_at(size_t index)
{
    return index < N_TEXTS ? &texts[index] : NULL;
}

/* These functions return 0 when out of memory. */
static int copy_texts(trajectory_settings *s, trajectory_settings *from)
{
    for (size_t i = 0; i < N_TEXTS; i++)
        if (*text_at(from, i) != NULL && (*text_at(s, i) = strdup(*text_at(from, i))) == NULL)
            return 0;
    return 1;
}

static int copy_list(const char *const **to, const char *const *list)
{
    size_t n = 0;
    char **copy;

    if (list == NULL)
        return 1;
    while (list[n] != NULL)
        n++;
    copy = calloc(n + 1, sizeof *copy);
    *to = (const char *const *)copy;
    for (size_t i = 0; copy != NULL && i < n; i++)
        if ((copy[i] = strdup(list[i])) == NULL)
            return 0;
    return copy != NULL;
}

static void free_list(const char *const *list)
{
    char **words = (char **)(uintptr_t)list;

    for (char **word = words; word != NULL && *word != NULL; word++)
        free(*word);
    free(words);
}

static int copy_masses(trajectory_settings *s, const double *masses)
{
    size_t n = s->n_mass_values > 0 ? (size_t)s->n_mass_values : 0;
    double *copy;

    if (masses == NULL)
        return 1;
    copy = calloc(n + 1, sizeof *copy);
    if (copy != NULL)
        memcpy(copy, masses, n * sizeof *copy);
    s->mass_values = copy;
    return copy != NULL;
}

static void set_defaults(trajectory_settings *s)
{
    if (s->source != NULL)
        s->topology = s->trajectory = s->source->name;
    if (s->selection == NULL)
        s->selection = "all";
    if (s->program == NULL)
        s->program = "libcollet-trajectory";
    if (s->axis[0] == 0 && s->axis[1] == 0 && s->axis[2] == 0)
        s->axis[2] = 1;
    if (s->stop == 0)
        s->stop = -1;
    if (s->step == 0)
        s->step = 1;
}

collet_status trajectory_settings_copy(trajectory_settings *s,
                                       const collet_trajectory_options *given, collet_error *err)
{
    collet_trajectory_options o = {0};
    collet_devices *devices = NULL;
    collet_status status;

    memset(s, 0, sizeof *s);
    if (given == NULL)
        return collet_fail(err, COLLET_INVALID, "collet_trajectory_create: options is NULL");
    status = io_struct_in(&o, sizeof o, given, "collet_trajectory_create", err);
    if (status == COLLET_OK)
        status = devices_copy(&devices, o.devices, err);
    o.devices = devices;
    if (status == COLLET_OK)
        status = check_inputs(&o, err);
    if (status == COLLET_OK)
        status = check(&o, err);
    if (status != COLLET_OK) {
        free(devices);
        return status;
    }
    set_defaults(&o);
    *s = o;
    for (size_t i = 0; i < N_TEXTS; i++)
        *text_at(s, i) = NULL;
    s->mass_values = NULL;
    s->command = s->continuations = s->parts = NULL;
    s->n_parts = 0;
    if (copy_texts(s, &o) && copy_list(&s->command, o.command) &&
        copy_list(&s->continuations, o.continuations) && copy_masses(s, o.mass_values))
        return COLLET_OK;
    trajectory_settings_free(s);
    return collet_fail(err, COLLET_NO_MEMORY, "options: out of memory");
}

int64_t trajectory_settings_continuations(const trajectory_settings *s)
{
    int64_t n = 0;

    while (s->continuations != NULL && s->continuations[n] != NULL)
        n++;
    return n;
}

int trajectory_settings_equal_masses(const trajectory_settings *s)
{
    return s->masses != NULL && strcmp(s->masses, "equal") == 0;
}

void trajectory_settings_free(trajectory_settings *s)
{
    free_list(s->command);
    free_list(s->continuations);
    for (size_t i = 0; i < N_TEXTS; i++)
        free(*text_at(s, i));
    free((void *)(uintptr_t)s->mass_values);
    free((void *)(uintptr_t)s->devices);
    memset(s, 0, sizeof *s);
}
