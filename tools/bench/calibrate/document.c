/* SPDX-License-Identifier: Apache-2.0 */
/* The documents of a calibration, and the choices that they change.
 * Tests: tests/tools/test_bench_calibrate.c */
#include "calibrate.h"

#include "common/json_add.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_DOCUMENT (1 << 20)
#define FASTER                                                                                     \
    0.9 /* as in libcore: another backend is chosen if it needs at most 0.9 of the first backend's time */

/* ---- Documents --------------------------------------------------------------------------- */

static cJSON *read_document(const char *path)
{
    FILE *file = *path ? fopen(path, "r") : NULL;
    char *text = file ? malloc(MAX_DOCUMENT) : NULL;
    cJSON *document = NULL;
    if (text) {
        text[fread(text, 1, MAX_DOCUMENT - 1, file)] = '\0';
        document = cJSON_Parse(text);
    }
    free(text);
    if (file)
        fclose(file);
    return document;
}

static cJSON *new_document(void)
{
    char made[32] = "";
    time_t now = time(NULL);
    struct tm utc;
    cJSON *document = cJSON_CreateObject();
    if (gmtime_r(&now, &utc))
        strftime(made, sizeof made, "%Y-%m-%dT%H:%M:%SZ", &utc);
    if (document && json_add_number(document, "format", 1) &&
        json_add_text(document, "made", made) && cJSON_AddObjectToObject(document, "times"))
        return document;
    cJSON_Delete(document);
    return NULL;
}

static int32_t has_own_memory(const collet_runtime *runtime, const char *name)
{
    collet_backend_info b = {.struct_size = sizeof b};
    collet_device_info d = {.struct_size = sizeof d};
    for (size_t i = 0; collet_backend_info_at(runtime, &b, i, NULL) == COLLET_OK; i++)
        if (!strcmp(b.name, name))
            return collet_device_info_at(runtime, &d, i, 0, NULL) == COLLET_OK &&
                   d.memory == COLLET_MEMORY_OWN;
    return 0;
}

/* Lists the backends in the order in which auto prefers them, whatever their order on the command line. */
collet_status calibrate_begin(calibration_run *run, collet_error *err)
{
    const bench_session *s = run->session;
    collet_backend_info b = {.struct_size = sizeof b};
    for (size_t i = 0; collet_backend_info_at(s->runtime, &b, i, NULL) == COLLET_OK; i++) {
        int32_t named = 0;
        for (int32_t k = 0; k < s->choice_count; k++)
            named |= !strcmp(s->choices[k], b.name);
        if (b.state == COLLET_BACKEND_UNAVAILABLE || run->usable_count == BENCH_LIST_MAX)
            continue;
        cJSON *before = read_document(b.calibration);
        documents *both = &run->usable[run->usable_count++];
        *both = (documents){.name = b.name, .now = before, .before = before};
        if (!named)
            continue;
        calibrated *c = &run->backends[run->count++];
        *c = (calibrated){.name = b.name,
                          .now = new_document(),
                          .before = before,
                          .own_memory = has_own_memory(s->runtime, b.name)};
        both->now = c->now;
        if (!c->now)
            return collet_fail(err, COLLET_NO_MEMORY, "out of memory for the calibration");
    }
    return COLLET_OK;
}

static int32_t measured_now(const calibration_run *run, const char *key)
{
    for (int32_t b = 0; b < run->count; b++) {
        const cJSON *times = cJSON_GetObjectItemCaseSensitive(run->backends[b].now, "times");
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(times, key);
        if (item && !(item->type & cJSON_IsReference))
            return 1;
    }
    return 0;
}

/* Adds the times of the old documents as cJSON references; times of this run are not references. If an op was
 * measured again, its old times are dropped for all backends, because the load of the machine was different then. */
int32_t calibrate_keep_old(calibration_run *run)
{
    int32_t fine = 1;
    for (int32_t b = 0; b < run->count; b++) {
        cJSON *times = cJSON_GetObjectItemCaseSensitive(run->backends[b].now, "times");
        cJSON *old = cJSON_GetObjectItemCaseSensitive(run->backends[b].before, "times"), *item;
        for (item = old ? old->child : NULL; item && fine; item = item->next)
            if (!measured_now(run, item->string))
                fine = cJSON_AddItemReferenceToObject(times, item->string, item);
    }
    return fine;
}

void calibrate_end(calibration_run *run)
{
    for (int32_t b = 0; b < run->usable_count; b++)
        cJSON_Delete((cJSON *)run->usable[b].before);
    for (int32_t b = 0; b < run->count; b++) {
        cJSON_Delete(run->backends[b].now);
        free(run->backends[b].choices);
    }
}

/* ---- Predictions ------------------------------------------------------------------------- */

static double number_at(const cJSON *pair, int at)
{
    return cJSON_GetNumberValue(cJSON_GetArrayItem(pair, at));
}

double calibrate_seconds(const cJSON *document, const char *key, double work)
{
    const cJSON *times = cJSON_GetObjectItemCaseSensitive(document, "times");
    const cJSON *a = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(times, key), 0);
    if (!a)
        return NAN;
    while (a->next && number_at(a->next, 0) <= work)
        a = a->next;
    if (work <= number_at(a, 0))
        return number_at(a, 1);
    double slope = a->next ? log(number_at(a->next, 1) / number_at(a, 1)) /
                                 log(number_at(a->next, 0) / number_at(a, 0))
                           : 1;
    return number_at(a, 1) * pow(work / number_at(a, 0), slope);
}

/* Seconds to copy the operands of a call from the host's memory and its results back, for a call with two
 * operands and one result of `elements` elements each. */
static double transfers(const cJSON *document, double elements, double bytes)
{
    const cJSON *t = cJSON_GetObjectItemCaseSensitive(document, "transfer");
    if (!t)
        return 0;
    double to = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(t, "to_device"));
    double from = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(t, "to_host"));
    double latency = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(t, "latency"));
    return 3 * latency + elements * bytes * (2 / to + 1 / from);
}

static int32_t has_kernel(const calibration_run *run, const char *backend, const char *key)
{
    const collet_runtime *runtime = run->session->runtime;
    char name[CALIBRATE_KEY];
    bench_case row;
    collet_error err;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(key, " "), key);
    return bench_case_find(runtime, name, &row, &err) == COLLET_OK &&
           collet_backend_has_kernel(runtime, backend, row.op.id, NULL, 0, NULL) == COLLET_OK;
}

/* Returns the backend that auto chooses for a call whose operands are in the host's memory. As in libcore,
 * this is the first backend in auto's order that has the op, unless it was measured and another backend is
 * faster. -1: no backend has the op. */
static int32_t winner(const calibration_run *run, const char *key, double work, int32_t before)
{
    double elements = strncmp(key, "matmul ", 7) ? work : pow(work, 2.0 / 3);
    double bytes = strstr(key, " f64") ? 8 : 4, first = NAN, best = INFINITY;
    int32_t found = -1;
    for (int32_t b = 0; b < run->usable_count; b++) {
        const cJSON *document = before ? run->usable[b].before : run->usable[b].now;
        double seconds =
            calibrate_seconds(document, key, work) + transfers(document, elements, bytes);
        if (isnan(seconds) && found < 0 && has_kernel(run, run->usable[b].name, key))
            return b;
        if (isnan(seconds) || (found >= 0 && (seconds >= FASTER * first || seconds >= best)))
            continue;
        first = found < 0 ? seconds : first;
        best = seconds;
        found = b;
    }
    return found;
}

/* ---- Changes ----------------------------------------------------------------------------- */

#define POWERS 9 /* the work is 10^0 to 10^8 */

/* Writes, for each power of ten of the work, the index of the chosen backend as a digit; without a
 * calibration this is the first backend. */
static void choices(const calibration_run *run, const char *key, int32_t before,
                    char text[POWERS + 1])
{
    for (int power = 0; power < POWERS; power++) {
        int32_t b = winner(run, key, pow(10, power), before);
        text[power] = (char)('0' + (b < 0 ? 0 : b));
    }
    text[POWERS] = '\0';
}

/* Describes such digits in words: "opencl from 10^5 elements on". */
static void describe(const calibration_run *run, const char *text, char *out, size_t size)
{
    size_t length = 0;
    out[0] = '\0';
    for (int power = 0; power < POWERS && length < size; power++)
        if (!power || text[power] != text[power - 1])
            length +=
                (size_t)snprintf(out + length, size - length, power ? ", %s from 10^%d on" : "%s",
                                 run->usable[text[power] - '0'].name, power);
}

/* Prints one sentence for all keys that have the same choices before and the same choices after. */
static void print_group(const calibration_run *run, const cJSON *keys, const char *before,
                        const char *now)
{
    char texts[2][256], other[2][POWERS + 1];
    const cJSON *item;
    const char *joint = "";
    describe(run, before, texts[0], sizeof texts[0]);
    describe(run, now, texts[1], sizeof texts[1]);
    printf("%s (before: %s):", texts[1], texts[0]);
    cJSON_ArrayForEach(item, keys)
    {
        choices(run, item->string, 1, other[0]);
        choices(run, item->string, 0, other[1]);
        if (!strcmp(other[0], before) && !strcmp(other[1], now))
            printf("%s %s", joint, item->string), joint = ",";
    }
    putchar('\n');
}

static int32_t seen_before(const calibration_run *run, const cJSON *keys, const cJSON *item,
                           const char *before, const char *now)
{
    char other[2][POWERS + 1];
    for (const cJSON *k = keys->child; k != item; k = k->next) {
        choices(run, k->string, 1, other[0]);
        choices(run, k->string, 0, other[1]);
        if (!strcmp(other[0], before) && !strcmp(other[1], now))
            return 1;
    }
    return 0;
}

static int32_t add_change(cJSON *list, const calibration_run *run, const char *key,
                          const char *before, const char *now)
{
    char texts[2][256];
    describe(run, before, texts[0], sizeof texts[0]);
    describe(run, now, texts[1], sizeof texts[1]);
    cJSON *row = json_append_object(list);
    return row && json_add_text(row, "op", key) && json_add_text(row, "before", texts[0]) &&
           json_add_text(row, "now", texts[1]);
}

/* The names of the members of "times" in all new documents. NULL when out of memory. */
static cJSON *all_keys(const calibration_run *run)
{
    cJSON *keys = cJSON_CreateObject();
    const cJSON *item;
    int32_t fine = keys != NULL;
    for (int32_t b = 0; b < run->count; b++)
        cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(run->backends[b].now, "times"))
        {
            if (fine && !cJSON_GetObjectItemCaseSensitive(keys, item->string))
                fine = json_add_null(keys, item->string);
        }
    if (fine)
        return keys;
    cJSON_Delete(keys);
    return NULL;
}

int32_t calibrate_changes(const calibration_run *run, cJSON *report)
{
    char before[POWERS + 1], now[POWERS + 1];
    int32_t fine = 1, changed = 0;
    cJSON *list = report ? cJSON_AddArrayToObject(report, "changes") : NULL;
    cJSON *keys = all_keys(run), *item;
    cJSON_ArrayForEach(item, keys)
    {
        choices(run, item->string, 1, before);
        choices(run, item->string, 0, now);
        if (!strcmp(before, now))
            continue;
        changed++;
        if (list)
            fine = fine && add_change(list, run, item->string, before, now);
        else if (!report && !seen_before(run, keys, item, before, now))
            print_group(run, keys, before, now);
    }
    if (!report && run->usable_count > 1)
        printf(
            "%d of %d ops and dtypes go to other backends than before under auto, with operands in "
            "the host's memory.\n",
            (int)changed, cJSON_GetArraySize(keys));
    fine = fine && keys;
    cJSON_Delete(keys);
    return fine && (list || !report);
}
