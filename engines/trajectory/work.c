/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_shards.c */
#include "work.h"

#include "io/numerals.h"

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
                                 NARROW(missing), NARROW(pbc), WIDE(n_mass_values)};

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

/* A file's size and time of modification, as text: no number of JSON has the digits. */
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

/* In the order of the options. */
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

/* The texts of an array, ended by NULL, valid as long as it. NULL: no texts, or out of memory. */
static const char **texts_of(const cJSON *array)
{
    int n = cJSON_GetArraySize(array), i = 0;
    const char **texts = calloc((size_t)n + 1, sizeof *texts);
    const cJSON *item;

    cJSON_ArrayForEach(item, array)
    {
        if (!texts || !cJSON_IsString(item)) {
            free(texts);
            return NULL;
        }
        texts[i++] = cJSON_GetStringValue(item);
    }
    return cJSON_IsArray(array) ? texts : NULL;
}

/* 0: not a work. */
static int read_options(const cJSON *work, collet_trajectory_options *o)
{
    const cJSON *axis = cJSON_GetObjectItemCaseSensitive(work, "axis");
    const trajectory_settings_text *text;

    for (size_t i = 0; (text = trajectory_settings_text_at(i)) != NULL; i++) {
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(work, text->name);

        if (text->is_place)
            continue;
        if (!cJSON_IsString(item) && !cJSON_IsNull(item))
            return 0;
        *(const char **)(void *)((char *)o + text->offset) = cJSON_GetStringValue(item);
    }
    for (size_t i = 0; i < N_NUMBERS; i++) {
        double value =
            cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(work, numbers[i].name));
        void *at = (char *)o + numbers[i].offset;

        if (!(value >= -1) || !(value <= 0x1p53) || (!numbers[i].is_wide && value > 0x1p31))
            return 0;
        if (numbers[i].is_wide)
            *(int64_t *)at = value < 0 ? 0 : (int64_t)value; /* -1: the end */
        else
            *(uint32_t *)at = (uint32_t)value;
    }
    for (int i = 0; i < 3; i++)
        o->axis[i] = cJSON_GetNumberValue(cJSON_GetArrayItem(axis, i));
    return 1;
}

/* Whether the inputs are those that the shards were computed from. */
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

int64_t trajectory_work_masses(const cJSON *work)
{
    double n = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(work, "n_mass_values"));

    return n >= 1 && n <= 0x1p40 ? (int64_t)n : 0;
}

collet_status trajectory_work_settings(const cJSON *work, const cJSON *origin,
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
    else if (!command || !continuations || !read_options(work, &o))
        status = collet_fail(err, COLLET_FORMAT, "shards: their notes are damaged");
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
