/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_calibration.c, tests/fault/test_allocation_calibration.c */
#include "calibration.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <collet/floating.h>

#include "plugins/file.h"
#include "util/cache_directory.h"
#include "util/json.h"

#define FORMAT 1
#define MAX_FILE ((size_t)1 << 20)
#define USUAL_FILE ((size_t)1 << 16)
#define MAX_FILES 64    /* maximum number, for all backends */
#define MAX_POINTS 64   /* maximum number of points of an op */
#define MAX_WORK 0x1p62 /* the largest work of a point */
#define MAX_SECONDS 1e6
#define FILE_NAME (sizeof "calibration--0123456789abcdef.json" + COLLET_MAX_NAME)
#define FASTER 0.9 /* another backend is chosen if it needs at most this share of the first backend's time */

/* ---- Name -------------------------------------------------------------------------------- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return file_hash(hash, text, strlen(text) + 1);
}

/* Adds a description to the hash. The only numbers in the hash are threads and compute units: other
 * numbers are measured, or change when the machine is started again (clocks, sizes of memory). The
 * hash also leaves out choices, because they follow from measurements, and the reason for the
 * number of threads. */
static uint64_t hash_item(uint64_t hash, const cJSON *item)
{
    const char *name = item->string ? item->string : "";
    if (!strcmp(name, "choices") || !strncmp(name, "chosen_", 7) || !strcmp(name, "threads_limit"))
        return hash;
    hash = hash_text(hash, name);
    if (cJSON_IsString(item))
        hash = hash_text(hash, item->valuestring);
    if (cJSON_IsBool(item) || !strcmp(name, "compute_units") || !strcmp(name, "threads"))
        hash = file_hash(hash, &item->valueint, sizeof item->valueint);
    for (const cJSON *child = item->child; child; child = child->next)
        hash = hash_item(hash, child);
    return hash;
}

static void file_name(const backend *b, char name[FILE_NAME])
{
    uint64_t hash = hash_text(FILE_HASH_START, COLLET_VERSION);
    hash = hash_text(hash, b->plugin->manifest.version);
    hash = file_hash(hash, &b->plugin->file.size, sizeof b->plugin->file.size);
    hash = hash_item(hash, b->description);
    snprintf(name, FILE_NAME, "calibration-%s-%016llx.json", b->plugin->name,
             (unsigned long long)hash);
}

/* ---- Times ------------------------------------------------------------------------------- */

static int positive(const cJSON *item, double most, double *value)
{
    *value = cJSON_IsNumber(item) ? item->valuedouble : 0;
    return *value > 0 && *value <= most;
}

/* Interpolates between points on a scale of logarithms. Before the first point the time is constant; after the last
 * point it is proportional to the work, for all backends alike. */
static void fill_powers(const double (*points)[2], int count, float seconds[CALIBRATION_POWERS])
{
    int at = 0;
    for (int power = 0; power < CALIBRATION_POWERS; power++) {
        while (at + 1 < count && points[at + 1][0] <= power)
            at++;
        const double *a = points[at], *b = at + 1 < count ? points[at + 1] : NULL;
        double slope = b ? (b[1] - a[1]) / (b[0] - a[0]) : 1;
        seconds[power] = (float)exp2(a[1] + (power > a[0] ? slope * (power - a[0]) : 0));
    }
}

/* [[work, seconds], ...] with growing work. */
static collet_status read_points(const cJSON *list, float seconds[CALIBRATION_POWERS],
                                 collet_error *err)
{
    double points[MAX_POINTS][2], work, time;
    int count = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        if (count == MAX_POINTS || cJSON_GetArraySize(item) != 2 ||
            !positive(item->child, MAX_WORK, &work) || work < 1 ||
            !positive(item->child->next, MAX_SECONDS, &time) ||
            (count && log2(work) <= points[count - 1][0]))
            return collet_fail(err, COLLET_FORMAT,
                               "times: '%s' must be a list of at most %d pairs [work, seconds] of "
                               "positive numbers, work growing from 1",
                               list->string, MAX_POINTS);
        points[count][0] = log2(work);
        points[count++][1] = log2(time);
    }
    if (!count)
        return collet_fail(err, COLLET_FORMAT, "times: '%s' has no points", list->string);
    fill_powers(points, count, seconds);
    return COLLET_OK;
}

/* "matmul f32" */
static int find_op(const collet_runtime *r, const char *key, uint32_t *id, int *dtype)
{
    size_t length = strcspn(key, " ");
    *dtype = !strcmp(key + length, " f32")   ? CALIBRATION_F32
             : !strcmp(key + length, " f64") ? CALIBRATION_F64
                                             : CALIBRATION_DTYPES;
    for (size_t i = 0; i < r->ops.count && *dtype < CALIBRATION_DTYPES; i++) {
        const op *o = &r->ops.ops[i];
        if (strlen(o->name) == length && !memcmp(o->name, key, length)) {
            *id = o->id;
            return 1;
        }
    }
    return 0;
}

static collet_status read_times(const collet_runtime *r, calibration *c, const cJSON *times,
                                collet_error *err)
{
    uint32_t id;
    int dtype;
    collet_status status = COLLET_OK;
    const cJSON *item;
    if (times && !cJSON_IsObject(times))
        return collet_fail(err, COLLET_FORMAT, "times must be an object");
    c->seconds = calloc((size_t)cJSON_GetArraySize(times) + 1, sizeof *c->seconds);
    if (!c->seconds)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for a calibration");
    for (item = times ? times->child : NULL; item && status == COLLET_OK; item = item->next) {
        if (!cJSON_IsArray(item) || !find_op(r, item->string, &id, &dtype))
            return collet_fail(err, COLLET_FORMAT,
                               "times: '%s' is not an op with a list, such as \"add f32\": [[100, "
                               "1e-7]] (dtypes: f32, f64)",
                               item->string);
        status = read_points(item, c->seconds[c->count], err);
        c->of[id][dtype] = (uint16_t)++c->count;
    }
    return status;
}

static collet_status read_transfer(calibration *c, const cJSON *transfer, collet_error *err)
{
    const cJSON *to_device = cJSON_GetObjectItemCaseSensitive(transfer, "to_device");
    const cJSON *to_host = cJSON_GetObjectItemCaseSensitive(transfer, "to_host");
    const cJSON *latency = cJSON_GetObjectItemCaseSensitive(transfer, "latency");
    if (!transfer || (positive(to_device, INFINITY, &c->to_device) && c->to_device >= 1 &&
                      positive(to_host, INFINITY, &c->to_host) && c->to_host >= 1 &&
                      positive(latency, MAX_SECONDS, &c->latency)))
        return COLLET_OK;
    return collet_fail(err, COLLET_FORMAT,
                       "transfer must have the numbers to_device and to_host, each at least 1, and latency, above 0");
}

/* ---- File -------------------------------------------------------------------------------- */

void calibration_free(calibration *c)
{
    if (!c)
        return;
    free(c->path);
    free(c->calibrated);
    free(c->seconds);
    free(c);
}

static collet_status read_members(const collet_runtime *r, calibration *c, const cJSON *root,
                                  collet_error *err)
{
    int64_t format;
    const cJSON *text = cJSON_GetObjectItemCaseSensitive(root, "calibrated");
    if (!json_integer(root, "format", FORMAT, FORMAT, &format))
        return collet_fail(err, COLLET_FORMAT, "format is not %d", FORMAT);
    if (!json_string(root, "made"))
        return collet_fail(err, COLLET_FORMAT, "made, the time of the measurement, is missing");
    if (text && !cJSON_IsString(text))
        return collet_fail(err, COLLET_FORMAT, "calibrated must be a string");
    if (text && !(c->calibrated = strdup(text->valuestring)))
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for a calibration");
    collet_status status =
        read_transfer(c, cJSON_GetObjectItemCaseSensitive(root, "transfer"), err);
    return status == COLLET_OK
               ? read_times(r, c, cJSON_GetObjectItemCaseSensitive(root, "times"), err)
               : status;
}

static collet_status parse(const collet_runtime *r, const char *text, size_t length,
                           calibration **out, collet_error *err)
{
    cJSON *root = NULL;
    collet_status status = json_parse(text, length, &root, NULL, err);
    if (status != COLLET_OK)
        return status;
    calibration *c = calloc(1, sizeof *c);
    status = c ? read_members(r, c, root, err)
               : collet_fail(err, COLLET_NO_MEMORY, "out of memory for a calibration");
    cJSON_Delete(root);
    if (status != COLLET_OK) {
        calibration_free(c);
        return status;
    }
    *out = c;
    return COLLET_OK;
}

static collet_status use(backend *b, calibration *c, const char *directory, const char *name,
                         collet_error *err)
{
    if (asprintf(&c->path, "%s/%s", directory, name) < 0) {
        c->path = NULL;
        calibration_free(c);
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for a calibration");
    }
    b->calibration = c;
    return COLLET_OK;
}

/* Sets the error for a file that exists but cannot be read; `failed` is errno. */
static collet_status unreadable(int failed, collet_error *err)
{
    if (failed == ENOMEM)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for a calibration");
    if (failed == EPERM || failed == ELOOP)
        return collet_fail(
            err, COLLET_IO,
            "it must be a regular file of this user, with one link, that others cannot read");
    if (failed == ENODATA || failed == EFBIG)
        return collet_fail(err, COLLET_FORMAT,
                           failed == EFBIG ? "it has more than %zu bytes"
                                           : "it is empty; it must have 1 to %zu bytes",
                           MAX_FILE);
    return collet_fail(err, COLLET_IO, "%s", strerror(failed));
}

collet_status calibration_read(backend *b, collet_error *err)
{
    const config *settings = b->runtime->config;
    const char *path = config_cache_directory(settings);
    char name[FILE_NAME];
    size_t length = 0;
    calibration *c = NULL;
    collet_error why;
    int wanted =
        config_boolean(settings, CONFIG_CALIBRATION) && config_boolean(settings, CONFIG_MEASURE);
    int directory = wanted ? cache_directory_open(path, 0) : -1;
    if (directory < 0)
        return COLLET_OK;
    file_name(b, name);
    char *text = cache_file_read(directory, name, MAX_FILE, &length, NULL);
    int failed = errno;
    close(directory);
    if (!text && failed == ENOENT)
        return COLLET_OK;
    collet_status status =
        text ? parse(b->runtime, text, length, &c, &why) : unreadable(failed, &why);
    free(text);
    if (status == COLLET_OK)
        return use(b, c, path, name, err);
    if (status == COLLET_NO_MEMORY)
        return collet_fail(err, status, "%s", why.text);
    log_message(&b->runtime->log, COLLET_LOG_WARNING,
                "the calibration %s/%s is ignored: %s (backend-bench calibrate writes a new one)",
                path, name, why.text);
    return COLLET_OK;
}

/* The backend, which must be usable and have been probed. */
static collet_status find(const collet_runtime *r, const char *name, const backend **out,
                          collet_error *err)
{
    const backend *b = NULL;
    for (size_t i = 0; i < r->backend_count && !b; i++)
        if (!strcmp(r->backends[i].plugin->name, name))
            b = &r->backends[i];
    if (!b)
        return collet_fail(err, COLLET_UNKNOWN_BACKEND, "there is no backend '%s'", name);
    if (!b->plugin->capabilities || !b->device_count)
        return collet_fail(err, COLLET_UNAVAILABLE, "the backend '%s' cannot be calibrated: %s",
                           name,
                           b->plugin->capabilities ? backend_reason(b, backend_state(b))
                                                   : "it was not probed (setting probe)");
    *out = b;
    return COLLET_OK;
}

static collet_status store(const backend *b, char *path, size_t capacity, const char *text,
                           collet_error *err)
{
    char name[FILE_NAME];
    const char *place = config_cache_directory(b->runtime->config);
    int directory = cache_directory_open(place, 1);
    if (directory < 0)
        return collet_fail(err, COLLET_IO,
                           "the calibration of %s cannot be kept: %s%s (settings cache and "
                           "cache_dir)",
                           b->plugin->name, place,
                           *place ? " is not a directory that only this user can access"
                                  : "there is no directory of the cache");
    file_name(b, name);
    int failed = text ? cache_file_replace(directory, name, text)
                      : cache_file_try(directory, name, USUAL_FILE);
    if (text)
        cache_directory_prune(directory, "calibration-", MAX_FILES, name);
    close(directory);
    if (failed)
        return collet_fail(err, COLLET_IO, "cannot write %s/%s: %s", place, name, strerror(failed));
    if (capacity)
        snprintf(path, capacity, "%s/%s", place, name);
    return COLLET_OK;
}

collet_status collet_calibration_write(const collet_runtime *r, char *path, size_t capacity,
                                       const char *name, const char *text, collet_error *err)
{
    PROGRAM_CALL(COLLET_INVALID, err, r);
    COLLET_FLOATING_SCOPE;
    const backend *b = NULL;
    calibration *c = NULL;
    collet_status status = runtime_query(r, name && (path || !capacity) ? name : NULL,
                                         "collet_calibration_write", err);
    if (status == COLLET_OK)
        status = find(r, name, &b, err);
    if (status == COLLET_OK && text && strlen(text) > MAX_FILE)
        status =
            collet_fail(err, COLLET_FORMAT, "the calibration is larger than %zu bytes", MAX_FILE);
    if (status == COLLET_OK && text)
        status = parse(r, text, strlen(text), &c, err);
    calibration_free(c);
    return status == COLLET_OK ? store(b, path, capacity, text, err) : status;
}

/* ---- Comparing --------------------------------------------------------------------------- */

double calibration_seconds(const device *d, uint32_t id, collet_dtype dtype, double work)
{
    const calibration *c = calibration_of(d);
    uint32_t at = c && id < OP_BUILTIN_MAX ? c->of[id][calibration_dtype(dtype)] : 0;
    if (!at)
        return NAN;
    uint64_t whole = work < 1 ? 1 : work < 0x1p46 ? (uint64_t)work : UINT64_C(1) << 46;
    int power = 63 - __builtin_clzll(whole);
    const float *seconds = c->seconds[at - 1];
    double share = work / (double)(UINT64_C(1) << power) - 1;
    return seconds[power] + (seconds[power + 1] - seconds[power]) * (share > 0 ? share : 0);
}

static int has_kernel(const backend *b, const char *name)
{
    const manifest *m = &b->plugin->manifest;
    for (size_t i = 0; i < m->kernel_count; i++)
        if (!strcmp(m->kernels[i], name))
            return 1;
    return 0;
}

/* For a device with its own memory the time also depends on the place of the operands, so another device may be
 * better for any work. */
static uint8_t find_crossover(const collet_runtime *r, const op *o, int dtype)
{
    const calibration *first = NULL;
    const float *times = NULL;
    uint8_t from = CALIBRATION_NEVER;
    for (size_t i = 0; i < r->backend_count; i++) {
        const backend *b = &r->backends[i];
        const calibration *c = b->calibration;
        uint32_t at = c ? c->of[o->id][dtype] : 0;
        if (!first && !at && b->device_count && has_kernel(b, o->name))
            return CALIBRATION_NEVER; /* the first backend was not measured */
        if (at && !first) {
            first = c;
            times = c->seconds[at - 1];
        } else if (at && first->to_host > 0) {
            return 0;
        } else if (at) {
            for (uint8_t power = 0; power < CALIBRATION_POWERS && power < from; power++)
                if (c->seconds[at - 1][power] < (float)FASTER * times[power])
                    from = power;
        }
    }
    return from;
}

collet_status calibration_compare(collet_runtime *r, collet_error *err)
{
    size_t measured = 0;
    for (size_t i = 0; i < r->backend_count; i++)
        measured += r->backends[i].calibration != NULL;
    if (measured < 2)
        return COLLET_OK;
    r->crossovers = malloc(OP_BUILTIN_MAX * sizeof *r->crossovers);
    if (!r->crossovers)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for the calibrations");
    memset(r->crossovers, CALIBRATION_NEVER, OP_BUILTIN_MAX * sizeof *r->crossovers);
    for (size_t i = 0; i < r->ops.count; i++) {
        const op *o = &r->ops.ops[i];
        crossover *c = &r->crossovers[o->id];
        for (int dtype = 0; dtype < CALIBRATION_DTYPES; dtype++) {
            c->from[dtype] = find_crossover(r, o, dtype);
            c->elements = c->from[dtype] < c->elements ? c->from[dtype] : c->elements;
        }
        /* The work of matmul is the square root of the product of its operands' sizes. */
        if (o->id == COLLET_OP_MATMUL && c->elements != CALIBRATION_NEVER)
            c->elements = (uint8_t)(2 * c->elements / 3);
    }
    return COLLET_OK;
}
