/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/md/test_md_paths.py */
#include "paths.h"
#include "common/output.h"

#include "trajectory/boxes/path.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 65536 /* how many numbers of an array are read at a time; at least one row is read */

/* The arrays from which paths are computed. */
enum { WRAPPED, MOLECULE, BOX, ARRAYS };

static const char *const keys[ARRAYS] = {
    [WRAPPED] = "com_wrapped", [MOLECULE] = "molecule_wrapped", [BOX] = "box"};

static const cJSON *find(const merge_part *part, const char *section, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(part->meta, section), key);
}

static int has_paths(const merge_part *part)
{
    const char *pbc = cJSON_GetStringValue(find(part, "periodic_box", "pbc"));

    return pbc && strcmp(pbc, "nojump") == 0;
}

int merge_paths_has(const merge_part *part, const char *key)
{
    return has_paths(part) && strcmp(key, "com") == 0;
}

collet_status merge_paths_check(const merge_part *part, collet_error *err)
{
    static const char instead[] = "extract all trajectories in one run, or in shards (--shard)";
    int64_t shape[3] = {0};

    if (!has_paths(part))
        return COLLET_OK;
    if (!cJSON_IsTrue(find(part, "periodic_box", "one_molecule_each")))
        return collet_fail(err, COLLET_INVALID,
                           "%s: results of --pbc nojump cannot be joined if a body has several molecules: their "
                           "relative positions depend on all frames before; divide them (--each molecule), or %s",
                           part->path, instead);
    if (find(part, "outputs", "positions"))
        return collet_fail(err, COLLET_INVALID,
                           "%s: positions of --pbc nojump cannot be joined: their place in the box is not kept; leave this "
                           "key out, or %s",
                           part->path, instead);
    for (int i = 0; find(part, "outputs", "com") && i < ARRAYS; i++) {
        int32_t axes = merge_part_shape(part, keys[i], shape);

        if (axes < 0)
            return collet_fail(err, COLLET_INVALID,
                               "%s: it has no array %s, which continues the paths of com: extract it "
                               "with this version of collet-extract",
                               part->path, keys[i]);
    }
    return COLLET_OK;
}

/* ---- Joining ----------------------------------------------------------------------------- */

typedef struct walk {
    int64_t bodies; /* 0: nothing was read yet */
    int64_t most; /* rows that are read at a time */
    double *before, *shifts; /* bodies x 3 (path.h) */
    double *rows[ARRAYS];
    int64_t far; /* bodies that moved far since the previous row */
} walk;

static collet_status malformed(const merge_part *part, collet_error *err)
{
    return collet_fail(err, COLLET_FORMAT, "%s: com, com_wrapped, molecule_wrapped and box do not have the shapes of one "
                       "run: it is not complete, or not of collet-extract", part->path);
}

/* Sets *bodies from the shapes of the arrays: rows x 3 for one body, otherwise rows x bodies x 3. */
static collet_status count_bodies(const merge_part *part, int64_t *bodies, collet_error *err)
{
    int64_t com[3] = {0}, box[3] = {0};
    int32_t axes = merge_part_shape(part, "com", com);

    *bodies = axes == 2 ? com[0] : 1;
    for (int i = WRAPPED; i <= MOLECULE; i++) {
        int64_t shape[3] = {0};

        if (merge_part_shape(part, keys[i], shape) != axes || memcmp(shape, com, sizeof com) != 0)
            return malformed(part, err);
    }
    return merge_part_shape(part, keys[BOX], box) == 2 && box[0] == 3 && box[1] == 3 && (axes == 1 || axes == 2) &&
                   com[axes - 1] == 3
               ? COLLET_OK
               : malformed(part, err);
}

static int64_t width_of(const walk *w, int array)
{
    return array == BOX ? 9 : 3 * w->bodies;
}

static collet_status begin(walk *w, const merge_part *first, int64_t bodies, collet_error *err)
{
    int done = 1;

    w->bodies = bodies;
    w->most = 3 * w->bodies < BLOCK ? BLOCK / (3 * w->bodies) : 1;
    w->before = malloc((size_t)w->bodies * 3 * sizeof *w->before);
    w->shifts = calloc((size_t)w->bodies * 3, sizeof *w->shifts);
    for (int i = 0; i < ARRAYS; i++) {
        w->rows[i] = malloc((size_t)(w->most * width_of(w, i)) * sizeof(double));
        done &= w->rows[i] != NULL;
    }
    if (!done || !w->before || !w->shifts)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for the paths of %lld bodies", first->path,
                           (long long)w->bodies);
    for (int64_t i = 0; i < 3 * w->bodies; i++)
        w->before[i] = (double)NAN;
    return COLLET_OK;
}

static void end(walk *w)
{
    for (int i = 0; i < ARRAYS; i++)
        free(w->rows[i]);
    free(w->before);
    free(w->shifts);
}

/* Replaces row i of com_wrapped by the row of com. */
static void follow(walk *w, int64_t i)
{
    trajectory_lattice lattice;
    int has_box = trajectory_lattice_make(&lattice, w->rows[BOX] + 9 * i);
    double *com = w->rows[WRAPPED] + 3 * w->bodies * i;
    const double *centres = w->rows[MOLECULE] + 3 * w->bodies * i;

    w->far = 0;
    for (int64_t b = 0; b < w->bodies; b++) {
        w->far += trajectory_path_step(has_box ? &lattice : NULL, centres + 3 * b, w->before + 3 * b, w->shifts + 3 * b);
        for (int k = 0; k < 3; k++)
            com[3 * b + k] += w->shifts[3 * b + k];
    }
}

/* before: the part whose path is continued; NULL: none. */
static collet_status join_rows(walk *w, const merge_part *part, const merge_part *before, io_npz_array *const *arrays,
                               merge_remarks *remarks, merge_take take, void *user, collet_error *err)
{
    collet_status status = COLLET_OK;

    for (int64_t done = 0; status == COLLET_OK && done < part->kept; done += w->most) {
        int64_t n = part->kept - done < w->most ? part->kept - done : w->most;

        for (int i = 0; status == COLLET_OK && i < ARRAYS; i++)
            status = io_npz_array_read(arrays[i], n, w->rows[i], err);
        for (int64_t i = 0; status == COLLET_OK && i < n; i++) {
            follow(w, i);
            if (done + i == 0 && before && w->far > 0)
                status = merge_remarks_add(remarks, err, "between %s and %s %lld bod%s moved by more than 0.4 of the box: "
                                           "the paths may take the wrong way there",
                                           before->path, part->path, (long long)w->far, w->far == 1 ? "y" : "ies");
        }
        if (status == COLLET_OK)
            status = take(user, n, w->rows[WRAPPED], err);
    }
    return status;
}

static collet_status join_part(walk *w, const merge_part *part, const merge_part *before, merge_remarks *remarks,
                               merge_take take, void *user, collet_error *err)
{
    io_npz_array *arrays[ARRAYS] = {NULL};
    int64_t bodies;
    collet_status status = count_bodies(part, &bodies, err);

    if (status == COLLET_OK && w->bodies > 0 && bodies != w->bodies)
        status = malformed(part, err);
    for (int i = 0; status == COLLET_OK && i < ARRAYS; i++) {
        int64_t shape[3];
        int32_t axes = merge_part_shape(part, keys[i], shape);

        status = io_npz_array_open(part->archive, keys[i], part->n_rows, axes, shape, &arrays[i], err);
    }
    if (status == COLLET_OK && w->bodies == 0) /* the file has as many numbers as its meta file says */
        status = begin(w, part, bodies, err);
    if (status == COLLET_OK)
        status = join_rows(w, part, before, arrays, remarks, take, user, err);
    for (int i = 0; i < ARRAYS; i++)
        io_npz_array_close(arrays[i]);
    return status;
}

collet_status merge_paths_join(const merge_part *parts, size_t n, merge_remarks *remarks, merge_take take, void *user,
                               collet_error *err)
{
    walk w = {0};
    const merge_part *before = NULL;
    collet_status status = COLLET_OK;

    for (size_t k = 0; status == COLLET_OK && k < n; k++) {
        if (parts[k].kept == 0)
            continue;
        status = join_part(&w, &parts[k], before, remarks, take, user, err);
        before = &parts[k];
    }
    end(&w);
    return status;
}
