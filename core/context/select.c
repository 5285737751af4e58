/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_select.c, tests/core/test_fallback.c */
#include "select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/open.h"
#include "device/registry.h"
#include "util/text.h"

/* Lists the backends. `refused` (NULL: none) is omitted, because the text has named it already. */
static void add_available(text_buffer *t, const collet_runtime *r, const char *label,
                          const backend *refused)
{
    int any = 0;
    text_add(t, "; %s: ", label);
    for (size_t i = 0; i < r->backend_count; i++)
        if (&r->backends[i] != refused &&
            backend_state(&r->backends[i]) != COLLET_BACKEND_UNAVAILABLE)
            text_add(t, "%s%s", any++ ? ", " : "", r->backends[i].plugin->name);
    if (!any)
        text_add(t, "none");
    any = 0;
    for (size_t i = 0; i < r->backend_count; i++)
        if (&r->backends[i] != refused &&
            backend_state(&r->backends[i]) == COLLET_BACKEND_UNAVAILABLE)
            text_add(t, "%s%s", any++ ? ", " : "; not usable: ", r->backends[i].plugin->name);
    if (any || refused)
        text_add(t, " (backend-info --why shows details)");
}

static collet_status unknown_backend(const collet_runtime *r, const char *name, collet_error *err)
{
    text_buffer t;
    int near = 0;
    text_clear(&t);
    text_add(&t, "there is no backend '%s'", name);
    for (size_t distance = 0; distance <= text_near(name); distance++)
        for (size_t i = 0; i < r->backend_count; i++)
            if (text_distance(name, r->backends[i].plugin->name) == distance)
                text_add(&t, "%s'%s'", near++ ? " or " : "; did you mean ",
                         r->backends[i].plugin->name);
    add_available(&t, r, "available", NULL);
    return collet_fail(err, COLLET_UNKNOWN_BACKEND, "%s", t.bytes);
}

static collet_status unavailable(const backend *b, const char *reason, collet_error *err)
{
    text_buffer t;
    text_clear(&t);
    text_add(&t, "the backend '%s' cannot be used: %s", b->plugin->name, reason);
    add_available(&t, b->runtime, "others available", b);
    return collet_fail(err, COLLET_UNAVAILABLE, "%s", t.bytes);
}

/* Reports a device that cannot be used; `reason` names the device. */
static collet_status device_unavailable(const backend *b, const char *reason, collet_error *err)
{
    text_buffer t;
    text_clear(&t);
    text_add(&t, "%s", reason);
    add_available(&t, b->runtime, "available", b);
    return collet_fail(err, COLLET_UNAVAILABLE, "%s", t.bytes);
}

static void add_device(selection *s, device *d)
{
    for (uint32_t i = 0; i < s->total; i++)
        if (s->devices[i] == d)
            return;
    s->devices[s->total++] = d;
}

/* Splits "name" or "name:suffix"; "" if the suffix is absent. */
static int split_item(char *item, const char **suffix)
{
    char *colon = strchr(item, ':');
    *suffix = "";
    if (colon) {
        *colon = '\0';
        *suffix = colon + 1;
    }
    return *item && (!colon || **suffix);
}

static collet_status not_a_choice(const selection *s, collet_error *err)
{
    return collet_fail(err, COLLET_UNKNOWN_BACKEND,
                       "'%s' is not a choice of backend: write auto, a name, or names separated by "
                       "commas, each with an optional :device",
                       s->choice);
}

/* Opens the device that `item` names; splits `item`. Returns INVALID without a text if `item` does
 * not have the form of a name. */
static collet_status open_named(const collet_runtime *r, char *item, device **out,
                                collet_error *err)
{
    const char *suffix;
    device *d = NULL;
    if (!split_item(item, &suffix))
        return COLLET_INVALID;
    backend *b = registry_find(r, item);
    if (!b)
        return unknown_backend(r, item, err);
    collet_error why = {COLLET_OK, ""};
    if (atomic_load(&b->state) == COLLET_BACKEND_UNAVAILABLE || backend_open(b, &why) != COLLET_OK)
        return unavailable(b, backend_reason(b, COLLET_BACKEND_UNAVAILABLE), err);
    collet_status status = device_find(b, suffix, &d, &why);
    if (status == COLLET_INVALID)
        return status;
    if (status != COLLET_OK)
        return unavailable(b, why.text, err);
    if (device_open(d, &why) != COLLET_OK)
        return d->index == DEVICE_NAMED ? device_unavailable(b, why.text, err)
                                        : unavailable(b, why.text, err);
    *out = d;
    return COLLET_OK;
}

static collet_status add_named(const collet_runtime *r, selection *s, char *item, collet_error *err)
{
    device *d;
    collet_status status = open_named(r, item, &d, err);
    if (status == COLLET_INVALID)
        return not_a_choice(s, err);
    if (status == COLLET_OK)
        add_device(s, d);
    return status;
}

collet_status selection_device(const collet_runtime *r, const char *what, const char *name,
                               const char *expected, device **out, collet_error *err)
{
    text_buffer t;
    char *item = text_trimmed(name, name + strlen(name));
    if (!item)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: out of memory", what);
    collet_status status =
        strcmp(item, "auto") && !strchr(item, ',') ? open_named(r, item, out, err) : COLLET_INVALID;
    free(item);
    if (status != COLLET_INVALID)
        return status;
    text_clear(&t);
    text_add(&t, "%s: '%s' is %s", what, name, expected);
    add_available(&t, r, "available", NULL);
    return collet_fail(err, status, "%s", t.bytes);
}

/* A list is an order of preference: unusable backends are skipped with a warning, provided that at least one backend
 * is usable. An unknown name is an error, also in a list. */
static collet_status parse_names(collet_runtime *r, selection *s, collet_error *err)
{
    char *copy = strdup(s->choice), *rest = copy, *item;
    collet_error first = {COLLET_OK, ""}, why;
    collet_status status = COLLET_OK;
    if (!copy)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for the choice of backend");
    while (status == COLLET_OK && (item = strsep(&rest, ","))) {
        char *trimmed = text_trimmed(item, item + strlen(item));
        status = trimmed ? add_named(r, s, trimmed, &why)
                         : collet_fail(&why, COLLET_NO_MEMORY, "out of memory");
        if (status != COLLET_OK && first.status == COLLET_OK)
            first = why;
        if (status == COLLET_UNAVAILABLE && strchr(s->choice, ',')) {
            /* `trimmed` is only the backend's name here, because add_named has split it. The
             * warning is logged once, although each context parses the list. */
            if (!atomic_exchange(&registry_find(r, trimmed)->skipped, 1))
                log_message(&r->log, COLLET_LOG_WARNING,
                            "choice of backend '%s': a backend is skipped: %s", s->choice,
                            why.text);
            status = COLLET_OK;
        }
        free(trimmed);
    }
    free(copy);
    if (status == COLLET_OK && s->total == 0)
        status = first.status;
    if (status != COLLET_OK)
        return collet_fail(err, status, "%s", status == first.status ? first.text : why.text);
    s->count = s->total;
    s->several = s->count > 1;
    return COLLET_OK;
}

static void add_backend(selection *s, const backend *b)
{
    for (uint32_t k = 0; k < b->device_count; k++)
        add_device(s, &b->devices[k]);
}

int selection_extend(collet_runtime *r, selection *s)
{
    uint32_t before = s->total;
    for (size_t i = 0; i < r->backend_count && s->total == before; i++) {
        backend *b = &r->backends[i];
        int state = atomic_load(&b->state);
        if (state == COLLET_BACKEND_USABLE || /* perhaps opened by another context */
            (state == COLLET_BACKEND_UNPROVEN && backend_open(b, NULL) == COLLET_OK))
            add_backend(s, b);
    }
    if (s->automatic)
        s->count = s->total;
    return s->total > before;
}

/* Adds "a, b: REASON" for all backends with this reason; nothing if an earlier backend had it. */
static void add_reason(text_buffer *t, const collet_runtime *r, size_t index)
{
    const char *reason = backend_reason(&r->backends[index], COLLET_BACKEND_UNAVAILABLE);
    for (size_t i = 0; i < index; i++)
        if (!strcmp(backend_reason(&r->backends[i], COLLET_BACKEND_UNAVAILABLE), reason))
            return;
    text_add(t, "%s%s", index ? "; " : ": ", r->backends[index].plugin->name);
    for (size_t i = index + 1; i < r->backend_count; i++)
        if (!strcmp(backend_reason(&r->backends[i], COLLET_BACKEND_UNAVAILABLE), reason))
            text_add(t, ", %s", r->backends[i].plugin->name);
    text_add(t, ": %s", reason);
}

/* For a runtime without backends: adds the first refused file, and how to set the search path. */
static void add_no_plugin(text_buffer *t, const collet_runtime *r)
{
    const collet_plugin_record *record;
    text_add(t, ": no plugin was found in the search path");
    for (size_t i = 0; (record = record_at(r->records, i)); i++)
        if (!record->accepted && strcmp(record->stage, "search") &&
            strcmp(record->code, "no-manifest")) {
            text_add(t, " (%s: %s)", record->path, record->reason);
            break;
        }
    text_add(t, "; COLLET_PLUGIN_PATH sets other directories (backend-info --why shows each step)");
}

/* Selects all devices of all usable backends. */
static collet_status all_devices(collet_runtime *r, selection *s, collet_error *err)
{
    for (size_t i = 0; i < r->backend_count; i++)
        if (atomic_load(&r->backends[i].state) == COLLET_BACKEND_USABLE)
            add_backend(s, &r->backends[i]);
    s->automatic = s->several = 1;
    s->count = s->total;
    if (s->count || selection_extend(r, s))
        return COLLET_OK;
    text_buffer t;
    text_clear(&t);
    text_add(&t, "no backend can be used");
    for (size_t i = 0; i < r->backend_count; i++)
        add_reason(&t, r, i);
    if (!r->backend_count)
        add_no_plugin(&t, r);
    return collet_fail(err, COLLET_UNAVAILABLE, "%s", t.bytes);
}

collet_status selection_parse(collet_runtime *r, const char *choice, selection *out,
                              collet_error *err)
{
    selection s = {.choice = strdup(choice)};
    if (!s.choice)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for the choice of backend");
    collet_status status =
        strcmp(choice, "auto") ? parse_names(r, &s, err) : all_devices(r, &s, err);
    if (status != COLLET_OK) {
        free(s.choice);
        return status;
    }
    *out = s;
    return COLLET_OK;
}

void selection_clear(selection *s)
{
    free(s->choice);
    *s = (selection){0};
}

void selection_remedy(const collet_runtime *r, const selection *s, int32_t fallback, char text[256])
{
    text[0] = '\0';
    if (fallback == 0) {
        snprintf(text, 256, "; fallback is off (by COLLET_FALLBACK or by the program)");
        return;
    }
    for (size_t i = 0; i < r->backend_count; i++) {
        const backend *b = &r->backends[i];
        if (b == s->devices[0]->owner || b->plugin->manifest.gpu ||
            atomic_load(&b->state) != COLLET_BACKEND_USABLE)
            continue;
        snprintf(text, 256, ": set COLLET_FALLBACK=on, or choose a list such as %.127s,%s",
                 s->choice, b->plugin->name);
        return;
    }
}
