/* SPDX-License-Identifier: Apache-2.0 */
/* config.txt and Material<i>.txt, in libconfig's language. */
#include "scatter/files/input.h"

#include <inttypes.h>
#include <libconfig.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SAME_ENERGY 1e-3 /* eV, between the configuration and a material's file */

/* libconfig ends the process where an included file cannot be read. */
static collet_status check_text(const char *path, collet_error *err)
{
    struct stat found;
    char line[4096];
    collet_status status = COLLET_OK;
    if (stat(path, &found) == 0 && !S_ISREG(found.st_mode))
        return collet_fail(err, COLLET_IO, "%s: no regular file", path);
    FILE *f = fopen(path, "r");
    if (!f)
        return collet_fail(err, COLLET_IO, "%s: cannot be read", path);
    while (status == COLLET_OK && fgets(line, sizeof line, f))
        if (strstr(line, "@include"))
            status = collet_fail(err, COLLET_FORMAT, "%s: @include is not read", path);
    fclose(f);
    return status;
}

static collet_status open_file(config_t *file, const char *path, collet_error *err)
{
    collet_status readable = check_text(path, err);
    if (readable != COLLET_OK)
        return readable;
    config_init(file);
    config_set_options(file, CONFIG_OPTION_AUTOCONVERT);
    if (config_read_file(file, path) == CONFIG_TRUE)
        return COLLET_OK;
    const char *why = config_error_text(file);
    collet_status status =
        config_error_type(file) == CONFIG_ERR_FILE_IO
            ? collet_fail(err, COLLET_IO, "%s: cannot be read", path)
            : collet_fail(
                  err, COLLET_FORMAT, "%s, line %d: %s%s", path, config_error_line(file), why,
                  strstr(why, "mismatched element") ? ": 5.0 and 5 are of different types" : "");
    config_destroy(file);
    return status;
}

/* ---- Values ---------------------------------------------------------------------------------- */

typedef struct reader {
    const char *path;
    config_t file;
    collet_error *err;
} reader;

static int is_number(const config_setting_t *s)
{
    int type = s ? config_setting_type(s) : CONFIG_TYPE_NONE;
    return type == CONFIG_TYPE_INT || type == CONFIG_TYPE_INT64 || type == CONFIG_TYPE_FLOAT;
}

static double number_of(const config_setting_t *s)
{
    return config_setting_get_float(s);
}

/* A whole number from 0 to most, or a boolean; `fallback` < 0: it must be there. */
static collet_status read_choice(reader *r, const char *key, int fallback, int most, int *value)
{
    const config_setting_t *s = config_lookup(&r->file, key);
    *value = fallback;
    if (!s)
        return fallback >= 0
                   ? COLLET_OK
                   : collet_fail(r->err, COLLET_FORMAT, "%s: %s is missing", r->path, key);
    double x = config_setting_type(s) == CONFIG_TYPE_BOOL ? config_setting_get_bool(s)
               : is_number(s)                             ? number_of(s)
                                                          : -1.0;
    if (!(x >= 0.0 && x <= most && x == floor(x)))
        return collet_fail(r->err, COLLET_FORMAT, "%s, line %d: %s must be a number from 0 to %d",
                           r->path, config_setting_source_line(s), key, most);
    *value = (int)x;
    return COLLET_OK;
}

/* The numbers of an array or list; `count` of them, or any number where it is 0. */
static collet_status read_numbers(reader *r, const config_setting_t *s, const char *key,
                                  int64_t count, double **values, int64_t *found)
{
    *values = NULL;
    if (!s || !config_setting_is_aggregate(s))
        return collet_fail(r->err, COLLET_FORMAT, "%s: %s = [...] is missing", r->path, key);
    int length = config_setting_length(s);
    if (length < 1 || (count && length != count))
        return collet_fail(r->err, COLLET_FORMAT, "%s, line %d: %s has %d numbers", r->path,
                           config_setting_source_line(s), key, length);
    *values = malloc((size_t)length * sizeof **values);
    if (!*values)
        return collet_fail(r->err, COLLET_NO_MEMORY, "%s: no memory for %s", r->path, key);
    for (int i = 0; i < length; i++) {
        const config_setting_t *element = config_setting_get_elem(s, (unsigned)i);
        if (!is_number(element)) {
            free(*values);
            *values = NULL;
            return collet_fail(r->err, COLLET_FORMAT, "%s, line %d: element %d of %s is no number",
                               r->path, config_setting_source_line(s), i + 1, key);
        }
        (*values)[i] = number_of(element);
    }
    if (found)
        *found = length;
    return COLLET_OK;
}

/* ---- The configuration ----------------------------------------------------------------------- */

/* The name of an energy's file. */
typedef struct named {
    char name[COLLET_SCATTERING_NAME];
    double energy;
} named;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const named *)a)->name, ((const named *)b)->name);
}

static collet_status read_energies(collet_scattering_input *in, reader *r)
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
        collet_scattering_file_name(in->energies[i], names[i].name);
    }
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 1; i < count && status == COLLET_OK; i++)
        if (!strcmp(names[i - 1].name, names[i].name))
            status = collet_fail(r->err, COLLET_INVALID,
                                 "%s: the energies %.10g and %.10g would both be written to %s",
                                 r->path, names[i - 1].energy, names[i].energy, names[i].name);
    free(names);
    return status;
}

static collet_status add_beam(collet_scattering_input *in, reader *r, const double k[3])
{
    double norm = sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
    if (!(norm > 0.0) || !isfinite(norm))
        return collet_fail(r->err, COLLET_FORMAT, "%s: listKVectors has the vector %g, %g, %g",
                           r->path, k[0], k[1], k[2]);
    for (int a = 0; a < 3; a++)
        in->beams[in->n_beams][a] = k[a] / norm;
    in->n_beams++;
    return COLLET_OK;
}

static collet_status read_beams(collet_scattering_input *in, reader *r, int kind)
{
    const double along_z[3] = {0.0, 0.0, 1.0};
    const config_setting_t *list = config_lookup(&r->file, "listKVectors");
    int count = kind ? list ? config_setting_length(list) : 0 : 1;
    if (count < 1)
        return collet_fail(r->err, COLLET_FORMAT, "%s: CaseType %d needs listKVectors", r->path,
                           kind);
    in->beams = malloc((size_t)count * sizeof *in->beams);
    if (!in->beams)
        return collet_fail(r->err, COLLET_NO_MEMORY, "%s: no memory", r->path);
    if (!kind)
        return add_beam(in, r, along_z);
    collet_status status = COLLET_OK;
    for (int i = 0; i < count && status == COLLET_OK; i++) {
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

/* CaseType 2 turns the detector, which CyRSoXS does to the image alone. */
static collet_status read_detector(collet_scattering_input *in, reader *r, int kind)
{
    double *n = NULL;
    collet_status status = COLLET_OK;
    (void)in;
    if (kind == 2)
        status = read_numbers(r, config_lookup(&r->file, "DetectorCoordinates"),
                              "DetectorCoordinates", 3, &n, NULL);
    if (n && (n[0] != 0.0 || n[1] != 0.0 || !(n[2] > 0.0)))
        status =
            collet_fail(r->err, COLLET_UNSUPPORTED,
                        "%s: DetectorCoordinates other than along z are not computed", r->path);
    free(n);
    return status;
}

/* Keys that change no pattern are accepted, unknown ones warned of. */
static collet_status check_keys(collet_scattering_input *in, reader *r)
{
    static const char *const known[] = {
        "CaseType",           "Energies",       "EAngleRotation",      "MorphologyType",
        "NumThreads",         "RotMask",        "EwaldsInterpolation", "WindowingType",
        "Algorithm",          "AlgorithmType",  "ScatterApproach",     "DumpMorphology",
        "MaxStreams",         "ReferenceFrame", "HDF5DirName",         "listKVectors",
        "DetectorCoordinates"};
    const config_setting_t *root = config_root_setting(&r->file);
    collet_status status = COLLET_OK;
    for (int i = 0; i < config_setting_length(root) && status == COLLET_OK; i++) {
        const char *name = config_setting_name(config_setting_get_elem(root, (unsigned)i));
        size_t k = 0;
        while (k < sizeof known / sizeof *known && strcmp(known[k], name))
            k++;
        if (k == sizeof known / sizeof *known)
            status = scatter_warn(in, r->err, "%s: %s is not used", r->path, name);
    }
    return status;
}

static collet_status read_choices(collet_scattering_input *in, reader *r)
{
    collet_scattering_options *o = &in->options;
    int kind = 0, linear = 1, window = 0, mask = 0, frame = 1;
    collet_status status = read_choice(r, "CaseType", -1, 2, &kind);
    if (status == COLLET_OK)
        status = read_choice(r, "MorphologyType", -1, 1, &in->vectors);
    if (status == COLLET_OK)
        status = read_choice(r, "EwaldsInterpolation", 1, 1, &linear);
    if (status == COLLET_OK)
        status = read_choice(r, "WindowingType", 0, 1, &window);
    if (status == COLLET_OK)
        status = read_choice(r, "RotMask", 0, 1, &mask);
    if (status == COLLET_OK)
        status = read_choice(r, "ReferenceFrame", 1, 1, &frame);
    if (status == COLLET_OK)
        status = read_beams(in, r, kind);
    if (status == COLLET_OK)
        status = read_detector(in, r, kind);
    o->nearest = !linear;
    o->window = (uint32_t)window;
    o->mask = (uint32_t)mask;
    o->material = !frame;
    return status;
}

collet_status scatter_read_configuration(collet_scattering_input *in, const char *path,
                                         collet_error *err)
{
    reader r = {.path = path, .err = err};
    double *angles = NULL;
    collet_status status = open_file(&r.file, path, err);
    if (status != COLLET_OK)
        return status;
    status = read_choices(in, &r);
    if (status == COLLET_OK)
        status = read_energies(in, &r);
    if (status == COLLET_OK)
        status = read_numbers(&r, config_lookup(&r.file, "EAngleRotation"), "EAngleRotation", 3,
                              &angles, NULL);
    if (status == COLLET_OK && angles[1] == 0.0 && angles[0] != angles[2])
        status =
            collet_fail(err, COLLET_FORMAT, "%s: EAngleRotation goes from %g to %g in steps of 0",
                        path, angles[0], angles[2]);
    for (int i = 0; angles && i < 3; i++)
        in->options.angles[i] = angles[i];
    free(angles);
    if (status == COLLET_OK)
        status = check_keys(in, &r);
    const char *directory;
    if (status == COLLET_OK && config_lookup_string(&r.file, "HDF5DirName", &directory)) {
        in->directory = strdup(directory);
        if (!in->directory)
            status = collet_fail(err, COLLET_NO_MEMORY, "%s: no memory", path);
    }
    config_destroy(&r.file);
    return status;
}

/* ---- Optical constants ----------------------------------------------------------------------- */

static collet_status read_constant(reader *r, const config_setting_t *group, const char *key,
                                   double *value)
{
    const config_setting_t *s = config_setting_get_member(group, key);
    if (!is_number(s))
        return collet_fail(r->err, COLLET_FORMAT, "%s, line %d: %s has no number %s", r->path,
                           config_setting_source_line(group), config_setting_name(group), key);
    *value = number_of(s);
    return COLLET_OK;
}

/* The group whose Energy is `energy`, or NULL. */
static const config_setting_t *find_energy(const reader *r, double energy)
{
    const config_setting_t *root = config_root_setting(&r->file);
    for (int i = 0; i < config_setting_length(root); i++) {
        const config_setting_t *group = config_setting_get_elem(root, (unsigned)i);
        if (!config_setting_is_group(group) ||
            strncmp(config_setting_name(group), "EnergyData", 10))
            continue;
        const config_setting_t *s = config_setting_get_member(group, "Energy");
        if (is_number(s) && fabs(number_of(s) - energy) <= SAME_ENERGY)
            return group;
    }
    return NULL;
}

static collet_status read_material(collet_scattering_input *in, reader *r, int64_t m)
{
    for (int64_t e = 0; e < in->options.n_energies; e++) {
        collet_scattering_constants *c = &in->constants[e * in->options.n_materials + m];
        const config_setting_t *group = find_energy(r, in->energies[e]);
        if (!group)
            return collet_fail(r->err, COLLET_INVALID, "%s: there is no EnergyData of %.10g eV",
                               r->path, in->energies[e]);
        collet_status status = read_constant(r, group, "DeltaPara", &c->delta_parallel);
        if (status == COLLET_OK)
            status = read_constant(r, group, "BetaPara", &c->beta_parallel);
        if (status == COLLET_OK)
            status = read_constant(r, group, "DeltaPerp", &c->delta_perpendicular);
        if (status == COLLET_OK)
            status = read_constant(r, group, "BetaPerp", &c->beta_perpendicular);
        if (status != COLLET_OK)
            return status;
    }
    return COLLET_OK;
}

collet_status scatter_read_constants(collet_scattering_input *in, const char *configuration,
                                     collet_error *err)
{
    const char *slash = strrchr(configuration, '/');
    int directory = slash ? (int)(slash - configuration) + 1 : 0;
    size_t size = (size_t)directory + 40;
    char *path = malloc(size);
    collet_status status = COLLET_OK;
    in->constants =
        malloc((size_t)(in->options.n_energies * in->options.n_materials) * sizeof *in->constants);
    if (!path || !in->constants)
        status = collet_fail(err, COLLET_NO_MEMORY, "no memory for optical constants");
    for (int64_t m = 0; m < in->options.n_materials && status == COLLET_OK; m++) {
        reader r = {.path = path, .err = err};
        snprintf(path, size, "%.*sMaterial%" PRId64 ".txt", directory, configuration, m + 1);
        status = open_file(&r.file, path, err);
        if (status != COLLET_OK)
            break;
        status = read_material(in, &r, m);
        config_destroy(&r.file);
    }
    free(path);
    return status;
}
