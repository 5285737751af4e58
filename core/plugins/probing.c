/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/fault/test_safe_mode.c */
#include "probing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <collet/collet.h>

#include "capabilities.h"
#include "elf_note.h"
#include "probe_cache.h"
#include "trust.h"
#include "util/json.h"

static collet_status no_memory(collet_error *err)
{
    return collet_fail(err, COLLET_NO_MEMORY, "out of memory while plugins were probed");
}

void probing_clear(probing *p)
{
    free(p->death_code);
    free(p->death_reason);
    free(p->settings);
    probe_report_clear(&p->report);
}

/* ---- The cache --------------------------------------------------------------------------- */

static probe_cache_key key_of(const loader_options *o, const char *program, const probing *p)
{
    return (probe_cache_key){.directory = o->cache_directory ? o->cache_directory : "",
                             .path = p->path,
                             .program = program,
                             .file = p->file,
                             .manifest = p->manifest,
                             .settings = o->settings,
                             .threads = o->host->threads(o->host)};
}

/* ---- One round of probes ------------------------------------------------------------------- */

static collet_status run_pending(const loader_options *o, const char *program, probing *list,
                                 size_t count, collet_error *err)
{
    probe_request requests[PROBE_MAX_AT_ONCE] = {{.program = NULL}};
    probe_report reports[PROBE_MAX_AT_ONCE] = {{.code = NULL}};
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (list[i].pending)
            requests[n++] = (probe_request){
                .program = program,
                .path = list[i].path,
                .settings = list[i].settings ? list[i].settings : o->settings,
                .threads = o->host->threads(o->host),
                .timeout_ms = o->timeout_ms > 0 ? o->timeout_ms : LOADER_TIMEOUT_MS,
            };
    }
    collet_status status = probe_run(requests, reports, n, err);
    n = 0;
    for (size_t i = 0; i < count; i++) {
        if (list[i].pending)
            list[i].report = reports[n++];
        list[i].pending = 0;
    }
    return status;
}

/* ---- Safe mode ----------------------------------------------------------------------------- */

static int is_set(const char *const *settings, const char *key)
{
    size_t length = strlen(key);
    int set = 0;
    for (size_t i = 0; settings && settings[i]; i++)
        if (!strncmp(settings[i], key, length) && settings[i][length] == '=')
            set = settings[i][length + 1] != '\0';
    return set;
}

static int needs_safe_mode(const loader_options *o, const probing *p)
{
    char key[COLLET_MAX_NAME + sizeof "." PROBING_SAFE_MODE];
    snprintf(key, sizeof key, "%s." PROBING_SAFE_MODE, p->manifest->name);
    return !p->cached && p->report.code && probe_died(p->report.code) &&
           manifest_setting(p->manifest, key) && !is_set(o->settings, key);
}

/* Makes the settings for safe mode, in one allocation: the options' settings, then safe_mode. */
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

/* Adds the choice "safe_mode" to the capabilities. */
static collet_status add_choice(probing *p, collet_error *err)
{
    char text[COLLET_ERROR_TEXT + 32], *printed = NULL;
    cJSON *root = json_read(p->report.capabilities);
    cJSON *choices = cJSON_GetObjectItemCaseSensitive(root, "choices");
    if (root && !choices)
        choices = cJSON_AddObjectToObject(root, "choices");
    cJSON_DeleteItemFromObjectCaseSensitive(choices, PROBING_SAFE_MODE);
    snprintf(text, sizeof text, "the probe %s", p->death_reason);
    if (choices && cJSON_AddStringToObject(choices, PROBING_SAFE_MODE, text))
        printed = json_print(root);
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

/* Sets a probe that died to pending again, in safe mode. */
static collet_status prepare_repetition(const loader_options *o, probing *p, collet_error *err)
{
    if (!needs_safe_mode(o, p))
        return COLLET_OK;
    p->death_code = p->report.code;
    p->death_reason = p->report.reason;
    p->report.code = p->report.reason = NULL;
    probe_report_clear(&p->report);
    p->settings = safe_settings(o, p);
    p->pending = p->settings != NULL;
    return p->settings ? COLLET_OK : no_memory(err);
}

/* Gives a probe that succeeded in safe mode the reason "in safe mode: ...". */
static collet_status explain(probing *p, collet_error *err)
{
    char text[COLLET_ERROR_TEXT + 32];
    cJSON *root = p->report.capabilities ? json_read(p->report.capabilities) : NULL;
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

/* ---- The program ------------------------------------------------------------------------- */

static collet_status name_program(const loader_options *o, char **program, collet_error *err)
{
    *program = NULL;
    if (o->probe_program) {
        *program = strdup(o->probe_program);
        return *program ? COLLET_OK : no_memory(err);
    }
    char *directory = file_core_directory();
    collet_status status = COLLET_OK;
    if (directory && asprintf(program, "%s/collet/collet-probe", directory) < 0) {
        *program = NULL;
        status = no_memory(err);
    }
    free(directory);
    return status;
}

collet_status probing_find_program(const loader_options *o, char **program, collet_error *err)
{
    int fd = -1;
    refusal why;
    collet_status status = name_program(o, program, err);
    if (status != COLLET_OK || !*program)
        return status;
    status = trust_open(*program, loader_trusted(o), &fd, &why);
    if (fd >= 0 && elf_note_is_foreign(fd, &why))
        status = COLLET_FORMAT;
    if (fd >= 0)
        close(fd);
    if (status == COLLET_OK || status == COLLET_IO)
        return COLLET_OK;
    if (status != COLLET_NO_MEMORY)
        o->host->log(o->host, COLLET_LOG_WARNING, "%s is not run: %s", *program, why.text);
    free(*program);
    *program = NULL;
    return status == COLLET_NO_MEMORY ? no_memory(err) : COLLET_OK;
}

/* ---- All plugins --------------------------------------------------------------------------- */

static collet_status start(const loader_options *o, const char *program, probing *p,
                           collet_error *err)
{
    probe_cache_key key = key_of(o, program, p);
    p->cached = probe_cache_get(&key, &p->report);
    p->pending = !p->cached && program;
    return p->cached || program
               ? COLLET_OK
               : probe_report_set(
                     &p->report, "probe-unavailable",
                     "collet-probe is not found, not trusted or built for another processor", NULL,
                     1, err);
}

static collet_status conclude(const loader_options *o, const char *program, probing *p,
                              collet_error *err)
{
    probe_cache_key key = key_of(o, program, p);
    collet_status status = p->death_code && p->report.capabilities ? add_choice(p, err) : COLLET_OK;
    /* Reports after a hang are not cached, because the machine may only have been busy. But if the
     * address space is limited, a library that cannot map enough memory may hang in every probe. In that case the
     * report is cached for a day. */
    int hung = p->death_code && !strncmp(p->death_code, "hang-in-", 8);
    if (status == COLLET_OK && !p->cached && (!hung || probe_memory_is_limited()))
        probe_cache_put(&key, &p->report, hung);
    return status == COLLET_OK ? explain(p, err) : status;
}

/* Probes at most PROBE_MAX_AT_ONCE plugins. */
static collet_status run_some(const loader_options *o, const char *program, probing *list,
                              size_t count, collet_error *err)
{
    collet_status status = COLLET_OK;
    for (size_t i = 0; i < count && status == COLLET_OK; i++)
        status = start(o, program, &list[i], err);
    if (status == COLLET_OK)
        status = run_pending(o, program, list, count, err);
    for (size_t i = 0; i < count && status == COLLET_OK; i++)
        status = prepare_repetition(o, &list[i], err);
    if (status == COLLET_OK)
        status = run_pending(o, program, list, count, err);
    for (size_t i = 0; i < count && status == COLLET_OK; i++)
        status = conclude(o, program, &list[i], err);
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
