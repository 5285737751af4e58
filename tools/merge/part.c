/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_merge.c */
#include "part.h"

#include "io/json/json.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define META_BYTES ((int64_t)64 << 20) /* the largest size of a meta file */
#define BLOCK 65536                    /* how many numbers are read at a time; at least one row is read */

static const char time_key[] = "time_ps";

static collet_status malformed(const merge_part *part, const char *what, collet_error *err)
{
    return collet_fail(err, COLLET_FORMAT, "%s: %s: it is not complete, or not of collet-extract",
                       part->path, what);
}

/* ---- The meta file ----------------------------------------------------------------------- */

#define ROWS_MOST 0x1p40 /* also the limit of the other extents of an array */

static const io_json_field text_field = {.type = IO_JSON_TEXT};
static const io_json_field extent = {.type = IO_JSON_WHOLE, .low = 1, .high = ROWS_MOST};
static const io_json_field of_output[] = {
    {.name = "shape", .type = IO_JSON_LIST, .low = 1, .high = 4, .fields = &extent},
    {.name = "unit", .type = IO_JSON_TEXT, .flags = IO_JSON_OPTIONAL | IO_JSON_NULLABLE}};
static const io_json_field of_frames[] = {
    {.name = "count", .type = IO_JSON_WHOLE, .low = 1, .high = ROWS_MOST}};
static const io_json_field of_labels[] = {{.name = "labels",
                                           .type = IO_JSON_LIST,
                                           .flags = IO_JSON_OPTIONAL,
                                           .high = INT32_MAX,
                                           .fields = &text_field}};
static const io_json_field of_masses[] = {
    {.name = "total_selected", .type = IO_JSON_NUMBER, .low = -DBL_MAX, .high = DBL_MAX}};
static const io_json_field of_inputs[] = {
    {.name = "masses", .type = IO_JSON_OBJECT, .fields = IO_JSON_ROWS(of_masses)}};
static const io_json_field of_selection[] = {
    {.name = "text", .type = IO_JSON_TEXT},
    {.name = "atoms", .type = IO_JSON_WHOLE, .high = ROWS_MOST}};
static const io_json_field of_meta[] = {
    {.name = "id", .type = IO_JSON_TEXT},
    {.name = "status", .type = IO_JSON_TEXT},
    {.name = "inputs", .type = IO_JSON_OBJECT, .fields = IO_JSON_ROWS(of_inputs)},
    {.name = "selection", .type = IO_JSON_OBJECT, .fields = IO_JSON_ROWS(of_selection)},
    {.name = "frames", .type = IO_JSON_OBJECT, .fields = IO_JSON_ROWS(of_frames)},
    {.name = "bodies",
     .type = IO_JSON_OBJECT,
     .flags = IO_JSON_OPTIONAL,
     .fields = IO_JSON_ROWS(of_labels)},
    {.name = "atoms",
     .type = IO_JSON_OBJECT,
     .flags = IO_JSON_OPTIONAL,
     .fields = IO_JSON_ROWS(of_labels)},
    {.name = "outputs", .type = IO_JSON_OBJECT},
    {.name = "warnings",
     .type = IO_JSON_LIST,
     .flags = IO_JSON_OPTIONAL,
     .high = INT32_MAX,
     .fields = &text_field}};

static collet_status check_meta(const merge_part *part, collet_error *err)
{
    const cJSON *output;
    collet_status status =
        io_json_check(part->meta_path, "", part->meta, IO_JSON_ROWS(of_meta), err);

    if (status != COLLET_OK)
        return status;
    const cJSON *outputs = cJSON_GetObjectItemCaseSensitive(part->meta, "outputs");
    int64_t rows = io_json_whole(cJSON_GetObjectItemCaseSensitive(part->meta, "frames"), "count");
    cJSON_ArrayForEach(output, outputs)
    {
        char place[96];
        snprintf(place, sizeof place, "outputs.%.80s.", output->string);
        status = io_json_check(part->meta_path, place, output, IO_JSON_ROWS(of_output), err);
        if (status != COLLET_OK)
            return status;
        const cJSON *shape = cJSON_GetObjectItemCaseSensitive(output, "shape");
        if (shape->child->valuedouble != (double)rows)
            return collet_fail(err, COLLET_FORMAT,
                               "%s: outputs.%.80s.shape[0] is %.0f; it must be frames.count, %lld",
                               part->meta_path, output->string, shape->child->valuedouble,
                               (long long)rows);
    }
    return COLLET_OK;
}

static collet_status read_meta(merge_part *part, collet_error *err)
{
    size_t length = strlen(part->path), n = 0;
    char *text = NULL;

    if (length <= 4 || strcmp(part->path + length - 4, ".npz") != 0)
        return collet_fail(err, COLLET_INVALID, "%s: the name of results to merge ends in .npz",
                           part->path);
    if (asprintf(&part->meta_path, "%.*s.meta.json", (int)length - 4, part->path) < 0) {
        part->meta_path = NULL;
        return collet_fail(err, COLLET_NO_MEMORY, "%s: out of memory", part->path);
    }
    FILE *file = fopen(part->meta_path, "rb");
    if (!file)
        return collet_fail(err, COLLET_IO,
                           "%s: its meta file %s cannot be opened: without it the results cannot be merged",
                           part->path, part->meta_path);
    if (fseeko(file, 0, SEEK_END) == 0 && ftello(file) >= 0 && ftello(file) < META_BYTES) {
        n = (size_t)ftello(file);
        rewind(file);
        text = malloc(n + 1);
    }
    collet_status status = text && fread(text, 1, n, file) == n
                               ? io_json_parse(part->meta_path, text, n, &part->meta, err)
                               : malformed(part, "its meta file cannot be read", err);
    fclose(file);
    free(text);
    return status == COLLET_OK ? check_meta(part, err) : status;
}

static const cJSON *find(const merge_part *part, const char *section, const char *key)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(part->meta, section);

    return key ? cJSON_GetObjectItemCaseSensitive(found, key) : found;
}

int32_t merge_part_shape(const merge_part *part, const char *key, int64_t shape[3])
{
    const cJSON *extents = cJSON_GetObjectItemCaseSensitive(find(part, "outputs", key), "shape");
    int axes = cJSON_GetArraySize(extents) - 1;

    for (int i = 0; i < axes; i++)
        shape[i] = (int64_t)cJSON_GetNumberValue(cJSON_GetArrayItem(extents, i + 1));
    return axes;
}

/* ---- Arrays ------------------------------------------------------------------------------ */

static collet_status read_rows(const merge_part *part, const char *key, int64_t n_rows,
                               merge_take take, void *user, collet_error *err)
{
    int64_t shape[3], width = 1, block;
    int32_t axes = merge_part_shape(part, key, shape);
    io_npz_array *array;

    if (axes < 0)
        return malformed(part, "the meta file lacks an array", err);
    for (int32_t i = 0; i < axes; i++)
        if (__builtin_mul_overflow(width, shape[i], &width) || width > (int64_t)1 << 40)
            return malformed(part, "a row is too large", err);
    block = width < BLOCK ? BLOCK / width : 1;
    double *rows = malloc((size_t)(block * width) * sizeof *rows);
    if (!rows)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: out of memory", part->path);
    collet_status status =
        io_npz_array_open(part->archive, key, part->n_rows, axes, shape, &array, err);
    for (int64_t done = 0; status == COLLET_OK && done < n_rows; done += block) {
        int64_t n = n_rows - done < block ? n_rows - done : block;
        status = io_npz_array_read(array, n, rows, err);
        if (status == COLLET_OK)
            status = take(user, n, rows, err);
    }
    io_npz_array_close(array);
    free(rows);
    return status;
}

collet_status merge_part_rows(const merge_part *part, const char *key, merge_take take, void *user,
                              collet_error *err)
{
    return read_rows(part, key, part->kept, take, user, err);
}

static collet_status keep_times(void *user, int64_t n, const double *rows, collet_error *err)
{
    merge_part *part = user;

    (void)err;
    memcpy(part->times + part->kept, rows, (size_t)n * sizeof *rows);
    part->kept += n;
    return COLLET_OK;
}

collet_status merge_part_open(const char *path, merge_part *part, collet_error *err)
{
    *part = (merge_part){.path = path};
    collet_status status = read_meta(part, err);
    if (status != COLLET_OK)
        return status;
    status = io_npz_open(path, &part->archive, err);
    if (status != COLLET_OK)
        return status;
    const char *id = cJSON_GetStringValue(find(part, "id", NULL));
    if (!io_npz_has_id(part->archive, id))
        return collet_fail(err, COLLET_FORMAT, "%s: its meta file %s belongs to other results", path,
                           part->meta_path);
    if (!find(part, "outputs", time_key))
        return collet_fail(err, COLLET_INVALID,
                           "%s: it has no times, by which results are merged: extract it with the "
                           "key time_ps",
                           path);
    part->n_rows = io_json_whole(find(part, "frames", NULL), "count");
    part->times = malloc((size_t)part->n_rows * sizeof *part->times);
    if (!part->times)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: out of memory", path);
    return read_rows(part, time_key, part->n_rows, keep_times, part, err);
}

void merge_part_close(merge_part *part)
{
    io_npz_close(part->archive);
    cJSON_Delete(part->meta);
    free(part->meta_path);
    free(part->times);
}

/* ---- Comparison -------------------------------------------------------------------------- */

static int same_number(const cJSON *a, const cJSON *b)
{
    double x = cJSON_GetNumberValue(a), y = cJSON_GetNumberValue(b);

    return fabs(x - y) <= 1e-9 * fabs(x);
}

static collet_status differ(const merge_part *first, const merge_part *other, const char *what,
                            collet_error *err)
{
    return collet_fail(err, COLLET_INVALID,
                       "%s and %s differ in %s: only results of the same kind can be merged",
                       first->path, other->path, what);
}

static collet_status compare_outputs(const merge_part *first, const merge_part *other,
                                     collet_error *err)
{
    const cJSON *outputs = find(first, "outputs", NULL), *item;
    char what[128];

    if (cJSON_GetArraySize(outputs) != cJSON_GetArraySize(find(other, "outputs", NULL)))
        return differ(first, other, "their keys", err);
    cJSON_ArrayForEach(item, outputs)
    {
        const cJSON *same = find(other, "outputs", item->string);
        int64_t a[3] = {0}, b[3] = {0};
        snprintf(what, sizeof what, "the key %.80s", item->string);
        if (!same ||
            merge_part_shape(first, item->string, a) != merge_part_shape(other, item->string, b) ||
            memcmp(a, b, sizeof a) != 0 ||
            !cJSON_Compare(cJSON_GetObjectItemCaseSensitive(item, "unit"),
                           cJSON_GetObjectItemCaseSensitive(same, "unit"), 1))
            return differ(first, other, what, err);
    }
    return COLLET_OK;
}

/* Fails with INVALID if the parts have the key rmsd and different references. By default the reference of each run is
 * its own first frame. */
static collet_status compare_references(const merge_part *first, const merge_part *other,
                                        collet_error *err)
{
    const cJSON *a = find(first, "inputs", "reference"), *b = find(other, "inputs", "reference");

    if (!find(first, "outputs", "rmsd"))
        return COLLET_OK;
    if (!cJSON_GetObjectItemCaseSensitive(a, "path") ||
        !cJSON_Compare(cJSON_GetObjectItemCaseSensitive(a, "path"),
                       cJSON_GetObjectItemCaseSensitive(b, "path"), 1))
        return differ(first, other,
                      "the reference of the key rmsd, by default the first frame of each (give all "
                      "the same --reference, or leave rmsd out)",
                      err);
    return COLLET_OK;
}

/* 1 if the results have centres of mass or positions, and --drift moved them back to their place in the first frame. */
static int has_moved(const merge_part *part)
{
    return cJSON_IsTrue(find(part, "drift", "positions_moved")) &&
           (find(part, "outputs", "com") || find(part, "outputs", "positions"));
}

/* Fails with INVALID if --drift moved positions. */
static collet_status check_moved(const merge_part *part, collet_error *err)
{
    return has_moved(part)
               ? collet_fail(err, COLLET_INVALID,
                             "%s: the keys com and positions cannot be joined, because --drift moved each run back to "
                             "the place of its own first frame; extract all trajectories in one run, or in shards (--shard)",
                             part->path)
               : COLLET_OK;
}

collet_status merge_part_compare(const merge_part *first, const merge_part *other,
                                 collet_error *err)
{
    static const struct {
        const char *section, *key, *what;
    } texts[] = {{"selection", "text", "their selections"},
                 {"selection", "atoms", "the number of selected atoms"},
                 {"selection", "atoms_of_topology", "the number of atoms of their topologies"},
                 {"axis", NULL, "the axis"},
                 {"bodies", NULL, "their bodies"},
                 {"atoms", NULL, "their atoms"},
                 {"periodic_box", "pbc", "what was done with the periodic box (--pbc)"},
                 {"drift", "drift", "the drift that was removed (--drift)"},
                 {"drift", "of", "the system whose drift was removed (--drift-of)"},
                 {"drift", "atoms", "the number of atoms of the system whose drift was removed"},
                 {"drift", "positions_moved", "whether the removal of drift moved positions"}};

    collet_status status = COLLET_OK;
    for (size_t i = 0; status == COLLET_OK && i < sizeof texts / sizeof *texts; i++) {
        const cJSON *a = find(first, texts[i].section, texts[i].key);
        const cJSON *b = find(other, texts[i].section, texts[i].key);
        if ((a || b) && !cJSON_Compare(a, b, 1))
            status = differ(first, other, texts[i].what, err);
    }
    if (status == COLLET_OK)
        status = check_moved(other, err);
    if (status == COLLET_OK)
        status = compare_outputs(first, other, err);
    if (status == COLLET_OK &&
        !same_number(
            cJSON_GetObjectItemCaseSensitive(find(first, "inputs", "masses"), "total_selected"),
            cJSON_GetObjectItemCaseSensitive(find(other, "inputs", "masses"), "total_selected")))
        status = differ(first, other, "the mass of the selected atoms", err);
    return status == COLLET_OK ? compare_references(first, other, err) : status;
}
