/* SPDX-License-Identifier: Apache-2.0 */
#include "probing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <collet/collet.h>

#include "capabilities.h"
#include "probe_cache.h"
#include "util/json.h"

static collet_status no_memory(collet_error *err)
{
    return collet_fail(err, COLLET_NO_MEMORY, "out of memory while plugins were probed");
}

void probing_clear(probing *p)
{
    free(p->death_code);
    free(p->death_reason);
    probe_report_clear(&p->report);
    p->death_code = p->death_reason = NULL;
}

/* ---- The cache --------------------------------------------------------------------------- */

static probe_cache_key key_of(const loader_options *o, const char *program, const probing *p)
{
    return (probe_cache_key){.directory = o->cache_directory,
                             .path = p->path,
                             .program = program,
                             .file = p->file,
                             .manifest = p->manifest,
                             .settings = o->settings,
                             .threads = o->host->threads(o->host)};
}

static int has_cache(const loader_options *o)
{
    return o->cache_directory && o->cache_directory[0];
}

static void look_up(const loader_options *o, const char *program, probing *p)
{
    probe_cache_key key = key_of(o, program, p);
    p->cached = has_cache(o) && probe_cache_get(&key, &p->report);
}

static void remember(const loader_options *o, const char *program, const probing *p)
{
    probe_cache_key key = key_of(o, program, p);
    int hung = p->death_code && !strncmp(p->death_code, "hang-in-", 8);
    if (has_cache(o) && !p->cached && !hung)
        probe_cache_put(&key, &p->report);
}

/* ---- One round of probes ------------------------------------------------------------------- */

/* Probes each entry i with chosen[i]; settings[i] NULL: the settings of the options. */
static collet_status run_chosen(const loader_options *o, const char *program, probing *list,
                                const int *chosen, const char **const *settings, size_t count,
                                collet_error *err)
{
    probe_request requests[PROBE_MAX_AT_ONCE] = {{.program = NULL}};
    probe_report reports[PROBE_MAX_AT_ONCE] = {{.code = NULL}};
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (chosen[i])
            requests[n++] = (probe_request){
                .program = program,
                .path = list[i].path,
                .settings = settings[i] ? settings[i] : o->settings,
                .threads = o->host->threads(o->host),
                .timeout_ms = o->timeout_ms > 0 ? o->timeout_ms : LOADER_TIMEOUT_MS,
            };
    }
    if (n == 0)
        return COLLET_OK;
    collet_status status = probe_run(requests, reports, n, err);
    n = 0;
    for (size_t i = 0; i < count; i++)
        if (chosen[i])
            list[i].report = reports[n++];
    return status;
}

/* ---- Safe mode ----------------------------------------------------------------------------- */

static int is_set(const char *const *settings, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; settings && settings[i]; i++)
        if (!strncmp(settings[i], name, length) && settings[i][length] == '.' &&
            !strncmp(settings[i] + length + 1, PROBING_SAFE_MODE "=", sizeof PROBING_SAFE_MODE))
            return 1;
    return 0;
}

static int needs_safe_mode(const loader_options *o, const probing *p)
{
    return !p->cached && p->report.code && probe_died(p->report.code) && p->manifest->safe_mode &&
           !is_set(o->settings, p->manifest->name);
}

/* The settings of the options, then the one of safe mode: one allocation. */
static const char **safe_settings(const loader_options *o, const probing *p)
{
    size_t count = 0;
    while (o->settings && o->settings[count])
        count++;
    size_t text = strlen(p->manifest->name) + sizeof PROBING_SAFE_MODE + strlen(p->death_reason) +
                  sizeof ".=the probe ";
    const char **settings = malloc((count + 2) * sizeof *settings + text);
    if (!settings)
        return NULL;
    char *own = (char *)(settings + count + 2);
    for (size_t i = 0; i < count; i++)
        settings[i] = o->settings[i];
    snprintf(own, text, "%s." PROBING_SAFE_MODE "=the probe %s", p->manifest->name,
             p->death_reason);
    settings[count] = own;
    settings[count + 1] = NULL;
    return settings;
}

/* Adds the choice to the capabilities. */
static collet_status add_choice(probing *p, collet_error *err)
{
    char text[COLLET_ERROR_TEXT + 32], *printed = NULL;
    cJSON *root = cJSON_Parse(p->report.capabilities);
    cJSON *choices = cJSON_GetObjectItemCaseSensitive(root, "choices");
    if (root && !choices)
        choices = cJSON_AddObjectToObject(root, "choices");
    cJSON_DeleteItemFromObjectCaseSensitive(choices, PROBING_SAFE_MODE);
    snprintf(text, sizeof text, "the probe %s", p->death_reason);
    if (choices && cJSON_AddStringToObject(choices, PROBING_SAFE_MODE, text))
        printed = cJSON_PrintUnformatted(root);
    cJSON_Delete(root);
    if (!printed)
        return no_memory(err);
    if (strlen(printed) > CAPABILITIES_MAX_BYTES) {
        free(printed);
        return COLLET_OK;
    }
    free(p->report.capabilities);
    p->report.capabilities = printed;
    return COLLET_OK;
}

static collet_status repeat_safely(const loader_options *o, const char *program, probing *list,
                                   size_t count, collet_error *err)
{
    const char **settings[PROBE_MAX_AT_ONCE] = {NULL};
    int chosen[PROBE_MAX_AT_ONCE] = {0}, any = 0;
    collet_status status = COLLET_OK;
    for (size_t i = 0; i < count && status == COLLET_OK; i++) {
        probing *p = &list[i];
        chosen[i] = needs_safe_mode(o, p);
        any |= chosen[i];
        if (!chosen[i])
            continue;
        p->death_code = p->report.code;
        p->death_reason = p->report.reason;
        p->report.code = p->report.reason = NULL;
        probe_report_clear(&p->report);
        settings[i] = safe_settings(o, p);
        status = settings[i] ? COLLET_OK : no_memory(err);
    }
    if (status == COLLET_OK && any)
        status = run_chosen(o, program, list, chosen, settings, count, err);
    for (size_t i = 0; i < count; i++) {
        if (status == COLLET_OK && chosen[i] && list[i].report.capabilities)
            status = add_choice(&list[i], err);
        free(settings[i]);
    }
    return status;
}

/* A probe that succeeded in safe mode gets the reason "in safe mode: ...". */
static collet_status explain(probing *p, collet_error *err)
{
    char text[COLLET_ERROR_TEXT + 32];
    cJSON *root = p->report.capabilities ? cJSON_Parse(p->report.capabilities) : NULL;
    const cJSON *choices = cJSON_GetObjectItemCaseSensitive(root, "choices");
    const char *why = json_string(choices, PROBING_SAFE_MODE);
    int fine = 1;
    if (why) {
        snprintf(text, sizeof text, "in safe mode: %s", why);
        free(p->report.reason);
        p->report.reason = strdup(text);
        fine = p->report.reason != NULL;
    }
    cJSON_Delete(root);
    return fine ? COLLET_OK : no_memory(err);
}

/* ---- All of them --------------------------------------------------------------------------- */

/* At most PROBE_MAX_AT_ONCE. */
static collet_status run_some(const loader_options *o, const char *program, probing *list,
                              size_t count, collet_error *err)
{
    const char **none[PROBE_MAX_AT_ONCE] = {NULL};
    int chosen[PROBE_MAX_AT_ONCE];
    collet_status status = COLLET_OK;
    for (size_t i = 0; i < count; i++) {
        look_up(o, program, &list[i]);
        chosen[i] = !list[i].cached && program;
        if (!list[i].cached && !program && status == COLLET_OK)
            status = probe_report_set(&list[i].report, "probe-unavailable",
                                      "it is not known where libcore and collet-probe are", NULL, 1,
                                      err);
    }
    if (status == COLLET_OK)
        status = run_chosen(o, program, list, chosen, none, count, err);
    if (status == COLLET_OK)
        status = repeat_safely(o, program, list, count, err);
    for (size_t i = 0; i < count && status == COLLET_OK; i++) {
        remember(o, program, &list[i]);
        status = explain(&list[i], err);
    }
    return status;
}

collet_status probing_run(const loader_options *options, const char *program, probing *list,
                          size_t count, collet_error *err)
{
    collet_status status = COLLET_OK;
    for (size_t first = 0; first < count && status == COLLET_OK; first += PROBE_MAX_AT_ONCE) {
        size_t some = count - first;
        some = some < PROBE_MAX_AT_ONCE ? some : PROBE_MAX_AT_ONCE;
        status = run_some(options, program, list + first, some, err);
    }
    return status;
}
