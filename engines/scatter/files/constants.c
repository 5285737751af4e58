/* SPDX-License-Identifier: Apache-2.0 */
/* Reads optical constants from Material<i>.txt.
 * Tests: tests/tools/rsoxs/test_rsoxs.c, tests/tools/rsoxs/test_rsoxs_validate.c */
#include "io/numerals.h"
#include "scatter/files/settings.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAME_ENERGY 1e-3 /* eV; tolerance between the configuration and a material's file */
#define LARGE 0.1        /* a larger delta or beta is suspicious */

static collet_status read_constant(scatter_settings *r, const config_setting_t *group,
                                   const char *key, double *value)
{
    const config_setting_t *s = config_setting_get_member(group, key);
    if (!scatter_is_number(s))
        return collet_fail(r->err, COLLET_FORMAT, "%s, line %d: %s has no number called %s",
                           r->path, config_setting_source_line(group), config_setting_name(group),
                           key);
    *value = config_setting_get_float(s);
    return COLLET_OK;
}

/* Reads a delta or beta. */
static collet_status read_part(scatter_settings *r, const config_setting_t *group, const char *key,
                               double *value)
{
    double found = 0.0;
    collet_status status = read_constant(r, group, key, &found);
    if (status == COLLET_OK && !(fabs(found) <= SCATTER_CONSTANT_MAX))
        return collet_fail(r->err, COLLET_FORMAT,
                           "%s, line %d: %s of %s is %g; it must be from %d to %d", r->path,
                           config_setting_source_line(group), key, config_setting_name(group),
                           found, -SCATTER_CONSTANT_MAX, SCATTER_CONSTANT_MAX);
    if (status == COLLET_OK)
        *value = found;
    return status;
}

static int is_energy_data(const config_setting_t *s)
{
    return config_setting_is_group(s) && !strncmp(config_setting_name(s), "EnergyData", 10);
}

/* Returns the group whose Energy is `energy`, or NULL. */
static const config_setting_t *find_energy(const scatter_settings *r, double energy)
{
    const config_setting_t *root = config_root_setting(&r->file);
    for (int i = 0; i < config_setting_length(root); i++) {
        const config_setting_t *group = config_setting_get_elem(root, (unsigned)i);
        if (!is_energy_data(group))
            continue;
        const config_setting_t *s = config_setting_get_member(group, "Energy");
        if (scatter_is_number(s) && fabs(config_setting_get_float(s) - energy) <= SAME_ENERGY)
            return group;
    }
    return NULL;
}

static collet_status read_group(const collet_scatter_input *in, scatter_settings *r,
                                const config_setting_t *group, collet_scatter_constants *c)
{
    collet_status status = read_part(r, group, "DeltaPara", &c->delta_parallel);
    if (scatter_goes_on(in, &status, r->err))
        status = read_part(r, group, "BetaPara", &c->beta_parallel);
    if (scatter_goes_on(in, &status, r->err))
        status = read_part(r, group, "DeltaPerp", &c->delta_perpendicular);
    if (scatter_goes_on(in, &status, r->err))
        status = read_part(r, group, "BetaPerp", &c->beta_perpendicular);
    return status;
}

/* Fails if energies have no group; the text lists the first few. */
static collet_status report_missing(const scatter_settings *r, const double *missing, int64_t count)
{
    char text[200] = "", more[40] = "";
    size_t at = 0;
    int64_t shown = count < 5 ? count : 5;
    locale_t before = io_numerals_begin();
    for (int64_t i = 0; i < shown; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%.10g", i ? ", " : "", missing[i]);
    io_numerals_end(before);
    if (count > shown)
        snprintf(more, sizeof more, " and %" PRId64 " more energies", count - shown);
    return count ? collet_fail(r->err, COLLET_INVALID, "%s: there is no EnergyData for %s eV%s",
                               r->path, text, more)
                 : COLLET_OK;
}

static collet_status read_groups(collet_scatter_input *in, scatter_settings *r, int64_t m)
{
    int64_t energies = in->options.n_energies, count = 0;
    double *missing = malloc(((size_t)energies + 1) * sizeof *missing);
    collet_status status =
        missing ? COLLET_OK : collet_fail(r->err, COLLET_NO_MEMORY, "%s: no memory", r->path);
    for (int64_t e = 0; e < energies && scatter_goes_on(in, &status, r->err); e++) {
        const config_setting_t *group = find_energy(r, in->energies[e]);
        if (!group)
            missing[count++] = in->energies[e];
        else
            status = read_group(in, r, group, &in->constants[e * in->options.n_materials + m]);
    }
    if (scatter_goes_on(in, &status, r->err))
        status = report_missing(r, missing, count);
    free(missing);
    return status;
}

/* ---- All groups ------------------------------------------------------------------------------ */

static collet_status warn_of_group(collet_scatter_input *in, scatter_settings *r,
                                   const config_setting_t *group, double energy,
                                   const collet_scatter_constants *c)
{
    const config_setting_t *first = find_energy(r, energy);
    const char *name = config_setting_name(group);
    int line = (int)config_setting_source_line(group);
    collet_status status = COLLET_OK;
    if (first && first != group)
        status = scatter_warn(in, r->err,
                              "%s, line %d: %s is not used, because it has the same energy, %.10g "
                              "eV, as %s",
                              r->path, line, name, energy, config_setting_name(first));
    if (status == COLLET_OK && (c->beta_parallel < 0.0 || c->beta_perpendicular < 0.0))
        status =
            scatter_warn(in, r->err, "%s, line %d: beta of %s is negative", r->path, line, name);
    if (status == COLLET_OK &&
        !(fabs(c->delta_parallel) < LARGE && fabs(c->beta_parallel) < LARGE &&
          fabs(c->delta_perpendicular) < LARGE && fabs(c->beta_perpendicular) < LARGE))
        status = scatter_warn(in, r->err,
                              "%s, line %d: a constant of %s is %g or more; with soft X-rays "
                              "values are usually about 0.001",
                              r->path, line, name, LARGE);
    return status;
}

static collet_status warn_of_fault(collet_scatter_input *in, const scatter_settings *r)
{
    char text[sizeof r->err->text];
    snprintf(text, sizeof text, "%s", r->err->text);
    return scatter_warn(in, r->err, "%.300s: the group is not used", text);
}

static collet_status check_groups(collet_scatter_input *in, scatter_settings *r)
{
    const config_setting_t *root = config_root_setting(&r->file);
    collet_status status = COLLET_OK;
    int groups = 0;
    for (int i = 0; i < config_setting_length(root) && scatter_goes_on(in, &status, r->err); i++) {
        const config_setting_t *group = config_setting_get_elem(root, (unsigned)i);
        collet_scatter_constants c = {0};
        double energy = 0.0;
        if (!is_energy_data(group))
            continue;
        groups++;
        status = read_constant(r, group, "Energy", &energy);
        if (status == COLLET_OK)
            status = read_group(in, r, group, &c);
        if (status == COLLET_OK)
            status = warn_of_group(in, r, group, energy, &c);
        else if (status == COLLET_FORMAT &&
                 !in->report) /* no energy of the configuration needs the group */
            status = warn_of_fault(in, r);
    }
    if (scatter_goes_on(in, &status, r->err) && !groups)
        status =
            collet_fail(r->err, COLLET_FORMAT, "%s: the file has no group EnergyData", r->path);
    return status;
}

/* ---- Files -------------------------------------------------------------------------------------
 */

collet_status scatter_read_material(collet_scatter_input *in, const char *path, int64_t m,
                                    collet_error *err)
{
    scatter_settings r = {.path = path, .err = err};
    size_t count = (size_t)(in->options.n_energies * in->options.n_materials);
    if (!in->constants)
        in->constants = calloc(count + 1, sizeof *in->constants);
    if (!in->constants)
        return collet_fail(err, COLLET_NO_MEMORY, "no memory for optical constants");
    collet_status status = scatter_settings_open(&r);
    if (status != COLLET_OK)
        return status;
    status = read_groups(in, &r, m);
    if (scatter_goes_on(in, &status, err))
        status = check_groups(in, &r);
    config_destroy(&r.file);
    return status;
}

void scatter_material_path(const char *configuration, int64_t m, char *path, size_t size)
{
    const char *slash = strrchr(configuration, '/');
    snprintf(path, size, "%.*sMaterial%" PRId64 ".txt",
             slash ? (int)(slash - configuration) + 1 : 0, configuration, m + 1);
}

collet_status scatter_read_constants(collet_scatter_input *in, const char *configuration,
                                     collet_error *err)
{
    size_t size = strlen(configuration) + 40;
    char *path = malloc(size);
    collet_status status =
        path ? COLLET_OK : collet_fail(err, COLLET_NO_MEMORY, "no memory for optical constants");
    for (int64_t m = 0; m < in->options.n_materials && scatter_goes_on(in, &status, err); m++) {
        scatter_material_path(configuration, m, path, size);
        status = scatter_read_material(in, path, m, err);
    }
    free(path);
    return status;
}

collet_status scatter_check_constants(collet_scatter_input *in, const char *path,
                                      collet_error *err)
{
    scatter_settings r = {.path = path, .err = err};
    collet_status status = scatter_settings_open(&r);
    if (status != COLLET_OK)
        return status;
    status = check_groups(in, &r);
    config_destroy(&r.file);
    return status;
}
