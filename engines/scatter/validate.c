/* SPDX-License-Identifier: Apache-2.0 */
/* Finds every fault in the files of a simulation, by the same checks as reading and computing.
 * Tests: tests/tools/rsoxs/test_rsoxs_validate.c */
#include "io/numerals.h"
#include "scatter/checks.h"
#include "scatter/files/morphology.h"
#include "scatter/files/settings.h"
#include "scatter/files/store.h"
#include "scatter/files/warnings.h"
#include "scatter/geometry.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <collet/floating.h>

#define SLAB (INT64_C(1) << 22) /* voxels of each dataset read at a time */

/* For each kind of fault, the dataset in which it occurs. */
static const struct {
    const char *dataset, *what;
    int width, vectors;
} kinds[SCATTER_KINDS] = {{"Vfrac", "the volume fraction", 1, 0},
                          {"S", "the alignment", 1, 0},
                          {"Theta", "theta", 1, 0},
                          {"Psi", "psi", 1, 0},
                          {"unaligned", "the unaligned fraction", 1, 1},
                          {"alignment", "the alignment vector", 3, 1}};

typedef struct checker {
    scatter_reader base; /* first member, because functions cast a pointer to `base` to a pointer to checker */
    collet_scatter_input *in;
    collet_error err;
    collet_scatter_finding_fn report;
    void *user;
    char **texts; /* texts already reported, because several checks find the same fault */
    size_t n_texts;
    int no_memory, faulty;
    scatter_dataset (*sets)[SCATTER_KINDS];
    scatter_fault *faults;
    scatter_range *ranges;
    void *values[SCATTER_KINDS];
    double *sum;
} checker;

/* ---- Findings -------------------------------------------------------------------------------- */

static void report_once(void *user, const collet_scatter_finding *finding)
{
    checker *c = user;
    c->faulty |= !finding->warning;
    for (size_t i = 0; i < c->n_texts; i++)
        if (!strcmp(c->texts[i], finding->text))
            return;
    char **more = realloc(c->texts, (c->n_texts + 1) * sizeof *more);
    if (more)
        c->texts = more;
    if (!more || !(more[c->n_texts] = strdup(finding->text)))
        c->no_memory = 1;
    else
        c->n_texts++;
    c->report(c->user, finding);
}

static int goes_on(checker *c, collet_status *status)
{
    return scatter_goes_on(c->in, status, &c->err);
}

static void report_voxels(checker *c, const scatter_fault *f, int64_t m, int kind)
{
    char text[500], owner[40] = "";
    collet_scatter_finding finding = {.struct_size = sizeof finding,
                                      .text = text,
                                      .dataset = m < 0 ? NULL : c->sets[m][kind].name,
                                      .material = m + 1,
                                      .voxels = f->count};
    int64_t shown = f->count < SCATTER_SHOWN ? f->count : SCATTER_SHOWN;
    if (m >= 0)
        snprintf(owner, sizeof owner, " of material %" PRId64, m + 1);
    locale_t before = io_numerals_begin();
    int at =
        snprintf(text, sizeof text,
                 "%.200s: %s%s%s%s must be %s, but is not in %" PRId64 " voxel%s:", c->base.path,
                 finding.dataset ? finding.dataset : "", finding.dataset ? ": " : "", f->what,
                 owner, f->expected, f->count, f->count == 1 ? "" : "s");
    for (int64_t i = 0; i < shown; i++) {
        const int64_t *v = f->first[i];
        memcpy(finding.first[i], v, sizeof finding.first[i]);
        at += snprintf(text + at, sizeof text - (size_t)at,
                       "%s %.6g at z %" PRId64 ", y %" PRId64 ", x %" PRId64, i ? ";" : "",
                       f->values[i], v[0], v[1], v[2]);
    }
    if (f->count > shown)
        snprintf(text + at, sizeof text - (size_t)at, "; ...");
    io_numerals_end(before);
    report_once(c, &finding);
}

/* ---- Voxels ---------------------------------------------------------------------------------- */

/* Reads planes of the datasets of a material into `material`. */
static collet_status read_part(checker *c, int64_t m, int64_t first, int64_t planes,
                               collet_scatter_material *material)
{
    const int64_t *n = c->in->options.shape;
    const void **pointers[SCATTER_KINDS] = {&material->volume,    &material->alignment,
                                            &material->theta,     &material->psi,
                                            &material->unaligned, &material->direction};
    collet_status status = COLLET_OK;
    *material = (collet_scatter_material){.dtype = COLLET_F32};
    for (int k = 0; k < SCATTER_KINDS; k++) {
        scatter_dataset *d = &c->sets[m][k];
        if (d->set < 0)
            continue;
        status = scatter_read_planes(&c->base, d, first, planes, c->values[k]);
        if (status == COLLET_OK) {
            *pointers[k] = c->values[k];
        } else if (goes_on(c, &status)) {
            H5Dclose(d->set);
            d->set = -1;
        } else {
            break;
        }
    }
    scatter_note_range(&c->ranges[m], material, planes * n[1] * n[2]);
    return status;
}

static collet_status check_planes(checker *c, int64_t first, int64_t planes,
                                  collet_scatter_material *materials)
{
    collet_scatter_options part = c->in->options;
    int64_t voxels = planes * part.shape[1] * part.shape[2];
    const scatter_voxels v = {.options = &part,
                              .before = first * part.shape[1] * part.shape[2],
                              .faults = c->faults,
                              .err = &c->err};
    int complete = 1;
    collet_status status = COLLET_OK;
    part.materials = materials;
    memset(c->sum, 0, (size_t)voxels * sizeof *c->sum);
    for (int64_t m = 0; m < part.n_materials && status == COLLET_OK; m++) {
        status = read_part(c, m, first, planes, &materials[m]);
        if (status == COLLET_OK)
            status = scatter_check_part(&v, m, 0, voxels, c->sum);
        complete = complete && (c->in->vectors ? materials[m].unaligned && materials[m].direction
                                               : materials[m].volume != NULL);
    }
    return status == COLLET_OK && complete ? scatter_check_sums(&v, 0, voxels, c->sum) : status;
}

static int64_t slab_planes(const checker *c)
{
    const int64_t *n = c->in->options.shape;
    int64_t planes = SLAB / (n[1] * n[2]);
    return planes < 1 ? 1 : planes > n[0] ? n[0] : planes;
}

static collet_status check_voxels(checker *c)
{
    const collet_scatter_options *o = &c->in->options;
    collet_status status = COLLET_OK;
    if (o->shape[0] == 0)
        return COLLET_OK;
    int64_t planes = slab_planes(c);
    collet_scatter_material *materials = calloc((size_t)o->n_materials, sizeof *materials);
    c->sum = malloc((size_t)(planes * o->shape[1] * o->shape[2]) * sizeof *c->sum);
    if (!materials || !c->sum)
        status = collet_fail(&c->err, COLLET_NO_MEMORY, "%s: no memory", c->base.path);
    for (int64_t z = 0; z < o->shape[0] && status == COLLET_OK; z += planes)
        status = check_planes(c, z, o->shape[0] - z < planes ? o->shape[0] - z : planes, materials);
    free(materials);
    for (int64_t m = 0; m < o->n_materials && status == COLLET_OK; m++)
        for (int k = 0; k < SCATTER_KINDS; k++)
            if (c->faults[m * SCATTER_KINDS + k].count)
                report_voxels(c, &c->faults[m * SCATTER_KINDS + k], m, k);
    if (status == COLLET_OK && c->faults[o->n_materials * SCATTER_KINDS].count)
        report_voxels(c, &c->faults[o->n_materials * SCATTER_KINDS], -1, 0);
    return status;
}

/* ---- Datasets -------------------------------------------------------------------------------- */

/* Checks the HDF5 group of the configuration's MorphologyType; without a configuration, the group that the
 * file has. */
static collet_status check_group(checker *c)
{
    int has[2];
    for (int i = 0; i < 2; i++)
        has[i] = scatter_has_group(c->base.file, i);
    if (c->in->vectors < 0)
        c->in->vectors = !has[0] && has[1];
    if (has[c->in->vectors])
        return COLLET_OK;
    const char *group = scatter_group(c->base.file, c->in->vectors);
    if (!has[!c->in->vectors])
        return collet_fail(&c->err, COLLET_FORMAT, "%s: there is no group %s", c->base.path, group);
    return collet_fail(&c->err, COLLET_FORMAT, "%s: there is no group %s; the file has %s: set MorphologyType to %d",
                       c->base.path, group, scatter_group(c->base.file, !c->in->vectors), !c->in->vectors);
}

static int has_material(const checker *c, int64_t m)
{
    char name[SCATTER_NAME_SIZE];
    scatter_name_dataset(name, c->base.file, c->in->vectors, m, c->in->vectors ? "alignment" : "Vfrac");
    return io_hdf5_has(c->base.file, name);
}

/* Sets *isotropic to 1 if S is 0 everywhere; then angles are not read. */
static collet_status is_isotropic(checker *c, const scatter_dataset *d, int *isotropic)
{
    const int64_t *n = c->in->options.shape;
    int64_t planes = slab_planes(c), voxels = planes * n[1] * n[2];
    float *values = malloc((size_t)voxels * sizeof *values);
    collet_status status =
        values ? COLLET_OK : collet_fail(&c->err, COLLET_NO_MEMORY, "%s: no memory", c->base.path);
    *isotropic = 1;
    for (int64_t z = 0; z < n[0] && status == COLLET_OK && *isotropic; z += planes) {
        int64_t some = n[0] - z < planes ? n[0] - z : planes;
        status = scatter_read_planes(&c->base, d, z, some, values);
        for (int64_t i = 0; i < some * n[1] * n[2] && status == COLLET_OK && *isotropic; i++)
            *isotropic = values[i] == 0.0f;
    }
    free(values);
    return status;
}

static collet_status open_datasets(checker *c, int64_t m)
{
    int isotropic = 0, has = 1;
    collet_status status = c->in->vectors ? COLLET_OK : scatter_find_alignment(&c->base, m, &has);
    for (int k = 0; k < SCATTER_KINDS && goes_on(c, &status); k++) {
        if (kinds[k].vectors != c->in->vectors || (isotropic && (k == 2 || k == 3)) ||
            (!has && k > 0 && k < 4))
            continue;
        status =
            scatter_open_dataset(&c->base, m, kinds[k].dataset, kinds[k].width, &c->sets[m][k]);
        if (status == COLLET_OK && k == 1)
            status = is_isotropic(c, &c->sets[m][k], &isotropic);
    }
    return status;
}

static collet_status allocate(checker *c)
{
    const int64_t *n = c->in->options.shape;
    size_t materials = (size_t)c->in->options.n_materials;
    for (int k = 0; k < SCATTER_KINDS && n[0]; k++)
        if (kinds[k].vectors == c->in->vectors &&
            !(c->values[k] =
                  malloc((size_t)(slab_planes(c) * n[1] * n[2] * kinds[k].width) * sizeof(float))))
            return collet_fail(&c->err, COLLET_NO_MEMORY, "%s: no memory", c->base.path);
    c->faults = calloc(materials * SCATTER_KINDS + 1, sizeof *c->faults);
    c->ranges = calloc(materials, sizeof *c->ranges);
    return c->faults && c->ranges
               ? COLLET_OK
               : collet_fail(&c->err, COLLET_NO_MEMORY, "%s: no memory", c->base.path);
}

static collet_status check_datasets(scatter_reader *base)
{
    checker *c = (checker *)base;
    collet_scatter_options *o = &c->in->options;
    collet_status status = check_group(c);
    if (status != COLLET_OK)
        return status;
    if (o->n_materials == 0) { /* NumMaterial is invalid */
        while (o->n_materials == 0 || has_material(c, o->n_materials))
            o->n_materials++;
    }
    c->sets = malloc((size_t)o->n_materials * sizeof *c->sets);
    if (!c->sets)
        return collet_fail(&c->err, COLLET_NO_MEMORY, "%s: no memory", base->path);
    for (int64_t i = 0; i < o->n_materials * SCATTER_KINDS; i++)
        c->sets[i / SCATTER_KINDS][i % SCATTER_KINDS].set = -1;
    for (int64_t m = 0; m < o->n_materials && goes_on(c, &status); m++)
        status = open_datasets(c, m);
    if (goes_on(c, &status))
        status = allocate(c);
    if (status == COLLET_OK)
        status = check_voxels(c);
    for (int64_t m = 0; m < o->n_materials && status == COLLET_OK; m++)
        if (c->sets[m][c->in->vectors ? 4 : 0].set >= 0)
            status = scatter_warn_of_voxels(c->in, base->path, m, &c->ranges[m], &c->err);
    if (status == COLLET_OK)
        status = scatter_warn_of_file(base);
    for (int64_t i = 0; i < o->n_materials * SCATTER_KINDS; i++)
        if (c->sets[i / SCATTER_KINDS][i % SCATTER_KINDS].set >= 0)
            H5Dclose(c->sets[i / SCATTER_KINDS][i % SCATTER_KINDS].set);
    return status;
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* Checks beams, angles, energies and constants of a configuration. */
static collet_status check_values(checker *c, const char *configuration)
{
    collet_scatter_options *o = &c->in->options;
    collet_status status = COLLET_OK;
    collet_error err = {0};
    o->energies = c->in->energies;
    o->constants = c->in->constants;
    for (int64_t i = 0; i < c->in->n_beams + o->n_energies && goes_on(c, &status); i++) {
        if (i < c->in->n_beams)
            memcpy(o->direction, c->in->beams[i], sizeof o->direction);
        status = i < c->in->n_beams ? scatter_check_beam(o, &err)
                                    : scatter_check_energy(o, i - c->in->n_beams, &err);
        if (status != COLLET_OK)
            collet_fail(&c->err, status, "%s: %s", configuration, err.text);
    }
    return status;
}

static collet_status check_configured(checker *c, const char *configuration)
{
    collet_status status = scatter_read_constants(c->in, configuration, &c->err);
    if (goes_on(c, &status) && !c->faulty)
        status = scatter_warn_of_constants(c->in, configuration, &c->err);
    return goes_on(c, &status) ? check_values(c, configuration) : status;
}

/* Returns the number of files Material<i>.txt in the folder of the configuration; 1 if there is none. */
static int64_t count_materials(const char *configuration)
{
    size_t size = strlen(configuration) + 40;
    char *path = malloc(size);
    int64_t count = 0;
    while (path && count < 1000) {
        scatter_material_path(configuration, count, path, size);
        if (access(path, F_OK) != 0)
            break;
        count++;
    }
    free(path);
    return count ? count : 1;
}

static int ends_with(const char *text, const char *end)
{
    size_t a = strlen(text), b = strlen(end);
    return a >= b && !strcmp(text + a - b, end);
}

/* Sets *constants to 1 if a text file has groups EnergyData at its top level. */
static collet_status find_kind(checker *c, const char *path, int *constants)
{
    scatter_settings r = {.path = path, .err = &c->err};
    collet_status status = scatter_settings_open(&r);
    *constants = 0;
    if (r.unlike) {
        const collet_error found = c->err;
        return collet_fail(&c->err, status,
                           "%s: the file is neither HDF5 nor a configuration nor optical constants",
                           found.text);
    }
    if (status != COLLET_OK)
        return status;
    const config_setting_t *root = config_root_setting(&r.file);
    for (int i = 0; i < config_setting_length(root); i++)
        *constants |= !strncmp(config_setting_name(config_setting_get_elem(root, (unsigned)i)),
                               "EnergyData", 10);
    config_destroy(&r.file);
    return status;
}

static collet_status check_text(checker *c, const char *path, const char *configuration)
{
    int constants;
    collet_status status = find_kind(c, path, &constants);
    if (status != COLLET_OK)
        return status;
    if (!constants) {
        status = scatter_read_configuration(c->in, path, &c->err);
        c->in->options.n_materials = count_materials(path);
        return goes_on(c, &status) ? check_configured(c, path) : status;
    }
    if (configuration)
        status = scatter_read_configuration(c->in, configuration, &c->err);
    c->in->options.n_materials = 1;
    if (goes_on(c, &status) && configuration)
        status = scatter_read_material(c->in, path, 0, &c->err);
    return goes_on(c, &status) ? scatter_check_constants(c->in, path, &c->err) : status;
}

static collet_status check_morphology(checker *c)
{
    c->base.inspection = &scatter_inspect_faults;
    c->base.arguments[0] = c->in->vectors;
    return scatter_read_file(&c->base, check_datasets);
}

/* Warns if CyRSoXS's grid rotates images about a point other than q = 0. */
static collet_status warn_of_turns(checker *c, const char *path)
{
    const collet_scatter_options *o = &c->in->options;
    const int64_t *n = o->shape;
    int odd = (n[1] > 1 && n[1] % 2) || (n[2] > 1 && n[2] % 2);
    return odd && scatter_angles(o->angles, NULL) > 1
               ? scatter_warn(c->in, &c->err,
                              "%s: %" PRId64 " x %" PRId64 " pixels: the grid cyrsoxs rotates images about the "
                                                           "middle, but with an odd number of pixels q = 0 is half a "
                                                           "pixel away from it; the grid exact rotates images about "
                                                           "q = 0",
                              path, n[1], n[2])
               : COLLET_OK;
}

static collet_status check_files(checker *c, const char *path, const char *configuration)
{
    collet_status status = io_hdf5_check_regular(path, &c->err);
    io_hdf5_quiet before;
    if (status != COLLET_OK)
        return status;
    io_hdf5_be_quiet(&before);
    int morphology = H5Fis_hdf5(path) > 0 || ends_with(path, ".h5") || ends_with(path, ".hdf5");
    io_hdf5_report_again(&before);
    if (!morphology)
        return check_text(c, path, configuration);
    if (configuration)
        status = scatter_read_configuration(c->in, configuration, &c->err);
    if (goes_on(c, &status))
        status = check_morphology(c);
    if (goes_on(c, &status) && configuration)
        status = check_configured(c, configuration);
    return goes_on(c, &status) && configuration ? warn_of_turns(c, path) : status;
}

static void free_checker(checker *c)
{
    for (int k = 0; k < SCATTER_KINDS; k++)
        free(c->values[k]);
    for (size_t i = 0; i < c->n_texts; i++)
        free(c->texts[i]);
    free(c->texts);
    free(c->sets);
    free(c->faults);
    free(c->ranges);
    free(c->sum);
    collet_scatter_input_destroy(c->base.in);
}

/* Creates the input of a checker whose path, report and user are set. 0: out of memory. */
static int init_checker(checker *c)
{
    c->base.file = -1;
    c->base.err = &c->err;
    c->in = c->base.in = calloc(1, sizeof *c->in);
    if (!c->in)
        return 0;
    c->in->options = (collet_scatter_options)COLLET_SCATTER_OPTIONS;
    c->in->options.grid = COLLET_SCATTER_CYRSOXS; /* as in collet_scatter_read */
    c->in->vectors = -1;
    c->in->report = report_once;
    c->in->report_user = c;
    return 1;
}

static void ignore(void *user, const collet_scatter_finding *finding)
{
    (void)user;
    (void)finding;
}

static void inspect(const char *path, const int64_t *arguments, io_hdf5_step step)
{
    checker c = {.base = {.path = path}, .report = ignore};
    if (!init_checker(&c))
        return;
    c.in->vectors = arguments[0] < 0 ? -1 : arguments[0] > 0;
    c.in->step = step;
    check_morphology(&c);
    free_checker(&c);
}

const io_hdf5_inspection scatter_inspect_faults = {"faults", inspect};

collet_status collet_scatter_check(const char *path, const char *configuration,
                                   collet_scatter_finding_fn report, void *user,
                                   collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    if (!path || !report)
        return collet_fail(err, COLLET_INVALID, "%s is NULL", path ? "report" : "path");
    checker c = {.base = {.path = path}, .report = report, .user = user};
    if (!init_checker(&c))
        return collet_fail(err, COLLET_NO_MEMORY, "no memory to check %s", path);
    collet_status status = check_files(&c, path, configuration);
    if (goes_on(&c, &status))
        for (size_t i = 0; i < c.in->n_warnings; i++)
            report_once(
                &c, &(collet_scatter_finding){.struct_size = sizeof(collet_scatter_finding),
                                              .warning = 1,
                                              .text = c.in->warnings[i]});
    if (status == COLLET_OK && c.no_memory)
        status = collet_fail(&c.err, COLLET_NO_MEMORY, "no memory for the findings in %s", path);
    if (status != COLLET_OK)
        collet_fail(err, status, "%s", c.err.text);
    free_checker(&c);
    return status;
}
