/* SPDX-License-Identifier: Apache-2.0 */
/* Makes integrals and pictures from the files of patterns, including files that earlier runs have written.
 * Tests: tests/tools/rsoxs/test_rsoxs_results.c */
#include "results.h"

#include "common/interrupt.h"
#include "io/spool.h"
#include "rsoxs/picture/picture.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PICTURE (64 << 10) /* bytes, about */
#define PI 3.14159265358979323846

typedef struct results {
    rsoxs_run *run;
    collet_scatter_rings rings;
    int64_t n_rings;
    double *q;
    float *pattern;
    collet_scatter_integrals all; /* beams x energies; `polar` is NULL without --integrate */
} results;

static collet_scatter_rings rings_of(const rsoxs_run *run, int64_t beam)
{
    const int64_t *n = run->work.shape;
    collet_scatter_rings rings = {.struct_size = sizeof rings,
                                  .flat = n[0] == 1,
                                  .y = n[1],
                                  .x = n[2],
                                  .voxel = run->work.voxel,
                                  .wedge = run->options->wedge};
    memcpy(rings.direction, run->beams[beam], sizeof rings.direction);
    memcpy(rings.detector, run->work.detector, sizeof rings.detector);
    return rings;
}

/* Returns "DIR/NAME", which the caller frees; NULL if out of memory. */
static char *path_in(const rsoxs_run *run, const char *name)
{
    size_t size = strlen(run->directory) + strlen(name) + 2;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%s/%s", run->directory, name);
    return path;
}

/* Returns the path of "NAME.png", or with several beams of "NAME_K1.png". */
static char *picture_path(const rsoxs_run *run, const char *name, int64_t beam)
{
    char file[96];
    if (run->n_beams > 1)
        snprintf(file, sizeof file, "%s_K%" PRId64 ".png", name, beam);
    else
        snprintf(file, sizeof file, "%s.png", name);
    return path_in(run, file);
}

/* "Energy_285.20". */
static void picture_name(char name[COLLET_SCATTER_NAME], double energy)
{
    collet_scatter_file_name(name, energy);
    name[strlen(name) - strlen(".h5")] = '\0';
}

static int replaces(const rsoxs_options *o)
{
    return o->force || o->resume || o->merge;
}

/* Frees the path. */
static collet_status check_free(char *path, collet_error *err)
{
    collet_status status = path ? io_spool_check_output(path, 0, err)
                                : collet_fail(err, COLLET_NO_MEMORY, "out of memory");
    if (path && status != COLLET_OK)
        collet_fail(err, status, "%s exists: --resume and --force replace it", path);
    free(path);
    return status;
}

collet_status rsoxs_results_check(const rsoxs_run *run, collet_error *err)
{
    const rsoxs_options *o = run->options;
    collet_scatter_rings rings = rings_of(run, 0);
    int64_t count;
    if (!o->integrate && !o->png)
        return COLLET_OK;
    if (o->png && !rsoxs_has_pictures)
        return rsoxs_picture_write(NULL, "--png", 0, err);
    collet_status status = collet_scatter_rings_q(&rings, &count, NULL, err);
    if (status != COLLET_OK || replaces(o) || o->plan || !rsoxs_run_whole(run))
        return status;
    if (o->integrate)
        status = check_free(path_in(run, RSOXS_INTEGRALS), err);
    for (int64_t i = 0; i < run->n_beams && o->png && status == COLLET_OK; i++)
        status = check_free(picture_path(run, "intensity", i), err);
    for (int64_t i = 0; i < run->n_chosen * run->n_beams && o->png && status == COLLET_OK; i++) {
        char name[COLLET_SCATTER_NAME];
        picture_name(name, run->chosen[i / run->n_beams]);
        status = check_free(picture_path(run, name, i % run->n_beams), err);
    }
    return status;
}

/* 1 if the pictures are kept. A picture does not record its settings, so only a merge keeps pictures: the
 * shards have removed old pictures. */
static int keeps_pictures(const rsoxs_run *run)
{
    int kept = run->options->merge > 0;
    for (int64_t i = 0; i < run->n_beams && kept; i++) {
        char *path = picture_path(run, "intensity", i);
        kept = path && access(path, F_OK) == 0;
        free(path);
    }
    return kept;
}

int rsoxs_results_kept(const rsoxs_run *run)
{
    const rsoxs_options *o = run->options;
    int kept = run->written == 0 && o->resume && (!o->png || keeps_pictures(run));
    if (o->integrate && kept) {
        char *path = path_in(run, RSOXS_INTEGRALS);
        kept = path && collet_scatter_integrals_written(path, run->integrals, NULL) == COLLET_OK;
        free(path);
    }
    return kept || (!o->integrate && !o->png);
}

/* Counts the bytes of the arrays of --integrate, and of their copies in HDF5's memory and in the image of the file. */
uint64_t rsoxs_results_bytes(const rsoxs_run *run)
{
    collet_scatter_rings rings = rings_of(run, 0);
    int64_t count;
    if (!run->options->integrate || collet_scatter_rings_q(&rings, &count, NULL, NULL))
        return 0;
    return 3 * sizeof(float) * (COLLET_SCATTER_CHI + 4) *
           (uint64_t)(count * run->n_chosen * run->n_beams);
}

double rsoxs_results_disk(const rsoxs_run *run)
{
    double pictures = (double)(run->n_beams * (run->n_chosen + 1));
    if (!rsoxs_run_whole(run))
        return 0;
    return (run->options->integrate ? (double)rsoxs_results_bytes(run) / 3 + (64 << 10) : 0) +
           (run->options->png ? pictures * PICTURE : 0);
}

/* ---- Pictures -------------------------------------------------------------------------------- */

static collet_status draw(const results *r, const rsoxs_picture *picture, const char *name,
                          int64_t beam, collet_error *err)
{
    char *path = picture_path(r->run, name, beam);
    if (!path)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory");
    collet_status status = rsoxs_picture_write(picture, path, replaces(r->run->options), err);
    free(path);
    return status;
}

/* Returns the q of a pixel's edge. */
static double edge(const results *r, int64_t pixel, int64_t pixels)
{
    return ((double)(pixel - pixels / 2) - 0.5) * 2 * PI / ((double)pixels * r->rings.voxel);
}

static collet_status draw_pattern(const results *r, double energy, int64_t beam, collet_error *err)
{
    int64_t y = r->rings.y, x = r->rings.x;
    char title[80], name[COLLET_SCATTER_NAME];
    picture_name(name, energy);
    snprintf(title, sizeof title, r->run->n_beams > 1 ? "%.2f eV, beam K%" PRId64 : "%.2f eV",
             energy, beam);
    const rsoxs_picture picture = {
        .title = title,
        .x = {.label = "qx (1/nm)", .from = edge(r, 0, x), .to = edge(r, x, x)},
        .y = {.label = "qy (1/nm)", .from = edge(r, 0, y), .to = edge(r, y, y)},
        .colour = {.label = "I (1/nm⁴)", .logarithmic = 1},
        .square = 1,
        .columns = x,
        .rows = y,
        .values = r->pattern};
    return draw(r, &picture, name, beam, err);
}

/* Returns the edges of the rows, which are halfway between energies. */
static double *make_edges(const double *energies, int64_t count)
{
    double *edges = malloc((size_t)(count + 1) * sizeof *edges);
    for (int64_t i = 1; edges && i < count; i++)
        edges[i] = (energies[i - 1] + energies[i]) / 2;
    if (edges) {
        edges[0] = count > 1 ? 2 * energies[0] - edges[1] : energies[0] - 0.5;
        edges[count] = count > 1 ? 2 * energies[count - 1] - edges[count - 1] : energies[0] + 0.5;
    }
    return edges;
}

/* Draws I(q, E), beginning with the first ring that contains no part of the pixel at q = 0; rotation has
 * mixed this pixel with its neighbours. */
static collet_status draw_map(const results *r, int64_t beam, collet_error *err)
{
    int64_t rows = r->run->n_chosen, first = 1;
    double pixel_y = edge(r, 1, r->rings.y) - edge(r, 0, r->rings.y);
    double pixel_x = edge(r, 1, r->rings.x) - edge(r, 0, r->rings.x);
    double clear = fmax(hypot(2 * pixel_y, pixel_x), hypot(pixel_y, 2 * pixel_x));
    while (first < r->n_rings - 1 && r->q[first] < clear)
        first++;
    int64_t columns = r->n_rings - first;
    const float *from = (const float *)r->all.mean + beam * rows * r->n_rings + first;
    double *edges = make_edges(r->run->chosen, rows);
    float *values = malloc((size_t)(rows * columns) * sizeof *values);
    collet_status status =
        edges && values ? COLLET_OK : collet_fail(err, COLLET_NO_MEMORY, "out of memory");
    if (status == COLLET_OK) {
        for (int64_t e = 0; e < rows; e++)
            memcpy(values + e * columns, from + e * r->n_rings, (size_t)columns * sizeof *values);
        const rsoxs_picture picture = {
            .title = "I(q, E)",
            .x = {.label = "q (1/nm)",
                  .from = r->q[first] - r->q[1] / 2,
                  .to = r->q[r->n_rings - 1] + r->q[1] / 2,
                  .logarithmic = 1},
            .y = {.label = "energy (eV)", .from = edges[0], .to = edges[rows], .edges = edges},
            .colour = {.label = "I (1/nm⁴)", .logarithmic = 1},
            .columns = columns,
            .rows = rows,
            .values = values};
        status = draw(r, &picture, "intensity", beam, err);
    }
    free(edges);
    free(values);
    return status;
}

/* ---- Work ------------------------------------------------------------------------------------ */

static collet_status allocate(results *r, collet_error *err)
{
    size_t patterns = (size_t)(r->run->n_beams * r->run->n_chosen);
    collet_status status = collet_scatter_rings_q(&r->rings, &r->n_rings, NULL, err);
    if (status != COLLET_OK)
        return status;
    size_t bytes = patterns * (size_t)r->n_rings * sizeof(float);
    r->q = malloc((size_t)r->n_rings * sizeof *r->q);
    r->pattern = malloc((size_t)(r->rings.y * r->rings.x) * sizeof *r->pattern);
    r->all.mean = malloc(bytes);
    if (r->run->options->integrate) {
        r->all.polar = malloc(COLLET_SCATTER_CHI * bytes);
        r->all.parallel = malloc(bytes);
        r->all.perpendicular = malloc(bytes);
        r->all.anisotropy = malloc(bytes);
    }
    if (!r->q || !r->pattern || !r->all.mean ||
        (r->run->options->integrate &&
         (!r->all.polar || !r->all.parallel || !r->all.perpendicular || !r->all.anisotropy)))
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for %zu integrated patterns",
                           patterns);
    return collet_scatter_rings_q(&r->rings, &r->n_rings, r->q, err);
}

static float *row(float *array, int64_t index, int64_t size)
{
    return array ? array + index * size : NULL;
}

static collet_status work_pattern(results *r, int64_t beam, int64_t e, collet_error *err)
{
    double energy = r->run->chosen[e];
    int64_t index = beam * r->run->n_chosen + e, n = r->n_rings;
    const collet_scatter_rings rings = rings_of(r->run, beam);
    const collet_scatter_integrals own = {
        .struct_size = sizeof own,
        .polar = row(r->all.polar, index, n * COLLET_SCATTER_CHI),
        .mean = row(r->all.mean, index, n),
        .parallel = row(r->all.parallel, index, n),
        .perpendicular = row(r->all.perpendicular, index, n),
        .anisotropy = row(r->all.anisotropy, index, n)};
    collet_status status = collet_scatter_read_pattern(r->pattern, r->run->directory, energy,
                                                       beam, rings.y, rings.x, err);
    if (status != COLLET_OK)
        return status;
    /* With RotMask, a pixel that has no value at any angle is 0. */
    for (int64_t i = 0; r->run->work.mask && i < rings.y * rings.x; i++)
        r->pattern[i] = r->pattern[i] == 0 ? NAN : r->pattern[i];
    status = collet_scatter_integrate(&rings, &own, energy, COLLET_F32, r->pattern, err);
    if (status == COLLET_INVALID) { /* the pattern is from another run */
        char name[COLLET_SCATTER_NAME], text[sizeof err->text];
        collet_scatter_file_name(name, energy);
        snprintf(text, sizeof text, "%s", err->text);
        collet_fail(err, status, "%.400s/%s: %.400s", r->run->directory, name, text);
    }
    if (status == COLLET_OK && r->run->options->png)
        status = draw_pattern(r, energy, beam, err);
    return status;
}

static collet_status write_all(results *r, collet_error *err)
{
    collet_status status = COLLET_OK;
    for (int64_t i = 0; i < r->run->n_beams && r->run->options->png && status == COLLET_OK; i++)
        status = draw_map(r, i, err);
    if (status != COLLET_OK || !r->run->options->integrate)
        return status;
    char *path = path_in(r->run, RSOXS_INTEGRALS);
    if (!path)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory");
    status = collet_scatter_write_integrals(path, &r->rings, r->run->n_beams, r->run->beams,
                                            r->run->n_chosen, r->run->chosen, &r->all,
                                            r->run->integrals, err);
    free(path);
    return status;
}

collet_status rsoxs_results_write(rsoxs_run *run, collet_error *err)
{
    results r = {.run = run, .rings = rings_of(run, 0), .all = {.struct_size = sizeof r.all}};
    int64_t patterns = run->n_beams * run->n_chosen;
    tool_progress *progress = &run->session->progress;
    int alone = run->session->n_films == 1; /* if 0, the progress line shows the films */
    if (alone) {
        tool_progress_end(progress);
        tool_progress_begin(progress, program_invocation_short_name,
                            run->options->png ? "pictures" : "integrals", stderr,
                            run->options->quiet);
    }
    collet_status status = allocate(&r, err);
    for (int64_t i = 0; i < patterns && status == COLLET_OK; i++) {
        status = tool_interrupt_signal()
                     ? collet_fail(err, COLLET_CANCELLED, "stopped")
                     : work_pattern(&r, i / run->n_chosen, i % run->n_chosen, err);
        if (alone)
            tool_progress_update(progress, i + 1, 0, (double)(i + 1) / (double)patterns);
    }
    if (status == COLLET_OK)
        status = write_all(&r, err);
    free(r.q);
    free(r.pattern);
    free(r.all.polar);
    free(r.all.mean);
    free(r.all.parallel);
    free(r.all.perpendicular);
    free(r.all.anisotropy);
    return status;
}
