/* SPDX-License-Identifier: Apache-2.0 */
#include "loader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <collet/collet.h>

#include "open.h"
#include "probe.h"
#include "probe_cache.h"
#include "search.h"

/* One walk. */
typedef struct scan {
    const loader_options *options;
    record_list *records;
    char *probe_program; /* NULL: not known where */
    loader_plugin *plugins;
    size_t count;
    int warned; /* that probes cannot be run: once is enough */
    collet_error *err;
} scan;

static collet_status no_memory(collet_error *err)
{
    return collet_fail(err, COLLET_NO_MEMORY, "out of memory while plugins were searched");
}

/* ---- A plugin's entry -------------------------------------------------------------------- */

static void plugin_clear(loader_plugin *p)
{
    manifest_clear(&p->manifest);
    free(p->path);
    free(p->name);
    free(p->code);
    free(p->reason);
    free(p->capabilities);
    *p = (loader_plugin){.path = NULL};
}

void loader_plugins_free(loader_plugin *plugins, size_t count)
{
    for (size_t i = 0; i < count; i++)
        plugin_clear(&plugins[i]);
    free(plugins);
}

/* "dir/name.so.1" is "name". */
static char *stem(const char *path)
{
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    const char *end = strstr(base, ".so");
    return strndup(base, end && end != base ? (size_t)(end - base) : strlen(base));
}

static collet_status plugin_start(loader_plugin *p, const char *path, collet_error *err)
{
    *p = (loader_plugin){.path = strdup(path), .name = stem(path)};
    manifest_init(&p->manifest);
    return p->path && p->name ? COLLET_OK : no_memory(err);
}

static int set_text(char **target, const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        return 0;
    free(*target);
    *target = copy;
    return 1;
}

/* ---- Steps ------------------------------------------------------------------------------- */

static collet_status note(record_list *records, const loader_plugin *p, int accepted,
                          const char *stage, double start, collet_error *err)
{
    record_entry entry = {.accepted = accepted,
                          .path = p->path,
                          .stage = stage,
                          .code = p->code,
                          .reason = p->reason,
                          .milliseconds = record_clock() - start};
    return record_add(records, &entry, err);
}

/* Ends a step: sets the plugin's state and appends the record. `reason` NULL or "" is none. */
static collet_status step_end(scan *s, loader_plugin *p, const char *stage, double start,
                              int accepted, const char *code, const char *reason)
{
    if (!set_text(&p->code, code) || !set_text(&p->reason, reason ? reason : ""))
        return no_memory(s->err);
    p->usable = accepted;
    const collet_host *host = s->options->host;
    host->log(host, accepted ? COLLET_LOG_DEBUG : COLLET_LOG_INFO, "plugin %s: %s: %s%s%s", p->path,
              stage, code, p->reason[0] ? ": " : "", p->reason);
    return note(s->records, p, accepted, stage, start, s->err);
}

/* Whether a word stands in a list separated by commas and blanks. */
static int list_has(const char *list, const char *word)
{
    size_t length = strlen(word);
    while (list && *list) {
        list += strspn(list, ", \t");
        size_t n = strcspn(list, ", \t");
        if (n == length && !memcmp(list, word, n))
            return 1;
        list += n;
    }
    return 0;
}

static collet_status policy_step(scan *s, loader_plugin *p, int *fd)
{
    double start = record_clock();
    const char *code = "ok";
    collet_error why;
    if (list_has(s->options->deny, p->name))
        return step_end(s, p, "policy", start, 0, "denied",
                        "switched off by name in the configuration");
    collet_status status = file_open_trusted(p->path, fd, &code, &why);
    if (status == COLLET_NO_MEMORY)
        return no_memory(s->err);
    return step_end(s, p, "policy", start, status == COLLET_OK, code,
                    status == COLLET_OK ? "" : why.text);
}

static collet_status manifest_step(scan *s, loader_plugin *p, int fd)
{
    double start = record_clock();
    const char *code = "ok";
    collet_error why;
    file_identify(fd, &p->file);
    collet_status status = manifest_read(fd, &p->manifest, &code, &why);
    if (status == COLLET_NO_MEMORY ||
        (p->manifest.name[0] && !set_text(&p->name, p->manifest.name)))
        return no_memory(s->err);
    int fine = status == COLLET_OK;
    status = step_end(s, p, "manifest", start, fine, code, fine ? "" : why.text);
    if (status == COLLET_OK && fine && list_has(s->options->deny, p->name))
        status = step_end(s, p, "policy", start, 0, "denied",
                          "switched off by name in the configuration");
    return status;
}

/* ---- Probe ------------------------------------------------------------------------------- */

static collet_status ask_probe(scan *s, const loader_plugin *p, probe_answer *answer)
{
    const loader_options *o = s->options;
    if (!s->probe_program)
        return probe_answer_set(answer, "probe-unavailable",
                                "it is not known where libcore and collet-probe are", NULL, 1,
                                s->err);
    probe_request request = {
        .program = s->probe_program,
        .path = p->path,
        .settings = o->settings,
        .threads = o->host->threads(o->host),
        .timeout_ms = o->timeout_ms > 0 ? o->timeout_ms : LOADER_TIMEOUT_MS,
    };
    collet_status status = probe_run(&request, answer, s->err);
    if (status == COLLET_OK && !s->warned && !strcmp(answer->code, "probe-unavailable")) {
        o->host->log(o->host, COLLET_LOG_WARNING,
                     "plugins are not tried before they are loaded: %s", answer->reason);
        s->warned = 1;
    }
    return status;
}

/* A file that was replaced meanwhile was not what the manifest and the probe spoke of. */
static collet_status use_answer(scan *s, loader_plugin *p, double start, probe_answer *answer)
{
    file_identity now;
    if (file_identify_path(p->path, &now) || !file_identity_equal(&now, &p->file))
        return step_end(s, p, "probe", start, 0, "changed", "the file changed while it was tried");
    int fine = !strcmp(answer->code, "ok");
    collet_status status =
        step_end(s, p, "probe", start, fine || answer->unproven, answer->code, answer->reason);
    p->unproven = answer->unproven;
    p->capabilities = answer->capabilities;
    answer->capabilities = NULL;
    return status;
}

static collet_status probe_step(scan *s, loader_plugin *p)
{
    const loader_options *o = s->options;
    double start = record_clock();
    if (!o->probe) {
        p->unproven = 1;
        return step_end(s, p, "probe", start, 1, "not-probed", "probing is switched off");
    }
    probe_answer answer = {.code = NULL};
    probe_cache_key key = {
        .directory = o->cache_directory,
        .path = p->path,
        .program = s->probe_program,
        .file = &p->file,
        .manifest = &p->manifest,
        .settings = o->settings,
        .threads = o->host->threads(o->host),
    };
    int use_cache = o->cache_directory && o->cache_directory[0];
    collet_status status = COLLET_OK;
    if (!use_cache || !probe_cache_get(&key, &answer)) {
        status = ask_probe(s, p, &answer);
        if (status == COLLET_OK && use_cache)
            probe_cache_put(&key, &answer);
    }
    if (status == COLLET_OK)
        status = use_answer(s, p, start, &answer);
    probe_answer_clear(&answer);
    return status;
}

/* ---- One file after the other ------------------------------------------------------------ */

static loader_plugin *find_name(const scan *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (!strcmp(s->plugins[i].name, name))
            return &s->plugins[i];
    return NULL;
}

/* A plugin whose name is taken by one that can be used is not even tried. */
static collet_status register_step(scan *s, loader_plugin *p, double start)
{
    char reason[4200];
    const loader_plugin *first = find_name(s, p->name);
    if (!first || !first->usable)
        return COLLET_OK;
    snprintf(reason, sizeof reason, "the backend %s is already found in %s", p->name, first->path);
    return step_end(s, p, "register", start, 0, "duplicate-name", reason);
}

static collet_status examine(scan *s, loader_plugin *p)
{
    int fd = -1;
    double start = record_clock();
    collet_status status = policy_step(s, p, &fd);
    if (status == COLLET_OK && p->usable)
        status = manifest_step(s, p, fd);
    if (fd >= 0)
        close(fd);
    if (status == COLLET_OK && p->usable)
        status = register_step(s, p, start);
    if (status == COLLET_OK && p->usable)
        status = probe_step(s, p);
    return status;
}

/* A file that could not be asked for by name, or that nobody meant as a plugin, is only a record.
 */
static int is_listed(const loader_plugin *p)
{
    return manifest_name_valid(p->name) && strcmp(p->code, "no-manifest") != 0;
}

/* Takes *p over. Names stay unique: the first usable plugin, else the first. */
static collet_status keep(scan *s, loader_plugin *p)
{
    loader_plugin *first = find_name(s, p->name);
    if (!is_listed(p) || (first && (first->usable || !p->usable))) {
        plugin_clear(p);
        return COLLET_OK;
    }
    if (first) {
        plugin_clear(first);
        memmove(first, first + 1, (size_t)(s->plugins + s->count - (first + 1)) * sizeof *first);
        s->count--;
    }
    loader_plugin *grown = realloc(s->plugins, (s->count + 1) * sizeof *grown);
    if (!grown) {
        plugin_clear(p);
        return no_memory(s->err);
    }
    s->plugins = grown;
    s->plugins[s->count++] = *p;
    return COLLET_OK;
}

static collet_status find_probe_program(scan *s)
{
    if (s->options->probe_program) {
        s->probe_program = strdup(s->options->probe_program);
        return s->probe_program ? COLLET_OK : no_memory(s->err);
    }
    char *directory = file_core_directory();
    collet_status status = COLLET_OK;
    if (directory && asprintf(&s->probe_program, "%s/collet/collet-probe", directory) < 0) {
        s->probe_program = NULL;
        status = no_memory(s->err);
    }
    free(directory);
    return status;
}

collet_status loader_scan(const loader_options *options, record_list *records,
                          loader_plugin **plugins, size_t *count, collet_error *err)
{
    scan s = {.options = options, .records = records, .err = err};
    search_result found = {.files = NULL};
    if (!options->host || !options->host->log || !options->host->threads)
        return collet_fail(err, COLLET_INVALID, "the loader needs a host with log and threads");
    collet_status status = find_probe_program(&s);
    if (status == COLLET_OK)
        status = search_files(options, records, &found, err);
    for (size_t i = 0; status == COLLET_OK && i < found.count; i++) {
        loader_plugin p;
        status = plugin_start(&p, found.files[i], err);
        if (status == COLLET_OK)
            status = examine(&s, &p);
        if (status == COLLET_OK)
            status = keep(&s, &p);
        else
            plugin_clear(&p);
    }
    search_clear(&found);
    free(s.probe_program);
    if (status != COLLET_OK) {
        loader_plugins_free(s.plugins, s.count);
        return status;
    }
    *plugins = s.plugins;
    *count = s.count;
    return COLLET_OK;
}

/* ---- Open -------------------------------------------------------------------------------- */

static collet_status open_unchanged(const loader_plugin *plugin, const collet_host *host,
                                    const collet_plugin **vtable, const char **code,
                                    collet_error *err)
{
    file_identity now;
    if (file_identify_path(plugin->path, &now) || !file_identity_equal(&now, &plugin->file)) {
        *code = "changed";
        return collet_fail(err, COLLET_UNAVAILABLE,
                           "the file changed since it was found: start the program again");
    }
    return open_plugin(plugin->path, &plugin->manifest, host, NULL, vtable, code, err);
}

collet_status loader_open(const loader_plugin *plugin, const collet_host *host,
                          record_list *records, const collet_plugin **vtable, collet_error *err)
{
    double start = record_clock();
    const char *code = "ok";
    collet_error why = {.status = COLLET_OK, .text = ""};
    if (!plugin->usable)
        return collet_fail(err, COLLET_UNAVAILABLE, "%s: %s (%s)", plugin->path, plugin->reason,
                           plugin->code);
    collet_status status = open_unchanged(plugin, host, vtable, &code, &why);
    record_entry entry = {.accepted = status == COLLET_OK,
                          .path = plugin->path,
                          .stage = "open",
                          .code = code,
                          .reason = status == COLLET_OK ? "" : why.text,
                          .milliseconds = record_clock() - start};
    collet_status recorded = record_add(records, &entry, err);
    if (status == COLLET_OK)
        return recorded;
    if (status != COLLET_ABI && status != COLLET_NO_MEMORY)
        status = COLLET_UNAVAILABLE;
    return collet_fail(err, status, "%s: %s", plugin->path, why.text);
}
