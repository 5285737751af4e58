/* SPDX-License-Identifier: Apache-2.0 */
#include "choice_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onednn.h"
#include "cpu_openmp/runtime/processor.h"

/*
 * Limits of the instruction set: the first that fits. A virtual machine may report AMX and not
 * support it: oneDNN 2.6 crashed in one (Emerald Rapids).
 */
static const struct limit {
    const char *isa;
    uint32_t with;
} limits[] = {
    {"AVX512_CORE_BF16", PROCESSOR_AMX | PROCESSOR_VIRTUAL},
    {"AVX512_CORE", PROCESSOR_V4 | PROCESSOR_CAPPED},
    {"AVX2", PROCESSOR_V3 | PROCESSOR_CAPPED},
    {"SSE41", PROCESSOR_V2 | PROCESSOR_CAPPED},
};

#define LIMITS (sizeof limits / sizeof limits[0])

static const char *const words[ONEDNN_TYPES] = {"f32", "bf16", "i8"};

static double gflops[ONEDNN_TYPES]; /* 0: not checked, or wrong */
static uint32_t right;              /* ONEDNN_TYPE_*, once checked */
static int checked;

/* ---- Settings -------------------------------------------------------------------------------- */

/* "": no limit. */
static const char *isa_limit(const collet_host *host, const isa_level *level)
{
    const char *set = host->config(host, "cpu_openmp.onednn_isa");
    uint32_t features = processor_features(level);
    if (set)
        return strcmp(set, CHOICE_OWN) == 0 ? "" : set;
    if (getenv(ONEDNN_ISA_VARIABLE) || getenv(ONEDNN_ISA_VARIABLE_2))
        return "";
    for (size_t i = 0; i < LIMITS; i++)
        if ((features & limits[i].with) == limits[i].with)
            return limits[i].isa;
    return "";
}

/* The types in the settings (also those that an earlier check found right), else those of the
 * library's table, for which it is opened. */
static uint32_t types_to_use(const collet_host *host)
{
    const char *set = host->config(host, "cpu_openmp.onednn_types");
    uint32_t types = 0;
    for (int i = 0; i < ONEDNN_TYPES && set; i++)
        types |= strstr(set, words[i]) ? 1u << i : 0;
    if (set)
        return types;
    onednn *o = onednn_open(NULL);
    return o ? onednn_types(o) : 0;
}

uint32_t choice_onednn_settle(const collet_host *host, const isa_level *level)
{
    library_settings s = {.name = ""};
    const char *name = host->config(host, "cpu_openmp.onednn");
    if (name)
        (void)snprintf(s.name, sizeof s.name, "%s", name);
    if (!choice_refused(host, "onednn", s.refused, sizeof s.refused))
        (void)snprintf(s.target, sizeof s.target, "%s", isa_limit(host, level));
    onednn_settle(&s);
    if (s.refused[0])
        return 0;
    uint32_t types = types_to_use(host);
    return checked ? types & right : types;
}

/* ---- The check ------------------------------------------------------------------------------- */

void choice_onednn_check(const collet_host *host)
{
    onednn *o = choice_may_open(host, "onednn", "libdnnl") ? onednn_open(NULL) : NULL;
    if (!o)
        return;
    right = types_to_use(host);
    const char *wrong = onednn_check(o, &right, gflops);
    checked = 1;
    if (wrong)
        onednn_refuse(wrong);
}

/* ---- The capabilities ------------------------------------------------------------------------ */

static void add_types(text *t, uint32_t types)
{
    const char *separator = "";
    for (int i = 0; i < ONEDNN_TYPES; i++) {
        if (types & 1u << i) {
            text_add(t, "%s%s", separator, words[i]);
            separator = " ";
        }
    }
}

void choice_onednn_describe(const collet_host *host, text *json, text *choices)
{
    char list[32] = "", version[32], path[512];
    text types = {.at = list, .capacity = sizeof list};
    const char *reason;
    onednn *o = onednn_open(&reason);
    (void)host;
    if (!o) {
        choice_add_refusal(json, choices, "onednn", reason);
        return;
    }
    add_types(&types, right);
    onednn_version(o, version, sizeof version);
    onednn_path(o, path, sizeof path);
    text_add(json, "{\"library\": \"oneDNN %s\", \"path\": ", version);
    text_quote(json, path);
    text_add(json, ", \"isa\": \"%s\", \"chosen_for\": \"%s\"", onednn_isa(o), list);
    for (int i = 0; i < ONEDNN_TYPES; i++)
        if (gflops[i] > 0.0)
            text_add(json, ", \"%s_gflops\": %.1f", words[i], gflops[i]);
    text_add(json, "}");
    choice_add(choices, "onednn_types", list);
}
