/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/fault/test_loader.c, tests/fault/test_loader_search.c */
#include "loader.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <collet/collet.h>

#include "open.h"
#include "probing.h"
#include "search.h"
#include "trust.h"
#include "util/text.h"

/* A file that was found. */
typedef struct candidate {
    loader_plugin plugin;
    int settled;   /* 1: all steps are done */
    int warned_of; /* 1: refused for place, owner or permissions, or because it cannot be loaded */
} candidate;

/* One search. */
typedef struct scan {
    const loader_options *options;
    record_list *records;
    char *probe_program; /* NULL: unknown */
    candidate *candidates;
    size_t candidate_count;
    loader_plugin *plugins;
    size_t count;
    int warned; /* 1: the warning that probes cannot be run was logged */
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

/* The name of a plugin, from the name of its file: "name" for "dir/name.so.1". */
static char *stem(const char *path)
{
    const char *base = strrchr(path, '/') + 1;
    const char *end = strstr(base, ".so");
    return strndup(base, end && end != base ? (size_t)(end - base) : strlen(base));
}

static collet_status candidate_start(candidate *c, const char *path, collet_error *err)
{
    c->plugin = (loader_plugin){.path = strdup(path), .name = stem(path)};
    manifest_init(&c->plugin.manifest);
    return c->plugin.path && c->plugin.name ? COLLET_OK : no_memory(err);
}

static void candidates_free(scan *s)
{
    for (size_t i = 0; i < s->candidate_count; i++)
        plugin_clear(&s->candidates[i].plugin);
    free(s->candidates);
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

static collet_status note(record_list *records, const char *path, int accepted, const char *stage,
                          double start, const char *code, const char *reason, collet_error *err)
{
    collet_plugin_record entry = {sizeof entry,          accepted, path, stage, code, reason,
                                  record_clock() - start};
    return record_add(records, &entry, err);
}

/* Ends a step: sets the plugin's state and appends the record. */
static collet_status step_done(scan *s, candidate *c, const char *stage, double start, int accepted,
                               const char *code, const char *reason)
{
    loader_plugin *p = &c->plugin;
    if (!set_text(&p->code, code) || !set_text(&p->reason, reason))
        return no_memory(s->err);
    p->usable = accepted;
    const collet_host *host = s->options->host;
    host->log(host, accepted || c->warned_of ? COLLET_LOG_DEBUG : COLLET_LOG_INFO,
              "plugin %s: %s: %s%s%s", p->path, stage, code, p->reason[0] ? ": " : "", p->reason);
    return note(s->records, p->path, accepted, stage, start, code, p->reason, s->err);
}

/* Ends a step with the result of a check: the plugin is accepted if the code is "ok". */
static collet_status step_end(scan *s, candidate *c, const char *stage, double start,
                              const refusal *why)
{
    int accepted = !strcmp(why->code, "ok");
    return step_done(s, c, stage, start, accepted, why->code, accepted ? "" : why->text);
}

static collet_status policy_step(scan *s, candidate *c, int *fd)
{
    const loader_plugin *p = &c->plugin;
    double start = record_clock();
    refusal why;
    if (text_list_has(s->options->deny, p->name))
        return step_done(s, c, "policy", start, 0, "denied",
                         "switched off by name in the configuration");
    collet_status status = trust_open(p->path, loader_trusted(s->options), fd, &why);
    if (status == COLLET_OK)
        status = open_allowed(p->path, *fd, &why);
    c->warned_of = status != COLLET_OK;
    return status == COLLET_NO_MEMORY ? no_memory(s->err) : step_end(s, c, "policy", start, &why);
}

/* With raised privileges: the first variable that the backend's libraries read; else NULL. */
static const char *foreign_variable(const manifest *m)
{
    for (size_t i = 0; getauxval(AT_SECURE) && i < m->depends_count; i++)
        if (m->depends[i][0] != '/')
            return m->depends[i];
    return NULL;
}

/* Refuses plugins that are denied by name and, with raised privileges, plugins whose libraries read
 * variables of the environment. */
static collet_status manifest_policy(scan *s, candidate *c)
{
    char reason[COLLET_ERROR_TEXT];
    const char *variable = foreign_variable(&c->plugin.manifest);
    if (text_list_has(s->options->deny, c->plugin.name))
        return step_done(s, c, "policy", record_clock(), 0, "denied",
                         "switched off by name in the configuration");
    if (!variable)
        return COLLET_OK;
    snprintf(reason, sizeof reason,
             "this program runs with raised privileges (set-uid or capabilities), and the "
             "backend's libraries obey environment variables of the caller (%.64s)",
             variable);
    return step_done(s, c, "policy", record_clock(), 0, "raised-privileges", reason);
}

static collet_status manifest_step(scan *s, candidate *c, int fd)
{
    loader_plugin *p = &c->plugin;
    double start = record_clock();
    refusal why;
    file_identify(fd, &p->file);
    collet_status status = manifest_read(fd, &p->manifest, &why);
    if (status == COLLET_NO_MEMORY ||
        (p->manifest.name[0] && !set_text(&p->name, p->manifest.name)))
        return no_memory(s->err);
    status = step_end(s, c, "manifest", start, &why);
    return status == COLLET_OK && p->usable ? manifest_policy(s, c) : status;
}

/* ---- Probe ------------------------------------------------------------------------------- */

static void warn(scan *s, const candidate *c, const probing *p)
{
    const collet_host *host = s->options->host;
    if (!s->warned && !strcmp(p->report.code, "probe-unavailable")) {
        host->log(host, COLLET_LOG_WARNING, "plugins are not probed before they are loaded: %s",
                  p->report.reason);
        s->warned = 1;
    }
    if (p->death_code && p->report.capabilities)
        host->log(host, COLLET_LOG_WARNING, "%s is used, but %s", c->plugin.name, p->report.reason);
}

/* Refuses a file that was replaced after its manifest was read. */
static collet_status use_report(scan *s, candidate *c, probing *p)
{
    file_identity now;
    probe_report *report = &p->report;
    double start = record_clock() - report->milliseconds;
    collet_status status = COLLET_OK;
    warn(s, c, p);
    if (p->death_code)
        status = step_done(s, c, "probe", start, 0, p->death_code, p->death_reason);
    if (status != COLLET_OK)
        return status;
    if (file_identify_path(p->path, &now) || !file_identity_equal(&now, p->file))
        return step_done(s, c, "probe", start, 0, "changed",
                         "the file changed while it was probed");
    int fine = !strcmp(report->code, "ok");
    status =
        step_done(s, c, "probe", start, fine || report->unproven, report->code, report->reason);
    c->plugin.unproven = report->unproven;
    c->plugin.capabilities = report->capabilities;
    report->capabilities = NULL;
    return status;
}

static collet_status probe_off(scan *s, candidate *c)
{
    c->settled = 1;
    c->plugin.unproven = 1;
    return step_done(s, c, "probe", record_clock(), 1, "not-probed", "probing is switched off");
}

/* ---- Rounds of concurrent probes ------------------------------------------------ */

/* 1 if the probe could not load the plugin: another plugin of this name that can be loaded is
 * preferred. */
static int is_doubtful(const candidate *c)
{
    return c->settled &&
           (!strcmp(c->plugin.code, "missing-library") || !strcmp(c->plugin.code, "load-failed"));
}

/* An earlier file with the same name that is usable or may become usable; else NULL. */
static const candidate *earlier_of_name(const scan *s, const candidate *c)
{
    for (const candidate *earlier = s->candidates; earlier < c; earlier++)
        if (earlier->plugin.usable && !is_doubtful(earlier) &&
            !strcmp(earlier->plugin.name, c->plugin.name))
            return earlier;
    return NULL;
}

/* Refuses a candidate because a usable plugin has its name. */
static collet_status refuse_duplicate(scan *s, candidate *c, const candidate *used)
{
    char reason[4200 + COLLET_ERROR_TEXT];
    int doubtful = is_doubtful(c) && !is_doubtful(used);
    c->settled = 1;
    if (doubtful)
        snprintf(reason, sizeof reason,
                 "it could not be loaded (%s), and the backend %s is in %s too", c->plugin.reason,
                 c->plugin.name, used->plugin.path);
    else
        snprintf(reason, sizeof reason, "the backend %s is already found in %s", c->plugin.name,
                 used->plugin.path);
    c->warned_of |= doubtful;
    return step_done(s, c, "register", record_clock(), 0, "duplicate-name", reason);
}

/* Keeps one usable plugin of each name: the first plugin that could be loaded; if none could, the first plugin. */
static collet_status settle_names(scan *s)
{
    collet_status status = COLLET_OK;
    for (size_t i = 0; i < s->candidate_count; i++)
        for (size_t k = 0; k < s->candidate_count && status == COLLET_OK; k++) {
            candidate *c = &s->candidates[i], *other = &s->candidates[k];
            if (i != k && c->plugin.usable && other->plugin.usable &&
                !strcmp(c->plugin.name, other->plugin.name) &&
                (is_doubtful(c) != is_doubtful(other) ? is_doubtful(c) : k < i))
                status = refuse_duplicate(s, c, other);
        }
    return status;
}

/* Settles duplicates and plugins that need no probe; lists the plugins to probe now in `ready`. A
 * plugin that has the same name as an unsettled plugin waits for a later round. */
static collet_status round_start(scan *s, candidate **ready, size_t *count)
{
    collet_status status = COLLET_OK;
    *count = 0;
    for (size_t i = 0; i < s->candidate_count && status == COLLET_OK; i++) {
        candidate *c = &s->candidates[i];
        const candidate *first = c->settled ? NULL : earlier_of_name(s, c);
        if (first && first->settled)
            status = refuse_duplicate(s, c, first);
        else if (!first && !c->settled && c->plugin.manifest.layer)
            c->settled = 1; /* not probed, because auto never chooses it */
        else if (!first && !c->settled && !s->options->probe)
            status = probe_off(s, c);
        else if (!first && !c->settled)
            ready[(*count)++] = c;
    }
    return status;
}

static collet_status round_run(scan *s, candidate **ready, probing *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        list[i] = (probing){.path = ready[i]->plugin.path,
                            .manifest = &ready[i]->plugin.manifest,
                            .file = &ready[i]->plugin.file};
    collet_status status = probing_run(s->options, s->probe_program, list, count, s->err);
    for (size_t i = 0; i < count; i++) {
        if (status == COLLET_OK)
            status = use_report(s, ready[i], &list[i]);
        ready[i]->settled = 1;
        probing_clear(&list[i]);
    }
    return status;
}

static int any_usable(const scan *s)
{
    for (size_t i = 0; i < s->candidate_count; i++)
        if (s->candidates[i].plugin.usable)
            return 1;
    return 0;
}

static collet_status probe_all(scan *s)
{
    candidate **ready = calloc(s->candidate_count + 1, sizeof(candidate *));
    probing *list = calloc(s->candidate_count + 1, sizeof *list);
    size_t count = 1;
    collet_status status = ready && list ? COLLET_OK : no_memory(s->err);
    if (status == COLLET_OK && s->options->probe && any_usable(s))
        status = probing_find_program(s->options, &s->probe_program, s->err);
    while (status == COLLET_OK && count) {
        status = round_start(s, ready, &count);
        if (status == COLLET_OK)
            status = round_run(s, ready, list, count);
    }
    free(ready);
    free(list);
    return status;
}

/* ---- The search ------------------------------------------------------------------------------ */

/* A file that the policy refused without reading it may be a layer, and then it must not be listed as a backend.
 * Opening a special file may have effects. So the file's type is examined first, and the file is then opened through
 * /proc, so that it cannot be replaced in between. */
static collet_status note_layer(const char *path, int32_t *layer)
{
    char again[32];
    struct stat st;
    manifest m;
    refusal why;
    int found = open(path, O_PATH | O_CLOEXEC), fd = -1;
    snprintf(again, sizeof again, "/proc/self/fd/%d", found);
    if (found >= 0 && !fstat(found, &st) && S_ISREG(st.st_mode))
        fd = open(again, O_RDONLY | O_CLOEXEC);
    if (found >= 0)
        close(found);
    if (fd < 0)
        return COLLET_OK;
    collet_status status = manifest_read(fd, &m, &why);
    *layer = m.layer;
    manifest_clear(&m);
    close(fd);
    return status == COLLET_NO_MEMORY ? status : COLLET_OK;
}

/* Does the steps that run no code of the plugin. */
static collet_status examine(scan *s, candidate *c)
{
    int fd = -1;
    collet_status status = policy_step(s, c, &fd);
    if (status == COLLET_OK && c->plugin.usable)
        status = manifest_step(s, c, fd);
    else if (status == COLLET_OK &&
             note_layer(c->plugin.path, &c->plugin.manifest.layer) == COLLET_NO_MEMORY)
        status = no_memory(s->err);
    if (fd >= 0)
        close(fd);
    c->settled = !c->plugin.usable;
    return status;
}

static loader_plugin *find_name(const scan *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (!strcmp(s->plugins[i].name, name))
            return &s->plugins[i];
    return NULL;
}

/* Returns 0 for files without a valid name and for ordinary libraries, because these are only recorded. */
static int is_listed(const loader_plugin *p)
{
    return manifest_name_valid(p->name) && strcmp(p->code, "no-manifest") != 0;
}

static int is_told(const candidate *first, const candidate *c)
{
    for (; first < c; first++)
        if (first->warned_of && !strcmp(first->plugin.reason, c->plugin.reason))
            return 1;
    return 0;
}

/* If another plugin is usable, no error reports why these plugins are refused. So log one warning for each reason. */
static void warn_of_refused(const scan *s)
{
    const collet_host *host = s->options->host;
    for (size_t i = 0; any_usable(s) && i < s->candidate_count; i++) {
        const candidate *c = &s->candidates[i];
        if (c->warned_of && !is_told(s->candidates, c))
            host->log(host, COLLET_LOG_WARNING, "the plugin %s is not used: %s", c->plugin.path,
                      c->plugin.reason);
    }
}

/* Moves *p to the list, in which names are unique: the first usable plugin, else the first. */
static collet_status keep(scan *s, loader_plugin *p)
{
    loader_plugin *first = find_name(s, p->name);
    if (!is_listed(p) || (first && (first->usable || !p->usable)))
        return COLLET_OK;
    if (first) {
        plugin_clear(first);
        memmove(first, first + 1, (size_t)(s->plugins + s->count - (first + 1)) * sizeof *first);
        s->count--;
    }
    loader_plugin *grown = realloc(s->plugins, (s->count + 1) * sizeof *grown);
    if (!grown)
        return no_memory(s->err);
    s->plugins = grown;
    s->plugins[s->count++] = *p;
    *p = (loader_plugin){.path = NULL};
    manifest_init(&p->manifest);
    return COLLET_OK;
}

static collet_status report_examined(scan *s)
{
    const loader_options *o = s->options;
    if (!o->examined)
        return COLLET_OK;
    const loader_plugin **found = calloc(s->candidate_count + 1, sizeof *found);
    if (!found)
        return no_memory(s->err);
    for (size_t i = 0; i < s->candidate_count; i++)
        found[i] = &s->candidates[i].plugin;
    collet_status status = o->examined(o->user, found, s->candidate_count, s->err);
    free(found);
    return status;
}

static collet_status examine_all(scan *s, const search_result *found)
{
    collet_status status = COLLET_OK;
    s->candidates = calloc(found->count + 1, sizeof *s->candidates);
    if (!s->candidates)
        return no_memory(s->err);
    for (size_t i = 0; status == COLLET_OK && i < found->count; i++) {
        status = candidate_start(&s->candidates[s->candidate_count++], found->files[i], s->err);
        if (status == COLLET_OK)
            status = examine(s, &s->candidates[i]);
    }
    return status == COLLET_OK ? report_examined(s) : status;
}

collet_status loader_scan(const loader_options *options, record_list *records,
                          loader_plugin **plugins, size_t *count, collet_error *err)
{
    scan s = {.options = options, .records = records, .err = err};
    search_result found = {.files = NULL};
    collet_status status = search_files(options, records, &found, err);
    if (status == COLLET_OK)
        status = examine_all(&s, &found);
    if (status == COLLET_OK)
        status = probe_all(&s);
    if (status == COLLET_OK)
        status = settle_names(&s);
    if (status == COLLET_OK)
        warn_of_refused(&s);
    for (size_t i = 0; status == COLLET_OK && i < s.candidate_count; i++)
        status = keep(&s, &s.candidates[i].plugin);
    search_clear(&found);
    candidates_free(&s);
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

static collet_status check_unchanged(const loader_plugin *plugin, refusal *why)
{
    file_identity now;
    if (file_identify_path(plugin->path, &now) || !file_identity_equal(&now, &plugin->file))
        return refuse_with(why, COLLET_UNAVAILABLE, "changed",
                           "the file changed since it was found: start the program again");
    return COLLET_OK;
}

static collet_status unusable(const loader_plugin *plugin, collet_error *err)
{
    return collet_fail(err, COLLET_UNAVAILABLE, "%s: %s (%s)", plugin->path, plugin->reason,
                       plugin->code);
}

static collet_status opened(const loader_plugin *plugin, record_list *records, double start,
                            collet_status status, const refusal *why, collet_error *err)
{
    collet_status recorded = note(records, plugin->path, status == COLLET_OK, "open", start,
                                  why->code, status == COLLET_OK ? "" : why->text, err);
    if (status == COLLET_OK)
        return recorded;
    if (status != COLLET_ABI_MISMATCH && status != COLLET_NO_MEMORY)
        status = COLLET_UNAVAILABLE;
    return collet_fail(err, status, "%s: %s", plugin->path, why->text);
}

collet_status loader_open(const loader_plugin *plugin, const collet_host *host,
                          record_list *records, const collet_plugin **vtable, collet_error *err)
{
    double start = record_clock();
    refusal why;
    if (!plugin->usable)
        return unusable(plugin, err);
    collet_status status = check_unchanged(plugin, &why);
    if (status == COLLET_OK)
        status = open_plugin(plugin->path, &plugin->manifest, host, NULL, vtable, &why);
    return opened(plugin, records, start, status, &why, err);
}

collet_status loader_open_layer(const loader_plugin *layer, const loader_plugin *backend,
                                const collet_host *host, record_list *records,
                                const collet_plugin **table, collet_error *err)
{
    double start = record_clock();
    refusal why;
    if (!layer->usable)
        return unusable(layer, err);
    collet_status status = check_unchanged(layer, &why);
    if (status == COLLET_OK)
        status = open_layer(layer->path, &backend->manifest, host, table, &why);
    return opened(layer, records, start, status, &why, err);
}

collet_status loader_note(const loader_plugin *plugin, record_list *records, const refusal *why,
                          collet_error *err)
{
    return note(records, plugin->path, 0, "open", record_clock(), why->code, why->text, err);
}
