/* SPDX-License-Identifier: Apache-2.0 */
/* h5md.c - trajectories in HDF5 by the H5MD convention, of GROMACS, MDAnalysis, ESPResSo and others.
 * Tests: tests/engines/test_io_h5md.c, tests/tools/test_extract_damaged.c */
#include "trajectory/formats/bigendian.h"
#include "trajectory/formats/formats.h"
#include "trajectory/formats/h5md/element.h"
#include "trajectory/formats/h5md/inspect.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POSITION, VELOCITY, FORCE, BOX, ELEMENTS };

static const struct {
    const char *name;
    trajectory_measure measure;
} kinds[ELEMENTS] = {{"position", TRAJECTORY_LENGTH},
                     {"velocity", TRAJECTORY_VELOCITY},
                     {"force", TRAJECTORY_FORCE},
                     {"box/edges", TRAJECTORY_LENGTH}};

#define NAMES 160 /* bytes of a list of groups */

typedef struct h5md {
    int ready;
    int is_open;
    hid_t file;
    char group[TRAJECTORY_H5MD_NAME / 2]; /* "/particles/trajectory" */
    trajectory_h5md_element elements[ELEMENTS];
    int64_t rows[ELEMENTS]; /* row of each element in the frame whose head was read last; -1: none */
    void *span;             /* numbers from the first to the last selected atom */
    size_t span_bytes;
} h5md;

/* Held during every call of libhdf5, which may have been built for one thread only. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void enter(io_hdf5_quiet *before)
{
    pthread_mutex_lock(&lock);
    io_hdf5_be_quiet(before);
}

static void leave(const io_hdf5_quiet *before)
{
    io_hdf5_report_again(before);
    pthread_mutex_unlock(&lock);
}

static int recognise(const uint8_t *bytes, size_t n)
{
    return n >= 8 && memcmp(bytes, "\x89HDF\r\n\x1a\n", 8) == 0;
}

/* ---- Opening ----------------------------------------------------------------------------- */

/* The groups of particles with positions. */
typedef struct groups {
    int count;
    char last[TRAJECTORY_H5MD_NAME / 2];
    char names[NAMES]; /* "a, b" */
} groups;

static herr_t visit(hid_t particles, const char *name, const H5L_info_t *info, void *user)
{
    groups *found = user;
    char path[TRAJECTORY_H5MD_NAME];
    size_t used = strlen(found->names);

    (void)info;
    snprintf(path, sizeof path, "%.80s/position", name);
    if (strlen(name) > 80 || !io_hdf5_has(particles, name) || !io_hdf5_has(particles, path))
        return 0;
    snprintf(found->last, sizeof found->last, "%s", name);
    snprintf(found->names + used, NAMES - used, "%s%s", found->count++ ? ", " : "", name);
    return 0;
}

/* The only group with positions; if there are several, the group that has a usual name for all atoms. */
static collet_status choose_group(trajectory_reader *trajectory, collet_error *err)
{
    static const char *const usual[] = {"trajectory", "all", "system"};
    h5md *s = trajectory->state;
    groups found = {0};
    char path[TRAJECTORY_H5MD_NAME];

    int outside;
    hid_t access = io_hdf5_stay_inside(H5P_GROUP_ACCESS, &outside);
    hid_t particles =
        io_hdf5_has(s->file, "particles") ? H5Gopen2(s->file, "particles", access) : -1;
    H5Pclose(access);
    if (particles >= 0)
        H5Literate(particles, H5_INDEX_NAME, H5_ITER_INC, NULL, visit, &found);
    H5Gclose(particles);
    if (found.count == 0)
        return trajectory_reader_fail(
            trajectory, COLLET_FORMAT, err,
            "the HDF5 file has no group /particles/NAME/position of the H5MD convention%s",
            H5Aexists(s->file, "Conventions") > 0
                ? "; it seems to be NetCDF-4: convert it by 'nccopy -k nc6 IN OUT'"
                : "");
    for (size_t i = 0; found.count > 1 && i < sizeof usual / sizeof *usual; i++) {
        snprintf(path, sizeof path, "particles/%s/position", usual[i]);
        if (io_hdf5_has(s->file, path)) {
            snprintf(found.last, sizeof found.last, "%s", usual[i]);
            found.count = 1;
        }
    }
    if (found.count > 1)
        return trajectory_reader_fail(trajectory, COLLET_FORMAT, err,
                                      "the file has several groups of particles (%s): write one of "
                                      "them to a file of its own (h5copy)",
                                      found.names);
    snprintf(s->group, sizeof s->group, "/particles/%.80s", found.last);
    return COLLET_OK;
}

static collet_status check_shapes(trajectory_reader *trajectory, collet_error *err)
{
    const h5md *s = trajectory->state;
    const trajectory_h5md_element *positions = &s->elements[POSITION];

    for (int i = POSITION; i <= FORCE; i++) {
        const trajectory_h5md_element *e = &s->elements[i];
        if (e->present && (e->axes != 2 || e->shape[1] != 3 || e->shape[0] != positions->shape[0]))
            return trajectory_reader_fail(trajectory, COLLET_FORMAT, err,
                                          "%s has not the shape frames x atoms x 3", e->name);
    }
    const trajectory_h5md_element *box = &s->elements[BOX];
    if (box->present && (box->shape[0] != 3 || (box->axes == 2 && box->shape[1] != 3)))
        return trajectory_reader_fail(trajectory, COLLET_FORMAT, err, "%s has not 3 edges",
                                      box->name);
    if (!positions->present || positions->n_rows < 1)
        return trajectory_reader_fail(trajectory, COLLET_FORMAT, err, "%s has no frames", s->group);
    return COLLET_OK;
}

static collet_status open_file(trajectory_reader *trajectory, collet_error *err)
{
    h5md *s = trajectory->state;
    const char *name = trajectory->source.path;

    if (trajectory->source.packed)
        return collet_fail(err, COLLET_FORMAT,
                           "%s: .h5 files cannot be read packed: unpack it first", name);
    collet_status status = io_hdf5_open_file(name, "not H5MD", &s->file, err);
    s->is_open = status == COLLET_OK;
    if (status == COLLET_OK)
        status = choose_group(trajectory, err);
    for (int i = 0; i < ELEMENTS && status == COLLET_OK; i++) {
        char path[TRAJECTORY_H5MD_NAME];
        double usual = i == BOX ? s->elements[POSITION].factor : 0;

        snprintf(path, sizeof path, "%s/%s", s->group, kinds[i].name);
        status = trajectory_h5md_open(s->file, name, path, kinds[i].measure, usual, &s->elements[i],
                                      err);
    }
    if (status == COLLET_OK)
        status = check_shapes(trajectory, err);
    /* `locate` must give each frame a different byte, so the size must be at least the number of frames. */
    if (status == COLLET_OK && trajectory->source.size < s->elements[POSITION].n_rows)
        trajectory->source.size = s->elements[POSITION].n_rows;
    s->ready = status == COLLET_OK;
    return status;
}

/* ---- Heads ------------------------------------------------------------------------------- */

static int64_t count(const trajectory_reader *trajectory)
{
    return ((const h5md *)trajectory->state)->elements[POSITION].n_rows;
}

/* Frames of this format are not consecutive bytes of the file. So, for progress, each frame counts as an equal share
 * of the file. */
static int64_t locate(const trajectory_reader *trajectory, int64_t index)
{
    double share = (double)trajectory->source.size / (double)count(trajectory);

    return index == count(trajectory) ? trajectory->source.size : (int64_t)(share * (double)index);
}

/* Returns the row of an element that belongs to the frame with this row and step of positions; -1: there is none. */
static int64_t find_row(const trajectory_h5md_element *e, int64_t row, int64_t step, int has_step)
{
    int64_t low = 0, high = e->n_rows;

    if (!e->present || e->is_fixed)
        return e->present ? 0 : -1;
    if (!has_step || !e->steps || (row < e->n_rows && e->steps[row] == step))
        return row < e->n_rows ? row : -1;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (e->steps[middle] < step)
            low = middle + 1;
        else
            high = middle;
    }
    return low < e->n_rows && e->steps[low] == step ? low : -1;
}

/* The box of a frame; the file has lengths or vectors. */
static collet_status read_box(trajectory_reader *trajectory, double box[9], collet_error *err)
{
    const h5md *s = trajectory->state;
    const trajectory_h5md_element *e = &s->elements[BOX];
    double edges[9];

    if (s->rows[BOX] < 0)
        return COLLET_OK;
    collet_status status = trajectory_h5md_read(e, trajectory->source.path, s->rows[BOX], 0, 3,
                                                sizeof(double), edges, err);
    for (int i = 0; status == COLLET_OK && i < 9; i++) {
        double edge = e->axes == 2 ? edges[i] : i % 4 == 0 ? edges[i / 4] : 0;
        box[i] = isfinite(edge) ? edge * e->factor : 0;
    }
    return status;
}

static collet_status fill_head(trajectory_reader *trajectory, trajectory_frame_head *head,
                               collet_error *err)
{
    h5md *s = trajectory->state;
    const trajectory_h5md_element *positions = &s->elements[POSITION];
    int64_t row = trajectory->index;

    head->end = locate(trajectory, row + 1);
    head->n_atoms = positions->shape[0];
    head->dtype = COLLET_F32;
    head->step = positions->steps ? positions->steps[row] : -1;
    head->has_time = positions->times != NULL;
    head->time = head->has_time ? positions->times[row] : 0;
    if (head->has_time && positions->single_ps > 0)
        head->rounding = positions->single_ps * trajectory_f32_rounding(head->time / positions->single_ps);
    for (int i = 0; i < ELEMENTS; i++) {
        s->rows[i] = find_row(&s->elements[i], row, head->step, positions->steps != NULL);
        if (i <= FORCE && s->elements[i].width == 8)
            head->dtype = COLLET_F64;
    }
    head->positions = 1;
    head->velocities = s->rows[VELOCITY] >= 0;
    head->forces = s->rows[FORCE] >= 0;
    return read_box(trajectory, head->box, err);
}

static collet_status read_head(trajectory_reader *trajectory, trajectory_frame_head *head,
                               collet_error *err)
{
    static const int64_t none[IO_HDF5_ARGUMENTS] = {0};
    const h5md *s = trajectory->state;
    io_hdf5_quiet before;

    collet_status status = s->ready ? COLLET_OK
                                    : io_hdf5_inspect(&trajectory_inspect_h5md,
                                                      trajectory->source.path, none, err);
    enter(&before);
    if (status == COLLET_OK && !s->ready)
        status = open_file(trajectory, err);
    if (status == COLLET_OK)
        status = fill_head(trajectory, head, err);
    leave(&before);
    return status;
}

/* ---- Bodies ------------------------------------------------------------------------------ */

static void scale(void *numbers, size_t n, size_t width, double factor)
{
    for (size_t i = 0; factor != 1 && i < n; i++)
        if (width == 4)
            ((float *)numbers)[i] = (float)((double)((float *)numbers)[i] * factor);
        else
            ((double *)numbers)[i] *= factor;
}

static collet_status grow_span(trajectory_reader *trajectory, size_t bytes, collet_error *err)
{
    h5md *s = trajectory->state;

    if (bytes <= s->span_bytes)
        return COLLET_OK;
    free(s->span);
    s->span = malloc(bytes);
    s->span_bytes = s->span ? bytes : 0;
    return s->span ? COLLET_OK
                   : collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for %zu bytes",
                                 trajectory->source.path, bytes);
}

/* Reads the selected atoms with one access, because each access unpacks whole chunks. Several runs are read together
 * with the atoms between them. */
static collet_status read_vectors(trajectory_reader *trajectory, int kind, size_t width, void *to,
                                  collet_error *err)
{
    h5md *s = trajectory->state;
    const trajectory_h5md_element *e = &s->elements[kind];
    const trajectory_atom_run *run = trajectory->runs, *end = run + trajectory->n_runs;
    int64_t first = run->first, count = end[-1].first + end[-1].count - first;
    size_t atom = 3 * width;
    uint8_t *target = to;
    void *read = to;

    if (trajectory->n_runs > 1) {
        collet_status status = grow_span(trajectory, (size_t)count * atom, err);
        if (status != COLLET_OK)
            return status;
        read = s->span;
    }
    collet_status status = trajectory_h5md_read(e, trajectory->source.path, s->rows[kind], first,
                                                count, width, read, err);
    if (status != COLLET_OK)
        return status;
    for (; read != to && run < end; run++) {
        memcpy(target, (uint8_t *)read + (size_t)(run->first - first) * atom,
               (size_t)run->count * atom);
        target += (size_t)run->count * atom;
    }
    scale(to, 3 * (size_t)trajectory->n_selected, width, e->factor);
    return COLLET_OK;
}

static collet_status read_body(trajectory_reader *trajectory, trajectory_frame_head *head,
                               const trajectory_frame_target *target, collet_error *err)
{
    size_t width = head->dtype == COLLET_F64 ? sizeof(double) : sizeof(float);
    void *const targets[] = {target->positions, target->velocities, target->forces};
    collet_status status = COLLET_OK;
    io_hdf5_quiet before;

    enter(&before);
    for (int i = POSITION; status == COLLET_OK && i <= FORCE; i++)
        if (targets[i])
            status = read_vectors(trajectory, i, width, targets[i], err);
    leave(&before);
    return status;
}

static void close_file(trajectory_reader *trajectory)
{
    h5md *s = trajectory->state;
    io_hdf5_quiet before;

    enter(&before);
    for (int i = 0; i < ELEMENTS; i++)
        trajectory_h5md_close(&s->elements[i]);
    if (s->is_open)
        H5Fclose(s->file);
    leave(&before);
    free(s->span);
}

/* ---- Inspection -------------------------------------------------------------------------- */

#define MOST_ATOMS (1 << 20) /* read at a time */
/* collet-inspect may take 1 s, and 1 s more for each BYTES_PER_S of the file. Steps and times are read as a
 * whole: in the worst case (chunks of one number), 120 MB of steps and times take about 20 s. */
#define BYTES_PER_S 0x1p20
#define MOST_SECONDS 120

static collet_status try_vectors(trajectory_reader *trajectory, const trajectory_frame_head *head,
                                 collet_error *err)
{
    const h5md *s = trajectory->state;
    int64_t most = head->n_atoms < MOST_ATOMS ? head->n_atoms : MOST_ATOMS;
    double *numbers = malloc((size_t)most * 3 * sizeof *numbers);
    trajectory_atom_run run = {0, 0};
    collet_status status =
        numbers ? COLLET_OK : collet_fail(err, COLLET_NO_MEMORY, "%s: no memory", s->group);

    trajectory->runs = &run;
    trajectory->n_runs = 1;
    while (status == COLLET_OK && (run.first += run.count) < head->n_atoms) {
        int64_t left = head->n_atoms - run.first;
        run.count = trajectory->n_selected = left < most ? left : most;
        for (int i = POSITION; status == COLLET_OK && i <= FORCE; i++)
            if (s->rows[i] >= 0)
                status = read_vectors(trajectory, i, head->dtype == COLLET_F64 ? 8 : 4, numbers,
                                      err);
    }
    trajectory->runs = NULL;
    free(numbers);
    return status;
}

/* Reads the first and the last frame. The walk through the index of chunks covers all other frames. */
static void try_frames(trajectory_reader *trajectory)
{
    collet_status status = COLLET_OK;
    collet_error err;

    for (int last = 0; status == COLLET_OK && last <= 1; last++) {
        trajectory_frame_head head = {0};
        trajectory->index = last ? count(trajectory) - 1 : 0;
        status = fill_head(trajectory, &head, &err);
        if (status == COLLET_OK && head.n_atoms > 0)
            status = try_vectors(trajectory, &head, &err);
    }
}

static void inspect(const char *path, const int64_t *arguments, io_hdf5_step step)
{
    h5md state = {0};
    trajectory_reader trajectory = {.state = &state, .format = &trajectory_h5md_format};
    io_hdf5_quiet before;
    collet_error err;

    (void)arguments;
    if (io_source_open(&trajectory.source, path, NULL, &err) != COLLET_OK)
        return;
    step(fmin(1 + (double)trajectory.source.size / BYTES_PER_S, MOST_SECONDS));
    enter(&before);
    if (open_file(&trajectory, &err) == COLLET_OK) {
        for (int i = 0; i < ELEMENTS; i++)
            trajectory_h5md_walk(&state.elements[i]);
        try_frames(&trajectory);
    }
    leave(&before);
    close_file(&trajectory);
    io_source_close(&trajectory.source);
}

const io_hdf5_inspection trajectory_inspect_h5md = {"trajectory", inspect};

const trajectory_format trajectory_h5md_format = {
    .name = "h5md",
    .kind = "an HDF5 file",
    .title = "H5MD in HDF5: GROMACS, MDAnalysis, ESPResSo",
    .recognise = recognise,
    .head = read_head,
    .body = read_body,
    .count = count,
    .locate = locate,
    .state_size = sizeof(h5md),
    .close = close_file,
};
