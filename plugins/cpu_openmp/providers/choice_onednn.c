/* SPDX-License-Identifier: Apache-2.0 */
#include "choice_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onednn_trial.h"
#include "cpu_openmp/runtime/processor.h"

/* Limits on what oneDNN uses, the most first: the first that is right is taken. "" is no limit. */
static const struct limit {
    const char *isa;
    uint32_t with;
} limits[] = {
    {"", 0},
    {"AVX512_CORE_BF16", PROCESSOR_V4 | PROCESSOR_BF16},
    {"AVX512_CORE_VNNI", PROCESSOR_V4 | PROCESSOR_VNNI},
    {"AVX512_CORE", PROCESSOR_V4},
    {"AVX2", PROCESSOR_V3},
    {"SSE41", PROCESSOR_V2},
};

#define LIMITS ((int)(sizeof limits / sizeof limits[0]))

static const char *const words[ONEDNN_TYPES] = {"f32", "bf16", "i8"};
static const uint32_t bits[ONEDNN_TYPES] = {CHOICE_ONEDNN_F32, CHOICE_ONEDNN_BF16,
                                            CHOICE_ONEDNN_I8};

static struct findings {
    onednn_settings settings;   /* to open it with */
    onednn_trial_result result; /* `why`: why the first one failed that did */
    uint32_t types;             /* CHOICE_ONEDNN_* */
    char failed[32];            /* the largest limit that failed; "" is none */
    int has_failed;
} findings;

/* ---- Settings -------------------------------------------------------------------------------- */

/* Everything but the limit; 0 when the library is not to be opened. */
static int library_setting(const collet_host *host, onednn_settings *s)
{
    const char *name = host->config(host, "cpu_openmp.onednn");
    const char *refused = host->config(host, "cpu_openmp.onednn_refused");
    *s = (onednn_settings){.name = ONEDNN_NAME};
    if (name && name[0] && strcmp(name, "off") != 0)
        (void)snprintf(s->name, sizeof s->name, "%s", name);
    if (name && strcmp(name, "off") == 0)
        (void)snprintf(s->refused, sizeof s->refused,
                       "switched off by the setting cpu_openmp.onednn");
    else if (refused)
        (void)snprintf(s->refused, sizeof s->refused, "%s", refused);
    return !s->refused[0];
}

static void set_isa(onednn_settings *s, const char *name)
{
    (void)snprintf(s->isa, sizeof s->isa, "%s", strcmp(name, CHOICE_OWN) == 0 ? "" : name);
}

static uint32_t types_of(const char *list)
{
    uint32_t types = 0;
    for (int i = 0; i < ONEDNN_TYPES && list; i++)
        types |= strstr(list, words[i]) ? bits[i] : 0;
    return types;
}

uint32_t choice_onednn_settle(const collet_host *host, const isa_level *level)
{
    onednn_settings s;
    const char *isa = host->config(host, "cpu_openmp.onednn_isa");
    uint32_t types = types_of(host->config(host, "cpu_openmp.onednn_types"));
    (void)level;
    if (library_setting(host, &s) && isa)
        set_isa(&s, isa);
    if (!s.refused[0] && !types)
        (void)snprintf(s.refused, sizeof s.refused,
                       "nothing says that it is the better one for any product");
    onednn_settle(&s);
    return s.refused[0] ? 0 : types;
}

/* ---- Trials ---------------------------------------------------------------------------------- */

/* Of two trials of a type; 0 when it was wrong in one of them. */
static double faster(double a, double b)
{
    return a > 0.0 && b > 0.0 ? fmax(a, b) : 0.0;
}

/* 1: right, 0: not, -1: there is no library to be opened. Of two trials that are right the faster
 * one counts; of a second one that there was no time for, the first. */
static int try_limit(const collet_host *host, struct findings *f, const char *isa)
{
    collet_error why = {COLLET_OK, ""};
    onednn_trial_case what = {.settings = f->settings, .threads = host->threads(host)};
    onednn_trial_result result = {.fine = 0};
    int opens = 1;
    set_isa(&what.settings, isa);
    if (choice_try(host, onednn_trial, &what, &result, sizeof result, &why) != COLLET_OK) {
        result = (onednn_trial_result){.fine = 0};
        (void)snprintf(result.why, sizeof result.why, "%.*s", ONEDNN_REASON - 1, why.text);
        if (f->result.fine && choice_was_short(&why))
            return 1;
    } else {
        opens = result.version[0] != '\0';
    }
    if (!result.fine && !f->has_failed) {
        f->has_failed = 1;
        (void)snprintf(f->failed, sizeof f->failed, "%s", isa[0] ? isa : CHOICE_OWN);
        memcpy(f->result.why, result.why, sizeof result.why);
    }
    if (!result.fine)
        return opens ? 0 : -1;
    memcpy(result.why, f->result.why, sizeof result.why);
    for (int i = 0; i < ONEDNN_TYPES && f->result.fine; i++)
        result.gflops[i] = faster(result.gflops[i], f->result.gflops[i]);
    f->result = result;
    f->settings = what.settings;
    return 1;
}

static int find_limit(const collet_host *host, const isa_level *level, struct findings *f)
{
    uint32_t features = processor_features(level);
    const char *set = host->config(host, "cpu_openmp.onednn_isa");
    int found = 0;
    if (set || getenv(ONEDNN_ISA_VARIABLE) || getenv(ONEDNN_ISA_VARIABLE_2))
        return try_limit(host, f, set ? set : "") == 1;
    for (int i = features & PROCESSOR_CAPPED ? 1 : 0; i < LIMITS && !found; i++)
        if ((features & limits[i].with) == limits[i].with)
            found = try_limit(host, f, limits[i].isa);
    return found == 1;
}

/* The types for which it is the fastest there is. What f32 can do, own kernels of the narrow types
 * can do too. */
static uint32_t better_types(const onednn_trial_result *r)
{
    double others = choice_openblas_gflops();
    uint32_t types = r->gflops[ONEDNN_F32] > others ? CHOICE_ONEDNN_F32 : 0;
    double f32 = types ? r->gflops[ONEDNN_F32] : others;
    for (int i = ONEDNN_BF16; i < ONEDNN_TYPES; i++)
        types |= r->gflops[i] > f32 ? bits[i] : 0;
    return types;
}

void choice_onednn_find(const collet_host *host, const isa_level *level)
{
    struct findings *f = &findings;
    const char *set = host->config(host, "cpu_openmp.onednn_types");
    if (!library_setting(host, &f->settings))
        return;
    /* Twice, as OpenBLAS is tried. */
    if (find_limit(host, level, f) && try_limit(host, f, f->settings.isa) == 1)
        f->types = set ? types_of(set) : better_types(&f->result);
    else
        (void)snprintf(f->settings.refused, sizeof f->settings.refused, "%.200s", f->result.why);
}

/* ---- The capabilities ------------------------------------------------------------------------ */

static void add_types(text *t, uint32_t types)
{
    const char *separator = "";
    for (int i = 0; i < ONEDNN_TYPES; i++) {
        if (types & bits[i]) {
            text_add(t, "%s%s", separator, words[i]);
            separator = " ";
        }
    }
}

static void add_library(text *json, const onednn_trial_result *r)
{
    text_add(json, "{\"library\": \"oneDNN %s\", \"path\": ", r->version);
    text_quote(json, r->path);
    text_add(json, ", \"isa\": \"%s\"", r->isa);
}

static void add_refusal(text *json, const char *reason)
{
    text_add(json, "{\"library\": null, \"reason\": ");
    text_quote(json, reason);
    text_add(json, "}");
}

void choice_onednn_found(text *json, text *choices)
{
    const struct findings *f = &findings;
    char room[32] = "";
    text types = {.at = room, .capacity = sizeof room};
    if (f->settings.refused[0]) {
        add_refusal(json, f->settings.refused);
        choice_add(choices, "onednn_refused", f->settings.refused);
        return;
    }
    add_types(&types, f->types);
    add_library(json, &f->result);
    text_add(json, ", \"chosen_for\": \"%s\"", room);
    for (int i = 0; i < ONEDNN_TYPES; i++)
        text_add(json, ", \"%s_gflops\": %.1f", words[i], f->result.gflops[i]);
    if (f->has_failed) {
        text_add(json, ", \"failed\": {\"isa\": \"%s\", \"reason\": ", f->failed);
        text_quote(json, f->result.why);
        text_add(json, "}");
    }
    text_add(json, "}");
    choice_add(choices, "onednn_isa", f->settings.isa[0] ? f->settings.isa : CHOICE_OWN);
    choice_add(choices, "onednn_types", room);
}

void choice_onednn_opened(text *json)
{
    onednn_trial_result r = {.fine = 0};
    const char *reason;
    onednn *o = onednn_open(&reason);
    if (o) {
        onednn_describe(o, &r);
        add_library(json, &r);
        text_add(json, "}");
    } else {
        add_refusal(json, reason);
    }
}
