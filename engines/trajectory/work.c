/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_shards.c */
#include "work.h"

#include "io/json/json.h"
#include "io/numerals.h"

#include <float.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Numbers of the options. */
typedef struct number {
    const char *name;
    size_t offset;
    int is_wide; /* 1: int64_t, else uint32_t */
} number;

#define WIDE(member)                                                                               \
    {                                                                                              \
#member, offsetof(trajectory_settings, member), 1                                          \
    }
#define NARROW(member)                                                                             \
    {                                                                                              \
#member, offsetof(trajectory_settings, member), 0                                          \
    }

static const number numbers[] = {WIDE(start),     WIDE(stop),  WIDE(step),
                                 NARROW(missing), NARROW(pbc), NARROW(drift),
                                 NARROW(strict),  WIDE(n_mass_values)};

#define N_NUMBERS (sizeof numbers / sizeof *numbers)

static int64_t get(const trajectory_settings *s, const number *n)
{
    const char *at = (const char *)s + n->offset;

    return n->is_wide ? *(const int64_t *)(const void *)at
                      : (int64_t) * (const uint32_t *)(const void *)at;
}

/* ---- Writing ----------------------------------------------------------------------------- */

int trajectory_work_put(cJSON *object, const char *key, cJSON *item)
{
    if (item &&
        (key ? cJSON_AddItemToObject(object, key, item) : cJSON_AddItemToArray(object, item)))
        return 1;
    cJSON_Delete(item);
    return 0;
}

static cJSON *text_or_null(const char *text)
{
    return text ? cJSON_CreateString(text) : cJSON_CreateNull();
}

static cJSON *list_of(const char *const *texts)
{
    cJSON *list = cJSON_CreateArray();
    int done = list != NULL;

    for (size_t i = 0; done && texts && texts[i]; i++)
        done = trajectory_work_put(list, NULL, cJSON_CreateString(texts[i]));
    if (done)
        return list;
    cJSON_Delete(list);
    return NULL;
}

/* A file's size and time of modification, as text, because a JSON number would not have enough digits. */
static cJSON *identity(const char *path)
{
    struct stat facts;
    char text[80] = "absent";

    if (stat(path, &facts) == 0)
        snprintf(text, sizeof text, "%lld bytes of %lld.%09ld", (long long)facts.st_size,
                 (long long)facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
    return cJSON_CreateString(text);
}

static int put_identity(cJSON *list, const char *path)
{
    return !path || trajectory_work_put(list, NULL, identity(path));
}

static int put_masses(cJSON *list, const trajectory_settings *s)
{
    const uint8_t *bytes = (const uint8_t *)s->mass_values;
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    char text[40];

    if (!bytes)
        return 1;
    for (size_t i = 0; i < (size_t)s->n_mass_values * sizeof *s->mass_values; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    snprintf(text, sizeof text, "masses %016llx", (unsigned long long)hash);
    return trajectory_work_put(list, NULL, cJSON_CreateString(text));
}

/* Describes the input files, in the order of the options. */
static cJSON *describe_inputs(const trajectory_settings *s)
{
    cJSON *list = cJSON_CreateArray();
    const char *masses = trajectory_settings_equal_masses(s) ? NULL : s->masses;
    char text[80];
    int done = list != NULL;

    if (done && s->source) {
        snprintf(text, sizeof text, "%lld frames of %lld atoms in memory",
                 (long long)s->source->n_frames, (long long)s->source->n_atoms);
        done = trajectory_work_put(list, NULL, cJSON_CreateString(text));
    } else if (done) {
        done = put_identity(list, s->topology) && put_identity(list, s->trajectory);
    }
    for (int64_t i = 0; done && i < trajectory_settings_continuations(s); i++)
        done = put_identity(list, s->continuations[i]);
    if (done && put_identity(list, s->ndx) && put_identity(list, masses) && put_masses(list, s) &&
        put_identity(list, s->reference))
        return list;
    cJSON_Delete(list);
    return NULL;
}

cJSON *trajectory_work_describe(const trajectory_settings *s)
{
    cJSON *work = cJSON_CreateObject();
    int done = work && trajectory_work_put(work, "version", cJSON_CreateString(collet_version()));
    const trajectory_settings_text *text;

    for (size_t i = 0; done && (text = trajectory_settings_text_at(i)) != NULL; i++)
        done = text->is_place ||
               trajectory_work_put(
                   work, text->name,
                   text_or_null(*(char *const *)(const void *)((const char *)s + text->offset)));
    for (size_t i = 0; done && i < N_NUMBERS; i++)
        done = trajectory_work_put(work, numbers[i].name,
                                   cJSON_CreateNumber((double)get(s, &numbers[i])));
    if (done && trajectory_work_put(work, "memory", cJSON_CreateBool(s->source != NULL)) &&
        trajectory_work_put(work, "continuations", list_of(s->continuations)) &&
        trajectory_work_put(work, "axis", cJSON_CreateDoubleArray(s->axis, 3)) &&
        trajectory_work_put(work, "inputs", describe_inputs(s)))
        return work;
    cJSON_Delete(work);
    return NULL;
}

cJSON *trajectory_work_origin(const trajectory_settings *s)
{
    cJSON *origin = cJSON_CreateObject();
    char *directory = getcwd(NULL, 0);
    int done = origin && trajectory_work_put(origin, "command", list_of(s->command)) &&
               trajectory_work_put(origin, "directory", text_or_null(directory));

    free(directory);
    if (done)
        return origin;
    cJSON_Delete(origin);
    return NULL;
}

/* ---- Reading ----------------------------------------------------------------------------- */

#define WHOLE_MOST 0x1p53

static const io_json_field text_field = {.type = IO_JSON_TEXT};
static const io_json_field component = {.type = IO_JSON_NUMBER, .low = -DBL_MAX, .high = DBL_MAX};
static const io_json_field of_work[] = {
    {.name = "version", .type = IO_JSON_TEXT},
    {.name = "start", .type = IO_JSON_WHOLE, .high = WHOLE_MOST},
    {.name = "stop", .type = IO_JSON_WHOLE, .low = -1, .high = WHOLE_MOST},
    {.name = "step", .type = IO_JSON_WHOLE, .low = 1, .high = WHOLE_MOST},
    {.name = "missing", .type = IO_JSON_WHOLE, .high = COLLET_TRAJECTORY_MISSING_NAN},
    {.name = "pbc", .type = IO_JSON_WHOLE, .high = COLLET_TRAJECTORY_PBC_NONE},
    {.name = "drift", .type = IO_JSON_WHOLE, .high = COLLET_TRAJECTORY_DRIFT_BOTH},
    {.name = "strict", .type = IO_JSON_WHOLE, .high = 1},
    {.name = "n_mass_values", .type = IO_JSON_WHOLE, .high = 0x1p40},
    {.name = "memory", .type = IO_JSON_BOOLEAN},
    {.name = "continuations", .type = IO_JSON_LIST, .high = INT32_MAX, .fields = &text_field},
    {.name = "axis", .type = IO_JSON_LIST, .low = 3, .high = 3, .fields = &component},
    {.name = "inputs", .type = IO_JSON_LIST, .high = INT32_MAX, .fields = &text_field}};

collet_status trajectory_work_check(const cJSON *work, const char *path, collet_error *err)
{
    const trajectory_settings_text *text;
    collet_status status = io_json_check(path, "work.", work, IO_JSON_ROWS(of_work), err);

    for (size_t i = 0; status == COLLET_OK && (text = trajectory_settings_text_at(i)) != NULL;
         i++) {
        const io_json_field field = {
            .name = text->name, .type = IO_JSON_TEXT, .flags = IO_JSON_NULLABLE};
        if (!text->is_place)
            status = io_json_check(path, "work.", work, &field, 1, err);
    }
    return status;
}

/* Returns the texts of a JSON array, ended by NULL, valid as long as the array. Returns NULL if out of memory. */
static const char **texts_of(const cJSON *array)
{
    const char **texts = calloc((size_t)cJSON_GetArraySize(array) + 1, sizeof *texts);
    const cJSON *item;
    int i = 0;

    for (item = texts && array ? array->child : NULL; item; item = item->next)
        texts[i++] = cJSON_GetStringValue(item);
    return texts;
}

static void read_options(const cJSON *work, collet_trajectory_options *o)
{
    const cJSON *axis = cJSON_GetObjectItemCaseSensitive(work, "axis");
    const trajectory_settings_text *text;

    for (size_t i = 0; (text = trajectory_settings_text_at(i)) != NULL; i++)
        if (!text->is_place)
            *(const char **)(void *)((char *)o + text->offset) = io_json_text(work, text->name);
    for (size_t i = 0; i < N_NUMBERS; i++) {
        int64_t value = io_json_whole(work, numbers[i].name);
        void *at = (char *)o + numbers[i].offset;

        if (numbers[i].is_wide)
            *(int64_t *)at = value < 0 ? 0 : value; /* -1: the end */
        else
            *(uint32_t *)at = (uint32_t)value;
    }
    for (int i = 0; i < 3; i++)
        o->axis[i] = cJSON_GetNumberValue(cJSON_GetArrayItem(axis, i));
}

/* Fails unless the inputs are the files from which the shards were computed. */
static collet_status check_identity(const cJSON *work, const cJSON *origin,
                                    const trajectory_settings *s, collet_error *err)
{
    const char *directory =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(origin, "directory"));
    cJSON *now = describe_inputs(s);
    const cJSON *then = cJSON_GetObjectItemCaseSensitive(work, "inputs");
    char *found, *expected;
    collet_status status = COLLET_OK;

    if (!now)
        return collet_fail(err, COLLET_NO_MEMORY, "shards: out of memory");
    locale_t before = io_numerals_begin();
    found = cJSON_PrintUnformatted(now);
    expected = cJSON_PrintUnformatted(then);
    io_numerals_end(before);
    if (!cJSON_Compare(now, then, 1))
        status = collet_fail(
            err, COLLET_INVALID,
            "%s: topology, trajectory and other inputs differ from the inputs of the shards, which "
            "were "
            "computed in %s: %.250s, not %.250s; run this there, or compute the shards again",
            s->trajectory, directory ? directory : "another directory", found ? found : "",
            expected ? expected : "");
    cJSON_free(found);
    cJSON_free(expected);
    cJSON_Delete(now);
    return status;
}

static int is_of_memory(const cJSON *work)
{
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(work, "memory"));
}

collet_status trajectory_work_settings(const cJSON *work, const char *path, const cJSON *origin,
                                       const collet_trajectory_options *given, const double *masses,
                                       trajectory_settings *s, collet_error *err)
{
    collet_trajectory_options o = {.struct_size = sizeof o};
    const char **command = texts_of(cJSON_GetObjectItemCaseSensitive(origin, "command"));
    const char **continuations = texts_of(cJSON_GetObjectItemCaseSensitive(work, "continuations"));
    collet_status status = COLLET_OK;

    if (is_of_memory(work) != (given->source != NULL))
        status =
            collet_fail(err, COLLET_INVALID,
                        given->source ? "the shards are of files, not of a trajectory in memory"
                                      : "the shards are of a trajectory in memory: merge them "
                                        "where it is");
    else if (!command || !continuations)
        status = collet_fail(err, COLLET_NO_MEMORY, "%s: out of memory", path);
    else
        read_options(work, &o);
    o.command = command;
    o.continuations = continuations && *continuations ? continuations : NULL;
    o.context = given->context;
    o.threads = given->threads;
    o.log = given->log;
    o.log_user = given->log_user;
    o.batch_frames = given->batch_frames;
    o.batch_rows = given->batch_rows;
    o.progress = given->progress;
    o.progress_user = given->progress_user;
    o.source = given->source;
    o.mass_values = masses;
    if (o.source)
        o.topology = o.trajectory = NULL;
    if (given->backend || given->context)
        o.backend = given->backend;
    if (status == COLLET_OK)
        status = trajectory_settings_copy(s, &o, err);
    if (status == COLLET_OK) {
        status = check_identity(work, origin, s, err);
        if (status != COLLET_OK)
            trajectory_settings_free(s);
    }
    free(command);
    free(continuations);
    return status;
}
