/* SPDX-License-Identifier: Apache-2.0 */
/* Reads config.txt.
 * Tests: tests/tools/rsoxs/test_rsoxs.c, tests/tools/rsoxs/test_rsoxs_validate.c */
#include "scatter/files/settings.h"
#include "scatter/files/warnings.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the first unknown key from number *at on, or NULL, and sets *at to the number of the key after it. Known keys
 * are those that this file reads, and keys of CyRSoXS that have no effect on patterns. */
static const char *unknown_key(const scatter_settings *r, int *at)
{
    static const char *const known[] = {
        "CaseType",     "Energies",            "EAngleRotation", "MorphologyType", "NumThreads",      "RotMask",
        "MaxStreams",   "EwaldsInterpolation", "WindowingType",  "Algorithm",      "AlgorithmType",   "Attenuation",
        "HDF5DirName",  "DetectorCoordinates", "DumpMorphology", "ReferenceFrame", "ScatterApproach", "listKVectors"};
    const config_setting_t *root = config_root_setting(&r->file);
    while (*at < config_setting_length(root)) {
        const char *name = config_setting_name(config_setting_get_elem(root, (unsigned)(*at)++));
        size_t k = 0;
        while (k < sizeof known / sizeof *known && strcmp(known[k], name))
            k++;
        if (k == sizeof known / sizeof *known)
            return name;
    }
    return NULL;
}

/* Returns the error of a missing key; `form` shows how its value is written. The text also names an unknown key, which
 * may be this key misspelt. */
static collet_status missing(const scatter_settings *r, const char *key, const char *form)
{
    int at = 0;
    const char *other = unknown_key(r, &at);
    return collet_fail(r->err, COLLET_FORMAT, "%s: %s%s is missing%s%s%s", r->path, key, form,
                       other ? "; the key " : "", other ? other : "", other ? " is unknown" : "");
}

/* Reads a whole number from 0 to `maximum`, or a boolean; `fallback` < 0: the key is required. */
static collet_status read_choice(scatter_settings *r, const char *key, int fallback, int maximum,
                                 int *value)
{
    const config_setting_t *s = config_lookup(&r->file, key);
    *value = fallback;
    if (!s)
        return fallback >= 0 ? COLLET_OK : missing(r, key, "");
    double x = config_setting_type(s) == CONFIG_TYPE_BOOL ? config_setting_get_bool(s)
               : scatter_is_number(s)                     ? config_setting_get_float(s)
                                                          : -1.0;
    if (!(x >= 0.0 && x <= maximum && x == floor(x)))
        return collet_fail(r->err, COLLET_FORMAT, "%s, line %d: %s must be a number from 0 to %d",
                           r->path, config_setting_source_line(s), key, maximum);
    *value = (int)x;
    return COLLET_OK;
}

/* Reads an array or list of `count` numbers; `count` = 0: of any length. */
static collet_status read_numbers(scatter_settings *r, const config_setting_t *s, const char *key,
                                  int64_t count, double **values, int64_t *found)
{
    *values = NULL;
    if (!s || !config_setting_is_aggregate(s))
        return missing(r, key, " = [...]");
    int length = config_setting_length(s);
    if (count && length != count)
        return collet_fail(
            r->err, COLLET_FORMAT, "%s, line %d: %s has %d number%s; it must have %" PRId64,
            r->path, config_setting_source_line(s), key, length, length == 1 ? "" : "s", count);
    if (length < 1)
        return collet_fail(r->err, COLLET_FORMAT,
                           "%s, line %d: %s is empty: at least one number is needed", r->path,
                           config_setting_source_line(s), key);
    *values = malloc((size_t)length * sizeof **values);
    if (!*values)
        return collet_fail(r->err, COLLET_NO_MEMORY, "%s: no memory for %s", r->path, key);
    for (int i = 0; i < length; i++) {
        const config_setting_t *element = config_setting_get_elem(s, (unsigned)i);
        if (!scatter_is_number(element)) {
            free(*values);
            *values = NULL;
            return collet_fail(r->err, COLLET_FORMAT,
                               "%s, line %d: element %d of %s is not a number", r->path,
                               config_setting_source_line(s), i + 1, key);
        }
        (*values)[i] = config_setting_get_float(element);
    }
    if (found)
        *found = length;
    return COLLET_OK;
}

/* ---- The configuration ----------------------------------------------------------------------- */

/* An energy and the name of its file. */
typedef struct named {
    char name[COLLET_SCATTER_NAME];
    double energy;
} named;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const named *)a)->name, ((const named *)b)->name);
}

static collet_status read_energies(collet_scatter_input *in, scatter_settings *r)
{
    collet_status status = read_numbers(r, config_lookup(&r->file, "Energies"), "Energies", 0,
                                        &in->energies, &in->options.n_energies);
    if (status != COLLET_OK)
        return status;
    size_t count = (size_t)in->options.n_energies;
    named *names = malloc(count * sizeof *names);
    if (!names)
        return collet_fail(r->err, COLLET_NO_MEMORY, "%s: no memory", r->path);
    for (size_t i = 0; i < count; i++) {
        names[i].energy = in->energies[i];
        collet_scatter_file_name(names[i].name, in->energies[i]);
    }
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 1; i < count && scatter_goes_on(in, &status, r->err); i++)
        if (!strcmp(names[i - 1].name, names[i].name))
            status = collet_fail(
                r->err, COLLET_INVALID,
                "%s: the energies %.10g and %.10g have the same file name %s, which has "
                "two decimals: give energies in eV that differ by 0.01 or more",
                r->path, names[i - 1].energy, names[i].energy, names[i].name);
    free(names);
    return status;
}

static collet_status add_beam(collet_scatter_input *in, scatter_settings *r, const double k[3])
{
    double norm = sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
    if (!(norm > 0.0) || !isfinite(norm))
        return collet_fail(
            r->err, COLLET_FORMAT,
            "%s: listKVectors has the vector %g, %g, %g; its length must be positive and finite",
            r->path, k[0], k[1], k[2]);
    for (int a = 0; a < 3; a++)
        in->beams[in->n_beams][a] = k[a] / norm;
    in->n_beams++;
    return COLLET_OK;
}

static collet_status read_beams(collet_scatter_input *in, scatter_settings *r, int kind)
{
    const double along_z[3] = {0.0, 0.0, 1.0};
    const config_setting_t *list = config_lookup(&r->file, "listKVectors");
    int count = kind > 0 ? list ? config_setting_length(list) : 0 : 1;
    if (count < 1)
        return collet_fail(r->err, COLLET_FORMAT, "%s: CaseType %d needs listKVectors", r->path,
                           kind);
    in->beams = malloc((size_t)count * sizeof *in->beams);
    if (!in->beams)
        return collet_fail(r->err, COLLET_NO_MEMORY, "%s: no memory", r->path);
    if (kind <= 0)
        return add_beam(in, r, along_z);
    collet_status status = COLLET_OK;
    for (int i = 0; i < count && scatter_goes_on(in, &status, r->err); i++) {
        const config_setting_t *element = config_setting_get_elem(list, (unsigned)i);
        double *k;
        status = read_numbers(r, element ? config_setting_get_member(element, "k") : NULL,
                              "k of listKVectors", 3, &k, NULL);
        if (status == COLLET_OK)
            status = add_beam(in, r, k);
        free(k);
    }
    return status;
}

/* Reads the detector of CaseType 2. */
static collet_status read_detector(collet_scatter_input *in, scatter_settings *r, int kind)
{
    double *n = NULL;
    collet_status status = COLLET_OK;
    if (kind == 2)
        status = read_numbers(r, config_lookup(&r->file, "DetectorCoordinates"),
                              "DetectorCoordinates", 3, &n, NULL);
    if (n && n[0] == 0.0 && n[1] == 0.0 && n[2] == 0.0)
        status =
            collet_fail(r->err, COLLET_FORMAT,
                        "%s: DetectorCoordinates are 0, 0, 0; at least one must not be 0", r->path);
    for (int a = 0; n && a < 3; a++)
        in->options.detector[a] = n[a];
    free(n);
    return status;
}

static collet_status read_directory(collet_scatter_input *in, scatter_settings *r)
{
    const config_setting_t *s = config_lookup(&r->file, "HDF5DirName");
    const char *name = s ? config_setting_get_string(s) : NULL;
    if (s && (!name || !*name))
        return collet_fail(r->err, COLLET_FORMAT,
                           "%s, line %d: HDF5DirName must be the name of a directory, in quotes",
                           r->path, config_setting_source_line(s));
    in->directory = name ? strdup(name) : NULL;
    return name && !in->directory ? collet_fail(r->err, COLLET_NO_MEMORY, "%s: no memory", r->path)
                                  : COLLET_OK;
}

/* Warns about unknown keys. */
static collet_status check_keys(collet_scatter_input *in, scatter_settings *r)
{
    collet_status status = COLLET_OK;
    int at = 0;
    for (const char *name; status == COLLET_OK && (name = unknown_key(r, &at));)
        status = scatter_warn(in, r->err, "%s: the key %s is unknown and not used", r->path, name);
    return status;
}

static collet_status read_choices(collet_scatter_input *in, scatter_settings *r)
{
    collet_scatter_options *o = &in->options;
    int kind = 0, linear = 1, window = 0, mask = 0, frame = 1, attenuation = 0;
    collet_status status = read_choice(r, "CaseType", -1, 2, &kind);
    if (scatter_goes_on(in, &status, r->err))
        status = read_choice(r, "MorphologyType", -1, 1, &in->vectors);
    if (scatter_goes_on(in, &status, r->err))
        status = read_choice(r, "EwaldsInterpolation", 1, 1, &linear);
    if (scatter_goes_on(in, &status, r->err))
        status = read_choice(r, "WindowingType", 0, 1, &window);
    if (scatter_goes_on(in, &status, r->err))
        status = read_choice(r, "RotMask", 0, 1, &mask);
    if (scatter_goes_on(in, &status, r->err))
        status = read_choice(r, "ReferenceFrame", 1, 1, &frame);
    if (scatter_goes_on(in, &status, r->err))
        status = read_choice(r, "Attenuation", 0, 1, &attenuation);
    if (scatter_goes_on(in, &status, r->err))
        status = read_beams(in, r, kind);
    if (scatter_goes_on(in, &status, r->err))
        status = read_detector(in, r, kind);
    o->nearest = !linear;
    o->window = (uint32_t)window;
    o->mask = (uint32_t)mask;
    o->material_frame = !frame;
    o->attenuation = (uint32_t)attenuation;
    return status;
}

collet_status scatter_read_configuration(collet_scatter_input *in, const char *path,
                                         collet_error *err)
{
    scatter_settings r = {.path = path, .err = err};
    double *angles = NULL;
    collet_status status = scatter_settings_open(&r);
    if (status != COLLET_OK)
        return status;
    status = read_choices(in, &r);
    if (scatter_goes_on(in, &status, err))
        status = read_energies(in, &r);
    if (status == COLLET_OK)
        status = scatter_warn_of_energies(in, path, err);
    if (scatter_goes_on(in, &status, err))
        status = read_numbers(&r, config_lookup(&r.file, "EAngleRotation"), "EAngleRotation", 3,
                              &angles, NULL);
    if (status == COLLET_OK && angles[1] == 0.0 && angles[0] != angles[2])
        status =
            collet_fail(err, COLLET_FORMAT,
                        "%s: EAngleRotation goes from %g to %g in steps of 0; give a positive step",
                        path, angles[0], angles[2]);
    for (int i = 0; angles && i < 3; i++)
        in->options.angles[i] = angles[i];
    free(angles);
    if (scatter_goes_on(in, &status, err))
        status = check_keys(in, &r);
    if (scatter_goes_on(in, &status, err))
        status = read_directory(in, &r);
    config_destroy(&r.file);
    return status;
}
