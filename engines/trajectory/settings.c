/* SPDX-License-Identifier: Apache-2.0 */
#include "settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_ROWS 1024

static collet_status check_axis(const double *axis, collet_error *err)
{
    double square = axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2];

    if (!isfinite(square) || (square == 0 && (axis[0] != 0 || axis[1] != 0 || axis[2] != 0)))
        return collet_fail(err, COLLET_INVALID, "axis: %g,%g,%g has no direction", axis[0], axis[1],
                           axis[2]);
    return COLLET_OK;
}

static collet_status check(const collet_extraction_options *o, collet_error *err)
{
    if (o->topology == NULL || o->trajectory == NULL)
        return collet_fail(err, COLLET_INVALID, "options: %s is not given",
                           o->topology == NULL ? "topology" : "trajectory");
    if (o->start < 0 || o->stop < 0 || o->step < 0)
        return collet_fail(err, COLLET_INVALID,
                           "frames: start %lld, stop %lld, step %lld: none may be negative",
                           (long long)o->start, (long long)o->stop, (long long)o->step);
    if (o->stop > 0 && o->stop <= o->start)
        return collet_fail(err, COLLET_INVALID, "frames: start %lld, stop %lld leaves no frame",
                           (long long)o->start, (long long)o->stop);
    if (o->threads < 0 || o->batch_frames < 0 || o->batch_rows < 0)
        return collet_fail(err, COLLET_INVALID,
                           "options: threads, batch_frames and batch_rows may not be negative");
    if (o->masses != NULL && o->mass_values != NULL)
        return collet_fail(err, COLLET_INVALID,
                           "options: masses and mass_values exclude each other");
    if (o->context != NULL && (o->backend != NULL || o->threads > 0))
        return collet_fail(err, COLLET_INVALID,
                           "options: backend and threads are those of the context that is given");
    return check_axis(o->axis, err);
}

/* ---- Copies ------------------------------------------------------------------------------ */

/* 0 when memory is short. */
static int copy_text(char **out, const char *text)
{
    *out = text != NULL ? strdup(text) : NULL;
    return text == NULL || *out != NULL;
}

static int copy_command(char ***out, const char *const *command)
{
    size_t n = 0;
    char **copy;

    if (command == NULL)
        return 1;
    while (command[n] != NULL)
        n++;
    copy = *out = calloc(n + 1, sizeof *copy);
    for (size_t i = 0; copy != NULL && i < n; i++)
        if (!copy_text(&copy[i], command[i]))
            return 0;
    return copy != NULL;
}

static int copy_masses(extract_settings *s, const collet_extraction_options *o)
{
    size_t n = o->n_mass_values > 0 ? (size_t)o->n_mass_values : 0;

    if (o->mass_values == NULL)
        return 1;
    s->n_mass_values = (int64_t)n;
    s->mass_values = calloc(n + 1, sizeof *s->mass_values);
    if (s->mass_values != NULL)
        memcpy(s->mass_values, o->mass_values, n * sizeof *s->mass_values);
    return s->mass_values != NULL;
}

static int copy_all(extract_settings *s, const collet_extraction_options *o)
{
    return copy_text(&s->topology, o->topology) && copy_text(&s->trajectory, o->trajectory) &&
           copy_text(&s->selection, o->selection != NULL ? o->selection : "all") &&
           copy_text(&s->masses, o->masses) && copy_text(&s->reference, o->reference) &&
           copy_text(&s->keys, o->keys) && copy_text(&s->backend, o->backend) &&
           copy_text(&s->program, o->program != NULL ? o->program : "libcollet-trajectory") &&
           copy_command(&s->command, o->command) && copy_masses(s, o);
}

collet_status extract_settings_copy(extract_settings *s, const collet_extraction_options *given,
                                    collet_error *err)
{
    collet_extraction_options o = {0};
    collet_status status;

    memset(s, 0, sizeof *s);
    if (given == NULL || given->struct_size < 2 * sizeof(uint32_t))
        return collet_fail(err, COLLET_INVALID, "collet_extraction_open: %s",
                           given == NULL ? "options is NULL" : "options->struct_size is not set");
    memcpy(&o, given, given->struct_size < sizeof o ? given->struct_size : sizeof o);
    status = check(&o, err);
    if (status != COLLET_OK)
        return status;
    memcpy(s->axis, o.axis, sizeof s->axis);
    if (o.axis[0] == 0 && o.axis[1] == 0 && o.axis[2] == 0)
        s->axis[2] = 1;
    s->start = o.start;
    s->stop = o.stop > 0 ? o.stop : -1;
    s->step = o.step > 0 ? o.step : 1;
    s->threads = o.threads;
    s->batch_frames = o.batch_frames;
    s->batch_rows = o.batch_rows > 0 ? o.batch_rows : BATCH_ROWS;
    s->context = o.context;
    s->progress = o.progress;
    s->progress_user = o.progress_user;
    s->log = o.log;
    s->log_user = o.log_user;
    if (copy_all(s, &o))
        return COLLET_OK;
    extract_settings_free(s);
    return collet_fail(err, COLLET_NO_MEMORY, "options: out of memory");
}

void extract_settings_free(extract_settings *s)
{
    for (char **word = s->command; word != NULL && *word != NULL; word++)
        free(*word);
    free(s->command);
    free(s->topology);
    free(s->trajectory);
    free(s->selection);
    free(s->masses);
    free(s->mass_values);
    free(s->reference);
    free(s->keys);
    free(s->backend);
    free(s->program);
    memset(s, 0, sizeof *s);
}
