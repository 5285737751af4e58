/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_shards.c */
#include "shards.h"

#include "io/numerals.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST_BYTES 400 /* maximum bytes of a list of shards in a message */

/* ---- Reading ----------------------------------------------------------------------------- */

static collet_status add(trajectory_shards *s, const char *path, collet_error *err)
{
    trajectory_shard *grown = realloc(s->list, (size_t)(s->n + 1) * sizeof *grown);

    if (!grown)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: out of memory", path);
    s->list = grown;
    return trajectory_shard_read(path, &s->list[s->n++], err);
}

/* 1 if the name has the form "003-of-100.npz". */
static int is_shard(const char *name)
{
    static const char digits[] = "0123456789";
    size_t first = strspn(name, digits);

    if (first == 0 || strncmp(name + first, "-of-", 4) != 0)
        return 0;
    name += first + 4;
    return strspn(name, digits) > 0 && strcmp(name + strspn(name, digits), ".npz") == 0;
}

static collet_status add_directory(trajectory_shards *s, const char *path, DIR *entries,
                                   collet_error *err)
{
    struct dirent *entry;
    collet_status status = COLLET_OK;

    while (status == COLLET_OK && (entry = readdir(entries)) != NULL) {
        char *file;

        if (!is_shard(entry->d_name))
            continue;
        if (asprintf(&file, "%s/%s", path, entry->d_name) < 0)
            return collet_fail(err, COLLET_NO_MEMORY, "%s: out of memory", path);
        status = add(s, file, err);
        free(file);
    }
    return status;
}

static collet_status add_path(trajectory_shards *s, const char *path, collet_error *err)
{
    int64_t before = s->n;
    DIR *entries = opendir(path);

    if (!entries)
        return add(s, path, err);
    collet_status status = add_directory(s, path, entries, err);
    closedir(entries);
    if (status == COLLET_OK && s->n == before)
        status = collet_fail(err, COLLET_NOT_FOUND,
                             "%s: it has no shards: compute them with --shard I/N", path);
    return status;
}

/* ---- Checks ------------------------------------------------------------------------------ */

typedef struct list {
    char text[LIST_BYTES];
    size_t length;
    int64_t first, last; /* run of numbers that is not in the text yet; first = 0: none */
    int64_t count;
    int64_t left; /* how many numbers did not fit the text */
} list;

static void flush(list *l)
{
    char run[64];

    if (l->first == 0)
        return;
    snprintf(run, sizeof run,
             l->first == l->last       ? "%s%lld"
             : l->first + 1 == l->last ? "%s%lld, %lld"
                                       : "%s%lld to %lld",
             l->length > 0 ? ", " : "", (long long)l->first, (long long)l->last);
    if (l->left > 0 || l->length + strlen(run) + 32 > sizeof l->text)
        l->left += l->last - l->first + 1;
    else
        l->length += (size_t)snprintf(l->text + l->length, sizeof l->text - l->length, "%s", run);
    l->first = 0;
}

/* Adds a number, in order. */
static void put(list *l, int64_t number)
{
    l->count++;
    if (l->first > 0 && number == l->last + 1) {
        l->last = number;
        return;
    }
    flush(l);
    l->first = l->last = number;
}

static void finish(list *l)
{
    flush(l);
    if (l->left > 0)
        snprintf(l->text + l->length, sizeof l->text - l->length, " and %lld more",
                 (long long)l->left);
}

void trajectory_shards_differ(const cJSON *work, const cJSON *other, char *text, size_t size)
{
    const cJSON *item;

    text[0] = '\0';
    cJSON_ArrayForEach(item, work)
    {
        const cJSON *same = cJSON_GetObjectItemCaseSensitive(other, item->string);
        locale_t before;
        char *a, *b;

        if (cJSON_Compare(item, same, 1))
            continue;
        if (strcmp(item->string, "inputs") == 0) { /* its values are long numbers without names of files: not shown */
            snprintf(text, size, "inputs: other files, or sizes or times of modification");
            return;
        }
        before = io_numerals_begin();
        a = cJSON_PrintUnformatted(same);
        b = cJSON_PrintUnformatted(item);
        io_numerals_end(before);
        snprintf(text, size, "%s: %.120s, not %.120s", item->string,
                 cJSON_IsNull(same) ? "the default"
                 : a                ? a
                                    : "none",
                 cJSON_IsNull(item) ? "the default"
                 : b                ? b
                                    : "");
        cJSON_free(a);
        cJSON_free(b);
        return;
    }
}

static int by_number(const void *a, const void *b)
{
    int64_t x = ((const trajectory_shard *)a)->shard, y = ((const trajectory_shard *)b)->shard;

    return x < y ? -1 : x > y;
}

/* Fails if shards belong to another work than the first shard. */
static collet_status check_work(const trajectory_shards *s, collet_error *err)
{
    const trajectory_shard *first = &s->list[0];
    const cJSON *work = cJSON_GetObjectItemCaseSensitive(first->json, "work");
    list foreign = {.length = 0};
    char why[320] = "", text[320];

    for (int64_t i = 1; i < s->n; i++) {
        const trajectory_shard *other = &s->list[i];

        if (other->n_shards != first->n_shards)
            return collet_fail(err, COLLET_INVALID,
                               "%s is one of %lld shards, but %s is one of %lld: remove those that "
                               "are not of this work",
                               first->path, (long long)first->n_shards, other->path,
                               (long long)other->n_shards);
        if (other->shard == other[-1].shard)
            return collet_fail(err, COLLET_INVALID, "%s and %s are the same shard: give it once",
                               other[-1].path, other->path);
        trajectory_shards_differ(work, cJSON_GetObjectItemCaseSensitive(other->json, "work"), text,
                                 sizeof text);
        if (!*text && other->rows != first->rows)
            snprintf(text, sizeof text, "frames: %lld, not %lld", (long long)other->rows,
                     (long long)first->rows);
        if (!*text)
            continue;
        if (!*why)
            memcpy(why, text, sizeof why);
        put(&foreign, other->shard);
    }
    finish(&foreign);
    return foreign.count == 0
               ? COLLET_OK
               : collet_fail(err, COLLET_INVALID,
                             "shard%s %s of %lld %s not of the same work as %s (%s): compute %s "
                             "again, with --force",
                             foreign.count == 1 ? "" : "s", foreign.text,
                             (long long)first->n_shards, foreign.count == 1 ? "is" : "are",
                             first->path, why, foreign.count == 1 ? "it" : "them");
}

/* Fails if shards are missing. If the rows end in a shard, drops the shards after it. */
static collet_status check_complete(trajectory_shards *s, collet_error *err)
{
    int64_t n_shards = s->list[0].n_shards, next = 1, end = 0;
    list missing = {.length = 0};
    int ended = 0;

    for (int64_t i = 0; i < s->n && !ended; i++) {
        for (; next < s->list[i].shard; next++)
            put(&missing, next);
        next++;
        ended = s->list[i].truncated;
        end = i + 1;
    }
    for (; next <= n_shards && !ended; next++)
        put(&missing, next);
    finish(&missing);
    if (missing.count > 0)
        return collet_fail(err, COLLET_NOT_FOUND,
                           "shard%s %s of %lld %s missing: run %s again, with --shard I/%lld",
                           missing.count == 1 ? "" : "s", missing.text, (long long)n_shards,
                           missing.count == 1 ? "is" : "are", missing.count == 1 ? "it" : "them",
                           (long long)n_shards);
    while (s->n > end)
        trajectory_shard_free(&s->list[--s->n]);
    return COLLET_OK;
}

collet_status trajectory_shards_open(const char *const *paths, int64_t n_paths,
                                     trajectory_shards *s, collet_error *err)
{
    collet_status status = COLLET_OK;

    *s = (trajectory_shards){.n = 0};
    for (int64_t i = 0; status == COLLET_OK && i < n_paths; i++)
        status = add_path(s, paths[i], err);
    if (status != COLLET_OK)
        return status;
    if (s->n == 0)
        return collet_fail(err, COLLET_INVALID, "there are no shards to merge");
    qsort(s->list, (size_t)s->n, sizeof *s->list, by_number);
    status = check_work(s, err);
    return status == COLLET_OK ? check_complete(s, err) : status;
}

void trajectory_shards_free(trajectory_shards *s)
{
    for (int64_t i = 0; i < s->n; i++)
        trajectory_shard_free(&s->list[i]);
    free(s->list);
    *s = (trajectory_shards){.n = 0};
}
